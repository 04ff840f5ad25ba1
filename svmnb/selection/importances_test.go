package selection_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/gp"
	"github.com/svmnb/svmnb/svmnb/model"
	"github.com/svmnb/svmnb/svmnb/selection"
	"github.com/svmnb/svmnb/svmnb/transform"
)

func importances(t *testing.T, fit model.Modeler, data *datasets.Dataset, by ...selection.Metric) *selection.Importance {
	t.Helper()
	i, err := selection.Importances(context.Background(), fit, data, by...)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// Of Friedman's ten features the targets use the first five.
func TestImportancesFindTheFeaturesInUse(t *testing.T) {
	train, test := datasets.Friedman1(300, 0.5, 1).Split(0.6, 1)
	for name, fit := range map[string]model.Modeler{
		"regression": svmnb.Regress(train).Kernel(kernels.RBF(0.3)).C(30).MustFit(),
		"process":    gp.Regress(train).Kernel(kernels.Scale(30, kernels.SquaredExponential(1))).NoiseVariance(0.25).MustFit(),
		"pipeline":   selection.Pipe(transform.Standardise(), svmnb.Regress(train).Kernel(kernels.RBF(0.02)).C(30)).MustFit(),
	} {
		i := importances(t, fit, test)
		if means := i.Means(); slices.Min(means[:5]) < 3*slices.Max(means[5:]) {
			t.Errorf("%s: the features in use lose %.3g, the others %.3g", name, means[:5], means[5:])
		}
		if i.Metric.Name != "RMSE" || i.Score <= 0 {
			t.Errorf("%s: %s %v", name, i.Metric.Name, i.Score)
		}
	}
}

// The same points have the same importances as rows, sparse and as a table; and a loaded model
// those of its fit.
func TestImportancesOfEveryForm(t *testing.T) {
	data := datasets.BreastCancer()
	data = data.Columns(0, 1, 2, 3, 4, 5)
	for i := range data.X {
		data.X[i][4] = 0 // so that the sparse points have features to skip, one of them everywhere
		if i%3 > 0 {
			data.X[i][2] = 0
		}
	}
	train, test := data.Split(0.5, 1)
	pipe := func(d *datasets.Dataset) model.Modeler {
		return selection.Pipe(transform.MaxAbs(), svmnb.Classify(d).Kernel(kernels.RBF(1))).MustFit()
	}
	fit := pipe(train)
	rows := importances(t, fit, test, selection.AUC)
	sparse := *test
	sparse.X, sparse.Sparse = nil, sparseOf(test)
	if err := sparse.Check(); err != nil {
		t.Fatal(err)
	}
	table := *test
	table.X, table.Table = nil, tableOf(test)
	for name, of := range map[string]*datasets.Dataset{"sparse": &sparse, "table": &table} {
		i := importances(t, fit, of, selection.AUC)
		if d := cmp.Diff(rows.Losses, i.Losses); d != "" || !slices.Equal(rows.Features, i.Features) {
			t.Errorf("%s: %v %s", name, i.Features, d)
		}
	}
	if slices.ContainsFunc(rows.Losses[4], func(v float64) bool { return v != 0 }) {
		t.Errorf("a constant feature loses %v", rows.Losses[4])
	}
	path := t.TempDir() + "/model"
	if err := model.Save(path, fit); err != nil {
		t.Fatal(err)
	}
	loaded, err := model.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(rows.Losses, importances(t, loaded, test, selection.AUC).Losses); d != "" {
		t.Errorf("the loaded model differs: %s", d)
	}
}

func sparseOf(d *datasets.Dataset) *datasets.CSR {
	c := &datasets.CSR{Start: []int{0}, D: d.D()}
	for _, row := range d.X {
		for j, v := range row {
			if v != 0 {
				c.Index, c.Value = append(c.Index, int32(j)), append(c.Value, v)
			}
		}
		c.Start = append(c.Start, len(c.Index))
	}
	return c
}

func tableOf(d *datasets.Dataset) *datasets.Table {
	t := datasets.NewTable()
	for j := range d.D() {
		column := datasets.Column{Name: d.FeatureName(j), Kind: datasets.Number}
		for _, row := range d.X {
			column.Values = append(column.Values, row[j])
		}
		t = t.With(column)
	}
	return t
}

// A threshold, probabilities and several machines are scored by what they predict.
func TestImportancesOfClasses(t *testing.T) {
	iris := datasets.Iris()
	i := importances(t, svmnb.Classify(iris).Kernel(kernels.RBF(0.5)).OneVsOne().MustFit(), iris)
	if i.Metric.Name != "accuracy" || len(i.Features) != 4 || i.Means()[2] < i.Means()[1] {
		t.Errorf("%s of iris: %v", i.Metric.Name, i.Means())
	}
	two := iris.Pair("virginica", "versicolor")
	fit := svmnb.Classify(two).Kernel(kernels.RBF(0.5)).MustFit()
	all := fit.MustThreshold(svmnb.ForRecall(1))
	e, err := all.Evaluate(two)
	if err != nil {
		t.Fatal(err)
	}
	if i := importances(t, all, two); i.Score != e.Confusion().Accuracy() {
		t.Errorf("accuracy with a threshold is %v, Evaluate says %v", i.Score, e.Confusion().Accuracy())
	}
	sure := fit.MustCalibrate(svmnb.Platt{})
	if i := importances(t, sure, two, selection.LogLoss); i.Means()[3] <= 0 || !i.Metric.Lower {
		t.Errorf("log loss rises by %v", i.Means())
	}
}

func TestImportancesRefuse(t *testing.T) {
	ctx := context.Background()
	two := datasets.Iris().Pair("virginica", "versicolor")
	fit := svmnb.Classify(two).MustFit()
	hole := two.Select([]int{0, 1, 60, 61})
	hole.X[1][2] = math.NaN()
	for name, c := range map[string]struct {
		fit  model.Modeler
		data *datasets.Dataset
		by   []selection.Metric
		want string
	}{
		"no fit":          {nil, two, nil, "Importances"},
		"an empty fit":    {&svmnb.Fit{}, two, nil, "Importances"},
		"no data":         {fit, nil, nil, "data"},
		"missing values":  {fit, hole, nil, "row 1"},
		"another class":   {fit, datasets.Iris(), nil, `the class "setosa"`},
		"fewer features":  {fit, two.Columns(0, 1), nil, "features"},
		"two metrics":     {fit, two, []selection.Metric{selection.AUC, selection.F1}, "2 metrics"},
		"an empty metric": {fit, two, []selection.Metric{{}}, "no function"},
		"no probability":  {fit, two, []selection.Metric{selection.LogLoss}, "probabilities"},
	} {
		i, err := selection.Importances(ctx, c.fit, c.data, c.by...)
		if err == nil || !strings.Contains(err.Error(), c.want) || i != nil {
			t.Errorf("%s: %v, %v", name, i, err)
		}
	}
}

// An interrupt leaves the features that are done.
func TestImportancesStop(t *testing.T) {
	ctx, stop := context.WithCancelCause(context.Background())
	why := errors.New("enough")
	asked := 0
	counting := selection.Metric{Name: "count", Of: func(h *selection.HeldOut) (float64, error) {
		if asked++; asked == 1+5+3 {
			stop(why)
		}
		return selection.Accuracy.Of(h)
	}}
	iris := datasets.Iris().Pair("virginica", "versicolor")
	i, err := selection.Importances(ctx, svmnb.Classify(iris).MustFit(), iris, counting)
	if !errors.Is(err, why) || i == nil || len(i.Features) != 1 || len(i.Losses[0]) != 5 {
		t.Fatalf("%+v, %v", i, err)
	}
	if _, err := i.Chart(); err != nil {
		t.Errorf("%v", err)
	}
}

func TestImportancesChart(t *testing.T) {
	train, test := datasets.Friedman1(120, 0.5, 1).Split(0.6, 1)
	i := importances(t, svmnb.Regress(train).Kernel(kernels.RBF(0.3)).C(30).MustFit(), test)
	c, err := i.Chart()
	if err != nil {
		t.Fatal(err)
	}
	text := c.Title.Title + c.Title.Subtitle
	for _, want := range []string{"Shuffling x", " raises the RMSE most, from ", "increase of the RMSE", "5 shuffles"} {
		if !strings.Contains(text, want) {
			t.Errorf("the chart does not say %q: %s", want, text)
		}
	}
}
