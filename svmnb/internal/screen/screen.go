// Package screen is a display that changes while something runs.
package screen

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
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/echarts"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

const (
	First       = 100 * time.Millisecond // a shorter run has its last picture only
	Interval    = 240 * time.Millisecond
	Share       = 20              // a picture may take one part in so many of the time
	Line        = time.Second     // between lines where there is no notebook
	Memory      = 2000            // points of a run that are remembered
	liveLongest = 100 * time.Hour // more is no estimate
)

// Screen is one display that changes. Pictures are made beside the solver, one at a
// time, and there is no queue: what cannot be drawn in time is never drawn.
type Screen struct {
	Name    string // of the chart, the same in each picture and in no other's
	ID      string // of the display
	Send    func(c *display.Chart, last bool) error
	Began   time.Time
	Below   string     // HTML under the picture, and
	Text    string     // what stands for it; of Explore
	drawing sync.Mutex // held while a picture is made; guards next
	Next    time.Time
}

// Watchable reports whether there is anybody to show something to.
func Watchable() bool {
	info, err := os.Stderr.Stat()
	return gonbui.IsNotebook || err == nil && info.Mode()&os.ModeCharDevice != 0
}

// New returns a screen for the notebook, or for a line of the terminal.
func New() *Screen {
	s := &Screen{Name: Unique(), Began: time.Now()}
	s.Next = s.Began.Add(First)
	if gonbui.IsNotebook {
		s.ID = "svmnb-live-" + Unique()
		s.Send = s.display()
	} else {
		s.Next = s.Began.Add(Line)
		s.Send = s.line()
	}
	return s
}

// Unique returns a word that no other display has: each cell is a process of its own,
// and a page of JupyterLab has the displays of many notebooks.
func Unique() string { return strings.ToLower(rand.Text()) }

// Ready reports whether it is time for the next picture. If so, show must follow.
func (s *Screen) Ready() bool {
	if !s.drawing.TryLock() {
		return false
	}
	if time.Now().Before(s.Next) {
		s.drawing.Unlock()
		return false
	}
	return true
}

// Show draws beside the caller.
func (s *Screen) Show(draw func() (*display.Chart, error)) {
	go func() {
		defer s.drawing.Unlock()
		begun := time.Now()
		s.picture(draw, false)
		now := time.Now()
		s.Next = now.Add(max(Interval-now.Sub(begun), Share*now.Sub(begun)))
	}()
}

// End draws the last picture.
func (s *Screen) End(draw func() (*display.Chart, error)) {
	s.drawing.Lock() // and never unlocks: nothing may follow
	s.picture(draw, true)
}

func (s *Screen) picture(draw func() (*display.Chart, error), last bool) {
	c, err := Drawn(draw)
	if err == nil && c != nil {
		err = s.Send(c, last)
	}
	if err != nil && last { // too early for a picture is no error, too late is
		fmt.Fprintln(os.Stderr, "svmnb: Live:", err)
	}
}

// Drawn is a picture, whose drawing computes values of kernels that may panic.
func Drawn(draw func() (*display.Chart, error)) (c *display.Chart, err error) {
	defer guard.Caught(&err)
	return draw()
}

// display sends pictures to the notebook. The one that brings the drawing library is
// followed by others in its place, of which the last one must have it again, to be
// saved with it.
func (s *Screen) display() func(c *display.Chart, last bool) error {
	begun, carries := false, false
	return func(c *display.Chart, last bool) error {
		p, err := echarts.DrawAs(s.Name, c)
		if err != nil {
			return err
		}
		if !begun && echarts.Carries() {
			echarts.Brought.Do(func() { carries = true })
		}
		html := p.HTML + s.Below
		if carries && (!begun || last) {
			html += echarts.Library()
		}
		begun = true
		gonbui.SendData(&protocol.DisplayData{DisplayID: s.ID, Data: map[protocol.MIMEType]any{
			protocol.MIMETextHTML: html, protocol.MIMETextPlain: strings.TrimSpace(p.Text + "\n" + s.Text),
		}})
		if last {
			gonbui.Sync()
		}
		return gonbui.Error()
	}
}

// line writes over one line of a terminal. A run too short for one has none.
func (s *Screen) line() func(c *display.Chart, last bool) error {
	begun := false
	return func(c *display.Chart, last bool) error {
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

// Note appends a point to those of a run, of which every second one is forgotten
// when they are too many. A point that is measured again takes the place of the first
// measurement. It never writes where the points before are.
func Note[P any](points []P, pt P, iteration func(*P) int) []P {
	if k := len(points) - 1; k >= 0 && iteration(&points[k]) == iteration(&pt) {
		points = slices.Clone(points[:k])
	}
	if len(points) >= Memory {
		half := make([]P, 0, Memory)
		for k := 0; k < len(points); k += 2 {
			half = append(half, points[k])
		}
		points = half
	}
	return append(points, pt)
}

// Headline says how far a run is, or how it ended.
func Headline(method string, status solvers.Status, iterations int, elapsed time.Duration, state string, rest func() string) (title, progress string) {
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

// Until says when the line through the values v at the times t, in seconds, will have
// fallen to the goal.
func Until(t, v []float64, goal float64) string {
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
