package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
)

// student is a person who handed something in, or who is on the roster. Unknown fields are
// "".
type student struct {
	Key   string `json:"key"` // names the student in all files; no two have the same
	Name  string `json:"name,omitempty"`
	Email string `json:"email,omitempty"`
	ID    string `json:"id,omitempty"` // Moodle's "ID number", Canvas' "SIS User ID"
	Login string `json:"login,omitempty"`

	number   string    // of a user in Canvas, or of a participant in Moodle
	section  string    // in Canvas
	handedIn time.Time // as the roster says, or zero
	row      []string  // of the roster, or nil
}

// shownName returns how a person is named in pages.
func (s *student) shownName() string {
	if s.Name != "" {
		return s.Name
	}
	return s.Key
}

// handIn is a file that was handed in, with what its name says about the student.
type handIn struct {
	file   string
	key    string // the name of the file or its folder
	name   string // "" if the file does not say it
	number string // as in student
	canvas bool
	late   bool // Canvas has marked it as late
}

var (
	// Moodle: "Anna Meier_12345_assignsubmission_file_", a folder or the beginning of a name.
	moodleName = regexp.MustCompile(`^(.+)_(\d+)_assignsubmission_(?:file|onlinetext)(?:_.*)?$`)
	// Canvas: "meieranna_LATE_12345_67890_week-3.ipynb", with the numbers of user and file.
	canvasName = regexp.MustCompile(`^([^_]+)_(LATE_)?(\d+)_(\d+)_.+$`)
)

// handInOf reads the name of a file below the folder arg, or of arg itself. original is the
// name of the notebook that was given out, without its ending.
func handInOf(arg, file, original string) handIn {
	h := handIn{file: file}
	inside, err := filepath.Rel(arg, file)
	if err != nil || inside == "." {
		inside = filepath.Base(file)
	}
	parts := strings.Split(filepath.ToSlash(inside), "/")
	for _, part := range slices.Concat([]string{filepath.Base(filepath.Dir(file))}, parts) {
		if m := moodleName.FindStringSubmatch(part); m != nil {
			h.name, h.number, h.key = m[1], m[2], m[1]+"_"+m[2]
			return h
		}
	}
	base := filepath.Base(file)
	if m := canvasName.FindStringSubmatch(base); m != nil {
		h.canvas, h.late, h.number, h.key = true, m[2] != "", m[3], m[1]+"_"+m[3]
		return h
	}
	h.key = strings.TrimSuffix(base, filepath.Ext(base))
	if len(parts) > 1 {
		h.key = parts[0]
	} else if h.key == original {
		if whole, err := filepath.Abs(file); err == nil {
			h.key = filepath.Base(filepath.Dir(whole))
		}
	}
	return h
}

// modified returns the time of a file, or zero.
func modified(file string) time.Time {
	info, err := os.Lstat(file)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// letters returns the letters and digits of a name in lower case, without spaces, so that
// "Meier, Anna" is "meieranna" as in Canvas.
func letters(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// sameName reports whether two names consist of the same words, in any order.
func sameName(a, b string) bool {
	words := func(s string) string {
		list := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		slices.Sort(list)
		return strings.Join(list, " ")
	}
	return words(a) != "" && words(a) == words(b)
}

// match returns the student of the roster who handed in a file, or nil. problem says why
// nobody can be found if there is more than one.
func match(h handIn, roster []*student) (found *student, problem string) {
	canvasName, _, _ := strings.Cut(h.key, "_")
	for _, fits := range []func(s *student) bool{ // the surest first
		func(s *student) bool { return h.number != "" && s.number == h.number },
		func(s *student) bool {
			return h.number == "" && slices.ContainsFunc([]string{s.Email, s.ID, s.Login, s.number, s.Key}, func(v string) bool { return v != "" && strings.EqualFold(v, h.key) })
		},
		func(s *student) bool {
			user, _, _ := strings.Cut(s.Email, "@")
			return h.number == "" && user != "" && strings.EqualFold(user, h.key)
		},
		func(s *student) bool {
			if h.canvas {
				return letters(s.Name) != "" && letters(s.Name) == letters(canvasName)
			}
			name := h.name
			if name == "" {
				name = h.key
			}
			return sameName(s.Name, name)
		},
	} {
		var all []*student
		for _, s := range roster {
			if fits(s) {
				all = append(all, s)
			}
		}
		switch {
		case len(all) == 1:
			return all[0], ""
		case len(all) > 1:
			return nil, "more than one person on the roster fits"
		}
	}
	return nil, "nobody on the roster fits"
}
