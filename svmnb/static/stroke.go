package static

import "math"

// pen is how lines are drawn, in pixels.
type pen struct {
	width      float64
	join       string // miter, round or bevel
	cap        string // butt, round or square
	miterLimit float64
	dashes     []float64 // drawn, left out, drawn …; empty draws all
	offset     float64   // where in the dashes a line begins
}

// stroke returns the area that the pen covers along the lines: convex pieces,
// all turning the same way, so that what overlaps is filled once.
func (p pen) stroke(lines []polyline) [][]point {
	var area [][]point
	for _, l := range lines {
		l.points = distinct(l.points)
		if n := len(l.points); l.closed && n > 1 && l.points[0].sub(l.points[n-1]).length() < 1e-6 {
			l.points = l.points[:n-1]
		}
		for _, d := range p.dash(l) {
			area = p.line(area, d)
		}
	}
	return area
}

// distinct drops points that repeat the one before.
func distinct(points []point) []point {
	var out []point
	for _, q := range points {
		if n := len(out); n == 0 || q.sub(out[n-1]).length() > 1e-6 {
			out = append(out, q)
		}
	}
	return out
}

// dash cuts a line into its dashes.
func (p pen) dash(l polyline) []polyline {
	total := 0.0
	for _, d := range p.dashes {
		total += d
	}
	long := 0.0
	for i := 1; i < len(l.points); i++ {
		long += l.points[i].sub(l.points[i-1]).length()
	}
	if !(total > 0.05) || !(long/total < 1e5) || len(l.points) < 2 { // nothing that the eye could see as dashes
		return []polyline{l}
	}
	pattern := p.dashes
	if len(pattern)%2 == 1 {
		pattern = append(append([]float64{}, pattern...), pattern...)
		total *= 2
	}
	at := math.Mod(p.offset, total)
	if at < 0 {
		at += total
	}
	k := 0
	for at >= pattern[k] {
		at -= pattern[k]
		k = (k + 1) % len(pattern)
	}
	left := pattern[k] - at // of the dash or gap that we are in
	points := l.points
	if l.closed {
		points = append(append([]point{}, points...), points[0])
	}
	var out []polyline
	current := []point{points[0]}
	for i := 1; i < len(points); i++ {
		a, b := points[i-1], points[i]
		length := b.sub(a).length()
		done := 0.0
		for length-done > left {
			done += left
			cut := between(a, b, done/length)
			if k%2 == 0 {
				out = append(out, polyline{points: distinct(append(current, cut))})
			}
			current = []point{cut}
			k = (k + 1) % len(pattern)
			left = pattern[k]
		}
		left -= length - done
		current = append(current, b)
	}
	if k%2 == 0 && len(current) > 1 {
		out = append(out, polyline{points: distinct(current)})
	}
	return out
}

// line adds the pieces of one line.
func (p pen) line(area [][]point, l polyline) [][]point {
	half := p.width / 2
	n := len(l.points)
	if n == 1 { // a dot, where its cap makes it visible
		c := l.points[0]
		switch p.cap {
		case "round":
			return append(area, disc(c, half))
		case "square":
			return append(area, clockwise([]point{{c.x - half, c.y - half}, {c.x + half, c.y - half}, {c.x + half, c.y + half}, {c.x - half, c.y + half}}))
		}
		return area
	}
	if n == 0 {
		return area
	}
	count := n - 1
	if l.closed && n > 2 {
		count = n
	}
	for i := range count {
		a, b := l.points[i], l.points[(i+1)%n]
		along := b.sub(a).times(half / b.sub(a).length())
		side := point{-along.y, along.x}
		if p.cap == "square" && !l.closed {
			if i == 0 {
				a = a.sub(along)
			}
			if i == count-1 {
				b = b.add(along)
			}
		}
		area = append(area, clockwise([]point{a.add(side), b.add(side), b.sub(side), a.sub(side)}))
		if i+1 < count || count == n {
			area = p.corner(area, l.points[i], l.points[(i+1)%n], l.points[(i+2)%n])
		}
	}
	if p.cap == "round" && count < n {
		area = append(area, disc(l.points[0], half), disc(l.points[n-1], half))
	}
	return area
}

// corner adds what fills the join of two lines at b.
func (p pen) corner(area [][]point, a, b, c point) [][]point {
	half := p.width / 2
	u, v := b.sub(a), c.sub(b)
	u, v = u.times(1/u.length()), v.times(1/v.length())
	cross, dot := u.x*v.y-u.y*v.x, u.x*v.x+u.y*v.y
	if math.Abs(cross) < 1e-4 && dot > 0 {
		return area
	}
	if p.join == "round" {
		return append(area, disc(b, half))
	}
	s := half // the outer side is on the left when the line turns right
	if cross > 0 {
		s = -half
	}
	from, to := b.add(point{-u.y, u.x}.times(s)), b.add(point{-v.y, v.x}.times(s))
	piece := []point{b, from}
	if p.join != "bevel" {
		// The tip is 1/sin(θ/2) half widths away, where the lines meet at θ.
		if sine := math.Sqrt(max(0, (1-dot)/2)); sine > 0 {
			cosine := math.Sqrt(max(0, (1+dot)/2))
			if cosine > 0 && 1/cosine <= p.miterLimit {
				middle := from.add(to).times(0.5).sub(b)
				if l := middle.length(); l > 0 {
					piece = append(piece, b.add(middle.times(half/cosine/l)))
				}
			}
		}
	}
	return append(area, clockwise(append(piece, to)))
}

// disc is a circle with corners that the eye does not see.
func disc(c point, r float64) []point {
	n := int(min(max(math.Ceil(math.Pi*math.Sqrt(r/0.03)), 8), 90))
	out := make([]point, n)
	for i := range out {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(n))
		out[i] = point{c.x + r*cos, c.y + r*sin}
	}
	return out
}

// clockwise turns a convex piece the way disc does.
func clockwise(points []point) []point {
	area := 0.0
	for i, p := range points {
		q := points[(i+1)%len(points)]
		area += p.x*q.y - p.y*q.x
	}
	if area < 0 {
		for i, j := 0, len(points)-1; i < j; i, j = i+1, j-1 {
			points[i], points[j] = points[j], points[i]
		}
	}
	return points
}
