package solvers_test

import (
	"context"
	"fmt"

	"github.com/svmnb/svmnb/solvers"
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

// XOR with the kernel (x·z + 1)²: every point is a support vector with α = 1/8,
// and the margin is √2.
func ExampleSolve() {
	k := matrix{{9, 1, 1, 1}, {1, 9, 1, 1}, {1, 1, 9, 1}, {1, 1, 1, 9}}
	y := []float64{1, -1, -1, 1}
	r, err := solvers.Solve(context.Background(), solvers.HardMargin(k, y), solvers.SMO{}, solvers.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Status, r.Iterations, r.Alpha)
	fmt.Printf("W = %g, gap %g, ‖w‖² = %g\n", r.Certificate.Dual, r.Certificate.Gap, r.Certificate.Norm2)
	// Output:
	// converged 2 [0.125 0.125 0.125 0.125]
	// W = 0.25, gap 0, ‖w‖² = 0.5
}

func ExampleAny() {
	fmt.Println(solvers.Any(solvers.Gap{Rel: 1e-6}, solvers.Iterations{Max: 100_000}))
	// Output: any(relative gap ≤ 1e-06, 100000 iterations)
}

// A straight line through three points, ε = ½ wide on either side: the outer two
// are support vectors, one above the tube and one below.
func ExampleTube() {
	k := matrix{{1, 0, -1}, {0, 0, 0}, {-1, 0, 1}} // of x = −1, 0, 1
	p := solvers.Tube(k, []float64{-2, 0.2, 2}, []float64{10, 10, 10}, 0.5)
	r, err := solvers.Solve(context.Background(), p, solvers.TubeSMO{}, solvers.Settings{Stop: solvers.Gap{Rel: 1e-9}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("β = %.4g, f(x) = 1.5 x, gap %.1g\n", solvers.Signed(r.Alpha), r.Certificate.Gap)
	// Output: β = [-0.75 0 0.75], f(x) = 1.5 x, gap 0
}

// The machine of two features is found among three numbers, whatever n is.
func ExampleNewton() {
	x := [][]float64{{0, 0}, {1, 0}, {0, 1}, {2, 2}, {3, 2}, {2, 3}}
	y := []float64{-1, -1, -1, 1, 1, 1}
	k, err := solvers.NewDenseFeatures(x, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	p := solvers.SoftMargin(k, y, []float64{1, 1, 1, 1, 1, 1})
	r, err := solvers.Solve(context.Background(), p, solvers.Newton{}, solvers.Settings{Stop: solvers.Gap{Rel: 1e-9}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v, b = %.3f, W = %.3f\n", r.Status, r.Bias, r.Certificate.Dual)
	// Output: converged, b = -1.667, W = 0.444
}
