package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/svmnb/svmnb/notebooks/lab"
)

// keeping returns a grader that keeps the results of a made-up run, and counts the runs.
func keeping(t *testing.T, dir string, most limits, run func(file string) graded) (g *grader, runs *int) {
	t.Helper()
	g, runs = &grader{task: recordedTask(t), kernel: &kernel{root: filepath.Join(dir, "checkout")}, limits: most}, new(int)
	g.task.beside = filepath.Join(dir, "given")
	g.run = func(_ context.Context, file string, _ []byte) graded {
		*runs++
		return run(file)
	}
	if err := g.keepIn(filepath.Join(dir, "kept")); err != nil {
		t.Fatal(err)
	}
	return g, runs
}

// A result is kept until something changes on which it depends.
func TestKeptResults(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	write("checkout/lab.go", "package lab")
	write("given/data.csv", "1")
	right := func(file string) graded {
		return recorded(file, gradedExercise{State: lab.Passed, Tests: []lab.Test{{What: "a", State: lab.Passed}}}, "")
	}
	most := limits{cell: time.Second}
	for _, step := range []struct {
		name   string
		change func()
		data   string
		again  bool
	}{
		{"the first time", func() {}, "anna", true},
		{"nothing changed", func() {}, "anna", false},
		{"another notebook", func() {}, "ben", true},
		{"a file beside the original", func() { write("given/data.csv", "2") }, "anna", true},
		{"the library", func() { write("checkout/lab.go", "package lab // new") }, "anna", true},
		{"a test of the library", func() { write("checkout/lab_test.go", "package lab") }, "anna", false},
		{"a limit", func() { most.cell = time.Minute }, "anna", true},
	} {
		step.change()
		g, runs := keeping(t, dir, most, right)
		got := g.kept(t.Context(), step.data+".ipynb", []byte(step.data))
		if (*runs == 1) != step.again {
			t.Errorf("%s: %d runs, want %v", step.name, *runs, step.again)
		}
		if got.File != step.data+".ipynb" || len(got.Exercises) != 2 || got.Exercises[0].State != lab.Passed {
			t.Errorf("%s: %+v", step.name, got)
		}
	}
	g, runs := keeping(t, dir, most, right)
	if g.kept(t.Context(), "copy.ipynb", []byte("anna")); *runs != 0 {
		t.Error("a copy with the same content runs again")
	}
	for _, change := range []func(g *grader){
		func(g *grader) { g.task.data = []byte("another lab") },
		func(g *grader) { g.task.source = []byte("other solutions") },
	} {
		g, runs := keeping(t, dir, most, right)
		change(g)
		if err := g.keepIn(filepath.Join(dir, "kept")); err != nil {
			t.Fatal(err)
		}
		if g.kept(t.Context(), "anna.ipynb", []byte("anna")); *runs != 1 {
			t.Error("the lab has changed, and its results have not")
		}
	}
}

// What did not fail because of the notebook, and what was interrupted, runs again.
func TestUnsureResultsAreNotKept(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"given", "checkout"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	ins := make([]handIn, 6)
	for i := range ins {
		ins[i].file = filepath.Join(dir, string(rune('a'+i))+".ipynb")
		if err := os.WriteFile(ins[i].file, []byte(ins[i].file), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	quiet := &session{stdout: io.Discard, stderr: io.Discard}
	var g *grader
	var runs *int
	g, runs = keeping(t, dir, limits{}, func(file string) graded {
		if *runs == 4 {
			stop() // the teacher has pressed Ctrl-C
		}
		return graded{File: file, unsure: *runs == 2}
	})
	g.all(ctx, ins, 1, quiet)
	if *runs != 4 {
		t.Fatalf("%d notebooks ran before the end, want 4", *runs)
	}
	g, runs = keeping(t, dir, limits{}, func(file string) graded { return graded{File: file} })
	results := g.all(t.Context(), ins, 1, quiet)
	if *runs != 4 { // the second, which was unsure, the fourth, which was interrupted, and the last two
		t.Errorf("%d notebooks ran again, want 4", *runs)
	}
	for i, r := range results {
		if r.File != ins[i].file {
			t.Errorf("result %d is that of %s", i, r.File)
		}
	}
}
