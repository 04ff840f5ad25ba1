package echarts

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"strings"
)

// Page writes a page of its own with the given parts, each HTML: it needs no
// network and follows the reader's choice of light or dark.
func Page(w io.Writer, title string, parts ...string) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
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
`, html.EscapeString(title))
	for _, p := range parts {
		b.WriteString("<section>" + p + "</section>\n")
	}
	b.WriteString(Library() + "\n</body></html>\n")
	return b.Flush()
}

// Markdown returns HTML for the little Markdown that summaries are made of:
// tables, headings, lists, quotes, paragraphs, **bold** and `code`. Anything else
// stays as it is written.
func Markdown(text string) string {
	var b strings.Builder
	open := "" // the element that the lines before have opened
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
				continue // the rule below a table's head
			}
			if strings.Trim(line, "| ") == "" {
				continue // the empty head that Markdown demands of a table without one
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

// cellsOf splits a table's row at its unescaped bars.
func cellsOf(row string) []string {
	const bar = "\x00"
	row = strings.TrimSuffix(strings.TrimPrefix(strings.ReplaceAll(row, `\|`, bar), "|"), "|")
	cells := strings.Split(row, "|")
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(strings.TrimSpace(c), bar, "|")
	}
	return cells
}

func inline(s string) string {
	s = html.EscapeString(strings.TrimSpace(s))
	for _, m := range []struct{ mark, tag string }{{"`", "code"}, {"**", "strong"}} {
		parts := strings.Split(s, m.mark)
		if len(parts)%2 == 0 { // one mark has no partner
			continue
		}
		var b strings.Builder
		for i, p := range parts {
			if i%2 == 1 {
				p = "<" + m.tag + ">" + p + "</" + m.tag + ">"
			}
			b.WriteString(p)
		}
		s = b.String()
	}
	return s
}
