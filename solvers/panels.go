package solvers

import (
	"context"
	"math"

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
}

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
	b := newBand[T](p.tiles, end)
	for k := 0; k < end; k += band {
		b.from, b.to = k, min(k+band, end)
		b.left(p.part, 0, k)
		below, each := b.to/w, bandRows/w
		factored := make(chan struct{})
		parallel(1+(p.count()-below+each-1)/each, (end-k)*(b.to-k)*b.to, func(task int) {
			if task == 0 {
				defer close(factored)
				for i := k / w; i < below; i++ {
					b.add(p.column(i, k), p.column(i, 0), 0, k)
				}
				pivot = b.factor(p)
				return
			}
			i := below + (task-1)*each
			last := min(i+each, p.count())
			for c := 0; c < k && ctx.Err() == nil; c += band {
				for i := i; i < last; i++ {
					b.add(p.column(i, k), p.column(i, c), c, c+band)
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
	from, to int

	// What is on the left of products: rows from to to of a factor times sign, as many
	// at a time as a tile has, one column of them after the other. Of the columns from
	// first on, so many at a time as a band is wide; of those in the band up to the
	// triangles on the diagonal; and these, as Tiles.Divide wants them.
	rows, inner, heads []T
	sign               T
	first              int
}

// newBand is for panels of n columns.
func newBand[T simd.Float](t simd.Tiles[T], n int) *panelBand[T] {
	b := &panelBand[T]{Tiles: t, sign: -1}
	b.rows, b.inner, b.heads = make([]T, min(band, n)*n), make([]T, band*band), make([]T, band*t.Rows)
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
		for j, v := range src[:b.Rows] {
			dst[j] = b.sign * v
		}
		if dst = dst[b.Rows:]; len(dst) > 0 {
			src = src[b.Columns:]
		}
	}
}

// add adds to so many columns of a panel as dst has, at most those of the band, the
// products of rows with src, which is the panel from column c on, up to column end.
func (b *panelBand[T]) add(dst, src []T, c, end int) {
	w, high := b.Columns, b.to-b.from
	for ; c < end; c += band {
		deep := min(band, end-c)
		left := b.rows[(c-b.first)*high:]
		for s := 0; s < min(high, len(dst)/w); s += b.Rows {
			b.Add(dst[s*w:], left[s*deep:][:b.Rows*deep], src)
		}
		src = src[deep*w:]
	}
}

// divide makes the columns of the band in a panel, which knows what is left of them.
func (b *panelBand[T]) divide(x []T) {
	for s := 0; s < b.to-b.from; s += b.Rows {
		b.Add(x[s*b.Columns:], b.group(s), x)
		b.Divide(b.heads[s*b.Rows:], x[s*b.Columns:])
	}
}

// group is the rows of inner from s on.
func (b *panelBand[T]) group(s int) []T { return b.inner[s*band:][:s*b.Rows] }

// factor makes the triangle on the diagonal, with inner and heads. It returns the end of
// the band or the row whose pivot is not positive.
func (b *panelBand[T]) factor(p *panels[T]) int {
	w := b.Columns
	for c := b.from; c < b.to; c += b.Rows {
		own, s := c/w, c-b.from
		b.pack(b.group(s), p.column(own, b.from)[c%w:])
		for i := own; i < b.to/w; i++ {
			b.Add(p.column(i, c), b.group(s), p.column(i, b.from))
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
	for k := 0; k < p.n; k += band {
		e := min(k+band, p.n)
		first, last := k/w, (e+w-1)/w
		parallel(last-first, (e-k)*k, func(task int) {
			i := first + task
			p.along(x[i*w:min((i+1)*w, p.n)], i, x[:k], 0)
		})
		for i := first; i < last; i++ {
			y, square := x[i*w:min((i+1)*w, p.n)], p.column(i, i*w)
			p.along(y, i, x[k:i*w], k)
			for c := range y {
				y[c] /= float64(square[c*w+c])
				simd.Axpy(-y[c], square[c*w+c+1:][:len(y)-c-1], y[c+1:])
			}
		}
	}
}

// along takes from y, at the rows of panel i, its columns from c on times x.
func (p *panels[T]) along(y []float64, i int, x []float64, c int) {
	const some = 64
	var coef [some]float64
	var columns [some][]T
	src := p.column(i, c)
	for len(x) > 0 {
		m := min(some, len(x))
		for k, v := range x[:m] {
			coef[k], columns[k] = -v, src[:len(y)]
			src = src[p.width():]
		}
		simd.AddRows(y, coef[:m], columns[:m], 0)
		x = x[m:]
	}
}

// backward sets x to L⁻ᵀx, a band at a time.
func (p *panels[T]) backward(x []float64) {
	w := p.width()
	// across takes from x, from column c to end, what the rows of panel i contribute.
	across := func(i, c, end int) {
		y, src := x[i*w:min((i+1)*w, p.n)], p.column(i, c)
		for ; c < end; c++ {
			x[c] -= simd.Dot(src[:len(y)], y)
			src = src[w:]
		}
	}
	for k := (p.n - 1) / band * band; k >= 0; k -= band {
		e := min(k+band, p.n)
		first, last := k/w, (e+w-1)/w
		for i := last - 1; i >= first; i-- {
			y, square := x[i*w:min((i+1)*w, p.n)], p.column(i, i*w)
			for c := len(y) - 1; c >= 0; c-- {
				y[c] = (y[c] - simd.Dot(square[c*w+c+1:][:len(y)-c-1], y[c+1:])) / float64(square[c*w+c])
			}
			across(i, k, i*w)
		}
		const some = 512 // columns
		parallel((k+some-1)/some, (e-k)*k, func(task int) {
			for i := first; i < last; i++ {
				across(i, task*some, min((task+1)*some, k))
			}
		})
	}
}

// multiply sets x to Lx.
func (p *panels[T]) multiply(x []float64) {
	w := p.width()
	for i := p.count() - 1; i >= 0; i-- {
		y := make([]float64, min((i+1)*w, p.n)-i*w)
		p.along(y, i, x[:i*w+len(y)], 0)
		for r, v := range y {
			x[i*w+r] = -v
		}
	}
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
					b.add(x[k*w:], x[c*w:], c, c+band)
				}
			}
			for i := first; i < last; i++ {
				b.divide(s.panel(i, w)[k*w:])
			}
		})
	}
	return context.Cause(ctx)
}

// inverse returns the lower triangle of (LL')⁻¹ = UU', U = L⁻ᵀ, whose rows are those that
// the identity would have below the matrix in its factorisation.
func (p *panels[T]) inverse(ctx context.Context) (*panels[T], error) {
	w, each := p.width(), bandRows/p.width()
	end := p.count() * w
	u := make([][]T, p.count()) // from the first column of the band on that the row is in
	begin := func(i int) int { return i * w / band * band }
	for i := range u {
		u[i] = make([]T, (end-begin(i))*w)
		for r := range w {
			u[i][(i*w+r-begin(i))*w+r] = 1
		}
	}
	part := func(i, c, to int) []T { return u[i][(c-begin(i))*w : (to-begin(i))*w] }
	b := newBand(p.tiles, end)
	for k := 0; k < end && ctx.Err() == nil; k += band {
		b.from, b.to = k, min(k+band, end)
		b.left(p.part, 0, k)
		b.known(p.part)
		parallel((b.to/w+each-1)/each, b.to*(b.to-k)*b.to/2, func(task int) {
			first, last := task*each, min((task+1)*each, b.to/w)
			for c := begin(first); c < k && ctx.Err() == nil; c += band {
				for i := first; i < last; i++ {
					b.add(part(i, k, b.to), part(i, c, c+band), c, c+band)
				}
			}
			for i := first; i < last; i++ {
				b.divide(part(i, k, b.to))
			}
		})
	}
	out := newPanels[T](p.n)
	b.sign = 1
	for k := 0; k < end && ctx.Err() == nil; k += band {
		b.from, b.to = k, min(k+band, end)
		b.left(part, k, end)
		above := k / w
		parallel((p.count()-above+each-1)/each, (end-k)*(b.to-k)*(end-k)/2, func(task int) {
			first := above + task*each
			last := min(first+each, p.count())
			for c := begin(first); c < end && ctx.Err() == nil; c += band {
				to := min(c+band, end)
				for i := first; i < last; i++ {
					b.add(out.column(i, k), part(i, c, to), c, to)
				}
			}
		})
	}
	return out, context.Cause(ctx)
}
