package main

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/internal/browsertest"
	"github.com/svmnb/svmnb/notebooks/lab"
)

// textOf returns a page without its head, tags and entities.
func textOf(page []byte) string {
	_, body, _ := strings.Cut(string(page), "<body>")
	return unescaped(tag.ReplaceAllString(body, " "))
}

func TestFeedbackPages(t *testing.T) {
	c := recordedClass(t, annaAndCarla)
	for i, want := range [][]string{
		{"Week 3", "Meier, Anna", "5 of 5 points", "3 of 3 points, right", "✓ a", "Further tests", "✓ more", "Since 1=1", "var a"},
		{"0 of 5 points", "0 of 3 points, did not run", "Line 2: Element 0 is asked for, and the list is empty.", "index out of range", "none", "0 of 2 points, not answered"},
		{"1 of 5 points", "Handed in late, by up to one day", "This costs 0.5 points", "✗ more And twice?", "0.5 of 2 points, marked by hand Why?", "It is clear."},
	} {
		page, err := c.feedbackPage(c.Entries[i])
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(strings.Fields(textOf(page)), " ")
		for _, w := range want {
			if !strings.Contains(text, strings.ReplaceAll(w, "1=1", "$1=1$")) && !strings.Contains(text, w) {
				t.Errorf("%s: the page does not say %q:\n%s", c.Entries[i].Student.Key, w, text)
			}
		}
		for _, secret := range []string{"goroutine", "secretCode", "Cell [", "stderr:", "Marks."} {
			if strings.Contains(string(page), secret) {
				t.Errorf("%s: the page says %q", c.Entries[i].Student.Key, secret)
			}
		}
	}
	unmarked := recordedClass(t, nil)
	page, err := unmarked.feedbackPage(unmarked.Entries[0])
	if err != nil || !strings.Contains(textOf(page), "2 points, not marked yet") || !strings.Contains(textOf(page), "One answer is not marked yet") {
		t.Errorf("%v:\n%s", err, textOf(page))
	}
}

func TestPlainProblems(t *testing.T) {
	for problem, want := range map[string]string{
		"timed out after 20s":                                                         "The program did not finish within 20s. Is there a loop that does not end?",
		"stopped after 5m0s in all":                                                   "The notebook took more than 5m0s in all.",
		"the program ended before its time, without an error":                         "The program ended by itself, without an error. Does it call os.Exit?",
		"it prints more than 8 MB\nstatus error":                                      "The program prints more than 8 MB.",
		"not a notebook: unexpected EOF":                                              "The file is not a Jupyter notebook, or only a part of one. Open it in Jupyter before you hand it in.",
		"Cell [7], line 2: Nothing is called x here.\n    return x\nGo: undefined: x": "Line 2: Nothing is called x here.\n    return x\nGo: undefined: x",
		"exit status 2\nstderr:\n    panic: x\n    goroutine 1":                       "Exit status 2",
		"Cell [2]: Element 0 is asked for.":                                           "Element 0 is asked for.",
		"panic: x\n\ngoroutine 1 [running]:\nmain.f()\n":                              "Panic: x",
		"\u202eabc\x00\x1b":                                                           "\ufffdabc\ufffd\ufffd",
		"":                                                                            " ",
	} {
		if got := plain(problem); got != want {
			t.Errorf("%q is told as %q, want %q", problem, got, want)
		}
	}
	if got := plain(strings.Repeat("long ", 100_000)); len(got) > 2100 {
		t.Errorf("a problem has %d bytes", len(got))
	}
}

// hostileClass has students whose names, answers, tests, problems and comments are hostile.
func hostileClass(t *testing.T, far string) *class {
	t.Helper()
	var results []graded
	var ins []handIn
	task := recordedTask(t)
	people := &roster{header: []string{"Student"}}
	var marks []mark
	for _, h := range hostile {
		h = strings.ReplaceAll(h, "FAR", far)
		proof := "A proof " + h + "\n\n" + h
		one := gradedExercise{State: lab.Failed, Answer: "var a = 1 // " + h + "\n" + h, Problem: h + "\n" + h,
			Tests: []lab.Test{{What: h, State: lab.Failed, Hint: h}, {What: h, State: lab.Passed, Note: h}, {What: h, State: lab.State(h)}}, Hidden: []lab.Test{{What: h, State: lab.Failed, Hint: h}}}
		g := recorded("in/"+h+".ipynb", one, proof)
		g.Problems = []string{h}
		s := &student{Key: h, Name: h, Email: h, ID: h, Login: h, section: h, number: h}
		people.students = append(people.students, s)
		ins, results = append(ins, handIn{file: g.File, key: h, name: h, number: h}), append(results, g)
		marks = append(marks, mark{student: h, exercise: "1.2", given: true, points: 1, comment: h, answer: fingerprint(proof)})
	}
	return assemble(task, ins, results, people, marks, lateRule{}, modified)
}

func TestHostileClassInBrowser(t *testing.T) {
	t.Parallel()
	address, asked := far(t)
	c := hostileClass(t, address)
	dir := t.TempDir()
	if err := c.write(dir, nil, ',', testWriter{t}); err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "feedback", "*.html"))
	if err != nil || len(pages) != len(hostile) {
		t.Fatalf("%d pages, %v, want %d", len(pages), err, len(hostile))
	}
	pages = append(pages, filepath.Join(dir, "summary.html"), filepath.Join(dir, "proofs", "1.2.html"))
	p := browsertest.Open(t, pages[0], browsertest.Options{})
	for _, page := range pages {
		if err := p.Navigate((&url.URL{Scheme: "file", Path: page}).String()); err != nil {
			t.Fatal(err)
		}
		if err := p.WaitLoad(); err != nil {
			t.Fatal(err)
		}
		stays(t, p, asked)
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) > 20<<20 {
			t.Errorf("%.60s has %d MB", page, len(data)>>20)
		}
	}
	var entries []json.RawMessage
	readJSON(t, filepath.Join(dir, "results.json"), &entries)
	for _, name := range []string{"moodle.csv", "canvas.csv", "grades.csv", "marks.csv"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		rows, err := parseCSV(data)
		if err != nil || len(rows) <= len(hostile) {
			t.Errorf("%s has %d rows, %v", name, len(rows), err)
		}
		for _, row := range rows {
			for _, text := range row {
				if isFormula(text) {
					t.Errorf("%s has the formula %q", name, text)
				}
			}
		}
	}
}
