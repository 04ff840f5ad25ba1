package kernels_test

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
)

func ExampleRBF() {
	k := kernels.RBF(0.5)
	fmt.Printf("%v of points 2 apart: %.4f\n", k, k.Eval([]float64{0, 0}, []float64{2, 0}))
	fmt.Println(kernels.RBFSigma(1).Gamma() == k.Gamma)
	fmt.Println(kernels.RBF(-1).Check())
	// Output:
	// RBF(0.5) of points 2 apart: 0.1353
	// true
	// kernels: RBF: gamma = -1: want a finite number above 0; for a length scale or a σ, write SquaredExponential(length) or RBFSigma(sigma)
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
	// kernels: x[1]: the point has 1 feature, the first has 2: give every point the same
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

func ExampleSum() {
	// A trend, a season and a bias, each on the columns that it is about.
	k := kernels.Sum(
		kernels.Scale(4, kernels.Columns(kernels.SquaredExponential(2), 0)),
		kernels.Product(kernels.Columns(kernels.Periodic(12, 1), 0), kernels.Columns(kernels.Linear(), 1)),
		kernels.Constant(1),
	)
	fmt.Println(k)
	fmt.Println(k == kernels.Sum(k, kernels.Constant(0)))
	// Output:
	// Sum(Scale(4, Columns(SquaredExponential(2), 0)), Product(Columns(Periodic(12, 1), 0), Columns(Linear(), 1)), Constant(1))
	// true
}

func ExamplePrecomputed() {
	// Three points whose similarities were counted by hand, and a fourth.
	k := kernels.Precomputed()
	similar := [][]float64{{4, 3, 0}, {3, 5, 1}, {0, 1, 4}}
	data := datasets.New(k.Points(similar), []float64{-1, -1, 1})
	fit := svmnb.Classify(data).Kernel(k).MustFit()
	classes, err := fit.Predict(datasets.Rows(k.NewPoints([][]float64{{0, 1, 3}})))
	fmt.Println(classes, err)

	similar[0][1] = 7
	_, err = kernels.NewGram(k, k.Points(similar), 0)
	fmt.Println(err)
	// Output:
	// [1] <nil>
	// kernels: x[1][1]: the matrix is not symmetric: entry (1, 0) is 3 and entry (0, 1) is 7, of points 1 and 0: take the mean of both
}

func ExampleStrings() {
	const width = 20 // the longest string to come
	words := []string{"sitting", "hitting", "knitting", "sitter", "walked", "talked", "stalked", "walker"}
	data := datasets.New(kernels.Strings(width, words...), []float64{1, 1, 1, 1, 0, 0, 0, 0})
	fit := svmnb.Classify(data).Kernel(kernels.Spectrum(3)).C(10).MustFit()
	fmt.Println(fit.Predict(datasets.Rows(kernels.Strings(width, "splitting", "chalked"))))

	for _, k := range []kernels.Kernel{kernels.GapWeighted(2, 0.5), kernels.GapWeighted(2, 0.5).Raw()} {
		x := kernels.Strings(0, "cat", "car")
		fmt.Printf("%v of cat and car: %.4f\n", k, k.Eval(x[0], x[1]))
	}
	// Output:
	// [1 0] <nil>
	// GapWeighted(2, 0.5) of cat and car: 0.4444
	// GapWeighted(2, 0.5).Raw() of cat and car: 0.0625
}

func ExampleQuadraticFeatures() {
	x, z := []float64{1, 2}, []float64{3, -1}
	a, b := kernels.QuadraticFeatures(x, 1, 0), kernels.QuadraticFeatures(z, 1, 0)
	fmt.Println(a, b)
	fmt.Println(kernels.Linear().Eval(a, b), kernels.Polynomial(2, 1, 0).Eval(x, z))
	// Output:
	// [1 2 2 4] [9 -3 -3 1]
	// 1 1
}

func ExampleCentred() {
	x := [][]float64{{1}, {2}, {6}}
	g, err := kernels.NewGram(kernels.Centred(kernels.Linear(), x), x, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range x {
		fmt.Println(g.Row(i))
	}
	// Output:
	// [4 2 -6]
	// [2 1 -3]
	// [-6 -3 9]
}

// A sum of cosines of random frequencies is the kernel, the better the more there are.
func ExampleFrequencies() {
	k := kernels.Scale(2, kernels.Matern52(1.5))
	x, z := []float64{0.2, 1}, []float64{0.9, 0.4}
	for _, m := range []int{100, 10_000, 1_000_000} {
		omega, weight, err := kernels.Frequencies(k, 2, m, 1)
		if err != nil {
			fmt.Println(err)
			return
		}
		sum := 0.0
		for j, w := range omega {
			sum += weight[j] * math.Cos(w[0]*(x[0]-z[0])+w[1]*(x[1]-z[1]))
		}
		fmt.Printf("%.3f ", sum)
	}
	fmt.Printf("≈ %.3f\n", k.Eval(x, z))
	// Output: 1.266 1.511 1.519 ≈ 1.520
}

func ExampleNewSparseGram() {
	set, err := datasets.ReadLIBSVMSparse(strings.NewReader("+1 1:1 900000:2\n-1 3:1\n+1 900000:1\n"), 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	g, err := kernels.NewSparseGram(kernels.Linear(), *set.Sparse, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(g.Row(0))
	// Output: [5 0 2]
}

func ExampleGram_AddTo() {
	g, err := kernels.NewGram(kernels.RBF(1), [][]float64{{0}, {1}, {3}}, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	sums := make([]float64, 3) // K_i0 − K_i2 for all i
	if err := g.AddTo(context.Background(), sums, nil, nil, []int{0, 2}, []float64{1, -1}, true); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.4f\n", sums)
	// Output: [0.9999 0.3496 -0.9999]
}

func ExampleBasis_Times() {
	b := kernels.Against(kernels.Linear(), [][]float64{{1, 0}, {0, 1}})
	f := []float64{0.5, 0.5} // the bias
	b.Times(f, [][]float64{{1, 1}, {2, 0}}, []float64{1, -1})
	fmt.Println(f)
	// Output: [0.5 2.5]
}
