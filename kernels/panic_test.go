package kernels

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
)

// brittle is a linear kernel that panics at the pair of points whose first features are A
// and B. The others are the same by a function of the dot product or the distance, which
// can see less: brittleDot wants to know x·z, brittleRadial ‖x − z‖².
type brittle struct{ A, B float64 }

func (k brittle) Eval(x, z []float64) float64 {
	if x[0] == k.A && z[0] == k.B || x[0] == k.B && z[0] == k.A {
		panic("a bad pair")
	}
	return 1 + x[0]*z[0]
}
func (brittle) Check() error     { return nil }
func (k brittle) String() string { return fmt.Sprintf("brittle(%v, %v)", k.A, k.B) }

type brittleDot struct{ Dot float64 }

func (k brittleDot) Eval(x, z []float64) float64 { return k.OfDot(x[0]*z[0] + x[1]*z[1]) }
func (k brittleDot) OfDot(dot float64) float64 {
	if dot > k.Dot-1e7 && dot < k.Dot+1e7 {
		panic("a bad product")
	}
	return dot
}
func (brittleDot) Check() error     { return nil }
func (k brittleDot) String() string { return fmt.Sprintf("brittleDot(%v)", k.Dot) }

type brittleRadial struct{ R2 float64 }

func (k brittleRadial) Eval(x, z []float64) float64 {
	return k.OfSquaredDistance((x[0]-z[0])*(x[0]-z[0]) + (x[1]-z[1])*(x[1]-z[1]))
}
func (k brittleRadial) OfSquaredDistance(r2 float64) float64 {
	if r2 > k.R2-1e8 && r2 < k.R2+1e8 {
		panic("a bad distance")
	}
	return 1 / (1 + r2/1e6)
}
func (brittleRadial) Check() error     { return nil }
func (k brittleRadial) String() string { return fmt.Sprintf("brittleRadial(%v)", k.R2) }

// brittlePoints lie on a line, two of them apart from it: only they are at a distance of
// 5000² from each other, or have a product of 10⁹.
func brittlePoints(n, i, j int) [][]float64 {
	x := make([][]float64, n)
	for k := range x {
		x[k] = []float64{float64(k), 0}
	}
	x[i][1], x[j][1] = 1e5, 1e4
	return x
}

// panics says whose panic comes out of f.
func panicOf(f func()) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *PanicError:
			err = p
		default:
			err = fmt.Errorf("%T: %v", p, p)
		}
	}()
	f()
	return nil
}

// Whoever asks a matrix or a basis for the values of a kernel that panics gets a panic
// that names the kernel and the pair, in its own goroutine, wherever the kernel was called.
func TestKernelPanics(t *testing.T) {
	for _, n := range []int{30, 700} { // one by one, in blocks
		i, j := n/3, n-4
		dot, r2 := 1e9+float64(i*j), 9e4*9e4+float64((i-j)*(i-j))
		for _, k := range []Kernel{
			brittle{float64(i), float64(j)}, brittleDot{dot}, brittleRadial{r2},
			Sum(RBF(1), brittle{float64(i), float64(j)}), Sum(Linear(), brittleDot{dot}), Scale(2, brittleRadial{r2}),
			Product(Linear(), brittle{float64(i), float64(j)}), Fixed(brittleRadial{r2}),
		} {
			x := brittlePoints(n, i, j)
			idx := make([]int, n)
			coef, dst := make([]float64, n), make([]float64, n)
			rows := make([][]float32, n)
			for a := range idx {
				idx[a], coef[a], rows[a] = a, 1, make([]float32, n)
			}
			var g *Gram
			for name, do := range map[string]func(){
				"Row, up":   func() { g.Row(i); g.Row(j) },
				"Row, down": func() { g.Row(j); g.Row(i) },
				"Row, all": func() {
					for a := range n {
						g.Row((a*11 + 5) % n)
					}
				},
				"Row, again": func() { _ = panicOf(func() { g.Row(i) }); g.Row(i); g.Row(j) },
				"Sweep":      func() { _ = g.Sweep(context.Background(), 0, func(int, int, [][]float64) {}) },
				"Sweep, lower": func() {
					g.Row(0)
					_ = g.Sweep(context.Background(), 1, func(int, int, [][]float64) {})
				},
				"Sweep, blocks": func() { _ = g.Sweep(context.Background(), 8, func(int, int, [][]float64) {}) },
				"Hold":          func() { g.Hold(rows[:9], []int{1, 2, 3, i, 5, 6, 7, 8, 9}) },
				"AddTo, exact":  func() { _ = g.AddTo(context.Background(), dst, nil, nil, idx, coef, true) },
				"Among":         func() { g.Among(make([]float32, 9), []int{i, 2, j}, nil, nil) },
				"AddTo":         func() { _ = g.AddTo(context.Background(), dst, nil, nil, idx, coef, false) },
				"Basis.Times":   func() { Against(k, x).Times(dst, x, coef) },
			} {
				for _, cache := range []int64{0, NoCache, int64(8 * 5 * n)} {
					var err error
					if g, err = NewGram(k, x, cache); err != nil {
						t.Fatal(err)
					}
					if name == "Hold" && g.Room() < 9 {
						continue
					}
					err = panicOf(do)
					e, ok := err.(*PanicError)
					if !ok {
						t.Errorf("%v, n = %d, %s, cache %d: %v", k, n, name, cache, err)
						continue
					}
					if min(e.I, e.J) != i || max(e.I, e.J) != j || !strings.HasPrefix(e.What, "the kernel brittle") || !strings.HasPrefix(fmt.Sprint(e.Value), "a bad ") || !strings.HasPrefix(e.Where, "panic_test.go:") {
						t.Errorf("%v, n = %d, %s, cache %d: %v; want points %d and %d", k, n, name, cache, e, i, j)
					}
				}
			}
			row := panicOf(func() { Against(k, x[:j+1]).Row(nil, x[i]) })
			if row == nil || !strings.Contains(row.Error(), fmt.Sprintf("at a new point and point %d", j)) {
				t.Errorf("%v, n = %d, Basis.Row: %v; want point %d", k, n, row, j)
			}
		}
	}
}

// A kernel that panics at a point with itself, or at its own name, is an error of NewGram.
func TestKernelPanicsOnTheDiagonal(t *testing.T) {
	x := brittlePoints(30, 3, 4)
	var e *PanicError
	for _, k := range []Kernel{brittle{7, 7}, Sum(RBF(1), brittle{7, 7}), Product(RBF(1), brittle{7, 7}), Columns(brittle{7, 7}, 0)} {
		_, err := NewGram(k, x, 0)
		if !errors.As(err, &e) || e.I != 7 || e.J != 7 {
			t.Errorf("%v: %v", k, err)
		}
		_, err = NewSparseGram(k, CSR{Start: []int{0, 1, 2, 3, 4, 5, 6, 7, 8}, Index: make([]int32, 8), Value: []float64{0, 1, 2, 3, 4, 5, 6, 7}, D: 2}, 0)
		if !errors.As(err, &e) || e.I != 7 || e.J != 7 {
			t.Errorf("%v, sparse: %v", k, err)
		}
	}
	if _, err := NewGram(Normalised(brittle{7, 7}), x, 0); !errors.As(err, &e) || !strings.Contains(err.Error(), "the kernel Normalised(brittle(7, 7)) panicked") {
		t.Errorf("Normalised: %v", err)
	}
	if _, err := NewGram((*nilKernel)(nil), x, 0); !errors.As(err, &e) || !strings.Contains(err.Error(), "not svmnb's panicked") {
		t.Errorf("a nil pointer for a kernel: %v", err)
	}
}

type nilKernel struct{ gamma float64 }

func (k *nilKernel) Eval(x, z []float64) float64 { return k.gamma * x[0] * z[0] }
func (k *nilKernel) Check() error                { _ = k.gamma; return nil }
func (k *nilKernel) String() string              { return fmt.Sprint(k.gamma) }

// A kernel that panics once, as one with a shared buffer may, leaves no row behind that is
// not computed.
func TestRowAfterPanic(t *testing.T) {
	x := brittlePoints(40, 3, 4)
	want, err := NewGram(Linear(), x, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, cache := range []int64{0, NoCache, 8 * 40 * 5} {
		k := &once{}
		g, err := NewGram(k, x, cache)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 40 {
			k.at.Store(int64(i*3 + 1))
			_ = panicOf(func() { g.Row(i) })
			_ = panicOf(func() { g.Row((i + 11) % 40) })
			k.at.Store(0)
			for _, a := range []int{i, (i + 11) % 40} {
				row := g.Row(a)
				for b, v := range want.Row(a) {
					if row[b] != v {
						t.Fatalf("cache %d: K(%d, %d) is %v after a panic, want %v", cache, a, b, row[b], v)
					}
				}
			}
		}
	}
}

type once struct{ at atomic.Int64 }

func (k *once) Eval(x, z []float64) float64 {
	if k.at.Load() > 0 && k.at.Add(-1) == 0 {
		panic("now")
	}
	return Linear().Eval(x, z)
}
func (*once) Check() error   { return nil }
func (*once) String() string { return "once" }
