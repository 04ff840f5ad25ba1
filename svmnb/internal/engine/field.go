package engine

import (
	"math"

	"github.com/svmnb/svmnb/kernels"
)

// expansion is f(x) = Σ coef_i K(x_i, x) + b over the points whose coefficient is not 0.
type expansion struct {
	kernel kernels.Kernel
	x      [][]float64
	coef   []float64
	b      float64
	basis  *kernels.Basis
}

func newExpansion(k kernels.Kernel, x [][]float64, coef []float64, b float64) *expansion {
	e := &expansion{kernel: k, b: b}
	for i, c := range coef {
		if c != 0 {
			e.x, e.coef = append(e.x, x[i]), append(e.coef, c)
		}
	}
	if len(e.x) > 0 {
		e.basis = kernels.Against(k, e.x)
	}
	return e
}

// at writes f at the points into dst.
func (e *expansion) at(dst []float64, x [][]float64) []float64 {
	for i := range dst {
		dst[i] = e.b
	}
	if e.basis == nil {
		return dst
	}
	row := make([]float64, len(e.x))
	for i, p := range x {
		e.basis.Row(row, p)
		for j, v := range row {
			dst[i] += e.coef[j] * v
		}
	}
	return dst
}

// field returns f on the grid of a question, and then at the points of also.
func (e *expansion) field(q *Question) []float64 {
	var f []float64
	if k, ok := e.kernel.(kernels.GaussianKernel); ok && len(q.X[0]) == 2 {
		f = e.gaussian(q, k.Gamma)
	} else {
		nodes := grid(q)
		f = e.at(make([]float64, len(nodes)), nodes)
	}
	if q.also == nil {
		return f
	}
	return append(f, e.at(make([]float64, len(q.also)), q.also)...)
}

// grid returns the nodes of a question, rows from the bottom.
func grid(q *Question) [][]float64 {
	if len(q.X[0]) == 1 {
		x := make([][]float64, q.Nx)
		for i := range x {
			x[i] = []float64{node(q.Xs, i, q.Nx)}
		}
		return x
	}
	x := make([][]float64, 0, q.Nx*q.Ny)
	for j := range q.Ny {
		for i := range q.Nx {
			x = append(x, []float64{node(q.Xs, i, q.Nx), node(q.Ys, j, q.Ny)})
		}
	}
	return x
}

func node(e [2]float64, i, n int) float64 {
	return e[0] + (e[1]-e[0])*float64(i)/float64(max(n-1, 1))
}

// tiny is a term that a picture cannot show.
const tiny = 1e-9

// gaussian is field for exp(−γ‖x − z‖²). This is a product of one factor for each feature,
// so the grid takes nx + ny exponentials for each support vector, and one multiplication for
// each node.
func (e *expansion) gaussian(q *Question, gamma float64) []float64 {
	dst := make([]float64, q.Nx*q.Ny)
	for i := range dst {
		dst[i] = e.b
	}
	across := make([]float64, q.Nx)
	for s, x := range e.x {
		for i := range across {
			d := node(q.Xs, i, q.Nx) - x[0]
			across[i] = math.Exp(-gamma * (d * d))
		}
		for j := range q.Ny {
			d := node(q.Ys, j, q.Ny) - x[1]
			w := e.coef[s] * math.Exp(-gamma*(d*d))
			if math.Abs(w) < tiny {
				continue
			}
			row := dst[j*q.Nx : (j+1)*q.Nx]
			for i, v := range across {
				row[i] += float64(w * v) // the conversion forbids a fused operation, so that all machines have the same bits
			}
		}
	}
	return dst
}
