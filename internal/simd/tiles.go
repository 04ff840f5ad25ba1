package simd

import "unsafe"

// Tiles are the loops of [Gemm] for code that has its own layout of matrices: panels of
// Columns, row by row without gaps. A Tiles value keeps its level when the active level
// changes.
type Tiles[T Float] struct {
	Rows, Columns int

	t *table[T]
}

// NewTiles returns the Tiles of the active level. Rows and Columns divide 192.
func NewTiles[T Float]() Tiles[T] {
	t := loops[T]()
	return Tiles[T]{t.rows, t.columns, t}
}

// Add adds AᵀB to the tile C, and Subtract subtracts it. a and b are panels with k rows; of a
// only as many columns are used as C has rows, from the first on. Meanwhile a part of next is
// fetched from memory, 16 bytes for each of the k rows.
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

// Divide replaces C, with as many rows as a tile, by L⁻¹C. L is lower triangular, Rows × Rows
// without gaps, with the reciprocals of the diagonal entries on its diagonal. Entries above
// the diagonal are not read.
func (t Tiles[T]) Divide(l, c []T) {
	_, _ = l[:t.Rows*t.Rows], c[:t.Rows*t.Columns]
	t.t.divide(unsafe.SliceData(l), unsafe.SliceData(c))
}

// SubtractRows subtracts from y the rows of a panel b, each times its number in x, in float64.
// y has as many numbers as a tile has columns, and x one for each row.
func (t Tiles[T]) SubtractRows(y []float64, b []T, x []float64) {
	_, _ = b[:len(x)*t.Columns], y[:t.Columns]
	t.t.lessRows(len(x), unsafe.SliceData(b), unsafe.SliceData(x), unsafe.SliceData(y))
}

// SubtractDots subtracts from each number in x the product of a row of a panel b with y, in
// float64. y has as many numbers as a tile has columns.
func (t Tiles[T]) SubtractDots(x []float64, b []T, y []float64) {
	_, _ = b[:len(x)*t.Columns], y[:t.Columns]
	t.t.lessDots(len(x), unsafe.SliceData(b), unsafe.SliceData(x), unsafe.SliceData(y))
}
