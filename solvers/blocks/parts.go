package blocks

import (
	"context"
	"math"
	"slices"

	"github.com/svmnb/svmnb/internal/chol"
)

// With many points, working sets are chosen for a while from some of the variables that may move, if
// few α are free. These variables are called the part. A working set then updates F of the part
// only. When the next part is chosen, F of all other variables is only estimated. The estimate
// decides which variables enter the part, and then F of these is updated if necessary. Later, too few variables may
// move for this. Then the part has all that may move by the estimate.

// leastPart is the least number of variables in a part.
var leastPart = 1 << 16

// The size of a part, and when parts are used:
const (
	perFreeInPart = 4.0 / 3 // a part has at least 4/3 as many variables as α are free,
	nearPerPart   = 8       // and at least 1/8 of the variables that may move
	partsPerNear  = 3       // parts are used if at least 3 of them fit into the variables that may move,
	leastPerFree  = 3       // if at most 1/3 of these have a free α,
	mostPerFree   = 48      // and if at least 1/48 of these have one, or parts have been used before
)

// When a part is left; see over:
const (
	enough = 0.75 // the share to which the violation of a part has to fall
	plenty = 0.2  // a part is left in any case when its violation has fallen to this share
)

// valuesPerStep is the work of a step of SMO in kernel values, for each variable of the working set. It
// was measured: 1.2 ns, as four kernel values.
const valuesPerStep = 4

// The estimate of F. The error is the standard deviation at some points, relative to the violation with
// which the part began.
const (
	fewest      = 384  // number of landmarks at first
	landmarks   = 3072 // largest number of landmarks
	perLandmark = 16   // the least number of points for each landmark
	loading     = 1e-5 // λ, relative to K_ii; it keeps the coefficients of the landmarks small
	keptError   = 0.02 // up to this error, the variables that enter a part keep the estimate,
	finerError  = 0.05 // with a larger one than this, the number of landmarks is doubled,
	mostError   = 0.25 // and with a larger one than this, F of all variables is updated
)

// candidates returns the variables from which a part may be chosen, which are the active ones that may
// move soon. It also returns the size of the part, and whether it saves
// time to choose working sets from such a part only.
func (s *engine) candidates() (near []int, size int, pays bool) {
	near = s.near()
	size = max(leastPart, int(perFreeInPart*float64(s.free)), len(near)/nearPerPart)
	n := len(near)
	enoughFree := n <= mostPerFree*s.free || s.rough != nil // parts that have been used before go on
	return near, size, partsPerNear*size <= n && leastPerFree*s.free <= n && enoughFree
}

// focus begins with the first part, if parts save time, and reports whether it did so. It does not begin
// while shrinking has left variables out: shrinking then works without parts.
func (s *engine) focus() bool {
	if !s.large || s.partial() {
		return false
	}
	near, size, pays := s.candidates()
	if !pays {
		return false
	}
	s.mark()
	s.enter(s.worst(near, size))
	return true
}

// moveOn goes on to the next part. F of the variables that were left out is estimated at first. It is
// updated for those that enter the part, unless the estimate has a small error. moveOn returns false and keeps the part if the estimate is too
// rough, if more than half of these would enter, or if the estimate has become so bad that W rises
// too slowly; see progress. Then F of all has to be updated.
func (s *engine) moveOn(ctx context.Context) bool {
	last := s.part
	s.parts.taken, s.parts.gain = s.parts.taken+last.taken, s.parts.gain+last.gain
	s.part = progress{}
	s.changes()
	out := s.stalePoints(nil)
	if last.rate(0) < s.parts.rate(len(out)*len(s.points)) {
		return false
	}
	coef, e := s.estimated(ctx, out)
	if coef == nil || !s.renew(ctx, out, s.rough.points, coef) {
		return false
	}
	was := slices.Clone(s.active)
	s.activateAll()
	s.ends()
	near, size, pays := s.candidates()
	if !pays {
		size = len(near)
	}
	part := s.worst(near, size)
	enter := s.stalePoints(part)
	if 2*len(enter) > len(out) || e > keptError && !s.renew(ctx, enter, s.points, s.coef) {
		s.active = append(s.active[:0], was...)
		s.ends()
		return false
	}
	for _, v := range part {
		s.stale[v] = s.stale[v] && e <= keptError
	}
	s.enter(part)
	s.wide, s.due = s.violation(), 2*s.part.taken
	return true
}

// progress is how much W has risen in one part, or in several, and the work that this took. moveOn
// compares such progress to decide when to update F of all variables. The estimate of F gets worse
// from part to part, so W rises more slowly. An update pays as soon as the last part has a smaller
// rate than all parts since the last update, with the work of the next update added to theirs
// (marginal value theorem, Charnov 1976).
type progress struct {
	taken int     // work, in kernel values; see valuesPerStep for the steps of SMO
	gain  float64 // the rise of W
}

// rate returns the rise of W per kernel value, as if more values had been taken.
func (p progress) rate(more int) float64 { return p.gain / max(1, float64(p.taken+more)) }

// over reports whether it is time for the next part. That is when the violation of the part has
// fallen by a quarter and its sets have taken as many kernel values as choosing it has, or when the
// violation has fallen so far that other variables matter more.
func (s *engine) over() bool {
	v := s.violation()
	return v <= enough*s.wide && (s.part.taken >= s.due || v <= plenty*s.wide)
}

// worst chooses a part: all variables with a free α and those with the largest violations. The
// result is sorted.
func (s *engine) worst(near []int, size int) []int {
	key := s.key[:len(near)]
	most := s.violation()
	for k, v := range near {
		f, e := s.f[v], &s.end[s.group(v)]
		middle := (e.up + e.low) / 2
		key[k] = max(f+s.noRise[v]-middle, middle-f-s.noFall[v])
		if s.noRise[v] == 0 && s.noFall[v] == 0 {
			key[k] += most
		}
	}
	foremost(key, near, size)
	part := near[:size]
	slices.Sort(part)
	return part
}

// enter makes only the variables of the part active.
func (s *engine) enter(part []int) {
	s.leave(part)
	s.focused = true
	s.ends()
	s.best, s.still = s.violation(), 0
}

// stalePoints returns the points of some variables, or of all if some is nil, at which F is stale.
func (s *engine) stalePoints(some []int) []int {
	var points []int
	if some == nil {
		for i := range s.n {
			if s.stale[i] || s.n < len(s.stale) && s.stale[s.n+i] {
				points = append(points, i)
			}
		}
		return points
	}
	for _, v := range some {
		if s.stale[v] {
			points = append(points, v%s.n)
		}
	}
	slices.Sort(points)
	return slices.Compact(points)
}

// changes sets s.points and s.coef to the changes of α since F of all variables was last up to date.
func (s *engine) changes() {
	s.points, s.coef = s.points[:0], s.coef[:0]
	for v, a := range s.alpha {
		if d := a - s.base[v]; d != 0 {
			s.points, s.coef = append(s.points, v%s.n), append(s.coef, -s.p.S[v]*d)
		}
	}
}

// renew computes F where it is stale, at the points in the slice at. The new F is that of the last update
// of all variables plus Σ coef K over points.
func (s *engine) renew(ctx context.Context, at, points []int, coef []float64) bool {
	s.part.taken += len(at) * len(points)
	return s.fromBase(ctx, at, false, points, coef, false)
}

// fromBase is renew, for all variables at these points if all is set. With exact, kernel values are in
// double precision.
func (s *engine) fromBase(ctx context.Context, at []int, all bool, points []int, coef []float64, exact bool) bool {
	clear(s.sum[:len(at)])
	if s.k.AddTo(ctx, s.sum[:len(at)], nil, at, points, coef, exact) != nil {
		return false
	}
	for r, i := range at {
		for v := i; v < len(s.f); v += s.n {
			if all || s.stale[v] {
				s.f[v] = s.fBase[v] + s.sum[r]
				if s.p.Ridge != nil {
					s.f[v] -= s.p.S[v] * s.p.Ridge[v] * (s.alpha[v] - s.base[v])
				}
			}
		}
	}
	return true
}

// estimate estimates a sum Σ_j c_j K(x, x_j) over many points j by a sum over a few points, the
// landmarks L: Σ_{l∈L} w_l K(x, x_l), where (K_LL + λI) w = K_LJ c. This is Nyström's method
// (Williams and Seeger 2001).
type estimate struct {
	points []int
	factor *chol.Panels[float64] // nil if K_LL + λI is not positive definite
}

// estimated returns the coefficients of the landmarks, or nil if they estimate F too roughly at the
// points out. It takes more landmarks where that may help.
func (s *engine) estimated(ctx context.Context, out []int) ([]float64, float64) {
	most := min(landmarks, max(2, s.n/perLandmark))
	if s.rough == nil {
		s.rough = s.newEstimate(ctx, min(fewest, most))
	}
	for {
		coef := s.rough.coefficients(ctx, s)
		if coef == nil {
			return nil, 0
		}
		e := s.roughness(ctx, out, coef)
		if m := len(s.rough.points); e > finerError && m < most {
			s.rough = s.newEstimate(ctx, min(2*m, most))
			continue
		}
		if e > mostError {
			return nil, e
		}
		return coef, e
	}
}

func (s *engine) newEstimate(ctx context.Context, m int) *estimate {
	e := &estimate{points: make([]int, m)}
	for k := range e.points {
		e.points[k] = k * s.n / m
	}
	if m*m > cap(s.spare) {
		s.spare = make([]float32, m*m)
	}
	values := s.spare[:m*m]
	s.k.Among(values, e.points, nil, nil)
	factor, row := chol.New[float64](m), make([]float64, m)
	for k := range m {
		for j, v := range values[k*m:][:k+1] {
			row[j] = float64(v)
		}
		row[k] += loading * row[k]
		factor.SetRow(k, row[:k+1])
	}
	if pivot, err := factor.Factor(ctx); err == nil && pivot == m {
		e.factor = factor
	}
	return e
}

// coefficients returns w for the changes of α, or nil if there is no factor.
func (e *estimate) coefficients(ctx context.Context, s *engine) []float64 {
	w := make([]float64, len(e.points))
	if e.factor == nil || s.k.AddTo(ctx, w, nil, e.points, s.points, s.coef, true) != nil {
		return nil
	}
	e.factor.Forward(w)
	e.factor.Backward(w)
	return w
}

// roughness returns the error of an estimate of F. coef has the coefficients of the landmarks. The error is
// measured at up to 512 points of the slice out. An error that is the same at all points changes no
// violation, so it does not count.
func (s *engine) roughness(ctx context.Context, out []int, coef []float64) float64 {
	some := make([]int, min(looked, len(out)))
	for k := range some {
		some[k] = out[k*len(out)/len(some)]
	}
	off, guess := make([]float64, len(some)), make([]float64, len(some))
	if s.k.AddTo(ctx, off, nil, some, s.points, s.coef, true) != nil || s.k.AddTo(ctx, guess, nil, some, s.rough.points, coef, false) != nil {
		return math.Inf(1)
	}
	mean, square := 0.0, 0.0
	for k := range off {
		off[k] -= guess[k]
		mean += off[k] / float64(len(off))
	}
	for _, v := range off {
		square += (v - mean) * (v - mean) / float64(len(off))
	}
	return math.Sqrt(square) / s.wide
}
