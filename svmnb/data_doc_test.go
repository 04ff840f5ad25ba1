package svmnb_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/doctest"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/selection"
	"github.com/svmnb/svmnb/svmnb/transform"
)

// What docs/data.md shows compiles and runs, in the order of the page.
func TestDataDocument(t *testing.T) {
	doctest.Same(t, "../docs/data.md", "data_doc_test.go", 5)

	t.Chdir(t.TempDir())
	text := "id,name,age,plan,complaint,churn\n"
	for i := range 100 { // who complains leaves
		text += fmt.Sprintf("%d,Muster %d,%d,%d,%q,%s\n", i, i, 20+i%50, i%3, []string{"thanks, all is well", "late again, and never an answer"}[i%2], []string{"no", "yes"}[i%2])
	}
	if err := os.WriteFile("customers.csv", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}

	customers := datasets.TableReader{Decimal: ',', Kinds: map[string]datasets.Kind{"plan": datasets.Category}}.Open("customers.csv")
	data := customers.Without("id", "name").Target("churn")
	train, test := data.Split(0.7, 1)
	fit := selection.Pipe(transform.Encode(), svmnb.Classify(train).Kernel(kernels.RBF(0.05)).C(10)).MustFit()

	if accuracy, err := fit.Score(test); err != nil || accuracy != 1 {
		t.Error(accuracy, err)
	}

	t.Setenv("TMPDIR", t.TempDir()) // for the pages
	display.Missing(customers).Show()
	display.Histograms(data).Show()

	for _, picture := range []display.Drawing{display.Missing(customers), display.Histograms(data)} {
		if _, err := picture.Chart(); err != nil {
			t.Error(err)
		}
	}
}

func TestDataDocumentImages(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())

	train, test := datasets.Digits().Split(0.7, 1)
	evaluation, err := svmnb.Classify(train).Kernel(kernels.RBF(0.001)).C(10).OneVsOne().MustFit().Evaluate(test)
	rows, captions := evaluation.Mistakes()
	display.Images(test.Select(rows), 8, 8, captions...).Show()

	if err != nil || len(rows) == 0 || len(rows) > test.N()/20 {
		t.Error(err, len(rows))
	}

	pair := train.Pair("3", "8")
	var vectors []int
	for _, v := range svmnb.Classify(pair).Kernel(kernels.RBF(0.001)).C(10).MustFit().SupportVectors() {
		vectors = append(vectors, v.Index)
	}
	display.Images(pair.Select(vectors), 8, 8).Show()

	for _, picture := range []display.Drawing{display.Images(test.Select(rows), 8, 8, captions...), display.Images(pair.Select(vectors), 8, 8)} {
		if c, err := picture.Chart(); err != nil {
			t.Error(err)
		} else {
			t.Log(c.Title.Title, "·", c.Title.Subtitle)
		}
	}
}

func TestDataDocumentSparse(t *testing.T) {
	ctx := context.Background()
	t.Chdir(t.TempDir())
	var text bytes.Buffer
	for i := range 100 { // the class is in a feature of its own among a million
		fmt.Fprintf(&text, "%d %d:3 %d:1\n", i%2, 1+i%2, 1000+9999*i)
	}
	if err := os.WriteFile("news20", text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}

	data, err := datasets.LoadLIBSVMSparse("news20", 0)
	if err != nil {
		t.Fatal(err)
	}
	train, test := data.Split(0.8, 1)
	fit, err := selection.Pipe(transform.MaxAbs(), svmnb.Classify(train).CoordinateDescent()).Fit(ctx)
	if err != nil {
		t.Fatal(err)
	}
	accuracy, err := fit.Score(test)
	if err != nil || accuracy != 1 {
		t.Error(accuracy, err)
	}
}
