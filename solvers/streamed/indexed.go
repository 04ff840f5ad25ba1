package streamed

import (
	"context"
	"math"

	"github.com/svmnb/svmnb/internal/parallel"
	"github.com/svmnb/svmnb/internal/simd"
	"github.com/svmnb/svmnb/solvers"
)

// Indexed are points of which any can be made anew by their numbers. Solve then keeps some numbers for each
// point, and most of its steps make only the points whose α can change.
type Indexed interface {
	Points
	Len() int
	// Some is as Pass, for the points that rows names. do also gets the part of rows that it sees.
	Some(ctx context.Context, rows []int, do func(rows []int, z, y []float64) error) error
}

// indexed is the workspace of a run on points that can be made anew by their numbers. It has f of each point,
// so it knows the best length of a step before it takes the step, and sums change only by the points whose α
// changes. A survey makes all points. Between two surveys only the points in a band around the kink take
// part: all others keep their α, which is 0 or C. The band is wide enough for the points that the next steps
// should move to the kink, by how far the last steps have moved f. A survey finds those that it has missed.
type indexed struct {
	*newton
	points Indexed
	all    []int // 0, 1, …, n − 1
	band   []int
	reach  float64 // the band has points at which f is at most so far outside of the rounded kink
	safety float64 // the reach is so many times the root mean square of the last changes of f

	y, f   []float64
	v      []float64 // α with the sign of the side
	weight []float64 // of the point in the Hessian; 0 outside J
	change []float64 // of f by a step, for the points of the band
	base   []float64 // f when the band was chosen

	image []float64 // Σ v z
	bias  float64   // Σ v
}

func newIndexed(n *newton, points Indexed) *indexed {
	count := points.Len()
	x := &indexed{newton: n, points: points, all: make([]int, count), reach: math.Inf(1), safety: 2, image: make([]float64, n.m)}
	for i := range x.all {
		x.all[i] = i
	}
	for _, of := range []*[]float64{&x.y, &x.f, &x.v, &x.weight, &x.change, &x.base} {
		*of = make([]float64, count)
	}
	n.curved.clear(n.m)
	n.seen = func(from int, y, f []float64) {
		copy(x.y[from:], y)
		copy(x.f[from:], f)
	}
	return x
}

// run takes steps until the gap is small.
func (n *indexed) run(ctx context.Context, at state, set Settings) error {
	step, res := make([]float64, n.m+1), n.result
	least := 1e-9 * n.p.unit() / max(n.p.Cost[0], n.p.Cost[1])
	for {
		s, err := n.survey(ctx, at)
		if err != nil {
			return err
		}
		if n.ends(set) {
			return nil
		}
		goal := 0.3 * n.gap * math.Abs(res.Primal)
		if s.kink > goal && s.residual <= s.kink {
			at.r *= shrink(goal, s.kink)
		}
		r, most := n.widths(at.r)
		n.choose(n.all, r, most)
		if err := n.adapt(ctx, n.all, r, most); err != nil {
			return err
		}
		far := 0.0 // how far f has moved before the band was chosen last
		for first := true; ; first = false {
			n.slope(s, at.beta, n.image, n.bias)
			kink, limit := n.kink(r, most), res.Passes >= set.MaxPasses
			// As before a survey P is only known from the last one, steps end at 0.7 of the gap. Smaller
			// residuals at a larger r would not help: the next r makes them large again.
			if !first && (kink+s.residual <= 2.4*goal || s.residual <= max(kink, goal)) || limit {
				n.reach = 2 * n.safety * max(far, n.moved())
				if kink <= 2*goal || limit {
					break
				}
				at.r *= shrink(goal, kink)
				r, most = n.widths(at.r)
				if err := n.adapt(ctx, n.band, r, most); err != nil {
					return err
				}
				n.choose(n.band, r, most)
				far, first = 0, true
				continue
			}
			decrement, err := n.direction(ctx, s, step)
			if err != nil {
				return err
			}
			if !(decrement > 1e-14*math.Abs(s.rounded())) {
				if first && (n.p.smooth() || at.r < least) {
					res.Status = solvers.Exhausted
					return nil
				}
				break
			}
			if err := n.measure(ctx, step); err != nil {
				return err
			}
			t := n.length(s, step, r, most)
			simd.Axpy(t, step[:n.m], at.beta)
			at.bias += t * step[n.m]
			for _, i := range n.band {
				n.f[i] += t * n.change[i]
			}
			if err := n.adapt(ctx, n.band, r, most); err != nil {
				return err
			}
			res.Passes++
			moved := n.moved()
			if len(n.band) == len(n.all) {
				n.reach = n.safety * moved
				n.choose(n.all, r, most)
				far = moved
			} else if 3*moved > n.reach {
				n.widen()
				break
			}
		}
	}
}

// shrink returns the factor by which r falls, if the part of the gap that rounding the kink makes is to fall to
// goal.
func shrink(goal, kink float64) float64 { return min(max(math.Sqrt(goal/kink), 0.5), 0.7) }

// survey makes all points, and with them f and all sums but the Hessian.
func (n *indexed) survey(ctx context.Context, at state) (*sums, error) {
	s, err := n.pass(ctx, at, nil, 0)
	if err != nil {
		return nil, err
	}
	n.bias = s.alpha[1] - s.alpha[0]
	for j := range n.image {
		n.image[j] = s.image[1][j] - s.image[0][j]
	}
	r, most := n.widths(at.r)
	strayed, total := 0.0, 0.0
	for i, was := range n.v {
		n.v[i], _ = n.multiplier(i, n.f[i], &r, &most)
		strayed += math.Abs(n.v[i] - was)
		total += math.Abs(n.v[i])
	}
	if n.result.Passes > 1 && strayed > 1e-3*total { // points outside the band have moved too far
		n.widen()
	}
	return s, nil
}

// multiplier returns α of a point at which f has a value, with the sign of its side, and the weight of the
// point in the Hessian, in units of curvature.unit.
func (n *indexed) multiplier(i int, f float64, r, most *[2]float64) (v, weight float64) {
	k, t := n.p.at(n.y[i], f)
	a := min(max(0, t/r[k]), most[k])
	if a > 0 && a < most[k] {
		if weight = 1; n.p.smooth() {
			weight = 1 / r[k]
		}
	}
	return float64(2*k-1) * a, weight
}

// moved returns the root mean square of the change of f in the band since the band was chosen.
func (n *indexed) moved() float64 {
	sum := 0.0
	for _, i := range n.band {
		sum += (n.f[i] - n.base[i]) * (n.f[i] - n.base[i])
	}
	return math.Sqrt(sum / float64(max(1, len(n.band))))
}

// choose takes the band out of points whose f is known. It takes all of them if it would have too few to
// determine a step.
func (n *indexed) choose(of []int, r, most [2]float64) {
	copy(n.base, n.f)
	var near []int
	for _, i := range of {
		k, t := n.p.at(n.y[i], n.f[i])
		width := r[k] * most[k]
		if n.p.Squared {
			width = n.p.unit()
		}
		if reach := max(n.reach, width); t > -reach && t-reach < r[k]*most[k] {
			near = append(near, i)
		}
	}
	if n.band = of; len(near) >= 2*n.m {
		n.band = near
	}
}

// adapt brings the sums in line with f of some points.
func (n *indexed) adapt(ctx context.Context, rows []int, r, most [2]float64) error {
	var changed []int
	curved, flips := 0, 0
	for _, i := range rows {
		v, w := n.multiplier(i, n.f[i], &r, &most)
		if w != 0 {
			curved++
		}
		if w != n.weight[i] {
			flips++
		}
		if w != 0 || w != n.weight[i] || v != n.v[i] {
			changed = append(changed, i)
		}
	}
	if flips > curved {
		n.curved.clear(n.m)
		clear(n.weight)
	}
	var z [][]float64
	var d []float64
	err := n.points.Some(ctx, changed, func(rows []int, flat, _ []float64) error {
		z, d = z[:0], d[:0]
		for k, i := range rows {
			row := flat[k*n.m : (k+1)*n.m]
			v, w := n.multiplier(i, n.f[i], &r, &most)
			if was := n.v[i]; v != was {
				z, d = append(z, row), append(d, v-was)
				n.bias += v - was
				n.v[i] = v
			}
			if was := n.weight[i]; w != was {
				if was != 0 {
					n.curved.remove(row, was)
				}
				if w != 0 {
					n.curved.add(row, w)
				}
				n.weight[i] = w
			}
		}
		addRows(n.image, d, z)
		return nil
	})
	if n.curved.flush(); !n.p.smooth() {
		n.curved.unit = 1 / r[0]
	}
	return err
}

// widen makes the next band the whole and later ones wider.
func (n *indexed) widen() { n.reach, n.safety = math.Inf(1), 2*n.safety }

// kink returns the part of the gap that comes from rounding the kink.
func (n *indexed) kink(r, most [2]float64) (sum float64) {
	if n.p.smooth() {
		return 0
	}
	for _, i := range n.band {
		if k, t := n.p.at(n.y[i], n.f[i]); t > 0 && t < r[k]*most[k] {
			sum += (most[k] - t/r[k]) * t
		}
	}
	return sum
}

// measure computes the change of f by a step at the points of the band.
func (n *indexed) measure(ctx context.Context, step []float64) error {
	return n.points.Some(ctx, n.band, func(rows []int, z, _ []float64) error {
		const some = 64
		parallel.Do((len(rows)+some-1)/some, len(rows)*n.m, func(task int) {
			for k := task * some; k < min((task+1)*some, len(rows)); k++ {
				n.change[rows[k]] = simd.Dot(z[k*n.m:(k+1)*n.m], step[:n.m]) + step[n.m]
			}
		})
		return nil
	})
}

// length returns the share of a step at which P_r is smallest if all points outside the band keep their α.
func (n *indexed) length(s *sums, step []float64, r, most [2]float64) float64 {
	ahead := step[n.m] * s.gradient[n.m]
	ahead += simd.Dot(s.gradient[:n.m], step[:n.m])
	curve := simd.Dot(n.times(step[:n.m]), step[:n.m])
	slope := func(t float64) float64 {
		sum := ahead + t*curve
		for _, i := range n.band {
			v, _ := n.multiplier(i, n.f[i]+t*n.change[i], &r, &most)
			sum -= (v - n.v[i]) * n.change[i]
		}
		return sum
	}
	low, high := 0.0, 1.0
	for range 6 {
		if slope(high) >= 0 {
			break
		}
		low, high = high, 2*high
	}
	for range 14 {
		if t := (low + high) / 2; slope(t) < 0 {
			low = t
		} else {
			high = t
		}
	}
	return (low + high) / 2
}
