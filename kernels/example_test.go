package kernels_test

import (
	"fmt"

	"github.com/svmnb/svmnb/kernels"
)

func ExampleRBF() {
	k := kernels.RBF(0.5)
	fmt.Printf("%v of points 2 apart: %.4f\n", k, k.Eval([]float64{0, 0}, []float64{2, 0}))
	fmt.Println(kernels.RBFSigma(1) == k)
	fmt.Println(kernels.RBF(-1).Check())
	// Output:
	// RBF(0.5) of points 2 apart: 0.1353
	// true
	// kernels: RBF: gamma = -1: want a finite number above 0 (gamma = 1/2σ² for a σ or a length scale)
}

func ExamplePolynomial() {
	k := kernels.Polynomial(2, 1, 1)
	fmt.Println(k, k.Eval([]float64{1, -1}, []float64{1, 1}))
	// Output: Polynomial(2, 1, 1) 1
}

func ExampleNewGram() {
	x := [][]float64{{0, 0}, {0, 1}, {1, 1}}
	g, err := kernels.NewGram(kernels.Linear(), x, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range g.Dim() {
		fmt.Println(g.Row(i))
	}
	fmt.Println(g.Evaluations(), "evaluations")

	_, err = kernels.NewGram(kernels.Linear(), [][]float64{{0, 0}, {1}}, 0)
	fmt.Println(err)
	// Output:
	// [0 0 0]
	// [0 1 1]
	// [0 1 2]
	// 6 evaluations
	// kernels: x[1]: the point has 1 features, the one before has 2: give every point the same
}

func ExampleAgainst() {
	basis := kernels.Against(kernels.Linear(), [][]float64{{1, 0}, {0, 1}, {1, 1}})
	row := make([]float64, basis.Len())
	for _, x := range [][]float64{{2, 3}, {-1, 1}} {
		fmt.Println(basis.Row(row, x))
	}
	// Output:
	// [2 3 5]
	// [-1 1 0]
}

func ExampleGammaMedian() {
	x := [][]float64{{0}, {1}, {3}}
	fmt.Println(kernels.RBF(kernels.GammaMedian(x)))
	// Output: RBF(0.25)
}
