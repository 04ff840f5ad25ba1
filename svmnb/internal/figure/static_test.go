package figure

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-echarts/go-echarts/v2/opts"
	"github.com/go-fonts/dejavu/dejavusans"
	"github.com/go-fonts/dejavu/dejavusansbold"

	"github.com/svmnb/svmnb/internal/browsertest"
	"github.com/svmnb/svmnb/svmnb/internal/echarts"
	"github.com/svmnb/svmnb/svmnb/static"
)

// staticWidth is narrower than any figure wants to be.
const staticWidth = 860

// fonts makes a page measure and set text in the font of package static.
func fonts() string {
	face := func(name string, data []byte) string {
		return fmt.Sprintf("new FontFace('F','url(data:font/ttf;base64,%s)',{weight:'%s'}).load()", base64.StdEncoding.EncodeToString(data), name)
	}
	return `<style>body{max-width:none!important;margin:0!important;padding:0!important}section{width:` + strconv.Itoa(staticWidth) + `px}text{font-family:F!important}</style>
<script>
var S = window.__svmEcharts = {}, pen = document.createElement('canvas').getContext('2d');
S.ready = Promise.all([new Promise(function (r) { S.resolve = r; }), ` + face("normal", dejavusans.TTF) + `, ` + face("bold", dejavusansbold.TTF) + `]).then(function (got) {
	got.slice(1).forEach(function (f) { document.fonts.add(f); });
	S.echarts.setPlatformAPI({ measureText: function (text, font) {
		pen.font = (font || '12px x').replace(/(px).*$/, '$1 F');
		return { width: text === '国' ? parseFloat(/([\d.]+)px/.exec(pen.font)[1]) : pen.measureText(text).width };
	} });
});
</script>`
}

var (
	numeral = regexp.MustCompile(`-?\d+(\.\d+)?(e-?\d+)?`)
	element = regexp.MustCompile(`(?s)<(path|text|circle|ellipse|polygon|polyline|line|image)\b([^>]*)>([^<]*)`)
	arcs    = regexp.MustCompile(`A[^A-Z"]*`) // a browser's are one, those of ECharts as text two
	between = regexp.MustCompile(`(?: transform| x| y| d| points)="([^"]*)"`)
)

// marks lists the elements of an SVG, each with its text and the numbers of
// its place and shape; what is scaled to nothing is not there.
func marks(svg string) (names []string, places [][]float64) {
	for _, m := range element.FindAllStringSubmatch(svg, -1) {
		if strings.Contains(m[2], `matrix(0,0,0,0,`) {
			continue
		}
		name := m[1]
		if m[1] == "text" {
			if strings.TrimSpace(m[3]) == "" {
				continue
			}
			name += " " + m[3]
		}
		var at []float64
		for _, a := range between.FindAllStringSubmatch(m[2], -1) {
			for _, s := range numeral.FindAllString(arcs.ReplaceAllString(a[1], ""), -1) {
				v, _ := strconv.ParseFloat(s, 64) // numeral matches numbers
				at = append(at, v)
			}
		}
		if n := len(names); n > 0 && names[n-1] == name && slices.Equal(places[n-1], at) {
			continue // a tick at the end of a log axis: twice or not, by the last digit of a logarithm
		}
		names, places = append(names, name), append(places, at)
	}
	return names, places
}

// Every figure is the same picture in a browser and without: the same marks in
// the same order at the same places, the same texts. No text leaves the picture
// or covers another.
func TestStaticFiguresAreThoseOfABrowser(t *testing.T) {
	figures, more := slices.Concat(classification(t), processes(t), evaluations(t), moving(t), searches(t), multiples(t), data(t)), courses(t)
	dir := os.Getenv("SVMNB_PICTURES")
	look := dir != ""
	if !look {
		dir = t.TempDir()
		// Twins of smaller ones, with so many marks that they take a second each.
		figures = slices.Concat(figures[:4], figures[5:9], figures[10:])
		more = slices.DeleteFunc(more, func(c *Chart) bool { return strings.Contains(c.Title.Subtitle, "RBF(2)") })
	}
	figures = append(figures, more...)
	save := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	live, still := []string{fonts()}, []string{fonts()}
	svgs := make([]string, len(figures))
	for i, c := range figures {
		c.Extra["toolbox"] = object{"show": false} // a title leaves room for it, but a still picture has none
		live = append(live, must[echarts.Picture](t)(echarts.Draw(c)).HTML)
		svg := must[[]byte](t)(static.SVG(c, static.Options{Width: staticWidth}))
		svgs[i] = string(svg)
		still = append(still, svgs[i])
		if look {
			save(fmt.Sprintf("static-%02d-light.png", i), must[[]byte](t)(static.PNG(c, static.Options{})))
			save(fmt.Sprintf("static-%02d-dark.png", i), must[[]byte](t)(static.PNG(c, static.Options{Dark: true})))
		}
	}
	open := func(name string, parts []string) *browsertest.Page {
		file := filepath.Join(dir, name)
		f := must[*os.File](t)(os.Create(file))
		if err := errors.Join(echarts.Page(f, name, parts...), f.Close()); err != nil {
			t.Fatal(err)
		}
		return browsertest.Open(t, file, browsertest.Options{Offline: true})
	}

	page := open("live.html", live)
	page.Charts(len(figures))
	var browser []string
	page.Do(&browser, `return Array.from(document.querySelectorAll('[data-drawn]'), function (el) {
		var c = window.__svmEcharts.echarts.getInstanceByDom(el);
		var painter = c.getZr().painter;
		if (painter.renderToString) return painter.renderToString({ cssAnimation: false, cssEmphasis: false });
		return 'canvas' + c.getZr().storage.getDisplayList(true).map(function (e) { // too many marks for SVG in a page
			return e.type === 'tspan' ? '<text>' + e.style.text + '</text>' : '';
		}).join('');
	})`)
	if errs := page.Errors(); len(errs) > 0 {
		t.Errorf("errors in the page: %q", errs)
	}
	if len(browser) != len(figures) {
		t.Fatalf("%d figures in the browser, want %d", len(browser), len(figures))
	}
	for i, svg := range svgs {
		title := figures[i].Title.Title
		names, places := marks(svg)
		wantNames, wantPlaces := marks(browser[i])
		if strings.HasPrefix(browser[i], "canvas") { // only the texts can be compared
			names = slices.DeleteFunc(names, func(n string) bool { return !strings.HasPrefix(n, "text") })
			places = make([][]float64, len(wantPlaces))
		}
		if len(names) < 10 {
			t.Errorf("%s: only %d marks", title, len(names))
		}
		if !slices.Equal(names, wantNames) {
			k := 0
			for k < min(len(names), len(wantNames)) && names[k] == wantNames[k] {
				k++
			}
			t.Errorf("%s: %d marks, in the browser %d; from mark %d: %q, in the browser %q", title, len(names), len(wantNames), k, names[k:min(k+5, len(names))], wantNames[k:min(k+5, len(wantNames))])
			continue
		}
		for k := range names {
			if len(places[k]) != len(wantPlaces[k]) {
				t.Errorf("%s: %s %d has another shape: %v, in the browser %v", title, names[k], k, places[k], wantPlaces[k])
				break
			}
			for j, v := range places[k] {
				if math.Abs(v-wantPlaces[k][j]) > 2 { // a browser rounds the letters of a long text
					t.Errorf("%s: %s %d is at %v, in the browser at %v", title, names[k], k, places[k], wantPlaces[k])
					break
				}
			}
		}
	}

	page = open("still.html", still)
	page.Until(`document.fonts.check('12px F') && document.fonts.size >= 2`)
	var bad []string
	page.Do(&bad, `return Array.from(document.querySelectorAll('section > svg')).flatMap(function (svg, n) {
		var out = [], box = svg.getBoundingClientRect(), texts = Array.from(svg.querySelectorAll('text'), function (e) {
			return { r: e.getBoundingClientRect(), words: e.textContent };
		}).filter(function (t) { return t.words.trim(); });
		texts.forEach(function (a, i) {
			if (a.r.left < box.left - 1 || a.r.right > box.right + 1 || a.r.top < box.top - 1 || a.r.bottom > box.bottom + 1) out.push('figure ' + n + ': "' + a.words + '" is cut off');
			texts.slice(0, i).forEach(function (b) {
				// Boxes are a line high, letters less.
				if (Math.min(a.r.right, b.r.right) - Math.max(a.r.left, b.r.left) > 2 && Math.min(a.r.bottom, b.r.bottom) - Math.max(a.r.top, b.r.top) > 4) out.push('figure ' + n + ': "' + a.words + '" covers "' + b.words + '"');
			});
		});
		return out;
	})`)
	for _, s := range bad {
		t.Error(s)
	}
	if errs := page.Errors(); len(errs) > 0 {
		t.Errorf("errors in the page: %q", errs)
	}
}

// What cannot be drawn is refused without a browser as it is in one.
func TestStaticFiguresRefuseNaN(t *testing.T) {
	c := must[*Chart](t)(Margins(moons(t, 40, 1, 1).margins()))
	c.AddSeries("bad", []opts.ScatterData{{Value: math.NaN()}})
	var bad *echarts.ChartError
	if _, err := static.SVG(c, static.Options{}); !errors.As(err, &bad) || !strings.HasPrefix(bad.Path, "series[") {
		t.Errorf("error %v, want a *ChartError that names the series", err)
	}
	var v any
	if _, err := static.PNG(c, static.Options{}); !errors.As(err, &bad) || json.Unmarshal([]byte(`"`+bad.Path+`"`), &v) != nil {
		t.Errorf("error %v, want a *ChartError", err)
	}
}
