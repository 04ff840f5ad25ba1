package static

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/gif" // in data URIs
	_ "image/jpeg"
	"io"
	"math"
	"strconv"
	"strings"

	"golang.org/x/image/colornames"
)

// raster draws an SVG document, scale pixels to its unit. It knows what
// ECharts writes, no more: shapes, text on one line, linear and radial
// gradients, clip paths and embedded images. What it does not know is an error.
func raster(svg []byte, scale float64) (*image.RGBA, error) {
	root, err := parse(svg)
	if err != nil {
		return nil, fmt.Errorf("static: unreadable SVG: %w", err)
	}
	w, errW := strconv.ParseFloat(root.attr["width"], 64)
	h, errH := strconv.ParseFloat(root.attr["height"], 64)
	if err := errors.Join(errW, errH); err != nil {
		return nil, fmt.Errorf("static: the SVG has no size: %w", err)
	}
	if !(w > 0 && w <= mostWidth && h > 0 && h <= mostHeight) {
		return nil, fmt.Errorf("static: a picture of %v x %v is empty or larger than %d x %d", w, h, mostWidth, mostHeight)
	}
	p := &painter{
		img: image.NewRGBA(image.Rect(0, 0, int(math.Ceil(w*scale)), int(math.Ceil(h*scale)))),
		ids: map[string]*node{}, clips: map[clipKey]*mask{},
	}
	root.walk(func(n *node) {
		if id := n.attr["id"]; id != "" {
			p.ids[id] = n
		}
	})
	m := matrix{a: scale, d: scale}
	if box, err := numbers(root.attr["viewBox"]); err == nil && len(box) == 4 && box[2] > 0 && box[3] > 0 {
		m = m.then(matrix{w / box[2], 0, 0, h / box[3], -box[0] * w / box[2], -box[1] * h / box[3]})
	}
	s := state{m: m, style: map[string]string{}}
	for _, c := range root.children {
		if err := p.draw(c, s); err != nil {
			return nil, fmt.Errorf("static: <%s>: %w", c.name, err)
		}
	}
	return p.img, nil
}

// node is an element of the document.
type node struct {
	name     string
	attr     map[string]string // with the declarations of style among them
	children []*node
	text     string
}

func (n *node) walk(f func(*node)) {
	f(n)
	for _, c := range n.children {
		c.walk(f)
	}
}

func parse(svg []byte) (*node, error) {
	d := xml.NewDecoder(bytes.NewReader(svg))
	var open []*node
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil, errors.New("it holds no <svg>")
		}
		if err != nil {
			return nil, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			n := &node{name: t.Name.Local, attr: map[string]string{}}
			for _, a := range t.Attr {
				n.attr[a.Name.Local] = strings.TrimSpace(a.Value)
			}
			for declaration := range strings.SplitSeq(n.attr["style"], ";") {
				if name, value, ok := strings.Cut(declaration, ":"); ok {
					n.attr[strings.TrimSpace(name)] = strings.TrimSpace(value)
				}
			}
			if len(open) > 0 {
				parent := open[len(open)-1]
				parent.children = append(parent.children, n)
			}
			open = append(open, n)
		case xml.CharData:
			if len(open) > 0 {
				open[len(open)-1].text += string(t)
			}
		case xml.EndElement:
			n := open[len(open)-1]
			if open = open[:len(open)-1]; len(open) == 0 {
				return n, nil
			}
		}
	}
}

// inherited are the properties that an element hands to those inside it.
var inherited = []string{"fill", "fill-opacity", "fill-rule", "stroke", "stroke-opacity", "stroke-width", "stroke-dasharray", "stroke-dashoffset",
	"stroke-linecap", "stroke-linejoin", "stroke-miterlimit", "font-size", "font-style", "font-weight", "text-anchor", "dominant-baseline", "paint-order", "visibility"}

// state is what holds for an element.
type state struct {
	m     matrix
	style map[string]string
	clips []*mask
	alpha float64 // 1 − opacity, so that the zero value is opaque
}

func (s state) number(name string, otherwise float64) float64 {
	v, err := strconv.ParseFloat(strings.TrimSuffix(s.style[name], "px"), 64)
	if err != nil || v-v != 0 {
		return otherwise
	}
	return v
}

type painter struct {
	img   *image.RGBA
	ids   map[string]*node
	clips map[clipKey]*mask
}

// clipKey is a clip path under a map of the plane.
type clipKey struct {
	id string
	m  matrix
}

// reference is the element that url(#id) names.
func (p *painter) reference(url string) (*node, string, error) {
	id := strings.TrimSuffix(strings.TrimPrefix(url, "url(#"), ")")
	n := p.ids[id]
	if n == nil {
		return nil, id, fmt.Errorf("%s is not in the document", url)
	}
	return n, id, nil
}

func (p *painter) draw(n *node, s state) error {
	switch n.name {
	case "defs", "title", "desc", "style", "metadata", "clipPath", "linearGradient", "radialGradient":
		return nil
	}
	style := map[string]string{}
	for _, name := range inherited {
		if v, ok := n.attr[name]; ok && v != "inherit" {
			style[name] = v
		} else if v, ok := s.style[name]; ok {
			style[name] = v
		}
	}
	s.style = style
	if n.attr["display"] == "none" || style["visibility"] == "hidden" {
		return nil
	}
	if v, err := strconv.ParseFloat(n.attr["opacity"], 64); err == nil {
		// Of a group, as of each part of it: ECharts gives opacity to marks only.
		s.alpha = 1 - (1-s.alpha)*min(max(v, 0), 1)
	}
	m, err := parseTransform(n.attr["transform"])
	if err != nil {
		return err
	}
	s.m = s.m.then(m)
	if url := n.attr["clip-path"]; url != "" && url != "none" {
		clip, err := p.clip(url, s.m)
		if err != nil {
			return err
		}
		s.clips = append(s.clips[:len(s.clips):len(s.clips)], clip)
	}
	switch n.name {
	case "g":
		for _, c := range n.children {
			if err := p.draw(c, s); err != nil {
				return err
			}
		}
		return nil
	case "text":
		return p.text(n, s)
	case "image":
		return p.image(n, s)
	}
	outline, err := outlineOf(n)
	if err != nil {
		return err
	}
	return p.shape(outline, s, s.m)
}

// outlineOf is the outline of a shape in its own coordinates.
func outlineOf(n *node) ([]segment, error) {
	v := func(name string) float64 {
		f, err := strconv.ParseFloat(strings.TrimSuffix(n.attr[name], "px"), 64)
		if err != nil || f-f != 0 {
			return 0
		}
		return f
	}
	switch n.name {
	case "path":
		return parsePath(n.attr["d"])
	case "rect":
		rx, ry := v("rx"), v("ry")
		if _, ok := n.attr["ry"]; !ok {
			ry = rx
		}
		return rectangle(v("x"), v("y"), max(v("width"), 0), max(v("height"), 0), rx, ry), nil
	case "circle":
		return ellipse(v("cx"), v("cy"), v("r"), v("r")), nil
	case "ellipse":
		return ellipse(v("cx"), v("cy"), v("rx"), v("ry")), nil
	case "line":
		return polygon([]point{{v("x1"), v("y1")}, {v("x2"), v("y2")}}, false), nil
	case "polyline", "polygon":
		list, err := numbers(n.attr["points"])
		if err != nil {
			return nil, err
		}
		var points []point
		for i := 0; i+1 < len(list); i += 2 {
			points = append(points, point{list[i], list[i+1]})
		}
		return polygon(points, n.name == "polygon"), nil
	}
	return nil, errors.New("is not a shape that can be drawn as an image")
}

// clip returns what a clip path leaves.
func (p *painter) clip(url string, m matrix) (*mask, error) {
	n, id, err := p.reference(url)
	if err != nil {
		return nil, err
	}
	key := clipKey{id, m}
	if c := p.clips[key]; c != nil {
		return c, nil
	}
	var lines []polyline
	for _, c := range n.children {
		outline, err := outlineOf(c)
		if err != nil {
			return nil, err
		}
		t, err := parseTransform(c.attr["transform"])
		if err != nil {
			return nil, err
		}
		lines = append(lines, flatten(outline, m.then(t))...)
	}
	c := fill(rings(lines), p.img.Bounds(), false)
	p.clips[key] = c
	return c, nil
}

// rings are the points of the lines: an area is closed whether its outline says
// so or not.
func rings(lines []polyline) [][]point {
	out := make([][]point, len(lines))
	for i, l := range lines {
		out[i] = l.points
	}
	return out
}

// shape fills and strokes an outline; box is for gradients, which are given in
// the coordinates of the shape.
func (p *painter) shape(outline []segment, s state, m matrix) error {
	lines := flatten(outline, m)
	fillIt := func() error {
		paint, err := p.paint(s.style["fill"], "black", s.number("fill-opacity", 1), outline, s, m)
		if paint != nil {
			p.put(fill(rings(lines), p.img.Bounds(), s.style["fill-rule"] == "evenodd"), paint, s)
		}
		return err
	}
	strokeIt := func() error {
		width := s.number("stroke-width", 1) * m.scale()
		paint, err := p.paint(s.style["stroke"], "none", s.number("stroke-opacity", 1), outline, s, m)
		if paint == nil || !(width > 0) {
			return err
		}
		nib := pen{width: width, join: s.style["stroke-linejoin"], cap: s.style["stroke-linecap"],
			miterLimit: s.number("stroke-miterlimit", 4), offset: s.number("stroke-dashoffset", 0) * m.scale()}
		if list := s.style["stroke-dasharray"]; list != "" && list != "none" {
			dashes, err := numbers(strings.ReplaceAll(list, "px", ""))
			if err != nil {
				return err
			}
			for _, d := range dashes {
				nib.dashes = append(nib.dashes, max(d, 0)*m.scale())
			}
		}
		p.put(fill(nib.stroke(lines), p.img.Bounds(), false), paint, s)
		return nil
	}
	if strings.HasPrefix(s.style["paint-order"], "stroke") {
		return errors.Join(strokeIt(), fillIt())
	}
	return errors.Join(fillIt(), strokeIt())
}

func (p *painter) text(n *node, s state) error {
	size := s.number("font-size", 12)
	f := newFace(s.style["font-weight"], size)
	number := func(name string) float64 {
		v, _ := strconv.ParseFloat(strings.TrimSuffix(n.attr[name], "px"), 64) // absent: 0
		return v
	}
	x, y := number("x"), number("y")
	switch s.style["text-anchor"] {
	case "middle":
		x -= f.width(n.text) / 2
	case "end":
		x -= f.width(n.text)
	}
	switch s.style["dominant-baseline"] {
	case "central", "middle":
		y += (f.ascent - f.descent) / 2 * size
	case "hanging", "text-before-edge":
		y += f.ascent * size
	case "text-after-edge":
		y -= f.descent * size
	}
	lean := 0.0
	if strings.HasPrefix(s.style["font-style"], "italic") || strings.HasPrefix(s.style["font-style"], "oblique") {
		lean = 0.2 // as DejaVu Sans Oblique
	}
	var outline []segment
	f.each(n.text, func(g *glyph, at float64) {
		for _, part := range f.outlineOf(g) {
			for i, q := range part.p {
				part.p[i] = point{x + at + (q.x-lean*q.y)*size, y + q.y*size}
			}
			outline = append(outline, part)
		}
	})
	return p.shape(outline, s, s.m)
}

func (p *painter) image(n *node, s state) error {
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
	at := [4]float64{0, 0, float64(size.X), float64(size.Y)}
	for i, name := range []string{"x", "y", "width", "height"} {
		if v, err := strconv.ParseFloat(n.attr[name], 64); err == nil {
			at[i] = v
		}
	}
	x, y, w, h := at[0], at[1], at[2], at[3]
	if n.attr["preserveAspectRatio"] != "none" { // xMidYMid meet
		k := min(w/float64(size.X), h/float64(size.Y))
		x, y = x+(w-k*float64(size.X))/2, y+(h-k*float64(size.Y))/2
		w, h = k*float64(size.X), k*float64(size.Y)
	}
	back, ok := s.m.then(matrix{w / float64(size.X), 0, 0, h / float64(size.Y), x, y}).inverse()
	if !ok {
		return nil // squeezed to nothing
	}
	pixel := func(i, j int) color.RGBA64 {
		b := src.Bounds()
		r, g, bl, a := src.At(min(max(i, 0), size.X-1)+b.Min.X, min(max(j, 0), size.Y-1)+b.Min.Y).RGBA()
		return color.RGBA64{R: uint16(r), G: uint16(g), B: uint16(bl), A: uint16(a)}
	}
	paint := func(x, y float64) rgba {
		q := back.apply(point{x, y})
		fx, fy := math.Floor(q.x-0.5), math.Floor(q.y-0.5)
		tx, ty := q.x-0.5-fx, q.y-0.5-fy
		var sum rgba
		for _, c := range []struct {
			i, j   int
			weight float64
		}{{0, 0, (1 - tx) * (1 - ty)}, {1, 0, tx * (1 - ty)}, {0, 1, (1 - tx) * ty}, {1, 1, tx * ty}} {
			v := pixel(int(fx)+c.i, int(fy)+c.j)
			for k, u := range []uint16{v.R, v.G, v.B, v.A} {
				sum[k] += c.weight * float64(u) / 0xffff
			}
		}
		return sum
	}
	p.put(fill(rings(flatten(rectangle(x, y, w, h, 0, 0), s.m)), p.img.Bounds(), false), paint, s)
	return nil
}

// rgba is a colour multiplied by its opacity, each part from 0 to 1.
type rgba [4]float64

// paint says which colour a pixel gets, at its centre.
type paint func(x, y float64) rgba

// paint reads a fill or a stroke; nil paints nothing.
func (p *painter) paint(value, usual string, opacity float64, outline []segment, s state, m matrix) (paint, error) {
	if value == "" {
		value = usual
	}
	opacity = min(max(opacity, 0), 1) * (1 - s.alpha)
	if value == "none" || opacity == 0 {
		return nil, nil
	}
	if strings.HasPrefix(value, "url(#") {
		return p.gradient(value, opacity, outline, m)
	}
	c, err := parseColor(value)
	if err != nil || c[3] == 0 {
		return nil, err
	}
	for i := range c {
		c[i] *= opacity
	}
	return func(float64, float64) rgba { return c }, nil
}

// gradient is a linear or a radial one, padded with its end colours.
func (p *painter) gradient(url string, opacity float64, outline []segment, m matrix) (paint, error) {
	n, _, err := p.reference(url)
	if err != nil {
		return nil, err
	}
	// objectBoundingBox is the usual unit: the outline's box is 1 x 1.
	if n.attr["gradientUnits"] != "userSpaceOnUse" {
		low, high := point{math.Inf(1), math.Inf(1)}, point{math.Inf(-1), math.Inf(-1)}
		for _, l := range flatten(outline, identity) {
			for _, q := range l.points {
				low, high = point{min(low.x, q.x), min(low.y, q.y)}, point{max(high.x, q.x), max(high.y, q.y)}
			}
		}
		m = m.then(matrix{high.x - low.x, 0, 0, high.y - low.y, low.x, low.y})
	}
	t, err := parseTransform(n.attr["gradientTransform"])
	if err != nil {
		return nil, err
	}
	back, ok := m.then(t).inverse()
	if !ok {
		return nil, nil
	}
	type stop struct {
		at float64
		c  rgba
	}
	var stops []stop
	for _, c := range n.children {
		if c.name != "stop" {
			continue
		}
		col, err := parseColor(c.attr["stop-color"])
		if err != nil {
			return nil, err
		}
		if v, err := fraction(c.attr["stop-opacity"], 1); err == nil {
			for i := range col {
				col[i] *= v
			}
		}
		at, err := fraction(c.attr["offset"], 0)
		if err != nil {
			return nil, err
		}
		stops = append(stops, stop{at, col})
	}
	if len(stops) == 0 {
		return nil, nil
	}
	var place func(q point) float64
	var v [4]float64
	read := func(names []string, otherwise ...float64) (err error) {
		for i, name := range names {
			var e error
			v[i], e = fraction(n.attr[name], otherwise[i])
			err = errors.Join(err, e)
		}
		return err
	}
	switch n.name {
	case "linearGradient":
		if err := read([]string{"x1", "y1", "x2", "y2"}, 0, 0, 1, 0); err != nil {
			return nil, err
		}
		from, along := point{v[0], v[1]}, point{v[2] - v[0], v[3] - v[1]}
		square := along.x*along.x + along.y*along.y
		place = func(q point) float64 {
			if square == 0 {
				return 1
			}
			d := q.sub(from)
			return (d.x*along.x + d.y*along.y) / square
		}
	case "radialGradient":
		if err := read([]string{"cx", "cy", "r"}, 0.5, 0.5, 0.5); err != nil {
			return nil, err
		}
		place = func(q point) float64 { return q.sub(point{v[0], v[1]}).length() / v[2] }
	default:
		return nil, fmt.Errorf("a fill by a %s cannot be drawn as an image", n.name)
	}
	return func(x, y float64) rgba {
		t := place(back.apply(point{x, y}))
		i := 0
		for i < len(stops) && stops[i].at <= t {
			i++
		}
		var c rgba
		switch {
		case i == 0:
			c = stops[0].c
		case i == len(stops):
			c = stops[i-1].c
		default:
			a, b := stops[i-1], stops[i]
			k := (t - a.at) / (b.at - a.at)
			for j := range c {
				c[j] = a.c[j] + k*(b.c[j]-a.c[j])
			}
		}
		for j := range c {
			c[j] *= opacity
		}
		return c
	}, nil
}

// fraction reads a number or a percentage.
func fraction(s string, otherwise float64) (float64, error) {
	if s == "" {
		return otherwise, nil
	}
	number, percent := strings.CutSuffix(s, "%")
	v, err := strconv.ParseFloat(number, 64)
	if percent {
		v /= 100
	}
	return v, err
}

// parseColor reads a colour of CSS: #rgb, #rrggbb, #rrggbbaa, rgb(), rgba() or a
// name.
func parseColor(s string) (c rgba, err error) {
	bad := fmt.Errorf("the colour %q is not known: write it as #rrggbb", s)
	s = strings.ToLower(strings.TrimSpace(s))
	if s == "transparent" {
		return rgba{}, nil
	}
	if named, ok := colornames.Map[s]; ok {
		return rgba{float64(named.R) / 255, float64(named.G) / 255, float64(named.B) / 255, 1}, nil
	}
	a := 1.0
	if hex, ok := strings.CutPrefix(s, "#"); ok {
		if len(hex) == 3 || len(hex) == 4 {
			var long strings.Builder
			for i := range hex {
				long.WriteString(hex[i:i+1] + hex[i:i+1])
			}
			hex = long.String()
		}
		if len(hex) == 6 {
			hex += "ff"
		}
		v, err := strconv.ParseUint(hex, 16, 64)
		if err != nil || len(hex) != 8 {
			return c, bad
		}
		c, a = rgba{float64(v >> 24), float64(v >> 16 & 255), float64(v >> 8 & 255)}, float64(v&255)/255
	} else {
		list, ok := strings.CutPrefix(strings.TrimPrefix(s, "rgba("), "rgb(")
		if !ok && !strings.HasPrefix(s, "rgba(") {
			return c, bad
		}
		v, err := numbers(strings.TrimSuffix(strings.ReplaceAll(list, "/", " "), ")"))
		if err != nil || len(v) < 3 || len(v) > 4 {
			return c, bad
		}
		copy(c[:3], v)
		if len(v) == 4 {
			a = v[3]
		}
	}
	for i := range 3 {
		c[i] = min(max(c[i]/255, 0), 1) * a
	}
	c[3] = a
	return c, nil
}

// put paints the pixels of a mask that the clips leave.
func (p *painter) put(m *mask, paint paint, s state) {
	b := m.box
	for _, c := range s.clips {
		b = b.Intersect(c.box)
	}
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			cover := float64(m.at(x, y))
			for _, c := range s.clips {
				cover *= float64(c.at(x, y))
			}
			if cover == 0 {
				continue
			}
			c := paint(float64(x)+0.5, float64(y)+0.5)
			pixel := p.img.Pix[p.img.PixOffset(x, y):][:4:4]
			for i := range pixel {
				pixel[i] = uint8(c[i]*cover*255 + float64(pixel[i])*(1-c[3]*cover) + 0.5)
			}
		}
	}
}
