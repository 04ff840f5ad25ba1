package play

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/gp"
	"github.com/svmnb/svmnb/svmnb/internal/controls"
	"github.com/svmnb/svmnb/svmnb/internal/echarts"
	"github.com/svmnb/svmnb/svmnb/internal/learn"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/selection"
	"github.com/svmnb/svmnb/svmnb/transform"
	"pgregory.net/rapid"
)

func explored(t testing.TB, x any) *exploration {
	t.Helper()
	e, err := explore(x)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// explorables are descriptions of each kind, with the line that says each of them and
// the names of its sliders while its own kernel is chosen.
var explorables = []struct {
	x      any
	line   string
	dials  string
	panels int // 0 where there is no room for small ones
}{
	{datasets.Moons(60, 0.2, 1), "svmnb.Classify(ds).Kernel(kernels.RBF(0.948)).C(1)", "C gamma", 9},
	{svmnb.Classify(datasets.Moons(60, 0.2, 1)).Kernel(kernels.RBF(0.5)).C(10).SMO().Live(), "svmnb.Classify(ds).Kernel(kernels.RBF(0.5)).C(10).SMO()", "C gamma", 9},
	{svmnb.Classify(datasets.Blobs(40, 2, 0.1, 3)).Kernel(kernels.Linear()).HardMargin(), "svmnb.Classify(ds).Kernel(kernels.Linear()).HardMargin()", "", 1},
	{svmnb.Classify(datasets.Moons(60, 0.2, 1)).Kernel(kernels.Linear()).TwoNorm(), "svmnb.Classify(ds).Kernel(kernels.Linear()).TwoNorm().C(1)", "C", 3},
	{svmnb.Classify(datasets.Moons(60, 0.2, 1)).Kernel(kernels.RBF(2)).Nu(0.3), "svmnb.Classify(ds).Kernel(kernels.RBF(2)).Nu(0.3)", "nu gamma", 9},
	{svmnb.OneClass(datasets.Moons(60, 0.2, 1)).Kernel(kernels.RBF(2)).Nu(0.1), "svmnb.OneClass(ds).Kernel(kernels.RBF(2)).Nu(0.1)", "nu gamma", 9},
	{svmnb.Classify(datasets.Moons(60, 0.2, 1)).Kernel(kernels.RBF(1)).GradientAscent(), "svmnb.Classify(ds).Kernel(kernels.RBF(1)).C(1).Using(solvers.GradientAscent{})", "C gamma", 9},
	{svmnb.Classify(datasets.Moons(60, 0.2, 1)).Kernel(kernels.Sum(kernels.Linear(), kernels.Scale(2, kernels.RBF(1)))), "svmnb.Classify(ds).Kernel(kernels.Sum(kernels.Linear(), kernels.Scale(2, kernels.RBF(1)))).C(1)", "C Scale.c gamma", 9},
	{svmnb.Classify(datasets.Moons(60, 0.2, 1)).Kernel(kernels.Named("f", kernels.Scale(2, kernels.RBF(1)))), `svmnb.Classify(ds).Kernel(kernels.Named("f", kernels.Scale(2, kernels.RBF(1)))).C(1)`, "C f.c f.gamma", 9},
	{svmnb.Classify(datasets.Moons(60, 0.2, 1)).Kernel(kernels.Polynomial(2, 1, 1)), "svmnb.Classify(ds).Kernel(kernels.Polynomial(2, 1, 1)).C(1)", "C gamma coef0 degree", 9},
	{svmnb.Classify(datasets.New(kernels.Strings(0, "a", "ab", "abc", "b", "bc", "bcd"), []float64{1, 1, 1, -1, -1, -1})).Kernel(kernels.Spectrum(2)), "svmnb.Classify(ds).Kernel(kernels.Spectrum(2)).C(1)", "C", 0},
	{svmnb.Classify(datasets.Iris()).Kernel(kernels.RBF(0.5)).OneVsRest(), "svmnb.Classify(ds).Kernel(kernels.RBF(0.5)).C(1).OneVsRest()", "C gamma", 0},
	{datasets.Iris(), "svmnb.Classify(ds).Kernel(kernels.RBF(0.0642)).C(1).OneVsOne()", "C gamma", 0},
	{svmnb.Classify(datasets.Blobs(60, 3, 0.5, 3)).Kernel(kernels.RBF(0.5)).CrammerSinger(), "svmnb.Classify(ds).Kernel(kernels.RBF(0.5)).C(1).CrammerSinger()", "C gamma", 0},
	{datasets.Sinc(50, 0.1, 1), "svmnb.Regress(ds).Kernel(kernels.RBF(0.03)).C(1).Epsilon(0.1)", "C epsilon gamma", 9},
	{svmnb.Regress(datasets.Sinc(50, 0.1, 1)).Kernel(kernels.RBF(1)).Ridge(0.5), "svmnb.Regress(ds).Kernel(kernels.RBF(1)).Ridge(0.5)", "lambda gamma", 9},
	{svmnb.Regress(datasets.Sinc(50, 0.1, 1)).Kernel(kernels.Linear()), "svmnb.Regress(ds).Kernel(kernels.Linear()).C(1).Epsilon(0.1)", "C epsilon", 9},
	{svmnb.Regress(datasets.Sinc(50, 0.1, 1)).Kernel(kernels.RBF(1)).Nu(0.3), "svmnb.Regress(ds).Kernel(kernels.RBF(1)).Nu(0.3).C(1)", "C nu gamma", 9},
	{gp.Regress(datasets.Sinc(50, 0.1, 1)), "gp.Regress(ds).Kernel(kernels.Scale(0.127, kernels.RBF(0.0556))).NoiseVariance(0.0127).Cholesky()", "NoiseVariance Scale.c gamma", 9},
	{gp.Regress(datasets.Sinc(50, 0.1, 1)).Kernel(kernels.RBF(1)).NoiseVariance(0.1).LinearMean().Optimise(), "gp.Regress(ds).Kernel(kernels.RBF(1)).NoiseVariance(0.1).LinearMean().Cholesky()", "NoiseVariance gamma", 9},
}

// sparsely is the data with points that leave zeros out.
func sparsely(d *datasets.Dataset) *datasets.Dataset {
	x := datasets.CSR{Start: []int{0}, D: d.D()}
	for _, row := range d.X {
		for j, v := range row {
			x.Index, x.Value = append(x.Index, int32(j)), append(x.Value, v)
		}
		x.Start = append(x.Start, len(x.Index))
	}
	return datasets.NewSparse(x, d.Y)
}

func TestExplore(t *testing.T) {
	for _, test := range explorables {
		e := explored(t, test.x)
		if got := line(e.base); got != test.line {
			t.Errorf("%s\nwant %s", got, test.line)
		}
		if now := e.at(e.beginning()); line(now) != test.line {
			t.Errorf("the beginning is %s\nwant %s", line(now), test.line)
		}
		var names []string
		for _, d := range e.dials[:e.own[1]] {
			names = append(names, d.Name)
		}
		if got := strings.Join(names, " "); got != test.dials {
			t.Errorf("%s: sliders %q, want %q", test.line, got, test.dials)
		}
		c, err := e.multiples(t.Context())
		if err != nil {
			t.Errorf("%s: %v", test.line, err)
			continue
		}
		grids, _ := c.Extra["grid"].([]any)
		if multiples := strings.HasPrefix(c.Alt, "Small multiples of "); multiples != (test.panels > 0) || multiples && len(grids) != test.panels {
			t.Errorf("%s: %d panels, want %d: %s", test.line, len(grids), test.panels, c.Alt)
		}
		if p, err := echarts.Draw(c); err != nil || len(p.HTML) > 200_000 {
			t.Errorf("%s: %d bytes, %v", test.line, len(p.HTML), err)
		}
	}
}

func states(e *exploration) *rapid.Generator[controls.State] {
	return rapid.Custom(func(t *rapid.T) controls.State {
		s := controls.State{Kernel: rapid.IntRange(0, len(e.kernels)-1).Draw(t, "kernel"), Method: rapid.IntRange(0, len(e.ways)-1).Draw(t, "method")}
		for _, d := range e.dials {
			s.At = append(s.At, rapid.IntRange(0, len(d.Values)-1).Draw(t, d.Name))
		}
		return s
	})
}

// Whatever is moved, the line is Go, and says the kernel and the values that are seen.
func TestExploreLine(t *testing.T) {
	for _, test := range explorables {
		e := explored(t, test.x)
		rapid.Check(t, func(t *rapid.T) {
			s := states(e).Draw(t, "state")
			l := e.at(s)
			said := line(l)
			if _, err := parser.ParseExpr(said); err != nil || l.Fault() != nil {
				t.Fatalf("%s: %v, %v", said, err, l.Fault())
			}
			_, call, _ := strings.Cut(said, ".Kernel(")
			depth, end := 1, 0
			for ; depth > 0; end++ {
				depth += map[byte]int{'(': 1, ')': -1}[call[end]]
			}
			if k, err := kernels.Parse(strings.ReplaceAll(call[:end-1], "kernels.", "")); err != nil || k != l.Usual() {
				t.Fatalf("%s: the kernel is %v, %v; want %v", said, k, err, l.Usual())
			}
			for i, d := range e.dials {
				if i < e.own[0] || i >= e.own[s.Kernel] && i < e.own[s.Kernel+1] {
					if v := say.Number(d.Values[s.At[i]]); !regexp.MustCompile(`[( ]` + regexp.QuoteMeta(v) + `[,)]`).MatchString(said) {
						if d.Name != "c" || v != "1" { // Scale(1, k) is k
							t.Fatalf("%s: no %s = %s", said, d.Name, v)
						}
					}
				}
			}
			c := e.panel()
			for i, d := range c.Dials {
				if d.Values[s.At[i]] != say.Number(e.dials[i].Values[s.At[i]]) {
					t.Fatalf("the page shows %s for %v", d.Values[s.At[i]], e.dials[i].Values[s.At[i]])
				}
			}
		})
	}
}

// What is seen is what the line computes: a fit that begins with the one before ends
// where one from the beginning does.
func TestExploreIsWhatTheLineSays(t *testing.T) {
	x := svmnb.Classify(datasets.Moons(40, 0.2, 1)).Kernel(kernels.RBF(1)).C(3).Tol(1e-4)
	r := svmnb.Regress(datasets.Sinc(30, 0.1, 1)).Kernel(kernels.RBF(1)).C(3).Tol(1e-4)
	rapid.Check(t, func(t *rapid.T) {
		e := explored(&testing.T{}, []any{x, r}[rapid.IntRange(0, 1).Draw(t, "learner")])
		s := e.beginning()
		for range 3 {
			i := rapid.IntRange(0, e.own[1]-1).Draw(t, "dial")
			// Not far: what is hard to learn is learnt for long.
			s.At[i] = min(rapid.IntRange(max(0, e.dials[i].At-learn.Decade), e.dials[i].At+learn.Decade/2).Draw(t, "at"), len(e.dials[i].Values)-1)
			s.Method = rapid.IntRange(0, min(2, len(e.ways)-1)).Draw(t, "method")
			fit, l, err := e.fit(context.Background(), s)
			if err != nil {
				t.Fatalf("%s: %v", line(l), err)
			}
			alone, err := l.Train(context.Background(), nil)
			if err != nil {
				t.Fatal(err)
			}
			a, b := dual(fit), dual(alone)
			if math.Abs(a-b) > 1e-3*(1+math.Abs(b)) {
				t.Fatalf("%s: dual objective %v, alone %v", line(l), a, b)
			}
		}
	})
}

func dual(l learn.Fit) float64 {
	if f, ok := l.Fit().(*svmnb.Fit); ok {
		return f.Certificate.Dual
	}
	return l.Fit().(*svmnb.RegressionFit).Certificate.Dual
}

// Each kernel and each solver that is offered can be had.
func TestExploreOffersWhatWorks(t *testing.T) {
	for _, test := range explorables {
		e := explored(t, test.x)
		for k := range e.kernels {
			for m := range e.ways {
				if k > 0 && m > 0 {
					continue
				}
				s := e.beginning()
				s.Kernel, s.Method = k, m
				if c, ok := test.x.(svmnb.Classifier); ok && strings.Contains(c.String(), "HardMargin()") && m > 0 {
					continue
				}
				fit, l, err := e.fit(t.Context(), s)
				if err != nil {
					t.Errorf("%s: %v", line(l), err)
					continue
				}
				c, err := fit.Look()
				if err == nil {
					_, err = echarts.Draw(c)
				}
				if err != nil || fit.Fared() == "" {
					t.Errorf("%s: %v", line(l), err)
				}
			}
		}
	}
}

func TestExploreRefuses(t *testing.T) {
	nan := datasets.New([][]float64{{1, 2}, {3, math.NaN()}}, []float64{1, -1})
	moons := datasets.Moons(20, 0.1, 1)
	for name, test := range map[string]struct {
		x     any
		words string
	}{
		"nil":             {nil, "a value of type <nil> cannot be explored"},
		"a number":        {7, "a value of type int cannot be explored"},
		"a fit":           {svmnb.Classify(moons).MustFit(), "a value of type *svmnb.Fit cannot be explored"},
		"a pipeline":      {selection.Pipe(transform.Standardise(), svmnb.Classify(moons)), "a value of type selection.Pipeline cannot be explored"},
		"no data set":     {(*datasets.Dataset)(nil), "the data set is nil"},
		"an empty one":    {&datasets.Dataset{}, "no points"},
		"NaN":             {nan, "row 1, column 1"},
		"sparse":          {sparsely(moons), "Dense()"},
		"one class":       {datasets.New([][]float64{{1}, {2}}, []float64{1, 1}), "two classes"},
		"C":               {svmnb.Classify(moons).C(-1), "C is -1"},
		"epsilon":         {svmnb.Regress(datasets.Sinc(20, 0.1, 1)).Epsilon(-1), "ε is -1"},
		"ν":               {svmnb.Classify(moons).Nu(2), "ν is 2"},
		"several, C":      {svmnb.Classify(datasets.Iris()).C(math.Inf(1)).OneVsOne(), "C is infinite"},
		"noise":           {gp.Regress(datasets.Sinc(20, 0.1, 1)).NoiseVariance(math.NaN()), "the variance is NaN"},
		"process, two":    {gp.Regress(moons), "2 features"},
		"zero value":      {svmnb.Classifier{}, "nil"},
		"zero regressor":  {svmnb.Regressor{}, "nil"},
		"zero process":    {gp.Process{}, "nil"},
		"zero of several": {svmnb.MultiClassifier{}, "nil"},
	} {
		_, err := explore(test.x)
		var a *svmnb.ArgumentError
		var d *datasets.Error
		var c *datasets.ClassError
		if err == nil || !strings.Contains(err.Error(), test.words) || !errors.As(err, &a) && !errors.As(err, &d) && !errors.As(err, &c) {
			t.Errorf("%s: error %v, want a typed one with %q", name, err, test.words)
		}
	}
	// Hard margins that nothing separates: the error says so.
	if _, err := explored(t, svmnb.Classify(datasets.Moons(60, 0.5, 1)).Kernel(kernels.Linear()).HardMargin()).multiples(t.Context()); !errors.Is(err, solvers.ErrUnbounded) {
		t.Errorf("error %v, want ErrUnbounded", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := explored(t, moons).multiples(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// A setting without an answer leaves its panel empty.
func TestExploreEmptyPanel(t *testing.T) {
	few := unbalanced()
	c, err := explored(t, svmnb.Classify(few).Kernel(kernels.RBF(1)).Nu(0.3)).multiples(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(c.Alt, "no answer"); n != 3 {
		t.Errorf("%d panels without an answer, want those of ν = 0.5: %s", n, c.Alt)
	}
}

// unbalanced has four times as many points of one class, which bounds ν by 0.4.
func unbalanced() *datasets.Dataset {
	d := datasets.New(nil, nil)
	few := 0
	for i, x := range datasets.Moons(64, 0.2, 1).X {
		y := datasets.Moons(64, 0.2, 1).Y[i]
		if y > 0 {
			if few++; few > 8 {
				continue
			}
		}
		d.X, d.Y = append(d.X, x), append(d.Y, y)
	}
	return datasets.New(d.X, d.Y)
}

// conversation is a page that talks to an exploration.
type conversation struct {
	t     *testing.T
	e     *exploration
	box   *controls.Mailbox
	shown chan answer
	over  chan error
	n     int64
}

func converse(t *testing.T, ctx context.Context, e *exploration, first ...func(s *controls.State)) *conversation {
	c := &conversation{t: t, e: e, box: controls.NewMailbox(e.panel(), func(controls.State) {}), shown: make(chan answer, 100), over: make(chan error, 1)}
	for _, change := range first {
		c.say(change)
	}
	go func() {
		c.over <- e.converse(ctx, c.box, func(a answer, n int64) error {
			c.shown <- a
			return nil
		})
	}()
	return c
}

func (c *conversation) say(change func(s *controls.State)) {
	c.t.Helper()
	s := c.e.beginning()
	c.n++
	s.N = c.n
	change(&s)
	text, err := json.Marshal(s)
	if err != nil {
		c.t.Fatal(err)
	}
	c.box.Receive(string(text))
}

func (c *conversation) hear() answer {
	c.t.Helper()
	select {
	case a := <-c.shown:
		return a
	case err := <-c.over:
		c.t.Fatalf("it is over: %v", err)
	case <-time.After(20 * time.Second):
		c.t.Fatal("no answer")
	}
	return answer{}
}

func (c *conversation) end() {
	c.t.Helper()
	select {
	case err := <-c.over:
		if err != nil {
			c.t.Error(err)
		}
	case <-time.After(20 * time.Second):
		c.t.Fatal("it does not end")
	}
	if len(c.shown) > 0 {
		c.t.Errorf("%d more pictures", len(c.shown))
	}
}

func TestConverse(t *testing.T) {
	e := explored(t, svmnb.Classify(datasets.Moons(60, 0.2, 1)).Kernel(kernels.RBF(1)).C(1))
	set := func(at int) func(s *controls.State) { return func(s *controls.State) { s.At[0] = at } }
	// Of many states the latest is answered, whatever came before.
	c := converse(t, t.Context(), e, set(10), set(20), set(50))
	if got := line(c.hear().said); got != "svmnb.Classify(ds).Kernel(kernels.RBF(1)).C(100)" {
		t.Errorf("the first picture is of %s", got)
	}
	c.say(func(s *controls.State) { s.Kernel, s.Method = 1, 1 })
	if got := line(c.hear().said); got != "svmnb.Classify(ds).Kernel(kernels.Linear()).C(1).SMO()" {
		t.Errorf("the second picture is of %s", got)
	}
	c.say(func(s *controls.State) { s.Done = true })
	c.end()
	// What is no state of these controls, or an old one, changes nothing.
	c = converse(t, t.Context(), e, set(40))
	c.hear()
	for _, text := range []string{"", "{", `{"n":9}`, `{"n":9,"at":[1,2]}`, fmt.Sprintf(`{"n":9,"at":%s}`, strings.Repeat("[", 9)), strings.Replace(`{"n":9,"at":[999,0,0,0,0,0,0,0,0]}`, " ", "", -1), `{"n":0,"at":[0,0,0,0,0,0,0,0,0]}`} {
		c.box.Receive(text)
	}
	c.say(set(41))
	if got := line(c.hear().said); got != "svmnb.Classify(ds).Kernel(kernels.RBF(1)).C(12.6)" {
		t.Errorf("the picture is of %s", got)
	}
	c.say(func(s *controls.State) { s.Done = true })
	c.end()
}

// A state that cannot be learnt says why under the picture before; the first one ends
// it with that.
func TestConverseErrors(t *testing.T) {
	few := unbalanced()
	e := explored(t, svmnb.Classify(few).Kernel(kernels.RBF(1)).Nu(0.3))
	infeasible := func(s *controls.State) { s.At[0] = len(e.dials[0].Values) - 1 }
	c := converse(t, t.Context(), e, func(*controls.State) {})
	first := c.hear()
	c.say(infeasible)
	if a := c.hear(); a.chart != first.chart || !strings.Contains(a.words, "0.98") || a.err == nil {
		t.Errorf("%+v", a)
	}
	c.say(func(s *controls.State) { s.Done = true })
	c.end()
	c = converse(t, t.Context(), e, infeasible)
	select {
	case err := <-c.over:
		if err == nil {
			t.Error("no error")
		}
	case a := <-c.shown:
		t.Errorf("a picture of %s", line(a.said))
	case <-time.After(20 * time.Second):
		t.Fatal("no end")
	}
}

// sleepy is SMO that never ends where C is 10.
type sleepy struct{}

func (sleepy) Name() string { return "sleepy" }

func (sleepy) Start(p *solvers.Problem, alpha []float64) (solvers.Stepper, error) {
	s, err := solvers.SMO{}.Start(p, alpha)
	if p.Upper[0] == 10 {
		s = asleep{s}
	}
	return s, err
}

type asleep struct{ solvers.Stepper }

func (asleep) Step(ctx context.Context) (bool, error) {
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case <-time.After(time.Millisecond):
		return false, nil
	}
}

// A long fit is given up for a newer state, and for the interrupt.
func TestConverseGivesUp(t *testing.T) {
	e := explored(t, svmnb.Classify(datasets.Moons(40, 0.2, 1)).Kernel(kernels.RBF(1)).C(1).Using(sleepy{}))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := converse(t, ctx, e, func(s *controls.State) { s.At[0] += learn.Decade })
	time.Sleep(20 * time.Millisecond)
	c.say(func(s *controls.State) { s.At[0]++ })
	if got := line(c.hear().said); !strings.Contains(got, ".C(1.26)") {
		t.Errorf("the picture is of %s", got)
	}
	c.say(func(s *controls.State) { s.At[0] += learn.Decade })
	time.Sleep(20 * time.Millisecond)
	cancel()
	c.end()
}

func TestDials(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := math.Exp(rapid.Float64Range(-30, 30).Draw(t, "v"))
		d := learn.LogDial("x", v)
		if d.Values[d.At] != v || !slices.IsSorted(d.Values) || math.Abs(d.Values[0]/v-1e-3) > 1e-5 || math.Abs(d.Values[len(d.Values)-1]/v-1e3) > 10 {
			t.Fatalf("%v: %v", v, d)
		}
		w := rapid.Float64Range(0, 1).Draw(t, "w")
		d = learn.EvenDial("x", w, 0, 1, 0.02)
		if d.Values[d.At] != w || !slices.IsSorted(d.Values) || len(d.Values) > 52 || len(slices.Compact(slices.Clone(d.Values))) != len(d.Values) {
			t.Fatalf("%v: %v", w, d)
		}
	})
	for _, test := range []struct{ v, want float64 }{{0, 0}, {1234, 1230}, {0.00012345, 0.000123}, {-9.996, -10}, {math.MaxFloat64, math.MaxFloat64}} {
		if got := learn.Digits(test.v, 3); got != test.want {
			t.Errorf("digits(%v) = %v, want %v", test.v, got, test.want)
		}
	}
}
