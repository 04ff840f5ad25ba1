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
