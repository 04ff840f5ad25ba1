package kernels

import (
	"fmt"
	"math"
)

// lengths are the length scales of a kernel that has one for each feature, as [digits] writes
// them.
type lengths string

// inverse returns 1/ℓ_k for all features.
func (l lengths) inverse() []float64 {
	v := numbers(string(l))
	for i, length := range v {
		v[i] = 1 / length
	}
	return v
}

// checkPoints returns a *[DataError] unless there are as many features as lengths. k is the kernel.
func (l lengths) checkPoints(k Kernel, x [][]float64) error {
	if n := len(numbers(string(l))); len(x) > 0 && len(x[0]) != n {
		return &DataError{"x", 0, -1, float64(len(x[0])), fmt.Sprintf("the point has %s, and %v has %s: give one for each feature", several(len(x[0]), "feature"), k, several(n, "length"))}
	}
	return nil
}

// check returns a *[ParamError] unless there are lengths and all are in (0, ∞).
func (l lengths) check(kernel string) error {
	v := numbers(string(l))
	if len(v) == 0 {
		return &ParamError{kernel, "len(lengths)", 0, "give one for each feature"}
	}
	for i, length := range v {
		if err := positive(kernel, fmt.Sprintf("lengths[%d]", i), length); err != nil {
			return err
		}
	}
	return nil
}

// hyperparameters returns the lengths, named "lengths[0]", "lengths[1]" and so on.
func (l lengths) hyperparameters() []Hyperparameter {
	var list []Hyperparameter
	for i, length := range numbers(string(l)) {
		list = append(list, Hyperparameter{fmt.Sprintf("lengths[%d]", i), length})
	}
	return list
}

// parameters names the lengths by the features, where these have names.
func (l lengths) parameters(s *scan) []parameter {
	var list []parameter
	for i, h := range l.hyperparameters() {
		p := own(h.Name, h.Value)
		if i < len(s.features) {
			p.Name = s.features[i] + ".length"
		}
		list = append(list, p)
	}
	return list
}

// gradients returns the loop of a kernel K = k(r²) with r² = Σ_f (x_f − z_f)²/ℓ_f². slopes turns some r² into
// K, and sets s to the factor s of the derivatives s (x_f − z_f)²/ℓ_f² by ln ℓ_f. The loop takes s as memory, as
// long as v.
func (l lengths) gradients(slopes func(r2, s []float64)) func(v, grad, x, columns []float64, stride int, s []float64) {
	inverse := l.inverse()
	return func(v, grad, x, columns []float64, stride int, s []float64) {
		clear(v)
		for f, a := range x {
			weight, g, c := inverse[f], grad[f*len(v):][:len(v)], columns[f*stride:][:len(v)]
			for j, s := range v {
				e := (a - c[j]) * weight
				g[j] = float64(e * e)
				v[j] = s + g[j]
			}
		}
		slopes(v, s)
		for f := range x {
			g := grad[f*len(v):][:len(v)]
			for j, square := range g {
				g[j] = min(square, math.MaxFloat64) * s[j] // far away the square is infinite, and s is 0
			}
		}
	}
}
