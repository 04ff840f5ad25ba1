package echarts

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
)

// A notebook must hold the library exactly where its charts are, though each
// cell is a process that knows nothing of the page. So one chart cell carries
// it for all the others, and what is known of the cells lies in the kernel's
// folder. GoNB tells a program nothing about its cell except the program's
// text; a cell is therefore known by its main function. (A display with a
// fixed id does not help: an update for an output that a run has cleared
// vanishes, and the kernel never learns of it.)
//
// The library is sent
//   - with the kernel's first chart,
//   - when a cell runs again and nobody has carried the library since it ran:
//     it may be the carrier, and it is what a place without library asks for,
//   - when a cell is new but resembles a carrier: it may be the carrier, edited.
//
// What is left is a carrier that was rewritten beyond likeness or deleted. A
// classic notebook mends that itself before it is saved (runtime.js). JupyterLab
// and Notebook 7 do not say when they save: there the charts of the reopened
// notebook take the library that the browser has kept, and where it has none
// their places say that the cell is to be run again.

type cells struct {
	Run   int       // executions with charts so far
	Sent  int       // the run that carried the library last
	Ended time.Time // when the last of them displayed
	Known []cell
}

type cell struct {
	Body    string // text of the main function
	Run     int    // its last run
	Carrier bool
}

// started is when this process began, nearly.
var started = time.Now()

// Carry reports whether the running cell's output must carry the library, and
// notes that it does. dir is GoNB's temporary folder, GONB_TMP_DIR. When in
// doubt it carries.
func Carry(dir string) bool {
	source, err := os.ReadFile(filepath.Join(dir, "main.go"))
	if err != nil || dir == "" {
		return true
	}
	name := filepath.Join(dir, "svmnb-cells.json")
	var c cells
	if data, err := os.ReadFile(name); err == nil {
		_ = json.Unmarshal(data, &c) // damaged: as if nothing had been sent
	}
	carry := c.step(body(string(source)), started)
	data, err := json.Marshal(c)
	if err != nil || os.WriteFile(name+".new", data, 0o600) != nil || os.Rename(name+".new", name) != nil {
		return true
	}
	return carry
}

// step notes a run of the cell with that body, whose process began at start,
// and reports whether it must carry the library.
func (c *cells) step(body string, start time.Time) bool {
	c.Run++
	i := slices.IndexFunc(c.Known, func(k cell) bool { return k.Body == body })
	var carry bool
	switch {
	case c.Sent == 0:
		carry = true
	case i >= 0:
		carry = c.Sent <= c.Known[i].Run
	case start.Sub(c.Ended) > 2*time.Second: // nobody edits a cell faster; "run all" is
		carry = slices.ContainsFunc(c.Known, func(k cell) bool { return k.Carrier && likeness(k.Body, body) >= 0.5 })
	}
	if i < 0 {
		i = len(c.Known)
		c.Known = append(c.Known, cell{Body: body})
	}
	c.Known[i].Run, c.Known[i].Carrier = c.Run, carry
	if carry {
		c.Sent = c.Run
	}
	c.Ended = time.Now()
	return carry
}

// body returns the text of the program's main function, which GoNB makes of
// the cell; declarations of other cells stand around it.
func body(source string) string {
	_, after, found := strings.Cut("\n"+source, "\nfunc main()")
	if !found {
		return source
	}
	if main, _, found := strings.Cut(after, "\n}"); found {
		after = main
	}
	return strings.TrimSpace(after)
}

// likeness is the share of words that a and b have in common, by Jaccard.
func likeness(a, b string) float64 {
	words := map[string]int{}
	for bit, s := range []string{a, b} {
		for _, w := range strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			words[w] |= 1 << bit
		}
	}
	if len(words) == 0 {
		return 1
	}
	both := 0
	for _, w := range words {
		if w == 3 {
			both++
		}
	}
	return float64(both) / float64(len(words))
}
