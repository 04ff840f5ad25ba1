package selection

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/gp"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"github.com/svmnb/svmnb/svmnb/model"
	"github.com/svmnb/svmnb/svmnb/transform"
)

// customers is a table of all kinds of columns with gaps, of whom those leave that are old
// and write late.
func customers(n int) *datasets.Table {
	rng := rand.New(rand.NewPCG(1, 2))
	some := func(list ...string) string { return list[rng.IntN(len(list))] }
	records := [][]string{{"id", "age", "city", "joined", "plan", "complaint", "left", "paid"}}
	for i := range n {
		age, late := 18+rng.IntN(60), rng.IntN(3) == 0
		text := some("good", "quick", "nice") + " and " + some("fair", "cheap", "good")
		if late {
			text = some("late", "never") + " " + some("again", "answered", "came")
		}
		r := []string{fmt.Sprintf("%05d", i), fmt.Sprint(age), some("Bern", "Genf", "Chur"), fmt.Sprintf("%d.%d.2023", 1+rng.IntN(28), 1+rng.IntN(12)), some("basic", "plus"), text, "no", fmt.Sprintf("%d,%02d", 20+age, rng.IntN(100))}
		if late && age > 40 {
			r[6] = "yes"
		}
		if k := rng.IntN(12); k < 6 && k > 0 {
			r[k] = ""
		}
		records = append(records, r)
	}
	return datasets.TableReader{Name: "customers", Kinds: map[string]datasets.Kind{"complaint": datasets.Text}}.Records(records).Without("id")
}

// TestTablePipeline fits pipelines to a table with all kinds of columns. Their saved models
// predict the same, to the bit, of a raw table whose columns stand in another order, among
// others that are not asked for.
func TestTablePipeline(t *testing.T) {
	all := customers(300)
	shuffled := all.Only("plan", "paid", "complaint", "left", "joined", "age", "city")
	gone, paid := all.Without("paid").Target("left"), all.Without("left").Target("paid")
	for name, c := range map[string]struct {
		last  transform.Part
		steps []transform.Part
	}{
		"encoded":   {svmnb.Classify(gone).Kernel(kernels.RBF(0.1)).C(10), []transform.Part{transform.Encode()}},
		"linear":    {svmnb.Classify(gone).CoordinateDescent(), []transform.Part{transform.Encode(), transform.MaxAbs()}},
		"regressed": {svmnb.Regress(paid).Kernel(kernels.RBF(0.1)), []transform.Part{transform.Encode()}},
		"process": {gp.Regress(paid.ColumnsNamed("age", "city", "joined")).Kernel(kernels.RBF(0.1)).NoiseVariance(0.1),
			[]transform.Part{transform.Encode()}},
		"by columns": {svmnb.Classify(gone).Kernel(kernels.RBF(0.1)), []transform.Part{
			transform.On("age").Do(transform.ImputeBy(transform.Median).Indicate(), transform.Standardise()),
			transform.On("city", "plan").Do(transform.Imputation{By: transform.Constant, Level: "none"}, transform.OneHot().Rare(0.05).Unknown(transform.IsOther)),
			transform.On("joined").Do(transform.Impute(), transform.Calendar("days", "season"), transform.MinMax()),
			transform.On("complaint").Do(transform.HashWords(64).Grams(2)),
		}},
		"in order": {svmnb.Classify(all.Only("age", "plan", "left").Present("plan").Order("plan", "basic", "plus").Target("left")).Kernel(kernels.RBF(0.1)), []transform.Part{
			transform.On("plan").Do(transform.Ordinal()), transform.Impute(), transform.Standardise(), transform.PCA(2)}},
		"twice the same names": {svmnb.Classify(all.Only("age", "paid", "city", "left").Target("left")).Kernel(kernels.RBF(0.1)), []transform.Part{
			transform.Impute(), transform.OneHot(), transform.On("age").Do(transform.Standardise(), transform.PCA(1)), transform.On("paid").Do(transform.Standardise(), transform.PCA(1))}},
		"landmarks": {svmnb.Classify(gone.ColumnsNamed("age", "city")).CoordinateDescent(), []transform.Part{
			transform.Encode(), transform.Nystroem(kernels.RBF(0.3), 20, 1)}},
	} {
		fit := testkit.FitOf(t, Pipe(append(c.steps, c.last)...))
		rows := all
		if name == "in order" {
			rows = all.Present("plan")
			shuffled := rows.Only("left", "plan", "age")
			if v, err := fit.Values(shuffled); err != nil || len(v) != rows.N() {
				t.Error(err)
			}
		}
		want, err := fit.Values(rows)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		file := filepath.Join(t.TempDir(), "model")
		if err := model.Save(file, fit); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		m, err := model.Load(file)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if name != "in order" {
			rows = shuffled
		}
		if got, err := m.Values(rows); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: the loaded model has other values, %v", name, err)
		}
		if _, err := m.Values(rows.Without("age")); err == nil || !strings.Contains(err.Error(), `no column "age"`) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := m.Values(datasets.Rows{{1, 2}}); err == nil {
			t.Errorf("%s takes rows without names", name)
		}
	}
}

// TestTableLearns asks that what Encode makes can be learnt from, and that folds see
// only their own rows.
func TestTableLearns(t *testing.T) {
	data := customers(600).Without("paid").Target("left")
	train, test := data.Split(0.7, 1)
	fit := testkit.FitOf(t, Pipe(transform.Encode(), svmnb.Classify(train).Kernel(kernels.RBF(0.05)).C(10)))
	e, err := fit.Evaluate(test)
	if err != nil || e.Confusion().Accuracy() < 0.93 {
		t.Error(err, e.Confusion().Accuracy())
	}
	v, err := CrossValidate(context.Background(), Pipe(transform.Encode(), svmnb.Classify(train).Kernel(kernels.RBF(0.05)).C(10)), StratifiedKFold(5, 1))
	if err != nil || v.Mean() < 0.93 {
		t.Error(err, v)
	}
	c, err := fit.Calibrate(context.Background(), svmnb.Platt{Folds: 3})
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.Probabilities(test)
	if err != nil || len(p) != test.N() {
		t.Error(err)
	}
	if again, err := c.Model().Probabilities(test); err != nil || fmt.Sprint(again) != fmt.Sprint(p) {
		t.Error("the model has other probabilities", err)
	}
	if e, err := c.Evaluate(test); err != nil || e.Confusion().Accuracy() < 0.93 {
		t.Error(err)
	}
	careful, err := c.Threshold(context.Background(), svmnb.ForCost(1, 20))
	if err != nil {
		t.Fatal(err)
	}
	usual, _ := c.Predict(test)
	alarms, err := careful.Predict(test)
	if err != nil || count(alarms, "yes") < count(usual, "yes") {
		t.Error("a costly miss makes no more alarms", err)
	}
	if again, err := careful.Model().Predict(test); err != nil || !slices.Equal(again, alarms) {
		t.Error("the model has another threshold", err)
	}
	// Kinds that a reader would take for others become what training had.
	few := datasets.TableOfRecords([]map[string]any{{"age": "55", "city": nil, "joined": "2023-05-01", "plan": "plus", "complaint": "late again"}})
	if got, err := fit.Predict(few); err != nil || got[0] != "yes" {
		t.Error(got, err)
	}
	names := fit.Fit().(*svmnb.Fit).Description.Data().Features
	for _, want := range []string{"age", "age is missing", "city = Bern", "joined days", "joined season sin", "complaint: late"} {
		if !slices.Contains(names, want) {
			t.Errorf("no feature %q in %q", want, names)
		}
	}
	if x, err := fit.Transform(test.Select([]int{0})); err != nil || len(x) != 1 || len(x[0]) != len(names) {
		t.Error(len(x), err)
	}
	if _, err := svmnb.Classify(data).Fit(context.Background()); err == nil || !strings.Contains(err.Error(), "transform.Encode()") {
		t.Error(err)
	}
	if s := math.Abs(float64(len(*Pipe(transform.Encode(), svmnb.Classify(data)).steps)) - 1); s != 0 {
		t.Error(s)
	}
}

// TestTableSearched runs a search over a pipeline of a table, and refuses its file for
// another table.
func TestTableSearched(t *testing.T) {
	ctx, file := context.Background(), filepath.Join(t.TempDir(), "search")
	data := customers(120).Without("paid").Target("left")
	search := func(data *datasets.Dataset) (*SearchFit, error) {
		return Search(Pipe(transform.Encode(), svmnb.Classify(data).Kernel(kernels.RBF(0.1))), Grid{"C": {1, 10}, "gamma": {0.01, 0.1}}, StratifiedKFold(3, 1)).File(file).Fit(ctx)
	}
	first, err := search(data)
	if err != nil {
		t.Fatal(err)
	}
	again, err := search(data)
	if err != nil || fmt.Sprint(again.Trials) != fmt.Sprint(first.Trials) {
		t.Error(err)
	}
	other := *data
	other.Table = data.Table.With(datasets.Column{Name: "age", Values: make([]float64, data.N())})
	if _, err := search(&other); err == nil {
		t.Error("a file of other data was taken")
	}
}

func count(list []string, of string) (n int) {
	for _, s := range list {
		if s == of {
			n++
		}
	}
	return n
}
