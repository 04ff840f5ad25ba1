// Package say writes numbers and names for summaries, hints and titles.
package say

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/svmnb/svmnb/svmnb/internal/words"
)

// Summary is the table in which a fit describes itself.
type Summary struct{ strings.Builder }

// NewSummary returns an empty table.
func NewSummary() *Summary {
	s := &Summary{}
	s.WriteString("| | |\n|:--|:--|\n")
	return s
}

// Markup is text that is already Markdown.
type Markup string

// longest is the largest number of characters of a name in a summary.
const longest = 2000

// Escaped returns v as text that Markdown shows literally. Names come from data, whose
// author must not be able to write markup into the page.
func Escaped(v any) any {
	switch v := v.(type) {
	case Markup, int, int64, float64:
		return v
	case string:
		return words.Markdown(words.Cut(v, longest))
	}
	return words.Markdown(words.Cut(fmt.Sprint(v), longest))
}

// Code returns text as code in a line of Markdown.
func Code(text string) string {
	return "`" + strings.NewReplacer("`", "'", "\n", " ").Replace(words.Clean(words.Cut(text, longest))) + "`"
}

// Row adds a row. what and format are Markdown; the args are shown literally.
func (s *Summary) Row(what, format string, args ...any) {
	shown := make([]any, len(args))
	for i, v := range args {
		shown[i] = Escaped(v)
	}
	fmt.Fprintf(s, "| %s | %s |\n", what, fmt.Sprintf(format, shown...))
}

// Hints adds suggestions below the table.
func (s *Summary) Hints(hints []string) {
	for _, hint := range hints {
		fmt.Fprintf(s, "\n> **Hint.** %s\n", Escaped(hint))
	}
}

// Percent writes a share as a percentage.
func Percent(v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "–"
	case v != 0 && math.Abs(v) < 1e-4:
		return fmt.Sprintf("%.1e", v)
	}
	return fmt.Sprintf("%.3g %%", 100*v)
}

// Several writes a number and a noun, with an s for the plural.
func Several(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return Thousands(int64(n)) + " " + thing
}

// Thousands writes 1234567 as 1 234 567, with thin spaces.
func Thousands(v int64) string {
	s := fmt.Sprint(v)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "\u202f" + s[i:]
	}
	return s
}

// Signed writes v with so many significant digits and a minus sign instead of a hyphen.
func Signed(v float64, digits int) string {
	return strings.ReplaceAll(strconv.FormatFloat(v, 'g', digits, 64), "-", "−")
}

// Spell writes a duration with a space before the unit: 1.16 ms.
func Spell(d time.Duration) string {
	s := round(d).String()
	if unit := strings.IndexAny(s, "nµmsh"); unit > 0 && d < time.Minute {
		return s[:unit] + " " + s[unit:]
	}
	return s
}

func round(d time.Duration) time.Duration {
	switch {
	case d >= time.Second:
		return d.Round(10 * time.Millisecond)
	case d >= time.Millisecond:
		return d.Round(10 * time.Microsecond)
	}
	return d.Round(100 * time.Nanosecond)
}

// Class returns the name of a class, with "class" before it if it is a number.
func Class(name string) string {
	if _, err := strconv.ParseFloat(name, 64); err != nil {
		return name
	}
	return "class " + strings.ReplaceAll(name, "-", "−")
}

// Brief rounds the long numbers in a kernel's constructor call.
func Brief(call string) string {
	return longNumber.ReplaceAllStringFunc(call, func(s string) string {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return s
		}
		return strconv.FormatFloat(v, 'g', 4, 64)
	})
}

// Words says in words what the call that describes a learner says in Go: of
// Classify(moons).Kernel(RBF(1)).C(2) it makes "moons · RBF(1), C = 2". The tolerance is left out.
func Words(call string) string {
	call = Brief(call)
	if inside, ok := strings.CutPrefix(call, "Pipe("); ok && strings.HasSuffix(inside, ")") {
		parts := split(strings.TrimSuffix(inside, ")"), ", ")
		for i, p := range parts {
			parts[i] = Words(strings.TrimSuffix(p, "()"))
		}
		return strings.Join(parts, " → ")
	}
	data, settings := "", []string(nil)
	for _, part := range split(call, ".") {
		name, args, ok := strings.Cut(part, "(")
		args = strings.TrimSuffix(args, ")")
		switch {
		case !ok:
			return call
		case name == "Classify" || name == "Regress" || name == "OneClass" || name == "Enclose":
			data = args
		case name == "Kernel":
			settings = append(settings, args)
		case name == "OneVsOne":
			settings = append(settings, "one against one")
		case name == "OneVsRest":
			settings = append(settings, "one against the rest")
		case name == "Tol" || data == "" && len(settings) == 0 && args == "":
			if name != "Tol" {
				return call
			}
		case args == "":
			settings = append(settings, strings.ToLower(capitals.ReplaceAllString(name, "$1 $2")))
		default:
			settings = append(settings, name+" = "+args)
		}
	}
	if data == "" {
		return call
	}
	return strings.Join(append([]string{data}, strings.Join(settings, ", ")), " · ")
}

var capitals = regexp.MustCompile(`([a-z])([A-Z])`)

// split cuts a call where the separator stands outside parentheses and between letters.
func split(call, separator string) (parts []string) {
	depth, from := 0, 0
	for i := range len(call) {
		switch call[i] {
		case '(', '{', '[':
			depth++
		case ')', '}', ']':
			depth--
		}
		if depth == 0 && i > 0 && strings.HasPrefix(call[i:], separator) && call[i-1] == ')' {
			parts = append(parts, call[from:i])
			from = i + len(separator)
		}
	}
	return append(parts, call[from:])
}

var longNumber = regexp.MustCompile(`[0-9.]{7,}(e[-+]?[0-9]+)?`)

// Iterations writes a number of iterations, without spaces between digits.
func Iterations(n int) string {
	if n == 1 {
		return "1 iteration"
	}
	return fmt.Sprint(n, " iterations")
}

// Number writes v with the fewest digits that identify it.
func Number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
