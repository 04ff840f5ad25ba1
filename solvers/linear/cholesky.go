package linear

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/svmnb/svmnb/internal/chol"
	"github.com/svmnb/svmnb/internal/rows"
)

// Cholesky solves A x = b by A = LL', where L is lower triangular (CST 7.6; Golub and Van Loan
// 2013, §4.2). It takes n³/3 operations and 4n² bytes, half of what LU takes, needs no pivots,
// and rounding errors do not grow. It is the method of choice up to some thousand points. Its
// factor also gives ln|A| and posterior variances.
type Cholesky struct {
	// Jitter is the largest number that may be added to the whole diagonal if A is not
	// positive definite in floating point. The first try adds 1e-7 of it, and each following
	// try ten times as much; CholeskyFactor.Jitter returns the number that was added. With 0
	// nothing is added, and such an A is refused with an *IndefiniteError. The certificate is
	// that of A without jitter.
	Jitter float64
}

// Name is "Cholesky", or "Cholesky with jitter".
func (m Cholesky) Name() string {
	if m.Jitter > 0 {
		return "Cholesky with jitter"
	}
	return "Cholesky"
}

// Memory returns, in bytes, 4n², some columns more, and 16n for each right-hand side.
func (m Cholesky) Memory(n, q int) float64 {
	return chol.Memory(n) + 16*float64(n)*float64(q)
}

// Start implements Method.
func (m Cholesky) Start(s *System, b, x [][]float64) (Stepper, error) {
	return &cholesky{direct: direct{b: b, x: x}, method: m, s: s}, m.check()
}

func (m Cholesky) check() error {
	if !(m.Jitter >= 0 && rows.Usable(m.Jitter)) {
		return wrong("Cholesky.Jitter", -1, m.Jitter, "is %g; it must be positive, or 0 for none", m.Jitter)
	}
	return nil
}

// Factor returns the factor alone, which can serve many right-hand sides. The memory limit is
// that of the zero Settings. The errors are those of Solve; the error of an interrupt wraps
// context.Cause(ctx).
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
		return nil, fmt.Errorf("linear: %s: %w", m.Name(), context.Cause(ctx))
	}
	return f, err
}

func (m Cholesky) factor(ctx context.Context, s *System) (*CholeskyFactor, error) {
	n := s.K.Dim()
	a := chol.New[float64](n)
	if err := triangleOf(ctx, s, a); err != nil {
		return nil, err
	}
	pivot, err := a.Factor(ctx)
	if err != nil {
		return nil, err
	}
	failure := &IndefiniteError{Method: m.Name(), Row: pivot}
	if pivot < n {
		failure.Value = a.At(pivot, pivot)
	}
	jitter := 0.0
	for try := -7; pivot < n; try++ {
		if try > 0 || m.Jitter == 0 {
			return nil, s.indefinite(ctx, failure)
		}
		jitter = m.Jitter * math.Pow(10, float64(try))
		a.Reset(n)
		if err := triangleOf(ctx, s, a); err != nil {
			return nil, err
		}
		for i := range n {
			*a.Entry(i, i) += jitter
		}
		if pivot, err = a.Factor(ctx); err != nil {
			return nil, err
		}
	}
	return &CholeskyFactor{panels{a}, jitter}, nil
}

// triangleOf sets t to the lower triangle of A.
func triangleOf(ctx context.Context, s *System, t *chol.Panels[float64]) error {
	err := rows.Sweep(ctx, s.K, t.Width(), func(i, j int, rows [][]float64) { t.Set(i, j, rows, nil) })
	for i, v := range s.Noise {
		*t.Entry(i, i) += v
	}
	return err
}

type cholesky struct {
	direct
	method Cholesky
	s      *System
	factor *CholeskyFactor
}

// Factor implements Factorer.
func (c *cholesky) Factor() *CholeskyFactor { return c.factor }

func (c *cholesky) Step(ctx context.Context, _ []bool) (done bool, err error) {
	if c.factor == nil {
		if c.factor, err = c.method.factor(ctx, c.s); err != nil {
			return false, err
		}
	}
	return true, c.solve(ctx, func(x []float64) { c.factor.Solve(x, x) })
}

// direct is what the direct methods share. They make one step, after which x cannot be
// improved.
type direct struct{ b, x [][]float64 }

func (d *direct) Report([]Point) {}

// solve copies each b to its x and replaces it by the solution, by calling the function in.
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

// CholeskyFactor is L of A + jitter I = LL'. Its methods change only the slices that they are
// given, so several goroutines may call them.
type CholeskyFactor struct {
	l      factor
	jitter float64
}

// factor has the methods of [chol.Panels] that a CholeskyFactor needs, and lower those of
// [chol.Inverse]. They are interfaces because a notebook cell would otherwise compile the
// methods of these generic types, which it could see in fields of other types
// (svmnb/compiled_test.go).
type (
	factor interface {
		Rows() int
		At(i, j int) float64
		Squares() []float64
		Forward(x []float64)
		Backward(x []float64)
		Multiply(x []float64)
		ForwardAll(ctx context.Context, x [][]float64) error
		SolveAll(ctx context.Context, x [][]float64) error
		dense(ctx context.Context) ([][]float64, error)
		inverse(ctx context.Context) (lower, error)
		single(ctx context.Context) (lower, error)
		extended(ctx context.Context, rows [][]float64) (factor, int, error)
	}
	lower interface {
		Row(dst []float64, i int)
	}
)

// panels implements factor.
type panels struct{ *chol.Panels[float64] }

func (p panels) dense(ctx context.Context) ([][]float64, error) {
	u, err := p.Inverse(ctx)
	if err != nil {
		return nil, err
	}
	return u.Dense(), nil
}

func (p panels) inverse(ctx context.Context) (lower, error) { return p.Inverse(ctx) }

func (p panels) single(ctx context.Context) (lower, error) {
	u, err := chol.Single(p.Panels).Inverse(ctx)
	return single32{u}, err
}

// single32 implements lower.
type single32 struct{ *chol.Inverse[float32] }

func (u single32) Row(dst []float64, i int) { u.Double(dst, i) }

func (p panels) extended(ctx context.Context, rows [][]float64) (factor, int, error) {
	q, pivot, err := p.Extended(ctx, rows)
	return panels{q}, pivot, err
}

// N returns n, the number of rows of A.
func (f *CholeskyFactor) N() int {
	if f.l == nil {
		return 0
	}
	return f.l.Rows()
}

// Jitter returns the number that was added to the diagonal of A, usually 0.
func (f *CholeskyFactor) Jitter() float64 { return f.jitter }

// LogDet returns ln|A|.
func (f *CholeskyFactor) LogDet() float64 {
	sum := 0.0
	for i := range f.N() {
		sum += math.Log(f.l.At(i, i))
	}
	return 2 * sum
}

// Solve sets dst to A⁻¹b and returns it. A dst shorter than n, such as nil, is replaced by a
// new slice. b has length n and may be dst.
func (f *CholeskyFactor) Solve(dst, b []float64) []float64 {
	dst = f.HalfSolve(dst, b)
	if f.l != nil {
		f.l.Backward(dst)
	}
	return dst
}

// HalfSolve sets dst to L⁻¹b, whose squared norm is b'A⁻¹b, and returns it. A dst shorter than
// n, such as nil, is replaced by a new slice. b has length n and may be dst.
func (f *CholeskyFactor) HalfSolve(dst, b []float64) []float64 {
	dst = f.copied(dst, b)
	if f.l != nil {
		f.l.Forward(dst)
	}
	return dst
}

// Multiply sets dst to Lz and returns it. If z has independent standard normal entries, Lz has
// covariance A. A dst shorter than n, such as nil, is replaced by a new slice. z has length n
// and may be dst.
func (f *CholeskyFactor) Multiply(dst, z []float64) []float64 {
	dst = f.copied(dst, z)
	if f.l != nil {
		f.l.Multiply(dst)
	}
	return dst
}

// copied returns a copy of v, in dst if that is long enough.
func (f *CholeskyFactor) copied(dst, v []float64) []float64 {
	n := f.N()
	if len(dst) < n {
		dst = make([]float64, n)
	}
	copy(dst[:n], v)
	return dst[:n]
}

// SolveAll replaces each of the q vectors v of x, of length n, by A⁻¹v. It makes q n²
// multiplications like q calls of Solve, but as products of matrices on all cores, which read
// L once for many vectors. It takes 8n bytes for each vector and for a few dozen more. An
// interrupt returns context.Cause(ctx) and leaves x as it is.
func (f *CholeskyFactor) SolveAll(ctx context.Context, x [][]float64) error {
	return f.all(ctx, factor.SolveAll, x)
}

func (f *CholeskyFactor) all(ctx context.Context, do func(factor, context.Context, [][]float64) error, x [][]float64) error {
	switch {
	case ctx == nil:
		return errNoContext
	case f.l == nil:
		return nil
	}
	return do(f.l, ctx, x)
}

// HalfSolveAll replaces each of the q vectors of x by L⁻¹ times it; see SolveAll.
func (f *CholeskyFactor) HalfSolveAll(ctx context.Context, x [][]float64) error {
	return f.all(ctx, factor.ForwardAll, x)
}

// Inverse returns the n rows of A⁻¹ = L⁻ᵀL⁻¹, in 2n³/3 operations. It takes 12n² bytes, and
// its result 8n² of these. An interrupt returns context.Cause(ctx).
func (f *CholeskyFactor) Inverse(ctx context.Context) ([][]float64, error) {
	switch {
	case ctx == nil:
		return nil, errNoContext
	case f.l == nil:
		return nil, nil
	}
	return f.l.dense(ctx)
}

// InverseLower returns the lower triangle of A⁻¹, for gradients of the evidence. It takes
// 4n² bytes. An interrupt returns context.Cause(ctx).
func (f *CholeskyFactor) InverseLower(ctx context.Context) (*InverseLower, error) {
	return f.lower(ctx, factor.inverse)
}

// InverseLowerSingle is InverseLower in single precision, which takes half the time and half the
// memory. Where this is not precise enough, or with fewer than 1000 rows, it is InverseLower. It is
// precise enough if every pivot is at least a hundredth of its diagonal entry, as with noise of a
// hundredth of the variance. An entry then has an error of some 1e-6 of the largest one; the errors of
// many entries partly cancel in a sum. An interrupt returns context.Cause(ctx).
func (f *CholeskyFactor) InverseLowerSingle(ctx context.Context) (*InverseLower, error) {
	if f.N() < fewSingle || !f.wellConditioned() {
		return f.InverseLower(ctx)
	}
	return f.lower(ctx, factor.single)
}

const (
	fewSingle  = 1000
	leastPivot = 0.01 // share of its diagonal entry
	farSingle  = 1e15 // diagonal entries of this size, or of its inverse, are too near to the ends of single precision
)

// wellConditioned reports whether single precision suffices for the inverse.
func (f *CholeskyFactor) wellConditioned() bool {
	for i, entry := range f.l.Squares() {
		pivot := f.l.At(i, i)
		if pivot *= pivot; !(pivot >= leastPivot*entry && entry < farSingle && pivot > 1/farSingle) {
			return false
		}
	}
	return true
}

func (f *CholeskyFactor) lower(ctx context.Context, in func(factor, context.Context) (lower, error)) (*InverseLower, error) {
	if ctx == nil {
		return nil, errNoContext
	}
	if f.l == nil {
		return &InverseLower{}, nil
	}
	u, err := in(f.l, ctx)
	if err != nil {
		return nil, err
	}
	return &InverseLower{u}, nil
}

// Extended returns the factor of a larger matrix, whose first n rows and columns are those of A.
// rows has its other m rows, each up to the diagonal, noise included. It takes n²m multiplications
// (Golub and Van Loan 2013, §6.5.4), and leaves f as it is. The jitter of f is added to the new
// diagonal. The error is an *[IndefiniteError] for the first row with which the matrix is not
// positive definite, a *[solvers.ProblemError] for a row of another length or a number that is not
// finite, or context.Cause(ctx).
func (f *CholeskyFactor) Extended(ctx context.Context, rows [][]float64) (*CholeskyFactor, error) {
	if ctx == nil {
		return nil, errNoContext
	}
	n := f.N()
	own := make([][]float64, len(rows))
	for r, row := range rows {
		if len(row) != n+r+1 {
			return nil, wrong("rows", r, float64(len(row)), "is the length of row %d; it must be %d, up to the diagonal", r, n+r+1)
		}
		for j, v := range row {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, wrong("rows", r, v, "entry %d of row %d is not a finite number", j, r)
			}
		}
		own[r] = slices.Clone(row)
		own[r][n+r] += f.jitter
	}
	l := f.l
	if l == nil {
		l = panels{chol.New[float64](0)}
	}
	q, pivot, err := l.extended(ctx, own)
	switch {
	case err != nil:
		return nil, err
	case pivot < n+len(rows):
		return nil, &IndefiniteError{Method: "Cholesky", Row: pivot}
	}
	return &CholeskyFactor{q, f.jitter}, nil
}

// InverseLower is the lower triangle of A⁻¹.
type InverseLower struct{ u lower }

// Row sets dst to the first i+1 entries of row i and returns it. A dst shorter than i+1, such
// as nil, is replaced by a new slice.
func (l *InverseLower) Row(dst []float64, i int) []float64 {
	if len(dst) <= i {
		dst = make([]float64, i+1)
	}
	dst = dst[:i+1]
	l.u.Row(dst, i)
	return dst
}
