package words

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"class +1":                 "class +1",
		"größer, 大きい, שלום":        "größer, 大きい, שלום",
		"12\u202f345":              "12\u202f345", // a thin space
		"a\nb":                     "a\nb",
		"a\x00b\x1b[31m\tc\r":      "a b [31m c ",
		"\u202eevil\u2066\u200f":   "evil",
		"\ufeffbom":                "bom",
		"\u061cx\u2028y\u2029\x85": "x y \ufffd",
		"c1 \u0085 \u009b":         "c1    ",
		"bad \xff\xfe":             "bad \ufffd\ufffd",
		"👩‍👩‍👧":                    "👩‍👩‍👧", // joined by signs of no width
	} {
		if got := Clean(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, test := range []struct {
		in   string
		most int
		want string
	}{
		{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"äöü", 3, "äöü"}, {"äöüß", 3, "äö…"}, {"", 3, ""}, {strings.Repeat("x", 1<<20), 2, "x…"},
	} {
		if got := Cut(test.in, test.most); got != test.want {
			t.Errorf("%.20q cut to %d is %q, want %q", test.in, test.most, got, test.want)
		}
	}
}

func TestMarkdown(t *testing.T) {
	for in, want := range map[string]string{
		"breast_cancer, class +1": "breast_cancer, class +1",
		"m − M ≤ 0.001":           "m − M ≤ 0.001",
		"_a_ **b** `c`":           "\\_a\\_ \\*\\*b\\*\\* \\`c\\`",
		"![l](../x)":              "!\\[l\\](../x)",
		"a|b\\|c":                 "a\\|b\\\\\\|c",
		"<b>&lt; & more":          "\\<b>\\&lt; & more",
		"$x$ ~~y~~":               "\\$x\\$ \\~\\~y\\~\\~",
		"http://a.b www.c.d e@f":  "http\\://a.b www\\.c.d e\\@f",
		"two\nlines":              "two lines",
	} {
		if got := Markdown(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("a\x00\u202eb\xff")
	f.Fuzz(func(t *testing.T, s string) {
		got := Clean(s)
		if !utf8.ValidString(got) || Clean(got) != got || strings.ContainsFunc(got, func(r rune) bool { return unicode.IsControl(r) && r != '\n' || turns(r) }) {
			t.Errorf("%q became %q", s, got)
		}
		if short := Cut(got, 5); utf8.RuneCountInString(short) > 5 || !utf8.ValidString(short) {
			t.Errorf("%q was cut to %q", got, short)
		}
	})
}
