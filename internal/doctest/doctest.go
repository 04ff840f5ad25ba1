// Package doctest compares the Go code of a document with an example that is compiled and run,
// so that code that a reader copies works.
package doctest

import (
	"os"
	"strings"
	"testing"
)

// Same fails t unless the document has the given number of Go blocks and each of their lines
// is a line of the source file, in the same order. Differences in spaces are ignored.
func Same(t *testing.T, document, source string, blocks int) {
	t.Helper()
	doc, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	found := strings.Split(string(doc), "```go\n")[1:]
	if len(found) != blocks {
		t.Fatalf("%s has %d blocks of Go, want %d", document, len(found), blocks)
	}
	rest := words(string(code))
	for _, block := range found {
		block, _, _ = strings.Cut(block, "```")
		for line := range strings.Lines(block) {
			_, after, ok := strings.Cut(rest, words(line))
			if !ok {
				t.Errorf("%s has no %q, or not in this place", source, line)
				continue
			}
			rest = after
		}
	}
}

func words(s string) string { return strings.Join(strings.Fields(s), " ") }
