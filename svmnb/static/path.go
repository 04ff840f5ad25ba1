package static

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/srwiley/rasterx"
	"golang.org/x/image/math/fixed"
)

// finer is the number of parts of a unit of SVG in outlines, in addition to the 64 parts of
// rasterx: ECharts draws small shapes and enlarges them.
const finer = 256

// toPixels returns the map of outlines to pixels. m maps SVG coordinates to pixels.
func toPixels(m rasterx.Matrix2D) rasterx.Matrix2D {
	return m.Mult(rasterx.Matrix2D{A: 1.0 / finer, D: 1.0 / finer})
}

// at returns a place of an outline. Places far outside any picture are moved closer, so
// that they fit into the number format.
func at(x, y float64) fixed.Point26_6 {
	const far = 1e5
	return rasterx.ToFixedP(finer*min(max(x, -far), far), finer*min(max(y, -far), far))
}

// numbers parses a list of numbers.
func numbers(s string) ([]float64, error) {
	var list []float64
	for _, f := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" ,\n\r\t", r) }) {
		v, err := strconv.ParseFloat(f, 64)
		if err != nil || v-v != 0 {
			return nil, fmt.Errorf("%.20q is no number", f)
		}
		list = append(list, v)
	}
	return list, nil
}

// parseTransform parses the transform attribute, of which ECharts writes two forms.
func parseTransform(s string) (rasterx.Matrix2D, error) {
	if s == "" {
		return rasterx.Identity, nil
	}
	name, list, _ := strings.Cut(s, "(")
	v, err := numbers(strings.TrimSuffix(list, ")"))
	switch {
	case err != nil:
	case name == "matrix" && len(v) == 6:
		return rasterx.Matrix2D{A: v[0], B: v[1], C: v[2], D: v[3], E: v[4], F: v[5]}, nil
	case name == "translate" && len(v) == 2:
		return rasterx.Identity.Translate(v[0], v[1]), nil
	}
	return rasterx.Identity, fmt.Errorf("transform %q is not known", s)
}

// operands is the number of operands of each path command that ECharts writes.
var operands = map[byte]int{'M': 2, 'L': 2, 'l': 2, 'Q': 4, 'C': 6, 'A': 7, 'Z': 0}

// parsePath parses the data of a path.
func parsePath(d string) (out rasterx.Path, err error) {
	var x, y, startX, startY float64
	closed := false
	for d = strings.TrimSpace(d); d != ""; {
		op, list := d[0], d[1:]
		if end := strings.IndexFunc(list, func(r rune) bool { return r >= 'A' && r != 'e' }); end >= 0 {
			list = list[:end]
		}
		v, err := numbers(list)
		if n, known := operands[op]; !known || err != nil || len(v) != n || op != 'M' && out == nil {
			return nil, fmt.Errorf("path data: %.20q cannot be read", d)
		}
		d = d[1+len(list):]
		if closed && op != 'M' {
			out.Start(at(x, y))
		}
		if closed = op == 'Z'; closed {
			out.Stop(true)
			x, y = startX, startY
			continue
		}
		fromX, fromY := x, y
		x, y = v[len(v)-2], v[len(v)-1]
		switch op {
		case 'M':
			startX, startY = x, y
			out.Start(at(x, y))
		case 'l':
			x, y = fromX+x, fromY+y
			fallthrough
		case 'L':
			out.Line(at(x, y))
		case 'Q':
			out.QuadBezier(at(v[0], v[1]), at(x, y))
		case 'C':
			out.CubeBezier(at(v[0], v[1]), at(v[2], v[3]), at(x, y))
		case 'A':
			arc(&out, fromX, fromY, v)
		}
	}
	return out, nil
}

// arc adds an elliptic arc from (x, y). v are the operands of the path command.
func arc(to *rasterx.Path, x, y float64, v []float64) {
	rx, ry := math.Abs(v[0]), math.Abs(v[1])
	if rx == 0 || ry == 0 || x == v[5] && y == v[6] {
		to.Line(at(v[5], v[6]))
		return
	}
	cx, cy := rasterx.FindEllipseCenter(&rx, &ry, v[2]*math.Pi/180, x, y, v[5], v[6], v[4] == 0, v[3] == 0)
	rasterx.AddArc([]float64{finer * rx, finer * ry, v[2], v[3], v[4], finer * v[5], finer * v[6]}, finer*cx, finer*cy, finer*x, finer*y, to)
}

// polygon joins the points of a list, and closes the path if closed is set.
func polygon(list []float64, closed bool) (out rasterx.Path) {
	for i := 0; i+1 < len(list); i += 2 {
		if i == 0 {
			out.Start(at(list[0], list[1]))
		} else {
			out.Line(at(list[i], list[i+1]))
		}
	}
	if out != nil {
		out.Stop(closed)
	}
	return out
}
