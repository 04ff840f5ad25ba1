package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-rod/rod/lib/input"
	"github.com/go-rod/rod/lib/proto"
	"github.com/svmnb/svmnb/internal/browsertest"
)

// TestJupyterLab holds a real JupyterLab and a Notebook 7 to what the classic page is
// held to, and to what only they can do: many notebooks on a page that lives for days,
// outputs in views of their own, cells that are taken out of the page and put back.
func TestJupyterLab(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the real kernel, which -short leaves out")
	}
	dir := t.TempDir()
	s := labServer{dir: dir, address: browsertest.JupyterLab(t, dir)}
	putKernel(t)
	for _, test := range []struct {
		name, page string
		run        func(t *testing.T, s labServer)
	}{
		{"tour", inLab, tourInLab},
		{"kinds", inLab, kindsInLab},
		{"kinds in Notebook 7", inNotebook7, kindsInLab},
		{"untrusted", inLab, untrustedInLab},
		{"live", inLab, liveInLab},
		{"two live runs", inLab, twoLiveRuns},
		{"explore", inLab, exploreInLab},
		{"explore in Notebook 7", inNotebook7, exploreInLab},
		{"explore in two views", inLab, exploreInTwoViews},
		{"living figure", inLab, livingInLab},
		{"living figure in Notebook 7", inNotebook7, livingInLab},
		{"explore in two notebooks", inLab, exploreInTwoNotebooks},
		{"kernel restarted", inLab, exploreAfterRestart},
		{"page opened again", inLab, exploreAfterReload},
		{"outputs removed", inLab, outputsRemoved},
		{"carrier deleted", inLab, carrierDeleted},
		{"error explained", inLab, errorExplained},
		{"error explained in Notebook 7", inNotebook7, errorExplained},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := s
			s.name = strings.ReplaceAll(test.name, " ", "-")
			s.page = test.page
			if test.name != "tour" { // which changes the settings of all
				t.Parallel()
			}
			test.run(t, s)
		})
	}
}

// inLab and inNotebook7 are patterns of addresses, for a workspace and the file of a notebook.
const inLab, inNotebook7 = "/lab/workspaces/%s/tree/%s", "/notebooks/%.0s%s"

// labServer is a server of JupyterLab and Notebook 7, and what the test of a name sees
// of it.
type labServer struct{ dir, address, name, page string }

func (s labServer) file() string { return filepath.Join(s.dir, s.name+".ipynb") }

// put writes the test's notebook and opens it.
func (s labServer) put(t *testing.T, cells ...string) browsertest.LabNotebook {
	t.Helper()
	putNotebook(t, s.dir, s.name+".ipynb", cells...)
	return s.open(t)
}

// open opens it in a browser of its own, in JupyterLab with a workspace of its own.
func (s labServer) open(t *testing.T) browsertest.LabNotebook {
	t.Helper()
	return browsertest.OpenLab(t, s.address+fmt.Sprintf(s.page, s.name, s.name+".ipynb"), browsertest.Options{})
}

// saved saves the notebook and returns its text and the HTML of its charts.
func (s labServer) saved(t *testing.T, page browsertest.LabNotebook) (text string, charts []string) {
	t.Helper()
	page.Save()
	data, err := os.ReadFile(s.file())
	if err != nil {
		t.Fatal(err)
	}
	nb, err := readNotebook(s.file())
	if err != nil {
		t.Fatal(err)
	}
	return string(data), liveOutputs(t, nb)
}

func carried(text string) int { return strings.Count(text, "(function svmnb(w, packed)") }

// labNoise is in what the servers and GoNB themselves write to the console as errors.
var labNoise = []string{
	"/static/", "/api/", // scripts and answers of the server
	"ResizeObserver loop", "gonb_comm", "Comm promise not found", "comm_open_ack",
	"ERR_UNKNOWN_URL_SCHEME attachment:", // JupyterLab loads this address before it replaces it by the data; tourInLab checks that the picture is shown
	"'beforeunload' confirmation",        // a page that is loaded again before anybody has touched it
}

func checkLabErrors(t *testing.T, p *browsertest.Page) {
	t.Helper()
	for _, e := range p.Errors() {
		if !slices.ContainsFunc(labNoise, func(noise string) bool { return strings.Contains(e, noise) }) {
			t.Errorf("error in the page: %s", e)
		}
	}
}

// later makes it so many seconds later for the page, whose waits are long.
func later(page browsertest.LabNotebook, seconds int) {
	page.Do(nil, fmt.Sprintf(`const now = Date.now; Date.now = () => now() + %d`, seconds*1000))
}

// theme chooses light or dark, and waits until the charts have followed.
func theme(page browsertest.LabNotebook, name string) {
	page.Command("apputils:change-theme", `{theme: 'JupyterLab `+name+`'}`)
	page.Until(`Array.from(document.querySelectorAll('[data-drawn]')).every(e => e.getAttribute('data-drawn') === '` + strings.ToLower(name) + `')`)
}

// The tour: run, saved, opened again without running, in both themes, and however the
// page keeps the cells that are out of sight.
func tourInLab(t *testing.T, s labServer) {
	unrunTour(t, s.file())
	page := s.open(t)
	page.RunAll()
	text, _ := s.saved(t, page)
	ran, err := readNotebook(s.file())
	if err != nil {
		t.Fatal(err)
	}
	titles := charts(t, ran)
	if n := carried(text); n != 1 {
		t.Errorf("%d copies of the library after running all, want 1", n)
	}
	count := fmt.Sprint(len(titles))
	all := func() { // whatever is out of sight is drawn when it comes into sight
		t.Helper()
		page.Do(nil, `window.svmSeen = 0; window.svmWalk = (async () => {
			const sleep = ms => new Promise(r => setTimeout(r, ms)), list = svm.panel.content
			const charts = w => w.model.type === 'code' && Array.from({length: w.model.outputs.length}, (_, i) => JSON.stringify(w.model.outputs.get(i).toJSON())).filter(s => s.indexOf('S.draw(') > 0).length
			for (const back of [false, true]) for (let k = 0; k < list.widgets.length; k++) {
				const i = back ? list.widgets.length - 1 - k : k, n = charts(list.widgets[i])
				if (!n) continue
				const drawn = () => Array.from(list.widgets[i].node.querySelectorAll('[data-drawn] svg, [data-drawn] canvas')).filter(e => e.isConnected && e.getBoundingClientRect().height > 100).length
				while (drawn() !== n) { await list.scrollToItem(i).catch(() => {}); list.widgets[i].node.scrollIntoView(); await sleep(50) }
				svmSeen += n
			}
		})()`)
		page.Until(`window.svmSeen === 2 * ` + count)
	}
	all()
	page.Do(nil, `const list = svm.panel.content; list.scrollToItem(list.widgets.findIndex(w => w.model.sharedModel.getSource().includes('](attachment:')))`)
	page.Until(`Array.from(document.querySelectorAll('.jp-RenderedMarkdown img')).some(e => e.naturalWidth > 0)`)
	photograph(t, page.Page, s.name, browsertest.Options{})
	theme(page, "Dark")
	all()
	photograph(t, page.Page, s.name+"-dark", browsertest.Options{})
	theme(page, "Light")
	for _, mode := range []string{"full", "defer", "none", "contentVisibility"} {
		settings := filepath.Join(os.Getenv("JUPYTER_CONFIG_DIR"), "lab", "user-settings", "@jupyterlab", "notebook-extension")
		if err := os.MkdirAll(settings, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(settings, "tracker.jupyterlab-settings"), []byte(`{"windowingMode": "`+mode+`"}`), 0o644); err != nil {
			t.Fatal(err)
		}
		page.Reload()
		page.Until(`svm.panel.content.notebookConfig.windowingMode === '` + mode + `'`)
		all()
		if t.Failed() {
			t.Fatalf("windowing mode %s", mode)
		}
	}
	checkCharts(t, page.Page, titles) // all is in the page, at last
	checkLabErrors(t, page.Page)
}

// The page shows what an error means, and still after its connection to the kernel is new.
func errorExplained(t *testing.T, s labServer) {
	page := s.put(t, "%%\ntotal := 3\nfmt.Println(total)", "%%\nfmt.Println(total)")
	const shown = `document.querySelector('.jp-Cell:nth-of-type(2)') && document.body.textContent.includes('Cell [%d], line 2: total was made below the %%%% of cell [1]')`
	page.Start("notebook:run-all-cells", "{}")
	page.Until(fmt.Sprintf(shown, 2))
	page.Save()
	page.Reload()
	page.Do(nil, `svm.panel.content.activeCellIndex = 1`)
	page.Start("notebook:run-cell", "{}")
	page.Until(fmt.Sprintf(shown, 3))
	checkLabErrors(t, page.Page)
}

// A dashboard, a table and a replay: both themes, and a view of their own, in which
// they work as they do in the notebook.
func kindsInLab(t *testing.T, s labServer) {
	page := s.put(t, `import (
	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/play"
)

%%
fit := svmnb.Classify(datasets.Moons(60, 0.2, 1)).SMO().MustFit()
display.Dashboard(fit, svmnb.Margins, svmnb.Gap).Show()
display.Show(display.Table(fit), play.Replay(fit))`)
	page.RunAll()
	page.Charts(3)
	theme(page, "Dark")
	photograph(t, page.Page, s.name+"-dark", browsertest.Options{Height: 2000})
	theme(page, "Light")
	want := []string{"ascending"}
	if s.page == inLab { // Notebook 7 has no views
		page.Do(nil, `svm.panel.content.activeCellIndex = 0`)
		page.Command("notebook:create-output-view", "{}")
		page.Charts(6)
		want = []string{"none", "ascending"}
	}
	page.Do(nil, `Array.from(document.querySelectorAll('[id^="svmtable-"]')).at(-1).querySelector('th[aria-sort]').click()`)
	var sorted []string
	page.Do(&sorted, `return Array.from(document.querySelectorAll('[id^="svmtable-"]'), e => e.querySelector('th[aria-sort]').getAttribute('aria-sort'))`)
	if !slices.Equal(sorted, want) {
		t.Errorf("after a click in the last view the tables are sorted %q, want %q", sorted, want)
	}
	photograph(t, page.Page, s.name, browsertest.Options{})
	checkLabErrors(t, page.Page)
	page.Save()
	page.Reload()
	page.Until(`document.querySelectorAll('[data-drawn]').length >= 3`)
	checkLabErrors(t, page.Page)
}

const barsCell = `import (
	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
	"github.com/svmnb/svmnb/svmnb/display"
)

func bars(values ...int) *charts.Bar {
	b, data := charts.NewBar(), []opts.BarData{}
	for _, v := range values {
		data = append(data, opts.BarData{Value: v})
	}
	b.AddSeries("bars", data)
	return b
}

%%
display.Show(bars(3, 1, 2))`

// A notebook from elsewhere is not trusted and runs no script; the places of its
// charts say what to do.
func untrustedInLab(t *testing.T, s labServer) {
	page := s.put(t, barsCell)
	page.RunAll()
	text, _ := s.saved(t, page)
	s.name = "foreign"
	foreign := regexp.MustCompile(`"execution_count": \d+`).ReplaceAllString(text, `"execution_count": 77`)
	if err := os.WriteFile(s.file(), []byte(foreign), 0o644); err != nil || foreign == text {
		t.Fatal(err)
	}
	other := s.open(t)
	other.Until(`svm.panel.node.textContent.indexOf('trust this notebook') >= 0`)
	var drawn int
	if other.Do(&drawn, `return document.querySelectorAll('[data-drawn]').length`); drawn != 0 {
		t.Errorf("%d charts are drawn in a notebook that is not trusted", drawn)
	}
	other.Do(nil, `svm.panel.content.activeCellIndex = 0`)
	other.RunAll()
	other.Charts(1)
}

// One display that changes in place without a blink, whose last state is saved with
// the library, also after an interrupt.
func liveInLab(t *testing.T, s labServer) {
	page := s.put(t, liveCell)
	page.RunAll()
	page.Until(browsertest.Says("document.querySelector('[data-drawn]')", "SMO (second order): converged"))
	if _, charts := s.saved(t, page); len(charts) != 1 || carried(charts[0]) != 1 || !strings.Contains(charts[0], "SMO (second order): converged") {
		t.Errorf("%d charts are saved, the first is %.300s", len(charts), strings.Join(charts, ""))
	}

	// In two views, until it is interrupted.
	page.Do(nil, `const m = svm.cells()[0].model.sharedModel; m.setSource(m.getSource().replace('C(3e4)', '`+endless+`'))`)
	page.Start("notebook:run-all-cells", "{}")
	running := `Array.from(document.querySelectorAll('[data-drawn]')).filter(e => +e.getAttribute('data-updates') > 1 && ` + browsertest.Says("e", "is running") + `).length`
	page.Until(running + ` === 1`)
	watched(t, page.Page)
	page.Do(nil, `svm.panel.content.activeCellIndex = 0; svm.app.commands.execute('notebook:create-output-view')`)
	page.Until(running + ` === 2`)
	page.Do(nil, `svm.panel.sessionContext.session.kernel.interrupt()`)
	page.Until(`Array.from(document.querySelectorAll('[data-drawn]')).filter(e => ` + browsertest.Says("e", "SMO (second order): interrupted") + `).length === 2`)
	page.Idle()
	if _, charts := s.saved(t, page); len(charts) != 1 || !strings.Contains(charts[0], "SMO (second order): interrupted") {
		t.Errorf("%d charts are saved, the first is %.300s", len(charts), strings.Join(charts, ""))
	}
	checkLabErrors(t, page.Page)
	page.Reload()
	page.Until(`document.querySelector('[data-drawn]') && ` + browsertest.Says("document.querySelector('[data-drawn]')", "interrupted"))
	checkLabErrors(t, page.Page)
}

// Two runs with equal words are two runs: while the second goes on, the picture of the
// first stays as it is.
func twoLiveRuns(t *testing.T, s labServer) {
	imports, _, _ := strings.Cut(liveCell, "%%")
	page := s.put(t, imports+"%%\nsvmnb.Classify(datasets.Moons(600, 0.35, 1)).Kernel(kernels.RBF(20)).C(3e4).Tol(1e-2).SMO().Live().MustFit()",
		"%%\nsvmnb.Classify(datasets.Moons(1000, 0.35, 7)).Kernel(kernels.RBF(20))."+endless+".Tol(1e-9).SMO().Live().MustFit()")
	run := func(i int) {
		page.Do(nil, fmt.Sprintf(`svm.panel.content.activeCellIndex = %d; svm.panel.content.deselectAll()`, i))
		page.Start("notebook:run-cell", "{}")
	}
	says := func() (texts []string) {
		page.Do(&texts, `return svm.cells().map(w => Array.from(w.node.querySelectorAll('[data-drawn]'), e => e.textContent).join('|'))`)
		return texts
	}
	run(0)
	page.Until(`document.querySelector('[data-drawn]') && ` + browsertest.Says("document.querySelector('[data-drawn]')", "converged"))
	first := says()[0]
	run(1)
	page.Until(`Array.from(svm.cells()[1].node.querySelectorAll('[data-drawn]')).some(e => +e.getAttribute('data-updates') > 1)`)
	during := says()
	page.Do(nil, `svm.panel.sessionContext.session.kernel.interrupt()`)
	page.Idle()
	if after := says(); during[0] != first || after[0] != first || during[1] == first {
		t.Errorf("the first run's picture said %q, and while the second went on %q, and in the end %q", first, during[0], after[0])
	}
	_, charts := s.saved(t, page)
	id := regexp.MustCompile(`svm-live-[0-9a-f]+`)
	if len(charts) != 2 || id.FindString(charts[0]) == id.FindString(charts[1]) || !strings.Contains(charts[0], "converged") {
		t.Errorf("%d charts are saved, with the ids %q", len(charts), id.FindAllString(strings.Join(charts, ""), -1))
	}
	checkLabErrors(t, page.Page)
}

// hands are a reader's hands in the outputs below an element, root().
const hands = `
	window.root = window.root || (() => document.body)
	window.control = (kind, name) => root().querySelector('[data-svm-' + kind + '="' + name + '"]')
	window.line = () => (root().querySelector('[data-svm-seen] code') || {textContent: ''}).textContent
	window.set = (name, at) => {
		const input = control('dial', name)
		input.value = at
		input.dispatchEvent(new Event('input'))
	}`

const firstLine = "svmnb.Classify(ds).Kernel(kernels.RBF(1)).C(10).MaxIterations(100000)"

// begin runs all cells and waits for the controls.
func begin(t *testing.T, page browsertest.LabNotebook) {
	t.Helper()
	page.Do(nil, hands)
	explored(t, page.Page, startAgain(page), page.Idle, `control('dial', 'C') && !control('dial', 'C').disabled && root().querySelector('[data-drawn] svg') && line() === '`+firstLine+`'`)
}

func startAgain(page browsertest.LabNotebook) func() {
	return func() {
		page.Command("notebook:clear-all-cell-outputs", "{}")
		page.Start("notebook:run-all-cells", "{}")
	}
}

// moves sets the slider of C and waits for the picture of it.
func moves(page browsertest.LabNotebook, at int, line string) {
	page.Do(nil, fmt.Sprintf(`set('C', %d)`, at))
	page.Until(`line() === '` + line + `' && root().querySelector('[data-drawn] svg')`)
}

func withC(c string) string { return strings.Replace(firstLine, "C(10)", "C("+c+")", 1) }

// silent waits until the page says that nobody answers, and nothing can be moved.
func silent(t *testing.T, page browsertest.LabNotebook) {
	t.Helper()
	page.Until(`Array.from(svm.panel.node.querySelectorAll('[id^="svm-explore-"] div')).some(e => e.textContent.indexOf('Run the cell again') >= 0)`)
	var live int
	if page.Do(&live, `return Array.from(svm.panel.node.querySelectorAll('[data-svm-dial], [data-svm-choice], [data-svm-done]')).filter(e => !e.disabled).length`); live != 0 {
		t.Errorf("%d controls can be moved, and nothing answers", live)
	}
}

func exploreInLab(t *testing.T, s labServer) {
	page := s.put(t, exploreCell)
	begin(t, page)
	moves(page, 50, withC("1000"))
	photograph(t, page.Page, s.name, browsertest.Options{})
	page.Do(nil, `for (const [name, at] of [['kernel', 2], ['solver', 1]]) { const e = control('choice', name); e.selectedIndex = at; e.dispatchEvent(new Event('change')) }`)
	page.Until(`line().indexOf('kernels.Polynomial(3, ') > 0 && line().indexOf('.SMO()') > 0`)
	var visible []string
	page.Do(&visible, `return Array.from(document.querySelectorAll('[data-svm-dial]')).filter(e => e.offsetWidth).map(e => e.getAttribute('data-svm-dial'))`)
	if !slices.Equal(visible, []string{"C", "gamma", "coef0", "degree"}) {
		t.Errorf("the sliders are %q", visible)
	}
	var copied string
	page.Do(&copied, `document.querySelector('[data-svm-copy]').click(); return String(getSelection())`)
	if !strings.Contains(copied, "kernels.Polynomial(3, ") {
		t.Errorf("the button copies %q", copied)
	}

	// Keys belong to what is focused, and are no commands to the notebook.
	var kinds string
	page.Do(&kinds, `for (const [kind, name, key, keyCode] of [['dial', 'C', 'ArrowUp', 38], ['choice', 'kernel', 'm', 77]]) {
			control(kind, name).focus()
			control(kind, name).dispatchEvent(new KeyboardEvent('keydown', {key, keyCode, bubbles: true, cancelable: true}))
		}
		return svm.panel.content.widgets.map(w => w.model.type).join()`)
	if kinds != "code" {
		t.Errorf("after keys in the controls, the cells are %s", kinds)
	}

	// Done ends it, an interrupt too: the last picture is saved, without controls.
	for _, end := range []string{`document.querySelector('[data-svm-done]').click()`, `svm.panel.sessionContext.session.kernel.interrupt()`} {
		var last string
		page.Do(&last, `return line()`)
		page.Do(nil, end)
		page.Until(`!document.querySelector('[data-svm-dial]')`)
		page.Idle()
		text, charts := s.saved(t, page)
		if len(charts) != 1 || carried(text) != 1 || strings.Contains(text, "svmnbControls") || !strings.Contains(charts[0], last) {
			t.Errorf("%d charts and %d libraries are saved, controls: %v; %.300s", len(charts), carried(text), strings.Contains(text, "svmnbControls"), strings.Join(charts, ""))
		}
		if strings.Contains(end, "click") {
			begin(t, page)
			moves(page, 20, withC("1"))
		}
	}
	page.Reload()
	page.Until(`document.querySelector('[data-drawn] svg') && document.body.textContent.indexOf('` + withC("1") + `') >= 0`)
	checkLabErrors(t, page.Page)
}

// An output in a view of its own has controls of its own; both move with each other.
func exploreInTwoViews(t *testing.T, s labServer) {
	page := s.put(t, exploreCell)
	begin(t, page)
	page.Do(nil, `svm.panel.content.activeCellIndex = 0`)
	page.Command("notebook:create-output-view", "{}")
	page.Until(`document.querySelectorAll('[data-svm-dial="C"]').length === 2 && document.querySelectorAll('[data-drawn] svg').length === 2`)
	var each []int
	page.Do(&each, `return Array.from(document.querySelectorAll('[id^="svm-explore-"]'), e => e.querySelectorAll('[data-svm-dial="C"]').length)`)
	if !slices.Equal(each, []int{1, 1}) {
		t.Fatalf("the outputs have so many sliders for C: %v", each)
	}
	for i, at := range []int{20, 50} { // from either side
		page.Do(nil, fmt.Sprintf(`const e = document.querySelectorAll('[data-svm-dial="C"]')[%d]; e.value = %d; e.dispatchEvent(new Event('input'))`, i, at))
		line := withC([]string{"1", "1000"}[i])
		page.Until(fmt.Sprintf(`Array.from(document.querySelectorAll('[data-svm-dial="C"]')).every(e => +e.value === %d) &&
			Array.from(document.querySelectorAll('[data-svm-seen] code')).filter(e => e.textContent === '%s').length === 2 &&
			document.querySelectorAll('[data-drawn] svg').length === 2`, at, line))
		var texts []string
		page.Do(&texts, `return Array.from(document.querySelectorAll('[data-drawn]'), e => e.querySelector('svg').textContent.replace(/\s/g, ''))`)
		if len(texts) != 2 || texts[0] != texts[1] {
			t.Errorf("the views show %q", texts)
		}
	}
	photograph(t, page.Page, s.name, browsertest.Options{})
	page.Do(nil, `document.querySelectorAll('[data-svm-done]')[1].click()`)
	page.Until(`!document.querySelector('[data-svm-dial]')`)
	page.Idle()
	checkLabErrors(t, page.Page)
}

// The living figure of Explore asks the kernel: a point is dragged by the mouse. In JupyterLab, a
// figure in a view of its own follows. Done ends the cell, and the picture stays.
func livingInLab(t *testing.T, s labServer) {
	page := s.put(t, livingCell)
	const f = `document.querySelector('svmnb-explore')`
	explored(t, page.Page, startAgain(page), page.Idle, f+` && `+f+`.answer`)
	rested(page.Page, f)
	var at struct{ X, Y float64 }
	page.Do(nil, f+`.scrollIntoView({block: 'center'})`)
	page.Do(&at, `const f = `+f+`; f.log = []; const r = f.dots[f.answer.alpha.findIndex(v => v > 0 && v < 10)].getBoundingClientRect(); return {x: r.x + r.width / 2, y: r.y + r.height / 2}`)
	if page.Mouse.MoveTo(proto.NewPoint(at.X, at.Y)) != nil || page.Mouse.Down(proto.InputMouseButtonLeft, 1) != nil {
		t.Fatal("the mouse does not move")
	}
	for k := 1.0; k <= 40; k++ {
		if err := page.Mouse.MoveTo(proto.NewPoint(at.X+k, at.Y-k/2)); err != nil {
			t.Fatal(err)
		}
	}
	if err := page.Mouse.Up(proto.InputMouseButtonLeft, 1); err != nil {
		t.Fatal(err)
	}
	rested(page.Page, f)
	var drag dragged
	page.Do(&drag, strings.ReplaceAll(seeDrag, "svmnb-figure", "svmnb-explore"))
	if drag.Moved != 1 || drag.Drawn == 0 { // how many depends on how busy the machine is
		t.Errorf("%d points have moved in %d pictures", drag.Moved, drag.Drawn)
	}
	photograph(t, page.Page, s.name, browsertest.Options{})
	if s.page == inLab {
		page.Do(nil, `svm.panel.content.activeCellIndex = 0`)
		page.Command("notebook:create-output-view", "{}")
		const two = `Array.from(document.querySelectorAll('svmnb-explore'))`
		page.Until(two + `.length === 2 && ` + two + `.every(f => f.answer && f.rested() && !f.busy() && f.where().includes('&p='))`)
		page.Do(nil, `const d = `+two+`[1].shadowRoot.querySelector('[data-dial=gamma]'); d.value = 33; d.dispatchEvent(new Event('input')); d.dispatchEvent(new Event('change'))`)
		page.Until(two + `.every(f => f.rested() && !f.busy() && f.sub.textContent.includes('RBF(2)')) && new Set(` + two + `.map(f => f.where())).size === 1`)
	}
	page.Do(nil, f+`.focusPoint(0)`)
	if err := page.Keyboard.Type(input.Key('a')); err != nil {
		t.Fatal(err)
	}
	page.Until(f + `.state.points.length === 301 && svm.panel.content.widgets.length === 1`)
	page.Do(nil, `document.querySelector('[data-svm-done]').click()`)
	page.Until(`!document.querySelector('svmnb-explore')`)
	page.Idle()
	text, charts := s.saved(t, page)
	if len(charts) != 1 || carried(text) != 1 || strings.Contains(text, "svmnbControls") || strings.Contains(text, "svmnbLiving") {
		t.Errorf("%d charts and %d libraries are saved, controls: %v", len(charts), carried(text), strings.Contains(text, "svmnbControls"))
	}
	checkLabErrors(t, page.Page)
}

// JupyterLab has one page for all notebooks, and GoNB one channel for the page.
func exploreInTwoNotebooks(t *testing.T, s labServer) {
	page := s.put(t, exploreCell)
	begin(t, page)
	moves(page, 20, withC("1"))
	second := s.name + "-second.ipynb"
	putNotebook(t, s.dir, second, exploreCell)
	page.Command("docmanager:open", `{path: '`+second+`'}`)
	page.Do(nil, `window.first = svm.panel; window.root = () => svm.panel.node; window.svm = null`)
	page.Again()
	begin(t, page)
	moves(page, 50, withC("1000"))
	page.Do(nil, `window.root = () => first.node`)
	moves(page, 40, withC("100"))
	page.Do(nil, `window.root = () => svm.panel.node`)
	moves(page, 30, withC("10"))
	page.Do(nil, `for (const p of [first, svm.panel]) p.node.querySelector('[data-svm-done]').click()`)
	page.Until(`!document.querySelector('[data-svm-dial]')`)
}

// After a restart of the kernel nobody answers, in this page and in the next.
func exploreAfterRestart(t *testing.T, s labServer) {
	page := s.put(t, exploreCell)
	begin(t, page)
	moves(page, 50, withC("1000"))
	page.Do(nil, `window.restarted = false; svm.panel.sessionContext.session.kernel.restart().then(() => { window.restarted = true })`)
	page.Until(`window.restarted`)
	page.Do(nil, `set('C', 40)`)
	later(page, 60)
	silent(t, page)
	photograph(t, page.Page, s.name, browsertest.Options{})
	if text, _ := s.saved(t, page); !strings.Contains(text, "svmnbControls") {
		t.Fatal("the controls are not saved: nothing to test")
	}
	page.Reload()
	later(page, 60)
	silent(t, page)
	begin(t, page)
	moves(page, 50, withC("1000"))
	page.Do(nil, `control('done', '').click()`)
	page.Until(`!document.querySelector('[data-svm-dial]')`)
}

// A page that is opened again while the cell runs does not hear it any more.
func exploreAfterReload(t *testing.T, s labServer) {
	page := s.put(t, exploreCell)
	begin(t, page)
	moves(page, 50, withC("1000"))
	page.Save()
	page.Reload()
	page.Until(`document.querySelector('[data-drawn] svg')`) // of the moment of saving
	later(page, 60)
	silent(t, page)
	page.Do(nil, `svm.panel.sessionContext.session.kernel.interrupt()`)
	begin(t, page)
	moves(page, 20, withC("1"))
	page.Do(nil, `control('done', '').click()`)
	page.Until(`!document.querySelector('[data-svm-dial]')`)
}

// Charts of outputs that are gone are disposed of, without anybody changing the theme.
func outputsRemoved(t *testing.T, s labServer) {
	page := s.put(t, strings.Replace(barsCell, "display.Show(bars(3, 1, 2))", "display.Show(bars(3, 1, 2), bars(os.Getpid()))", 1))
	page.RunAll()
	page.Charts(2)
	page.Do(nil, `const e = __svmEcharts.echarts, init = e.init
		window.born = []
		e.init = function () {
			const c = init.apply(this, arguments)
			born.push(new WeakRef(c))
			return c
		}
		window.alive = () => born.filter(r => r.deref() && !r.deref().isDisposed()).length`)
	var born int
	for range 3 {
		page.RunAll()
		page.Charts(2)
		page.Until(`alive() <= 2`)
	}
	if page.Do(&born, `return born.length`); born < 3 {
		t.Fatalf("%d charts were made: nothing to test", born)
	}
	page.Save()
	page.Do(nil, `svm.panel.close(); window.svm = null`)
	page.Until(`alive() === 0 && !document.querySelector('[data-drawn]')`)
	kept := born
	for try := 0; kept > 0 && try < 50; try++ {
		if err := (proto.HeapProfilerCollectGarbage{}).Call(page.Page); err != nil {
			t.Fatal(err)
		}
		page.Do(&kept, `return born.filter(r => r.deref()).length`)
	}
	if kept > 0 {
		t.Errorf("of %d charts %d are still in memory", born, kept)
	}
	checkLabErrors(t, page.Page)
}

// The cell that has brought the library is deleted: in the browser where that was, the
// others are drawn; elsewhere they say what to do, and do it.
func carrierDeleted(t *testing.T, s labServer) {
	// Cells unlike the first, or they would be taken for that one, edited.
	page := s.put(t, barsCell, "%%\ndefer fmt.Println(\"a cell of its own\", os.Getpid())\ndisplay.Show(bars(1))", "%%\nfor _, v := range []int{4, 5} {\n\tfmt.Println(v)\n\tif v == 5 {\n\t\tdisplay.Show(bars(v))\n\t}\n}")
	page.RunAll()
	page.Charts(3)
	if text, _ := s.saved(t, page); carried(text) != 1 {
		t.Errorf("%d copies of the library after running all, want 1", carried(text))
	}
	page.Do(nil, `svm.panel.content.activeCellIndex = 0; svm.panel.content.deselectAll()`)
	page.Command("notebook:delete-cell", "{}")
	if text, charts := s.saved(t, page); carried(text) != 0 || len(charts) != 2 {
		t.Fatalf("%d libraries and %d charts are saved: nothing to test", carried(text), len(charts))
	}
	page.Reload()
	page.Charts(2)
	checkLabErrors(t, page.Page)

	other := s.open(t)
	places := `Array.from(document.querySelectorAll('[id^="svm-"]'))`
	other.Until(places + `.length === 2 && ` + places + `.every(e => e.innerText.indexOf('run this cell again') >= 0 && getComputedStyle(e.firstElementChild.nextElementSibling).opacity > 0.9)`)
	photograph(t, other.Page, s.name, browsertest.Options{})
	other.Do(nil, `svm.panel.content.activeCellIndex = 0; svm.panel.content.deselectAll()`)
	other.Command("notebook:run-cell", "{}")
	other.Charts(2)
	checkLabErrors(t, other.Page)
}
