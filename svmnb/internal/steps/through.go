package steps

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/panics"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/points"
)

// FittedTable is a fitted step for the columns of a table. It is the interface
// transform.TableTransform.
type FittedTable interface {
	ApplyTable(t *datasets.Table) (*datasets.Table, error)
}

// Points are points between two steps, with the names of their features.
type Points struct {
	points.Points
	names func() []string // returns the names of the features; nil if there are none
}

// Names returns the names of the features; nil if there are none.
func (p Points) Names() []string {
	switch {
	case p.Table != nil:
		return p.Table.Names()
	case p.names == nil:
		return nil
	}
	return p.names()
}

// D returns the number of features of points that are numbers.
func (p Points) D() int {
	switch {
	case p.Sparse != nil:
		return p.Sparse.D
	case len(p.X) > 0:
		return len(p.X[0])
	}
	return 0
}

// named returns points whose features have the names that names returns.
func named(p points.Points, names []string) Points {
	if names == nil {
		return Points{Points: p}
	}
	return Points{p, func() []string { return names }}
}

// Of returns the points of a data set.
func Of(d *datasets.Dataset) Points { return named(points.Of(d), d.Features) }

// In returns the data set d with its points replaced by these.
func (p Points) In(d *datasets.Dataset) *datasets.Dataset {
	next := *d
	next.X, next.Sparse, next.Table, next.Features = p.X, (*datasets.CSR)(p.Sparse), p.Table, p.Names()
	return &next
}

// Through transforms the points by a fitted step. It converts rows to a table for a step
// for tables, and a table to rows for any other step.
func Through(ctx context.Context, p Points, t Fitted) (Points, error) {
	return guard.UnlessDone(ctx, func() (_ Points, err error) {
		defer panics.Recover(&err, func() string { return fmt.Sprintf("Apply of a step, a %T,", t) })
		if f, ok := t.(FittedTable); ok {
			if p, err = p.AsTable(); err != nil {
				return p, err
			}
			to, err := f.ApplyTable(p.Table)
			return Points{Points: points.Points{Table: to}}, err
		}
		if p, err = p.AsNumbers(); err != nil {
			return p, err
		}
		next := Points{names: namesAfter(t, p)}
		rows, ok := t.(FittedRows)
		if p.Sparse == nil && ok {
			next.X, err = rows.Apply(p.X)
			return next, err
		}
		sparse, ok := t.(FittedSparse)
		if !ok {
			return Points{}, arguments.Wrong("Pipe", math.NaN(), "the points are sparse, and the step needs them written out; write them out by Dense() of the data set")
		}
		next.Sparse, next.X, err = sparse.ApplySparse(*p.Sparse)
		return next, err
	})
}

// namesAfter returns a function that names the features of the points that the step makes
// of p.
func namesAfter(t Fitted, p Points) func() []string {
	n, ok := t.(interface{ Names(in []string) []string })
	if !ok {
		return nil
	}
	return func() []string {
		if names := p.Names(); names != nil {
			return n.Names(names)
		}
		return nil
	}
}

// AsTable converts points to a table. Each feature becomes a column of numbers.
func (p Points) AsTable() (Points, error) {
	if p.Table != nil {
		return p, nil
	}
	if p.Sparse != nil {
		return p, arguments.Wrong("Pipe", math.NaN(), "the points are sparse, and a step for named columns needs them written out; write them out by Dense() of the data set")
	}
	d := &datasets.Dataset{X: p.X, Features: p.Names()}
	columns := make([]datasets.Column, d.D())
	for j := range columns {
		columns[j] = datasets.Column{Name: d.FeatureName(j), Values: make([]float64, len(p.X))}
		for i, row := range p.X {
			columns[j].Values[i] = row[j]
		}
	}
	return Points{Points: points.Points{Table: datasets.NewTable(columns...)}}, nil
}

// AsNumbers converts a table of numbers to rows, or to sparse points if a column has
// vectors.
func (p Points) AsNumbers() (Points, error) {
	t := p.Table
	if t == nil {
		return p, nil
	}
	if err := t.Check(); err != nil {
		return p, err
	}
	out := Points{names: func() []string { return featuresOf(t) }}
	d, sparse := 0, false
	for _, c := range t.Columns {
		switch c.Kind {
		case datasets.Number:
			d++
		case datasets.Vector:
			d, sparse = d+c.Sparse.D, true
		default:
			return p, arguments.Wrong("Pipe", math.NaN(), "the column %s is a %v, and what comes next needs numbers; put transform.Encode() before it, or a step On(%q)", c.Name, c.Kind, c.Name)
		}
	}
	if sparse {
		out.Sparse = sideBySide(t, d)
		return out, nil
	}
	out.X = make([][]float64, t.N())
	all := make([]float64, t.N()*d)
	for i := range out.X {
		out.X[i] = all[i*d : (i+1)*d : (i+1)*d]
		for j, c := range t.Columns {
			out.X[i][j] = c.Values[i]
		}
	}
	return out, nil
}

// featuresOf returns the names of the features that AsNumbers makes.
func featuresOf(t *datasets.Table) []string {
	var names []string
	for _, c := range t.Columns {
		if c.Kind != datasets.Vector {
			names = append(names, c.Name)
			continue
		}
		for k := range c.Sparse.D {
			level := "#" + strconv.Itoa(k)
			if c.Levels != nil {
				level = c.Levels[k]
			}
			names = append(names, c.Name+": "+level)
		}
	}
	return names
}

// sideBySide returns the numbers and vectors of each row as sparse points with d features.
func sideBySide(t *datasets.Table, d int) *datasets.CSR {
	x := &datasets.CSR{Start: []int{0}, D: d}
	for i := range t.N() {
		at := 0
		for _, c := range t.Columns {
			if c.Kind == datasets.Vector {
				for p := c.Sparse.Start[i]; p < c.Sparse.Start[i+1]; p++ {
					x.Index, x.Value = append(x.Index, int32(at)+c.Sparse.Index[p]), append(x.Value, c.Sparse.Value[p])
				}
				at += c.Sparse.D
				continue
			}
			if v := c.Values[i]; v != 0 {
				x.Index, x.Value = append(x.Index, int32(at)), append(x.Value, v)
			}
			at++
		}
		x.Start = append(x.Start, len(x.Index))
	}
	return x
}
