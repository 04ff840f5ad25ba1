package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/svmnb/svmnb/notebooks/lab"
)

// limits are those of a learner's notebook.
type limits struct {
	cell, whole time.Duration
	memory      uint64 // bytes for each process
}

// Limits for the files beside a notebook.
const (
	largestFile   = 32 << 20
	largestBeside = 256 << 20 // all files together
)

// ending says how a cell ended. state is "" if it ran to its end.
type ending struct {
	state  lab.State // broken or endedEarly
	reason string
	ran    bool // it compiled
	slow   bool // it took too long
}

// learner is a kernel under limits. If a cell ends the kernel, learner starts another one
// and declares everything again that cells have declared before.
type learner struct {
	kernel   *kernel
	work     string
	env      []string
	limits   limits
	confined *confinement

	client   *client // nil if no kernel is running
	declared []string
}

// ask executes a cell; keep says that later cells need its declarations. ask adds a
// statement that reports the end of the cell, since a program that exits by itself without
// an error looks like one that has finished.
func (l *learner) ask(ctx context.Context, source string, keep bool) (*recorder, ending, error) {
	if l.client == nil {
		if err := l.start(ctx); err != nil {
			return nil, ending{}, err
		}
	}
	token := "svmnb-" + rand.Text()
	r, reason, err := ask(ctx, l.client, sealed(source, token), l.limits.cell)
	reached := r.without(token)
	reason = strings.TrimSpace(strings.TrimSuffix(withoutLines(reason, token), "stderr:"))
	switch {
	case ctx.Err() != nil:
		return r, ending{}, context.Cause(ctx)
	case err != nil: // the kernel has ended
		l.close()
		return r, ending{state: endedEarly, reason: err.Error(), ran: true}, nil
	case reason != "" && reached, reason != "" && crashed.MatchString(reason):
		return r, ending{state: broken, reason: reason, ran: panicked.MatchString(reason)}, nil
	case reason == "" && reached:
		if keep {
			l.declared = append(l.declared, source)
		}
		return r, ending{}, nil
	case reason == "":
		reason = "the program ended before its time, without an error"
	}
	l.close() // otherwise what ended this cell could end the next one
	return r, ending{state: endedEarly, reason: reason, ran: true, slow: strings.HasPrefix(reason, errTimeout.Error())}, nil
}

// crashed matches messages of the compiler and of the runtime after a panic.
var crashed = regexp.MustCompile(`(?m)^\s*(panic: |fatal error: (all goroutines|stack overflow|concurrent)|Cell \[\d+\], line \d+: )`)

// panicked matches only messages of the runtime.
var panicked = regexp.MustCompile(`\bpanic: |\bfatal error: `)

func withoutLines(text, with string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return strings.Contains(line, with) }), "\n")
}

// sealed adds a statement to the cell that prints token when the program reaches its end.
// It uses println, which needs no import. A cell without statements gets this one.
func sealed(source, token string) string {
	line := "defer println(`" + token + "`)\n"
	code := statements(source)
	if code == "" {
		return strings.TrimSuffix(source, "\n") + "\n%%\n" + line
	}
	head, body, _ := strings.Cut(code, "\n")
	return strings.TrimSuffix(source, code) + head + "\n" + line + body
}

// without removes the line with the token from the output of the cell, and reports whether
// it was there.
func (r *recorder) without(token string) (found bool) {
	if r == nil {
		return false
	}
	for _, o := range r.outputs {
		if o.kind == "stream" && strings.Contains(o.text, token) {
			o.text, found = strings.ReplaceAll(strings.ReplaceAll(o.text, token+"\n", ""), token, ""), true
		}
	}
	return found
}

func (l *learner) start(ctx context.Context) (err error) {
	if l.client, err = l.kernel.startLearner(ctx, l.work, l.confined, l.env...); err != nil {
		return err
	}
	if len(l.declared) == 0 {
		return nil
	}
	for _, source := range together(l.declared) {
		if _, _, err := ask(ctx, l.client, source, l.limits.cell); err != nil {
			return err
		}
	}
	return nil
}

func (l *learner) close() {
	if l.client != nil {
		l.client.close()
		l.client = nil
	}
}

// copyBeside copies the files of a folder that a notebook may read. It omits notebooks,
// folders, hidden files and very large files.
func copyBeside(to, from string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	all := int64(0)
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !isBeside(info) {
			continue
		}
		if all += info.Size(); all > largestBeside {
			return fmt.Errorf("the files beside it have more than %d MB", largestBeside>>20)
		}
		data, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, e.Name()), data, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func isBeside(info fs.FileInfo) bool {
	return info.Mode().IsRegular() && !strings.HasPrefix(info.Name(), ".") && filepath.Ext(info.Name()) != ".ipynb" && info.Size() <= largestFile
}
