package solvers

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/svmnb/svmnb/internal/simd"
)

// Newton solves linear machines among the d weights, not the n multipliers: it
// needs a Problem whose K is [Features], and is the method for n ≫ d.
//
// With a ridge in every coordinate, as for the 2-norm loss, the α that belongs to
// (w, b) is explicit, and so is a convex primal objective P with it,
//
//	α_i(w, b) = [−(s_i(w·x_i + b) + p_i)/ridge_i] clipped to its box,
//	∇P = (w − Σ s_i α_i x_i, δ − s'α),  H = diag(1, …, 1, 0) + Σ_J x̃_i x̃_i'/ridge_i,
//
// where x̃ = (x, 1) and J has the α inside their boxes. P is quadratic between
// the surfaces where J changes, and Newton's method with an exact line search ends
// at the minimum after finitely many steps (Mangasarian 2002; Keerthi and DeCoste
// 2005, §3). Lin, Weng and Keerthi (2008) bound the same step by a trust region.
//
// Without ridge, as for the 1-norm loss, P has kinks. Then the dual is solved by
// proximal steps (Rockafellar 1976, which for P is the method of multipliers),
//
//	α ← arg min ½a'Qa + p'a + ½r‖a − α‖²,
//
// each of them a problem with the ridge r, to be solved by Newton's method as
// above. The solution needs no r → 0; but the smaller r, the faster is the
// convergence, so it falls by a factor of ten per step. A proximal step ends when
// half the Newton decrement, which is about its own duality gap, is a thousandth of what
// the step has gained. This is the semismooth Newton augmented Lagrangian of Li,
// Sun and Toh (2018).
//
// An iteration is a proximal step, or a Newton step where none is needed: ten or
// twenty whatever n and C, of a few passes over X and O(|J|d² + d³) each. All
// boxes, any p, δ and ridge, a free or fixed bias. The points are shared out among
// GOMAXPROCS goroutines, always in the same parts, so that a run has the same bits
// on any number of them. Memory is 8(10n + 9d²) bytes.
type Newton struct{}

// Name is "primal Newton".
func (Newton) Name() string { return "primal Newton" }

// mostColumns is the largest d whose Hessians are made.
const mostColumns = 2000

// Start implements Method. It refuses more than 2000 columns.
func (m Newton) Start(p *Problem, alpha []float64) (Stepper, error) {
	x, ok := p.K.(Features)
	if !ok {
		return nil, fmt.Errorf("%w: Newton's method works among the inputs and needs the linear kernel's Features; use SMO for other kernels", ErrUnsupported)
	}
	d := x.Columns()
	if d > mostColumns {
		return nil, fmt.Errorf("%w: the Hessian of %d columns is too large, at most %d are taken; use CoordinateDescent", ErrUnsupported, d, mostColumns)
	}
	n, size := len(alpha), d
	if !p.FixedBias {
		size++
	}
	s := &newton{p: p, x: x, d: d, size: size, shown: alpha, step: math.NaN(), best: math.Inf(1)}
	for _, v := range []*[]float64{&s.alpha, &s.f, &s.z, &s.dz, &s.c, &s.q, &s.r} {
		*v = make([]float64, n)
	}
	for _, v := range []*[]float64{&s.u, &s.du, &s.image, &s.g} {
		*v = make([]float64, size)
	}
	s.h, s.normal = make([]float64, size*size), make([]float64, d)
	for k := range s.of {
		s.of[k].sums, s.of[k].h, s.of[k].rows = make([]float64, size), make([]float64, size*size), make([]float64, together*size)
	}
	copy(s.alpha, alpha)
	s.schedule()
	s.commit()
	copy(s.u, s.normal)
	s.each(func(_ *part, from, to int) {
		for i := from; i < to; i++ {
			s.z[i] = x.Dot(i, s.u[:d]) + p.fixed()
		}
	})
	return s, nil
}

// parts is into how many parts the points are cut, for any number of goroutines.
const parts = 8

type newton struct {
	p       *Problem
	x       Features
	d, size int // columns of X, and of x̃

	rho, first, least float64 // r, and between what it moves
	shown, f   []float64
	seen       extent
	moved      float64 // ½ r ‖α − shown‖²
	step       float64
	best       float64 // the smallest violation
	still      int     // how many steps it has been

	u, du  []float64 // (w, b) and its direction
	z, dz  []float64 // X̃u + b₀ and X̃du
	r      []float64 // r_i + ridge_i
	c, q   []float64 // α before it is clipped: c − tq along the direction
	alpha  []float64 // c clipped
	image  []float64 // (Σ s_i α_i x_i, s'α)
	normal []float64 // w of shown
	g      []float64 // the gradient, or −du
	h      []float64 // the lower half of the Hessian and of its factor
	of     [parts]part
}

// part is the workspace of a part of the points.
type part struct {
	sums                []float64            // of the image
	h                   []float64            // of the Hessian, lower half
	rows                []float64            // of J, scaled
	pack                simd.Panels[float64] // of them
	slope, curve, moved float64
	seen                extent
}

// schedule sets the first r and the last.
func (s *newton) schedule() {
	p, n := s.p, float64(len(s.alpha))
	trace, size, width, thin := 0.0, 0.0, 0.0, math.Inf(1)
	for i, k := range p.K.Diag() {
		trace += k / n
		size += math.Abs(p.P[i]) / n
		if u := p.Upper[i] - p.Lower[i]; !math.IsInf(u, 1) {
			width = max(width, u)
		}
		ridge := 0.0
		if p.Ridge != nil {
			ridge = p.Ridge[i]
		}
		thin = min(thin, ridge)
	}
	if trace == 0 {
		trace = 1
	}
	s.least = 1e-7 * trace
	if thin >= s.least {
		return
	}
	s.rho = trace
	if width > 0 && size > 0 {
		s.rho = size / width
	}
	s.rho = max(s.rho, s.least)
	s.first = max(s.rho, trace)
}

// each runs f for all parts of the points.
func (s *newton) each(f func(of *part, from, to int)) {
	n := len(s.alpha)
	var next atomic.Int64
	work := func() {
		for k := int(next.Add(1)) - 1; k < parts; k = int(next.Add(1)) - 1 {
			f(&s.of[k], k*n/parts, (k+1)*n/parts)
		}
	}
	var others sync.WaitGroup
	for range min(parts, runtime.GOMAXPROCS(0), n*s.size>>14) - 1 {
		others.Add(1)
		go func() {
			defer others.Done()
			work()
		}()
	}
	work()
	others.Wait()
}

// Report implements Stepper.
func (s *newton) Report(it *Iterate) {
	it.Alpha, it.F, it.Up, it.Low, it.Step, it.Sweep = s.shown, s.f, s.seen.up, s.seen.low, s.step, 1
	if s.size > s.d {
		it.Bias = s.u[s.d]
	}
}

// refresh has nothing to take over: F is computed afresh from α after every step.
func (s *newton) refresh([]float64) {}

// Step makes a proximal step, or a Newton step where none is needed.
func (s *newton) Step(ctx context.Context) (done bool, err error) {
	s.settle(0)
	for range newtonSteps {
		decrement, err := s.direction(ctx)
		if err != nil {
			return false, err
		}
		if !(decrement > 1e-25*simd.Dot(s.u, s.u)) {
			break
		}
		t := s.search()
		s.settle(t)
		if debugNewton { println("  t", t, "dec", decrement, "moved", s.moved, "gb", s.g[s.size-1],"eq", s.p.equality(s.alpha)) }
		if s.rho == 0 || s.solved() {
			break
		}
	}
	s.balance()
	if debugNewton { println("rho", s.rho, "eq", s.p.equality(s.alpha), s.image[s.size-1]) }
	return s.advance()
}

// advance takes the α that a step has led to. It has ErrUnbounded where the way
// there proves that the dual has no maximum: it leads along no finite bound,
// changes no w, and the objective falls. Proximal steps take that way in the end
// if there is one.
func (s *newton) advance() (done bool, err error) {
	p := s.p
	moved, along, against, slope, curve := 0.0, 0.0, 0.0, 0.0, 0.0
	for i, a := range s.alpha {
		x := a - s.shown[i]
		moved += x * x
		size := math.Abs(x) * math.Sqrt(max(p.K.Diag()[i], 0))
		if x > 0 && math.IsInf(p.Upper[i], 1) {
			along += size
		} else {
			against += size
		}
		slope += x * (p.P[i] + p.fixed()*p.S[i])
		if p.Ridge != nil {
			curve += p.Ridge[i] * x * x
		}
	}
	copy(s.g, s.normal)
	s.commit()
	for j, v := range s.normal {
		curve += (v - s.g[j]) * (v - s.g[j])
	}
	if slope < 0 && against <= 1e-4*along && curve <= 1e-14*along*along {
		return false, ErrUnbounded
	}
	s.step = math.Sqrt(moved)
	if violation := s.seen.up - s.seen.low; violation < 0.9*s.best {
		s.best, s.still = violation, 0
		s.rho = max(s.rho/10, min(s.rho, s.least))
	} else {
		s.still++
		s.rho = min(10*s.rho, s.first)
		s.least = s.rho
	}
	return s.still > stillSteps, nil
}

// stillSteps is how many steps without gain show that rounding is all that is left.
const stillSteps = 10

// newtonSteps is how many a proximal step takes at most. More than twenty is rare.
const newtonSteps = 50

// settle goes t along the direction: z, α and its image, the gradient there.
func (s *newton) settle(t float64) {
	p := s.p
	for j, v := range s.du {
		s.u[j] += t * v
	}
	s.each(func(of *part, from, to int) {
		clear(of.sums)
		of.moved = 0
		for i := from; i < to; i++ {
			ridge := 0.0
			if p.Ridge != nil {
				ridge = p.Ridge[i]
			}
			s.z[i] += t * s.dz[i]
			s.r[i] = ridge + s.rho
			s.c[i] = (s.rho*s.shown[i] - p.P[i] - p.S[i]*s.z[i]) / s.r[i]
			a := min(max(s.c[i], p.Lower[i]), p.Upper[i])
			if change := a - s.alpha[i]; change != 0 {
				s.alpha[i] = a
				s.x.Add(of.sums[:s.d], i, p.S[i]*change)
				if s.size > s.d {
					of.sums[s.d] += p.S[i] * change
				}
			}
			x := a - s.shown[i]
			of.moved += s.rho * x * x / 2
		}
	})
	s.moved = 0
	for k := range s.of {
		s.moved += s.of[k].moved
		simd.Axpy(1, s.of[k].sums, s.image)
	}
	for j := range s.g {
		s.g[j] = s.u[j] - s.image[j]
	}
	if s.size > s.d {
		s.g[s.d] = p.Delta - s.image[s.d]
	}
}

// direction sets du to the Newton step, dz and q to what belongs to it, and
// returns the square of the Newton decrement, g'H⁻¹g.
func (s *newton) direction(ctx context.Context) (decrement float64, err error) {
	if err := s.hessian(ctx); err != nil {
		return 0, err
	}
	h := blas64.Symmetric{Uplo: blas.Lower, N: s.size, Data: s.h, Stride: s.size}
	l, ok := lapack64.Potrf(h)
	if !ok {
		return 0, nil
	}
	for j, v := range s.g {
		s.du[j] = -v
	}
	blas64.Trsv(blas.NoTrans, l, vector(s.du))
	blas64.Trsv(blas.Trans, l, vector(s.du))
	for j, v := range s.g {
		decrement -= v * s.du[j]
	}
	s.each(func(of *part, from, to int) {
		for i := from; i < to; i++ {
			dz := s.x.Dot(i, s.du[:s.d])
			if s.size > s.d {
				dz += s.du[s.d]
			}
			s.dz[i], s.q[i] = dz, s.p.S[i]*dz/s.r[i]
		}
	})
	return decrement, nil
}

// together is how many rows of J are multiplied at once.
const together = 192

// hessian sets the lower half of h.
func (s *newton) hessian(ctx context.Context) error {
	s.each(func(of *part, from, to int) {
		clear(of.h)
		c := simd.Matrix[float64]{Data: of.h, Rows: s.size, Cols: s.size, Stride: s.size}
		gemm := simd.Gemm[float64]{Add: true, Lower: true, Threads: 1}
		rows := 0
		multiply := func() {
			a := simd.Matrix[float64]{Data: of.rows, Rows: rows, Cols: s.size, Stride: s.size}
			of.pack.Pack(a, 1)
			gemm.Do(c, a.T(), &of.pack)
			rows = 0
		}
		for i := from; i < to; i++ {
			if i&1023 == 0 && ctx.Err() != nil {
				return
			}
			if a := s.alpha[i]; a != s.c[i] || s.p.Lower[i] == s.p.Upper[i] {
				continue
			}
			row := of.rows[rows*s.size:][:s.size]
			clear(row)
			root := 1 / math.Sqrt(s.r[i])
			s.x.Add(row[:s.d], i, root)
			if s.size > s.d {
				row[s.d] = root
			}
			if rows++; rows == together {
				multiply()
			}
		}
		if rows > 0 {
			multiply()
		}
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	clear(s.h)
	for k := range s.of {
		simd.Axpy(1, s.of[k].h, s.h)
	}
	for j := range s.d {
		s.h[j*s.size+j]++
	}
	if last := len(s.h) - 1; s.size > s.d && s.h[last] == 0 {
		s.h[last] = 1 / s.r[0] // any: no α is inside its box
	}
	return nil
}

// search returns the t that minimises P along the direction: the zero of a slope
// that is piecewise linear and grows, by Newton's method between bounds, to a
// tenth of the slope at 0.
func (s *newton) search() float64 {
	lo, hi, t := 0.0, math.Inf(1), 1.0
	first, _ := s.slope(0)
	for range 60 {
		slope, curve := s.slope(t)
		if math.Abs(slope) <= 0.1*math.Abs(first) {
			break
		}
		if slope < 0 {
			lo = t
		} else {
			hi = t
		}
		if t -= slope / curve; !(t > lo && t < hi) {
			if t = (lo + hi) / 2; math.IsInf(hi, 1) {
				t = 10 * lo
			}
		}
	}
	return t
}

// slope returns the first two derivatives of P at t along the direction.
func (s *newton) slope(t float64) (slope, curve float64) {
	p := s.p
	s.each(func(of *part, from, to int) {
		slope, curve := 0.0, 0.0
		c, q, r := s.c[from:to], s.q[from:to], s.r[from:to]
		lower, upper := p.Lower[from:to][:len(c)], p.Upper[from:to][:len(c)]
		q, r = q[:len(c)], r[:len(c)]
		for i, a := range c {
			qi := q[i]
			a -= t * qi
			if a > lower[i] && a < upper[i] {
				curve += r[i] * qi * qi
			}
			slope -= min(max(a, lower[i]), upper[i]) * (r[i] * qi)
		}
		of.slope, of.curve = slope, curve
	})
	for k := range s.of {
		slope += s.of[k].slope
		curve += s.of[k].curve
	}
	for j, v := range s.du[:s.d] {
		slope += (s.u[j] + t*v) * v
		curve += v * v
	}
	if s.size > s.d {
		slope += p.Delta * s.du[s.d]
	}
	return slope, curve
}

// solved reports whether a proximal step is done: half the square of the gradient
// is the duality gap of its problem.
func (s *newton) solved() bool {
	gap := 0.0
	for _, v := range s.g[:s.d] {
		gap += v * v / 2
	}
	return gap <= 1e-3*s.moved && (s.p.FixedBias || s.p.balanced(s.alpha))
}

// balance takes what rounding has left of s'α − δ out of the α inside their boxes.
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

// commit makes α what is reported and the centre of the next proximal step, and
// its w the point from which that starts.
func (s *newton) commit() {
	p := s.p
	copy(s.shown, s.alpha)
	s.each(func(of *part, from, to int) {
		clear(of.sums)
		for i := from; i < to; i++ {
			if a := p.S[i] * s.alpha[i]; a != 0 {
				s.x.Add(of.sums[:s.d], i, a)
				if s.size > s.d {
					of.sums[s.d] += a
				}
			}
		}
	})
	clear(s.image)
	for k := range s.of {
		simd.Axpy(1, s.of[k].sums, s.image)
	}
	copy(s.normal, s.image)
	s.each(func(of *part, from, to int) {
		of.seen = unseen
		for i := from; i < to; i++ {
			a := s.alpha[i]
			f := p.P[i]
			if p.Ridge != nil {
				f += p.Ridge[i] * a
			}
			f = -p.S[i]*f - s.x.Dot(i, s.normal)
			s.f[i] = f
			of.seen.see(f, p.canRise(i, a), p.canFall(i, a))
		}
	})
	s.seen = unseen
	for k := range s.of {
		s.seen.up, s.seen.low = max(s.seen.up, s.of[k].seen.up), min(s.seen.low, s.of[k].seen.low)
	}
	if p.FixedBias {
		s.seen.up, s.seen.low = max(s.seen.up, p.Bias), min(s.seen.low, p.Bias)
	}
}
const debugNewton = false
