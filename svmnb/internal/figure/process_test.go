package figure

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/internal/contour"
	"pgregory.net/rapid"
)

// cholesky returns the lower triangle L of A = LL'.
func cholesky(t testing.TB, a [][]float64) [][]float64 {
	t.Helper()
	l := make([][]float64, len(a))
	for i := range a {
		l[i] = make([]float64, len(a))
		for j := range i + 1 {
			s := a[i][j]
			for k := range j {
				s -= l[i][k] * l[j][k]
			}
			if i > j {
				l[i][j] = s / l[j][j]
			} else if l[i][i] = math.Sqrt(s); !(s > 0) {
				t.Fatalf("pivot %d is %v", i, s)
			}
		}
	}
	return l
}

// half solves Lv = b; whole solves LL'v = b.
func half(l [][]float64, b []float64) []float64 {
	v := make([]float64, len(b))
	for i := range b {
		v[i] = b[i]
		for k := range i {
			v[i] -= l[i][k] * v[k]
		}
		v[i] /= l[i][i]
	}
	return v
}

func whole(l [][]float64, b []float64) []float64 {
	v := half(l, b)
	for i := len(v) - 1; i >= 0; i-- {
		for k := i + 1; k < len(v); k++ {
			v[i] -= l[k][i] * v[k]
		}
		v[i] /= l[i][i]
	}
	return v
}

func dot(a, b []float64) (s float64) {
	for i := range a {
		s += a[i] * b[i]
	}
	return s
}

// grid returns m even places.
func grid(from, to float64, m int) []float64 {
	x := make([]float64, m)
	for i := range x {
		x[i] = from + (to-from)*float64(i)/float64(m-1)
	}
	return x
}

func apply(f func(float64) float64, x []float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = f(v)
	}
	return y
}

// kernel is of one feature.
type kernel func(a, b float64) float64

func squared(variance, length float64) kernel {
	return func(a, b float64) float64 { return variance * math.Exp(-(a-b)*(a-b)/(2*length*length)) }
}

func periodic(variance, length, period, decay float64) kernel {
	return func(a, b float64) float64 {
		s := math.Sin(math.Pi*(a-b)/period) / length
		return variance * math.Exp(-2*s*s-(a-b)*(a-b)/(2*decay*decay))
	}
}

func sum(kernels ...kernel) kernel {
	return func(a, b float64) (s float64) {
		for _, k := range kernels {
			s += k(a, b)
		}
		return s
	}
}

// process is a Gaussian process solved by Cholesky, dense and plain.
type process struct {
	k        kernel
	x, y     []float64
	noise    float64
	a, l     [][]float64
	w        []float64 // A⁻¹y
	evidence float64
}

func learn(t testing.TB, k kernel, x, y []float64, noise float64) *process {
	t.Helper()
	p := &process{k: k, x: x, y: y, noise: noise}
	for i, a := range x {
		p.a = append(p.a, apply(func(b float64) float64 { return k(a, b) }, x))
		p.a[i][i] += noise
	}
	p.l = cholesky(t, p.a)
	p.w = whole(p.l, y)
	p.evidence = -dot(y, p.w)/2 - float64(len(x))/2*math.Log(2*math.Pi)
	for i := range p.l {
		p.evidence -= math.Log(p.l[i][i])
	}
	return p
}

// at returns the mean and the standard deviation of the part of f that has
// kernel k.
func (p *process) at(k kernel, xs []float64) (mean, sd []float64) {
	for _, x := range xs {
		row := apply(func(b float64) float64 { return k(x, b) }, p.x)
		v := half(p.l, row)
		mean, sd = append(mean, dot(row, p.w)), append(sd, math.Sqrt(max(k(x, x)-dot(v, v), 0)))
	}
	return mean, sd
}

// sample draws a function from the posterior.
func (p *process) sample(t testing.TB, xs []float64, r *rand.Rand) []float64 {
	mean, _ := p.at(p.k, xs)
	cov, v := make([][]float64, len(xs)), make([][]float64, len(xs))
	z := make([]float64, len(xs))
	for i, x := range xs {
		v[i] = half(p.l, apply(func(b float64) float64 { return p.k(x, b) }, p.x))
		z[i] = r.NormFloat64()
	}
	for i, a := range xs {
		cov[i] = make([]float64, len(xs))
		for j, b := range xs {
			cov[i][j] = p.k(a, b) - dot(v[i], v[j])
		}
		cov[i][i] += 1e-8
	}
	for i, row := range cholesky(t, cov) {
		mean[i] += dot(row, z)
	}
	return mean
}

func wave(x float64) float64 { return 1.2*math.Sin(1.7*x) + 0.3*x }

// posterior has a gap in its observations and shows what lies beyond them.
func posterior(t testing.TB) PosteriorData {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 7))
	x := []float64{-4.4, -4, -3.1, -2.7, -1.2, -0.9, -0.2, 0.1, 0.4, 2.6, 2.9, 3.6}
	y := apply(func(x float64) float64 { return wave(x) + 0.12*r.NormFloat64() }, x)
	p := learn(t, squared(1.44, 0.9), x, y, 0.0144)
	xs := grid(-5.5, 5.5, 161)
	d := PosteriorData{Problem: "waves · 1.44·RBF(0.6173)", Noise: p.noise, Evidence: p.evidence, X: x, Y: y, Xs: xs, True: apply(wave, xs)}
	d.Mean, d.SD = p.at(p.k, xs)
	d.ObservationSD = apply(func(sd float64) float64 { return math.Sqrt(sd*sd + p.noise) }, d.SD)
	for range 3 {
		d.Samples = append(d.Samples, p.sample(t, xs, r))
	}
	return d
}

// tested is posterior of a wider range, with test points, of which two lie outside.
func tested(t testing.TB) PosteriorData {
	t.Helper()
	d := posterior(t)
	p := learn(t, squared(1.44, 0.9), d.X, d.Y, 0.0144)
	r := rand.New(rand.NewPCG(4, 8))
	d.Xs, d.Samples, d.True = grid(-3, 8, 161), nil, nil
	d.Mean, d.SD = p.at(p.k, d.Xs)
	d.ObservationSD = apply(func(sd float64) float64 { return math.Sqrt(sd*sd + p.noise) }, d.SD)
	d.TestX = []float64{-5, -2.2, -1.6, 0.8, 1.5, 2.2, 3.3, 4.5, 5.2, 7, 9}
	d.TestY = apply(func(x float64) float64 { return wave(x) + 0.12*r.NormFloat64() }, d.TestX)
	return d
}

// early is a process whose solver stopped early: conjugate gradients, with the
// bound of the mean's error by Cauchy and Schwarz.
func early(t testing.TB) PosteriorData {
	t.Helper()
	r := rand.New(rand.NewPCG(5, 9))
	var x, y []float64
	for range 90 {
		v := 55 * r.Float64()
		x = append(x, 2+v)
		y = append(y, -60*math.Exp(-(v-20)*(v-20)/40)+30*math.Exp(-(v-32)*(v-32)/30)+12*r.NormFloat64())
	}
	p := learn(t, squared(2000, 5), x, y, 144)
	d := PosteriorData{Problem: "crash · 2000·RBF(0.02)", Note: "conjugate gradients stopped after 12 iterations", Noise: 144, Evidence: math.NaN(), Feature: "time [ms]", Target: "acceleration [g]",
		X: x, Y: y, Xs: grid(0, 66, 200)}
	_, v := conjugate(p.a, p.y, p.noise, 12)
	residual := make([]float64, len(y))
	for i := range y {
		residual[i] = y[i] - dot(p.a[i], v)
	}
	energy := math.Sqrt(dot(residual, whole(p.l, residual)))
	_, d.SD = p.at(p.k, d.Xs)
	for _, at := range d.Xs {
		row := apply(func(b float64) float64 { return p.k(at, b) }, x)
		d.Mean = append(d.Mean, dot(row, v))
		u := half(p.l, row)
		d.MeanError = append(d.MeanError, math.Sqrt(dot(u, u))*energy)
	}
	d.ObservationSD = apply(func(sd float64) float64 { return math.Sqrt(sd*sd + 144) }, d.SD)
	return d
}

// conjugate runs conjugate gradients on Av = b for A ⪰ θI and keeps the bounds
// of y'A⁻¹y: from below, above by ‖r‖²/θ, and above by Gauss and Radau.
func conjugate(a [][]float64, b []float64, theta float64, iterations int) (d BoundsData, v []float64) {
	v = make([]float64, len(b))
	g, h := append([]float64{}, b...), append([]float64{}, b...)
	gg, lower, c := dot(b, b), 0.0, 1/theta
	norm := gg
	for k := 0; ; k++ {
		d.Iterations = append(d.Iterations, k)
		d.Lower, d.Skilling, d.Radau = append(d.Lower, lower), append(d.Skilling, lower+gg/theta), append(d.Radau, lower+c*gg)
		d.Residual = append(d.Residual, math.Sqrt(gg/norm))
		if k == iterations {
			return d, v
		}
		ah := make([]float64, len(b))
		for i := range a {
			ah[i] = dot(a[i], h)
		}
		lambda := gg / dot(h, ah)
		lower += lambda * gg
		for i := range v {
			v[i] += lambda * h[i]
			g[i] -= lambda * ah[i]
		}
		next := dot(g, g)
		delta := next / gg
		c = (c - lambda) / (theta*(c-lambda) + delta)
		for i := range h {
			h[i] = g[i] + delta*h[i]
		}
		gg = next
	}
}

// tube is a machine of d features with an ε-insensitive loss on noisy values of
// sinc, solved for real; the quadratic loss has a ridge and no bound.
func tube(t testing.TB, n, features int, epsilon, cost float64, quadratic bool) TubeData {
	t.Helper()
	r := rand.New(rand.NewPCG(11, uint64(n)))
	sinc := func(x float64) float64 {
		if x == 0 {
			return 1
		}
		return math.Sin(x) / x
	}
	d := TubeData{Problem: fmt.Sprintf("sinc · RBF(0.5), C = %v", cost), Epsilon: epsilon}
	x := make([][]float64, n)
	for i := range x {
		y := 0.12 * r.NormFloat64()
		for range features {
			v := 16*r.Float64() - 8
			x[i], y = append(x[i], v), y+sinc(v)
		}
		d.X, d.Y = append(d.X, x[i][0]), append(d.Y, y)
	}
	// The 2n multipliers: α̂ of sign +1 first, then α of sign −1 (CST 7.2).
	p := &solvers.Problem{}
	rows := make(gram, 2*n)
	for i := range rows {
		for j := range rows {
			rows[i] = append(rows[i], rbf(0.5, x[i%n], x[j%n]))
		}
		sign := 1.0
		if i >= n {
			sign = -1
		}
		p.S, p.P, p.Lower, p.Upper = append(p.S, sign), append(p.P, epsilon-sign*d.Y[i%n]), append(p.Lower, 0), append(p.Upper, cost)
		if quadratic {
			p.Ridge, p.Upper[i] = append(p.Ridge, 1/cost), math.Inf(1)
		}
	}
	p.K = rows
	res, err := solvers.Solve(context.Background(), p, solvers.SMO{}, solvers.Settings{Stop: solvers.UpLow{Tol: 1e-6}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		d.Beta, d.Upper = append(d.Beta, res.Alpha[i]-res.Alpha[n+i]), append(d.Upper, p.Upper[i])
	}
	f := func(z []float64) float64 {
		v := res.Bias
		for i, b := range d.Beta {
			v += b * rbf(0.5, x[i], z)
		}
		return v
	}
	for i := range x {
		d.F = append(d.F, f(x[i]))
	}
	if features > 1 {
		d.X = nil
		return d
	}
	d.Xs = grid(-8.5, 8.5, 200)
	d.Fs = apply(func(x float64) float64 { return f([]float64{x}) }, d.Xs)
	d.True = apply(sinc, d.Xs)
	return d
}

// bounds is a run of conjugate gradients on a system of n points, and runs on
// systems with more and with less noise.
func bounds(t testing.TB, n int) BoundsData {
	t.Helper()
	r := rand.New(rand.NewPCG(17, uint64(n)))
	x, y := grid(0, 12, n), make([]float64, n)
	for i := range y {
		y[i] = wave(x[i]) + 0.1*r.NormFloat64()
	}
	var d BoundsData
	for _, noise := range []float64{0.01, 1, 1e-4} {
		p := learn(t, squared(1, 0.25), x, y, noise)
		run, _ := conjugate(p.a, y, noise, map[float64]int{0.01: 84, 1: 25, 1e-4: 140}[noise])
		if noise == 0.01 {
			d = run
			d.Problem, d.Name, d.Exact, d.Tol = fmt.Sprintf("K + 0.01 I, n = %d · CG", n), "σ² = 0.01", dot(y, p.w), 1e-3
			continue
		}
		d.Others = append(d.Others, ResidualSeries{Name: "σ² = " + number(noise), Iterations: run.Iterations, Residual: run.Residual})
	}
	return d
}

// evidence is over the length and the noise of a process, climbed by Newton's
// method in logarithms from four starts, some of which end elsewhere: there all
// is noise.
func evidence(t testing.TB) EvidenceData {
	t.Helper()
	r := rand.New(rand.NewPCG(19, 6))
	x := grid(0, 7, 16)
	y := apply(func(x float64) float64 { return 0.9*math.Sin(2.2*x) + 0.35*r.NormFloat64() }, x)
	at := func(u, v float64) float64 {
		return learn(t, squared(1, math.Exp(u)), x, y, math.Exp(v)).evidence
	}
	d := EvidenceData{Problem: "waves · RBF, n = 16", Note: "amplitude 1", Names: [2]string{"length ℓ", "noise σ²"}, Xs: [2]float64{0.1, 30}, Ys: [2]float64{0.01, 3}}
	for _, v := range grid(math.Log(d.Ys[0]), math.Log(d.Ys[1]), 50) {
		d.Z = append(d.Z, apply(func(u float64) float64 { return at(u, v) }, grid(math.Log(d.Xs[0]), math.Log(d.Xs[1]), 60)))
	}
	for _, start := range [][2]float64{{0.15, 2}, {14, 0.05}, {0.3, 0.015}, {1.5, 0.03}} {
		u, v, damping := math.Log(start[0]), math.Log(start[1]), 1.0
		var p EvidencePath
		for range 40 {
			const h = 1e-3
			value := at(u, v)
			p.X, p.Y, p.Value = append(p.X, math.Exp(u)), append(p.Y, math.Exp(v)), append(p.Value, value)
			left, right, below, above := at(u-h, v), at(u+h, v), at(u, v-h), at(u, v+h)
			gu, gv := (right-left)/(2*h), (above-below)/(2*h)
			huu, hvv := (right+left-2*value)/(h*h), (above+below-2*value)/(h*h)
			huv := (at(u+h, v+h) - at(u+h, v-h) - at(u-h, v+h) + at(u-h, v-h)) / (4 * h * h)
			if math.Hypot(gu, gv) < 1e-3 {
				break
			}
			for ; damping < 1e9; damping *= 4 {
				a, b := huu-damping, hvv-damping
				det := a*b - huv*huv
				du, dv := -(b*gu-huv*gv)/det, -(a*gv-huv*gu)/det
				if a < 0 && det > 0 && math.Hypot(du, dv) < 0.8 && at(u+du, v+dv) > value {
					u, v, damping = u+du, v+dv, damping/8
					break
				}
			}
		}
		d.Paths = append(d.Paths, p)
	}
	return d
}

// components is a rising, breathing series of months and its parts, and two
// years of forecast.
func components(t testing.TB) ComponentsData {
	t.Helper()
	r := rand.New(rand.NewPCG(23, 8))
	var x, y []float64
	for m := range 216 {
		v := 1960 + float64(m)/12
		if v > 1966 && v < 1967.5 {
			continue // nobody measured
		}
		x, y = append(x, v), append(y, 0.9*(v-1960)+0.02*(v-1960)*(v-1960)-6+(2.4+0.05*(v-1960))*math.Sin(2*math.Pi*v)+0.8*math.Sin(1.3*v)+0.3*r.NormFloat64())
	}
	trend, season, medium := squared(400, 20), periodic(6, 1.3, 1, 60), squared(0.6, 1)
	p := learn(t, sum(trend, season, medium), x, y, 0.09)
	d := ComponentsData{Problem: "CO₂ made up · three kernels", Feature: "year", Target: "CO₂ − 320 [ppm]", X: x, Y: y, Xs: grid(1959.8, 1980, 500)}
	d.Mean, d.SD = p.at(p.k, d.Xs)
	for _, part := range []struct {
		name string
		k    kernel
	}{{"trend", trend}, {"season", season}, {"medium term", medium}} {
		c := Component{Name: part.name}
		c.Mean, c.SD = p.at(part.k, d.Xs)
		d.Parts = append(d.Parts, c)
	}
	return d
}

// processes are the figures of regression and Gaussian processes, as examples.
func processes(t *testing.T) []*Chart {
	t.Helper()
	ok := must[*Chart](t)
	return []*Chart{
		ok(Tube(tube(t, 60, 1, 0.15, 3, false))), ok(Tube(tube(t, 150, 2, 0.2, 3, false))),
		ok(Posterior(posterior(t))), ok(Posterior(early(t))),
		ok(Bounds(bounds(t, 300))), ok(Evidence(evidence(t))), ok(Components(components(t))), ok(Posterior(tested(t))),
		ok(Acquisition(AcquisitionData{Problem: "maximise", Best: 1, Next: 1.5, X: []float64{0, 1}, Y: []float64{0.2, 1}, Xs: []float64{0, 1, 2}, Mean: []float64{0, 1, 0.5}, SD: []float64{0, 0.1, 1}, Improvement: []float64{0, 0.1, 0.3}})),
	}
}

// TestProcessPictures draws regression and Gaussian processes in a browser.
func TestProcessPictures(t *testing.T) {
	figures := processes(t)
	// The series of a name, in order, by chart.
	at := func(chart int, name string) int {
		for k, s := range figures[chart].Extra["series"].(list) {
			if s := s.(object); s["name"] == name || s["id"] == name {
				return k
			}
		}
		t.Fatalf("chart %d has no series %q", chart, name)
		return 0
	}
	pictures(t, "process", figures, []tip{
		{0, at(0, "strips"), 100, "f(x)"}, {0, at(0, "strips"), 100, "true function"}, {0, at(0, "at the bound: outside"), 1, "slack ξ"}, {0, at(0, "at the bound: outside"), 1, "β\t"},
		{0, at(0, "inside the tube"), 3, "inside the tube"}, {1, at(1, "free: on the edge"), 2, "residual"},
		{2, at(2, "strips"), 10, "new observation"}, {2, at(2, "data"), 3, "observation 3"}, {3, at(3, "strips"), 0, "solver's error ≤"},
		{4, at(4, "Gauss–Radau"), 9, "Skilling: gap"}, {4, at(4, "Gauss–Radau"), 9, "true error"}, {4, at(4, "residual: σ² = 0.01"), 12, "residual: σ² = 1"},
		{5, at(5, "cells"), 40, "below the maximum"}, {5, at(5, "best end"), 0, "path 3, step "}, {5, at(5, "start"), 1, "path 2, step 0"},
		{6, at(6, "mean"), 77, "season"}, {6, at(6, "observations"), 77, "observation 77"},
		{7, at(7, "data"), 0, "observation 3"}, {7, at(7, "test"), 2, "test point 3"},
	})
}

// TestProcessFigures is the table of these figures, ordinary and degenerate.
func TestProcessFigures(t *testing.T) {
	nan := math.NaN()
	post := posterior(t)
	run := bounds(t, 100)
	surface := evidence(t)
	parts := components(t)
	flat := func(v float64, m int) []float64 { return apply(func(float64) float64 { return v }, make([]float64, m)) }
	long := tube(t, 400, 1, 0.2, 3, false)
	for i := range long.X { // seconds since 1970
		long.X[i] = 1.6e9 + 1e6*long.X[i]
	}
	for i := range long.Xs {
		long.Xs[i] = 1.6e9 + 1e6*long.Xs[i]
	}
	drawAll(t, []drawing{
		{"tube", func() (*Chart, error) { return Tube(tube(t, 60, 1, 0.15, 3, false)) }, 20_000, "41 of 60 points are inside the tube of ± 0.15; the other 19 carry f · sinc · RBF(0.5), C = 3 · 12 free, 7 at the bound · RMSE 0.115"},
		{"tube, quadratic loss", func() (*Chart, error) { return Tube(tube(t, 5, 1, 0.05, 30, true)) }, 20_000, "1 of 5 points are inside the tube of ± 0.05; the other 4 carry f · sinc · RBF(0.5), C = 30 · RMSE 0.0609"},
		{"tube of a quantile", func() (*Chart, error) {
			return Tube(TubeData{X: []float64{0, 1, 2}, Y: []float64{0, 1, 3}, F: []float64{1, 1, 1}, Beta: []float64{-0.1, 0, 0.9}, Upper: []float64{0.1, 0.9, 0.9}, Xs: []float64{0, 2}, Fs: []float64{1, 1}, Tau: 0.9})
		}, 10_000, "90 % quantile: 1 of 3 points lie below f, 1 on it and 1 above"},
		{"tube of Huber's loss", func() (*Chart, error) {
			return Tube(TubeData{X: []float64{0, 1, 2}, Y: []float64{0, 1, 3}, F: []float64{1, 1, 1}, Beta: []float64{-1, 0, 1}, Upper: []float64{1, 1, 1}, Xs: []float64{0, 2}, Fs: []float64{1, 1}, Huber: true, Epsilon: 0.5})
		}, 10_000, "2 of 3 points are farther than 0.5 from f, where the loss is linear"},
		{"tube, two features", func() (*Chart, error) { return Tube(tube(t, 150, 2, 0.2, 3, false)) }, 15_000, "of 150 points are inside the tube"},
		{"tube, far from zero", func() (*Chart, error) { return Tube(long) }, 50_000, "of 400 points are inside the tube"},
		{"tube, many points", func() (*Chart, error) {
			x := grid(0, 9, 5000)
			return Tube(TubeData{X: x, Y: x, F: x, Beta: flat(0, 5000), Upper: flat(1, 5000), Xs: x, Fs: x})
		}, 95_000, "No support vectors: f is constant on 5\u202f000 points · RMSE 0 · 1\u202f200 of the points drawn"},
		{"tube, one point", func() (*Chart, error) {
			return Tube(TubeData{X: []float64{3}, Y: []float64{-7}, F: []float64{-7}, Beta: []float64{1}, Upper: []float64{1}, Xs: []float64{2, 4}, Fs: []float64{-7, -7}})
		}, 10_000, "0 of 1 point are inside the tube of ± 0; the other 1 carry f · 0 free, 1 at the bound"},
		{"tube, one point of many features", func() (*Chart, error) {
			return Tube(TubeData{Y: []float64{0}, F: []float64{0}, Beta: []float64{0}, Upper: []float64{1}, Epsilon: 0.1})
		}, 10_000, "f is constant on 1 point"},
		{"posterior", func() (*Chart, error) { return Posterior(post) }, 25_000, "12 observations, noise σ² = 0.0144, log marginal likelihood −12.11"},
		{"posterior, stopped early", func() (*Chart, error) { return Posterior(early(t)) }, 25_000, "stopped after 12 iterations · the mean is within "},
		{"posterior, tested", func() (*Chart, error) { return Posterior(tested(t)) }, 25_000, "12 observations, 11 test points, noise σ² = 0.0144, log marginal likelihood −12.11"},
		{"posterior, tested outside", func() (*Chart, error) { return Posterior(tested(t)) }, 25_000, "5 points outside the range"},
		{"posterior, everything outside", func() (*Chart, error) {
			return Posterior(PosteriorData{Noise: nan, Evidence: nan, X: []float64{7}, Y: []float64{1}, TestX: []float64{-7}, TestY: []float64{1}, Xs: []float64{0, 1}, Mean: []float64{0, 0}, SD: []float64{1, 1}})
		}, 10_000, "2 points outside the range"},
		{"posterior, nothing observed", func() (*Chart, error) {
			return Posterior(PosteriorData{Noise: nan, Evidence: nan, Xs: []float64{0, 1}, Mean: []float64{0, 0}, SD: []float64{1, 1}})
		}, 10_000, "0 observations: the prior of f has a band of ± 2"},
		{"posterior, no doubt", func() (*Chart, error) {
			return Posterior(PosteriorData{Noise: 0, Evidence: nan, X: []float64{0.5}, Y: []float64{0}, Xs: []float64{0, 1}, Mean: []float64{0, 0}, SD: []float64{0, 0}})
		}, 10_000, "1 observation, noise σ² = 0"},
		{"bounds", func() (*Chart, error) { return Bounds(run) }, 25_000, "The gap falls to 3.9e-10; the tolerance 0.001 is met by Gauss–Radau at iteration 48, Skilling at iteration 52"},
		{"bounds, not yet closed", func() (*Chart, error) { d := run; d.Tol = 1e-12; return Bounds(d) }, 25_000, "; the tolerance is 1e-12"},
		{"bounds, no tolerance", func() (*Chart, error) { d := run; d.Tol = 0; return Bounds(d) }, 25_000, "The gap is "},
		{"bounds, lower only", func() (*Chart, error) {
			return Bounds(BoundsData{Iterations: []int{0, 5}, Lower: []float64{nan, 3}, Exact: nan})
		}, 10_000, "No upper bound: y'A⁻¹y ≥ 3 after 5 iterations"},
		{"bounds, one iteration that closes", func() (*Chart, error) {
			return Bounds(BoundsData{Iterations: []int{1}, Lower: []float64{3}, Radau: []float64{3}, Residual: []float64{0}, Exact: 3, Tol: 1e-9})
		}, 10_000, "The bounds meet up to rounding; the tolerance 1e-9 is met by Gauss–Radau at iteration 1"},
		{"bounds, known now and then", func() (*Chart, error) {
			return Bounds(BoundsData{Iterations: []int{0, 1, 2}, Lower: []float64{0, 1, 2}, Radau: []float64{5, 4, 3}, GibbsMacKay: []float64{nan, 1.5, nan}, Exact: nan, Tol: 0.5})
		}, 10_000, "The gap falls to 0.5; the tolerance 0.5 is met by Gibbs–MacKay at iteration 1"},
		{"bounds, unknown at the end", func() (*Chart, error) {
			return Bounds(BoundsData{Iterations: []int{0, 1, 2}, Lower: []float64{0, 1, 2}, Skilling: []float64{nan, 4, nan}, Exact: nan, Tol: 1})
		}, 10_000, "The gap is still 3 after 1 iteration; the tolerance is 1"},
		{"evidence", func() (*Chart, error) { return Evidence(surface) }, 45_000, "rises from −16.11 to −11.7 nats at length ℓ = 0.7964 and noise σ² = 0.05409; 3 of 4 starts end there"},
		{"evidence, no path", func() (*Chart, error) { d := surface; d.Paths = nil; return Evidence(d) }, 45_000, "Log marginal likelihood at most −11.7"},
		{"evidence, flat, less than a decade", func() (*Chart, error) {
			return Evidence(EvidenceData{Xs: [2]float64{1.1, 1.3}, Ys: [2]float64{2, 3}, Z: [][]float64{{1, 1}, {1, 1}}, Paths: []EvidencePath{{X: []float64{1.2}, Y: []float64{9}, Value: []float64{1}}}})
		}, 10_000, "1 end lies outside the picture"},
		{"components", func() (*Chart, error) { return Components(parts) }, 85_000, "Trend moves CO₂ − 320 by 26 ppm, season by 6.7 ppm, medium term by 2 ppm"},
		{"acquisition", func() (*Chart, error) {
			return Acquisition(AcquisitionData{Problem: "maximise", Best: 1, Next: 1.5, X: []float64{0, 1}, Y: []float64{0.2, 1}, Xs: []float64{0, 1, 2}, Mean: []float64{0, 1, 0.5}, SD: []float64{0, 0.1, 1}, Improvement: []float64{0, 0.1, 0.3}})
		}, 12_000, "The next evaluation is at x = 1.5, where an improvement of 0.3 is expected"},
		{"acquisition, nothing known, logarithmic", func() (*Chart, error) {
			return Acquisition(AcquisitionData{Log: true, Minimum: true, Best: nan, Next: nan, Xs: []float64{1, 100}, Mean: []float64{0, 0}, SD: []float64{0, 0}, Improvement: []float64{0, 0}})
		}, 12_000, "No place is known to try next"},
		{"components, long names", func() (*Chart, error) {
			d := parts
			d.Parts = append([]Component{}, d.Parts...)
			d.Parts[1].Name = "Product(RBF(0.0002), Periodic(1.3, 1))"
			return Components(d)
		}, 85_000, ", Product(RBF(0.0002), Pe… by 6.7 ppm, medium term by 2 ppm"},
		{"components, eight, no bands, no data", func() (*Chart, error) {
			d := ComponentsData{Xs: []float64{0, 1}, Mean: []float64{0, 8}, SD: []float64{0, 0}}
			for k := range 8 {
				d.Parts = append(d.Parts, Component{Name: fmt.Sprintf("part %d", k+1), Mean: []float64{0, float64(k)}})
			}
			return Components(d)
		}, 25_000, "Part 8 moves y by 7, part 7 by 6, part 6 by 5, part 5 by 4, …"},
	})
}

func TestWrongProcessInput(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	tubed := func(change func(*TubeData)) error {
		d := TubeData{X: []float64{0, 1}, Y: []float64{0, 1}, F: []float64{0, 1}, Beta: []float64{0, 1}, Upper: []float64{1, inf}, Xs: []float64{0, 1}, Fs: []float64{0, 1}}
		change(&d)
		_, err := Tube(d)
		return err
	}
	posterior := func(change func(*PosteriorData)) error {
		d := PosteriorData{X: []float64{0, 1}, Y: []float64{0, 1}, Noise: nan, Evidence: nan, Xs: []float64{0, 1}, Mean: []float64{0, 1}, SD: []float64{0, 1}}
		change(&d)
		_, err := Posterior(d)
		return err
	}
	bounds := func(change func(*BoundsData)) error {
		d := BoundsData{Iterations: []int{0, 1}, Lower: []float64{0, 1}, Radau: []float64{nan, 2}, Residual: []float64{1, 0}, Exact: nan,
			Others: []ResidualSeries{{Name: "a", Iterations: []int{0}, Residual: []float64{1}}, {Name: "b"}}}
		change(&d)
		_, err := Bounds(d)
		return err
	}
	evidence := func(change func(*EvidenceData)) error {
		d := EvidenceData{Xs: [2]float64{1, 2}, Ys: [2]float64{1, 2}, Z: [][]float64{{1, 2}, {3, 4}}, Paths: []EvidencePath{{X: []float64{1}, Y: []float64{1}, Value: []float64{1}}}}
		change(&d)
		_, err := Evidence(d)
		return err
	}
	components := func(change func(*ComponentsData)) error {
		d := ComponentsData{X: []float64{0}, Y: []float64{0}, Xs: []float64{0, 1}, Mean: []float64{0, 1}, SD: []float64{0, 1}, Parts: []Component{{Name: "a", Mean: []float64{0, 1}}}}
		change(&d)
		_, err := Components(d)
		return err
	}
	acquisition := func(change func(*AcquisitionData)) error {
		d := AcquisitionData{X: []float64{1}, Y: []float64{0}, Xs: []float64{1, 2}, Mean: []float64{0, 1}, SD: []float64{0, 1}, Improvement: []float64{0, 1}, Best: nan, Next: nan}
		change(&d)
		_, err := Acquisition(d)
		return err
	}
	if err := acquisition(func(*AcquisitionData) {}); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{"tube": tubed(func(*TubeData) {}), "posterior": posterior(func(*PosteriorData) {}), "bounds": bounds(func(*BoundsData) {}),
		"evidence": evidence(func(*EvidenceData) {}), "components": components(func(*ComponentsData) {})} {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	for _, test := range []struct {
		err   error
		field string
	}{
		{acquisition(func(d *AcquisitionData) { d.Y[0] = inf }), "Y[0]"},
		{acquisition(func(d *AcquisitionData) { d.SD[1] = -1 }), "SD[1]"},
		{acquisition(func(d *AcquisitionData) { d.Improvement[0] = nan }), "Improvement[0]"},
		{acquisition(func(d *AcquisitionData) { d.Log, d.Xs[0] = true, 0 }), "Xs"},
		{tubed(func(d *TubeData) { d.Y = nil }), "Y"},
		{tubed(func(d *TubeData) { d.X[1] = nan }), "X[1]"},
		{tubed(func(d *TubeData) { d.F[0] = inf }), "F[0]"},
		{tubed(func(d *TubeData) { d.Beta = d.Beta[:1] }), "Beta"},
		{tubed(func(d *TubeData) { d.Upper[0] = -1 }), "Upper[0]"},
		{tubed(func(d *TubeData) { d.Epsilon = -1 }), "Epsilon"},
		{tubed(func(d *TubeData) { d.Xs = d.Xs[:1] }), "Xs"},
		{tubed(func(d *TubeData) { d.Xs[1] = 0 }), "Xs[1]"},
		{tubed(func(d *TubeData) { d.Fs[1] = nan }), "Fs[1]"},
		{tubed(func(d *TubeData) { d.True = []float64{1} }), "True"},
		{tubed(func(d *TubeData) { d.Y[0], d.Y[1] = -1.5e308, 1.5e308 }), "Y[0]"},
		{posterior(func(d *PosteriorData) { d.X = nil }), "X"},
		{posterior(func(d *PosteriorData) { d.Y[1] = nan }), "Y[1]"},
		{posterior(func(d *PosteriorData) { d.TestX = []float64{1} }), "TestX"},
		{posterior(func(d *PosteriorData) { d.TestX, d.TestY = []float64{1, 2}, []float64{1, inf} }), "TestY[1]"},
		{posterior(func(d *PosteriorData) { d.Mean[1] = inf }), "Mean[1]"},
		{posterior(func(d *PosteriorData) { d.SD[0] = -1 }), "SD[0]"},
		{posterior(func(d *PosteriorData) { d.SD[0] = 1e308 }), "SD[0]"},
		{posterior(func(d *PosteriorData) { d.ObservationSD = []float64{1} }), "ObservationSD"},
		{posterior(func(d *PosteriorData) { d.MeanError = []float64{1, nan} }), "MeanError[1]"},
		{posterior(func(d *PosteriorData) { d.Samples = [][]float64{{1, 2}, {1, nan}} }), "Samples[1][1]"},
		{posterior(func(d *PosteriorData) { d.Xs = nil }), "Xs"},
		{bounds(func(d *BoundsData) { d.Iterations = nil }), "Iterations"},
		{bounds(func(d *BoundsData) { d.Iterations[0] = 1 }), "Iterations[1]"},
		{bounds(func(d *BoundsData) { d.Lower = []float64{nan, nan} }), "Lower"},
		{bounds(func(d *BoundsData) { d.Lower[1] = inf }), "Lower[1]"},
		{bounds(func(d *BoundsData) { d.Radau[1] = inf }), "Radau[1]"},
		{bounds(func(d *BoundsData) { d.Skilling = []float64{1} }), "Skilling"},
		{bounds(func(d *BoundsData) { d.Residual[1] = -1 }), "Residual[1]"},
		{bounds(func(d *BoundsData) { d.Residual = nil }), "Residual"},
		{bounds(func(d *BoundsData) { d.Tol = nan }), "Tol"},
		{bounds(func(d *BoundsData) { d.Exact = inf }), "Exact"},
		{bounds(func(d *BoundsData) { d.Others[1].Name = "a" }), "Others[1].Name"},
		{bounds(func(d *BoundsData) { d.Others[0].Residual[0] = inf }), "Others[0].Residual[0]"},
		{bounds(func(d *BoundsData) { d.Others[0].Iterations[0] = -1 }), "Others[0].Iterations[0]"},
		{bounds(func(d *BoundsData) { d.Others = make([]ResidualSeries, 8) }), "Others"},
		{evidence(func(d *EvidenceData) { d.Xs[0] = 0 }), "Xs"},
		{evidence(func(d *EvidenceData) { d.Ys[1] = nan }), "Ys"},
		{evidence(func(d *EvidenceData) { d.Z[1] = d.Z[1][:1] }), "Z[1]"},
		{evidence(func(d *EvidenceData) { d.Z[0][1] = math.Inf(-1) }), "Z[0][1]"},
		{evidence(func(d *EvidenceData) { d.Paths[0].X[0] = -1 }), "Paths[0].X[0]"},
		{evidence(func(d *EvidenceData) { d.Paths[0].Value = nil }), "Paths[0].Value"},
		{evidence(func(d *EvidenceData) { d.Paths[0].X = nil }), "Paths[0].X"},
		{components(func(d *ComponentsData) { d.Parts = nil }), "Parts"},
		{components(func(d *ComponentsData) { d.Parts[0].Name = "" }), "Parts[0].Name"},
		{components(func(d *ComponentsData) { d.Parts[0].Mean[1] = nan }), "Parts[0].Mean[1]"},
		{components(func(d *ComponentsData) { d.Parts[0].SD = []float64{1, -1} }), "Parts[0].SD[1]"},
		{components(func(d *ComponentsData) { d.Mean[0] = inf }), "Mean[0]"},
		{components(func(d *ComponentsData) { d.SD = nil }), "SD"},
		{components(func(d *ComponentsData) { d.X = nil }), "X"},
	} {
		var e *InputError
		if !errors.As(test.err, &e) || e.Field != test.field {
			t.Errorf("error %v, want an *InputError about %s", test.err, test.field)
		}
	}
}

// shown returns a column of a chart's numbers.
func shown(t *testing.T, c *Chart, name string) []float64 {
	t.Helper()
	var out []float64
	for _, v := range c.Extra["svm"].(object)[name].(list) {
		f, ok := v.(float64)
		if !ok {
			f = math.NaN()
		}
		out = append(out, f)
	}
	return out
}

// What is drawn are the numbers that were given: the tube is f ± ε, slacks lead
// from its edge to the points, and every point is in the series of its kind.
func TestTubeShowsTheNumbers(t *testing.T) {
	d := tube(t, 60, 1, 0.15, 3, false)
	c := must[*Chart](t)(Tube(d))
	f, lower, upper := shown(t, c, "f"), shown(t, c, "lower"), shown(t, c, "upper")
	for i, v := range d.Fs {
		if math.Abs(f[i]-v) > 1e-4 || math.Abs(lower[i]-v+0.15) > 1e-4 || math.Abs(upper[i]-v-0.15) > 1e-4 {
			t.Fatalf("place %d: f = %v is drawn as %v between %v and %v", i, v, f[i], lower[i], upper[i])
		}
	}
	stems, points := 0, 0
	for _, s := range c.Extra["series"].(list) {
		s := s.(object)
		data, _ := s["data"].(list)
		if s["name"] == "slack ξ" {
			for k := 0; k < len(data); k += 3 {
				from, to := data[k].(list), data[k+1].(list)
				i := slices.IndexFunc(d.X, func(x float64) bool { return math.Abs(x-from[0].(float64)) < 1e-4 })
				r := math.Abs(d.Y[i] - d.F[i])
				if length := math.Abs(to[1].(float64) - from[1].(float64)); math.Abs(to[1].(float64)-d.Y[i]) > 1e-4 || math.Abs(length-(r-0.15)) > 1e-3 {
					t.Errorf("the slack of point %d, %v, is drawn from %v to %v", i, r-0.15, from, to)
				}
				if math.Abs(d.Beta[i]) < 3*(1-1e-6) {
					t.Errorf("point %d has a slack and |β| = %v below C", i, d.Beta[i])
				}
				stems++
			}
		}
		if s["type"] != "scatter" {
			continue
		}
		for _, v := range data {
			i, b := v.(list)[2].(int), math.Abs(d.Beta[v.(list)[2].(int)])
			want := "free: on the edge"
			switch {
			case b < 1e-6:
				want = "inside the tube"
			case b > 3-1e-6:
				want = "at the bound: outside"
			}
			if s["name"] != want {
				t.Errorf("point %d with |β| = %v is drawn as %v", i, b, s["name"])
			}
			points++
		}
	}
	if stems != 7 || points != 60 {
		t.Errorf("%d slacks and %d points are drawn, want 7 and 60", stems, points)
	}
}

func TestPosteriorShowsTheNumbers(t *testing.T) {
	d := early(t)
	c := must[*Chart](t)(Posterior(d))
	for name, want := range map[string]func(i int) float64{
		"mean": func(i int) float64 { return d.Mean[i] }, "sd": func(i int) float64 { return d.SD[i] },
		"lower": func(i int) float64 { return d.Mean[i] - 2*d.SD[i] }, "upper": func(i int) float64 { return d.Mean[i] + 2*d.SD[i] },
		"newlower": func(i int) float64 { return d.Mean[i] - 2*d.ObservationSD[i] }, "newupper": func(i int) float64 { return d.Mean[i] + 2*d.ObservationSD[i] },
		"meanlower": func(i int) float64 { return d.Mean[i] - d.MeanError[i] }, "meanupper": func(i int) float64 { return d.Mean[i] + d.MeanError[i] },
	} {
		for i, v := range shown(t, c, name) {
			if math.Abs(v-want(i)) > 0.01 {
				t.Fatalf("%s at place %d is %v, want %v", name, i, v, want(i))
			}
		}
	}
	// The exact mean lies in the band that the solver's error bounds.
	exact, _ := learn(t, squared(2000, 5), d.X, d.Y, 144).at(squared(2000, 5), d.Xs)
	for i, v := range exact {
		if math.Abs(v-d.Mean[i]) > d.MeanError[i] {
			t.Errorf("place %d: the mean %v is farther than %v from the exact one, %v", i, d.Mean[i], d.MeanError[i], v)
		}
	}
}

// The title of a posterior counts what its band contains, and says where samples differ most.
func TestPosteriorFindings(t *testing.T) {
	d := PosteriorData{Target: "force (N)", Feature: "time (s)", Noise: math.NaN(), Evidence: math.NaN(), X: []float64{0.5, 1.5, 3}, Y: []float64{1.4, 1.4, 0}, Xs: []float64{0, 1, 2},
		Mean: []float64{0, 0, 4}, SD: []float64{0.5, 0.5, 1}, ObservationSD: []float64{0.5, 1, 1}}
	say := func(want string) {
		t.Helper()
		if got := must[*Chart](t)(Posterior(d)).Title.Title; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	say("2 of 2 observations lie within ± 2 sd of the mean") // ± 1.5 around 0, ± 2 around 2
	d.TestX, d.TestY = []float64{0.5, 0.5, 9}, []float64{1.6, -1.4, 0}
	say("1 of 2 test points lie within ± 2 sd of their prediction")
	d.ObservationSD = nil
	say("The mean of force is known to ± 1 N in one place and to ± 2 N in another (2 sd)")
	d.Samples = [][]float64{{0, 1, 2}, {0, -2, 3}}
	say("2 samples of f lie up to 3 N apart, most at time = 1 s")
}

func TestUnits(t *testing.T) {
	for column, want := range map[string]string{"CO2 (ppm)": "CO2| ppm", "CO₂ [ppm]": "CO₂| ppm", "y": "y|", "a (b) c": "a (b) c|", "(a)": "(a)|"} {
		if name, unit := units(column); name+"|"+unit != want {
			t.Errorf("%q has the parts %q, want %q", column, name+"|"+unit, want)
		}
	}
}

func TestBoundsShowTheNumbers(t *testing.T) {
	d := bounds(t, 100)
	d.Skilling[5] = math.NaN()
	c := must[*Chart](t)(Bounds(d))
	radau, skilling := shown(t, c, "radaugap"), shown(t, c, "skillinggap")
	for k := range d.Iterations {
		if d.Lower[k] > d.Exact*(1+1e-9) || d.Radau[k] < d.Exact*(1-1e-9) {
			t.Fatalf("iteration %d: %v ≤ %v ≤ %v is wrong", k, d.Lower[k], d.Exact, d.Radau[k])
		}
		if gap := d.Radau[k] - d.Lower[k]; math.Abs(radau[k]-gap) > 1e-3*gap {
			t.Errorf("iteration %d: gap %v, want %v", k, radau[k], gap)
		}
		if gap := d.Skilling[k] - d.Lower[k]; math.IsNaN(gap) != math.IsNaN(skilling[k]) {
			t.Errorf("iteration %d: Skilling's gap is %v, want %v", k, skilling[k], gap)
		}
	}
	grids := func(d BoundsData) int { return len(must[*Chart](t)(Bounds(d)).Extra["grid"].(list)) }
	if d.Others = nil; grids(d) != 3 {
		t.Errorf("%d panels with residuals, want 3", grids(d))
	}
	if d.Residual = nil; grids(d) != 2 {
		t.Errorf("%d panels without residuals, want 2", grids(d))
	}
}

// The exact value and its bounds have equally many decimals, enough to tell the bounds apart.
func TestNumbersOfBoundsAreAlike(t *testing.T) {
	for _, c := range []struct {
		lower, upper float64
		want         string
	}{
		{138.527168, 138.52728, "138.52717 ≤ y'A⁻¹y ≤ 138.52728"}, {-2, 1000, "−2 ≤ y'A⁻¹y ≤ 1000"},
		{2, 2, "2.000 ≤ y'A⁻¹y ≤ 2.000"}, {0, 0, "0 ≤ y'A⁻¹y ≤ 0"},
	} {
		if got := sandwich(c.lower, c.upper); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// No curve leaves the picture below: neither the gaps nor the true error of a bound.
func TestBoundsStayInThePicture(t *testing.T) {
	d := bounds(t, 100)
	d.Tol = 0.1
	c := must[*Chart](t)(Bounds(d))
	low := c.Extra["yAxis"].(list)[1].(object)["min"].(float64)
	seen := 0
	for _, key := range []string{"error", "radaugap", "skillinggap"} {
		for _, v := range c.Extra["svm"].(object)[key].(list) {
			if v, ok := v.(float64); ok {
				if seen++; v < low*(1-1e-9) {
					t.Errorf("%s is %g, below %g, where the axis begins", key, v, low)
				}
			}
		}
	}
	if seen < 50 {
		t.Errorf("%d values were looked at", seen)
	}
}

// Each labelled line runs where the evidence is as far below the best as its
// label says.
func TestEvidenceLinesAreLevels(t *testing.T) {
	d := evidence(t)
	svm := must[*Chart](t)(Evidence(d)).Extra["svm"].(object)
	best := svm["best"].(float64)
	ny, nx := len(d.Z), len(d.Z[0])
	lines := svm["lines"].(list)
	if len(lines) < 5 {
		t.Fatalf("%d levels", len(lines))
	}
	for _, l := range lines {
		drop, err := strconv.ParseFloat(strings.TrimPrefix(l.(object)["text"].(string), "−"), 64)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range l.(object)["paths"].([][]int) {
			x, y := 0, 0
			for k := 0; k < len(path); k += 2 {
				x, y = x+path[k], y+path[k+1]
				u, v := float64(x)/contour.Fineness*float64(nx-1), float64(y)/contour.Fineness*float64(ny-1)
				j, i := min(int(u), nx-2), min(int(v), ny-2)
				low, high := extent(d.Z[i][j:j+2], d.Z[i+1][j:j+2])
				if slack := 0.02 * (high - low); best-drop < low-slack || best-drop > high+slack {
					t.Fatalf("level %v runs through a cell with values from %v to %v", best-drop, low, high)
				}
			}
		}
	}
}

func TestComponentsAddUp(t *testing.T) {
	d := components(t)
	c := must[*Chart](t)(Components(d))
	sum := shown(t, c, "mean0")
	for i := range sum {
		total := 0.0
		for k := range d.Parts {
			total += shown(t, c, fmt.Sprintf("mean%d", k+1))[i]
		}
		if math.Abs(total-sum[i]) > 0.01 {
			t.Fatalf("place %d: the parts' means add up to %v, the sum is %v", i, total, sum[i])
		}
	}
	if unit := c.Extra["svm"].(object)["unit"]; unit != 2.0 {
		t.Errorf("bars of %v, want 2", unit)
	}
}

// A value without neighbours has no line and needs a symbol.
func TestLoneValues(t *testing.T) {
	nan := math.NaN()
	for _, test := range []struct {
		values []float64
		want   bool
	}{{nil, false}, {[]float64{1}, true}, {[]float64{nan}, false}, {[]float64{1, 2, nan}, false}, {[]float64{nan, 2, nan, 3, 4}, true}, {[]float64{1, 2, nan, 4}, true}} {
		if got := lone(test.values); got != test.want {
			t.Errorf("lone(%v) = %v", test.values, got)
		}
	}
}

func TestScales(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Float64Range(-1e12, 1e12).Draw(t, "low")
		span := math.Pow(10, rapid.Float64Range(-2, 12).Draw(t, "log span"))
		v := low + span*rapid.Float64Range(0, 1).Draw(t, "share")
		if r := rounding(low, low+span)(v); math.Abs(r-v) > 1e-5*span+1e-15*math.Abs(v) {
			t.Errorf("%v on an axis from %v to %v is drawn at %v", v, low, low+span, r)
		}
		if n := nice(span); n > span*(1+1e-12) || n < 0.39*span {
			t.Errorf("nice(%v) = %v", span, n)
		}
		drops := ladder(span)
		if len(drops) < 3 || len(drops) > 10 || !slices.IsSorted(drops) || drops[len(drops)-1] >= span {
			t.Errorf("levels %v for a range of %v", drops, span)
		}
	})
	if ladder(0) != nil || ladder(math.NaN()) != nil {
		t.Error("levels where there is no range")
	}
}
