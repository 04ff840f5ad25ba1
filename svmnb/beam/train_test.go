package beam

import (
	"cmp"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/selection"
)

func near(t *testing.T, what string, got, want, rel float64) {
	t.Helper()
	if !(math.Abs(got-want) <= rel*(1+math.Abs(want))) {
		t.Errorf("%s is %.12g, want %.12g", what, got, want)
	}
}

// asFile writes a data set into a file.
func asFile(t *testing.T, name string, write func(*os.File) error) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	file, err := os.Create(path)
	if err == nil {
		err = errors.Join(write(file), file.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func sparse(t *testing.T, data *datasets.Dataset) (*datasets.Dataset, string) {
	path := asFile(t, "points.libsvm", func(f *os.File) error { return data.WriteLIBSVM(f) })
	s, err := datasets.LoadLIBSVMSparse(path, data.D())
	if err != nil {
		t.Fatal(err)
	}
	return s, path
}

// The certificate of a machine is that of the library, also from other blocks.
func TestCertifyIsTheLibrarys(t *testing.T) {
	noisy := datasets.Moons(700, 0.35, 5)
	thin, _ := sparse(t, noisy)
	twice := noisy.Select(append(seq(700), seq(300)...)) // points that occur twice
	for name, c := range map[string]svmnb.Classifier{
		"plain":    svmnb.Classify(noisy).Kernel(kernels.RBF(1)).C(3),
		"early":    svmnb.Classify(noisy).Kernel(kernels.RBF(1)).C(3).SMO().MaxIterations(100),
		"weights":  svmnb.Classify(noisy).Kernel(kernels.RBF(1)).ClassWeight("-1", 3).Balanced(),
		"linear":   svmnb.Classify(noisy).Kernel(kernels.Linear()).SMO(),
		"sparse":   svmnb.Classify(thin).Kernel(kernels.RBF(2)),
		"repeated": svmnb.Classify(twice).Kernel(kernels.RBF(1)),
	} {
		t.Run(name, func(t *testing.T) {
			fit, err := c.Fit(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			data := c.Data()
			for _, blocks := range []int{1, 5} {
				got, err := Runner{}.Certify(t.Context(), Memory(data, blocks), c, fit.Model())
				if err != nil {
					t.Fatal(err)
				}
				near(t, "the dual", got.Dual, fit.Certificate.Dual, 1e-9)
				// The library takes the best bias of all, and this certificate the best of some.
				if got.Gap < fit.Certificate.Gap-1e-9*(1+got.Primal) {
					t.Errorf("the gap %v is smaller than the smallest, %v", got.Gap, fit.Certificate.Gap)
				}
				near(t, "the primal", got.Primal, fit.Certificate.Primal, 1e-4)
				if got.N != data.N() || got.Blocks != blocks || got.Vectors != fit.Model().SupportVectors() {
					t.Errorf("the certificate is of %d points in %d blocks and %d vectors", got.N, got.Blocks, got.Vectors)
				}
			}
		})
	}
}

func seq(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// A machine that was learnt from blocks reaches the optimum of all points, as its certificate and
// the plain fit say.
func TestTrain(t *testing.T) {
	noisy := datasets.Moons(1500, 0.3, 6)
	thin, _ := sparse(t, noisy)
	order := seq(noisy.N())
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(noisy.Y[a], noisy.Y[b]) })
	sorted := noisy.Select(order)
	for name, c := range map[string]struct {
		l      selection.Learner
		data   *datasets.Dataset
		blocks int
	}{
		"classes": {l: svmnb.Classify(noisy).Kernel(kernels.RBF(1)).C(5), data: noisy, blocks: 7},
		"weights": {l: svmnb.Classify(noisy).Kernel(kernels.RBF(1)).Balanced().ClassWeight("+1", 0.25), data: noisy, blocks: 3},
		"sparse":  {l: svmnb.Classify(thin).Kernel(kernels.RBF(1)), data: thin, blocks: 5},
		"linear":  {l: svmnb.Classify(noisy).Kernel(kernels.Linear()), data: noisy, blocks: 4},
		"sorted":  {l: svmnb.Classify(sorted).Kernel(kernels.RBF(1)), data: sorted, blocks: 6},
		"one":     {l: svmnb.Classify(noisy).Kernel(kernels.RBF(1)), data: noisy, blocks: 1},
		"targets": {l: svmnb.Regress(datasets.Sinc(800, 0.2, 3)).Kernel(kernels.RBF(1)).C(2).Epsilon(0.2), data: datasets.Sinc(800, 0.2, 3), blocks: 5},
	} {
		t.Run(name, func(t *testing.T) {
			const tol = 1e-4
			fit, err := Runner{}.Train(t.Context(), Memory(c.data, c.blocks), c.l, tol)
			if err != nil {
				t.Fatal(err)
			}
			if !fit.Reached || !(fit.RelGap <= tol) || fit.RelGap < 0 {
				t.Errorf("the certificate is %v after %d rounds", fit.Certificate, len(fit.Rounds))
			}
			for k := 1; k < len(fit.Rounds); k++ {
				if fit.Rounds[k].Dual < fit.Rounds[k-1].Dual-1e-6*(1+math.Abs(fit.Rounds[k-1].Dual)) {
					t.Errorf("round %d decreases the dual from %v to %v", k, fit.Rounds[k-1].Dual, fit.Rounds[k].Dual)
				}
			}
			var primal, dual float64
			switch l := c.l.(type) {
			case svmnb.Classifier:
				plain, err := l.Tol(1e-6).Fit(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				primal, dual = plain.Certificate.Primal, plain.Certificate.Dual
				want, err := plain.Predict(c.data.Select(seq(50)))
				if err != nil {
					t.Fatal(err)
				}
				got, err := fit.Model().Predict(c.data.Select(seq(50)))
				if err != nil {
					t.Fatal(err)
				}
				different := 0
				for i := range got {
					if got[i] != want[i] {
						different++
					}
				}
				if different > 1 {
					t.Errorf("%d of 50 predictions differ", different)
				}
			case svmnb.Regressor:
				plain, err := l.Tol(1e-6).Fit(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				primal, dual = plain.Certificate.Primal, plain.Certificate.Dual
			}
			if slack := 1e-6 * (1 + primal); fit.Dual > primal+slack || fit.Primal < dual-slack {
				t.Errorf("the bounds %v … %v do not hold the optimum, %v … %v", fit.Dual, fit.Primal, dual, primal)
			}
			// The same to the bit from worker processes and from other blocks at a time.
			again, err := Runner{Tries: 5}.Train(t.Context(), Memory(c.data, c.blocks), c.l, tol)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(again.Rounds, fit.Rounds) {
				t.Errorf("a second run has the rounds %v, want %v", again.Rounds, fit.Rounds)
			}
		})
	}
}

// Worker processes read files in blocks, and have the same bits.
func TestTrainFromFiles(t *testing.T) {
	noisy := datasets.Moons(900, 0.3, 7)
	c := svmnb.Classify(noisy).Kernel(kernels.RBF(1)).C(5)
	table := asFile(t, "points.csv", func(f *os.File) error { return noisy.WriteCSV(f) })
	_, points := sparse(t, noisy)
	var first *Fit
	for _, src := range []Files{
		{Paths: []string{table}, Bytes: 9000},
		{Paths: []string{points}, Format: LIBSVM, Dims: 2, Bytes: 9000},
		{Paths: []string{points}, Format: SparseLIBSVM, Dims: 2, Bytes: 9000},
	} {
		var fits []*Fit
		for _, r := range []Runner{{}, {Processes: 2}} {
			fit, err := r.Train(t.Context(), src, c, 1e-3)
			if err != nil {
				t.Fatal(err)
			}
			fits = append(fits, fit)
			if !fit.Reached || fit.N != noisy.N() || fit.Blocks < 3 {
				t.Errorf("%v: %v", src, fit.Certificate)
			}
		}
		if !reflect.DeepEqual(fits[0].Rounds, fits[1].Rounds) || !reflect.DeepEqual(fits[0].v, fits[1].v) {
			t.Errorf("%v: worker processes have other bits", src)
		}
		if first == nil {
			first = fits[0]
		}
		near(t, "the primal value", fits[0].Primal, first.Primal, 2e-3)
	}
}

// Mistakes are found before anything starts, and named.
func TestTrainRefuses(t *testing.T) {
	noisy := datasets.Moons(60, 0.3, 7)
	c := svmnb.Classify(noisy).Kernel(kernels.RBF(1))
	for name, one := range map[string]struct {
		src  Source
		l    selection.Learner
		tol  float64
		want string
	}{
		"tolerance":    {Memory(noisy, 2), c, 0, "must be in (0, 1)"},
		"no source":    {nil, c, 1e-3, "the source is nil"},
		"blocks":       {Memory(noisy, 100), c, 1e-3, "100 blocks of 60 points"},
		"no kernel":    {Memory(noisy, 2), svmnb.Classify(noisy), 1e-3, "the kernel is not set"},
		"2-norm":       {Memory(noisy, 2), c.TwoNorm(), 1e-3, "1-norm"},
		"bias":         {Memory(noisy, 2), c.FixedBias(0), 1e-3, "leave FixedBias"},
		"no learner":   {Memory(noisy, 2), nil, 1e-3, "the description is nil"},
		"C":            {Memory(noisy, 2), c.C(-1), 1e-3, "C is -1"},
		"weight":       {Memory(noisy, 2), c.ClassWeight("moon", 2), 1e-3, `no class "moon"`},
		"three":        {Memory(datasets.Iris(), 2), svmnb.Classify(datasets.Iris()).Kernel(kernels.RBF(1)), 1e-3, "two classes are needed"},
		"several":      {Memory(datasets.Iris(), 2), svmnb.Classify(datasets.Iris()).Kernel(kernels.RBF(1)).OneVsOne(), 1e-3, "cannot be learnt from blocks"},
		"no file":      {Files{Paths: []string{"no/such"}}, c, 1e-3, "no/such"},
		"no dims":      {Files{Paths: []string{"x"}, Format: LIBSVM}, c, 1e-3, "Dims"},
		"loss":         {Memory(noisy, 2), svmnb.Regress(noisy).Kernel(kernels.RBF(1)).Ridge(1), 1e-3, "linear loss"},
		"real targets": {Memory(datasets.Sinc(50, 0.1, 1), 2), c, 1e-3, "two classes are needed"},
	} {
		_, err := Runner{}.Train(t.Context(), one.src, one.l, one.tol)
		if err == nil || !strings.Contains(err.Error(), one.want) {
			t.Errorf("%s: the error is %v, want one with %q", name, err, one.want)
		}
	}
	fit, err := c.Fit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (Runner{}).Certify(t.Context(), Memory(datasets.Moons(60, 0.3, 8), 2), c, fit.Model()); err == nil || !strings.Contains(err.Error(), "no point of the data") {
		t.Errorf("a certificate for other data: %v", err)
	}
	if _, err := (Runner{}).Certify(t.Context(), Memory(noisy, 2), c.C(0.1), fit.Model()); err == nil || !strings.Contains(err.Error(), "above its cost") {
		t.Errorf("a certificate for another C: %v", err)
	}
}

// Lines are divided between blocks without loss, whatever the sizes.
func TestFilesProperty(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 200).Draw(t, "n")
		header := rapid.Bool().Draw(t, "header")
		end := rapid.Bool().Draw(t, "end")
		var text strings.Builder
		if header {
			text.WriteString("first,second,target\n")
		}
		want := make([]float64, n)
		for i := range want {
			want[i] = float64(rapid.IntRange(-1_000_000, 1_000_000).Draw(t, "v"))
			text.WriteString(strings.Repeat(" ", rapid.IntRange(0, 30).Draw(t, "pad")) + ftoa(want[i]) + ",1," + ftoa(float64(i)))
			if i < n-1 || end {
				text.WriteString("\n")
			}
		}
		path := filepath.Join(dir, "points.csv")
		if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		f := Files{Paths: []string{path, path}, Bytes: int64(rapid.IntRange(1024, 3000).Draw(t, "bytes"))}
		blocks, err := f.Blocks(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		var got []float64
		for i := range blocks {
			d, err := f.Block(context.Background(), i)
			if err != nil {
				t.Fatal(err)
			}
			for k := range d.N() {
				got = append(got, d.X[k][0])
			}
		}
		if !reflect.DeepEqual(got, append(want, want...)) {
			t.Fatalf("the blocks have %v, want %v twice", got, want)
		}
	})
}
