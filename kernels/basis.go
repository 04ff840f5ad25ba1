package kernels

import (
	"fmt"
	"sync"

	"github.com/svmnb/svmnb/internal/simd"
	"github.com/svmnb/svmnb/internal/vec"
)

// Basis evaluates a kernel between any point and n fixed ones: the support
// vectors of a machine that predicts. It is safe for concurrent use.
type Basis struct {
	kernel Kernel
	p      *points
	rower  rower
	work   sync.Pool // of *work

	sums func() summer // made on the first call
}

// A summer computes sums over a basis by products of matrices. It is an interface for the same
// reason as tier.
type summer interface {
	// add is product.add for the first m points of x.
	add(dst [][]float64, m int, x source, coef [][]float64, alone func(sums []float64, i int))
	// rows sets dst[i·n+j] to K(x_i, z_j) for the first m points of x and the n points of the basis.
	rows(dst []float64, n, m int, x source, alone func(row []float64, i int))
}

// Against returns the Basis of k at n points of d features each, which it copies; n may be 0.
// The points should be those that a machine was trained on. Since these have been checked,
// Against panics with the error that [NewGram] would return.
func Against(k Kernel, basis [][]float64) *Basis {
	if err := check(k); err != nil {
		panic(err)
	}
	b := newBasis(k)
	if len(basis) == 0 {
		return b
	}
	d, _, err := checkPoints(k, "basis", basis)
	if err != nil {
		panic(err)
	}
	b.p, b.rower = over(rowerOf, k, copied(basis, d), d)
	return b
}

func newBasis(k Kernel) *Basis {
	b := &Basis{kernel: k, p: &points{}}
	b.work.New = func() any { return &work{} }
	b.sums = sync.OnceValue(func() summer { return newSums(b.kernel, b.p) })
	return b
}

// Len returns n, the number of points of the basis.
func (b *Basis) Len() int { return b.p.n }

// Check returns nil, or a *[DataError] that names the first of the m points x that Row
// refuses: it differs from the basis in the number of features, has a number that is not
// finite, or is excluded by the kernel's [Domain].
func (b *Basis) Check(x [][]float64) error {
	if len(x) == 0 {
		return nil
	}
	for i, row := range x {
		if len(row) != b.p.d && b.p.n > 0 {
			return b.otherWidth(i, len(row))
		}
	}
	_, _, err := checkPoints(b.kernel, "x", x)
	return err
}

// CheckSparse is Check for sparse points.
func (b *Basis) CheckSparse(x CSR) error {
	if x.N() == 0 {
		return nil
	}
	if x.D != b.p.d && b.p.n > 0 {
		return b.otherWidth(-1, x.D)
	}
	return checkSparse(b.kernel, "x", x)
}

func (b *Basis) otherWidth(i, d int) error {
	return &DataError{"x", i, -1, float64(d), fmt.Sprintf("the point has %s, the points of the basis have %d", several(d, "feature"), b.p.d)}
}

// Row sets dst[j] to K(x, basis[j]) for all n points of the basis and returns it. A dst
// shorter than n, such as nil, is replaced by a new slice. x must have the d features of the
// basis; otherwise Row panics with a *[DataError]. The entries have the same bits as in a
// [Gram] of the same points.
func (b *Basis) Row(dst, x []float64) []float64 {
	defer named(nil)
	n := b.p.n
	if len(x) != b.p.d && n > 0 {
		panic(b.otherWidth(-1, len(x)))
	}
	if cap(dst) < n {
		dst = make([]float64, n)
	}
	dst = dst[:n]
	if n > 0 {
		w := b.work.Get().(*work)
		b.rower.row(dst, x, w)
		b.work.Put(w)
	}
	return dst
}

// Times adds Σ_j coef[j]·K(x[i], basis[j]) to dst[i] for all m points of x, on GOMAXPROCS
// goroutines. coef has n numbers. These sums are the decision values of a machine. Memory
// grows with m by 4 bytes a point. The sum for x[i] does not depend on the other points. Row
// says which points are valid.
//
// The sums differ from those over Row by at most about 2⁻³²·max K·Σ|coef|, and by much less
// for a kernel as smooth as [RBF].
func (b *Basis) Times(dst []float64, x [][]float64, coef []float64) {
	b.TimesEach([][]float64{dst}, x, [][]float64{coef})
}

// TimesEach is Times for several machines on one basis: it adds Σ_j coef[k][j]·K(x[i],
// basis[j]) to dst[k][i]. It computes each K only once.
func (b *Basis) TimesEach(dst [][]float64, x [][]float64, coef [][]float64) {
	if b.p.n == 0 {
		return
	}
	for i, row := range x {
		if len(row) != b.p.d {
			panic(b.otherWidth(i, len(row)))
		}
	}
	b.times(dst, len(x), table(x), coef)
}

// TimesSparse is Times for sparse points and a sparse basis. With a dense basis it makes the
// points dense, some at a time.
func (b *Basis) TimesSparse(dst []float64, x CSR, coef []float64) {
	b.TimesEachSparse([][]float64{dst}, x, [][]float64{coef})
}

// TimesEachSparse is TimesEach for sparse points; see [Basis.TimesSparse].
func (b *Basis) TimesEachSparse(dst [][]float64, x CSR, coef [][]float64) {
	if b.p.n == 0 {
		return
	}
	if x.D != b.p.d {
		panic(b.otherWidth(-1, x.D))
	}
	b.times(dst, x.N(), newSparsePoints(x), coef)
}

// Values sets dst[i·n+j] to K(x[i], basis[j]) for all m points of x and all n points of the
// basis, by products of matrices on GOMAXPROCS goroutines. dst has m·n numbers. The values
// differ from those of Row as the sums of [Basis.Times] do. Row says which points are valid.
func (b *Basis) Values(dst []float64, x [][]float64) {
	n := b.p.n
	_ = dst[:len(x)*n]
	for i, row := range x {
		if len(row) != b.p.d && n > 0 {
			panic(b.otherWidth(i, len(row)))
		}
	}
	if n == 0 || len(x) == 0 {
		return
	}
	defer named(nil)
	alone := func(row []float64, i int) {
		defer rowOf(&i)
		w := b.work.Get().(*work)
		defer b.work.Put(w)
		b.rower.row(row, x[i], w)
	}
	if s := b.sums(); s != nil {
		s.rows(dst, n, len(x), table(x), alone)
		return
	}
	share(threads(len(x)), len(x), func(_, i int) { alone(dst[i*n:(i+1)*n], i) })
}

func (b *Basis) times(dst [][]float64, m int, x source, coef [][]float64) {
	defer named(nil)
	for k := range coef { // a wrong length must panic here, not in a goroutine
		_, _ = dst[k][:m], coef[k][:b.p.n]
	}
	alone := func(sums []float64, i int) {
		defer rowOf(&i)
		w := b.work.Get().(*work)
		defer b.work.Put(w)
		point, row := w.take(b.p.d), w.take(b.p.n)
		defer w.give(point)
		defer w.give(row)
		b.rower.row(row, x.point(point, i), w)
		for k, c := range coef {
			sums[k] = simd.Dot(row, c[:len(row)])
		}
	}
	s := b.sums()
	if s == nil {
		workers := threads(m)
		sums := make([]float64, workers*len(coef))
		share(workers, m, func(worker, i int) {
			own := sums[worker*len(coef):][:len(coef)]
			alone(own, i)
			for k, v := range own {
				dst[k][i] += v
			}
		})
		return
	}
	s.add(dst, m, x, coef, alone)
}

// sums implements summer.
type sums struct {
	right product[float64] // has the points of the basis on the right
	reach []float64        // for each space, how far from the mean a point may be for products to be exact enough
}

func (s *sums) add(dst [][]float64, m int, x source, coef [][]float64, alone func(sums []float64, i int)) {
	s.right.add(dst, m, s.right.points(x, vec.Indices[int32](m)), coef, s.reach, alone)
}

func (s *sums) rows(dst []float64, n, m int, x source, alone func(row []float64, i int)) {
	s.right.values(dst, n, m, s.right.points(x, vec.Indices[int32](m)), s.reach, alone)
}

// newSums returns the summer of k, or nil if sums must be computed row by row.
func newSums(k Kernel, p *points) summer {
	f := formulaOf(k, p.d)
	if f == nil || p.sparse != nil && len(f.maps) > 0 { // a sum of features is not sparse
		return nil
	}
	which := vec.Indices[int32](p.n)
	f.sparse = p.sparse != nil
	f.centre(p, which)
	s := &sums{right: product[float64]{f: f}}
	norm, _, self, _ := s.right.extent(p.n, func(d *scratch[float64], from, to int) *strip[float64] {
		d.left.lay(f, p, which[from:to])
		return &d.left
	})
	if !f.within(norm, 0x1p-53, sumTolerance, self) {
		return nil
	}
	s.reach = f.reach(0x1p-53, sumTolerance, self)
	s.right.pack(p.n, s.right.points(p, which))
	return s
}
