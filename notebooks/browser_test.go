package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svmnb/svmnb/internal/browsertest"
)

// ranTour is the tour, run by the real kernel with no fit kept from before.
var ranTour = sync.OnceValues(func() (*notebook, error) {
	ctx := context.Background()
	k, err := builtKernel()
	if err != nil {
		return nil, err
	}
	if err := k.warm(ctx, io.Discard); err != nil {
		return nil, err
	}
	nb, err := readNotebook(tour)
	if err != nil {
		return nil, err
	}
	return nb, (&session{timeout: 5 * time.Minute, fresh: true, stderr: io.Discard}).execute(ctx, k, tour, nb, io.Discard)
})

// charts returns the titles of the charts in the notebook's outputs, in order.
func charts(t *testing.T, nb *notebook) (titles []string) {
	t.Helper()
	for _, c := range codeCells(nb) {
		outs, err := c.outputs()
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range outs {
			html, _ := o.data["text/html"].(string)
			_, call, found := strings.Cut(html, `S.draw("svm-`)
			if !found {
				continue
			}
			_, option, _ := strings.Cut(call, ",")
			var chart struct{ Title json.RawMessage }
			if err := json.NewDecoder(strings.NewReader(option)).Decode(&chart); err != nil {
				t.Fatalf("the option of a chart: %v", err)
			}
			var title struct{ Text string }
			if json.Unmarshal(chart.Title, &title) != nil { // more than one
				var all []struct{ Text string }
				if err := json.Unmarshal(chart.Title, &all); err != nil || len(all) == 0 {
					t.Fatalf("the title of a chart is %s", chart.Title)
				}
				title = all[0]
			}
			titles = append(titles, title.Text)
		}
	}
	if len(titles) < 4 {
		t.Fatalf("the notebook has the charts %q, want more", titles)
	}
	return titles
}

// checkCharts holds what is drawn in the page against the titles of the charts
// that should be: as many, each a picture with its title and many marks.
func checkCharts(t *testing.T, p *browsertest.Page, titles []string) {
	t.Helper()
	texts := p.Charts(len(titles))
	if t.Failed() {
		return
	}
	bare := func(s string) string { return strings.Join(strings.Fields(s), "") }
	var drawn []struct {
		Wide, High float64
		Marks      int
		Canvas     bool
	}
	p.Do(&drawn, `return Array.from(document.querySelectorAll('[data-drawn]'), e => {
		const picture = e.querySelector('svg, canvas'), box = picture.getBoundingClientRect(), canvas = picture.tagName === 'CANVAS'
		let marks = 0
		if (canvas) {
			const pixels = new Uint32Array(picture.getContext('2d').getImageData(0, 0, picture.width, picture.height).data.buffer)
			marks = new Set(pixels).size
		} else marks = picture.querySelectorAll('path').length
		return {wide: box.width, high: box.height, marks, canvas}})`)
	for i, d := range drawn {
		if d.Wide < 200 || d.High < 200 || d.Marks < 10 {
			t.Errorf("chart %d (%s) is hardly drawn: %+v", i+1, titles[i], d)
		}
		if !d.Canvas && !strings.Contains(bare(texts[i]), bare(titles[i])) {
			t.Errorf("chart %d has the words %q, want the title %q in them", i+1, texts[i], titles[i])
		}
	}
}

// The page of the tour, opened from its file: all charts and formulas drawn, at
// any width, light and dark, without a request or an error.
func TestTourPage(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("needs the real kernel, which -short leaves out")
	}
	nb, err := ranTour()
	if err != nil {
		t.Fatal(err)
	}
	page, err := exportHTML(nb, tour, ".")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "tour.html")
	if err := os.WriteFile(file, page, 0o644); err != nil {
		t.Fatal(err)
	}
	formulas := strings.Count(string(page), `<span class="math`)
	titles := charts(t, nb)
	p := browsertest.Open(t, file, browsertest.Options{Offline: true})
	checkCharts(t, p, titles)
	for _, look := range []browsertest.Options{{}, {Dark: true}, {Width: 400}, {Dark: true, Width: 400}} {
		p.Look(look)
		scheme := map[bool]string{false: "light", true: "dark"}[look.Dark]
		p.Until(`Array.from(document.querySelectorAll('[data-drawn]')).every(e => e.getAttribute('data-drawn') === '` + scheme + `')`)
		checkCharts(t, p, titles)
		var seen struct {
			Formulas, Broken, Overhang int
			Requests                   []string
		}
		p.Do(&seen, `return {
			formulas: document.querySelectorAll('.math > .katex, .math > .katex-display').length,
			broken: document.querySelectorAll('.katex-error').length,
			overhang: document.documentElement.scrollWidth - document.documentElement.clientWidth,
			requests: performance.getEntriesByType('resource').map(e => e.name).filter(n => !/^(data|blob):/.test(n))}`)
		if seen.Formulas != formulas || formulas == 0 || seen.Broken > 0 {
			t.Errorf("%+v: %d of %d formulas are drawn, %d with an error", look, seen.Formulas, formulas, seen.Broken)
		}
		if seen.Overhang > 0 {
			t.Errorf("%+v: the page is %d px wider than its window", look, seen.Overhang)
		}
		if len(seen.Requests) > 0 {
			t.Errorf("%+v: the page asks for %q", look, seen.Requests)
		}
		photograph(t, p, "page-"+scheme, look)
	}
	if errs := p.Errors(); len(errs) > 0 {
		t.Errorf("errors in the page: %q", errs)
	}
}

// photograph saves what the page looks like, for people, in the folder that
// SVMNB_PICTURES names.
func photograph(t *testing.T, p *browsertest.Page, name string, look browsertest.Options) {
	t.Helper()
	dir := os.Getenv("SVMNB_PICTURES")
	if dir == "" {
		return
	}
	if look.Width > 0 {
		name += "-narrow"
	}
	time.Sleep(500 * time.Millisecond) // ECharts fades in
	p.Picture(filepath.Join(dir, name+".png"))
}

// jupyterNoise is what classic Jupyter itself writes to the console as errors.
var jupyterNoise = []string{
	"/nbextensions/widgets/notebook/js/extension.js", // asked for, not installed
	"Access to font at 'about:blank'",                // MathJax tries its fonts
	"net::ERR_FAILED about:blank",                    // the same
	"comm_open_ack not received in time",             // GoNB, of a kernel that is slow
	"Comm promise not found for comm id",             // it hears GoNB speak to its own channel
}

func checkErrors(t *testing.T, p *browsertest.Page) {
	t.Helper()
	for _, e := range p.Errors() {
		if !slices.ContainsFunc(jupyterNoise, func(noise string) bool { return strings.Contains(e, noise) }) {
			t.Errorf("error in the page: %s", e)
		}
	}
}

// unrunTour writes the tour without outputs, with code cells before its own.
func unrunTour(t *testing.T, file string, before ...string) {
	t.Helper()
	nb, err := readNotebook(tour)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range codeCells(nb) {
		c.setOutputs(nil, 0)
	}
	var cells []any
	for i, c := range code(before...).cells {
		c.raw["id"] = fmt.Sprintf("before-%d", i)
		cells = append(cells, c.raw)
	}
	nb.raw["cells"] = append(cells, nb.raw["cells"].([]any)...)
	if err := nb.write(file); err != nil {
		t.Fatal(err)
	}
}

// The lab command: the user's own Jupyter knows the kernel, and completes.
func TestLabInClassicJupyter(t *testing.T) {
	if testing.Short() {
		t.Skip("builds gopls, which -short leaves out")
	}
	if _, err := exec.LookPath("jupyter-lab"); err == nil {
		t.Skip("lab would open JupyterLab; this test is for the classic page")
	}
	dir := t.TempDir()
	if err := code("import \"github.com/svmnb/svmnb/svmnb\"\n\n%%\nfmt.Println(svmnb.Margins)").write(filepath.Join(dir, "one.ipynb")); err != nil {
		t.Fatal(err)
	}
	address := browsertest.Serve(t, dir, func(ctx context.Context, args []string) error {
		return command(ctx, append([]string{"lab"}, args...), io.Discard, io.Discard)
	})
	page := browsertest.OpenNotebook(t, address+"/notebooks/one.ipynb?kernel_name="+kernelName, browsertest.Options{})
	page.RunAll()
	// GoNB waits eight seconds for gopls, which may need longer to read the packages
	// for the first time: until then the list is empty, and a user asks again.
	page.Do(nil, `const code = '%%\nsvmnb.'
		window.matches = []
		const ask = () => Jupyter.notebook.kernel.complete(code, code.length, m => {
			window.matches = m.content.matches
			if (!window.matches.length) setTimeout(ask, 500)
		})
		ask()`)
	page.Until(`window.matches.length`)
	var matches []string
	page.Do(&matches, `return window.matches`)
	if !slices.Contains(matches, "Classify") {
		t.Errorf("svmnb. completes to %q", matches)
	}
	checkErrors(t, page.Page)
}

// The tour in somebody's own GoNB, with nothing of the runner's settings but
// the line that docs/machines.md gives.
func TestTourInPlainKernel(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("needs the real kernel, which -short leaves out")
	}
	page, err := os.ReadFile("../docs/machines.md")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^    (!\*go mod edit .*)$`).FindSubmatch(page)
	if line == nil {
		t.Fatal("docs/machines.md has no line for a kernel of one's own")
	}
	file := filepath.Join(t.TempDir(), tour)
	unrunTour(t, file, string(line[1]))
	k, err := builtKernel()
	if err != nil {
		t.Fatal(err)
	}
	plain := []string{executable(k.bin, "gonb"), "--kernel", "{connection_file}"}
	// It runs in the checkout itself: Go would compile all packages again for a copy.
	work := filepath.Join(k.root, "notebooks")
	c, err := startKernel(t.Context(), plain, append(os.Environ(), "PATH="+k.path(os.Getenv("PATH"))), work, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	nb, err := readNotebook(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), c, nb, 5*time.Minute, io.Discard); err != nil {
		t.Fatal(err)
	}
	charts(t, nb)
}

// putNotebook writes a notebook of some cells into the folder of a Jupyter that was
// started for the test, where the kernel is known and warm, and returns its path.
func putNotebook(t *testing.T, dir, name string, cells ...string) string {
	t.Helper()
	putKernel(t)
	nb := code(cells...)
	nb.raw["metadata"] = map[string]any{"kernelspec": map[string]any{"name": kernelName, "display_name": "Go (svmnb)", "language": "go"}}
	file := filepath.Join(dir, name)
	if err := nb.write(file); err != nil {
		t.Fatal(err)
	}
	return file
}

// putKernel makes the kernel known to a Jupyter that was started for the test.
func putKernel(t *testing.T) {
	t.Helper()
	k, err := relayedKernel()
	if err != nil {
		t.Fatal(err)
	}
	if err := warmKernel(); err != nil {
		t.Fatal(err)
	}
	if _, err := k.writeSpec(os.Getenv("JUPYTER_DATA_DIR")); err != nil {
		t.Fatal(err)
	}
}

// relayedKernel is the kernel as Jupyter starts it.
var relayedKernel = sync.OnceValues(func() (*kernel, error) {
	k, err := builtKernel()
	if err != nil {
		return nil, err
	}
	relayed := *k
	return &relayed, relayed.buildRelay(context.Background())
})

// warmKernel compiles the library for the cells, once.
var warmKernel = sync.OnceValue(func() error {
	k, err := builtKernel()
	if err != nil {
		return err
	}
	return k.warm(context.Background(), io.Discard)
})
