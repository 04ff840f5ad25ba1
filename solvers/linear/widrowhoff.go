package linear

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/svmnb/svmnb/internal/vec"
)

// WidrowHoff is the learning rule of Widrow and Hoff (1960) in dual form (CST 7.6 and exercise
// 1 of chapter 2). It visits the points in turn:
//
//	α_i ← α_i + η (b_i − Σ_j A_ij α_j).
//
// A step raises Q(α) = b'α − ½ α'Aα by η r_i² (1 − ηA_ii/2), so η must satisfy 0 < η < 2/A_ii,
// where A_ii = K_ii + noise_i. An iteration is a sweep over all points, which costs as many
// kernel values as an iteration of CG. The residual is maintained, so the bounds cost nothing
// more. The number of sweeps grows with the condition number of A, and that of CG with its
// square root.
type WidrowHoff struct {
	// Eta is the learning rate η, the same for all points. 0 means 1/A_ii for point i, which
	// minimises over each α_i exactly (Gauss and Seidel).
	Eta float64
}

// Name is "Widrow–Hoff", or "Widrow–Hoff, eta 0.1".
func (m WidrowHoff) Name() string {
	if m.Eta != 0 {
		return fmt.Sprintf("Widrow–Hoff, eta %g", m.Eta)
	}
	return "Widrow–Hoff"
}

// Memory returns 16n bytes for each right-hand side.
func (m WidrowHoff) Memory(n, q int) float64 { return 16 * float64(n) * float64(q) }

// Start implements Method. It refuses an η that is too large for a point, and a
// row whose diagonal is 0.
func (m WidrowHoff) Start(s *System, b, x [][]float64) (Stepper, error) {
	w := &widrowHoff{s: s, b: b, x: x, rate: make([]float64, s.K.Dim()), last: fill(len(b), math.Inf(1))}
	largest := 0.0
	for i, k := range s.K.Diag() {
		a := k + s.noise(i)
		if largest = max(largest, a); a == 0 {
			return nil, wrong("Noise", i, 0, "and row and column of K are 0 there; give the point some noise")
		}
		w.rate[i] = cmp.Or(m.Eta, 1/a)
	}
	if m.Eta != 0 && !(m.Eta > 0 && m.Eta < 2/largest) {
		return nil, wrong("WidrowHoff.Eta", -1, m.Eta, "is %g; it must be between 0 and 2/max(K_ii + noise_i) = %g, or 0 for 1/(K_ii + noise_i)", m.Eta, 2/largest)
	}
	for j := range b {
		w.r = append(w.r, append([]float64(nil), b[j]...))
		w.warm = w.warm || norm(x[j]) > 0
	}
	return w, nil
}

type widrowHoff struct {
	s    *System
	b, x [][]float64
	r    [][]float64 // b − Ax
	rate []float64
	warm bool      // r must be computed first
	last []float64 // ‖r‖ when r was last computed afresh
}

func (w *widrowHoff) Step(ctx context.Context, settled []bool) (done bool, err error) {
	if w.warm {
		ax := make([][]float64, len(w.b))
		for j := range ax {
			ax[j] = make([]float64, len(w.rate))
		}
		if err := w.s.Times(ctx, ax, w.x); err != nil {
			return false, err
		}
		for j, v := range ax {
			vec.Axpy(w.r[j], -1, v)
		}
		w.warm = false
		return false, nil
	}
	done = true
	for i, rate := range w.rate {
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		row := w.s.K.Row(i)
		for j, r := range w.r {
			step := rate * r[i]
			if settled[j] || w.x[j][i]+step == w.x[j][i] {
				continue
			}
			done = false
			w.x[j][i] += step
			vec.Axpy(r, -step, row)
			r[i] -= step * w.s.noise(i)
		}
	}
	return done, nil
}

// Refresh implements Refresher.
func (w *widrowHoff) Refresh(r [][]float64) (more bool) {
	for j := range r {
		copy(w.r[j], r[j])
		size := norm(r[j])
		more = more || size <= w.last[j]/2
		w.last[j] = size
	}
	w.warm = false
	return more
}

func (w *widrowHoff) Report(points []Point) {
	if w.warm {
		return
	}
	for j := range points {
		pt, r := &points[j], w.r[j]
		pt.Residual = norm(r)
		pt.Lower = inner(w.b[j], w.x[j]) + inner(r, w.x[j])
		pt.Energy = w.s.energy(r)
		pt.Skilling = pt.Lower + pt.Energy
	}
}
