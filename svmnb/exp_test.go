package svmnb_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
)

func TestExp(t *testing.T) {
	ratios := map[string][]float64{}
	for trial := range 60 {
		rng := rand.New(rand.NewPCG(uint64(trial), 78))
		data := datasets.Moons(60+rng.IntN(120), 0.1+0.3*rng.Float64(), uint64(trial))
		k := kernels.RBF(math.Pow(10, 2*rng.Float64()-1))
		base := svmnb.Classify(data).Kernel(k).C(math.Pow(10, 3*rng.Float64()-1))
		truth, err := base.Tol(1e-9).Fit(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		opt := truth.Certificate.Dual
		for _, how := range []svmnb.Approximation{svmnb.Nystroem{Landmarks: 10}, svmnb.Nystroem{Landmarks: 20}, svmnb.Nystroem{Landmarks: 20, By: svmnb.KMeans}, svmnb.Nystroem{Landmarks: 20, By: svmnb.Leverage}, svmnb.Nystroem{Landmarks: 20, By: svmnb.Greedy}, svmnb.Nystroem{Landmarks: 40, By: svmnb.Greedy}, svmnb.RandomFeatures{Features: 100}, svmnb.Subsample{Points: 30}, svmnb.Parts{Number: 3}} {
			fit, err := base.Approximate(how).Fit(t.Context())
			if err != nil {
				t.Fatalf("%v: %v", how, err)
			}
			b, err := fit.Bound(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			v, err := fit.Certify(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if b.Dual > opt*(1+1e-9) || v.Dual > opt*(1+1e-9) || v.Primal < opt*(1-1e-9) || b.Dual > v.Dual*(1+1e-6) {
				t.Errorf("%v: bound %v, verdict %v, %v, optimum %v", how, b.Dual, v.Dual, v.Primal, opt)
			}
			if v.Primal > opt*(1+1e-2) && !math.IsInf(v.Primal,1) {
			ratios[how.String()] = append(ratios[how.String()], v.Gap()/(v.Primal-opt))
			}
		}
	}
	for k, r := range ratios {
		fmt.Printf("%-60s n %d", k, len(r))
		for _, q := range []float64{0.1, 0.5, 0.9, 1} {
			fmt.Printf(" %.3g", quantile(r, q))
		}
		fmt.Println()
	}
	_ = time.Now
}

func quantile(v []float64, q float64) float64 {
	s := append([]float64(nil), v...)
	for i := range s {
		for j := i + 1; j < len(s); j++ {
			if s[j] < s[i] {
				s[i], s[j] = s[j], s[i]
			}
		}
	}
	return s[int(q*float64(len(s)-1))]
}
