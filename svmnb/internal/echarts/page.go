package echarts

import (
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/svmnb/svmnb/svmnb/internal/words"
)

// Page writes an HTML page with the given parts. It needs no network and is light or dark
// as the reader's browser is set.
func Page(w io.Writer, title string, parts ...string) error {
	body := ""
	for _, p := range parts {
		body += "<section>" + p + "</section>\n"
	}
	body += Library() + "\n"
	_, err := fmt.Fprintf(w, `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="%s"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>%s</title>
<style>
:root{color-scheme:light dark;--page:#fff;--ink:#1b2733;--rule:#d5dae0}
@media (prefers-color-scheme:dark){:root{--page:#181a1b;--ink:#e6eaee;--rule:#3d454e}}
body{background:var(--page);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;max-width:1000px;margin:1.5rem auto;padding:0 1rem}
section{margin:0 0 2rem;overflow-x:auto}
table{border-collapse:collapse}td,th{padding:.2rem .8rem;border-bottom:1px solid var(--rule);text-align:left}
blockquote{margin:1rem 0;padding:0 1rem;border-left:3px solid var(--rule)}
code,pre{font-family:ui-monospace,"DejaVu Sans Mono",monospace;font-size:.92em}
</style></head><body>
%s</body></html>
`, Policy(body), html.EscapeString(words.Line(title)), body)
	return err
}

// Markdown converts Markdown to HTML, as far as summaries use it: tables, headings, lists,
// quotes, paragraphs, **bold** and `code`. Anything else stays as it is.
func Markdown(text string) string {
	var b strings.Builder
	open := "" // the element that is open
	enter := func(tag string) {
		if tag != open {
			if open != "" {
				b.WriteString("</" + open + ">\n")
			}
			if tag != "" {
				b.WriteString("<" + tag + ">")
			}
			open = tag
		}
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		line = strings.TrimSpace(line)
		body := strings.TrimLeft(line, "#")
		level := len(line) - len(body)
		switch {
		case line == "":
			enter("")
		case line[0] == '|':
			if strings.Trim(line, "|-: ") == "" && strings.Contains(line, "-") {
				continue // the line below the head of a table
			}
			if strings.Trim(line, "| ") == "" {
				continue // an empty head, which Markdown requires even if a table has none
			}
			tag := "td"
			if open != "table" && i+1 < len(lines) && strings.Trim(lines[i+1], "|-: \r") == "" && strings.Contains(lines[i+1], "-") {
				tag = "th"
			}
			enter("table")
			b.WriteString("<tr>")
			for _, c := range cellsOf(line) {
				b.WriteString("<" + tag + ">" + inline(c) + "</" + tag + ">")
			}
			b.WriteString("</tr>\n")
		case level > 0 && level <= 6 && strings.HasPrefix(body, " "):
			enter("")
			fmt.Fprintf(&b, "<h%d>%s</h%d>\n", level, inline(body), level)
		case strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* "):
			enter("ul")
			b.WriteString("<li>" + inline(line[2:]) + "</li>\n")
		case line[0] == '>':
			enter("blockquote")
			b.WriteString(inline(line[1:]) + "\n")
		default:
			enter("p")
			b.WriteString(inline(line) + "\n")
		}
	}
	enter("")
	return b.String()
}

// cellsOf splits a row of a table at the bars that are not escaped.
func cellsOf(row string) (cells []string) {
	row = strings.TrimPrefix(row, "|")
	from := 0
	for i := 0; i < len(row); i++ {
		switch {
		case row[i] == '\\':
			i++
		case row[i] == '|':
			cells = append(cells, strings.TrimSpace(row[from:i]))
			from = i + 1
		}
	}
	if rest := strings.TrimSpace(row[from:]); rest != "" {
		cells = append(cells, rest)
	}
	return cells
}

// inline converts `code`, **bold** and \escapes in a line to HTML. A mark without a partner
// stays as it is.
func inline(s string) string {
	s = strings.TrimSpace(s)
	var b strings.Builder
	bold := false
	for i := 0; i < len(s); i++ {
		rest := s[i:]
		switch {
		case len(rest) > 1 && rest[0] == '\\' && punctuation(rest[1]):
			b.WriteString(html.EscapeString(rest[1:2]))
			i++
		case rest[0] == '`' && strings.Contains(rest[1:], "`"):
			n := strings.IndexByte(rest[1:], '`')
			b.WriteString("<code>" + html.EscapeString(rest[1:1+n]) + "</code>")
			i += n + 1
		case strings.HasPrefix(rest, "**") && (bold || closes(rest[2:])):
			b.WriteString(map[bool]string{false: "<strong>", true: "</strong>"}[bold])
			bold = !bold
			i++
		default:
			n := strings.IndexAny(rest[1:], "\\`*") + 1
			if n == 0 {
				n = len(rest)
			}
			b.WriteString(html.EscapeString(rest[:n]))
			i += n - 1
		}
	}
	return b.String()
}

// closes reports whether s has the mark that ends bold text, outside of code.
func closes(s string) bool {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == '`':
			i += strings.IndexByte(s[i+1:], '`') + 1 // stays at i if there is no partner
		case strings.HasPrefix(s[i:], "**"):
			return true
		}
	}
	return false
}

// punctuation reports whether a backslash before c removes its special meaning.
func punctuation(c byte) bool {
	return c > ' ' && c < 0x7f && !(c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z')
}
