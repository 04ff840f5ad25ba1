package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-rod/rod/lib/input"
	"github.com/svmnb/svmnb/internal/browsertest"
	"github.com/svmnb/svmnb/svmnb/static"
)

const exploreCell = `import (
	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/play"
)

%%
play.Explore(svmnb.Classify(datasets.Moons(300, 0.25, 1)).Kernel(kernels.RBF(1)).C(10).MaxIterations(100000))`

// livingCell explores a machine that the engine of living figures has. With a limit of iterations,
// exploreCell has sliders above a picture.
var livingCell = strings.Replace(exploreCell, ".MaxIterations(100000)", "", 1)

// moveDials are the reader's hands in a page: move sets a slider and returns how many
// milliseconds later the picture of the setting is there, drawn.
const moveDials = `
	window.control = (kind, name) => document.querySelector('[data-svm-' + kind + '="' + name + '"]')
	window.line = () => (document.querySelector('[data-svm-seen] code') || {textContent: ''}).textContent
	window.move = (name, at) => new Promise((resolve, reject) => {
		const input = control('dial', name), said = line(), begun = performance.now()
		input.value = at
		input.dispatchEvent(new Event('input'))
		const look = () => {
			const svg = document.querySelector('[data-drawn] svg')
			if (line() !== said && svg) {
				svg.getBoundingClientRect()
				return resolve(performance.now() - begun)
			}
			if (performance.now() - begun > 20000) return reject(new Error('no picture of ' + name + ' at ' + at))
			setTimeout(look, 1)
		}
		look()
	})`

// explored starts the cells and waits until the page says ready. On a busy machine the page may
// need longer than the program waits for it. The program then says so, and they are started
// again, as a reader would.
func explored(t *testing.T, page *browsertest.Page, start, idle func(), ready string) {
	t.Helper()
	const silent = `(window.root ? root() : document.body).textContent.includes('No page has answered')`
	for range 3 {
		start()
		page.Until(`(` + ready + `) || ` + silent)
		var answered bool
		if page.Do(&answered, `return !!(`+ready+`)`); answered {
			return
		}
		idle()
	}
	t.Fatal("no page has answered, three times")
}

// A reader explores in a live classic notebook, where it is at the root of its server
// and where it is not: GoNB's own channel does not work there.
func TestExploreInClassicJupyter(t *testing.T) {
	for _, base := range []string{"/", "/some/where/"} {
		t.Run("base_url="+base, func(t *testing.T) { exploreInClassicJupyter(t, base) })
	}
}

func exploreInClassicJupyter(t *testing.T, base string) {
	if testing.Short() {
		t.Skip("needs the real kernel, which -short leaves out")
	}
	dir := t.TempDir()
	address := browsertest.Serve(t, dir, func(ctx context.Context, args []string) error {
		cmd := exec.CommandContext(ctx, "jupyter-notebook", append(args, "--NotebookApp.base_url="+base)...)
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
		cmd.WaitDelay = 10 * time.Second
		return cmd.Run()
	}) + base + "notebooks/explore.ipynb"
	file := putNotebook(t, dir, "explore.ipynb", exploreCell)
	page := browsertest.OpenNotebook(t, address, browsertest.Options{})
	page.Do(nil, moveDials)
	begin := func() {
		t.Helper()
		explored(t, page.Page, func() {
			page.Do(nil, `Jupyter.notebook.clear_all_output(); Jupyter.notebook.execute_all_cells()`)
		}, page.Idle, `document.querySelector('[data-drawn] svg') && window.control('dial', 'C')`)
	}
	line := func() (s string) {
		t.Helper()
		page.Do(&s, `return line()`)
		return s
	}
	begin()
	if got, want := line(), "svmnb.Classify(ds).Kernel(kernels.RBF(1)).C(10).MaxIterations(100000)"; got != want {
		t.Errorf("it begins with %s, want %s", got, want)
	}
	var times []float64
	for k := range 6 {
		var took float64
		page.Do(&took, `return move('`+[]string{"C", "gamma"}[k%2]+`', `+[]string{"20", "33", "31"}[k/2]+`)`)
		times = append(times, took)
	}
	slices.Sort(times)
	if base != "/" { // with another base address only the connection can differ
		return
	}
	t.Logf("from a moved slider to its picture, n = 300: median %.0f ms, from %.0f to %.0f", times[len(times)/2], times[0], times[len(times)-1])
	photograph(t, page.Page, "explore", browsertest.Options{})

	// Another kernel has other sliders; another solver is said.
	page.Do(nil, `for (const [name, at] of [['kernel', 2], ['solver', 1]]) { const s = control('choice', name); s.selectedIndex = at; s.dispatchEvent(new Event('change')) }`)
	page.Until(`line().indexOf('kernels.Polynomial(3, ') > 0 && line().indexOf('.SMO()') > 0`)
	var visible []string
	page.Do(&visible, `return Array.from(document.querySelectorAll('[data-svm-dial]')).filter(e => e.offsetWidth).map(e => e.getAttribute('data-svm-dial'))`)
	if !slices.Equal(visible, []string{"C", "gamma", "coef0", "degree"}) {
		t.Errorf("the sliders are %q", visible)
	}

	// Interrupted, the cell ends without a word, and the last picture is saved.
	last := line()
	page.Do(nil, `Jupyter.notebook.kernel.interrupt()`)
	page.Idle()
	// The page replaces the controls by the last picture after the cell has ended.
	saved := func() (html string) {
		t.Helper()
		var charts, libraries int
		for range 40 {
			page.Save()
			nb, err := readNotebook(file)
			if err != nil {
				t.Fatal(err)
			}
			outs, err := codeCells(nb)[0].outputs()
			if err != nil {
				t.Fatal(err)
			}
			html = ""
			for _, o := range outs {
				if o.kind != "display_data" {
					t.Errorf("the cell has an output of kind %s: %v", o.kind, o)
				}
				h, _ := o.data["text/html"].(string)
				html += h
			}
			charts, libraries = len(liveOutputs(t, nb)), strings.Count(html, "(function svmnb(w, packed)")
			if charts == 1 && libraries == 1 && !strings.Contains(html, "svmnbControls") {
				return html
			}
			time.Sleep(250 * time.Millisecond)
		}
		t.Errorf("%d charts and %d libraries are saved, controls: %v", charts, libraries, strings.Contains(html, "svmnbControls"))
		return html
	}
	if html := saved(); !strings.Contains(html, last) {
		t.Errorf("the saved output lacks %s: %.300s", last, html)
	}

	// Done ends it too.
	begin()
	page.Do(nil, `return move('C', 50)`)
	last = line()
	page.Do(nil, `document.querySelector('[data-svm-done]').click()`)
	page.Idle()
	if html := saved(); !strings.Contains(html, last) || last != "svmnb.Classify(ds).Kernel(kernels.RBF(1)).C(1000).MaxIterations(100000)" {
		t.Errorf("the saved output lacks %s: %.300s", last, html)
	}
	if base == "/" { // elsewhere GoNB's channel fails, aloud
		checkErrors(t, page.Page)
	}
	var channels []string
	page.Do(&channels, `return [[{protocol: 'https:', host: 'hub.example'}, '/user/ann/'], [{protocol: 'http:', host: 'localhost:8888'}, '/'], [{protocol: 'https:', host: 'h'}, '']]
		.map(a => window.__svmControls.channel(a[0], a[1], 'K'))`)
	if want := []string{"wss://hub.example/user/ann/api/kernels/K/channels", "ws://localhost:8888/api/kernels/K/channels", "wss://h/api/kernels/K/channels"}; !slices.Equal(channels, want) {
		t.Errorf("channels %q, want %q", channels, want)
	}

	// Opened again it is there without being run.
	again := browsertest.OpenNotebook(t, address, browsertest.Options{})
	again.Until(`document.querySelector('[data-drawn] svg') && document.body.textContent.indexOf('` + last + `') >= 0`)
	checkErrors(t, again.Page)
}

// Where no page answers, small multiples stand in the output: at once where the kernel
// has no page, else after a moment.
func TestExploreWithoutPage(t *testing.T) {
	t.Parallel()
	silent := strings.Replace(livingCell, "%%\n", "%%\nos.Setenv(\"GONB_JUPYTER_KERNEL_ID\", \"0\")\n", 1)
	wrong := strings.Replace(livingCell, ".C(10)", ".C(-10)", 1)
	nb := code(livingCell, silent, wrong)
	if err := run(t.Context(), realKernel(t), nb, 2*time.Minute, io.Discard); err != nil {
		t.Fatal(err)
	}
	if charts, changed, err := fillFigures(t.Context(), nb, static.Options{}); charts != 2 || changed != 2 || err != nil {
		t.Errorf("%d charts, %d with a picture, %v", charts, changed, err)
	}
	for i, c := range codeCells(nb) {
		outs, err := c.outputs()
		if err != nil {
			t.Fatal(err)
		}
		charts, all := 0, ""
		for _, o := range outs {
			html, _ := o.data["text/html"].(string)
			words, _ := o.data["text/markdown"].(string)
			plain, _ := o.data["text/plain"].(string)
			if strings.Contains(html, "S.draw(") {
				charts++
				if !strings.Contains(html, "300 points under 9 settings: training errors from ") {
					t.Errorf("cell %d shows %.300s", i, html)
				}
			}
			if strings.Contains(html, "svmnbControls") {
				t.Errorf("cell %d still has its sliders", i)
			}
			all += words + plain
		}
		if i == 2 {
			if charts != 0 || !strings.Contains(all, "svmnb: C: C is -10") {
				t.Errorf("a wrong description shows %d charts and says %q", charts, all)
			}
			continue
		}
		if charts != 1 || !strings.Contains(all, "svmnb.Classify(ds).Kernel(kernels.RBF(1)).C(10)") || strings.Contains(all, "No page has answered") != (i == 1) {
			t.Errorf("cell %d has %d charts and says %q", i, charts, all)
		}
	}
}

// The living figure of a live notebook asks the kernel: a dragged point and a slider train
// there. The pictures are those of WebAssembly, mark for mark. The interrupt ends the cell
// without a word, and the last picture stays with the points as they are.
func TestLiveFigureInClassicJupyter(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the real kernel, which -short leaves out")
	}
	dir := t.TempDir()
	const base = "/some/where/"
	address := browsertest.Serve(t, dir, func(ctx context.Context, args []string) error {
		cmd := exec.CommandContext(ctx, "jupyter-notebook", append(args, "--NotebookApp.base_url="+base)...)
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
		cmd.WaitDelay = 10 * time.Second
		return cmd.Run()
	}) + base + "notebooks/living.ipynb"
	file := putNotebook(t, dir, "living.ipynb", livingCell)
	page := browsertest.OpenNotebook(t, address, browsertest.Options{Height: 1400})
	const f = `document.querySelector('svmnb-explore')`
	explored(t, page.Page, func() {
		page.Do(nil, `Jupyter.notebook.clear_all_output(); Jupyter.notebook.execute_all_cells()`)
	}, page.Idle, f+` && `+f+`.answer`)
	rested(page.Page, f)
	var words string
	if page.Do(&words, `return `+f+`.code.textContent`); !strings.HasSuffix(words, "svmnb.Classify(ds).Kernel(kernels.RBF(1)).C(10).SMO().MustFit().Show(svmnb.Margins)") {
		t.Errorf("it begins with %s", words)
	}
	photograph(t, page.Page, "explore-living", browsertest.Options{})

	engine, err := livingEngine(t.Context(), "..")
	if err != nil {
		t.Fatal(err)
	}
	page.Do(nil, `window.svmnbLivingEngine = `+engine+`
		const g = document.createElement('svmnb-explore')
		g.setAttribute('spec', `+f+`.getAttribute('spec'))
		document.querySelector('.output_area .output_subarea').append(g)
		window.wasm = g
		svmnbLiving.limits.rest = 0`)
	drag := `const f = ` + f + `; f.keep(); f.moveTo(3, f.state.points[3].x + 0.125, f.state.points[3].x2 - 0.25); f.ask(true); f.ask()`
	slide := `for (const [name, at] of [['C', 36], ['gamma', 33]]) { const d = ` + f + `.shadowRoot.querySelector('[data-dial="' + name + '"]'); d.value = at; d.dispatchEvent(new Event('input')); d.dispatchEvent(new Event('change')) }`
	for _, act := range []string{`` + f + `.ask()`, drag, slide, `const f = ` + f + `; f.state.kernel = 2; f.sync(); f.ask()`, `const f = ` + f + `; f.state.kernel = 0; f.state.method = 2; f.sync(); f.ask()`} {
		page.Do(nil, act)
		rested(page.Page, f)
		page.Do(nil, `wasm.goWhere(`+f+`.where())`)
		rested(page.Page, `wasm`)
		var differ []string
		page.Do(&differ, `const marks = f => f.picture().split(/(?=<)/).sort(), a = marks(`+f+`), b = marks(wasm); return a.length < 300 ? ['few marks'] : a.filter((m, i) => m !== b[i])`)
		if len(differ) > 0 {
			t.Errorf("%s: %d marks differ from those of WebAssembly: %.300q", act, len(differ), differ)
		}
	}
	if page.Do(&words, `return `+f+`.sub.textContent + `+f+`.proof.textContent`); !strings.Contains(words, "RBF(2) · C = 39.8") || !strings.Contains(words, "Certificate: ") {
		t.Errorf("it shows %s", words)
	}
	// Keys on a point are the figure's, and no shortcuts of Jupyter.
	page.Do(nil, f+`.focusPoint(0)`)
	if err := page.Keyboard.Type(input.Key('a')); err != nil {
		t.Fatal(err)
	}
	page.Until(f + `.state.points.length === 301 && Jupyter.notebook.get_cells().length === 1`)
	page.Do(nil, `wasm.remove(); Jupyter.notebook.kernel.interrupt()`)
	page.Idle()
	saved := ""
	for range 40 {
		page.Save()
		nb, err := readNotebook(file)
		if err != nil {
			t.Fatal(err)
		}
		outs, err := codeCells(nb)[0].outputs()
		if err != nil {
			t.Fatal(err)
		}
		saved = ""
		for _, o := range outs {
			if o.kind != "display_data" {
				t.Errorf("the cell has an output of kind %s: %v", o.kind, o)
			}
			h, _ := o.data["text/html"].(string)
			saved += h
		}
		if strings.Contains(saved, "(ds)") && !strings.Contains(saved, "svmnbControls") {
			break
		}
		time.Sleep(250 * time.Millisecond)
	}
	if strings.Contains(saved, "svmnbControls") || strings.Contains(saved, "svmnbLiving") || !strings.Contains(saved, "S.draw(") || !strings.Contains(saved, "ds := datasets.New([][]float64{{") || !strings.Contains(saved, "svmnb.Classify(ds).Kernel(kernels.RBF(2)).C(39.8).Using(solvers.ConjugateSMO{})") {
		t.Errorf("saved are %d bytes, controls: %v: …%s", len(saved), strings.Contains(saved, "svmnbControls"), saved[max(0, len(saved)-600):])
	}
}
