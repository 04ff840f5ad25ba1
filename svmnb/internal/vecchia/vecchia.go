// Package vecchia has the densities of targets given those at near points (Vecchia 1988), for the
// processes of neighbours of package gp and for their models.
package vecchia

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/svmnb/svmnb/internal/nearest"
	"github.com/svmnb/svmnb/internal/parallel"
	"github.com/svmnb/svmnb/internal/vec"
	"github.com/svmnb/svmnb/kernels"
)

// Points are n points of d features among which near ones are found.
type Points struct {
	Unit []float64 // of distances along each feature
	Tree *nearest.Tree
	X    [][]float64 // the points by their places in the tree

	least float64 // the smallest unit
}

// NewPoints returns the points x with distances in these units, and with a rank for each.
func NewPoints(x [][]float64, unit []float64, rank []int32) *Points {
	n, d := len(x), len(unit)
	p := &Points{Unit: unit, X: make([][]float64, n), least: slices.Min(unit)}
	all := make([]float64, n*d)
	for i, row := range x {
		p.Scaled(all[i*d:][:d], row)
	}
	p.Tree = nearest.New(d, all, rank)
	for place, i := range p.Tree.Index {
		p.X[place] = x[i]
	}
	return p
}

// Scaled sets dst to x in the units, and returns it. A common factor of the units changes nothing,
// and without it equal units are exact.
func (p *Points) Scaled(dst, x []float64) []float64 {
	for j, v := range x {
		dst[j] = v / (p.Unit[j] / p.least)
	}
	return dst
}

// Conditional is the density of one value given those at some points, with its memory.
type Conditional struct {
	At   [][]float64 // the points, that of the value last
	Y    []float64   // their values, then L⁻¹ times these
	Sums []float64   // derivatives of the evidence by the hyperparameters and the noise

	patch *kernels.Patch
	rows  [][]float64 // the lower triangle of the covariance matrix, then its Cholesky factor L
	grads [][]float64 // the derivatives of each row; nil without derivatives
	b, w  []float64   // C⁻¹c and C⁻¹y, with C and c the covariances of the points and with the value
}

// NewConditional returns the memory for m points and one value.
func NewConditional(patch *kernels.Patch, m int, derivatives bool) *Conditional {
	c := &Conditional{patch: patch, Y: make([]float64, m+1), Sums: make([]float64, patch.Params()+1)}
	for j := range m + 1 {
		c.rows = append(c.rows, make([]float64, j+1))
		if derivatives {
			c.grads = append(c.grads, make([]float64, (j+1)*patch.Params()))
		}
	}
	if derivatives {
		c.b, c.w = make([]float64, m+1), make([]float64, m+1)
	}
	return c
}

// Factor fills in and factors the covariance matrix of the points At, with noise on its diagonal.
// It returns the number of rows of L, which are not all if the matrix is not positive definite.
func (c *Conditional) Factor(noise func(j int) float64) int {
	c.patch.Lay(c.At)
	for j, x := range c.At {
		row := c.rows[j]
		if c.grads != nil {
			c.patch.GradientRow(row, c.grads[j], x)
		} else {
			c.patch.Row(row, x)
		}
		row[j] += noise(j)
		for k, other := range c.rows[:j] {
			row[k] = (row[k] - vec.Dot(row[:k], other[:k])) / other[k]
		}
		if row[j] -= vec.Dot(row[:j], row[:j]); !(row[j] > 0) {
			return j
		}
		row[j] = math.Sqrt(row[j])
	}
	return len(c.At)
}

// Forward sets the first q values of Y to L⁻¹ times them.
func (c *Conditional) Forward(q int) {
	for j, y := range c.Y[:q] {
		c.Y[j] = (y - vec.Dot(c.Y[:j], c.rows[j][:j])) / c.rows[j][j]
	}
}

// Row returns row j of L.
func (c *Conditional) Row(j int) []float64 { return c.rows[j] }

// backward sets x to L⁻ᵀx.
func (c *Conditional) backward(x []float64) {
	for k := len(x) - 1; k >= 0; k-- {
		x[k] /= c.rows[k][k]
		vec.Axpy(x[:k], -x[k], c.rows[k][:k])
	}
}

// Derive adds the derivatives of the logarithm of the density to Sums, after Forward of all values.
// With v and m the variance and the mean of the value, e its distance from m, b = C⁻¹c and w = C⁻¹y,
//
//	∂v = ∂k − 2b'∂c + b'∂C b,  ∂m = w'∂c − b'∂C w,
//	∂ ln p = ½(e²/v² − 1/v) ∂v + e/v ∂m.
func (c *Conditional) Derive(noise func(j int) float64) {
	q := len(c.At) - 1
	last, params := c.rows[q], c.patch.Params()
	b, w := c.b[:q], c.w[:q]
	copy(b, last)
	copy(w, c.Y)
	c.backward(b)
	c.backward(w)
	v, e := last[q]*last[q], c.Y[q]*last[q]
	alpha, beta := (e*e/v-1)/v/2, e/v
	weights := c.rows[q] // L is not needed any more
	sum := func(j int) {
		for p := range params {
			c.Sums[p] += vec.Dot(c.grads[j][p*(j+1):][:j+1], weights[:j+1])
		}
		c.Sums[params] += noise(j) * weights[j]
	}
	for j := range q {
		s, t := 2*alpha*b[j]-beta*w[j], -beta*b[j]
		for k := range j {
			weights[k] = s*b[k] + t*w[k]
		}
		weights[j] = b[j] * (alpha*b[j] - beta*w[j])
		sum(j)
	}
	for k := range q {
		weights[k] = -2*alpha*b[k] + beta*w[k]
	}
	weights[q] = alpha
	sum(q)
}

// Process is a process of neighbours that predicts. Its methods change nothing.
type Process struct {
	*Points
	Kernel kernels.Kernel
	Y      []float64 // n targets minus the mean
	Noise  []float64 // their n variances, or one for all
	M      int       // the number of neighbours, at most n
}

// NoiseOf returns the variance of the noise of target i.
func (p *Process) NoiseOf(i int32) float64 {
	if len(p.Noise) == 1 {
		return p.Noise[0]
	}
	return p.Noise[i]
}

// IndefiniteError says that the covariance matrix of a point and its neighbours is not positive
// definite.
type IndefiniteError struct{ Point int }

func (e *IndefiniteError) Error() string {
	return fmt.Sprintf("the covariance matrix of point %d and its neighbours is not positive definite", e.Point)
}

const strip = 64 // points of one task

// Posterior returns mean and variance of f at the points x, each given its m nearest points. The
// error is an *IndefiniteError, or context.Cause(ctx).
func (p *Process) Posterior(ctx context.Context, x [][]float64) (mean, variance []float64, err error) {
	mean, variance = make([]float64, len(x)), make([]float64, len(x))
	if len(x) == 0 {
		return mean, variance, nil
	}
	patch, err := kernels.NewPatch(p.Kernel, p.X[:1], p.M+1)
	if err != nil {
		return nil, nil, err
	}
	type worker struct {
		*Conditional
		found nearest.Found
		at    []float64
		err   error
	}
	own := make([]worker, runtime.GOMAXPROCS(0))
	sub, stop := context.WithCancel(ctx)
	defer stop()
	predict := func(c *worker, i int) error {
		p.Tree.Search(&c.found, p.Scaled(c.at, x[i]), p.M, math.MaxInt32)
		q := len(c.found.Places)
		c.At = c.At[:0]
		for j, place := range c.found.Places {
			c.At, c.Y[j] = append(c.At, p.X[place]), p.Y[p.Tree.Index[place]]
		}
		c.At = append(c.At, x[i])
		switch made := c.Factor(func(j int) float64 {
			if j == q {
				return 0
			}
			return p.NoiseOf(p.Tree.Index[c.found.Places[j]])
		}); {
		case made < q:
			return &IndefiniteError{int(p.Tree.Index[c.found.Places[made]])}
		case made > q: // otherwise the variance is 0 up to rounding
			variance[i] = c.rows[q][q] * c.rows[q][q]
		}
		c.Forward(q)
		mean[i] = vec.Dot(c.rows[q][:q], c.Y[:q])
		return nil
	}
	err = parallel.For(sub, len(own), (len(x)+strip-1)/strip, func(w, task int) {
		c := &own[w]
		if c.Conditional == nil {
			c.Conditional, c.at = NewConditional(patch.Another(), p.M, false), make([]float64, len(p.Unit))
		}
		for i := task * strip; i < min((task+1)*strip, len(x)) && c.err == nil; i++ {
			if c.err = predict(c, i); c.err != nil {
				stop()
			}
		}
	})
	for w := range own {
		if own[w].err != nil {
			return nil, nil, own[w].err
		}
	}
	if err != nil {
		return nil, nil, err
	}
	return mean, variance, nil
}
