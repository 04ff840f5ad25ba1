package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/internal/browsertest"
)

// unreadable lists the texts in the charts of a page that nobody can read: cut off by the edge of
// the chart or of their panel, shortened for want of room, over one another, or too small. It takes
// them from the drawing library, so it does not matter whether a chart is SVG or a canvas.
const unreadable = `
	const out = []
	document.querySelectorAll('[data-drawn]').forEach(el => {
		const chart = window.__svmEcharts.echarts.getInstanceByDom(el), title = [].concat(chart.getOption().title || {})[0].text || ''
		const bad = words => out.push(title.replace(/\n/g, ' ') + ': ' + words)
		const placed = e => { const r = e.getBoundingRect().clone(); if (e.transform) r.applyTransform(e.transform); return r }
		const beyond = (r, x, y, width, height) => r.x < x - 1 || r.y < y - 2 || r.x + r.width > x + width + 1 || r.y + r.height > y + height + 2 // boxes are a line high, letters less
		const texts = chart.getZr().storage.getDisplayList(true).filter(e => {
			for (let p = e; p; p = p.parent) if (p.ignore || p.invisible) return false
			return e.type === 'tspan' && String(e.style.text).trim() && e.style.opacity !== 0
		}).map(e => ({ words: String(e.style.text), r: placed(e), size: parseFloat((/([\d.]+)px/.exec(e.style.font) || [0, 12])[1]),
			cut: (e.__clipPaths || []).some(c => { const b = placed(c); return beyond(placed(e), b.x, b.y, b.width, b.height) }) }))
		if (!texts.length) bad('it has no texts')
		texts.forEach((a, i) => {
			if (a.cut || beyond(a.r, 0, 0, chart.getWidth(), chart.getHeight())) bad('"' + a.words + '" is cut off')
			if (/(\.\.\.|…)$/.test(a.words)) bad('"' + a.words + '" is shortened')
			if (a.size < 8.5) bad('"' + a.words + '" has only ' + a.size + ' px')
			texts.slice(0, i).forEach(b => {
				const x = Math.min(a.r.x + a.r.width, b.r.x + b.r.width) - Math.max(a.r.x, b.r.x), y = Math.min(a.r.y + a.r.height, b.r.y + b.r.height) - Math.max(a.r.y, b.r.y)
				if (x > 2 && y > 4) bad('"' + a.words + '" covers "' + b.words + '"')
			})
		})
	})
	return out`

// On a telephone, all texts in the figures of the gallery and of the notebooks can be read.
func TestTextsOnTelephone(t *testing.T) {
	var drawn []any
	for _, r := range gallery(asItIs) {
		for _, e := range r.exhibits {
			c, err := e.draw()
			if err != nil {
				t.Fatal(err)
			}
			drawn = append(drawn, c)
		}
	}
	html, library := chartHTML(t, drawn...)
	files, err := filepath.Glob("*.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		nb, err := readNotebook(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range codeCells(nb) {
			outs, err := c.outputs()
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range outs {
				if page, _ := o.data["text/html"].(string); strings.Contains(page, `id="svm-`) {
					page, _ = cutLibraries(page)
					html = append(html, page)
				}
			}
		}
	}
	html[0] += library
	measureTexts(t, html, len(html)-len(drawn) > 100)
}

// measureTexts draws charts on a page of 400 px and reports the texts that cannot be read.
func measureTexts(t *testing.T, html []string, enough bool) {
	t.Helper()
	if !enough {
		t.Errorf("only %d charts", len(html))
	}
	nb, err := parseNotebook(displaying(t, html...))
	if err != nil {
		t.Fatal(err)
	}
	page, err := exportHTML(nb, "telephone", ".")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "telephone.html")
	if err := os.WriteFile(file, page, 0o644); err != nil {
		t.Fatal(err)
	}
	p := browsertest.Open(t, file, browsertest.Options{Offline: true, Width: 400})
	p.Until(fmt.Sprintf(`document.querySelectorAll('[data-drawn]').length >= %d`, len(html)))
	var bad []string
	p.Do(&bad, unreadable)
	for _, s := range slices.Compact(slices.Sorted(slices.Values(bad))) {
		t.Error(s)
	}
	if errs := p.Errors(); len(errs) > 0 {
		t.Errorf("errors in the page: %q", errs)
	}
}
