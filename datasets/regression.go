package datasets

import "math"

// The generators for regression make n points, 2 ≤ n ≤ 10⁷, with real targets. Noise is the
// standard deviation of a normal error that is added to the targets. For the same seed, noise
// only scales the same errors at the same points.

// Sinc returns sin(x)/x at n points, n × 1, evenly over [−10, 10]: point i is at −10 + 20(i +
// ½)/n. The function is an example of Vapnik, Golowich and Smola, Support vector method for
// function approximation (1997).
func Sinc(n int, noise float64, seed uint64) *Dataset {
	return measure("sinc", n, 1, noise, seed, func(i int, x []float64, _ source) float64 {
		x[0] = 20*(float64(i)+0.5)/float64(n) - 10
		return sinc(x[0])
	})
}

func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	x = math.Abs(x)
	_, sin := turn(x / (2 * math.Pi))
	return sin / x
}

// Friedman1 returns n × 10 features, uniform over [0, 1), of which five matter. The target is
// 10 sin(π x₁x₂) + 20 (x₃ − ½)² + 10 x₄ + 5 x₅ (Friedman, Multivariate adaptive regression
// splines, 1991). Its standard deviation is 4.9; noise 1 is usual.
func Friedman1(n int, noise float64, seed uint64) *Dataset {
	return measure("friedman1", n, 10, noise, seed, func(_ int, x []float64, s source) float64 {
		for j := range x {
			x[j] = s.uniform()
		}
		return friedman1(x)
	})
}

// The conversions prevent fused multiply-adds, here and in the functions below.
func friedman1(x []float64) float64 {
	_, sin := turn(x[0] * x[1] / 2)
	return float64(10*sin) + float64(20*float64((x[2]-0.5)*(x[2]-0.5))) + float64(10*x[3]) + float64(5*x[4])
}

// Friedman2 returns n × 4 features of an electric circuit: resistance R, frequency ω,
// inductance L and capacitance C, uniform over [0, 100], [40π, 560π], [0, 1] and [1, 11]. The
// target is the impedance √(R² + (ωL − 1/(ωC))²) (Friedman 1991). The paper has C in
// microfarads. As in scikit-learn and R's mlbench, the formula here omits this factor, so C
// hardly matters. The standard deviation of the target is 379; noise 125 is usual.
func Friedman2(n int, noise float64, seed uint64) *Dataset {
	return circuit("friedman2", n, noise, seed, friedman2)
}

func friedman2(x []float64) float64 {
	reactance := float64(x[1]*x[2]) - 1/(x[1]*x[3])
	return math.Sqrt(float64(x[0]*x[0]) + float64(reactance*reactance))
}

// Friedman3 returns the circuit of [Friedman2], n × 4. The target is the phase in radians:
// arctan((ωL − 1/(ωC))/R) (Friedman 1991). Its standard deviation is 0.32; noise 0.1 is usual.
func Friedman3(n int, noise float64, seed uint64) *Dataset {
	return circuit("friedman3", n, noise, seed, friedman3)
}

func friedman3(x []float64) float64 {
	return arctan((float64(x[1]*x[2]) - 1/(x[1]*x[3])) / x[0])
}

func circuit(name string, n int, noise float64, seed uint64, f func(x []float64) float64) *Dataset {
	d := measure(name, n, 4, noise, seed, func(_ int, x []float64, s source) float64 {
		x[0] = 100 * (1 - s.uniform()) // never 0, because the phase divides by it
		x[1] = 40*math.Pi + float64(520*math.Pi*s.uniform())
		x[2] = s.uniform()
		x[3] = 1 + float64(10*s.uniform())
		return f(x)
	})
	if d.err == nil {
		d.Features = []string{"R", "omega", "L", "C"}
	}
	return d
}

// measure draws n points of d features. The function at sets the features of point i and
// returns its target without noise.
func measure(name string, n, d int, noise float64, seed uint64, at func(i int, x []float64, s source) float64) *Dataset {
	out := blank(name, n, d, "noise", noise, seed)
	if out.err != nil {
		return out
	}
	s := newSource(seed)
	for i, x := range out.X {
		out.Y[i] = s.near(at(i, x, s), noise)
	}
	return out
}
