package engine

import (
	"slices"

	"github.com/svmnb/svmnb/kernels"
)

// held is a kernel matrix that follows its points: rows are computed when they are asked
// for, and a point that moves changes a row and a column.
type held struct {
	kernel string // by its text: kernels of some types cannot be compared
	x      [][]float64
	rows   [][]float64
	diag   []float64
	basis  *kernels.Basis
}

// mostMoved is the share of points from which on a new matrix costs less.
const mostMoved = 0.25

func (h *held) Dim() int        { return len(h.x) }
func (h *held) Diag() []float64 { return h.diag }

func (h *held) Row(i int) []float64 {
	if h.rows[i] == nil {
		h.rows[i] = h.basis.Row(make([]float64, len(h.x)), h.x[i])
	}
	return h.rows[i]
}

// follow returns the matrix of the kernel over the points, made from h as far as it can be.
func (h *held) follow(k kernels.Kernel, x [][]float64) (*held, error) {
	var moved []int
	same := h != nil && h.kernel == k.String() && len(h.x) == len(x) && len(h.x[0]) == len(x[0])
	if same {
		for i, p := range x {
			if !slices.Equal(h.x[i], p) {
				moved = append(moved, i)
			}
		}
	}
	if !same || float64(len(moved)) > mostMoved*float64(len(x)) {
		if _, err := kernels.NewGram(k, x, kernels.NoCache); err != nil { // names the bad point or parameter
			return nil, err
		}
		h = &held{kernel: k.String(), rows: make([][]float64, len(x)), diag: make([]float64, len(x))}
		for i, p := range x {
			h.x = append(h.x, slices.Clone(p))
			h.diag[i] = k.Eval(p, p)
		}
		h.basis = kernels.Against(k, h.x)
		return h, nil
	}
	if len(moved) == 0 {
		return h, nil
	}
	for _, i := range moved {
		copy(h.x[i], x[i])
	}
	h.basis = kernels.Against(k, h.x)
	for _, i := range moved {
		if h.rows[i] == nil {
			h.rows[i] = make([]float64, len(x))
		}
		h.basis.Row(h.rows[i], h.x[i])
		h.diag[i] = k.Eval(h.x[i], h.x[i])
		for j, r := range h.rows {
			if r != nil {
				r[i] = h.rows[i][j]
			}
		}
	}
	return h, nil
}
