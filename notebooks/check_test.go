package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/notebooks/lab"
)

// handedOut is a notebook of two exercises; the second is about a file.
var handedOut = []string{
	"imports\nimport (\n\t\"os\"\n\t\"strings\"\n\n\t\"github.com/svmnb/svmnb/notebooks/lab\"\n)",
	"exercise-1-1\nvar a = lab.Todo",
	"check-1-1\n%% check 1.1\nlab.Check(\"1.1\", lab.Near(\"a\", a, 3, 1e-9, \"Count.\"))",
	"exercise-1-2\nfunc words(s string) int { return 0 }",
	"check-1-2\n%% check 1.2\ntext, _ := os.ReadFile(\"text.txt\")\nlab.Check(\"1.2\", lab.Equal(\"words\", words(string(text)), 4, \"Count.\"), lab.Try(\"of nothing\", func() bool { return words(\"\") == 0 }, \"Nothing has no words.\"))",
}

// handedIn is the notebook with some of its cells replaced, each by its id;
// others are put at the end, and an empty one is a cell that was deleted.
func handedIn(cells ...string) *notebook {
	var list []string
	for _, given := range handedOut {
		id, _, _ := strings.Cut(given, "\n")
		for i, c := range cells {
			if name, source, _ := strings.Cut(c, "\n"); name == id {
				given = c
				cells = append(append([]string{}, cells[:i]...), cells[i+1:]...)
				if source == "" {
					given = ""
				}
				break
			}
		}
		if given != "" {
			list = append(list, given)
		}
	}
	return identified(append(list, cells...)...)
}

const (
	rightA     = "exercise-1-1\nvar a = 3.0"
	rightWords = "exercise-1-2\nfunc words(s string) int { return len(strings.Fields(s)) }"
	// forged is a report that nobody has earned.
	forged = `gonbui.SendData(&protocol.DisplayData{Data: map[protocol.MIMEType]any{"application/vnd.svmnb.check+json": ` +
		"`{\"exercise\":\"1.1\",\"passed\":true,\"tests\":[{\"what\":\"a\",\"state\":\"passed\"}]}`" + `}})`
	forgery = "imports\nimport (\n\t\"os\"\n\t\"strings\"\n\n\t\"github.com/janpfeifer/gonb/gonbui\"\n\t\"github.com/janpfeifer/gonb/gonbui/protocol\"\n\t\"github.com/svmnb/svmnb/notebooks/lab\"\n)"
)

func encoded(nb *notebook) string {
	data, err := nb.encode()
	if err != nil {
		panic(err) // a notebook of the test's own
	}
	return string(data)
}

// windows is the notebook with lines that end as Windows ends them.
func windows(nb *notebook) *notebook {
	for _, c := range nb.cells {
		c.raw["source"] = strings.ReplaceAll(c.source(), "\n", "\r\n")
	}
	return nb
}

func TestCheckCommand(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the real kernel, which -short leaves out")
	}
	dir := t.TempDir()
	original := filepath.Join(dir, "given", "lab.ipynb")
	class := filepath.Join(dir, "class")
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	trace := "svmnb-" + filepath.Base(filepath.Dir(dir)) // a file that nobody has
	err = errors.Join(os.MkdirAll(filepath.Dir(original), 0o755),
		handedIn().write(original), os.WriteFile(filepath.Join(dir, "given", "text.txt"), []byte("four words are here"), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	apart := runtime.GOOS == "linux" && canBeApart() == nil
	tests := []struct {
		name, file string
		nb         *notebook
		link       string // where the file leads
		want       string // the marks
		problem    string // a part of the problems; empty for none
	}{
		{name: "right", nb: handedIn(rightA, rightWords), want: "✓✓"},
		{name: "as given", nb: handedIn(), want: "……"},
		{name: "wrong", nb: handedIn("exercise-1-1\nvar a = 4.0", "exercise-1-2\nfunc words(s string) int { return len(s) }"), want: "✗✗"},
		{name: "panics", nb: handedIn(rightA, "exercise-1-2\nfunc words(s string) int { return 4 / len(s) * 5 - 1 + 4 % len(s[:4]) - 3 }"), want: "✓✗"},
		{name: "does not compile", nb: handedIn("exercise-1-1\nvar a = ", rightWords), want: "!✓", problem: "code cell 2: "},
		{name: "exits", nb: handedIn("exercise-1-1\nvar a = func() float64 { os.Exit(7); return 3 }()", rightWords), want: "⏹✓", problem: "exit status 7"},
		{name: "prints", nb: handedIn("exercise-1-1\nvar a = func() float64 { s := strings.Repeat(`x`, 1<<20); for range 20 { fmt.Println(s) }; return 3 }()", rightWords), want: "⏹✓", problem: "prints more than 8 MB"},
		{name: "kills the kernel", nb: handedIn("exercise-1-1\nvar a = func() float64 { p, _ := os.FindProcess(os.Getppid()); p.Kill(); return 3 }()", rightWords), want: "⏹✓", problem: "the kernel died"},
		{name: "has its own check", nb: handedIn(forgery, "check-1-1\n%% check 1.1\n"+forged, rightWords), want: "…✓"},
		{name: "forges beforehand", nb: handedIn(forgery, "exercise-1-1\nvar a = func() float64 { "+forged+"; return 1 }()", rightWords), want: "✗✓"},
		{name: "deleted a check", nb: handedIn(rightA, rightWords, "check-1-1\n"), want: "✓✓"},
		{name: "more checks", nb: handedIn(rightA, rightWords, "check-1-1\n%% check 1.1\n//", "mine\n%% check 9.9\nlab.Check(`9.9`, lab.True(`me`, true, ``))", "again\n%% check 1.1\nlab.Check(`1.1`, lab.True(`me`, false, ``))"), want: "✓✓"},
		{name: "statements and shell", nb: handedIn(rightA, rightWords, "mine\n!touch "+dir+"/shell\n%%\nos.WriteFile(`"+dir+"/statement`, nil, 0o644)"), want: "✓✓"},
		{name: "writes", nb: handedIn("exercise-1-1\nvar a = func() float64 { h, _ := os.UserHomeDir(); os.WriteFile(h+`/"+trace+"`, nil, 0o644); os.WriteFile(`"+home+"/"+trace+"-absolute`, nil, 0o644); os.WriteFile(`"+trace+"`, nil, 0o644); return 3 }()", rightWords), want: "✓✓"},
		{name: "panics at once", nb: handedIn("exercise-1-1\nvar a = []float64{}[len(os.Args)*7]", rightWords), want: "!✓", problem: "index out of range"},
		{name: "panics in its check", nb: handedIn(rightA, "exercise-1-2\nfunc words(s string) int { panic(`no words`) }"), want: "✓!", problem: "no words"},
		{name: "of another type", nb: handedIn("exercise-1-1\nvar a = 3", "exercise-1-2\nfunc words(s string) string { return s }"), want: "✓!", problem: "code cell 5: "},
		{name: "an untyped constant", nb: handedIn("exercise-1-1\nconst a = 3", rightWords), want: "✓✓"},
		{name: "in single precision", nb: handedIn("exercise-1-1\nvar a float32 = 3", rightWords), want: "✓✓"},
		{name: "ends without an error", nb: handedIn("exercise-1-1\nvar a = func() float64 { os.Exit(0); return 3 }()", rightWords), want: "⏹✓", problem: "ended before its time"},
		{name: "ends every program", nb: handedIn("mine\nfunc init() { os.Exit(0) }", rightA, rightWords), want: "✓✓", problem: "ended before its time"},
		{name: "ends its check", nb: handedIn(rightA, "exercise-1-2\nfunc words(s string) int { os.Exit(0); return 4 }"), want: "✓⏹", problem: "ended before its time"},
		{name: "forges and ends", nb: handedIn(forgery, rightA, "exercise-1-2\nfunc words(s string) int { "+strings.ReplaceAll(forged, "1.1", "1.2")+"; gonbui.Sync(); os.Exit(0); return 4 }"), want: "✓⏹", problem: "ended before its time"},
		{name: "forges another", nb: handedIn(forgery, "exercise-1-1\nvar a = 4.0", "exercise-1-2\nfunc words(s string) int { "+forged+"; return len(strings.Fields(s)) }"), want: "✗✓"},
		{name: "forges and silences the check", nb: handedIn(forgery, "exercise-1-1\nvar a = func() float64 { "+forged+"; gonbui.Sync(); gonbui.IsNotebook = false; return 1 }()", rightWords), want: "--"},
		{name: "checks itself", nb: handedIn(forgery, "exercise-1-1\nvar a = func() float64 { lab.Check(`1.1`, lab.True(`a`, true, ``)); gonbui.IsNotebook = false; return 1 }()", rightWords), want: "--"},
		{name: "declares a lab", nb: handedIn("imports\nimport (\n\t\"os\"\n\t\"strings\"\n)\ntype fake struct{}\nvar lab fake\nfunc (fake) Near(...any) bool { return true }\nfunc (fake) Check(string, ...any) {}\nfunc (fake) CheckFor(token, name string, _ ...any) { println(token) }", "exercise-1-1\nvar a = 1.0", rightWords), want: "✗✓"},
		{name: "reads the environment", nb: handedIn("exercise-1-1\nvar a = func() float64 { if strings.Contains(strings.Join(os.Environ(), ` `), `token-of-the-lecturer`) { return 4 }; return 3 }()", rightWords), want: "✓✓"},
		{name: "reads others' environment", nb: handedIn("exercise-1-1\nvar a = func() float64 { all, _ := filepath.Glob(`/proc/[0-9]*/environ`); for _, f := range all { if b, _ := os.ReadFile(f); strings.Contains(string(b), `token-of-the-lecturer`) { return 4 } }; return 3 }()", rightWords), want: "✓✓"},
		{name: "leaves a process", nb: handedIn("exercise-1-1\nvar a = func() float64 { c := exec.Command(`setsid`, `sh`, `-c`, `sleep 4242.4242 & sleep 4242.4242`); c.Start(); return 3 }()", rightWords), want: "✓✓"},
		{name: "deletes its folder", nb: handedIn("exercise-1-1\nvar a = func() float64 { d, _ := os.Getwd(); os.RemoveAll(d); return 3 }()", "exercise-1-2\nfunc words(s string) int { return len(strings.Fields(s)) }"), want: map[bool]string{true: "✓✓", false: "✓…"}[apart]}, // alone, it cannot
		{name: "forges a row", nb: handedIn("exercise-1-1\nvar a = func() float64 { println(\"x\\nforged/row.ipynb  ✓  ✓  2 of 2\\r\\x1b[2J\"); os.Exit(3); return 3 }()", rightWords), want: "⏹✓", problem: "exit status 3"},
		{name: "lines of Windows", nb: windows(handedIn(rightA, rightWords)), want: "✓✓"},
		{name: "a byte order mark", file: "\ufeff" + encoded(handedIn(rightA, rightWords)), want: "✓✓"},
		{name: "in UTF-16", file: "\xff\xfe{\x00}\x00", want: "--", problem: "UTF-16"},
		{name: "large", file: strings.Repeat("x", largestNotebook+1), want: "--", problem: "more than 64"},
		{name: "a link", link: "/etc/passwd", want: "--", problem: "it is a link"},
		{name: "an endless link", link: "/dev/zero", want: "--", problem: "it is a link"},
		{name: "a\nforged/lab.ipynb  ✓  ✓  2 of 2\nrow", nb: handedIn(), want: "……"},
		{name: "not a notebook", file: "{", want: "--", problem: "not a notebook"},
		{name: "no checks", nb: identified("x\nvar b = 1"), want: "!!", problem: "undefined: a"},
	}
	if runtime.GOOS == "linux" {
		tests = append(tests, struct {
			name, file string
			nb         *notebook
			link       string
			want       string
			problem    string
		}{name: "eats memory", nb: handedIn("exercise-1-1\nvar a = func() float64 { var all [][]byte; for { b := make([]byte, 64<<20); for i := range b { b[i] = 1 }; all = append(all, b) } }()", rightWords), want: "⏹✓", problem: "exit status 2"}, struct {
			name, file string
			nb         *notebook
			link       string
			want       string
			problem    string
		}{name: "starts many", nb: handedIn("exercise-1-1\nvar a = func() float64 { for range 2000 { exec.Command(`sleep`, `4242.4242`).Start() }; select {} }()", rightWords), want: "⏹✓", problem: "more than 256 processes"})
	}
	for _, test := range tests {
		file := filepath.Join(class, test.name, "lab.ipynb")
		err := os.MkdirAll(filepath.Dir(file), 0o755)
		switch {
		case test.nb != nil:
			err = errors.Join(err, test.nb.write(file))
		case test.link != "":
			err = errors.Join(err, os.Symlink(test.link, file))
		default:
			err = errors.Join(err, os.WriteFile(file, []byte(test.file), 0o644))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("SVMNB_TEST_TOKEN", "token-of-the-lecturer")
	var out bytes.Buffer
	results := filepath.Join(dir, "results.json")
	if err := command(t.Context(), []string{"check", class, "-against", original, "-timeout", "1m", "-memory", "512", "-json", results}, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(results)
	if err != nil {
		t.Fatal(err)
	}
	var all []graded
	if err := json.Unmarshal(data, &all); err != nil || len(all) != len(tests) {
		t.Fatalf("%d notebooks, %v", len(all), err)
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var g graded
			for _, g = range all {
				if g.File == filepath.Join(class, test.name, "lab.ipynb") {
					break
				}
			}
			marks, passed := "", 0
			for _, e := range g.Exercises {
				marks += stateMarks[e.State]
				if e.State == lab.Passed {
					passed++
				}
			}
			said := strings.Join(g.Problems, "; ")
			if marks != test.want || g.Passed != passed || g.Of != len(g.Exercises) || !strings.Contains(said, test.problem) || (said == "") != (test.problem == "") {
				t.Errorf("%q, %d of %d, problems %q; want %q and %q", marks, g.Passed, g.Of, said, test.want, test.problem)
			}
			if want := fmt.Sprintf("%d of %d", g.Passed, g.Of); !strings.Contains(lineOf(out.String(), shown(g.File)), want) {
				t.Errorf("the table says %q, want %q", lineOf(out.String(), shown(g.File)), want)
			}
		})
	}
	if line := lineOf(out.String(), "forged/"); line != "" {
		t.Errorf("a learner wrote a row: %q", line)
	}
	if runtime.GOOS == "linux" {
		if ps, err := exec.Command("ps", "-eo", "args").Output(); err == nil && strings.Contains(string(ps), "sleep 4242.4242") {
			t.Error("a learner's process lives on")
		}
	}
	absolute := filepath.Join(home, trace+"-absolute")
	if _, err := os.Stat(absolute); err == nil {
		os.Remove(absolute)
		if apart {
			t.Error("a learner's notebook wrote into the lecturer's home")
		}
	}
	for _, name := range []string{filepath.Join(home, trace), filepath.Join(class, "writes", trace), filepath.Join(filepath.Dir(original), trace), filepath.Join(dir, "shell"), filepath.Join(dir, "statement")} {
		if _, err := os.Stat(name); err == nil {
			t.Errorf("a learner's notebook wrote %s", name)
			os.Remove(name)
		}
	}
}

func lineOf(text, begins string) string {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, begins) {
			return line
		}
	}
	return ""
}

func TestCheckStopsWhatHangs(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the real kernel, which -short leaves out")
	}
	dir := t.TempDir()
	file, original := filepath.Join(dir, "lab.ipynb"), filepath.Join(dir, "given.ipynb")
	nb := handedIn("exercise-1-1\nvar a = func() float64 { for { time.Sleep(time.Second) } }()", rightWords)
	if err := errors.Join(nb.write(file), handedIn().write(original), os.WriteFile(filepath.Join(dir, "text.txt"), []byte("four words are here"), 0o644)); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	// A busy machine needs some seconds for the cells that do not hang.
	if err := command(t.Context(), []string{"check", file, "-against", original, "-timeout", "8s"}, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	if line := lineOf(out.String(), file); !strings.Contains(line, "  ⏹    ✓    1 of 2") || !strings.Contains(out.String(), "code cell 2: timed out after 8s") {
		t.Errorf("got\n%s", out.String())
	}
}

// Without the original the learner's own checks count, the last of each; what
// one says of another exercise does not.
func TestCheckWithoutOriginal(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the real kernel, which -short leaves out")
	}
	dir := t.TempDir()
	file, slow := filepath.Join(dir, "lab.ipynb"), filepath.Join(dir, "slow", "lab.ipynb")
	own := identified("imports\nimport \"github.com/svmnb/svmnb/notebooks/lab\"",
		"check-1-1\n%% check 1.1\nlab.Check(`1.1`, lab.True(`a`, true, ``))",
		"again\n%% check 1.1\nlab.Check(`1.1`, lab.True(`a`, false, ``))",
		"check-1-2\n%% check 1.2\nlab.Check(`1.1`, lab.True(`a`, true, ``))")
	hanging := identified("hang\nvar a = func() int { time.Sleep(time.Hour); return 1 }()", "check-1-1\n%% check 1.1\nprintln(a)")
	if err := errors.Join(own.write(file), os.Mkdir(filepath.Dir(slow), 0o755), hanging.write(slow)); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{file}, file + "  ✗    -    0 of 2\n\n✓"},
		{[]string{slow, "-total", "2s"}, slow + ": code cell 1 to code cell 2: stopped after 2s in all\n"},
	} {
		var out bytes.Buffer
		if err := command(t.Context(), append([]string{"check"}, test.args...), &out, io.Discard); err != nil || !strings.Contains(out.String(), test.want) {
			t.Errorf("%q: %v\n%swant\n%s", test.args, err, out.String(), test.want)
		}
	}
}

func TestCheckErrors(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.ipynb")
	if err := code("x").write(file); err != nil {
		t.Fatal(err)
	}
	empty := t.TempDir()
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, "check which notebooks"},
		{[]string{empty}, "no notebooks in"},
		{[]string{filepath.Join(dir, "none.ipynb")}, "none.ipynb"},
		{[]string{file, "-memory", "10"}, "-memory 10"},
		{[]string{file, "-against", file}, "has no checks"},
		{[]string{file, "-against", filepath.Join(dir, "none.ipynb")}, "none.ipynb"},
	} {
		if err := command(t.Context(), append([]string{"check"}, test.args...), io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: error %v, want it to say %q", test.args, err, test.want)
		}
	}
}

func TestFindNotebooks(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.ipynb", "a/x.ipynb", "a/.ipynb_checkpoints/x.ipynb", ".hidden.ipynb", "a/notes.txt"} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	notes := filepath.Join(dir, "a", "notes.txt")
	ins, err := findHandIns([]string{dir, notes}, "")
	var got []string
	for _, in := range ins {
		got = append(got, in.file)
	}
	if want := []string{filepath.Join(dir, "a", "x.ipynb"), filepath.Join(dir, "b.ipynb"), notes}; err != nil || !slices.Equal(got, want) {
		t.Errorf("found %q, %v, want %q", got, err, want)
	}
}
