package cells

import (
	"slices"
	"testing"
	"time"
)

// Lines follow each other slowly, and the last one follows those that were shown.
func TestProgressIsThrottled(t *testing.T) {
	var lines []string
	show := func(line string) { lines = append(lines, line) }
	soon := throttled(time.Now().Add(time.Hour), show)
	soon("too early", false)
	soon("over before it begins", true)
	if lines != nil {
		t.Errorf("%q", lines)
	}
	now := throttled(time.Time{}, show)
	for range 1000 {
		now("first", false)
	}
	now("last", true)
	if len(lines) < 2 || len(lines) > 100 || lines[0] != "first" || lines[len(lines)-1] != "last" || slices.Contains(lines[:len(lines)-1], "last") {
		t.Errorf("%d lines: %q …", len(lines), lines[:min(len(lines), 3)])
	}
	if Progress(0) != nil {
		t.Error("there is a cell outside a notebook")
	}
}
