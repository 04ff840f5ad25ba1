package selection_test

import (
	"fmt"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/selection"
)

// Sets that contain the right class of nine in ten flowers, by two features that do not tell all of them apart: doubtful flowers have several classes.
func ExampleConformalise() {
	train, rest := datasets.Iris().Columns(0, 1).Split(0.4, 1)
	held, test := rest.Split(0.6, 1)
	sure, err := selection.Conformalise(svmnb.Classify(train).OneVsOne().MustFit(), held)
	if err != nil {
		fmt.Println(err)
		return
	}
	sets, err := sure.Sets(test, 0.9)
	of := map[int]int{}
	for _, s := range sets {
		of[len(s)]++
	}
	fmt.Println(of, err)
	// Output:
	// map[1:31 2:5] <nil>
}
