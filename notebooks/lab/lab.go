// Package lab tells learners whether their answer to an exercise is right. The check cell
// of an exercise calls [Check] with some tests of the answer:
//
//	%% check 3.2
//	lab.Check("3.2",
//		lab.Near("the margin", margin, fit.Margin(), 1e-6, "What is the distance between the two lines?"),
//		lab.True("every point is outside of it", outside(margin), "Look at the point that is nearest."))
//
// A test is passed, failed, or open if it was not answered yet. A check never shows the
// right answer. [Predict] is for guesses that are made before the answer can be seen, and it
// says afterwards what was right.
package lab

import (
	"encoding/json"
	"fmt"
	"html"
	"math"
	"os"
	"reflect"
	"slices"
	"strconv"
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
	What   string  `json:"what"`
	State  State   `json:"state"`
	Hint   string  `json:"hint,omitempty"`   // shown if the test failed
	Note   string  `json:"note,omitempty"`   // shown if the test passed
	Weight float64 `json:"weight,omitempty"` // see Worth; 0 means 1
}

// Worth returns the test with a weight. The tests of an exercise share its points in
// proportion to their weights, which are 1 by default. If the weight is not positive, the
// test fails for every answer.
func (t Test) Worth(weight float64) Test {
	if !(weight > 0) || math.IsInf(weight, 0) {
		return failed(t.What, fmt.Sprintf("The weight of this test is %g, and it must be positive.", weight))
	}
	t.Weight = weight
	return t
}

// Mistake is a mistake that learners are known to make, with the hint that helps with it.
// See [If] and [IfNear].
type Mistake struct {
	made bool
	hint string
}

// If describes a mistake that was made if made is true:
//
//	lab.Equal("the number of support vectors", count, 3, "Count the points with α > 0.",
//		lab.If(count == 100, "This is the number of all points."))
func If(made bool, hint string) Mistake { return Mistake{made, hint} }

// IfNear describes a mistake that leads to the number other. It was made if
// |got − other| ≤ 10⁻⁶·max(1, |other|).
func IfNear[A, B Number](got A, other B, hint string) Mistake {
	return Mistake{math.Abs(float64(got)-float64(other)) <= 1e-6*max(1, math.Abs(float64(other))), hint}
}

// hintFor returns the hint of the first mistake that was made, or the general one.
func hintFor(general string, mistakes []Mistake) string {
	for _, m := range mistakes {
		if m.made {
			return m.hint
		}
	}
	return general
}

// Number is any type in which a learner may write a number: 300 or 300.0, as a constant or
// as a variable.
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// Near tests that got is close to want: |got − want| ≤ tol·max(1, |want|), or within the
// rounding error of single precision if got is a float32. If got is NaN, the test is open.
// If want is not finite or tol is not positive, the test fails for every answer. If a check
// computes with an answer, it should begin with float64(answer). If the test fails, the hint
// is that of the first of the mistakes that was made, otherwise hint.
func Near[A, B Number](what string, got A, want B, tol float64, hint string, mistakes ...Mistake) Test {
	const single = 1.0 / (1 << 23)
	if third := A(1) / 3; third != 0 && float64(third) != 1.0/3 && tol > 0 {
		tol = max(tol, single)
	}
	return near(what, float64(got), float64(want), tol, hintFor(hint, mistakes))
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
// open; use [True] if the right answer is zero. For mistakes see [Near].
func Equal[T comparable](what string, got, want T, hint string, mistakes ...Mistake) Test {
	var zero T
	if got == zero || got != got {
		return open(what)
	}
	return decide(what, got == want, hintFor(hint, mistakes))
}

// True tests that ok is true. For mistakes see [Near].
func True(what string, ok bool, hint string, mistakes ...Mistake) Test {
	return decide(what, ok, hintFor(hint, mistakes))
}

// Guess is any type in which a learner may write a prediction: a number or a word.
type Guess interface{ Number | ~string }

// Predict asks for a guess before the learner can see what happens. The test is open until
// there is a guess, that is, while guess is [Todo] or "". After that it is passed whether the guess
// is right or not, and says what was guessed, what actual is, and the comment. If there are
// options, the guess must be one of these words, in capital or small letters; otherwise the test fails.
func Predict[A, B Guess](what string, guess A, actual B, comment string, options ...string) Test {
	said := strings.ToLower(strings.TrimSpace(written(guess)))
	switch {
	case guess != guess || said == "":
		return open(what)
	case len(options) > 0 && !slices.ContainsFunc(options, func(o string) bool { return strings.EqualFold(o, said) }):
		return failed(what, "Write one of "+strings.Join(options, ", ")+".")
	}
	note := fmt.Sprintf("You predicted %s, and it is %s.", said, written(actual))
	if strings.EqualFold(said, written(actual)) {
		note = fmt.Sprintf("You predicted %s, and so it is.", said)
	}
	return Test{What: what, State: Passed, Note: strings.TrimSpace(note + " " + comment)}
}

// written returns a guess as a learner would write it, a number with four digits at most.
func written(guess any) string {
	switch v := reflect.ValueOf(guess); {
	case v.CanFloat():
		return strconv.FormatFloat(v.Float(), 'g', 4, 64)
	default:
		return fmt.Sprint(guess)
	}
}

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
	Token    string `json:"token,omitempty"` // see CheckFor
}

// MIME is the type under which the display of a check contains its [Report], as a string of
// JSON.
const MIME = "application/vnd.svmnb.check+json"

// Check shows the results of the tests of an exercise, which is named by its number, such
// as "3.2". The exercise is passed if it has tests and all of them are passed. Check shows
// the hint of the first failed test. Outside a notebook, Check prints the text.
//
// nbgrader sets NBGRADER_EXECUTION and gives no points for a cell that writes to standard
// error, so a check that is not passed does so.
func Check(exercise string, tests ...Test) { CheckFor("", exercise, tests...) }

// CheckFor is [Check] for a program that runs the notebooks of a class. The report contains
// the token. Since the program chooses a new token for each check, it knows which report
// comes from the check, and not from the answer.
func CheckFor(token, exercise string, tests ...Test) {
	r := report(exercise, tests)
	r.Token = token
	if !r.Passed && os.Getenv("NBGRADER_EXECUTION") != "" {
		fmt.Fprint(os.Stderr, r)
	}
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
	if r.Passed && !slices.ContainsFunc(r.Tests, func(t Test) bool { return t.Note == "" }) {
		return "answered" // predictions, which may be wrong
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

// help returns what is shown below test i: the hint of the next test to pass, or a note.
func (r Report) help(i, next int) string {
	if i == next {
		return r.Tests[i].Hint
	}
	if r.Tests[i].State == Passed {
		return r.Tests[i].Note
	}
	return ""
}

var marks = map[State]string{Passed: "✓", Failed: "✗", Open: "…"}

// String returns the report as text, one line for each test.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Exercise %s: %s\n", r.Exercise, r.verdict())
	next := r.next()
	for i, t := range r.Tests {
		fmt.Fprintf(&b, "%s %s\n", marks[t.State], t.What)
		if help := r.help(i, next); help != "" {
			fmt.Fprintf(&b, "  %s\n", help)
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
		if help := r.help(i, next); help != "" {
			fmt.Fprintf(&b, `<div style="padding-left:1.5em;opacity:.8">%s</div>`, html.EscapeString(help))
		}
	}
	b.WriteString("</div>\n")
	return b.String()
}
