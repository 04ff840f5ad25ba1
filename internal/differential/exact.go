package main

import (
	"math"
	"math/big"
)

// exact solves a programme of few variables by an interior-point method in 300 bits. It
// returns W* with a relative error of about 1e-25, or NaN if it does not converge.
//
//	minimise ½ α'Qα + p'α,  lower ≤ α ≤ upper,  Aα = b,
//
// Here Q = diag(s) K diag(s) + diag(ridge), and there are one or two equalities. The method
// makes primal–dual steps with Mehrotra's step to the boundary (Boyd and Vandenberghe 2004,
// §11.7).
func exact(q [][]float64, ridge, p, lower, upper []float64, a [][]float64, b []float64) float64 {
	const bits = 300
	n, m := len(p), len(a)
	f := func(v float64) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(v) }
	zero := f(0)
	add := func(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(bits).Add(x, y) }
	sub := func(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(bits).Sub(x, y) }
	mul := func(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(bits).Mul(x, y) }
	quo := func(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(bits).Quo(x, y) }
	vec := func(v []float64) []*big.Float {
		out := make([]*big.Float, len(v))
		for i := range v {
			if !math.IsInf(v[i], 0) {
				out[i] = f(v[i])
			}
		}
		return out
	}
	Q := make([][]*big.Float, n)
	for i := range Q {
		Q[i] = vec(q[i])
		Q[i][i] = add(Q[i][i], f(ridge[i]))
	}
	P, L, U, B := vec(p), vec(lower), vec(upper), vec(b)
	A := make([][]*big.Float, m)
	for k := range A {
		A[k] = vec(a[k])
	}
	x, z, w, nu := make([]*big.Float, n), make([]*big.Float, n), make([]*big.Float, n), make([]*big.Float, m)
	bounds := n
	size := 1.0
	for i := range n {
		size = max(size, math.Abs(p[i]))
	}
	for i := range x {
		x[i], z[i], w[i] = add(L[i], f(1)), f(size), zero
		if U[i] != nil {
			x[i], w[i] = quo(add(L[i], U[i]), f(2)), f(size)
			if L[i].Cmp(U[i]) >= 0 {
				return math.NaN()
			}
			bounds++
		}
	}
	for k := range nu {
		nu[k] = zero
	}
	gradient := func() []*big.Float { // computes Qx + p
		g := make([]*big.Float, n)
		for i := range g {
			g[i] = P[i]
			for j := range x {
				g[i] = add(g[i], mul(Q[i][j], x[j]))
			}
		}
		return g
	}
	value := func(g []*big.Float) *big.Float { // computes W = −(½x'Qx + p'x)
		v := f(0)
		for i := range x {
			v = sub(v, mul(quo(add(g[i], P[i]), f(2)), x[i]))
		}
		return v
	}
	for range 400 {
		g := gradient()
		eta := f(0)
		for i := range x {
			eta = add(eta, mul(z[i], sub(x[i], L[i])))
			if U[i] != nil {
				eta = add(eta, mul(w[i], sub(U[i], x[i])))
			}
		}
		rd, rp := make([]*big.Float, n), make([]*big.Float, m)
		residual := 0.0
		for i := range x {
			r := add(sub(g[i], z[i]), w[i])
			for k := range m {
				r = add(r, mul(nu[k], A[k][i]))
			}
			rd[i] = r
			v, _ := r.Float64()
			residual = max(residual, math.Abs(v)/size)
		}
		for k := range m {
			rp[k] = sub(zero, B[k])
			for i := range x {
				rp[k] = add(rp[k], mul(A[k][i], x[i]))
			}
			v, _ := rp[k].Float64()
			residual = max(residual, math.Abs(v))
		}
		e, _ := eta.Float64()
		v, _ := value(g).Float64()
		if math.IsNaN(e) || math.Abs(v) > 1e80 {
			return math.NaN() // W has no maximum, or a uselessly large one
		}
		if e <= 1e-26*math.Abs(v) && residual <= 1e-26 {
			return v
		}
		t := quo(eta, f(10*float64(bounds)))
		// Solves (Q + D) dx + A'dnu = −rd + …, A dx = −rp, by elimination with row exchanges.
		rows := n + m
		M := make([][]*big.Float, rows)
		for i := range M {
			M[i] = make([]*big.Float, rows+1)
			for j := range M[i] {
				M[i][j] = zero
			}
		}
		for i := range n {
			copy(M[i], Q[i])
			right := sub(quo(t, sub(x[i], L[i])), z[i])
			M[i][i] = add(M[i][i], quo(z[i], sub(x[i], L[i])))
			if U[i] != nil {
				right = sub(add(right, w[i]), quo(t, sub(U[i], x[i])))
				M[i][i] = add(M[i][i], quo(w[i], sub(U[i], x[i])))
			}
			for k := range m {
				M[i][n+k], M[n+k][i] = A[k][i], A[k][i]
			}
			M[i][rows] = sub(right, rd[i])
		}
		for k := range m {
			M[n+k][rows] = sub(zero, rp[k])
		}
		for c := range rows {
			best := c
			for r := c + 1; r < rows; r++ {
				if new(big.Float).Abs(M[r][c]).Cmp(new(big.Float).Abs(M[best][c])) > 0 {
					best = r
				}
			}
			M[c], M[best] = M[best], M[c]
			if M[c][c].Sign() == 0 {
				return math.NaN()
			}
			for r := c + 1; r < rows; r++ {
				if M[r][c].Sign() == 0 {
					continue
				}
				factor := quo(M[r][c], M[c][c])
				for j := c; j <= rows; j++ {
					M[r][j] = sub(M[r][j], mul(factor, M[c][j]))
				}
			}
		}
		d := make([]*big.Float, rows)
		for c := rows - 1; c >= 0; c-- {
			d[c] = M[c][rows]
			for j := c + 1; j < rows; j++ {
				d[c] = sub(d[c], mul(M[c][j], d[j]))
			}
			d[c] = quo(d[c], M[c][c])
		}
		dz, dw := make([]*big.Float, n), make([]*big.Float, n)
		step := f(1)
		shorten := func(v, dv *big.Float) {
			if dv.Sign() < 0 {
				if s := quo(v, sub(zero, dv)); mul(s, f(0.99)).Cmp(step) < 0 {
					step = mul(s, f(0.99))
				}
			}
		}
		for i := range x {
			low := sub(x[i], L[i])
			dz[i] = sub(quo(sub(t, mul(z[i], d[i])), low), z[i])
			shorten(low, d[i])
			shorten(z[i], dz[i])
			dw[i] = zero
			if U[i] != nil {
				high := sub(U[i], x[i])
				dw[i] = sub(quo(add(t, mul(w[i], d[i])), high), w[i])
				shorten(high, sub(zero, d[i]))
				shorten(w[i], dw[i])
			}
		}
		for i := range x {
			x[i], z[i], w[i] = add(x[i], mul(step, d[i])), add(z[i], mul(step, dz[i])), add(w[i], mul(step, dw[i]))
		}
		for k := range m {
			nu[k] = add(nu[k], mul(step, d[n+k]))
		}
	}
	return math.NaN()
}
