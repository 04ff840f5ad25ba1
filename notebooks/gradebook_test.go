package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svmnb/svmnb/notebooks/lab"
)

func asCSV(t *testing.T, rows [][]string) string {
	t.Helper()
	data, err := formCSV(rows, ',')
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// annaAndCarla are marks for both proofs.
var annaAndCarla = []mark{
	{student: "anna", exercise: "1.2", given: true, points: 2, written: "2", answer: fingerprint("Since $1=1$.")},
	{student: "carla", exercise: "1.2", given: true, points: 0.5, written: "0.5", comment: "Why?", answer: fingerprint("It is clear.")},
}

func TestGradebooks(t *testing.T) {
	c := recordedClass(t, annaAndCarla)
	for name, test := range map[string]struct {
		rows [][]string
		want string
	}{
		"Moodle": {c.moodle(), `Full name,Email address,ID number,Username,Week 3,Week 3: 1.1,Week 3: 1.2,Feedback
"Meier, Anna",anna@example.edu,s1,anna,5,3,2,1.1: 3 of 3; 1.2: 2 of 2
"Li, Ben",ben@example.edu,s2,ben,0,0,0,1.1: 0 of 3; 1.2: 0 of 2
"Ek, Carla",carla@example.edu,s3,carla,1,1,0.5,1.1: 1 of 3; 1.2: 0.5 of 2; late: -0.5
"Absent, Zoe",,s4,zoe,,,,
`},
		"Canvas": {c.canvas(), `Student,ID,SIS User ID,SIS Login ID,Section,WEEK 3 (77)
"    Points Possible",,,,,5
"Meier, Anna",11,s1,anna,A,5
"Li, Ben",12,s2,ben,A,0
"Ek, Carla",13,s3,carla,B,1
"Absent, Zoe",14,s4,zoe,B,
`},
		"everything": {c.grades(), `student,name,file,1.1,1.2,late days,late points,points,of,waiting for marks
anna,"Meier, Anna",in/anna.ipynb,3,2,,0,5,5,0
ben,"Li, Ben",in/ben.ipynb,0,0,,0,0,5,0
carla,"Ek, Carla",in/carla_LATE_13_99_lab.ipynb,1,0.5,1,-0.5,1,5,0
zoe,"Absent, Zoe",,,,,,,5,
`},
	} {
		if got := asCSV(t, test.rows); got != test.want {
			t.Errorf("%s: got\n%swant\n%s", name, got, test.want)
		}
	}
	if c.moodleWorksheet() != nil {
		t.Error("a gradebook of Canvas became a worksheet of Moodle")
	}
	waiting := asCSV(t, recordedClass(t, nil).moodle())
	if !strings.Contains(waiting, "anna,,3,,1.1: 3 of 3; 1.2: not marked yet\n") || !strings.Contains(waiting, "ben,0,0,0,") {
		t.Errorf("an answer that waits counts:\n%s", waiting)
	}
}

func TestMoodleWorksheet(t *testing.T) {
	const header = "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,Last modified (submission),Last modified (grade),Feedback comments\n"
	people, err := parseRoster([]byte(header+"Participant 5,Anna Meier,a@example.edu,Submitted,,5.00,Yes,-,-,\nParticipant 6,Ben Li,b@example.edu,No submission,,5.00,Yes,-,-,\n"), time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	file := "in/Anna Meier_5_assignsubmission_file/lab.ipynb"
	g := recorded(file, gradedExercise{State: lab.Passed, Tests: []lab.Test{{State: lab.Passed}}}, "")
	c := assemble(recordedTask(t), []handIn{handInOf("in", file, "lab")}, []graded{g}, people, nil, lateRule{}, nil)
	want := header + "Participant 5,Anna Meier,a@example.edu,Submitted,1,5.00,Yes,-,-,1.1: 1 of 3; 1.2: 0 of 2\nParticipant 6,Ben Li,b@example.edu,No submission,,5.00,Yes,-,-,\n"
	if got := asCSV(t, c.moodleWorksheet()); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got := feedbackName(c.Entries[0]); got != "Anna Meier_5_assignsubmission_file_feedback" {
		t.Errorf("Moodle would not know the page %q", got)
	}
}

func TestStudentsOfAClass(t *testing.T) {
	pass := []lab.Test{{What: "a", State: lab.Passed}}
	right := gradedExercise{State: lab.Passed, Tests: pass}
	c := recordedClass(t, nil, recorded("in/ben.ipynb", gradedExercise{State: lab.Failed}, ""), recorded("in/ben/lab.ipynb", right, ""),
		recorded("in/nobody.ipynb", right, ""), recorded("in/anna.ipynb", gradedExercise{State: missing, Forged: true}, ""))
	var keys []string
	for _, e := range c.Entries {
		keys = append(keys, e.Student.Key+" "+amount(e.Points))
	}
	if want := []string{"anna 0", "ben 1", "nobody 1"}; !slices.Equal(keys, want) {
		t.Errorf("the class is %q, want %q", keys, want)
	}
	notes := strings.Join(c.Notes, "\n")
	for _, want := range []string{"in/nobody.ipynb: nobody on the roster", "handed in in/ben.ipynb and in/ben/lab.ipynb", "in/anna.ipynb sent reports of its own for exercises 1.1, which"} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes do not say %q:\n%s", want, notes)
		}
	}
	if len(c.Absent) != 2 {
		t.Errorf("%d are absent, want Carla and Zoe", len(c.Absent))
	}
}

func TestNoFormulasInTables(t *testing.T) {
	for text, want := range map[string]string{"=1+1": "'=1+1", "@x": "'@x", "-2": "-2", "-": "-", "+x": "'+x", "\tx": "'\tx", "a=1": "a=1", "": "", "'=x": "'=x"} {
		if got := guarded(text); got != want || text[:min(1, len(text))] != "'" && unguarded(got) != text {
			t.Errorf("%q is written as %q, want %q", text, got, want)
		}
	}
}

func TestMarks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "marks.csv")
	worth := recordedTask(t).worth
	if marks, comma, err := readMarks(file, worth); marks != nil || comma != ',' || err != nil {
		t.Errorf("no file: %v %q %v", marks, comma, err)
	}
	// A spreadsheet has changed the commas.
	old := "student;exercise;points;of;comment;answer\nanna;1.2;1,5;2;\"Good; really\";" + fingerprint("Since $1=1$.") + "\ncarla;1.2;2;2;Nice;00000000\ngone;1.2;1;2;;11111111\n"
	if err := os.WriteFile(file, []byte(old), 0o644); err != nil {
		t.Fatal(err)
	}
	marks, comma, err := readMarks(file, worth)
	if err != nil || comma != ';' {
		t.Fatal(err, comma)
	}
	c := recordedClass(t, marks)
	for key, want := range map[string]string{"anna": "1.5 Good; really", "carla": "waits"} {
		for _, e := range c.Entries {
			got := e.score("1.2")
			says := amount(got.Points) + " " + got.Comment
			if got.Waiting {
				says = "waits"
			}
			if e.Student.Key == key && says != want {
				t.Errorf("%s has %q, want %q", key, says, want)
			}
		}
	}
	data, err := formCSV(c.newMarks(marks), comma)
	want := "student;exercise;points;of;comment;answer\nanna;1.2;1,5;2;\"Good; really\";" + fingerprint("Since $1=1$.") +
		"\ncarla;1.2;;2;(the answer has changed; before, it had 2 points) Nice;" + fingerprint("It is clear.") + "\ngone;1.2;1;2;;11111111\n"
	want = strings.Replace(want, "(the answer has changed; before, it had 2 points) Nice", "\"(the answer has changed; before, it had 2 points) Nice\"", 1)
	if err != nil || string(data) != want {
		t.Errorf("got\n%swant\n%s", data, want)
	}
	for text, want := range map[string]string{
		"a,b\n": "the columns are",
		"student,exercise,points,of,comment,answer\nanna,1.2,3,2,,x\n":    `line 2: "3" points for exercise 1.2 of anna, want a number from 0 to 2`,
		"student,exercise,points,of,comment,answer\nanna,1.2,good,2,,x\n": `"good" points`,
		"student,exercise,points,of,comment,answer\nanna,1.2,-1,2,,x\n":   `"-1" points`,
		"student,exercise,points,of,comment,answer\nanna,1.2,NaN,2,,x\n":  `"NaN" points`,
	} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, _, err := readMarks(file, worth); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
