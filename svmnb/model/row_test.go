package model_test

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"github.com/svmnb/svmnb/svmnb/model"
	"github.com/svmnb/svmnb/svmnb/selection"
	"github.com/svmnb/svmnb/svmnb/transform"
)

// visitors is a table of all kinds of columns.
func visitors(n int) *datasets.Table {
	text := "age,city,came,said,stays\n"
	for i := range n {
		age, said := fmt.Sprint(20+i%47), []string{"late again and again", "good and quick", "quick", "never late"}[i*i%4]
		if i%11 == 0 {
			age = ""
		}
		text += fmt.Sprintf("%s,%s,2024-%02d-%02d,%q,%v\n", age, []string{"Bern", "Genf", "Chur", ""}[i%7%4], 1+i%12, 1+i%28, said, (i%47 > 20) != strings.Contains(said, "late"))
	}
	return datasets.TableReader{Kinds: map[string]datasets.Kind{"said": datasets.Text}}.Read(strings.NewReader(text))
}

// Single rows get the answers of all models that there are, without taking memory.
func TestRow(t *testing.T) {
	for _, want := range modelledFits() {
		m := model.Of(want.fit)
		row, err := m.NewRow()
		if err != nil {
			t.Errorf("%s: %v", want.name, err)
			continue
		}
		for i, x := range want.x[:min(30, len(want.x))] {
			row.Numbers(x...)
			if len(want.values[i]) == 1 && m.Classes() == nil {
				if v, err := row.Value(); err != nil || math.Abs(v-want.values[i][0]) > 1e-9*(1+math.Abs(v)) {
					t.Errorf("%s, point %d: %v, %v; want %v", want.name, i, v, err, want.values[i])
				}
			}
			if want.names != nil {
				if class, err := row.Class(); err != nil || class != want.names[i] {
					t.Errorf("%s, point %d: %q, %v; want %q", want.name, i, class, err, want.names[i])
				}
			}
		}
		if _, err := row.Probabilities(); err == nil && len(m.Classes()) > 2 {
			continue // whose probabilities are coupled in new memory
		}
		if n := testing.AllocsPerRun(50, func() {
			row.Numbers(want.x[0]...)
			if want.names == nil {
				_, _ = row.Value()
			} else {
				_, _ = row.Class()
			}
		}); n != 0 && !racing {
			t.Errorf("%s: %v allocations for each row", want.name, n)
		}
	}
}

// A service answers from many goroutines as the model of a table does.
func TestRowOfTableParallel(t *testing.T) {
	all := visitors(200)
	fit := testkit.FitOf(t, selection.Pipe(transform.Encode(), svmnb.Classify(all.Target("stays")).Kernel(kernels.RBF(0.2)).C(10)))
	c, err := fit.Fit().(*svmnb.Fit).Calibrate(context.Background(), svmnb.Platt{Folds: 3})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "model")
	for name, modeler := range map[string]model.Modeler{"pipeline": fit, "calibrated": c} {
		if err := model.Save(file, modeler); err != nil {
			t.Fatal(err)
		}
		m, err := model.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		want, err := m.Predict(all)
		if err != nil {
			t.Fatal(err)
		}
		age, _ := all.Column("age")
		came, _ := all.Column("came")
		city, _ := all.Column("city")
		said, _ := all.Column("said")
		var wait sync.WaitGroup
		for g := range 8 {
			wait.Add(1)
			go func() {
				defer wait.Done()
				row, err := m.NewRow()
				if err != nil {
					t.Error(err)
					return
				}
				for i := g; i < all.N(); i += 8 {
					row.Clear()
					row.Number("age", age.Values[i])
					row.Text("city", city.Format(i))
					row.Time("came", datasets.TimeOf(came.Values[i]))
					row.Text("said", said.Texts[i])
					if class, err := row.Class(); err != nil || class != want[i] {
						t.Errorf("%s, row %d: %q, %v; want %q", name, i, class, err, want[i])
					}
				}
			}()
		}
		wait.Wait()
		row, err := m.NewRow()
		if err != nil {
			t.Fatal(err)
		}
		day := time.Date(2024, 5, 6, 0, 0, 0, 0, time.UTC)
		if n := testing.AllocsPerRun(100, func() {
			row.Clear()
			row.Number("age", 30)
			row.Text("city", "Bern")
			row.Time("came", day)
			row.Text("said", "late and quick, and late again")
			_, err = row.Class()
		}); n != 0 && !racing || err != nil {
			t.Errorf("%s: %v allocations for each row, %v", name, n, err)
		}
		row.Set(map[string]any{"age": "30", "city": "Bern", "came": "2024-05-06", "said": "late and quick, and late again", "else": []int{1}})
		if _, err := row.Class(); err != nil {
			t.Error(err)
		}
	}
}

func TestRowRefuses(t *testing.T) {
	all := visitors(60)
	m := testkit.FitOf(t, selection.Pipe(transform.OneHot(), transform.On("came").Do(transform.Calendar("season")), transform.On("said").Do(transform.CountWords(0)), svmnb.Classify(all.Present().Target("stays")))).Model()
	row, err := m.NewRow()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		set  func()
		want string
	}{
		{func() { row.Text("said", "late") }, "column age is missing"},
		{func() { row.Number("ages", 3) }, `no column "ages"; the columns are age, city, came, said`},
		{func() { row.Number("city", 3) }, "column city is a category"},
		{func() { row.Text("age", "x") }, "column age is a number"},
		{func() { row.Time("age", time.Time{}) }, "column age is a number"},
		{func() { row.Numbers(1, 2) }, "2 numbers for 4 columns"},
		{func() { row.Numbers(1, 2, 3, 4) }, "column city is a category"},
		{func() { row.Number("age", math.Inf(1)) }, "column age is +Inf"},
		{func() { row.Set(map[string]any{"age": "old"}) }, "column age is a number, and old is none"},
	} {
		row.Clear()
		c.set()
		if _, err := row.Class(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v; want %q", err, c.want)
		}
	}
	if names := m.Columns(); len(names) != 4 || names[1].Kind != datasets.Category {
		t.Error(names)
	}
	if _, err := row.Probabilities(); err == nil {
		t.Error("probabilities without calibration")
	}
	if _, err := (*model.Row)(nil).Class(); err == nil {
		t.Error("no row has a class")
	}
	if _, err := (&model.Model{}).NewRow(); err == nil {
		t.Error("no model has a row")
	}
	if !slices.Equal(m.Classes(), []string{"false", "true"}) {
		t.Error(m.Classes())
	}
}

// A million rows over eight goroutines get the answers of the model, and take no memory.
func TestMillionRows(t *testing.T) {
	all := visitors(200)
	m := testkit.FitOf(t, selection.Pipe(transform.Encode(), svmnb.Classify(all.Target("stays")).Kernel(kernels.RBF(0.2)).C(10))).Model()
	want, err := m.Predict(all)
	if err != nil {
		t.Fatal(err)
	}
	times := 1_000_000 / all.N()
	if testing.Short() {
		times = 20_000 / all.N()
	}
	age, _ := all.Column("age")
	came, _ := all.Column("came")
	city, _ := all.Column("city")
	said, _ := all.Column("said")
	var before, after runtime.MemStats
	rows := make([]*model.Row, 8)
	for g := range rows {
		if rows[g], err = m.NewRow(); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&before)
	var wait sync.WaitGroup
	var wrong atomic.Int64
	for g, row := range rows {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for range times {
				for i := g; i < all.N(); i += len(rows) {
					row.Clear()
					row.Number("age", age.Values[i])
					row.Text("city", city.Format(i))
					row.Time("came", datasets.TimeOf(came.Values[i]))
					row.Text("said", said.Texts[i])
					if class, err := row.Class(); err != nil || class != want[i] {
						wrong.Add(1)
					}
				}
			}
		}()
	}
	wait.Wait()
	runtime.ReadMemStats(&after)
	if n := wrong.Load(); n > 0 {
		t.Errorf("%d rows have another class", n)
	}
	if each := float64(after.Mallocs-before.Mallocs) / float64(times*all.N()); each > 0.01 && !racing {
		t.Errorf("%v allocations for each row", each)
	}
}
