// Package jslint checks JavaScript for mistakes that a Go compiler would report in Go: syntax
// errors, undeclared names and unused variables.
package jslint

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"
)

// standard lists those globals of every browser that the project's scripts use.
var standard = strings.Fields(`Array Blob Boolean Date Function Infinity JSON Map Math MutationObserver Number Object Promise
	ResizeObserver Response Set String Uint8Array Int32Array DecompressionStream Error WeakMap WeakRef WebSocket
	arguments atob clearTimeout console crypto decodeURIComponent document encodeURIComponent getComputedStyle
	getSelection isFinite isNaN location navigator parseFloat parseInt setInterval setTimeout undefined window`)

// Check returns what is wrong with a script, one line for each mistake. globals are names in
// scope besides those of every browser. Go fills in names that begin with $, so these need no
// declaration.
func Check(name, source string, globals ...string) []string {
	program, err := parser.ParseFile(nil, name, source, 0)
	if err != nil {
		return []string{err.Error()}
	}
	l := &linter{source: source}
	top := &scope{names: map[string]*declared{}}
	for _, g := range slices.Concat(standard, globals) {
		top.names[g] = &declared{used: true}
	}
	l.enter(top, nil, program.Body)
	return l.found
}

// scope has the names that a function declares. let and const are treated like var.
type scope struct {
	outer *scope
	names map[string]*declared
}

type declared struct {
	at   int
	used bool
}

type linter struct {
	source string
	found  []string
}

func (l *linter) report(at int, format string, args ...any) {
	line := 1 + strings.Count(l.source[:min(max(at-1, 0), len(l.source))], "\n")
	l.found = append(l.found, fmt.Sprintf("line %d: ", line)+fmt.Sprintf(format, args...))
}

// enter checks a function with the given parameters and body.
func (l *linter) enter(outer *scope, parameters, body any) {
	s := &scope{outer, map[string]*declared{}}
	l.declare(s, parameters, true, true)
	l.declare(s, body, false, false)
	l.use(s, parameters)
	l.use(s, body)
	for name, d := range s.names {
		if !d.used {
			l.report(d.at, "%s is declared and not used", name)
		}
	}
}

// declare records the names that v binds, except those of inner functions. Parameters may be
// unused, because an API often passes more than a function needs.
func (l *linter) declare(s *scope, v any, binding, parameter bool) {
	each(v, func(n any) bool {
		switch n := n.(type) {
		case *ast.Binding:
			l.declare(s, n.Target, true, parameter)
			l.declare(s, n.Initializer, false, false)
			return false
		case *ast.ForDeclaration:
			l.declare(s, n.Target, true, false)
			return false
		case *ast.CatchStatement:
			l.declare(s, n.Parameter, true, true)
			l.declare(s, n.Body, false, false)
			return false
		case *ast.FunctionDeclaration:
			l.bind(s, n.Function.Name, false)
			return false
		case *ast.ClassDeclaration:
			l.bind(s, n.Class.Name, false)
			return false
		case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral:
			return false
		case *ast.PropertyShort:
			if binding {
				l.bind(s, &n.Name, parameter)
			}
		case *ast.Identifier:
			if binding {
				l.bind(s, n, parameter)
			}
		}
		return true
	})
}

func (l *linter) bind(s *scope, n *ast.Identifier, used bool) {
	if d := s.names[n.Name.String()]; d == nil {
		s.names[n.Name.String()] = &declared{int(n.Idx), used}
	}
}

// use looks up the names that occur in v.
func (l *linter) use(s *scope, v any) {
	each(v, func(n any) bool {
		switch n := n.(type) {
		case *ast.FunctionLiteral:
			inner := s
			if n.Name != nil { // the body of a named function expression may use its name
				inner = &scope{s, map[string]*declared{n.Name.Name.String(): {used: true}}}
			}
			l.enter(inner, n.ParameterList, n.Body)
			return false
		case *ast.ArrowFunctionLiteral:
			l.enter(s, n.ParameterList, n.Body)
			return false
		case *ast.ClassLiteral: // its own name is no use of it
			l.use(s, n.SuperClass)
			l.use(s, n.Body)
			return false
		case *ast.Binding:
			if _, ok := n.Target.(*ast.Identifier); !ok {
				l.use(s, n.Target)
			}
			l.use(s, n.Initializer)
			return false
		case *ast.ForDeclaration, *ast.BranchStatement, *ast.MetaProperty:
			return false
		case *ast.CatchStatement:
			l.use(s, n.Body)
			return false
		case *ast.LabelledStatement:
			l.use(s, n.Statement)
			return false
		case *ast.PropertyShort:
			l.look(s, &n.Name)
		case *ast.Identifier:
			l.look(s, n)
		}
		return true
	})
}

func (l *linter) look(s *scope, n *ast.Identifier) {
	name := n.Name.String()
	for at := s; at != nil; at = at.outer {
		if d := at.names[name]; d != nil {
			d.used = true
			return
		}
	}
	if !strings.HasPrefix(name, "$") {
		l.report(int(n.Idx), "%s is not declared", name)
	}
}

// each calls do with the nodes in v from the outside in. It visits the children of a node if
// do returns true. A property name after a dot is not a node.
func each(v any, do func(node any) bool) { walk(reflect.ValueOf(v), do) }

func walk(v reflect.Value, do func(any) bool) {
	switch v.Kind() {
	case reflect.Interface:
		walk(v.Elem(), do)
	case reflect.Pointer:
		if !v.IsNil() && v.Type().Elem().PkgPath() == reflect.TypeFor[ast.Program]().PkgPath() && do(v.Interface()) {
			walk(v.Elem(), do)
		}
	case reflect.Slice:
		for i := range v.Len() {
			walk(v.Index(i), do)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[ast.Identifier]() {
			return
		}
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Name != "DeclarationList" {
				walk(v.Field(i), do)
			}
		}
	}
}
