package linear

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/svmnb/svmnb/internal/toy"
	"github.com/svmnb/svmnb/solvers"
)

// manyBits is the precision of the truth that bounds are held against.
const manyBits = 320

func exact(v float64) *big.Float { return new(big.Float).SetPrec(manyBits).SetFloat64(v) }

func float(v *big.Float) float64 { f, _ := v.Float64(); return f }

// bigs is a vector of numbers of so many bits.
type bigs []*big.Float

func bigsOf(x []float64) bigs {
	w := make(bigs, len(x))
	for i, v := range x {
		w[i] = exact(v)
	}
	return w
}

func (x bigs) dot(y bigs) *big.Float {
	sum, t := exact(0), exact(0)
	for i, v := range x {
		sum.Add(sum, t.Mul(v, y[i]))
	}
	return sum
}

// truthOf is A = LDL' of a system, factored with so many bits that rounding is no
// matter, whatever the condition. It shares nothing with the methods.
type truthOf struct {
	a, l []bigs
	d    bigs
}

// newTruth returns false where A is not positive definite.
func newTruth(s *System) (*truthOf, bool) {
	n := s.K.Dim()
	f := &truthOf{}
	t := exact(0)
	for i := range n {
		row := bigsOf(s.K.Row(i))
		row[i].Add(row[i], exact(s.noise(i)))
		f.a = append(f.a, row)
		l := make(bigs, i)
		scaled := make(bigs, i) // l_ij d_j
		for j := range i {
			v := exact(0).Set(row[j])
			for k := range j {
				v.Sub(v, t.Mul(scaled[k], f.l[j][k]))
			}
			scaled[j] = v
			l[j] = exact(0).Quo(v, f.d[j])
		}
		d := exact(0).Set(row[i])
		for k := range i {
			d.Sub(d, t.Mul(scaled[k], l[k]))
		}
		if d.Sign() <= 0 {
			return nil, false
		}
		f.l, f.d = append(f.l, l), append(f.d, d)
	}
	return f, true
}

// form returns b'A⁻¹b.
func (f *truthOf) form(b bigs) *big.Float {
	sum, t := exact(0), exact(0)
	z := make(bigs, len(b))
	for i, v := range b {
		z[i] = exact(0).Set(v)
		for j, l := range f.l[i] {
			z[i].Sub(z[i], t.Mul(l, z[j]))
		}
		sum.Add(sum, t.Quo(t.Mul(z[i], z[i]), f.d[i]))
	}
	return sum
}

// residual returns b − Ax and 2Q(x) = b'x + (b − Ax)'x.
func (f *truthOf) residual(b, x bigs) (r bigs, twice *big.Float) {
	r = make(bigs, len(b))
	for i, row := range f.a {
		r[i] = exact(0).Sub(b[i], row.dot(x))
	}
	return r, exact(0).Add(b.dot(x), r.dot(x))
}

// unevenSystem draws a random system. The scales of K and of b go from 1e-8 to 1e8. The
// noise is zero, equal for all points, or different, and goes from far below the rounding
// of K to far above K. The points are in general position, repeated, nearly repeated, or so
// close that K is singular but for rounding. b is drawn from the model, or is not.
func unevenSystem(rng *rand.Rand, n int) (s *System, b []float64, what string) {
	x, _ := toy.Points(rng, n, 1+rng.IntN(3), 0.3)
	layout := rng.IntN(4)
	for i := 1; i < n; i++ {
		switch {
		case layout == 1 && rng.IntN(2) == 0:
			copy(x[i], x[rng.IntN(i)])
		case layout == 2 && rng.IntN(2) == 0:
			copy(x[i], x[rng.IntN(i)])
			x[i][0] += 1e-7 * rng.NormFloat64()
		case layout == 3:
			for j := range x[i] {
				x[i][j] *= 1e-3
			}
		}
	}
	kind := rng.IntN(5)
	k := []toy.Kernel{toy.RBF(0.5), toy.RBF(0.01), toy.Dot, toy.Polynomial(0.3, 1, 2), toy.Constant(1)}[kind]
	size, unit := math.Pow(10, 16*rng.Float64()-8), math.Pow(10, 16*rng.Float64()-8)
	relative := math.Pow(10, 22*rng.Float64()-17)
	noise := fill(n, relative*size)
	uneven := rng.IntN(4)
	for i := range noise {
		switch uneven {
		case 0:
			noise[i] *= math.Pow(10, 6*rng.Float64())
		case 1:
			if n > 1 && rng.IntN(20) == 0 {
				noise[i] = 0
			}
		}
	}
	s = &System{toy.NewGram(x, func(x, z []float64) float64 { return size * k(x, z) }), noise}
	b = make([]float64, n)
	side := rng.IntN(5)
	for i := range b {
		switch side {
		case 0:
			b[i] = unit * rng.NormFloat64()
		case 1:
			b[i] = unit * math.Sin(2*x[i][0])
		case 2:
			b[i] = unit
		case 3:
			b[i] = unit * s.K.Row(0)[i] / size
		case 4:
			b[i] = unit * rng.NormFloat64() * math.Pow(10, -8*rng.Float64())
		}
	}
	return s, b, fmt.Sprintf("n = %d, layout %d, kernel %d, noise %.2g of K, uneven %d, b %d", n, layout, kind, relative, uneven, side)
}

// truthMethods are all ways to solve a system.
var truthMethods = []Method{
	Cholesky{}, Cholesky{Jitter: 1}, Mixed{}, LU{}, GaussJordan{}, CG{}, CG{Rank: 1}, CG{Rank: 8}, CG{Rank: 100},
	CG{GibbsMacKay: true}, CG{Rank: 4, GibbsMacKay: true}, WidrowHoff{},
}

// TestBoundsHoldTheTruth: wherever a run ends, by whatever method and on whatever system,
// the certificate's bounds have b'A⁻¹b between them, its energy is at least that of the
// error, its residual is the residual, and a run that says that it has converged meets
// its criterion in truth. The truth has 320 bits; nothing is granted to rounding.
func TestBoundsHoldTheTruth(t *testing.T) {
	rounds := uint64(300)
	if testing.Short() {
		rounds = 60
	}
	runs, tight := 0, 0
	for seed := range rounds {
		rng := toy.Rand(seed)
		n := 1 + rng.IntN(60)
		if seed%3 > 0 {
			n = 1 + rng.IntN(16)
		}
		s, b, what := unevenSystem(rng, n)
		f, definite := newTruth(s)
		if !definite {
			continue // rounding in K outweighs the noise: there is no b'A⁻¹b
		}
		wb := bigsOf(b)
		truth := f.form(wb)
		for _, m := range truthMethods {
			limits := []int{20 * n}
			switch m.(type) {
			case CG, WidrowHoff:
				limits = append(limits, 1, 2, 3, 1+rng.IntN(2*n), 2*n)
				if n <= 8 {
					for k := range 2 * n {
						limits = append(limits, k+1)
					}
				}
			}
			for _, limit := range limits {
				stop := []Criterion{nil, Bounds{Rel: 1e-3}, Bounds{Rel: 1e-12}, Residual{Rel: 1e-8}}[rng.IntN(4)]
				name := fmt.Sprintf("seed %d, %s: %s, at most %d iterations, %v", seed, what, m.Name(), limit, stop)
				sol, err := Solve(context.Background(), s, [][]float64{b}, m, Settings{MaxIterations: limit, Stop: stop, Every: 1})
				if err != nil {
					if !errors.As(err, new(*IndefiniteError)) && !errors.As(err, new(*solvers.ProblemError)) {
						t.Errorf("%s: %v", name, err)
					}
					continue
				}
				runs++
				c := sol.Certificates[0]
				r, twice := f.residual(wb, bigsOf(sol.X[0]))
				energy := exact(0).Sub(truth, twice)
				if exact(c.Lower).Cmp(truth) > 0 || !math.IsInf(c.Upper, 1) && exact(c.Upper).Cmp(truth) < 0 {
					t.Errorf("%s: %g is not within [%g, %g]: %g, %g", name, float(truth), c.Lower, c.Upper, float(exact(0).Sub(truth, exact(c.Lower))), c.Upper-float(truth))
				}
				if !math.IsInf(c.Energy, 1) && exact(c.Energy).Cmp(energy) < 0 {
					t.Errorf("%s: the energy of the error is %g, claimed to be at most %g", name, float(energy), c.Energy)
				}
				size := norm(narrowed(r))
				if math.Abs(c.Residual-size) > 1e-6*size {
					t.Errorf("%s: the residual is %g, claimed to be %g", name, size, c.Residual)
				}
				if sol.Status == solvers.Converged {
					switch stop := stop.(type) {
					case Residual:
						if size > stop.Rel*norm(b)*(1+1e-9) {
							t.Errorf("%s: converged with a residual of %g", name, size/norm(b))
						}
					case Bounds:
						if c.Upper-c.Lower > stop.Rel*c.Lower || float(energy) > stop.Rel*float(truth) {
							t.Errorf("%s: converged with an error of %g in [%g, %g]", name, float(energy), c.Lower, c.Upper)
						}
						tight++
					}
				}
				// On the way the bounds are those of the recursion, whose rounding the
				// condition of A multiplies.
				slack := (1e-12 + 1e-14*float64(n)*slices.Max(s.K.Diag())/s.theta()) * float(truth)
				for _, pt := range sol.Trace {
					lowest := math.Inf(1)
					for _, v := range []float64{pt.Skilling, pt.Radau, pt.GibbsMacKay} {
						if !math.IsNaN(v) {
							lowest = min(lowest, v)
						}
					}
					if pt.Lower-slack > float(truth) || lowest+slack < float(truth) {
						t.Errorf("%s: iteration %d: %g is not within [%g, %g]", name, pt.Iteration, float(truth), pt.Lower, lowest)
						break
					}
				}
			}
		}
	}
	if runs < 20*int(rounds) || tight < runs/10 {
		t.Errorf("%d runs, %d of which know the value well", runs, tight)
	}
}

func narrowed(x bigs) []float64 {
	v := make([]float64, len(x))
	for i := range x {
		v[i] = float(x[i])
	}
	return v
}
