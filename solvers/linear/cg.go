package linear

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/svmnb/svmnb/internal/chol"
	"github.com/svmnb/svmnb/internal/vec"
)

// CG is the method of conjugate gradients (Hestenes and Stiefel 1952; CST Table 7.3,
// with the lines that it leaves out). From any x, with g = b − Ax and h = g,
//
//	λ = g'g / h'Ah,  x ← x + λh,  g₊ = g − λAh,  γ = g₊'g₊ / g'g,  h ← g₊ + γh.
//
// One pass over K per iteration serves all right-hand sides. In exact arithmetic n
// iterations solve the system; rounding delays that without limit where A is
// ill-conditioned, and some tens are enough where it is not.
//
// From 4,096 points on, where the memory for the method has room for 2n² bytes more in a
// quarter of it, K is held in single precision, and passes are over that, with sums in
// double precision. Where g may have lost its meaning by that (van der Vorst and Ye 2000)
// it is computed afresh from K as it is, and the run starts again from there, so that the
// answer is as good as that of double precision, and every bound holds (single.go).
// Double, a noise so small that rounding K could make A indefinite, GibbsMacKay, and a
// residual that does not improve have all passes made in double precision; then g is
// computed afresh every 50 iterations, in the same pass, and memory grows with n.
//
// Each iteration bounds b'A⁻¹b from both sides (bounds.go). The lower bound is
// free: 2Q(x_k) = 2Q(x_0) + Σ_{j<k} λ_j g_j'g_j.
type CG struct {
	// Rank, when positive, preconditions by P = LL' + diag(noise), L the first columns
	// of the pivoted Cholesky factor of K, n × Rank (Gardner et al. 2018). That asks
	// for Rank rows of K and 24 n Rank bytes, and wins where the eigenvalues of K fall
	// quickly. Every noise must be positive.
	Rank int

	// GibbsMacKay adds a second run, whose upper bound is tighter at first and looser
	// later (Gibbs and MacKay 1997, §3.3). It doubles the cost.
	GibbsMacKay bool

	Double bool // no pass in single precision, whatever n
}

// Name is "CG", "CG, rank 20" and the like.
func (m CG) Name() string {
	name := "CG"
	if m.Rank > 0 {
		name += fmt.Sprintf(", rank %d", m.Rank)
	}
	if m.GibbsMacKay {
		name += " with Gibbs–MacKay bound"
	}
	return name
}

// Memory returns 48n for each right-hand side, 104n with GibbsMacKay, and
// 32n for each column of the preconditioner. K in single precision is not counted: it is
// held where there is room for it.
func (m CG) Memory(n, q int) float64 {
	vectors := 6 * float64(q)
	if m.GibbsMacKay {
		vectors = 13 * float64(q)
	}
	return 8 * float64(n) * (vectors + 4*float64(min(m.Rank, n)))
}

// Start implements Method.
func (m CG) Start(s *System, b, x [][]float64) (Stepper, error) {
	c := &cg{method: m, s: s, theta: s.theta(), runs: make([]*cgRun, len(b))}
	c.bounded = c.theta > 0
	switch {
	case m.Rank < 0:
		return nil, wrong("CG.Rank", -1, float64(m.Rank), "is %d; it must be positive, or 0 for no preconditioner", m.Rank)
	case c.theta == 0 && m.Rank > 0:
		return nil, wrong("Noise", -1, 0, "is 0 somewhere, or so small beside K that rounding hides it; a preconditioner, CG.Rank, needs noise at every point")
	case c.theta == 0 && m.GibbsMacKay:
		return nil, wrong("Noise", -1, 0, "is 0 somewhere, or so small beside K that rounding hides it; the bound of Gibbs and MacKay needs noise at every point")
	}
	n := s.K.Dim()
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
	theta   float64         // A ⪰ θI, or A ⪰ θP, where θ is 1 but for rounding; 0 where there is none
	bounded bool            // A ⪰ diag(floor) with floors above 0
	p       *preconditioner // nil without
	k       *single         // K as passes have it; nil in double precision
	hold    bool            // k is wanted
	refused bool            // k does not do
	warm    bool            // a run starts elsewhere than at 0
	known   bool            // g is that of x
	opened  bool            // what asks for rows before the first iteration is done
	runs    []*cgRun
	steps   int
	x, y    [][]float64 // what is multiplied by A in a pass, and the products

	keep bool // the coefficients of each iteration
}

// cgRun is one right-hand side.
type cgRun struct {
	b, x     []float64
	g        []float64 // the residual b − Ax
	z        []float64 // P⁻¹g, which is pg, or g without preconditioner
	pg       []float64
	h, ah    []float64 // the direction, and A times it
	ax       []float64 // A times x, now and then
	gg       float64   // g'z
	lower    float64   // 2Q(x)
	c        float64   // g'A⁻¹g ≤ c g'z by Gauss and Radau
	steady   float64   // ‖g‖ when g was last found to have drifted
	finished bool
	second   *cgSecond

	base []float64 // x when g was last computed afresh, where k is held
	gone float64   // ‖x − base‖

	start         float64 // g'z at the beginning
	lambda, gamma []float64
	restarted     bool
}

// open makes the preconditioner, the residual of a warm start, and the second run.
func (c *cg) open(ctx context.Context) error {
	if c.method.Rank > 0 && c.p == nil {
		p, err := c.s.precondition(ctx, c.method.Rank)
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

// multiply collects vectors from each run and multiplies them in one pass.
func (c *cg) multiply(ctx context.Context, from func(r *cgRun)) error {
	c.x, c.y = c.x[:0], c.y[:0]
	for _, r := range c.runs {
		from(r)
	}
	return c.s.times(ctx, c.y, c.x)
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

// restart goes on from g as if it were the first.
func (c *cg) restart(r *cgRun) {
	c.solve(r)
	copy(r.h, r.z)
	r.lower = inner(r.b, r.x) + inner(r.g, r.x)
	r.c = 1 / c.theta
	r.finished = !(r.gg > tiny)
}

// tiny is a g'g from which on products may underflow.
const tiny = 1e-280

// solve brings z and g'z up to date.
func (c *cg) solve(r *cgRun) {
	if r.z = r.g; c.p != nil {
		r.z = r.pg
		copy(r.z, r.g)
		c.p.Solve(r.z)
	}
	r.gg = inner(r.g, r.z)
}

// afresh is how many iterations are made with a residual that is only updated.
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

// advance makes the iteration of one right-hand side. With fresh, ax is A times the
// x before it.
func (c *cg) advance(j int, fresh bool) error {
	r := c.runs[j]
	curvature := inner(r.h, r.ah)
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
	// Gauss–Radau (Meurant and Tichý 2013, eq. 3.13). In exact arithmetic c > λ, as
	// no eigenvalue is below θ; 1/θ is always right.
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

// adopt replaces g by a residual computed afresh. Their difference is rounding, for
// which Gauss and Radau do not speak; in the norm of A⁻¹ it adds
//
//	‖g‖ ≤ √(c g'z) + √(Σ δ_i²/noise_i),  δ = the difference.
//
// Where that is a tenth of the first term rounding has the word: the run starts again
// from g, and returns true. It is finished if that has not halved the residual since
// the last time.
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

// positive returns an error unless h'Ah is positive and h'Kh not negative, but for
// rounding.
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
		pt.Residual, pt.Lower = norm(r.g), r.lower
		if !c.bounded {
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

// skilling returns what bounds g'A⁻¹g whatever g is.
func (c *cg) skilling(r *cgRun) float64 {
	energy := c.s.energy(r.g)
	if c.p != nil {
		energy = min(energy, r.gg/c.theta)
	}
	return energy
}

// preconditioner is P, with A ⪰ (1 − rounding)P.
type preconditioner struct {
	*chol.LowRank
	rounding float64
}

// precondition returns P = LL' + diag(noise), ready to solve. L is that of
// [chol.Pivoted], and P is inverted in product form: it is the formula of Woodbury, with the
// digits that this loses where the noise is small. As K − LL' ⪰ 0, A ⪰ P; entries of L
// that are off by their rounding make it A ⪰ (1 − rounding)P.
func (s *System) precondition(ctx context.Context, rank int) (*preconditioner, error) {
	n := s.K.Dim()
	columns, err := chol.Pivoted(ctx, s.K, min(rank, n), 0)
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
