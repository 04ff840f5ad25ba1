package browsertest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// JupyterLab serves the folder dir by a JupyterLab until the test ends, with a Notebook 7 on
// the same server, and returns its address. Both come from the virtual environment that
// SVMNB_JUPYTERLAB names. Without it the test is skipped: the tests in JupyterLab take
// minutes, and with them go test would come near its time limit of 10 minutes. Install kernels
// in JUPYTER_DATA_DIR/kernels before you open a notebook.
func JupyterLab(t testing.TB, dir string) string {
	t.Helper()
	home := os.Getenv("SVMNB_JUPYTERLAB")
	program := filepath.Join(home, "bin", "jupyter-lab")
	if _, err := os.Stat(program); home == "" || err != nil {
		t.Skip("no JupyterLab: .ci/run installs one, or let SVMNB_JUPYTERLAB name a virtual environment with the packages of .ci/jupyterlab.txt")
	}
	return serve(t, func(ctx context.Context, port int) error {
		cmd := exec.CommandContext(ctx, program, "--no-browser", "--allow-root", "--ip=127.0.0.1", fmt.Sprintf("--port=%d", port),
			"--IdentityProvider.token=", "--ServerApp.password=", "--ServerApp.root_dir="+dir,
			"--LabApp.expose_app_in_browser=True", "--JupyterNotebookApp.expose_app_in_browser=True", "--LabApp.news_url=")
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // so that it also ends its kernels
		cmd.WaitDelay = time.Minute
		return cmd.Run()
	})
}

// LabNotebook is a notebook that is open in a page of JupyterLab or of Notebook 7. Scripts in
// the page find it as window.svm, with app, panel and cells().
type LabNotebook struct{ *Page }

// OpenLab opens the notebook at an address of a server that [JupyterLab] has started, and
// waits for its kernel.
func OpenLab(t testing.TB, address string, o Options) LabNotebook {
	t.Helper()
	n := LabNotebook{Open(t, address, o)}
	n.Again()
	return n
}

// Again waits for the notebook that is now in front, and for its kernel.
func (n LabNotebook) Again() {
	n.t.Helper()
	n.Until(`(() => {
		const app = window.jupyterapp, open = app && app.shell && app.shell.currentWidget ? [app.shell.currentWidget, ...app.shell.widgets('main')] : []
		const panel = open.find(p => p.context && p.content && p.content.widgets)
		if (!panel || !panel.context.isReady || !panel.sessionContext.session || !panel.sessionContext.session.kernel ||
			panel.sessionContext.session.kernel.connectionStatus !== 'connected') return false
		window.svm = {app, panel, cells: () => panel.content.widgets.filter(w => w.model.type === 'code'),
			outputs: () => svm.cells().flatMap(w => Array.from({length: w.model.outputs.length}, (_, i) => w.model.outputs.get(i).toJSON())),
			busy: () => ['busy', 'starting', 'restarting'].includes(svm.panel.sessionContext.session.kernel.status) || svm.cells().some(w => w.node.querySelector('.jp-InputPrompt') && w.node.querySelector('.jp-InputPrompt').textContent === '[*]:')}
		return true
	})()`)
}

// Command runs a command of the page and waits until it is done.
func (n LabNotebook) Command(name, args string) {
	n.t.Helper()
	n.Start(name, args)
	n.until(`window.svmDone`, 5*limit)
	var failed string
	n.Do(&failed, `return svmDone.failed || ''`)
	if failed != "" {
		n.t.Fatalf("%s: %s", name, failed)
	}
}

// Start starts a command of the page without waiting.
func (n LabNotebook) Start(name, args string) {
	n.t.Helper()
	n.Do(nil, fmt.Sprintf(`window.svmDone = null; svm.app.commands.execute('%s', %s).then(() => { window.svmDone = {} }, e => { window.svmDone = {failed: String(e)} })`, name, args))
}

// RunAll runs all cells and waits until they are done. An error in a cell fails the test.
func (n LabNotebook) RunAll() {
	n.t.Helper()
	n.Command("notebook:run-all-cells", "{}")
	n.Idle()
}

// Idle waits until no cell runs.
func (n LabNotebook) Idle() {
	n.t.Helper()
	// The first cell on a machine without a build cache compiles the library.
	n.until(`!svm.busy()`, 5*limit)
	var failed []string
	n.Do(&failed, `return svm.outputs().filter(o => o.output_type === 'error').map(o => o.traceback.join('\n') || o.evalue)`)
	for _, f := range failed {
		n.t.Errorf("a cell fails: %s", f)
	}
}

// Save saves the notebook.
func (n LabNotebook) Save() {
	n.t.Helper()
	n.Command("docmanager:save", "{}")
}

// Reload reloads the page, as a reader would.
func (n LabNotebook) Reload() {
	n.t.Helper()
	n.Do(nil, `window.svm = null; window.jupyterapp = null; setTimeout(() => location.reload(), 0)`)
	n.Again()
}
