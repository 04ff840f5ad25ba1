package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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
	words   int
	code    bool // it has code or outputs
}

// slideWords is how many words of text a slide takes before the rest goes to the next one.
const slideWords = 95

// These are the numbers of lines on a slide: of code alone, of code above a picture, and of code and
// printed text together.
const codeAlone, codeWithPicture, codeWithText = 22, 5, 18

// exportSlides writes the notebook as slides in one page that needs no network.
//
// If cells have the slide types of Jupyter (metadata "slideshow"), these count. If none has,
// each heading of the first two levels begins a slide, what follows
// is on slides below it, long code and its pictures are on slides of their own, and checks
// and imports are left out.
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
		body.WriteString("<section><div class=\"slide\">\n")
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
	begun := false
	for _, block := range paragraphs(c.source()) {
		text, math, err := d.md.render(block, d.dir, attachments)
		if err != nil {
			return err
		}
		d.math = d.math || math
		words := len(strings.Fields(block))
		continues := unicode.IsLower([]rune(block)[0]) // a sentence that a formula interrupts
		switch level := headingLevel(block); {
		case level == 1 || level == 2:
			d.running = ""
			d.next(true)
			d.running = tag.ReplaceAllString(text, "")
		case !begun, level > 0, !continues && d.last().words > 0 && d.last().words+words > slideWords:
			d.next(false)
		}
		begun = true
		d.last().parts.WriteString(text)
		if headingLevel(block) == 0 {
			d.last().words += words
		}
	}
	return nil
}

func (d *deck) addCode(c *cell) error {
	outputs, err := c.outputs()
	if err != nil {
		return err
	}
	code := strings.TrimSpace(importDeclaration.ReplaceAllString(c.source(), ""))
	if code == "" && len(outputs) > 0 && d.last().parts.Len() > 0 {
		d.next(false)
	}
	height := 0 // lines on the last slide
	for i, part := range codeParts(code) {
		if before := d.last(); i > 0 || before.code || before.words > slideWords/2 || len(outputs) > 0 && before.parts.Len() > 0 {
			d.next(false)
		}
		height = strings.Count(part, "\n") + 1
		d.last().code = true
		d.last().parts.WriteString(renderSource(d.md, c, part))
	}
	for i, o := range outputs {
		text, math, err := renderOutput(d.md, o)
		if err != nil {
			return err
		}
		d.math = d.math || math
		fits := i == 0 && height <= codeWithPicture && strings.Count(code, "\n") < codeAlone
		if o.kind == "stream" {
			height += strings.Count(o.text, "\n")
			fits = height <= codeWithText
		}
		if !fits && (i > 0 || code != "") {
			d.next(false).code = true
		}
		d.last().parts.WriteString(text)
	}
	return nil
}

// importDeclaration matches the imports of a cell.
var importDeclaration = regexp.MustCompile(`(?ms)^import \(.*?^\)\n*|^import [^\n(]*\n*`)

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
			if err := printPDF(ctx, out, "?print-pdf", printed); err != nil {
				return err
			}
			fmt.Fprintln(s.stdout, printed)
		}
	}
	return nil
}
