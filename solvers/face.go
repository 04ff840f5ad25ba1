package solvers

import (
	"cmp"
	"context"
	"math"

	"github.com/svmnb/svmnb/internal/vec"
)

// face moves all free α at once by conjugate gradients on the face of the box that they span.
// When an α meets its bound, the method restarts on the smaller face (Moré and Toraldo 1991).
// Every step raises W and stays feasible. Long runs of methods that move one or two α use it:
// with a kernel of low rank and a huge C the free α are so many and so similar that pairs
// alone need 10⁸ steps for what a dozen products with K achieve.
type face struct {
	free  []int
	p, kp []float64 // search direction p for the s_iα_i, which is 0 except at free points; (K + ridge) p
	w     []float64 // Σ p_i x_i if K is Features
}

// pairsPerFace is the number of pair steps per point before a face step. products is the limit
// of multiplications with K in a face step, which then costs less than the pair steps did.
// epochsPerFace is the number of epochs between face steps for methods with steps of one α.
// These wait much longer for their first face step, because their single steps are meant to be
// watched and well-conditioned problems end earlier.
const (
	pairsPerFace      = 50
	products          = 40
	epochsPerFace     = 50
	epochsBeforeFaces = 2000
)

// climb makes a face step and reports whether α has moved. It stops when ctx ends. With a
// fixed bias it returns ErrUnbounded if the last direction proves that there is no margin.
func (w *face) climb(ctx context.Context, s *pairs) (moved bool, err error) {
	if w.p == nil {
		w.p, w.kp = make([]float64, len(s.alpha)), make([]float64, len(s.alpha))
	}
	first, before, restart := 0.0, 0.0, true
	for range products {
		if restart {
			w.free = w.free[:0]
			clear(w.p)
			for i := range s.alpha {
				if s.rise(i) > 0 && s.fall(i) > 0 {
					w.free = append(w.free, i)
				}
			}
		}
		bias, size := s.spread(w.free)
		first = cmp.Or(first, size)
		if len(w.free) == 0 || !(size > 1e-24*first) {
			break
		}
		beta, shift := size/before, 0.0
		if restart {
			beta = 0
		}
		for _, i := range w.free {
			w.p[i] = s.f[i] - bias + beta*w.p[i]
			shift += w.p[i] / float64(len(w.free))
		}
		if s.p.FixedBias {
			shift = 0
		}
		slope, curvature, length, longest := 0.0, 0.0, 0.0, math.Inf(1)
		for _, i := range w.free {
			w.p[i] -= shift // keeps s'α constant
		}
		if !w.multiply(ctx, s.p) {
			break
		}
		for _, i := range w.free {
			slope += (s.f[i] - bias) * w.p[i]
			curvature += w.kp[i] * w.p[i]
			length += math.Abs(w.p[i]) * math.Sqrt(max(0, s.diag[i]))
			room := s.rise(i)
			if w.p[i] < 0 {
				room = s.fall(i)
			}
			longest = min(longest, room/math.Abs(w.p[i]))
		}
		noise := 4 * 0x1p-52 * length * length
		if math.Abs(curvature) <= noise && math.IsInf(longest, 1) {
			if s.p.FixedBias {
				err = w.endless(s.p, noise)
			}
			break // with a free bias, pair steps detect this
		}
		t := longest
		if curvature > -noise {
			t = min(slope/max(curvature, noise), longest)
		}
		if !(slope > 0) || !(t > 0) || math.IsInf(t, 0) {
			break
		}
		for _, i := range w.free {
			s.move(i, t*w.p[i])
		}
		restart = t == longest
		vec.Axpy(s.f, -t, w.kp)
		before, moved = size, true
		s.last = t * math.Sqrt(vec.Dot(w.p, w.p))
	}
	return moved, err
}

// spread returns a common bias of the points, which is the fixed one or the mean of their F,
// and the sum of squares of F about this bias.
func (s *pairs) spread(at []int) (bias, squares float64) {
	if s.p.FixedBias {
		bias = s.p.Bias
	} else {
		for _, i := range at {
			bias += s.f[i] / float64(len(at))
		}
	}
	for _, i := range at {
		squares += (s.f[i] - bias) * (s.f[i] - bias)
	}
	return bias, squares
}

// endless returns ErrUnbounded if the last direction, along which no bound is met, proves that
// no hard margin exists. curvature bounds the curvature along it. Otherwise it returns nil.
func (w *face) endless(p *Problem, curvature float64) error {
	direction := make([]float64, len(w.p)) // the direction of α
	for _, i := range w.free {
		direction[i] = p.S[i] * w.p[i]
	}
	if p.inseparable(direction, curvature, p.flatness()) {
		return ErrUnbounded
	}
	return nil
}

// multiply sets kp to (K + ridge) p, or returns false when ctx has ended.
func (w *face) multiply(ctx context.Context, p *Problem) bool {
	clear(w.kp)
	x, ok := p.K.(Features)
	if ok {
		if w.w == nil {
			w.w = make([]float64, x.Columns())
		}
		clear(w.w)
	}
	for _, i := range w.free {
		if ctx.Err() != nil {
			return false
		}
		if ok {
			x.Add(w.w, i, w.p[i])
		} else {
			vec.Axpy(w.kp, w.p[i], p.K.Row(i))
		}
		w.kp[i] += w.p[i] * p.ridge(i)
	}
	if ok {
		for i := range w.kp {
			w.kp[i] += x.Dot(i, w.w)
		}
	}
	return true
}
