package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	goldhtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdown renders Markdown as Jupyter does: with GitHub's tables and with formulas. Images
// become part of the page. Raw HTML is kept only if it just says how text looks (rawHTML),
// since the text of a notebook, and even more that of its outputs, may come from a
// stranger.
type markdown struct {
	md      goldmark.Markdown
	anchors map[string]int           // how often each text of a heading has occurred
	name    func(text string) string // returns the anchor of a heading
	link    func(dest string) string // returns where a link leads in the page

	// picture returns where the file of an image is and the <source> elements that a browser may
	// prefer. If it is nil, images become part of the page.
	picture func(dest string) (src, sources string)

	headings []heading // all headings that were rendered

	// names returns the names of highlightNames for a code cell. It is called for each cell
	// in order.
	names func(cell string) map[int]string
}

type heading struct {
	level    int
	id, text string
}

func newMarkdown() *markdown {
	return &markdown{md: goldmark.New(
		goldmark.WithExtensions(extension.GFM),
		goldmark.WithRendererOptions(
			renderer.WithNodeRenderers(util.Prioritized(ownNodes{}, 100)),
		),
	), anchors: map[string]int{}, name: jupyterAnchor, link: exportedLink,
		names: func(string) map[int]string { return nil }}
}

// jupyterAnchor returns the anchor by which links in notebooks refer to a heading: its text
// with hyphens for spaces.
func jupyterAnchor(text string) string { return strings.ReplaceAll(text, " ", "-") }

// render returns HTML and whether it contains formulas. Images come from the attachments of
// a cell, or from files in or below dir. With dir "", as for an output, images come from
// neither.
func (m *markdown) render(source, dir string, attachments map[string]any) (string, bool, error) {
	source, formulas := protectMath(source)
	src := []byte(source)
	doc := m.md.Parser().Parse(text.NewReader(src))
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			var b bytes.Buffer
			if err := m.md.Renderer().Render(&b, src, n); err != nil {
				return ast.WalkStop, err
			}
			text := strings.TrimSpace(writtenMath(html.UnescapeString(tag.ReplaceAllString(b.String(), "")), formulas))
			id := m.anchor(text)
			n.SetAttributeString("id", []byte(id))
			m.headings = append(m.headings, heading{n.Level, id, text})
		case *ast.Image:
			n.Destination = []byte(writtenMath(string(n.Destination), formulas))
			if m.picture != nil && dir != "" && !strings.Contains(string(n.Destination), ":") {
				src, sources := m.picture(string(n.Destination))
				n.Destination = []byte(src)
				n.SetAttributeString("loading", []byte("lazy"))
				n.SetAttributeString("sources", sources)
			} else if data := inlineImage(string(n.Destination), dir, attachments); data != "" {
				n.Destination = []byte(data)
			} else if dir == "" && !isImage(string(n.Destination)) {
				n.Destination = nil
			}
		case *ast.Link:
			n.Destination = []byte(m.link(writtenMath(string(n.Destination), formulas)))
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return "", false, err
	}
	var b bytes.Buffer
	if err := m.md.Renderer().Render(&b, src, doc); err != nil {
		return "", false, err
	}
	return restoreMath(b.String(), formulas), len(formulas) > 0, nil
}

// anchor returns the anchor of a heading, with a number if the page has it already.
func (m *markdown) anchor(text string) string {
	id := m.name(text)
	m.anchors[id]++
	if n := m.anchors[id]; n > 1 {
		id = fmt.Sprintf("%s-%d", id, n)
	}
	return id
}

// exportedLink turns a link to another notebook into one to its exported page.
func exportedLink(dest string) string {
	file, anchor, _ := strings.Cut(dest, "#")
	if strings.Contains(file, "://") || !strings.HasSuffix(file, ".ipynb") {
		return dest
	}
	file = strings.TrimSuffix(file, ".ipynb") + ".html"
	if anchor != "" {
		file += "#" + anchor
	}
	return file
}

// largestImage is the largest size of an image file in a page, in bytes.
const largestImage = 16 << 20

// inlineImage returns a data URI for an attachment, or for the file dest in or below dir,
// if it is an image; otherwise "".
func inlineImage(dest, dir string, attachments map[string]any) string {
	if name, ok := strings.CutPrefix(dest, "attachment:"); ok {
		bundle, _ := attachments[name].(map[string]any)
		for _, kind := range slices.Sorted(maps.Keys(bundle)) {
			if data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(joined(bundle[kind])), "")); err == nil {
				if uri := imageURI(data); uri != "" {
					return uri
				}
			}
		}
		return ""
	}
	name := filepath.FromSlash(dest)
	if dir == "" || strings.Contains(dest, ":") || !filepath.IsLocal(name) {
		return ""
	}
	// A Root does not follow links that lead out of it.
	root, err := os.OpenRoot(dir)
	if err != nil {
		return ""
	}
	defer root.Close()
	// Open only regular files, since opening a pipe would wait for a writer.
	if info, err := root.Stat(name); err != nil || !info.Mode().IsRegular() || info.Size() > largestImage {
		return ""
	}
	file, err := root.Open(name)
	if err != nil {
		return ""
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, largestImage))
	if err != nil {
		return ""
	}
	return imageURI(data)
}

// imageURI returns an image as a data URI, or "" if the content is not an image.
func imageURI(data []byte) string {
	kind := ""
	switch begins := func(s string) bool { return bytes.HasPrefix(data, []byte(s)) }; {
	case begins("\x89PNG\r\n\x1a\n"):
		kind = "png"
	case begins("\xff\xd8\xff"):
		kind = "jpeg"
	case begins("GIF87a"), begins("GIF89a"):
		kind = "gif"
	case begins("RIFF") && len(data) > 12 && string(data[8:12]) == "WEBP":
		kind = "webp"
	case svgStart.Match(data):
		kind = "svg+xml"
	default:
		return ""
	}
	return "data:image/" + kind + ";base64," + base64.StdEncoding.EncodeToString(data)
}

// svgStart matches what may come before the first element of a drawing, and the element's
// name.
var svgStart = regexp.MustCompile(`^\x{FEFF}?\s*(<\?xml[^>]*>\s*)?(<!DOCTYPE svg[^>\[]*>\s*)?(<!--[^>]*-->\s*)*<svg[\s>/]`)

// isImage reports whether a destination is a data URI of an image. A drawing that is shown
// as an image runs and loads nothing.
func isImage(dest string) bool { return imageData.MatchString(dest) }

var imageData = regexp.MustCompile(`^data:image/(png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/=]*$`)

// ownNodes renders some nodes differently from goldmark: fenced code is coloured like
// cells, raw HTML is cleaned, and images may be drawings.
type ownNodes struct{}

func (ownNodes) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindRawHTML, func(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			_, _ = w.WriteString(rawHTML(string(node.(*ast.RawHTML).Segments.Value(source))))
		}
		return ast.WalkSkipChildren, nil
	})
	r.Register(ast.KindHTMLBlock, func(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
		if n := node.(*ast.HTMLBlock); entering {
			text := string(n.Lines().Value(source))
			if n.HasClosure() {
				text += string(n.ClosureLine.Value(source))
			}
			_, _ = w.WriteString(rawHTML(text))
		}
		return ast.WalkContinue, nil
	})
	plain, drawing := imageRenderer(), imageRenderer(goldhtml.WithUnsafe())
	r.Register(ast.KindImage, func(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
		if sources, ok := node.AttributeString("sources"); ok && entering {
			_, _ = w.WriteString("<picture>" + sources.(string))
			defer func() { _, _ = w.WriteString("</picture>") }()
		}
		switch dest := string(node.(*ast.Image).Destination); {
		case isImage(dest):
			return drawing(w, source, node, entering)
		case dest != "":
			return plain(w, source, node, entering)
		case entering:
			_, _ = w.WriteString("<em>")
		default:
			_, _ = w.WriteString("</em>")
		}
		return ast.WalkContinue, nil
	})
	r.Register(ast.KindFencedCodeBlock, func(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		n := node.(*ast.FencedCodeBlock)
		code := string(n.Lines().Value(source))
		fmt.Fprintf(w, "<pre class=\"code chroma\"><code>%s</code></pre>\n", highlight(string(n.Language(source)), code))
		return ast.WalkSkipChildren, nil
	})
}

// imageRenderer returns goldmark's renderer of images. Without options it would refuse data
// URIs of drawings.
func imageRenderer(options ...goldhtml.Option) (image renderer.NodeRendererFunc) {
	goldhtml.NewRenderer(options...).RegisterFuncs(registerer(func(kind ast.NodeKind, f renderer.NodeRendererFunc) {
		if kind == ast.KindImage {
			image = f
		}
	}))
	return image
}

type registerer func(ast.NodeKind, renderer.NodeRendererFunc)

func (r registerer) Register(kind ast.NodeKind, f renderer.NodeRendererFunc) { r(kind, f) }

// formula is TeX between its delimiters.
type formula struct {
	tex     string
	display bool
}

// written returns the formula as it is in the source.
func (f formula) written() string {
	switch {
	case !f.display:
		return "$" + f.tex + "$"
	case strings.HasPrefix(f.tex, `\begin{`):
		return f.tex
	}
	return "$$" + f.tex + "$$"
}

// These private characters replace a formula while Markdown is parsed.
const mathOpen, mathClose = "\uE000", "\uE001"

var (
	placeholder      = regexp.MustCompile(mathOpen + `(\d+)` + mathClose)
	tag              = regexp.MustCompile(`<[^>]*>`)
	tagOrPlaceholder = regexp.MustCompile(tag.String() + `|[(\[]*` + placeholder.String() + `[)\],.;:!?]*`)
)

var environment = regexp.MustCompile(`^\\begin\{((?:align|alignat|aligned|equation|gather|gathered|multline|split|cases|array|[pbBvV]?matrix)\*?)\}`)

// protectMath takes formulas out of Markdown, since their underscores, stars and
// backslashes have another meaning there. The rules are Jupyter's, and Pandoc's for a
// single dollar, so that prices are not formulas: no space after the opening dollar, no
// space before and no digit after the closing one. Code is not changed.
func protectMath(source string) (string, []formula) {
	source = strings.NewReplacer(mathOpen, "", mathClose, "").Replace(source)
	var b strings.Builder
	var found []formula
	take := func(tex string, display bool) {
		fmt.Fprintf(&b, "%s%d%s", mathOpen, len(found), mathClose)
		found = append(found, formula{tex, display})
	}
	for i := 0; i < len(source); {
		rest := source[i:]
		switch {
		case (i == 0 || source[i-1] == '\n') && fence(rest) > 0:
			n := fence(rest)
			b.WriteString(rest[:n])
			i += n
		case rest[0] == '`':
			n := len(rest) - len(strings.TrimLeft(rest, "`"))
			if end := closingBackticks(rest[n:], n); end >= 0 {
				n += end + n
			}
			b.WriteString(rest[:n])
			i += n
		case rest[0] == '\\':
			if m := environment.FindStringSubmatch(rest); m != nil {
				closing := `\end{` + m[1] + "}"
				if end := strings.Index(rest, closing); end >= 0 {
					take(rest[:end+len(closing)], true)
					i += end + len(closing)
					break
				}
			}
			n := min(2, len(rest))
			b.WriteString(rest[:n])
			i += n
		case strings.HasPrefix(rest, "$$"):
			end := closingDollars(rest[2:], "$$")
			if end < 0 {
				b.WriteString("$$")
				i += 2
				break
			}
			take(rest[2:2+end], true)
			i += end + 4
		case rest[0] == '$':
			end := -1
			if len(rest) > 1 && !strings.ContainsRune(" \t\n", rune(rest[1])) {
				end = closingDollars(rest[1:], "$")
			}
			if end < 0 {
				b.WriteByte('$')
				i++
				break
			}
			take(rest[1:1+end], false)
			i += end + 2
		default:
			b.WriteByte(rest[0])
			i++
		}
	}
	return b.String(), found
}

// fence returns the length of the mark of a fenced code block at the start of s, or 0.
func fence(s string) int {
	line, _, _ := strings.Cut(s, "\n")
	trimmed := strings.TrimLeft(line, " >\t")
	n := len(trimmed) - len(strings.TrimLeft(trimmed, trimmed[:min(1, len(trimmed))]))
	if n < 3 || trimmed[0] != '`' && trimmed[0] != '~' || trimmed[0] == '`' && strings.Contains(trimmed[n:], "`") {
		return 0
	}
	mark, length := trimmed[:n], 0
	for i, line := range strings.SplitAfter(s, "\n") {
		length += len(line)
		if body := strings.TrimSpace(strings.TrimLeft(line, " >\t")); i > 0 && strings.HasPrefix(body, mark) && strings.Trim(body, mark[:1]) == "" {
			break
		}
	}
	return length
}

// closingBackticks finds a run of exactly n backticks.
func closingBackticks(s string, n int) int {
	for i := 0; i < len(s); {
		if s[i] != '`' {
			i++
			continue
		}
		run := len(s[i:]) - len(strings.TrimLeft(s[i:], "`"))
		if run == n {
			return i
		}
		i += run
	}
	return -1
}

// closingDollars finds the delimiter that ends a formula in its paragraph.
func closingDollars(s, delimiter string) int {
	if stop := blankLine.FindStringIndex(s); stop != nil {
		s = s[:stop[0]]
	}
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case delimiter == "$" && s[i] == '`':
			return -1 // this is code, so the dollar was a dollar
		case !strings.HasPrefix(s[i:], delimiter):
		case delimiter == "$$":
			return i
		case i == 0 || strings.ContainsRune(" \t\n", rune(s[i-1])):
			return -1
		case i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '9':
			return -1
		default:
			return i
		}
	}
	return -1
}

var blankLine = regexp.MustCompile(`\n[ \t]*\n`)

// restoreMath puts the formulas back as elements that KaTeX fills. Without scripts, readers
// see the TeX. Inside a tag, such as in the alternative text of an image, formulas are put
// back as text.
func restoreMath(page string, formulas []formula) string {
	return tagOrPlaceholder.ReplaceAllStringFunc(page, func(s string) string {
		if s[0] == '<' {
			return eachFormula(s, formulas, func(f formula) string { return html.EscapeString(f.written()) })
		}
		glue := placeholder.FindString(s) != s // keep a formula and the bracket next to it on one line
		s = eachFormula(s, formulas, func(f formula) string {
			class := "math"
			if f.display {
				class = "math display"
			}
			glue = glue && !f.display && len(f.tex) < 30 // but a long formula must be able to break
			return `<span class="` + class + `">` + html.EscapeString(strings.TrimSpace(f.tex)) + `</span>`
		})
		if glue {
			s = `<span class="glue">` + s + `</span>`
		}
		return s
	})
}

// writtenMath puts the formulas back as text.
func writtenMath(s string, formulas []formula) string {
	return eachFormula(s, formulas, formula.written)
}

func eachFormula(s string, formulas []formula, with func(formula) string) string {
	return placeholder.ReplaceAllStringFunc(s, func(s string) string {
		var n int
		if _, err := fmt.Sscanf(s, mathOpen+"%d"+mathClose, &n); err != nil || n >= len(formulas) {
			return ""
		}
		return with(formulas[n])
	})
}
