package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// run executes the code cells of the notebook in order, in the kernel k, and stores their
// outputs in nb. It stops at the first cell that fails, with a *failure. It writes one line
// for each cell to progress.
func run(ctx context.Context, k *client, nb *notebook, timeout time.Duration, progress io.Writer) error {
	cells := codeCells(nb)
	for _, c := range cells {
		c.setOutputs(nil, 0)
	}
	recorded := map[string]*recorder{} // by request id
	displays := map[string][]*output{}
	route := func(m message) {
		if r := recorded[m.Parent.ID]; r != nil {
			r.take(m)
		}
	}
	var failed error
	for i, c := range cells {
		source := c.source()
		if strings.TrimSpace(source) == "" {
			continue
		}
		fmt.Fprintf(progress, "%*d/%d  %s", len(fmt.Sprint(len(cells))), i+1, len(cells), label(source))
		id := rand.Text()
		r := &recorder{cell: c, displays: displays, special: hasSpecialLines(source)}
		recorded[id] = r
		start := time.Now()
		answer, err := k.execute(ctx, id, source, timeout, route)
		fmt.Fprintf(progress, "  %.2f s\n", time.Since(start).Seconds())
		r.count = answer.ExecutionCount
		if err != nil {
			failed = &failure{cell: i + 1, source: source, reason: err.Error(), err: err}
			if errors.Is(err, errTimeout) || errors.Is(err, errKilled) {
				failed.(*failure).reason = fmt.Sprintf("%s after %s", err, timeout)
			}
			break
		}
		if reason := r.failed(answer); reason != "" && !c.expectsError() {
			failed = &failure{cell: i + 1, source: source, reason: reason}
			break
		}
	}
	if failed == nil {
		k.drain(route) // outputs that a cell sent without waiting for them
	}
	for _, r := range recorded {
		r.cell.setOutputs(r.outputs, r.count)
	}
	nb.adopt()
	return failed
}

// failure says which code cell failed and why.
type failure struct {
	cell   int // counted from 1 among the code cells
	source string
	reason string
	err    error
}

func (f *failure) Error() string {
	return fmt.Sprintf("code cell %d failed: %s\nThe cell:\n%s", f.cell, f.reason, indent(f.source))
}

func (f *failure) Unwrap() error { return f.err }

func indent(s string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n    ")
}

// label returns the first meaningful line of a cell, cut or padded to a fixed width.
func label(source string) string {
	const width = 60
	text, imports, inImports := "", "", false
	for line := range strings.Lines(source) {
		line = strings.ReplaceAll(strings.TrimSpace(line), "\t", " ")
		if strings.HasPrefix(line, "import ") || inImports {
			imports = "imports"
			inImports = line != ")" && (inImports || strings.HasSuffix(line, "("))
		} else if line != "" && line != "%%" && line != "%main" {
			text = line
			break
		}
	}
	text = cmp.Or(text, imports)
	if utf8.RuneCountInString(text) > width {
		text = string([]rune(text)[:width-1]) + "…"
	}
	return text + strings.Repeat(" ", width-utf8.RuneCountInString(text))
}

// recorder collects the outputs of one cell.
type recorder struct {
	cell     *cell
	special  bool
	outputs  []*output
	displays map[string][]*output // by display id, of all cells
	clear    bool                 // clear_output with wait: clear when the next output arrives
	count    int
	errors   []string // error messages, and special lines that failed
}

// take stores one message as an output, as a front end shows it.
func (r *recorder) take(m message) {
	var content struct {
		Name      string         `json:"name"`
		Text      string         `json:"text"`
		Data      map[string]any `json:"data"`
		Metadata  map[string]any `json:"metadata"`
		Transient struct {
			DisplayID string `json:"display_id"`
		} `json:"transient"`
		ExecutionCount json.Number `json:"execution_count"`
		Ename          string      `json:"ename"`
		Evalue         string      `json:"evalue"`
		Traceback      []string    `json:"traceback"`
		Wait           bool        `json:"wait"`
	}
	if err := json.Unmarshal(m.Content, &content); err != nil {
		r.errors = append(r.errors, fmt.Sprintf("unreadable %s message: %v", m.Header.Type, err))
		return
	}
	o := &output{kind: m.Header.Type}
	switch m.Header.Type {
	case "stream":
		if content.Name == "stderr" {
			if reason := failedMessage(content.Text, r.special); reason != "" {
				r.errors = append(r.errors, reason)
			}
		}
		o.name, o.text = content.Name, content.Text
	case "display_data", "execute_result":
		o.data, o.metadata, o.displayID = content.Data, content.Metadata, content.Transient.DisplayID
		if o.kind == "execute_result" {
			o.count = content.ExecutionCount
		}
	case "update_display_data":
		for _, shown := range r.displays[content.Transient.DisplayID] {
			shown.data, shown.metadata = content.Data, content.Metadata
		}
		return
	case "error":
		o.ename, o.evalue, o.traceback = content.Ename, content.Evalue, content.Traceback
		r.errors = append(r.errors, errorText(o))
	case "clear_output":
		if r.clear = content.Wait; !r.clear {
			r.outputs = nil
		}
		return
	default: // execute_input and comm messages
		return
	}
	if r.clear {
		r.outputs, r.clear = nil, false
	}
	if n := len(r.outputs); n > 0 && o.kind == "stream" && r.outputs[n-1].kind == "stream" && r.outputs[n-1].name == o.name {
		r.outputs[n-1].text += o.text
		return
	}
	r.outputs = append(r.outputs, o)
	if o.displayID != "" {
		r.displays[o.displayID] = append(r.displays[o.displayID], o)
	}
}

// errorText returns the most informative part of an error: the traceback, which contains
// the lines of the cell, or else the message.
func errorText(o *output) string {
	return cmp.Or(strings.TrimSpace(stripANSI(strings.Join(o.traceback, "\n"))), o.ename+": "+o.evalue)
}

// failed returns why the cell failed, or "". The answer for a failed Go program is only
// "exit status 2", so failed adds the program's last output.
func (r *recorder) failed(answer reply) string {
	if answer.Status == "ok" && len(r.errors) == 0 {
		return ""
	}
	reasons := slices.Compact(slices.Clone(r.errors))
	if len(reasons) == 0 {
		reasons = []string{"status " + answer.Status}
	}
	reason := strings.Join(reasons, "\n")
	for _, o := range slices.Backward(r.outputs) {
		if o.kind == "stream" && o.name == "stderr" {
			text := strings.TrimSpace(stripANSI(o.text))
			// A crash gives its reason first, a program that logs gives it last.
			if all := strings.Split(text, "\n"); len(all) > 20 {
				text = strings.Join(slices.Concat(all[:5], []string{"…"}, all[len(all)-15:]), "\n")
			}
			if text != "" && text != reason {
				reason += "\nstderr:\n" + indent(text)
			}
			break
		}
	}
	return reason
}

// hasSpecialLines reports whether a cell has lines for GoNB itself (beginning with % or !,
// perhaps after //gonb:).
func hasSpecialLines(source string) bool {
	for line := range strings.Lines(source) {
		line = strings.TrimPrefix(line, "//gonb:")
		if strings.HasPrefix(line, "!") || strings.HasPrefix(line, "%") && !startsGo(line) {
			return true
		}
	}
	return false
}

// startsGo reports whether a special line only says how the Go code below it is run.
func startsGo(line string) bool {
	switch word, _, _ := strings.Cut(strings.TrimSpace(line), " "); word {
	case "%%", "%main", "%exec", "%args", "%test":
		return true
	}
	return false
}

// specialFailures match the messages of failed special lines. GoNB answers "ok" when a
// special line fails; only a message on stderr tells. Each pattern is a complete message of
// GoNB itself (v0.11.5: jpyexec.go, specialcmd.go, definitions.go, track.go). Other text on
// stderr is not a failure, since programs write logs and progress there. Only in a cell
// with special lines could a program's output match by mistake.
var specialFailures = []*regexp.Regexp{
	regexp.MustCompile(`^(\^C\n)?(exit status \d+|signal: [a-z /0-9]+( \(core dumped\))?)\n$`),
	regexp.MustCompile(`^"%.*" unknown or not implemented yet\.(\n|$)`),
	regexp.MustCompile(`^\. key ".*" not found in any definition, not removed\n$`),
	regexp.MustCompile(`^path ".*" cannot be tracked because it does not exist: `),
	regexp.MustCompile(`^(failed|Failed) to (un)?(track|watch) `),
	regexp.MustCompile(`^file or directory ".*" is not tracked, cannot untrack\n$`),
	regexp.MustCompile(`^GX compile error: `),
}

// lostDisplay matches messages about something that could not be displayed: lost between
// the program and the kernel (namedpipes_dispatch.go, and the log of gonbui in the
// program), or refused by display.Show, which then displays the other items.
var lostDisplay = regexp.MustCompile(`^GoNB Error:\n|(?m)^display\.Show: |(?m)^E\d{4} .* gonbui\.go:\d+\] `)

func failedMessage(message string, special bool) string {
	if lostDisplay.MatchString(message) {
		return "a display was lost: " + strings.TrimSpace(message)
	}
	for _, pattern := range specialFailures {
		if special && pattern.MatchString(message) {
			return "a special line failed: " + strings.TrimSpace(message)
		}
	}
	return ""
}
