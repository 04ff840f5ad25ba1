package explain

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"strings"
)

// refusal is a cell that the kernel does not get.
type refusal struct {
	finding
	code string
}

// standIn is what the kernel gets in place of a refused cell. The kernel counts the cell and
// answers with an error, which Session replaces by the reason.
const standIn = "this_cell_did_not_run"

// Request returns the content of a request of the type execute_request as the kernel should get
// it. Other requests need not pass here. The metadata may be empty.
func (s *Session) Request(request string, metadata, content []byte) []byte {
	var about struct {
		ID string `json:"cellId"`
	}
	if json.Unmarshal(metadata, &about) == nil && about.ID != "" {
		s.mu.Lock()
		if s.ids == nil {
			s.ids = map[string]string{}
		}
		s.ids[request] = about.ID
		s.mu.Unlock()
	}
	var asked struct {
		Code string `json:"code"`
	}
	if json.Unmarshal(content, &asked) != nil {
		return content
	}
	found, ok := refuse(asked.Code)
	if !ok {
		return content
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refused == nil {
		s.refused = map[string]refusal{}
	}
	s.refused[request] = refusal{found, asked.Code}
	return withField(content, "code", standIn)
}

// wholeCells are the commands in a first line that make something else than Go of the cell.
var wholeCells = regexp.MustCompile(`^(?://gonb:)?%%(?:writefile|script|bash|sh|gx)(?: |$)`)

// refuse returns why a cell must not reach the kernel: it would end GoNB (v0.11.5), or GoNB
// would silently do something else than what is written.
func refuse(code string) (finding, bool) {
	c := &cell{lines: strings.Split(code, "\n")}
	if wholeCells.MatchString(c.lines[0]) {
		return finding{}, false
	}
	for _, reason := range []func(*cell) (finding, bool){emptyCommand, secondMain, besideMain, surplusValues, powers} {
		if f, ok := reason(c); ok {
			return f, true
		}
	}
	return finding{}, false
}

// emptyCommand finds a command without a word, which ends GoNB: specialcmd.go cuts off the blanks
// without looking for an end.
func emptyCommand(c *cell) (finding, bool) {
	for i, line := range c.lines {
		line = strings.TrimPrefix(line, "//gonb:")
		if len(line) < 2 || line[0] != '%' && line[0] != '!' || strings.Trim(line[1:], " \t\\") != "" {
			continue
		}
		return finding{line: i + 1, column: 0, means: fmt.Sprintf("The command behind %c is missing. Write it, or remove the line.", line[0])}, true
	}
	return finding{}, false
}

var execLine = regexp.MustCompile(`^(?://gonb:)?%exec`)

// secondMain finds a second line %%, which ends GoNB: composer.go has counted the lines that one
// of them needs.
func secondMain(c *cell) (finding, bool) {
	first := -1
	for i, line := range c.lines {
		switch {
		case !belowStatements(line) && !execLine.MatchString(line):
		case first < 0:
			first = i
		default:
			word := func(line string) string { return strings.Fields(strings.TrimPrefix(line, "//gonb:"))[0] }
			f := finding{line: i + 1, column: 0, means: fmt.Sprintf("A cell has at most one line %s, and line %d is one already. Remove this line: all statements of a cell stand below the first.", word(line), first+1)}
			if one := word(c.lines[first]); one != word(line) {
				f.means = fmt.Sprintf("Line %d, %s, begins the statements of this cell already. A cell has only one line %%%%, %%main or %%exec: remove one of the two.", first+1, one)
			}
			return f, true
		}
	}
	return finding{}, false
}

// besideMain finds a statement in the line %% of a cell that has no others. GoNB takes the rest of
// this line for a title.
func besideMain(c *cell) (finding, bool) {
	at := c.statements()
	if at == len(c.lines) || strings.TrimSpace(strings.Join(c.lines[at+1:], "")) != "" {
		return finding{}, false
	}
	line := c.lines[at]
	column := strings.Index(line, "%%")
	if column < 0 {
		return finding{}, false
	}
	column += len("%%")
	title := strings.TrimSpace(line[column:])
	file, err := parser.ParseFile(token.NewFileSet(), "", "package main; func main() {"+title+"\n}", parser.SkipObjectResolution)
	if err != nil {
		return finding{}, false
	}
	for _, statement := range file.Decls[0].(*ast.FuncDecl).Body.List {
		switch statement := statement.(type) {
		case *ast.AssignStmt, *ast.ForStmt, *ast.RangeStmt:
		case *ast.ExprStmt:
			if _, call := statement.X.(*ast.CallExpr); !call {
				continue
			}
		default:
			continue
		}
		column += len(line[column:]) - len(strings.TrimLeft(line[column:], " \t"))
		return finding{line: at + 1, column: column, means: "What stands beside %% is only a title and does not run. Write the statement into the line below."}, true
	}
	return finding{}, false
}

// surplusValues finds declarations above %% that do not have a value for each name. GoNB pairs
// names and values and drops what is left, so that a decimal comma would lose its decimals:
// parser.go, ParseVarEntry and ParseConstEntry.
func surplusValues(c *cell) (finding, bool) {
	t := c.parsed()
	if t.file == nil {
		return finding{}, false // GoNB reports it
	}
	for _, d := range t.file.Decls {
		decl, ok := d.(*ast.GenDecl)
		if !ok || decl.Tok != token.VAR && decl.Tok != token.CONST {
			continue
		}
		for _, spec := range decl.Specs {
			v := spec.(*ast.ValueSpec)
			names, values := len(v.Names), len(v.Values)
			if values == 0 || values == names || values == 1 && decl.Tok == token.VAR {
				continue // a single value may be a call that returns several
			}
			f := finding{}
			f.line, f.column = t.place(v.Values[min(names, values-1)].Pos())
			var list []string
			for _, value := range v.Values {
				list = append(list, t.source(value))
			}
			f.means = pairs(names, list)
			return f, true
		}
	}
	return finding{}, false
}

var digits = regexp.MustCompile(`^[0-9]+$`)

// pairs says what to write if the number of values is not that of names.
func pairs(names int, values []string) string {
	if names != 1 {
		return fmt.Sprintf("On the left are %s, and on the right %s. Write one value for each name.", several(names, "name"), several(len(values), "value"))
	}
	if len(values) == 2 && digits.MatchString(strings.TrimPrefix(values[0], "-")) && digits.MatchString(values[1]) {
		return decimal(values[0], values[1])
	}
	return fmt.Sprintf("Here are %s for one name. A list is written with its type, such as []float64{%s}.", several(len(values), "value"), strings.Join(values, ", "))
}

// decimal says how to write a number with a comma.
func decimal(whole, behind string) string {
	means := fmt.Sprintf("The comma makes two values of this. Numbers have a decimal point: %s.%s", whole, behind)
	if len(behind) == 3 && !strings.HasPrefix(whole, "0") {
		means += fmt.Sprintf(", or if thousands are meant, no sign at all: %s%s", whole, behind)
	}
	return means
}

func several(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// powers finds the sign ^ between two numbers, or before 2 or 3: people mean a power, and Go
// compares bits. A number such as 0x2 shows that bits are meant.
func powers(c *cell) (f finding, found bool) {
	t := c.parsed()
	if t.file == nil {
		return f, false
	}
	decimal := func(e ast.Expr) bool {
		lit, ok := e.(*ast.BasicLit)
		return ok && lit.Kind == token.INT && digits.MatchString(lit.Value)
	}
	var first token.Pos
	ast.Inspect(t.file, func(n ast.Node) bool {
		b, ok := n.(*ast.BinaryExpr)
		if !ok || b.Op != token.XOR || found && b.OpPos > first {
			return true
		}
		// A power binds more than any other sign, and in Go ^ binds as + does.
		left, right := b.X, b.Y
		for inner, ok := left.(*ast.BinaryExpr); ok; inner, ok = left.(*ast.BinaryExpr) {
			left = inner.Y
		}
		for inner, ok := right.(*ast.BinaryExpr); ok; inner, ok = right.(*ast.BinaryExpr) {
			right = inner.X
		}
		x, y := t.source(left), t.source(right)
		if !decimal(right) || !decimal(left) && y != "2" && y != "3" {
			return true
		}
		found, first = true, b.OpPos
		f.line, f.column = t.place(b.OpPos)
		bits, _ := strconv.ParseUint(y, 10, 64)
		f.means = fmt.Sprintf("The sign ^ compares bits in Go. A power is %s. If you mean bits, write %s ^ %#x.", power(x, y), x, bits)
		return true
	})
	return f, found
}

// power writes a power as Go computes it.
func power(x, y string) string {
	if y == "2" && simple.MatchString(x) {
		return x + " * " + x
	}
	return fmt.Sprintf("math.Pow(%s, %s)", x, y)
}

// simple matches what has no operators outside of brackets.
var simple = regexp.MustCompile(`^[\w.]+(?:\[[^]]*\])?$`)
