// Package words makes names that come from data safe to show. A class, a feature or a
// data set may be called anything: what leaves the program goes through here, once for
// each format.
package words

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Most is how many characters of a name are shown: more would fill the page, and none
// of them would tell it from another.
const Most = 300

// Clean returns s without what has no shape of its own: what is no UTF-8 becomes
// U+FFFD, a control character (save a line's end) or a separator of lines a space, and
// the marks by which text turns its direction are left out, since they would turn what
// follows as well.
func Clean(s string) string {
	if isClean(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r < 0x20, r >= 0x7f && r < 0xa0, r == '\u2028', r == '\u2029':
			return ' '
		case turns(r):
			return -1
		}
		return r // an invalid byte is U+FFFD already
	}, s)
}

func isClean(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c < 0x20 && c != '\n', c == 0x7f:
			return false
		case c == 0xc2 && s[i+1] < 0xa0: // the other controls
			return false
		case c == 0xd8 && s[i+1] == 0x9c, c == 0xef && s[i+1] == 0xbb && s[i+2] == 0xbf:
			return false
		case c == 0xe2 && (s[i+1] == 0x80 || s[i+1] == 0x81):
			if r, _ := utf8.DecodeRuneInString(s[i:]); turns(r) || r == '\u2028' || r == '\u2029' {
				return false
			}
		}
	}
	return true
}

// turns reports whether r is one of Unicode's marks of direction, or a byte order mark.
func turns(r rune) bool {
	return r == '\u061c' || r == '\u200e' || r == '\u200f' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' || r == '\ufeff'
}

// Cut returns s, or its first characters and an ellipsis where it has more than most.
func Cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	n := 0
	for i := range s {
		if n++; n == most {
			if _, size := utf8.DecodeRuneInString(s[i:]); i+size < len(s) {
				return s[:i] + "…"
			}
			break
		}
	}
	return s
}

// Line returns s on one line, clean and cut to Most.
func Line(s string) string {
	return strings.TrimSpace(strings.ReplaceAll(Clean(Cut(s, Most)), "\n", " "))
}

// Markdown returns s so that Markdown shows it as it is written, within a line: no
// markup, no image, link, HTML or formula, in GitHub's dialect, in Jupyter's and in
// that of summaries. What means nothing there, such as a dash, is not touched.
func Markdown(s string) string {
	s = strings.ReplaceAll(Clean(s), "\n", " ")
	if !strings.ContainsAny(s, "\\`*_[]<&|~$@:") && !strings.Contains(s, "www.") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case strings.IndexByte("\\`*[]<|~$@", c) >= 0,
			c == '_' && !within(s, i),
			c == '&' && i+1 < len(s) && s[i+1] != ' ',
			c == ':' && strings.HasPrefix(s[i:], "://"),              // GitHub makes links of addresses
			c == '.' && i >= 3 && strings.EqualFold(s[i-3:i], "www"): // and of these
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// within reports whether both neighbours of the byte at i are letters or digits, where
// an underscore marks nothing.
func within(s string, i int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i+1:])
	word := func(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }
	return word(before) && word(after)
}
