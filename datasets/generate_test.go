package datasets

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func checksum(d *Dataset) string {
	h := fnv.New64a()
	for i, row := range d.X {
		binary.Write(h, binary.LittleEndian, row)
		binary.Write(h, binary.LittleEndian, d.Y[i])
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

// The table that every generator passes. The pins were taken from these
// generators with Go 1.26 on amd64. With GOAMD64=v3, which fuses multiplication
// and addition, on 386, and on emulated arm64, ppc64le and s390x they are the
// same.
var generators = []struct {
	name string
	make func(n int, noise float64, seed uint64) *Dataset
	pin  string    // checksum of make(200, 0.15, 42)
	at   []float64 // its first point
	k    int       // classes
}{
	{"blobs", func(n int, noise float64, seed uint64) *Dataset { return Blobs(n, 2, noise, seed) }, "4e374791d4372d38", []float64{1.4910576103001816, 1.8735488470151083}, 2},
	{"blobs of 5", func(n int, noise float64, seed uint64) *Dataset { return Blobs(n, 5, noise, seed) }, "60a1bc81cd77653e", []float64{1.4910576103001816, 1.8735488470151083}, 5},
	{"moons", Moons, "801805d17e3cd8d7", []float64{1.076720680408747, 0.4750426019538339}, 2},
	{"circles", Circles, "f7fa364e34c76777", []float64{0.5765973281099522, 0.4750406641810774}, 2},
	{"xor", XOR, "37d8531c545bd827", []float64{-0.9231559520729136, 1.4593352846420133}, 2},
	{"checkerboard", func(n int, _ float64, seed uint64) *Dataset { return Checkerboard(n, 4, seed) }, "b3900ef6060c8eae", []float64{-0.8584525725999443, -0.5289450096670987}, 2},
	{"spirals", Spirals, "54672ff120dc373a", []float64{0.2435866315894657, 0.590472277110174}, 2},
}

func TestGenerators(t *testing.T) {
	for _, g := range generators {
		t.Run(g.name, func(t *testing.T) {
			d := g.make(200, 0.15, 42)
			if sum := checksum(d); sum != g.pin || !slices.Equal(d.X[0], g.at) {
				t.Errorf("pin is %q, []float64{%v, %v}; want %s, %v", sum, d.X[0][0], d.X[0][1], g.pin, g.at)
			}
			if d.N() != 200 || d.D() != 2 || d.Check() != nil || d.Source != "generated, seed 42" {
				t.Errorf("%v, %v, %q", d, d.Check(), d.Source)
			}
			if checksum(g.make(200, 0.15, 43)) == checksum(d) {
				t.Error("another seed gives the same points")
			}
			for _, n := range []int{5, 6, 7, 201} {
				for _, c := range g.make(n, 0.3, 1).Counts() {
					if c.N < n/g.k || c.N > (n+g.k-1)/g.k {
						t.Errorf("n = %d: class %s has %d points", n, c.Class, c.N)
					}
				}
			}
			if _, _, _, err := d.Binary(); (err == nil) != (g.k == 2) {
				t.Error(err)
			}
			if g.k == 2 {
				for i, y := range d.Y {
					if math.Abs(y) != 1 {
						t.Fatalf("target %d is %v", i, y)
					}
				}
			}
			for _, n := range []int{-1, 0, 1, math.MinInt, math.MaxInt} {
				wantError[*Error](t, g.make(n, 0, 1).Check(), "points")
			}
			if g.name == "checkerboard" {
				return // has no noise
			}
			for _, noise := range []float64{-1, -1e-300, math.NaN(), math.Inf(1), math.Inf(-1)} {
				wantError[*Error](t, g.make(10, noise, 1).Check(), fmt.Sprint(noise), "standard deviation")
			}
			if exact, other := g.make(50, 0, 1), g.make(50, 0, 2); !equalRows(exact.X, other.X) {
				t.Error("without noise the seed changes the points")
			}
		})
	}
	for _, k := range []int{-3, 0, 1, 11} {
		wantError[*Error](t, Blobs(10, k, 1, 1).Check(), fmt.Sprintf("k is %d", k))
	}
	for _, cells := range []int{-3, 0, 1, 1001, math.MaxInt} {
		wantError[*Error](t, Checkerboard(10, cells, 1).Check(), fmt.Sprintf("cells is %d", cells))
	}
}

func TestAnyArgumentsGiveDataOrAnError(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, noise, seed := rapid.IntRange(-2, 60).Draw(t, "n"), rapid.Float64().Draw(t, "noise"), rapid.Uint64().Draw(t, "seed")
		for _, g := range generators {
			d := g.make(n, noise, seed)
			if d.Check() == nil && (d.N() != n || d.D() != 2 || len(d.Counts()) != g.k) {
				t.Fatalf("%s: %v", g.name, d)
			}
		}
		for _, g := range regressions {
			d := g.make(n, noise, seed)
			if d.Check() == nil && (d.N() != n || d.D() != len(g.extent)) {
				t.Fatalf("%v", d)
			}
		}
	})
}

// Without noise the points lie where the documentation says.
func TestShapes(t *testing.T) {
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-14 }
	for _, c := range []struct {
		d  *Dataset
		on func(x, y, label float64) bool
	}{
		{Blobs(20, 2, 0, 1), func(x, y, label float64) bool { return near(x, label*math.Sqrt2) && near(y, x) }},
		{Moons(21, 0, 1), func(x, y, label float64) bool {
			if label > 0 {
				return near(math.Hypot(x, y), 1) && y > 0
			}
			return near(math.Hypot(x-1, y-0.5), 1) && y < 0.5
		}},
		{Circles(21, 0, 1), func(x, y, label float64) bool { return near(math.Hypot(x, y), 0.75-label/4) }},
		{XOR(21, 0, 1), func(x, y, label float64) bool { return math.Abs(x) == 1 && math.Abs(y) == 1 && -x*y == label }},
		{Checkerboard(500, 5, 1), func(x, y, label float64) bool {
			square := math.Floor((x+1)*2.5) + math.Floor((y+1)*2.5)
			return math.Abs(x) <= 1 && math.Abs(y) <= 1 && (math.Mod(square, 2) == 0) == (label > 0)
		}},
		{Spirals(41, 0, 1), func(x, y, label float64) bool {
			// r = 2t at t turns, the other class half a turn on.
			r := math.Hypot(x, y)
			at := math.Atan2(label*y, label*x) / (2 * math.Pi)
			offset := r/2 - at
			return r <= 3 && math.Abs(offset-math.Round(offset)) < 1e-14
		}},
	} {
		for i, x := range c.d.X {
			if !c.on(x[0], x[1], c.d.Y[i]) {
				t.Errorf("%s: point %d is %v, class %v", c.d.Name, i, x, c.d.Y[i])
			}
		}
	}
}

func TestTurn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.Float64Range(0, 3).Draw(t, "turns")
		cos, sin := turn(a)
		_, part := math.Modf(a)
		if math.Abs(cos-math.Cos(2*math.Pi*part)) > 1e-15 || math.Abs(sin-math.Sin(2*math.Pi*part)) > 1e-15 {
			t.Fatalf("turn(%v) = %v, %v", a, cos, sin)
		}
	})
	for k, want := range [][2]float64{{1, 0}, {0, 1}, {-1, 0}, {0, -1}, {1, 0}} {
		if cos, sin := turn(float64(k) / 4); cos != want[0] || sin != want[1] || math.Signbit(sin) != (want[1] < 0) {
			t.Errorf("turn(%d/4) = %v, %v", k, cos, sin)
		}
	}
}

// The generator of normal numbers against the normal distribution:
// Kolmogorov and Smirnov's distance, whose 0.1 % point is 1.95/√n.
func TestNormal(t *testing.T) {
	const n = 100_000
	s, z := newSource(1), make([]float64, n)
	for i := range z {
		z[i] = s.normal()
	}
	slices.Sort(z)
	worst := 0.0
	for i, v := range z {
		p := 0.5 * math.Erfc(-v/math.Sqrt2)
		worst = max(worst, math.Abs(p-float64(i)/n), math.Abs(p-float64(i+1)/n))
	}
	if worst > 1.95/math.Sqrt(n) {
		t.Errorf("distance %v of %v", worst, 1.95/math.Sqrt(n))
	}
	if z[0] > -3.5 || z[n-1] < 3.5 {
		t.Errorf("tails end at %v and %v", z[0], z[n-1])
	}
}

func TestPermutation(t *testing.T) {
	var seen [6]int
	s := newSource(3)
	for range 6000 {
		p := s.permutation(3)
		seen[p[0]*2+map[bool]int{true: 1}[p[1] > p[2]]]++
	}
	for k, n := range seen {
		if n < 850 || n > 1150 { // 1000 ± 5 standard deviations
			t.Errorf("order %d came %d times of 6000", k, n)
		}
	}
}
