package kernels

import "github.com/svmnb/svmnb/internal/vec"

// LinearKernel is x·z; see [Linear].
type LinearKernel struct{}

// Linear returns the kernel K(x, z) = x·z.
func Linear() LinearKernel { return LinearKernel{} }

// Eval returns x·z.
func (LinearKernel) Eval(x, z []float64) float64 { return vec.Dot(x, z) }

// OfDot returns dot.
func (LinearKernel) OfDot(dot float64) float64 { return dot }

// Check returns nil: there is nothing to set.
func (LinearKernel) Check() error { return nil }

func (LinearKernel) String() string { return call("Linear") }

func (LinearKernel) ofDots([]float64) {}

// GobEncode writes nothing; gob refuses a struct without fields otherwise.
func (LinearKernel) GobEncode() ([]byte, error) { return nil, nil }

// GobDecode reads what GobEncode has written.
func (*LinearKernel) GobDecode([]byte) error { return nil }
