package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// reveal.js shows the slides. It is embedded, since slides must work without a network.
var (
	//go:embed reveal/reveal.js
	revealJS string
	//go:embed reveal/reveal.css
	revealCSS string
	//go:embed slides.css
	slidesCSS string
	//go:embed slides.js
	slidesJS string
)

// slide is one slide. The slides below a first one continue its subject.
type slide struct {
	first   bool            // it is not below the slide before it
	running string          // the heading of its subject; "" on the slide that has the heading itself
	parts   strings.Builder // HTML
	notes   strings.Builder // HTML for the speaker
}

// exportSlides writes the notebook as slides in one page that needs no network.
//
// If cells have the slide types of Jupyter (metadata "slideshow"), these count. If none has,
// each heading of the first two levels begins a slide, what follows is on it and on slides below
// it (pack.go), and checks and imports are left out.
func exportSlides(nb *notebook, name, dir string) ([]byte, error) {
	title := nb.title()
	if title == "" {
		title = name
	}
	d := &deck{md: newMarkdown(), dir: dir}
	if err := d.fill(nb); err != nil {
		return nil, err
	}
	var body strings.Builder
	body.WriteString("<div class=\"reveal\"><div class=\"slides\">\n")
	for i, s := range d.slides {
		if s.first || i == 0 {
			body.WriteString("<section>\n")
		}
		body.WriteString("<section>" + slideBegins + "\n")
		if s.running != "" {
			fmt.Fprintf(&body, "<p class=\"running\">%s</p>\n", s.running)
		}
		body.WriteString(s.parts.String() + "</div>\n")
		if s.notes.Len() > 0 {
			body.WriteString("<aside class=\"notes\">\n" + s.notes.String() + "</aside>\n")
		}
		body.WriteString("</section>\n")
		if i+1 == len(d.slides) || d.slides[i+1].first {
			body.WriteString("</section>\n")
		}
	}
	body.WriteString("</div></div>\n")
	return ownPage(title, body.String(), d.math, pageCSS+chromaCSS()+revealCSS+slidesCSS, revealJS+"\n"+slidesJS)
}

// slideBegins is the HTML of each slide.
const slideBegins = `<div class="slide">`

// deck collects the slides of a notebook.
type deck struct {
	md     *markdown
	dir    string
	slides []*slide
	blocks []*block // they are not on a slide yet
	math   bool
}

// fill makes the slides of a notebook.
func (d *deck) fill(nb *notebook) error {
	typed := slices.ContainsFunc(nb.cells, func(c *cell) bool { return c.slideType() != "" })
	for i, c := range nb.cells {
		var err error
		switch {
		case typed:
			err = d.addTyped(c)
		case c.kind() == "markdown":
			err = d.addText(c)
		case c.kind() == "code" && c.checks() == "":
			err = d.addCode(c)
		}
		if err != nil {
			return fmt.Errorf("cell %d: %w", i+1, err)
		}
	}
	d.pack()
	return nil
}

// slideType returns what Jupyter's metadata say of the cell, or "".
func (c *cell) slideType() string {
	metadata, _ := c.raw["metadata"].(map[string]any)
	show, _ := metadata["slideshow"].(map[string]any)
	kind, _ := show["slide_type"].(string)
	return kind
}

// last returns the slide that is being filled.
func (d *deck) last() *slide {
	if len(d.slides) == 0 {
		d.slides = append(d.slides, &slide{first: true})
	}
	return d.slides[len(d.slides)-1]
}

func (d *deck) addTyped(c *cell) error {
	kind := c.slideType()
	if kind == "skip" {
		return nil
	}
	text, math, err := renderCell(d.md, c, d.dir)
	if err != nil {
		return err
	}
	d.math = d.math || math
	switch kind {
	case "notes":
		d.last().notes.WriteString(text)
		return nil
	case "slide", "subslide":
		d.slides = append(d.slides, &slide{first: kind == "slide"})
	case "fragment":
		text = "<div class=\"fragment\">\n" + text + "</div>\n"
	}
	d.last().parts.WriteString(hangingCode(text))
	return nil
}

func (d *deck) addText(c *cell) error {
	attachments, _ := c.raw["attachments"].(map[string]any)
	for _, source := range keepTogether(paragraphs(c.source())) {
		text, math, err := d.md.render(source, d.dir, attachments)
		if err != nil {
			return err
		}
		d.math = d.math || math
		b := &block{kind: ofText, html: hangingCode(text), source: source, high: textHeight(source), level: headingLevel(source)}
		b.exercise = exerciseBegins.MatchString(source)
		b.colon = strings.HasSuffix(strings.TrimSpace(source), ":") || announced.MatchString(source)
		d.blocks = append(d.blocks, b)
	}
	return nil
}

// keepTogether joins paragraphs that make no sense apart: a sentence and the formulas in it, and what
// ends with a colon and the list or table after it.
func keepTogether(blocks []string) (list []string) {
	for _, block := range blocks {
		n := len(list)
		if n == 0 || headingLevel(list[n-1]) > 0 || headingLevel(block) > 0 {
			list = append(list, block)
			continue
		}
		before := strings.TrimSpace(list[n-1])
		colon := strings.HasSuffix(before, ":") && (listItem.MatchString(block) || strings.HasPrefix(block, "|"))
		formula := strings.HasPrefix(block, "$$") || unicode.IsLower([]rune(block)[0])
		if joined := list[n-1] + "\n" + block; (colon || formula) && runningHigh+textHeight(joined) <= slideRoom {
			list[n-1] = joined
			continue
		}
		list = append(list, block)
	}
	return list
}

// announced matches a paragraph that only says what follows, such as "*Proof.*".
var announced = regexp.MustCompile(`^\s*(\*[^*]+\*|\*\*[^*]+\*\*)\s*$`)

// exerciseBegins matches the beginning of an exercise.
var exerciseBegins = regexp.MustCompile(`^(#+ |\*\*)(Exercise )?\d+\.\d+`)

func (d *deck) addCode(c *cell) error {
	outputs, err := c.outputs()
	if err != nil {
		return err
	}
	for i, part := range codeParts(importDeclaration.ReplaceAllString(c.source(), "")) {
		d.blocks = append(d.blocks, &block{kind: ofCode, source: part.source, tight: part.tight, cell: c, high: linesHeight(part.source), continued: i > 0})
	}
	var outs []*block
	for _, o := range withoutLiving(outputs) {
		text, math, err := renderOutput(d.md, o)
		if err != nil {
			return err
		}
		d.math = d.math || math
		b := &block{kind: ofOutput, html: hangingCode(text), cell: c, stream: o.kind == "stream", half: halfWide(o, text)}
		b.charts = len(chartPlace.FindAllString(text, -1))
		b.panels = strings.Contains(text, "grid-template-columns")
		b.whole = b.charts == 1 && (manyGrids.MatchString(text) || columnsOf(text) >= manyColumns)
		if b.charts == 0 {
			b.high = outputHeight(o, text)
		}
		outs = append(outs, b)
	}
	d.blocks = append(d.blocks, pairs(outs)...)
	return nil
}

// withoutLiving leaves out a living figure, which needs an engine that slides do not have, and the
// code that its sliders write. The fixed figure of the same cell stays.
func withoutLiving(outputs []*output) []*output {
	living := func(o *output) bool {
		text, _ := o.data["text/html"].(string)
		return figured.MatchString(text)
	}
	if !slices.ContainsFunc(outputs, living) {
		return outputs
	}
	return slices.DeleteFunc(outputs, func(o *output) bool {
		text, _ := o.data["text/markdown"].(string)
		return living(o) || strings.HasPrefix(text, "```")
	})
}

// halfWide returns what an output is that may be in half of a slide: a "chart" or a "table".
func halfWide(o *output, text string) string {
	switch charts := len(chartPlace.FindAllString(text, -1)); {
	case o.kind == "stream" || strings.Contains(text, "grid-template-columns") || charts > 1:
		return ""
	case charts == 1:
		return "chart"
	case strings.Contains(text, "<table"):
		return "table"
	}
	return ""
}

// pairs puts a chart and the chart or table beside it on both sides of a slide.
func pairs(outs []*block) (list []*block) {
	for i := 0; i < len(outs); i++ {
		b := outs[i]
		if i+1 < len(outs) {
			next := outs[i+1]
			if b.half != "" && next.half != "" && !b.whole && !next.whole && (b.half == "chart" || next.half == "chart") && max(b.high, next.high) <= pairedHigh {
				b = &block{kind: ofOutput, html: columns("pair", b.html, next.html), sides: [2]string{b.html, next.html}, cell: b.cell, table: max(b.high, next.high), charts: b.charts + next.charts, panels: true}
				i++
			}
		}
		list = append(list, b)
	}
	return list
}

// columns returns HTML with two things side by side.
func columns(class, left, right string) string {
	return fmt.Sprintf("<div class=\"%s\">\n<div>\n%s</div>\n<div>\n%s</div>\n</div>\n", class, left, right)
}

// textHeight returns about how high a paragraph, a heading, a table or a formula is.
func textHeight(block string) int {
	switch headingLevel(block) {
	case 0:
	case 1:
		return 84
	default:
		return 56
	}
	bare := strings.TrimSpace(block)
	if strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, "~~~") {
		return linesHeight(bare) - 2*codeHigh
	}
	high, width := blockGap, 0
	line := func() {
		high += (width + lineWide - 1) / lineWide * lineHigh
		width = 0
	}
	for i, part := range strings.Split(bare, "$$") {
		if i%2 == 1 {
			line()
			high += 65 + 45*strings.Count(part, `\\`)
			continue
		}
		for text := range strings.Lines(part) {
			text = strings.TrimSpace(text)
			switch {
			case strings.HasPrefix(text, "|"):
				line()
				high += rowHigh
				continue
			case listItem.MatchString(text):
				line()
			}
			width += len([]rune(unseenText.ReplaceAllString(text, ""))) + 1
		}
		line()
	}
	return high
}

var (
	listItem = regexp.MustCompile(`^([-*+]|\d+[.)]) `)

	// unseenText matches what takes no place: the addresses of links, and most of the letters of a formula.
	unseenText = regexp.MustCompile(`\]\([^)]*\)|\\[a-zA-Z]+|[\\{}^_$*` + "`" + `\[]`)
)

// linesHeight returns about how high code or printed text is. Long lines are broken.
func linesHeight(text string) int {
	high := codeGap
	for line := range strings.Lines(text) {
		line = strings.ReplaceAll(line, "\t", "    ")
		high += codeHigh * (1 + max(0, len([]rune(line))-2)/codeWide)
	}
	return high
}

// outputHeight returns about how high an output without charts is.
func outputHeight(o *output, text string) int {
	if o.kind != "display_data" && o.kind != "execute_result" {
		return linesHeight(overwritten(o.text) + strings.Join(o.traceback, "\n"))
	}
	if rows := strings.Count(text, "<tr"); rows > 0 {
		return rows*rowHigh + codeGap
	}
	if s, ok := o.data["text/markdown"].(string); ok {
		high := 0
		for _, block := range paragraphs(s) {
			high += textHeight(block)
		}
		return high
	}
	if strings.HasPrefix(text, "<pre") {
		return linesHeight(html.UnescapeString(tag.ReplaceAllString(text, "")))
	}
	return pictureHigh
}

// chartPlace matches the place of a chart.
var chartPlace = regexp.MustCompile(`id="svm-[^>]*height:\d+px`)

// manyGrids matches the option of a chart with many panels or a replay.
var manyGrids = regexp.MustCompile(fmt.Sprintf(`"timeline":\{|"grid":\[(?:\{[^{}]*\},?){%d,}`, manyPanels))

// columnsOf returns how many columns the heat map of a chart has.
func columnsOf(text string) (n int) {
	if m := heatColumns.FindStringSubmatch(text); m != nil {
		n, _ = strconv.Atoi(m[1])
	}
	return n
}

var heatColumns = regexp.MustCompile(`"svm":\{"columns":(\d+)`)

// importDeclaration matches the imports of a cell.
var importDeclaration = regexp.MustCompile(`(?ms)^import \(.*?^\)\n*|^import [^\n(]*\n*`)

// codeParts splits code at blank lines, and what is longer than a slide before a statement that is not
// indented. The parts of the second kind are tight: no blank line is between them.
func codeParts(code string) (parts []codePart) {
	for part := range strings.SplitSeq(code, "\n\n") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		list := strings.Split(strings.Trim(part, "\n"), "\n")
		tight := false
		for len(list) > mostLines {
			pieces := (len(list) + mostLines - 1) / mostLines
			cut := 0
			for i := 1; i < min(mostLines+1, len(list)); i++ {
				if list[i] != "" && !strings.ContainsAny(list[i][:1], " \t})") && abs(i-len(list)/pieces) <= abs(cut-len(list)/pieces) {
					cut = i
				}
			}
			if cut == 0 {
				break
			}
			parts = append(parts, codePart{strings.Join(list[:cut], "\n"), tight})
			list, tight = list[cut:], true
		}
		parts = append(parts, codePart{strings.Join(list, "\n"), tight})
	}
	return parts
}

// codePart is code that stays whole on a slide.
type codePart struct {
	source string
	tight  bool
}

func abs(n int) int { return max(n, -n) }

// headingLevel returns the level of a heading such as "## Folds", or 0 for other text.
func headingLevel(block string) int {
	rest := strings.TrimLeft(block, "#")
	if level := len(block) - len(rest); level <= 6 && strings.HasPrefix(rest, " ") {
		return level
	}
	return 0
}

// paragraphs splits Markdown at blank lines, but not inside fenced code or a formula. An indented
// block stays with the item of the list before it.
func paragraphs(source string) (list []string) {
	var b strings.Builder
	fenced, formula := "", false
	for line := range strings.Lines(source + "\n") {
		bare := strings.TrimSpace(line)
		switch {
		case fenced != "":
			if strings.HasPrefix(bare, fenced) {
				fenced = ""
			}
		case strings.HasPrefix(bare, "```"), strings.HasPrefix(bare, "~~~"):
			fenced = bare[:3]
		case strings.Count(bare, "$$")%2 == 1:
			formula = !formula
		}
		if bare == "" && fenced == "" && !formula {
			if b.Len() > 0 {
				list = append(list, b.String())
			}
			b.Reset()
			continue
		}
		if b.Len() == 0 && len(list) > 0 && strings.HasPrefix(line, "   ") {
			b.WriteString(list[len(list)-1] + "\n")
			list = list[:len(list)-1]
		}
		b.WriteString(line)
	}
	if b.Len() > 0 {
		list = append(list, b.String())
	}
	return list
}

// printSlides prints slides. A browser on a busy machine sometimes prints before reveal.js has made the
// pages, and then says nothing. So the pages are counted.
func printSlides(ctx context.Context, page string, slides int, pdf string) error {
	pages := 0
	for range 3 {
		if err := printPDF(ctx, page, "?print-pdf", pdf); err != nil {
			return err
		}
		printed, err := os.ReadFile(pdf)
		if err != nil {
			return err
		}
		if pages = len(pageObject.FindAll(printed, -1)); pages >= slides {
			return nil
		}
	}
	return fmt.Errorf("the browser has printed %d of the %d slides of %s: try again", pages, slides, page)
}

func slidesCommand(ctx context.Context, s *session, args []string) error {
	flags := s.flags()
	dir := flags.String("o", filepath.Join(s.folder(), "out"), "where to")
	pdf := flags.Bool("pdf", false, "also print the slides")
	files, err := parse(flags, args)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return errors.New("slides of which notebooks? Name their files")
	}
	if err := os.MkdirAll(*dir, 0o755); err != nil {
		return err
	}
	for _, file := range files {
		nb, err := readNotebook(file)
		if err != nil {
			return err
		}
		page, err := exportSlides(nb, filepath.Base(file), filepath.Dir(file))
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		out := filepath.Join(*dir, strings.TrimSuffix(filepath.Base(file), ".ipynb")+"-slides.html")
		if err := writeFile(out, page); err != nil {
			return err
		}
		fmt.Fprintln(s.stdout, out)
		if *pdf {
			printed := strings.TrimSuffix(out, ".html") + ".pdf"
			if err := printSlides(ctx, out, strings.Count(string(page), slideBegins), printed); err != nil {
				return err
			}
			fmt.Fprintln(s.stdout, printed)
		}
	}
	return nil
}
