package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestHandInNames(t *testing.T) {
	for _, test := range []struct {
		arg, file string
		want      handIn
	}{
		{"in", "in/anna.ipynb", handIn{key: "anna"}},
		{"in", "in/anna/week-3/lab.ipynb", handIn{key: "anna"}},
		{"in/anna", "in/anna/lab.ipynb", handIn{key: "anna"}},
		{"in/anna.ipynb", "in/anna.ipynb", handIn{key: "anna"}},
		{"in/anna/lab.ipynb", "in/anna/lab.ipynb", handIn{key: "anna"}},
		{"in", "in/Anna Meier_123_assignsubmission_file/lab.ipynb", handIn{key: "Anna Meier_123", name: "Anna Meier", number: "123"}},
		{"in", "in/Anna_Meier_123_assignsubmission_file_/deep/lab.ipynb", handIn{key: "Anna_Meier_123", name: "Anna_Meier", number: "123"}},
		{"in", "in/Anna Meier_123_assignsubmission_file_lab.ipynb", handIn{key: "Anna Meier_123", name: "Anna Meier", number: "123"}},
		{"in/Anna Meier_123_assignsubmission_file_", "in/Anna Meier_123_assignsubmission_file_/my.ipynb", handIn{key: "Anna Meier_123", name: "Anna Meier", number: "123"}},
		{"in", "in/meieranna_LATE_12_345_lab-1.ipynb", handIn{key: "meieranna_12", number: "12", canvas: true, late: true}},
		{"in", "in/meieranna_12_345_my_lab.ipynb", handIn{key: "meieranna_12", number: "12", canvas: true}},
		{"in", "in/anon_ab1c2_345_lab.ipynb", handIn{key: "anon_ab1c2_345_lab"}},
	} {
		test.want.file = filepath.FromSlash(test.file)
		if got := handInOf(filepath.FromSlash(test.arg), test.want.file, "lab"); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.file, got, test.want)
		}
	}
}

func TestMatch(t *testing.T) {
	list, err := parseRoster([]byte("Student,ID,SIS User ID,SIS Login ID,Section,Email\n"+
		"\"Meier, Anna\",12,s012,amei,A,anna@example.edu\n\"Li, Ben\",13,s013,bli,A,ben@example.edu\n\"Li, Ben\",14,s014,bli2,A,ben2@example.edu\n\"O'Brien, Zoë\",15,,,,\n"), time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		in   handIn
		want string
	}{
		{handIn{canvas: true, number: "13", key: "liben_13"}, "bli"},
		{handIn{canvas: true, number: "99", key: "meieranna_99"}, "amei"},
		{handIn{number: "99", key: "x", name: "Zoë O'Brien"}, "O'Brien, Zoë"},
		{handIn{key: "AMEI"}, "amei"},
		{handIn{key: "s014"}, "bli2"},
		{handIn{key: "ben2@example.edu"}, "bli2"},
		{handIn{key: "anna"}, "amei"},
		{handIn{key: "Anna Meier"}, "amei"},
		{handIn{key: "anna_meier"}, "amei"},
		{handIn{key: "Ben Li"}, "more than one"},
		{handIn{key: "meier"}, "nobody"},
		{handIn{key: ""}, "nobody"},
	} {
		s, problem := match(test.in, list.students)
		got := problem
		if s != nil {
			got = s.Key
		}
		if !strings.Contains(got, test.want) || got == "" {
			t.Errorf("%+v is %q, want %q", test.in, got, test.want)
		}
	}
}
