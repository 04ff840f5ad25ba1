package kernels

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// NamedKernel is K with a name; see [Named].
type NamedKernel struct {
	Name string
	K    Kernel
}

func init() {
	register("Named", func(a arguments) Kernel {
		if len(a.kernels) != 1 || len(a.strings) != 1 || len(a.numbers) > 0 {
			return nil
		}
		return NamedKernel{a.strings[0], a.kernels[0]}
	})
}

// Named returns the kernel k with a name, for the names of its [Hyperparameters] and for
// the figure of the components of a Gaussian process. The values are those of k:
//
//	k := kernels.Sum(
//		kernels.Named("trend", kernels.Scale(66*66, kernels.SquaredExponential(67))),
//		kernels.Named("season", kernels.Scale(2.4*2.4, kernels.Periodic(1, 1.3))),
//	) // has trend.c, trend.length, season.c, season.period and season.length
//
// A name has at least one letter, and no dot, comma, quotation mark or parenthesis.
func Named(name string, k Kernel) NamedKernel { return NamedKernel{name, k} }

// Eval returns K(x, z).
func (k NamedKernel) Eval(x, z []float64) float64 { return k.K.Eval(x, z) }

// Check returns a *[ParamError] for a name that is not valid, and the error of K.
func (k NamedKernel) Check() error {
	if strings.TrimSpace(k.Name) == "" || strings.ContainsAny(k.Name, ".,()\"'`") || strconv.Quote(k.Name) != `"`+k.Name+`"` {
		return errors.Join(&ParamError{"Named", "name", math.NaN(), "the name is " + strconv.Quote(k.Name) + ": want letters, without dots, commas, quotation marks and parentheses"}, check(k.K))
	}
	return check(k.K)
}

// CheckPoints returns the error that K has for x.
func (k NamedKernel) CheckPoints(x [][]float64) error { return inDomain(k.K, x) }

func (k NamedKernel) String() string {
	return "Named(" + strconv.Quote(k.Name) + ", " + describe(k.K) + ")"
}

// Hyperparameters returns the hyperparameters of K with the name in front.
func (k NamedKernel) Hyperparameters() []Hyperparameter { return shortened(parametersOf(k, nil)) }

func (k NamedKernel) parameters(s *scan) []parameter {
	list := s.of(k.K)
	for i := range list {
		p := &list[i]
		p.path = k.Name + "." + p.path
		if p.label == "" {
			p.label = k.Name
		}
	}
	return list
}

// With returns the kernel with other values of the hyperparameters of K.
func (k NamedKernel) With(values []float64) Kernel { return NamedKernel{k.Name, with(k.K, values)} }

// EvalGradient returns K(x, z) and sets grad to its derivatives.
func (k NamedKernel) EvalGradient(grad, x, z []float64) float64 { return evalGradient(k, grad, x, z) }

func (k NamedKernel) rower(p *points) rower { return rowerOf(k.K, p) }

func (k NamedKernel) gradientRower(p *points) gradientRower { return gradientRowerOf(k.K, p) }

func (k NamedKernel) term(f *formula, cols []int) term { return f.term(k.K, cols) }

func (k NamedKernel) offset(x, mean []float64) (h float64, linear, ok bool) {
	return offset(k.K, x, mean)
}

func (k NamedKernel) spectral() ([]spectralTerm, bool) { return spectral(k.K) }

func (k NamedKernel) slopes() (slopes, bool) { return slopesOf(k.K) }

func (k NamedKernel) multiplies(scale *float64) (func(dst, x, z []float64), bool) {
	return factorsOf(k.K, scale)
}
