package svmnb_test

import (
	"fmt"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/metrics"
)

// The share of new targets below a quantile, and the loss that it minimises.
func ExampleRegressionFit_Evaluate_quantile() {
	fit := svmnb.Regress(datasets.Sinc(200, 0.2, 1)).Kernel(kernels.RBF(0.3)).Quantile(0.9).MustFit()
	e, err := fit.Evaluate(datasets.Sinc(200, 0.2, 2))
	if err != nil {
		panic(err)
	}
	loss, err := metrics.Pinball(e.Truth, e.Predicted, e.Quantile)
	fmt.Printf("the %g quantile has the pinball loss %.3f %v\n", e.Quantile, loss, err)
	// Output: the 0.9 quantile has the pinball loss 0.038 <nil>
}

// The 90 % quantile of the stopping distance, and the line that outliers pull least.
func ExampleRegressor_Quantile() {
	cars := svmnb.Regress(datasets.Cars()).Kernel(kernels.Linear()).C(100)
	high := cars.Quantile(0.9).MustFit()
	robust := cars.Huber(10).MustFit()
	f, err := high.Predict(datasets.Rows{{20}})
	g, _ := robust.Predict(datasets.Rows{{20}})
	fmt.Printf("at 20 mph nine of ten cars stop within %.0f feet %v\n", f[0], err)
	fmt.Printf("the middle is %.0f feet\n", g[0])
	// Output:
	// at 20 mph nine of ten cars stop within 85 feet <nil>
	// the middle is 57 feet
}
