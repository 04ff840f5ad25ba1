package kernels

import (
	"context"
	"runtime"
	"slices"
	"sync"

	"github.com/svmnb/svmnb/internal/parallel"
	"github.com/svmnb/svmnb/internal/simd"
)

// This file computes kernel values of many pairs of points together. Points on the left are
// laid out in strips of up to 128, points on the right in packed strips of up to 768. One
// product of two small matrices gives all dot products of two strips, and a pass over these
// turns them into kernel values (formula.go says how). Goroutines share the strips. A product
// has the points of both sides; a scratch is the memory of one goroutine.

// With these widths, the dot products of two strips stay in the second-level cache until they
// are turned into kernel values.
const (
	leftStrip  = 128
	rightStrip = 768
	sumStrip   = 192 // smallest width of a packed strip in a sum, if there are enough points
)

// source is a set of points. Its method point returns point j: its memory if it is stored as
// it is, otherwise a copy in dst.
type source interface {
	point(dst []float64, j int) []float64
}

// table is a source that stores points by rows.
type table [][]float64

func (t table) point(_ []float64, j int) []float64 { return t[j] }

// A feed copies the points r of a list, with from ≤ r < to, into a strip.
type feed[T simd.Float] func(s *strip[T], from, to int)

// points returns the feed of those points of src whose indices are in the list which.
func (p *product[T]) points(src source, which []int32) feed[T] {
	return func(s *strip[T], from, to int) { s.lay(p.f, src, which[from:to]) }
}

// strip is a copy of some points in the layout of a left matrix. For each space of c features,
// feature k of point r is x[space][r·c+k]; sparse points are in compressed rows csr instead.
type strip[T simd.Float] struct {
	side
	which []int32 // places of the points, for the error of a kernel that panics
	n     int
	x     [][]T
	csr   []simd.CSR[T]
	point []float64
	cutOf []int32 // memory for which
}

func (s *strip[T]) resize(f *formula, n int) {
	s.n = n
	if s.x == nil {
		s.x, s.csr, s.side = make([][]T, len(f.spaces)), make([]simd.CSR[T], len(f.spaces)), newSide(f, 0)
	}
	for k := range s.hash {
		s.hash[k] = sized(s.hash[k], n)
	}
	for k, space := range f.spaces {
		s.norm[k], s.shift[k] = sized(s.norm[k], n), sized(s.shift[k], n)
		if !f.sparse {
			s.x[k] = sized(s.x[k], n*len(space.cols))
		}
	}
}

// sized returns a slice of n elements, made of v if v is large enough. Their values are
// arbitrary.
func sized[E any](v []E, n int) []E {
	if cap(v) < n {
		return make([]E, n)
	}
	return v[:n]
}

// lay copies those points of src whose indices are in the list which into the strip.
func (s *strip[T]) lay(f *formula, src source, which []int32) {
	s.resize(f, len(which))
	s.which = which
	if p, ok := src.(*points); ok && p.rows == nil && !(f.sparse && p.sparse != nil) {
		s.point = sized(s.point, p.d) // memory for p.point
	}
	if f.sparse {
		s.laySparse(f, src, which)
	} else {
		s.layDense(f, src, which, 0, s.point)
	}
}

// layDense is lay for dense points. The first of them is stored as point number at of the
// strip.
func (s *strip[T]) layDense(f *formula, src source, which []int32, at int, buffer []float64) {
	for r, j := range which {
		point, r := src.point(buffer, int(j)), at+r
		for k, cols := range f.equal {
			sum := uint64(0)
			for _, c := range cols {
				sum += hashed(c, f.feature(c, point))
			}
			s.hash[k][r] = sum
		}
		for k, space := range f.spaces {
			x, norm, shift := s.x[k][r*len(space.cols):][:len(space.cols)], 0.0, 0.0
			for i, c := range space.cols {
				a, mean, weight := f.feature(c, point), 0.0, 1.0
				if space.mean != nil {
					mean = space.mean[i]
				}
				if space.weights != nil {
					weight = space.weights[i]
				}
				shift += float64(mean * (a - float64(0.5*mean)))
				t := T((a - mean) * weight)
				x[i] = t
				// The norm is that of the rounded values, so that equal points have distance
				// 0.
				norm += float64(float64(t) * float64(t))
			}
			s.norm[k][r], s.shift[k][r] = norm, shift
		}
	}
}

// layAll is lay on GOMAXPROCS goroutines.
func (s *strip[T]) layAll(f *formula, src *points, which []int32) {
	s.resize(f, len(which))
	s.which = which
	if f.sparse {
		for k := range f.spaces {
			s.layShared(f, k, src, which)
		}
		s.hashSparse(f, src, which)
		return
	}
	tasks := (len(which) + rightStrip - 1) / rightStrip
	share(threads(tasks), tasks, func(_, task int) {
		var buffer []float64
		if src.rows == nil {
			buffer = make([]float64, src.d)
		}
		at := task * rightStrip
		s.layDense(f, src, which[at:min(at+rightStrip, len(which))], at, buffer)
	})
}

// layShared fills a space with all sparse points. It shares the compressed rows of src as far
// as they have the features and values of the space, and copies the rest.
func (s *strip[T]) layShared(f *formula, k int, src *points, which []int32) {
	space, x := f.spaces[k], src.sparse
	if space.to != nil {
		s.laySpace(f, k, src, which)
		return
	}
	value, asTheyAre := any(x.Value).([]T)
	if asTheyAre = asTheyAre && space.weights == nil; !asTheyAre {
		value = make([]T, len(x.Value))
	}
	s.csr[k] = simd.CSR[T]{Start: x.Start, Col: x.Index, Val: value}
	clear(s.shift[k])
	tasks := (s.n + block - 1) / block
	share(threads(tasks), tasks, func(_, task int) {
		for r := task * block; r < min((task+1)*block, s.n); r++ {
			from, to := x.Start[r], x.Start[r+1]
			value, norm := value[from:to], 0.0
			if !asTheyAre {
				index := x.Index[from:to]
				for i, v := range x.Value[from:to] {
					if space.weights != nil {
						v *= space.weights[index[i]]
					}
					value[i] = T(v)
				}
			}
			for _, t := range value {
				norm += float64(float64(t) * float64(t))
			}
			s.norm[k][r] = norm
		}
	})
}

func (s *strip[T]) laySparse(f *formula, src source, which []int32) {
	for k := range f.spaces {
		s.laySpace(f, k, src, which)
	}
	s.hashSparse(f, src, which)
}

// hashSparse sets the hashes of the points whose indices are in the list which.
func (s *strip[T]) hashSparse(f *formula, src source, which []int32) {
	for k, cols := range f.equal {
		in := make(map[int32]bool, len(cols))
		for _, c := range cols {
			in[int32(c)] = true
		}
		p, _ := src.(*points)
		for r, j := range which {
			sum := uint64(0)
			if p != nil && p.sparse != nil {
				index, value := p.entries(int(j))
				for i, c := range index {
					if in[c] {
						sum += hashed(int(c), value[i])
					}
				}
			} else {
				point := src.point(s.point, int(j))
				for _, c := range cols {
					sum += hashed(c, point[c])
				}
			}
			s.hash[k][r] = sum
		}
	}
}

// laySpace fills a space with the points whose indices are in the list which, as compressed
// rows.
func (s *strip[T]) laySpace(f *formula, k int, src source, which []int32) {
	p, _ := src.(*points)
	space, m := f.spaces[k], &s.csr[k]
	m.Start, m.Col, m.Val = append(m.Start[:0], 0), m.Col[:0], m.Val[:0]
	norm := 0.0
	put := func(c int32, v float64) {
		if space.weights != nil {
			v *= space.weights[c]
		}
		t := T(v)
		m.Col, m.Val = append(m.Col, c), append(m.Val, t)
		norm += float64(float64(t) * float64(t))
	}
	entry := func(c int32, v float64) {
		switch {
		case v == 0:
		case space.to == nil:
			put(c, v)
		default:
			for _, k := range space.to[c] {
				put(k, v)
			}
		}
	}
	for r, j := range which {
		norm = 0
		if p != nil && p.sparse != nil {
			index, value := p.entries(int(j))
			for i, c := range index {
				entry(c, value[i])
			}
		} else {
			for c, v := range src.point(s.point, int(j)) {
				entry(int32(c), v)
			}
		}
		m.Start = append(m.Start, len(m.Col))
		s.norm[k][r], s.shift[k][r] = norm, 0
	}
}

// part returns the points r of the strip with from ≤ r < to. They share its memory.
func (s *strip[T]) part(f *formula, from, to int) *strip[T] {
	p := &strip[T]{n: to - from, which: s.which[from:to], x: make([][]T, len(f.spaces)), csr: make([]simd.CSR[T], len(f.spaces)), side: s.side.part(from, to)}
	for k, space := range f.spaces {
		if f.sparse {
			p.csr[k] = s.csr[k]
			p.csr[k].Start = p.csr[k].Start[from : to+1]
		} else {
			p.x[k] = s.x[k][from*len(space.cols) : to*len(space.cols)]
		}
	}
	return p
}

// cut copies the points of another strip whose indices are in the list which into this one.
func (s *strip[T]) cut(f *formula, from *strip[T], which []int32) {
	s.resize(f, len(which))
	s.cutOf = s.cutOf[:0]
	for _, j := range which {
		s.cutOf = append(s.cutOf, from.which[j])
	}
	s.which = s.cutOf
	for k, h := range from.hash {
		for r, j := range which {
			s.hash[k][r] = h[j]
		}
	}
	for k, space := range f.spaces {
		width := len(space.cols)
		norm, shift, norms, shifts := s.norm[k][:len(which)], s.shift[k][:len(which)], from.norm[k], from.shift[k]
		for r, j := range which {
			norm[r], shift[r] = norms[j], shifts[j]
		}
		if m := &s.csr[k]; f.sparse {
			m.Start, m.Col, m.Val = append(m.Start[:0], 0), m.Col[:0], m.Val[:0]
		}
		for r := 0; r < len(which); {
			i, j, count := r, int(which[r]), 1
			for r += 1; r < len(which) && int(which[r]) == j+count; r++ { // neighbours are copied together
				count++
			}
			if m, all := &s.csr[k], &from.csr[k]; f.sparse {
				start := all.Start[j : j+count+1]
				a, b := start[0], start[count]
				for _, end := range start[1:] {
					m.Start = append(m.Start, len(m.Col)+end-a)
				}
				m.Col, m.Val = append(m.Col, all.Col[a:b]...), append(m.Val, all.Val[a:b]...)
			} else {
				copy(s.x[k][i*width:][:count*width], from.x[k][j*width:])
			}
		}
	}
}

// longest returns the largest number of non-zero features of a point.
func (s *strip[T]) longest(f *formula, space int) (most int) {
	if !f.sparse {
		return len(f.spaces[space].cols)
	}
	start := s.csr[space].Start
	for r := range s.n {
		most = max(most, start[r+1]-start[r])
	}
	return most
}

// matrix returns a space as a matrix with one row for each point.
func (s *strip[T]) matrix(f *formula, space int) simd.Matrix[T] {
	c := len(f.spaces[space].cols)
	return simd.Matrix[T]{Data: s.x[space], Rows: s.n, Cols: c, Stride: c}
}

// packedStrip has some points in the layout of a right matrix.
type packedStrip[T simd.Float] struct {
	side
	n      int
	which  []int32
	panels []simd.Panels[T] // dense points, by space
	csr    []simd.CSR[T]    // sparse points, by space
	rows   strip[T]         // memory for csr, unless csr is part of a larger strip
	norms  []T              // ‖x − μ‖² in the first space, for Gaussian kernels, which have only one
}

// pack fills the packed strip with the points of a strip. It does not copy compressed rows.
func (c *packedStrip[T]) pack(f *formula, s *strip[T]) {
	spaces := len(f.spaces)
	if c.panels == nil {
		c.panels, c.csr, c.side = make([]simd.Panels[T], spaces), make([]simd.CSR[T], spaces), newSide(f, s.n)
	}
	c.n = s.n
	c.which = append(c.which[:0], s.which...)
	for k := range c.panels {
		if f.sparse {
			c.csr[k] = s.csr[k]
		} else {
			c.panels[k].Pack(s.matrix(f, k).T(), 1)
		}
		c.norm[k] = append(c.norm[k][:0], s.norm[k][:s.n]...)
		c.shift[k] = append(c.shift[k][:0], s.shift[k][:s.n]...)
	}
	for k, h := range s.hash {
		c.hash[k] = append(c.hash[k][:0], h[:s.n]...)
	}
	c.norms = c.norms[:0]
	for _, v := range c.norm[0] {
		c.norms = append(c.norms, T(v))
	}
}

// product has points on the left and on the right, and multiplies them.
type product[T simd.Float] struct {
	f     *formula
	fuse  bool             // sums may use weighted
	right []packedStrip[T] // points on the right, which stay for several calls
	left  []strip[T]       // points on the left of one call

	weighted []simd.Gaussians[T] // the same, with weights; see weigh

	mu     sync.Mutex
	unused []*scratch[T]
}

// pack fills the packed strips with n points.
func (p *product[T]) pack(n int, points feed[T]) {
	p.eachPacked(n, func(d *scratch[T], c *packedStrip[T], from, to int) {
		s := &d.left
		if p.f.sparse {
			s = &c.rows
		}
		points(s, from, to)
		c.pack(p.f, s)
	})
}

// packStrip fills the packed strips with all points of a strip.
func (p *product[T]) packStrip(s *strip[T]) {
	p.eachPacked(s.n, func(_ *scratch[T], c *packedStrip[T], from, to int) { c.pack(p.f, s.part(p.f, from, to)) })
}

func (p *product[T]) eachPacked(n int, do func(d *scratch[T], c *packedStrip[T], from, to int)) {
	count := (n + rightStrip - 1) / rightStrip
	for len(p.right) < count {
		p.right = append(p.right, packedStrip[T]{})
	}
	p.right = p.right[:count]
	p.each(count, func(d *scratch[T], i int) { do(d, &p.right[i], i*rightStrip, min((i+1)*rightStrip, n)) })
}

// scratch is the memory of one goroutine.
type scratch[T simd.Float] struct {
	left     strip[T]
	right    packedStrip[T]
	products [][]T       // for each space, dot products of the points on the left and on the right
	rows     [][]T       // rows of kernel values
	lanes    []T         // sparse points made dense, side by side; 0 between uses
	which    []int       // the points in lanes
	wide     [][]float64 // for each space, dot products of one point, in double precision
	value    []float64   // kernel values of this point
	sums     []float64
	heights  []T // of the points on the right, for weighted
	pairs    pairs
	work     work
}

func newScratch[T simd.Float](f *formula) *scratch[T] {
	d := &scratch[T]{value: make([]float64, rightStrip)}
	for range f.spaces {
		d.wide = append(d.wide, make([]float64, rightStrip))
	}
	d.pairs.dots, d.pairs.other = make([][]float64, len(f.spaces)), new(pairs)
	return d
}

// each calls do for every task, on several goroutines. Each goroutine has a scratch of its
// own.
func (p *product[T]) each(tasks int, do func(d *scratch[T], task int)) {
	_ = p.eachUntil(context.Background(), tasks, func(d *scratch[T], _, task int) { do(d, task) })
}

// eachUntil is each, but stops when ctx ends. worker is the number of the goroutine.
func (p *product[T]) eachUntil(ctx context.Context, tasks int, do func(d *scratch[T], worker, task int)) error {
	own := make([]*scratch[T], threads(tasks))
	p.mu.Lock()
	for i := range own {
		if last := len(p.unused) - 1; last >= 0 {
			own[i], p.unused = p.unused[last], p.unused[:last]
		} else {
			own[i] = newScratch[T](p.f)
		}
	}
	p.mu.Unlock()
	err := parallel.For(ctx, len(own), tasks, func(worker, task int) { do(own[worker], worker, task) })
	p.mu.Lock()
	p.unused = append(p.unused, own...)
	p.mu.Unlock()
	return err
}

// threads returns the number of goroutines for the given number of tasks, at most GOMAXPROCS.
func threads(tasks int) int { return max(1, min(tasks, runtime.GOMAXPROCS(0))) }

// share calls do for every task, on the given number of goroutines. worker is the number of
// the calling goroutine.
func share(workers, tasks int, do func(worker, task int)) {
	_ = parallel.For(context.Background(), workers, tasks, do)
}

// multiply computes the dot products of all points of a strip with all points of a packed
// strip.
func (d *scratch[T]) multiply(f *formula, left *strip[T], c *packedStrip[T]) {
	for len(d.products) < len(f.spaces) {
		d.products = append(d.products, make([]T, leftStrip*rightStrip))
	}
	for k, space := range f.spaces {
		if f.sparse {
			d.multiplySparse(d.products[k], &left.csr[k], len(space.cols), left.n, c.csr[k], c.n)
			continue
		}
		simd.Gemm[T]{Threads: 1}.Do(
			simd.Matrix[T]{Data: d.products[k], Rows: left.n, Cols: c.n, Stride: c.n},
			left.matrix(f, k),
			&c.panels[k])
	}
}

// multiplySparse is multiply for m sparse points on the left and n on the right, in a space of
// the given number of columns.
func (d *scratch[T]) multiplySparse(products []T, left *simd.CSR[T], columns, m int, right simd.CSR[T], n int) {
	lanes := simd.Lanes[T]()
	if need := columns * lanes; len(d.lanes) < need {
		d.lanes = make([]T, need)
	}
	d.which = sized(d.which, lanes)
	for from := 0; from < m; from += lanes {
		rows := d.which[:min(lanes, m-from)]
		for r := range rows {
			rows[r] = from + r
		}
		left.Spread(d.lanes, rows)
		right.MulLanes(products[from*n:], n, d.lanes, len(rows), 0, n)
		left.Clear(d.lanes, rows)
	}
}

// row returns the kernel values of point r of a strip with all points of a packed strip. It
// needs the dot products of multiply, and overwrites those of point r.
func (d *scratch[T]) row(f *formula, left *strip[T], r int, c *packedStrip[T]) []T {
	row := d.products[0][r*c.n:][:c.n]
	if scale, gamma, ok := f.gaussian(); ok {
		simd.Gaussian(row, T(left.norm[0][r]), c.norms, T(gamma))
		for j := 0; j < len(row) && scale != 1; j++ {
			row[j] *= T(scale)
		}
		return row
	}
	p := &d.pairs
	p.left, p.right, p.at = &left.side, &c.side, r
	value := d.value[:c.n]
	defer pairIn(left.which, c.which, &r)
	if products, ok := any(d.products).([][]float64); ok { // nothing has to be widened
		for k := range f.spaces {
			p.dots[k] = products[k][r*c.n:][:c.n]
		}
		if t, ok := f.root.(innerTerm); ok { // it reads each dot product before it writes its value
			t.values(p.dots[0], p, &d.work)
			return row
		}
		f.root.values(value, p, &d.work)
		copy(p.dots[0], value)
		return row
	}
	for k := range f.spaces {
		p.dots[k] = d.wide[k][:c.n]
		for j, v := range d.products[k][r*c.n:][:c.n] {
			p.dots[k][j] = float64(v)
		}
	}
	f.root.values(value, p, &d.work)
	for j, v := range value {
		row[j] = T(v)
	}
	return row
}

// lay fills the strips on the left with n points.
func (p *product[T]) lay(n int, points feed[T]) {
	count := (n + leftStrip - 1) / leftStrip
	for len(p.left) < count {
		p.left = append(p.left, strip[T]{})
	}
	share(threads(count), count, func(_, i int) {
		points(&p.left[i], i*leftStrip, min((i+1)*leftStrip, n))
	})
}

// rows sets dst[k][j] to the kernel value of point k of the feed with point j of the packed
// strips.
func (p *product[T]) rows(dst [][]float32, points feed[T]) {
	p.lay(len(dst), points)
	count := (len(dst) + leftStrip - 1) / leftStrip
	p.each(count*len(p.right), func(d *scratch[T], task int) {
		s, at := task%count, task/count
		left, c := &p.left[s], &p.right[at]
		d.multiply(p.f, left, c)
		for r := range left.n {
			narrow(dst[s*leftStrip+r][at*rightStrip:], d.row(p.f, left, r, c))
		}
	})
}

// square sets dst[k·n+j] to the kernel value of point k of the feed with point j of the packed
// strips, of n points each. It reports false if there is no loop for this that need not store dot
// products. With as many features as copies of values are for, values must be symmetric, so rows
// computes them.
func (p *product[T]) square(dst []T, n int, points feed[T]) bool {
	if _, scaled := p.f.root.(scaleTerm); scaled || !p.fuse || n == 0 || len(p.f.spaces) != 1 || len(p.f.spaces[0].cols) >= dearFeatures {
		return false
	}
	p.lay(n, points)
	if !p.weigh(make([]float64, n)) || !p.weighted[0].HasValues() {
		return false
	}
	count := (n + leftStrip - 1) / leftStrip
	p.each(count*len(p.right), func(d *scratch[T], task int) {
		s, at := task%count, task/count
		c := &p.right[at]
		d.heights = p.weighted[0].Heights(d.heights[:0], c.norm[0][:c.n])
		into := simd.Matrix[T]{Data: dst[s*leftStrip*n+at*rightStrip:], Rows: p.left[s].n, Cols: c.n, Stride: n}
		p.weighted[s].Values(into, &c.panels[0], d.heights)
	})
	return true
}

// sum adds Σ_k coef[k]·K(x_r, z_k) to dst[r]. The points x_r are those of the feed on, and z_k
// those of the feed points.
func (p *product[T]) sum(dst []float64, on, points feed[T], coef []float64) {
	n := len(dst)
	p.lay(len(coef), points)
	fused := p.weigh(coef)
	// There are about four tasks for each goroutine, with a width that suits the product of
	// matrices.
	width := max(sumStrip, min(rightStrip, n/(4*threads(n))/sumStrip*sumStrip))
	p.each((n+width-1)/width, func(d *scratch[T], task int) {
		from, to := task*width, min((task+1)*width, n)
		if fused {
			heights := p.packWeighted(d, on, from, to)
			for s := range p.weighted {
				p.weighted[s].AddTo(dst[from:to], &d.right.panels[0], heights)
			}
			return
		}
		d.against(p, on, from, to, len(coef), func(at int, rows [][]T) {
			simd.AddRows(dst[from:to], coef[at:][:len(rows)], rows, 0)
		})
	})
}

// gaussian returns the factor c and γ if the kernel is c·exp(−γ‖x − z‖²). Otherwise ok is false.
func (f *formula) gaussian() (c, gamma float64, ok bool) {
	c, root := 1.0, f.root
	if s, scaled := root.(scaleTerm); scaled {
		c, root = s.c, s.k
	}
	t, ok := root.(innerTerm)
	return c, t.gamma, ok && t.gamma > 0
}

// weigh sets p.weighted to the strips on the left, with the weights coef, if sums of their kernel
// values need not store the values: those of a Gaussian kernel of dense points. Otherwise it
// reports false.
func (p *product[T]) weigh(coef []float64) bool {
	// Package simd has these loops for amd64 only. Since this is a constant, the WebAssembly module of
	// living pages is linked without the code that calls them, and stays small.
	if runtime.GOARCH != "amd64" {
		return false
	}
	c, gamma, ok := p.f.gaussian()
	if !ok || !p.fuse || p.f.sparse {
		return false
	}
	coef = multiplied(c, coef)
	count := (len(coef) + leftStrip - 1) / leftStrip
	for len(p.weighted) < count {
		p.weighted = append(p.weighted, simd.Gaussians[T]{})
	}
	p.weighted = p.weighted[:count]
	for s := range p.weighted {
		left := &p.left[s]
		if !p.weighted[s].Set(left.matrix(p.f, 0), left.norm[0], coef[s*leftStrip:], gamma) {
			return false
		}
	}
	return len(p.weighted) > 0
}

// multiplied returns c·v, which is v itself if c is 1.
func multiplied(c float64, v []float64) []float64 {
	if c == 1 {
		return v
	}
	v = slices.Clone(v)
	scaleBy(c, v)
	return v
}

// packWeighted packs the points j of right with from ≤ j < to for sums of p.weighted, and returns
// their heights.
func (p *product[T]) packWeighted(d *scratch[T], right feed[T], from, to int) []T {
	right(&d.left, from, to)
	d.right.pack(p.f, &d.left)
	d.heights = p.weighted[0].Heights(d.heights[:0], d.left.norm[0][:d.left.n])
	return d.heights
}

// inRegisters reports whether mutual need not store kernel values.
func (p *product[T]) inRegisters() bool {
	_, _, ok := p.f.gaussian()
	return ok && p.fuse && !p.f.sparse && simd.HasBoth[T](len(p.f.spaces[0].cols))
}

// mutual adds Σ_k coefB[k]·K(x_r, z_k) to dstA[r] and Σ_r coefA[r]·K(x_r, z_k) to dstB[k], for
// the points x of the feed a and z of the feed b.
func (p *product[T]) mutual(dstA, dstB []float64, a, b feed[T], coefA, coefB []float64) {
	p.lay(len(dstA), a)
	tasks := (len(dstB) + rightStrip - 1) / rightStrip
	// Each task has its own part of dstA. The parts are added at the end in the order of the
	// tasks, so the result does not depend on the number of goroutines.
	parts := make([]float64, tasks*len(dstA))
	fused := p.weigh(coefA) && p.weighted[0].Both()
	if fused {
		c, _, _ := p.f.gaussian()
		coefB = multiplied(c, coefB)
	}
	p.each(tasks, func(d *scratch[T], task int) {
		from, to := task*rightStrip, min((task+1)*rightStrip, len(dstB))
		if fused {
			heights := p.packWeighted(d, b, from, to)
			for s := range p.weighted {
				at := s * leftStrip
				p.weighted[s].AddBoth(dstB[from:to], parts[task*len(dstA)+at:][:min(leftStrip, len(dstA)-at)], &d.right.panels[0], heights, coefB[from:to])
			}
			return
		}
		d.against(p, b, from, to, len(dstA), func(at int, rows [][]T) {
			simd.AddRows(dstB[from:to], coefA[at:][:len(rows)], rows, 0)
			for r, row := range rows {
				parts[task*len(dstA)+at+r] = simd.Dot(row, coefB[from:to])
			}
		})
	})
	for i, v := range parts {
		dstA[i%len(dstA)] += v
	}
}

// against computes the kernel values between the n points on the left and the points j of
// right with from ≤ j < to, one left strip at a time. It calls do for each strip: rows[r] has
// the values of point at + r on the left.
func (d *scratch[T]) against(p *product[T], right feed[T], from, to, n int, do func(at int, rows [][]T)) {
	right(&d.left, from, to)
	d.right.pack(p.f, &d.left)
	for s := 0; s*leftStrip < n; s++ {
		left := &p.left[s]
		d.multiply(p.f, left, &d.right)
		d.rows = d.rows[:0]
		for r := range left.n {
			d.rows = append(d.rows, d.row(p.f, left, r, &d.right))
		}
		do(s*leftStrip, d.rows)
	}
}

// add adds Σ_j coef[k][j]·K(x_r, z_j) to dst[k][r], for the n points x of the feed and the
// points z of the packed strips. If ‖x − μ‖² exceeds reach in some space, products would round
// too much, and alone computes the sums of this point.
func (p *product[T]) add(dst [][]float64, n int, points feed[T], coef [][]float64, reach []float64, alone func(sums []float64, r int)) {
	p.each((n+leftStrip-1)/leftStrip, func(d *scratch[T], task int) {
		from := task * leftStrip
		points(&d.left, from, min(from+leftStrip, n))
		machines := len(coef)
		d.sums = sized(d.sums, d.left.n*machines)
		sums := d.sums
		clear(sums)
		for at := range p.right {
			c := &p.right[at]
			d.multiply(p.f, &d.left, c)
			for r := range d.left.n {
				row := d.row(p.f, &d.left, r, c)
				for k, w := range coef {
					sums[r*machines+k] += simd.Dot(row, w[at*rightStrip:][:c.n])
				}
			}
		}
		for r := range d.left.n {
			own := sums[r*machines:][:machines]
			for s, limit := range reach {
				if !(d.left.norm[s][r] <= limit) {
					alone(own, from+r)
					break
				}
			}
			for k, v := range own {
				dst[k][from+r] += v
			}
		}
	})
}

// values sets dst[r·width+j] to K(x_r, z_j), for the n points x of the feed and the points z of
// the packed strips. alone computes the values of a point that is beyond reach; see add.
func (p *product[T]) values(dst []float64, width, n int, points feed[T], reach []float64, alone func(row []float64, r int)) {
	p.each((n+leftStrip-1)/leftStrip, func(d *scratch[T], task int) {
		from := task * leftStrip
		points(&d.left, from, min(from+leftStrip, n))
		for at := range p.right {
			c := &p.right[at]
			d.multiply(p.f, &d.left, c)
			for r := range d.left.n {
				widen(dst[(from+r)*width+at*rightStrip:], d.row(p.f, &d.left, r, c))
			}
		}
		for r := range d.left.n {
			for s, limit := range reach {
				if !(d.left.norm[s][r] <= limit) {
					alone(dst[(from+r)*width:][:width], from+r)
					break
				}
			}
		}
	})
}

// widen copies v to dst.
func widen[T simd.Float](dst []float64, v []T) {
	if v, ok := any(v).([]float64); ok {
		copy(dst, v)
		return
	}
	for j, a := range v {
		dst[j] = float64(a)
	}
}

// narrow copies v to dst, rounded to single precision.
func narrow[T simd.Float](dst []float32, v []T) {
	if v, ok := any(v).([]float32); ok {
		copy(dst, v)
		return
	}
	dst = dst[:len(v)]
	for j, a := range v {
		dst[j] = float32(a)
	}
}
