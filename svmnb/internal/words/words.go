// Package words makes names that come from data safe to show. Any text may be the name of a
// class, a feature or a data set. All names pass through this package before they are
// shown, by one function for each format.
package words

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Most is the largest number of characters of a name that are shown.
const Most = 300

// Clean replaces invalid UTF-8 by U+FFFD, and control characters (except for the end of a
// line) and line separators by spaces. It removes marks of text direction, since they would
// also turn the text that follows.
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
		return r // the range loop has made U+FFFD of an invalid byte
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
		case c == 0xc2 && s[i+1] < 0xa0: // control characters from U+0080 to U+009F
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

// turns reports whether r is a mark of text direction or a byte order mark.
func turns(r rune) bool {
	return r == '\u061c' || r == '\u200e' || r == '\u200f' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' || r == '\ufeff'
}

// Cut returns the first characters of s and an ellipsis if s has more than most characters,
// otherwise s.
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

// Markdown escapes s so that a line of Markdown shows it literally: without markup, images,
// links, HTML or formulas, in the dialects of GitHub and Jupyter and in summaries.
// Characters without a special meaning at their place, such as most dashes, are not
// escaped.
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

// within reports whether both neighbours of the byte at i are letters or digits. An
// underscore has no special meaning there.
func within(s string, i int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i+1:])
	word := func(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }
	return word(before) && word(after)
}
