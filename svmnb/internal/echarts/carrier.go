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

// cells decides which output of a notebook contains the drawing library. The library must
// be stored once, together with the charts, but each cell is a process that knows nothing
// of the page. So one cell carries the library for all others, and a file in the kernel's
// folder records what is known of the cells. A cell is recognised by the text of its main
// function, since GoNB tells a program nothing else about its cell. (A display with a fixed
// id does not help: an update for an output that a new run has cleared vanishes, and the
// kernel is not told.)
//
// The library is sent
//
//   - with the kernel's first chart;
//   - when a cell runs again and no cell has sent the library since its last run: the cell
//     may be the carrier;
//   - when a new cell resembles a carrier: it may be the carrier after an edit.
//
// This misses a carrier that was deleted or rewritten completely. Classic Jupyter repairs
// that before it saves the notebook (runtime.js). JupyterLab and Notebook 7 do not say when
// they save. There, the charts of the reopened notebook use the library that the browser
// has kept. If the browser has none, their places ask the reader to run the cell again.

type cells struct {
	Run   int       // number of runs with charts so far
	Sent  int       // the last run that sent the library
	Ended time.Time // when the last run displayed its chart
	Known []cell
}

type cell struct {
	Body    string // text of the main function
	Run     int    // number of its last run
	Carrier bool
}

// started is approximately when this process began.
var started = time.Now()

// Carry reports whether the output of the running cell must contain the library, and
// records that it does. dir is GoNB's temporary folder, GONB_TMP_DIR. In case of an error
// it returns true.
func Carry(dir string) bool {
	source, err := os.ReadFile(filepath.Join(dir, "main.go"))
	if err != nil || dir == "" {
		return true
	}
	name := filepath.Join(dir, "svmnb-cells.json")
	var c cells
	if data, err := os.ReadFile(name); err == nil {
		_ = json.Unmarshal(data, &c) // a damaged file counts as empty
	}
	carry := c.step(body(string(source)), started)
	data, err := json.Marshal(c)
	if err != nil || os.WriteFile(name+".new", data, 0o600) != nil || os.Rename(name+".new", name) != nil {
		return true
	}
	return carry
}

// step records a run of the cell with this body, in a process that began at start, and
// reports whether it must carry the library.
func (c *cells) step(body string, start time.Time) bool {
	c.Run++
	i := slices.IndexFunc(c.Known, func(k cell) bool { return k.Body == body })
	var carry bool
	switch {
	case c.Sent == 0:
		carry = true
	case i >= 0:
		carry = c.Sent <= c.Known[i].Run
	case start.Sub(c.Ended) > 2*time.Second: // "run all" starts the next cell sooner, an edit takes longer
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

// body returns the text of the program's main function, which GoNB makes from the cell. The
// rest of the program has the declarations of other cells.
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

// likeness is the share of words that a and b have in common (Jaccard index).
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
