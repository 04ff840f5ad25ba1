package vec

import (
	"math"
	"testing"
)

func relative(t *testing.T, name string, x, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*math.Abs(want)) && got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
		t.Errorf("%s(%v) = %v, want %v", name, x, got, want)
	}
}

func TestLog(t *testing.T) {
	for _, x := range []float64{0, math.Copysign(0, -1), 1e-300, 0.5, math.Sqrt2 / 2, math.Nextafter(1, 0), 1, math.Nextafter(1, 2),
		math.Sqrt2, 2, 3, 1e10, math.MaxFloat64, math.Inf(1), -1, math.Inf(-1), math.NaN()} {
		relative(t, "Log", x, Log(x), math.Log(x), 1e-15)
		if x >= 0 {
			relative(t, "Log1p", x, Log1p(x), math.Log1p(x), 1e-15)
		}
	}
	// math.Log on amd64 has −709.09 for every subnormal number.
	relative(t, "Log", 5e-324, Log(5e-324), -1074*math.Ln2, 1e-15)
	relative(t, "Log", 1e-310, Log(1e-310), math.Log(1e-300)-10*math.Ln10, 1e-15)
	for x := 1e-20; x < 1e20; x *= 1.0137 {
		relative(t, "Log", x, Log(x), math.Log(x), 1e-15)
		relative(t, "Log1p", x, Log1p(x), math.Log1p(x), 1e-15)
	}
}

func TestSquaredSine(t *testing.T) {
	for u := 0.0; u <= 0.5; u += 0.00037 {
		s := math.Sin(math.Pi * u)
		if got := SquaredSine(u); !(math.Abs(got-s*s) <= 1e-15) {
			t.Errorf("SquaredSine(%v) = %v, want %v", u, got, s*s)
		}
	}
	relative(t, "SquaredSine", 1e-9, SquaredSine(1e-9), 1e-18*math.Pi*math.Pi, 1e-15)
	for _, c := range []struct{ u, want float64 }{
		{0.5, 1}, {-0.5, 1}, {1.5, 1}, {0.25, 0.5}, {7, 0}, {-3, 0}, {1e300, 0}, {math.Inf(1), 0}, {math.Inf(-1), 0},
	} {
		if got := SquaredSine(c.u); !(math.Abs(got-c.want) <= 2e-16) {
			t.Errorf("SquaredSine(%v) = %v, want %v", c.u, got, c.want)
		}
	}
	for u := 0.125; u < 1; u += 0.125 { // exact in binary, so the period is too
		if a, b := SquaredSine(u), SquaredSine(u+1024); a != b {
			t.Errorf("SquaredSine(%v) = %v, a thousand periods later %v", u, a, b)
		}
	}
}

func TestSineSquares(t *testing.T) {
	for u := -2.5; u <= 2.5; u += 0.00037 {
		squared, double := SineSquares(u)
		if squared != SquaredSine(u) {
			t.Errorf("SineSquares(%v) = %v, SquaredSine %v", u, squared, SquaredSine(u))
		}
		if want := math.Sin(2 * math.Pi * u); !(math.Abs(double-want) <= 3e-15) { // 2πu is rounded
			t.Errorf("sin 2π%v = %v, want %v", u, double, want)
		}
	}
	_, double := SineSquares(-1e-9)
	relative(t, "SineSquares", -1e-9, double, -2e-9*math.Pi, 1e-15)
	for _, u := range []float64{0, 0.5, -0.5, 7, 1e300, math.Inf(1), math.Inf(-1)} {
		if squared, double := SineSquares(u); squared != SquaredSine(u) || !(math.Abs(double) <= 1e-15) {
			t.Errorf("SineSquares(%v) = %v, %v, want %v, 0", u, squared, double, SquaredSine(u))
		}
	}
}

func TestTanh(t *testing.T) {
	for x := -25.0; x < 25; x += 0.0013 {
		relative(t, "Tanh", x, Tanh(x), math.Tanh(x), 1e-15)
	}
	for _, x := range []float64{0, 1e-300, 5e-324, -1e-9, 0.25, math.Nextafter(0.25, 0), 400, -1e300, math.Inf(1), math.Inf(-1), math.NaN()} {
		relative(t, "Tanh", x, Tanh(x), math.Tanh(x), 1e-15)
	}
}

// A block gives an element the bits that it has alone, and the value of the
// plain formula.
func TestDistances(t *testing.T) {
	weight := []float64{1, 0.5, 3, 0.01, 2}
	for _, c := range []struct {
		name string
		sums func(dst, x, cols []float64, stride int)
		term func(k int, a, b float64) float64
	}{
		{"AbsoluteDistances", AbsoluteDistances, func(_ int, a, b float64) float64 { return math.Abs(a - b) }},
		{"WeightedSquaredDistances", WeightedSquaredDistances(weight), func(k int, a, b float64) float64 { return math.Pow(weight[k]*(a-b), 2) }},
		{"SquaredSines", SquaredSines(0.7), func(_ int, a, b float64) float64 { return math.Pow(math.Sin(math.Pi*(a-b)/0.7), 2) }},
		{"HarmonicMeans", HarmonicMeans, func(_ int, a, b float64) float64 {
			if a+b == 0 {
				return 0
			}
			return 2 * a * b / (a + b)
		}},
		{"ChiSquaredDistances", ChiSquaredDistances, func(_ int, a, b float64) float64 {
			if a+b == 0 {
				return 0
			}
			return (a - b) * (a - b) / (a + b)
		}},
		{"Minima", Minima, func(_ int, a, b float64) float64 { return math.Min(a, b) }},
	} {
		const n = 37
		for d := 1; d <= 5; d++ {
			cols, x := make([]float64, n*d), make([]float64, d)
			for i := range cols {
				cols[i] = float64(i*i%11) / 3
			}
			for k := range x {
				x[k] = float64(k*7%5) / 2
			}
			dst := make([]float64, n)
			c.sums(dst, x, cols, n)
			for j := range dst {
				z, alone := make([]float64, d), make([]float64, 1)
				want := 0.0
				for k := range z {
					z[k] = cols[k*n+j]
					want += c.term(k, x[k], z[k])
				}
				c.sums(alone, x, z, 1)
				if dst[j] != alone[0] {
					t.Errorf("%s, d = %d: point %d is %v in a block, %v alone", c.name, d, j, dst[j], alone[0])
				}
				c.sums(alone, z, x, 1)
				if dst[j] != alone[0] {
					t.Errorf("%s, d = %d: point %d is %v, the other way round %v", c.name, d, j, dst[j], alone[0])
				}
				if !(math.Abs(dst[j]-want) <= 1e-14*(1+want)) {
					t.Errorf("%s, d = %d: point %d is %v, want %v", c.name, d, j, dst[j], want)
				}
			}
		}
	}
}

func BenchmarkElementary(b *testing.B) {
	for _, c := range []struct {
		name string
		f    func(float64) float64
	}{{"Exp", Exp}, {"Log", Log}, {"Log1p", Log1p}, {"SquaredSine", SquaredSine}, {"Tanh", Tanh}} {
		b.Run(c.name, func(b *testing.B) {
			x, sum := 0.0, 0.0
			for b.Loop() {
				x += 0.01
				if x > 5 {
					x = 0
				}
				sum += c.f(x)
			}
			if sum == 0.1 {
				b.Log(sum)
			}
		})
	}
}
