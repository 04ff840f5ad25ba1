package lab

import (
	"encoding/json"
	"math"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestStates(t *testing.T) {
	inf := math.Inf(1)
	type point struct{ x, y int }
	for _, test := range []struct {
		name string
		got  Test
		want State
	}{
		{"near", Near("", 2, 2, 1e-9, ""), Passed},
		{"near, absolute below 1", Near("", 0.001, 0, 0.001, ""), Passed},
		{"near, relative above 1", Near("", -1001, -1000, 0.001, ""), Passed},
		{"just too far", Near("", 0.0011, 0, 0.001, ""), Failed},
		{"the wrong sign", Near("", -2, 2, 1e-9, ""), Failed},
		{"nothing", Near("", Todo, 2, 1e-9, ""), Open},
		{"computed from nothing", Near("", 2*Todo+1, 2, 1e-9, ""), Open},
		{"infinite", Near("", inf, 2, 1e-9, ""), Failed},
		{"infinite, as wanted", Near("", inf, inf, 1e-9, ""), Failed},
		{"anything near infinity", Near("", 1, inf, 1e-9, ""), Failed},
		{"near NaN", Near("", 1, math.NaN(), 1, ""), Failed},
		{"no tolerance", Near("", 1, 1, 0, ""), Failed},
		{"NaN as tolerance", Near("", 1, 1, math.NaN(), ""), Failed},

		{"equal", Equal("", 3, 3, ""), Passed},
		{"unequal", Equal("", 4, 3, ""), Failed},
		{"zero", Equal("", 0, 3, ""), Open},
		{"zero, as wanted", Equal("", 0, 0, ""), Open},
		{"text", Equal("", "b", "b", ""), Passed},
		{"no text", Equal("", "", "b", ""), Open},
		{"NaN", Equal("", Todo, 1, ""), Open},
		{"structs", Equal("", point{1, 2}, point{1, 2}, ""), Passed},
		{"structs that differ", Equal("", point{1, 2}, point{2, 1}, ""), Failed},

		{"a number guessed", Predict("", 30, 17.5, ""), Passed},
		{"a number not guessed", Predict("", Todo, 17, ""), Open},
		{"a word guessed", Predict("", "Fewer ", "more", "", "more", "fewer"), Passed},
		{"a word not guessed", Predict("", " ", "more", "", "more", "fewer"), Open},
		{"no such word", Predict("", "none", "more", "", "more", "fewer"), Failed},

		{"true", True("", true, ""), Passed},
		{"false", True("", false, ""), Failed},

		{"try", Try("", func() bool { return true }, ""), Passed},
		{"try in vain", Try("", func() bool { return false }, ""), Failed},
		{"a panic", Try("", func() bool { return []bool{}[len(t.Name())] }, ""), Failed},
		{"no function", Try("", nil, ""), Failed},
	} {
		if test.got.State != test.want {
			t.Errorf("%s: %s, want %s", test.name, test.got.State, test.want)
		}
	}
}

func TestHintsByMistake(t *testing.T) {
	hint := func(got float64) string {
		return Near("", got, 2, 1e-9, "general", IfNear(got, 4, "twice"), If(got > 3, "too large")).Hint
	}
	for got, want := range map[float64]string{2: "", 4 - 1e-7: "twice", 5: "too large", 1: "general"} {
		if h := hint(got); h != want {
			t.Errorf("%g: hint %q, want %q", got, h, want)
		}
	}
	if h := Equal("", 3, 4, "general", If(true, "three")).Hint; h != "three" {
		t.Errorf("Equal: hint %q", h)
	}
	if h := True("", false, "general", If(false, "no"), If(true, "yes")).Hint; h != "yes" {
		t.Errorf("True: hint %q", h)
	}
}

func TestPredictions(t *testing.T) {
	for _, test := range []struct {
		got  Test
		want string
	}{
		{Predict("errors", 30, 17.123456, "It falls."), "Exercise 1.1: answered\n✓ errors\n  You predicted 30, and it is 17.12. It falls.\n"},
		{Predict("errors", 17, 17.0, ""), "Exercise 1.1: answered\n✓ errors\n  You predicted 17, and so it is.\n"},
		{Predict("errors", "More", "fewer", "", "more", "fewer"), "Exercise 1.1: answered\n✓ errors\n  You predicted more, and it is fewer.\n"},
		{Predict("errors", "some", "fewer", "", "more", "fewer"), "Exercise 1.1: not right yet\n✗ errors\n  Write one of more, fewer.\n"},
	} {
		r := report("1.1", []Test{test.got})
		if got := r.String(); got != test.want {
			t.Errorf("got\n%swant\n%s", got, test.want)
		}
		if test.got.Note != "" && !strings.Contains(r.html(), test.got.Note) {
			t.Errorf("the page lacks %q", test.got.Note)
		}
	}
}

func TestAPanicIsToldBeforeTheHint(t *testing.T) {
	got := Try("what", func() bool { panic("too long") }, "Look again.")
	if want := (Test{What: "what", State: Failed, Hint: "It panics: too long. Look again."}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestReports(t *testing.T) {
	pass, fail, todo := True("p", true, "hint p"), True("f", false, "hint f"), Near("t", Todo, 1, 1, "hint t")
	for _, test := range []struct {
		tests []Test
		want  string
	}{
		{[]Test{pass, pass}, "Exercise 1.1: right\n✓ p\n✓ p\n"},
		{[]Test{pass, fail, fail}, "Exercise 1.1: not right yet\n✓ p\n✗ f\n  hint f\n✗ f\n"},
		{[]Test{pass, todo, fail}, "Exercise 1.1: not answered yet\n✓ p\n… t\n✗ f\n"},
		{[]Test{fail, todo}, "Exercise 1.1: not right yet\n✗ f\n  hint f\n… t\n"},
		{nil, "Exercise 1.1: this check has no tests\n"},
	} {
		if got := report("1.1", test.tests).String(); got != test.want {
			t.Errorf("got\n%swant\n%s", got, test.want)
		}
	}
}

// Whatever the tests: passed says that there are some and all are, the page
// holds no markup but its own, and the JSON reads back.
func TestReportProperties(t *testing.T) {
	text := rapid.StringOf(rapid.SampledFrom([]rune("<>&\"'ab é\u2028")))
	rapid.Check(t, func(t *rapid.T) {
		tests := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Test {
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				return Near(text.Draw(t, "what"), rapid.Float64().Draw(t, "got"), 1, 1e-3, text.Draw(t, "hint"))
			case 1:
				return Equal(text.Draw(t, "what"), rapid.IntRange(0, 2).Draw(t, "got"), 1, text.Draw(t, "hint"))
			}
			return True(text.Draw(t, "what"), rapid.Bool().Draw(t, "ok"), text.Draw(t, "hint"))
		}), 0, 5).Draw(t, "tests")
		r := report(text.Draw(t, "exercise"), tests)
		if want := len(tests) > 0 && !slices.ContainsFunc(tests, func(t Test) bool { return t.State != Passed }); r.Passed != want {
			t.Fatalf("passed is %v with %+v", r.Passed, tests)
		}
		page := r.html()
		hints := strings.Count(page, "opacity")
		if n := strings.Count(page, "<"); n != 4+4*len(tests)+2*hints || hints > 1 {
			t.Fatalf("%d tags and %d hints in %s", n, hints, page)
		}
		data, err := json.Marshal(r)
		var back Report
		if err != nil || json.Unmarshal(data, &back) != nil || back.String() != r.String() {
			t.Fatalf("%s, %v", data, err)
		}
	})
}

// Every check cell is linked anew and pays for what it links.
func TestLabIsLight(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, dep := range strings.Fields(string(out)) {
		if strings.Contains(dep, "echarts") || strings.Contains(dep, "svmnb/svmnb/svmnb") || dep == "html/template" || dep == "net/http" {
			t.Errorf("a check links %s", dep)
		}
	}
}

func TestWorth(t *testing.T) {
	if got := True("", true, "").Worth(2.5); got.Weight != 2.5 || got.State != Passed {
		t.Errorf("got %+v", got)
	}
	for _, weight := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		got := True("", true, "").Worth(weight)
		if _, err := json.Marshal(got); got.State != Failed || !strings.Contains(got.Hint, "must be positive") || err != nil {
			t.Errorf("weight %g: %+v, %v", weight, got, err)
		}
	}
}
