package model_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"github.com/svmnb/svmnb/svmnb/model"
	"github.com/svmnb/svmnb/svmnb/selection"
)

// TestAgreementWithLIBSVM learns what svm-train learns of the same points and compares
// all decision values to 2e-6 of their size, both stopped at 1e-10. The model of
// svm-train is read by ReadLIBSVM, which TestWeReadLIBSVMs holds to
// svm-predict. LIBSVM keeps kernel values in float32, which a C near 1 forgives.
func TestAgreementWithLIBSVM(t *testing.T) {
	train := tool(t, "svm-train", "libsvm-tools")
	iris, moons, sinc := testkit.Flowers(), datasets.Moons(60, 0.2, 1), datasets.Sinc(50, 0.1, 1)
	wine := testkit.Unnoted(testkit.Third(datasets.Wine().Standardised()))
	_, sparse := testkit.Thinned(80, 30, 3, 9)
	type case_ struct {
		name    string
		learner selection.Learner
		data    *datasets.Dataset
		options string
	}
	rbf := func(d *datasets.Dataset, gamma float64) svmnb.Classifier {
		return svmnb.Classify(d).Kernel(kernels.RBF(gamma)).Tol(1e-10)
	}
	cases := []case_{
		{"C-SVC", rbf(moons, 0.7).C(3), moons, "-t 2 -g 0.7 -c 3"},
		{"polynomial", svmnb.Classify(moons).Kernel(kernels.Polynomial(3, 0.5, 1)).Tol(1e-10), moons, "-t 1 -d 3 -g 0.5 -r 1"},
		{"weights", rbf(moons, 0.7).ClassWeight(moons.ClassName(moons.Counts()[0].Y), 0.5).ClassWeight(moons.ClassName(moons.Counts()[1].Y), 3), moons, "-t 2 -g 0.7 -w-1 0.5 -w1 3"},
		{"ν-SVC", rbf(moons, 0.7).Nu(0.4), moons, "-s 1 -t 2 -g 0.7 -n 0.4"},
		{"one class", svmnb.OneClass(moons).Kernel(kernels.RBF(1)).Nu(0.2).Tol(1e-10), moons, "-s 2 -t 2 -g 1 -n 0.2"},
		{"ε-SVR", svmnb.Regress(sinc).Kernel(kernels.RBF(1)).C(2).Tol(1e-10), sinc, "-s 3 -t 2 -g 1 -c 2 -p 0.1"},
		{"ν-SVR", svmnb.Regress(sinc).Kernel(kernels.RBF(1)).Nu(0.4).Tol(1e-10), sinc, "-s 4 -t 2 -g 1 -n 0.4"},
		{"one against one", rbf(iris, 0.3).OneVsOne(), iris, "-t 2 -g 0.3"},
		{"one against one, ν", rbf(wine, 0.1).Nu(0.2).OneVsOne(), wine, "-s 1 -t 2 -g 0.1 -n 0.2"},
		{"one against one, linear", svmnb.Classify(wine).Kernel(kernels.Linear()).C(0.1).Tol(1e-10).OneVsOne(), wine, "-t 0 -c 0.1"},
		{"sparse", rbf(sparse, 0.05).OneVsOne(), sparse, "-t 2 -g 0.05"},
	}
	if folder := os.Getenv("SVMNB_DATA"); folder != "" {
		heart, err := datasets.LoadLIBSVM(filepath.Join(folder, "heart_scale"), 0)
		if err != nil {
			t.Fatal(err)
		}
		cases = append(cases, case_{"heart", rbf(heart, 1./13), heart, "-t 2"})
	}
	for _, c := range cases {
		var written bytes.Buffer
		if err := c.data.WriteLIBSVM(&written); err != nil {
			t.Fatal(err)
		}
		file := textFile(t, written.String())
		run(t, train, append(strings.Fields(c.options), "-e", "1e-10", "-h", "0", "-q", file, file+".model")...)
		text, err := os.ReadFile(file + ".model")
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := model.ReadLIBSVM(bytes.NewReader(text), c.data.D())
		if err != nil {
			t.Fatal(err)
		}
		ours := modelOfLearner(t, c.learner)
		p := points.Of(c.data)
		got, err := ours.Decisions(p)
		if err != nil {
			t.Fatal(err)
		}
		want, err := theirs.Decisions(p)
		if err != nil {
			t.Fatal(err)
		}
		sign := 1.0
		if ours.Inside().Kind == machines.TwoClassKind && theirs.Inside().Targets[0] < theirs.Inside().Targets[1] {
			sign = -1 // the class that comes first in the file is LIBSVM's positive one
		}
		if ours.Inside().Kind == machines.OneClassKind {
			sign = got[0][0] / want[0][0] // ours has ρ = 1
			if !(sign > 0) {
				t.Errorf("%s: f is %v, LIBSVM's %v", c.name, got[0], want[0])
			}
		}
		largest := 0.0
		for i := range got {
			for k := range got[i] {
				largest = max(largest, math.Abs(got[i][k]-sign*want[i][k])/(1+math.Abs(got[i][k])))
			}
		}
		if largest > 2e-6 || len(got[0]) != len(want[0]) {
			t.Errorf("%s: decision values differ by %.2g", c.name, largest)
		}
		t.Logf("%s: %.1e", c.name, largest)
	}
}

// modelOfLearner is that of what a learner becomes.
func modelOfLearner(t testing.TB, l selection.Learner) *model.Model {
	t.Helper()
	return testkit.FitOf(t, selection.Pipe(l)).Model()
}
