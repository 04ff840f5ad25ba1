package kernels

import (
	"fmt"
	"math"

	"github.com/svmnb/svmnb/internal/vec"
)

// DataError says what is wrong with the points of a matrix, and where.
type DataError struct {
	Arg      string  // "x" or "basis"
	Row, Col int     // from 0; −1 when it is not about one row or column
	Value    float64 // the offending value or count
	Msg      string
}

func (e *DataError) Error() string {
	at := e.Arg
	if e.Row >= 0 {
		at += fmt.Sprintf("[%d]", e.Row)
	}
	if e.Col >= 0 {
		at += fmt.Sprintf("[%d]", e.Col)
	}
	return "kernels: " + at + ": " + e.Msg
}

// features returns the d of n × d finite numbers, or a *DataError.
func features(arg string, x [][]float64) (int, error) {
	if len(x) == 0 {
		return 0, &DataError{arg, -1, -1, 0, "there are no points: give at least one"}
	}
	d := len(x[0])
	for i, row := range x {
		switch {
		case d == 0:
			return 0, &DataError{arg, i, -1, 0, "the point has no features: give at least one"}
		case len(row) != d:
			return 0, &DataError{arg, i, -1, float64(len(row)), fmt.Sprintf("the point has %d features, the one before has %d: give every point the same", len(row), d)}
		}
		for j, v := range row {
			if v-v != 0 { // NaN or ±Inf
				return 0, &DataError{arg, i, j, v, fmt.Sprintf("%v is not a finite number: drop the row or fill in a value", v)}
			}
		}
	}
	return d, nil
}

// points are n points of d features, laid out for rows of their kernel.
type points struct {
	kernel Kernel
	n, d   int
	// A fast kernel has feature k of point j at values[k*n+j], any other at
	// values[j*d+k].
	values []float64
	sums   func(dst, x, columns []float64, stride int) // x·z or ‖x − z‖²; nil for a kernel that is not fast
	of     func(v []float64)                           // turns the sums in v into kernel values
}

// block is how many entries of a row are computed at a time, so that they are
// still in the first-level cache when sums become kernel values.
const block = 512

func newPoints(k Kernel, x [][]float64, d int) points {
	p := points{kernel: k, n: len(x), d: d, values: make([]float64, len(x)*d)}
	switch k := k.(type) {
	case Radial:
		p.sums, p.of = vec.SquaredDistances, ofSquaredDistances(k)
	case DotProduct:
		p.sums, p.of = vec.Dots, ofDots(k)
	default:
		for j, row := range x {
			copy(p.values[j*d:], row)
		}
		return p
	}
	// Eight features at a time, since those of a point share a cache line.
	for from := 0; from < d; from += 8 {
		for j, row := range x {
			for k := from; k < min(from+8, d); k++ {
				p.values[k*p.n+j] = row[k]
			}
		}
	}
	return p
}

// ofSquaredDistances returns the loop of k over a slice, its own if it has one.
// The types are listed rather than found by a method because an embedding type
// would inherit the method and might have changed the kernel.
func ofSquaredDistances(k Radial) func(v []float64) {
	switch k := k.(type) {
	case GaussianKernel:
		return k.ofSquaredDistances
	}
	return func(v []float64) {
		for j, r2 := range v {
			v[j] = k.OfSquaredDistance(r2)
		}
	}
}

// ofDots is ofSquaredDistances for functions of x·z.
func ofDots(k DotProduct) func(v []float64) {
	switch k := k.(type) {
	case LinearKernel:
		return k.ofDots
	case PolynomialKernel:
		return k.ofDots
	}
	return func(v []float64) {
		for j, dot := range v {
			v[j] = k.OfDot(dot)
		}
	}
}

// fast sets dst[j] to K(x, point j) for a fast kernel.
func (p *points) fast(dst, x []float64) {
	for from := 0; from < len(dst); from += block {
		part := dst[from:min(from+block, len(dst))]
		p.sums(part, x, p.values[from:], p.n)
		p.of(part)
	}
}

// get returns point j: in dst for a fast kernel, else where it stands.
func (p *points) get(dst []float64, j int) []float64 {
	if p.sums == nil {
		return p.values[j*p.d:][:p.d:p.d]
	}
	for k := range dst {
		dst[k] = p.values[k*p.n+j]
	}
	return dst
}

// diagonal returns K(x, x) of all points, or a *DataError when one is no finite
// number: by Cauchy and Schwarz no other entry can be larger.
func (p *points) diagonal(arg string) ([]float64, error) {
	diag, x := make([]float64, p.n), make([]float64, p.d)
	for j := range diag {
		z := p.get(x, j)
		switch k := p.kernel.(type) {
		case Radial:
			diag[j] = k.OfSquaredDistance(0)
		case DotProduct:
			diag[j] = k.OfDot(vec.Dot(z, z))
		default:
			diag[j] = k.Eval(z, z)
		}
		if v := diag[j]; math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, &DataError{arg, j, -1, v, fmt.Sprintf("%v of the point with itself is %v: scale the features", p.kernel, v)}
		}
	}
	return diag, nil
}
