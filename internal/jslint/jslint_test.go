package jslint

import (
	"slices"
	"testing"
)

func TestCheck(t *testing.T) {
	for _, test := range []struct {
		source string
		want   []string
	}{
		{"(function (p, api) { var c = p.coordSys; return [c.x, T('@ink'), $filled]; })", nil},
		{"(function () { return x; })", []string{"line 1: x is not declared"}},
		{"(function () {\n\tvar used = 1, idle = 2;\n\treturn used;\n})", []string{"line 2: idle is declared and not used"}},
		{"(function () { y = 1; })", []string{"line 1: y is not declared"}},
		{"(function () { return later(); function later() { return later.name; } })", nil},
		{"(function () { for (var i = 0, n = 3; i < n; i++); try { i(); } catch (e) { console.log(e); } })", nil},
		{"[1].map(v => { const {a, b: [c]} = v; return {a, c}; })", nil},
		{"for (const k of [1]) Math.abs(k); outer: for (;;) break outer;", nil},
		{"function f(a) { if (a) { var b = a; } return b; } f()", nil},
		{"class A { b(c) { const d = 1; return missing; } } class B extends A {} new B();", []string{"line 1: missing is not declared", "line 1: d is declared and not used"}},
		{"(function () { class Idle { go() {} } })", []string{"line 1: Idle is declared and not used"}},
		{"({ key: 1, method() { return this.key; } })", nil},
		{"(function () { return (function () { return inner; })(); var inner; })", nil},
		{"(function () { return ({ a: missing }).a; })", []string{"line 1: missing is not declared"}},
	} {
		if got := Check("test.js", test.source, "T"); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.source, got, test.want)
		}
	}
	if got := Check("test.js", "function ("); len(got) != 1 {
		t.Errorf("a syntax error: %q", got)
	}
}
