package linear

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/svmnb/svmnb/internal/toy"
	"github.com/svmnb/svmnb/solvers"
)

// held is CG that holds K in single precision whatever n.
type held struct{ CG }

func (m held) Start(s *System, b, x [][]float64) (Stepper, error) {
	st, err := m.CG.Start(s, b, x)
	if err != nil {
		return nil, err
	}
	return singly{st.(*cg)}, nil
}

type singly struct{ *cg }

func (h singly) Allow(float64) { h.hold, h.opened = true, false }

// TestSingle: the solution of Cholesky from passes in single precision, whatever the
// scale, the noise and the preconditioner, with few in double precision.
func TestSingle(t *testing.T) {
	for _, n := range []int{5, 130, 300} {
		for _, noise := range []float64{1, 1e-2, 1e-3} {
			for _, rank := range []int{0, 20} {
				for _, scale := range []float64{1, 1e-20, 1e20} {
					x, _ := toy.Points(toy.Rand(uint64(n)), n, 2, 1)
					s := &System{toy.NewGram(x, func(x, z []float64) float64 { return scale * toy.RBF(0.5)(x, z) }), fill(n, scale*noise)}
					b := [][]float64{make([]float64, n), fill(n, 1), make([]float64, n)}
					for i := range n {
						b[0][i] = math.Sin(2 * x[i][0])
					}
					b[2][n/2] = -3
					exact := mustSolve(t, s, b, Cholesky{}, Settings{})
					k := &counted{Matrix: s.K}
					sol := mustSolve(t, &System{k, s.Noise}, b, held{CG{Rank: rank}}, Settings{Stop: Residual{Rel: 1e-11}, MaxIterations: 20 * n})
					name := fmt.Sprintf("n = %d, noise %g, rank %d, scale %g", n, noise, rank, scale)
					for j, c := range sol.Certificates {
						if sol.Status != solvers.Converged || c.Claimed || !(c.Residual <= 1e-11*norm(b[j])) {
							t.Errorf("%s: %v, residual %g of %g", name, sol.Status, c.Residual, norm(b[j]))
						}
						for i, v := range sol.X[j] {
							if !(math.Abs(v-exact.X[j][i]) <= 1e-8*norm(exact.X[j])) {
								t.Fatalf("%s: x_%d = %g, not %g", name, i, v, exact.X[j][i])
							}
						}
					}
					// A pass to hold K, one at the end, and one whenever the residual is a third or
					// less: double precision alone has one for each iteration.
					if rows := k.rows - min(rank, n); rows > 8*n || n == 300 && sol.Iterations < 20 {
						t.Errorf("%s: %d rows of K, %d iterations", name, rows, sol.Iterations)
					}
				}
			}
		}
	}
}

// TestSingleOfPoints: of a run by itself and in a batch, of inputs that are shifted and
// scaled badly, and from elsewhere than 0.
func TestSingleOfPoints(t *testing.T) {
	const n = 200
	for _, shift := range []float64{0, 1e4, 1e7} {
		x, _ := toy.Points(toy.Rand(3), n, 2, 1)
		for i := range x {
			x[i][0] = 1e3*x[i][0] + shift
		}
		s := &System{toy.NewGram(x, toy.RBF(1e-6)), fill(n, 0.01)}
		b := [][]float64{fill(n, 1), make([]float64, n)}
		b[1][7] = 1
		start := [][]float64{fill(n, 0.3), fill(n, -1)}
		set := Settings{Stop: Residual{Rel: 1e-10}, Start: start, MaxIterations: 10 * n}
		sol := mustSolve(t, s, b, held{}, set)
		for j := range b {
			set.Start = start[j : j+1]
			one := mustSolve(t, s, b[j:j+1], held{}, set)
			for i, v := range one.X[0] {
				if !(math.Abs(v-sol.X[j][i]) <= 1e-6*norm(sol.X[j])) || one.Status != solvers.Converged {
					t.Fatalf("shift %g: x_%d = %g by itself (%v), %g with another", shift, i, v, one.Status, sol.X[j][i])
				}
			}
		}
	}
}

// TestSingleSandwich: every bound of every iteration holds, with a noise that rounding K
// comes near to.
func TestSingleSandwich(t *testing.T) {
	for seed := range uint64(20) {
		const n = 120
		x, _ := toy.Points(toy.Rand(seed), n, 1, 1)
		s := &System{toy.NewGram(x, toy.RBF(0.5)), fill(n, 0)}
		k, err := s.inSingle(context.Background(), func(float64) {})
		if err != nil {
			t.Fatal(err)
		}
		s.Noise = fill(n, 8.5*k.off)
		b := fill(n, 1)
		for i := range b {
			b[i] = math.Sin(3*x[i][0]) + 1e-3*float64(i%5)
		}
		f, err := Cholesky{}.Factor(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		h := f.HalfSolve(nil, b)
		truth := inner(h, h)
		slack := 1e-9 * truth
		for _, rank := range []int{0, 4} {
			sol := mustSolve(t, s, [][]float64{b}, held{CG{Rank: rank}}, Settings{Every: 1, Stop: Bounds{Rel: 1e-7}, MaxIterations: 100 * n})
			for i, pt := range sol.Trace {
				if !(pt.Lower <= truth+slack && pt.Skilling >= truth-slack && pt.Radau >= truth-slack && pt.Upper() >= truth-slack) {
					t.Fatalf("seed %d, rank %d, iteration %d: %.15g … %.15g, %.15g, truth %.15g", seed, rank, i, pt.Lower, pt.Skilling, pt.Radau, truth)
				}
			}
			if c := sol.Certificates[0]; sol.Status != solvers.Converged || !(c.Lower <= truth+slack && truth <= c.Upper+slack && c.Upper-c.Lower <= 2e-7*truth) {
				t.Errorf("seed %d, rank %d: %v, certificate %v, truth %.15g", seed, rank, sol.Status, c, truth)
			}
		}
	}
}

// turning is a matrix that is another one the first time it is read.
type turning struct {
	solvers.Matrix
	before solvers.Matrix
	rows   int
}

func (m *turning) Row(i int) []float64 {
	if m.rows++; m.rows <= m.Dim() {
		return m.before.Row(i)
	}
	return m.Matrix.Row(i)
}

// TestSingleRefused: double precision does all where the noise is too small for single
// precision, where that has no room for K, where it is not wanted, and from when on it
// leads nowhere.
func TestSingleRefused(t *testing.T) {
	const n = 150
	x, _ := toy.Points(toy.Rand(1), n, 2, 1)
	b := [][]float64{fill(n, 1)}
	b[0][3] = 5
	for _, c := range []struct {
		scale, noise float64
		method       Method
	}{{1, 1e-6, held{}}, {1e50, 1e48, held{}}, {1e-50, 1e-52, held{}}, {1, 0.01, CG{}}} {
		k := &counted{Matrix: toy.NewGram(x, func(x, z []float64) float64 { return c.scale * toy.RBF(0.5)(x, z) })}
		sol := mustSolve(t, &System{k, fill(n, c.noise)}, b, c.method, Settings{Stop: Residual{Rel: 1e-4}, MaxIterations: 100 * n})
		if sol.Status != solvers.Converged || k.rows < sol.Iterations*n {
			t.Errorf("scale %g, noise %g: %v, %d rows in %d iterations", c.scale, c.noise, sol.Status, k.rows, sol.Iterations)
		}
	}
	right := toy.NewGram(x, toy.RBF(0.5))
	s := &System{right, fill(n, 0.01)}
	exact := mustSolve(t, s, b, Cholesky{}, Settings{})
	sol := mustSolve(t, &System{&turning{Matrix: right, before: toy.NewGram(x, toy.RBF(1))}, s.Noise}, b, held{}, Settings{Stop: Residual{Rel: 1e-10}, MaxIterations: 10 * n})
	if sol.Status != solvers.Converged {
		t.Errorf("of another matrix in single precision: %v", sol.Status)
	}
	for i, v := range sol.X[0] {
		if !(math.Abs(v-exact.X[0][i]) <= 1e-7*norm(exact.X[0])) {
			t.Fatalf("x_%d = %g, not %g", i, v, exact.X[0][i])
		}
	}
}

// TestSingleTimes: the products of the rounded matrix, over the seams of squares and
// shares, the same bits in whichever batch; and off covers what rounding has moved.
func TestSingleTimes(t *testing.T) {
	for _, n := range []int{1, 2, 127, 128, 129, 300, 1100, 4200} {
		rng := toy.Rand(uint64(n))
		s := &System{&rowless{n: n, diag: fill(n, 1)}, fill(n, 0.25)}
		k, err := s.inSingle(context.Background(), func(float64) {})
		if err != nil {
			t.Fatal(err)
		}
		x, y, one := make([][]float64, 3), make([][]float64, 3), make([]float64, n)
		for j := range x {
			x[j], y[j] = make([]float64, n), make([]float64, n)
			for i := range x[j] {
				x[j][i] = rng.NormFloat64()
			}
		}
		if err := k.times(context.Background(), s, y, x); err != nil {
			t.Fatal(err)
		}
		squares := 0.0
		row := make([]float64, n)
		for i := range n {
			copy(row, s.K.Row(i))
			for c, v := range row {
				e := float64(float32(v)) - v
				row[c], squares = v+e, squares+e*e
			}
			for j := range x {
				if want := inner(row, x[j]) + 0.25*x[j][i]; !(math.Abs(y[j][i]-want) <= 1e-12*float64(n)) {
					t.Fatalf("n = %d: row %d of vector %d is %g, want %g", n, i, j, y[j][i], want)
				}
			}
		}
		if !(k.off >= math.Sqrt(squares)) || n > 100 && k.off > 10*math.Sqrt(squares) {
			t.Errorf("n = %d: off is %g, rounding %g", n, k.off, math.Sqrt(squares))
		}
		for j := range x {
			if err := k.times(context.Background(), s, [][]float64{one}, x[j:j+1]); err != nil || !slices.Equal(one, y[j]) {
				t.Errorf("n = %d: vector %d by itself has other bits (%v)", n, j, err)
			}
		}
	}
}

// TestSingleFrom: CG holds K in single precision from some thousand points on, and where
// the memory for it has room.
func TestSingleFrom(t *testing.T) {
	for _, c := range []struct {
		n      int
		double bool
		memory int64
		want   bool
	}{{singlePoints, false, 0, true}, {singlePoints - 1, false, 0, false}, {singlePoints, true, 0, false}, {singlePoints, false, 2 * singlePoints * singlePoints, false}, {singlePoints, false, 3 * singlePoints * singlePoints, true}} {
		k := &counted{Matrix: &rowless{n: c.n, diag: fill(c.n, 1)}}
		sol := mustSolve(t, &System{k, fill(c.n, 0.5)}, [][]float64{fill(c.n, 1)}, CG{Double: c.double}, Settings{MaxIterations: 4, Stop: Residual{Rel: 1e-300}, Memory: c.memory})
		if passes := k.rows / c.n; passes == 2 != c.want || passes != 5 && !c.want {
			t.Errorf("n = %d, Double %t, memory %d: %d passes in %d iterations", c.n, c.double, c.memory, passes, sol.Iterations)
		}
	}
}

// TestSingleRough: with Rough, K is held in single precision although its rounding is beyond the
// noise. No bound is given that rests on it, and the final ones hold. If the residual does not
// improve, double precision does the rest.
func TestSingleRough(t *testing.T) {
	const n = 300
	x, _ := toy.Points(toy.Rand(2), n, 2, 1)
	b := [][]float64{fill(n, 1), fill(n, 0)}
	for i := range n {
		b[1][i] = math.Sin(3*x[i][0]) - x[i][1]
	}
	for _, c := range []struct {
		noise, tol float64
		single     bool
	}{{1e-3, 1e-2, true}, {1e-3, 1e-6, true}, {1e-6, 1e-6, false}} {
		k := &counted{Matrix: toy.NewGram(x, func(x, z []float64) float64 { return 100 * toy.RBF(0.5)(x, z) })}
		s := &System{k, fill(n, c.noise)}
		set := Settings{Stop: Residual{Rel: c.tol}, MaxIterations: 100 * n}
		if plain := mustSolve(t, s, b, held{CG{Rank: 20}}, set); k.rows < plain.Iterations*n {
			t.Fatalf("noise %g: K is held without Rough", c.noise)
		}
		k.rows = 0
		sol := mustSolve(t, s, b, held{CG{Rank: 20, Rough: true}}, set)
		if sol.Status != solvers.Converged || k.rows < sol.Iterations*n/2 != c.single {
			t.Errorf("noise %g, tolerance %g: %v, %d rows in %d iterations", c.noise, c.tol, sol.Status, k.rows, sol.Iterations)
		}
		exact := mustSolve(t, s, b, Cholesky{}, Settings{})
		for j, got := range sol.Certificates {
			truth := exact.Certificates[j]
			if !(got.Lower <= truth.Upper && truth.Lower <= got.Upper) || got.Claimed || !(got.Residual <= c.tol*norm(b[j])) {
				t.Errorf("noise %g: %+v, by Cholesky %+v", c.noise, got, truth)
			}
		}
		if pt := sol.Trace[1]; pt.Iteration != 1 || !math.IsNaN(pt.Lower) || !math.IsNaN(pt.Energy) || !(pt.Residual > 0) {
			t.Errorf("noise %g: before any residual was computed afresh the bounds are %+v", c.noise, pt)
		}
	}
}
