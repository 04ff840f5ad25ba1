package kernels

import "github.com/svmnb/svmnb/internal/vec"

// LinearKernel is x·z; see [Linear].
type LinearKernel struct{ stateless }

// Linear returns the kernel K(x, z) = x·z.
func Linear() LinearKernel { return LinearKernel{} }

// Eval returns x·z.
func (LinearKernel) Eval(x, z []float64) float64 { return vec.Dot(x, z) }

// OfDot returns dot.
func (LinearKernel) OfDot(dot float64) float64 { return dot }

func (LinearKernel) String() string { return call("Linear") }
