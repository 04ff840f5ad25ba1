package main

import (
	"math"
	"slices"
	"strconv"
	"time"
)

// shrink makes a failing problem smaller and its numbers rounder as long as it fails in the
// same way, for at most the given time.
func shrink(f *failure, methods []method, precise bool, peers *peers, within time.Duration) *failure {
	end := time.Now().Add(within)
	if f.c.kind == "hang" {
		return f
	}
	if f.c.kind != "disagreement" { // a disagreement needs two methods
		methods = []method{f.m}
	}
	fails := func(p problem) bool {
		if time.Now().After(end) || len(p.X) == 0 || len(p.X[0]) == 0 {
			return false
		}
		g := try(&p, methods, precise, peers, &tally{})
		if g == nil || g.c.kind != f.c.kind {
			return false
		}
		f = &failure{p, f.m, g.c}
		return true
	}
	rows := func(p problem, keep func(i int) bool) problem {
		q := p
		q.X, q.Y, q.Weights = nil, nil, nil
		for i := range p.X {
			if keep(i) {
				q.X, q.Y = append(q.X, p.X[i]), append(q.Y, p.Y[i])
				if p.Weights != nil {
					q.Weights = append(q.Weights, p.Weights[i])
				}
			}
		}
		return q
	}
	for again := true; again && time.Now().Before(end); {
		again = false
		for size := len(f.p.X) / 2; size >= 1; size /= 2 {
			for at := 0; at < len(f.p.X); {
				if fails(rows(f.p, func(i int) bool { return i < at || i >= at+size })) {
					again = true
				} else {
					at += size
				}
			}
		}
		for j := 0; len(f.p.X) > 0 && j < len(f.p.X[0]); {
			q := f.p
			q.X = slices.Clone(q.X)
			for i, row := range q.X {
				q.X[i] = slices.Delete(slices.Clone(row), j, j+1)
			}
			if fails(q) {
				again = true
			} else {
				j++
			}
		}
		for _, change := range []func(p *problem){
			func(p *problem) { p.Weights = nil }, func(p *problem) { p.Sparse = false }, func(p *problem) { p.Bias = free },
			func(p *problem) { p.Kernel = "Linear()" }, func(p *problem) { p.Kernel = "RBF(1)" }, func(p *problem) { p.C = 1 },
			func(p *problem) { p.C = digits(p.C, 1) }, func(p *problem) { p.Nu = digits(p.Nu, 1) }, func(p *problem) { p.Epsilon = 0 }, func(p *problem) { p.Tol = 1e-3 },
			func(p *problem) { p.Offset = 0 },
			func(p *problem) { p.round(1) }, func(p *problem) { p.round(2) }, func(p *problem) { p.round(4) },
		} {
			q := f.p
			change(&q)
			if q.program(f.m, "") != f.p.program(f.m, "") && fails(q) {
				again = true
			}
		}
	}
	return f
}

// round rounds every number to d digits.
func (p *problem) round(d int) {
	p.X, p.Y = slices.Clone(p.X), slices.Clone(p.Y)
	for i, row := range p.X {
		p.X[i] = slices.Clone(row)
		for j, v := range row {
			p.X[i][j] = digits(v, d)
		}
	}
	if p.Form.regression() {
		for i, v := range p.Y {
			p.Y[i] = digits(v, d)
		}
	}
}

func digits(v float64, d int) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'e', d-1, 64), 64)
	if err != nil || math.IsInf(r, 0) {
		return v
	}
	return r
}
