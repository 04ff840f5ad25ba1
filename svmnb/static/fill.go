package static

import (
	"image"
	"math"
	"slices"
)

// mask says how much of each pixel in a box is covered, from 0 to 1.
type mask struct {
	box   image.Rectangle
	cover []float32
}

func (m *mask) at(x, y int) float32 { return m.cover[(y-m.box.Min.Y)*m.box.Dx()+x-m.box.Min.X] }

// lanes is how many lines run through a row of pixels. Along a line coverage is
// exact.
const lanes = 16

// crossing is where an edge crosses a lane, and which way.
type crossing struct {
	x   float64
	way int
}

// fill returns what the rings cover inside the picture: where they turn around
// a point at all or, for even-odd, an odd number of times.
func fill(rings [][]point, picture image.Rectangle, evenOdd bool) *mask {
	low, high := point{math.Inf(1), math.Inf(1)}, point{math.Inf(-1), math.Inf(-1)}
	for _, ring := range rings {
		for _, q := range ring {
			low, high = point{min(low.x, q.x), min(low.y, q.y)}, point{max(high.x, q.x), max(high.y, q.y)}
		}
	}
	if !low.finite() || !high.finite() {
		return &mask{}
	}
	// Clamped first: what is far out does not fit into an int.
	limit := func(v float64, most int) int { return int(min(max(v, 0), float64(most))) }
	m := &mask{box: image.Rect(
		limit(math.Floor(low.x), picture.Max.X), limit(math.Floor(low.y), picture.Max.Y),
		limit(math.Ceil(high.x), picture.Max.X), limit(math.Ceil(high.y), picture.Max.Y))}
	if m.box.Empty() {
		return &mask{}
	}
	m.cover = make([]float32, m.box.Dx()*m.box.Dy())
	// Lane k runs at y = (k + ½)/lanes below the top of the box.
	top := float64(m.box.Min.Y)
	rows := make([][]crossing, m.box.Dy()*lanes)
	for _, ring := range rings {
		for i, a := range ring {
			b := ring[(i+1)%len(ring)]
			way := 1
			if a.y > b.y {
				a, b, way = b, a, -1
			}
			first := max(math.Ceil((a.y-top)*lanes-0.5), 0)
			last := min(math.Ceil((b.y-top)*lanes-0.5), float64(len(rows)))
			slope := (b.x - a.x) / (b.y - a.y)
			for k := int(min(first, float64(len(rows)))); k < int(max(last, 0)); k++ {
				y := top + (float64(k)+0.5)/lanes
				rows[k] = append(rows[k], crossing{a.x + (y-a.y)*slope, way})
			}
		}
	}
	for k, row := range rows {
		slices.SortFunc(row, func(a, b crossing) int {
			switch {
			case a.x < b.x:
				return -1
			case a.x > b.x:
				return 1
			}
			return 0
		})
		line := m.cover[k/lanes*m.box.Dx():][:m.box.Dx()]
		turns, start := 0, 0.0
		for _, c := range row {
			before := turns
			turns += c.way
			in := func(n int) bool { return n != 0 && (!evenOdd || n%2 != 0) }
			if !in(before) && in(turns) {
				start = c.x
			} else if in(before) && !in(turns) {
				span(line, start-float64(m.box.Min.X), c.x-float64(m.box.Min.X))
			}
		}
	}
	for i, v := range m.cover {
		m.cover[i] = min(v, 1)
	}
	return m
}

// span adds a lane's piece from a to b.
func span(line []float32, a, b float64) {
	a, b = max(a, 0), min(b, float64(len(line)))
	if a >= b {
		return
	}
	i, j := int(a), int(b)
	if i == j {
		line[i] += float32((b - a) / lanes)
		return
	}
	line[i] += float32((float64(i+1) - a) / lanes)
	for k := i + 1; k < j; k++ {
		line[k] += 1.0 / lanes
	}
	if j < len(line) {
		line[j] += float32((b - float64(j)) / lanes)
	}
}
