package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/svmnb/svmnb/notebooks/lab"
)

// The check command runs notebooks of learners, who may have written anything. Of each
// notebook it runs only what checks can depend on: the declarations of all cells, and the
// checks. Each notebook has a kernel of its own, in a folder with copies of the files
// beside the original (or beside the notebook). The kernel gets only a small part of the
// user's environment, and has limits of time, memory and processes (confine.go). A learner
// can still forge the report of an exercise, since check and answer run in one process.

// limits are those of a learner's notebook.
type limits struct {
	cell, whole time.Duration
	memory      uint64 // bytes for each process
}

// Limits for the size of a learner's file and of the files beside it.
const (
	largestNotebook = 64 << 20
	largestFile     = 32 << 20
	largestBeside   = 256 << 20 // all files together
)

// graded is the result of a learner's notebook.
type graded struct {
	File      string           `json:"file"`
	Passed    int              `json:"passed"`
	Of        int              `json:"of"`
	Exercises []gradedExercise `json:"exercises"`
	Problems  []string         `json:"problems"` // the cells that did not run, and why
}

type gradedExercise struct {
	Exercise string     `json:"exercise"`
	State    lab.State  `json:"state"` // a state of package lab, or one of those below
	Tests    []lab.Test `json:"tests"`
}

// States of an exercise whose check has said nothing about the answer.
const (
	broken     lab.State = "broken"      // the answer does not compile, or panics
	endedEarly lab.State = "ended early" // the program ended, or was ended, before its check reported
	missing    lab.State = "missing"     // no check reported
)

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
	env, cache, err := homeless(ctx, k)
	if err != nil {
		return err
	}
	var confined *confinement
	if runtime.GOOS != "linux" {
		fmt.Fprintln(s.stderr, "the memory and the processes of learners' programs are not limited on this system; run check in a container")
	} else {
		confined = &confinement{Memory: most.memory, Processes: mostProcesses, Apart: true, Writable: []string{cache}}
		if err := canBeApart(); err != nil {
			confined.Apart = false
			fmt.Fprintf(s.stderr, "learners' programs have no namespaces of their own, so they can write wherever you may and use the network (%s); run check in a container\n", shown(err.Error()))
		}
	}
	all := make([]graded, len(files))
	inOrder(len(files), *atOnce, s.stdout, s.stderr, func(i int, _, stderr io.Writer) {
		start := time.Now()
		beside := filepath.Dir(files[i])
		if original != nil {
			beside = filepath.Dir(*against)
		}
		all[i] = grade(ctx, k, files[i], beside, original, most, confined, env)
		fmt.Fprintf(stderr, "%s  %.1f s\n", shown(files[i]), time.Since(start).Seconds())
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

// findNotebooks returns the files in args, and the notebooks in folders in args and their
// subfolders, in order.
func findNotebooks(args []string) (files []string, err error) {
	for _, arg := range args {
		err := filepath.WalkDir(arg, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case path != arg && strings.HasPrefix(entry.Name(), "."): // hidden, such as .ipynb_checkpoints
				if entry.IsDir() {
					return fs.SkipDir
				}
			case !entry.IsDir() && (path == arg || filepath.Ext(path) == ".ipynb"): // include links and pipes, so that grade reports them
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

// homeless returns the variables by which Go finds its caches without the user's home
// folder, which learners' programs cannot see, and the folder of Go's build cache.
func homeless(ctx context.Context, k *kernel) (env []string, cache string, err error) {
	names := []string{"GOCACHE", "GOMODCACHE", "GOPATH"}
	out, err := runGo(ctx, k.root, nil, append([]string{"env"}, names...)...)
	if err != nil {
		return nil, "", err
	}
	env = []string{"GOENV=off"}
	for i, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		env = append(env, names[i]+"="+line)
		if i == 0 {
			cache = line
		}
	}
	return env, cache, nil
}

// step is a cell of a learner's notebook that is run.
type step struct {
	what     string
	source   string
	check    string // name of the exercise that the cell checks, or ""
	answer   string // name of the exercise that the cell answers, or ""
	fallback string // declarations that replace the source if it fails
}

func checksOf(nb *notebook) []*cell {
	return slices.DeleteFunc(codeCells(nb), func(c *cell) bool { return c.checks() == "" })
}

// plan lists the cells of a notebook to run. With an original, these are only the
// original's checks, and the original's answer cells replace those that fail.
func plan(nb, original *notebook) (steps []step) {
	given := map[string]string{} // checks of the original
	open := map[string]string{}  // unanswered answer cells of the original
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
		s := step{what: fmt.Sprintf("code cell %d", i+1), check: c.checks(), answer: c.answers(), source: strings.ReplaceAll(c.source(), "\r\n", "\n")}
		switch {
		case s.check == "":
			s.source, s.fallback = declarations(s.source), open[s.answer]
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

// grade runs a learner's notebook. The result contains all errors.
func grade(ctx context.Context, k *kernel, file, beside string, original *notebook, most limits, confined *confinement, env []string) graded {
	g := graded{File: file, Exercises: []gradedExercise{}, Problems: []string{}}
	problem := func(err error) { g.Problems = append(g.Problems, err.Error()) }
	nb, err := readSmall(file)
	if err != nil {
		problem(err)
		nb = &notebook{} // the checks of the original give the exercises
	}
	steps := plan(nb, original)
	exercises := map[string]*gradedExercise{}
	for _, s := range steps {
		if s.check != "" && exercises[s.check] == nil {
			exercises[s.check] = &gradedExercise{Exercise: s.check, State: missing}
		}
	}
	if original == nil && err == nil && len(exercises) == 0 {
		problem(errors.New("it has no checks"))
	}
	if err == nil && len(exercises) > 0 {
		l := &learner{kernel: k, limits: most, confined: confined, env: env}
		if err := l.run(ctx, steps, beside, exercises, problem); err != nil {
			problem(err)
		}
	}
	for _, s := range steps {
		if e := exercises[s.check]; e != nil {
			delete(exercises, s.check)
			g.Exercises = append(g.Exercises, *e)
			if e.State == lab.Passed {
				g.Passed++
			}
		}
	}
	g.Of = len(g.Exercises)
	return g
}

// readSmall reads a learner's notebook, which must be a regular file of limited size.
func readSmall(file string) (*notebook, error) {
	info, err := os.Lstat(file)
	switch {
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, errors.New("it is a link; hand in the file itself")
	case !info.Mode().IsRegular():
		return nil, errors.New("it is no file")
	case info.Size() > largestNotebook:
		return nil, fmt.Errorf("the file has %d MB, more than %d", info.Size()>>20, largestNotebook>>20)
	}
	return readNotebook(file)
}

// run runs the steps and stores the results in exercises.
func (l *learner) run(ctx context.Context, steps []step, beside string, exercises map[string]*gradedExercise, problem func(error)) error {
	work, err := os.MkdirTemp("", "svmnb-lab-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := copyBeside(work, beside); err != nil {
		return err
	}
	l.work = work
	l.env = append(slices.Clone(l.env), "HOME="+work, "USERPROFILE="+work, "XDG_CACHE_HOME=", "XDG_CONFIG_HOME=", "XDG_DATA_HOME=", "SVMNB_CACHE="+filepath.Join(work, ".svmnb"))
	defer l.close()
	ctx, stop := context.WithTimeoutCause(ctx, l.limits.whole, fmt.Errorf("stopped after %s in all", l.limits.whole))
	defer stop()
	answers := map[string]lab.State{} // answers that did not run
	for _, s := range steps {
		r, end, err := l.ask(ctx, s.source, s.check == "")
		if err != nil {
			if e := exercises[cmp.Or(s.check, s.answer)]; e != nil {
				e.State = endedEarly
			}
			return fmt.Errorf("%s: %w", s.what, err)
		}
		if end.state != "" {
			problem(fmt.Errorf("%s: %s", s.what, end.reason))
			if s.answer != "" {
				answers[s.answer] = end.state
			}
		}
		if e := exercises[s.check]; e != nil { // if an exercise has several checks, the last counts
			*e = gradedExercise{Exercise: s.check, State: missing}
			switch report := reported(r.outputs, s.check); {
			case end.state == endedEarly: // a report before the end does not come from the check
				e.State = endedEarly
			case report != nil:
				e.State, e.Tests = report.State(), report.Tests
			case end.state != "":
				e.State = end.state
			}
			if state := answers[s.check]; state != "" && e.State == lab.Open {
				e.State = state
			}
		}
		if end.state != "" && s.fallback != "" {
			if _, _, err := l.ask(ctx, s.fallback, true); err != nil {
				return fmt.Errorf("%s, unanswered: %w", s.what, err)
			}
		}
	}
	return nil
}

// ending says how a cell ended. state is "" if it ran to its end.
type ending struct {
	state  lab.State // broken or endedEarly
	reason string
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
		return r, ending{endedEarly, err.Error()}, nil
	case reason != "" && reached, reason != "" && crashed.MatchString(reason):
		return r, ending{broken, reason}, nil
	case reason == "" && reached:
		if keep {
			l.declared = append(l.declared, source)
		}
		return r, ending{}, nil
	case reason == "":
		reason = "the program ended before its time, without an error"
	}
	l.close() // otherwise what ended this cell could end the next one
	return r, ending{endedEarly, reason}, nil
}

// crashed matches messages of the compiler and of the runtime after a panic.
var crashed = regexp.MustCompile(`(?m)^\s*(panic: |fatal error: (all goroutines|stack overflow|concurrent)|Cell \[\d+\], line \d+: )`)

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
		if err != nil || !info.Mode().IsRegular() || strings.HasPrefix(e.Name(), ".") || filepath.Ext(e.Name()) == ".ipynb" || info.Size() > largestFile {
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

var stateMarks = map[lab.State]string{lab.Passed: "✓", lab.Failed: "✗", lab.Open: "…", broken: "!", endedEarly: "⏹", missing: "-"}

// shown returns a name for a line of a table. It quotes names with characters that would
// break the line or deceive a reader.
func shown(name string) string {
	if name != "" && strings.TrimSpace(name) == name && utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return name
	}
	return strconv.Quote(name)
}

// told returns the output of a program, marked so that no line of it can be mistaken for a
// line of the report.
func told(text string) string {
	text = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
			return '\ufffd'
		}
		return r
	}, strings.TrimSpace(stripANSI(strings.ReplaceAll(text, "\r", "\n"))))
	return strings.ReplaceAll(text, "\n", "\n    ")
}

// writeTable writes one line for each notebook, and then the cells that did not run.
func writeTable(w io.Writer, all []graded) {
	var names []string
	width := len("notebook")
	for _, g := range all {
		width = max(width, utf8.RuneCountInString(shown(g.File)))
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
		fmt.Fprintf(w, "%-*s", width, shown(g.File))
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
	fmt.Fprintln(w, "\n✓ passed  ✗ not right  … not answered  ! broken: does not compile, or panics  ⏹ ended early  - the check did not run")
	for _, g := range all {
		for _, p := range g.Problems {
			fmt.Fprintf(w, "\n%s: %s\n", shown(g.File), told(p))
		}
	}
}
