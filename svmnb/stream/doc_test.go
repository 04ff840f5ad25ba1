package stream_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/doctest"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/stream"
)

// What docs/large-data.md shows compiles and runs, in the order of the page.
func TestLargeDataDocument(t *testing.T) {
	doctest.Same(t, "../../docs/large-data.md", "doc_test.go", 2)

	t.Chdir(t.TempDir())
	data := datasets.Moons(3000, 0.2, 1)
	data.Target = "kind"
	f, err := os.Create("points.csv")
	if err != nil {
		t.Fatal(err)
	}
	if err := data.WriteCSV(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()

	source, err := datasets.OpenCSV("points.csv", datasets.CSV{Target: "kind"})
	if err != nil {
		t.Fatal(err)
	}
	fit := stream.Classify(source).Standardise().Nystroem(100).C(1).MustFit()
	result, err := fit.Evaluate(ctx, source)
	if err != nil || result.Accuracy() < 0.95 {
		t.Errorf("accuracy %v, %v", result.Accuracy(), err)
	}
	gap, err := fit.Sampled(ctx, 2000)
	if err != nil || !(gap.Dual > 0 && gap.Dual-6*gap.StandardError < gap.Primal) {
		t.Errorf("%v, %v", gap, err)
	}
	err = datasets.SaveRows(ctx, "points.rows", source, datasets.Single)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := datasets.OpenRows("points.rows")
	if err != nil || rows.Head().N != 3000 {
		t.Errorf("%v, %v", rows.Head(), err)
	}
	var page strings.Builder
	if err := display.HTML(&page, fit); err != nil || !strings.Contains(page.String(), "landmarks") {
		t.Errorf("%v: %.200s", err, page.String())
	}
}

func Example() {
	source := datasets.Moons(2000, 0.2, 1) // or datasets.OpenRows("points.rows")
	fit := stream.Classify(source).Kernel(kernels.RBF(0.5)).Nystroem(100).C(1).MustFit()
	exact, err := fit.Blocked(context.Background())
	if err != nil {
		panic(err)
	}
	fmt.Println(fit.Status, fit.RelGap() <= 1e-3)
	fmt.Println("within 1 % of the exact machine:", exact.RelGap() < 0.01)
	// Output:
	// converged true
	// within 1 % of the exact machine: true
}
