package static

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
	"github.com/go-echarts/go-echarts/v2/types"
	"github.com/svmnb/svmnb/svmnb/internal/echarts"
)

func bar(name string, values ...any) *charts.Bar {
	b := charts.NewBar()
	b.SetGlobalOptions(charts.WithTitleOpts(opts.Title{Title: name}), charts.WithInitializationOpts(opts.Initialization{Width: "600px", Height: "300px"}))
	var data []opts.BarData
	for _, v := range values {
		data = append(data, opts.BarData{Value: v})
	}
	b.SetXAxis([]string{"one", "two", "three"}).AddSeries(name, data)
	return b
}

// option is a chart of nothing but an ECharts option.
type option map[string]any

func (option) Validate()              {}
func (o option) JSON() map[string]any { return o }
func (option) Size() (string, string) { return "300px", "200px" }
func (option) Description() string    { return "a test" }
func calls(function string) option {
	return option{"series": []any{custom(function)}, "xAxis": option{}, "yAxis": option{}}
}
func custom(function string) option {
	return option{"type": "custom", "data": []any{[]any{0, 0}}, "renderItem": types.FuncStr("__f__" + function + "__f__")}
}
func place(t *testing.T, c Chart) string {
	t.Helper()
	p, err := echarts.Draw(c)
	if err != nil {
		t.Fatal(err)
	}
	return p.HTML
}

func TestSVGIsADocumentOfItsOwn(t *testing.T) {
	evil := `Rain </script><script>alert(1)</script> & "snow"`
	for _, o := range []Options{{}, {Dark: true}, {Width: 400}} {
		svg, err := SVG(bar(evil, 1, 2, 3), o)
		if err != nil {
			t.Fatal(err)
		}
		var title string
		var texts []string
		for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%v in\n%s", err, svg)
			}
			start, ok := token.(xml.StartElement)
			if !ok {
				continue
			}
			for _, a := range start.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || strings.Contains(a.Value, "http") && a.Name.Local != "xmlns" && a.Name.Space != "xmlns" {
					t.Errorf("attribute %s = %q", a.Name.Local, a.Value)
				}
			}
			switch start.Name.Local {
			case "script", "style", "foreignObject", "a", "image":
				t.Errorf("<%s> in the picture", start.Name.Local)
			case "title", "text":
				var s string
				if err := d.DecodeElement(&s, &start); err != nil {
					t.Fatal(err)
				}
				if start.Name.Local == "title" {
					title = s
				} else {
					texts = append(texts, s)
				}
			}
		}
		if want := "Chart: " + evil + " (bar " + evil + ")"; title != want {
			t.Errorf("title %q, want %q", title, want)
		}
		all := strings.Join(texts, "\n")
		for _, want := range []string{evil, "one", "two", "three", "2.5"} {
			if !strings.Contains(all, want) {
				t.Errorf("no %q among the texts %q", want, texts)
			}
		}
		page := `fill="rgb(255,255,255)"></rect>`
		if o.Dark {
			page = `fill="rgb(24,26,27)"></rect>`
		}
		if !bytes.Contains(svg, []byte(page)) {
			t.Errorf("%+v: no background %s", o, page)
		}
		width, height, err := extent(string(svg))
		if want := max(o.Width, 0); err != nil || height != 300 || want > 0 && width != want || want == 0 && width != 600 {
			t.Errorf("%+v: %d x %d, %v", o, width, height, err)
		}
	}
}

// Neither the charts before nor the order of anything shows in a picture.
func TestEqualChartsAreEqualPictures(t *testing.T) {
	draw := func(name string) string {
		svg, err := SVG(bar(name, 1, 2, 3), Options{})
		if err != nil {
			t.Fatal(err)
		}
		return string(svg)
	}
	if a, other, b := draw("a"), draw("b"), draw("a"); a != b || a == other {
		t.Errorf("equal charts differ, or different ones do not:\n%s\n%s", a, b)
	}
}

func TestManyAtOnce(t *testing.T) {
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			if _, err := PNG(bar(strings.Repeat("x", i), 1, 2, 3), Options{Scale: 1}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

func TestWhatCannotBeDrawn(t *testing.T) {
	ok := bar("x", 1)
	is := func(err error, target any) bool { return errors.As(err, target) }
	var chart *echarts.ChartError
	var options *OptionsError
	var drawing *DrawError
	for _, test := range []struct {
		name   string
		chart  Chart
		o      Options
		target any
		words  string
	}{
		{"NaN", bar("x", 1, math.NaN()), Options{}, &chart, "series[0].data[1].value is NaN"},
		{"Inf", bar("x", math.Inf(-1)), Options{}, &chart, "series[0].data[0].value is -Inf"},
		{"narrow", ok, Options{Width: 10}, &options, "Options.Width is 10: choose from 200 to 4000"},
		{"negative", ok, Options{Width: -1}, &options, "Options.Width"},
		{"scale", ok, Options{Scale: -2}, &options, "Options.Scale is -2"},
		{"scale NaN", ok, Options{Scale: math.NaN()}, &options, "Options.Scale is NaN"},
		{"scale large", ok, Options{Scale: 400}, &options, "Options.Scale"},
		{"a function throws", calls(`function () { throw new Error('no such thing'); }`), Options{}, &drawing, "no such thing"},
		{"a function that is none", calls(`function (`), Options{}, &drawing, "series[0].renderItem"},
		{"a function without end in depth", calls(`function f() { return f(); }`), Options{}, &drawing, ""},
		{"a series that is none", option{"series": 7}, Options{}, nil, ""},
		{"no option", option{}, Options{}, nil, ""},
	} {
		for _, draw := range []func(Chart, Options) ([]byte, error){SVG, PNG} {
			_, err := draw(test.chart, test.o)
			switch target := test.target.(type) {
			case nil: // anything but a panic
			default:
				if !is(err, target) || !strings.Contains(err.Error(), test.words) {
					t.Errorf("%s: error %v, want a %T with %q", test.name, err, target, test.words)
				}
			}
		}
	}
	if _, err := SVG(ok, Options{}); err != nil {
		t.Errorf("after the failures: %v", err)
	}
}

func TestEndlessFunctionsAreStopped(t *testing.T) {
	endless := calls(`function () { for (;;); }`)
	defer func(d time.Duration) { patience = d }(patience)
	patience = 300 * time.Millisecond
	if _, err := SVG(endless, Options{}); err == nil || !strings.Contains(err.Error(), "a test: not drawn after 300ms") {
		t.Errorf("error %v", err)
	}
	patience = time.Hour
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(200*time.Millisecond, cancel)
	page := place(t, endless) + place(t, bar("never", 1))
	filled, n, err := Fill(ctx, page, Options{})
	if filled != page || n != 2 || !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %d charts, error %v, changed %v", n, err, filled != page)
	}
	if _, err := SVG(bar("x", 1), Options{}); err != nil {
		t.Errorf("after that: %v", err)
	}
}

var img = regexp.MustCompile(`<img width="(\d+)" height="(\d+)" style="[^"]*" alt="([^"]*)" src="data:image/(svg\+xml|png);base64,([^"]*)">`)

func TestFill(t *testing.T) {
	one, two := place(t, bar("a < b", 1, 2)), place(t, bar("second", 3))
	page := "<p>before</p>" + one + "\n<div id=\"svm-no-place\">" + two + "after" + echarts.Library() + one
	filled, n, err := Fill(context.Background(), page, Options{})
	if err != nil || n != 3 {
		t.Fatalf("%d charts, error %v", n, err)
	}
	pictures := img.FindAllStringSubmatch(filled, -1)
	if len(pictures) != 3 || pictures[0][0] != pictures[2][0] || pictures[0][3] != "Chart: a &lt; b (bar a &lt; b)" {
		t.Fatalf("pictures: %.300q", pictures)
	}
	for _, p := range pictures {
		svg, err := base64.StdEncoding.DecodeString(p[5])
		if err != nil || p[1] != "600" || p[2] != "300" || !bytes.HasPrefix(svg, []byte("<svg ")) {
			t.Errorf("a picture of %s x %s, %v: %.60s", p[1], p[2], err, svg)
		}
	}
	if strings.Contains(filled, "not drawn yet") || strings.Count(filled, echarts.Library()) != 1 || !strings.HasPrefix(filled, "<p>before</p><div id=\"svm-") {
		t.Error("what stands around the charts has changed, or the words in their place are still there")
	}
	again, n, err := Fill(context.Background(), filled, Options{})
	if again != filled || n != 3 || err != nil {
		t.Errorf("filled again: %d charts, error %v, equal: %v", n, err, again == filled)
	}
	if Bare(filled) != Bare(page) || strings.Contains(Bare(filled), "<img") {
		t.Error("the bare pages differ")
	}
	dark, _, err := Fill(context.Background(), filled, Options{Dark: true})
	if dark == filled || err != nil {
		t.Errorf("dark and light are the same, error %v", err)
	}
	for _, other := range []string{"", "no chart", one[:len(one)-3], strings.Replace(one, `draw("svm-`, `draw("svm-x`, 1), `<div id="svm-`} {
		if filled, n, err := Fill(context.Background(), other, Options{}); filled != other || n != 0 || err != nil {
			t.Errorf("%.40q: %d charts, error %v", other, n, err)
		}
	}
}

func TestFillGoesOnAfterAFailure(t *testing.T) {
	bad, good := place(t, calls(`function () { throw new Error('oh'); }`)), place(t, bar("x", 1))
	filled, n, err := Fill(context.Background(), bad+good, Options{})
	if n != 2 || err == nil || !strings.Contains(err.Error(), "oh") || !strings.HasPrefix(filled, bad) || len(img.FindAllString(filled, -1)) != 1 {
		t.Errorf("%d charts, error %v, %d pictures", n, err, len(img.FindAllString(filled, -1)))
	}
}

// A picture of very many marks is a PNG, which does not grow with them.
func TestManyMarksAreAnImage(t *testing.T) {
	c := calls(`function () {
		var cells = [];
		for (var i = 0; i < 60; i++) for (var j = 0; j < 60; j++)
			cells.push({ type: 'rect', shape: { x: 60 + i * 3, y: 20 + j * 2, width: 3, height: 2 }, style: { fill: (i + j) % 2 ? '#123456' : '#fedcba' } });
		return { type: 'group', children: cells };
	}`)
	svg, err := SVG(c, Options{})
	if err != nil || bytes.Count(svg, []byte("<path ")) < 3600 {
		t.Fatalf("%d of 3600 marks, %v", bytes.Count(svg, []byte("<path ")), err)
	}
	filled, _, err := Fill(context.Background(), place(t, c), Options{})
	m := img.FindStringSubmatch(filled)
	if err != nil || m == nil || m[4] != "png" {
		t.Fatalf("%v, %.160q", err, m)
	}
	data, err := base64.StdEncoding.DecodeString(m[5])
	if err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil || picture.Bounds() != image.Rect(0, 0, 600, 400) {
		t.Fatalf("%v, %v", picture.Bounds(), err)
	}
	for _, at := range []struct {
		x, y int
		want color.RGBA
	}{{2*61 + 1, 2 * 21, color.RGBA{0xfe, 0xdc, 0xba, 255}}, {2*64 + 1, 2 * 21, color.RGBA{0x12, 0x34, 0x56, 255}}, {599, 0, color.RGBA{255, 255, 255, 255}}} {
		if got := color.RGBAModel.Convert(picture.At(at.x, at.y)); got != at.want {
			t.Errorf("pixel (%d, %d) is %v, want %v", at.x, at.y, got, at.want)
		}
	}
}
