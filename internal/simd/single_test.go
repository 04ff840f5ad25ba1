package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSMOSingle(t *testing.T) { eachLevel(t, testSMOSingle) }

// The definitions, by counting through.
func testSMOSingle(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	none, all := float32(math.Inf(-1)), float32(math.Inf(1))
	for trial := range 2000 {
		n := SingleLanes * rng.IntN(8)
		ki, kj, diag := random[float32](rng, n), random[float32](rng, n), random[float32](rng, n)
		rise, fall := make([]float32, n), make([]float32, n)
		for j := range rise {
			f := float32(math.Round(4 * rng.NormFloat64())) // so that there are ties
			if trial%5 == 0 && rng.IntN(4) == 0 {
				f = float32(math.NaN())
			}
			rise[j], fall[j] = f, f
			switch rng.IntN(3) {
			case 0:
				rise[j] = none
			case 1:
				fall[j] = all
			}
			if trial%7 == 0 {
				ki[j], kj[j], diag[j] = 1, 1, 4
			}
		}
		step := float32(rng.NormFloat64())
		if trial%2 == 0 {
			step = 0
		}
		wi, wmost, wleast := -1, none, all
		wrise, wfall := slices.Clone(rise), slices.Clone(fall)
		for j := range wrise {
			diff := ki[j] - kj[j]
			move := float32(step * diff)
			wrise[j] -= move
			wfall[j] -= move
			if wrise[j] > wmost {
				wi, wmost = j, wrise[j]
			}
			if wfall[j] < wleast {
				wleast = wfall[j]
			}
		}
		i, most, least := SMOUpdateSingle(rise, fall, ki, kj, step)
		same := func(a, b []float32) bool {
			return slices.EqualFunc(a, b, func(a, b float32) bool { return a == b || a != a && b != b })
		}
		if !same(rise, wrise) || !same(fall, wfall) || i != wi || most != wmost || least != wleast {
			t.Fatalf("n = %d: update to %v, %v with %d, %v, %v; want %v, %v with %d, %v, %v", n, rise, fall, i, most, least, wrise, wfall, wi, wmost, wleast)
		}
		const kii, tau = 1, 1e-6
		fi := float32(2 * rng.NormFloat64())
		gains, wj := make([]float64, n), -1
		for j := range gains {
			if d := fi - fall[j]; d > 0 {
				gains[j] = float64(d) * float64(d) / float64(max(tau, kii+diag[j]-2*ki[j]))
				if wj < 0 || gains[j] > gains[wj] {
					wj = j
				}
			}
		}
		switch j := SMOSecondSingle(fall, ki, diag, fi, kii, tau); {
		case trial%7 == 0 || wj < 0: // fractions are equal or far apart
			if j != wj {
				t.Fatalf("n = %d: second is %d, want %d", n, j, wj)
			}
		case j < 0 || gains[j] < gains[wj]*(1-0x1p-20):
			t.Fatalf("n = %d: second is %d of %v, want %d", n, j, gains, wj)
		}
	}
}

// All levels take the same path.
func TestSMOSingleByLevels(t *testing.T) {
	defer SetLevel(Active())
	const n = 320
	type step struct {
		i, j        int
		most, least float32
	}
	var want []step
	for l := Portable; l <= Best(); l++ {
		SetLevel(l)
		rng := rand.New(rand.NewPCG(33, 34))
		rise, fall, diag, k := random[float32](rng, n), make([]float32, n), make([]float32, n), random[float32](rng, n*n)
		copy(fall, rise)
		for j := range diag {
			diag[j] = 4
		}
		row := func(i int) []float32 { return k[i*n:][:n] }
		var path []step
		s := step{}
		for range 300 {
			s.i, s.most, s.least = SMOUpdateSingle(rise, fall, row(s.i), row(s.j), 0.01)
			s.j = SMOSecondSingle(fall, row(s.i), diag, s.most, 4, 1e-6)
			path = append(path, s)
		}
		if l == Portable {
			want = path
		} else if !slices.Equal(path, want) {
			t.Errorf("%v takes another path than the portable level", l)
		}
	}
}

func BenchmarkSMOSingle(b *testing.B) {
	for _, n := range []int{1024, 4096} {
		rng := rand.New(rand.NewPCG(1, 2))
		rise, fall, diag, k := make([]float32, n), make([]float32, n), make([]float32, n), random[float32](rng, 2*n)
		for l := Best(); l >= 0; l-- {
			b.Run(fmt.Sprint(n, "/Update/", l), func(b *testing.B) {
				defer SetLevel(SetLevel(l))
				for b.Loop() {
					SMOUpdateSingle(rise, fall, k[:n], k[n:], 1e-9)
				}
			})
			b.Run(fmt.Sprint(n, "/Second/", l), func(b *testing.B) {
				defer SetLevel(SetLevel(l))
				for b.Loop() {
					SMOSecondSingle(fall, k[:n], diag, 1, 1, 1e-6)
				}
			})
		}
	}
}
