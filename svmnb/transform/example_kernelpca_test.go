package transform_test

import (
	"fmt"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/selection"
	"github.com/svmnb/svmnb/svmnb/transform"
)

// Two circles, one in the other, are told apart by a plane among three kernel principal
// components.
func ExampleKernelPCA() {
	train, test := datasets.Circles(200, 0.05, 1).Split(0.5, 1)
	fit := selection.Pipe(transform.KernelPCA(kernels.RBF(0.3), 3), svmnb.Classify(train)).MustFit()
	score, err := fit.Score(test)
	fmt.Println(score, err)
	// Output: 1 <nil>
}
