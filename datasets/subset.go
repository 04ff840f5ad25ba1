package datasets

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Select returns the given rows, counted from 0, in that order. A row may occur more than
// once.
func (d *Dataset) Select(rows []int) *Dataset {
	if err := d.shape(); err != nil {
		return d.failed(err)
	}
	s := *d
	s.Y = make([]float64, len(rows))
	for k, i := range rows {
		if i < 0 || i >= d.N() {
			return d.failed(d.fault(-1, -1, fmt.Sprintf("Select was asked for row %d; there are rows 0 … %d", i, d.N()-1)))
		}
		s.Y[k] = d.Y[i]
	}
	if d.Sparse != nil {
		x := d.Sparse.Points(rows...)
		s.Sparse, s.Features, s.Classes = &x, slices.Clone(d.Features), slices.Clone(d.Classes)
		return &s
	}
	if d.Table != nil {
		s.Table, s.Features, s.Classes = d.Table.Select(rows), slices.Clone(d.Features), slices.Clone(d.Classes)
		return &s
	}
	s.X = make([][]float64, len(rows))
	for k, i := range rows {
		s.X[k] = d.X[i]
	}
	return s.clone()
}

// Columns returns the data with the given features only, counted from 0, in that order.
func (d *Dataset) Columns(columns ...int) *Dataset {
	if err := d.shape(); err != nil {
		return d.failed(err)
	}
	if d.Sparse != nil {
		return d.failed(d.needsDense("Columns", "copies columns"))
	}
	for _, j := range columns {
		if j < 0 || j >= d.D() {
			return d.failed(d.fault(-1, -1, fmt.Sprintf("Columns was asked for column %d; there are columns 0 … %d", j, d.D()-1)))
		}
	}
	s := *d
	if d.Table != nil {
		s.features(&Table{Name: d.Table.Name, Columns: chosen(d.Table.Columns, columns)})
	} else {
		s.X = rows(d.N(), len(columns))
	}
	for i, row := range d.X {
		for k, j := range columns {
			s.X[i][k] = row[j]
		}
	}
	if d.Features != nil {
		s.Features = make([]string, len(columns))
		for k, j := range columns {
			s.Features[k] = d.Features[j]
		}
	}
	s.Scalings = nil
	for _, by := range d.Scalings {
		s.Scalings = append(s.Scalings, by.columns(columns))
	}
	s.Y = slices.Clone(d.Y)
	s.Classes = slices.Clone(d.Classes)
	return &s
}

// ColumnsNamed returns the data with the features of these names only, in that
// order; see [Dataset.FeatureName].
func (d *Dataset) ColumnsNamed(names ...string) *Dataset {
	if err := d.shape(); err != nil {
		return d.failed(err)
	}
	all := make([]string, d.D())
	for j := range all {
		all[j] = d.FeatureName(j)
	}
	columns := make([]int, len(names))
	for k, name := range names {
		if columns[k] = slices.Index(all, name); columns[k] < 0 {
			return d.failed(d.fault(-1, -1, fmt.Sprintf("there is no feature %q; the features are %s", name, abbreviate(all))))
		}
	}
	return d.Columns(columns...)
}

// Shuffle returns the rows in a random order that depends only on the seed.
func (d *Dataset) Shuffle(seed uint64) *Dataset {
	return d.Select(newSource(seed).permutation(d.N()))
}

// Split divides the rows at random into a training set and a test set, both in random order.
// The training set has the given fraction of the rows, 0 < fraction < 1, rounded to whole
// rows. The split is stratified: every class, and for real targets every range of values, is
// divided in the same proportion to within one row.
func (d *Dataset) Split(fraction float64, seed uint64) (train, test *Dataset) {
	if err := d.shape(); err != nil {
		return d.failed(err), d.failed(err)
	}
	// The conversion prevents fusing the product with the sum, which would make the split
	// depend on the machine.
	share := func(n int) int { return int(math.Floor(float64(float64(n)*fraction) + 0.5)) }
	if !(fraction > 0 && fraction < 1) || share(d.N()) == 0 || share(d.N()) == d.N() {
		err := d.fault(-1, -1, fmt.Sprintf("Split(%v) of %d rows leaves a part empty; the fraction must lie between 0 and 1 and give each part a row", fraction, d.N()))
		return d.failed(err), d.failed(err)
	}
	order := newSource(seed).permutation(d.N())
	// Rows are sorted by target, and rows with the same target keep the random order of the
	// permutation. Training rows are taken from this list at even distances.
	sorted := slices.Clone(order)
	slices.SortStableFunc(sorted, func(i, j int) int { return cmp.Compare(d.Y[i], d.Y[j]) })
	training := make([]bool, d.N())
	for k, i := range sorted {
		training[i] = share(k+1) > share(k)
	}
	var in, out []int
	for _, i := range order {
		if training[i] {
			in = append(in, i)
		} else {
			out = append(out, i)
		}
	}
	train, test = d.Select(in), d.Select(out)
	train.Name += " (train)"
	test.Name += " (test)"
	return train, test
}
