package svmnb_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/model"
)

func Example() {
	fit := svmnb.Classify(datasets.Moons(200, 0.15, 42)).
		Kernel(kernels.RBF(0.5)).C(10).SMO().MustFit()
	fmt.Printf("%d free and %d bound support vectors, %d training errors\n",
		fit.Certificate.Free, fit.Certificate.AtUpper, fit.TrainingErrors())
	fmt.Printf("within %.0e of the optimum\n", fit.Certificate.RelGap)
	// Output:
	// 7 free and 18 bound support vectors, 2 training errors
	// within 3e-05 of the optimum
}

// A description is a value: forks share nothing, and it prints as it was said.
func ExampleClassifier() {
	base := svmnb.Classify(datasets.Iris().Pair("virginica", "versicolor")).Kernel(kernels.Linear())
	soft, hard := base.C(0.1), base.TwoNorm().C(100)
	fmt.Println(soft)
	fmt.Println(hard.Using(solvers.SMO{Selection: solvers.Platt}).Tol(1e-6))
	// Output:
	// Classify(iris virginica/versicolor).Kernel(Linear()).C(0.1)
	// Classify(iris virginica/versicolor).Kernel(Linear()).TwoNorm().C(100).Using(solvers.SMO{Selection: Platt}).Tol(1e-06)
}

func ExampleClassifier_Fit() {
	base := svmnb.Classify(datasets.Iris().Pair("virginica", "versicolor")).Kernel(kernels.Linear())
	fit, err := base.Tol(1e-6).Fit(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("W = %.4f, b = %.4f, margin %.4f, %d support vectors\n",
		fit.Certificate.Dual, fit.Bias, fit.Margin(), len(fit.SupportVectors()))
	names, _ := fit.Predict(datasets.Rows{{6.5, 3, 5.5, 2}, {5.7, 2.8, 4.1, 1.3}})
	fmt.Println(names)
	_, err = fit.Predict(datasets.Rows{{6.5, 3}})
	fmt.Println(err)
	_, err = base.C(-1).Fit(context.Background())
	fmt.Println(err)
	// Output:
	// W = 15.7599, b = -6.7811, margin 0.3251, 23 support vectors
	// [virginica versicolor]
	// svmnb: Predict: row 0: the point has 2 features, the classifier was trained on 4
	// svmnb: C: C is -1; it must be a positive number
}

func ExampleClassifier_HardMargin() {
	x := [][]float64{{0, 0}, {1, 1}, {0, 0}}
	_, err := svmnb.Classify(datasets.New(x, []float64{1, -1, -1})).HardMargin().Fit(context.Background())
	fmt.Println(errors.Is(err, solvers.ErrUnbounded))
	// Output: true
}

// The tube of ε-SVR holds most points; only those on its edge and outside carry f.
func ExampleRegress() {
	train, test := datasets.Sinc(100, 0.1, 1), datasets.Sinc(500, 0, 2)
	fit := svmnb.Regress(train).Kernel(kernels.RBF(1)).C(10).Epsilon(0.1).SMO().MustFit()
	rmse, err := fit.RMSE(test)
	if err != nil {
		fmt.Println(err)
		return
	}
	y, _ := fit.Predict(datasets.Rows{{0}, {3.1}})
	fmt.Printf("%d of 100 points are support vectors, RMSE %.3f to the true function\n", len(fit.SupportVectors()), rmse)
	fmt.Printf("f(0) = %.2f, f(3.1) = %.2f\n", y[0], y[1])
	fmt.Println(fit.Description)
	// Output:
	// 42 of 100 points are support vectors, RMSE 0.057 to the true function
	// f(0) = 1.01, f(3.1) = -0.03
	// Regress(sinc).Kernel(RBF(1)).C(10).Epsilon(0.1).SMO().Tol(0.001)
}

// Kernel ridge regression is a linear system, (K + λI)β = y − b.
func ExampleRegressor_Ridge() {
	fit := svmnb.Regress(datasets.Cars()).Kernel(kernels.Linear()).Ridge(1).MustFit()
	w, _ := fit.Weights()
	r2, err := fit.R2(datasets.Cars())
	fmt.Printf("distance = %.2f speed − %.1f, R² = %.2f %v\n", w[0], -fit.Bias, r2, err)
	// Output: distance = 3.93 speed − 17.5, R² = 0.65 <nil>
}

// Ten classes: a machine for each pair of them, and probabilities by coupling.
func ExampleClassifier_OneVsOne() {
	train, test := datasets.Digits().Split(0.3, 1)
	fit, err := svmnb.Classify(train).Kernel(kernels.RBF(0.001)).C(5).OneVsOne().Fit(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	accuracy, _ := fit.Accuracy(test)
	fmt.Printf("%d machines, %.1f %% of %d new digits right\n", fit.Certificate().Machines, 100*accuracy, test.N())
	calibrated, err := fit.Calibrate(context.Background(), svmnb.Platt{Folds: 3, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	p, _ := calibrated.Probabilities(datasets.Rows(test.X[:1]))
	names, _ := calibrated.Predict(datasets.Rows(test.X[:1]))
	fmt.Println(names, len(p[0]), "probabilities")
	// Output:
	// 45 machines, 98.4 % of 1258 new digits right
	// [9] 10 probabilities
}

// A model in a file predicts what its fit did, in a program that has no training
// data; other formats are for other programs.
func ExampleSave() {
	moons := datasets.Moons(200, 0.15, 42)
	fit := svmnb.Classify(moons).Kernel(kernels.RBF(2)).C(10).MustFit()
	dir, err := os.MkdirTemp("", "svmnb")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "moons.svmnb")
	if err := model.Save(file, fit); err != nil {
		fmt.Println(err)
		return
	}
	model, err := model.Load(file)
	if err != nil {
		fmt.Println(err)
		return
	}
	before, _ := fit.Values(datasets.Rows(moons.X))
	after, _ := model.Values(datasets.Rows(moons.X))
	fmt.Println(slices.Equal(before, after))
	var libsvm strings.Builder
	if err := model.WriteLIBSVM(&libsvm); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strings.Join(strings.Split(libsvm.String(), "\n")[:4], ", "))
	// Output:
	// true
	// svm_type c_svc, kernel_type rbf, gamma 2, nr_class 2
}
