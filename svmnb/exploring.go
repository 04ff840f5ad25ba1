package svmnb

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/solvers/blocks"
	"github.com/svmnb/svmnb/solvers/fastest"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/learn"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/schemes"
)

// exploreCubic is the largest number of points for which Explore offers methods of n³
// operations.
const exploreCubic = 500

func (c classifying) Stated() (learn.Explorable, error) {
	c.live = false
	if _, err := c.prepare(); err != nil {
		return nil, err
	}
	c.state()
	return c, nil
}

// state sets the default kernel if the description has none, with a rounded parameter.
func (m *machine) state() {
	if m.kernel == nil {
		m.kernel = kernels.RBF(learn.Digits(kernels.GammaScale(m.data.X), 3))
	}
}

func (c classifying) Usual() kernels.Kernel { return c.kernel }
func (r regressing) Usual() kernels.Kernel  { return r.kernel }

func (c classifying) Family() []kernels.Kernel { return c.family() }
func (r regressing) Family() []kernels.Kernel  { return r.family() }

// family returns the kernels that Explore offers, with parameters that suit the distances
// between the points.
func (m machine) family() []kernels.Kernel {
	gamma := learn.Digits(kernels.GammaScale(m.data.X), 3)
	length := learn.Digits(1/math.Sqrt(2*gamma), 3)
	return []kernels.Kernel{kernels.Linear(), kernels.RBF(gamma), kernels.Polynomial(3, gamma, 1), kernels.Laplacian(learn.Digits(math.Sqrt(gamma), 3)),
		kernels.Matern52(length), kernels.RationalQuadratic(length, 1)}
}

// others returns the methods that Explore offers besides the machine's own. two says that
// the problem has an equality for each class, as ν-SVC has.
func (m machine) others(two bool) []solvers.Method {
	list := []solvers.Method{fastest.Method{}, solvers.SMO{}, blocks.Decomposition{}}
	switch {
	case m.biasFixed():
		list = []solvers.Method{solvers.GradientAscent{}}
	case two:
		return list
	default:
		list = append(list, solvers.ConjugateSMO{}, solvers.Chunking{})
	}
	if m.data.N() <= exploreCubic {
		list = append(list, solvers.PrimalDual{})
	}
	return list
}

// figured fills in what the engine of living figures needs of every machine, and returns what
// it has not.
func (m *machine) figured(f *learn.Figure) (why string) {
	switch stop := m.stop.(type) {
	case nil:
	case solvers.UpLow:
		f.Tol = stop.Tol
	case solvers.KKT:
		f.Stop, f.Tol = "kkt", stop.Tol
	case solvers.Gap:
		f.Stop, f.Tol = "gap", stop.Rel
	default:
		return fmt.Sprintf("it runs until %v, and their solvers stop by Tol, solvers.KKT or solvers.Gap", m.stop)
	}
	switch {
	case m.behind != nil:
		return "the machine stands behind the steps of a pipeline, which they do not have"
	case m.limit != 0:
		return "MaxIterations ends its run, and theirs end by a criterion"
	}
	if m.method != solvers.Method(fastest.Method{}) {
		f.Method = m.method
	}
	f.Fixed, f.Bias, f.Tau2 = m.fixed, m.b0, m.tau2
	if needs := m.needs(); needs.FixedBias && !m.fixed && m.tau2 == 0 {
		if f.Tau2 = kernels.Radius; needs.Linear {
			f.Tau2 = 1
		}
	}
	return ""
}

func (c classifying) Figured() (f learn.Figure, why string) {
	f.C, f.Balanced = c.c, c.balanced
	switch c.margin {
	case oneNorm:
		f.Task = "classify"
	case twoNorm:
		f.Task = "twonorm"
	case hard:
		f.Task, f.C = "hard", 1
	case nuSoft:
		f.Task, f.C = "nu", c.nu
	case oneClass:
		f.Task, f.C = "oneclass", c.nu
	}
	if c.weights != nil {
		f.Weights, f.ClassWeights = c.weights.sample, map[string]float64{}
		for _, w := range c.weights.class {
			f.ClassWeights[w.class] = w.weight
		}
		if slices.Contains(f.Weights, 0) {
			return f, "some points have the weight 0; leave them out of the data"
		}
	}
	why = c.figured(&f)
	return f, why
}

func (m multiClassifying) Figured() (f learn.Figure, why string) {
	if f, why = (classifying{m.base}).Figured(); why != "" {
		return f, why
	}
	f.Scheme = map[schemes.Scheme]string{schemes.OneVsOne: "pairs", schemes.OneVsRest: "rest", schemes.CrammerSinger: "joint"}[m.scheme]
	return f, ""
}

func (r regressing) Figured() (f learn.Figure, why string) {
	f.C, f.Epsilon = r.c, r.epsilon
	switch r.loss {
	case linearLoss:
		f.Task = "regress"
	case quadraticLoss:
		f.Task = "squared"
	case nuLoss:
		f.Task, f.Epsilon = "nuregress", r.nu
	case ridge:
		f.Task, f.C, f.Epsilon = "squared", 1/r.lambda, 0
	}
	if r.sample != nil {
		if f.Weights = *r.sample; slices.Contains(f.Weights, 0) {
			return f, "some points have the weight 0; leave them out of the data"
		}
	}
	if r.method == nil {
		r.method = r.smo()
	}
	why = r.figured(&f)
	return f, why
}

func (c classifying) WithKernel(k kernels.Kernel) learn.Explorable { return classifying{c.Kernel(k)} }

func (c classifying) Dials() []learn.Dial {
	switch c.margin {
	case nuSoft, oneClass, enclosing:
		return []learn.Dial{learn.EvenDial("nu", c.nu, 0.02, 0.98, 0.02)}
	case hard:
		return nil
	}
	return []learn.Dial{learn.LogDial("C", c.c)}
}

func (c classifying) Ways() []learn.Way {
	ways := []learn.Way{{Name: c.method.Name(), Take: func(l learn.Explorable) learn.Explorable { return l }}}
	for _, m := range c.others(c.margin == nuSoft) {
		if m != c.method {
			ways = append(ways, learn.Way{Name: m.Name(), Take: func(l learn.Explorable) learn.Explorable { return classifying{l.(classifying).Using(m)} }})
		}
	}
	return ways
}

func (f classified) Look() (*display.Chart, error) { return Margins.Of(f.fit) }
func (f classified) Fared() string                 { return ran(&f.fit.Result) }

// ran says in words how the solver's run went.
func ran(r *solvers.Result) string {
	how := ""
	if r.Status.Early() {
		how = ", " + r.Status.String()
	}
	return fmt.Sprintf("%s: %s, %s kernel values, %s%s", r.Method, say.Several(r.Iterations, "iteration"), say.Thousands(r.Evaluations), say.Spell(r.Elapsed), how)
}

func (f classified) Panel(_ context.Context, d *figure.MultiplesData) (figure.Panel, bool, error) {
	t := f.fit.task
	if !t.plane() {
		return figure.Panel{}, false, nil
	}
	d.Features, d.Classes = [2]string{t.data.FeatureName(0), t.data.FeatureName(1)}, [2]string{say.Class(t.negative), say.Class(t.positive)}
	d.X, d.Y, d.Xs, d.Ys, d.Measure = t.data.X, t.y, figure.Around(t.data.X, 0), figure.Around(t.data.X, 1), "training errors"
	wrong := f.fit.TrainingErrors()
	return figure.Panel{
		Note: fmt.Sprintf("%s, %s", say.Several(wrong, "error"), say.Several(len(f.fit.expansion.Coef), "vector")), Value: float64(wrong), Z: fieldOver(&f.fit.expansion, grid(d.Xs, d.Ys, learn.PanelNodes)),
	}, true, nil
}

func (m multiClassifying) Stated() (learn.Explorable, error) {
	m.base.live = false
	if _, err := m.prepare(); err != nil {
		return nil, err
	}
	m.base.state()
	return m, nil
}

func (m multiClassifying) Usual() kernels.Kernel    { return m.base.kernel }
func (m multiClassifying) Family() []kernels.Kernel { return m.base.family() }
func (m multiClassifying) Dials() []learn.Dial      { return classifying{m.base}.Dials() }

func (m multiClassifying) WithKernel(k kernels.Kernel) learn.Explorable {
	m.base = m.base.Kernel(k)
	return m
}

func (m multiClassifying) Ways() []learn.Way {
	ways := classifying{m.base}.Ways()
	if m.scheme == schemes.CrammerSinger { // the dual of Crammer and Singer has one method only
		return ways[:1]
	}
	for i, w := range ways {
		ways[i].Take = func(l learn.Explorable) learn.Explorable {
			m := l.(multiClassifying)
			m.base = w.Take(classifying{m.base}).(classifying).Classifier
			return m
		}
	}
	return ways
}

func (f multiClassified) Look() (*display.Chart, error) {
	if data := f.fit.task.base.data; data.D() != 2 || data.Sparse != nil || len(f.fit.task.classes) > mostRegions {
		return Confusion.Of(f.fit)
	}
	return Regions.Of(f.fit)
}

func (f multiClassified) Fared() string {
	if f.fit.joint != nil {
		return ran(f.fit.joint)
	}
	return fmt.Sprintf("%s in %s", say.Several(len(f.fit.task.duels), "machine"), say.Spell(f.fit.Elapsed))
}

func (f multiClassified) Panel(context.Context, *figure.MultiplesData) (figure.Panel, bool, error) {
	return figure.Panel{}, false, nil
}

func (r regressing) Stated() (learn.Explorable, error) {
	r.live = false
	if _, err := r.prepare(); err != nil {
		return nil, err
	}
	r.state()
	return r, nil
}

func (r regressing) WithKernel(k kernels.Kernel) learn.Explorable { return regressing{r.Kernel(k)} }

func (r regressing) Dials() []learn.Dial {
	c := learn.LogDial("C", r.c)
	switch r.loss {
	case ridge:
		return []learn.Dial{learn.LogDial("lambda", r.lambda)}
	case nuLoss:
		return []learn.Dial{c, learn.EvenDial("nu", r.nu, 0.02, 1, 0.02)}
	case pinballLoss:
		return []learn.Dial{c, learn.EvenDial("quantile", r.tau, 0.02, 0.98, 0.02)}
	case huberLoss:
		return []learn.Dial{c, learn.LogDial("delta", r.delta)}
	}
	most := max(math.Sqrt(variation(r.data.Y)/float64(r.data.N())), r.epsilon)
	if most == 0 {
		most = 1
	}
	return []learn.Dial{c, learn.EvenDial("epsilon", r.epsilon, 0, most, learn.Digits(most/50, 2))}
}

func (r regressing) Ways() []learn.Way {
	own := r.method
	if own == nil {
		own = r.smo()
	}
	ways := []learn.Way{{Name: own.Name(), Take: func(l learn.Explorable) learn.Explorable { return l }}}
	for _, m := range r.others(r.loss == nuLoss) {
		if m == solvers.Method(solvers.SMO{}) {
			m = r.smo()
		}
		if m != own {
			ways = append(ways, learn.Way{Name: m.Name(), Take: func(l learn.Explorable) learn.Explorable { return regressing{l.(regressing).Using(m)} }})
		}
	}
	return ways
}

func (f regressed) Look() (*display.Chart, error) { return Tube.Of(f.fit) }
func (f regressed) Fared() string                 { return ran(&f.fit.Result) }

func (f regressed) Panel(_ context.Context, d *figure.MultiplesData) (figure.Panel, bool, error) {
	t := f.fit.task
	if t.data.D() != 1 || t.data.Sparse != nil {
		return figure.Panel{}, false, nil
	}
	rows := learn.Places(d, t.data.X)
	d.Features, d.Y, d.Measure = [2]string{t.data.FeatureName(0), t.data.Target}, t.data.Y, "RMSE"
	p := figure.Panel{F: f.fit.expansion.Values(points.Rows(rows)), Lower: make([]float64, learn.PanelPlaces), Upper: make([]float64, learn.PanelPlaces)}
	for i, v := range p.F {
		p.Lower[i], p.Upper[i] = v-f.fit.Epsilon, v+f.fit.Epsilon
	}
	square := 0.0
	for _, r := range f.fit.Residuals() {
		square += r * r / float64(len(d.Y))
	}
	p.Value = math.Sqrt(square)
	p.Note = fmt.Sprintf("RMSE %.3g, %s", p.Value, say.Several(len(f.fit.expansion.Coef), "vector"))
	return p, true, nil
}
