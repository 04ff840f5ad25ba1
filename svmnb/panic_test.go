package svmnb_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/gp"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"github.com/svmnb/svmnb/svmnb/model"
	"github.com/svmnb/svmnb/svmnb/play"
	"github.com/svmnb/svmnb/svmnb/selection"
	"github.com/svmnb/svmnb/svmnb/transform"
)

// glass is a kernel that panics at the points whose first feature is At.
type glass struct{ At float64 }

func (k glass) Eval(x, z []float64) float64 {
	if (x[0] == k.At) != (z[0] == k.At) {
		panic("glass breaks")
	}
	return math.Exp(-(x[0]-z[0])*(x[0]-z[0]) - (x[1]-z[1])*(x[1]-z[1]))
}
func (glass) Check() error     { return nil }
func (k glass) String() string { return fmt.Sprintf("glass(%v)", k.At) }

// glassMethod is SMO that panics after so many steps.
type glassMethod struct{ After int }

func (glassMethod) Name() string { return "glass" }
func (m glassMethod) Start(p *solvers.Problem, alpha []float64) (solvers.Stepper, error) {
	if m.After < 0 {
		panic("glass breaks")
	}
	st, err := solvers.SMO{}.Start(p, alpha)
	return &glassStepper{st, m.After}, err
}

type glassStepper struct {
	solvers.Stepper
	left int
}

func (s *glassStepper) Step(ctx context.Context) (bool, error) {
	if s.left--; s.left < 0 {
		panic("glass breaks")
	}
	return s.Stepper.Step(ctx)
}

type glassStop struct{}

func (glassStop) Met(*solvers.Point, *solvers.Trace) solvers.Status { panic("glass breaks") }
func (glassStop) String() string                                    { return "glassStop" }

type glassStep struct{ fit bool }

func (glassStep) String() string { return "glassStep" }
func (s glassStep) Fit(*datasets.Dataset) (transform.Transform, error) {
	if s.fit {
		panic("glass breaks")
	}
	return s, nil
}
func (glassStep) Apply([][]float64) ([][]float64, error) { panic("glass breaks") }

type glassFolds struct{ never *int }

func (f glassFolds) Splits(*datasets.Dataset) ([]selection.Split, error) {
	return make([]selection.Split, *f.never), nil
}
func (glassFolds) String() string { return "glassFolds" }

type glassText struct{}

func (glassText) Markdown() string { panic("glass breaks") }

// Code of a user that panics is an error that says whose it was, from whatever it was
// called and in whatever goroutine; of a kernel also where.
func TestPanicsOfUsers(t *testing.T) {
	ctx := context.Background()
	three := datasets.Iris()
	two := testkit.Moons().Select(testkit.Seq(60))
	line := datasets.Sinc(50, 0.1, 1)
	bad := two.X[7][0]
	kernel := svmnb.Classify(two).Kernel(glass{bad})
	many := svmnb.Classify(three).Kernel(glass{three.X[60][0]})
	grid, folds := selection.Grid{"C": {1, 10}}, selection.KFold(3, 1)
	good := svmnb.Classify(two).Kernel(kernels.RBF(1)).MustFit()
	trap := svmnb.Classify(two.Select([]int{0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16})).Kernel(glass{bad}).MustFit()
	of := func(_ any, err error) error { return err }
	for name, c := range map[string]struct {
		do   func() error
		what string
	}{
		"kernel, Fit":              {func() error { return of(kernel.Fit(ctx)) }, "the kernel glass"},
		"kernel, SMO":              {func() error { return of(kernel.SMO().Fit(ctx)) }, "the kernel glass"},
		"kernel, memory":           {func() error { return of(kernel.Memory(1).Fit(ctx)) }, "the kernel glass"},
		"kernel, interior points":  {func() error { return of(kernel.Using(solvers.PrimalDual{}).Fit(ctx)) }, "the kernel glass"},
		"kernel, decomposition":    {func() error { return of(kernel.Using(solvers.Decomposition{}).Fit(ctx)) }, "the kernel glass"},
		"kernel, ascent":           {func() error { return of(kernel.GradientAscent().Fit(ctx)) }, "the kernel glass"},
		"kernel, one against one":  {func() error { return of(many.OneVsOne().Fit(ctx)) }, "the kernel glass"},
		"kernel, one against rest": {func() error { return of(many.OneVsRest().Fit(ctx)) }, "the kernel glass"},
		"kernel, Crammer–Singer":   {func() error { return of(many.CrammerSinger().Fit(ctx)) }, "the kernel glass"},
		"kernel, Search":           {func() error { return of(selection.Search(kernel, grid, folds).Fit(ctx)) }, "the kernel glass"},
		"kernel, Search of many":   {func() error { return of(selection.Search(many.OneVsOne(), grid, folds).Workers(3).Fit(ctx)) }, "the kernel glass"},
		"kernel, CrossValidate":    {func() error { return of(selection.CrossValidate(ctx, kernel, folds)) }, "the kernel glass"},
		"kernel, LearningCurve":    {func() error { return of(selection.LearningCurve(ctx, kernel, folds, 20, 30)) }, "the kernel glass"},
		"kernel, Path":             {func() error { return of(kernel.Path(ctx, 0.1, 10)) }, "the kernel glass"},
		"kernel, Pipe":             {func() error { return of(selection.Pipe(kernel).Fit(ctx)) }, "the kernel glass"},
		"kernel, Regress":          {func() error { return of(svmnb.Regress(two).Kernel(glass{bad}).Fit(ctx)) }, "the kernel glass"},
		"kernel, Ridge":            {func() error { return of(svmnb.Regress(two).Kernel(glass{bad}).Ridge(1).Fit(ctx)) }, "the kernel glass"},
		"kernel, process":          {func() error { return of(gp.Regress(two).Kernel(glass{bad}).NoiseVariance(1).Fit(ctx)) }, "the kernel glass"},
		"kernel, process by CG":    {func() error { return of(gp.Regress(two).Kernel(glass{bad}).NoiseVariance(1).CG().Fit(ctx)) }, "the kernel glass"},
		"kernel, Predict":          {func() error { return of(trap.Predict(datasets.Rows(two.X))) }, "the kernel glass"},
		"kernel, Decision":         {func() error { return of(trap.Values(datasets.Rows(two.X))) }, "the kernel glass"},
		"kernel, Evaluate":         {func() error { return of(trap.Evaluate(two)) }, "the kernel glass"},
		"kernel, Model":            {func() error { return of(trap.Model().Predict(datasets.Rows(two.X))) }, "the kernel glass"},
		"kernel in a sum": {func() error {
			return of(svmnb.Classify(two).Kernel(kernels.Sum(kernels.Linear(), glass{bad})).Fit(ctx))
		}, "the kernel glass"},
		"method, Start":           {func() error { return of(svmnb.Classify(two).Using(glassMethod{-1}).Fit(ctx)) }, "the method glass"},
		"method, Step":            {func() error { return of(svmnb.Classify(two).Using(glassMethod{3}).Fit(ctx)) }, "the method glass"},
		"method, one against one": {func() error { return of(svmnb.Classify(three).Using(glassMethod{3}).OneVsOne().Fit(ctx)) }, "the method glass"},
		"method, Search": {func() error {
			return of(selection.Search(svmnb.Classify(two).Using(glassMethod{3}), grid, folds).Fit(ctx))
		}, "the method glass"},
		"criterion":                 {func() error { return of(svmnb.Classify(two).Stop(glassStop{}).Fit(ctx)) }, "the criterion glassStop"},
		"criterion, Crammer–Singer": {func() error { return of(svmnb.Classify(three).Stop(glassStop{}).CrammerSinger().Fit(ctx)) }, "Crammer"},
		"step, Fit":                 {func() error { return of(selection.Pipe(glassStep{true}, svmnb.Classify(two)).Fit(ctx)) }, "the step glassStep"},
		"step, Apply":               {func() error { return of(selection.Pipe(glassStep{}, svmnb.Classify(two)).Fit(ctx)) }, "Apply of a step"},
		"step, Search": {func() error {
			return of(selection.Search(selection.Pipe(glassStep{true}, svmnb.Classify(two)), grid, folds).Fit(ctx))
		}, "the step glassStep"},
		"metric": {func() error {
			return of(selection.Search(svmnb.Classify(two), grid, folds).By(selection.Metric{Name: "mine", Lower: false, Of: func(*selection.HeldOut) (float64, error) { panic("glass breaks") }}).Fit(ctx))
		}, "the metric mine"},
		"folds":         {func() error { return of(selection.CrossValidate(ctx, svmnb.Classify(two), glassFolds{})) }, "the folds glassFolds"},
		"folds, Search": {func() error { return of(selection.Search(svmnb.Classify(two), grid, glassFolds{}).Fit(ctx)) }, "the folds glassFolds"},
		"Watch": {func() error {
			return of(selection.Search(svmnb.Classify(two), grid, folds).Watch(func(selection.SearchProgress) { panic("glass breaks") }).Fit(ctx))
		}, "the function of Watch"},
		"Watch, later": {func() error {
			return of(selection.Search(svmnb.Classify(two), grid, folds).Workers(4).Watch(func(p selection.SearchProgress) { _ = [1]int{}[min(p.Done, 3)] }).Fit(ctx))
		}, "the function of Watch"},
		"figure": {func() error {
			return of(display.FigureOf("mine", func(*svmnb.Fit) (*display.Chart, error) { panic("glass breaks") }).Of(good))
		}, "code that svmnb calls"},
		"item":  {func() error { return display.HTML(&strings.Builder{}, glassText{}, "text") }, "code that svmnb calls"},
		"ridge": {func() error { return of(svmnb.Regress(line).Kernel(glass{line.X[3][0]}).Fit(ctx)) }, "the kernel glass"},
	} {
		err := c.do()
		var e *svmnb.PanicError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.what) {
			t.Errorf("%s: %v; want a panic of %q", name, err, c.what)
			continue
		}
		if strings.HasPrefix(name, "kernel, ") && !strings.Contains(name, "Predict") && !strings.Contains(name, "Decision") && e.J < 0 {
			t.Errorf("%s: %v does not name the pair", name, err)
		}
	}
}

// A search that a panic has ended goes on when its code is mended, from what it knew.
func TestSearchAfterPanic(t *testing.T) {
	data := testkit.Moons().Select(testkit.Seq(40))
	file := t.TempDir() + "/file"
	var left atomic.Int32
	left.Store(4)
	metric := selection.Metric{Name: "mine", Lower: false, Of: func(h *selection.HeldOut) (float64, error) {
		if left.Add(-1) < 0 {
			panic("not yet")
		}
		return selection.Accuracy.Of(h)
	}}
	s := selection.Search(svmnb.Classify(data), selection.Grid{"C": {1, 2, 4, 8}}, selection.KFold(3, 1)).By(metric).File(file).Workers(1)
	f, err := s.Fit(context.Background())
	if !errors.As(err, new(*svmnb.PanicError)) || f == nil || f.Fitted != 4 {
		t.Fatalf("%v, %v", f, err)
	}
	left.Store(math.MaxInt32)
	if f, err = s.Fit(context.Background()); err != nil || f.Fitted != 8 {
		t.Errorf("%d folds learnt, %v", f.Fitted, err)
	}
	for _, trial := range f.Trials {
		if trial.Err != "" {
			t.Errorf("a panic was taken for a score: %s", trial.Err)
		}
	}
}

// Nothing, where something has to be, is an error.
func TestNilsAreErrors(t *testing.T) {
	data := testkit.Moons().Select(testkit.Seq(30))
	ctx := context.Background()
	of := func(_ any, err error) error { return err }
	var none context.Context
	good := svmnb.Classify(data).MustFit()
	for name, do := range map[string]func() error{
		"context of Fit":       func() error { return of(svmnb.Classify(data).Fit(none)) },
		"context of OneVsOne":  func() error { return of(svmnb.Classify(datasets.Iris()).OneVsOne().Fit(none)) },
		"context of Regress":   func() error { return of(svmnb.Regress(data).Fit(none)) },
		"context of a process": func() error { return of(gp.Regress(data).Fit(none)) },
		"context of Pipe":      func() error { return of(selection.Pipe(svmnb.Classify(data)).Fit(none)) },
		"context of Search": func() error {
			return of(selection.Search(svmnb.Classify(data), selection.Grid{"C": {1}}, selection.KFold(2, 1)).Fit(none))
		},
		"context of CrossValidate": func() error { return of(selection.CrossValidate(none, svmnb.Classify(data), selection.KFold(2, 1))) },
		"context of Path":          func() error { return of(svmnb.Classify(data).Path(none, 1, 2)) },
		"context of Calibrate":     func() error { return of(good.Calibrate(none, svmnb.Platt{})) },
		"context of Race":          func() error { return of(play.Racing{}.Run(none, svmnb.Classify(data), solvers.SMO{})) },
		"context of curves": func() error {
			return of(selection.ValidationCurve(none, svmnb.Classify(data), selection.KFold(2, 1), "C", 1))
		},
		"no calibration":      func() error { return of(good.Calibrate(ctx, nil)) },
		"no kernel":           func() error { return of(svmnb.Classify(data).Kernel(nil).Fit(ctx)) },
		"no part of a kernel": func() error { return of(svmnb.Classify(data).Kernel(kernels.Sum(nil, kernels.Linear())).Fit(ctx)) },
		"no kernel in Scale":  func() error { return of(svmnb.Classify(data).Kernel(kernels.Scale(2, nil)).Fit(ctx)) },
		"no method":           func() error { return of(svmnb.Classify(data).Using(nil).Fit(ctx)) },
		"no criterion":        func() error { return of(svmnb.Classify(data).Stop(nil).Fit(ctx)) },
		"no data":             func() error { return of(svmnb.Classify(nil).Fit(ctx)) },
		"no data, regression": func() error { return of(svmnb.Regress(nil).Fit(ctx)) },
		"no data, process":    func() error { return of(gp.Regress(nil).Fit(ctx)) },
		"no step":             func() error { return of(selection.Pipe(nil, svmnb.Classify(data)).Fit(ctx)) },
		"no space":            func() error { return of(selection.Search(svmnb.Classify(data), nil, selection.KFold(2, 1)).Fit(ctx)) },
		"no folds": func() error {
			return of(selection.Search(svmnb.Classify(data), selection.Grid{"C": {1}}, nil).Fit(ctx))
		},
		"no metric": func() error {
			return of(selection.Search(svmnb.Classify(data), selection.Grid{"C": {1}}, selection.KFold(2, 1)).By(selection.Metric{}).Fit(ctx))
		},
		"no learner":           func() error { return of(selection.CrossValidate(ctx, nil, selection.KFold(2, 1))) },
		"no method in a race":  func() error { return of(play.Racing{}.Run(ctx, svmnb.Classify(data), nil)) },
		"zero Classifier":      func() error { return of(svmnb.Classifier{}.Fit(ctx)) },
		"zero Regressor":       func() error { return of(svmnb.Regressor{}.Fit(ctx)) },
		"zero MultiClassifier": func() error { return of(svmnb.MultiClassifier{}.Fit(ctx)) },
		"zero Process":         func() error { return of(gp.Process{}.Fit(ctx)) },
		"zero Pipeline":        func() error { return of(selection.Pipeline{}.Fit(ctx)) },
		"zero Search":          func() error { return of(selection.Searcher{}.Fit(ctx)) },
		"zero Fit":             func() error { return of((&svmnb.Fit{}).Predict(datasets.Rows(data.X))) },
		"zero RegressionFit":   func() error { return of((&svmnb.RegressionFit{}).Predict(datasets.Rows(data.X))) },
		"zero MultiFit":        func() error { return of((&svmnb.MultiFit{}).Predict(datasets.Rows(data.X))) },
		"zero ProcessFit":      func() error { return of((&gp.Fit{}).Predict(datasets.Rows(data.X))) },
		"zero PipeFit":         func() error { return of((&selection.PipeFit{}).Predict(datasets.Rows(data.X))) },
		"zero Calibrated":      func() error { return of((&svmnb.Calibrated{}).Predict(datasets.Rows(data.X))) },
		"zero Model":           func() error { return of((&model.Model{}).Predict(datasets.Rows(data.X))) },
		"nil Fit":              func() error { return of((*svmnb.Fit)(nil).Predict(datasets.Rows(data.X))) },
		"nil Model":            func() error { return of((*model.Model)(nil).Values(datasets.Rows(data.X))) },
		"nil fit in a figure":  func() error { return of(svmnb.Margins.Of((*svmnb.Fit)(nil))) },
		"zero fit in a figure": func() error { return of(svmnb.Margins.Of(&svmnb.Fit{})) },
		"zero Figure":          func() error { return of(display.Figure{}.Of(good)) },
		"zero Drawing":         func() error { return of(display.Drawing{}.Chart()) },
		"nil data in Evaluate": func() error { return of(good.Evaluate(nil)) },
		"nil data in Accuracy": func() error { return of(good.Accuracy(nil)) },
		"nil fit shown":        func() error { return display.HTML(&strings.Builder{}, (*svmnb.Fit)(nil)) },
		"zero fit shown":       func() error { return display.HTML(&strings.Builder{}, &svmnb.Fit{}) },
	} {
		func() {
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("%s: it panics: %v", name, p)
				}
			}()
			if do() == nil {
				t.Errorf("%s: no error", name)
			}
		}()
	}
}
