package solvers

import (
	"fmt"
	"math"

	"github.com/svmnb/svmnb/internal/simd"
)

// Features is a Matrix that knows its factor: K = X X', where X has n rows and d columns. A
// method can then keep w = Σ s_i α_i x_i, and a step costs O(non-zeros of x_i), while a kernel
// row costs O(n d). Newton calls Dot and Add on several goroutines.
type Features interface {
	Matrix
	Columns() int                      // d
	Dot(i int, w []float64) float64    // x_i · w
	Add(w []float64, i int, a float64) // w += a x_i
}

// DenseFeatures is the matrix of the linear kernel on n dense rows of d numbers each.
type DenseFeatures struct {
	x     [][]float64
	d     int
	diag  []float64
	row   [2][]float64
	odd   int
	about about
}

// NewDenseFeatures keeps x, n rows of equal length d, without copying it unless there is a
// bias. A positive bias appends this constant to every row, as ST and LIBLINEAR do. The weight
// of this column times bias is then the b of the classifier. The error is a *ProblemError that
// names the row of the wrong length or the value that is not finite.
func NewDenseFeatures(x [][]float64, bias float64) (*DenseFeatures, error) {
	f := &DenseFeatures{x: x, diag: make([]float64, len(x))}
	if len(x) > 0 {
		f.d = len(x[0])
	}
	for i, row := range x {
		if len(row) != f.d {
			return nil, &ProblemError{"X", i, float64(len(row)), fmt.Sprintf("the row has %d features, the first has %d", len(row), f.d)}
		}
		for j, v := range row {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, &ProblemError{"X", i, v, fmt.Sprintf("column %d is not a finite number", j)}
			}
		}
	}
	if bias > 0 {
		f.d++
		f.x = make([][]float64, len(x))
		flat := make([]float64, len(x)*f.d) // one slice, because contiguous rows are read faster
		for i, row := range x {
			f.x[i] = flat[i*f.d : (i+1)*f.d : (i+1)*f.d]
			f.x[i][copy(f.x[i], row)] = bias
		}
	}
	for i := range f.x {
		f.diag[i] = f.Dot(i, f.x[i])
	}
	return f, nil
}

// NewFeatures returns [SparseFeatures], a compressed copy of x, if at most an eighth of the
// numbers are non-zero, and [NewDenseFeatures] otherwise. Below about this share, multiplying
// only the non-zero numbers is faster than multiplying all of them in vector registers.
func NewFeatures(x [][]float64, bias float64) (Features, error) {
	if start, index, value := compress(x); start != nil {
		if f, err := NewSparseFeatures(start, index, value, len(x[0]), bias); err == nil {
			return f, nil
		}
	}
	f, err := NewDenseFeatures(x, bias) // its error names the row and column
	if err != nil {
		return nil, err
	}
	return f, nil
}

// compress returns x as compressed rows, or nil if rows differ in length or are not sparse.
func compress(x [][]float64) (start []int, index []int32, value []float64) {
	if len(x) == 0 || len(x[0]) < 8 || len(x[0]) >= math.MaxInt32 {
		return nil, nil, nil
	}
	n, d := len(x), len(x[0])
	if !maySparse(x) {
		return nil, nil, nil
	}
	left := n * (d / 8)
	start, index, value = make([]int, n+1), make([]int32, left+d), make([]float64, left+d)
	k := 0
	for i, row := range x {
		if len(row) != d {
			return nil, nil, nil
		}
		// Each number is written, and the next one overwrites it if it is 0. This avoids a
		// branch that the processor would often predict wrongly.
		to, at := index[k:k+d], value[k:k+d]
		m := 0
		for j, v := range row {
			to[m], at[m] = int32(j), v
			if v != 0 {
				m++
			}
		}
		if left -= m; left < 0 {
			return nil, nil, nil
		}
		k += m
		start[i+1] = k
	}
	return start, index[:k:k], value[:k:k]
}

// maySparse looks at some rows, so that dense points need no memory for compressed rows.
func maySparse(x [][]float64) bool {
	const some = 64
	filled, seen := 0, 0
	for k := range min(some, len(x)) {
		row := x[k*len(x)/min(some, len(x))]
		seen += len(row)
		for _, v := range row {
			if v != 0 {
				filled++
			}
		}
	}
	return filled <= seen/2
}

func (f *DenseFeatures) Dim() int        { return len(f.x) }
func (f *DenseFeatures) Diag() []float64 { return f.diag }
func (f *DenseFeatures) Columns() int    { return f.d }

func (f *DenseFeatures) Dot(i int, w []float64) float64 { return simd.Dot(f.x[i], w) }

func (f *DenseFeatures) Add(w []float64, i int, a float64) { simd.Axpy(a, f.x[i], w) }

func (f *DenseFeatures) Row(i int) []float64 {
	r := nextRow(&f.row, &f.odd, len(f.x))
	for j := range f.x {
		r[j] = f.Dot(j, f.x[i])
	}
	return r
}

// SparseFeatures is the matrix of the linear kernel on n compressed rows. Row i has its
// non-zero columns in Index[Start[i]:Start[i+1]], increasing and counted from 0, and their
// numbers in Value. A bias is the same in all rows and not stored in these slices.
type SparseFeatures struct {
	Start []int
	Index []int32
	Value []float64

	d    int     // number of columns, including that of the bias
	bias float64 // the constant last column of every row; 0 means none
	ones bool    // all values are 1, as for one-hot categories
	diag []float64
	w    []float64 // scratch: one row made dense
	row  [2][]float64
	odd  int

	about about
}

// NewSparseFeatures keeps its arguments without copying them; d is the number of columns
// without the bias. A positive bias adds a constant column, as in [NewDenseFeatures]. The
// error is a *ProblemError that names the wrong argument.
func NewSparseFeatures(start []int, index []int32, value []float64, d int, bias float64) (*SparseFeatures, error) {
	bad := func(field string, i int, v float64, msg string) error { return &ProblemError{field, i, v, msg} }
	if len(start) == 0 || start[0] != 0 || start[len(start)-1] != len(index) || len(index) != len(value) {
		return nil, bad("Start", -1, 0, fmt.Sprintf("must begin at 0 and end at the number of entries: %d indices, %d values", len(index), len(value)))
	}
	f := &SparseFeatures{Start: start, Index: index, Value: value, d: d, ones: true, diag: make([]float64, len(start)-1)}
	if bias > 0 {
		f.d, f.bias = d+1, bias
	}
	for i := range f.diag {
		if start[i+1] < start[i] || start[i+1] > len(index) {
			return nil, bad("Start", i+1, float64(start[i+1]), "must not decrease")
		}
		last, sum, ones := -1, f.bias*f.bias, f.ones
		values := value[start[i]:start[i+1]]
		for k, j := range index[start[i]:start[i+1]] {
			v := values[k]
			if int(j) <= last || int(j) >= d {
				return nil, bad("Index", start[i]+k, float64(j), fmt.Sprintf("columns of row %d must increase and lie in [0, %d)", i, d))
			}
			if v-v != 0 {
				return nil, bad("Value", start[i]+k, v, fmt.Sprintf("row %d, column %d is not a finite number", i, j))
			}
			last = int(j)
			sum += v * v
			ones = ones && v == 1
		}
		f.diag[i], f.ones = sum, ones
	}
	return f, nil
}

func (f *SparseFeatures) Dim() int        { return len(f.Start) - 1 }
func (f *SparseFeatures) Diag() []float64 { return f.diag }
func (f *SparseFeatures) Columns() int    { return f.d }

func (f *SparseFeatures) Dot(i int, w []float64) float64 {
	a, b := f.Start[i], f.Start[i+1]
	index := f.Index[a:b]
	sum := 0.0
	if f.bias != 0 {
		sum = f.bias * w[f.d-1]
	}
	if f.ones {
		other := 0.0 // with two sums, an addition need not wait for the one before
		for ; len(index) >= 4; index = index[4:] {
			sum += w[index[0]] + w[index[1]]
			other += w[index[2]] + w[index[3]]
		}
		for _, j := range index {
			sum += w[j]
		}
		return sum + other
	}
	value := f.Value[a:b]
	value = value[:len(index)]
	for k, j := range index {
		sum += value[k] * w[j]
	}
	return sum
}

func (f *SparseFeatures) Add(w []float64, i int, c float64) {
	a, b := f.Start[i], f.Start[i+1]
	index := f.Index[a:b]
	if f.bias != 0 {
		w[f.d-1] += c * f.bias
	}
	if f.ones {
		for _, j := range index {
			w[j] += c
		}
		return
	}
	value := f.Value[a:b]
	value = value[:len(index)]
	for k, j := range index {
		w[j] += c * value[k]
	}
}

// square adds c x_i x_i' to the lower half of h, whose rows begin stride numbers apart. If
// stride is larger than d, x_i is extended by a 1.
func (f *SparseFeatures) square(h []float64, stride, i int, c float64) {
	a, b := f.Start[i], f.Start[i+1]
	index, value := f.Index[a:b], f.Value[a:b]
	for k, j := range index {
		row, v := h[int(j)*stride:], c*value[k]
		if f.ones {
			for _, m := range index[:k+1] {
				row[m] += c
			}
			continue
		}
		for l, m := range index[:k+1] {
			row[m] += v * value[l]
		}
	}
	constant := func(at int, v float64) {
		row := h[at*stride:]
		for k, j := range index {
			row[j] += c * v * value[k]
		}
		if f.bias != 0 {
			row[f.d-1] += c * v * f.bias
		}
		if at == f.d {
			row[at] += c * v
		}
	}
	if f.bias != 0 {
		constant(f.d-1, f.bias)
	}
	if stride > f.d {
		constant(f.d, 1)
	}
}

func (f *SparseFeatures) Row(i int) []float64 {
	r := nextRow(&f.row, &f.odd, f.Dim())
	if f.w == nil {
		f.w = make([]float64, f.d)
	}
	f.Add(f.w, i, 1)
	for j := range r {
		r[j] = f.Dot(j, f.w)
	}
	f.Add(f.w, i, -1)
	return r
}

// nextRow alternates between two buffers, because a Matrix promises that the last two rows
// stay valid.
func nextRow(row *[2][]float64, odd *int, n int) []float64 {
	*odd ^= 1
	if row[*odd] == nil {
		row[*odd] = make([]float64, n)
	}
	return row[*odd]
}
