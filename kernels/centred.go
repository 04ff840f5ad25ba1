package kernels

import (
	"fmt"
	"hash/fnv"
	"math"
	"strings"
)

// CentredKernel is ⟨φ(x) − μ, φ(z) − μ⟩; see [Centred].
type CentredKernel struct {
	K    Kernel
	X    string // the points over which the mean μ of φ is taken: "0, 1; 2, 3"
	Mean string // ⟨μ, μ⟩
}

// Centred returns the kernel of φ(x) − μ, where μ is the mean of φ over the n × d training
// points x:
//
//	K̃(x, z) = ⟨φ(x) − μ, φ(z) − μ⟩ = K(x, z) − m(x) − m(z) + M,
//	m(x) = (1/n) Σ_i K(x, x_i),   M = (1/n²) Σ_ij K(x_i, x_j).
//
// On the matrix of these points it is HKH with H = I − 11'/n. Any other point, such as a test
// point, is centred by the same means. With a free bias, centring does not change the
// classifier. It does change machines with a fixed bias, Gaussian processes and principal
// components.
//
// It costs n² values of K once, and m + n values for a row against m points. Check returns the
// errors of x. Two centred kernels are equal if their k and x are.
//
// ∂K̃ is ∂K, centred in the same way.
func Centred(k Kernel, x [][]float64) CentredKernel {
	c := CentredKernel{K: k}
	if check(k) != nil {
		return c
	}
	if _, _, err := checkPoints(k, "x", x); err != nil {
		return c
	}
	rows := make([]string, len(x))
	for i, row := range x {
		rows[i] = digits(row...)
	}
	c.X = strings.Join(rows, "; ")
	m := newMeans(k, x)
	sum, w := 0.0, &work{}
	for _, row := range x {
		sum += m.of(row, w)
	}
	c.Mean = digits(sum / float64(len(x)))
	return c
}

// points returns the points that X stores, n rows of d numbers.
func (k CentredKernel) points() [][]float64 {
	var x [][]float64
	for row := range strings.SplitSeq(k.X, ";") {
		x = append(x, numbers(row))
	}
	return x
}

func (k CentredKernel) mean() float64 {
	if v := numbers(k.Mean); len(v) == 1 {
		return v[0]
	}
	return math.NaN()
}

// centre returns K̃, given v = K(x, z), mx = m(x), mz = m(z) and mean = M.
func centre(v, mx, mz, mean float64) float64 { return v - (mx + mz) + mean }

// Eval returns K(x, z) − m(x) − m(z) + M. It evaluates K at 2n + 1 pairs; a [Gram] or a
// [Basis] is faster for rows.
func (k CentredKernel) Eval(x, z []float64) float64 {
	var mx, mz float64
	points := k.points()
	for _, p := range points {
		mx += k.K.Eval(x, p)
		mz += k.K.Eval(z, p)
	}
	n := float64(len(points))
	return centre(k.K.Eval(x, z), mx/n, mz/n, k.mean())
}

// Check returns the error of K or, as a *[ParamError] or *[DataError], that of the points of
// the mean.
func (k CentredKernel) Check() error {
	if err := check(k.K); err != nil {
		return err
	}
	x := k.points()
	if _, _, err := checkPoints(k.K, "x", x); err != nil {
		return &ParamError{"Centred", "x", math.NaN(), "want the n × d points of the mean: finite numbers, all rows equally long, in the domain of the kernel"}
	}
	if mean := k.mean(); math.IsNaN(mean) || math.IsInf(mean, 0) {
		return &ParamError{"Centred", "x", mean, fmt.Sprintf("want points at which the mean of %v is finite: scale the features", k.K)}
	}
	return nil
}

// CheckPoints returns a *[DataError] if x differs from the points of the mean in the number of
// features, or the error that K has for x.
func (k CentredKernel) CheckPoints(x [][]float64) error {
	if d := len(k.points()[0]); len(x) > 0 && len(x[0]) != d {
		return &DataError{"x", 0, -1, float64(len(x[0])), fmt.Sprintf("the point has %s, the points of the mean have %d", several(len(x[0]), "feature"), d)}
	}
	return inDomain(k.K, x)
}

// String shows the points by their size and a hash.
func (k CentredKernel) String() string {
	h := fnv.New32a()
	h.Write([]byte(k.X))
	x := k.points()
	return fmt.Sprintf("Centred(%s, x%dx%d_%08x)", describe(k.K), len(x), len(x[0]), h.Sum32())
}

// means computes m(x) for any point x.
type means struct {
	n int
	r rower
}

func newMeans(k Kernel, x [][]float64) means {
	_, r := over(rowerOf, k, x, len(x[0]))
	return means{len(x), r}
}

func (m means) of(x []float64, w *work) float64 {
	row := w.take(m.n)
	defer w.give(row)
	m.r.row(row, x, w)
	return average(row)
}

func average(v []float64) float64 {
	var sum float64
	for _, a := range v {
		sum += a
	}
	return sum / float64(len(v))
}

type centredRower struct {
	k     rower
	means means
	m     []float64 // m(z) of all points
	mean  float64
}

func (k CentredKernel) rower(p *points) rower {
	r := &centredRower{k: rowerOf(k.K, p), means: newMeans(k.K, k.points()), m: make([]float64, p.n), mean: k.mean()}
	w := &work{}
	for j, x := range p.all() {
		r.m[j] = r.means.of(x, w)
	}
	return r
}

func (r *centredRower) row(dst, x []float64, w *work) {
	r.k.row(dst, x, w)
	mx := r.means.of(x, w)
	for j, v := range dst {
		dst[j] = centre(v, mx, r.m[j], r.mean)
	}
}

func (r *centredRower) self(x []float64, w *work) float64 {
	mx := r.means.of(x, w)
	return centre(r.k.self(x, w), mx, mx, r.mean)
}

func (r *centredRower) swap(s, t int) {
	r.k.swap(s, t)
	r.m[s], r.m[t] = r.m[t], r.m[s]
}

// Hyperparameters returns the hyperparameters of K.
func (k CentredKernel) Hyperparameters() []Hyperparameter { return shortened(parametersOf(k, nil)) }

func (k CentredKernel) parameters(s *scan) []parameter { return s.of(k.K) }

// With returns the kernel with other values, centred by the means of the new K.
func (k CentredKernel) With(values []float64) Kernel {
	return Centred(with(k.K, values), k.points())
}

// EvalGradient returns K̃(x, z) and sets grad to its derivatives. It evaluates K at n² pairs;
// a [Gradient] is faster.
func (k CentredKernel) EvalGradient(grad, x, z []float64) float64 {
	return evalGradient(k, grad, x, z)
}

// gradientMeans computes m(x) and its derivatives for any point x.
type gradientMeans struct {
	n int
	k gradientRower
}

func (m gradientMeans) of(grad, x []float64, w *work) float64 {
	v, g := w.take(m.n), w.take(m.n*len(grad))
	defer w.give(v)
	defer w.give(g)
	m.k.row(v, g, x, w)
	for p := range grad {
		grad[p] = average(g[p*m.n:][:m.n])
	}
	return average(v)
}

type centredGradient struct {
	k      gradientRower
	means  gradientMeans
	params int
	m      []float64 // m(z) of all points
	slopes []float64 // the derivatives of m, params numbers for each point
	mean   float64
	slope  []float64 // the derivatives of mean
}

func (k CentredKernel) gradientRower(p *points) gradientRower {
	params := learnable(k)
	x := k.points()
	_, means := over(gradientRowerOf, k.K, x, len(x[0]))
	r := &centredGradient{
		k: gradientRowerOf(k.K, p), means: gradientMeans{len(x), means}, params: params,
		m: make([]float64, p.n), slopes: make([]float64, p.n*params),
		mean: k.mean(), slope: make([]float64, params),
	}
	w := &work{}
	for j, z := range p.all() {
		r.m[j] = r.means.of(r.slopes[j*params:][:params], z, w)
	}
	part := make([]float64, params)
	for _, row := range x {
		r.means.of(part, row, w)
		for p, v := range part {
			r.slope[p] += v / float64(len(x))
		}
	}
	return r
}

func (r *centredGradient) row(v, grad, x []float64, w *work) {
	slope := w.take(r.params)
	defer w.give(slope)
	r.k.row(v, grad, x, w)
	mx := r.means.of(slope, x, w)
	for j := range v {
		v[j] = centre(v[j], mx, r.m[j], r.mean)
		for p, s := range slope {
			g := &grad[p*len(v)+j]
			*g = centre(*g, s, r.slopes[j*r.params+p], r.slope[p])
		}
	}
}

func (r *centredGradient) self(grad, x []float64, w *work) float64 {
	slope := w.take(r.params)
	defer w.give(slope)
	v := r.k.self(grad, x, w)
	mx := r.means.of(slope, x, w)
	for p, s := range slope {
		grad[p] = centre(grad[p], s, s, r.slope[p])
	}
	return centre(v, mx, mx, r.mean)
}
