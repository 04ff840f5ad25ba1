package gp

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/solvers/linear"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
)

// TestEvidenceWithin: the interval contains Cholesky's evidence on 1,000 random problems, by
// every method and however early a run stops.
func TestEvidenceWithin(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	count := 1000
	if testing.Short() {
		count = 100
	}
	narrow := 0
	for problem := range count {
		n, d := 2+rng.IntN(60), 1+rng.IntN(3)
		var x [][]float64
		var y []float64
		for range n {
			p := make([]float64, d)
			for j := range p {
				p[j] = rng.NormFloat64()
			}
			x, y = append(x, p), append(y, math.Sin(2*p[0])+rng.NormFloat64())
		}
		length, noise := math.Exp(2*rng.NormFloat64()), math.Exp(2*rng.NormFloat64()-3)
		k := []kernels.Kernel{kernels.SquaredExponential(length), kernels.Matern32(length), kernels.Exponential(length), kernels.RationalQuadratic(length, 1)}[rng.IntN(4)]
		p := Regress(datasets.New(x, y)).Kernel(kernels.ScaleKernel{C: math.Exp(rng.NormFloat64()), K: k}).NoiseVariance(noise)
		want := certain(testkit.FitOf(t, p).LogMarginalLikelihood(ctx)).Value
		for _, p := range []Process{p, p.CG(), p.Using(linear.CG{Rank: 3}).MaxIterations(2), p.CG().MaxIterations(1 + rng.IntN(5))} {
			e, err := testkit.FitOf(t, p).EvidenceWithin(ctx, 1+rng.IntN(n))
			if err != nil {
				t.Fatal(err)
			}
			slack := 1e-12 * (1 + math.Abs(want)) // Cholesky's own rounding
			if !(e.Lower <= want+slack && want-slack <= e.Upper) {
				t.Fatalf("problem %d, %v: %v, Cholesky says %.17g", problem, p, e, want)
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
