package solvers

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/svmnb/svmnb/internal/toy"
)

// Rows of few numbers are compressed, and are the same matrix: categories, whose
// values are all 1, and any others, with and without a constant behind.
func TestNewFeatures(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 52))
	for trial := range 40 {
		n, d, bias := 1+rng.IntN(30), 16+rng.IntN(40), []float64{0, 1, 0.5}[trial%3]
		x := make([][]float64, n)
		for i := range x {
			x[i] = make([]float64, d)
			for range rng.IntN(d/8 + 1) {
				v := 1.0
				if trial%2 == 0 {
					v = rng.NormFloat64()
				}
				x[i][rng.IntN(d)] = v
			}
		}
		got, err := NewFeatures(x, bias)
		if _, ok := got.(*SparseFeatures); !ok || err != nil {
			t.Fatalf("%d × %d: %T, %v", n, d, got, err)
		}
		want, err := NewDenseFeatures(x, bias)
		if err != nil {
			t.Fatal(err)
		}
		if got.Dim() != n || got.Columns() != want.Columns() {
			t.Fatalf("%d × %d, want %d × %d", got.Dim(), got.Columns(), n, want.Columns())
		}
		w, sum, other := make([]float64, want.Columns()), make([]float64, want.Columns()), make([]float64, want.Columns())
		for j := range w {
			w[j] = rng.NormFloat64()
		}
		for i := range n {
			if a, b := got.Dot(i, w), want.Dot(i, w); math.Abs(a-b) > 1e-13*float64(d) {
				t.Errorf("row %d: product %v, want %v", i, a, b)
			}
			if a, b := got.Diag()[i], want.Diag()[i]; math.Abs(a-b) > 1e-13*float64(d) {
				t.Errorf("row %d: square %v, want %v", i, a, b)
			}
			got.Add(sum, i, 0.5)
			want.Add(other, i, 0.5)
			row := want.Row(i)
			for j, v := range got.Row(i) {
				if math.Abs(v-row[j]) > 1e-13*float64(d) {
					t.Errorf("K of %d and %d is %v, want %v", i, j, v, row[j])
				}
			}
		}
		for j, v := range sum {
			if math.Abs(v-other[j]) > 1e-13*float64(n) {
				t.Errorf("column %d sums to %v, want %v", j, v, other[j])
			}
		}
	}
}

func TestNewFeaturesKeepsWhatIsNotSparse(t *testing.T) {
	sparse := func() []float64 { return append(make([]float64, 15), 1) }
	for name, x := range map[string][][]float64{
		"three of sixteen": {{15: 1, 3: 2, 4: 1}}, "the last row": {sparse(), {1, 1, 1, 15: 1}}, "narrow": {{0, 0, 0, 0, 0, 0, 1}},
	} {
		if f, err := NewFeatures(x, 1); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if _, ok := f.(*DenseFeatures); !ok {
			t.Errorf("%s: compressed", name)
		}
	}
	for name, x := range map[string][][]float64{
		"ragged": {sparse(), {1}}, "longer": {sparse(), make([]float64, 17)},
		"NaN": {sparse(), {3: math.NaN(), 15: 0}}, "infinite": {{3: math.Inf(1), 15: 0}},
	} {
		f, err := NewFeatures(x, 1)
		var e *ProblemError
		if !errors.As(err, &e) || e.Field != "X" || f != nil {
			t.Errorf("%s: %v, %v", name, f, err)
		}
	}
	if f, err := NewFeatures(nil, 1); err != nil || f.Dim() != 0 {
		t.Errorf("no rows: %v", err)
	}
}

// Newton and coordinate descent end at the same optimum on rows of either form.
func TestNewtonOnCompressedRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(53, 54))
	n, d := 300, 40
	x, y := make([][]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = make([]float64, d), float64(2*(i%2)-1)
		for range 4 {
			x[i][(rng.IntN(d)+rng.IntN(d))*(3+i%2)/4%d] = 1
		}
	}
	sparse, err := NewFeatures(x, 1)
	if err != nil {
		t.Fatal(err)
	}
	dense, _ := NewDenseFeatures(x, 1)
	stop := Settings{Stop: UpLow{1e-8}}
	want := solve(t, SoftMargin(dense, y, fill(n, 1)).WithFixedBias(0), Newton{}, stop).Certificate
	for _, m := range []Method{Newton{}, CoordinateDescent{}} {
		if got := solve(t, SoftMargin(sparse, y, fill(n, 1)).WithFixedBias(0), m, stop).Certificate; !toy.Near(got.Dual, want.Dual, 1e-9) || got.MaxKKT > 1e-8 {
			t.Errorf("%s: W = %v with a violation of %g, want %v", m.Name(), got.Dual, got.MaxKKT, want.Dual)
		}
	}
}

// What Newton adds up for its Hessian is x x', of x with its constant and, for a free
// bias, a 1 behind.
func TestSparseSquare(t *testing.T) {
	x := [][]float64{{0, 1, 0, 1, 1}, {0, 2, 0, -3, 0.5}}
	for _, bias := range []float64{0, 0.5} {
		for i, row := range x {
			f := sparsely(t, x[i:i+1])
			f, err := NewSparseFeatures(f.Start, f.Index, f.Value, len(row), bias)
			if err != nil {
				t.Fatal(err)
			}
			if bias > 0 {
				row = append(row[:5:5], bias)
			}
			for _, free := range []bool{false, true} {
				if free {
					row = append(row[:f.Columns():f.Columns()], 1)
				}
				h := make([]float64, len(row)*len(row))
				f.square(h, len(row), 0, 4)
				for a, u := range row {
					for b, v := range row[:a+1] {
						if h[a*len(row)+b] != 4*u*v {
							t.Errorf("bias %v, free %v: (%d, %d) is %v, want %v", bias, free, a, b, h[a*len(row)+b], 4*u*v)
						}
					}
				}
			}
		}
	}
}
