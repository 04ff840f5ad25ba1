package datasets

// Points are points without targets, as predictions take them: [Rows], a [CSR], a *[Table],
// or a *[Dataset], whose targets are ignored.
type Points interface {
	// Unpack returns the m points: in sparse if this is not nil, otherwise in rows.
	Unpack() (rows [][]float64, sparse *CSR)
}

// Rows are m dense points of d features.
type Rows [][]float64

// Unpack implements [Points].
func (r Rows) Unpack() (rows [][]float64, sparse *CSR) { return r, nil }

// Unpack implements [Points]. A nil data set has no points.
func (d *Dataset) Unpack() (rows [][]float64, sparse *CSR) {
	if d == nil {
		return nil, nil
	}
	return d.X, d.Sparse
}

// Unpack implements [Points]: the rows where all columns are numbers, and else nothing.
// A pipeline that was fitted to a table takes tables of all kinds of columns.
func (t *Table) Unpack() (rows [][]float64, sparse *CSR) {
	if t.Check() != nil {
		return nil, nil
	}
	rows, _ = t.numbers()
	return rows, nil
}
