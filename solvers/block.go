package solvers

// block is the matrix K restricted to the points of a working set, held in memory. Each point
// has a slot. Slots can be added and removed without copying the others.
type block struct {
	values []float64 // the row of slot i begins at i·stride
	stride int
	diag   []float64
}

func (b *block) Dim() int        { return len(b.diag) }
func (b *block) Diag() []float64 { return b.diag }
func (b *block) Row(i int) []float64 {
	return b.values[i*b.stride : i*b.stride+len(b.diag)]
}

// resize keeps the first n slots, or adds empty slots until there are n.
func (b *block) resize(n int) {
	if n > b.stride {
		stride := max(n, 3*b.stride/2)
		values := make([]float64, stride*stride)
		for i := range b.diag {
			copy(values[i*stride:], b.Row(i))
		}
		b.values, b.stride = values, stride
		b.diag = append(make([]float64, 0, stride), b.diag...)
	}
	b.diag = b.diag[:n]
}

// move copies the last of n slots into slot to.
func (b *block) move(to, n int) {
	last := n - 1
	v, s := b.values, b.stride
	copy(v[to*s:to*s+last], v[last*s:last*s+last])
	for k := range last {
		v[k*s+to] = v[to*s+k]
	}
	v[to*s+to] = b.diag[last]
	b.diag[to] = b.diag[last]
}

// put fills row and column of slot i from row, the full kernel row of its point. Slot k
// belongs to point set[k].
func (b *block) put(i int, row []float64, set []int) {
	own := b.Row(i)
	for k, j := range set {
		v := row[j]
		own[k] = v
		b.values[k*b.stride+i] = v
	}
	b.diag[i] = own[i]
}
