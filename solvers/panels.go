package solvers

import (
	"context"
	"math"
	"slices"

	"github.com/svmnb/svmnb/internal/simd"
)

// panels is the lower triangle of a symmetric matrix, or its Cholesky factor, as the
// loops of a product read and write it: as many rows at a time as a tile has columns,
// and of them one column after the other, up to the square on the diagonal. What stands
// above the diagonal in that square is 0. It takes half the memory of a square array,
// and nothing has to be copied for the products that factor it.
type panels[T simd.Float] struct {
	n     int
	tiles simd.Tiles[T]
	data  []T
	work  *panelBand[T] // of lower, kept where the matrix is small: another may take its place
}

// smallPanels is how many rows a small matrix has at most.
const smallPanels = 1024

// newPanels returns n rows of zeros. Those that fill the last panel up are of the
// identity.
func newPanels[T simd.Float](n int) *panels[T] {
	p := &panels[T]{}
	p.reset(n)
	return p
}

// reset is newPanels in the memory of p.
func (p *panels[T]) reset(n int) {
	p.n, p.tiles = n, simd.NewTiles[T]()
	w := p.tiles.Columns
	count := (n + w - 1) / w
	if size := w * w * count * (count + 1) / 2; size > cap(p.data) {
		p.data = make([]T, size)
	} else {
		p.data = p.data[:size]
		clear(p.data)
	}
	for i := n; i < count*w; i++ {
		p.column(i/w, i)[i%w] = 1
	}
}

// count returns how many panels there are, and width how many rows each has.
func (p *panels[T]) count() int { return (p.n + p.tiles.Columns - 1) / p.tiles.Columns }
func (p *panels[T]) width() int { return p.tiles.Columns }

// column returns panel i from column c on.
func (p *panels[T]) column(i, c int) []T {
	w := p.tiles.Columns
	return p.data[w*(w*i*(i+1)/2+c) : w*w*(i+1)*(i+2)/2]
}

// part returns panel i from column c to end.
func (p *panels[T]) part(i, c, end int) []T { return p.column(i, c)[:(end-c)*p.width()] }

// turned is part of the matrix JL'J, J the turned identity: a triangular matrix too.
func (p *panels[T]) turned(i, c, end int) []T {
	w, last := p.width(), p.count()*p.width()-1
	dst := make([]T, (end-c)*w)
	for k := range end - c {
		row, col := last-c-k, last-i*w
		src := p.column(row/w, 0)[row%w:]
		for r := range w {
			dst[k*w+r] = src[(col-r)*w]
		}
	}
	return dst
}

// at returns entry (i, j), j ≤ i, and entry where it is.
func (p *panels[T]) at(i, j int) T     { return *p.entry(i, j) }
func (p *panels[T]) entry(i, j int) *T { return &p.column(i/p.width(), j)[i%p.width()] }

// setRow sets row i up to the diagonal.
func (p *panels[T]) setRow(i int, row []float64) {
	w := p.width()
	dst := p.column(i/w, 0)[i%w:]
	for j, v := range row[:i+1] {
		dst[j*w] = T(v)
	}
}

// Columns of the factor are made a band at a time: what it takes from columns before
// it, as many of them at a time, stays in the second-level cache while some rows go by.
const (
	band     = 192
	bandRows = 96
)

// lower replaces the matrix by its Cholesky factor, a band of columns after the other
// from all those before it (Golub and Van Loan 2013, §4.2.5). The triangle on the
// diagonal is the first task of a band, and the rows below wait for it with the
// division only, so that no core waits for long. pivot is n, or the row whose pivot is
// not positive; it stands on the diagonal then.
func (p *panels[T]) lower(ctx context.Context) (pivot int, err error) {
	w := p.width()
	end := p.count() * w
	b := p.work
	if b == nil || b.n != end || b.Tiles != p.tiles {
		b = newBand[T](p.tiles, end)
	}
	if end <= smallPanels {
		p.work = b
	}
	for k := 0; k < end; k += band {
		b.from, b.to = k, min(k+band, end)
		b.left(p.part, 0, k)
		below, each := b.to/w, bandRows/w
		factored := make(chan struct{})
		parallel(1+(p.count()-below+each-1)/each, (end-k)*(b.to-k)*b.to, func(task int) {
			if task == 0 {
				defer close(factored)
				for i := k / w; i < below; i++ {
					b.each(b.Subtract, p.column(i, k), p.column(i, 0), 0, k)
				}
				pivot = b.factor(p)
				return
			}
			i := below + (task-1)*each
			last := min(i+each, p.count())
			for c := 0; c < k && ctx.Err() == nil; c += band {
				for i := i; i < last; i++ {
					b.each(b.Subtract, p.column(i, k), p.column(i, c), c, c+band)
				}
			}
			if <-factored; pivot == b.to && ctx.Err() == nil {
				for ; i < last; i++ {
					b.divide(p.column(i, k))
				}
			}
		})
		if pivot < b.to || ctx.Err() != nil {
			return pivot, ctx.Err()
		}
	}
	return p.n, nil
}

// panelBand is a band of columns that is made, from those before it.
type panelBand[T simd.Float] struct {
	simd.Tiles[T]
	n        int
	from, to int

	// What is on the left of products: rows from to to of a factor, as many at a time as
	// a tile has, one column of them after the other. Of the columns from first on, so
	// many at a time as a band is wide; of those in the band up to the triangles on the
	// diagonal; and these, as Tiles.Divide wants them.
	rows, inner, heads []T
	first, most        int // the first column of rows, and how many a band has at most
}

// newBand is for panels of n columns.
func newBand[T simd.Float](t simd.Tiles[T], n int) *panelBand[T] {
	b := &panelBand[T]{Tiles: t, n: n, most: min(band, n)}
	b.rows, b.inner, b.heads = make([]T, b.most*n), make([]T, b.most*b.most), make([]T, b.most*t.Rows)
	return b
}

// left sets rows from the columns first to end.
func (b *panelBand[T]) left(part func(panel, c, end int) []T, first, end int) {
	w, high := b.Columns, b.to-b.from
	b.first = first
	parallel((end-first+band-1)/band, (end-first)*high*4, func(task int) {
		c := first + task*band
		deep := min(band, end-c)
		for i := b.from; i < b.to; i += w {
			src := part(i/w, c, c+deep)
			for s := 0; s < w; s += b.Rows {
				b.pack(b.rows[(c-first)*high+(i-b.from+s)*deep:][:deep*b.Rows], src[s:])
			}
		}
	})
}

// pack copies the first rows of a panel's columns.
func (b *panelBand[T]) pack(dst, src []T) {
	for len(dst) > 0 {
		copy(dst[:b.Rows], src)
		if dst = dst[b.Rows:]; len(dst) > 0 {
			src = src[b.Columns:]
		}
	}
}

// each calls do, which is Add or Subtract, for all products of rows with src, a panel
// from column c to end, that belong in dst: as many columns of a panel as it has, at most
// those of the band.
func (b *panelBand[T]) each(do func(c, a, b []T), dst, src []T, c, end int) {
	w, high := b.Columns, b.to-b.from
	for ; c < end; c += band {
		deep := min(band, end-c)
		left := b.rows[(c-b.first)*high:]
		for s := 0; s < min(high, len(dst)/w); s += b.Rows {
			do(dst[s*w:], left[s*deep:][:b.Rows*deep], src)
		}
		src = src[deep*w:]
	}
}

// divide makes the columns of the band in a panel, which knows what is left of them.
func (b *panelBand[T]) divide(x []T) {
	for s := 0; s < b.to-b.from; s += b.Rows {
		b.Subtract(x[s*b.Columns:], b.group(s), x)
		b.Divide(b.heads[s*b.Rows:], x[s*b.Columns:])
	}
}

// group is the rows of inner from s on.
func (b *panelBand[T]) group(s int) []T { return b.inner[s*b.most:][:s*b.Rows] }

// factor makes the triangle on the diagonal, with inner and heads. It returns the end of
// the band or the row whose pivot is not positive.
func (b *panelBand[T]) factor(p *panels[T]) int {
	w := b.Columns
	for c := b.from; c < b.to; c += b.Rows {
		own, s := c/w, c-b.from
		b.pack(b.group(s), p.column(own, b.from)[c%w:])
		for i := own; i < b.to/w; i++ {
			b.Subtract(p.column(i, c), b.group(s), p.column(i, b.from))
		}
		square := p.column(own, c)
		if j := b.head(s, square[c%w:]); j < b.Rows {
			return c + j
		}
		for i := own; i < b.to/w; i++ {
			b.Divide(b.heads[s*b.Rows:], p.column(i, c))
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

// known sets inner and heads from a factor.
func (b *panelBand[T]) known(part func(panel, c, end int) []T) {
	w := b.Columns
	for own := b.from / w; own < b.to/w; own++ {
		src := part(own, b.from, (own+1)*w)
		for r := 0; r < w; r += b.Rows {
			s := own*w + r - b.from
			b.pack(b.group(s), src[r:])
			square := src[s*w+r:]
			for i := range b.Rows {
				head := b.heads[(s+i)*b.Rows:]
				for j := range i {
					head[j] = square[j*w+i]
				}
				head[i] = 1 / square[i*w+i]
			}
		}
	}
}

// forward sets x to L⁻¹x, a band at a time.
func (p *panels[T]) forward(x []float64) {
	w := p.width()
	z := p.filled(x)
	for k := 0; k < len(z); k += band {
		first, last := k/w, min(k+band, len(z))/w
		parallel(last-first, (last-first)*w*k, func(task int) {
			i := first + task
			p.tiles.SubtractRows(z[i*w:], p.column(i, 0), z[:k])
		})
		for i := first; i < last; i++ {
			y, square := z[i*w:(i+1)*w], p.column(i, i*w)
			p.tiles.SubtractRows(y, p.column(i, k), z[k:i*w])
			for c := range y {
				y[c] /= float64(square[c*w+c])
				simd.Axpy(-y[c], square[c*w+c+1:][:w-c-1], y[c+1:])
			}
		}
	}
	copy(x, z)
}

// backward sets x to L⁻ᵀx, a band at a time.
func (p *panels[T]) backward(x []float64) {
	w := p.width()
	z := p.filled(x)
	for k := (len(z) - 1) / band * band; k >= 0; k -= band {
		first, last := k/w, min(k+band, len(z))/w
		for i := last - 1; i >= first; i-- {
			y, square := z[i*w:(i+1)*w], p.column(i, i*w)
			for c := w - 1; c >= 0; c-- {
				y[c] = (y[c] - simd.Dot(square[c*w+c+1:][:w-c-1], y[c+1:])) / float64(square[c*w+c])
			}
			p.tiles.SubtractDots(z[k:i*w], p.column(i, k), y)
		}
		const some = 512 // columns
		parallel((k+some-1)/some, (last-first)*w*k, func(task int) {
			c, end := task*some, min((task+1)*some, k)
			for i := first; i < last; i++ {
				p.tiles.SubtractDots(z[c:end], p.column(i, c), z[i*w:])
			}
		})
	}
	copy(x, z)
}

// multiply sets x to Lx.
func (p *panels[T]) multiply(x []float64) {
	w := p.width()
	z := p.filled(x)
	y := make([]float64, w)
	for i := range p.count() {
		clear(y)
		p.tiles.SubtractRows(y, p.column(i, 0), z[:(i+1)*w])
		for r, v := range y[:min(w, p.n-i*w)] {
			x[i*w+r] = -v
		}
	}
}

// filled returns a copy of x, with zeros for the rows that fill the last panel up.
func (p *panels[T]) filled(x []float64) []float64 {
	z := make([]float64, p.count()*p.width())
	copy(z, x)
	return z
}

// sheet is some vectors as panels: as many as a tile has columns in each, and of them
// one component after the other.
type sheet[T simd.Float] struct {
	n    int // components, as many as whole panels of the factor have rows
	data []T
}

func (s *sheet[T]) panel(i, width int) []T { return s.data[i*s.n*width:][:s.n*width] }

// newSheet copies vectors.
func (p *panels[T]) newSheet(x [][]float64) *sheet[T] {
	w := p.width()
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
	b := newBand(t, s.n)
	for k := 0; k < s.n && ctx.Err() == nil; k += band {
		b.from, b.to = k, min(k+band, s.n)
		b.left(part, 0, k)
		b.known(part)
		parallel((count+each-1)/each, count*w*(b.to-k)*b.to, func(task int) {
			first, last := task*each, min((task+1)*each, count)
			for c := 0; c < k && ctx.Err() == nil; c += band {
				for i := first; i < last; i++ {
					x := s.panel(i, w)
					b.each(b.Subtract, x[k*w:], x[c*w:], c, c+band)
				}
			}
			for i := first; i < last; i++ {
				b.divide(s.panel(i, w)[k*w:])
			}
		})
	}
	return context.Cause(ctx)
}

// columns is (LL')⁻¹ = UU', U = L⁻ᵀ, by columns: what panels has as a row is one here, and
// each panel goes from the diagonal down. It begins where the band of its first column
// does, so what stands above the diagonal is part of the inverse or 0.
type columns[T simd.Float] struct {
	width int
	panel [][]T
}

func (u *columns[T]) begin(i int) int { return i * u.width / band * band }

// part returns panel i from row c to end.
func (u *columns[T]) part(i, c, end int) []T {
	return u.panel[i][(c-u.begin(i))*u.width : (end-u.begin(i))*u.width]
}

// row sets dst to the first i+1 entries of row i.
func (u *columns[T]) row(dst []T, i int) {
	for j := 0; j*u.width <= i; j++ {
		copy(dst[j*u.width:], u.part(j, i, i+1)[:min(u.width, i+1-j*u.width)])
	}
}

// inverse returns the inverse of the matrix that was factored. The rows of U are those that
// the identity would have below the matrix in its factorisation; the product takes their
// place, from the first band of columns to the last.
func (p *panels[T]) inverse(ctx context.Context) (*columns[T], error) {
	w, each := p.width(), bandRows/p.width()
	end := p.count() * w
	u := &columns[T]{width: w, panel: make([][]T, p.count())}
	for i := range u.panel {
		u.panel[i] = make([]T, (end-u.begin(i))*w)
		for r := range w {
			u.part(i, i*w+r, end)[r] = 1
		}
	}
	b := newBand(p.tiles, end)
	// tasks calls do for some panels at a time of those that begin before the band ends.
	tasks := func(k, depth int, do func(first, last int)) {
		count := b.to / w
		parallel((count+each-1)/each, b.to*(b.to-k)*depth/2, func(task int) { do(task*each, min((task+1)*each, count)) })
	}
	for k := 0; k < end && ctx.Err() == nil; k += band {
		b.from, b.to = k, min(k+band, end)
		b.left(p.part, 0, k)
		b.known(p.part)
		tasks(k, b.to, func(first, last int) {
			for c := u.begin(first); c < k && ctx.Err() == nil; c += band {
				for i := first; i < last; i++ {
					b.each(b.Subtract, u.part(i, k, b.to), u.part(i, c, c+band), c, c+band)
				}
			}
			for i := first; i < last; i++ {
				b.divide(u.part(i, k, b.to))
			}
		})
	}
	for k := 0; k < end && ctx.Err() == nil; k += band {
		b.from, b.to = k, min(k+band, end)
		b.left(u.part, k, end)
		tasks(k, end-k, func(first, last int) {
			for i := first; i < last; i++ { // what is read first is what is written
				own := u.part(i, k, b.to)
				was := slices.Clone(own)
				clear(own)
				b.each(b.Add, own, was, k, b.to)
			}
			for c := b.to; c < end && ctx.Err() == nil; c += band {
				to := min(c+band, end)
				for i := first; i < last; i++ {
					b.each(b.Add, u.part(i, k, b.to), u.part(i, c, to), c, to)
				}
			}
		})
	}
	return u, context.Cause(ctx)
}
