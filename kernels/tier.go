package kernels

import (
	"unsafe"

	"github.com/svmnb/svmnb/internal/simd"
)

// A tier computes kernel values of a Gram by products of matrices, in one precision. Lists of
// points have indices of the Gram; nil means all points.
//
// Compiling a cell also compiles all methods of the generic types that are visible in the
// fields of Gram, which takes a third of a second. This interface hides them.
type tier interface {
	// layOut makes a copy of all points in the layout that rows needs. It reports false if the
	// memory limit leaves no room for it.
	layOut(g *Gram) bool
	// rows sets into[k] to the values of the point idx[k] with all points. layOut must be
	// called first.
	rows(g *Gram, into [][]float32, idx []int)
	// among sets into[k] to the values of the point left[k] with the points right. If left has all
	// points of right, the slices of into are the rows of the matrix dst.
	among(g *Gram, dst []float32, into [][]float32, left, right []int)
	// sum adds Σ_k coef[k]·K(x_i, x_idx[k]) to dst[r] for i = on[r].
	sum(g *Gram, dst []float64, on, idx []int, coef []float64)
	// mutual adds Σ_k coefB[k]·K(x_i, x_j) to dstA[r], where i = a[r] and j = b[k], and Σ_r
	// coefA[r]·K(x_i, x_j) to dstB[k]. Both sums use the same kernel values.
	mutual(g *Gram, dstA, dstB []float64, a, b []int, coefA, coefB []float64)
	// inRegisters reports whether mutual adds values without storing them.
	inRegisters() bool
}

// tierOf is the tier whose products are of numbers of type T.
type tierOf[T simd.Float] struct {
	f    *formula
	all  *product[T] // has all points on the right; nil before layOut
	some product[T]  // has the points of one call

	// whole is a strip of all points, in the order of their indices. If it is nil, points are
	// copied from the Gram in each call. copies says that whole is made when the tier is first
	// used, if there is room.
	whole  *strip[T]
	copies bool

	left, right []int32 // memory of feed
}

// bytes returns the size of a number in bytes.
func (t *tierOf[T]) bytes() float64 {
	var v T
	return float64(unsafe.Sizeof(v))
}

// ready makes whole when the tier is first used.
func (t *tierOf[T]) ready(g *Gram) {
	if t.copies && t.whole == nil && g.roomForCopy(t.bytes()) {
		t.whole = new(strip[T])
		t.whole.layAll(t.f, g.p, g.place)
	}
	t.copies = false
}

func (t *tierOf[T]) layOut(g *Gram) bool {
	if !g.roomForCopy(t.bytes()) {
		return false
	}
	if g.roomForCopy(2 * t.bytes()) {
		t.ready(g)
	}
	t.all = &product[T]{f: t.f}
	if t.whole != nil {
		t.all.packStrip(t.whole)
	} else {
		t.all.pack(g.n, t.all.points(g.p, g.place))
	}
	return true
}

func (t *tierOf[T]) rows(g *Gram, into [][]float32, idx []int) {
	t.all.rows(into, t.feed(g, idx, &t.left))
}

func (t *tierOf[T]) among(g *Gram, dst []float32, into [][]float32, left, right []int) {
	t.ready(g)
	t.some.pack(len(right), t.feed(g, right, &t.right))
	points := t.feed(g, left, &t.left)
	if c, ok := any(dst).([]T); ok && len(left) == len(right) && t.some.square(c, len(left), points) {
		return
	}
	t.some.rows(into, points)
}

func (t *tierOf[T]) sum(g *Gram, dst []float64, on, idx []int, coef []float64) {
	t.ready(g)
	t.some.sum(dst, t.feed(g, on, &t.right), t.feed(g, idx, &t.left), coef)
}

func (t *tierOf[T]) mutual(g *Gram, dstA, dstB []float64, a, b []int, coefA, coefB []float64) {
	t.ready(g)
	t.some.mutual(dstA, dstB, t.feed(g, a, &t.left), t.feed(g, b, &t.right), coefA, coefB)
}

func (t *tierOf[T]) inRegisters() bool { return t.some.inRegisters() }

// feed returns the feed of the points idx, or of all points if idx is nil. It stores the
// places of the points in *memory.
func (t *tierOf[T]) feed(g *Gram, idx []int, memory *[]int32) feed[T] {
	n := g.n
	if idx != nil {
		n = len(idx)
	}
	*memory = sized(*memory, n)
	which := *memory
	for r := range which {
		i := r
		if idx != nil {
			i = idx[r]
		}
		if which[r] = g.place[i]; t.whole != nil {
			which[r] = int32(i)
		}
	}
	if t.whole == nil {
		return t.some.points(g.p, which)
	}
	return func(s *strip[T], from, to int) { s.cut(t.f, t.whole, which[from:to]) }
}
