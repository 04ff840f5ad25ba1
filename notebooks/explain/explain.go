// Package explain says in plain English why a cell of GoNB has failed.
//
// GoNB reports the text of the Go compiler, with lines of the program that it has made of all
// cells. A Session replaces such a report by what happened, the line of the cell, and what to
// write instead; the text of the compiler follows. A few cells it does not let through: those
// that would end GoNB itself, and those of which GoNB would silently drop a part (refuse.go).
// It reads the messages of the Jupyter protocol between a front end and its kernel, so it works
// for every program that passes them on.
// https://jupyter-client.readthedocs.io/en/stable/messaging.html#messages-on-the-iopub-pub-sub-channel
package explain

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Session knows the cells that a kernel has run. The zero value is ready to use, by several
// goroutines.
type Session struct {
	// Interrupt stops the cell that runs. If it is set, a cell that prints more than a page can show
	// is stopped, and Message leaves out what it prints from then on.
	Interrupt func()

	mu        sync.Mutex
	byRequest map[string]*cell
	byCount   map[int]*cell
	variables map[string]*cell   // by name: the cell that has declared it by var above its %%
	refused   map[string]refusal // by request
	lost      map[string]*cell   // by name: the newest cell that declares it, if it was not compiled
	owner     map[string]*cell   // by name: the newest cell that declares it, compiled or not
	ids       map[string]string  // by request: what the page calls the cell, which it keeps when it runs again
	newest    map[string]*cell   // by this id: its newest run
}

// cell is one run of a cell.
type cell struct {
	count             int    // the number that Jupyter shows beside the cell
	id                string // as the page calls it; "" if it does not say
	lines             []string
	before            map[string]*cell // Session.variables when the cell began, of the names that it declares
	stderr            string           // the end of it
	failed            string           // stderr when the cell failed
	noted             bool             // a note stands in its output
	printed, newlines int              // what it has printed so far, counted for Session.Interrupt
	tree              *tree            // nil until it is asked for
}

// stderrKept is how much of a cell's error output is read: many times a stack trace.
const stderrKept = 64 << 10

// printedMost and linesMost are how much a cell may print. A loop without an end soon prints more, and
// then the page of JupyterLab no longer answers, nor does its button Interrupt.
const (
	printedMost = 1 << 20 // bytes
	linesMost   = 10000
)

// Message returns the content of a message that the kernel has published, explained if it
// reports an error, or nil if nobody should get the message. It needs all messages, in their order: kind is the type of the message,
// and request the id of the message that asked for it.
func (s *Session) Message(kind, request string, content []byte) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !Reads(kind, content) {
		return content
	}
	switch kind {
	case "execute_input":
		return s.begin(request, content)
	case "stream":
		return s.stream(request, content)
	case "error":
		return s.error(request, content)
	}
	return s.check(request, content)
}

// Reads reports whether Message reads a message, or passes it as it is.
func Reads(kind string, content []byte) bool {
	switch kind {
	case "execute_input", "stream", "error":
		return true
	case "display_data":
		return bytes.Contains(content, []byte(checked))
	}
	return false
}

func (s *Session) begin(request string, content []byte) []byte {
	var input struct {
		Code  string `json:"code"`
		Count int    `json:"execution_count"`
	}
	if json.Unmarshal(content, &input) != nil {
		return content
	}
	if s.byRequest == nil {
		s.byRequest, s.byCount, s.variables, s.lost = map[string]*cell{}, map[int]*cell{}, map[string]*cell{}, map[string]*cell{}
		s.owner, s.newest = map[string]*cell{}, map[string]*cell{}
	}
	refused, ok := s.refused[request]
	if ok { // the kernel was given something else
		input.Code = refused.code
		content = withField(content, "code", refused.code)
	}
	c := &cell{count: input.Count, lines: strings.Split(input.Code, "\n"), before: map[string]*cell{}}
	s.byRequest[request], s.byCount[input.Count] = c, c
	if c.id = s.ids[request]; c.id != "" {
		s.newest[c.id] = c
		delete(s.ids, request)
	}
	if ok {
		return content
	}
	for _, line := range c.lines[:c.statements()] {
		switch words := strings.Fields(line); {
		case len(words) == 0:
		case words[0] == "%reset":
			clear(s.variables)
			clear(s.lost)
			clear(s.owner)
		case words[0] == "%rm" || words[0] == "%remove":
			for _, name := range words[1:] {
				delete(s.variables, name)
				delete(s.lost, name)
				delete(s.owner, name)
			}
		default:
			if m := declared.FindStringSubmatch(line); m != nil {
				delete(s.lost, m[1])
				s.owner[m[1]] = c
			}
			if m := variable.FindStringSubmatch(line); m != nil {
				c.before[m[1]] = s.variables[m[1]]
				s.variables[m[1]] = c
			}
		}
	}
	return content
}

// notCompiled takes back what a cell has declared: GoNB remembers only what it could compile.
func (s *Session) notCompiled(c *cell) {
	for name, before := range c.before {
		if s.variables[name] == c {
			delete(s.variables, name)
			if before != nil {
				s.variables[name] = before
			}
		}
	}
	for _, line := range c.lines[:c.statements()] {
		if m := declared.FindStringSubmatch(line); m != nil {
			s.lost[m[1]] = c
		}
	}
}

// declared matches a line that declares a name for all cells.
var declared = regexp.MustCompile(`^(?:var|func|const|type) (` + ident + `)`)

// now returns the newest run of a cell. The page shows the number of this run only.
func (s *Session) now(c *cell) *cell {
	if newer := s.newest[c.id]; newer != nil {
		return newer
	}
	return c
}

// had returns the beginning of the declaration of a name, such as func mean(list []float64) float64.
func (c *cell) had(name string) string {
	for _, line := range c.lines {
		if m := declared.FindStringSubmatch(line); m != nil && m[1] == name {
			return strings.TrimSpace(line[:strings.IndexAny(line+"{", "={")])
		}
	}
	return name
}

// cells returns the cells that have run, the last one first.
func (s *Session) cells() []*cell {
	return slices.SortedFunc(maps.Values(s.byCount), func(a, b *cell) int { return b.count - a.count })
}

// stream explains what special lines write when they fail, since GoNB reports no error then, and
// some outputs that beginners do not mean.
func (s *Session) stream(request string, content []byte) []byte {
	var text struct {
		Name string `json:"name"`
		Text string `json:"text"`
	}
	c := s.byRequest[request]
	if c == nil || json.Unmarshal(content, &text) != nil {
		return content
	}
	if s.Interrupt != nil {
		before := c.flooded()
		c.printed += len(text.Text)
		c.newlines += strings.Count(text.Text, "\n")
		if c.flooded() {
			if !before {
				s.Interrupt()
			}
			return nil
		}
	}
	if text.Name == "stdout" && !c.noted {
		if means := first(outputRules, text.Text, strings.Join(c.lines, "\n")); means != "" {
			c.noted = true
			text.Text = strings.TrimRight(text.Text, "\n") + "\n[" + means + "]\n"
			return marshal(text, content)
		}
	}
	if text.Name != "stderr" {
		return content
	}
	c.stderr += text.Text
	c.stderr = c.stderr[max(0, len(c.stderr)-stderrKept):]
	if !slices.ContainsFunc(c.lines, special) {
		return content
	}
	means := first(specialRules, text.Text, "")
	if means == "" {
		return content
	}
	text.Text = strings.TrimRight(text.Text, "\n") + "\n" + means + "\n"
	return marshal(text, content)
}

// flooded reports whether the cell has printed more than a page can show.
func (c *cell) flooded() bool { return c.printed > printedMost || c.newlines > linesMost }

// withField returns a JSON object with another value of one field.
func withField(object []byte, name, value string) []byte {
	var all map[string]json.RawMessage
	quoted, err := json.Marshal(value)
	if err != nil || json.Unmarshal(object, &all) != nil {
		return object
	}
	all[name] = quoted
	return marshal(all, object)
}

func marshal(v any, otherwise []byte) []byte {
	changed, err := json.Marshal(v)
	if err != nil {
		return otherwise
	}
	return changed
}

func (s *Session) error(request string, content []byte) []byte {
	var report struct {
		Name      string   `json:"ename"`
		Value     string   `json:"evalue"`
		Traceback []string `json:"traceback"`
	}
	c := s.byRequest[request]
	if c == nil || json.Unmarshal(content, &report) != nil {
		return content
	}
	found := s.findings(c, report.Traceback)
	if refused, ok := s.refused[request]; ok {
		refused.in = c
		found = []finding{refused.finding}
	}
	if !ended.MatchString(plain(report.Traceback)) {
		s.notCompiled(c)
	}
	if len(found) == 0 {
		return content
	}
	report.Value, report.Traceback = found[0].head(), nil
	for _, f := range found {
		report.Traceback = append(report.Traceback, f.String())
	}
	return marshal(report, content)
}

// finding is one mistake.
type finding struct {
	in     *cell // nil if the place is not known
	line   int   // counted from 1; 0 if it is not known
	column int   // in bytes, counted from 0; -1 if it is not known
	says   string
	means  string // "" if there is nothing to add to what Go says
	cause  string // of several findings with the same cause, the first is shown; "" has no other
}

func (f finding) head() string {
	text := f.means
	if text == "" {
		text = f.says
	}
	switch {
	case f.in == nil:
		return text
	case f.line == 0:
		return fmt.Sprintf("Cell [%d]: %s", f.in.count, text)
	}
	return fmt.Sprintf("Cell [%d], line %d: %s", f.in.count, f.line, text)
}

func (f finding) source() string {
	if f.in == nil || f.line < 1 || f.line > len(f.in.lines) {
		return ""
	}
	return f.in.lines[f.line-1]
}

// above returns the lines of the cell above a finding.
func (f finding) above() []string {
	if f.in == nil {
		return nil
	}
	return f.in.lines[:min(max(0, f.line-1), len(f.in.lines))]
}

// String returns what happened in red, the line of the cell, and what Go says.
func (f finding) String() string {
	text := "\x1b[31m" + f.head() + "\x1b[0m"
	if source := f.source(); strings.TrimSpace(source) != "" {
		text += "\n    " + source
		if f.column >= 0 && f.column <= len(source) {
			text += "\n    " + blank.ReplaceAllString(source[:f.column], " ") + "^"
		}
	}
	if f.means != "" && f.says != "" {
		text += "\nGo: " + f.says
	}
	return text
}

// blank matches what stands above the caret's blanks; tabs remain, so that the caret is where
// it should be.
var blank = regexp.MustCompile(`[^\t]`)

var (
	colours = regexp.MustCompile("\x1b\\[[0-9;]*m")
	// placed is an entry of GoNB's traceback with a place: the cell, lines of GoNB's program,
	// and what the compiler says.
	placed = regexp.MustCompile(`(?s)^Cell(?:\[(\d+)\]:)? Line (\d+)\n(.*\n)?([^\n]*)$`)
	caret  = regexp.MustCompile(`(?m)^(.*)\n( *)\^$`)
	more   = regexp.MustCompile(` \(and \d+ more errors\)$`)
	path   = regexp.MustCompile(`"(?:[^"/\s]+/)+([^"/\s]+)"\.`)
)

// findings reads GoNB's report. It returns nil if it has nothing to say about it.
func (s *Session) findings(c *cell, lines []string) []finding {
	text := plain(lines)
	if f, ok := s.missingPackage(c, text); ok {
		return []finding{f}
	}
	if ended.MatchString(text) {
		return []finding{s.ended(c, text)}
	}
	if strings.Contains(text, "found 'EOF'") {
		return []finding{c.endsEarly(lastLine(text))}
	}
	var found, unused []finding
	for _, entry := range lines {
		entry = colours.ReplaceAllString(entry, "")
		m := placed.FindStringSubmatch(entry)
		switch {
		case m == nil && strings.HasPrefix(entry, "\t") && len(found) > 0:
			found[len(found)-1].says += " " + strings.TrimSpace(entry) // "have (…)", "want (…)"
			continue
		case m == nil:
			continue
		}
		f := finding{in: c, column: -1, says: path.ReplaceAllString(more.ReplaceAllString(m[4], ""), "$1.")}
		if n, err := strconv.Atoi(m[1]); err == nil {
			f.in = s.byCount[n]
		}
		f.line, _ = strconv.Atoi(m[2])
		if at := caret.FindStringSubmatch(m[3]); at != nil {
			f.column = columnOf(f.source(), at[1], len(at[2]))
		}
		if strings.HasSuffix(f.says, " imported and not used") {
			unused = append(unused, f) // GoNB removes such imports; another mistake confuses it
			continue
		}
		found = append(found, f)
	}
	if len(found) == 0 {
		return unused
	}
	for i := range found {
		found[i] = s.explained(found[i])
	}
	return withoutConsequences(found)
}

// columnOf returns where a place of GoNB's program is in the line of the cell, or −1. GoNB
// writes variables above %% anew: they lose the word var, or a comment.
func columnOf(source, written string, column int) int {
	if written == source {
		return column
	}
	if column >= len(written) {
		return -1
	}
	rest := strings.TrimRight(written[column:], " \t")
	if strings.HasSuffix(source, rest) {
		return len(source) - len(rest)
	}
	if strings.Count(source, rest) == 1 {
		return strings.Index(source, rest)
	}
	return -1
}

// withoutConsequences removes what another mistake explains.
func withoutConsequences(found []finding) []finding {
	var kept []finding
	for _, f := range found {
		unused := unusedName.FindStringSubmatch(f.says)
		follows := func(other finding) bool {
			switch {
			case unused != nil: // a name is used if it stands where another mistake is
				return !unusedName.MatchString(other.says) && regexp.MustCompile(before+unused[1]+behind).MatchString(other.source())
			case strings.HasPrefix(f.says, "too few values in struct literal"), strings.HasPrefix(f.says, "use of package "):
				return other.says != f.says && other.in == f.in && other.line == f.line
			}
			return false
		}
		same := func(other finding) bool {
			return f.cause != "" && f.cause == other.cause || f.means != "" && f.means == other.means && f.line == other.line && f.in == other.in
		}
		if !slices.ContainsFunc(found, follows) && !slices.ContainsFunc(kept, same) {
			kept = append(kept, f)
		}
	}
	return kept
}

func plain(traceback []string) string {
	return colours.ReplaceAllString(strings.Join(traceback, "\n"), "")
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndex(text, "\n")+1:]
}

var (
	notProvided = regexp.MustCompile(`(?:cannot find module providing package|no required module provides package|package) (\S+?)(?:[;:]| is not in std|\s|$)`)
	goGet       = regexp.MustCompile(`^failed to run ".*\bgo(?:\.exe)?" get|no required module provides package|^failed to run ".*\bgo(?:\.exe)? get`)
)

// missingPackage explains an import of what is not installed.
func (s *Session) missingPackage(c *cell, text string) (finding, bool) {
	if !goGet.MatchString(text) {
		return finding{}, false
	}
	m := notProvided.FindStringSubmatch(text)
	if m == nil {
		return finding{in: c, column: -1, says: strings.Join(strings.Fields(text), " "), means: "An import could not be resolved."}, true
	}
	f := finding{in: c, column: -1}
	for i, line := range c.lines {
		if at := strings.Index(line, strconv.Quote(m[1])); at >= 0 {
			f.line, f.column = i+1, at
			break
		}
	}
	address, _, _ := strings.Cut(m[1], "/")
	path, public := packages[m[1]]
	switch {
	case public:
		f.means = fmt.Sprintf("The import needs the whole path: import %q.", path)
	case !strings.Contains(address, "."):
		f.means = fmt.Sprintf("Go's own library has no package %s. The path of any other package begins with an address, such as github.com.", m[1])
	default:
		f.means = fmt.Sprintf("The package %s is not installed. Run !*go get %s in a cell above; this needs the network once.", m[1], m[1])
	}
	return f, true
}

var (
	ended     = regexp.MustCompile(`^(exit status \d+|signal: .*)$`)
	panicked  = regexp.MustCompile(`(?m)^(?:panic|fatal error): (.*)`)
	noMemory  = regexp.MustCompile(`out of memory|cannot (allocate|map|remap|reserve) `) // package runtime has these for what it was about to do
	frame     = regexp.MustCompile(`\[\[ Cell(?: \[(\d+)\])? Line (\d+) \]\]`)
	initFrame = regexp.MustCompile(`\nmain\.init(?:\.\d+)?\(\)\n[^\n]*\[\[ Cell \[(\d+)\] Line (\d+) \]\]`)
	variable  = regexp.MustCompile(`^var (` + ident + `)`)
)

// ended explains the end of a cell's program.
func (s *Session) ended(c *cell, state string) finding {
	f := finding{in: c, column: -1}
	stderr := colours.ReplaceAllString(c.stderr, "")
	c.failed = strings.TrimSuffix(stderr, state+"\n")
	if c.flooded() {
		f.means = fmt.Sprintf("The cell has printed more than %d lines or %d MB, so it was stopped, and the rest is not shown. Look for a loop without an end, or print less.", linesMost, printedMost>>20)
		return f
	}
	if strings.HasPrefix(state, "signal: ") {
		f.means = cmp.Or(first(signalRules, state, ""), "The program was ended from outside ("+state+").")
		return f
	}
	if m := initFrame.FindStringSubmatch(stderr); m != nil {
		n, _ := strconv.Atoi(m[1])
		line, _ := strconv.Atoi(m[2])
		if other := s.byCount[n]; other != nil && other != c {
			return s.again(other, line)
		}
	}
	if m := panicked.FindStringSubmatch(stderr); m != nil {
		f.says = m[0]
		if noMemory.MatchString(m[1]) { // wherever it was at that time
			f.means = "The program needs more memory than there is."
			return f
		}
		_, trace, _ := strings.Cut(stderr, m[0])
		if at := frame.FindStringSubmatch(trace); at != nil {
			if n, err := strconv.Atoi(at[1]); err == nil && s.byCount[n] != nil {
				f.in = s.byCount[n]
			}
			f.line, _ = strconv.Atoi(at[2])
		}
		f.means = cmp.Or(first(panicRules, m[1], bare(f.source())), "The program stopped here with a panic: "+m[1])
		return f
	}
	for name, other := range s.variables { // the same message as before, from the same variable
		if other != c && other.failed != "" && other.failed == c.failed {
			return s.again(other, 1+slices.IndexFunc(other.lines, func(line string) bool { return makes(line, name) }))
		}
	}
	f.means = "The program of this cell ended with an error; the message above says why (" + state + ")."
	if c.failed == "" {
		f.means = "The program of this cell ended with an error, and without a message (" + state + ")."
	}
	return f
}

// again explains that a variable of another cell is computed in this cell too.
func (s *Session) again(other *cell, line int) finding {
	f := finding{in: other, line: line, column: -1,
		means: fmt.Sprintf("Variables above %%%% are computed anew in every cell, and this one fails each time. Correct it and run cell [%d] again", other.count)}
	if m := variable.FindStringSubmatch(f.source()); m != nil {
		f.means += ", or remove it: %rm " + m[1]
	}
	f.means += "."
	return f
}
