package main

import (
	"fmt"
	"strings"

	"github.com/svmnb/svmnb/notebooks/lab"
)

// gradescopeResults is the file results.json that an autograder of Gradescope writes for one student.
// https://gradescope-autograders.readthedocs.io/en/latest/specs/
type gradescopeResults struct {
	Output string           `json:"output"`
	Tests  []gradescopeTest `json:"tests"`
}

type gradescopeTest struct {
	Name       string  `json:"name"`
	Score      float64 `json:"score"`
	Max        float64 `json:"max_score"`
	Output     string  `json:"output"`
	Visibility string  `json:"visibility"`
}

// gradescope returns the results of an entry. Answers that a person marks are not among them:
// in Gradescope they are questions of their own.
func (c *class) gradescope(e *entry) gradescopeResults {
	results := gradescopeResults{Output: c.brief(e), Tests: []gradescopeTest{}}
	for i, it := range c.Items {
		if it.ByHand {
			continue
		}
		got := e.exercise(it.Exercise)
		results.Tests = append(results.Tests, gradescopeTest{"Exercise " + it.Exercise, e.Scores[i].Points, it.Points, got.report(), "visible"})
	}
	if e.Late.Loss > 0 {
		results.Tests = append(results.Tests, gradescopeTest{"Late", -e.Late.Loss, 0, e.Late.sentence(), "visible"})
	}
	return results
}

// report says in lines what the checks of an exercise have found. As in the notebook, there
// is a hint for the first test that is not passed.
func (e gradedExercise) report() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", verdicts[e.State])
	if e.Problem != "" {
		fmt.Fprintf(&b, "%s\n", plain(e.Problem))
	}
	for _, tests := range [][]lab.Test{e.Tests, e.Hidden} {
		if len(tests) > 0 {
			said := lab.Report{Tests: tests}.String()
			_, lines, _ := strings.Cut(said, "\n")
			b.WriteString(visible(lines))
		}
	}
	return b.String()
}
