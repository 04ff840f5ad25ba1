package main

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/svmnb/svmnb/notebooks/lab"
)

var lineNumber = regexp.MustCompile(`(?i)^line \d+: `)

func percent(part float64) string { return fmt.Sprintf("%.0f %%", 100*part) }

// writeSummary writes in a few lines how the class did, and what it found hard.
func (c *class) writeSummary(w io.Writer) {
	fmt.Fprintf(w, "\n%s", handedInBy(len(c.Entries)))
	if len(c.Absent) > 0 {
		fmt.Fprintf(w, ", %d on the roster handed in nothing", len(c.Absent))
	}
	if points, n := c.median(); n > 0 && n == len(c.Entries) {
		fmt.Fprintf(w, "; median %s of %s", amount(points), shownPoints(c.Points))
	}
	fmt.Fprintln(w)
	all := c.difficulties()
	slices.SortStableFunc(all, func(a, b difficulty) int {
		return cmp.Or(cmp.Compare(min(1, a.waiting), min(1, b.waiting)), cmp.Compare(a.share, b.share))
	})
	fmt.Fprintln(w, "\nexercise  points earned  what was hard")
	for _, d := range all {
		fmt.Fprintf(w, "%-8s  %13s  %s\n", d.Exercise, d.earned(), told(d.hardest(len(c.Entries))))
	}
	if n := c.waiting(); n > 0 {
		fmt.Fprintf(w, "\n%s for a mark: fill in the points in marks.csv, and run the command again.\n", manyAnswers(n, "waits", "wait"))
	}
	for _, note := range c.Notes {
		fmt.Fprintln(w, "note: "+note)
	}
}

func handedInBy(n int) string {
	if n == 1 {
		return "1 student handed in"
	}
	return fmt.Sprintf("%d students handed in", n)
}

// hardest names the test that most notebooks failed, with the commonest hint or problem.
func (d difficulty) hardest(n int) string {
	var parts []string
	worst, failures := -1, 0
	for i, t := range d.tests {
		if t.seen-t.passed > failures {
			worst, failures = i, t.seen-t.passed
		}
	}
	if worst >= 0 {
		t := d.tests[worst]
		parts = append(parts, fmt.Sprintf("%q (passed by %d of %d)", t.what, t.passed, t.seen))
	}
	if len(d.hints) > 0 {
		parts = append(parts, fmt.Sprintf("%d×: %s", d.hints[0].n, d.hints[0].text))
	}
	if bad := d.states[broken] + d.states[endedEarly]; bad > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d did not run", bad, n))
	}
	return strings.ReplaceAll(strings.Join(parts, "; "), "\n", " ")
}

// summaryPage returns the page for the teacher: the points, what was hard, and a line for
// each student with a link to the feedback.
func (c *class) summaryPage(pages map[*entry]string) ([]byte, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "<section class=\"text\"><h1>%s</h1>\n<p>%s", escaped(c.Title), handedInBy(len(c.Entries)))
	if len(c.Absent) > 0 {
		fmt.Fprintf(&b, ", and %d on the roster handed in nothing", len(c.Absent))
	}
	b.WriteString(".")
	if points, n := c.median(); n > 0 && n == len(c.Entries) {
		fmt.Fprintf(&b, " The median is %s of %s.", amount(points), shownPoints(c.Points))
	}
	if n := c.waiting(); n > 0 {
		fmt.Fprintf(&b, " %s for a mark in marks.csv.", manyAnswers(n, "waits", "wait"))
	}
	b.WriteString("</p>\n")
	c.writeNotes(&b)
	c.writePoints(&b)
	c.writeExercises(&b)
	c.writeStudents(&b, pages)
	b.WriteString("</section>\n")
	return classPage(c.Title+": summary", b.String(), false)
}

func (c *class) writeNotes(b *strings.Builder) {
	if len(c.Notes) == 0 {
		return
	}
	b.WriteString("<h2>Please look at these</h2>\n<ul>\n")
	for _, note := range c.Notes {
		fmt.Fprintf(b, "<li>%s</li>\n", escaped(note))
	}
	b.WriteString("</ul>\n")
}

func bar(part float64) string {
	if part == 0 {
		return ""
	}
	return fmt.Sprintf("<span class=\"bar\" style=\"width:%.0f%%\"></span>", 75*part)
}

// writePoints writes how many students have how many points, in tenths of all points.
func (c *class) writePoints(b *strings.Builder) {
	if len(c.Entries) == 0 || c.Points == 0 {
		return
	}
	var counts [10]int
	for _, e := range c.Entries {
		counts[min(9, max(0, int(10*e.Points/c.Points)))]++
	}
	b.WriteString("<h2>Points</h2>\n")
	if c.waiting() > 0 {
		b.WriteString("<p>So far, without the answers that wait for a mark.</p>\n")
	}
	b.WriteString("<table><thead><tr><th>points</th><th>students</th></tr></thead><tbody>\n")
	for i, k := range counts {
		from, to := c.Points*float64(i)/10, c.Points*float64(i+1)/10
		below := "below "
		if i == 9 {
			below = ""
		}
		fmt.Fprintf(b, "<tr><td>%s to %s%s</td><td class=\"share\">%s%d</td></tr>\n", amount(from), below, amount(to), bar(float64(k)/float64(slices.Max(counts[:]))), k)
	}
	b.WriteString("</tbody></table>\n")
}

// writeExercises writes what the class found hard.
func (c *class) writeExercises(b *strings.Builder) {
	all := c.difficulties()
	b.WriteString("<h2>What the class found hard</h2>\n<table><thead><tr><th>exercise</th><th>points earned</th><th class=\"number\">right</th><th class=\"number\">not right</th><th class=\"number\">not answered</th><th class=\"number\">did not run</th><th class=\"number\">ended early</th></tr></thead><tbody>\n")
	for _, d := range all {
		earned := d.earned()
		if d.waiting == 0 {
			earned = bar(d.share) + earned
		}
		fmt.Fprintf(b, "<tr><td>%s</td><td class=\"share\">%s</td>", escaped(d.Exercise), earned)
		if d.ByHand {
			fmt.Fprintf(b, "<td class=\"number\" colspan=\"2\">%d by hand</td><td class=\"number\">%d</td><td></td><td></td></tr>\n", d.states[byHand], d.states[lab.Open])
			continue
		}
		for _, n := range []int{d.states[lab.Passed], d.states[lab.Failed], d.states[lab.Open], d.states[broken] + d.states[missing], d.states[endedEarly]} {
			fmt.Fprintf(b, "<td class=\"number\">%d</td>", n)
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody></table>\n")
	for _, d := range all {
		if len(d.tests)+len(d.problems) == 0 {
			continue
		}
		fmt.Fprintf(b, "<h3>Exercise %s</h3>\n", escaped(d.Exercise))
		if len(d.tests) > 0 {
			b.WriteString("<table><thead><tr><th>test</th><th>passed, of those that ran</th></tr></thead><tbody>\n")
			for _, t := range d.tests {
				hidden := ""
				if t.hidden {
					hidden = " (hidden)"
				}
				part := float64(t.passed) / float64(t.seen)
				fmt.Fprintf(b, "<tr><td>%s%s</td><td class=\"share\">%s%s</td></tr>\n", escaped(t.what), hidden, bar(part), percent(part))
			}
			b.WriteString("</tbody></table>\n")
		}
		writeCounted(b, "The commonest hints", d.hints)
		writeCounted(b, "Why answers did not run", d.problems)
	}
}

func writeCounted(b *strings.Builder, title string, list []counted) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "<p>%s:</p>\n<ul>\n", title)
	for _, x := range list {
		text, more := x.text, ""
		if len(text) > 300 {
			text, more = strings.ToValidUTF8(text[:300], ""), " …"
		}
		fmt.Fprintf(b, "<li>%d × %s%s</li>\n", x.n, escaped(text), more)
	}
	b.WriteString("</ul>\n")
}

// writeStudents writes a line for each student.
func (c *class) writeStudents(b *strings.Builder, pages map[*entry]string) {
	b.WriteString("<h2>Students</h2>\n<table><thead><tr><th>student</th>")
	for _, it := range c.Items {
		fmt.Fprintf(b, "<th class=\"number\">%s</th>", escaped(it.Exercise))
	}
	b.WriteString("<th class=\"number\">points</th><th></th></tr></thead><tbody>\n")
	c.everyone(func(s *student, e *entry) {
		name := escaped(shortName(s.shownName()))
		if e == nil {
			fmt.Fprintf(b, "<tr><td>%s</td>%s<td></td><td>handed in nothing</td></tr>\n", name, strings.Repeat("<td></td>", len(c.Items)))
			return
		}
		if page := pages[e]; page != "" {
			name = fmt.Sprintf("<a href=\"%s\">%s</a>", html.EscapeString("feedback/"+url.PathEscape(page)), name)
		}
		fmt.Fprintf(b, "<tr><td>%s</td>", name)
		for i := range c.Items {
			got := e.Scores[i]
			state := e.exercise(got.Exercise).State
			fmt.Fprintf(b, "<td class=\"number\" title=\"%s\">%s</td>", verdicts[state], got.written())
		}
		var remarks []string
		if e.Late.Late {
			remarks = append(remarks, "late")
		}
		if e.Waiting > 0 {
			remarks = append(remarks, "waits for a mark")
		}
		if neverRan(e) {
			remarks = append(remarks, "could not be checked")
		}
		fmt.Fprintf(b, "<td class=\"number\">%s</td><td>%s</td></tr>\n", amount(e.Points), strings.Join(remarks, ", "))
	})
	b.WriteString("</tbody></table>\n")
}

func shortName(name string) string {
	if runes := []rune(name); len(runes) > 60 {
		return string(runes[:59]) + "…"
	}
	return name
}
