package kernels

import (
	"errors"
	"fmt"
	"math"

	"github.com/svmnb/svmnb/internal/vec"
)

// RotatedKernel is K(Rx, Rz) for a rotation R; see [Rotated].
type RotatedKernel struct {
	K      Kernel
	Angles string // > 0, one for each pair of features, in radians: "0.785"
}

func init() {
	register("Rotated", func(a arguments) Kernel {
		if len(a.kernels) != 1 || len(a.strings) > 0 {
			return nil
		}
		return RotatedKernel{a.kernels[0], digits(a.numbers...)}
	})
}

// Rotated returns the kernel K(Rx, Rz) of points that are rotated first, by an angle for each pair
// of features, which is learned. R is the product of the rotations in the planes of the features
// (0, 1), (0, 2), …, (1, 2), …; in two dimensions
//
//	R = (cos θ  sin θ; −sin θ  cos θ).
//
// With [ARD] or [ARDMatern32] inside it is the general anisotropic kernel, of
// (x − z)'R'Λ⁻²R(x − z), with learned directions and a length along each:
//
//	kernels.Rotated(kernels.ARDMatern32(5, 1), math.Pi/4) // correlated along the diagonal
//
// Angles are above 0; θ and θ + π mean the same for such kernels. There are d(d − 1)/2 of them for d
// features; otherwise [NewGram] returns a *[DataError]. They are learned if k is made of [Smooth]
// kernels. [Mapped] takes any matrix.
//
// ∂K/∂ln θ = θ (∂k/∂u · (∂R/∂θ) x + ∂k/∂v · (∂R/∂θ) z) at u = Rx and v = Rz.
func Rotated(k Kernel, angles ...float64) RotatedKernel { return RotatedKernel{k, digits(angles...)} }

// features returns the d of d(d − 1)/2 angles, or 0.
func (k RotatedKernel) features() int {
	n := len(numbers(k.Angles))
	d := int(math.Round((1 + math.Sqrt(float64(1+8*n))) / 2))
	if d < 2 || d*(d-1)/2 != n {
		return 0
	}
	return d
}

func (k RotatedKernel) linear() linearMap { return linearMap{k.K, k.rotation(-1)} }

// rotation returns R, or its derivative by an angle.
func (k RotatedKernel) rotation(by int) [][]float64 {
	d, angles := k.features(), numbers(k.Angles)
	r := make([][]float64, d)
	for i := range r {
		r[i] = make([]float64, d)
		r[i][i] = 1
	}
	at := len(angles)
	for p := d - 2; p >= 0; p-- {
		for q := d - 1; q > p; q-- {
			at--
			sin, cos := math.Sincos(angles[at])
			if at == by {
				sin, cos = cos, -sin
				for i, row := range r {
					if i != p && i != q {
						clear(row)
					}
				}
			}
			for j := range d { // rows p and q of the rotation times R
				a, b := r[p][j], r[q][j]
				r[p][j], r[q][j] = float64(cos*a)+float64(sin*b), float64(cos*b)-float64(sin*a)
			}
		}
	}
	return r
}

// Eval returns K(Rx, Rz).
func (k RotatedKernel) Eval(x, z []float64) float64 { return k.linear().eval(x, z) }

// Check returns a *[ParamError] unless there are 1, 3, 6, 10, … angles, all in (0, ∞), otherwise the
// error of K.
func (k RotatedKernel) Check() error {
	if k.features() == 0 {
		return errors.Join(&ParamError{"Rotated", "len(angles)", float64(len(numbers(k.Angles))), "give one for each pair of features: 1 for two features, 3 for three"}, check(k.K))
	}
	for i, a := range numbers(k.Angles) {
		if err := positive("Rotated", fmt.Sprintf("angles[%d]", i), a); err != nil {
			return errors.Join(err, check(k.K))
		}
	}
	return check(k.K)
}

// CheckPoints returns a *[DataError] unless there is an angle for each pair of features, otherwise
// the error that K has for Rx.
func (k RotatedKernel) CheckPoints(x [][]float64) error { return k.linear().checkPoints(k, x) }

func (k RotatedKernel) String() string { return "Rotated(" + describe(k.K) + ", " + k.Angles + ")" }

// Hyperparameters returns those of K, and then the angles if K is made of [Smooth] kernels, named
// "angles[0]", "angles[1]" and so on.
func (k RotatedKernel) Hyperparameters() []Hyperparameter { return shortened(parametersOf(k, nil)) }

func (k RotatedKernel) parameters(s *scan) []parameter {
	list := s.unnamed(k.K)
	if _, ok := slopesOf(k.K); !ok {
		return list
	}
	for i, a := range numbers(k.Angles) {
		list = append(list, own(fmt.Sprintf("angles[%d]", i), a))
	}
	return list
}

// With returns the kernel with other values.
func (k RotatedKernel) With(values []float64) Kernel {
	n := learnable(k.K)
	k.K = with(k.K, values[:n])
	if n < len(values) {
		k.Angles = digits(values[n:]...)
	}
	return k
}

// EvalGradient returns K(Rx, Rz) and sets grad to its derivatives.
func (k RotatedKernel) EvalGradient(grad, x, z []float64) float64 { return evalGradient(k, grad, x, z) }

func (k RotatedKernel) rower(p *points) rower            { return k.linear().rower(p) }
func (k RotatedKernel) term(f *formula, cols []int) term { return k.linear().term(f, cols) }
func (k RotatedKernel) spectral() ([]spectralTerm, bool) { return k.linear().spectral() }
func (k RotatedKernel) slopes() (slopes, bool)           { return k.linear().slopes() }
func (k RotatedKernel) offset(x, mean []float64) (h float64, linear, ok bool) {
	return k.linear().offset(x, mean)
}

// rotatedGradient computes the derivatives by the angles pair by pair.
type rotatedGradient struct {
	linearGradient
	params int // of K
	p      *points
	of     slopes
	by     []linearMap // the derivatives of R, times the angles
}

func (k RotatedKernel) gradientRower(p *points) gradientRower {
	own := k.linear().gradientRower(p)
	of, ok := slopesOf(k.K)
	if !ok {
		return own
	}
	p.asked = true
	r := &rotatedGradient{linearGradient: own, params: learnable(k.K), p: p, of: of}
	for i, a := range numbers(k.Angles) {
		d := k.rotation(i)
		for _, row := range d {
			scaleBy(a, row)
		}
		r.by = append(r.by, linearMap{k.K, d})
	}
	return r
}

func (r *rotatedGradient) row(v, grad, x []float64, w *work) {
	r.linearGradient.row(v, grad[:r.params*len(v)], x, w)
	d := len(x)
	memory, z := w.take(5*d+d*d), w.take(d)
	for j := range v {
		r.pair(grad[r.params*len(v)+j:], len(v), x, r.p.point(z, j), memory)
	}
	w.give(z)
	w.give(memory)
}

func (r *rotatedGradient) self(grad, x []float64, w *work) float64 {
	d := len(x)
	memory := w.take(5*d + d*d)
	defer w.give(memory)
	r.pair(grad[r.params:], 1, x, x, memory)
	return r.linearGradient.self(grad[:r.params], x, w)
}

// pair sets grad[i·stride] to the derivative of the kernel value of x and z with respect to the
// logarithm of angle i.
func (r *rotatedGradient) pair(grad []float64, stride int, x, z, memory []float64) {
	d := len(x)
	u, v, byU, byV, t, both := memory[:d], memory[d:2*d], memory[2*d:3*d], memory[3*d:4*d], memory[4*d:5*d], memory[5*d:]
	r.of(byU, byV, both, r.m.of(u, x), r.m.of(v, z))
	for i, by := range r.by {
		grad[i*stride] = vec.Dot(byU, by.of(t, x)) + vec.Dot(byV, by.of(t, z))
	}
}
