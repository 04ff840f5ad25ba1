package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"
)

var builtKernel = sync.OnceValues(func() (*kernel, error) {
	work, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	root, err := findCheckout(work)
	if err != nil {
		return nil, err
	}
	return buildKernel(context.Background(), root, false, os.Stderr)
})

// realKernel starts the pinned GoNB; it is built on first use.
func realKernel(t *testing.T) *client {
	t.Helper()
	if testing.Short() {
		t.Skip("needs the real kernel, which -short leaves out")
	}
	k, err := builtKernel()
	if err != nil {
		t.Fatal(err)
	}
	c, err := k.start(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.close)
	return c
}

// code makes a notebook of code cells.
func code(sources ...string) *notebook {
	nb := &notebook{raw: map[string]any{"nbformat": 4, "nbformat_minor": 5, "metadata": map[string]any{}}}
	var list []any
	for _, s := range sources {
		c := &cell{map[string]any{"cell_type": "code", "source": s, "metadata": map[string]any{}, "outputs": []any{}, "execution_count": nil}}
		nb.cells = append(nb.cells, c)
		list = append(list, c.raw)
	}
	nb.raw["cells"] = list
	return nb
}

func stdoutOf(t *testing.T, c *cell) string {
	t.Helper()
	outs, err := c.outputs()
	if err != nil {
		t.Fatal(err)
	}
	return stream(outs, "stdout")
}

// Each kind of cell that must fail, and its neighbours that must not.
func TestFailureDetection(t *testing.T) {
	c := realKernel(t)
	for _, test := range []struct {
		name, source string
		want         string // part of the reason; empty when the cell is fine
	}{
		{"output", "%%\nfmt.Println(1)", ""},
		{"program writes to stderr", "%%\nlog.Println(\"step 1\"); fmt.Fprintln(os.Stderr, \"exit status 1\")", ""},
		{"shell writes to stderr", "!echo warning >&2", ""},
		{"shell failure handled", "!false || true", ""},
		{"file written", "%%writefile note.txt\nhello", ""},
		{"environment", "%env SVMNB_TEST 1", ""},
		{"declaration", "func one() int { return 1 }", ""},
		{"comment only", "// nothing", ""},

		{"does not compile", "%%\nnoSuchFunction()", "undefined: noSuchFunction"},
		{"does not parse", "%%\nfor {", "expected"},
		{"unused variable", "%%\nx := 1", "declared and not used: x"},
		{"panics", "%%\npanic(\"ouch\")", "ouch"},
		{"exits", "%%\nos.Exit(3)", "exit status 3"},
		{"unknown import", "import \"example.invalid/nothing\"\n%%\nnothing.Do()", "example.invalid/nothing"},
		{"shell line", "!false", "exit status 1"},
		{"shell line before Go", "!false\n%%\nfmt.Println(\"goes on\")", "exit status 1"},
		{"shell line behind a comment", "//gonb:!false", "exit status 1"},
		{"shell line in the module", "!*go get example.invalid/nothing", "exit status 1"},
		{"shell line killed", "!kill -9 $$", "signal: killed"},
		{"shell line unknown", "!no-such-program-here", "no-such-program-here"},
		{"script", "%%bash\nexit 4", "exit status 4"},
		{"unknown command", "%nosuchcommand", "nosuchcommand\" unknown"},
		{"nothing to remove", "%rm nothing", "not removed"},
		{"nothing to track", "%track /no/such/file", "cannot be tracked"},
		{"nothing to untrack", "%untrack /no/such/file", "cannot untrack"},
		{"test", "%test\nfunc TestNo(t *testing.T) { t.Fatal(\"no\") }", "exit status 1"},
		{"lost display", "%%\ngonbui.SendData(&protocol.DisplayData{Data: map[protocol.MIMEType]any{protocol.MIMETextHTML: \"x\"}, Metadata: map[string]any{\"a\": map[string]int8{}}})", "gob"},
	} {
		t.Run(test.name, func(t *testing.T) {
			source := test.source
			if strings.Contains(source, "gonbui.") {
				source = "import (\n\"github.com/janpfeifer/gonb/gonbui\"\n\"github.com/janpfeifer/gonb/gonbui/protocol\"\n)\n" + source
			}
			err := run(t.Context(), c, code(source), time.Minute, &bytes.Buffer{})
			if test.want == "" {
				if err != nil {
					t.Fatalf("failed: %v", err)
				}
				return
			}
			var f *failure
			if !errors.As(err, &f) {
				t.Fatalf("error %v, want a *failure", err)
			}
			if !strings.Contains(f.reason, test.want) {
				t.Errorf("reason %q, want it to say %q", f.reason, test.want)
			}
		})
	}
}

func TestRunStopsAtTheFailure(t *testing.T) {
	c := realKernel(t)
	nb := code("%%\nfmt.Println(\"first\")", "!false", "%%\nfmt.Println(\"third\")")
	var progress bytes.Buffer
	err := run(t.Context(), c, nb, time.Minute, &progress)
	var f *failure
	if !errors.As(err, &f) || f.cell != 2 {
		t.Fatalf("error %v, want the failure of cell 2", err)
	}
	if got := stdoutOf(t, nb.cells[0]); got != "first\n" {
		t.Errorf("first cell wrote %q", got)
	}
	if got := stdoutOf(t, nb.cells[2]); got != "" {
		t.Errorf("third cell ran and wrote %q", got)
	}
	if !strings.Contains(progress.String(), "1/3  fmt.Println(\"first\")") {
		t.Errorf("progress is %q", progress.String())
	}
}

func TestExpectedErrorsAreAllowed(t *testing.T) {
	c := realKernel(t)
	nb := code("%%\npanic(\"expected\")", "!false", "%%\nfmt.Println(\"after\")")
	for _, c := range nb.cells[:2] {
		c.raw["metadata"] = map[string]any{"tags": []any{"other", "raises-exception"}}
	}
	if err := run(t.Context(), c, nb, time.Minute, &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	outs, _ := nb.cells[0].outputs()
	if len(outs) == 0 || outs[len(outs)-1].kind != "error" {
		t.Errorf("the expected error is not among the outputs: %v", outs)
	}
	if got := stdoutOf(t, nb.cells[2]); got != "after\n" {
		t.Errorf("last cell wrote %q", got)
	}
}

func TestTimeoutInterruptsTheCell(t *testing.T) {
	c := realKernel(t)
	nb := code("%%\nctx, _ := signal.NotifyContext(context.Background(), os.Interrupt)\n<-ctx.Done()\nfmt.Println(\"interrupted\")")
	err := run(t.Context(), c, nb, 4*time.Second, &bytes.Buffer{})
	if !errors.Is(err, errTimeout) {
		t.Fatalf("error %v, want %v", err, errTimeout)
	}
	if got := stdoutOf(t, nb.cells[0]); got != "interrupted\n" {
		t.Errorf("the cell wrote %q, so it was not interrupted", got)
	}
	if err := run(t.Context(), c, code("%%\nfmt.Println(2)"), time.Minute, &bytes.Buffer{}); err != nil {
		t.Errorf("the kernel does not go on: %v", err)
	}
}

// The interrupt button in a long fit: the cell goes on with what there is.
func TestInterruptKeepsThePartialFit(t *testing.T) {
	c := realKernel(t)
	const long = `import (
	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb"
)

%%
fmt.Println("begins")
fit := svmnb.Classify(datasets.Checkerboard(3000, 8, 1)).Kernel(kernels.RBF(50)).C(1e6).
	Using(solvers.SMO{Selection: solvers.Simplified}).Tol(1e-10).MaxIterations(1e9).MustFit()
fmt.Println("partial:", fit.Status, fit.Iterations > 0, len(fit.Trace.Points) > 1)
fit.Show(svmnb.Margins, svmnb.KKT, svmnb.Gap)`
	nb := code(long)
	var interrupted, returned time.Time
	r := &recorder{cell: nb.cells[0], displays: map[string][]*output{}}
	answer, err := c.execute(t.Context(), "long", long, 5*time.Minute, func(m message) {
		r.take(m)
		if m.Header.Type == "stream" && strings.Contains(string(m.Content), "partial") {
			returned = time.Now()
		}
		if interrupted.IsZero() && m.Header.Type == "stream" && strings.Contains(string(m.Content), "begins") {
			time.Sleep(3 * time.Second)
			interrupted = time.Now()
			if err := c.send(c.control, "stop", "interrupt_request", struct{}{}); err != nil {
				t.Error(err)
			}
		}
	})
	t.Logf("from the interrupt to the partial fit %v, to an idle kernel %v", returned.Sub(interrupted), time.Since(interrupted))
	if err != nil || answer.Status != "ok" {
		t.Fatalf("the cell ends with %+v, %v: %s", answer, err, show(r.outputs))
	}
	if got := stream(r.outputs, "stdout"); !strings.Contains(got, "partial: interrupted true true") {
		t.Errorf("the cell writes %q, not a partial fit", got)
	}
	warning, pictures := false, 0
	for _, o := range r.outputs {
		text, _ := o.data["text/markdown"].(string)
		warning = warning || strings.Contains(text, "interrupted after")
		if o.data["text/html"] != nil {
			pictures++
		}
	}
	if !warning || pictures != 3 {
		t.Errorf("warning %t, %d pictures: %s", warning, pictures, show(r.outputs))
	}
}

// A line of progress appears only if the work takes longer than a second. It is marked, so that the
// outputs of a slow machine count as equal to those of a fast one.
func TestProgressIsMarked(t *testing.T) {
	c := realKernel(t)
	nb := code(`import (
	"github.com/svmnb/svmnb/svmnb/bayesopt"
	"github.com/svmnb/svmnb/svmnb/selection"
)

%%
slow := func(x []float64) float64 { time.Sleep(300 * time.Millisecond); return -x[0] * x[0] }
bayesopt.Maximise(slow, selection.Range{Low: -1, High: 1}).Evaluations(6).MustFit()`)
	if err := run(t.Context(), c, nb, time.Minute, &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	outs, err := nb.cells[0].outputs()
	if err != nil {
		t.Fatal(err)
	}
	if len(outs) != 1 || !strings.Contains(fmt.Sprint(outs[0].data["text/markdown"]), "6 of 6 evaluations") || len(displays(outs)) != 0 {
		t.Errorf("want a line of progress that is not compared: %s", show(outs))
	}
}

// The relay stands between Jupyter and the real GoNB: errors are explained, all other channels
// work, and the two end together.
func TestRelay(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the real kernel, which -short leaves out")
	}
	t.Parallel()
	k, err := relayedKernel()
	if err != nil {
		t.Fatal(err)
	}
	start := func() *client {
		argv := append([]string{k.relay, "{connection_file}"}, k.argv()...)
		c, err := startKernel(t.Context(), argv, slices.Concat(os.Environ(), k.overrides()), t.TempDir(), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.close)
		return c
	}
	c := start()
	// The runner explains what it hears, so listen beside it, as a second page would.
	data, err := os.ReadFile(filepath.Join(c.dir, "connection.json"))
	if err != nil {
		t.Fatal(err)
	}
	var info struct {
		Transport, IP string
		IOPub         int `json:"iopub_port"`
	}
	if err := json.Unmarshal(data, &info); err != nil {
		t.Fatal(err)
	}
	address := fmt.Sprintf("%s://%s-%d", info.Transport, info.IP, info.IOPub)
	if info.Transport == "tcp" {
		address = fmt.Sprintf("tcp://%s:%d", info.IP, info.IOPub)
	}
	second := zmq4.NewSub(t.Context())
	defer second.Close()
	if err := errors.Join(second.Dial(address), second.SetOption(zmq4.OptionSubscribe, "")); err != nil {
		t.Fatal(err)
	}
	heard := make(chan string, 100)
	go func() {
		for {
			raw, err := second.Recv()
			if err != nil {
				return
			}
			m, err := c.decode(raw)
			if err != nil {
				t.Error(err)
			}
			if m.Header.Type == "error" {
				heard <- string(m.Content)
			}
		}
	}()
	const explained = "line 2: Nothing uses x"
	for tries := 0; ; tries++ { // until the kernel knows of the subscription
		err := run(t.Context(), c, code("%%\nx := 3"), time.Minute, &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), explained) {
			t.Fatalf("error %v, want it explained", err)
		}
		select {
		case content := <-heard:
			if !strings.Contains(content, explained) {
				t.Errorf("a second page hears %s", content)
			}
		case <-time.After(time.Second):
			if tries < 20 {
				continue
			}
			t.Error("a second page hears nothing")
		}
		break
	}
	// The runner holds back a cell with two lines %%, so send it as a front end does.
	if err := c.send(c.shell, "two", "execute_request", map[string]any{"code": "%%\nfmt.Println(1)\n%%", "silent": false, "store_history": true}); err != nil {
		t.Fatal(err)
	}
	select {
	case content := <-heard:
		if !strings.Contains(content, "line 3: A cell has at most one line %%") {
			t.Errorf("two lines %%%%: Jupyter hears %s", content)
		}
	case <-c.dead:
		t.Fatal("two lines %% have ended the kernel")
	case <-time.After(time.Minute):
		t.Fatal("two lines %%: Jupyter hears nothing")
	}
	long := code("%%\nfor {}")
	if err := run(t.Context(), c, long, 4*time.Second, &bytes.Buffer{}); !errors.Is(err, errTimeout) {
		t.Errorf("a loop ends with %v, want %v", err, errTimeout)
	}
	if err := run(t.Context(), c, code("!kill -9 $PPID; sleep 300"), time.Minute, &bytes.Buffer{}); !errors.Is(err, errDead) {
		t.Errorf("after the death of GoNB: %v, want %v", err, errDead)
	}

	c = start()
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-c.dead
}

func TestTimeoutKillsWhatCannotBeInterrupted(t *testing.T) {
	t.Parallel()
	c := realKernel(t)
	// GoNB kills the shell, but its child keeps the output open.
	err := run(t.Context(), c, code("!trap '' INT; sleep 300; true"), time.Second, &bytes.Buffer{})
	if !errors.Is(err, errKilled) {
		t.Fatalf("error %v, want %v", err, errKilled)
	}
	<-c.dead
}

func TestKernelDeathIsReported(t *testing.T) {
	t.Parallel()
	c := realKernel(t)
	nb := code("%%\nfmt.Println(1)", "!echo last words; kill -9 $PPID; sleep 300")
	err := run(t.Context(), c, nb, time.Minute, &bytes.Buffer{})
	var f *failure
	if !errors.Is(err, errDead) || !errors.As(err, &f) || f.cell != 2 {
		t.Fatalf("error %v, want %v in cell 2", err, errDead)
	}
	if !strings.Contains(err.Error(), "signal: killed") {
		t.Errorf("error %q does not say how the kernel ended", err)
	}
}

func TestInputRequestFails(t *testing.T) {
	t.Parallel()
	c := realKernel(t)
	err := run(t.Context(), c, code("%with_inputs\n!read -r answer; echo \"$answer\""), time.Minute, &bytes.Buffer{})
	if !errors.Is(err, errInput) {
		t.Fatalf("error %v, want %v", err, errInput)
	}
}

func TestCancelStopsKernelAndItsFiles(t *testing.T) {
	t.Parallel()
	c := realKernel(t)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(time.Second, cancel)
	err := run(ctx, c, code("!sleep 300"), time.Hour, &bytes.Buffer{})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want %v", err, context.Canceled)
	}
	<-c.dead
	if _, err := os.Stat(c.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the kernel's folder %s is still there", c.dir)
	}
}

func TestKernelThatDoesNotStart(t *testing.T) {
	for _, test := range []struct {
		name string
		argv []string
		want string
	}{
		{"no program", []string{filepath.Join(t.TempDir(), "nothing")}, "starting the kernel"},
		{"ends at once", []string{"go", "no-such-command"}, "no-such-command: unknown command"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := startKernel(t.Context(), test.argv, os.Environ(), t.TempDir(), nil)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want it to say %q", err, test.want)
			}
		})
	}
}

func TestKernelSeesTheCheckoutOffline(t *testing.T) {
	c := realKernel(t)
	nb := code("import \"github.com/svmnb/svmnb/datasets\"\n%%\nfmt.Println(len((&datasets.Dataset{}).X), os.Getenv(\"GOPROXY\"), os.Getenv(\"GONB_JUPYTER_KERNEL_ID\") == \"\")")
	if err := run(t.Context(), c, nb, time.Minute, &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	if got, want := stdoutOf(t, nb.cells[0]), "0 off true\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestBuildToolsIsAtomic(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs, which -short leaves out")
	}
	module := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":        "module example.test/tools\n\ngo 1.26\n",
		"good/main.go":  "package main\n\nfunc main() {}\n",
		"wrong/main.go": "package main\n\nfunc main() { undefined() }\n",
	} {
		file := filepath.Join(module, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	home := t.TempDir()
	dir := filepath.Join(home, "kernel", "bin")
	if err := buildTools(t.Context(), module, dir, []string{"example.test/tools/good", "example.test/tools/wrong"}, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "undefined: undefined") {
		t.Fatalf("error %v, want the compiler's", err)
	}
	if left, _ := os.ReadDir(filepath.Dir(dir)); len(left) > 0 {
		t.Fatalf("a failed build left %v", left)
	}
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			if err := buildTools(context.Background(), module, dir, []string{"example.test/tools/good"}, &bytes.Buffer{}); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	if _, err := os.Stat(executable(dir, "good")); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(filepath.Dir(dir)); len(left) != 1 {
		t.Errorf("two builds left %v", left)
	}
}

func TestFindCheckout(t *testing.T) {
	root := t.TempDir()
	deep := filepath.Join(root, "a", "b")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := findCheckout(deep); err == nil {
		t.Error("found a checkout where there is none")
	}
	for file, text := range map[string]string{
		filepath.Join(root, "go.mod"):      "module " + modulePath + "\n",
		filepath.Join(root, "a", "go.mod"): "module example.test/other\n",
	} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := findCheckout(deep); err != nil || got != root {
		t.Errorf("found %q, %v; want %q", got, err, root)
	}
}

func TestPathLeavesOutForeignGopls(t *testing.T) {
	plain, withGopls, system := t.TempDir(), t.TempDir(), t.TempDir()
	for _, file := range []string{executable(withGopls, "gopls"), executable(system, "gopls"), executable(system, "sh")} {
		if err := os.WriteFile(file, nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	rest := strings.Join([]string{plain, withGopls, system}, string(filepath.ListSeparator))
	k := &kernel{bin: "/kernel/bin", goroot: "/go"}
	want := []string{"/kernel/bin", filepath.Join("/go", "bin"), plain, system}
	if got := filepath.SplitList(k.path(rest)); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("path %q, want %q", got, want)
	}
	k.gopls = "/kernel/gopls"
	if got := filepath.SplitList(k.path(rest)); len(got) != 6 || got[2] != k.gopls {
		t.Errorf("path with completion %q", got)
	}
}
