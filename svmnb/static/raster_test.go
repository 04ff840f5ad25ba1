package static

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-fonts/dejavu/dejavusans"
	"github.com/go-fonts/dejavu/dejavusansbold"
	"github.com/svmnb/svmnb/internal/browsertest"
	"pgregory.net/rapid"
)

// covered is the area of a mask.
func covered(m *mask) float64 {
	sum := 0.0
	for _, v := range m.cover {
		sum += float64(v)
	}
	return sum
}

var canvas = image.Rect(0, 0, 200, 200)

func TestFillCoversTheArea(t *testing.T) {
	square := func(a, b float64) []point { return []point{{a, a}, {b, a}, {b, b}, {a, b}} }
	hole := square(30, 60)
	slices.Reverse(hole)
	for _, test := range []struct {
		name    string
		rings   [][]point
		evenOdd bool
		want    float64
	}{
		{"square", [][]point{square(10, 50)}, false, 1600},
		{"between pixels", [][]point{square(10.25, 50.75)}, false, 40.5 * 40.5},
		{"twice is once", [][]point{square(10, 50), square(10, 50)}, false, 1600},
		{"overlap", [][]point{square(10, 50), square(30, 70)}, false, 1600 + 1600 - 400},
		{"hole", [][]point{square(10, 80), hole}, false, 4900 - 900},
		{"even-odd", [][]point{square(10, 80), square(30, 60)}, true, 4900 - 900},
		{"cut by the edge", [][]point{square(-50, 50)}, false, 2500},
		{"over all", [][]point{square(-1e9, 1e9)}, false, 40000},
		{"outside", [][]point{square(300, 400)}, false, 0},
		{"empty", nil, false, 0},
		{"a point", [][]point{{{5, 5}}}, false, 0},
		{"NaN", [][]point{{{5, 5}, {math.NaN(), 7}, {9, 9}}}, false, 0},
	} {
		if got := covered(fill(test.rings, canvas, test.evenOdd)); math.Abs(got-test.want) > 0.002*test.want+1e-3 {
			t.Errorf("%s: area %v, want %v", test.name, got, test.want)
		}
	}
}

// The area of a triangle anywhere is what the cross product says.
func TestFillOfTriangles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		corner := func(name string) point {
			return point{rapid.Float64Range(0, 200).Draw(t, name+".x"), rapid.Float64Range(0, 200).Draw(t, name+".y")}
		}
		a, b, c := corner("a"), corner("b"), corner("c")
		u, v := b.sub(a), c.sub(a)
		want := math.Abs(u.x*v.y-u.y*v.x) / 2
		around := u.length() + v.length() + c.sub(b).length()
		if got := covered(fill([][]point{{a, b, c}}, canvas, false)); math.Abs(got-want) > 0.05+around/(2*lanes) {
			t.Fatalf("area %v, want %v", got, want)
		}
	})
}

func TestStrokeCoversTheArea(t *testing.T) {
	line := []polyline{{points: []point{{20, 50}, {120, 50}}}}
	angle := []polyline{{points: []point{{20, 150}, {20, 50}, {120, 50}}}}
	ring := flatten(ellipse(100, 100, 60, 60), identity)
	for _, test := range []struct {
		name  string
		lines []polyline
		pen   pen
		want  float64
	}{
		{"butt", line, pen{width: 10}, 1000},
		{"square caps", line, pen{width: 10, cap: "square"}, 1100},
		{"round caps", line, pen{width: 10, cap: "round"}, 1000 + 25*math.Pi},
		{"miter", angle, pen{width: 10, miterLimit: 4}, 2000},
		{"miter beyond its limit", angle, pen{width: 10, miterLimit: 1.1}, 2000 - 12.5},
		{"bevel", angle, pen{width: 10, join: "bevel"}, 2000 - 12.5},
		{"round join", angle, pen{width: 10, join: "round"}, 2000 - 25 + 25*math.Pi/4},
		{"ring", ring, pen{width: 8, miterLimit: 4}, 2 * math.Pi * 60 * 8},
		{"dashes", line, pen{width: 10, dashes: []float64{6, 4}}, 600},
		{"odd dashes", line, pen{width: 10, dashes: []float64{10}}, 500},
		{"offset dashes", line, pen{width: 10, dashes: []float64{50, 50}, offset: 25}, 500},
		{"dashed corner", angle, pen{width: 10, dashes: []float64{150, 1000}, miterLimit: 4}, 1500},
		{"dashes of nothing", line, pen{width: 10, dashes: []float64{0, 0}}, 1000},
		{"there and back", []polyline{{points: []point{{20, 50}, {120, 50}, {20, 50}}}}, pen{width: 10, miterLimit: 4}, 1000},
		{"standing still", []polyline{{points: []point{{20, 50}, {20, 50}}}}, pen{width: 10}, 0},
		{"a dot", []polyline{{points: []point{{20, 50}}}}, pen{width: 10, cap: "round"}, 25 * math.Pi},
		{"nothing", nil, pen{width: 10}, 0},
	} {
		if got := covered(fill(test.pen.stroke(test.lines), canvas, false)); math.Abs(got-test.want) > 0.006*test.want+1e-3 {
			t.Errorf("%s: area %v, want %v", test.name, got, test.want)
		}
	}
}

func TestParsePath(t *testing.T) {
	for _, test := range []struct {
		d    string
		area float64
	}{
		{"M10 10L50 10L50 50L10 50Z", 1600},
		{"M10,10 50,10 50,50 10,50", 1600},
		{"m10 10h40v40h-40z", 1600},
		{"M10 10H50V50H10Zm50 0l10 0 0 10-10 0z", 1700},
		{"M1e1 10L.5e2 10 50 5e1 10 50Z", 1600},
		{"M100 60A40 40 0 1 1 100 140A40 40 0 1 1 100 60", math.Pi * 1600},
		{"M100 60a40 40 0 11 0 80a40 40 0 11 0-80", math.Pi * 1600},
		{"M50 50A10 10 0 0 1 90 50Z", math.Pi * 200}, // grown to fit
		{"M10 50Q30 10 50 50T90 50L90 90L10 90Z", 3200},
		{"M10 50C20 10 40 10 50 50S80 90 90 50L90 90L10 90Z", 3200},
		{"", 0},
	} {
		outline, err := parsePath(test.d)
		if err != nil {
			t.Errorf("%s: %v", test.d, err)
			continue
		}
		if got := covered(fill(rings(flatten(outline, identity)), canvas, false)); math.Abs(got-test.area) > 0.003*test.area+1e-3 {
			t.Errorf("%s: area %v, want %v", test.d, got, test.area)
		}
	}
	for _, d := range []string{"10 10", "M10", "M1 1L", "M1 1A1 1 0 2 0 3 3", "M1 1Z 5 5", "M1 1X2 2", "M NaN 1", "M1e999 1"} {
		if _, err := parsePath(d); err == nil {
			t.Errorf("%q: no error", d)
		}
	}
}

// What the rasteriser does not know, or cannot read, is an error.
func TestRasterRefuses(t *testing.T) {
	doc := func(inside string) string {
		return `<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20">` + inside + `</svg>`
	}
	for _, test := range []struct{ svg, words string }{
		{"", "unreadable SVG"}, {"<svg", "unreadable SVG"}, {"<svg></svg>", "no size"}, {`<svg width="1e9" height="5"/>`, "larger than"}, {`<svg width="NaN" height="5"/>`, "empty or larger"},
		{doc(`<foreignObject/>`), "<foreignObject>: is not a shape"}, {doc(`<path d="M1"/>`), "lacks a number"},
		{doc(`<rect width="9" height="9" fill="hotch"/>`), `"hotch" is not known`}, {doc(`<rect width="9" height="9" fill="url(#x)"/>`), "not in the document"},
		{doc(`<g clip-path="url(#x)"/>`), "not in the document"}, {doc(`<pattern id="p"/><rect width="9" height="9" fill="url(#p)"/>`), "pattern"},
		{doc(`<image href="http://example.org/a.png"/>`), "embedded"}, {doc(`<image href="data:image/png;base64,AAAA"/>`), "image"},
		{doc(`<rect transform="spin(3)"/>`), "spin"},
	} {
		if _, err := raster([]byte(test.svg), 1); err == nil || !strings.Contains(err.Error(), test.words) {
			t.Errorf("%s: error %v, want %q", test.svg, err, test.words)
		}
	}
}

func FuzzRaster(f *testing.F) {
	f.Add("M10 10A5 5 0 1 1 3 3C1 1 2 2 3 3Z", "rotate(30 5 5)scale(2)", "4,2", "#fa0")
	f.Add("M0 0L1e300 1e300", "matrix(0,0,0,0,5,5)", "1e-300", "rgba(1,2,3,.5)")
	f.Add("M0 0L1e300 1e300", "", "4,2", "red")
	f.Add("M0 0L1e7 1e7", "scale(1e3)", "4,2", "red")
	f.Add("M5 5h0v0z", "", "0 1e9", "none")
	f.Fuzz(func(t *testing.T, d, transform, dashes, colour string) {
		svg := fmt.Sprintf(`<svg width="30" height="30"><path d=%q transform=%q stroke-dasharray=%q stroke=%q fill=%[4]q stroke-width="3"/></svg>`, d, transform, dashes, colour)
		_, _ = raster([]byte(svg), 1) // neither panics nor hangs
	})
}

func TestColours(t *testing.T) {
	half := color.RGBA{128, 0, 0, 128}
	for _, test := range []struct {
		text string
		want color.RGBA
	}{
		{"#f00", color.RGBA{255, 0, 0, 255}}, {"#ff000080", half}, {"rgba(255,0,0,0.5)", half}, {"rgb(255 0 0 / 0.5)", half}, {"Navy", color.RGBA{0, 0, 128, 255}}, {"transparent", color.RGBA{}},
	} {
		c, err := parseColor(test.text)
		got := color.RGBA{uint8(c[0]*255 + 0.5), uint8(c[1]*255 + 0.5), uint8(c[2]*255 + 0.5), uint8(c[3]*255 + 0.5)}
		if err != nil || got != test.want {
			t.Errorf("%s: %v, %v, want %v", test.text, got, err, test.want)
		}
	}
}

// sampler is a document with all that the rasteriser knows.
func sampler(t *testing.T) []byte {
	small := image.NewNRGBA(image.Rect(0, 0, 4, 3))
	for i := range small.Pix {
		small.Pix[i] = uint8(i * 37)
		if i%4 == 3 {
			small.Pix[i] = 200
		}
	}
	var data bytes.Buffer
	if err := png.Encode(&data, small); err != nil {
		t.Fatal(err)
	}
	return []byte(`<svg xmlns="http://www.w3.org/2000/svg" width="600" height="400" viewBox="0 0 600 400">
<rect width="600" height="400" fill="#fff"/>
<g clip-path="url(#c)"><rect x="10" y="10" width="120" height="80" fill="url(#l)"/><circle cx="130" cy="50" r="40" fill="url(#r)" fill-opacity="0.8"/></g>
<rect x="180" y="10" width="100" height="60" rx="15" fill="rgba(0,90,200,0.5)" stroke="#234" stroke-width="5" stroke-opacity="0.6"/>
<polyline points="300,80 330,15 345,80 380,20 420,80" fill="none" stroke="#a02" stroke-width="9"/>
<polyline points="440,80 470,15 485,80 520,20 560,80" fill="none" stroke="#072" stroke-width="9" stroke-linejoin="round" stroke-linecap="round"/>
<path d="M10 130C100 90 150 210 240 120S400 110 420 140" fill="none" stroke="#222" stroke-width="3" stroke-dasharray="12,5,3,5" stroke-linejoin="bevel"/>
<path d="M10 160H590" stroke="#e4e8ec"/><path d="M10 164.5H590" stroke="#888"/>
<path d="M1 0A1 1 0 1 1 1 -0.1A1 1 0 0 1 1 0" transform="matrix(20,0,0,12,480,125)" fill="#dd5f0d" stroke="#fff" stroke-width="0.2"/>
<g fill="#1b2733"><text x="10" y="200" style="font-size:17px;font-weight:600;">Figures: 29 of 120 points</text>
<text x="300" y="200" text-anchor="middle" dominant-baseline="central" style="font-size:13px">margin 1/‖w‖ = 0.1921 − x₁ ≤ ∞</text>
<text x="590" y="200" text-anchor="end" style="font-size:12px;font-style:italic">AVATAR, To Ty fi</text>
<text dominant-baseline="central" text-anchor="middle" y="-6" transform="matrix(0,-1,1,0,28,290)" style="font-size:12px">objective value</text>
<text x="80" y="260" style="font-size:30px" fill="#fff" stroke="#c03" stroke-width="4" paint-order="stroke" stroke-linejoin="round">Halo</text></g>
<image href="data:image/png;base64,` + base64.StdEncoding.EncodeToString(data.Bytes()) + `" x="180" y="230" width="160" height="120" preserveAspectRatio="none"/>
<g opacity="0.4"><ellipse cx="450" cy="290" rx="90" ry="40" fill="purple"/></g>
<path d="M400 240h100v100h-100zM420 260h60v60h-60z" fill="#080" fill-rule="evenodd"/>
<line x1="560" y1="230" x2="590" y2="380" stroke="#000" stroke-width="2" stroke-linecap="square"/>
<defs><clipPath id="c"><rect x="20" y="20" width="130" height="60"/></clipPath>
<linearGradient id="l" x1="0" y1="0" x2="1" y2="0.5"><stop offset="0" stop-color="#1d64ad"/><stop offset="40%" stop-color="#fff" stop-opacity="0.5"/><stop offset="1" stop-color="#dd5f0d"/></linearGradient>
<radialGradient id="r" cx="0.4" cy="0.5" r="0.6"><stop offset="0.1" stop-color="gold"/><stop offset="1" stop-color="#063"/></radialGradient></defs>
</svg>`)
}

// The same document in Chromium and in Go, with the same font.
func TestRasterAsInABrowser(t *testing.T) {
	chart, err := SVG(bar("In a browser and in Go", 3, 1, 2), Options{Dark: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		svg  []byte
	}{{"sampler", sampler(t)}, {"chart", chart}} {
		page := `<!DOCTYPE html><meta charset="utf-8"><style>
@font-face{font-family:F;src:url(data:font/ttf;base64,` + base64.StdEncoding.EncodeToString(dejavusans.TTF) + `)}
@font-face{font-family:F;font-weight:bold;src:url(data:font/ttf;base64,` + base64.StdEncoding.EncodeToString(dejavusansbold.TTF) + `)}
body{margin:0}svg{display:block}text{font-family:F!important}</style>` + string(test.svg)
		file := filepath.Join(t.TempDir(), "page.html")
		if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
		width, height, err := extent(string(test.svg))
		if err != nil {
			t.Fatal(err)
		}
		p := browsertest.Open(t, file, browsertest.Options{Width: width, Height: height, Offline: true})
		p.Until(`document.fonts.status === 'loaded'`)
		shot := filepath.Join(t.TempDir(), "browser.png")
		p.Picture(shot)
		data, err := os.ReadFile(shot)
		if err != nil {
			t.Fatal(err)
		}
		want, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		got, err := raster(test.svg, 1)
		if err != nil {
			t.Fatal(err)
		}
		if dir := os.Getenv("SVMNB_PICTURES"); dir != "" {
			ours, err := rasterPNG(test.svg, 1)
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, test.name+"-go.png"), ours, 0o644)
			}
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, test.name+"-browser.png"), data, 0o644)
			}
			if err != nil {
				t.Error(err)
			}
		}
		if got.Bounds() != want.Bounds() {
			t.Fatalf("%s: %v, in the browser %v", test.name, got.Bounds(), want.Bounds())
		}
		sum, far := 0.0, 0
		for y := range height {
			for x := range width {
				p, q := got.RGBAAt(x, y), color.RGBAModel.Convert(want.At(x, y)).(color.RGBA)
				d := math.Abs(float64(p.R)-float64(q.R)) + math.Abs(float64(p.G)-float64(q.G)) + math.Abs(float64(p.B)-float64(q.B))
				if sum += d; d > 3*128 {
					far++
				}
			}
		}
		mean := sum / (3 * 255 * float64(width*height))
		t.Logf("%s: mean difference %.3f%%, %d pixels far off", test.name, 100*mean, far)
		if mean > 0.01 || far > width*height/500 {
			t.Errorf("%s: pixels differ by %.2f%% on average, %d of %d by more than half", test.name, 100*mean, far, width*height)
		}
		var widths []float64
		p.Do(&widths, `return Array.from(document.querySelectorAll('text'), e => e.getComputedTextLength())`)
		root, err := parse(test.svg)
		if err != nil {
			t.Fatal(err)
		}
		var ours []float64
		root.walk(func(n *node) {
			if n.name == "text" {
				size := state{style: n.attr}.number("font-size", 12)
				ours = append(ours, newFace(n.attr["font-weight"], size).width(n.text))
			}
		})
		if len(ours) != len(widths) || len(ours) == 0 {
			t.Fatalf("%s: %d texts, in the browser %d", test.name, len(ours), len(widths))
		}
		for i, w := range widths {
			if math.Abs(ours[i]-w) > 0.01*w+0.5 {
				t.Errorf("%s: text %d is %v wide, in the browser %v", test.name, i, ours[i], w)
			}
		}
	}
}
