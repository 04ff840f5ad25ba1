package figure

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/internal/contour"
	"pgregory.net/rapid"
)

// replayed is a run of m moments: every second point of the moons becomes a support
// vector, one after the other.
func replayed(t testing.TB, n, m int) ReplayData {
	base := moons(t, n, 1.2, 2).margins()
	d := ReplayData{Problem: "moons · RBF(2), C = 2", Method: "SMO", X: base.X, Y: base.Y, Upper: base.Upper, Edge: 1, Xs: base.Xs, Ys: base.Ys}
	for k := range m {
		share := float64(k) / float64(m-1)
		f := ReplayFrame{Iteration: 3 * k, Primal: 10 + 5/float64(k+1), Dual: 10 - 4/float64(k+1), KKT: 1 / float64(k+1), Working: []int{k % n, (k + 5) % n},
			Alpha: make([]float64, n), Margin: make([]float64, n)}
		for i := range f.Alpha {
			f.Alpha[i] = math.Min(share*base.Alpha[i], base.Upper[i])
			f.Margin[i] = base.Y[i] * base.F[i] * share
		}
		for _, row := range base.Z {
			z := make([]float64, len(row))
			for j, v := range row {
				z[j] = share * v
			}
			f.Z = append(f.Z, z)
		}
		d.Frames = append(d.Frames, f)
	}
	return d
}

// tubes is a regression's run.
func tubes(m int) ReplayData {
	d := ReplayData{Problem: "line", Method: "tube SMO", Regression: true, Xs: [2]float64{-0.1, 1.1}, Target: "height"}
	const n = 30
	for i := range n {
		x := float64(i) / (n - 1)
		d.X, d.Y, d.Upper = append(d.X, []float64{x}), append(d.Y, math.Sin(7*x)), append(d.Upper, 3)
	}
	for k := range m {
		share := float64(k) / float64(m-1)
		f := ReplayFrame{Iteration: k, Primal: 2, Dual: 1 + share, KKT: 1 - share, Epsilon: 0.2, Working: []int{k % n}}
		for i, y := range d.Y {
			f.Alpha, f.Margin = append(f.Alpha, share*3*math.Sin(float64(i))), append(f.Margin, (1-share)*y)
		}
		for j := range 40 {
			f.Curve = append(f.Curve, share*math.Sin(7*(-0.1+1.2*float64(j)/39)))
		}
		d.Frames = append(d.Frames, f)
	}
	return d
}

// stepped is a step that the box cuts off.
func stepped() StepData {
	return StepData{Problem: "moons · SMO", Iteration: 7, Points: [2]int{12, 45}, S: [2]float64{1, -1}, Upper: [2]float64{2, 2},
		Before: [2]float64{0.5, 1}, Unclipped: [2]float64{1.9, 2.4}, After: [2]float64{1.5, 2}, Gradient: [2]float64{1, 0.4}, Q: [2][2]float64{{1, -0.5}, {-0.5, 1}}}
}

// running is a run that is on.
func running(t testing.TB, n int) LiveData {
	m := moons(t, n, 1.2, 2)
	b, g := m.margins(), m.gap()
	return LiveData{Title: "SMO is running, about 4 s left", Problem: "moons", Progress: "100 iterations in 0.1 s", Points: g.Points, Tol: 1e-3,
		Boundary: &Boundary{X: b.X, Y: b.Y, Alpha: b.Alpha, Xs: b.Xs, Ys: b.Ys, Z: b.Z}}
}

func ascent() AscentData {
	return AscentData{Q: [2][2]float64{{1, -0.6}, {-0.6, 1}}, Path: [][2]float64{{2, -2}, {-1.2, -2}, {-1.2, -0.72}, {-0.432, -0.72}}}
}

// moving are the figures of runs.
func moving(t testing.TB) []*Chart {
	ok := must[*Chart](t)
	bare := replayed(t, 60, 9)
	bare.X = nil
	alone := running(t, 60)
	alone.Boundary, alone.Tol = nil, 0
	return []*Chart{
		ok(Replay(replayed(t, 120, 30))), ok(Replay(tubes(12))), ok(Replay(bare)), ok(Step(stepped())), ok(Ascent(ascent())), ok(Live(running(t, 120))), ok(Live(alone)),
	}
}

func TestMovingPictures(t *testing.T) {
	pictures(t, "moving", moving(t), []tip{
		{0, 3, 2, "iteration 87"}, {0, 3, 2, "y·f"}, {1, 1, 4, "residual"}, {1, 1, 4, "point 4"}, {2, 1, 0, "α"}, {3, 4, 0, "before"}, {3, 5, 0, "α₄₅ = 2"}, {4, 1, 1, "after step 1"}, {5, 1, 9, "largest KKT violation"}, {6, 1, 9, "iteration "},
	})
}

// The code of a moment says what α was: zero, inside, or at its bound, and how much.
func TestReplayDigits(t *testing.T) {
	read := func(s string) (v []int) {
		for i := 0; i < len(s); i += 2 {
			v = append(v, 64*strings.IndexByte(digitOrder, s[i])+strings.IndexByte(digitOrder, s[i+1]))
		}
		return v
	}
	rapid.Check(t, func(r *rapid.T) {
		c := rapid.Float64Range(1e-3, 1e6).Draw(r, "C")
		a := rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(0, c), rapid.SampledFrom([]float64{0, c, 1e-12 * c, (1 - 1e-6) * c})), 1, 30).Draw(r, "alpha")
		d := ReplayData{Method: "SMO", Edge: 1, Frames: []ReplayFrame{{Iteration: 1, Alpha: a, Margin: make([]float64, len(a))}}}
		for range a {
			d.Y, d.Upper = append(d.Y, 1), append(d.Upper, c)
		}
		chart, err := Replay(d)
		if err != nil {
			r.Fatal(err)
		}
		for i, code := range read(chart.Extra["svm"].(object)["frames"].(list)[0].(object)["a"].(string)) {
			v := float64(code-2047) / 2047
			if (a[i] == 0) != (v == 0) || (a[i] == c) != (v == 1) || math.Abs(v*c-a[i]) > c/2047 {
				r.Fatalf("α = %v of %v is written as %v", a[i], c, v*c)
			}
		}
	})
}

// The paths of a moment are those of the field: read back they are what contour
// has made.
func TestDigitPaths(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var want [][][2]int
		var steps [][]int
		for range rapid.IntRange(0, 3).Draw(r, "paths") {
			var path [][2]int
			var s []int
			x, y := 0, 0
			for range rapid.IntRange(1, 8).Draw(r, "places") {
				p := [2]int{rapid.IntRange(0, contour.Fineness).Draw(r, "x"), rapid.IntRange(0, contour.Fineness).Draw(r, "y")}
				path, s, x, y = append(path, p), append(s, p[0]-x, p[1]-y), p[0], p[1]
			}
			want, steps = append(want, path), append(steps, s)
		}
		text := digitPaths(steps)
		for k, part := range strings.Fields(text) {
			for i, p := range want[k] {
				for j, v := range p {
					at := part[4*i+2*j:]
					if got := 64*strings.IndexByte(digitOrder, at[0]) + strings.IndexByte(digitOrder, at[1]); got != v {
						r.Fatalf("place %d of path %d is %d, want %d", i, k, got, v)
					}
				}
			}
		}
		if n := len(strings.Fields(text)); n != len(steps) {
			r.Fatalf("%d paths, want %d", n, len(steps))
		}
	})
}

// A field with very many lines leaves moments out, not the last.
func TestReplayFits(t *testing.T) {
	d := replayed(t, 60, 40)
	for k := range d.Frames {
		for i, row := range d.Frames[k].Z {
			for j := range row {
				row[j] = 2 * math.Sin(float64(k+3*i*i+5*j*j))
			}
		}
	}
	c := must[*Chart](t)(Replay(d))
	frames := c.Extra["svm"].(object)["frames"].(list)
	if n := size(t, c); n > 500_000 || len(frames) == len(d.Frames) || len(frames) < 2 {
		t.Errorf("%d of %d moments take %d bytes", len(frames), len(d.Frames), n)
	}
	if last := frames[len(frames)-1].(object)["i"]; last != d.Frames[39].Iteration {
		t.Errorf("the last moment is iteration %v", last)
	}
}

func TestLiveIsSmall(t *testing.T) {
	c := must[*Chart](t)(Live(running(t, 600)))
	if n := size(t, c); n > 40_000 {
		t.Errorf("a picture of a run takes %d bytes, several times a second", n)
	}
	var o struct{ Series []struct{ ID string } }
	if err := json.Unmarshal(must[[]byte](t)(json.Marshal(c.JSON())), &o); err != nil {
		t.Fatal(err)
	}
	for i, s := range o.Series {
		if s.ID == "" {
			t.Errorf("series %d has no id, so the next picture cannot take its place", i)
		}
	}
}

// Step says which of the four cases a step is.
func TestStepCases(t *testing.T) {
	for _, c := range []struct {
		s      [2]float64
		before [2]float64
		which  int
	}{
		{[2]float64{1, 1}, [2]float64{0.5, 0.5}, 0}, {[2]float64{-1, -1}, [2]float64{1.5, 1.5}, 1},
		{[2]float64{1, -1}, [2]float64{1.5, 0.5}, 2}, {[2]float64{1, -1}, [2]float64{1, 1}, 2}, {[2]float64{-1, 1}, [2]float64{0.5, 1.5}, 3},
	} {
		d := stepped()
		d.S, d.Before = c.s, c.before
		if got := must[*Chart](t)(Step(d)).Extra["svm"].(object)["which"]; got != c.which {
			t.Errorf("labels %v at %v are case %v, want %v", c.s, c.before, got, c.which)
		}
	}
	if title := must[*Chart](t)(Step(stepped())).Title.Title; !strings.Contains(title, "cut off by the box at α₄₅ = 2") {
		t.Errorf("the title is %q", title)
	}
	none := stepped()
	none.Unclipped = [2]float64{math.NaN(), math.NaN()}
	if sub := must[*Chart](t)(Step(none)).Title.Subtitle; !strings.Contains(sub, "no maximum on the line") {
		t.Errorf("the subtitle is %q", sub)
	}
}

func TestWrongMovingInput(t *testing.T) {
	replay := func(change func(d *ReplayData)) func() (*Chart, error) {
		return func() (*Chart, error) { d := replayed(t, 20, 3); change(&d); return Replay(d) }
	}
	regression := func(change func(d *ReplayData)) func() (*Chart, error) {
		return func() (*Chart, error) { d := tubes(3); change(&d); return Replay(d) }
	}
	step := func(change func(d *StepData)) func() (*Chart, error) {
		return func() (*Chart, error) { d := stepped(); change(&d); return Step(d) }
	}
	live := func(change func(d *LiveData)) func() (*Chart, error) {
		return func() (*Chart, error) { d := running(t, 20); change(&d); return Live(d) }
	}
	climb := func(change func(d *AscentData)) func() (*Chart, error) {
		return func() (*Chart, error) { d := ascent(); change(&d); return Ascent(d) }
	}
	nan, inf := math.NaN(), math.Inf(1)
	for field, draw := range map[string]func() (*Chart, error){
		"Y":                   replay(func(d *ReplayData) { d.Y = nil }),
		"Frames":              replay(func(d *ReplayData) { d.Frames = nil }),
		"Ridge":               replay(func(d *ReplayData) { d.Ridge = nan }),
		"X":                   replay(func(d *ReplayData) { d.X = d.X[1:] }),
		"X[3]":                replay(func(d *ReplayData) { d.X[3] = []float64{1} }),
		"X[3][1]":             replay(func(d *ReplayData) { d.X[3] = []float64{1, nan} }),
		"Upper":               replay(func(d *ReplayData) { d.Upper = nil }),
		"Xs":                  replay(func(d *ReplayData) { d.Xs = [2]float64{1, 1} }),
		"Frames[1].Iteration": replay(func(d *ReplayData) { d.Frames[1].Iteration = 0 }),
		"Frames[2].Alpha[5]":  replay(func(d *ReplayData) { d.Frames[2].Alpha[5] = inf }),
		"Frames[2].Margin":    replay(func(d *ReplayData) { d.Frames[2].Margin = nil }),
		"Frames[0].Working":   replay(func(d *ReplayData) { d.Frames[0].Working = []int{20} }),
		"Frames[0].Epsilon":   replay(func(d *ReplayData) { d.Frames[0].Epsilon = nan }),
		"Frames[1].Z[0][2]":   replay(func(d *ReplayData) { d.Frames[1].Z[0][2] = nan }),
		"Frames[1].Curve":     regression(func(d *ReplayData) { d.Frames[1].Curve = nil }),
		"Frames[1].Curve[4]":  regression(func(d *ReplayData) { d.Frames[1].Curve[4] = inf }),
		"Iteration":           step(func(d *StepData) { d.Iteration = 0 }),
		"Points[1]":           step(func(d *StepData) { d.Points[1] = -1 }),
		"S[0]":                step(func(d *StepData) { d.S[0] = 0 }),
		"Upper[1]":            step(func(d *StepData) { d.Upper[1] = nan }),
		"Gradient[0]":         step(func(d *StepData) { d.Gradient[0] = inf }),
		"Points":              live(func(d *LiveData) { d.Points = nil }),
		"Points[1].Iteration": live(func(d *LiveData) { d.Points = []solvers.Point{{Iteration: 1}, {Iteration: 1}} }),
		"Tol":                 live(func(d *LiveData) { d.Tol = -1 }),
		"Boundary.Z[0][0]":    live(func(d *LiveData) { d.Boundary.Z[0][0] = nan }),
		"Path":                climb(func(d *AscentData) { d.Path = nil }),
		"Path[1][0]":          climb(func(d *AscentData) { d.Path[1][0] = nan }),
		"Q":                   climb(func(d *AscentData) { d.Q[0][1] = 2 }),
	} {
		_, err := draw()
		var input *InputError
		if !errors.As(err, &input) || input.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}
