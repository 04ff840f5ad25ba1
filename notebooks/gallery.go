package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/bayesopt"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/gp"
	"github.com/svmnb/svmnb/svmnb/model"
	"github.com/svmnb/svmnb/svmnb/play"
	"github.com/svmnb/svmnb/svmnb/selection"
	"github.com/svmnb/svmnb/svmnb/static"
	"github.com/svmnb/svmnb/svmnb/transform"
)

// The gallery command writes docs/gallery.md and the images beside it. They show every
// figure of package svmnb with the line of code that makes it, for light pages and, in files
// whose names end in -dark, for dark ones.

// exhibit is a picture of the gallery.
type exhibit struct {
	file string // name of the image file without its extension
	of   string // the names in package svmnb that it shows, separated by spaces
	code string // the code that makes the picture, for the page
	draw func() (*display.Chart, error)
}

// room is a part of the gallery.
type room struct {
	title    string
	setup    string // the code that the exhibits depend on, for the page
	exhibits []exhibit
}

const (
	galleryWidth = 640
	galleryBytes = 60_000 // largest size of an image
)

// gallery describes the fits and returns the rooms. Nothing is computed before a picture is
// drawn. of may replace the data; for the gallery it returns them unchanged.
func gallery(of func(*datasets.Dataset) *datasets.Dataset) []room {
	folds := selection.StratifiedKFold(5, 1)
	moons := svmnb.Classify(of(datasets.Moons(120, 0.2, 42))).Kernel(kernels.RBF(1.2)).C(2)
	few := svmnb.Classify(of(datasets.Moons(30, 0.2, 42))).Kernel(kernels.RBF(1.2))
	fit := sync.OnceValue(func() *svmnb.Fit { return moons.MustFit() })
	chunked := sync.OnceValue(func() *svmnb.Fit { return moons.Using(solvers.Chunking{Initial: 10, M: 15}).MustFit() })
	straight := sync.OnceValue(func() *svmnb.Fit {
		return svmnb.Classify(of(datasets.BreastCancer().Standardised())).Kernel(kernels.Linear()).C(0.1).MustFit()
	})
	cancer := sync.OnceValue(func() *svmnb.Fit { return svmnb.Classify(of(datasets.BreastCancer().Standardised())).C(1).MustFit() })
	iris := sync.OnceValue(func() *svmnb.MultiFit { return svmnb.Classify(of(datasets.Iris())).C(10).OneVsOne().MustFit() })
	petals := sync.OnceValue(func() *svmnb.MultiFit {
		return svmnb.Classify(of(datasets.Iris().Columns(2, 3))).C(10).OneVsOne().MustFit()
	})
	c := sync.OnceValue(func() *svmnb.Calibrated { return fit().MustCalibrate(svmnb.Platt{Folds: 5, Seed: 1}) })
	judged := sync.OnceValue(func() *svmnb.Refereed {
		e := func(name string, m model.Modeler) svmnb.Entry { return svmnb.Entry{Name: name, Model: m} }
		return moons.MustReferee(e("Tol(0.1)", moons.Tol(0.1).MustFit()), e("Tol(1e-3)", fit()), e("Tol(1e-6)", moons.Tol(1e-6).MustFit()),
			e("20 landmarks", moons.Approximate(svmnb.Nystroem{Landmarks: 20}).MustFit()))
	})
	careful := sync.OnceValue(func() *svmnb.Thresholded {
		return svmnb.Classify(of(datasets.Moons(200, 0.4, 2))).Kernel(kernels.RBF(1)).MustFit().MustThreshold(svmnb.ForCost(1, 5))
	})
	s := sync.OnceValue(func() *selection.SearchFit {
		return selection.Search(moons, selection.Grid{"C": selection.Log2(-3, 9, 2), "gamma": selection.Log2(-5, 5, 2)}, folds).MustFit()
	})
	sinc := svmnb.Regress(of(datasets.Sinc(100, 0.1, 1))).Kernel(kernels.RBF(0.3)).C(10).Epsilon(0.1)
	crashes := of(datasets.Motorcycle())
	motorcycle := gp.Regress(crashes).Kernel(kernels.Scale(45*45, kernels.SquaredExponential(5))).NoiseVariance(22 * 22)
	process := sync.OnceValue(func() *gp.Fit { return motorcycle.MustFit() })
	var learnt, held []int
	for i := range crashes.N() {
		if i%5 == 2 {
			held = append(held, i)
		} else {
			learnt = append(learnt, i)
		}
	}
	test := crashes.Select(held)
	part := sync.OnceValue(func() *gp.Fit { return motorcycle.On(crashes.Select(learnt)).MustFit() })
	sugar := sync.OnceValue(func() *gp.Fit {
		return gp.Regress(of(datasets.Diabetes().Standardised())).NormaliseTargets().
			Kernel(kernels.ScaleKernel{C: 1, K: kernels.ARD(slices.Repeat([]float64{3}, 10)...)}).NoiseVariance(0.5).Optimise().MustFit()
	})
	co2 := sync.OnceValue(func() *gp.Fit {
		return gp.Regress(of(datasets.CO2())).Kernel(kernels.Sum(
			kernels.Scale(66*66, kernels.SquaredExponential(67)),
			kernels.Scale(2.4*2.4, kernels.Product(kernels.SquaredExponential(90), kernels.Periodic(1, 1.3))),
		)).NoiseVariance(0.1).MustFit()
	})
	highest := sync.OnceValue(func() *bayesopt.Optimum {
		wave := func(x []float64) float64 { return math.Sin(3*x[0]) + 0.3*x[0] }
		return bayesopt.Maximise(wave, selection.Range{Low: 0, High: 6}).Evaluations(9).MustFit()
	})
	flowers, digits := of(datasets.Iris()), of(datasets.Digits().Select(first(60)))
	patients := of(datasets.Diabetes())
	drinking, tasting := datasets.Wine().Split(0.6, 1)
	standard := datasets.Diabetes().Standardised()
	sure := sync.OnceValue(func() *selection.ConformalEvaluation {
		train, rest := of(datasets.Diabetes().Standardised()).Split(0.4, 1)
		held, test := rest.Split(0.5, 1)
		e, err := selection.MustConformalise(svmnb.Regress(train).C(10).MustFit(), held).Evaluate(test)
		if err != nil {
			panic(err)
		}
		return e
	})
	progression := sync.OnceValue(func() *model.Model {
		return svmnb.Regress(of(standard)).Kernel(kernels.RBF(0.03)).C(60).MustFit().Model().Transformed()
	})
	rings := sync.OnceValue(func() *selection.PipeFit {
		return selection.Pipe(transform.KernelPCA(kernels.RBF(2), 3), svmnb.Classify(of(datasets.Circles(120, 0.05, 1)))).MustFit()
	})
	wines := sync.OnceValue(func() *selection.PipeFit {
		return selection.Pipe(transform.Standardise(), svmnb.Classify(drinking).Kernel(kernels.RBF(0.05)).OneVsOne()).MustFit()
	})
	gaps := sync.OnceValue(func() *datasets.Table { return withGaps(flowers) })
	distances := func() []display.Curve {
		var curves []display.Curve
		for _, k := range []kernels.Kernel{kernels.RBF(0.5), kernels.Matern32(1), kernels.Exponential(1)} {
			c := display.Curve{Name: k.String()}
			for r := 0.0; r <= 4; r += 0.05 {
				c.Add(r, k.Eval([]float64{0}, []float64{r}))
			}
			curves = append(curves, c)
		}
		return curves
	}
	return []room{
		{"Data", "`distances` are the values of three kernels. `flowers` is `datasets.Iris()`, and `gaps` a table of it from which some values were taken. `patients` is `datasets.Diabetes()`, and `digits` are the first of `datasets.Digits()`.", []exhibit{
			{"pairs", "Pairs", "display.Pairs(flowers).Chart()", func() (*display.Chart, error) { return display.Pairs(flowers).Chart() }},
			{"histograms", "Histograms", "display.Histograms(gaps()).Chart()", func() (*display.Chart, error) { return display.Histograms(gaps()).Chart() }},
			{"missing", "Missing", "display.Missing(gaps()).Chart()", func() (*display.Chart, error) { return display.Missing(gaps()).Chart() }},
			{"correlations", "Correlations", "display.Correlations(patients).Chart()", func() (*display.Chart, error) { return display.Correlations(patients).Chart() }},
			{"lines", "Lines LinePlot", `display.Lines("At distance 2, three kernels are all 0.14", "distance", "K", distances()...).Mark(2, 0.14, "0.14").Chart()`, func() (*display.Chart, error) {
				return display.Lines("At distance 2, three kernels are all 0.14", "distance", "K", distances()...).Mark(2, 0.14, "0.14").Chart()
			}},
			{"mmd", "TwoSampleTest", "svmnb.MMD(datasets.Rows(flowers.X[50:75]), datasets.Rows(flowers.X[100:125])).MustTest().Chart()", func() (*display.Chart, error) {
				return svmnb.MMD(datasets.Rows(flowers.X[50:75]), datasets.Rows(flowers.X[100:125])).MustTest().Chart()
			}},
			{"images", "Images", "display.Images(digits, 8, 8).Chart()", func() (*display.Chart, error) { return display.Images(digits, 8, 8).Chart() }},
		}},
		{"Classifiers", "`fit` is `svmnb.Classify(datasets.Moons(120, 0.2, 42)).Kernel(kernels.RBF(1.2)).C(2).MustFit()`. `cancer` is a fit of 30 features, and `straight` one of the same features with the linear kernel. `iris` and `petals` are fits of three classes, with four features and with two. `rings` is a fit of three kernel principal components, `selection.Pipe(transform.KernelPCA(kernels.RBF(2), 3), svmnb.Classify(datasets.Circles(120, 0.05, 1))).MustFit()`.", []exhibit{
			{"margins", "Margins", "svmnb.Margins.Of(fit())", func() (*display.Chart, error) { return svmnb.Margins.Of(fit()) }},
			{"enclose", "Margins", "svmnb.Margins.Of(svmnb.Enclose(datasets.Moons(120, 0.2, 42)).Kernel(kernels.RBF(1.2)).Nu(0.1).MustFit())", func() (*display.Chart, error) {
				return svmnb.Margins.Of(svmnb.Enclose(datasets.Moons(120, 0.2, 42)).Kernel(kernels.RBF(1.2)).Nu(0.1).MustFit())
			}},
			{"kernel-pca", "MarginsOver", "svmnb.MarginsOver(0, 2).Of(rings().Fit())", func() (*display.Chart, error) { return svmnb.MarginsOver(0, 2).Of(rings().Fit()) }},
			{"scores", "Margins", "svmnb.Margins.Of(cancer())", func() (*display.Chart, error) { return svmnb.Margins.Of(cancer()) }},
			{"margins-over", "MarginsOver", "svmnb.MarginsOver(0, 1).Of(cancer())", func() (*display.Chart, error) { return svmnb.MarginsOver(0, 1).Of(cancer()) }},
			{"margins-pca", "MarginsPCA", "svmnb.MarginsPCA().Of(cancer())", func() (*display.Chart, error) { return svmnb.MarginsPCA().Of(cancer()) }},
			{"regions", "Regions", "svmnb.Regions.Of(petals())", func() (*display.Chart, error) { return svmnb.Regions.Of(petals()) }},
			{"regions-pca", "MarginsPCA", "svmnb.MarginsPCA().Of(iris())", func() (*display.Chart, error) { return svmnb.MarginsPCA().Of(iris()) }},
			{"alphas", "Alphas", "svmnb.Alphas.Of(fit())", func() (*display.Chart, error) { return svmnb.Alphas.Of(fit()) }},
			{"weights", "Weights", "svmnb.Weights.Of(straight())", func() (*display.Chart, error) { return svmnb.Weights.Of(straight()) }},
			{"kernel-matrix", "KernelMatrix", "svmnb.KernelMatrix().Of(iris())", func() (*display.Chart, error) { return svmnb.KernelMatrix().Of(iris()) }},
		}},
		{"How a solver ran", "`chunked` is `fit` solved by `solvers.Chunking{Initial: 10, M: 15}`.", []exhibit{
			{"kkt", "KKT", "svmnb.KKT.Of(fit())", func() (*display.Chart, error) { return svmnb.KKT.Of(fit()) }},
			{"gap", "Gap", "svmnb.Gap.Of(fit())", func() (*display.Chart, error) { return svmnb.Gap.Of(fit()) }},
			{"rate", "Rate", "svmnb.Rate.Of(fit())", func() (*display.Chart, error) { return svmnb.Rate.Of(fit()) }},
			{"margin-width", "MarginWidth", "svmnb.MarginWidth.Of(fit())", func() (*display.Chart, error) { return svmnb.MarginWidth.Of(fit()) }},
			{"effort", "Effort", "svmnb.Effort.Of(fit())", func() (*display.Chart, error) { return svmnb.Effort.Of(fit()) }},
			{"working-sets", "WorkingSets", "svmnb.WorkingSets.Of(fit())", func() (*display.Chart, error) { return svmnb.WorkingSets.Of(fit()) }},
			{"chunks", "Chunks", "svmnb.Chunks.Of(chunked())", func() (*display.Chart, error) { return svmnb.Chunks.Of(chunked()) }},
			{"race", "Race RaceResult", "play.Race(moons, solvers.SMO{}, solvers.ConjugateSMO{}, solvers.PrimalDual{}).Chart()", func() (*display.Chart, error) {
				return play.Race(moons, solvers.SMO{}, solvers.ConjugateSMO{}, solvers.PrimalDual{}).Chart()
			}},
			{"replay", "Replay", "play.Replay(fit()).Chart()", func() (*display.Chart, error) { return play.Replay(fit()).Chart() }},
			{"replay-step", "ReplayStep", "play.ReplayStep(fit(), 4).Chart()", func() (*display.Chart, error) { return play.ReplayStep(fit(), 4).Chart() }},
			{"coordinate-ascent", "CoordinateAscent", "play.CoordinateAscent([2][2]float64{{1, -0.6}, {-0.6, 1}}, [2]float64{}, [2]float64{2, -2}).Chart()", func() (*display.Chart, error) {
				return play.CoordinateAscent([2][2]float64{{1, -0.6}, {-0.6, 1}}, [2]float64{}, [2]float64{2, -2}).Chart()
			}},
		}},
		{"How good it is, and which to choose", "`c` is `fit` with probabilities, `careful` a fit of noisier data with `MustThreshold(svmnb.ForCost(1, 5))`, and `s` is a search over C and gamma. `moons` is the description of `fit`, and `few` a description with thirty points. `folds` is `selection.StratifiedKFold(5, 1)`. `judged` is what the [referee](referee.md) says of fits with three tolerances and of one with landmarks. `wines` is a fit of three fifths of `datasets.Wine()`, and `tasting` has the others. `standard` is `datasets.Diabetes().Standardised()`, and `progression` the model of a regression of them. `sure` is what `Evaluate` of a `selection.Conformal` says of points of the same data that were neither trained on nor held out.", []exhibit{
			{"confusion", "Confusion", "svmnb.Confusion.Of(iris())", func() (*display.Chart, error) { return svmnb.Confusion.Of(iris()) }},
			{"gap-by-machine", "GapByMachine", "svmnb.GapByMachine.Of(judged())", func() (*display.Chart, error) { return svmnb.GapByMachine.Of(judged()) }},
			{"roc", "ROC", "svmnb.ROC.Of(fit())", func() (*display.Chart, error) { return svmnb.ROC.Of(fit()) }},
			{"precision-recall", "PrecisionRecall", "svmnb.PrecisionRecall.Of(fit())", func() (*display.Chart, error) { return svmnb.PrecisionRecall.Of(fit()) }},
			{"gain", "Gain", "svmnb.Gain.Of(fit())", func() (*display.Chart, error) { return svmnb.Gain.Of(fit()) }},
			{"lift", "Lift", "svmnb.Lift.Of(fit())", func() (*display.Chart, error) { return svmnb.Lift.Of(fit()) }},
			{"reliability", "Reliability", "svmnb.Reliability.Of(c())", func() (*display.Chart, error) { return svmnb.Reliability.Of(c()) }},
			{"thresholds", "Thresholds", "svmnb.Thresholds.Of(careful())", func() (*display.Chart, error) { return svmnb.Thresholds.Of(careful()) }},
			{"landscape", "Landscape", "selection.Landscape.Of(s())", func() (*display.Chart, error) { return selection.Landscape.Of(s()) }},
			{"importances", "Importances Importance", "selection.MustImportances(wines(), tasting).Chart()", func() (*display.Chart, error) { return selection.MustImportances(wines(), tasting).Chart() }},
			{"conformal", "ConformalEvaluation", "sure().Chart()", func() (*display.Chart, error) { return sure().Chart() }},
			{"shapley", "Shapley Attribution", "selection.MustShapley(progression(), standard.Select([]int{120}), standard.Select(first(100))).Chart()", func() (*display.Chart, error) {
				return selection.MustShapley(progression(), standard.Select([]int{120}), standard.Select(first(100))).Chart()
			}},
			{"dependence", "PartialDependence Dependence", `selection.MustPartialDependence(progression(), standard, "bmi").Chart()`, func() (*display.Chart, error) {
				return selection.MustPartialDependence(progression(), standard, "bmi").Chart()
			}},
			{"path", "Path", "svmnb.Path.Of(few.MustPath(0.05, 20))", func() (*display.Chart, error) { return svmnb.Path.Of(few.MustPath(0.05, 20)) }},
			{"learning-curve", "LearningCurve ScoreCurve", "selection.MustLearningCurve(moons, folds).Chart()", func() (*display.Chart, error) { return selection.MustLearningCurve(moons, folds).Chart() }},
			{"validation-curve", "ValidationCurve ScoreCurve", `selection.MustValidationCurve(moons, folds, "gamma", selection.Log2(-7, 7, 2)...).Chart()`, func() (*display.Chart, error) {
				return selection.MustValidationCurve(moons, folds, "gamma", selection.Log2(-7, 7, 2)...).Chart()
			}},
		}},
		{"Regression and Gaussian processes", "`sinc` is a `Regressor`. `motorcycle` is a `gp.Process`, and `process` is its fit. `part` is the fit of four fifths of its points, and `test` has the others. `co2` is the fit of a Gaussian process whose kernel is a sum, and `sugar` one whose kernel has a length scale for each of ten features. `highest` is what `bayesopt.Maximise` found in nine evaluations of sin 3x + 0.3x.", []exhibit{
			{"tube", "Tube", "svmnb.Tube.Of(sinc.MustFit())", func() (*display.Chart, error) { return svmnb.Tube.Of(sinc.MustFit()) }},
			{"quantile", "Tube", "svmnb.Tube.Of(sinc.Quantile(0.9).C(0.5).MustFit())", func() (*display.Chart, error) {
				return svmnb.Tube.Of(sinc.Quantile(0.9).C(0.5).MustFit())
			}},
			{"huber", "Tube", "svmnb.Tube.Of(sinc.Huber(0.1).MustFit())", func() (*display.Chart, error) { return svmnb.Tube.Of(sinc.Huber(0.1).MustFit()) }},
			{"predictions", "Predictions", "svmnb.Predictions.Of(sinc.MustFit())", func() (*display.Chart, error) { return svmnb.Predictions.Of(sinc.MustFit()) }},
			{"residuals", "Residuals", "svmnb.Residuals.Of(sinc.MustFit())", func() (*display.Chart, error) { return svmnb.Residuals.Of(sinc.MustFit()) }},
			{"posterior", "Posterior", "gp.Posterior.Of(process())", func() (*display.Chart, error) { return gp.Posterior.Of(process()) }},
			{"samples", "PosteriorSamples", "gp.PosteriorSamples(5, 1).Of(process())", func() (*display.Chart, error) { return gp.PosteriorSamples(5, 1).Of(process()) }},
			{"posterior-over", "PosteriorOver", "gp.PosteriorOver(0, 80, test).Of(part())", func() (*display.Chart, error) { return gp.PosteriorOver(0, 80, test).Of(part()) }},
			{"bounds", "Bounds", "gp.Bounds.Of(motorcycle.CG().MustFit())", func() (*display.Chart, error) { return gp.Bounds.Of(motorcycle.CG().MustFit()) }},
			{"evidence", "Evidence EvidenceOver", "gp.Evidence.Of(motorcycle.Kernel(kernels.Scale(10*10, kernels.SquaredExponential(1))).Optimise().MustFit())", func() (*display.Chart, error) {
				return gp.Evidence.Of(motorcycle.Kernel(kernels.Scale(10*10, kernels.SquaredExponential(1))).Optimise().MustFit())
			}},
			{"components", "Components ComponentsNamed", `gp.ComponentsNamed("trend", "season").Of(co2())`, func() (*display.Chart, error) { return gp.ComponentsNamed("trend", "season").Of(co2()) }},
			{"relevance", "Relevance", "gp.Relevance.Of(sugar())", func() (*display.Chart, error) { return gp.Relevance.Of(sugar()) }},
			{"evidence-bounds", "EvidenceBounds", "gp.EvidenceBounds.Of(motorcycle.Inducing(20).MustFit())", func() (*display.Chart, error) {
				return gp.EvidenceBounds.Of(motorcycle.Inducing(20).MustFit())
			}},
			{"inducing", "Posterior", "gp.Posterior.Of(motorcycle.Inducing(8).By(gp.KMeans, 2).OptimiseInducing().MustFit())", func() (*display.Chart, error) {
				return gp.Posterior.Of(motorcycle.Inducing(8).By(gp.KMeans, 2).OptimiseInducing().MustFit())
			}},
			{"acquisition", "Acquisition", "bayesopt.Acquisition.Of(highest())", func() (*display.Chart, error) { return bayesopt.Acquisition.Of(highest()) }},
			{"probability", "Probability", "gp.Probability.Of(gp.Classify(datasets.Moons(120, 0.2, 42)).EP().Optimise().MustFit())", func() (*display.Chart, error) {
				return gp.Probability.Of(gp.Classify(datasets.Moons(120, 0.2, 42)).EP().Optimise().MustFit())
			}},
		}},
	}
}

// first are the first n rows.
func first(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// withGaps is d as a table, with its classes as a column, without some of the values.
func withGaps(d *datasets.Dataset) *datasets.Table {
	t := &datasets.Table{Name: d.Name}
	for j := range d.D() {
		c := datasets.Column{Name: d.FeatureName(j)}
		for i, row := range d.X {
			v := row[j]
			if i%(4*j+5) < j {
				v = math.NaN()
			}
			c.Values = append(c.Values, v)
		}
		t.Columns = append(t.Columns, c)
	}
	class := datasets.Column{Name: cmp.Or(d.Target, "class"), Kind: datasets.Category, Levels: d.Classes}
	for i, y := range d.Y {
		k := int32(y)
		if i%11 == 0 {
			k = -1
		}
		class.Codes = append(class.Codes, k)
	}
	t.Columns = append(t.Columns, class)
	return t
}

func asItIs(d *datasets.Dataset) *datasets.Dataset { return d }

// images draws the exhibit for light and for dark pages, as SVG, or as PNG if the SVG is too
// large.
func (e exhibit) images() (extension string, light, dark []byte, alt string, err error) {
	c, err := e.draw()
	if err != nil {
		return "", nil, nil, "", fmt.Errorf("%s: %w", e.file, err)
	}
	var image [2][]byte
	extension = ".svg"
	for k := range image {
		if image[k], err = static.SVG(c, static.Options{Width: galleryWidth, Scale: 1, Dark: k == 1}); err != nil {
			return "", nil, nil, "", fmt.Errorf("%s: %w", e.file, err)
		}
		if len(image[k]) > galleryBytes {
			extension = ".png"
		}
	}
	for k := range image {
		if extension == ".svg" {
			break
		}
		if image[k], err = static.PNG(c, static.Options{Width: galleryWidth, Scale: 1, Dark: k == 1}); err == nil {
			image[k], err = fewColours(image[k])
		}
		if err != nil {
			return "", nil, nil, "", fmt.Errorf("%s: %w", e.file, err)
		}
	}
	return extension, image[0], image[1], c.Title.Title, nil
}

// near reports whether two colours can hardly be distinguished.
func near(a, b color.RGBA) bool {
	apart := func(x, y uint8) int { return max(int(x)-int(y), int(y)-int(x)) }
	return max(apart(a.R, b.R), apart(a.G, b.G), apart(a.B, b.B)) < 6
}

// fewColours reduces a PNG to its 256 most frequent colours that can be distinguished,
// which are almost all colours of a chart. This takes a third of the bytes.
func fewColours(data []byte) ([]byte, error) {
	full, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, paletted([]image.Image{full}, full.Bounds(), 256)[0])
	return b.Bytes(), err
}

// paletted reduces the pixels of all images in the box to the most frequent colours that can
// be distinguished.
func paletted(images []image.Image, box image.Rectangle, colours int) []*image.Paletted {
	counts := map[color.RGBA]int{}
	at := func(img image.Image, x, y int) color.RGBA { return color.RGBAModel.Convert(img.At(x, y)).(color.RGBA) }
	for _, img := range images {
		for y := box.Min.Y; y < box.Max.Y; y++ {
			for x := box.Min.X; x < box.Max.X; x++ {
				counts[at(img, x, y)]++
			}
		}
	}
	frequent := slices.SortedFunc(maps.Keys(counts), func(a, b color.RGBA) int {
		return cmp.Or(counts[b]-counts[a], int(a.R)-int(b.R), int(a.G)-int(b.G), int(a.B)-int(b.B))
	})
	var palette color.Palette
	for _, c := range frequent {
		if len(palette) < colours && (len(palette) == 0 || !near(c, palette.Convert(c).(color.RGBA))) {
			palette = append(palette, c)
		}
	}
	nearest := map[color.RGBA]uint8{}
	for c := range counts {
		nearest[c] = uint8(palette.Index(c))
	}
	few := make([]*image.Paletted, len(images))
	for k, img := range images {
		few[k] = image.NewPaletted(box, palette)
		for y := box.Min.Y; y < box.Max.Y; y++ {
			for x := box.Min.X; x < box.Max.X; x++ {
				few[k].SetColorIndex(x, y, nearest[at(img, x, y)])
			}
		}
	}
	return few
}

// called matches the fits of the gallery, which are functions in its source but variables
// on the page.
var called = regexp.MustCompile(`\b(fit|gaps|distances|chunked|straight|sugar|cancer|iris|petals|process|part|wines|judged|progression|highest|co2|c|s)\(\)`)

func galleryCommand(ctx context.Context, s *session, args []string) error {
	if len(args) > 0 {
		return errors.New("gallery takes no arguments: it writes docs/gallery.md, the images in docs/gallery and the moving pictures in docs")
	}
	// The images of before stay until all are drawn.
	dir, err := os.MkdirTemp(filepath.Join(s.root, "docs"), "gallery-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var page strings.Builder
	page.WriteString(galleryHead)
	for _, r := range gallery(asItIs) {
		fmt.Fprintf(&page, "\n## %s\n\n%s\n", r.title, r.setup)
		for _, e := range r.exhibits {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			extension, light, dark, alt, err := e.images()
			if err != nil {
				return err
			}
			name := e.file + extension
			if err := errors.Join(os.WriteFile(filepath.Join(dir, name), light, 0o644), os.WriteFile(filepath.Join(dir, e.file+"-dark"+extension), dark, 0o644)); err != nil {
				return err
			}
			fmt.Fprintf(&page, "\n`%s`\n\n![%s](gallery/%s)\n", called.ReplaceAllString(e.code, "$1"), strings.NewReplacer("[", "(", "]", ")").Replace(alt), name)
			fmt.Fprintf(s.stdout, "%s, %d bytes\n", name, len(light))
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	images := filepath.Join(s.root, "docs", "gallery")
	if err := os.RemoveAll(images); err != nil {
		return err
	}
	return errors.Join(os.Rename(dir, images), os.WriteFile(filepath.Join(s.root, "docs", "gallery.md"), []byte(page.String()), 0o644), writeMoving(ctx, s.root))
}

const galleryHead = `# Gallery

This page shows every figure of package ` + "`svmnb`" + ` and those below it, with the line that makes it a chart. In a
notebook there are three ways to show figures:

- ` + "`fit.Show(svmnb.Margins, svmnb.Gap)`" + ` shows them one below the other;
- ` + "`display.Dashboard(fit, svmnb.Margins, svmnb.Gap).Show()`" + ` shows them side by side;
- ` + "`display.Multiples(svmnb.Margins, a, b, c).Show()`" + ` shows one figure of several fits.

Figures in a notebook are interactive: the pointer shows the numbers, the legend hides and shows
series, the toolbox zooms and saves, and the colours follow a light or dark page. Anything that can
be listed also has a table, ` + "`display.Table(fit).Show()`" + `.

` + "`go run ./notebooks gallery`" + ` draws the images, without a browser.
[Adding a figure](adding-a-figure.md) explains how to add one to this page.
`
