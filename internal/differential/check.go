package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/solvers/blocks"
	"github.com/svmnb/svmnb/svmnb"
)

// outcome is the result of one method on a problem.
type outcome struct {
	err         error
	status      solvers.Status
	certificate solvers.Certificate
	audit       *svmnb.Audit
	values      []float64 // decision values of the training points, if there are not too many
	variables   int
}

// complaint describes a failure. While a problem is shrunk, the kind stays and the text may
// change.
type complaint struct{ kind, text string }

func (c *complaint) String() string { return c.kind + ": " + c.text }

func complain(kind, format string, args ...any) *complaint {
	return &complaint{kind, fmt.Sprintf(format, args...)}
}

// patience is how long a fit may take before its context ends, and grace how long it may then
// take to return. A fit that its context ends is no failure, because it reports the end.
const patience, grace = 5 * time.Second, 20 * time.Second

// solve runs a method. A panic or a hang is a complaint.
func solve(p *problem, m method) (outcome, *complaint) {
	type answer struct {
		o outcome
		c *complaint
	}
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	done := make(chan answer, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				where := strings.Split(string(debug.Stack()), "\n")
				done <- answer{c: complain("panic", "%v\n%s", r, strings.Join(where[:min(len(where), 16)], "\n"))}
			}
		}()
		done <- answer{o: fit(ctx, p, m)}
	}()
	select {
	case a := <-done:
		return a.o, a.c
	case <-time.After(patience + grace):
		return outcome{}, complain("hang", "no answer %v after its context has ended", grace)
	}
}

func fit(ctx context.Context, p *problem, m method) (o outcome) {
	audit := func(f interface {
		Audit(context.Context) (*svmnb.Audit, error)
	}) {
		var err error
		if o.audit, err = f.Audit(context.Background()); err != nil && o.err == nil {
			o.err = err
		}
	}
	switch d := p.description(m).(type) {
	case svmnb.Classifier:
		f, err := d.Fit(ctx)
		if o.err = err; f == nil {
			return o
		}
		o.status, o.certificate, o.variables = f.Status, f.Certificate, len(f.Alpha)
		if !p.Sparse && err == nil {
			o.values, o.err = f.Values(datasets.Rows(p.X))
		}
		audit(f)
	case svmnb.Regressor:
		f, err := d.Fit(ctx)
		if o.err = err; f == nil {
			return o
		}
		o.status, o.certificate, o.variables = f.Status, f.Certificate, len(f.Alpha)
		if !p.Sparse && err == nil {
			o.values, o.err = f.Predict(datasets.Rows(p.X))
		}
		audit(f)
	case svmnb.MultiClassifier:
		f, err := d.Fit(ctx)
		if o.err = err; f == nil {
			return o
		}
		s := f.Certificate()
		o.status, o.variables = f.Status(), len(p.X)*s.Machines
		o.certificate = solvers.Certificate{Primal: s.Primal, Dual: s.Dual, Gap: s.Gap, MaxKKT: s.MaxKKT}
		for _, m := range f.Machines() {
			o.certificate.Bias = max(o.certificate.Bias, math.Abs(m.Certificate.Bias))
		}
		audit(f)
	}
	return o
}

// extreme reports whether costs times kernel values are so large that rounding alone may leave
// a large relative gap.
func (p *problem) extreme() bool { return max(1, p.largest())*max(1, p.dearest()) >= 1e8 }

// largest returns the largest K(x, x).
func (p *problem) largest() float64 {
	kernel, k := p.kernel(), 0.0
	if kernel == nil {
		return 1 // Gaussian
	}
	for _, x := range p.X {
		k = max(k, kernel.Eval(x, x))
	}
	return k
}

// dearest returns the largest cost C of a point.
func (p *problem) dearest() float64 {
	if p.Weights == nil {
		return p.C
	}
	return p.C * slices.Max(p.Weights)
}

// typed reports whether an error names its cause by type.
func typed(err error) bool {
	is := []error{solvers.ErrUnsupported, solvers.ErrUnbounded, solvers.ErrDiverging, solvers.ErrInaccurate, solvers.ErrBelowStart, context.DeadlineExceeded}
	as := []any{new(*svmnb.ArgumentError), new(*solvers.ProblemError), new(*kernels.ParamError), new(*kernels.DataError), new(*datasets.ClassError), new(*datasets.Error)}
	return slices.ContainsFunc(is, func(known error) bool { return errors.Is(err, known) }) ||
		slices.ContainsFunc(as, func(target any) bool { return errors.As(err, target) })
}

// far is the relative gap above which solvers refuse a run that could not improve any more.
const far = 0.5

// judge checks one outcome by itself.
func judge(p *problem, m method, o outcome) *complaint {
	standing := m.Method == nil
	if o.err != nil {
		switch {
		case !typed(o.err):
			return complain("untyped error", "%v", o.err)
		case standing && (errors.Is(o.err, solvers.ErrUnsupported) || errors.Is(o.err, solvers.ErrUnbounded) && p.Form != hardMargin):
			return complain("the default refuses", "%v", o.err)
		case o.audit == nil, errors.Is(o.err, solvers.ErrInaccurate), errors.Is(o.err, solvers.ErrBelowStart): // such an error says that there is no answer
			return nil
		}
	}
	a, c := o.audit, o.certificate
	if a == nil {
		return complain("no audit", "neither an error nor an audit")
	}
	values := append([]float64{a.Dual, a.Gap, a.Violation, a.UpLow, c.Dual, c.Gap, c.MaxKKT, c.Bias}, o.values...)
	if slices.ContainsFunc(values, math.IsNaN) {
		return complain("NaN", "certificate %+v, audit %+v, values %v", c, a, o.values)
	}
	size := math.Abs(a.Dual) + math.Abs(a.Primal)
	if math.IsInf(size, 0) {
		size = math.Abs(a.Dual)
	}
	// The errors of plain sums of so many terms, and of kernel rows that are computed in
	// blocks.
	share := float64(1<<14+2*o.variables) * 0x1p-53
	if _, single := m.Method.(blocks.Decomposition); single || o.variables >= 512 {
		share += 0x1p-32
	}
	// If s'α differs a little from δ, W and the gap depend on the bias that one uses. Numbers
	// below 1e-300 have fewer digits.
	unequal := a.Equality * (1 + math.Abs(c.Bias) + math.Abs(c.Rho))
	tol, point := share*a.Size+1e-13*size+unequal+1e-300, share*a.ViolationSize
	for i, y := range p.Y { // C ξ, where ξ is a difference of numbers of this size
		c := 1.0
		if p.Weights != nil {
			c = p.Weights[i]
		}
		if (!p.Form.nu() || p.Form == nuSVR) && p.Form != hardMargin {
			tol += 0x1p-51 * p.C * c * (1 + math.Abs(y) + math.Abs(p.Offset))
		}
	}
	point += a.Equality * p.largest()          // if s'α ≠ δ, another origin of the points changes F by up to this
	if p.Form == nuSVC || p.Form == oneClass { // α goes up to 1, and sums over centred points have rounding errors of this size
		tol, point = tol+float64(len(p.X))*c.Rounding, point+c.Rounding
	}
	if p.Form == twoNorm || p.Form == quadraticSVR { // ½ Cξ², where ξ is only rounding
		tol += float64(len(p.X)) * p.dearest() * point * point
	}
	// A hard margin with a fixed bias may leave room on one side of the scaled w only. At the
	// optimum the last digit then decides whether the primal is finite.
	edge := p.Form == hardMargin && p.Bias == fixed && p.Offset != 0 && (a.Violation <= point || math.IsInf(c.Gap, 1))
	// A huge gap proves as little as an infinite one.
	edge = edge || (p.Form == hardMargin || p.extreme()) && min(a.Gap, c.Gap) > far*(1+math.Abs(a.Dual))
	for _, f := range []struct {
		name           string
		claimed, audit float64
		tol            float64
	}{{"W", c.Dual, a.Dual, tol}, {"the gap", c.Gap, a.Gap, tol}, {"the largest violation", c.MaxKKT, a.Violation, point}} {
		if c.Claimed || f.claimed == f.audit || f.name == "the gap" && edge {
			continue
		}
		if d := math.Abs(f.claimed - f.audit); !(d <= f.tol) {
			return complain("certificate and audit", "%s is %.15g by the certificate, %.15g by the audit, %.2g apart where rounding explains %.2g", f.name, f.claimed, f.audit, d, f.tol)
		}
	}
	if a.Box > 0 {
		return complain("box", "α leaves its box by %g", a.Box)
	}
	if a.Gap < -tol {
		return complain("negative gap", "%g, where rounding explains %g", a.Gap, tol)
	}
	if o.status == solvers.Converged && a.UpLow > p.Tol+point {
		return complain("status", "%v by m − M ≤ %g, but m − M is %g by the audit, where rounding explains %.2g", o.status, p.Tol, a.UpLow, point)
	}
	// A method that begins inside the box may have W < W(0) when it is interrupted.
	if !p.Form.nu() && o.status != solvers.Interrupted && a.Dual < -tol-1e-9*math.Abs(c.Bias)*a.Equality {
		return complain("below the start", "W = %g, and W(0) = 0; status %v, error %v", a.Dual, o.status, o.err)
	}
	left := tol // bound of the gap that rounding leaves
	if p.Form == nuSVR {
		total := p.C * p.Nu * float64(len(p.X)) // Σ(α + α̂), to which the rounding of F is proportional
		left += 0x1p-52 * p.largest() * total * total
	}
	if p.extreme() {
		left = math.Inf(1)
	}
	// For points far from the origin the certificate, which uses their middle as the origin,
	// is more exact than the audit.
	scale := 1 + math.Abs(a.Primal)
	if !(c.Gap <= far*(1+math.Abs(c.Primal))) {
		left = min(left, far*scale)
	}
	if standing && o.status == solvers.Exhausted && !(a.Gap <= 1e-3*scale+left) {
		return complain("the default ends far off", "%v with W = %g and a gap of %g; rounding explains %.2g", o.status, a.Dual, a.Gap, tol)
	}
	return nil
}

// interval is the range in which W* must be according to one solver.
type interval struct {
	who       string
	low, high float64
}

func (o outcome) interval(who string, p *problem) (interval, bool) {
	if o.audit == nil {
		return interval{}, false
	}
	a := o.audit
	slack := a.Rounding + 1e-15*math.Abs(a.Dual)
	if a.Equality > 0 {
		slack += a.Equality * (1 + math.Abs(o.certificate.Bias) + math.Abs(o.certificate.Rho) + p.largest())
	}
	return interval{who, a.Dual - slack, a.Primal + slack}, true
}

// disagreement returns a complaint if no W* is in all intervals.
func disagreement(all []interval) *complaint {
	low, high := interval{low: math.Inf(-1)}, interval{high: math.Inf(1)}
	for _, i := range all {
		if i.low > low.low {
			low = i
		}
		if i.high < high.high {
			high = i
		}
	}
	if low.low > high.high {
		return complain("disagreement", "%s reaches W = %.15g, by %s nothing above %.15g exists", low.who, low.low, high.who, high.high)
	}
	return nil
}

// pick chooses the methods for a problem: the default and three others.
func pick(seed, number uint64, p *problem) []method {
	rng := rand.New(rand.NewPCG(seed, ^number))
	if p.Form == crammerSinger {
		return []method{standard}
	}
	list := []method{standard}
	others := 3
	if len(p.X) > 200 {
		others = 1
	}
	for _, k := range rng.Perm(len(several))[:others] {
		if n, ok := several[k].Method.(solvers.Needer); ok {
			if needs := n.Needs(); needs.FixedBias && p.Bias == free || needs.Linear && p.kernel() == nil {
				continue // this method would get a different problem
			}
		}
		list = append(list, several[k])
	}
	return list
}

// failure is a complaint about a problem and a method.
type failure struct {
	p problem
	m method
	c *complaint
}

// tally counts the outcomes of all fits.
type tally struct {
	Problems, Fits, Refused, Converged, Early, Exact, Peers int
	Classes                                                 map[string]int
}

// try runs all methods on a problem.
func try(p *problem, methods []method, precise bool, peers *peers, t *tally) *failure {
	t.Problems++
	var all []interval
	size := 0.0
	for _, m := range methods {
		o, c := solve(p, m)
		t.Fits++
		if c == nil {
			c = judge(p, m, o)
		}
		if c != nil {
			return &failure{*p, m, c}
		}
		switch {
		case o.err != nil:
			t.Refused++
		case o.status == solvers.Converged:
			t.Converged++
		default:
			t.Early++
		}
		name := cmp.Or(m.text, "the default")
		if i, ok := o.interval(name, p); ok {
			all = append(all, i)
			size = max(size, o.audit.Size)
		}
	}
	if len(all) == 0 {
		return nil
	}
	if precise {
		if w, ok := exactly(p); ok {
			t.Exact++
			slack := 0x1p-48*size + 1e-12*math.Abs(w) // the error of kernel values that Eval has rounded
			all = append(all, interval{"the exact programme", w - slack, w + slack})
		}
	}
	if peers != nil {
		if found := peers.solve(p); len(found) > 0 {
			t.Peers += len(found)
			all = append(all, found...)
		}
	}
	if c := disagreement(all); c != nil {
		return &failure{*p, methods[0], c}
	}
	return nil
}

// numbers returns the problem as matrices, if it is a single programme: K including τ², the
// costs, and the vectors of the programme.
func (p *problem) numbers() (k [][]float64, cost []float64, ok bool) {
	if p.Form.many() {
		return nil, nil, false
	}
	kernel := p.kernel()
	if kernel == nil {
		kernel = kernels.RBF(kernels.GammaScale(p.X))
	}
	tau2 := 0.0
	if p.Bias == augmented {
		if tau2 = p.Tau2; tau2 == kernels.Radius {
			tau2 = kernels.Radius2(kernel, p.X)
		}
	}
	for i, x := range p.X {
		row := make([]float64, len(p.X))
		for j, z := range p.X {
			row[j] = kernel.Eval(x, z) + tau2
			if !(math.Abs(row[j]) < 1e60) {
				return nil, nil, false
			}
		}
		k = append(k, row)
		c := p.C
		if p.Form == ridge {
			c = 1 / p.C
		}
		if p.Weights != nil {
			c *= p.Weights[i]
		}
		cost = append(cost, c)
	}
	return k, cost, true
}

// exactly solves a small problem by [exact].
func exactly(p *problem) (w float64, ok bool) {
	n := len(p.X)
	if n > 10 || p.Form.regression() && n > 5 {
		return 0, false
	}
	k, cost, ok := p.numbers()
	if !ok {
		return 0, false
	}
	var s, linear, lower, upper, diag []float64
	sides := 1
	if p.Form.regression() {
		sides = 2
	}
	for side := range sides {
		for i, y := range p.Y {
			sign, lin, up, r := y, -1.0, cost[i], 0.0
			switch p.Form {
			case twoNorm:
				up, r = math.Inf(1), 1/cost[i]
			case hardMargin:
				up = math.Inf(1)
			case nuSVC:
				lin, up = 0, 1
			case oneClass:
				sign, lin, up = 1, 0, 1
			case epsilonSVR, quadraticSVR, ridge, nuSVR, quantile, huber:
				sign = float64(1 - 2*side)
				epsilon := p.Epsilon
				if p.Form != epsilonSVR && p.Form != quadraticSVR {
					epsilon = 0
				}
				lin = epsilon - sign*y
				if p.Form == quadraticSVR || p.Form == ridge {
					up, r = math.Inf(1), 1/cost[i]
				}
				switch {
				case p.Form == quantile && side == 0:
					up *= p.tau()
				case p.Form == quantile:
					up *= 1 - p.tau()
				case p.Form == huber:
					r = p.delta() / cost[i]
				}
			}
			if p.Bias == fixed || p.Bias == augmented {
				lin += sign * p.Offset
			}
			s, linear, lower, upper, diag = append(s, sign), append(linear, lin), append(lower, 0), append(upper, up), append(diag, r)
		}
	}
	q := make([][]float64, len(s))
	for a := range q {
		for b := range s {
			q[a] = append(q[a], s[a]*s[b]*k[a%n][b%n])
		}
	}
	var equal [][]float64
	var right []float64
	ones := slices.Repeat([]float64{1}, len(s))
	switch {
	case p.Form == oneClass:
		equal, right = [][]float64{ones}, []float64{p.Nu * float64(n)}
	case p.Form == nuSVC:
		equal, right = [][]float64{s, ones}, []float64{0, p.Nu * float64(n)}
	case p.Form == nuSVR:
		equal, right = [][]float64{s, ones}, []float64{0, p.C * p.Nu * float64(n)}
	case p.Bias == free:
		equal, right = [][]float64{s}, []float64{0}
	}
	w = exact(q, diag, linear, lower, upper, equal, right)
	return w, !math.IsNaN(w)
}
