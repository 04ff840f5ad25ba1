package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A lab has one source: the notebook that learners get, and its solutions. The editions are
// made of them. A cell with the tag "teacher" is in the teacher's edition only.

// setCells gives the notebook other cells.
func (nb *notebook) setCells(cells []*cell) {
	list := make([]any, len(cells))
	for i, c := range cells {
		list[i] = c.raw
	}
	nb.cells, nb.raw["cells"] = cells, list
}

// clone returns a copy of the notebook whose cells can be changed. Outputs are shared.
func (nb *notebook) clone() *notebook {
	same := &notebook{raw: map[string]any{}}
	for key, value := range nb.raw {
		same.raw[key] = value
	}
	var cells []*cell
	for _, c := range nb.cells {
		raw := map[string]any{}
		for key, value := range c.raw {
			raw[key] = value
		}
		cells = append(cells, &cell{raw})
	}
	same.setCells(cells)
	return same
}

// markdownCell returns a new cell.
func markdownCell(id, source string) *cell {
	return &cell{map[string]any{"cell_type": "markdown", "id": id, "metadata": map[string]any{}, "source": source}}
}

// hasTag reports whether the cell has a tag.
func (c *cell) hasTag(tag string) bool {
	metadata, _ := c.raw["metadata"].(map[string]any)
	tags, _ := metadata["tags"].([]any)
	return slices.ContainsFunc(tags, func(t any) bool { return t == tag })
}

// forget removes the outputs of a code cell.
func (c *cell) forget() {
	if c.kind() == "code" {
		c.raw["outputs"], c.raw["execution_count"] = []any{}, nil
	}
}

// learnersEdition returns the notebook without what is for teachers.
func learnersEdition(nb *notebook) *notebook {
	edition := nb.clone()
	edition.setCells(slices.DeleteFunc(edition.cells, func(c *cell) bool { return c.hasTag("teacher") }))
	return edition
}

// teachersEdition returns the notebook with its right answers, and below each exercise its solution: the
// reasoning, the mistakes to expect, and the marks of proofs.
func teachersEdition(nb *notebook, solutions map[string]*solution) *notebook {
	edition := nb.clone()
	var cells []*cell
	for _, c := range edition.cells {
		cells = append(cells, c)
		name := cmp.Or(c.checks(), c.named(proofID))
		if answer := solutions[c.answers()]; answer != nil && len(answer.right) > 0 {
			c.raw["source"] = strings.TrimRight(answer.right[0], "\n")
			c.forget()
		}
		if known := solutions[name]; known != nil {
			c.forget()
			cells = append(cells, markdownCell("solution-"+strings.ReplaceAll(name, ".", "-"), "**Solution "+name+".** "+strings.TrimSpace(known.text)))
		}
	}
	edition.setCells(cells)
	return edition
}

// nbgraderEdition returns the notebook as nbgrader wants an assignment: with its metadata, and with right
// answers and hidden tests between its marks. It fails if a solution is missing.
//
// nbgrader replaces all that is between BEGIN SOLUTION and END SOLUTION by a stub, which is the same for every
// cell. The placeholder of an answer differs from cell to cell, so it stands between two such
// regions. In the source it is inside a comment, which the regions begin and end.
//
// https://nbgrader.readthedocs.io/en/stable/contributor_guide/metadata.html
func nbgraderEdition(nb *notebook, solutions map[string]*solution) (*notebook, error) {
	edition := learnersEdition(nb)
	list, problems := exercisesOf(edition)
	if len(problems) > 0 {
		return nil, errors.New(strings.Join(problems, "\n"))
	}
	if len(list) == 0 {
		return nil, errors.New("the notebook has no exercises")
	}
	for _, e := range list {
		known := solutions[e.name]
		if known == nil || e.proof == nil && len(known.right) == 0 {
			return nil, fmt.Errorf("exercise %s has no solution", e.name)
		}
		id := strings.ReplaceAll(e.name, ".", "-")
		if e.proof != nil {
			e.proof.raw["source"] = strings.TrimSpace(known.text)
			e.proof.grade("proof-"+id, true, true, known.points)
			continue
		}
		placeholder := e.answer.source()
		if strings.Contains(placeholder, "*/") {
			return nil, fmt.Errorf("the answer cell of exercise %s contains */, which nbgrader's edition cannot have", e.name)
		}
		e.answer.raw["source"] = fmt.Sprintf("// BEGIN SOLUTION\n%s\n/* END SOLUTION\n%s\nBEGIN SOLUTION\n*/\n// END SOLUTION",
			strings.TrimSpace(known.right[0]), strings.TrimSpace(placeholder))
		e.answer.grade("exercise-"+id, false, true, 0)
		e.check.raw["source"] = withHiddenTests(e.check.source(), known.hidden)
		e.check.grade("check-"+id, true, false, known.points)
	}
	return edition, nil
}

// withHiddenTests adds the block "go hidden" to a check, between the marks by which nbgrader knows
// hidden tests. Its statements have a scope of their own, since they may use names of the check again.
func withHiddenTests(check, hidden string) string {
	if hidden == "" {
		return check
	}
	cell := hiddenCell(hidden)
	_, body, _ := strings.Cut(statements(cell), "\n")
	region := func(code string) string {
		return "// BEGIN HIDDEN TESTS\n" + strings.TrimSpace(code) + "\n// END HIDDEN TESTS\n"
	}
	declared := ""
	if own := declarations(cell); strings.TrimSpace(own) != "" {
		declared = region(own)
	}
	code := statements(check)
	return strings.TrimSuffix(check, code) + declared + strings.TrimRight(code, "\n") + "\n" + region("{\n"+strings.TrimSpace(body)+"\n}")
}

// grade sets nbgrader's metadata of a cell. A cell that is graded and no solution holds tests, and is
// locked. Outputs are removed.
func (c *cell) grade(id string, grade, solution bool, points float64) {
	metadata := map[string]any{}
	if old, ok := c.raw["metadata"].(map[string]any); ok {
		for key, value := range old {
			metadata[key] = value
		}
	}
	nbgrader := map[string]any{"schema_version": 3, "grade_id": id, "grade": grade, "solution": solution, "locked": grade && !solution, "task": false}
	if grade {
		nbgrader["points"] = points
	}
	metadata["nbgrader"] = nbgrader
	c.raw["metadata"] = metadata
	c.forget()
}

// nbgraderConfig is the configuration of a course. nbgrader knows no stub for Go.
const nbgraderConfig = `c = get_config()

c.CourseDirectory.course_id = "%s"
c.ClearSolutions.code_stub = {"go": "", "python": "# YOUR CODE HERE\nraise NotImplementedError()"}
c.ClearSolutions.text_stub = "*Write your answer here.*"
c.Execute.timeout = 300  # seconds; the first cell of a notebook is compiled with all it imports
`

// solutionsOf reads the solutions of a notebook from the folder beside it.
func solutionsOf(file string) (map[string]*solution, error) {
	name := filepath.Join(filepath.Dir(file), "solutions", strings.TrimSuffix(filepath.Base(file), ".ipynb")+".md")
	source, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("%s: its solutions: %w", file, err)
	}
	solutions, err := parseSolutions(source)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return solutions, nil
}

func editionsCommand(_ context.Context, s *session, args []string) error {
	flags := s.flags()
	dir := flags.String("o", filepath.Join(s.folder(), "out"), "where to")
	course := flags.String("nbgrader", "", "also write a course for nbgrader, with this name")
	files, err := parse(flags, args)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return errors.New("editions of which notebooks? Name their files")
	}
	write := func(nb *notebook, path ...string) error {
		file := filepath.Join(append([]string{*dir}, path...)...)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), nb.write(file)); err != nil {
			return err
		}
		fmt.Fprintln(s.stdout, file)
		return nil
	}
	for _, file := range files {
		nb, err := readNotebook(file)
		if err != nil {
			return err
		}
		nb.adopt()
		solutions, err := solutionsOf(file)
		if err != nil {
			return err
		}
		base := filepath.Base(file)
		if err := errors.Join(write(learnersEdition(nb), "learner", base), write(teachersEdition(nb, solutions), "teacher", base)); err != nil {
			return err
		}
		if *course == "" {
			continue
		}
		edition, err := nbgraderEdition(nb, solutions)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if err := write(edition, *course, "source", strings.TrimSuffix(base, ".ipynb"), base); err != nil {
			return err
		}
	}
	if *course == "" {
		return nil
	}
	config := filepath.Join(*dir, *course, "nbgrader_config.py")
	if err := writeFile(config, fmt.Appendf(nil, nbgraderConfig, *course)); err != nil {
		return err
	}
	fmt.Fprintln(s.stdout, config)
	return nil
}
