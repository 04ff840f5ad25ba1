package linear

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/svmnb/svmnb/internal/chol"
	"github.com/svmnb/svmnb/internal/vec"
)

// CG is the method of conjugate gradients (Hestenes and Stiefel 1952; CST Table 7.3, completed
// by the lines that the table omits). From any x, with g = b − Ax and h = g,
//
//	λ = g'g / h'Ah,  x ← x + λh,  g₊ = g − λAh,  γ = g₊'g₊ / g'g,  h ← g₊ + γh.
//
// One pass over K per iteration serves all right-hand sides. If K is neither kept nor held, a
// pass computes the half up to the diagonal anew, in blocks. In exact arithmetic n iterations
// solve the system. In floating point some tens are enough if A is well conditioned, and an
// ill-conditioned A may need many more than n.
//
// From 4,096 points on, K is held in single precision if its 2n² bytes fit into what
// Settings.Memory leaves, or by default into half of the memory that the machine has free.
// Passes then read this copy and sum in double precision. When the rounding of K may have made
// g meaningless (van der Vorst and Ye 2000), g is computed afresh from K itself and the run
// restarts from there. The answer is therefore as good as in double precision, and every bound
// holds (single.go).
//
// All passes are in double precision with Double or GibbsMacKay, if the noise is so small that
// rounding K could make A indefinite, or if the residual does not improve. Then g is computed
// afresh every 50 iterations, in the same pass, and memory grows in proportion to n.
//
// Each iteration bounds b'A⁻¹b from both sides (bounds.go). The lower bound costs nothing
// more: 2Q(x_k) = 2Q(x_0) + Σ_{j<k} λ_j g_j'g_j.
type CG struct {
	// Rank, if positive, is the largest number of columns of L in the preconditioner P = LL' +
	// diag(noise), where L is the pivoted Cholesky factor of K, cut off after these columns
	// (Gardner et al. 2018). It costs Rank rows of K and 32 n Rank bytes, and pays if the
	// eigenvalues of K fall quickly. Every noise must be positive. There are fewer columns if
	// the trace of K − LL' falls to the least noise, since A ≤ 2P then.
	//
	// [AutoRank] takes 2√n columns, or n/8 if that is less: making P then takes about as long as
	// some twenty passes over K. If a noise is 0, it takes no preconditioner.
	Rank int

	// GibbsMacKay adds a second run for another upper bound, which is tighter in early
	// iterations and looser later (Gibbs and MacKay 1997, §3.3). It doubles the cost.
	GibbsMacKay bool

	Double bool // make all passes in double precision, whatever n

	// Rough is for systems of which only the first digits of the solution are needed. It holds K in
	// single precision even where the noise is so small that rounding might make A indefinite. Points
	// of the trace then have no bounds, until Solve computes the residual afresh in double precision.
	// If that residual does not improve, the passes are in double precision from then on.
	Rough bool
}

// AutoRank is the CG.Rank that is chosen by the number of points.
const AutoRank = -1

// rank returns the rank for n points.
func (m CG) rank(n int) int {
	if m.Rank == AutoRank {
		return int(min(float64(n)/8, 2*math.Sqrt(float64(n))))
	}
	return m.Rank
}

// Name returns, for example, "CG", "CG, rank 20" or "CG, rank by rule".
func (m CG) Name() string {
	name := "CG"
	switch {
	case m.Rank == AutoRank:
		name += ", rank by rule"
	case m.Rank > 0:
		name += fmt.Sprintf(", rank %d", m.Rank)
	}
	if m.GibbsMacKay {
		name += " with Gibbs–MacKay bound"
	}
	return name
}

// Memory returns, in bytes, 48n for each right-hand side (104n with GibbsMacKay) and 32n for
// each column of the preconditioner. The copy of K in single precision is not included,
// because it is made only if there is room.
func (m CG) Memory(n, q int) float64 {
	vectors := 6 * float64(q)
	if m.GibbsMacKay {
		vectors = 13 * float64(q)
	}
	return 8 * float64(n) * (vectors + 4*float64(min(m.rank(n), n)))
}

// Start implements Method.
func (m CG) Start(s *System, b, x [][]float64) (Stepper, error) {
	c := &cg{method: m, s: s, theta: s.theta(), runs: make([]*cgRun, len(b))}
	c.bounded = c.theta > 0
	switch {
	case m.Rank < AutoRank:
		return nil, wrong("CG.Rank", -1, float64(m.Rank), "is %d; it must be positive, AutoRank, or 0 for no preconditioner", m.Rank)
	case c.theta == 0 && m.Rank > 0:
		return nil, wrong("Noise", -1, 0, "is 0 somewhere, or so small beside K that rounding hides it; a preconditioner, CG.Rank, needs noise at every point")
	case c.theta == 0 && m.GibbsMacKay:
		return nil, wrong("Noise", -1, 0, "is 0 somewhere, or so small beside K that rounding hides it; the bound of Gibbs and MacKay needs noise at every point")
	}
	n := s.K.Dim()
	if m.Rank = m.rank(n); c.theta == 0 {
		m.Rank = 0
	}
	c.method = m
	for j := range c.runs {
		r := &cgRun{b: b[j], x: x[j], g: make([]float64, n), h: make([]float64, n), ah: make([]float64, n), ax: make([]float64, n), steady: math.Inf(1)}
		if m.Rank > 0 {
			r.pg = make([]float64, n)
		}
		c.runs[j] = r
		c.warm = c.warm || norm(r.x) > 0
	}
	if !c.warm {
		c.begin()
		c.opened = m.Rank == 0 && !m.GibbsMacKay
	}
	return c, nil
}

type cg struct {
	method  CG
	s       *System
	theta   float64         // A ⪰ θI or, with a preconditioner, A ⪰ θP with θ = 1 up to rounding; 0 if no such bound is known
	bounded bool            // A ⪰ diag(floor) with floors above 0
	p       *preconditioner // nil without preconditioner
	k       *single         // the K that passes read; nil in double precision
	hold    bool            // k shall be made
	refused bool            // single precision does not suffice
	rough   bool            // k may be too far from K for any bound
	warm    bool            // the start x of some run is not 0
	known   bool            // g belongs to the current x
	opened  bool            // open has been called
	runs    []*cgRun
	steps   int
	x, y    [][]float64 // the vectors that a pass multiplies by A, and the products

	keep   bool                              // store the coefficients of each iteration
	report func(stage string, share float64) // hears of the preparation; may be nil
}

// cgRun is the run for one right-hand side.
type cgRun struct {
	b, x     []float64
	g        []float64 // the residual b − Ax
	z        []float64 // P⁻¹g, stored in pg; without preconditioner g itself
	pg       []float64
	h, ah    []float64 // the search direction, and A times it
	ax       []float64 // A times x, when g is computed afresh
	gg       float64   // g'z
	lower    float64   // 2Q(x)
	c        float64   // Gauss–Radau bound: g'A⁻¹g ≤ c g'z
	steady   float64   // ‖g‖ at the last restart from a fresh residual
	finished bool
	second   *cgSecond

	base []float64 // x when g was last computed afresh; only with k
	gone float64   // ‖x − base‖

	start         float64 // g'z at the beginning
	lambda, gamma []float64
	restarted     bool
}

// open makes the preconditioner, the residuals of a warm start, and the second runs.
func (c *cg) open(ctx context.Context) error {
	if c.method.Rank > 0 && c.p == nil {
		p, err := c.s.precondition(ctx, c.method.Rank, c.prepared)
		if err != nil {
			return err
		}
		c.p = p
	}
	if c.hold {
		if err := c.hold32(ctx); err != nil {
			return err
		}
	}
	c.theta = c.least()
	if c.warm {
		if err := c.multiply(ctx, func(r *cgRun) { c.x, c.y = append(c.x, r.x), append(c.y, r.ax) }); err != nil {
			return err
		}
	}
	if c.method.GibbsMacKay {
		if err := c.openSecond(ctx); err != nil {
			return err
		}
	}
	c.begin()
	c.opened = true
	return nil
}

// multiply multiplies vectors of all runs by A in one pass. The function from collects the
// vectors of a run.
func (c *cg) multiply(ctx context.Context, from func(r *cgRun)) error {
	c.x, c.y = c.x[:0], c.y[:0]
	for _, r := range c.runs {
		from(r)
	}
	return c.s.Times(ctx, c.y, c.x)
}

func (c *cg) begin() {
	for _, r := range c.runs {
		for i, b := range r.b {
			r.g[i] = b - r.ax[i]
		}
		c.restart(r)
		r.start = r.gg
	}
	c.known = true
}

// restart makes the current g the first residual of a new run.
func (c *cg) restart(r *cgRun) {
	c.solve(r)
	copy(r.h, r.z)
	r.lower = inner(r.b, r.x) + inner(r.g, r.x)
	r.c = 1 / c.theta
	r.finished = !(r.gg > tiny)
}

// tiny is the g'g below which products may underflow.
const tiny = 1e-280

// solve computes z and g'z from g.
func (c *cg) solve(r *cgRun) {
	if r.z = r.g; c.p != nil {
		r.z = r.pg
		copy(r.z, r.g)
		c.p.Solve(r.z)
	}
	r.gg = inner(r.g, r.z)
}

// afresh is the number of iterations after which the residual is computed afresh. In between
// it is only updated.
const afresh = 50

func (c *cg) Step(ctx context.Context, settled []bool) (done bool, err error) {
	if !c.opened {
		if err := c.open(ctx); err != nil {
			return false, err
		}
	}
	busy := func(j int) bool { return !settled[j] && !c.runs[j].finished }
	if c.k != nil {
		if err := c.replace(ctx, busy); err != nil {
			return false, err
		}
	}
	fresh := c.k == nil && c.steps%afresh == afresh-1
	c.x, c.y = c.x[:0], c.y[:0]
	for j, r := range c.runs {
		if busy(j) {
			c.x, c.y = append(c.x, r.h), append(c.y, r.ah)
			if fresh {
				c.x, c.y = append(c.x, r.x), append(c.y, r.ax)
			}
			if r.second != nil && !r.second.finished {
				c.x, c.y = append(c.x, r.second.h), append(c.y, r.second.bh)
			}
		}
	}
	if len(c.x) == 0 {
		return true, nil
	}
	if err := c.times(ctx, c.y, c.x); err != nil {
		return false, err
	}
	if c.method.GibbsMacKay {
		if err := c.stepSecond(ctx, busy); err != nil {
			return false, err
		}
	}
	done = true
	for j, r := range c.runs {
		if busy(j) {
			if err := c.advance(j, fresh); err != nil {
				return false, err
			}
			done = done && r.finished
		}
	}
	c.steps++
	return done, nil
}

// advance makes the iteration of right-hand side j. If fresh is set, ax is A times the x
// before this iteration.
func (c *cg) advance(j int, fresh bool) error {
	r := c.runs[j]
	curvature := inner(r.h, r.ah)
	if c.rough && !(curvature > 0) { // rounding of K has made A indefinite
		c.refused = true
		return nil
	}
	if err := c.positive(j, curvature); err != nil {
		return err
	}
	lambda := r.gg / curvature
	vec.Axpy(r.x, lambda, r.h)
	vec.Axpy(r.g, -lambda, r.ah)
	if c.k != nil {
		r.gone = distance(r.x, r.base)
	}
	before := r.gg
	c.solve(r)
	gamma := r.gg / before
	r.lower += lambda * before
	// Gauss–Radau (Meurant and Tichý 2013, eq. 3.13). No eigenvalue is below θ, so c > λ in
	// exact arithmetic. c = 1/θ is always a valid bound.
	r.c = radau(r.c-lambda, gamma, c.theta)
	if c.keep && !r.restarted {
		r.lambda, r.gamma = append(r.lambda, lambda), append(r.gamma, gamma)
	}
	if fresh {
		for i, b := range r.b {
			r.ax[i] = b - r.ax[i] - lambda*r.ah[i]
		}
		if c.adopt(r, r.ax) {
			return nil
		}
	}
	for i, z := range r.z {
		r.h[i] = z + gamma*r.h[i]
	}
	r.finished = !(r.gg > tiny)
	return nil
}

func radau(rest, gamma, theta float64) float64 {
	if !(rest > 0 && theta > 0) {
		return 1 / theta
	}
	return rest / (theta*rest + gamma)
}

// adopt replaces g by a residual that was computed afresh. The difference δ of the two is
// rounding, which the Gauss–Radau bound does not cover. In the norm of A⁻¹ it adds
//
//	‖g‖ ≤ √(c g'z) + √(Σ δ_i²/noise_i).
//
// If the second term exceeds a tenth of the first, rounding dominates: the run restarts from
// g, and adopt returns true. The run is finished if it has not halved the residual since its
// last restart.
func (c *cg) adopt(r *cgRun, g []float64) (restarted bool) {
	if c.k != nil {
		c.resume(r, g)
		return true
	}
	drift := r.ah
	for i, v := range g {
		drift[i] = v - r.g[i]
	}
	known, lost := math.Sqrt(r.c*r.gg), math.Sqrt(c.s.energy(drift))
	if c.theta == 0 {
		known, lost = norm(r.g), norm(drift)
	}
	copy(r.g, g)
	if lost > 0.1*known {
		c.restart(r)
		size := norm(g)
		r.restarted = true
		r.finished = r.finished || !(size <= r.steady/2)
		r.steady = size
		return true
	}
	c.solve(r)
	r.lower = inner(r.b, r.x) + inner(r.g, r.x)
	if c.theta > 0 && r.gg > 0 {
		r.c = min(1/c.theta, (known+lost)/r.gg*(known+lost))
	}
	return false
}

// Refresh implements Refresher.
func (c *cg) Refresh(g [][]float64) (more bool) {
	if !c.opened {
		return true
	}
	for j, r := range c.runs {
		c.adopt(r, g[j])
		if k := j + len(c.runs); k < len(g) {
			copy(r.second.rest, g[k])
			c.boundSecond(r)
		}
		more = more || !r.finished
	}
	return more
}

// positive returns an error unless h'Ah is positive and h'Kh is not negative, up to rounding.
func (c *cg) positive(j int, curvature float64) error {
	h, size, noise := c.runs[j].h, 0.0, 0.0
	for i, k := range c.s.K.Diag() {
		size += math.Sqrt(k) * math.Abs(h[i])
		noise += c.s.noise(i) * h[i] * h[i]
	}
	if math.IsInf(size*size+noise, 1) || math.IsInf(curvature, 0) || math.IsNaN(curvature) {
		return wrong("b", j, norm(c.runs[j].b), "is too large to square: divide b by the scale of its entries")
	}
	rounding := float64(len(h)) * 0x1p-52 * size * size
	if c.k != nil {
		rounding += c.k.off * inner(h, h)
	}
	if k := curvature - noise; !(curvature > 0) || k < -rounding || noise == 0 && k <= rounding {
		k /= inner(h, h)
		return &IndefiniteError{Method: c.method.Name(), Row: -1, Value: k, Need: max(-2*k, float64(len(h))*0x1p-52*size*size/inner(h, h))}
	}
	return nil
}

func (c *cg) Report(points []Point) {
	if !c.known {
		return
	}
	for j := range points {
		pt, r := &points[j], c.runs[j]
		if pt.Residual = norm(r.g); c.rough {
			continue
		}
		if pt.Lower = r.lower; !c.bounded {
			continue
		}
		skilling, radau := c.skilling(r), math.Inf(1)
		if c.theta > 0 {
			radau = r.c * r.gg
		}
		if c.k != nil {
			pt.Lower, skilling, radau = c.enclose(r, skilling, radau)
		}
		pt.Skilling, pt.Radau, pt.Energy = pt.Lower+skilling, pt.Lower+radau, min(skilling, radau)
		if r.second != nil && c.opened {
			pt.GibbsMacKay = r.second.upper
		}
	}
}

// skilling returns an upper bound of g'A⁻¹g that holds for any vector g.
func (c *cg) skilling(r *cgRun) float64 {
	energy := c.s.energy(r.g)
	if c.p != nil {
		energy = min(energy, r.gg/c.theta)
	}
	return energy
}

// preconditioner is P = LL' + D, D = diag(noise), for which A ⪰ P − rounding·D.
type preconditioner struct {
	*chol.LowRank
	rounding float64
}

// precondition returns P = LL' + diag(noise), ready to solve. L comes from [chol.Pivoted]. P
// is inverted in product form, which keeps the digits that Woodbury's formula loses if the
// noise is small. As K − LL' ⪰ 0, A ⪰ P. Rounding in the entries of L changes an entry of LL' by
// ε√(K_ii K_jj) at most, so it leaves K − LL' ⪰ −nε diag(K) ⪰ −rounding·D.
//
// tell hears which share of the columns is done.
func (s *System) precondition(ctx context.Context, rank int, tell func(stage string, share float64)) (*preconditioner, error) {
	n := s.K.Dim()
	rank = min(rank, n)
	trace := 0.0
	for _, k := range s.K.Diag() {
		trace += k
	}
	columns, err := chol.Pivoted(ctx, &telling{Matrix: s.K, rows: rank, tell: tell}, rank, s.theta()/trace)
	var left *chol.IndefiniteError
	switch {
	case errors.As(err, &left):
		return nil, &IndefiniteError{Method: "pivoted Cholesky", Row: left.Row, Value: left.Value, Need: -2 * left.Value}
	case err != nil:
		return nil, err
	}
	p := &preconditioner{LowRank: chol.NewLowRank(columns, fill(n, 1), nil)}
	most := 0.0
	for i, k := range s.K.Diag() {
		most = max(most, k/s.Noise[i])
	}
	p.rounding = float64(n) * float64(len(columns)+10) * 0x1p-53 * most
	_, err = p.Factor(ctx, s.Noise)
	return p, err
}

// telling is a matrix that tells how many of its rows have been read.
type telling struct {
	chol.Matrix
	rows, read int
	tell       func(stage string, share float64)
}

func (w *telling) Row(i int) []float64 {
	w.tell("preconditioner", float64(w.read)/float64(w.rows))
	w.read++
	return w.Matrix.Row(i)
}
