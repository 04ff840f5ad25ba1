package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/internal/browsertest"
	"pgregory.net/rapid"
)

func prose(source string) *cell {
	return &cell{raw: map[string]any{"cell_type": "markdown", "source": source, "metadata": map[string]any{}}}
}

func typed(c *cell, kind string) *cell {
	c.raw["metadata"] = map[string]any{"slideshow": map[string]any{"slide_type": kind}}
	return c
}

// deckOf returns the text of each slide, with "| " before the first one of a subject.
func deckOf(t *testing.T, cells ...*cell) []string {
	t.Helper()
	nb := &notebook{cells: cells}
	d := &deck{md: newMarkdown()}
	if err := d.fill(nb); err != nil {
		t.Fatal(err)
	}
	var slides []string
	for _, s := range d.slides {
		all := strings.Join(strings.Fields(tag.ReplaceAllString(s.parts.String(), " ")), " ")
		if s.notes.Len() > 0 {
			all += " / " + strings.TrimSpace(tag.ReplaceAllString(s.notes.String(), ""))
		}
		if s.first {
			all = "| " + all
		}
		slides = append(slides, all)
	}
	return slides
}

func TestDeck(t *testing.T) {
	code := func(source string, printed ...string) *cell {
		c := code(source).cells[0]
		var outs []*output
		for _, p := range printed {
			outs = append(outs, &output{kind: "stream", name: "stdout", text: p})
		}
		c.setOutputs(outs, 1)
		return c
	}
	long := strings.TrimSpace(strings.Repeat("word ", 15*lineWide/5)) // about 15 lines
	half := long[:len(long)/2-2]
	lines := strings.Repeat("x\n", 20)
	for _, test := range []struct {
		name  string
		cells []*cell
		want  []string
	}{
		{"headings", []*cell{prose("# A\n\na\n\n## B\n\nb\n\n### C\n\nc")}, []string{"| A a", "| B b C c"}},
		{"a long text", []*cell{prose("# A\n\n" + long + "\n\n" + half)}, []string{"| A " + long, half}},
		{"a text after another", []*cell{prose("# A"), prose("a"), prose("b")}, []string{"| A a b"}},
		{"a sentence with a formula", []*cell{prose("# A\n\n" + long + "\n\nSo\n\n$$a$$\n\nis the end.")}, []string{"| A " + long, "So a is the end."}},
		{"a list after a colon", []*cell{prose("# A\n\n" + long + "\n\nThese:\n\n- a\n- b")}, []string{"| A " + long, "These: a b"}},
		{"code and what it prints", []*cell{prose("# A"), code("import \"fmt\"\n\nx", "1\n")}, []string{"| A x 1"}},
		{"code after code", []*cell{code("x", "1\n"), code("y", "2\n")}, []string{"| x 1 y 2"}},
		{"code that fits with its output but not with the text", []*cell{prose("# A\n\n" + long), code("x", strings.Repeat("1\n", 15))}, []string{"| A " + long, "x " + strings.TrimSpace(strings.Repeat("1 ", 15))}},
		{"code without output stays with a short text", []*cell{prose("# A\n\n**1.1** What is it?"), code("var a = 1")}, []string{"| A 1.1 What is it? var a = 1"}},
		{"long code", []*cell{code(lines + "\n" + lines)}, []string{"| " + strings.Join(strings.Fields(lines), " "), strings.Join(strings.Fields(lines), " ")}},
		{"long code without blank lines", []*cell{code(strings.Repeat("x\n", 14) + "for {\n" + strings.Repeat("\ty\n", 18) + "}\nz")},
			[]string{"| " + strings.TrimSpace(strings.Repeat("x ", 14)), "for { " + strings.Repeat("y ", 18) + "} z"}},
		{"much printed", []*cell{code("x", strings.Repeat("1\n", 30))}, []string{"| x", strings.TrimSpace(strings.Repeat("1 ", 30))}},
		{"printed lines move to the text about them", []*cell{code(strings.Repeat("x\n", 18), strings.Repeat("1\n", 6)), prose(half)},
			[]string{"| " + strings.TrimSpace(strings.Repeat("x ", 18)), strings.Repeat("1 ", 6) + half}},
		{"a short declaration stays with what follows", []*cell{code(lines + "\ntype a int\n\n" + strings.Repeat("y\n", 9))}, []string{"| " + strings.Join(strings.Fields(lines), " "), "type a int " + strings.TrimSpace(strings.Repeat("y ", 9))}},
		{"a short exercise after another", []*cell{prose("**1.1** a"), code("x"), prose("**1.2** b"), code("y")}, []string{"| 1.1 a x 1.2 b y"}},
		{"an exercise after another", []*cell{prose("**1.1** " + half), code("x"), prose("**1.2** " + half), code("y")}, []string{"| 1.1 " + half + " x", "1.2 " + half + " y"}},
		{"a short subject after another", []*cell{prose("# A\n\na"), prose("## B\n\n" + half), code("x"), prose("## C\n\nc")}, []string{"| A a", "| B " + half + " x C c"}},
		{"a short subject before another", []*cell{prose("# A\n\na"), prose("## B\n\n" + long), prose("## C\n\nc"), prose("## D\n\n" + half)}, []string{"| A a", "| B " + long, "| C c D " + half}},
		{"what is only announced", []*cell{prose("# A\n\n" + long + "\n\n*Proof.*\n\n" + half)}, []string{"| A " + long, "Proof. " + half}},
		{"no checks, no imports", []*cell{prose("# A"), code("import (\n\t\"fmt\"\n)\n"), code("%% check 1.1\nlab.Check(\"1.1\")")}, []string{"| A"}},
		{"types", []*cell{typed(prose("# A"), "slide"), typed(prose("b"), "-"), typed(prose("never"), "skip"), typed(code("x"), "subslide"), typed(prose("say this"), "notes"), typed(prose("then"), "fragment")},
			[]string{"| A b", "x then / say this"}},
		{"nothing", nil, nil},
	} {
		if got := deckOf(t, test.cells...); !slices.Equal(got, test.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", test.name, got, test.want)
		}
	}
}

// The first text after a chart is beside it, two outputs of a cell are side by side, and a living figure,
// whose engine slides do not have, is left out.
func TestBeside(t *testing.T) {
	chart := `<div id="svm-1" style="height:500px"></div>`
	for _, test := range []struct {
		name         string
		html         []string
		beside, pair int
	}{
		{"a chart", []string{chart}, 1, 0},
		{"a chart and a table", []string{chart, "<table><tr><td>1</td></tr></table>"}, 0, 1},
		{"two charts", []string{chart, chart}, 0, 1},
		{"a table", []string{"<table><tr><td>1</td></tr></table>"}, 0, 0},
		{"a living figure", []string{chart, `<svmnb-figure spec="{}"></svmnb-figure>`}, 1, 0},
	} {
		c := code("x").cells[0]
		var outs []*output
		for _, h := range test.html {
			outs = append(outs, &output{kind: "display_data", data: map[string]any{"text/html": h}})
		}
		c.setOutputs(outs, 1)
		d := &deck{md: newMarkdown()}
		if err := d.fill(&notebook{cells: []*cell{c, prose("how to read it")}}); err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for _, s := range d.slides {
			all.WriteString(s.parts.String())
		}
		beside, pair := strings.Count(all.String(), `class="beside"`), strings.Count(all.String(), `class="pair"`)
		if beside != test.beside || pair != test.pair || strings.Contains(all.String(), "svmnb-figure") {
			t.Errorf("%s: %d beside, %d pairs in\n%s", test.name, beside, pair, all.String())
		}
	}
}

// What is split is what was there, and code and formulas stay whole.
func TestParagraphs(t *testing.T) {
	for source, want := range map[string][]string{
		"a\nb\n\nc":                         {"a\nb\n", "c\n"},
		"```go\na\n\nb\n```\n\nc":           {"```go\na\n\nb\n```\n", "c\n"},
		"so\n$$\na\n\nb\n$$\nis\n\nc":       {"so\n$$\na\n\nb\n$$\nis\n", "c\n"},
		"$$a$$\n\nb":                        {"$$a$$\n", "b\n"},
		"1. a\n\n   more of a\n\n2. b":      {"1. a\n\n   more of a\n", "2. b\n"},
		"~~~\nnever closed\n\n# no heading": {"~~~\nnever closed\n\n# no heading\n"},
		"":                                  nil,
	} {
		if got := paragraphs(source); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", source, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		source := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a", "", "# h", "```", "$$", "   in", "~~~", "$$x$$"})).Draw(t, "lines"), "\n")
		if got, want := strings.Fields(strings.Join(paragraphs(source), "\n")), strings.Fields(source); !slices.Equal(got, want) {
			t.Fatalf("%q became %q", want, got)
		}
		code := strings.ReplaceAll(source, "#", "//")
		var parts []string
		for _, p := range codeParts(code) {
			parts = append(parts, p.source)
		}
		if got, want := strings.Fields(strings.Join(parts, "\n")), strings.Fields(code); !slices.Equal(got, want) {
			t.Fatalf("code %q became %q", want, got)
		}
	})
}

// If much code is between a chart and the text about it, the chart is shown behind the code.
func TestChartNearText(t *testing.T) {
	cells := func(between int) (list []*cell) {
		for _, source := range []string{"a", strings.Repeat("b\n", between)} {
			c := code(source).cells[0]
			c.setOutputs([]*output{{kind: "display_data", data: map[string]any{"text/html": `<div id="svm-1" style="height:500px">chart ` + source[:1] + `</div>`}}}, 1)
			list = append(list, c)
		}
		return append(list, prose("**Reading the pictures.** They differ."))
	}
	for between, want := range map[int]string{2: "a chart a b b chart b Reading", 20: "a" + strings.Repeat(" b", 20) + " chart a chart b Reading"} {
		got := strings.ReplaceAll(strings.Join(deckOf(t, cells(between)...), " "), "| ", "")
		if !strings.HasPrefix(got, want) {
			t.Errorf("%d lines between: %q, want %q", between, got, want)
		}
	}
}

// measureSlide looks at the slide that is shown: letters in pixels of the screen, heights in those of a slide.
const measureSlide = `
	const slide = Reveal.getCurrentSlide().querySelector('.slide'), scale = Reveal.getScale()
	const charts = [...slide.querySelectorAll('[id^=svm-]')].filter(e => e.querySelector('svg, canvas'))
	let letter = 99, low = 0, right = 0
	for (const e of [...charts, ...slide.querySelectorAll('.legend')])
		for (const d of window.__svmEcharts.echarts.getInstanceByDom(e).getZr().storage.getDisplayList(true))
			if (d.type === 'tspan' && d.style.text.trim() && !d.invisible)
				letter = Math.min(letter, /([\d.]+)px/.exec(d.style.font)[1] * e.currentCSSZoom * scale)
	for (const e of slide.querySelectorAll('*')) if (!e.closest('.katex, svg, .svm-numbers')) {
		const box = e.getBoundingClientRect()
		low = Math.max(low, box.bottom)
		right = Math.max(right, box.right)
	}
	const unindented = [...slide.querySelectorAll('.hang')].filter(e => {
		const letters = document.createRange()
		const nodes = document.createTreeWalker(e, NodeFilter.SHOW_TEXT)
		let left = null, top = 0
		for (let n = nodes.nextNode(); n; n = nodes.nextNode())
			for (let k = 0; k < n.data.length; k++) if (n.data[k].trim()) {
				letters.setStart(n, k)
				letters.setEnd(n, k + 1)
				const box = letters.getBoundingClientRect()
				if (left === null) left = box.left, top = box.bottom
				else if (box.top > top - 2 && box.left < left + 10) return true
			}
	}).map(e => e.textContent)
	slide.style.setProperty('--size', 1)
	slide.style.zoom = 1
	const high = slide.scrollHeight, first = Reveal.getIndices().v === 0
	return {title: slide.innerText.slice(0, 60), charts: charts.length, letter, low: Math.round(low), right: Math.round(right), unindented, high, first}`

// Every slide of a lesson fits on a projector and can be read from the last row, no slide is nearly empty if the
// next one has room, every chart is drawn, and nothing is fetched.
func TestSlidesInBrowser(t *testing.T) {
	for _, test := range []struct {
		lesson string
		dark   bool
	}{{"05-smo.ipynb", true}, {"09-kernels.ipynb", false}, {"12-model-selection.ipynb", false}} {
		nb, err := readNotebook(test.lesson)
		if err != nil {
			t.Fatal(err)
		}
		page, err := exportSlides(nb, test.lesson, ".")
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "slides.html")
		if err := os.WriteFile(file, page, 0o644); err != nil {
			t.Fatal(err)
		}
		p := browsertest.Open(t, file, browsertest.Options{Offline: true, Dark: test.dark, Width: 1280, Height: 720})
		p.Until("Reveal.isReady()")
		var slides int
		p.Do(&slides, "return Reveal.getTotalSlides()")
		if slides < 20 {
			t.Fatalf("%s has %d slides", test.lesson, slides)
		}
		type seen struct {
			Title            string
			Charts           int
			Letter           float64
			Low, Right, High int
			Unindented       []string
			First            bool
		}
		charts := 0
		var before seen
		for k := range slides {
			p.Until(`[...Reveal.getCurrentSlide().querySelectorAll('.math')].every(e => e.querySelector('.katex'))`)
			p.Until(`[...Reveal.getCurrentSlide().querySelectorAll('[id^=svm-]')].every(e => e.querySelector('svg, canvas'))`)
			p.Until(`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50, true))))`)
			var s seen
			p.Do(&s, measureSlide)
			at := test.lesson + ", slide " + strconv.Itoa(k+1) + " (" + s.Title + ")"
			if s.Letter < 17 {
				t.Errorf("%s: a letter of a figure is %.1f px high, want 17", at, s.Letter)
			}
			if s.Low > 720 || s.Right > 1280 {
				t.Errorf("%s goes to %d, %d of 1280 × 720", at, s.Right, s.Low)
			}
			if len(s.Unindented) > 0 {
				t.Errorf("%s: the rest of a broken line is not indented: %q", at, s.Unindented)
			}
			if !s.First && k > 0 && s.Charts+before.Charts == 0 && min(before.High, s.High) < slideRoom*4/10 && before.High+s.High < slideRoom*3/4 {
				t.Errorf("%s: it is %d high, and the slide before it %d: they should be one", at, s.High, before.High)
			}
			before = s
			charts += s.Charts
			p.Do(nil, "Reveal.next()")
		}
		if want := strings.Count(string(page), `id="svm-`); charts == 0 || charts < want {
			t.Errorf("%s: %d drawings of %d charts", test.lesson, charts, want)
		}
		if errs := p.Errors(); len(errs) > 0 {
			t.Errorf("%s: %q", test.lesson, errs)
		}
	}
}
