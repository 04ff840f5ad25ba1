package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// write writes everything about the class into a folder, and names the files.
func (c *class) write(folder string, old []mark, comma rune, w io.Writer) error {
	fmt.Fprintf(w, "In %s:\n", folder)
	wrote := func(name, what string) { fmt.Fprintf(w, "  %-22s  %s\n", filepath.ToSlash(name), what) }
	pages, err := c.writePages(filepath.Join(folder, "feedback"))
	if err != nil {
		return err
	}
	for _, it := range c.Items {
		if !it.ByHand {
			continue
		}
		if err := os.MkdirAll(filepath.Join(folder, "proofs"), 0o755); err != nil {
			return err
		}
		page, err := c.proofPage(it)
		if err == nil {
			err = writeFile(filepath.Join(folder, "proofs", it.Exercise+".html"), page)
		}
		if err != nil {
			return err
		}
		wrote(filepath.Join("proofs", it.Exercise+".html"), "all answers to exercise "+it.Exercise+", to mark")
	}
	summary, err := c.summaryPage(pages)
	if err == nil {
		err = writeFile(filepath.Join(folder, "summary.html"), summary)
	}
	if err != nil {
		return err
	}
	wrote("summary.html", "the class, and what it found hard")
	wrote("feedback", fmt.Sprintf("%d pages, one for each student", len(pages)))
	identifies := ""
	if c.roster == nil {
		identifies = " (it identifies students only with -roster)"
	}
	for _, table := range []struct {
		name, what string
		rows       [][]string
		comma      rune
	}{
		{"marks.csv", "the marks that you give by hand", c.newMarks(old), comma},
		{"moodle.csv", "to import as grades in Moodle" + identifies, c.moodle(), ','},
		{"moodle-worksheet.csv", "the grading worksheet of Moodle, filled in", c.moodleWorksheet(), ','},
		{"canvas.csv", "to import in the gradebook of Canvas", c.canvas(), ','},
		{"grades.csv", "everything, for a spreadsheet", c.grades(), ','},
	} {
		if len(table.rows) == 0 || table.name == "marks.csv" && len(table.rows) == 1 {
			continue
		}
		data, err := formCSV(table.rows, table.comma)
		if err == nil {
			err = writeFile(filepath.Join(folder, table.name), data)
		}
		if err != nil {
			return err
		}
		wrote(table.name, table.what)
	}
	if err := writeJSON(filepath.Join(folder, "results.json"), c.Entries); err != nil {
		return err
	}
	wrote("results.json", "the same for programs")
	return nil
}

// writePages writes the feedback pages, and returns their names.
func (c *class) writePages(folder string) (map[*entry]string, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	names, taken := map[*entry]string{}, []string{}
	for _, e := range c.Entries {
		page, err := c.feedbackPage(e)
		if err != nil {
			return nil, fmt.Errorf("the feedback for %s: %w", shown(e.Student.Key), err)
		}
		base := feedbackName(e)
		name := base
		for n := 2; slices.Contains(taken, strings.ToLower(name)); n++ {
			name = fmt.Sprintf("%s-%d", base, n)
		}
		taken = append(taken, strings.ToLower(name))
		names[e] = name + ".html"
		if err := writeFile(filepath.Join(folder, name+".html"), page); err != nil {
			return nil, err
		}
	}
	return names, nil
}
