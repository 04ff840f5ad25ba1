package datasets

// Points are points whose targets are not looked at, as predictions take them: [Rows], a
// [CSR], or a *[Dataset].
type Points interface {
	// Unpack returns the m points, row by row, or as sparse ones where these are not nil.
	Unpack() (rows [][]float64, sparse *CSR)
}

// Rows are m points of d features, written out.
type Rows [][]float64

// Unpack implements [Points].
func (r Rows) Unpack() (rows [][]float64, sparse *CSR) { return r, nil }

// Unpack implements [Points]. Those of nil are none.
func (d *Dataset) Unpack() (rows [][]float64, sparse *CSR) {
	if d == nil {
		return nil, nil
	}
	return d.X, d.Sparse
}
