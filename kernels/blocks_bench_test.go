package kernels

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/toy"
)

var blockSizes = []struct{ n, d int }{{10_000, 784}, {20_000, 50}}

func perSecond(b *testing.B, flop float64) {
	b.ReportMetric(flop*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

// Blocks of 512 rows, none of them held.
func BenchmarkHold(b *testing.B) {
	for _, s := range blockSizes {
		x := toy.Normal(1, s.n, s.d)
		for _, k := range []Kernel{RBF(0.1 / float64(s.d)), RBF(10), Polynomial(3, 1/float64(s.d), 1), Sum(RBF(0.1/float64(s.d)), Linear())} {
			b.Run(fmt.Sprintf("%dx%d/%v", s.n, s.d, k), func(b *testing.B) {
				const m = 512
				g, err := NewGram(k, x, m*4*int64(s.n))
				if err != nil {
					b.Fatal(err)
				}
				dst, order := make([][]float32, m), rand.New(rand.NewPCG(1, 2)).Perm(s.n)
				g.Hold(dst, order[:m]) // warm
				at := m
				b.ResetTimer()
				for b.Loop() {
					if at+m > s.n {
						at = 0
					}
					g.Hold(dst, order[at:at+m])
					at += m
				}
				perSecond(b, 2*m*float64(s.n)*float64(s.d))
			})
		}
	}
}

// What the first call of Hold takes before there is a row.
func BenchmarkFirstHold(b *testing.B) {
	for _, s := range blockSizes {
		x := toy.Normal(1, s.n, s.d)
		b.Run(fmt.Sprintf("%dx%d", s.n, s.d), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				g, err := NewGram(RBF(0.1/float64(s.d)), x, 0)
				if err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				holding(g)
			}
		})
		b.Run(fmt.Sprintf("NewGram/%dx%d", s.n, s.d), func(b *testing.B) {
			for b.Loop() {
				if _, err := NewGram(RBF(0.1/float64(s.d)), x, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkTimes(b *testing.B) {
	const m = 2000
	for _, s := range blockSizes {
		x := toy.Normal(1, s.n, s.d)
		b.Run(fmt.Sprintf("%dx%d", s.n, s.d), func(b *testing.B) {
			g, err := NewGram(RBF(0.1/float64(s.d)), x, 0)
			if err != nil {
				b.Fatal(err)
			}
			dst, coef, idx := make([]float64, s.n), make([]float64, m), rand.New(rand.NewPCG(1, 2)).Perm(s.n)[:m]
			for k := range coef {
				coef[k] = 1
			}
			_ = g.AddTo(context.Background(), dst, nil, nil, idx, coef, true)
			for b.Loop() {
				_ = g.AddTo(context.Background(), dst, nil, nil, idx, coef, true)
			}
			perSecond(b, 2*m*float64(s.n)*float64(s.d))
		})
	}
}

// a9a, sparse, blocks of 512 rows; the file is in the folder SVMNB_DATA.
func BenchmarkHoldSparse(b *testing.B) {
	x := a9a(b)
	for _, k := range []Kernel{RBF(0.05), RBF(100), Polynomial(3, 0.1, 1)} {
		b.Run(k.String(), func(b *testing.B) {
			const m = 512
			g, err := NewSparseGram(k, x, m*4*int64(x.N()))
			if err != nil {
				b.Fatal(err)
			}
			dst, order := make([][]float32, m), rand.New(rand.NewPCG(1, 2)).Perm(x.N())
			g.Hold(dst, order[:m])
			at := m
			b.ResetTimer()
			for b.Loop() {
				if at+m > x.N() {
					at = 0
				}
				g.Hold(dst, order[at:at+m])
				at += m
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/m, "µs/row")
		})
	}
	b.Run("Times", func(b *testing.B) {
		const m = 2000
		g, err := NewSparseGram(RBF(0.05), x, 0)
		if err != nil {
			b.Fatal(err)
		}
		dst, coef, idx := make([]float64, x.N()), make([]float64, m), rand.New(rand.NewPCG(1, 2)).Perm(x.N())[:m]
		_ = g.AddTo(context.Background(), dst, nil, nil, idx, coef, true)
		for b.Loop() {
			_ = g.AddTo(context.Background(), dst, nil, nil, idx, coef, true)
		}
		b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/m, "µs/row")
	})
}

// a9a reads the file of that name, compressed by xz.
func a9a(b *testing.B) CSR {
	dir := os.Getenv("SVMNB_DATA")
	if dir == "" {
		b.Skip("SVMNB_DATA names no folder with a9a.xz")
	}
	text, err := exec.Command("xz", "-dc", filepath.Join(dir, "a9a.xz")).Output()
	if err != nil {
		b.Skip("xz does not read a9a.xz: ", err)
	}
	s, err := datasets.ReadLIBSVMSparse(bytes.NewReader(text), 123)
	if err != nil {
		b.Fatal(err)
	}
	return CSR(*s.Sparse)
}

// 10,000 points of 784 features by 2,000 support vectors.
func BenchmarkBasisTimes(b *testing.B) {
	const n, d, m = 10_000, 784, 2000
	x := toy.Normal(1, n, d)
	basis, coef, dst := Against(RBF(0.1/d), x[:m]), make([]float64, m), make([]float64, n)
	basis.Times(dst, x, coef)
	for b.Loop() {
		basis.Times(dst, x, coef)
	}
	perSecond(b, 2*n*d*m)
}
