// Package chol computes Cholesky factors of symmetric positive definite matrices. [Panels] is
// the whole factor, in the layout of the products of package simd, so that nothing has to be
// copied. [Pivoted] and [LowRank] approximate a matrix by a few columns of its factor.
package chol

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/svmnb/svmnb/internal/parallel"
	"github.com/svmnb/svmnb/internal/simd"
	"github.com/svmnb/svmnb/internal/vec"
)

// Panels is the lower triangle of a symmetric matrix, or its Cholesky factor, in the layout
// that the loops of a product read and write. A panel has as many rows as a tile has columns.
// It stores them one column after the other, up to the end of the square on the diagonal.
// Entries above the diagonal in this square are 0. Panels take half the memory of a square
// array.
type Panels[T simd.Float] struct {
	n     int
	tiles simd.Tiles[T]
	data  []T
}

// New returns n rows of zeros. The rows that fill up the last panel are rows of the identity.
func New[T simd.Float](n int) *Panels[T] {
	p := &Panels[T]{}
	p.Reset(n)
	return p
}

// Reset is New, but reuses the memory of p.
func (p *Panels[T]) Reset(n int) {
	p.n, p.tiles = n, simd.NewTiles[T]()
	w := p.tiles.Columns
	count := (n + w - 1) / w
	if size := w * w * count * (count + 1) / 2; size > cap(p.data) {
		p.data = fresh[T](size)
	} else {
		p.data = p.data[:size]
		clear(p.data)
	}
	for i := n; i < count*w; i++ {
		p.Column(i/w, i)[i%w] = 1
	}
}

// Memory returns how many bytes New and Factor take for n rows in double precision.
func Memory(n int) float64 { return 4 * float64(n) * (float64(n) + 2*band) }

// Rows returns n, the number of rows.
func (p *Panels[T]) Rows() int { return p.n }

// count returns the number of panels, and Width the number of rows in each.
func (p *Panels[T]) count() int { return (p.n + p.tiles.Columns - 1) / p.tiles.Columns }
func (p *Panels[T]) Width() int { return p.tiles.Columns }

// Column returns panel i from column c on.
func (p *Panels[T]) Column(i, c int) []T {
	w := p.tiles.Columns
	return p.data[w*(w*i*(i+1)/2+c) : w*w*(i+1)*(i+2)/2]
}

// part returns columns c ≤ j < end of panel i.
func (p *Panels[T]) part(i, c, end int) []T { return p.Column(i, c)[:(end-c)*p.Width()] }

// turned returns the same columns of JL'J, where J reverses the order of rows. JL'J is lower
// triangular too.
func (p *Panels[T]) turned(i, c, end int) []T {
	w, last := p.Width(), p.count()*p.Width()-1
	dst := make([]T, (end-c)*w)
	for k := range end - c {
		row, col := last-c-k, last-i*w
		src := p.Column(row/w, 0)[row%w:]
		for r := range w {
			dst[k*w+r] = src[(col-r)*w]
		}
	}
	return dst
}

// At returns entry (i, j) for j ≤ i, and Entry a pointer to it.
func (p *Panels[T]) At(i, j int) T     { return *p.Entry(i, j) }
func (p *Panels[T]) Entry(i, j int) *T { return &p.Column(i/p.Width(), j)[i%p.Width()] }

// Squares returns the squared norms of the rows, which are the diagonal entries of LL'.
func (p *Panels[T]) Squares() []float64 {
	w := p.Width()
	sums := make([]float64, p.count()*w)
	parallel.Do(p.count(), p.n*p.n/2, func(i int) {
		own := sums[i*w:][:w]
		for column := p.Column(i, 0); len(column) > 0; column = column[w:] {
			for r, v := range column[:w] {
				own[r] += float64(float64(v) * float64(v))
			}
		}
	})
	return sums[:p.n]
}

// Set sets the entries of consecutive rows of one panel, from row i and column j up to the
// diagonal. If scale is not nil, each entry is multiplied by the scale of its row and of its
// column. Entries of one row are far apart in a panel, so several rows are written together, and
// all rows of some columns before the next columns.
func (p *Panels[T]) Set(i, j int, rows [][]float64, scale []float64) {
	const some, most = 8, 64
	var part [some * most]T
	w := p.Width()
	end := min(j+len(rows[0]), i+len(rows))
	for c := j; c < end; c += most {
		for at := max(0, c-i) / some * some; at < len(rows); at += some {
			few, first := rows[at:min(at+some, len(rows))], i+at
			wide := min(c+most, end, first+len(few)) - c
			for r, row := range few {
				to, row := part[r*most:][:wide], row[c-j:][:wide]
				if scale == nil {
					for k, v := range row {
						to[k] = T(v)
					}
					continue
				}
				own, other := scale[first+r], scale[c:][:wide]
				for k, v := range row {
					to[k] = T(v * own * other[k])
				}
			}
			simd.Transpose(p.Column(i/w, c)[first%w:], w, part[:], most, len(few), wide)
			for k := max(first+1, c); k < c+wide; k++ { // entries above the diagonal
				clear(p.Column(i/w, k)[first%w:][:k-first])
			}
		}
	}
}

// SetRow sets row i up to the diagonal.
func (p *Panels[T]) SetRow(i int, row []float64) {
	w := p.Width()
	dst := p.Column(i/w, 0)[i%w:]
	for j, v := range row[:i+1] {
		dst[j*w] = T(v)
	}
}

// The factor is computed one band of columns after the other. A band subtracts products of the
// columns before it. For a block of at least bandRows rows, it takes so many columns at a time
// (band columns of the band, depth columns before it) that they stay in the second-level
// cache.
const (
	band     = 192
	depth    = 192
	bandRows = 96 // fewest rows of a block
)

// Factor replaces the matrix by its Cholesky factor, one band of columns after the other, each
// from all bands before it (Golub and Van Loan 2013, §4.2.5). The first task of a band is its
// triangle on the diagonal. The rows below need this triangle only for their last step, the
// division. The next band begins while the last rows of a band are still computed. The result
// pivot is n if all pivots are positive. Otherwise it is the row of the first pivot that is
// not, and the diagonal has this pivot there.
func (p *Panels[T]) Factor(ctx context.Context) (pivot int, err error) {
	w, count := p.Width(), p.count()
	end := count * w
	var tasks []panelTask[T]
	for k := 0; k < end; k += band {
		b := newBand(p.tiles, k, min(k+band, end), 0, func(i int) []T { return p.Column(i, 0) })
		tasks = append(tasks, panelTask[T]{b, k / w, b.to / w})
		// There are some tasks for each core. Large matrices have tasks of many rows.
		each := max(bandRows/w, min(4*bandRows/w, (count-b.to/w)/8))
		for i := b.to / w; i < count; i += each {
			tasks = append(tasks, panelTask[T]{b, i, min(i+each, count)})
		}
	}
	made := newMade(make([]int, count))
	pivot = p.n
	parallel.Do(len(tasks), end*end/3*end, func(t int) {
		b, first, last := tasks[t].panelBand, tasks[t].first, tasks[t].last
		own, below := b.from/w, b.to/w
		for c := 0; c < b.from; c += depth {
			to := min(c+depth, b.from)
			if !made.wait(own, below, to) || !made.wait(first, last, to) {
				return
			}
			if ctx.Err() != nil {
				made.stop()
				return
			}
			for i := first; i < last; i++ {
				b.each(b.Subtract, p.Column(i, b.from), p.Column(i, c), p.Column(min(i+1, last-1), c), c, to, 0)
			}
		}
		if first == own {
			if row := b.factor(p); row < b.to {
				pivot = row
				made.stop()
				return
			}
		} else {
			if !made.wait(own, below, b.to) {
				return
			}
			for i := first; i < last; i++ {
				b.divide(p.Column(i, b.from), b.from)
			}
		}
		made.set(first, last, b.to)
	})
	return pivot, ctx.Err()
}

// panelTask is the part of some panels that lies in a band.
type panelTask[T simd.Float] struct {
	*panelBand[T]
	first, last int
}

// made records up to which column each panel is finished. A task may wait for tasks that were
// handed out before it.
type made struct {
	mu      sync.Mutex
	more    sync.Cond
	columns []int
	stopped bool
}

func newMade(columns []int) *made {
	m := &made{columns: columns}
	m.more.L = &m.mu
	return m
}

// wait waits until the panels i with first ≤ i < last are finished up to the column, and then
// returns true. It returns false if work has stopped.
func (m *made) wait(first, last, column int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := first; i < last && !m.stopped; {
		if m.columns[i] >= column {
			i++
		} else {
			m.more.Wait()
		}
	}
	return !m.stopped
}

func (m *made) set(first, last, column int) {
	m.mu.Lock()
	for i := first; i < last; i++ {
		m.columns[i] = column
	}
	m.mu.Unlock()
	m.more.Broadcast()
}

func (m *made) stop() {
	m.mu.Lock()
	m.stopped = true
	m.mu.Unlock()
	m.more.Broadcast()
}

// panelBand is a band of columns that is computed from the bands before it.
type panelBand[T simd.Float] struct {
	simd.Tiles[T]
	from, to int

	// rows and heads are left-hand factors of products. rows has the panels of the rows i of a
	// factor with from ≤ i < to, from column first on. heads has the triangles on their
	// diagonal in the layout of Tiles.Divide.
	rows  [][]T
	first int
	heads []T
}

func newBand[T simd.Float](t simd.Tiles[T], from, to, first int, panel func(i int) []T) *panelBand[T] {
	b := &panelBand[T]{Tiles: t, from: from, to: to, first: first, heads: make([]T, (to-from)*t.Rows)}
	b.rows = make([][]T, (to-from)/t.Columns)
	parallel.Do(len(b.rows), (to-from)*(to-first), func(i int) { b.rows[i] = panel(from/t.Columns + i) })
	return b
}

// left returns the rows of the band from row s on, from column c on.
func (b *panelBand[T]) left(s, c int) []T {
	return b.rows[s/b.Columns][(c-b.first)*b.Columns+s%b.Columns:]
}

// each calls do, which is Add or Subtract, for all products of rows with src that belong to
// dst. src is a panel from column c to end. dst has as many columns as the panel, but at most
// those of the band. The products begin with row first of these. Meanwhile it fetches from memory
// as much of next as it reads of src.
func (b *panelBand[T]) each(do func(c, a, b []T, k int, next *T), dst, src, next []T, c, end, first int) {
	high := min(b.to-b.from, len(dst)/b.Columns)
	share := (end - c) * b.Columns / high * b.Rows
	for s := first; s < high; s += b.Rows {
		do(dst[s*b.Columns:], b.left(s, c), src, end-c, &next[s/b.Rows*share])
	}
}

// divide computes the columns of the band in a panel of the factor. x is this panel from
// column c on, and has the values before the division.
func (b *panelBand[T]) divide(x []T, c int) {
	for s := c - b.from; s < b.to-b.from; s += b.Rows {
		own := x[(s-c+b.from)*b.Columns:]
		b.Subtract(own, b.left(s, c), x, s-c+b.from, nil)
		b.Divide(b.heads[s*b.Rows:], own)
	}
}

// factor computes the triangle on the diagonal of the band, and the heads. It returns the end
// of the band, or the row whose pivot is not positive.
func (b *panelBand[T]) factor(p *Panels[T]) int {
	w := b.Columns
	for c := b.from; c < b.to; c += b.Rows {
		own, s := c/w, c-b.from
		for i := own; i < b.to/w; i++ {
			b.Subtract(p.Column(i, c), b.left(s, b.from), p.Column(i, b.from), s, nil)
		}
		square := p.Column(own, c)
		if j := b.head(s, square[c%w:]); j < b.Rows {
			return c + j
		}
		for i := own; i < b.to/w; i++ {
			b.Divide(b.heads[s*b.Rows:], p.Column(i, c))
		}
		for j := range b.Rows {
			clear(square[j*w:][:c%w+j])
		}
	}
	return b.to
}

// head sets triangle s of heads to the factor of the square that begins at src, computed in
// double precision. It returns the number of positive pivots. The first pivot that is not
// positive is stored in src.
func (b *panelBand[T]) head(s int, src []T) int {
	var square [8][8]float64
	for i := range b.Rows {
		row, dst := square[i][:i+1], b.heads[(s+i)*b.Rows:]
		for j := range row {
			v := float64(src[j*b.Columns+i])
			for k, u := range row[:j] {
				v -= float64(u * square[j][k])
			}
			if j < i {
				row[j] = v / square[j][j]
				dst[j] = T(row[j])
				continue
			}
			if !(v > 0) || math.IsInf(v, 1) {
				src[j*b.Columns+i] = T(v)
				return i
			}
			row[j] = math.Sqrt(v)
			dst[j] = T(1 / row[j])
		}
	}
	return b.Rows
}

// known sets heads from a factor that is already computed.
func (b *panelBand[T]) known() *panelBand[T] {
	for s := 0; s < b.to-b.from; s += b.Rows {
		square := b.left(s, b.from+s)
		for i := range b.Rows {
			head := b.heads[(s+i)*b.Rows:]
			for j := range i {
				head[j] = square[j*b.Columns+i]
			}
			head[i] = 1 / square[i*b.Columns+i]
		}
	}
	return b
}

// Forward sets x to L⁻¹x, a band at a time.
func (p *Panels[T]) Forward(x []float64) {
	w := p.Width()
	z := p.filled(x)
	for k := 0; k < len(z); k += band {
		first, last := k/w, min(k+band, len(z))/w
		parallel.Do(last-first, (last-first)*w*k, func(task int) {
			i := first + task
			p.tiles.SubtractRows(z[i*w:], p.Column(i, 0), z[:k])
		})
		for i := first; i < last; i++ {
			y, square := z[i*w:(i+1)*w], p.Column(i, i*w)
			p.tiles.SubtractRows(y, p.Column(i, k), z[k:i*w])
			for c := range y {
				y[c] /= float64(square[c*w+c])
				simd.Axpy(-y[c], square[c*w+c+1:][:w-c-1], y[c+1:])
			}
		}
	}
	copy(x, z)
}

// Backward sets x to L⁻ᵀx, a band at a time.
func (p *Panels[T]) Backward(x []float64) {
	w := p.Width()
	z := p.filled(x)
	for k := (len(z) - 1) / band * band; k >= 0; k -= band {
		first, last := k/w, min(k+band, len(z))/w
		for i := last - 1; i >= first; i-- {
			y, square := z[i*w:(i+1)*w], p.Column(i, i*w)
			for c := w - 1; c >= 0; c-- {
				y[c] = (y[c] - simd.Dot(square[c*w+c+1:][:w-c-1], y[c+1:])) / float64(square[c*w+c])
			}
			p.tiles.SubtractDots(z[k:i*w], p.Column(i, k), y)
		}
		const some = 512 // number of columns at a time
		parallel.Do((k+some-1)/some, (last-first)*w*k, func(task int) {
			c, end := task*some, min((task+1)*some, k)
			for i := first; i < last; i++ {
				p.tiles.SubtractDots(z[c:end], p.Column(i, c), z[i*w:])
			}
		})
	}
	copy(x, z)
}

// Multiply sets x to Lx.
func (p *Panels[T]) Multiply(x []float64) {
	w := p.Width()
	z := p.filled(x)
	y := make([]float64, w)
	for i := range p.count() {
		clear(y)
		p.tiles.SubtractRows(y, p.Column(i, 0), z[:(i+1)*w])
		for r, v := range y[:min(w, p.n-i*w)] {
			x[i*w+r] = -v
		}
	}
}

// filled returns a copy of x, with zeros for the rows that fill up the last panel.
func (p *Panels[T]) filled(x []float64) []float64 {
	z := make([]float64, p.count()*p.Width())
	copy(z, x)
	return z
}

// SolveAll replaces each vector v of x, of length n, by (LL')⁻¹v. The result is that of
// Forward and Backward, but comes from products of matrices on all cores. It takes 8 bytes for
// each component, and for a few dozen vectors more. The error is context.Cause(ctx); x is then
// unchanged.
func (p *Panels[T]) SolveAll(ctx context.Context, x [][]float64) error { return p.all(ctx, x, true) }

// ForwardAll replaces each vector v of x by L⁻¹v; see SolveAll.
func (p *Panels[T]) ForwardAll(ctx context.Context, x [][]float64) error { return p.all(ctx, x, false) }

func (p *Panels[T]) all(ctx context.Context, x [][]float64, back bool) error {
	if p.n == 0 || len(x) == 0 {
		return nil
	}
	s := p.newSheet(x)
	if err := s.divide(ctx, p.tiles, p.part); err != nil {
		return err
	}
	if back { // L⁻ᵀ = J(JL'J)⁻¹J
		s.turn(p.Width())
		if err := s.divide(ctx, p.tiles, p.turned); err != nil {
			return err
		}
		s.turn(p.Width())
	}
	s.copyTo(x, p.Width())
	return nil
}

// sheet has some vectors in panels. A panel has as many vectors as a tile has columns, and
// stores one component of them after the other.
type sheet[T simd.Float] struct {
	n    int // number of components, padded to whole panels of the factor
	data []T
}

func (s *sheet[T]) panel(i, width int) []T { return s.data[i*s.n*width:][:s.n*width] }

// newSheet copies the vectors of x to a sheet.
func (p *Panels[T]) newSheet(x [][]float64) *sheet[T] {
	w := p.Width()
	s := &sheet[T]{n: p.count() * w}
	s.data = make([]T, (len(x)+w-1)/w*w*s.n)
	for j, v := range x {
		dst := s.panel(j/w, w)[j%w:]
		for k, u := range v[:p.n] {
			dst[k*w] = T(u)
		}
	}
	return s
}

// copyTo copies the vectors of the sheet to x.
func (s *sheet[T]) copyTo(x [][]float64, width int) {
	for j, v := range x {
		src := s.panel(j/width, width)[j%width:]
		for k := range v {
			v[k] = float64(src[k*width])
		}
	}
}

// turn reverses the order of the components.
func (s *sheet[T]) turn(width int) {
	for at := 0; at < len(s.data); at += s.n * width {
		for i, j := at, at+(s.n-1)*width; i < j; i, j = i+width, j-width {
			for r := range width {
				s.data[i+r], s.data[j+r] = s.data[j+r], s.data[i+r]
			}
		}
	}
}

// divide replaces each vector v by M⁻¹v. The function part returns panels of M, a lower
// triangular matrix.
func (s *sheet[T]) divide(ctx context.Context, t simd.Tiles[T], part func(panel, c, end int) []T) error {
	w := t.Columns
	count := len(s.data) / (s.n * w)
	each := max(1, min(bandRows/w, count/4)) // number of panels in a task
	for k := 0; k < s.n && ctx.Err() == nil; k += band {
		b := newBand(t, k, min(k+band, s.n), 0, func(i int) []T { return part(i, 0, (i+1)*w) }).known()
		parallel.Do((count+each-1)/each, count*w*(b.to-k)*b.to, func(task int) {
			first, last := task*each, min((task+1)*each, count)
			for c := 0; c < k && ctx.Err() == nil; c += depth {
				for i := first; i < last; i++ {
					x := s.panel(i, w)
					b.each(b.Subtract, x[k*w:], x[c*w:], s.panel(min(i+1, last-1), w)[c*w:], c, c+depth, 0)
				}
			}
			for i := first; i < last; i++ {
				b.divide(s.panel(i, w)[k*w:], k)
			}
		})
	}
	return context.Cause(ctx)
}

// Inverse is (LL')⁻¹ = UU' with U = L⁻ᵀ, in panels of columns. Each panel goes from the
// diagonal down. It begins at the row where the band of its first column begins, so its
// entries above the diagonal belong to the inverse or are 0.
type Inverse[T simd.Float] struct {
	n     int
	width int
	panel [][]T
}

func (u *Inverse[T]) begin(i int) int { return i * u.width / band * band }

// part returns rows c ≤ j < end of panel i.
func (u *Inverse[T]) part(i, c, end int) []T {
	return u.panel[i][(c-u.begin(i))*u.width : (end-u.begin(i))*u.width]
}

// Row sets dst to the first i+1 entries of row i.
func (u *Inverse[T]) Row(dst []T, i int) {
	for j := 0; j*u.width <= i; j++ {
		copy(dst[j*u.width:], u.part(j, i, i+1)[:min(u.width, i+1-j*u.width)])
	}
}

// Double sets dst to the first i+1 entries of row i.
func (u *Inverse[T]) Double(dst []float64, i int) {
	for j := 0; j*u.width <= i; j++ {
		dst := dst[j*u.width:]
		for k, v := range u.part(j, i, i+1)[:min(u.width, i+1-j*u.width)] {
			dst[k] = float64(v)
		}
	}
}

// Dense returns all n rows, which takes 8n² bytes in double precision.
func (u *Inverse[T]) Dense() [][]T {
	n, w := u.n, u.width
	data, rows := make([]T, n*n), make([][]T, n)
	for i := range rows {
		rows[i] = data[i*n:][:n:n]
		u.Row(rows[i], i)
	}
	parallel.Do(len(u.panel), n*n, func(j int) { // each column of a panel is a row above the diagonal
		from, to := j*w, min((j+1)*w, n)
		simd.Transpose(data[from*n+from:], n, u.part(j, from, n), w, n-from, to-from)
	})
	return rows
}

// Inverse returns the inverse of the factored matrix. It first computes U, whose rows are
// those that an identity below the matrix would get in the factorisation. Then it overwrites U
// by the product UU', from the first band of columns to the last.
func (p *Panels[T]) Inverse(ctx context.Context) (*Inverse[T], error) {
	w, count, each := p.Width(), p.count(), bandRows/p.Width()
	end := count * w
	u := &Inverse[T]{n: p.n, width: w, panel: make([][]T, count)}
	size := func(i int) int { return (end - u.begin(i)) * w }
	all := 0
	for i := range count {
		all += size(i)
	}
	data := fresh[T](all)
	for i := range u.panel {
		u.panel[i], data = data[:size(i)], data[size(i):]
	}
	var bands []*panelBand[T]
	for k := 0; k < end; k += band {
		bands = append(bands, newBand(p.tiles, k, min(k+band, end), 0, func(i int) []T { return p.Column(i, 0) }).known())
	}
	first := make([][]T, count) // the part of each panel in its first band
	parallel.Do((count+each-1)/each, end*end/3*end, func(task int) {
		from, to := task*each, min((task+1)*each, count)
		begin := u.begin(from)
		for i := from; i < to; i++ {
			for r := range w {
				u.part(i, i*w+r, end)[r] = 1
			}
		}
		for _, b := range bands[begin/band:] {
			for c := begin; c < b.from && ctx.Err() == nil; c += depth {
				for i := from; i < to; i++ {
					c := max(c, i*w)
					b.each(b.Subtract, u.part(i, b.from, b.to), u.part(i, c, end), u.part(min(i+1, to-1), c, end), c, (c/depth+1)*depth, 0)
				}
			}
			for i := from; i < to; i++ {
				c := max(b.from, i*w)
				b.divide(u.part(i, c, b.to), c)
			}
		}
		for i := from; i < to; i++ {
			first[i] = slices.Clone(u.part(i, begin, min(begin+band, end)))
		}
	})
	var tasks []panelTask[T]
	for k := 0; k < end; k += band {
		b := newBand(p.tiles, k, min(k+band, end), k, func(i int) []T { return u.part(i, k, end) })
		for i := 0; i < b.to/w; i += each {
			tasks = append(tasks, panelTask[T]{b, i, min(i+each, b.to/w)})
		}
	}
	done := make([]int, count)
	for i := range done {
		done[i] = u.begin(i)
	}
	made := newMade(done)
	parallel.Do(len(tasks), end*end/3*end, func(t int) {
		b, from, to := tasks[t].panelBand, tasks[t].first, tasks[t].last
		// This task overwrites values that earlier bands read. It waits until these panels are
		// done with the earlier bands, and all panels with the band in which these begin.
		if begun := u.begin(from) + band; begun <= b.from && !(made.wait(0, begun/w, begun) && made.wait(from, to, b.from)) {
			return
		}
		for i := from; i < to; i++ { // each part is read before it is overwritten
			own, src := u.part(i, b.from, b.to), first[i]
			if u.begin(i) < b.from {
				src = slices.Clone(own)
			}
			clear(own)
			for s := max(0, i*w-b.from); s < b.to-b.from; s += b.Rows {
				j := (b.from + s) / w // U is 0 before row j·w of panel j
				b.Add(own[s*w:], first[j][(j*w-b.from)*w+s%w:], src[(j*w-b.from)*w:], b.to-j*w, nil)
			}
		}
		for c := b.to; c < end; c += depth {
			if ctx.Err() != nil {
				made.stop()
				return
			}
			for i := from; i < to; i++ {
				b.each(b.Add, u.part(i, b.from, b.to), u.part(i, c, end), u.part(min(i+1, to-1), c, end), c, min(c+depth, end), max(0, i*w-b.from))
			}
		}
		made.set(from, to, b.to)
	})
	return u, context.Cause(ctx)
}

// Single returns p in single precision.
func Single(p *Panels[float64]) *Panels[float32] {
	q := New[float32](p.n)
	from, to := p.Width(), q.Width() // from divides to
	parallel.Do(p.count(), p.n*p.n/2, func(i int) {
		first := i * from
		src, dst := p.Column(i, 0), q.Column(first/to, 0)[first%to:]
		for j := range first + from {
			row := dst[j*to:][:from]
			for r, v := range src[j*from:][:from] {
				row[r] = float32(v)
			}
		}
	})
	return q
}

// Extended returns the factor of a larger matrix, of which p has factored the first n rows: rows
// has its other m, each up to the diagonal. This takes n²m multiplications, and leaves p as it is.
// The result pivot is n + m, or the row of the first pivot that is not positive. When ctx ends
// early, the error is context.Cause(ctx).
func (p *Panels[T]) Extended(ctx context.Context, rows [][]float64) (q *Panels[T], pivot int, err error) {
	n := p.n
	half := make([][]float64, len(rows))
	for r, row := range rows {
		half[r] = slices.Clone(row[:n])
	}
	if err := p.ForwardAll(ctx, half); err != nil {
		return nil, 0, err
	}
	q = New[T](n + len(rows))
	copy(q.data, p.data) // a panel lies in the same place whatever the number of rows
	for r, row := range rows {
		own := append(half[r], row[n:]...)
		for k := range r { // half[k] has row n+k of the factor
			own[n+k] = (own[n+k] - vec.Dot(own[:n+k], half[k][:n+k])) / half[k][n+k]
		}
		last := n + r
		if own[last] -= vec.Dot(own[:last], own[:last]); !(own[last] > 0) {
			return nil, last, nil
		}
		own[last] = math.Sqrt(own[last])
		half[r] = own
		q.SetRow(last, own)
	}
	return q, n + len(rows), nil
}
