// Package say puts numbers and names into the words of summaries, hints and titles.
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

// Summary is the table that a fit is described by.
type Summary struct{ strings.Builder }

// NewSummary returns a table without lines.
func NewSummary() *Summary {
	s := &Summary{}
	s.WriteString("| | |\n|:--|:--|\n")
	return s
}

// Markup is text that is Markdown already.
type Markup string

// longest is how many characters of a name a summary has room for.
const longest = 2000

// Escaped returns v for a line of Markdown, which shows it as it is: names come from the
// data, and whoever wrote these must not write the page.
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

// Row adds a line. what and format are Markdown, args are shown as they are written.
func (s *Summary) Row(what, format string, args ...any) {
	shown := make([]any, len(args))
	for i, v := range args {
		shown[i] = Escaped(v)
	}
	fmt.Fprintf(s, "| %s | %s |\n", what, fmt.Sprintf(format, shown...))
}

// Hints adds what to try next.
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

// Several counts things whose plural ends in s.
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

// Signed writes v to so many digits, with a true minus sign.
func Signed(v float64, digits int) string {
	return strings.ReplaceAll(strconv.FormatFloat(v, 'g', digits, 64), "-", "−")
}

// Spell writes 1.16 ms for 1.16ms.
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

// Class makes a name that stands alone of a class that is only a number.
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

var longNumber = regexp.MustCompile(`[0-9.]{7,}(e[-+]?[0-9]+)?`)

// Iterations counts them, without spaces between digits.
func Iterations(n int) string {
	if n == 1 {
		return "1 iteration"
	}
	return fmt.Sprint(n, " iterations")
}

// Number writes v to the digits that tell it from all others.
func Number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
