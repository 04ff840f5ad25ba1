package audit

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

func sumsOf(t *testing.T, k [][]float64, coef []float64) Sums {
	t.Helper()
	s, err := OfKernel(context.Background(), len(k), [][]float64{coef}, func(i, j int) float64 { return k[i][j] })
	if err != nil {
		t.Fatal(err)
	}
	return s[0]
}

func bigs(v float64) *big.Float { return new(big.Float).SetPrec(2000).SetFloat64(v) }

// TestSumsOf106Bits holds sums that cancel to exact ones.
func TestSumsOf106Bits(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var sum dd
		want, size := bigs(0), 0.0
		for range 50 {
			a, b := math.Ldexp(rng.NormFloat64(), rng.IntN(80)-40), math.Ldexp(rng.NormFloat64(), rng.IntN(80)-40)
			sum = sum.plus(product(a, b)).minus(product(a, b).by(0.5)).plus(product(a, b).over(exact(3)))
			p := new(big.Float).Mul(bigs(a), bigs(b))
			want.Add(want, new(big.Float).Quo(p, bigs(2)))
			want.Add(want, new(big.Float).Quo(p, bigs(3)))
			size += math.Abs(a * b)
		}
		off, _ := want.Sub(want, bigs(sum.hi)).Sub(want, bigs(sum.lo)).Float64()
		if math.Abs(off) > 0x1p-97*size {
			t.Errorf("off by %.2g of %.2g", off, size)
		}
	}
}

// TestTwoPoints is worked out by hand: x = ±1, K = xz, C = 1 and larger, with α = ¼ and
// f = ½x + b. W = ½ − ½·½² = 3/8; every margin misses ½, so P = ⅛ + 2C·½.
func TestTwoPoints(t *testing.T) {
	k, s, alpha := [][]float64{{1, -1}, {-1, 1}}, []float64{1, -1}, []float64{0.25, 0.25}
	sums := sumsOf(t, k, []float64{0.25, -0.25})
	inf := math.Inf(1)
	free := []float64{-1, -1}
	for _, c := range []struct {
		name         string
		p            Programme
		primal, dual float64
		upLow        float64
	}{
		{"1-norm", Programme{Upper: []float64{1, 1}}, 1.0/8 + 1, 3.0 / 8, 1},
		{"1-norm, C = 3", Programme{Upper: []float64{3, 3}}, 1.0/8 + 3, 3.0 / 8, 1},
		{"1-norm, unequal costs: the bias helps the dear one", Programme{Upper: []float64{1, 5}}, 1.0/8 + 1, 3.0 / 8, 1},
		{"2-norm, C = 2", Programme{Upper: []float64{inf, inf}, Ridge: []float64{0.5, 0.5}}, 1.0/8 + 2*0.25, 3.0/8 - 1.0/32, 1 - 2*0.125},
		{"hard: twice this w is feasible", Programme{Upper: []float64{inf, inf}}, 4.0 / 8, 3.0 / 8, 1},
		{"bias fixed at ½", Programme{Upper: []float64{1, 1}, FixedBias: true, Bias: 0.5}, 1.0/8 + 1, 3.0 / 8, 1},
	} {
		c.p.S, c.p.P, c.p.Lower = s, free, make([]float64, 2)
		r := c.p.Of(alpha, sums, 0, 0)
		if math.Abs(r.Primal-c.primal) > 1e-15 || math.Abs(r.Dual-c.dual) > 1e-15 || math.Abs(r.Gap-(c.primal-c.dual)) > 1e-15 || r.Equality != 0 || r.Box != 0 || r.Norm2 != 0.25 || math.Abs(r.UpLow-c.upLow) > 1e-15 {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
	// ν: Σα = ½, so t₊ = t₋ at the margin ½ cost nothing: P = ½‖w‖² − ½·½.
	p := Programme{S: s, P: []float64{0, 0}, Lower: make([]float64, 2), Upper: []float64{1, 1}, PerClass: true, Sum: 0.5}
	if r := p.Of(alpha, sums, 0, 0.5); r.Gap != 0 || r.Dual != -0.125 || r.Primal != -0.125 || r.Violation != 0 {
		t.Errorf("ν: %+v", r)
	}
}

func random(rng *rand.Rand, n int) (p Programme, alpha []float64, k [][]float64, coef []float64) {
	d := 1 + rng.IntN(4)
	x := make([][]float64, n)
	for i := range x {
		for range d {
			x[i] = append(x[i], rng.NormFloat64())
		}
	}
	k = make([][]float64, n)
	for i := range k {
		for j := range x {
			r := 0.0
			for c := range d {
				r += (x[i][c] - x[j][c]) * (x[i][c] - x[j][c])
			}
			k[i] = append(k[i], math.Exp(-r/2))
		}
	}
	withRidge := rng.IntN(3) == 0
	p.PerClass = rng.IntN(3) == 0
	p.FixedBias, p.Bias = !p.PerClass && rng.IntN(3) == 0, rng.NormFloat64()
	for range n {
		s := float64(2*rng.IntN(2) - 1)
		lower, width := 0.0, math.Exp(4*rng.NormFloat64())
		if rng.IntN(3) == 0 {
			lower = rng.NormFloat64()
		}
		upper := lower + width
		ridge := 0.0
		if withRidge {
			ridge = rng.Float64()
			if rng.IntN(2) == 0 {
				upper = math.Inf(1)
			}
		}
		p.S, p.P = append(p.S, s), append(p.P, rng.NormFloat64())
		p.Lower, p.Upper, p.Ridge = append(p.Lower, lower), append(p.Upper, upper), append(p.Ridge, ridge)
		a := []float64{lower, lower + width, lower + width*rng.Float64()}[rng.IntN(3)]
		alpha, coef = append(alpha, a), append(coef, s*a)
		p.Delta += s * a
		p.Sum += a
	}
	if !withRidge {
		p.Ridge = nil
	}
	return p, alpha, k, coef
}

// TestBestBias looks for a better bias than the one of the audit, and finds the terms of
// the gap, whose sum it is, by their definition.
func TestBestBias(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		p, alpha, k, coef := random(rng, 1+rng.IntN(20))
		sums := sumsOf(t, k, coef)
		r := p.Of(alpha, sums, 0, 0)
		gap := func(plus, minus float64) float64 { // at these multipliers of the classes
			sum := 0.0
			for v, a := range alpha {
				b := plus
				if p.S[v] < 0 {
					b = minus
				}
				g, ridge := p.S[v]*sums.At(v)+p.P[v]+p.S[v]*b, p.ridge(v)
				x := p.Lower[v]
				if g < 0 {
					x = p.Upper[v]
				}
				if ridge > 0 {
					x = min(max(-g/ridge, p.Lower[v]), p.Upper[v])
				}
				sum += (a-x)*g + ridge*(a*a-x*x)/2
			}
			return sum
		}
		for range 100 {
			plus, minus := 3*rng.NormFloat64(), 3*rng.NormFloat64()
			switch {
			case p.FixedBias:
				plus, minus = p.Bias, p.Bias
			case !p.PerClass:
				minus = plus
			}
			other := gap(plus, minus)
			if tol := 1e-12 * (1 + math.Abs(r.Primal)); r.Gap > other+tol || p.FixedBias && math.Abs(r.Gap-other) > tol {
				t.Fatalf("gap %.15g, but %.15g at b = %v, %v: %+v", r.Gap, other, plus, minus, p)
			}
		}
		if r.Gap < -1e-12 {
			t.Fatalf("gap %g", r.Gap)
		}
	}
}

// TestRoundingIsABound moves all kernel values by as much as they may be off, and by the
// sixteenth more that rounding of the product adds.
func TestRoundingIsABound(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		p, alpha, k, coef := random(rng, 2+rng.IntN(20))
		first := p.Of(alpha, sumsOf(t, k, coef), 0.5, 0)
		for i := range k {
			for j := range i + 1 {
				k[i][j] *= 1 + ulps*float64(2*rng.IntN(2)-1)
				k[j][i] = k[i][j]
			}
		}
		second := p.Of(alpha, sumsOf(t, k, coef), 0.5, 0)
		if d := math.Abs(first.Gap - second.Gap); d > first.Rounding*1.07 {
			t.Errorf("the gap moved by %.3g, rounding is to be at most %.3g", d, first.Rounding)
		}
		if d := max(math.Abs(first.Violation-second.Violation), math.Abs(first.UpLow-second.UpLow)); d > first.ViolationRounding*1.07 {
			t.Errorf("a violation moved by %.3g, rounding is to be at most %.3g", d, first.ViolationRounding)
		}
	}
}

// TestPointsAreLikeTheirKernel: far from the origin x·z has lost the digits that the sums
// over the points keep.
func TestPointsAreLikeTheirKernel(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, offset := range []float64{0, 1e4, 1e8} {
		n, d := 15, 3
		x, coef := make([][]float64, n), make([]float64, n)
		for i := range x {
			coef[i] = rng.NormFloat64()
			for range d {
				x[i] = append(x[i], offset+rng.NormFloat64())
			}
		}
		s, err := OfPoints(context.Background(), n, d, [][]float64{coef}, func(i int, do func(int, float64)) {
			for j, v := range x[i] {
				do(j, v)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := range x {
			want := bigs(0)
			for j := range x {
				for c := range d {
					want.Add(want, new(big.Float).Mul(bigs(coef[j]), new(big.Float).Mul(bigs(x[i][c]), bigs(x[j][c]))))
				}
			}
			if v, _ := want.Float64(); math.Abs(v-s[0].At(i)) > s[0].off(i)+0x1p-52*math.Abs(v) {
				t.Errorf("offset %g: %.17g, exactly %.17g", offset, s[0].At(i), v)
			}
		}
	}
}

// TestJoint: two classes are the machine without a bias and with 2C, at half of its W.
func TestJoint(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for range 50 {
		_, _, k, _ := random(rng, 2+rng.IntN(10))
		n := len(k)
		two := Programme{FixedBias: true}
		joint := Joint{Classes: 2}
		var alpha, pairs, coef []float64
		coefs := [][]float64{nil, nil}
		for range n {
			y, c := rng.IntN(2), math.Exp(rng.NormFloat64())
			s := float64(2*y - 1)
			a := []float64{0, 2 * c, 2 * c * rng.Float64()}[rng.IntN(3)]
			joint.Y, joint.C = append(joint.Y, y), append(joint.C, c)
			two.S, two.P, two.Lower, two.Upper = append(two.S, s), append(two.P, -1), append(two.Lower, 0), append(two.Upper, 2*c)
			alpha, coef = append(alpha, a), append(coef, s*a)
			own := [2]float64{-s * a / 2, s * a / 2}
			pairs = append(pairs, own[:]...)
			coefs[0], coefs[1] = append(coefs[0], own[0]), append(coefs[1], own[1])
		}
		sums, err := OfKernel(context.Background(), n, coefs, func(i, j int) float64 { return k[i][j] })
		if err != nil {
			t.Fatal(err)
		}
		one, other := two.Of(alpha, sumsOf(t, k, coef), 0, 0), joint.Of(pairs, sums)
		if math.Abs(one.Dual/2-other.Dual) > 1e-12*(1+math.Abs(one.Dual)) || math.Abs(one.Primal/2-other.Primal) > 1e-12*(1+one.Primal) || math.Abs(one.Gap/2-other.Gap) > 1e-12*(1+one.Primal) || other.Box > 0 || other.Equality > 0 {
			t.Fatalf("two classes %+v, jointly %+v", one, other)
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		_, err := OfKernel(context.Background(), 3, [][]float64{{0, 1, 0}}, func(i, j int) float64 {
			if i == 2 {
				return v
			}
			return 1
		})
		var bad *ValueError
		if !errors.As(err, &bad) || bad.Row != 2 || bad.Column != 1 {
			t.Errorf("%v: %v", v, err)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := OfKernel(ctx, 1, [][]float64{{1}}, func(i, j int) float64 { return 1 }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := OfPoints(ctx, 1, 1, [][]float64{{1}}, func(i int, do func(int, float64)) {}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestLargeAlpha: two points ±x of a hard margin have α = 1/(2x²) each and W = 1/(2x²), where
// α² itself overflows.
func TestLargeAlpha(t *testing.T) {
	infinite := math.Inf(1)
	for _, x2 := range []float64{1, 1e-100, 1e-150, 1e-160, 1e-163, 1e-200, 1e100, 1e150} {
		a := 0.5 / x2
		p := Programme{S: []float64{1, -1}, P: []float64{-1, -1}, Lower: []float64{0, 0}, Upper: []float64{infinite, infinite}}
		r := p.Of([]float64{a, a}, sumsOf(t, [][]float64{{x2, -x2}, {-x2, x2}}, []float64{a, -a}), 0, 0)
		for name, v := range map[string]float64{"W": r.Dual, "P": r.Primal, "‖w‖²/2": r.Norm2 / 2} {
			if !(math.Abs(v-a) <= 1e-12*a) {
				t.Errorf("x² = %g: %s = %g, want %g", x2, name, v, a)
			}
		}
		if !(math.Abs(r.Gap) <= 1e-12*a) {
			t.Errorf("x² = %g: gap %g", x2, r.Gap)
		}
	}
}

// TestAgainst: a figure that differs is named.
func TestAgainst(t *testing.T) {
	r := Report{Dual: 1, Primal: 2, Gap: 1, Violation: 0.5, Norm2: 3, Rounding: 1e-12, ViolationRounding: 1e-12}
	same := Claims{Dual: 1, Primal: 2, Gap: 1, Violation: 0.5, Norm2: 3}
	if err := r.Against(same, 1); err != nil {
		t.Error(err)
	}
	for _, change := range []func(*Claims){
		func(c *Claims) { c.Dual = 1.001 }, func(c *Claims) { c.Primal = math.Inf(1) }, func(c *Claims) { c.Gap = math.NaN() },
		func(c *Claims) { c.Violation = 0 }, func(c *Claims) { c.Norm2 = -3 },
	} {
		c := same
		change(&c)
		if r.Against(c, 1) == nil {
			t.Errorf("%+v passes", c)
		}
	}
}
