package stream_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/stream"
	"pgregory.net/rapid"
)

func saved(t testing.TB, data *datasets.Dataset) *datasets.RowFile {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows")
	if err := datasets.SaveRows(context.Background(), path, data, datasets.Double); err != nil {
		t.Fatal(err)
	}
	s, err := datasets.OpenRows(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func must(t testing.TB, c stream.Classifier) *stream.Fit {
	t.Helper()
	fit, err := c.Fit(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if fit.Status != solvers.Converged {
		t.Fatalf("%v: %v, gap %v", c, fit.Status, fit.RelGap())
	}
	return fit
}

// A machine that is fitted to a file is the one that is fitted in memory, for all margins and
// kernels of which the features are exact.
func TestStreamedEqualsInMemory(t *testing.T) {
	data := datasets.Moons(300, 0.3, 4)
	source := saved(t, data)
	for name, c := range map[string]struct {
		streamed stream.Classifier
		memory   svmnb.Classifier
	}{
		"linear":      {stream.Classify(source).C(2), svmnb.Classify(data).Kernel(kernels.Linear()).C(2)},
		"2-norm":      {stream.Classify(source).TwoNorm().C(0.5), svmnb.Classify(data).Kernel(kernels.Linear()).TwoNorm().C(0.5)},
		"balanced":    {stream.Classify(source).Balanced(), svmnb.Classify(data).Kernel(kernels.Linear()).Balanced()},
		"RBF":         {stream.Classify(source).Kernel(kernels.RBF(2)).Nystroem(300).C(3), svmnb.Classify(data).Kernel(kernels.RBF(2)).C(3)},
		"RBF, 2-norm": {stream.Classify(source).Kernel(kernels.RBF(2)).Nystroem(300).TwoNorm(), svmnb.Classify(data).Kernel(kernels.RBF(2)).TwoNorm()},
		"scaled":      {stream.Classify(source).Standardise(), svmnb.Classify(data.Standardised()).Kernel(kernels.Linear())},
	} {
		fit := must(t, c.streamed.Gap(1e-4))
		want := c.memory.Stop(solvers.Gap{Rel: 1e-8}).MustFit()
		optimum := want.Certificate.Dual
		slack := 1e-6 * optimum
		if fit.Dual > optimum+slack || fit.Primal < optimum-slack || fit.Primal > optimum*(1+2e-4) {
			t.Errorf("%s: %v … %v, in memory %v", name, fit.Dual, fit.Primal, optimum)
		}
		if fit.Points != data.N() || fit.Errors > want.TrainingErrors()+6 {
			t.Errorf("%s: %d errors of %d, in memory %d", name, fit.Errors, fit.Points, want.TrainingErrors())
		}
		e, err := fit.Evaluate(context.Background(), source)
		if err != nil || e.Points != data.N() || e.Errors() != fit.Errors || math.Abs(e.Accuracy()+float64(fit.Errors)/300-1) > 1e-9 {
			t.Errorf("%s: evaluation %+v of a fit with %d errors, %v", name, e, fit.Errors, err)
		}
		// The model predicts what the fit predicts.
		values, err := fit.Model().Values(datasets.Rows(data.X))
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		err = fit.Each(context.Background(), source, func(from int, v []float64) error {
			for i, f := range v {
				if w := values[from+i]; math.Abs(f-w) > 1e-6*(1+math.Abs(w)) {
					t.Fatalf("%s: f at row %d is %v, of the model %v", name, from+i, f, w)
				}
			}
			seen += len(v)
			return nil
		})
		if err != nil || seen != data.N() {
			t.Errorf("%s: %d values, %v", name, seen, err)
		}
		names, err := fit.Model().Predict(datasets.Rows(data.X))
		if err != nil {
			t.Fatal(err)
		}
		err = fit.Predict(context.Background(), source, func(from int, got []string) error {
			if !slices.Equal(got, names[from:from+len(got)]) {
				t.Errorf("%s: %v, by the model %v", name, got, names)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// All sources of the same rows give the same fit, to the bit.
func TestSourcesGiveTheSameFit(t *testing.T) {
	data := datasets.Moons(400, 0.3, 4)
	dir := t.TempDir()
	table := filepath.Join(dir, "t.csv")
	f, err := os.Create(table)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(data.WriteCSV(f), f.Close()); err != nil {
		t.Fatal(err)
	}
	csv, err := datasets.OpenCSV(table, datasets.CSV{})
	if err != nil {
		t.Fatal(err)
	}
	want := must(t, stream.Classify(data).Kernel(kernels.RBF(1)).Nystroem(40))
	for _, s := range []datasets.Source{csv, saved(t, data)} {
		if got := must(t, stream.Classify(s).Kernel(kernels.RBF(1)).Nystroem(40)); !slices.Equal(got.Beta, want.Beta) || got.Bias != want.Bias || got.Dual != want.Dual {
			t.Errorf("%T gives another fit", s)
		}
	}
}

// The exact optimum lies between the bounds, whatever approximation they come from.
func TestBoundsHoldTheExactOptimum(t *testing.T) {
	used, sharp := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(30, 150).Draw(t, "n")
		data := datasets.Moons(n, rapid.Float64Range(0.1, 0.4).Draw(t, "noise"), rapid.Uint64().Draw(t, "seed"))
		gamma, cost := rapid.SampledFrom([]float64{1e-3, 0.3, 3}).Draw(t, "gamma"), rapid.SampledFrom([]float64{0.1, 1, 20}).Draw(t, "C")
		m := rapid.IntRange(2, n/2).Draw(t, "m") * 2
		c := stream.Classify(data).Kernel(kernels.RBF(gamma)).C(cost).Gap(1e-2).Seed(rapid.Uint64().Draw(t, "landmarks"))
		exact := svmnb.Classify(data).Kernel(kernels.RBF(gamma)).C(cost)
		if rapid.Bool().Draw(t, "squared") {
			c, exact = c.TwoNorm(), exact.TwoNorm()
		}
		if rapid.Bool().Draw(t, "Fourier") {
			c = c.RandomFeatures(m)
		} else {
			c = c.Nystroem(m)
		}
		optimum := exact.Stop(solvers.Gap{Rel: 1e-9}).MustFit().Certificate.Dual
		fit, err := c.Fit(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		bound, err := fit.Bound(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		blocks, err := fit.Blocked(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		sample, err := fit.Sampled(context.Background(), 200)
		if err != nil {
			t.Fatal(err)
		}
		slack := 1e-7 * optimum
		for _, e := range []stream.Exactness{bound, blocks} {
			if e.Dual > optimum+slack || e.Primal < optimum-slack {
				t.Fatalf("%v: %v is not in [%v, %v]", c, optimum, e.Dual, e.Primal)
			}
		}
		if blocks.RelGap() == 1 && blocks.Dual > 0 {
			t.Fatalf("%v: %v has no upper bound", c, blocks)
		}
		if bound.Dual > blocks.Dual+slack {
			t.Fatalf("the bound %v is above D(α) = %v", bound.Dual, blocks.Dual)
		}
		if d := math.Abs(sample.Dual - blocks.Dual); d > 8*sample.StandardError+1e-3*optimum {
			t.Fatalf("%v: the estimate %v ± %v is far from %v", c, sample.Dual, sample.StandardError, blocks.Dual)
		}
		used++
		if blocks.RelGap() < 0.05 {
			sharp++
		}
	})
	if sharp == 0 || sharp == used {
		t.Errorf("%d of %d gaps are small: the test tries too little", sharp, used)
	}
}

// Blocks of support vectors give the same sum however many fit into one.
func TestBlockedInSmallBlocks(t *testing.T) {
	data := datasets.Moons(8000, 0.4, 1)
	for _, c := range []stream.Classifier{stream.Classify(data).Nystroem(10), stream.Classify(data).RandomFeatures(40)} {
		fit := must(t, c.Kernel(kernels.RBF(2)))
		all, err := fit.Blocked(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		before := stream.SetBlockedRows(700)
		few, err := fit.Blocked(context.Background())
		stream.SetBlockedRows(before)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(all.Dual-few.Dual) > 1e-9*fit.Primal || math.Abs(all.Primal-few.Primal) > 1e-9*fit.Primal || few.KernelValues > all.KernelValues {
			t.Errorf("%v: %+v, in small blocks %+v", c, all, few)
		}
	}
}

func TestFitErrors(t *testing.T) {
	data := datasets.Moons(100, 0.2, 1)
	three := datasets.Iris()
	one := datasets.New([][]float64{{1}, {2}}, []float64{1, 1})
	bad := datasets.New([][]float64{{1, 2}, {3, 4}, {5, 6}}, []float64{1, 0, 1})
	bad.X[2][1] = math.NaN()
	for name, c := range map[string]struct {
		of   stream.Classifier
		says string
	}{
		"no source":     {stream.Classify(nil), "the source is nil"},
		"nil file":      {stream.Classify((*datasets.RowFile)(nil)), "the source is nil"},
		"zero":          {stream.Classifier{}, "the source is nil"},
		"C":             {stream.Classify(data).C(-1), "C is -1"},
		"gap":           {stream.Classify(data).Gap(2), "the gap is 2"},
		"passes":        {stream.Classify(data).MaxPasses(0), "at least 1"},
		"landmarks":     {stream.Classify(data).Nystroem(101), "101 landmarks are asked for of 100 points"},
		"odd":           {stream.Classify(data).RandomFeatures(7), "even"},
		"no spectrum":   {stream.Classify(data).Kernel(kernels.Polynomial(2, 1, 1)).RandomFeatures(8), "spectral density"},
		"three classes": {stream.Classify(three), "3 classes (setosa, versicolor, virginica)"},
		"one class":     {stream.Classify(one), "1 classes"},
		"real targets":  {stream.Classify(datasets.Sinc(100, 0.1, 1)), "more than 20 different targets"},
		"scaled":        {stream.Classify(data.Standardised()), "Standardise()"},
		"NaN":           {stream.Classify(bad), "row 2, column 1"},
		"exact":         {stream.Classify(data).Kernel(kernels.RBF(1)), "pairs of 100 points"},
		"budget":        {stream.Classify(data).Nystroem(100).Memory(100_000), "the budget is 100000 bytes"},
		"lying":         {stream.Classify(liar{data}), "gave 100 rows and says that it has 120"},
	} {
		fit, err := c.of.Fit(context.Background())
		if err == nil || fit != nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var memory *stream.MemoryError
	if _, err := stream.Classify(data).Kernel(kernels.RBF(1)).Fit(context.Background()); !errors.As(err, &memory) || memory.Needs != 80_000 {
		t.Errorf("%v", err)
	}
	fit := must(t, stream.Classify(data))
	if _, err := fit.Evaluate(context.Background(), three); err == nil || !strings.Contains(err.Error(), "4 features") {
		t.Error(err)
	}
	other := datasets.New([][]float64{{1, 2}}, []float64{7})
	if _, err := fit.Evaluate(context.Background(), other); err == nil || !strings.Contains(err.Error(), "class 7") {
		t.Error(err)
	}
}

type liar struct{ *datasets.Dataset }

func (l liar) Head() datasets.Head { h := l.Dataset.Head(); h.N = 120; return h }

// An interrupt leaves the fit so far: of the sample, or of the last passes.
func TestFitInterrupted(t *testing.T) {
	source := saved(t, datasets.Moons(5000, 0.3, 1))
	enough := errors.New("enough")
	seen := map[string]bool{}
	for _, after := range []int{1, 5, 6, 8, 11, 16} {
		ctx, stop := context.WithCancelCause(context.Background())
		calls := 0
		fit, err := stream.Classify(interrupting{source, func() {
			if calls++; calls == after {
				stop(enough)
			}
		}}).Kernel(kernels.RBF(1)).Nystroem(8).Gap(1e-6).Fit(ctx)
		if !errors.Is(err, enough) {
			t.Fatalf("after %d blocks: %v", after, err)
		}
		switch {
		case fit == nil:
			seen["none"] = true
		case math.IsInf(fit.Primal, 1):
			seen["sample"] = true
			if e, err := fit.Evaluate(context.Background(), source); err != nil || e.Accuracy() < 0.8 {
				t.Errorf("the machine of the sample: %v, %v", e.Accuracy(), err)
			}
			if e, err := fit.Blocked(context.Background()); err != nil || e.Dual != 0 || !math.IsInf(e.Primal, 1) {
				t.Errorf("the bounds of a sample: %v, %v", e, err)
			}
		default:
			seen["passes"] = true
			if !(fit.Dual <= fit.Primal) || fit.Passes < 1 {
				t.Errorf("%+v", fit.Result)
			}
		}
	}
	if len(seen) != 3 {
		t.Errorf("only %v", seen)
	}
}

// interrupting calls a function before each block.
type interrupting struct {
	datasets.Source
	before func()
}

type reader struct {
	datasets.BlockReader
	before func()
}

func (s interrupting) Open(ctx context.Context) (datasets.BlockReader, error) {
	r, err := s.Source.Open(ctx)
	return reader{r, s.before}, err
}

func (r reader) Next(b *datasets.Block) error { r.before(); return r.BlockReader.Next(b) }

// The progress counts all rows of each pass.
func TestProgress(t *testing.T) {
	data := datasets.Moons(3000, 0.3, 1)
	ends := 0
	var last stream.Progress
	fit := must(t, stream.Classify(data).Kernel(kernels.RBF(1)).Nystroem(8).Watch(func(p stream.Progress) {
		if p.Row == p.N {
			ends++
		}
		last = p
	}))
	if ends != fit.Passes+1 || last.Doing != "fit" || !strings.Contains(last.String(), "3,000 of 3,000 rows") && !strings.Contains(last.String(), "rows") {
		t.Errorf("%d passes ended, the fit has %d; the last line is %q", ends, fit.Passes, last)
	}
	if !strings.Contains(fit.Markdown(), "landmarks") {
		t.Error(fit.Markdown())
	}
}
