package main

import (
	"context"
	"embed"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/alecthomas/chroma/v2"
	chromahtml "github.com/alecthomas/chroma/v2/formatters/html"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/alecthomas/chroma/v2/styles"
	"github.com/svmnb/svmnb/svmnb/static"
)

//go:embed page.css
var pageCSS string

//go:embed katex/katex.min.js katex/katex.min.css katex/*.woff2
var katex embed.FS

// exportHTML writes the notebook as one page that needs no network and no other files. The
// charts and tables of svmnb work in it; other scripts in outputs do not run (foreign.go).
// Files of images that the text names are in dir.
func exportHTML(nb *notebook, name, dir string) ([]byte, error) {
	body, math, err := renderNotebook(newMarkdown(), nb, dir)
	if err != nil {
		return nil, err
	}
	title := nb.title()
	if title == "" {
		title = name
	}
	body = "<main>\n" + body + "</main>\n"
	if hasLiving(body) {
		body = withStills(body)
		inside, err := livingInside(context.Background())
		if err != nil {
			return nil, err
		}
		body += inside
	}
	return ownPage(title, body, math, pageCSS+chromaCSS(), "")
}

// ownPage writes a page that carries all it needs: the drawing library if there are charts,
// KaTeX if there are formulas, and the style. The script last runs after all others.
func ownPage(title, body string, math bool, style, last string) ([]byte, error) {
	if hasCharts(body) {
		body += static.Library() + "\n"
	}
	if math {
		script, err := katexScript()
		if err != nil {
			return nil, err
		}
		body += inlineScript(script)
	}
	if last != "" {
		body += inlineScript(last)
	}
	var page strings.Builder
	fmt.Fprintf(&page, pageHead, policyMeta(body), html.EscapeString(stripMath(title)))
	page.WriteString("<style>\n" + style + "</style>\n")
	if math {
		style, err := katexCSS(func(font string) (string, error) {
			data, err := katex.ReadFile("katex/" + font)
			return "data:font/woff2;base64," + base64.StdEncoding.EncodeToString(data), err
		})
		if err != nil {
			return nil, err
		}
		page.WriteString("<style>\n" + style + "</style>\n")
	}
	page.WriteString("</head>\n<body>\n" + body + "</body>\n</html>\n")
	return []byte(page.String()), nil
}

func inlineScript(script string) string {
	return "<script>" + strings.ReplaceAll(script, "</script", `<\/script`) + "</script>\n"
}

// hasCharts reports whether a page has charts, which need the drawing library.
func hasCharts(page string) bool {
	_, charts := static.Alive(page, func(html string) string { return html })
	return charts > 0
}

// pageHead is the beginning of every page. Its parameters are the element of the policy and
// the title.
const pageHead = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
%s<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>%s</title>
`

// renderNotebook returns the cells as HTML, and whether they contain formulas.
func renderNotebook(md *markdown, nb *notebook, dir string) (string, bool, error) {
	var body strings.Builder
	math := false
	for i, c := range nb.cells {
		before, after := "<section class=\"text\">\n", "</section>\n"
		if c.kind() == "code" {
			before = "<section class=\"cell\">\n"
		}
		text, hasMath, err := renderCell(md, c, dir)
		if err != nil {
			return "", false, fmt.Errorf("cell %d: %w", i+1, err)
		}
		if text != "" {
			math = math || hasMath
			body.WriteString(before + text + after)
		}
	}
	return body.String(), math, nil
}

// renderCell returns the text of a Markdown cell, or the code and the outputs of a code
// cell. Cells of other kinds, and empty code cells, are "".
func renderCell(md *markdown, c *cell, dir string) (text string, math bool, err error) {
	switch c.kind() {
	case "markdown":
		attachments, _ := c.raw["attachments"].(map[string]any)
		return md.render(c.source(), dir, attachments)
	case "code":
		outputs, math, err := renderOutputs(md, c)
		if err != nil || strings.TrimSpace(c.source()) == "" && outputs == "" {
			return "", false, err
		}
		return renderSource(md, c, c.source()) + outputs, math, nil
	}
	return "", false, nil
}

// renderSource returns the code of a cell, or a part of it, coloured.
func renderSource(md *markdown, c *cell, source string) string {
	count := ""
	if n := c.raw["execution_count"]; n != nil {
		count = fmt.Sprint(n)
	}
	source = strings.TrimRight(source, "\n")
	return fmt.Sprintf("<pre class=\"code chroma\" data-count=\"%s\"><code>%s</code></pre>\n",
		html.EscapeString(count), highlightCell(source, md.names(source)))
}

// renderOutputs returns the outputs of a code cell, and whether they contain formulas.
func renderOutputs(md *markdown, c *cell) (string, bool, error) {
	outputs, err := c.outputs()
	if err != nil {
		return "", false, err
	}
	var b strings.Builder
	math := false
	for _, o := range outputs {
		text, hasMath, err := renderOutput(md, o)
		if err != nil {
			return "", false, err
		}
		math = math || hasMath
		b.WriteString(text)
	}
	return b.String(), math, nil
}

// katexScript returns KaTeX and a call of it. KaTeX has a name of its own, since an output
// may have loaded a module system.
func katexScript() (string, error) {
	script, err := katex.ReadFile("katex/katex.min.js")
	return fmt.Sprintf("(function(w){var m={exports:{}};(function(module,exports,define){%s\n}).call(w,m,m.exports);%s})(window)", script, drawMath), err
}

// drawMath makes definitions in one formula valid in later ones, as MathJax does in
// Jupyter.
const drawMath = `
var macros={};document.querySelectorAll('.math').forEach(function(e){
m.exports.render(e.textContent,e,{displayMode:e.classList.contains('display'),throwOnError:false,globalGroup:true,macros:macros,strict:false})})`

func stripMath(s string) string { return strings.ReplaceAll(s, "$", "") }

// katexCSS returns the style sheet. Its fonts are files in the folder katex; address
// returns where the page finds them.
func katexCSS(address func(font string) (string, error)) (string, error) {
	style, err := katex.ReadFile("katex/katex.min.css")
	if err != nil {
		return "", err
	}
	var failed error
	placed := fontSource.ReplaceAllStringFunc(string(style), func(s string) string {
		font, err := address(path.Base(fontSource.FindStringSubmatch(s)[1]))
		if err != nil {
			failed = err
		}
		return `src:url(` + font + `) format("woff2")`
	})
	return placed + "\n", failed
}

// fontSource matches the woff2 file of a font and the older formats after it.
var fontSource = regexp.MustCompile(`src:url\((fonts/[\w-]+\.woff2)\) format\("woff2"\)(?:,url\([^)]*\) format\("[a-z]+"\))*`)

// renderOutput shows the richest form of an output.
func renderOutput(md *markdown, o *output) (string, bool, error) {
	switch o.kind {
	case "stream":
		return fmt.Sprintf("<pre class=\"out %s\">%s</pre>\n", html.EscapeString(o.name), ansiHTML(overwritten(o.text))), false, nil
	case "error":
		return fmt.Sprintf("<pre class=\"out error\">%s</pre>\n", ansiHTML(strings.Join(o.traceback, "\n"))), false, nil
	}
	text := func(mime string) (string, bool) {
		s, ok := o.data[mime].(string)
		return s, ok && strings.TrimSpace(s) != ""
	}
	if s, ok := text("text/html"); ok {
		return "<div class=\"out rich\">" + outputHTML(s) + "</div>\n", false, nil
	}
	if s, ok := text("text/markdown"); ok {
		s, math, err := md.render(s, "", nil) // no files, since names in an output come from data
		return "<div class=\"out text\">" + s + "</div>\n", math, err
	}
	for _, mime := range []string{"image/svg+xml", "image/png", "image/jpeg", "image/gif", "image/webp"} {
		s, ok := text(mime)
		if !ok {
			continue
		}
		data, err := []byte(s), error(nil)
		if mime != "image/svg+xml" {
			data, err = base64.StdEncoding.DecodeString(strings.Join(strings.Fields(s), ""))
		}
		if uri := imageURI(data); err == nil && uri != "" { // a drawing is shown as an image, in which no script runs
			alt, _ := text("text/plain")
			return fmt.Sprintf("<div class=\"out image\"><img src=\"%s\" alt=\"%s\"></div>\n", uri, html.EscapeString(alt)), false, nil
		}
	}
	if s, ok := text("text/latex"); ok {
		s, formulas := protectMath(s)
		return "<div class=\"out text\">" + restoreMath(html.EscapeString(s), formulas) + "</div>\n", len(formulas) > 0, nil
	}
	if s, ok := text("text/plain"); ok {
		return "<pre class=\"out stdout\">" + ansiHTML(s) + "</pre>\n", false, nil
	}
	return "", false, nil
}

// highlightCell colours the Go code of a cell and marks the lines for GoNB. A cell that
// begins with the name of a script language is a script. names are those of highlightNames.
func highlightCell(source string, names map[int]string) string {
	if language, ok := script(source); ok {
		first, rest, _ := strings.Cut(source, "\n")
		return magic(first) + highlight(language, rest)
	}
	var b, code strings.Builder
	at := 0
	flush := func() {
		b.WriteString(highlightNames("go", code.String(), at, names))
		at += code.Len()
		code.Reset()
	}
	for line := range strings.Lines(source) {
		if isMagic(line) {
			flush()
			b.WriteString(magic(strings.TrimSuffix(line, "\n")))
			at += len(line)
			continue
		}
		code.WriteString(line)
	}
	flush()
	return b.String()
}

// script returns the language of a cell that is not Go.
func script(source string) (language string, ok bool) {
	first, _, _ := strings.Cut(source, "\n")
	switch word, _, _ := strings.Cut(first, " "); word {
	case "%%bash", "%%sh", "%%script":
		return "bash", true
	case "%%writefile":
		return strings.TrimPrefix(path.Ext(first), "."), true
	}
	return "", false
}

// isMagic reports whether a line of a cell is for GoNB.
func isMagic(line string) bool {
	line = strings.TrimPrefix(line, "//gonb:")
	return strings.HasPrefix(line, "%") || strings.HasPrefix(line, "!")
}

func magic(line string) string { return `<span class="magic">` + html.EscapeString(line) + "</span>\n" }

func highlight(language, code string) string { return highlightNames(language, code, 0, nil) }

// highlightNames colours code that begins at byte at of a larger text. names maps the
// position of a name in the larger text to the attributes of its link.
func highlightNames(language, code string, at int, names map[int]string) string {
	lexer := lexers.Get(language)
	if lexer == nil || code == "" {
		return html.EscapeString(code)
	}
	tokens, err := chroma.Coalesce(lexer).Tokenise(nil, code)
	if err != nil {
		return html.EscapeString(code)
	}
	var b strings.Builder
	for _, token := range tokens.Tokens() {
		if strings.TrimSpace(token.Value) == "" {
			token.Type = chroma.Text // has no colour
		}
		attributes, marked := names[at]
		if marked {
			b.WriteString("<a " + attributes + ">")
		}
		if err := formatter.Format(&b, styles.Get("github"), chroma.Literator(token)); err != nil {
			return html.EscapeString(code)
		}
		if marked {
			b.WriteString("</a>")
		}
		at += len(token.Value)
	}
	return b.String()
}

var formatter = chromahtml.New(chromahtml.WithClasses(true), chromahtml.PreventSurroundingPre(true))

// chromaCSS has the colours of the light and the dark scheme, with the same weights: only
// one of the two styles has bold words.
var chromaCSS = sync.OnceValue(func() string {
	var light, dark strings.Builder
	// Writing to a strings.Builder never fails.
	_ = formatter.WriteCSS(&light, styles.Get("github"))
	_ = formatter.WriteCSS(&dark, styles.Get("github-dark"))
	css := "@media (prefers-color-scheme: light) {\n" + light.String() + "}\n@media (prefers-color-scheme: dark) {\n" + dark.String() + "}\n"
	return strings.ReplaceAll(css, "font-weight: bold", "font-weight: inherit")
})
