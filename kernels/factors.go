package kernels

import "math"

// Factors returns the factors of a product kernel, K(x, z) = scale · Π_j k_j(x_j, z_j), with one
// function k_j for each feature: into sets dst[j] = k_j(x_j, z_j) for d features. ok is false if
// the kernel is not such a product. RBF, SquaredExponential, ARD, Laplacian and ExpChiSquared are
// products, and so are Scale, Named, Product and Columns of them.
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

// factorsOf returns a function that multiplies dst[j] by k_j(x_j, z_j), and multiplies scale by the
// constants in k.
func factorsOf(k Kernel, scale *float64) (multiply func(dst, x, z []float64), ok bool) {
	switch k := k.(type) {
	case GaussianKernel:
		return func(dst, x, z []float64) {
			for j := range dst {
				e := x[j] - z[j]
				dst[j] *= math.Exp(-k.Gamma * e * e)
			}
		}, true
	case SquaredExponentialKernel:
		return factorsOf(RBF(1/(2*k.Length*k.Length)), scale)
	case ARDKernel:
		inverse := lengths(k.Lengths).inverse()
		return func(dst, x, z []float64) {
			for j := range dst {
				e := (x[j] - z[j]) * inverse[j]
				dst[j] *= math.Exp(-e * e / 2)
			}
		}, true
	case LaplacianKernel:
		return func(dst, x, z []float64) {
			for j := range dst {
				dst[j] *= math.Exp(-k.Gamma * math.Abs(x[j]-z[j]))
			}
		}, true
	case ExpChiSquaredKernel:
		return func(dst, x, z []float64) {
			for j := range dst {
				if s := x[j] + z[j]; s > 0 {
					dst[j] *= math.Exp(-k.Gamma * (x[j] - z[j]) * (x[j] - z[j]) / s)
				}
			}
		}, true
	case ConstantKernel:
		*scale *= k.C
		return func(_, _, _ []float64) {}, true
	case ScaleKernel:
		*scale *= k.C
		return factorsOf(k.K, scale)
	case NamedKernel:
		return factorsOf(k.K, scale)
	case ProductKernel:
		a, okA := factorsOf(k.A, scale)
		b, okB := factorsOf(k.B, scale)
		return func(dst, x, z []float64) { a(dst, x, z); b(dst, x, z) }, okA && okB
	case ColumnsKernel:
		inner, ok := factorsOf(k.K, scale)
		cols := k.indices()
		return func(dst, x, z []float64) {
			own, p, q := make([]float64, len(cols)), make([]float64, len(cols)), make([]float64, len(cols))
			for i, j := range cols {
				own[i], p[i], q[i] = 1, x[j], z[j]
			}
			inner(own, p, q)
			for i, j := range cols {
				dst[j] *= own[i]
			}
		}, ok
	}
	return nil, false
}
