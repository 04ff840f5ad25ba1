package svmnb_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/doctest"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/selection"
	"github.com/svmnb/svmnb/svmnb/transform"
)

// What docs/data.md shows compiles and runs.
func TestDataDocument(t *testing.T) {
	doctest.Same(t, "../docs/data.md", "data_doc_test.go", 1)

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
