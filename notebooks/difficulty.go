package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/svmnb/svmnb/notebooks/lab"
)

// difficulty says how a class did in one exercise.
type difficulty struct {
	item
	states   map[lab.State]int // how many notebooks ended in which state
	share    float64           // mean of the points, divided by the points of the exercise
	waiting  int               // answers without a mark, without which share is not known
	tests    []testCount
	hints    []counted // of failed tests, the commonest first
	problems []counted // why answers did not run, the commonest first
}

// testCount says how many notebooks passed a test.
type testCount struct {
	what         string
	hidden       bool
	passed, seen int
}

// counted is a text, with how often it occurs.
type counted struct {
	text string
	n    int
}

// difficulties returns one for each item.
func (c *class) difficulties() (all []difficulty) {
	for i, it := range c.Items {
		d := difficulty{item: it, states: map[lab.State]int{}}
		hints, problems := map[string]int{}, map[string]int{}
		for _, e := range c.Entries {
			result := e.exercise(it.Exercise)
			d.states[cmp.Or(result.State, missing)]++
			if got := e.Scores[i]; got.Waiting {
				d.waiting++
			} else if it.Points > 0 {
				d.share += got.Points / it.Points / float64(len(c.Entries))
			}
			for _, t := range result.Tests {
				d.count(t, false)
			}
			for _, t := range result.Hidden {
				d.count(t, true)
			}
			for _, t := range append(slices.Clone(result.Tests), result.Hidden...) {
				if t.State == lab.Failed && t.Hint != "" {
					hints[visible(t.Hint)]++
					break // learners see the first hint
				}
			}
			if result.Problem != "" {
				first, _, _ := strings.Cut(plain(result.Problem), "\n")
				problems[lineNumber.ReplaceAllString(first, "")]++
			}
		}
		d.hints, d.problems = commonest(hints), commonest(problems)
		all = append(all, d)
	}
	return all
}

// earned returns the share of points in words.
func (d difficulty) earned() string {
	if d.waiting > 0 {
		return fmt.Sprintf("%d to mark", d.waiting)
	}
	return percent(d.share)
}

// mostTests limits the tests of an exercise, since forged reports may contain any.
const mostTests = 50

func (d *difficulty) count(t lab.Test, hidden bool) {
	i := slices.IndexFunc(d.tests, func(c testCount) bool { return c.what == t.What && c.hidden == hidden })
	if i < 0 {
		if len(d.tests) == mostTests {
			return
		}
		d.tests, i = append(d.tests, testCount{what: t.What, hidden: hidden}), len(d.tests)
	}
	d.tests[i].seen++
	if t.State == lab.Passed {
		d.tests[i].passed++
	}
}

// commonest returns the texts that occur most often, at most five.
func commonest(texts map[string]int) (list []counted) {
	for text, n := range texts {
		list = append(list, counted{text, n})
	}
	slices.SortFunc(list, func(a, b counted) int { return cmp.Or(b.n-a.n, strings.Compare(a.text, b.text)) })
	return list[:min(5, len(list))]
}

// median returns the middle of the points of those who wait for no mark, and how many these
// are.
func (c *class) median() (points float64, n int) {
	var all []float64
	for _, e := range c.Entries {
		if e.Waiting == 0 {
			all = append(all, e.Points)
		}
	}
	if n = len(all); n == 0 {
		return 0, 0
	}
	slices.Sort(all)
	return (all[(n-1)/2] + all[n/2]) / 2, n
}

// waiting returns how many answers wait for a mark.
func (c *class) waiting() (n int) {
	for _, e := range c.Entries {
		n += e.Waiting
	}
	return n
}
