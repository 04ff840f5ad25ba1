package svmnb_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/gp"
	"github.com/svmnb/svmnb/svmnb/model"
)

// Points of a million features stay as they were read.
func ExampleModel_Predict_sparse() {
	data, err := datasets.ReadLIBSVMSparse(strings.NewReader("1 1:1 900000:2\n0 3:1 7:1\n1 900000:1\n0 7:2\n"), 1_000_000)
	if err != nil {
		fmt.Println(err)
		return
	}
	fit := svmnb.Classify(data).Kernel(kernels.Linear()).MustFit()
	classes, err := fit.Model().Predict(datasets.CSR{Start: []int{0, 1, 2}, Index: []int32{899_999, 6}, Value: []float64{3, 1}, D: 1_000_000})
	fmt.Println(classes, err)
	// Output: [1 0] <nil>
}

// A process keeps its variances through a file.
func ExamplePosteriorOf() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "motorcycle")
	fit := gp.Regress(datasets.Motorcycle()).Kernel(kernels.Scale(2025, kernels.RBF(0.02))).NoiseVariance(484).MustFit()
	if err := model.Save(file, fit); err != nil {
		fmt.Println(err)
		return
	}
	model, err := model.Load(file)
	if err != nil {
		fmt.Println(err)
		return
	}
	belief, err := gp.PosteriorOf(context.Background(), model, datasets.Rows{{20}})
	fmt.Printf("mean %.1f, variance %.1f, %v\n", belief.Mean[0], belief.Variance[0], err)
	again, _ := fit.Posterior(context.Background(), datasets.Rows{{20}})
	fmt.Println(belief.Mean[0] == again.Mean[0] && belief.Variance[0] == again.Variance[0])
	// Output:
	// mean -115.1, variance 31.6, <nil>
	// true
}
