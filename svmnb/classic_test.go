package svmnb_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svmnb/svmnb/internal/browsertest"
)

// libraries counts the copies of the drawing library in a notebook or page.
func libraries(text string) int { return strings.Count(text, "(function svmnb(w, packed)") }

// TestClassicNotebook runs cells with charts in a live classic Jupyter page,
// saves and reopens the notebook, and converts it to HTML.
func TestClassicNotebook(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a Jupyter server")
	}
	jupyter, err := exec.LookPath("jupyter-notebook")
	if err != nil {
		t.Skip("no jupyter-notebook on PATH: install Debian's packages jupyter-notebook and jupyter-nbconvert to run this test")
	}
	if version, err := exec.Command(jupyter, "--version").Output(); err != nil || !strings.HasPrefix(string(version), "6.") {
		t.Skipf("jupyter-notebook %s is not the classic one, version 6", strings.TrimSpace(string(version)))
	}
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	defer cancel()
	dir := t.TempDir()
	t.Setenv("JUPYTER_DATA_DIR", filepath.Join(dir, "data"))
	t.Setenv("JUPYTER_RUNTIME_DIR", filepath.Join(dir, "runtime"))
	t.Setenv("JUPYTER_CONFIG_DIR", filepath.Join(dir, "config"))
	command := func(name string, args ...string) {
		t.Helper()
		if out, err := exec.CommandContext(ctx, name, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
	}
	command("go", "run", "../notebooks", "install")

	const margins = "import (\n\t\"github.com/svmnb/svmnb/datasets\"\n\t\"github.com/svmnb/svmnb/svmnb\"\n)\n\n%%\nsvmnb.Classify(datasets.Moons(100, 0.2, 1)).MustFit().Show(svmnb.Margins)"
	const bars = "import (\n\t\"github.com/go-echarts/go-echarts/v2/charts\"\n\t\"github.com/go-echarts/go-echarts/v2/opts\"\n\t\"github.com/svmnb/svmnb/svmnb/display\"\n)\n\nfunc bars(values ...int) *charts.Bar {\n" +
		"\tb, data := charts.NewBar(), []opts.BarData{}\n\tfor _, v := range values {\n\t\tdata = append(data, opts.BarData{Value: v})\n\t}\n\tb.AddSeries(\"bars\", data)\n\treturn b\n}\n\n%%\ndisplay.Show(bars(3, 1, 2))"
	const gap = "%%\nsvmnb.Classify(datasets.Iris().OneVsRest(\"virginica\")).C(10).MustFit().Show(svmnb.KKT, svmnb.Gap)"
	file := filepath.Join(dir, "charts.ipynb")
	writeNotebook(t, file, margins, bars, gap)

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	listener.Close()
	server := exec.CommandContext(ctx, jupyter, "--no-browser", "--allow-root", "--ip=127.0.0.1", fmt.Sprintf("--port=%d", port),
		"--NotebookApp.token=", "--NotebookApp.password=", "--notebook-dir="+dir)
	server.Cancel = func() error { return server.Process.Signal(os.Interrupt) }
	server.WaitDelay = 10 * time.Second
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = server.Wait() // it ends by our signal
	})
	base := fmt.Sprintf("http://127.0.0.1:%d", port)
	for {
		if r, err := http.Get(base + "/api"); err == nil {
			r.Body.Close()
			break
		}
		select {
		case <-ctx.Done():
			t.Fatal("Jupyter does not answer")
		case <-time.After(100 * time.Millisecond):
		}
	}

	page := browsertest.Open(t, base+"/notebooks/charts.ipynb", browsertest.Options{Dark: true})
	page.Until(`window.Jupyter && Jupyter.notebook && Jupyter.notebook._fully_loaded && Jupyter.notebook.kernel && Jupyter.notebook.kernel.is_connected()`)
	idle := `Jupyter.notebook.get_cells().every(c => c.input_prompt_number !== '*') && !Jupyter.notebook.kernel_busy`
	saved := func() string {
		t.Helper()
		page.Do(nil, `window.__saved = false; Jupyter.notebook.events.one('notebook_saved.Notebook', () => { window.__saved = true; }); Jupyter.notebook.save_notebook();`)
		page.Until(`window.__saved`)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	page.Do(nil, `Jupyter.notebook.execute_all_cells()`)
	page.Charts(4)
	page.Until(idle)
	var drawn []string
	page.Do(&drawn, `return Array.from(document.querySelectorAll('[data-drawn]'), e => e.getAttribute('data-drawn'))`)
	if strings.Contains(strings.Join(drawn, " "), "dark") {
		t.Errorf("classic Jupyter is white whatever the system prefers; charts are %q", drawn)
	}
	if n := libraries(saved()); n != 1 {
		t.Errorf("%d copies of the library after running all, want 1", n)
	}

	// The carrier becomes another cell altogether: the kernel cannot know that
	// the library went with it, the page mends it before it saves.
	page.Do(nil, `var c = Jupyter.notebook.get_cell(0); c.set_text("%%\ndisplay.Show(bars(7))"); c.execute()`)
	page.Until(idle)
	page.Charts(4)
	if n := libraries(saved()); n != 1 {
		t.Errorf("%d copies of the library after its cell was rewritten, want 1", n)
	}
	for _, e := range page.Errors() {
		if strings.Contains(e, "svm") || strings.Contains(e, "echarts") {
			t.Errorf("error in the page: %s", e)
		}
	}

	page.Do(nil, `window.onbeforeunload = null; setTimeout(() => location.reload(), 0)`)
	page.Until(`!window.__saved && window.Jupyter && Jupyter.notebook && Jupyter.notebook._fully_loaded`)
	page.Charts(4)

	// A notebook from elsewhere is not trusted and runs no script; its charts'
	// places say what to do.
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "foreign.ipynb"), []byte(strings.Replace(string(text), `"execution_count": 4`, `"execution_count": 5`, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	foreign := browsertest.Open(t, base+"/notebooks/foreign.ipynb", browsertest.Options{})
	foreign.Until(`document.body.innerText.split('trust this notebook').length === 5`)

	if _, err := exec.LookPath("jupyter-nbconvert"); err != nil {
		t.Log("no jupyter-nbconvert on PATH: the export is not tested")
		return
	}
	for _, template := range []string{"lab", "classic"} {
		command("jupyter-nbconvert", "--to", "html", "--template", template, "--output", "page-"+template, file)
		browsertest.Open(t, filepath.Join(dir, "page-"+template+".html"), browsertest.Options{Offline: true}).Charts(4)
	}
}

func writeNotebook(t *testing.T, file string, cells ...string) {
	t.Helper()
	type cell struct {
		Type     string         `json:"cell_type"`
		Count    *int           `json:"execution_count"`
		Metadata map[string]any `json:"metadata"`
		Outputs  []any          `json:"outputs"`
		Source   string         `json:"source"`
	}
	var list []cell
	for _, s := range cells {
		list = append(list, cell{"code", nil, map[string]any{}, []any{}, s})
	}
	data, err := json.Marshal(map[string]any{"cells": list, "nbformat": 4, "nbformat_minor": 4,
		"metadata": map[string]any{"kernelspec": map[string]any{"name": "svmnb", "display_name": "Go (svmnb)", "language": "go"}}})
	if err == nil {
		err = os.WriteFile(file, data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
