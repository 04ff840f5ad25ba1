package play

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
)

func raced(t *testing.T, c svmnb.Classifier, methods ...solvers.Method) *RaceResult {
	t.Helper()
	r, err := Racing{}.Run(context.Background(), c, methods...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Every run of a race is the run that the method makes alone: same start, same
// criterion, kernel values of its own.
func TestRaceIsEachMethodAlone(t *testing.T) {
	for _, c := range []svmnb.Classifier{
		svmnb.Classify(testkit.Moons()).Kernel(kernels.RBF(0.5)).C(10).ClassWeight("+1", 2).Stop(solvers.Gap{Rel: 1e-5}),
		svmnb.Classify(datasets.Iris().OneVsRest("setosa")).Kernel(kernels.Linear()).HardMargin(),
		svmnb.Classify(testkit.Moons()).TwoNorm().C(3),
	} {
		methods := []solvers.Method{solvers.SMO{}, solvers.ConjugateSMO{}, solvers.SMO{Selection: solvers.Platt, Seed: 5}, solvers.SMO{}}
		first := raced(t, c, methods...)
		for i, run := range first.Runs {
			if run.Err != nil || run.Method != methods[i] {
				t.Fatalf("%s: method %v, error %v", run.Name, run.Method, run.Err)
			}
			alone := testkit.FitOf(t, c.Using(methods[i]))
			if f := run.Fit; f.Iterations != alone.Iterations || f.Evaluations != alone.Evaluations || f.Status != alone.Status || !slices.Equal(f.Alpha, alone.Alpha) {
				t.Errorf("%s: %d iterations and %d kernel values in the race, %d and %d alone", run.Name, f.Iterations, f.Evaluations, alone.Iterations, alone.Evaluations)
			}
			if run.Fit.Problem().K != first.Runs[0].Fit.Problem().K {
				t.Errorf("%s keeps a kernel matrix for itself", run.Name)
			}
			if _, err := svmnb.KKT.Of(run.Fit); err != nil {
				t.Errorf("%s: %v", run.Name, err)
			}
		}
		if second := raced(t, c, methods...); stable(first.Markdown()) != stable(second.Markdown()) {
			t.Errorf("two races differ:\n%s\n%s", first.Markdown(), second.Markdown())
		}
	}
}

// stable leaves out what a clock says: the time's column and its sentence.
func stable(markdown string) string {
	lines := strings.Split(markdown, "\n")
	for i, line := range lines {
		if cells := strings.Split(line, "|"); len(cells) > 8 {
			cells[5] = ""
			lines[i] = strings.Join(cells, "|")
		}
		lines[i], _, _ = strings.Cut(lines[i], "(An iteration")
	}
	return strings.Join(lines, "\n")
}

func TestRaceTellsWhatEachDid(t *testing.T) {
	r := raced(t, svmnb.Classify(testkit.Moons()).Kernel(kernels.RBF(0.5)).C(10), solvers.CoordinateDescent{}, solvers.SMO{}, solvers.ConjugateSMO{}, solvers.CoordinateDescent{Cyclic: true})
	for _, i := range []int{0, 3} {
		if run := r.Runs[i]; run.Fit != nil || !errors.Is(run.Err, solvers.ErrUnsupported) {
			t.Errorf("%s: fit %v, error %v", run.Name, run.Fit, run.Err)
		}
	}
	text := r.Markdown()
	testkit.Says(t, "the table", text, "| dual coordinate descent, Cyclic = false | refused ¹ |", "| dual coordinate descent, Cyclic = true | refused ¹ |",
		"¹ coordinate descent works on the weights of a linear machine", "| SMO (second order) | converged |",
		"2 runs met the criterion m − M ≤ 0.001. Fewest kernel values: **", "Fewest iterations: **conjugate SMO**, ", "All 2 certified duals agree to ", "between 153.65")
	if strings.Contains(text, "²") {
		t.Errorf("one reason, two notes:\n%s", text)
	}
	c, err := r.Chart()
	if err != nil {
		t.Fatal(err)
	}
	testkit.Says(t, "the chart", c.Title.Title+c.Title.Subtitle, "moons · RBF(0.5)", "m − M ≤ 0.001", "2 runs", "not drawn: dual coordinate descent, Cyclic = false (refused)")

	none := raced(t, svmnb.Classify(testkit.Moons()), solvers.CoordinateDescent{})
	testkit.Says(t, "a race that nobody could run", none.Markdown(), "refused ¹", "No run met the criterion")
	if _, err := none.Chart(); err == nil {
		t.Error("a chart of nothing")
	}

	apart := raced(t, svmnb.Classify(datasets.Iris().OneVsRest("versicolor")).Kernel(kernels.Linear()).HardMargin(), solvers.SMO{})
	if !errors.Is(apart.Runs[0].Err, solvers.ErrUnbounded) {
		t.Errorf("a hard margin on classes that overlap: %v", apart.Runs[0].Err)
	}
	testkit.Says(t, "the table", apart.Markdown(), "unbounded (not separable) ¹", "¹ the dual is unbounded")

	one := raced(t, svmnb.Classify(testkit.Moons()), solvers.SMO{})
	testkit.Says(t, "a race of one", one.Markdown(), "Only **SMO (second order)** met the criterion")
	if strings.Contains(one.Markdown(), "certif") {
		t.Errorf("one dual agrees with itself:\n%s", one.Markdown())
	}

	early := raced(t, svmnb.Classify(testkit.Moons()).MaxIterations(3), solvers.SMO{}, solvers.ConjugateSMO{})
	testkit.Says(t, "a race cut short", early.Markdown(), "iteration limit", "No run met the criterion")
}

// With a fixed bias other methods can run; one counts no kernel values, and one
// oversteps.
func TestRaceFixedBias(t *testing.T) {
	of := svmnb.Classify(datasets.Iris().Pair("virginica", "versicolor")).Kernel(kernels.Linear()).Augment(1).Stop(solvers.Gap{Rel: 1e-4})
	r := raced(t, of, solvers.CoordinateDescent{}, solvers.GradientAscent{}, solvers.SMO{}, solvers.GradientAscent{Order: solvers.Batch, Rate: solvers.Schedule{Start: 1}})
	text := r.Markdown()
	testkit.Says(t, "the table", text, "| SMO (second order) | refused ¹ |", "| diverging (the learning rate is too large) ² |", "² the steps overshoot",
		"2 runs met the criterion", "Fewest iterations: **dual coordinate descent**", "2 certified duals agree", "**gradient ascent (batch, η = 1)** is nowhere near")
	if strings.Contains(text, "Fewest kernel values") || strings.Contains(text, "number of kernel values") || strings.Contains(text, "numbers of kernel values") {
		t.Errorf("kernel values that only one counts are compared:\n%s", text)
	}
	if run := r.Runs[3]; !errors.Is(run.Err, solvers.ErrDiverging) || run.Fit == nil {
		t.Errorf("%+v", run)
	}
	if cells := strings.Split(text, "|"); r.Runs[0].Fit.Evaluations != 0 || !strings.Contains(text, " | – | ") {
		t.Errorf("kernel values of coordinate descent: %q", cells)
	}
	if c, err := r.Chart(); err != nil {
		t.Error(err)
	} else {
		testkit.Says(t, "the chart", c.Title.Title, "Fewest iterations: dual coordinate descent")
	}
}

func TestRaceAgreement(t *testing.T) {
	certificates := func(change func(runs []*solvers.Certificate)) string {
		r := raced(t, svmnb.Classify(testkit.Moons()).Kernel(kernels.RBF(0.5)).C(10), solvers.SMO{}, solvers.ConjugateSMO{}, solvers.SMO{Selection: solvers.WorstPair})
		var c []*solvers.Certificate
		for _, run := range r.Runs {
			run.Fit.Certificate = solvers.Certificate{Dual: 99, Primal: 99.5, Gap: 0.5, Bias: 1}
			c = append(c, &run.Fit.Certificate)
		}
		change(c)
		return r.agreement()
	}
	for _, test := range []struct {
		name   string
		change func(c []*solvers.Certificate)
		want   string
	}{
		{"equal", func([]*solvers.Certificate) {}, "All 3 certified duals agree in all digits; together the certificates put the optimum between 99.00 and 99.50."},
		{"near", func(c []*solvers.Certificate) { c[1].Dual, c[2].Gap = 98.99, 0.2 }, "All 3 certified duals agree to 1.0e-04 of 1 + |dual|; together the certificates put the optimum between 99.00 and 99.20."},
		{"one stopped too soon", func(c []*solvers.Certificate) { c[1].Dual, c[1].Gap = 89, 11 },
			"2 certified duals agree in all digits; **conjugate SMO** is 10 % short of the best, as its own gap allows; together the certificates put the optimum between 99.00 and 99.50."},
		{"one is wrong", func(c []*solvers.Certificate) { c[1].Dual, c[1].Gap = 89, 1e-3 },
			"2 certified duals agree in all digits; **conjugate SMO** contradicts the best: its dual is 10 % short of it and its gap, 0.001, says that no more is possible; gaps are no bounds if the kernel is not positive semi-definite."},
		{"one is claimed", func(c []*solvers.Certificate) { c[0].Claimed, c[0].Dual = true, 3 }, "All 2 certified duals agree in all digits; together the certificates put the optimum between 99.00 and 99.50."},
		{"one is infeasible", func(c []*solvers.Certificate) { c[0].Equality, c[0].Dual = 0.1, 120 },
			"2 certified duals agree in all digits; **SMO (second order)** ended off s'α = δ, so its dual bounds nothing; together the certificates put the optimum between 99.00 and 99.50."},
		{"no primal", func(c []*solvers.Certificate) {
			for i := range c {
				c[i].Gap = math.Inf(1)
			}
		}, "All 3 certified duals agree in all digits."},
		{"all claimed", func(c []*solvers.Certificate) {
			for i := range c {
				c[i].Claimed = true
			}
		}, ""},
	} {
		if got := certificates(test.change); got != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
}

// Who wins is told from counts, and from times only where they can tell.
func TestRaceWinners(t *testing.T) {
	r := raced(t, svmnb.Classify(testkit.Moons()), solvers.SMO{}, solvers.ConjugateSMO{}, solvers.SMO{Selection: solvers.WorstPair})
	const a, b, c = "**SMO (second order)**", "**conjugate SMO**", "**SMO (worst pair)**"
	for _, test := range []struct {
		iterations [3]int
		values     [3]int64
		ms         [3]float64
		want       []string
	}{
		{[3]int{30, 20, 40}, [3]int64{5000, 6000, 7000}, [3]float64{0.5, 1.9, 0.2},
			[]string{"Fewest kernel values: " + a + ", 5\u202f000 (next: conjugate SMO, 6\u202f000).", "Fewest iterations: " + b + ", 20 (next: SMO (second order), 30).", "too short to time, 1.9 ms at most: compare kernel values"}},
		{[3]int{30, 30, 30}, [3]int64{5000, 5000, 7000}, [3]float64{10, 10.5, 70},
			[]string{"Fewest kernel values: " + a + " and " + b + ", 5\u202f000 (next: SMO (worst pair), 7\u202f000).", "Equal numbers of iterations, 30.", "Least time: " + a + " and " + b + ", too close together to tell apart."}},
		{[3]int{1, 2, 3}, [3]int64{0, 0, 0}, [3]float64{100, 50, 70}, []string{"Fewest iterations: " + a, "Least time: " + b + ", 50 ms (next: SMO (worst pair), 70 ms)."}},
		{[3]int{1, 2, 3}, [3]int64{0, 9, 8}, [3]float64{100, 101, 102}, []string{"Fewest kernel values of the 2 that count them: " + c + ", 8 (next: conjugate SMO, 9).", "By time they cannot be told apart."}},
	} {
		for i := range r.Runs {
			f := r.Runs[i].Fit
			f.Iterations, f.Evaluations, f.Elapsed = test.iterations[i], test.values[i], time.Duration(test.ms[i]*1e6)
		}
		text := r.winners(r.finished())
		testkit.Says(t, "the sentence", text, test.want...)
		if test.values == [3]int64{} && strings.Contains(text, "kernel values") {
			t.Errorf("kernel values that nobody has counted: %s", text)
		}
	}
	bold := strings.Split(strings.ReplaceAll(r.Markdown(), "\u00a0", " "), "\n")[2:5]
	for i, want := range []string{"| **1** | – |", "| 2 | 9 |", "| 3 | **8** |"} {
		if !strings.Contains(bold[i], want) {
			t.Errorf("%s, want %s in it", bold[i], want)
		}
	}
}

// busy is a method that works without end; at is told of each step.
type busy struct{ at func(k int) }

func (busy) Name() string { return "busy" }
func (m busy) Start(p *solvers.Problem, alpha []float64) (solvers.Stepper, error) {
	f := slices.Clone(p.S)
	return &busyRun{m, alpha, f, 0}, nil
}

type busyRun struct {
	busy
	alpha, f []float64
	k        int
}

func (s *busyRun) Step(ctx context.Context) (bool, error) {
	s.k++
	if s.at != nil {
		s.at(s.k)
	}
	time.Sleep(100 * time.Microsecond)
	return false, ctx.Err()
}
func (s *busyRun) Report(it *solvers.Iterate) { it.Alpha, it.F = s.alpha, s.f }

// late is a busy method that acts when it is on the clock, not in rehearsal:
// there it ends at once.
func late(steps int, act func()) solvers.Method {
	started := 0
	return &busyOnce{busy{func(k int) {
		if k == steps {
			act()
		}
	}}, &started}
}

type busyOnce struct {
	busy
	started *int
}

func (m *busyOnce) Start(p *solvers.Problem, alpha []float64) (solvers.Stepper, error) {
	if *m.started++; *m.started == 1 {
		return nil, solvers.ErrUnsupported
	}
	return m.busy.Start(p, alpha)
}

func TestRaceInterrupted(t *testing.T) {
	stop := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	r, err := Racing{}.Run(ctx, svmnb.Classify(testkit.Moons()), solvers.SMO{}, late(5, func() { cancel(stop) }), solvers.ConjugateSMO{}, solvers.SMO{Selection: solvers.Platt})
	if !errors.Is(err, stop) || r == nil || len(r.Runs) != 4 {
		t.Fatalf("%+v, error %v", r, err)
	}
	if run := r.Runs[0]; run.Err != nil || run.Fit.Status != solvers.Converged {
		t.Errorf("the run before: %v", run.Err)
	}
	if run := r.Runs[1]; !errors.Is(run.Err, stop) || run.Fit == nil || run.Fit.Status != solvers.Interrupted || run.Fit.Iterations < 4 || len(run.Fit.Trace.Points) == 0 {
		t.Errorf("the run that was on: %+v", run)
	}
	for _, run := range r.Runs[2:] {
		if run.Fit != nil || !errors.Is(run.Err, stop) {
			t.Errorf("%s was run: %+v", run.Name, run)
		}
	}
	testkit.Says(t, "the warning", r.interrupted(), "interrupted in the run of busy, after ", "its gap is 200", "; not run: conjugate SMO, SMO (Platt)")
	testkit.Says(t, "the table", r.Markdown(), "| busy | interrupted |", "| conjugate SMO | not run |", "Only **SMO (second order)** met")
	if c, err := r.Chart(); err != nil {
		t.Error(err)
	} else {
		testkit.Says(t, "the chart", c.Title.Title+c.Title.Subtitle, "Only SMO (second order)", "not drawn: conjugate SMO (not run), SMO (Platt) (not run)")
	}

	r, err = Racing{}.Run(ctx, svmnb.Classify(testkit.Moons()), solvers.SMO{})
	if !errors.Is(err, stop) || r.Runs[0].Fit != nil {
		t.Errorf("a race after the end: %+v, %v", r, err)
	}
}

// The button of a notebook sends SIGINT.
func TestRaceSIGINT(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process of Windows cannot send itself an interrupt")
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	old := os.Stderr
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	os.Stderr = write
	r := Race(svmnb.Classify(testkit.Moons()), late(3, func() { _ = self.Signal(os.Interrupt) }), solvers.SMO{})
	os.Stderr = old
	write.Close()
	var said bytes.Buffer
	_, _ = said.ReadFrom(read)
	if r.Runs[0].Fit == nil || r.Runs[0].Fit.Status != solvers.Interrupted || r.Runs[1].Fit != nil {
		t.Errorf("%+v", r.Runs)
	}
	testkit.Says(t, "standard error", said.String(), "the race was interrupted in the run of busy", "not run: SMO (second order)")
}

func TestRaceLimit(t *testing.T) {
	r, err := Racing{Limit: 200 * time.Millisecond}.Run(context.Background(), svmnb.Classify(testkit.Moons()), busy{}, solvers.SMO{})
	if err != nil {
		t.Fatal(err)
	}
	if run := r.Runs[0]; run.Err != nil || run.Fit == nil || run.Fit.Status != solvers.TimeLimit || run.Fit.Elapsed < 100*time.Millisecond {
		t.Errorf("%+v", run)
	}
	if run := r.Runs[1]; run.Err != nil || run.Fit.Status != solvers.Converged {
		t.Errorf("the run after a limit: %+v", run)
	}
	testkit.Says(t, "the table", r.Markdown(), "| busy | time limit |", "| SMO (second order) | converged |")
}

func TestRaceBadInput(t *testing.T) {
	good := svmnb.Classify(testkit.Moons())
	for _, test := range []struct {
		name    string
		of      svmnb.Classifier
		methods []solvers.Method
		words   []string
	}{
		{"no methods", good, nil, []string{"Race", "no methods"}},
		{"nil method", good, []solvers.Method{solvers.SMO{}, nil}, []string{"method 2 is nil"}},
		{"C", good.C(-1), []solvers.Method{solvers.SMO{}}, []string{"C is -1"}},
		{"data", svmnb.Classify(nil), []solvers.Method{solvers.SMO{}}, []string{"nil"}},
	} {
		r, err := Racing{}.Run(context.Background(), test.of, test.methods...)
		var e *svmnb.ArgumentError
		if r != nil || !errors.As(err, &e) {
			t.Errorf("%s: %v, error %v", test.name, r, err)
			continue
		}
		testkit.Says(t, test.name, err.Error(), test.words...)
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: Race went on", test.name)
				}
			}()
			Race(test.of, test.methods...)
		}()
	}
	r := raced(t, good, solvers.SMO{Tol: -1}, solvers.SMO{})
	if r.Runs[0].Fit != nil || r.Runs[0].Err == nil || r.Runs[1].Fit == nil {
		t.Errorf("one method set wrong, one right: %+v", r.Runs)
	}
	testkit.Says(t, "the table", r.Markdown(), "SMO (second order), Tol = -1 | failed ¹", "¹ SMO.Tol: the tolerance is -1")
}

func TestRaceNames(t *testing.T) {
	for _, test := range []struct {
		methods []solvers.Method
		want    []string
	}{
		{[]solvers.Method{solvers.SMO{}, solvers.ConjugateSMO{}}, []string{"SMO (second order)", "conjugate SMO"}},
		{[]solvers.Method{solvers.SMO{}, solvers.SMO{Selection: solvers.Platt}}, []string{"SMO (second order)", "SMO (Platt)"}},
		{[]solvers.Method{solvers.SMO{Seed: 1}, solvers.SMO{Seed: 2, PairsOnly: true}, solvers.SMO{Selection: solvers.Platt}},
			[]string{"SMO (second order), Seed = 1, PairsOnly = false", "SMO (second order), Seed = 2, PairsOnly = true", "SMO (Platt)"}},
		{[]solvers.Method{solvers.SMO{}, solvers.SMO{}, solvers.SMO{}}, []string{"SMO (second order)", "SMO (second order) #2", "SMO (second order) #3"}},
		{[]solvers.Method{busy{}, &busyOnce{}}, []string{"busy", "busy #2"}},
	} {
		if got := raceNames(test.methods); !slices.Equal(got, test.want) {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

func ExampleRace() {
	xor := datasets.New([][]float64{{1, 1}, {-1, -1}, {1, -1}, {-1, 1}}, []float64{1, 1, -1, -1})
	race := Race(svmnb.Classify(xor).Kernel(kernels.Polynomial(2, 1, 1)).HardMargin(), solvers.SMO{}, solvers.ConjugateSMO{}, solvers.CoordinateDescent{})
	for _, run := range race.Runs {
		if run.Fit == nil {
			fmt.Println(run.Name, "cannot solve this problem:", errors.Is(run.Err, solvers.ErrUnsupported))
			continue
		}
		fmt.Printf("%s: %v, W = %.3f\n", run.Name, run.Fit.Status, run.Fit.Certificate.Dual)
	}
	// Output:
	// SMO (second order): converged, W = 0.250
	// conjugate SMO: converged, W = 0.250
	// dual coordinate descent cannot solve this problem: true
}

// TestRaceCounts: without times a race comes out the same whenever it is run.
func TestRaceCounts(t *testing.T) {
	problem := svmnb.Classify(datasets.Moons(80, 0.2, 1)).Kernel(kernels.RBF(1)).C(10)
	show := func() (table, chart string) {
		r, err := Racing{Counts: true}.Run(context.Background(), problem, solvers.SMO{}, solvers.ConjugateSMO{})
		if err != nil {
			t.Fatal(err)
		}
		c, err := r.Chart()
		if err != nil {
			t.Fatal(err)
		}
		return r.Markdown(), fmt.Sprint(c.Extra)
	}
	table, chart := show()
	if strings.Contains(table, "time") || strings.Contains(chart, "time (log") {
		t.Errorf("there are times in\n%s\nor %s", table, chart)
	}
	again, same := show()
	if table != again || chart != same {
		t.Error("two runs differ")
	}
}

// A race keeps one problem: gradient ascent, which needs another bias, is refused.
func TestRaceKeepsTheBias(t *testing.T) {
	base := svmnb.Classify(datasets.Moons(40, 0.2, 1)).Kernel(kernels.RBF(1)).Tol(1e-6)
	if r := Race(base, solvers.SMO{}, solvers.GradientAscent{}); r.Runs[1].Err == nil {
		t.Error("a race solved two problems: gradient ascent has another bias")
	}
}
