package metrics

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func near(t interface {
	Helper()
	Errorf(format string, args ...any)
}, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*(1+math.Abs(want))) {
		t.Errorf("%s = %.12g, want %.12g", what, got, want)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestConfusion(t *testing.T) {
	c := must(NewConfusion([]string{"b", "a", "b", "c", "b"}, []string{"b", "b", "a", "c", "b"}))
	if !slices.Equal(c.Classes, []string{"a", "b", "c"}) || fmt.Sprint(c.Counts) != "[[0 1 0] [1 2 0] [0 0 1]]" || c.N() != 5 {
		t.Errorf("%+v", c)
	}
	near(t, "accuracy", c.Accuracy(), 3./5, 0)
	near(t, "balanced accuracy", c.BalancedAccuracy(), (0+2./3+1)/3, 1e-15)
	near(t, "macro precision", c.Precision().Macro, (0+2./3+1)/3, 1e-15)
	near(t, "weighted F1", c.F1().Weighted, (3*2./3+1)/5, 1e-15)
	near(t, "MCC", c.MCC(), (5*3-(1*1+3*3+1*1))/(25.-11), 1e-15)
	// A class that is never predicted, one that never occurs, and one of neither.
	c = must(NewConfusion([]int{1, 1}, []int{2, 2}, 3, 2, 1))
	if p, r, f := c.Precision().PerClass, c.Recall().PerClass, c.F1().PerClass; !slices.Equal(p, []float64{0, 0, 0}) || !slices.Equal(r, p) || !slices.Equal(f, p) {
		t.Errorf("precision %v, recall %v, F1 %v", p, r, f)
	}
	if c.BalancedAccuracy() != 0 || c.MCC() != 0 {
		t.Errorf("balanced accuracy %v, MCC %v", c.BalancedAccuracy(), c.MCC())
	}
	one := must(NewConfusion([]int{7}, []int{7}))
	if one.Accuracy() != 1 || one.BalancedAccuracy() != 1 || one.F1().Macro != 1 || one.MCC() != 0 {
		t.Errorf("one class, one point: %+v", one)
	}
}

func TestConfusionProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, k := rapid.IntRange(1, 40).Draw(t, "n"), rapid.IntRange(1, 5).Draw(t, "k")
		labels := rapid.SliceOfN(rapid.IntRange(0, k-1), n, n)
		truth, predicted := labels.Draw(t, "truth"), labels.Draw(t, "predicted")
		c := must(NewConfusion(truth, predicted))
		if a := c.Accuracy(); math.Abs(c.F1().Micro-a)+math.Abs(c.Precision().Micro-a)+math.Abs(c.Recall().Micro-a)+math.Abs(c.Recall().Weighted-a) > 1e-12 {
			t.Fatalf("micro averages and the weighted recall are the accuracy %v: %+v", a, c)
		}
		if m := c.MCC(); !(m >= -1-1e-12 && m <= 1+1e-12) || math.Abs(must(NewConfusion(predicted, truth)).MCC()-m) > 1e-12 {
			t.Fatalf("MCC %v is no symmetric correlation", m)
		}
		names := make([]string, n)
		renamed := make([]string, n)
		for i := range truth {
			names[i], renamed[i] = fmt.Sprint("z", k-truth[i]), fmt.Sprint("z", k-predicted[i])
		}
		d := must(NewConfusion(names, renamed))
		for _, pair := range [][2]float64{{c.MCC(), d.MCC()}, {c.BalancedAccuracy(), d.BalancedAccuracy()}, {c.F1().Macro, d.F1().Macro}} {
			if math.Abs(pair[0]-pair[1]) > 1e-12 {
				t.Fatalf("other names, other values: %v", pair)
			}
		}
	})
}

func TestROC(t *testing.T) {
	r := must(NewROC([]bool{true, false, true, false, false}, []float64{0.9, 0.8, 0.5, 0.5, 0.1}))
	if fmt.Sprint(r.FPR, r.TPR, r.Threshold) != "[0 0 0.3333333333333333 0.6666666666666666 1] [0 0.5 0.5 1 1] [+Inf 0.9 0.8 0.5 0.1]" {
		t.Errorf("%+v", r)
	}
	near(t, "AUC", r.AUC, 4.5/6, 1e-15)
	near(t, "average precision", must(AveragePrecision([]bool{true, false, true, false, false}, []float64{0.9, 0.8, 0.5, 0.5, 0.1})), 0.5*1+0.5*0.5, 1e-15)
}

func TestPrecisionRecall(t *testing.T) {
	r := must(NewPrecisionRecall([]bool{true, false, true, false, false}, []float64{0.9, 0.8, 0.5, 0.5, 0.1}))
	if fmt.Sprint(r.Precision, r.Recall, r.Threshold) != "[1 1 0.5 0.5 0.4] [0 0.5 0.5 1 1] [+Inf 0.9 0.8 0.5 0.1]" {
		t.Errorf("%+v", r)
	}
	near(t, "average precision", r.AP, 0.75, 1e-15)
	if r := must(NewPrecisionRecall([]bool{true, true}, []float64{1, 2})); r.AP != 1 {
		t.Errorf("without negative points %+v", r)
	}
}

// Every point of the curve has the precision and the recall that counting gives.
func TestPrecisionRecallCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "n")
		score, positive := make([]float64, n), make([]bool, n)
		for i := range n {
			score[i] = float64(rapid.IntRange(-4, 4).Draw(t, "score"))
			positive[i] = i == 0 || rapid.Bool().Draw(t, "positive")
		}
		r := must(NewPrecisionRecall(positive, score))
		area := 0.0
		for k, threshold := range r.Threshold {
			taken, right, all := 0.0, 0.0, 0.0
			for i, s := range score {
				if positive[i] {
					all++
				}
				if s >= threshold {
					taken++
					if positive[i] {
						right++
					}
				}
			}
			precision := 1.0
			if taken > 0 {
				precision = right / taken
			}
			if r.Precision[k] != precision || r.Recall[k] != right/all {
				t.Fatalf("at %v: %v and %v, counted %v and %v", threshold, r.Precision[k], r.Recall[k], precision, right/all)
			}
			if k > 0 {
				area += (r.Recall[k] - r.Recall[k-1]) * r.Precision[k]
			}
		}
		near(t, "average precision", r.AP, area, 1e-12)
		near(t, "average precision alone", must(AveragePrecision(positive, score)), r.AP, 0)
	})
}

// The area is Mann and Whitney's share of pairs in order, ties counting half; it
// depends on the order of the scores alone and mirrors with their sign.
func TestAUCProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 30).Draw(t, "n")
		score, positive, flipped, bent := make([]float64, n), make([]bool, n), make([]float64, n), make([]float64, n)
		for i := range n {
			score[i] = float64(rapid.IntRange(-4, 4).Draw(t, "score"))
			positive[i] = i == 0 || i > 1 && rapid.Bool().Draw(t, "positive")
			flipped[i], bent[i] = -score[i], math.Exp(score[i])
		}
		pairs, sum := 0.0, 0.0
		for i := range n {
			for j := range n {
				if positive[i] && !positive[j] {
					pairs++
					switch {
					case score[i] > score[j]:
						sum++
					case score[i] == score[j]:
						sum += 0.5
					}
				}
			}
		}
		auc := must(NewROC(positive, score)).AUC
		near(t, "AUC", auc, sum/pairs, 1e-12)
		near(t, "AUC mirrored", must(NewROC(positive, flipped)).AUC, 1-auc, 1e-12)
		near(t, "AUC of a monotone function", must(NewROC(positive, bent)).AUC, auc, 1e-12)
		if ap := must(AveragePrecision(positive, score)); !(ap > 0 && ap <= 1) {
			t.Fatalf("average precision %v", ap)
		}
	})
}

func TestProbabilities(t *testing.T) {
	p := [][]float64{{0.5, 0.25, 0.25}, {0, 1, 0}}
	near(t, "log loss", must(LogLoss([]int{1, 1}, p)), math.Log(4)/2, 1e-15)
	near(t, "Brier", must(Brier([]int{1, 1}, p)), (0.25+0.5625+0.0625)/2, 1e-15)
	if v := must(LogLoss([]int{1, 0}, p)); !math.IsInf(v, 1) {
		t.Errorf("the impossible has happened and costs %v", v)
	}
	if v := must(LogLoss([]int{1}, p[1:])); v != 0 || math.Signbit(v) {
		t.Errorf("certainty costs %v", v)
	}
}

func TestRegression(t *testing.T) {
	y, f := []float64{1, 2, 3, 6}, []float64{1, 3, 1, 6}
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"RMSE", must(RMSE(y, f)), math.Sqrt(5. / 4)},
		{"MAE", must(MAE(y, f)), 3. / 4},
		{"MaxError", must(MaxError(y, f)), 2},
		{"MedianAE", must(MedianAE(y, f)), 0.5},
		{"MedianAE of three", must(MedianAE(y[:3], f[:3])), 1},
		{"R2", must(R2(y, f)), 1 - 5./14},
		{"ExplainedVariance", must(ExplainedVariance(y, f)), 1 - (5-4./16)/14},
		{"Pinball(0.9)", must(Pinball(y, f, 0.9)), (0.1*1 + 0.9*2) / 4},
		{"2 Pinball(½) = MAE", 2 * must(Pinball(y, f, 0.5)), 3. / 4},
		{"R2 of the mean", must(R2(y, []float64{3, 3, 3, 3})), 0},
		{"Coverage", must(Coverage(y, []float64{1, 3, 2, 0}, []float64{1, 4, 4, 5})), 0.5},
		{"NLPD", must(NLPD([]float64{3}, []float64{1}, []float64{2})), 0.5 + math.Log(2*math.Sqrt(2*math.Pi))},
		{"CRPS at sd = 0", must(CRPS([]float64{3}, []float64{1}, []float64{0})), 2},
	} {
		near(t, c.name, c.got, c.want, 1e-14)
	}
}

// CRPS is ∫ (Φ − step)² (Gneiting and Raftery 2007, eq. 20), and goes over into
// |y − mean|.
func TestCRPSIsItsIntegral(t *testing.T) {
	for _, c := range [][3]float64{{0.3, 1, 2}, {-4, 1, 0.5}, {10, 10, 3}} {
		y, m, s := c[0], c[1], c[2]
		const h = 1e-3
		sum := 0.0
		for x := min(y, m) - 12*s; x < max(y, m)+12*s; x += h {
			f := normal((x + h/2 - m) / s)
			if x+h/2 >= y {
				f--
			}
			sum += f * f * h
		}
		near(t, "CRPS", must(CRPS([]float64{y}, []float64{m}, []float64{s})), sum, 1e-3)
	}
	near(t, "CRPS of a tiny sd", must(CRPS([]float64{3}, []float64{1}, []float64{1e-300})), 2, 1e-12)
}

func TestErrors(t *testing.T) {
	nan, two := math.NaN(), []float64{1, 2}
	err := func(_ any, err error) error { return err }
	for _, c := range []struct {
		err         error
		metric, arg string
		row, column int
	}{
		{err(NewConfusion[int](nil, nil)), "NewConfusion", "truth", -1, -1},
		{err(NewConfusion([]int{1}, nil)), "NewConfusion", "predicted", -1, -1},
		{err(NewConfusion([]int{1, 3}, []int{1, 1}, 1, 2)), "NewConfusion", "truth", 1, -1},
		{err(NewConfusion([]int{1, 1}, []int{3, 1}, 1, 2)), "NewConfusion", "predicted", 0, -1},
		{err(NewConfusion([]int{1}, []int{1}, 1, 1)), "NewConfusion", "classes", 1, -1},
		{err(NewConfusion([]float64{nan}, []float64{1})), "NewConfusion", "classes", 0, -1},
		{err(NewROC([]bool{true, true}, two)), "NewROC", "positive", -1, -1},
		{err(NewROC([]bool{false, false}, two)), "NewROC", "positive", -1, -1},
		{err(NewROC([]bool{false}, two)), "NewROC", "positive", -1, -1},
		{err(NewROC(nil, nil)), "NewROC", "score", -1, -1},
		{err(NewROC([]bool{true, false}, []float64{1, nan})), "NewROC", "score", 1, -1},
		{err(AveragePrecision([]bool{false, false}, two)), "AveragePrecision", "positive", -1, -1},
		{err(NewPrecisionRecall([]bool{false, false}, two)), "NewPrecisionRecall", "positive", -1, -1},
		{err(NewPrecisionRecall(nil, nil)), "NewPrecisionRecall", "score", -1, -1},
		{err(NewPrecisionRecall([]bool{true, false}, []float64{nan, 1})), "NewPrecisionRecall", "score", 0, -1},
		{err(LogLoss(nil, nil)), "LogLoss", "truth", -1, -1},
		{err(LogLoss([]int{0}, nil)), "LogLoss", "p", -1, -1},
		{err(LogLoss([]int{0, 0}, [][]float64{{1, 0}, {1}})), "LogLoss", "p", 1, -1},
		{err(Brier([]int{0}, [][]float64{{1.5, -0.5}})), "Brier", "p", 0, 0},
		{err(Brier([]int{0}, [][]float64{{0.5, nan}})), "Brier", "p", 0, 1},
		{err(Brier([]int{0}, [][]float64{{0.5, 0.4}})), "Brier", "p", 0, -1},
		{err(Brier([]int{2}, [][]float64{{0.5, 0.5}})), "Brier", "truth", 0, -1},
		{err(RMSE(nil, nil)), "RMSE", "truth", -1, -1},
		{err(RMSE(two, two[:1])), "RMSE", "predicted", -1, -1},
		{err(MAE(two, []float64{1, math.Inf(1)})), "MAE", "predicted", 1, -1},
		{err(MedianAE([]float64{nan, 1}, two)), "MedianAE", "truth", 0, -1},
		{err(R2([]float64{0.1, 0.1, 0.1}, []float64{1, 2, 3})), "R2", "truth", -1, -1},
		{err(ExplainedVariance([]float64{2}, []float64{1})), "ExplainedVariance", "truth", -1, -1},
		{err(Pinball(two, two, 1)), "Pinball", "tau", -1, -1},
		{err(NLPD(two, two, []float64{1, 0})), "NLPD", "sd", 1, -1},
		{err(CRPS(two, two, []float64{-1, 0})), "CRPS", "sd", 0, -1},
		{err(Coverage(two, two, []float64{1, 1})), "Coverage", "lower", 1, -1},
		{err(Bootstrap{}.Of(context.Background(), 0, nil)), "Bootstrap", "n", -1, -1},
		{err(Bootstrap{Replicates: 3}.Of(context.Background(), 1, nil)), "Bootstrap", "Replicates", -1, -1},
		{err(Bootstrap{Level: 95}.Of(context.Background(), 1, nil)), "Bootstrap", "Level", -1, -1},
	} {
		var e *Error
		if !errors.As(c.err, &e) || e.Metric != c.metric || e.Arg != c.arg || e.Row != c.row || e.Column != c.column {
			t.Errorf("%v, want an *Error about %s, %s, %d, %d", c.err, c.metric, c.arg, c.row, c.column)
		}
	}
}

// Over many samples the interval of a mean covers the truth about as often as it
// says, BCa also where the distribution is skew; and a seed repeats it.
func TestBootstrap(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(1, 2))
	for _, b := range []Bootstrap{{Replicates: 300, Level: 0.8, Seed: 3}, {Replicates: 300, Level: 0.8, Seed: 3, Percentile: true}} {
		const samples = 300
		covered := 0
		for range samples {
			x := make([]float64, 40)
			for i := range x {
				x[i] = rng.ExpFloat64()
			}
			of := func(rows []int) (float64, error) {
				sum := 0.0
				for _, i := range rows {
					sum += x[i]
				}
				return sum / float64(len(rows)), nil
			}
			i := must(b.Of(ctx, len(x), of))
			if i.Low <= 1 && 1 <= i.High {
				covered++
			}
			if j := must(b.Of(ctx, len(x), of)); j != i {
				t.Fatalf("%v and %v by the same seed", i, j)
			}
		}
		if c := float64(covered) / samples; math.Abs(c-0.8) > 0.08 {
			t.Errorf("%+v covers %v", b, c)
		}
	}
}

func TestBootstrapDegenerate(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	constant := must(Bootstrap{}.Of(ctx, 5, func([]int) (float64, error) { return 2, nil }))
	if constant != (Interval{Value: 2, Low: 2, High: 2, Level: 0.95}) {
		t.Errorf("%+v", constant)
	}
	single := must(Bootstrap{}.Of(ctx, 1, func(rows []int) (float64, error) { return float64(rows[0]), nil }))
	if single.Low != 0 || single.High != 0 {
		t.Errorf("%+v", single)
	}
	positive, score := []bool{true, false, true, false, true, false}, []float64{6, 5, 4, 3, 2, 1}
	auc := func(rows []int) (float64, error) {
		var p []bool
		var s []float64
		for _, i := range rows {
			p, s = append(p, positive[i]), append(s, score[i])
		}
		r, err := NewROC(p, s)
		if err != nil {
			return 0, err
		}
		return r.AUC, nil
	}
	if i := must(Bootstrap{Seed: 1}.Of(ctx, 6, auc)); i.Undefined == 0 || !(i.Low < i.Value && i.Value < i.High && i.High <= 1) {
		t.Errorf("%+v", i)
	}
	calls := 0
	_, err := Bootstrap{}.Of(ctx, 6, func([]int) (float64, error) {
		if calls++; calls == 1 {
			return 1, nil
		}
		return math.NaN(), nil
	})
	var e *Error
	if !errors.As(err, &e) || e.Arg != "metric" {
		t.Errorf("no draw has a value: %v", err)
	}
	stop()
	if _, err := (Bootstrap{}).Of(ctx, 6, auc); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}

// TestScikitLearn compares with scikit-learn and SciPy where they are installed
// (Debian: python3-sklearn); ties and classes without points included.
func TestScikitLearn(t *testing.T) {
	const program = `
import json, sys, warnings
warnings.filterwarnings("ignore")
import sklearn.metrics as m
d, out = json.load(sys.stdin), {}
a, b = d["Truth"], d["Predicted"]
out["accuracy"] = m.accuracy_score(a, b)
out["balanced"] = m.balanced_accuracy_score(a, b)
out["mcc"] = m.matthews_corrcoef(a, b)
for average in ["macro", "micro", "weighted"]:
    out["precision " + average], out["recall " + average], out["f1 " + average], _ = m.precision_recall_fscore_support(a, b, average=average)
out["log loss"] = m.log_loss(a, d["P"], labels=[0, 1, 2, 3])
out["auc"] = m.roc_auc_score(d["Positive"], d["Score"])
out["ap"] = m.average_precision_score(d["Positive"], d["Score"])
p, r, _ = m.precision_recall_curve(d["Positive"], d["Score"])
out["precisions"], out["recalls"] = float((p * range(1, len(p) + 1)).sum()), float((r * range(1, len(r) + 1)).sum())
out["brier"] = 2 * m.brier_score_loss(d["Positive"], d["P1"])
y, f = d["Y"], d["F"]
out["rmse"] = m.mean_squared_error(y, f) ** .5
out["mae"] = m.mean_absolute_error(y, f)
out["medae"] = m.median_absolute_error(y, f)
out["max"] = m.max_error(y, f)
out["r2"] = m.r2_score(y, f)
out["ev"] = m.explained_variance_score(y, f)
out["pinball"] = m.mean_pinball_loss(y, f, alpha=0.3)
json.dump(out, sys.stdout)`
	python := "/usr/bin/python3"
	if exec.Command(python, "-c", "import sklearn").Run() != nil {
		t.Skip("no scikit-learn for /usr/bin/python3 (Debian: python3-sklearn)")
	}
	rng := rand.New(rand.NewPCG(5, 6))
	var d struct {
		Truth, Predicted []int
		P                [][]float64
		Positive         []bool
		Score, P1, Y, F  []float64
	}
	var both [][]float64
	var class []int
	for range 80 {
		d.Truth = append(d.Truth, rng.IntN(3)) // class 3 never occurs
		d.Predicted = append(d.Predicted, 1+rng.IntN(3))
		p, sum := make([]float64, 4), 0.0
		for k := range p {
			p[k] = rng.Float64()
			sum += p[k]
		}
		for k := range p {
			p[k] /= sum
		}
		d.P = append(d.P, p)
		d.Positive = append(d.Positive, rng.IntN(3) == 0)
		d.Score = append(d.Score, float64(rng.IntN(9)))
		d.P1 = append(d.P1, rng.Float64())
		both = append(both, []float64{1 - d.P1[len(both)], d.P1[len(both)]})
		class = append(class, map[bool]int{true: 1}[d.Positive[len(class)]])
		d.Y, d.F = append(d.Y, rng.NormFloat64()), append(d.F, rng.NormFloat64())
	}
	cmd := exec.Command(python, "-c", program)
	cmd.Stdin = bytes.NewReader(must(json.Marshal(d)))
	var want map[string]float64
	if err := json.Unmarshal(must(cmd.Output()), &want); err != nil {
		t.Fatal(err)
	}
	c := must(NewConfusion(d.Truth, d.Predicted))
	got := map[string]float64{
		"accuracy": c.Accuracy(), "balanced": c.BalancedAccuracy(), "mcc": c.MCC(),
		"log loss": must(LogLoss(d.Truth, d.P)), "brier": must(Brier(class, both)),
		"auc": must(NewROC(d.Positive, d.Score)).AUC, "ap": must(AveragePrecision(d.Positive, d.Score)),
		"rmse": must(RMSE(d.Y, d.F)), "mae": must(MAE(d.Y, d.F)), "medae": must(MedianAE(d.Y, d.F)), "max": must(MaxError(d.Y, d.F)),
		"r2": must(R2(d.Y, d.F)), "ev": must(ExplainedVariance(d.Y, d.F)), "pinball": must(Pinball(d.Y, d.F, 0.3)),
	}
	// scikit-learn's curve has the same points in the opposite order.
	curve := must(NewPrecisionRecall(d.Positive, d.Score))
	for k := range curve.Precision {
		weight := float64(len(curve.Precision) - k)
		got["precisions"] += weight * curve.Precision[k]
		got["recalls"] += weight * curve.Recall[k]
	}
	for name, a := range map[string]Averages{"precision": c.Precision(), "recall": c.Recall(), "f1": c.F1()} {
		got[name+" macro"], got[name+" micro"], got[name+" weighted"] = a.Macro, a.Micro, a.Weighted
	}
	if len(got) != len(want) {
		t.Errorf("%d values, scikit-learn has %d", len(got), len(want))
	}
	for name, v := range got {
		near(t, name, v, want[name], 1e-12)
	}
}
