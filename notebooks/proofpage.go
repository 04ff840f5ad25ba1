package main

import (
	"fmt"
	"strings"
)

// proofPage returns all answers to an exercise that a person marks side by side, below the
// model answer and its marks. It is for the teacher.
func (c *class) proofPage(it item) ([]byte, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "<section class=\"text\"><h1>Exercise %s</h1>\n<p class=\"who\">%s</p>\n", escaped(it.Exercise), escaped(c.Title))
	fmt.Fprintf(&b, "<p>Worth %s. Write the points and a comment for each answer into marks.csv, and run the command again.</p></section>\n", shownPoints(it.Points))
	math := false
	write := func(text string) error {
		page, hasMath, err := answerHTML(text, true)
		math = math || hasMath
		b.WriteString(page)
		return err
	}
	if s := c.task.solutions[it.Exercise]; s != nil && s.text != "" {
		b.WriteString("<section class=\"text model\"><h2>The model answer</h2>\n")
		if err := write(s.text); err != nil {
			return nil, err
		}
		b.WriteString("</section>\n")
	}
	b.WriteString("<div class=\"answers\">\n")
	n := 0
	for _, e := range c.Entries {
		result, got := e.exercise(it.Exercise), e.score(it.Exercise)
		if result.State != byHand {
			continue
		}
		n++
		state := amount(got.Points) + " of " + shownPoints(it.Points)
		if got.Waiting {
			state = "not marked yet"
		}
		fmt.Fprintf(&b, "<article><h2>%s</h2>\n", escaped(e.Student.shownName()))
		if e.Student.shownName() != e.Student.Key {
			fmt.Fprintf(&b, "<p class=\"who\">%s</p>\n", escaped(e.Student.Key))
		}
		if err := write(result.Answer); err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "<p>%s</p>\n", state)
		if got.Comment != "" {
			fmt.Fprintf(&b, "<div class=\"comment\">%s</div>\n", escaped(got.Comment))
		}
		b.WriteString("</article>\n")
	}
	b.WriteString("</div>\n")
	if n == 0 {
		b.WriteString("<p>Nobody has answered.</p>\n")
	}
	return classPage(c.Title+": exercise "+it.Exercise, b.String(), math)
}
