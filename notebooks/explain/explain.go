// Package explain says in plain English why a cell of GoNB has failed.
//
// GoNB reports the text of the Go compiler, with lines of the program that it has made of all
// cells. A Session replaces such a report by what happened, the line of the cell, and what to
// write instead; the text of the compiler follows. It reads the messages of the Jupyter
// protocol that a kernel publishes, so it works for every program that shows them.
// https://jupyter-client.readthedocs.io/en/stable/messaging.html#messages-on-the-iopub-pub-sub-channel
package explain

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Session knows the cells that a kernel has run. The zero value is ready to use. It is not for
// several goroutines at once.
type Session struct {
	byRequest map[string]*cell
	byCount   map[int]*cell
	variables map[string]*cell // by name: the cell that has declared it above its %%
}

// cell is one run of a cell.
type cell struct {
	count  int // the number that Jupyter shows beside the cell
	lines  []string
	stderr string // the end of it
	failed string // stderr when the cell failed
}

// stderrKept is how much of a cell's error output is read: many times a stack trace.
const stderrKept = 64 << 10

// Message returns the content of a message that the kernel has published, explained if it
// reports an error. It needs all messages, in their order: kind is the type of the message,
// and request the id of the message that asked for it.
func (s *Session) Message(kind, request string, content []byte) []byte {
	switch kind {
	case "execute_input":
		s.begin(request, content)
	case "stream":
		return s.stream(request, content)
	case "error":
		return s.error(request, content)
	}
	return content
}

func (s *Session) begin(request string, content []byte) {
	var input struct {
		Code  string `json:"code"`
		Count int    `json:"execution_count"`
	}
	if json.Unmarshal(content, &input) != nil {
		return
	}
	if s.byRequest == nil {
		s.byRequest, s.byCount, s.variables = map[string]*cell{}, map[int]*cell{}, map[string]*cell{}
	}
	c := &cell{count: input.Count, lines: strings.Split(input.Code, "\n")}
	s.byRequest[request], s.byCount[input.Count] = c, c
	for _, line := range c.lines[:c.statements()] {
		switch words := strings.Fields(line); {
		case len(words) == 0:
		case words[0] == "%reset":
			clear(s.variables)
		case words[0] == "%rm" || words[0] == "%remove":
			for _, name := range words[1:] {
				delete(s.variables, name)
			}
		default:
			if m := variable.FindStringSubmatch(line); m != nil {
				s.variables[m[1]] = c
			}
		}
	}
}

// cells returns the cells that have run, the last one first.
func (s *Session) cells() []*cell {
	return slices.SortedFunc(maps.Values(s.byCount), func(a, b *cell) int { return b.count - a.count })
}

// stream explains what special lines write when they fail, since GoNB reports no error then.
func (s *Session) stream(request string, content []byte) []byte {
	var text struct {
		Name string `json:"name"`
		Text string `json:"text"`
	}
	c := s.byRequest[request]
	if c == nil || json.Unmarshal(content, &text) != nil || text.Name != "stderr" {
		return content
	}
	c.stderr += text.Text
	c.stderr = c.stderr[max(0, len(c.stderr)-stderrKept):]
	if !slices.ContainsFunc(c.lines, special) {
		return content
	}
	means := first(specialRules, text.Text)
	if means == "" {
		return content
	}
	text.Text = strings.TrimRight(text.Text, "\n") + "\n" + means + "\n"
	return marshal(text, content)
}

func special(line string) bool {
	line = strings.TrimPrefix(line, "//gonb:")
	return strings.HasPrefix(line, "!") || strings.HasPrefix(line, "%") && !belowStatements(line)
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
func (s *Session) findings(c *cell, traceback []string) []finding {
	text := colours.ReplaceAllString(strings.Join(traceback, "\n"), "")
	if f, ok := s.missingPackage(c, text); ok {
		return []finding{f}
	}
	if ended.MatchString(text) {
		return []finding{s.ended(c, text)}
	}
	if strings.Contains(text, "found 'EOF'") {
		return []finding{{in: c, line: c.unclosed(), column: -1, says: lastLine(text),
			means: "The brace { of this line is never closed. Write the missing } below it."}}
	}
	var found, unused []finding
	for _, entry := range traceback {
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
		if at := caret.FindStringSubmatch(m[3]); at != nil && at[1] == f.source() {
			f.column = len(at[2])
		}
		if strings.HasSuffix(f.says, " imported and not used") {
			unused = append(unused, f) // GoNB removes such imports; another mistake confuses it
			continue
		}
		f.means = s.meaning(f)
		found = append(found, f)
	}
	if len(found) == 0 {
		return unused
	}
	// A name is used if it stands where another mistake is.
	return slices.DeleteFunc(found, func(f finding) bool {
		m := unusedName.FindStringSubmatch(f.says)
		return m != nil && slices.ContainsFunc(found, func(other finding) bool {
			return !unusedName.MatchString(other.says) && regexp.MustCompile(`\b`+m[1]+`\b`).MatchString(other.source())
		})
	})
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndex(text, "\n")+1:]
}

// meaning explains what the compiler says about a place.
func (s *Session) meaning(f finding) string {
	for _, explained := range []func(finding) string{s.outside, s.undefined, s.shadowed} {
		if means := explained(f); means != "" {
			return means
		}
	}
	return first(compilerRules, f.says)
}

// belowStatements reports whether a line of a cell makes statements of the lines below it.
func belowStatements(line string) bool {
	word, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "//gonb:"), " ")
	return word == "%%" || word == "%main"
}

// statements returns the number of the line %%, counted from 0, or the number of all lines.
func (c *cell) statements() int {
	if i := slices.IndexFunc(c.lines, belowStatements); i >= 0 {
		return i
	}
	return len(c.lines)
}

// outside explains statements that are outside of a function.
func (s *Session) outside(f finding) string {
	switch {
	case !strings.HasPrefix(f.says, "expected declaration, found "):
		return ""
	case strings.TrimSpace(f.source()) == "}", f.in != nil && f.line > f.in.statements()+1:
		return "A brace } closes more than was opened, in this line or above it. Remove it."
	}
	return "Statements belong below a line with %%. Write %% on a line of its own above this one."
}

var undefinedName = regexp.MustCompile(`^undefined: (\w+)$`)

// undefined explains a name that does not exist: it may exist below the %% of another cell, or
// be a package.
func (s *Session) undefined(f finding) string {
	m := undefinedName.FindStringSubmatch(f.says)
	if m == nil {
		return ""
	}
	name, source := m[1], f.source()
	member := regexp.MustCompile(`\b` + name + `\.(\w+)`).FindStringSubmatch(source)
	path, public := packages[name]
	switch other := s.maker(name, f.in); {
	case other != nil:
		return fmt.Sprintf("%s was made below the %%%% of cell [%d], and such names end with their cell. Make it in this cell too, or put it into a function, which every cell can call.", name, other.count)
	case member != nil && !exported(member[1]) && (public || s.imported(name) || slices.Contains(standard, name)):
		return fmt.Sprintf("Names of a package begin with a capital letter: %s.%s.", name, capital(member[1]))
	case member != nil && public && s.imported(name):
		return fmt.Sprintf("Package %s has no %s. Check the spelling: the Tab key after the dot shows what there is.", name, member[1])
	case member != nil && public:
		return fmt.Sprintf("Package %s is not imported. Write import %q above the line %%%%, and check the spelling of %s.", name, path, member[1])
	case member != nil:
		return fmt.Sprintf("Nothing is called %s here. If it is a package, import it above the line %%%%; if it is a variable of another cell, make it in this cell too.", name)
	case regexp.MustCompile(`^\s*` + name + `\s*=[^=]`).MatchString(source):
		return fmt.Sprintf("There is no variable %s yet. Write := instead of = to make it.", name)
	}
	return fmt.Sprintf("Nothing is called %s here. Check the spelling, and whether the cell that declares it has run.", name)
}

func exported(name string) bool { return name[0] >= 'A' && name[0] <= 'Z' }

func capital(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// maker returns the last other cell that made a variable of this name below its %%, or nil.
func (s *Session) maker(name string, not *cell) *cell {
	for _, c := range s.cells() {
		if below := c.statements(); c != not && below < len(c.lines) && slices.ContainsFunc(c.lines[below+1:], func(line string) bool { return makes(line, name) }) {
			return c
		}
	}
	return nil
}

// makes reports whether a line declares a variable of this name.
func makes(line, name string) bool {
	line = strings.TrimSpace(line)
	if left, _, ok := strings.Cut(line, ":="); ok {
		for _, word := range []string{"for ", "if ", "switch "} {
			left = strings.TrimPrefix(left, word)
		}
		return slices.Contains(names(left), name)
	}
	if rest, ok := strings.CutPrefix(line, "var "); ok {
		rest, _, _ = strings.Cut(rest, "=")
		return slices.Contains(names(rest), name)
	}
	return false
}

// names returns the names in a list such as "a, b float64".
func names(list string) []string {
	var all []string
	for part := range strings.SplitSeq(list, ",") {
		if fields := strings.Fields(part); len(fields) > 0 {
			all = append(all, fields[0])
		}
	}
	return all
}

// imported reports whether a cell imports a package of this name.
func (s *Session) imported(name string) bool {
	for _, c := range s.byCount {
		if slices.ContainsFunc(c.lines, func(line string) bool {
			line = strings.TrimSpace(line)
			return strings.HasSuffix(line, `/`+name+`"`) || strings.HasSuffix(line, `"`+name+`"`)
		}) {
			return true
		}
	}
	return false
}

var unusedName = regexp.MustCompile(`^declared and not used: (\w+)$`)

// shadowed explains a second variable of a name: the first one was meant.
func (s *Session) shadowed(f finding) string {
	m := unusedName.FindStringSubmatch(f.says)
	if m == nil || !strings.Contains(f.source(), ":=") {
		return ""
	}
	for i := f.line - 2; i >= 0; i-- {
		if makes(f.in.lines[i], m[1]) {
			return fmt.Sprintf("Here := makes a second %s beside that of line %d, and nothing uses it. Write = instead of := to change the first one.", m[1], i+1)
		}
	}
	if c := s.variables[m[1]]; c != nil {
		return fmt.Sprintf("Here := makes a second %s beside that of cell [%d], and nothing uses it. Write = instead of := to change the first one.", m[1], c.count)
	}
	return ""
}

// unclosed returns the number of the line, counted from 1, with the last brace that is open at
// the end of the cell, or 0.
func (c *cell) unclosed() int {
	var open []int
	for i, line := range c.lines {
		if special(line) || belowStatements(line) {
			continue
		}
		quote := rune(0)
		for j, r := range line {
			switch {
			case quote != 0:
				if r == quote && (j == 0 || line[j-1] != '\\') {
					quote = 0
				}
			case r == '"' || r == '`' || r == '\'':
				quote = r
			case r == '{':
				open = append(open, i+1)
			case r == '}' && len(open) > 0:
				open = open[:len(open)-1]
			}
		}
	}
	if len(open) == 0 {
		return 0
	}
	return open[len(open)-1]
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
	frame     = regexp.MustCompile(`\[\[ Cell(?: \[(\d+)\])? Line (\d+) \]\]`)
	initFrame = regexp.MustCompile(`\nmain\.init(?:\.\d+)?\(\)\n[^\n]*\[\[ Cell \[(\d+)\] Line (\d+) \]\]`)
	variable  = regexp.MustCompile(`^var (\w+)`)
)

// ended explains the end of a cell's program.
func (s *Session) ended(c *cell, state string) finding {
	f := finding{in: c, column: -1}
	stderr := colours.ReplaceAllString(c.stderr, "")
	c.failed = strings.TrimSuffix(stderr, state+"\n")
	if strings.HasPrefix(state, "signal: ") {
		f.means = cmp.Or(first(signalRules, state), "The program was ended from outside ("+state+").")
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
		if strings.Contains(m[1], "out of memory") { // wherever it was at that time
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
		f.means = cmp.Or(first(panicRules, m[1]), "The program stopped here with a panic: "+m[1])
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
