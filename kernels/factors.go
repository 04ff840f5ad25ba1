package kernels

// Factors returns the factors of a product kernel, K(x, z) = scale · Π_j k_j(x_j, z_j), with one
// function k_j for each feature: into sets dst[j] = k_j(x_j, z_j) for d features. ok is false if
// the kernel is not such a product. Kernels that decrease with a weighted sum of squared or
// absolute differences of the features, with χ² among them, are products; so are multiples and
// products of products, and products of some columns.
func Factors(k Kernel) (into func(dst, x, z []float64), scale float64, ok bool) {
	scale = 1
	multiply, ok := factorsOf(k, &scale)
	if !ok {
		return nil, 0, false
	}
	return func(dst, x, z []float64) {
		for j := range dst {
			dst[j] = 1
		}
		multiply(dst, x, z)
	}, scale, true
}

// A separable kernel is a product of functions of one feature each. multiplies returns a function
// that multiplies dst[j] by the factor of feature j, and multiplies scale by the constants in the
// kernel.
type separable interface {
	multiplies(scale *float64) (multiply func(dst, x, z []float64), ok bool)
}

func factorsOf(k Kernel, scale *float64) (multiply func(dst, x, z []float64), ok bool) {
	if k, ok := k.(separable); ok {
		return k.multiplies(scale)
	}
	return nil, false
}
