package kernels

import "math"

// QuadraticFeatures returns the features φ(x) of the kernel [Polynomial](2, gamma, c), ⟨φ(x),
// φ(z)⟩ = (γ x·z + c)², explicitly (Ng's notes, section 7). x has n numbers, gamma > 0 and c ≥
// 0. The features are
//
//	γ x_i x_j        for all n² pairs (i, j),
//	√(2γc) x_i       for i = 1 … n, if c > 0,
//	c                if c > 0.
//
// These are n² + n + 1 numbers, or n² if c = 0. As x_i x_j = x_j x_i they span C(n+2, 2)
// dimensions, or C(n+1, 2) if c = 0: the distinct monomials that Ng counts. The kernel takes
// O(n) steps, φ takes O(n²).
func QuadraticFeatures(x []float64, gamma, c float64) []float64 {
	phi := make([]float64, 0, len(x)*len(x)+len(x)+1)
	for _, a := range x {
		for _, b := range x {
			phi = append(phi, gamma*a*b)
		}
	}
	if c == 0 {
		return phi
	}
	for _, a := range x {
		phi = append(phi, math.Sqrt(2*gamma*c)*a)
	}
	return append(phi, c)
}
