package main

import (
	_ "embed"
	"fmt"
	"html"
	"regexp"
	"strings"
	"unicode"

	"github.com/svmnb/svmnb/notebooks/lab"
)

//go:embed feedback.css
var feedbackCSS string

// feedbackPage returns what a student gets: one page that needs no other files. Everything
// on it that comes from a notebook is escaped.
func (c *class) feedbackPage(e *entry) ([]byte, error) {
	var b strings.Builder
	math := false
	fmt.Fprintf(&b, "<section class=\"text\"><h1>%s</h1>\n<p class=\"who\">%s</p>\n", escaped(c.Title), escaped(e.Student.shownName()))
	fmt.Fprintf(&b, "<p class=\"total\"><strong>%s</strong> of %s</p>\n", amount(e.Points), shownPoints(c.Points))
	if e.Waiting > 0 {
		fmt.Fprintf(&b, "<p>%s not marked yet, and not counted.</p>\n", manyAnswers(e.Waiting, "is", "are"))
	}
	if text := e.Late.sentence(); text != "" {
		fmt.Fprintf(&b, "<p>%s</p>\n", escaped(text))
	}
	if len(e.Exercises) == 0 || e.Of == 0 && len(e.Problems) > 0 {
		for _, p := range e.Problems {
			fmt.Fprintf(&b, "<div class=\"problem\">%s</div>\n", problemHTML(p))
		}
	}
	b.WriteString("</section>\n")
	if e.Of > 0 && neverRan(e) {
		fmt.Fprintf(&b, "<div class=\"problem\"><p>Your file could not be checked.</p>%s</div>\n", problemHTML(e.Problems[0]))
	}
	for i, it := range c.Items {
		text, hasMath, err := c.exerciseHTML(e, it, e.Scores[i])
		if err != nil {
			return nil, err
		}
		math = math || hasMath
		b.WriteString(text)
	}
	return classPage(c.Title+": "+visible(e.Student.shownName()), b.String(), math)
}

// classPage writes a page for a student or the teacher, which needs no other files.
func classPage(title, body string, math bool) ([]byte, error) {
	return ownPage(title, "<main>\n"+body+"</main>\n", math, pageCSS+feedbackCSS+chromaCSS(), "")
}

// neverRan reports whether nothing of the notebook was run.
func neverRan(e *entry) bool {
	for _, x := range e.Exercises {
		if x.State != missing && x.State != lab.Open {
			return false
		}
	}
	return len(e.Problems) > 0
}

func manyAnswers(n int, one, many string) string {
	if n == 1 {
		return "One answer " + one
	}
	return fmt.Sprintf("%d answers %s", n, many)
}

// sentence says how late a notebook was, or "".
func (l lateness) sentence() string {
	if !l.Late {
		return ""
	}
	s := "Handed in late, "
	if l.Days == 1 {
		s += "by up to one day"
	} else {
		s += fmt.Sprintf("by up to %d days", l.Days)
	}
	if !l.Time.IsZero() {
		s += ", on " + l.Time.Format("2 January 2006 at 15:04")
	}
	s += " (this is based on " + l.Basis + ")."
	if l.Loss > 0 {
		s += " This costs " + shownPoints(l.Loss) + "."
	}
	return s
}

// verdicts say how an exercise ended.
var verdicts = map[lab.State]string{
	lab.Passed: "right", lab.Failed: "not right", lab.Open: "not answered", broken: "did not run",
	endedEarly: "ended before it was checked", missing: "was not checked", byHand: "marked by hand", "": "was not checked",
}

// exerciseHTML returns the part of the page about one exercise, and whether it has formulas.
func (c *class) exerciseHTML(e *entry, it item, got score) (string, bool, error) {
	result := e.exercise(it.Exercise)
	points := fmt.Sprintf("%s of %s", amount(got.Points), shownPoints(it.Points))
	verdict := verdicts[result.State]
	if got.Waiting {
		points, verdict = shownPoints(it.Points), "not marked yet"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<section class=\"exercise\">\n<h2>Exercise %s <span class=\"points\">%s, %s</span></h2>\n", escaped(it.Exercise), points, verdict)
	if result.Problem != "" {
		says := "Your answer did not run:"
		if result.State == endedEarly {
			says = "The check was not finished:"
		} else if result.State == lab.Passed || result.State == lab.Failed {
			says = "A part of the check did not run:"
		}
		fmt.Fprintf(&b, "<div class=\"problem\"><p>%s</p>%s</div>\n", says, problemHTML(result.Problem))
	}
	if result.Forged {
		b.WriteString("<div class=\"problem\"><p>A result was sent that did not come from the check. It does not count.</p></div>\n")
	}
	writeTests(&b, result.Tests)
	if len(result.Hidden) > 0 {
		b.WriteString("<h3>Further tests</h3>\n")
		writeTests(&b, result.Hidden)
	}
	if got.Comment != "" {
		fmt.Fprintf(&b, "<div class=\"comment\">%s</div>\n", escaped(got.Comment))
	}
	answer, math, err := answerHTML(result.Answer, it.ByHand)
	if answer != "" {
		b.WriteString("<h3>Your answer</h3>\n" + answer)
	}
	b.WriteString("</section>\n")
	return b.String(), math, err
}

// writeTests writes the tests of a report. As in the notebook, there is a hint for the first
// test that is not passed.
func writeTests(b *strings.Builder, tests []lab.Test) {
	if len(tests) == 0 {
		return
	}
	b.WriteString("<ul class=\"tests\">\n")
	hinted := false
	for _, t := range tests {
		help := ""
		switch {
		case t.State == lab.Passed:
			help = t.Note
		case !hinted:
			hinted, help = true, t.Hint
		}
		state := t.State
		if state != lab.Passed && state != lab.Failed {
			state = lab.Open
		}
		fmt.Fprintf(b, "<li class=\"%s\"><span class=\"sign\">%s</span>%s", state, stateMarks[state], escaped(t.What))
		if help != "" {
			fmt.Fprintf(b, "<span class=\"help\">%s</span>", escaped(help))
		}
		b.WriteString("</li>\n")
	}
	b.WriteString("</ul>\n")
}

// How much of an answer is shown. More would only slow down the page.
const (
	shownAnswer = 20_000 // bytes
	shownLines  = 400
)

// answerHTML shows an answer as it was handed in: code in colours, or a proof as text.
func answerHTML(answer string, proof bool) (page string, math bool, err error) {
	if strings.TrimSpace(answer) == "" {
		return "", false, nil
	}
	text, more := shortened(visible(answer))
	if proof {
		text, math, err = newMarkdown().render(text, "", nil)
		page = "<div class=\"answer\">" + text + "</div>\n"
	} else {
		page = "<pre class=\"code chroma\"><code>" + highlightCell(strings.TrimRight(text, "\n"), nil) + "</code></pre>\n"
	}
	if more {
		page += "<p>The answer is longer; this is its beginning.</p>\n"
	}
	return page, math, err
}

func shortened(text string) (beginning string, more bool) {
	if lines := strings.SplitAfterN(text, "\n", shownLines+1); len(lines) > shownLines {
		text, more = strings.Join(lines[:shownLines], ""), true
	}
	if len(text) > shownAnswer {
		text, more = strings.ToValidUTF8(text[:shownAnswer], ""), true
	}
	return text, more
}

// plain returns why a cell did not run in words for a learner: without the number of the
// cell in our kernel, and without stack dumps.
func plain(problem string) string {
	for _, from := range []string{"\nstderr:", "\ngoroutine ", "\nexit status ", "\n\t [[ Cell"} {
		problem, _, _ = strings.Cut(problem, from)
	}
	problem = strings.TrimSpace(visible(cellNumber.ReplaceAllString(problem, "")))
	if text, more := shortened(problem); more || len(text) > 2000 {
		problem = strings.ToValidUTF8(text[:min(len(text), 2000)], "") + " …"
	}
	for _, rule := range plainRules {
		if m := rule.matches.FindStringSubmatch(problem); m != nil {
			return strings.ReplaceAll(rule.says, "TIME", m[1])
		}
	}
	first, size := firstRune(problem)
	return string(unicode.ToUpper(first)) + problem[size:]
}

// plainRules say what the messages of the runner mean for a learner.
var plainRules = []struct {
	matches *regexp.Regexp
	says    string
}{
	{regexp.MustCompile(`^timed out after (\S+)$`), "The program did not finish within TIME. Is there a loop that does not end?"},
	{regexp.MustCompile(`^stopped after (\S+) in all$`), "The notebook took more than TIME in all."},
	{regexp.MustCompile(`^the program ended before its time()`), "The program ended by itself, without an error. Does it call os.Exit?"},
	{regexp.MustCompile(`^it prints more than (\d+ MB)`), "The program prints more than TIME."},
	{regexp.MustCompile(`^not a notebook()`), "The file is not a Jupyter notebook, or only a part of one. Open it in Jupyter before you hand it in."},
}

func firstRune(s string) (rune, int) {
	for i, r := range s {
		return r, i + len(string(r))
	}
	return ' ', 0
}

var cellNumber = regexp.MustCompile(`(?m)^Cell \[\d+\](?:, |: )`)

// problemHTML returns a problem as a sentence, with the lines below it as they are.
func problemHTML(problem string) string {
	first, rest, _ := strings.Cut(plain(problem), "\n")
	page := "<p>" + escaped(first) + "</p>"
	if strings.TrimSpace(rest) != "" {
		page += "<pre>" + escaped(rest) + "</pre>"
	}
	return page
}

func escaped(text string) string { return html.EscapeString(visible(text)) }

// visible replaces signs that a reader cannot see, such as those that change the direction
// of text.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsGraphic(r) {
			return r
		}
		return '\ufffd'
	}, strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"), "\ufffd"))
}

// feedbackName returns the name of a student's page. For files from Moodle and Canvas it is
// the name by which they know the student when the pages are uploaded.
func feedbackName(e *entry) string {
	key := e.Student.Key
	switch base := strings.TrimSuffix(lastPart(e.File), ".ipynb"); {
	case e.in.canvas:
		key = base
	case e.in.name != "":
		key = e.in.name + "_" + e.in.number + "_assignsubmission_file_feedback"
	}
	key = strings.TrimLeft(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" _-.@()", r) {
			return r
		}
		return '-'
	}, key), ". ")
	if len(key) > 150 {
		key = strings.ToValidUTF8(key[:150], "")
	}
	if key == "" {
		key = "student"
	}
	return key
}

func lastPart(file string) string {
	return file[strings.LastIndexAny(file, `/\`)+1:]
}
