package steps

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/internal/points"
)

// Chosen is the fitted step of transform.On: it applies steps to some columns of a table.
// The new columns replace the first of them; the others are removed.
type Chosen struct {
	Columns []string
	Steps   []Fitted
}

func (t Chosen) String() string {
	var list []string
	for _, s := range t.Steps {
		list = append(list, Text(s))
	}
	return fmt.Sprintf("On(%s).Do(%s)", Quoted(t.Columns), strings.Join(list, ", "))
}

// Quoted lists names in quotes, as arguments of a call.
func Quoted(names []string) string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = fmt.Sprintf("%q", name)
	}
	return strings.Join(list, ", ")
}

// ApplyTable implements [FittedTable].
func (t Chosen) ApplyTable(in *datasets.Table) (*datasets.Table, error) {
	part := in.Only(t.Columns...)
	if err := part.Check(); err != nil {
		return nil, err
	}
	p := Points{Points: points.Points{Table: part}}
	for _, s := range t.Steps {
		var err error
		if p, err = Through(context.Background(), p, s); err != nil {
			return nil, fmt.Errorf("%s: %w", Text(s), err)
		}
	}
	return t.Put(in, p)
}

// Put returns the table in with the columns replaced by the result of the steps.
func (t Chosen) Put(in *datasets.Table, made Points) (*datasets.Table, error) {
	if made.Sparse != nil {
		made.Table = datasets.NewTable(datasets.Column{Name: strings.Join(t.Columns, ", "), Kind: datasets.Vector, Sparse: made.Sparse, Levels: made.Names()})
	}
	made, err := made.AsTable()
	if err != nil {
		return nil, err
	}
	out := *in
	out.Columns = nil
	for _, c := range in.Columns {
		if c.Name == t.Columns[0] {
			for _, m := range made.Table.Columns {
				m.Name = t.unlike(m.Name, in.Names())
				out.Columns = append(out.Columns, m)
			}
		}
		if !slices.Contains(t.Columns, c.Name) {
			out.Columns = append(out.Columns, c)
		}
	}
	return &out, out.Check()
}

// unlike returns the name of a column that the steps have made, with the chosen columns before
// it if another column of the table has the same name.
func (t Chosen) unlike(name string, names []string) string {
	if slices.Contains(names, name) && !slices.Contains(t.Columns, name) {
		return strings.Join(t.Columns, ", ") + ": " + name
	}
	return name
}
