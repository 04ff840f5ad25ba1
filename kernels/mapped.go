package kernels

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// MappedKernel is K(Lx, Lz) for a matrix L; see [Mapped].
type MappedKernel struct {
	K    Kernel
	Rows string // the rows of L: "1, 0.5; 0, 2"
}

func init() {
	register("Mapped", func(a arguments) Kernel {
		if len(a.kernels) != 1 || len(a.strings) != 1 || len(a.numbers) > 0 {
			return nil
		}
		return MappedKernel{a.kernels[0], a.strings[0]}
	})
}

// Mapped returns the kernel K(Lx, Lz) of points that the matrix L maps first. With a kernel of
// ‖x − z‖ this is the general anisotropic kernel: a function of (x − z)'L'L(x − z). L is given by its
// rows, one number for each of the d features of x; Lx has as many features as there are rows.
// [NewGram] returns a *[DataError] for points with another number of features.
//
// The hyperparameters are those of k, and L is not learned. [Rotated] learns directions.
func Mapped(k Kernel, rows ...[]float64) MappedKernel {
	text := make([]string, len(rows))
	for i, row := range rows {
		text[i] = digits(row...)
	}
	return MappedKernel{k, strings.Join(text, "; ")}
}

func (k MappedKernel) linear() linearMap {
	m := linearMap{k: k.K}
	for row := range strings.SplitSeq(k.Rows, "; ") {
		m.l = append(m.l, numbers(row))
	}
	return m
}

// Eval returns K(Lx, Lz).
func (k MappedKernel) Eval(x, z []float64) float64 { return k.linear().eval(x, z) }

// Check returns a *[ParamError] unless L has rows of the same number of finite numbers, otherwise
// the error of K.
func (k MappedKernel) Check() error {
	l := k.linear().l
	for i, row := range l {
		if len(row) == 0 || len(row) != len(l[0]) {
			return errors.Join(&ParamError{"Mapped", fmt.Sprintf("len(rows[%d])", i), float64(len(row)), "give each row of L one number for each feature"}, check(k.K))
		}
		for j, v := range row {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return errors.Join(&ParamError{"Mapped", fmt.Sprintf("rows[%d][%d]", i, j), v, "want a finite number"}, check(k.K))
			}
		}
	}
	return check(k.K)
}

// CheckPoints returns a *[DataError] unless there are as many features as L has columns, otherwise
// the error that K has for Lx.
func (k MappedKernel) CheckPoints(x [][]float64) error { return k.linear().checkPoints(k, x) }

func (k MappedKernel) String() string {
	return fmt.Sprintf("Mapped(%s, %q)", describe(k.K), k.Rows)
}

// Hyperparameters returns the hyperparameters of K.
func (k MappedKernel) Hyperparameters() []Hyperparameter { return shortened(parametersOf(k, nil)) }

func (k MappedKernel) parameters(s *scan) []parameter { return s.unnamed(k.K) }

// With returns the kernel with other values of the hyperparameters of K.
func (k MappedKernel) With(values []float64) Kernel { return MappedKernel{with(k.K, values), k.Rows} }

// EvalGradient returns K(Lx, Lz) and sets grad to its derivatives.
func (k MappedKernel) EvalGradient(grad, x, z []float64) float64 { return evalGradient(k, grad, x, z) }

func (k MappedKernel) rower(p *points) rower                 { return k.linear().rower(p) }
func (k MappedKernel) gradientRower(p *points) gradientRower { return k.linear().gradientRower(p) }
func (k MappedKernel) term(f *formula, cols []int) term      { return k.linear().term(f, cols) }
func (k MappedKernel) spectral() ([]spectralTerm, bool)      { return k.linear().spectral() }
func (k MappedKernel) slopes() (slopes, bool)                { return k.linear().slopes() }
func (k MappedKernel) offset(x, mean []float64) (h float64, linear, ok bool) {
	return k.linear().offset(x, mean)
}
