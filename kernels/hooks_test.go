package kernels_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/svmnb/svmnb/internal/toy"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/kernels/kerneltest"
)

// cityBlock is exp(−γ‖x − z‖₁), a user's kernel that knows all that one may.
type cityBlock struct {
	Gamma float64
	asked *asked // what it was asked for; nil for a kernel that does not count
}

type asked struct{ pairs, rows, gradients atomic.Int64 }

func (k cityBlock) Eval(x, z []float64) float64 {
	if k.asked != nil {
		k.asked.pairs.Add(1)
	}
	var v [1]float64
	k.sums(v[:], x, z, 1)
	return v[0]
}

func (k cityBlock) EvalRow(dst, x, columns []float64, stride int) {
	if k.asked != nil {
		k.asked.rows.Add(1)
	}
	k.sums(dst, x, columns, stride)
}

func (k cityBlock) sums(dst, x, columns []float64, stride int) {
	for j := range dst {
		sum := 0.0
		for f, a := range x {
			sum += math.Abs(a - columns[f*stride+j])
		}
		dst[j] = math.Exp(-k.Gamma * sum)
	}
}

func (k cityBlock) Hyperparameters() []kernels.Hyperparameter {
	return []kernels.Hyperparameter{{Name: "gamma", Value: k.Gamma}}
}

func (k cityBlock) With(values []float64) kernels.Kernel { return cityBlock{values[0], k.asked} }

func (k cityBlock) EvalGradient(grad, x, z []float64) float64 {
	var v [1]float64
	k.slopes(v[:], grad, x, z, 1)
	return v[0]
}

func (k cityBlock) EvalGradientRow(v, grad, x, columns []float64, stride int) {
	if k.asked != nil {
		k.asked.gradients.Add(1)
	}
	k.slopes(v, grad, x, columns, stride)
}

func (k cityBlock) slopes(v, grad, x, columns []float64, stride int) {
	k.sums(v, x, columns, stride)
	for j, e := range v {
		grad[j] = 0
		if e > 0 {
			grad[j] = e * math.Log(e)
		}
	}
}

func (k cityBlock) AddFrequency(rng *rand.Rand, omega []float64) {
	for f := range omega {
		omega[f] += k.Gamma * rng.NormFloat64() / rng.NormFloat64()
	}
}

func (k cityBlock) Check() error {
	if !(k.Gamma > 0) || math.IsInf(k.Gamma, 1) {
		return &kernels.ParamError{Kernel: "cityBlock", Param: "gamma", Value: k.Gamma, Msg: "want a finite number above 0"}
	}
	return nil
}

func (k cityBlock) String() string {
	return strings.Replace(kernels.Laplacian(k.Gamma).String(), "Laplacian", "cityBlock", 1)
}

func TestHooksOfAUser(t *testing.T) {
	kerneltest.Run(t, cityBlock{Gamma: 0.7})

	x := toy.Normal(5, 40, 3)
	counted := cityBlock{0.7, &asked{}}
	g := mustGram(t, counted, x, 0)
	own := kernels.Laplacian(0.7)
	for i := range x {
		for j, v := range g.Row(i) {
			near(t, "a row", v, own.Eval(x[i], x[j]), 1e-13)
		}
	}
	if counted.asked.pairs.Load() > 0 || counted.asked.rows.Load() == 0 {
		t.Errorf("a matrix asked for %d pairs and %d rows, want rows only", counted.asked.pairs.Load(), counted.asked.rows.Load())
	}
	gradient, err := kernels.NewGradient(counted, x)
	if err != nil {
		t.Fatal(err)
	}
	ones := make([]float64, len(x))
	for i := range ones {
		ones[i] = 1
	}
	gradient.Contract(nil, func(int) []float64 { return ones })
	if counted.asked.gradients.Load() == 0 {
		t.Error("its derivatives were not asked for by rows")
	}
	omega, weight, err := kernels.Frequencies(cityBlock{Gamma: 0.7}, 2, 10, 3)
	want, _, _ := kernels.Frequencies(own, 2, 10, 3)
	if err != nil || len(weight) != 10 {
		t.Fatalf("%d frequencies, %v", len(weight), err)
	}
	for j := range omega {
		near(t, "a frequency", omega[j][1], want[j][1], 1e-12)
	}
}

// A kernel that embeds another has values of its own, however many hooks it inherits.
type doubled struct{ cityBlock }

func (k doubled) Eval(x, z []float64) float64 { return 2 * k.cityBlock.Eval(x, z) }
func (k doubled) String() string              { return "doubled" }

type doubledLaplacian struct{ *kernels.LaplacianKernel }

func (k doubledLaplacian) Eval(x, z []float64) float64 { return 2 * k.LaplacianKernel.Eval(x, z) }
func (k doubledLaplacian) String() string              { return "doubled Laplacian" }

func TestEmbeddedHooksDoNotCount(t *testing.T) {
	x, laplacian := toy.Normal(6, 30, 2), kernels.Laplacian(0.7)
	for _, k := range []kernels.Kernel{doubled{cityBlock{Gamma: 0.7}}, doubledLaplacian{&laplacian}, &doubled{cityBlock{Gamma: 0.7}}} {
		g := mustGram(t, k, x, 0)
		for i := range x {
			for j, v := range g.Row(i) {
				near(t, k.String(), v, 2*laplacian.Eval(x[i], x[j]), 1e-13)
			}
		}
		if _, _, err := kernels.Frequencies(k, 2, 3, 1); err == nil {
			t.Errorf("%v has frequencies of the kernel that it embeds", k)
		}
	}
}

// crumbling panics in a loop of its own.
type crumbling struct{ Gamma float64 }

func (k crumbling) Eval(x, z []float64) float64            { return cityBlock{Gamma: k.Gamma}.Eval(x, z) }
func (crumbling) EvalRow(dst, _, columns []float64, _ int) { dst[0] = columns[len(columns)] }
func (crumbling) Check() error                             { return nil }
func (crumbling) String() string                           { return "crumbling()" }

func TestPanicInARow(t *testing.T) {
	_, err := kernels.NewGram(crumbling{1}, toy.Normal(7, 9, 2), 0)
	if err == nil || !strings.Contains(err.Error(), "the kernel crumbling() panicked") {
		t.Errorf("%v, want an error that names the kernel", err)
	}
}
