// Package static draws charts without a browser: as SVG, as PNG, and as images inside the
// charts of a saved notebook. It runs the same ECharts as a page does, in a JavaScript
// engine in Go, and needs no network.
//
// It is not part of package svmnb because a JavaScript engine is large, and every cell of a
// notebook links what it imports. The first picture of a process takes about a quarter of a
// second longer than the others.
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

// Chart is a chart that can be drawn: a [display.Chart], or a chart of go-echarts such as
// charts.NewBar() returns.
//
// [display.Chart]: https://pkg.go.dev/github.com/svmnb/svmnb/svmnb/display#Chart
type Chart = echarts.Chart

// Options say how a chart is drawn. The zero value draws a light picture as wide as the
// column of a notebook.
type Options struct {
	// Width is the width in CSS pixels, from 200 to 4000. 0 means 860, or the width of the
	// chart if that is less. The height follows from the chart.
	Width int

	// Dark draws for a dark page. The background of a picture has the colour of the page.
	Dark bool

	// Scale is the number of PNG pixels in a CSS pixel, up to 4. 0 means 2, which is sharp
	// on high-resolution screens and in print.
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

// OptionsError says which of the [Options] is wrong.
type OptionsError struct {
	Field string
	Value float64
	Msg   string // what is allowed
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

// SVG returns the chart as a complete SVG document without scripts. Its title is the
// chart's description. Texts use the reader's font; the layout leaves room for [DejaVu
// Sans], which is as wide as any common font.
//
// If ECharts cannot draw the chart, for example because of a NaN in its data, the error
// says where.
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

// PNG returns the chart as a PNG image, drawn from its SVG with the font DejaVu Sans. The
// image is the same on every machine.
func PNG(c Chart, o Options) ([]byte, error) {
	svg, err := SVG(c, o)
	if err != nil {
		return nil, err
	}
	o, _ = o.check() // SVG has checked the options
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

// Fill puts a picture into each chart in the HTML of a notebook's output, and returns the
// number of charts. The script that draws a chart replaces its picture; where no script
// runs, the picture stays. Filling a page again gives the same page. Charts that cannot be
// drawn stay unchanged, and the error names them.
//
// Pictures are SVG, or PNG for a chart with very many marks if that is smaller.
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
		if small, err := rasterPNG(data, o.Scale); err == nil && len(small) < len(data) { // otherwise use the SVG
			kind, data = "image/png", small
		}
	}
	width, height, err := extent(svg)
	if err != nil {
		return "", err
	}
	if pixels(p.Height, 0) > 0 { // otherwise the height follows the page
		p.Height = strconv.Itoa(height) + "px"
	}
	return p.HTML(fmt.Sprintf(`<img width="%d" height="%d" style="max-width:100%%;height:auto" alt="%s" src="data:%s;base64,%s">`,
		width, height, html.EscapeString(p.Text), kind, base64.StdEncoding.EncodeToString(data))), nil
}

// heavy is the size of an SVG, in bytes, from which on a PNG is tried.
const heavy = 150_000

// Bare returns the page with all charts empty. Two pages that differ only by Fill give the
// same result.
func Bare(page string) string {
	return echarts.Places(page, func(p echarts.Place, _ string) string {
		p.Height = ""
		return p.HTML("")
	})
}

// tidy makes a complete document from the SVG of ECharts, with one element on a line. It
// adds a title for readers who cannot see the picture, removes invisible elements and those
// for the pointer, and writes attributes that neighbouring marks share only once, in a
// group.
func tidy(svg, id, text string) string {
	var b, title strings.Builder
	_ = xml.EscapeText(&title, []byte(text)) // writing to a strings.Builder never fails
	shared := ""                             // the attributes of the group that is open
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

// family is the font of texts: that of the page or, if that is not known, the font with
// which they were measured.
const family = "system-ui, 'DejaVu Sans', sans-serif"

var (
	unused = regexp.MustCompile(` (ecmeta_\w+|pointer-events|version|baseProfile)="[^"]*"`)
	unseen = regexp.MustCompile(`^<path [^>]* transform="matrix\(0,0,0,0,[^>]*></path>$`)
	mark   = regexp.MustCompile(`^<path d="[^"]*"(?: transform="[^"]*")?((?: (?:fill|stroke)[a-z-]*="[^"]*")+)></path>$`)
)

// lookOf returns the attributes of a mark that a group can share.
func lookOf(line string) string {
	if m := mark.FindStringSubmatch(line); m != nil {
		return m[1]
	}
	return ""
}

// pixels parses a length of CSS in pixels; for other units it returns the argument otherwise.
func pixels(css string, otherwise int) int {
	number, ok := strings.CutSuffix(strings.TrimSpace(css), "px")
	v, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || !(v > 0) {
		return otherwise
	}
	return int(min(v, 1e6))
}

// Alive keeps the charts and tables that svmnb has written in a page, and replaces
// everything else by the result of other. charts is their number. The drawing library is
// removed: a page that draws needs the [Library] once.
func Alive(page string, other func(html string) string) (alive string, charts int) {
	return echarts.Alive(page, other)
}

// Library returns the script that draws the charts of a page.
func Library() string { return echarts.Library() }

// Policy returns a Content-Security-Policy that allows only the present inline scripts of
// page, and the sources in more. The page cannot fetch anything else.
func Policy(page string, more ...string) string { return echarts.Policy(page, more...) }
