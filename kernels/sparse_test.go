package kernels_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/svmnb/svmnb/internal/toy"
	"github.com/svmnb/svmnb/kernels"
)

// compressed returns x by rows without zeros.
func compressed(x [][]float64) kernels.CSR {
	s := kernels.CSR{Start: []int{0}}
	for _, row := range x {
		s.D = len(row)
		for c, v := range row {
			if v != 0 {
				s.Index, s.Value = append(s.Index, int32(c)), append(s.Value, v)
			}
		}
		s.Start = append(s.Start, len(s.Index))
	}
	return s
}

// thin sets most values to 0.
func thin(x [][]float64, share float64) [][]float64 {
	rng := rand.New(rand.NewPCG(9, 9))
	t := make([][]float64, len(x))
	for i, row := range x {
		t[i] = slices.Clone(row)
		for c := range row {
			if rng.Float64() >= share {
				t[i][c] = 0
			}
		}
	}
	return t
}

// Sparse points give what the same points give when they are written out.
func TestSparse(t *testing.T) {
	for _, k := range append(all(), anyKernel{kernels.Columns(kernels.Sum(kernels.RBF(1), kernels.ARD(1, 2, 0.5)), 2, 0, 2), nil}) {
		t.Run(k.String(), func(t *testing.T) {
			x := toy.Normal(7, 20, 3)
			if k.points != nil {
				x = k.points(x)
			}
			if _, err := kernels.NewGram(k, thin(x, 0.6), 0); err == nil { // 0 is in its domain
				x = append(thin(x, 0.6), x[0], x[0])
			}
			s, exact, n := compressed(x), mustGram(t, k, x, 0), len(x)
			size := 1e-7 * (1 + largest(exact)) // √ of a distance near 0 has half the digits
			for _, cache := range []int64{0, int64(8 * 5 * n), kernels.NoCache} {
				g, err := kernels.NewSparseGram(k, s, cache)
				if err != nil {
					t.Fatal(err)
				}
				rows := make([][]float64, n)
				for _, i := range rand.New(rand.NewPCG(1, 1)).Perm(n) {
					rows[i] = slices.Clone(g.Row(i))
				}
				for i, row := range rows {
					for j, v := range row {
						if want := exact.Row(i)[j]; !(math.Abs(v-want) <= size) || v != rows[j][i] {
							t.Fatalf("K[%d][%d] = %v, K[%d][%d] = %v, want %v", i, j, v, j, i, rows[j][i], want)
						}
					}
				}
			}
			b := kernels.AgainstSparse(k, s)
			if err := errors.Join(b.Check(x), b.CheckSparse(s)); err != nil {
				t.Fatal(err)
			}
			for i := range x {
				for j, v := range b.Row(nil, x[i]) {
					if want := exact.Row(i)[j]; !(math.Abs(v-want) <= size) {
						t.Fatalf("Basis: K[%d][%d] = %v, want %v", i, j, v, want)
					}
				}
			}
			atLevels(t, func(t *testing.T) {
				g, err := kernels.NewSparseGram(k, s, 0)
				if err != nil {
					t.Fatal(err)
				}
				idx := []int{4, 0, n - 1, 1}
				sameRows(t, g, exact, idx, 0x1p-17)
				sameSums(t, g, exact, idx, 0x1p-21)
			})
		})
	}
}

func TestSparseProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, d := rapid.IntRange(1, 200).Draw(t, "n"), rapid.IntRange(1, 90).Draw(t, "d")
		x := thin(toy.Normal(rapid.Uint64().Draw(t, "seed"), n, d), rapid.Float64Range(0, 1).Draw(t, "share"))
		s := compressed(x)
		k := kernels.Sum(kernels.RBF(1/float64(d)), kernels.Polynomial(2, 1/float64(d), 1))
		g, err := kernels.NewSparseGram(k, s, 0)
		if err != nil {
			t.Fatal(err)
		}
		exact := mustGram(t, k, x, 0)
		i := rapid.IntRange(0, n-1).Draw(t, "i")
		dst := make([][]float32, 1)
		g.Hold(dst, []int{i})
		for j, want := range exact.Row(i) {
			if !(math.Abs(g.Row(i)[j]-want) <= 1e-13*largest(exact) && math.Abs(float64(dst[0][j])-want) <= 0x1p-17*largest(exact)) {
				t.Fatalf("K[%d][%d] is %v, and %v in single precision, want %v", i, j, g.Row(i)[j], dst[0][j], want)
			}
		}
	})
}

func TestCSR(t *testing.T) {
	x := [][]float64{{0, 2, 0}, {0, 0, 0}, {1, 0, 3}}
	s := compressed(x)
	if got := s.Points(2, 1, 2); s.N() != 3 || got.N() != 3 || !slices.Equal(got.Point(nil, 2), x[2]) || !slices.Equal(got.Point(make([]float64, 9), 1), x[1]) {
		t.Errorf("points 2, 1, 2 of %v are %v", s, got)
	}
	good := func() kernels.CSR { return compressed(x) }
	for name, c := range map[string]struct {
		change   func(s *kernels.CSR)
		row, col int
		msg      string
	}{
		"none":      {func(s *kernels.CSR) { *s = kernels.CSR{D: 3} }, -1, -1, "no points"},
		"no d":      {func(s *kernels.CSR) { s.D = 0 }, -1, -1, "D, the number of features, is 0"},
		"start":     {func(s *kernels.CSR) { s.Start[0] = 1 }, -1, -1, "Start goes from 1"},
		"end":       {func(s *kernels.CSR) { s.Start[3] = 2 }, -1, -1, "for 3 indices"},
		"values":    {func(s *kernels.CSR) { s.Value = s.Value[1:] }, -1, -1, "2 values"},
		"falls":     {func(s *kernels.CSR) { s.Start[2] = 0 }, 1, -1, "must not decrease"},
		"far":       {func(s *kernels.CSR) { s.Start[1] = 9 }, 0, -1, "must not decrease"},
		"below":     {func(s *kernels.CSR) { s.Start[1] = -1 }, 0, -1, "must not decrease"},
		"column":    {func(s *kernels.CSR) { s.Index[0] = 3 }, 0, 3, "below D, 3"},
		"negative":  {func(s *kernels.CSR) { s.Index[0] = -1 }, 0, -1, "indices increase"},
		"twice":     {func(s *kernels.CSR) { s.Index[2] = 0 }, 2, 0, "the index 0 comes after 0"},
		"NaN":       {func(s *kernels.CSR) { s.Value[2] = math.NaN() }, 2, 2, "not a finite number"},
		"infinite":  {func(s *kernels.CSR) { s.Value[0] = math.Inf(-1) }, 0, 1, "not a finite number"},
		"too large": {func(s *kernels.CSR) { s.Value[0] = 1e200 }, 0, -1, "scale the features"},
	} {
		s := good()
		c.change(&s)
		var e *kernels.DataError
		_, err := kernels.NewSparseGram(kernels.Linear(), s, 0)
		if !errors.As(err, &e) || e.Arg != "x" || e.Row != c.row || e.Col != c.col || !strings.Contains(e.Msg, c.msg) {
			t.Errorf("%s: %v, want a *DataError in row %d, column %d that says %q", name, err, c.row, c.col, c.msg)
		}
	}
	var p *kernels.ParamError
	if _, err := kernels.NewSparseGram(kernels.RBF(-1), s, 0); !errors.As(err, &p) {
		t.Errorf("RBF(-1): %v, want a *ParamError", err)
	}
	var e *kernels.DataError
	many := make([][]float64, 70)
	for i := range many {
		many[i] = []float64{1, 0}
	}
	many[66] = []float64{0, -1}
	if _, err := kernels.NewSparseGram(kernels.ChiSquared(), compressed(many), 0); !errors.As(err, &e) || e.Row != 66 || e.Col != 1 || e.Arg != "x" {
		t.Errorf("a negative feature: %v, want a *DataError in row 66, column 1", err)
	}
	b := kernels.AgainstSparse(kernels.RBF(1), s)
	if err := b.CheckSparse(compressed([][]float64{{1}})); !errors.As(err, &e) {
		t.Errorf("points of another width: %v, want a *DataError", err)
	}
	if err := kernels.AgainstSparse(kernels.RBF(1), kernels.CSR{}).CheckSparse(s); err != nil {
		t.Error(err)
	}
}

// TestSparseFarFromTheOrigin: how far points are from the origin takes no digits of their
// distances.
func TestSparseFarFromTheOrigin(t *testing.T) {
	for _, offset := range []float64{0, 1, 1e3, 1e6, 1e9} {
		rng := rand.New(rand.NewPCG(1, 1))
		c := kernels.CSR{Start: []int{0}, D: 4}
		for i := range 20 {
			for j := range 4 {
				if v := offset + rng.NormFloat64(); j < 3 || i%2 == 0 {
					c.Index, c.Value = append(c.Index, int32(j)), append(c.Value, v)
				}
			}
			c.Start = append(c.Start, len(c.Index))
		}
		for _, k := range []kernels.Kernel{kernels.RBF(0.5), kernels.Matern32(2), kernels.ARD(1, 2, 3, 4), kernels.Sum(kernels.RBF(0.1), kernels.Exponential(1))} {
			g, err := kernels.NewSparseGram(k, c, 0)
			if err != nil {
				t.Fatal(err)
			}
			var a, b []float64
			for i := range c.N() {
				row := g.Row(i)
				for j, v := range row {
					a, b = c.Point(a, i), c.Point(b, j)
					if want := k.Eval(a, b); math.Abs(v-want) > 1e-12 {
						t.Fatalf("offset %g: %v of points %d and %d is %.17g in the row, %.17g by Eval", offset, k, i, j, v, want)
					}
				}
			}
		}
	}
}
