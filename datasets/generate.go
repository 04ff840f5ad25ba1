package datasets

import (
	"fmt"
	"math"
)

// The generators of classes make n points in the plane, n × 2, with 2 ≤ n ≤ 10⁷. The classes
// take turns, so their sizes differ by at most one point. Noise is the standard deviation of a
// normal error that is added to both coordinates.

const maxGenerated = 10_000_000

// Blobs returns k ≥ 2 normal clouds of standard deviation spread, whose centres lie evenly on
// the circle of radius 2 about the origin. Two clouds are the classes +1 and −1. More clouds
// are the classes 0 … k−1.
func Blobs(n, k int, spread float64, seed uint64) *Dataset {
	if k < 2 || k > n && n >= 2 {
		return bad("blobs", fmt.Sprintf("k is %d; there must be at least 2 clouds and a point for each", k))
	}
	at := func(i, _ int, s source) (float64, float64) {
		x, y := turn(0.125 + float64(i%k)/float64(k))
		return s.near(2*x, spread), s.near(2*y, spread)
	}
	d := generate("blobs", n, "spread", spread, seed, at)
	if k > 2 && d.err == nil {
		d.Classes = make([]string, k)
		for c := range k {
			d.Classes[c] = fmt.Sprintf("blob %d", c)
		}
		for i := range d.Y {
			d.Y[i] = float64(i % k)
		}
	}
	return d
}

// Moons returns two interleaved half circles of radius 1: +1 is the upper one about (0, 0), −1
// the lower one about (1, ½). With noise 0.15 they almost touch.
func Moons(n int, noise float64, seed uint64) *Dataset {
	return generate("moons", n, "noise", noise, seed, func(i, m int, s source) (float64, float64) {
		x, y := turn((float64(i/2) + 0.5) / float64(2*m))
		if i%2 == 1 {
			x, y = 1-x, 0.5-y
		}
		return s.near(x, noise), s.near(y, noise)
	})
}

// Circles returns two concentric circles: +1 of radius ½ inside −1 of radius 1.
func Circles(n int, noise float64, seed uint64) *Dataset {
	return generate("circles", n, "noise", noise, seed, func(i, m int, s source) (float64, float64) {
		x, y := turn((float64(i/2) + 0.5) / float64(m))
		if i%2 == 0 {
			x, y = x/2, y/2
		}
		return s.near(x, noise), s.near(y, noise)
	})
}

// XOR returns four normal clouds of standard deviation noise about (±1, ±1). A cloud is +1 if
// the signs of its centre differ. XOR(4, 0, 0) is the textbook problem.
func XOR(n int, noise float64, seed uint64) *Dataset {
	return generate("xor", n, "noise", noise, seed, func(i, _ int, s source) (float64, float64) {
		c := [4][2]float64{{-1, 1}, {1, 1}, {1, -1}, {-1, -1}}[i%4]
		return s.near(c[0], noise), s.near(c[1], noise)
	})
}

// Checkerboard returns points that are spread uniformly over a board of cells × cells squares,
// 2 ≤ cells ≤ 1000, that fills [−1, 1]². The square at the lower left is +1.
func Checkerboard(n, cells int, seed uint64) *Dataset {
	if cells < 2 || cells > 1000 {
		return bad("checkerboard", fmt.Sprintf("cells is %d; a side has 2 … 1000 squares", cells))
	}
	return generate("checkerboard", n, "noise", 0, seed, func(i, _ int, s source) (float64, float64) {
		for {
			u, v := s.uniform(), s.uniform()
			if (int(u*float64(cells))+int(v*float64(cells)))%2 == i%2 {
				return 2*u - 1, 2*v - 1
			}
		}
	})
}

// Spirals returns two interleaved Archimedean spirals of one and a half turns and outer radius
// 3, whose arms are 1 apart. Each class is the image of the other by reflection in the origin.
// Points lie evenly along the arms.
func Spirals(n int, noise float64, seed uint64) *Dataset {
	const turns = 1.5
	return generate("spirals", n, "noise", noise, seed, func(i, m int, s source) (float64, float64) {
		t := turns * math.Sqrt((float64(i/2)+0.5)/float64(m))
		x, y := turn(t)
		r := 2 * t
		if i%2 == 1 {
			r = -r
		}
		return s.near(r*x, noise), s.near(r*y, noise)
	})
}

// generate draws n points. Those with even i are +1. The function at returns the coordinates
// of point i; m is the number of points in its class.
func generate(name string, n int, argument string, noise float64, seed uint64, at func(i, m int, s source) (x, y float64)) *Dataset {
	d := blank(name, n, 2, argument, noise, seed)
	if d.err != nil {
		return d
	}
	d.Classes = []string{"-1", "+1"}
	s := newSource(seed)
	for i := range n {
		d.Y[i] = 1 - 2*float64(i%2)
		d.X[i][0], d.X[i][1] = at(i, (n+1-i%2)/2, s)
	}
	return d
}

// blank checks the arguments of a generator and allocates n points of d features.
func blank(name string, n, d int, argument string, noise float64, seed uint64) *Dataset {
	if n < 2 || n > maxGenerated {
		return bad(name, fmt.Sprintf("n is %d; there must be 2 … %d points", n, maxGenerated))
	}
	if noise < 0 || !finite(noise) {
		return bad(name, fmt.Sprintf("%s is %v; it is a standard deviation, 0 or a positive number", argument, noise))
	}
	return &Dataset{
		Name:   name,
		X:      rows(n, d),
		Y:      make([]float64, n),
		Source: fmt.Sprintf("generated, seed %d", seed),
	}
}

func bad(name, msg string) *Dataset {
	d := &Dataset{Name: name}
	return d.failed(d.fault(-1, -1, msg))
}
