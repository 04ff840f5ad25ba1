package nearest

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The tree finds what looking at all points finds, also among points that lie in the same place.
func TestSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, d := rapid.IntRange(0, 300).Draw(t, "n"), rapid.IntRange(1, 5).Draw(t, "d")
		most, coarse := rapid.IntRange(0, 40).Draw(t, "most"), rapid.Bool().Draw(t, "coarse")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		number := func() float64 {
			if coarse {
				return float64(rng.IntN(3))
			}
			return rng.NormFloat64()
		}
		x := make([]float64, n*d)
		for i := range x {
			x[i] = number()
		}
		var rank []int32
		for _, r := range rng.Perm(n) {
			rank = append(rank, int32(r))
		}
		tree := New(d, x, rank)
		var f Found
		for range 5 {
			at, before := make([]float64, d), int32(rng.IntN(n+1))
			for j := range at {
				at[j] = number()
			}
			var want []float64
			square := func(i int32) float64 {
				sum := 0.0
				for j, v := range at {
					e := x[int(i)*d+j] - v
					sum += float64(e * e)
				}
				return sum
			}
			for i, r := range rank {
				if r < before {
					want = append(want, square(int32(i)))
				}
			}
			slices.Sort(want)
			want = want[:min(most, len(want))]
			tree.Search(&f, at, most, before)
			var got []float64
			seen := map[int32]bool{}
			for _, p := range f.Places {
				i := tree.Index[p]
				if tree.Rank[p] != rank[i] || rank[i] >= before || seen[i] {
					t.Fatalf("point %d of rank %d was found below %d, or twice", i, rank[i], before)
				}
				seen[i] = true
				got = append(got, square(i))
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Fatalf("found squares %v, want %v", got, want)
			}
		}
	})
}

// A search allocates nothing after the first.
func TestAllocations(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	x, rank := make([]float64, 2000), make([]int32, 1000)
	for i := range x {
		x[i] = rng.Float64()
	}
	tree := New(2, x, rank)
	var f Found
	if n := testing.AllocsPerRun(100, func() { tree.Search(&f, []float64{0.5, 0.5}[:], 30, 1) }); n > 0 {
		t.Errorf("a search allocates %v times", n)
	}
}
