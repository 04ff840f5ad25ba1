package solvers

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/svmnb/svmnb/internal/simd"
	"github.com/svmnb/svmnb/internal/toy"
)

// overlapping has classes that no hyperplane separates.
func overlapping(n, d int) (x [][]float64, y []float64) {
	rng := toy.Rand(21)
	x, y = make([][]float64, n), make([]float64, n)
	for i := range x {
		side := 0.7 * rng.NormFloat64()
		x[i] = make([]float64, d)
		for j := range x[i] {
			x[i][j] = rng.NormFloat64()
			side += x[i][j] * float64(j%3) / math.Sqrt(float64(d))
		}
		y[i] = math.Copysign(1, side+0.3)
	}
	return x, y
}

// Coordinate descent, which shares no line with Newton's method, finds the same
// optimum without a bias, SMO with one.
func TestNewtonAgreesWithOthers(t *testing.T) {
	x, y := overlapping(150, 6)
	for _, c := range []float64{1e-3, 1, 50} {
		for name, k := range map[string]Features{"dense": densely(t, x, 0), "sparse": sparsely(t, x)} {
			for loss, make := range map[string]func(Matrix, []float64, []float64) *Problem{"1-norm": SoftMargin, "2-norm": SoftMargin2} {
				p := make(k, y, fill(len(y), c))
				for _, q := range []struct {
					p     *Problem
					other Method
				}{{p.WithFixedBias(0.25), CoordinateDescent{}}, {p, SMO{}}} {
					want := solve(t, q.p, q.other, Settings{Stop: Gap{1e-9}})
					r := solve(t, q.p, Newton{}, Settings{Stop: Gap{1e-9}})
					if w := want.Certificate.Dual; r.Status != Converged || math.Abs(r.Certificate.Dual-w) > 2e-9*(1+w) || r.Certificate.RelGap > 1e-9 {
						t.Errorf("%s, %s, C = %g, against %s: %v, W = %.12g, want %.12g", name, loss, c, q.other.Name(), r.Status, r.Certificate.Dual, want.Certificate.Dual)
					}
				}
			}
		}
	}
}

// LIBLINEAR 2.50's numbers (reference §D), as for coordinate descent.
func TestNewtonReference(t *testing.T) {
	x, y := heart(t)
	r := solve(t, SoftMargin(densely(t, x, 0), y, fill(len(y), 1)).WithFixedBias(0), Newton{}, Settings{Stop: UpLow{1e-9}})
	if math.Abs(r.Certificate.Dual-96.498278) > 1e-6*96.5 || r.Certificate.Free+r.Certificate.AtUpper != 103 {
		t.Errorf("W = %.9g with %d SV, want 96.498278 with 103", r.Certificate.Dual, r.Certificate.Free+r.Certificate.AtUpper)
	}
}

// Any convex problem over features: boxes, p, δ, some ridge, bias free or fixed.
// The answer is feasible and its gap, from α alone, is small.
func TestNewtonOnAnyProblem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := toy.Rand(rapid.Uint64().Draw(t, "seed"))
		n, d := rapid.IntRange(1, 40).Draw(t, "n"), rapid.IntRange(1, 5).Draw(t, "d")
		x := make([][]float64, n)
		for i := range x {
			x[i] = make([]float64, d)
			for j := range x[i] {
				x[i][j] = rng.NormFloat64()
			}
		}
		k, err := NewDenseFeatures(x, 0)
		if err != nil {
			t.Fatal(err)
		}
		p := generalProblem(rng, n)
		p.K = k
		if rapid.Bool().Draw(t, "no ridge") {
			p.Ridge = nil
		}
		if rapid.Bool().Draw(t, "fixed") {
			p = p.WithFixedBias(rng.NormFloat64())
		}
		r, err := Solve(context.Background(), p, Newton{}, Settings{Stop: Gap{1e-9}})
		if err != nil || r.Certificate.RelGap > 1e-8 || r.Certificate.Bound > 0 || r.Certificate.Equality > 1e-9 {
			t.Fatalf("%v, %+v", err, r)
		}
	})
}

// The number of goroutines changes no bit.
func TestNewtonIsDeterministic(t *testing.T) {
	x, y := overlapping(20_000, 12)
	p := SoftMargin(densely(t, x, 1), y, fill(len(y), 1)).WithFixedBias(0)
	var first string
	for _, threads := range []int{1, 2, 5} {
		before := runtime.GOMAXPROCS(threads)
		r := solve(t, p, Newton{}, Settings{Stop: Gap{1e-7}})
		runtime.GOMAXPROCS(before)
		if print := fingerprint(t, r); first == "" {
			first = print
		} else if print != first {
			t.Errorf("%d goroutines give another result", threads)
		}
		if r.Iterations > 12 {
			t.Errorf("%d iterations", r.Iterations)
		}
	}
}

// What is not looked at would not have moved: after every step the α of all points
// are those of (w, b). In the end nearly all rows are left alone.
func TestNewtonLooksAtFewRows(t *testing.T) {
	x, y := overlapping(20_000, 8)
	p := SoftMargin(densely(t, x, 0), y, fill(len(y), 1))
	st, err := Newton{}.Start(p, make([]float64, len(y)))
	if err != nil {
		t.Fatal(err)
	}
	s := st.(*newton)
	for iteration := range 7 {
		for range 4 {
			decrement, err := s.direction(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			s.settle(s.search(decrement))
			for i := range s.alpha {
				z := s.dot(i, s.u)
				c := (s.rho*s.shown[i] + 1 - y[i]*z) / s.rho
				if a := min(max(c, 0), 1); math.Abs(a-s.alpha[i]) > 1e-6 {
					t.Fatalf("iteration %d: α[%d] = %g, that of (w, b) is %g", iteration, i, s.alpha[i], a)
				}
			}
		}
		if iteration == 6 {
			break
		}
		if _, err := s.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	active := 0
	for _, state := range s.state {
		if state != asleep {
			active++
		}
	}
	if active > len(y)/20 {
		t.Errorf("the last step has looked at %d of %d points", active, len(y))
	}
}

// Once J is right P is quadratic, and one step finds its minimum to the last digits.
func TestNewtonEndsExactly(t *testing.T) {
	x, y := overlapping(300, 4)
	p := SoftMargin2(densely(t, x, 0), y, fill(len(y), 1)).WithFixedBias(0)
	r := solve(t, p, Newton{}, Settings{Stop: Gap{1e-13}})
	if r.Iterations > 15 || r.Certificate.RelGap > 1e-13 {
		t.Errorf("%d iterations, %+v", r.Iterations, r.Certificate)
	}
}

func TestNewtonRefuses(t *testing.T) {
	x, y := rings(toy.Rand(7), 10)
	wide := [][]float64{make([]float64, MostColumns+1), make([]float64, MostColumns+1)}
	for name, p := range map[string]*Problem{
		"no features":  SoftMargin(toy.NewGram(x, toy.Dot), y, fill(10, 1)),
		"many columns": SoftMargin(densely(t, wide, 0), []float64{1, -1}, fill(2, 1)),
	} {
		if _, err := Solve(t.Context(), p, Newton{}, Settings{}); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An interrupt returns what there is.
func TestNewtonStops(t *testing.T) {
	x, y := overlapping(200, 4)
	ctx, cancel := context.WithCancel(context.Background())
	r, err := Solve(ctx, SoftMargin(densely(t, x, 0), y, fill(len(y), 1)), Newton{}, Settings{
		Stop: Gap{-1},
		Observers: []Observer{func(it *Iterate, _ *Point) {
			if it.Iteration == 2 {
				cancel()
			}
		}},
	})
	if !errors.Is(err, context.Canceled) || r == nil || r.Iterations != 2 || r.Certificate.Equality > 1e-9 {
		t.Fatalf("%v, %+v", err, r)
	}
}

// Warm from the solution there is nothing to do.
func TestNewtonWarm(t *testing.T) {
	x, y := overlapping(200, 4)
	p := SoftMargin(densely(t, x, 0), y, fill(len(y), 1)).WithFixedBias(0)
	first := solve(t, p, Newton{}, Settings{Stop: UpLow{1e-8}})
	again := solve(t, p, Newton{}, Settings{Stop: UpLow{1e-8}, Start: first.Alpha})
	if again.Iterations != 0 || !slices.Equal(again.Alpha, first.Alpha) {
		t.Errorf("%d iterations from the solution", again.Iterations)
	}
}

// All levels of the loops find the same optimum.
func TestNewtonAtAllLevels(t *testing.T) {
	x, y := overlapping(400, 7)
	p := SoftMargin(densely(t, x, 0), y, fill(len(y), 1))
	best := simd.Best()
	defer simd.SetLevel(best)
	for l := simd.Portable; l <= best; l++ {
		simd.SetLevel(l)
		if r := solve(t, p, Newton{}, Settings{Stop: Gap{1e-9}}); r.Certificate.RelGap > 1e-9 {
			t.Errorf("%v: %+v", l, r.Certificate)
		}
	}
}
