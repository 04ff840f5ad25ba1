package solvers_test

import (
	"os"
	"strings"
	"testing"
)

// Every line of Go in docs/adding-a-solver.md is a line of the example that is
// compiled and run, in the same order.
func TestDocsAreTheExample(t *testing.T) {
	doc, err := os.ReadFile("../docs/adding-a-solver.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("example_own_test.go")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(doc), "```go\n")[1:]
	if len(blocks) != 2 {
		t.Fatalf("%d blocks of Go, want 2", len(blocks))
	}
	rest := string(source)
	for _, block := range blocks {
		code, _, _ := strings.Cut(block, "```")
		for line := range strings.Lines(code) {
			_, after, found := strings.Cut(rest, strings.TrimSpace(line))
			if !found {
				t.Errorf("the example has no %q, or not in this place", line)
				continue
			}
			rest = after
		}
	}
}
