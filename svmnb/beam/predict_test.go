package beam

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/model"
	"github.com/svmnb/svmnb/svmnb/selection"
	"github.com/svmnb/svmnb/svmnb/transform"
)

// The predictions in the files are those of the model, bit for bit, in the order of the points.
func TestPredict(t *testing.T) {
	iris, cars := datasets.Iris(), datasets.Cars()
	two := datasets.Moons(200, 0.3, 1)
	for name, c := range map[string]struct {
		data *datasets.Dataset
		fit  model.Modeler
	}{
		"two":      {two, svmnb.Classify(two).Kernel(kernels.RBF(1)).MustFit()},
		"several":  {iris, svmnb.Classify(iris).OneVsOne().MustFit()},
		"pipeline": {iris, selection.Pipe(transform.Standardise(), svmnb.Classify(iris).OneVsRest()).MustFit()},
		"targets":  {cars, svmnb.Regress(cars).MustFit()},
	} {
		t.Run(name, func(t *testing.T) {
			m, out, dir := c.fit.Model(), t.TempDir(), t.TempDir()
			for range 2 { // the second time, a part is missing
				got, err := Runner{Dir: dir}.Predict(t.Context(), Memory(c.data, 4), m, out)
				if err != nil {
					t.Fatal(err)
				}
				if got.N != c.data.N() || len(got.Files) != 4 {
					t.Errorf("%+v", got)
				}
				var names []string
				var values []float64
				for _, file := range got.Files {
					f, err := os.Open(file)
					if err != nil {
						t.Fatal(err)
					}
					lines, err := csv.NewReader(f).ReadAll()
					f.Close()
					if err != nil {
						t.Fatal(err)
					}
					for _, line := range lines[1:] {
						for k, column := range lines[0] {
							if column == "class" {
								names = append(names, line[k])
								continue
							}
							v, err := strconv.ParseFloat(line[k], 64)
							if err != nil {
								t.Fatal(err)
							}
							values = append(values, v)
						}
					}
				}
				right := 0
				if m.Classes() != nil {
					want, err := m.Predict(c.data)
					if err != nil {
						t.Fatal(err)
					}
					for i, name := range want {
						if names[i] != name {
							t.Errorf("point %d: %s, want %s", i, names[i], name)
						}
						if name == c.data.ClassName(c.data.Y[i]) {
							right++
						}
					}
				} else if math.IsNaN(got.RMSE) {
					t.Error("there is no RMSE")
				}
				if got.Right != right {
					t.Errorf("%d are right, want %d", got.Right, right)
				}
				if len(m.Inside().Terms) == 1 {
					want, err := m.Values(c.data)
					if err != nil {
						t.Fatal(err)
					}
					for i := range want {
						if math.Float64bits(values[i]) != math.Float64bits(want[i]) {
							t.Errorf("point %d: %v, want %v", i, values[i], want[i])
						}
					}
				}
				if err := os.Remove(filepath.Join(out, "part-00002.csv")); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// A fit from blocks becomes an ordinary fit on data in memory.
func TestWhole(t *testing.T) {
	noisy := datasets.Moons(600, 0.3, 6)
	c := svmnb.Classify(noisy).Kernel(kernels.RBF(1)).C(5)
	fit, err := Runner{}.Train(t.Context(), Memory(noisy, 4), c, 1e-3)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := fit.Classifier(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := c.Fit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	near(t, "the dual", whole.Certificate.Dual, plain.Certificate.Dual, 1e-3)
	if whole.Iterations > plain.Iterations/2 {
		t.Errorf("the solver took %d iterations from the fit, and %d from nothing", whole.Iterations, plain.Iterations)
	}
	if _, err := fit.Classifier(t.Context(), svmnb.Classify(datasets.Moons(600, 0.3, 7)).Kernel(kernels.RBF(1))); err == nil {
		t.Error("other data are no error")
	}
	sinc := datasets.Sinc(300, 0.2, 3)
	r := svmnb.Regress(sinc).Kernel(kernels.RBF(1)).Epsilon(0.2)
	if fit, err = (Runner{}).Train(t.Context(), Memory(sinc, 3), r, 1e-3); err != nil {
		t.Fatal(err)
	}
	regression, err := fit.Regression(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "the dual", regression.Certificate.Dual, fit.Dual, 1e-2)
}
