package solvers

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/svmnb/svmnb/internal/toy"
	"github.com/svmnb/svmnb/kernels"
)

// A checkup is what an α is worth by kernel values alone: in plain loops of compensated
// sums over Kernel.Eval, which share nothing with Gram, blocks, features or certificate.
type checkup struct {
	dual, gap, relGap, upLow float64
	slack                    float64 // how far rounding in a value of the kernel may have moved F
	wide                     float64 // the same of W
	drift                    float64 // how much of W hangs on the rounding of s'α
}

// sum adds up as Neumaier (1974) does.
type sum struct{ s, c float64 }

func (a *sum) add(v float64) {
	t := a.s + v
	if math.Abs(a.s) >= math.Abs(v) {
		a.c += (a.s - t) + v
	} else {
		a.c += (v - t) + a.s
	}
	a.s = t
}

func (a *sum) value() float64 { return a.s + a.c }

// examine looks at α of p, whose K is k over x, once or doubled.
func examine(p *Problem, k kernels.Kernel, x [][]float64, alpha []float64) checkup {
	n, m := len(x), len(alpha)
	f := make([]float64, m)
	most, total := 0.0, sum{}
	beta := make([]float64, n)
	for v, a := range alpha {
		beta[v%n] += p.S[v] * a
	}
	for i := range x {
		g := sum{}
		for j, b := range beta {
			if b != 0 {
				kij := k.Eval(x[i], x[j])
				most = max(most, math.Abs(kij))
				g.add(b * kij)
			}
		}
		total.add(math.Abs(beta[i]))
		for v := i; v < m; v += n {
			f[v] = -p.S[v]*p.P[v] - g.value()
			if p.Ridge != nil {
				f[v] -= p.S[v] * p.Ridge[v] * alpha[v]
			}
		}
	}
	c := checkup{slack: 0x1p-52 * float64(4+len(x[0])) * most * total.value()}
	dual, size := sum{}, sum{}
	up, low := [2]float64{math.Inf(-1), math.Inf(-1)}, [2]float64{math.Inf(1), math.Inf(1)}
	for v, a := range alpha {
		dual.add(a * (p.S[v]*f[v] - p.P[v]) / 2)
		if p.FixedBias {
			dual.add(-p.Bias * p.S[v] * a)
		}
		size.add(math.Abs(a))
		class := 0
		if p.PerClass && p.S[v] > 0 {
			class = 1
		}
		if p.S[v] > 0 && a < p.Upper[v] || p.S[v] < 0 && a > p.Lower[v] {
			up[class] = max(up[class], f[v])
		}
		if p.S[v] > 0 && a > p.Lower[v] || p.S[v] < 0 && a < p.Upper[v] {
			low[class] = min(low[class], f[v])
		}
	}
	c.dual, c.wide = dual.value(), c.slack*size.value()
	for _, v := range f {
		c.drift = max(c.drift, 4*equalitySum(p, alpha)*math.Abs(v))
	}
	c.upLow = max(up[0]-low[0], up[1]-low[1])
	if p.FixedBias {
		c.upLow = max(up[0], p.Bias) - min(low[0], p.Bias)
	}
	// The gap at any b bounds the optimum; that of the middle, and those of all F, are tried.
	gapAt := func(b [2]float64) float64 {
		gap := sum{}
		for v, a := range alpha {
			class, ridge := 0, 0.0
			if p.PerClass && p.S[v] > 0 {
				class = 1
			}
			if p.Ridge != nil {
				ridge = p.Ridge[v]
			}
			g := p.S[v]*(b[class]-f[v]) - ridge*a // plain gradient
			switch {
			case ridge > 0:
				best := min(max(-g/ridge, p.Lower[v]), p.Upper[v])
				gap.add((a - best) * (g + ridge*(a+best)/2))
			case g > 0:
				gap.add(g * (a - p.Lower[v]))
			case g < 0:
				gap.add(-g * (p.Upper[v] - a))
			}
		}
		return gap.value()
	}
	middle := [2]float64{(up[0] + low[0]) / 2, (up[1] + low[1]) / 2}
	if p.FixedBias {
		middle = [2]float64{p.Bias, p.Bias}
	}
	if c.gap = gapAt(middle); !p.FixedBias && !p.PerClass {
		for _, b := range f {
			c.gap = min(c.gap, gapAt([2]float64{b, b}))
		}
	}
	c.relGap = c.gap / (1 + math.Abs(c.dual+c.gap))
	return c
}

// honest fits p by m and fails where the result says more for itself than its α is worth.
func honest(t *testing.T, name string, p *Problem, k kernels.Kernel, x [][]float64, m Method) *Result {
	t.Helper()
	const tol = 1e-3
	r, err := Solve(context.Background(), p, m, Settings{Stop: UpLow{tol}, MaxIterations: 1000})
	if err != nil || r == nil {
		return nil
	}
	at := func() string { return fmt.Sprintf("%s, %s: %v, %+v", name, r.Method, r.Status, r.Certificate) }
	start, err := p.start(nil)
	if err != nil {
		t.Fatal(err)
	}
	was, is := examine(p, k, x, start), examine(p, k, x, r.Alpha)
	room := is.wide + was.wide + is.drift + 1e-9*(math.Abs(is.dual)+math.Abs(was.dual)+r.Certificate.Norm2)
	switch {
	case math.IsNaN(is.dual) || math.IsInf(is.dual, 0):
		t.Errorf("%s: W is %g without an error", at(), is.dual)
	case is.dual < was.dual-room:
		t.Errorf("%s: W is %g without an error, and %g at the start", at(), is.dual, was.dual)
	case math.Abs(r.Certificate.Dual-is.dual) > room+1e-9*math.Abs(is.dual):
		t.Errorf("%s: W is %g", at(), is.dual)
	}
	if r.Status != Converged {
		return r
	}
	if is.upLow > tol+2*is.slack+1e-9 {
		t.Errorf("%s: m − M is %g, and rounding %g", at(), is.upLow, is.slack)
	}
	if !p.isHard() && is.gap-2*is.slack*float64(len(x))*maxFinite(p) > 1.01*unprovenGap*(1+math.Abs(is.dual+is.gap)) {
		t.Errorf("%s: the gap is %g of %g", at(), is.gap, is.dual+is.gap)
	}
	return r
}

// maxFinite is the largest bound.
func maxFinite(p *Problem) float64 {
	most := 0.0
	for _, u := range p.Upper {
		if !math.IsInf(u, 1) {
			most = max(most, u)
		}
	}
	return most
}

// raw are points as they come: their features have these offset and scale.
func raw(seed uint64, n, d int, offset, scale float64) (x [][]float64, y []float64) {
	x, y = toy.Points(toy.Rand(seed), n, d, 0.6)
	for _, row := range x {
		for j := range row {
			row[j] = scale * (row[j] + offset)
		}
	}
	return x, y
}

// formulations of a problem on K, with y for labels and targets.
func formulations(k Matrix, y []float64, c float64) map[string]*Problem {
	n := len(y)
	targets := make([]float64, n)
	for i, v := range y {
		targets[i] = v + 0.3*math.Sin(float64(i))
	}
	list := map[string]*Problem{
		"1-norm": SoftMargin(k, y, fill(n, c)), "2-norm": SoftMargin2(k, y, fill(n, c)), "hard": HardMargin(k, y),
		"ε-SVR": Tube(k, targets, fill(n, c), 0.1), "quadratic ε-SVR": Tube2(k, targets, fill(n, c), 0.1), "ridge": Tube2(k, targets, fill(n, c), 0),
	}
	list["ν-SVC"], _ = NuSoftMargin(k, y, 0.4)
	list["one class"], _ = OneClass(k, 0.3)
	list["ν-SVR"], _ = NuTube(k, targets, c, 0.4)
	for _, name := range []string{"1-norm", "2-norm", "ε-SVR", "ridge"} {
		list[name+", b₀ = 0.2"] = list[name].WithFixedBias(0.2)
	}
	return list
}

// Whatever the units and the offsets of the features and C: no result without an error
// is worse than the start, and none that is called converged violates its criterion.
func TestStatusIsNoBetterThanTheAnswer(t *testing.T) {
	all := []Method{fast}
	for _, m := range slices.Concat(methods, singles) {
		if m.method != Method(Decomposition{Inner: GradientAscent{}}) && m.method != Method(Chunking{Inner: GradientAscent{}}) { // whose inner runs have no limit
			all = append(all, m.method)
		}
	}
	all = append(all, TubeSMO{}, TubeSMO{Step: Quadrants}, engine(16), Perceptron{})
	converged := 0
	at := 0
	for _, k := range []kernels.Kernel{
		kernels.Linear(), kernels.Polynomial(2, 1, 1), kernels.Polynomial(5, 1, 1), kernels.RBF(0.5),
		kernels.Sum(kernels.Linear(), kernels.RBF(1)), kernels.Scale(1e-3, kernels.Linear()), kernels.Product(kernels.Linear(), kernels.RBF(0.1)),
	} {
		for _, offset := range []float64{0, 100, 1e6} {
			for _, scale := range []float64{1e-150, 1e-6, 1, 1e6, 1e20} {
				for _, c := range []float64{1e-12, 1, 1e6, 1e20} {
					at++
					x, y := raw(uint64(at), 24, 2, offset, scale)
					if k == kernels.Kernel(kernels.RBF(0.5)) && scale != 1 {
						continue
					}
					gram, err := kernels.NewGram(k, x, 0)
					if err != nil {
						continue // a refusal
					}
					var features Features
					if k == kernels.Kernel(kernels.Linear()) {
						features = densely(t, x, 0)
					}
					for m, method := range all {
						for at2, name := range slices.Sorted(maps.Keys(formulations(gram, y, c))) {
							if (7*at+5*m+at2)%307 != 0 { // a share of them all
								continue
							}
							p := formulations(gram, y, c)[name]
							name = fmt.Sprintf("%v, offset %g, scale %g, C = %g, %s", k, offset, scale, c, name)
							if r := honest(t, name, p, k, x, method); r != nil && r.Status == Converged {
								converged++
							}
							if features != nil {
								twice := PointsOf(p.K) != nil
								if p.K = Matrix(features); twice {
									p.K = Double(features)
								}
								honest(t, name+", features", p, k, x, method)
							}
						}
					}
				}
			}
		}
	}
	t.Logf("%d runs converged", converged)
}
