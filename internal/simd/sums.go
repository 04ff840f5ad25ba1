package simd

import (
	"math"
	"unsafe"

	"github.com/svmnb/svmnb/internal/vec"
)

// Gaussians has weighted points x_r, the centres of a sum of Gaussian kernels.
//
// It computes exp(−γ‖x_r − z_j‖²) as 2^(t/steps), where steps is the size of a table, and t = h_r +
// h_j + Σ_k 2c·x_rk·z_jk, with c = γ·steps/ln 2 and h = −c‖x‖². The copy of the points has the
// factor 2c, so t costs no multiplications beyond those of a dot product.
//
// The loops add h_j last. If h_r + h_j were computed first, its rounding error would depend only on the last
// bits of the two numbers. Such errors do not average out in sums of many terms.
type Gaussians[T Float] struct {
	points  packed[T] // 2c·x_r
	heights []T       // h_r, and 0 for the rows that fill up the last panel, as in weight
	weight  []T       // in units of scale
	scale   float64   // a power of 2
	c       float64
	t       *table[T]
}

// HasBoth reports whether the active level has loops for Set and AddBoth of points with so many
// features.
func HasBoth[T Float](features int) bool {
	return loops[T]().gaussianBoth != nil && 0 < features && features <= depthBlock
}

// Set takes the points in the rows of x, their squared norms and their weights, and γ. All numbers
// must be finite. It copies them. It reports false if the active level has no loop for them, or if
// points have more than 192 features; sums of kernel rows by [AddRows] are as fast then.
func (g *Gaussians[T]) Set(x Matrix[T], norm, weight []float64, gamma float64) bool {
	x.check("points of a sum")
	t := loops[T]()
	if t.gaussianSums == nil || x.Rows == 0 || x.Cols == 0 || x.Cols > depthBlock {
		return false
	}
	const register = 64 // bytes; the table fills two
	g.t, g.c = t, gamma*math.Log2E*float64(2*register/unsafe.Sizeof(*new(T)))
	g.points = packed[T]{width: t.rows, rows: x.Rows, depth: x.Cols, data: g.points.data}
	if n := g.points.size(); cap(g.points.data) < n {
		g.points.data = make([]T, n)
	} else {
		g.points.data = g.points.data[:n]
	}
	panels := g.points.panels()
	g.points.fill(t, x, 0, panels)
	for k, v := range g.points.data {
		g.points.data[k] = T(2 * g.c * float64(v))
	}
	// With this scale no weight is too large for T, and those that are too small do not matter.
	_, exponent := math.Frexp(vec.MaxAbs(weight[:x.Rows]))
	g.scale = math.Ldexp(1, exponent-1)
	g.heights, g.weight = g.Heights(g.heights[:0], norm[:x.Rows]), g.weight[:0]
	for _, w := range weight[:x.Rows] {
		g.weight = append(g.weight, T(w/g.scale))
	}
	for len(g.weight) < panels*t.rows {
		g.heights, g.weight = append(g.heights, 0), append(g.weight, 0)
	}
	return true
}

// Heights appends to h what AddTo needs of the squared norms of columns. It depends only on γ.
func (g *Gaussians[T]) Heights(h []T, norm []float64) []T {
	for _, v := range norm {
		h = append(h, T(-g.c*v))
	}
	return h
}

// AddTo adds Σ_r weight[r]·exp(−γ‖x_r − z_j‖²) to sums[j] for the columns z_j of b, whose Heights
// are heights. Several goroutines may call it at a time.
//
// With d features, the rounding unit u of T and S = ‖x‖² + ‖z‖², the error of a term is, to first
// order, at most (15u + (d + 8)u·γS) of it, and 2⁻¹²⁵ of the largest weight, or 2⁻¹⁰²¹ in float64:
// eight terms at a time are summed in T, and then in float64.
func (g *Gaussians[T]) AddTo(sums []float64, b *Panels[T], heights []T) {
	g.each(sums, b, heights, nil, func(b, heights *T, sums, _ *float64) {
		g.t.gaussianSums(g.points.depth, unsafe.SliceData(g.points.data), b, g.points.panels(), unsafe.SliceData(g.heights), heights, unsafe.SliceData(g.weight), g.scale, sums)
	})
}

// Both reports whether there is a loop for AddBoth.
func (g *Gaussians[T]) Both() bool { return g.t.gaussianBoth != nil }

// AddBoth does what AddTo does. It also adds Σ_j other[j]·exp(−γ‖x_r − z_j‖²) to rows[r] for all
// points x_r, from the same values.
func (g *Gaussians[T]) AddBoth(sums, rows []float64, b *Panels[T], heights []T, other []float64) {
	const lanes = 8
	panels := g.points.panels()
	rows = rows[:g.points.rows]
	buffer := loops[float64]().borrow(panels * g.t.rows * lanes)
	defer loops[float64]().give(buffer)
	parts := *buffer
	clear(parts)
	g.each(sums, b, heights, other, func(b, heights *T, sums, other *float64) {
		g.t.gaussianBoth(g.points.depth, unsafe.SliceData(g.points.data), b, panels, unsafe.SliceData(g.heights), heights, unsafe.SliceData(g.weight), g.scale, sums, other, &parts[0])
	})
	for r := range rows {
		p := (*[lanes]float64)(parts[r*lanes:])
		rows[r] += ((p[0] + p[1]) + (p[2] + p[3])) + ((p[4] + p[5]) + (p[6] + p[7]))
	}
}

// HasValues reports whether there is a loop for Values.
func (g *Gaussians[T]) HasValues() bool { return g.t.gaussianValues != nil }

// Values sets entry (r, j) of c to exp(−γ‖x_r − z_j‖²) for the columns z_j of b. The weights do not
// matter. The value of (x, z) may differ from that of (z, x) by rounding.
func (g *Gaussians[T]) Values(c Matrix[T], b *Panels[T], heights []T) {
	c.check("kernel values")
	depth, columns := b.Dims()
	heights = heights[:columns]
	if depth != g.points.depth || b.t != g.t || c.transposed || c.Rows != g.points.rows || c.Cols != columns {
		panic("simd: the points, the panels and the values differ in their features, levels or numbers")
	}
	height, width := g.t.rows, g.t.columns
	whole := c.Rows / height
	set := func(from, count, at int, heights, c *T, stride int) {
		g.t.gaussianValues(depth, &g.points.data[from*height*depth], unsafe.SliceData(b.at(0, depth, at/width)), count, &g.heights[from*height], heights, c, stride)
	}
	var edge struct {
		heights [48]T
		c       [8 * 48]T
	}
	for at := 0; at < columns; at += width {
		n, from, h := min(width, columns-at), 0, &heights[at]
		if n == width && whole > 0 {
			set(0, whole, at, h, &c.Data[at], c.Stride)
			from = whole
		} else if n < width {
			copy(edge.heights[:], heights[at:])
			h = &edge.heights[0]
		}
		for ; from*height < c.Rows; from++ {
			set(from, 1, at, h, &edge.c[0], width)
			for r := from * height; r < min((from+1)*height, c.Rows); r++ {
				copy(c.Data[r*c.Stride+at:][:n], edge.c[(r-from*height)*width:])
			}
		}
	}
}

// each calls add for each panel of b, with what belongs to its columns. other may be nil.
func (g *Gaussians[T]) each(sums []float64, b *Panels[T], heights []T, other []float64, add func(b, heights *T, sums, other *float64)) {
	depth, columns := b.Dims()
	sums, heights = sums[:columns], heights[:columns]
	if other == nil {
		other = sums // which is not used then
	}
	other = other[:columns]
	if depth != g.points.depth || b.t != g.t {
		panic("simd: the points of a sum and the panels differ in their features or levels")
	}
	width, at := g.t.columns, 0
	for ; at+width <= columns; at += width {
		add(unsafe.SliceData(b.at(0, depth, at/width)), &heights[at], &sums[at], &other[at])
	}
	if at < columns {
		var last struct {
			heights     [48]T
			sums, other [48]float64
		}
		copy(last.heights[:], heights[at:])
		copy(last.sums[:], sums[at:])
		copy(last.other[:], other[at:])
		add(unsafe.SliceData(b.at(0, depth, at/width)), &last.heights[0], &last.sums[0], &last.other[0])
		copy(sums[at:], last.sums[:])
	}
}
