package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// grader runs the notebooks of a class. It keeps each result in a file, so that a run that
// was interrupted goes on where it ended, and notebooks with the same content run once. The
// name of the file is a hash of everything on which the result depends.
type grader struct {
	kernel   *kernel
	task     *task
	limits   limits
	confined *confinement
	env      []string
	run      func(ctx context.Context, file string, data []byte) graded // grade, except in tests

	folder string // of the results; "" keeps none
	common []byte // a hash of what all notebooks of the class share
}

// keepIn makes the grader keep results in a folder.
func (g *grader) keepIn(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	hash := sha256.New()
	part := func(name string, data []byte) { fmt.Fprintf(hash, "%q %d\n%s\n", name, len(data), data) }
	part("original", g.task.data)
	part("solutions", g.task.source)
	part("settings", fmt.Append(nil, g.limits, g.confined != nil && g.confined.Apart))
	entries, err := os.ReadDir(g.task.beside)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && isBeside(info) {
			data, err := os.ReadFile(filepath.Join(g.task.beside, e.Name()))
			if err != nil {
				return err
			}
			part(e.Name(), data)
		}
	}
	// The library, because checks compute with it.
	err = filepath.WalkDir(g.kernel.root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && path != g.kernel.root && (strings.HasPrefix(e.Name(), ".") || e.Name() == "testdata"):
			return fs.SkipDir
		case e.IsDir(), filepath.Ext(path) != ".go" && e.Name() != "go.mod", strings.HasSuffix(path, "_test.go"):
			return nil
		}
		data, err := os.ReadFile(path)
		part(path, data)
		return err
	})
	g.folder, g.common = folder, hash.Sum(nil)
	return err
}

// kept returns the result of a notebook, and runs the notebook only if no result is kept.
func (g *grader) kept(ctx context.Context, file string, data []byte) graded {
	if g.folder == "" {
		return g.run(ctx, file, data)
	}
	hash := sha256.New()
	hash.Write(g.common)
	hash.Write(data)
	name := filepath.Join(g.folder, fmt.Sprintf("%x.json", hash.Sum(nil)[:16]))
	var result graded
	if old, err := os.ReadFile(name); err == nil && json.Unmarshal(old, &result) == nil {
		result.File = file
		return result
	}
	result = g.run(ctx, file, data)
	if ctx.Err() != nil || result.unsure {
		return result
	}
	encoded, err := json.Marshal(result)
	if err == nil {
		err = writeFile(name, append(encoded, '\n'))
	}
	if err != nil { // the result counts, but another run will not find it
		result.Problems = append(result.Problems, "this result could not be kept: "+err.Error())
	}
	return result
}
