package solvers

import (
	"fmt"
	"math"

	"github.com/svmnb/svmnb/internal/rows"
)

// Tube is the dual of ε-support-vector regression with the linear
// ε-insensitive loss (Vapnik 1995; CST (7.2)), whose primal is
// ½‖w‖² + Σ c_i (|y_i − f(x_i)| − ε)₊. It is a Problem of 2n multipliers, two for each point:
// first the n multipliers α̂ for points above the tube, then the n multipliers α for points
// below:
//
//	minimise ½ β'Kβ − y'β + ε Σ (α̂_i + α_i),  β = α̂ − α,  0 ≤ α̂_i, α_i ≤ c_i,  Σβ = 0,
//
// In the form of this package s = (1, …, 1, −1, …, −1) and p = (ε − y, ε + y). CST writes α
// for β. [Signed] returns β. In f(x) = Σ β_i K(x_i, x) + b, a β_i > 0 pulls f up to a point
// above the tube. y and c have length n, y is finite, c_i > 0 is the cost of point i and ε ≥ 0
// the half-width of the tube in units of y. K of the Problem is k doubled; see [Double].
func Tube(k Matrix, y, c []float64, epsilon float64) *Problem {
	n := k.Dim()
	p := &Problem{
		K: Double(k), S: append(fill(n, 1), fill(n, -1)...),
		Lower: make([]float64, 2*n), Upper: append(append([]float64(nil), c...), c...),
	}
	for _, v := range y {
		p.P = append(p.P, epsilon-v)
	}
	for _, v := range y {
		p.P = append(p.P, epsilon+v)
	}
	return p
}

// Tube2 is Tube with the quadratic ε-insensitive loss (CST §7.1.1), whose primal is ½‖w‖² + ½
// Σ c_i (|y_i − f(x_i)| − ε)₊². It has C = ∞ and the ridge 1/c_i, which is kept apart from K
// because predictions do not use it. The slack of point i is |β_i| / c_i. With ε = 0 it is
// ridge regression: β = (K + diag(1/c))⁻¹ (y − b).
func Tube2(k Matrix, y, c []float64, epsilon float64) *Problem {
	p := Tube(k, y, fill(k.Dim(), math.Inf(1)), epsilon)
	for range 2 {
		for _, v := range c {
			p.Ridge = append(p.Ridge, 1/v)
		}
	}
	return p
}

// Pinball is the dual of quantile regression (Koenker and Bassett 1978; with kernels, Takeuchi,
// Le, Sears and Smola 2006), whose primal is ½‖w‖² + Σ c_i ρ(y_i − f(x_i)) with the pinball
// loss ρ(r) = max(τ r, (τ − 1) r) and τ in (0, 1). It is Tube with ε = 0 and a box for each
// side:
//
//	minimise ½ β'Kβ − y'β,  −(1 − τ) c_i ≤ β_i ≤ τ c_i,  Σβ = 0.
//
// With a free bias, at most τ n points lie below f at the optimum and at most (1 − τ) n above,
// if all costs are equal. For τ = ½ it is Tube with ε = 0 and half the cost.
func Pinball(k Matrix, y, c []float64, tau float64) *Problem {
	p := Tube(k, y, c, 0)
	for i, v := range c {
		p.Upper[i], p.Upper[len(c)+i] = tau*v, (1-tau)*v
	}
	return p
}

// HuberTube is the dual of a regression with Huber's loss (Huber 1964; with kernels, Mangasarian
// and Musicant 2000), whose primal is ½‖w‖² + Σ c_i h(y_i − f(x_i)) with h(r) = r²/2δ for |r| ≤
// δ and |r| − δ/2 beyond, and δ > 0 in units of y. It is Tube with ε = 0 and the ridge δ/c_i
// besides the box, so β_i = c_i r_i/δ for |r_i| ≤ δ and ±c_i beyond. For δ → 0 it tends to Tube
// with ε = 0; for δ above every residual it is Tube2 with ε = 0 and the costs c_i/δ.
func HuberTube(k Matrix, y, c []float64, delta float64) *Problem {
	p := Tube(k, y, c, 0)
	for range 2 {
		for _, v := range c {
			p.Ridge = append(p.Ridge, delta/v)
		}
	}
	return p
}

// NuTube is the dual of ν-support-vector regression (Schölkopf, Smola, Williamson and Bartlett
// 2000). It finds the tube's half-width ε for a ν in (0, 1] such that at most ν n points lie
// outside the tube and at least ν n are support vectors. y has n finite values. In LIBSVM's
// scaling it is
//
//	minimise ½ β'Kβ − y'β,  β = α̂ − α,  0 ≤ α̂_i, α_i ≤ c,  Σβ = 0,  Σ(α̂_i + α_i) = c ν n.
//
// The ε that was found is −Certificate.Rho. Tube with this ε and the cost c has the same
// solution. The error is a *ProblemError for ν outside (0, 1] or c outside (0, ∞). With weights
// w of the points, see NuSoftMargin, α̂_i, α_i ≤ c w_i and the sum of all is c ν Σw.
func NuTube(k Matrix, y []float64, c, nu float64, w ...float64) (*Problem, error) {
	w, all, err := weighed(k.Dim(), nu, w)
	if err != nil {
		return nil, err
	}
	if !(c > 0 && rows.Usable(c)) {
		return nil, &ProblemError{"c", -1, c, fmt.Sprintf("the cost is %g; it must be a positive number, at most 1e100", c)}
	}
	cost := make([]float64, len(w))
	for i, v := range w {
		cost[i] = c * v
	}
	p := Tube(k, y, cost, 0)
	p.PerClass, p.Sum = true, c*nu*all
	return p, nil
}

// Signed returns β = α̂ − α, n values, for the 2n multipliers of a regression.
func Signed(alpha []float64) []float64 {
	n := len(alpha) / 2
	beta := make([]float64, n)
	for i := range beta {
		beta[i] = alpha[i] - alpha[n+i]
	}
	return beta
}

// Doubled is the 2n × 2n matrix with K in each of its four blocks, for the 2n multipliers of a
// regression. Row n + i is row i, so it computes and counts only the kernel values of K.
type Doubled struct {
	k    Matrix
	n    int
	diag []float64
	row  [2][]float64
	odd  int
}

// Double returns the doubled matrix of k. It is a *Doubled; if k is Features, the result is
// Features too.
func Double(k Matrix) Matrix {
	n := k.Dim()
	d := &Doubled{k: k, n: n}
	if diag := k.Diag(); len(diag) == n { // otherwise Check returns the error
		d.diag = append(append(make([]float64, 0, 2*n), diag...), diag...)
	}
	if x, ok := k.(Features); ok {
		return doubledFeatures{d, x}
	}
	return d
}

// Points returns the n × n matrix K.
func (d *Doubled) Points() Matrix { return d.k }

func (d *Doubled) Dim() int           { return 2 * d.n }
func (d *Doubled) Diag() []float64    { return d.diag }
func (d *Doubled) Evaluations() int64 { return rows.Evaluations(d.k) }
func (d *Doubled) Largest() float64   { return rows.Largest(d.k) }

func (d *Doubled) Row(i int) []float64 {
	r, k := nextRow(&d.row, &d.odd, 2*d.n), d.k.Row(i%d.n)
	copy(r, k)
	copy(r[d.n:], k)
	return r
}

// doubledFeatures is Doubled for K = X X'. It has the rows of X twice.
type doubledFeatures struct {
	*Doubled
	x Features
}

func (d doubledFeatures) Columns() int                      { return d.x.Columns() }
func (d doubledFeatures) Dot(i int, w []float64) float64    { return d.x.Dot(i%d.n, w) }
func (d doubledFeatures) Add(w []float64, i int, a float64) { d.x.Add(w, i%d.n, a) }

// PointsOf returns the n × n matrix that [Double] has doubled to k, in a regression. For other
// problems it returns nil.
func PointsOf(k Matrix) Matrix {
	if d, ok := k.(interface{ Points() Matrix }); ok {
		return d.Points()
	}
	return nil
}
