package main

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/svmnb/svmnb/svmnb/living"
)

// Living figures train in the page. Their engine is Go, compiled to WebAssembly: once for a
// site, in a file that a page loads when a reader touches a figure; and inside an exported
// page that has one.

// livingEngine returns the engine as a JSON object: the worker's script, and the module as
// base64 of gzip, because a page that was opened from a file cannot fetch a module. It is
// compiled once in a process. root is the folder of the checkout.
func livingEngine(ctx context.Context, root string) (string, error) {
	engines.Lock()
	defer engines.Unlock()
	if engines.packed != "" {
		return engines.packed, nil
	}
	dir, err := os.MkdirTemp("", "svmnb-engine-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(dir) }() // what stays is in the folder for temporary files
	file := filepath.Join(dir, "engine.wasm")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", file, "./svmnb/internal/engine/wasm")
	build.Dir, build.Env = root, append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("the engine of living figures: %w\n%s", err, out)
	}
	module, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	where, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOROOT: %w", err)
	}
	// The script belongs to the compiler: both are of one release of Go.
	support, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(where)), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return "", fmt.Errorf("the support of Go for WebAssembly: %w", err)
	}
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	_, _ = w.Write(module) // writing to memory never fails
	_ = w.Close()
	text, err := json.Marshal(map[string]string{"script": string(support) + "\n" + living.Worker(), "module": base64.StdEncoding.EncodeToString(b.Bytes())})
	engines.packed = string(text) // in which < is escaped
	return engines.packed, err
}

var engines struct {
	sync.Mutex
	packed string
}

// hasLiving reports whether a page has living figures.
func hasLiving(page string) bool { return strings.Contains(page, living.Beginning) }

// figured matches a living figure in the output of Explore.
var figured = regexp.MustCompile(living.Beginning + ` spec="([^"]*)"></svmnb-figure>`)

// withStills gives the living figures of a page the still pictures that they show at first.
func withStills(page string) string {
	return figured.ReplaceAllStringFunc(page, func(element string) string {
		var s living.Spec
		if json.Unmarshal([]byte(html.UnescapeString(figured.FindStringSubmatch(element)[1])), &s) != nil {
			return element
		}
		with, err := s.Stilled().Element()
		if err != nil {
			return element
		}
		return with
	})
}

// livingHere begins the engine inside a page.
const livingHere = `<script type="application/json" id="svmnb-living-engine">`

// livingInside returns what a page of one file needs for its living figures. The engine is no
// script: the browser reads it when a reader touches a figure.
func livingInside(ctx context.Context) (string, error) {
	work, err := os.Getwd()
	if err != nil {
		return "", err
	}
	root, err := findCheckout(work)
	if err != nil {
		return "", err
	}
	engine, err := livingEngine(ctx, root)
	if err != nil {
		return "", err
	}
	script, err := living.Script()
	return livingHere + engine + "</script>\n" + inlineScript(script), err
}

// playground is the page on which readers place points and play with machines. A folder
// without it gives a site without playground.
const playground = "notebooks/playground.html"

func (w *site) renderPlayground(p *sitePage) error {
	data, err := os.ReadFile(filepath.Join(w.root, filepath.FromSlash(p.source)))
	if err != nil {
		return err
	}
	p.title, p.body = "Playground", string(data)
	p.headings = []heading{{1, "playground", p.title}}
	return nil
}

// putLiving writes the script and the engine of living figures into the site.
func (w *site) putLiving(ctx context.Context) error {
	script, err := living.Script()
	if err != nil {
		return err
	}
	engine, err := livingEngine(ctx, w.root)
	if err != nil {
		return err
	}
	if err := w.put("assets/living.js", []byte(script)); err != nil {
		return err
	}
	return w.put("assets/"+living.EngineFile, []byte("window.svmnbLivingEngine = "+engine+";\n"))
}
