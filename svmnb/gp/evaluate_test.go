package gp

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"pgregory.net/rapid"
)

// crashes returns a process of four fifths of the motorcycle data, and the other points.
func crashes() (Process, *datasets.Dataset) {
	data := datasets.Motorcycle()
	var learnt, held []int
	for i := range data.N() {
		if i%5 == 2 {
			held = append(held, i)
		} else {
			learnt = append(learnt, i)
		}
	}
	return motorcycle().On(data.Select(learnt)), data.Select(held)
}

// Approximate processes that are exact have the evaluation of the exact process.
func TestApproximateEvaluations(t *testing.T) {
	p, test := crashes()
	want := certain(testkit.FitOf(t, p).Evaluate(test))
	n := p.data.N()
	sparse, err := p.Inducing(n).Fit(ctx)
	if err != nil {
		t.Fatal(err)
	}
	near, err := p.Neighbours(n).Fit(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for what, e := range map[string]*Evaluation{"sparse": certain(sparse.Evaluate(test)), "neighbours": certain(near.Evaluate(test))} {
		testkit.Near(t, what+": RMSE", certain(e.RMSE()), certain(want.RMSE()), 1e-4)
		testkit.Near(t, what+": NLPD", certain(e.NLPD()), certain(want.NLPD()), 1e-4)
		if c, err := e.drawPredictions(); err != nil || c == nil {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := e.drawPosterior(view{}); !errors.As(err, new(*arguments.Error)) {
			t.Errorf("%s: %v", what, err)
		}
	}
	short := test.Select([]int{0, 1})
	short.X[1] = []float64{math.NaN()}
	if _, err := near.Evaluate(short); err == nil {
		t.Error("NaN is accepted")
	}
	if s := p.Neighbours(3).String(); strings.Contains(s, "Cholesky") || !strings.Contains(p.Cholesky().Neighbours(3).String(), ".Cholesky()") {
		t.Error(s)
	}
}

// An evaluation has the measures of a plain Cholesky factor.
func TestEvaluationIsTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y, noise, k := drawProcess(t)
		noise = slices.Repeat(noise[:1], len(x))
		want := newPlain(k, x, noise)
		test := datasets.New([][]float64{x[0], slices.Repeat([]float64{0.3}, len(x[0])), slices.Repeat([]float64{-4}, len(x[0]))}, []float64{1, rapid.Float64Range(-3, 3).Draw(t, "target"), -2})
		e := certain(testkit.FitOf(t, Regress(datasets.New(x, y)).Kernel(k).NoiseVariance(noise[0]).ZeroMean()).Evaluate(test))
		squares, variation, density, within := 0.0, 0.0, 0.0, 0.0
		average := (test.Y[0] + test.Y[1] + test.Y[2]) / 3
		const share = 0.8
		for i, at := range test.X {
			rest, v := test.Y[i]-want.mean(at, y), want.covariance(at, at)+noise[0]
			squares += rest * rest
			variation += (test.Y[i] - average) * (test.Y[i] - average)
			density += math.Log(math.Sqrt(2*math.Pi*v)) + rest*rest/v/2
			if math.Erf(math.Abs(rest)/math.Sqrt(2*v)) < share {
				within++
			}
		}
		for what, c := range map[string]struct {
			of   func() (float64, error)
			want float64
		}{
			"RMSE": {e.RMSE, math.Sqrt(squares / 3)}, "R2": {e.R2, 1 - squares/variation}, "NLPD": {e.NLPD, density / 3},
			"Coverage": {func() (float64, error) { return e.Coverage(share) }, within / 3},
		} {
			if got := certain(c.of()); !(math.Abs(got-c.want) <= 1e-8*(1+math.Abs(c.want))) {
				t.Fatalf("%s = %.12g, want %.12g", what, got, c.want)
			}
		}
	})
}

func TestEvaluationSays(t *testing.T) {
	p, test := crashes()
	e := certain(testkit.FitOf(t, p).Evaluate(test))
	text := e.Markdown()
	for _, want := range []string{"motorcycle", "| points | 27 |", "**RMSE** | ", "R², share of the variance explained | 0.", "**mean −ln p(y)** | ", "targets in their 95 % interval | ", " ["} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	// The same seed draws the same intervals.
	if again := e.Markdown(); again != text {
		t.Errorf("%s\nis not\n%s", again, text)
	}
	// Noise that is known at the training points only leaves the means.
	known := testkit.FitOf(t, p.NoiseVariances(slices.Repeat([]float64{484}, 106)))
	e = certain(known.Evaluate(test))
	if text := e.Markdown(); !strings.Contains(text, "RMSE") || strings.Contains(text, "ln p") || strings.Contains(text, "interval") {
		t.Errorf("without a noise variance:\n%s", text)
	}
	for call, of := range map[string]func() (float64, error){"NLPD": e.NLPD, "Coverage": func() (float64, error) { return e.Coverage(0.9) }} {
		if _, err := of(); !testkit.IsArgument(err, call) || !strings.Contains(err.Error(), "noise differs") {
			t.Errorf("%s: %v", call, err)
		}
	}
}

func TestEvaluateRefuses(t *testing.T) {
	p, test := crashes()
	fit := testkit.FitOf(t, p)
	e := certain(fit.Evaluate(test))
	for _, share := range []float64{0, 1, -1, 2, math.NaN()} {
		if _, err := e.Coverage(share); !testkit.IsArgument(err, "Coverage") {
			t.Errorf("a share of %v: %v", share, err)
		}
	}
	var bad *datasets.Error
	if _, err := fit.Evaluate(nil); !errors.As(err, &bad) {
		t.Errorf("no data: %v", err)
	}
	scaled := certain(datasets.FitStandard(test)).Apply(test)
	units := certain(datasets.FitTarget(test)).Apply(test)
	for what, ds := range map[string]*datasets.Dataset{"other features": datasets.New([][]float64{{1, 2}}, []float64{1}), "scaled points": scaled, "scaled targets": units} {
		if _, err := fit.Evaluate(ds); !testkit.IsArgument(err, "Evaluate") {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := PosteriorOver(0, 1, ds).Of(fit); !testkit.IsArgument(err, "PosteriorOver") {
			t.Errorf("figure of %s: %v", what, err)
		}
	}
	for _, empty := range []*Fit{nil, {}} {
		if _, err := empty.Evaluate(test); !testkit.IsArgument(err, "Evaluate") {
			t.Errorf("no fit: %v", err)
		}
	}
	for _, r := range [][2]float64{{1, 1}, {2, 1}, {math.NaN(), 1}, {0, math.Inf(1)}, {-math.MaxFloat64, math.MaxFloat64}} {
		if _, err := PosteriorOver(r[0], r[1]).Of(fit); !testkit.IsArgument(err, "PosteriorOver") {
			t.Errorf("from %v to %v: %v", r[0], r[1], err)
		}
	}
}

// The picture of an evaluation has its test points, over a range that covers them.
func TestEvaluationFigure(t *testing.T) {
	p, test := crashes()
	fit := testkit.FitOf(t, p)
	far := datasets.New([][]float64{{70}, {75}}, []float64{0, 1})
	far.Features, far.Target = test.Features, test.Target
	for _, c := range []struct {
		name, says string
		of         func() (title, subtitle string, err error)
	}{
		{"evaluation", "106 observations, 27 test points", func() (string, string, error) {
			c, err := Posterior.Of(certain(fit.Evaluate(test)))
			return c.Title.Title, c.Title.Subtitle, err
		}},
		{"evaluation beyond the data", "106 observations, 2 test points", func() (string, string, error) {
			c, err := PosteriorSamples(2, 1).Of(certain(fit.Evaluate(far)))
			if strings.Contains(c.Title.Subtitle, "outside") {
				t.Errorf("the range is too small: %s", c.Title.Subtitle)
			}
			return c.Title.Title, c.Title.Subtitle, err
		}},
		{"evaluation over a range", "outside the range", func() (string, string, error) {
			c, err := PosteriorOver(10, 30, far).Of(certain(fit.Evaluate(test)))
			return c.Title.Title, c.Title.Subtitle, err
		}},
	} {
		title, subtitle, err := c.of()
		if err != nil || !strings.Contains(title+" · "+subtitle, c.says) {
			t.Errorf("%s: %q, %q, %v, want %q", c.name, title, subtitle, err, c.says)
		}
	}
	two := testkit.FitOf(t, Regress(datasets.Friedman1(40, 0.1, 1).Columns(0, 1)).Kernel(kernels.RBF(1)).NoiseVariance(0.1))
	if _, err := Posterior.Of(certain(two.Evaluate(datasets.Friedman1(10, 0.1, 2).Columns(0, 1)))); err == nil || !strings.Contains(err.Error(), "2 features") {
		t.Errorf("two features: %v", err)
	}
	chart, err := certain(two.Evaluate(datasets.Friedman1(10, 0.1, 2).Columns(0, 1))).drawPredictions()
	if err != nil || chart.Title.Title == "" {
		t.Errorf("predictions of two features: %v", err)
	}
	for _, e := range []*Evaluation{nil, {}} {
		if _, err := Posterior.Of(e); err == nil {
			t.Error("nothing has a picture")
		}
	}
}
