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

// DejaVu Sans, roman and bold, has every sign that figures use, as ₁, ‖ and ∇,
// and is wider than the fonts of Windows, macOS and Android: what fits in it
// fits in them.
var roman, bold = sync.OnceValue(func() *typeface { return newTypeface(dejavusans.TTF) }),
	sync.OnceValue(func() *typeface { return newTypeface(dejavusansbold.TTF) })

// typeface is a font with what was asked of it so far. It is for one goroutine
// at a time; see lock.
type typeface struct {
	*sfnt.Font
	lock    sync.Mutex
	buffer  sfnt.Buffer
	units   fixed.Int26_6
	glyphs  map[rune]*glyph
	ascent  float64 // in ems, above the baseline
	descent float64 // below it
}

// glyph is a letter.
type glyph struct {
	index   sfnt.GlyphIndex
	advance float64      // in ems
	outline rasterx.Path // in the font's units, y down, the origin on the baseline
	drawn   bool
}

func newTypeface(data []byte) *typeface {
	f, err := sfnt.Parse(data)
	if err != nil {
		panic(err) // the font is part of the program
	}
	t := &typeface{Font: f, units: fixed.Int26_6(f.UnitsPerEm()), glyphs: map[rune]*glyph{}}
	m, err := f.Metrics(&t.buffer, t.units<<6, font.HintingNone)
	if err != nil {
		panic(err)
	}
	t.ascent, t.descent = t.ems(m.Ascent), t.ems(m.Descent)
	return t
}

// ems turns a length at t.units pixels per em into ems.
func (t *typeface) ems(v fixed.Int26_6) float64 { return float64(v) / 64 / float64(t.units) }

// glyph returns the letter for r, or the box that stands for what is missing.
func (t *typeface) glyph(r rune) *glyph {
	if g := t.glyphs[r]; g != nil {
		return g
	}
	g := &glyph{}
	g.index, _ = t.GlyphIndex(&t.buffer, r) // 0, the box, on error
	if a, err := t.GlyphAdvance(&t.buffer, g.index, t.units<<6, font.HintingNone); err == nil {
		g.advance = t.ems(a)
	}
	if g.index == 0 && wide(r) {
		g.advance = 1
	}
	t.glyphs[r] = g
	return g
}

// wide reports whether r is a sign of East Asia, which DejaVu lacks and every
// other font sets one em wide. ECharts takes the width of 国 for the height of
// a line.
func wide(r rune) bool {
	return r >= 0x2e80 && r <= 0xd7ff || r >= 0xf900 && r <= 0xfaff || r >= 0xff00 && r <= 0xff60
}

// kern is how much nearer b stands to a, in ems.
func (t *typeface) kern(a, b *glyph) float64 {
	k, err := t.Kern(&t.buffer, a.index, b.index, t.units<<6, font.HintingNone)
	if err != nil {
		return 0 // the font has no such pair
	}
	return t.ems(k)
}

// face is a typeface in a size.
type face struct {
	*typeface
	size float64 // pixels per em
}

// each calls do with every letter of the text and its place on the line, in
// pixels, and returns the width of the text.
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

// outlineOf returns the outline of g; the caller holds the lock.
func (t *typeface) outlineOf(g *glyph) rasterx.Path {
	if g.drawn {
		return g.outline
	}
	g.drawn = true
	loaded, err := t.LoadGlyph(&t.buffer, g.index, t.units<<6, nil)
	if err != nil {
		return nil // a letter without an outline, such as a coloured one
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

// fontOf reads a font the way CSS writes it: "bold 12px sans-serif".
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

// newFace returns the font of a weight of CSS: "", "normal", "bold" or a number.
func newFace(weight string, size float64) face {
	if strings.HasPrefix(weight, "bold") || weight >= "600" && weight <= "900" {
		return face{bold(), size}
	}
	return face{roman(), size}
}
