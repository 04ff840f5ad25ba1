package kernels

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/internal/toy"
)

func TestRowsHeld(t *testing.T) {
	const none = math.MaxInt64
	for _, c := range []struct {
		n, d  int
		bytes int64
		want  int
	}{
		{1000, 2, 0, 1000},
		{5792, 2, 0, 5792}, // the largest that DefaultCache holds whole
		{5793, 2, 0, 5792},
		{20_000, 2, 0, 1677},
		{1 << 30, 2, 0, 2},
		{100, 2, 80_000, 100},
		{100, 2, 79_999, 99},
		{100, 2, 2400, 3},
		{100, 2, 1, 2},
		{1, 2, 1, 1},
		{2, 2, 1, 2},
		{100, 2, NoCache, 0},
		{100, 2, math.MinInt64, 0},
		{100, 2, math.MaxInt64, 100},
	} {
		if got, err := rowsHeld(c.n, c.d, c.bytes, none); err != nil || got != c.want {
			t.Errorf("rowsHeld(%d, %d, %d) = %d, %v, want %d", c.n, c.d, c.bytes, got, err, c.want)
		}
	}

	var e *MemoryError
	if _, err := rowsHeld(1000, 5, 0, 80_000); err != nil {
		t.Errorf("80,000 bytes are just enough: %v", err)
	}
	if _, err := rowsHeld(1000, 5, 0, 79_999); !errors.As(err, &e) || e.Need != 80_000 || e.Limit != 79_999 {
		t.Errorf("79,999 bytes: %v, want a *MemoryError of 80,000 bytes", err)
	}
	tooMany := math.MaxInt32
	if tooMany++; tooMany > 0 { // an int of 64 bits
		if _, err := rowsHeld(tooMany, 1, 0, none); !errors.As(err, &e) || !strings.Contains(err.Error(), "2147483647 that fit") {
			t.Errorf("2³¹ points: %v, want a *MemoryError that names the most", err)
		}
	}
}

// A point with itself has the derivatives that stand on the diagonal of a row.
func TestGradientSelf(t *testing.T) {
	x := toy.Normal(7, 5, 2)
	bent := Product(Scale(2, Polynomial(2, 1, 0.5)), Polynomial(3, 0.3, 1), Columns(Polynomial(2, 1, 1), 1))
	for _, k := range []Kernel{
		bent, Sum(bent, Polynomial(1, 1, 2)), Scale(3, bent), Normalised(bent), Centred(bent, toy.Normal(8, 4, 2)), Columns(Polynomial(2, 1, 0.5), 1),
		Fixed(bent, "coef0"), Fixed(bent), ARD(1, 2), Sum(Linear(), Constant(2)),
	} {
		p, r := over(gradientRowerOf, k, x, 2)
		params, w := learnable(k), &work{}
		v, grad, own := make([]float64, len(x)), make([]float64, params*len(x)), make([]float64, params)
		for i := range x {
			point := p.point(make([]float64, 2), i)
			r.row(v, grad, point, w)
			if got := r.self(own, point, w); math.Abs(got-v[i]) > 1e-13*math.Abs(v[i]) {
				t.Errorf("%v: K(x, x) is %v, in a row %v", k, got, v[i])
			}
			for q, got := range own {
				if want := grad[q*len(x)+i]; math.Abs(got-want) > 1e-13*math.Max(math.Abs(want), v[i]) {
					t.Errorf("%v: derivative %d of K(x, x) is %v, in a row %v", k, q, got, want)
				}
			}
		}
	}
}
