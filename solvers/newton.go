package solvers

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/svmnb/svmnb/internal/chol"
	"github.com/svmnb/svmnb/internal/parallel"
	"github.com/svmnb/svmnb/internal/simd"
)

// Newton solves linear machines by minimising over the d weights, not the n multipliers. It
// needs a Problem whose K is [Features], and is the method of choice for n ≫ d.
//
// With a ridge in every coordinate, as for the 2-norm loss, the α that belongs to (w, b) is
// explicit, and so is a convex primal objective P,
//
//	α_i(w, b) = [−(s_i(w·x_i + b) + p_i)/ridge_i] clipped to its box,
//	∇P = (w − Σ s_i α_i x_i, δ − s'α),  H = diag(1, …, 1, 0) + Σ_J x̃_i x̃_i'/ridge_i,
//
// where x̃ = (x, 1) and J is the set of α inside their boxes. P is quadratic as long as J does
// not change. Newton's method with a line search therefore ends at the minimum after finitely
// many steps (Mangasarian 2002; Keerthi and DeCoste 2005, §3). Lin, Weng and Keerthi (2008)
// use a trust region in place of the line search.
//
// Without ridge, as for the 1-norm loss, P has kinks. The dual is then solved by proximal
// steps (Rockafellar 1976; in the primal they are the method of multipliers),
//
//	α ← arg min ½a'Qa + p'a + ½r‖a − α‖²,
//
// Each of them is a problem with the ridge r. Newton's method solves it as above until the
// duality gap of this problem, ½‖w − Σ s_i α_i x_i‖², is a tenth of ½r‖a − α‖². The solution
// does not require r → 0, but with a smaller r fewer proximal steps are needed and each takes
// more Newton steps. So r starts at about 1/C and falls while these are few. This is the
// semismooth Newton augmented Lagrangian method of Li, Sun and Toh (2018), here with a free
// bias too.
//
// Some points need not be visited in a step: those whose α is at a bound, and whose margin is
// farther from the kink than ‖x̃‖ times the distance that (w, b) has moved. Late steps
// therefore read few rows of X, with the same result.
//
// An iteration is a proximal step, or a Newton step if no proximal steps are needed. A run
// takes five or ten iterations whatever n and C. Each makes some passes over X and O(|J|d² +
// d³) operations. Newton takes all boxes, any p, δ and ridge, a free or a fixed bias, and at
// most 1000 columns. The points are divided into fixed parts for GOMAXPROCS goroutines, so the
// result has the same bits for any number of them. Dot and Add of Features are called from all
// goroutines. Memory is about 8(18n + 9d²) bytes beside X.
type Newton struct{}

// Name is "primal Newton".
func (Newton) Name() string { return "primal Newton" }

// MostColumns is the largest number of columns that [Newton] takes. The Hessian then takes 8
// MB.
const MostColumns = 1000

// WantsFeatures implements FeatureReader.
func (Newton) WantsFeatures(Shape) bool { return true }

// Needs implements Needer.
func (Newton) Needs() Needs { return Needs{Linear: true} }

// Start implements Method.
func (Newton) Start(p *Problem, alpha []float64) (Stepper, error) {
	x, ok := p.K.(Features)
	if !ok {
		return nil, fmt.Errorf("%w: Newton's method works on the weights of a linear machine and needs the linear kernel's Features; use SMO for other kernels", ErrUnsupported)
	}
	n, d := len(alpha), x.Columns()
	if d > MostColumns {
		return nil, fmt.Errorf("%w: the Hessian of %d columns is too large: Newton takes at most %d; use CoordinateDescent", ErrUnsupported, d, MostColumns)
	}
	size := d
	if !p.FixedBias {
		size++
	}
	s := &newton{p: p, x: x, d: d, size: size, shown: alpha, alpha: slices.Clone(alpha), state: make([]uint8, n), step: math.NaN(), best: math.Inf(1)}
	for _, v := range []*[]float64{&s.f, &s.z, &s.dz, &s.c, &s.q, &s.r, &s.wake, &s.near} {
		*v = make([]float64, n)
	}
	for _, v := range []*[]float64{&s.u, &s.du, &s.image, &s.g} {
		*v = make([]float64, size)
	}
	s.h, s.row, s.normal = chol.New[float64](size), make([]float64, size), make([]float64, d)
	for k := range s.of {
		of := &s.of[k]
		of.from, of.to = k*n/parts, (k+1)*n/parts
		of.moving, of.free = make([]int, 0, of.to-of.from), make([]int, 0, of.to-of.from)
		of.kinks = make([]kink, 0, of.to-of.from)
		of.sums, of.h = make([]float64, size), make([]float64, size*size)
		if _, sparse := s.x.(*SparseFeatures); !sparse {
			of.rows = make([]float64, together*size)
		}
	}
	s.schedule()
	for i, a := range alpha {
		if a != 0 {
			x.Add(s.u[:d], i, p.S[i]*a)
		}
	}
	s.commit()
	s.begin()
	return s, nil
}

// parts is the number of parts of the points, whatever the number of goroutines.
const parts = 8

// newton is the workspace of a run.
type newton struct {
	p       *Problem
	x       Features
	d, size int // columns of X, and of x̃

	rho, first, least float64 // r and its limits; r is 0 if the ridge of the problem suffices
	endless           bool    // infinite upper bounds make the gap infinite
	best              float64 // the smallest gap
	still             int     // steps since best last fell by a tenth
	step              float64

	shown, f []float64 // the reported α, which is the centre of the proximal step, and its F
	normal   []float64 // w of shown
	seen     extent    // range of F
	gap      float64   // of shown; if endless, the violation of the KKT conditions

	u, du []float64             // (w, b) and its search direction
	image []float64             // (Σ s_i α_i x_i, s'α)
	g     []float64             // the gradient
	h     *chol.Panels[float64] // the Hessian, then its factor
	row   []float64             // scratch: a row of the Hessian
	moved float64               // ½r‖α − shown‖²

	alpha []float64 // α(u)
	c     []float64 // α(u) before clipping; c − tq at t along the direction
	q     []float64
	near  []float64 // slightly less than 1/‖x̃‖
	z, dz []float64 // w·x + b, and its change along the direction
	r     []float64 // the proximal constant r plus ridge_i
	wake  []float64 // the path length from which α may begin to move
	state []uint8   // followed, behind or asleep
	path  float64   // length of the path of u since begin
	t     float64   // length of the last step along the direction
	of    [parts]part
}

// These states say for which u the z, c and wake of a point are: followed for the current u,
// behind for the u before the last step, and asleep for an older u. direction updates points
// that are behind when it reads them anyway.
const (
	followed = iota
	behind
	asleep
)

// part is the workspace of one part of the points.
type part struct {
	from, to int
	moving   []int // points whose α the direction may change
	kinks    []kink
	free     []int // the points in J
	squared  []int // for sparse points, the points whose terms are in h

	sums, h []float64 // this part of the image and of the Hessian
	rows    []float64 // some rows of J, scaled
	pack    simd.Panels[float64]

	slope, curve, moved, gap float64
	seen                     extent
}

// kink has the values of one point that the function slope needs. The point is in the list
// moving.
type kink struct{ c, q, rq, lower, upper, alpha float64 }

// schedule sets the first and the smallest r. With the first, the zone in which α is inside
// its box is about as wide as the margin. With the smallest, the rounding error of z changes α
// by 1e-9.
func (s *newton) schedule() {
	p, n := s.p, float64(len(s.alpha))
	trace, size, width, thin := 0.0, 0.0, 0.0, math.Inf(1)
	for i, k := range p.K.Diag() {
		trace += k / n
		s.near[i] = 1 / (1.001 * math.Sqrt(k+float64(s.size-s.d)))
		size += math.Abs(p.P[i]) / n
		ridge := p.ridge(i)
		thin = min(thin, ridge)
		if u := p.Upper[i] - p.Lower[i]; !math.IsInf(u, 1) {
			width = max(width, u)
		} else if ridge == 0 {
			s.endless = true
		}
	}
	trace = cmp.Or(trace, 1)
	s.least = 1e-7 * trace
	if thin >= s.least {
		s.least = 0
		return
	}
	s.rho = trace
	if width > 0 && size > 0 {
		s.rho = size / width
		s.least = min(s.least, 1e-5*s.rho)
	}
	s.first = max(s.rho, trace)
}

// each calls f for all parts, on several goroutines if the number of products is large.
func (s *newton) each(products int, f func(of *part)) {
	workers := min(parts, runtime.GOMAXPROCS(0), products>>16)
	_ = parallel.For(context.Background(), workers, parts, func(_, k int) { f(&s.of[k]) })
}

// all returns the number of products of a pass over X.
func (s *newton) all() int { return len(s.alpha) * s.size }

// Report implements Stepper.
func (s *newton) Report(it *Iterate) {
	it.Alpha, it.F, it.Up, it.Low, it.Step, it.Sweep = s.shown, s.f, s.seen.up, s.seen.low, s.step, 1
	if s.size > s.d {
		it.Bias = s.u[s.d]
	}
}

// Refresh implements Refresher. It does nothing, because F is computed afresh after every
// step.
func (s *newton) Refresh([]float64) {}

// newtonSteps is the largest number of Newton steps in a proximal step. r falls only after a
// proximal step of at most fewSteps.
const newtonSteps, fewSteps = 50, 10

// stillSteps is the number of steps without gain after which only rounding is left.
const stillSteps = 10

// Step makes a proximal step, or a Newton step if no proximal steps are needed.
func (s *newton) Step(ctx context.Context) (done bool, err error) {
	steps := 0
	for ; steps < newtonSteps; steps++ {
		decrement, err := s.direction(ctx)
		if err != nil {
			return false, err
		}
		if !(decrement > 1e-25*simd.Dot(s.u, s.u)) {
			break
		}
		s.settle(s.search(decrement))
		if s.solved() {
			break
		}
	}
	s.still++
	if steps == newtonSteps && s.rho < s.first { // not solved: try again with a larger r
		s.rho = min(10*s.rho, s.first)
		s.locate()
		s.begin()
		return s.still > stillSteps, nil
	}
	s.balance()
	unbounded := s.recedes()
	s.commit()
	if unbounded() {
		return false, ErrUnbounded
	}
	if s.gap < 0.9*s.best {
		s.best, s.still = s.gap, 0
	}
	switch {
	case s.still > 0 && s.rho == s.least: // with this r the rounding of α is too coarse
		s.rho = min(10*s.rho, s.first)
		s.least = s.rho
	case steps <= fewSteps:
		s.rho = max(s.rho/3, s.least)
	}
	s.begin()
	return s.still > stillSteps, nil
}

// locate computes z = w·x + b of all points afresh.
func (s *newton) locate() {
	s.each(s.all(), func(of *part) {
		for i := of.from; i < of.to; i++ {
			s.z[i] = s.dot(i, s.u) + s.p.fixed()
		}
	})
}

// begin computes α of all points, its sums and the gradient from z.
func (s *newton) begin() {
	s.path = 0
	s.each(s.all(), func(of *part) {
		clear(of.sums)
		of.free, of.moved = of.free[:0], 0
		for i := of.from; i < of.to; i++ {
			s.state[i] = followed
			s.place(of, i)
		}
	})
	s.gather()
}

// settle moves u by t along the direction.
func (s *newton) settle(t float64) {
	length := 0.0
	for j, v := range s.du {
		s.u[j] += t * v
		length += v * v
	}
	s.path += t * math.Sqrt(length)
	s.t = t
	moving := 0
	for k := range s.of {
		moving += len(s.of[k].moving)
	}
	s.each(moving*s.size, func(of *part) {
		clear(of.sums)
		of.free = of.free[:0]
		for _, i := range of.moving {
			s.z[i] += t * s.dz[i]
			a := s.alpha[i] - s.shown[i]
			of.moved -= s.rho * a * a / 2
			s.place(of, i)
		}
	})
	s.gather()
}

// follow applies the last step to s.z, s.c and s.wake of point i, whose α did not change in
// this step.
func (s *newton) follow(i int) {
	s.z[i] += s.t * s.dz[i]
	s.c[i] -= s.t * s.q[i]
	s.wake[i] = s.path + math.Abs(s.c[i]-s.alpha[i])*s.r[i]*s.near[i]
	s.state[i] = followed
}

// place computes α of point i from z.
func (s *newton) place(of *part, i int) {
	p := s.p
	r := s.rho + p.ridge(i)
	s.r[i] = r
	c := s.unclipped(i)
	lower, upper := p.Lower[i], p.Upper[i]
	a, away := c, 0.0
	switch {
	case !(c > lower):
		a, away = lower, lower-c
	case !(c < upper):
		a, away = upper, c-upper
	default:
		of.free = append(of.free, i)
	}
	if lower == upper {
		away = math.Inf(1)
	}
	s.c[i] = c
	s.wake[i] = s.path + away*r*s.near[i]
	if change := a - s.alpha[i]; change != 0 {
		s.alpha[i] = a
		s.add(of.sums, i, p.S[i]*change)
	}
	a -= s.shown[i]
	of.moved += s.rho * a * a / 2
}

// unclipped returns α(u) of point i before clipping.
func (s *newton) unclipped(i int) float64 {
	return (s.rho*s.shown[i] - s.p.P[i] - s.p.S[i]*s.z[i]) / s.r[i]
}

// add adds a x̃_i to v.
func (s *newton) add(v []float64, i int, a float64) {
	s.x.Add(v[:s.d], i, a)
	if s.size > s.d {
		v[s.d] += a
	}
}

// dot returns v·x̃_i.
func (s *newton) dot(i int, v []float64) float64 {
	sum := s.x.Dot(i, v[:s.d])
	if s.size > s.d {
		sum += v[s.d]
	}
	return sum
}

// gather sums the results of place over all parts and computes the gradient.
func (s *newton) gather() {
	s.moved = 0
	for k := range s.of {
		s.moved += s.of[k].moved
		simd.Axpy(1, s.of[k].sums, s.image)
	}
	for j := range s.g {
		s.g[j] = s.u[j] - s.image[j]
	}
	if s.size > s.d {
		s.g[s.d] = s.p.Delta - s.image[s.d]
	}
}

// solved reports whether a proximal step is done: α satisfies the equality, and the duality
// gap of the step is small. Without proximal steps (r = 0) the equality alone suffices.
func (s *newton) solved() bool {
	if !s.p.FixedBias && !s.p.balanced(s.alpha) {
		return false
	}
	return s.rho == 0 || simd.Dot(s.g[:s.d], s.g)/2 <= 0.1*s.moved
}

// farthest is the largest t of a step along the direction.
const farthest = 2

// direction sets du to the Newton step and prepares the points that it may move. It returns
// the square of the Newton decrement, g'H⁻¹g.
func (s *newton) direction(ctx context.Context) (decrement float64, err error) {
	if err := s.hessian(ctx); err != nil {
		return 0, err
	}
	if pivot, err := s.h.Factor(ctx); pivot < s.size || err != nil {
		return 0, err // at most rounding is left, or ctx has ended
	}
	length := 0.0
	for j, v := range s.g {
		s.du[j] = -v
	}
	s.h.Forward(s.du)
	s.h.Backward(s.du)
	for j, v := range s.du {
		decrement -= v * s.g[j]
		length += v * v
	}
	reach := s.path + farthest*math.Sqrt(length)
	s.each(s.all(), func(of *part) {
		of.moving, of.kinks = of.moving[:0], of.kinks[:0]
		for i := of.from; i < of.to; i++ {
			if s.state[i] == behind {
				s.follow(i)
			}
			if s.wake[i] > reach {
				s.state[i] = asleep
				continue
			}
			if s.state[i] == asleep {
				s.z[i] = s.dot(i, s.u) + s.p.fixed()
				s.c[i] = s.unclipped(i)
			}
			dz := s.dot(i, s.du)
			q := s.p.S[i] * dz / s.r[i]
			s.dz[i], s.q[i] = dz, q
			c, a, lower, upper := s.c[i], s.alpha[i], s.p.Lower[i], s.p.Upper[i]
			if end := c - farthest*q; a == lower && c <= a && end <= a || a == upper && c >= a && end >= a {
				s.state[i] = behind // α stays at its bound
				continue
			}
			s.state[i] = followed // settle will update it
			of.moving, of.kinks = append(of.moving, i), append(of.kinks, kink{c, q, s.r[i] * q, lower, upper, a})
		}
	})
	return decrement, nil
}

// together is the number of rows of J that one product of matrices takes.
const together = 192

// hessian computes the lower half of H.
func (s *newton) hessian(ctx context.Context) error {
	sparse, _ := s.x.(*SparseFeatures)
	free := 0
	for k := range s.of {
		free += len(s.of[k].free)
	}
	s.each(free*s.size*s.size, func(of *part) {
		if sparse != nil {
			s.square(of, sparse)
			return
		}
		clear(of.h)
		for at := 0; at < len(of.free) && ctx.Err() == nil; at += together {
			some := of.free[at:min(at+together, len(of.free))]
			a := simd.Matrix[float64]{Data: of.rows, Rows: len(some), Cols: s.size, Stride: s.size}
			clear(of.rows)
			for k, i := range some {
				s.add(of.rows[k*s.size:(k+1)*s.size], i, 1/math.Sqrt(s.r[i]))
			}
			of.pack.Pack(a, 1)
			c := simd.Matrix[float64]{Data: of.h, Rows: s.size, Cols: s.size, Stride: s.size}
			simd.Gemm[float64]{Add: true, Lower: true, Threads: 1}.Do(c, a.T(), &of.pack)
		}
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	scale := 1.0
	if sparse != nil && s.p.Ridge == nil {
		scale = 1 / s.rho
	}
	s.h.Reset(s.size)
	for i := range s.row {
		row := s.row[:i+1]
		clear(row)
		for k := range s.of {
			if len(s.of[k].free) > 0 {
				simd.Axpy(scale, s.of[k].h[i*s.size:][:i+1], row)
			}
		}
		switch {
		case i < s.d:
			row[i]++
		case row[i] == 0:
			row[i] = s.flat()
		}
		s.h.SetRow(i, row)
	}
	return nil
}

// flat returns a curvature in b for the case that no α is inside its box, where P is linear in
// b. With it a step goes as far as the last kink.
func (s *newton) flat() float64 {
	far := 0.0
	for i := range s.wake {
		if s.state[i] == behind {
			s.follow(i)
		}
		if w := s.wake[i]; !math.IsInf(w, 1) {
			far = max(far, (w-s.path)/s.near[i])
		}
	}
	if h := math.Abs(s.g[s.d]) / far; h > 0 && !math.IsInf(h, 1) {
		return h
	}
	return 1
}

// square sets h of a part to Σ_J x̃_i x̃_i' for sparse points. It starts from the previous
// sum, and adds or subtracts the terms of points that have entered or left J. With a ridge
// each term has its own weight, so all are summed again.
func (s *newton) square(of *part, x *SparseFeatures) {
	was, now := of.squared, of.free
	if s.p.Ridge != nil || len(was) > 2*len(now) {
		clear(of.h)
		was = nil
	}
	for len(was) > 0 || len(now) > 0 {
		switch {
		case len(now) == 0 || len(was) > 0 && was[0] < now[0]:
			x.square(of.h, s.size, was[0], -1)
			was = was[1:]
		case len(was) == 0 || now[0] < was[0]:
			weight := 1.0
			if s.p.Ridge != nil {
				weight = 1 / s.r[now[0]]
			}
			x.square(of.h, s.size, now[0], weight)
			now = now[1:]
		default:
			was, now = was[1:], now[1:]
		}
	}
	of.squared = append(of.squared[:0], of.free...)
}

// search returns the t that minimises P along the direction. The slope of P is piecewise
// linear and grows. Newton's method with bisection looks for its zero and stops at a tenth of
// the slope at 0.
func (s *newton) search(decrement float64) float64 {
	lo, hi, t := 0.0, float64(farthest), 1.0
	for range 60 {
		slope, curve := s.slope(t)
		if slope -= decrement; math.Abs(slope) <= 0.1*decrement {
			break
		}
		if slope < 0 {
			lo = t
		} else {
			hi = t
		}
		if lo == farthest {
			break
		}
		if next := t - slope/curve; next > lo && next < hi {
			t = next
		} else if slope < 0 && hi == farthest {
			t = farthest
		} else {
			t = (lo + hi) / 2
		}
	}
	return t
}

// slope returns the derivative of P at t along the direction, less the derivative at 0, and
// the second derivative at t.
func (s *newton) slope(t float64) (slope, curve float64) {
	moving := 0
	for k := range s.of {
		moving += len(s.of[k].kinks)
	}
	s.each(8*moving, func(of *part) {
		slope, curve := 0.0, 0.0
		for k := range of.kinks {
			m := &of.kinks[k]
			a := m.c - t*m.q
			if a <= m.lower {
				a = m.lower
			} else if a >= m.upper {
				a = m.upper
			} else {
				curve += m.rq * m.q
			}
			slope -= m.rq * (a - m.alpha)
		}
		of.slope, of.curve = slope, curve
	})
	norm := simd.Dot(s.du[:s.d], s.du)
	slope, curve = t*norm, norm
	for k := range s.of {
		slope += s.of[k].slope
		curve += s.of[k].curve
	}
	return slope, curve
}

// balance restores s'α = δ, from which rounding has moved α, by changes of α inside their
// boxes.
func (s *newton) balance() {
	p := s.p
	if p.FixedBias {
		return
	}
	left := p.Delta
	for i, a := range s.alpha {
		left -= p.S[i] * a
	}
	for i, a := range s.alpha {
		if left != 0 && a > p.Lower[i] && a < p.Upper[i] {
			s.alpha[i] = min(max(a+p.S[i]*left, p.Lower[i]), p.Upper[i])
			left -= p.S[i] * (s.alpha[i] - a)
		}
	}
}

// recedes is called before a step of α is reported, and the function that it returns is called
// after it. This function reports whether the step proves that the dual has no maximum: the
// step meets no finite bound, does not change w, and lowers the objective. If there is such a
// direction, proximal steps follow it in the end.
func (s *newton) recedes() func() bool {
	p := s.p
	moved, along, against, slope, curve := 0.0, 0.0, 0.0, 0.0, 0.0
	for i, a := range s.alpha {
		x := a - s.shown[i]
		if x == 0 {
			continue
		}
		moved += x * x
		size := math.Abs(x) * math.Sqrt(max(p.K.Diag()[i], 0))
		if x > 0 && math.IsInf(p.Upper[i], 1) {
			along += size
		} else {
			against += size
		}
		slope += x * (p.P[i] + p.fixed()*p.S[i])
		curve += p.ridge(i) * x * x
	}
	s.step = math.Sqrt(moved)
	copy(s.g, s.normal)
	return func() bool {
		for j, v := range s.normal {
			curve += (v - s.g[j]) * (v - s.g[j])
		}
		return slope < 0 && against <= 1e-4*along && curve <= 1e-14*along*along
	}
}

// commit makes α(u) the reported α, and computes its w and F afresh.
func (s *newton) commit() {
	p := s.p
	copy(s.shown, s.alpha)
	s.each(s.all(), func(of *part) {
		clear(of.sums)
		for i := of.from; i < of.to; i++ {
			if a := p.S[i] * s.alpha[i]; a != 0 {
				s.add(of.sums, i, a)
			}
		}
	})
	clear(s.image)
	for k := range s.of {
		simd.Axpy(1, s.of[k].sums, s.image)
	}
	copy(s.normal, s.image)
	b := p.fixed()
	if s.size > s.d {
		b = s.u[s.d]
	}
	s.each(s.all(), func(of *part) {
		of.seen, of.gap = unseen, 0
		for i := of.from; i < of.to; i++ {
			a, ridge := s.alpha[i], p.ridge(i)
			f := -p.S[i]*(p.P[i]+ridge*a) - s.x.Dot(i, s.normal)
			s.f[i] = f
			s.z[i] = s.dot(i, s.u) + p.fixed() // here, while x_i is in the cache
			of.seen.see(f, p.CanRise(i, a), p.CanFall(i, a))
			of.gap += gapTerm(p.S[i]*(b-f)-ridge*a, a, p.Lower[i], p.Upper[i], ridge)
		}
	})
	s.seen, s.gap = p.unseen(), 0
	for k := range s.of {
		of := &s.of[k]
		s.gap += of.gap
		s.seen.up, s.seen.low = max(s.seen.up, of.seen.up), min(s.seen.low, of.seen.low)
	}
	if s.endless {
		s.gap = max(0, s.seen.up-s.seen.low)
	}
}
