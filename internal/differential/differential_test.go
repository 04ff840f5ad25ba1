package main

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
)

// TestProblems solves 1,000 random problems, or 200 with -short, and fails where methods,
// audit and independent solvers disagree.
func TestProblems(t *testing.T) {
	const seed = 15
	n := 1000
	if testing.Short() {
		n = 200
	}
	peers := newPeers(t.Logf)
	defer peers.close()
	counts := &tally{Classes: map[string]int{}}
	for number := range uint64(n) {
		p := draw(seed, number, 130)
		methods := pick(seed, number, &p)
		precise := number%20 == 0
		f := try(&p, methods, precise, peers, counts)
		if f == nil {
			continue
		}
		counts.Classes[f.c.kind]++
		if counts.Classes[f.c.kind] <= 2 {
			f = shrink(f, methods, precise, peers, 5*time.Second)
		}
		t.Errorf("problem %d of seed %d, %v:\n%s", number, seed, f.p.Form, f.p.program(f.m, f.c.String()))
	}
	report(counts, seed, 0, t.Logf)
	if counts.Converged < counts.Fits/3 || counts.Exact == 0 {
		t.Errorf("too little was compared: %+v", counts)
	}
}

// TestDrawIsRepeatable: a number stands for one problem.
func TestDrawIsRepeatable(t *testing.T) {
	for number := range uint64(50) {
		a, b := draw(3, number, 200), draw(3, number, 200)
		if a.program(standard, "") != b.program(standard, "") {
			t.Fatalf("problem %d is drawn in two ways", number)
		}
	}
}

// TestExact holds the programme in 300 bits to one worked out by hand, and to the ends of
// boxes.
func TestExact(t *testing.T) {
	one := []float64{1, 1}
	q := [][]float64{{1, 1}, {1, 1}} // x = ±1 with labels ±1
	inf := math.Inf(1)
	for _, c := range []struct {
		name  string
		upper []float64
		ridge float64
		want  float64
	}{
		{"hard", []float64{inf, inf}, 0, 0.5},
		{"2-norm, C = 2", []float64{inf, inf}, 0.5, 0.4},
		{"1-norm, C = ¼", []float64{0.25, 0.25}, 0, 0.5 - 0.125},
	} {
		w := exact(q, []float64{c.ridge, c.ridge}, []float64{-1, -1}, []float64{0, 0}, c.upper, [][]float64{{1, -1}}, []float64{0})
		if math.Abs(w-c.want) > 1e-15 {
			t.Errorf("%s: W = %v, want %v", c.name, w, c.want)
		}
	}
	if w := exact([][]float64{{1, -1}, {-1, 1}}, []float64{0, 0}, []float64{-1, -1}, []float64{0, 0}, []float64{inf, inf}, [][]float64{one}, []float64{1}); math.Abs(w-1) > 1e-15 {
		t.Errorf("W = %v, want 1", w)
	}
}

// TestWhatIsWrongIsSeen: each kind of failure, made by hand.
func TestWhatIsWrongIsSeen(t *testing.T) {
	p := draw(1, 2, 30)
	p.Form, p.Bias, p.C, p.Kernel, p.Sparse, p.Tol, p.Weights = oneNorm, free, 1, "RBF(0.5)", false, 1e-3, nil
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range p.Y {
		p.X[i] = []float64{rng.NormFloat64()}
		p.Y[i] = float64(2*(i%2) - 1)
	}
	good, c := solve(&p, standard)
	if c != nil || judge(&p, standard, good) != nil || good.status != solvers.Converged {
		t.Fatalf("%+v %v", good, c)
	}
	for kind, spoil := range map[string]func(o *outcome){
		"NaN":                      func(o *outcome) { o.values[0] = math.NaN() },
		"certificate and audit":    func(o *outcome) { o.certificate.Dual *= 1 + 1e-9 },
		"box":                      func(o *outcome) { o.audit.Box = 1e-9 },
		"status":                   func(o *outcome) { o.audit.UpLow = 1.1e-3 },
		"below the start":          func(o *outcome) { o.audit.Dual, o.certificate.Dual = -1, -1 },
		"negative gap":             func(o *outcome) { o.audit.Gap, o.certificate.Gap = -1e-6, -1e-6 },
		"the default ends far off": func(o *outcome) { o.status, o.audit.Gap, o.certificate.Gap = solvers.Exhausted, 10, 10 },
		"no audit":                 func(o *outcome) { o.audit = nil },
	} {
		o := good
		a := *good.audit
		o.audit, o.values = &a, append([]float64(nil), good.values...)
		spoil(&o)
		if c := judge(&p, standard, o); c == nil || c.kind != kind {
			t.Errorf("%s: %v", kind, c)
		}
	}
	if c := disagreement([]interval{{"a", 1, 2}, {"b", 1.5, 1.6}, {"c", 1.7, 3}}); c == nil || !strings.Contains(c.text, "c reaches") {
		t.Errorf("disagreement: %v", c)
	}
	if c := disagreement([]interval{{"a", 1, 2}, {"b", 1.5, 1.6}}); c != nil {
		t.Errorf("agreement: %v", c)
	}
}

// TestLIBLINEAR: what scikit-learn's LIBLINEAR says of linear machines holds W* between
// narrow bounds, and a wrong W is outside of them.
func TestLIBLINEAR(t *testing.T) {
	peers := newPeers(t.Logf)
	defer peers.close()
	if peers.cmd == nil {
		t.Skip("scikit-learn is not installed")
	}
	rng := rand.New(rand.NewPCG(5, 5))
	for _, f := range []form{oneNorm, twoNorm, epsilonSVR, quadraticSVR, crammerSinger} {
		for _, b := range []bias{fixed, augmented} {
			p := problem{Form: f, Kernel: kernels.Linear().String(), C: 0.5, Epsilon: 0.1, Bias: b, Tau2: 0.01, Tol: 1e-6}
			for i := range 30 {
				y := float64(i % 3)
				if f.regression() {
					y = rng.NormFloat64()
				} else if f != crammerSinger {
					y = float64(2*(i%2) - 1)
				}
				p.X, p.Y = append(p.X, []float64{rng.NormFloat64() + y, rng.NormFloat64() - y/2}), append(p.Y, y)
				p.Weights = append(p.Weights, 0.5+rng.Float64())
			}
			o, c := solve(&p, standard)
			ours, ok := o.interval("ours", &p)
			if c != nil || o.err != nil || !ok {
				t.Fatalf("%v: %v %+v", f, c, o)
			}
			found := peers.solve(&p)
			if len(found) != 1 {
				t.Fatalf("%v, bias %v: not compared", f, b)
			}
			width := found[0].high - max(found[0].low, ours.low) // of Crammer and Singer's it seldom says that it has converged
			if found[0].who != "LIBLINEAR" || f != crammerSinger && math.IsInf(found[0].low, 0) || width > 0.05*(1+ours.high) {
				t.Fatalf("%v, bias %v: %+v, ours %+v", f, b, found, ours)
			}
			if c := disagreement(append(found, ours)); c != nil {
				t.Errorf("%v, bias %v: %v", f, b, c)
			}
			for _, factor := range []float64{0.9, 1.1} {
				wrong := interval{"wrong", factor * ours.low, factor * ours.high}
				if disagreement(append(found, wrong)) == nil && !(factor < 1 && math.IsInf(found[0].low, 0)) {
					t.Errorf("%v, bias %v: W·%g passes for right", f, b, factor)
				}
			}
		}
	}
}
