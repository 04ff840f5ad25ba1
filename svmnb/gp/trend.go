package gp

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/svmnb/svmnb/internal/vec"
	"github.com/svmnb/svmnb/solvers/linear"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
)

// trend is a linear mean H'β with a vague prior for β, after the observations (Rasmussen
// and Williams 2006, §2.7; O'Hagan 1978). H is q × n; its rows are the q basis functions at
// the points.
//
//	β = (HA⁻¹H')⁻¹ HA⁻¹y,  P = A⁻¹ − A⁻¹H' (HA⁻¹H')⁻¹ HA⁻¹.
//
// P replaces A⁻¹ in everything that depends on the targets: α = Py, the leave-one-out
// residuals, the gradient of the marginal likelihood.
type trend struct {
	centre  []float64   // means of the d features
	solved  [][]float64 // q rows of HA⁻¹, n values each
	inverse [][]float64 // (HA⁻¹H')⁻¹, q × q
	logDet  float64     // ln |HA⁻¹H'|
	beta    []float64   // q coefficients
	fit     float64     // y'A⁻¹H'β, the part of y'A⁻¹y that the mean explains
}

// square is a small matrix that implements the matrix of a linear system.
type square [][]float64

func (m square) Dim() int            { return len(m) }
func (m square) Row(i int) []float64 { return m[i] }
func (m square) Diag() []float64 {
	d := make([]float64, len(m))
	for i := range m {
		d[i] = m[i][i]
	}
	return d
}

// regress computes β. solved has A⁻¹y, then A⁻¹h for each basis function h.
func (t *processTask) regress(solved [][]float64) (*trend, error) {
	q := len(t.basis)
	r := &trend{centre: t.centre, solved: solved[1:]}
	// Each basis function is scaled to 1, so that the units of features do not affect the
	// factorisation.
	unit := make([]float64, q)
	for i, h := range t.basis {
		if unit[i] = math.Sqrt(vec.Dot(h, r.solved[i])); !(unit[i] > 0) {
			return nil, arguments.Wrong("LinearMean", 0, "feature %s is constant, as the intercept is; leave it out with Columns, or use ConstantMean", t.data.FeatureName(i-1))
		}
	}
	gram, right := make(square, q), make([][]float64, q)
	for i, h := range t.basis {
		gram[i], right[i] = make([]float64, q), make([]float64, q)
		right[i][i] = 1
		for j, s := range r.solved {
			gram[i][j] = vec.Dot(h, s) / unit[i] / unit[j]
		}
	}
	for i := range q { // rounding errors made it slightly asymmetric
		for j := range i {
			gram[i][j] = gram[j][i]
		}
	}
	sol, err := linear.Solve(context.Background(), &linear.System{K: gram}, right, linear.Cholesky{}, linear.Settings{})
	if err == nil {
		for i := range q {
			if sol.X[i][i] > 1e12 {
				err = fmt.Errorf("its coefficient %d is not determined", i)
			}
		}
	}
	if err != nil {
		return nil, arguments.Wrong("LinearMean", math.NaN(), "the features are linearly dependent, so their coefficients are not determined; leave some out with Columns, or use ConstantMean (%v)", err)
	}
	r.logDet = sol.Factor.LogDet()
	r.inverse = sol.X
	for i := range q {
		r.logDet += 2 * math.Log(unit[i])
		for j := range q {
			r.inverse[i][j] /= unit[i] * unit[j]
		}
	}
	for i := range q {
		b := 0.0
		for j, s := range r.solved {
			b += r.inverse[i][j] * vec.Dot(s, t.y)
		}
		r.beta = append(r.beta, b)
	}
	for i, s := range r.solved {
		r.fit += r.beta[i] * vec.Dot(s, t.y)
	}
	return r, nil
}

// at returns the basis functions at x.
func (r *trend) at(x []float64) []float64 {
	h := make([]float64, len(x)+1)
	h[0] = 1
	for j, v := range x {
		h[j+1] = v - r.centre[j]
	}
	return h
}

// rest returns Py. solved is A⁻¹y.
func (r *trend) rest(solved []float64) []float64 {
	out := slices.Clone(solved)
	for j, s := range r.solved {
		for i, v := range s {
			out[i] -= r.beta[j] * v
		}
	}
	return out
}

// gap returns h − HA⁻¹u: the basis functions h at a point (0 if h is nil) minus their
// prediction from the observations. u is the covariance of the point with the observations.
func (r *trend) gap(h, u []float64) []float64 {
	out := make([]float64, len(r.beta))
	copy(out, h)
	for j, s := range r.solved {
		out[j] -= vec.Dot(s, u)
	}
	return out
}

// between returns g'(HA⁻¹H')⁻¹h, which the uncertainty of β adds to a covariance (Rasmussen
// and Williams 2006, eq. 2.42).
func (r *trend) between(g, h []float64) (sum float64) {
	for i, v := range g {
		sum += v * vec.Dot(r.inverse[i], h)
	}
	return sum
}

// coefficients returns β_0 and β for the features without centring.
func (r *trend) coefficients() []float64 {
	c := slices.Clone(r.beta)
	for j, v := range r.centre {
		c[0] -= c[j+1] * v
	}
	return c
}
