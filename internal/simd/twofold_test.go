package simd

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// Every level gives the bits of the portable one, and the sums are those of exact arithmetic to
// twice the working precision, however much the products cancel.
func TestTwofold(t *testing.T) {
	defer SetLevel(Active())
	rng := rand.New(rand.NewPCG(51, 52))
	for trial := range 500 {
		n := rng.IntN(70)
		x, y := make([]float64, n), make([]float64, n)
		exact, size := new(big.Float).SetPrec(3000), 0.0
		for i := range x {
			x[i], y[i] = math.Ldexp(rng.NormFloat64(), rng.IntN(60)), rng.NormFloat64()
			if trial%2 == 0 && i%2 == 1 { // the two products nearly cancel
				x[i], y[i] = -x[i-1], y[i-1]+math.Ldexp(rng.NormFloat64(), -50)
			}
		}
		at := n / 3
		var want Twofold
		for level := range Best() + 1 {
			SetLevel(level)
			var got Twofold
			got.Add(x[:at], y[:at])
			got.Add(x[at:], y[at:])
			if level == 0 {
				want = got
			} else if got != want {
				t.Fatalf("%v, %d products: %v, portable %v", level, n, got, want)
			}
		}
		for i, v := range x {
			exact.Add(exact, new(big.Float).SetPrec(3000).Mul(big.NewFloat(v), big.NewFloat(y[i])))
			size += math.Abs(v * y[i])
		}
		sum, all := new(big.Float).SetPrec(3000), 0.0
		for j := range 8 {
			sum.Add(sum, big.NewFloat(want.Sum[j]))
			sum.Add(sum, big.NewFloat(want.Rest[j]))
			all += want.Size[j]
		}
		off, _ := sum.Sub(sum, exact).Float64()
		if !(math.Abs(off) <= float64(n*n)*0x1p-104*size) || !(math.Abs(all-size) <= 1e-14*size) {
			t.Fatalf("%d products of sizes %v: off by %v, sizes %v", n, size, off, all)
		}
	}
}
