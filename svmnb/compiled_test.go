package svmnb

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// TestCellCompilesLittle: the package of a cell does not compile the generic types of the
// library again, as it would if it could see them through those that it uses.
func TestCellCompilesLittle(t *testing.T) {
	cell := filepath.Join(t.TempDir(), "main.go")
	err := os.WriteFile(cell, []byte(`package main

import (
	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/gp"
)

func main() {
	svmnb.Classify(datasets.Iris()).MustFit().Show(svmnb.Margins)
	gp.Regress(datasets.Motorcycle()).MustFit().Show(gp.Posterior)
}
`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "build", "-gcflags=-S", "-o", filepath.Join(filepath.Dir(cell), "cell"), cell).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	generic := regexp.MustCompile(`(?m)^github\.com/svmnb/\S*\[\S* STEXT`).FindAll(out, -1)
	if !regexp.MustCompile(`(?m)^main\.main STEXT`).Match(out) {
		t.Fatal("no assembly of the cell is printed")
	}
	if len(generic) > 40 {
		t.Errorf("the cell compiles %d generic functions of the library: %s …", len(generic), generic[:3])
	}
	t.Logf("%d generic functions", len(generic))
}
