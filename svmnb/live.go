package svmnb

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/svmnb/svmnb/internal/vec"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/runs"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/screen"
)

const (
	liveField = 300_000                // kernel values for the field of a picture
	liveSlow  = 200 * time.Millisecond // longest time that a field may take
)

// scene tells the live picture what the run solves.
type scene interface {
	words() string
	// boundary returns the boundary of the classes, computed with at most work kernel
	// values; nil if it cannot be drawn.
	boundary(res *solvers.Result, work int) *figure.Boundary
}

// watch shows the run of a machine.
type watch struct {
	*screen.Screen
	m      *machine
	name   string // of the method
	stage  *stage // the display that several machines share, or nil
	scene  scene
	points []solvers.Point // a picture may be reading these points, so they are only appended
	work   int             // kernel values for the field of the next picture
	diag   float64         // the largest |K|
}

func (m *machine) watch(s scene) *watch {
	w := &watch{m: m, name: m.method.Name(), stage: m.stage, scene: s, work: liveField}
	if m.stage != nil {
		w.Screen = m.stage.Screen
	} else {
		w.Screen = screen.New()
	}
	return w
}

// stage is the display that the machines of a classifier of several classes share. When a
// new picture is due, it shows the next machine that reports. At the end it shows the
// machine with the largest gap.
type stage struct {
	*screen.Screen
	total int

	mu    sync.Mutex
	done  int
	worst *watch
	res   *solvers.Result
}

// over notes that a machine has ended.
func (s *stage) over(w *watch, res *solvers.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done++
	if res != nil && (s.res == nil || !(res.Certificate.Gap <= s.res.Certificate.Gap)) {
		s.worst, s.res = w, res
	}
}

// progress says how many machines have ended.
func (s *stage) progress() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprintf("%d of %d machines done", s.done, s.total)
}

// end shows the machine with the largest gap. It shows nothing if all fits were loaded from
// the cache.
func (s *stage) end() {
	s.Screen.End(func() (*display.Chart, error) {
		if s.res == nil {
			return nil, nil
		}
		return s.worst.draw(s.res)
	})
}

// over ends the display, or notes the end of this machine in the shared display.
func (w *watch) over(res *solvers.Result) {
	if w.stage != nil {
		w.stage.over(w, res)
		return
	}
	w.end(res)
}

// observe is the observer of the run.
func (w *watch) observe(it *solvers.Iterate, pt *solvers.Point) {
	w.points = screen.Note(w.points, *pt, func(p *solvers.Point) int { return p.Iteration })
	if !w.Ready() {
		return
	}
	state := &solvers.Result{
		Method: w.name, Alpha: slices.Clone(it.Alpha), Iterations: pt.Iteration, Elapsed: pt.Elapsed,
		Certificate: solvers.Certificate{Bias: pt.Bias}, Trace: solvers.Trace{Points: w.points},
	}
	if it.F != nil && !it.Rough && !math.IsNaN(pt.Gap) { // then the band of labels that could change is known
		state.F = slices.Clone(it.F)
		c := &state.Certificate
		c.Gap, c.Equality, c.Rounding = pt.Gap, pt.Equality, roundingOf(it, w.diag)
	}
	w.Show(func() (*display.Chart, error) { return w.draw(state) })
}

// roundingOf returns how far rounding of kernel values up to diag may have moved F. For an F in
// single precision it takes the errors to be independent, which is no bound; such an F is
// computed afresh before a run ends.
func roundingOf(it *solvers.Iterate, diag float64) float64 {
	if it.Single {
		return 0x1p-22 * diag * math.Sqrt(vec.Dot(it.Alpha, it.Alpha))
	}
	return 0x1p-48 * diag * sum(it.Alpha) // a few roundings of each step
}

// end shows the result, unless it is nil.
func (w *watch) end(res *solvers.Result) {
	w.Screen.End(func() (*display.Chart, error) {
		if res == nil {
			return nil, nil
		}
		return w.draw(res)
	})
}

// draw draws a run. Its Status is NotTerminated while it goes on.
func (w *watch) draw(res *solvers.Result) (*display.Chart, error) {
	points := res.Trace.Points
	if len(points) == 0 {
		return nil, nil
	}
	last := points[len(points)-1]
	begun := time.Now()
	d := figure.LiveData{Problem: w.scene.words(), Points: points, Boundary: w.scene.boundary(res, w.work)}
	if took := time.Since(begun); took > liveSlow { // an interrupt must not wait for a slow picture
		w.work = int(float64(w.work) * float64(liveSlow) / float64(took))
	}
	switch stop := w.m.stop.(type) {
	case solvers.UpLow:
		d.Tol, d.TolName = stop.Tol/2, fmt.Sprintf("violation %.2g: done", stop.Tol/2)
	case solvers.KKT:
		d.Tol, d.TolName = stop.Tol, fmt.Sprintf("violation %.2g: done", stop.Tol)
	case solvers.Gap:
		if tol, _ := runs.GoodGap(stop, last.Primal); tol > 0 {
			d.Tol, d.TolName = tol, fmt.Sprintf("gap %.2g: done", tol)
		}
	}
	gap := ""
	if !math.IsNaN(last.Gap) {
		gap = fmt.Sprintf("the gap is %s, %s of the primal", strings.NewReplacer("e+0", "e", "e+", "e", "e−0", "e−").Replace(say.Signed(last.Gap, 2)), say.Percent(last.RelGap))
	}
	d.Title, d.Progress = screen.Headline(res.Method, res.Status, res.Iterations, res.Elapsed, gap, func() string { return remaining(points, w.m.stop) })
	if s := w.stage; s != nil && s.total > 1 {
		d.Progress += ", " + s.progress()
		if res.Status != solvers.NotTerminated {
			d.Title = "The machine with the largest gap, " + d.Title
		}
	}
	return figure.Live(d)
}

// remaining estimates how long a run will still take. It fits a line to the logarithm of
// the number that the criterion watches, over the second half of the time so far, and
// extends the line to the tolerance. It returns "" if this is not possible.
func remaining(points []solvers.Point, stop solvers.Criterion) string {
	var t, v []float64
	var goal float64
	for _, pt := range points {
		var now float64
		switch stop := stop.(type) {
		case solvers.UpLow:
			now, goal = pt.Up-pt.Low, stop.Tol
		case solvers.KKT:
			now, goal = pt.KKT, stop.Tol
		case solvers.Gap:
			now, goal = pt.RelGap, stop.Rel
		default:
			return ""
		}
		if 2*pt.Elapsed > points[len(points)-1].Elapsed && now > 0 && !math.IsInf(now, 1) {
			t, v = append(t, pt.Elapsed.Seconds()), append(v, math.Log(now))
		}
	}
	return screen.Until(t, v, math.Log(goal))
}

// boundary returns the boundary of a classifier of two features. A ν-SVC that still runs
// has no ρ yet, so its f is not scaled.
func (t *task) boundary(res *solvers.Result, work int) *figure.Boundary {
	if !t.plane() {
		return nil
	}
	fit := t.fit(res)
	b := &figure.Boundary{
		Features: [2]string{t.data.FeatureName(0), t.data.FeatureName(1)}, Classes: [2]string{say.Class(t.negative), say.Class(t.positive)},
		X: t.data.X, Y: t.y, Alpha: res.Alpha, Xs: figure.Around(t.data.X, 0), Ys: figure.Around(t.data.X, 1),
		Unscaled: t.margin == nuSoft && res.Status == solvers.NotTerminated,
	}
	nodes := grid(b.Xs, b.Ys, min(max(work/max(len(fit.expansion.Coef), 1), 100), 2500))
	b.Z = fieldOver(&fit.expansion, nodes)
	b.Band = fit.bandOver(slices.Concat(nodes...), b.Z, work)
	return b
}

func (t *regression) boundary(*solvers.Result, int) *figure.Boundary { return nil }
