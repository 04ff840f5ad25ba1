package svmnb_test

import (
	"context"
	"fmt"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/selection"
	"github.com/svmnb/svmnb/svmnb/transform"
)

// Scaling is learnt inside of each fold, and a fit takes raw points.
func ExamplePipe() {
	train, test := datasets.Wine().Split(0.7, 1)
	pipe := selection.Pipe(transform.Standardise(), svmnb.Classify(train).OneVsOne())
	v, err := selection.CrossValidate(context.Background(), pipe, selection.StratifiedKFold(5, 1))
	if err != nil {
		fmt.Println(err)
		return
	}
	fit := pipe.MustFit()
	accuracy, _ := fit.Score(test)
	fmt.Printf("%.3f held out, %.3f on the test set\n", v.Mean(), accuracy)
	fmt.Println(pipe)
	// Output:
	// 0.984 held out, 1.000 on the test set
	// Pipe(Standardise(), Classify(wine (train)).C(1).OneVsOne())
}

func ExampleSearch() {
	train, test := datasets.BreastCancer().Split(0.7, 1)
	search := selection.Search(selection.Pipe(transform.Standardise(), svmnb.Classify(train)), selection.Grid{"C": selection.Log2(-3, 9, 2), "gamma": selection.Log2(-11, -1, 2)}, selection.StratifiedKFold(5, 1))
	found, err := search.Fit(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	best, _ := found.Chosen()
	accuracy, _ := found.Learner().MustFit().Score(test)
	fmt.Println(found.Names, best.Values)
	fmt.Printf("%.3f ± %.3f held out, %.3f on the test set\n", best.Mean(), best.StandardError(), accuracy)
	// Output:
	// [gamma C] [0.00048828125 128]
	// 0.975 ± 0.004 held out, 0.982 on the test set
}

// All C at once: between breakpoints α is linear in C.
func ExampleClassifier_Path() {
	path, err := svmnb.Classify(datasets.Moons(60, 0.4, 1)).Kernel(kernels.RBF(1)).Path(context.Background(), 0.01, 100)
	if err != nil {
		fmt.Println(err)
		return
	}
	fit, _ := path.At(3)
	fmt.Printf("%d breakpoints; at C = 3, W = %.4f, gap below 1e-6: %v\n", len(path.Breaks)-2, fit.Certificate.Dual, fit.Certificate.Gap < 1e-6)
	// Output: 125 breakpoints; at C = 3, W = 57.9560, gap below 1e-6: true
}

// How a machine does on points that it has not seen, from one fit.
func ExampleFit_LeaveOneOut() {
	b, err := svmnb.Classify(datasets.Moons(80, 0.35, 3)).Kernel(kernels.RBF(1)).MustFit().LeaveOneOut()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("at most %.3f, by ξα %.3f, by the span %.3f\n", b.SupportVectors, b.XiAlpha, b.Span)
	// Output: at most 0.513, by ξα 0.450, by the span 0.175
}
