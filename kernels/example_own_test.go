package kernels_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/kernels/kerneltest"
	"github.com/svmnb/svmnb/svmnb"
)

// Multiquadric is 1/√(1 + γ‖x − z‖²), the inverse multiquadric of Hardy (1971).
type Multiquadric struct{ Gamma float64 }

func (k Multiquadric) Eval(x, z []float64) float64 {
	var r2 float64
	for i := range x {
		r2 += (x[i] - z[i]) * (x[i] - z[i])
	}
	return k.OfSquaredDistance(r2)
}

func (k Multiquadric) OfSquaredDistance(r2 float64) float64 { return 1 / math.Sqrt(1+k.Gamma*r2) }

func (k Multiquadric) Check() error {
	if !(k.Gamma > 0) || math.IsInf(k.Gamma, 1) {
		return &kernels.ParamError{Kernel: "Multiquadric", Param: "gamma", Value: k.Gamma, Msg: "want a finite number above 0"}
	}
	return nil
}

func (k Multiquadric) String() string { return fmt.Sprintf("Multiquadric(%v)", k.Gamma) }

// A kernel of one's own, in docs/adding-a-kernel.md.
func Example_own() {
	fit := svmnb.Classify(datasets.Moons(100, 0.1, 1)).Kernel(Multiquadric{2}).C(10).MustFit()
	fmt.Println(fit.Description)
	fmt.Println(fit.Status, fit.TrainingErrors())
	// Output:
	// Classify(moons).Kernel(Multiquadric(2)).C(10).Tol(0.001)
	// converged 0
}

func (k Multiquadric) Hyperparameters() []kernels.Hyperparameter {
	return []kernels.Hyperparameter{{Name: "gamma", Value: k.Gamma}}
}

func (k Multiquadric) With(values []float64) kernels.Kernel { return Multiquadric{values[0]} }

func (k Multiquadric) EvalGradient(grad, x, z []float64) float64 {
	v := k.Eval(x, z)
	grad[0] = (v*v*v - v) / 2 // −½ γr² v³, since 1 + γr² = 1/v²
	return v
}

func TestMultiquadric(t *testing.T) { kerneltest.Run(t, Multiquadric{2}) }
