// Package machines has decision functions f(x) = Σ_i c_i K(x_i, x) + b, and how several of
// them decide together.
package machines

import (
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
)

// Machines are what predictions need of a fit, and nothing else: the expansions that share
// one basis, and how they decide together.
type Machines struct {
	Kind      Kind
	Kernel    kernels.Kernel
	Classes   []string
	Targets   []float64 // of the classes
	Line      float64   // of one class: f from −line on is on the line f = 0
	Duels     [][2]int  // of each machine: its positive and its negative class, −1 for the rest
	Curves    []Curve   // of each machine; nil without probabilities
	Terms     []Term
	Process   *ProcessPart   // of a Gaussian process; else nil
	Expansion                // of which the points, the basis and d are used
	Before    *steps.Passage // what points go through first; nil for none
}

// Kind is what a model was learnt for.
type Kind int

const (
	RegressionKind Kind = iota
	OneClassKind
	TwoClassKind
	VotesKind
	RestKind
	JointKind
	ProcessKind
)

// Kinds are the names of the kinds, in their order.
var Kinds = [...]string{"regression", "one class", "two classes", "one against one", "one against the rest", "Crammer–Singer", "Gaussian process"}

func (k Kind) String() string { return Kinds[k] }

// Scheme is how several machines decide together.
func (k Kind) Scheme() Scheme {
	switch k {
	case RestKind:
		return OneVsRest
	case JointKind:
		return CrammerSinger
	}
	return OneVsOne
}

// ProcessPart is what the model of a Gaussian process has besides the expansion of
// its mean.
type ProcessPart struct {
	Beta, Centre []float64 // of a linear mean: 1 + d coefficients of 1 and x − centre; nil without
	Noise        []float64 // one variance for all points or one for each; nil where no variance is exact

	Turn guard.Turn
	Made any // the process with the factor of A, once it is asked for
}

// MostNumbers bounds the dense numbers that a small file can ask for: 1 GiB.
const MostNumbers = 1 << 27

// AsRows returns a row of one value for each value.
func AsRows(values []float64) [][]float64 {
	out := make([][]float64, len(values))
	for i := range out {
		out[i] = values[i : i+1]
	}
	return out
}

// Trend is the linear mean at x: Beta times 1 and x − Centre.
func (p *ProcessPart) Trend(x []float64) float64 {
	sum := p.Beta[0]
	for j, v := range x {
		sum += float64((v - p.Centre[j]) * p.Beta[j+1])
	}
	return sum
}
