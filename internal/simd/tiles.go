package simd

import "unsafe"

// Tiles are the loops of [Gemm] for whoever keeps its matrices as they want them: in
// panels of Columns, row by row without gaps. A value stays what it is when the level
// changes.
type Tiles[T Float] struct {
	Rows, Columns int

	t *table[T]
}

// NewTiles returns those of the level in use. Both sides of a tile divide 192.
func NewTiles[T Float]() Tiles[T] {
	t := loops[T]()
	return Tiles[T]{t.rows, t.columns, t}
}

// Add adds AᵀB to C, and Subtract takes it away: of k rows of two panels, of A from its
// first column on as many columns as C has rows, as many as a tile. Meanwhile what is
// next begins to come from memory, 16 bytes for each row.
func (t Tiles[T]) Add(c, a, b []T, k int, next *T)      { t.sum(c, a, b, k, next, add) }
func (t Tiles[T]) Subtract(c, a, b []T, k int, next *T) { t.sum(c, a, b, k, next, subtract) }

func (t Tiles[T]) sum(c, a, b []T, k int, next *T, to sums) {
	if k <= 0 {
		return
	}
	_, _, _ = a[:(k-1)*t.Columns+t.Rows], b[:k*t.Columns], c[:t.Rows*t.Columns]
	from := unsafe.SliceData(b)
	ahead := 0
	if next != nil {
		ahead = int(uintptr(unsafe.Pointer(next)) - uintptr(unsafe.Pointer(from)))
	}
	t.t.cross(k, unsafe.SliceData(a), from, unsafe.SliceData(c), t.Columns, to, ahead)
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
