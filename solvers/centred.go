package solvers

import (
	"slices"
	"sync"

	"github.com/svmnb/svmnb/internal/csr"
	"github.com/svmnb/svmnb/internal/rows"
	"github.com/svmnb/svmnb/internal/simd"
	"github.com/svmnb/svmnb/internal/vec"
)

// centring is a Matrix that can move the origin of the points to their mean. Its values and
// their rounding errors become smaller. Centred returns the matrix C of the moved points and
// the h with K_ij = C_ij + h_i + h_j, or nil if this would gain nothing.
type centring interface {
	Centred() (c rows.Matrix, h []float64)
}

// centred returns the same programme with the origin at the mean of the points, and its h; or
// p itself and nil. Every method works on the moved programme: if features lie far from the
// origin, the values of K are large and nearly equal, and rounding hides their differences.
//
// Where s'α = δ, the part of the objective that depends on h is
//
//	½ Σ_ij s_iα_i s_jα_j (h_i + h_j) = δ Σ s_iα_ih_i,
//
// so p_i grows by δ s_ih_i, and α, W and G stay the same. F and b grow by the same constant, H
// = Σ s_jα_jh_j.
func (p *Problem) centred() (*Problem, []float64) {
	of, twice := p.K, PointsOf(p.K)
	if twice != nil {
		of = twice
	}
	from, ok := of.(centring)
	if !ok || p.FixedBias {
		return p, nil
	}
	c, h := from.Centred()
	if c == nil {
		return p, nil
	}
	q := *p
	if q.K = Matrix(c); twice != nil {
		q.K, h = Double(c), slices.Concat(h, h)
	}
	if p.Delta != 0 {
		q.P = slices.Clone(p.P)
		for i, v := range h {
			q.P[i] += p.Delta * p.S[i] * v
		}
	}
	return &q, h
}

// moved returns H = Σ s_iα_ih_i, which is 0 for a nil h.
func (p *Problem) moved(h, alpha []float64) float64 {
	sum := 0.0
	for i, v := range h {
		if a := alpha[i]; a != 0 {
			sum += p.S[i] * a * v
		}
	}
	return sum
}

// farOut says when a centred copy is worth its memory: when the largest ‖x‖² is more than
// farOut times as large as the largest after centring.
const farOut = 1000

// Centred returns the features less their means, and the h that solvers need; see
// kernels.Gram.Centred.
func (f *DenseFeatures) Centred() (c rows.Matrix, h []float64) { return f.about.once(f.centre) }

// about computes the result of Centred once and keeps it.
type about struct {
	sync.Once
	c rows.Matrix
	h []float64
}

func (a *about) once(centre func() (rows.Matrix, []float64)) (rows.Matrix, []float64) {
	a.Do(func() { a.c, a.h = centre() })
	return a.c, a.h
}

func (f *DenseFeatures) centre() (rows.Matrix, []float64) {
	n := len(f.x)
	mean := vec.Means(n, f.d, func(i int) []float64 { return f.x[i] })
	less := func(x, row []float64) []float64 {
		for j, v := range row {
			x[j] = v - mean[j]
		}
		return x
	}
	// Most data gain nothing, so the copy is made only after it is known to be worth it.
	c := &DenseFeatures{d: f.d, diag: make([]float64, n)}
	free := make([]float64, f.d)
	for i, row := range f.x {
		x := less(free, row)
		c.diag[i] = simd.Dot(x, x)
	}
	if n == 0 || !(slices.Max(f.diag) > farOut*slices.Max(c.diag)) {
		return nil, nil
	}
	c.x = make([][]float64, n)
	all, h := make([]float64, n*f.d), make([]float64, n)
	for i, row := range f.x {
		c.x[i] = less(all[i*f.d:][:f.d:f.d], row)
		for j, x := range c.x[i] {
			h[i] += mean[j] * (x + mean[j]/2)
		}
	}
	return c, h
}

// Centred is as for [DenseFeatures], but moves only the columns that are non-zero in most
// rows. The other columns keep their zeros.
func (f *SparseFeatures) Centred() (c rows.Matrix, h []float64) { return f.about.once(f.centre) }

func (f *SparseFeatures) centre() (rows.Matrix, []float64) {
	x := csr.Rows{Start: f.Start, Index: f.Index, Value: f.Value, D: f.d}
	mean := x.Means()
	if f.ones || !slices.ContainsFunc(mean, func(m float64) bool { return m != 0 }) {
		return nil, nil
	}
	x = x.Less(mean)
	c := &SparseFeatures{Start: x.Start, Index: x.Index, Value: x.Value, d: f.d, bias: f.bias, diag: make([]float64, f.Dim())}
	h := make([]float64, f.Dim())
	for i := range h {
		c.diag[i] = f.bias * f.bias
		for p := x.Start[i]; p < x.Start[i+1]; p++ {
			v, m := x.Value[p], mean[x.Index[p]]
			c.diag[i] += v * v
			h[i] += m * (v + m/2)
		}
	}
	if !(slices.Max(f.diag) > farOut*slices.Max(c.diag)) {
		return nil, nil
	}
	return c, h
}
