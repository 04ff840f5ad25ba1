package selection

import (
	"errors"
	"fmt"
	"math"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/vec"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"github.com/svmnb/svmnb/svmnb/transform"
)

func applied(t *testing.T, s transform.Step, train *datasets.Dataset, x [][]float64) [][]float64 {
	t.Helper()
	fit, err := s.Fit(train)
	if err != nil {
		t.Fatal(err)
	}
	z, err := fit.Apply(x)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// With the linear kernel, kernel components are principal components, whitened or not.
func TestKernelPCAIsPCA(t *testing.T) {
	data := datasets.Wine().Standardised()
	for _, whiten := range []bool{false, true} {
		a := applied(t, transform.KernelPrincipalComponents{Kernel: kernels.Linear(), Components: 4, Whiten: whiten}, data, data.X)
		b := applied(t, transform.PrincipalComponents{Components: 4, Whiten: whiten}, data, data.X)
		for c := range 4 {
			sign := math.Copysign(1, a[0][c]*b[0][c])
			for i := range a {
				if math.Abs(a[i][c]-sign*b[i][c]) > 1e-8 {
					t.Fatalf("component %d of point %d: %g and %g", c+1, i, a[i][c], b[i][c])
				}
			}
		}
	}
}

// Products of all components are the centred kernel, also between training points and others.
func TestKernelPCAIsTheCentredKernel(t *testing.T) {
	data, other := datasets.Moons(25, 0.2, 1), datasets.Moons(9, 0.2, 2)
	k := kernels.RBF(2)
	centred := kernels.Centred(k, data.X)
	z := applied(t, transform.KernelPCA(k, 24), data, data.X)
	y := applied(t, transform.KernelPCA(k, 24), data, other.X)
	for i := range z {
		for j := range z {
			if want := centred.Eval(data.X[i], data.X[j]); math.Abs(vec.Dot(z[i], z[j])-want) > 1e-6 {
				t.Fatalf("%d, %d: %v, want %v", i, j, vec.Dot(z[i], z[j]), want)
			}
		}
		for j := range y {
			if want := centred.Eval(data.X[i], other.X[j]); math.Abs(vec.Dot(z[i], y[j])-want) > 1e-6 {
				t.Fatalf("%d, new %d: %v, want %v", i, j, vec.Dot(z[i], y[j]), want)
			}
		}
	}
}

// A linear machine on kernel components tells apart what it cannot tell apart itself.
func TestKernelPCAOfCircles(t *testing.T) {
	train, test := datasets.Circles(120, 0.05, 1), datasets.Circles(120, 0.05, 2)
	train.Features = []string{"a", "b"}
	fit := Pipe(transform.KernelPCA(kernels.RBF(2), 3), svmnb.Classify(train)).MustFit()
	if score, err := fit.Score(test); err != nil || score < 0.98 {
		t.Error(score, err)
	}
	if got := fit.Fit().(*svmnb.Fit).Description.Data().Features; strings.Join(got, ", ") != "component 1, component 2, component 3" {
		t.Error(got)
	}
	if _, err := svmnb.MarginsOver(0, 2).Of(fit.Fit()); err != nil {
		t.Error(err)
	}
	if l, known := transform.KernelPCA(kernels.RBF(2), 2).With("components", 5); !known || fmt.Sprint(l) != "KernelPCA(RBF(2), 5)" {
		t.Error(l, known)
	}
	if l, known := transform.KernelPCA(kernels.RBF(2), 2).With("gamma", 5); !known || fmt.Sprint(l) != "KernelPCA(RBF(5), 2)" {
		t.Error(l, known)
	}
}

func TestKernelPCAErrors(t *testing.T) {
	data := datasets.Moons(20, 0.2, 1)
	for want, s := range map[string]transform.KernelPrincipalComponents{
		"0 components": transform.KernelPCA(nil, 0), "20 components": transform.KernelPCA(nil, 20), "along 2 directions": transform.KernelPCA(kernels.Linear(), 3), "along 0 directions": transform.KernelPCA(kernels.Constant(3), 1),
	} {
		_, err := s.Fit(data)
		var bad *svmnb.ArgumentError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", s, err)
		}
	}
	if _, err := transform.KernelPCA(kernels.RBF(-1), 2).Fit(data); err == nil {
		t.Error("γ < 0")
	}
	if _, err := transform.KernelPCA(nil, 2).Fit(datasets.Moons(2001, 0.2, 1)); err == nil || !strings.Contains(err.Error(), "Nystroem") {
		t.Error(err)
	}
	if _, err := transform.KernelPCA(nil, 2).Fit(nil); err == nil {
		t.Error("no data")
	}
}

func TestKernelPCAAgainstScikitLearn(t *testing.T) {
	const python = "/usr/bin/python3"
	if exec.Command(python, "-c", "from sklearn.decomposition import KernelPCA").Run() != nil {
		t.Skip("no scikit-learn for /usr/bin/python3 (Debian: python3-sklearn)")
	}
	data, other := datasets.Moons(30, 0.2, 1), datasets.Moons(8, 0.2, 2)
	list := func(x [][]float64) string {
		var s strings.Builder
		for _, row := range x {
			fmt.Fprintf(&s, "[%v,%v],", row[0], row[1])
		}
		return "[" + s.String() + "]"
	}
	for name, k := range map[string]kernels.Kernel{"kernel='rbf', gamma=1.5": kernels.RBF(1.5), "kernel='poly', degree=3, gamma=0.5, coef0=1": kernels.Polynomial(3, 0.5, 1)} {
		out, err := exec.Command(python, "-c", "from sklearn.decomposition import KernelPCA\np=KernelPCA(3, eigen_solver='dense', "+name+").fit("+list(data.X)+")\nfor r in p.transform("+list(other.X)+"):\n  print(*r)").Output()
		if err != nil {
			t.Fatal(err)
		}
		theirs := strings.Fields(string(out))
		ours := applied(t, transform.KernelPCA(k, 3), data, other.X)
		for c := range 3 {
			first, _ := strconv.ParseFloat(theirs[c], 64)
			sign := math.Copysign(1, first*ours[0][c])
			for i := range ours {
				want, _ := strconv.ParseFloat(theirs[3*i+c], 64)
				testkit.Near(t, "component", ours[i][c], sign*want, 1e-7)
			}
		}
	}
}
