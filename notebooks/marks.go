package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// Proofs and answers in words are marked by a person, in a table that the check command
// writes: a row for each answer, with the columns of markColumns. The teacher fills in
// points and comment, and the next run adds them. No run ever removes what was filled in.
var markColumns = []string{"student", "exercise", "points", "of", "comment", "answer"}

// mark is a row of the table.
type mark struct {
	student, exercise string
	given             bool // points were filled in
	points            float64
	written           string // the points as they were filled in
	comment           string
	answer            string // fingerprint of the text that was marked
}

func (m mark) of(student, exercise string) bool {
	return m.student == student && m.exercise == exercise
}

// fingerprint is a short hash of an answer. It shows whether an answer has changed since it
// was marked.
func fingerprint(text string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.TrimSpace(text))))[:8]
}

// readMarks reads the table, with its delimiter. If there is no file, there are no marks.
// points returns what an exercise is worth.
func readMarks(file string, points func(exercise string) float64) (marks []mark, comma rune, err error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ',', nil
	}
	if err != nil {
		return nil, ',', err
	}
	comma = separator(data)
	records, err := parseCSV(data)
	if err != nil {
		return nil, comma, fmt.Errorf("%s: %w", file, err)
	}
	for i, record := range records {
		if i == 0 {
			for j, want := range markColumns {
				if j >= len(record) || record[j] != want {
					return nil, comma, fmt.Errorf("%s: the columns are %q, want %q", file, record, markColumns)
				}
			}
			continue
		}
		record = append(record, make([]string, len(markColumns))...)
		m := mark{student: unguarded(record[0]), exercise: record[1], written: strings.TrimSpace(record[2]), comment: unguarded(record[4]), answer: record[5]}
		if m.written != "" {
			m.points, err = strconv.ParseFloat(strings.Replace(m.written, ",", ".", 1), 64)
			if most := points(m.exercise); err != nil || !(m.points >= 0 && m.points <= most) {
				return nil, comma, fmt.Errorf("%s, line %d: %q points for exercise %s of %s, want a number from 0 to %s", file, i+1, m.written, m.exercise, shown(m.student), amount(most))
			}
			m.given = true
		}
		marks = append(marks, m)
	}
	return marks, comma, nil
}

// newMarks returns the table for the next run: a row for each answer of the class, with
// what was filled in, and then all other rows that were filled in. If an answer has changed
// since it was marked, its comment says so, and the points are to be given again.
func (c *class) newMarks(old []mark) [][]string {
	rows := [][]string{markColumns}
	used := make([]bool, len(old))
	for _, e := range c.Entries {
		for _, it := range c.Items {
			result := e.exercise(it.Exercise)
			if !it.ByHand || result.State != byHand {
				continue
			}
			row := []string{e.Student.Key, it.Exercise, "", amount(it.Points), "", fingerprint(result.Answer)}
			for i, m := range old {
				if !m.of(e.Student.Key, it.Exercise) {
					continue
				}
				used[i] = true
				if row[2], row[4] = m.written, m.comment; m.answer != row[5] && m.given {
					row[2], row[4] = "", strings.TrimSpace(fmt.Sprintf("(the answer has changed; before, it had %s) %s", shownPoints(m.points), m.comment))
				}
			}
			rows = append(rows, row)
		}
	}
	for i, m := range old {
		if !used[i] && m.written+m.comment != "" {
			rows = append(rows, []string{m.student, m.exercise, m.written, amount(c.task.worth(m.exercise)), m.comment, m.answer})
		}
	}
	return rows
}

// separator returns what separates the columns of a table. Spreadsheets write semicolons in
// countries with a decimal comma.
func separator(data []byte) rune {
	first, _, _ := bytes.Cut(data, []byte("\n"))
	if bytes.Count(first, []byte(";")) > bytes.Count(first, []byte(",")) {
		return ';'
	}
	return ','
}

// formCSV writes a table. Text that a spreadsheet would take for a formula gets an
// apostrophe, since names and answers come from strangers.
func formCSV(rows [][]string, comma rune) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Comma = comma
	for _, row := range rows {
		safe := make([]string, len(row))
		for i, text := range row {
			safe[i] = guarded(text)
		}
		if err := w.Write(safe); err != nil {
			return nil, err
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

func guarded(text string) string {
	if isFormula(text) {
		return "'" + text
	}
	return text
}

func unguarded(text string) string {
	if rest, ok := strings.CutPrefix(text, "'"); ok && isFormula(rest) {
		return rest
	}
	return text
}

func isFormula(text string) bool {
	if text == "" || !strings.ContainsAny(text[:1], "=+-@\t\r") {
		return false
	}
	_, err := strconv.ParseFloat(text, 64)
	return err != nil && text != "-"
}
