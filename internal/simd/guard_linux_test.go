package simd

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"unsafe"
)

// guarded returns n elements between pages that must not be touched, next to the
// one behind or, if front, to the one before.
func guarded[T Float | int | int32](t *testing.T, n int, front bool) []T {
	page := syscall.Getpagesize()
	size := int(unsafe.Sizeof(*new(T)))
	data := (max(1, n*size) + page - 1) / page * page
	m, err := syscall.Mmap(-1, 0, data+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Munmap(m) })
	for _, edge := range [][]byte{m[:page], m[page+data:]} {
		if err := syscall.Mprotect(edge, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	at := page
	if !front {
		at += data - n*size
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&m[at])), n)
}

// Nothing is read or written outside of a slice: the program would die.
func TestGuardPages(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("f64", testGuardPages[float64])
		t.Run("f32", testGuardPages[float32])
	})
}

func testGuardPages[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 24))
	for _, front := range []bool{false, true} {
		for n := range 70 {
			x, z, y, diag := guarded[T](t, n, front), guarded[T](t, n, front), guarded[float64](t, n, front), guarded[float64](t, n, front)
			Exp(z, x, 1)
			Gaussian(z, 1, x, 1)
			Dot(x, y)
			Axpy(1, x, y)
			AddRows(y, []float64{1, 2, 3, 4, 5}, [][]T{x, z, x, z, x}, 0)
			SMOUpdate(y, x, z, diag, diag, 1)
			SMOSecond(y, diag, x, diag, 1, 1, 1)
			SMOPair(y, diag, diag, diag, diag, 1)
			SMOPartner(y, diag, diag, diag, 1, 1, 1)
		}
		for range 60 {
			m, n, k := 1+rng.IntN(20), 1+rng.IntN(70), rng.IntN(40)
			view := func(rows, cols int) Matrix[T] {
				return Matrix[T]{Data: guarded[T](t, rows*cols, front), Rows: rows, Cols: cols, Stride: cols}
			}
			var p Panels[T]
			p.Pack(view(n, k).T(), 1)
			copied := guarded[T](t, len(p.data), front)
			copy(copied, p.data)
			p.data = copied
			Gemm[T]{Threads: 1}.Do(view(m, n), view(m, k), &p)
			Gemm[T]{Threads: 1, Add: true}.Do(view(1, n), view(k, 1).T(), &p)
			Transpose(guarded[T](t, m*n, front), m, guarded[T](t, m*n, front), n, m, n)

			s, _ := randomCSR[T](rng, n, m, 0.3)
			g := CSR[T]{guarded[int](t, n+1, front), guarded[int32](t, len(s.Col), front), guarded[T](t, len(s.Val), front)}
			copy(g.Start, s.Start)
			copy(g.Col, s.Col)
			copy(g.Val, s.Val)
			for _, lanes := range []int{5, Lanes[T]()} {
				g.MulLanes(guarded[T](t, lanes*n, front), n, guarded[T](t, Lanes[T]()*m, front), lanes, 0, n)
			}
		}
	}
}
