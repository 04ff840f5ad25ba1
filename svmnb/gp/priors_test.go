package gp

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"pgregory.net/rapid"
)

// The densities are those of the textbook, for ln θ: that of θ times θ. They integrate to 1,
// and their derivatives are differences.
func TestPriorDensities(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Float64Range(0.5, 5).Draw(t, "a"), rapid.Float64Range(0.5, 3).Draw(t, "b")
		for _, d := range []prior{{"LogNormalPrior", a, b}, {"GammaPrior", a, b}} {
			textbook := func(theta float64) float64 {
				if d.call == "GammaPrior" {
					return math.Pow(b, a) * math.Pow(theta, a-1) * math.Exp(-b*theta) / math.Gamma(a)
				}
				z := math.Log(theta/a) / b
				return math.Exp(-z*z/2) / (theta * b * math.Sqrt(2*math.Pi))
			}
			const h, step = 1e-5, 0.01
			sum := 0.0
			for x := -40.0; x < 30; x += step {
				v, _ := d.density(x)
				sum += math.Exp(v) * step
			}
			if math.Abs(sum-1) > 1e-6 {
				t.Fatalf("%v: the density has the integral %g", d, sum)
			}
			x := rapid.Float64Range(-3, 3).Draw(t, "x")
			v, slope := d.density(x)
			if want := math.Log(textbook(math.Exp(x))) + x; math.Abs(v-want) > 1e-9*(1+math.Abs(want)) {
				t.Fatalf("%v at %g: %g, want %g", d, x, v, want)
			}
			up, _ := d.density(x + h)
			down, _ := d.density(x - h)
			if want := (up - down) / (2 * h); math.Abs(slope-want) > 1e-5*(1+math.Abs(want)) {
				t.Fatalf("%v at %g: the slope is %g, want %g", d, x, slope, want)
			}
		}
	})
}

// However hyperparameters are bounded and expected, all points of all ascents are within the
// bounds, heights do not fall, and at the end the slope of what is maximised is the one that
// is reported.
func TestBoundsAndPriorsOfAscents(t *testing.T) {
	converged, bounded := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		x, y, noise, _ := drawProcess(rt)
		p := Regress(datasets.New(x, y)).Kernel(kernels.Scale(1.5, kernels.RBF(0.5))).NoiseVariance(noise[0]).Restarts(1, 3)
		names := []string{"Scale.c", "gamma", "noise"}
		bounds := map[string][2]float64{}
		for _, name := range names {
			if rapid.Bool().Draw(rt, "bound "+name) {
				low := math.Exp(rapid.Float64Range(-4, 3).Draw(rt, "low"))
				high := low * math.Exp(rapid.Float64Range(0.01, 5).Draw(rt, "width"))
				switch rapid.IntRange(0, 3).Draw(rt, "sides") {
				case 0:
					low = 0
				case 1:
					high = math.Inf(1)
				}
				bounds[name] = [2]float64{low, high}
				p = p.Bound(name, low, high)
			}
			switch rapid.IntRange(0, 2).Draw(rt, "prior") {
			case 1:
				p = p.LogNormalPrior(name, rapid.Float64Range(0.1, 5).Draw(rt, "median"), rapid.Float64Range(0.1, 2).Draw(rt, "sigma"))
			case 2:
				p = p.GammaPrior(name, rapid.Float64Range(0.5, 5).Draw(rt, "shape"), rapid.Float64Range(0.1, 2).Draw(rt, "rate"))
			}
		}
		fit := testkit.FitOf(rt, p)
		o := fit.Optimisation
		if !slices.Equal(o.Names, names) {
			rt.Fatalf("names %q", o.Names)
		}
		learned, err := fit.task.hyperparameters()
		if err != nil {
			rt.Fatal(err)
		}
		said, err := fit.task.saidOf(learned)
		if err != nil {
			rt.Fatal(err)
		}
		height := func(values []float64) float64 {
			v := evidenceOf(fit.task, values)
			for i, h := range said {
				d, _ := h.prior.density(math.Log(values[i]))
				v += d
			}
			return v
		}
		end := o.End()
		for _, a := range o.Ascents {
			for _, pt := range a.Path {
				for i, name := range names {
					if b, ok := bounds[name]; ok && (pt.Values[i] < b[0]*(1-1e-12) || pt.Values[i] > b[1]*(1+1e-12)) {
						rt.Fatalf("%s = %g is outside %v", name, pt.Values[i], b)
					}
					if v := pt.Values[i]; v < o.Low[i]*(1-1e-12) || v > o.High[i]*(1+1e-12) {
						rt.Fatalf("%s = %g is outside %g … %g", name, v, o.Low[i], o.High[i])
					}
				}
				if pt.height() > end.height() {
					rt.Fatalf("the end is at %g, below %g", end.height(), pt.height())
				}
			}
		}
		if got := height(end.Values); math.Abs(got-end.height()) > 1e-8*(1+math.Abs(got)) {
			rt.Fatalf("the height is %g, said to be %g", got, end.height())
		}
		slope := 0.0
		for i := range names {
			const h = 1e-4
			at := func(step float64) float64 {
				v := slices.Clone(end.Values)
				v[i] *= math.Exp(step)
				return height(v)
			}
			g := (at(h) - at(-h)) / (2 * h)
			width := math.Log(o.High[i] / o.Low[i])
			near := min(0.02, width/100) * 1.01
			outwards := math.Log(o.High[i]/end.Values[i]) < near && g > 0 || math.Log(end.Values[i]/o.Low[i]) < near && g < 0
			if outwards {
				bounded++
				continue
			}
			slope = max(slope, math.Abs(g))
		}
		if math.Abs(slope-end.Slope) > 2e-4+1e-3*slope {
			rt.Fatalf("the slope is %g, said to be %g at %v", slope, end.Slope, end.Values)
		}
		if o.Ascents[o.Best].Status == solvers.Converged {
			converged++
		}
	})
	if !testing.Short() && (converged < 80 || bounded < 10) { // with -short, rapid draws fewer problems
		t.Errorf("%d of 100 ascents converged, %d ends are at a bound", converged, bounded)
	}
}

// A sharp prior decides, a vague one does not.
func TestPriorsDecideAsTheyAreSharp(t *testing.T) {
	free := testkit.FitOf(t, motorcycle().Optimise()).Optimisation.End()
	at := func(p Process) AscentPoint { return testkit.FitOf(t, p.Optimise()).Optimisation.End() }
	testkit.Near(t, "sharp log-normal", at(motorcycle().LogNormalPrior("noise", 300, 1e-4)).Values[2], 300, 1e-4)
	testkit.Near(t, "sharp gamma", at(motorcycle().GammaPrior("noise", 1e8, 1e8/300)).Values[2], 300, 1e-3)
	for _, p := range []Process{motorcycle().LogNormalPrior("noise", 300, 1e4), motorcycle().GammaPrior("noise", 1e-6, 1e-9)} {
		end := at(p)
		for i, v := range free.Values {
			testkit.Near(t, "vague: "+p.String(), end.Values[i], v, 5e-3)
		}
		if end.Prior == 0 {
			t.Errorf("%v: no density", p)
		}
	}
	// Between the two, data and prior share.
	if v := at(motorcycle().LogNormalPrior("noise", 100, 0.1)).Values[2]; !(v > 110 && v < free.Values[2]) {
		t.Errorf("the noise is %g, between 100 and %g", v, free.Values[2])
	}
	// A bound that the maximum is inside of changes nothing but the way there.
	for i, v := range at(motorcycle().Bound("noise", 100, 1000)).Values {
		testkit.Near(t, "loose bound", v, free.Values[i], 2e-3)
	}
	fit := testkit.FitOf(t, motorcycle().Kernel(kernels.Scale(45*45, kernels.RBF(0.02))).Bound("noise", 0, 300).Bound("Scale.RBF.gamma", 0, 0.001).LogNormalPrior("Scale.c", 1000, 0.5).Optimise())
	end := fit.Optimisation.End()
	if math.Abs(math.Log(end.Values[2]/300)) > 0.03 || math.Abs(math.Log(end.Values[1]/0.001)) > 0.03 {
		t.Errorf("the ends are %v", end.Values)
	}
	if hints := strings.Join(fit.Hints(), "\n"); !strings.Contains(hints, "ended at its bound") || !strings.Contains(hints, "wider Bound") {
		t.Errorf("hints %q", hints)
	}
	for _, want := range []string{"ln p(y) + ln p(θ) rose from", "`Bound(\"Scale.RBF.gamma\", 0, 0.001).LogNormalPrior(\"Scale.c\", 1000, 0.5).Bound(\"noise\", 0, 300)`"} {
		if text := fit.Markdown(); !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	// Without Optimise nothing is learned, and the description keeps what was said.
	if plain := testkit.FitOf(t, motorcycle().Bound("noise", 600, 700)); plain.Optimisation != nil || plain.Description.noise != 484 {
		t.Errorf("%v", plain.Description)
	}
	if again := testkit.FitOf(t, fit.Description.Optimise()).Optimisation.End(); math.Abs(again.height()-end.height()) > 0.1 {
		t.Errorf("again %v, at first %v", again, end)
	}
}

func TestBoundsAndPriorsRefuse(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		call string
		p    Process
		says string
	}{
		{"Bound", motorcycle().Bound("noise", 2, 1), `"noise" are 2 and 1`},
		{"Bound", motorcycle().Bound("noise", 0, 0), "high > 0"},
		{"Bound", motorcycle().Bound("noise", -1, 1), "0 ≤ low ≤ high"},
		{"Bound", motorcycle().Bound("noise", nan, 1), "0 ≤ low ≤ high"},
		{"Bound", motorcycle().Bound("noise", 1, nan), "0 ≤ low ≤ high"},
		{"Bound", motorcycle().Bound("noise", inf, inf), "0 ≤ low ≤ high"},
		{"LogNormalPrior", motorcycle().LogNormalPrior("noise", 0, 1), `the median for "noise" is 0`},
		{"LogNormalPrior", motorcycle().LogNormalPrior("noise", 1, inf), `the sigma for "noise" is +Inf`},
		{"GammaPrior", motorcycle().GammaPrior("noise", nan, 1), `the shape for "noise" is NaN`},
		{"GammaPrior", motorcycle().GammaPrior("noise", 1, -2), `the rate for "noise" is -2`},
		{"Bound", motorcycle().Bound("sigma", 1, 2).Optimise(), `"sigma" does not name one hyperparameter that Optimise learns; there are Scale.c, length, noise`},
		{"GammaPrior", motorcycle().GammaPrior("", 1, 2).Optimise(), `"" does not name one`},
		{"LogNormalPrior", motorcycle().NoiseVariances(make([]float64, 133)).LogNormalPrior("noise", 1, 2).Optimise(), "there are Scale.c, length"},
		{"Bound", motorcycle().Kernel(kernels.Scale(2, kernels.Fixed(kernels.RBF(1)))).Bound("Scale.RBF.gamma", 1, 2).Optimise(), "there are Scale.c, noise"},
		{"Bound", motorcycle().Kernel(kernels.Sum(kernels.RBF(1), kernels.RBF(2))).Bound("gamma", 1, 2).Optimise(), `"gamma" does not name one hyperparameter that Optimise learns; there are RBF1.gamma, RBF2.gamma, noise`},
		{"LogNormalPrior", motorcycle().Bound("SquaredExponential.length", 1, 2).LogNormalPrior("length", 1, 2).Optimise(), `"SquaredExponential.length" and "length" name the same`},
	} {
		if fit, err := c.p.Fit(ctx); fit != nil || !testkit.IsArgument(err, c.call) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %v, want %q", c.p, err, c.says)
		}
	}
	// What was wrong and is said again is forgotten, and no bound at all is the default.
	p := motorcycle().Bound("noise", 2, 1).Bound("noise", 0, inf)
	if s := p.String(); strings.Contains(s, "Bound") {
		t.Errorf("%s", s)
	}
	free, again := testkit.FitOf(t, motorcycle().Optimise()), testkit.FitOf(t, p.Optimise())
	if !slices.Equal(free.Alpha, again.Alpha) {
		t.Error("open bounds are not the default")
	}
	base := motorcycle().Bound("noise", 1, 2)
	if want := `.Bound("noise", 1, math.Inf(1))`; !strings.Contains(motorcycle().Bound("noise", 1, inf).String(), want) {
		t.Errorf("no %s in %s", want, motorcycle().Bound("noise", 1, inf))
	}
	before := base.String()
	base.Bound("noise", 3, 4).LogNormalPrior("Scale.c", 1, 1)
	if base.String() != before {
		t.Error("a fork has changed its base")
	}
	var zero Process
	if _, err := zero.Bound("noise", 1, 2).LogNormalPrior("noise", 1, 2).Optimise().Fit(ctx); !testkit.IsArgument(err, "Regress") {
		t.Errorf("zero Process: %v", err)
	}
}

// A hyperparameter with equal bounds has their value, to the bit, and the others are those of an
// ascent without it: by factors, by inducing points and by neighbours.
func TestHeld(t *testing.T) {
	base := motorcycle().Kernel(kernels.Scale(45*45, kernels.SquaredExponential(3))).NoiseVariance(300)
	held := base.Bound("noise", 0.7*300, 0.7*300).Optimise()
	fixed := base.NoiseVariances(slices.Repeat([]float64{0.7 * 300}, 133)).Optimise()
	end, want := testkit.FitOf(t, held.Restarts(1, 2)).Optimisation, testkit.FitOf(t, fixed.Restarts(1, 2)).Optimisation
	if v := end.End().Values; v[2] != 0.7*300 || end.Low[2] != v[2] || end.High[2] != v[2] || len(want.Names) != 2 {
		t.Fatalf("%v in %v to %v", v, end.Low, end.High)
	}
	for i, v := range want.End().Values {
		testkit.Near(t, want.Names[i], end.End().Values[i], v, 1e-3*v)
	}
	testkit.Near(t, "evidence", end.End().Evidence, want.End().Evidence, 1e-4)
	if !strings.Contains(testkit.FitOf(t, held).Description.String(), "NoiseVariance(210)") {
		t.Error(testkit.FitOf(t, held).Description)
	}
	length := base.Bound("length", 2, 2).Optimise()
	for name, o := range map[string]*Optimisation{
		"inducing":   testkit.FitOf(t, length.Inducing(10)).Optimisation,
		"neighbours": testkit.FitOf(t, length.Neighbours(10)).Optimisation,
		"all":        testkit.FitOf(t, length.Bound("noise", 300, 300).Bound("Scale.c", 2000, 2000)).Optimisation,
	} {
		if v := o.End().Values; v[1] != 2 || name == "all" && !slices.Equal(v, []float64{2000, 2, 300}) || o.End().Slope > flat {
			t.Errorf("%s: %v, slope %v", name, v, o.End().Slope)
		}
	}
}
