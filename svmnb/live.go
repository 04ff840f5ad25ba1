package svmnb

import (
	"crypto/rand"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/internal/echarts"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

const (
	liveFirst    = 100 * time.Millisecond // a shorter run has its last picture only
	liveInterval = 240 * time.Millisecond
	liveShare    = 20                     // a picture may take one part in so many of the time
	liveLine     = time.Second            // between lines where there is no notebook
	liveField    = 300_000                // kernel values of a picture's field, and
	liveSlow     = 200 * time.Millisecond // more than that it shall not take
	liveMemory   = 2000                   // points of a run that are remembered
	liveLongest  = 100 * time.Hour        // more is no estimate
)

// screen is one display that changes. Pictures are made beside the solver, one at a
// time, and there is no queue: what cannot be drawn in time is never drawn.
type screen struct {
	name    string // of the chart, the same in each picture and in no other's
	id      string // of the display
	send    func(c *Chart, last bool) error
	began   time.Time
	below   string     // HTML under the picture, and
	text    string     // what stands for it; of Explore
	drawing sync.Mutex // held while a picture is made; guards next
	next    time.Time
}

// watchable reports whether there is anybody to show something to.
func watchable() bool {
	info, err := os.Stderr.Stat()
	return gonbui.IsNotebook || err == nil && info.Mode()&os.ModeCharDevice != 0
}

func newScreen() *screen {
	s := &screen{name: unique(), began: time.Now()}
	s.next = s.began.Add(liveFirst)
	if gonbui.IsNotebook {
		s.id = "svmnb-live-" + unique()
		s.send = s.display()
	} else {
		s.next = s.began.Add(liveLine)
		s.send = s.line()
	}
	return s
}

// unique returns a word that no other display has: each cell is a process of its own,
// and a page of JupyterLab has the displays of many notebooks.
func unique() string { return strings.ToLower(rand.Text()) }

// ready reports whether it is time for the next picture. If so, show must follow.
func (s *screen) ready() bool {
	if !s.drawing.TryLock() {
		return false
	}
	if time.Now().Before(s.next) {
		s.drawing.Unlock()
		return false
	}
	return true
}

// show draws beside the caller.
func (s *screen) show(draw func() (*Chart, error)) {
	go func() {
		defer s.drawing.Unlock()
		begun := time.Now()
		s.picture(draw, false)
		now := time.Now()
		s.next = now.Add(max(liveInterval-now.Sub(begun), liveShare*now.Sub(begun)))
	}()
}

// end draws the last picture.
func (s *screen) end(draw func() (*Chart, error)) {
	s.drawing.Lock() // and never unlocks: nothing may follow
	s.picture(draw, true)
}

func (s *screen) picture(draw func() (*Chart, error), last bool) {
	c, err := drawn(draw)
	if err == nil && c != nil {
		err = s.send(c, last)
	}
	if err != nil && last { // too early for a picture is no error, too late is
		fmt.Fprintln(os.Stderr, "svmnb: Live:", err)
	}
}

// drawn is a picture, whose drawing computes values of kernels that may panic.
func drawn(draw func() (*Chart, error)) (c *Chart, err error) {
	defer caught(&err)
	return draw()
}

// display sends pictures to the notebook. The one that brings the drawing library is
// followed by others in its place, of which the last one must have it again, to be
// saved with it.
func (s *screen) display() func(c *Chart, last bool) error {
	begun, carries := false, false
	return func(c *Chart, last bool) error {
		p, err := echarts.DrawAs(s.name, c)
		if err != nil {
			return err
		}
		if !begun && carry() {
			brought.Do(func() { carries = true })
		}
		html := p.HTML + s.below
		if carries && (!begun || last) {
			html += echarts.Library()
		}
		begun = true
		gonbui.SendData(&protocol.DisplayData{DisplayID: s.id, Data: map[protocol.MIMEType]any{
			protocol.MIMETextHTML: html, protocol.MIMETextPlain: strings.TrimSpace(p.Text + "\n" + s.text),
		}})
		if last {
			gonbui.Sync()
		}
		return gonbui.Error()
	}
}

// line writes over one line of a terminal. A run too short for one has none.
func (s *screen) line() func(c *Chart, last bool) error {
	begun := false
	return func(c *Chart, last bool) error {
		if last && !begun {
			return nil
		}
		end := ""
		if last {
			end = "\n"
		}
		fmt.Fprintf(os.Stderr, "\r\x1b[Ksvmnb: %s%s", c.Title.Title, end)
		begun = true
		return nil
	}
}

// scene is what a run is about, as far as its picture needs to know.
type scene interface {
	words() string
	// boundary may compute so many kernel values; nil where there is none to see.
	boundary(res *solvers.Result, work int) *figure.Boundary
}

// watch shows a run of a machine.
type watch struct {
	*screen
	m      *machine
	name   string // of the method
	stage  *stage // that it shares, or nil
	scene  scene
	points []solvers.Point // what is there is never changed: a picture may be reading
	work   int             // kernel values of the next picture
}

func (m *machine) watch(s scene) *watch {
	w := &watch{m: m, name: m.method.Name(), stage: m.stage, scene: s, work: liveField}
	if m.stage != nil {
		w.screen = m.stage.screen
	} else {
		w.screen = newScreen()
	}
	return w
}

// stage is a display that the machines of a classifier of several classes share: the
// picture is that of the machine that has reported when it was time for one, and at the
// end that of the machine with the largest gap.
type stage struct {
	*screen
	total int

	mu    sync.Mutex
	done  int
	worst *watch
	res   *solvers.Result
}

// over counts a machine that has ended.
func (s *stage) over(w *watch, res *solvers.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done++
	if res != nil && (s.res == nil || res.Certificate.Gap > s.res.Certificate.Gap) {
		s.worst, s.res = w, res
	}
}

// progress says how many machines have ended.
func (s *stage) progress() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprintf("%d of %d machines done", s.done, s.total)
}

// end shows the machine with the largest gap; nothing where none was solved, since all
// were remembered.
func (s *stage) end() {
	s.screen.end(func() (*Chart, error) {
		if s.res == nil {
			return nil, nil
		}
		return s.worst.draw(s.res)
	})
}

// over ends the display, or leaves it to the next machine.
func (w *watch) over(res *solvers.Result) {
	if w.stage != nil {
		w.stage.over(w, res)
		return
	}
	w.end(res)
}

// observe is an observer of the run.
func (w *watch) observe(it *solvers.Iterate, pt *solvers.Point) {
	w.points = note(w.points, *pt, func(p *solvers.Point) int { return p.Iteration })
	if !w.ready() {
		return
	}
	state := &solvers.Result{
		Method: w.name, Alpha: slices.Clone(it.Alpha), Iterations: pt.Iteration, Elapsed: pt.Elapsed,
		Certificate: solvers.Certificate{Bias: pt.Bias}, Trace: solvers.Trace{Points: w.points},
	}
	w.show(func() (*Chart, error) { return w.draw(state) })
}

// note appends a point to those of a run, of which every second one is forgotten
// when they are too many. A point that is measured again takes the place of the first
// measurement. It never writes where the points before are.
func note[P any](points []P, pt P, iteration func(*P) int) []P {
	if k := len(points) - 1; k >= 0 && iteration(&points[k]) == iteration(&pt) {
		points = slices.Clone(points[:k])
	}
	if len(points) >= liveMemory {
		half := make([]P, 0, liveMemory)
		for k := 0; k < len(points); k += 2 {
			half = append(half, points[k])
		}
		points = half
	}
	return append(points, pt)
}

// end shows what has come out; nil when nothing has.
func (w *watch) end(res *solvers.Result) {
	w.screen.end(func() (*Chart, error) {
		if res == nil {
			return nil, nil
		}
		return w.draw(res)
	})
}

// draw draws a run that is on, whose Status is NotTerminated, or over.
func (w *watch) draw(res *solvers.Result) (*Chart, error) {
	points := res.Trace.Points
	if len(points) == 0 {
		return nil, nil
	}
	last := points[len(points)-1]
	begun := time.Now()
	d := figure.LiveData{Problem: w.scene.words(), Points: points, Boundary: w.scene.boundary(res, w.work)}
	if took := time.Since(begun); took > liveSlow { // an interrupt leaves no time for that
		w.work = int(float64(w.work) * float64(liveSlow) / float64(took))
	}
	switch stop := w.m.stop.(type) {
	case solvers.UpLow:
		d.Tol, d.TolName = stop.Tol/2, fmt.Sprintf("violation %.2g: done", stop.Tol/2)
	case solvers.KKT:
		d.Tol, d.TolName = stop.Tol, fmt.Sprintf("violation %.2g: done", stop.Tol)
	case solvers.Gap:
		if tol, _ := goodGap(stop, last.Primal); tol > 0 {
			d.Tol, d.TolName = tol, fmt.Sprintf("gap %.2g: done", tol)
		}
	}
	gap := ""
	if !math.IsNaN(last.Gap) {
		gap = fmt.Sprintf("the gap is %s, %s of the primal", strings.NewReplacer("e+0", "e", "e+", "e", "e−0", "e−").Replace(say.Signed(last.Gap, 2)), say.Percent(last.RelGap))
	}
	d.Title, d.Progress = headline(res.Method, res.Status, res.Iterations, res.Elapsed, gap, func() string { return remaining(points, w.m.stop) })
	if s := w.stage; s != nil && s.total > 1 {
		d.Progress += ", " + s.progress()
		if res.Status != solvers.NotTerminated {
			d.Title = "The machine with the largest gap, " + d.Title
		}
	}
	return figure.Live(d)
}

// headline says how far a run is, or how it ended.
func headline(method string, status solvers.Status, iterations int, elapsed time.Duration, state string, rest func() string) (title, progress string) {
	progress = fmt.Sprintf("%s iterations in %s", say.Thousands(int64(iterations)), say.Spell(elapsed))
	if iterations == 1 {
		progress = "1 iteration in " + say.Spell(elapsed)
	}
	if status == solvers.NotTerminated {
		return strings.Join(slices.DeleteFunc([]string{method + " is running", state, rest()}, func(s string) bool { return s == "" }), ", "), progress
	}
	title = fmt.Sprintf("%s: %s", method, status)
	if state != "" {
		title += ", " + state
	}
	return title, progress
}

// remaining says about how long a run will take, from the line that the logarithm of
// what its criterion watches has followed in the second half of the time; "" where
// there is no such line.
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
	return until(t, v, math.Log(goal))
}

// until says when the line through the values v at the times t, in seconds, will have
// fallen to the goal.
func until(t, v []float64, goal float64) string {
	n := float64(len(t))
	if n < 5 {
		return ""
	}
	var mt, mv, tt, tv float64
	for i := range t {
		mt, mv = mt+t[i]/n, mv+v[i]/n
	}
	for i := range t {
		tt, tv = tt+(t[i]-mt)*(t[i]-mt), tv+(t[i]-mt)*(v[i]-mv)
	}
	slope, now := tv/tt, t[len(t)-1]
	left := time.Duration(math.MaxInt64)
	if s := mt + (goal-mv)/slope - now; slope < 0 && s < liveLongest.Seconds() {
		left = time.Duration(s * float64(time.Second))
	}
	switch {
	case left > liveLongest:
		return ""
	case left < time.Second:
		return "about a second left"
	case left < 20*time.Second:
		return fmt.Sprintf("about %.0f s left", left.Seconds())
	case left < 2*time.Minute:
		return fmt.Sprintf("about %.0f s left", 10*math.Round(left.Seconds()/10))
	case left < 2*time.Hour:
		return fmt.Sprintf("about %.0f min left", left.Minutes())
	}
	return fmt.Sprintf("about %.0f h left", left.Hours())
}

// boundary is where a classifier of two features stands. A running one has no ρ yet,
// which scales the f of a ν-SVC.
func (t *task) boundary(res *solvers.Result, work int) *figure.Boundary {
	if !t.plane() {
		return nil
	}
	fit := t.fit(res)
	b := &figure.Boundary{
		Features: [2]string{t.data.FeatureName(0), t.data.FeatureName(1)}, Classes: [2]string{say.Class(t.negative), say.Class(t.positive)},
		X: t.data.X, Y: t.y, Alpha: res.Alpha, Xs: around(t.data.X, 0), Ys: around(t.data.X, 1),
		Unscaled: t.margin == nuSoft && res.Status == solvers.NotTerminated,
	}
	b.Z = fit.field(b.Xs, b.Ys, min(max(work/max(len(fit.coef), 1), 100), 2500))
	return b
}

func (t *regression) boundary(*solvers.Result, int) *figure.Boundary { return nil }
