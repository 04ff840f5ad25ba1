package kernels_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/svmnb/svmnb/internal/simd"
	"github.com/svmnb/svmnb/internal/toy"
	"github.com/svmnb/svmnb/internal/vec"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
)

// atLevels runs a test with every set of instructions that the machine has.
func atLevels(t *testing.T, test func(t *testing.T)) {
	defer simd.SetLevel(simd.Active())
	for l := range simd.Best() + 1 {
		simd.SetLevel(l)
		t.Run(l.String(), test)
	}
	defer kernels.SetFusedFrom(kernels.SetFusedFrom(0))
	t.Run(simd.Best().String()+", fused", test)
}

// largest is the largest diagonal entry, by which errors are measured.
func largest(g *kernels.Gram) float64 {
	size := 0.0
	for _, v := range g.Diag() {
		size = max(size, math.Abs(v))
	}
	for _, v := range g.Row(0) { // the diagonal of a Distance is 0
		size = max(size, math.Abs(v))
	}
	return size
}

// sameRows fails unless g keeps the rows idx in single precision, up to tol times the largest
// entry, as exact, a matrix of the same, gives them.
func sameRows(t *testing.T, g, exact *kernels.Gram, idx []int, tol float64) {
	t.Helper()
	dst, size := make([][]float32, len(idx)), largest(exact)
	g.Hold(dst, idx)
	for k, i := range idx {
		for j, want := range exact.Row(i) {
			if !(math.Abs(float64(dst[k][j])-want) <= tol*size) {
				t.Fatalf("K[%d][%d] = %v, want %v", i, j, dst[k][j], want)
			}
		}
		if dst[k][i] != float32(exact.Diag()[i]) {
			t.Fatalf("K[%d][%d] = %v, the diagonal has %v", i, i, dst[k][i], exact.Diag()[i])
		}
	}
}

// sameSums fails unless exact sums agree with the rows of exact up to
// tol·Σ|coef|·max K.
func sameSums(t *testing.T, g, exact *kernels.Gram, idx []int, tol float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(len(idx)), 5))
	got, want, coef := make([]float64, g.Dim()), make([]float64, g.Dim()), make([]float64, len(idx))
	for i := range got {
		got[i] = float64(i)
		want[i] = got[i]
	}
	sum := 0.0
	for k, i := range idx {
		coef[k] = rng.NormFloat64()
		sum += math.Abs(coef[k])
		for j, v := range exact.Row(i) {
			want[j] += coef[k] * v
		}
	}
	_ = g.AddTo(context.Background(), got, nil, nil, idx, coef, true)
	for j, v := range got {
		if !(math.Abs(v-want[j]) <= tol*sum*largest(exact)+1e-13*float64(j)) {
			t.Fatalf("entry %d is %v, want %v", j, v, want[j])
		}
	}
}

func TestBlocks(t *testing.T) {
	ks := all()
	ks = append(ks,
		anyKernel{kernels.Sum(kernels.RBF(0.3), kernels.Columns(kernels.Linear(), 1), kernels.Constant(2)), nil},
		anyKernel{kernels.Product(kernels.Polynomial(3, 0.5, 1), kernels.Columns(kernels.Matern52(1), 1, 0)), nil},
		anyKernel{kernels.Sum(kernels.Normalised(kernels.Sum(kernels.Normalised(kernels.Polynomial(2, 1, 1)), kernels.Linear())), kernels.Sigmoid(0.1, -1)), nil},
		anyKernel{kernels.Columns(kernels.Columns(kernels.ARD(1, 3), 1, 0), 2, 0), nil},
		anyKernel{kernels.Constant(3), nil})
	atLevels(t, func(t *testing.T) {
		for _, k := range ks {
			t.Run(k.String(), func(t *testing.T) {
				x := toy.Normal(7, 40, 3)
				if k.points != nil {
					x = k.points(x)
				}
				x = append(x, x[0]) // a point twice
				g, exact := mustGram(t, k, x, 0), mustGram(t, k, x, 0)
				for i := range x { // as the dense store leaves them, for a kernel that moves with them
					if i%3 == 0 {
						g.Row(i)
					}
				}
				idx := []int{4, 0, len(x) - 1, 1}
				sameRows(t, g, exact, idx, 0x1p-17)
				sameRows(t, g, exact, append(idx, 2, 3), 0x1p-17)
				sameSums(t, g, exact, idx, 0x1p-31)
				for i := range x {
					if !sameBits(g.Row(i), exact.Row(i)) {
						t.Fatalf("row %d has other bits after Hold", i)
					}
				}
			})
		}
	})
}

// TestMappedInBlocks: blocks of kernels that map their points, and of sums with white noise, have
// the values of single pairs, for dense and for sparse points.
func TestMappedInBlocks(t *testing.T) {
	white := kernels.Scale(0.3, kernels.White())
	row := func(v ...float64) []float64 { return append(v, make([]float64, 20-len(v))...) }
	for _, k := range []kernels.Kernel{
		kernels.Mapped(kernels.Matern52(1), row(1, 0.5), row(-0.5, 2, 1)),
		kernels.Columns(kernels.Rotated(kernels.ARDMatern32(1, 0.5, 2), 0.7, 2, 1.1), 2, 0, 1),
		kernels.Sum(kernels.RBF(0.05), white),
		kernels.Sum(kernels.RBF(0.05), kernels.Mapped(white, row(1)), kernels.Columns(white, 1, 0)),
		kernels.Product(kernels.Mapped(kernels.RBF(0.3), row(1, 0, 1)), kernels.Mapped(kernels.Columns(kernels.Mapped(kernels.Polynomial(2, 0.1, 1), []float64{1, 2}), 2, 0), row(1), row(0, 1), row(0, 0, 1))),
		kernels.Normalised(kernels.Sum(kernels.RBF(0.05), white)),
	} {
		t.Run(k.String(), func(t *testing.T) {
			x := toy.Normal(3, 600, 20)
			for i, v := range x {
				for j := range v[:20] {
					if (i+j)%7 != 0 || j < 3 && i%5 == 0 { // most are 0, but not the features that are read in all points
						v[j] = 0
					}
				}
				switch {
				case i%11 == 1: // points that are equal, and others that are so in some features
					copy(v, x[i-1])
				case i%11 == 2:
					v[0], v[1] = x[i-1][0], x[i-1][1]
				case i%11 == 3:
					v[0] = math.Copysign(0, -1)
				}
			}
			sparse := kernels.CSR{Start: []int{0}, D: 20}
			for _, v := range x {
				for j, a := range v {
					if a != 0 {
						sparse.Index, sparse.Value = append(sparse.Index, int32(j)), append(sparse.Value, a)
					}
				}
				sparse.Start = append(sparse.Start, len(sparse.Index))
			}
			other, err := kernels.NewSparseGram(k, sparse, kernels.NoCache)
			if err != nil {
				t.Fatal(err)
			}
			coef := make([]float64, len(x))
			for i := range coef {
				coef[i] = math.Cos(float64(i))
			}
			near := func(what string, i, j int, got, want float64) {
				if !(math.Abs(got-want) <= 1e-9*(1+math.Abs(want))) {
					t.Fatalf("%s: entry %d, %d is %v, want %v", what, i, j, got, want)
				}
			}
			want := make([][]float64, len(x))
			for i := range x {
				for j := range i + 1 {
					want[i] = append(want[i], k.Eval(x[i], x[j]))
				}
			}
			for what, g := range map[string]*kernels.Gram{"dense": mustGram(t, k, x, kernels.NoCache), "sparse": other} {
				blocks := make([]int, 600)
				if err := g.Sweep(t.Context(), 24, func(i, j int, rows [][]float64) {
					for r, row := range rows {
						for c, v := range row {
							if j+c <= i+r {
								near(what, i+r, j+c, v, want[i+r][j+c])
							}
						}
					}
					if len(rows) > 1 {
						blocks[i]++
					}
				}); err != nil {
					t.Fatal(err)
				}
				if what == "dense" && slices.Max(blocks) == 0 {
					t.Error("the matrix is read row by row")
				}
				some := make([]float64, 600)
				if err := g.AddTo(t.Context(), some, nil, nil, vec.Indices[int](600), coef, true); err != nil {
					t.Fatal(err)
				}
				sums := make([]float64, 9)
				kernels.Against(k, x).Times(sums, x[:9], coef)
				for i := range sums {
					sum := 0.0
					for j, c := range coef {
						sum += c * want[max(i, j)][min(i, j)]
					}
					near("Times", i, -1, sums[i], sum)
					near("AddTo "+what, i, -1, some[i], sum)
				}
			}
		})
	}
}

// Strips, chunks and ends that are not full; rows do not depend on what they are
// computed with.
func TestBlocksOfAnySize(t *testing.T) {
	atLevels(t, func(t *testing.T) {
		for _, n := range []int{1, 2, 127, 129, 767, 769, 1600} {
			for _, d := range []int{1, 5} {
				t.Run(fmt.Sprint(n, "×", d), func(t *testing.T) {
					x := toy.Normal(uint64(n), n, d)
					k := kernels.Sum(kernels.RBF(0.5), kernels.Polynomial(2, 0.1, 1))
					for _, k := range []kernels.Kernel{k, kernels.RBF(0.5)} {
						g, alone, exact := mustGram(t, k, x, 0), mustGram(t, k, x, 0), mustGram(t, k, x, 0)
						idx := rand.New(rand.NewPCG(1, 2)).Perm(n)
						idx = idx[:min(n, 300)]
						sameRows(t, g, exact, idx, 0x1p-17)
						sameSums(t, g, exact, idx, 0x1p-31)
						together, one := make([][]float32, len(idx)), make([][]float32, 1)
						g.Hold(together, idx)
						for k, i := range idx[:min(n, 9)] {
							alone.Hold(one, []int{i})
							if !slices.Equal(one[0], together[k]) {
								t.Fatalf("row %d differs when it is computed alone", i)
							}
						}
					}
				})
			}
		}
	})
}

// The store is a model of the rows used last: hits cost nothing, and a row that
// is held has the bits that it had.
func TestHoldProperties(t *testing.T) {
	x := toy.Normal(3, 120, 4)
	fresh := mustGram(t, kernels.RBF(0.2), x, 0)
	want := make([][]float32, len(x))
	every := make([]int, len(x))
	for i := range every {
		every[i] = i
	}
	fresh.Hold(want, every)
	rapid.Check(t, func(rt *rapid.T) {
		room := rapid.IntRange(2, 30).Draw(rt, "room")
		g := mustGram(rt, kernels.RBF(0.2), x, int64(room*4*len(x)))
		if g.Room() != room {
			rt.Fatalf("room for %d rows, want %d", g.Room(), room)
		}
		var used []int // the last in front
		for range rapid.IntRange(1, 12).Draw(rt, "calls") {
			idx := rapid.SliceOfNDistinct(rapid.IntRange(0, len(x)-1), 0, room, rapid.ID[int]).Draw(rt, "idx")
			before, missing := g.Evaluations(), 0
			for _, i := range idx {
				if !slices.Contains(used, i) {
					missing++
				}
			}
			dst := make([][]float32, len(idx))
			g.Hold(dst, idx)
			if got := int(g.Evaluations() - before); got != missing*len(x) {
				rt.Fatalf("%d evaluations for %d rows that were missing", got, missing)
			}
			for k, i := range idx {
				if !slices.Equal(dst[k], want[i]) {
					rt.Fatalf("row %d has other values", i)
				}
			}
			// Those that were held move to the front first, then those that were not.
			front := func(held bool) {
				was := slices.Clone(used)
				for _, i := range idx {
					if slices.Contains(was, i) == held {
						used = append([]int{i}, slices.DeleteFunc(used, func(j int) bool { return j == i })...)
					}
				}
			}
			front(true)
			front(false)
			used = used[:min(len(used), room)]
		}
	})
}

// A row that is held stays whole while the others of a call take the rest of the room. The
// property test above found this case.
func TestHoldOfAFullRoom(t *testing.T) {
	x := toy.Normal(3, 120, 4)
	held := mustGram(t, kernels.RBF(0.2), x, int64(8*4*len(x)))
	held.Hold(make([][]float32, 2), []int{0, 1})
	idx := []int{0, 2, 3, 4, 5, 6, 7, 8}
	got, want := make([][]float32, len(idx)), make([][]float32, len(idx))
	held.Hold(got, idx)
	mustGram(t, kernels.RBF(0.2), x, 0).Hold(want, idx)
	for k, i := range idx {
		if !slices.Equal(got[k], want[k]) {
			t.Errorf("row %d has other values", i)
		}
	}
}

// moved adds a constant to every feature.
func moved(x [][]float64, by float64) [][]float64 {
	m := make([][]float64, len(x))
	for i, row := range x {
		m[i] = slices.Clone(row)
		for c := range row {
			m[i][c] += by
		}
	}
	return m
}

// What cancels in ‖x‖² + ‖z‖² − 2x·z does not show: with columns moved far from
// the origin, scaled as nobody should, and so that all points are far from each
// other in units of the kernel. No entry of a row is wrong by more than a matter of
// its own rounding and 2⁻¹⁷ of the largest, nor a sum by more than 2⁻³².
func TestPrecision(t *testing.T) {
	const n, d = 150, 6
	x := toy.Normal(1, n, d)
	scaled := make([][]float64, n)
	for i, row := range x {
		scaled[i] = slices.Clone(row)
		for c := range row {
			scaled[i][c] *= math.Pow(10, float64(2*c-6)) // 1e-6 … 1e4
		}
	}
	near := slices.Clone(x) // pairs of points within 1e-4 of each other
	for i := 1; i < n; i += 2 {
		near[i] = moved(x[i-1:i], 1e-4)[0]
	}
	atLevels(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			x [][]float64
			k kernels.Kernel
		}{
			"moved by 1000":            {moved(x, 1000), kernels.RBF(0.5)},
			"moved by 1e6":             {moved(x, 1e6), kernels.RBF(0.5)},
			"moved, dots":              {moved(x, 1000), kernels.Polynomial(2, 1, 1)},
			"moved, sum":               {moved(x, 1000), kernels.Sum(kernels.RBF(0.5), kernels.Linear())},
			"scaled, small gamma":      {scaled, kernels.RBF(1e-8)},
			"scaled, gamma 1":          {scaled, kernels.RBF(1)},
			"scaled, ARD":              {scaled, kernels.ARD(1e-6, 1e-4, 1e-2, 1, 1e2, 1e4)},
			"scaled, dots":             {scaled, kernels.Normalised(kernels.Linear())},
			"near, large gamma":        {near, kernels.RBF(1e6)},
			"near, larger gamma":       {near, kernels.RBF(1e8)},
			"near, gamma beyond all":   {near, kernels.RBF(1e13)},
			"near, moved":              {moved(near, 1000), kernels.RBF(1e6)},
			"near, rough":              {near, kernels.Exponential(1e-3)},
			"near, rougher":            {near, kernels.GammaExponential(1e-2, 0.3)},
			"near, product":            {near, kernels.Product(kernels.RBF(1e6), kernels.Linear())},
			"far outlier":              {append(toy.Normal(2, n, d), []float64{1e8, 0, 0, 0, 0, 0}), kernels.RBF(1)},
			"a point at the origin":    {append(moved(x, 1000), make([]float64, d)), kernels.Normalised(kernels.Polynomial(2, 1, 1e-3))},
			"two by the origin":        {append(moved(x, 1000), []float64{0, 1, 0, 0, 0, 0}, []float64{1, 0, 0, 0, 0, 0}), kernels.Normalised(kernels.Linear())},
			"features without spread":  {moved(make2(n, d), 3), kernels.RBF(1)},
			"of one's own, very steep": {near, steep{kernels.RBF(1e5)}},
		} {
			t.Run(name, func(t *testing.T) {
				idx := []int{0, 1, 2, len(c.x) - 1}
				g, exact := mustGram(t, c.k, c.x, 0), mustGram(t, c.k, c.x, 0)
				sameRows(t, g, exact, idx, 0x1p-17)
				sameSums(t, g, exact, idx, 0x1p-31)
				sameValues(t, kernels.Against(c.k, c.x[:n/2]), c.x, 0x1p-31*largest(exact))
				s, err := kernels.NewSparseGram(c.k, compressed(c.x), 0)
				if err != nil {
					t.Fatal(err)
				}
				// Sparse points are not centred, and their own rows are what counts.
				sameRows(t, s, s, idx, 0x1p-16)
				sameSums(t, s, s, idx, 0x1p-31)
			})
		}
	})
}

func make2(n, d int) [][]float64 {
	x := make([][]float64, n)
	for i := range x {
		x[i] = make([]float64, d)
	}
	return x
}

// sameValues fails unless Times of b agrees with its rows up to tol·Σ|coef|, and
// gives a point the same bits in any company.
func sameValues(t *testing.T, b *kernels.Basis, x [][]float64, tol float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, uint64(b.Len())))
	coef, sum := make([]float64, b.Len()), 0.0
	for j := range coef {
		coef[j] = rng.NormFloat64()
		sum += math.Abs(coef[j])
	}
	got := make([]float64, len(x))
	b.Times(got, x, coef)
	for i := range x {
		want := 0.0
		for j, v := range b.Row(nil, x[i]) {
			want += coef[j] * v
		}
		if !(math.Abs(got[i]-want) <= tol*sum) {
			t.Fatalf("value %d is %v, want %v", i, got[i], want)
		}
		if i%7 == 0 {
			alone := []float64{0}
			if b.Times(alone, x[i:i+1], coef); alone[0] != got[i] {
				t.Fatalf("value %d is %v, alone %v", i, got[i], alone[0])
			}
		}
	}
}

// Values are those of single rows, for near and far points and more than one strip.
func TestBasisValues(t *testing.T) {
	check := func(t *testing.T, b *kernels.Basis, x [][]float64, tol float64) {
		t.Helper()
		n := b.Len()
		got := make([]float64, len(x)*n)
		b.Values(got, x)
		for i := range x {
			for j, want := range b.Row(nil, x[i]) {
				if v := got[i*n+j]; !(math.Abs(v-want) <= tol) {
					t.Fatalf("value %d, %d is %v, want %v", i, j, v, want)
				}
			}
		}
	}
	atLevels(t, func(t *testing.T) {
		for _, k := range all() {
			t.Run(k.String(), func(t *testing.T) {
				x := k.points(toy.Normal(7, 80, 3))
				check(t, kernels.Against(k, x[:20]), x, 0x1p-31*largest(mustGram(t, k, x, kernels.NoCache)))
			})
		}
	})
	x := toy.Normal(3, 900, 4)
	check(t, kernels.Against(kernels.RBF(0.3), x), x[700:], 0x1p-31)
	check(t, kernels.Against(kernels.RBF(1), toy.Normal(1, 20, 2)), [][]float64{{1e9, 0}, {1e-9, 1e300}, {0, 0}}, 0x1p-31)
	check(t, kernels.Against(kernels.RBF(1), nil), x, 0)
}

func TestBasisTimes(t *testing.T) {
	atLevels(t, func(t *testing.T) {
		for _, k := range all() {
			t.Run(k.String(), func(t *testing.T) {
				x := k.points(toy.Normal(7, 80, 3))
				size := largest(mustGram(t, k, x, kernels.NoCache))
				b := kernels.Against(k, x[:20])
				sameValues(t, b, x, 0x1p-31*size)
				sameValues(t, kernels.Against(k, x[:1]), x[1:5], 0x1p-31*size)
				sparse, points := kernels.AgainstSparse(k, compressed(x[:20])), compressed(x)
				sameValues(t, sparse, x, 0x1p-21*size)
				// In all forms.
				coef := make([]float64, 20)
				for j := range coef {
					coef[j] = float64(j%7 - 3)
				}
				want, got := make([]float64, len(x)), make([]float64, len(x))
				b.Times(want, x, coef)
				for name, times := range map[string]func(){
					"sparse points":        func() { b.TimesSparse(got, points, coef) },
					"sparse basis":         func() { sparse.Times(got, x, coef) },
					"sparse basis, points": func() { sparse.TimesSparse(got, points, coef) },
				} {
					clear(got)
					times()
					for i := range got {
						if !(math.Abs(got[i]-want[i]) <= 0x1p-21*size*60) {
							t.Fatalf("%s: value %d is %v, want %v", name, i, got[i], want[i])
						}
					}
				}
			})
		}
	})
	// Far points are as exact as near ones.
	b := kernels.Against(kernels.RBF(1), toy.Normal(1, 20, 2))
	sameValues(t, b, [][]float64{{1e9, 0}, {1e-9, 1e300}, {0, 0}}, 0x1p-31)
	b = kernels.Against(kernels.RBF(1e-6), moved(toy.Normal(1, 20, 2), 1e3))
	sameValues(t, b, [][]float64{{1e308, 1e308}, {-1e308, 1e308}, {1e3, 1e3}}, 0x1p-31)
	none := kernels.Against(kernels.RBF(1), nil)
	dst := []float64{7}
	if none.Times(dst, [][]float64{{1}}, nil); dst[0] != 7 {
		t.Errorf("no basis: %v, want what was there", dst)
	}
	defer func() {
		if _, ok := recover().(*kernels.DataError); !ok {
			t.Error("a point of another width does not panic with a *DataError")
		}
	}()
	b.Times(dst, [][]float64{{1, 2, 3}}, make([]float64, 20))
}

// Many machines on one basis have the values that they have one by one.
func TestBasisTimesEach(t *testing.T) {
	x := toy.Normal(1, 300, 4)
	for _, k := range []kernels.Kernel{kernels.RBF(0.3), kernels.Laplacian(1), kernels.Exponential(1)} {
		b := kernels.Against(k, x[:150])
		const machines = 5
		got, want, coef := make([][]float64, machines), make([][]float64, machines), make([][]float64, machines)
		for m := range coef {
			got[m], want[m], coef[m] = make([]float64, len(x)), make([]float64, len(x)), toy.Normal(uint64(m), 1, 150)[0]
			got[m][7], want[m][7] = 3, 3
			b.Times(want[m], x, coef[m])
		}
		b.TimesEach(got, x, coef)
		for m := range got {
			if !slices.Equal(got[m], want[m]) {
				t.Errorf("%v: machine %d has other values", k, m)
			}
		}
	}
}

// Goroutines share a Basis.
func TestBasisTimesConcurrently(t *testing.T) {
	x := toy.Normal(1, 400, 5)
	b := kernels.Against(kernels.Normalised(kernels.Polynomial(2, 1, 1)), x[:200])
	coef := make([]float64, 200)
	for j := range coef {
		coef[j] = float64(j)
	}
	want := make([]float64, len(x))
	kernels.Against(kernels.Normalised(kernels.Polynomial(2, 1, 1)), x[:200]).Times(want, x, coef)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			got := make([]float64, len(x))
			if b.Times(got, x, coef); !slices.Equal(got, want) {
				t.Error("other values")
			}
		})
	}
	wait.Wait()
}

// Once warm, blocks allocate for their goroutines only.
func TestBlocksAllocate(t *testing.T) {
	const n = 2000
	x := toy.Normal(1, n, 10)
	g := mustGram(t, kernels.Normalised(kernels.Polynomial(2, 1, 1)), x, 100*4*n)
	dst, idx, sums, coef := make([][]float32, 100), make([]int, 100), make([]float64, n), make([]float64, 100)
	for k := range idx {
		idx[k] = k
	}
	from := 0
	hold := func() {
		for k := range idx {
			idx[k] = (from + k) % n
		}
		from += 100
		g.Hold(dst, idx)
	}
	times := func() { _ = g.AddTo(context.Background(), sums, nil, nil, idx, coef, true) }
	hold()
	times()
	if a := testing.AllocsPerRun(10, hold); a > 100 { // 3 × 16 tasks, 100 rows of 3 chunks
		t.Errorf("Hold allocates %v times", a)
	}
	if a := testing.AllocsPerRun(10, times); a > 100 {
		t.Errorf("an exact sum allocates %v times", a)
	}
}

// What solvers ask of a matrix.
var _ interface {
	solvers.Blocks
	solvers.Sweeper
} = (*kernels.Gram)(nil)

func TestRoom(t *testing.T) {
	for _, c := range []struct {
		n, want int
		bytes   int64
	}{
		{10, 10, 0}, {10, 10, 400}, {10, 9, 399}, {10, 2, 1}, {10, 2, kernels.NoCache}, {1, 1, 1}, {1, 1, 0}, {20_000, 3355, 0},
	} {
		if got := mustGram(t, kernels.Linear(), toy.Normal(1, c.n, 1), c.bytes).Room(); got != c.want {
			t.Errorf("%d points in %d bytes: room for %d rows, want %d", c.n, c.bytes, got, c.want)
		}
	}
	g := mustGram(t, kernels.RBF(1), toy.Normal(1, 10, 1), 1)
	dst := make([][]float32, 3)
	if g.Hold(dst, []int{4, 4}); g.Evaluations() != 20 || &dst[0][0] != &dst[1][0] {
		t.Errorf("a row asked for twice: %d evaluations, want 10 beside the diagonal", g.Evaluations()-10)
	}
	defer func() {
		if recover() == nil {
			t.Error("three rows where two have room: no panic")
		}
	}()
	g.Hold(dst, []int{1, 2, 3})
}

// A hundredth of the rows is enough, and what is held is what was asked for last.
func TestHoldAHundredth(t *testing.T) {
	const n, room = 1000, 10
	x := toy.Normal(1, n, 5)
	g, exact := mustGram(t, kernels.RBF(0.1), x, room*4*n), mustGram(t, kernels.RBF(0.1), x, 0)
	rng := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		sameRows(t, g, exact, rng.Perm(n)[:room], 0x1p-17)
	}
	before, dst, idx := g.Evaluations(), make([][]float32, room), rng.Perm(n)[:room]
	g.Hold(dst, idx)
	g.Hold(dst, idx)
	if g.Evaluations() > before+room*n {
		t.Error("rows held are computed again")
	}
}

// Without memory for a copy of the points rows go one by one, and are the same.
func TestHoldWithinMemoryLimit(t *testing.T) {
	const n, d = 300, 1000
	x := toy.Normal(1, n, d)
	exact := mustGram(t, kernels.RBF(0.001), x, 0)
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(8*(d+5)*n + 4*n*d - 1))
	g := mustGram(t, kernels.RBF(0.001), x, 20*4*n)
	dst := make([][]float32, 1)
	g.Hold(dst, []int{7})
	for j, v := range exact.Row(7) {
		if dst[0][j] != float32(v) { // not near: no product of matrices
			t.Fatalf("K[7][%d] = %v, want %v", j, dst[0][j], float32(v))
		}
	}
}

// Memory for rows belongs to those in single precision once one is asked for.
func TestRowAfterHold(t *testing.T) {
	const n = 50
	x := toy.Normal(1, n, 2)
	for _, cache := range []int64{0, 8 * 10 * n} {
		g := mustGram(t, kernels.RBF(1), x, cache)
		g.Row(3)
		_ = g.AddTo(context.Background(), make([]float64, n), nil, nil, []int{1}, []float64{1}, true) // keeps nothing, and takes nothing
		g.Row(4)
		before := g.Evaluations()
		if g.Row(4); g.Evaluations() != before {
			t.Error("a row is not kept after an exact sum")
		}
		dst := make([][]float32, 1)
		g.Hold(dst, []int{5})
		before = g.Evaluations()
		g.Row(6)
		g.Row(7)
		g.Row(8)
		g.Row(6)
		if got := g.Evaluations() - before; got != 4*n {
			t.Errorf("%d evaluations for four rows of %d", got, n)
		}
	}
}

// The features of solvers and a matrix of the same points agree.
func TestSparseFeatures(t *testing.T) {
	s := compressed(thin(toy.Normal(1, 30, 20), 0.3))
	f, err := solvers.NewSparseFeatures(s.Start, s.Index, s.Value, s.D, 0)
	if err != nil {
		t.Fatal(err)
	}
	g, err := kernels.NewSparseGram(kernels.Linear(), s, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.N() {
		for j, v := range f.Row(i) {
			near(t, "x·z", g.Row(i)[j], v, 1e-14)
		}
	}
}
