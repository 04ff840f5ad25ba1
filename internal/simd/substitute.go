package simd

import "fmt"

// Forward sets X to X·L⁻ᵀ, which is L⁻¹ times each row of X, by substitution. L is
// lower triangular; what stands above its diagonal is not read. Sums are in float64, and
// a row of X has the same bits whichever others there are. Neither may be a transpose.
// It is meant for an L that the first-level cache holds; halve what is larger.
func Forward[T Float](x, l Matrix[T]) { substitute(x, l, false) }

// Backward sets X to X·L⁻¹, which is L⁻ᵀ times each row of X; else it is [Forward].
func Backward[T Float](x, l Matrix[T]) { substitute(x, l, true) }

func substitute[T Float](x, l Matrix[T], back bool) {
	x.check("right-hand sides")
	l.check("triangle")
	n := l.Rows
	if x.transposed || l.transposed || l.Cols != n || x.Cols != n {
		panic(fmt.Sprintf("simd: substitution of %d×%d by %d×%d", x.Rows, x.Cols, l.Rows, l.Cols))
	}
	if x.Rows == 0 || n == 0 {
		return
	}
	t, doubles := loops[T](), loops[float64]()
	rows, blocks := 2*t.block, (n+t.block-1)/t.block
	full := blocks * t.block
	factors, known, edge := doubles.borrow(blocks*(blocks+1)/2*t.block*t.block), doubles.borrow(full*rows), t.borrow(rows*full)
	defer doubles.give(factors)
	defer doubles.give(known)
	defer t.give(edge)
	solve := t.forward
	if back {
		solve = t.backward
		t.factorsBack(*factors, l)
	} else {
		t.factors(*factors, l)
	}
	for from := 0; from < x.Rows; from += rows {
		some := min(rows, x.Rows-from)
		part, stride := x.Data[from*x.Stride:], x.Stride
		whole := some == rows && n == full
		if !whole {
			part, stride = *edge, full
			clear(part)
			for r := range some {
				copy(part[r*full:], x.Data[(from+r)*x.Stride:][:n])
			}
		}
		for b := range blocks {
			at := b * t.block
			if back {
				at = full - t.block - at
			}
			solve(&part[at], stride, &(*factors)[t.before(b)], &(*known)[0], b*t.block)
		}
		if !whole {
			for r := range some {
				copy(x.Data[(from+r)*x.Stride:][:n], part[r*full:])
			}
		}
	}
}

// before is where the factors of block b are: those of a block before it have one step
// for each column up to its last, and with each step one for each of its columns.
func (t *table[T]) before(b int) int { return b * (b + 1) / 2 * t.block * t.block }

// factors lays out the triangle for forward, 1/L_jj on the diagonal. Columns that fill
// the last block up have factors of 0. What comes along from above the diagonal is not
// looked at.
func (t *table[T]) factors(dst []float64, l Matrix[T]) {
	n := l.Rows
	same, double := any(dst).([]T)
	if !double {
		buffer := t.borrow(len(dst))
		defer t.give(buffer)
		same = *buffer
	}
	if n%t.block > 0 {
		clear(same)
	}
	for j := 0; j < n; j += t.block {
		end := min(j+t.block, n)
		t.transposed(same[t.before(j/t.block):], t.block, l.Data[j*l.Stride:], l.Stride, end-j, end)
	}
	if !double {
		clear(dst)
		t.axpy(1, &same[0], &dst[0], len(dst)) // which converts eight at a time
	}
	for j := range n {
		dst[t.before(j/t.block)+j*t.block+j%t.block] = 1 / float64(l.Data[j*l.Stride+j])
	}
}

// factorsBack does that for backward, whose blocks and steps are from the last.
func (t *table[T]) factorsBack(dst []float64, l Matrix[T]) {
	blocks := (l.Rows + t.block - 1) / t.block
	if l.Rows%t.block > 0 {
		clear(dst)
	}
	for k := range l.Rows {
		row, step := l.Data[k*l.Stride:][:k+1], (blocks*t.block-1-k)*t.block
		for j := 0; j <= k; j += t.block {
			to := dst[t.before(blocks-1-j/t.block)+step:]
			for i, v := range row[j:min(j+t.block, k+1)] {
				to[i] = float64(v)
			}
			if k < j+t.block {
				to[k-j] = 1 / float64(row[k])
			}
		}
	}
}
