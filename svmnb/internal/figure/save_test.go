package figure

import (
	"bytes"
	"encoding/base64"
	"errors"
	"image/png"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/internal/browsertest"
	"github.com/svmnb/svmnb/svmnb/internal/echarts"
)

// Every figure has buttons that save it as SVG and as PNG; here are some of each
// kind. Whatever draws it in the page, the file is as large as it is there and has the
// same texts, without a network.
func TestSaveFigures(t *testing.T) {
	figures := slices.Concat(classification(t)[:5], processes(t)[:3], evaluations(t)[:3], moving(t)[:3], multiples(t))
	var parts []string
	for _, c := range figures {
		parts = append(parts, must[echarts.Picture](t)(echarts.Draw(c)).HTML)
	}
	file := filepath.Join(t.TempDir(), "save.html")
	f := must[*os.File](t)(os.Create(file))
	if err := errors.Join(echarts.Page(f, "save", parts...), f.Close()); err != nil {
		t.Fatal(err)
	}
	page := browsertest.Open(t, file, browsertest.Options{Offline: true})
	page.Charts(len(figures))
	var saved []struct {
		Name, Href, Title string
		Wide, High        float64
		Texts             []string
	}
	page.Do(&saved, `
		const out = [], click = HTMLAnchorElement.prototype.click
		let file
		HTMLAnchorElement.prototype.click = function () { file = {name: this.download, href: this.href} }
		document.querySelectorAll('[data-drawn]').forEach(el => {
			const c = window.__svmEcharts.echarts.getInstanceByDom(el), tools = c.getOption().toolbox[0].feature
			for (const tool of ['mySVG', 'myPNG']) {
				file = {}
				tools[tool].onclick()
				out.push(Object.assign({title: tools[tool].title, wide: c.getWidth(), high: c.getHeight(), texts: Array.from(el.querySelectorAll('text'), e => e.textContent)}, file))
			}
		})
		HTMLAnchorElement.prototype.click = click
		return out`)
	if len(saved) != 2*len(figures) {
		t.Fatalf("%d files of %d figures", len(saved), len(figures))
	}
	for i, s := range saved {
		title := figures[i/2].Title.Title
		if i%2 == 0 {
			svg, isSVG := strings.CutPrefix(s.Href, "data:image/svg+xml;charset=UTF-8,")
			svg, err := url.PathUnescape(svg)
			if !isSVG || err != nil || !strings.HasSuffix(s.Name, ".svg") || s.Title != "save as SVG" {
				t.Errorf("%s: as SVG it is %s, %.60s, %v", title, s.Name, s.Href, err)
				continue
			}
			names, _ := marks(svg)
			var texts []string
			for _, n := range names {
				if words, is := strings.CutPrefix(n, "text "); is {
					texts = append(texts, words)
				}
			}
			if len(names) < 10 {
				t.Errorf("%s: the SVG has %d marks", title, len(names))
			}
			if s.Texts = slices.DeleteFunc(s.Texts, func(s string) bool { return strings.TrimSpace(s) == "" }); len(s.Texts) > 0 && len(texts) < len(s.Texts) {
				t.Errorf("%s: the SVG has %d texts, the page %d", title, len(texts), len(s.Texts))
			}
			continue
		}
		data, isPNG := strings.CutPrefix(s.Href, "data:image/png;base64,")
		raw, err := base64.StdEncoding.DecodeString(data)
		if !isPNG || err != nil || !strings.HasSuffix(s.Name, ".png") || s.Title != "save as PNG" {
			t.Errorf("%s: as PNG it is %s, %.60s, %v", title, s.Name, s.Href, err)
			continue
		}
		img, err := png.Decode(bytes.NewReader(raw))
		if err != nil || math.Abs(float64(img.Bounds().Dx())-2*s.Wide) > 2 || math.Abs(float64(img.Bounds().Dy())-2*s.High) > 2 {
			t.Errorf("%s: the PNG is %v for a chart of %v x %v, %v", title, img.Bounds(), s.Wide, s.High, err)
			continue
		}
		colours := map[[3]uint32]bool{}
		for y := 0; y < img.Bounds().Dy(); y += 7 {
			for x := 0; x < img.Bounds().Dx(); x += 7 {
				r, g, b, a := img.At(x, y).RGBA()
				if a != 0xffff {
					t.Fatalf("%s: the PNG is transparent", title)
				}
				colours[[3]uint32{r, g, b}] = true
			}
		}
		if len(colours) < 20 {
			t.Errorf("%s: the PNG has %d colours", title, len(colours))
		}
	}
	if errs := page.Errors(); len(errs) > 0 {
		t.Errorf("errors in the page: %q", errs)
	}
}
