package kernels

import "github.com/svmnb/svmnb/internal/vec"

// LinearKernel is x·z; see [Linear].
type LinearKernel struct{ stateless }

func init() { register("Linear", ofNumbers(0, func([]float64) Kernel { return Linear() })) }

// Linear returns the kernel K(x, z) = x·z.
func Linear() LinearKernel { return LinearKernel{} }

// Eval returns x·z.
func (LinearKernel) Eval(x, z []float64) float64 { return vec.Dot(x, z) }

// OfDot returns dot.
func (LinearKernel) OfDot(dot float64) float64 { return dot }

func (LinearKernel) inner(int) inner { return inner{of: func([]float64) {}} }

func (LinearKernel) offset(x, mean []float64) (h float64, linear, ok bool) {
	for j, m := range mean {
		h += float64(m * (x[j] + float64(0.5*m)))
	}
	return h, true, true
}

func (LinearKernel) String() string { return call("Linear") }

// EvalSlopes implements [Smooth].
func (LinearKernel) EvalSlopes(byX, byZ, both, x, z []float64) float64 {
	copy(byX, z)
	copy(byZ, x)
	clear(both)
	for i := range x {
		both[i*len(x)+i] = 1
	}
	return vec.Dot(x, z)
}
