package svmnb

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/gp"
	"github.com/svmnb/svmnb/svmnb/internal/echarts"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/screen"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"pgregory.net/rapid"
)

func TestLiveIsPartOfTheChain(t *testing.T) {
	c, r, p := Classify(datasets.Moons(20, 0.1, 1)), Regress(datasets.Sinc(20, 0.1, 1)), gp.Regress(datasets.Sinc(20, 0.1, 1)).CG()
	for _, pair := range [][2]string{{c.String(), c.Live().String()}, {r.String(), r.Live().String()}, {p.String(), p.Live().String()}} {
		if pair[1] != pair[0]+".Live()" {
			t.Errorf("%s, want %s.Live()", pair[1], pair[0])
		}
	}
	if c == c.Live() || c.Live() != c.Live() || r == r.Live() || p == p.Live() {
		t.Error("Live is no part of the value, or changes what it is called on")
	}
	key := func(c Classifier) []byte {
		task, err := c.prepare()
		if err != nil {
			t.Fatal(err)
		}
		return task.key()
	}
	if !slices.Equal(key(c), key(c.Live())) {
		t.Error("a watched fit is remembered apart from the same one unwatched")
	}
	if _, err := c.C(-1).Live().Fit(t.Context()); err == nil {
		t.Error("a wrong description is fitted")
	}
}

// A watched run is the same run, bit for bit, and its last picture is of its end,
// also after an interrupt.
func TestWatch(t *testing.T) {
	moons := datasets.Moons(150, 0.3, 1)
	for name, c := range map[string]Classifier{
		"SMO": Classify(moons).C(100), "ν": Classify(moons).Nu(0.4), "one class": OneClass(moons), "2-norm": Classify(moons).TwoNorm(),
		"ascent": Classify(moons).GradientAscent(), "interior": Classify(moons).PrimalDual(), "four features": Classify(datasets.Iris().OneVsRest("virginica")),
	} {
		task, err := c.prepare()
		if err != nil {
			t.Fatal(err)
		}
		alone, err := solvers.Solve(t.Context(), task.problem, task.method, solvers.Settings{Stop: task.stop})
		if err != nil {
			t.Fatal(err)
		}
		w := task.watch(task)
		charts := testkit.Shown(w.Screen)
		res, err := solvers.Solve(t.Context(), task.problem, task.method, solvers.Settings{Stop: task.stop, Observers: []solvers.Observer{w.observe}})
		if err != nil {
			t.Fatal(err)
		}
		w.end(res)
		if !slices.Equal(res.Alpha, alone.Alpha) || res.Iterations != alone.Iterations {
			t.Errorf("%s: a watched run ends elsewhere", name)
		}
		if len(*charts) < 2 {
			t.Fatalf("%s: %d pictures", name, len(*charts))
		}
		first, last := (*charts)[0].Title.Title, (*charts)[len(*charts)-1].Title.Title
		if !strings.Contains(first, "is running") || !strings.Contains(last, "converged") {
			t.Errorf("%s: the titles go from %q to %q", name, first, last)
		}
		if grids := len((*charts)[0].Extra["grid"].([]any)); (grids == 3) != (c.data.D() == 2) {
			t.Errorf("%s: %d panels for %d features", name, grids, c.data.D())
		}
	}

	task, err := Classify(moons).C(1e6).prepare()
	if err != nil {
		t.Fatal(err)
	}
	w := task.watch(task)
	charts := testkit.Shown(w.Screen)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stop := func(it *solvers.Iterate, _ *solvers.Point) {
		if it.Iteration >= 50 {
			cancel()
		}
	}
	res, err := solvers.Solve(ctx, task.problem, task.method, solvers.Settings{Observers: []solvers.Observer{w.observe, stop}})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	w.end(res)
	if last := (*charts)[len(*charts)-1].Title.Title; !strings.Contains(last, "interrupted") {
		t.Errorf("after an interrupt the title is %q", last)
	}
}

func TestWatchRegression(t *testing.T) {
	sinc := datasets.Sinc(80, 0.1, 1)
	task, err := Regress(sinc).C(10).prepare()
	if err != nil {
		t.Fatal(err)
	}
	w := task.machine.watch(task)
	charts := testkit.Shown(w.Screen)
	res, err := solvers.Solve(t.Context(), task.problem, task.method, solvers.Settings{Stop: task.stop, Observers: []solvers.Observer{w.observe}})
	if err != nil {
		t.Fatal(err)
	}
	w.end(res)
	if n := len(*charts); n < 2 || !strings.Contains((*charts)[n-1].Title.Title, "converged") {
		t.Errorf("%d pictures of a regression", n)
	}
}

// Each run has a picture of its own, whichever process it is in and whatever it is
// called: in JupyterLab all notebooks are in one page.
func TestRunsHaveNamesOfTheirOwn(t *testing.T) {
	const again = "SVMNB_TEST_NAMES"
	names := []string{screen.New().Name, screen.New().Name, screen.Unique()}
	if os.Getenv(again) != "" {
		fmt.Println("names", strings.Join(names, " "))
		return
	}
	for range 2 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestRunsHaveNamesOfTheirOwn$")
		cmd.Env = append(os.Environ(), again+"=1")
		out, err := cmd.Output()
		_, said, found := strings.Cut(string(out), "names ")
		if err != nil || !found {
			t.Fatalf("%v: %s", err, out)
		}
		said, _, _ = strings.Cut(said, "\n")
		names = append(names, strings.Fields(said)...)
	}
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] || len(name) < 20 {
			t.Errorf("%q is twice among %q, or short", name, names)
		}
		seen[name] = true
	}
	if len(seen) != 9 {
		t.Errorf("%d names, want 9", len(seen))
	}
}

func TestRemaining(t *testing.T) {
	var points []solvers.Point
	for k := range 21 { // a decade each second
		v := math.Pow(10, -float64(k)/2)
		points = append(points, solvers.Point{Iteration: k, Elapsed: time.Duration(k) * time.Second / 2, Up: v, KKT: v, RelGap: v})
	}
	for _, stop := range []solvers.Criterion{solvers.UpLow{Tol: 1e-15}, solvers.KKT{Tol: 1e-15}, solvers.Gap{Rel: 1e-15}} {
		if got := remaining(points, stop); got != "about 5 s left" {
			t.Errorf("%v: %q", stop, got)
		}
	}
	if got := remaining(points, solvers.Iterations{Max: 5}); got != "" {
		t.Errorf("of a criterion without a number: %q", got)
	}
}

// BenchmarkLive is a run of some seconds, alone and watched.
func BenchmarkLive(b *testing.B) {
	c := Classify(datasets.Moons(1000, 0.35, 1)).Kernel(kernels.RBF(20)).C(3e4).Tol(1e-4)
	run := func(b *testing.B, watched bool) {
		for b.Loop() {
			t, err := c.prepare()
			if err != nil {
				b.Fatal(err)
			}
			settings := solvers.Settings{Stop: t.stop}
			w := t.watch(t)
			pictures := 0
			w.Next = w.Began.Add(screen.First)
			w.Send = func(c *display.Chart, _ bool) error { pictures++; _, err := echarts.DrawAs("x", c); return err }
			if watched {
				settings.Observers = []solvers.Observer{w.observe}
			}
			res, err := solvers.Solve(b.Context(), t.problem, t.method, settings)
			if err != nil {
				b.Fatal(err)
			}
			if watched {
				w.end(res)
			}
			b.ReportMetric(float64(pictures), "pictures")
		}
	}
	b.Run("alone", func(b *testing.B) { run(b, false) })
	b.Run("watched", func(b *testing.B) { run(b, true) })
}

// slow is a scene that takes its time.
type slow struct{}

func (slow) words() string { return "slow" }
func (slow) boundary(*solvers.Result, int) *figure.Boundary {
	time.Sleep(2 * liveSlow)
	return nil
}

// A boundary that takes long is computed on fewer nodes from then on, so that an
// interrupt finds time for the last one.
func TestSlowBoundary(t *testing.T) {
	m := Classify(datasets.Moons(20, 0.1, 1)).machine
	w := m.watch(slow{})
	if _, err := w.draw(&solvers.Result{Trace: solvers.Trace{Points: []solvers.Point{{Dual: 1, Primal: 2}}}}); err != nil {
		t.Fatal(err)
	}
	if w.work > liveField/2 {
		t.Errorf("the next one may take %d kernel values, the slow one had %d", w.work, liveField)
	}
	task, err := Classify(datasets.Moons(20, 0.1, 1)).prepare()
	if err != nil {
		t.Fatal(err)
	}
	res := &solvers.Result{Alpha: make([]float64, 20)}
	if coarse, fine := task.boundary(res, 1), task.boundary(res, liveField); len(coarse.Z)*len(coarse.Z[0]) > 100 || len(fine.Z)*len(fine.Z[0]) < 2000 {
		t.Errorf("%d and %d rows of nodes", len(coarse.Z), len(fine.Z))
	}
}

// The moments of a replay are log-spaced: the first, the last, and no more than
// asked for.
func TestMoments(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		tr := solvers.Trace{N: rapid.IntRange(1, 3000).Draw(r, "n")}
		step := rapid.SampledFrom([]int{0, 1, 7, 1000}).Draw(r, "every")
		for k, it := rapid.IntRange(1, 1500).Draw(r, "points"), 0; k > 0; k-- {
			tr.Points = append(tr.Points, solvers.Point{Iteration: it})
			if it += step; step == 0 {
				it += max(1, it/100)
			}
		}
		chosen, err := moments(&tr, 1600)
		if err != nil {
			r.Fatal(err)
		}
		if chosen[0] != 0 || chosen[len(chosen)-1] != len(tr.Points)-1 || len(chosen) > replayFrames || !slices.IsSorted(chosen) || len(slices.Compact(slices.Clone(chosen))) != len(chosen) {
			r.Fatalf("of %d points %v are chosen", len(tr.Points), chosen)
		}
		if tr.N < 100 && len(tr.Points) > 200 && len(chosen) < replayFrames/3 {
			r.Fatalf("of %d points only %d are chosen", len(tr.Points), len(chosen))
		}
	})
	if _, err := moments(&solvers.Trace{N: 3}, 0); err == nil {
		t.Error("an empty trace has moments")
	}
}

// Machines of several classes share one display, whose last picture is that of the
// largest gap; watched, they are the same machines.
func TestWatchManyClasses(t *testing.T) {
	iris := Classify(datasets.Iris()).Kernel(kernels.RBF(0.25)).C(10)
	for name, m := range map[string]MultiClassifier{"one against one": iris.OneVsOne(), "the rest": iris.OneVsRest(), "joint": iris.CrammerSinger()} {
		alone, err := m.Fit(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		task, err := m.prepare()
		if err != nil {
			t.Fatal(err)
		}
		screen := screen.New()
		charts := testkit.Shown(screen)
		task.base.stage = &stage{Screen: screen, total: max(1, len(task.duels))}
		fit, err := task.solve(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		x := datasets.Iris().X
		want, _ := alone.Decisions(datasets.Rows(x))
		got, _ := fit.Decisions(datasets.Rows(x))
		for i := range want {
			if !slices.Equal(got[i], want[i]) {
				t.Fatalf("%s: a watched run ends elsewhere", name)
			}
		}
		if len(*charts) < 2 {
			t.Fatalf("%s: %d pictures", name, len(*charts))
		}
		first, last := (*charts)[0], (*charts)[len(*charts)-1]
		if !strings.Contains(first.Title.Title, "is running") || !strings.Contains(last.Title.Title, "converged") {
			t.Errorf("%s: the titles go from %q to %q", name, first.Title.Title, last.Title.Title)
		}
		if count := fmt.Sprintf("%d of %[1]d machines done", len(task.duels)); len(task.duels) > 0 && !strings.Contains(last.Title.Subtitle, count) {
			t.Errorf("%s: the last picture says %q", name, last.Title.Subtitle)
		}
		for _, f := range fit.Machines() {
			if f.Description.stage != nil || f.task.stage != nil {
				t.Errorf("%s: a fit remembers its display", name)
			}
		}
	}
	if c, d := iris.OneVsOne(), iris.OneVsOne().Live(); c == d || d.String() != iris.Live().OneVsOne().String() {
		t.Errorf("Live makes %v of %v", d, c)
	}
}
