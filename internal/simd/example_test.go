package simd_test

import (
	"fmt"

	"github.com/svmnb/svmnb/internal/simd"
)

// A block of rows of a Gram matrix: dot products of some points with all, each
// part mapped to kernel values while it is in the cache.
func ExampleGemm() {
	x := []float32{0, 0, 3, 4, 6, 8, 0, 1} // four points in the plane
	norms := []float32{0, 25, 100, 1}
	points := simd.Matrix[float32]{Data: x, Rows: 4, Cols: 2, Stride: 2}
	var all simd.Panels[float32]
	all.Pack(points.T(), 0)

	some := simd.Matrix[float32]{Data: x[2:], Rows: 2, Cols: 2, Stride: 2} // the second and the third
	rows := simd.Matrix[float32]{Data: make([]float32, 2*4), Rows: 2, Cols: 4, Stride: 4}
	simd.Gemm[float32]{Then: func(i, j int, c []float32) {
		simd.Gaussian(c, norms[1+i], norms[j:], 0.02)
	}}.Do(rows, some, &all)
	fmt.Printf("%.3f\n%.3f\n", rows.Data[:4], rows.Data[4:])
	// Output:
	// [0.607 1.000 0.607 0.698]
	// [0.135 0.607 1.000 0.183]
}

// Sequential minimal optimisation on the Gram matrix of two points of class +1
// and −1 and one of +1 behind, without bounds: F starts as the labels.
func ExampleSMOUpdate() {
	k := [][]float32{{1, -1, 2}, {-1, 1, -2}, {2, -2, 4}} // x = 1, −1, 2
	f, diag := []float64{1, -1, 1}, []float64{1, 1, 4}
	up, low := []float64{0, 0, 0}, []float64{0, 0, 0}
	i, most, least := simd.SMOUpdate(f, k[0], k[0], up, low, 0)
	fmt.Println("first", i, "violation", most-least)
	j, _ := simd.SMOSecond(f, low, k[i], diag, f[i], diag[i], 1e-12)
	t := (f[i] - f[j]) / (diag[i] + diag[j] - 2*float64(k[i][j]))
	_, most, least = simd.SMOUpdate(f, k[i], k[j], up, low, t)
	fmt.Println("second", j, "step", t, "violation", most-least)
	// Output:
	// first 0 violation 2
	// second 1 step 0.5 violation 1
}
