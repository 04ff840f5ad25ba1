// Package contour computes the lines and areas where a field on a grid reaches a level.
package contour

import (
	"math"
	"slices"
)

// Level is the part of a field where it is at least t, and its boundary.
type Level struct {
	rings  [][]point
	nx, ny int
}

// At returns the level t of the field z[row][column] on an even grid with at least two
// nodes each way.
func At(z [][]float64, t float64) Level {
	return Level{superlevel(z, t), len(z[0]), len(z)}
}

// Areas returns closed rings around {z ≥ t}: outer rings run counter-clockwise, holes
// clockwise, and a ring follows the border of the grid where the set reaches it. A ring is
// a list of integers x, y, x, y, … that run from 0 to [Fineness] over the grid. The first
// pair is a place, each other pair the step from the place before.
func (l Level) Areas() [][]int { return encode(l.rings, l.nx, l.ny) }

// Holes returns the rings of Areas the other way round. Drawn together with the Areas of a
// larger level, they leave out {z ≥ t}.
func (l Level) Holes() [][]int {
	rings := make([][]point, len(l.rings))
	for i, r := range l.rings {
		rings[i] = slices.Clone(r)
		slices.Reverse(rings[i])
	}
	return encode(rings, l.nx, l.ny)
}

// Lines returns the lines z = t in the form of Areas. A line that reaches the border of the
// grid ends there.
func (l Level) Lines() [][]int { return encode(isolines(l.rings, l.nx, l.ny), l.nx, l.ny) }

// point is a place in units of the grid's cells; (0, 0) is the first node.
type point struct{ x, y float64 }

// superlevel returns the boundary of {z ≥ t} for a field z[row][column] that is linear
// along the edges of the grid. The boundary consists of closed rings with the set on their
// left (y up), so outer rings run counter-clockwise and holes clockwise. A ring follows the
// border of the grid where the set reaches it.
//
// The method is marching squares: in each cell, segments join the places where the level
// crosses the edges, and following them from edge to edge gives the rings. A frame of nodes
// below any level surrounds the grid, so that rings close at its border; crossings between
// frame and border lie on the border. A cell with a saddle has four crossings. Its field is
// taken to be bilinear: the value at the saddle point decides which crossings are joined,
// and the segment between them bends towards that point (Nielson and Hamann 1991).
func superlevel(z [][]float64, t float64) [][]point {
	ny, nx := len(z), len(z[0])
	w := nx + 2 // nodes in a row with the frame; node (i, j) of the frame is z[j-1][i-1]
	above := func(i, j int) bool {
		return i > 0 && j > 0 && i <= nx && j <= ny && z[j-1][i-1] >= t
	}
	// Edge 2k goes from framed node k to the right, edge 2k+1 upwards.
	next := make([]int, 2*w*(ny+2))
	for k := range next {
		next[k] = -1
	}
	saddles := map[int]point{} // the saddle point of the cell that a ring enters through this edge
	for j := 0; j <= ny; j++ {
		for i := 0; i <= nx; i++ {
			k := j*w + i
			bottom, left, top, right := 2*k, 2*k+1, 2*(k+w), 2*(k+1)+1
			a, b, c, d := above(i, j), above(i+1, j), above(i+1, j+1), above(i, j+1)
			switch bits(a, b, c, d) {
			case 0b0001:
				next[bottom] = left
			case 0b0010:
				next[right] = bottom
			case 0b0011:
				next[right] = left
			case 0b0100:
				next[top] = right
			case 0b0110:
				next[top] = bottom
			case 0b0111:
				next[top] = left
			case 0b1000:
				next[left] = top
			case 0b1001:
				next[bottom] = top
			case 0b1011:
				next[right] = top
			case 0b1100:
				next[left] = right
			case 0b1101:
				next[bottom] = right
			case 0b1110:
				next[left] = bottom
			case 0b0101: // nodes a and c are above t; the areas around them may be joined
				at, joined := saddle(z, i, j, t)
				if joined {
					next[bottom], next[top] = right, left
				} else {
					next[bottom], next[top] = left, right
				}
				saddles[bottom], saddles[top] = at, at
			case 0b1010: // the same for nodes b and d
				at, joined := saddle(z, i, j, t)
				if joined {
					next[right], next[left] = top, bottom
				} else {
					next[right], next[left] = bottom, top
				}
				saddles[right], saddles[left] = at, at
			}
		}
	}
	crossing := func(edge int) point {
		k := edge / 2
		i, j := k%w, k/w
		i2, j2 := i+1, j
		if edge%2 == 1 {
			i2, j2 = i, j+1
		}
		if i == 0 || j == 0 { // an edge between the frame and a border node
			return point{float64(i2 - 1), float64(j2 - 1)}
		}
		if i2 > nx || j2 > ny {
			return point{float64(i - 1), float64(j - 1)}
		}
		from, to := z[j-1][i-1], z[j2-1][i2-1]
		f := (t - from) / (to - from)
		return point{float64(i-1) + f*float64(i2-i), float64(j-1) + f*float64(j2-j)}
	}
	var rings [][]point
	for start := range next {
		var ring []point
		add := func(p point) {
			if len(ring) == 0 || p != ring[len(ring)-1] {
				ring = append(ring, p)
			}
		}
		for e := start; next[e] >= 0; {
			add(crossing(e))
			if at, ok := saddles[e]; ok {
				add(at.bend(crossing(e), crossing(next[e])))
			}
			e, next[e] = next[e], -1
		}
		for len(ring) > 1 && ring[len(ring)-1] == ring[0] {
			ring = ring[:len(ring)-1]
		}
		if len(ring) > 2 {
			rings = append(rings, ring)
		}
	}
	return rings
}

func bits(a, b, c, d bool) (n int) {
	for i, v := range [...]bool{a, b, c, d} {
		if v {
			n |= 1 << i
		}
	}
	return n
}

// saddle returns the saddle point of the bilinear field of a cell, and whether the field is
// at least t there. Two opposite nodes of the cell are above t, so none of its nodes
// belongs to the frame.
func saddle(z [][]float64, i, j int, t float64) (at point, above bool) {
	a, b, c, d := z[j-1][i-1]-t, z[j-1][i]-t, z[j][i]-t, z[j][i-1]-t
	sum := math.Abs(a) + math.Abs(b) + math.Abs(c) + math.Abs(d) // equals |a − b + c − d|
	scale := max(math.Abs(a), math.Abs(b), math.Abs(c), math.Abs(d))
	value := a/scale*c - b/scale*d
	if a < 0 || c < 0 {
		value = -value
	}
	return point{float64(i-1) + math.Abs(a-d)/sum, float64(j-1) + math.Abs(a-b)/sum}, value >= 0
}

// bend returns the middle of the branch of a hyperbola from p to q. For each axis, its
// distance from the centre is the geometric mean of the distances of p and q.
func (centre point) bend(p, q point) point {
	mean := func(c, p, q float64) float64 {
		return c + math.Copysign(math.Sqrt(math.Abs((p-c)*(q-c))), p-c+(q-c))
	}
	return point{mean(centre.x, p.x, q.x), mean(centre.y, p.y, q.y)}
}

// isolines returns the parts of the rings that do not run along the border of the nx × ny
// grid. The first and the last point of a closed line are equal.
func isolines(rings [][]point, nx, ny int) [][]point {
	right, top := float64(nx-1), float64(ny-1)
	border := func(p, q point) bool {
		return p.x == q.x && (p.x == 0 || p.x == right) || p.y == q.y && (p.y == 0 || p.y == top)
	}
	var lines [][]point
	for _, ring := range rings {
		n := len(ring)
		first := -1 // begin after a segment of the border, so that no line is cut in two
		for i := range ring {
			if border(ring[i], ring[(i+1)%n]) {
				first = i
			}
		}
		if first < 0 {
			lines = append(lines, append(append([]point{}, ring...), ring[0]))
			continue
		}
		var line []point
		for s := 1; s <= n; s++ {
			p, q := ring[(first+s)%n], ring[(first+s+1)%n]
			if !border(p, q) {
				if line == nil {
					line = []point{p}
				}
				line = append(line, q)
			} else if line != nil {
				lines = append(lines, line)
				line = nil
			}
		}
	}
	return lines
}

// Fineness is the number of parts into which each side of the grid is divided.
const Fineness = 4000

// encode writes paths in the form of Areas, without points that lie on a straight line
// between their neighbours.
func encode(paths [][]point, nx, ny int) [][]int {
	out := make([][]int, 0, len(paths))
	for _, path := range paths {
		var xs, ys []int
		for _, p := range path {
			x := int(p.x*Fineness/float64(nx-1) + 0.5)
			y := int(p.y*Fineness/float64(ny-1) + 0.5)
			n := len(xs)
			if n > 0 && xs[n-1] == x && ys[n-1] == y {
				continue
			}
			if n > 1 && straight(xs[n-2], ys[n-2], xs[n-1], ys[n-1], x, y) {
				xs, ys = xs[:n-1], ys[:n-1]
			}
			xs, ys = append(xs, x), append(ys, y)
		}
		if len(xs) < 2 {
			continue
		}
		steps := make([]int, 0, 2*len(xs))
		px, py := 0, 0
		for i := range xs {
			steps = append(steps, xs[i]-px, ys[i]-py)
			px, py = xs[i], ys[i]
		}
		out = append(out, steps)
	}
	return out
}

// straight reports whether b can be omitted between a and c: it lies on the line from a to
// c, or on a short line within half a unit of it. The limit of length keeps the errors of
// many omissions from adding up.
func straight(ax, ay, bx, by, cx, cy int) bool {
	ux, uy, vx, vy := bx-ax, by-ay, cx-bx, cy-by
	if ux*vx+uy*vy <= 0 {
		return false
	}
	cross, length := ux*vy-uy*vx, (cx-ax)*(cx-ax)+(cy-ay)*(cy-ay)
	return cross == 0 || length < Fineness*Fineness/400 && 4*cross*cross <= length
}
