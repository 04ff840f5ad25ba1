package solvers

import (
	"context"
	"fmt"
	"math"

	"github.com/svmnb/svmnb/internal/simd"
)

// Cholesky solves A x = b by A = LL', L lower triangular (CST 7.6; Golub and Van
// Loan 2013, §4.2): n³/3 operations and 4n² bytes, half of what LU takes, without
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

// Memory returns 4n², some columns more, and 16n for each right-hand side.
func (m Cholesky) Memory(n, q int) float64 {
	return 4 * float64(n) * (float64(n) + 2*band + 4*float64(q))
}

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
	if ctx == nil {
		return nil, errNoContext
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
	a := newPanels[float64](n)
	if err := triangleOf(ctx, s, a); err != nil {
		return nil, err
	}
	pivot, err := a.lower(ctx)
	if err != nil {
		return nil, err
	}
	failure := &IndefiniteError{Method: m.Name(), Row: pivot}
	if pivot < n {
		failure.Value = a.at(pivot, pivot)
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
		a.reset(n)
		if err := triangleOf(ctx, s, a); err != nil {
			return nil, err
		}
		for i := range n {
			*a.entry(i, i) += jitter
		}
		if pivot, err = a.lower(ctx); err != nil {
			return nil, err
		}
	}
	return &CholeskyFactor{n: n, l: a, jitter: jitter}, nil
}

// triangleOf sets the lower triangle of A.
func triangleOf(ctx context.Context, s *System, t *panels[float64]) error {
	err := s.blocks(ctx, t.width(), func(i, j int, rows [][]float64) { t.set(i, j, rows, nil) })
	for i, v := range s.Noise {
		*t.entry(i, i) += v
	}
	return err
}

// dense returns A.
func (s *System) dense(ctx context.Context) (array, error) {
	n := s.K.Dim()
	t := array{make([]float64, n*n), n}
	return t, s.rows(ctx, false, func(i int, row []float64) {
		copy(t.row(i, n), row)
		t.data[i*n+i] += s.noise(i)
	})
}

// rows calls do with each row of K, up to the diagonal where lower is set.
func (s *System) rows(ctx context.Context, lower bool, do func(i int, row []float64)) error {
	if k := whole[Sweeper](s); k != nil {
		return k.Sweep(ctx, lower, do)
	}
	for i := range s.K.Dim() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		row := s.K.Row(i)
		if lower {
			row = row[:i+1]
		}
		do(i, row)
	}
	return nil
}

// blocks calls do with blocks of the rows of K up to the diagonal, as a BlockSweeper does.
func (s *System) blocks(ctx context.Context, high int, do func(i, j int, rows [][]float64)) error {
	if k := whole[BlockSweeper](s); k != nil {
		return k.SweepBlocks(ctx, high, do)
	}
	return s.rows(ctx, true, func(i int, row []float64) { do(i, 0, [][]float64{row}) })
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
	l      any // *panels[float64], whose methods cells need not compile (see kernels.Gram)
	jitter float64
}

// panelsOf returns L; that of a zero CholeskyFactor has no rows.
func panelsOf(f *CholeskyFactor) *panels[float64] {
	if p, ok := f.l.(*panels[float64]); ok {
		return p
	}
	return newPanels[float64](0)
}

// N returns the number of rows.
func (f *CholeskyFactor) N() int { return f.n }

// Jitter returns what was added to the diagonal of A, 0 as a rule.
func (f *CholeskyFactor) Jitter() float64 { return f.jitter }

// LogDet returns ln|A|.
func (f *CholeskyFactor) LogDet() float64 {
	sum := 0.0
	for i := range f.n {
		sum += math.Log(panelsOf(f).at(i, i))
	}
	return 2 * sum
}

// Solve sets dst to A⁻¹b and returns it; a dst that is shorter than n, such as nil,
// is replaced. b has length n and may be dst.
func (f *CholeskyFactor) Solve(dst, b []float64) []float64 {
	dst = f.HalfSolve(dst, b)
	panelsOf(f).backward(dst)
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
	panelsOf(f).forward(dst)
	return dst
}

// SolveAll replaces each of the q vectors of x, of length n, by A⁻¹ times it: q n²
// multiplications like q calls of Solve, but by products of matrices on all cores, for
// which L is read once for many vectors. It takes 8n bytes for each vector, and as much
// as for a few dozen more. An interrupt returns context.Cause(ctx) and leaves x as it is.
func (f *CholeskyFactor) SolveAll(ctx context.Context, x [][]float64) error {
	return f.all(ctx, x, true)
}

// HalfSolveAll replaces each of the q vectors of x by L⁻¹ times it; see SolveAll.
func (f *CholeskyFactor) HalfSolveAll(ctx context.Context, x [][]float64) error {
	return f.all(ctx, x, false)
}

func (f *CholeskyFactor) all(ctx context.Context, x [][]float64, back bool) error {
	switch {
	case ctx == nil:
		return errNoContext
	case f.n == 0 || len(x) == 0:
		return nil
	}
	s := panelsOf(f).newSheet(x)
	if err := s.divide(ctx, panelsOf(f).tiles, panelsOf(f).part); err != nil {
		return err
	}
	if back { // L⁻ᵀ is J(JL'J)⁻¹J
		s.turn(panelsOf(f).width())
		if err := s.divide(ctx, panelsOf(f).tiles, panelsOf(f).turned); err != nil {
			return err
		}
		s.turn(panelsOf(f).width())
	}
	s.copyTo(x, panelsOf(f).width())
	return nil
}

// Inverse returns the n rows of A⁻¹ = L⁻ᵀL⁻¹: 2n³/3 operations, and 12n² bytes while it
// is made, 8n² of which stay. An interrupt returns context.Cause(ctx).
func (f *CholeskyFactor) Inverse(ctx context.Context) ([][]float64, error) {
	n := f.n
	if ctx == nil {
		return nil, errNoContext
	}
	if n == 0 {
		return nil, nil
	}
	u, err := panelsOf(f).inverse(ctx)
	if err != nil {
		return nil, err
	}
	all := array{make([]float64, n*n), n}
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = all.row(i, n)[:n:n]
		u.row(rows[i], i)
	}
	parallel(len(u.panel), n*n, func(j int) { // each column of which is a row above the diagonal
		from, to := j*u.width, min((j+1)*u.width, n)
		simd.Transpose(all.data[from*n+from:], n, u.part(j, from, n), u.width, n-from, to-from)
	})
	return rows, nil
}

// InverseLower returns the lower triangle of A⁻¹, for gradients of the evidence. It takes
// 4n² bytes. An interrupt returns context.Cause(ctx).
func (f *CholeskyFactor) InverseLower(ctx context.Context) (*InverseLower, error) {
	if ctx == nil {
		return nil, errNoContext
	}
	u, err := panelsOf(f).inverse(ctx)
	if err != nil {
		return nil, err
	}
	return &InverseLower{u}, nil
}

// InverseLower is the lower triangle of A⁻¹.
type InverseLower struct{ u any } // *columns[float64]

// Row sets dst to the first i+1 entries of row i and returns it; a dst that is shorter,
// such as nil, is replaced.
func (l *InverseLower) Row(dst []float64, i int) []float64 {
	if len(dst) <= i {
		dst = make([]float64, i+1)
	}
	dst = dst[:i+1]
	l.u.(*columns[float64]).row(dst, i)
	return dst
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
	panelsOf(f).multiply(dst)
	return dst
}
