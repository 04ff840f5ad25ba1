package solvers

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/svmnb/svmnb/internal/toy"
)

// sparsely stores the rows of x without their zeros.
func sparsely(t testing.TB, x [][]float64) *SparseFeatures {
	t.Helper()
	start, index, value := []int{0}, []int32{}, []float64{}
	for _, row := range x {
		for j, v := range row {
			if v != 0 {
				index, value = append(index, int32(j)), append(value, v)
			}
		}
		start = append(start, len(index))
	}
	f, err := NewSparseFeatures(start, index, value, len(x[0]), 0)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// densely is NewDenseFeatures of rows that are known to be good.
func densely(t testing.TB, x [][]float64, bias float64) *DenseFeatures {
	t.Helper()
	f, err := NewDenseFeatures(x, bias)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// LIBLINEAR 2.50's numbers (reference §D), L1 loss without bias.
func TestCoordinateDescentReference(t *testing.T) {
	x, y := heart(t)
	for name, k := range map[string]Features{"dense": densely(t, x, 0), "sparse": sparsely(t, x)} {
		for _, m := range []CoordinateDescent{{}, {NoShrinking: true}, {Cyclic: true}} {
			r := solve(t, SoftMargin(k, y, fill(len(y), 1)).WithFixedBias(0), m, Settings{Stop: UpLow{1e-9}})
			if math.Abs(r.Certificate.Dual-96.498278) > 1e-6*96.5 || r.Certificate.Free+r.Certificate.AtUpper != 103 {
				t.Errorf("%s, %+v: W = %.9g with %d SV, want 96.498278 with 103", name, m, r.Certificate.Dual, r.Certificate.Free+r.Certificate.AtUpper)
			}
			if r.Certificate.RelGap > 1e-8 || r.Certificate.MaxKKT > 1e-8 {
				t.Errorf("%s, %+v: %+v", name, m, r.Certificate)
			}
		}
	}
}

// The pseudo-attribute B adds B² to the kernel, and b is B times its weight.
func TestPseudoAttribute(t *testing.T) {
	x, y := rings(toy.Rand(7), 40)
	for _, bias := range []float64{0.5, 1, 3} {
		k := densely(t, x, bias)
		shifted := toy.NewGram(x, func(a, b []float64) float64 { return toy.Dot(a, b) + bias*bias })
		for _, make := range []func(Matrix, []float64, []float64) *Problem{SoftMargin, SoftMargin2} {
			r := solve(t, make(k, y, fill(len(y), 2)).WithFixedBias(0.25), CoordinateDescent{}, Settings{Stop: UpLow{1e-9}})
			c := Certify(make(shifted, y, fill(len(y), 2)).WithFixedBias(0.25), r.Alpha)
			if c.RelGap > 1e-9 || math.Abs(c.Dual-r.Certificate.Dual) > 1e-9*(1+math.Abs(c.Dual)) {
				t.Errorf("B = %g: %+v on the kernel K + B², %+v on the features", bias, c, r.Certificate)
			}
		}
	}
}

// The ridge of the 2-norm machine, worked out by hand: points whose features are orthogonal
// have α = (1 − y b₀) / (x·x + 1/C) each by itself.
func TestCoordinateDescentRidge(t *testing.T) {
	for _, c := range []float64{1e-3, 0.25, 1, 3, 1e4} {
		for _, bias := range []float64{0, 0.5, -0.5} {
			x := [][]float64{{2, 0, 0}, {0, -1, 0}, {0, 0, 0.5}}
			y := []float64{1, -1, 1}
			for name, k := range map[string]Features{"dense": densely(t, x, 0), "sparse": sparsely(t, x)} {
				// Plain passes are tested too, since a joint move of all free α would hide a wrong G.
				for _, m := range []CoordinateDescent{{}, {NoShrinking: true}, {Cyclic: true}, {Plain: true}, {Plain: true, NoShrinking: true}, {Plain: true, Cyclic: true}} {
					r := solve(t, SoftMargin2(k, y, fill(3, c)).WithFixedBias(bias), m, Settings{Stop: UpLow{1e-9}})
					for i, row := range x {
						want := (1 - y[i]*bias) / (toy.Dot(row, row) + 1/c)
						if math.Abs(r.Alpha[i]-want) > 1e-8*want || r.Status != Converged {
							t.Errorf("%s, %+v, C = %g, b = %g: α_%d = %.12g, want %.12g; %v", name, m, c, bias, i, r.Alpha[i], want, r.Status)
						}
					}
				}
			}
		}
	}
}

// TestPassesOfCoordinateDescent: of points at right angles one pass finds the optimum, and
// the next ones leave it, with the ridge as without.
func TestPassesOfCoordinateDescent(t *testing.T) {
	x, y := [][]float64{{2, 0, 0}, {0, -1, 0}, {0, 0, 0.5}}, []float64{1, -1, 1}
	for _, c := range []float64{1e-3, 0.25, 1, 3, 1e4} {
		for name, k := range map[string]Features{"dense": densely(t, x, 0), "sparse": sparsely(t, x)} {
			for loss, p := range map[string]*Problem{
				"1-norm": SoftMargin(k, y, fill(3, c)).WithFixedBias(0.5),
				"2-norm": SoftMargin2(k, y, fill(3, c)).WithFixedBias(0.5),
				"hard":   HardMargin(k, y).WithFixedBias(0.5),
			} {
				st, err := CoordinateDescent{}.Start(p, make([]float64, 3))
				if err != nil {
					t.Fatal(err)
				}
				for pass := range 5 {
					if _, err := st.Step(t.Context()); err != nil {
						t.Fatal(err)
					}
					var it Iterate
					st.Report(&it)
					for i, row := range x {
						curvature := toy.Dot(row, row)
						if p.Ridge != nil {
							curvature += p.Ridge[i]
						}
						want := min((1-y[i]*0.5)/curvature, p.Upper[i])
						if math.Abs(it.Alpha[i]-want) > 1e-12*want {
							t.Errorf("%s, %s, C = %g, pass %d: α_%d = %g, want %g", name, loss, c, pass, i, it.Alpha[i], want)
						}
					}
				}
			}
		}
	}
}

// ST's line (7) divides by x·x: a zero row has none, and its G is constant.
func TestZeroFeatures(t *testing.T) {
	x := [][]float64{{1, 2}, {0, 0}, {-1, 0.5}, {0, 0}}
	y := []float64{1, 1, -1, -1}
	r := solve(t, SoftMargin(densely(t, x, 0), y, fill(4, 3)).WithFixedBias(0), CoordinateDescent{}, Settings{Stop: UpLow{1e-10}})
	if r.Alpha[1] != 3 || r.Alpha[3] != 3 || r.Certificate.RelGap > 1e-9 {
		t.Errorf("α = %v, %+v", r.Alpha, r.Certificate)
	}
	if _, err := Solve(t.Context(), HardMargin(densely(t, x, 0), y).WithFixedBias(0), CoordinateDescent{}, Settings{}); !errors.Is(err, ErrUnbounded) {
		t.Errorf("hard margin with a point at the origin: %v", err)
	}
}

// Scaling features and C together leaves the machine as it is: the stop by the
// projected gradient does not depend on the units of x (ST's max |Δα| does).
func TestUnitsOfFeatures(t *testing.T) {
	x, y := rings(toy.Rand(7), 30)
	scaled := make([][]float64, len(x))
	for i, row := range x {
		scaled[i] = []float64{100 * row[0], 100 * row[1]}
	}
	a := solve(t, SoftMargin(densely(t, x, 0), y, fill(30, 1)).WithFixedBias(0), CoordinateDescent{}, Settings{Stop: UpLow{1e-6}})
	b := solve(t, SoftMargin(densely(t, scaled, 0), y, fill(30, 1e-4)).WithFixedBias(0), CoordinateDescent{}, Settings{Stop: UpLow{1e-6}})
	if math.Abs(a.Certificate.Dual-1e4*b.Certificate.Dual) > 1e-5*a.Certificate.Dual {
		t.Errorf("W = %g, with scaled features %g", a.Certificate.Dual, 1e4*b.Certificate.Dual)
	}
}

func TestFeaturesRefuseBadInput(t *testing.T) {
	var e *ProblemError
	for name, x := range map[string][][]float64{"ragged": {{1, 2}, {3}}, "NaN": {{1, math.NaN()}}, "Inf": {{math.Inf(-1)}}} {
		if _, err := NewDenseFeatures(x, 0); !errors.As(err, &e) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, c := range map[string]struct {
		start []int
		index []int32
		value []float64
	}{
		"no start":     {nil, nil, nil},
		"end":          {[]int{0, 2}, []int32{0}, []float64{1}},
		"lengths":      {[]int{0, 1}, []int32{0}, nil},
		"falling":      {[]int{0, 1, 0, 1}, []int32{0}, []float64{1}},
		"out of range": {[]int{0, 1}, []int32{5}, []float64{1}},
		"negative":     {[]int{0, 1}, []int32{-1}, []float64{1}},
		"unsorted":     {[]int{0, 2}, []int32{1, 0}, []float64{1, 1}},
		"NaN":          {[]int{0, 1}, []int32{1}, []float64{math.NaN()}},
	} {
		if _, err := NewSparseFeatures(c.start, c.index, c.value, 2, 0); !errors.As(err, &e) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCoordinateDescentRefuses(t *testing.T) {
	x, y := rings(toy.Rand(7), 10)
	for name, p := range map[string]*Problem{
		"no features": SoftMargin(toy.NewGram(x, toy.Dot), y, fill(10, 1)).WithFixedBias(0),
		"free bias":   SoftMargin(densely(t, x, 0), y, fill(10, 1)),
	} {
		if _, err := Solve(t.Context(), p, CoordinateDescent{}, Settings{}); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Row, Dot and Add of both forms say the same.
func TestFeaturesAgree(t *testing.T) {
	x := [][]float64{{1, 0, -2, 0, 3}, {0, 0, 0, 0, 0}, {0, 4, 0.5, 0, -1}}
	d, s := densely(t, x, 0), sparsely(t, x)
	for i := range x {
		a, b := d.Row(i), s.Row(i)
		for j := range x {
			if want := toy.Dot(x[i], x[j]); math.Abs(a[j]-want) > 1e-14 || math.Abs(b[j]-want) > 1e-14 {
				t.Errorf("row %d, %d: dense %g, sparse %g, want %g", i, j, a[j], b[j], want)
			}
		}
	}
}

// 10⁵ points of 20 features, dense and with three in twenty non-zero, to
// LIBLINEAR's stopping rule; the trace stays within its memory.
func TestCoordinateDescentAtScale(t *testing.T) {
	if testing.Short() {
		t.Skip("two problems of 10⁵ points")
	}
	rng := toy.Rand(11)
	const n, d = 100_000, 20
	normal := make([]float64, d)
	for j := range normal {
		normal[j] = rng.NormFloat64()
	}
	for name, density := range map[string]float64{"dense": 1, "sparse": 0.15} {
		x, y := make([][]float64, n), make([]float64, n)
		for i := range x {
			x[i] = make([]float64, d)
			side := 0.5 * rng.NormFloat64()
			for j := range d {
				if rng.Float64() < density {
					x[i][j] = rng.NormFloat64()
					side += normal[j] * x[i][j]
				}
			}
			y[i] = math.Copysign(1, side)
		}
		var k Features = densely(t, x, 1)
		if name == "sparse" {
			k = sparsely(t, x)
		}
		p := SoftMargin(k, y, fill(n, 1)).WithFixedBias(0)
		r := solve(t, p, CoordinateDescent{}, Settings{Stop: UpLow{0.1}})
		if r.Status != Converged || r.Certificate.RelGap > 1e-3 || r.Certificate.MaxKKT > 0.1 {
			t.Errorf("%s: %v after %d passes, %+v", name, r.Status, r.Iterations, r.Certificate)
		}
		kept := 0
		for _, pt := range r.Trace.Points {
			kept += len(pt.Changed)
		}
		if kept > replay || r.Trace.Cut > 0 && r.Trace.AlphaAt(r.Trace.Cut) != nil || r.Trace.AlphaAt(r.Trace.Replayable()-1) == nil {
			t.Errorf("%s: %d changes kept, cut at point %d of %d", name, kept, r.Trace.Cut, len(r.Trace.Points))
		}
		t.Logf("%s: %d passes, W = %.6g, gap %.2g, %v, %d of %d points to replay", name, r.Iterations, r.Certificate.Dual, r.Certificate.RelGap, r.Elapsed, r.Trace.Replayable(), len(r.Trace.Points))
	}
}

// TestRecorderCut: an α that the trace gives back is that of the point, whether it was
// measured again or the deltas end there.
func TestRecorderCut(t *testing.T) {
	for _, room := range []int{0, 1, 2, 3, 9} {
		r := newRecorder(2)
		r.kept = replay - room
		var truth [][]float64
		for k, alpha := range [][]float64{{0, 1}, {2, 1}, {3, 1}, {3, 4}, {5, 6}} {
			if k == 2 {
				k = 1 // measured again
			}
			r.add(&Point{Iteration: k}, alpha)
			truth = append(truth[:min(k, len(r.trace.Points)-1)], alpha)
		}
		for k := range r.trace.Replayable() {
			if got := r.trace.AlphaAt(k); !slices.Equal(got, truth[k]) {
				t.Errorf("room for %d: point %d has %v, want %v", room, k, got, truth[k])
			}
		}
	}
}

// SMO that keeps w reaches what SMO on the kernel matrix does, asks for no row
// of K on its way, and its F is never far from the exact one.
func TestSMOKeepsTheNormal(t *testing.T) {
	x, y := rings(toy.Rand(3), 50)
	for i := range x {
		x[i] = append(x[i], x[i][0]*x[i][1], 0)
	}
	for name, k := range map[string]Features{"dense": densely(t, x, 0), "sparse": sparsely(t, x)} {
		for _, sel := range []Selection{Platt, Simplified} {
			for _, make := range []func(Matrix, []float64, []float64) *Problem{SoftMargin, SoftMargin2} {
				counted := &countedFeatures{Features: k}
				r := solve(t, make(counted, y, fill(50, 2)), SMO{Selection: sel}, Settings{Stop: UpLow{1e-7}})
				want := solve(t, make(toy.NewGram(x, toy.Dot), y, fill(50, 2)), SMO{}, Settings{Stop: UpLow{1e-9}})
				if math.Abs(r.Certificate.Dual-want.Certificate.Dual) > 1e-8*want.Certificate.Dual || r.Certificate.RelGap > 1e-7 || r.Status != Converged {
					t.Errorf("%s, %v: %v, W = %.12g, want %.12g; %+v", name, sel, r.Status, r.Certificate.Dual, want.Certificate.Dual, r.Certificate)
				}
				if counted.rows > 0 {
					t.Errorf("%s, %v: %d rows of K", name, sel, counted.rows)
				}
			}
		}
	}
}

type countedFeatures struct {
	Features
	rows int
}

func (c *countedFeatures) Row(i int) []float64 {
	c.rows++
	return c.Features.Row(i)
}
