package linear

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/svmnb/svmnb/internal/toy"
	"github.com/svmnb/svmnb/kernels"
)

// smooth is a system whose eigenvalues fall quickly.
func smooth(t *testing.T, n int, noise float64) (*System, [][]float64) {
	t.Helper()
	x, y := toy.Points(toy.Rand(7), n, 2, 1)
	g, err := kernels.NewGram(kernels.RBF(0.4), x, kernels.NoCache)
	if err != nil {
		t.Fatal(err)
	}
	return &System{g, fill(n, noise)}, [][]float64{y}
}

// TestAutoRank: the rule makes a preconditioner that saves most iterations, and none where the
// noise is 0.
func TestAutoRank(t *testing.T) {
	s, b := smooth(t, 900, 0.01)
	set := Settings{Stop: Residual{Rel: 1e-8}, MaxIterations: 5000}
	plain := mustSolve(t, s, b, CG{}, set)
	auto := mustSolve(t, s, b, CG{Rank: AutoRank}, set)
	if same := mustSolve(t, s, b, CG{Rank: 60}, set); !slices.Equal(same.X[0], auto.X[0]) {
		t.Error("the rule does not take 2√n columns")
	}
	if 4*auto.Iterations > plain.Iterations {
		t.Errorf("%d iterations by the rule, %d without preconditioner", auto.Iterations, plain.Iterations)
	}
	for i, v := range auto.X[0] {
		if !(math.Abs(v-plain.X[0][i]) <= 1e-5*norm(plain.X[0])) {
			t.Fatalf("x_%d = %v, %v without preconditioner", i, v, plain.X[0][i])
		}
	}
	if need, less := (CG{Rank: AutoRank}).Memory(900, 1), (CG{Rank: 60}).Memory(900, 1); need != less {
		t.Errorf("memory %v, not %v", need, less)
	}
	few := &System{toy.MatrixOf([][]float64{{2, 1}, {1, 2}}), nil}
	if sol := mustSolve(t, few, [][]float64{{3, 3}}, CG{Rank: AutoRank}, Settings{}); !(math.Abs(sol.X[0][0]-1) < 1e-12) {
		t.Errorf("%v", sol.X[0])
	}
}

// TestRankSuffices: columns that would save no iteration are left out.
func TestRankSuffices(t *testing.T) {
	s, b := smooth(t, 600, 0.1)
	k := &counted{Matrix: s.K}
	p, err := (&System{k, s.Noise}).precondition(context.Background(), 500, func(string, float64) {})
	if err != nil {
		t.Fatal(err)
	}
	if p.Rank() > 200 || k.rows != p.Rank() {
		t.Errorf("%d columns from %d rows", p.Rank(), k.rows)
	}
	if sol := mustSolve(t, s, b, CG{Rank: 500}, Settings{Stop: Residual{Rel: 1e-6}}); sol.Iterations > 25 {
		t.Errorf("%d iterations", sol.Iterations)
	}
}

// TestTimesOfSystem: a matrix that is multiplied in blocks gives the solution of one that is
// read by rows, and a bad value in it is found.
func TestTimesOfSystem(t *testing.T) {
	s, b := smooth(t, 700, 0.05)
	b = append(b, fill(700, 1))
	set := Settings{Stop: Residual{Rel: 1e-9}}
	blocks := mustSolve(t, s, b, CG{Rank: 10}, set)
	rows := mustSolve(t, &System{&counted{Matrix: s.K}, s.Noise}, b, CG{Rank: 10}, set)
	for j := range b {
		for i, v := range rows.X[j] {
			if !(math.Abs(v-blocks.X[j][i]) <= 1e-6*norm(rows.X[j])) {
				t.Fatalf("x_%d,%d = %v in blocks, %v by rows", j, i, blocks.X[j][i], v)
			}
		}
	}
}

// TestManySides: K is held for few right-hand sides, and computed anew in blocks for many.
func TestManySides(t *testing.T) {
	n := singlePoints
	x, _ := toy.Points(toy.Rand(1), n, 1, 1)
	g, err := kernels.NewGram(kernels.RBF(1), x, kernels.NoCache)
	if err != nil {
		t.Fatal(err)
	}
	for q, held := range map[int]bool{1: true, manySides - 1: true, manySides: false} {
		var b [][]float64
		for j := range q {
			b = append(b, fill(n, float64(j+1)))
		}
		stages := map[string]bool{}
		mustSolve(t, &System{g, fill(n, 0.1)}, b, CG{}, Settings{MaxIterations: 1, Preparing: func(stage string, _ float64) { stages[stage] = true }})
		if stages["kernel matrix"] != held {
			t.Errorf("%d right-hand sides: %v", q, stages)
		}
	}
}

// TestPreparing: stages come in their order, and shares grow up to 1.
func TestPreparing(t *testing.T) {
	n := singlePoints
	x, y := toy.Points(toy.Rand(1), n, 1, 1)
	g, err := kernels.NewGram(kernels.RBF(1), x, kernels.NoCache)
	if err != nil {
		t.Fatal(err)
	}
	var stages []string
	last := 0.0
	set := Settings{MaxIterations: 1, Preparing: func(stage string, share float64) {
		if len(stages) == 0 || stages[len(stages)-1] != stage {
			stages, last = append(stages, stage), 0
		}
		if !(share >= last-0.01 && share <= 1) { // goroutines may report their shares in another order
			t.Errorf("%s: %v after %v", stage, share, last)
		}
		last = share
	}}
	mustSolve(t, &System{g, fill(n, 0.1)}, [][]float64{y}, CG{Rank: 8}, set)
	if !slices.Equal(stages, []string{"preconditioner", "kernel matrix"}) || last < 0.5 {
		t.Errorf("%v up to %v", stages, last)
	}
}
