package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/notebooks/lab"
)

// labOf writes a lab with an exercise in code, a proof and a cell for teachers, and returns its file.
func labOf(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "lab.ipynb")
	nb := identified(
		"imports\nimport \"github.com/svmnb/svmnb/notebooks/lab\"",
		"exercise-3-1\n// Exercise 3.1: twice as many.\nfunc twice(a float64) float64 { return lab.Todo }",
		"check-3-1\n%% check 3.1\nlab.Check(\"3.1\", lab.Near(\"2·2\", twice(2), 4, 1e-9, \"add\"), lab.Near(\"2·3\", twice(3), 6, 1e-9, \"add\"))",
		"proof-3-2\n*Write your proof here.*",
		"plan\n// For teachers: ten minutes.",
	)
	nb.cells[4].raw["metadata"] = map[string]any{"tags": []any{"teacher"}}
	solutions := "# Solutions\n\n## Exercise 3.1 (2 points)\n\nAdd the number to itself.\n\n```go right\nfunc twice(a float64) float64 { return a + a }\n```\n\n" +
		"```go wrong\nfunc twice(a float64) float64 { return a * a }\n```\n\n```go hidden\nfunc third() float64 { return 1.0 / 3 }\n\n%%\nlab.Check(\"3.1\", lab.Near(\"2/3\", twice(third()), 2.0/3, 1e-9, \"add\"))\n```\n\n## Exercise 3.2\n\nEven numbers are twice another.\n\n**Marks.** 1 for *even*.\n"
	nb.adopt()
	if err := nb.write(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "solutions"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "solutions", "lab.md"), []byte(solutions), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func sourcesOf(nb *notebook) string {
	var all []string
	for _, c := range nb.cells {
		all = append(all, c.source())
	}
	return strings.Join(all, "\n---\n")
}

func TestEditions(t *testing.T) {
	file := labOf(t)
	out := t.TempDir()
	var said strings.Builder
	s := &session{stdout: &said, stderr: &said, root: out}
	if err := editionsCommand(t.Context(), s, []string{"-o", out, "-nbgrader", "course", file}); err != nil {
		t.Fatalf("%v\n%s", err, &said)
	}
	for name, want := range map[string]struct{ has, lacks []string }{
		"learner/lab.ipynb": {[]string{"return lab.Todo", "%% check 3.1", "Write your proof"}, []string{"a + a", "a * a", "For teachers", "Marks", "third"}},
		"teacher/lab.ipynb": {[]string{"return a + a }\n---\n%% check 3.1", "**Solution 3.1.** Add the number", "a * a", "**Solution 3.2.** Even", "**Marks.**", "For teachers"}, []string{"lab.Todo"}},
		"course/source/lab/lab.ipynb": {[]string{"// BEGIN SOLUTION\nfunc twice(a float64) float64 { return a + a }\n/* END SOLUTION", "lab.Todo", "**Marks.**",
			"// BEGIN HIDDEN TESTS\nfunc third() float64 { return 1.0 / 3 }\n// END HIDDEN TESTS\n%% check 3.1\n", "// BEGIN HIDDEN TESTS\n{\nlab.Check(\"3.1\", lab.Near(\"2/3\""},
			[]string{"For teachers", "a * a", "Write your proof"}},
	} {
		nb, err := readNotebook(filepath.Join(out, filepath.FromSlash(name)))
		if err != nil {
			t.Error(err)
			continue
		}
		text := sourcesOf(nb)
		for _, part := range want.has {
			if !strings.Contains(text, part) {
				t.Errorf("%s lacks %q:\n%s", name, part, text)
			}
		}
		for _, part := range want.lacks {
			if strings.Contains(text, part) {
				t.Errorf("%s has %q:\n%s", name, part, text)
			}
		}
		if _, problems := exercisesOf(nb); len(problems) > 0 {
			t.Errorf("%s: %q", name, problems)
		}
	}
	if before, err := readNotebook(file); err != nil || strings.Contains(sourcesOf(before), "a + a") {
		t.Errorf("the lab itself has changed: %v", err)
	}
}

func TestEditionsRefuse(t *testing.T) {
	good := map[string]*solution{"3.1": {right: []string{"var a = 1"}}}
	for name, test := range map[string]struct {
		nb   *notebook
		with map[string]*solution
		want string
	}{
		"no exercises":   {identified("a\nvar a = 1"), good, "no exercises"},
		"no solution":    {identified("exercise-3-1\nvar a = 0", "check-3-1\n%% check 3.1\nx()"), nil, "exercise 3.1 has no solution"},
		"no check":       {identified("exercise-3-1\nvar a = 0"), good, "has no check"},
		"a comment ends": {identified("exercise-3-1\nvar a = 0 /* x */", "check-3-1\n%% check 3.1\nx()"), good, "contains */"},
	} {
		if _, err := nbgraderEdition(test.nb, test.with); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

// A course in the real nbgrader: assignment, hand-in by its exchange, marks and feedback.
func TestNbgrader(t *testing.T) {
	venv := os.Getenv("SVMNB_NBGRADER")
	if venv == "" {
		t.Skip("SVMNB_NBGRADER does not name a virtual environment with nbgrader; .ci/run makes one")
	}
	k, err := builtKernel()
	if err != nil {
		t.Fatal(err)
	}
	relayed := *k
	if err := relayed.buildRelay(t.Context()); err != nil {
		t.Fatal(err)
	}
	home, exchange := t.TempDir(), t.TempDir()
	if _, err := relayed.writeSpec(filepath.Join(home, "jupyter")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(exchange, 0o777); err != nil { // nbgrader refuses an exchange that not everybody can write
		t.Fatal(err)
	}
	out := t.TempDir()
	if err := editionsCommand(t.Context(), &session{stdout: t.Output(), stderr: t.Output(), root: out}, []string{"-o", out, "-nbgrader", "course", labOf(t)}); err != nil {
		t.Fatal(err)
	}
	nbgrader := func(dir string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), filepath.Join(venv, "bin", "nbgrader"), append(args,
			"--Exchange.root="+exchange, "--Exchange.cache="+filepath.Join(home, "cache"), "--course=course")...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "JUPYTER_PATH="+filepath.Join(home, "jupyter"), "JUPYTER_CONFIG_DIR="+home,
			"PATH="+filepath.Join(venv, "bin")+string(filepath.ListSeparator)+os.Getenv("PATH"))
		said, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("nbgrader %s: %v\n%s", strings.Join(args, " "), err, said)
		}
	}
	course := filepath.Join(out, "course")
	nbgrader(course, "generate_assignment", "lab")
	nbgrader(course, "release_assignment", "lab")

	desk := t.TempDir()
	nbgrader(desk, "fetch_assignment", "lab")
	given := filepath.Join(desk, "lab", "lab.ipynb")
	answer := func(file string, code, proof string) {
		t.Helper()
		nb, err := readNotebook(given)
		if err != nil {
			t.Fatal(err)
		}
		if text := sourcesOf(nb); strings.Contains(text, "a + a") || strings.Contains(text, "Even numbers") || strings.Contains(text, "third") {
			t.Fatalf("learners get the solution:\n%s", text)
		}
		for _, c := range nb.cells {
			switch {
			case c.answers() != "" && code != "":
				c.raw["source"] = code
			case c.named(proofID) != "" && proof != "":
				c.raw["source"] = proof
			}
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), nb.write(file)); err != nil {
			t.Fatal(err)
		}
	}
	// The exchange knows learners by their accounts, of which this test has one. The others
	// hand in as with a learning platform: by files.
	for who, code := range map[string]string{
		"ben":   "func twice(a float64) float64 { return a * a }",
		"emil":  "func twice(a float64) float64 { return max(a+a, 1) }", // only the hidden test refuses it
		"carla": "func twice(a float64) float64 { return word }",
		"dora":  "",
	} {
		answer(filepath.Join(course, "submitted", who, "lab", "lab.ipynb"), code, "")
	}
	answer(given, "func twice(a float64) float64 { return 2 * a }", "They are.")
	nbgrader(desk, "submit", "lab")
	nbgrader(course, "collect", "lab")
	nbgrader(course, "autograde", "lab")
	nbgrader(course, "generate_feedback", "lab")
	nbgrader(course, "export")

	data, err := os.ReadFile(filepath.Join(course, "grades.csv"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(string(data))).ReadAll()
	if err != nil || len(rows) != 6 {
		t.Fatalf("%v\n%s", err, data)
	}
	got := map[string]string{}
	for _, row := range rows[1:] {
		record := map[string]string{}
		for i, name := range rows[0] {
			record[name] = row[i]
		}
		who := record["student_id"]
		if !slices.Contains([]string{"ben", "carla", "dora", "emil"}, who) {
			who = "account"
		}
		got[who] = record["raw_score"] + " of " + record["max_score"]
	}
	if want := "map[account:2.0 of 3.0 ben:0.0 of 3.0 carla:0.0 of 3.0 dora:0.0 of 3.0 emil:0.0 of 3.0]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
	page, err := os.ReadFile(filepath.Join(course, "feedback", "ben", "lab", "lab.html"))
	if err != nil || !strings.Contains(string(page), "not right yet") {
		t.Errorf("the feedback does not say what is not right: %v", err)
	}
}

// Outside nbgrader a check writes nothing to standard error.
func TestChecksForNbgrader(t *testing.T) {
	if os.Getenv("SVMNB_TEST_CHECK") != "" {
		lab.Check("3.1", lab.True("a", os.Getenv("SVMNB_TEST_CHECK") == "right", "hint"))
		return
	}
	for _, test := range []struct{ answer, mode, want string }{
		{"wrong", "", ""},
		{"wrong", "autograde", "Exercise 3.1: not right yet\n✗ a\n  hint\n"},
		{"right", "autograde", ""},
	} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestChecksForNbgrader$")
		cmd.Env = append(os.Environ(), "SVMNB_TEST_CHECK="+test.answer, "NBGRADER_EXECUTION="+test.mode)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		if err := cmd.Run(); err != nil || stderr.String() != test.want {
			t.Errorf("%s under %q: %q, %v; want %q", test.answer, test.mode, stderr.String(), err, test.want)
		}
	}
}
