package model

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
)

// goPassage is the text of the steps of a pipeline while it is put together.
type goPassage struct {
	strings.Builder
	imports, helpers map[string]bool
	count            int // functions for steps of rows
}

func (g *goPassage) line(format string, args ...any) { fmt.Fprintf(g, format, args...) }

func goList(v []float64) string {
	words := make([]string, len(v))
	for i, x := range v {
		words[i] = say.Number(x)
	}
	return strings.Join(words, ", ")
}

// list writes a variable that has these numbers.
func (g *goPassage) list(name string, v []float64) {
	g.line("var %s = [%d]float64{%s}\n\n", name, len(v), goList(v))
}

// table writes a variable that has these rows.
func (g *goPassage) table(name string, rows [][]float64) {
	g.line("var %s = [%d][%d]float64{\n", name, len(rows), len(rows[0]))
	for _, row := range rows {
		g.line("\t{%s},\n", goList(row))
	}
	g.line("}\n\n")
}

// passage writes the function transform, which applies the steps to a point.
func (g *goPassage) passage(p *steps.Passage, d int) {
	g.line("// transformedD is how many features a point has after the steps of the pipeline.\nconst transformedD = %d\n\n", d)
	g.line("// transform does %s to a point.\nfunc transform(x [D]float64) [transformedD]float64 {\n\treturn ", printable(p.String()))
	for i := len(p.Steps); i > 0; i-- {
		g.line("step%d(", i)
	}
	g.line("x%s\n}\n\n", strings.Repeat(")", len(p.Steps)))
	in := p.D
	for _, t := range p.Steps {
		in = g.rows(t, in)
	}
}

// printable returns the text in one line, since it may come from a file.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
}

// rows writes the function step1, step2 and so on of a step for rows of in numbers. It
// returns how many numbers the step makes.
func (g *goPassage) rows(t steps.Fitted, in int) (out int) {
	g.count++
	i := strconv.Itoa(g.count)
	out = in
	switch t := t.(type) {
	case steps.Scaled:
		g.line("func step%s(x [%d]float64) [%d]float64 {\n\tfor j, v := range x {\n\t\tif x[j] = %s; widths%s[j] != 0 {\n\t\t\tx[j] += (v - centres%s[j]) / widths%s[j] * %s\n\t\t}\n\t}\n\treturn x\n}\n\n",
			i, in, in, say.Number(t.Of.Low), i, i, i, say.Number(t.Of.High-t.Of.Low))
		g.list("centres"+i, t.Of.Centre)
		g.list("widths"+i, t.Of.Width)
	case steps.Imputed:
		if t.Gaps == nil {
			g.line("func step%s(x [%d]float64) [%d]float64 {\n\tfor j, v := range x {\n\t\tif v != v {\n\t\t\tx[j] = known%s[j]\n\t\t}\n\t}\n\treturn x\n}\n\n", i, in, in, i)
		} else {
			out += len(t.Gaps)
			g.line("func step%s(x [%d]float64) (z [%d]float64) {\n\tfor j, v := range x {\n\t\tif z[j] = v; v != v {\n\t\t\tz[j] = known%s[j]\n\t\t}\n\t}\n", i, in, out, i)
			for k, j := range t.Gaps {
				g.line("\tif x[%d] != x[%d] {\n\t\tz[%d] = 1\n\t}\n", j, j, in+k)
			}
			g.line("\treturn z\n}\n\n")
		}
		g.list("known"+i, t.By)
	case steps.Indicated:
		out = 0
		for _, v := range t.Values {
			out += max(1, len(v))
		}
		g.line("func step%s(x [%d]float64) (z [%d]float64) {\n\tc := 0\n\tfor j, v := range x {\n\t\tif values%s[j] == nil {\n\t\t\tz[c] = v\n\t\t\tc++\n\t\t}\n\t\tfor _, known := range values%s[j] {\n\t\t\tif z[c] = v - v; v == known {\n\t\t\t\tz[c] = 1\n\t\t\t}\n\t\t\tc++\n\t\t}\n\t}\n\treturn z\n}\n\n", i, in, out, i, i)
		var values []string
		for j, v := range t.Values {
			if v != nil {
				values = append(values, fmt.Sprintf("%d: {%s}", j, goList(v)))
			}
		}
		g.line("// values%s are those of each feature that becomes several.\nvar values%s = [%d][]float64{%s}\n\n", i, i, in, strings.Join(values, ", "))
	case steps.Projected:
		out = len(t.Rows)
		g.line("func step%s(x [%d]float64) (z [%d]float64) {\n\tfor j, v := range x {\n\t\tfor c := range z {\n\t\t\tz[c] += directions%s[c][j] * (v - means%s[j])\n\t\t}\n\t}\n\treturn z\n}\n\n", i, in, out, i, i)
		g.list("means"+i, t.Mean)
		g.table("directions"+i, t.Rows)
	case steps.FourierMap:
		out = len(t.W)
		g.imports["math"] = true
		g.line("func step%s(x [%d]float64) (z [%d]float64) {\n\tfor c := range z {\n\t\tsum := phases%s[c]\n\t\tfor j, v := range x {\n\t\t\tsum += frequencies%s[c][j] * v\n\t\t}\n\t\tz[c] = %s * math.Cos(sum)\n\t}\n\treturn z\n}\n\n", i, in, out, i, i, say.Number(math.Sqrt(2/float64(out))))
		g.list("phases"+i, t.B)
		g.table("frequencies"+i, t.W)
	case steps.NystroemMap:
		out = len(t.U)
		body, _ := goKernel(t.Kernel)
		if body == "" {
			body = goDot + "\treturn dot\n"
		}
		g.imports["math"] = g.imports["math"] || strings.Contains(body, "math.")
		centre := ""
		if t.Shift != nil {
			centre = fmt.Sprintf("\tfor c := range z {\n\t\tz[c] -= shifts%s[c]\n\t}\n", i)
			g.list("shifts"+i, t.Shift)
		}
		g.line("func step%s(x [%d]float64) (z [%d]float64) {\n\tfor i := range landmarks%s {\n\t\tk := kernel%s(&x, &landmarks%s[i])\n\t\tfor c := range z {\n\t\t\tz[c] += factors%s[c][i] * k\n\t\t}\n\t}\n%s\treturn z\n}\n\n", i, in, out, i, i, i, i, centre)
		g.line("func kernel%s(x, z *[%d]float64) float64 {\n%s}\n\n", i, in, body)
		marks, _ := t.Marks.Rows(math.MaxInt)
		g.table("landmarks"+i, marks)
		g.table("factors"+i, t.U)
	}
	return out
}

// program writes the type Row and the function transform, which applies the steps to a row
// of a table. It goes the way of the compiled program: n has its numbers, t its texts.
func (g *goPassage) program(p *steps.Program, doing string) {
	g.line("// transformedD is how many features a row has after the steps of the pipeline.\nconst transformedD = %d\n\n", len(p.Out))
	g.line("// Row is a row of the table. A missing number is NaN, a missing text is \"\", and a missing\n// time is the zero time.\ntype Row struct {\n")
	fields := goFields(p.Columns)
	for j, c := range p.Columns {
		if j > 0 {
			g.line("\n")
		}
		g.line("\t// %s is the column %s, a %v.\n\t%s %s\n", fields[j], strconv.QuoteToGraphic(c.Name), c.Kind, fields[j],
			map[datasets.Kind]string{datasets.Number: "float64", datasets.Time: "time.Time"}[c.Kind]+map[bool]string{true: "string"}[c.IsText()])
	}
	g.line("}\n\n")

	var do goPassage // the body of transform
	numbers, texts := p.Size()
	do.line("\tvar n [%d]float64\n", numbers)
	if texts > 0 {
		do.line("\tvar t [%d]string\n", texts)
	}
	for j, c := range p.Columns {
		value := "row." + fields[j]
		if c.Kind == datasets.Time {
			value = g.call("seconds", value)
		}
		do.line("\t%s = %s\n", goCell(c), value)
	}
	for _, s := range p.Steps {
		switch {
		case s.Op != nil:
			g.op(&do, s)
		default:
			from := goAddresses(s.In)
			i := g.count + 1
			out := g.rows(s.Rows, len(from))
			do.line("\tvar x%d [%d]float64\n", i, len(from))
			do.gather("x"+strconv.Itoa(i), from)
			do.line("\tz%d := step%d(x%d)\n\tcopy(n[%d:%d], z%d[:])\n", i, i, i, s.Out[0].At(), s.Out[0].At()+out, i)
		}
	}
	do.gather("x", p.Out)
	g.line("// transform does the steps of the pipeline to a row: %s.\nfunc transform(row Row) (x [transformedD]float64) {\n%s\treturn x\n}\n\n", printable(doing), do.String())
	for _, name := range slices.Sorted(maps.Keys(g.helpers)) {
		g.line("%s", goHelpers[name].text)
		for _, from := range goHelpers[name].imports {
			g.imports[from] = true
		}
	}
}

func goCell(c steps.Slot) string {
	if c.IsText() {
		return fmt.Sprintf("t[%d]", c.At())
	}
	return fmt.Sprintf("n[%d]", c.At())
}

// goAddresses returns where all numbers of the slots are.
func goAddresses(slots []steps.Slot) (at []int) {
	for _, c := range slots {
		for k := range c.Width() {
			at = append(at, c.At()+k)
		}
	}
	return at
}

// gather writes what copies numbers of n to the array to.
func (g *goPassage) gather(to string, from []int) {
	for i := 0; i < len(from); {
		j := i + 1
		for j < len(from) && from[j] == from[j-1]+1 {
			j++
		}
		if j == i+1 {
			g.line("\t%s[%d] = n[%d]\n", to, i, from[i])
		} else {
			g.line("\tcopy(%s[%d:%d], n[%d:%d])\n", to, i, j, from[i], from[j-1]+1)
		}
		i = j
	}
}

// call returns the text of the call of a helper, and notes that it is needed.
func (g *goPassage) call(helper string, arguments ...string) string {
	g.helpers[helper] = true
	return helper + "(" + strings.Join(arguments, ", ") + ")"
}

// op writes the change of a slot.
func (g *goPassage) op(do *goPassage, s steps.Instruction) {
	in := s.In[0]
	v, text := goCell(in), in.IsText()
	if !s.Op.Drop {
		do.line("\n\t// %s\n", strconv.QuoteToGraphic(in.Name))
	}
	to := func() string { return fmt.Sprintf("n[%d:%d]", s.Out[0].At(), s.Out[0].At()+len(goAddresses(s.Out))) }
	absent := v + ` == ""`
	if !text {
		absent = v + " != " + v
	}
	switch op := s.Op; {
	case op.Fill != nil:
		by := say.Number(op.Fill.Value)
		if text {
			by = strconv.Quote(op.Fill.Level)
		}
		out := goCell(s.Out[0])
		do.line("\t%s = %s\n\tif %s {\n\t\t%s = %s\n", out, v, absent, out, by)
		if op.Fill.Indicator {
			do.line("\t\t%s = 1\n", goCell(s.Out[1]))
		}
		do.line("\t}\n")
	case op.Scale != nil:
		do.line("\t%s = (%s - %s) / %s\n", goCell(s.Out[0]), v, say.Number(op.Scale.Centre), say.Number(op.Scale.Width))
	case op.OneHot != nil:
		k := op.OneHot.Places()
		unknown := strconv.Itoa(k.Unknown)
		if op.OneHot.Unknown == steps.UnknownFails {
			unknown = "refused"
		}
		do.line("\t%s\n", g.call("indicate", to(), g.places(k.Levels, text), v, absent, strconv.Itoa(k.Missing), unknown))
	case op.Ordinal != nil:
		places := map[string]int{}
		for k, level := range op.Ordinal.Levels {
			places[level] = k
		}
		do.line("\t%s = %s\n", goCell(s.Out[0]), g.call("order", g.places(places, text), v))
	case op.Calendar != nil:
		for _, out := range s.Out {
			do.line("\t%s = %s\n", goCell(out), g.call("calendar", strconv.Quote(strings.TrimPrefix(out.Name, in.Name+" ")), v))
		}
	case op.Words != nil:
		find := ""
		if op.Words.Hashed > 0 {
			find = g.call("hashed", strconv.Itoa(op.Words.Hashed))
		} else {
			places := map[string]int{}
			for k, word := range op.Words.Vocabulary {
				places[word] = k
			}
			find = g.call("known", g.places(places, true))
		}
		weights := "nil"
		if op.Words.IDF != nil {
			weights = fmt.Sprintf("weights%d[:]", s.Out[0].At())
			g.list(strings.TrimSuffix(weights, "[:]"), op.Words.IDF)
		}
		do.line("\t%s\n", g.call("count", to(), v, strconv.Itoa(max(1, op.Words.Grams)), find, weights, strconv.FormatBool(op.Words.Norm)))
	}
}

// places writes a variable with the places of levels, and returns its name.
func (g *goPassage) places(places map[string]int, text bool) string {
	g.count++
	name, kind := fmt.Sprintf("places%d", g.count), "string"
	words := map[string]string{}
	for level, k := range places {
		key := strconv.Quote(level)
		if !text {
			v, err := strconv.ParseFloat(level, 64)
			if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
				continue
			}
			key = say.Number(v)
		}
		words[key] = fmt.Sprintf("%s: %d", key, k)
	}
	if !text {
		kind = "float64"
	}
	keys := slices.Sorted(maps.Keys(words))
	list := make([]string, len(keys))
	for i, key := range keys {
		list[i] = words[key]
	}
	g.line("var %s = map[%s]int{%s}\n\n", name, kind, strings.Join(list, ", "))
	return name
}

// goFields returns a name for each column that a field of a struct can have.
func goFields(columns []steps.Slot) []string {
	taken, names := map[string]bool{}, make([]string, len(columns))
	for j, c := range columns {
		name, upper := "", true
		for _, r := range c.Name {
			if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
				upper = true
				continue
			}
			if upper {
				r = unicode.ToUpper(r)
			}
			name, upper = name+string(r), false
		}
		if first, _ := utf8.DecodeRuneInString(name); !unicode.IsUpper(first) {
			name = "X" + name
		}
		unique := name
		for k := 2; taken[unique]; k++ {
			unique = fmt.Sprintf("%s_%d", name, k)
		}
		names[j], taken[unique] = unique, true
	}
	return names
}

// goHelpers are functions that steps for tables call.
var goHelpers = map[string]struct {
	text    string
	imports []string
}{
	"seconds": {`// seconds are those since 1970.
func seconds(t time.Time) float64 {
	if t.IsZero() {
		return math.NaN()
	}
	return float64(t.UnixMicro()) / 1e6
}

`, []string{"math", "time"}},
	"indicate": {`// refused is the place of a level that must not occur: all features become NaN.
const refused = -2

// indicate puts 1 to the place of the level v.
func indicate[L comparable](to []float64, places map[L]int, v L, isMissing bool, missing, unknown int) {
	k, known := places[v]
	switch {
	case isMissing:
		k = missing
	case !known:
		k = unknown
	}
	if k >= 0 {
		to[k] = 1
	}
	for j := range to {
		if k == refused {
			to[j] = math.NaN()
		}
	}
}

`, []string{"math"}},
	"order": {`// order is the number of the level v, or NaN.
func order[L comparable](places map[L]int, v L) float64 {
	if k, ok := places[v]; ok {
		return float64(k)
	}
	return math.NaN()
}

`, []string{"math"}},
	"calendar": {`// calendar is a part of a time.
func calendar(part string, seconds float64) float64 {
	if seconds != seconds {
		return seconds
	}
	t := time.UnixMicro(int64(math.Round(seconds * 1e6))).UTC()
	day := seconds/86400 - math.Floor(seconds/86400)
	season, week := (float64(t.YearDay()-1)+day)/365.25, float64(t.Weekday())/7
	switch part {
	case "days":
		return seconds / 86400
	case "year":
		return float64(t.Year())
	case "month":
		return float64(t.Month())
	case "day":
		return float64(t.Day())
	case "weekend":
		if t.Weekday() == time.Saturday || t.Weekday() == time.Sunday {
			return 1
		}
		return 0
	case "season sin":
		return math.Sin(2 * math.Pi * season)
	case "season cos":
		return math.Cos(2 * math.Pi * season)
	case "weekday sin":
		return math.Sin(2 * math.Pi * week)
	case "weekday cos":
		return math.Cos(2 * math.Pi * week)
	case "hour sin":
		return math.Sin(2 * math.Pi * day)
	case "hour cos":
		return math.Cos(2 * math.Pi * day)
	}
	return math.NaN()
}

`, []string{"math", "time"}},
	"known": {`// known finds the features of words.
func known(places map[string]int) func(word string) int {
	return func(word string) int {
		if k, ok := places[word]; ok {
			return k
		}
		return -1
	}
}

`, nil},
	"hashed": {`// hashed finds the features of words by FNV-1a.
func hashed(features int) func(word string) int {
	return func(word string) int {
		h := uint32(2166136261)
		for i := range len(word) {
			h = (h ^ uint32(word[i])) * 16777619
		}
		return int(h % uint32(features))
	}
}

`, nil},
	"count": {`// count counts the words of a text: runs of at least two letters and digits, in lower case,
// and up to so many of them in a row.
func count(to []float64, text string, grams int, place func(word string) int, weights []float64, norm bool) {
	var words []string
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if utf8.RuneCountInString(word) < 2 {
			continue
		}
		words = append(words, strings.Map(unicode.ToLower, word))
		for k := 1; k <= min(grams, len(words)); k++ {
			if j := place(strings.Join(words[len(words)-k:], " ")); j >= 0 {
				to[j]++
			}
		}
	}
	sum := 0.0
	for j := range to {
		if weights != nil {
			to[j] *= weights[j]
		}
		sum += float64(to[j] * to[j])
	}
	for j := range to {
		if norm && sum > 0 {
			to[j] /= math.Sqrt(sum)
		}
	}
}

`, []string{"math", "strings", "unicode", "unicode/utf8"}},
}
