package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestNewLab(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, `week "3"`)
	var out bytes.Buffer
	if err := command(t.Context(), []string{"new-lab", file}, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	solutions := filepath.Join(dir, "solutions", `week "3".md`)
	if want := file + ".ipynb\n" + solutions + "\n"; out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
	nb, err := readNotebook(file + ".ipynb")
	if err != nil {
		t.Fatal(err)
	}
	if nb.title() != `week "3"` {
		t.Errorf("title %q", nb.title())
	}
	if list, problems := exercisesOf(nb); len(list) != 1 || len(problems) > 0 {
		t.Errorf("%d exercises, %q", len(list), problems)
	}

	for _, keep := range []string{file + ".ipynb", solutions} {
		other := filepath.Join(dir, "other", filepath.Base(filepath.Dir(keep)), filepath.Base(keep))
		if keep != solutions {
			other = filepath.Join(dir, "other", filepath.Base(keep))
		}
		if err := os.MkdirAll(filepath.Dir(other), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(other, []byte("mine"), 0o644); err != nil {
			t.Fatal(err)
		}
		err := command(t.Context(), []string{"new-lab", filepath.Join(dir, "other", `week "3".ipynb`)}, io.Discard, io.Discard)
		if data, _ := os.ReadFile(other); err == nil || !strings.Contains(err.Error(), "exists") || string(data) != "mine" {
			t.Errorf("over %s: %v, %q", other, err, data)
		}
		if err := os.Remove(other); err != nil {
			t.Fatal(err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "other", "*.ipynb")); len(left) > 0 {
		t.Errorf("wrote %q", left)
	}
	for _, args := range [][]string{{}, {"a", "b"}, {""}, {"."}, {".hidden"}, {"/"}} {
		if err := command(t.Context(), append([]string{"new-lab"}, args...), io.Discard, io.Discard); err == nil {
			t.Errorf("new-lab %q: no error", args)
		}
	}
}

// The blank lab is itself a notebook with an exercise and its solutions.
func TestBlankLabRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the real kernel, which -short leaves out")
	}
	file := filepath.Join(t.TempDir(), "lab.ipynb")
	if err := command(t.Context(), []string{"new-lab", file}, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	k, err := builtKernel()
	if err != nil {
		t.Fatal(err)
	}
	if err := k.warm(t.Context(), io.Discard); err != nil {
		t.Fatal(err)
	}
	nb, err := readNotebook(file)
	if err != nil {
		t.Fatal(err)
	}
	s := &session{timeout: time.Minute, fresh: true}
	if err := s.execute(t.Context(), k, file, nb, io.Discard); err != nil {
		t.Fatal(err)
	}
	if problems := vacuous(nb); len(problems) > 0 {
		t.Errorf("as given: %q", problems)
	}
	if problems, err := s.solve(t.Context(), k, file, nb, io.Discard); err != nil || len(problems) > 0 {
		t.Errorf("with its solutions: %q, %v", problems, err)
	}
}
