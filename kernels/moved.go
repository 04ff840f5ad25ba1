package kernels

import (
	"slices"

	"github.com/svmnb/svmnb/internal/rows"
	"github.com/svmnb/svmnb/internal/vec"
)

// farOut is the ratio of the diagonals of K and C from which C is worth its memory. With a
// smaller ratio, rounding costs at most three digits.
const farOut = 1000

// mostWritten is the largest count of numbers of sparse points, zeros included, for which
// Centred computes C.
const mostWritten = 1 << 30

// Centred returns the matrix C of the same kernel over the points less their means, and the n
// numbers h with
//
//	K_ij = C_ij + h_i + h_j,
//
// or nil if there is no such C or its values are not much smaller than those of K. A quadratic
// programme that fixes s'α has the same solutions with both, but C has smaller rounding
// errors. Features of 10⁴ ± 1 make kernel values of about 10⁸, and a solver needs their
// differences, which are about 1. Computed from K these have the rounding error of 10⁸,
// computed from C that of 1.
//
// C exists for [Linear] kernels, their sums and multiples, also with kernels of x − z or a
// constant. For sparse points, a feature that is 0 in most points is not moved. C is made
// once, and its kernel values are included in [Gram.Evaluations] of g.
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
	if err != nil { // there is no memory for C
		return nil, nil
	}
	return c, h
}

// offset returns the h(x) of K(x + μ, z + μ) = K(x, z) + h(x) + h(z). linear reports whether a
// part of k is linear, and ok whether such an h exists.
func offset(k Kernel, x, mean []float64) (h float64, linear, ok bool) {
	if k, ok := as[interface {
		offset(x, mean []float64) (h float64, linear, ok bool)
	}](k); ok {
		return k.offset(x, mean)
	}
	in, known := innerOf(k, len(x))
	return 0, false, known && in.distance
}

// middle returns the means of the features, or nil if all are 0. For sparse points they are
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
