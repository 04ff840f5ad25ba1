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

// watchPage notes in each frame of the page whether the chart is there, drawn, and
// the same element as before, and collects what its title says.
const watchPage = `
	window.seen = {frames: 0, gaps: 0, swaps: 0, titles: []}
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
			const title = Array.from(svg.querySelectorAll('text'), e => e.textContent).filter(s => s.indexOf('SMO') === 0).join(' ')
			if (seen.titles[seen.titles.length - 1] !== title) seen.titles.push(title)
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
	page.Do(nil, watchPage)
	page.RunAll()
	var seen struct {
		Frames, Gaps, Swaps, Updates int
		Titles                       []string
	}
	page.Do(&seen, `return Object.assign({updates: +document.querySelector('[data-drawn]').getAttribute('data-updates')}, window.seen)`)
	if seen.Gaps > 0 || seen.Swaps > 0 || seen.Frames < 3 { // a busy machine paints few
		t.Errorf("of %d frames %d are without the picture, and it was made anew %d times", seen.Frames, seen.Gaps, seen.Swaps)
	}
	var seconds float64
	var status string
	var text string
	page.Do(&text, `return Jupyter.notebook.get_cells()[0].output_area.outputs.filter(o => o.output_type === 'stream').map(o => [].concat(o.text).join('')).join('')`)
	if _, err := fmt.Sscan(text, &status, &seconds); err != nil || status != "converged" {
		t.Fatalf("the cell says %q", text)
	}
	if most := int(5*seconds) + 2; seen.Updates < 3 || seen.Updates > most {
		t.Errorf("%d updates in %.2f s, want 3 to %d", seen.Updates, seconds, most)
	}
	if n := len(seen.Titles); n < 3 || !strings.Contains(seen.Titles[0], "is running") || !strings.Contains(seen.Titles[n-1], "converged") {
		t.Errorf("the titles were %q", seen.Titles)
	}
	if html := saved(); !strings.Contains(html, "SMO (second order): converged") {
		t.Errorf("the saved chart is not the last: %.300s", html)
	}
	photograph(t, page.Page, "running", browsertest.Options{})

	// The interrupt leaves what there is.
	page.Do(nil, `const c = Jupyter.notebook.get_cell(0); c.set_text(c.get_text().replace('C(3e4)', 'C(1e9)')); c.execute()`)
	page.Until(`Array.from(document.querySelectorAll('[data-drawn]')).some(e => +e.getAttribute('data-updates') > 2 && e.textContent.indexOf('is running') >= 0)`)
	page.Do(nil, `Jupyter.notebook.kernel.interrupt()`)
	page.Idle()
	if html := saved(); !strings.Contains(html, "SMO (second order): interrupted") {
		t.Errorf("the saved chart does not say that the run was interrupted: %.300s", html)
	}
	checkErrors(t, page.Page)

	// Saved and opened again it is there without being run.
	again := browsertest.OpenNotebook(t, address, browsertest.Options{})
	again.Until(`document.querySelector('[data-drawn]') && document.querySelector('[data-drawn]').textContent.indexOf('interrupted') >= 0`)
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
