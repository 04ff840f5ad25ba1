package main

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"
)

func TestCompareTexts(t *testing.T) {
	for _, test := range []struct {
		name, want, got string
		same            bool
	}{
		{"equal", "a b", "a b", true},
		{"other word", "converged", "stopped", false},
		{"more", "a", "a b", false},
		{"durations", "took 1.23 ms", "took 45 µs", true},
		{"compound duration", "in 1m2.5s.", "in 0.3s.", true},
		{"duration in a table", "| time | 12.3 ms |", "| time | 9 ms |", true},
		{"elapsed", `{"elapsed":0.0123,"n":3}`, `{"elapsed":4.5e-05,"n":3}`, true},
		{"elapsed, but another n", `{"elapsed":0.0123,"n":3}`, `{"elapsed":0.0123,"n":4}`, false},
		{"elapsed in HTML", "<th>elapsed</th><td>0.5</td>", "<th>elapsed</th><td>0.7</td>", true},
		{"seconds", "seconds: 1.5", "seconds: 2", true},
		{"not a duration", "m = 5", "m = 6", false},
		{"a count of somethings", "5 sets", "6 sets", false},
		{"rounding", "b = 0.12345678901", "b = 0.12345678902", true},
		{"rounded up or down", "b = 0.12345", "b = 0.12346", true},
		{"rounded to fewer digits", "b = 8.5", "b = 8.499", true},
		{"rounded, with a true minus", "−7.951e−05", "−7.952e−05", true},
		{"beyond rounding", "b = 0.12345", "b = 0.12347", false},
		{"beyond rounding, of other lengths", "b = 8.5", "b = 8.498", false},
		{"three decimals rounded", "0.404", "0.403", true},
		{"two decimals are exact", "9.04", "9.03", false},
		{"three digits are exact", "gap 7.91e-05", "gap 7.92e-05", false},
		{"one digit is exact", "0.00005", "0.00004", false},
		{"a true minus is a sign", "−0.512", "0.512", false},
		{"tiny", "gap 1e-12", "gap 3e-11", true},
		{"whole numbers are exact", "iterations 1000000000", "iterations 1000000001", false},
		{"sign", "-0.5", "0.5", false},
		{"format", "1.0", "1.00", true},
		{"many numbers", "1.5 2.5 3.5", "1.5 2.5000000001 3.5", true},
		{"one fewer", "1.5 2.5 3.5", "1.5 2.5", false},
		{"folder", "in /tmp/svmnb-12/gonb_ab12/main.go:3", "in /var/x/svmnb-9/gonb_ff00/main.go:3", true},
		{"other place in the folder", "in /tmp/gonb_ab12/main.go:3 x", "in /tmp/gonb_ab12/main.go:4 y", false},
		{"uuid", "7d444840-9dc0-11d1-b245-5ffdce74fad2", "00000000-9dc0-11d1-b245-5ffdce74fad2", true},
		{"id", `<div id="svm-1a2b3c4d5e">`, `<div id="svm-99ffee0011">`, true},
		{"id of a run", `<div id="svm-live-1234567812345678">`, `<div id="svm-live-3f4884b4a75af021">`, true},
		{"id of a chart", `<div id="svm-hlspls637vstmda64ff66pxwhk">`, `<div id="svm-22vfkp5nnhts5gja5ravykeysh">`, true},
		{"short hex is not an id", "#1a2b3c", "#1a2b3d", false},
		{"address", "0xc000012345", "0xc00009abcd", true},
		{"date and time", "2026-01-02 10:11:12", "2027-12-31 1:02:03.5", true},
		{"version of Go", "go1.26.1", "go1.27rc1", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			a, b, differ := rules{rtol: 1e-6}.text(test.want, test.got)
			if differ == test.same {
				t.Errorf("%q against %q: same %t, want %t (%s | %s)", test.want, test.got, !differ, test.same, a, b)
			}
		})
	}
}

func picture(t *testing.T, size int, shade uint8) string {
	t.Helper()
	m := image.NewGray(image.Rect(0, 0, size, size))
	for i := range m.Pix {
		m.Pix[i] = shade
	}
	m.SetGray(0, 0, color.Gray{255})
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

func TestComparePictures(t *testing.T) {
	for _, test := range []struct {
		name      string
		want, got string
		same      bool
	}{
		{"equal", picture(t, 9, 100), picture(t, 9, 100), true},
		{"nearly", picture(t, 9, 100), picture(t, 9, 101), true},
		{"darker", picture(t, 9, 100), picture(t, 9, 120), false},
		{"larger", picture(t, 9, 100), picture(t, 10, 100), false},
		{"damaged", picture(t, 9, 100), "AAAA", false},
	} {
		if _, _, differ := comparePNG(test.want, test.got); differ == test.same {
			t.Errorf("%s: same %t, want %t", test.name, !differ, test.same)
		}
	}
}

func TestCompareNotebooks(t *testing.T) {
	with := func(outs ...*output) *notebook {
		nb := code("import \"fmt\"", "%%\nf()")
		nb.cells[1].setOutputs(outs, 7)
		return nb
	}
	print := func(name, text string) *output { return &output{kind: "stream", name: name, text: text} }
	display := func(data map[string]any) *output { return &output{kind: "display_data", data: data} }
	for _, test := range []struct {
		name string
		a, b *notebook
		want string // part of the report; empty when they are the same
	}{
		{"equal", with(print("stdout", "a")), with(print("stdout", "a")), ""},
		{"interleaving", with(print("stdout", "a\n"), print("stderr", "x\n"), print("stdout", "b\n")), with(print("stdout", "a\nb\n"), print("stderr", "x\n")), ""},
		{"progress bars", with(print("stderr", "1%\r2%\r100%\n")), with(print("stderr", "50%\r100%\n")), ""},
		{"stdout", with(print("stdout", "a 1\n")), with(print("stdout", "a 2\n")), "code cell 2 (f()), stdout:\n  committed: a 1\\n\n  now:       a 2\\n"},
		{"nothing now", with(display(map[string]any{"text/html": "x"})), with(), "output 1:\n  committed: text/html\n  now:       nothing"},
		{"something now", with(), with(display(map[string]any{"text/html": "x"})), "now:       text/html"},
		{"other types", with(display(map[string]any{"text/html": "x"})), with(display(map[string]any{"text/html": "x", "text/plain": "x"})), "text/html + text/plain"},
		{"progress of a slow machine", with(), with(&output{kind: "display_data", data: map[string]any{"text/markdown": "half"}, metadata: map[string]any{whenSlow: true}}), ""},
		{"JSON", with(display(map[string]any{"application/json": map[string]any{"a": 1.5}})), with(display(map[string]any{"application/json": map[string]any{"a": 1.6}})), "application/json"},
		{"expected errors", with(&output{kind: "error", evalue: "no", traceback: []string{"at /tmp/gonb_1/main.go:1 no"}}), with(&output{kind: "error", evalue: "no", traceback: []string{"at /tmp/gonb_2/main.go:1 no"}}), ""},
		{"other errors", with(&output{kind: "error", traceback: []string{"no"}}), with(&output{kind: "error", traceback: []string{"yes"}}), "now:       yes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			diffs, err := rules{rtol: 1e-6}.compare(test.a, test.b)
			if err != nil {
				t.Fatal(err)
			}
			var report strings.Builder
			for _, d := range diffs {
				report.WriteString(d.String())
			}
			if (test.want == "") != (len(diffs) == 0) || !strings.Contains(report.String(), test.want) {
				t.Errorf("report:\n%s\nwant %q in it", report.String(), test.want)
			}
		})
	}
	if _, err := (rules{}).compare(code("a"), code("a", "b")); err == nil {
		t.Error("notebooks of different lengths compare without an error")
	}
}

// A difference names the cell whose outputs differ, and no other one, also where the drawing
// library is in the outputs that were changed.
func TestDifferencesNameTheirCell(t *testing.T) {
	html, library := chartHTML(t, bars("first", 1, 2, 3), bars("second", 3))
	book := func() *notebook {
		nb := code("import \"fmt\"", "// f is declared.\nfunc f() int { return 1 }", "%%\nfmt.Println(f())", "%%\nfirst()", "%%\nsecond()")
		show := func(html string) []*output {
			return []*output{{kind: "display_data", data: map[string]any{"text/html": html}}}
		}
		nb.cells[2].setOutputs([]*output{{kind: "stream", name: "stdout", text: "1\n"}}, 3)
		nb.cells[3].setOutputs(show(html[0]+library), 4)
		nb.cells[4].setOutputs(show(html[1]), 5)
		return nb
	}
	change := func(of *notebook, cell int, from, to string) {
		outs, err := of.cells[cell].outputs()
		if err != nil {
			t.Fatal(err)
		}
		before, _ := outs[0].data["text/html"].(string)
		if after := strings.Replace(before, from, to, 1); after != before {
			outs[0].data["text/html"] = after
			of.cells[cell].setOutputs(outs, 1)
			return
		}
		t.Fatalf("cell %d does not contain %q", cell, from)
	}
	for _, test := range []struct {
		name   string
		change func(want, got *notebook)
		report []string // the beginning of each difference
	}{
		{"a printed number was altered", func(want, _ *notebook) {
			want.cells[2].setOutputs([]*output{{kind: "stream", name: "stdout", text: "2\n"}}, 3)
		}, []string{"code cell 3 (fmt.Println(f())), stdout:"}},
		{"a declaration that a later cell prints was altered", func(want, got *notebook) {
			for _, nb := range []*notebook{want, got} {
				nb.cells[1].raw["source"] = "func f() int { return 7 }"
			}
			got.cells[2].setOutputs([]*output{{kind: "stream", name: "stdout", text: "7\n"}}, 3)
		}, []string{"code cell 3 (fmt.Println(f())), stdout:"}},
		{"the output with the library was deleted", func(want, _ *notebook) { want.cells[3].setOutputs(nil, 4) },
			[]string{"code cell 4 (first()), output 1:"}},
		{"the cell with the library shows nothing any more", func(_, got *notebook) { got.cells[3].setOutputs(nil, 4) },
			[]string{"code cell 4 (first()), output 1:"}},
		{"an output without the library was deleted", func(want, _ *notebook) { want.cells[4].setOutputs(nil, 5) },
			[]string{"code cell 5 (second()), output 1:"}},
		{"the library was altered", func(want, _ *notebook) { change(want, 3, "'use strict'", "'use  strict'") },
			[]string{"code cell 4 (first()), the drawing library, which this cell brings for all charts:"}},
		{"a later cell brings another library", func(_, got *notebook) {
			outs, _ := got.cells[4].outputs()
			outs[0].data["text/html"] = html[1] + strings.Replace(library, "'use strict'", "'use  strict'", 1)
			got.cells[4].setOutputs(outs, 5)
		}, []string{"code cell 5 (second()), the drawing library"}},
	} {
		want, got := book(), book()
		test.change(want, got)
		diffs, err := standard.compare(want, got)
		if err != nil || len(diffs) != len(test.report) {
			t.Errorf("%s: %v, %v", test.name, diffs, err)
			continue
		}
		for i, d := range diffs {
			if !strings.HasPrefix(d.String(), test.report[i]) {
				t.Errorf("%s: the report is %q, want %q", test.name, d, test.report[i])
			}
		}
	}
}

func TestDifferencesAreReadable(t *testing.T) {
	long := strings.Repeat("x", 100000)
	a, b, differ := rules{}.text(long+"left"+long, long+"right"+long)
	if !differ || len(a) > 200 || !strings.Contains(a, "xleftx") || !strings.Contains(b, "xrightx") {
		t.Errorf("%t\n%s\n%s", differ, a, b)
	}
}

func TestKeepLeavesEqualOutputsAlone(t *testing.T) {
	out := func(s string) []*output { return []*output{{kind: "stream", name: "stdout", text: s}} }
	before, after := code("a()", "b()"), code("a()", "b()")
	before.cells[0].setOutputs(out("took 12 ms"), 1)
	after.cells[0].setOutputs(out("took 99 ms"), 1)
	before.cells[1].setOutputs(out("W = 1.25"), 2)
	after.cells[1].setOutputs(out("W = 1.27"), 2)
	if err := standard.keep(before, after); err != nil {
		t.Fatal(err)
	}
	if got := stdoutOf(t, after.cells[0]) + ", " + stdoutOf(t, after.cells[1]); got != "took 12 ms, W = 1.27" {
		t.Errorf("kept %s", got)
	}
}

// The drawing library may move to another output, and may come twice; it may
// not change, and where a notebook is kept, its place counts.
func TestLibraryMayMove(t *testing.T) {
	html, library := chartHTML(t, bars("first", 1, 2, 3), bars("second", 3))
	other := strings.Replace(library, "'use strict'", "'use  strict'", 1)
	if other == library {
		t.Fatal("the library has changed: change this test")
	}
	book := func(html ...string) *notebook {
		nb, err := parseNotebook(displaying(t, html...))
		if err != nil {
			t.Fatal(err)
		}
		return nb
	}
	want := func() *notebook { return book(html[0]+library, html[1]) }
	for _, test := range []struct {
		name string
		got  *notebook
		want int // differences
		kept bool
	}{
		{"the same", want(), 0, true},
		{"moved", book(html[0], html[1]+library), 0, false},
		{"twice", book(html[0]+library, html[1]+library), 0, false},
		{"gone", book(html[0], html[1]), 1, false},
		{"another", book(html[0]+other, html[1]), 1, false},
		{"another chart", book(html[1]+library, html[1]), 1, false},
	} {
		diffs, err := standard.compare(want(), test.got)
		if err != nil || len(diffs) != test.want {
			t.Errorf("%s: %v, %v", test.name, diffs, err)
		}
		before := want()
		if err := standard.keep(before, test.got); err != nil {
			t.Fatal(err)
		}
		same := true
		for i := range before.cells {
			a, _ := before.cells[i].outputs()
			b, _ := test.got.cells[i].outputs()
			same = same && a[0].data["text/html"] == b[0].data["text/html"]
		}
		if same != test.kept {
			t.Errorf("%s: kept is %v", test.name, same)
		}
	}
}
