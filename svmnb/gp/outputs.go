package gp

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/vec"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/solvers/linear"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// MultiProcess describes Gaussian processes for several outputs at the same points. See
// [Process.Outputs].
type MultiProcess struct {
	process Process
	y       *[][]float64 // n rows of m values
	names   *[]string
	joint   bool
}

// Outputs makes p a process for m outputs at its n points: y has n rows of m values, which take the
// place of the targets. All outputs have the kernel and the noise of p, each has a mean of its own,
// and they are independent of each other unless [MultiProcess.Coregionalise] is called. The matrix
// is factored once for all. Optimise maximises the sum of the log marginal likelihoods.
//
// Outputs in different units need NormaliseTargets, which scales each. Kernel, NoiseVariance,
// ConstantMean, ZeroMean, Optimise, Restarts, Bound, priors and Memory have their meaning; a method
// and Stop have none. names are those of the outputs, for figures; there may be none.
func (p Process) Outputs(y [][]float64, names ...string) MultiProcess {
	p = p.described()
	var own [][]float64
	m := 0
	var err error
	for i, row := range y {
		own = append(own, slices.Clone(row))
		if m = len(y[0]); err == nil && len(row) != m {
			err = arguments.At("Outputs", i, -1, float64(len(row)), "the row has %s and the first one %d", say.Several(len(row), "value"), m)
		}
		for j, v := range row {
			if err == nil && math.IsInf(v, 0) {
				err = arguments.At("Outputs", i, j, v, "the value is %v; give finite numbers, or NaN for a value that is missing", v)
			}
		}
	}
	switch {
	case err != nil:
	case m == 0:
		err = arguments.Wrong("Outputs", 0, "there are no outputs; give a row of values for each point")
	case len(y) != p.data.N():
		err = arguments.Wrong("Outputs", float64(len(y)), "there are %d rows for %d points; give one for each", len(y), p.data.N())
	case len(names) != 0 && len(names) != m:
		err = arguments.Wrong("Outputs", float64(len(names)), "there are %s for %d outputs", say.Several(len(names), "name"), m)
	}
	p.faults.Said("Outputs", err)
	for o := len(names); o < m; o++ {
		names = append(names, fmt.Sprintf("output %d", o+1))
	}
	names = slices.Clone(names)
	return MultiProcess{process: p, y: &own, names: &names}
}

// Coregionalise makes the outputs depend on each other: the covariance of output o at x and output p
// at z is B_op K(x, z), where B is a positive semidefinite matrix of m × m numbers (intrinsic
// coregionalisation; Bonilla, Chai and Williams 2008, eq. 1). Values of y may then be missing, as NaN: what
// other outputs say of them is used. B starts as diagonal, with the variances of the outputs, and
// Optimise learns it: by the standard deviations of its m outputs, "B[0]" and so on, and by an angle
// for each pair, "B[1,0]", whose cosine is a (partial) correlation. Since B has the scales, a kernel
// needs none; without Kernel it is the squared exponential of variance 1.
//
// The factor is that of a matrix with a row for each value.
func (p MultiProcess) Coregionalise() MultiProcess { p.joint = true; return p }

// String returns the Go expression of the description.
func (p MultiProcess) String() string {
	s := fmt.Sprintf("%s.Outputs(…)", p.process.text(false))
	if p.joint {
		s += ".Coregionalise()"
	}
	return s
}

// Fit solves for all outputs, after finding the hyperparameters if Optimise was set. When ctx ends
// early, the error wraps context.Cause(ctx), and the fit is nil unless Optimise has found something.
func (p MultiProcess) Fit(ctx context.Context) (*MultiFit, error) { return p.run(ctx, nil) }

// MustFit is Fit for a notebook cell; see [Process.MustFit].
func (p MultiProcess) MustFit() *MultiFit { return mustApproximate(p.run) }

func (p MultiProcess) run(ctx context.Context, show func(line string, last bool)) (*MultiFit, error) {
	return begun(ctx, show, p.prepare, func(t *multiTask, ctx context.Context) (*MultiFit, error) {
		if t.learn {
			return t.optimise(ctx)
		}
		return t.solve(ctx)
	})
}

// Keep is MustFit with a cache on disk for the hyperparameters that Optimise finds; see
// [Process.Keep].
func (p MultiProcess) Keep() *MultiFit {
	if !p.process.learn {
		return p.MustFit()
	}
	return mustApproximate(func(ctx context.Context, show func(line string, last bool)) (*MultiFit, error) {
		t, err := p.prepare()
		if err != nil {
			return nil, err
		}
		t.show = show
		return keep(t, fmt.Sprintf("Outputs %v %v %#v %v %v %v %d %d %v", *p.y, p.joint, t.kernel, t.noise, t.offset, t.width, t.restarts, t.seed, t.said()), t.data, func(ctx context.Context) (*MultiFit, *keptFit, error) {
			f, err := t.optimise(ctx)
			if err != nil {
				return f, nil, err
			}
			return f, &keptFit{Optimisation: *f.Optimisation}, nil
		})(ctx)
	})
}

// optimise finds the hyperparameters and solves for them.
func (t *multiTask) optimise(ctx context.Context) (*MultiFit, error) {
	start, err := t.hyperparameters()
	if err != nil {
		return nil, err
	}
	all, err := t.Process.saidOf(start, t.lookup)
	if err != nil {
		return nil, err
	}
	for i, h := range start {
		if t.isAngle(h.Name) && all[i].low == 0 && math.IsInf(all[i].high, 1) {
			all[i].low, all[i].high = 1e-3, math.Pi-1e-3
		}
	}
	return maximise(ctx, &learning{start: start, said: all, restarts: t.restarts, seed: t.seed, objective: t.objective() + " =", show: t.show}, &Optimisation{}, func(values, grad []float64) (*MultiFit, float64, error) {
		f, v, err := t.at(ctx, values, nil)
		if err != nil {
			return nil, 0, err
		}
		return f, v, f.gradient(ctx, grad)
	})
}

// at solves for other hyperparameters; there are no inducing points.
func (t *multiTask) at(ctx context.Context, values []float64, _ *keptFit) (*MultiFit, float64, error) {
	other, err := t.with(values)
	if err != nil {
		return nil, 0, err
	}
	f, err := other.solve(ctx)
	if err != nil {
		return nil, 0, err
	}
	return f, f.evidence, nil
}

// multiTask is a checked MultiProcess with all defaults filled in.
type multiTask struct {
	*processTask
	from   MultiProcess
	column [][]float64 // m outputs of n values, scaled and without their means
	offset []float64   // m means
	width  []float64   // m standard deviations by which the outputs were divided, or 1
	sd     []float64   // of B
	angle  [][]float64 // of B: row o has o of them
}

func (p MultiProcess) prepare() (*multiTask, error) {
	q := p.process.described()
	if p.y == nil { // the zero value
		p = q.Outputs(nil)
		q = p.process
	}
	switch {
	case q.faults.Err() != nil:
		return nil, q.faults.Err()
	case q.mean == linearMean:
		return nil, arguments.Wrong("LinearMean", math.NaN(), "several outputs have no linear means; use ConstantMean")
	}
	n, m := len(*p.y), len((*p.y)[0])
	scaled := q.scaled
	t := &multiTask{from: p, column: several(m, n), offset: make([]float64, m), width: slices.Repeat([]float64{1}, m), angle: make([][]float64, m)}
	variance, values := 0.0, 0
	for o, c := range t.column {
		seen, sum, square := 0.0, 0.0, 0.0
		for i, row := range *p.y {
			if c[i] = row[o]; math.IsNaN(row[o]) {
				if !p.joint {
					return nil, arguments.At("Outputs", i, o, row[o], "the value is missing; say Coregionalise, so that other outputs tell what it may be, or leave the point out")
				}
				continue
			}
			seen, sum = seen+1, sum+row[o]
		}
		if seen == 0 {
			return nil, arguments.Wrong("Outputs", float64(o), "all values of %s are missing", (*p.names)[o])
		}
		values += int(seen)
		mean := sum / seen
		for _, v := range c {
			if !math.IsNaN(v) {
				square += (v - mean) * (v - mean) / seen
			}
		}
		if scaled && square > 0 {
			t.width[o] = math.Sqrt(square)
		}
		if q.mean == constantMean || scaled {
			t.offset[o] = mean
		}
		for i := range c {
			c[i] = (c[i] - t.offset[o]) / t.width[o]
		}
		square /= t.width[o] * t.width[o]
		if square == 0 {
			square = 1
		}
		variance += square / float64(m)
		t.sd = append(t.sd, math.Sqrt(square))
		t.angle[o] = slices.Repeat([]float64{math.Pi / 2}, o)
	}
	if math.IsInf(variance, 0) || math.IsNaN(variance) {
		return nil, arguments.Wrong("Outputs", variance, "the outputs are so large that their variance overflows; divide them by a power of ten")
	}
	if q.scaled = false; !q.noisy {
		q = q.NoiseVariance(variance / 10)
	}
	if q.kernel == nil && q.data.Check() == nil {
		if q.kernel = kernels.RBF(2 * kernels.GammaMedian(q.data.X)); !p.joint {
			q.kernel = kernels.ScaleKernel{C: variance, K: q.kernel}
		}
	}
	own, err := q.withoutMethod()
	if err != nil {
		return nil, err
	}
	if !own.oneNoise() {
		return nil, arguments.Wrong("Outputs", own.noise, "several outputs need one positive variance of the noise; say NoiseVariance")
	}
	own.method, own.named, t.processTask = linear.Cholesky{}, true, own
	side := float64(n)
	if p.joint {
		side = float64(values)
	}
	if need := 16 * side * side; need > own.allowed() {
		return nil, arguments.Wrong("Outputs", side, "the factor of %d rows and its inverse take %.3g GB, and may take %.3g: take a part of the points, On(data.Select(rows)), or raise Memory or GOMEMLIMIT", int(side), need/1e9, own.allowed()/1e9)
	}
	return t, nil
}

// ownCount returns the number of hyperparameters of B.
func (t *multiTask) ownCount() int {
	if m := len(t.sd); t.from.joint {
		return m + m*(m-1)/2
	}
	return 0
}

func (t *multiTask) isAngle(name string) bool {
	var o, p int
	count, _ := fmt.Sscanf(name, "B[%d,%d]", &o, &p)
	return count == 2
}

// hyperparameters returns those of the kernel, those of B, and the noise.
func (t *multiTask) hyperparameters() ([]Partial, error) {
	list, err := t.processTask.hyperparameters()
	if err != nil || !t.from.joint {
		return list, err
	}
	last := list[len(list)-1]
	list = list[:len(list)-1]
	for o, v := range t.sd {
		list = append(list, Partial{Name: fmt.Sprintf("B[%d]", o), Value: v})
	}
	for o, row := range t.angle {
		for p, v := range row {
			list = append(list, Partial{Name: fmt.Sprintf("B[%d,%d]", o, p), Value: v})
		}
	}
	return append(list, last), nil
}

func (t *multiTask) lookup(name string) (int, error) {
	list, err := t.hyperparameters()
	if err != nil {
		return 0, err
	}
	if at := slices.IndexFunc(list, func(p Partial) bool { return p.Name == name }); at >= 0 {
		return at, nil
	}
	return t.processTask.lookup(name)
}

// with returns t with other values of its hyperparameters.
func (t *multiTask) with(values []float64) (*multiTask, error) {
	other := *t
	last := len(values) - 1
	own := values[last-t.ownCount() : last]
	if t.from.joint {
		other.sd, other.angle = own[:len(t.sd)], make([][]float64, len(t.sd))
		for o, at := 0, len(t.sd); o < len(t.sd); at, o = at+o, o+1 {
			other.angle[o] = own[at : at+o]
		}
	}
	var err error
	other.processTask, err = t.processTask.with(append(slices.Clone(values[:last-len(own)]), values[last]))
	return &other, err
}

// root returns the rows of L, of norm 1, for which B = S LL' S with S = diag(sd): row o has the
// coordinates of a point on a sphere, by its angles (Pinheiro and Bates 1996, §2.3).
func (t *multiTask) root() [][]float64 {
	l := several(len(t.sd), len(t.sd))
	for o, row := range t.angle {
		rest := 1.0
		for p, a := range row {
			l[o][p] = rest * math.Cos(a)
			rest *= math.Sin(a)
		}
		l[o][o] = rest
	}
	return l
}

// coregion returns B.
func (t *multiTask) coregion() [][]float64 {
	l, b := t.root(), several(len(t.sd), len(t.sd))
	for o := range b {
		for p := range b {
			b[o][p] = t.sd[o] * t.sd[p] * vec.Dot(l[o], l[p])
		}
	}
	return b
}

// byOwn sets grad to the derivatives by the logarithms of the hyperparameters of B, from those by B.
func (t *multiTask) byOwn(grad []float64, by, b [][]float64) {
	m, l := len(t.sd), t.root()
	for o := range m {
		grad[o] = 0
		for p := range m {
			grad[o] += (by[o][p] + by[p][o]) * b[o][p]
		}
	}
	at := m
	for o, row := range t.angle {
		for j, a := range row {
			d := make([]float64, m) // of row o of L by the angle
			for k := j + 1; k <= o; k++ {
				d[k] = l[o][k] * math.Cos(a) / math.Sin(a)
			}
			d[j] = -math.Sin(a)
			for k := range j {
				d[j] *= math.Sin(row[k])
			}
			sum := 0.0
			for p := range m {
				if p != o {
					sum += (by[o][p] + by[p][o]) * t.sd[o] * t.sd[p] * vec.Dot(d, l[p])
				}
			}
			grad[at], at = a*sum, at+1
		}
	}
}

// MultiFit has Gaussian processes of several outputs after their observations.
type MultiFit struct {
	// Description is the MultiProcess that was solved, with the hyperparameters that Optimise found.
	Description MultiProcess

	// Of has the m processes, one for each output, which share one factor. It is nil after
	// Coregionalise, since the outputs then depend on each other.
	Of []*Fit

	Names        []string      // of the m outputs
	Coregion     [][]float64   // B, m × m, in units of the outputs; nil without Coregionalise
	Elapsed      time.Duration // for the last hyperparameters
	Optimisation *Optimisation // how the hyperparameters were found; nil without Optimise

	task     *multiTask
	points   *kernels.Basis
	k        *matrix
	factor   *linear.CholeskyFactor
	b        [][]float64
	at       [][2]int // point and output of each row of the matrix
	joint    *coregional
	alpha    [][]float64
	evidence float64
}

func (f *MultiFit) none() bool { return f == nil || f.task == nil }

func (f *MultiFit) ended() (time.Duration, ApproximationRun) {
	return f.Elapsed, ApproximationRun{Status: solvers.Converged}
}
func (f *MultiFit) found(o *Optimisation) { f.Optimisation = o }

// coregional is the matrix of K_(i,o),(j,p) = B_op K(x_i, x_j) for observed values.
type coregional struct {
	k   *matrix
	b   [][]float64
	at  [][2]int
	row []float64
}

func (c *coregional) Dim() int { return len(c.at) }

func (c *coregional) Diag() []float64 {
	d := make([]float64, len(c.at))
	for r, a := range c.at {
		d[r] = c.k.diag[a[0]] * c.b[a[1]][a[1]]
	}
	return d
}

// cross returns the covariances of the observed values with output o at a point, from those of K.
func (c *coregional) cross(dst []float64, o int, k []float64) []float64 {
	dst = slices.Grow(dst[:0], len(c.at))
	for _, a := range c.at {
		dst = append(dst, c.b[o][a[1]]*k[a[0]])
	}
	return dst
}

func (c *coregional) Row(r int) []float64 {
	from := c.at[r]
	for s, to := range c.at {
		c.row[s] = c.k.rows[from[0]][to[0]] * c.b[from[1]][to[1]]
	}
	return c.row
}

// solve solves for all outputs.
func (t *multiTask) solve(ctx context.Context) (*MultiFit, error) {
	began := time.Now()
	n, m := len(t.y), len(t.column)
	k, err := gramOf(ctx, t.kernel, t.data.X)
	if err != nil {
		return nil, err
	}
	f := &MultiFit{Description: t.from, Names: *t.from.names, task: t, points: kernels.Against(t.kernel, t.data.X), k: k}
	own := &f.Description.process
	own.kernel, own.noise, own.noisy, own.learn, own.restarts, own.seed = t.kernel, t.noise, true, false, 0, 0
	var right [][]float64
	system := &linear.System{K: k, Noise: slices.Repeat([]float64{t.noise}, n)}
	if t.from.joint {
		f.b = t.coregion()
		right = [][]float64{nil}
		for o, c := range t.column { // by outputs, so that blocks are those of K
			for i, v := range c {
				if !math.IsNaN(v) {
					f.at, right[0] = append(f.at, [2]int{i, o}), append(right[0], v)
				}
			}
		}
		f.joint = &coregional{k, f.b, f.at, make([]float64, len(f.at))}
		system = &linear.System{K: f.joint, Noise: slices.Repeat([]float64{t.noise}, len(f.at))}
		f.Coregion = several(m, m)
		for o := range f.b {
			for p, v := range f.b[o] {
				f.Coregion[o][p] = v * t.width[o] * t.width[p]
			}
		}
	} else {
		right = t.column
	}
	sol, err := linear.Solve(ctx, system, right, linear.Cholesky{}, linear.Settings{Every: -1})
	if err != nil {
		return nil, t.explain(err)
	}
	f.factor, f.alpha = sol.Factor, sol.X
	for o, y := range right {
		f.evidence -= (vec.Dot(y, f.alpha[o]) + f.factor.LogDet() + float64(len(y))*math.Log(2*math.Pi)) / 2
	}
	if !t.from.joint {
		for o := range right {
			single := *t.processTask
			single.data = &datasets.Dataset{Name: t.data.Name + " · " + f.Names[o], X: t.data.X, Y: column(*t.from.y, o), Features: t.data.Features, Target: f.Names[o]}
			single.seen, single.y, single.offset, single.learn = single.data.Y, right[o], t.offset[o], false
			if t.from.process.scaled {
				single.scaled, single.scale = true, &datasets.TargetScaler{Centre: t.offset[o], Width: t.width[o]}
				single.seen, single.offset = right[o], 0
			}
			part := *sol
			part.X, part.Certificates = sol.X[o:o+1], sol.Certificates[o:o+1]
			fit, err := single.finish(system, &part)
			if err != nil {
				return nil, err
			}
			f.Of = append(f.Of, fit)
		}
	}
	f.Elapsed = time.Since(began)
	return f, nil
}

// gradient uses W = ½ Σ (αα' − A⁻¹) over the right-hand sides. With B it is the sum Σ W_(i,o),(j,p) ∂(B_op
// K_ij), first over outputs and then over points.
func (f *MultiFit) gradient(ctx context.Context, grad []float64) error {
	t, k := f.task, f.k
	n, m, last := len(t.y), len(t.column), len(grad)-1
	inverse, err := f.factor.InverseLower(ctx)
	if err != nil {
		return fmt.Errorf("svmnb: Gradient: %w", err)
	}
	w, by, trace := several(n, n), several(m, m), 0.0
	var row []float64
	for r := f.factor.N() - 1; r >= 0; r-- {
		if ctx.Err() != nil {
			return fmt.Errorf("svmnb: Gradient: %w", context.Cause(ctx))
		}
		row = inverse.Row(row, r)
		for s := range r + 1 {
			v := -float64(len(f.alpha)) * row[s]
			for _, a := range f.alpha {
				v += a[r] * a[s]
			}
			if v /= 2; r == s {
				trace += v
			}
			if f.at == nil {
				w[r][s], w[s][r] = v, v
				continue
			}
			i, o, j, p := f.at[r][0], f.at[r][1], f.at[s][0], f.at[s][1]
			w[i][j] += v * f.b[o][p]
			by[o][p] += v * k.rows[i][j]
			if r != s {
				w[j][i] += v * f.b[o][p]
				by[p][o] += v * k.rows[i][j]
			}
		}
	}
	grad[last] = t.noise * trace
	if f.at != nil {
		t.byOwn(grad[last-t.ownCount():last], by, f.b)
	}
	return contract(ctx, t.kernel, t.data.X, grad[:last-t.ownCount()], rowsOf(w))
}

// rowsOf is a matrix of weights in memory.
type rowsOf [][]float64

func (w rowsOf) weights(context.Context) (func(i int) []float64, error) {
	return func(i int) []float64 { return w[i] }, nil
}

// LogMarginalLikelihood returns the sum of the log marginal likelihoods of the outputs, in nats, or
// after Coregionalise that of all observed values. After NormaliseTargets it is that of the scaled
// outputs. It is NaN for the zero value.
func (f *MultiFit) LogMarginalLikelihood() float64 {
	if f.none() {
		return math.NaN()
	}
	return f.evidence
}

// Posterior returns the posteriors of the m outputs at some points, in units of the outputs. Errors
// are those of [Fit.Posterior], and no result is returned with them.
func (f *MultiFit) Posterior(ctx context.Context, x datasets.Points) (_ []*Belief, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, arguments.NoFit("Posterior")
	}
	if err := arguments.Given(ctx, "Posterior"); err != nil {
		return nil, err
	}
	t := f.task
	rows, err := points.Dense("Posterior", x)
	if err == nil {
		err = t.check("Posterior", rows)
	}
	if err != nil {
		return nil, err
	}
	if err := f.points.Check(rows); err != nil {
		return nil, fmt.Errorf("svmnb: Posterior: %w", err)
	}
	var all []*Belief
	for _, w := range t.width {
		all = append(all, &Belief{Mean: make([]float64, len(rows)), Variance: make([]float64, len(rows)), Noise: t.noise * w * w})
	}
	var k []float64
	for i, p := range rows {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("svmnb: Posterior: %w", context.Cause(ctx))
		}
		k = f.points.Row(k, p)
		prior := t.kernel.Eval(p, p)
		var half, cross []float64
		for o, b := range all {
			alpha, own := f.alpha[0], prior
			if f.at == nil {
				if alpha = f.alpha[o]; o == 0 {
					half = f.factor.HalfSolve(nil, k)
				}
				cross = k
			} else {
				cross, own = f.joint.cross(cross, o, k), prior*f.b[o][o]
				half = f.factor.HalfSolve(nil, cross)
			}
			b.Mean[i] = t.offset[o] + t.width[o]*vec.Dot(cross, alpha)
			b.Variance[i] = t.width[o] * t.width[o] * max(0, own-vec.Dot(half, half))
		}
	}
	return all, nil
}

// Markdown says in words what was solved and how good the answer is.
func (f *MultiFit) Markdown() string {
	if f.none() {
		return arguments.NoFit("Markdown").Error()
	}
	t, s := f.task, say.NewSummary()
	s.Row("**problem**", "Gaussian processes of %s: %s", say.Several(len(f.Names), "output"), say.Listed(f.Names))
	s.Row("points × features", "%d × %d", t.data.N(), t.data.D())
	if f.at != nil {
		s.Row("values", "%d observed, %d missing", len(f.at), len(t.y)*len(f.Names)-len(f.at))
	}
	s.Row("kernel", "%s", say.Brief(t.kernel.String()))
	s.Row("noise variance", "%s", t.noiseText())
	f.Optimisation.rows(s)
	for o, row := range f.b {
		for p, v := range row[:o] {
			s.Row("correlation", "%s between %s and %s", say.Signed(v/math.Sqrt(f.b[o][o]*f.b[p][p]), 3), f.Names[p], f.Names[o])
		}
	}
	s.Row("**result**", "log marginal likelihood %s, by one factor of %d rows", say.Signed(f.evidence, 6), f.factor.N())
	return s.String()
}

// Show displays the given figures of the fit. Without figures it displays the summary and, if
// there is one feature, Posterior.
func (f *MultiFit) Show(figures ...display.Figure) {
	var usual []display.Figure
	if !f.none() && f.task.data.D() == 1 && len(f.Names) <= figure.MostLines {
		usual = []display.Figure{Posterior}
	}
	display.ShowFit(f, figures, usual...)
}

func (f *MultiFit) drawPosterior(v view) (*display.Chart, error) {
	ctx, stop := untilInterrupt()
	defer stop()
	if f.none() {
		return nil, arguments.NoFit("Posterior")
	}
	t := f.task
	if err := t.drawable(&v); err != nil {
		return nil, err
	}
	rows64 := float64(f.factor.N())
	xs, rows := places(v, int(min(figurePoints/2, max(60, figureWork/(rows64*rows64*float64(len(f.Names)))))))
	b, err := f.Posterior(ctx, rows)
	if err != nil {
		return nil, err
	}
	d := figure.OutputsData{Problem: t.words(), Feature: t.data.FeatureName(0), Evidence: f.evidence, Xs: xs}
	for o, b := range b {
		d.Names, d.Mean, d.SD = append(d.Names, say.Class(f.Names[o])), append(d.Mean, b.Mean), append(d.SD, deviations(b.Variance, 0))
		var x, y []float64
		for i, row := range *t.from.y {
			if !math.IsNaN(row[o]) {
				x, y = append(x, t.data.X[i][0]), append(y, row[o])
			}
		}
		d.X, d.Y = append(d.X, x), append(d.Y, y)
	}
	return figure.Outputs(d)
}
