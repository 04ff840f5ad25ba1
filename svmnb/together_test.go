package svmnb_test

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/solvers/blocks"
	"github.com/svmnb/svmnb/solvers/fastest"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/gp"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"github.com/svmnb/svmnb/svmnb/model"
	"github.com/svmnb/svmnb/svmnb/play"
	"github.com/svmnb/svmnb/svmnb/selection"
	"github.com/svmnb/svmnb/svmnb/transform"
)

var ctx = context.Background()

// The tests of this file ask one value from several goroutines at once, each with the
// answer that it has alone. Under go test -race they find what its methods share.

// together asks every question from two goroutines at once, of a value that nobody has
// asked before, and compares with the answers of another such value, asked in turn.
func together(t *testing.T, name string, questions func() map[string]func() string) {
	t.Helper()
	alone := map[string]string{}
	for what, ask := range questions() {
		alone[what] = ask()
	}
	if len(alone) == 0 {
		t.Fatalf("%s: there is nothing to ask", name)
	}
	var wait sync.WaitGroup
	for what, ask := range questions() {
		for range 2 {
			wait.Go(func() {
				if got := ask(); got != alone[what] {
					t.Errorf("%s: %s is %s among others and %s alone", name, what, got, alone[what])
				}
			})
		}
	}
	wait.Wait()
}

// methodsOf are calls of every exported method of v whose arguments can be made of the
// data. Methods that show or keep something are left out: they write.
func methodsOf(t *testing.T, v any, data *datasets.Dataset) map[string]func() string {
	t.Helper()
	points := data.X[:min(4, data.N())]
	arguments := map[reflect.Type]any{
		reflect.TypeFor[*datasets.Dataset](): data,
		reflect.TypeFor[datasets.Points]():   datasets.Rows(points),
		reflect.TypeFor[svmnb.Calibration](): svmnb.Platt{Folds: 2},
		reflect.TypeFor[svmnb.Goal]():        svmnb.ForCost(1, 20).Folds(2, 0),
		reflect.TypeFor[float64]():           1.0,
		reflect.TypeFor[int]():               1,
		reflect.TypeFor[string]():            "model",
	}
	all := map[string]func() string{}
	of := reflect.ValueOf(v)
	for i := range of.NumMethod() {
		name, method := of.Type().Method(i).Name, of.Method(i)
		if name == "Show" || name == "Keep" || name == "Learnt" || name == "WithCurves" || strings.HasPrefix(name, "Must") {
			continue
		}
		kind := method.Type()
		var in []func() reflect.Value // made anew for each call
		for j := range kind.NumIn() - boolInt(kind.IsVariadic()) {
			switch a, known := arguments[kind.In(j)]; {
			case known:
				in = append(in, func() reflect.Value { return reflect.ValueOf(a) })
			case kind.In(j) == reflect.TypeFor[context.Context]():
				in = append(in, func() reflect.Value { return reflect.ValueOf(context.Background()) })
			case kind.In(j) == reflect.TypeFor[io.Writer]():
				in = append(in, func() reflect.Value { return reflect.ValueOf(io.Discard) })
			default:
				t.Fatalf("%T.%s: say what its argument %v shall be", v, name, kind.In(j))
			}
		}
		all[name] = func() string {
			var args []reflect.Value
			for _, a := range in {
				args = append(args, a())
			}
			var said []string
			for _, out := range method.Call(args) {
				said = append(said, toText(out))
			}
			return withoutTimes(strings.Join(said, ", "))
		}
	}
	return all
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// toText is what two answers to one question have in common: numbers and words, not
// addresses.
func toText(v reflect.Value) string {
	if v.Kind() == reflect.Pointer && v.IsNil() {
		return "nil"
	}
	if e, ok := v.Interface().(*svmnb.Evaluation); ok { // whose Markdown draws samples for seconds
		return fmt.Sprint(e.Predicted, e.Scores, e.Probabilities)
	}
	if m, ok := v.Interface().(interface{ Markdown() string }); ok {
		return m.Markdown()
	}
	if s, ok := v.Interface().(fmt.Stringer); ok {
		return s.String()
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Struct, reflect.Func:
		return v.Type().String()
	case reflect.Slice:
		if e := v.Type().Elem().Kind(); e == reflect.Pointer || e == reflect.Struct {
			return fmt.Sprintf("%d of %v", v.Len(), v.Type())
		}
	}
	return fmt.Sprint(v.Interface())
}

// withoutTimes leaves out what no two runs share.
func withoutTimes(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if strings.Contains(line, " ms") || strings.Contains(line, " µs") || strings.Contains(line, " s,") || strings.Contains(line, " s |") || strings.Contains(line, "time") {
			lines[i] = ""
		}
	}
	return strings.Join(lines, "\n")
}

var everyFigure = map[string]display.Figure{
	"Margins": svmnb.Margins, "KKT": svmnb.KKT, "Gap": svmnb.Gap, "Rate": svmnb.Rate, "Tube": svmnb.Tube, "Regions": svmnb.Regions,
	"Confusion": svmnb.Confusion, "ROC": svmnb.ROC, "PrecisionRecall": svmnb.PrecisionRecall, "Gain": svmnb.Gain, "Lift": svmnb.Lift,
	"Residuals": svmnb.Residuals, "Predictions": svmnb.Predictions, "Thresholds": svmnb.Thresholds, "Reliability": svmnb.Reliability, "KernelMatrix": svmnb.KernelMatrix(),
	"MarginsPCA": svmnb.MarginsPCA(), "MarginWidth": svmnb.MarginWidth, "Effort": svmnb.Effort, "Chunks": svmnb.Chunks,
	"WorkingSets": svmnb.WorkingSets, "Alphas": svmnb.Alphas, "Weights": svmnb.Weights, "Path": svmnb.Path, "Landscape": selection.Landscape,
}

// TestRaceFits: every method, every figure and the table of a fit of each kind.
func TestRaceFits(t *testing.T) {
	two, three := testkit.Moons().Select(testkit.Seq(40)), datasets.Blobs(45, 3, 1.5, 1)
	line := datasets.Sinc(30, .1, 1)
	// With -short these fits are left out, because the code that runs in parallel is the same as for
	// the others. The race detector makes every fit about ten times slower.
	alike := []string{"ridge", "nu", "hard margin", "regression, few rows kept", "linear regression", "ridge regression", "one against rest", "threshold", "calibrated classes"}
	for name, c := range map[string]struct {
		data *datasets.Dataset
		fit  func() (any, error)
	}{
		"classification": {two, func() (any, error) { return svmnb.Classify(two).Fit(ctx) }},
		"ridge":          {two, func() (any, error) { return svmnb.Classify(two).TwoNorm().Newton().Fit(ctx) }},
		"linear":         {two, func() (any, error) { return svmnb.Classify(two).Kernel(kernels.Linear()).CoordinateDescent().Fit(ctx) }},
		"nu":             {two, func() (any, error) { return svmnb.Classify(two).Nu(.3).Fit(ctx) }},
		"few rows kept":  {two, func() (any, error) { return svmnb.Classify(two).Memory(1000).Sample(1).Fit(ctx) }},
		"hard margin": {two, func() (any, error) {
			return svmnb.Classify(two).HardMargin().Kernel(kernels.RBF(50)).Memory(1000).Fit(ctx)
		}},
		"regression, few rows kept": {line, func() (any, error) {
			return svmnb.Regress(line).Memory(1000).Sample(1).Fit(ctx)
		}},
		"linear regression": {line, func() (any, error) { return svmnb.Regress(line).Kernel(kernels.Linear()).Ridge(1).Fit(ctx) }},
		"path":              {two, func() (any, error) { return svmnb.Classify(two).Path(ctx, .5, 4) }},
		"one class":         {two, func() (any, error) { return svmnb.OneClass(two).Nu(.2).Fit(ctx) }},
		"regression":        {line, func() (any, error) { return svmnb.Regress(line).Fit(ctx) }},
		"ridge regression": {line, func() (any, error) {
			return svmnb.Regress(line).Ridge(1e-2).Fit(ctx)
		}},
		"one against one":  {three, func() (any, error) { return svmnb.Classify(three).OneVsOne().Fit(ctx) }},
		"one against rest": {three, func() (any, error) { return svmnb.Classify(three).OneVsRest().Fit(ctx) }},
		"Crammer–Singer":   {three, func() (any, error) { return svmnb.Classify(three).CrammerSinger().Fit(ctx) }},
		"pipeline": {two, func() (any, error) {
			return selection.Pipe(transform.Standardise(), svmnb.Classify(two)).Fit(ctx)
		}},
		"calibrated": {two, func() (any, error) {
			fit, err := svmnb.Classify(two).Fit(ctx)
			if err != nil {
				return nil, err
			}
			return fit.Calibrate(ctx, svmnb.Platt{Folds: 3})
		}},
		"threshold": {two, func() (any, error) {
			fit, err := svmnb.Classify(two).Fit(ctx)
			if err != nil {
				return nil, err
			}
			return fit.Threshold(ctx, svmnb.ForCost(1, 20))
		}},
		"calibrated classes": {three, func() (any, error) {
			fit, err := svmnb.Classify(three).OneVsOne().Fit(ctx)
			if err != nil {
				return nil, err
			}
			return fit.Calibrate(ctx, svmnb.Isotonic{Folds: 3})
		}},
		"cross-validation": {two, func() (any, error) { return selection.CrossValidate(ctx, svmnb.Classify(two), selection.KFold(3, 1)) }},
	} {
		if testing.Short() && slices.Contains(alike, name) {
			continue
		}
		together(t, name, func() map[string]func() string {
			fit := must1(t, name)(c.fit())
			all := methodsOf(t, fit, c.data)
			for what, figure := range everyFigure {
				all["figure "+what] = func() string {
					chart, err := figure.Of(fit)
					return fmt.Sprint(chart != nil, err)
				}
			}
			for what, drawing := range map[string]display.Drawing{"Replay": play.Replay(fit), "Replay 2": play.Replay(fit)} {
				all[what] = func() string { return pictureOf(drawing) }
			}
			if f, ok := fit.(*svmnb.Fit); ok {
				all["ReplayStep"] = func() string { return pictureOf(play.ReplayStep(f, 1)) }
			}
			all["Table"] = func() string { return fmt.Sprint(len(display.Table(fit).Inside().Columns)) }
			return all
		})
	}
}

// pictureOf says whether there is a picture.
func pictureOf(d display.Drawing) string {
	chart, err := d.Chart()
	return fmt.Sprint(chart != nil, err)
}

func must1(t *testing.T, name string) func(any, error) any {
	return func(v any, err error) any {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return v
	}
}

// TestRaceModel: every method of a model, of fits of each kind and read from a file.
func TestRaceModel(t *testing.T) {
	two, three, line := testkit.Moons().Select(testkit.Seq(40)), datasets.Blobs(45, 3, 1.5, 1), datasets.Sinc(30, .1, 1)
	path := filepath.Join(t.TempDir(), "model")
	for name, c := range map[string]struct {
		data *datasets.Dataset
		fit  func() (any, error)
	}{
		"two classes": {two, func() (any, error) { return svmnb.Classify(two).Fit(ctx) }},
		"linear":      {two, func() (any, error) { return svmnb.Classify(two).Kernel(kernels.Linear()).Fit(ctx) }},
		"sum": {two, func() (any, error) {
			return svmnb.Classify(two).Kernel(kernels.Normalised(kernels.Sum(kernels.RBF(1), kernels.Polynomial(2, 1, 1)))).Fit(ctx)
		}},
		"three classes": {three, func() (any, error) { return svmnb.Classify(three).OneVsOne().Fit(ctx) }},
		"regression":    {line, func() (any, error) { return svmnb.Regress(line).Fit(ctx) }},
		"process":       {line, func() (any, error) { return gp.Regress(line).NoiseVariance(.01).Fit(ctx) }},
		"pipeline":      {two, func() (any, error) { return selection.Pipe(transform.Standardise(), svmnb.Classify(two)).Fit(ctx) }},
		"calibrated":    {two, func() (any, error) { return svmnb.Classify(two).MustFit().Calibrate(ctx, svmnb.Platt{}) }},
	} {
		together(t, name, func() map[string]func() string {
			return methodsOf(t, must1(t, name)(c.fit()).(model.Modeler).Model(), c.data)
		})
		if err := model.Save(path, must1(t, name)(c.fit()).(model.Modeler)); err != nil {
			t.Fatal(err)
		}
		together(t, name+", read", func() map[string]func() string {
			m, err := model.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			return methodsOf(t, m, c.data)
		})
	}
}

// TestRaceSearch: one description of a search is fitted from several goroutines, each
// with a file of its own and with several workers, and watched; then its result is
// asked.
func TestRaceSearch(t *testing.T) {
	data := testkit.Moons().Select(testkit.Seq(40))
	search := selection.Search(selection.Pipe(transform.Standardise(), svmnb.Classify(data)), selection.Grid{"C": {.1, 1, 10}, "gamma": {.5, 1}}, selection.StratifiedKFold(3, 1)).Workers(3)
	folder := t.TempDir()
	var wait sync.WaitGroup
	want := must1(t, "search")(search.Fit(ctx)).(*selection.SearchFit).Table().String()
	for i := range 4 {
		wait.Go(func() {
			seen := 0
			own := search.File(filepath.Join(folder, fmt.Sprint(i))).Watch(func(selection.SearchProgress) { seen++ })
			if fit, err := own.Fit(ctx); err != nil || fit.Table().String() != want || seen == 0 {
				t.Errorf("%v, %d looks", err, seen)
			}
		})
	}
	wait.Wait()
	together(t, "search", func() map[string]func() string {
		fit, err := search.Fit(ctx)
		if err != nil {
			t.Fatal(err)
		}
		all := methodsOf(t, fit, data)
		all["Landscape"] = func() string { _, err := selection.Landscape.Of(fit); return fmt.Sprint(err) }
		return all
	})
}

// TestRaceKeep: several goroutines keep the same and different fits in one folder.
func TestRaceKeep(t *testing.T) {
	t.Setenv("SVMNB_CACHE", t.TempDir())
	data, three := testkit.Moons().Select(testkit.Seq(40)), datasets.Blobs(45, 3, 1.5, 1)
	var wait sync.WaitGroup
	for i := range 12 {
		wait.Go(func() {
			c := svmnb.Classify(data).C(float64(1 + i%3))
			if got, want := c.Keep().Certificate.Dual, c.MustFit().Certificate.Dual; got != want {
				t.Errorf("C = %d: %v is kept for %v", 1+i%3, got, want)
			}
			if got := svmnb.Classify(three).OneVsOne().Keep().TrainingErrors(); got != svmnb.Classify(three).OneVsOne().MustFit().TrainingErrors() {
				t.Errorf("other errors: %d", got)
			}
		})
	}
	wait.Wait()
}

// TestRaceDescriptions: one description is fitted from several goroutines, by every
// method, on one data set.
func TestRaceDescriptions(t *testing.T) {
	data := testkit.Moons().Select(testkit.Seq(60))
	for _, c := range []svmnb.Classifier{svmnb.Classify(data), svmnb.Classify(data).SMO(), svmnb.Classify(data).Using(blocks.Decomposition{}), svmnb.Classify(data).Using(solvers.Chunking{}), svmnb.Classify(data).PrimalDual(),
		svmnb.Classify(data).TwoNorm().Newton(), svmnb.Classify(data).Kernel(kernels.Linear()).CoordinateDescent(), svmnb.Classify(data).Using(fastest.Method{}), svmnb.Classify(data).Kernel(kernels.Matern32(1))} {
		want := c.MustFit().Certificate.Dual
		var wait sync.WaitGroup
		for range 4 {
			wait.Go(func() {
				if fit, err := c.Fit(ctx); err != nil || fit.Certificate.Dual != want {
					t.Errorf("%v: %v", c, err)
				}
			})
		}
		wait.Wait()
	}
}
