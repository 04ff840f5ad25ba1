package svmnb

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// CostBounds bounds the error of the exact machines for all C of an interval on points that were
// held out; see [Classifier.BestCost].
type CostBounds struct {
	C     float64    // the C with the smallest error among the fits
	Error float64    // this error, a share of the points in [0, 1]
	Spans []CostSpan // the interval in parts, in increasing order
	Fits  int

	words string
}

// CostSpan is a part of the interval of C.
type CostSpan struct {
	From, To float64
	Error    float64 // of the fit at From
	Least    float64 // no C of the part has a smaller error
}

// Better returns by how much the error of any C in the interval can be below that of C: a share
// of the points in [0, 1].
func (b *CostBounds) Better() float64 {
	if b == nil {
		return math.NaN()
	}
	least := b.Error
	for _, s := range b.Spans {
		least = min(least, s.Least)
	}
	return b.Error - least
}

const (
	costRatio  = 2    // C of the first fits differ by at most this factor
	costFinest = 1e-4 // logarithm of the ends of the smallest parts
)

// BestCost looks for the C between from and to, two positive numbers, whose machine makes the
// fewest errors on points that were held out. It ends when no C of the interval can be better by
// more than within, a share of these points in [0, 1), or after as many fits as most says; 0 means
// 500. Better says what was reached. A fit says something about all C above its own, since its α
// is feasible for them (after Shibagaki, Suzuki, Karasuyama and Takeuchi 2015; docs/math.md has
// the bound). It works with the 1-norm soft margin. When ctx ends early, BestCost returns an
// error that wraps context.Cause(ctx). Other errors are those of Fit and Accuracy.
func (c Classifier) BestCost(ctx context.Context, held *datasets.Dataset, from, to, within float64, most int) (_ *CostBounds, err error) {
	defer guard.Caught(&err)
	if err := arguments.Given(ctx, "BestCost"); err != nil {
		return nil, err
	}
	switch {
	case c.margin != oneNorm:
		return nil, arguments.Wrong("BestCost", math.NaN(), "the bound is that of the 1-norm soft margin; leave TwoNorm, HardMargin and Nu out")
	case !(from > 0 && from < to) || math.IsInf(to, 1):
		return nil, arguments.Wrong("BestCost", from, "C goes from %v to %v; give two positive numbers in order", from, to)
	case !(within >= 0 && within < 1):
		return nil, arguments.Wrong("BestCost", within, "the error may be better by %v; give a share of the points, in [0, 1)", within)
	case held == nil:
		return nil, arguments.Wrong("BestCost", math.NaN(), "there are no points to measure the error; give some that the machine does not learn from")
	case most < 0:
		return nil, arguments.Wrong("BestCost", float64(most), "there may be %d fits; give a positive number, or 0 for 500", most)
	}
	if most == 0 {
		most = 500
	}
	if err := held.Check(); err != nil {
		return nil, err
	}
	first, err := c.C(from).prepare()
	if err != nil {
		return nil, err
	}
	s := &costSearch{ctx: ctx, first: first, held: points.Of(held), fits: map[float64]*Fit{}, wrong: map[float64][]bool{}, out: &CostBounds{Error: 2}}
	s.out.words = fmt.Sprintf("%s · %s, 1-norm soft", first.data.Name, say.Brief(first.kernel.String()))
	for i, y := range held.Y {
		switch held.ClassName(y) {
		case first.positive:
			s.side = append(s.side, 1)
		case first.negative:
			s.side = append(s.side, 0)
		default:
			return nil, unknownClass("BestCost", i, held, []string{first.negative, first.positive})
		}
	}
	parts := int(math.Ceil(math.Log(to/from) / math.Log(costRatio)))
	at := func(k int) float64 { return from * math.Pow(to/from, float64(k)/float64(parts)) }
	open := [][2]float64{}
	for k := range parts + 1 {
		if err := s.fit(at(k)); err != nil {
			return nil, err
		}
		if k < parts {
			open = append(open, [2]float64{at(k), at(k + 1)})
		}
	}
	for len(open) > 0 {
		part := open[len(open)-1]
		open = open[:len(open)-1]
		least, err := s.least(part[0], part[1])
		if err != nil {
			return nil, err
		}
		middle := math.Sqrt(part[0] * part[1])
		if least < s.out.Error-within-1e-12 && s.out.Fits < most && math.Log(part[1]/part[0]) > costFinest {
			if err := s.fit(middle); err != nil {
				return nil, err
			}
			open = append(open, [2]float64{part[0], middle}, [2]float64{middle, part[1]})
			continue
		}
		s.out.Spans = append(s.out.Spans, CostSpan{part[0], part[1], s.errorAt(part[0]), least})
	}
	slices.SortFunc(s.out.Spans, func(a, b CostSpan) int { return sign(a.From - b.From) })
	return s.out, nil
}

func sign(v float64) int {
	switch {
	case v < 0:
		return -1
	case v > 0:
		return 1
	}
	return 0
}

// costSearch is a run of BestCost.
type costSearch struct {
	ctx   context.Context
	first *task // at the smallest C
	held  points.Points
	side  []int // the true class of each held-out point
	fits  map[float64]*Fit
	wrong map[float64][]bool
	out   *CostBounds
}

// at returns the task for another C. All share one kernel matrix.
func (s *costSearch) at(c float64) *task {
	t := *s.first
	t.c = c
	p := *t.problem
	p.Upper = scaledBy(p.Upper, c/s.first.c)
	t.cost, t.problem = p.Upper, &p
	return &t
}

func scaledBy(v []float64, by float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = by * x
	}
	return out
}

// fit trains the machine at c, from the scaled α of the largest C below.
func (s *costSearch) fit(c float64) error {
	if s.fits[c] != nil {
		return nil
	}
	t := s.at(c)
	var near *Fit
	for other, f := range s.fits {
		if other < c && (near == nil || other > near.task.c) {
			near = f
		}
	}
	if near != nil {
		ratio := c / near.task.c
		t.start, t.startF = scaledBy(near.Alpha, ratio), make([]float64, len(near.F))
		for i, v := range near.F {
			t.start[i] = min(t.start[i], t.problem.Upper[i])
			t.startF[i] = t.y[i] - ratio*(t.y[i]-v)
		}
	}
	f, err := t.solve(s.ctx)
	if err != nil {
		return err
	}
	t.start, t.startF = nil, nil
	s.fits[c] = f
	s.out.Fits++
	values, err := f.expansion.At("BestCost", "classifier", s.held)
	if err != nil {
		return err
	}
	s.wrong[c] = make([]bool, len(values))
	for i, v := range values {
		s.wrong[c][i] = machines.SideOf(v) != s.side[i]
	}
	if e := s.errorAt(c); e < s.out.Error {
		s.out.C, s.out.Error = c, e
	}
	return nil
}

func (s *costSearch) errorAt(c float64) float64 {
	return float64(count(s.wrong[c])) / float64(len(s.side))
}

// least returns a share of the points that are wrong for every C from low to high. The α of the
// fit at low is feasible for each of them; D(α) does not depend on C, and P grows with it, so the
// gap at high is the largest. The room of an α is smallest at low.
func (s *costSearch) least(low, high float64) (float64, error) {
	f := s.fits[low]
	if f.F == nil {
		return 0, nil
	}
	widest := *f.task.problem
	widest.Upper = scaledBy(widest.Upper, high/low)
	c := solvers.CertifyWith(&widest, f.Alpha, f.F)
	b := f.task.machine.ball(f.task.problem, f.Alpha, f.F, max(0, c.Gap)+c.Equality*math.Abs(c.Bias), f.Certificate.Bias, 16*c.Rounding)
	certain, err := b.certain(s.held, f.expansion.Values(s.held), 0, quick, thorough)
	if err != nil {
		return 0, err
	}
	n := 0
	for i, sure := range certain {
		if sure && s.wrong[low][i] {
			n++
		}
	}
	return float64(n) / float64(len(certain)), nil
}

// Markdown says which C was found, and how much better any other can be.
func (b *CostBounds) Markdown() string {
	if b == nil || len(b.Spans) == 0 {
		return arguments.NoFit("Markdown").Error()
	}
	s := say.NewSummary()
	s.Row("**problem**", "%s", b.words)
	s.Row("**best C**", "%s, with an error of %s on the points held out", say.Signed(b.C, 4), say.Percent(b.Error))
	s.Row("**bound**", "no C from %s to %s has an error more than %s of the points below that", say.Signed(b.Spans[0].From, 4), say.Signed(b.Spans[len(b.Spans)-1].To, 4), say.Percent(b.Better()))
	s.Row("fits", "%d, and bounds of %d parts", b.Fits, len(b.Spans))
	return s.String()
}

// Figure draws the error of the fits and the lower bound of that of all other C.
func (b *CostBounds) Figure() display.LinePlot {
	var found, bound display.Curve
	if b == nil {
		b = &CostBounds{}
	}
	found.Name, bound.Name = "error of the fits", "no C has a smaller error"
	for _, s := range b.Spans {
		found.X, found.Y = append(found.X, s.From), append(found.Y, 100*s.Error)
		bound.X, bound.Y = append(bound.X, s.From, s.To), append(bound.Y, 100*s.Least, 100*s.Least)
	}
	return display.Lines(fmt.Sprintf("No C is better by more than %s", say.Percent(b.Better())), "C", "error on the points held out (%)", found, bound).LogX()
}
