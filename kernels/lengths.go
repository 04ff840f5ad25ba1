package kernels

import "fmt"

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

// squares returns the part that the loops of derivatives share: it sets grad[k·len(v)+j] to
// (x_k − z_jk)²/ℓ_k², and v[j] to their sum.
func (l lengths) squares() gradientLoop {
	inverse := l.inverse()
	return func(v, grad, x, columns []float64, stride int) {
		clear(v)
		for f, a := range x {
			weight, g, c := inverse[f], grad[f*len(v):][:len(v)], columns[f*stride:][:len(v)]
			for j, s := range v {
				e := (a - c[j]) * weight
				g[j] = float64(e * e)
				v[j] = s + g[j]
			}
		}
	}
}
