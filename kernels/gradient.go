package kernels

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/svmnb/svmnb/internal/parallel"
)

// Hyperparameter is a parameter of a kernel that can be learned from data. It is above 0.
// Learning changes its logarithm, which has no bounds and no units: a step of 0.01 is a change
// of 1 %.
type Hyperparameter struct {
	Name  string
	Value float64 // > 0, finite
}

// Differentiable is a kernel that knows its derivatives by the logarithms of its parameters. A
// parameter that is 0 has no logarithm and is not learned.
//
// The methods must agree with Eval: a type that embeds another kernel and has its own Eval
// also needs these three methods of its own.
type Differentiable interface {
	Kernel
	// Hyperparameters returns the parameters that are learned, always in the same order and
	// with different names.
	Hyperparameters() []Hyperparameter
	// With returns the kernel with other values, as many as there are Hyperparameters and in
	// their order. With the present values it returns an equal kernel. The values need not be
	// valid; [WithHyperparameters] checks them.
	With(values []float64) Kernel
	// EvalGradient returns K(x, z) and sets grad[p] to ∂K(x, z)/∂ln θ_p for each of
	// Hyperparameters.
	EvalGradient(grad, x, z []float64) float64
}

// RowDifferentiable is a kernel that computes the derivatives of many values in one loop. A
// type that only inherits EvalGradientRow from an embedded kernel does not count as one.
type RowDifferentiable interface {
	Differentiable
	// EvalGradientRow sets v[j] to K(x, z_j) and grad[p·len(v)+j] to ∂K(x, z_j)/∂ln θ_p. The
	// points z_j are given in columns, as in [Rowwise].
	EvalGradientRow(v, grad, x, columns []float64, stride int)
}

// Hyperparameters returns the parameters of k that can be learned. Kernels, and parts of
// kernels, that are not [Differentiable] or are [Fixed] have none. The error is that of Check,
// or a *[ParamError] if a kernel of your own has a value that is not finite and above 0.
//
// A name is as short as it can be while no other hyperparameter has it: "gamma"; where two
// parts have a gamma, "RBF.gamma"; where both are RBF kernels, "RBF1.gamma" and "RBF2.gamma",
// counted from 1 as they stand in k.String(), held ones included. The name of a [Named] part
// is always in front: "trend.length". Where the names of the features are given, a length of
// [ARD] has that of its feature: "age.length" instead of "lengths[0]". [Lookup] also takes
// longer names.
func Hyperparameters(k Kernel, features ...string) ([]Hyperparameter, error) {
	if err := check(k); err != nil {
		return nil, err
	}
	list := shortened(parametersOf(k, features))
	for _, h := range list {
		if err := positive("Hyperparameters", h.Name, h.Value); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// WithHyperparameters returns k with the given values of its [Hyperparameters], in their
// order. The error is a *[ParamError] for a wrong number of values, for a value that is not
// finite and above 0, and for one that the kernel refuses, such as an exponent above 2.
func WithHyperparameters(k Kernel, values []float64) (Kernel, error) {
	list, err := Hyperparameters(k)
	if err != nil {
		return nil, err
	}
	if len(values) != len(list) {
		return nil, &ParamError{"WithHyperparameters", "len(values)", float64(len(values)), fmt.Sprintf("%v has %s: give a value for each", k, several(len(list), "hyperparameter"))}
	}
	for p, h := range list {
		if err := positive("WithHyperparameters", h.Name, values[p]); err != nil {
			return nil, err
		}
	}
	k = with(k, values)
	if err := check(k); err != nil {
		return nil, err
	}
	return k, nil
}

// learnable returns the number of hyperparameters of k. It is 0 if k is not Differentiable.
func learnable(k Kernel) int { return len(parametersOf(k, nil)) }

// with is With for a part, which may have no hyperparameters.
func with(k Kernel, values []float64) Kernel {
	if d, ok := k.(Differentiable); ok && len(values) > 0 {
		return d.With(values)
	}
	return k
}

// Gradient multiplies the derivatives of a kernel matrix, by the logarithms of the kernel's
// [Hyperparameters], with a matrix of weights and sums all entries. This gives the gradient of
// a function of the matrix. It keeps only some rows in memory, never a matrix. It is not safe
// for concurrent use.
type Gradient struct {
	n, params int
	p         *points
	rower     gradientRower
	work      work

	each          []contraction
	weights, sums []float64 // of the rows that Contract works on
}

// NewGradient returns the Gradient of k over the n points of d features in x, which it copies.
// The error is a *[ParamError] for the kernel, a *[DataError] that names row and column in x,
// or a *[MemoryError].
func NewGradient(k Kernel, x [][]float64) (*Gradient, error) {
	list, err := Hyperparameters(k)
	if err != nil {
		return nil, err
	}
	d, _, err := checkPoints(k, "x", x)
	if err != nil {
		return nil, err
	}
	g := &Gradient{n: len(x), params: len(list)}
	if _, err := rowsHeld(g.n, d+g.params, NoCache, debug.SetMemoryLimit(-1)); err != nil {
		return nil, err
	}
	g.p, g.rower = over(gradientRowerOf, k, copied(x, d), d)
	grad := make([]float64, g.params)
	for i, point := range x {
		v := g.rower.self(grad, point, &g.work)
		if v-v != 0 {
			return nil, &DataError{"x", i, -1, v, fmt.Sprintf("%v of the point with itself is %v: scale the features, or leave the point out", k, v)}
		}
		for p, v := range grad {
			if v-v != 0 {
				return nil, &DataError{"x", i, -1, v, fmt.Sprintf("the derivative of %v of the point with itself by ln %s is %v: scale the features, or leave the point out", k, list[p].Name, v)}
			}
		}
	}
	return g, nil
}

// Contract sets dst[p] to Σ_ij w_ij ∂K(x_i, x_j)/∂ln θ_p for all hyperparameters and returns
// it. A dst that is too short, such as nil, is replaced by a new slice. The n × n weights are
// symmetric: weights(i) returns row i, n numbers, and may reuse its memory. Contract calls it
// once for each row, from the last to the first and never concurrently. If weights returns
// nil, for example because its context has ended, Contract returns nil at once. A row of
// another length panics with a *[DataError].
//
// It evaluates K and its derivatives at n(n+1)/2 pairs, on GOMAXPROCS goroutines. The result
// does not depend on their number.
func (g *Gradient) Contract(dst []float64, weights func(i int) []float64) []float64 {
	if dst == nil || cap(dst) < g.params {
		dst = make([]float64, g.params)
	}
	dst = dst[:g.params]
	clear(dst)
	threads := workers()
	for len(g.each) < threads {
		g.each = append(g.each, contraction{})
	}
	if g.weights == nil {
		g.weights, g.sums = make([]float64, contracted*g.n), make([]float64, contracted*g.params)
	}
	for top := g.n; top > 0; top -= contracted {
		rows := min(contracted, top)
		for r := range rows {
			i := top - 1 - r
			w := weights(i)
			switch {
			case w == nil:
				return nil
			case len(w) != g.n:
				panic(&DataError{"weights", i, -1, float64(len(w)), fmt.Sprintf("the row has %s: give one for each of %s", several(len(w), "weight"), several(g.n, "point"))})
			}
			copy(g.weights[r*g.n:][:i+1], w)
		}
		parallel.For(context.Background(), threads, rows, func(worker, r int) {
			g.contract(&g.each[worker], g.sums[r*g.params:][:g.params], top-1-r, g.weights[r*g.n:][:top-r])
		})
		for r := range rows {
			for p := range dst {
				dst[p] += g.sums[r*g.params+p]
			}
		}
	}
	return dst
}

// ContractWith sets dst[p] to Σ_ij w_ij ∂K(x_i, z_j)/∂ln θ_p, where the z are the points of g
// and the x are m others, and returns it, as Contract does. weights(i) returns row i, n numbers,
// and is called once for each row, in order and never concurrently; each call may reuse its
// memory. If it returns nil, ContractWith returns nil at once.
//
// own, unless nil, has m weights for ∂K(x_i, x_i)/∂ln θ_p, which are added. The x must be in the
// domain of the kernel. A row or an own of another length panics with a *[DataError].
func (g *Gradient) ContractWith(dst []float64, x [][]float64, own []float64, weights func(i int) []float64) []float64 {
	if dst == nil || cap(dst) < g.params {
		dst = make([]float64, g.params)
	}
	dst = dst[:g.params]
	clear(dst)
	if own != nil && len(own) != len(x) {
		panic(&DataError{"own", -1, -1, float64(len(own)), fmt.Sprintf("there are %s: give one for each of %s", several(len(own), "weight"), several(len(x), "point"))})
	}
	threads := workers()
	for len(g.each) < threads {
		g.each = append(g.each, contraction{})
	}
	if g.weights == nil {
		g.weights, g.sums = make([]float64, contracted*g.n), make([]float64, contracted*g.params)
	}
	for from := 0; from < len(x); from += contracted {
		rows := min(contracted, len(x)-from)
		for r := range rows {
			w := weights(from + r)
			switch {
			case w == nil:
				return nil
			case len(w) != g.n:
				panic(&DataError{"weights", from + r, -1, float64(len(w)), fmt.Sprintf("the row has %s: give one for each of %s", several(len(w), "weight"), several(g.n, "point"))})
			}
			copy(g.weights[r*g.n:][:g.n], w)
		}
		parallel.For(context.Background(), threads, rows, func(worker, r int) {
			c, sum := &g.each[worker], g.sums[r*g.params:][:g.params]
			c.ready(g)
			contract(g.rower, c.v, sum, x[from+r], g.weights[r*g.n:][:g.n], &c.work)
			if own != nil {
				g.rower.self(c.grad, x[from+r], &c.work)
				for p := range sum {
					sum[p] += float64(own[from+r] * c.grad[p])
				}
			}
		})
		for r := range rows {
			for p := range dst {
				dst[p] += g.sums[r*g.params+p]
			}
		}
	}
	return dst
}

// contracted is the number of rows of weights that are read before they are used: enough for
// several goroutines, and few enough to stay in a cache.
const contracted = 32

// contraction is the memory of one goroutine.
type contraction struct {
	v, grad, x []float64
	work       work
}

// ready makes the memory.
func (c *contraction) ready(g *Gradient) {
	if c.v == nil {
		c.v, c.grad, c.x = make([]float64, g.n), make([]float64, g.params), make([]float64, g.p.d)
	}
}

// contract sets sum to the part of the result that comes from row i up to the diagonal and
// from the column with the same entries.
func (g *Gradient) contract(c *contraction, sum []float64, i int, w []float64) {
	c.ready(g)
	w[i] /= 2
	contract(g.rower, c.v[:i+1], sum, g.p.point(c.x, i), w, &c.work)
	scaleBy(2, sum)
}

// A gradientRower computes kernel values and their derivatives. Derivatives of m values are
// stored by hyperparameter: m numbers for the first, then m for the second, and so on.
type gradientRower interface {
	// row sets v[j] to K(x, point j) and grad[p·len(v) + j] to its derivatives
	// for the first len(v) points.
	row(v, grad, x []float64, w *work)
	// self returns K(x, x) and sets grad to its derivatives.
	self(grad, x []float64, w *work) float64
}

// gradientRowerOf returns the gradientRower of k.
func gradientRowerOf(k Kernel, p *points) gradientRower {
	if learnable(k) == 0 {
		return fixedRower{rowerOf(k, p)}
	}
	if k, ok := as[interface{ gradientRower(p *points) gradientRower }](k); ok {
		return k.gradientRower(p)
	}
	if k, ok := as[RowDifferentiable](k); ok {
		return newGradientLoop(p, k.EvalGradientRow)
	}
	p.asked = true
	return evalGradientRower{p, k.(Differentiable), learnable(k)}
}

// gradientOfPair is EvalGradient, computed by EvalGradientRow with one point.
func gradientOfPair(k RowDifferentiable, grad, x, z []float64) float64 {
	var v [1]float64
	k.EvalGradientRow(v[:], grad, x, z, 1)
	return v[0]
}

// evalGradient is EvalGradient for a kernel with parts, computed as a row of one point.
func evalGradient(k Kernel, grad, x, z []float64) float64 {
	var v [1]float64
	_, r := over(gradientRowerOf, k, [][]float64{z}, len(z))
	r.row(v[:], grad[:learnable(k)], x, &work{})
	return v[0]
}

// fixedRower is the gradientRower of a kernel without hyperparameters.
type fixedRower struct{ r rower }

func (r fixedRower) row(v, _, x []float64, w *work)       { r.r.row(v, x, w) }
func (r fixedRower) self(_, x []float64, w *work) float64 { return r.r.self(x, w) }

// gradientLoop is the EvalGradientRow of a kernel.
type gradientLoop func(v, grad, x, columns []float64, stride int)

type gradientLoopRower struct {
	p    *points
	loop gradientLoop
}

func newGradientLoop(p *points, loop gradientLoop) gradientRower {
	p.byColumns()
	return &gradientLoopRower{p, loop}
}

func (r *gradientLoopRower) row(v, grad, x []float64, _ *work) {
	r.loop(v, grad, x, r.p.columns, r.p.n)
}

func (r *gradientLoopRower) self(grad, x []float64, w *work) float64 {
	v := w.take(1)
	defer w.give(v)
	r.loop(v, grad, x, x, 1)
	return v[0]
}

// evalGradientRower is for kernels that have no loop over rows, only EvalGradient.
type evalGradientRower struct {
	p      *points
	k      Differentiable
	params int
}

func (r evalGradientRower) row(v, grad, x []float64, w *work) {
	g := w.take(r.params)
	defer w.give(g)
	for j := range v {
		v[j] = r.k.EvalGradient(g, x, r.p.point(nil, j))
		for p, d := range g {
			grad[p*len(v)+j] = d
		}
	}
}

func (r evalGradientRower) self(grad, x []float64, _ *work) float64 {
	return r.k.EvalGradient(grad, x, x)
}
