package main

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/svmnb/svmnb/internal/browsertest"
)

// liveCell runs for some seconds. Its last line says how long.
const liveCell = `import (
	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
)

%%
fit := svmnb.Classify(datasets.Moons(1000, 0.35, 1)).Kernel(kernels.RBF(20)).C(3e4).Tol(1e-4).SMO().Live().MustFit()
fmt.Printf("%v %.3f\n", fit.Status, fit.Elapsed.Seconds())`

// endless in place of C(3e4) makes a run that lasts until it is interrupted.
const endless = "C(1e9).MaxIterations(1<<60)"

// watched looks at a live chart until it has changed a few times, and checks that it never
// disappeared.
func watched(t *testing.T, page *browsertest.Page) {
	t.Helper()
	page.Do(nil, watchPage)
	page.Until(`seen.words.length > 3`)
	var seen struct{ Frames, Gaps, Swaps int }
	page.Do(&seen, `return seen`)
	if seen.Gaps > 0 || seen.Swaps > 0 {
		t.Errorf("of %d frames %d are without the picture, and it was made anew %d times", seen.Frames, seen.Gaps, seen.Swaps)
	}
}

// watchPage notes in each frame of the page whether the chart is there, drawn, and
// the same element as before, and collects its words, without spaces: a title breaks into
// lines where the chart is narrow.
const watchPage = `
	window.seen = {frames: 0, gaps: 0, swaps: 0, words: []}
	let before = null
	const look = () => {
		const svg = document.querySelector('[data-drawn] svg')
		if (before) {
			seen.frames++
			if (!svg || svg.getBoundingClientRect().height < 100 || svg.querySelectorAll('path').length < 10) seen.gaps++
			if (svg && svg !== before) seen.swaps++
		}
		if (svg) {
			before = svg
			const words = svg.textContent.replace(/\s/g, '')
			if (seen.words[seen.words.length - 1] !== words) seen.words.push(words)
		}
		requestAnimationFrame(look)
	}
	requestAnimationFrame(look)`

// liveOutputs returns the HTML of the charts in a notebook's outputs.
func liveOutputs(t *testing.T, nb *notebook) (html []string) {
	t.Helper()
	for _, c := range codeCells(nb) {
		outs, err := c.outputs()
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range outs {
			if h, _ := o.data["text/html"].(string); strings.Contains(h, "S.draw(") {
				html = append(html, h)
			}
		}
	}
	return html
}

// A run that is watched in a live classic notebook: one display that changes in
// place without a blink, whose last state is saved with the library, also after an
// interrupt.
func TestLiveInClassicJupyter(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the real kernel, which -short leaves out")
	}
	dir := t.TempDir()
	address := browsertest.Jupyter(t, dir) + "/notebooks/live.ipynb"
	file := putNotebook(t, dir, "live.ipynb", liveCell)
	page := browsertest.OpenNotebook(t, address, browsertest.Options{})
	saved := func() string {
		t.Helper()
		page.Save()
		nb, err := readNotebook(file)
		if err != nil {
			t.Fatal(err)
		}
		html := liveOutputs(t, nb)
		if len(html) != 1 {
			t.Fatalf("%d charts are saved, want the one that changed", len(html))
		}
		if n := strings.Count(html[0], "(function svmnb(w, packed)"); n != 1 {
			t.Errorf("the chart is saved with %d copies of the library, want 1", n)
		}
		return html[0]
	}
	page.RunAll()
	var updates int
	page.Do(&updates, `return +document.querySelector('[data-drawn]').getAttribute('data-updates')`)
	var seconds float64
	var status string
	var text string
	page.Do(&text, `return Jupyter.notebook.get_cells()[0].output_area.outputs.filter(o => o.output_type === 'stream').map(o => [].concat(o.text).join('')).join('')`)
	if _, err := fmt.Sscan(text, &status, &seconds); err != nil || status != "converged" {
		t.Fatalf("the cell says %q", text)
	}
	if most := int(5*seconds) + 2; updates > most {
		t.Errorf("%d updates in %.2f s, want at most %d", updates, seconds, most)
	}
	page.Until(browsertest.Says("document.querySelector('[data-drawn]')", "SMO (second order): converged"))
	if html := saved(); !strings.Contains(html, "SMO (second order): converged") {
		t.Errorf("the saved chart is not the last: %.300s", html)
	}
	photograph(t, page.Page, "running", browsertest.Options{})

	// The picture changes in place, and an interrupt leaves what there is.
	page.Do(nil, `const c = Jupyter.notebook.get_cell(0); c.set_text(c.get_text().replace('C(3e4)', '`+endless+`')); c.execute()`)
	page.Until(`Array.from(document.querySelectorAll('[data-drawn]')).some(e => ` + browsertest.Says("e", "is running") + `)`)
	watched(t, page.Page)
	page.Do(nil, `Jupyter.notebook.kernel.interrupt()`)
	page.Idle()
	if html := saved(); !strings.Contains(html, "SMO (second order): interrupted") {
		t.Errorf("the saved chart does not say that the run was interrupted: %.300s", html)
	}
	checkErrors(t, page.Page)

	// Saved and opened again it is there without being run.
	again := browsertest.OpenNotebook(t, address, browsertest.Options{})
	again.Until(`document.querySelector('[data-drawn]') && ` + browsertest.Says("document.querySelector('[data-drawn]')", "interrupted"))
	checkErrors(t, again.Page)
}

// The runner sees the same updates and keeps the last.
func TestLiveWithoutPage(t *testing.T) {
	nb := code(liveCell)
	if err := run(t.Context(), realKernel(t), nb, 5*time.Minute, io.Discard); err != nil {
		t.Fatal(err)
	}
	html := liveOutputs(t, nb)
	if len(html) != 1 || !strings.Contains(html[0], "SMO (second order): converged") || strings.Count(html[0], "(function svmnb(w, packed)") != 1 {
		t.Errorf("%d charts, of which the last is %.300s", len(html), strings.Join(html, ""))
	}
}
