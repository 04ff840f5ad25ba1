package solvers

import (
	"context"
	"fmt"
	"math"
	"testing"
)

// TestSandwich: at every iteration of 100 random systems, with and without
// preconditioner, every bound holds, the lower one does not fall, and at the end
// all agree.
func TestSandwich(t *testing.T) {
	for seed := range uint64(100) {
		n := 5 + int(seed*7%120)
		s, b := randomSystem(seed, n, 1)
		f, err := Cholesky{}.Factor(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		h := f.HalfSolve(nil, b[0])
		truth := inner(h, h)
		for _, rank := range []int{0, 5, 20} {
			sol := mustSolve(t, s, b, CG{Rank: rank, GibbsMacKay: true}, SystemSettings{Every: 1, Stop: Bounds{Rel: 1e-9}})
			name := fmt.Sprintf("seed %d, n = %d, rank %d", seed, n, rank)
			if sol.Status != Converged {
				t.Errorf("%s: %v after %d iterations", name, sol.Status, sol.Iterations)
			}
			slack, lower := 1e-10*truth, 0.0
			for k, pt := range sol.Trace {
				if k == 0 {
					continue // the second run is still to be opened
				}
				if pt.Lower > truth+slack || pt.Lower < lower-slack {
					t.Fatalf("%s: iteration %d: lower bound %.15g after %.15g, truth %.15g", name, k, pt.Lower, lower, truth)
				}
				for which, upper := range map[string]float64{"Skilling": pt.Skilling, "Radau": pt.Radau} {
					if !(upper >= truth-slack) {
						t.Fatalf("%s: iteration %d: %s %.15g, truth %.15g", name, k, which, upper, truth)
					}
				}
				if !(pt.GibbsMacKay >= truth-slack) {
					t.Fatalf("%s: iteration %d: Gibbs–MacKay %.15g, truth %.15g", name, k, pt.GibbsMacKay, truth)
				}
				if pt.Radau > pt.Skilling*(1+1e-12) && s.Noise[0] == s.Noise[n-1] {
					t.Errorf("%s: iteration %d: Radau %.15g above Skilling %.15g", name, k, pt.Radau, pt.Skilling)
				}
				lower = pt.Lower
			}
			c := sol.Certificates[0]
			if !(c.Lower <= truth+slack && truth <= c.Upper+slack && c.Upper-c.Lower <= 1e-8*truth) {
				t.Errorf("%s: certificate [%.15g, %.15g], truth %.15g", name, c.Lower, c.Upper, truth)
			}
		}
	}
}

// TestRadauIsSharp: from the sixth iteration until the error is rounding, here a
// 10⁻⁹ of the value, nearly always within three times of the true error and always
// within six, where ‖r‖²/θ is hundreds of times of it.
func TestRadauIsSharp(t *testing.T) {
	worst, skilling, all, within := 0.0, 0.0, 0, 0
	for seed := range uint64(10) {
		for _, rank := range []int{0, 5, 20} {
			rng := newRand(seed)
			x, _ := points(rng, 150, 2, 0)
			b := make([]float64, 150)
			for i := range b {
				b[i] = math.Sin(2*x[i][0]) + 0.1*rng.NormFloat64()
			}
			s := &System{newGram(x, rbf(0.5)), fill(150, 0.01)}
			f, err := Cholesky{}.Factor(context.Background(), s)
			if err != nil {
				t.Fatal(err)
			}
			h := f.HalfSolve(nil, b)
			truth := inner(h, h)
			sol := mustSolve(t, s, [][]float64{b}, CG{Rank: rank}, SystemSettings{Every: 1, Stop: Bounds{Rel: 1e-11}})
			for _, pt := range sol.Trace[6:] {
				if e := truth - pt.Lower; e > 1e-9*truth {
					ratio := (pt.Radau - pt.Lower) / e
					if all++; ratio <= 3 {
						within++
					}
					worst = max(worst, ratio)
					skilling = max(skilling, (pt.Skilling-pt.Lower)/e)
				}
			}
		}
	}
	if all < 500 || within < all*95/100 || !(worst >= 1 && worst <= 6) || skilling < 100 {
		t.Errorf("%d of %d within 3 times the error, Radau at most %.3g times, Skilling %.3g", within, all, worst, skilling)
	}
}
