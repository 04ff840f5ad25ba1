package linear

import (
	"context"
	"math"
	"slices"

	"github.com/svmnb/svmnb/internal/chol"
	"github.com/svmnb/svmnb/internal/rows"
	"github.com/svmnb/svmnb/internal/vec"
)

// Mixed solves A x = b with a Cholesky factor in single precision, which takes half the time
// and half the memory of one in double precision. The factor preconditions conjugate gradients
// in double precision, which restore the accuracy (iterative refinement: Wilkinson 1963,
// LAPACK's dsposv; by conjugate gradients: Higham and Pranesh 2021, §3). To keep all entries
// at 1 or below, the matrix that is factored is A scaled to a unit diagonal,
//
//	D^-½ A D^-½ ≈ LL',  D = diag(A),
//
// About three iterations are needed. Each but the last makes a pass over K. They end when ‖b − Ax‖ is √n
// rounding units of ‖b‖ or ‖Dx‖, the accuracy of [Cholesky].
//
// If A is too near to a singular matrix for single precision, as with a noise below a
// millionth of the diagonal, Cholesky in double precision does all of the work. If A is not
// positive definite, it also finds this and returns the error.
type Mixed struct{}

// Name is "mixed Cholesky".
func (Mixed) Name() string { return "mixed Cholesky" }

// Memory returns, in bytes, 4n² and some columns more, which double precision would need, and
// 48n for each right-hand side.
func (Mixed) Memory(n, q int) float64 {
	return chol.Memory(n) + 48*float64(n)*float64(q)
}

// Start implements Method.
func (m Mixed) Start(s *System, b, x [][]float64) (Stepper, error) {
	return &mixed{direct: direct{b: b, x: x}, s: s}, nil
}

type mixed struct {
	direct
	s     *System
	l     *chol.Panels[float32]
	scale []float64 // the diagonal of D^-½, where D = diag(A)
}

func (m *mixed) Step(ctx context.Context, _ []bool) (done bool, err error) {
	good, err := m.factor(ctx)
	if err != nil {
		return false, err
	}
	if good {
		if good, err = m.improve(ctx); good || err != nil {
			return good, err
		}
	}
	m.l = nil
	exact := &cholesky{direct: m.direct, s: m.s}
	return exact.Step(ctx, nil)
}

// factor computes l, and reports whether single precision sufficed.
func (m *mixed) factor(ctx context.Context) (good bool, err error) {
	n := m.s.K.Dim()
	m.scale = make([]float64, n)
	for i, k := range m.s.K.Diag() {
		v := k + m.s.noise(i)
		if !(v > 0) {
			return false, nil
		}
		m.scale[i] = 1 / math.Sqrt(v)
	}
	m.l = chol.New[float32](n)
	err = rows.Sweep(ctx, m.s.K, m.l.Width(), func(i, j int, rows [][]float64) { m.l.Set(i, j, rows, m.scale) })
	if err != nil {
		return false, err
	}
	for i := range n {
		*m.l.Entry(i, i) = 1
	}
	pivot, err := m.l.Factor(ctx)
	return pivot == n, err
}

// mostMixed is the largest number of iterations: more would cost as much as double precision.
const mostMixed = 25

// sure is the factor by which ‖b − Ax‖ must be expected to fall below its limit before an iteration
// counts as the last. The expectation is that it reduces ‖b − Ax‖ as much as the iteration before. The
// last iteration makes no pass over K to check this, because Solve makes one for the certificate.
const sure = 16

// improve makes the iterations and reports whether they reached the accuracy of double
// precision.
func (m *mixed) improve(ctx context.Context) (good bool, err error) {
	n := m.l.Rows()
	runs := make([]*refinement, len(m.b))
	for j, b := range m.b {
		runs[j] = &refinement{x: make([]float64, n), r: slices.Clone(b), z: make([]float64, n), h: make([]float64, n), ah: make([]float64, n), rz: 1, b: norm(b)}
	}
	for range mostMixed {
		var h, ah [][]float64
		var busy []*refinement
		for _, u := range runs {
			if norm(u.r) > m.rounding(u) {
				h, ah, busy = append(h, u.h), append(ah, u.ah), append(busy, u)
			}
		}
		if len(busy) == 0 {
			for j, u := range runs {
				copy(m.x[j], u.x)
			}
			return true, nil
		}
		last := true
		for _, u := range busy {
			before, size := u.rz, norm(u.r)
			u.rz = m.precondition(u.z, u.r)
			for i, z := range u.z {
				u.h[i] = z + u.rz/before*u.h[i]
			}
			last = last && size*(size/u.size) <= m.rounding(u)/sure
			u.size = size
		}
		if last {
			for _, u := range busy {
				vec.Axpy(u.x, 1, u.z)
				u.r = nil
			}
			continue
		}
		if err := m.s.Times(ctx, ah, h); err != nil {
			return false, err
		}
		for _, u := range busy {
			lambda := u.rz / inner(u.h, u.ah)
			if !(lambda > 0) || math.IsInf(lambda, 1) {
				return false, nil
			}
			vec.Axpy(u.x, lambda, u.h)
			vec.Axpy(u.r, -lambda, u.ah)
		}
	}
	return false, nil
}

// rounding returns the size of b − Ax at which only rounding is left: √n rounding units of
// ‖b‖, or of ‖Dx‖ with D the diagonal of A. LAPACK's dsposv uses ‖A‖ in place of this
// diagonal.
func (m *mixed) rounding(u *refinement) float64 {
	diagonal := 0.0
	for i, v := range u.x {
		v /= m.scale[i] * m.scale[i]
		diagonal += float64(v * v)
	}
	return math.Sqrt(float64(len(u.x))) * 0x1p-52 * max(u.b, math.Sqrt(diagonal))
}

// refinement is the run of one right-hand side. The names are those of [CG], with z = P⁻¹r.
type refinement struct {
	x, r, z, h, ah []float64
	rz             float64
	b              float64 // ‖b‖
	size           float64 // ‖r‖ before the last iteration; 0 before the first
}

// precondition sets z to D^-½ (LL')⁻¹ D^-½ r and returns r'z.
func (m *mixed) precondition(z, r []float64) float64 {
	for i, v := range r {
		z[i] = v * m.scale[i]
	}
	m.l.Forward(z)
	m.l.Backward(z)
	for i, v := range m.scale {
		z[i] *= v
	}
	return inner(r, z)
}
