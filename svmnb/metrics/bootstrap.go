package metrics

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Bootstrap estimates how certain a metric of n points is. It computes the metric again for
// n points drawn from them with replacement, many times (Efron and Tibshirani 1993). The
// zero value uses the defaults.
type Bootstrap struct {
	Replicates int     // how many times; 0 means 1000
	Level      float64 // confidence level, in (0, 1); 0 means 0.95
	Seed       uint64

	// Percentile chooses the percentile interval (ch. 13): the quantiles of the replicates.
	// The default is the BCa interval (ch. 14), which corrects these for bias and skewness
	// and needs n more evaluations of the metric.
	Percentile bool
}

// mostReplicates limits the number of values that are kept: 80 MB.
const mostReplicates = 10_000_000

// Interval is a metric with its confidence interval.
type Interval struct {
	Value, Low, High float64
	Level            float64
	Undefined        int // replicates for which the metric was not defined; they are left out
}

func (i Interval) String() string { return fmt.Sprintf("%.4g [%.4g, %.4g]", i.Value, i.Low, i.High) }

// Of returns the confidence interval of a metric of n points. The argument rows of the
// metric are indices of points, some of them repeated; the metric must neither keep nor
// change them. For some draws, such as one without a point of a class, the metric may
// return an error or NaN. If it does so for most draws, Of returns its error. When ctx ends
// early, Of returns context.Cause(ctx).
func (b Bootstrap) Of(ctx context.Context, n int, metric func(rows []int) (float64, error)) (Interval, error) {
	if ctx == nil {
		return Interval{}, wrong("Bootstrap", "ctx", -1, math.NaN(), "the context is nil; give context.Background()")
	}
	if b.Replicates == 0 {
		b.Replicates = 1000
	}
	if b.Level == 0 {
		b.Level = 0.95
	}
	switch {
	case n < 1:
		return Interval{}, wrong("Bootstrap", "n", -1, float64(n), "there are %d points; give at least one", n)
	case b.Replicates < 10:
		return Interval{}, wrong("Bootstrap", "Replicates", -1, float64(b.Replicates), "%d replicates have no quantiles; take at least 10", b.Replicates)
	case b.Replicates > mostReplicates:
		return Interval{}, wrong("Bootstrap", "Replicates", -1, float64(b.Replicates), "%d replicates are more than anybody waits for; take at most %d", b.Replicates, mostReplicates)
	case !(b.Level > 0 && b.Level < 1):
		return Interval{}, wrong("Bootstrap", "Level", -1, b.Level, "%v is no level of confidence; it lies in (0, 1)", b.Level)
	}
	if metric == nil {
		return Interval{}, wrong("Bootstrap", "metric", -1, math.NaN(), "the metric is nil; give a function of the rows")
	}
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	value, err := metric(rows)
	if err != nil {
		return Interval{}, err
	}
	out := Interval{Value: value, Level: b.Level}
	rng := rand.New(rand.NewPCG(b.Seed, 0xb007))
	replicates := make([]float64, 0, b.Replicates)
	for range b.Replicates {
		if ctx.Err() != nil {
			return Interval{}, context.Cause(ctx)
		}
		for i := range rows {
			rows[i] = rng.IntN(n)
		}
		v, e := metric(rows)
		if e != nil || math.IsNaN(v) {
			out.Undefined++
			err = e
			continue
		}
		replicates = append(replicates, v)
	}
	if 2*out.Undefined > b.Replicates {
		if err == nil {
			err = wrong("Bootstrap", "metric", -1, math.NaN(), "it is NaN for %d of %d draws; give more points", out.Undefined, b.Replicates)
		}
		return Interval{}, err
	}
	slices.Sort(replicates)
	z0, a := 0.0, 0.0
	if !b.Percentile {
		if a, err = acceleration(ctx, n, rows, metric); err != nil {
			return Interval{}, err
		}
		z0 = bias(replicates, value)
	}
	end := func(level float64) float64 {
		if z := z0 + normalQuantile(level); !b.Percentile && 1-a*z > 0 {
			level = normal(z0 + z/(1-a*z))
		}
		return quantile(replicates, level)
	}
	out.Low, out.High = end((1-b.Level)/2), end((1+b.Level)/2)
	return out, nil
}

// bias returns z₀ of BCa (eq. 14.14): how far the median of the replicates is from the
// value, in standard normal deviations. Equal values count half, since metrics that count
// points have many of them.
func bias(replicates []float64, value float64) float64 {
	below := 0.0
	for _, v := range replicates {
		switch {
		case v < value:
			below++
		case v == value:
			below += 0.5
		}
	}
	n := float64(len(replicates))
	return normalQuantile(min(max(below, 0.5), n-0.5) / n)
}

// acceleration returns a of BCa (eq. 14.15), computed by leaving out each point in turn. It
// is 0 if this never changes the metric, or if the metric is not defined.
func acceleration(ctx context.Context, n int, rows []int, metric func([]int) (float64, error)) (float64, error) {
	if n < 2 {
		return 0, nil
	}
	values, sum := make([]float64, n), 0.0
	rows = rows[:n-1]
	for out := range values {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		for i := range rows {
			rows[i] = i
			if i >= out {
				rows[i]++
			}
		}
		v, err := metric(rows)
		if err != nil || math.IsNaN(v) {
			return 0, nil
		}
		values[out] = v
		sum += v
	}
	squares, cubes := 0.0, 0.0
	for _, v := range values {
		d := sum/float64(n) - v
		squares += d * d
		cubes += d * d * d
	}
	if squares == 0 {
		return 0, nil
	}
	return cubes / (6 * squares * math.Sqrt(squares)), nil
}

// quantile returns a quantile of sorted values with linear interpolation (Hyndman and Fan's
// type 7).
func quantile(sorted []float64, level float64) float64 {
	at := level * float64(len(sorted)-1)
	k := int(at)
	if k+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	if f := at - float64(k); f > 0 {
		return sorted[k] + f*(sorted[k+1]-sorted[k])
	}
	return sorted[k] // avoids Inf − Inf
}

func normal(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

func normalQuantile(p float64) float64 { return -math.Sqrt2 * math.Erfcinv(2*p) }
