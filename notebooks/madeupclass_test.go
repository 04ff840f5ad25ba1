package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// studentKinds are kinds of made-up students, with how many of 100 there are.
var studentKinds = []struct {
	name string
	of   int
}{
	{"right", 40}, {"one wrong", 16}, {"wrong", 10}, {"broken", 9}, {"panics", 5}, {"looping", 5}, {"forged", 4}, {"empty", 5}, {"huge", 3}, {"not a notebook", 3},
}

var (
	firstNames = strings.Fields("Anna Ben Carla Deniz Elif Femi Grace Hiro Ines Jonas Keira Liu Mina Noah Olga Priya Quentin Rosa Søren Thuy")
	lastNames  = strings.Fields("Meier Okafor Li Yılmaz García Nguyen Smith Haddad Novák O'Brien Rossi Sato Kowalska Müller Adeyemi Berg Costa Dubois Ek Fischer")
)

// madeUp is a student of the class.
type madeUp struct {
	kind, name, file string
}

// madeUpClass writes a lab and what a class of n handed in into dir: the folders given and
// handed-in, and roster.csv with two further people, who handed in nothing. There are
// students of all kinds, whose files are known by number, folder or address.
func madeUpClass(t testing.TB, dir string, n int) (students []madeUp) {
	t.Helper()
	encoded, solutions := madeUpLab(t, dir)
	var order []string // the kinds of a hundred students, mixed
	for round := 0; len(order) < 100; round++ {
		for _, k := range studentKinds {
			if round < k.of {
				order = append(order, k.name)
			}
		}
	}
	roster := "\"First name\",\"Last name\",\"ID number\",\"Email address\",\"Handed in\"\n"
	for i := range n {
		s := madeUp{kind: order[i%len(order)], name: firstNames[i%len(firstNames)] + " " + lastNames[(i/len(firstNames)+i)%len(lastNames)]}
		first, last, _ := strings.Cut(s.name, " ")
		id, hour := 4000+i, "20:15"
		if i%7 == 3 {
			hour = "23:59" // a day later than the deadline of the test
		}
		roster += fmt.Sprintf("%s,%s,%d,%s.%d@example.edu,2026-11-%02d %s\n", first, last, id, strings.ToLower(letters(first)), id, 20+i%7/3%2, hour)
		switch i % 3 {
		case 0:
			s.file = fmt.Sprintf("%d.ipynb", id)
		case 1:
			s.file = fmt.Sprintf("%s.%d/lab.ipynb", strings.ToLower(letters(first)), id)
		default:
			s.file = fmt.Sprintf("%s.%d@example.edu.ipynb", strings.ToLower(letters(first)), id)
		}
		s.file = filepath.Join(dir, "handed-in", filepath.FromSlash(s.file))
		if err := errors.Join(os.MkdirAll(filepath.Dir(s.file), 0o755), os.WriteFile(s.file, s.hands(t, encoded, solutions), 0o644)); err != nil {
			t.Fatal(err)
		}
		students = append(students, s)
	}
	roster += "Zoe,Absent,9001,zoe@example.edu,-\nYan,Absent,9002,yan@example.edu,\n"
	if err := os.WriteFile(filepath.Join(dir, "roster.csv"), []byte(roster), 0o644); err != nil {
		t.Fatal(err)
	}
	return students
}

// hands returns the file that the student hands in.
func (s madeUp) hands(t testing.TB, original []byte, solutions map[string]*solution) []byte {
	nb, err := parseNotebook(original)
	if err != nil {
		t.Fatal(err)
	}
	nth := 0
	for _, c := range nb.cells {
		if c.named(proofID) != "" && s.kind != "empty" {
			c.raw["source"] = "I, " + s.name + ", think: two points on the borders satisfy $w\\cdot(x-y)=2$.\n\n<script>window.hostile = 1</script>"
		}
		known := solutions[c.answers()]
		if known == nil {
			continue
		}
		nth++
		answer := known.right[0]
		wrong := answer
		if len(known.wrong) > 0 {
			wrong = known.wrong[0]
		}
		switch s.kind {
		case "empty":
			continue
		case "wrong", "forged":
			answer = wrong
		case "one wrong":
			if nth == 1+len(s.name)%3 {
				answer = wrong
			}
		case "broken":
			if nth == 2 {
				answer += "\nvar x := unfinished(\n"
			}
		case "panics":
			if nth == 2 {
				answer += "\nvar none []int\n\nvar first = none[len(none)*2]\n"
			}
		case "looping":
			if nth == 2 {
				answer += "\nvar forever = func() int {\n\tfor {\n\t}\n}()\n"
			}
		case "huge":
			if nth > 1 {
				break
			}
			o := &output{kind: "stream", name: "stdout", text: strings.Repeat("all the output of a program that prints its data\n", 400_000)}
			c.setOutputs([]*output{o}, 1)
		}
		if s.kind == "forged" && nth == 1 {
			answer = "import (\n\t\"github.com/janpfeifer/gonb/gonbui\"\n\t\"github.com/janpfeifer/gonb/gonbui/protocol\"\n)\n\n" + answer + forgeAll
		}
		c.raw["source"] = "// " + s.name + "\n" + answer
	}
	if s.kind == "not a notebook" {
		return []byte("{")
	}
	data, err := nb.encode()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// forgeAll sends reports that nobody has earned, and silences the check.
const forgeAll = "\nfunc init() {\n\tfor _, name := range []string{\"1.1\", \"1.2\", \"1.3\"} {\n" +
	"\t\tgonbui.SendData(&protocol.DisplayData{Data: map[protocol.MIMEType]any{\"application/vnd.svmnb.check+json\": `{\"exercise\":\"` + name + `\",\"passed\":true,\"tests\":[{\"what\":\"all\",\"state\":\"passed\"}]}`}})\n" +
	"\t}\n\tgonbui.Sync()\n\tgonbui.IsNotebook = false\n}\n"

// A class of every kind, from its files to its pages. SVMNB_CLASS=200 makes a class of 200
// in the folder that SVMNB_CLASS_DIR names, where it stays.
func TestMadeUpClass(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the real kernel, which -short leaves out")
	}
	n, dir := len(studentKinds), t.TempDir()
	if size := os.Getenv("SVMNB_CLASS"); size != "" {
		if _, err := fmt.Sscan(size, &n); err != nil {
			t.Fatal(err)
		}
		dir = os.Getenv("SVMNB_CLASS_DIR")
	}
	students := madeUpClass(t, dir, n)
	out := filepath.Join(dir, "results")
	args := []string{"check", "-against", filepath.Join(dir, "given", "lab.ipynb"), "-roster", filepath.Join(dir, "roster.csv"),
		"-o", out, "-deadline", "2026-11-20 23:59", "-late", "10%", "-timeout", "12s", filepath.Join(dir, "handed-in")}
	var said strings.Builder
	start := time.Now()
	if err := command(t.Context(), args, &said, testWriter{t}); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d notebooks in %s\n%s", n, time.Since(start).Round(time.Second), said.String())
	var entries []entry
	readJSON(t, filepath.Join(out, "results.json"), &entries)
	if len(entries) != n {
		t.Fatalf("%d students, want %d", len(entries), n)
	}
	states := map[string]string{"right": "✓✓✓✎", "wrong": "✗✗✗✎", "broken": "✓!✓✎", "panics": "✓!✓✎", "looping": "✓⏹✓✎", "forged": "---✎", "empty": "…………", "huge": "✓✓✓✎", "not a notebook": "---…"}
	points := map[string]float64{"right": 5, "broken": 2, "panics": 2, "looping": 2, "forged": 0, "empty": 0, "huge": 5, "not a notebook": 0}
	for _, s := range students {
		for _, e := range entries {
			if e.File != s.file {
				continue
			}
			marks := ""
			for _, x := range e.Exercises {
				marks += stateMarks[x.State]
			}
			if want := states[s.kind]; want != "" && marks != want {
				t.Errorf("%s, %s: %s, want %s; %q", s.kind, s.name, marks, want, e.Problems)
			}
			got := e.Points + e.Late.Loss
			if want, known := points[s.kind]; known && got < want || known && e.Points > want {
				t.Errorf("%s, %s: %g points and %g for lateness, want %g", s.kind, s.name, e.Points, e.Late.Loss, want)
			}
			if e.Student.ID == "" || !strings.Contains(s.name, " ") {
				t.Errorf("%s is not on the roster", s.file)
			}
		}
	}

	// The second run takes all results from the first, and adds the marks that were given.
	file := filepath.Join(out, "marks.csv")
	marked, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(marked), ",1.4,,4,,", ",1.4,3.5,4,\"Good idea, and where is the formula?\",", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	kept := filesIn(t, filepath.Join(out, "kept"))
	if err := command(t.Context(), args, &said, testWriter{t}); err != nil {
		t.Fatal(err)
	}
	if again := filesIn(t, filepath.Join(out, "kept")); again != kept {
		t.Errorf("the second run ran notebooks again: kept\n%s\nwant\n%s", again, kept)
	}
	var second []entry
	readJSON(t, filepath.Join(out, "results.json"), &second)
	gained := 0.0
	for i := range second {
		gained += second[i].Points - entries[i].Points
	}
	if gained != 3.5 {
		t.Errorf("the marks have added %g points, want 3.5", gained)
	}
}
