package figure

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
		{"a constant at its level", func(x, y float64) float64 { return 3 }, 3, 0, 0, 0},
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

// Whatever the field: the rings of {z > t} and those of {−z > −t} tile the
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
		for _, steps := range encodePaths(rings, nx, ny) {
			var ring []point
			x, y := 0, 0
			for k := 0; k < len(steps); k += 2 {
				x, y = x+steps[k], y+steps[k+1]
				ring = append(ring, point{float64(x) * float64(nx-1) / fineness, float64(y) * float64(ny-1) / fineness})
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
