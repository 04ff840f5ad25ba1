package linear

import (
	"math"
	"slices"

	"github.com/svmnb/svmnb/internal/simd"
	"github.com/svmnb/svmnb/internal/vec"
)

// inner returns x'y.
func inner(x, y []float64) float64 { return simd.Dot(x, y) }

// norm returns ‖x‖ without overflow or underflow.
func norm(x []float64) float64 {
	scale := vec.MaxAbs(x)
	if scale == 0 || math.IsInf(scale, 1) {
		return scale
	}
	sum := 0.0
	for _, v := range x {
		sum += v / scale * (v / scale)
	}
	return scale * math.Sqrt(sum)
}

// distance returns ‖x − y‖.
func distance(x, y []float64) float64 {
	sum := 0.0
	for i, v := range x {
		d := v - y[i]
		sum += float64(d * d)
	}
	return math.Sqrt(sum)
}

// fill returns a slice that has n times the number v.
func fill(n int, v float64) []float64 { return slices.Repeat([]float64{v}, n) }
