package simd

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// exact returns eˣ to 200 bits: the series at x/1024, squared ten times.
func exact(x float64) *big.Float {
	number := func(v float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(v) }
	r := number(math.Ldexp(x, -10))
	sum, term := number(1), number(1)
	for i := 1; i < 50; i++ {
		term.Mul(term, r).Quo(term, number(float64(i)))
		sum.Add(sum, term)
	}
	for range 10 {
		sum.Mul(sum, sum)
	}
	return sum
}

// off returns |got − want| over the larger of bound·want and one unit of the last
// place of subnormal numbers.
func off(got float64, want *big.Float, bound, least float64) float64 {
	diff, _ := new(big.Float).Sub(want, big.NewFloat(got)).Float64()
	w, _ := want.Float64()
	return math.Abs(diff) / max(bound*w, least)
}

func TestExp(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(3, 4))
		for range 1000 {
			x := rng.Float64()*1453 - 744
			switch rng.IntN(3) {
			case 0:
				x = rng.NormFloat64()
			case 1:
				x = -rng.ExpFloat64() * 20
			}
			dst := []float64{0}
			Exp(dst, []float64{x}, 1)
			if e := off(dst[0], exact(x), 4e-16, 5e-324); e > 1 {
				t.Errorf("exp(%v) = %v is %.2f of the bound away", x, dst[0], e)
			}
			x32, dst32 := float32(x/8.3), []float32{0}
			Exp(dst32, []float32{x32}, 1)
			if e := off(float64(dst32[0]), exact(float64(x32)), 1.2e-7, 0x1p-149); e > 1 && x32 < 88.7 {
				t.Errorf("exp(%v) = %v is %.2f of the bound away", x32, dst32[0], e)
			}
		}
		testEdges[float64](t, 709.782712893384, 709.7827128933841, -745.13)
		testEdges[float32](t, 88.72283, 88.72284, -103.97)
	})
}

// testEdges takes the largest number with a finite exponential, the next, and
// one just above where it becomes zero.
func testEdges[T Float](t *testing.T, last, over, least T) {
	inf := T(math.Inf(1))
	for _, c := range []struct {
		x    T
		want func(v T) bool
	}{
		{0, func(v T) bool { return v == 1 }},
		{T(math.Copysign(0, -1)), func(v T) bool { return v == 1 }},
		{last, func(v T) bool { return v < inf && v > 1e38 }},
		{over, func(v T) bool { return v == inf }},
		{1e30, func(v T) bool { return v == inf }},
		{inf, func(v T) bool { return v == inf }},
		{least, func(v T) bool { return v > 0 }},
		{least - 1, func(v T) bool { return v == 0 }},
		{-1e30, func(v T) bool { return v == 0 }},
		{-inf, func(v T) bool { return v == 0 }},
		{T(math.NaN()), func(v T) bool { return v != v }},
	} {
		dst := []T{7}
		Exp(dst, []T{c.x}, 1)
		if !c.want(dst[0]) {
			t.Errorf("exp(%T(%v)) = %v", c.x, c.x, dst[0])
		}
	}
}

func TestGaussian(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("f64", func(t *testing.T) { testGaussian[float64](t, 4e-16) })
		t.Run("f32", func(t *testing.T) { testGaussian[float32](t, 1e-7) })
	})
}

func testGaussian[T Float](t *testing.T, bound float64) {
	rng := rand.New(rand.NewPCG(5, 6))
	for n := range 100 {
		dots, b, gamma, a := random[T](rng, n), random[T](rng, n), T(rng.ExpFloat64()), T(rng.ExpFloat64())
		got := slices.Clone(dots)
		Gaussian(got, a, b, gamma)
		for j := range got {
			s := a + b[j]
			s -= 2 * dots[j]
			exponent := float64(-gamma * max(0, s))
			if unit[T]() > 0x1p-30 { // of g and the distance nothing but the result is rounded
				s = max(a, b[j]) - 2*dots[j]
				s += min(a, b[j])
				exponent = -math.Ln2 * (float64(gamma*T(math.Log2E)) * float64(max(0, s)))
			}
			want := exact(exponent)
			if e := off(float64(got[j]), want, bound, 0); e > 1 {
				t.Errorf("entry %d of %d is %v, %.2f of the bound away", j, n, got[j], e)
			}
		}
	}
	inf, nan := T(math.Inf(1)), T(math.NaN())
	got := []T{nan, 0, 0, inf, -inf, 3}
	Gaussian(got, 1, []T{1, nan, inf, 1, 1, 1}, 2)
	if got[0] == got[0] || got[1] == got[1] || !slices.Equal(got[2:], []T{0, 1, 0, 1}) {
		t.Errorf("NaN and infinite numbers give %v, want NaN, NaN, 0, 1, 0, 1", got)
	}
	one := []T{0}
	if Gaussian(one, nan, []T{1}, 2); one[0] == one[0] {
		t.Errorf("a norm that is NaN gives %v", one[0])
	}
	Gaussian([]T{}, 1, nil, 1)
}

// The last digits of both norms count, although their sum would lose them.
func TestLastDigitsOfNorms(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		const ulp = 0x1p-23 // of numbers from 1 to 2
		var b, got []float32
		for k := range 40 {
			b, got = append(b, 1+float32(k)*ulp), append(got, 1)
		}
		Gaussian(got, 1+ulp, b, 0x1p19)
		for k, v := range got {
			if want := math.Exp(-float64(1+k) / 16); !(math.Abs(float64(v)-want) <= 1e-6*want) {
				t.Errorf("distance² %d ulp: value %v, want %v", 1+k, v, want)
			}
		}
		t.Run("f64", testLastDigits[float64])
		t.Run("f32", testLastDigits[float32])
	})
}

func testLastDigits[T Float](t *testing.T) {
	const rows, columns = 9, 50
	ulp := 2 * unit[T]()
	ones := func(n int) Matrix[T] {
		x := Matrix[T]{Data: make([]T, n), Rows: n, Cols: 1, Stride: 1}
		for i := range x.Data {
			x.Data[i] = 1
		}
		return x
	}
	norms := func(n int) (norm []float64) {
		for i := range n {
			norm = append(norm, 1+float64(i)*ulp)
		}
		return norm
	}
	var g Gaussians[T]
	var b Panels[T]
	b.Pack(ones(columns).T(), 1)
	if !g.Set(ones(rows), norms(rows), norms(rows), math.Ln2/ulp/16) {
		t.Skip("this level has no such loop")
	}
	heights := g.Heights(nil, norms(columns))
	sums, values := make([]float64, columns), make([]T, rows*columns)
	g.AddTo(sums, &b, heights)
	if g.HasValues() {
		g.Values(Matrix[T]{Data: values, Rows: rows, Cols: columns, Stride: columns}, &b, heights)
	}
	for j := range columns {
		want := 0.0
		for r := range rows {
			v := math.Exp2(-float64(r+j) / 16)
			want += v
			if got := float64(values[r*columns+j]); g.HasValues() && !(math.Abs(got-v) <= 16*ulp*v) {
				t.Errorf("distance² %d ulp: value %v, want %v", r+j, got, v)
			}
		}
		if !(math.Abs(sums[j]-want) <= 16*ulp*want) {
			t.Errorf("sum %d is %v, want %v", j, sums[j], want)
		}
	}
}

// In single precision, 2⁻ˢ for distances s of all sizes.
func TestGaussianSingle(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		var s []float32
		for bits := uint32(0); bits < math.Float32bits(200); bits += 40_009 {
			s = append(s, math.Float32frombits(bits))
		}
		s = append(s, math.MaxFloat32)
		got := make([]float32, len(s))
		Gaussian(got, 0, s, math.Ln2)
		for j, v := range s {
			if want := math.Exp2(-float64(v)); v < 125 && !(math.Abs(float64(got[j])-want) <= 1e-7*want) || v >= 125 && got[j] != 0 {
				t.Fatalf("2^−%v is %v, want %v", v, got[j], want)
			}
		}
	})
}

func TestDot(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("f64", testDot[float64])
		t.Run("f32", testDot[float32])
	})
}

func testDot[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for n := range 300 {
		x, y := random[T](rng, n), random[float64](rng, n)
		sum, size := new(big.Float).SetPrec(200), 0.0
		for j := range x {
			sum.Add(sum, new(big.Float).SetPrec(200).Mul(big.NewFloat(float64(x[j])), big.NewFloat(y[j])))
			size += math.Abs(float64(x[j]) * y[j])
		}
		got := Dot(x, y)
		diff, _ := new(big.Float).Sub(sum, big.NewFloat(got)).Float64()
		if !(math.Abs(diff) <= float64(n+2)*0x1p-53*size) {
			t.Errorf("n = %d: %v, want %v", n, got, sum)
		}
		if n > 0 {
			x[rng.IntN(n)] = T(math.NaN())
			if got := Dot(x, y); !math.IsNaN(got) {
				t.Errorf("n = %d: %v, want NaN", n, got)
			}
		}
	}
}

func TestAddRows(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("f64", testAddRows[float64])
		t.Run("f32", testAddRows[float32])
	})
}

func testAddRows[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for trial := range 200 {
		n, q, from := rng.IntN(70), rng.IntN(11), rng.IntN(9)
		if trial%20 == 0 {
			n += 1020
		}
		rows := make([][]T, q)
		for r := range rows {
			rows[r] = random[T](rng, from+n+rng.IntN(3))
		}
		c, y := random[float64](rng, q), random[float64](rng, n+1)
		was := slices.Clone(y)
		AddRows(y[:n], c, rows, from)
		for j := range n {
			want, size := was[j], math.Abs(was[j])
			for r := range rows {
				v := c[r] * float64(rows[r][from+j])
				want, size = want+v, size+math.Abs(v)
			}
			if !(math.Abs(y[j]-want) <= float64(q+2)*0x1p-53*size) {
				t.Fatalf("n = %d, q = %d: entry %d is %v, want %v", n, q, j, y[j], want)
			}
		}
		if y[n] != was[n] {
			t.Fatalf("n = %d: the entry behind the last was written", n)
		}
		one, each := slices.Clone(was), slices.Clone(was)
		for r := range rows {
			AddRows(one[:n], c[r:r+1], rows[r:r+1], from)
			Axpy(c[r], rows[r][from:from+n], each)
		}
		if !slices.Equal(one, y) || !slices.Equal(each, y) {
			t.Fatalf("n = %d, q = %d: row by row %v and %v, all at once %v", n, q, one, each, y)
		}
	}
}

func TestTranspose(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("f64", testTranspose[float64])
		t.Run("f32", testTranspose[float32])
	})
}

func testTranspose[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for range 200 {
		rows, columns := rng.IntN(50), rng.IntN(50)
		from, to := columns+rng.IntN(3), rows+rng.IntN(3)
		src, dst := random[T](rng, rows*from), random[T](rng, columns*to)
		was := slices.Clone(dst)
		Transpose(dst, to, src, from, rows, columns)
		for c := range columns {
			for r := range to {
				want := was[c*to+r]
				if r < rows {
					want = src[r*from+c]
				}
				if dst[c*to+r] != want {
					t.Fatalf("%d×%d: row %d of column %d is %v, want %v", rows, columns, r, c, dst[c*to+r], want)
				}
			}
		}
	}
}

func TestCSR(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("f64", testCSR[float64])
		t.Run("f32", testCSR[float32])
	})
}

func randomCSR[T Float](rng *rand.Rand, n, d int, share float64) (m CSR[T], dense [][]float64) {
	m.Start = []int{0}
	for range n {
		row := make([]float64, d)
		for k := range d {
			if rng.Float64() < share {
				v := T(rng.NormFloat64())
				m.Col, m.Val, row[k] = append(m.Col, int32(k)), append(m.Val, v), float64(v)
			}
		}
		m.Start, dense = append(m.Start, len(m.Val)), append(dense, row)
	}
	return m, dense
}

func testCSR[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for range 60 {
		n, d := 1+rng.IntN(150), 1+rng.IntN(40)
		m, dense := randomCSR[T](rng, n, d, rng.Float64())
		rows := rng.Perm(n)[:min(n, rng.IntN(Lanes[T]()+1))]
		w := make([]T, Lanes[T]()*d)
		m.Spread(w, rows)
		from := rng.IntN(n)
		to := from + rng.IntN(n-from+1)
		ld := to - from + rng.IntN(3)
		dst := make([]T, len(rows)*ld)
		m.MulLanes(dst, ld, w, len(rows), from, to)
		for l, r := range rows {
			for j := from; j < to; j++ {
				want, size := 0.0, 0.0
				for k := range d {
					v := dense[r][k] * dense[j][k]
					want, size = want+v, size+math.Abs(v)
				}
				if got := float64(dst[l*ld+j-from]); !(math.Abs(got-want) <= float64(d+2)*unit[T]()*size) {
					t.Fatalf("%d×%d: rows %d and %d have %v, want %v", n, d, r, j, got, want)
				}
			}
		}
		if half := Lanes[T]() / 2; len(rows) > half {
			few := make([]T, half*ld) // by the loop of half of the lanes
			m.MulLanes(few, ld, w, half, from, to)
			for l := range half {
				if !slices.Equal(few[l*ld:][:to-from], dst[l*ld:][:to-from]) {
					t.Fatalf("%d×%d: row %d has other bits among fewer", n, d, rows[l])
				}
			}
		}
		m.Clear(w, rows)
		if slices.ContainsFunc(w, func(v T) bool { return v != 0 }) {
			t.Fatal("Clear leaves something")
		}
	}
}

// What an element is does not depend on where it stands, on the shape of the
// product, or on the number of goroutines; and A·Aᵀ is symmetric.
func TestSameBits(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("f64", testSameBits[float64])
		t.Run("f32", testSameBits[float32])
	})
}

func testSameBits[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	for _, d := range []int{1, 5, 192, 193, 500} {
		const n = 450
		x := randomMatrix[T](rng, n, d, false)
		var p Panels[T]
		p.Pack(x.T(), 2)
		full := Matrix[T]{Data: make([]T, n*n), Rows: n, Cols: n, Stride: n}
		Gemm[T]{Threads: 2}.Do(full, x, &p)
		for i := range n {
			for j := range i {
				if full.Data[i*n+j] != full.Data[j*n+i] {
					t.Fatalf("d = %d: entry %d, %d is not that of %d, %d", d, i, j, j, i)
				}
			}
		}
		for range 20 {
			i, m := rng.IntN(n), 1+rng.IntN(3)
			m = min(m, n-i)
			part := Matrix[T]{Data: make([]T, m*n), Rows: m, Cols: n, Stride: n}
			Gemm[T]{Threads: 1}.Do(part, Matrix[T]{Data: x.Data[i*x.Stride:], Rows: m, Cols: d, Stride: x.Stride}, &p)
			if !slices.Equal(part.Data, full.Data[i*n:(i+m)*n]) {
				t.Fatalf("d = %d: rows %d to %d differ from those of the whole", d, i, i+m)
			}
		}
	}
	v, b := random[T](rng, 77), random[T](rng, 77)
	whole, exp := slices.Clone(v), make([]T, 77)
	Gaussian(whole, 1, b, 0.5)
	Exp(exp, v, 0.7)
	for j := range v {
		alone, e := []T{v[j]}, []T{0}
		Gaussian(alone, 1, b[j:], 0.5)
		Exp(e, v[j:j+1], 0.7)
		if alone[0] != whole[j] || e[0] != exp[j] {
			t.Errorf("entry %d alone differs from the one in the slice", j)
		}
	}
}

func TestThen(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(17, 18))
		for _, s := range []struct{ m, n, k int }{{1, 900, 3}, {300, 900, 200}, {7, 5, 0}} {
			for _, lower := range []bool{false, true} {
				a, b := randomMatrix[float64](rng, s.m, s.k, false), randomMatrix[float64](rng, s.k, s.n, false)
				var p Panels[float64]
				p.Pack(b, 0)
				plain := Matrix[float64]{Data: make([]float64, s.m*s.n), Rows: s.m, Cols: s.n, Stride: s.n}
				mapped := Matrix[float64]{Data: make([]float64, s.m*s.n), Rows: s.m, Cols: s.n, Stride: s.n}
				Gemm[float64]{Lower: lower}.Do(plain, a, &p)
				Gemm[float64]{Lower: lower, Then: func(i, j int, c []float64) {
					for at := range c {
						c[at] += float64(1000*i + j + at + 1)
					}
				}}.Do(mapped, a, &p)
				for i := range s.m {
					for j := range s.n {
						want := plain.Data[i*s.n+j]
						if !lower || j <= i {
							want += float64(1000*i + j + 1)
						}
						if got := mapped.Data[i*s.n+j]; got != want {
							t.Fatalf("%+v, lower %v: entry %d, %d is %v, want %v", s, lower, i, j, got, want)
						}
					}
				}
			}
		}
	})
}

var raceDetector bool

func TestAllocations(t *testing.T) {
	if raceDetector {
		t.Skip("sync.Pool forgets at random under the race detector")
	}
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(19, 20))
		x := randomMatrix[float32](rng, 300, 200, false)
		c := randomMatrix[float32](rng, 300, 300, false)
		y, coef, rows := random[float64](rng, 200), []float64{1}, [][]float32{x.Data}
		m, _ := randomCSR[float32](rng, 100, 20, 0.5)
		w := make([]float32, Lanes[float32]()*20)
		var p Panels[float32]
		all := func() {
			p.Pack(x.T(), 0)
			Gemm[float32]{}.Do(c, x, &p)
			Exp(c.Data, c.Data, 0)
			Dot(c.Data[:100], y)
			AddRows(y, coef, rows, 0)
			Axpy(2, c.Data[:100], y)
			m.MulLanes(c.Data, 100, w, Lanes[float32](), 0, 100)
			SMOUpdate(y, c.Data, c.Data, y, y, 0)
		}
		// A collection empties the pools, so that one call in many may allocate.
		if n := testing.AllocsPerRun(50, all); n >= 1 {
			t.Errorf("%v allocations", n)
		}
	})
}

func BenchmarkVectors(b *testing.B) {
	b.Run("f64", benchVectors[float64])
	b.Run("f32", benchVectors[float32])
}

func benchVectors[T Float](b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n, q = 1024, 64
	x, z, y, coef := random[T](rng, n), random[T](rng, n), random[float64](rng, n), random[float64](rng, q)
	rows := make([][]T, q)
	for r := range rows {
		rows[r] = random[T](rng, n)
	}
	points := Matrix[T]{Data: random[T](rng, 5000*50), Rows: 5000, Cols: 50, Stride: 50}
	var p Panels[T]
	p.Pack(points.T(), 1)
	row := Matrix[T]{Data: make([]T, 5000), Rows: 1, Cols: 5000, Stride: 5000}
	m, _ := randomCSR[T](rng, 10000, 123, 14./123)
	w, products := make([]T, Lanes[T]()*123), make([]T, Lanes[T]()*10000)
	m.Spread(w, rng.Perm(10000)[:Lanes[T]()])
	square := random[T](rng, 1024*1024)
	turned := make([]T, 1024*1024)
	for _, c := range []struct {
		name string
		of   float64 // elements
		f    func()
	}{
		{"Exp", n, func() { Exp(z, x, -1) }},
		{"Gaussian", n, func() { Gaussian(z, 1, x, 0.5) }},
		{"Dot", n, func() { Dot(x, y) }},
		{"Axpy", n, func() { Axpy(1e-9, x, y) }},
		{"AddRows", n * q, func() { AddRows(y, coef, rows, 0) }},
		{"Row5000x50", 5000 * 50, func() {
			Gemm[T]{Threads: 1}.Do(row, Matrix[T]{Data: points.Data, Rows: 1, Cols: 50, Stride: 50}, &p)
		}},
		{"MulLanes", float64(Lanes[T]() * len(m.Val)), func() { m.MulLanes(products, 10000, w, Lanes[T](), 0, 10000) }},
		{"Transpose", 1024 * 1024, func() { Transpose(turned, 1024, square, 1024, 1024, 1024) }},
		{"Pack", 5000 * 50, func() { p.Pack(points.T(), 1) }},
	} {
		for l := Best(); l >= 0; l-- {
			b.Run(fmt.Sprintf("%s/%v", c.name, l), func(b *testing.B) {
				defer SetLevel(SetLevel(l))
				p.Pack(points.T(), 1)
				for b.Loop() {
					c.f()
				}
				perElement := float64(b.Elapsed().Nanoseconds()) / float64(b.N) / c.of
				b.ReportMetric(perElement, "ns/element")
				b.ReportMetric(2/perElement, "GFLOP/s")
			})
		}
	}
}

// Rows that are not in any cache.
func BenchmarkStream(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n, q = 20000, 512
	rows := make([][]float32, q)
	for r := range rows {
		rows[r] = random[float32](rng, n)
	}
	y, c := random[float64](rng, n), random[float64](rng, q)
	for _, f := range []struct {
		name string
		f    func()
	}{
		{"AddRows", func() { AddRows(y, c, rows, 0) }},
		{"Dot", func() {
			for r := range rows {
				c[r] = Dot(rows[r], y)
			}
		}},
	} {
		b.Run(f.name, func(b *testing.B) {
			for b.Loop() {
				f.f()
			}
			b.ReportMetric(4*n*q*float64(b.N)/b.Elapsed().Seconds()/1e9, "GB/s")
		})
	}
}
