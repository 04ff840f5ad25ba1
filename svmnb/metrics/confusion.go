package metrics

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Confusion counts the points of each true class by their predicted class.
type Confusion struct {
	Classes []string
	Counts  [][]int // Counts[i][j]: points of class i that were predicted as class j
}

// NewConfusion counts n true labels by n predicted ones. classes are all labels that may
// occur, in the order of the rows and columns. Without classes, these are the labels that
// occur, in increasing order.
func NewConfusion[L cmp.Ordered](truth, predicted []L, classes ...L) (*Confusion, error) {
	switch {
	case len(truth) == 0:
		return nil, wrong("NewConfusion", "truth", -1, 0, "there are no labels; give at least one")
	case len(predicted) != len(truth):
		return nil, wrong("NewConfusion", "predicted", -1, float64(len(predicted)), "there are %d labels, and %d of truth; give as many", len(predicted), len(truth))
	}
	if len(classes) == 0 {
		classes = slices.Concat(truth, predicted)
		slices.Sort(classes)
		classes = slices.Compact(classes)
	}
	c := &Confusion{}
	number := map[L]int{}
	for k, class := range classes {
		if _, twice := number[class]; twice || class != class {
			return nil, wrong("NewConfusion", "classes", k, 0, "%v is given twice, or is no number; name each class once", class)
		}
		number[class] = k
		c.Classes = append(c.Classes, fmt.Sprint(class))
		c.Counts = append(c.Counts, make([]int, len(classes)))
	}
	for i := range truth {
		t, ok := number[truth[i]]
		if !ok {
			return nil, wrong("NewConfusion", "truth", i, 0, "%v is not among the classes", truth[i])
		}
		p, ok := number[predicted[i]]
		if !ok {
			return nil, wrong("NewConfusion", "predicted", i, 0, "%v is not among the classes", predicted[i])
		}
		c.Counts[t][p]++
	}
	return c, nil
}

// sums returns, for each class, the number of its points, of predictions of it and of
// correct predictions of it; n is the number of all points.
func (c *Confusion) sums() (truth, predicted, right []float64, n float64) {
	if c == nil {
		return nil, nil, nil, 0
	}
	k := len(c.Classes)
	truth, predicted, right = make([]float64, k), make([]float64, k), make([]float64, k)
	for i, row := range c.Counts {
		for j, count := range row {
			truth[i] += float64(count)
			predicted[j] += float64(count)
			n += float64(count)
		}
		right[i] = float64(row[i])
	}
	return truth, predicted, right, n
}

// N returns the number of points.
func (c *Confusion) N() int { _, _, _, n := c.sums(); return int(n) }

// Accuracy returns the share of correct predictions, in [0, 1].
func (c *Confusion) Accuracy() float64 {
	_, _, right, n := c.sums()
	return total(right) / n
}

// BalancedAccuracy returns the mean recall of the classes that occur, in [0, 1]. This is
// the accuracy if all classes had the same size.
func (c *Confusion) BalancedAccuracy() float64 {
	truth, _, right, _ := c.sums()
	sum, classes := 0.0, 0.0
	for k, n := range truth {
		if n > 0 {
			sum += right[k] / n
			classes++
		}
	}
	return sum / classes
}

// Averages is a metric of each class, and its means over classes or points, all in [0, 1].
type Averages struct {
	PerClass []float64 // in the order of Classes
	Macro    float64   // mean over the classes
	Micro    float64   // the metric of the summed counts of all classes, which equals the accuracy
	Weighted float64   // mean over the points, each with the value of its true class
}

func (c *Confusion) averages(of func(truth, predicted, right float64) float64) Averages {
	truth, predicted, right, n := c.sums()
	a := Averages{PerClass: make([]float64, len(truth)), Micro: of(n, n, total(right))}
	for k := range truth {
		v := of(truth[k], predicted[k], right[k])
		a.PerClass[k] = v
		a.Macro += v / float64(len(truth))
		a.Weighted += v * truth[k] / n
	}
	return a
}

// Precision returns for each class the share of its predictions that are correct; 0 for a
// class that was never predicted.
func (c *Confusion) Precision() Averages {
	return c.averages(func(_, predicted, right float64) float64 { return share(right, predicted) })
}

// Recall returns for each class the share of its points that were predicted as it; 0 for a
// class without points.
func (c *Confusion) Recall() Averages {
	return c.averages(func(truth, _, right float64) float64 { return share(right, truth) })
}

// F1 returns the harmonic mean of precision and recall; 0 for a class that neither occurs
// nor was predicted.
func (c *Confusion) F1() Averages {
	return c.averages(func(truth, predicted, right float64) float64 { return share(2*right, truth+predicted) })
}

// MCC returns the correlation of true and predicted classes, in [−1, 1]: Matthews' for two
// classes, Gorodkin's (2004, eq. 8) for more. It is 0 if all true or all predicted classes
// are the same.
func (c *Confusion) MCC() float64 {
	truth, predicted, right, n := c.sums()
	cov, tt, pp := n*total(right), n*n, n*n
	for k := range truth {
		cov -= truth[k] * predicted[k]
		tt -= truth[k] * truth[k]
		pp -= predicted[k] * predicted[k]
	}
	return share(cov, math.Sqrt(tt)*math.Sqrt(pp))
}

func share(part, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return part / whole
}

func total(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum
}
