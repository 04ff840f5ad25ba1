package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/svmnb/svmnb/notebooks/lab"

	"github.com/yuin/goldmark"
	markup "github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// Exercise 3.2 of a notebook has two code cells. The answer has the id exercise-3-2. It
// contains only declarations and runs even before a learner has changed it. The check has
// the id check-3-2, the line "%% check 3.2" before its statements, and calls lab.Check.
//
// The solutions to notebooks/NAME.ipynb are in notebooks/solutions/NAME.md, each below a
// heading "## Exercise 3.2". The first fenced block "go right" replaces the answer; further
// ones must pass the check too. The check must refuse the blocks "go wrong", which an exercise
// with a prediction need not have, since every guess is accepted.
//
// An exercise that asks for a proof or an interpretation has a Markdown cell with the id
// proof-3-3 for the answer, and no check. A person marks it. Its solution has a paragraph
// "**Marks.**" that says what earns how many points.
//
// The heading of a solution may say what the exercise is worth, "## Exercise 3.2 (3 points)".
// A block "go hidden" is a further check, which learners do not get: the right answers must
// pass it, and a wrong answer must be refused by at least one of the two checks.

// exercise is a pair of cells, of which one may be missing, or a proof.
type exercise struct {
	name          string // such as "3.2"
	answer, check *cell
	proof         *cell
}

var (
	proofID   = regexp.MustCompile(`^proof-(\d+)-(\d+)$`)
	answerID  = regexp.MustCompile(`^exercise-(\d+)-(\d+)$`)
	checkID   = regexp.MustCompile(`^check-(\d+)-(\d+)$`)
	checkLine = regexp.MustCompile(`^%% check (\d+\.\d+)[ \t\r]*(\n|$)`) // first line of the statements of a check
)

// answers returns the name of the exercise that the cell answers, or "".
func (c *cell) answers() string { return c.named(answerID) }

func (c *cell) named(pattern *regexp.Regexp) string {
	id, _ := c.raw["id"].(string)
	if m := pattern.FindStringSubmatch(id); m != nil {
		return m[1] + "." + m[2]
	}
	return ""
}

// checks returns the name of the exercise that the cell checks, or "". It reads the line of
// the check, since some front ends do not keep ids.
func (c *cell) checks() string {
	if m := checkLine.FindStringSubmatch(statements(c.source())); m != nil {
		return m[1]
	}
	return ""
}

// exercisesOf returns the exercises of a notebook in order, and the mistakes in how they
// are written.
func exercisesOf(nb *notebook) (list []*exercise, problems []string) {
	get := func(name string) *exercise {
		if i := slices.IndexFunc(list, func(e *exercise) bool { return e.name == name }); i >= 0 {
			return list[i]
		}
		list = append(list, &exercise{name: name})
		return list[len(list)-1]
	}
	add := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	for i, c := range codeCells(nb) {
		if name := c.answers(); name != "" {
			get(name).answer = c
			if strings.TrimSpace(declarations(c.source())) != strings.TrimSpace(c.source()) {
				add("code cell %d, the answer to exercise %s, does more than declare", i+1, name)
			}
		}
		name := c.checks()
		if byID := c.named(checkID); name != byID {
			add("code cell %d is the check of exercise %q by its line %%%% and of %q by its id", i+1, name, byID)
		}
		if name == "" {
			continue
		}
		e := get(name)
		if e.check != nil {
			add("exercise %s has two checks", name)
		}
		if e.check = c; e.answer == nil {
			add("exercise %s has no answer cell before its check", name)
		}
	}
	for _, c := range nb.cells {
		if name := c.named(proofID); name != "" {
			get(name).proof = c
			if c.kind() != "markdown" {
				add("the proof of exercise %s is not in a Markdown cell", name)
			}
		}
	}
	for _, e := range list {
		switch {
		case e.check == nil && e.proof == nil:
			add("exercise %s has no check", e.name)
		case e.check != nil && e.proof != nil:
			add("exercise %s has both a check and a proof", e.name)
		}
	}
	return list, problems
}

// declarations returns the part of a cell that later cells can use: the source before the
// statements, without lines for GoNB or the shell.
func declarations(source string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimSuffix(source, statements(source))) {
		if bare := strings.TrimPrefix(line, "//gonb:"); !strings.HasPrefix(bare, "%") && !strings.HasPrefix(bare, "!") {
			b.WriteString(line)
		}
	}
	return b.String()
}

var statement = regexp.MustCompile(`(?m)^(//gonb:)?(%%|%main)`)

// statements returns the part of a cell that runs once.
func statements(source string) string {
	if i := statement.FindStringIndex(source); i != nil {
		return source[i[0]:]
	}
	return ""
}

// together joins the declarations of several cells into as few cells as Go allows, since
// each cell needs a compiler and a linker run. Imports come first, and no name is declared
// twice in a cell. The last source may end with statements.
func together(sources []string) (cells []string) {
	var imports, rest strings.Builder
	taken := map[string]bool{}
	flush := func() {
		if imports.Len()+rest.Len() == 0 {
			return
		}
		cells = append(cells, imports.String()+rest.String())
		imports.Reset()
		rest.Reset()
		clear(taken)
	}
	for _, source := range sources {
		const head = "package p\n"
		file, err := parser.ParseFile(token.NewFileSet(), "", head+source, parser.SkipObjectResolution)
		if err != nil { // the kernel will report the error
			flush()
			rest.WriteString(source + "\n")
			flush()
			continue
		}
		if slices.ContainsFunc(declared(file), func(name string) bool { return taken[name] }) {
			flush()
		}
		for _, name := range declared(file) {
			taken[name] = true
		}
		from := 0
		for _, d := range file.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
				start, end := int(g.Pos())-1-len(head), int(g.End())-1-len(head)
				rest.WriteString(source[from:start])
				from = end
			}
		}
		for _, i := range file.Imports {
			line := "import " + i.Path.Value + "\n"
			if i.Name != nil {
				line = "import " + i.Name.Name + " " + i.Path.Value + "\n"
			}
			if !taken[line] {
				taken[line] = true
				imports.WriteString(line)
			}
		}
		rest.WriteString(source[from:] + "\n")
	}
	return append(cells, imports.String()+rest.String())
}

// declares lists the names that a code cell declares, or nothing if it does not compile.
func (c *cell) declares() []string {
	file, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+declarations(c.source()), parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	return declared(file)
}

// declared lists the names that a file declares, methods with their receivers.
func declared(file *ast.File) (names []string) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil && len(d.Recv.List) > 0 {
				name = strings.TrimPrefix(types.ExprString(d.Recv.List[0].Type), "*") + "." + name
			}
			names = append(names, name)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					names = append(names, spec.Name.Name)
				case *ast.ValueSpec:
					for _, n := range spec.Names {
						names = append(names, n.Name)
					}
				}
			}
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "_" })
}

// most is the largest size of a cell's output. More is dropped.
const most = 8 << 20

// ask executes one cell and returns its output, and why it failed or "". The error means
// that the kernel has ended.
func ask(ctx context.Context, k *client, source string, timeout time.Duration) (*recorder, string, error) {
	id, size := rand.Text(), 0
	r := &recorder{special: hasSpecialLines(source), displays: map[string][]*output{}}
	answer, err := k.execute(ctx, id, source, timeout, func(m message) {
		if m.Parent.ID != id {
			return
		}
		if size += len(m.Content); size <= most {
			r.take(m)
		}
	})
	switch {
	case errors.Is(err, errTimeout):
		return r, fmt.Sprintf("%v after %s", err, timeout), nil
	case errors.Is(err, errInput):
		return r, err.Error(), nil
	case err != nil:
		return r, "", err
	}
	reason := r.failed(answer)
	if size > most {
		reason = strings.TrimSpace(fmt.Sprintf("it prints more than %d MB\n%s", most>>20, reason))
	}
	return r, reason, nil
}

// reported returns the last report of lab.Check on an exercise that contains the secret of
// signed, or nil.
func reported(outs []*output, exercise, secret string) *lab.Report {
	for _, o := range slices.Backward(outs) {
		var r lab.Report
		said, _ := o.data[lab.MIME].(string)
		if json.Unmarshal([]byte(said), &r) == nil && r.Exercise == exercise && r.Token == secret {
			return &r
		}
	}
	return nil
}

// vacuous lists the exercises of an executed notebook whose checks report nothing, or pass
// before the exercise is answered.
func vacuous(nb *notebook) (problems []string) {
	for _, c := range codeCells(nb) {
		name := c.checks()
		if name == "" {
			continue
		}
		outs, err := c.outputs()
		if err != nil {
			problems = append(problems, err.Error())
			continue
		}
		switch r := reported(outs, name, ""); {
		case r == nil:
			problems = append(problems, fmt.Sprintf("the check of exercise %s does not call lab.Check(%q, …)", name, name))
		case r.Passed:
			problems = append(problems, fmt.Sprintf("exercise %s passes its check before it is answered", name))
		}
	}
	return problems
}

// solution has the blocks of a solutions file for one exercise.
type solution struct {
	right []string // later cells see the first one
	wrong []string
	marks bool // it says what a proof earns

	points float64 // what the exercise is worth
	hidden string  // a check that learners do not get, or ""
	text   string  // Markdown below the heading
}

var solutionHeading = regexp.MustCompile(`^Exercise (\d+\.\d+)(?: \((\d+(?:\.\d+)?) points?\))?$`)

// nearlySolution matches headings that are meant to be those of solutions.
var nearlySolution = regexp.MustCompile(`^Exercise \d+\.\d+`)

// parseSolutions parses a solutions file.
func parseSolutions(source []byte) (map[string]*solution, error) {
	found := map[string]*solution{}
	var current *solution
	var failed error
	begin := 0 // of the text of current
	finish := func(end int) {
		if current != nil {
			current.text = strings.TrimSpace(string(source[begin:end]))
		}
	}
	doc := goldmark.DefaultParser().Parse(text.NewReader(source))
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *markup.Heading:
			if n.Level > 2 || n.Lines().Len() == 0 {
				continue
			}
			finish(startOfLine(source, n.Lines().At(0).Start))
			current = nil
			if m := solutionHeading.FindSubmatch(n.Lines().Value(source)); m != nil && n.Level == 2 {
				name := string(m[1])
				if found[name] != nil {
					failed = cmp.Or(failed, fmt.Errorf("exercise %s has two headings", name))
				}
				current = &solution{points: 1}
				if len(m[2]) > 0 {
					current.points, _ = strconv.ParseFloat(string(m[2]), 64) // the pattern allows only numbers
				}
				found[name], begin = current, n.Lines().At(0).Stop
			} else if heading := n.Lines().Value(source); n.Level == 2 && nearlySolution.Match(heading) {
				failed = cmp.Or(failed, fmt.Errorf("the heading %q is neither like \"Exercise 3.2\" nor like \"Exercise 3.2 (3 points)\"", heading))
			}
		case *markup.Paragraph:
			if current != nil && strings.HasPrefix(string(n.Lines().Value(source)), "**Marks.**") {
				current.marks = true
			}
		case *markup.FencedCodeBlock:
			info := ""
			if n.Info != nil {
				info = string(n.Info.Segment.Value(source))
			}
			word, kind, _ := strings.Cut(strings.TrimSpace(info), " ")
			if word != "go" || kind != "right" && kind != "wrong" && kind != "hidden" {
				continue
			}
			code := string(n.Lines().Value(source))
			switch {
			case current == nil:
				failed = cmp.Or(failed, fmt.Errorf("a block %q is under no heading \"## Exercise N.M\"", info))
			case kind == "right":
				current.right = append(current.right, code)
			case kind == "hidden" && current.hidden != "":
				failed = cmp.Or(failed, errors.New("an exercise has two blocks \"go hidden\""))
			case kind == "hidden":
				current.hidden = code
			default:
				current.wrong = append(current.wrong, code)
			}
		}
	}
	finish(len(source))
	return found, failed
}

func startOfLine(source []byte, at int) int { return bytes.LastIndexByte(source[:at], '\n') + 1 }

// solve tests the checks of a notebook with its solutions. In a new kernel, with the
// declarations of all cells and no statements except for the checks, each right answer must
// pass and each wrong one must be refused. solve returns what is not so; the error means
// that it could not run.
func (s *session) solve(ctx context.Context, k *kernel, file string, nb *notebook, progress io.Writer) ([]string, error) {
	exercises, problems := exercisesOf(nb)
	base := strings.TrimSuffix(filepath.Base(file), ".ipynb") + ".md"
	source, err := os.ReadFile(filepath.Join(filepath.Dir(file), "solutions", base))
	if errors.Is(err, fs.ErrNotExist) && len(exercises) == 0 {
		return problems, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return append(problems, fmt.Sprintf("there is no solutions/%s", base)), nil
	}
	if err != nil {
		return problems, err
	}
	solutions, err := parseSolutions(source)
	if err != nil {
		problems = append(problems, fmt.Sprintf("solutions/%s: %v", base, err))
	}
	add := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	for _, e := range exercises {
		switch known := solutions[e.name]; {
		case known == nil:
			add("exercise %s has no solution", e.name)
		case e.proof != nil && !known.marks:
			add("the solution to exercise %s has no paragraph \"**Marks.**\"", e.name)
		case e.proof != nil:
		case len(known.right) == 0 || len(known.wrong) == 0 && !strings.Contains(e.check.source(), "lab.Predict("):
			add("exercise %s has %d blocks \"go right\" and %d \"go wrong\", want at least one of each", e.name, len(known.right), len(known.wrong))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(solutions)) {
		if !slices.ContainsFunc(exercises, func(e *exercise) bool { return e.name == name }) {
			add("there is a solution to exercise %s, which the notebook has not", name)
		}
	}
	if len(problems) > 0 || len(exercises) == 0 {
		return problems, nil
	}

	client, done, err := s.start(ctx, k, file)
	if err != nil {
		return nil, err
	}
	defer done()
	start, cells := time.Now(), 0
	// verify runs a check after declarations, which include the answer.
	verify := func(name, answer string, right bool, before []string, check string) error {
		sources := together(append(before, declarations(check)))
		sources[len(sources)-1] += statements(check)
		var r *recorder
		for _, source := range sources {
			var reason string
			var err error
			if r, reason, err = ask(ctx, client, source, s.timeout); err != nil {
				return fmt.Errorf("the check of exercise %s with %s: %w", name, answer, err)
			}
			if cells++; reason != "" {
				add("the check of exercise %s does not run with %s: %s", name, answer, reason)
				return nil
			}
		}
		said := reported(r.outputs, name, "")
		if hidden := solutions[name].hidden; hidden != "" && said != nil && said.Passed {
			r, reason, err := ask(ctx, client, hiddenCell(hidden), s.timeout)
			if err != nil {
				return fmt.Errorf("the hidden check of exercise %s with %s: %w", name, answer, err)
			}
			if cells++; reason != "" && right {
				add("the hidden check of exercise %s does not run with %s: %s", name, answer, reason)
				return nil
			} else if reason != "" {
				return nil // a wrong answer may break it
			}
			said = reported(r.outputs, name, "")
		}
		switch {
		case said == nil:
			add("the check of exercise %s does not call lab.Check(%q, …)", name, name)
		case right && !said.Passed:
			add("the check of exercise %s refuses %s:\n%s", name, answer, indent(said.String()))
		case !right && said.Passed:
			add("the check of exercise %s accepts %s", name, answer)
		}
		return nil
	}
	var before []string // declarations since the last check
	for _, c := range codeCells(nb) {
		answer, name := c.answers(), c.checks()
		switch {
		case answer != "":
			before = append(before, solutions[answer].right[0])
			continue
		case name == "":
			before = append(before, declarations(c.source()))
			continue
		}
		known := solutions[name]
		if err := verify(name, "the right answer", true, before, c.source()); err != nil {
			return problems, err
		}
		for i, source := range known.right[1:] {
			if err := verify(name, fmt.Sprintf("right answer %d", i+2), true, []string{source}, c.source()); err != nil {
				return problems, err
			}
		}
		for i, source := range known.wrong {
			if err := verify(name, fmt.Sprintf("wrong answer %d", i+1), false, []string{source}, c.source()); err != nil {
				return problems, err
			}
		}
		before = []string{known.right[0]}
	}
	fmt.Fprintf(progress, "%d exercises and their solutions: %d cells  %.2f s\n", len(exercises), cells, time.Since(start).Seconds())
	return problems, nil
}
