package model_test

import (
	"bytes"
	"errors"
	"fmt"
	"go/format"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"github.com/svmnb/svmnb/svmnb/model"
)

// The packages are compiled into one program, which prints what they predict.
func TestWriteGo(t *testing.T) {
	moons := datasets.Moons(30, 0.2, 1)
	laplacian := testkit.FitOf(t, svmnb.Classify(moons).Kernel(kernels.Laplacian(0.5)))
	own := func(f *svmnb.Fit) modelled {
		values, _ := f.Values(datasets.Rows(moons.X))
		names, _ := f.Predict(datasets.Rows(moons.X))
		return modelled{"Laplacian", f, moons.X, machines.AsRows(values), names}
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var imports, calls bytes.Buffer
	var fits []modelled
	for _, f := range append(modelledFits(), own(laplacian)) {
		m := f.fit.Model()
		var text bytes.Buffer
		err := m.WriteGo(&text, "predictor")
		_, known := model.HasGoKernel(m.Inside().Kernel)
		if !known || m.Inside().Process != nil && m.Inside().Process.Beta != nil || strings.Contains(f.name, "no code") {
			if !errors.As(err, new(*model.Error)) || text.Len() > 0 {
				t.Errorf("%s: %v, want a *Error and nothing written", f.name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", f.name, err)
			continue
		}
		if tidy, err := format.Source(text.Bytes()); err != nil || !bytes.Equal(tidy, text.Bytes()) {
			t.Errorf("%s: not as gofmt writes it: %v", f.name, err)
		}
		pkg := fmt.Sprintf("p%d", len(fits))
		write(pkg+"/predictor.go", text.String())
		fmt.Fprintf(&imports, "\t%s \"predictors/%s\"\n", pkg, pkg)
		probability := fmt.Sprintf("f := %s.Decisions(x)", pkg)
		if m.Inside().Curves != nil {
			probability = fmt.Sprintf("f := %s.Probabilities(x)", pkg)
		}
		fmt.Fprintf(&calls, "\tfor _, x := range [][%s.D]float64{\n", pkg)
		for _, x := range f.x {
			fmt.Fprintf(&calls, "\t\t{%s},\n", strings.ReplaceAll(strings.Trim(strings.Join(strings.Fields(fmt.Sprintf("%.17g", x)), ", "), "[]"), "NaN", "nan"))
		}
		fmt.Fprintf(&calls, "\t} {\n\t\t%s\n\t\tfmt.Print(%s.Predict(x))\n\t\tfor _, v := range f { fmt.Printf(\"\\t%%.17g\", v) }\n\t\tfmt.Println()\n\t}\n", probability, pkg)
		fits = append(fits, f)
	}
	write("go.mod", "module predictors\n\ngo 1.26\n")
	write("main.go", "package main\n\nimport (\n\t\"fmt\"\n\t\"math\"\n"+imports.String()+")\n\nvar nan = math.NaN()\n\nfunc main() {\n"+calls.String()+"}\n")
	cmd := exec.Command("go", "run", ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%.2000s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for _, f := range fits {
		for i := range f.x {
			words := strings.Split(lines[0], "\t")
			lines = lines[1:]
			if f.names != nil && words[0] != f.names[i] {
				t.Errorf("%s: point %d is %s, want %s", f.name, i, words[0], f.names[i])
			}
			for k, want := range f.values[i] {
				if v := float(t, words[1+k]); !(math.Abs(v-want) <= 1e-11*(1+math.Abs(want))) {
					t.Fatalf("%s: value %d of point %d is %v, want %v", f.name, k, i, v, want)
				}
			}
		}
	}
	if len(lines) != 0 || len(fits) < 18 {
		t.Errorf("%d lines too many of %d models", len(lines), len(fits))
	}
	for _, name := range []string{"", "_", "func", "a b", "p\nvar x", "1"} {
		if err := laplacian.Model().WriteGo(&bytes.Buffer{}, name); !errors.As(err, new(*model.Error)) {
			t.Errorf("package %q: %v", name, err)
		}
	}
}
