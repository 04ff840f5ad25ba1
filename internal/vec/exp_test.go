package vec

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// sameExp fails unless got is exp(t) as math.Exp sees it.
func sameExp(t interface {
	Helper()
	Errorf(string, ...any)
}, x, got float64) {
	t.Helper()
	want := math.Exp(x)
	if x > 709 && x < 709.782712893384 { // math.Exp on amd64 overflows from 709.44 on
		want = math.Exp(x-1) * math.E
	}
	switch {
	case math.IsNaN(want) && math.IsNaN(got), want == got:
	case want < 0x1p-1022 && math.Abs(got-want) <= 2*math.SmallestNonzeroFloat64:
	case math.Abs(got-want) <= 8e-16*want && !math.IsInf(want, 1):
	// The last float64 before the overflow is a matter of the last ulp.
	case math.IsInf(want, 1) != math.IsInf(got, 1) && math.Abs(x-709.782712893384) < 1e-12:
	default:
		t.Errorf("Exp(%v) = %v, want %v", x, got, want)
	}
}

func TestExp(t *testing.T) {
	edges := []float64{
		0, math.Copysign(0, -1), 1, -1, 5e-324, -5e-324, 1e-300, 1e-17, -1e-17, math.Ln2, -math.Ln2,
		708, -708, math.Nextafter(-708, 0), 709, math.Nextafter(709, 0), 709.782712893384, 709.7827128933841,
		-708.3964185322641, -744.4400719213812, -745.1332191019411, -745.1332191019412, -745.2, -746, 710, -1000, 1e300, -1e300,
		math.MaxFloat64, -math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN(),
	}
	for _, x := range edges {
		sameExp(t, x, Exp(x))
	}
	// Across the whole range, in one slice: also where the neighbours are
	// edges.
	var xs []float64
	for x := -750.0; x < 715; x += 0.0137 {
		xs = append(xs, x)
	}
	v := append([]float64(nil), xs...)
	ExpScaled(v, 1)
	for i, x := range xs {
		sameExp(t, x, v[i])
		if v[i] != Exp(x) {
			t.Fatalf("exp(%v) depends on its place: %v, %v", x, v[i], Exp(x))
		}
	}
}

func TestExpProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.OneOf(rapid.Float64Range(-750, 715), rapid.Float64Range(-1, 1), rapid.Float64()).Draw(t, "x")
		a := rapid.SampledFrom([]float64{1, -1, 0.5, -2, -1e-3}).Draw(t, "a")
		v := []float64{x}
		ExpScaled(v, a)
		sameExp(t, a*x, v[0])
	})
}

func FuzzExp(f *testing.F) {
	for _, x := range []float64{0, 1, -708, -745.13, 709.78, math.Inf(-1)} {
		f.Add(math.Float64bits(x))
	}
	f.Fuzz(func(t *testing.T, bits uint64) {
		x := math.Float64frombits(bits)
		sameExp(t, x, Exp(x))
	})
}

func BenchmarkExp(b *testing.B) {
	const n = 512
	v, from := make([]float64, n), make([]float64, n)
	for i := range v {
		from[i] = float64(i) / 40
	}
	b.Run("vec", func(b *testing.B) {
		for b.Loop() {
			copy(v, from)
			ExpScaled(v, -0.5)
		}
		perEntry(b, n)
	})
	b.Run("math", func(b *testing.B) {
		for b.Loop() {
			copy(v, from)
			for i, x := range v {
				v[i] = math.Exp(-0.5 * x)
			}
		}
		perEntry(b, n)
	})
}
