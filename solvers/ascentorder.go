package solvers

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/svmnb/svmnb/internal/vec"
)

// Order is the order in which GradientAscent visits the points. All orders end at the same W.
type Order int

const (
	// Cyclic visits the points in the order of the data. Each step uses the latest α (CST
	// Table 7.1: stochastic gradient ascent).
	Cyclic Order = iota
	// Batch moves all α at once along the gradient: steepest ascent.
	Batch
	// Shuffled visits the points in a new random permutation in every epoch.
	Shuffled
	// Violators visits the points in the order of the data and changes only those that violate
	// the KKT conditions by more than Tol.
	Violators
	// TwoStage visits the free points until these satisfy the KKT conditions to Tol, and then
	// visits all points once (CST §7.2).
	TwoStage
	// AscendingAlpha visits the points with α_i ≠ 0 in ascending order of α_i until W hardly
	// grows, and then visits the other points once (CST Remark 7.8). It holds the part of K
	// between the points with α_i ≠ 0 in memory, so it suits many points with few support
	// vectors.
	AscendingAlpha
)

var orderNames = [...]string{"cyclic", "batch", "shuffled", "violators", "two stages", "ascending α"}

func (o Order) String() string { return nameOf("Order", orderNames[:], int(o)) }

// picky reports whether the order skips points that violate by no more than the tolerance.
func (s *ascent) picky() bool { return s.m.Order == Violators || s.m.Order == TwoStage }

// violates reports whether point i violates its KKT condition by more than the tolerance,
// given F_i = f.
func (s *ascent) violates(i int, f float64) bool {
	g := s.p.S[i] * (f - s.bias)
	return g > s.tol && s.alpha[i] < s.p.Upper[i] || g < -s.tol && s.alpha[i] > s.p.Lower[i]
}

// visit makes one epoch in the chosen order.
func (s *ascent) visit(ctx context.Context) error {
	switch {
	case s.m.Order == Batch:
		return s.batch(ctx)
	case s.held != nil:
		return s.stage(ctx)
	}
	if s.rng != nil {
		s.rng.Shuffle(len(s.order), func(i, j int) { s.order[i], s.order[j] = s.order[j], s.order[i] })
	}
	return s.pass(ctx)
}

// batch moves every α along the gradient, which is computed once, before any of them moves.
func (s *ascent) batch(ctx context.Context) error {
	copy(s.from, s.alpha)
	for i, f := range s.f {
		if _, err := s.step(i, f); err != nil {
			copy(s.alpha, s.from)
			return err
		}
	}
	return s.catchUp(ctx, s.order, s.from)
}

// catchUp updates F after the α of the points in the list of have changed. from has their old
// α. When ctx ends on the way, the points that F does not include yet get their old α back.
func (s *ascent) catchUp(ctx context.Context, of []int, from []float64) (err error) {
	for k, i := range of {
		t := s.p.S[i] * (s.alpha[i] - from[k])
		if t == 0 {
			continue
		}
		if err == nil {
			err = s.poll(ctx, k)
		}
		if err != nil {
			s.alpha[i] = from[k]
			continue
		}
		s.follow(i, t)
	}
	return err
}

// curvature returns min(‖Q‖_∞, ‖Q‖_F), an upper bound of λ_max(Q).
func (s *ascent) curvature(ctx context.Context) (float64, error) {
	rowSum, squares := 0.0, 0.0
	for i := range s.alpha {
		if err := s.poll(ctx, i); err != nil {
			return 0, err
		}
		sum := 0.0
		for j, k := range s.p.K.Row(i) {
			if j == i {
				k = s.diag[i]
			}
			sum += math.Abs(k)
			squares += k * k
		}
		rowSum = max(rowSum, sum)
	}
	return min(rowSum, math.Sqrt(squares)), nil
}

// holding is the part of the problem that the first stage of an epoch works on, in memory.
type holding struct {
	of      []int     // indices of the points that are held
	k       []float64 // kernel values among these points, row by row
	f, from []float64 // F of these points; their α when F of all points was last up to date
	order   []int     // the order of visits, as positions in of
	gain    float64   // growth of W in this stage so far
}

// maxHeld is the largest number of points in a holding, for 128 MiB of kernel values.
const maxHeld = 4096

// enough is the share of a stage's gain below which a pass counts as no progress.
const enough = 1e-3

// hold copies the part of K for the first stage into memory. The stage visits the free points
// with TwoStage, and the points with α ≠ 0 with AscendingAlpha. The points that the next full
// pass visits are stored in s.order.
func (s *ascent) hold(ctx context.Context) error {
	b := &holding{}
	s.order = s.order[:0]
	for i, a := range s.alpha {
		in := a != 0
		if s.m.Order == TwoStage {
			in = a > s.p.Lower[i] && a < s.p.Upper[i]
		}
		if in = in && len(b.of) < maxHeld; in {
			b.order = append(b.order, len(b.of))
			b.of = append(b.of, i)
		}
		if !in || s.m.Order == TwoStage {
			s.order = append(s.order, i)
		}
	}
	m := len(b.of)
	if m == 0 {
		return nil
	}
	b.k, b.f, b.from = make([]float64, 0, m*m), make([]float64, m), make([]float64, m)
	for k, i := range b.of {
		if err := s.poll(ctx, k); err != nil {
			return err
		}
		row := s.p.K.Row(i)
		for _, j := range b.of {
			b.k = append(b.k, row[j])
		}
	}
	s.held = b
	return nil
}

// stage visits the held points again and again until they make no more progress or n visits
// have been made.
func (s *ascent) stage(ctx context.Context) error {
	b, m, n := s.held, len(s.held.of), len(s.alpha)
	for k, i := range b.of {
		b.f[k], b.from[k] = s.f[i], s.alpha[i]
	}
	ended, moves := false, 0
	var err error
	for visits := 0; visits < n && !ended && err == nil; visits += m {
		if s.m.Order == AscendingAlpha {
			slices.SortFunc(b.order, func(k, l int) int {
				return cmp.Or(cmp.Compare(s.alpha[b.of[k]], s.alpha[b.of[l]]), cmp.Compare(k, l))
			})
		}
		gain, moved := s.gain, false
		for _, k := range b.order {
			i := b.of[k]
			if s.m.Order == AscendingAlpha && s.alpha[i] == 0 || s.m.Order == TwoStage && !s.violates(i, b.f[k]) {
				continue
			}
			var t float64
			if t, err = s.step(i, b.f[k]); err != nil {
				break
			}
			if t == 0 {
				continue
			}
			moved = true
			vec.Axpy(b.f, -t, b.k[k*m:(k+1)*m])
			b.f[k] -= t * s.p.ridge(i)
			moves++
			if err = s.poll(ctx, moves); err != nil {
				break
			}
		}
		gain = s.gain - gain
		b.gain += gain
		ended = !moved || s.m.Order == AscendingAlpha && gain <= enough*b.gain
	}
	if ended {
		s.held = nil
	}
	if late := s.catchUp(ctx, b.of, b.from); err == nil {
		err = late
	}
	return err
}
