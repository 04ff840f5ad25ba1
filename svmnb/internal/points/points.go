// Package points has points that may be dense or sparse, and makes kernel matrices,
// products, features and hashes from them. No other package converts sparse points to dense
// ones.
package points

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// Points are n points with d features, either dense (X) or sparse.
type Points struct {
	X      [][]float64
	Sparse *kernels.CSR    // nil if the points are not sparse
	Table  *datasets.Table // nil if the points are numbers already
}

// Of returns the points of a data set.
func Of(d *datasets.Dataset) Points { return Points{d.X, d.Sparse, d.Table} }

// Rows returns the points as rows. Sparse ones are written out if they have at most so many
// numbers, otherwise ok is false.
func (p Points) Rows(most int) (rows [][]float64, ok bool) {
	if p.Sparse == nil {
		return p.X, true
	}
	n := p.Sparse.N()
	if n > 0 && p.Sparse.D > most/n {
		return nil, false
	}
	for i := range n {
		rows = append(rows, p.Sparse.Point(nil, i))
	}
	return rows, true
}

// From returns a user's points; nil means no points.
func From(x datasets.Points) Points {
	if x == nil {
		return Points{}
	}
	p := Points{}
	p.X, p.Sparse = x.Unpack()
	switch x := x.(type) {
	case Points:
		return x
	case *datasets.Table:
		p.Table = x
	case *datasets.Dataset:
		if x != nil {
			p.Table = x.Table
		}
	}
	return p
}

// Dense returns a user's points, or an error if they are sparse.
func Dense(call string, x datasets.Points) ([][]float64, error) {
	p := From(x)
	if p.Sparse != nil {
		return nil, arguments.Wrong(call, math.NaN(), "the points are sparse, and this needs them written out; write them out by Dense() of the data set")
	}
	return p.X, nil
}

// Unpack implements [datasets.Points].
func (p Points) Unpack() ([][]float64, *kernels.CSR) { return p.X, p.Sparse }

// Rows returns dense points.
func Rows(x [][]float64) Points { return Points{X: x} }

// CSR returns sparse points.
func CSR(x datasets.CSR) Points { return Points{Sparse: &x} }

// N returns the number of points.
func (p Points) N() int {
	switch {
	case p.Sparse != nil:
		return p.Sparse.N()
	case p.Table != nil:
		return p.Table.N()
	}
	return len(p.X)
}

// Some returns the points of these rows.
func (p Points) Some(rows []int) Points {
	if p.Sparse != nil {
		c := p.Sparse.Points(rows...)
		return Points{Sparse: &c}
	}
	out := Points{X: make([][]float64, len(rows))}
	for j, i := range rows {
		out.X[j] = p.X[i] // not copied
	}
	return out
}

// Row returns point i if the points are dense, otherwise nil.
func (p Points) Row(i int) []float64 {
	if p.Sparse != nil {
		return nil
	}
	return p.X[i]
}

// Dense returns the points of these rows, written out if they are sparse.
func (p Points) Dense(rows []int) [][]float64 {
	if p.Sparse == nil {
		return p.Some(rows).X
	}
	out, flat := make([][]float64, len(rows)), make([]float64, len(rows)*p.Sparse.D)
	for k, i := range rows {
		out[k] = flat[k*p.Sparse.D : (k+1)*p.Sparse.D]
		p.Entry(i, func(j int, v float64) { out[k][j] = v })
	}
	return out
}

// Entry calls do for every feature of point i, or if the points are sparse for every stored
// feature.
func (p Points) Entry(i int, do func(j int, v float64)) {
	if s := p.Sparse; s != nil {
		for at := s.Start[i]; at < s.Start[i+1]; at++ {
			do(int(s.Index[at]), s.Value[at])
		}
		return
	}
	for j, v := range p.X[i] {
		do(j, v)
	}
}

// Dot returns w·x_i + b. The sum starts with b.
func (p Points) Dot(i int, w []float64, b float64) float64 {
	if s := p.Sparse; s != nil {
		for at := s.Start[i]; at < s.Start[i+1]; at++ {
			b += w[s.Index[at]] * s.Value[at]
		}
		return b
	}
	for j, v := range p.X[i] {
		b += w[j] * v
	}
	return b
}

// Add adds c x_i to w.
func (p Points) Add(w []float64, i int, c float64) {
	p.Entry(i, func(j int, v float64) { w[j] += c * v })
}

// Gram returns the kernel matrix of the points, with a cache of so many bytes.
func (p Points) Gram(k kernels.Kernel, bytes int64) (*kernels.Gram, error) {
	if p.Sparse != nil {
		return kernels.NewSparseGram(k, *p.Sparse, bytes)
	}
	return kernels.NewGram(k, p.X, bytes)
}

// Basis returns the points as a basis, for kernel values with other points.
func (p Points) Basis(k kernels.Kernel) *kernels.Basis {
	if p.Sparse != nil {
		return kernels.AgainstSparse(k, *p.Sparse)
	}
	return kernels.Against(k, p.X)
}

// Late returns a function that makes the Basis at its first call, since a fit may never
// need it.
func (p Points) Late(k kernels.Kernel) func() *kernels.Basis {
	return sync.OnceValue(func() *kernels.Basis { return p.Basis(k) })
}

// Features returns the points as the matrix of a linear machine, with a constant feature if
// bias is positive.
func (p Points) Features(bias float64) (solvers.Features, error) {
	s := p.Sparse
	if s == nil {
		return solvers.NewFeatures(p.X, bias)
	}
	return solvers.NewSparseFeatures(s.Start, s.Index, s.Value, s.D, bias)
}

// AddTimes adds Σ_j coef[k][j]·K(p_i, basis[j]) to dst[k][i].
func (p Points) AddTimes(dst [][]float64, b *kernels.Basis, coef [][]float64) {
	if p.Sparse != nil {
		b.TimesEachSparse(dst, *p.Sparse, coef)
		return
	}
	b.TimesEach(dst, p.X, coef)
}

// GammaScale is [kernels.GammaScale], for sparse points too.
func (p Points) GammaScale(d int) float64 {
	if p.Sparse == nil {
		return kernels.GammaScale(p.X)
	}
	count := float64(p.N()) * float64(d)
	mean, variance := 0.0, 0.0
	for _, v := range p.Sparse.Value {
		mean += v / count
	}
	for _, v := range p.Sparse.Value {
		variance += (v - mean) * (v - mean) / count
	}
	variance += mean * mean * (1 - float64(len(p.Sparse.Value))/count) // the part of the zeros
	if variance == 0 {
		return 1
	}
	return 1 / (float64(d) * variance)
}

// Radius2 is [kernels.Radius2], for sparse points too.
func (p Points) Radius2(k kernels.Kernel) float64 {
	if p.Sparse == nil {
		return kernels.Radius2(k, p.X)
	}
	g, err := p.Gram(k, kernels.NoCache)
	if err != nil {
		return math.NaN()
	}
	return slices.Max(g.Diag())
}

// Hash writes all points to h, with a mark at the end of each.
func (p Points) Hash(h io.Writer) {
	var b []byte
	for i := range p.N() {
		b = p.AppendRow(b[:0], i)
		if p.Sparse != nil {
			b = append(b, '\n')
		}
		h.Write(b)
	}
}

// AppendRow appends bytes that identify a point: only equal points have the same bytes.
func (p Points) AppendRow(b []byte, i int) []byte {
	if p.Table != nil && p.X == nil {
		for _, c := range p.Table.Columns {
			b = strconv.AppendQuote(b, c.Format(i))
		}
		return b
	}
	p.Entry(i, func(j int, v float64) {
		if p.Sparse != nil {
			b = binary.LittleEndian.AppendUint32(b, uint32(j))
		}
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	})
	return b
}

// FirstRow returns K(x_0, x_j) for all j.
func (p Points) FirstRow(k kernels.Kernel) []float64 {
	if p.Sparse != nil {
		return p.Basis(k).Row(nil, p.Sparse.Point(nil, 0))
	}
	row := make([]float64, len(p.X))
	for j, x := range p.X {
		row[j] = k.Eval(p.X[0], x)
	}
	return row
}

// NeedsDense returns the error of a picture or table that cannot show sparse points, or
// nil.
func NeedsDense(call string, d *datasets.Dataset) error {
	_, err := Dense(call, d)
	return err
}

// Misfit describes a point with a wrong number of values: features or, for a precomputed
// kernel or one of strings, entries or letters.
func Misfit(k kernels.Kernel, row []float64, want int, than string) string {
	got := len(row)
	switch {
	case k == nil:
	case strings.Contains(k.String(), "Precomputed(") && got == want-1 && got > 0 && row[0] != -1: // such points were not made by NewPoints
		return fmt.Sprintf("the row has %d values, and a point of Precomputed() is an index and the kernel values with all training points; make it by Precomputed().NewPoints", got)
	case strings.Contains(k.String(), "Precomputed("):
		return fmt.Sprintf("the row has %s, %s %s: a new row has the kernel value with each of them; make it a point by Precomputed().NewPoints", say.Several(got-1, "kernel value"), than, say.Several(want-1, "point"))
	case OfStrings(k.String()):
		return fmt.Sprintf("the string is %d wide, %s strings %d wide: make it by Strings(%d, …)", got, than, want, want)
	}
	return fmt.Sprintf("the point has %s, %s %d", say.Several(got, "feature"), than, want)
}

// OfStrings reports whether the kernel with this text compares strings.
func OfStrings(kernel string) bool {
	return strings.Contains(kernel, "GapWeighted(") || strings.Contains(kernel, "Spectrum(")
}

// AllFinite reports whether no number is NaN or infinite.
func AllFinite(v []float64) bool {
	for _, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}

// Name returns the name of a data set for the text of a description. It also works for the
// nil data set of a zero description.
func Name(data *datasets.Dataset) string {
	if data == nil {
		return "nil"
	}
	return data.Name
}

// LookReal reports whether a data set has so many targets without names that they are probably not
// classes.
func LookReal(data *datasets.Dataset) bool {
	counts := data.Counts()
	fraction := slices.ContainsFunc(counts, func(c datasets.Count) bool { return c.Y != math.Trunc(c.Y) })
	return data.Classes == nil && len(counts) > 10 && (fraction || len(counts) > data.N()/2)
}
