package metrics

import (
	"cmp"
	"math"
	"slices"
)

// ROC is the receiver operating characteristic: the shares of negative and of positive
// points that are predicted as positive, as the threshold falls. It goes from (0, 0) to (1,
// 1), with one point for each distinct score.
type ROC struct {
	FPR, TPR  []float64 // shares of the negative and of the positive points with score ≥ Threshold
	Threshold []float64 // decreasing; the first is +Inf, which no score reaches
	AUC       float64   // area under the curve: the probability that a positive point has a larger score than a negative one, equal scores counting half
}

// NewROC returns the curve of n scores. positive says which points are of the positive
// class, whose scores should be larger. It returns an error unless both classes have a
// point.
func NewROC(positive []bool, score []float64) (*ROC, error) {
	r := &ROC{}
	steps, err := descend("NewROC", positive, score)
	if err != nil {
		return nil, err
	}
	end := steps[len(steps)-1]
	if end.right == end.taken {
		return nil, wrong("NewROC", "positive", -1, 0, "no point is negative; the curve compares two classes")
	}
	for k, s := range append([]step{{threshold: math.Inf(1)}}, steps...) {
		r.Threshold = append(r.Threshold, s.threshold)
		r.TPR = append(r.TPR, float64(s.right)/float64(end.right))
		r.FPR = append(r.FPR, float64(s.taken-s.right)/float64(end.taken-end.right))
		if k > 0 {
			r.AUC += (r.FPR[k] - r.FPR[k-1]) * (r.TPR[k] + r.TPR[k-1]) / 2
		}
	}
	return r, nil
}

// PrecisionRecall is the precision–recall curve: the share of the points predicted as
// positive that are positive, and the share of the positive points that are found, as the
// threshold falls. It has one point for each distinct score.
type PrecisionRecall struct {
	Precision []float64 // share of the points with score ≥ Threshold that are positive; the first, where there are none, is 1
	Recall    []float64 // share of the positive points with score ≥ Threshold, from 0 to 1
	Threshold []float64 // decreasing; the first is +Inf, which no score reaches
	AP        float64   // average precision; see [AveragePrecision]
}

// NewPrecisionRecall returns the curve of n scores. positive says which points are of the
// positive class, whose scores should be larger. It returns an error if there is no positive
// point.
func NewPrecisionRecall(positive []bool, score []float64) (*PrecisionRecall, error) {
	steps, err := descend("NewPrecisionRecall", positive, score)
	if err != nil {
		return nil, err
	}
	all := float64(steps[len(steps)-1].right)
	r := &PrecisionRecall{Precision: []float64{1}, Recall: []float64{0}, Threshold: []float64{math.Inf(1)}, AP: averagePrecision(steps)}
	for _, s := range steps {
		r.Precision = append(r.Precision, float64(s.right)/float64(s.taken))
		r.Recall = append(r.Recall, float64(s.right)/all)
		r.Threshold = append(r.Threshold, s.threshold)
	}
	return r, nil
}

// AveragePrecision returns Σ (R_k − R_{k−1}) P_k in (0, 1]: the precision at each
// threshold, weighted by the increase of recall there, without interpolation. It returns an
// error if there is no positive point.
func AveragePrecision(positive []bool, score []float64) (float64, error) {
	steps, err := descend("AveragePrecision", positive, score)
	if err != nil {
		return 0, err
	}
	return averagePrecision(steps), nil
}

func averagePrecision(steps []step) float64 {
	sum, before := 0.0, 0
	for _, s := range steps {
		sum += float64(s.right-before) * float64(s.right) / float64(s.taken)
		before = s.right
	}
	return sum / float64(before)
}

// step counts the points with one score, and the positive ones among them.
type step struct {
	threshold    float64
	taken, right int
}

// descend returns the steps by decreasing score.
func descend(metric string, positive []bool, score []float64) ([]step, error) {
	if err := check(metric, series{"score", score}); err != nil {
		return nil, err
	}
	if len(positive) != len(score) {
		return nil, wrong(metric, "positive", -1, float64(len(positive)), "there are %d labels for %d scores", len(positive), len(score))
	}
	if !slices.Contains(positive, true) {
		return nil, wrong(metric, "positive", -1, 0, "no point is positive; give at least one")
	}
	order := make([]int, len(score))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(score[j], score[i]) })
	var steps []step
	right := 0
	for k, i := range order {
		if positive[i] {
			right++
		}
		s := step{score[i], k + 1, right}
		if k > 0 && score[i] == score[order[k-1]] {
			steps[len(steps)-1] = s
		} else {
			steps = append(steps, s)
		}
	}
	return steps, nil
}
