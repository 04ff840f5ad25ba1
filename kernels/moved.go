package kernels

import (
	"slices"

	"github.com/svmnb/svmnb/internal/rows"
	"github.com/svmnb/svmnb/internal/vec"
)

// farOut is how many times as large the diagonal of K has to be as that of C for C to be
// worth its memory. Where it is less, rounding takes at most three digits.
const farOut = 1000

// mostWritten bounds the numbers of sparse points, zeros counted, that Centred looks at.
const mostWritten = 1 << 30

// Centred returns the matrix C of the same kernel over the points less their means,
// and the h with
//
//	K_ij = C_ij + h_i + h_j,
//
// or nil where there is no such C or its values are not much smaller than those of K.
// A programme whose s'α is given has the same solutions with both, but C rounds less.
// Features of 10⁴ ± 1 make kernel values of about 10⁸, and a solver needs their
// differences, of about 1: from K these have the rounding error of 10⁸, from C that of 1.
//
// There is a C for [Linear] kernels, their sums and multiples, also with kernels of
// x − z or a constant. Of sparse points a feature keeps its origin where most points do
// not have it. C is made once and counts among the [Gram.Evaluations] of g.
func (g *Gram) Centred() (c rows.Matrix, h []float64) {
	if !g.looked {
		g.looked = true
		g.centred, g.offset = g.centre()
	}
	if g.centred == nil {
		return nil, nil
	}
	return g.centred, g.offset
}

func (g *Gram) centre() (*Gram, []float64) {
	if _, linear, ok := offset(g.kernel, make([]float64, g.p.d), make([]float64, g.p.d)); !linear || !ok {
		return nil, nil
	}
	mean := g.p.middle()
	if mean == nil || g.p.sparse != nil && float64(g.n)*float64(g.p.d) > mostWritten {
		return nil, nil
	}
	lessMean := func(x []float64, i int) {
		copy(x, g.p.point(x, int(g.place[i])))
		for j, m := range mean {
			x[j] -= m
		}
	}
	h, most, largest := make([]float64, g.n), 0.0, slices.Max(g.diag)
	x := make([]float64, g.p.d)
	for i := range h {
		lessMean(x, i)
		h[i], _, _ = offset(g.kernel, x, mean)
		most = max(most, g.kernel.Eval(x, x))
	}
	if !(largest > farOut*most) {
		return nil, nil
	}
	var c *Gram
	var err error
	if g.p.sparse != nil {
		c, err = NewSparseGram(g.kernel, g.p.sparse.Less(mean), g.cacheBytes)
	} else {
		rows, all := make([][]float64, g.n), make([]float64, g.n*g.p.d)
		for i := range rows {
			rows[i] = all[i*g.p.d:][:g.p.d:g.p.d]
			lessMean(rows[i], i)
		}
		c, err = NewGram(g.kernel, rows, g.cacheBytes)
	}
	if err != nil { // no memory for it
		return nil, nil
	}
	return c, h
}

// offset returns the h(x) of K(x + μ, z + μ) = K(x, z) + h(x) + h(z), whether a part of k
// is linear, and whether there is such an h.
func offset(k Kernel, x, mean []float64) (h float64, linear, ok bool) {
	if k, ok := as[interface {
		offset(x, mean []float64) (h float64, linear, ok bool)
	}](k); ok {
		return k.offset(x, mean)
	}
	in, known := innerOf(k, len(x))
	return 0, false, known && in.distance
}

// middle returns the means of the features, or nil where all are 0; of sparse points
// those of csr.Rows.Means.
func (p *points) middle() (mean []float64) {
	if p.sparse != nil {
		mean = p.sparse.Means()
	} else {
		x := make([]float64, p.d)
		mean = vec.Means(p.n, p.d, func(j int) []float64 { return p.point(x, j) })
	}
	if !slices.ContainsFunc(mean, func(m float64) bool { return m != 0 }) {
		return nil
	}
	return mean
}
