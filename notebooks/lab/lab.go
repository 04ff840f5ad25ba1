// Package lab tells learners whether their answer to an exercise is right. The check cell
// of an exercise calls [Check] with some tests of the answer:
//
//	%% check 3.2
//	lab.Check("3.2",
//		lab.Near("the margin", margin, fit.Margin(), 1e-6, "What is the distance between the two lines?"),
//		lab.True("every point is outside of it", outside(margin), "Look at the point that is nearest."))
//
// A test is passed, failed, or open if it was not answered yet. A check never shows the
// right answer.
package lab

import (
	"encoding/json"
	"fmt"
	"html"
	"math"
	"os"
	"strings"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
)

// Todo is the placeholder for a number in an answer. It is NaN, so everything computed from
// it counts as not answered.
var Todo = math.NaN()

// State is the result of a test.
type State string

const (
	Passed State = "passed"
	Failed State = "failed"
	Open   State = "open" // not answered yet
)

// Test is one test of an answer, with its result.
type Test struct {
	What  string `json:"what"`
	State State  `json:"state"`
	Hint  string `json:"hint,omitempty"` // shown if the test failed
}

// Number is any type in which a learner may write a number: 300 or 300.0, as a constant or
// as a variable.
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// Near tests that got is close to want: |got − want| ≤ tol·max(1, |want|), or within the
// rounding error of single precision if got is a float32. If got is NaN, the test is open.
// If want is not finite or tol is not positive, the test fails for every answer. If a check
// computes with an answer, it should begin with float64(answer).
func Near[A, B Number](what string, got A, want B, tol float64, hint string) Test {
	const single = 1.0 / (1 << 23)
	if third := A(1) / 3; third != 0 && float64(third) != 1.0/3 && tol > 0 {
		tol = max(tol, single)
	}
	return near(what, float64(got), float64(want), tol, hint)
}

func near(what string, got, want, tol float64, hint string) Test {
	switch {
	case math.IsNaN(got):
		return open(what)
	case math.IsInf(want, 0):
		return failed(what, hint) // an infinite tolerance would accept every number
	}
	return decide(what, math.Abs(got-want) <= tol*max(1, math.Abs(want)) && tol > 0, hint)
}

// Equal tests that got is want. If got is the zero value of its type or NaN, the test is
// open; use [True] if the right answer is zero.
func Equal[T comparable](what string, got, want T, hint string) Test {
	var zero T
	if got == zero || got != got {
		return open(what)
	}
	return decide(what, got == want, hint)
}

// True tests that ok is true.
func True(what string, ok bool, hint string) Test { return decide(what, ok, hint) }

// Try tests that f returns true. If f panics, as a learner's function may, the test fails
// and says so before the hint.
func Try(what string, f func() bool, hint string) (test Test) {
	defer func() {
		if reason := recover(); reason != nil {
			test = failed(what, fmt.Sprintf("It panics: %v. %s", reason, hint))
		}
	}()
	return decide(what, f(), hint)
}

func open(what string) Test { return Test{What: what, State: Open} }

func failed(what, hint string) Test { return Test{What: what, State: Failed, Hint: hint} }

func decide(what string, ok bool, hint string) Test {
	if !ok {
		return failed(what, hint)
	}
	return Test{What: what, State: Passed}
}

// Report is the result of [Check].
type Report struct {
	Exercise string `json:"exercise"`
	Passed   bool   `json:"passed"`
	Tests    []Test `json:"tests"`
}

// MIME is the type under which the display of a check contains its [Report], as a string of
// JSON.
const MIME = "application/vnd.svmnb.check+json"

// Check shows the results of the tests of an exercise, which is named by its number, such
// as "3.2". The exercise is passed if it has tests and all of them are passed. Check shows
// the hint of the first failed test. Outside a notebook, Check prints the text.
func Check(exercise string, tests ...Test) {
	r := report(exercise, tests)
	if !gonbui.IsNotebook {
		fmt.Print(r)
		return
	}
	data, err := json.Marshal(r)
	if err == nil {
		gonbui.SendData(&protocol.DisplayData{Data: map[protocol.MIMEType]any{
			protocol.MIMETextHTML: r.html(), protocol.MIMETextPlain: r.String(),
			// GoNB transmits strings but no objects
			MIME: string(data),
		}})
		gonbui.Sync()
		err = gonbui.Error()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "lab.Check:", err)
	}
}

func report(exercise string, tests []Test) Report {
	r := Report{Exercise: exercise, Passed: len(tests) > 0, Tests: tests}
	for _, t := range tests {
		r.Passed = r.Passed && t.State == Passed
	}
	return r
}

// State returns Passed if all tests are passed, otherwise the state of the first test that
// is not. A report without tests is Failed.
func (r Report) State() State {
	next := r.next()
	switch {
	case r.Passed:
		return Passed
	case next >= 0 && r.Tests[next].State == Open:
		return Open
	}
	return Failed
}

// verdict returns the first words of the report.
func (r Report) verdict() string {
	if len(r.Tests) == 0 {
		return "this check has no tests"
	}
	return map[State]string{Passed: "right", Failed: "not right yet", Open: "not answered yet"}[r.State()]
}

// next returns the index of the first test that is not passed, or −1.
func (r Report) next() int {
	for i, t := range r.Tests {
		if t.State != Passed {
			return i
		}
	}
	return -1
}

var marks = map[State]string{Passed: "✓", Failed: "✗", Open: "…"}

// String returns the report as text, one line for each test.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Exercise %s: %s\n", r.Exercise, r.verdict())
	next := r.next()
	for i, t := range r.Tests {
		fmt.Fprintf(&b, "%s %s\n", marks[t.State], t.What)
		if i == next && t.Hint != "" {
			fmt.Fprintf(&b, "  %s\n", t.Hint)
		}
	}
	return b.String()
}

// Colours that can be read on white and on black, since the background of a notebook is not
// known.
var colours = map[State]string{Passed: "#2c9a54", Failed: "#d9534f", Open: "#8a929c"}

func (r Report) html() string {
	next := r.next()
	var b strings.Builder
	fmt.Fprintf(&b, `<div style="max-width:44rem;margin:.4em 0;padding:.6em 1em;border:1px solid rgba(128,128,128,.35);border-left:4px solid %s;border-radius:6px;color:inherit">`, colours[r.State()])
	fmt.Fprintf(&b, `<div style="font-weight:600">Exercise %s: %s</div>`, html.EscapeString(r.Exercise), html.EscapeString(r.verdict()))
	for i, t := range r.Tests {
		fmt.Fprintf(&b, `<div style="padding-left:1.5em;text-indent:-1.5em"><span style="display:inline-block;width:1.5em;text-indent:0;font-weight:700;color:%s">%s</span>%s</div>`,
			colours[t.State], marks[t.State], html.EscapeString(t.What))
		if i == next && t.Hint != "" {
			fmt.Fprintf(&b, `<div style="padding-left:1.5em;opacity:.8">%s</div>`, html.EscapeString(t.Hint))
		}
	}
	b.WriteString("</div>\n")
	return b.String()
}
