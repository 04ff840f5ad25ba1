package remote_test

import (
	"fmt"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/remote"
	"github.com/svmnb/svmnb/svmnb/selection"
)

// A cell has a search and a fit computed on Beam by the program svmnb-beam, in four processes.
// The results are ordinary ones. It has no output here, since the program is not part of the
// tests of this package.
func Example() {
	data := datasets.Moons(20_000, 0.3, 1)
	four := remote.Program{Args: []string{"-processes", "4"}}

	found := selection.Search(svmnb.Classify(data).Kernel(kernels.RBF(1)), selection.Grid{"C": selection.Log2(-2, 6, 2)}, selection.KFold(5, 1)).On(four).Keep()
	found.Show()

	fit := four.MustClassify(svmnb.Classify(data).Kernel(kernels.RBF(1)).C(4))
	fmt.Println(fit.Certificate.RelGap < 1e-2)
	fit.Show(svmnb.Margins)
}
