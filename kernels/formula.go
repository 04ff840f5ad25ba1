package kernels

import (
	"math"
	"slices"

	"github.com/svmnb/svmnb/internal/simd"
	"github.com/svmnb/svmnb/internal/vec"
)

// A formula expresses a kernel by dot products. For many pairs of points the dot products come
// from a product of matrices, and a pass over them computes kernel values.
//
// The mean μ is first subtracted from the points. This changes no distance, and makes the
// rounding error of ‖x‖² + ‖z‖² − 2x·z smaller. The dot product of the points themselves is
// (x−μ)·(z−μ) + μ·x + μ·z − μ·μ. The mean is not subtracted from sparse points, because they
// would not be sparse afterwards.
//
// A feature of a space is one of the d features of the points or, for a kernel that maps its points
// linearly, a sum of them.
type formula struct {
	sparse bool
	d      int
	maps   [][]float64 // feature d + i is Σ_c maps[i][c] x_c
	equal  [][]int     // sets of features of which a term asks whether they are equal
	spaces []*space
	root   term
}

// space is a set of features of which dot products are taken. Terms with the same features and
// weights share a space, and so share dot products.
type space struct {
	cols    []int
	weights []float64         // factors of the chosen features; nil for 1
	mean    []float64         // mean of the chosen features, without weights; nil for 0
	to      map[int32][]int32 // for sparse points: the places of a feature in cols; nil if cols are all features
}

// side has what a formula needs of single points on one side, indexed by space and point.
type side struct {
	norm  [][]float64 // ‖x − μ‖²
	shift [][]float64 // μ·x − ½μ·μ
	hash  [][]uint64  // of the features of each set of equal
}

func newSide(f *formula, n int) side {
	spaces := len(f.spaces)
	s := side{make([][]float64, spaces), make([][]float64, spaces), make([][]uint64, len(f.equal))}
	for k := range spaces {
		s.norm[k], s.shift[k] = make([]float64, n), make([]float64, n)
	}
	for k := range s.hash {
		s.hash[k] = make([]uint64, n)
	}
	return s
}

// part returns the points r with from ≤ r < to. They share the memory of s.
func (s *side) part(from, to int) (p side) {
	for k := range s.norm {
		p.norm, p.shift = append(p.norm, s.norm[k][from:to]), append(p.shift, s.shift[k][from:to])
	}
	for _, h := range s.hash {
		p.hash = append(p.hash, h[from:to])
	}
	return p
}

// pairs are pairs of one point on the left, whose number is at, and consecutive points on the
// right, beginning with number from. If self is set, each point on the right is paired with
// itself.
type pairs struct {
	dots        [][]float64 // (x − μ)·(z_j − μ), by space
	left, right *side
	at, from    int
	self        bool
	other       *pairs // memory for a term that needs the values of other pairs
}

// span is the range of x·x of the points on the right.
type span struct{ low, high float64 }

// A term is a kernel, or a part of one, in a formula.
type term interface {
	// values sets dst to the kernel values of all pairs.
	values(dst []float64, p *pairs, w *work)
	// reach returns how large ‖x − μ‖² in a space may be. Up to this size the error of a value
	// is below tol times the largest value, if products have the rounding unit u.
	reach(space int, u, tol float64, self span) float64
}

// formulaOf returns the formula of k for points of d features, or nil if k is no function of
// dot products.
func formulaOf(k Kernel, d int) *formula {
	f := &formula{d: d}
	if f.root = f.term(k, vec.Indices[int](d)); f.root == nil || len(f.spaces) == 0 {
		return nil
	}
	return f
}

// term returns the term of k on the features cols, or nil if k cannot be computed from
// products of matrices.
func (f *formula) term(k Kernel, cols []int) term {
	if k, ok := as[interface {
		term(f *formula, cols []int) term
	}](k); ok {
		return k.term(f, cols)
	}
	in, ok := innerOf(k, len(cols))
	if !ok {
		return nil
	}
	return innerTerm{inner: in, space: f.space(cols, in.weights)}
}

// mapped returns the features that the rows l make of the features cols.
func (f *formula) mapped(l [][]float64, cols []int) []int {
	out := make([]int, len(l))
	for i, row := range l {
		sum := make([]float64, f.d)
		for j, c := range cols {
			if c < f.d {
				sum[c] += row[j]
			} else {
				vec.Axpy(sum, row[j], f.maps[c-f.d])
			}
		}
		at := slices.IndexFunc(f.maps, func(m []float64) bool { return slices.Equal(m, sum) })
		if at < 0 {
			at = len(f.maps)
			f.maps = append(f.maps, sum)
		}
		out[i] = f.d + at
	}
	return out
}

// feature returns feature c of a point.
func (f *formula) feature(c int, x []float64) float64 {
	if c < f.d {
		return x[c]
	}
	return vec.Dot(f.maps[c-f.d], x)
}

// same returns the index of a set of features in equal.
func (f *formula) same(cols []int) int {
	cols = slices.Compact(slices.Sorted(slices.Values(cols)))
	for i, e := range f.equal {
		if slices.Equal(e, cols) {
			return i
		}
	}
	f.equal = append(f.equal, cols)
	return len(f.equal) - 1
}

// hashed returns a number for feature c with value v. The sum of these over all features of a point
// is its hash, in which features that are 0 do not count. Two of a million points that differ have
// the same hash with a probability below 1e-7.
func hashed(c int, v float64) uint64 {
	if v == 0 {
		return 0
	}
	h := math.Float64bits(v) + uint64(c+1)*0x9e3779b97f4a7c15
	for range 2 { // the finaliser of SplitMix64 (Steele, Lea and Flood 2014)
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return h
}

func (f *formula) space(cols []int, weights []float64) int {
	for i, s := range f.spaces {
		if slices.Equal(s.cols, cols) && slices.Equal(s.weights, weights) {
			return i
		}
	}
	f.spaces = append(f.spaces, &space{cols: cols, weights: weights})
	return len(f.spaces) - 1
}

// reach returns the limit of ‖x − μ‖² in each space; see term.
func (f *formula) reach(u, tol float64, self []span) []float64 {
	r := make([]float64, len(f.spaces))
	defer ofNone()
	for s := range r {
		r[s] = f.root.reach(s, u, tol, self[s])
	}
	return r
}

// inner is a kernel that is a function of x·z or of ‖x − z‖².
type inner struct {
	distance bool
	weights  []float64         // factors that features are multiplied by first; nil for 1
	gamma    float64           // γ of a Gaussian kernel exp(−γ‖x − z‖²); 0 for others
	of       func(v []float64) // turns x·z, or ‖x − z‖² ≥ 0, into kernel values
	most     float64           // no |K| is larger, for a kernel that may exceed its diagonal; 0 for others
}

// innerOf returns k, for points of d features, as a function of x·z or ‖x − z‖². It reports
// false if k is no such function.
func innerOf(k Kernel, d int) (inner, bool) {
	if k, ok := as[interface{ inner(d int) inner }](k); ok {
		return k.inner(d), true
	}
	var of func(float64) float64
	r, distance := k.(Radial)
	if distance {
		of = r.OfSquaredDistance
	} else if p, ok := k.(DotProduct); ok {
		of = p.OfDot
	} else {
		return inner{}, false
	}
	return inner{distance: distance, of: eachOf(k, of)}, true
}

// sums returns the loop that computes x·z or ‖x − z‖² for points in columns.
func (in inner) sums() func(dst, x, columns []float64, stride int) {
	switch {
	case in.weights != nil:
		return vec.WeightedSquaredDistances(in.weights)
	case in.distance:
		return simd.SquaredDistances
	}
	return simd.Dots
}

type innerTerm struct {
	inner
	space int
}

func (t innerTerm) values(dst []float64, p *pairs, _ *work) {
	norm, shift := p.right.norm[t.space][p.from:][:len(dst)], p.right.shift[t.space][p.from:][:len(dst)]
	switch {
	case p.self && t.distance:
		clear(dst)
	case p.self:
		for j, v := range norm {
			dst[j] = v + 2*shift[j]
		}
	case t.gamma > 0:
		copy(dst, p.dots[t.space])
		simd.Gaussian(dst, p.left.norm[t.space][p.at], norm, t.gamma)
		return
	case t.distance:
		a := p.left.norm[t.space][p.at]
		for j, dot := range p.dots[t.space][:len(dst)] {
			dst[j] = max(0, a+norm[j]-2*dot)
		}
	default:
		a := p.left.shift[t.space][p.at]
		for j, dot := range p.dots[t.space][:len(dst)] {
			dst[j] = dot + (a + shift[j])
		}
	}
	t.of(dst)
}

// The error of a dot product is usually a few units of R² = max ‖x − μ‖², however many
// features there are. reach tests how this error changes the kernel at distances, or dot
// products, of all magnitudes.
func (t innerTerm) reach(space int, u, tol float64, self span) float64 {
	if space != t.space {
		return math.Inf(1)
	}
	const steps = 64
	exact, off := make([]float64, 2*steps), make([]float64, 2*steps)
	holds := func(r2 float64) bool {
		top := 4 * r2
		if !t.distance {
			top = self.high
		}
		for i := range steps {
			v := math.Ldexp(top, -i)
			if i == steps-1 {
				v = 0
			}
			exact[2*i], exact[2*i+1] = v, v
			if !t.distance {
				exact[2*i+1] = -v
			}
		}
		for i, v := range exact {
			off[i] = v + float64(8*u*r2)
		}
		t.of(exact)
		t.of(off)
		size, err := 0.0, 0.0
		for i, v := range exact {
			size = max(size, math.Abs(v))
			err = max(err, math.Abs(off[i]-v))
		}
		return err <= tol*size
	}
	// Bisection over powers of two. holds is monotone up to rounding.
	low, high := -200, 200
	if !holds(math.Ldexp(1, low)) {
		return 0
	}
	for high-low > 1 {
		if mid := (low + high) / 2; holds(math.Ldexp(1, mid)) {
			low = mid
		} else {
			high = mid
		}
	}
	return math.Ldexp(1, low)
}
