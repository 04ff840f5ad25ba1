package steps

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/parallel"
	"github.com/svmnb/svmnb/internal/vec"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// NystroemMap is the fitted step of transform.Nystroem and of transform.KernelPCA.
type NystroemMap struct {
	Basis *kernels.Basis
	U     [][]float64 // Λ^−½U', one row for each new feature
	Shift []float64   // what is subtracted from each new feature: for KernelPCA, its mean before; otherwise nil

	Marks  points.Points
	Kernel kernels.Kernel
}

func (t NystroemMap) String() string {
	if t.Shift != nil {
		return fmt.Sprintf("KernelPCA(%s, %d)", say.Brief(t.Kernel.String()), len(t.U))
	}
	return fmt.Sprintf("Nystroem(%s, %d)", say.Brief(t.Kernel.String()), t.Marks.N())
}

func (t NystroemMap) call() string {
	if t.Shift != nil {
		return "KernelPCA"
	}
	return "Nystroem"
}

func (t NystroemMap) Names([]string) []string {
	if t.Shift == nil {
		return nil
	}
	return componentNames(len(t.U))
}

func (t NystroemMap) Apply(x [][]float64) ([][]float64, error) {
	return t.applyIn(make([]float64, len(x)*t.width()), x)
}

func (t NystroemMap) applyIn(all []float64, x [][]float64) ([][]float64, error) {
	if err := t.Basis.Check(x); err != nil {
		return nil, fmt.Errorf("svmnb: %s: %w", t.call(), err)
	}
	return madeIn(all, t, len(x), func(_ []float64, i int) []float64 { return x[i] }), nil
}

// made returns what a step makes of m rows, on all cores. row returns row i, in dst if it is
// not in memory.
func made(t singly, m int, row func(dst []float64, i int) []float64) [][]float64 {
	return madeIn(make([]float64, m*t.width()), t, m, row)
}

// madeIn is made in the memory of all.
func madeIn(all []float64, t singly, m int, row func(dst []float64, i int) []float64) [][]float64 {
	width, out := t.width(), make([][]float64, m)
	const block = 256 // rows that are worth a task
	tasks := (m + block - 1) / block
	_ = parallel.For(context.Background(), min(runtime.GOMAXPROCS(0), tasks), tasks, func(_, task int) {
		free := make([]float64, t.room())
		var x []float64
		for i := task * block; i < min((task+1)*block, m); i++ {
			out[i] = all[i*width : (i+1)*width : (i+1)*width]
			x = row(x, i)
			_ = t.one(out[i], x, free)
		}
	})
	return out
}

// ApplySparse implements transform.SparseTransform. It makes one point at a time dense.
func (t NystroemMap) ApplySparse(x datasets.CSR) (*datasets.CSR, [][]float64, error) {
	if err := t.Basis.CheckSparse(x); err != nil {
		return nil, nil, fmt.Errorf("svmnb: %s: %w", t.call(), err)
	}
	return nil, made(t, x.N(), x.Point), nil
}

func (t NystroemMap) width() int { return len(t.U) }
func (t NystroemMap) room() int  { return t.Basis.Len() }

func (t NystroemMap) one(dst, x, free []float64) error {
	free = t.Basis.Row(free, x)
	for c, u := range t.U {
		dst[c] = vec.Dot(u, free)
		if t.Shift != nil {
			dst[c] -= t.Shift[c]
		}
	}
	return nil
}

// FourierMap is the fitted step of transform.RandomFourier.
type FourierMap struct {
	W [][]float64
	B []float64
}

// FourierOf returns waves as a step, and the coefficients of its features in a sum that has
// the coefficients beta of the waves. The step has √(2/m) cos(ω·x + b); a sine is the cosine
// with b = −π/2.
func FourierOf(w *points.Waves, beta []float64) (t FourierMap, coef []float64) {
	half := len(w.Omega)
	t = FourierMap{W: slices.Concat(w.Omega, w.Omega), B: make([]float64, len(beta))}
	coef = make([]float64, len(beta))
	for j, v := range beta {
		coef[j] = v * math.Sqrt(w.Weight[j%half]) / math.Sqrt(2/float64(len(beta)))
		if j >= half {
			t.B[j] = -math.Pi / 2
		}
	}
	return t, coef
}

func (t FourierMap) String() string { return fmt.Sprintf("RandomFourier of %d features", len(t.W)) }

func (t FourierMap) Apply(x [][]float64) ([][]float64, error) {
	return t.applyIn(make([]float64, len(x)*t.width()), x)
}

func (t FourierMap) applyIn(all []float64, x [][]float64) ([][]float64, error) {
	for i, row := range x {
		if err := Wide("RandomFourier", i, row, len(t.W[0])); err != nil {
			return nil, err
		}
	}
	return madeIn(all, t, len(x), func(_ []float64, i int) []float64 { return x[i] }), nil
}

// ApplySparse implements transform.SparseTransform.
func (t FourierMap) ApplySparse(x datasets.CSR) (*datasets.CSR, [][]float64, error) {
	if d := len(t.W[0]); x.D != d {
		return nil, nil, arguments.Wrong("RandomFourier", float64(x.D), "the points have %s, the step was fitted to %d", say.Several(x.D, "feature"), d)
	}
	p := points.CSR(x)
	out, scale := make([][]float64, p.N()), math.Sqrt(2/float64(len(t.W)))
	for i := range out {
		out[i] = make([]float64, len(t.W))
		for c, w := range t.W {
			out[i][c] = scale * math.Cos(p.Dot(i, w, 0)+t.B[c])
		}
	}
	return nil, out, nil
}

func (t FourierMap) width() int { return len(t.W) }
func (t FourierMap) room() int  { return 0 }

func (t FourierMap) one(dst, x, _ []float64) error {
	scale := math.Sqrt(2 / float64(len(t.W)))
	for c, w := range t.W {
		sum := 0.0
		for j, v := range x {
			sum += w[j] * v
		}
		dst[c] = scale * math.Cos(sum+t.B[c])
	}
	return nil
}
