package figure

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/svmnb/svmnb/solvers"
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
// of b'A⁻¹b: from below, above by ‖r‖²/θ, and above by Gauss and Radau.
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
