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
	high    int             // about how high it is, in pixels
	code    bool            // it has code
	picture bool            // what follows may say how to read its picture
	latest  showing         // its last outputs, which are at the end of parts
}

// showing is what the last cell of a slide has shown.
type showing struct {
	at    int  // where it begins in the parts of the slide
	high  int  // about how high it is with the texts below it, in pixels; 0 if there is nothing
	chart bool // it is one chart or two small ones, so that a text fits beside it
}

// A slide is 540 pixels high. Where its content is higher, slides.js makes it smaller. So a slide takes
// more than the room that it has if this keeps together what belongs together: code and what it
// prints, which is small already, or a picture and the text about it, which is not.
const slideRoom, roomWithCode, roomWithPicture = 510, 640, 780

// These are heights in pixels, and widths in letters. They need not be exact.
const (
	lineHigh, lineWide = 30, 86
	codeHigh, codeWide = 21, 108
	rowHigh            = 36
	blockGap           = 12 // below a paragraph
	codeGap            = 34 // around code or an output
	runningHigh        = 32
	pictureHigh        = 480 // of a picture that does not say how high it is
	pairedHigh         = 600 // of what may be in half of a slide
	besideHigh         = 330 // of a text that, in the third of a slide beside a chart, is as high as the chart
	emptyHigh          = 200 // what is lower leaves a slide nearly empty
)

// exportSlides writes the notebook as slides in one page that needs no network.
//
// If cells have the slide types of Jupyter (metadata "slideshow"), these count. If none has,
// each heading of the first two levels begins a slide, what follows is on it as far as it
// fits and then on slides below it, and checks and imports are left out.
func exportSlides(nb *notebook, name, dir string) ([]byte, error) {
	title := nb.title()
	if title == "" {
		title = name
	}
	d := &deck{md: newMarkdown(), dir: dir, typed: slices.ContainsFunc(nb.cells, func(c *cell) bool { return c.slideType() != "" })}
	for i, c := range nb.cells {
		if err := d.add(c); err != nil {
			return nil, fmt.Errorf("cell %d: %w", i+1, err)
		}
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
	md      *markdown
	dir     string
	typed   bool // cells say where slides begin
	slides  []*slide
	running string // the last heading
	math    bool
}

// slideType returns what Jupyter's metadata say of the cell, or "".
func (c *cell) slideType() string {
	metadata, _ := c.raw["metadata"].(map[string]any)
	show, _ := metadata["slideshow"].(map[string]any)
	kind, _ := show["slide_type"].(string)
	return kind
}

func (d *deck) next(first bool) *slide {
	s := &slide{first: first, running: d.running}
	if s.running != "" {
		s.high = runningHigh
	}
	d.slides = append(d.slides, s)
	return s
}

// last returns the slide that is being filled.
func (d *deck) last() *slide {
	if len(d.slides) == 0 {
		return d.next(true)
	}
	return d.slides[len(d.slides)-1]
}

func (d *deck) add(c *cell) error {
	switch {
	case d.typed:
		return d.addTyped(c)
	case c.kind() == "markdown":
		return d.addText(c)
	case c.kind() == "code" && c.checks() == "":
		return d.addCode(c)
	}
	return nil
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
		d.next(kind == "slide")
	case "fragment":
		text = "<div class=\"fragment\">\n" + text + "</div>\n"
	}
	d.last().parts.WriteString(text)
	return nil
}

func (d *deck) addText(c *cell) error {
	attachments, _ := c.raw["attachments"].(map[string]any)
	for _, block := range keepTogether(paragraphs(c.source())) {
		text, math, err := d.md.render(block, d.dir, attachments)
		if err != nil {
			return err
		}
		d.math = d.math || math
		high := textHeight(block)
		level := headingLevel(block)
		if level == 0 && d.last().picture && !exerciseBegins.MatchString(block) && d.addReading(text, high) {
			continue
		}
		switch {
		case level == 0 && !d.fits(high, d.last().textRoom()) && !exerciseBegins.MatchString(block) && d.moveShown(high, slideRoom):
		case level == 1 || level == 2:
			d.running = ""
			d.next(true)
			d.running = strings.TrimSpace(tag.ReplaceAllString(text, ""))
		case level > 0, exerciseBegins.MatchString(block) && (d.last().code || d.last().picture), !d.fits(high, d.last().textRoom()):
			d.next(false)
		}
		last := d.last()
		last.parts.WriteString(text)
		last.high += high
		if last.latest.high > 0 {
			last.latest.high += high
		}
		last.picture = false // only one paragraph says how to read it
	}
	return nil
}

// addReading puts the first text after outputs onto the slide of the outputs: beside a chart, or below
// what was shown. If the code above leaves no room, the outputs and the text get a slide of their own.
// It reports whether it has found a place.
func (d *deck) addReading(text string, high int) bool {
	last := d.last()
	beside := last.latest.chart && high <= besideHigh
	if beside {
		high = 0
	}
	if !beside && !d.fits(high, last.textRoom()) {
		if !d.moveShown(high, roomWithPicture) {
			return false
		}
		last = d.last()
	}
	last.picture = false
	if beside {
		all := last.parts.String()
		last.parts.Reset()
		text = all[:last.latest.at] + columns("beside", all[last.latest.at:], text)
	}
	last.parts.WriteString(text)
	last.high += high
	last.latest.high += high
	return true
}

// moveShown moves what the last cell has shown, and the texts about it, to a slide of their own, if
// the code that stays does not leave its slide nearly empty, and if what is that high has room below.
func (d *deck) moveShown(high, room int) bool {
	last := d.last()
	moved := last.latest
	if moved.high == 0 || last.high-moved.high < emptyHigh || runningHigh+moved.high+high > room {
		return false
	}
	all := last.parts.String()
	last.parts.Reset()
	last.parts.WriteString(all[:moved.at])
	last.high -= moved.high
	last.picture, last.latest = false, showing{}
	next := d.next(false)
	next.parts.WriteString(all[moved.at:])
	next.high += moved.high
	moved.at = 0
	next.latest = moved
	return true
}

// columns returns HTML with two things side by side.
func columns(class, left, right string) string {
	return fmt.Sprintf("<div class=\"%s\">\n<div>\n%s</div>\n<div>\n%s</div>\n</div>\n", class, left, right)
}

// textRoom returns how high the slide may become by more text.
func (s *slide) textRoom() int {
	switch {
	case s.picture && s.code:
		return roomWithCode
	case s.picture:
		return roomWithPicture
	}
	return slideRoom
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

// exerciseBegins matches the beginning of an exercise. It does not follow a picture or the code of another one.
var exerciseBegins = regexp.MustCompile(`^\*\*(Exercise )?\d+\.\d+`)

// fits reports whether something of this height has a place on the last slide.
func (d *deck) fits(high, room int) bool {
	last := d.last()
	return last.parts.Len() == 0 || last.high+high <= room
}

func (d *deck) addCode(c *cell) error {
	outputs, err := c.outputs()
	if err != nil {
		return err
	}
	// A living figure needs the engine, which slides do not have. The fixed figure of the same cell stays.
	outputs = slices.DeleteFunc(outputs, func(o *output) bool {
		text, _ := o.data["text/html"].(string)
		return figured.MatchString(text)
	})
	parts := codeParts(strings.TrimSpace(importDeclaration.ReplaceAllString(c.source(), "")))
	var outs []shownOutput
	all := 0 // the height of the first code and, if there is no other, of the outputs
	if len(parts) > 0 {
		all = linesHeight(parts[0])
	}
	for _, o := range outputs {
		text, math, err := renderOutput(d.md, o)
		if err != nil {
			return err
		}
		d.math = d.math || math
		outs = append(outs, shownOutput{html: text, high: outputHeight(o, text), stream: o.kind == "stream", half: halfWide(o, text), chart: slices.Contains([]int{1, 2}, len(chartHeight.FindAllString(text, -1)))})
	}
	outs = pairs(outs)
	for _, o := range outs {
		if len(parts) < 2 {
			all += o.high
		}
	}
	for i, part := range parts {
		high := linesHeight(part)
		switch {
		case i > 0:
			d.next(false)
			if s := d.last(); s.running != "" {
				s.running += " (code continued)"
			}
		case d.last().code, !d.fits(high, roomWithCode),
			d.last().high > slideRoom*2/3 && !d.fits(all, roomWithCode) && runningHigh+all <= roomWithCode:
			d.next(false)
		}
		last := d.last()
		last.code = true
		last.latest = showing{}
		last.high += high
		last.parts.WriteString(renderSource(d.md, c, part))
	}
	for i, o := range outs {
		last, room := d.last(), roomWithCode
		if !o.stream && (last.high <= runningHigh+emptyHigh || !last.code) {
			room = roomWithPicture
		}
		// A line alone would be a slide that is nearly empty.
		if short := o.high <= codeGap+2*lineHigh && (i > 0 || len(parts) > 0); !short && !d.fits(o.high, room) {
			last = d.next(false)
		}
		if i == 0 || last.parts.Len() == 0 {
			last.latest = showing{at: last.parts.Len(), chart: o.chart}
		} else if !o.stream || o.high > codeGap+2*lineHigh {
			last.latest.chart = false
		}
		last.latest.high += o.high
		last.high += o.high
		last.picture = true
		last.parts.WriteString(o.html)
	}
	return nil
}

// shownOutput is an output on a slide.
type shownOutput struct {
	html   string
	high   int // about, in pixels
	stream bool
	half   string // "chart" or "table" if it may be in half of a slide, else ""
	chart  bool   // it is one chart or two small ones
}

// halfWide returns what an output is that may be in half of a slide: a "chart" or a "table".
func halfWide(o *output, text string) string {
	switch charts := len(chartHeight.FindAllString(text, -1)); {
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
func pairs(outs []shownOutput) (list []shownOutput) {
	for i := 0; i < len(outs); i++ {
		o := outs[i]
		if i+1 < len(outs) {
			next := outs[i+1]
			if o.half != "" && next.half != "" && (o.half == "chart" || next.half == "chart") && max(o.high, next.high) <= pairedHigh {
				o = shownOutput{html: columns("pair", o.html, next.html), high: max(o.high, next.high) * 4 / 5}
				i++
			}
		}
		list = append(list, o)
	}
	return list
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

// outputHeight returns about how high an output is that is shown as text.
func outputHeight(o *output, text string) int {
	if o.kind != "display_data" && o.kind != "execute_result" {
		return linesHeight(overwritten(o.text) + strings.Join(o.traceback, "\n"))
	}
	if charts := chartHeight.FindAllStringSubmatch(text, -1); charts != nil {
		highest := 0
		for _, m := range charts {
			high, _ := strconv.Atoi(m[1])
			highest = max(highest, high)
		}
		if strings.Contains(text, "grid-template-columns") { // small multiples, up to three in a row
			return highest * ((len(charts) + 2) / 3)
		}
		return highest * len(charts)
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

// chartHeight matches the height of the place of a chart.
var chartHeight = regexp.MustCompile(`id="svm-[^>]*height:(\d+)px`)

// importDeclaration matches the imports of a cell.
var importDeclaration = regexp.MustCompile(`(?ms)^import \(.*?^\)\n*|^import [^\n(]*\n*`)

// codeAlone is how many lines of code a slide takes.
const codeAlone = 26

// codeParts splits long code at blank lines into parts that fit on a slide, if they can.
func codeParts(code string) (parts []string) {
	for part := range strings.SplitSeq(code, "\n\n") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		if n := len(parts); n > 0 && strings.Count(parts[n-1]+"\n\n"+part, "\n") < codeAlone {
			parts[n-1] += "\n\n" + part
			continue
		}
		parts = append(parts, part)
	}
	// A short declaration at the end of a part, such as a type, belongs to what follows.
	for i := range len(parts) - 1 {
		at := strings.LastIndex(parts[i], "\n\n")
		if at < 0 || strings.Count(parts[i][at+2:], "\n") > 1 {
			continue
		}
		if joined := parts[i][at+2:] + "\n\n" + parts[i+1]; strings.Count(joined, "\n") < codeAlone {
			parts[i], parts[i+1] = parts[i][:at], joined
		}
	}
	return parts
}

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
