// Package screen has a display that changes while something runs.
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
	First       = 100 * time.Millisecond // a run that ends earlier has its last picture only
	Interval    = 240 * time.Millisecond
	Share       = 20              // pictures may take 1/Share of the time
	Line        = time.Second     // between updates of a terminal's line
	Memory      = 2000            // the largest number of points of a run that are kept
	liveLongest = 100 * time.Hour // longer estimates are not shown
)

// Screen is one display that changes. A goroutine of its own draws, one picture at a time.
// Pictures do not queue: if one cannot be drawn in time, it is omitted.
type Screen struct {
	Name    string // id of the chart: the same for all pictures of this screen, unique otherwise
	ID      string // of the display
	Send    func(c *display.Chart, last bool) error
	Began   time.Time
	Below   string     // HTML below the picture, for Explore
	Text    string     // the text that stands for Below
	drawing sync.Mutex // locked while a picture is drawn; protects Next
	Next    time.Time
}

// Watchable reports whether there is a notebook or a terminal to show something in.
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

// Unique returns a random name. Names must be unique in a page, and a page of JupyterLab
// may have displays of many notebooks and of many programs.
func Unique() string { return strings.ToLower(rand.Text()) }

// Ready reports whether it is time for the next picture. If it returns true, Show must
// follow.
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

// Show draws a picture in another goroutine.
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
	s.drawing.Lock() // never unlocked: no picture may follow
	s.picture(draw, true)
}

func (s *Screen) picture(draw func() (*display.Chart, error), last bool) {
	c, err := Drawn(draw)
	if err == nil && c != nil {
		err = s.Send(c, last)
	}
	if err != nil && last { // before the end, a picture may fail since there is not enough to draw yet
		fmt.Fprintln(os.Stderr, "svmnb: Live:", err)
	}
}

// Drawn calls draw and turns its panic, perhaps of a user's kernel, into an error.
func Drawn(draw func() (*display.Chart, error)) (c *display.Chart, err error) {
	defer guard.Caught(&err)
	return draw()
}

// display returns a function that sends pictures to the notebook. If the first picture of
// the screen carries the drawing library, the last one must carry it too: each picture
// replaces the one before, and the notebook saves only the last.
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

// line returns a function that overwrites one line of the terminal. A short run writes
// nothing.
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

// Note appends a point to those of a run. If there are too many, it keeps every second one.
// A point of the same iteration replaces the last one. Note never overwrites points, since
// a picture may be reading them.
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

// Headline returns a title and a progress line that say how far a run is, or how it ended.
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

// Until fits a line to the values v at the times t, in seconds, and says in how much time
// the line will reach the goal.
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
