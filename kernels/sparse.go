package kernels

import (
	"fmt"
	"iter"
	"slices"

	"github.com/svmnb/svmnb/internal/csr"
	"github.com/svmnb/svmnb/internal/panics"
	"github.com/svmnb/svmnb/internal/vec"
)

// CSR is n points of d features, most of which are 0, in compressed rows: point i has the
// features Index[Start[i]:Start[i+1]], increasing and counted from 0, with their numbers in
// Value. All other features are 0. datasets.CSR is the same type.
type CSR = csr.Rows

// columnsOf returns the points with the features cols only.
func columnsOf(x CSR, cols []int) CSR {
	c := CSR{Start: make([]int, 1, len(x.Start)), D: len(cols)}
	to := placesOf(cols)
	value := make([]float64, len(cols))
	for i := range x.N() {
		from := len(c.Index)
		for p := x.Start[i]; p < x.Start[i+1]; p++ {
			for _, k := range to[x.Index[p]] {
				c.Index, value[k] = append(c.Index, k), x.Value[p]
			}
		}
		slices.Sort(c.Index[from:])
		for _, k := range c.Index[from:] {
			c.Value = append(c.Value, value[k])
		}
		c.Start = append(c.Start, len(c.Index))
	}
	return c
}

// placesOf returns, for each feature in cols, its positions in cols.
func placesOf(cols []int) map[int32][]int32 {
	to := make(map[int32][]int32, len(cols))
	for k, c := range cols {
		to[int32(c)] = append(to[int32(c)], int32(k))
	}
	return to
}

// checkCSR returns a *DataError if x is no CSR of finite numbers.
func checkCSR(arg string, x CSR) error {
	if x.N() == 0 {
		return &DataError{arg, -1, -1, 0, "there are no points: give at least one"}
	}
	if x.D == 0 {
		return &DataError{arg, -1, -1, 0, "D, the number of features, is 0: want at least 1"}
	}
	if f := x.Fault(); f != nil {
		return &DataError{arg, f.Row, f.Column, f.Value, f.Msg}
	}
	for i := range x.N() {
		for p := x.Start[i]; p < x.Start[i+1]; p++ {
			if v := x.Value[p]; v-v != 0 {
				return &DataError{arg, i, int(x.Index[p]), v, fmt.Sprintf("%v is not a finite number: drop the row or fill in a value", v)}
			}
		}
	}
	return nil
}

// checkSparse is checkPoints for sparse points. A kernel with a domain checks some points at a
// time, made dense.
func checkSparse(k Kernel, arg string, x CSR) error {
	if err := checkCSR(arg, x); err != nil {
		return err
	}
	if _, ok := k.(Domain); !ok {
		return nil
	}
	const some = 32
	var rows [some][]float64
	for from := 0; from < x.N(); from += some {
		part := rows[:min(some, x.N()-from)]
		for r := range part {
			part[r] = x.Point(part[r], from+r)
		}
		if err := inDomain(k, part); err != nil {
			if e, ok := err.(*DataError); ok {
				e.Arg = arg
				if e.Row >= 0 {
					e.Row += from
				}
			}
			return err
		}
	}
	return nil
}

// sparsePoints is a CSR whose points can be exchanged.
type sparsePoints struct {
	CSR
	at []int32 // for each place, the point that stands there
}

func (p *points) entries(j int) (index []int32, value []float64) {
	i := p.sparse.at[j]
	a, b := p.sparse.Start[i], p.sparse.Start[i+1]
	return p.sparse.Index[a:b], p.sparse.Value[a:b]
}

func newSparsePoints(x CSR) *points {
	return &points{n: x.N(), d: x.D, sparse: &sparsePoints{CSR: x, at: vec.Indices[int32](x.N())}}
}

// byColumns sets columns[k·n+j] to feature k of the point at place j.
func (s *sparsePoints) byColumns(columns []float64) {
	n := s.N()
	tasks := (n + block - 1) / block
	share(threads(tasks), tasks, func(_, task int) {
		from, to := task*block, min((task+1)*block, n)
		for k := range s.D {
			clear(columns[k*n+from : k*n+to])
		}
		for j := from; j < to; j++ {
			i := s.at[j]
			for p := s.Start[i]; p < s.Start[i+1]; p++ {
				columns[int(s.Index[p])*n+j] = s.Value[p]
			}
		}
	})
}

// If fewer than sparseShare of the numbers are non-zero, products of compressed rows take less
// time than products of matrices, on every instruction set. With fewer than sparseFeatures
// features the difference does not matter.
const (
	sparseShare    = 0.25
	sparseFeatures = 16
)

// mostlyZero reports whether n points of d features are better stored without their zeros.
// filled is the number of their non-zero numbers.
func mostlyZero(n, d, filled int) bool {
	return d >= sparseFeatures && float64(filled) < sparseShare*float64(n)*float64(d)
}

// withoutZeros returns a copy of points of d features in compressed rows. start is the Start
// of the result.
func withoutZeros(x source, d int, start []int) CSR {
	n := len(start) - 1
	c := CSR{Start: start, Index: make([]int32, start[n]), Value: make([]float64, start[n]), D: d}
	tasks := (n + block - 1) / block
	share(threads(tasks), tasks, func(_, task int) {
		buffer := make([]float64, d)
		for j := task * block; j < min((task+1)*block, n); j++ {
			at := start[j]
			for k, v := range x.point(buffer, j) {
				if v != 0 {
					c.Index[at], c.Value[at] = int32(k), v
					at++
				}
			}
		}
	})
	return c
}

// all yields all n points in the order of their places. Each is valid until the next.
func (p *points) all() iter.Seq2[int, []float64] {
	return func(yield func(int, []float64) bool) {
		x := make([]float64, p.d)
		for j := range p.n {
			if !yield(j, p.point(x, j)) {
				return
			}
		}
	}
}

// sparseInnerRower is for functions of x·z or ‖x − z‖² of sparse points. A distance is
// computed as ‖x‖² + ‖z‖² − 2x·z. All three are summed over the features in the same order, so
// that equal points have distance 0. If the points are near each other and far from the
// origin, this would lose digits, and the distance is summed from differences instead.
type sparseInnerRower struct {
	inner
	p    *points
	norm []float64 // ‖z‖²
}

func newSparseInnerRower(in inner, p *points) *sparseInnerRower {
	r := &sparseInnerRower{in, p, make([]float64, p.n)}
	for j := range r.norm {
		index, value := p.entries(j)
		for i, v := range value {
			a := r.weighted(v, int(index[i]))
			r.norm[j] += float64(a * a)
		}
	}
	return r
}

func (r *sparseInnerRower) weighted(v float64, c int) float64 {
	if r.weights == nil {
		return v
	}
	return float64(v * r.weights[c])
}

func (r *sparseInnerRower) row(dst, x []float64, w *work) {
	wx := w.take(len(x))
	defer w.give(wx)
	norm := 0.0
	for c, v := range x {
		wx[c] = r.weighted(v, c)
		norm += float64(wx[c] * wx[c])
	}
	for j := range dst {
		index, value := r.p.entries(j)
		dot := 0.0
		for i, v := range value {
			c := index[i]
			dot += float64(r.weighted(v, int(c)) * wx[c])
		}
		if dst[j] = dot; r.distance {
			both := norm + r.norm[j]
			if dst[j] = max(0, both-2*dot); dst[j] < both*near {
				dst[j] = r.squared(x, index, value)
			}
		}
	}
	r.of(dst)
}

// near is the share of ‖x‖² + ‖z‖² below which a distance would lose more than ten bits.
const near = 0x1p-10

// squared returns ‖x − z‖² from differences, for a dense x and the entries of z.
func (r *sparseInnerRower) squared(x []float64, index []int32, value []float64) float64 {
	sum, next := 0.0, 0
	for c, v := range x {
		if next < len(index) && int(index[next]) == c {
			v -= value[next]
			next++
		}
		v = r.weighted(v, c)
		sum += float64(v * v)
	}
	return sum
}

func (r *sparseInnerRower) self(x []float64, w *work) float64 {
	v := w.take(1)
	defer w.give(v)
	v[0] = 0
	if !r.distance {
		for _, a := range x {
			v[0] += float64(a * a)
		}
	}
	r.of(v)
	return v[0]
}

func (r *sparseInnerRower) swap(s, t int) { r.norm[s], r.norm[t] = r.norm[t], r.norm[s] }

// sparseLoopRower is a loopRower for sparse points. It makes one point dense at a time.
type sparseLoopRower struct{ loopRower }

func (r *sparseLoopRower) row(dst, x []float64, w *work) {
	z := w.take(r.p.d)
	defer w.give(z)
	defer pairOf(r.k, nil)
	for j := range dst {
		r.sums(dst[j:j+1], x, r.p.point(z, j), 1)
	}
	r.of(dst)
}

// mostFeatures is the largest number of features, for which one point made dense takes 1 GiB.
const mostFeatures = 1 << 27

// NewSparseGram is [NewGram] for sparse points. It does not copy x, so the caller must not
// change it, and makes at most two points dense at a time. If the kernel is a function of x·z
// or ‖x − z‖², a row takes as many steps as there are non-zero numbers; distances are computed
// as ‖x‖² + ‖z‖² − 2x·z. For other kernels, a row takes as long as for dense points.
func NewSparseGram(k Kernel, x CSR, cacheBytes int64) (g *Gram, err error) {
	defer panics.Recover(&err, func() string { return "the kernel " + describe(k) })
	if err := check(k); err != nil {
		return nil, err
	}
	if err := checkSparse(k, "x", x); err != nil {
		return nil, err
	}
	if x.D > mostFeatures {
		return nil, &DataError{"x", -1, -1, float64(x.D), fmt.Sprintf("there are %d features, and a point written out takes %.3g GiB; the limit is %d features: number those that occur from 1 on, or hash them", x.D, float64(x.D)/(1<<27), mostFeatures)}
	}
	// An entry takes 12 bytes. Together with its copy for products it takes about as much as
	// three float64.
	perPoint := 3*len(x.Index)/x.N() + 1
	return newGram(k, x.N(), x.D, perPoint, cacheBytes, func() *points { return newSparsePoints(x) })
}

// AgainstSparse is [Against] for n sparse points. It does not copy them; n may be 0.
func AgainstSparse(k Kernel, basis CSR) *Basis {
	if err := check(k); err != nil {
		panic(err)
	}
	b := newBasis(k)
	if basis.N() == 0 {
		return b
	}
	if err := checkSparse(k, "basis", basis); err != nil {
		panic(err)
	}
	b.p = newSparsePoints(basis)
	b.rower = rowerOf(k, b.p)
	return b
}
