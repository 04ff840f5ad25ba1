package echarts

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"

	"github.com/svmnb/svmnb/internal/jslint"
)

func bar(name string, values ...any) *charts.Bar {
	b := charts.NewBar()
	b.SetGlobalOptions(charts.WithTitleOpts(opts.Title{Title: name, Subtitle: "below"}))
	var data []opts.BarData
	for _, v := range values {
		data = append(data, opts.BarData{Value: v})
	}
	b.SetXAxis([]string{"a", "b", "c"}).AddSeries(name, data)
	return b
}

func TestLibraryIsThePublishedOne(t *testing.T) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	js, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	// sha256sum of package/dist/echarts.min.js in npm's echarts-5.6.0.tgz
	if got := fmt.Sprintf("%x", sha256.Sum256(js)); got != "bf4a223524e40b77c304bec67e1222cf551f14880cf42c69dc046558e11c07b1" {
		t.Errorf("the embedded library has SHA-256 %s", got)
	}
	if l := Library(); len(l) > 464_000 || strings.Count(strings.ToLower(l), "</script") != 1 || !strings.HasSuffix(l, "</script>") {
		t.Errorf("the library's script is %d bytes and ends %q", len(l), l[len(l)-20:])
	}
}

func TestDrawIsSafeInHTML(t *testing.T) {
	evil := "</script><script>alert(1)</script><!--\u2028\"'&"
	p, err := Draw(bar(evil, 1, 2, 3))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(p.HTML, "<script>") != 1 || strings.Count(p.HTML, "</script>") != 1 || strings.Contains(p.HTML, "<!--") || strings.Contains(p.HTML[strings.Index(p.HTML, "<script>"):], "\u2028") {
		t.Errorf("a name breaks out of its place:\n%s", p.HTML)
	}
	if want := `aria-label="Chart: &lt;/script&gt;`; !strings.Contains(p.HTML, want) {
		t.Errorf("no %s in\n%s", want, p.HTML)
	}
	for _, word := range []string{"not drawn yet", "trust this notebook", "run this cell again"} {
		if !strings.Contains(p.HTML, word) {
			t.Errorf("the empty place does not say %q", word)
		}
	}
}

// The page keeps the library under the name by which charts ask for it.
func TestBrowserKeepsTheVersion(t *testing.T) {
	for name, text := range map[string]string{"the library": Library(), "a chart": placeEnd} {
		if !strings.Contains(text, `/svmnb/echarts-`+Version) {
			t.Errorf("%s does not know /svmnb/echarts-%s", name, Version)
		}
	}
}

// A notebook that is run again is the same file.
func TestEqualChartsAreEqualText(t *testing.T) {
	var html []string
	for _, c := range []Chart{bar("a", 1, 2), bar("a", 1, 2), bar("a", 1, 3)} {
		p, err := Draw(c)
		if err != nil {
			t.Fatal(err)
		}
		html = append(html, p.HTML)
	}
	id := func(s string) string { return strings.Split(s, `"`)[1] }
	if html[0] != html[1] || id(html[0]) == id(html[2]) {
		t.Errorf("ids %s, %s, %s: want the first two equal and the last one another", id(html[0]), id(html[1]), id(html[2]))
	}
}

// What Draw writes is read back to the letter.
func TestPlaces(t *testing.T) {
	evil := bar("</script>\"'&<!-- \u2028 );S.draw(", 1)
	evil.SetGlobalOptions(charts.WithInitializationOpts(opts.Initialization{Width: "40em", Height: "60vh"}))
	var page string
	var want []Place
	for _, c := range []Chart{bar("a", 1, 2), evil, bar("a", 1, 2)} {
		p, err := Of(c)
		if err != nil {
			t.Fatal(err)
		}
		picture, err := Draw(c)
		if err != nil {
			t.Fatal(err)
		}
		page += "<p>" + picture.HTML
		want = append(want, p)
	}
	page += Library()
	var got []Place
	same := Places(page, func(p Place, html string) string { got = append(got, p); return html })
	if same != page || !reflect.DeepEqual(got, want) {
		t.Errorf("places %q, want %q; the page is the same: %v", got, want, same == page)
	}
	inside := Places(page, func(p Place, _ string) string { return p.HTML("<img>") })
	got = nil
	again := Places(inside, func(p Place, _ string) string { got = append(got, p); return p.HTML("<img>") })
	if again != inside || !reflect.DeepEqual(got, want) || strings.Count(inside, "><img></div>") != 3 || strings.Contains(inside, "not drawn yet") {
		t.Errorf("places with images: %q", got)
	}
	for _, cut := range []string{"", page[:40], page[3:400], strings.ReplaceAll(page, "draw(", "drew("), strings.ReplaceAll(page, ")})})", ")")} {
		if same := Places(cut, func(Place, string) string { return "x" }); same != cut {
			t.Errorf("a chart is seen in %.80q", cut)
		}
	}
}

// Notebooks outlive the version that has written them: charts of an older one are read,
// and written as they are now.
func TestPlacesOfOlderVersions(t *testing.T) {
	for name, draw := range map[string]func(Chart) (Picture, error){"a chart": Draw, "one that changes": func(c Chart) (Picture, error) { return DrawAs("x", c) }} {
		now, err := draw(bar("a", 1, 2))
		if err != nil {
			t.Fatal(err)
		}
		for k, e := range endings {
			written := strings.NewReplacer(placeEnd, e[0], placeClose, e[1]).Replace(now.HTML)
			if (written == now.HTML) != (k == 0) {
				t.Fatalf("%s: version %d is written as %s", name, k, written)
			}
			n := 0
			again := Places("a"+written+now.HTML+"b", func(p Place, _ string) string { n++; return p.HTML("") })
			if want := Places("a"+now.HTML+now.HTML+"b", func(p Place, _ string) string { return p.HTML("") }); again != want || n != 2 {
				t.Errorf("%s of version %d: %d charts, %s", name, k, n, again)
			}
			alive, n := Alive(written, func(html string) string { return html })
			if alive != now.HTML || n != 1 {
				t.Errorf("%s of version %d in a page: %d charts, %s", name, k, n, alive)
			}
		}
	}
}

// A chart that changes keeps its place, also when a picture is put into that.
func TestDrawAs(t *testing.T) {
	id := func(html string) string {
		_, after, _ := strings.Cut(html, placeStart)
		name, _, _ := strings.Cut(after, `"`)
		return name
	}
	draw := func(name, series string) string {
		p, err := DrawAs(name, bar(series, 1, 2))
		if err != nil {
			t.Fatal(err)
		}
		return p.HTML
	}
	first, second, other := draw("run 1", "a"), draw("run 1", "b"), draw("run 2", "a")
	if first == second || id(first) != id(second) || id(first) == id(other) || !strings.HasPrefix(id(first), changing) {
		t.Errorf("the ids are %q, %q and %q", id(first), id(second), id(other))
	}
	if filled := Places(second, func(p Place, _ string) string { return p.HTML("<img>") }); id(filled) != id(first) || strings.Count(filled, id(first)) != 2 {
		t.Errorf("with a picture the id is %q: %s", id(filled), filled)
	}
}

func TestDescribe(t *testing.T) {
	p, err := Draw(bar("Rain", 1, 2, 3))
	if err != nil {
		t.Fatal(err)
	}
	if want := "Chart: Rain: below (bar Rain)"; p.Text != want {
		t.Errorf("text %q, want %q", p.Text, want)
	}
}

func TestSizeOfGoEcharts(t *testing.T) {
	b := bar("size", 1)
	b.SetGlobalOptions(charts.WithInitializationOpts(opts.Initialization{Width: "640px", Height: "320px"}))
	for _, test := range []struct {
		chart Chart
		want  string
	}{{bar("x", 1), "width:100%;max-width:100%;height:500px"}, {b, "width:100%;max-width:640px;height:320px"}} {
		p, err := Draw(test.chart)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(p.HTML, test.want) {
			t.Errorf("no %s in %.300s", test.want, p.HTML)
		}
	}
}

func TestWhatCannotBeDrawn(t *testing.T) {
	line := charts.NewLine()
	line.AddSeries("a", []opts.LineData{{Value: 1}, {Value: []float64{2, math.Inf(1)}}})
	surface := charts.NewSurface3D()
	surface.AddSeries("s", []opts.Chart3DData{{Value: []any{1, 2, 3}}})
	var none *charts.Bar
	for _, test := range []struct {
		name  string
		chart Chart
		path  string
		words string
	}{
		{"NaN", bar("x", 1, math.NaN()), "series[0].data[1].value", "is NaN"},
		{"Inf in a pair", line, "series[0].data[1].value[1]", "is +Inf"},
		{"three dimensions", surface, "series[0]", "extension"},
		{"nil", none, "", "constructor"},
		{"by hand", &charts.Bar{}, "", "constructor"},
		{"function value", bar("x", func() {}), "", "unsupported type"},
	} {
		_, err := Draw(test.chart)
		var e *ChartError
		if !errors.As(err, &e) {
			t.Errorf("%s: error %v is no *ChartError", test.name, err)
		} else if e.Path != test.path || !strings.Contains(e.Error(), test.words) {
			t.Errorf("%s: path %q, want %q; error %q should have %q", test.name, e.Path, test.path, e, test.words)
		}
	}
}

func TestColoursOfGoEcharts(t *testing.T) {
	data, err := encode(bar("x", 1))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(data, []byte("#5470c6")) {
		t.Error("go-echarts' palette hides ours")
	}
	b := bar("x", 1)
	b.SetGlobalOptions(charts.WithColorsOpts(opts.Colors{"#123456"}))
	if data, err = encode(b); err != nil || !bytes.Contains(data, []byte("#123456")) {
		t.Errorf("a chosen colour is lost: %s, %v", data, err)
	}
}

func TestCarry(t *testing.T) {
	type show struct {
		body  string
		after time.Duration // since the show before
		want  bool
	}
	const a, b, c = `moons().C(1).MustFit().Show(svmnb.Margins)`, `fmt.Println("wine"); display.Show(pie)`, `search(grid).Table(3)`
	fast, slow := 300*time.Millisecond, time.Minute
	for _, test := range []struct {
		name  string
		shows []show
	}{
		{"run all, twice", []show{{a, 0, true}, {b, fast, false}, {c, fast, false}, {a, slow, true}, {b, fast, false}, {c, fast, false}}},
		{"run all, like cells", []show{{a, 0, true}, {a + " // again", fast, false}}},
		{"the carrier runs again", []show{{a, 0, true}, {a, slow, true}, {a, fast, true}}},
		{"the carrier is edited", []show{{a, 0, true}, {b, slow, false}, {strings.Replace(a, "C(1)", "C(100)", 1), slow, true}}},
		{"the carrier is rewritten, another cell runs again", []show{{a, 0, true}, {b, slow, false}, {c, slow, false}, {b, slow, true}}},
	} {
		var s cells
		for i, show := range test.shows {
			if got := s.step(show.body, s.Ended.Add(show.after)); got != show.want {
				t.Errorf("%s: show %d carries: %v, want %v", test.name, i+1, got, show.want)
			}
		}
	}
}

func TestCarryKeepsBooks(t *testing.T) {
	dir := t.TempDir()
	if !Carry(dir) {
		t.Error("without a program to look at, the library must be sent")
	}
	program := func(main string) {
		if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\n\nfunc main() {\n\t"+main+"\n}\n\nfunc other() {}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	program("one()")
	if !Carry(dir) {
		t.Error("the first cell does not carry")
	}
	program("two()")
	if Carry(dir) {
		t.Error("the second cell carries too")
	}
	if err := os.WriteFile(filepath.Join(dir, "svmnb-cells.json"), []byte("{damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	program("three()")
	if !Carry(dir) {
		t.Error("damaged books: when in doubt, carry")
	}
}

func TestBody(t *testing.T) {
	for _, test := range []struct{ source, want string }{
		{"package main\n\nfunc other() {\n}\n\nfunc main() {\n\ta()\n\tif b {\n\t}\n}\n\nvar x = 1\n", "{\n\ta()\n\tif b {\n\t}"},
		{"func main() { x() }\n", "{ x() }"},
		{"no program", "no program"},
	} {
		if got := body(test.source); got != test.want {
			t.Errorf("body(%q) = %q, want %q", test.source, got, test.want)
		}
	}
}

func TestMarkdown(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"| a | b |\n|:--|--:|\n| **1** | x\\|y |\n", "<table><tr><th>a</th><th>b</th></tr>\n<tr><td><strong>1</strong></td><td>x|y</td></tr>\n</table>\n"},
		{"| | |\n|:--|:--|\n| k | v |", "<table><tr><td>k</td><td>v</td></tr>\n</table>\n"},
		{"# T\ntext `<b>`\nmore\n\n- x\n- y", "<h1>T</h1>\n<p>text <code>&lt;b&gt;</code>\nmore\n</p>\n<ul><li>x</li>\n<li>y</li>\n</ul>\n"},
		{"> **Hint.** scale\n\n2 ** 3", "<blockquote><strong>Hint.</strong> scale\n</blockquote>\n<p>2 ** 3\n</p>\n"},
		{"", ""},
	} {
		if got := Markdown(test.in); got != test.want {
			t.Errorf("Markdown(%q)\n = %q\nwant %q", test.in, got, test.want)
		}
	}
}

func FuzzMarkdown(f *testing.F) {
	f.Add("| a | b |\n|--|--|\n| `x` | **y** |\n\n> q\n# h\n- l")
	f.Fuzz(func(t *testing.T, s string) {
		h := Markdown(s)
		for _, tag := range []string{"table", "ul", "p", "blockquote", "tr", "td", "strong", "code"} {
			if a, b := strings.Count(h, "<"+tag+">"), strings.Count(h, "</"+tag+">"); a != b {
				t.Errorf("%q: %d <%s> and %d </%s> in %q", s, a, tag, b, tag, h)
			}
		}
		if strings.Contains(h, "<script") {
			t.Errorf("%q: a script in %q", s, h)
		}
	})
}

func TestScriptsAreSound(t *testing.T) {
	for name, script := range map[string]string{"runtime.js": runtime, "table.js": tableScript, "place.js": placeScript} {
		for _, wrong := range jslint.Check(name, script) {
			t.Errorf("%s: %s", name, wrong)
		}
	}
}
