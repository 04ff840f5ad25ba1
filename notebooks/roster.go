package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

// roster is a list of the class as CSV: the gradebook or the grading worksheet that Canvas
// or Moodle exports, or a list that somebody wrote. Its columns are known by their names.
type roster struct {
	header   []string
	students []*student
	noTime   error // a time that could not be read, which matters only with a deadline
}

// The names of columns, in small letters.
var rosterColumns = map[string][]string{
	"name":    {"student", "full name", "name"},
	"first":   {"first name", "firstname", "given name"},
	"last":    {"last name", "lastname", "surname", "family name"},
	"email":   {"email address", "email", "e-mail"},
	"id":      {"id number", "sis user id", "student id", "matriculation number"},
	"login":   {"username", "sis login id", "login"},
	"number":  {"id", "identifier", "participant"},
	"section": {"section"},
	"time":    {"last modified (submission)", "handed in", "submitted"},
}

var (
	digits           = regexp.MustCompile(`\d+$`)
	assignmentNumber = regexp.MustCompile(`\(\d+\)\s*$`) // at the end of the title of a column in Canvas
)

// readRoster reads a roster. Dates are in the given place.
func readRoster(file string, place *time.Location) (*roster, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	r, err := parseRoster(data, place)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return r, nil
}

func parseRoster(data []byte, place *time.Location) (*roster, error) {
	records, err := parseCSV(data)
	if err != nil {
		return nil, err
	}
	if len(records) == 0 {
		return nil, errors.New("the roster is empty")
	}
	r := &roster{header: records[0]}
	column := map[string]int{}
	for what, names := range rosterColumns {
		column[what] = slices.IndexFunc(r.header, func(h string) bool { return slices.Contains(names, strings.ToLower(strings.TrimSpace(h))) })
	}
	if column["name"] < 0 && column["email"] < 0 && column["id"] < 0 && column["login"] < 0 && column["last"] < 0 {
		return nil, fmt.Errorf("the roster has no column with names, such as \"Student\", \"Full name\" or \"Email address\"; it has %q", r.header)
	}
	taken := map[string]bool{}
	for i, record := range records[1:] {
		get := func(what string) string {
			if c := column[what]; c >= 0 && c < len(record) {
				return strings.TrimSpace(record[c])
			}
			return ""
		}
		s := &student{Name: get("name"), Email: get("email"), ID: get("id"), Login: get("login"),
			number: digits.FindString(get("number")), section: get("section"), row: record}
		if s.Name == "" {
			s.Name = strings.TrimSpace(get("first") + " " + get("last"))
		}
		// Canvas: the row of the points, one about posting, and a student for tests.
		if strings.Contains(s.Name, "Points Possible") || s.Name == "Student, Test" || s.Name+s.Email+s.ID+s.Login == "" {
			continue
		}
		if when := get("time"); when != "" && when != "-" {
			if s.handedIn, err = parseTime(when, place); err != nil && r.noTime == nil {
				r.noTime = fmt.Errorf("line %d: %w", i+2, err)
			}
		}
		s.Key = strings.TrimSpace(firstOf(s.Login, s.Email, s.ID, s.Name))
		for n, key := 2, s.Key; taken[strings.ToLower(s.Key)]; n++ {
			s.Key = fmt.Sprintf("%s (%d)", key, n)
		}
		taken[strings.ToLower(s.Key)] = true
		r.students = append(r.students, s)
	}
	return r, nil
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// parseCSV reads a table with commas or semicolons.
func parseCSV(data []byte) ([][]string, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	reader := csv.NewReader(bytes.NewReader(data))
	reader.Comma = separator(data)
	reader.FieldsPerRecord = -1
	return reader.ReadAll()
}

// timeLayouts are how a deadline or a time of handing in may be written. The last ones are
// those of Moodle in English.
var timeLayouts = []string{time.RFC3339, "2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02T15:04",
	"Monday, 2 January 2006, 3:04 PM", "Monday, 2 January 2006, 15:04", "Monday, January 2, 2006, 3:04 PM"}

func parseTime(text string, place *time.Location) (time.Time, error) {
	for _, layout := range timeLayouts {
		if t, err := time.ParseInLocation(layout, strings.TrimSpace(text), place); err == nil {
			return t, nil
		}
	}
	if t, err := time.ParseInLocation(time.DateOnly, strings.TrimSpace(text), place); err == nil {
		return t.Add(24*time.Hour - time.Second), nil // the end of the day
	}
	return time.Time{}, fmt.Errorf("%q is no time; write it as 2026-11-20 23:59", text)
}
