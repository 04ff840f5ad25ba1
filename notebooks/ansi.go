package main

import (
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"
)

var ansiSequence = regexp.MustCompile(`\x1b(?:\[([0-?]*)[ -/]*([@-~])|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_=>])`)

func stripANSI(s string) string { return ansiSequence.ReplaceAllString(s, "") }

// overwritten returns what a terminal shows of lines that overwrite themselves by carriage
// returns, as progress bars do.
func overwritten(s string) string {
	if !strings.Contains(s, "\r") {
		return s
	}
	all := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, line := range all {
		line = strings.TrimRight(line, "\r")
		all[i] = line[strings.LastIndex(line, "\r")+1:]
	}
	return strings.Join(all, "\n")
}

var ansiColours = []string{"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"}

// ansiHTML escapes text and turns terminal colours into CSS classes. It removes other
// terminal commands.
func ansiHTML(s string) string {
	var b strings.Builder
	var colour string
	var bold, inverse, open bool
	last := 0
	write := func(text string) {
		if text == "" {
			return
		}
		var classes []string
		if colour != "" {
			classes = append(classes, "ansi-"+colour)
		}
		if bold {
			classes = append(classes, "ansi-bold")
		}
		if inverse {
			classes = append(classes, "ansi-inverse")
		}
		if open = len(classes) > 0; open {
			fmt.Fprintf(&b, `<span class="%s">`, strings.Join(classes, " "))
		}
		b.WriteString(html.EscapeString(text))
		if open {
			b.WriteString("</span>")
		}
	}
	for _, m := range ansiSequence.FindAllStringSubmatchIndex(s, -1) {
		write(s[last:m[0]])
		last = m[1]
		if m[4] < 0 || s[m[4]:m[5]] != "m" {
			continue
		}
		codes := strings.Split(s[m[2]:m[3]], ";")
		for i := 0; i < len(codes); i++ {
			n, _ := strconv.Atoi(codes[i]) // an empty code is 0
			switch {
			case n == 0:
				colour, bold, inverse = "", false, false
			case n == 1:
				bold = true
			case n == 22:
				bold = false
			case n == 7:
				inverse = true
			case n == 27:
				inverse = false
			case n >= 30 && n <= 37:
				colour = ansiColours[n-30]
			case n >= 90 && n <= 97:
				colour = ansiColours[n-90]
			case n == 39:
				colour = ""
			case n == 38 || n == 48: // followed by 5;index or 2;r;g;b, which are not in the palette
				if i+1 < len(codes) && codes[i+1] == "5" {
					i += 2
				} else {
					i += 4
				}
			}
		}
	}
	write(s[last:])
	return b.String()
}
