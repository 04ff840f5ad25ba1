package simd

import "unsafe"

// Gaussians has weighted points x_r, the centres of a sum of Gaussian kernels.
type Gaussians[T Float] struct {
	points packed[T]
	norms  []T       // ‖x_r‖², and 0 for the rows that fill up the last panel, as in weights
	weight []float64 // of each point
	gamma  T
	t      *table[T]
}

// Set takes the points in the rows of x, their squared norms and their weights, and γ. It copies
// them. It reports false if the active level has no loop for them, or if points have more than
// 192 features; sums of kernel rows by [AddRows] are as fast then.
func (g *Gaussians[T]) Set(x Matrix[T], norm, weight []float64, gamma T) bool {
	x.check("points of a sum")
	t := loops[T]()
	if t.gaussianSums == nil || x.Rows == 0 || x.Cols == 0 || x.Cols > depthBlock {
		return false
	}
	g.t, g.gamma = t, gamma
	g.points = packed[T]{width: t.rows, rows: x.Rows, depth: x.Cols, data: g.points.data}
	if n := g.points.size(); cap(g.points.data) < n {
		g.points.data = make([]T, n)
	} else {
		g.points.data = g.points.data[:n]
	}
	panels := g.points.panels()
	g.points.fill(t, x, 0, panels)
	g.norms, g.weight = g.norms[:0], append(g.weight[:0], weight[:x.Rows]...)
	for _, v := range norm[:x.Rows] {
		g.norms = append(g.norms, T(v))
	}
	for len(g.norms) < panels*t.rows {
		g.norms, g.weight = append(g.norms, 0), append(g.weight, 0)
	}
	return true
}

// AddTo adds Σ_r weight[r]·exp(−γ‖x_r − z_j‖²) to sums[j] for the columns z_j of b, whose squared
// norms are norms. The values are those of [Gaussian], and the sums those of [AddRows], bit for
// bit. Several goroutines may call AddTo at a time.
func (g *Gaussians[T]) AddTo(sums []float64, b *Panels[T], norms []T) {
	depth, columns := b.Dims()
	sums, norms = sums[:columns], norms[:columns]
	if depth != g.points.depth || b.t != g.t {
		panic("simd: the points of a sum and the panels differ in their features or levels")
	}
	width := g.t.columns
	add := func(p int, norms *T, sums *float64) {
		g.t.gaussianSums(depth, unsafe.SliceData(g.points.data), unsafe.SliceData(b.at(0, depth, p)), g.points.panels(), unsafe.SliceData(g.norms), norms, g.gamma, unsafe.SliceData(g.weight), sums)
	}
	at := 0
	for ; at+width <= columns; at += width {
		add(at/width, &norms[at], &sums[at])
	}
	if at < columns {
		var lastNorms [48]T
		var lastSums [48]float64
		copy(lastNorms[:], norms[at:])
		copy(lastSums[:], sums[at:])
		add(at/width, &lastNorms[0], &lastSums[0])
		copy(sums[at:], lastSums[:])
	}
}
