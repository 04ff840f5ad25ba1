package simd

import "unsafe"

// Tiles are the loops of [Gemm] for whoever keeps its matrices as they want them: B and
// C in panels of Columns, row by row without gaps, A in groups of Rows, column by
// column. A value stays what it is when the level changes.
type Tiles[T Float] struct {
	Rows, Columns int

	t *table[T]
}

// NewTiles returns those of the level in use. Both sides of a tile divide 192.
func NewTiles[T Float]() Tiles[T] {
	t := loops[T]()
	return Tiles[T]{t.rows, t.columns, t}
}

// Add adds A·B to C, and Subtract takes it away: the products of k = len(a)/Rows
// columns of A, Rows each, with as many rows of B, in as many rows of C as a tile has.
func (t Tiles[T]) Add(c, a, b []T)      { t.sum(c, a, b, add) }
func (t Tiles[T]) Subtract(c, a, b []T) { t.sum(c, a, b, subtract) }

func (t Tiles[T]) sum(c, a, b []T, to sums) {
	k := len(a) / t.Rows
	_, _ = b[:k*t.Columns], c[:t.Rows*t.Columns]
	t.t.tile(k, unsafe.SliceData(a), unsafe.SliceData(b), unsafe.SliceData(c), t.Columns, to, 0)
}

// Divide replaces C, as many rows as a tile has, by L⁻¹C. L is lower triangular, Rows ×
// Rows without gaps, with the reciprocals of its diagonal there; what stands above is
// not read.
func (t Tiles[T]) Divide(l, c []T) {
	_, _ = l[:t.Rows*t.Rows], c[:t.Rows*t.Columns]
	t.t.divide(unsafe.SliceData(l), unsafe.SliceData(c))
}

// SubtractRows takes from y, as many numbers as a tile has columns, the rows of a panel
// b times x, one number for each row, in float64.
func (t Tiles[T]) SubtractRows(y []float64, b []T, x []float64) {
	_, _ = b[:len(x)*t.Columns], y[:t.Columns]
	t.t.lessRows(len(x), unsafe.SliceData(b), unsafe.SliceData(x), unsafe.SliceData(y))
}

// SubtractDots takes from each of x the product of a row of a panel b with y, as many
// numbers as a tile has columns, in float64.
func (t Tiles[T]) SubtractDots(x []float64, b []T, y []float64) {
	_, _ = b[:len(x)*t.Columns], y[:t.Columns]
	t.t.lessDots(len(x), unsafe.SliceData(b), unsafe.SliceData(x), unsafe.SliceData(y))
}
