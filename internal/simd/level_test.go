package simd

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestLevels(t *testing.T) {
	for name, want := range map[string]Level{"": Best(), "nonsense": Best(), "portable": Portable, "AVX2": min(AVX2, Best()), "avx512": Best()} {
		if got := wanted(name); got != want {
			t.Errorf("SVMNB_SIMD=%s gives %v, want %v", name, got, want)
		}
	}
	defer SetLevel(Active())
	SetLevel(Portable)
	if before := SetLevel(99); before != Portable || Active() != Best() {
		t.Errorf("from portable to 99: before %v, now %v", before, Active())
	}
	if SetLevel(-1); Active() != Portable {
		t.Errorf("-1 is %v", Active())
	}
	if s := Level(7).String() + AVX512.String(); s != "unknownavx512" {
		t.Error(s)
	}
}

// Panels outlive a change of the level.
func TestPanelsKeepTheirLevel(t *testing.T) {
	defer SetLevel(Active())
	one := Matrix[float64]{Data: []float64{2, 3, 5, 7}, Rows: 2, Cols: 2, Stride: 2}
	for from := range Best() + 1 {
		for to := range Best() + 1 {
			var p Panels[float64]
			SetLevel(from)
			p.Pack(one, 1)
			SetLevel(to)
			c := Matrix[float64]{Data: make([]float64, 4), Rows: 2, Cols: 2, Stride: 2}
			Gemm[float64]{}.Do(c, one, &p)
			if want := []float64{19, 27, 45, 64}; !slices.Equal(c.Data, want) {
				t.Errorf("packed at %v, multiplied at %v: %v, want %v", from, to, c.Data, want)
			}
		}
	}
}

func TestMisfitsPanic(t *testing.T) {
	two := Matrix[float64]{Data: make([]float64, 4), Rows: 2, Cols: 2, Stride: 2}
	three := Matrix[float64]{Data: make([]float64, 9), Rows: 3, Cols: 3, Stride: 3}
	var p Panels[float64]
	p.Pack(two, 1)
	long, short := make([]float64, 4), make([]float64, 3)
	for name, f := range map[string]func(){
		"Do, shapes":    func() { Gemm[float64]{}.Do(three, three, &p) },
		"Do, transpose": func() { Gemm[float64]{}.Do(two.T(), two, &p) },
		"Pack, data":    func() { new(Panels[float64]).Pack(Matrix[float64]{Data: short, Rows: 2, Cols: 2, Stride: 2}, 1) },
		"Pack, stride":  func() { new(Panels[float64]).Pack(Matrix[float64]{Data: long, Rows: 2, Cols: 2, Stride: 1}, 1) },
		"Exp":           func() { Exp(short[:3:3], long, 1) },
		"Gaussian":      func() { Gaussian(long, 1, short[:3:3], 1) },
		"Dot":           func() { Dot(long, short[:3:3]) },
		"AddRows, c":    func() { AddRows(long, nil, [][]float64{long}, 0) },
		"AddRows, row":  func() { AddRows(long, long[:1], [][]float64{long}, 1) },
		"Add, B": func() {
			t := NewTiles[float64]()
			t.Add(make([]float64, 500), make([]float64, 500), long[:1:1], 2, nil)
		},
		"Add, A": func() {
			t := NewTiles[float64]()
			t.Add(make([]float64, 500), long[:1:1], make([]float64, 500), 2, nil)
		},
		"Add, C": func() {
			t := NewTiles[float64]()
			t.Add(long[:1:1], make([]float64, 500), make([]float64, 500), 1, nil)
		},
		"SubtractRows": func() { t := NewTiles[float64](); t.SubtractRows(make([]float64, 50), long[:1:1], long) },
		"SubtractDots": func() { t := NewTiles[float64](); t.SubtractDots(nil, nil, long[:1:1]) },
		"Divide":       func() { t := NewTiles[float64](); t.Divide(make([]float64, 500), long[:1:1]) },
		"Transpose":    func() { Transpose(short[:3:3], 2, long, 2, 2, 2) },
		"SMOUpdate":    func() { SMOUpdate(long, short[:3:3], long, long, long, 1) },
		"SMOSecond":    func() { SMOSecond(long, long, long, short[:3:3], 1, 1, 1) },
		"SMOPair":      func() { SMOPair(long, short[:3:3], long, long, long, 1) },
		"SMOPartner":   func() { SMOPartner(long, long, long, short[:3:3], 1, 1, 1) },
		"MulLanes":     func() { CSR[float64]{Start: []int{0, 0}}.MulLanes(long, 4, nil, 1, 0, 2) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

// Whatever the numbers and the length, the levels agree on what is NaN or
// infinite, and on the rest within the bound of rounding.
func FuzzLevels(f *testing.F) {
	for seed := range uint64(60) {
		f.Add(seed, uint16(7*seed), uint16(5*seed), seed%3 == 0)
	}
	f.Fuzz(func(t *testing.T, seed uint64, n, k uint16, special bool) {
		defer SetLevel(Active())
		n, k = n%700, k%300
		fuzzLevels[float64](t, seed, int(n), int(k), special)
		fuzzLevels[float32](t, seed, int(n), int(k), special)
	})
}

func fuzzLevels[T Float](t *testing.T, seed uint64, n, k int, special bool) {
	rng := rand.New(rand.NewPCG(seed, 1))
	draw := func(n int) []T {
		x := random[T](rng, n)
		for special && n > 0 && rng.IntN(3) > 0 {
			x[rng.IntN(n)] = T([]float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1)}[rng.IntN(5)])
		}
		return x
	}
	m := 1 + rng.IntN(12)
	a, b, norms := draw(m*k), draw(n*k), draw(n)
	y, coef := make([]float64, n), make([]float64, m)
	for j, v := range draw(n) {
		y[j] = float64(v)
	}
	for j, v := range draw(m) {
		coef[j] = float64(v)
	}
	type answers struct {
		product, map1, exp []T
		dot                float64
		sum                []float64
	}
	at := func(l Level) (r answers) {
		SetLevel(l)
		var p Panels[T]
		p.Pack(Matrix[T]{Data: b, Rows: n, Cols: k, Stride: k}.T(), 0)
		c := Matrix[T]{Data: make([]T, m*n), Rows: m, Cols: n, Stride: n}
		Gemm[T]{}.Do(c, Matrix[T]{Data: a, Rows: m, Cols: k, Stride: k}, &p)
		r.product, r.exp = c.Data, make([]T, n)
		r.map1 = slices.Clone(norms)
		Gaussian(r.map1, 1, norms, 0.3)
		Exp(r.exp, norms, -3)
		r.dot = Dot(norms, y)
		rows := make([][]T, m)
		for i := range rows {
			rows[i] = r.product[i*n : (i+1)*n]
		}
		if l > Portable { // the same rows for all
			rows = nil
		}
		r.sum = slices.Clone(y)
		AddRows(r.sum, coef[:len(rows)], rows, 0)
		return r
	}
	want := at(Portable)
	rows := make([][]T, m)
	for i := range rows {
		rows[i] = want.product[i*n : (i+1)*n]
	}
	for l := AVX2; l <= Best(); l++ {
		got := at(l)
		AddRows(got.sum, coef, rows, 0)
		for i := range m {
			for j := range n {
				size := 0.0
				for p := range k {
					size += math.Abs(float64(a[i*k+p]) * float64(b[j*k+p]))
				}
				near(t, l, "product", float64(got.product[i*n+j]), float64(want.product[i*n+j]), 2*float64(k+2)*unit[T]()*size)
			}
		}
		dot := 0.0
		for j := range n {
			w := float64(want.map1[j])
			near(t, l, "Gaussian", float64(got.map1[j]), w, 6*unit[T]()*w)
			w = float64(want.exp[j])
			near(t, l, "Exp", float64(got.exp[j]), w, 6*unit[T]()*w)
			dot += math.Abs(float64(norms[j]) * y[j])
			size := math.Abs(y[j])
			for i := range rows {
				size += math.Abs(coef[i] * float64(rows[i][j]))
			}
			near(t, l, "AddRows", got.sum[j], want.sum[j], 2*float64(m+2)*0x1p-53*size)
		}
		near(t, l, "Dot", got.dot, want.dot, 2*float64(n+2)*0x1p-53*dot)
	}
}

func near(t *testing.T, l Level, what string, got, want, bound float64) {
	t.Helper()
	if got == want || math.IsNaN(got) && math.IsNaN(want) || math.Abs(got-want) <= bound && !math.IsInf(got, 0) && !math.IsInf(want, 0) {
		return
	}
	t.Fatalf("%v: %s is %v, portable %v", l, what, got, want)
}
