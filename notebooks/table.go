package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/svmnb/svmnb/notebooks/lab"
)

var stateMarks = map[lab.State]string{byHand: "✎", lab.Passed: "✓", lab.Failed: "✗", lab.Open: "…", broken: "!", endedEarly: "⏹", missing: "-"}

// shown returns a name for a line of a table. It quotes names with characters that would
// break the line or deceive a reader.
func shown(name string) string {
	if name != "" && strings.TrimSpace(name) == name && utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return name
	}
	return strconv.Quote(name)
}

// told returns the output of a program, marked so that no line of it can be mistaken for a
// line of the report.
func told(text string) string {
	text = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
			return '\ufffd'
		}
		return r
	}, strings.TrimSpace(stripANSI(strings.ReplaceAll(text, "\r", "\n"))))
	return strings.ReplaceAll(text, "\n", "\n    ")
}

// writeTable writes one line for each notebook, and then the cells that did not run.
func writeTable(w io.Writer, all []graded) {
	var names []string
	width := len("notebook")
	for _, g := range all {
		width = max(width, utf8.RuneCountInString(shown(g.File)))
		for _, e := range g.Exercises {
			if !slices.Contains(names, e.Exercise) {
				names = append(names, e.Exercise)
			}
		}
	}
	fmt.Fprintf(w, "%-*s", width, "notebook")
	for _, name := range names {
		fmt.Fprintf(w, "  %s", name)
	}
	fmt.Fprintln(w, "  passed")
	for _, g := range all {
		fmt.Fprintf(w, "%-*s", width, shown(g.File))
		for _, name := range names {
			mark := ""
			for _, e := range g.Exercises {
				if e.Exercise == name {
					mark = stateMarks[e.State]
				}
			}
			fmt.Fprintf(w, "  %-*s", len(name), mark)
		}
		fmt.Fprintf(w, "  %d of %d\n", g.Passed, g.Of)
	}
	fmt.Fprintln(w, "\n✓ passed  ✗ not right  … not answered  ! broken: does not compile, or panics  ⏹ ended early  - the check did not run")
	for _, g := range all {
		for _, p := range g.Problems {
			fmt.Fprintf(w, "\n%s: %s\n", shown(g.File), told(p))
		}
	}
}
