package svmnb

import (
	"math"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/learn"
)

// classifying and regressing implement learn.Divided: descriptions that can be learnt from data
// in blocks.

// whole returns an error if the machine's problem depends on all points in a way that blocks do
// not show.
func (m *machine) whole() error {
	bad := func(setter, msg string) error {
		return arguments.Wrong(setter, math.NaN(), "data in blocks are not learnt with %s", msg)
	}
	switch {
	case m.kernel == nil:
		return arguments.Wrong("Kernel", math.NaN(), "the kernel is not set, and its default needs all points at once; give one such as kernels.RBF(0.5)")
	case m.fixed || m.tau2 != 0:
		return bad("FixedBias", "a fixed bias or an augmented kernel; leave FixedBias and Augment out")
	case m.behind != nil:
		return bad("Pipe", "steps before the machine; scale the points beforehand")
	}
	return nil
}

func (c classifying) Divide() (learn.Loss, error) {
	if err := c.faults.Err(); err != nil {
		return learn.Loss{}, err
	}
	if err := c.whole(); err != nil {
		return learn.Loss{}, err
	}
	if c.margin != oneNorm {
		return learn.Loss{}, arguments.Wrong("Classify", math.NaN(), "data in blocks are learnt with the 1-norm soft margin; leave TwoNorm, HardMargin, Nu and OneClass out")
	}
	l := learn.Loss{Kernel: c.kernel, C: c.c, Balanced: c.balanced}
	if w := c.weights; w != nil {
		if w.sample != nil {
			return learn.Loss{}, arguments.Wrong("SampleWeights", math.NaN(), "weights of the points do not belong to data in blocks; leave SampleWeights out")
		}
		l.Weights = map[string]float64{}
		for _, one := range w.class {
			l.Weights[one.class] = one.weight
		}
	}
	return l, nil
}

func (c classifying) Part(data *datasets.Dataset, cost []float64) learn.Learner {
	c.data, c.balanced, c.weights = data, false, nil
	c.Classifier = c.C(1).SampleWeights(cost)
	return c
}

func (r regressing) Divide() (learn.Loss, error) {
	if err := r.faults.Err(); err != nil {
		return learn.Loss{}, err
	}
	if err := r.whole(); err != nil {
		return learn.Loss{}, err
	}
	if r.loss != linearLoss {
		return learn.Loss{}, arguments.Wrong("Regress", math.NaN(), "data in blocks are learnt with the linear loss; leave QuadraticLoss, Nu, Ridge, Quantile and Huber out")
	}
	if r.sample != nil {
		return learn.Loss{}, arguments.Wrong("SampleWeights", math.NaN(), "weights of the points do not belong to data in blocks; leave SampleWeights out")
	}
	return learn.Loss{Kernel: r.kernel, C: r.c, Epsilon: r.epsilon, Real: true}, nil
}

func (r regressing) Part(data *datasets.Dataset, cost []float64) learn.Learner {
	r.data = data
	r.Regressor = r.C(1).SampleWeights(cost)
	return r
}

// Beta returns the n differences of multipliers, α y for classes.
func (f classified) Beta() []float64 {
	beta := make([]float64, len(f.fit.Alpha))
	for i, a := range f.fit.Alpha {
		beta[i] = a * f.fit.task.y[i]
	}
	return beta
}

// Beta returns the n differences of multipliers.
func (f regressed) Beta() []float64 { return f.fit.Beta }
