package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/svmnb/svmnb/notebooks/lab"
)

// class holds the results of a class. All tables and pages are made from it.
type class struct {
	Title    string
	Items    []item
	Points   float64 // of all items
	Entries  []*entry
	Absent   []*student // on the roster, but nothing was handed in
	Notes    []string   // what the teacher should look at
	deadline time.Time
	task     *task
	roster   *roster // nil if there is none
}

// item is an exercise, with its points.
type item struct {
	Exercise string
	Points   float64
	ByHand   bool
}

// entry is what a student gets.
type entry struct {
	Student  student  `json:"student"`
	Points   float64  `json:"points"` // of all exercises, without what is lost for lateness
	Possible float64  `json:"possible"`
	Waiting  int      `json:"waiting"` // answers that nobody has marked yet
	Late     lateness `json:"lateness"`
	Scores   []score  `json:"scores"` // one for each item of the class
	graded

	in handIn
}

// score is what a student gets for an exercise.
type score struct {
	Exercise string  `json:"exercise"`
	Points   float64 `json:"points"`
	Waiting  bool    `json:"waiting,omitempty"`
	Comment  string  `json:"comment,omitempty"`
}

// rounded returns points with two decimals, so that sums of shown points are as shown.
func rounded(points float64) float64 { return math.Round(points*100) / 100 }

// assemble makes the class from the results of its files. The notebook with the most points
// counts if a student handed in more than one. time returns when a file was handed in.
func assemble(t *task, ins []handIn, results []graded, people *roster, marks []mark, rule lateRule, time func(file string) time.Time) *class {
	c := &class{Title: t.title, Items: t.items(results), deadline: rule.deadline, task: t, roster: people}
	for _, it := range c.Items {
		c.Points = rounded(c.Points + it.Points)
	}
	var listed []*student
	if people != nil {
		listed = people.students
	}
	others := map[string]*student{} // not on the roster
	byStudent := map[*student]*entry{}
	for i, h := range ins {
		s, problem := match(h, listed)
		if s == nil {
			if people != nil {
				c.Notes = append(c.Notes, fmt.Sprintf("%s: %s", shown(h.file), problem))
			}
			if s = others[h.key]; s == nil {
				s = &student{Key: h.key, Name: h.name, number: h.number}
				others[h.key] = s
			}
		}
		e := c.entryOf(s, h, results[i], marks)
		e.Late = rule.of(h, s, time, c.Points)
		e.Points = rounded(max(0, e.Points-e.Late.Loss))
		if forged := e.forged(); forged != "" {
			c.Notes = append(c.Notes, fmt.Sprintf("%s sent reports of its own for exercises %s, which were not counted; read its answers", shown(h.file), forged))
		}
		old := byStudent[s]
		if old != nil {
			c.Notes = append(c.Notes, fmt.Sprintf("%s handed in %s and %s; the one with more points counts", shown(s.shownName()), shown(old.File), shown(e.File)))
		}
		if old == nil || e.Points > old.Points {
			byStudent[s] = e
		}
	}
	for _, s := range listed {
		if e := byStudent[s]; e != nil {
			c.Entries = append(c.Entries, e)
			delete(byStudent, s)
		} else {
			c.Absent = append(c.Absent, s)
		}
	}
	rest := len(c.Entries)
	for _, e := range byStudent {
		c.Entries = append(c.Entries, e)
	}
	slices.SortFunc(c.Entries[rest:], func(a, b *entry) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.Student.Key), strings.ToLower(b.Student.Key)), strings.Compare(a.File, b.File))
	})
	return c
}

// items lists the exercises in the order of the notebook that was given out, or as they
// occur in what was handed in.
func (t *task) items(results []graded) (items []item) {
	for _, g := range results {
		for _, e := range g.Exercises {
			if !slices.ContainsFunc(items, func(it item) bool { return it.Exercise == e.Exercise }) {
				items = append(items, item{e.Exercise, t.worth(e.Exercise), slices.Contains(t.proofs(), e.Exercise)})
			}
		}
	}
	return items
}

// entryOf gives points to a result.
func (c *class) entryOf(s *student, h handIn, g graded, marks []mark) *entry {
	e := &entry{Student: *s, Possible: c.Points, graded: g, in: h}
	for _, it := range c.Items {
		got := score{Exercise: it.Exercise}
		switch result := g.exercise(it.Exercise); {
		case it.ByHand && result.State == byHand:
			got.Waiting = true
			for _, m := range marks {
				if m.of(s.Key, it.Exercise) && m.given && m.answer == fingerprint(result.Answer) {
					got.Points, got.Comment, got.Waiting = rounded(m.points), m.comment, false
				}
			}
			if got.Waiting {
				e.Waiting++
			}
		case !it.ByHand:
			got.Points = rounded(it.Points * c.share(result))
		}
		e.Scores = append(e.Scores, got)
		e.Points = rounded(e.Points + got.Points)
	}
	return e
}

// share returns which part of its points an exercise has earned: the weights of the tests
// that are passed, divided by the weights of all tests. Where a check did not run, the model
// answer says which tests there are. An answer that was not changed earns nothing.
func (c *class) share(e gradedExercise) float64 {
	if given := c.task.answerOf(e.Exercise); e.State != lab.Passed && given != "" && strings.TrimSpace(e.Answer) == strings.TrimSpace(given) {
		return 0
	}
	var model gradedExercise
	if c.task.model != nil {
		model = c.task.model.exercise(e.Exercise)
	}
	got, all := 0.0, 0.0
	for _, part := range []struct{ tests, model []lab.Test }{{e.Tests, model.Tests}, {e.Hidden, model.Hidden}} {
		tests, ran := part.tests, true
		if len(tests) == 0 {
			tests, ran = part.model, false
		}
		for _, t := range tests {
			weight := t.Weight
			if weight == 0 {
				weight = 1
			}
			all += weight
			if ran && t.State == lab.Passed {
				got += weight
			}
		}
	}
	if all == 0 || e.State == broken || e.State == endedEarly || e.State == missing {
		return 0
	}
	return got / all
}

// forged lists the exercises with reports that do not come from their checks.
func (g *graded) forged() string {
	var names []string
	for _, e := range g.Exercises {
		if e.Forged {
			names = append(names, e.Exercise)
		}
	}
	return strings.Join(names, ", ")
}

// score returns what the student gets for an exercise.
func (e *entry) score(exercise string) score {
	for _, s := range e.Scores {
		if s.Exercise == exercise {
			return s
		}
	}
	return score{}
}

// amount writes points as briefly as possible.
func amount(points float64) string { return fmt.Sprint(rounded(points) + 0) } // -0 becomes 0

// shownPoints returns "1 point" or "2 points".
func shownPoints(points float64) string {
	if rounded(points) == 1 {
		return "1 point"
	}
	return amount(points) + " points"
}
