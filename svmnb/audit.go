package svmnb

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/svmnb/svmnb/internal/audit"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// Audit has the figures of a fit's certificate, computed a second time by code that shares
// nothing with the solvers; see [Fit.Audit].
type Audit struct {
	Dual, Primal float64 // W(α), and the primal objective at the bias that minimises it
	Gap          float64 // Primal − Dual, an upper bound for the distance of W(α) from its maximum
	Violation    float64 // largest violation of a KKT condition, in units of y f, at the bias for which it is smallest
	UpLow        float64 // m(α) − M(α), which Tol bounds; positive unless α is optimal
	Equality     float64 // |y'α|, or the violation of the equality that the problem has instead
	Box          float64 // how far α is outside its box; 0 if it is inside

	// Rounding is a bound for the rounding error of Gap, and ViolationRounding for that of
	// Violation and UpLow. They include errors of 16 units in the last place in each kernel
	// value, and the rounding of the audit itself.
	Rounding, ViolationRounding float64

	// Size is the sum of the absolute values of the terms of Gap. ViolationSize is the
	// largest such sum for a violation. The same figures summed in float64 may differ by
	// about 2⁻⁵³ of them for each term.
	Size, ViolationSize float64
}

// Audit computes the objectives, the gap and the violations of the fit again, from Alpha,
// the points and single values of the kernel (for the linear kernel, from the points
// directly), in sums of 106 bits. It shares no code with the solvers, the kernel matrices
// and the Certificate, so it finds their faults. The Certificate costs nothing more and
// bounds the error just as well; the audit is for those who doubt it.
//
// It takes n·#SV calls of Eval, or n·d operations for the linear kernel, on one core: about
// ten seconds for 10⁸ pairs of points with 20 features. When ctx ends, Audit soon returns
// context.Cause(ctx). A fit that Keep has loaded can be audited too; a model.Model cannot,
// since it has no training data. The error is an *[ArgumentError] if a kernel value is NaN
// or infinite.
func (f *Fit) Audit(ctx context.Context) (*Audit, error) {
	if err := arguments.Given(ctx, "Audit"); err != nil {
		return nil, err
	}
	if f.none() {
		return nil, arguments.NoFit("Audit")
	}
	t := f.task
	n := t.data.N()
	p := &audit.Programme{S: t.y, P: slices.Repeat([]float64{-1}, n), Lower: make([]float64, n), Upper: slices.Clone(t.cost), FixedBias: t.fixed, Bias: t.b0}
	switch t.margin {
	case nuSoft, oneClass, enclosing:
		p.P, p.PerClass = make([]float64, n), true
		for _, w := range t.cost {
			p.Sum += t.nu * w
		}
		if t.margin.alone() {
			p.PerClass, p.Delta = false, p.Sum
		}
		if t.margin == enclosing {
			self := pairs(points.Of(t.data), t.kernel)
			for i := range p.P {
				p.P[i] = -p.Sum / 2 * self(i, i)
			}
		}
	case twoNorm:
		for _, c := range t.cost {
			p.Ridge = append(p.Ridge, 1/c)
		}
		p.Upper = slices.Repeat([]float64{math.Inf(1)}, n)
	case hard:
		p.Upper = slices.Repeat([]float64{math.Inf(1)}, n)
	}
	coef := make([]float64, n)
	for i, a := range f.Alpha {
		coef[i] = t.y[i] * a
	}
	sums, err := t.sums(ctx, coef)
	if err != nil {
		return nil, err
	}
	return newAudit(p.Of(f.Alpha, sums[0], f.Certificate.Bias, f.Certificate.Rho)), nil
}

// Audit checks the fit by code that shares nothing with the solvers; see [Fit.Audit].
func (f *RegressionFit) Audit(ctx context.Context) (*Audit, error) {
	if err := arguments.Given(ctx, "Audit"); err != nil {
		return nil, err
	}
	if f.none() {
		return nil, arguments.NoFit("Audit")
	}
	t := f.task
	n := t.data.N()
	p := &audit.Programme{Lower: make([]float64, 2*n), FixedBias: t.fixed, Bias: t.b0}
	epsilon := t.epsilon
	if t.loss != linearLoss && t.loss != quadraticLoss {
		epsilon = 0
	}
	if t.loss == nuLoss {
		p.PerClass = true
		for _, c := range t.cost {
			p.Sum += t.nu * c
		}
	}
	for _, side := range [...]float64{1, -1} { // above the tube, below it
		for i, y := range t.data.Y {
			p.S, p.P = append(p.S, side), append(p.P, epsilon-side*y)
			switch t.loss {
			case ridge, quadraticLoss:
				p.Ridge, p.Upper = append(p.Ridge, 1/t.cost[i]), append(p.Upper, math.Inf(1))
			case pinballLoss:
				p.Upper = append(p.Upper, t.cost[i]*(0.5+side*(t.tau-0.5)))
			case huberLoss:
				p.Ridge, p.Upper = append(p.Ridge, t.delta/t.cost[i]), append(p.Upper, t.cost[i])
			default:
				p.Upper = append(p.Upper, t.cost[i])
			}
		}
	}
	sums, err := t.sums(ctx, f.Beta)
	if err != nil {
		return nil, err
	}
	return newAudit(p.Of(f.Alpha, sums[0], f.Certificate.Bias, f.Certificate.Rho)), nil
}

// Audit checks all machines by code that shares nothing with the solvers; see [Fit.Audit].
// Objectives, gaps and their Rounding are sums over the machines; the other figures are the
// largest of any machine.
func (f *MultiFit) Audit(ctx context.Context) (*Audit, error) {
	if err := arguments.Given(ctx, "Audit"); err != nil {
		return nil, err
	}
	if f.none() {
		return nil, arguments.NoFit("Audit")
	}
	if f.joint != nil {
		return f.auditJoint(ctx)
	}
	all := &Audit{UpLow: math.Inf(-1)}
	for k, m := range f.machines {
		a, err := m.Audit(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.task.duelName(k), err)
		}
		all.Dual, all.Primal, all.Gap = all.Dual+a.Dual, all.Primal+a.Primal, all.Gap+a.Gap
		all.Rounding, all.Size = all.Rounding+a.Rounding, all.Size+a.Size
		all.Violation, all.UpLow = max(all.Violation, a.Violation), max(all.UpLow, a.UpLow)
		all.Equality, all.Box = max(all.Equality, a.Equality), max(all.Box, a.Box)
		all.ViolationRounding, all.ViolationSize = max(all.ViolationRounding, a.ViolationRounding), max(all.ViolationSize, a.ViolationSize)
	}
	return all, nil
}

// Audit checks the run by code that shares nothing with the solvers; see [Fit.Audit].
func (f *JointFit) Audit(ctx context.Context) (*Audit, error) {
	if err := arguments.Given(ctx, "Audit"); err != nil {
		return nil, err
	}
	if f.none() {
		return nil, arguments.NoFit("Audit")
	}
	return f.fit.auditJoint(ctx)
}

func (f *MultiFit) auditJoint(ctx context.Context) (*Audit, error) {
	t := f.task
	k := len(t.classes)
	p := &audit.Joint{Y: t.class, Classes: k, C: t.joint.C}
	coefs := make([][]float64, k)
	for m := range coefs {
		coefs[m] = make([]float64, len(t.class))
		for i := range coefs[m] {
			coefs[m][i] = f.joint.Alpha[i*k+m]
		}
	}
	sums, err := t.base.sums(ctx, coefs...)
	if err != nil {
		return nil, err
	}
	return newAudit(p.Of(f.joint.Alpha, sums)), nil
}

func newAudit(r audit.Report) *Audit {
	return &Audit{r.Dual, r.Primal, r.Gap, r.Violation, r.UpLow, r.Equality, r.Box, r.Rounding, r.ViolationRounding, r.Size, r.ViolationSize}
}

// sums returns, for each vector coef, Σ_j coef_j (K(x_i, x_j) + τ²) at all training points
// x_i.
func (m *machine) sums(ctx context.Context, coefs ...[]float64) ([]audit.Sums, error) {
	x := points.Of(m.data)
	n := x.N()
	var sums []audit.Sums
	var err error
	if m.kernel == kernels.Kernel(kernels.Linear()) {
		place, columns := occupied(x, m.data.D())
		sums, err = audit.OfPoints(ctx, n, columns, coefs, func(i int, do func(j int, v float64)) {
			x.Entry(i, func(j int, v float64) { do(place(j), v) })
		})
	} else {
		sums, err = audit.OfKernel(ctx, n, coefs, pairs(x, m.kernel))
	}
	if bad := (*audit.ValueError)(nil); errors.As(err, &bad) {
		return nil, arguments.At("Audit", bad.Row, -1, bad.Value, "its kernel value with row %d is %v; scale the features or take another kernel", bad.Column, bad.Value)
	}
	if err != nil {
		return nil, fmt.Errorf("svmnb: Audit: %w", err)
	}
	for k, s := range sums {
		if m.tau2 != 0 {
			s.Augment(m.tau2, coefs[k])
		}
	}
	return sums, nil
}

// occupied renumbers the columns that have an entry, since sparse points may have 2³¹
// columns.
func occupied(p points.Points, d int) (place func(j int) int, count int) {
	if p.Sparse == nil {
		return func(j int) int { return j }, d
	}
	at := map[int32]int{}
	for _, j := range p.Sparse.Index {
		if _, ok := at[j]; !ok {
			at[j] = len(at)
		}
	}
	return func(j int) int { return at[int32(j)] }, len(at)
}

// pairs returns a function that computes the kernel value of points i and j by Eval. Of
// sparse points it makes only these two dense at a time.
func pairs(p points.Points, k kernels.Kernel) func(i, j int) float64 {
	if p.Sparse == nil {
		return func(i, j int) float64 { return k.Eval(p.X[i], p.X[j]) }
	}
	var a, b []float64
	last := -1
	return func(i, j int) float64 {
		a = p.Sparse.Point(a, i)
		if j != last {
			b, last = p.Sparse.Point(b, j), j
		}
		return k.Eval(a, b)
	}
}

// Markdown returns the figures as a table.
func (a *Audit) Markdown() string {
	if a == nil {
		return arguments.NoneOf("audit", "Audit")
	}
	s := say.NewSummary()
	s.Row("**audit**", "the answer is within %.3g of the optimum, by kernel values one by one", a.Gap+a.Rounding)
	s.Row("dual, primal", "%s, %s", say.Signed(a.Dual, 9), say.Signed(a.Primal, 9))
	s.Row("largest KKT violation", "%.2g", a.Violation)
	s.Row("equality, box", "violated by %.2g, %.2g", a.Equality, a.Box)
	s.Row("rounding", "at most %.2g of the gap, %.2g of the violation", a.Rounding, a.ViolationRounding)
	return s.String()
}
