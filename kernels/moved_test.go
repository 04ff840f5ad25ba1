package kernels

import (
	"context"
	"testing"
)

// TestSweepMoved: rows are those of the points as they were given, though points
// have changed places.
func TestSweepMoved(t *testing.T) {
	const n = 20
	x := normal(4, n, 3)
	k := Normalised(Polynomial(2, 1, 1))
	g, err := NewGram(k, x, NoCache)
	if err != nil {
		t.Fatal(err)
	}
	g.swap(1, 5)
	g.swap(5, 19)
	for _, lower := range []bool{false, true} {
		rows := make([][]float64, n)
		if err := g.Sweep(context.Background(), lower, func(i int, row []float64) { rows[i] = append([]float64{}, row...) }); err != nil {
			t.Fatal(err)
		}
		reference, err := NewGram(k, x, NoCache)
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range rows {
			if len(row) != n && !lower || len(row) != i+1 && lower {
				t.Fatalf("row %d has %d entries", i, len(row))
			}
			for j, v := range row {
				if v != reference.Row(i)[j] {
					t.Fatalf("K_%d,%d is %v, of Row %v", i, j, v, reference.Row(i)[j])
				}
			}
		}
	}
}

// Points go by compressed rows where most of their numbers are 0, unless that takes
// precision that they have less their means.
func TestMostlyZero(t *testing.T) {
	few, far := normal(5, 100, 40), normal(5, 100, 40)
	for i := range few {
		for c := range few[i] {
			if (i+c)%10 > 0 {
				few[i][c], far[i][c] = 0, 0
			}
		}
		far[i][0] = 1e5
	}
	for _, c := range []struct {
		name string
		x    [][]float64
		want bool
	}{{"few", few, true}, {"far from the origin", far, false}, {"dense", normal(5, 100, 40), false}, {"few features", [][]float64{{0, 0, 1}, {0, 0, 2}}, false}} {
		g, err := NewGram(RBF(0.1), c.x, 0)
		if err != nil {
			t.Fatal(err)
		}
		if b := inBlocks(g); b.f.sparse != c.want || b.unit != 0x1p-24 || b.sums == nil {
			t.Errorf("%s: by compressed rows %v, unit %g", c.name, b.f.sparse, b.unit)
		}
	}
}

// A sparse basis is never written out.
func TestSparseBasisStaysSparse(t *testing.T) {
	b := AgainstSparse(RBF(0.1), CSR{Start: []int{0, 1, 3}, Index: []int32{7, 0, 99_999}, Value: []float64{1, 2, 3}, D: 100_000})
	if f := b.sums().(*sums).right.f; !f.sparse || f.spaces[0].mean != nil {
		t.Error("products of a sparse basis are not by compressed rows")
	}
}
