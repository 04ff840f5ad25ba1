package learn

import (
	"slices"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
)

// Divided is a description that can be learnt from data in blocks (package svmnb/beam): its loss
// is a sum over points, each with its own part of the loss.
type Divided interface {
	Learner
	// Divide returns the loss, or an error that says which setting does not suit blocks.
	Divide() (Loss, error)
	// Part returns the description for some of the points, with a cost of errors for each.
	Part(data *datasets.Dataset, cost []float64) Learner
}

// Loss is ½‖w‖² + Σ c_i ξ_i, where ξ = (1 − y f)₊ for two classes and (|y − f| − ε)₊ for real
// targets. c_i is C times the weight of the point's class.
type Loss struct {
	Kernel   kernels.Kernel
	C        float64
	Epsilon  float64
	Real     bool // the targets are real
	Balanced bool
	Weights  map[string]float64 // of classes; others have 1
}

// Expanded is a fit with one coefficient for each of its n points, β = α y or α̂ − α.
type Expanded interface {
	Fit
	Beta() []float64
}

// From lets the first fit start from β, feasible for the costs. real says whether there are two
// multipliers for each point.
func (w *Warmth) From(beta, cost []float64, real bool) {
	alpha, upper := make([]float64, len(beta)), slices.Clone(cost)
	for i, b := range beta {
		alpha[i] = max(b, -b)
	}
	if real {
		alpha = append(alpha, make([]float64, len(beta))...)
		upper = append(upper, cost...)
		for i, b := range beta {
			alpha[i], alpha[len(beta)+i] = max(b, 0), max(-b, 0)
		}
	}
	w.runs = []handed{{alpha: alpha, upper: upper}}
}
