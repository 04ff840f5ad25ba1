package svmnb_test

import (
	"context"
	"fmt"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb"
)

// Virginica and versicolor differ; two halves of the same flowers do not.
func ExampleMMD() {
	flowers := datasets.Iris()
	of := func(from, to int) datasets.Rows { return datasets.Rows(flowers.X[from:to]) }
	for _, test := range []svmnb.TwoSamples{svmnb.MMD(of(50, 100), of(100, 150)), svmnb.MMD(of(50, 75), of(75, 100))} {
		r, err := test.Test(context.Background())
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(r.P <= 0.05, r.P >= 0.001)
	}
	// Output:
	// true true
	// false true
}
