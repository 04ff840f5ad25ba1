// Package toy has small kernel matrices and points for the tests of kernels and solvers. Its
// values come from plain loops, which share nothing with the code that is tested.
package toy

import (
	"context"
	"math"
	"math/rand/v2"
)

// Gram is a kernel matrix in memory that counts how many rows are read.
type Gram struct {
	X, K     [][]float64 // X is nil if the matrix was given
	Diagonal []float64
	Rows     int
}

// NewGram computes each value once, so the matrix is exactly symmetric.
func NewGram(x [][]float64, k Kernel) *Gram {
	n := len(x)
	m := &Gram{X: x, K: make([][]float64, n), Diagonal: make([]float64, n)}
	for i := range n {
		m.K[i] = make([]float64, n)
		for j := range i + 1 {
			v := k(x[i], x[j])
			m.K[i][j], m.K[j][i] = v, v
		}
		m.Diagonal[i] = m.K[i][i]
	}
	return m
}

// MatrixOf returns a Gram of the given values, without copying them.
func MatrixOf(k [][]float64) *Gram {
	m := &Gram{K: k}
	for i := range k {
		m.Diagonal = append(m.Diagonal, k[i][i])
	}
	return m
}

func (m *Gram) Dim() int           { return len(m.K) }
func (m *Gram) Diag() []float64    { return m.Diagonal }
func (m *Gram) Evaluations() int64 { return int64(m.Rows * len(m.K)) }

func (m *Gram) Row(i int) []float64 {
	m.Rows++
	return m.K[i]
}

// Blocked is a Gram that also implements solvers.Blocks.
type Blocked struct{ *Gram }

func (Blocked) InBlocks() bool { return true }

func (m Blocked) Among(dst []float32, idx []int, _ []float32, _ []int) {
	for k, i := range idx {
		for l, j := range idx {
			dst[k*len(idx)+l] = float32(m.K[i][j])
		}
	}
}

func (m Blocked) AddTo(ctx context.Context, dst, slack []float64, on, idx []int, coef []float64, exact bool) error {
	for r := range dst {
		i := r
		if on != nil {
			i = on[r]
		}
		for k, j := range idx {
			v := m.K[i][j]
			if !exact {
				v = float64(float32(v))
			}
			dst[r] += coef[k] * v
		}
	}
	for r := range slack {
		for _, c := range coef {
			slack[r] += 0x1p-23 * math.Abs(c)
		}
	}
	return context.Cause(ctx)
}

// Kernel is a function of two points.
type Kernel func(x, z []float64) float64

// Dot is the linear kernel.
func Dot(x, z []float64) float64 {
	s := 0.0
	for i, v := range x {
		s += v * z[i]
	}
	return s
}

func Polynomial(gamma, c float64, degree int) Kernel {
	return func(x, z []float64) float64 {
		v, p := gamma*Dot(x, z)+c, 1.0
		for range degree {
			p *= v
		}
		return p
	}
}

func RBF(gamma float64) Kernel {
	return func(x, z []float64) float64 {
		s := 0.0
		for i, v := range x {
			s += (v - z[i]) * (v - z[i])
		}
		return math.Exp(-gamma * s)
	}
}

func Constant(c float64) Kernel {
	return func(_, _ []float64) float64 { return c }
}

// Points draws n points of d normal coordinates. Labels alternate between −1 and 1, and each
// point is moved by label·shift.
func Points(rng *rand.Rand, n, d int, shift float64) (x [][]float64, y []float64) {
	for i := range n {
		label := float64(2*(i%2) - 1)
		row := make([]float64, d)
		for j := range row {
			row[j] = rng.NormFloat64() + shift*label
		}
		x, y = append(x, row), append(y, label)
	}
	return x, y
}

// Normal draws n points of d normal coordinates.
func Normal(seed uint64, n, d int) [][]float64 {
	x, _ := Points(rand.New(rand.NewPCG(seed, 0)), n, d, 0)
	return x
}

func Rand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// Near reports whether got is within relative tol of want.
func Near(got, want, tol float64) bool {
	return math.Abs(got-want) <= tol*max(math.Abs(got), math.Abs(want)) || got == want
}
