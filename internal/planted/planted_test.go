package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestRowsAreUpToDate: every text occurs exactly once and every test exists, so that the
// command does not stop for a row that the code has left behind. It runs no test.
func TestRowsAreUpToDate(t *testing.T) {
	const root = "../.."
	if len(bugs) < 20 {
		t.Errorf("only %d bugs", len(bugs))
	}
	for _, b := range bugs {
		if text, err := b.text(root); err != nil {
			t.Error(err)
		} else if strings.Contains(text, b.old) && !strings.Contains(b.new, b.old) {
			t.Errorf("%s: nothing has changed", b.name)
		}
		files, err := filepath.Glob(filepath.Join(root, b.pkg, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for _, f := range files {
			raw, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(raw)
		}
		for name := range strings.SplitSeq(b.test, "|") {
			if !regexp.MustCompile(`(?m)^func ` + name + `\(t \*testing\.T\)`).MatchString(all.String()) {
				t.Errorf("%s: there is no %s in %s", b.name, name, b.pkg)
			}
		}
	}
}

func TestChosen(t *testing.T) {
	if !chosen("a wrong ridge", nil) || !chosen("a wrong ridge", []string{"bias", "ridge"}) || chosen("a wrong ridge", []string{"bias"}) {
		t.Error("chosen by words")
	}
}
