package screen

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/svmnb/svmnb/svmnb/display"
	"pgregory.net/rapid"
)

// A picture is made only when it is time, one at a time.
func TestScreenIsThrottled(t *testing.T) {
	s := New()
	drawn := 0
	s.Send = func(*display.Chart, bool) error { drawn++; return nil }
	s.Next = time.Now().Add(time.Hour)
	if s.Ready() {
		t.Error("it is ready before its time")
	}
	s.Next = time.Time{}
	if !s.Ready() {
		t.Fatal("it is not ready when it is time")
	}
	if s.Ready() {
		t.Error("it is ready while a picture is made")
	}
	s.Show(func() (*display.Chart, error) { return nil, nil }) // nothing to see yet
	s.drawing.Lock()
	if !s.Next.After(time.Now()) {
		t.Error("the next picture may follow at once")
	}
	s.drawing.Unlock()
	if s.Ready() {
		t.Error("two pictures follow each other at once")
	}
	s.End(func() (*display.Chart, error) { return nil, errors.New("nothing") })
	if s.Ready() || drawn > 0 {
		t.Error("something follows the end")
	}
}

func TestUntil(t *testing.T) {
	falling := func(rate, goal float64) string { // from 1, ten times in 10 s
		var at, v []float64
		for k := range 11 {
			at, v = append(at, float64(k)), append(v, -rate*float64(k))
		}
		return Until(at, v, goal)
	}
	for _, c := range []struct {
		rate, goal float64
		want       string
	}{
		{1, -14, "about 4 s left"}, {1, -10.5, "about a second left"}, {1, -5, "about a second left"}, {1, -57, "about 50 s left"},
		{0.1, -103, "about 17 min left"}, {0.01, -100, "about 3 h left"}, {1e-6, -100, ""}, {0, -1, ""}, {-1, -1, ""}, {math.NaN(), -1, ""}, {1, math.NaN(), ""}, {1, math.Inf(-1), ""},
	} {
		if got := falling(c.rate, c.goal); got != c.want {
			t.Errorf("falling by %v to %v: %q, want %q", c.rate, c.goal, got, c.want)
		}
	}
	if got := Until([]float64{1, 2}, []float64{0, -1}, -5); got != "" {
		t.Errorf("of two points: %q", got)
	}
	if got := Until([]float64{1, 1, 1, 1, 1}, []float64{5, 4, 3, 2, 1}, 0); got != "" {
		t.Errorf("of one moment: %q", got)
	}
}

// note keeps the last points of a run within bounds and leaves what others may be
// reading as it is.
func TestNote(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(1, 3*Memory).Draw(r, "points")
		again := rapid.IntRange(2, 9).Draw(r, "measured again") // each so many-th
		hold := rapid.IntRange(0, n-1).Draw(r, "held")
		var points, held, copied []int
		at := 0
		for k := range n {
			if k%again > 0 {
				at++
			}
			points = Note(points, at, func(p *int) int { return *p })
			if points[len(points)-1] != at || len(points) > Memory+1 || !slices.IsSorted(points) {
				r.Fatalf("after %d points there are %d, the last is %d", k+1, len(points), points[len(points)-1])
			}
			if k == hold {
				held, copied = points, slices.Clone(points)
			}
		}
		if !slices.Equal(held, copied) {
			r.Fatal("points that may be read have changed")
		}
	})
}
