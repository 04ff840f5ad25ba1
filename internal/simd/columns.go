package simd

import (
	"unsafe"

	"github.com/svmnb/svmnb/internal/vec"
)

// These loops of package vec compute kernel rows. They have the same bits at all levels.

// Dots is [vec.Dots].
func Dots(dst, x, cols []float64, stride int) {
	if len(dst) > 0 {
		_, _ = x[0], cols[(len(x)-1)*stride:][:len(dst)]
		if dots(&dst[0], &x[0], unsafe.SliceData(cols), len(dst), len(x), stride) {
			return
		}
	}
	vec.Dots(dst, x, cols, stride)
}

// SquaredDistances is [vec.SquaredDistances].
func SquaredDistances(dst, x, cols []float64, stride int) {
	if len(dst) > 0 {
		_, _ = x[0], cols[(len(x)-1)*stride:][:len(dst)]
		if distances(&dst[0], &x[0], unsafe.SliceData(cols), len(dst), len(x), stride) {
			return
		}
	}
	vec.SquaredDistances(dst, x, cols, stride)
}

// ExpScaled is [vec.ExpScaled].
func ExpScaled(v []float64, a float64) {
	for len(v) > 0 {
		left, lanes := expScaled(&v[0], len(v), a, &vec.Roots[0])
		v = v[len(v)-left:]
		some := v[:min(lanes, len(v))]
		vec.ExpScaled(some, a)
		v = v[len(some):]
	}
}
