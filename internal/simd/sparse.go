package simd

import "unsafe"

// Lanes returns how many rows [CSR.MulLanes] multiplies at once: 64 for float32, 32 for
// float64.
func Lanes[T Float]() int {
	var v T
	return 256 / int(unsafe.Sizeof(v))
}

type sparseLoop[T Float] = func(dst, w *T, start *int, col *int32, val *T, n int)

// CSR is a matrix in compressed rows: row j has the values Val[p] in the columns Col[p] for
// Start[j] ≤ p < Start[j+1]. The columns of a row must be distinct.
type CSR[T Float] struct {
	Start []int // one more than there are rows, beginning with 0, never decreasing
	Col   []int32
	Val   []T
}

// Spread writes at most [Lanes] rows side by side into w: w[Lanes·c+l] becomes the entry of
// row rows[l] in column c. w has Lanes elements for each column and must be zero before.
// [CSR.Clear] sets it to zero again.
func (m CSR[T]) Spread(w []T, rows []int) {
	lanes := Lanes[T]()
	for l, r := range rows[:min(len(rows), lanes)] {
		from, to := m.Start[r], m.Start[r+1]
		val := m.Val[from:to]
		for p, c := range m.Col[from:to] {
			w[lanes*int(c)+l] = val[p]
		}
	}
}

// Clear sets to zero what [CSR.Spread] wrote.
func (m CSR[T]) Clear(w []T, rows []int) {
	lanes := Lanes[T]()
	for l, r := range rows[:min(len(rows), lanes)] {
		for _, c := range m.Col[m.Start[r]:m.Start[r+1]] {
			w[lanes*int(c)+l] = 0
		}
	}
}

// MulLanes sets dst[l·ld+j−from], for l < lanes and from ≤ j < to, to the dot product of row j
// with lane l of w. w has Lanes elements for every column of m; this is not checked. The rows
// of m are read once for all lanes. Different ranges of rows may be computed on different
// goroutines.
func (m CSR[T]) MulLanes(dst []T, ld int, w []T, lanes, from, to int) {
	t := loops[T]()
	all := Lanes[T]()
	loop := t.sparse[0]
	if 2*lanes <= all {
		loop, all = t.sparse[1], all/2
	}
	const strip = 64 // number of rows whose products stay in the first-level cache
	buffer := t.borrow(all * strip)
	defer t.give(buffer)
	_ = m.Start[from : to+1]
	for j := from; j < to; j += strip {
		n := min(strip, to-j)
		loop(&(*buffer)[0], unsafe.SliceData(w), &m.Start[j], unsafe.SliceData(m.Col), unsafe.SliceData(m.Val), n)
		Transpose(dst[j-from:], ld, *buffer, all, n, min(lanes, all))
	}
}
