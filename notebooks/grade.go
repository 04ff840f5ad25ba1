package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/svmnb/svmnb/notebooks/lab"
)

// The check command runs notebooks of learners, who may have written anything. Of each
// notebook it runs only what checks can depend on: the declarations of all cells, and the
// checks. Each notebook has a kernel of its own, in a folder with copies of the files
// beside the original (or beside the notebook). The kernel gets only a small part of the
// user's environment, and has limits of time, memory and processes (confine.go). Check and
// answer run in one process, so a learner can still try to forge a report (signed.go).

// largestNotebook is the largest size of a learner's file.
const largestNotebook = 64 << 20

// graded is the result of a learner's notebook. It depends only on the contents of files,
// so that it can be kept.
type graded struct {
	File      string           `json:"file"`
	Passed    int              `json:"passed"`
	Of        int              `json:"of"`
	Exercises []gradedExercise `json:"exercises"`
	Problems  []string         `json:"problems"` // the cells that did not run, and why

	unsure bool // something other than the notebook failed, so that another try may succeed
}

type gradedExercise struct {
	Exercise string     `json:"exercise"`
	State    lab.State  `json:"state"` // a state of package lab, or one of those below
	Tests    []lab.Test `json:"tests"`
	Hidden   []lab.Test `json:"hidden,omitempty"`  // tests that learners do not get
	Answer   string     `json:"answer,omitempty"`  // as handed in: code, or the Markdown of a proof
	Problem  string     `json:"problem,omitempty"` // why the answer or a check did not run
	Forged   bool       `json:"forged,omitempty"`  // there was a report that did not come from the check
}

// States of an exercise whose check has said nothing about the answer.
const (
	broken     lab.State = "broken"      // the answer does not compile, or panics
	endedEarly lab.State = "ended early" // the program ended, or was ended, before its check reported
	missing    lab.State = "missing"     // no check reported
	byHand     lab.State = "by hand"     // an answer in words, which a person marks
)

// step is a cell of a learner's notebook that is run.
type step struct {
	what     string
	source   string
	check    string // name of the exercise that the cell checks, or ""
	hidden   bool   // the check is one that learners do not get
	ours     bool   // the check comes from the original, not from the learner
	answer   string // name of the exercise that the cell answers, or ""
	fallback string // declarations that replace the source if it fails
}

func checksOf(nb *notebook) []*cell {
	return slices.DeleteFunc(codeCells(nb), func(c *cell) bool { return c.checks() == "" })
}

// plan lists the cells of a notebook to run. With an original, these are only the
// original's checks and the hidden ones, and the original's answer cells replace those that
// fail.
func (t *task) plan(nb *notebook) (steps []step) {
	given := map[string]string{} // checks of the original
	open := map[string]string{}  // unanswered answer cells of the original
	answers := t.answerCells(nb)
	if t.original != nil {
		for _, c := range codeCells(t.original) {
			if name := c.checks(); name != "" {
				given[name] = c.source()
			} else if name := c.answers(); name != "" {
				open[name] = declarations(c.source())
			}
		}
	}
	seen := map[string]bool{}
	for i, c := range codeCells(nb) {
		s := step{what: fmt.Sprintf("code cell %d", i+1), check: c.checks(), answer: answers[c], source: strings.ReplaceAll(c.source(), "\r\n", "\n")}
		switch {
		case s.check == "":
			s.source, s.fallback = declarations(s.source), open[s.answer]
		case t.original != nil:
			if s.source = given[s.check]; s.source == "" {
				continue
			}
			s.ours = true
		}
		seen[s.check] = true
		if strings.TrimSpace(s.source) != "" {
			steps = append(steps, s)
		}
	}
	if t.original == nil {
		return steps
	}
	for _, c := range checksOf(t.original) {
		if name := c.checks(); !seen[name] {
			steps = append(steps, step{what: "the check of exercise " + name, check: name, ours: true, source: c.source()})
		}
	}
	return t.withHidden(steps)
}

// withHidden inserts the hidden check of each exercise after the last of its other checks.
func (t *task) withHidden(steps []step) (all []step) {
	for i, s := range steps {
		all = append(all, s)
		known := t.solutions[s.check]
		if known == nil || known.hidden == "" || slices.ContainsFunc(steps[i+1:], func(later step) bool { return later.check == s.check }) {
			continue
		}
		all = append(all, step{what: "the hidden check of exercise " + s.check, check: s.check, hidden: true, ours: true, source: hiddenCell(known.hidden)})
	}
	return all
}

// hiddenCell returns the cell of a block "go hidden". A block without a line %% consists of
// statements.
func hiddenCell(block string) string {
	if statements(block) == "" {
		return "%%\n" + block
	}
	return block
}

// answerCells returns which cells answer which exercise. Some front ends do not keep the ids
// of cells. An answer without one is the cell that declares the same names as the original.
func (t *task) answerCells(nb *notebook) map[*cell]string {
	found, taken := map[*cell]string{}, map[string]bool{}
	for _, c := range codeCells(nb) {
		if name := c.answers(); name != "" {
			found[c], taken[name] = name, true
		}
	}
	if t.original == nil {
		return found
	}
	for _, given := range codeCells(t.original) {
		name, want := given.answers(), given.declares()
		if name == "" || taken[name] || len(want) == 0 {
			continue
		}
		for _, c := range codeCells(nb) {
			if has := c.declares(); found[c] == "" && c.checks() == "" && !slices.ContainsFunc(want, func(n string) bool { return !slices.Contains(has, n) }) {
				found[c] = name
				break
			}
		}
	}
	return found
}

// proofIn returns the text that answers the proof cell of the original with this index, and
// whether the learner changed it. If the id was not kept, it is the cell below the question.
func (t *task) proofIn(nb *notebook, index int) (text string, answered bool) {
	given := t.original.cells[index]
	for i, c := range nb.cells {
		same := c.named(proofID) == given.named(proofID)
		below := index > 0 && i > 0 && c.kind() == "markdown" && nb.cells[i-1].source() == t.original.cells[index-1].source()
		if same || below {
			text = clipped(strings.ReplaceAll(c.source(), "\r\n", "\n"))
			return text, strings.TrimSpace(text) != "" && strings.TrimSpace(text) != strings.TrimSpace(given.source())
		}
	}
	return "", false
}

// grade runs a learner's notebook in the real kernel. The result contains all errors.
func (g *grader) grade(ctx context.Context, file string, data []byte) graded {
	result := graded{File: file, Exercises: []gradedExercise{}, Problems: []string{}}
	nb, err := parseNotebook(data)
	if err != nil {
		return g.unreadable(file, err)
	}
	steps := g.task.plan(nb)
	exercises := openExercises(steps)
	if g.task.original == nil && len(exercises) == 0 {
		result.Problems = append(result.Problems, "it has no checks")
	}
	if len(exercises) > 0 {
		l := &learner{kernel: g.kernel, limits: g.limits, confined: g.confined, env: g.env}
		run := &attempt{learner: l, exercises: exercises, name: "lab" + strings.ToLower(rand.Text()), answers: map[string]lab.State{}, result: &result}
		beside := g.task.beside
		if g.task.original == nil {
			beside = filepath.Dir(file)
		}
		if err := run.all(ctx, steps, beside); err != nil {
			result.Problems = append(result.Problems, err.Error())
		}
	}
	g.task.collect(nb, steps, exercises, &result)
	return result
}

// unreadable returns the result of a file that is no notebook. The original gives the
// exercises.
func (g *grader) unreadable(file string, err error) graded {
	result := graded{File: file, Exercises: []gradedExercise{}, Problems: []string{err.Error()}}
	nb := &notebook{}
	steps := g.task.plan(nb)
	g.task.collect(nb, steps, openExercises(steps), &result)
	return result
}

func openExercises(steps []step) map[string]*gradedExercise {
	exercises := map[string]*gradedExercise{}
	for _, s := range steps {
		if s.check != "" && exercises[s.check] == nil {
			exercises[s.check] = &gradedExercise{Exercise: s.check, State: missing, Tests: []lab.Test{}}
		}
	}
	return exercises
}

// collect stores the exercises in the order of the original, with their answers.
func (t *task) collect(nb *notebook, steps []step, exercises map[string]*gradedExercise, result *graded) {
	for c, name := range t.answerCells(nb) {
		if e := exercises[name]; e != nil {
			e.Answer = clipped(strings.ReplaceAll(c.source(), "\r\n", "\n"))
			if given := t.answerOf(name); e.State == lab.Failed && strings.TrimSpace(e.Answer) == strings.TrimSpace(given) {
				e.State = lab.Open
			}
		}
	}
	add := func(name string) {
		e := exercises[name]
		if e == nil {
			return
		}
		delete(exercises, name)
		result.Exercises = append(result.Exercises, *e)
		result.Of++
		if e.State == lab.Passed {
			result.Passed++
		}
	}
	if t.original != nil {
		for i, c := range t.original.cells {
			if name := c.named(proofID); name != "" {
				e := gradedExercise{Exercise: name, State: lab.Open, Tests: []lab.Test{}}
				if text, answered := t.proofIn(nb, i); answered {
					e.State, e.Answer = byHand, text
				}
				result.Exercises = append(result.Exercises, e)
			} else if c.kind() == "code" {
				add(c.checks())
			}
		}
	}
	for _, s := range steps {
		add(s.check)
	}
}

// attempt is a learner's notebook that is run.
type attempt struct {
	*learner
	exercises map[string]*gradedExercise
	answers   map[string]lab.State // answers that did not run
	name      string               // the name of package lab in our checks
	result    *graded
}

// all runs the steps and stores the results in the exercises.
func (r *attempt) all(ctx context.Context, steps []step, beside string) error {
	work, err := os.MkdirTemp("", "svmnb-lab-")
	if err != nil {
		r.result.unsure = true
		return err
	}
	defer os.RemoveAll(work)
	if err := copyBeside(work, beside); err != nil {
		r.result.unsure = true
		return err
	}
	r.work = work
	r.env = append(slices.Clone(r.env), "HOME="+work, "USERPROFILE="+work, "XDG_CACHE_HOME=", "XDG_CONFIG_HOME=", "XDG_DATA_HOME=", "SVMNB_CACHE="+filepath.Join(work, ".svmnb"))
	defer r.close()
	limited, stop := context.WithTimeoutCause(ctx, r.limits.whole, fmt.Errorf("stopped after %s in all", r.limits.whole))
	defer stop()
	for len(steps) > 0 {
		n := 1 + slices.IndexFunc(steps, func(s step) bool { return s.check != "" })
		if n == 0 {
			n = len(steps)
		}
		if s, err := r.group(limited, steps[:n]); err != nil {
			if e := r.exercises[cmp.Or(s.check, s.answer)]; e != nil {
				e.State, e.Problem = endedEarly, err.Error()
			}
			r.result.unsure = limited.Err() == nil || ctx.Err() != nil
			return fmt.Errorf("%s: %w", s.what, err)
		}
		steps = steps[n:]
	}
	return nil
}

// group runs declarations and the check below them. It tries to run all of them as one
// cell, since each cell needs a compiler and a linker run. If that fails, it runs one after
// the other to find out which cell has failed. The step is that of the error.
func (r *attempt) group(ctx context.Context, group []step) (step, error) {
	last := group[len(group)-1]
	check, secret := r.sign(last)
	var together ending
	if len(group) > 1 {
		rec, end, err := r.atOnce(ctx, group, check)
		if err != nil {
			last.what = group[0].what + " to " + last.what
			return last, err
		}
		if end.state == "" {
			r.note(last, secret, rec, end)
			return last, nil
		}
		if together = end; end.ran { // its variables would be computed again with each cell
			r.close()
		}
	}
	sound := true
	for _, s := range group {
		source := s.source
		if s.check != "" {
			source = check
			if sound && together.slow { // then it is the check that takes too long
				r.failed(s, together)
				r.note(s, secret, nil, together)
				continue
			}
		}
		rec, end, err := r.ask(ctx, source, s.check == "")
		if err != nil {
			return s, err
		}
		if end.state != "" {
			sound = false
			r.failed(s, end)
		}
		if s.check != "" {
			r.note(s, secret, rec, end)
		} else if end.state != "" && end.ran {
			r.close()
		}
		if end.state != "" && s.fallback != "" {
			if _, _, err := r.ask(ctx, s.fallback, true); err != nil {
				s.what += ", unanswered"
				return s, err
			}
		}
	}
	return last, nil
}

// sign returns the source of a check to run, and the secret by which its report is known.
func (r *attempt) sign(s step) (source, secret string) {
	if !s.ours {
		return s.source, ""
	}
	return signed(s.source, r.name, rand.Text())
}

// atOnce runs declarations and a check in as few cells as possible.
func (r *attempt) atOnce(ctx context.Context, group []step, check string) (rec *recorder, end ending, err error) {
	var sources []string
	declaring := group
	if group[len(group)-1].check != "" {
		declaring = group[:len(group)-1]
	} else {
		check = ""
	}
	for _, s := range declaring {
		sources = append(sources, s.source)
	}
	cells := together(append(slices.Clone(sources), declarations(check)))
	cells[len(cells)-1] += statements(check)
	for _, source := range cells {
		if rec, end, err = r.ask(ctx, source, false); err != nil || end.state != "" {
			return rec, end, err
		}
	}
	r.declared = append(r.declared, sources...)
	return rec, end, nil
}

// failed records a cell that did not run.
func (r *attempt) failed(s step, end ending) {
	end.reason = clipped(end.reason)
	r.result.Problems = append(r.result.Problems, s.what+": "+end.reason)
	if s.answer != "" {
		r.answers[s.answer] = end.state
	}
	if e := r.exercises[cmp.Or(s.check, s.answer)]; e != nil && e.Problem == "" {
		e.Problem = end.reason
	}
}

// note records what a check has reported. If an exercise has several checks, the last one
// counts.
func (r *attempt) note(s step, secret string, rec *recorder, end ending) {
	e := r.exercises[s.check]
	if e == nil {
		return
	}
	var report *lab.Report
	if rec != nil && end.state != endedEarly { // a report before the end does not come from the check
		report = reported(rec.outputs, s.check, secret)
		if report != nil {
			for i, t := range report.Tests {
				report.Tests[i].What, report.Tests[i].Hint, report.Tests[i].Note = clipped(t.What), clipped(t.Hint), clipped(t.Note)
			}
		}
	}
	replaced := r.answers[s.check] // what ran was the answer of the original
	if s.hidden {
		if replaced != "" {
			report = nil
		}
		noteHidden(e, report)
		return
	}
	*e = gradedExercise{Exercise: s.check, State: missing, Tests: []lab.Test{}, Problem: e.Problem}
	e.Forged = secret != "" && rec != nil && reported(rec.outputs, s.check, "") != nil
	switch {
	case report != nil:
		e.State, e.Tests = report.State(), report.Tests
	case end.state != "":
		e.State = end.state
	}
	if replaced != "" && e.State != lab.Passed {
		e.State, e.Tests = replaced, []lab.Test{}
	}
}

// longest is how much of an answer, a problem or a hint is kept, in bytes. All of them come
// from a learner, who may have written anything.
const longest = 100_000

func clipped(text string) string {
	if len(text) <= longest {
		return text
	}
	return strings.ToValidUTF8(text[:longest], "") + "\n… (cut here)"
}

// noteHidden adds the results of hidden tests. If they did not run, they have failed.
func noteHidden(e *gradedExercise, report *lab.Report) {
	if report != nil {
		e.Hidden = report.Tests
	}
	if e.State == lab.Passed && (report == nil || !report.Passed) {
		e.State = lab.Failed
	}
}

// exercise returns the result of an exercise, or an empty one.
func (g *graded) exercise(name string) gradedExercise {
	for _, e := range g.Exercises {
		if e.Exercise == name {
			return e
		}
	}
	return gradedExercise{}
}

// readSmall reads a learner's notebook, which must be a regular file of limited size.
func readSmall(file string) ([]byte, error) {
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
	return os.ReadFile(file)
}
