package say

import "testing"

// A call is said in words; what is no call of a learner stays as it is.
func TestWords(t *testing.T) {
	for call, want := range map[string]string{
		"Classify(moons).Kernel(RBF(1.2)).C(2)":                            "moons · RBF(1.2), C = 2",
		"Classify(moons).Kernel(RBF(1)).C(1).Tol(0.001)":                   "moons · RBF(1), C = 1",
		"Classify(iris).Kernel(RBF(0.06416666)).HardMargin().OneVsOne()":   "iris · RBF(0.06417), hard margin, one against one",
		"Regress(sinc).Kernel(Sum(RBF(0.3), Linear())).C(10).Epsilon(0.1)": "sinc · Sum(RBF(0.3), Linear()), C = 10, Epsilon = 0.1",
		"Pipe(Standardise(), Classify(wine).C(1))":                         "Standardise → wine · C = 1",
		"my learner": "my learner",
	} {
		if got := Words(call); got != want {
			t.Errorf("%s: %q, want %q", call, got, want)
		}
	}
}
