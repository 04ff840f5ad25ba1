package selection

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
)

func searchOf(file string) Searcher {
	return Search(svmnb.Classify(testkit.Moons().Select(testkit.Seq(30))), Grid{"C": {1, 10}}, KFold(3, 1)).File(file)
}

// What is not the file of this search is refused, and keeps every byte.
func TestSearchFileIsNoOther(t *testing.T) {
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole")
	found(t, searchOf(whole))
	ours, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	header, _, _ := bytes.Cut(ours, []byte("\n"))
	key := func(s string) string {
		var h searchHeader
		if err := json.Unmarshal(header, &h); err != nil {
			t.Fatal(err)
		}
		return strings.Replace(s, "KEY", h.Key, 1)
	}
	for name, text := range map[string]string{
		"notes":                    "my notes\n",
		"a brace":                  "{",
		"a brace and a line":       "{\n",
		"another program's JSON":   `{"format":"my own`,
		"its whole line":           `{"format":"my own 3","a":1}` + "\n1\n",
		"a long one without end":   `{"format":"` + strings.Repeat("x", 5000),
		"the word alone":           `{"format":`,
		"our header, cut early":    string(header[:40]),
		"another version":          key(`{"format":"svmnb search 99","key":"KEY"}` + "\n"),
		"another search":           `{"format":"svmnb search 2","key":"00"}` + "\n",
		"another one of before":    `{"format":"svmnb search 1","key":"00"}` + "\n",
		"no end of the line":       key(`{"format":"svmnb search 2","key":"KEY"}`),
		"an array":                 "[1, 2]\n",
		"a picture":                "\x89PNG\r\n\x1a\n",
		"UTF-16":                   "\xff\xfe{\x00",
		"nothing but an end":       "\n",
		"our header in the middle": "x" + string(header) + "\n",
	} {
		file := filepath.Join(dir, "file")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := searchOf(file).Fit(context.Background())
		if err == nil || !strings.Contains(err.Error(), "choose another name") || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v", name, err)
		}
		if after, _ := os.ReadFile(file); string(after) != text {
			t.Errorf("%s: the file was %.60q and is %.60q", name, text, after)
		}
	}
	for _, path := range []string{dir, os.DevNull} {
		if _, err := searchOf(path).Fit(context.Background()); err == nil {
			t.Errorf("%s is no file of a search", path)
		}
	}
}

// A line that says anything else than the search has found is learnt again.
func TestSearchFileChanged(t *testing.T) {
	dir := t.TempDir()
	first := filepath.Join(dir, "first")
	want := found(t, searchOf(first))
	ours, err := os.ReadFile(first)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(ours, []byte("\n"))
	var e searchEntry
	if err := json.Unmarshal(lines[1], &e); err != nil {
		t.Fatal(err)
	}
	edit := func(change func(e *searchEntry)) []byte {
		e := e
		change(&e)
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		return append(text, '\n')
	}
	one := 0.125
	for name, line := range map[string][]byte{
		"the score":         edit(func(e *searchEntry) { e.Score = &one }),
		"the fold":          edit(func(e *searchEntry) { e.Fold = (e.Fold + 1) % 3 }),
		"the place":         edit(func(e *searchEntry) { e.At = map[string]float64{"C": 10 + 1 - e.At["C"]} }),
		"a failure instead": edit(func(e *searchEntry) { e.Score, e.Error = nil, "no" }),
		"a failure besides": edit(func(e *searchEntry) { e.Error = "no" }),
		"no checksum":       edit(func(e *searchEntry) { e.Sum = "" }),
		"a wrong checksum":  edit(func(e *searchEntry) { e.Sum = strings.Repeat("0", 32) }),
	} {
		file := filepath.Join(dir, "file")
		text := bytes.Join([][]byte{lines[0], line, bytes.Join(lines[2:], nil)}, nil)
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
		f := found(t, searchOf(file))
		if f.Fitted != 1 || f.Changed != 1 {
			t.Errorf("%s: %d folds were learnt again, want 1; %d lines count as changed", name, f.Fitted, f.Changed)
		}
		if a, b := f.Table().String(), want.Table().String(); a != b {
			t.Errorf("%s:\n%s\nand not\n%s", name, a, b)
		}
		if hints := strings.Join(f.Hints(), " "); !strings.Contains(hints, "Of the lines of the file, 1 are not") {
			t.Errorf("%s: the hints are %q", name, hints)
		}
		if f := found(t, searchOf(file)); f.Fitted != 0 {
			t.Errorf("%s: %d folds were learnt a second time", name, f.Fitted)
		}
	}

	// Cut after any number of bytes in its last two lines, it goes on, and ends the same.
	for k := len(ours); k > len(ours)-2*len(lines[1]); k -= 7 {
		file := filepath.Join(dir, "cut")
		if err := os.WriteFile(file, ours[:k], 0o644); err != nil {
			t.Fatal(err)
		}
		f := found(t, searchOf(file))
		if f.Fitted > 2 || f.Changed != 0 || f.Table().String() != want.Table().String() {
			t.Errorf("cut at %d of %d bytes: %d folds learnt, %d lines changed", k, len(ours), f.Fitted, f.Changed)
		}
	}
}

// A file of the first version, whose lines have no checksums, is taken over.
func TestSearchFileOfVersion1(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	want := found(t, searchOf(file))
	ours, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var old bytes.Buffer
	for i, line := range bytes.SplitAfter(bytes.Replace(ours, []byte(searchFormat), []byte(searchFormat1), 1), []byte("\n")) {
		if at := bytes.Index(line, []byte(`,"sum"`)); at > 0 && i > 0 {
			line = append(line[:at:at], "}\n"...)
		}
		old.Write(line)
	}
	old.WriteString(`{"at":{"C":1},"fo`) // a line that was cut
	if err := os.WriteFile(file, old.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if f := found(t, searchOf(file)); f.Fitted != 0 || f.Changed != 0 || f.Table().String() != want.Table().String() {
			t.Errorf("%d folds learnt, %d lines changed:\n%s", f.Fitted, f.Changed, f.Table().String())
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(text, []byte(`{"format":"`+searchFormat+`"`)) || bytes.Count(text, []byte(`"sum"`)) != 6 {
		t.Errorf("the file is\n%s", text)
	}
}

// Two searches do not write one file at a time.
func TestSearchFileInUse(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	s := searchOf(file)
	log, err := openLog(s, s.learner.Data())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Fit(context.Background()); err == nil || !strings.Contains(err.Error(), "in use by another search") {
		t.Errorf("a second search: %v", err)
	}
	log.close()
	found(t, s)
}
