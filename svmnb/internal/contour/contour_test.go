package contour

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// sampled returns f on an nx × ny grid over [-1, 1]².
func sampled(nx, ny int, f func(x, y float64) float64) [][]float64 {
	z := make([][]float64, ny)
	for i := range z {
		z[i] = make([]float64, nx)
		for j := range z[i] {
			z[i][j] = f(-1+2*float64(j)/float64(nx-1), -1+2*float64(i)/float64(ny-1))
		}
	}
	return z
}

// area is the area inside the rings, holes subtracted, in cells.
func area(rings [][]point) float64 {
	sum := 0.0
	for _, r := range rings {
		for i, p := range r {
			q := r[(i+1)%len(r)]
			sum += (p.x*q.y - q.x*p.y) / 2
		}
	}
	return sum
}

func TestSuperlevelAreas(t *testing.T) {
	const nx, ny = 121, 81
	disc := func(x, y float64) float64 { return x*x + y*y }
	for _, test := range []struct {
		name         string
		f            func(x, y float64) float64
		level        float64
		share        float64 // of the square [-1, 1]²
		rings, lines int
	}{
		{"disc", func(x, y float64) float64 { return -disc(x, y) }, -0.25, math.Pi / 16, 1, 1},
		{"square with a round hole", disc, 0.25, 1 - math.Pi/16, 2, 1},
		{"ring", func(x, y float64) float64 { return -math.Abs(math.Sqrt(disc(x, y)) - 0.5) }, -0.2, math.Pi * (0.49 - 0.09) / 4, 2, 2},
		{"half plane", func(x, y float64) float64 { return x }, 0.2, 0.4, 1, 1},
		{"two corners", func(x, y float64) float64 { return x * y }, 0.25, (1 - 0.25 - 0.25*math.Log(4)) / 2, 2, 2},
		{"a disc over the border", func(x, y float64) float64 { return -disc(x-1, y) }, -0.25, math.Pi / 32, 1, 1},
		{"everything", func(x, y float64) float64 { return x }, -2, 1, 1, 0},
		{"nothing", func(x, y float64) float64 { return x }, 2, 0, 0, 0},
		{"a constant at its level", func(x, y float64) float64 { return 3 }, 3, 1, 1, 0},
	} {
		rings := superlevel(sampled(nx, ny, test.f), test.level)
		if got := area(rings) / ((nx - 1) * (ny - 1)); math.Abs(got-test.share) > 1e-3 {
			t.Errorf("%s: area %.5f, want %.5f", test.name, got, test.share)
		}
		if len(rings) != test.rings {
			t.Errorf("%s: %d rings, want %d", test.name, len(rings), test.rings)
		}
		if lines := isolines(rings, nx, ny); len(lines) != test.lines {
			t.Errorf("%s: %d lines, want %d", test.name, len(lines), test.lines)
		}
	}
}

func TestSaddle(t *testing.T) {
	for _, test := range []struct {
		name  string
		z     [][]float64
		rings int
	}{
		{"joined", [][]float64{{3, 0}, {0, 3}}, 1}, // mean 1.5 > 1
		{"apart", [][]float64{{2, -2}, {-2, 2}}, 2},
		{"joined the other way", [][]float64{{0, 3}, {3, 0}}, 1},
		{"apart the other way", [][]float64{{-2, 2}, {2, -2}}, 2},
	} {
		if rings := superlevel(test.z, 1); len(rings) != test.rings {
			t.Errorf("%s: %d rings, want %d: %v", test.name, len(rings), test.rings, rings)
		}
	}
}

// At a saddle in the middle of a cell the two branches meet: no gap of a cell's width
// is left where the level is that of the saddle, and a narrow one beside it.
func TestBranchesMeetAtASaddle(t *testing.T) {
	for _, test := range []struct {
		name  string
		f     func(x, y float64) float64
		level float64
		gap   float64 // between the branches, in cells
	}{
		{"xor", func(x, y float64) float64 { return x * y }, 0, 0},
		{"the other way", func(x, y float64) float64 { return -x * y }, 0, 0},
		{"a bit above", func(x, y float64) float64 { return x * y }, 1e-6, 0.03},
		{"a bit below", func(x, y float64) float64 { return x * y }, -1e-6, 0.03},
		{"moved", func(x, y float64) float64 { return (x - 0.02) * (y + 0.03) }, 0, 0},
		{"oblique", func(x, y float64) float64 { return (x + y/3) * (y - x/3) }, 0, 0.3}, // curved where the cell's field is bilinear
		{"huge", func(x, y float64) float64 { return 1e99 * x * y }, 0, 0},
		{"tiny", func(x, y float64) float64 { return 1e-250 * x * y }, 0, 0},
	} {
		const n = 20
		lines := isolines(superlevel(sampled(n, n, test.f), test.level), n, n)
		if len(lines) != 2 {
			t.Errorf("%s: %d lines, want 2", test.name, len(lines))
			continue
		}
		nearest := math.Inf(1)
		for _, p := range lines[0] {
			for _, q := range lines[1] {
				nearest = min(nearest, math.Hypot(p.x-q.x, p.y-q.y))
			}
		}
		if nearest > test.gap+1e-6 {
			t.Errorf("%s: the branches are %.3g cells apart, want at most %g", test.name, nearest, test.gap)
		}
	}
}

// Whatever the field, with saddles, plateaus and nodes at the level itself: a line is
// closed or ends at the border, and the rings have the nodes above the level inside
// and those below outside.
func TestLinesSeparateNodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nx, ny := rapid.IntRange(2, 9).Draw(t, "nx"), rapid.IntRange(2, 9).Draw(t, "ny")
		z := make([][]float64, ny)
		for i := range z {
			for range nx {
				z[i] = append(z[i], rapid.SampledFrom([]float64{-2, -1, -1e-17, 0, 0, 1e-17, 1, 2, 1e-300, -1e90}).Draw(t, "z"))
			}
		}
		rings := superlevel(z, 0)
		right, top := float64(nx-1), float64(ny-1)
		for _, line := range isolines(rings, nx, ny) {
			first, last := line[0], line[len(line)-1]
			for _, p := range []point{first, last} {
				if first != last && p.x != 0 && p.y != 0 && p.x != right && p.y != top {
					t.Fatalf("a line from %v to %v ends inside", first, last)
				}
			}
		}
		for i, row := range z {
			for j, v := range row {
				p := point{float64(j), float64(i)}
				border := i == 0 || j == 0 || i == ny-1 || j == nx-1
				switch {
				case v == 0 || crowded(z, i, j): // on the line, but for rounding
				case on(rings, p):
					if !border || v < 0 {
						t.Fatalf("the line f = 0 goes through a node with f = %v at %v", v, p)
					}
				case within(rings, p) != (v >= 0):
					t.Fatalf("f = %v at %v, which is on the wrong side", v, p)
				}
			}
		}
	})
}

// crowded reports whether a neighbour of a node is so much larger that the crossing
// between them is rounded to the node.
func crowded(z [][]float64, i, j int) bool {
	for k := max(i-1, 0); k <= min(i+1, len(z)-1); k++ {
		for m := max(j-1, 0); m <= min(j+1, len(z[0])-1); m++ {
			if math.Abs(z[i][j]) < 1e-9*math.Abs(z[k][m]) {
				return true
			}
		}
	}
	return false
}

// on reports whether p lies on one of the rings.
func on(rings [][]point, p point) bool {
	for _, r := range rings {
		for i, a := range r {
			b := r[(i+1)%len(r)]
			cross := (b.x-a.x)*(p.y-a.y) - (b.y-a.y)*(p.x-a.x)
			if math.Abs(cross) < 1e-9 && math.Hypot(p.x-a.x, p.y-a.y)+math.Hypot(p.x-b.x, p.y-b.y) < math.Hypot(a.x-b.x, a.y-b.y)+1e-9 {
				return true
			}
		}
	}
	return false
}

// within counts how often a way from p to the right crosses the rings.
func within(rings [][]point, p point) bool {
	in := false
	for _, r := range rings {
		for i, a := range r {
			b := r[(i+1)%len(r)]
			if (a.y > p.y) != (b.y > p.y) && p.x < a.x+(b.x-a.x)*(p.y-a.y)/(b.y-a.y) {
				in = !in
			}
		}
	}
	return in
}

// Whatever the field: the rings of {z ≥ t} and those of {−z ≥ −t} tile the
// grid, sets are nested, every point of a line is at its level, and encoding
// moves no area to speak of.
func TestSuperlevelProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nx, ny := rapid.IntRange(2, 9).Draw(t, "nx"), rapid.IntRange(2, 9).Draw(t, "ny")
		z, minus := make([][]float64, ny), make([][]float64, ny)
		for i := range z {
			z[i], minus[i] = make([]float64, nx), make([]float64, nx)
			for j := range z[i] {
				// thirds: often equal to a neighbour, never to the level
				z[i][j] = float64(rapid.IntRange(-6, 6).Draw(t, "z")) / 3
				minus[i][j] = -z[i][j]
			}
		}
		level := float64(rapid.IntRange(-5, 5).Draw(t, "level"))/3 + 0.1
		rings := superlevel(z, level)
		whole := float64((nx - 1) * (ny - 1))
		a := area(rings)
		if b := area(superlevel(minus, -level)); math.Abs(a+b-whole) > 1e-9*whole {
			t.Fatalf("areas %v above and %v below do not make %v", a, b, whole)
		}
		if higher := area(superlevel(z, level+0.5)); higher > a+1e-9 {
			t.Fatalf("the set above %v is larger than the one above %v", level+0.5, level)
		}
		for _, line := range isolines(rings, nx, ny) {
			for _, p := range line {
				if v := along(z, p); math.Abs(v-level) > 1e-9 {
					t.Fatalf("f = %v on the line f = %v at %v", v, level, p)
				}
			}
		}
		var decoded [][]point
		for _, steps := range encode(rings, nx, ny) {
			var ring []point
			x, y := 0, 0
			for k := 0; k < len(steps); k += 2 {
				x, y = x+steps[k], y+steps[k+1]
				ring = append(ring, point{float64(x) * float64(nx-1) / Fineness, float64(y) * float64(ny-1) / Fineness})
			}
			decoded = append(decoded, ring)
		}
		if got := area(decoded); math.Abs(got-a) > 2e-3*whole {
			t.Fatalf("encoding turned area %v into %v of %v", a, got, whole)
		}
	})
}

// along interpolates z at a point on an edge of the grid.
func along(z [][]float64, p point) float64 {
	i, j := int(p.x), int(p.y)
	u, v := p.x-float64(i), p.y-float64(j)
	i2, j2 := min(i+1, len(z[0])-1), min(j+1, len(z)-1)
	return (z[j][i]*(1-u)+z[j][i2]*u)*(1-v) + (z[j2][i]*(1-u)+z[j2][i2]*u)*v
}

// Holes enclose the same areas as Areas, the other way round.
func TestHolesLeaveOutTheLevel(t *testing.T) {
	z := [][]float64{{0, 0, 0, 0, 0}, {0, 2, 2, 2, 0}, {0, 2, 0, 2, 0}, {0, 2, 2, 2, 1}, {0, 0, 0, 1, 1}}
	area := func(rings [][]int) (sum int) {
		for _, r := range rings {
			x, y := []int{r[0]}, []int{r[1]}
			for i := 2; i < len(r); i += 2 {
				x, y = append(x, x[len(x)-1]+r[i]), append(y, y[len(y)-1]+r[i+1])
			}
			for i := range x {
				j := (i + 1) % len(x)
				sum += x[i]*y[j] - x[j]*y[i]
			}
		}
		return sum
	}
	for _, level := range []float64{0.5, 1.5} {
		if a, h := area(At(z, level).Areas()), area(At(z, level).Holes()); a <= 0 || a != -h {
			t.Errorf("level %g: the areas are %d together, and %d the other way round", level, a, h)
		}
	}
}
