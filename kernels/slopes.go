package kernels

import "math"

// Smooth is a kernel that knows its derivatives by the features of both points. The functions of
// its process have a derivative. See [Slopes] and [WithDerivatives].
type Smooth interface {
	Kernel
	// EvalSlopes returns K(x, z), and sets byX[i] to ∂K/∂x_i, byZ[j] to ∂K/∂z_j and both[i·d+j] to
	// ∂²K/∂x_i∂z_j, for points of d features. It must agree with Eval.
	EvalSlopes(byX, byZ, both, x, z []float64) float64
}

// Slopes returns the EvalSlopes of k, or false if k is not made of [Smooth] kernels. For Matérn's
// kernel of ν = 3/2, the second derivatives are continuous too.
func Slopes(k Kernel) (of func(byX, byZ, both, x, z []float64) float64, ok bool) {
	if check(k) != nil {
		return nil, false
	}
	return slopesOf(k)
}

type slopes = func(byX, byZ, both, x, z []float64) float64

func slopesOf(k Kernel) (slopes, bool) {
	if k, ok := as[interface{ slopes() (slopes, bool) }](k); ok {
		return k.slopes()
	}
	if k, ok := as[Smooth](k); ok {
		return k.EvalSlopes, true
	}
	return nil, false
}

// radialSlopes returns the slopes of a function of s = Σ_k w_k²(x_k − z_k)², of which the function
// of returns the value and the first two derivatives by s. The w are 1 if weights is nil. With u_k =
// w_k²(x_k − z_k),
//
//	∂g/∂x_i = 2g'u_i = −∂g/∂z_i,  ∂²g/∂x_i∂z_j = −4g''u_i u_j − 2g'w_i² [i = j].
func radialSlopes(weights []float64, of func(s float64) (g, first, second float64)) slopes {
	return func(byX, byZ, both, x, z []float64) float64 {
		d, s := len(x), 0.0
		weight := func(i int) float64 {
			if weights == nil {
				return 1
			}
			return weights[i]
		}
		for i, a := range x {
			e := (a - z[i]) * weight(i)
			s += float64(e * e)
			byX[i] = e * weight(i)
		}
		g, first, second := of(s)
		first, second = float64(2*float64(first)), float64(4*float64(second))
		for i, u := range byX {
			for j, v := range byX {
				both[i*d+j] = float64(-second * float64(u*v))
			}
			both[i*d+i] -= float64(first * float64(weight(i)*weight(i)))
		}
		for i, u := range byX {
			byX[i] = float64(first * u)
			byZ[i] = -byX[i]
		}
		return g
	}
}

func gaussianSlopes(weights []float64, gamma float64) slopes {
	return radialSlopes(weights, func(s float64) (g, first, second float64) {
		g = math.Exp(-gamma * s)
		return g, -gamma * g, gamma * gamma * g
	})
}

// maternSlopes is for ν = 3/2 or 5/2; halves is 2ν. With t = √(2ν s)/ℓ, a = 2ν/ℓ²,
//
//	g' = −(a/2) exp(−t), g'' = (a²/4) exp(−t)/t for ν = 3/2, where g'' u_i u_j → 0 for s → 0,
//	g' = −(a/6)(1 + t) exp(−t), g'' = (a²/12) exp(−t) for ν = 5/2.
func maternSlopes(weights []float64, halves int, length float64) slopes {
	a := float64(halves) / length / length
	return radialSlopes(weights, func(s float64) (g, first, second float64) {
		t := min(math.Sqrt(a*s), farthest)
		e := math.Exp(-t)
		if halves == 5 {
			return (1 + t + float64(t*t)/3) * e, -a / 6 * (1 + t) * e, a * a / 12 * e
		}
		if t > 0 {
			second = a * a / 4 * e / t
		}
		return (1 + t) * e, -a / 2 * e, second
	})
}
