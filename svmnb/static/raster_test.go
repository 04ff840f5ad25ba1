package static

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-fonts/dejavu/dejavusans"
	"github.com/go-fonts/dejavu/dejavusansbold"
	"github.com/svmnb/svmnb/internal/browsertest"
	"pgregory.net/rapid"
)

// covered draws marks on 200 x 200 pixels and returns the area that they cover.
func covered(t interface{ Fatal(...any) }, marks string) float64 {
	img, err := raster([]byte(`<svg width="200" height="200">`+marks+`</svg>`), 1)
	if err != nil {
		t.Fatal(marks, err)
	}
	sum := 0.0
	for i := 3; i < len(img.Pix); i += 4 {
		sum += float64(img.Pix[i]) / 255
	}
	return sum
}

func TestFillCoversTheArea(t *testing.T) {
	square := func(a, b float64) string { return fmt.Sprintf("M%v %[1]vL%v %[1]vL%[2]v %[2]vL%[1]v %[2]vZ", a, b) }
	const hole = "M30 30L30 60L60 60L60 30Z"
	for _, test := range []struct {
		name, d string
		want    float64
	}{
		{"square", square(10, 50), 1600},
		{"between pixels", square(10.25, 50.75), 40.5 * 40.5},
		{"twice is once", square(10, 50) + square(10, 50), 1600},
		{"overlap", square(10, 50) + square(30, 70), 1600 + 1600 - 400},
		{"hole", square(10, 80) + hole, 4900 - 900},
		{"cut by the edge", square(-50, 50), 2500},
		{"over all", square(-1e9, 1e9), 40000},
		{"outside", square(300, 400), 0},
		{"empty", "", 0},
		{"a point", "M5 5", 0},
		{"no end", "M10 10L50 10L50 50L10 50", 1600},
		{"relative", "M10 10l40 0l0 40l-40 0Zl10 0l0 -10l-10 0L10 10", 1700},
		{"powers of ten", "M1e1 10L.5e2 10L50 5e1L10 50Z", 1600},
		{"arcs", "M100 60A40 40 0 1 1 100 140A40 40 0 1 1 100 60", math.Pi * 1600},
		{"a large arc", "M100 60A40 40 0 1 1 60 100L100 100Z", math.Pi * 1200},
		{"a small arc the other way", "M100 60A40 40 0 0 0 60 100L100 100Z", math.Pi * 400},
		{"arcs that have grown to fit", "M50 50A10 10 0 0 1 90 50Z", math.Pi * 200},
		{"a turned ellipse that has grown", "M60 100A40 20 30 1 1 140 100A40 20 30 1 1 60 100", math.Pi * 800 * 1.75},
		{"Q", "M10 50Q30 10 50 50Q70 90 90 50L90 90L10 90Z", 3200},
		{"C", "M10 50C20 10 40 10 50 50C60 90 80 90 90 50L90 90L10 90Z", 3200},
	} {
		if got := covered(t, `<path d="`+test.d+`"/>`); math.Abs(got-test.want) > 0.004*test.want+1e-3 {
			t.Errorf("%s: area %v, want %v", test.name, got, test.want)
		}
	}
	for _, d := range []string{"10 10", "M10", "L1 1", "M1 1L", "M1 1A1 1 0 2 0 3", "M1 1Z 5 5", "M1 1X2 2", "M NaN 1", "M1e999 1"} {
		if _, err := parsePath(d); err == nil {
			t.Errorf("%q: no error", d)
		}
	}
}

// The area of a triangle anywhere is what the cross product says.
func TestFillOfTriangles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOfN(rapid.Float64Range(0, 200), 6, 6).Draw(t, "corners")
		want := math.Abs((p[2]-p[0])*(p[5]-p[1])-(p[3]-p[1])*(p[4]-p[0])) / 2
		around := math.Hypot(p[2]-p[0], p[3]-p[1]) + math.Hypot(p[4]-p[2], p[5]-p[3]) + math.Hypot(p[0]-p[4], p[1]-p[5])
		if got := covered(t, `<polygon points="`+strings.Trim(fmt.Sprint(p), "[]")+`"/>`); math.Abs(got-want) > 0.05+around/32 {
			t.Fatalf("area %v, want %v", got, want)
		}
	})
}

func TestStrokeCoversTheArea(t *testing.T) {
	const line, angle = "20,50 120,50", "20,150 20,50 120,50"
	for _, test := range []struct {
		name, points, pen string
		want              float64
	}{
		{"butt", line, ``, 1000},
		{"square caps", line, `stroke-linecap="square"`, 1100},
		{"round caps", line, `stroke-linecap="round"`, 1000 + 25*math.Pi},
		{"miter", angle, ``, 2000},
		{"miter beyond its limit", angle, `stroke-miterlimit="1.1"`, 2000 - 12.5},
		{"bevel", angle, `stroke-linejoin="bevel"`, 2000 - 12.5},
		{"round join", angle, `stroke-linejoin="round"`, 2000 - 25 + 25*math.Pi/4},
		{"dashes", line, `stroke-dasharray="6,4"`, 600},
		{"odd dashes", line, `stroke-dasharray="10"`, 500},
		{"offset dashes", line, `stroke-dasharray="50,50" stroke-dashoffset="25"`, 500},
		{"dashes before the line", line, `stroke-dasharray="50,50" stroke-dashoffset="-25"`, 500},
		{"dashed corner", angle, `stroke-dasharray="150,1000"`, 1500},
		{"dashes of nothing", line, `stroke-dasharray="0,0"`, 1000},
		{"there and back", "20,50 120,50 20,50", ``, 1000},
		{"standing still", "20,50 20,50", ``, 0},
		{"no points", "", ``, 0},
	} {
		if got := covered(t, `<polyline fill="none" stroke="red" stroke-width="10" points="`+test.points+`" `+test.pen+`/>`); math.Abs(got-test.want) > 0.01*test.want+1e-3 {
			t.Errorf("%s: area %v, want %v", test.name, got, test.want)
		}
	}
	if got, want := covered(t, `<circle cx="100" cy="100" r="60" fill="none" stroke="red" stroke-width="8"/>`), 2*math.Pi*60*8; math.Abs(got-want) > 0.006*want {
		t.Errorf("a ring has the area %v, want %v", got, want)
	}
}

// What the rasteriser does not know, or cannot read, is an error.
func TestRasterRefuses(t *testing.T) {
	doc := func(inside string) string {
		return `<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20">` + inside + `</svg>`
	}
	for _, test := range []struct{ svg, words string }{
		{"", "unreadable SVG"}, {"<svg", "unreadable SVG"}, {"<svg></svg>", "empty or larger"}, {`<svg width="1e9" height="5"/>`, "larger than"}, {`<svg width="NaN" height="5"/>`, "empty or larger"},
		{doc(`<foreignObject/>`), "<foreignObject>: is not a shape"}, {doc(`<path d="M1"/>`), "cannot be read"},
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
	half := color.NRGBA{255, 0, 0, 128}
	for _, test := range []struct {
		text string
		want color.NRGBA
	}{
		{"#f00", color.NRGBA{255, 0, 0, 255}}, {"#f008", color.NRGBA{255, 0, 0, 136}}, {"#ff000080", half}, {"rgba(255,0,0,0.5)", half}, {"rgb(255 0 0 / 0.5)", half}, {"Navy", color.NRGBA{0, 0, 128, 255}}, {"transparent", color.NRGBA{}},
	} {
		c, err := parseColor(test.text)
		if err != nil || c != test.want {
			t.Errorf("%s: %v, %v, want %v", test.text, c, err, test.want)
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
<rect x="180" y="10" width="100" height="60" fill="rgba(0,90,200,0.5)" stroke="#234" stroke-width="5" stroke-opacity="0.6"/>
<polyline points="300,80 330,15 345,80 380,20 420,80" fill="none" stroke="#a02" stroke-width="9"/>
<polyline points="440,80 470,15 485,80 520,20 560,80" fill="none" stroke="#072" stroke-width="9" stroke-linejoin="round" stroke-linecap="round"/>
<path d="M10 130C100 90 150 210 240 120C330 30 400 110 420 140" fill="none" stroke="#222" stroke-width="3" stroke-dasharray="12,5,3,5" stroke-linejoin="bevel"/>
<path d="M10 160L590 160" stroke="#e4e8ec"/><path d="M10 164.5L590 164.5" stroke="#888"/>
<path d="M1 0A1 1 0 1 1 1 -0.1A1 1 0 0 1 1 0" transform="matrix(20,0,0,12,480,125)" fill="#dd5f0d" stroke="#fff" stroke-width="0.2"/>
<g fill="#1b2733"><text x="10" y="200" style="font-size:17px;font-weight:600;">Figures: 29 of 120 points</text>
<text x="300" y="200" text-anchor="middle" dominant-baseline="central" style="font-size:13px">margin 1/‖w‖ = 0.1921 − x₁ ≤ ∞</text>
<text x="590" y="200" text-anchor="end" style="font-size:12px;font-style:italic">AVATAR, To Ty fi</text>
<text dominant-baseline="central" text-anchor="middle" y="-6" transform="matrix(0,-1,1,0,28,290)" style="font-size:12px">objective value</text>
<text x="80" y="260" style="font-size:30px" fill="#fff" stroke="#c03" stroke-width="4" paint-order="stroke" stroke-linejoin="round">Halo</text></g>
<image href="data:image/png;base64,` + base64.StdEncoding.EncodeToString(data.Bytes()) + `" x="180" y="230" width="160" height="120" preserveAspectRatio="none"/>
<circle r="1" transform="matrix(90,0,0,40,450,290)" fill="purple" opacity="0.4"/>
<path d="M400 240l100 0l0 100l-100 0ZM420 260l0 60l60 0l0 -60Z" fill="#080"/>
<polyline points="560,230 590,380" fill="none" stroke="#000" stroke-width="2" stroke-linecap="square"/>
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
		var root node
		if err := xml.Unmarshal(test.svg, &root); err != nil {
			t.Fatal(err)
		}
		var ours []float64
		root.read(map[string]string{}, func(n *node) {
			if n.XMLName.Local == "text" {
				ours = append(ours, newFace(n.attr["font-weight"], n.number("font-size", 12)).width(n.Text))
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
