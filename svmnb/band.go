package svmnb

import (
	"fmt"
	"math"
	"slices"

	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/points"
)

// certainPoints limits the training points, times the machines, for which a summary or a table
// says whether their label can change: a few milliseconds.
const certainPoints = 2000

// certainTraining reports for each training point whether its label is certain; nil if that
// would take long or is not known.
func (f *Fit) certainTraining() []bool {
	rows, values := f.glance()
	if rows != nil || len(values) > certainPoints {
		return nil
	}
	b, err := f.ball("Certain")
	if err != nil {
		return nil
	}
	certain, err := b.certain(points.Of(f.task.data), divided(values, f.scale), f.line/f.scale, quick, thorough)
	if err != nil {
		return nil
	}
	return certain
}

// certainTraining is that of Fit.
func (f *MultiFit) certainTraining() []bool {
	rows, decisions := f.glance()
	if rows != nil || len(decisions)*max(len(f.machines), 1) > certainPoints {
		return nil
	}
	certain, err := f.certain(points.Of(f.task.base.data), decisions)
	if err != nil {
		return nil
	}
	return certain
}

// certainText says how many training labels are certain; "" if that is not known.
func certainText(certain []bool) string {
	if certain == nil {
		return ""
	}
	return fmt.Sprintf("%d of %d training labels can no longer change", count(certain), len(certain))
}

func certainWords(certain []bool) []string {
	words := make([]string, len(certain))
	for i, c := range certain {
		if words[i] = "could change"; c {
			words[i] = "certain"
		}
	}
	return words
}

func count(marked []bool) (n int) {
	for _, m := range marked {
		if m {
			n++
		}
	}
	return n
}

// bandOver returns the bounds of f* at the nodes of a grid with the values z of f, for the band
// of a figure between f* ≥ lower = 0 and upper = 0. The bounds near the band take at most work
// kernel values more: they are thorough, or have fewer training points in their corners, or, if
// these would be no more than the quick ones have, remain quick. The result is nil if the gap is not
// known.
func (f *Fit) bandOver(nodes [][]float64, z [][]float64, work int) *figure.Band {
	b, err := f.ball("Bounds")
	if err != nil {
		return nil
	}
	values, nx := divided(slices.Concat(z...), f.scale), len(z[0])
	lower, upper, err := b.bounds(points.Rows(nodes), values, quick)
	if err != nil {
		return nil
	}
	e := thorough
	near := nearBand(lower, upper, nx)
	if e.points = min(e.points, work/max(1, 2*len(near))); e.points > quick.points {
		some := make([][]float64, len(near))
		for k, p := range near {
			some[k] = nodes[p]
		}
		if l, u, err := b.bounds(points.Rows(some), pick(values, near), e); err == nil {
			for k, p := range near {
				lower[p], upper[p] = max(lower[p], l[k]), min(upper[p], u[k])
			}
		}
	}
	return &figure.Band{Lower: slices.Collect(slices.Chunk(lower, nx)), Upper: slices.Collect(slices.Chunk(upper, nx))}
}

// nearBand returns the nodes of a grid whose sign is open, those where it changes, and their
// neighbours.
func nearBand(lower, upper []float64, nx int) (near []int) {
	sign := func(p int) int {
		switch {
		case lower[p] > 0:
			return 1
		case upper[p] < 0:
			return -1
		}
		return 0
	}
	ny := len(lower) / nx
	for p := range lower {
		i, j, here := p/nx, p%nx, sign(p)
		open := here == 0
		for a := max(i-1, 0); a <= min(i+1, ny-1); a++ {
			for c := max(j-1, 0); c <= min(j+1, nx-1); c++ {
				open = open || sign(a*nx+c) != here
			}
		}
		if open {
			near = append(near, p)
		}
	}
	return near
}

// farthest says how far the values at the training points can be from those of the optimum;
// "" if that would take long or is not known.
func (f *RegressionFit) farthest() string {
	rows, values := f.glance()
	if rows != nil || len(values) > certainPoints {
		return ""
	}
	b, err := f.task.around("Bounds", f.task.problem, &f.Result)
	if err != nil {
		return ""
	}
	lower, upper, err := b.bounds(points.Of(f.task.data), values, quick)
	if err != nil {
		return ""
	}
	most := 0.0
	for i, v := range values {
		most = max(most, v-lower[i], upper[i]-v)
	}
	if math.IsInf(most, 1) {
		return ""
	}
	return fmt.Sprintf("at most %.2g at each training point", most)
}
