package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSMO(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("f64", testSMO[float64])
		t.Run("f32", testSMO[float32])
	})
}

// The definitions, by counting through, in operations that round as stated.
func testSMO[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	for trial := range 2000 {
		n := rng.IntN(70)
		f, ki, kj := random[float64](rng, n), random[T](rng, n), random[T](rng, n)
		up, low, diag := make([]float64, n), make([]float64, n), random[float64](rng, n)
		for j := range n {
			f[j] = math.Round(2 * f[j]) // so that there are ties
			if rng.IntN(3) == 0 {
				up[j] = math.Inf(-1)
			}
			if rng.IntN(3) == 0 {
				low[j] = math.Inf(1)
			}
			if trial%5 == 0 && rng.IntN(4) == 0 {
				f[j] = []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[rng.IntN(3)]
			}
			if trial%7 == 0 {
				ki[j], kj[j], diag[j] = 1, 1, 4
			}
		}
		step := rng.NormFloat64()
		if trial%2 == 0 {
			step = 0
		}
		want, wi, wmost, wleast := make([]float64, n), -1, math.Inf(-1), math.Inf(1)
		for j := range n {
			diff := float64(ki[j]) - float64(kj[j])
			move := step * diff
			want[j] = f[j] - float64(move)
			if up[j] == 0 && want[j] > wmost {
				wi, wmost = j, want[j]
			}
			if low[j] == 0 && want[j] < wleast {
				wleast = want[j]
			}
		}
		i, most, least := SMOUpdate(f, ki, kj, up, low, step)
		same := slices.EqualFunc(f, want, func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) })
		if !same || i != wi || most != wmost || least != wleast {
			t.Fatalf("n = %d: update to %v with %d, %v, %v; want %v with %d, %v, %v", n, f, i, most, least, want, wi, wmost, wleast)
		}

		fi, kii, tau, wj, wgain := rng.NormFloat64(), 1.0, 1e-12, -1, 0.0
		gains := make([]float64, n)
		for j := range n {
			d := fi - f[j]
			if low[j] != 0 || !(d > 0) {
				continue
			}
			kappa := kii + diag[j]
			kappa -= 2 * float64(ki[j])
			gains[j] = float64(d*d) / max(kappa, tau)
			if gains[j] > wgain {
				wj, wgain = j, gains[j]
			}
		}
		j, gain := SMOSecond(f, low, ki, diag, fi, kii, tau)
		switch {
		case trial%7 == 0 || wj < 0: // fractions are equal or far apart
			if j != wj || gain != wgain {
				t.Fatalf("n = %d: second is %d with %v, want %d with %v", n, j, gain, wj, wgain)
			}
		case j < 0 || gain != gains[j] || !(gain >= wgain*(1-0x1p-50)):
			t.Fatalf("n = %d: second is %d with %v, want %d with %v", n, j, gain, wj, wgain)
		}
	}
}

// Where fractions differ by rounding alone, every level chooses the same.
func TestSMOSecondByLevels(t *testing.T) {
	defer SetLevel(Active())
	rng := rand.New(rand.NewPCG(27, 28))
	const n = 300
	f, low, k, diag := make([]float64, n), make([]float64, n), make([]float32, n), make([]float64, n)
	chosen := map[int]bool{}
	for trial := range 300 {
		for j := range n {
			k[j], diag[j] = float32(rng.Float64()), 1
			f[j] = -math.Sqrt(2 - 2*float64(k[j])) // all gains are about 1
		}
		m := n - trial%40
		SetLevel(Portable)
		want, gain := SMOSecond(f[:m], low, k, diag, 0, 1, 1e-12)
		chosen[want] = true
		for l := AVX2; l <= Best(); l++ {
			SetLevel(l)
			if j, g := SMOSecond(f[:m], low, k, diag, 0, 1, 1e-12); j != want || g != gain {
				t.Fatalf("%v: %d with %v, portable %d with %v", l, j, g, want, gain)
			}
		}
	}
	if len(chosen) < 20 {
		t.Errorf("%d different choices: no rounding to be seen", len(chosen))
	}
}

func TestSMOPair(t *testing.T) { eachLevel(t, testSMOPair) }

func testSMOPair(t *testing.T) {
	rng := rand.New(rand.NewPCG(25, 26))
	for trial := range 2000 {
		n := 1 + rng.IntN(40)
		f, ki, kj := random[float64](rng, n), random[float64](rng, n), random[float64](rng, n)
		up, low, diag := make([]float64, n), make([]float64, n), random[float64](rng, n)
		for j := range n {
			f[j] = math.Round(2 * f[j]) // so that there are ties
			if rng.IntN(3) == 0 {
				up[j] = math.Inf(-1)
			}
			if rng.IntN(3) == 0 {
				low[j] = math.Inf(1)
			}
			if trial%5 == 0 && rng.IntN(4) == 0 {
				f[j] = []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[rng.IntN(3)]
			}
			if trial%7 == 0 {
				ki[j], kj[j] = 1, 1
			}
			if trial%3 == 0 && rng.IntN(4) == 0 {
				diag[j] = 2*ki[j] - 1 + []float64{0, 0x1p-50, -0x1p-50}[rng.IntN(3)] // κ about 0
			}
		}
		step := rng.NormFloat64()
		if trial%2 == 0 {
			step = 0
		}
		want, wi, wj, wmost, wleast := make([]float64, n), -1, -1, math.Inf(-1), math.Inf(1)
		for j := range n {
			diff := float64(ki[j]) - float64(kj[j])
			move := step * diff
			want[j] = f[j] - float64(move)
			if u := want[j] + up[j]; u >= wmost {
				wi, wmost = j, u
			}
			if l := want[j] + low[j]; l < wleast {
				wj, wleast = j, l
			}
		}
		i, j, most, least := SMOPair(f, ki, kj, up, low, step)
		same := slices.EqualFunc(f, want, func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) })
		if !same || i != wi || j != wj || most != wmost || least != wleast {
			t.Fatalf("n = %d: pair to %v with %d, %d, %v, %v; want %v with %d, %d, %v, %v", n, f, i, j, most, least, want, wi, wj, wmost, wleast)
		}

		fi, kii, tau, wj, wgain := rng.NormFloat64(), 1.0, 1e-12, -1, 0.0
		for j := range n {
			d := fi - f[j]
			if low[j] != 0 || !(d > 0) {
				continue
			}
			kappa := kii + diag[j]
			if kappa -= 2 * ki[j]; kappa <= 0 {
				kappa = tau
			}
			if g := float64(d*d) / kappa; g >= wgain {
				wj, wgain = j, g
			}
		}
		if j, gain := SMOPartner(f, low, ki, diag, fi, kii, tau); j != wj || gain != wgain {
			t.Fatalf("n = %d: partner is %d with %v, want %d with %v", n, j, gain, wj, wgain)
		}
	}
}

func BenchmarkSMO(b *testing.B) {
	b.Run("f64", benchSMO[float64])
	b.Run("f32", benchSMO[float32])
}

func benchSMO[T Float](b *testing.B) {
	const n = 1024
	rng := rand.New(rand.NewPCG(1, 2))
	f, k, zeros, diag := random[float64](rng, n), random[T](rng, 2*n), make([]float64, n), random[float64](rng, n)
	for l := Best(); l >= 0; l-- {
		b.Run(fmt.Sprint("Update/", l), func(b *testing.B) {
			defer SetLevel(SetLevel(l))
			for b.Loop() {
				SMOUpdate(f, k, k[n:], zeros, zeros, 1e-9)
			}
		})
		b.Run(fmt.Sprint("Second/", l), func(b *testing.B) {
			defer SetLevel(SetLevel(l))
			for b.Loop() {
				SMOSecond(f, zeros, k, diag, 1, 1, 1e-12)
			}
		})
	}
}
