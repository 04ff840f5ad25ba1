package static

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

type point struct{ x, y float64 }

func (a point) add(b point) point         { return point{a.x + b.x, a.y + b.y} }
func (a point) sub(b point) point         { return point{a.x - b.x, a.y - b.y} }
func (a point) times(s float64) point     { return point{a.x * s, a.y * s} }
func (a point) length() float64           { return math.Hypot(a.x, a.y) }
func between(a, b point, t float64) point { return point{a.x + (b.x-a.x)*t, a.y + (b.y-a.y)*t} }
func (a point) finite() bool              { return a.x-a.x == 0 && a.y-a.y == 0 }

// segment is a step of an outline: M and L end at p[0], Q at p[1], C at p[2];
// Z closes.
type segment struct {
	op byte
	p  [3]point
}

// matrix maps (x, y) to (a x + c y + e, b x + d y + f), as in SVG.
type matrix struct{ a, b, c, d, e, f float64 }

var identity = matrix{a: 1, d: 1}

func (m matrix) apply(p point) point {
	return point{m.a*p.x + m.c*p.y + m.e, m.b*p.x + m.d*p.y + m.f}
}

// then returns the map that applies inner first and m second.
func (m matrix) then(inner matrix) matrix {
	return matrix{
		m.a*inner.a + m.c*inner.b, m.b*inner.a + m.d*inner.b,
		m.a*inner.c + m.c*inner.d, m.b*inner.c + m.d*inner.d,
		m.a*inner.e + m.c*inner.f + m.e, m.b*inner.e + m.d*inner.f + m.f,
	}
}

// scale is how much m enlarges, on average.
func (m matrix) scale() float64 { return math.Sqrt(math.Abs(m.a*m.d - m.b*m.c)) }

func (m matrix) inverse() (matrix, bool) {
	det := m.a*m.d - m.b*m.c
	if det == 0 || det-det != 0 {
		return matrix{}, false
	}
	return matrix{m.d / det, -m.b / det, -m.c / det, m.a / det,
		(m.c*m.f - m.d*m.e) / det, (m.b*m.e - m.a*m.f) / det}, true
}

// parseTransform reads SVG's transform attribute.
func parseTransform(s string) (matrix, error) {
	m := identity
	for s = strings.TrimLeft(s, " ,\n\t"); s != ""; s = strings.TrimLeft(s, " ,\n\t") {
		name, rest, ok := strings.Cut(s, "(")
		list, rest, closed := strings.Cut(rest, ")")
		v, err := numbers(list)
		if !ok || !closed || err != nil {
			return m, fmt.Errorf("transform %q", s)
		}
		s = rest
		at := func(i int, otherwise float64) float64 {
			if i < len(v) {
				return v[i]
			}
			return otherwise
		}
		switch strings.TrimSpace(name) {
		case "matrix":
			if len(v) != 6 {
				return m, fmt.Errorf("matrix of %d numbers", len(v))
			}
			m = m.then(matrix{v[0], v[1], v[2], v[3], v[4], v[5]})
		case "translate":
			m = m.then(matrix{1, 0, 0, 1, at(0, 0), at(1, 0)})
		case "scale":
			m = m.then(matrix{at(0, 1), 0, 0, at(1, at(0, 1)), 0, 0})
		case "rotate":
			sin, cos := math.Sincos(at(0, 0) * math.Pi / 180)
			x, y := at(1, 0), at(2, 0)
			m = m.then(matrix{1, 0, 0, 1, x, y}).then(matrix{cos, sin, -sin, cos, 0, 0}).then(matrix{1, 0, 0, 1, -x, -y})
		case "skewX":
			m = m.then(matrix{1, 0, math.Tan(at(0, 0) * math.Pi / 180), 1, 0, 0})
		case "skewY":
			m = m.then(matrix{1, math.Tan(at(0, 0) * math.Pi / 180), 0, 1, 0, 0})
		default:
			return m, fmt.Errorf("transform %q", name)
		}
	}
	return m, nil
}

// scanner reads the letters and numbers of path data.
type scanner struct{ s string }

func (sc *scanner) skip() { sc.s = strings.TrimLeft(sc.s, " ,\n\r\t") }

// number reads one number. In SVG "1-2" and "1.5.5" are two.
func (sc *scanner) number() (float64, bool) {
	sc.skip()
	i, dot := 0, false
	if i < len(sc.s) && (sc.s[i] == '-' || sc.s[i] == '+') {
		i++
	}
	for ; i < len(sc.s); i++ {
		c := sc.s[i]
		if c == '.' && !dot {
			dot = true
		} else if (c == 'e' || c == 'E') && i+1 < len(sc.s) {
			j := i + 1
			if sc.s[j] == '-' || sc.s[j] == '+' {
				j++
			}
			for i = j; i < len(sc.s) && sc.s[i] >= '0' && sc.s[i] <= '9'; i++ {
			}
			break
		} else if c < '0' || c > '9' {
			break
		}
	}
	v, err := strconv.ParseFloat(sc.s[:i], 64)
	if err != nil {
		return 0, false
	}
	sc.s = sc.s[i:]
	return v, true
}

// flag reads a 0 or a 1 of an arc, after which no space need follow.
func (sc *scanner) flag() (bool, bool) {
	sc.skip()
	if sc.s == "" || sc.s[0] != '0' && sc.s[0] != '1' {
		return false, false
	}
	on := sc.s[0] == '1'
	sc.s = sc.s[1:]
	return on, true
}

// numbers reads a list of numbers.
func numbers(s string) ([]float64, error) {
	sc := scanner{s}
	var list []float64
	for sc.skip(); sc.s != ""; sc.skip() {
		v, ok := sc.number()
		if !ok {
			return nil, fmt.Errorf("%.20q is no number", sc.s)
		}
		list = append(list, v)
	}
	return list, nil
}

// parsePath reads SVG's path data into M, L, C, Q and Z with absolute points.
func parsePath(d string) ([]segment, error) {
	sc := scanner{d}
	var out []segment
	var at, start, control point // control of the last curve, for S and T
	var op, last byte
	for sc.skip(); sc.s != ""; sc.skip() {
		if c := sc.s[0]; c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' {
			op, sc.s = c, sc.s[1:]
		} else if op == 'M' { // further pairs are lines
			op = 'L'
		} else if op == 'm' {
			op = 'l'
		} else if op == 0 || op == 'Z' || op == 'z' {
			return nil, fmt.Errorf("path data: %.20q has no command", sc.s)
		}
		relative, upper := op >= 'a', op&^0x20
		ok := true
		value := func() float64 {
			v, good := sc.number()
			ok = ok && good
			return v
		}
		pair := func() point {
			p := point{value(), value()}
			if relative {
				p = p.add(at)
			}
			return p
		}
		switch upper {
		case 'M':
			at = pair()
			start = at
			out = append(out, segment{op: 'M', p: [3]point{at}})
		case 'L':
			at = pair()
			out = append(out, segment{op: 'L', p: [3]point{at}})
		case 'H', 'V':
			v := value()
			to := &at.x
			if upper == 'V' {
				to = &at.y
			}
			if relative {
				v += *to
			}
			*to = v
			out = append(out, segment{op: 'L', p: [3]point{at}})
		case 'C', 'S':
			a := at
			if upper == 'C' {
				a = pair()
			} else if last == 'C' || last == 'S' {
				a = at.add(at.sub(control))
			}
			control = pair()
			end := pair()
			out = append(out, segment{op: 'C', p: [3]point{a, control, end}})
			at = end
		case 'Q', 'T':
			a := at
			if upper == 'Q' {
				a = pair()
			} else if last == 'Q' || last == 'T' {
				a = at.add(at.sub(control))
			}
			control = a
			end := pair()
			out = append(out, segment{op: 'Q', p: [3]point{a, end}})
			at = end
		case 'A':
			rx, ry, turn := value(), value(), value()
			large, good := sc.flag()
			sweep, also := sc.flag()
			ok = ok && good && also
			end := pair()
			out = append(out, arc(at, end, rx, ry, turn, large, sweep)...)
			at = end
		case 'Z':
			out = append(out, segment{op: 'Z'})
			at = start
		default:
			return nil, fmt.Errorf("path data: command %q", op)
		}
		if !ok || !at.finite() {
			return nil, fmt.Errorf("path data: %q lacks a number before %.20q", op, sc.s)
		}
		last = upper
	}
	return out, nil
}

// arc returns the elliptic arc from a to b as cubic curves (SVG 1.1, appendix
// F.6).
func arc(a, b point, rx, ry, turn float64, large, sweep bool) []segment {
	rx, ry = math.Abs(rx), math.Abs(ry)
	if rx == 0 || ry == 0 || a == b {
		return []segment{{op: 'L', p: [3]point{b}}}
	}
	sin, cos := math.Sincos(turn * math.Pi / 180)
	// Half way from b to a in the ellipse's own axes (F.6.5.1).
	h := a.sub(b).times(0.5)
	x, y := cos*h.x+sin*h.y, -sin*h.x+cos*h.y
	if grow := x*x/(rx*rx) + y*y/(ry*ry); grow > 1 { // F.6.6.3
		rx, ry = rx*math.Sqrt(grow), ry*math.Sqrt(grow)
	}
	// The centre (F.6.5.2).
	den := rx*rx*y*y + ry*ry*x*x
	k := math.Sqrt(max(0, (rx*rx*ry*ry-den)/den))
	if large == sweep {
		k = -k
	}
	cx, cy := k*rx*y/ry, -k*ry*x/rx
	mid := between(a, b, 0.5)
	m := matrix{cos * rx, sin * rx, -sin * ry, cos * ry, cos*cx - sin*cy + mid.x, sin*cx + cos*cy + mid.y}
	from := math.Atan2((y-cy)/ry, (x-cx)/rx)
	to := math.Atan2((-y-cy)/ry, (-x-cx)/rx)
	if sweep && to < from {
		to += 2 * math.Pi
	} else if !sweep && to > from {
		to -= 2 * math.Pi
	}
	n := math.Ceil(math.Abs(to-from)/(math.Pi/2) - 1e-9)
	step := (to - from) / n
	t := 4.0 / 3 * math.Tan(step/4)
	var out []segment
	for i := range int(n) {
		s0, c0 := math.Sincos(from + float64(i)*step)
		s1, c1 := math.Sincos(from + float64(i+1)*step)
		end := m.apply(point{c1, s1})
		if i == int(n)-1 {
			end = b
		}
		out = append(out, segment{op: 'C', p: [3]point{m.apply(point{c0 - t*s0, s0 + t*c0}), m.apply(point{c1 + t*s1, s1 - t*c1}), end}})
	}
	return out
}

// ellipse is a whole one.
func ellipse(cx, cy, rx, ry float64) []segment {
	right, left := point{cx + rx, cy}, point{cx - rx, cy}
	out := []segment{{op: 'M', p: [3]point{right}}}
	out = append(out, arc(right, left, rx, ry, 0, false, true)...)
	out = append(out, arc(left, right, rx, ry, 0, false, true)...)
	return append(out, segment{op: 'Z'})
}

// rectangle has corners of the radii rx and ry.
func rectangle(x, y, w, h, rx, ry float64) []segment {
	rx, ry = min(rx, w/2), min(ry, h/2)
	if rx <= 0 || ry <= 0 {
		return polygon([]point{{x, y}, {x + w, y}, {x + w, y + h}, {x, y + h}}, true)
	}
	var out []segment
	corner := func(from, to point) {
		op := byte('L')
		if out == nil {
			op = 'M'
		}
		out = append(out, segment{op: op, p: [3]point{from}})
		out = append(out, arc(from, to, rx, ry, 0, false, true)...)
	}
	corner(point{x + w - rx, y}, point{x + w, y + ry})
	corner(point{x + w, y + h - ry}, point{x + w - rx, y + h})
	corner(point{x + rx, y + h}, point{x, y + h - ry})
	corner(point{x, y + ry}, point{x + rx, y})
	return append(out, segment{op: 'Z'})
}

func polygon(points []point, closed bool) []segment {
	var out []segment
	for i, p := range points {
		op := byte('L')
		if i == 0 {
			op = 'M'
		}
		out = append(out, segment{op: op, p: [3]point{p}})
	}
	if closed && len(out) > 0 {
		out = append(out, segment{op: 'Z'})
	}
	return out
}

// polyline is a connected part of an outline, made of straight lines.
type polyline struct {
	points []point
	closed bool
}

// flatten maps an outline by m and makes its curves straight, to a twentieth
// of a pixel.
func flatten(outline []segment, m matrix) []polyline {
	var lines []polyline
	var current polyline
	finish := func() {
		if len(current.points) > 0 {
			lines = append(lines, current)
		}
		current = polyline{}
	}
	var start point
	for _, s := range outline {
		if s.op != 'M' && s.op != 'Z' && len(current.points) == 0 {
			current.points = append(current.points, start) // after a Z
		}
		switch s.op {
		case 'M':
			finish()
			start = m.apply(s.p[0])
			current.points = append(current.points, start)
		case 'L':
			current.points = append(current.points, m.apply(s.p[0]))
		case 'Q':
			a, b, c := current.points[len(current.points)-1], m.apply(s.p[0]), m.apply(s.p[1])
			n := pieces(a.sub(b.times(2)).add(c).length() / 4)
			for i := 1; i <= n; i++ {
				t := float64(i) / float64(n)
				current.points = append(current.points, between(between(a, b, t), between(b, c, t), t))
			}
		case 'C':
			a, b, c, d := current.points[len(current.points)-1], m.apply(s.p[0]), m.apply(s.p[1]), m.apply(s.p[2])
			bend := max(a.sub(b.times(2)).add(c).length(), b.sub(c.times(2)).add(d).length())
			n := pieces(bend * 3 / 4)
			for i := 1; i <= n; i++ {
				t := float64(i) / float64(n)
				ab, bc, cd := between(a, b, t), between(b, c, t), between(c, d, t)
				current.points = append(current.points, between(between(ab, bc, t), between(bc, cd, t), t))
			}
		case 'Z':
			if len(current.points) > 0 {
				current.closed = true
				finish()
			}
		}
	}
	finish()
	return lines
}

// pieces is how many straight pieces a curve needs that bends so many pixels
// away from one.
func pieces(bend float64) int {
	return int(min(max(math.Ceil(math.Sqrt(bend/0.05)), 1), 200))
}
