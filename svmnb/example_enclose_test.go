package svmnb_test

import (
	"fmt"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
)

// The smallest circle that leaves one of ten petals outside, and the radius in centimetres.
func ExampleEnclose() {
	petals := datasets.Iris().Columns(2, 3)
	fit := svmnb.Enclose(petals).Kernel(kernels.Linear()).Nu(0.1).MustFit()
	names, err := fit.Predict(datasets.Rows{{4, 1.3}, {9, 0}})
	fmt.Printf("radius %.1f cm, %v %v\n", fit.Radius(), names, err)
	// Output: radius 2.6 cm, [inside outside] <nil>
}
