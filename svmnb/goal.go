package svmnb

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// Goal is what a threshold is chosen for. [ForCost], [ForRecall], [ForPrecision],
// [ForFalsePositiveRate], [ForF1] and [ForBalancedAccuracy] make one.
type Goal struct {
	kind                         goalKind
	falsePositive, falseNegative float64 // costs
	share                        float64 // what a rate must keep
	folds                        int     // 0 means 5
	seed                         uint64
}

type goalKind int

const (
	noGoal goalKind = iota
	forCost
	forRecall
	forPrecision
	forFalsePositiveRate
	forF1
	forBalancedAccuracy
)

// ForCost chooses the threshold at which the errors cost least. A false positive, a point of
// the negative class that is predicted as positive, costs falsePositive; a false negative
// costs falseNegative. Both are numbers ≥ 0, at least one of them positive. Only their ratio
// matters for the choice.
func ForCost(falsePositive, falseNegative float64) Goal {
	return Goal{kind: forCost, falsePositive: falsePositive, falseNegative: falseNegative}
}

// ForRecall chooses the threshold with the fewest false positives at which at least this
// share of the positive points, in (0, 1], is predicted as positive.
func ForRecall(atLeast float64) Goal { return Goal{kind: forRecall, share: atLeast} }

// ForPrecision chooses the threshold with the largest recall at which at least this share of
// the points predicted as positive, in (0, 1], is positive.
func ForPrecision(atLeast float64) Goal { return Goal{kind: forPrecision, share: atLeast} }

// ForFalsePositiveRate chooses the threshold with the largest recall at which at most this
// share of the negative points, in [0, 1), is predicted as positive.
func ForFalsePositiveRate(atMost float64) Goal {
	return Goal{kind: forFalsePositiveRate, share: atMost}
}

// ForF1 chooses the threshold with the largest F1 of the positive class, the harmonic mean of
// precision and recall.
func ForF1() Goal { return Goal{kind: forF1} }

// ForBalancedAccuracy chooses the threshold with the largest mean of the recalls of both
// classes (Youden 1950).
func ForBalancedAccuracy() Goal { return Goal{kind: forBalancedAccuracy} }

// Folds sets how many folds are held out, from 2 to the number of points, and the seed of
// their random choice. The default is 5 folds with the seed 0.
func (g Goal) Folds(folds int, seed uint64) Goal { g.folds, g.seed = folds, seed; return g }

// String returns the call that makes the goal.
func (g Goal) String() string {
	s := ""
	switch g.kind {
	case forCost:
		s = fmt.Sprintf("ForCost(%s, %s)", say.Number(g.falsePositive), say.Number(g.falseNegative))
	case forRecall:
		s = fmt.Sprintf("ForRecall(%s)", say.Number(g.share))
	case forPrecision:
		s = fmt.Sprintf("ForPrecision(%s)", say.Number(g.share))
	case forFalsePositiveRate:
		s = fmt.Sprintf("ForFalsePositiveRate(%s)", say.Number(g.share))
	case forF1:
		s = "ForF1()"
	case forBalancedAccuracy:
		s = "ForBalancedAccuracy()"
	default:
		s = "Goal{}"
	}
	if g.folds != 0 {
		s += fmt.Sprintf(".Folds(%d, %d)", g.folds, g.seed)
	}
	return s
}

// words says what the goal asks for, in a figure.
func (g Goal) words() string {
	switch g.kind {
	case forCost:
		return fmt.Sprintf("a false positive costs %s, a false negative %s", say.Number(g.falsePositive), say.Number(g.falseNegative))
	case forRecall:
		return "recall at least " + say.Number(g.share)
	case forPrecision:
		return "precision at least " + say.Number(g.share)
	case forFalsePositiveRate:
		return "false positive rate at most " + say.Number(g.share)
	case forF1:
		return "the largest F1"
	}
	return "the largest balanced accuracy"
}

// check returns the error of the goal, or nil.
func (g Goal) check() error {
	share := func(call, of, interval string, ok bool) error {
		return arguments.WrongIf(!ok, call, g.share, "the share is %v; give a share of the %s, in %s", g.share, of, interval)
	}
	positive := g.share > 0 && g.share <= 1
	switch g.kind {
	case forCost:
		fine := func(c float64) bool { return c >= 0 && !math.IsInf(c, 1) }
		ok := fine(g.falsePositive) && fine(g.falseNegative) && g.falsePositive+g.falseNegative > 0
		return arguments.WrongIf(!ok, "ForCost", g.falsePositive, "the costs are %v and %v; give two numbers ≥ 0, at least one of them positive", g.falsePositive, g.falseNegative)
	case forRecall:
		return share("ForRecall", "positive points", "(0, 1]", positive)
	case forPrecision:
		return share("ForPrecision", "points predicted as positive", "(0, 1]", positive)
	case forFalsePositiveRate:
		return share("ForFalsePositiveRate", "negative points", "[0, 1)", g.share >= 0 && g.share < 1)
	case noGoal:
		return arguments.Wrong("Threshold", math.NaN(), "there is no goal; give one such as svmnb.ForCost(1, 20)")
	}
	return nil
}

// taken counts the points whose score is at least a threshold.
type taken struct {
	threshold float64 // halfway between two scores
	lowest    float64 // the lowest score that is taken; where none is, a place above all scores
	right     int     // positive points that are taken
	wrong     int     // negative points that are taken

	positives, negatives int // of all points
}

// countTaken counts for every threshold that separates other points, from the one that takes
// none to the one that takes all. It returns an error if a class has no points.
func countTaken(e *Evaluation) ([]taken, error) {
	r, err := e.ROC()
	if err != nil {
		return nil, err
	}
	positives := 0
	for _, k := range e.Truth {
		positives += k
	}
	negatives := len(e.Truth) - positives
	counts := make([]taken, len(r.Threshold))
	for k, score := range r.Threshold {
		c := taken{threshold: score, lowest: score, positives: positives, negatives: negatives}
		c.right, c.wrong = int(math.Round(r.TPR[k]*float64(positives))), int(math.Round(r.FPR[k]*float64(negatives)))
		switch last := len(counts) - 1; {
		case k == 0:
			highest := r.Threshold[1]
			c.threshold, c.lowest = math.Nextafter(highest, math.Inf(1)), highest+0.02*(highest-r.Threshold[last])
			c.lowest = max(c.lowest, c.threshold)
		case k < last:
			below := r.Threshold[k+1]
			if middle := below + (score-below)/2; middle > below && middle <= score {
				c.threshold = middle
			}
		}
		counts[k] = c
	}
	return counts, nil
}

// at returns the counts at a threshold.
func at(counts []taken, threshold float64) taken {
	c := counts[0]
	for _, next := range counts[1:] {
		if next.lowest < threshold {
			break
		}
		c = next
	}
	return c
}

// measure is a number that follows from the counts at a threshold.
type measure struct {
	name string
	of   func(c taken) float64
}

var (
	recallAt    = measure{"recall", func(c taken) float64 { return float64(c.right) / float64(c.positives) }}
	precisionAt = measure{"precision", func(c taken) float64 { return float64(c.right) / float64(c.right+c.wrong) }} // NaN if no point is taken
	falseAt     = measure{"false positive rate", func(c taken) float64 { return float64(c.wrong) / float64(c.negatives) }}
)

// measures returns what the goal looks at; the first one decides.
func (g Goal) measures() []measure {
	switch g.kind {
	case forCost:
		return []measure{{"cost per point", func(c taken) float64 {
			cost := g.falsePositive*float64(c.wrong) + g.falseNegative*float64(c.positives-c.right)
			return cost / float64(c.positives+c.negatives)
		}}}
	case forRecall:
		return []measure{recallAt, precisionAt}
	case forPrecision:
		return []measure{precisionAt, recallAt}
	case forFalsePositiveRate:
		return []measure{falseAt, recallAt}
	case forF1:
		return []measure{{"F1", func(c taken) float64 {
			return 2 * float64(c.right) / float64(c.positives+c.right+c.wrong)
		}}}
	case forBalancedAccuracy:
		return []measure{{"balanced accuracy", func(c taken) float64 { return (recallAt.of(c) + 1 - falseAt.of(c)) / 2 }}}
	}
	return nil
}

// bounded reports whether the goal is a rate that must be kept.
func (g Goal) bounded() bool {
	return g.kind == forRecall || g.kind == forPrecision || g.kind == forFalsePositiveRate
}

// choose returns the index of the best threshold. Of equally good ones, it is the nearest to
// the usual threshold.
func (g Goal) choose(counts []taken, usual float64) (int, error) {
	first := g.measures()[0].of
	worse := func(a, b taken) int { // a positive number if b is better
		switch g.kind {
		case forCost:
			return cmp.Compare(first(a), first(b))
		case forRecall:
			return cmp.Or(cmp.Compare(a.wrong, b.wrong), cmp.Compare(b.right, a.right))
		case forPrecision, forFalsePositiveRate:
			return cmp.Or(cmp.Compare(b.right, a.right), cmp.Compare(a.wrong, b.wrong))
		}
		return cmp.Compare(first(b), first(a))
	}
	best := -1
	for k, c := range counts {
		v := first(c)
		if g.kind == forFalsePositiveRate && v > g.share || g.bounded() && g.kind != forFalsePositiveRate && !(v >= g.share) {
			continue
		}
		if best >= 0 {
			if order := cmp.Or(worse(counts[best], c), cmp.Compare(math.Abs(counts[best].threshold-usual), math.Abs(c.threshold-usual))); order <= 0 {
				continue
			}
		}
		best = k
	}
	if best < 0 { // only a precision may be out of reach
		highest := slices.MaxFunc(counts[1:], func(a, b taken) int { return cmp.Compare(first(a), first(b)) })
		return 0, arguments.Wrong("Threshold", g.share, "no threshold has a precision of %s on the held-out points; the largest is %s", say.Number(g.share), say.Signed(first(highest), 4))
	}
	return best, nil
}
