package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/svmnb/svmnb/internal/browsertest"
)

// docs/faq.md and testdata/mistakes.md are the tables of this test: under each heading, cells in
// blocks "go", the message of the last of them in a block "text", and cells that avoid the mistake.
var (
	faqHeading = regexp.MustCompile(`(?m)^###? (.+)$`)
	faqBlock   = regexp.MustCompile("(?ms)^```(go|text)\n(.*?)^```$")
)

// faqPackage is the package from outside that the page names. The test offers it in a module
// of its own under another path, so that nobody's module cache gets a false one.
const faqPackage, faqStandIn = "github.com/montanaflynn/stats", "example.org/svmnb/stats"

// Every mistake of the pages gets the message that is on the page, in the real kernel, and the
// cells that are given in its place run: what a message advises must be possible.
func TestMistakesAreExplained(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the real kernel, which -short leaves out")
	}
	t.Parallel()
	browsertest.Hurry(t, 3*time.Minute)
	k, err := builtKernel()
	if err != nil {
		t.Skip("needs the real kernel, which cannot be set up here: ", err)
	}
	cache, err := runGo(t.Context(), k.root, nil, "env", "GOMODCACHE")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { forgetModule(t, strings.TrimSpace(string(cache))) })
	if err := warmKernel(); err != nil {
		t.Fatal(err)
	}
	start := func(proxy string) *client {
		c, err := k.start(t.Context(), t.TempDir(), "SVMNB_GOPROXY="+proxy, "GOSUMDB=off", "GOFLAGS="+k.settings()["GOFLAGS"]+" -modcacherw")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.close)
		return c
	}
	offered := offerModule(t)

	for _, page := range []struct {
		file string
		want int
	}{{filepath.Join(k.root, "docs", "faq.md"), 40}, {filepath.Join("testdata", "mistakes.md"), 100}} {
		text, err := os.ReadFile(page.file)
		if err != nil {
			t.Fatal(err)
		}
		if mistakes := mistakesOf(t, start("file://"+filepath.ToSlash(offered)), string(text)); mistakes < page.want {
			t.Errorf("%s has %d mistakes, want %d", page.file, mistakes, page.want)
		}
	}

	offline := start("http://127.0.0.1:9") // where nobody listens
	for _, cell := range []struct{ source, says string }{
		{"!*go get " + faqStandIn, "Is there a network?"},
		{"!*go get " + faqStandIn + "@v0.7.1", ""},
		{"import \"" + faqStandIn + "\"\n%%\nfmt.Println(stats.Median([]float64{1, 2, 7}))", ""},
	} {
		if said, failed := faqRun(t, offline, cell.source); failed != (cell.says != "") || !strings.Contains(said, cell.says) {
			t.Errorf("without a network: failed %t in the cell\n%s\n\n%s", failed, cell.source, said)
		}
	}
}

// What a check and an output say about a mistake, in the real kernel. They do not fail, so the pages
// of TestMistakesAreExplained have not them.
func TestNotesInOutputs(t *testing.T) {
	c := realKernel(t)
	for _, step := range []struct{ source, want string }{
		{"import \"github.com/svmnb/svmnb/notebooks/lab\"\n\nvar printed = 3.0", ""},
		{"var printed = 3.5.", "ends too early"},
		{"%% check 0.1\nlab.Check(\"0.1\", lab.Near(\"what is printed\", printed, 3, 1e-9, \"\"))", "Exercise 0.1: right\n✓ what is printed\nCell [2] has failed, so its printed is not known. This check is about the printed before it."},
		{"var printed = 3,5", "decimal point: 3.5"},
		{"%% check 0.1\nlab.Check(\"0.1\", lab.Near(\"what is printed\", printed, 3, 1e-9, \"\"))", "Cell [4] has failed"},
		{"var printed = 3", ""},
		{"%% check 0.1\nlab.Check(\"0.1\", lab.Near(\"what is printed\", printed, 3, 1e-9, \"\"))", "Exercise 0.1: right\n✓ what is printed\n$"},
		{"%%\nvar t time.Time\nfmt.Println(t.Year)", "Brackets call it, such as t.Year()"},
		{"%%\nvar t time.Time\nfmt.Println(t.Year())\nfmt.Printf(\"%d\\n\", 2.5)", "1\n%!d(float64=2.5)\n[%d does not fit a value of type float64."},
	} {
		r := &recorder{special: hasSpecialLines(step.source), displays: map[string][]*output{}}
		if _, err := c.execute(t.Context(), strconv.Itoa(int(time.Now().UnixNano())), step.source, time.Minute, r.take); err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for _, o := range r.outputs {
			text.WriteString(stripANSI(o.text))
			if o.kind == "error" {
				text.WriteString(errorText(o))
			}
			if plain, ok := o.data["text/plain"].(string); ok {
				text.WriteString(plain)
			}
		}
		if text.WriteString("$"); !strings.Contains(text.String(), step.want) || step.want == "" && text.String() != "$" {
			t.Errorf("the cell\n%s\nsays %q, want %q", step.source, text.String(), step.want)
		}
	}
}

// mistakesOf runs the cells of a page and returns how many mistakes it has.
func mistakesOf(t *testing.T, c *client, text string) (mistakes int) {
	count := 0
	for section := range faqSections(text) {
		heading := faqHeading.FindStringSubmatch(section)
		blocks := faqBlock.FindAllStringSubmatch(section, -1)
		if len(blocks) == 0 {
			continue
		}
		name := "imports"
		if heading != nil {
			name = heading[1]
		}
		t.Run(name, func(t *testing.T) {
			first, told := count, ""
			for i, b := range blocks {
				if b[1] == "text" {
					if want := strings.TrimSpace(b[2]); told != want {
						t.Errorf("the message is\n%s\n\nand on the page\n%s", told, want)
					}
					mistakes++
					continue
				}
				source := strings.ReplaceAll(strings.Trim(b[2], "\n"), faqPackage, faqStandIn)
				got, failed := faqRun(t, c, source)
				count++
				// GoNB names the cell of a stack frame only if the frame arrives in one piece.
				for tries := 0; tries < 10 && strings.Contains(got, "Go: panic: ") && !strings.Contains(got, ", line "); tries++ {
					got, failed = faqRun(t, c, source)
					count++
					first++
				}
				told = strings.ReplaceAll(sinceCell(got, first), faqStandIn, faqPackage)
				if expected := i+1 < len(blocks) && blocks[i+1][1] == "text"; failed != expected {
					t.Errorf("failed: %t, want %t, in the cell\n%s\n\n%s", failed, expected, source, told)
				}
				if told != "" && (strings.Contains(told, "main.go") || strings.Contains(told, "gonb_")) {
					t.Errorf("the message names GoNB's files:\n%s", told)
				}
			}
		})
	}
	return mistakes
}

// faqSections yields the parts of the page that begin with a heading.
func faqSections(page string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		at := 0
		for _, h := range faqHeading.FindAllStringIndex(page, -1) {
			if !yield(page[at:h[0]]) {
				return
			}
			at = h[0]
		}
		yield(page[at:])
	}
}

// faqRun runs a cell and returns what it says about its failure. It interrupts a cell that
// prints "learning", once: that is the loop without an end.
func faqRun(t *testing.T, c *client, source string) (said string, failed bool) {
	t.Helper()
	r := &recorder{special: hasSpecialLines(source), displays: map[string][]*output{}}
	interrupted := false
	answer, err := c.execute(t.Context(), strconv.Itoa(int(time.Now().UnixNano())), source, time.Minute, func(m message) {
		r.take(m)
		if !interrupted && m.Header.Type == "stream" && strings.Contains(string(m.Content), "learning") {
			interrupted = true
			if err := c.send(c.control, "stop", "interrupt_request", struct{}{}); err != nil {
				t.Error(err)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	var parts []string
	for _, o := range r.outputs {
		switch text := stripANSI(o.text); {
		case o.kind == "error":
			parts = append(parts, errorText(o))
		case o.kind == "stream" && o.name == "stderr" && !strings.Contains(text, "goroutine "):
			parts = append(parts, regexp.MustCompile(`(?m)^(exit status \d+|signal: \w+)$`).ReplaceAllString(text, ""))
		}
	}
	return strings.TrimSpace(regexp.MustCompile(`\n\n+`).ReplaceAllString(strings.Join(parts, "\n"), "\n")), r.failed(answer) != ""
}

// sinceCell counts cells from the first one of a section, as the page does.
func sinceCell(text string, first int) string {
	return regexp.MustCompile(`[Cc]ell \[\d+\]`).ReplaceAllStringFunc(text, func(cell string) string {
		n, _ := strconv.Atoi(cell[len("cell [") : len(cell)-1])
		return fmt.Sprintf("%s%d]", cell[:len("cell [")], n-first)
	})
}

// offerModule writes the stand-in as a proxy for modules serves it, and returns the folder.
// https://go.dev/ref/mod#goproxy-protocol
func offerModule(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	versions := filepath.Join(dir, filepath.FromSlash(faqStandIn), "@v")
	if err := os.MkdirAll(versions, 0o755); err != nil {
		t.Fatal(err)
	}
	mod := "module " + faqStandIn + "\n\ngo 1.21\n"
	var content bytes.Buffer
	z := zip.NewWriter(&content)
	for name, text := range map[string]string{
		"go.mod":   mod,
		"stats.go": "package stats\n\nfunc Median(x []float64) (float64, error) { return x[len(x)/2], nil }\n",
	} {
		w, err := z.Create(faqStandIn + "@v0.7.1/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"list": []byte("v0.7.1\n"), "v0.7.1.info": []byte(`{"Version":"v0.7.1"}`), "v0.7.1.mod": []byte(mod), "v0.7.1.zip": content.Bytes(),
	} {
		if err := os.WriteFile(filepath.Join(versions, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// forgetModule removes the stand-in from the module cache.
func forgetModule(t *testing.T, cache string) {
	for _, dir := range []string{filepath.Join(cache, faqStandIn+"@v0.7.1"), filepath.Join(cache, "cache", "download", faqStandIn)} {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	}
}
