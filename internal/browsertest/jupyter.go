package browsertest

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Jupyter serves the folder dir by a classic Jupyter until the test ends, like [Serve], and
// returns its address.
func Jupyter(t testing.TB, dir string) string {
	t.Helper()
	return Serve(t, dir, func(ctx context.Context, args []string) error {
		cmd := exec.CommandContext(ctx, "jupyter-notebook", args...)
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
		cmd.WaitDelay = 10 * time.Second
		return cmd.Run()
	})
}

// Serve runs a classic Jupyter, version 6, until the test ends, and returns its address. run
// starts it with the given arguments. It serves the folder dir. The test gets its own Jupyter
// folders, so those of the user are not touched; install kernels in JUPYTER_DATA_DIR/kernels
// before you open a notebook. If no such Jupyter is installed, the test is skipped.
func Serve(t testing.TB, dir string, run func(ctx context.Context, args []string) error) string {
	t.Helper()
	program, err := exec.LookPath("jupyter-notebook")
	if err != nil {
		t.Skip("no jupyter-notebook on PATH: install Debian's packages jupyter-notebook and jupyter-nbconvert to run the tests in Jupyter")
	}
	if version, err := exec.Command(program, "--version").Output(); err != nil || !strings.HasPrefix(string(version), "6.") {
		t.Skipf("jupyter-notebook %s is not the classic one, version 6", strings.TrimSpace(string(version)))
	}
	return serve(t, func(ctx context.Context, port int) error {
		return run(ctx, []string{"--no-browser", "--allow-root", "--ip=127.0.0.1", fmt.Sprintf("--port=%d", port),
			"--NotebookApp.token=", "--NotebookApp.password=", "--notebook-dir=" + dir})
	})
}

// serve runs a Jupyter on a free port, with its own Jupyter folders, and waits until it
// answers.
func serve(t testing.TB, run func(ctx context.Context, port int) error) string {
	t.Helper()
	own := t.TempDir()
	for _, name := range []string{"JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR"} {
		t.Setenv(name, filepath.Join(own, strings.ToLower(name)))
	}
	t.Setenv("JUPYTER_PATH", "")

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	listener.Close()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	var failed error
	go func() {
		defer close(ended)
		failed = run(ctx, port)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	address := fmt.Sprintf("http://127.0.0.1:%d", port)
	// The program that runs Jupyter may have to compile something first.
	for end := time.Now().Add(5 * limit); time.Now().Before(end); {
		if r, err := http.Get(address + "/api"); err == nil {
			r.Body.Close()
			return address
		}
		select {
		case <-ended:
			t.Fatalf("Jupyter has ended: %v", failed)
		case <-time.After(100 * time.Millisecond):
		}
	}
	t.Fatalf("Jupyter does not answer within %v", 5*limit)
	return ""
}

// Notebook is a notebook that is open in a page of classic Jupyter.
type Notebook struct{ *Page }

// OpenNotebook opens the notebook at an address of a server that [Jupyter] has started, and
// waits for its kernel.
func OpenNotebook(t testing.TB, address string, o Options) Notebook {
	t.Helper()
	n := Notebook{Open(t, address, o)}
	n.Until(`window.Jupyter && Jupyter.notebook && Jupyter.notebook._fully_loaded && Jupyter.notebook.kernel && Jupyter.notebook.kernel.is_connected()`)
	return n
}

// RunAll restarts the kernel, runs all cells and waits until they are done. An error in a cell
// fails the test.
func (n Notebook) RunAll() {
	n.t.Helper()
	n.Do(nil, `window.svmStarted = false; Jupyter.notebook.restart_run_all({confirm: false}).then(() => { window.svmStarted = true })`)
	n.Until(`window.svmStarted`)
	n.Idle()
}

// Idle waits until no cell runs.
func (n Notebook) Idle() {
	n.t.Helper()
	// The first cell on a machine without a build cache compiles the library.
	n.until(`Jupyter.notebook.get_cells().every(c => c.input_prompt_number !== '*') && !Jupyter.notebook.kernel_busy`, 5*limit)
	var failed []string
	n.Do(&failed, `return Jupyter.notebook.get_cells().flatMap(c => c.output_area ? c.output_area.outputs : [])
		.filter(o => o.output_type === 'error').map(o => o.traceback.join('\n') || o.evalue)`)
	for _, f := range failed {
		n.t.Errorf("a cell fails: %s", f)
	}
}

// Save saves the notebook.
func (n Notebook) Save() {
	n.t.Helper()
	n.Do(nil, `window.svmSaved = false; Jupyter.notebook.events.one('notebook_saved.Notebook', () => { window.svmSaved = true }); Jupyter.notebook.save_notebook()`)
	n.Until(`window.svmSaved`)
}
