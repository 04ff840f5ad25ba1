package main

import (
	"testing"
	"time"

	"github.com/svmnb/svmnb/notebooks/lab"
)

// recordedTask is a lab of a check with a hidden one, and a proof.
func recordedTask(t testing.TB) *task {
	t.Helper()
	nb := identified("title\n", "exercise-1-1\nvar a = lab.Todo", "check-1-1\n%% check 1.1\nlab.Check(`1.1`, lab.Near(`a`, a, 3, 1e-9, `Count.`))", "proof-1-2\n*Write here.*")
	nb.cells[0].raw["cell_type"], nb.cells[0].raw["source"] = "markdown", "# Week 3: $w$"
	solutions, err := parseSolutions([]byte("## Exercise 1.1 (3 points)\n\n```go right\nvar a = 3\n```\n\n```go hidden\nsecretCode()\n```\n\n## Exercise 1.2 (2 points)\n\nSince $1 = 1$.\n\n**Marks.** 2 for it.\n"))
	if err != nil {
		t.Fatal(err)
	}
	model := graded{Exercises: []gradedExercise{{Exercise: "1.1", State: lab.Passed, Tests: []lab.Test{{What: "a", State: lab.Passed}}, Hidden: []lab.Test{{What: "more", State: lab.Passed, Weight: 2}}}}}
	return &task{title: "Week 3", original: nb, solutions: solutions, model: &model}
}

// recorded is the result of a notebook with a state of exercise 1.1 and an answer to 1.2.
func recorded(file string, one gradedExercise, proof string) graded {
	one.Exercise = "1.1"
	two := gradedExercise{Exercise: "1.2", State: lab.Open}
	if proof != "" {
		two.State, two.Answer = byHand, proof
	}
	return graded{File: file, Of: 1, Exercises: []gradedExercise{one, two}}
}

// recordedClass has Anna, who is right, Ben, whose answer panics, Carla, who fails the
// hidden test and is late, and Zoe, who is absent.
func recordedClass(t testing.TB, marks []mark, results ...graded) *class {
	t.Helper()
	people, err := parseRoster([]byte("Student,ID,SIS User ID,SIS Login ID,Section,Email address,WEEK 3 (77)\n"+
		"\"Meier, Anna\",11,s1,anna,A,anna@example.edu,\n\"Li, Ben\",12,s2,ben,A,ben@example.edu,\n\"Ek, Carla\",13,s3,carla,B,carla@example.edu,\n\"Absent, Zoe\",14,s4,zoe,B,,\n"), time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	pass := []lab.Test{{What: "a", State: lab.Passed}}
	if results == nil {
		results = []graded{
			recorded("in/anna.ipynb", gradedExercise{State: lab.Passed, Answer: "var a = 3.0", Tests: pass, Hidden: []lab.Test{{What: "more", State: lab.Passed, Weight: 2}}}, "Since $1=1$."),
			recorded("in/ben.ipynb", gradedExercise{State: broken, Answer: "var a = none[0]", Tests: []lab.Test{}, Problem: "Cell [3], line 2: Element 0 is asked for, and the list is empty.\n    var a = none[0]\nGo: panic: runtime error: index out of range [0] with length 0\nstderr:\n    goroutine 1 [running]:\n    main.init()\n"}, ""),
			recorded("in/carla_LATE_13_99_lab.ipynb", gradedExercise{State: lab.Failed, Answer: "var a = 3.0", Tests: pass, Hidden: []lab.Test{{What: "more", State: lab.Failed, Hint: "And twice?", Weight: 2}}}, "It is clear."),
		}
	}
	var ins []handIn
	for _, g := range results {
		ins = append(ins, handInOf("in", g.File, "lab"))
	}
	rule, err := parseLateRule("2026-11-20", "0.5", time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	return assemble(recordedTask(t), ins, results, people, marks, rule, func(string) time.Time { return rule.deadline })
}
