package main

import (
	"bytes"
	"context"
	"crypto/sha256"
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
	"time"
)

const (
	modulePath  = "github.com/svmnb/svmnb"
	kernelName  = "svmnb"
	displayName = "Go (svmnb)"
)

// findCheckout returns the root of the checkout that contains the folder from.
func findCheckout(from string) (string, error) {
	for dir := from; ; dir = filepath.Dir(dir) {
		data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil {
			first, _, _ := strings.Cut(string(data), "\n")
			if strings.TrimSpace(first) == "module "+modulePath {
				return dir, nil
			}
		}
		if filepath.Dir(dir) == dir {
			return "", fmt.Errorf("%s is not inside a checkout of %s; run this in one", from, modulePath)
		}
	}
}

// kernel is the pinned version of GoNB, built, for one checkout.
type kernel struct {
	root   string // the checkout whose code cells use
	bin    string // contains gonb and goimports
	gopls  string // contains gopls, for completion; empty if nobody types
	goroot string
	proxy  string // the user's GOPROXY
	relay  string // starts GoNB for Jupyter and explains errors; empty without Jupyter
}

// tools are the packages that make the kernel. notebooks/kernel/go.mod pins them, in a
// separate module so that the library does not depend on them.
var tools = map[string][]string{
	"bin":   {"github.com/janpfeifer/gonb", "golang.org/x/tools/cmd/goimports"},
	"gopls": {"golang.org/x/tools/gopls"},
}

// buildKernel builds what is missing in the user's cache folder, and downloads the modules
// that cells may import, so that cells need no network. With completion it also builds
// gopls, which takes another minute the first time.
func buildKernel(ctx context.Context, root string, completion bool, progress io.Writer) (*kernel, error) {
	out, err := runGo(ctx, root, nil, "env", "-json", "GOROOT", "GOVERSION", "GOOS", "GOARCH", "GOPROXY")
	if err != nil {
		return nil, err
	}
	var env struct{ GOROOT, GOVERSION, GOOS, GOARCH, GOPROXY string }
	if err := json.Unmarshal(out, &env); err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("there is no folder for the kernel: %w", err)
	}
	module := filepath.Join(root, "notebooks", "kernel")
	hash := sha256.New()
	fmt.Fprintln(hash, env.GOVERSION, env.GOOS, env.GOARCH)
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join(module, name))
		if err != nil {
			return nil, err
		}
		hash.Write(data)
	}
	home := filepath.Join(cache, "svmnb", fmt.Sprintf("kernel-%x", hash.Sum(nil)[:6]))
	k := &kernel{root: root, goroot: env.GOROOT, proxy: env.GOPROXY, bin: filepath.Join(home, "bin")}
	parts := []string{"bin"}
	if completion {
		parts = append(parts, "gopls")
		k.gopls = filepath.Join(home, "gopls")
	}
	for _, part := range parts {
		if err := buildTools(ctx, module, filepath.Join(home, part), tools[part], progress); err != nil {
			return nil, err
		}
	}
	if _, err := runGo(ctx, root, nil, "mod", "download"); err != nil {
		return nil, fmt.Errorf("downloading the modules that cells may import: %w", err)
	}
	return k, nil
}

// buildRelay builds the program that Jupyter starts in place of GoNB. The runner needs none:
// it explains errors itself. Each checkout has a relay of its own.
func (k *kernel) buildRelay(ctx context.Context) error {
	file := executable(filepath.Dir(k.bin), fmt.Sprintf("relay-%x", sha256.Sum256([]byte(k.root)))[:len("relay-")+8])
	if _, err := runGo(ctx, k.root, k.overrides(), "build", "-o", file, "./notebooks/relay"); err != nil {
		return fmt.Errorf("building the kernel: %w", err)
	}
	k.relay = file
	return nil
}

// buildTools builds packages into the folder dir unless it exists. The folder appears
// complete or not at all, even if several processes build it at the same time.
func buildTools(ctx context.Context, module, dir string, packages []string, progress io.Writer) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(filepath.Dir(dir), "building-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	for _, p := range packages {
		start := time.Now()
		name := p[strings.LastIndex(p, "/")+1:]
		fmt.Fprintf(progress, "building %s, once", name)
		dots := every(2*time.Second, func() { fmt.Fprint(progress, ".") })
		_, err := runGo(ctx, module, []string{"GOWORK=off", "GOFLAGS=-mod=readonly", "CGO_ENABLED=0"},
			"build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", temp+string(filepath.Separator), p)
		dots()
		if err != nil {
			fmt.Fprintln(progress)
			return fmt.Errorf("building the kernel: %w", err)
		}
		fmt.Fprintf(progress, " %.0f s\n", time.Since(start).Seconds())
	}
	if err := os.Chmod(temp, 0o755); err != nil {
		return err
	}
	err = os.Rename(temp, dir)
	if err != nil {
		if _, exists := os.Stat(dir); exists == nil {
			return nil // another process was faster and has built the same
		}
	}
	return err
}

// every calls f at intervals until the returned function is called.
func every(interval time.Duration, f func()) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				f()
			case <-quit:
				return
			}
		}
	}()
	return func() { close(quit); <-done }
}

func runGo(ctx context.Context, dir string, env []string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if errors.Is(err, exec.ErrNotFound) {
		return nil, errors.New("the go command is not on the PATH")
	}
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out, nil
}

func executable(dir, name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(dir, name)
}

// argv returns the command that starts the kernel. With go_work, cells use the checkout's
// packages and the versions in its go.mod. With raw_error, compiler messages are sent as
// text.
func (k *kernel) argv() []string {
	return []string{executable(k.bin, "gonb"), "--kernel", "{connection_file}", "-raw_error=true", "-go_work=" + k.root}
}

// settings are the environment variables that make cells work offline and start fast.
func (k *kernel) settings() map[string]string {
	return map[string]string{
		"PATH": k.path(os.Getenv("PATH")),
		// All modules are in the module cache. go get, which GoNB runs for each cell, must
		// not use the network or choose a newer version. In shell lines, where people install
		// packages, bash first runs a script that sets the user's GOPROXY again.
		"GOPROXY":       "off",
		"BASH_ENV":      filepath.Join(k.root, "notebooks", "kernel", "shell.sh"),
		"SVMNB_GOPROXY": k.proxy,
		"GOTOOLCHAIN":   "local",
		"GOWORK":        "",
		// Most of a cell's time is linking. Omitting symbols for a debugger halves it, and
		// C's linker and loader are not needed.
		"GOFLAGS":     "-ldflags=-s -buildvcs=false",
		"CGO_ENABLED": "0",
	}
}

// path returns PATH with the kernel's tools and its Go first. It removes any other gopls,
// which GoNB would start: if nobody types, it would only slow down the cells.
func (k *kernel) path(rest string) string {
	dirs := []string{k.bin, filepath.Join(k.goroot, "bin")}
	if k.gopls != "" {
		dirs = append(dirs, k.gopls)
	}
	for _, dir := range filepath.SplitList(rest) {
		if slices.Contains(dirs, dir) || k.gopls == "" && has(dir, "gopls") && !has(dir, "sh") {
			continue
		}
		dirs = append(dirs, dir)
	}
	return strings.Join(dirs, string(filepath.ListSeparator))
}

func has(dir, program string) bool {
	_, err := os.Stat(executable(dir, program))
	return err == nil
}

// start starts the kernel in the working folder of a notebook.
func (k *kernel) start(ctx context.Context, work string, env ...string) (*client, error) {
	return startKernel(ctx, k.argv(), slices.Concat(os.Environ(), k.overrides(), env), work, nil)
}

// startLearner starts the kernel for a program that is not trusted. The kernel gets only
// the necessary part of the user's environment.
func (k *kernel) startLearner(ctx context.Context, work string, limits *confinement, env ...string) (*client, error) {
	var kept []string
	for _, name := range []string{"LANG", "LC_ALL", "LC_CTYPE", "TZ", "GOMAXPROCS", "GOAMD64", "GOARM64", "SVMNB_SIMD",
		"SYSTEMROOT", "WINDIR", "COMSPEC", "PATHEXT", "NUMBER_OF_PROCESSORS", "LOCALAPPDATA"} {
		if value, set := os.LookupEnv(name); set {
			kept = append(kept, name+"="+value)
		}
	}
	return startKernel(ctx, k.argv(), slices.Concat(kept, k.overrides(), env), work, limits)
}

// warm compiles the library with the kernel's settings, so that the first cell that imports
// it need not wait. Packages that do not compile are reported; only cells that import them
// will fail.
func (k *kernel) warm(ctx context.Context, progress io.Writer) error {
	out, err := runGo(ctx, k.root, k.overrides(), "list", "-e", "-f", "{{if and .GoFiles (ne .Name \"main\")}}{{.ImportPath}}{{end}}", "./...")
	if err != nil {
		return err
	}
	start := time.Now()
	announced := false
	dots := every(2*time.Second, func() {
		if !announced {
			fmt.Fprint(progress, "compiling the library")
		}
		announced = true
		fmt.Fprint(progress, ".")
	})
	_, err = runGo(ctx, k.root, k.overrides(), append([]string{"build", "fmt", "github.com/janpfeifer/gonb/gonbui"}, strings.Fields(string(out))...)...)
	dots()
	if announced {
		fmt.Fprintf(progress, " %.0f s\n", time.Since(start).Seconds())
	}
	if err != nil && ctx.Err() == nil {
		fmt.Fprintln(progress, "the library does not compile:", err)
		return nil
	}
	return err
}

func (k *kernel) overrides() []string {
	var env []string
	for name, value := range k.settings() {
		env = append(env, name+"="+value) // of equal names, the last one counts
	}
	return env
}
