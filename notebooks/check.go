package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/svmnb/svmnb/notebooks/lab"
)

// The check command runs notebooks of learners, who may have written anything.
// Of each it runs what the checks can depend on, which is the declarations of
// all cells, and the checks. Each notebook has a kernel of its own in an empty
// folder, with files from beside the original (or beside itself) in it, and
// limits of time and memory. It is no prison: a program may still write
// wherever the user may, and one that wants to forge a report can, since the
// check and the answer run in one process.

// limits of what a learner's notebook may take.
type limits struct {
	cell, whole time.Duration
	memory      uint64 // bytes, of each process
}

// A learner's file, and what lies beside it, is read up to these sizes.
const (
	largestNotebook = 64 << 20
	largestFile     = 32 << 20
)

// graded is what became of a learner's notebook.
type graded struct {
	File      string           `json:"file"`
	Passed    int              `json:"passed"`
	Of        int              `json:"of"`
	Exercises []gradedExercise `json:"exercises"`
	Problems  []string         `json:"problems"` // cells that did not run, and why
}

type gradedExercise struct {
	Exercise string     `json:"exercise"`
	State    lab.State  `json:"state"` // or missing
	Tests    []lab.Test `json:"tests"`
}

// missing is the state of an exercise of which no check said anything.
const missing lab.State = "missing"

func checkCommand(ctx context.Context, s *session, args []string) error {
	flags := s.flags()
	var most limits
	s.timeout = 30 * time.Second
	flags.DurationVar(&most.whole, "total", 5*time.Minute, "for each notebook")
	memory := flags.Int("memory", 2048, "MB, for each process")
	against := flags.String("against", "", "the notebook that was given out, whose checks count")
	jsonFile := flags.String("json", "", "also write the results to this file")
	atOnce := flags.Int("j", 2, "how many notebooks at once")
	args, err := parse(flags, args)
	if err != nil {
		return err
	}
	if *memory < 256 {
		return fmt.Errorf("-memory %d: the Go compiler needs 256 MB", *memory)
	}
	most.cell, most.memory = s.timeout, uint64(*memory)<<20
	if len(args) == 0 {
		return errors.New("check which notebooks? Name files, or a folder")
	}
	files, err := findNotebooks(args)
	if err != nil {
		return err
	}
	var original *notebook
	if *against != "" {
		if original, err = readNotebook(*against); err != nil {
			return err
		}
		if len(checksOf(original)) == 0 {
			return fmt.Errorf("%s has no checks", *against)
		}
	}
	k, err := s.kernel(ctx)
	if err != nil {
		return err
	}
	if runtime.GOOS != "linux" {
		fmt.Fprintln(s.stderr, "the memory of learners' programs is not limited on this system")
	}
	env, err := homeless(ctx, k)
	if err != nil {
		return err
	}
	all := make([]graded, len(files))
	inOrder(len(files), *atOnce, s.stdout, s.stderr, func(i int, _, stderr io.Writer) {
		start := time.Now()
		beside := filepath.Dir(files[i])
		if original != nil {
			beside = filepath.Dir(*against)
		}
		all[i] = grade(ctx, k, files[i], beside, original, most, env)
		fmt.Fprintf(stderr, "%s  %.1f s\n", files[i], time.Since(start).Seconds())
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	writeTable(s.stdout, all)
	if *jsonFile == "" {
		return nil
	}
	data, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		return err
	}
	return writeFile(*jsonFile, append(data, '\n'))
}

// findNotebooks lists files as they are, and the notebooks in folders and in
// the folders in them, in order.
func findNotebooks(args []string) (files []string, err error) {
	for _, arg := range args {
		err := filepath.WalkDir(arg, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case path != arg && strings.HasPrefix(entry.Name(), "."): // .ipynb_checkpoints
				if entry.IsDir() {
					return fs.SkipDir
				}
			case path == arg && !entry.IsDir() || entry.Type().IsRegular() && filepath.Ext(path) == ".ipynb":
				files = append(files, path)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("there are no notebooks in %s", strings.Join(args, ", "))
	}
	return files, nil
}

// homeless are the variables by which Go finds its caches without the user's
// home, which the programs of learners do not get.
func homeless(ctx context.Context, k *kernel) ([]string, error) {
	names := []string{"GOCACHE", "GOMODCACHE", "GOPATH"}
	out, err := runGo(ctx, k.root, nil, append([]string{"env"}, names...)...)
	if err != nil {
		return nil, err
	}
	env := []string{"GOENV=off"}
	for i, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		env = append(env, names[i]+"="+line)
	}
	return env, nil
}

// step is a cell of a learner's notebook that is run.
type step struct {
	what     string
	source   string
	check    string // the exercise that it checks, or ""
	fallback string // what is declared where the source fails
}

func checksOf(nb *notebook) []*cell {
	return slices.DeleteFunc(codeCells(nb), func(c *cell) bool { return c.checks() == "" })
}

// plan lists what is run of a notebook. Where the original is given, its checks
// are run and no others, and its answer cells stand in for those that fail.
func plan(nb, original *notebook) (steps []step) {
	given := map[string]string{} // checks
	open := map[string]string{}  // answers, unanswered
	if original != nil {
		for _, c := range codeCells(original) {
			if name := c.checks(); name != "" {
				given[name] = c.source()
			} else if name := c.answers(); name != "" {
				open[name] = declarations(c.source())
			}
		}
	}
	seen := map[string]bool{}
	for i, c := range codeCells(nb) {
		s := step{what: fmt.Sprintf("code cell %d", i+1), check: c.checks(), source: c.source()}
		switch {
		case s.check == "":
			s.source, s.fallback = declarations(s.source), open[c.answers()]
		case original != nil:
			if s.source = given[s.check]; s.source == "" {
				continue
			}
		}
		seen[s.check] = true
		if strings.TrimSpace(s.source) != "" {
			steps = append(steps, s)
		}
	}
	if original != nil {
		for _, c := range checksOf(original) {
			if name := c.checks(); !seen[name] {
				steps = append(steps, step{what: "the check of exercise " + name, check: name, source: c.source()})
			}
		}
	}
	return steps
}

// grade runs a learner's notebook. Whatever happens is in the result.
func grade(ctx context.Context, k *kernel, file, beside string, original *notebook, most limits, env []string) graded {
	g := graded{File: file, Exercises: []gradedExercise{}, Problems: []string{}}
	problem := func(err error) { g.Problems = append(g.Problems, err.Error()) }
	nb, err := readSmall(file)
	if err != nil {
		problem(err)
		nb = &notebook{} // the original's checks still name the exercises
	}
	steps := plan(nb, original)
	reports := map[string]*lab.Report{}
	for _, s := range steps {
		if _, known := reports[s.check]; s.check != "" && !known {
			g.Exercises = append(g.Exercises, gradedExercise{Exercise: s.check, State: missing})
			reports[s.check] = nil
		}
	}
	if original == nil && err == nil && len(reports) == 0 {
		problem(errors.New("it has no checks"))
	}
	if err == nil && len(reports) > 0 {
		if err := runSteps(ctx, k, steps, beside, most, env, reports, problem); err != nil {
			problem(err)
		}
	}
	for i := range g.Exercises {
		if r := reports[g.Exercises[i].Exercise]; r != nil {
			g.Exercises[i].State, g.Exercises[i].Tests = r.State(), r.Tests
			if r.State() == lab.Passed {
				g.Passed++
			}
		}
	}
	g.Of = len(g.Exercises)
	return g
}

func readSmall(file string) (*notebook, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if info.Size() > largestNotebook {
		return nil, fmt.Errorf("the file has %d MB, more than %d", info.Size()>>20, largestNotebook>>20)
	}
	return readNotebook(file)
}

func runSteps(ctx context.Context, k *kernel, steps []step, beside string, most limits, env []string, reports map[string]*lab.Report, problem func(error)) error {
	work, err := os.MkdirTemp("", "svmnb-lab-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := copyBeside(work, beside); err != nil {
		return err
	}
	l := &learner{kernel: k, work: work, limits: most}
	l.env = append(slices.Clone(env), "HOME="+work, "XDG_CACHE_HOME=", "XDG_CONFIG_HOME=", "XDG_DATA_HOME=", "SVMNB_CACHE="+filepath.Join(work, ".svmnb"))
	defer l.close()
	ctx, stop := context.WithTimeoutCause(ctx, most.whole, fmt.Errorf("stopped after %s in all", most.whole))
	defer stop()
	for _, s := range steps {
		r, reason, err := l.ask(ctx, s.source, s.check == "")
		if err != nil {
			return fmt.Errorf("%s: %w", s.what, err)
		}
		if s.check != "" {
			reports[s.check] = reported(r.outputs, s.check) // the last one counts
		}
		if reason == "" {
			continue
		}
		problem(fmt.Errorf("%s: %s", s.what, reason))
		if s.fallback != "" {
			if _, _, err := l.ask(ctx, s.fallback, true); err != nil {
				return fmt.Errorf("%s, unanswered: %w", s.what, err)
			}
		}
	}
	return nil
}

// learner is a kernel under limits. A cell that ends the kernel is followed by
// another kernel, which knows what cells have declared until then.
type learner struct {
	kernel *kernel
	work   string
	env    []string
	limits limits

	client   *client // nil when there is none
	declared []string
}

// ask executes a cell; keep says that later cells depend on it.
func (l *learner) ask(ctx context.Context, source string, keep bool) (*recorder, string, error) {
	if l.client == nil {
		if err := l.start(ctx); err != nil {
			return nil, "", err
		}
	}
	r, reason, err := ask(ctx, l.client, source, l.limits.cell)
	switch {
	case ctx.Err() != nil:
		return r, "", context.Cause(ctx)
	case err != nil:
		l.close()
		return r, err.Error(), nil
	case keep && reason == "":
		l.declared = append(l.declared, source)
	}
	return r, reason, nil
}

func (l *learner) start(ctx context.Context) (err error) {
	if l.client, err = l.kernel.start(ctx, l.work, l.env...); err != nil {
		return err
	}
	if err := l.client.limitMemory(l.limits.memory); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("limiting the memory: %w", err)
	}
	for _, source := range l.declared {
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

// copyBeside copies the files of a folder that a notebook may read: no
// notebooks, no folders, nothing hidden or very large.
func copyBeside(to, from string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || strings.HasPrefix(e.Name(), ".") || filepath.Ext(e.Name()) == ".ipynb" || info.Size() > largestFile {
			continue
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

var stateMarks = map[lab.State]string{lab.Passed: "✓", lab.Failed: "✗", lab.Open: "…", missing: "-"}

// writeTable writes a line for each notebook, then what did not run.
func writeTable(w io.Writer, all []graded) {
	var names []string
	width := len("notebook")
	for _, g := range all {
		width = max(width, utf8.RuneCountInString(g.File))
		for _, e := range g.Exercises {
			if !slices.Contains(names, e.Exercise) {
				names = append(names, e.Exercise)
			}
		}
	}
	fmt.Fprintf(w, "%-*s", width, "notebook")
	for _, name := range names {
		fmt.Fprintf(w, "  %s", name)
	}
	fmt.Fprintln(w, "  passed")
	for _, g := range all {
		fmt.Fprintf(w, "%-*s", width, g.File)
		for _, name := range names {
			mark := ""
			for _, e := range g.Exercises {
				if e.Exercise == name {
					mark = stateMarks[e.State]
				}
			}
			fmt.Fprintf(w, "  %-*s", len(name), mark)
		}
		fmt.Fprintf(w, "  %d of %d\n", g.Passed, g.Of)
	}
	fmt.Fprintln(w, "\n✓ passed  ✗ not right  … not answered  - the check did not run")
	for _, g := range all {
		for _, p := range g.Problems {
			fmt.Fprintf(w, "\n%s: %s\n", g.File, strings.TrimSpace(stripANSI(p)))
		}
	}
}
