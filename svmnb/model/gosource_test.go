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
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"github.com/svmnb/svmnb/svmnb/model"
	"github.com/svmnb/svmnb/svmnb/selection"
	"github.com/svmnb/svmnb/svmnb/transform"
)

// goModule runs a program in a module that has these files.
func goModule(t *testing.T, files map[string]string) []byte {
	t.Helper()
	dir := t.TempDir()
	files["go.mod"] = "module predictors\n\ngo 1.26\n"
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "run", ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%.2000s", err, out)
	}
	return out
}

// A model of a table has a struct for its rows.
func TestWriteGoOfTables(t *testing.T) {
	files := map[string]string{}
	var imports, calls bytes.Buffer
	for i, f := range tabledModels() {
		var text bytes.Buffer
		if err := f.m.WriteGo(&text, "predictor"); err != nil {
			t.Fatalf("%s: %v", f.name, err)
		}
		if tidy, err := format.Source(text.Bytes()); err != nil || !bytes.Equal(tidy, text.Bytes()) {
			t.Errorf("%s: not as gofmt writes it: %v\n%.3000s", f.name, err, text.String())
		}
		pkg := fmt.Sprintf("p%d", i)
		files[pkg+"/predictor.go"] = text.String()
		fmt.Fprintf(&imports, "\t%s \"predictors/%s\"\n", pkg, pkg)
		ask := "Decisions"
		if f.m.Inside().Curves != nil {
			ask = "Probabilities"
		}
		fmt.Fprintf(&calls, "\tfor _, x := range []%s.Row{\n", pkg)
		fields := f.m.FieldsOfGo()
		for _, record := range records(f.rows) {
			calls.WriteString("\t\t{")
			for j, c := range f.m.Columns() {
				switch v := record[c.Name].(type) {
				case float64:
					fmt.Fprintf(&calls, "%s: %.17g, ", fields[j], v)
				case string:
					fmt.Fprintf(&calls, "%s: %q, ", fields[j], v)
				case time.Time:
					fmt.Fprintf(&calls, "%s: time.UnixMicro(%d), ", fields[j], v.UnixMicro())
				case nil:
					if c.Kind == datasets.Number {
						fmt.Fprintf(&calls, "%s: math.NaN(), ", fields[j])
					}
				}
			}
			calls.WriteString("},\n")
		}
		fmt.Fprintf(&calls, "\t} {\n\t\tfmt.Print(%s.Predict(x))\n\t\tfor _, v := range %s.%s(x) { fmt.Printf(\"\\t%%.17g\", v) }\n\t\tfmt.Println()\n\t}\n", pkg, pkg, ask)
	}
	files["main.go"] = "package main\n\nimport (\n\t\"fmt\"\n\t\"math\"\n\t\"time\"\n" + imports.String() + ")\n\nvar nan = math.NaN()\n\nfunc main() {\n\tvar _ time.Time\n" + calls.String() + "}\n"
	lines := strings.Split(strings.TrimSpace(string(goModule(t, files))), "\n")
	for _, f := range tabledModels() {
		want, err := f.m.Decisions(f.rows)
		if f.m.Inside().Curves != nil {
			want, err = f.m.Probabilities(f.rows)
		}
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		if f.m.Classes() != nil {
			if names, err = f.m.Predict(f.rows); err != nil {
				t.Fatal(err)
			}
		}
		for i := range want {
			words := strings.Split(lines[0], "\t")
			lines = lines[1:]
			if names != nil && words[0] != names[i] {
				t.Errorf("%s: row %d is %s, want %s", f.name, i, words[0], names[i])
			}
			for k, v := range want[i] {
				if got := float(t, words[1+k]); !(math.Abs(got-v) <= 1e-9*(1+math.Abs(v))) {
					t.Fatalf("%s: value %d of row %d is %v, want %v", f.name, k, i, got, v)
				}
			}
		}
	}
	if len(lines) != 0 {
		t.Errorf("%d lines too many", len(lines))
	}
}

// A row that a model of a table refuses has no class in the Go source: a number is missing that
// no step fills, or a level must be known.
func TestWriteGoRefusesRows(t *testing.T) {
	all := visitors(60).Present()
	fit := testkit.FitOf(t, selection.Pipe(transform.On("city").Do(transform.OneHot().Unknown(transform.IsError)), svmnb.Classify(all.Without("came", "said").Target("stays")).Kernel(kernels.RBF(0.1))))
	var text bytes.Buffer
	if err := fit.Model().WriteGo(&text, "predictor"); err != nil {
		t.Fatal(err)
	}
	out := goModule(t, map[string]string{"p/p.go": text.String(), "main.go": `package main

import (
	"fmt"
	"math"

	predictor "predictors/p"
)

func main() {
	for _, row := range []predictor.Row{{Age: 30, City: "Bern"}, {Age: math.NaN(), City: "Bern"}, {Age: 30, City: "Rom"}} {
		fmt.Printf("%q %v\n", predictor.Predict(row), math.IsNaN(predictor.Decisions(row)[0]))
	}
}
`})
	want, err := fit.Model().Predict(datasets.TableOfRecords([]map[string]any{{"age": 30.0, "city": "Bern"}}))
	if err != nil || string(out) != fmt.Sprintf("%q false\n\"\" true\n\"\" true\n", want[0]) {
		t.Errorf("%s, %v, %v", out, want, err)
	}
}

// The packages are compiled into one program, which prints what they predict.
func TestWriteGo(t *testing.T) {
	moons := datasets.Moons(30, 0.2, 1)
	laplacian := testkit.FitOf(t, svmnb.Classify(moons).Kernel(kernels.Laplacian(0.5)))
	own := func(f *svmnb.Fit) modelled {
		values, _ := f.Values(datasets.Rows(moons.X))
		names, _ := f.Predict(datasets.Rows(moons.X))
		return modelled{"Laplacian", f, moons.X, machines.AsRows(values), names}
	}
	files := map[string]string{}
	var imports, calls bytes.Buffer
	var fits []modelled
	for _, f := range append(modelledFits(), own(laplacian)) {
		m := f.fit.Model()
		var text bytes.Buffer
		err := m.WriteGo(&text, "predictor")
		_, known := model.HasGoKernel(m.Inside().Kernel)
		if !known || m.Inside().Process != nil && m.Inside().Process.Beta != nil {
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
		files[pkg+"/predictor.go"] = text.String()
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
	files["main.go"] = "package main\n\nimport (\n\t\"fmt\"\n\t\"math\"\n" + imports.String() + ")\n\nvar nan = math.NaN()\n\nfunc main() {\n" + calls.String() + "}\n"
	lines := strings.Split(strings.TrimSpace(string(goModule(t, files))), "\n")
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
