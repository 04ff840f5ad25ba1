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
	"strconv"
	"strings"
	"time"
)

// checkFlags are what the teacher asks the check command for.
type checkFlags struct {
	against, solutions, title string
	json, out, gradescope     string
	roster, deadline, late    string
	atOnce                    int
	limits                    limits
}

func checkCommand(ctx context.Context, s *session, args []string) error {
	f := checkFlags{}
	flags := s.flags()
	s.timeout = 20 * time.Second
	flags.DurationVar(&f.limits.whole, "total", 5*time.Minute, "for each notebook")
	memory := flags.Int("memory", 2048, "MB, for each process")
	flags.StringVar(&f.against, "against", "", "the notebook that was given out, whose checks count")
	flags.StringVar(&f.solutions, "solutions", "", "points and hidden checks (default: solutions/NAME.md beside it)")
	flags.StringVar(&f.title, "title", "", "of the lab in gradebooks (default: the first heading)")
	flags.StringVar(&f.json, "json", "", "also write the results of each notebook to this file")
	flags.StringVar(&f.gradescope, "gradescope", "", "also write the results of one student to this file, for Gradescope")
	flags.StringVar(&f.out, "o", "", "folder for tables, feedback pages and the summary")
	flags.StringVar(&f.roster, "roster", "", "CSV with the names of the class")
	flags.StringVar(&f.deadline, "deadline", "", "such as \"2026-11-20 23:59\"")
	flags.StringVar(&f.late, "late", "", "what each day after the deadline costs: points, or a share such as 10%")
	flags.IntVar(&f.atOnce, "j", processorsAndMemory(), "how many notebooks at once")
	args, err := parse(flags, args)
	if err != nil {
		return err
	}
	if *memory < 256 {
		return fmt.Errorf("-memory %d: the Go compiler needs 256 MB", *memory)
	}
	f.limits.cell, f.limits.memory = s.timeout, uint64(*memory)<<20
	return f.check(ctx, s, args)
}

func (f checkFlags) check(ctx context.Context, s *session, args []string) error {
	if len(args) == 0 {
		return errors.New("check which notebooks? Name files, or a folder")
	}
	if f.against == "" && f.out+f.roster+f.deadline+f.late+f.title+f.gradescope != "" {
		return errors.New("-o, -gradescope, -roster, -deadline, -late and -title need -against, the notebook that was given out")
	}
	if f.out == "" && f.gradescope == "" && f.roster+f.deadline+f.late+f.title != "" {
		return errors.New("-roster, -deadline, -late and -title need -o, a folder for what they change, or -gradescope")
	}
	t, err := readTask(f.against, f.solutions)
	if err != nil {
		return err
	}
	if f.title != "" {
		t.title = f.title
	}
	ins, err := findHandIns(args, f.against)
	if err != nil {
		return err
	}
	rule, err := parseLateRule(f.deadline, f.late, time.Local)
	if err != nil {
		return err
	}
	var people *roster
	if f.roster != "" {
		if people, err = readRoster(f.roster, time.Local); err != nil {
			return err
		}
		if f.deadline != "" && people.noTime != nil {
			return fmt.Errorf("%s, %w", f.roster, people.noTime)
		}
	}
	marksFile := filepath.Join(f.out, "marks.csv")
	marks, comma, err := readMarks(marksFile, t.worth)
	if err != nil && f.out != "" { // before the notebooks run
		return err
	}
	g, err := s.grader(ctx, t, f.limits)
	if err != nil {
		return err
	}
	if f.out != "" {
		if err := g.keepIn(filepath.Join(f.out, "kept")); err != nil {
			return err
		}
	}
	if f.out != "" || f.gradescope != "" {
		if err := g.runModel(ctx); err != nil {
			return err
		}
	}
	results := g.all(ctx, ins, f.atOnce, s)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if f.json != "" {
		if err := writeJSON(f.json, results); err != nil {
			return err
		}
	}
	if f.out == "" && f.gradescope == "" {
		writeTable(s.stdout, results)
		return nil
	}
	c := assemble(t, ins, results, people, marks, rule, modified)
	if f.gradescope != "" {
		if len(c.Entries) != 1 {
			return fmt.Errorf("-gradescope %s is for one student, and there are notebooks of %d", f.gradescope, len(c.Entries))
		}
		if err := writeJSON(f.gradescope, c.gradescope(c.Entries[0])); err != nil {
			return err
		}
	}
	if f.out == "" {
		writeTable(s.stdout, results)
		return nil
	}
	if err := c.write(f.out, marks, comma, s.stdout); err != nil {
		return err
	}
	c.writeSummary(s.stdout)
	return nil
}

// grader prepares the kernel and its limits.
func (s *session) grader(ctx context.Context, t *task, most limits) (*grader, error) {
	k, err := s.kernel(ctx)
	if err != nil {
		return nil, err
	}
	env, cache, err := homeless(ctx, k)
	if err != nil {
		return nil, err
	}
	g := &grader{kernel: k, task: t, limits: most, env: env}
	g.run = g.grade
	if runtime.GOOS != "linux" {
		fmt.Fprintln(s.stderr, "the memory and the processes of learners' programs are not limited on this system; run check in a container")
		return g, nil
	}
	g.confined = &confinement{Memory: most.memory, Processes: mostProcesses, Apart: true, Writable: []string{cache}}
	if err := canBeApart(); err != nil {
		g.confined.Apart = false
		fmt.Fprintf(s.stderr, "learners' programs have no namespaces of their own, so they can write wherever you may and use the network (%s); run check in a container\n", shown(err.Error()))
	}
	return g, nil
}

// all checks the files, several at once.
func (g *grader) all(ctx context.Context, ins []handIn, atOnce int, s *session) []graded {
	results := make([]graded, len(ins))
	inOrder(len(ins), atOnce, s.stdout, s.stderr, func(i int, _, stderr io.Writer) {
		if ctx.Err() != nil {
			return
		}
		start := time.Now()
		data, err := readSmall(ins[i].file)
		if err != nil {
			results[i] = g.unreadable(ins[i].file, err)
		} else {
			results[i] = g.kept(ctx, ins[i].file, data)
		}
		if ctx.Err() == nil {
			fmt.Fprintf(stderr, "%d of %d  %s  %.1f s\n", i+1, len(ins), shown(ins[i].file), time.Since(start).Seconds())
		}
	})
	if ctx.Err() != nil && g.folder != "" {
		fmt.Fprintln(s.stderr, "what was checked is kept; the same command goes on from there")
	}
	return results
}

// findHandIns lists the notebooks in args, with what their names say.
func findHandIns(args []string, against string) (ins []handIn, err error) {
	original := strings.TrimSuffix(filepath.Base(against), filepath.Ext(against))
	for _, arg := range args {
		files, err := findNotebooks(arg)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			ins = append(ins, handInOf(arg, file, original))
		}
	}
	if len(ins) == 0 {
		return nil, fmt.Errorf("there are no notebooks in %s", strings.Join(args, ", "))
	}
	return ins, nil
}

// findNotebooks returns arg if it is a file, and otherwise the notebooks in the folder and
// its subfolders, in order.
func findNotebooks(arg string) (files []string, err error) {
	err = filepath.WalkDir(arg, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path != arg && strings.HasPrefix(entry.Name(), "."): // hidden, such as .ipynb_checkpoints
			if entry.IsDir() {
				return fs.SkipDir
			}
		case !entry.IsDir() && (path == arg || filepath.Ext(path) == ".ipynb"): // include links and pipes, so that they are reported
			files = append(files, path)
		}
		return nil
	})
	return files, err
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

// memoryOfNotebook is what the compiler, the linker and the kernel of a notebook need.
const memoryOfNotebook = 1 << 30

// processorsAndMemory returns how many notebooks run at once: as many as there are
// processors, if there is memory for them.
func processorsAndMemory() int {
	n := runtime.NumCPU()
	data, err := os.ReadFile("/proc/meminfo") // on Linux
	if err != nil {
		return n
	}
	for line := range strings.Lines(string(data)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "MemAvailable:" {
			if kB, err := strconv.ParseInt(fields[1], 10, 64); err == nil {
				n = min(n, int(kB<<10/memoryOfNotebook))
			}
		}
	}
	return max(1, n)
}

func writeJSON(file string, v any) error {
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	return writeFile(file, append(data, '\n'))
}
