package simd

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Every level gives the bits of the portable one, and that the sums by their
// definition up to rounding.
func TestFigures(t *testing.T) {
	defer SetLevel(Active())
	rng := rand.New(rand.NewPCG(41, 42))
	for trial := range 3000 {
		n := rng.IntN(60)
		alpha, f, sign, p, lower, upper := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		var want Tally
		want.Up, want.Low = math.Inf(-1), math.Inf(1)
		b, gap, size := rng.NormFloat64(), 0.0, 1.0
		for i := range n {
			f[i], p[i], sign[i] = rng.NormFloat64(), rng.NormFloat64(), float64(2*rng.IntN(2)-1)
			lower[i], upper[i] = -float64(rng.IntN(2)), 1+float64(rng.IntN(2))
			if trial%3 == 0 && rng.IntN(3) == 0 {
				upper[i] = math.Inf(1)
			}
			switch alpha[i] = lower[i] + rng.Float64(); rng.IntN(3) {
			case 0:
				alpha[i] = lower[i]
			case 1:
				alpha[i] = min(upper[i], 2)
			}
			if trial%5 == 0 {
				f[i] = math.Round(f[i]) // some F equal b = 0
				b = 0
			}
			want.SF += alpha[i] * sign[i] * f[i]
			want.P += alpha[i] * p[i]
			want.S += alpha[i] * sign[i]
			rise, fall := upper[i]-alpha[i], alpha[i]-lower[i]
			if sign[i] < 0 {
				rise, fall = fall, rise
			}
			if rise > 0 {
				want.Up = max(want.Up, f[i])
			}
			if fall > 0 {
				want.Low = min(want.Low, f[i])
			}
			if alpha[i] > lower[i] && alpha[i] < upper[i] {
				want.Free++
				want.Sum += f[i]
			} else if alpha[i] > lower[i] {
				want.AtUpper++
			}
			g := sign[i] * (b - f[i])
			if g > 0 {
				gap += g * (alpha[i] - lower[i])
			}
			if g < 0 {
				gap += -g * (upper[i] - alpha[i])
			}
			size += math.Abs(f[i]) + math.Abs(p[i])
		}
		SetLevel(Portable)
		first, firstGap := Summarise(alpha, f, sign, p, lower, upper), Gap(alpha, f, sign, lower, upper, b)
		near := func(got, want float64) bool { return got == want || math.Abs(got-want) <= 1e-13*size }
		if !near(first.SF, want.SF) || !near(first.P, want.P) || !near(first.S, want.S) || !near(first.Sum, want.Sum) || !near(firstGap, gap) ||
			first.Up != want.Up || first.Low != want.Low || first.Free != want.Free || first.AtUpper != want.AtUpper {
			t.Fatalf("%d variables: %+v with gap %v, want %+v with gap %v", n, first, firstGap, want, gap)
		}
		for level := range Best() + 1 {
			SetLevel(level)
			if got, g := Summarise(alpha, f, sign, p, lower, upper), Gap(alpha, f, sign, lower, upper, b); got != first || g != firstGap {
				t.Fatalf("%v, %d variables: %+v with gap %v, portable %+v with gap %v", level, n, got, g, first, firstGap)
			}
		}
	}
}

// Neither keeps what it is given: a number alone stays on the stack.
func TestNamedLoopsDoNotAllocate(t *testing.T) {
	v := make([]float64, 40)
	if allocs := testing.AllocsPerRun(100, func() {
		one := [1]float64{0.5}
		ExpScaled(one[:], -1)
		SquaredDistances(one[:], one[:], one[:], 1)
		v[0] = one[0] + Gap(v, v, v, v, v, 0) + Summarise(v, v, v, v, v, v).SF
	}); allocs != 0 {
		t.Errorf("%g allocations", allocs)
	}
}
