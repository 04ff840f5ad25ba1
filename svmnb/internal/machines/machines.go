// Package machines has decision functions f(x) = Σ_i c_i K(x_i, x) + b, and the ways in
// which several of them decide together.
package machines

import (
	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/schemes"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
)

// Machines is what predictions need of a fit: the decision functions, which share their
// support vectors, and how they decide together.
type Machines struct {
	Kind      Kind
	Kernel    kernels.Kernel
	Classes   []string
	Targets   []float64 // one for each class
	Line      float64   // for one class, points with f ≥ −line are inside; see svmnb.Fit
	Threshold *float64  // of two classes, the decision value or, with curves, the probability from which a point is of class 1; nil if none was chosen
	Duels     [][2]int  // the positive and the negative class of each machine; −1 means all other classes
	Curves    []Curve   // one for each machine; nil without probabilities
	Terms     []Term
	Process   *ProcessPart   // for a Gaussian process; otherwise nil
	Expansion                // support vectors, their basis and D; Terms has the coefficients
	Before    *steps.Passage // the steps before the machines; nil if there are none

	Target *steps.TargetMap // by which the targets were transformed; nil if they were not
}

// Kind says what kind of problem the machines were trained for.
type Kind int

const (
	RegressionKind Kind = iota
	OneClassKind
	TwoClassKind
	VotesKind
	RestKind
	JointKind
	ProcessKind
	ClassProcessKind // one latent function for two classes, one for each of more
	CountProcessKind // f is the logarithm of the mean count
	NeighbourKind    // each value from the nearest points; the coefficients are the targets
)

// Kinds are the names of the kinds, in their order.
var Kinds = [...]string{"regression", "one class", "two classes", "one against one", "one against the rest", "Crammer–Singer", "Gaussian process", "Gaussian process of classes", "Gaussian process of counts", "Gaussian process of nearest neighbours"}

func (k Kind) String() string { return Kinds[k] }

// Scheme returns how the machines decide together.
func (k Kind) Scheme() schemes.Scheme {
	switch k {
	case RestKind:
		return schemes.OneVsRest
	case JointKind:
		return schemes.CrammerSinger
	}
	return schemes.OneVsOne
}

// ProcessPart is what the model of a Gaussian process has besides the expansion of its
// mean.
type ProcessPart struct {
	Beta, Centre []float64              // the linear mean: 1 + d coefficients of 1 and x − Centre; nil if the mean is not linear
	Scale        *datasets.TargetScaler // by which the targets were scaled; nil if they were not

	Noise []float64 // one noise variance for all points, or one for each; nil if the exact variance is not available

	Approximation *Approximation // nil for an exact process

	Turn guard.Turn
	Made any // caches the process with its Cholesky factor after the first variance
}

// Approximation is what the model of an approximate posterior has besides its coefficients.
type Approximation struct {
	Of     string      `json:"of"`               // "Laplace" or "EP" of classes, "inducing points", "nearest neighbours", "several outputs", or the expression of a likelihood
	Curve  []float64   `json:"curve,omitempty"`  // n curvatures W; none for more than two classes
	Second []float64   `json:"second,omitempty"` // a second vector of coefficients: n of the noise's process, or one for each inducing point
	Square [][]float64 `json:"square,omitempty"` // rows of B, up to the diagonal, of m inducing points, which are the first
	Jitter float64     `json:"jitter,omitempty"` // that was added to the diagonal of K of the inducing points
	Base   float64     `json:"base,omitempty"`   // the prior median of the noise, if that varies
	Noise  string      `json:"noise,omitempty"`  // the kernel of the noise's process
	Near   int         `json:"near,omitempty"`   // the number of nearest neighbours
	Unit   []float64   `json:"unit,omitempty"`   // of their distances along each feature

	// One of several outputs has in Square the covariances of all outputs.
	Output int     `json:"output,omitempty"` // its number
	Seen   [][]int `json:"seen,omitempty"`   // for each output, the numbers of the points at which it was observed
}

// MostNumbers limits how many dense numbers a small file can cause to be allocated: 1 GiB.
const MostNumbers = 1 << 27

// AsRows returns rows of one value each.
func AsRows(values []float64) [][]float64 {
	out := make([][]float64, len(values))
	for i := range out {
		out[i] = values[i : i+1]
	}
	return out
}

// Trend returns the linear mean at x: Beta times (1, x − Centre).
func (p *ProcessPart) Trend(x []float64) float64 {
	sum := p.Beta[0]
	for j, v := range x {
		sum += float64((v - p.Centre[j]) * p.Beta[j+1])
	}
	return sum
}

// Value returns a posterior mean in units of the data.
func (p *ProcessPart) Value(mean float64) float64 {
	if p.Scale == nil {
		return mean
	}
	return p.Scale.Invert(mean)
}
