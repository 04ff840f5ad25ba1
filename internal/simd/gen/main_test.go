package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// What is committed is what this program writes.
func TestCommitted(t *testing.T) {
	dir := t.TempDir()
	names := []string{"kernels_amd64.s", "kernels_amd64.go"}
	cmd := exec.Command("go", "run", ".", "-out", filepath.Join(dir, names[0]), "-stubs", filepath.Join(dir, names[1]), "-pkg", "simd")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range names {
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		// The first line has the command.
		_, want, _ = bytes.Cut(want, []byte("\n"))
		_, got, _ = bytes.Cut(got, []byte("\n"))
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what this program writes: go generate ./internal/simd", name)
		}
	}
}
