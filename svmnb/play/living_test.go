package play

import (
	"math"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/gp"
	"github.com/svmnb/svmnb/svmnb/internal/engine"
	"github.com/svmnb/svmnb/svmnb/living"
)

// A living figure has the dials of the sliders, and its kernels are written so that the values
// of the dials give the kernels of the exploration.
func TestLivingSpec(t *testing.T) {
	sinc := datasets.Sinc(30, 0.1, 1)
	for name, test := range map[string]struct {
		x       any
		task    string
		kernels string
		dials   string
	}{
		"data": {datasets.Moons(40, 0.2, 1), "classify", "RBF($gamma) Linear() Polynomial($degree, $gamma, $coef0) Laplacian($gamma) Matern52($length) RationalQuadratic($length, $alpha)",
			"C gamma gamma coef0 degree gamma length length alpha"},
		"two-norm":   {svmnb.Classify(datasets.Moons(40, 0.2, 1)).TwoNorm().Kernel(kernels.RBF(2)), "twonorm", "RBF($gamma)", "C gamma"},
		"ν":          {svmnb.Classify(datasets.Moons(40, 0.2, 1)).Nu(0.2).Kernel(kernels.RBF(2)), "nu", "RBF($gamma)", "nu gamma"},
		"one class":  {svmnb.OneClass(datasets.Moons(40, 0.2, 1)).Kernel(kernels.RBF(2)).Nu(0.1), "oneclass", "RBF($gamma)", "nu gamma"},
		"regression": {svmnb.Regress(sinc).Kernel(kernels.RBF(1)), "regress", "RBF($gamma)", "C epsilon gamma"},
		"process":    {gp.Regress(sinc).Kernel(kernels.Scale(2025, kernels.SquaredExponential(5))).NoiseVariance(484), "process", "Scale($Scale.c, SquaredExponential($length))", "NoiseVariance Scale.c length"},
	} {
		e, err := explore(test.x)
		if err != nil {
			t.Fatal(err)
		}
		s, why := e.spec()
		if why != "" {
			t.Errorf("%s: no living figure, because %s", name, why)
			continue
		}
		var forms, dials []string
		for _, k := range s.Kernels.([]living.Kernel) {
			forms = append(forms, k.Form)
		}
		for _, d := range s.Dials {
			dials = append(dials, d.Name)
		}
		if got := strings.Join(forms, " "); s.Task != test.task || !strings.HasPrefix(got, test.kernels) || !strings.HasPrefix(strings.Join(dials, " "), test.dials) || s.Stilled().Still == "" {
			t.Errorf("%s: task %s, kernels %s, dials %s", name, s.Task, got, dials)
		}
		if text, err := s.Element(); err != nil || !strings.HasPrefix(text, living.Beginning+` spec="{`) || strings.Count(text, "<") != 2 {
			t.Errorf("%s: %v %.80s", name, err, text)
		}
	}
}

// The engine's process is that of package gp.
func TestLivingProcess(t *testing.T) {
	ds := datasets.Motorcycle()
	fit := gp.Regress(ds).Kernel(kernels.Scale(2025, kernels.SquaredExponential(5))).NoiseVariance(484).Cholesky().MustFit()
	q := engine.Question{Task: engine.Process, X: ds.X, Y: ds.Y, Kernel: kernels.Scale(2025, kernels.SquaredExponential(5)), C: 484, Moment: -1, Xs: [2]float64{0, 60}, Nx: 61, Ny: 1}
	a, err := (&engine.Machine{}).Answer(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	var at [][]float64
	for i := range q.Nx {
		at = append(at, []float64{float64(i)})
	}
	b, err := fit.Posterior(t.Context(), datasets.Rows(at))
	if err != nil {
		t.Fatal(err)
	}
	for i := range at {
		if math.Abs(a.Field[i]-b.Mean[i]) > 1e-8 || math.Abs(a.SD[i]-math.Sqrt(b.Variance[i])) > 1e-8 {
			t.Fatalf("at %d: %g ± %g, package gp has %g ± %g", i, a.Field[i], a.SD[i], b.Mean[i], math.Sqrt(b.Variance[i]))
		}
	}
}
