package simd

import "unsafe"

// Exp sets dst[j] = exp(scale·x[j]) for all j of x. The relative error is 4e-16 for float64
// and 1.2e-7 for float32, or one unit in the last place for subnormal results. The rounding of
// the product scale·x[j] comes on top. exp(0) is 1. dst may be x.
func Exp[T Float](dst, x []T, scale T) {
	dst = dst[:len(x)]
	loops[T]().exp(unsafe.SliceData(dst), unsafe.SliceData(x), len(x), scale)
}

// Gaussian turns dot products into values of the Gaussian kernel: dst[j], which is x·z_j,
// becomes exp(−gamma·max(0, a + b[j] − 2·dst[j])), where a = ‖x‖² and b[j] = ‖z_j‖². The error
// of [Exp] applies to the exponent as it is rounded in T. If the norms are much larger than
// the distances, centre the points first or use float64. In float32, the smaller norm is added last: for
// near points the sum of both norms would be rounded more than the result. gamma/ln 2 and the
// distance are rounded, but not their product; the relative error is then 1e-7, and values
// below 2⁻¹²⁵ become 0.
func Gaussian[T Float](dst []T, a T, b []T, gamma T) {
	b = b[:len(dst)]
	loops[T]().gaussian(unsafe.SliceData(dst), unsafe.SliceData(b), len(dst), a, gamma)
}

// Dot returns Σ x[j]·y[j] over all j of x, summed in float64.
func Dot[T Float](x []T, y []float64) float64 {
	y = y[:len(x)]
	return loops[T]().dot(unsafe.SliceData(x), unsafe.SliceData(y), len(x))
}

// Axpy adds c·x[j] to y[j] for all j of x, in float64.
func Axpy[T Float](c float64, x []T, y []float64) {
	y = y[:len(x)]
	loops[T]().axpy(c, unsafe.SliceData(x), unsafe.SliceData(y), len(x))
}

// AddRows adds Σ c[r]·rows[r][from+j] to y[j] for all j of y, in float64 and in the order of
// the rows. With c = −α and kernel rows it updates a gradient after a step on a whole working
// set. Different ranges of y may be computed on different goroutines.
func AddRows[T Float](y []float64, c []float64, rows [][]T, from int) {
	c = c[:len(rows)]
	for _, row := range rows {
		_ = row[from : from+len(y)]
	}
	t := loops[T]()
	// A part of y stays in the first-level cache while all rows are read.
	const part = 1024
	for at := 0; at < len(y); at += part {
		n := min(part, len(y)-at)
		r := 0
		for ; r+4 <= len(rows); r += 4 {
			t.axpy4(&c[r], &rows[r], from+at, &y[at], n)
		}
		for ; r < len(rows); r++ {
			t.axpy(c[r], &rows[r][from+at], &y[at], n)
		}
	}
}

// Transpose sets dst[c·to+r] = src[r·from+c] for r < rows and c < columns.
func Transpose[T Float](dst []T, to int, src []T, from, rows, columns int) {
	if rows <= 0 || columns <= 0 {
		return
	}
	_, _ = dst[(columns-1)*to+rows-1], src[(rows-1)*from+columns-1]
	loops[T]().transposed(dst, to, src, from, rows, columns)
}

func (t *table[T]) transposed(dst []T, to int, src []T, from, rows, columns int) {
	r := 0
	if t.lanes > 0 {
		blocks := columns / t.lanes
		for r < rows && rows >= t.lanes {
			r = min(r, rows-t.lanes) // the last strip may overlap the one before
			if blocks > 0 {
				t.transpose(&dst[r], to, &src[r*from], from, blocks)
			}
			for s := r; s < r+t.lanes; s++ {
				scatter(dst[s:], to, src[s*from:], blocks*t.lanes, columns)
			}
			r += t.lanes
		}
	}
	for ; r < rows; r++ {
		scatter(dst[r:], to, src[r*from:], 0, columns)
	}
}

// scatter sets dst[c·to] = src[c] for begin ≤ c < end.
func scatter[T Float](dst []T, to int, src []T, begin, end int) {
	at := begin * to
	for _, v := range src[begin:end] {
		dst[at] = v
		at += to
	}
}
