package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A blank lab and its solutions. TITLE is replaced by its name.
var (
	//go:embed lab/blank.ipynb
	blankLab []byte
	//go:embed lab/blank.md
	blankSolutions []byte
)

func newLabCommand(_ context.Context, s *session, args []string) error {
	if len(args) != 1 {
		return errors.New("new-lab takes one name, such as new-lab week-3")
	}
	file := strings.TrimSuffix(args[0], ".ipynb")
	title := filepath.Base(file)
	if strings.HasPrefix(title, ".") || title == string(filepath.Separator) {
		return fmt.Errorf("%q is no name for a notebook", args[0])
	}
	quoted, err := json.Marshal(title)
	if err != nil {
		return err
	}
	quoted = quoted[1 : len(quoted)-1]
	solutions := filepath.Join(filepath.Dir(file), "solutions", title+".md")
	written := []struct {
		name string
		data []byte
	}{
		{file + ".ipynb", bytes.ReplaceAll(blankLab, []byte("TITLE"), quoted)},
		{solutions, bytes.ReplaceAll(blankSolutions, []byte("TITLE"), []byte(title))},
	}
	for _, f := range written {
		if _, err := os.Lstat(f.name); err == nil {
			return fmt.Errorf("%s exists; choose another name, or remove it first", f.name)
		}
	}
	for _, f := range written {
		if err := os.MkdirAll(filepath.Dir(f.name), 0o755); err != nil {
			return err
		}
		if err := writeFile(f.name, f.data); err != nil {
			return err
		}
		fmt.Fprintln(s.stdout, f.name)
	}
	return nil
}
