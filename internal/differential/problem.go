package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/solvers/blocks"
	"github.com/svmnb/svmnb/svmnb"
)

// form is the formulation of a problem.
type form int

const (
	oneNorm form = iota
	twoNorm
	hardMargin
	nuSVC
	oneClass
	epsilonSVR
	quadraticSVR
	ridge
	nuSVR
	quantile
	huber
	oneVsOne
	oneVsRest
	crammerSinger
	forms
)

func (f form) regression() bool { return f >= epsilonSVR && f <= huber }
func (f form) many() bool       { return f >= oneVsOne }
func (f form) nu() bool         { return f == nuSVC || f == oneClass || f == nuSVR }

func (f form) String() string {
	return [...]string{"1-norm", "2-norm", "hard", "ν-SVC", "one class", "ε-SVR", "quadratic SVR", "ridge", "ν-SVR", "quantile", "Huber", "one against one", "one against the rest", "Crammer–Singer"}[f]
}

// problem has everything that a fit depends on, except the method.
type problem struct {
	X       [][]float64
	Y       []float64
	Sparse  bool // given in compressed rows
	Form    form
	Kernel  string // in the form that kernels.Parse reads; "" means the default
	C       float64
	Nu      float64
	Epsilon float64
	Bias    bias
	Offset  float64   // the fixed bias
	Tau2    float64   // τ² of an augmented bias
	Weights []float64 // nil means none
	Tol     float64
}

type bias int

const (
	free bias = iota
	fixed
	augmented
)

// draw makes one problem from a seed and a number. The same seed and number give the same
// problem.
func draw(seed, number uint64, largest int) problem {
	rng := rand.New(rand.NewPCG(seed, number))
	p := problem{Form: form(rng.IntN(int(forms))), Tol: []float64{1e-3, 1e-3, 1e-6, 1e-1}[rng.IntN(4)]}
	n := 2 + rng.IntN(11)
	switch r := rng.IntN(1000); {
	case r < 350:
		n = 13 + rng.IntN(48)
	case r < 380:
		n = []int{127, 128, 129, 191, 193, 255, 257, 299, 300, 301}[rng.IntN(10)]
	case r < 384: // a regression of 300 points has 600 variables
		n = []int{511, 512, 513, 599, 600, 601, 1023, 1025}[rng.IntN(8)]
	case r == 384 && rng.IntN(20) == 0:
		n = []int{2047, 2049, 4095, 4096, 4097}[rng.IntN(5)]
	}
	n = min(n, largest)
	d := 1 + rng.IntN(5)
	if rng.IntN(12) == 0 {
		d = []int{7, 8, 9, 16, 17, 33, 95, 96, 97}[rng.IntN(9)]
	}
	classes := 2
	if p.Form.many() {
		classes = 2 + rng.IntN(4)
	}
	shift := []float64{0, 0.3, 1, 3}[rng.IntN(4)]
	var share float64 // share of entries that are 0
	if rng.IntN(4) == 0 {
		share = []float64{0.5, 0.9}[rng.IntN(2)]
	}
	for i := range n {
		k := i % classes
		row := make([]float64, d)
		for j := range row {
			row[j] = rng.NormFloat64() + shift*float64((k>>(j%2))%3)
			if share > 0 && rng.Float64() < share {
				row[j] = 0
			}
		}
		p.X = append(p.X, row)
		switch {
		case p.Form.regression():
			p.Y = append(p.Y, math.Sin(row[0])+0.1*rng.NormFloat64())
		case p.Form.many():
			p.Y = append(p.Y, float64(k))
		default:
			p.Y = append(p.Y, float64(2*k-1))
		}
	}
	if rng.IntN(5) == 0 { // duplicate points, some with contradicting targets
		for range 1 + n/6 {
			p.X[rng.IntN(n)] = p.X[rng.IntN(n)]
		}
	}
	if rng.IntN(8) == 0 { // a constant feature
		j, v := rng.IntN(d), rng.NormFloat64()
		for i := range p.X {
			p.X[i] = slices.Clone(p.X[i])
			p.X[i][j] = v
		}
	}
	scale, far := 1.0, 0.0
	switch rng.IntN(20) {
	case 0:
		scale = math.Pow(10, 300*rng.Float64()-150)
	case 1, 2, 3:
		scale = math.Pow(10, 8*rng.Float64()-4)
	case 4, 5:
		far = math.Pow(10, 6*rng.Float64())
	}
	for i, row := range p.X {
		p.X[i] = make([]float64, d)
		for j, v := range row {
			p.X[i][j] = scale * (v + far)
		}
	}
	if p.Form.regression() && rng.IntN(8) == 0 {
		unit := math.Pow(10, 12*rng.Float64()-6)
		for i := range p.Y {
			p.Y[i] *= unit
		}
	}
	p.Sparse = rng.IntN(5) == 0
	p.Kernel = someKernel(rng, scale, d, p.X)
	p.C = math.Pow(10, 5*rng.Float64()-2)
	if rng.IntN(5) == 0 {
		p.C = math.Pow(10, 24*rng.Float64()-12)
	}
	p.Nu, p.Epsilon = rng.Float64(), []float64{0, 0.01, 0.1, 1}[rng.IntN(4)]
	switch rng.IntN(6) {
	case 0:
		p.Bias, p.Offset = fixed, []float64{0, 0.25, -2}[rng.IntN(3)]
	case 1:
		p.Bias, p.Tau2 = augmented, []float64{1, 0.01, kernels.Radius}[rng.IntN(3)]
	}
	if p.Form == crammerSinger && p.Bias == fixed {
		p.Offset = 0
	}
	if p.Form.nu() {
		p.Bias = free
	}
	if rng.IntN(6) == 0 && !p.Form.nu() && p.Form != hardMargin {
		for range n {
			p.Weights = append(p.Weights, math.Pow(10, 4*rng.Float64()-2))
		}
	}
	return p
}

func someKernel(rng *rand.Rand, scale float64, d int, x [][]float64) string {
	unit := func() float64 { return scale * math.Pow(10, 2*rng.Float64()-1) }
	one := func() kernels.Kernel {
		switch rng.IntN(16) {
		case 0, 1, 2:
			return kernels.Linear()
		case 3:
			return kernels.Polynomial(1+rng.IntN(4), 1/(unit()*unit()), []float64{0, 1}[rng.IntN(2)])
		case 4:
			return kernels.Laplacian(1 / unit())
		case 5:
			return kernels.Exponential(unit())
		case 6:
			return kernels.Matern32(unit())
		case 7:
			return kernels.Matern52(unit())
		case 8:
			return kernels.RationalQuadratic(unit(), math.Pow(10, 2*rng.Float64()-1))
		case 9:
			return kernels.Periodic(unit(), math.Pow(10, 2*rng.Float64()-1))
		default:
			u := unit()
			return kernels.RBF(1 / u / u)
		}
	}
	k := one()
	switch rng.IntN(16) {
	case 0:
		return ""
	case 1:
		k = kernels.Sum(k, one())
	case 2:
		k = kernels.Product(k, one())
	case 3:
		k = kernels.Scale(math.Pow(10, 4*rng.Float64()-2), k)
	case 4:
		k = kernels.Normalised(k)
	case 5:
		if !slices.ContainsFunc(x, func(row []float64) bool { return slices.ContainsFunc(row, func(v float64) bool { return v < 0 }) }) {
			k = kernels.Intersection()
		}
	}
	return k.String()
}

// tau is the level of a quantile, and delta the δ of Huber's loss.
func (p *problem) tau() float64   { return max(p.Nu, 1e-6) }
func (p *problem) delta() float64 { return max(p.Epsilon, 1e-3) }

func (p *problem) data() *datasets.Dataset {
	if !p.Sparse {
		return datasets.New(p.X, p.Y)
	}
	c := datasets.CSR{Start: []int{0}, D: len(p.X[0])}
	for _, row := range p.X {
		for j, v := range row {
			if v != 0 {
				c.Index, c.Value = append(c.Index, int32(j)), append(c.Value, v)
			}
		}
		c.Start = append(c.Start, len(c.Index))
	}
	return datasets.NewSparse(c, p.Y)
}

func (p *problem) kernel() kernels.Kernel {
	if p.Kernel == "" {
		return nil
	}
	k, err := kernels.Parse(p.Kernel)
	if err != nil {
		panic(fmt.Sprintf("the kernel %s is not read: %v", p.Kernel, err)) // the text is our own, so this is a fault of the harness
	}
	return k
}

// method is one way to solve a problem. A nil Method means the default.
type method struct {
	solvers.Method
	text string // the method as Go code
}

var (
	standard = method{nil, ""}
	several  = []method{ // for a free bias
		{solvers.SMO{}, "solvers.SMO{}"},
		{solvers.SMO{Selection: solvers.WorstPair}, "solvers.SMO{Selection: solvers.WorstPair}"},
		{solvers.SMO{Selection: solvers.Platt}, "solvers.SMO{Selection: solvers.Platt}"},
		{solvers.SMO{Selection: solvers.Simplified}, "solvers.SMO{Selection: solvers.Simplified}"},
		{solvers.SMO{Selection: solvers.Keerthi1}, "solvers.SMO{Selection: solvers.Keerthi1}"},
		{solvers.SMO{Selection: solvers.Keerthi2}, "solvers.SMO{Selection: solvers.Keerthi2}"},
		{solvers.SMO{Shrinking: true}, "solvers.SMO{Shrinking: true}"},
		{solvers.ConjugateSMO{}, "solvers.ConjugateSMO{}"},
		{solvers.TubeSMO{}, "solvers.TubeSMO{}"},
		{solvers.TubeSMO{Step: solvers.Quadrants}, "solvers.TubeSMO{Step: solvers.Quadrants}"},
		{solvers.Decomposition{}, "solvers.Decomposition{}"},
		{blocks.Decomposition{}, "blocks.Decomposition{}"},
		{solvers.Chunking{}, "solvers.Chunking{}"},
		{solvers.PrimalDual{}, "solvers.PrimalDual{}"},
		{solvers.PrimalDual{Corrector: true}, "solvers.PrimalDual{Corrector: true}"},
		{solvers.Barrier{}, "solvers.Barrier{}"},
		{solvers.Newton{}, "solvers.Newton{}"},
		{solvers.GradientAscent{}, "solvers.GradientAscent{}"},
		{solvers.GradientAscent{Order: solvers.Violators}, "solvers.GradientAscent{Order: solvers.Violators}"},
		{solvers.CoordinateDescent{}, "solvers.CoordinateDescent{}"},
		{solvers.CoordinateDescent{Cyclic: true}, "solvers.CoordinateDescent{Cyclic: true}"},
	}
)

// limit is the largest number of iterations of methods other than the default. It is enough
// for most problems of tens of points, but not for every method.
const limit = 5_000

// word is a setter of svmnb's descriptions with its arguments.
type word struct {
	name string
	args []any
}

// words returns the setters that describe the problem and the method to svmnb.
func (p *problem) words(m method) (list []word) {
	say := func(name string, args ...any) { list = append(list, word{name, args}) }
	if k := p.kernel(); k != nil {
		say("Kernel", k)
	}
	switch p.Form {
	case hardMargin:
		say("HardMargin")
	case ridge:
		say("Ridge", p.C)
	case nuSVC, oneClass:
		say("Nu", p.Nu)
	default:
		say("C", p.C)
	}
	switch p.Form {
	case twoNorm:
		say("TwoNorm")
	case epsilonSVR, quadraticSVR:
		say("Epsilon", p.Epsilon)
	case nuSVR:
		say("Nu", p.Nu)
	case quantile:
		say("Quantile", p.tau())
	case huber:
		say("Huber", p.delta())
	}
	if p.Form == quadraticSVR {
		say("QuadraticLoss")
	}
	switch p.Bias {
	case fixed:
		say("FixedBias", p.Offset)
	case augmented:
		say("Augment", p.Tau2)
	}
	if p.Weights != nil {
		say("SampleWeights", p.Weights)
	}
	if m.Method != nil {
		say("Using", m)
		say("MaxIterations", limit)
	}
	say("Tol", p.Tol)
	say("Sample", -1)
	switch p.Form {
	case oneVsOne:
		say("OneVsOne")
	case oneVsRest:
		say("OneVsRest")
	case crammerSinger:
		say("CrammerSinger")
	}
	return list
}

// description returns the description that these setters make.
func (p *problem) description(m method) any {
	var d any = svmnb.Classify(p.data())
	switch {
	case p.Form == oneClass:
		d = svmnb.OneClass(p.data())
	case p.Form.regression():
		d = svmnb.Regress(p.data())
	}
	for _, w := range p.words(m) {
		var args []reflect.Value
		for _, a := range w.args {
			if m, ok := a.(method); ok {
				a = m.Method
			}
			args = append(args, reflect.ValueOf(a))
		}
		d = reflect.ValueOf(d).MethodByName(w.name).Call(args)[0].Interface()
	}
	return d
}

// String returns the setter call as Go code.
func (w word) String() string {
	var args []string
	for _, a := range w.args {
		switch a := a.(type) {
		case method:
			args = append(args, a.text)
		case kernels.Kernel:
			args = append(args, regexp.MustCompile(`[A-Z][A-Za-z0-9]*\(`).ReplaceAllString(a.String(), "kernels.$0"))
		default:
			args = append(args, fmt.Sprintf("%#v", a))
		}
	}
	return "." + w.name + "(" + strings.Join(args, ", ") + ")"
}

// program returns the fit as a Go test.
func (p *problem) program(m method, complaint string) string {
	var s strings.Builder
	for line := range strings.SplitSeq(complaint, "\n") {
		fmt.Fprintf(&s, "// %s\n", line)
	}
	fmt.Fprintf(&s, "func TestFound(t *testing.T) {\n\tdata := datasets.New(%#v, %#v)\n", p.X, p.Y)
	if p.Sparse {
		s.WriteString("\tdata = sparse(data) // the same points by NewSparse\n")
	}
	verb := "Classify"
	switch {
	case p.Form == oneClass:
		verb = "OneClass"
	case p.Form.regression():
		verb = "Regress"
	}
	fmt.Fprintf(&s, "\tfit, err := svmnb.%s(data)", verb)
	for _, w := range p.words(m) {
		s.WriteString(w.String())
	}
	s.WriteString(".Fit(context.Background())\n\tif err != nil {\n\t\tt.Fatal(err)\n\t}\n\taudit, err := fit.Audit(context.Background())\n\tt.Logf(\"%+v\\n%+v %v\", fit.Certificate, audit, err)\n}\n")
	return s.String()
}
