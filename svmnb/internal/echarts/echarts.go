// Package echarts contains Apache ECharts and draws charts with it: in a notebook's output,
// saved or live, and in an HTML file. Nothing is fetched. A page needs the library once,
// before or after its charts.
package echarts

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"reflect"
	"slices"
	"strings"

	"github.com/svmnb/svmnb/svmnb/internal/words"
)

// Version is the version of the embedded library, the full build of the npm package
// echarts, unchanged and compressed by zopfli.
const Version = "5.6.0"

//go:embed echarts-5.6.0.min.js.gz
var packed []byte

//go:embed runtime.js
var runtime string

// Chart is the interface of go-echarts' charts and of svmnb's figures. Without go-echarts'
// method Render, a cell does not link go-echarts' templates.
type Chart interface {
	Validate()
	JSON() map[string]any
}

// Library returns the script that a page with charts needs once, 440 kB. A second one in
// the same page has no effect.
func Library() string {
	return "<script>" + strings.TrimSpace(runtime) + `(window,"` + base64.StdEncoding.EncodeToString(packed) + `")</script>`
}

// Picture is a chart as HTML and as text.
type Picture struct {
	HTML string // the element of the chart and the script that draws it; needs the Library
	Text string // one line for readers who cannot see the chart
}

// Within returns the HTML of the chart with the largest width width, a length in CSS; ""
// means that of the chart.
func (p Picture) Within(width string) string {
	before, rest, found := strings.Cut(p.HTML, placeWidth)
	_, after, ends := strings.Cut(rest, placeHeight)
	if width == "" || !found || !ends {
		return p.HTML
	}
	return before + placeWidth + html.EscapeString(width) + placeHeight + after
}

// Draw makes the HTML of c. The page draws the chart as soon as it has the library. Until
// then, and where no script runs, the element says in words what the chart shows and what
// is missing.
func Draw(c Chart) (Picture, error) { return draw(c, "") }

// DrawAs is Draw for a chart that changes. A new chart with the same name replaces the old
// one without flicker.
func DrawAs(name string, c Chart) (Picture, error) {
	return draw(c, fmt.Sprintf("%s%x", changing, sha256.Sum256([]byte(name)))[:25])
}

func draw(c Chart, id string) (Picture, error) {
	p, err := Of(c)
	if err != nil {
		return Picture{}, err
	}
	p.ID = id
	return Picture{HTML: p.HTML(`<style>@keyframes svm-wait{from,to{opacity:0}}</style><p style="animation:svm-wait 2s;max-width:44em">` +
		html.EscapeString(p.Text) +
		`<br><small>The picture is not drawn yet. If it stays away: trust this notebook, or run this cell again, ` +
		`which brings the drawing library into the page.</small></p>`), Text: p.Text}, nil
}

// goEchartsColors is the palette that go-echarts writes into every chart. It is removed,
// since svmnb's palette suits dark pages and colour-blind readers.
var goEchartsColors = []string{"#5470c6", "#91cc75", "#fac858", "#ee6666", "#73c0de", "#3ba272", "#fc8452", "#9a60b4", "#ea7ccc"}

// encode returns the option of c as JSON that is safe inside a script element. It returns a
// [*ChartError] for a value that JSON cannot express and for a chart that the library
// cannot draw; ECharts itself would show an empty element.
func encode(c Chart) (data []byte, err error) {
	// c may be a user's chart: one that is nil or was made without its constructor must not
	// end the cell.
	defer func() {
		if r := recover(); r != nil {
			data, err = nil, &ChartError{Reason: fmt.Sprintf("%T cannot be read (%v): make it with its constructor, such as charts.NewBar()", c, r)}
		}
	}()
	c.Validate()
	option := c.JSON()
	if colors, ok := option["color"].([]string); ok && slices.Equal(colors, goEchartsColors) {
		delete(option, "color")
	}
	data, err = json.Marshal(option)
	var bad *json.UnsupportedValueError
	if errors.As(err, &bad) {
		path, value := findBad(reflect.ValueOf(option))
		return nil, &ChartError{Path: path, Reason: "is " + value + ", which a chart cannot show: leave the point out, or write \"-\" for a gap"}
	}
	if err != nil {
		return nil, &ChartError{Reason: err.Error()}
	}
	return harmless(data, Functions(option)), foreign(data)
}

// ChartError says what in a chart cannot be drawn.
type ChartError struct {
	Path   string // such as series[0].data[3].value; may be empty
	Reason string
}

func (e *ChartError) Error() string {
	return strings.TrimSpace("chart: " + strings.TrimSpace(e.Path+" "+e.Reason))
}

// findBad returns the path and the text of the first number in v that is NaN or infinite.
func findBad(v reflect.Value) (path, value string) {
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		if f := v.Float(); f-f != 0 {
			return "", fmt.Sprint(f)
		}
	case reflect.Pointer, reflect.Interface:
		return findBad(v.Elem())
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, k := range keys {
			if p, s := findBad(v.MapIndex(k)); s != "" {
				return join(k.String(), p), s
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if p, s := findBad(v.Index(i)); s != "" {
				return join(fmt.Sprintf("[%d]", i), p), s
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if !f.IsExported() || name == "-" {
				continue
			}
			if p, s := findBad(v.Field(i)); s != "" {
				if name == "" && !f.Anonymous {
					name = f.Name
				}
				return join(name, p), s
			}
		}
	}
	return "", ""
}

func join(a, b string) string {
	if a == "" || b == "" || b[0] == '[' {
		return a + b
	}
	return a + "." + b
}

// foreign returns an error for series that need libraries or maps that are not embedded.
func foreign(data []byte) error {
	var o struct {
		Series []struct{ Type string }
	}
	if json.Unmarshal(data, &o) != nil {
		return nil // a single object, or no series: ECharts accepts it
	}
	for i, s := range o.Series {
		switch s.Type {
		case "bar3D", "line3D", "scatter3D", "surface", "liquidFill", "wordCloud", "map", "geo":
			return &ChartError{Path: fmt.Sprintf("series[%d]", i),
				Reason: fmt.Sprintf("is a %s, which ECharts draws only with an extension or a map that is not embedded: choose a two-dimensional chart", s.Type)}
		}
	}
	return nil
}

// describe returns the result of c's Description method or, if there is none, the title and
// the series of the option.
func describe(c Chart, option []byte) string {
	if d, ok := c.(interface{ Description() string }); ok {
		return d.Description()
	}
	var o struct {
		Title  struct{ Text, Subtext string }
		Series []struct{ Name, Type string }
	}
	_ = json.Unmarshal(option, &o) // fields that do not fit stay empty
	text := "Chart"
	for _, s := range []string{o.Title.Text, o.Title.Subtext} {
		if s != "" {
			text += ": " + words.Line(s)
		}
	}
	series := make([]string, len(o.Series))
	for i, s := range o.Series {
		series[i] = strings.TrimSpace(s.Type + " " + words.Line(s.Name))
	}
	if len(series) > 0 {
		text += " (" + strings.Join(series, ", ") + ")"
	}
	return text
}

// size returns the largest width and the height of c.
func size(c Chart) (width, height string) {
	width, height = "100%", "500px"
	if s, ok := c.(interface{ Size() (width, height string) }); ok {
		return s.Size()
	}
	v := reflect.Indirect(reflect.ValueOf(c))
	if v.Kind() != reflect.Struct {
		return
	}
	// go-echarts has both in an embedded opts.Initialization. Its default width is 900px;
	// the width of the notebook is better.
	init := v.FieldByName("Initialization")
	if !init.IsValid() {
		return
	}
	if w := init.FieldByName("Width"); w.IsValid() && w.Kind() == reflect.String && w.String() != "" && w.String() != "900px" {
		width = w.String()
	}
	if h := init.FieldByName("Height"); h.IsValid() && h.Kind() == reflect.String && h.String() != "" {
		height = h.String()
	}
	return
}
