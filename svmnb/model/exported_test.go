package model_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/gp"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"github.com/svmnb/svmnb/svmnb/model"
	"github.com/svmnb/svmnb/svmnb/selection"
	"github.com/svmnb/svmnb/svmnb/transform"
)

// tabled is a model of a table, and the rows that it predicts.
type tabled struct {
	name string
	m    *model.Model
	rows *datasets.Table
}

// guests is a table of all kinds of columns, with gaps in each, names that no language takes,
// and a column that is always the same.
func guests(n int) *datasets.Table {
	t := []map[string]any{}
	for i := range n {
		r := map[string]any{
			"age": 20 + float64(i%47)/2, "label": float64(1 + i*i%5), "x y": float64(i%13) * 1e3, "hotel": "only",
			"Größe/\n\"m²\"": float64(i%7) - 3.5, "city": []string{"Bern", "Genf", "Zürich", "Chur"}[i%11%4],
			"class": []string{"first\n\"`*/", "\u202esecond"}[i*i%3%2], "x-y": []string{"low", "middle", "high"}[i%3],
			"came": datasets.TimeOf(float64(i-n/2) * 86400 * 1777.3), "said": []string{"late again AND again", "good, quick", "a quick ÉTÉ à Zürich", "never; late", "quick 42"}[(i+i/5)%5],
			"floor": float64(1 + i%4),
		}
		for j, name := range []string{"age", "city", "came", "said", "x-y", "floor"} {
			if i%(11+j) == 3 {
				r[name] = nil
			}
		}
		r["stays"] = fmt.Sprint((i%47 > 20) != (i*i%5 == 0))
		r["kind"] = []string{"a", "b", "c"}[(i%47/16+i%3)%3]
		r["nights"] = float64(i%9) + float64(i%47)/10
		t = append(t, r)
	}
	table := datasets.TableOfRecords(t).As(datasets.Text, "said").Order("x-y", "low", "middle", "high")
	if err := table.Check(); err != nil {
		panic(err)
	}
	return table
}

// tabledModels are pipelines for tables with every step and every learner. In the names of
// those that ONNX has no nodes for there is "no nodes".
var tabledModels = sync.OnceValue(func() (list []tabled) {
	ctx := context.Background()
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	all := guests(160)
	raw := all.Without("stays", "kind", "nights")
	stays, kind, nights := all.Without("kind", "nights").Target("stays"), all.Without("stays", "nights").Target("kind"), all.Without("stays", "kind").Target("nights")
	seen := raw.Only(raw.Names()...)
	odd := guests(200).Without("stays", "kind", "nights") // with levels and words that training has not
	for j, c := range odd.Columns {
		if c.Name == "city" {
			c.Levels = append([]string{"Paris"}, c.Levels[1:]...)
		}
		if c.Name == "said" {
			c.Texts = append([]string(nil), c.Texts...)
			for i := range c.Texts {
				c.Texts[i] += []string{" ", " ÉTÉ ÄRGER Late2", "... a b c late again", " \xff late-again"}[i%4]
			}
		}
		odd.Columns[j] = c
	}
	full := []transform.Part{transform.On("age", "label", "x y").Do(transform.ImputeBy(transform.Median)), transform.On("came").Do(transform.ImputeBy(transform.Median), transform.Calendar("season")), transform.On("said").Do(transform.CountWords(0))}
	without := func(d *datasets.Dataset, names ...string) *datasets.Dataset {
		own := *d
		own.Table = d.Table.Without(names...)
		return &own
	}
	add := func(name string, rows *datasets.Table, parts ...transform.Part) *selection.PipeFit {
		fit, err := selection.Pipe(parts...).Fit(ctx)
		if err != nil {
			panic(name + ": " + err.Error())
		}
		list = append(list, tabled{name, fit.Model(), rows})
		return fit
	}
	rbf := svmnb.Classify(stays).Kernel(kernels.RBF(0.1)).C(10)
	usual := add("usual", odd, transform.Encode(), rbf)
	add("linear", odd, transform.Encode(), svmnb.Classify(stays).Kernel(kernels.Linear()))
	add("pairs", odd, transform.Encode(), svmnb.Classify(kind).Kernel(kernels.Polynomial(2, 0.2, 1)).OneVsOne())
	add("linear pairs", odd, transform.Encode(), svmnb.Classify(kind).Kernel(kernels.Linear()).OneVsOne())
	add("rest", odd, transform.Encode(), svmnb.Classify(kind).Kernel(kernels.Linear()).OneVsRest())
	add("regression", odd, transform.Encode(), svmnb.Regress(nights).Kernel(kernels.RBF(0.1)))
	add("ridge", odd, transform.Encode(), transform.MaxAbs(), svmnb.Regress(nights).Kernel(kernels.Linear()).Ridge(0.1))
	add("one class", odd, transform.Encode(), svmnb.OneClass(stays).Kernel(kernels.RBF(0.1)))
	narrow := without(nights, "said")
	add("process", odd, transform.Encode(), gp.Regress(narrow).Kernel(kernels.RBF(0.1)).NoiseVariance(0.1))
	add("components", odd, transform.Encode(), transform.Standardise(), transform.PCA(3), svmnb.Classify(without(stays, "said")).Kernel(kernels.RBF(0.1)))

	byHand := append([]transform.Part{}, full...)
	add("by hand", odd, append(byHand,
		transform.On("age", "x y").Do(transform.Standardise(), transform.PCA(2)),
		transform.On("component 2").Do(transform.MaxAbs()),
		transform.On("floor").Do(transform.OneHot()),
		transform.On("city").Do(transform.OneHot().Rare(0.2).Unknown(transform.IsOther)),
		transform.On("class").Do(transform.OneHot()),
		transform.On("x-y").Do(transform.ImputeBy(transform.MostFrequent).Indicate(), transform.Ordinal()),
		transform.MaxAbs(), svmnb.Classify(without(stays, "hotel")).Kernel(kernels.RBF(0.1)).C(10))...)
	add("columns and rows", odd,
		transform.On("age", "x y", "Größe/\n\"m²\"").Do(transform.Impute().Indicate(), transform.Standardise(), transform.PCA(2)),
		transform.On("label").Do(transform.OneHot().Unknown(transform.IsError)),
		transform.On("floor").Do(transform.OneHot().Unknown(transform.IsError)),
		transform.On("came").Do(transform.ImputeBy(transform.Median).Indicate(), transform.Calendar("days", "year", "season", "weekday", "hour", "month", "day", "weekend"), transform.Standardise(), transform.RandomFourier(0.1, 20, 1)),
		transform.On("x-y").Do(transform.Imputation{By: transform.Constant, Level: "high"}, transform.OneHot()),
		transform.Encode(), rbf)
	add("landmarks", odd, transform.On("city", "class").Do(transform.OneHot(), transform.Nystroem(kernels.RBF(0.3), 5, 1)), transform.Encode(), rbf)
	add("kernel components", odd, transform.Encode(), transform.KernelPCA(kernels.RBF(0.3), 4), rbf)
	add("linear landmarks", odd, transform.Encode(), transform.Nystroem(kernels.Linear(), 9, 1), svmnb.Classify(kind).Kernel(kernels.RBF(0.1)).OneVsOne())
	add("marks of levels", seen,
		transform.On("city").Do(transform.ImputeBy(transform.MostFrequent), transform.OneHot().Unknown(transform.IsError)),
		transform.On("said").Do(transform.Imputation{By: transform.Constant, Level: "never LATE"}.Indicate(), transform.TfIdf(12).Grams(3)),
		transform.Encode(), rbf)
	add("grams, linear", odd, transform.On("said").Do(transform.CountWords(0).Grams(2)), transform.Encode(), svmnb.Regress(nights).Kernel(kernels.Linear()))
	add("hashed, no nodes", odd, transform.On("said").Do(transform.HashWords(64).Grams(2)), transform.Encode(), rbf)
	add("only numbers", raw.Only("age", "label", "x y"), transform.On("age").Do(transform.Impute()), transform.Standardise(), svmnb.Classify(without(stays, "hotel", "Größe/\n\"m²\"", "city", "class", "x-y", "came", "said", "floor")).Kernel(kernels.RBF(0.1)))

	c, err := usual.Fit().(*svmnb.Fit).Calibrate(ctx, svmnb.Platt{Folds: 3})
	must(err)
	list = append(list, tabled{"Platt", c.Model(), odd})
	c, err = usual.Fit().(*svmnb.Fit).Calibrate(ctx, svmnb.Isotonic{Folds: 3})
	must(err)
	list = append(list, tabled{"isotonic, no nodes", c.Model(), odd})
	th, err := usual.Threshold(ctx, svmnb.ForCost(1, 5))
	must(err)
	return append(list, tabled{"threshold", th.Model(), odd})
})

// The list of pipelines for tables has every change of a column that there is. Saved models
// answer to the bit, and the answers of single rows are those of tables.
func TestTabledModels(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range tabledModels() {
		program, err := f.m.Inside().Before.Compile()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range program.Steps {
			seen[fmt.Sprintf("%T", s.Rows)] = true
			for j := range reflect.TypeFor[steps.ColumnOp]().NumField() {
				if field := reflect.TypeFor[steps.ColumnOp]().Field(j); s.Op != nil && !reflect.ValueOf(*s.Op).Field(j).IsZero() {
					seen[field.Name] = true
				}
			}
		}
		want, err := f.m.Decisions(f.rows)
		if err != nil {
			t.Errorf("%s: %v", f.name, err)
			continue
		}
		file := filepath.Join(t.TempDir(), "model")
		if err := model.Save(file, f.m); err != nil {
			t.Fatal(err)
		}
		loaded, err := model.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		if same, err := loaded.Decisions(f.rows); err != nil || !reflect.DeepEqual(same, want) {
			t.Errorf("%s: a saved model has other values, %v", f.name, err)
		}
		var source, again bytes.Buffer
		if err := errors.Join(f.m.WriteGo(&source, "p"), loaded.WriteGo(&again, "p")); err != nil || !bytes.Equal(source.Bytes(), again.Bytes()) {
			t.Errorf("%s: a saved model has other source, %v", f.name, err)
		}
		row, err := f.m.NewRow()
		if err != nil {
			t.Errorf("%s: %v", f.name, err)
			continue
		}
		if len(want[0]) > 1 {
			continue
		}
		for i, record := range records(f.rows) {
			row.Set(record)
			if v, err := row.Value(); err != nil || math.Abs(v-want[i][0]) > 1e-9*(1+math.Abs(v)) {
				t.Errorf("%s, row %d: %v, %v; want %v", f.name, i, v, err, want[i])
				break
			}
		}
	}
	for _, want := range []string{"Drop", "Fill", "Scale", "OneHot", "Ordinal", "Calendar", "Words", "steps.Scaled", "steps.Projected", "steps.NystroemMap", "steps.FourierMap"} {
		if !seen[want] {
			t.Errorf("no %s among the models: %v", want, seen)
		}
	}
}

// What the formats cannot hold of a pipeline for tables is an error, and nothing is written.
func TestExportsRefuseTables(t *testing.T) {
	table := func(column datasets.Column) *datasets.Dataset {
		classes := datasets.Column{Name: "class", Kind: datasets.Category, Levels: []string{"a", "b"}}
		for i := range column.N() {
			classes.Codes = append(classes.Codes, int32(i%2))
		}
		return datasets.NewTable(column, classes).Target("class")
	}
	of := func(d *datasets.Dataset, parts ...transform.Part) *model.Model {
		return testkit.FitOf(t, selection.Pipe(append(parts, svmnb.Classify(d).Kernel(kernels.RBF(1)).C(1))...)).Model()
	}
	var long []string // texts of 500 words each that are in no other
	for i := range 100 {
		text := ""
		for j := range 500 {
			text += fmt.Sprintf("w%d ", 500*i+j)
		}
		long = append(long, text)
	}
	said := table(datasets.Column{Name: "said", Kind: datasets.Text, Texts: []string{"good", "bad", "good day", "bad day"}})
	for _, c := range []struct {
		says      string
		m         *model.Model
		onnx, run bool // whether ONNX, and Go, has it
	}{
		{"HashWords", of(said, transform.HashWords(8)), false, true},
		{"one row at a time", of(said, transform.HashWords(1<<17)), false, false},
		{"4194304 numbers", of(table(datasets.Column{Name: "said", Kind: datasets.Text, Texts: long}), transform.CountWords(1<<16)), true, false},
		{"not UTF-8", of(table(datasets.Column{Name: "city", Kind: datasets.Category, Levels: []string{"\xff", "Bern"}, Codes: []int32{0, 1, 1, 0}}), transform.OneHot().Unknown(transform.IsError)), false, true},
		{"the same in float32", of(table(datasets.Column{Name: "x", Values: []float64{1, 1 + 1e-12, 2, 3}}), transform.On("x").Do(transform.OneHot())), false, true},
		{"beyond the largest float32", of(table(datasets.Column{Name: "x", Values: []float64{1e39, 2e39, 3e39, 4e39}}), transform.Encode()), false, true},
		{"no code for step 1, nothing", of(table(datasets.Column{Name: "x", Values: []float64{1, 2, 3, 4}}), transform.On("x").Do(nothing{})), false, false},
	} {
		for _, format := range []struct {
			has   bool
			write func(w io.Writer) error
		}{{c.onnx, c.m.WriteONNX}, {c.run, func(w io.Writer) error { return c.m.WriteGo(w, "p") }}} {
			var out bytes.Buffer
			err := format.write(&out)
			if format.has && err != nil || !format.has && (!errors.As(err, new(*model.Error)) || !strings.Contains(err.Error(), c.says) || out.Len() > 0) {
				t.Errorf("%q: %v", c.says, err)
			}
		}
	}
}

// nothing is a step of a user.
type nothing struct{}

func (nothing) String() string                                     { return "nothing" }
func (nothing) Fit(*datasets.Dataset) (transform.Transform, error) { return nothing{}, nil }
func (nothing) Apply(x [][]float64) ([][]float64, error)           { return x, nil }

// records returns the rows of a table; missing values have no entry.
func records(t *datasets.Table) []map[string]any {
	list := make([]map[string]any, t.N())
	for i := range list {
		list[i] = map[string]any{}
		for _, c := range t.Columns {
			switch {
			case c.Missing(i):
			case c.Kind == datasets.Number:
				list[i][c.Name] = c.Values[i]
			case c.Kind == datasets.Time:
				list[i][c.Name] = datasets.TimeOf(c.Values[i])
			default:
				list[i][c.Name] = c.Format(i)
			}
		}
	}
	return list
}
