package linear

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/svmnb/svmnb/internal/toy"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"pgregory.net/rapid"
)

// drawSystem draws a system of a kernel matrix, of any scale, with one noise or several.
func drawSystem(t *rapid.T) *System {
	n := rapid.IntRange(1, 60).Draw(t, "n")
	x, _ := toy.Points(toy.Rand(rapid.Uint64().Draw(t, "seed")), n, rapid.IntRange(1, 3).Draw(t, "d"), 1)
	length := math.Exp(rapid.Float64Range(-3, 3).Draw(t, "ln length"))
	k := kernels.Kernel(kernels.SquaredExponential(length))
	switch rapid.IntRange(0, 2).Draw(t, "kernel") {
	case 1:
		k = kernels.Matern32(length)
	case 2:
		k = kernels.Exponential(length)
	}
	scale := math.Exp(rapid.Float64Range(-20, 20).Draw(t, "ln scale"))
	g, err := kernels.NewGram(kernels.ScaleKernel{C: scale, K: k}, x, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := &System{g, make([]float64, n)}
	spread := rapid.Float64Range(0, 3).Draw(t, "spread")
	least := math.Exp(rapid.Float64Range(-16, 5).Draw(t, "ln noise"))
	for i := range s.Noise {
		s.Noise[i] = scale * least * math.Exp(spread*math.Abs(math.Sin(float64(i))))
	}
	return s
}

// TestLogDetWithin: the interval contains ln|A| of the 320-bit factor, always, and more columns
// make it no wider but for rounding. All columns leave rounding alone.
func TestLogDetWithin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSystem(t)
		n := s.K.Dim()
		truth, ok := newTruth(s)
		if !ok {
			t.Fatal("not positive definite")
		}
		exact := 0.0
		for _, d := range truth.d {
			exact += math.Log(float(d))
		}
		before := math.Inf(1)
		for _, rank := range []int{1, 5, 20, n} {
			b, err := s.LogDetWithin(context.Background(), min(rank, n))
			if err != nil {
				t.Fatal(err)
			}
			if !(b.Lower <= exact && exact <= b.Upper) {
				t.Fatalf("rank %d: ln|A| = %.17g is not between %.17g and %.17g", rank, exact, b.Lower, b.Upper)
			}
			// Rounding may move each end by a few ρ for each of the n logarithms.
			if w := b.Upper - b.Lower; w > before+10*float64(n)*logDetRounding(s, rank)+1e-12*math.Abs(exact) {
				t.Fatalf("rank %d: width %g after %g", rank, w, before)
			} else {
				before = w
			}
			if b.Rank > rank || len(b.Traces) != b.Rank+1 {
				t.Fatalf("%d columns, %d traces", b.Rank, len(b.Traces))
			}
		}
	})
}

// logDetRounding returns the ρ of LogDetWithin with r columns: rounding may make K − LL' smaller,
// but by no more than ρ diag(noise).
func logDetRounding(s *System, r int) float64 {
	n, most := s.K.Dim(), 0.0
	for i, k := range s.K.Diag() {
		most = max(most, k/s.Noise[i])
	}
	return float64(n*(min(r, n)+10)) * 0x1p-53 * most
}

// TestLogDetOfLittleNoise: with as many columns as points, only rounding widens the interval. It
// stays narrow even if the noise is only 1e-7 of K.
func TestLogDetOfLittleNoise(t *testing.T) {
	s, _ := smooth(t, 26, 1e-7)
	b, err := s.LogDetWithin(context.Background(), 26)
	if err != nil {
		t.Fatal(err)
	}
	if w := b.Upper - b.Lower; w > 10*26*logDetRounding(s, 26) {
		t.Errorf("width %g of [%g, %g]", w, b.Lower, b.Upper)
	}
}

// TestLogDetNarrow: of a smooth kernel a few columns suffice.
func TestLogDetNarrow(t *testing.T) {
	s, _ := smooth(t, 600, 0.1)
	f, err := Cholesky{}.Factor(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	for rank, width := range map[int]float64{AutoRank: 20, 48: 20, 150: 1} {
		b, err := s.LogDetWithin(context.Background(), rank)
		if err != nil {
			t.Fatal(err)
		}
		if exact := f.LogDet(); !(b.Lower <= exact && exact <= b.Upper) || b.Upper-b.Lower > width {
			t.Errorf("rank %d: %g is not between %g and %g", rank, exact, b.Lower, b.Upper)
		}
	}
}

func TestLogDetWithinRefuses(t *testing.T) {
	s, _ := smooth(t, 30, 0.1)
	var bad *solvers.ProblemError
	for _, rank := range []int{0, -2} {
		if _, err := s.LogDetWithin(context.Background(), rank); !errors.As(err, &bad) || bad.Field != "rank" {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	if _, err := (&System{K: s.K}).LogDetWithin(context.Background(), 3); !errors.As(err, &bad) || bad.Field != "Noise" {
		t.Errorf("no noise: %v", err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("enough")
	cancel(why)
	if _, err := s.LogDetWithin(ctx, 3); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
}
