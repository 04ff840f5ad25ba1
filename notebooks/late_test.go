package main

import (
	"strings"
	"testing"
	"time"
)

func TestLate(t *testing.T) {
	at := func(text string) time.Time {
		when, err := parseTime(text, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	file := func(string) time.Time { return at("2026-11-22 10:00") }
	for name, test := range map[string]struct {
		deadline, late string
		in             handIn
		roster         string
		days           int
		loss           float64
		basis          string
	}{
		"in time":                       {"2026-11-20 23:59", "10%", handIn{}, "2026-11-20 23:59", 0, 0, "roster"},
		"a second late":                 {"2026-11-20 23:59", "10%", handIn{}, "2026-11-20 23:59:01", 1, 2, "roster"},
		"a day late":                    {"2026-11-20 23:59", "10%", handIn{}, "2026-11-21 23:59", 1, 2, "roster"},
		"two days late, in points":      {"2026-11-20 23:59", "0.5", handIn{}, "2026-11-22 00:00", 2, 1, "roster"},
		"a date is the end of the day":  {"2026-11-20", "1", handIn{}, "2026-11-20 23:59:59", 0, 0, "roster"},
		"the file says it":              {"2026-11-20 23:59", "1", handIn{}, "", 2, 2, "time of the file"},
		"only marked":                   {"2026-11-20 23:59", "", handIn{}, "", 2, 0, "time of the file"},
		"Canvas says that it was late":  {"2026-11-20 23:59", "1", handIn{canvas: true, late: true}, "", 1, 1, "LATE"},
		"Canvas says that it was not":   {"2026-11-20 23:59", "1", handIn{canvas: true}, "", 0, 0, "LATE"},
		"the roster knows more":         {"2026-11-20 23:59", "1", handIn{canvas: true, late: true}, "2026-11-25 10:00", 5, 5, "roster"},
		"Canvas, without a deadline":    {"", "", handIn{canvas: true, late: true}, "", 1, 0, "LATE"},
		"no deadline":                   {"", "", handIn{}, "2026-11-25 10:00", 0, 0, ""},
		"no deadline, and no time":      {"", "", handIn{}, "", 0, 0, ""},
		"another time zone":             {"2026-11-20T23:59:00+01:00", "1", handIn{}, "2026-11-20 23:00", 1, 1, "roster"},
		"many days, which cost a share": {"2026-11-20 23:59", "25%", handIn{}, "2026-11-30 12:00", 10, 50, "roster"},
	} {
		rule, err := parseLateRule(test.deadline, test.late, time.UTC)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s := &student{}
		if test.roster != "" {
			s.handedIn = at(test.roster)
		}
		got := rule.of(test.in, s, file, 20)
		if got.Days != test.days || got.Late != (test.days > 0) || got.Loss != test.loss || !strings.Contains(got.Basis, test.basis) {
			t.Errorf("%s: %+v, want %d days, %g points, by %q", name, got, test.days, test.loss, test.basis)
		}
		if says := got.sentence(); (says != "") != got.Late || got.Late && !strings.Contains(says, got.Basis) {
			t.Errorf("%s: %q", name, says)
		}
	}
	for _, test := range [][2]string{{"tomorrow", ""}, {"2026-11-20", "much"}, {"2026-11-20", "-1"}, {"2026-11-20", "NaN"}, {"", "1"}} {
		if _, err := parseLateRule(test[0], test[1], time.UTC); err == nil {
			t.Errorf("%q is a rule", test)
		}
	}
}
