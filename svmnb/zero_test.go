package svmnb_test

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
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/bayesopt"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/gp"
	"github.com/svmnb/svmnb/svmnb/metrics"
	"github.com/svmnb/svmnb/svmnb/model"
	"github.com/svmnb/svmnb/svmnb/play"
	"github.com/svmnb/svmnb/svmnb/selection"
	"github.com/svmnb/svmnb/svmnb/stream"
	"github.com/svmnb/svmnb/svmnb/transform"
)

// zeros are all exported types, by their zero values; TestZeroValues holds the list to be
// whole.
var zeros = []any{
	svmnb.ArgumentError{}, gp.Ascent{}, gp.AscentPoint{}, svmnb.Audit{}, gp.Belief{}, svmnb.Calibrated{}, svmnb.Classifier{}, gp.Component{}, svmnb.Condition{}, svmnb.Conditions{},
	selection.Chain{}, selection.Worker{}, selection.Deal{}, selection.Importance{}, selection.Conformal{}, selection.ConformalEvaluation{}, selection.Attribution{}, selection.Dependence{}, selection.Alternative{}, selection.Alternatives{}, display.Curve{}, display.Drawing{}, gp.Estimate{}, gp.Evaluation{}, gp.Classifier{}, gp.ClassifierFit{}, gp.ClassifierEvaluation{}, gp.EvidenceInterval{}, gp.SparseProcess{}, gp.SparseFit{}, svmnb.Evaluation{}, display.Figure{}, svmnb.Fit{}, transform.FourierFeatures{}, selection.Grid{}, selection.HeldOut{}, transform.Imputation{}, gp.ApproximationRun{}, gp.LatentProcess{}, gp.LatentFit{}, gp.MultiProcess{}, gp.MultiFit{}, gp.NeighbourProcess{}, gp.NeighbourFit{}, gp.Derivatives{}, transform.Indicators{}, svmnb.Isotonic{}, display.ItemError{}, display.LinePlot{}, svmnb.JointFit{}, transform.Landmarks{}, transform.KernelPrincipalComponents{}, gp.LeaveOneOut{}, svmnb.LeaveOneOutBounds{}, transform.MaxAbsScaling{}, svmnb.LeftOut{}, svmnb.CostBounds{}, svmnb.CostSpan{},
	gp.Choice(0), selection.Metric{}, model.Model{}, model.Error{}, model.Row{}, svmnb.MultiCertificate{}, svmnb.MultiClassifier{}, svmnb.MultiFit{}, gp.Optimisation{}, display.Panels{}, gp.Partial{},
	svmnb.PathBreak{}, selection.PipeFit{}, selection.Pipeline{}, svmnb.Platt{}, transform.PrincipalComponents{}, gp.Process{}, gp.Fit{}, play.RaceResult{}, play.RaceRun{},
	play.Racing{}, selection.Random{}, selection.Range{}, svmnb.RegressionCondition{}, svmnb.RegressionConditions{}, svmnb.RegressionEvaluation{}, svmnb.RegressionFit{}, svmnb.RegressionVector{},
	svmnb.Regressor{}, svmnb.RegularisationPath{}, gp.Samples{}, transform.Scaling{}, selection.ScoreCurve{}, selection.Searcher{}, selection.SearchFit{}, selection.SearchProgress{}, display.Sheet{},
	svmnb.Sigmoid{}, selection.Split{}, svmnb.SupportVector{}, selection.Trial{}, svmnb.Uniqueness{}, selection.Validation{},
	transform.Filling(0), transform.Unknown(0), transform.Bag{}, transform.Chosen{}, transform.ColumnSteps{}, transform.Dates{}, transform.Encoding{}, transform.Ranking{}, transform.TargetScaling{},
	svmnb.Goal{}, svmnb.TwoSamples{}, svmnb.TwoSampleTest{}, svmnb.Thresholded{},
	svmnb.ApproximateClassifier{}, svmnb.ApproximateFit{}, svmnb.ApproximateRegressor{}, svmnb.ApproximateRegressionFit{}, svmnb.ApproximateMultiClassifier{}, svmnb.ApproximateMultiFit{}, svmnb.Choice(0), svmnb.Entry{}, svmnb.Nystroem{}, svmnb.Parts{}, svmnb.RandomFeatures{}, svmnb.Refereed{}, svmnb.Subsample{}, svmnb.Verdict{},
	stream.Classifier{}, stream.Evaluation{}, stream.Exactness{}, stream.Fit{}, stream.MemoryError{}, stream.Progress{},
	bayesopt.Space{}, bayesopt.Optimiser{}, bayesopt.Optimum{}, metrics.Bootstrap{}, metrics.Interval{}, metrics.Confusion{}, metrics.Averages{}, metrics.Error{}, metrics.PrecisionRecall{}, metrics.ROC{},
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
						verb := strings.HasPrefix(method.Name, "Must") || method.Name == "Keep" || name == "nil " && of == reflect.TypeFor[display.Curve]() || method.Name == "Race" || of == reflect.TypeFor[selection.Searcher]() && method.Name == "Show"
						if e, ok := p.(error); !ok || !verb || isRuntime(e) {
							t.Errorf("%s%v.%s: %v", name, of, method.Name, p)
						}
						break
					}
				}
			}
		}
	}
	for folder, pkg := range map[string]string{".": "svmnb", "metrics": "metrics", "display": "display", "model": "model", "transform": "transform", "gp": "gp", "selection": "selection", "play": "play", "stream": "stream"} {
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
		"CrossValidate":       func() error { _, err := selection.CrossValidate(ctx, nil, nil); return err },
		"ValidationCurve":     func() error { _, err := selection.ValidationCurve(ctx, nil, nil, "C", 1, 2); return err },
		"Importances":         func() error { _, err := selection.Importances(ctx, nil, nil); return err },
		"MMD":                 func() error { _, err := svmnb.MMD(nil, nil).Test(ctx); return err },
		"Conformalise":        func() error { _, err := selection.Conformalise(nil, nil); return err },
		"ConformaliseBetween": func() error { _, err := selection.ConformaliseBetween(nil, nil, nil); return err },
		"ConformaliseFolds":   func() error { _, err := selection.ConformaliseFolds(ctx, nil, nil); return err },
		"Shapley":             func() error { _, err := selection.Shapley(ctx, nil, nil, nil); return err },
		"PartialDependence":   func() error { _, err := selection.PartialDependence(ctx, nil, nil, ""); return err },
		"LearningCurve":       func() error { _, err := selection.LearningCurve(ctx, nil, nil); return err },
		"Classify":            func() error { _, err := svmnb.Classify(nil).Fit(noContext); return err },
		"OneClass":            func() error { _, err := svmnb.OneClass(nil).Fit(noContext); return err },
		"Regress":             func() error { _, err := svmnb.Regress(nil).Fit(noContext); return err },
		"GaussianProcess":     func() error { _, err := gp.Regress(nil).Fit(noContext); return err },
		"Pipe":                func() error { _, err := selection.Pipe(nil).Fit(noContext); return err },
		"Pipe of nil": func() error {
			_, err := selection.Pipe(transform.Standardise(), svmnb.Classify(nil)).Fit(noContext)
			return err
		},
		"no context":     func() error { _, err := svmnb.Classify(datasets.Moons(20, 0.1, 1)).Fit(noContext); return err },
		"Replay":         func() error { _, err := play.Replay((*svmnb.Fit)(nil)).Chart(); return err },
		"Replay of nil":  func() error { _, err := play.Replay(nil).Chart(); return err },
		"Figure":         func() error { _, err := svmnb.Margins.Of((*svmnb.Fit)(nil)); return err },
		"Figure of zero": func() error { _, err := svmnb.Margins.Of(&svmnb.Fit{}); return err },
		"Figure of none": func() error { _, err := display.Figure{}.Of(&svmnb.Fit{}); return err },
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
	for _, f := range []any{&svmnb.Fit{}, &svmnb.MultiFit{}, &svmnb.RegressionFit{}, &gp.Fit{}, &selection.PipeFit{}, &svmnb.Calibrated{}, &svmnb.Evaluation{}, &svmnb.RegressionEvaluation{}, &svmnb.Thresholded{}, &gp.Evaluation{}, &gp.ClassifierFit{}, &gp.SparseFit{}, &play.RaceResult{}, &selection.SearchFit{}, &svmnb.RegularisationPath{}, &svmnb.JointFit{}} {
		func() {
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("Show of %T: %v", f, p)
				}
			}()
			display.HTML(io.Discard, f, display.Table(f), display.Dashboard(f))
			for _, figure := range []display.Figure{svmnb.Margins, svmnb.KKT, svmnb.Gap, svmnb.Rate, svmnb.Tube, svmnb.Alphas, svmnb.Weights, svmnb.Chunks, svmnb.WorkingSets, svmnb.Effort, svmnb.MarginWidth, svmnb.Confusion, svmnb.ROC, svmnb.PrecisionRecall, svmnb.Gain, svmnb.Lift, svmnb.Residuals, svmnb.Predictions, svmnb.Thresholds, svmnb.Reliability, svmnb.Regions, svmnb.KernelMatrix(), gp.Posterior, gp.PosteriorOver(0, 1), gp.Bounds, gp.Evidence, gp.Components, gp.Relevance, gp.Probability, selection.Landscape, svmnb.Path, svmnb.MarginsPCA(), svmnb.MarginsOver(0, 1)} {
				if _, err := figure.Of(f); err == nil {
					t.Errorf("%v of %T: no error", figure, f)
				}
			}
		}()
	}
	if s := fmt.Sprint(svmnb.Classifier{}, svmnb.MultiClassifier{}, svmnb.Regressor{}, gp.Process{}, selection.Pipeline{}, selection.Searcher{}); s == "" {
		t.Error("no text")
	}
}

// Nil is shown as what it is: an error that is nil says that all went well, and a fit
// that is nil where to look.
func TestShowNil(t *testing.T) {
	var none error
	var typed *svmnb.ArgumentError
	for _, item := range []any{nil, none, typed} {
		var page strings.Builder
		if err := display.HTML(&page, item); err != nil || !strings.Contains(page.String(), "this is nil") {
			t.Errorf("%T: %v", item, err)
		}
	}
	for _, item := range []any{(*svmnb.Fit)(nil), &svmnb.Fit{}, (*svmnb.Evaluation)(nil), (*display.Chart)(nil), &selection.PipeFit{}, (*display.Sheet)(nil)} {
		if err := display.HTML(io.Discard, item); err == nil || !strings.Contains(err.Error(), "nil or empty") {
			t.Errorf("%T: %v", item, err)
		}
	}
}
