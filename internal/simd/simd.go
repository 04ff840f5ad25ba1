// Package simd has those inner loops of the library that must be fast: products of matrices,
// the maps that turn dot products into kernel values, sums over rows, and the two passes of
// sequential minimal optimisation.
//
// Each loop exists three times: in assembly for AVX-512 and for AVX2, and in portable Go for
// all other machines. The level is chosen once, when the program starts. The environment
// variable SVMNB_SIMD, set to avx2 or portable, selects a lower level than the machine has.
// The test cache of go test does not notice a change of this variable, so use -count=1 with
// it.
//
// At one level, an element has the same bits at any place in a slice, in any batch and on any
// number of goroutines, and entry (i, j) of A·Aᵀ has the bits of (j, i). Two levels differ by
// rounding, since the vector units fuse multiply and add: |error| ≤ (k + 2)·u·Σ|a_i b_i| for
// each sum of k products, with u = 2⁻⁵³ or 2⁻²⁴. [SMOUpdate], [SMOSecond], [SMOUpdateSingle],
// [SMOSecondSingle], [SMOPair], [SMOPartner], [Dots], [SquaredDistances], [ExpScaled],
// [Summarise] and [Gap] have the same bits at all levels.
//
// NaN and ±Inf are treated as in Go. Nothing is allocated after the first calls. A length that
// does not fit is a mistake of the caller and panics like an index out of range.
//
// The assembly is written by the program in gen, a module of its own.
package simd

//go:generate sh -c "cd gen && go run . -out ../kernels_amd64.s -stubs ../kernels_amd64.go -pkg simd"

import (
	"os"
	"strings"
	"sync"
)

// Float is the type of the numbers in matrices and kernel rows.
type Float interface{ float32 | float64 }

// Level is a set of instructions: portable Go, AVX2 or AVX-512.
type Level int

const (
	Portable Level = iota
	AVX2           // with FMA and BMI2
	AVX512         // F, DQ, BW, VL
)

var levelNames = [...]string{"portable", "avx2", "avx512"}

// String returns the name of the level, as SVMNB_SIMD takes it.
func (l Level) String() string {
	if l < Portable || l > AVX512 {
		return "unknown"
	}
	return levelNames[l]
}

// table has the loops of one level for one element type. portable.go defines what each
// computes.
type table[T Float] struct {
	rows, columns int // of a tile
	lanes         int // rows of a strip to transpose; 0 if there is no such loop

	tile           func(k int, a, b, c *T, ldc int, to uint8, ahead int)
	cross          func(k int, a, b, c *T, ldc int, to uint8, ahead int)
	divide         func(l, c *T)
	lessRows       func(k int, b *T, x, y *float64)
	lessDots       func(k int, b *T, x, y *float64)
	row1, row4     func(k int, a, b *T, stride int, c *T, to uint8)
	exp            func(dst, x *T, n int, scale T)
	gaussian       func(dst, b *T, n int, a, gamma T)
	gaussianSums   func(k int, a, b *T, count int, left, right, weight *T, scale float64, sums *float64) // see Gaussians; nil if there is no such loop
	gaussianBoth   func(k int, a, b *T, count int, left, right, weight *T, scale float64, sums, other, rows *float64)
	gaussianValues func(k int, a, b *T, count int, left, right, c *T, ldc int)
	dot            func(x *T, y *float64, n int) float64
	axpy           func(c float64, x *T, y *float64, n int)
	axpy4          func(c *float64, rows *[]T, from int, y *float64, n int)
	sparse         [2]sparseLoop[T] // for all lanes, and for half of them
	transpose      func(dst *T, to int, src *T, from, blocks int)
	smoUpdate      func(f *float64, ki, kj *T, up, low *float64, n int, t float64) (i int, most, least float64)
	smoLanes       int // number of sequences in a call of smoSecond
	smoSecond      func(f, low *float64, ki *T, diag *float64, n int, fi, kii, tau float64) (j int, gain float64)

	scratch *sync.Pool // of *[]T
	jobs    *sync.Pool // of *job[T]
}

// machine has the tables of all levels that this machine can run, beginning with the portable
// one.
var machine = append([]tables{{portable[float32](), portable[float64]()}}, native()...)

type tables struct {
	f32 *table[float32]
	f64 *table[float64]
}

var active = wanted(os.Getenv("SVMNB_SIMD"))

// wanted returns the level of the given name, or the best level if there is none.
func wanted(name string) Level {
	for l, s := range levelNames {
		if strings.EqualFold(name, s) {
			return min(Level(l), Best())
		}
	}
	return Best()
}

// Best returns the highest level of this machine.
func Best() Level { return Level(len(machine) - 1) }

// Active returns the level in use.
func Active() Level { return active }

// SetLevel changes the active level to l, or to the best level that the machine has if l is
// higher. It returns the level before. It is for tests: nothing else of the package may run
// meanwhile.
func SetLevel(l Level) (before Level) {
	before, active = active, max(Portable, min(l, Best()))
	return before
}

// loops returns the table of the active level.
func loops[T Float]() *table[T] {
	t := &machine[active]
	if f, ok := any(t.f32).(*table[T]); ok {
		return f
	}
	return any(t.f64).(*table[T])
}

// borrow takes a buffer of n elements from the pool, with arbitrary content. give returns it.
func (t *table[T]) borrow(n int) *[]T {
	b, ok := t.scratch.Get().(*[]T)
	if !ok {
		b = new([]T)
	}
	if cap(*b) < n {
		*b = make([]T, n)
	}
	*b = (*b)[:n]
	return b
}

func (t *table[T]) give(b *[]T) { t.scratch.Put(b) }
