package svmnb

import (
	"math"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/points"
)

// Enclose starts the description of the smallest ball around the points in feature space that
// leaves a share ν of them outside, ignoring their targets (support vector data description, Tax
// and Duin 2004); ν is 0.5 unless Nu sets it. With few points and ν below 1/n it is the smallest
// ball around all of them; with the linear kernel it is a ball in the space of the features. f(x)
// = R² − ‖φ(x) − a‖² with the centre a and the radius R, so f is positive inside, in units of the
// kernel. For kernels with the same K(x, x) everywhere, such as RBF, the ball and the hyperplane of
// [OneClass] leave the same points outside. The defaults of kernel and solver are those of
// [Classify].
func Enclose(data *datasets.Dataset) Classifier {
	c := OneClass(data)
	c.margin = enclosing
	return c
}

// alone reports whether the machine has one class only.
func (m margin) alone() bool { return m == oneClass || m == enclosing }

// decided returns the kernel of the fit's expansion. ‖φ(x) − a‖² contains K(x, x), which is a
// constant for kernels of distances; for others the expansion has −½‖φ(x_i) − φ(x)‖² in place of
// K(x_i, x).
func (t *task) decided() kernels.Kernel {
	if _, constant := t.kernel.(kernels.Radial); t.margin != enclosing || constant {
		return t.kernel
	}
	return kernels.Distance(t.kernel)
}

// selves returns K(x, x) of points.
func (t *task) selves(x points.Points) []float64 {
	g, err := x.Gram(t.kernel, kernels.NoCache)
	if err != nil {
		return make([]float64, x.N()) // the points were checked before
	}
	return g.Diag()
}

// shift returns what the bias of the expansion has besides scale·b, so that f = R² − ‖φ(x) − a‖².
// The coefficients have the sum 2.
func (t *task) shift(coef []float64) float64 {
	self := t.selves(points.Of(t.data))
	if t.decided() == t.kernel {
		return -self[0]
	}
	sum := 0.0
	for i, c := range coef {
		sum += c * self[i] / 2
	}
	return sum
}

// Radius returns the radius R of the ball of [Enclose] in feature space, in units of the square
// root of the kernel; NaN for other machines. It is 0 if rounding leaves no more of R².
func (f *Fit) Radius() float64 {
	if f.none() || f.task.margin != enclosing {
		return math.NaN()
	}
	m := f.task.problem.Delta
	return math.Sqrt(max(0, f.scale*f.Certificate.Bias+f.Certificate.Norm2/(m*m)))
}
