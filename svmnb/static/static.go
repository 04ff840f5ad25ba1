// Package static draws charts where no script runs: as SVG, as PNG, and as
// images inside the charts of a saved notebook. It is the same drawing, by the
// same ECharts, in a JavaScript engine in Go; neither a browser nor a network
// is needed.
//
// It stands apart from package svmnb because a JavaScript engine is heavy and
// every cell of a notebook links what it imports. The first picture of a
// process takes about a quarter of a second more than the others.
package static

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"image/png"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/svmnb/svmnb/svmnb/internal/echarts"
)

// Chart is what can be drawn: a [display.Chart], or a chart of go-echarts such as
// charts.NewBar() returns.
//
// [display.Chart]: https://pkg.go.dev/github.com/svmnb/svmnb/svmnb#Chart
type Chart = echarts.Chart

// Options say how a chart is drawn. The zero value is a light picture, as wide
// as the column of a notebook.
type Options struct {
	// Width in CSS pixels, from 200 to 4000. 0 means 860, or what the chart
	// itself asks for if that is less. The height follows from the chart.
	Width int

	// Dark draws for a dark page. A picture has its page's colour behind it.
	Dark bool

	// Scale is how many pixels of a PNG there are to a CSS pixel, up to 4; 0
	// means 2, which is sharp on screens of high resolution and in print.
	Scale float64
}

const (
	usualWidth  = 860
	leastWidth  = 200
	mostWidth   = 4000
	mostHeight  = 8000
	usualHeight = 500
	mostScale   = 4
)

// OptionsError says which of the [Options] cannot be followed.
type OptionsError struct {
	Field string
	Value float64
	Msg   string // what is possible
}

func (e *OptionsError) Error() string {
	return fmt.Sprintf("static: Options.%s is %v: %s", e.Field, e.Value, e.Msg)
}

func (o Options) check() (Options, error) {
	if o.Scale == 0 {
		o.Scale = 2
	}
	if !(o.Scale > 0 && o.Scale <= mostScale) {
		return o, &OptionsError{"Scale", o.Scale, fmt.Sprintf("choose more than 0 and at most %d", mostScale)}
	}
	if o.Width != 0 && (o.Width < leastWidth || o.Width > mostWidth) {
		return o, &OptionsError{"Width", float64(o.Width), fmt.Sprintf("choose from %d to %d pixels, or 0 for the usual width", leastWidth, mostWidth)}
	}
	return o, nil
}

// SVG returns the chart as an SVG document of its own, with the chart's
// description as its title and without scripts. Texts are set in the reader's
// font; room is left for [DejaVu Sans], which is as wide as any usual one.
//
// A chart that ECharts cannot draw, with a NaN in its data for one, gives an
// error that says where.
//
// [DejaVu Sans]: https://dejavu-fonts.github.io
func SVG(c Chart, o Options) ([]byte, error) {
	p, err := echarts.Of(c)
	if err != nil {
		return nil, err
	}
	if o, err = o.check(); err != nil {
		return nil, err
	}
	svg, err := draw(context.Background(), p, o)
	return []byte(svg), err
}

// PNG returns the chart as a PNG image, drawn from its SVG with the font DejaVu
// Sans, the same on every machine.
func PNG(c Chart, o Options) ([]byte, error) {
	svg, err := SVG(c, o)
	if err != nil {
		return nil, err
	}
	o, _ = o.check() // SVG has looked at it
	return rasterPNG(svg, o.Scale)
}

func rasterPNG(svg []byte, scale float64) ([]byte, error) {
	img, err := raster(svg, scale)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	err = encoder.Encode(&b, img)
	return b.Bytes(), err
}

// Fill puts a picture into the place of each chart in the HTML of a notebook's
// output, and returns how many charts there are. The script that draws the
// chart replaces its picture; where no script runs, the picture stays. Filling
// a page again gives the same page. Charts that cannot be drawn stay as they
// are, and are in the error.
//
// Pictures are SVG; of a chart with very many marks, PNG, which is smaller.
func Fill(ctx context.Context, page string, o Options) (filled string, charts int, err error) {
	if o, err = o.check(); err != nil {
		return page, 0, err
	}
	filled = echarts.Places(page, func(p echarts.Place, html string) string {
		charts++
		text, e := fillOne(ctx, p, o)
		if e != nil {
			err = errors.Join(err, e)
			return html
		}
		return text
	})
	return filled, charts, err
}

func fillOne(ctx context.Context, p echarts.Place, o Options) (string, error) {
	svg, err := draw(ctx, p, o)
	if err != nil {
		return "", err
	}
	kind, data := "image/svg+xml", []byte(svg)
	if len(data) > heavy {
		if small, err := rasterPNG(data, o.Scale); err == nil && len(small) < len(data) { // else SVG will do
			kind, data = "image/png", small
		}
	}
	width, height, err := extent(svg)
	if err != nil {
		return "", err
	}
	if pixels(p.Height, 0) > 0 { // else it follows the page
		p.Height = strconv.Itoa(height) + "px"
	}
	return p.HTML(fmt.Sprintf(`<img width="%d" height="%d" style="max-width:100%%;height:auto" alt="%s" src="data:%s;base64,%s">`,
		width, height, html.EscapeString(p.Text), kind, base64.StdEncoding.EncodeToString(data))), nil
}

// heavy is the size of an SVG, in bytes, from which a PNG is tried.
const heavy = 150_000

// Bare returns the page with nothing in the places of its charts: equal for
// pages that differ only in whether, and how, they were filled.
func Bare(page string) string {
	return echarts.Places(page, func(p echarts.Place, _ string) string {
		p.Height = ""
		return p.HTML("")
	})
}

// tidy makes a document of its own of what ECharts has written, an element to a
// line: with a title for readers who cannot see it, without what is for the
// pointer or not to be seen at all, and with the look of like marks said once.
func tidy(svg, id, text string) string {
	var b, title strings.Builder
	_ = xml.EscapeText(&title, []byte(text)) // a strings.Builder does not fail
	shared := ""                             // the look of the group that is open
	list := slices.DeleteFunc(strings.Split(unused.ReplaceAllString(svg, ""), "\n"), unseen.MatchString)
	for i, line := range list {
		look := lookOf(line)
		if shared != "" && look != shared {
			b.WriteString("</g>\n")
			shared = ""
		}
		if look != "" && shared == "" && i+1 < len(list) && lookOf(list[i+1]) == look {
			b.WriteString("<g" + look + ">\n")
			shared = look
		}
		if shared != "" {
			line = strings.Replace(line, shared, "", 1)
		}
		b.WriteString(strings.Replace(line, "></path>", "/>", 1) + "\n")
	}
	root, rest, _ := strings.Cut(strings.TrimSpace(b.String()), ">")
	return strings.Replace(root, "<svg ", `<svg role="img" aria-labelledby="`+id+`" font-family="`+family+`" `, 1) +
		">\n<title id=\"" + id + "\">" + title.String() + "</title>" + rest
}

// family is the page's font where it is known, and otherwise what it was
// measured with.
const family = "system-ui, 'DejaVu Sans', sans-serif"

var (
	unused = regexp.MustCompile(` (ecmeta_\w+|pointer-events|version|baseProfile)="[^"]*"`)
	unseen = regexp.MustCompile(`^<path [^>]* transform="matrix\(0,0,0,0,[^>]*></path>$`)
	mark   = regexp.MustCompile(`^<path d="[^"]*"(?: transform="[^"]*")?((?: (?:fill|stroke)[a-z-]*="[^"]*")+)></path>$`)
)

// lookOf returns the attributes of a mark that a group may say for it.
func lookOf(line string) string {
	if m := mark.FindStringSubmatch(line); m != nil {
		return m[1]
	}
	return ""
}

// pixels reads a length of CSS in pixels; otherwise is for other units.
func pixels(css string, otherwise int) int {
	number, ok := strings.CutSuffix(strings.TrimSpace(css), "px")
	v, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || !(v > 0) {
		return otherwise
	}
	return int(min(v, 1e6))
}

// Alive returns a page, or a part of one, with the charts and tables that svmnb has
// written there, and what other makes of all else; charts is how many there are. The
// drawing library is left out: a page that shall draw needs the [Library] once.
func Alive(page string, other func(html string) string) (alive string, charts int) {
	return echarts.Alive(page, other)
}

// Library is the script by which charts of a page are drawn.
func Library() string { return echarts.Library() }

// Policy is a Content-Security-Policy for a page in which nothing shall run but its
// inline scripts as they stand, and what comes from more; nothing is fetched from
// elsewhere.
func Policy(page string, more ...string) string { return echarts.Policy(page, more...) }
