package svmnb_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers/blocks"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/gp"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"github.com/svmnb/svmnb/svmnb/model"
	"github.com/svmnb/svmnb/svmnb/play"
	"github.com/svmnb/svmnb/svmnb/selection"
	"github.com/svmnb/svmnb/svmnb/transform"
)

// modelOf is that of what a learner becomes.
func modelOf(t testing.TB, l selection.Learner) *model.Model {
	t.Helper()
	return testkit.FitOf(t, selection.Pipe(l)).Model()
}

// Every machine learns from sparse points what it learns from the same points
// written out, and predicts the same for points of either kind; so do its files.
func TestSparseMachines(t *testing.T) {
	two, twoSparse := testkit.Thinned(60, 20, 2, 1)
	three, threeSparse := testkit.Thinned(60, 20, 3, 2)
	rbf, linear := kernels.RBF(0.1), kernels.Linear()
	tight := func(c svmnb.Classifier) svmnb.Classifier { return c.Tol(1e-9) }
	for name, of := range map[string]func(two, three *datasets.Dataset) selection.Learner{
		"default":  func(d, _ *datasets.Dataset) selection.Learner { return tight(svmnb.Classify(d)) },
		"RBF, SMO": func(d, _ *datasets.Dataset) selection.Learner { return tight(svmnb.Classify(d).Kernel(rbf).SMO()) },
		"RBF, decomposition": func(d, _ *datasets.Dataset) selection.Learner {
			return tight(svmnb.Classify(d).Kernel(rbf).Using(blocks.Decomposition{}))
		},
		"RBF, primal–dual": func(d, _ *datasets.Dataset) selection.Learner {
			return tight(svmnb.Classify(d).Kernel(rbf).PrimalDual())
		},
		"RBF, 2-norm, augmented by R²": func(d, _ *datasets.Dataset) selection.Learner {
			return tight(svmnb.Classify(d).Kernel(kernels.Polynomial(2, 1, 1)).TwoNorm().GradientAscent())
		},
		"linear":          func(d, _ *datasets.Dataset) selection.Learner { return tight(svmnb.Classify(d).Kernel(linear)) },
		"linear, descent": func(d, _ *datasets.Dataset) selection.Learner { return tight(svmnb.Classify(d).CoordinateDescent()) },
		"linear, Newton":  func(d, _ *datasets.Dataset) selection.Learner { return tight(svmnb.Classify(d).TwoNorm().Newton()) },
		"Laplacian": func(d, _ *datasets.Dataset) selection.Learner {
			return tight(svmnb.Classify(d).Kernel(kernels.Laplacian(0.1)))
		},
		"ν":               func(d, _ *datasets.Dataset) selection.Learner { return tight(svmnb.Classify(d).Kernel(rbf).Nu(0.4)) },
		"one class":       func(d, _ *datasets.Dataset) selection.Learner { return tight(svmnb.OneClass(d).Kernel(rbf).Nu(0.3)) },
		"one against one": func(_, d *datasets.Dataset) selection.Learner { return tight(svmnb.Classify(d).Kernel(rbf)).OneVsOne() },
		"one against rest": func(_, d *datasets.Dataset) selection.Learner {
			return tight(svmnb.Classify(d).Kernel(rbf)).OneVsRest()
		},
		"linear, one vs rest": func(_, d *datasets.Dataset) selection.Learner {
			return tight(svmnb.Classify(d).CoordinateDescent()).OneVsRest()
		},
		"linear, one vs one": func(_, d *datasets.Dataset) selection.Learner {
			return tight(svmnb.Classify(d).Kernel(linear)).OneVsOne()
		},
		"Crammer–Singer": func(_, d *datasets.Dataset) selection.Learner {
			return tight(svmnb.Classify(d).Kernel(rbf)).CrammerSinger()
		},
		"linear, joint": func(_, d *datasets.Dataset) selection.Learner {
			return tight(svmnb.Classify(d).Kernel(linear)).CrammerSinger()
		},
		"ε-SVR": func(d, _ *datasets.Dataset) selection.Learner { return svmnb.Regress(d).Kernel(rbf).Tol(1e-9) },
		"ν-SVR": func(d, _ *datasets.Dataset) selection.Learner { return svmnb.Regress(d).Kernel(rbf).Nu(0.5).Tol(1e-9) },
		"ridge": func(d, _ *datasets.Dataset) selection.Learner {
			return svmnb.Regress(d).Kernel(rbf).Ridge(0.1).Tol(1e-9)
		},
		"linear SVR": func(d, _ *datasets.Dataset) selection.Learner { return svmnb.Regress(d).CoordinateDescent().Tol(1e-9) },
		"by Nyström": func(d, _ *datasets.Dataset) selection.Learner {
			return selection.Pipe(transform.MaxAbs(), transform.Nystroem(rbf, 10, 1), tight(svmnb.Classify(d).Kernel(linear)))
		},
		"by Fourier": func(d, _ *datasets.Dataset) selection.Learner {
			return selection.Pipe(transform.RandomFourier(0, 50, 1), tight(svmnb.Classify(d)))
		},
		"MaxAbs, regression": func(d, _ *datasets.Dataset) selection.Learner {
			return selection.Pipe(transform.MaxAbs(), svmnb.Regress(d).Kernel(rbf).Tol(1e-9))
		},
	} {
		t.Run(name, func(t *testing.T) {
			data := two
			full, sparse := of(two, three), of(twoSparse, threeSparse)
			if full.Learning().Data() == three {
				data = three
			}
			points := *sparse.Learning().Data().Sparse
			if p, ok := sparse.(selection.Pipeline); ok {
				a, err := p.Fit(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				b, err := full.(selection.Pipeline).Fit(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				mine, err1 := a.Values(points)
				want, err2 := b.Values(datasets.Rows(data.X))
				if err := errors.Join(err1, err2); err != nil || !testkit.NearRows([][]float64{mine}, [][]float64{want}, 1e-6) {
					t.Fatalf("%v: %v and %v", err, mine, want)
				}
				if _, err := a.Predict(datasets.CSR{Start: []int{0, 0}, D: 3}); err == nil || !strings.Contains(err.Error(), "dims") {
					t.Errorf("points of 3 features: %v", err)
				}
				return
			}
			m, want := modelOf(t, sparse), modelOf(t, full)
			values, err := want.Decisions(datasets.Rows(data.X))
			if err != nil {
				t.Fatal(err)
			}
			same := func(what string, m *model.Model, tol float64) {
				t.Helper()
				a, err1 := m.Decisions(points)
				b, err2 := m.Decisions(datasets.Rows(data.X))
				if err := errors.Join(err1, err2); err != nil || !testkit.NearRows(a, values, tol) || !testkit.NearRows(b, values, tol) {
					t.Fatalf("%s: %v: %v and %v, want %v", what, err, a[0], b[0], values[0])
				}
			}
			const tol = 2e-6
			if m.Inside().Expansion.X.Sparse == nil {
				t.Fatal("the support vectors were written out")
			}
			same("sparse", m, tol)
			path := filepath.Join(t.TempDir(), "model")
			if err := model.Save(path, m); err != nil {
				t.Fatal(err)
			}
			again, err := model.Load(path)
			if err != nil || again.Inside().Expansion.X.Sparse == nil {
				t.Fatal(err)
			}
			same("saved", again, tol)
			a, _ := m.Decisions(points)
			b, _ := again.Decisions(points)
			if fmt.Sprint(a) != fmt.Sprint(b) {
				t.Error("a model that was saved has other values")
			}
			var text bytes.Buffer
			if err := m.WriteLIBSVM(&text); err == nil {
				read, err := model.ReadLIBSVM(&text, 20)
				if err != nil {
					t.Fatal(err)
				}
				if m.Inside().Kind != machines.TwoClassKind { // LIBSVM puts the positive class first
					same("LIBSVM", read, tol)
				} else if labels, err := read.Predict(points); err != nil {
					t.Fatal(err)
				} else if mine, _ := m.Predict(points); !slices.Equal(labels, mine) {
					t.Errorf("LIBSVM's file predicts %v, want %v", labels, mine)
				}
			}
		})
	}
}

// What is held out of sparse data, and how often machines err on it, is as of the
// same points written out; calibration and a search too.
func TestSparseSelection(t *testing.T) {
	ctx := context.Background()
	full, sparse := testkit.Thinned(60, 20, 3, 4)
	base := func(d *datasets.Dataset) svmnb.MultiClassifier {
		return svmnb.Classify(d).Kernel(kernels.RBF(0.1)).Tol(1e-8).OneVsOne()
	}
	a, err := selection.CrossValidate(ctx, base(full), selection.StratifiedKFold(4, 1))
	if err != nil {
		t.Fatal(err)
	}
	b, err := selection.CrossValidate(ctx, selection.Pipe(base(sparse)), selection.StratifiedKFold(4, 1))
	if err != nil || !slices.Equal(a.Scores, b.Scores) || a.Twins != b.Twins {
		t.Errorf("%v: %v of sparse points, want %v", err, b, a)
	}
	found, err := selection.Search(selection.Pipe(transform.MaxAbs(), base(sparse)), selection.Grid{"C": {1, 10}, "gamma": {0.01, 0.1}}, selection.KFold(3, 1)).Fit(ctx)
	if err != nil {
		t.Fatal(err)
	}
	want, err := selection.Search(selection.Pipe(transform.MaxAbs(), base(full)), selection.Grid{"C": {1, 10}, "gamma": {0.01, 0.1}}, selection.KFold(3, 1)).Fit(ctx)
	best, ok := found.Best()
	wanted, _ := want.Best()
	if err != nil || !ok || !slices.Equal(best.Scores, wanted.Scores) || !slices.Equal(best.Values, wanted.Values) {
		t.Errorf("found %v, want %v: %v", best, wanted, err)
	}
	fit, err := base(sparse).Fit(ctx)
	if err != nil {
		t.Fatal(err)
	}
	c, err := fit.Calibrate(ctx, svmnb.Platt{})
	if err != nil {
		t.Fatal(err)
	}
	fitFull, err := base(full).Fit(ctx)
	if err != nil {
		t.Fatal(err)
	}
	cFull, err := fitFull.Calibrate(ctx, svmnb.Platt{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.Model().Probabilities(*sparse.Sparse)
	pFull, err2 := cFull.Probabilities(datasets.Rows(full.X))
	if errors.Join(err, err2) != nil || !testkit.NearRows(p, pFull, 1e-5) {
		t.Errorf("probabilities %v, want %v", p[0], pFull[0])
	}
	e, err := fit.Evaluate(sparse)
	eFull, err2 := fitFull.Evaluate(full)
	if errors.Join(err, err2) != nil || !slices.Equal(e.Predicted, eFull.Predicted) {
		t.Error("Evaluate differs", err, err2)
	}
}

// Sparse points are refused in words where they would have to be written out.
func TestSparseRefused(t *testing.T) {
	_, sparse := testkit.Thinned(20, 2, 2, 5)
	_, wide := testkit.Thinned(20, 5, 2, 5)
	fit := svmnb.Classify(sparse).MustFit()
	multi := svmnb.Classify(sparse).OneVsOne().MustFit()
	regression := svmnb.Regress(sparse).MustFit()
	for says, of := range map[string]func() error{
		"step 1, Standardise(): svmnb: Pipe: the points are sparse": func() error {
			_, err := selection.Pipe(transform.Standardise(), svmnb.Classify(sparse)).Fit(t.Context())
			return err
		},
		"step 2, PCA(1): svmnb: Pipe: the points are sparse": func() error {
			_, err := selection.Pipe(transform.MaxAbs(), transform.PCA(1), svmnb.Classify(sparse)).Fit(t.Context())
			return err
		},
		"the points are sparse, and a process needs them": func() error { _, err := gp.Regress(sparse).Fit(t.Context()); return err },
		"Regions: the points are sparse, and this needs":  func() error { _, err := svmnb.Regions.Of(multi); return err },
		"MarginsOver: the points are sparse":              func() error { _, err := svmnb.MarginsOver(0, 1).Of(fit); return err },
		"MarginsPCA: the points are sparse":               func() error { _, err := svmnb.MarginsPCA().Of(multi); return err },
		"Table: the points are sparse":                    func() error { return display.Table(sparse).Err() },
		"Explore: the points are sparse":                  func() error { return play.Explore(svmnb.Classify(sparse)) },
		"the support vectors are sparse, and the format":  func() error { return fit.Model().WriteGo(&bytes.Buffer{}, "p") },
		"the points have 5 features, the classifier was trained on 2; give the reader that number as dims": func() error { _, err := fit.Evaluate(wide); return err },
		"the points have 5 features, the model was trained on 2":                                           func() error { _, err := multi.Model().Predict(*wide.Sparse); return err },
		"is not a finite number": func() error {
			x := datasets.CSR{Start: []int{0, 1}, Index: []int32{1}, Value: []float64{math.Inf(1)}, D: 2}
			_, err := regression.Model().Values(x)
			return err
		},
	} {
		if err := of(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v; want %q", err, says)
		}
	}
	if fit.SupportVectors()[0].X != nil || regression.SupportVectors()[0].X != nil {
		t.Error("a support vector was written out")
	}
	for _, f := range []struct {
		fit any
		fig display.Figure
	}{{fit, svmnb.Margins}, {fit, svmnb.KKT}, {fit, svmnb.KernelMatrix()}, {fit, svmnb.Gap}, {regression, svmnb.Tube}, {multi, svmnb.Confusion}} { // by values, not by places
		if _, err := f.fig.Of(f.fit); err != nil {
			t.Error(err)
		}
	}
	for _, m := range []interface{ Markdown() string }{fit, multi, regression} {
		if !strings.Contains(m.Markdown(), "20 × 2") {
			t.Error(m.Markdown())
		}
	}
}

// Kept by content: the same sparse points are not solved again, others are.
func TestSparseKeep(t *testing.T) {
	t.Setenv("SVMNB_CACHE", t.TempDir())
	_, a := testkit.Thinned(20, 6, 2, 6)
	_, b := testkit.Thinned(20, 6, 2, 6)
	first := svmnb.Classify(a).Keep()
	if again := svmnb.Classify(b).Keep(); again.Elapsed != first.Elapsed {
		t.Error("solved again")
	}
	b.Sparse.Index[len(b.Sparse.Index)-1] ^= 1 // one value moves to another feature
	if b.Check() == nil {
		if other := svmnb.Classify(b).Keep(); other.Elapsed == first.Elapsed && slices.Equal(other.Alpha, first.Alpha) {
			t.Error("other points, and not solved again")
		}
	}
}

// 2,000 points of 10⁶ features would take 16 GB written out.
func TestSparseMillionColumns(t *testing.T) {
	const n, d, each = 2000, 1_000_000, 20
	rng := rand.New(rand.NewPCG(7, 7))
	x, y := datasets.CSR{Start: []int{0}, D: d}, make([]float64, n)
	for i := range n {
		y[i] = float64(2*(i%2) - 1)
		at := map[int32]bool{int32(i % 2): true}
		for len(at) < each {
			at[int32(rng.IntN(d))] = true
		}
		for j := range at {
			x.Index = append(x.Index, j)
		}
		slices.Sort(x.Index[x.Start[i]:])
		for range at {
			x.Value = append(x.Value, 1)
		}
		x.Start = append(x.Start, len(x.Index))
	}
	data := datasets.NewSparse(x, y)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	l := selection.Pipe(transform.MaxAbs(), svmnb.Classify(data).CoordinateDescent())
	v, err := selection.CrossValidate(t.Context(), l, selection.KFold(2, 1))
	if err != nil || v.Scores[0] < 0.99 {
		t.Fatal(v, err)
	}
	m := modelOf(t, svmnb.Classify(data.Select([]int{0, 1, 2, 3, 4, 5, 6, 7})).Kernel(kernels.RBF(0.01)))
	path := filepath.Join(t.TempDir(), "model")
	if err := model.Save(path, m); err != nil {
		t.Fatal(err)
	}
	if m, err = model.Load(path); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Predict(x.Points(0, 1, 2)); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 1500 {
		t.Errorf("%d MiB were allocated in all", took)
	} else {
		t.Logf("%d MiB were allocated in all", took)
	}
}
