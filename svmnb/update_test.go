package svmnb_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb"
)

// rest returns the rows of n that are not in gone.
func rest(n int, gone []int) (kept []int) {
	for i := range n {
		if !slices.Contains(gone, i) {
			kept = append(kept, i)
		}
	}
	return kept
}

// An updated fit is that of the changed data, with as good a certificate; and no label that was
// called certain beforehand is another one afterwards.
func TestUpdatedFitsAreThoseOfTheChangedData(t *testing.T) {
	known, all := 0, 0
	for trial := range problems(40) {
		rng := rand.New(rand.NewPCG(uint64(trial), 80))
		n := 40 + rng.IntN(60)
		data := datasets.Moons(n, 0.1+0.3*rng.Float64(), uint64(trial))
		x := datasets.Moons(60, 0.3, uint64(trial)+1000)
		cost := math.Pow(10, 3*rng.Float64()-1)
		kernel := []kernels.Kernel{kernels.RBF(1), kernels.Linear(), kernels.Polynomial(2, 1, 1)}[rng.IntN(3)]
		base := svmnb.Classify(data).Kernel(kernel).C(cost).Tol(1e-4)
		switch trial % 5 {
		case 1:
			base = base.TwoNorm()
		case 2:
			base = base.Augment(1).Using(solvers.GradientAscent{})
		case 3:
			base = base.Balanced()
		case 4:
			base = base.SMO()
		}
		gone := rng.Perm(n)[:1+rng.IntN(4)]
		kept := data.Select(rest(n, gone))
		fit := base.MustFit()
		if fit.Status != solvers.Converged {
			continue
		}
		sure, err := fit.CertainWithout(x, gone...)
		if err != nil {
			t.Fatal(err)
		}
		fewer, err := fit.Remove(t.Context(), gone...)
		if err != nil {
			t.Fatalf("%v: %v", base, err)
		}
		smaller := svmnb.Classify(kept).Kernel(kernel).C(cost)
		switch trial % 5 {
		case 1:
			smaller = smaller.TwoNorm()
		case 2:
			smaller = smaller.Augment(1).Using(solvers.GradientAscent{})
		case 3:
			smaller = smaller.Balanced()
		case 4:
			smaller = smaller.SMO()
		}
		truth := smaller.Tol(1e-10).MustFit()
		before, _ := fit.Predict(x)
		values, _ := truth.Values(x)
		tight, _, err := truth.Bounds(x)
		if err != nil {
			t.Fatal(err)
		}
		after, _ := truth.Predict(x)
		for i, s := range sure {
			all++
			if s {
				known++
				if before[i] != after[i] && math.Abs(values[i]) > values[i]-tight[i] {
					t.Errorf("%v without %v: the certain label of point %d changes", base, gone, i)
				}
			}
		}
		back, err := fewer.Add(t.Context(), data.Select(gone))
		if err != nil {
			t.Fatalf("%v: %v", base, err)
		}
		for name, pair := range map[string][2]*svmnb.Fit{"fewer": {fewer, truth}, "back": {back, base.Tol(1e-10).MustFit()}} {
			got, want := pair[0], pair[1]
			c, audit := got.Certificate, solvers.Certify(got.Problem(), got.Alpha)
			size := 1 + math.Abs(want.Certificate.Primal)
			if got.Status != solvers.Converged || math.Abs(c.Gap-audit.Gap) > 1e-6*size || math.Abs(c.Dual-audit.Dual) > 1e-6*size {
				t.Errorf("%v, %s: %v with the certificate %+v, and afresh %+v", base, name, got.Status, c, audit)
			}
			if c.Dual > want.Certificate.Primal+1e-6*size || c.Primal < want.Certificate.Dual-1e-6*size {
				t.Errorf("%v, %s: [%g, %g] does not contain the optimum %g", base, name, c.Dual, c.Primal, want.Certificate.Dual)
			}
		}
	}
	t.Logf("%d of %d labels were certain beforehand", known, all)
	if 4*known < all {
		t.Errorf("only %d of %d labels were certain beforehand", known, all)
	}
}

// Updates of many points cost a small part of the kernel values of a new fit. SVMNB_PROBLEMS
// makes it 10,000 points.
func TestUpdatesCostLittle(t *testing.T) {
	n, share := 3000, int64(6)
	if os.Getenv("SVMNB_PROBLEMS") != "" {
		n, share = 10_000, 10
	}
	data := datasets.Moons(n, 0.25, 5)
	gone := rand.New(rand.NewPCG(1, 1)).Perm(n)[:n/100]
	base := svmnb.Classify(data).Kernel(kernels.RBF(1)).C(1)
	fit := base.MustFit()
	fewer, err := fit.Remove(t.Context(), gone...)
	if err != nil {
		t.Fatal(err)
	}
	more, err := fewer.Add(t.Context(), data.Select(gone))
	if err != nil {
		t.Fatal(err)
	}
	anew := svmnb.Classify(data.Select(rest(n, gone))).Kernel(kernels.RBF(1)).C(1).MustFit()
	t.Logf("%d points: a new fit takes %d kernel values, 1 %% removed %d, added again %d", n, anew.Evaluations, fewer.Evaluations, more.Evaluations)
	for name, u := range map[string]*svmnb.Fit{"removed": fewer, "added": more} {
		c, audit := u.Certificate, solvers.Certify(u.Problem(), u.Alpha)
		if math.Abs(c.Gap-audit.Gap) > 1e-6*c.Primal || math.Abs(c.MaxKKT-audit.MaxKKT) > 1e-6 {
			t.Errorf("%s: certificate %+v, and afresh %+v", name, c, audit)
		}
		if u.Evaluations > anew.Evaluations/share {
			t.Errorf("%s: %d kernel values, and a new fit takes %d", name, u.Evaluations, anew.Evaluations)
		}
	}
}

func TestExactLeaveOneOut(t *testing.T) {
	data := datasets.Moons(60, 0.3, 3)
	base := svmnb.Classify(data).Kernel(kernels.RBF(1)).C(10)
	fit := base.Tol(1e-6).MustFit()
	got, err := fit.LeaveOneOutErrors(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	wrong := 0
	for i := range data.Y {
		without := svmnb.Classify(data.Select(rest(60, []int{i}))).Kernel(kernels.RBF(1)).C(10).Tol(1e-9).MustFit()
		label, _ := without.Predict(data.Select([]int{i}))
		if is := label[0] != data.ClassName(data.Y[i]); is != got.Wrong[i] && !slices.Contains(got.Open, i) {
			t.Errorf("point %d: wrong is %v, and a machine without it says %v", i, got.Wrong[i], is)
		} else if is {
			wrong++
		}
	}
	t.Logf("%d errors, %d fits for %d points", wrong, got.Fits, len(data.Y))
	if wrong == 0 || got.Fits >= 60 || math.Abs(got.Error()-float64(wrong)/60) > 0.02 {
		t.Errorf("%d errors, %d fits, %v", wrong, got.Fits, got.Error())
	}
}

func TestUpdatesRefuse(t *testing.T) {
	moons := datasets.Moons(60, 0.2, 1)
	fit := svmnb.Classify(moons).Kernel(kernels.RBF(1)).MustFit()
	for name, change := range map[string]func() error{
		"no fit":      func() error { _, err := (*svmnb.Fit)(nil).Remove(t.Context(), 1); return err },
		"no such row": func() error { _, err := fit.Remove(t.Context(), 60); return err },
		"a row twice": func() error { _, err := fit.Remove(t.Context(), 1, 1); return err },
		"no data":     func() error { _, err := fit.Add(t.Context(), nil); return err },
		"another d":   func() error { _, err := fit.Add(t.Context(), datasets.Iris()); return err },
		"ν":           func() error { _, err := svmnb.Classify(moons).Nu(0.3).MustFit().Remove(t.Context(), 1); return err },
		"no context":  func() error { _, err := fit.Remove(nil, 1); return err }, //lint:ignore SA1012 what the test is about
		"no LOO of ν": func() error {
			_, err := svmnb.Classify(moons).Nu(0.3).MustFit().LeaveOneOutErrors(t.Context())
			return err
		},
		"rows and ν":   func() error { _, err := svmnb.Classify(moons).Nu(0.3).MustFit().CertainWithout(moons, 1); return err },
		"no such rows": func() error { _, err := fit.CertainWithout(moons, -1); return err },
	} {
		var bad *svmnb.ArgumentError
		if err := change(); !errors.As(err, &bad) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func ExampleFit_Remove() {
	moons := datasets.Moons(200, 0.15, 42)
	fit := svmnb.Classify(moons).Kernel(kernels.RBF(0.5)).C(10).MustFit()
	stays, err := fit.CertainWithout(moons, 7)
	if err != nil {
		panic(err)
	}
	certain := 0
	for _, s := range stays {
		if s {
			certain++
		}
	}
	without, err := fit.Remove(context.Background(), 7)
	if err != nil {
		panic(err)
	}
	fmt.Println(certain > 150, without.Status, len(without.Alpha))
	// Output: true converged 199
}
