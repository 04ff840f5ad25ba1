package svmnb

import (
	"context"
	"fmt"
	"math"

	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/solvers/blocks"
	"github.com/svmnb/svmnb/solvers/fastest"
	"github.com/svmnb/svmnb/solvers/linear"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// exploreCubic is how many points methods of n³ operations are offered for.
const exploreCubic = 500

func (c Classifier) stated() (explorable, error) {
	c.live = false
	if _, err := c.prepare(); err != nil {
		return nil, err
	}
	c.state()
	return c, nil
}

// state says the kernel where nothing was said.
func (m *machine) state() {
	if m.kernel == nil {
		m.kernel = kernels.RBF(digits(kernels.GammaScale(m.data.X), 3))
	}
}

func (m machine) usual() kernels.Kernel { return m.kernel }

// family are kernels of about the width that suits the data.
func (m machine) family() []kernels.Kernel {
	gamma := digits(kernels.GammaScale(m.data.X), 3)
	length := digits(1/math.Sqrt(2*gamma), 3)
	return []kernels.Kernel{kernels.Linear(), kernels.RBF(gamma), kernels.Polynomial(3, gamma, 1), kernels.Laplacian(digits(math.Sqrt(gamma), 3)),
		kernels.Matern52(length), kernels.RationalQuadratic(length, 1)}
}

// others are the methods that a machine may be offered beside its own; two says that
// its α have a sum in each class.
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

func (c Classifier) using(k kernels.Kernel) explorable { return c.Kernel(k) }

func (c Classifier) dials() []dial {
	switch c.margin {
	case nuSoft, oneClass:
		return []dial{evenDial("nu", c.nu, 0.02, 0.98, 0.02)}
	case hard:
		return nil
	}
	return []dial{logDial("C", c.c)}
}

func (c Classifier) ways() []way {
	ways := []way{{c.method.Name(), func(l explorable) explorable { return l }}}
	for _, m := range c.others(c.margin == nuSoft) {
		if m != c.method {
			ways = append(ways, way{m.Name(), func(l explorable) explorable { return l.(Classifier).Using(m) }})
		}
	}
	return ways
}

func (f *Fit) look() (*Chart, error) { return Margins.Of(f) }
func (f *Fit) fared() string         { return ran(&f.Result) }

// ran says how a solver fared.
func ran(r *solvers.Result) string {
	how := ""
	if r.Status.Early() {
		how = ", " + r.Status.String()
	}
	return fmt.Sprintf("%s: %s, %s kernel values, %s%s", r.Method, say.Several(r.Iterations, "iteration"), say.Thousands(r.Evaluations), say.Spell(r.Elapsed), how)
}

// panelNodes is how fine the field of a small panel is, panelPlaces its curve.
const (
	panelNodes  = 1200
	panelPlaces = 120
)

func (f *Fit) panel(_ context.Context, d *figure.MultiplesData) (figure.Panel, bool, error) {
	t := f.task
	if !t.plane() {
		return figure.Panel{}, false, nil
	}
	d.Features, d.Classes = [2]string{t.data.FeatureName(0), t.data.FeatureName(1)}, [2]string{say.Class(t.negative), say.Class(t.positive)}
	d.X, d.Y, d.Xs, d.Ys, d.Measure = t.data.X, t.y, around(t.data.X, 0), around(t.data.X, 1), "training errors"
	wrong := f.TrainingErrors()
	return figure.Panel{
		Note: fmt.Sprintf("%s, %s", say.Several(wrong, "error"), say.Several(len(f.coef), "vector")), Value: float64(wrong), Z: f.field(d.Xs, d.Ys, panelNodes),
	}, true, nil
}

func (m MultiClassifier) stated() (explorable, error) {
	m.base.live = false
	if _, err := m.prepare(); err != nil {
		return nil, err
	}
	m.base.state()
	return m, nil
}

func (m MultiClassifier) usual() kernels.Kernel    { return m.base.kernel }
func (m MultiClassifier) family() []kernels.Kernel { return m.base.family() }
func (m MultiClassifier) dials() []dial            { return m.base.dials() }

func (m MultiClassifier) using(k kernels.Kernel) explorable {
	m.base = m.base.Kernel(k)
	return m
}

func (m MultiClassifier) ways() []way {
	ways := m.base.ways()
	if m.scheme == crammerSinger { // whose dual has methods of its own
		return ways[:1]
	}
	for i, w := range ways {
		ways[i].take = func(l explorable) explorable {
			m := l.(MultiClassifier)
			m.base = w.take(m.base).(Classifier)
			return m
		}
	}
	return ways
}

func (f *MultiFit) look() (*Chart, error) {
	if data := f.task.base.data; data.D() != 2 || data.Sparse != nil || len(f.task.classes) > mostRegions {
		return Confusion.Of(f)
	}
	return Regions.Of(f)
}

func (f *MultiFit) fared() string {
	if f.joint != nil {
		return ran(f.joint)
	}
	return fmt.Sprintf("%s in %s", say.Several(len(f.task.duels), "machine"), say.Spell(f.Elapsed))
}

func (f *MultiFit) panel(context.Context, *figure.MultiplesData) (figure.Panel, bool, error) {
	return figure.Panel{}, false, nil
}

func (r Regressor) stated() (explorable, error) {
	r.live = false
	if _, err := r.prepare(); err != nil {
		return nil, err
	}
	r.state()
	return r, nil
}

func (r Regressor) using(k kernels.Kernel) explorable { return r.Kernel(k) }

func (r Regressor) dials() []dial {
	c := logDial("C", r.c)
	switch r.loss {
	case ridge:
		return []dial{logDial("lambda", r.lambda)}
	case nuLoss:
		return []dial{c, evenDial("nu", r.nu, 0.02, 1, 0.02)}
	}
	most := max(math.Sqrt(variation(r.data.Y)/float64(r.data.N())), r.epsilon)
	if most == 0 {
		most = 1
	}
	return []dial{c, evenDial("epsilon", r.epsilon, 0, most, digits(most/50, 2))}
}

func (r Regressor) ways() []way {
	own := r.method
	if own == nil {
		own = r.smo()
	}
	ways := []way{{own.Name(), func(l explorable) explorable { return l }}}
	for _, m := range r.others(r.loss == nuLoss) {
		if m == solvers.Method(solvers.SMO{}) {
			m = r.smo()
		}
		if m != own {
			ways = append(ways, way{m.Name(), func(l explorable) explorable { return l.(Regressor).Using(m) }})
		}
	}
	return ways
}

func (f *RegressionFit) look() (*Chart, error) { return Tube.Of(f) }
func (f *RegressionFit) fared() string         { return ran(&f.Result) }

func (f *RegressionFit) panel(_ context.Context, d *figure.MultiplesData) (figure.Panel, bool, error) {
	t := f.task
	if t.data.D() != 1 || t.data.Sparse != nil {
		return figure.Panel{}, false, nil
	}
	rows := places(d, t.data.X)
	d.Features, d.Y, d.Measure = [2]string{t.data.FeatureName(0), t.data.Target}, t.data.Y, "RMSE"
	p := figure.Panel{F: f.values(written(rows)), Lower: make([]float64, panelPlaces), Upper: make([]float64, panelPlaces)}
	for i, v := range p.F {
		p.Lower[i], p.Upper[i] = v-f.Epsilon, v+f.Epsilon
	}
	square := 0.0
	for _, r := range f.Residuals() {
		square += r * r / float64(len(d.Y))
	}
	p.Value = math.Sqrt(square)
	p.Note = fmt.Sprintf("RMSE %.3g, %s", p.Value, say.Several(len(f.coef), "vector"))
	return p, true, nil
}

// places puts those of curves over the only feature into d, and returns them as rows.
func places(d *figure.MultiplesData, x [][]float64) (rows [][]float64) {
	at := around(x, 0)
	d.X, d.Places = x, nil
	for k := range panelPlaces {
		v := at[0] + (at[1]-at[0])*float64(k)/(panelPlaces-1)
		d.Places, rows = append(d.Places, v), append(rows, []float64{v})
	}
	return rows
}

func (p Process) stated() (explorable, error) {
	p.live, p.learn, p.restarts = false, false, 0
	t, err := p.prepare()
	if err != nil {
		return nil, err
	}
	if d := p.data.D(); d != 1 {
		return nil, arguments.Wrong("Explore", float64(d), "the data have %d features; a Gaussian process is explored over one, so choose it by Columns(j) of the data set", d)
	}
	if p.kernel == nil {
		k := t.kernel.(kernels.ScaleKernel)
		p.kernel = kernels.Scale(digits(k.C, 3), kernels.RBF(digits(k.K.(kernels.GaussianKernel).Gamma, 3)))
	}
	if !p.noisy {
		p = p.NoiseVariance(digits(t.noise, 3))
	}
	return p, nil
}

func (p Process) usual() kernels.Kernel             { return p.kernel }
func (p Process) using(k kernels.Kernel) explorable { return p.Kernel(k) }

func (p Process) family() []kernels.Kernel {
	gamma := digits(2*kernels.GammaMedian(p.data.X), 3)
	length := digits(1/math.Sqrt(2*gamma), 3)
	return []kernels.Kernel{kernels.RBF(gamma), kernels.Matern32(length), kernels.Matern52(length), kernels.Exponential(length), kernels.RationalQuadratic(length, 1), kernels.Linear()}
}

func (p Process) dials() []dial {
	if p.noises != nil || p.noise == 0 {
		return nil
	}
	return []dial{logDial("NoiseVariance", p.noise)}
}

func (p Process) ways() []way {
	ways := []way{{p.method.Name(), func(l explorable) explorable { return l }}}
	for _, m := range []linear.Method{linear.Cholesky{}, linear.CG{}, linear.CG{Rank: 10}} {
		if m != p.method && (direct(m) || p.mean != linearMean) {
			ways = append(ways, way{m.Name(), func(l explorable) explorable { return l.(Process).Using(m) }})
		}
	}
	return ways
}

func (f *ProcessFit) look() (*Chart, error) { return Posterior.Of(f) }

func (f *ProcessFit) fared() string {
	return fmt.Sprintf("%s: %s, %s", f.Method, say.Several(f.Iterations, "iteration"), say.Spell(f.Elapsed))
}

func (f *ProcessFit) panel(ctx context.Context, d *figure.MultiplesData) (figure.Panel, bool, error) {
	t := f.task
	rows := places(d, t.data.X)
	d.Features, d.Y, d.Measure = [2]string{t.data.FeatureName(0), t.data.Target}, t.data.Y, "log marginal likelihood"
	b, err := f.posterior(ctx, rows)
	if err != nil {
		return figure.Panel{}, false, err
	}
	p := figure.Panel{F: b.Mean, Value: f.cheapEvidence().Value}
	for i, sd := range deviations(b.Variance, 0) {
		p.Lower, p.Upper = append(p.Lower, b.Mean[i]-2*sd), append(p.Upper, b.Mean[i]+2*sd)
	}
	p.Note = fmt.Sprintf("log likelihood %.4g", p.Value)
	return p, true, nil
}
