package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// eachLevel runs test at every level that the machine has.
func eachLevel(t *testing.T, test func(t *testing.T)) {
	for l := range Best() + 1 {
		t.Run(l.String(), func(t *testing.T) {
			defer SetLevel(SetLevel(l))
			test(t)
		})
	}
}

func unit[T Float]() float64 {
	if any(*new(T)) == any(float32(0)) {
		return 0x1p-24
	}
	return 0x1p-53
}

func random[T Float](rng *rand.Rand, n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(rng.NormFloat64())
	}
	return x
}

func (m Matrix[T]) entry(i, j int) float64 {
	if m.transposed {
		i, j = j, i
	}
	return float64(m.Data[i*m.Stride+j])
}

// randomMatrix has some numbers between its rows, which nothing may touch.
func randomMatrix[T Float](rng *rand.Rand, rows, cols int, transposed bool) Matrix[T] {
	if transposed {
		return randomMatrix[T](rng, cols, rows, false).T()
	}
	stride := cols + rng.IntN(4)
	return Matrix[T]{Data: random[T](rng, rows*stride), Rows: rows, Cols: cols, Stride: stride}
}

// TestBlock: parts of a view and of a transpose have its entries, and nothing
// beyond them can be had.
func TestBlock(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for trial := range 200 {
		m := randomMatrix[float64](rng, 1+rng.IntN(7), 1+rng.IntN(7), trial%2 == 0)
		i, j := rng.IntN(m.Rows+1), rng.IntN(m.Cols+1)
		b := m.Block(i, i+rng.IntN(m.Rows-i+1), j, j+rng.IntN(m.Cols-j+1))
		b.check("block")
		for r := range b.Rows {
			for c := range b.Cols {
				if b.entry(r, c) != m.entry(i+r, j+c) {
					t.Fatalf("entry %d, %d of the block at %d, %d", r, c, i, j)
				}
			}
		}
	}
	m := randomMatrix[float64](rng, 3, 4, false)
	for _, c := range [][4]int{{-1, 2, 0, 1}, {2, 1, 0, 1}, {0, 4, 0, 1}, {0, 1, 0, 5}, {0, 1, 3, 2}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("block %v of 3×4 does not panic", c)
				}
			}()
			m.Block(c[0], c[1], c[2], c[3])
		}()
	}
}

func testGemm[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	sizes := []int{1, 2, 3, 7, 8, 9, 23, 24, 25, 48, 49, 100, 191, 192, 193, 200, 385}
	for trial := range 150 {
		m, n, k := sizes[rng.IntN(len(sizes))], sizes[rng.IntN(len(sizes))], rng.IntN(20)
		if trial%3 == 0 {
			k = sizes[rng.IntN(len(sizes))]
		}
		if trial%4 == 0 {
			m = 1
		}
		if trial%10 == 0 {
			n = 400 + rng.IntN(1200)
		}
		a, b := randomMatrix[T](rng, m, k, trial%2 == 0), randomMatrix[T](rng, k, n, trial%5 < 3)
		c := randomMatrix[T](rng, m, n, false)
		was := slices.Clone(c.Data)
		g := Gemm[T]{Add: rng.IntN(2) == 0, Minus: rng.IntN(2) == 0, Lower: rng.IntN(3) == 0, Threads: rng.IntN(3)}
		var p Panels[T]
		p.Pack(b, g.Threads)
		g.Do(c, a, &p)
		for i := range m {
			for j := range c.Stride {
				at := i*c.Stride + j
				if at >= len(c.Data) {
					break
				}
				if j >= n || g.Lower && j > i {
					if c.Data[at] != was[at] {
						t.Fatalf("%d×%d×%d %+v: entry %d, %d was written", m, n, k, g, i, j)
					}
					continue
				}
				sum, size := 0.0, 0.0
				for l := range k {
					v := a.entry(i, l) * b.entry(l, j)
					sum, size = sum+v, size+math.Abs(v)
				}
				if g.Minus {
					sum = -sum
				}
				if g.Add || g.Minus {
					sum, size = sum+float64(was[at]), size+math.Abs(float64(was[at]))
				}
				if got := float64(c.Data[at]); !(math.Abs(got-sum) <= float64(k+2)*unit[T]()*size) {
					t.Fatalf("%d×%d×%d %+v: entry %d, %d is %v, want %v", m, n, k, g, i, j, got, sum)
				}
			}
		}
	}
}

func TestGemm(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("f64", testGemm[float64])
		t.Run("f32", testGemm[float32])
	})
}

// Parts of the right-hand matrix give the product that the whole gives, bit for bit.
func TestPart(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(3, 4))
		for _, depth := range []int{1, 192, 193, 500, 768} {
			a, b := randomMatrix[float64](rng, 21, depth, false), randomMatrix[float64](rng, depth, 50, false)
			whole, parts := randomMatrix[float64](rng, 21, 50, false), randomMatrix[float64](rng, 21, 50, false)
			var p Panels[float64]
			p.Pack(b, 1)
			Gemm[float64]{Threads: 1}.Do(whole, a, &p)
			for k := 0; k < depth; k += 384 {
				part := p.Part(k, min(k+384, depth))
				Gemm[float64]{Add: k > 0, Threads: 1}.Do(parts, a.Block(0, 21, k, min(k+384, depth)), &part)
			}
			for i := range 21 {
				for j := range 50 {
					if got, want := parts.entry(i, j), whole.entry(i, j); got != want {
						t.Fatalf("depth %d: entry %d, %d is %v by parts, %v as a whole", depth, i, j, got, want)
					}
				}
			}
		}
	})
}

func BenchmarkGemm(b *testing.B) {
	b.Run("f64", benchGemm[float64])
	b.Run("f32", benchGemm[float32])
}

func benchGemm[T Float](b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, s := range []struct{ m, n, k int }{{512, 10000, 784}, {512, 10000, 50}, {1024, 1024, 1024}, {2000, 2000, 192}} {
		x := Matrix[T]{Data: random[T](rng, s.m*s.k), Rows: s.m, Cols: s.k, Stride: s.k}
		z := Matrix[T]{Data: random[T](rng, s.n*s.k), Rows: s.n, Cols: s.k, Stride: s.k}
		c := Matrix[T]{Data: make([]T, s.m*s.n), Rows: s.m, Cols: s.n, Stride: s.n}
		for l := Best(); l >= 0; l-- {
			for _, threads := range []int{1, 2} {
				if l == Portable && (threads > 1 || s.m != 1024) {
					continue
				}
				b.Run(fmt.Sprintf("%dx%dx%d/%v/%d", s.m, s.n, s.k, l, threads), func(b *testing.B) {
					defer SetLevel(SetLevel(l))
					var p Panels[T]
					p.Pack(z.T(), threads)
					Gemm[T]{Threads: threads}.Do(c, x, &p) // fresh memory is slow
					for b.Loop() {
						Gemm[T]{Threads: threads}.Do(c, x, &p)
					}
					b.ReportMetric(2*float64(s.m)*float64(s.n)*float64(s.k)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
				})
			}
		}
	}
}

// Rows of a Gram matrix, Gaussian kernel: the product and the map.
func BenchmarkGram(b *testing.B) {
	b.Run("f64", benchGram[float64])
	b.Run("f32", benchGram[float32])
}

func benchGram[T Float](b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, s := range []struct{ m, n, d int }{{512, 10000, 784}, {512, 20000, 50}, {512, 20000, 8}} {
		x := Matrix[T]{Data: random[T](rng, s.n*s.d), Rows: s.n, Cols: s.d, Stride: s.d}
		norms := make([]T, s.n)
		for i := range norms {
			norms[i] = T(s.d)
		}
		some := x
		some.Rows = s.m
		rows := Matrix[T]{Data: make([]T, s.m*s.n), Rows: s.m, Cols: s.n, Stride: s.n}
		for l := Best(); l > Portable; l-- {
			for _, threads := range []int{1, 2} {
				b.Run(fmt.Sprintf("%dx%dx%d/%v/%d", s.m, s.n, s.d, l, threads), func(b *testing.B) {
					defer SetLevel(SetLevel(l))
					var p Panels[T]
					p.Pack(x.T(), threads)
					g := Gemm[T]{Threads: threads, Then: func(i, j int, c []T) { Gaussian(c, norms[i], norms[j:], 0.5/T(s.d)) }}
					g.Do(rows, some, &p)
					for b.Loop() {
						g.Do(rows, some, &p)
					}
					values := float64(s.m) * float64(s.n) * float64(b.N)
					b.ReportMetric(b.Elapsed().Seconds()*1e9/values, "ns/value")
				})
			}
		}
	}
}
