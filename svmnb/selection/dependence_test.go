package selection_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/model"
	"github.com/svmnb/svmnb/svmnb/selection"
	"github.com/svmnb/svmnb/svmnb/transform"
)

// The curve of a linear machine is a line with its weight as the slope, for every point, as rows
// and as a table.
func TestPartialDependenceOfALine(t *testing.T) {
	data := datasets.Friedman1(90, 0.5, 1).Columns(0, 1, 2)
	fit := svmnb.Regress(data).Kernel(kernels.Linear()).MustFit()
	w, err := fit.Weights()
	if err != nil {
		t.Fatal(err)
	}
	table := *data
	table.X, table.Table = nil, tableOf(data)
	behind := selection.Pipe(transform.Encode(), svmnb.Regress(&table).Kernel(kernels.Linear())).MustFit()
	for name, c := range map[string]struct {
		fit  model.Modeler
		data *datasets.Dataset
	}{"rows": {fit, data}, "table": {behind, &table}} {
		feature := data.FeatureName(1)
		if c.data.Table != nil {
			feature = c.data.Table.Names()[1]
		}
		d, err := selection.PartialDependence(context.Background(), c.fit, c.data, feature)
		if err != nil {
			t.Fatal(name, err)
		}
		last := len(d.At) - 1
		if len(d.Each) != 90 || last != 39 || !slices.IsSorted(d.At) {
			t.Fatalf("%s: %d curves of %d values", name, len(d.Each), len(d.At))
		}
		slope := w[1]
		if name == "table" {
			slope = (d.Each[0][last] - d.Each[0][0]) / (d.At[last] - d.At[0]) // its steps scale
		}
		for i, row := range append(d.Each, d.Means()) {
			for k := range row {
				if want := row[0] + slope*(d.At[k]-d.At[0]); math.Abs(row[k]-want) > 1e-9*(1+math.Abs(want)) {
					t.Fatalf("%s, curve %d: %v at %v, want %v", name, i, row[k], d.At[k], want)
				}
			}
		}
	}
}

// At its own value of the feature each point has its own prediction.
func TestPartialDependenceAtTheData(t *testing.T) {
	data := datasets.Iris().Select(seq(100))
	fit := svmnb.Classify(data).Kernel(kernels.RBF(0.5)).MustFit()
	d, err := selection.PartialDependence(context.Background(), fit, data, data.FeatureName(2))
	if err != nil {
		t.Fatal(err)
	}
	values, err := fit.Values(data)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range values {
		k := slices.Index(d.At, data.X[i][2])
		if k < 0 || math.Abs(d.Each[i][k]-f) > 1e-12 {
			t.Fatalf("point %d: %v among %v", i, f, d.At)
		}
	}
	if _, err := d.Chart(); err != nil {
		t.Error(err)
	}
	if d.Measure != "f" {
		t.Error(d.Measure)
	}
}

func TestPartialDependenceErrors(t *testing.T) {
	data := datasets.Moons(40, 0.2, 1)
	fit := svmnb.Classify(data).Kernel(kernels.RBF(1)).MustFit()
	sparse := *data
	sparse.X, sparse.Sparse = nil, sparseOf(data)
	for name, c := range map[string]struct {
		fit     model.Modeler
		data    *datasets.Dataset
		feature string
		says    string
	}{
		"no fit":     {(*svmnb.Fit)(nil), data, "x1", "fit"},
		"no data":    {fit, nil, "x1", "data"},
		"no feature": {fit, data, "height", "height"},
		"sparse":     {fit, &sparse, "x1", "dense"},
		"classes":    {svmnb.Classify(datasets.Iris()).OneVsOne().MustFit(), datasets.Iris(), datasets.Iris().FeatureName(0), "3 machines"},
	} {
		if _, err := selection.PartialDependence(context.Background(), c.fit, c.data, c.feature); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, stop := context.WithCancelCause(context.Background())
	enough := errors.New("enough")
	stop(enough)
	if _, err := selection.PartialDependence(ctx, fit, data, data.FeatureName(0)); !errors.Is(err, enough) {
		t.Errorf("interrupted: %v", err)
	}
}
