package svmnb

import (
	"cmp"
	"math"
	"slices"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/vec"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/points"
)

// Bounds returns bounds of f*, the decision function at the exact optimum, at m points:
// lower[i] ≤ f*(x_i) ≤ upper[i]. They follow from the duality gap of the fit, so a fit with a
// smaller gap has narrower bounds. They hold for every f* if the optimum has several. The
// bounds are in docs/math.md, "How far f is from the optimum". A ν machine or a machine of one
// class has f in units of its ρ, of which bounds are known too; while ρ* may be 0, a bound is
// infinite.
//
// Errors are those of Values, and an *ArgumentError for a fit in a pipeline, and for one that
// was interrupted before its gap was exact.
func (f *Fit) Bounds(x datasets.Points) (lower, upper []float64, err error) {
	defer guard.Caught(&err)
	p, values, b, err := f.around("Bounds", x)
	if err != nil {
		return nil, nil, err
	}
	return f.scaledBounds(b, p, values, thorough)
}

// scaledBounds returns bounds of f*, where the function of the problem has these values.
func (f *Fit) scaledBounds(b *ball, p points.Points, values []float64, e effort) (lower, upper []float64, err error) {
	if lower, upper, err = b.bounds(p, values, e); err != nil || !f.task.scaled() {
		return lower, upper, err
	}
	if f.task.margin == enclosing { // the scale is known
		for i := range lower {
			lower[i], upper[i] = f.scale*lower[i], f.scale*upper[i]
		}
		return lower, upper, nil
	}
	least, most, err := b.rho(f.task.margin == oneClass)
	for i := range lower {
		lower[i], upper[i] = over(lower[i], least, most), -over(-upper[i], least, most)
	}
	return lower, upper, err
}

// over returns the smallest v/ρ for ρ between least and most.
func over(v, least, most float64) float64 {
	switch {
	case v > 0 && most > 0:
		return v / most
	case least > 0:
		return v / least
	}
	return math.Inf(-1)
}

// scaled reports whether f is the function of the problem divided by ρ.
func (t *task) scaled() bool { return t.margin == nuSoft || t.margin.alone() }

// Certain reports for each of m points whether its predicted label is that of the exact
// optimum: it is where both bounds of f* have the sign of f. Errors are those of Bounds.
func (f *Fit) Certain(x datasets.Points) (_ []bool, err error) {
	defer guard.Caught(&err)
	p, values, b, err := f.around("Certain", x)
	if err != nil {
		return nil, err
	}
	return b.certain(p, values, f.line/f.scale, quick, thorough)
}

// around returns the points, the function of the problem there, and the ball of its optimum.
func (f *Fit) around(call string, x datasets.Points) (p points.Points, values []float64, b *ball, err error) {
	if f.none() {
		return p, nil, nil, arguments.NoFit(call)
	}
	p = points.From(x)
	if values, err = f.expansion.At(call, "classifier", p); err != nil {
		return p, nil, nil, err
	}
	b, err = f.ball(call)
	return p, divided(values, f.scale), b, err
}

// ball returns the ball of the fit's optimum, for values of f divided by the scale.
func (f *Fit) ball(call string) (*ball, error) {
	b, err := f.task.around(call, f.task.problem, &f.Result)
	if err == nil && f.task.margin == enclosing {
		b.less = 1 / f.scale
	}
	return b, err
}

func divided(values []float64, by float64) []float64 {
	if by == 1 {
		return values
	}
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = v / by
	}
	return out
}

// Certain reports for each of m points whether its predicted class is that of the exact optimum
// of all machines. With OneVsOne, a machine whose sign could still change may vote for either
// of its classes. Errors are those of Decisions and of [Fit.Bounds].
func (f *MultiFit) Certain(x datasets.Points) (_ []bool, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, arguments.NoFit("Certain")
	}
	p := points.From(x)
	decisions, err := f.decisions("Certain", p)
	if err != nil {
		return nil, err
	}
	return f.certain(p, decisions)
}

// certain is Certain at points with these decision values.
func (f *MultiFit) certain(x points.Points, decisions [][]float64) ([]bool, error) {
	if f.joint != nil {
		return f.certainJointly(x, decisions)
	}
	certain, machines := make([]bool, len(decisions)), len(f.machines)
	low, high := make([]float64, machines), make([]float64, machines)
	rows := vec.Indices[int](len(decisions))
	for _, e := range []effort{quick, thorough} {
		if len(rows) == 0 {
			break
		}
		lower, upper, some := make([][]float64, machines), make([][]float64, machines), x.Some(rows)
		for k, m := range f.machines {
			b, err := m.task.around("Certain", m.task.problem, &m.Result)
			if err != nil {
				return nil, err
			}
			values := make([]float64, len(rows))
			for r, i := range rows {
				values[r] = decisions[i][k] / m.scale
			}
			if lower[k], upper[k], err = m.scaledBounds(b, some, values, e); err != nil {
				return nil, err
			}
		}
		var open []int
		for r, i := range rows {
			for k := range machines {
				low[k], high[k] = lower[k][r], upper[k][r]
			}
			if certain[i] = f.task.scheme.Keeps(f.winner(decisions[i]), len(f.task.classes), f.task.duels, low, high); !certain[i] {
				open = append(open, i)
			}
		}
		rows = open
	}
	return certain, nil
}

// certainJointly is Certain for CrammerSinger. All w_k together lie in one ball of radius √G,
// so the lead of one class over another changes by at most √(2 G K(x, x)).
func (f *MultiFit) certainJointly(x points.Points, decisions [][]float64) ([]bool, error) {
	c, t := f.joint.Certificate, f.task
	g, err := x.Gram(t.base.lifted(), kernels.NoCache)
	if err != nil {
		return nil, err
	}
	total := sum(f.joint.Alpha)
	gap := max(0, c.Gap) + c.Rounding*(1+total)
	certain := make([]bool, len(decisions))
	for i, self := range g.Diag() {
		best := f.winner(decisions[i])
		second := math.Inf(-1)
		for k, v := range decisions[i] {
			if k != best {
				second = max(second, v)
			}
		}
		certain[i] = decisions[i][best]-second > math.Sqrt(2*gap*max(0, self))+1e-12*(math.Abs(second)+total*math.Abs(self))+2*c.Rounding
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
	p := points.From(x)
	values, err := f.expansion.At("Bounds", "regression", p)
	if err != nil {
		return nil, nil, err
	}
	b, err := f.task.around("Bounds", f.task.problem, &f.Result)
	if err != nil {
		return nil, nil, err
	}
	return b.bounds(p, values, thorough)
}

// ball knows where the w of the exact optimum can be, from an α in the box and its gap.
type ball struct {
	m        *machine
	p        *solvers.Problem
	alpha, f []float64
	gap      float64
	bias     float64 // of the f whose bounds are asked for
	off      float64 // rounding error of F
	less     float64 // f has −less·K(x, x) besides the function of the problem
	dualOnly bool    // the primal value is not that of (w, b), so only the dual bounds ‖w − w*‖
}

// lifted returns the kernel, with the constant of Augment.
func (m *machine) lifted() kernels.Kernel {
	if m.tau2 != 0 {
		return kernels.Augmented(m.kernel, m.tau2)
	}
	return m.kernel
}

func interruptedFit(call string) error {
	return arguments.Wrong(call, math.NaN(), "the gap of this fit was not computed afresh; fit again and let the run end")
}

// around returns the ball of a result.
func (m *machine) around(call string, p *solvers.Problem, res *solvers.Result) (*ball, error) {
	if res.F == nil {
		return nil, interruptedFit(call)
	}
	c := res.Certificate
	return m.ball(p, res.Alpha, res.F, max(0, c.Gap)+c.Equality*(math.Abs(c.Bias)+math.Abs(c.Rho)), c.Bias, c.Rounding), nil
}

// ball returns the ball of any α and F with this gap; off is the rounding error of F.
func (m *machine) ball(p *solvers.Problem, alpha, f []float64, gap, bias, off float64) *ball {
	return &ball{m, p, alpha, f, gap + off*(1+sum(alpha)), bias, off, 0, p.Ridge != nil || math.IsInf(slices.Max(p.Upper), 1)}
}

// effort limits the work for a bound: the most training points in corners, and the number of
// points around which corners are made.
type effort struct{ points, centres int }

var (
	quick    = effort{32, 4}
	thorough = effort{256, 24}
)

// bounds returns the bounds of f* at the points x, where f has the given values.
func (b *ball) bounds(x points.Points, values []float64, e effort) (lower, upper []float64, err error) {
	g, err := x.Gram(b.m.lifted(), kernels.NoCache)
	if err != nil {
		return nil, nil, err
	}
	self, total := g.Diag(), sum(b.alpha)
	if b.less != 0 {
		values = slices.Clone(values)
		for i, k := range self {
			values[i] += b.less * k
		}
	}
	lower, upper = make([]float64, len(values)), make([]float64, len(values))
	for i := range values {
		lower[i], upper[i] = math.Inf(-1), math.Inf(1)
		if b.p.FixedBias {
			half := b.half(self[i], 0)
			lower[i], upper[i] = values[i]-half, values[i]+half
		}
	}
	for _, side := range []float64{1, -1} {
		if err := b.narrow(lower, upper, side, e, x, values, self); err != nil {
			return nil, nil, err
		}
	}
	for i, v := range values { // f itself and its kernel values are rounded
		off := 1e-12*(math.Abs(v)+total*math.Abs(self[i])) + b.off
		lower[i], upper[i] = lower[i]-off-b.less*self[i], upper[i]+off-b.less*self[i]
	}
	return lower, upper, nil
}

// certain reports where the sign of f*, and of f + line, is the same for all f* within the
// bounds. Most signs are certain by quick bounds, which come first; only the others need the rest.
func (b *ball) certain(x points.Points, values []float64, line float64, efforts ...effort) ([]bool, error) {
	certain := make([]bool, len(values))
	rows := vec.Indices[int](len(values))
	for _, e := range efforts {
		if len(rows) == 0 {
			break
		}
		lower, upper, err := b.bounds(x.Some(rows), pick(values, rows), e)
		if err != nil {
			return nil, err
		}
		var open []int
		for k, i := range rows {
			inside := machines.SideOf(values[i]+line) == 1
			if certain[i] = lower[k] > 0 && inside || upper[k] < 0 && !inside; !certain[i] {
				open = append(open, i)
			}
		}
		rows = open
	}
	return certain, nil
}

// rho returns bounds of ρ at the exact optimum of a ν machine: half the difference of the two
// multipliers of a ν-SVC, or −b for one class.
func (b *ball) rho(oneClass bool) (least, most float64, err error) {
	least, most = math.Inf(-1), math.Inf(1)
	for _, side := range []float64{1, -1} {
		corners, _, err := b.corners(side, !oneClass, thorough)
		if err != nil {
			return 0, 0, err
		}
		for _, c := range corners {
			half := b.half(c.norm2, c.room) + b.off
			switch {
			case oneClass && side > 0: // b* ≥ f − half
				most = min(most, half-c.f)
			case oneClass:
				least = max(least, -c.f-half)
			case side > 0:
				least = max(least, c.f-half)
			default:
				most = min(most, c.f+half)
			}
		}
	}
	return least, most, nil
}

func sum(v []float64) (s float64) {
	for _, a := range v {
		s += math.Abs(a)
	}
	return s
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

// corner is a combination of training points in feature space. Its weights v sum to 1 in
// absolute value, or to ½ for the points of each class if each class has a multiplier.
type corner struct {
	v     []float64 // for each of the points of corners
	f     float64   // Σ v_i F_i
	norm2 float64   // ‖Σ v_i φ(x_i)‖², with the ridge
	room  float64   // by how much α can move along v
}

// narrow narrows the bounds from one side. With side 1 it raises lower bounds, by points
// whose s α can rise, otherwise it lowers upper bounds, by points whose s α can fall.
func (b *ball) narrow(lower, upper []float64, side float64, e effort, x points.Points, values, self []float64) error {
	corners, some, err := b.corners(side, false, e)
	if err != nil || len(corners) == 0 {
		return err
	}
	coef, dst := make([][]float64, len(corners)), make([][]float64, len(corners))
	for c := range corners {
		coef[c], dst[c] = corners[c].v, make([]float64, len(values))
	}
	x.AddTimes(dst, some.Basis(b.m.lifted()), coef)
	for c, o := range corners {
		for i, v := range values {
			half := b.half(self[i]-2*dst[c][i]+o.norm2, o.room)
			if centre := v - b.bias + o.f; side > 0 {
				lower[i] = max(lower[i], centre-half)
			} else {
				upper[i] = min(upper[i], centre+half)
			}
		}
	}
	return nil
}

// corners returns corners for bounds from one side, and the training points of their weights.
// With opposed, the points of class +1 have negative weights and move the other way.
func (b *ball) corners(side float64, opposed bool, e effort) ([]corner, points.Points, error) {
	p, alpha, f, n := b.p, b.alpha, b.f, b.m.data.N()
	class := func(u int) int {
		if p.PerClass && p.S[u] > 0 {
			return 1
		}
		return 0
	}
	sides := [2]float64{side, side}
	if opposed {
		sides[1] = -side
	}
	room := func(u int) float64 {
		if sides[class(u)] > 0 {
			return p.Rise(u, alpha[u])
		}
		return p.Fall(u, alpha[u])
	}
	up, low := [2]float64{math.Inf(-1), math.Inf(-1)}, [2]float64{math.Inf(1), math.Inf(1)}
	for u, a := range alpha {
		c := class(u)
		if p.CanRise(u, a) {
			up[c] = max(up[c], f[u])
		}
		if p.CanFall(u, a) {
			low[c] = min(low[c], f[u])
		}
	}
	var lists [2][]int // for each class, variables whose F is as good as that of a free one
	for u, a := range alpha {
		c := class(u)
		if sides[c] > 0 && p.CanRise(u, a) && f[u] >= min(up[c], low[c]) || sides[c] < 0 && p.CanFall(u, a) && f[u] <= max(up[c], low[c]) {
			if room(u) > 0 {
				lists[c] = append(lists[c], u)
			}
		}
	}
	most := e.points
	if p.PerClass {
		most /= 2
	}
	var list []int
	for _, l := range lists {
		slices.SortStableFunc(l, func(u, v int) int { return cmp.Compare(room(v), room(u)) })
		list = append(list, l[:min(len(l), most)]...)
	}
	if len(list) == 0 {
		return nil, points.Points{}, nil
	}
	at, of := make([]int, len(list)), make([]place, len(list))
	for r, u := range list {
		at[r] = u % n
		of[r] = place{class: class(u), room: room(u), f: f[u], sign: sides[class(u)] * side}
		if math.IsInf(of[r].room, 1) { // without a bound any length will do
			of[r].room = max(1, slices.Max(alpha))
		}
		if p.Ridge != nil {
			of[r].ridge = p.Ridge[u]
		}
	}
	some := points.Of(b.m.data).Some(at)
	g, err := some.Gram(b.m.lifted(), 0)
	if err != nil {
		return nil, some, err
	}
	classes := 1
	if p.PerClass {
		classes = 2
	}
	return cornersOf(g, of, classes, e.centres), some, nil
}

// place is what corners need of a variable.
type place struct {
	class                int
	room, ridge, f, sign float64
}

// cornersOf makes corners of the points of g: one of all points, and around some of them
// smaller and smaller ones. Weights are in proportion to the room, which makes the room of the
// corner largest, times a power of the kernel value with its centre.
func cornersOf(g *kernels.Gram, of []place, classes, centres int) (corners []corner) {
	n := g.Dim()
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = slices.Clone(g.Row(i))
	}
	diag := g.Diag()
	add := func(v []float64) {
		var total [2]float64
		for i, w := range v {
			total[of[i].class] += w
		}
		for c := range classes {
			if !(total[c] > 0) || math.IsInf(total[c], 1) {
				return
			}
		}
		o := corner{v: v, room: math.Inf(1)}
		for i, w := range v {
			if w == 0 {
				continue
			}
			w /= total[of[i].class] * float64(classes)
			o.room = min(o.room, of[i].room/w)
			v[i] = w * of[i].sign
		}
		for i, w := range v {
			if w == 0 {
				continue
			}
			o.f += w * of[i].f
			o.norm2 += w * w * of[i].ridge
			for j, u := range v {
				if u != 0 {
					o.norm2 += w * u * rows[i][j]
				}
			}
		}
		corners = append(corners, o)
	}
	all := make([]float64, n)
	for i := range all {
		all[i] = of[i].room
	}
	add(all)
	for c := range min(n, centres) {
		k := c * n / min(n, centres)
		near, nearest := make([]float64, n), [2]int{-1, -1}
		for i := range near {
			if near[i] = rows[k][i] / math.Sqrt(diag[k]*diag[i]); !(near[i] > 0) || math.IsInf(near[i], 1) {
				near[i] = 0
			}
			if c := of[i].class; i == k || of[k].class != c && (nearest[c] < 0 || near[i] > near[nearest[c]]) {
				nearest[c] = i
			}
		}
		for _, power := range []float64{1, 4, 16, 64} {
			v := make([]float64, n)
			for i := range v {
				v[i] = of[i].room * math.Pow(near[i], power)
			}
			add(v)
		}
		one := make([]float64, n)
		for _, i := range nearest[:classes] {
			if i >= 0 {
				one[i] = 1
			}
		}
		add(one)
	}
	return corners
}
