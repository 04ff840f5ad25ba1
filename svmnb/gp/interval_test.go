package gp

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/solvers/linear"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
)

// everyKernel has each kernel that is positive semidefinite, for points of two features that are not
// negative.
func everyKernel(length float64) []kernels.Kernel {
	x := [][]float64{{0, 1}, {2, 0.5}, {1, 1}}
	return []kernels.Kernel{
		kernels.SquaredExponential(length), kernels.RBF(length), kernels.RBFSigma(length), kernels.RBFLength(length), kernels.ARD(length, 1),
		kernels.Matern32(length), kernels.Matern52(length), kernels.ARDMatern32(1, length), kernels.ARDMatern52(length, 1), kernels.Matern(0.8, length),
		kernels.Exponential(length), kernels.Laplacian(length), kernels.RationalQuadratic(length, 1), kernels.GammaExponential(length, 1.3),
		kernels.Periodic(length, 1), kernels.Compact(length), kernels.White(), kernels.Constant(length), kernels.Linear(), kernels.Polynomial(3, 0.3, 1),
		kernels.ChiSquared(), kernels.ExpChiSquared(length), kernels.Intersection(),
		kernels.Sum(kernels.RBF(length), kernels.Linear()), kernels.Product(kernels.RBF(length), kernels.Matern32(1)), kernels.Scale(3, kernels.RBF(length)),
		kernels.Fixed(kernels.RBF(length)), kernels.Named("trend", kernels.RBF(length)), kernels.Normalised(kernels.Polynomial(2, 1, length)),
		kernels.Columns(kernels.RBF(length), 1), kernels.Mapped(kernels.Matern52(length), []float64{1, 0.5}), kernels.Rotated(kernels.ARD(length, 1), 0.5),
		kernels.Centred(kernels.RBF(length), x),
	}
}

// TestEveryKernel: no kernel that can be read from a text is missing.
func TestEveryKernel(t *testing.T) {
	other := map[string]string{
		"Sigmoid": "is no kernel", "Distance": "is no kernel", "Precomputed": "has a matrix", "Spectrum": "is of strings", "GapWeighted": "is of strings", "WithDerivatives": "has other points",
	}
	for _, k := range everyKernel(1) {
		name, _, _ := strings.Cut(k.String(), "(")
		other[name] = "is there"
	}
	files, err := filepath.Glob("../../kernels/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`register\("(\w+)"`).FindAllSubmatch(text, -1) {
			if other[string(m[1])] == "" {
				t.Errorf("there is no %s", m[1])
			}
		}
	}
}

// TestEvidenceWithin: the interval contains Cholesky's evidence on 1,000 random problems, of every
// kernel, by every method and however early a run stops.
func TestEvidenceWithin(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	count := 1000
	if testing.Short() {
		count = 100
	}
	narrow := 0
	for problem := range count {
		n, d := 2+rng.IntN(60), 2
		var x [][]float64
		var y []float64
		for range n {
			p := make([]float64, d)
			for j := range p {
				p[j] = math.Abs(2 * rng.NormFloat64())
			}
			x, y = append(x, p), append(y, math.Sin(2*p[0])+rng.NormFloat64())
		}
		length, noise := math.Exp(2*rng.NormFloat64()), math.Exp(2*rng.NormFloat64()-3)
		every := everyKernel(length)
		k := every[problem%len(every)]
		k = kernels.ScaleKernel{C: math.Exp(rng.NormFloat64()), K: k}
		p := Regress(datasets.New(x, y)).Kernel(k).NoiseVariance(noise)
		largest := 0.0
		for _, p := range x {
			largest = max(largest, k.Eval(p, p))
		}
		want := certain(testkit.FitOf(t, p).LogMarginalLikelihood(ctx)).Value
		for _, p := range []Process{p, p.CG(), p.Using(linear.CG{Rank: 3}).MaxIterations(2), p.CG().MaxIterations(1 + rng.IntN(5))} {
			e, err := testkit.FitOf(t, p).EvidenceWithin(ctx, 1+rng.IntN(n))
			if err != nil {
				t.Fatal(err)
			}
			// Cholesky's own rounding, which grows with the condition of A.
			slack := (1e-12 + 0x1p-52*largest/noise) * (1 + math.Abs(want))
			if !(e.Lower <= want+slack && want-slack <= e.Upper) {
				t.Fatalf("problem %d, %v: from %.17g to %.17g, Cholesky says %.17g, slack %v", problem, p, e.Lower, e.Upper, want, slack)
			}
			if e.Upper-e.Lower < 1 {
				narrow++
			}
		}
	}
	if narrow < count/2 {
		t.Errorf("only %d of %d intervals are narrower than 1", narrow, 4*count)
	}
}

func TestEvidenceWithinMotorcycle(t *testing.T) {
	fit := testkit.FitOf(t, motorcycle().CG())
	e, err := fit.EvidenceWithin(ctx, 20)
	if err != nil {
		t.Fatal(err)
	}
	if !(e.Lower <= -621.36540875 && -621.36540875 <= e.Upper) || e.Upper-e.Lower > 2 {
		t.Errorf("%v", e)
	}
	testkit.Near(t, "lower end", e.Lower, -(e.FitUpper+e.LogDetUpper+133*math.Log(2*math.Pi))/2, 1e-9)
	few, err := fit.EvidenceWithin(ctx, 10)
	if err != nil {
		t.Fatal(err)
	}
	if few.Upper-few.Lower <= e.Upper-e.Lower || few.Halving <= 10 || few.Halving > 40 || !strings.Contains(few.String(), "would halve") {
		t.Errorf("%v", few)
	}
	half, err := fit.EvidenceWithin(ctx, few.Halving)
	if err != nil {
		t.Fatal(err)
	}
	if w := (half.LogDetUpper - half.LogDetLower) / (few.LogDetUpper - few.LogDetLower); w > 0.7 {
		t.Errorf("%d points leave %g of the distance", few.Halving, w)
	}
}

func TestEvidenceWithinRefuses(t *testing.T) {
	var argument *arguments.Error
	var problem *solvers.ProblemError
	for name, c := range map[string]struct {
		p    Process
		rank int
		as   any
	}{
		"linear mean": {motorcycle().LinearMean(), 3, &argument},
		"no noise":    {Regress(datasets.New([][]float64{{1}, {2}}, []float64{1, 2})).Kernel(kernels.RBF(1)).NoiseVariance(0), 1, &argument},
		"rank":        {motorcycle(), 0, &problem},
	} {
		if _, err := testkit.FitOf(t, c.p).EvidenceWithin(ctx, c.rank); !errors.As(err, c.as) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ended, cancel := context.WithCancelCause(context.Background())
	why := errors.New("enough")
	cancel(why)
	if _, err := testkit.FitOf(t, motorcycle()).EvidenceWithin(ended, 3); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
	var none *Fit
	if _, err := none.EvidenceWithin(ctx, 3); err == nil {
		t.Error("a fit that is nil")
	}
}
