package svmnb

import (
	"encoding/binary"
	"io"
	"math"
	"slices"
	"sync"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
)

// points are n points of d features, by compressed rows where these are given. All
// that becomes of them does so here: nothing else writes sparse points out.
type points struct {
	x      [][]float64
	sparse *kernels.CSR // or nil
}

func pointsOf(d *datasets.Dataset) points { return points{d.X, d.Sparse} }

// written are points that are written out.
func written(x [][]float64) points { return points{x: x} }

func compressed(x datasets.CSR) points { return points{sparse: &x} }

func (p points) n() int {
	if p.sparse != nil {
		return p.sparse.N()
	}
	return len(p.x)
}

// some returns the points of these rows.
func (p points) some(rows []int) points {
	if p.sparse != nil {
		c := p.sparse.Points(rows...)
		return points{sparse: &c}
	}
	out := points{x: make([][]float64, len(rows))}
	for j, i := range rows {
		out.x[j] = p.x[i] // shared
	}
	return out
}

// row returns point i, nil for a sparse one.
func (p points) row(i int) []float64 {
	if p.sparse != nil {
		return nil
	}
	return p.x[i]
}

// entry calls do for every feature of point i that is not left out.
func (p points) entry(i int, do func(j int, v float64)) {
	if s := p.sparse; s != nil {
		for at := s.Start[i]; at < s.Start[i+1]; at++ {
			do(int(s.Index[at]), s.Value[at])
		}
		return
	}
	for j, v := range p.x[i] {
		do(j, v)
	}
}

// dot returns w·x_i + b, summed from b on.
func (p points) dot(i int, w []float64, b float64) float64 {
	if s := p.sparse; s != nil {
		for at := s.Start[i]; at < s.Start[i+1]; at++ {
			b += w[s.Index[at]] * s.Value[at]
		}
		return b
	}
	for j, v := range p.x[i] {
		b += w[j] * v
	}
	return b
}

// add adds c x_i to w.
func (p points) add(w []float64, i int, c float64) {
	p.entry(i, func(j int, v float64) { w[j] += c * v })
}

func (p points) gram(k kernels.Kernel, bytes int64) (*kernels.Gram, error) {
	if p.sparse != nil {
		return kernels.NewSparseGram(k, *p.sparse, bytes)
	}
	return kernels.NewGram(k, p.x, bytes)
}

func (p points) basis(k kernels.Kernel) *kernels.Basis {
	if p.sparse != nil {
		return kernels.AgainstSparse(k, *p.sparse)
	}
	return kernels.Against(k, p.x)
}

// late is basis when it is first asked for: a fit of many points may never be.
func (p points) late(k kernels.Kernel) func() *kernels.Basis {
	return sync.OnceValue(func() *kernels.Basis { return p.basis(k) })
}

// features are those of a linear machine, with a constant behind them where bias is
// positive.
func (p points) features(bias float64) (solvers.Features, error) {
	s := p.sparse
	if s == nil {
		return solvers.NewFeatures(p.x, bias)
	}
	return solvers.NewSparseFeatures(s.Start, s.Index, s.Value, s.D, bias)
}

// addTimes adds Σ_j coef[k][j]·K(p_i, basis[j]) to dst[k][i].
func (p points) addTimes(dst [][]float64, b *kernels.Basis, coef [][]float64) {
	if p.sparse != nil {
		b.TimesEachSparse(dst, *p.sparse, coef)
		return
	}
	b.TimesEach(dst, p.x, coef)
}

// gammaScale is [kernels.GammaScale].
func (p points) gammaScale(d int) float64 {
	if p.sparse == nil {
		return kernels.GammaScale(p.x)
	}
	count := float64(p.n()) * float64(d)
	mean, variance := 0.0, 0.0
	for _, v := range p.sparse.Value {
		mean += v / count
	}
	for _, v := range p.sparse.Value {
		variance += (v - mean) * (v - mean) / count
	}
	variance += mean * mean * (1 - float64(len(p.sparse.Value))/count) // of what is 0
	if variance == 0 {
		return 1
	}
	return 1 / (float64(d) * variance)
}

// radius2 is [kernels.Radius2].
func (p points) radius2(k kernels.Kernel) float64 {
	if p.sparse == nil {
		return kernels.Radius2(k, p.x)
	}
	g, err := p.gram(k, kernels.NoCache)
	if err != nil {
		return math.NaN()
	}
	return slices.Max(g.Diag())
}

// hash writes all points, and the end of each, to h.
func (p points) hash(h io.Writer) {
	var b []byte
	for i := range p.n() {
		b = b[:0]
		p.entry(i, func(j int, v float64) {
			if p.sparse != nil {
				b = binary.LittleEndian.AppendUint32(b, uint32(j))
			}
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		})
		if p.sparse != nil {
			b = append(b, '\n')
		}
		h.Write(b)
	}
}

// firstRow returns K(x_0, x_j) for all j.
func (p points) firstRow(k kernels.Kernel) []float64 {
	if p.sparse != nil {
		return p.basis(k).Row(nil, p.sparse.Point(nil, 0))
	}
	row := make([]float64, len(p.x))
	for j, x := range p.x {
		row[j] = k.Eval(p.x[0], x)
	}
	return row
}

// needsDense is the error of a picture or table of points that are written out.
func needsDense(call string, d *datasets.Dataset) error {
	if d.Sparse == nil {
		return nil
	}
	return arguments.Wrong(call, math.NaN(), "the points are sparse, and this needs them written out; write them out by Dense() of the data set")
}
