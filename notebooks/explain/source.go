package explain

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"regexp"
	"slices"
	"strings"
)

// Names may have letters of all alphabets, such as α, of which \w and \b know nothing.
const (
	ident  = `[\pL_][\pL\pN_]*`
	before = `(?:^|[^\pL\pN_])` // a name
	behind = `(?:[^\pL\pN_]|$)`
)

// mainLine matches the lines that make statements of the lines below them, as GoNB finds them.
var mainLine = regexp.MustCompile(`^(?://gonb:)?(?:%main|%%(?:[ \t]|$))`)

// belowStatements reports whether a line of a cell makes statements of the lines below it.
func belowStatements(line string) bool { return mainLine.MatchString(line) }

// statements returns the number of the line %%, counted from 0, or the number of all lines.
func (c *cell) statements() int {
	if i := slices.IndexFunc(c.lines, belowStatements); i >= 0 {
		return i
	}
	return len(c.lines)
}

// inMain reports whether a line, counted from 1, is below %%.
func (c *cell) inMain(line int) bool { return line > c.statements()+1 }

// special reports whether a line is a command of GoNB.
func special(line string) bool {
	line = strings.TrimPrefix(line, "//gonb:")
	return strings.HasPrefix(line, "!") || strings.HasPrefix(line, "%") && !belowStatements(line)
}

// program returns the cell as a Go file in which line n+1 is line n of the cell.
func (c *cell) program() string {
	var b strings.Builder
	b.WriteString("package main\n")
	body := false
	for _, line := range c.lines {
		switch {
		case belowStatements(line) && !body:
			body = true
			b.WriteString("func main() {")
		case belowStatements(line), special(line), strings.HasPrefix(line, "package"):
		default:
			b.WriteString(line)
		}
		b.WriteString("\n")
	}
	if body {
		b.WriteString("}\n")
	}
	return b.String()
}

// tree is the syntax tree of a cell. Its file is nil if Go cannot read the cell.
type tree struct {
	set  *token.FileSet
	file *ast.File
	text string
}

func (c *cell) parsed() *tree {
	if c.tree == nil {
		c.tree = &tree{set: token.NewFileSet(), text: c.program()}
		file, err := parser.ParseFile(c.tree.set, "", c.tree.text, parser.SkipObjectResolution)
		if err == nil {
			c.tree.file = file
		}
	}
	return c.tree
}

// place returns the line of the cell, counted from 1, and the column, counted from 0.
func (t *tree) place(p token.Pos) (line, column int) {
	at := t.set.Position(p)
	return at.Line - 1, at.Column - 1
}

// source returns the text of a node.
func (t *tree) source(n ast.Node) string {
	file := t.set.File(n.Pos())
	return t.text[file.Offset(n.Pos()):file.Offset(n.End())]
}

// around returns the nodes that contain the place of a finding, the outermost first. It returns
// nil if the place is not known or Go cannot read the cell.
func (f finding) around() []ast.Node {
	if f.in == nil || f.line < 1 || f.line > len(f.in.lines) {
		return nil
	}
	t := f.in.parsed()
	if t.file == nil {
		return nil
	}
	column := f.column
	if column < 0 {
		column = len(f.source()) - len(strings.TrimLeft(f.source(), " \t"))
	}
	at := t.set.File(t.file.Pos()).LineStart(f.line+1) + token.Pos(column)
	var nodes []ast.Node
	ast.Inspect(t.file, func(n ast.Node) bool {
		if n == nil || n.Pos() > at || at >= n.End() {
			return false
		}
		nodes = append(nodes, n)
		return true
	})
	return nodes
}

// function returns the innermost function around a finding, and its name. The type is nil below
// %%, and if it is not known.
func (f finding) function() (name string, _ *ast.FuncType) {
	for _, n := range slices.Backward(f.around()) {
		switch n := n.(type) {
		case *ast.FuncLit:
			return "", n.Type
		case *ast.FuncDecl:
			if f.in.inMain(f.line) {
				return "", nil
			}
			return n.Name.Name, n.Type
		}
	}
	return "", nil
}

// insideBraces returns the line of the cell where a name was made between braces that end before
// a finding in the same function, and the line where they end. It returns 0 if there is none.
func (f finding) insideBraces(name string) (made, ends int) {
	nodes := f.around()
	at := slices.IndexFunc(nodes, func(n ast.Node) bool { _, ok := n.(*ast.FuncDecl); return ok })
	if at < 0 {
		return 0, 0
	}
	t, decl := f.in.parsed(), nodes[at].(*ast.FuncDecl)
	var stack []ast.Node
	makes := func(names ...ast.Expr) {
		for _, n := range names {
			if id, ok := n.(*ast.Ident); !ok || id.Name != name {
				continue
			}
			for _, scope := range slices.Backward(stack) {
				switch scope.(type) {
				case *ast.BlockStmt, *ast.ForStmt, *ast.RangeStmt, *ast.IfStmt, *ast.SwitchStmt, *ast.FuncLit:
					end, _ := t.place(scope.End() - 1)
					if scope != decl.Body && end < f.line {
						made, _ = t.place(n.Pos())
						ends = end
					}
					return
				}
			}
		}
	}
	ast.Inspect(decl, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		stack = append(stack, n)
		switch n := n.(type) {
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				makes(n.Key, n.Value)
			}
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				makes(n.Lhs...)
			}
		case *ast.ValueSpec:
			for _, id := range n.Names {
				makes(id)
			}
		}
		return true
	})
	return made, ends
}

// open is a bracket that nothing closes.
type open struct {
	bracket string
	line    int // of the cell, counted from 1
}

// unclosed returns the last bracket that is open at the end of the cell.
func (c *cell) unclosed() (last open, ok bool) {
	var all []open
	c.tokens(func(line int, tok token.Token, _ string) {
		switch tok {
		case token.LBRACE, token.LPAREN, token.LBRACK:
			all = append(all, open{tok.String(), line})
		case token.RBRACE, token.RPAREN, token.RBRACK:
			if len(all) > 0 {
				all = all[:len(all)-1]
			}
		}
	})
	// What GoNB writes in place of the line %% is closed by GoNB.
	all = slices.DeleteFunc(all, func(o open) bool { return o.line == c.statements()+1 })
	if len(all) == 0 {
		return open{}, false
	}
	return all[len(all)-1], true
}

// tokens calls on for each word and sign of the cell, also if Go cannot read it.
func (c *cell) tokens(on func(line int, tok token.Token, text string)) {
	program := strings.TrimSuffix(c.program(), "}\n")
	if c.statements() == len(c.lines) {
		program = c.program()
	}
	set := token.NewFileSet()
	file := set.AddFile("", -1, len(program))
	var s scanner.Scanner
	s.Init(file, []byte(program), func(token.Position, string) {}, 0)
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return
		}
		on(file.Line(pos)-1, tok, text)
	}
}

// bare returns a line without its comment, in which texts are empty: "".
func bare(line string) string {
	var b strings.Builder
	quote := byte(0)
	for i := 0; i < len(line); i++ {
		switch r := line[i]; {
		case quote != 0:
			if r == '\\' && quote != '`' {
				i++
			} else if r == quote {
				quote = 0
				b.WriteByte(r)
			}
		case strings.HasPrefix(line[i:], "//"):
			return b.String()
		case r == '"' || r == '`' || r == '\'':
			quote = r
			b.WriteByte(r)
		default:
			b.WriteByte(r)
		}
	}
	return b.String()
}
