package static

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/go-fonts/dejavu/dejavusans"
	"github.com/go-fonts/dejavu/dejavusansbold"
	"github.com/srwiley/rasterx"
	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// DejaVu Sans, roman and bold, has all characters that figures use, such as ₁, ‖ and ∇. It
// is wider than the fonts of Windows, macOS and Android, so a text that fits in it fits in
// those.
var roman, bold = sync.OnceValue(func() *typeface { return newTypeface(dejavusans.TTF) }),
	sync.OnceValue(func() *typeface { return newTypeface(dejavusansbold.TTF) })

// typeface is a font with a cache of its glyphs. One goroutine at a time may use it; see
// lock.
type typeface struct {
	*sfnt.Font
	lock    sync.Mutex
	buffer  sfnt.Buffer
	units   fixed.Int26_6
	glyphs  map[rune]*glyph
	ascent  float64 // height above the baseline, in ems
	descent float64 // depth below the baseline, in ems
}

// glyph is the shape of a character.
type glyph struct {
	index   sfnt.GlyphIndex
	advance float64      // width in ems
	outline rasterx.Path // in units of the font, y downwards, with the origin on the baseline
	drawn   bool
}

func newTypeface(data []byte) *typeface {
	f, err := sfnt.Parse(data)
	if err != nil {
		panic(err) // cannot happen, since the font is embedded
	}
	t := &typeface{Font: f, units: fixed.Int26_6(f.UnitsPerEm()), glyphs: map[rune]*glyph{}}
	m, err := f.Metrics(&t.buffer, t.units<<6, font.HintingNone)
	if err != nil {
		panic(err)
	}
	t.ascent, t.descent = t.ems(m.Ascent), t.ems(m.Descent)
	return t
}

// ems converts a length from t.units pixels per em to ems.
func (t *typeface) ems(v fixed.Int26_6) float64 { return float64(v) / 64 / float64(t.units) }

// glyph returns the glyph of r, or the box that stands for a missing character.
func (t *typeface) glyph(r rune) *glyph {
	if g := t.glyphs[r]; g != nil {
		return g
	}
	g := &glyph{}
	g.index, _ = t.GlyphIndex(&t.buffer, r) // an error gives 0, the box
	if a, err := t.GlyphAdvance(&t.buffer, g.index, t.units<<6, font.HintingNone); err == nil {
		g.advance = t.ems(a)
	}
	if g.index == 0 && wide(r) {
		g.advance = 1
	}
	t.glyphs[r] = g
	return g
}

// wide reports whether r is an East Asian character. DejaVu has none of these; other fonts
// set them one em wide. ECharts uses the width of 国 as the height of a line.
func wide(r rune) bool {
	return r >= 0x2e80 && r <= 0xd7ff || r >= 0xf900 && r <= 0xfaff || r >= 0xff00 && r <= 0xff60
}

// kern returns how much b moves towards a, in ems.
func (t *typeface) kern(a, b *glyph) float64 {
	k, err := t.Kern(&t.buffer, a.index, b.index, t.units<<6, font.HintingNone)
	if err != nil {
		return 0 // the font has no kerning for this pair
	}
	return t.ems(k)
}

// face is a typeface of a certain size.
type face struct {
	*typeface
	size float64 // pixels per em
}

// each calls do for every glyph of the text with its place on the line, and returns the
// width of the text, both in pixels.
func (f face) each(text string, do func(g *glyph, x float64)) float64 {
	f.lock.Lock()
	defer f.lock.Unlock()
	x := 0.0
	var before *glyph
	for _, r := range text {
		g := f.glyph(r)
		if before != nil {
			x += f.kern(before, g) * f.size
		}
		if do != nil {
			do(g, x)
		}
		x += g.advance * f.size
		before = g
	}
	return x
}

func (f face) width(text string) float64 { return f.each(text, nil) }

// outlineOf returns the outline of g. The caller must hold the lock.
func (t *typeface) outlineOf(g *glyph) rasterx.Path {
	if g.drawn {
		return g.outline
	}
	g.drawn = true
	loaded, err := t.LoadGlyph(&t.buffer, g.index, t.units<<6, nil)
	if err != nil {
		return nil // a glyph without an outline, such as a coloured one
	}
	for _, s := range loaded {
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			g.outline.Start(s.Args[0])
		case sfnt.SegmentOpLineTo:
			g.outline.Line(s.Args[0])
		case sfnt.SegmentOpQuadTo:
			g.outline.QuadBezier(s.Args[0], s.Args[1])
		case sfnt.SegmentOpCubeTo:
			g.outline.CubeBezier(s.Args[0], s.Args[1], s.Args[2])
		}
	}
	return g.outline
}

var cssSize = regexp.MustCompile(`([\d.]+)px`)

// fontOf parses a font of CSS, such as "bold 12px sans-serif".
func fontOf(css string) face {
	style, _, _ := strings.Cut(css, "px")
	size := 12.0
	if m := cssSize.FindStringSubmatch(css); m != nil {
		size, _ = strconv.ParseFloat(m[1], 64)
	}
	weight := ""
	for _, w := range strings.Fields(style) {
		if w == "bold" || w == "bolder" || len(w) == 3 && w >= "100" && w <= "900" && strings.HasSuffix(w, "00") {
			weight = w
		}
	}
	return newFace(weight, size)
}

// newFace returns a font of a CSS weight ("", "normal", "bold" or a number) and size.
func newFace(weight string, size float64) face {
	if strings.HasPrefix(weight, "bold") || weight >= "600" && weight <= "900" {
		return face{bold(), size}
	}
	return face{roman(), size}
}
