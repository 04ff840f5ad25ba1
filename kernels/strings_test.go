package kernels_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/svmnb/svmnb/internal/toy"
	"github.com/svmnb/svmnb/kernels"
)

func TestStrings(t *testing.T) {
	for _, c := range []struct {
		width int
		list  []string
		want  [][]float64
	}{
		{0, []string{"ab", "c", ""}, [][]float64{{'a', 'b'}, {'c', -1}, {-1, -1}}},
		{3, []string{"ab"}, [][]float64{{'a', 'b', -1}}},
		{1, []string{"ab", "c"}, [][]float64{{'a', 'b'}, {'c'}}}, // too narrow: refused where it is used
		{0, []string{"äß€𝄞"}, [][]float64{{'ä', 'ß', '€', '𝄞'}}},
		{0, []string{"\x00a"}, [][]float64{{0, 'a'}}},
		{0, []string{"a\xff"}, [][]float64{{'a', 0xfffd}}},
		{0, []string{""}, [][]float64{{-1}}},
		{0, nil, [][]float64{}},
	} {
		got := kernels.Strings(c.width, c.list...)
		if !slices.EqualFunc(got, c.want, slices.Equal) {
			t.Errorf("Strings(%d, %q) = %v, want %v", c.width, c.list, got, c.want)
		}
		for i, x := range got {
			if s := kernels.StringOf(x); s != strings.ToValidUTF8(c.list[i], "\ufffd") {
				t.Errorf("StringOf(Strings(%q)) = %q", c.list[i], s)
			}
		}
	}
	if s := kernels.StringOf([]float64{65, 1e300}); s != "A\ufffd" {
		t.Errorf("a letter that is no code point: %q", s)
	}
}

func TestStringValues(t *testing.T) {
	const l = 0.7
	gap := kernels.GapWeighted(2, l)
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"cat, car", gap.Raw().Compare("cat", "car"), math.Pow(l, 4)},
		{"cat, cat", gap.Raw().Compare("cat", "cat"), 2*math.Pow(l, 4) + math.Pow(l, 6)},
		{"cat, car normalised", gap.Compare("cat", "car"), 1 / (2 + l*l)},
		{"cat, bat", gap.Raw().Compare("cat", "bat"), math.Pow(l, 4)},
		{"bar, bat", gap.Raw().Compare("bar", "bat"), math.Pow(l, 4)},
		{"cat, dog", gap.Compare("cat", "dog"), 0},
		{"a gap", gap.Raw().Compare("axb", "ab"), math.Pow(l, 5)},
		{"no gaps to see", kernels.GapWeighted(2, 1).Raw().Compare("axxxb", "ab"), 1},
		{"single letters", kernels.GapWeighted(1, 0.5).Raw().Compare("abca", "aax"), 4 * 0.25},
		{"too short", kernels.GapWeighted(3, 0.5).Compare("ab", "abc"), 0},
		{"too short with itself", kernels.GapWeighted(3, 0.5).Compare("ab", "ab"), 0},
		{"empty", kernels.GapWeighted(1, 0.5).Compare("", ""), 0},
		{"spectrum", kernels.Spectrum(2).Raw().Compare("banana", "ananas"), 2*2 + 2*2}, // an, na twice in both; ba, as in one
		{"spectrum with itself", kernels.Spectrum(2).Raw().Compare("banana", "banana"), 1 + 4 + 4},
		{"spectrum normalised", kernels.Spectrum(2).Compare("banana", "ananas"), 8.0 / 9},
		{"spectrum of the whole", kernels.Spectrum(6).Compare("banana", "banana"), 1},
		{"spectrum too short", kernels.Spectrum(7).Compare("banana", "banana"), 0},
		{"code points", kernels.Spectrum(1).Raw().Compare("äa", "äö"), 1}, // two bytes each, the first of them shared
	} {
		near(t, c.name, c.got, c.want, 1e-14)
	}
}

// subsequences calls f for all places i_1 < … < i_k in a string of n letters.
func subsequences(n, k int, f func(places []int)) {
	var more func(places []int, from int)
	more = func(places []int, from int) {
		if len(places) == k {
			f(places)
			return
		}
		for i := from; i < n; i++ {
			more(append(places, i), i+1)
		}
	}
	more(nil, 0)
}

// Both kernels are sums over explicit features, and do not care for the order
// of their arguments.
func TestStringKernelsByFeatures(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringOfN(rapid.RuneFrom([]rune("abß")), 0, 7, -1)
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		k := rapid.IntRange(1, 5).Draw(t, "k")
		lambda := rapid.SampledFrom([]float64{1, 0.9, 0.5, 0.01}).Draw(t, "lambda")

		gaps := func(s string) map[string]float64 {
			phi, letters := map[string]float64{}, []rune(s)
			subsequences(len(letters), k, func(places []int) {
				u := make([]rune, k)
				for i, p := range places {
					u[i] = letters[p]
				}
				phi[string(u)] += math.Pow(lambda, float64(places[k-1]-places[0]+1))
			})
			return phi
		}
		counts := func(s string) map[string]float64 {
			phi, letters := map[string]float64{}, []rune(s)
			for i := 0; i+k <= len(letters); i++ {
				phi[string(letters[i:i+k])]++
			}
			return phi
		}
		for _, c := range []struct {
			raw, normalised interface {
				kernels.Kernel
				Compare(a, b string) float64
			}
			phi func(string) map[string]float64
		}{
			{kernels.GapWeighted(k, lambda).Raw(), kernels.GapWeighted(k, lambda), gaps},
			{kernels.Spectrum(k).Raw(), kernels.Spectrum(k), counts},
		} {
			dot := func(a, b string) (sum float64) {
				other := c.phi(b)
				for u, v := range c.phi(a) {
					sum += v * other[u]
				}
				return sum
			}
			want := dot(a, b)
			if got := c.raw.Compare(a, b); !(math.Abs(got-want) <= 1e-13*want) {
				t.Fatalf("%v of %q and %q = %v, want %v", c.raw, a, b, got, want)
			}
			if want > 0 {
				want /= math.Sqrt(dot(a, a)) * math.Sqrt(dot(b, b))
			}
			got := c.normalised.Compare(a, b)
			if !(math.Abs(got-want) <= 1e-13) {
				t.Fatalf("%v of %q and %q = %v, want %v", c.normalised, a, b, got, want)
			}
			if back := c.normalised.Compare(b, a); back != got {
				t.Fatalf("%v of %q and %q = %v, the other way round %v", c.normalised, a, b, got, back)
			}
			if x := kernels.Strings(20, a, b); c.normalised.Eval(x[0], x[1]) != got {
				t.Fatalf("%v depends on the width of the points", c.normalised)
			}
		}
	})
}

// A string longer than the training's width is refused, by name.
func TestTooLongString(t *testing.T) {
	b := kernels.Against(kernels.Spectrum(2), kernels.Strings(5, "abc", "cde"))
	var e *kernels.DataError
	if err := b.Check(kernels.Strings(5, "abcde", "abcdef")); !errors.As(err, &e) || e.Row != 1 {
		t.Errorf("Check = %v, want a *DataError for row 1", err)
	}
	if row := b.Row(nil, kernels.Strings(5, "bc")[0]); math.Abs(row[0]-math.Sqrt(0.5)) > 1e-15 || row[1] != 0 {
		t.Errorf("bc against abc, cde: %v", row)
	}
}

func BenchmarkStrings(b *testing.B) {
	list := make([]string, 100)
	for i, x := range toy.Normal(1, 100, 100) {
		for _, v := range x {
			list[i] += string(rune('a' + int(math.Abs(v)*10)%26))
		}
	}
	for _, k := range []kernels.Kernel{kernels.Spectrum(3), kernels.GapWeighted(3, 0.8)} {
		b.Run(k.String(), func(b *testing.B) {
			for b.Loop() {
				g, err := kernels.NewGram(k, kernels.Strings(0, list...), 0)
				if err != nil {
					b.Fatal(err)
				}
				for i := range list {
					g.Row(i)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/5050, "ns/pair")
		})
	}
}
