package model_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"github.com/svmnb/svmnb/svmnb/model"
	"github.com/svmnb/svmnb/svmnb/selection"
	"github.com/svmnb/svmnb/svmnb/transform"
)

// names are what classes, features, targets, data sets and scalers may be called, since
// anybody may have written the file that they come from.
var names = []string{
	"\nfunc init() { panic(0) }\n//",
	"*/ func init() { panic(0) } /*",
	"`+panic(0)+`",
	`"+panic(0)+"`,
	`\"; panic(0); //`,
	"${panic(0)} {{.}} #{1} %s %d %!v(MISSING)",
	"a\r\nb\rc",
	"\u2028line\u2029paragraph\u0085",
	"nul \x00 bell \x07 escape \x1b[2J",
	"\u202eright to left\u2066\u200f",
	"<script>alert(1)</script> </script><!-- ]]> &lt;",
	"![l](../../etc/passwd) | a | `b` # c",
	"a,b;c\td \"e\" 'f'",
	"=cmd|' /C calc'!A0",
	"../../etc/passwd",
	" around ",
	"label 1 2\nSV\n1 1:1",
	"{\"format\":\"svmnb search 2\"}\n",
	"no UTF-8 \xff\xfe \xc3",
	"NaN", "NA", "null", "1e3", "__proto__", "\ufeffmark", "日本語 ∑ é e\u0301",
	strings.Repeat("long ", 20_000),
}

// renamed gives everything in a data set the name, with a number where names must differ.
func renamed(d *datasets.Dataset, name string) *datasets.Dataset {
	e := *d
	e.Name, e.Target, e.Source, e.Licence = name, name, name, name
	e.Features, e.Classes = nil, slices.Clone(d.Classes)
	for j := range d.D() {
		e.Features = append(e.Features, fmt.Sprint(name, j))
	}
	for k := range e.Classes {
		e.Classes[k] = name + strconv.Itoa(k)
	}
	return &e
}

// hostileModels are models of each shape that the writers know, of data of this name.
func hostileModels(t *testing.T, name string) map[string]*model.Model {
	t.Helper()
	two, three := renamed(datasets.Moons(30, 0.2, 1), name), renamed(testkit.Third(datasets.Iris()), name)
	real := renamed(datasets.Sinc(20, 0.1, 1), name)
	scaler, err := datasets.FitStandard(two)
	if err != nil {
		t.Fatal(err)
	}
	scaler.Name = name
	calibrated, err := svmnb.Classify(two).MustFit().Calibrate(t.Context(), svmnb.Platt{Folds: 3})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]*model.Model{
		"two classes":   svmnb.Classify(two).Kernel(kernels.RBF(1)).MustFit().Model(),
		"linear":        svmnb.Classify(two).Kernel(kernels.Linear()).MustFit().Model(),
		"three classes": svmnb.Classify(three).OneVsOne().MustFit().Model(),
		"the rest":      svmnb.Classify(three).Kernel(kernels.Linear()).OneVsRest().MustFit().Model(),
		"probabilities": calibrated.Model(),
		"one class":     svmnb.OneClass(two).MustFit().Model(),
		"regression":    svmnb.Regress(real).MustFit().Model(),
		"pipeline":      selection.Pipe(transform.Standardise(), transform.PCA(1), svmnb.Classify(two)).MustFit().Model(),
		"own scaler":    svmnb.Classify(scaler.Apply(two)).MustFit().Model().Raw(),
	}
}

// skeleton is a program without what its strings say, and the strings. The importer is
// for all programs, since it reads the source of the standard library.
func skeleton(t *testing.T, set *token.FileSet, imports types.Importer, text []byte) (code string, said []string) {
	t.Helper()
	file, err := parser.ParseFile(set, "predictor.go", text, parser.ParseComments)
	if err != nil {
		t.Fatalf("%v in\n%.500s", err, text)
	}
	if _, err := (&types.Config{Importer: imports}).Check("predictor", set, []*ast.File{file}, nil); err != nil {
		t.Fatalf("%v in\n%.500s", err, text)
	}
	var b strings.Builder
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				s, err := strconv.Unquote(n.Value)
				if err != nil {
					t.Fatal(err)
				}
				said = append(said, s)
				return true
			}
			b.WriteString(n.Value)
		case *ast.Ident:
			b.WriteString(n.Name)
		case *ast.Comment, *ast.CommentGroup:
			return false
		}
		fmt.Fprintf(&b, " %T", n)
		return true
	})
	return b.String(), said
}

// Whatever the names are, what is written for another program has the same code and
// structure, and says the names as they are, or is refused with a typed error.
func TestHostileNamesInExports(t *testing.T) {
	plain := hostileModels(t, "plain")
	written := func(m *model.Model, write func(*model.Model, *bytes.Buffer) error) (string, error) {
		var b bytes.Buffer
		err := write(m, &b)
		return b.String(), err
	}
	goFile := func(m *model.Model, b *bytes.Buffer) error { return m.WriteGo(b, "predictor") }
	onnx := func(m *model.Model, b *bytes.Buffer) error { return m.WriteONNX(b) }
	numbers := map[string]func(*model.Model, *bytes.Buffer) error{ // formats without names
		"LIBSVM":    func(m *model.Model, b *bytes.Buffer) error { return m.WriteLIBSVM(b) },
		"LIBLINEAR": func(m *model.Model, b *bytes.Buffer) error { return m.WriteLIBLINEAR(b) },
	}
	set := token.NewFileSet()
	imports := importer.ForCompiler(set, "source", nil)
	skeletons := map[string]string{}
	for kind, m := range plain {
		if text, err := written(m, goFile); err == nil {
			skeletons[kind], _ = skeleton(t, set, imports, []byte(text))
		}
	}
	if len(skeletons) < 8 {
		t.Fatalf("%d kinds of models have code", len(skeletons))
	}
	path := filepath.Join(t.TempDir(), "model")
	for _, name := range names {
		for kind, m := range hostileModels(t, name) {
			what := fmt.Sprintf("%s called %.60q", kind, name)
			text, err := written(m, goFile)
			if err != nil {
				t.Errorf("%s: %v", what, err)
				continue
			}
			code, said := skeleton(t, set, imports, []byte(text))
			if code != skeletons[kind] {
				t.Errorf("%s: another program:\n%.1000s", what, text)
			}
			for _, class := range m.Inside().Classes {
				if !slices.Contains(said, class) {
					t.Errorf("%s: the program does not know the class", what)
				}
			}

			text, err = written(m, onnx)
			text8 := !slices.ContainsFunc(m.Inside().Classes, func(class string) bool { return !utf8.ValidString(class) })
			ok := err == nil && text8 || errors.As(err, new(*model.Error)) && !text8
			unnamed, refused := written(plain[kind], onnx)
			if !ok && refused == nil && (m.Inside().Classes != nil || err != nil) {
				t.Errorf("%s, ONNX: %v", what, err)
			}
			for k, class := range m.Inside().Classes {
				if n := strings.Count(text, class); err == nil && n != strings.Count(unnamed, plain[kind].Inside().Classes[k]) {
					t.Errorf("%s, ONNX: the class is there %d times", what, n)
				}
			}
			for format, write := range numbers {
				want, refused := written(plain[kind], write)
				if got, err := written(m, write); got != want || (err == nil) != (refused == nil) {
					t.Errorf("%s, %s: %v, plain %v", what, format, err, refused)
				}
			}
			err = model.Save(path, m)
			if err != nil {
				if !errors.As(err, new(*model.Error)) || utf8.ValidString(name) && kind != "own scaler" {
					t.Errorf("%s: %v", what, err)
				}
				continue // whoever scales by an own scaler cannot save it, and is told so
			}
			if again, err := model.Load(path); err != nil || !slices.Equal(again.Inside().Classes, m.Inside().Classes) {
				t.Errorf("%s: loaded as %v", what, err)
			}
		}
	}
}

// A program whose classes all have hostile names compiles, prints the names, and runs no
// code from them.
func TestHostileNamesInAProgram(t *testing.T) {
	d := datasets.Blobs(3*len(names), len(names), 0.1, 1)
	d.Classes = slices.Clone(names)
	var text bytes.Buffer
	if err := svmnb.Classify(d).OneVsRest().MustFit().Model().WriteGo(&text, "main"); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, s := range map[string]string{
		"go.mod":  "module hostile\n\ngo 1.26\n",
		"main.go": text.String(),
		"say.go":  "package main\n\nimport (\n\t\"encoding/json\"\n\t\"os\"\n)\n\nfunc main() {\n\tvar all [][]byte\n\tfor _, c := range Classes {\n\t\tall = append(all, []byte(c))\n\t}\n\tjson.NewEncoder(os.Stdout).Encode(all)\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "run", ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%.2000s", err, out)
	}
	var got [][]byte
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(got, names, func(a []byte, b string) bool { return string(a) == b }) {
		t.Errorf("the program says %q", got)
	}
}

// Files can be read again whatever the names are: each line of a search is whole, and a
// kept fit is found again.
func TestHostileNamesInFiles(t *testing.T) {
	t.Setenv("SVMNB_CACHE", t.TempDir())
	dir := t.TempDir()
	for i, name := range names {
		d := renamed(datasets.Moons(20, 0.2, uint64(i)), name)
		search := selection.Search(selection.Pipe(transform.MinMax(), svmnb.Classify(d)), selection.Grid{"C": {1, 10}}, selection.KFold(2, 1)).File(filepath.Join(dir, strconv.Itoa(i)))
		first, err := search.Fit(context.Background())
		if err != nil {
			t.Fatalf("%.60q: %v", name, err)
		}
		again, err := search.Fit(context.Background())
		if err != nil || again.Fitted != 0 || again.Changed != 0 || again.Table().String() != first.Table().String() {
			t.Errorf("%.60q: learnt again: %v, %v", name, again, err)
		}
		text, err := os.ReadFile(filepath.Join(dir, strconv.Itoa(i)))
		if err != nil || strings.Count(string(text), "\n") != 5 {
			t.Errorf("%.60q: %v, lines\n%.500s", name, err, text)
		}
		for line := range strings.Lines(string(text)) {
			if !json.Valid([]byte(line)) {
				t.Errorf("%.60q: the line %.200q", name, line)
			}
		}
		kept := svmnb.Classify(d).Keep()
		files, err := filepath.Glob(filepath.Join(os.Getenv("SVMNB_CACHE"), "fits", "*"))
		if err != nil || len(files) != i+1 {
			t.Fatalf("%.60q: %d files, %v", name, len(files), err)
		}
		if fit := svmnb.Classify(d).Keep(); !slices.Equal(fit.Alpha, kept.Alpha) {
			t.Errorf("%.60q: another fit is kept", name)
		}
	}
}
