package explain

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// session plays the messages of a kernel: cells with their streams and errors.
type session struct {
	t *testing.T
	Session
	count int
	id    string // of the cell in the page
}

func (s *session) message(kind string, content any) []byte {
	s.t.Helper()
	data, err := json.Marshal(content)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.Message(kind, fmt.Sprint("request ", s.count), data)
}

func (s *session) cell(source string) {
	s.count++
	s.message("execute_input", map[string]any{"code": source, "execution_count": s.count})
}

func (s *session) stderr(text string) string {
	var out struct{ Text string }
	if err := json.Unmarshal(s.message("stream", map[string]any{"name": "stderr", "text": text}), &out); err != nil {
		s.t.Fatal(err)
	}
	return out.Text
}

func (s *session) fails(traceback ...string) string {
	var out struct {
		Evalue    string
		Traceback []string
	}
	if err := json.Unmarshal(s.message("error", map[string]any{"ename": "ERROR", "evalue": "x", "traceback": traceback}), &out); err != nil {
		s.t.Fatal(err)
	}
	return colours.ReplaceAllString(strings.Join(out.Traceback, "\n"), "")
}

// compiles is GoNB's report of a mistake in a line of the cell.
func compiles(count, line int, source, caret, says string) string {
	return fmt.Sprintf("Cell[%d]: Line %d\n\nfunc main() {\n\tflag.Parse()\n%s\n%s\n\n}\n\n\x1b[31m%s\x1b[0m", count, line, source, caret, says)
}

// Messages of the compiler that docs/faq.md has not, as Go 1.26 and GoNB 0.11.5 write them.
func TestCompilerMessages(t *testing.T) {
	for _, test := range []struct{ source, says, want string }{
		{"func mean(values):", "expected ';', found ':'", "There is no colon in Go. This line ends in the type of the result and a brace"},
		{"var x = lab.Todo 4", "expected ';', found 4", "Your answer takes the place of lab.Todo."},
		{"var x = lab.4.5", "expected ';', found .4", "Your answer takes the place of lab.Todo."},
		{"var total", "expected type, found newline", "such as var total = 0.0"},
		{"var n := 100", "expected type, found ':='", "Behind var n, write = in place of :="},
		{"return moons.C = c", "expected '==', found '='", "The sign = is no part of a formula."},
		{"import math", "missing import path", `in double quotes: import "math"`},
		{"(a, b) := (1, 2)", "expected ')', found ','", "Go has no tuples."},
		{"f := lambda x: x", "expected ';', found x", "func(x float64) float64 { return 2 * x }"},
		{"var w = 2/‖w‖", "illegal character U+2016 '‖'", "Go does not know the sign ‖."},
		{"fmt.Println(7.5 % 2)", "invalid operation: operator % not defined on 7.5 (untyped float constant)", "math.Mod(x, y)"},
		{"fmt.Println(max(list))", "invalid argument: list (variable of type []float64) cannot be ordered", "slices.Max(list)"},
		{"moons.Show()", "moons.Show undefined (type svmnb.Classifier has no field or method Show)", "description.MustFit().Show"},
		{"moons.Margin()", "moons.Margin undefined (type svmnb.Classifier has no field or method Margin, but does have unexported field margin)", "only its fit has Margin."},
		{"moons.c", "moons.c undefined (type svmnb.Classifier has no field or method c)", "begins with a capital letter"},
		{"sum(values)", "undefined: sum", "Go has no function sum."},
		{"total += v", "undefined: total", "Make it above, and if this is in a loop, before the loop: total := 0.0"},
		{"count := count + 1", "undefined: count", "the right side needs one. Make it above"},
		{"f(C(c))", "undefined: C", "write the name of this and a dot before it"},
		{"α = 3", "undefined: α", "There is no variable α yet. Write := instead of = to make it."},
		{"α := 3", "declared and not used: α", "Nothing uses α"},
		{"größe.X()", "undefined: größe", "Nothing is called größe here. If another cell declares it"},
		{"x = 3", "undefined: x", "There is no variable x yet. Write := instead of = to make it."},
		{"fmt.Println(total)", "undefined: total", "Nothing is called total here. Check the spelling"},
		{"fmt.println(1)", "undefined: fmt", "Names of a package begin with a capital letter: fmt.Println."},
		{"svmnb.Clasify(1)", "undefined: svmnb", `Package svmnb is not imported. Write import "github.com/svmnb/svmnb/svmnb"`},
		{"svmnb.Clasify(1)", "undefined: svmnb.Clasify", "Package svmnb has no Clasify."},
		{"other.Do()", "undefined: other", "if it is a package, import it"},
		{"}", "expected declaration, found '}'", "closes more than was opened"},
		{"fmt.Println(x))", "expected statement, found ')' (and 1 more errors)", "This ) closes nothing."},
		{"func f() int { return 1 }", "expected '(', found f (and 2 more errors)", "above the line %%"},
		{`fmt.Println("x)`, "string literal not terminated (and 1 more errors)", "no closing quotation mark"},
		{`fmt.Println("a"`, "missing ',' before newline in argument list (and 1 more errors)", "A closing bracket is missing"},
		{"if x == 3", "expected '{', found newline (and 1 more errors)", "belongs at the end of this line"},
		{"for i in range(3) {", "expected '{', found in (and 1 more errors)", "for i := range 3 {"},
		{"x := 4", "no new variables on left side of :=", "Write = instead of :="},
		{"for i := range 3 {", "declared and not used: i", "write _ in its place"},
		{"a.append(3)", "a.append undefined (type []int has no field or method append)", "list = append(list, value)"},
		{"b.C = fit.bias", "fit.bias undefined (type *svmnb.Fit has no field or method bias, but does have field Bias)", "Is Bias what you mean?"},
		{"svmnb.Margins", "svmnb.Margins (variable of struct type display.Figure) is not used", "fit.Show(svmnb.Margins)"},
		{"a := strconv.Atoi(s)", "assignment mismatch: 1 variable but strconv.Atoi returns 2 values", "Atoi returns two values"},
		{"a, b := three()", "assignment mismatch: 2 variables but three returns 3 values", "three returns 3 values"},
		{"fmt.Println(2.5 * n)", "2.5 (untyped float constant) truncated to int", "float64(n)"},
		{"n := Moons(200.5)", "cannot use 200.5 (untyped float constant) as int value in argument to Moons (truncated)", "A whole number is needed here, and 200.5 is not one."},
		{"fmt.Println(n * y)", "invalid operation: n * y (mismatched types int and float64)", "Write float64(n)"},
		{"x := a * b", "invalid operation: a * b (mismatched types int64 and int)", "Go does not mix the types int64 and int"},
		{"if x == 3 {", "invalid operation: x == 3 (mismatched types string and untyped int)", "Text and a number"},
		{`c.C("3")`, `cannot use "3" (untyped string constant) as float64 value in argument to c.C`, `"3" is text`},
		{"var x int = nil", "cannot use nil as int value in variable declaration", "a value of type int cannot be nothing"},
		{"Classify(d)", `cannot use d (variable of struct type "github.com/svmnb/svmnb/datasets".Dataset) as *"github.com/svmnb/svmnb/datasets".Dataset value in argument to Classify`,
			"A value of type *datasets.Dataset is needed here, and d has the type datasets.Dataset."},
		{"}", "missing return", "Write return"},
		{"if true { return 3 }", "too many return values", "return nothing"},
		{"x := [][]float64{{1, 2}, {3, 4}", "missing ',' before newline in composite literal (and 1 more errors)", "A closing bracket is missing"},
		{"if f(a[1:]) > 3", "unexpected newline, expected { after if clause", "The brace { belongs at the end of this line"},
		{"if a { b } else if c { d } else { e", "expected ';', found x", "a sign is missing there or too much"},
		{"class = 3 3", "expected ';', found 3", "Before the mark the statement should end"},
		{"fmt.Println(x * (n + 1))", "invalid operation: x * (n + 1) (mismatched types float64 and int)", "Write float64(n + 1)"},
		{"fmt.Println(x + (n + 1) * (n - 1))", "invalid operation: x + (n + 1) * (n - 1) (mismatched types float64 and int)", "Write float64((n + 1) * (n - 1))"},
		{"This and that", "expected ';', found and", "Before the mark the statement should end"},
		{"math.Pi = 3", "cannot assign to math.Pi (neither addressable nor a map index expression)", "math.Pi belongs to the package math"},
		{"a = 4", "cannot assign to a (neither addressable nor a map index expression)", "a is not a variable"},
	} {
		s := session{t: t}
		s.cell("%%\n" + test.source)
		told := s.fails("# gonb_1", compiles(1, 2, test.source, "^", test.says), "")
		first, rest, _ := strings.Cut(told, "\n")
		if !strings.HasPrefix(first, "Cell [1], line 2: ") || !strings.Contains(first, test.want) {
			t.Errorf("%s: %q, want it to say %q", test.says, first, test.want)
		}
		if !strings.HasPrefix(rest, "    "+test.source+"\n    ^\nGo: ") {
			t.Errorf("%s: %q, want the line of the cell and the words of Go", test.says, rest)
		}
	}
}

// asked sends a cell through Request and returns what the kernel would get.
func (s *session) asked(source string) string {
	s.t.Helper()
	data, err := json.Marshal(map[string]any{"code": source, "silent": false})
	if err != nil {
		s.t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(s.Request(fmt.Sprint("request ", s.count+1), []byte(`{"cellId":"`+s.id+`"}`), data), &out); err != nil {
		s.t.Fatal(err)
	}
	if out["silent"] != false {
		s.t.Errorf("the request became %v", out)
	}
	return out["code"].(string)
}

// A loop that prints without an end is stopped once, and the rest is left out.
func TestFloodIsStopped(t *testing.T) {
	for _, test := range []struct {
		text string
		fits int // how many of them are shown
	}{{"0\n", linesMost}, {strings.Repeat("x", 1000), printedMost / 1000}} {
		s, stops, shown := session{t: t}, 0, 0
		s.cell("%%\nfor {}")
		if s.stdout(test.text) == nil {
			t.Error("a session that cannot interrupt leaves out an output")
		}
		s.Interrupt = func() { stops++ }
		s.cell("%%\nfor {}")
		for range test.fits + 10 {
			if s.stdout(test.text) != nil {
				shown++
			}
		}
		if stops != 1 || shown != test.fits {
			t.Errorf("%d bytes: stopped %d times, shown %d times, want once and %d", len(test.text), stops, shown, test.fits)
		}
		if told := s.fails("signal: interrupt"); !strings.Contains(told, "Look for a loop without an end, or print less.") {
			t.Error(told)
		}
		if s.cell("%%\nf()"); s.stdout(test.text) == nil {
			t.Error("the next cell shows nothing")
		}
	}
}

func (s *session) stdout(text string) []byte {
	s.t.Helper()
	return s.message("stream", map[string]any{"name": "stdout", "text": text})
}

// A cell has another number each time it runs, and only the last number is on the page.
func TestNumbersOfTheLastRun(t *testing.T) {
	s := session{t: t, id: "answer"}
	run := func(id, source string) {
		s.id = id
		s.asked(source)
		s.cell(source)
	}
	check := func(want string) {
		t.Helper()
		run("check", "%% check 0.2\nlab.Check(\"0.2\", lab.True(\"\", mean(list) > 0, \"\"))")
		told := string(s.message("display_data", map[string]any{"data": map[string]any{checked: 1, "text/plain": "✓\n"}}))
		if strings.Contains(told, "Cell [") != (want != "") || !strings.Contains(told, want) {
			t.Errorf("the check says %s, want %q", told, want)
		}
	}
	run("answer", "func mean(list []float64) float64 { return 3 }")
	check("")
	run("answer", "%%\nmean := 3") // compiles
	check("Cell [3] no longer declares mean. It should have a line that begins with func mean(list []float64) float64. This check is about the mean before it. Correct cell [3]")
	run("answer", "func mean(list []float64) float64 { return x }")
	s.fails("# gonb_1", compiles(5, 1, s.byCount[5].lines[0], strings.Repeat(" ", 43)+"^", "undefined: x"))
	check("Cell [5] has failed")
	run("answer", "def mean(list):")
	s.fails("# gonb_1", compiles(7, 1, "def mean(list):", "^", "expected declaration, found def"))
	check("Cell [7] no longer declares mean.")
	run("answer", "func mean(list []float64) float64 { return 3 }")
	check("")
}

// What GoNB must not get, and the neighbours that it must get as they are. testdata/mistakes.md
// has more that are refused.
func TestRefused(t *testing.T) {
	for _, test := range []struct {
		source string
		line   int // 0 if the cell is not refused
		want   string
	}{
		{"%%\nx()\n%%\ny()", 3, "at most one line %%, and line 1"},
		{"%%\n//gonb:%%", 2, "at most one line %%"},
		{"%main\nx()\n%main", 3, "at most one line %main"},
		{"%exec f\n%%\nx()", 2, "Line 1, %exec, begins the statements"},
		{"%%\n`\n%%\n`", 3, "at most one line %%"}, // GoNB knows no texts of several lines
		{"%%\nx := `\n %%\n`", 0, ""},
		{"%%writefile x\n%%\n%%\n% ", 0, ""},
		{"%%bash\n%%\n%%", 0, ""},
		{"%%bashful\n%%\n%%", 3, "at most one line %%"},
		{"% ", 1, "The command behind % is missing"},
		{"x\n!\t ", 2, "The command behind ! is missing"},
		{"!\\", 1, "The command behind ! is missing"},
		{"%", 0, ""},
		{"!ls", 0, ""},
		{"%% f(x)", 1, "only a title"},
		{"%% f(x)\n\n", 1, "only a title"},
		{"%% x := 3", 1, "only a title"},
		{"%% x.y", 0, ""},
		{"%% f(x)\ng()", 0, ""},
		{"%% one classifier, C = 0.1", 0, ""},
		{"%main f(x)", 0, ""},
		{"var x = 3,5", 1, "decimal point: 3.5"},
		{"var x = -3,5", 1, "decimal point: -3.5"},
		{"var x = 0,180", 1, "decimal point: 0.180"},
		{"var (\n\ty = 1\n\tx float64 = 3,5\n)\n%%\nf()", 3, "decimal point: 3.5"},
		{"var x = 12,500", 1, "12.500, or if thousands are meant, no sign at all: 12500"},
		{"var x, y = 1, 2, 3", 1, "2 names, and on the right 3 values"},
		{"const x, y = 1", 1, "2 names, and on the right 1 value"},
		{"var x = f(), g()", 1, "[]float64{f(), g()}"},
		{"var x, y = f()", 0, ""},
		{"var x, y = 3, 5", 0, ""},
		{"const (\n\ta = iota\n\tb\n)", 0, ""},
		{"%%\nvar x = 3,5", 0, ""}, // Go reports it
		{"var x = 3,5\n)", 0, ""},  // Go cannot read it
		{"%%\nx := 2^3", 2, "math.Pow(2, 3)"},
		{"%%\nx := y[i]^2*4 + z^3", 2, "A power is y[i] * y[i]. If you mean bits, write y[i] ^ 0x2."},
		{"var x = 10^12", 1, "10 ^ 0xc"},
		{"%%\nx := y^z + 2", 0, ""},
		{"%%\nx := y^1 + 0b10^0b11 + ^2 + 7^0x3", 0, ""},
		{"%%\nx ^= 2", 0, ""},
		{"%%\nx := \"2^3\" // 2^3", 0, ""},
	} {
		s := session{t: t}
		got := s.asked(test.source)
		if (got != test.source) != (test.line > 0) || test.line > 0 && got != standIn {
			t.Errorf("%q: the kernel gets %q", test.source, got)
		}
		if test.line == 0 {
			continue
		}
		s.count++
		var input struct{ Code string }
		if err := json.Unmarshal(s.message("execute_input", map[string]any{"code": got, "execution_count": 1}), &input); err != nil || input.Code != test.source {
			t.Errorf("%q: Jupyter shows %q, %v", test.source, input.Code, err)
		}
		told := s.fails(compiles(1, 1, standIn, "^", "expected declaration, found "+standIn))
		if !strings.HasPrefix(told, fmt.Sprintf("Cell [1], line %d: ", test.line)) || !strings.Contains(told, test.want) || strings.Contains(told, standIn) {
			t.Errorf("%q: told %q, want %q", test.source, told, test.want)
		}
	}
}

// A check says that the newest answer has failed, as long as no newer one has run.
func TestChecksKnowFailedAnswers(t *testing.T) {
	s := session{t: t}
	const wrong = "expected ';', found than"
	check := func(source, mime string) (plain, html string) {
		t.Helper()
		s.cell(source)
		var out struct{ Data map[string]string }
		if err := json.Unmarshal(s.message("display_data", map[string]any{"metadata": map[string]any{}, "data": map[string]any{
			"text/plain": "right\n", "text/html": "<b>right</b>\n", mime: "{}"}}), &out); err != nil {
			t.Fatal(err)
		}
		if out.Data[mime] != "{}" {
			t.Errorf("the result became %q", out.Data[mime])
		}
		return out.Data["text/plain"], out.Data["text/html"]
	}
	const ask = "%% check\nlab.Check(f(answer))"
	for _, step := range []struct {
		cell  string
		fails string
		notes string // in the check that follows
	}{
		{"var answer = 1", "", ""},
		{"var answer = more than", wrong, "Cell [3] has failed, so its answer is not known."},
		{"var other = than that", wrong, "Cell [3] has failed"},
		{"var answer = 3", "", ""},
		{"var answer = load()", "exit status 1", ""}, // GoNB remembers it
		{"func f(x int) int { return y }", "undefined: y", "Cell [11] has failed, so its f is not known."},
		{"%rm f", "", ""},
		{"const answer = 3,5", "refused", "Cell [15] has failed, so its answer"},
		{"%reset", "", ""},
	} {
		if step.fails == "refused" {
			s.asked(step.cell)
		}
		s.cell(step.cell)
		if step.fails != "" {
			report := compiles(s.count, 1, step.cell, "^", step.fails)
			if step.fails == "exit status 1" {
				report = step.fails
			}
			s.fails(report)
		}
		plain, html := check(ask, checked)
		if rest := strings.TrimPrefix(plain, "right\n"); (rest != "") != (step.notes != "") || !strings.HasPrefix(rest, step.notes) {
			t.Errorf("after %q, the check says %q, want %q", step.cell, plain, step.notes)
		}
		if step.notes != "" && (!strings.HasPrefix(html, "<b>right</b>\n<div") || !strings.Contains(html, step.notes)) {
			t.Errorf("after %q, the check shows %q", step.cell, html)
		}
	}
	s.cell("var answer = more than")
	s.fails(compiles(s.count, 1, "var answer = more than", "^", wrong))
	for _, source := range []string{"%%\nanswer := 3\nlab.Check(answer)", "%%\nlab.Check(x.answer, \"answer\")"} {
		if plain, _ := check(source, checked); plain != "right\n" {
			t.Errorf("a check of something else, %q, says %q", source, plain)
		}
	}
	if plain, _ := check(ask, "image/png"); plain != "right\n" {
		t.Errorf("a picture has become %q", plain)
	}
}

// What a failed cell declares is not remembered.
func TestFailedDeclarationsAreForgotten(t *testing.T) {
	s := session{t: t}
	s.cell("var best = 1.0")
	s.cell("var best = 2.0.")
	s.fails(compiles(2, 1, "var best = 2.0.", "^", "expected selector or type assertion, found 'EOF'"))
	s.cell("%%\nbest := 2.0")
	if told := s.fails(compiles(3, 2, "best := 2.0", "^", "declared and not used: best")); !strings.Contains(told, "a second best beside that of cell [1]") {
		t.Error(told)
	}
}

// Outputs that mean a mistake have a note, once in each cell.
func TestOutputs(t *testing.T) {
	for _, test := range []struct{ source, text, want string }{
		{"%%\nfmt.Println(fit.Margin)", "0x6c1220\n", "Brackets call it, such as fit.Margin()"},
		{"%%\nfmt.Println(moons.MustFit().Margin)", "0x6c1220\n", "such as moons.MustFit().Margin()"},
		{"%%\nfmt.Println(\"a\", fit.Margin, 3)", "a 0x6c1220 3\n", "such as fit.Margin()"},
		{"%%\nfmt.Println(fit.Margin())", "0x6c1220\n", ""},
		{"%%\nfmt.Println(fit.Data)", "0xc000012345\n", ""},
		{"%%\nfmt.Printf(\"%d\", 2.5)", "%!d(float64=2.5)", "%d does not fit a value of type float64. %v fits every value."},
		{"%%\nfmt.Printf(\"%d\")", "%!d(MISSING)", "no value for %d"},
		{"%%\nfmt.Printf(\"%f\", area)", "%!f(func(float64) float64=0x5e2020)", "A function is printed here"},
		{"%%\nfmt.Printf(\"%d\", x)", "%!d(func() int=0x5e2020)", "A function is printed here"},
		{"%%\nfmt.Printf(\"%d\", x)", "%!d(map[string]float64=map[])", "a value of type map[string]float64."},
		{"%%\nfmt.Printf(\"%v\", x)", "%!v(PANIC=String method: x)", ""},
		{"%%\nfmt.Printf(\"a\", 3)", "a%!(EXTRA int=3)", "more values than signs"},
		{"%%\nfmt.Println(3)", "3\n", ""},
	} {
		s := session{t: t}
		s.cell(test.source)
		for i := range 2 {
			var out struct{ Text string }
			if err := json.Unmarshal(s.message("stream", map[string]any{"name": "stdout", "text": test.text}), &out); err != nil {
				t.Fatal(err)
			}
			if noted := out.Text != test.text; noted != (test.want != "" && i == 0) || noted && (!strings.HasPrefix(out.Text, strings.TrimSpace(test.text)+"\n[") || !strings.Contains(out.Text, test.want)) {
				t.Errorf("%s: %q became %q, want %q", test.source, test.text, out.Text, test.want)
			}
		}
	}
}

// The mark stands where the mistake is, although GoNB writes variables above %% anew.
func TestColumnOf(t *testing.T) {
	for _, test := range []struct {
		source, written string
		column, want    int
	}{
		{"x := y", "x := y", 5, 5},
		{"var x = y", "\tx = y", 5, 8},
		{"var x = y // z", "\tx = y ", 5, 8},
		{"var x, z = 1, y", "\tz = y", 5, 14},
		{"var y = y // z", "\ty = y", 5, -1}, // which of them?
		{"var x = y", "\tx = y", 6, -1},
		{"", "\tx", 1, -1},
	} {
		if got := columnOf(test.source, test.written, test.column); got != test.want {
			t.Errorf("%q, written as %q: %d becomes %d, want %d", test.source, test.written, test.column, got, test.want)
		}
	}
}

func TestUnknownMessagesNameTheLine(t *testing.T) {
	s := session{t: t}
	s.cell("%%\nx()")
	if told, want := s.fails("# gonb_1", compiles(1, 2, "x()", "^", "something new"), ""), "Cell [1], line 2: something new\n    x()\n    ^"; told != want {
		t.Errorf("told %q, want %q", told, want)
	}
	if told := s.fails("failed to parse the cell"); told != "failed to parse the cell" {
		t.Errorf("a report without a place became %q", told)
	}
}

func TestWhatIsMissingFollows(t *testing.T) {
	s := session{t: t}
	s.cell("%%\nReadCSV(\"x\")")
	told := s.fails("# gonb_1", compiles(1, 2, `ReadCSV("x")`, "^", "not enough arguments in call to ReadCSV"), "\thave (string)", "\twant (io.Reader, CSV)", "")
	if !strings.Contains(told, "ReadCSV needs more arguments") || !strings.HasSuffix(told, "in call to ReadCSV have (string) want (io.Reader, CSV)") {
		t.Error(told)
	}
}

func TestPanics(t *testing.T) {
	for panics, want := range map[string]string{
		"runtime error: index out of range [0] with length 0":              "the list is empty",
		"runtime error: invalid memory address or nil pointer dereference": "A value here is nil",
		"assignment to entry in nil map":                                   "The map was never made",
		"runtime error: integer divide by zero":                            "divided by 0",
		"something else":                                                   "stopped here with a panic: something else",
		"runtime error: slice bounds out of range [:5] with capacity 3":    "beyond its end",
	} {
		s := session{t: t}
		s.cell("%%\nx := 1\nf(x)")
		s.stderr("panic: ") // programs write in pieces
		s.stderr(panics + "\n\ngoroutine 1 [running]:\nmain.main()\n\t \x1b[7m[[ Cell [1] Line 3 ]]\x1b[0m /tmp/gonb_1/main.go:12 +0x52\n")
		s.stderr("exit status 2\n")
		if told := s.fails("exit status 2"); !strings.HasPrefix(told, "Cell [1], line 3: ") || !strings.Contains(told, want) || !strings.Contains(told, "\n    f(x)\n") {
			t.Errorf("%s: %q", panics, told)
		}
	}
}

func TestOutOfMemoryHasNoPlace(t *testing.T) {
	for _, says := range []string{"out of memory allocating heap arena metadata", "runtime: out of memory", "runtime: cannot allocate memory", "runtime: cannot map pages in arena address space"} {
		s := session{t: t}
		s.cell("%%\nf()")
		s.stderr("fatal error: " + says + "\n\ngoroutine 1 [running]:\nmain.main()\n\t [[ Cell [1] Line 2 ]] /tmp/main.go:12\nexit status 2\n")
		if told := s.fails("exit status 2"); !strings.HasPrefix(told, "Cell [1]: The program needs more memory") {
			t.Error(told)
		}
	}
}

// A variable of another cell is named as the cause as long as it is declared.
func TestVariablesOfOtherCells(t *testing.T) {
	s := session{t: t}
	broken := func(source string) string {
		s.cell(source)
		s.stderr("no such file\n")
		s.stderr("exit status 1\n")
		return s.fails("exit status 1")
	}
	if told := broken("var rows = load()"); !strings.HasPrefix(told, "Cell [1]: The program of this cell ended") {
		t.Error("the cell itself:", told)
	}
	if told := broken("%%\nfmt.Println(1)"); !strings.HasPrefix(told, "Cell [1], line 1: Variables above %%") || !strings.Contains(told, "%rm rows.") {
		t.Error("another cell:", told)
	}
	s.cell("%rm rows")
	if told := broken("%%\nload()"); !strings.HasPrefix(told, "Cell [4]: The program of this cell ended") {
		t.Error("when it is removed:", told)
	}

	s.cell("func load() int { panic(1) }\nvar n = load()")
	s.cell("%%\nfmt.Println(1)")
	s.stderr("panic: 1\n\ngoroutine 1 [running]:\nmain.load(...)\n\t [[ Cell [5] Line 1 ]] /tmp/main.go:11\nmain.init()\n\t [[ Cell [5] Line 2 ]] /tmp/main.go:8 +0x25\nexit status 2\n")
	if told := s.fails("exit status 2"); !strings.HasPrefix(told, "Cell [5], line 2: Variables above %%") || !strings.Contains(told, "%rm n.") {
		t.Error("a panic:", told)
	}
}

func TestShadowedVariableOfAnotherCell(t *testing.T) {
	s := session{t: t}
	s.cell("var best = 1.0")
	s.cell("%%\nbest := 2.0")
	if told := s.fails(compiles(2, 2, "best := 2.0", "^", "declared and not used: best")); !strings.Contains(told, "a second best beside that of cell [1]") {
		t.Error(told)
	}
}

func TestPackages(t *testing.T) {
	for _, test := range []struct{ path, says, want string }{
		{"github.com/a/b", "github.com/a/b: cannot find module providing package github.com/a/b", "Run !*go get github.com/a/b in a cell above"},
		{"svmnb", "svmnb: package svmnb is not in std (/go/src/svmnb)", `import "github.com/svmnb/svmnb/svmnb"`},
		{"pandas", "pandas: package pandas is not in std (/go/src/pandas)", "Go's own library has no package pandas."},
	} {
		s := session{t: t}
		s.cell("import \"" + test.path + "\"\n%%\nb.Do()")
		told := s.fails(`failed to run "/go/bin/go get": exit status 1`, "", "go: gonb_1 imports", "\t"+test.says, "")
		if !strings.HasPrefix(told, "Cell [1], line 1: ") || !strings.Contains(told, test.want) {
			t.Errorf("%s: %q", test.path, told)
		}
	}
}

func TestSpecialLines(t *testing.T) {
	for text, want := range map[string]string{
		"go: github.com/a/b: module lookup disabled by GOPROXY=off\n":                                                               "GOPROXY is off",
		"go: module github.com/a/b: Get \"https://proxy.golang.org/x\": dial tcp: lookup proxy.golang.org: no such host\n":          "Is there a network?",
		"go: module github.com/a/b: reading https://proxy.golang.org/github.com/a/b/@v/list: 404 Not Found\n\tserver response: x\n": "Check the spelling",
		`"%matplotlib" unknown or not implemented yet.`:                                                                             "There is no command %matplotlib here",
	} {
		s := session{t: t}
		s.cell("!*go get github.com/a/b")
		if told := s.stderr(text); !strings.HasPrefix(told, strings.TrimRight(text, "\n")+"\n") || !strings.Contains(told, want) {
			t.Errorf("%q became %q", text, told)
		}
		s.cell("%%\nprint()")
		if told := s.stderr(text); told != text {
			t.Errorf("the output of a program became %q", told)
		}
	}
}

// Messages that the session does not understand pass as they are.
func TestOthersPass(t *testing.T) {
	var s Session
	for _, kind := range []string{"execute_input", "stream", "error", "display_data"} {
		for _, content := range []string{"", "null", "[]", `{"code":3}`, `{"name":"stderr","text":3}`, `{"traceback":[3]}`, `{"traceback":null}`} {
			if got := s.Message(kind, "request", []byte(content)); string(got) != content {
				t.Errorf("%s %s became %s", kind, content, got)
			}
		}
	}
}

func TestPackagesExist(t *testing.T) {
	for name, path := range packages {
		dir := filepath.Join("..", "..", filepath.FromSlash(strings.TrimPrefix(path, "github.com/svmnb/svmnb/")))
		if _, err := os.Stat(dir); err != nil || filepath.Base(dir) != name {
			t.Errorf("%s is %s: %v", name, path, err)
		}
	}
}

func FuzzMessage(f *testing.F) {
	f.Add("%%\nx := {", "Cell[1]: Line 2\nx\n ^\nundefined: x", "panic: x [[ Cell [1] Line 9 ]]")
	f.Add("var x = f()\n!go", "exit status 2", "\nmain.init()\n [[ Cell [1] Line 77 ]]")
	f.Add("", "Cell[7]: Line 99999999999999999999\nundefined: x", "")
	f.Fuzz(func(t *testing.T, source, traceback, stderr string) {
		s := session{t: t}
		for range 2 {
			s.asked(source)
			s.cell(source)
			s.stderr(stderr)
			s.fails(traceback, "found 'EOF'")
			s.fails(traceback)
			for _, says := range []string{"undefined: x", "too many return values", "missing return", "cannot use x / y (value of type int) as float64 value in assignment",
				"invalid operation: x += y (mismatched types int and float64)", "2.5 (untyped float constant) truncated to int", "cannot convert x (variable of type string) to type int"} {
				s.fails(compiles(s.count, 1+len(stderr)%5, source, strings.Repeat(" ", len(traceback)%9)+"^", says))
			}
		}
	})
}
