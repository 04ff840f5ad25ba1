package linear

import (
	"math"
	"math/rand/v2"
)

// gram is a kernel matrix held in memory.
type gram struct {
	k    [][]float64
	diag []float64
}

func (m *gram) Dim() int            { return len(m.k) }
func (m *gram) Diag() []float64     { return m.diag }
func (m *gram) Row(i int) []float64 { return m.k[i] }

type kernel func(x, z []float64) float64

// newGram computes each value once, so that the matrix is symmetric to the bit.
func newGram(x [][]float64, k kernel) *gram {
	m := &gram{k: make([][]float64, len(x)), diag: make([]float64, len(x))}
	for i := range x {
		m.k[i] = make([]float64, len(x))
		for j := range i + 1 {
			v := k(x[i], x[j])
			m.k[i][j], m.k[j][i] = v, v
		}
		m.diag[i] = m.k[i][i]
	}
	return m
}

func matrixOf(k [][]float64) *gram {
	m := &gram{k: k}
	for i := range k {
		m.diag = append(m.diag, k[i][i])
	}
	return m
}

func plane(x, z []float64) float64 {
	s := 0.0
	for i, v := range x {
		s += v * z[i]
	}
	return s
}

func polynomial(gamma, c float64, degree int) kernel {
	return func(x, z []float64) float64 {
		v, p := gamma*plane(x, z)+c, 1.0
		for range degree {
			p *= v
		}
		return p
	}
}

func rbf(gamma float64) kernel {
	return func(x, z []float64) float64 {
		s := 0.0
		for i, v := range x {
			s += (v - z[i]) * (v - z[i])
		}
		return math.Exp(-gamma * s)
	}
}

func constant(c float64) kernel {
	return func(_, _ []float64) float64 { return c }
}

// points draws n points of d normal coordinates, every second one moved by shift, the
// others by −shift.
func points(rng *rand.Rand, n, d int, shift float64) (x [][]float64) {
	for i := range n {
		row := make([]float64, d)
		for j := range row {
			row[j] = rng.NormFloat64() + shift*float64(2*(i%2)-1)
		}
		x = append(x, row)
	}
	return x
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// near reports whether got is within relative tol of want.
func near(got, want, tol float64) bool {
	return math.Abs(got-want) <= tol*max(math.Abs(got), math.Abs(want)) || got == want
}
