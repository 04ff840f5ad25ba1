package arrow

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/svmnb/svmnb/datasets"
)

// LoadTable reads the table of a file; see [ReadTable].
func LoadTable(path string, opt Options) (*datasets.Table, error) {
	return load(path, opt, ReadTable, func(t *datasets.Table) { t.Source = path })
}

// ReadTable reads a table of Parquet or Arrow, as [Read] does, with columns of any kind:
// numbers; booleans and dictionaries of strings, which are categories; strings, which are
// categories if they repeat and otherwise texts; dates and times, in UTC. A null is a missing
// value, and so is a NaN. Features of the options are the columns to read, all by default;
// Target is ignored. Columns of other types are an error unless they are left out.
func ReadTable(r io.ReaderAt, size int64, opt Options) (*datasets.Table, error) {
	t := &columns{source: newSource(opt)}
	if err := t.read(r, size, t); err != nil {
		return nil, err
	}
	made := &datasets.Table{Name: t.opt.Name}
	for _, c := range t.list {
		made.Columns = append(made.Columns, c.column())
	}
	return made, made.Check()
}

// columns is the sink of a table.
type columns struct {
	*source
	list []*column
	at   []int
	rows int
}

// column is one column while its batches arrive.
type column struct {
	name     string
	kind     datasets.Kind
	category bool // of text that need not repeat
	values   []float64
	texts    []string
}

func (c *column) column() datasets.Column {
	switch {
	case c.kind == datasets.Text && c.category:
		return datasets.NewTable(datasets.Column{Name: c.name, Kind: datasets.Text, Texts: c.texts}).As(datasets.Category, c.name).Columns[0]
	case c.kind == datasets.Text:
		return datasets.WordsColumn(c.name, c.texts)
	}
	return datasets.Column{Name: c.name, Kind: c.kind, Values: c.values}
}

func (t *columns) choose(schema *arrow.Schema) error {
	var all []string
	for _, f := range schema.Fields() {
		if slices.Contains(all, f.Name) {
			return t.fail(fmt.Sprintf("two columns are called %q; rename one", f.Name), nil)
		}
		all = append(all, f.Name)
	}
	names := t.opt.Features
	if names == nil {
		names = all
	}
	t.at = t.at[:0]
	fresh := t.list == nil
	for _, name := range names {
		j := slices.Index(all, name)
		if j < 0 {
			return t.fail(fmt.Sprintf("there is no column %q; the columns are %q", name, all[:min(len(all), 20)]), nil)
		}
		kind, ok := kindOf(schema.Field(j).Type)
		if !ok {
			return t.fail(fmt.Sprintf("column %q is of type %.80v, which is no number, text, date or time; name the columns to read in Features", name, schema.Field(j).Type), nil)
		}
		t.at = append(t.at, j)
		if fresh {
			_, coded := schema.Field(j).Type.(*arrow.DictionaryType)
			t.list = append(t.list, &column{name: name, kind: kind, category: coded || schema.Field(j).Type.ID() == arrow.BOOL})
		}
	}
	return nil
}

// kindOf returns the kind of a type; Text also stands for categories.
func kindOf(t arrow.DataType) (datasets.Kind, bool) {
	switch t.ID() {
	case arrow.TIMESTAMP, arrow.DATE32, arrow.DATE64, arrow.TIME32, arrow.TIME64:
		return datasets.Time, true
	case arrow.BOOL:
		return datasets.Text, true
	}
	if isText(t) {
		return datasets.Text, true
	}
	return datasets.Number, isNumber(t)
}

func (t *columns) wanted() []int { return t.at }
func (t *columns) held() int     { return t.rows }

func (t *columns) add(rec arrow.RecordBatch) error {
	if err := t.room(t, rec.NumRows()); err != nil {
		return err
	}
	n := int(rec.NumRows())
	t.mem.take(n * 16 * len(t.list))
	for k, j := range t.at {
		a, c := rec.Column(j), t.list[k]
		if a.Len() != n {
			return t.fail("the columns have different lengths", nil)
		}
		for i := range n {
			if c.kind == datasets.Text {
				s := ""
				if !a.IsNull(i) {
					s = text(a, i)
				}
				t.mem.take(len(s))
				c.texts = append(c.texts, s)
				continue
			}
			v := math.NaN()
			if !a.IsNull(i) {
				v = number(a, i)
			}
			if math.IsInf(v, 0) {
				return &datasets.Error{Dataset: t.opt.Name, Row: t.rows + i, Column: k, Feature: c.name, Msg: "the value is infinite; put a number there, or null for a missing one"}
			}
			c.values = append(c.values, v)
		}
	}
	t.rows += n
	return nil
}

// number returns entry i of a as a number, or as seconds since 1970.
func number(a arrow.Array, i int) float64 {
	switch a := a.(type) {
	case *array.Timestamp:
		unit := a.DataType().(*arrow.TimestampType).Unit
		return float64(a.Value(i)) * unit.Multiplier().Seconds()
	case *array.Date32:
		return float64(a.Value(i)) * 86400
	case *array.Date64:
		return float64(a.Value(i)) / 1000
	case *array.Time32:
		return float64(a.Value(i)) * a.DataType().(*arrow.Time32Type).Unit.Multiplier().Seconds()
	case *array.Time64:
		return float64(a.Value(i)) * a.DataType().(*arrow.Time64Type).Unit.Multiplier().Seconds()
	}
	v, wrong := value(a, i)
	if wrong != "" {
		v = math.NaN()
		if f, ok := a.(*array.Float64); ok {
			v = f.Value(i)
		} else if f, ok := a.(*array.Float32); ok {
			v = float64(f.Value(i))
		}
	}
	return v
}
