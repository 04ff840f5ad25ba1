package main

import (
	"slices"
	"strings"
)

// The tables of a class. Points of answers that wait for a mark are not written, since the
// points of the student would be too low: such a cell is empty, and so is the sum.

// total returns the sum of points, or "" as long as an answer waits.
func (e *entry) total() string {
	if e.Waiting > 0 {
		return ""
	}
	return amount(e.Points)
}

func (s score) written() string {
	if s.Waiting {
		return ""
	}
	return amount(s.Points)
}

// brief says in a line what a student has got, for the feedback of a gradebook.
func (c *class) brief(e *entry) string {
	var parts []string
	for i, it := range c.Items {
		if e.Scores[i].Waiting {
			parts = append(parts, it.Exercise+": not marked yet")
		} else {
			parts = append(parts, it.Exercise+": "+amount(e.Scores[i].Points)+" of "+amount(it.Points))
		}
	}
	if e.Late.Loss > 0 {
		parts = append(parts, "late: -"+amount(e.Late.Loss))
	} else if e.Late.Late {
		parts = append(parts, "late")
	}
	return strings.Join(parts, "; ")
}

// everyone lists all students, with a nil entry for those who handed nothing in.
func (c *class) everyone(do func(s *student, e *entry)) {
	for _, e := range c.Entries {
		do(&e.Student, e)
	}
	for _, s := range c.Absent {
		do(s, nil)
	}
}

// moodle is a table for Moodle's import of grades: the columns that identify a person, the
// sum, the points of each exercise, and a line of feedback.
// https://docs.moodle.org/en/Grade_import
func (c *class) moodle() [][]string {
	header := []string{"Full name", "Email address", "ID number", "Username", c.Title}
	for _, it := range c.Items {
		header = append(header, c.Title+": "+it.Exercise)
	}
	rows := [][]string{append(header, "Feedback")}
	c.everyone(func(s *student, e *entry) {
		row := []string{s.shownName(), s.Email, s.ID, s.Login}
		if e == nil {
			row = append(row, make([]string, len(c.Items)+2)...)
		} else {
			row = append(row, e.total())
			for _, got := range e.Scores {
				row = append(row, got.written())
			}
			row = append(row, c.brief(e))
		}
		rows = append(rows, row)
	})
	return rows
}

// moodleWorksheet fills in the grading worksheet of a Moodle assignment, which was given as
// the roster. It returns nil if the roster is another table.
func (c *class) moodleWorksheet() [][]string {
	if c.roster == nil || !slices.Contains(c.roster.header, "Identifier") {
		return nil
	}
	grade, comment := slices.Index(c.roster.header, "Grade"), slices.Index(c.roster.header, "Feedback comments")
	if grade < 0 {
		return nil
	}
	rows := [][]string{c.roster.header}
	c.everyone(func(s *student, e *entry) {
		if s.row == nil {
			return
		}
		row := slices.Clone(s.row)
		if e != nil && grade < len(row) {
			row[grade] = e.total()
			if comment >= 0 && comment < len(row) {
				row[comment] = c.brief(e)
			}
		}
		rows = append(rows, row)
	})
	return rows
}

// canvas is a table for Canvas' import of a gradebook. It has one column of points, the sum,
// because Canvas would make an assignment of each column that it does not know. If the
// roster is the exported gradebook and has a column of this title, the column keeps the
// number by which Canvas knows its assignment.
// The format is that of lib/gradebook_importer.rb in https://github.com/instructure/canvas-lms
func (c *class) canvas() [][]string {
	title := strings.Join(strings.Fields(c.Title), " ")
	if c.roster != nil {
		for _, h := range c.roster.header {
			if name := strings.TrimSpace(assignmentNumber.ReplaceAllString(h, "")); strings.EqualFold(name, title) {
				title = h
			}
		}
	}
	rows := [][]string{
		{"Student", "ID", "SIS User ID", "SIS Login ID", "Section", title},
		{"    Points Possible", "", "", "", "", amount(c.Points)},
	}
	fromCanvas := c.roster != nil && slices.Contains(c.roster.header, "ID")
	c.everyone(func(s *student, e *entry) {
		id := ""
		if fromCanvas || e != nil && e.in.canvas { // otherwise it is a number of Moodle
			id = s.number
		}
		row := []string{s.shownName(), id, s.ID, s.Login, s.section, ""}
		if e != nil {
			row[5] = e.total()
		}
		rows = append(rows, row)
	})
	return rows
}

// grades is a table of everything, for a spreadsheet.
func (c *class) grades() [][]string {
	header := []string{"student", "name", "file"}
	for _, it := range c.Items {
		header = append(header, it.Exercise)
	}
	rows := [][]string{append(header, "late days", "late points", "points", "of", "waiting for marks")}
	c.everyone(func(s *student, e *entry) {
		row := []string{s.Key, s.Name}
		if e == nil {
			row = append(row, append(make([]string, len(c.Items)+4), amount(c.Points), "")...)
			rows = append(rows, row)
			return
		}
		row = append(row, e.File)
		for _, got := range e.Scores {
			row = append(row, got.written())
		}
		days := ""
		if e.Late.Late {
			days = amount(float64(e.Late.Days))
		}
		rows = append(rows, append(row, days, amount(-e.Late.Loss), e.total(), amount(c.Points), amount(float64(e.Waiting))))
	})
	return rows
}
