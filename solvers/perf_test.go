package solvers

import (
	"fmt"
	"testing"
)

func TestPerf(t *testing.T) {
	for _, n := range []int{400, 1000} {
		for _, gamma := range []float64{0.02, 0.2} {
		for _, c := range []float64{1, 100} {
			x, y := points(newRand(1), n, 5, 0.4)
			g := newGram(x, rbf(gamma))
			p := SoftMargin(g, y, fill(n, c))
			r := solve(t, p, SMO{}, Settings{Stop: Gap{1e-6}})
			w := r.Certificate.Dual
			for _, k := range []int{20,40, 100, 200} {
				m := PrimalDual{Corrector: true, Rank: k}
				r := solve(t, p, m, Settings{Stop: Gap{1e-6}})
				fmt.Printf("n %d g %g C %g %d %v its %d W off %.2g gap %.2g free %d bound %d %v\n", n, gamma, c, k, r.Status, r.Iterations, 1-r.Certificate.Dual/w, r.Certificate.Gap/w, r.Certificate.Free, r.Certificate.AtUpper, r.Elapsed)
			}
		}
		}
	}
}
