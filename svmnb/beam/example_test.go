package beam_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/doctest"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/beam"
	"github.com/svmnb/svmnb/svmnb/model"
	"github.com/svmnb/svmnb/svmnb/remote"
	"github.com/svmnb/svmnb/svmnb/selection"
)

// What docs/scale.md shows compiles and runs.
func TestScaleDocument(t *testing.T) {
	doctest.Same(t, "../../docs/scale.md", "example_test.go", 3)
}

// A search whose fits are computed on Beam, here in this process.
func ExampleRunner() {
	ctx := context.Background()
	data := datasets.Iris()

	found, err := selection.Search(svmnb.Classify(data).OneVsOne(),
		selection.Grid{"C": selection.Log2(-2, 6, 2), "gamma": selection.Log2(-6, 0, 2)},
		selection.StratifiedKFold(5, 1)).On(beam.Runner{}).Fit(ctx)
	if err != nil {
		log.Fatal(err)
	}
	best, _ := found.Best()
	fmt.Printf("%.3f at %v\n", best.Mean(), best.Values)
	// Output: 0.987 at [0.0625 4]
}

// A machine from files, in blocks, with a certificate against all points; then its predictions.
func ExampleRunner_Train() {
	folder, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	if err := writeMoons(folder, "a.csv", 1); err != nil {
		log.Fatal(err)
	}
	if err := writeMoons(folder, "b.csv", 2); err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()

	files := beam.Files{Paths: []string{filepath.Join(folder, "a.csv"), filepath.Join(folder, "b.csv")}, Bytes: 20_000}
	description := svmnb.Classify(beam.Later).Kernel(kernels.RBF(1)).C(5)
	runner := beam.Runner{Dir: filepath.Join(folder, "work")}
	fit, err := runner.Train(ctx, files, description, 1e-3)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(fit.Reached, fit.N, fit.Blocks > 3)
	err = model.Save(filepath.Join(folder, "moons.model"), fit)
	if err != nil {
		log.Fatal(err)
	}
	done, err := runner.Predict(ctx, files, fit.Model(), filepath.Join(folder, "predictions"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f\n", done.Accuracy())

	// Output:
	// true 2000 true
	// 0.93
}

func writeMoons(folder, name string, seed uint64) error {
	file, err := os.Create(filepath.Join(folder, name))
	if err != nil {
		return err
	}
	if err := datasets.Moons(1000, 0.3, seed).WriteCSV(file); err != nil {
		return err
	}
	return file.Close()
}

// A notebook cell links nothing of Beam: it starts the program svmnb-beam, which is installed once.
// It has no output here, where the program is not installed.
func Example_cell() {
	data := datasets.Moons(20_000, 0.3, 1)

	four := remote.Program{Args: []string{"-processes", "4"}}
	found := selection.Search(svmnb.Classify(data).Kernel(kernels.RBF(1)),
		selection.Grid{"C": selection.Log2(-2, 6, 2)}, selection.KFold(5, 1)).On(four).Keep()
	found.Show()
	fit := four.MustClassify(svmnb.Classify(data).Kernel(kernels.RBF(1)).C(4))
	fit.Show(svmnb.Margins)
}
