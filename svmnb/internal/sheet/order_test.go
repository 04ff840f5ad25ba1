package sheet

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Whatever the values, an order has every row once, sorted, the missing ones last;
// and what a cell shows is the value to four digits of the largest.
func TestTableOrders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.OneOf(rapid.Float64Range(-1e300, 1e300), rapid.Float64Range(-10, 10), rapid.Map(rapid.IntRange(-3, 3), func(i int) float64 { return float64(i) }),
			rapid.Just(math.NaN()), rapid.Just(math.Inf(1)), rapid.Just(math.Inf(-1)))
		values := rapid.SliceOfN(value, 1, 30).Draw(t, "values")
		down := rapid.Bool().Draw(t, "down")
		s := &Table{}
		s.Numbers("x", values)
		order := s.order(0, down)
		seen := map[int]bool{}
		for k, i := range order {
			seen[i] = true
			if k == 0 {
				continue
			}
			a, b := values[order[k-1]], values[i]
			if math.IsNaN(a) && !math.IsNaN(b) || !math.IsNaN(b) && (down && a < b || !down && a > b) {
				t.Fatalf("%v before %v, down %v", a, b, down)
			}
		}
		if len(order) != len(values) || len(seen) != len(values) {
			t.Fatalf("%d of %d rows", len(seen), len(values))
		}
		largest := 0.0
		for _, v := range values {
			if finite(v) {
				largest = max(largest, math.Abs(v))
			}
		}
		for i, text := range s.Columns[0].Text {
			v := values[i]
			got, err := strconv.ParseFloat(strings.NewReplacer("−", "-", "∞", "Inf").Replace(text), 64)
			switch {
			case math.IsNaN(v):
				if text != "" {
					t.Fatalf("a missing value shows %q", text)
				}
			case err != nil:
				t.Fatal(err)
			case finite(v) && !(math.Abs(got-v) <= max(1e-3*math.Abs(v), 1e-4*largest)):
				t.Fatalf("%v shows as %q", v, text)
			case !finite(v) && got != v:
				t.Fatalf("%v shows as %q", v, text)
			}
		}
		_, _ = s.String(), s.HTML() // nothing panics
	})
}
