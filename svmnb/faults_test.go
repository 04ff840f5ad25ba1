package svmnb

import (
	"math"
	"slices"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/gp"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"pgregory.net/rapid"
)

// word is one word of a description. Words of one group override each other.
type word[D any] struct {
	group string
	say   func(D) D
}

// commute checks that words of different groups may be said in any order, and that of one
// group the last counts.
func commute[D interface {
	comparable
	String() string
}](t *testing.T, begin D, faults func(D) error, words []word[D]) {
	rapid.Check(t, func(rt *rapid.T) {
		chain := rapid.SliceOfN(rapid.SampledFrom(words), 0, 12).Draw(rt, "words")
		say := func(chain []word[D]) (string, string) {
			d := begin
			for _, w := range chain {
				d = w.say(d)
			}
			err := ""
			if e := faults(d); e != nil {
				err = e.Error()
			}
			return d.String(), err
		}
		// The last of each group, in a drawn order.
		var last []word[D]
		for k, w := range chain {
			if !slices.ContainsFunc(chain[k+1:], func(later word[D]) bool { return later.group == w.group }) {
				last = append(last, w)
			}
		}
		order := rapid.Permutation(last).Draw(rt, "order")
		text, err := say(chain)
		if other, otherErr := say(order); other != text || otherErr != err {
			rt.Fatalf("%s, %s\nin another order %s, %s", text, err, other, otherErr)
		}
	})
}

func TestWordsCommute(t *testing.T) {
	data := datasets.Moons(20, 0.1, 1)
	nan := math.NaN()
	commute(t, Classify(data), func(c Classifier) error { return c.Learning().Fault() }, []word[Classifier]{
		{"Kernel", func(c Classifier) Classifier { return c.Kernel(kernels.RBF(2)) }},
		{"Kernel", func(c Classifier) Classifier { return c.Kernel(nil) }},
		{"C", func(c Classifier) Classifier { return c.C(3) }},
		{"C", func(c Classifier) Classifier { return c.C(-3) }},
		{"margin", func(c Classifier) Classifier { return c.OneNorm() }},
		{"margin", func(c Classifier) Classifier { return c.TwoNorm() }},
		{"margin", func(c Classifier) Classifier { return c.HardMargin() }},
		{"margin", func(c Classifier) Classifier { return c.Nu(0.2) }},
		{"margin", func(c Classifier) Classifier { return c.Nu(2) }},
		{"FixedBias", func(c Classifier) Classifier { return c.FixedBias(0.5) }},
		{"FixedBias", func(c Classifier) Classifier { return c.FixedBias(nan) }},
		{"Augment", func(c Classifier) Classifier { return c.Augment(kernels.Radius) }},
		{"Augment", func(c Classifier) Classifier { return c.Augment(0) }},
		{"ClassWeight +", func(c Classifier) Classifier { return c.ClassWeight("1", 2) }},
		{"ClassWeight +", func(c Classifier) Classifier { return c.ClassWeight("1", 0) }},
		{"ClassWeight −", func(c Classifier) Classifier { return c.ClassWeight("-1", 3) }},
		{"Balanced", func(c Classifier) Classifier { return c.Balanced() }},
		{"SampleWeights", func(c Classifier) Classifier { return c.SampleWeights(make([]float64, 20)) }},
		{"Using", func(c Classifier) Classifier { return c.SMO() }},
		{"Using", func(c Classifier) Classifier { return c.GradientAscent() }},
		{"Using", func(c Classifier) Classifier { return c.CoordinateDescent() }},
		{"Using", func(c Classifier) Classifier { return c.Newton() }},
		{"Using", func(c Classifier) Classifier { return c.Using(nil) }},
		{"Stop", func(c Classifier) Classifier { return c.Tol(1e-5) }},
		{"Stop", func(c Classifier) Classifier { return c.Tol(0) }},
		{"Stop", func(c Classifier) Classifier { return c.Stop(solvers.Gap{Rel: 1e-6}) }},
		{"MaxIterations", func(c Classifier) Classifier { return c.MaxIterations(7) }},
		{"MaxIterations", func(c Classifier) Classifier { return c.MaxIterations(0) }},
		{"Sample", func(c Classifier) Classifier { return c.Sample(-1) }},
		{"Memory", func(c Classifier) Classifier { return c.Memory(1 << 20) }},
		{"Memory", func(c Classifier) Classifier { return c.Memory(-1) }},
		{"Live", func(c Classifier) Classifier { return c.Live() }},
	})
	sinc := datasets.Sinc(20, 0.1, 1)
	commute(t, Regress(sinc), func(r Regressor) error { return r.Learning().Fault() }, []word[Regressor]{
		{"Kernel", func(r Regressor) Regressor { return r.Kernel(kernels.RBF(2)) }},
		{"C", func(r Regressor) Regressor { return r.C(3) }},
		{"C", func(r Regressor) Regressor { return r.C(nan) }},
		{"Epsilon", func(r Regressor) Regressor { return r.Epsilon(0.2) }},
		{"Epsilon", func(r Regressor) Regressor { return r.Epsilon(-1) }},
		{"loss", func(r Regressor) Regressor { return r.LinearLoss() }},
		{"loss", func(r Regressor) Regressor { return r.QuadraticLoss() }},
		{"loss", func(r Regressor) Regressor { return r.Nu(0.3) }},
		{"loss", func(r Regressor) Regressor { return r.Nu(-1) }},
		{"loss", func(r Regressor) Regressor { return r.Ridge(0.1) }},
		{"loss", func(r Regressor) Regressor { return r.Ridge(0) }},
		{"loss", func(r Regressor) Regressor { return r.Quantile(0.9) }},
		{"loss", func(r Regressor) Regressor { return r.Quantile(2) }},
		{"loss", func(r Regressor) Regressor { return r.Huber(0.3) }},
		{"loss", func(r Regressor) Regressor { return r.Huber(0) }},
		{"FixedBias", func(r Regressor) Regressor { return r.FixedBias(0) }},
		{"Augment", func(r Regressor) Regressor { return r.Augment(2) }},
		{"SampleWeights", func(r Regressor) Regressor { return r.SampleWeights([]float64{1}) }},
		{"Using", func(r Regressor) Regressor { return r.SMO() }},
		{"Using", func(r Regressor) Regressor { return r.GradientAscent() }},
		{"Using", func(r Regressor) Regressor { return r.Using(solvers.TubeSMO{Step: solvers.Quadrants}) }},
		{"Stop", func(r Regressor) Regressor { return r.Tol(1e-5) }},
		{"Stop", func(r Regressor) Regressor { return r.Stop(nil) }},
		{"MaxIterations", func(r Regressor) Regressor { return r.MaxIterations(7) }},
		{"Sample", func(r Regressor) Regressor { return r.Sample(0) }},
		{"Memory", func(r Regressor) Regressor { return r.Memory(1 << 20) }},
	})
	variances := make([]float64, 20)
	commute(t, gp.Regress(sinc), func(p gp.Process) error { return p.Learning().Fault() }, []word[gp.Process]{
		{"Kernel", func(p gp.Process) gp.Process { return p.Kernel(kernels.RBF(2)) }},
		{"Kernel", func(p gp.Process) gp.Process { return p.Kernel(nil) }},
		{"noise", func(p gp.Process) gp.Process { return p.NoiseVariance(0.1) }},
		{"noise", func(p gp.Process) gp.Process { return p.NoiseVariance(-1) }},
		{"noise", func(p gp.Process) gp.Process { return p.NoiseVariances(variances) }},
		{"noise", func(p gp.Process) gp.Process { return p.NoiseVariances(variances[:3]) }},
		{"mean", func(p gp.Process) gp.Process { return p.ZeroMean() }},
		{"mean", func(p gp.Process) gp.Process { return p.LinearMean() }},
		{"mean", func(p gp.Process) gp.Process { return p.ConstantMean() }},
		{"NormaliseTargets", func(p gp.Process) gp.Process { return p.NormaliseTargets() }},
		{"Using", func(p gp.Process) gp.Process { return p.Cholesky() }},
		{"Using", func(p gp.Process) gp.Process { return p.CG() }},
		{"Using", func(p gp.Process) gp.Process { return p.Using(nil) }},
		{"Stop", func(p gp.Process) gp.Process { return p.Tol(0.1) }},
		{"Stop", func(p gp.Process) gp.Process { return p.Tol(-1) }},
		{"MaxIterations", func(p gp.Process) gp.Process { return p.MaxIterations(0) }},
		{"Memory", func(p gp.Process) gp.Process { return p.Memory(1 << 30) }},
		{"learn", func(p gp.Process) gp.Process { return p.Restarts(2, 1) }},
		{"bound of the noise", func(p gp.Process) gp.Process { return p.Bound("noise", 0.1, 2) }},
		{"bound of the noise", func(p gp.Process) gp.Process { return p.Bound("noise", 2, 1) }},
		{"bound of the kernel", func(p gp.Process) gp.Process { return p.Bound("RBF.gamma", 0, 3) }},
		{"prior of the noise", func(p gp.Process) gp.Process { return p.LogNormalPrior("noise", 1, 0.5) }},
		{"prior of the noise", func(p gp.Process) gp.Process { return p.GammaPrior("noise", 2, 3) }},
		{"prior of the noise", func(p gp.Process) gp.Process { return p.GammaPrior("noise", 0, nan) }},
		{"prior of the kernel", func(p gp.Process) gp.Process { return p.LogNormalPrior("RBF.gamma", -1, 0.5) }},
		{"Live", func(p gp.Process) gp.Process { return p.Live() }},
	})
}

// What a method needs is settled when the fit is prepared, whatever was said before and after.
func TestNeedsOfMethods(t *testing.T) {
	data := datasets.Moons(40, 0.2, 1)
	base := Classify(data).Kernel(kernels.RBF(1)).Tol(1e-6)
	free, fixed := testkit.FitOf(t, base.SMO()), testkit.FitOf(t, base.GradientAscent())
	if back := testkit.FitOf(t, base.GradientAscent().SMO()); back.Certificate.Dual != free.Certificate.Dual {
		t.Errorf("GradientAscent().SMO(): W = %v, SMO() has %v", back.Certificate.Dual, free.Certificate.Dual)
	}
	if using := testkit.FitOf(t, base.Using(solvers.GradientAscent{})); using.Certificate.Dual != fixed.Certificate.Dual {
		t.Errorf("Using(GradientAscent): W = %v, GradientAscent() has %v", using.Certificate.Dual, fixed.Certificate.Dual)
	}
	if late := testkit.FitOf(t, base.GradientAscent().FixedBias(0)); late.Certificate.Dual != testkit.FitOf(t, base.FixedBias(0).GradientAscent()).Certificate.Dual {
		t.Error("FixedBias after GradientAscent is another machine than before it")
	}
	if f := testkit.FitOf(t, Classify(data).CoordinateDescent().Kernel(kernels.Linear())); f.task.kernel != kernels.Kernel(kernels.Linear()) {
		t.Errorf("kernel %v", f.task.kernel)
	}
	relaxed := solvers.GradientAscent{Relax: solvers.Schedule{Start: 10, Decay: 1}}
	if f := testkit.FitOf(t, base.Using(relaxed)); f.task.fixed {
		t.Error("with Relax the bias is free, and it was fixed")
	}
}
