package kernels

import (
	"slices"

	"github.com/svmnb/svmnb/internal/rows"
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
	h, most, largest := make([]float64, g.n), 0.0, slices.Max(g.diag)
	x := make([]float64, g.p.d)
	for i := range h {
		copy(x, g.p.point(x, int(g.place[i])))
		for j, m := range mean {
			x[j] -= m
		}
		h[i], _, _ = offset(g.kernel, x, mean)
		most = max(most, g.kernel.Eval(x, x))
	}
	if !(largest > farOut*most) {
		return nil, nil
	}
	var c *Gram
	var err error
	if g.p.sparse != nil {
		c, err = NewSparseGram(g.kernel, g.p.lessSparse(g.place, mean), g.cacheBytes)
	} else {
		rows, all := make([][]float64, g.n), make([]float64, g.n*g.p.d)
		for i := range rows {
			rows[i] = all[i*g.p.d:][:g.p.d:g.p.d]
			copy(rows[i], g.p.point(rows[i], int(g.place[i])))
			for j, m := range mean {
				rows[i][j] -= m
			}
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

// middle returns the means of the features, or nil where all are 0. Of sparse points, a
// feature that most of them do not have counts as 0, and the mean of others is over the
// points that have it.
func (p *points) middle() []float64 {
	mean := make([]float64, p.d)
	n := float64(p.n)
	if p.sparse == nil {
		x := make([]float64, p.d)
		for range 2 { // the second time for what rounding has left of large ones
			more := make([]float64, p.d)
			for j := range p.n {
				for k, v := range p.point(x, j) {
					more[k] += (v - mean[k]) / n
				}
			}
			for k, v := range more {
				mean[k] += v
			}
		}
	} else {
		count := make([]int, p.d)
		for _, c := range p.sparse.Index {
			count[c]++
		}
		for k, c := range p.sparse.Index {
			if 2*count[c] > p.n {
				mean[c] += p.sparse.Value[k] / float64(count[c])
			}
		}
	}
	if !slices.ContainsFunc(mean, func(m float64) bool { return m != 0 }) {
		return nil
	}
	return mean
}

// lessSparse returns the points less the mean, in the order of place. Every point then has
// the features whose mean is not 0.
func (p *points) lessSparse(place []int32, mean []float64) CSR {
	out := CSR{D: p.d, Start: make([]int, 1, p.n+1)}
	var moving []int32
	for j, m := range mean {
		if m != 0 {
			moving = append(moving, int32(j))
		}
	}
	put := func(j int32, v float64) {
		out.Index, out.Value = append(out.Index, j), append(out.Value, v)
	}
	for _, at := range place {
		rest := moving
		index, value := p.entries(int(at))
		for k, j := range index {
			for ; len(rest) > 0 && rest[0] < j; rest = rest[1:] {
				put(rest[0], -mean[rest[0]])
			}
			if len(rest) > 0 && rest[0] == j {
				rest = rest[1:]
			}
			put(j, value[k]-mean[j])
		}
		for _, j := range rest {
			put(j, -mean[j])
		}
		out.Start = append(out.Start, len(out.Index))
	}
	return out
}
