package explain

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strings"
)

// explained returns a finding of the compiler with its meaning.
func (s *Session) explained(f finding) finding {
	for _, about := range []func(finding) finding{s.outside, s.parameter, s.undefined, s.shadowed, s.text, s.numbers, s.uncalled, s.results, s.fixed} {
		if g := about(f); g.means != "" {
			return g
		}
	}
	f.means = first(compilerRules, f.says, bare(f.source()))
	return f
}

// endsEarly explains that the cell ends where Go expects more.
func (c *cell) endsEarly(says string) finding {
	f := finding{in: c, column: -1, says: says}
	if last, ok := c.unclosed(); ok {
		closing := map[string]string{"{": "}", "(": ")", "[": "]"}[last.bracket]
		f.line = last.line
		f.means = "The brace { of this line is never closed. Write the missing } below it."
		if closing != "}" {
			f.means = fmt.Sprintf("The bracket %s of this line is never closed. Write the missing %s.", last.bracket, closing)
		}
		return f
	}
	word := ""
	c.tokens(func(line int, tok token.Token, text string) {
		if tok == token.SEMICOLON && text == "\n" {
			return
		}
		if word = text; word == "" {
			word = tok.String()
		}
		f.line = line
	})
	f.means = "The cell ends too early: something is missing at the end of this line, or the last sign is too much."
	if word != "" {
		f.means = fmt.Sprintf("The cell ends too early: something is missing behind “%s”, or this is too much.", word)
		f.column = strings.LastIndex(f.source(), word)
	}
	return f
}

var (
	assigns = regexp.MustCompile(`^\s*([\w, ]*\w)\s*(:?=)\s*([^=].*)$`)
	literal = regexp.MustCompile(`^\s*(?:[-+]?[\d.]+|"[^"]*")\s*$`)
)

// outside explains statements that are outside of a function.
func (s *Session) outside(f finding) finding {
	if f.in == nil || !strings.HasPrefix(f.says, "expected declaration, found ") {
		return finding{}
	}
	source, below := f.source(), f.in.statements() < len(f.in.lines)
	switch {
	case strings.TrimSpace(source) == "}", below && f.in.inMain(f.line):
		f.means = "A brace } closes more than was opened, in this line or above it. Remove it."
		return f
	case belowStatements(strings.TrimSpace(source)):
		f.means = "The line %% has blanks at its beginning. Remove them."
		return f
	case strings.HasPrefix(source, "%") || strings.HasPrefix(source, "!"):
		f.means = "The command is missing here. Write it, or remove the line."
		return f
	}
	if f.means = first(foreignRules, f.says, bare(source)); f.means != "" {
		return f
	}
	f.means = "Statements belong below a line with %%. Write %% on a line of its own above this one."
	if below {
		f.means = fmt.Sprintf("Statements belong below the line %%%%. Move this one below line %d.", f.in.statements()+1)
	}
	switch m := assigns.FindStringSubmatch(source); {
	case m != nil && s.variables[m[1]] != nil:
		f.means = fmt.Sprintf("Write var %s = %s. Without var this is a statement, and statements belong below a line with %%%%.", m[1], strings.TrimSpace(m[3]))
	case m != nil && literal.MatchString(m[3]):
		f.means += fmt.Sprintf(" Or, if other cells need %s, write var %s = %s", m[1], m[1], strings.TrimSpace(m[3]))
	case strings.HasPrefix(strings.TrimSpace(source), "lab.Todo"):
		f.means = "lab.Todo cannot change. Write your answer in its place, in the line that begins with var."
	case literal.MatchString(source):
		f.means = fmt.Sprintf("A value alone does nothing. Give it a name, such as var x = %s", strings.TrimSpace(source))
	}
	return f
}

// parameter explains a parameter without a type, or with its type first.
func (s *Session) parameter(f finding) finding {
	m := undefinedName.FindStringSubmatch(f.says)
	if m == nil {
		return finding{}
	}
	for _, n := range f.around() {
		var typ *ast.FuncType
		switch n := n.(type) {
		case *ast.FuncDecl:
			typ = n.Type
		case *ast.FuncLit:
			typ = n.Type
		default:
			continue
		}
		for _, field := range typ.Params.List {
			if id, ok := field.Type.(*ast.Ident); !ok || id.Name != m[1] {
				continue
			}
			f.cause = "parameter " + m[1]
			f.means = fmt.Sprintf("The parameter %s has no type. Write the type behind its name, such as %s float64.", m[1], m[1])
			if len(field.Names) == 1 && typeNames.MatchString(field.Names[0].Name) {
				f.means = fmt.Sprintf("The name of a parameter comes first, and then its type: %s %s.", m[1], field.Names[0].Name)
			}
			return f
		}
	}
	return finding{}
}

var typeNames = regexp.MustCompile(`^(?:` + number + `|string|bool)$`)

var undefinedName = regexp.MustCompile(`^undefined: (` + ident + `)$`)

// undefined explains a name that does not exist: it may exist between other braces, below the %%
// of another cell, or be a package.
func (s *Session) undefined(f finding) finding {
	m := undefinedName.FindStringSubmatch(f.says)
	if m == nil {
		return finding{}
	}
	name, source := m[1], f.source()
	f.cause = f.says
	member := regexp.MustCompile(before + name + `\.(\w+)`).FindStringSubmatch(source)
	path, public := packages[name]
	made, ends := f.insideBraces(name)
	other := s.maker(name, f.in)
	called := regexp.MustCompile(before + name + `\(`).MatchString(source)
	lost := s.lost[name]
	unknown := made == 0 && other == nil && lost == nil
	switch {
	case regexp.MustCompile(`^\s*(?:var )?`+name+`\s*:?=(?:[^=].*)?`+before+name+behind).MatchString(bare(source)+" ") && unknown:
		f.means = fmt.Sprintf("There is no variable %s yet, and the right side needs one. Make it above, and if this is in a loop, before the loop: %s := 0.0", name, name)
	case regexp.MustCompile(`^\s*`+name+`\s*(?:[-+*/]=|\+\+|--)`).MatchString(source) && unknown:
		f.means = fmt.Sprintf("There is no variable %s yet. Make it above, and if this is in a loop, before the loop: %s := 0.0", name, name)
	case made > 0:
		f.means = fmt.Sprintf("%s was made between the braces that end in line %d, and such names end with them. Make it above line %d.", name, ends, f.opens(ends, made))
	case titled(f.in, name):
		f.means = fmt.Sprintf("What stands beside %%%% is only a title and does not run, so nothing is called %s. Write it into a line of its own below %%%%.", name)
	case regexp.MustCompile(`^\s*(?:(?:for|if|switch)\s+)?` + name + `\s*=[^=]`).MatchString(source):
		f.means = fmt.Sprintf("There is no variable %s yet. Write := instead of = to make it.", name)
	case other != nil && !(called && foreignNames[name] != ""):
		f.means = fmt.Sprintf("%s was made below the %%%% of cell [%d], and such names end with their cell. Make it in this cell too, or put it into a function, which every cell can call.", name, other.count)
	case lost != nil && lost != f.in && s.now(lost) != lost && s.now(lost) != f.in:
		f.means = fmt.Sprintf("Cell [%d] no longer declares %s. It should have a line that begins with %s. Correct it and run it again.", s.now(lost).count, name, lost.had(name))
	case lost != nil && lost != f.in && s.now(lost) == lost:
		f.means = fmt.Sprintf("Cell [%d] should declare %s, and it has failed. Correct it and run it again.", lost.count, name)
	case foreignNames[name] != "" && (member == nil || !public):
		f.means = foreignNames[name]
	case member == nil && mathematics.MatchString(name):
		f.means = fmt.Sprintf("The functions of mathematics are in the package math: math.%s", capital(name))
	case member != nil && !exported(member[1]) && (public || s.imported(name) || slices.Contains(standard, name)):
		f.means = fmt.Sprintf("Names of a package begin with a capital letter: %s.%s.", name, capital(member[1]))
	case member != nil && public && s.imported(name):
		f.means = fmt.Sprintf("Package %s has no %s. Check the spelling: the Tab key after the dot shows what there is.", name, member[1])
	case member != nil && public:
		f.means = fmt.Sprintf("Package %s is not imported. Write import %q above the line %%%%, and check the spelling of %s.", name, path, member[1])
	case member != nil:
		f.means = fmt.Sprintf("Nothing is called %s here. If another cell declares it above its line %%%%, run that cell; if it is a package, import it above the line %%%%.", name)
	default:
		f.means = fmt.Sprintf("Nothing is called %s here. Check the spelling, and whether the cell that declares it has run.", name)
		if called && exported(name) {
			f.means = fmt.Sprintf("Nothing is called %s here. If it belongs to a package or to a value, write the name of this and a dot before it, such as fmt.Println.", name)
		}
		if regexp.MustCompile(`=\s*` + name + `\s*$`).MatchString(source) {
			f.means += fmt.Sprintf(" If it is a text, write it in double quotes: %q", name)
		}
	}
	return f
}

// opens returns the line in which the outermost braces begin that end in line ends and contain
// the line made.
func (f finding) opens(ends, made int) int {
	t, opens := f.in.parsed(), made
	ast.Inspect(t.file, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.IfStmt, *ast.SwitchStmt, *ast.BlockStmt:
			begin, _ := t.place(n.Pos())
			if end, _ := t.place(n.End() - 1); end == ends && begin < opens {
				opens = begin
			}
		}
		return true
	})
	return opens
}

// titled reports whether the title beside %% makes a variable of this name.
func titled(c *cell, name string) bool {
	if c == nil || c.statements() == len(c.lines) {
		return false
	}
	_, title, _ := strings.Cut(c.lines[c.statements()], "%%")
	return strings.Contains(title, ":=") && makes(title, name)
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

var unusedName = regexp.MustCompile(`^declared and not used: (` + ident + `)$`)

// shadowed explains a second variable of a name: the first one was meant.
func (s *Session) shadowed(f finding) finding {
	m := unusedName.FindStringSubmatch(f.says)
	if m == nil || !strings.Contains(f.source(), ":=") {
		return finding{}
	}
	for i, line := range slices.Backward(f.above()) {
		if makes(line, m[1]) {
			f.means = fmt.Sprintf("Here := makes a second %s beside that of line %d, and nothing uses it. Write = instead of := to change the first one.", m[1], i+1)
			return f
		}
	}
	if c := s.variables[m[1]]; c != nil {
		f.means = fmt.Sprintf("Here := makes a second %s beside that of cell [%d], and nothing uses it. Write = instead of := to change the first one.", m[1], c.count)
	}
	return f
}

var noNumber = regexp.MustCompile(`^(?:(\S+) does not satisfy lab\.Number|cannot convert \S+ \(variable of (?:\w+ )?type (\S+)\) to type float64)`)

// text explains an answer that is no number, where a check needs one: it is in quotation marks, or
// something else. The check fails, and the mistake is in the cell of the answer.
func (s *Session) text(f finding) finding {
	m := noNumber.FindStringSubmatch(f.says)
	if m == nil {
		return finding{}
	}
	typ := m[1] + m[2]
	means, instead := "%s is a text, and a number is needed. Write the number without quotation marks.", "this is a text. Write the number without quotation marks"
	if typ != "string" {
		means, instead = "%s is a "+typ+", and a number is needed. Write a number.", "this is a "+typ+". Write a number"
	}
	for _, name := range regexp.MustCompile(ident).FindAllString(bare(f.source()), -1) {
		c := s.variables[name]
		if c == nil {
			continue
		}
		at := slices.IndexFunc(c.lines, func(line string) bool { return makes(line, name) && (typ != "string" || strings.Contains(line, `"`)) })
		if at < 0 {
			continue
		}
		f.in, f.line, f.cause = c, at+1, "text "+name
		f.column = strings.IndexByte(c.lines[at], '"')
		f.means = fmt.Sprintf(means, name)
		return f
	}
	f.cause = "text"
	f.means = "A number is needed here, and " + instead + " in the cell where it is declared."
	return f
}

var (
	ofFunction = regexp.MustCompile(`^(` + ident + `)\.\w+ undefined \(type func\(`)
	asFunction = regexp.MustCompile(`^cannot use (.+) \((?:value|variable) of type func\(\)`)
	mixed      = regexp.MustCompile(`^invalid operation: (.+) \(mismatched types (.+) and (.+)\)$`)
)

// uncalled explains a function whose brackets are missing.
func (s *Session) uncalled(f finding) finding {
	name := ""
	if m := asFunction.FindStringSubmatch(f.says); m != nil {
		name = m[1]
	} else if m := mixed.FindStringSubmatch(f.says); m != nil && (strings.HasPrefix(m[2], "func()") || strings.HasPrefix(m[3], "func()")) {
		name, _, _ = sides(m[1])
		if _, right, _ := sides(m[1]); strings.HasPrefix(m[3], "func()") {
			name = right
		}
	} else if m := ofFunction.FindStringSubmatch(f.says); m != nil {
		for i, line := range slices.Backward(f.above()) {
			if makes(line, m[1]) {
				_, call, _ := strings.Cut(line, "=")
				f.line, f.column = i+1, -1
				name = strings.TrimSpace(call)
				break
			}
		}
	}
	if name == "" {
		return finding{}
	}
	f.cause = "call " + name
	f.means = fmt.Sprintf("%s is a function, and it is not called. Brackets call it: %s()", name, name)
	return f
}

var assigned = regexp.MustCompile(`^cannot assign to ((\w+)\.[A-Z]\w*) \(neither addressable`)

// fixed explains an assignment to a method, or to something of a package.
func (s *Session) fixed(f finding) finding {
	m := assigned.FindStringSubmatch(f.says)
	if m == nil {
		return finding{}
	}
	if _, public := packages[m[2]]; public || slices.Contains(standard, m[2]) || s.imported(m[2]) {
		f.means = fmt.Sprintf("%s belongs to the package %s and cannot change. Give the value a name of your own.", m[1], m[2])
		return f
	}
	f.means = fmt.Sprintf("%s is a function and no variable. Call it with the value, and use what it returns: %s(…)", m[1], m[1])
	if value := regexp.MustCompile(regexp.QuoteMeta(m[1]) + `\s*=\s*([^;{}]*[^;{}\s])`).FindStringSubmatch(bare(f.source())); value != nil {
		f.means = fmt.Sprintf("%s is a function and no variable. Call it with the value, and use what it returns: %s(%s)", m[1], m[1], value[1])
	}
	return f
}

var returned = regexp.MustCompile(`^(too many|not enough) return values(?: have \((.*)\) want \((.*)\))?$`)

// results explains a function with another number of results than it promises.
func (s *Session) results(f finding) finding {
	if notUsed := regexp.MustCompile(`^(.+) \(.*\) is not used$`).FindStringSubmatch(f.says); notUsed != nil {
		if _, typ := f.function(); typ == nil || typ.Results == nil || strings.HasPrefix(notUsed[1], "append(") || !strings.Contains(f.says, "(value of type") {
			return finding{}
		}
		f.cause = "no return"
		f.means = fmt.Sprintf("Nothing uses this value. If it is the result of the function, write return %s", notUsed[1])
		return f
	}
	if f.says == "missing return" {
		f.cause = "no return"
		f.means = "The function promises a result, and here it ends without one. Write return and the result above this line."
		return f
	}
	m := returned.FindStringSubmatch(f.says)
	if m == nil {
		return finding{}
	}
	name, typ := f.function()
	have, want := strings.ReplaceAll(m[2], "number", "float64"), m[3]
	comma := regexp.MustCompile(`\b(\d+),\s*(\d+)\b`).FindStringSubmatch(bare(f.source()))
	switch {
	case m[1] == "not enough":
		f.means = fmt.Sprintf("The function promises a result of type %s. Write it behind return.", want)
	case typ == nil:
		f.means = "The statements below %% return nothing. Print the value instead: fmt.Println(…)"
	case typ.Results == nil:
		if strings.Contains(have, ",") {
			have = "(" + have + ")"
		}
		f.means = fmt.Sprintf("The function%s has a result, and its type is missing. Write %s before the brace { of its first line.", strings.TrimRight(" "+name, " "), have)
	case comma != nil:
		f.means = decimal(comma[1], comma[2])
	default:
		f.means = fmt.Sprintf("The function promises (%s), and here it returns more. Return no more than that.", want)
	}
	return f
}
