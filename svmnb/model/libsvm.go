package model

import (
	"bufio"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/svmnb/svmnb/internal/mark"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/calibrate"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/schemes"
)

// WriteLIBSVM writes the model as a model file of LIBSVM (Chang and Lin 2011), for its
// program svm-predict. The file's type is C-SVC for two classes and one against one,
// one-class, or ε-SVR for every regression and for the mean of a Gaussian process: C, ν, ε
// and the noise do not affect predictions. Labels are the targets of the classes. A threshold
// of decision values becomes a part of the bias.
//
// WriteLIBSVM returns a *[Error] for what the format lacks: kernels other than Linear,
// Polynomial, RBF and Sigmoid; one against the rest and Crammer–Singer; targets that are
// not whole numbers; probabilities other than Platt's, and a threshold of probabilities. Other
// errors are those of w.
func (m *Model) WriteLIBSVM(w io.Writer) error {
	if m.none() {
		return arguments.NoFit("WriteLIBSVM")
	}
	m = m.inUnits()
	const format = "LIBSVM"
	if err := m.bare(format); err != nil {
		return err
	}
	if err := m.noLogarithm(format); err != nil {
		return err
	}
	m, err := m.foldedDecision(format)
	if err != nil {
		return err
	}
	words, ok := libsvmKernel(m.of.Kernel)
	if !ok {
		return modelError(format, 0, "the format has no kernel %v; it has Linear, Polynomial, RBF and Sigmoid", say.Brief(m.of.Kernel.String()))
	}
	var sigmoids []calibrate.Sigmoid
	for _, c := range m.of.Curves {
		s, ok := c.(calibrate.Sigmoid)
		if !ok {
			return modelError(format, 0, "the format has the probabilities of Platt only; calibrate by calibrate.Platt")
		}
		sigmoids = append(sigmoids, s)
	}
	out := bufio.NewWriter(w)
	line := func(key string, values ...float64) {
		out.WriteString(key)
		for _, v := range values {
			out.WriteByte(' ')
			if v == math.Trunc(v) && math.Abs(v) <= math.MaxInt32 {
				out.WriteString(strconv.Itoa(int(v))) // without an exponent: LIBSVM stops reading a whole number at an "e"
			} else {
				out.WriteString(say.Number(v))
			}
		}
		out.WriteByte('\n')
	}
	var order []int // indices of the classes in the order of the file; of two, the positive one is first
	kind := "c_svc"
	switch m.of.Kind {
	case machines.ProcessKind:
		if m.of.Process.Beta != nil {
			return modelError(format, 0, "the format has no linear mean; take ConstantMean")
		}
		kind = "epsilon_svr"
	case machines.RegressionKind:
		kind = "epsilon_svr"
	case machines.OneClassKind:
		kind = "one_class"
	case machines.TwoClassKind:
		order = []int{1, 0}
	case machines.VotesKind:
		for k := range m.of.Classes {
			order = append(order, k)
		}
	default:
		return modelError(format, 0, "the format has no machines of %v; take OneVsOne", m.of.Kind)
	}
	line("svm_type " + kind)
	line("kernel_type " + words)
	line("nr_class", float64(max(2, len(order))))
	groups := m.byClass(order)
	total := 0
	var counts, labels, rho, a, b []float64
	for _, g := range groups {
		total += len(g)
		counts = append(counts, float64(len(g)))
	}
	for _, t := range m.of.Terms {
		rho = append(rho, -t.B)
	}
	for _, s := range sigmoids {
		a, b = append(a, s.A), append(b, s.B)
	}
	for _, k := range order {
		y := m.of.Targets[k]
		if y != math.Trunc(y) || math.Abs(y) > math.MaxInt32 {
			return modelError(format, 0, "the target of class %s is %v, and labels are whole numbers; give the data such targets", m.of.Classes[k], y)
		}
		labels = append(labels, y)
	}
	line("total_sv", float64(total))
	line("rho", rho...)
	if order != nil {
		line("label", labels...)
	}
	if sigmoids != nil {
		line("probA", a...)
		line("probB", b...)
	}
	if order != nil {
		line("nr_sv", counts...)
	}
	line("SV")
	for _, g := range groups {
		for _, r := range g {
			for k, c := range r.coef {
				if k > 0 {
					out.WriteByte(' ')
				}
				out.WriteString(say.Number(c))
			}
			m.of.Expansion.X.Entry(r.vector, func(j int, v float64) {
				if v != 0 {
					out.WriteByte(' ')
					out.WriteString(strconv.Itoa(j + 1))
					out.WriteByte(':')
					out.WriteString(say.Number(v))
				}
			})
			out.WriteByte('\n')
		}
	}
	return out.Flush()
}

// classRow is a support vector in the list of its class.
type classRow struct {
	vector int
	coef   []float64 // one for each of the other classes
}

// byClass groups the support vectors by class, as LIBSVM does, each with one coefficient
// for each of the other classes. order is the order of the classes, of two the positive one
// first; it is nil for a model without classes. The class of a vector follows from the
// signs of its coefficients. In models that were read, a vector may have signs of several
// classes; it is then listed with each.
func (m *Model) byClass(order []int) [][]classRow {
	groups := make([][]classRow, max(1, len(order)))
	width := max(1, len(order)-1)
	pair := 0
	for i := range len(groups) {
		for j := i + 1; j < max(2, len(groups)); j++ {
			t := m.of.Terms[pair]
			for at, c := range t.Coef {
				if c == 0 {
					continue
				}
				group, place := i, j-1
				if c < 0 && order != nil {
					group, place = j, i
				}
				rows := groups[group]
				n, found := slices.BinarySearchFunc(rows, at, func(r classRow, at int) int { return r.vector - at })
				if !found {
					rows = slices.Insert(rows, n, classRow{at, make([]float64, width)})
					groups[group] = rows
				}
				rows[n].coef[place] = c
			}
			pair++
		}
	}
	return groups
}

// libsvmKernel returns the lines of a model file that describe the kernel.
func libsvmKernel(k kernels.Kernel) (words string, ok bool) {
	switch k := written(k).(type) {
	case kernels.LinearKernel:
		return "linear", true
	case kernels.PolynomialKernel:
		return "polynomial\ndegree " + strconv.Itoa(k.Degree) + "\ngamma " + say.Number(k.Gamma) + "\ncoef0 " + say.Number(k.Coef0), true
	case kernels.GaussianKernel:
		return "rbf\ngamma " + say.Number(k.Gamma), true
	case kernels.SigmoidKernel:
		return "sigmoid\ngamma " + say.Number(k.Gamma) + "\ncoef0 " + say.Number(k.Coef0), true
	}
	return "", false
}

// ReadLIBSVM reads a model file of LIBSVM's program svm-train, of any type and any kernel
// except the precomputed one. Points have dims features. With dims 0 they have as many as
// the largest index in the file, which may be fewer than the training data had. The names
// of the classes are their labels. A decision value of exactly 0 is a vote for the second
// class of a pair, as in LIBSVM. Probabilities of a regression or of one class are not
// read. If the file is faulty, the error is a *[Error] with the line. Time and memory are
// proportional to the size of the file, plus at most 1 GiB each for vectors, coefficients
// and weights.
func ReadLIBSVM(r io.Reader, dims int) (*Model, error) {
	in, err := newModelLines("LIBSVM", r)
	if err != nil {
		return nil, err
	}
	if dims < 0 || dims > machines.MostNumbers {
		return nil, in.fail("dims is %d; give the number of features, or 0 for the largest index", dims)
	}
	h := libsvmHeader{count: -1}
	for done := false; !done; {
		text, ok, err := in.next()
		switch {
		case err != nil:
			return nil, err
		case !ok:
			return nil, in.fail("the file ends before its support vectors")
		}
		key, rest, _ := strings.Cut(text, " ")
		if done = key == "SV"; done {
			continue
		}
		if err := h.read(in, key, strings.Fields(rest)); err != nil {
			return nil, err
		}
	}
	m, err := h.model(in)
	if err != nil {
		return nil, err
	}
	if err := h.vectors(in, m, dims); err != nil {
		return nil, err
	}
	if err := m.complete(in.format); err != nil {
		return nil, err
	}
	return m, nil
}

// modelLines reads a text file line by line.
type modelLines struct {
	format string
	in     *bufio.Reader
	line   int
}

func newModelLines(format string, r io.Reader) (*modelLines, error) {
	in, err := mark.Skip(r)
	if err != nil {
		return nil, modelError(format, 1, "%v", err)
	}
	return &modelLines{format: format, in: in}, nil
}

func (l *modelLines) fail(msg string, args ...any) error {
	return modelError(l.format, l.line, msg, args...)
}

// next returns the next line without its end; ok is false at the end of the file.
func (l *modelLines) next() (text string, ok bool, err error) {
	text, err = l.in.ReadString('\n')
	if err != nil && err != io.EOF {
		e := modelError(l.format, l.line+1, "cannot read on: %v", err)
		e.Err = err
		return "", false, e
	}
	if text == "" {
		return "", false, nil
	}
	l.line++
	if err == io.EOF {
		return "", false, l.fail("the line has no end: the file was cut short; get it again")
	}
	return strings.TrimRight(text, "\r\n"), true, nil
}

// number reads a finite number.
func (l *modelLines) number(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, l.fail("%.40q is not a finite number", s)
	}
	return v, nil
}

func (l *modelLines) numbers(words []string) ([]float64, error) {
	v := make([]float64, len(words))
	for i, s := range words {
		var err error
		if v[i], err = l.number(s); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// whole reads a whole number from 0 to the largest int32.
func (l *modelLines) whole(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil {
		return 0, l.fail("%.40q is not a whole number of at least 0", s)
	}
	return int(n), nil
}

// entries reads pairs index:value. Indices in the file begin at 1 and increase; those
// returned begin at 0.
func (l *modelLines) entries(words []string) (index []int, value []float64, err error) {
	last := 0
	for _, s := range words {
		left, right, ok := strings.Cut(s, ":")
		if !ok {
			return nil, nil, l.fail("%.40q is not index:value", s)
		}
		k, err := l.whole(left)
		if err != nil {
			return nil, nil, err
		}
		if k <= last {
			return nil, nil, l.fail("index %d comes after %d; indices count from 1 and increase", k, last)
		}
		v, err := l.number(right)
		if err != nil {
			return nil, nil, err
		}
		index, value, last = append(index, k-1), append(value, v), k
	}
	return index, value, nil
}

// libsvmHeader is the part of a model file before the support vectors.
type libsvmHeader struct {
	kind, kernel     string
	degree           int
	gamma, coef0     float64
	classes, count   int // count is total_sv; −1 before it is read
	rho, label       []float64
	labels           []string
	probA, probB, sv []float64
}

func (h *libsvmHeader) read(in *modelLines, key string, words []string) (err error) {
	if len(words) == 0 {
		return in.fail("%.40q has no value", key)
	}
	one := len(words) == 1
	switch key {
	case "svm_type":
		h.kind = words[0]
	case "kernel_type":
		h.kernel = words[0]
	case "degree":
		h.degree, err = in.whole(words[0])
	case "gamma":
		h.gamma, err = in.number(words[0])
	case "coef0":
		h.coef0, err = in.number(words[0])
	case "nr_class":
		h.classes, err = in.whole(words[0])
	case "total_sv":
		h.count, err = in.whole(words[0])
	case "rho":
		h.rho, err = in.numbers(words)
		one = true
	case "label":
		h.label, err = in.numbers(words)
		h.labels, one = words, true
	case "probA":
		h.probA, err = in.numbers(words)
		one = true
	case "probB":
		h.probB, err = in.numbers(words)
		one = true
	case "nr_sv":
		h.sv, err = in.numbers(words)
		one = true
	case "prob_density_marks":
		one = true
	default:
		return in.fail("%.40q is not known", key)
	}
	if err == nil && !one {
		return in.fail("%s has %d values; want one", key, len(words))
	}
	return err
}

// model checks the header and returns the model without its support vectors.
func (h *libsvmHeader) model(in *modelLines) (*Model, error) {
	m := &Model{}
	switch h.kernel {
	case "linear":
		m.of.Kernel = kernels.Linear()
	case "polynomial":
		m.of.Kernel = kernels.Polynomial(h.degree, h.gamma, h.coef0)
	case "rbf":
		m.of.Kernel = kernels.RBF(h.gamma)
	case "sigmoid":
		m.of.Kernel = kernels.Sigmoid(h.gamma, h.coef0)
	default:
		return nil, in.fail("the kernel %.40q cannot be read; linear, polynomial, rbf and sigmoid can", h.kernel)
	}
	if err := m.of.Kernel.Check(); err != nil {
		e := modelError(in.format, in.line, "%v", err)
		e.Err = err
		return nil, e
	}
	count := 1
	switch h.kind {
	case "epsilon_svr", "nu_svr":
	case "one_class":
		m.of.Kind = machines.OneClassKind
		m.of.Classes, m.of.Targets, m.of.Duels = []string{"outside", "inside"}, []float64{-1, 1}, [][2]int{{1, 0}}
	case "c_svc", "nu_svc":
		m.of.Kind = machines.VotesKind
		if len(h.labels) < 2 || h.classes != len(h.labels) || len(h.sv) != len(h.labels) {
			return nil, in.fail("there are %d classes, %d labels and %d numbers of vectors; want as many, and two at least", h.classes, len(h.labels), len(h.sv))
		}
		if count = h.classes * (h.classes - 1) / 2; count != len(h.rho) { // a line of the file bounds both numbers, so the product cannot overflow
			return nil, in.fail("there are %d biases; want one for each of %d pairs", len(h.rho), count)
		}
		m.of.Classes, m.of.Targets, m.of.Duels = h.labels, h.label, schemes.AllPairs(h.classes, count)
		if h.probA != nil || h.probB != nil {
			if len(h.probA) != count || len(h.probB) != count {
				return nil, in.fail("there are %d probA and %d probB; want one for each of %d pairs", len(h.probA), len(h.probB), count)
			}
			for k := range h.probA {
				m.of.Curves = append(m.of.Curves, calibrate.Sigmoid{A: h.probA[k], B: h.probB[k]})
			}
		}
	default:
		return nil, in.fail("the type %.40q is not known", h.kind)
	}
	if len(h.rho) != count {
		return nil, in.fail("there are %d biases; want %d", len(h.rho), count)
	}
	for _, rho := range h.rho {
		m.of.Terms = append(m.of.Terms, machines.Term{B: -rho})
	}
	return m, nil
}

// vectors reads the support vectors, which follow the header.
func (h *libsvmHeader) vectors(in *modelLines, m *Model, dims int) error {
	k := len(h.sv)
	if m.of.Kind != machines.VotesKind {
		k = 2
	}
	ends := []float64{math.Inf(1)} // ends[c] is the number of vectors in the classes up to c
	if m.of.Kind == machines.VotesKind {
		ends = ends[:0]
		end := 0.0
		for _, n := range h.sv {
			if n < 0 || n != math.Trunc(n) {
				return in.fail("%v is not a number of vectors", n)
			}
			end += n
			ends = append(ends, end)
		}
		if end != float64(h.count) {
			return in.fail("nr_sv are %v vectors together, total_sv is %d", end, h.count)
		}
	}
	var index [][]int
	var value, coefs [][]float64
	var classes []int
	class, largest := 0, 0
	for {
		text, ok, err := in.next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		n := len(index)
		if n == h.count {
			return in.fail("there are more support vectors than total_sv, %d", h.count)
		}
		if len(words) < k-1 {
			return in.fail("there are %d coefficients; want %d", len(words), k-1)
		}
		for float64(n) >= ends[class] {
			class++
		}
		coef, err := in.numbers(words[:k-1])
		if err != nil {
			return err
		}
		j, v, err := in.entries(words[k-1:])
		if err != nil {
			return err
		}
		if len(j) > 0 {
			largest = max(largest, j[len(j)-1]+1)
		}
		if dims > 0 && largest > dims {
			return in.fail("index %d is larger than dims, %d", largest, dims)
		}
		index, value = append(index, j), append(value, v)
		coefs, classes = append(coefs, coef), append(classes, class)
	}
	if len(index) != h.count {
		return in.fail("there are %d support vectors; total_sv is %d", len(index), h.count)
	}
	m.of.Expansion.D = dims
	if dims == 0 {
		m.of.Expansion.D = max(1, largest)
	}
	if m.of.Expansion.D > machines.MostNumbers {
		return in.fail("there are %d features; at most %d can be read", m.of.Expansion.D, machines.MostNumbers)
	}
	if len(index) > machines.MostNumbers/len(m.of.Terms) {
		return in.fail("%d support vectors of %d machines need more than 1 GiB when written out", len(index), len(m.of.Terms))
	}
	for i := range m.of.Terms {
		m.of.Terms[i].Coef = make([]float64, len(index))
	}
	for n, class := range classes {
		for p, c := range coefs[n] { // p counts the other classes
			a, b := class, p+1
			if p < class {
				a, b = p, class
			}
			if m.of.Kind != machines.VotesKind {
				a, b = 0, 1
			}
			m.of.Terms[pairOf(a, b, k)].Coef[n] = c
		}
	}
	m.of.Expansion.X.Sparse = &kernels.CSR{Start: []int{0}, D: m.of.Expansion.D}
	for i, j := range index {
		for p, at := range j {
			m.of.Expansion.X.Sparse.Index, m.of.Expansion.X.Sparse.Value = append(m.of.Expansion.X.Sparse.Index, int32(at)), append(m.of.Expansion.X.Sparse.Value, value[i][p])
		}
		m.of.Expansion.X.Sparse.Start = append(m.of.Expansion.X.Sparse.Start, len(m.of.Expansion.X.Sparse.Index))
	}
	if most := m.of.Expansion.D * len(index) / 4; len(m.of.Expansion.X.Sparse.Index) >= most { // few zeros: dense points are faster and take at most three times the memory
		out := points.Points{X: make([][]float64, len(index))}
		for i := range out.X {
			out.X[i] = m.of.Expansion.X.Sparse.Point(nil, i)
		}
		m.of.Expansion.X = out
	}
	return nil
}

// pairOf returns the index of the pair a < b in the list (0, 1), (0, 2), …, (k−2, k−1).
func pairOf(a, b, k int) int { return a*(2*k-a-1)/2 + b - a - 1 }
