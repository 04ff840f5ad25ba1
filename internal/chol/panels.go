// Package chol computes Cholesky factors of symmetric positive definite matrices. [Panels]
// is the whole factor, in the layout in which package simd multiplies, so that nothing is
// copied. [Pivoted] and [LowRank] approximate a matrix by a few columns of its factor.
package chol

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/svmnb/svmnb/internal/parallel"
	"github.com/svmnb/svmnb/internal/simd"
)

// Panels is the lower triangle of a symmetric matrix, or its Cholesky factor, as the
// loops of a product read and write it: as many rows at a time as a tile has columns,
// and of them one column after the other, up to the square on the diagonal. What stands
// above the diagonal in that square is 0. It takes half the memory of a square array,
// and nothing has to be copied for the products that factor it.
type Panels[T simd.Float] struct {
	n     int
	tiles simd.Tiles[T]
	data  []T
}

// New returns n rows of zeros. Those that fill the last panel up are of the
// identity.
func New[T simd.Float](n int) *Panels[T] {
	p := &Panels[T]{}
	p.Reset(n)
	return p
}

// Reset is New in the memory of p.
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

// Rows returns n.
func (p *Panels[T]) Rows() int { return p.n }

// count returns how many panels there are, and Width how many rows each has.
func (p *Panels[T]) count() int { return (p.n + p.tiles.Columns - 1) / p.tiles.Columns }
func (p *Panels[T]) Width() int { return p.tiles.Columns }

// Column returns panel i from column c on.
func (p *Panels[T]) Column(i, c int) []T {
	w := p.tiles.Columns
	return p.data[w*(w*i*(i+1)/2+c) : w*w*(i+1)*(i+2)/2]
}

// part returns panel i from column c to end.
func (p *Panels[T]) part(i, c, end int) []T { return p.Column(i, c)[:(end-c)*p.Width()] }

// turned is part of the matrix JL'J, J the turned identity: a triangular matrix too.
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

// At returns entry (i, j), j ≤ i, and Entry where it is.
func (p *Panels[T]) At(i, j int) T     { return *p.Entry(i, j) }
func (p *Panels[T]) Entry(i, j int) *T { return &p.Column(i/p.Width(), j)[i%p.Width()] }

// Set sets the entries of rows of one panel, the first of them i, from column j on and up
// to the diagonal, each times the scale of its row and that of its column where there is
// one. A row of a panel is spread over all its memory, so some go together.
func (p *Panels[T]) Set(i, j int, rows [][]float64, scale []float64) {
	const some, most = 8, 128
	var part [some * most]T
	w := p.Width()
	for ; len(rows) > 0; i, rows = i+some, rows[min(some, len(rows)):] {
		few := rows[:min(some, len(rows))]
		end := min(j+len(few[0]), i+len(few))
		for c := j; c < end; c += most {
			wide := min(most, end-c)
			for r, row := range few {
				to, row := part[r*most:][:wide], row[c-j:][:wide]
				if scale == nil {
					for k, v := range row {
						to[k] = T(v)
					}
					continue
				}
				own, other := scale[i+r], scale[c:][:wide]
				for k, v := range row {
					to[k] = T(v * own * other[k])
				}
			}
			simd.Transpose(p.Column(i/w, c)[i%w:], w, part[:], most, len(few), wide)
		}
		for c := max(i+1, j); c < end; c++ { // above the diagonal
			clear(p.Column(i/w, c)[i%w:][:c-i])
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

// The factor is computed one band of columns after the other. A band subtracts products of
// the columns before it, so many of them at a time that they stay in the second-level cache
// for a block of rows: band columns, depth columns before them, at least bandRows rows.
const (
	band     = 192
	depth    = 192
	bandRows = 96 // at least
)

// Factor replaces the matrix by its Cholesky factor, one band of columns after the other,
// each from all those before it (Golub and Van Loan 2013, §4.2.5). The first task of a band
// is its triangle on the diagonal. The rows below it need that triangle only for their last
// step, the division. The next band begins while the last rows of a band are still computed.
// pivot is n, or the row whose pivot is not positive and then stands on the diagonal.
func (p *Panels[T]) Factor(ctx context.Context) (pivot int, err error) {
	w, count := p.Width(), p.count()
	end := count * w
	var tasks []panelTask[T]
	for k := 0; k < end; k += band {
		b := newBand(p.tiles, k, min(k+band, end), 0, func(i int) []T { return p.Column(i, 0) })
		tasks = append(tasks, panelTask[T]{b, k / w, b.to / w})
		// Some tasks for each core, of many rows where there are many.
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
				b.each(b.Subtract, p.Column(i, b.from), p.Column(i, c), p.Column(min(i+1, last-1), c), c, to)
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

// panelTask is some panels, as far as they are in a band.
type panelTask[T simd.Float] struct {
	*panelBand[T]
	first, last int
}

// made is how far each panel is made, in columns. Tasks that are handed out in their
// order may wait for those before them.
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

// wait returns when the panels first ≤ i < last are made up to the column; false says
// that they will not be.
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

// panelBand is a band of columns that is made, from those before it.
type panelBand[T simd.Float] struct {
	simd.Tiles[T]
	from, to int

	// What is on the left of products: the panels of rows from to to of a factor, from the
	// column first on. The triangles on their diagonal, as Tiles.Divide wants them.
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

// left is the rows from s on of those of the band, from column c on.
func (b *panelBand[T]) left(s, c int) []T {
	return b.rows[s/b.Columns][(c-b.first)*b.Columns+s%b.Columns:]
}

// each calls do, which is Add or Subtract, for all products of rows with src, a panel
// from column c to end, that belong in dst: as many columns of a panel as it has, at most
// those of the band. It lets as much of next come from memory as it reads of src.
func (b *panelBand[T]) each(do func(c, a, b []T, k int, next *T), dst, src, next []T, c, end int) {
	high := min(b.to-b.from, len(dst)/b.Columns)
	share := (end - c) * b.Columns / high * b.Rows
	for s := 0; s < high; s += b.Rows {
		do(dst[s*b.Columns:], b.left(s, c), src, end-c, &next[s/b.Rows*share])
	}
}

// divide makes the columns of the band from the column c on in a panel, which knows what
// is left of them.
func (b *panelBand[T]) divide(x []T, c int) {
	for s := c - b.from; s < b.to-b.from; s += b.Rows {
		own := x[(s-c+b.from)*b.Columns:]
		b.Subtract(own, b.left(s, c), x, s-c+b.from, nil)
		b.Divide(b.heads[s*b.Rows:], own)
	}
}

// factor makes the triangle on the diagonal, with heads. It returns the end of the band
// or the row whose pivot is not positive.
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

// head sets the triangle s of heads to the factor of the square that begins at src,
// computed in double precision. It returns how many pivots are positive; the first that
// is not stands in src.
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

// known sets heads from the factor.
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
		const some = 512 // columns
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

// filled returns a copy of x, with zeros for the rows that fill the last panel up.
func (p *Panels[T]) filled(x []float64) []float64 {
	z := make([]float64, p.count()*p.Width())
	copy(z, x)
	return z
}

// SolveAll replaces each of the vectors of x by (LL')⁻¹ times it, like Forward and Backward
// one by one but by products of matrices on all cores. It takes 8 bytes for each component,
// and as much as for a few dozen vectors more. The error is context.Cause(ctx); x is as it
// was then.
func (p *Panels[T]) SolveAll(ctx context.Context, x [][]float64) error { return p.all(ctx, x, true) }

// ForwardAll replaces each of the vectors of x by L⁻¹ times it; see SolveAll.
func (p *Panels[T]) ForwardAll(ctx context.Context, x [][]float64) error { return p.all(ctx, x, false) }

func (p *Panels[T]) all(ctx context.Context, x [][]float64, back bool) error {
	if p.n == 0 || len(x) == 0 {
		return nil
	}
	s := p.newSheet(x)
	if err := s.divide(ctx, p.tiles, p.part); err != nil {
		return err
	}
	if back { // L⁻ᵀ is J(JL'J)⁻¹J
		s.turn(p.Width())
		if err := s.divide(ctx, p.tiles, p.turned); err != nil {
			return err
		}
		s.turn(p.Width())
	}
	s.copyTo(x, p.Width())
	return nil
}

// sheet is some vectors as panels: as many as a tile has columns in each, and of them
// one component after the other.
type sheet[T simd.Float] struct {
	n    int // components, as many as whole panels of the factor have rows
	data []T
}

func (s *sheet[T]) panel(i, width int) []T { return s.data[i*s.n*width:][:s.n*width] }

// newSheet copies vectors.
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

// copyTo copies the vectors back.
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

// divide replaces the vectors by M⁻¹ times them, where part returns panels of the lower
// triangular matrix M.
func (s *sheet[T]) divide(ctx context.Context, t simd.Tiles[T], part func(panel, c, end int) []T) error {
	w := t.Columns
	count := len(s.data) / (s.n * w)
	each := max(1, min(bandRows/w, count/4)) // panels in a task
	for k := 0; k < s.n && ctx.Err() == nil; k += band {
		b := newBand(t, k, min(k+band, s.n), 0, func(i int) []T { return part(i, 0, (i+1)*w) }).known()
		parallel.Do((count+each-1)/each, count*w*(b.to-k)*b.to, func(task int) {
			first, last := task*each, min((task+1)*each, count)
			for c := 0; c < k && ctx.Err() == nil; c += depth {
				for i := first; i < last; i++ {
					x := s.panel(i, w)
					b.each(b.Subtract, x[k*w:], x[c*w:], s.panel(min(i+1, last-1), w)[c*w:], c, c+depth)
				}
			}
			for i := first; i < last; i++ {
				b.divide(s.panel(i, w)[k*w:], k)
			}
		})
	}
	return context.Cause(ctx)
}

// Inverse is (LL')⁻¹ = UU', U = L⁻ᵀ, by columns: what [Panels] has as a row is one here, and
// each panel goes from the diagonal down. It begins where the band of its first column
// does, so what stands above the diagonal is part of the inverse or 0.
type Inverse[T simd.Float] struct {
	n     int
	width int
	panel [][]T
}

func (u *Inverse[T]) begin(i int) int { return i * u.width / band * band }

// part returns panel i from row c to end.
func (u *Inverse[T]) part(i, c, end int) []T {
	return u.panel[i][(c-u.begin(i))*u.width : (end-u.begin(i))*u.width]
}

// Row sets dst to the first i+1 entries of row i.
func (u *Inverse[T]) Row(dst []T, i int) {
	for j := 0; j*u.width <= i; j++ {
		copy(dst[j*u.width:], u.part(j, i, i+1)[:min(u.width, i+1-j*u.width)])
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
	parallel.Do(len(u.panel), n*n, func(j int) { // each column of which is a row above the diagonal
		from, to := j*w, min((j+1)*w, n)
		simd.Transpose(data[from*n+from:], n, u.part(j, from, n), w, n-from, to-from)
	})
	return rows
}

// Inverse returns the inverse of the matrix that was factored. The rows of U are those that
// the identity would have below the matrix in its factorisation; the product takes their
// place, from the first band of columns to the last.
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
	first := make([][]T, count) // the part of each panel that is in its band
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
					b.each(b.Subtract, u.part(i, b.from, b.to), u.part(i, c, end), u.part(min(i+1, to-1), c, end), c, (c/depth+1)*depth)
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
		// What is written here was read by the bands before: from these panels, and by that in
		// which they begin from all.
		if begun := u.begin(from) + band; begun <= b.from && !(made.wait(0, begun/w, begun) && made.wait(from, to, b.from)) {
			return
		}
		for i := from; i < to; i++ { // what is read first is what is written
			own, src := u.part(i, b.from, b.to), first[i]
			if u.begin(i) < b.from {
				src = slices.Clone(own)
			}
			clear(own)
			for s := max(0, i*w-b.from); s < b.to-b.from; s += b.Rows {
				j := (b.from + s) / w // before its own rows U is 0
				b.Add(own[s*w:], first[j][(j*w-b.from)*w+s%w:], src[(j*w-b.from)*w:], b.to-j*w, nil)
			}
		}
		for c := b.to; c < end; c += depth {
			if ctx.Err() != nil {
				made.stop()
				return
			}
			for i := from; i < to; i++ {
				b.each(b.Add, u.part(i, b.from, b.to), u.part(i, c, end), u.part(min(i+1, to-1), c, end), c, min(c+depth, end))
			}
		}
		made.set(from, to, b.to)
	})
	return u, context.Cause(ctx)
}
