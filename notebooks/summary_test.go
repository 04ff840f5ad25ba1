package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/notebooks/lab"
)

func TestSummary(t *testing.T) {
	c := recordedClass(t, annaAndCarla)
	all := c.difficulties()
	one, two := all[0], all[1]
	// Anna has 3 of 3 points, Ben none, Carla one.
	if amount(100*one.share) != "44.44" || one.states[lab.Passed] != 1 || one.states[broken] != 1 || one.states[lab.Failed] != 1 {
		t.Errorf("1.1: %+v", one)
	}
	if amount(100*two.share) != "41.67" || two.waiting != 0 || two.states[lab.Open] != 1 {
		t.Errorf("1.2: %+v", two)
	}
	if want := []testCount{{"a", false, 2, 2}, {"more", true, 1, 2}}; len(one.tests) != 2 || one.tests[0] != want[0] || one.tests[1] != want[1] {
		t.Errorf("tests %+v, want %+v", one.tests, want)
	}
	if len(one.hints) != 1 || one.hints[0] != (counted{"And twice?", 1}) || len(one.problems) != 1 || one.problems[0] != (counted{"Element 0 is asked for, and the list is empty.", 1}) {
		t.Errorf("hints %v, problems %v", one.hints, one.problems)
	}
	if points, n := c.median(); points != 1 || n != 3 {
		t.Errorf("median %g of %d", points, n)
	}
	var b bytes.Buffer
	c.writeSummary(&b)
	for _, want := range []string{
		"3 students handed in, 1 on the roster handed in nothing; median 1 of 5 points",
		"1.1                44 %  \"more\" (passed by 1 of 2); 1×: And twice?; 1 of 3 did not run\n",
		"1.2                42 %",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the summary does not say %q:\n%s", want, b.String())
		}
	}
	page, err := c.summaryPage(map[*entry]string{c.Entries[0]: "a?b.html"})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(textOf(page)), " ")
	for _, want := range []string{"3 students handed in, and 1 on the roster handed in nothing. The median is 1 of 5 points.", "more (hidden)", "1 × And twice?", "Absent, Zoe handed in nothing", "Ek, Carla 1 0.5 1 late"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q:\n%s", want, text)
		}
	}
	if !strings.Contains(string(page), `href="feedback/a%3Fb.html"`) {
		t.Error("the page has no link to the feedback")
	}

	b.Reset()
	recordedClass(t, nil).writeSummary(&b)
	for _, want := range []string{"1.2           2 to mark", "2 answers wait for a mark"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the summary does not say %q:\n%s", want, b.String())
		}
	}
}
