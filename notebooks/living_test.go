package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-rod/rod/lib/input"
	"github.com/go-rod/rod/lib/proto"
	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/browsertest"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/living"
)

// livingPage writes a page with figures as a reader of docs/living-pages.md does, and
// returns its folder.
func livingPage(t testing.TB, figures string) string {
	t.Helper()
	dir := t.TempDir()
	script, err := living.Script()
	if err != nil {
		t.Fatal(err)
	}
	engine, err := livingEngine(t.Context(), "..")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"living.js": script, living.EngineFile: "window.svmnbLivingEngine = " + engine + ";\n",
		"page.html": "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><link rel=\"icon\" href=\"data:,\"><title>A page</title></head>\n<body><main>\n<script src=\"living.js\"></script>\n" + figures + "\n</main></body></html>\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// rested waits until a figure, f in JavaScript, shows its final picture of what it was asked.
func rested(p *browsertest.Page, f string) {
	p.Until(strings.ReplaceAll(restedNow, fig, f))
}

const (
	fig = `document.querySelector('svmnb-figure')`

	// restedNow says that the figure shows its final picture of what it was asked.
	restedNow = fig + `.asked && !` + fig + `.busy() && ` + fig + `.rested() && ` + fig + `.answer.converged`
)

// From a file and from a server, a page costs nothing until a reader touches a figure; then
// the engine answers, and its certificate is that of the library.
func TestLivingFigure(t *testing.T) {
	t.Parallel()
	dir := livingPage(t, `<svmnb-figure data="moons" id="one"></svmnb-figure>`+"\n"+`<svmnb-figure data="sinc"></svmnb-figure>`)
	asked := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Path
		http.FileServer(http.Dir(dir)).ServeHTTP(w, r)
	}))
	defer server.Close()
	fit := svmnb.Classify(datasets.Moons(120, 0.2, 42)).Kernel(kernels.RBF(2)).C(10).SMO().MustFit()
	for _, address := range []string{filepath.Join(dir, "page.html"), server.URL + "/page.html"} {
		p := browsertest.Open(t, address, browsertest.Options{Offline: true, Height: 1400})
		var words string
		p.Until(fig + `.answer`)
		p.Do(&words, `const f = `+fig+`; return f.still + ' ' + f.shadowRoot.querySelector('.title').textContent`)
		if words != "true 17 of 120 points carry the boundary: 14 free, 3 at the bound; 1 error" {
			t.Errorf("at first: %s", words)
		}
		for len(asked) > 0 {
			if path := <-asked; path == "/"+living.EngineFile {
				t.Error("the engine is loaded before a reader touches a figure")
			}
		}
		p.Do(nil, fig+`.ask()`)
		rested(p, fig)
		var got struct {
			Gap, Primal, Dual, Bias, MaxKKT float64
			Iterations                      int
			Alpha                           []float64
			Hash, Code                      string
		}
		p.Do(&got, `const f = `+fig+`, a = f.answer; return {gap: a.gap, primal: a.primal, dual: a.dual, bias: a.bias, maxkkt: a.maxkkt, iterations: a.iterations, alpha: Array.from(a.alpha), hash: location.hash, code: f.code.textContent}`)
		c := fit.Certificate
		for i, v := range got.Alpha {
			if math.Abs(v-fit.Alpha[i]) > 1e-9 {
				t.Fatalf("%s: α[%d] is %g, the library has %g", address, i, v, fit.Alpha[i])
			}
		}
		if math.Abs(got.Gap-c.Gap) > 1e-9 || math.Abs(got.Primal-c.Primal) > 1e-9 || math.Abs(got.Dual-c.Dual) > 1e-9 || math.Abs(got.MaxKKT-c.MaxKKT) > 1e-9 || math.Abs(got.Bias-fit.Bias) > 1e-9 || got.Iterations != fit.Iterations {
			t.Errorf("%s: %+v, the library has %+v after %d iterations", address, got, c, fit.Iterations)
		}
		if got.Hash != "#one=data=moons" || got.Code != "ds := datasets.Moons(120, 0.2, 42)\nsvmnb.Classify(ds).Kernel(kernels.RBF(2)).C(10).SMO().MustFit().Show(svmnb.Margins)" {
			t.Errorf("%s: the address ends in %s, the code is\n%s", address, got.Hash, got.Code)
		}
		// The other figure is still, and has the same worker when it is touched.
		p.Do(&words, `return String(document.querySelectorAll('svmnb-figure')[1].still)`)
		if words != "true" {
			t.Error("the second figure was not touched")
		}
		p.Do(nil, `document.querySelectorAll('svmnb-figure')[1].ask()`)
		rested(p, `document.querySelectorAll('svmnb-figure')[1]`)
		if errs := p.Errors(); len(errs) > 0 {
			t.Errorf("%s: %q", address, errs)
		}
	}
	loaded := 0
	for len(asked) > 0 {
		if <-asked == "/"+living.EngineFile {
			loaded++
		}
	}
	if loaded != 1 {
		t.Errorf("the engine was loaded %d times", loaded)
	}
}

// moons is a specification of moons as play.Explore writes one.
func moonsSpec(t testing.TB, n int) string {
	t.Helper()
	ds := datasets.Moons(n, 0.2, 42)
	text, err := json.Marshal(living.Spec{
		Task: "classify", Name: "moons", Label: "moons", Source: fmt.Sprintf("datasets.Moons(%d, 0.2, 42)", n), D: 2, Data: living.Base64(append(slices.Clone(ds.X), ds.Y)...), C: 10,
		Kernels: []living.Kernel{{Name: "RBF", Form: "RBF($gamma)"}}, Dials: []living.Dial{{Name: "C", Kernel: -1, Values: []string{"1", "10", "100"}, At: 1}, {Name: "gamma", Kernel: 0, Values: []string{"1", "2", "4"}, At: 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A point among 200 is dragged by the mouse: each move gives a picture, and the last one is
// that of the points where they are. Among 500 too. BenchmarkLivingDrag measures the time.
func TestLivingDrag(t *testing.T) {
	t.Parallel()
	p := browsertest.Open(t, filepath.Join(livingPage(t, `<svmnb-figure tools="all" data="moons"></svmnb-figure>`), "page.html"), browsertest.Options{Offline: true})
	for _, n := range []int{200, 500} {
		at := grasp(t, p, n)
		const moves = 12
		for k := 1.0; k <= moves; k++ {
			if err := p.Mouse.MoveTo(swing(at, 4*k)); err != nil {
				t.Fatal(err)
			}
			p.Until(fmt.Sprintf(fig+`.log.filter(e => e.hurry).length >= %g`, k))
		}
		if err := p.Mouse.Up(proto.InputMouseButtonLeft, 1); err != nil {
			t.Fatal(err)
		}
		rested(p, fig)
		var seen dragged
		p.Do(&seen, seeDrag)
		if seen.Drawn != moves {
			t.Errorf("%d points: %d pictures for %d moves", n, seen.Drawn, moves)
		}
		seen.check(t, n)
		// The address has the state, to the bit.
		var same bool
		p.Do(&same, `const f = `+fig+`, st = svmnbLiving.parts.fromAddress(`+fmt.Sprintf("%q", seen.Address)+`, f.state.spec);
			return st.points.every((p, i) => { const q = f.state.points[i]; return p.x === q.x && p.x2 === q.x2 && p.y === q.y; }) && st.points.length === f.state.points.length`)
		if !same {
			t.Errorf("the address %.200s is another state", seen.Address)
		}
	}
	if errs := p.Errors(); len(errs) > 0 {
		t.Errorf("%q", errs)
	}
}

// grasp puts a figure of n moons into the page and presses the mouse on a free support vector of
// it, whose place it returns.
func grasp(t testing.TB, p *browsertest.Page, n int) (at proto.Point) {
	t.Helper()
	p.Do(nil, `const old = `+fig+`, f = document.createElement('svmnb-figure'); f.setAttribute('spec', `+fmt.Sprintf("%q", moonsSpec(t, n))+`); f.setAttribute('tools', 'all'); old.replaceWith(f)`)
	p.Until(fig + `.width > 0`)
	p.Do(nil, fig+`.ask()`)
	rested(p, fig)
	p.Do(&at, `const f = `+fig+`, a = f.answer; f.log = []; const i = a.alpha.findIndex((v, k) => v > 0 && v < 10), r = f.dots[i].getBoundingClientRect(); return {x: r.x + r.width / 2, y: r.y + r.height / 2}`)
	if err := p.Mouse.MoveTo(at); err != nil {
		t.Fatal(err)
	}
	if err := p.Mouse.Down(proto.InputMouseButtonLeft, 1); err != nil {
		t.Fatal(err)
	}
	return at
}

// swing is the k-th place of a drag to and fro.
func swing(at proto.Point, k float64) proto.Point {
	return proto.NewPoint(at.X+70*math.Sin(k/8), at.Y+45*math.Sin(1.7*k/8))
}

// BenchmarkLivingDrag measures in a browser how long it takes from a move of the mouse to its
// picture, and to the frame that shows it:
//
//	go test -run none -bench LivingDrag -benchtime 300x ./notebooks
//
// A run is one move, every 16 ms. Firefox is measured if it is installed.
func BenchmarkLivingDrag(b *testing.B) {
	dir := livingPage(b, `<svmnb-figure data="moons"></svmnb-figure>`)
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	const hook = `const f = ` + fig + `, push = f.log.push; f.log.push = function (e) { push.call(this, e); requestAnimationFrame(() => { e.frame = performance.now(); }) };
		window.long = 0; if (window.PerformanceObserver) new PerformanceObserver(l => { for (const e of l.getEntries()) window.long = Math.max(window.long, e.duration) }).observe({type: 'longtask'})`
	const read = `const d = ` + fig + `.log.filter(e => e.hurry && e.frame), at = (key, q) => { const v = d.map(e => e[key] - e.since).sort((a, b) => a - b); return v[Math.min(v.length - 1, Math.floor(q * v.length))] || 0 };
		return {n: d.length, drawn: at('drawn', 0.5), drawn95: at('drawn', 0.95), frame: at('frame', 0.5), frame95: at('frame', 0.95), long: window.long}`
	type times struct{ N, Drawn, Drawn95, Frame, Frame95, Long float64 }
	report := func(b *testing.B, s times) {
		for unit, v := range map[string]float64{"pictures": s.N, "picture-ms": s.Drawn, "picture-p95-ms": s.Drawn95, "frame-ms": s.Frame, "frame-p95-ms": s.Frame95, "longest-task-ms": s.Long} {
			b.ReportMetric(v, unit)
		}
		b.ReportMetric(0, "ns/op")
	}
	for name, address := range map[string]string{"file": "file://" + filepath.Join(dir, "page.html"), "server": server.URL + "/page.html"} {
		for _, n := range []int{200, 500} {
			b.Run(fmt.Sprintf("Chromium/%s/%d", name, n), func(b *testing.B) {
				p := browsertest.Open(b, address, browsertest.Options{Offline: true})
				at := grasp(b, p, n)
				p.Do(nil, hook)
				for k := range b.N {
					if err := p.Mouse.MoveTo(swing(at, float64(k)/2)); err != nil {
						b.Fatal(err)
					}
					time.Sleep(16 * time.Millisecond)
				}
				if err := p.Mouse.Up(proto.InputMouseButtonLeft, 1); err != nil {
					b.Fatal(err)
				}
				rested(p, fig)
				var s times
				p.Do(&s, read)
				report(b, s)
			})
			b.Run(fmt.Sprintf("Firefox/%s/%d", name, n), func(b *testing.B) {
				f := browsertest.OpenFirefox(b, address)
				f.Do(nil, `const old = `+fig+`, f = document.createElement('svmnb-figure'); f.setAttribute('spec', `+fmt.Sprintf("%q", moonsSpec(b, n))+`); old.replaceWith(f); f.log = []`)
				f.Until(fig + `.width > 0`)
				f.Do(nil, fig+`.ask()`)
				f.Until(restedNow)
				var at proto.Point
				f.Do(&at, `const f = `+fig+`, a = f.answer, i = a.alpha.findIndex((v, k) => v > 0 && v < 10), r = f.dots[i].getBoundingClientRect(); f.log = []; return {x: r.x + r.width / 2, y: r.y + r.height / 2}`)
				f.Do(nil, hook)
				places := [][2]float64{{at.X, at.Y}}
				for k := range b.N {
					to := swing(at, float64(k)/2)
					places = append(places, [2]float64{to.X, to.Y})
				}
				f.Drag(places, 16*time.Millisecond)
				f.Until(restedNow)
				var s times
				f.Do(&s, read)
				report(b, s)
			})
		}
	}
}

// In Firefox too, from a file and from a server, a point among 200 and among 500 is dragged, and
// the certificate is that of the library.
func TestLivingInFirefox(t *testing.T) {
	t.Parallel()
	dir := livingPage(t, `<svmnb-figure data="moons"></svmnb-figure>`)
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	f := browsertest.OpenFirefox(t, filepath.Join(dir, "page.html"))
	for _, n := range []int{200, 500} {
		if n == 500 {
			f.Navigate(server.URL + "/page.html")
		}
		f.Do(nil, `const old = `+fig+`, f = document.createElement('svmnb-figure'); f.setAttribute('spec', `+fmt.Sprintf("%q", moonsSpec(t, n))+`); old.replaceWith(f); f.log = []`)
		f.Until(fig + `.width > 0`)
		f.Do(nil, fig+`.ask()`)
		f.Until(restedNow)
		var at struct{ X, Y float64 }
		f.Do(&at, `const f = `+fig+`, a = f.answer, i = a.alpha.findIndex((v, k) => v > 0 && v < 10), r = f.dots[i].getBoundingClientRect(); return {x: r.x + r.width / 2, y: r.y + r.height / 2}`)
		places := [][2]float64{{at.X, at.Y}}
		for k := 1.0; k <= 60; k++ {
			places = append(places, [2]float64{at.X + 70*math.Sin(k/8), at.Y + 45*math.Sin(1.7*k/8)})
		}
		f.Drag(places, 16*time.Millisecond)
		f.Until(restedNow)
		var seen dragged
		f.Do(&seen, seeDrag)
		if seen.Drawn == 0 {
			t.Errorf("%d points, %s: no pictures while the point is dragged", n, seen.From)
		}
		seen.check(t, n)
	}
}

// dragged is what a test sees of a figure after a drag, by seeDrag.
type dragged struct {
	Drawn, Moved int
	X            [][]float64
	Y            []float64
	Alpha        []float64
	Gap          float64
	Address      string
	From         string
}

const seeDrag = `const f = ` + fig + `;
	return {drawn: f.log.filter(e => e.hurry).length, x: f.state.points.map(p => [p.x, p.x2]), y: f.state.points.map(p => p.y), alpha: Array.from(f.answer.alpha), gap: f.answer.gap, from: location.protocol,
		moved: f.state.points.filter((p, i) => p.x !== f.state.spec.points[i].x).length,
		address: svmnbLiving.parts.address(f.state)}`

// check compares the figure of n moons with the library.
func (seen *dragged) check(t *testing.T, n int) {
	t.Helper()
	if seen.Moved != 1 {
		t.Errorf("%d points: %d points have moved", n, seen.Moved)
	}
	fit := svmnb.Classify(datasets.New(seen.X, seen.Y)).Kernel(kernels.RBF(2)).C(10).SMO().MustFit()
	for i, v := range seen.Alpha {
		if math.Abs(v-fit.Alpha[i]) > 1e-9 {
			t.Fatalf("%d points: α[%d] is %g, the library has %g", n, i, v, fit.Alpha[i])
		}
	}
	if math.Abs(seen.Gap-fit.Certificate.Gap) > 1e-9 {
		t.Errorf("%d points: gap %g, the library has %g", n, seen.Gap, fit.Certificate.Gap)
	}
}

// Everything can be done by keys: reach a point, move it, relabel, add, delete, undo.
func TestLivingKeys(t *testing.T) {
	t.Parallel()
	p := browsertest.Open(t, filepath.Join(livingPage(t, `<svmnb-figure data="moons" tools="all"></svmnb-figure>`), "page.html"), browsertest.Options{Offline: true})
	p.Until(fig + `.answer && ` + fig + `.dots`)
	press := func(keys ...input.Key) {
		t.Helper()
		for _, k := range keys {
			if err := p.Keyboard.Type(k); err != nil {
				t.Fatal(err)
			}
		}
	}
	type seen struct {
		X, Y   float64
		N      int
		Active string
		Tip    string
	}
	look := func() (s seen) {
		t.Helper()
		rested(p, fig)
		p.Do(&s, `const f = `+fig+`, e = f.shadowRoot.activeElement; const i = e && e.dataset.i !== undefined ? +e.dataset.i : -1, q = f.state.points[Math.max(i, 0)];
			return {x: q.x, y: q.y, n: f.state.points.length, active: e ? e.getAttribute('aria-label') || e.textContent : '', tip: f.tip.hidden ? '' : f.tip.textContent}`)
		return s
	}
	press(input.Tab) // the first point
	var active string
	p.Do(&active, `const e = `+fig+`.shadowRoot.activeElement; return e ? e.getAttribute('aria-label') : ''`)
	if len(active) < 10 || active[:8] != "point 0," {
		t.Fatalf("Tab reaches %q", active)
	}
	press(input.ArrowRight)
	moved := look()
	start := datasets.Moons(120, 0.2, 42)
	if !(moved.X > start.X[0][0]) || moved.Tip == "" {
		t.Errorf("an arrow key: %+v", moved)
	}
	press(input.Enter)
	if s := look(); s.Y != -start.Y[0] {
		t.Errorf("Enter: %+v", s)
	}
	press(input.Key('n'))
	press(input.Delete)
	if s := look(); s.N != 119 {
		t.Errorf("Delete: %+v", s)
	}
	press(input.Key('a'))
	if s := look(); s.N != 120 || s.Active[:10] != "point 119," {
		t.Errorf("a: %+v", s)
	}
	p.Do(nil, `const f = `+fig+`; for (let k = 0; k < 4; k++) f.back()`)
	if s := look(); s.N != 120 || s.Y != start.Y[0] {
		t.Errorf("Undo: %+v", s)
	}
	var same bool
	p.Do(&same, `const f = `+fig+`; return f.state.points.every((q, i) => q.x === f.state.spec.points[i].x && q.y === f.state.spec.points[i].y)`)
	if !same {
		t.Error("undone, the points are not as they were")
	}
}

// What a screen reader gets of a figure: the accessibility tree has a name and a role for each
// point, slider, choice and button, and the status says the result after a drag, an error and
// a race.
func TestLivingForScreenReaders(t *testing.T) {
	t.Parallel()
	p := browsertest.Open(t, filepath.Join(livingPage(t, `<svmnb-figure data="moons" tools="all" id="one"></svmnb-figure>`), "page.html"), browsertest.Options{Offline: true})
	p.Until(fig + `.answer && ` + fig + `.dots`)
	p.Do(nil, `const f = `+fig+`; f.ask(); f.shadowRoot.querySelectorAll('details').forEach(d => { d.open = true })`)
	rested(p, fig)
	// tree returns the names of the nodes of each role, and of those that change by themselves.
	tree := func() map[string][]string {
		t.Helper()
		all, err := proto.AccessibilityGetFullAXTree{}.Call(p)
		if err != nil {
			t.Fatal(err)
		}
		names := map[string][]string{}
		for _, n := range all.Nodes {
			if n.Ignored || n.Role == nil {
				continue
			}
			name := ""
			if n.Name != nil {
				name = n.Name.Value.Str()
			}
			role := n.Role.Value.Str()
			names[role] = append(names[role], name)
			if slices.Contains([]string{"button", "slider", "combobox", "checkbox", "textbox", "image", "table", "option", "DisclosureTriangle"}, role) && strings.TrimSpace(name) == "" {
				t.Errorf("a %s has no name", role)
			}
		}
		return names
	}
	has := func(names map[string][]string, role string, want ...string) {
		t.Helper()
		for _, name := range want {
			if !slices.ContainsFunc(names[role], func(s string) bool { return strings.HasPrefix(s, name) }) {
				t.Errorf("no %s is named %q; there are %.600q", role, name, names[role])
			}
		}
	}
	names := tree()
	has(names, "group", "17 of 120 points carry the boundary", "Points. Arrow keys move one", "The run of the solver", "Tools", "What a click does", "Go code of this figure")
	has(names, "list", "Legend")
	has(names, "slider", "C", "γ (gamma)", "Moment of the run")
	has(names, "combobox", "data", "kernel", "solver")
	has(names, "checkbox", "where labels are certain")
	has(names, "image", "Duality gap over the iterations")
	has(names, "textbox", "Lines of x1, x2, class")
	has(names, "button", "Move", "Add ◆", "Add ●", "Flip", "Delete", "Spray", "Noise", "Undo", "Reset", "Play the run", "One step back", "To the start of the run", "Copy Go code", "Copy link", "SVG", "PNG", "Pin beside", "Race the solvers", "Use these points",
		"point 0, class +1, at 1.1, 0.639, α = 0 of at most 10, no support vector", "point 1, class −1, at −0.0973, 0.493, α = 5.035 of at most 10, free support vector: wants y·f = 1")
	points := 0
	for _, name := range names["button"] {
		if strings.HasPrefix(name, "point ") {
			points++
		}
	}
	if points != 120 {
		t.Errorf("%d of 120 points are in the tree", points)
	}
	var values []string
	p.Do(&values, `return Array.from(`+fig+`.shadowRoot.querySelectorAll('.side input[type=range]'), e => e.getAttribute('aria-valuetext'))`)
	if len(values) < 2 || values[0] != "10" || values[1] != "2" {
		t.Errorf("the sliders are at %q", values)
	}
	status := func() string {
		t.Helper()
		all, err := proto.AccessibilityGetFullAXTree{}.Call(p)
		if err != nil {
			t.Fatal(err)
		}
		words := map[proto.AccessibilityAXNodeID]string{}
		for _, n := range all.Nodes {
			if n.Name != nil {
				words[n.NodeID] = n.Name.Value.Str()
			}
		}
		var said []string
		for _, n := range all.Nodes {
			if n.Role != nil && n.Role.Value.Str() == "status" {
				for _, c := range n.ChildIDs {
					said = append(said, words[c])
				}
				if !slices.ContainsFunc(n.Properties, func(q *proto.AccessibilityAXProperty) bool {
					return q.Name == "live" && q.Value.Value.Str() == "polite"
				}) {
					t.Error("the status is not announced")
				}
			}
		}
		return strings.Join(said, " | ")
	}
	first := status()
	// The words come once, when the reader lets go.
	at := proto.Point{}
	p.Do(&at, `const r = `+fig+`.dots[1].getBoundingClientRect(); return {x: r.x + r.width / 2, y: r.y + r.height / 2}`)
	for _, err := range []error{p.Mouse.MoveTo(at), p.Mouse.Down(proto.InputMouseButtonLeft, 1), p.Mouse.MoveTo(proto.NewPoint(at.X+60, at.Y-40))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	p.Until(fig + `.answer && ` + fig + `.answer.hurry`)
	if got := status(); got != first {
		t.Errorf("while a point is dragged the status says %q", got)
	}
	if err := p.Mouse.Up(proto.InputMouseButtonLeft, 1); err != nil {
		t.Fatal(err)
	}
	rested(p, fig)
	if got := status(); got == first || !strings.Contains(got, "carry the boundary") || !strings.Contains(got, "Certificate: gap ") {
		t.Errorf("after a drag the status says %q", got)
	}
	has(tree(), "button", "point 1, class −1, at 0.")
	p.Do(nil, fig+`.paste('0,0,a\n1,z,b')`)
	if got := status(); got != `Line 2: "z" is not a number.` {
		t.Errorf("after a mistake the status says %q", got)
	}
	p.Do(nil, `const f = `+fig+`; f.ask(); f.race()`)
	p.Until(fig + `.shadowRoot.querySelectorAll('.race tbody tr').length === 6`)
	p.Until(`!` + fig + `.busy()`)
	has(tree(), "table", "Race of the solvers")
	has(tree(), "rowheader", "SMO", "interior point")
}

// By touch, a finger on a point drags it, and a finger elsewhere scrolls the page. Tools place,
// flip, spray and undo; a pasted CSV gives a machine, or says what is wrong in which line.
func TestLivingTouchAndTools(t *testing.T) {
	t.Parallel()
	p := browsertest.Open(t, filepath.Join(livingPage(t, `<svmnb-figure data="moons" tools="all"></svmnb-figure><p style="height: 2000px">…</p>`), "page.html"), browsertest.Options{Offline: true, Width: 400})
	p.Until(fig + `.answer && ` + fig + `.dots`)
	if err := (proto.EmulationSetTouchEmulationEnabled{Enabled: true}).Call(p); err != nil {
		t.Fatal(err)
	}
	touch := func(kind proto.InputDispatchTouchEventType, points ...*proto.InputTouchPoint) {
		t.Helper()
		if err := (proto.InputDispatchTouchEvent{Type: kind, TouchPoints: append([]*proto.InputTouchPoint{}, points...)}).Call(p); err != nil {
			t.Fatal(err)
		}
	}
	swipe := func(x, y, dx, dy float64) {
		t.Helper()
		touch(proto.InputDispatchTouchEventTypeTouchStart, &proto.InputTouchPoint{X: x, Y: y})
		for k := 1.0; k <= 10; k++ {
			touch(proto.InputDispatchTouchEventTypeTouchMove, &proto.InputTouchPoint{X: x + dx*k/10, Y: y + dy*k/10})
		}
		touch(proto.InputDispatchTouchEventTypeTouchEnd)
	}
	var at struct{ X, Y, I float64 }
	p.Do(&at, `const f = `+fig+`, i = 3, r = f.dots[i].querySelector('.mark').getBoundingClientRect(); return {x: r.x + r.width / 2, y: r.y + r.height / 2, i: i}`)
	swipe(at.X, at.Y, 30, -40)
	rested(p, fig)
	var seen struct {
		Scroll float64
		Moved  []int
		N      int
		Y      float64
		Said   string
	}
	look := func() {
		t.Helper()
		p.Do(&seen, `const f = `+fig+`; return {scroll: scrollY, n: f.state.points.length, y: f.state.points[0].y, said: f.hint.hidden ? f.title_.textContent : f.hint.textContent,
			moved: f.state.points.map((q, i) => i).filter(i => { const a = f.state.points[i], b = f.state.spec.points[i]; return b && (a.x !== b.x || a.x2 !== b.x2); })}`)
	}
	if look(); seen.Scroll != 0 || !slices.Contains(seen.Moved, 3) || len(seen.Moved) != 1 {
		t.Errorf("a finger on point 3: %+v", seen)
	}
	// A corner of the plot without points.
	p.Do(&at, `const f = `+fig+`, r = f.svg.getBoundingClientRect(); return {x: r.right - 20, y: r.bottom - 60, i: f.near(r.width - 20, r.height - 60, 40)}`)
	if at.I >= 0 {
		t.Fatal("a point is in the corner")
	}
	swipe(at.X, at.Y, 0, -150)
	p.Until(`scrollY > 50`)
	p.Do(nil, `scrollTo(0, 0)`)

	p.Do(nil, `const f = `+fig+`; f.setTool('pos')`)
	p.Do(&at, `const r = `+fig+`.svg.getBoundingClientRect(); return {x: r.right - 60, y: r.top + 60}`)
	touch(proto.InputDispatchTouchEventTypeTouchStart, &proto.InputTouchPoint{X: at.X, Y: at.Y})
	touch(proto.InputDispatchTouchEventTypeTouchEnd)
	p.Until(fig + `.state.points.length === 121`)
	p.Do(nil, `const f = `+fig+`; f.setTool('spray')`)
	p.Do(&at, `const r = `+fig+`.svg.getBoundingClientRect(); return {x: r.left + r.width / 2, y: r.top + r.height / 2}`)
	swipe(at.X, at.Y, 40, 20)
	rested(p, fig)
	if look(); len(seen.Moved) < 5 {
		t.Errorf("spray: %+v", seen)
	}
	p.Do(nil, `const f = `+fig+`; f.back(); f.back(); f.back()`)
	rested(p, fig)
	if look(); len(seen.Moved) != 0 || seen.N != 120 {
		t.Errorf("undone: %+v", seen)
	}

	for text, want := range map[string]string{
		"x,y,c\n0,0,a\n1,0,a\n0,2,b\n2,2,b": "of 4 points carry the boundary", "0,0\n1,1\n2,0\n3,2": "of 4 points carry the curve",
		"0,0,a\n1,z,b": "Line 2: \"z\" is not a number.", "0,0,a\n1,1": "Line 2: it has 2 columns", "0,0,a\n1,1,a": "there is one class only", "0,0,a\n1,1,b\n2,2,c": "3 classes: 3 of 3 points carry the boundaries", "0,0,a\n1,1,b\n2,2,c\n3,3,d\n4,4,e\n5,5,f\n6,6,g\n7,7,h\n8,8,i": "Line 9: there are more than eight classes", "": "at least two points",
	} {
		p.Do(nil, fmt.Sprintf(fig+`.paste(%q)`, text))
		p.Until(fmt.Sprintf(`(f => (f.hint.hidden ? f.title_.textContent : f.hint.textContent).includes(%q))(`+fig+`)`, want))
	}
	// The pictures to take away are whole.
	var svg string
	var bytes int
	p.Do(&svg, `return `+fig+`.picture()`)
	p.Do(&bytes, `return `+fig+`.png().then(b => b.size)`)
	if err := xml.Unmarshal([]byte(svg), new(struct{})); err != nil || bytes < 5000 {
		t.Errorf("%v, a PNG of %d bytes\n%.300s", err, bytes, svg)
	}
	if errs := p.Errors(); len(errs) > 0 {
		t.Errorf("%q", errs)
	}
}

// Each Explore of the course that was run works in the exported page, which has one file and
// no kernel: a still picture first; then the certificate is that of the description.
func TestExploreLivesInPages(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, file := range files {
		nb, err := readNotebook(file)
		if err != nil {
			t.Fatal(err)
		}
		page, err := exportHTML(nb, file, ".")
		if err != nil {
			t.Fatal(err)
		}
		if !hasLiving(string(page)) {
			if bytes.Contains(page, []byte("svmnb-living-engine")) {
				t.Errorf("%s carries an engine and has no living figure", file)
			}
			continue
		}
		seen++
		name := filepath.Join(t.TempDir(), "page.html")
		if err := os.WriteFile(name, page, 0o644); err != nil {
			t.Fatal(err)
		}
		p := browsertest.Open(t, name, browsertest.Options{Offline: true})
		p.Until(fig + `.answer`)
		type look struct {
			Still                   bool
			Title                   string
			Gap, Primal, Iterations float64
		}
		see := func() (l look) {
			t.Helper()
			p.Do(&l, `const f = `+fig+`; return {still: f.still, title: f.shadowRoot.querySelector('.title').textContent, gap: f.answer.gap, primal: f.answer.primal, iterations: f.answer.iterations}`)
			return l
		}
		still := see()
		p.Do(nil, fig+`.ask()`)
		rested(p, fig)
		alive := see()
		t.Logf("%s: %+v", file, alive)
		if !still.Still || alive.Still || still.Title != alive.Title || still.Iterations != alive.Iterations || math.Abs(still.Primal-alive.Primal) > 1e-6*math.Abs(alive.Primal) {
			t.Errorf("%s: at first %+v, trained in the page %+v", file, still, alive)
		}
		// A slider moves it.
		p.Do(nil, `const d = `+fig+`.shadowRoot.querySelector('input[data-dial]'); d.value = +d.value + 5; d.dispatchEvent(new Event('input')); d.dispatchEvent(new Event('change'))`)
		rested(p, fig)
		if see().Primal == alive.Primal {
			t.Errorf("%s: the slider changes nothing", file)
		}
		p.Do(nil, fig+`.scrollIntoView()`)
		if dir := os.Getenv("SVMNB_PICTURES"); dir != "" {
			part, err := p.Screenshot(false, nil)
			if err != nil || os.WriteFile(filepath.Join(dir, "explore-"+file+".png"), part, 0o644) != nil {
				t.Error("no picture")
			}
		}
		if errs := p.Errors(); len(errs) > 0 {
			t.Errorf("%s: %q", file, errs)
		}
	}
	if seen < 3 {
		t.Errorf("%d notebooks have a living figure", seen)
	}
}

// A page of the site asks for nothing more than its style and its search until a reader
// touches a figure: by a click, by a key, or by an address that has a state.
func costsNothing(t *testing.T, dir string) {
	t.Helper()
	asked := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Path
		http.FileServer(http.Dir(dir)).ServeHTTP(w, r)
	}))
	defer server.Close()
	p := browsertest.Open(t, server.URL+"/playground.html", browsertest.Options{Offline: true})
	loaded := func() (list []string) {
		for len(asked) > 0 {
			if path := <-asked; strings.Contains(path, "living") {
				list = append(list, path)
			}
		}
		return list
	}
	for _, page := range []string{"playground.html", "notebooks/09-kernels.html"} {
		if err := p.Navigate(server.URL + "/" + page); err != nil {
			t.Fatal(err)
		}
		p.Until(`document.readyState === 'complete' && ` + fig + `.querySelector('svg').getBoundingClientRect().width > 300`)
		p.Do(nil, `document.querySelector('a').dispatchEvent(new Event('pointerdown', {bubbles: true})); `+fig+`.querySelector('button').focus(); scrollTo(0, 200)`)
		// A page that wants the script puts its element there at once.
		var wanted int
		if p.Do(&wanted, `return document.querySelectorAll('script[src*=living]').length`); wanted > 0 {
			t.Errorf("%s loads the script before a touch", page)
		}
	}
	if err := p.Keyboard.Type(input.Enter); err != nil {
		t.Fatal(err)
	}
	rested(p, fig)
	if list := loaded(); !slices.Equal(list, []string{"/assets/living.js", "/assets/living-engine.js"}) {
		t.Errorf("a touch loads %q", list)
	}
	var active string
	if p.Do(&active, `const e = `+fig+`.shadowRoot.activeElement; return e ? e.getAttribute('aria-label') : ''`); !strings.HasPrefix(active, "point 0,") {
		t.Errorf("after Enter the focus is at %q", active)
	}
	if err := p.Navigate(server.URL + "/playground.html#play=data=circles"); err != nil {
		t.Fatal(err)
	}
	p.Until(`document.readyState === 'complete' && ` + fig + `.state && ` + fig + `.state.spec.name === 'circles'`)
	if errs := p.Errors(); len(errs) > 0 {
		t.Errorf("%q", errs)
	}
}

// The playground and its stories: each link gives another machine, and nothing hinders people.
func TestPlayground(t *testing.T) {
	t.Parallel()
	w, err := writtenSite()
	if err != nil {
		t.Fatal(err)
	}
	out := w.out
	costsNothing(t, out)
	p := browsertest.Open(t, filepath.Join(out, "playground.html"), browsertest.Options{Offline: true})
	audit := accessibility(t)
	audit(p, "playground.html, still", true)
	titles := map[string]bool{}
	var links int
	p.Do(&links, `return document.querySelectorAll('.stories h2 a').length`)
	if links != 6 {
		t.Errorf("%d stories", links)
	}
	for k := range links {
		p.Do(nil, fmt.Sprintf(fig+`.asked = null; document.querySelectorAll('.stories h2 a')[%d].click()`, k))
		rested(p, fig)
		var title string
		p.Do(&title, `return `+fig+`.shadowRoot.querySelector('.title').textContent + ' · ' + `+fig+`.shadowRoot.querySelector('.sub').textContent`)
		t.Log(title)
		titles[title] = true
		photograph(t, p, fmt.Sprintf("playground-story-%d", k+1), browsertest.Options{})
	}
	if len(titles) != 6 {
		t.Errorf("the stories show %d pictures", len(titles))
	}
	// An Explore of the course works in the site, too. (Back to the last story after it.)
	last := p.MustInfo().URL
	if err := p.Navigate("file://" + filepath.ToSlash(filepath.Join(out, "notebooks", "09-kernels.html"))); err != nil {
		t.Fatal(err)
	}
	p.Until(`document.readyState === 'complete' && ` + fig)
	p.Do(nil, fig+`.querySelector('button').click()`)
	rested(p, fig)
	if err := p.Navigate(last); err != nil {
		t.Fatal(err)
	}
	p.Until(`document.readyState === 'complete' && ` + fig + `.state`)
	rested(p, fig)
	// The last story is a run at its beginning; it plays to its end.
	p.Do(nil, `svmnbLiving.limits.step = 0; `+fig+`.toggle()`)
	p.Until(`!` + fig + `.playing && ` + fig + `.state.moment < 0`)
	rested(p, fig)
	p.Do(nil, `const f = `+fig+`; f.certain.checked = true; f.ask(); f.shadowRoot.querySelector('details').open = true; f.race(); f.pin()`)
	p.Until(fig + `.shadowRoot.querySelectorAll('.race tbody tr').length === 6`)
	rested(p, fig)
	var sizes []float64
	p.Do(&sizes, `const f = `+fig+`, a = f.plot.getBoundingClientRect(), b = f.shadowRoot.querySelector('.pinned img').getBoundingClientRect(); return [a.width, b.width, b.left - a.right]`)
	if math.Abs(sizes[0]-sizes[1]) > 4 || sizes[2] < 0 {
		t.Errorf("a figure %g wide has beside it, at %g, a picture %g wide", sizes[0], sizes[2], sizes[1])
	}
	// What is pinned is the picture of the figure in its new size.
	p.Until(`decodeURIComponent(` + fig + `.shadowRoot.querySelector('.pinned img').src).endsWith(` + fig + `.picture().slice(-2000))`)
	for _, look := range []browsertest.Options{{}, {Dark: true}, {Width: 400}, {Dark: true, Width: 400}} {
		p.Look(look)
		p.Until(fig + `.width < ` + map[bool]string{true: "400", false: "1e9"}[look.Width == 400])
		p.Until(fig + `.colours.ink === '` + map[bool]string{false: "#1b2733", true: "#e6eaee"}[look.Dark] + `'`) // the page tells it late
		rested(p, fig)
		audit(p, fmt.Sprintf("playground.html, %+v", look), true)
		var overhang int
		p.Do(&overhang, `return document.documentElement.scrollWidth - document.documentElement.clientWidth`)
		if overhang > 0 {
			t.Errorf("%+v: the page is %d pixels too wide", look, overhang)
		}
		photograph(t, p, "playground"+map[bool]string{true: "-dark"}[look.Dark], look)
	}
	if errs := p.Errors(); len(errs) > 0 {
		t.Errorf("%q", errs)
	}
}
