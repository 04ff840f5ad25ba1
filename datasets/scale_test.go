package datasets

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func column(d *Dataset, j int) []float64 {
	c := make([]float64, d.N())
	for i, row := range d.X {
		c[i] = row[j]
	}
	return c
}

func TestFitStandard(t *testing.T) {
	train := New([][]float64{{1, 10, 0.1}, {2, 10, 0.1}, {3, 40, 0.1}}, []float64{1, -1, 1})
	s, err := FitStandard(train)
	if err != nil {
		t.Fatal(err)
	}
	for j, want := range [][2]float64{{2, math.Sqrt(2.0 / 3)}, {20, math.Sqrt(200)}, {0.1, 0}} {
		if math.Abs(s.Centre[j]-want[0]) > 1e-14 || math.Abs(s.Width[j]-want[1]) > 1e-14 {
			t.Errorf("feature %d: %v, %v, want %v", j, s.Centre[j], s.Width[j], want)
		}
	}
	got := s.Apply(New([][]float64{{2, 20, 0.1}, {2 + math.Sqrt(2.0/3), 20 - 3*math.Sqrt(200), 7}}, []float64{1, 1}))
	for i, want := range [][]float64{{0, 0, 0}, {1, -3, 0}} {
		for j := range want {
			if math.Abs(got.X[i][j]-want[j]) > 1e-14 {
				t.Errorf("row %d: %v, want %v", i, got.X[i], want)
			}
		}
	}
	if s.String() != "standard scaler of 3 features" {
		t.Error(s)
	}
}

func TestFitRange(t *testing.T) {
	train := New([][]float64{{1, -8, 3}, {2, 0, 3}, {5, 8, 3}}, []float64{1, -1, 1})
	for _, c := range []struct {
		fit   func(*Dataset) (*Scaler, error)
		train [][]float64
		other []float64 // of (9, 4, 4)
		says  string
	}{
		{FitMinMax, [][]float64{{-1, -1, -1}, {-0.5, 0, -1}, {1, 1, -1}}, []float64{3, 0.5, -1}, "min–max scaler of 3 features to [-1, 1]"},
		{func(d *Dataset) (*Scaler, error) { return FitRange(d, 0, 2) }, [][]float64{{0, 0, 0}, {0.5, 1, 0}, {2, 2, 0}}, []float64{4, 1.5, 0}, "min–max scaler of 3 features to [0, 2]"},
	} {
		s, err := c.fit(train)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Apply(train); !equalRows(got.X, c.train) || !slices.Equal(got.Y, train.Y) {
			t.Errorf("%v, want %v", got.X, c.train)
		}
		if got, err := s.Point([]float64{9, 4, 4}); err != nil || !slices.Equal(got, c.other) {
			t.Errorf("%v, %v, want %v", got, err, c.other)
		}
		if s.String() != c.says {
			t.Error(s)
		}
	}
}

// Scaling a test set uses the training data's numbers and nothing else: every
// test point comes out the same whatever other points are in the set, and the
// scaler stays as it was fitted.
func TestTestDataNeverInfluenceTheScaler(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		train := classified(t)
		test := train.clone()
		for _, row := range test.X {
			for j := range row {
				row[j] = rapid.Float64Range(-1e9, 1e9).Draw(t, "test value")
			}
		}
		for _, fit := range []func(*Dataset) (*Scaler, error){FitStandard, FitMinMax} {
			s, err := fit(train)
			if err != nil {
				t.Fatal(err)
			}
			centre, width := slices.Clone(s.Centre), slices.Clone(s.Width)
			before := test.clone()
			together := s.Apply(test)
			if !equalRows(test.X, before.X) {
				t.Fatal("Apply changes its argument")
			}
			for i := range test.X {
				alone := s.Apply(test.Select([]int{i}))
				byHand := make([]float64, len(centre))
				for j, v := range test.X[i] {
					byHand[j] = s.Low
					if width[j] > 0 {
						byHand[j] = s.Low + (v-centre[j])/width[j]*(s.High-s.Low)
					}
					if math.Abs(together.X[i][j]-byHand[j]) > 1e-12*(1+math.Abs(byHand[j])) {
						t.Fatalf("row %d: %v, by hand %v", i, together.X[i], byHand)
					}
				}
				if !slices.Equal(alone.X[0], together.X[i]) {
					t.Fatalf("row %d: %v alone, %v among others", i, alone.X[0], together.X[i])
				}
			}
			if !slices.Equal(s.Centre, centre) || !slices.Equal(s.Width, width) {
				t.Fatal("Apply changes the scaler")
			}
			if again, err := fit(train); err != nil || !slices.Equal(again.Centre, centre) || !slices.Equal(again.Width, width) {
				t.Fatal("fitting again gives another scaler")
			}
		}
	})
}

func TestScaledColumns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := classified(t)
		// Magnitudes at which squares would under- or overflow.
		size := math.Pow(10, float64(rapid.IntRange(-200, 200).Draw(t, "exponent")))
		for _, row := range d.X {
			if row[0] *= size; math.Abs(row[0]) < 1e-290 {
				row[0] = 0 // numbers near the smallest ones have few bits
			}
		}
		standard, scaled := d.Standardised(), d.Scaled()
		if err := standard.Check(); err != nil {
			t.Fatal(err)
		}
		if err := scaled.Check(); err != nil {
			t.Fatal(err)
		}
		for j := range d.D() {
			values := column(d, j)
			constant := slices.Min(values) == slices.Max(values)
			mean, square := 0.0, 0.0
			for _, v := range column(standard, j) {
				mean += v / float64(d.N())
				square += v * v / float64(d.N())
			}
			wantSquare, wantMax := 1.0, 1.0
			if constant {
				wantSquare, wantMax = 0, -1
			}
			// The mean is a number of 53 bits, too.
			rounding := 1e-6
			if width := slices.Max(values) - slices.Min(values); width > 0 {
				rounding += 0x1p-50 * math.Abs(values[0]) / width * math.Sqrt(float64(d.N()))
			}
			if math.Abs(mean) > rounding || math.Abs(square-wantSquare) > 1e-6 {
				t.Fatalf("feature %d: mean %v, mean square %v of %v", j, mean, square, values)
			}
			if c := column(scaled, j); slices.Min(c) != -1 || slices.Max(c) != wantMax {
				t.Fatalf("feature %d: %v of %v", j, c, values)
			}
		}
	})
}

// 0.1 + 0.1 + 0.1 is not 3·0.1: a constant feature must not become noise.
func TestConstantFeatureIsExact(t *testing.T) {
	for _, v := range []float64{0, 0.1, 1.0 / 3, -7e-300, 1e300, math.MaxFloat64} {
		d := &Dataset{Name: "constant", X: rows(7, 1), Y: seq(7)}
		for _, row := range d.X {
			row[0] = v
		}
		for i := range d.X {
			if got, low := d.Standardised().X[i][0], d.Scaled().X[i][0]; got != 0 || low != -1 {
				t.Errorf("%v became %v and %v", v, got, low)
			}
		}
	}
}

func TestScalerErrors(t *testing.T) {
	good := Moons(10, 0.1, 1)
	for _, bad := range [][2]float64{{1, -1}, {0, 0}, {math.NaN(), 1}, {0, math.Inf(1)}, {-math.MaxFloat64, math.MaxFloat64}} {
		_, err := FitRange(good, bad[0], bad[1])
		wantError[*Error](t, err, "FitRange", "low must be less than high")
	}
	far := New([][]float64{{0, -math.MaxFloat64}, {1, math.MaxFloat64}}, []float64{1, -1})
	for _, fit := range []func(*Dataset) (*Scaler, error){FitStandard, FitMinMax} {
		_, err := fit(far)
		if e := wantError[*Error](t, err, "column 1 (x2)", "far apart"); e.Column != 1 {
			t.Error(e)
		}
		_, err = fit(New([][]float64{{math.NaN()}}, []float64{1}))
		wantError[*Error](t, err, "row 0", "NaN")
		_, err = fit(nil)
		wantError[*Error](t, err, "nil")
	}
	s, err := FitStandard(good)
	if err != nil {
		t.Fatal(err)
	}
	wantError[*Error](t, s.Apply(Iris()).Check(), "iris", "4 features", "fitted on 2")
	_, err = s.Point([]float64{1})
	wantError[*Error](t, err, "1 feature,", "fitted on 2")
	if got := s.Apply(good.Select(nil)); got.N() != 0 || strings.Contains(got.Check().Error(), "fitted") {
		t.Errorf("%v", got.Check())
	}
}

func TestFitTarget(t *testing.T) {
	train := New([][]float64{{1}, {2}, {3}}, []float64{10, 10, 40})
	s, err := FitTarget(train)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(s.Centre-20) > 1e-14 || math.Abs(s.Width-math.Sqrt(200)) > 1e-13 || s.String() != "target scaler: mean 20, standard deviation 14.14" {
		t.Errorf("%+v, %v", *s, s)
	}
	other := New([][]float64{{7}, {8}}, []float64{20, 20 - 3*math.Sqrt(200)})
	got := s.Apply(other)
	if math.Abs(got.Y[0]) > 1e-14 || math.Abs(got.Y[1]+3) > 1e-14 || !equalRows(got.X, other.X) || other.Y[0] != 20 {
		t.Errorf("%v, %v, %v", got.X, got.Y, other.Y)
	}

	flat, err := FitTarget(New([][]float64{{1}, {2}}, []float64{0.1, 0.1}))
	if err != nil {
		t.Fatal(err)
	}
	if y := flat.Apply(other).Y; y[0] != 0 || y[1] != 0 || flat.Invert(0) != 0.1 {
		t.Errorf("constant targets become %v and %v", y, flat.Invert(0))
	}
}

func TestFitTargetErrors(t *testing.T) {
	real := New([][]float64{{1}, {2}}, []float64{1, 3})
	s, err := FitTarget(real)
	if err != nil {
		t.Fatal(err)
	}
	wantError[*ClassError](t, s.Apply(Iris()).Check(), "iris", "real values are needed")
	wantError[*Error](t, s.Apply(Moons(1, 0, 0)).Check(), "n is 1")
	for _, c := range []struct {
		y    []float64
		says string
	}{
		{[]float64{1, math.NaN()}, "row 1: the target is NaN"},
		{[]float64{1}, "equally many"},
		{[]float64{math.MaxFloat64, -math.MaxFloat64}, "the targets lie so far apart"},
	} {
		_, err := FitTarget(New([][]float64{{1}, {2}}, c.y))
		wantError[*Error](t, err, c.says)
	}
	_, err = FitTarget(New(nil, nil))
	wantError[*Error](t, err, "no points")
	_, err = FitTarget(Iris())
	wantError[*ClassError](t, err, "real values are needed")
}

func TestTargetScalerInverts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := Sinc(rapid.IntRange(2, 40).Draw(t, "n"), rapid.Float64Range(0.01, 1e6).Draw(t, "noise"), rapid.Uint64().Draw(t, "seed"))
		s, err := FitTarget(d)
		if err != nil {
			t.Fatal(err)
		}
		scaled := s.Apply(d)
		total, squares := 0.0, 0.0
		for i, y := range scaled.Y {
			total, squares = total+y, squares+y*y
			if back := s.Invert(y); math.Abs(back-d.Y[i]) > 1e-14*(math.Abs(s.Centre)+s.Width*math.Abs(y)) {
				t.Fatalf("%v becomes %v and then %v", d.Y[i], y, back)
			}
		}
		n := float64(d.N())
		if tol := 1e-14 * n * (1 + math.Abs(s.Centre)/s.Width); math.Abs(total) > tol || math.Abs(squares-n) > tol {
			t.Fatalf("the sum is %v, that of squares %v of %v", total, squares, n)
		}
	})
}
