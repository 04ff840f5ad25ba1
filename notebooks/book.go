package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/svmnb/svmnb/svmnb/static"
)

//go:embed book.css
var bookCSS string

// chapter is a notebook in a book.
type chapter struct {
	name, title string
	body        string
	page        int // on which it begins
}

// chapterOf renders a notebook. Its headings get anchors that begin with its name, and links to
// notebooks of the book stay inside the book.
func chapterOf(ctx context.Context, file string, all []string) (*chapter, error) {
	nb, err := readNotebook(file)
	if err != nil {
		return nil, err
	}
	// Checks are for a notebook that runs.
	nb.cells = slices.DeleteFunc(nb.cells, func(c *cell) bool { return c.kind() == "code" && c.checks() != "" })
	if err := fillPrinted(ctx, nb); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	name := strings.TrimSuffix(filepath.Base(file), ".ipynb")
	md := newMarkdown()
	md.name = func(text string) string { return name + "-" + jupyterAnchor(text) }
	md.link = func(dest string) string {
		to, anchor, _ := strings.Cut(dest, "#")
		other := strings.TrimSuffix(filepath.Base(to), ".ipynb")
		switch {
		case to == "":
			return "#" + name + "-" + anchor
		case strings.Contains(to, "://") || !slices.Contains(all, other) || !strings.HasSuffix(to, ".ipynb"):
			return dest
		case anchor == "":
			return "#" + other
		}
		return "#" + other + "-" + anchor
	}
	c := &chapter{name: name, title: nb.title()}
	if c.title == "" {
		c.title = name
	}
	c.body, _, err = renderNotebook(md, nb, filepath.Dir(file))
	c.body = briefTexts(hangingCode(c.body))
	return c, err
}

// briefTexts marks the texts after headings that take one line.
func briefTexts(page string) string {
	return headed.ReplaceAllStringFunc(page, func(s string) string {
		m := headed.FindStringSubmatch(s)
		if bare := html.UnescapeString(tag.ReplaceAllString(m[2], "")); len([]rune(bare)) > 90 {
			return s
		}
		return m[1] + `<p class="brief">` + m[2] + "</p>"
	})
}

// headed matches a paragraph after a heading.
var headed = regexp.MustCompile(`(?s)(</h[1-4]>\s*)<p>(.*?)</p>`)

// These are widths of charts in pixels, of which a page has about 850 (book.css). So the letters of all charts
// have the same size. A chart of half that width has a layout that is not high, so that it rarely leaves the foot of
// a page empty.
const (
	panelWidth = 410 // of two that are side by side
	chartWidth = 515
	highWidth  = 370 // of a chart that would be higher than 500 pixels
	wideWidth  = 845 // of a chart with several panels or many columns
)

// fillPrinted draws the charts of a notebook for print, and leaves out what needs an engine.
func fillPrinted(ctx context.Context, nb *notebook) error {
	for i, c := range codeCells(nb) {
		outputs, _ := c.raw["outputs"].([]any)
		all, err := c.outputs()
		if err != nil {
			return fmt.Errorf("code cell %d: %w", i+1, err)
		}
		still := withoutLiving(slices.Clone(all))
		var shown []any
		for k, out := range outputs {
			if !slices.Contains(still, all[k]) {
				continue
			}
			shown = append(shown, out)
			raw, _ := out.(map[string]any)
			data, _ := raw["data"].(map[string]any)
			text := joined(data["text/html"])
			width := chartWidth
			switch {
			case strings.Contains(text, "grid-template-columns"):
				width = panelWidth
			case severalGrids.MatchString(text) || columnsOf(text) >= manyColumns:
				width = wideWidth
			}
			filled, n, err := static.Fill(ctx, text, static.Options{Width: width})
			if m := pictureSize.FindStringSubmatch(filled); err == nil && m != nil && tooHigh(m[1]) {
				filled, n, err = static.Fill(ctx, text, static.Options{Width: highWidth})
			}
			if err != nil {
				return fmt.Errorf("code cell %d: %w", i+1, err)
			}
			if n > 0 {
				data["text/html"] = lines(filled)
			}
		}
		if len(shown) < len(outputs) {
			c.raw["outputs"] = shown
		}
	}
	return nil
}

func tooHigh(pixels string) bool {
	n, err := strconv.Atoi(pixels)
	return err == nil && n > 500
}

// pictureSize matches the height of the picture of a chart.
var pictureSize = regexp.MustCompile(fmt.Sprintf(`<img width="%d" height="(\d+)"`, chartWidth))

// severalGrids matches the option of a chart with several panels.
var severalGrids = regexp.MustCompile(`"grid":\[\{[^{}]*\},`)

// opening returns the title page and the contents of a book.
func opening(title string, chapters []*chapter) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<div class=\"title\"><h1>%s</h1><p>From svmnb, with all outputs</p></div>\n", html.EscapeString(title))
	b.WriteString("<div class=\"contents\"><h2>Contents</h2>\n<ol>\n")
	for _, c := range chapters {
		fmt.Fprintf(&b, "<li data-page=\"%d\"><a href=\"#%s\">%s</a><i></i></li>\n", c.page, html.EscapeString(c.name), html.EscapeString(stripMath(c.title)))
	}
	b.WriteString("</ol></div>\n")
	return b.String()
}

func (c *chapter) article() string {
	return fmt.Sprintf("<article id=\"%s\">\n%s</article>\n", html.EscapeString(c.name), c.body)
}

// printedPage returns a page for print. It has the pictures of charts and no scripts, which
// would draw the charts anew.
func printedPage(title, body string) ([]byte, error) {
	body = scriptElement.ReplaceAllString(body, "")
	return ownPage(title, "<main>\n"+body+"</main>\n", strings.Contains(body, `class="math`), pageCSS+chromaCSS()+bookCSS, "")
}

var scriptElement = regexp.MustCompile(`(?s)<script\b.*?</script>`)

// pageObject matches the object of a page in a PDF file.
var pageObject = regexp.MustCompile(`/Type\s*/Page\b[^s]`)

// pagesOf returns how many printed pages the body of a page takes.
func pagesOf(ctx context.Context, dir, body string) (int, error) {
	page, pdf := filepath.Join(dir, "part.html"), filepath.Join(dir, "part.pdf")
	text, err := printedPage("", body)
	if err != nil {
		return 0, err
	}
	if err := errors.Join(writeFile(page, text), printPDF(ctx, page, "", pdf)); err != nil {
		return 0, err
	}
	printed, err := os.ReadFile(pdf)
	return len(pageObject.FindAll(printed, -1)), err
}

// printBook writes a book as a page and prints it. The contents need the page on which each
// chapter begins. A browser cannot say it, so that each chapter is printed alone first.
func printBook(ctx context.Context, title string, chapters []*chapter, page, pdf string, progress io.Writer) error {
	dir, err := os.MkdirTemp("", "svmnb-book-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	at, err := pagesOf(ctx, dir, opening(title, chapters))
	if err != nil {
		return err
	}
	var body strings.Builder
	for _, c := range chapters {
		c.page = at + 1
		n, err := pagesOf(ctx, dir, c.article())
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		fmt.Fprintf(progress, "%s: %d pages\n", c.name, n)
		at += n
		body.WriteString(c.article())
	}
	text, err := printedPage(title, opening(title, chapters)+body.String())
	if err != nil {
		return err
	}
	if err := writeFile(page, text); err != nil {
		return err
	}
	return printPDF(ctx, page, "", pdf)
}

func bookCommand(ctx context.Context, s *session, args []string) error {
	flags := s.flags()
	out := flags.String("o", filepath.Join(s.folder(), "out", "book.pdf"), "the file to write")
	title := flags.String("title", "Learning kernel machines", "on the first page")
	files, err := parse(flags, args)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		if files, err = filepath.Glob(filepath.Join(s.folder(), "*.ipynb")); err != nil {
			return err
		}
		if len(files) == 0 {
			return fmt.Errorf("there are no notebooks in %s", s.folder())
		}
	}
	var names []string
	for _, file := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".ipynb"))
	}
	var chapters []*chapter
	for _, file := range files {
		c, err := chapterOf(ctx, file, names)
		if err != nil {
			return err
		}
		chapters = append(chapters, c)
	}
	if err := os.MkdirAll(filepath.Dir(*out), 0o755); err != nil {
		return err
	}
	page := strings.TrimSuffix(*out, ".pdf") + ".html"
	if err := printBook(ctx, *title, chapters, page, *out, s.stderr); err != nil {
		return err
	}
	fmt.Fprintf(s.stdout, "%s\n%s\n", page, *out)
	return nil
}
