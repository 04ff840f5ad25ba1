package svmnb

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
)

// warmth is what fits of the same points and kernel for growing C hand on to the
// next: their matrices and α. Where most multipliers are at their bound, the next fit
// starts from α in the same proportion to C, else from α itself; both are feasible
// (alpha seeding, DeCoste and Wagstaff 2000). That takes
// a quarter to nine tenths of the iterations of starts from 0.
type warmth struct {
	bytes int64 // that all matrices may take
	runs  []warmRun
	piped *PipeFit
}

type warmRun struct {
	k            solvers.Matrix
	alpha, upper []float64
}

// start returns a feasible α for p, nil where there is none to be had.
func (r *warmRun) start(p *solvers.Problem) []float64 {
	if len(r.alpha) != len(p.Upper) {
		return nil
	}
	bound, free := 0, 0
	for j, a := range r.alpha {
		if a > 0 && a >= r.upper[j] {
			bound++
		} else if a > 0 {
			free++
		}
	}
	start := slices.Clone(r.alpha)
	for j := range start {
		if bound > free {
			start[j] *= p.Upper[j] / r.upper[j]
		}
		if !(start[j] <= p.Upper[j]) {
			return nil // C has fallen
		}
	}
	return start
}

// solve is that of m for run number i. Nobody will look at its trace.
func (w *warmth) solve(ctx context.Context, m *machine, p *solvers.Problem, i int) (*solvers.Result, error) {
	for len(w.runs) <= i {
		w.runs = append(w.runs, warmRun{})
	}
	run := &w.runs[i]
	s := solvers.Settings{Stop: m.stop, MaxIterations: m.limit}
	switch m.stop.(type) {
	case solvers.UpLow, solvers.KKT: // others are asked where the trace has a point
		s.Every = -1
	}
	if run.k == nil {
		run.k = p.K
	}
	p.K, s.Start = run.k, run.start(p)
	res, err := solvers.Solve(ctx, p, m.method, s)
	if res == nil || res.Status == solvers.Unbounded {
		w.runs[i] = warmRun{} // whose matrix a kernel that panics may have left half done
		return nil, fmt.Errorf("svmnb: %w", err)
	}
	run.alpha, run.upper = res.Alpha, p.Upper
	return res, err
}

func (c Classifier) source() *datasets.Dataset { return c.data }
func (c Classifier) fault() error              { return c.err() }
func (c Classifier) metric() Metric            { return Accuracy }
func (c Classifier) detail() any               { return c.weights.all() }

func (w *weights) all() any {
	if w == nil {
		return nil
	}
	return *w
}

func (c Classifier) with(data *datasets.Dataset, rows []int) Learner { return c.given(data, rows) }

func (c Classifier) given(data *datasets.Dataset, rows []int) Classifier {
	c.data = data
	if c.weights != nil && c.weights.sample != nil {
		c.weights = &weights{c.weights.class, chosen(c.weights.sample, rows)}
	}
	return c
}

func chosen(v []float64, rows []int) []float64 {
	out := make([]float64, len(rows))
	for j, i := range rows {
		out[j] = v[i]
	}
	return out
}

func (c Classifier) after(p *passage) Learner { c.behind = p; return c }

func (c Classifier) parameters() string {
	return "C, nu, tau2, tol, ClassWeight.<class> and those of the kernel: " + kernelParameters(c.kernel)
}

func (c Classifier) set(name string, v float64) (Learner, bool) {
	if class, ok := strings.CutPrefix(name, "ClassWeight."); ok {
		return c.ClassWeight(class, v), true
	}
	switch strings.ToLower(name) {
	case "c":
		if c.margin != oneNorm && c.margin != twoNorm {
			c.said("C", arguments.Wrong("C", v, "a machine of ν or of the hard margin has no C; search nu, or leave it out"))
			return c, true
		}
		return c.C(v), true
	case "nu":
		return c.Nu(v), true
	}
	known := c.machine.set(name, v)
	return c, known
}

// set changes what all machines have.
func (m *machine) set(name string, v float64) bool {
	switch strings.ToLower(name) {
	case "tau2":
		m.augment(v)
	case "tol":
		m.setTol(v)
	default:
		k, known := tune(m.kernel, name, v)
		if known {
			m.setKernel(k)
		}
		return known
	}
	return true
}

func (c Classifier) trained(ctx context.Context, w *warmth) (learned, error) {
	var fit *Fit
	var err error
	if w == nil {
		fit, err = c.Fit(ctx)
	} else {
		if c.cache == 0 {
			c.cache = w.bytes
		}
		fit, err = c.warmFit(ctx, w, 0, nil)
	}
	if fit == nil {
		return nil, err // not a nil *Fit in an interface
	}
	return fit, err
}

// warmFit is Fit as the run number i of w; shared is a matrix where there is one.
func (c Classifier) warmFit(ctx context.Context, w *warmth, i int, shared *sharedGram) (*Fit, error) {
	t, err := c.prepare()
	if err != nil {
		return nil, err
	}
	if shared != nil {
		t.problem.K = &askedFor{sharedGram: shared}
	}
	if t.margin == nuSoft || t.margin == oneClass {
		return t.solve(ctx) // whose feasible α are others for every ν
	}
	res, err := w.solve(ctx, &t.machine, t.problem, i)
	if res == nil {
		return nil, err
	}
	t.k = t.problem.K
	return t.fit(res), err
}

func (f *Fit) heldOut(_ context.Context, data *datasets.Dataset) (*HeldOut, error) {
	e, err := f.evaluate(data)
	return &HeldOut{Classes: e}, err
}

func (m MultiClassifier) source() *datasets.Dataset { return m.base.data }
func (m MultiClassifier) fault() error              { return m.base.err() }
func (m MultiClassifier) metric() Metric            { return Accuracy }
func (m MultiClassifier) detail() any               { return m.base.detail() }
func (m MultiClassifier) parameters() string        { return m.base.parameters() }

func (m MultiClassifier) with(data *datasets.Dataset, rows []int) Learner {
	m.base = m.base.given(data, rows)
	return m
}

func (m MultiClassifier) after(p *passage) Learner { m.base.behind = p; return m }

func (m MultiClassifier) set(name string, v float64) (Learner, bool) {
	base, known := m.base.set(name, v)
	m.base = base.(Classifier)
	return m, known
}

func (m MultiClassifier) trained(ctx context.Context, w *warmth) (learned, error) {
	var fit *MultiFit
	var err error
	if w == nil || m.scheme == crammerSinger {
		fit, err = m.Fit(ctx)
	} else {
		fit, err = m.warmFit(ctx, w)
	}
	if fit == nil {
		return nil, err
	}
	return fit, err
}

// warmFit learns one machine after the other: it is the searches that run side by
// side.
func (m MultiClassifier) warmFit(ctx context.Context, w *warmth) (*MultiFit, error) {
	began := time.Now()
	if m.base.cache == 0 {
		m.base.cache = w.bytes
	}
	t, err := m.prepare()
	if err != nil {
		return nil, err
	}
	fits, rows := make([]*Fit, len(t.duels)), make([][]int, len(t.duels))
	for k, duel := range t.duels {
		var c Classifier
		c, rows[k] = t.machine(duel)
		c.cache = max(1, t.memory()/int64(len(t.duels)))
		if fits[k], err = c.warmFit(ctx, w, k, t.shared); err != nil {
			return nil, fmt.Errorf("%s: %w", t.duelName(k), err)
		}
	}
	return t.fit(fits, rows, time.Since(began)), nil
}

func (f *MultiFit) heldOut(_ context.Context, data *datasets.Dataset) (*HeldOut, error) {
	e, err := f.evaluate("Evaluate", data)
	return &HeldOut{Classes: e}, err
}

func (r Regressor) source() *datasets.Dataset { return r.data }
func (r Regressor) fault() error              { return r.err() }
func (r Regressor) metric() Metric            { return RMSE }

func (r Regressor) detail() any {
	if r.sample == nil {
		return nil
	}
	return *r.sample
}

func (r Regressor) with(data *datasets.Dataset, rows []int) Learner {
	r.data = data
	if r.sample != nil {
		w := chosen(*r.sample, rows)
		r.sample = &w
	}
	return r
}

func (r Regressor) after(p *passage) Learner { r.behind = p; return r }

func (r Regressor) parameters() string {
	return "C, epsilon, nu, lambda, tau2, tol and those of the kernel: " + kernelParameters(r.kernel)
}

func (r Regressor) set(name string, v float64) (Learner, bool) {
	switch strings.ToLower(name) {
	case "c":
		if r.loss == ridge {
			r.said("C", arguments.Wrong("C", v, "ridge regression has no C; search lambda"))
			return r, true
		}
		return r.C(v), true
	case "epsilon":
		if r.loss == ridge || r.loss == nuLoss {
			r.said("Epsilon", arguments.Wrong("Epsilon", v, "ridge regression and ν-SVR have no ε to choose; search lambda or nu"))
			return r, true
		}
		return r.Epsilon(v), true
	case "nu":
		return r.Nu(v), true
	case "lambda":
		return r.Ridge(v), true
	}
	known := r.machine.set(name, v)
	return r, known
}

func (r Regressor) trained(ctx context.Context, w *warmth) (learned, error) {
	if w != nil && r.cache == 0 {
		r.cache = w.bytes
	}
	if w == nil || r.loss == nuLoss {
		fit, err := r.Fit(ctx)
		if fit == nil {
			return nil, err
		}
		return fit, err
	}
	t, err := r.prepare()
	if err != nil {
		return nil, err
	}
	res, err := w.solve(ctx, &t.machine, t.problem, 0)
	if res == nil {
		return nil, err
	}
	return t.fit(res), err
}

func (f *RegressionFit) heldOut(_ context.Context, data *datasets.Dataset) (*HeldOut, error) {
	if err := data.Check(); err != nil {
		return nil, err
	}
	y, err := f.here("Predict", "regression", pointsOf(data))
	return &HeldOut{Truth: data.Y, Predicted: y}, err
}

func (p Process) source() *datasets.Dataset { return p.data }
func (p Process) fault() error              { return p.err() }
func (p Process) metric() Metric            { return NLPD }

func (p Process) detail() any {
	if p.noises == nil {
		return nil
	}
	return *p.noises
}

func (p Process) with(data *datasets.Dataset, rows []int) Learner {
	p.data = data
	if p.noises != nil {
		v := chosen(*p.noises, rows)
		p.noises = &v
	}
	return p
}

func (p Process) after(b *passage) Learner { p.behind = b; return p }

func (p Process) parameters() string {
	return "NoiseVariance and those of the kernel: " + kernelParameters(p.kernel)
}

func (p Process) set(name string, v float64) (Learner, bool) {
	if strings.EqualFold(name, "NoiseVariance") {
		return p.NoiseVariance(v), true
	}
	k, known := tune(p.kernel, name, v)
	if !known {
		return p, false
	}
	return p.Kernel(k), true
}

func (p Process) trained(ctx context.Context, _ *warmth) (learned, error) {
	fit, err := p.Fit(ctx)
	if fit == nil {
		return nil, err
	}
	return fit, err
}

// heldOut has the standard deviation of targets, noise included, where the noise is
// the same for all.
func (f *ProcessFit) heldOut(ctx context.Context, data *datasets.Dataset) (*HeldOut, error) {
	if err := data.Check(); err != nil {
		return nil, err
	}
	b, err := f.posterior(ctx, data.X)
	if err != nil {
		return nil, err
	}
	h := &HeldOut{Truth: data.Y, Predicted: b.Mean}
	for _, v := range b.Variance {
		h.SD = append(h.SD, math.Sqrt(v+b.Noise))
	}
	return h, nil
}

// tune returns the kernel with another value of a parameter: a field of its struct,
// as Gamma, or a hyperparameter of a kernel of kernels, as 0.RBF.gamma, of which the
// end is enough where only one has it. No kernel and gamma is RBF.
func tune(k kernels.Kernel, name string, v float64) (kernels.Kernel, bool) {
	if k == nil {
		return kernels.RBF(v), strings.EqualFold(name, "gamma")
	}
	own := reflect.New(reflect.TypeOf(k)).Elem()
	own.Set(reflect.ValueOf(k))
	if own.Kind() == reflect.Struct {
		for i := range own.NumField() {
			if !own.Type().Field(i).IsExported() || !strings.EqualFold(own.Type().Field(i).Name, name) {
				continue
			}
			switch f := own.Field(i); f.Kind() {
			case reflect.Float64:
				f.SetFloat(v)
				return own.Interface().(kernels.Kernel), true
			case reflect.Int:
				if v != math.Trunc(v) || math.Abs(v) > 1e9 {
					v = -1 // which Check of the kernel refuses
				}
				f.SetInt(int64(v))
				return own.Interface().(kernels.Kernel), true
			}
		}
	}
	d, ok := k.(kernels.Differentiable)
	if !ok {
		return k, false
	}
	at, values := -1, []float64(nil)
	for i, h := range d.Hyperparameters() {
		values = append(values, h.Value)
		switch {
		case h.Name == name:
			values[i], at = v, i
		case strings.HasSuffix(h.Name, "."+name) && at >= 0:
			return k, false // two have it
		case strings.HasSuffix(h.Name, "."+name):
			values[i], at = v, i
		}
	}
	if at < 0 {
		return k, false
	}
	if !(v > 0) || math.IsInf(v, 1) {
		values[at] = math.NaN() // which Check of the kernel refuses
	}
	return d.With(values), true
}

// kernelParameters names what tune knows.
func kernelParameters(k kernels.Kernel) string {
	if k == nil {
		return "gamma"
	}
	var names []string
	if d, ok := k.(kernels.Differentiable); ok {
		for _, h := range d.Hyperparameters() {
			names = append(names, h.Name)
		}
	}
	if t := reflect.TypeOf(k); t.Kind() == reflect.Struct {
		for i := range t.NumField() {
			f := t.Field(i)
			if f.IsExported() && (f.Type.Kind() == reflect.Float64 || f.Type.Kind() == reflect.Int) &&
				!slices.ContainsFunc(names, func(s string) bool { return strings.EqualFold(s, f.Name) }) {
				names = append(names, f.Name)
			}
		}
	}
	if names == nil {
		return "none of " + k.String()
	}
	return strings.Join(names, ", ")
}
