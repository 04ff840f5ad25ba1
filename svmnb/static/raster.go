package static

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/gif" // decoders for data URIs
	_ "image/jpeg"
	"maps"
	"math"
	"strconv"
	"strings"

	"github.com/srwiley/rasterx"
	"golang.org/x/image/colornames"
	imagedraw "golang.org/x/image/draw"
	"golang.org/x/image/math/f64"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// raster draws an SVG document; scale is the number of pixels in a unit. It supports only
// what ECharts writes: shapes, texts of one line, linear and radial gradients, clip paths
// and embedded images. For anything else it returns an error. rasterx converts lines to
// areas, and x/image/vector draws the areas.
func raster(svg []byte, scale float64) (*image.RGBA, error) {
	root, ids := &node{}, map[string]*node{}
	if err := xml.Unmarshal(svg, root); err != nil {
		return nil, fmt.Errorf("static: unreadable SVG: %w", err)
	}
	root.read(map[string]string{}, func(n *node) { ids[n.attr["id"]] = n })
	w, h := root.number("width", 0), root.number("height", 0)
	if !(w > 0 && w <= mostWidth && h > 0 && h <= mostHeight) {
		return nil, fmt.Errorf("static: a picture of %v x %v is empty or larger than %d x %d", w, h, mostWidth, mostHeight)
	}
	p := &painter{img: image.NewRGBA(image.Rect(0, 0, int(math.Ceil(w*scale)), int(math.Ceil(h*scale)))), ids: ids}
	return p.img, p.all(root, rasterx.Matrix2D{A: scale, D: scale})
}

// node is an element of the document.
type node struct {
	XMLName  xml.Name
	Attrs    []xml.Attr        `xml:",any,attr"`
	Children []*node           `xml:",any"`
	Text     string            `xml:",chardata"`
	attr     map[string]string // attributes, including those from style and from enclosing groups
}

// own are the attributes of a group that its elements do not inherit.
var own = []string{"id", "transform", "clip-path", "style"}

// read fills the attributes of n and of all elements inside, and calls each for every
// element. around are the attributes of the enclosing group.
func (n *node) read(around map[string]string, each func(*node)) {
	n.attr = maps.Clone(around)
	for _, name := range own {
		delete(n.attr, name)
	}
	for _, a := range n.Attrs {
		n.attr[a.Name.Local] = strings.TrimSpace(a.Value)
	}
	for declaration := range strings.SplitSeq(n.attr["style"], ";") {
		if name, value, ok := strings.Cut(declaration, ":"); ok {
			n.attr[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	each(n)
	inherited := map[string]string{}
	if n.XMLName.Local == "g" {
		inherited = n.attr
	}
	for _, c := range n.Children {
		c.read(inherited, each)
	}
}

// number parses an attribute that is a number or a percentage.
func (n *node) number(name string, otherwise float64) float64 {
	text, percent := strings.CutSuffix(strings.TrimSuffix(n.attr[name], "px"), "%")
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || v-v != 0 {
		return otherwise
	}
	if percent {
		v /= 100
	}
	return v
}

// painter draws nodes on an image.
type painter struct {
	img  *image.RGBA
	ids  map[string]*node
	area vector.Rasterizer
}

// reference returns the element that url(#id) refers to.
func (p *painter) reference(url string) (*node, error) {
	n := p.ids[strings.TrimSuffix(strings.TrimPrefix(url, "url(#"), ")")]
	if n == nil {
		return nil, fmt.Errorf("%s is not in the document", url)
	}
	return n, nil
}

// all draws the elements inside n.
func (p *painter) all(n *node, m rasterx.Matrix2D) error {
	for _, c := range n.Children {
		if err := p.draw(c, m); err != nil {
			return fmt.Errorf("static: <%s>: %w", c.XMLName.Local, err)
		}
	}
	return nil
}

func (p *painter) draw(n *node, m rasterx.Matrix2D) error {
	switch n.XMLName.Local {
	case "defs", "title", "desc", "style", "metadata", "clipPath", "linearGradient", "radialGradient":
		return nil
	}
	inner, err := parseTransform(n.attr["transform"])
	if err != nil {
		return err
	}
	m = m.Mult(inner)
	if url := n.attr["clip-path"]; url != "" && url != "none" {
		return p.clip(n, url, m)
	}
	return p.mark(n, m)
}

// clip draws n on a separate image and copies the part inside a clip path.
func (p *painter) clip(n *node, url string, m rasterx.Matrix2D) error {
	path, err := p.reference(url)
	if err != nil {
		return err
	}
	hole := &edges{}
	for _, c := range path.Children {
		outline, err := outlineOf(c)
		if err != nil {
			return err
		}
		outline.AddTo(&rasterx.MatrixAdder{Adder: &rasterx.Filler{Scanner: hole}, M: toPixels(m)})
	}
	box := hole.pixels().Intersect(p.img.Bounds())
	mask := image.NewAlpha(box)
	p.fill(mask, hole, image.Opaque)
	below := p.img
	p.img = image.NewRGBA(box)
	err = p.mark(n, m)
	imagedraw.DrawMask(below, box, p.img, box.Min, mask, box.Min, imagedraw.Over)
	p.img = below
	return err
}

// mark draws n with the transformation m.
func (p *painter) mark(n *node, m rasterx.Matrix2D) error {
	switch n.XMLName.Local {
	case "g":
		return p.all(n, m)
	case "text":
		return p.shape(n, outlineOfText(n), m)
	case "image":
		return p.picture(n, m)
	}
	outline, err := outlineOf(n)
	if err != nil {
		return err
	}
	return p.shape(n, outline, m)
}

// outlineOf returns the outline of a shape, in the units that toPixels maps.
func outlineOf(n *node) (out rasterx.Path, err error) {
	switch name := n.XMLName.Local; name {
	case "path":
		return parsePath(n.attr["d"])
	case "rect":
		x, y, w, h := n.number("x", 0), n.number("y", 0), n.number("width", 0), n.number("height", 0)
		return polygon([]float64{x, y, x + w, y, x + w, y + h, x, y + h}, true), nil
	case "circle":
		rasterx.AddCircle(finer*n.number("cx", 0), finer*n.number("cy", 0), finer*n.number("r", 0), &out)
		return out, nil
	case "polyline", "polygon":
		list, err := numbers(n.attr["points"])
		return polygon(list, name == "polygon"), err
	}
	return nil, errors.New("is not a shape that can be drawn as an image")
}

// outlineOfText returns the outline of a text.
func outlineOfText(n *node) (outline rasterx.Path) {
	size := n.number("font-size", 12)
	f := newFace(n.attr["font-weight"], size)
	x, y := n.number("x", 0), n.number("y", 0)
	switch n.attr["text-anchor"] {
	case "middle":
		x -= f.width(n.Text) / 2
	case "end":
		x -= f.width(n.Text)
	}
	if n.attr["dominant-baseline"] == "central" {
		y += (f.ascent - f.descent) / 2 * size
	}
	lean := 0.0
	if n.attr["font-style"] == "italic" || n.attr["font-style"] == "oblique" {
		lean = 0.2 // slant of DejaVu Sans Oblique
	}
	em := finer * size / float64(f.units)
	f.each(n.Text, func(g *glyph, at float64) {
		f.outlineOf(g).AddTo(&rasterx.MatrixAdder{Adder: &outline, M: rasterx.Matrix2D{A: em, C: -lean * em, D: em, E: finer * (x + at), F: finer * y}})
	})
	return outline
}

// shape fills and strokes an outline.
func (p *painter) shape(n *node, outline rasterx.Path, m rasterx.Matrix2D) error {
	var inside, line edges
	outline.AddTo(&rasterx.MatrixAdder{Adder: &rasterx.Filler{Scanner: &inside}, M: toPixels(m)})
	scale := math.Sqrt(math.Abs(m.A*m.D - m.B*m.C))
	dashes, err := numbers(strings.ReplaceAll(strings.TrimPrefix(n.attr["stroke-dasharray"], "none"), "px", ""))
	if err != nil {
		return err
	}
	if width := n.number("stroke-width", 1) * scale; width > 0 && n.attr["stroke"] != "" && n.attr["stroke"] != "none" {
		period := 0.0
		for i := range dashes {
			dashes[i] = max(dashes[i], 0) * scale
			period += dashes[i]
		}
		if !(period > 0.5) || len(dashes) > 100 { // dashes would be too small to be seen
			dashes = nil
		}
		if len(dashes)%2 == 1 {
			dashes = append(dashes, dashes...)
		}
		offset := math.Mod(n.number("stroke-dashoffset", 0)*scale, max(2*period, 1))
		if offset < 0 {
			offset += 2 * period
		}
		join, ok := map[string]rasterx.JoinMode{"round": rasterx.Round, "bevel": rasterx.Bevel}[n.attr["stroke-linejoin"]]
		if !ok {
			join = rasterx.Miter
		}
		ends := map[string]rasterx.CapFunc{"round": rasterx.RoundCap, "square": rasterx.SquareCap}[n.attr["stroke-linecap"]]
		pen := &rasterx.Dasher{}
		pen.Scanner = &line
		pen.SetStroke(fixed.Int26_6(min(width, 1e4)*64), fixed.Int26_6(n.number("stroke-miterlimit", 4)*64), ends, nil, nil, join, dashes, offset)
		outline.AddTo(&rasterx.MatrixAdder{Adder: pen, M: toPixels(m)})
	}
	paint := func(what, usual string, where *edges) error {
		color, err := p.paint(n, what, usual, inside.box, m)
		if color != nil {
			p.fill(p.img, where, color)
		}
		return err
	}
	if strings.HasPrefix(n.attr["paint-order"], "stroke") {
		return errors.Join(paint("stroke", "none", &line), paint("fill", "black", &inside))
	}
	return errors.Join(paint("fill", "black", &inside), paint("stroke", "none", &line))
}

// edges are the edges of an area. The area is where their winding number is not 0.
type edges struct {
	rasterx.Scanner // Filler and Dasher call only the methods below
	list            [][2]fixed.Point26_6
	box             fixed.Rectangle26_6
	at              fixed.Point26_6
}

func (e *edges) Start(a fixed.Point26_6) { e.at = a }

func (e *edges) Line(b fixed.Point26_6) {
	for _, q := range []fixed.Point26_6{e.at, b} {
		e.box = e.box.Union(fixed.Rectangle26_6{Min: q, Max: q.Add(fixed.Point26_6{X: 1, Y: 1})})
	}
	e.list = append(e.list, [2]fixed.Point26_6{e.at, b})
	e.at = b
}

// pixels returns the rectangle of the pixels that the area touches.
func (e *edges) pixels() image.Rectangle {
	return image.Rect(e.box.Min.X.Floor(), e.box.Min.Y.Floor(), e.box.Max.X.Ceil(), e.box.Max.Y.Ceil())
}

// exact is the width from which on x/image/vector computes in floating point. Its
// fixed-point code moves steep lines by up to a pixel.
const exact = 513

// fill paints an area.
func (p *painter) fill(to imagedraw.Image, e *edges, paint image.Image) {
	box := e.pixels().Intersect(to.Bounds())
	if box.Empty() {
		return
	}
	p.area.Reset(max(box.Dx(), exact), box.Dy())
	on := func(q fixed.Point26_6) (x, y float32) {
		return float32(q.X)/64 - float32(box.Min.X), float32(q.Y)/64 - float32(box.Min.Y)
	}
	for _, l := range e.list {
		p.area.MoveTo(on(l[0]))
		p.area.LineTo(on(l[1]))
	}
	p.area.Draw(to, box, paint, box.Min)
}

// picture draws an embedded image.
func (p *painter) picture(n *node, m rasterx.Matrix2D) error {
	_, data, ok := strings.Cut(n.attr["href"], ";base64,")
	if !ok || !strings.HasPrefix(n.attr["href"], "data:image/") {
		return errors.New("only images embedded as base64 are drawn")
	}
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return err
	}
	src, _, err := image.Decode(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	size := src.Bounds().Size()
	w, h := n.number("width", float64(size.X)), n.number("height", float64(size.Y))
	m = m.Mult(rasterx.Matrix2D{A: w / float64(size.X), D: h / float64(size.Y), E: n.number("x", 0), F: n.number("y", 0)})
	imagedraw.BiLinear.Transform(p.img, f64.Aff3{m.A, m.C, m.E, m.B, m.D, m.F}, src, src.Bounds(), imagedraw.Over, nil)
	return nil
}

// paint parses the fill or the stroke of n; nil paints nothing. box is that of the shape in
// pixels, for gradients.
func (p *painter) paint(n *node, what, usual string, box fixed.Rectangle26_6, m rasterx.Matrix2D) (image.Image, error) {
	value := cmp.Or(n.attr[what], usual)
	opacity := min(max(n.number(what+"-opacity", 1)*n.number("opacity", 1), 0), 1)
	if value == "none" || opacity == 0 {
		return nil, nil
	}
	if strings.HasPrefix(value, "url(#") {
		def, err := p.reference(value)
		if err != nil {
			return nil, err
		}
		return newGradient(def, opacity, box, m)
	}
	c, err := parseColor(value)
	return image.NewUniform(fade(c, opacity)), err
}

// fade multiplies the opacity of a colour.
func fade(c color.NRGBA, opacity float64) color.NRGBA {
	c.A = uint8(float64(c.A)*min(max(opacity, 0), 1) + 0.5)
	return c
}

// gradient is an infinite image with colours along a line or around a point.
type gradient struct {
	stops []stop
	along func(x, y float64) float64 // the position of a pixel between the first stop (0) and the last (1)
}

type stop struct {
	at float64
	c  color.NRGBA
}

func newGradient(n *node, opacity float64, box fixed.Rectangle26_6, m rasterx.Matrix2D) (image.Image, error) {
	if n.attr["gradientUnits"] != "userSpaceOnUse" { // units of the shape's box
		part := func(v fixed.Int26_6) float64 { return float64(v) / 64 }
		m = rasterx.Matrix2D{A: part(box.Max.X - box.Min.X), D: part(box.Max.Y - box.Min.Y), E: part(box.Min.X), F: part(box.Min.Y)}
	}
	g := gradient{}
	back := m.Invert()
	switch n.XMLName.Local {
	case "linearGradient":
		x1, y1 := n.number("x1", 0), n.number("y1", 0)
		dx, dy := n.number("x2", 1)-x1, n.number("y2", 0)-y1
		g.along = func(x, y float64) float64 {
			x, y = back.Transform(x, y)
			return ((x-x1)*dx + (y-y1)*dy) / (dx*dx + dy*dy)
		}
	case "radialGradient":
		cx, cy, r := n.number("cx", 0.5), n.number("cy", 0.5), n.number("r", 0.5)
		g.along = func(x, y float64) float64 {
			x, y = back.Transform(x, y)
			return math.Hypot(x-cx, y-cy) / r
		}
	default:
		return nil, fmt.Errorf("a fill by a %s cannot be drawn as an image", n.XMLName.Local)
	}
	for _, c := range n.Children {
		col, err := parseColor(c.attr["stop-color"])
		if err != nil {
			return nil, err
		}
		g.stops = append(g.stops, stop{c.number("offset", 0), fade(col, opacity*c.number("stop-opacity", 1))})
	}
	if g.stops == nil {
		return nil, nil
	}
	return g, nil
}

func (gradient) ColorModel() color.Model { return color.NRGBAModel }
func (gradient) Bounds() image.Rectangle { return image.Rect(-1e9, -1e9, 1e9, 1e9) }

func (g gradient) At(x, y int) color.Color {
	t, before := g.along(float64(x)+0.5, float64(y)+0.5), g.stops[0]
	for _, s := range g.stops {
		if t < s.at && s.at > before.at {
			k := max(0, (t-before.at)/(s.at-before.at))
			mix := func(a, b uint8) uint8 { return uint8(float64(a) + k*(float64(b)-float64(a)) + 0.5) }
			return color.NRGBA{mix(before.c.R, s.c.R), mix(before.c.G, s.c.G), mix(before.c.B, s.c.B), mix(before.c.A, s.c.A)}
		}
		before = s
	}
	return before.c
}

// parseColor parses a colour of CSS: #rgb, #rrggbb, #rrggbbaa, rgb(), rgba() or a name.
func parseColor(s string) (color.NRGBA, error) {
	s = strings.ToLower(s)
	if named, ok := colornames.Map[s]; ok {
		return color.NRGBA(named), nil
	}
	var v []float64
	var err error
	if hex, ok := strings.CutPrefix(s, "#"); ok {
		digits := max(1, len(hex)/3)
		if len(hex) == 4 {
			digits = 1
		}
		for ; len(hex) >= digits && err == nil; hex = hex[digits:] {
			var part uint64
			part, err = strconv.ParseUint(strings.Repeat(hex[:digits], 3-digits), 16, 8)
			v = append(v, float64(part))
		}
		if len(v) == 4 {
			v[3] /= 255
		}
	} else if list, ok := strings.CutPrefix(strings.Replace(s, "rgba(", "rgb(", 1), "rgb("); ok {
		v, err = numbers(strings.TrimSuffix(strings.ReplaceAll(list, "/", " "), ")"))
	} else if s == "transparent" {
		v = make([]float64, 4)
	}
	if len(v) == 3 {
		v = append(v, 1)
	}
	if err != nil || len(v) != 4 {
		return color.NRGBA{}, fmt.Errorf("the colour %q is not known: write it as #rrggbb", s)
	}
	part := func(v float64) uint8 { return uint8(min(max(v, 0), 255) + 0.5) }
	return color.NRGBA{part(v[0]), part(v[1]), part(v[2]), part(255 * v[3])}, nil
}
