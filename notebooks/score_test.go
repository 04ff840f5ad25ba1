package main

import (
	"testing"

	"github.com/svmnb/svmnb/notebooks/lab"
)

func TestShareOfPoints(t *testing.T) {
	pass, fail := lab.Test{What: "a", State: lab.Passed}, lab.Test{What: "b", State: lab.Failed}
	open, heavy := lab.Test{What: "c", State: lab.Open}, lab.Test{What: "d", State: lab.Passed, Weight: 3}
	given := identified("exercise-1-1\nvar a = lab.Todo", "check-1-1\n%% check 1.1")
	model := &graded{Exercises: []gradedExercise{{Exercise: "1.1", Tests: []lab.Test{pass, pass}, Hidden: []lab.Test{heavy, pass}}}}
	for name, test := range map[string]struct {
		model *graded
		got   gradedExercise
		want  float64
	}{
		"all":                              {nil, gradedExercise{State: lab.Passed, Tests: []lab.Test{pass, heavy}}, 1},
		"a part":                           {nil, gradedExercise{State: lab.Failed, Tests: []lab.Test{pass, fail, open, pass}}, 0.5},
		"weights":                          {nil, gradedExercise{State: lab.Failed, Tests: []lab.Test{fail, heavy}}, 0.75},
		"not changed":                      {nil, gradedExercise{State: lab.Open, Answer: "var a = lab.Todo\n", Tests: []lab.Test{pass, open}}, 0},
		"broken":                           {nil, gradedExercise{State: broken}, 0},
		"broken after a test":              {nil, gradedExercise{State: broken, Tests: []lab.Test{pass}}, 0},
		"no tests":                         {nil, gradedExercise{State: lab.Failed}, 0},
		"hidden tests":                     {model, gradedExercise{State: lab.Failed, Tests: []lab.Test{pass, pass}, Hidden: []lab.Test{{State: lab.Failed, Weight: 3}, pass}}, 0.5},
		"hidden tests that did not run":    {model, gradedExercise{State: lab.Failed, Tests: []lab.Test{pass, pass}}, 2.0 / 6},
		"only the check has run, and late": {model, gradedExercise{State: endedEarly, Tests: []lab.Test{pass}}, 0},
	} {
		c := &class{task: &task{original: given, model: test.model}}
		test.got.Exercise = "1.1"
		if got := c.share(test.got); got != test.want {
			t.Errorf("%s: %g, want %g", name, got, test.want)
		}
	}
}
