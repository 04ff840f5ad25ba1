package linear

import "math"

// This file bounds b'A⁻¹b (Gibbs and MacKay 1997, §3, after Skilling 1993; Golub and Meurant
// 2010, §§7 and 12). For every x, with r = b − Ax, let
//
//	Q(x) = b'x − ½ x'Ax,  2Q(x) = b'x + r'x,
//
// Q is largest at x = A⁻¹b, where 2Q = b'A⁻¹b. Elsewhere 2Q is smaller by exactly the energy
// of the error,
//
//	b'A⁻¹b = 2Q(x) + r'A⁻¹r.
//
// Since A = K + D ⪰ D = diag(noise), r'A⁻¹r ≤ Σ r_i²/noise_i. With one noise θ this is ‖r‖²/θ.
// For x* = x the resulting upper bound of b'A⁻¹b is Skilling's, (b'b − 2Q*(x*))/θ. He derives
// it from
//
//	b'b = θ b'A⁻¹b + b'KA⁻¹b,  Q*(x*) = x*'Kb − ½ x*'AKx* ≤ ½ b'KA⁻¹b.

// energy returns Σ r_i²/floor_i ≥ r'A⁻¹r. It is +Inf if a floor is 0 and its r_i is not.
func (s *System) energy(r []float64) float64 {
	sum, diag := 0.0, s.K.Diag()
	for i, v := range r {
		if v != 0 {
			sum += v / s.floor(i, diag[i]) * v
		}
	}
	return sum
}

// hidden bounds what rounding may add to r'A⁻¹r when r = b − Ax is computed entry by
// entry in working precision: |δr_i| ≤ (n+4) 2⁻⁵³ (|b_i| + Σ_j |A_ij x_j|), and |K_ij| ≤ √(K_ii K_jj).
func (s *System) hidden(b, x []float64) float64 {
	diag, sum := s.K.Diag(), 0.0
	for j, v := range x {
		sum += math.Sqrt(diag[j]) * math.Abs(v)
	}
	rest := make([]float64, len(b))
	for i, v := range b {
		rest[i] = float64(len(b)+4) * 0x1p-53 * (math.Abs(v) + math.Sqrt(diag[i])*sum + s.noise(i)*math.Abs(x[i]))
	}
	return s.energy(rest)
}
