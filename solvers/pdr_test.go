package solvers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
)

func TestPDRandom(t *testing.T) {
	its := [4]int{}
	for seed := range uint64(400) {
		if false && seed != 13 && seed != 260 {
			continue
		}
		var p *Problem
		var name string
		if seed < 300 {
			p, name = randomProblem(newRand(seed))
		} else {
			rng := newRand(seed)
			p = generalProblem(rng, 2+rng.IntN(39))
			name = "general"
		}
		sep := true
		if p.isHard() {
			d2, dia := hullDistance2(t, p.K, p.S)
			if d2 <= 1e-8*dia {
				sep = false
			}
			if !sep && d2 > 1e-13*dia {
				continue
			}
			if !sep {
				fmt.Println(seed, d2/dia)
			}
		}
		want := 0.0
		if sep {
			want, _ = p.optimum(t)
		}
		for k, m := range []Method{PrimalDual{}, PrimalDual{Corrector: true}, Barrier{}, Barrier{PhaseI: true}} {
			r, err := Solve(context.Background(), p, m, Settings{Stop: tight{5e-9}, MaxIterations: 600})
			if !sep {
				if !errors.Is(err, ErrUnbounded) {
					fmt.Println(seed, name, k, "not unbounded", err, r.Status, r.Iterations)
				}
				continue
			}
			if err != nil {
				fmt.Println(seed, name, k, err)
				continue
			}
			its[k] += r.Iterations
			if r.Status != Converged || math.Abs(r.Certificate.Dual/want-1) > 1e-8 || r.Iterations > 250 {
				fmt.Printf("%d %s %d %v its %d off %.2g gap %.2g kkt %.2g\n", seed, name, k, r.Status, r.Iterations, r.Certificate.Dual/want-1, r.Certificate.Gap/want, r.Certificate.MaxKKT)
			}
		}
	}
	fmt.Println(its)
}
