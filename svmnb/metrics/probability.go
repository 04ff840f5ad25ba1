package metrics

import "math"

// LogLoss returns the mean of −ln p[i][truth[i]], ≥ 0: the cross entropy, or the negative
// log likelihood per point. p is n × k, one probability for each class. A point whose true
// class has the probability 0 costs +Inf.
func LogLoss(truth []int, p [][]float64) (float64, error) {
	if err := checkProbabilities("LogLoss", truth, p); err != nil {
		return 0, err
	}
	sum := 0.0
	for i, class := range truth {
		sum -= math.Log(p[i][class])
	}
	return sum/float64(len(truth)) + 0, nil // + 0 turns −0 into 0
}

// Brier returns the mean of Σ_k (p[i][k] − [truth[i] = k])², in [0, 2] (Brier 1950). For
// two classes, some programs, such as scikit-learn, sum over one class only and return half
// of it.
func Brier(truth []int, p [][]float64) (float64, error) {
	if err := checkProbabilities("Brier", truth, p); err != nil {
		return 0, err
	}
	sum := 0.0
	for i, class := range truth {
		for k, v := range p[i] {
			if k == class {
				v -= 1
			}
			sum += v * v
		}
	}
	return sum / float64(len(truth)), nil
}

func checkProbabilities(metric string, truth []int, p [][]float64) error {
	switch {
	case len(truth) == 0:
		return wrong(metric, "truth", -1, 0, "there are no classes; give at least one")
	case len(p) != len(truth):
		return wrong(metric, "p", -1, float64(len(p)), "there are %d rows, and %d of truth; give as many", len(p), len(truth))
	}
	for i, row := range p {
		if len(row) != len(p[0]) {
			return wrong(metric, "p", i, float64(len(row)), "the row has %d values, the first has %d", len(row), len(p[0]))
		}
		sum := 0.0
		for k, v := range row {
			if !(v >= 0 && v <= 1) {
				return &Error{metric, "p", i, k, v, "a probability lies in [0, 1]"}
			}
			sum += v
		}
		if math.Abs(sum-1) > 1e-6 {
			return wrong(metric, "p", i, sum, "the probabilities sum to %v; give those of all classes", sum)
		}
		if truth[i] < 0 || truth[i] >= len(row) {
			return wrong(metric, "truth", i, float64(truth[i]), "there is no class %d; the %d columns of p are numbered from 0", truth[i], len(row))
		}
	}
	return nil
}
