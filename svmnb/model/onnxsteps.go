package model

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
)

// onnxSteps are the nodes of the steps of a pipeline while they are put together. All their
// tensors have m rows, and those of a few nodes no columns.
type onnxSteps struct {
	inputs  []proto
	nodes   []*onnxNode
	tensors []proto
	taken   map[string]bool // names of tensors
	beyond  bool            // a number is too large for float32
	recent  bool            // a node is none of ai.onnx 7 and ai.onnx.ml 1
	words   bool            // a node is one of onnxWords
	wrong   error

	numbers []onnxTensor   // by where the numbers of the row are
	texts   map[int]string // names of tensors by where the texts of the row are
}

// onnxTensor is a tensor with the numbers of a row from at on.
type onnxTensor struct {
	name      string
	element   int
	at, width int
}

func (g *onnxSteps) fail(msg string, args ...any) {
	if g.wrong == nil {
		g.wrong = modelError(onnxFormat, 0, msg, args...)
	}
}

// checked returns the text, or notes that a file cannot have it.
func (g *onnxSteps) checked(s string) string {
	if !utf8.ValidString(s) {
		g.fail("the name or level %.40q is not UTF-8; rename it in the table", s)
	}
	return s
}

// input adds an input of the graph and returns its name.
func (g *onnxSteps) input(name string, element, columns int) string {
	for g.taken[g.checked(name)] {
		name += "_"
	}
	g.taken[name] = true
	var p proto
	p.text(1, name)
	p.message(2, tensorType(element, columns))
	g.inputs = append(g.inputs, p)
	return name
}

// name returns the name of the next tensor of a kind.
func (g *onnxSteps) name(kind string, before int) string {
	name := kind + strconv.Itoa(before+1)
	for g.taken[name] {
		name += "_"
	}
	return name
}

// add adds a node whose output has so many columns, or none if columns is 0.
func (g *onnxSteps) add(domain, op string, element, columns int, inputs ...string) *onnxNode {
	n := &onnxNode{op: op, domain: domain, step: true, inputs: inputs}
	n.output(g.name("X", len(g.nodes)), element, columns)
	g.nodes = append(g.nodes, n)
	return n
}

// standard adds a node of the standard operator set without attributes, and returns the name
// of its output.
func (g *onnxSteps) standard(op string, element, columns int, inputs ...string) string {
	return g.add("", op, element, columns, inputs...).names[0]
}

func (g *onnxSteps) tensor(element int, shape []int, fill func(*proto)) string {
	var t proto
	for _, d := range shape {
		t.int(1, int64(d))
	}
	t.int(2, int64(element))
	fill(&t)
	name := g.name("T", len(g.tensors))
	t.text(8, name)
	g.tensors = append(g.tensors, t)
	return name
}

// floats adds a tensor of numbers, floats or doubles.
func (g *onnxSteps) floats(element int, v []float64, shape ...int) string {
	return g.tensor(element, shape, func(t *proto) {
		if element == onnxDouble {
			var packed proto
			for _, x := range v {
				packed = binary.LittleEndian.AppendUint64(packed, math.Float64bits(x))
			}
			t.message(10, packed)
			return
		}
		var n onnxNode
		t.message(4, n.packed(v))
		g.beyond = g.beyond || n.beyond
	})
}

func (g *onnxSteps) whole(v ...int) string {
	return g.tensor(onnxInt64, []int{len(v)}, func(t *proto) {
		var packed proto
		for _, x := range v {
			packed = binary.AppendUvarint(packed, uint64(x))
		}
		t.message(7, packed)
	})
}

func (g *onnxSteps) cast(x string, to, columns int) string {
	n := g.add("", "Cast", to, columns, x)
	n.int("to", int64(to))
	return n.names[0]
}

// passage adds the steps of points that are numbers already, and returns the name of their
// features.
func (g *onnxSteps) passage(p *steps.Passage) string {
	x, width := g.input("X", onnxFloat, p.D), p.D
	for _, t := range p.Steps {
		x, width = g.rows(t, x, width)
	}
	return x
}

// rows adds the nodes of a step for rows of numbers. It returns the name and the width of
// what the step makes.
func (g *onnxSteps) rows(t steps.Fitted, x string, in int) (string, int) {
	ml := func(op string, columns int) *onnxNode {
		n := g.add(onnxDomain, op, onnxFloat, columns, x)
		x = n.names[0]
		return n
	}
	// with adds an operator of the standard set, with a tensor as its second operand.
	with := func(op string, columns int, values []float64, shape ...int) {
		n := g.add("", op, onnxFloat, columns, x)
		n.inputs = append(n.inputs, g.floats(onnxFloat, values, shape...))
		x = n.names[0]
	}
	// product multiplies by the matrix with these rows, transposed.
	product := func(rows [][]float64) {
		flat := make([]float64, 0, in*len(rows))
		for j := range rows[0] {
			for _, row := range rows {
				flat = append(flat, row[j])
			}
		}
		with("MatMul", len(rows), flat, len(rows[0]), len(rows))
	}
	of := func(n *onnxNode) { g.beyond = g.beyond || n.beyond }
	switch t := t.(type) {
	case steps.Scaled:
		scale := make([]float64, len(t.Of.Width))
		for j, w := range t.Of.Width {
			if w != 0 {
				scale[j] = (t.Of.High - t.Of.Low) / w
			}
		}
		n := ml("Scaler", in)
		n.floats("offset", t.Of.Centre)
		n.floats("scale", scale)
		of(n)
		if t.Of.Low != 0 {
			with("Add", in, slices.Repeat([]float64{t.Of.Low}, in), in)
		}
	case steps.Imputed:
		raw := x
		n := ml("Imputer", in)
		n.floats("imputed_value_floats", t.By)
		n.float("replaced_value_float", math.NaN())
		of(n)
		if t.Gaps != nil {
			g.recent = true
			gaps := g.standard("IsNaN", onnxBool, len(t.Gaps), g.chosen(raw, onnxFloat, t.Gaps))
			in += len(t.Gaps)
			x = g.concat(in, x, g.cast(gaps, onnxFloat, len(t.Gaps)))
		}
	case steps.Indicated:
		g.recent = true
		var parts []string
		raw := x
		out := 0
		for j, values := range t.Values {
			column := g.chosen(raw, onnxFloat, []int{j})
			if values == nil {
				parts = append(parts, column)
				out++
				continue
			}
			places := map[string]int{}
			for k, v := range values {
				places[strconv.FormatFloat(v, 'g', -1, 64)] = k
			}
			made := g.indicated(column, false, steps.Places{Levels: places, Missing: -1, Unknown: -1}, len(values), false)
			// 0·v is 0 or NaN, since a missing value is no category.
			zero := g.standard("Mul", onnxFloat, 1, column, g.floats(onnxFloat, []float64{0}, 1))
			parts = append(parts, g.standard("Add", onnxFloat, len(values), made, zero))
			out += len(values)
		}
		x, in = g.concat(out, parts...), out
	case steps.Projected:
		n := ml("Scaler", in)
		n.floats("offset", t.Mean)
		n.floats("scale", slices.Repeat([]float64{1}, len(t.Mean)))
		of(n)
		product(t.Rows)
		in = len(t.Rows)
	case steps.FourierMap:
		product(t.W)
		in = len(t.W)
		with("Add", in, t.B, in)
		x = g.standard("Cos", onnxFloat, in, x)
		with("Mul", in, []float64{math.Sqrt(2 / float64(in))}, 1)
	case steps.NystroemMap:
		marks, _ := t.Marks.Rows(math.MaxInt)
		point := x
		product(marks)
		if name, parameters, _ := onnxKernel(t.Kernel); name == "RBF" {
			// K(x, z) = exp(−γ(x·x − 2 x·z + z·z))
			squares := make([]float64, len(marks))
			for i, z := range marks {
				for _, v := range z {
					squares[i] += v * v
				}
			}
			with("Mul", len(marks), []float64{-2}, 1)
			with("Add", len(marks), squares, len(marks))
			square := g.standard("Mul", onnxFloat, in, point, point)
			sum := g.add("", "ReduceSum", onnxFloat, 1, square)
			sum.ints("axes", []int64{1})
			x = g.standard("Add", onnxFloat, len(marks), x, sum.names[0])
			with("Mul", len(marks), []float64{-parameters[0]}, 1)
			x = g.standard("Exp", onnxFloat, len(marks), x)
		}
		product(t.U)
		in = len(t.U)
		if t.Shift != nil {
			less := make([]float64, in)
			for c, v := range t.Shift {
				less[c] = -v
			}
			with("Add", in, less, in)
		}
	}
	return x, in
}

// onnxNystroem reports whether there are nodes for the kernel of landmarks.
func onnxNystroem(k kernels.Kernel) bool {
	switch written(k).(type) {
	case kernels.LinearKernel, kernels.GaussianKernel:
		return true
	}
	return false
}

// chosen returns these columns of a tensor.
func (g *onnxSteps) chosen(x string, element int, columns []int) string {
	n := g.add("", "Gather", element, len(columns), x, g.whole(columns...))
	n.int("axis", 1)
	return n.names[0]
}

// concat returns tensors side by side, which have so many columns in all.
func (g *onnxSteps) concat(columns int, parts ...string) string {
	if len(parts) == 1 {
		return parts[0]
	}
	n := g.add("", "Concat", onnxFloat, columns, parts...)
	n.int("axis", 1)
	return n.names[0]
}

// program adds the steps of a row of a table, and returns the name of its features. Columns
// that no step and no feature needs are no inputs.
func (g *onnxSteps) program(p *steps.Program) string {
	g.texts, g.recent = map[int]string{}, true
	used, text := map[int]bool{}, map[int]bool{}
	for _, s := range p.Steps {
		for _, c := range s.In {
			switch {
			case s.Op != nil && s.Op.Drop:
			case c.IsText():
				text[c.At()] = true
			default:
				used[c.At()] = true
			}
		}
	}
	for _, at := range p.Out {
		used[at] = true
	}
	for _, c := range p.Columns {
		switch {
		case c.IsText() && text[c.At()]:
			g.texts[c.At()] = g.input(c.Name, onnxString, 1)
		case c.IsText() || !used[c.At()]:
		case c.Kind == datasets.Time:
			g.put(g.input(c.Name, onnxDouble, 1), onnxDouble, c)
		default:
			g.put(g.input(c.Name, onnxFloat, 1), onnxFloat, c)
		}
	}
	for _, s := range p.Steps {
		if s.Op != nil {
			if g.op(s); g.wrong != nil {
				return ""
			}
			continue
		}
		var from []int
		for _, c := range s.In {
			for k := range c.Width() {
				from = append(from, c.At()+k)
			}
		}
		x, width := g.rows(s.Rows, g.features(from), len(from))
		g.numbers = append(g.numbers, onnxTensor{x, onnxFloat, s.Out[0].At(), width})
	}
	return g.features(p.Out)
}

// put notes the tensor of slots that follow each other.
func (g *onnxSteps) put(name string, element int, slots ...steps.Slot) {
	width := 0
	for _, c := range slots {
		width += c.Width()
	}
	g.numbers = append(g.numbers, onnxTensor{name, element, slots[0].At(), width})
}

// column returns the tensor of a slot, which has one column.
func (g *onnxSteps) column(c steps.Slot) (x string, element int) {
	if c.IsText() {
		return g.texts[c.At()], onnxString
	}
	for _, t := range g.numbers {
		switch j := c.At() - t.at; {
		case j < 0 || j >= t.width:
		case t.width == 1:
			return t.name, t.element
		default:
			return g.chosen(t.name, t.element, []int{j}), t.element
		}
	}
	panic("svmnb: a number of a row is read before it is written")
}

// features returns the tensor of the numbers at these places.
func (g *onnxSteps) features(at []int) string {
	var parts []string
	for i := 0; i < len(at); {
		k := slices.IndexFunc(g.numbers, func(t onnxTensor) bool { return t.at <= at[i] && at[i] < t.at+t.width })
		t := g.numbers[k]
		columns := []int{at[i] - t.at}
		for i++; i < len(at) && t.at <= at[i] && at[i] < t.at+t.width; i++ {
			columns = append(columns, at[i]-t.at)
		}
		x := t.name
		if len(columns) != t.width || !slices.IsSorted(columns) {
			x = g.chosen(x, t.element, columns)
		}
		if t.element != onnxFloat {
			x = g.cast(x, onnxFloat, len(columns))
		}
		parts = append(parts, x)
	}
	return g.concat(len(at), parts...)
}

// op adds the change of a slot.
func (g *onnxSteps) op(s steps.Instruction) {
	if s.Op.Drop {
		return
	}
	in := s.In[0]
	x, element := g.column(in)
	text := element == onnxString
	switch op := s.Op; {
	case op.Fill != nil:
		by := ""
		gap := g.missing(x, text)
		if text {
			by = g.tensor(onnxString, []int{1}, func(t *proto) { t.text(6, g.checked(op.Fill.Level)) })
			g.texts[s.Out[0].At()] = g.standard("Where", element, 1, gap, by, x)
		} else {
			by = g.floats(element, []float64{op.Fill.Value}, 1)
			g.put(g.standard("Where", element, 1, gap, by, x), element, s.Out[0])
		}
		if op.Fill.Indicator {
			g.put(g.cast(gap, onnxFloat, 1), onnxFloat, s.Out[1])
		}
	case op.Scale != nil:
		from := g.standard("Sub", element, 1, x, g.floats(element, []float64{op.Scale.Centre}, 1))
		g.put(g.standard("Div", element, 1, from, g.floats(element, []float64{op.Scale.Width}, 1)), element, s.Out[0])
	case op.OneHot != nil:
		g.put(g.indicated(g.single(x, element), text, op.OneHot.Places(), len(s.Out), op.OneHot.Unknown == steps.UnknownFails), onnxFloat, s.Out...)
	case op.Ordinal != nil:
		places := map[string]int{}
		for k, level := range op.Ordinal.Levels {
			places[level] = k
		}
		n := g.levels(g.single(x, element), text, onnxFloat, places, func(k int) int { return k })
		n.float("default_float", math.NaN())
		g.put(n.names[0], onnxFloat, s.Out[0])
	case op.Calendar != nil:
		g.calendar(in, x, s.Out)
	case op.Words != nil:
		g.bag(op.Words, x, s.Out[0])
	}
}

// single returns numbers as floats, since levels are not doubles.
func (g *onnxSteps) single(x string, element int) string {
	if element == onnxDouble {
		return g.cast(x, onnxFloat, 1)
	}
	return x
}

// missing returns where values of a column are missing.
func (g *onnxSteps) missing(x string, text bool) string {
	if !text {
		return g.standard("IsNaN", onnxBool, 1, x)
	}
	n := g.levels(x, true, onnxInt64, map[string]int{"": 1}, func(k int) int { return k })
	n.int("default_int64", 0)
	return g.cast(n.names[0], onnxBool, 1)
}

// levels adds the node that replaces levels by numbers that follow from their places. Other
// values become its default, which is to be added.
func (g *onnxSteps) levels(x string, text bool, element int, places map[string]int, value func(place int) int) *onnxNode {
	var texts []string
	var keys, floats []float64
	var ints []int64
	var seen = map[float32]int{}
	for _, level := range slices.Sorted(maps.Keys(places)) {
		v := value(places[level])
		if text {
			texts = append(texts, g.checked(level))
		} else {
			key, err := strconv.ParseFloat(level, 64)
			if err != nil || key-key != 0 {
				continue
			}
			if had, known := seen[float32(key)]; known && had != v {
				g.fail("the levels include two numbers next to %v that are the same in float32; make a category of the column by As(datasets.Category, ...) of the table", key)
			} else if known {
				continue
			}
			seen[float32(key)] = v
			keys = append(keys, key)
		}
		ints, floats = append(ints, int64(v)), append(floats, float64(v))
	}
	n := g.add(onnxDomain, "LabelEncoder", element, 1, x)
	if text {
		n.texts("keys_strings", texts)
	} else {
		n.floats("keys_floats", keys)
		g.beyond = g.beyond || n.beyond
	}
	if element == onnxInt64 {
		n.ints("values_int64s", ints)
	} else {
		n.floats("values_floats", floats)
	}
	return n
}

// indicated returns the columns of a category: 1 in the column of the row's level. If other
// levels are refused, all columns are NaN for them.
func (g *onnxSteps) indicated(x string, text bool, p steps.Places, width int, refuse bool) string {
	column := func(k int) int { // OneHot writes no 1 for a place that is too large
		if k < 0 {
			return width
		}
		return k
	}
	levels := maps.Clone(p.Levels)
	if text {
		levels[""] = p.Missing
	}
	n := g.levels(x, text, onnxInt64, levels, column)
	n.int("default_int64", int64(column(p.Unknown)))
	place := n.names[0]
	gap := ""
	if !text {
		gap = g.missing(x, false)
		place = g.standard("Where", onnxInt64, 1, gap, g.whole(column(p.Missing)), place)
	}
	n = g.add("", "Squeeze", onnxInt64, 0, place)
	n.ints("axes", []int64{1})
	hot := g.standard("OneHot", onnxFloat, width, n.names[0], g.whole(width), g.floats(onnxFloat, []float64{0, 1}, 2))
	if !refuse {
		return hot
	}
	n = g.levels(x, text, onnxFloat, levels, func(int) int { return 0 })
	n.float("default_float", math.NaN())
	known := n.names[0]
	if !text {
		known = g.standard("Where", onnxFloat, 1, gap, g.floats(onnxFloat, []float64{0}, 1), known)
	}
	return g.standard("Add", onnxFloat, width, hot, known)
}

// bag adds the nodes that count words. Runtimes other than onnxruntime lack the first.
func (g *onnxSteps) bag(w *steps.Words, x string, out steps.Slot) {
	if w.Hashed > 0 {
		g.fail("there is no node for HashWords; take CountWords or TfIdf")
		return
	}
	g.words = true
	n := g.add("", "Squeeze", onnxString, 0, x)
	n.ints("axes", []int64{1})
	locale := "C" // which every machine has, and which knows ASCII
	if slices.ContainsFunc(w.Vocabulary, func(word string) bool {
		return strings.ContainsFunc(word, func(r rune) bool { return r >= utf8.RuneSelf })
	}) {
		locale = "C.UTF-8"
	}
	n = g.add("", "StringNormalizer", onnxString, 0, n.names[0])
	n.text("case_change_action", "LOWER")
	n.int("is_case_sensitive", 1)
	n.text("locale", locale)
	n = g.add(onnxWords, "Tokenizer", onnxString, -2, n.names[0])
	n.int("mark", 0)
	n.int("mincharnum", 2)
	n.text("pad_value", "#") // which is no word
	n.text("tokenexp", `[\p{L}\p{Nd}]+`)

	most := 1
	pools := make([][]string, steps.MostGrams)
	places := make([][]int64, steps.MostGrams)
	for k, word := range w.Vocabulary {
		list := strings.Split(g.checked(word), " ")
		if len(list) > steps.MostGrams {
			g.fail("the words %.40q are more than %d", word, steps.MostGrams)
			return
		}
		most = max(most, len(list))
		pools[len(list)-1] = append(pools[len(list)-1], list...)
		places[len(list)-1] = append(places[len(list)-1], int64(k))
	}
	starts, at := make([]int64, most), 0
	for k, pool := range pools[:most] {
		starts[k] = int64(at)
		at += len(pool)
	}
	n = g.add("", "TfIdfVectorizer", onnxFloat, w.D(), n.names[0])
	n.text("mode", "TF")
	n.int("min_gram_length", 1)
	n.int("max_gram_length", int64(most))
	n.int("max_skip_count", 0)
	n.ints("ngram_counts", starts)
	n.ints("ngram_indexes", slices.Concat(places...))
	n.texts("pool_strings", slices.Concat(pools...))
	x = n.names[0]
	if w.IDF != nil {
		x = g.standard("Mul", onnxFloat, w.D(), x, g.floats(onnxFloat, w.IDF, w.D()))
	}
	if w.Norm {
		n = g.add(onnxDomain, "Normalizer", onnxFloat, w.D(), x)
		n.text("norm", "L2")
		x = n.names[0]
	}
	g.put(x, onnxFloat, out)
}

// calendar adds the nodes of the parts of a time, which is a number of seconds. Dates follow
// from days by whole numbers (Hinnant, chrono-compatible low-level date algorithms, 2013).
func (g *onnxSteps) calendar(in steps.Slot, seconds string, out []steps.Slot) {
	number := func(v float64) string { return g.floats(onnxDouble, []float64{v}, 1) }
	do := func(op string) func(x, y string) string {
		return func(x, y string) string { return g.standard(op, onnxDouble, 1, x, y) }
	}
	add, sub, mul, div := do("Add"), do("Sub"), do("Mul"), do("Div")
	floor := func(x string) string { return g.standard("Floor", onnxDouble, 1, x) }
	whole := func(x string, by float64) string { return floor(div(x, number(by))) } // of a quotient
	rest := func(x string, by float64) string { return sub(x, mul(whole(x, by), number(by))) }

	days := div(seconds, number(86400))
	day := floor(days)
	ofDay := sub(days, day)
	var year, month, monthDay, yearDay string
	date := func() {
		if year != "" {
			return
		}
		since := add(day, number(719468)) // 0000-03-01
		era := whole(since, 146097)
		d := sub(since, mul(era, number(146097)))
		y := sub(d, whole(d, 1460))
		y = add(y, whole(d, 36524))
		y = whole(sub(y, whole(d, 146096)), 365)
		d = sub(d, sub(add(mul(y, number(365)), whole(y, 4)), whole(y, 100)))
		m := whole(add(mul(d, number(5)), number(2)), 153) // 0 is March
		monthDay = add(sub(d, whole(add(mul(m, number(153)), number(2)), 5)), number(1))
		next := whole(m, 10)
		month = sub(add(m, number(3)), mul(next, number(12)))
		year = add(add(y, mul(era, number(400))), next)
		last := sub(year, number(1))
		first := sub(add(sub(add(mul(last, number(365)), whole(last, 4)), whole(last, 100)), whole(last, 400)), number(719162))
		yearDay = sub(day, first)
	}
	for _, c := range out {
		x := ""
		part, turn := strings.TrimPrefix(c.Name, in.Name+" "), ""
		if name, function, ok := strings.Cut(part, " "); ok {
			part, turn = name, map[string]string{"sin": "Sin", "cos": "Cos"}[function]
		}
		switch part {
		case steps.Days:
			x = days
		case steps.DayHours:
			x = ofDay
		case steps.Weekday: // 1970 began with a Thursday
			x = div(rest(add(day, number(4)), 7), number(7))
		case steps.Weekend: // Saturday is 0
			x = whole(sub(number(8), rest(add(day, number(5)), 7)), 7)
		default:
			date()
			switch part {
			case steps.Season:
				x = div(add(yearDay, ofDay), number(365.25))
			case steps.Year:
				x = year
			case steps.Month:
				x = month
			case steps.MonthDay:
				x = monthDay
			}
		}
		if turn == "" {
			g.put(x, onnxDouble, c)
			continue
		}
		angle := g.cast(mul(x, number(2*math.Pi)), onnxFloat, 1)
		g.put(g.standard(turn, onnxFloat, 1, angle), onnxFloat, c)
	}
}

// exponential returns the node that predicts and the nodes after it, which turn the logarithm
// of a target into the value; none if t is nil.
func (g *onnxSteps) exponential(t *steps.TargetMap, node *onnxNode) (*onnxNode, []*onnxNode) {
	if t == nil {
		return node, nil
	}
	own := *node
	own.names, own.outputs = nil, nil
	own.output("logarithm", onnxFloat, 1)
	e := &onnxNode{op: "Exp", step: true, inputs: []string{"logarithm"}}
	if t.Shift == 0 {
		e.output("value", onnxFloat, 1)
		return &own, []*onnxNode{e}
	}
	e.output("shifted", onnxFloat, 1)
	less := &onnxNode{op: "Sub", step: true, inputs: []string{"shifted", g.floats(onnxFloat, []float64{t.Shift}, 1)}}
	less.output("value", onnxFloat, 1)
	return &own, []*onnxNode{e, less}
}
