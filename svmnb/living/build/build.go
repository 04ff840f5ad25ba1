// Package build compiles the engine of living figures for pages. It is a package of its own,
// because cells, which import package living, compile nothing.
package build

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/svmnb/svmnb/svmnb/internal/engine"
	"github.com/svmnb/svmnb/svmnb/living"
)

// Engine compiles the engine and returns it as a JSON object: the worker's script, and the
// module as base64 of gzip, because a page that was opened from a file cannot fetch a module.
// root is the folder of the checkout.
func Engine(ctx context.Context, root string) (string, error) {
	dir, err := os.MkdirTemp("", "svmnb-engine-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(dir) }() // what stays is in the folder for temporary files
	file := filepath.Join(dir, "engine.wasm")
	build := exec.CommandContext(ctx, "go", append(append([]string{"build"}, engine.BuildFlags...), "-o", file, "./svmnb/internal/engine/wasm")...)
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
	return string(text), err // in which < is escaped
}
