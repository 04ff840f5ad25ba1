package solvers

import (
	"cmp"
	"context"
	"math"

	"github.com/svmnb/svmnb/internal/vec"
)

// face is what a long run does besides steps of one or two α: it moves all free α
// at once, by conjugate gradients on the face of the box that they span,
// restarted on the smaller face when one of them meets its bound (Moré and
// Toraldo 1991). Every step ascends and stays feasible. With a kernel of low rank
// and a huge C the free α are so many and so alike that pairs alone need 10⁸
// steps for what a dozen products with K do.
type face struct {
	free  []int
	p, kp []float64 // direction of sα, zero but for the free points; (K + ridge) p
	w     []float64 // Σ p_i x_i where K has Features
}

// pairsPerFace is how many pair steps per point precede a face, and products how
// many multiplications with K it may take: then it costs less than the pairs did.
// epochsPerFace is the same for steps of one α, which wait for the first face much
// longer: they are there to be watched, and well-conditioned problems end before.
const (
	pairsPerFace      = 50
	products          = 40
	epochsPerFace     = 50
	epochsBeforeFaces = 2000
)

// climb reports whether α has moved. It does nothing when ctx ends. With a fixed
// bias ErrUnbounded says that the last direction proves that there is no margin.
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
			w.p[i] -= shift // s'α keeps its value
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
			break // with a free bias pairs find out
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

// spread returns the bias that the points would agree on, the fixed one or the
// mean of their F, and the sum of squares of F about it.
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

// endless says whether a direction without bound and of no more curvature than
// this is proof of a hard margin that cannot be. If not, single steps must tell.
func (w *face) endless(p *Problem, curvature float64) error {
	direction := make([]float64, len(w.p)) // of α
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
