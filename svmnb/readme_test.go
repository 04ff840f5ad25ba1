package svmnb_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/doctest"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/gp"
	"github.com/svmnb/svmnb/svmnb/model"
	"github.com/svmnb/svmnb/svmnb/play"
)

// What the README and docs/features.md show compiles and runs.
func TestReadme(t *testing.T) {
	doctest.Same(t, "../README.md", "readme_test.go", 1)
	doctest.Same(t, "../docs/features.md", "readme_test.go", 4)

	ctx, points := context.Background(), datasets.Rows{{6.5, 3, 5.5, 2}}
	t.Setenv("SVMNB_CACHE", t.TempDir())
	t.Setenv("TMPDIR", t.TempDir()) // for the pages of pictures

	{
		fit := svmnb.Classify(datasets.Moons(120, 0.2, 42)).
			Kernel(kernels.RBF(1.2)).C(2).MustFit()
		fit.Show(svmnb.Margins, svmnb.KKT, svmnb.Gap)
		play.Replay(fit).Show() // the picture above
	}

	base := svmnb.Classify(datasets.Iris().Pair("virginica", "versicolor")).Kernel(kernels.Linear())

	fit, err := base.C(1).SMO().Fit(ctx) // *svmnb.Fit: Alpha, Bias, Certificate, Trace, …
	if err != nil {
		t.Fatal(err)
	}
	names, err := fit.Predict(points) // typed errors name row and column
	if err != nil || names[0] != "virginica" {
		t.Errorf("%v, %v", names, err)
	}
	fmt.Println(fit.Certificate.Gap, fit.Margin(), len(fit.SupportVectors()))

	base.Using(solvers.SMO{Selection: solvers.Platt}).Tol(1e-6).Keep().Show()
	play.Replay(base.SMO().Keep()).Show() // plays the run back; base.SMO().Live().MustFit() shows it live
	play.Race(base, solvers.SMO{}, solvers.ConjugateSMO{}, solvers.Decomposition{}).Show()
	play.Explore(datasets.Moons(200, 0.15, 42)) // sliders for C, gamma, kernel and solver

	tube := svmnb.Regress(datasets.Sinc(100, 0.1, 1)).Kernel(kernels.RBF(0.2)).C(10).Epsilon(0.1)

	tube.MustFit().Show(svmnb.Tube, svmnb.KKT)
	tube.Nu(0.3).MustFit().Show() // ν-SVR chooses the width of the tube
	rmse, err := tube.Ridge(0.1).MustFit().RMSE(datasets.Sinc(500, 0, 2))
	if err != nil || !(rmse < 0.05) {
		t.Errorf("%v, %v", rmse, err)
	}

	process := gp.Regress(datasets.Motorcycle()).Kernel(kernels.Scale(45*45, kernels.SquaredExponential(5))).NoiseVariance(22 * 22)

	process.CG().MustFit().Show(gp.Posterior, gp.Bounds) // the uncertainty of f, and bounds of the numerical error
	process.Optimise().MustFit().Show(gp.Posterior, gp.Evidence)
	belief, err := process.MustFit().Posterior(ctx, datasets.Rows{{20}, {30}}) // means and variances
	process.Likelihood(gp.StudentT(4)).MustFit().Show()                        // outliers; also gp.Poisson() and gp.Heteroscedastic(kernel)
	gp.Classify(datasets.Moons(100, 0.2, 1)).EP().Optimise().MustFit().Show(gp.Probability)
	if err != nil || len(belief.Mean) != 2 {
		t.Errorf("%v, %v", belief, err)
	}

	path, out := filepath.Join(t.TempDir(), "iris.svmnb"), &bytes.Buffer{}
	iris := svmnb.Classify(datasets.Iris()).OneVsOne().MustFit()

	err = model.Save(path, iris) // exactly; the file is written completely or not at all
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := model.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	classes, err := loaded.Predict(points)
	if err != nil || classes[0] != "virginica" {
		t.Errorf("%v, %v", classes, err)
	}
	err = loaded.WriteONNX(out) // or WriteGo, WriteLIBSVM, WriteLIBLINEAR
	if err != nil || out.Len() == 0 {
		t.Error(err)
	}
}
