package main

import (
	"html"
	"regexp"
	"slices"
	"strings"

	"github.com/svmnb/svmnb/svmnb/static"
)

// A page may show what strangers have written: the text of a notebook, and outputs with
// names from data. None of it may run or load anything. Two measures ensure this. What
// could run is left out of the page or written as text. And each page has a
// Content-Security-Policy that allows only the scripts of charts, tables and formulas, by
// their hashes, and no request.

// rawHTML returns the HTML in Markdown. It keeps tags that only say how text looks, and
// escapes all others.
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

// keeps reports whether an attribute is kept: those for layout, and addresses that run
// nothing.
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

// acts matches the beginning of tags that load, run or navigate without the reader's
// action.
var acts = regexp.MustCompile(`(?i)<(/?(?:script|meta|link|base|i?frame|frameset|object|embed|applet|portal|fencedframe))`)

// inert escapes the tags that acts matches.
func inert(html string) string { return acts.ReplaceAllString(html, "&lt;$1") }

// outputHTML returns the HTML of an output for a page. Charts and tables of svmnb work; the
// rest is inert.
func outputHTML(page string) string {
	alive, _ := static.Alive(page, inert)
	return alive
}

// policyMeta returns the element that says what may run in a page. Living figures run their
// engine, which the page has, in a worker.
func policyMeta(page string, more ...string) string {
	policy := static.Policy(page, more...)
	if own := len(more) > 0; hasLiving(page) && (own || strings.Contains(page, livingHere)) { // the site's own script, or that of the page
		policy = strings.Replace(policy, "script-src ", "script-src 'wasm-unsafe-eval' ", 1) + "; worker-src blob:"
	}
	return `<meta http-equiv="Content-Security-Policy" content="` + html.EscapeString(policy) + "\">\n" +
		`<meta http-equiv="x-dns-prefetch-control" content="off">` + "\n"
}
