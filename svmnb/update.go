package svmnb

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/points"
)

// Add returns the fit of the same description to the training data and more points, at the end.
// It starts from the α of this fit and reuses its F, so only what changes costs kernel values.
// The certificate is that of a new fit. The classes of the points must be those of the training
// data. Sparse data, tables, sample weights, pipelines, ν machines and one class are refused by
// an *ArgumentError, and so is a fit that was interrupted. Other errors are those of
// [Classifier.Fit].
func (f *Fit) Add(ctx context.Context, more *datasets.Dataset) (_ *Fit, err error) {
	defer guard.Caught(&err)
	u, err := f.adding(more)
	if err != nil {
		return nil, err
	}
	return u.solve(ctx)
}

// Remove returns the fit of the same description without some rows of the training data; the
// rows after them move up. It works as Add does, and takes sparse data and tables too.
func (f *Fit) Remove(ctx context.Context, rows ...int) (_ *Fit, err error) {
	defer guard.Caught(&err)
	u, err := f.removing("Remove", rows)
	if err != nil {
		return nil, err
	}
	return u.solve(ctx)
}

// CertainWithout reports for each of m points whether its predicted label stays the same at the
// exact optimum without these rows of the training data. No machine is trained: the α of this
// fit, without the rows, has a gap, which bounds the new optimum. Errors are those of Remove and
// Values.
func (f *Fit) CertainWithout(x datasets.Points, rows ...int) (_ []bool, err error) {
	defer guard.Caught(&err)
	u, err := f.removing("CertainWithout", rows)
	if err != nil {
		return nil, err
	}
	p := points.From(x)
	before, err := f.expansion.At("CertainWithout", "classifier", p)
	if err != nil {
		return nil, err
	}
	b, now := u.ball(p)
	certain, err := b.certain(p, now, 0, quick, thorough)
	for i := range certain {
		certain[i] = certain[i] && machines.SideOf(before[i]) == machines.SideOf(now[i])
	}
	return certain, err
}

// update is a problem whose points have changed, with an α that suits it.
type update struct {
	t        *task
	alpha, f []float64
	values   int64 // kernel values that F has taken
}

// updatable returns the error of a fit that cannot be updated.
func (f *Fit) updatable(call string) error {
	switch {
	case f.none():
		return arguments.NoFit(call)
	case f.F == nil:
		return interruptedFit(call)
	case f.task.scaled():
		return arguments.Wrong(call, f.task.nu, "ν is a share of the points, so every α of a ν machine changes with their number; fit again, or give a C")
	case f.task.behind != nil:
		return arguments.Wrong(call, math.NaN(), "the steps of the pipeline were fitted to all points; fit the pipeline again")
	}
	return nil
}

func (f *Fit) removing(call string, rows []int) (*update, error) {
	if err := f.updatable(call); err != nil {
		return nil, err
	}
	n := len(f.Alpha)
	gone := make([]bool, n)
	for _, i := range rows {
		if i < 0 || i >= n || gone[i] {
			return nil, arguments.Wrong(call, float64(i), "row %d of %d points; give different rows from 0 to %d", i, n, n-1)
		}
		gone[i] = true
	}
	var kept []int
	for i := range n {
		if !gone[i] {
			kept = append(kept, i)
		}
	}
	return f.update(f.Description.on(kept), kept)
}

func (f *Fit) adding(more *datasets.Dataset) (*update, error) {
	if err := f.updatable("Add"); err != nil {
		return nil, err
	}
	if more == nil {
		return nil, arguments.Wrong("Add", math.NaN(), "the data set is nil; give the points to add")
	}
	if err := more.Check(); err != nil {
		return nil, err
	}
	old := f.task.data
	switch {
	case old.X == nil || more.X == nil:
		return nil, arguments.Wrong("Add", math.NaN(), "sparse points and tables cannot be joined; fit again")
	case f.task.weights != nil && f.task.weights.sample != nil:
		return nil, arguments.Wrong("Add", math.NaN(), "the new points would need sample weights; fit again")
	}
	if err := f.expansion.Check("Add", "classifier", points.Of(more)); err != nil {
		return nil, err
	}
	all := *old
	all.X, all.Y = slices.Concat(old.X, more.X), slices.Clone(old.Y)
	code := map[string]float64{}
	for i, y := range old.Y {
		code[old.ClassName(y)] = old.Y[i]
	}
	for i, y := range more.Y {
		c, ok := code[more.ClassName(y)]
		if !ok {
			return nil, unknownClass("Add", i, more, []string{f.task.negative, f.task.positive})
		}
		all.Y = append(all.Y, c)
	}
	c := f.Description
	c.data = &all
	return f.update(c, upTo(len(old.Y)))
}

func upTo(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// update moves α to the problem of c, whose first points are these rows of the old data: points
// that are gone lose their α, and other α move until s'α = δ, those that violate most first. F
// follows from these changes alone; only that of new points is a sum over all support vectors.
func (f *Fit) update(c Classifier, kept []int) (*update, error) {
	t, err := c.prepare()
	if err != nil {
		return nil, err
	}
	p, old := t.problem, f.task.problem
	n := len(t.y)
	u := &update{t: t, alpha: make([]float64, n), f: make([]float64, n)}
	for k, i := range kept {
		u.alpha[k], u.f[k] = f.Alpha[i], f.F[i]
	}
	x, from, k := points.Of(t.data), points.Of(f.task.data), t.lifted()
	if added := n - len(kept); added > 0 {
		rows := upTo(n)[len(kept):]
		var sv []int
		var coef []float64
		for j, a := range f.Alpha {
			if a != 0 {
				sv, coef = append(sv, j), append(coef, -old.S[j]*a)
			}
		}
		dst := make([]float64, added)
		if len(sv) > 0 {
			u.values += int64(added) * int64(len(sv))
			x.Some(rows).AddTimes([][]float64{dst}, from.Some(sv).Basis(k), [][]float64{coef})
		}
		for r, i := range rows {
			u.f[i] = dst[r] - p.S[i]*p.P[i]
		}
	}
	gone := map[int]bool{}
	for j, a := range f.Alpha {
		if a != 0 {
			gone[j] = true
		}
	}
	for _, i := range kept {
		delete(gone, i)
	}
	var lost []int
	for j := range gone {
		lost = append(lost, j)
	}
	slices.Sort(lost)
	u.change(x, from, k, lost, func(j int) float64 { return -old.S[j] * f.Alpha[j] }, nil)
	step := make([]float64, n) // of s α
	for i, a := range u.alpha {
		if top := min(a, p.Upper[i]); top != a { // Balanced has changed the bound
			step[i], u.alpha[i] = p.S[i]*(top-a), top
		}
	}
	if !p.FixedBias {
		missing := p.Delta
		for i, a := range u.alpha {
			missing -= p.S[i] * a
		}
		order := upTo(n)
		slices.SortStableFunc(order, func(i, j int) int {
			if missing > 0 {
				return cmp.Compare(u.f[j], u.f[i])
			}
			return cmp.Compare(u.f[i], u.f[j])
		})
		for _, i := range order {
			if missing == 0 {
				break
			}
			by := min(missing, p.Rise(i, u.alpha[i]))
			if missing < 0 {
				by = -min(-missing, p.Fall(i, u.alpha[i]))
			}
			if by != 0 {
				u.alpha[i] = min(max(u.alpha[i]+p.S[i]*by, p.Lower[i]), p.Upper[i])
				step[i], missing = step[i]+by, missing-by
			}
		}
	}
	var moved []int
	for i, s := range step {
		if s != 0 {
			moved = append(moved, i)
		}
	}
	u.change(x, x, k, moved, func(i int) float64 { return step[i] }, p.Ridge)
	return u, nil
}

// change subtracts from F what steps of s α of the points at rows of from add to w.
func (u *update) change(x, from points.Points, k kernels.Kernel, rows []int, step func(int) float64, ridge []float64) {
	if len(rows) == 0 {
		return
	}
	coef := make([]float64, len(rows))
	for r, i := range rows {
		coef[r] = -step(i)
		if ridge != nil {
			u.f[i] -= step(i) * ridge[i]
		}
	}
	u.values += int64(len(rows)) * int64(len(u.f))
	x.AddTimes([][]float64{u.f}, from.Some(rows).Basis(k), [][]float64{coef})
}

// ball returns the ball of the optimum of the changed problem, and the values of this α at x.
func (u *update) ball(x points.Points) (*ball, []float64) {
	c := solvers.CertifyWith(u.t.problem, u.alpha, u.f)
	fit := u.t.fit(&solvers.Result{Alpha: u.alpha, Certificate: c})
	gap := max(0, c.Gap) + c.Equality*math.Abs(c.Bias)
	return u.t.machine.ball(u.t.problem, u.alpha, u.f, gap, c.Bias, 16*c.Rounding), fit.expansion.Values(x)
}

func (u *update) solve(ctx context.Context) (*Fit, error) {
	if err := arguments.Given(ctx, "Fit"); err != nil {
		return nil, err
	}
	u.t.start, u.t.startF = u.alpha, u.f
	defer func() { u.t.start, u.t.startF = nil, nil }()
	fit, err := u.t.solve(ctx)
	if fit != nil {
		fit.Evaluations += u.values
	}
	return fit, err
}

// LeftOut has the exact leave-one-out errors of a machine; see [Fit.LeaveOneOutErrors].
type LeftOut struct {
	Wrong  []bool // for each of n points, whether the machine trained without it predicts another class
	Open   []int  // points so close to the boundary of the machine without them that rounding leaves their label open
	Fits   int    // machines that had to be trained
	Values int64  // kernel values that these took
}

// Error returns the share of the points that are wrong, in [0, 1].
func (l *LeftOut) Error() float64 {
	if l == nil || len(l.Wrong) == 0 {
		return math.NaN()
	}
	return float64(count(l.Wrong)) / float64(len(l.Wrong))
}

// LeaveOneOutErrors says for each training point whether the exact optimum without it predicts
// its class. The α of this fit without the point bounds that optimum, so most labels are known
// without training; the others take a fit that starts from this α, with a smaller tolerance until
// its label is certain. A small tolerance of this fit saves most of these fits. When ctx ends
// early, LeaveOneOutErrors returns nil and an error that wraps context.Cause(ctx). Other errors
// are those of Remove.
func (f *Fit) LeaveOneOutErrors(ctx context.Context) (_ *LeftOut, err error) {
	defer guard.Caught(&err)
	if err := f.updatable("LeaveOneOutErrors"); err != nil {
		return nil, err
	}
	if err := arguments.Given(ctx, "LeaveOneOutErrors"); err != nil {
		return nil, err
	}
	all := points.Of(f.task.data)
	out := &LeftOut{Wrong: make([]bool, len(f.Alpha))}
	for i, y := range f.task.y {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		u, err := f.removing("LeaveOneOutErrors", []int{i})
		if err != nil {
			return nil, err
		}
		x := all.Some([]int{i})
		b, value := u.ball(x)
		certain, err := b.certain(x, value, 0, quick, thorough)
		if err != nil {
			return nil, err
		}
		for tol := 1e-3; !certain[0] && tol > 1e-10; tol /= 100 {
			u.t.stop = solvers.UpLow{Tol: tol}
			without, err := u.solve(ctx)
			if err != nil {
				return nil, err
			}
			out.Fits, out.Values = out.Fits+1, out.Values+without.Evaluations
			u.alpha, u.f, value = without.Alpha, without.F, without.expansion.Values(x)
			if b, err = u.t.around("LeaveOneOutErrors", u.t.problem, &without.Result); err != nil {
				return nil, err
			}
			if certain, err = b.certain(x, value, 0, quick, thorough); err != nil {
				return nil, err
			}
		}
		if !certain[0] {
			out.Open = append(out.Open, i)
		}
		out.Wrong[i] = machines.SideOf(value[0]) != machines.SideOf(y)
	}
	return out, nil
}
