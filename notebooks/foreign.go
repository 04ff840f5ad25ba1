package main

import (
	"html"
	"regexp"
	"slices"
	"strings"

	"github.com/svmnb/svmnb/svmnb/static"
)

// A page shows what strangers have written: a notebook's text, and its outputs with the
// names that were in the data. None of it may run or ask for anything. Two walls hold
// that: what could run is not written into the page, or written as text; and the page has
// a Content-Security-Policy that knows the scripts of charts, tables and formulas by their
// hash and allows no other, nor any request.

// rawHTML returns the HTML that stands in Markdown with the tags that only say how text
// looks, and everything else as text.
func rawHTML(s string) string {
	var b strings.Builder
	for s != "" {
		i := strings.IndexByte(s, '<')
		if i < 0 {
			b.WriteString(s)
			break
		}
		b.WriteString(s[:i])
		s = s[i:]
		if end := strings.Index(s, "-->"); strings.HasPrefix(s, "<!--") && end >= 0 {
			s = s[end+3:]
			continue
		}
		if m := harmlessTag.FindStringSubmatch(s); m != nil && slices.Contains(textTags, strings.ToLower(m[2])) {
			b.WriteString("<" + m[1] + strings.ToLower(m[2]))
			for _, a := range attribute.FindAllStringSubmatch(m[3], -1) {
				if name, value := strings.ToLower(a[1]), html.UnescapeString(a[2]+a[3]); m[1] == "" && keeps(name, value) {
					b.WriteString(" " + name + `="` + html.EscapeString(value) + `"`)
				}
			}
			b.WriteString(">")
			s = s[len(m[0]):]
			continue
		}
		b.WriteString("&lt;")
		s = s[1:]
	}
	return b.String()
}

var (
	harmlessTag = regexp.MustCompile(`^<(/?)([A-Za-z][A-Za-z0-9]*)((?:\s+[A-Za-z][\w-]*(?:\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[\w.%#-]+))?)*)\s*/?>`)
	attribute   = regexp.MustCompile(`\s([A-Za-z][\w-]*)\s*=\s*(?:["']([^"'<>]*)["']|([\w.%#-]+))`)
	textTags    = strings.Fields("a abbr b blockquote br center cite code dd del details dfn div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p pre q s samp small span strong sub summary sup table tbody td tfoot th thead tr u ul var")
	quiet       = strings.Fields("align alt class colspan height id lang open rowspan start title valign width")
)

// keeps reports whether an attribute stays: those of layout, and addresses that run nothing.
func keeps(name, value string) bool {
	switch name {
	case "href":
		return !strings.Contains(value, ":") || address.MatchString(value)
	case "src":
		return isImage(value)
	}
	return slices.Contains(quiet, name)
}

var address = regexp.MustCompile(`^(?i:https?|mailto):`)

// acts matches the beginning of what loads, runs or leads away by itself.
var acts = regexp.MustCompile(`(?i)<(/?(?:script|meta|link|base|i?frame|frameset|object|embed|applet|portal|fencedframe))`)

// inert returns HTML with what acts by itself as text.
func inert(html string) string { return acts.ReplaceAllString(html, "&lt;$1") }

// outputHTML returns the HTML of an output for a page: the charts and tables of svmnb
// alive, the rest without what acts by itself.
func outputHTML(page string) string {
	alive, _ := static.Alive(page, inert)
	return alive
}

// policyMeta is the element by which a page says what may run in it.
func policyMeta(page string, more ...string) string {
	return `<meta http-equiv="Content-Security-Policy" content="` + html.EscapeString(static.Policy(page, more...)) + "\">\n" +
		`<meta http-equiv="x-dns-prefetch-control" content="off">` + "\n"
}
