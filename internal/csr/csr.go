// Package csr has the layout of sparse points that all packages share.
package csr

import (
	"fmt"
	"math"
	"slices"
)

// Rows is n points of d features, most of which are 0, in compressed rows: point i has the
// features Index[Start[i]:Start[i+1]], increasing and counted from 0, with their numbers in
// Value. All other features are 0.
type Rows struct {
	Start []int     // n + 1 positions in Index, beginning with 0
	Index []int32   // features
	Value []float64 // the number of each feature in Index
	D     int       // number of features of a point, d ≥ 1
}

// N returns the number of points.
func (x Rows) N() int { return max(0, len(x.Start)-1) }

// Point sets dst to the d features of point i and returns it. A dst that is shorter than d,
// such as nil, is replaced by a new slice.
func (x Rows) Point(dst []float64, i int) []float64 {
	if cap(dst) < x.D {
		dst = make([]float64, x.D)
	}
	dst = dst[:x.D]
	clear(dst)
	for p := x.Start[i]; p < x.Start[i+1]; p++ {
		dst[x.Index[p]] = x.Value[p]
	}
	return dst
}

// Points returns a copy of the points with the given indices, in that order.
func (x Rows) Points(which ...int) Rows {
	size := 0
	for _, i := range which {
		size += x.Start[i+1] - x.Start[i]
	}
	c := Rows{Start: make([]int, 1, len(which)+1), Index: make([]int32, 0, size), Value: make([]float64, 0, size), D: x.D}
	for _, i := range which {
		a, b := x.Start[i], x.Start[i+1]
		c.Index, c.Value = append(c.Index, x.Index[a:b]...), append(c.Value, x.Value[a:b]...)
		c.Start = append(c.Start, len(c.Index))
	}
	return c
}

// Means returns a mean for each of the d features. If more than half of the points have a
// non-zero number for the feature, it is the mean over these points, otherwise 0.
func (x Rows) Means() []float64 {
	count, mean := make([]int, x.D), make([]float64, x.D)
	for _, j := range x.Index {
		count[j]++
	}
	for p, j := range x.Index {
		if 2*count[j] > x.N() {
			mean[j] += x.Value[p] / float64(count[j])
		}
	}
	return mean
}

// Less returns the points minus the mean. Each of them then stores all features whose mean is
// not 0.
func (x Rows) Less(mean []float64) Rows {
	c := Rows{Start: make([]int, 1, x.N()+1), D: x.D}
	var moving []int32
	for j, m := range mean {
		if m != 0 {
			moving = append(moving, int32(j))
		}
	}
	put := func(j int32, v float64) { c.Index, c.Value = append(c.Index, j), append(c.Value, v-mean[j]) }
	for i := range x.N() {
		rest := moving
		for p := x.Start[i]; p < x.Start[i+1]; p++ {
			j := x.Index[p]
			for ; len(rest) > 0 && rest[0] < j; rest = rest[1:] {
				put(rest[0], 0)
			}
			if len(rest) > 0 && rest[0] == j {
				rest = rest[1:]
			}
			put(j, x.Value[p])
		}
		for _, j := range rest {
			put(j, 0)
		}
		c.Start = append(c.Start, len(c.Index))
	}
	return c
}

// Clone returns a copy of x.
func (x Rows) Clone() *Rows {
	return &Rows{slices.Clone(x.Start), slices.Clone(x.Index), slices.Clone(x.Value), x.D}
}

// Fault says what is wrong with sparse points, and where. Row or Column is −1 if the fault
// belongs to no single row or column.
type Fault struct {
	Row, Column int
	Value       float64
	Msg         string
}

// Fault returns the first thing that is wrong with Start, Index and the lengths, or nil. It
// does not check the values.
func (x Rows) Fault() *Fault {
	n := x.N()
	wrong := func(row, column int, v float64, format string, args ...any) *Fault {
		return &Fault{row, column, v, fmt.Sprintf(format, args...)}
	}
	switch {
	case n == 0:
		return nil
	case x.D < 0 || x.D > math.MaxInt32:
		return wrong(-1, -1, float64(x.D), "D, the number of features, is %d: want at least 1 and at most %d", x.D, math.MaxInt32)
	case x.Start[0] != 0 || x.Start[n] != len(x.Index) || len(x.Index) != len(x.Value):
		return wrong(-1, -1, float64(x.Start[n]), "Start goes from %d to %d for %d indices and %d values: want from 0 to the number of both", x.Start[0], x.Start[n], len(x.Index), len(x.Value))
	}
	for i := range n {
		a, b := x.Start[i], x.Start[i+1]
		if a > b || b > len(x.Index) {
			return wrong(i, -1, float64(b), "Start goes from %d to %d: it must not decrease", a, b)
		}
		last := -1
		for _, c := range x.Index[a:b] {
			if int(c) <= last || int(c) >= x.D {
				return wrong(i, int(c), float64(c), "the index %d comes after %d: indices increase and are below D, %d", c, last, x.D)
			}
			last = int(c)
		}
	}
	return nil
}

// Unpack implements Points of package datasets, so that sparse points can be given to
// predictions.
func (x Rows) Unpack() (rows [][]float64, sparse *Rows) { return nil, &x }
