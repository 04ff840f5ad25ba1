package kernels

import (
	"context"
	"math"
	"testing"

	"github.com/svmnb/svmnb/internal/toy"
)

// TestSweepMoved: rows are those of the points as they were given, though points
// have changed places.
func TestSweepMoved(t *testing.T) {
	const n = 20
	x := toy.Normal(4, n, 3)
	k := Normalised(Polynomial(2, 1, 1))
	g, err := NewGram(k, x, NoCache)
	if err != nil {
		t.Fatal(err)
	}
	g.swap(1, 5)
	g.swap(5, 19)
	for height, lower := range []bool{false, true} {
		rows := make([][]float64, n)
		if err := g.Sweep(context.Background(), height, func(i, _ int, r [][]float64) { rows[i] = append([]float64{}, r[0]...) }); err != nil {
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
	few, far := toy.Normal(5, 100, 40), toy.Normal(5, 100, 40)
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
	}{{"few", few, true}, {"far from the origin", far, false}, {"dense", toy.Normal(5, 100, 40), false}, {"few features", [][]float64{{0, 0, 1}, {0, 0, 2}}, false}} {
		g, err := NewGram(RBF(0.1), c.x, 0)
		if err != nil {
			t.Fatal(err)
		}
		b := inBlocks(g)
		if _, single := b.quick.(*tierOf[float32]); b.f.sparse != c.want || !single || b.exact == nil {
			t.Errorf("%s: by compressed rows %v, in single precision %v", c.name, b.f.sparse, single)
		}
	}
}

// Many points that are mostly zero are kept without zeros; their rows one by one are
// nevertheless those of points as they were given, whatever becomes of these.
func TestKeptWithoutZeros(t *testing.T) {
	const n, d = 700, 40
	x := toy.Normal(6, n, d)
	for i := range x {
		for c := range x[i] {
			if (i+c)%10 > 0 {
				x[i][c] = 0
			}
		}
	}
	far := make([][]float64, n)
	for i := range far {
		far[i] = append([]float64{1e5}, x[i][1:]...)
	}
	for _, c := range []struct {
		name     string
		k        Kernel
		x        [][]float64
		kept, by bool // without zeros at first, products
	}{
		{"Gaussian", RBF(0.1), x, true, true},
		{"a sum", Sum(Polynomial(2, 1, 1), Columns(RBF(1), 3, 1)), x, true, true},
		{"normalised", Normalised(Polynomial(2, 1, 1)), x, true, false},
		{"far from the origin", RBF(0.1), far, true, false},
		{"no products", Laplacian(0.1), x, false, false},
		{"dense", RBF(0.1), toy.Normal(6, n, d), false, false},
	} {
		given := copied(c.x, d)
		b := Against(c.k, c.x)
		for _, cache := range []int64{0, 8 * 5 * n, NoCache} {
			g, err := NewGram(c.k, given, cache)
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range given {
				clear(row)
			}
			if kept := g.p.sparse != nil; kept != c.kept || kept && g.p.rows != nil {
				t.Errorf("%s: kept without zeros %v, want %v", c.name, kept, c.kept)
			}
			rows := func() {
				for _, i := range []int{5, n - 1, 0, 77, 5, 300} {
					row, want := g.Row(i), b.Row(nil, c.x[i])
					for j, v := range row {
						if v != want[j] {
							t.Fatalf("%s: K[%d][%d] is %v, want %v", c.name, i, j, v, want[j])
						}
					}
				}
			}
			rows()
			if f := inBlocks(g).f; f != nil && f.sparse != c.by {
				t.Errorf("%s: products by compressed rows %v, want %v", c.name, f.sparse, c.by)
			}
			sum, want := make([]float64, n), b.Row(nil, c.x[9])
			_ = g.AddTo(context.Background(), sum, nil, nil, []int{9}, []float64{1}, true)
			for j, v := range sum {
				if !(math.Abs(v-want[j]) <= 0x1p-30*g.Diag()[9]) {
					t.Fatalf("%s: K[9][%d] is %v by products, want %v", c.name, j, v, want[j])
				}
			}
			rows()
			for i := range given {
				copy(given[i], c.x[i])
			}
		}
	}
}

// The first of the points that are wrong is named, whoever finds it.
func TestFirstWrongPoint(t *testing.T) {
	x := toy.Normal(7, 3*block, 3)
	x[2*block+1] = x[2*block+1][:2]
	x[block+9][1], x[block+8][2] = math.Inf(1), math.NaN()
	_, err := NewGram(RBF(1), x, 0)
	if e, ok := err.(*DataError); !ok || e.Row != block+8 || e.Col != 2 {
		t.Errorf("%v, want row %d, column 2", err, block+8)
	}
	x[block+8][2], x[block+9][1] = 0, 0
	_, err = NewGram(RBF(1), x, 0)
	if e, ok := err.(*DataError); !ok || e.Row != 2*block+1 || e.Col != -1 {
		t.Errorf("%v, want row %d", err, 2*block+1)
	}
}

// A sparse basis is never written out.
func TestSparseBasisStaysSparse(t *testing.T) {
	b := AgainstSparse(RBF(0.1), CSR{Start: []int{0, 1, 3}, Index: []int32{7, 0, 99_999}, Value: []float64{1, 2, 3}, D: 100_000})
	if f := b.sums().(*sums).right.f; !f.sparse || f.spaces[0].mean != nil {
		t.Error("products of a sparse basis are not by compressed rows")
	}
}
