package svmnb

import (
	"cmp"
	"math"
	"slices"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/points"
)

// Bounds returns bounds of f*, the decision function at the exact optimum, at m points:
// lower[i] ≤ f*(x_i) ≤ upper[i]. They follow from the duality gap of the fit, so a fit with a
// smaller gap has narrower bounds. They hold for every f* if the optimum has several. The
// bounds are in docs/math.md, "How far f is from the optimum".
//
// Errors are those of Values, and an *ArgumentError for ν machines, one class, a fit in a
// pipeline, and a fit that was interrupted before its gap was exact.
func (f *Fit) Bounds(x datasets.Points) (lower, upper []float64, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, nil, arguments.NoFit("Bounds")
	}
	if f.task.margin == nuSoft || f.task.margin == oneClass {
		return nil, nil, arguments.Wrong("Bounds", math.NaN(), "the bounds are for machines with a C or a hard margin, and this fit is a ν machine or of one class")
	}
	p := points.From(x)
	values, err := f.expansion.At("Bounds", "classifier", p)
	if err != nil {
		return nil, nil, err
	}
	return f.task.machine.boundsOfOptimum(f.task.problem, &f.Result, p, values)
}

// Certain reports for each of m points whether its predicted label is that of the exact
// optimum: it is where both bounds of f* have the sign of f. Errors are those of Bounds.
func (f *Fit) Certain(x datasets.Points) ([]bool, error) {
	lower, upper, err := f.Bounds(x)
	if err != nil {
		return nil, err
	}
	values, err := f.Values(x)
	if err != nil {
		return nil, err
	}
	certain := make([]bool, len(lower))
	for i, v := range values {
		certain[i] = lower[i] > 0 && v > 0 || upper[i] < 0 && v < 0
	}
	return certain, nil
}

// Certain reports for each of m points whether its predicted class is that of the exact optimum
// of all machines. With OneVsOne, a machine whose sign could still change may vote for either
// of its classes. Errors are those of Decisions, and an *ArgumentError for CrammerSinger, ν
// machines and a fit that was interrupted.
func (f *MultiFit) Certain(x datasets.Points) (_ []bool, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, arguments.NoFit("Certain")
	}
	if f.machines == nil {
		return nil, arguments.Wrong("Certain", math.NaN(), "the bounds are of single machines; use OneVsOne or OneVsRest")
	}
	decisions, err := f.decisions("Certain", points.From(x))
	if err != nil {
		return nil, err
	}
	lower, upper := make([][]float64, len(f.machines)), make([][]float64, len(f.machines))
	for k, m := range f.machines {
		if lower[k], upper[k], err = m.Bounds(x); err != nil {
			return nil, err
		}
	}
	certain := make([]bool, len(decisions))
	low, high := make([]float64, len(f.machines)), make([]float64, len(f.machines))
	for i, values := range decisions {
		for k := range f.machines {
			low[k], high[k] = lower[k][i], upper[k][i]
		}
		certain[i] = f.task.scheme.Keeps(f.winner(values), len(f.task.classes), f.task.duels, low, high)
	}
	return certain, nil
}

// Bounds returns bounds of f*, the regression at the exact optimum, at m points; see
// [Fit.Bounds].
func (f *RegressionFit) Bounds(x datasets.Points) (lower, upper []float64, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, nil, arguments.NoFit("Bounds")
	}
	if f.task.problem.PerClass {
		return nil, nil, arguments.Wrong("Bounds", math.NaN(), "the bounds are for regressions with an ε, and this one has a ν")
	}
	p := points.From(x)
	values, err := f.expansion.At("Bounds", "regression", p)
	if err != nil {
		return nil, nil, err
	}
	return f.task.machine.boundsOfOptimum(f.task.problem, &f.Result, p, values)
}

// boundsOfOptimum returns the bounds of f* at the points x, where f has the given values.
func (m *machine) boundsOfOptimum(p *solvers.Problem, res *solvers.Result, x points.Points, values []float64) (lower, upper []float64, err error) {
	if res.F == nil {
		return nil, nil, arguments.Wrong("Bounds", math.NaN(), "the gap of this fit was not computed afresh; fit again and let the run end")
	}
	k := m.kernel
	if m.tau2 != 0 {
		k = kernels.Augmented(k, m.tau2)
	}
	g, err := x.Gram(k, kernels.NoCache)
	if err != nil {
		return nil, nil, err
	}
	self := g.Diag()
	lower, upper = make([]float64, len(values)), make([]float64, len(values))
	b := &ball{p: p, res: res, gap: max(0, res.Certificate.Gap) + res.Certificate.Rounding*(1+sum(res.Alpha)) + res.Certificate.Equality*math.Abs(res.Certificate.Bias)}
	b.dualOnly = p.Ridge != nil || math.IsInf(slices.Max(p.Upper), 1)
	for i := range values {
		lower[i], upper[i] = math.Inf(-1), math.Inf(1)
		if p.FixedBias {
			half := b.half(self[i], 0)
			lower[i], upper[i] = values[i]-half, values[i]+half
		}
	}
	for _, side := range []float64{1, -1} {
		if err := b.narrow(lower, upper, side, m.data, k, x, values, self); err != nil {
			return nil, nil, err
		}
	}
	for i, v := range values { // f itself and its kernel values are rounded
		off := 1e-12*(math.Abs(v)+sum(res.Alpha)*math.Abs(self[i])) + res.Certificate.Rounding
		lower[i], upper[i] = lower[i]-off, upper[i]+off
	}
	return lower, upper, nil
}

func sum(v []float64) (s float64) {
	for _, a := range v {
		s += math.Abs(a)
	}
	return s
}

// ball knows where the w of the exact optimum can be.
type ball struct {
	p        *solvers.Problem
	res      *solvers.Result
	gap      float64
	dualOnly bool // the primal value is not that of (w, b), so only the dual bounds ‖w − w*‖
}

// half returns the largest ‖w − w*‖·√norm2 + t for which c‖w − w*‖² + room·t ≤ gap, with c = 1,
// or ½ if only the dual bounds ‖w − w*‖. A room of 0 stands for no t.
func (b *ball) half(norm2, room float64) float64 {
	c, norm := 1.0, math.Sqrt(max(0, norm2))
	if b.dualOnly {
		c = 0.5
	}
	if r := room * norm / (2 * c); room > 0 && c*r*r <= b.gap {
		return b.gap/room + r*norm/2
	}
	return math.Sqrt(b.gap/c) * norm
}

// corner is a mean of training points in feature space, with weights v ≥ 0 that sum to 1.
type corner struct {
	v     []float64 // for each of the points of narrow
	f     float64   // Σ v_i F_i
	norm2 float64   // ‖Σ v_i φ(x_i)‖², with the ridge
	room  float64   // by how much α can move along v
}

const (
	cornerPoints  = 256 // most training points in corners
	cornerCentres = 24  // points around which corners are made
)

// narrow narrows the bounds from one side. With side 1 it raises lower bounds, by points
// whose s α can rise, otherwise it lowers upper bounds, by points whose s α can fall.
func (b *ball) narrow(lower, upper []float64, side float64, data *datasets.Dataset, k kernels.Kernel, x points.Points, values, self []float64) error {
	p, alpha, f := b.p, b.res.Alpha, b.res.F
	n := data.N()
	room := func(u int) float64 {
		if side > 0 {
			return p.Rise(u, alpha[u])
		}
		return p.Fall(u, alpha[u])
	}
	up, low := math.Inf(-1), math.Inf(1)
	for u, a := range alpha {
		if p.CanRise(u, a) {
			up = max(up, f[u])
		}
		if p.CanFall(u, a) {
			low = min(low, f[u])
		}
	}
	var list []int // variables whose F is as good as that of a free one
	for u, a := range alpha {
		if side > 0 && p.CanRise(u, a) && f[u] >= min(up, low) || side < 0 && p.CanFall(u, a) && f[u] <= max(up, low) {
			if room(u) > 0 {
				list = append(list, u)
			}
		}
	}
	if len(list) == 0 {
		return nil
	}
	slices.SortStableFunc(list, func(u, v int) int { return cmp.Compare(room(v), room(u)) })
	list = list[:min(len(list), cornerPoints)]
	at, rooms, ridge, offset := make([]int, len(list)), make([]float64, len(list)), make([]float64, len(list)), make([]float64, len(list))
	for r, u := range list {
		at[r], rooms[r], offset[r] = u%n, room(u), f[u]
		if math.IsInf(rooms[r], 1) { // without a bound any length will do
			rooms[r] = max(1, slices.Max(alpha))
		}
		if p.Ridge != nil {
			ridge[r] = p.Ridge[u]
		}
	}
	some := points.Of(data).Some(at)
	g, err := some.Gram(k, 0)
	if err != nil {
		return err
	}
	corners := cornersOf(g, rooms, ridge, offset)
	coef, dst := make([][]float64, len(corners)), make([][]float64, len(corners))
	for c := range corners {
		coef[c], dst[c] = corners[c].v, make([]float64, len(values))
	}
	x.AddTimes(dst, some.Basis(k), coef)
	bias := b.res.Certificate.Bias
	for c, o := range corners {
		for i, v := range values {
			half := b.half(self[i]-2*dst[c][i]+o.norm2, o.room)
			if centre := v - bias + o.f; side > 0 {
				lower[i] = max(lower[i], centre-half)
			} else {
				upper[i] = min(upper[i], centre+half)
			}
		}
	}
	return nil
}

// cornersOf makes corners of the points of g: one of all points, and around some of them
// smaller and smaller ones. Weights are in proportion to the room, which makes the room of the
// corner largest, times a power of the kernel value with its centre.
func cornersOf(g *kernels.Gram, rooms, ridge, offset []float64) (corners []corner) {
	n := g.Dim()
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = slices.Clone(g.Row(i))
	}
	diag := g.Diag()
	add := func(v []float64) {
		total := 0.0
		for _, w := range v {
			total += w
		}
		if !(total > 0) || math.IsInf(total, 1) {
			return
		}
		o := corner{v: v, room: math.Inf(1)}
		for i := range v {
			v[i] /= total
		}
		for i, w := range v {
			if w == 0 {
				continue
			}
			o.room = min(o.room, rooms[i]/w)
			o.f += w * offset[i]
			o.norm2 += w * w * ridge[i]
			for j, u := range v {
				if u != 0 {
					o.norm2 += w * u * rows[i][j]
				}
			}
		}
		corners = append(corners, o)
	}
	add(slices.Clone(rooms))
	for c := range min(n, cornerCentres) {
		k := c * n / min(n, cornerCentres)
		for _, power := range []float64{1, 4, 16, 64} {
			v := make([]float64, n)
			for i := range v {
				near := rows[k][i] / math.Sqrt(diag[k]*diag[i])
				if near > 0 && !math.IsInf(near, 1) {
					v[i] = rooms[i] * math.Pow(near, power)
				}
			}
			add(v)
		}
		one := make([]float64, n)
		one[k] = 1
		add(one)
	}
	return corners
}
