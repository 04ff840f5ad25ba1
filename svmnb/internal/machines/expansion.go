package machines

import (
	"fmt"
	"math"
	"slices"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
)

// Expansion is f(x) = Σ coef_i K(x_i, x) + b, summed over the training points whose
// coefficient is not 0.
type Expansion struct {
	X      points.Points // the points x_i
	Kernel kernels.Kernel
	Basis  func() *kernels.Basis // for kernel values with X; made at the first call
	Coef   []float64
	B      float64
	W      []float64 // Σ coef_i x_i for the linear kernel; otherwise nil
	D      int

	Behind *steps.Passage // the steps before the machine in a pipeline; otherwise nil
}

// NewExpansion returns the expansion over the points of data with n coefficients. The steps
// of behind have already transformed these points.
func NewExpansion(data *datasets.Dataset, kernel kernels.Kernel, behind *steps.Passage, coef []float64, b float64) Expansion {
	e := Expansion{B: b, D: data.D(), Behind: behind, Kernel: kernel}
	count := 0
	for _, c := range coef {
		if c != 0 {
			count++
		}
	}
	rows := make([]int, 0, count)
	e.Coef = make([]float64, 0, count)
	for i, c := range coef {
		if c != 0 {
			rows, e.Coef = append(rows, i), append(e.Coef, c)
		}
	}
	e.X = points.Of(data).Some(rows)
	e.Basis = e.X.Late(kernel)
	if kernel == kernels.Kernel(kernels.Linear()) {
		e.W = make([]float64, e.D)
		for i, c := range e.Coef {
			e.X.Add(e.W, i, c)
		}
	}
	return e
}

// Values returns f at the points.
func (e *Expansion) Values(p points.Points) []float64 {
	out := make([]float64, p.N())
	if e.W != nil {
		for i := range out {
			out[i] = p.Dot(i, e.W, e.B)
		}
		return out
	}
	for i := range out {
		out[i] = e.B
	}
	p.AddTimes([][]float64{out}, e.Basis(), [][]float64{e.Coef})
	return out
}

// At is Values for a user's points. It returns an error if the machine is part of a
// pipeline.
func (e *Expansion) At(verb, learner string, p points.Points) ([]float64, error) {
	if e.Behind != nil {
		return nil, e.Behind.Inside(verb)
	}
	return e.Here(verb, learner, p)
}

// Here is At for points that the steps of a pipeline have already transformed.
func (e *Expansion) Here(verb, learner string, p points.Points) ([]float64, error) {
	if err := e.Check(verb, learner, p); err != nil {
		return nil, err
	}
	return e.Values(p), nil
}

// Check returns an error for points at which f is not defined.
func (e *Expansion) Check(verb, learner string, p points.Points) error {
	if s := p.Sparse; s != nil {
		if s.N() > 0 && s.D != e.D {
			return arguments.Wrong(verb, float64(s.D), "the points have %s, the %s was trained on %d; give the reader that number as dims", say.Several(s.D, "feature"), learner, e.D)
		}
		if err := e.Basis().CheckSparse(*s); err != nil {
			return fmt.Errorf("svmnb: %s: %w", verb, err)
		}
		return nil
	}
	for i, row := range p.X {
		if len(row) != e.D {
			return arguments.At(verb, i, -1, float64(len(row)), "%s", points.Misfit(e.Kernel, row, e.D, "the "+learner+" was trained on"))
		}
		for j, v := range row {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return arguments.At(verb, i, j, v, "the value is %v; predictions need finite numbers", v)
			}
		}
	}
	if e.W != nil {
		return nil // the linear kernel takes all points, and its basis would be a copy of the support vectors
	}
	if err := e.Basis().Check(p.X); err != nil {
		return fmt.Errorf("svmnb: %s: %w", verb, err)
	}
	return nil
}

// Normal returns w, if the kernel is linear.
func (e *Expansion) Normal(kernel kernels.Kernel) ([]float64, error) {
	if e.W == nil {
		return nil, arguments.Wrong("Weights", math.NaN(), "the kernel is %v, and only a machine of the linear kernel has a weight for each feature; learn with Kernel(kernels.Linear())", kernel)
	}
	return slices.Clone(e.W), nil
}

// Sums returns the decision values at the m points of p, m × len(terms).
func (e *Expansion) Sums(terms []Term, p points.Points) [][]float64 {
	m := p.N()
	sums, coef := make([][]float64, len(terms)), make([][]float64, len(terms))
	for k, t := range terms {
		sums[k], coef[k] = make([]float64, m), t.Coef
		for i := range m {
			sums[k][i] = t.B
			if t.W != nil {
				sums[k][i] = p.Dot(i, t.W, t.B)
			}
		}
	}
	if terms[0].W == nil {
		p.AddTimes(sums, e.Basis(), coef)
	}
	out := make([][]float64, m)
	for i := range out {
		out[i] = make([]float64, len(sums))
		for k := range sums {
			out[i][k] = sums[k][i]
		}
	}
	return out
}

// Term is one decision value, Σ_j coef_j K(x_j, x) + b, over the support vectors x_j.
type Term struct {
	Coef []float64 // one for each support vector
	B    float64
	W    []float64 // Σ_j coef_j x_j for the linear kernel; otherwise nil
}

// Each returns how many kernel values f at one point costs.
func (e *Expansion) Each() int {
	if e.W != nil {
		return 0
	}
	return len(e.Coef)
}
