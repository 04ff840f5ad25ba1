package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// kernelSpec is the content of kernel.json, which Jupyter reads.
// https://jupyter-client.readthedocs.io/en/stable/kernels.html#kernel-specs
type kernelSpec struct {
	Argv          []string          `json:"argv"`
	DisplayName   string            `json:"display_name"`
	Language      string            `json:"language"`
	InterruptMode string            `json:"interrupt_mode"`
	Env           map[string]string `json:"env"`
	Metadata      map[string]string `json:"metadata"`
}

// writeSpec registers the kernel with Jupyter in a data folder, and returns the kernel's
// folder there.
func (k *kernel) writeSpec(data string) (string, error) {
	dir := filepath.Join(data, "kernels", kernelName)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	// GoNB logs everything it does. Jupyter's terminal shall show only errors.
	quiet := []string{"-logtostderr=false", "-log_file=" + os.DevNull}
	argv := append(k.argv(), quiet...)
	if k.relay != "" {
		argv = append([]string{k.relay, "{connection_file}"}, argv...)
	}
	spec, err := json.MarshalIndent(kernelSpec{
		Argv: argv, DisplayName: displayName, Language: "go", InterruptMode: "message",
		Env: k.settings(), Metadata: map[string]string{"checkout": k.root},
	}, "", " ")
	if err != nil {
		return "", err
	}
	return dir, writeFile(filepath.Join(dir, "kernel.json"), append(spec, '\n'))
}

// removeSpec removes the kernel from a data folder, and returns the kernel's folder.
func removeSpec(data string) (string, error) {
	dir := filepath.Join(data, "kernels", kernelName)
	var spec kernelSpec
	content, err := os.ReadFile(filepath.Join(dir, "kernel.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return dir, fmt.Errorf("the kernel is not installed in %s", dir)
	}
	if err != nil {
		return dir, err
	}
	if err := json.Unmarshal(content, &spec); err != nil || spec.DisplayName != displayName {
		return dir, fmt.Errorf("%s holds another kernel; remove it yourself if you mean it", dir)
	}
	return dir, os.RemoveAll(dir)
}

// jupyterData returns the user's Jupyter data folder by Jupyter's own rules.
// https://docs.jupyter.org/en/latest/use/jupyter-directories.html#data-files
func jupyterData() (string, error) {
	if dir := os.Getenv("JUPYTER_DATA_DIR"); dir != "" {
		return filepath.Abs(dir)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	switch runtime.GOOS {
	case "darwin":
		return filepath.Join(home, "Library", "Jupyter"), nil
	case "windows":
		if dir := os.Getenv("APPDATA"); dir != "" {
			return filepath.Join(dir, "jupyter"), nil
		}
		return filepath.Join(home, ".jupyter", "data"), nil
	}
	if dir := os.Getenv("XDG_DATA_HOME"); dir != "" {
		return filepath.Join(dir, "jupyter"), nil
	}
	return filepath.Join(home, ".local", "share", "jupyter"), nil
}
