// The notebooks command runs the notebooks in this folder, or any others, in a pinned
// version of GoNB, the Go kernel of Jupyter, with the code of this checkout. It needs Go,
// but neither Python nor Jupyter, and no network after the first run.
//
//	go run ./notebooks help
package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/svmnb/svmnb/svmnb/static"
)

const usage = `Usage: go run ./notebooks [command]

  (nothing)     run the tour, notebooks/01-first-margin.ipynb
  run FILE...   run notebooks; write the executed .ipynb and an .html page
                  -o DIR           where to (default notebooks/out)
                  -inplace         update the notebooks themselves, where outputs
                                   differ; pages go to -o
                  -timeout 120s    for each cell
  test [FILE...]  run all notebooks here and compare with their committed outputs;
                hold the checks of exercises to the solutions
                  -rtol 1e-6       how far numbers may differ
                  -timeout 120s    for each cell
                  -solutions=false without the solutions
                  -j 2             how many at once
  new-lab NAME  write NAME.ipynb, a blank lab with data, an exercise and its
                check, and solutions/NAME.md
  check FILE|DIR...  run learners' notebooks, each apart and within limits, and
                say which exercises are right
                  -against FILE    the notebook that was given out: its checks
                                   count, whatever learners did to theirs
                  -o DIR           write feedback pages, tables for Moodle and
                                   Canvas, marks to fill in, and a summary there
                  -roster FILE     names of the class (CSV)
                  -deadline TIME   such as "2026-11-20 23:59"
                  -late 10%        what each day after it costs, or points: 0.5
                  -title TEXT      of the lab in gradebooks
                  -solutions FILE  points and hidden checks (default
                                   solutions/NAME.md beside the notebook)
                  -gradescope FILE  write the results of one student there too
                  -json FILE       write the results of each notebook there too
                  -timeout 20s     for each cell
                  -total 5m        for each notebook
                  -memory 2048     MB for each process (Linux)
                  -j N             how many at once (default: as many as there
                                   are processors and memory for)
  static FILE...  put a picture of each chart into notebooks, in place, for readers
                where no scripts run (run does so by itself)
                  -dark            for a dark page
  site DIR      write notebooks and documents as pages that need no network, with
                a search over all text, and what they share once
  editions FILE...  write the learner's and the teacher's edition of notebooks and
                their solutions
                  -o DIR           where to (default notebooks/out)
                  -nbgrader NAME   also a course for nbgrader in DIR/NAME
  slides FILE...  write notebooks as slides that need no network
                  -o DIR           where to (default notebooks/out)
                  -pdf             also print them
  book [FILE...]  print notebooks, or the course, as one PDF file
                  -o FILE          default notebooks/out/book.pdf
                  -title TEXT      on the first page
  lab [ARG...]  open your own Jupyter with the same kernel; ARGs go to Jupyter
  install       add the kernel to your Jupyter, as "Go (svmnb)"
  uninstall     take it out again
  gallery       draw the pictures of docs/gallery.md again
  predict MODEL FILE
                write the rows of a CSV file with the predictions of a saved model
  bench         time a trivial cell and a chart's cell, warm
  help          this text

The kernel is built once into your cache folder. Everything works offline after
the first run.
`

const tour = "01-first-margin.ipynb"

func main() {
	guard()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command(ctx, os.Args[1:], os.Stdout, os.Stderr)
	interrupted := ctx.Err() != nil
	stop()
	if interrupted {
		fmt.Fprintln(os.Stderr, "\nstopped")
		os.Exit(130)
	}
	if err != nil {
		if !errors.Is(err, errReported) {
			fmt.Fprintln(os.Stderr, "notebooks:", err)
		}
		os.Exit(1)
	}
}

// errReported is the error of a command that has already told the user what failed.
var errReported = errors.New("failed")

func command(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	name := ""
	if len(args) > 0 && (!strings.HasPrefix(args[0], "-") || isHelp(args[0])) {
		name, args = args[0], args[1:]
	}
	if isHelp(name) {
		_, err := io.WriteString(stdout, usage)
		return err
	}
	if name == "predict" {
		return predictCommand(args, os.Stdin, stdout, stderr)
	}
	commands := map[string]func(context.Context, *session, []string) error{
		"": runCommand, "run": runCommand, "test": testCommand, "static": staticCommand, "lab": labCommand,
		"new-lab": newLabCommand, "check": checkCommand, "site": siteCommand, "slides": slidesCommand, "book": bookCommand, "editions": editionsCommand,
		"install": installCommand, "uninstall": uninstallCommand, "bench": benchCommand, "gallery": galleryCommand,
	}
	run := commands[name]
	if run == nil {
		return fmt.Errorf("there is no command %q; see go run ./notebooks help", name)
	}
	work, err := os.Getwd()
	if err != nil {
		return err
	}
	root, err := findCheckout(work)
	if err != nil {
		return err
	}
	return run(ctx, &session{root: root, name: name, stdout: stdout, stderr: stderr}, args)
}

func isHelp(arg string) bool {
	return slices.Contains([]string{"help", "-h", "-help", "--help"}, arg)
}

// session is one run of the command.
type session struct {
	root           string
	name           string
	stdout, stderr io.Writer
	timeout        time.Duration
	fresh          bool // ignore results that Keep stored before
}

func (s *session) flags() *flag.FlagSet {
	flags := flag.NewFlagSet(s.name, flag.ContinueOnError)
	flags.SetOutput(s.stderr)
	flags.Usage = func() { fmt.Fprint(s.stderr, usage) }
	flags.DurationVar(&s.timeout, "timeout", 120*time.Second, "for each cell")
	return flags
}

func (s *session) folder() string { return filepath.Join(s.root, "notebooks") }

// parse accepts flags before, between and after the files.
func parse(flags *flag.FlagSet, args []string) ([]string, error) {
	var files []string
	for {
		if err := flags.Parse(args); err != nil {
			return nil, errReported
		}
		if flags.NArg() == 0 {
			return files, nil
		}
		files = append(files, flags.Arg(0))
		args = flags.Args()[1:]
	}
}

func runCommand(ctx context.Context, s *session, args []string) error {
	flags := s.flags()
	dir := flags.String("o", filepath.Join(s.folder(), "out"), "where to")
	inplace := flags.Bool("inplace", false, "update the notebooks themselves")
	files, err := parse(flags, args)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		if s.name != "" {
			return errors.New("run which notebooks? Name their files")
		}
		file := filepath.Join(s.folder(), tour)
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the tour is missing: there is no %s", file)
		}
		files = []string{file}
	}
	s.fresh = *inplace
	out, err := filepath.Abs(*dir)
	if err != nil {
		return err
	}
	type job struct {
		in, notebook, page string
		nb                 *notebook
	}
	var jobs []job
	taken := map[string]string{}
	for _, file := range files {
		in, err := filepath.Abs(file)
		if err != nil {
			return err
		}
		nb, err := readNotebook(in)
		if err != nil {
			return err
		}
		base := strings.TrimSuffix(filepath.Base(in), ".ipynb")
		j := job{in: in, nb: nb, notebook: filepath.Join(out, base+".ipynb"), page: filepath.Join(out, base+".html")}
		if *inplace {
			j.notebook = in
		} else if sameFile(j.notebook, in) {
			return fmt.Errorf("%s would be overwritten; choose another -o, or say -inplace", in)
		}
		if other, clash := taken[j.page]; clash {
			return fmt.Errorf("%s and %s would both be written to %s; run them apart, with -o", other, in, j.page)
		}
		taken[j.page] = in
		jobs = append(jobs, j)
	}
	k, err := s.kernel(ctx)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, j := range jobs {
		failed := s.execute(ctx, k, j.in, j.nb, s.stderr)
		if ctx.Err() != nil {
			return failed
		}
		// Write a failed notebook too, with the error in its output, but never over the
		// committed one.
		if *inplace && failed != nil {
			j.notebook = filepath.Join(out, filepath.Base(j.in))
		} else if *inplace {
			before, err := readNotebook(j.in)
			if err != nil {
				return err
			}
			if err := standard.keep(before, j.nb); err != nil {
				return fmt.Errorf("%s: %w", j.in, err)
			}
		}
		start := time.Now()
		charts, _, err := fillFigures(ctx, j.nb, static.Options{})
		if ctx.Err() != nil {
			return err
		}
		if err != nil { // write the notebook in spite of missing pictures
			fmt.Fprintf(s.stderr, "%s: not all charts have a picture: %v\n", j.in, err)
		}
		if charts > 0 {
			fmt.Fprintf(s.stderr, "pictures of %d charts  %.2f s\n", charts, time.Since(start).Seconds())
		}
		page, err := exportHTML(j.nb, filepath.Base(j.in), filepath.Dir(j.in))
		if err != nil {
			return err
		}
		if err := errors.Join(j.nb.write(j.notebook), writeFile(j.page, page)); err != nil {
			return err
		}
		fmt.Fprintf(s.stdout, "%s\n%s\n", j.notebook, j.page)
		if failed != nil {
			return failed
		}
	}
	return nil
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// kernel builds the kernel, and the packages that cells import, so that the first cell need
// not wait for the compiler.
func (s *session) kernel(ctx context.Context) (*kernel, error) {
	k, err := buildKernel(ctx, s.root, false, s.stderr)
	if err != nil {
		return nil, err
	}
	return k, k.warm(ctx, s.stderr)
}

// jupyterKernel builds the kernel with what a person at Jupyter needs: completion, and errors
// that are explained.
func (s *session) jupyterKernel(ctx context.Context) (*kernel, error) {
	k, err := buildKernel(ctx, s.root, true, s.stderr)
	if err != nil {
		return nil, err
	}
	return k, k.buildRelay(ctx)
}

// start starts a kernel in the notebook's folder. done ends it.
func (s *session) start(ctx context.Context, k *kernel, file string) (_ *client, done func(), err error) {
	var env []string
	forget := func() {}
	if s.fresh {
		dir, err := os.MkdirTemp("", "svmnb-kept-")
		if err != nil {
			return nil, nil, err
		}
		forget = func() { os.RemoveAll(dir) }
		env = []string{"SVMNB_CACHE=" + dir}
	}
	client, err := k.start(ctx, filepath.Dir(file), env...)
	if err != nil {
		forget()
		return nil, nil, err
	}
	return client, func() { client.close(); forget() }, nil
}

// execute runs a notebook in a new kernel, in the notebook's folder.
func (s *session) execute(ctx context.Context, k *kernel, file string, nb *notebook, progress io.Writer) error {
	fmt.Fprintln(progress, file)
	client, done, err := s.start(ctx, k, file)
	if err != nil {
		return err
	}
	defer done()
	if err := run(ctx, client, nb, s.timeout, progress); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

func testCommand(ctx context.Context, s *session, args []string) error {
	flags := s.flags()
	rtol := flags.Float64("rtol", standard.rtol, "how far numbers may differ")
	solutions := flags.Bool("solutions", true, "also hold the checks of exercises to the solutions")
	atOnce := flags.Int("j", 2, "how many notebooks at once")
	files, err := parse(flags, args)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		if files, err = filepath.Glob(filepath.Join(s.folder(), "*.ipynb")); err != nil {
			return err
		}
		if len(files) == 0 {
			return fmt.Errorf("there are no notebooks in %s", s.folder())
		}
	}
	for i, file := range files {
		if files[i], err = filepath.Abs(file); err != nil {
			return err
		}
		if _, err := readNotebook(files[i]); err != nil {
			return err
		}
	}
	k, err := s.kernel(ctx)
	if err != nil {
		return err
	}
	s.fresh = true
	var failed atomic.Int32
	inOrder(len(files), *atOnce, s.stdout, s.stderr, func(i int, stdout, stderr io.Writer) {
		problems, err := s.test(ctx, k, files[i], rules{rtol: *rtol}, *solutions, stderr)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			fmt.Fprintln(stdout, "FAIL", err)
		case len(problems) > 0:
			fmt.Fprintf(stdout, "FAIL %s: %s\n", files[i], strings.Join(problems, "\n"))
		default:
			fmt.Fprintln(stdout, "ok  ", files[i])
			return
		}
		failed.Add(1)
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if bad := failed.Load(); bad > 0 {
		fmt.Fprintf(s.stdout, "%d of %d notebooks failed\n", bad, len(files))
		return errReported
	}
	return nil
}

// test runs a notebook and lists the differences in its outputs and the mistakes in its
// exercises.
func (s *session) test(ctx context.Context, k *kernel, file string, r rules, solutions bool, progress io.Writer) ([]string, error) {
	want, err := readNotebook(file)
	if err != nil {
		return nil, err
	}
	got, err := readNotebook(file)
	if err != nil {
		return nil, err
	}
	if err := s.execute(ctx, k, file, got, progress); err != nil {
		return nil, err
	}
	diffs, err := r.compare(want, got)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var problems []string
	if len(diffs) > 0 {
		problems = append(problems, "outputs differ from the committed ones")
		for _, d := range diffs {
			problems = append(problems, d.String())
		}
		problems = append(problems, "If the new outputs are right, store them: go run ./notebooks run -inplace "+file,
			"If not, look at these cells, and at the cells above and the code of the library that they use.")
	}
	problems = append(problems, vacuous(got)...)
	if solutions {
		more, err := s.solve(ctx, k, file, want, progress)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		problems = append(problems, more...)
	}
	return problems, nil
}

func labCommand(ctx context.Context, s *session, args []string) error {
	program, err := exec.LookPath("jupyter-lab")
	if err != nil {
		program, err = exec.LookPath("jupyter-notebook")
	}
	if err != nil {
		return fmt.Errorf("there is no Jupyter on your PATH. Install one with\n\n    %s\n\nand run this again", installJupyter())
	}
	k, err := s.jupyterKernel(ctx)
	if err != nil {
		return err
	}
	// A folder for each checkout, so that several can be open at once.
	data := filepath.Join(filepath.Dir(k.bin), fmt.Sprintf("jupyter-%x", sha256.Sum256([]byte(s.root)))[:len("jupyter-")+8])
	if _, err := k.writeSpec(data); err != nil {
		return err
	}
	chosen := func(arg string) bool {
		return !strings.HasPrefix(arg, "-") || strings.Contains(arg, "_dir=") || strings.Contains(arg, "-dir=")
	}
	if strings.Contains(filepath.Base(program), "jupyter-lab") && !slices.ContainsFunc(args, chosen) {
		// It begins with the notebooks, and their links to the documents stay within its root.
		args = append([]string{"--ServerApp.root_dir=" + s.root, "--ServerApp.preferred_dir=" + s.folder()}, args...)
	}
	cmd := exec.Command(program, args...)
	cmd.Dir = s.folder()
	search := data
	if old := os.Getenv("JUPYTER_PATH"); old != "" {
		search += string(filepath.ListSeparator) + old
	}
	cmd.Env = append(os.Environ(), "JUPYTER_PATH="+search)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, s.stdout, s.stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	// Ctrl-C also reaches Jupyter, which asks what to do.
	asked := make(chan os.Signal, 1)
	signal.Reset(os.Interrupt)
	signal.Notify(asked, os.Interrupt)
	defer signal.Stop(asked)
	defer context.AfterFunc(ctx, func() {
		if cmd.Process.Signal(syscall.SIGTERM) != nil { // Windows can only kill
			_ = cmd.Process.Kill()
		}
	})()
	return cmd.Wait()
}

// installJupyter returns the command that installs Jupyter with the tools on this machine.
func installJupyter() string {
	for _, way := range []struct{ program, command string }{
		{"uv", "uv tool install jupyterlab"},
		{"pipx", "pipx install jupyterlab"},
		{"brew", "brew install jupyterlab"},
		{"apt-get", "sudo apt-get install jupyter-notebook"},
		{"dnf", "sudo dnf install jupyterlab"},
		{"pacman", "sudo pacman -S jupyterlab"},
		{"py", "py -m pip install --user jupyterlab"},
	} {
		if _, err := exec.LookPath(way.program); err == nil {
			return way.command
		}
	}
	return "python3 -m pip install --user jupyterlab"
}

func installCommand(ctx context.Context, s *session, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("install takes no arguments, got %q", args)
	}
	data, err := jupyterData()
	if err != nil {
		return err
	}
	k, err := s.jupyterKernel(ctx)
	if err != nil {
		return err
	}
	dir, err := k.writeSpec(data)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.stdout, "%s\nThe kernel %q uses the checkout %s; install again after moving it.\n", dir, displayName, s.root)
	return nil
}

func uninstallCommand(_ context.Context, s *session, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("uninstall takes no arguments, got %q", args)
	}
	data, err := jupyterData()
	if err != nil {
		return err
	}
	dir, err := removeSpec(data)
	if err != nil {
		return err
	}
	fmt.Fprintln(s.stdout, "removed", dir)
	return nil
}

func benchCommand(ctx context.Context, s *session, args []string) error {
	flags := s.flags()
	if rest, err := parse(flags, args); err != nil {
		return err
	} else if len(rest) > 0 {
		return fmt.Errorf("bench takes no files, got %q", rest)
	}
	k, err := s.kernel(ctx)
	if err != nil {
		return err
	}
	client, err := k.start(ctx, s.folder())
	if err != nil {
		return err
	}
	defer client.close()
	return bench(ctx, client, s.timeout, s.stdout)
}
