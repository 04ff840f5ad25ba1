package blocks

import (
	"context"
	"math"

	"github.com/svmnb/svmnb/internal/simd"
)

// solve runs second-order SMO on the working set until the violation is at most tol.
func (s *engine) solve(ctx context.Context, tol float64) {
	if s.groups() > 1 || len(s.set)%simd.SingleLanes != 0 || !s.inSingle(ctx, tol) {
		s.inDouble(ctx, tol)
	}
}

const (
	digits     = 0x1p-17 // share of the largest |F| to which some ten thousand steps keep F in single precision
	mostSingle = 1e6     // |F| and kernel values above could make products that single precision cannot hold
)

// inSingle makes the steps with F in single precision, which takes half to three quarters of the time. It subtracts the
// middle of both ends from F first, so that small differences keep their digits. Rounding errors of
// this F do not last: when the steps are done, F of all points is updated from the changes of α. If
// tol is too small for single precision, inSingle does nothing and returns false.
func (s *engine) inSingle(ctx context.Context, tol float64) bool {
	w, m := &s.local, len(s.set)
	row := func(k int) []float32 { return s.values[k*m : k*m+m] }
	middle, reach := (s.end[0].up+s.end[0].low)/2, 0.0
	for k, f := range w.f {
		reach = max(reach, math.Abs(f-middle), w.diag[k])
	}
	if !(reach <= mostSingle && digits*reach <= tol) {
		return false
	}
	if cap(s.rise) < m {
		s.rise, s.fall, s.diag = make([]float32, m), make([]float32, m), make([]float32, m)
	}
	s.rise, s.fall, s.diag = s.rise[:m], s.fall[:m], s.diag[:m]
	set := func(k int, f float32) {
		s.rise[k], s.fall[k] = f, f
		if !w.CanRise(k, w.alpha[k]) {
			s.rise[k] = float32(math.Inf(-1))
		}
		if !w.CanFall(k, w.alpha[k]) {
			s.fall[k] = float32(math.Inf(1))
		}
	}
	for k, f := range w.f {
		set(k, float32(f-middle))
		s.diag[k] = float32(w.diag[k])
	}
	i, up, low := simd.SMOUpdateSingle(s.rise, s.fall, row(0), row(0), 0)
	for steps := 0; steps < stepsPerVariable*m && float64(up)-float64(low) > tol; steps++ {
		if steps%4096 == 0 && ctx.Err() != nil {
			break
		}
		ki, tau := row(i), s.tau(i)
		j := simd.SMOSecondSingle(s.fall, ki, s.diag, up, s.diag[i], float32(tau))
		if j < 0 {
			break
		}
		fi, fj := up, s.fall[j]
		s.part.taken += valuesPerStep * m
		t, ok := s.length(i, j, float64(fi)-float64(fj), float64(ki[j]), tau)
		if !ok {
			break
		}
		set(i, fi)
		set(j, fj)
		i, up, low = simd.SMOUpdateSingle(s.rise, s.fall, ki, row(j), float32(t))
	}
	return true
}

// tau returns the least curvature of a pair with variable i of the working set. A smaller one is
// only rounding; see pairs.curvature of package solvers.
func (s *engine) tau(i int) float64 { return max(1e-12, 8*0x1p-24*s.local.diag[i]) }

// length makes the step on the pair (i, j): it changes both α and returns the length of the step. d is
// F_i − F_j. If the pair cannot move, it changes nothing and returns false.
func (s *engine) length(i, j int, d, kij, tau float64) (t float64, ok bool) {
	w := &s.local
	t = min(d/max(w.diag[i]+w.diag[j]-2*kij, tau), w.Rise(i, w.alpha[i]), w.Fall(j, w.alpha[j]))
	if !(t > 0) || math.IsInf(t, 1) {
		return 0, false
	}
	w.alpha[i], w.alpha[j] = w.Moved(i, w.alpha[i], t), w.Moved(j, w.alpha[j], -t)
	return t, true
}

// inDouble makes the steps with F in double precision.
func (s *engine) inDouble(ctx context.Context, tol float64) {
	w, m := &s.local, len(s.set)
	row := func(k int) []float32 { return s.values[k*m : k*m+m] }
	var ends [2]end
	update := func(ki, kj []float32, t float64) {
		for g := range s.groups() {
			from, to, e := s.bound[g], s.bound[g+1], &ends[g]
			e.i, e.up, e.low = simd.SMOUpdate(w.f[from:to], ki[from:to], kj[from:to], s.up[from:to], s.low[from:to], t)
			e.i += from
		}
	}
	if s.groups() == 1 {
		ends[1] = none
	}
	update(row(0), row(0), 0)
	for steps := 0; steps < stepsPerVariable*m; steps++ {
		if steps%4096 == 0 && ctx.Err() != nil {
			return
		}
		e := worstOf(&ends)
		if !(e.up-e.low > tol) {
			return
		}
		from, to := 0, s.bound[1]
		if e == &ends[1] {
			from, to = s.bound[1], s.bound[2]
		}
		i := e.i
		ki, tau := row(i), s.tau(i)
		j, _ := simd.SMOSecond(w.f[from:to], s.low[from:to], ki[from:to], w.diag[from:to], e.up, w.diag[i], tau)
		if j < 0 {
			return
		}
		j += from
		s.part.taken += valuesPerStep * m
		t, ok := s.length(i, j, e.up-w.f[j], float64(ki[j]), tau)
		if !ok {
			return
		}
		s.mask(s.up, s.low, i, &w.Problem, i, w.alpha[i])
		s.mask(s.up, s.low, j, &w.Problem, j, w.alpha[j])
		update(ki, row(j), t)
	}
}
