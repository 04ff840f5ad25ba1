package linear_test

import (
	"context"
	"fmt"

	"github.com/svmnb/svmnb/solvers/linear"
)

// matrix is a kernel matrix in memory.
type matrix [][]float64

func (m matrix) Dim() int            { return len(m) }
func (m matrix) Row(i int) []float64 { return m[i] }
func (m matrix) Diag() []float64 {
	d := make([]float64, len(m))
	for i := range m {
		d[i] = m[i][i]
	}
	return d
}

// The mean of a Gaussian process at three points of unit variance and correlation ½,
// with noise 0.5: A = K + 0.5 I. The energy bounds the error of any prediction.
func ExampleSolve() {
	k := matrix{{1, 0.5, 0.25}, {0.5, 1, 0.5}, {0.25, 0.5, 1}}
	s := &linear.System{K: k, Noise: []float64{0.5, 0.5, 0.5}}
	sol, err := linear.Solve(context.Background(), s, [][]float64{{1, 2, 1}}, linear.CG{}, linear.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	c := sol.Certificates[0]
	fmt.Printf("%v after %d iterations, x = %.4f\n", sol.Status, sol.Iterations, sol.X[0])
	fmt.Printf("b'A⁻¹b = %.4f; no mean is wrong by 1e-12: %t\n", c.Lower, c.ErrorBound(1) < 1e-12)
	// Output:
	// converged after 2 iterations, x = [0.2353 1.1765 0.2353]
	// b'A⁻¹b = 2.8235; no mean is wrong by 1e-12: true
}

// ln|A| of a system that is too large to factor, from random probes.
func ExampleProbe() {
	k := matrix{{1, 0.5, 0.25}, {0.5, 1, 0.5}, {0.25, 0.5, 1}}
	s := &linear.System{K: k, Noise: []float64{0.5, 0.5, 0.5}}
	p, err := linear.Probe(context.Background(), s, linear.CG{}, 1000, 1, linear.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	factor, err := linear.Cholesky{}.Factor(context.Background(), s)
	if err != nil {
		fmt.Println(err)
		return
	}
	lower, upper := s.LogDetBounds()
	fmt.Printf("probes %.2f ± %.2f, factor %.2f, between %.2f and %.2f\n", p.LogDet, p.LogDetError, factor.LogDet(), lower, upper)
	// Output:
	// probes 1.01 ± 0.03, factor 0.98, between -2.08 and 1.22
}
