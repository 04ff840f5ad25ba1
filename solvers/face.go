package solvers

import (
	"context"
	"math"
)

// face is what a second-order run does besides pairs when it has become long:
// it moves all free α at once, by conjugate gradients on the face of the box
// that they span, restarted on the smaller face when one of them meets its
// bound (Moré and Toraldo 1991). Every step ascends and stays feasible. With a
// kernel of low rank and a huge C the free α are so many and so alike that pairs
// alone need 10⁸ steps for what a dozen products with K do.
type face struct {
	free  []int
	p, kp []float64 // direction of sα, zero but for the free points; (K + ridge) p
}

// pairsPerFace is how many pair steps per point precede a face, and products how
// many multiplications with K it may take: then it costs less than the pairs did.
const (
	pairsPerFace = 50
	products     = 40
)

// face reports whether α has moved. It does nothing when ctx ends.
func (s *greedy) face(ctx context.Context) (moved bool) {
	w := &s.wide
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
		mean, size := s.spread(w.free)
		if first == 0 {
			first = size
		}
		if len(w.free) < 2 || !(size > 1e-24*first) {
			break
		}
		beta, shift := size/before, 0.0
		if restart {
			beta = 0
		}
		for _, i := range w.free {
			w.p[i] = s.f[i] - mean + beta*w.p[i]
			shift += w.p[i] / float64(len(w.free))
		}
		slope, curvature, length, longest := 0.0, 0.0, 0.0, math.Inf(1)
		for _, i := range w.free {
			w.p[i] -= shift // s'α keeps its value
		}
		if !s.multiply(ctx) {
			break
		}
		for _, i := range w.free {
			slope += (s.f[i] - mean) * w.p[i]
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
			break // unbounded, for all that rounding lets see: pairs find out
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
		for k, v := range w.kp {
			s.f[k] -= t * v
		}
		before, moved = size, true
		s.last = t * math.Sqrt(dotOf(w.p, w.p))
	}
	if moved {
		for i := range s.alpha {
			s.mask(i)
		}
		s.scan()
	}
	return moved
}

// spread returns the mean of F over the points and the sum of squares about it.
func (s *greedy) spread(at []int) (mean, squares float64) {
	for _, i := range at {
		mean += s.f[i] / float64(len(at))
	}
	for _, i := range at {
		squares += (s.f[i] - mean) * (s.f[i] - mean)
	}
	return mean, squares
}

// multiply sets kp to (K + ridge) p, or returns false when ctx has ended.
func (s *greedy) multiply(ctx context.Context) bool {
	w := &s.wide
	clear(w.kp)
	for _, i := range w.free {
		if ctx.Err() != nil {
			return false
		}
		p := w.p[i]
		for k, v := range s.p.K.Row(i) {
			w.kp[k] += p * v
		}
		if s.p.Ridge != nil {
			w.kp[i] += p * s.p.Ridge[i]
		}
	}
	return true
}

func dotOf(x, y []float64) float64 {
	s := 0.0
	for i, v := range x {
		s += v * y[i]
	}
	return s
}
