package kernels

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/svmnb/svmnb/internal/simd"
)

// How many points on the left and on the right are multiplied at a time: their
// products are still in the second-level cache when they become kernel values.
const (
	leftStrip  = 128
	rightStrip = 768
)

// source is where points come from.
type source interface {
	// feature sets dst[r] to feature c of point which[r], which is not sparse.
	feature(dst []float64, c int, which []int32)
	// point returns point j: where it stands, or in dst.
	point(dst []float64, j int) []float64
}

func (p *points) feature(dst []float64, c int, which []int32) {
	at, stride := p.columns, 1
	if at != nil {
		at = at[c*p.n:][:p.n]
	} else {
		at, stride = p.rows[c:], p.d
	}
	for r, j := range which {
		dst[r] = at[int(j)*stride]
	}
}

// table is points by rows.
type table [][]float64

func (t table) feature(dst []float64, c int, which []int32) {
	for r, j := range which {
		dst[r] = t[j][c]
	}
}

func (t table) point(_ []float64, j int) []float64 { return t[j] }

// strip is some points of one side, laid out for products: feature k of point r
// in a space is x[space][k·n+r], or by rows in csr.
type strip[T simd.Float] struct {
	side
	n       int
	x       [][]T
	csr     []simd.CSR[T]
	column  [rightStrip]float64
	written table   // out of sparse points
	first   []int32 // 0, 1, 2 …
}

// lay lays the points which of src out.
func (s *strip[T]) lay(f *formula, src source, which []int32) {
	s.n = len(which)
	if s.x == nil {
		s.x, s.csr, s.side = make([][]T, len(f.spaces)), make([]simd.CSR[T], len(f.spaces)), newSide(len(f.spaces), rightStrip)
	}
	if f.sparse {
		s.laySparse(f, src, which)
		return
	}
	if p, ok := src.(*points); ok && p.sparse != nil {
		src, which = s.write(p, which)
	}
	column := s.column[:]
	for k, space := range f.spaces {
		if need := len(space.cols) * s.n; cap(s.x[k]) < need {
			s.x[k] = make([]T, need)
		}
		s.x[k] = s.x[k][:len(space.cols)*s.n]
		norm, shift := s.norm[k][:s.n], s.shift[k][:s.n]
		clear(norm)
		clear(shift)
		for i, c := range space.cols {
			v, x := column[:s.n], s.x[k][i*s.n:][:s.n]
			src.feature(v, c, which)
			mean, weight := 0.0, 1.0
			if space.mean != nil {
				mean = space.mean[i]
			}
			if space.weights != nil {
				weight = space.weights[i]
			}
			half := float64(0.5 * mean)
			for r, a := range v {
				shift[r] += float64(mean * (a - half))
				t := T((a - mean) * weight)
				x[r] = t
				// Of what is multiplied, lest a point be at a distance from its like.
				norm[r] += float64(float64(t) * float64(t))
			}
		}
	}
}

// write writes sparse points out.
func (s *strip[T]) write(p *points, which []int32) (table, []int32) {
	for len(s.written) < len(which) {
		s.written, s.first = append(s.written, nil), append(s.first, int32(len(s.first)))
	}
	for r, j := range which {
		s.written[r] = p.sparse.Point(s.written[r], int(p.sparse.at[j]))
	}
	return s.written, s.first[:len(which)]
}

func (s *strip[T]) laySparse(f *formula, src source, which []int32) {
	p, _ := src.(*points)
	for k, space := range f.spaces {
		m := &s.csr[k]
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
				for c, v := range src.point(nil, int(j)) {
					entry(int32(c), v)
				}
			}
			m.Start = append(m.Start, len(m.Col))
			s.norm[k][r] = norm
		}
	}
}

// chunk is a strip on the right.
type chunk[T simd.Float] struct {
	side
	n      int
	panels []simd.Panels[T] // by space; or
	csr    []simd.CSR[T]
	norms  []T // in the one space of a Gaussian
}

func (c *chunk[T]) pack(f *formula, s *strip[T]) {
	spaces := len(f.spaces)
	if c.panels == nil {
		c.panels, c.csr, c.side = make([]simd.Panels[T], spaces), make([]simd.CSR[T], spaces), newSide(spaces, s.n)
	}
	c.n = s.n
	for k := range c.panels {
		if m, from := &c.csr[k], s.csr[k]; f.sparse {
			m.Start, m.Col, m.Val = append(m.Start[:0], from.Start...), append(m.Col[:0], from.Col...), append(m.Val[:0], from.Val...)
		} else {
			c.panels[k].Pack(simd.Matrix[T]{Data: s.x[k], Rows: len(f.spaces[k].cols), Cols: s.n, Stride: s.n}, 1)
		}
		c.norm[k] = append(c.norm[k][:0], s.norm[k][:s.n]...)
		c.shift[k] = append(c.shift[k][:0], s.shift[k][:s.n]...)
	}
	c.norms = c.norms[:0]
	for _, v := range c.norm[0] {
		c.norms = append(c.norms, T(v))
	}
}

// packed is all points on the right.
type packed[T simd.Float] struct {
	f      *formula
	chunks []chunk[T]
	left   []strip[T] // of rows

	mu    sync.Mutex
	desks []*desk[T] // that nobody uses
}

// pack lays the points which of src out on the right.
func (p *packed[T]) pack(src source, which []int32) {
	count := (len(which) + rightStrip - 1) / rightStrip
	for len(p.chunks) < count {
		p.chunks = append(p.chunks, chunk[T]{})
	}
	p.chunks = p.chunks[:count]
	p.each(count, func(d *desk[T], i int) {
		d.left.lay(p.f, src, which[i*rightStrip:min((i+1)*rightStrip, len(which))])
		p.chunks[i].pack(p.f, &d.left)
	})
}

// desk is the memory of one goroutine.
type desk[T simd.Float] struct {
	left     strip[T]
	products [][]T // by space: left × right
	lanes    []T   // of sparse points, 0 between uses
	wide     [][]float64
	value    []float64
	sums     []float64
	pairs    pairs
	work     work
}

func newDesk[T simd.Float](f *formula) *desk[T] {
	d := &desk[T]{value: make([]float64, rightStrip)}
	for range f.spaces {
		d.wide = append(d.wide, make([]float64, rightStrip))
	}
	d.pairs.dots, d.pairs.other = make([][]float64, len(f.spaces)), new(pairs)
	return d
}

// each calls do for every task, on goroutines that have a desk each.
func (p *packed[T]) each(tasks int, do func(d *desk[T], task int)) {
	desks := make([]*desk[T], threads(tasks))
	p.mu.Lock()
	for i := range desks {
		if last := len(p.desks) - 1; last >= 0 {
			desks[i], p.desks = p.desks[last], p.desks[:last]
		} else {
			desks[i] = newDesk[T](p.f)
		}
	}
	p.mu.Unlock()
	share(len(desks), tasks, func(worker, task int) { do(desks[worker], task) })
	p.mu.Lock()
	p.desks = append(p.desks, desks...)
	p.mu.Unlock()
}

// threads returns how many goroutines are worth having for so many tasks.
func threads(tasks int) int { return max(1, min(tasks, runtime.GOMAXPROCS(0))) }

// share calls do for every task, on so many goroutines that do one at a time.
func share(workers, tasks int, do func(worker, task int)) {
	var next atomic.Int64
	work := func(worker int) {
		for task := int(next.Add(1)) - 1; task < tasks; task = int(next.Add(1)) - 1 {
			do(worker, task)
		}
	}
	var wait sync.WaitGroup
	for worker := 1; worker < workers; worker++ {
		wait.Go(func() { work(worker) })
	}
	work(0)
	wait.Wait()
}

// multiply computes the products of points on the left with a chunk.
func (d *desk[T]) multiply(f *formula, left *strip[T], c *chunk[T]) {
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
			simd.Matrix[T]{Data: left.x[k], Rows: len(space.cols), Cols: left.n, Stride: left.n}.T(),
			&c.panels[k])
	}
}

// multiplySparse computes the products of m sparse points on the left, of so many
// columns, with n on the right.
func (d *desk[T]) multiplySparse(products []T, left *simd.CSR[T], columns, m int, right simd.CSR[T], n int) {
	if need := columns * simd.Lanes; len(d.lanes) < need {
		d.lanes = make([]T, need)
	}
	var which [simd.Lanes]int
	for from := 0; from < m; from += simd.Lanes {
		rows := which[:min(simd.Lanes, m-from)]
		for r := range rows {
			rows[r] = from + r
		}
		left.Spread(d.lanes, rows)
		right.MulLanes(products[from*n:], n, d.lanes, len(rows), 0, n)
		left.Clear(d.lanes, rows)
	}
}

// row returns the kernel of point r on the left with all of a chunk, which were
// multiplied before. It overwrites their products.
func (d *desk[T]) row(f *formula, left *strip[T], r int, c *chunk[T]) []T {
	row := d.products[0][r*c.n:][:c.n]
	if t, ok := f.root.(innerTerm); ok && t.gamma > 0 {
		simd.Gaussian(row, T(left.norm[0][r]), c.norms, T(t.gamma))
		return row
	}
	p := &d.pairs
	p.left, p.right, p.at = &left.side, &c.side, r
	for k := range f.spaces {
		p.dots[k] = d.wide[k][:c.n]
		for j, v := range d.products[k][r*c.n:][:c.n] {
			p.dots[k][j] = float64(v)
		}
	}
	value := d.value[:c.n]
	f.root.values(value, p, &d.work)
	for j, v := range value {
		row[j] = T(v)
	}
	return row
}

// rows sets dst[k][j] to the kernel of point which[k] of src with point j on the
// right.
func (p *packed[T]) rows(dst [][]float32, src source, which []int32) {
	count := (len(which) + leftStrip - 1) / leftStrip
	for len(p.left) < count {
		p.left = append(p.left, strip[T]{})
	}
	p.each(count, func(_ *desk[T], i int) {
		p.left[i].lay(p.f, src, which[i*leftStrip:min((i+1)*leftStrip, len(which))])
	})
	p.each(count*len(p.chunks), func(d *desk[T], task int) {
		s, at := task%count, task/count
		left, c := &p.left[s], &p.chunks[at]
		d.multiply(p.f, left, c)
		for r := range left.n {
			narrow(dst[s*leftStrip+r][at*rightStrip:], d.row(p.f, left, r, c))
		}
	})
}

// add adds Σ_j coef[k][j]·K to dst[k][r], K of point which[r] of src and point j on
// the right. A point with a norm beyond reach, by space, is left to alone, which
// sets sums[k].
func (p *packed[T]) add(dst [][]float64, src source, which []int32, coef [][]float64, reach []float64, alone func(sums []float64, r int)) {
	p.each((len(which)+leftStrip-1)/leftStrip, func(d *desk[T], task int) {
		from := task * leftStrip
		d.left.lay(p.f, src, which[from:min(from+leftStrip, len(which))])
		machines := len(coef)
		if need := d.left.n * machines; cap(d.sums) < need {
			d.sums = make([]float64, need)
		}
		sums := d.sums[:d.left.n*machines]
		clear(sums)
		for at := range p.chunks {
			c := &p.chunks[at]
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

// narrow sets dst to v in single precision.
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
