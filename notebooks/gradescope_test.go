package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestGradescope(t *testing.T) {
	c := recordedClass(t, annaAndCarla)
	want := map[string]string{
		"anna":  `{"output":"1.1: 3 of 3; 1.2: 2 of 2","tests":[{"name":"Exercise 1.1","score":3,"max_score":3,"output":"right\n✓ a\n✓ more\n","visibility":"visible"}]}`,
		"ben":   `{"output":"1.1: 0 of 3; 1.2: 0 of 2","tests":[{"name":"Exercise 1.1","score":0,"max_score":3,"output":"did not run\nLine 2: Element 0 is asked for`,
		"carla": `{"output":"1.1: 1 of 3; 1.2: 0.5 of 2; late: -0.5","tests":[{"name":"Exercise 1.1","score":1,"max_score":3,"output":"not right\n✓ a\n✗ more\n  And twice?\n","visibility":"visible"},{"name":"Late","score":-0.5,"max_score":0,"output":"Handed in late, by up to one day`,
	}
	for _, e := range c.Entries {
		data, err := json.Marshal(c.gradescope(e))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(data); !strings.HasPrefix(got, want[e.Student.Key]) || strings.Contains(got, "goroutine") {
			t.Errorf("%s:\ngot  %s\nwant %s", e.Student.Key, got, want[e.Student.Key])
		}
	}
}

// In the real kernel, as an autograder calls it.
func TestGradescopeCommand(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the real kernel, which -short leaves out")
	}
	file := labOf(t)
	k, err := builtKernel()
	if err != nil {
		t.Fatal(err)
	}
	results := filepath.Join(t.TempDir(), "results.json")
	var said strings.Builder
	s := &session{root: k.root, name: "check", stdout: &said, stderr: t.Output()}
	if err := checkCommand(t.Context(), s, []string{"-against", file, "-gradescope", results, file}); err != nil {
		t.Fatalf("%v\n%s", err, &said)
	}
	data, err := os.ReadFile(results)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(data); !strings.Contains(got, `"max_score": 2`) || !strings.Contains(got, `"score": 0`) {
		t.Error(got)
	}
	if err := checkCommand(t.Context(), s, []string{"-against", file, "-gradescope", results, file, labOf(t)}); err == nil || !strings.Contains(err.Error(), "is for one student") {
		t.Errorf("two students: %v", err)
	}
	if err := checkCommand(t.Context(), s, []string{"-gradescope", results, file}); err == nil || !strings.Contains(err.Error(), "need -against") {
		t.Errorf("without the lab: %v", err)
	}
}
