package datasets

import (
	"fmt"
	"slices"

	"github.com/svmnb/svmnb/internal/csr"
)

// CSR is n points of d features, most of which are 0, in compressed rows: point i has the
// features Index[Start[i]:Start[i+1]], increasing and counted from 0, with their numbers in
// Value. All other features are 0. kernels.CSR is the same type.
type CSR = csr.Rows

// NewSparse makes a data set of n sparse points x with their n targets y. It copies both. If
// something does not fit, [Dataset.Check] returns the error.
func NewSparse(x CSR, y []float64) *Dataset {
	return &Dataset{Name: "data", Sparse: x.Clone(), Y: slices.Clone(y)}
}

// Dense returns the data with dense points in X. Data that have X already are copied. If X
// would take more than 1 GiB, Check of the result returns an error.
func (d *Dataset) Dense() *Dataset {
	if err := d.shape(); err != nil {
		return d.failed(err)
	}
	if d.Sparse == nil {
		if err := d.needsDense("Dense", "writes numbers"); err != nil {
			return d.failed(err)
		}
		return d.clone()
	}
	x, n := d.Sparse, d.N()
	if n > 0 && x.D > maxCells/n {
		return d.failed(d.fault(-1, -1, fmt.Sprintf("%d points of %d features need %.3g GiB when written out, the limit is %.3g GiB; leave them sparse, or select or hash the features first",
			n, x.D, gib(float64(n)*float64(x.D)), gib(maxCells))))
	}
	out := *d
	out.Sparse, out.X, out.Y = nil, rows(n, x.D), slices.Clone(d.Y)
	for i := range n {
		for p := x.Start[i]; p < x.Start[i+1]; p++ {
			out.X[i][x.Index[p]] = x.Value[p]
		}
	}
	return &out
}

// needsDense returns the error of a method that needs dense points, or nil if d has them.
func (d *Dataset) needsDense(verb, reason string) error {
	if d.Table != nil {
		return d.fault(-1, -1, fmt.Sprintf("the points are a table with columns that are no numbers, and %s %s; use the methods of Table", verb, reason))
	}
	if d.Sparse == nil {
		return nil
	}
	return d.fault(-1, -1, fmt.Sprintf("the points are sparse, and %s %s; write them out by Dense() if memory allows", verb, reason))
}

// shapeSparse is shape for sparse points.
func (d *Dataset) shapeSparse() error {
	x := d.Sparse
	n := x.N()
	switch {
	case d.X != nil:
		return d.fault(-1, -1, "there are both X and Sparse; a data set has its points in one of the two")
	case n != len(d.Y):
		return d.fault(-1, -1, fmt.Sprintf("Sparse has %s and Y %s; they must be equally many", plural(n, "point", "points"), plural(len(d.Y), "target", "targets")))
	case n == 0:
		return nil
	}
	if f := x.Fault(); f != nil {
		return d.fault(f.Row, f.Column, f.Msg)
	}
	if err := d.shapeFeatures(); err != nil {
		return err
	}
	return d.shapeScalings()
}

// values yields row, column and value of every number of X, or of every stored number of the
// sparse points.
func (d *Dataset) values(yield func(row, column int, v float64) bool) {
	for i, row := range d.X {
		for j, v := range row {
			if !yield(i, j, v) {
				return
			}
		}
	}
	if x := d.Sparse; x != nil {
		for i := range x.N() {
			for p := x.Start[i]; p < x.Start[i+1]; p++ {
				if !yield(i, int(x.Index[p]), x.Value[p]) {
					return
				}
			}
		}
	}
}
