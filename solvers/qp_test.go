package solvers

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// An independent solution of small quadratic programmes, to hold the methods
// against: a primal–dual interior-point method with Mehrotra's correction and
// then the exact solution on the face that it ends on. It shares no code with
// the package.

// qp is min ½x'Qx + p'x subject to Ax = b, 0 ≤ x ≤ u; u may be +Inf.
type qp struct {
	q    *mat.SymDense
	p, u []float64
	a    [][]float64 // m rows
	b    []float64
}

// qpSolution has the multipliers of the equalities in lambda.
type qpSolution struct {
	x, lambda []float64
	objective float64
}

// dense writes a Problem down as a qp in x = α − lower; constant is what its
// objective lacks.
func (p *Problem) dense() (d *qp, constant float64) {
	n := p.K.Dim()
	d = &qp{q: mat.NewSymDense(n, nil), p: make([]float64, n), u: make([]float64, n)}
	if !p.FixedBias {
		d.a, d.b = [][]float64{p.S}, []float64{p.Delta}
	}
	for i := range n {
		row := p.K.Row(i)
		for j := i; j < n; j++ {
			d.q.SetSym(i, j, p.S[i]*p.S[j]*row[j])
		}
		if p.Ridge != nil {
			d.q.SetSym(i, i, d.q.At(i, i)+p.Ridge[i])
		}
	}
	for i := range n {
		linear := p.P[i] + p.fixed()*p.S[i]
		d.p[i] = linear
		d.u[i] = p.Upper[i] - p.Lower[i]
		for r := range d.b {
			d.b[r] -= p.S[i] * p.Lower[i]
		}
		for j, l := range p.Lower {
			d.p[i] += d.q.At(i, j) * l
		}
		constant += p.Lower[i] * (d.p[i] + linear) / 2
	}
	return d, constant
}

func (d *qp) gradient(x, lambda []float64) []float64 {
	n := len(x)
	g := mat.NewVecDense(n, nil)
	g.MulVec(d.q, mat.NewVecDense(n, x))
	for i := range n {
		v := g.AtVec(i) + d.p[i]
		for r, row := range d.a {
			v += lambda[r] * row[i]
		}
		g.SetVec(i, v)
	}
	return g.RawVector().Data
}

func (d *qp) objective(x []float64) float64 {
	g, v := d.gradient(x, make([]float64, len(d.a))), 0.0
	for i, xi := range x {
		v += xi * (g[i] + d.p[i]) / 2
	}
	return v
}

// infeasibility is max |Ax − b| with x inside its box.
func (d *qp) infeasibility(x []float64) float64 {
	worst := 0.0
	for r, row := range d.a {
		v := -d.b[r]
		for i, xi := range x {
			v += row[i] * xi
		}
		worst = max(worst, math.Abs(v))
	}
	return worst
}

// gap bounds objective(x) − optimum for a feasible x. A coordinate without upper
// limit whose gradient is negative makes it infinite, unless all are so, p < 0 and
// b = 0: then the constraints are Qx + A'λ ≥ −p, and the primal vector can be made
// longer until they hold.
func (d *qp) gap(x, lambda []float64) float64 {
	g := d.gradient(x, lambda)
	gap, hard := 0.0, false
	for i, gi := range g {
		if gi < 0 && !math.IsInf(d.u[i], 1) {
			gap -= gi * (d.u[i] - x[i])
			continue
		}
		gap += gi * x[i]
		hard = hard || gi < 0
	}
	if !hard {
		return gap
	}
	norm2, dual, longer := 0.0, 0.0, 0.0
	for i, xi := range x {
		f := g[i] - d.p[i]
		if !(f > 0 && d.p[i] < 0) || !math.IsInf(d.u[i], 1) || len(d.a) > 1 || len(d.a) == 1 && d.b[0] != 0 {
			return math.Inf(1)
		}
		longer = max(longer, -d.p[i]/f)
		for r, row := range d.a {
			f -= lambda[r] * row[i]
		}
		norm2 += xi * f
		dual -= xi * d.p[i]
	}
	return longer*longer*norm2/2 - (dual - norm2/2)
}

// solve returns the solution with the smallest gap that it has seen.
func (d *qp) solve(t testing.TB) qpSolution {
	t.Helper()
	n, scale := len(d.p), 0.0
	if slices.Contains(d.u, 0) {
		return d.solveWithoutFixed(t)
	}
	for i := range n {
		scale = max(scale, d.q.At(i, i))
	}
	if scale == 0 {
		scale = 1
	}
	s := &qp{q: mat.NewSymDense(n, nil), p: d.p, u: make([]float64, n), a: d.a, b: make([]float64, len(d.b))}
	s.q.ScaleSym(1/scale, d.q)
	for i, u := range d.u {
		s.u[i] = u * scale
	}
	for r, b := range d.b {
		s.b[r] = b * scale
	}
	x, lambda, z, w := s.interior()
	best := qpSolution{x: x, lambda: lambda}
	if px, pl, ok := s.polish(x, lambda, z, w); ok && s.gap(px, pl) <= s.gap(x, lambda) {
		best.x, best.lambda = px, pl
	}
	for i := range best.x {
		best.x[i] /= scale
	}
	best.objective = d.objective(best.x)
	return best
}

// solveWithoutFixed solves for the coordinates that have room.
func (d *qp) solveWithoutFixed(t testing.TB) qpSolution {
	t.Helper()
	var at []int
	for i, u := range d.u {
		if u > 0 {
			at = append(at, i)
		}
	}
	s := &qp{q: mat.NewSymDense(len(at), nil), a: make([][]float64, len(d.a)), b: d.b}
	for k, i := range at {
		s.p, s.u = append(s.p, d.p[i]), append(s.u, d.u[i])
		for r, row := range d.a {
			s.a[r] = append(s.a[r], row[i])
		}
		for l := k; l < len(at); l++ {
			s.q.SetSym(k, l, d.q.At(i, at[l]))
		}
	}
	part := s.solve(t)
	whole := part
	whole.x = make([]float64, len(d.u))
	for k, i := range at {
		whole.x[i] = part.x[k]
	}
	return whole
}

// interior is the primal–dual method. z and w are the multipliers of x ≥ 0 and
// x ≤ u. It returns the iterate with the smallest residuals and complementarity.
func (d *qp) interior() (x, lambda, z, w []float64) {
	n, m := len(d.p), len(d.a)
	x, z, w, lambda = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, m)
	bounded := 0
	for i, u := range d.u {
		x[i], z[i] = min(1, u/2), 1
		if !math.IsInf(u, 1) {
			w[i] = 1
			bounded++
		}
	}
	var a *mat.Dense
	if m > 0 {
		a = mat.NewDense(m, n, nil)
		for r, row := range d.a {
			a.SetRow(r, row)
		}
	}
	kkt := mat.NewSymDense(n, nil)
	var chol mat.Cholesky
	best := math.Inf(1)
	bx, bl, bz, bw := x, lambda, z, w
	for range 200 {
		rd := d.gradient(x, lambda)
		mu, size, residual := 0.0, 0.0, 0.0
		for i := range n {
			rd[i] += w[i] - z[i]
			mu += x[i] * z[i]
			if w[i] > 0 {
				mu += (d.u[i] - x[i]) * w[i]
			}
			size += x[i]
			residual = max(residual, math.Abs(rd[i]))
		}
		infeasible := d.infeasibility(x)
		if merit := mu + residual*size + infeasible*(1+largestOf(lambda)); merit < best {
			best = merit
			bx, bl = append([]float64(nil), x...), append([]float64(nil), lambda...)
			bz, bw = append([]float64(nil), z...), append([]float64(nil), w...)
		}
		mu /= float64(n + bounded)
		kkt.CopySym(d.q)
		for i := range n {
			v := kkt.At(i, i) + z[i]/x[i]
			if w[i] > 0 {
				v += w[i] / (d.u[i] - x[i])
			}
			kkt.SetSym(i, i, v)
		}
		for ridge := 1e-15; !chol.Factorize(kkt); ridge *= 10 {
			for i := range n {
				kkt.SetSym(i, i, kkt.At(i, i)*(1+ridge)+ridge)
			}
			if ridge > 1 {
				return bx, bl, bz, bw
			}
		}
		var minvA, schur mat.Dense // M⁻¹A', AM⁻¹A'
		if m > 0 {
			if chol.SolveTo(&minvA, a.T()) != nil && minvA.IsEmpty() {
				return bx, bl, bz, bw
			}
			schur.Mul(a, &minvA)
		}
		// newton solves for the targets x z = cz, (u − x) w = cw.
		newton := func(cz, cw []float64) (dx, dl, dz, dw []float64) {
			r := make([]float64, n)
			for i := range n {
				r[i] = -rd[i] + (cz[i]-x[i]*z[i])/x[i]
				if w[i] > 0 {
					r[i] -= (cw[i] - (d.u[i]-x[i])*w[i]) / (d.u[i] - x[i])
				}
			}
			var minvR, right, step mat.VecDense
			_ = chol.SolveVecTo(&minvR, mat.NewVecDense(n, r)) // a bad condition number is expected at the end
			back := mat.NewVecDense(n, nil)
			if m > 0 {
				right.MulVec(a, &minvR)
				for k := range m {
					v := -d.b[k]
					for i := range n {
						v += d.a[k][i] * x[i]
					}
					right.SetVec(k, right.AtVec(k)+v)
				}
				if err := step.SolveVec(&schur, &right); err != nil && step.IsEmpty() {
					return nil, nil, nil, nil
				}
				dl = append([]float64(nil), step.RawVector().Data...)
				back.MulVec(&minvA, &step)
			}
			dx, dz, dw = make([]float64, n), make([]float64, n), make([]float64, n)
			for i := range n {
				dx[i] = minvR.AtVec(i) - back.AtVec(i)
				dz[i] = (cz[i]-x[i]*z[i])/x[i] - z[i]/x[i]*dx[i]
				if w[i] > 0 {
					gap := d.u[i] - x[i]
					dw[i] = (cw[i]-gap*w[i])/gap + w[i]/gap*dx[i]
				}
			}
			return dx, dl, dz, dw
		}
		longest := func(dx, dz, dw []float64) float64 {
			s := 1.0
			for i := range n {
				if dx[i] < 0 {
					s = min(s, -x[i]/dx[i])
				}
				if w[i] > 0 && dx[i] > 0 {
					s = min(s, (d.u[i]-x[i])/dx[i])
				}
				if dz[i] < 0 {
					s = min(s, -z[i]/dz[i])
				}
				if dw[i] < 0 {
					s = min(s, -w[i]/dw[i])
				}
			}
			return s
		}
		zero := make([]float64, n)
		dx, _, dz, dw := newton(zero, zero)
		if dx == nil {
			return bx, bl, bz, bw
		}
		s, after := longest(dx, dz, dw), 0.0
		for i := range n {
			after += (x[i] + s*dx[i]) * (z[i] + s*dz[i])
			if w[i] > 0 {
				after += (d.u[i] - x[i] - s*dx[i]) * (w[i] + s*dw[i])
			}
		}
		sigma := math.Pow(after/float64(n+bounded)/mu, 3)
		cz, cw := make([]float64, n), make([]float64, n)
		for i := range n {
			cz[i] = sigma*mu - dx[i]*dz[i]
			cw[i] = sigma*mu + dx[i]*dw[i]
		}
		dx, dl, dz, dw := newton(cz, cw)
		if dx == nil {
			return bx, bl, bz, bw
		}
		s = 0.995 * longest(dx, dz, dw)
		x, z, w, lambda = moved(x, dx, s), moved(z, dz, s), moved(w, dw, s), moved(lambda, dl, s)
		for i := range n {
			if !(x[i] > 0 && z[i] > 0 && x[i] < d.u[i]) || math.IsInf(x[i], 0) || math.IsNaN(x[i]+z[i]+w[i]) {
				return bx, bl, bz, bw // rounding has used up the interior
			}
		}
	}
	return bx, bl, bz, bw
}

// largestOf is the largest multiplier in size, 0 where there is none.
func largestOf(lambda []float64) float64 {
	l := 0.0
	for _, v := range lambda {
		l = max(l, math.Abs(v))
	}
	return l
}

func moved(x, dx []float64, s float64) []float64 {
	y := make([]float64, len(x))
	for i := range x {
		y[i] = x[i] + s*dx[i]
	}
	return y
}

// polish puts every coordinate whose multiplier is the larger of the pair on its
// bound and moves the others, by the step of least norm, to the stationary point
// of that face. It reports false if that leaves the box.
func (d *qp) polish(x, lambda, z, w []float64) (px, pl []float64, ok bool) {
	n, m := len(x), len(d.a)
	px, pl = append([]float64(nil), x...), append([]float64(nil), lambda...)
	var free []int
	for i := range n {
		switch {
		case x[i] < z[i]:
			px[i] = 0
		case d.u[i]-x[i] < w[i]:
			px[i] = d.u[i]
		default:
			free = append(free, i)
		}
	}
	size := len(free) + m
	if size == 0 {
		return px, pl, true
	}
	for range 3 { // iterative refinement
		g := d.gradient(px, pl)
		left, right := mat.NewDense(size, size, nil), mat.NewVecDense(size, nil)
		for k, i := range free {
			for l, j := range free {
				left.Set(k, l, d.q.At(i, j))
			}
			for r := range m {
				left.Set(k, len(free)+r, d.a[r][i])
				left.Set(len(free)+r, k, d.a[r][i])
			}
			right.SetVec(k, -g[i])
		}
		for r := range m {
			v := d.b[r]
			for i := range n {
				v -= d.a[r][i] * px[i]
			}
			right.SetVec(len(free)+r, v)
		}
		var svd mat.SVD
		if !svd.Factorize(left, mat.SVDThin) {
			return px, pl, false
		}
		var step mat.Dense
		svd.SolveTo(&step, right, max(1, svd.Rank(1e-13)))
		for k, i := range free {
			px[i] += step.At(k, 0)
		}
		for r := range m {
			pl[r] += step.At(len(free)+r, 0)
		}
	}
	for _, i := range free {
		if !(px[i] >= 0 && px[i] <= d.u[i]) {
			return px, pl, false
		}
	}
	return px, pl, true
}

// optimum returns the largest dual value of p and how far the independent
// solution may be from it, relatively: the gap to the primal, which for the
// 2-norm is quadratic in its errors.
func (p *Problem) optimum(t testing.TB) (w, uncertainty float64) {
	t.Helper()
	d, constant := p.dense()
	s := d.solve(t)
	w = -s.objective - constant
	gap := d.gap(s.x, s.lambda)
	if p.Ridge != nil && math.IsInf(p.Upper[0], 1) {
		b := p.fixed()
		if !p.FixedBias {
			b = s.lambda[0]
		}
		gap = min(gap, plainPrimal(p, s.x, b)-w)
	}
	return w, (gap + d.infeasibility(s.x)*(1+largestOf(s.lambda))) / max(math.Abs(w), 1e-300)
}

// hullDistance2 returns the squared distance between the convex hulls of the two
// classes in feature space and the largest squared distance between two points.
// The hard margin is half the distance, and its dual optimum is 2/distance².
func hullDistance2(t testing.TB, k Matrix, y []float64) (distance2, diameter2 float64) {
	t.Helper()
	n := len(y)
	p := HardMargin(k, y)
	d, _ := p.dense()
	d.p = make([]float64, n)
	d.a, d.b = [][]float64{y, fill(n, 1)}, []float64{0, 2}
	s := d.solve(t)
	for i := range n {
		row := k.Row(i)
		for j := range n {
			diameter2 = max(diameter2, k.Diag()[i]+k.Diag()[j]-2*row[j])
		}
	}
	return max(0, 2*s.objective), diameter2
}
