package linear

import (
	"context"

	"github.com/svmnb/svmnb/internal/rows"
	"github.com/svmnb/svmnb/internal/simd"
)

// array is a matrix stored by rows, stride apart.
type array struct {
	data   []float64
	stride int
}

// rectangle is a part of an array, or its transpose.
type rectangle = simd.Matrix[float64]

// block is the part of the array with rows r0 to r1 and columns c0 to c1.
func (t array) block(r0, r1, c0, c1 int) rectangle {
	return rectangle{Data: t.data, Rows: len(t.data) / t.stride, Cols: t.stride, Stride: t.stride}.Block(r0, r1, c0, c1)
}

// row is row i of the array up to column end.
func (t array) row(i, end int) []float64 { return t.data[i*t.stride : i*t.stride+end] }

// dense returns A.
func (s *System) dense(ctx context.Context) (array, error) {
	n := s.K.Dim()
	t := array{make([]float64, n*n), n}
	return t, rows.Sweep(ctx, s.K, false, func(i int, row []float64) {
		copy(t.row(i, n), row)
		t.data[i*n+i] += s.noise(i)
	})
}
