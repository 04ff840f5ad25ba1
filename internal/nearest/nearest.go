// Package nearest finds, for a point, the nearest of many points, by a k-d tree (Friedman,
// Bentley and Finkel 1977). Points have ranks, and a search can be limited to those below a rank.
package nearest

import "math"

// Tree has n points of d features. It is safe for concurrent use.
type Tree struct {
	// Index has the index of the point at each place of the tree, and Rank its rank. Points that
	// are near each other have places that are near each other.
	Index, Rank []int32

	d      int
	x      []float64 // the points, in the order of their places
	nodes  []node
	bounds []float64 // of each node: the least, then the largest, number of each feature
}

// node has the places from ≤ p < to. Its parts are the nodes part and part+1; a leaf has none.
type node struct {
	from, to, part int32
	least          int32 // the smallest rank
}

// leaf is the largest number of points of a leaf.
const leaf = 16

// New returns the tree of n points of d features, point i being x[i·d : (i+1)·d], with their
// ranks.
func New(d int, x []float64, rank []int32) *Tree {
	n := len(rank)
	t := &Tree{d: d, Index: make([]int32, n), Rank: make([]int32, n)}
	for i := range t.Index {
		t.Index[i] = int32(i)
	}
	if n == 0 {
		return t
	}
	t.nodes = append(t.nodes, node{to: int32(n)})
	for k := 0; k < len(t.nodes); k++ { // nodes are appended behind k
		t.split(k, x, rank)
	}
	t.x = make([]float64, n*d)
	for p, i := range t.Index {
		copy(t.x[p*d:][:d], x[int(i)*d:][:d])
		t.Rank[p] = rank[i]
	}
	return t
}

// split finds the bounds of node k and, unless it is a leaf, halves it across its longest side.
func (t *Tree) split(k int, x []float64, rank []int32) {
	d, n := t.d, &t.nodes[k]
	at := len(t.bounds)
	t.bounds = append(t.bounds, make([]float64, 2*d)...)
	low, high := t.bounds[at:][:d], t.bounds[at+d:][:d]
	for f := range d {
		low[f], high[f] = math.Inf(1), math.Inf(-1)
	}
	n.least = math.MaxInt32
	for _, i := range t.Index[n.from:n.to] {
		n.least = min(n.least, rank[i])
		for f, v := range x[int(i)*d:][:d] {
			low[f], high[f] = min(low[f], v), max(high[f], v)
		}
	}
	if n.to-n.from <= leaf {
		return
	}
	longest := 0
	for f := range d {
		if high[f]-low[f] > high[longest]-low[longest] {
			longest = f
		}
	}
	from, to, middle := n.from, n.to, (n.from+n.to)/2
	choose(t.Index[from:to], int(middle-from), func(i int32) float64 { return x[int(i)*d+longest] })
	n.part = int32(len(t.nodes))
	t.nodes = append(t.nodes, node{from: from, to: middle}, node{from: middle, to: to})
}

// choose reorders v so that no key before place k is larger, and none from k on smaller, than the
// key at k (Hoare 1961).
func choose(v []int32, k int, key func(i int32) float64) {
	for low, high := 0, len(v)-1; low < high; {
		pivot := key(v[low+(high-low)/2])
		i, j := low, high
		for i <= j {
			for key(v[i]) < pivot {
				i++
			}
			for key(v[j]) > pivot {
				j--
			}
			if i <= j {
				v[i], v[j] = v[j], v[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case k <= j:
			high = j
		case k >= i:
			low = i
		default:
			return
		}
	}
}

// Found has the places of the nearest points that a search has found, in no order, and keeps its
// memory from one search to the next.
type Found struct {
	Places []int32

	squares []float64 // of their distances; a heap with the largest first
	most    int
}

// Search finds the most points nearest to x, of d features, among those of a rank below before.
// There are fewer if there are not as many. Of points at the same distance, any may be found, but
// always the same.
func (t *Tree) Search(f *Found, x []float64, most int, before int32) {
	f.Places, f.squares, f.most = f.Places[:0], f.squares[:0], most
	if most > 0 && len(t.nodes) > 0 && t.nodes[0].least < before {
		t.search(f, 0, x, before)
	}
}

func (t *Tree) search(f *Found, k int32, x []float64, before int32) {
	n := &t.nodes[k]
	if n.part == 0 {
		for p := n.from; p < n.to; p++ {
			if t.Rank[p] >= before {
				continue
			}
			sum := 0.0
			for j, v := range t.x[int(p)*t.d:][:t.d] {
				e := v - x[j]
				sum += float64(e * e)
			}
			f.add(p, sum)
		}
		return
	}
	first, second := n.part, n.part+1
	near, far := t.square(first, x), t.square(second, x)
	if far < near {
		first, second, near, far = second, first, far, near
	}
	if t.nodes[first].least < before && f.takes(near) {
		t.search(f, first, x, before)
	}
	if t.nodes[second].least < before && f.takes(far) {
		t.search(f, second, x, before)
	}
}

// square returns the squared distance of x from the box around a node.
func (t *Tree) square(k int32, x []float64) float64 {
	low := t.bounds[int(k)*2*t.d:][:2*t.d]
	high, sum := low[t.d:], 0.0
	for j, v := range x[:t.d] {
		e := max(0, low[j]-v, v-high[j])
		sum += float64(e * e)
	}
	return sum
}

func (f *Found) takes(square float64) bool {
	return len(f.squares) < f.most || square < f.squares[0]
}

func (f *Found) add(place int32, square float64) {
	if !f.takes(square) {
		return
	}
	k := len(f.squares)
	if k < f.most { // up from the end
		f.squares, f.Places = append(f.squares, square), append(f.Places, place)
		for k > 0 && f.squares[(k-1)/2] < square {
			f.squares[k], f.Places[k] = f.squares[(k-1)/2], f.Places[(k-1)/2]
			k = (k - 1) / 2
		}
	} else { // down from the top, whose point is replaced
		for k = 0; 2*k+1 < f.most; {
			c := 2*k + 1
			if c+1 < f.most && f.squares[c+1] > f.squares[c] {
				c++
			}
			if f.squares[c] <= square {
				break
			}
			f.squares[k], f.Places[k] = f.squares[c], f.Places[c]
			k = c
		}
	}
	f.squares[k], f.Places[k] = square, place
}
