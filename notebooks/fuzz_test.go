package main

import (
	"encoding/json"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// written matches a tag as the runner's Markdown writes it, and nothing that a browser
// would read otherwise.
var written = regexp.MustCompile(`^</?([a-z][a-z0-9]*)((?: [a-z-]+(?:="[^"<>]*")?)*) ?/?>`)

var writtenAttribute = regexp.MustCompile(` ([a-z-]+)(?:="([^"<>]*)")?`)

// running says what in a page could run or load something, or "".
func running(page string) string {
	for i := strings.IndexByte(page, '<'); i >= 0; i = strings.IndexByte(page, '<') {
		page = page[i:]
		m := written.FindStringSubmatch(page)
		if m == nil {
			return "no tag of ours: " + page[:min(80, len(page))]
		}
		if !slices.Contains(textTags, m[1]) && m[1] != "input" { // of a list of tasks
			return "the tag " + m[0]
		}
		for _, a := range writtenAttribute.FindAllStringSubmatch(m[2], -1) {
			value := html.UnescapeString(a[2])
			switch {
			case a[1] == "href" && strings.Contains(value, ":") && regexp.MustCompile(`(?i)^[\x00-\x20]*(javascript|vbscript|data|file)[\x00-\x20]*:`).MatchString(strings.Map(func(r rune) rune {
				if r <= ' ' {
					return -1
				}
				return r
			}, value)):
				return "the link " + m[0]
			case a[1] == "src" && strings.HasPrefix(value, "data:") && !isImage(value):
				return "the image " + m[0]
			case strings.HasPrefix(a[1], "on"), a[1] == "style" && m[1] != "td" && m[1] != "th", a[1] == "srcdoc", a[1] == "formaction":
				return "the attribute " + m[0]
			}
		}
		page = page[len(m[0]):]
	}
	return ""
}

// Whatever the Markdown: nothing runs, and nothing panics.
func FuzzRunnerMarkdown(f *testing.F) {
	for _, name := range hostile[:len(hostile)-1] {
		f.Add(name)
		f.Add("# " + name + "\n\n| " + name + " | b |\n|--|--|\n| x | y |\n\n- [ ] " + name)
	}
	f.Add("$a$ `$b$` $$c$$ \\begin{align}x\\end{align} <b id=\"x\">\n```go\nx\n```\n<!-- c --> <a href=\"x:y\">")
	f.Fuzz(func(t *testing.T, source string) {
		for _, dir := range []string{"", "testdata"} {
			page, _, err := newMarkdown().render(source, dir, nil)
			if err != nil {
				t.Fatal(err)
			}
			if found := running(page); found != "" {
				t.Errorf("%q: %s in\n%s", source, found, page)
			}
		}
		if found := acts.FindString(outputHTML(source)); found != "" && !strings.Contains(source, "svm-") && !strings.Contains(source, "svmtable-") {
			t.Errorf("%q: %s as an output", source, found)
		}
		if found := acts.FindString(rawHTML(source)); found != "" {
			t.Errorf("%q: %s as raw HTML", source, found)
		}
	})
}

// A notebook is read or refused; what was read is written, read again the same, planned,
// compared with itself, and rendered.
func FuzzNotebook(f *testing.F) {
	if data, err := os.ReadFile(filepath.Join("testdata", "basic.ipynb")); err == nil {
		f.Add(data)
	}
	f.Add([]byte("\ufeff{\"nbformat\":4,\"cells\":[{\"cell_type\":\"code\",\"source\":[\"a\\r\\n\",\"%% check 1.1\"],\"outputs\":[{\"output_type\":\"stream\",\"text\":\"x\"}]}]}"))
	f.Add([]byte(`{"nbformat":4,"metadata":{},"cells":[{"cell_type":"markdown","source":"![x](attachment:x)","attachments":{"x":{"image/png":"AAAA"}}},{"cell_type":"code","source":1,"outputs":[{"output_type":"display_data","data":{"image/png":"<","text/html":["<b>",1]}},{"output_type":"error","traceback":[1]}]}]}`))
	f.Add([]byte("\xff\xfe{\x00}\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		nb, err := parseNotebook(data)
		if err != nil {
			return
		}
		for _, s := range (&task{}).plan(nb) {
			together([]string{s.source})
			signed(s.source, "labx", "secret")
		}
		exercisesOf(nb)
		vacuous(nb)
		if _, _, err := renderNotebook(newMarkdown(), nb, ""); err != nil && !strings.Contains(err.Error(), "is not an object") {
			t.Errorf("no page: %v", err)
		}
		once, err := nb.encode()
		if err != nil {
			t.Fatalf("it cannot be written: %v", err)
		}
		again, err := parseNotebook(once)
		if err != nil {
			t.Fatalf("it cannot be read again: %v\n%s", err, once)
		}
		if diffs, err := standard.compare(nb, again); err == nil && len(diffs) > 0 {
			t.Errorf("it differs from itself: %v", diffs[0])
		}
		if twice, err := again.encode(); err != nil || string(twice) != string(once) {
			t.Errorf("written twice it is another: %v", err)
		}
	})
}

// Solutions are read or refused, and of what is read every block is one that was written.
func FuzzSolutions(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("solutions", "*.md"))
	if err != nil || len(files) == 0 {
		f.Fatal("there are no solutions", err)
	}
	for _, file := range files[:2] {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("## Exercise 1.1\n```go right\nx\n```\n~~~ go wrong\n\ty\n~~~\n### z\n```go wrong"))
	f.Fuzz(func(t *testing.T, data []byte) {
		found, _ := parseSolutions(data)
		for name, s := range found {
			if !strings.Contains(string(data), name) || len(s.right)+len(s.wrong) > strings.Count(string(data), "go") {
				t.Errorf("%q: %d right and %d wrong answers to %q", data, len(s.right), len(s.wrong), name)
			}
		}
	})
}

// Any two texts compare without a panic, a text is the same as itself, and a report of
// check has a line for each notebook whatever its name.
func FuzzCompare(f *testing.F) {
	f.Add("1.5 s, 2.25e-3", "1.6 s, 2.2500001e-3")
	f.Add("svm-0123456789 0xabcdef 2020-01-02 12:30:01.5", "−1.0 .5 1e999")
	f.Add("a\nb  ✓  2 of 2", "\x1b[2J\u202e")
	f.Fuzz(func(t *testing.T, a, b string) {
		standard.text(a, b)
		standard.value("image/png", a, b)
		if x, y, differ := standard.text(a, a); differ {
			t.Errorf("%q differs from itself: %q and %q", a, x, y)
		}
		var table strings.Builder
		writeTable(&table, []graded{{File: a, Of: 1}, {File: b, Problems: []string{a + b}}})
		lines := strings.Split(table.String(), "\n")
		if len(lines) < 5 || !strings.HasPrefix(lines[1], shown(a)) || !strings.HasPrefix(lines[2], shown(b)) || lines[3] != "" {
			t.Errorf("%q and %q write the table\n%s", a, b, table.String())
		}
		for _, line := range lines[7:] {
			if line != "" && !strings.HasPrefix(line, "    ") {
				t.Errorf("%q and %q write the line %q", a, b, line)
			}
		}
		if _, err := json.Marshal(graded{File: a}); err != nil {
			t.Error(err)
		}
	})
}
