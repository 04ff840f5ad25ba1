package datasets

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/svmnb/svmnb/internal/vec"
)

// The pins were taken from these generators with Go 1.26 on amd64, as those of
// the generators of classes.
var regressions = []struct {
	make      func(n int, noise float64, seed uint64) *Dataset
	pin       string // checksum of make(200, 0.15, 42)
	says      string
	mean, std float64      // of the targets without noise
	extent    [][2]float64 // of each feature
}{
	{Sinc, "562c0b06f396b498", "sinc: 200 × 1, targets -0.544 … 1.162", 0.165835, 0.352652, [][2]float64{{-10, 10}}},
	{Friedman1, "fcc409bd2ef32f08", "friedman1: 200 × 10, targets 2.819 … 26.87", 14.4135, 4.8846, slices.Repeat([][2]float64{{0, 1}}, 10)},
	{Friedman2, "2c3cfc90ac7aef46", "friedman2: 200 × 4, targets 19.71 … 1621", 479.39, 379.04, [][2]float64{{0, 100}, {40 * math.Pi, 560 * math.Pi}, {0, 1}, {1, 11}}},
	{Friedman3, "dcc4cc4e221cb963", "friedman3: 200 × 4, targets 0.1678 … 1.84", 1.32369, 0.31655, [][2]float64{{0, 100}, {40 * math.Pi, 560 * math.Pi}, {0, 1}, {1, 11}}},
}

func TestRegressionGenerators(t *testing.T) {
	for _, g := range regressions {
		d := g.make(200, 0.15, 42)
		t.Run(d.Name, func(t *testing.T) {
			if sum := checksum(d); sum != g.pin || d.String() != g.says {
				t.Errorf("pin is %q, want %q; %q, want %q", sum, g.pin, d, g.says)
			}
			if d.N() != 200 || d.D() != len(g.extent) || d.Check() != nil || d.Classes != nil || d.Source != "generated, seed 42" {
				t.Errorf("%v, %v, %q", d, d.Check(), d.Source)
			}
			if checksum(g.make(200, 0.15, 43)) == checksum(d) {
				t.Error("another seed gives the same data")
			}

			// Noise touches the targets only, and in proportion.
			exact, double := g.make(200, 0, 42), g.make(200, 0.3, 42)
			if !equalRows(exact.X, d.X) {
				t.Error("noise changes the points")
			}
			for i := range d.Y {
				if e := d.Y[i] - exact.Y[i]; e == 0 || math.Abs(double.Y[i]-exact.Y[i]-2*e) > 1e-12 {
					t.Fatalf("target %d is %v, %v, %v with noise 0, 0.15, 0.3", i, exact.Y[i], d.Y[i], double.Y[i])
				}
			}

			// Many points have the moments that scikit-learn 1.2.1 gives for 10⁶
			// (Sinc: by integration), and fill the ranges that the documentation names.
			const n = 40_000
			many := g.make(n, 0, 1)
			mean, std := vec.Moments(many.Y)
			if math.Abs(mean-g.mean) > 5*g.std/math.Sqrt(n) || math.Abs(std-g.std) > 0.02*g.std {
				t.Errorf("targets are %v ± %v, want %v ± %v", mean, std, g.mean, g.std)
			}
			for j, want := range g.extent {
				x := column(many, j)
				mean, std := vec.Moments(x)
				width := want[1] - want[0]
				if low, high := slices.Min(x), slices.Max(x); low < want[0] || low > want[0]+0.001*width || high > want[1] || high < want[1]-0.001*width {
					t.Errorf("%s lies in [%v, %v], want %v", many.FeatureName(j), low, high, want)
				}
				if math.Abs(mean-want[0]-width/2) > 0.01*width || math.Abs(std-width/math.Sqrt(12)) > 0.01*width {
					t.Errorf("%s is %v ± %v, not uniform over %v", many.FeatureName(j), mean, std, want)
				}
			}

			for _, n := range []int{-1, 0, 1, math.MinInt, math.MaxInt} {
				wantError[*Error](t, g.make(n, 0, 1).Check(), d.Name, "points")
			}
			for _, noise := range []float64{-1, -1e-300, math.NaN(), math.Inf(1), math.Inf(-1)} {
				wantError[*Error](t, g.make(10, noise, 1).Check(), d.Name, fmt.Sprint(noise), "standard deviation")
			}
		})
	}
}

// Points and targets of make_friedman1, 2 and 3 of scikit-learn 1.2.1 with
// n_samples=3, random_state=0.
func TestFriedman(t *testing.T) {
	for _, c := range []struct {
		f func(x []float64) float64
		x []float64
		y float64
	}{
		{friedman1, []float64{0.5488135039273248, 0.7151893663724195, 0.6027633760716439, 0.5448831829968969, 0.4236547993389047}, 17.213491800723627},
		{friedman1, []float64{0.7917250380826646, 0.5288949197529045, 0.5680445610939323, 0.925596638292661, 0.07103605819788694}, 19.3796543632894},
		{friedman1, []float64{0.978618342232764, 0.7991585642167236, 0.46147936225293185, 0.7805291762864555, 0.11827442586893322}, 14.750309011565772},
		{friedman2, []float64{54.88135039273247, 1294.0172089905805, 0.6027633760716439, 6.448831829968968}, 781.9144576926394},
		{friedman2, []float64{42.36547993389047, 1180.8145304592847, 0.4375872112626925, 9.917730007820797}, 518.4431357489249},
		{friedman2, []float64{96.36627605010293, 752.064576628267, 0.7917250380826646, 6.288949197529044}, 603.1758731875974},
		{friedman3, []float64{54.88135039273247, 1294.0172089905805, 0.6027633760716439, 6.448831829968968}, 1.5005501362595663},
		{friedman3, []float64{42.36547993389047, 1180.8145304592847, 0.4375872112626925, 9.917730007820797}, 1.4889883725819275},
		{friedman3, []float64{96.36627605010293, 752.064576628267, 0.7917250380826646, 6.288949197529044}, 1.4103439333170986},
	} {
		if y := c.f(c.x); math.Abs(y-c.y) > 1e-14*c.y {
			t.Errorf("%v: %v, want %v", c.x, y, c.y)
		}
	}
}

func TestSinc(t *testing.T) {
	d := Sinc(101, 0, 0)
	for i, row := range d.X {
		x := -10 + 20*(float64(i)+0.5)/101
		if want := math.Sin(x) / x; math.Abs(row[0]-x) > 1e-14 || i != 50 && math.Abs(d.Y[i]-want) > 1e-15 {
			t.Errorf("point %d is %v, %v, want %v, %v", i, row[0], d.Y[i], x, want)
		}
	}
	if d.X[50][0] != 0 || d.Y[50] != 1 {
		t.Errorf("sinc(%v) = %v", d.X[50][0], d.Y[50])
	}
}

func TestArctan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := math.Ldexp(rapid.Float64Range(-1, 1).Draw(t, "fraction"), rapid.IntRange(-60, 60).Draw(t, "exponent"))
		if got, want := arctan(x), math.Atan(x); math.Abs(got-want) > 2e-15*math.Abs(want)+16*math.SmallestNonzeroFloat64 {
			t.Fatalf("arctan(%v) = %v, want %v", x, got, want)
		}
	})
}

// Real targets pass through everything that classes do.
func TestRegressionChains(t *testing.T) {
	d := Friedman1(103, 1, 7)
	train, test := d.Split(0.75, 1)
	if train.N() != 77 || test.N() != 26 || train.Check() != nil || test.Check() != nil {
		t.Fatalf("%v, %v", train, test)
	}
	// Stratified: a quarter of every range of targets is in the test set.
	cut := slices.Sorted(slices.Values(d.Y))[51]
	low := 0
	for _, y := range test.Y {
		if y <= cut {
			low++
		}
	}
	if low != 13 {
		t.Errorf("%d of 26 test targets are in the lower half", low)
	}
	s, err := FitStandard(train)
	if err != nil {
		t.Fatal(err)
	}
	if scaled := s.Apply(test); !slices.Equal(scaled.Y, test.Y) || scaled.Check() != nil {
		t.Errorf("%v", scaled)
	}
	if one := d.Shuffle(3).Columns(0); one.Check() != nil || one.D() != 1 || math.Abs(sum(one.Y)-sum(d.Y)) > 1e-10 {
		t.Errorf("%v", one)
	}
	if _, _, _, err := d.Binary(); err == nil {
		t.Error("real targets pass for two classes")
	}
}
