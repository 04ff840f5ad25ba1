package solvers

import (
	"context"
	"fmt"
	"math"

	"github.com/svmnb/svmnb/internal/simd"
)

// Cholesky solves A x = b by A = LL', L lower triangular (CST 7.6; Golub and Van
// Loan 2013, §4.2): n³/3 operations and 8n² bytes, half of what LU takes, without
// pivots and without growth of rounding errors. It is the method of choice up to
// some thousand points, and the factor gives ln|A| and posterior variances.
type Cholesky struct {
	// Jitter is the most that may be added to all of the diagonal when A is not
	// positive definite in floating point. A ten-millionth of it is tried first, then
	// ten times as much and so on; CholeskyFactor.Jitter says what it took. 0 adds
	// nothing: A is then refused with an *IndefiniteError. The certificate is that of
	// A without jitter.
	Jitter float64
}

// Name is "Cholesky", or "Cholesky with jitter".
func (m Cholesky) Name() string {
	if m.Jitter > 0 {
		return "Cholesky with jitter"
	}
	return "Cholesky"
}

// Memory returns 8n² and 16n for each right-hand side.
func (m Cholesky) Memory(n, q int) float64 { return square(n, q) }

// square is the memory of the direct methods.
func square(n, q int) float64 { return 8 * float64(n) * (float64(n) + 2*float64(q)) }

// Start implements LinearMethod.
func (m Cholesky) Start(s *System, b, x [][]float64) (LinearStepper, error) {
	return &cholesky{direct: direct{b: b, x: x}, method: m, s: s}, m.check()
}

func (m Cholesky) check() error {
	if !(m.Jitter >= 0 && usable(m.Jitter)) {
		return &ProblemError{"Cholesky.Jitter", -1, m.Jitter, fmt.Sprintf("is %g; it must be positive, or 0 for none", m.Jitter)}
	}
	return nil
}

// Factor returns the factor alone, for whoever has many right-hand sides to come.
// The memory limit is that of the zero SystemSettings. The errors are those of
// SolveSystem; that of an interrupt wraps context.Cause(ctx).
func (m Cholesky) Factor(ctx context.Context, s *System) (*CholeskyFactor, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	if err := affordable(m, s.K.Dim(), 0, 0); err != nil {
		return nil, err
	}
	s = s.checked()
	f, err := m.factor(ctx, s)
	if bad := s.failed(); bad != nil {
		return nil, bad
	}
	if err != nil && ctx.Err() != nil {
		return nil, fmt.Errorf("solvers: %s: %w", m.Name(), context.Cause(ctx))
	}
	return f, err
}

func (m Cholesky) factor(ctx context.Context, s *System) (*CholeskyFactor, error) {
	n := s.K.Dim()
	a, err := s.dense(ctx, true)
	if err != nil {
		return nil, err
	}
	pivot, err := a.lower(ctx, n)
	if err != nil {
		return nil, err
	}
	failure := &IndefiniteError{Method: m.Name(), Row: pivot}
	if pivot < n {
		failure.Value = a.data[pivot*n+pivot]
	}
	jitter := 0.0
	for try := -7; pivot < n; try++ {
		if try > 0 || m.Jitter == 0 {
			failure.Need, err = s.missing(ctx)
			if err != nil {
				return nil, err
			}
			return nil, failure
		}
		jitter = m.Jitter * math.Pow(10, float64(try))
		if err := s.fill(ctx, a, true); err != nil {
			return nil, err
		}
		for i := range n {
			a.data[i*n+i] += jitter
		}
		if pivot, err = a.lower(ctx, n); err != nil {
			return nil, err
		}
	}
	return &CholeskyFactor{n: n, l: a, jitter: jitter}, nil
}

// dense returns A, or its lower triangle.
func (s *System) dense(ctx context.Context, lower bool) (array[float64], error) {
	n := s.K.Dim()
	t := array[float64]{make([]float64, n*n), n}
	return t, s.fill(ctx, t, lower)
}

func (s *System) fill(ctx context.Context, t array[float64], lower bool) error {
	n := t.stride
	put := func(i int, row []float64) {
		copy(t.row(i, n), row)
		t.data[i*n+i] += s.noise(i)
	}
	if k := s.sweeper(); k != nil {
		return k.Sweep(ctx, lower, put)
	}
	for i := range n {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		row := s.K.Row(i)
		if lower {
			row = row[:i+1]
		}
		put(i, row)
	}
	return nil
}

type cholesky struct {
	direct
	method Cholesky
	s      *System
	factor *CholeskyFactor
}

func (c *cholesky) Step(ctx context.Context, _ []bool) (done bool, err error) {
	if c.factor == nil {
		if c.factor, err = c.method.factor(ctx, c.s); err != nil {
			return false, err
		}
	}
	return true, c.solve(ctx, func(x []float64) { c.factor.Solve(x, x) })
}

// direct is what the direct methods have in common: one step, after which nothing
// can be improved.
type direct struct{ b, x [][]float64 }

func (d *direct) Report([]SystemPoint) {}

// solve sets x to what the function, which solves in place, makes of b.
func (d *direct) solve(ctx context.Context, in func(x []float64)) error {
	for j, b := range d.b {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		x := append([]float64(nil), b...)
		in(x)
		copy(d.x[j], x)
	}
	return nil
}

// CholeskyFactor is L of A + jitter I = LL'. Its methods change nothing but what they
// are given, so they may be called from several goroutines.
type CholeskyFactor struct {
	n      int
	l      array[float64]
	jitter float64
}

// N returns the number of rows.
func (f *CholeskyFactor) N() int { return f.n }

// Jitter returns what was added to the diagonal of A, 0 as a rule.
func (f *CholeskyFactor) Jitter() float64 { return f.jitter }

// LogDet returns ln|A|.
func (f *CholeskyFactor) LogDet() float64 {
	sum := 0.0
	for i := range f.n {
		sum += math.Log(f.l.data[i*f.l.stride+i])
	}
	return 2 * sum
}

// Solve sets dst to A⁻¹b and returns it; a dst that is shorter than n, such as nil,
// is replaced. b has length n and may be dst.
func (f *CholeskyFactor) Solve(dst, b []float64) []float64 {
	dst = f.HalfSolve(dst, b)
	f.l.backward(dst)
	return dst
}

// HalfSolve sets dst to L⁻¹b, whose squared norm is b'A⁻¹b, and returns it; a dst that
// is shorter than n, such as nil, is replaced. b has length n and may be dst.
func (f *CholeskyFactor) HalfSolve(dst, b []float64) []float64 {
	if len(dst) < f.n {
		dst = make([]float64, f.n)
	}
	dst = dst[:f.n]
	copy(dst, b)
	f.l.forward(dst)
	return dst
}

// SolveAll replaces each of the q vectors of x, of length n, by A⁻¹ times it: q n²
// multiplications like q calls of Solve, but by products of matrices on all cores, for
// which L is read once for many vectors. It takes 8qn bytes. An interrupt returns
// context.Cause(ctx) and leaves x as it is.
func (f *CholeskyFactor) SolveAll(ctx context.Context, x [][]float64) error {
	return f.all(ctx, x, divide, divideBack)
}

// HalfSolveAll replaces each of the q vectors of x by L⁻¹ times it; see SolveAll.
func (f *CholeskyFactor) HalfSolveAll(ctx context.Context, x [][]float64) error {
	return f.all(ctx, x, divide)
}

func (f *CholeskyFactor) all(ctx context.Context, x [][]float64, passes ...func(ctx context.Context, threads int, x, l rectangle) error) error {
	n := f.n
	all := array[float64]{make([]float64, len(x)*n), n}
	for j, v := range x {
		copy(all.row(j, n), v[:n])
	}
	for _, pass := range passes {
		if len(x) == 0 {
			break
		}
		if err := pass(ctx, 0, all.block(0, len(x), 0, n), f.l.block(0, n, 0, n)); err != nil {
			return context.Cause(ctx)
		}
	}
	for j, v := range x {
		copy(v, all.row(j, n))
	}
	return nil
}

// Inverse returns the n rows of A⁻¹ = L⁻ᵀL⁻¹: 2n³/3 operations, and 8n² bytes with
// some rows more. An interrupt returns context.Cause(ctx).
func (f *CholeskyFactor) Inverse(ctx context.Context) ([][]float64, error) {
	n := f.n
	a, err := f.inverse(ctx)
	if err != nil {
		return nil, err
	}
	parallel((n+panel-1)/panel, n*n, func(task int) {
		k := task * panel
		e := min(k+panel, n)
		for i := k; i < e; i++ { // the triangle on the diagonal
			for j := k; j < i; j++ {
				a.data[j*a.stride+i] = a.data[i*a.stride+j]
			}
		}
		simd.Transpose(a.data[k:], a.stride, a.data[k*a.stride:], a.stride, e-k, k)
	})
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = a.data[i*a.stride:][:n:n]
	}
	return rows, nil
}

// InverseLower returns the lower triangle of A⁻¹, i+1 entries of row i, for gradients of
// the evidence. It costs what [CholeskyFactor.Inverse] does without the copy.
func (f *CholeskyFactor) InverseLower(ctx context.Context) ([][]float64, error) {
	a, err := f.inverse(ctx)
	if err != nil {
		return nil, err
	}
	rows := make([][]float64, f.n)
	for i := range rows {
		rows[i] = a.data[i*a.stride:][: i+1 : i+1]
	}
	return rows, nil
}

// inverse returns an array whose lower triangle is that of A⁻¹.
func (f *CholeskyFactor) inverse(ctx context.Context) (array[float64], error) {
	n := f.n
	// U = L⁻ᵀ stands so far to the right of A⁻¹ that they do not meet. Its rows are
	// those that the identity would have below A in the factorisation.
	a := array[float64]{make([]float64, n*(n+band)), n + band}
	u := a.block(0, n, band, band+n)
	var p simd.Panels[float64]
	for k := 0; k < n; k += band {
		e := min(k+band, n)
		for i := k; i < e; i++ {
			u.Data[i*u.Stride+i] = 1
		}
		p.Pack(f.l.block(k, e, 0, k).T(), 0)
		parallel((e+bandRows-1)/bandRows, e*(e-k)*e, func(task int) {
			r0 := task * bandRows
			r1, first := min(r0+bandRows, e), r0/band*band
			x := u.Block(r0, r1, k, e)
			along(ctx, minus[float64](1), x, u.Block(r0, r1, first, max(first, k)), &p, min(first, k))
			_ = divide(ctx, 1, x, f.l.block(k, e, k, e))
		})
	}
	for k := 0; k < n && ctx.Err() == nil; k += band {
		e := min(k+band, n)
		p.Pack(u.Block(k, e, k, n).T(), 0)
		parallel((n-k+bandRows-1)/bandRows, (n-k)*(e-k)*(n-k), func(task int) {
			r0 := k + task*bandRows
			r1, first := min(r0+bandRows, n), r0/band*band
			along(ctx, simd.Gemm[float64]{Threads: 1}, a.block(r0, r1, k, e), u.Block(r0, r1, first, n), &p, first-k)
		})
	}
	return a, context.Cause(ctx)
}

// Multiply sets dst to Lz, which has covariance A for z of independent standard
// normal numbers, and returns it; a dst that is shorter than n, such as nil, is
// replaced. z has length n and may be dst.
func (f *CholeskyFactor) Multiply(dst, z []float64) []float64 {
	if len(dst) < f.n {
		dst = make([]float64, f.n)
	}
	dst = dst[:f.n]
	copy(dst, z)
	for i := f.n - 1; i >= 0; i-- {
		dst[i] = simd.Dot(f.l.row(i, i+1), dst)
	}
	return dst
}
