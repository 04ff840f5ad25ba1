package svmnb

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/metrics"
)

// zeros are all exported types, by their zero values; TestZeroValues holds the list to be
// whole.
var zeros = []any{
	ArgumentError{}, Ascent{}, AscentPoint{}, Audit{}, Belief{}, Calibrated{}, Classifier{}, Component{}, Condition{}, Conditions{},
	Deal{}, Drawing{}, Estimate{}, Evaluation{}, Figure{}, Fit{}, FourierFeatures{}, Grid{}, HeldOut{}, Imputation{},
	Indicators{}, Isotonic{}, ItemError{}, JointFit{}, Landmarks{}, LeaveOneOut{}, LeaveOneOutBounds{}, MaxAbsScaling{},
	Metric{}, Model{}, ModelError{}, MultiCertificate{}, MultiClassifier{}, MultiFit{}, Optimisation{}, Panels{}, Partial{},
	PathBreak{}, PipeFit{}, Pipeline{}, Platt{}, PrincipalComponents{}, Process{}, ProcessFit{}, RaceResult{}, RaceRun{},
	Racing{}, Random{}, Range{}, RegressionCondition{}, RegressionConditions{}, RegressionFit{}, RegressionVector{},
	Regressor{}, RegularisationPath{}, Samples{}, Scaling{}, ScoreCurve{}, Search{}, SearchFit{}, SearchProgress{}, Sheet{},
	Sigmoid{}, Split{}, SupportVector{}, Trial{}, Uniqueness{}, Validation{},
	metrics.Bootstrap{}, metrics.Interval{}, metrics.Confusion{}, metrics.Averages{}, metrics.Error{}, metrics.ROC{},
}

// Every method of the zero value of every exported type, of a pointer to it and of a nil
// pointer, with nil contexts and nil arguments, returns; that of a terminal verb that
// has an error to tell and nobody to return it to panics with that error.
func TestZeroValues(t *testing.T) {
	stdout, stderr := os.Stdout, os.Stderr
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	os.Stdout, os.Stderr = null, null
	t.Cleanup(func() { os.Stdout, os.Stderr = stdout, stderr; null.Close() })
	t.Setenv("TMPDIR", t.TempDir())
	known := map[string]bool{}
	calls := 0
	for _, zero := range zeros {
		of := reflect.TypeOf(zero)
		known[of.String()] = true
		pointer := reflect.New(of)
		for name, v := range map[string]reflect.Value{"": pointer.Elem(), "&": pointer, "nil ": reflect.Zero(pointer.Type())} {
			for i := range v.NumMethod() {
				method := v.Type().Method(i)
				_, own := of.MethodByName(method.Name)
				if _, isError := pointer.Interface().(error); name == "nil " && (own || isError) {
					continue // Go itself panics where there is no value to copy, and a nil error is asked nothing
				}
				for _, data := range []*datasets.Dataset{nil, {}} {
					calls++
					if p := panicked(v.Method(i), data); p != nil {
						verb := strings.HasPrefix(method.Name, "Must") || method.Name == "Keep" || method.Name == "Race" || of == reflect.TypeFor[Search]() && method.Name == "Show"
						if e, ok := p.(error); !ok || !verb || isRuntime(e) {
							t.Errorf("%s%v.%s: %v", name, of, method.Name, p)
						}
						break
					}
				}
			}
		}
	}
	for folder, pkg := range map[string]string{".": "svmnb", "metrics": "metrics"} {
		for _, name := range exportedTypes(t, folder) {
			if !known[pkg+"."+name] && name != "Sigmoid" {
				t.Errorf("%s.%s is not in the list of zeros", pkg, name)
			}
		}
	}
	if calls < 500 {
		t.Errorf("%d calls", calls)
	}
}

func isRuntime(err error) bool {
	_, ok := err.(runtime.Error)
	return ok
}

// panicked calls f with arguments that are zero, and returns what it panics with.
func panicked(f reflect.Value, data *datasets.Dataset) (p any) {
	var in []reflect.Value
	for k := range f.Type().NumIn() {
		kind := f.Type().In(k)
		if f.Type().IsVariadic() && k == f.Type().NumIn()-1 {
			break
		}
		switch kind {
		case reflect.TypeFor[io.Writer]():
			in = append(in, reflect.ValueOf(io.Discard))
		case reflect.TypeFor[*datasets.Dataset]():
			in = append(in, reflect.ValueOf(data))
		default:
			in = append(in, reflect.Zero(kind))
		}
	}
	defer func() { p = recover() }()
	f.Call(in)
	return nil
}

// exportedTypes lists the exported types of a package that are no interfaces.
func exportedTypes(t *testing.T, folder string) (names []string) {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			d, ok := d.(*ast.GenDecl)
			if !ok || d.Tok != token.TYPE {
				continue
			}
			for _, s := range d.Specs {
				s := s.(*ast.TypeSpec)
				if _, is := s.Type.(*ast.InterfaceType); !is && s.Name.IsExported() && !s.Assign.IsValid() {
					names = append(names, s.Name.Name)
				}
			}
		}
	}
	return names
}

// Functions of the package take nil where a fit, a learner or data are wanted.
func TestNilArguments(t *testing.T) {
	ctx := context.Background()
	var noContext context.Context
	for name, call := range map[string]func() error{
		"CrossValidate":   func() error { _, err := CrossValidate(ctx, nil, nil); return err },
		"ValidationCurve": func() error { _, err := ValidationCurve(ctx, nil, nil, "C", 1, 2); return err },
		"LearningCurve":   func() error { _, err := LearningCurve(ctx, nil, nil); return err },
		"Classify":        func() error { _, err := Classify(nil).Fit(noContext); return err },
		"OneClass":        func() error { _, err := OneClass(nil).Fit(noContext); return err },
		"Regress":         func() error { _, err := Regress(nil).Fit(noContext); return err },
		"GaussianProcess": func() error { _, err := GaussianProcess(nil).Fit(noContext); return err },
		"Pipe":            func() error { _, err := Pipe(nil).Fit(noContext); return err },
		"Pipe of nil":     func() error { _, err := Pipe(Standardise(), Classify(nil)).Fit(noContext); return err },
		"no context":      func() error { _, err := Classify(datasets.Moons(20, 0.1, 1)).Fit(noContext); return err },
		"Replay":          func() error { _, err := Replay((*Fit)(nil)).Chart(); return err },
		"Replay of nil":   func() error { _, err := Replay(nil).Chart(); return err },
		"Figure":          func() error { _, err := Margins.Of((*Fit)(nil)); return err },
		"Figure of zero":  func() error { _, err := Margins.Of(&Fit{}); return err },
		"Figure of none":  func() error { _, err := Figure{}.Of(&Fit{}); return err },
	} {
		func() {
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("%s: %v", name, p)
				}
			}()
			if err := call(); err == nil {
				t.Errorf("%s: no error", name)
			}
		}()
	}
	for _, f := range []any{&Fit{}, &MultiFit{}, &RegressionFit{}, &ProcessFit{}, &PipeFit{}, &Calibrated{}, &Evaluation{}, &RaceResult{}, &SearchFit{}, &RegularisationPath{}, &JointFit{}} {
		func() {
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("Show of %T: %v", f, p)
				}
			}()
			HTML(io.Discard, f, Table(f), Dashboard(f))
			for _, figure := range []Figure{Margins, KKT, Gap, Rate, Tube, Alphas, Chunks, WorkingSets, Effort, MarginWidth, Confusion, ROC, Reliability, Regions, KernelMatrix(), Posterior, Bounds, Evidence, Components, Landscape, Path, MarginsPCA(), MarginsOver(0, 1)} {
				if _, err := figure.Of(f); err == nil {
					t.Errorf("%v of %T: no error", figure, f)
				}
			}
		}()
	}
	if s := fmt.Sprint(Classifier{}, MultiClassifier{}, Regressor{}, Process{}, Pipeline{}, Search{}); s == "" {
		t.Error("no text")
	}
}

// Nil is shown as what it is: an error that is nil says that all went well, and a fit
// that is nil where to look.
func TestShowNil(t *testing.T) {
	var none error
	var typed *ArgumentError
	for _, item := range []any{nil, none, typed} {
		parts, err := render([]any{item})
		if err != nil || len(parts) != 1 || !strings.Contains(parts[0].text(), "nil") {
			t.Errorf("%T: %v, %v", item, parts, err)
		}
	}
	for _, item := range []any{(*Fit)(nil), &Fit{}, (*Evaluation)(nil), (*Chart)(nil), &PipeFit{}, (*Sheet)(nil)} {
		if parts, err := render([]any{item}); err == nil || len(parts) != 0 || !strings.Contains(err.Error(), "nil or empty") {
			t.Errorf("%T: %v, %v", item, parts, err)
		}
	}
}
