package main

import (
	"os"
	"path/filepath"
	"slices"
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
	long := strings.TrimSpace(strings.Repeat("word ", 13*lineWide/5)) // about 13 lines
	lines := strings.Repeat("x\n", 20)
	for _, test := range []struct {
		name  string
		cells []*cell
		want  []string
	}{
		{"headings", []*cell{prose("# A\n\na\n\n## B\n\nb\n\n### C\n\nc")}, []string{"| A a", "| B b", "C c"}},
		{"a long text", []*cell{prose("# A\n\n" + long + "\n\nThe next one")}, []string{"| A " + long, "The next one"}},
		{"a text after another", []*cell{prose("# A"), prose("a"), prose("b")}, []string{"| A a b"}},
		{"a sentence with a formula", []*cell{prose("# A\n\n" + long + "\n\nSo\n\n$$a$$\n\nis the end.")}, []string{"| A " + long, "So a is the end."}},
		{"a list after a colon", []*cell{prose("# A\n\n" + long + "\n\nThese:\n\n- a\n- b")}, []string{"| A " + long, "These: a b"}},
		{"code and what it prints", []*cell{prose("# A"), code("import \"fmt\"\n\nx", "1\n")}, []string{"| A x 1"}},
		{"code after code", []*cell{code("x", "1\n"), code("y", "2\n")}, []string{"| x 1", "y 2"}},
		{"code that fits with its output but not with the text", []*cell{prose("# A\n\n" + long), code("x", strings.Repeat("1\n", 15))}, []string{"| A " + long, "x " + strings.TrimSpace(strings.Repeat("1 ", 15))}},
		{"code without output stays with a short text", []*cell{prose("# A\n\n**1.1** What is it?"), code("var a = 1")}, []string{"| A 1.1 What is it? var a = 1"}},
		{"long code", []*cell{code(lines + "\n" + lines)}, []string{"| " + strings.Join(strings.Fields(lines), " "), strings.Join(strings.Fields(lines), " ")}},
		{"much printed", []*cell{code("x", strings.Repeat("1\n", 30))}, []string{"| x", strings.TrimSpace(strings.Repeat("1 ", 30))}},
		{"printed lines move to the text about them", []*cell{code(strings.Repeat("x\n", 18), strings.Repeat("1\n", 6)), prose(long[:len(long)/2])},
			[]string{"| " + strings.TrimSpace(strings.Repeat("x ", 18)), strings.Repeat("1 ", 6) + long[:len(long)/2]}},
		{"a short declaration stays with what follows", []*cell{code(lines + "\ntype a int\n\n" + strings.Repeat("y\n", 9))}, []string{"| " + strings.Join(strings.Fields(lines), " "), "type a int " + strings.TrimSpace(strings.Repeat("y ", 9))}},
		{"an exercise after another", []*cell{prose("**1.1** a"), code("x"), prose("**1.2** b"), code("y")}, []string{"| 1.1 a x", "1.2 b y"}},
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
		if got, want := strings.Fields(strings.Join(codeParts(code), "\n")), strings.Fields(code); !slices.Equal(got, want) {
			t.Fatalf("code %q became %q", want, got)
		}
	})
}

// Every slide of a lesson fits, every chart is drawn, and nothing is fetched.
func TestSlidesInBrowser(t *testing.T) {
	const lesson = "05-smo.ipynb"
	nb, err := readNotebook(lesson)
	if err != nil {
		t.Fatal(err)
	}
	page, err := exportSlides(nb, lesson, ".")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "slides.html")
	if err := os.WriteFile(file, page, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, dark := range []bool{false, true} {
		p := browsertest.Open(t, file, browsertest.Options{Offline: true, Dark: dark})
		p.Until("Reveal.isReady()")
		var slides int
		p.Do(&slides, "return Reveal.getTotalSlides()")
		if slides < 20 {
			t.Fatalf("%d slides", slides)
		}
		charts := 0
		for range slides {
			p.Until(`[...Reveal.getCurrentSlide().querySelectorAll('.math')].every(e => e.querySelector('.katex'))`)
			p.Until(`[...Reveal.getCurrentSlide().querySelectorAll('[id^=svm-]')].every(e => e.querySelector('svg, canvas'))`)
			var s struct {
				Title        string
				High, Charts int
			}
			p.Do(&s, `const s = Reveal.getCurrentSlide().querySelector('.slide');
				return {title: s.innerText.slice(0, 40), charts: s.querySelectorAll('[id^=svm-] svg, [id^=svm-] canvas').length,
					high: Math.round(s.getBoundingClientRect().height / Reveal.getScale())}`)
			if s.High > 545 {
				t.Errorf("the slide %q is %d high", s.Title, s.High)
			}
			charts += s.Charts
			p.Do(nil, "Reveal.next()")
		}
		if want := strings.Count(string(page), `id="svm-`); charts == 0 || charts < want {
			t.Errorf("%d drawings of %d charts", charts, want)
		}
		if errs := p.Errors(); len(errs) > 0 {
			t.Errorf("dark %v: %q", dark, errs)
		}
	}
}
