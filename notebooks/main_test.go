package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// shared is a folder for what several tests use, until all have ended.
var shared string

// TestMain lets the test's binary be the guard of a learner's program.
func TestMain(m *testing.M) {
	guard()
	var err error
	if shared, err = os.MkdirTemp("", "svmnb-notebooks-"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(shared)
	os.Exit(code)
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"help"}, {"-h"}, {"--help"}} {
		var out bytes.Buffer
		if err := command(t.Context(), args, &out, io.Discard); err != nil || !strings.Contains(out.String(), "go run ./notebooks [command]") {
			t.Errorf("%q: %v, %q", args, err, out.String())
		}
	}
}

func TestCommandErrors(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
		return file
	}
	good, twin, broken := write("a/good.ipynb", sample), write("b/good.ipynb", sample), write("broken.ipynb", "{")
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"jump"}, `no command "jump"`},
		{[]string{"run"}, "which notebooks"},
		{[]string{"run", filepath.Join(dir, "none.ipynb")}, "none.ipynb"},
		{[]string{"run", broken}, "not a notebook"},
		{[]string{"run", good, "-o", filepath.Dir(good)}, "would be overwritten"},
		{[]string{"run", "-o", dir, good, twin}, "would both be written"},
		{[]string{"run", "-nonsense", good}, "failed"},
		{[]string{"install", "now"}, "no arguments"},
		{[]string{"uninstall", "now"}, "no arguments"},
		{[]string{"bench", "x"}, "no files"},
	} {
		if err := command(t.Context(), test.args, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: error %v, want it to say %q", test.args, err, test.want)
		}
	}
}

func TestParseTakesFlagsAnywhere(t *testing.T) {
	flags := flag.NewFlagSet("x", flag.ContinueOnError)
	o := flags.String("o", "", "")
	files, err := parse(flags, []string{"a", "-o", "dir", "b", "c"})
	if err != nil || *o != "dir" || strings.Join(files, " ") != "a b c" {
		t.Errorf("files %q, -o %q, %v", files, *o, err)
	}
}

func TestRunWritesNotebookAndPage(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the real kernel, which -short leaves out")
	}
	input, err := os.ReadFile("testdata/basic.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	var stdout, stderr bytes.Buffer
	if err := command(t.Context(), []string{"run", "testdata/basic.ipynb", "-o", out}, &stdout, &stderr); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	notebook, page := filepath.Join(out, "basic.ipynb"), filepath.Join(out, "basic.html")
	if want := notebook + "\n" + page + "\n"; stdout.String() != want {
		t.Errorf("printed %q, want %q", stdout.String(), want)
	}
	if after, _ := os.ReadFile("testdata/basic.ipynb"); !bytes.Equal(input, after) {
		t.Error("the input changed")
	}
	nb, err := readNotebook(notebook)
	if err != nil {
		t.Fatal(err)
	}
	if got := stdoutOf(t, codeCells(nb)[1]); !strings.HasPrefix(got, "area 12.566") {
		t.Errorf("the executed notebook says %q", got)
	}
	text, err := os.ReadFile(page)
	if err != nil || !bytes.Contains(text, []byte("area 12.566")) || !bytes.Contains(text, []byte("<b>100%</b>")) || bytes.Contains(text, []byte("<b>10%</b>")) {
		t.Errorf("the page lacks outputs, or has outdated ones: %v", err)
	}

	// The committed outputs of a notebook hold until one of them changes.
	stdout.Reset()
	if err := command(t.Context(), []string{"test", notebook}, &stdout, io.Discard); err != nil || !strings.HasPrefix(stdout.String(), "ok") {
		t.Errorf("test: %v\n%s", err, stdout.String())
	}
	changed, err := os.ReadFile(notebook)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(notebook, bytes.Replace(changed, []byte("row 1 1.000"), []byte("row 1 1.002"), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	stdout.Reset()
	if err := command(t.Context(), []string{"test", notebook}, &stdout, io.Discard); !errors.Is(err, errReported) || !strings.Contains(stdout.String(), "row 1 1.002") {
		t.Errorf("test of changed outputs: %v\n%s", err, stdout.String())
	}
}

func TestFailedRunIsWrittenButNotInPlace(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the real kernel, which -short leaves out")
	}
	dir := t.TempDir()
	file, out := filepath.Join(dir, "bad.ipynb"), filepath.Join(dir, "out")
	if err := code("%%\nfmt.Println(\"before\")", "%%\npanic(\"ouch\")").write(file); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(file)
	err := command(t.Context(), []string{"run", "-inplace", "-o", out, file}, io.Discard, io.Discard)
	var f *failure
	if !errors.As(err, &f) || f.cell != 2 || !strings.Contains(err.Error(), "ouch") {
		t.Errorf("error %v, want the failure of cell 2", err)
	}
	if after, _ := os.ReadFile(file); !bytes.Equal(before, after) {
		t.Error("a failed run changed the notebook in place")
	}
	if page, err := os.ReadFile(filepath.Join(out, "bad.html")); err != nil || !bytes.Contains(page, []byte("ouch")) {
		t.Errorf("the page does not show the error: %v", err)
	}
}

func TestKernelSpec(t *testing.T) {
	data := t.TempDir()
	k := &kernel{root: "/checkout", bin: "/cache/bin", gopls: "/cache/gopls", goroot: "/go"}
	if _, err := removeSpec(data); err == nil {
		t.Error("removed a kernel that is not installed")
	}
	dir, err := k.writeSpec(data)
	if err != nil || dir != filepath.Join(data, "kernels", "svmnb") {
		t.Fatalf("wrote to %s, %v", dir, err)
	}
	content, err := os.ReadFile(filepath.Join(dir, "kernel.json"))
	if err != nil {
		t.Fatal(err)
	}
	var spec kernelSpec
	if err := json.Unmarshal(content, &spec); err != nil {
		t.Fatal(err)
	}
	if spec.InterruptMode != "message" || spec.Language != "go" || spec.Env["GOPROXY"] != "off" ||
		!strings.HasPrefix(spec.Env["PATH"], "/cache/bin") || spec.Argv[2] != "{connection_file}" || spec.Argv[4] != "-go_work=/checkout" {
		t.Errorf("spec %s", content)
	}
	relayed := *k
	relayed.relay = "/cache/relay"
	if _, err := relayed.writeSpec(data); err != nil {
		t.Fatal(err)
	}
	if content, err = os.ReadFile(filepath.Join(dir, "kernel.json")); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, &spec); err != nil {
		t.Fatal(err)
	}
	if strings.Join(spec.Argv[:5], " ") != "/cache/relay {connection_file} /cache/bin/gonb --kernel {connection_file}" {
		t.Errorf("spec with a relay %s", content)
	}
	if err := os.WriteFile(filepath.Join(dir, "kernel.json"), []byte(`{"display_name":"Another"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := removeSpec(data); err == nil {
		t.Error("removed another kernel")
	}
	if _, err := k.writeSpec(data); err != nil {
		t.Fatal(err)
	}
	if _, err := removeSpec(data); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there", dir)
	}
}

func TestJupyterData(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_DATA_HOME", "")
	t.Setenv("JUPYTER_DATA_DIR", "")
	want := map[string]string{"darwin": filepath.Join(home, "Library", "Jupyter")}[runtime.GOOS]
	if runtime.GOOS == "linux" {
		want = filepath.Join(home, ".local", "share", "jupyter")
	}
	if got, err := jupyterData(); err != nil || want != "" && got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	if runtime.GOOS == "linux" {
		t.Setenv("XDG_DATA_HOME", "/data")
		if got, _ := jupyterData(); got != "/data/jupyter" {
			t.Errorf("with XDG_DATA_HOME: %q", got)
		}
	}
	t.Setenv("JUPYTER_DATA_DIR", filepath.Join(home, "own"))
	if got, _ := jupyterData(); got != filepath.Join(home, "own") {
		t.Errorf("with JUPYTER_DATA_DIR: %q", got)
	}
}

func TestLabWithoutJupyter(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	err := command(t.Context(), []string{"lab"}, io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "python3 -m pip install --user jupyterlab") {
		t.Errorf("error %v, want it to name the command that installs one", err)
	}
}

func TestMedian(t *testing.T) {
	for _, test := range []struct {
		times []time.Duration
		want  time.Duration
	}{
		{[]time.Duration{3}, 3},
		{[]time.Duration{9, 1, 5}, 5},
		{[]time.Duration{8, 2, 100, 4}, 6},
	} {
		if got := median(test.times); got != test.want {
			t.Errorf("median of %v is %v, want %v", test.times, got, test.want)
		}
	}
}

func TestLabelIsOneColumn(t *testing.T) {
	for source, want := range map[string]string{
		"%%\n\tx := 1\ny":                       "x := 1",
		"import (\n\"fmt\"\n)":                  "imports",
		"import \"fmt\"\nx()":                   "x()",
		"import (\n\"fmt\"\n)\n\n// area\nfunc": "// area",
		"%env A b":                              "%env A b",
		"":                                      "",
		strings.Repeat("ü", 80):                 strings.Repeat("ü", 59) + "…",
	} {
		got := label(source)
		if strings.TrimRight(got, " ") != want || len([]rune(got)) != 60 {
			t.Errorf("%q is shown as %q, want %q in 60 columns", source, got, want)
		}
	}
}
