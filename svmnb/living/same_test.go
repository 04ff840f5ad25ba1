package living

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/internal/browsertest"
	"github.com/svmnb/svmnb/svmnb/internal/engine"
)

// module compiles the engine and returns it as a page has it.
func module(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "engine.wasm")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", file, "../internal/engine/wasm")
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	wasm, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	where, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	support, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(where)), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(wasm); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(map[string]string{"script": string(support) + "\n" + workerJS, "module": base64.StdEncoding.EncodeToString(b.Bytes())})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The same states through the kernel's program and through WebAssembly give the same
// pictures, mark for mark: each state is asked of the engine in this process and of that in
// the worker, and the front draws both answers.
// SVMNB_STATES asks for all kernels and solvers of all data.
func TestSameMarks(t *testing.T) {
	script, err := Script()
	if err != nil {
		t.Fatal(err)
	}
	page := filepath.Join(t.TempDir(), "page.html")
	text := "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Marks</title></head><body><script>window.svmnbLivingEngine = " + module(t) + "</script><script>" + script + "</script></body></html>"
	if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	p := browsertest.Open(t, page, browsertest.Options{Offline: true})
	// The native engine answers what the page leaves in asked.
	p.Do(nil, `svmnbLiving.limits.rest = 0 // none, or a run in parts would not be the same
		svmnbLiving.engines.native = svmnbLiving.queue(q => { window.asked = {kernel: q.kernel, method: q.method, numbers: svmnbLiving.encode(new Uint8Array(q.numbers.buffer))} })
		for (const engine of ['native', 'worker']) {
			const f = document.createElement('svmnb-figure')
			for (const [k, v] of Object.entries({engine: engine, data: 'moons', tools: 'all'})) f.setAttribute(k, v)
			document.body.append(f)
			window[engine] = f
		}`)
	var states []string
	all, hows := os.Getenv("SVMNB_STATES") != "", []string{"", "&kernel=Linear", "&kernel=Polynomial&degree=2", "&kernel=Laplacian", "&kernel=Matern52"}
	for k, data := range []string{"blobs", "outlier", "moons", "circles", "xor", "spirals", "twonorm", "nu", "region"} {
		for j, how := range hows {
			if all || j == k%len(hows) {
				states = append(states, "data="+data+how)
			}
		}
	}
	for k := range engine.Methods() {
		if !all && k > 0 {
			states = append(states, fmt.Sprintf("data=%s&solver=%d", []string{"moons", "sinc", "twonorm"}[k%3], k))
			continue
		}
		states = append(states, fmt.Sprintf("data=moons&solver=%d", k), fmt.Sprintf("data=twonorm&solver=%d", k), fmt.Sprintf("data=sinc&solver=%d", k))
	}
	states = append(states, "data=moons&moment=7", "data=moons&C=1000&gamma=200", "data=moons&p=0-30;0.1234,0.5,1;32-119", "data=sinc&epsilon=0", "data=sinc&kernel=Linear",
		"data=process", "data=process&kernel=Matern52", "data=process&kernel=Exponential&NoiseVariance=1", "data=process&p=0-4", "data=region&nu=0.5", "data=nu&nu=0.3", "data=twonorm&C=1000", "data=twonorm&moment=5")
	var m engine.Machine
	marks := 0
	for _, state := range states {
		p.Do(nil, fmt.Sprintf(`for (const f of [native, worker]) { f.asked = null; f.goWhere(%q); if (f.certain) { f.certain.checked = true; f.ask(); } }`, state))
		for { // questions that were asked before wait
			var q struct{ Kernel, Method, Numbers string }
			p.Until(`!!window.asked || native.rested() && native.answer.converged && !native.busy()`)
			if p.Do(&q, `const q = asked; asked = null; return q || {}`); q.Kernel == "" {
				break
			}
			b, err := base64.StdEncoding.DecodeString(q.Numbers)
			if err != nil {
				t.Fatal(state, err)
			}
			answer, err := m.Ask(t.Context(), q.Kernel, q.Method, engine.FromBytes(b))
			if err != nil {
				t.Fatal(state, err)
			}
			p.Do(nil, fmt.Sprintf(`native.engine.answered(new Float64Array(svmnbLiving.decode(%q).buffer))`, Base64(answer)))
		}
		p.Until(`worker.asked && !worker.busy() && worker.rested() && worker.answer.converged`)
		var seen struct {
			Marks   int
			Differs []string
		}
		p.Do(&seen, `const marks = f => f.picture().split(/(?=<)/).sort(), a = marks(native), b = marks(worker)
			const words = [native, worker].map(f => f.shadowRoot.querySelector('.title').textContent + f.shadowRoot.querySelector('.sub').textContent)
			return {marks: a.length, differs: a.filter((m, i) => m !== b[i]).concat(words[0] === words[1] ? [] : words).map(m => m.slice(0, 200))}`)
		if len(seen.Differs) > 0 {
			t.Errorf("%s: %d of %d marks differ, such as %.300q", state, len(seen.Differs), seen.Marks, seen.Differs)
		}
		marks += seen.Marks
	}
	t.Logf("%d states, %d marks", len(states), marks)
	if errs := p.Errors(); len(errs) > 0 {
		t.Errorf("%q", errs)
	}
}
