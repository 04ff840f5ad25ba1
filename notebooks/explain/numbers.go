package explain

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"
)

var (
	needsOther  = regexp.MustCompile(`^cannot use (.+) \(.*\bof type ` + number + `\) as ` + number + ` value`)
	truncated   = regexp.MustCompile(`^(?:cannot use )?(\S+) \(untyped float constant.*\) (?:as|truncated to) (u?int\d*)`)
	changes     = regexp.MustCompile(`^\s*(` + ident + `)\s*[-+*/]?=\s*[^=]`)
	declaredInt = regexp.MustCompile(`^\s*var (` + ident + `) int\b`)
)

// numbers explains whole and other numbers in one formula. What it says to write must compile and
// compute what was meant: a conversion behind a division would not.
func (s *Session) numbers(f finding) finding {
	if m := needsOther.FindStringSubmatch(f.says); m != nil && m[2] == "int" && strings.HasPrefix(m[3], "float") {
		if where, write := s.madeWhole(f, m[1]); where != "" && f.sums(m[1]) {
			return f.beginsWhole(m[1], where, write)
		}
		if means := f.index(m[1]); means != "" {
			f.means = means
			return f
		}
		for _, name := range regexp.MustCompile(ident).FindAllString(m[1], -1) {
			if index, ok := f.addsIndex(name); ok { // of float64s, or Go would have refused the sum
				f.line, f.column, f.means = index.line, index.column, index.means
				return f
			}
		}
		if converted := converted(m[1], m[3]); converted != "" {
			f.means = fmt.Sprintf("Go divides whole numbers here and drops the rest, so they must be converted before the division: %s", converted)
			return f
		}
	}
	if m := mixed.FindStringSubmatch(f.says); m != nil && (m[2] == "int") != (m[3] == "int") && strings.HasPrefix(strings.Trim(m[2]+m[3], "int"), "float") {
		return s.mixedNumbers(f, m[1], m[2] == "int")
	}
	m := truncated.FindStringSubmatch(f.says)
	if m == nil {
		return finding{}
	}
	if d := declaredInt.FindStringSubmatch(f.source()); d != nil {
		f.means = fmt.Sprintf("%s has the type int, so it is a whole number. Write float64 instead of int.", d[1])
		return f
	}
	if c := changes.FindStringSubmatch(f.source()); c != nil {
		if where, write := s.madeWhole(f, c[1]); where != "" {
			return f.beginsWhole(c[1], where, write)
		}
	}
	for _, n := range slices.Backward(f.around()) {
		if b, ok := n.(*ast.BinaryExpr); ok && simple.MatchString(f.in.parsed().source(other(b, m[1], f.in.parsed()))) {
			whole := f.in.parsed().source(other(b, m[1], f.in.parsed()))
			f.means = fmt.Sprintf("Go does not mix whole numbers (%s) and others in a formula. Convert the whole one: float64(%s)", m[2], whole)
			return f
		}
	}
	return finding{}
}

func (f finding) beginsWhole(name, where, write string) finding {
	f.cause = "whole " + name
	f.means = fmt.Sprintf("%s is a whole number (int), since it begins as one in %s. There, write %s", name, where, write)
	return f
}

// other returns the side of a formula that is not the number.
func other(b *ast.BinaryExpr, number string, t *tree) ast.Expr {
	if t.source(b.X) == number {
		return b.Y
	}
	return b.X
}

// mixedNumbers explains "left op right" or "left op= right" of an int and a float64.
func (s *Session) mixedNumbers(f finding, formula string, leftWhole bool) finding {
	left, right, changed := sides(formula)
	whole := right
	if leftWhole {
		whole = left
	}
	if left == "" {
		return finding{}
	}
	if means := f.index(whole); means != "" {
		f.means = means
		return f
	}
	if leftWhole && (changed || f.sums(whole)) {
		if where, write := s.madeWhole(f, whole); where != "" {
			return f.beginsWhole(whole, where, write)
		}
		if changed {
			f.means = fmt.Sprintf("%s has the type int and stays a whole number. Give it the type float64 where it is declared.", whole)
			return f
		}
	}
	if converted := converted(whole, "float64"); converted != "" {
		f.means = fmt.Sprintf("Go divides whole numbers here and drops the rest, so they must be converted before the division: %s", converted)
		return f
	}
	inside := whole
	if e, err := parser.ParseExpr(whole); err == nil {
		if p, ok := e.(*ast.ParenExpr); ok {
			inside = whole[p.X.Pos()-1 : p.X.End()-1]
		}
	}
	f.means = fmt.Sprintf("%s is an int, and the other side is a float64, which Go does not mix. Write float64(%s)", whole, inside)
	return f
}

var assignment = regexp.MustCompile(`^(.+?) [-+*/]= (.+)$`)

// sides returns the two sides of a formula or of an assignment such as +=. They are empty if it is
// something else.
func sides(formula string) (left, right string, changed bool) {
	if m := assignment.FindStringSubmatch(formula); m != nil {
		return m[1], m[2], true
	}
	e, err := parser.ParseExpr(formula)
	if b, ok := e.(*ast.BinaryExpr); err == nil && ok {
		cut := func(n ast.Node) string { return formula[n.Pos()-1 : n.End()-1] }
		return cut(b.X), cut(b.Y), false
	}
	return "", "", false
}

// converted returns a formula with a division of whole numbers as one of floating-point numbers,
// or "" if it divides nothing.
func converted(formula, float string) string {
	e, err := parser.ParseExpr(formula)
	if err != nil {
		return ""
	}
	divides := false
	var write func(e ast.Expr) string
	write = func(e ast.Expr) string {
		switch e := e.(type) {
		case *ast.BinaryExpr:
			divides = divides || e.Op == token.QUO
			left, right := write(e.X), write(e.Y)
			if e.Op == token.QUO && digits.MatchString(left) {
				left += ".0"
			}
			return left + " " + e.Op.String() + " " + right
		case *ast.ParenExpr:
			return "(" + write(e.X) + ")"
		case *ast.BasicLit:
			return e.Value
		}
		return float + "(" + formula[e.Pos()-1:e.End()-1] + ")"
	}
	text := write(e)
	if !divides {
		return ""
	}
	return text
}

// index explains that a name is the index of a list, made by for i := range list, where its
// element is meant. It returns "" for other names and for the counter of a number.
func (f finding) index(name string) string {
	for _, n := range slices.Backward(f.around()) {
		loop, ok := n.(*ast.RangeStmt)
		if !ok || loop.Value != nil {
			continue
		}
		if key, ok := loop.Key.(*ast.Ident); !ok || key.Name != name {
			continue
		}
		t := f.in.parsed()
		over := t.source(loop.X)
		line, _ := t.place(loop.Pos())
		write := fmt.Sprintf("for _, %s := range %s", name, over)
		switch f.isList(loop.X) {
		case yes:
			return fmt.Sprintf("%s is the index 0, 1, 2, … and not the element. In line %d, write %s", name, line, write)
		case unknown:
			return fmt.Sprintf("%s is the index 0, 1, 2, …, and an int. If the element is meant, write %s in line %d, otherwise float64(%s) here.", name, write, line, name)
		}
		return ""
	}
	return ""
}

type answer int

const (
	unknown answer = iota
	yes
	no
)

// isList tells whether an expression is a list, as far as the cell shows it.
func (f finding) isList(e ast.Expr) answer {
	switch e := e.(type) {
	case *ast.BasicLit, *ast.BinaryExpr:
		return no
	case *ast.CompositeLit, *ast.SliceExpr:
		return yes
	case *ast.CallExpr:
		if id, ok := e.Fun.(*ast.Ident); ok && (id.Name == "len" || id.Name == "int") {
			return no
		}
	case *ast.Ident:
		return f.nameIsList(e.Name)
	}
	return unknown
}

func (f finding) nameIsList(name string) answer {
	is := unknown
	set := func(e ast.Expr) {
		switch e := e.(type) {
		case *ast.ArrayType, *ast.CompositeLit, *ast.Ellipsis:
			is = yes
		case *ast.Ident:
			if e.Name == "int" {
				is = no
			}
		case *ast.BasicLit:
			is = no
		}
	}
	ast.Inspect(f.in.parsed().file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			for _, id := range n.Names {
				if id.Name == name {
					set(n.Type)
				}
			}
		case *ast.ValueSpec:
			for i, id := range n.Names {
				if id.Name == name && n.Type != nil {
					set(n.Type)
				} else if id.Name == name && i < len(n.Values) {
					set(n.Values[i])
				}
			}
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				if id, ok := left.(*ast.Ident); ok && id.Name == name && n.Tok == token.DEFINE && i < len(n.Rhs) {
					set(n.Rhs[i])
				}
			}
		case *ast.IndexExpr:
			if id, ok := n.X.(*ast.Ident); ok && id.Name == name {
				is = yes
			}
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "len" && len(n.Args) == 1 {
				if arg, ok := n.Args[0].(*ast.Ident); ok && arg.Name == name {
					is = yes
				}
			}
		}
		return true
	})
	return is
}

// madeWhole returns where a variable begins as a whole number, such as total := 0, and what to
// write there. It returns "" if that is not to be seen.
func (s *Session) madeWhole(f finding, name string) (where, write string) {
	name = regexp.QuoteMeta(name)
	begins := regexp.MustCompile(`^(\s*)(?:(` + name + `)\s*:=\s*|(var ` + name + `)\s*=\s*)(-?\d+)\s*(?://.*)?$`)
	written := func(line string) string {
		m := begins.FindStringSubmatch(line)
		if m == nil {
			return ""
		}
		if m[3] != "" {
			return m[3] + " = " + m[4] + ".0"
		}
		return m[2] + " := " + m[4] + ".0"
	}
	for i, line := range slices.Backward(f.above()) {
		if w := written(line); w != "" {
			return fmt.Sprintf("line %d", i+1), w
		}
		if makes(line, name) || strings.HasPrefix(line, "func ") {
			return "", ""
		}
	}
	if c := s.variables[name]; c != nil {
		for i, line := range c.lines {
			if w := written(line); w != "" {
				return fmt.Sprintf("line %d of cell [%d]", i+1, c.count), w
			}
		}
	}
	return "", ""
}

// addsIndex returns the place where the function around a finding adds the index of a list to a
// variable in place of the element.
func (f finding) addsIndex(name string) (at finding, found bool) {
	for _, n := range f.around() {
		decl, ok := n.(*ast.FuncDecl)
		if !ok {
			continue
		}
		ast.Inspect(decl, func(n ast.Node) bool {
			a, ok := n.(*ast.AssignStmt)
			if !ok || found || len(a.Lhs) != 1 || a.Tok != token.ADD_ASSIGN && a.Tok != token.ASSIGN {
				return true
			}
			if id, ok := a.Lhs[0].(*ast.Ident); !ok || id.Name != name {
				return true
			}
			added := a.Rhs[0]
			if b, ok := added.(*ast.BinaryExpr); ok && b.Op == token.ADD {
				added = b.Y
			}
			if id, ok := added.(*ast.Ident); ok && id.Name != name {
				at = finding{in: f.in}
				at.line, at.column = f.in.parsed().place(id.Pos())
				at.means = at.index(id.Name)
				found = strings.Contains(at.means, "and not the element")
			}
			return true
		})
	}
	return at, found
}

// sums reports whether the function around a finding changes a variable by anything but whole
// constants: then it is a sum, and otherwise a count.
func (f finding) sums(name string) bool {
	found := false
	for _, n := range f.around() {
		decl, ok := n.(*ast.FuncDecl)
		if !ok {
			continue
		}
		ast.Inspect(decl, func(n ast.Node) bool {
			a, ok := n.(*ast.AssignStmt)
			if !ok || a.Tok == token.DEFINE || len(a.Lhs) != 1 {
				return true
			}
			if id, ok := a.Lhs[0].(*ast.Ident); !ok || id.Name != name {
				return true
			}
			ast.Inspect(a.Rhs[0], func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.Ident:
					found = found || n.Name != name
				case *ast.BasicLit:
					found = found || n.Kind != token.INT
				}
				return true
			})
			return true
		})
	}
	return found
}
