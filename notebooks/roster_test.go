package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestRosters(t *testing.T) {
	for name, test := range map[string]struct{ source, want string }{
		"Canvas": {"\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Lab (77)\n    Points Possible,,,,,(read only)\n\"Meier, Anna\",12,s012,amei,A,\n\"Student, Test\",99,,,,\n",
			"[amei|Meier, Anna||s012|amei|12|A|-]"},
		"Moodle's worksheet": {"Identifier,\"Full name\",\"Email address\",Status,Grade,\"Maximum Grade\",\"Last modified (submission)\"\n\"Participant 12\",\"Anna Meier\",anna@example.edu,Submitted,,10.00,\"Friday, 20 November 2026, 11:58 PM\"\n\"Participant 13\",\"Ben Li\",,,,,-\n",
			"[anna@example.edu|Anna Meier|anna@example.edu|||12||2026-11-20 23:58][Ben Li|Ben Li||||13||-]"},
		"Moodle's participants, with semicolons": {"First name;Last name;ID number;Email address\nAnna;Meier;s012;anna@example.edu\nAnna;Meier;s013;\n",
			"[anna@example.edu|Anna Meier|anna@example.edu|s012||||-][s013|Anna Meier||s013||||-]"},
		"the same name twice": {"name\nAnna\nanna\n", "[Anna|Anna||||||-][anna (2)|anna||||||-]"},
		"nothing":             {"", "the roster is empty"},
		"no names":            {"a,b\n1,2\n", "no column with names"},
		"no time":             {"name,submitted\nAnna,yesterday\n", `line 2: "yesterday" is no time`},
		"not CSV":             {"name,submitted\n\"a\n", "quote"},
	} {
		r, err := parseRoster([]byte(test.source), time.UTC)
		var b strings.Builder
		if err == nil && r.noTime != nil {
			err = r.noTime
		}
		if err != nil {
			b.WriteString(err.Error())
		} else {
			for _, s := range r.students {
				when := "-"
				if !s.handedIn.IsZero() {
					when = s.handedIn.Format("2006-01-02 15:04")
				}
				fmt.Fprintf(&b, "[%s]", strings.Join([]string{s.Key, s.Name, s.Email, s.ID, s.Login, s.number, s.section, when}, "|"))
			}
		}
		if got := b.String(); got != test.want && (err == nil || !strings.Contains(got, test.want)) {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
