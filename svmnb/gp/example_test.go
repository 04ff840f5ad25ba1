package gp_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/gp"
	"github.com/svmnb/svmnb/svmnb/model"
)

func ExampleRegress() {
	ctx := context.Background()
	gp := gp.Regress(datasets.Motorcycle()).
		Kernel(kernels.Scale(45*45, kernels.SquaredExponential(5))).NoiseVariance(22 * 22)
	fit := gp.MustFit()
	evidence, _ := fit.LogMarginalLikelihood(ctx)
	b, _ := fit.Posterior(ctx, datasets.Rows{{20}, {30}})
	fmt.Printf("ln p(y) = %.4f\n", evidence.Value)
	fmt.Printf("f(20) = %.2f, variance %.2f, of a new target %.2f\n", b.Mean[0], b.Variance[0], b.Variance[0]+b.Noise)
	fmt.Println(gp.CG())
	// Output:
	// ln p(y) = -621.3654
	// f(20) = -115.06, variance 31.58, of a new target 515.58
	// gp.Regress(motorcycle).Kernel(Scale(2025, SquaredExponential(5))).NoiseVariance(484).CG()
}

// A solver that stops early says how far it may be from the exact answer.
func ExampleProcess_CG() {
	fit, _ := gp.Regress(datasets.Motorcycle()).
		Kernel(kernels.Scale(45*45, kernels.SquaredExponential(5))).NoiseVariance(22 * 22).
		CG().MaxIterations(10).Fit(context.Background())
	b, _ := fit.Posterior(context.Background(), datasets.Rows{{20}})
	fmt.Println(fit.Status)
	fmt.Printf("y'A⁻¹y is between %.2f and %.2f\n", fit.Certificate.Lower, fit.Certificate.Upper)
	fmt.Printf("f(20) = %.1f ± %.1f, its variance between %.2f and %.2f\n", b.Mean[0], b.MeanError[0], b.VarianceLower[0], b.Variance[0])
	// Output:
	// iteration limit
	// y'A⁻¹y is between 138.45 and 138.54
	// f(20) = -114.7 ± 13.4, its variance between 31.48 and 31.61
}

func ExampleProcess_Optimise() {
	fit, _ := gp.Regress(datasets.Motorcycle()).Optimise().Fit(context.Background())
	end := fit.Optimisation.End()
	for i, name := range fit.Optimisation.Names {
		fmt.Printf("%s = %.2g\n", name, end.Values[i])
	}
	fmt.Printf("ln p(y) = %.2f\n", end.Evidence)
	// Output:
	// Scale.c = 2.1e+03
	// gamma = 0.018
	// noise = 5.1e+02
	// ln p(y) = -621.24
}

// Nineteen of twenty new targets are expected in the interval.
func ExampleBelief_Interval() {
	fit := gp.Regress(datasets.Motorcycle()).
		Kernel(kernels.Scale(45*45, kernels.SquaredExponential(5))).NoiseVariance(22 * 22).MustFit()
	b, _ := fit.Posterior(context.Background(), datasets.Rows{{20}, {70}})
	low, high := b.Interval(0.95)
	fmt.Printf("a target at 20 ms: %.0f … %.0f, at 70 ms: %.0f … %.0f\n", low[0], high[0], low[1], high[1])
	f := *b
	f.Noise = 0
	low, high = f.Interval(0.95)
	fmt.Printf("f at 20 ms: %.0f … %.0f, at 70 ms: %.0f … %.0f\n", low[0], high[0], low[1], high[1])
	// Output:
	// a target at 20 ms: -160 … -71, at 70 ms: -122 … 74
	// f at 20 ms: -126 … -104, at 70 ms: -112 … 64
}

// The kernel knows nothing of the unit of the targets; predictions are in that unit.
func ExampleProcess_NormaliseTargets() {
	fit := gp.Regress(datasets.Motorcycle()).NormaliseTargets().
		Kernel(kernels.SquaredExponential(5)).NoiseVariance(0.2).MustFit()
	b, _ := fit.Posterior(context.Background(), datasets.Rows{{20}, {30}})
	low, high := b.Interval(0.95)
	fmt.Printf("a target at 20 ms: %.0f g … %.0f g, at 30 ms: %.0f g … %.0f g\n", low[0], high[0], low[1], high[1])
	// Output: a target at 20 ms: -159 g … -72 g, at 30 ms: -13 g … 75 g
}

// What is known of hyperparameters beforehand: the noise has a standard deviation between 10
// and 20 g, and the variance of f is near 1000, within a factor of 2 in two cases of three.
func ExampleProcess_LogNormalPrior() {
	fit, _ := gp.Regress(datasets.Motorcycle()).
		Bound("noise", 10*10, 20*20).LogNormalPrior("Scale.c", 1000, math.Log(2)).
		Optimise().Fit(context.Background())
	end := fit.Optimisation.End()
	for i, name := range fit.Optimisation.Names {
		fmt.Printf("%s = %.2g\n", name, end.Values[i])
	}
	fmt.Printf("ln p(y) = %.1f, ln p(θ) = %.1f\n", end.Evidence, end.Prior)
	// Output:
	// Scale.c = 1.6e+03
	// gamma = 0.02
	// noise = 4e+02
	// ln p(y) = -623.3, ln p(θ) = -0.8
}

// How well a process predicts points that it has not seen.
func ExampleFit_Evaluate() {
	data := datasets.Motorcycle()
	train, test := data.Split(0.7, 1)
	fit := gp.Regress(train).Optimise().MustFit()
	e, err := fit.Evaluate(test) // e.Show() adds bootstrap intervals and a picture
	if err != nil {
		panic(err)
	}
	rmse, _ := e.RMSE()
	density, _ := e.NLPD()
	within, _ := e.Coverage(0.95)
	fmt.Printf("RMSE %.0f g, mean −ln p(y) %.2f, %.0f %% of the targets in their 95 %% interval\n", rmse, density, 100*within)
	// Output: RMSE 22 g, mean −ln p(y) 4.53, 95 % of the targets in their 95 % interval
}

// Near points have a correlated posterior.
func ExampleFit_Covariance() {
	fit := gp.Regress(datasets.Motorcycle()).
		Kernel(kernels.Scale(45*45, kernels.SquaredExponential(5))).NoiseVariance(22 * 22).MustFit()
	c, _ := fit.Covariance(context.Background(), datasets.Rows{{20}, {21}, {40}})
	for _, row := range c {
		fmt.Printf("%.1f\n", row)
	}
	// Output:
	// [31.6 31.4 -0.1]
	// [31.4 35.1 -0.5]
	// [-0.1 -0.5 51.5]
}

// A kernel that is a sum takes a function apart.
func ExampleFit_Components() {
	ctx := context.Background()
	fit, _ := gp.Regress(datasets.CO2()).Kernel(kernels.Sum(
		kernels.Scale(66*66, kernels.SquaredExponential(67)),
		kernels.Scale(2.4*2.4, kernels.Product(kernels.SquaredExponential(90), kernels.Periodic(1, 1.3))),
		kernels.Scale(.66*.66, kernels.RationalQuadratic(1.2, .78)),
	)).NoiseVariance(.04).Fit(ctx)
	parts, _ := fit.Components(ctx, datasets.Rows{{1990.375}, {1990.75}}) // May and October
	fmt.Printf("above the mean of %.2f ppm\n", fit.Offset)
	for i, name := range []string{"trend", "season", "years"} {
		fmt.Printf("%s %+.2f and %+.2f\n", name, parts[i].Mean[0], parts[i].Mean[1])
	}
	// Output:
	// above the mean of 337.05 ppm
	// trend +16.01 and +16.60
	// season +2.94 and -3.42
	// years +0.78 and +0.83
}

// The same seed draws the same functions, of the posterior and before any observation.
func ExampleFit_Sample() {
	ctx := context.Background()
	gp := gp.Regress(datasets.Motorcycle()).
		Kernel(kernels.Scale(45*45, kernels.SquaredExponential(5))).NoiseVariance(22 * 22)
	x := [][]float64{{20}, {30}, {100}} // time in ms; nothing is known of the last
	before, _ := gp.Prior(ctx, datasets.Rows(x), 3, 1)
	after, _ := gp.MustFit().Sample(ctx, datasets.Rows(x), 3, 1)
	for i := range after.Values {
		fmt.Printf("%6.1f | %6.1f\n", before.Values[i], after.Values[i])
	}
	// Output:
	// [  17.7  -19.1  -54.8] | [-109.7   30.8  -54.8]
	// [ -76.3  -11.3  -57.3] | [-121.4   33.8  -57.3]
	// [ -69.7  -23.5  -15.9] | [-120.6   31.9  -15.9]
}

// ν-SVR finds the width of its tube: at most ν of the points lie outside.
func ExampleRegressor_Nu() {
	fit := svmnb.Regress(datasets.Sinc(100, 0.1, 1)).Kernel(kernels.RBF(0.2)).C(10).Nu(0.3).MustFit()
	bound := 0
	for _, v := range fit.SupportVectors() {
		if v.Bound {
			bound++
		}
	}
	fmt.Printf("ε = %.2f, %d support vectors, %d outside the tube\n", fit.Epsilon, len(fit.SupportVectors()), bound)
	// Output: ε = 0.09, 39 support vectors, 23 outside the tube
}

// Laplace's approximation is within a known distance of the maximum. Far from the points, the
// probabilities return to one half.
func ExampleClassify() {
	ctx := context.Background()
	data := datasets.Moons(100, 0.2, 1)
	fit, _ := gp.Classify(data).Kernel(kernels.Scale(9, kernels.SquaredExponential(0.5))).Fit(ctx)
	p, _ := fit.Probability(ctx, datasets.Rows{{0, 1}, {1, -0.5}, {50, 50}})
	fmt.Printf("%.2f, %.2f, %.2f\n", p[0][1], p[1][1], p[2][1])
	fmt.Printf("ln p(y) ≈ %.3f, gap below 1e-6: %v\n", fit.LogMarginalLikelihood(), fit.Gap < 1e-6)
	// Output:
	// 0.94, 0.08, 0.50
	// ln p(y) ≈ -24.053, gap below 1e-6: true
}

// Threes and fives that the process has not seen.
func ExampleClassifier_EP() {
	ctx := context.Background()
	seen, unseen := datasets.Digits().Pair("5", "3").Split(0.5, 1)
	fit, _ := gp.Classify(seen).Kernel(kernels.Scale(100, kernels.SquaredExponential(25))).EP().Fit(ctx)
	e, _ := fit.Evaluate(ctx, unseen)
	fmt.Printf("%v after %d sweeps: %.0f %% of %d right, −ln p(class) = %.2f on average\n", fit.Status, fit.Iterations, 100*e.Accuracy, unseen.N(), e.NLPD)
	// Output:
	// converged after 30 sweeps: 98 % of 182 right, −ln p(class) = 0.07 on average
}

// The evidence lies between bounds that take no factor of the matrix.
func ExampleFit_EvidenceWithin() {
	fit := gp.Regress(datasets.Motorcycle()).
		Kernel(kernels.Scale(45*45, kernels.SquaredExponential(5))).NoiseVariance(22 * 22).CG().MustFit()
	e, _ := fit.EvidenceWithin(context.Background(), 12)
	fmt.Printf("between %.1f and %.1f, and %.0f of the width is due to ln|A|\n", e.Lower, e.Upper, e.LogDetUpper-e.LogDetLower)
	// Output:
	// between -623.3 and -620.7, and 5 of the width is due to ln|A|
}

// Sixteen of 133 points nearly determine f.
func ExampleProcess_Inducing() {
	fit, _ := gp.Regress(datasets.Motorcycle()).
		Kernel(kernels.Scale(45*45, kernels.SquaredExponential(5))).NoiseVariance(22 * 22).
		Inducing(16).Fit(context.Background())
	b, _ := fit.Posterior(context.Background(), datasets.Rows{{20}})
	fmt.Printf("f(20) = %.0f ± %.0f\n", b.Mean[0], 2*math.Sqrt(b.Variance[0]))
	fmt.Printf("ln p(y) is between %.1f and %.1f\n", fit.Lower, fit.Upper)
	// Output:
	// f(20) = -115 ± 11
	// ln p(y) is between -621.4 and -616.4
}

// An outlier of 3 moves a normal process and hardly moves one with Student's noise.
func ExampleProcess_Likelihood() {
	ctx := context.Background()
	data := datasets.Sinc(60, 0.05, 1)
	data.Y[22] += 3
	p := gp.Regress(data).Kernel(kernels.SquaredExponential(1)).NoiseVariance(0.01)
	at := datasets.Rows{data.X[22]}
	normal, _ := p.MustFit().Predict(at)
	robust, _ := p.Likelihood(gp.StudentT(4)).MustFit().Predict(ctx, at)
	fmt.Printf("f = %.2f, normal %.2f, robust %.2f\n", datasets.Sinc(60, 0, 1).Y[22], normal[0], robust[0])
	// Output:
	// f = 0.24, normal 1.35, robust 0.20
}

// A process of nearest neighbours is saved with its points and targets, and predicts from the file
// as before, to the bit.
func ExampleNeighbourFit_Model() {
	ctx := context.Background()
	var x [][]float64
	var y []float64
	for i := range 400 {
		east, north := float64(i%20), float64(i/20)
		x, y = append(x, []float64{east, north}), append(y, math.Sin(east/4)+math.Cos(north/3))
	}
	fit, _ := gp.Regress(datasets.New(x, y)).Kernel(kernels.ARDMatern52(5, 4)).NoiseVariance(1e-4).Neighbours(20).Fit(ctx)
	path := filepath.Join(os.TempDir(), "field.model")
	defer os.Remove(path)
	if err := model.Save(path, fit); err != nil {
		fmt.Println(err)
		return
	}
	field, _ := model.Load(path)
	at := datasets.Rows{{7.5, 3.5}}
	before, _ := fit.Posterior(ctx, at)
	after, _ := gp.PosteriorOf(ctx, field, at)
	fmt.Printf("f = %.3f, predicted %.3f ± %.3f\n", math.Sin(7.5/4)+math.Cos(3.5/3), after.Mean[0], 2*math.Sqrt(after.Variance[0]))
	fmt.Println("as before:", after.Mean[0] == before.Mean[0] && after.Variance[0] == before.Variance[0])
	// Output:
	// f = 1.347, predicted 1.346 ± 0.036
	// as before: true
}
