package figure

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func confusion(k int) ConfusionData {
	d := ConfusionData{Problem: "made up", Counts: make([][]int, k)}
	for i := range k {
		d.Classes = append(d.Classes, fmt.Sprintf("class of the name %d", i))
		for j := range k {
			d.Counts[i] = append(d.Counts[i], (i*7+j*3)%5)
		}
		d.Counts[i][i] = 40 + i
	}
	return d
}

// steps is a curve of n steps, alternately up and to the right.
func judged() GapsData {
	return GapsData{Problem: "made up", Points: 2000, Names: []string{"LIBSVM", "scikit-learn <i>", "svmnb", "LIBLINEAR, dual coordinate descent"}, Gaps: []float64{3e-4, 2.1e-3, 2e-9, math.NaN()}, Open: []int{12, 30, 0, 900}}
}

func steps(n int) ROCData {
	d := ROCData{Problem: "made up", Positive: "ill", FPR: []float64{0}, TPR: []float64{0}, Threshold: []float64{math.Inf(1)}, AUC: 0.9}
	for k := 1; k <= n; k++ {
		x := float64(k) / float64(n)
		d.FPR, d.TPR, d.Threshold = append(d.FPR, x*x), append(d.TPR, 1-(1-x)*(1-x)), append(d.Threshold, 1-2*x)
	}
	return d
}

func calibration(n int) CalibrationData {
	r := rand.New(rand.NewPCG(1, 2))
	d := CalibrationData{Problem: "made up", Event: "rain"}
	for range n {
		p := r.Float64()
		d.P, d.Happens = append(d.P, p), append(d.Happens, r.Float64() < p*p)
	}
	return d
}

// regions are k sectors around a centre, the last of them wherever no other is.
func regions(k, n int) RegionsData {
	d := RegionsData{Problem: "sectors", Features: [2]string{"east", "north"}, Xs: [2]float64{-2, 2}, Ys: [2]float64{-1.5, 1.5}, Margin: 0.5, Z: make([][][]float64, k)}
	lead := func(c int, x, y float64) float64 {
		best, own := math.Inf(-1), 0.0
		for j := range k {
			a := 2 * math.Pi * float64(j) / float64(k)
			if v := x*math.Cos(a) + y*math.Sin(a); j == c {
				own = v
			} else {
				best = max(best, v)
			}
		}
		return own - best
	}
	for c := range k {
		d.Classes = append(d.Classes, fmt.Sprint("sector ", c))
		for i := range 60 {
			d.Z[c] = append(d.Z[c], make([]float64, 80))
			for j := range 80 {
				d.Z[c][i][j] = lead(c, -2+4*float64(j)/79, -1.5+3*float64(i)/59)
			}
		}
	}
	r := rand.New(rand.NewPCG(3, 4))
	for i := range n {
		x, y := 2*(2*r.Float64()-1), 1.5*(2*r.Float64()-1)
		predicted := 0
		for c := range k {
			if lead(c, x, y) > 0 {
				predicted = c
			}
		}
		class := predicted
		if i%9 == 0 {
			class = i % k
		}
		d.X, d.Class, d.Predicted, d.Support = append(d.X, []float64{x, y}), append(d.Class, class), append(d.Predicted, predicted), append(d.Support, i%4 == 0)
	}
	return d
}

// descent is the precision–recall curve of n scores, every second of them of a positive
// point at first, later fewer.
func descent(n int) PrecisionRecallData {
	d := PrecisionRecallData{Problem: "made up", Positive: "ill", Precision: []float64{1}, Recall: []float64{0}, Threshold: []float64{math.Inf(1)}, AP: 0.7, Share: 0.4}
	right := func(k int) float64 { return math.Ceil(float64(k) * (1 - 0.6*float64(k)/float64(n))) }
	for k := 1; k <= n; k++ {
		d.Recall, d.Precision = append(d.Recall, right(k)/right(n)), append(d.Precision, right(k)/float64(k))
		d.Recall[k] = max(d.Recall[k], d.Recall[k-1])
		d.Threshold = append(d.Threshold, 1-2*float64(k)/float64(n))
	}
	return d
}

func gain(n int) GainData {
	d := GainData{Problem: "made up", Positive: "ill", Share: 0.3, Taken: []float64{0}, Found: []float64{0}}
	for k := 1; k <= n; k++ {
		x := float64(k) / float64(n)
		d.Taken, d.Found = append(d.Taken, x), append(d.Found, 1-(1-x)*(1-x))
	}
	return d
}

func residuals(n int) ResidualsData {
	r := rand.New(rand.NewPCG(5, 6))
	d := ResidualsData{Problem: "made up", Target: "speed (km/h)", R2: 0.9}
	for range n {
		f := 100 * r.Float64()
		d.Predicted, d.Truth = append(d.Predicted, f), append(d.Truth, f+3*math.Sin(f/15)+2*r.NormFloat64())
	}
	return d
}

func thresholds(n int) ThresholdsData {
	d := ThresholdsData{Problem: "made up", Scale: "f(x)", Finding: "Recall 0.92 at the threshold −0.4", Chosen: -0.4, Required: 0.9, Lines: []ThresholdLine{{Name: "recall"}, {Name: "precision"}}}
	for k := range n {
		x := float64(k) / float64(n-1)
		d.At = append(d.At, 4*x-2)
		d.Lines[0].Values, d.Lines[1].Values = append(d.Lines[0].Values, 1-x*x), append(d.Lines[1].Values, 0.5+x*x/2)
	}
	d.Lines[1].Values[n-1] = math.NaN()
	return d
}

// probabilities are those of regions, softly.
func probabilities(k, n int) ProbabilityData {
	r := regions(k, n)
	d := ProbabilityData{Problem: "sectors", Evidence: -31.25, Features: r.Features, Classes: r.Classes, X: r.X, Class: r.Class, Xs: r.Xs, Ys: r.Ys, P: make([][][]float64, k)}
	soft := func(x, y float64) []float64 {
		p, sum := make([]float64, k), 0.0
		for c := range p {
			a := 2 * math.Pi * float64(c) / float64(k)
			p[c] = math.Exp(2 * (x*math.Cos(a) + y*math.Sin(a)))
			sum += p[c]
		}
		for c := range p {
			p[c] /= sum
		}
		return p
	}
	for _, x := range d.X {
		d.Of = append(d.Of, soft(x[0], x[1]))
	}
	for c := range d.P {
		for i := range 40 {
			d.P[c] = append(d.P[c], make([]float64, 50))
			for j := range 50 {
				d.P[c][i][j] = soft(-2+4*float64(j)/49, -1.5+3*float64(i)/39)[c]
			}
		}
	}
	return d
}

// evaluations are the figures of what a classifier is worth, as examples.
func evaluations(t *testing.T) []*Chart {
	t.Helper()
	ok := must[*Chart](t)
	return []*Chart{
		ok(Confusion(confusion(3))), ok(Confusion(confusion(10))), ok(ROC(steps(30))), ok(Calibration(calibration(500))),
		ok(Regions(regions(3, 120))), ok(Regions(regions(8, 400))),
		ok(PrecisionRecall(descent(40))), ok(Gain(gain(50))), ok(Lift(gain(50))), ok(Residuals(residuals(200))), ok(Predictions(residuals(200))), ok(Thresholds(thresholds(80))),
		ok(Probability(probabilities(2, 90))), ok(Probability(probabilities(5, 300))), ok(Gaps(judged())),
	}
}

func TestEvaluationPictures(t *testing.T) {
	pictures(t, "evaluation", evaluations(t), []tip{
		{0, 0, 1, "class of the name 0 taken for class of the name 1"}, {0, 0, 4, "class of the name 1 recognised"}, {0, 0, 4, " % of its class"},
		{2, 0, 0, "nothing taken"}, {2, 0, 5, "threshold 0.6667"}, {3, 2, 4, "predicted "}, {3, 2, 4, "95 % interval"}, {4, 3, 2, "predicted: sector"},
		{6, 0, 0, "nothing taken"}, {6, 0, 5, "precision "}, {7, 0, 5, "share of the positive points found"}, {8, 0, 5, "lift "},
		{9, 1, 5, "speed (km/h)"}, {9, 3, 1, "mean residual"}, {10, 1, 5, "prediction"}, {11, 0, 3, "recall "},
	})
}

// A curve without ties goes up or to the right, never between: however many points it
// has, its steps stay steps, but for those that are smaller than two pixels.
func TestROCStaysAStair(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, test := range []struct {
		name               string
		positive, negative int
		skill              float64
		exact              bool // no corner is left out
	}{
		{"short", 20, 20, 1, true},
		{"middling", 300, 300, 1, true},
		{"good", 1000, 1000, 3, true},
		{"perfect", 5000, 5000, 1e9, true},
		{"the wrong way round", 5000, 5000, -1e9, true},
		{"chance", 1000, 1000, 0, false},
		{"few positives", 10, 20_000, 1, true},
		{"few negatives", 20_000, 10, 1, true},
		{"one positive", 1, 5000, 0, true},
		{"long", 20_000, 20_000, 1, false},
	} {
		score := make([]float64, test.positive+test.negative)
		for i := range score {
			if score[i] = r.NormFloat64(); i < test.positive {
				score[i] += test.skill
			}
		}
		order := upTo(len(score))
		slices.SortFunc(order, func(a, b int) int { return sign(score[b] - score[a]) })
		d := ROCData{FPR: []float64{0}, TPR: []float64{0}, Threshold: []float64{math.Inf(1)}}
		up, right := 0, 0
		for _, i := range order {
			if i < test.positive {
				up++
			} else {
				right++
			}
			d.FPR, d.TPR, d.Threshold = append(d.FPR, float64(right)/float64(test.negative)), append(d.TPR, float64(up)/float64(test.positive)), append(d.Threshold, score[i])
		}
		c, err := ROC(d)
		if err != nil {
			t.Fatal(err)
		}
		data := c.Extra["series"].(list)[0].(object)["data"].(list)
		if len(data) > 1001 {
			t.Errorf("%s: %d points are drawn", test.name, len(data))
		}
		limit := 2.0/rocStrips + 2e-4
		if test.exact {
			limit = 0
		}
		for k := 1; k < len(data); k++ {
			a, b := data[k-1].(list), data[k].(list)
			dx, dy := b[0].(float64)-a[0].(float64), b[1].(float64)-a[1].(float64)
			if min(dx, dy) > 0 && dx+dy > limit {
				t.Errorf("%s: from (%v, %v) to (%v, %v) is no step", test.name, a[0], a[1], b[0], b[1])
			}
		}
	}
}

// TestEvaluationFigures is one table of ordinary and degenerate figures: each says
// its finding and stays in its budget.
func TestEvaluationFigures(t *testing.T) {
	for _, test := range []struct {
		name   string
		draw   func() (*Chart, error)
		budget int
		words  string
	}{
		{"confusion", func() (*Chart, error) { return Confusion(confusion(3)) }, 10_000, "123 of 138 points right; most often wrong: class of the name 2 taken for class of the name 0 (4 times)"},
		{"confusion, 60 classes", func() (*Chart, error) { return Confusion(confusion(60)) }, 120_000, "points right"},
		{"confusion, one point", func() (*Chart, error) {
			return Confusion(ConfusionData{Classes: []string{"a"}, Counts: [][]int{{1}}})
		}, 10_000, "1 of 1 point right"},
		{"confusion, all wrong", func() (*Chart, error) {
			return Confusion(ConfusionData{Classes: []string{"a", "b"}, Counts: [][]int{{0, 0}, {2, 0}}})
		}, 10_000, "0 of 2 points right; most often wrong: b taken for a (2 times)"},
		{"roc", func() (*Chart, error) { return ROC(steps(30)) }, 10_000, "with probability 0.9"},
		{"gaps", func() (*Chart, error) { return Gaps(judged()) }, 10_000, "svmnb is nearest, within 2e-09 of the optimum"},
		{"gaps, none", func() (*Chart, error) {
			return Gaps(GapsData{Points: 1, Names: []string{"a"}, Gaps: []float64{math.NaN()}, Open: []int{1}})
		}, 10_000, "No machine has a gap"},
		{"roc, long", func() (*Chart, error) { return ROC(steps(20_000)) }, 40_000, "with probability 0.9"},
		{"roc, two points", func() (*Chart, error) {
			return ROC(ROCData{FPR: []float64{0, 1}, TPR: []float64{0, 1}, Threshold: []float64{math.Inf(1), 3}, AUC: 0.5})
		}, 10_000, "0.5"},
		{"precision–recall", func() (*Chart, error) { return PrecisionRecall(descent(40)) }, 10_000, "Precision averages 0.7 over recall; random scores have 0.4"},
		{"precision–recall, long", func() (*Chart, error) { return PrecisionRecall(descent(20_000)) }, 40_000, "averages"},
		{"precision–recall, two points", func() (*Chart, error) {
			return PrecisionRecall(PrecisionRecallData{Recall: []float64{0, 1}, Precision: []float64{1, 0.5}, Threshold: []float64{math.Inf(1), 3}, AP: 0.5, Share: 0.5})
		}, 10_000, "0.5"},
		{"gain", func() (*Chart, error) { return Gain(gain(50)) }, 10_000, "The first 20 % of the points have 36 % of class ill"},
		{"gain, long", func() (*Chart, error) { return Gain(gain(20_000)) }, 30_000, "have 36 % of"},
		{"gain, one point", func() (*Chart, error) {
			return Gain(GainData{Share: 1, Taken: []float64{0, 1}, Found: []float64{0, 1}})
		}, 10_000, "have 20 % of"},
		{"lift", func() (*Chart, error) { return Lift(gain(50)) }, 10_000, "Class ill is 1.9 times as frequent among the first 10 % of the points as among all"},
		{"lift, one point", func() (*Chart, error) {
			return Lift(GainData{Share: 1, Taken: []float64{0, 1}, Found: []float64{0, 1}})
		}, 10_000, "1 times"},
		{"residuals", func() (*Chart, error) { return Residuals(residuals(200)) }, 25_000, "6 of 10 mean residuals do not contain 0"},
		{"residuals, many points", func() (*Chart, error) { return Residuals(residuals(20_000)) }, 120_000, "1\u202f200 of the points drawn"},
		{"residuals, one point", func() (*Chart, error) {
			return Residuals(ResidualsData{Truth: []float64{1}, Predicted: []float64{1}, R2: math.NaN()})
		}, 10_000, "Residuals of 1 point have the mean 0 and the standard deviation 0"},
		{"predictions", func() (*Chart, error) { return Predictions(residuals(200)) }, 25_000, "explain 90 % of the variance"},
		{"predictions, one point", func() (*Chart, error) {
			return Predictions(ResidualsData{Truth: []float64{1}, Predicted: []float64{3}, R2: math.NaN()})
		}, 10_000, "Predictions of 1 point have the RMSE 2"},
		{"thresholds", func() (*Chart, error) { return Thresholds(thresholds(80)) }, 12_000, "Recall 0.92 at the threshold −0.4"},
		{"thresholds, many points", func() (*Chart, error) { return Thresholds(thresholds(20_000)) }, 80_000, "Recall 0.92"},
		{"calibration", func() (*Chart, error) { return Calibration(calibration(500)) }, 10_000, "of 10 groups miss the diagonal"},
		{"calibration, one point", func() (*Chart, error) { return Calibration(CalibrationData{P: []float64{1}, Happens: []bool{true}}) }, 10_000, "Predicted and observed shares differ by 0 on average"},
		{"calibration, far off", func() (*Chart, error) {
			return Calibration(CalibrationData{P: []float64{0, 0, 0, 0}, Happens: []bool{true, true, true, true}})
		}, 10_000, "differ by 1 on average"},
		{"regions", func() (*Chart, error) { return Regions(regions(3, 120)) }, 25_000, "3 classes: 30 of 120 points carry the boundaries"},
		{"probability", func() (*Chart, error) { return Probability(probabilities(2, 90)) }, 25_000, "Probabilities of 2 classes"},
		{"probability, evidence", func() (*Chart, error) { return Probability(probabilities(3, 90)) }, 35_000, "ln p(y) ≈ −31.25"},
		{"probability, one point", func() (*Chart, error) { return Probability(probabilities(2, 1)) }, 20_000, "among 1 point"},
		{"probability, many points", func() (*Chart, error) { return Probability(probabilities(8, 5000)) }, 220_000, "1\u202f200 of the points drawn"},
		{"regions, many points", func() (*Chart, error) { return Regions(regions(8, 5000)) }, 120_000, "1\u202f200 of the points drawn"},
	} {
		c, err := test.draw()
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if n := size(t, c); n > test.budget {
			t.Errorf("%s: %d bytes, budget %d", test.name, n, test.budget)
		}
		if said := c.Title.Title + " · " + c.Title.Subtitle; !strings.Contains(said, test.words) || !strings.Contains(c.Alt, c.Title.Title) {
			t.Errorf("%s: %q, want %q in it, and in %q", test.name, said, test.words, c.Alt)
		}
	}
}

func TestWrongEvaluationInput(t *testing.T) {
	nan := math.NaN()
	err := func(_ *Chart, err error) error { return err }
	broken := func(change func(*RegionsData)) error {
		d := regions(3, 5)
		change(&d)
		return err(Regions(d))
	}
	unlikely := func(change func(*ProbabilityData)) error {
		d := probabilities(3, 5)
		change(&d)
		return err(Probability(d))
	}
	for _, test := range []struct {
		err           error
		figure, field string
	}{
		{unlikely(func(d *ProbabilityData) { d.X = nil }), "Probability", "X"},
		{unlikely(func(d *ProbabilityData) { d.Classes = d.Classes[:1] }), "Probability", "Classes"},
		{unlikely(func(d *ProbabilityData) { d.P = d.P[:2] }), "Probability", "P"},
		{unlikely(func(d *ProbabilityData) { d.P[1] = d.P[1][:3] }), "Probability", "P"},
		{unlikely(func(d *ProbabilityData) { d.P[2][1][0] = nan }), "Probability", "Z[1][0]"},
		{unlikely(func(d *ProbabilityData) { d.Of = d.Of[:2] }), "Probability", "Class"},
		{unlikely(func(d *ProbabilityData) { d.Of[2] = d.Of[2][:1] }), "Probability", "Of[2]"},
		{unlikely(func(d *ProbabilityData) { d.Of[2][1] = nan }), "Probability", "Of[2][1]"},
		{unlikely(func(d *ProbabilityData) { d.Class[4] = 3 }), "Probability", "Class[4]"},
		{unlikely(func(d *ProbabilityData) { d.X[1][1] = nan }), "Probability", "X[1][1]"},
		{err(Confusion(ConfusionData{})), "Confusion", "Classes"},
		{err(Confusion(ConfusionData{Classes: make([]string, 61)})), "Confusion", "Classes"},
		{err(Confusion(ConfusionData{Classes: []string{"a"}})), "Confusion", "Counts"},
		{err(Confusion(ConfusionData{Classes: []string{"a"}, Counts: [][]int{{0}}})), "Confusion", "Counts"},
		{err(Confusion(ConfusionData{Classes: []string{"a"}, Counts: [][]int{{1, 2}}})), "Confusion", "Counts[0]"},
		{err(Confusion(ConfusionData{Classes: []string{"a"}, Counts: [][]int{{-1}}})), "Confusion", "Counts[0][0]"},
		{err(ROC(ROCData{})), "ROC", "FPR"},
		{err(Gaps(GapsData{})), "Gaps", "Names"},
		{err(Gaps(GapsData{Names: []string{"a"}, Open: []int{0}, Gaps: []float64{math.Inf(1)}, Points: 1})), "Gaps", "Gaps[0]"},
		{err(Gaps(GapsData{Names: []string{"a"}, Gaps: []float64{1}, Points: 1})), "Gaps", "Open"},
		{err(ROC(ROCData{FPR: []float64{0, 1}, TPR: []float64{0}})), "ROC", "TPR"},
		{err(ROC(ROCData{FPR: []float64{0, nan}, TPR: []float64{0, 1}, Threshold: []float64{1, 0}})), "ROC", "FPR[1]"},
		{err(ROC(ROCData{FPR: []float64{0, 1}, TPR: []float64{1, 0}, Threshold: []float64{1, 0}})), "ROC", "FPR[1]"},
		{err(PrecisionRecall(PrecisionRecallData{})), "PrecisionRecall", "Recall"},
		{err(PrecisionRecall(PrecisionRecallData{Recall: []float64{0, 1}, Precision: []float64{0}})), "PrecisionRecall", "Precision"},
		{err(PrecisionRecall(PrecisionRecallData{Recall: []float64{1, 0}, Precision: []float64{0, 0}, Threshold: []float64{1, 0}})), "PrecisionRecall", "Recall[1]"},
		{err(PrecisionRecall(PrecisionRecallData{Recall: []float64{1, 1}, Precision: []float64{0, 0}, Threshold: []float64{1, 0}})), "PrecisionRecall", "Recall"},
		{err(Gain(GainData{})), "Gain", "Taken"},
		{err(Gain(GainData{Taken: []float64{0, 1}, Found: []float64{0, 1}})), "Gain", "Share"},
		{err(Lift(GainData{Taken: []float64{0, 1}, Found: []float64{1, 0}, Share: 0.5})), "Lift", "Found[1]"},
		{err(Lift(GainData{Taken: []float64{1, 1}, Found: []float64{0, 1}, Share: 0.5})), "Lift", "Taken[1]"},
		{err(Residuals(ResidualsData{})), "Residuals", "Truth"},
		{err(Residuals(ResidualsData{Truth: []float64{1}})), "Residuals", "Predicted"},
		{err(Predictions(ResidualsData{Truth: []float64{1}, Predicted: []float64{nan}})), "Predictions", "Predicted[0]"},
		{err(Thresholds(ThresholdsData{})), "Thresholds", "At"},
		{err(Thresholds(ThresholdsData{At: []float64{0, 1}})), "Thresholds", "Lines"},
		{err(Thresholds(ThresholdsData{At: []float64{0, 1}, Lines: []ThresholdLine{{"a", []float64{1}}}})), "Thresholds", "Lines[0].Values"},
		{err(Thresholds(ThresholdsData{At: []float64{0, 1}, Lines: []ThresholdLine{{"a", []float64{1, 2}}}, Chosen: nan})), "Thresholds", "Chosen[0]"},
		{err(Calibration(CalibrationData{})), "Calibration", "P"},
		{err(Calibration(CalibrationData{P: []float64{0.5}})), "Calibration", "Happens"},
		{err(Calibration(CalibrationData{P: []float64{1.5}, Happens: []bool{true}})), "Calibration", "P[0]"},
		{err(Calibration(CalibrationData{P: []float64{nan}, Happens: []bool{true}})), "Calibration", "P[0]"},
		{broken(func(d *RegionsData) { d.Classes = d.Classes[:1] }), "Regions", "Classes"},
		{broken(func(d *RegionsData) { d.Z = d.Z[:2] }), "Regions", "Z"},
		{broken(func(d *RegionsData) { d.Z[2][1][0] = nan }), "Regions", "Z[1][0]"},
		{broken(func(d *RegionsData) { d.Class = nil }), "Regions", "Class"},
		{broken(func(d *RegionsData) { d.Predicted[3] = 3 }), "Regions", "Class[3]"},
		{broken(func(d *RegionsData) { d.X[1][1] = nan }), "Regions", "X[1][1]"},
		{broken(func(d *RegionsData) { d.Xs[1] = -2 }), "Regions", "Xs"},
	} {
		var e *InputError
		if !errors.As(test.err, &e) || e.Figure != test.figure || e.Field != test.field {
			t.Errorf("error %v, want an *InputError about %s, %s", test.err, test.figure, test.field)
		}
	}
}

// The 95 % interval of 8 in 10 and of 0 in 10, by Wilson's formula; R's prop.test
// without correction has the same.
func TestWilson(t *testing.T) {
	for _, test := range [][4]float64{{0.8, 10, 0.4902, 0.9433}, {0, 10, 0, 0.2775}, {1, 1, 0.2065, 1}} {
		low, high := wilson(test[0], test[1])
		if math.Abs(low-test[2]) > 1e-4 || math.Abs(high-test[3]) > 1e-4 {
			t.Errorf("wilson(%v, %v) = %v, %v; want %v, %v", test[0], test[1], low, high, test[2], test[3])
		}
	}
}
