package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// identified makes a notebook of code cells, each given as its id, a line break
// and its source. Those with an id "proof-…" are Markdown cells.
func identified(cells ...string) *notebook {
	var sources []string
	for _, c := range cells {
		_, source, _ := strings.Cut(c, "\n")
		sources = append(sources, source)
	}
	nb := code(sources...)
	for i, c := range cells {
		id, _, _ := strings.Cut(c, "\n")
		nb.cells[i].raw["id"] = id
		if strings.HasPrefix(id, "proof-") {
			nb.cells[i].raw["cell_type"] = "markdown"
		}
	}
	return nb
}

func TestExercisesOf(t *testing.T) {
	for _, test := range []struct {
		name  string
		cells []string
		want  string // the exercises
		says  string // a part of the problems; empty for none
	}{
		{"none", []string{"a\nx := 1", "b\n%%\ncheck()"}, "", ""},
		{"two", []string{"exercise-3-1\nvar a = 1", "check-3-1\n%% check 3.1\nx()", "exercise-3-12\nvar b = 1", "c\n%%\n", "check-3-12\n%% check 3.12 \nx()"}, "3.1 3.12", ""},
		{"imports before the check", []string{"exercise-3-1\nvar a = 1", "check-3-1\nimport \"math\"\n\n%% check 3.1\nx()"}, "3.1", ""},
		{"no check", []string{"exercise-3-1\nvar a = 1"}, "3.1", "exercise 3.1 has no check"},
		{"no answer", []string{"check-3-1\n%% check 3.1\nx()"}, "3.1", "exercise 3.1 has no answer cell"},
		{"too late", []string{"check-3-1\n%% check 3.1\nx()", "exercise-3-1\nvar a = 1"}, "3.1", "exercise 3.1 has no answer cell before"},
		{"two checks", []string{"exercise-3-1\nvar a = 1", "check-3-1\n%% check 3.1\nx()", "check-3-1\n%% check 3.1\nx()"}, "3.1", "two checks"},
		{"id without line", []string{"exercise-3-1\nvar a = 1", "check-3-1\n%% the check of 3.1\nx()"}, "3.1", `"" by its line %% and of "3.1" by its id`},
		{"line without id", []string{"exercise-3-1\nvar a = 1", "c\n%% check 3.1\nx()"}, "3.1", `"3.1" by its line %% and of "" by its id`},
		{"a proof", []string{"exercise-3-1\nvar a = 1", "check-3-1\n%% check 3.1\nx()", "proof-3-2\n*Write here.*"}, "3.1 3.2", ""},
		{"a proof and a check", []string{"exercise-3-1\nvar a = 1", "check-3-1\n%% check 3.1\nx()", "proof-3-1\n*Write here.*"}, "3.1", "both a check and a proof"},
		{"an answer with statements", []string{"exercise-3-1\nvar a = 1\n%%\nx()", "check-3-1\n%% check 3.1\nx()"}, "3.1", "does more than declare"},
	} {
		list, problems := exercisesOf(identified(test.cells...))
		var names []string
		for _, e := range list {
			names = append(names, e.name)
		}
		said := strings.Join(problems, "; ")
		if got := strings.Join(names, " "); got != test.want || !strings.Contains(said, test.says) || (said == "") != (test.says == "") {
			t.Errorf("%s: exercises %q, problems %q; want %q and %q", test.name, got, said, test.want, test.says)
		}
	}
}

func TestDeclarations(t *testing.T) {
	for source, want := range map[string]string{
		"var a = 1\n": "var a = 1\n",
		"import \"fmt\"\n\n%% say\nfmt.Println()": "import \"fmt\"\n\n",
		"%%\nf()":                 "",
		"%% check 3.1\nf()":       "",
		"%%bash\nls":              "",
		"%%writefile a.txt\ntext": "",
		"!*go get x\n%env A 1\nvar a = 1\n%main\nf()": "var a = 1\n",
		"//gonb:!ls\nvar a = 1\n//gonb:%%\nf()":       "var a = 1\n",
		"":                                            "",
	} {
		if got := declarations(source); got != want {
			t.Errorf("%q declares %q, want %q", source, got, want)
		}
	}
}

func TestTogether(t *testing.T) {
	for _, test := range []struct{ sources, want []string }{
		{nil, []string{""}},
		{[]string{"var a = 1"}, []string{"var a = 1\n"}},
		{[]string{"import \"fmt\"\nvar a = 1", "import (\n\"fmt\"\nm \"math\"\n)\n// b is more\nvar b = 2"}, []string{"import \"fmt\"\nimport m \"math\"\n\nvar a = 1\n\n// b is more\nvar b = 2\n"}},
		{[]string{"var a = 1", "var b, a = 2, 3", "func a() {}"}, []string{"var a = 1\n", "var b, a = 2, 3\n", "func a() {}\n"}},
		{[]string{"type t int\nfunc (t) a() {}", "func a() {}\nvar _ = 1", "var _ = 2", "func (x *t) a() {}"}, []string{"type t int\nfunc (t) a() {}\nfunc a() {}\nvar _ = 1\nvar _ = 2\n", "func (x *t) a() {}\n"}},
		{[]string{"const a = 1", "func {", "const b = 2"}, []string{"const a = 1\n", "func {\n", "const b = 2\n"}},
		{[]string{"func {"}, []string{"func {\n", ""}},
	} {
		if got := together(test.sources); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", test.want) {
			t.Errorf("%q together are %q, want %q", test.sources, got, test.want)
		}
	}
}

const solved = "# Solutions\n\n## Exercise 3.1\n\nBecause.\n\n```go right\nvar a = 3\n```\n\n```go wrong\nvar a = 4\n```\nToo many.\n\n```go wrong\nvar a = 2\n```\nToo few.\n\n```go\nnot this\n```\n" +
	"\n### About it\n\n## Other\n\n## Exercise 3.2\n\n~~~go right\nvar b = `x\n\ny`\n~~~\n"

func TestParseSolutions(t *testing.T) {
	found, err := parseSolutions([]byte(solved))
	if err != nil || len(found) != 2 {
		t.Fatalf("%+v, %v", found, err)
	}
	one, two := found["3.1"], found["3.2"]
	if got, want := fmt.Sprintf("%q %q", one.right, one.wrong), `["var a = 3\n"] ["var a = 4\n" "var a = 2\n"]`; got != want {
		t.Errorf("3.1: %s, want %s", got, want)
	}
	if got, want := fmt.Sprintf("%q %q", two.right, two.wrong), `["var b = `+"`x\\n\\ny`"+`\n"] []`; got != want {
		t.Errorf("3.2: %s, want %s", got, want)
	}
	for source, want := range map[string]string{
		"```go right\nx\n```\n":                                             "under no heading",
		"## Exercise 1.1\n\n## Other\n\n```go wrong\nx\n```\n":              "under no heading",
		"## Exercise 1.1\n\n# Part\n\n```go wrong\nx\n```\n":                "under no heading",
		"## Exercise 1.1\n\ntext\n\n## Exercise 1.1\n\nmore text\n":         "two headings",
		"## Exercise 1.1 (many points)\n":                                   "neither like",
		"## Exercise 1.1\n\n```go hidden\nx\n```\n\n```go hidden\ny\n```\n": "two blocks \"go hidden\"",
	} {
		if _, err := parseSolutions([]byte(source)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want it to say %q", source, err, want)
		}
	}
}

func TestPointsOfSolutions(t *testing.T) {
	found, err := parseSolutions([]byte("# S\n\n## Exercise 1.1 (1 point)\n\n## Exercise 1.2 (0.5 points)\n\nSince $a$.\n\n**Marks.** 1.\n\n## Exercise 1.3 (0 points)\n```go hidden\nx()\n```\n## Exercise 1.4\n\nlast\n"))
	if err != nil || len(found) != 4 {
		t.Fatalf("%d solutions, %v, want 4", len(found), err)
	}
	for name, want := range map[string]solution{
		"1.1": {points: 1}, "1.2": {points: 0.5, marks: true, text: "Since $a$.\n\n**Marks.** 1."}, "1.3": {hidden: "x()\n", text: "```go hidden\nx()\n```"}, "1.4": {points: 1, text: "last"},
	} {
		if got := fmt.Sprintf("%+v", *found[name]); got != fmt.Sprintf("%+v", want) {
			t.Errorf("%s: %s, want %+v", name, got, want)
		}
	}
}

// One notebook in the real kernel, with solutions of which some are wrong where
// they should be right.
func TestSolutionsAreHeldToTheChecks(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the real kernel, which -short leaves out")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "lab.ipynb")
	nb := identified(
		"imports\nimport \"github.com/svmnb/svmnb/notebooks/lab\"\n\nfunc truth() float64 { return 3 }\n\n%%\nlog.Fatal(\"statements are left out, \", a)",
		"exercise-3-1\n// Exercise 3.1\nvar a = lab.Todo",
		"between\nfunc twice() float64 { return 2 * a }",
		"proof-3-2\n*Write your proof here.*",
		"check-3-1\n%% check 3.1\nlab.Check(\"3.1\", lab.Near(\"a\", twice()/2, truth(), 1e-9, \"count\"))",
	)
	if err := errors.Join(nb.write(file), os.Mkdir(filepath.Join(dir, "solutions"), 0o755)); err != nil {
		t.Fatal(err)
	}
	k, err := builtKernel()
	if err != nil {
		t.Fatal(err)
	}
	if err := k.warm(t.Context(), io.Discard); err != nil {
		t.Fatal(err)
	}
	const proof = "## Exercise 3.2\nSince 2 = 2.\n\n**Marks.** 1 for 2.\n"
	for _, test := range []struct{ name, solutions, want string }{
		{"good", "## Exercise 3.1\n```go right\nvar a = 3.0\n```\n```go wrong\nvar a = 4.0\n```\n```go wrong\nvar a = math.NaN()\n```\n" + proof, ""},
		{"wrong where it should be right", "## Exercise 3.1\n```go right\nvar a = 4.0\n```\n```go wrong\nvar a = 2.0\n```\n" + proof, "refuses the right answer:\n    Exercise 3.1: not right yet"},
		{"right where it should be wrong", "## Exercise 3.1\n```go right\nvar a = 3.0\n```\n```go wrong\nvar a = 6.0/2\n```\n" + proof, "accepts wrong answer 1"},
		{"does not compile", "## Exercise 3.1\n```go right\nvar a = 3.0\n```\n```go wrong\nvar a = nothing\n```\n" + proof, "3.1 does not run with wrong answer 1"},
		{"hidden", "## Exercise 3.1 (2.5 points)\n```go right\nvar a = 3.0\n```\n```go wrong\nvar a = 4.0\n```\n```go wrong\nvar a = 3.0 + 1e-12\n```\n```go hidden\nlab.Check(\"3.1\", lab.True(\"exact\", a == 3, \"\"))\n```\n" + proof, ""},
		{"hidden and refuses", "## Exercise 3.1\n```go right\nvar a = 3.0\n```\n```go wrong\nvar a = 4.0\n```\n```go hidden\nlab.Check(\"3.1\", lab.True(\"exact\", a == 4, \"\"))\n```\n" + proof, "refuses the right answer"},
		{"hidden and does not run", "## Exercise 3.1\n```go right\nvar a = 3.0\n```\n```go wrong\nvar a = 4.0\n```\n```go hidden\nlab.Check(\"3.1\", nothing)\n```\n" + proof, "the hidden check of exercise 3.1 does not run with the right answer"},
		{"no wrong one", "## Exercise 3.1\n```go right\nvar a = 3.0\n```\n" + proof, `0 "go wrong"`},
		{"no solution", "# Nothing\n", "exercise 3.1 has no solution"},
		{"too many", "## Exercise 3.1\n```go right\nvar a = 3.0\n```\n```go wrong\nvar a = 2.0\n```\n## Exercise 3.3\n" + proof, "a solution to exercise 3.3"},
		{"no marks", "## Exercise 3.1\n```go right\nvar a = 3.0\n```\n```go wrong\nvar a = 2.0\n```\n## Exercise 3.2\nSince 2 = 2.\n", "exercise 3.2 has no paragraph"},
		{"unreadable", "```go right\nx\n```\n", "under no heading"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := os.WriteFile(filepath.Join(dir, "solutions", "lab.md"), []byte(test.solutions), 0o644); err != nil {
				t.Fatal(err)
			}
			problems, err := (&session{timeout: time.Minute, fresh: true}).solve(t.Context(), k, file, nb, io.Discard)
			said := strings.Join(problems, "; ")
			if err != nil || !strings.Contains(said, test.want) || (said == "") != (test.want == "") {
				t.Errorf("%q, %v; want %q", said, err, test.want)
			}
		})
	}
	if err := os.Remove(filepath.Join(dir, "solutions", "lab.md")); err != nil {
		t.Fatal(err)
	}
	if problems, err := (&session{}).solve(t.Context(), nil, file, nb, io.Discard); err != nil || len(problems) != 1 || !strings.Contains(problems[0], "there is no solutions/lab.md") {
		t.Errorf("without a file: %q, %v", problems, err)
	}
}

func TestVacuousChecks(t *testing.T) {
	says := func(text string) []*output {
		return []*output{{kind: "display_data", data: map[string]any{"application/vnd.svmnb.check+json": text}}}
	}
	for name, test := range map[string]struct {
		outs []*output
		want string
	}{
		"open":             {says(`{"exercise":"3.1","passed":false,"tests":[{"what":"a","state":"open"}]}`), ""},
		"passed":           {says(`{"exercise":"3.1","passed":true,"tests":[{"what":"a","state":"passed"}]}`), "before it is answered"},
		"another":          {says(`{"exercise":"3.2","passed":false}`), "does not call lab.Check"},
		"garbage":          {says(`{`), "does not call lab.Check"},
		"nothing":          {nil, "does not call lab.Check"},
		"the last counts":  {append(says(`{"exercise":"3.1","passed":true}`), says(`{"exercise":"3.1","passed":false}`)...), ""},
		"the last of many": {append(says(`{"exercise":"3.1","passed":false}`), says(`{"exercise":"3.1","passed":true}`)...), "before it is answered"},
	} {
		nb := identified("check-3-1\n%% check 3.1\n")
		nb.cells[0].setOutputs(test.outs, 1)
		said := strings.Join(vacuous(nb), "; ")
		if !strings.Contains(said, test.want) || (said == "") != (test.want == "") {
			t.Errorf("%s: %q, want %q", name, said, test.want)
		}
	}
}

// However many at once, and whoever is faster: the output is that of one after
// the other.
func TestInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, atOnce := rapid.IntRange(0, 6).Draw(t, "n"), rapid.IntRange(-1, 4).Draw(t, "at once")
		var want strings.Builder
		for i := range n {
			fmt.Fprintf(&want, "%d begins\n%d ends\n", i, i)
		}
		// Jobs end in the reverse order wherever enough run at once.
		gates := make([]chan struct{}, n)
		for i := range gates {
			gates[i] = make(chan struct{})
		}
		var got bytes.Buffer
		var mu sync.Mutex
		running, most := 0, 0
		inOrder(n, atOnce, &got, &got, func(i int, stdout, stderr io.Writer) {
			mu.Lock()
			running++
			most = max(most, running)
			mu.Unlock()
			fmt.Fprintf(stdout, "%d begins\n", i)
			if i+1 < min(n, atOnce) {
				<-gates[i+1]
			}
			fmt.Fprintf(stderr, "%d ends\n", i)
			close(gates[i])
			mu.Lock()
			running--
			mu.Unlock()
		})
		if got.String() != want.String() || most > max(1, atOnce) {
			t.Fatalf("%d at once wrote\n%s", most, got.String())
		}
	})
}

func TestTestStopsWhenTold(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the real kernel, which -short leaves out")
	}
	file := filepath.Join(t.TempDir(), "a.ipynb")
	if err := code("%%\ntime.Sleep(time.Hour)").write(file); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(2*time.Second, cancel)
	if err := command(ctx, []string{"test", file, file}, io.Discard, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
