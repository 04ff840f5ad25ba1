package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/svmnb/svmnb/notebooks/lab"
)

// task is what a class was given: a notebook, and the solutions that say what its exercises
// are worth. Both may be missing.
type task struct {
	title     string
	original  *notebook
	data      []byte // of the original
	beside    string // the folder with the files that the notebook reads
	solutions map[string]*solution
	source    []byte  // of the solutions
	model     *graded // what the model answers get, or nil
}

// readTask reads a notebook and its solutions. If no file of solutions is named, it is
// solutions/NAME.md beside the notebook, which need not exist.
func readTask(against, solutions string) (*task, error) {
	t := &task{}
	if against == "" {
		if solutions != "" {
			return nil, errors.New("-solutions needs -against, the notebook that was given out")
		}
		return t, nil
	}
	var err error
	if t.data, err = os.ReadFile(against); err != nil {
		return nil, err
	}
	if t.original, err = parseNotebook(t.data); err != nil {
		return nil, fmt.Errorf("%s: %w", against, err)
	}
	base := strings.TrimSuffix(filepath.Base(against), filepath.Ext(against))
	t.title, t.beside = cmp.Or(stripMath(t.original.title()), base), filepath.Dir(against)
	if len(checksOf(t.original)) == 0 && len(t.proofs()) == 0 {
		return nil, fmt.Errorf("%s has no checks", against)
	}
	file := cmp.Or(solutions, filepath.Join(t.beside, "solutions", base+".md"))
	t.source, err = os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) && solutions == "" {
		return t, nil
	}
	if err != nil {
		return nil, err
	}
	if t.solutions, err = parseSolutions(t.source); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for name, s := range t.solutions {
		if s.hidden != "" && len(s.right) == 0 {
			return nil, fmt.Errorf("%s: exercise %s has a block \"go hidden\", and no \"go right\" to try it with", file, name)
		}
	}
	return t, nil
}

// worth returns the points of an exercise.
func (t *task) worth(exercise string) float64 {
	if s := t.solutions[exercise]; s != nil {
		return s.points
	}
	return 1
}

// proofs lists the exercises that a person marks.
func (t *task) proofs() (names []string) {
	if t.original == nil {
		return nil
	}
	for _, c := range t.original.cells {
		if name := c.named(proofID); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// answerOf returns the answer cell of the original, as learners got it.
func (t *task) answerOf(exercise string) string {
	if t.original == nil {
		return ""
	}
	for _, c := range codeCells(t.original) {
		if c.answers() == exercise {
			return c.source()
		}
	}
	return ""
}

// modelNotebook returns the original with the first right answer of each solution, or nil if
// there are no solutions.
func (t *task) modelNotebook() ([]byte, error) {
	if len(t.solutions) == 0 {
		return nil, nil
	}
	nb, err := parseNotebook(t.data)
	if err != nil {
		return nil, err
	}
	for _, c := range codeCells(nb) {
		if s := t.solutions[c.answers()]; s != nil && len(s.right) > 0 {
			c.raw["source"] = s.right[0]
		}
		c.setOutputs(nil, 0)
	}
	return nb.encode()
}

// runModel runs the model answers. Their results say which tests there are, and with what
// weights, even where a learner's check does not run. All of them must pass.
func (g *grader) runModel(ctx context.Context) error {
	data, err := g.task.modelNotebook()
	if data == nil || err != nil {
		return err
	}
	model := g.kept(ctx, "the model answers", data)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, e := range model.Exercises {
		s := g.task.solutions[e.Exercise]
		if s == nil || len(s.right) == 0 || e.State == lab.Passed {
			continue
		}
		says := e.Problem
		for _, t := range append(e.Tests, e.Hidden...) {
			if t.State != lab.Passed {
				says = cmp.Or(says, fmt.Sprintf("the test %q is not passed", t.What))
			}
		}
		return fmt.Errorf("exercise %s refuses its own solution: %s\nRun go run ./notebooks test with the notebook that you gave out", e.Exercise, cmp.Or(says, string(e.State)))
	}
	g.task.model = &model
	return nil
}
