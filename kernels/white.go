package kernels

import "math"

// WhiteKernel is 1 for equal points and 0 for others; see [White].
type WhiteKernel struct{ stateless }

func init() { register("White", ofNumbers(0, func([]float64) Kernel { return White() })) }

// White returns the kernel of white noise, K(x, z) = 1 if x = z and 0 otherwise: the values of f
// at different points know nothing of each other. Its variance is that of a [Scale] around it, as
// in
//
//	kernels.Sum(kernels.Matern32(2), kernels.Scale(0.1, kernels.White()))
//
// Equal points have one value of this noise; geostatistics calls it the nugget. The noise of a
// measurement is another for each target, even at equal points, and is no kernel: it depends on
// the index of a training point. It is the NoiseVariance of a process, and the Ridge of a
// solvers.Problem. The two differ where points repeat: then data tell the variance of White, which
// stays, from that of the measurement, which averages out. Where no points repeat, learn only one
// of them.
func White() WhiteKernel { return WhiteKernel{} }

// Eval returns 1 if all features are equal, otherwise 0.
func (k WhiteKernel) Eval(x, z []float64) float64 {
	var v [1]float64
	k.EvalRow(v[:], x, z, 1)
	return v[0]
}

// EvalRow sets dst[j] to K(x, z_j) for the points z_j in columns. It compares the features: rounding
// could make a distance of equal points more than 0.
func (WhiteKernel) EvalRow(dst, x, columns []float64, stride int) {
	for j := range dst {
		dst[j] = 1
	}
	for f, a := range x {
		c := columns[f*stride:][:len(dst)]
		for j, b := range c {
			if a != b {
				dst[j] = 0
			}
		}
	}
}

func (WhiteKernel) term(f *formula, cols []int) term { return whiteTerm(f.same(cols)) }

// whiteTerm is the index of the features in formula.equal.
type whiteTerm int

func (t whiteTerm) values(dst []float64, p *pairs, _ *work) {
	if p.self {
		for j := range dst {
			dst[j] = 1
		}
		return
	}
	own, hash := p.left.hash[t][p.at], p.right.hash[t][p.from:][:len(dst)]
	for j, h := range hash {
		dst[j] = 0
		if h == own {
			dst[j] = 1
		}
	}
}

func (whiteTerm) reach(int, float64, float64, span) float64 { return math.Inf(1) }

func (WhiteKernel) String() string { return call("White") }
