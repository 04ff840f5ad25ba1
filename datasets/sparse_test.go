package datasets

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// sparsely is d by compressed rows.
func sparsely(d *Dataset) *Dataset {
	x := CSR{Start: []int{0}, D: d.D()}
	for _, row := range d.X {
		for j, v := range row {
			if v != 0 {
				x.Index, x.Value = append(x.Index, int32(j)), append(x.Value, v)
			}
		}
		x.Start = append(x.Start, len(x.Index))
	}
	s := *d
	s.X, s.Sparse = nil, &x
	return &s
}

// What a method makes of sparse points is what it makes of the same points written
// out.
func TestSparseAsDense(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, d := rapid.IntRange(2, 12).Draw(t, "n"), rapid.IntRange(1, 5).Draw(t, "d")
		dense := &Dataset{Name: "few", X: rows(n, d), Y: make([]float64, n)}
		for i := range dense.X {
			dense.Y[i] = float64(i % 2)
			for j := range d {
				dense.X[i][j] = rapid.SampledFrom([]float64{0, 0, -1, 2.5, 1e-3}).Draw(t, "x")
			}
		}
		sparse := sparsely(dense)
		if sparse.N() != n || sparse.D() != d {
			t.Fatalf("%d × %d", sparse.N(), sparse.D())
		}
		for name, of := range map[string]func(*Dataset) *Dataset{
			"Dense":   (*Dataset).Dense,
			"Select":  func(d *Dataset) *Dataset { return d.Select([]int{1, 0, 1}) },
			"Shuffle": func(d *Dataset) *Dataset { return d.Shuffle(3) },
			"Split":   func(d *Dataset) *Dataset { train, _ := d.Split(0.5, 1); return train },
			"Pair":    func(d *Dataset) *Dataset { return d.Pair("1", "0") },
			"Rest":    func(d *Dataset) *Dataset { return d.OneVsRest("1") },
			"MaxAbs": func(d *Dataset) *Dataset {
				s, err := FitMaxAbs(d)
				if err != nil {
					t.Fatal(err)
				}
				return s.Apply(d)
			},
		} {
			got, want := of(sparse), of(dense)
			if err := got.Check(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if name != "Dense" && got.Sparse == nil {
				t.Fatalf("%s writes the points out", name)
			}
			if d := diff(got.Dense(), want); d != "" {
				t.Fatalf("%s: %s", name, d)
			}
		}
		var a, b strings.Builder
		if err := sparse.WriteLIBSVM(&a); err != nil {
			t.Fatal(err)
		}
		if err := dense.WriteLIBSVM(&b); err != nil {
			t.Fatal(err)
		}
		if a.String() != b.String() {
			t.Fatalf("wrote %q, dense %q", a.String(), b.String())
		}
	})
}

func TestSparseErrors(t *testing.T) {
	good := CSR{Start: []int{0, 1, 2}, Index: []int32{0, 2}, Value: []float64{1, 1}, D: 3}
	for says, x := range map[string]CSR{
		"row 1, column 2 (x3): the value is NaN":                        {Start: good.Start, Index: good.Index, Value: []float64{1, math.NaN()}, D: 3},
		"row 1, column 2 (x3): the index 2 comes after -1":              {Start: good.Start, Index: good.Index, Value: good.Value, D: 2},
		"row 0, column 0 (x1): the index 0 comes after 0":               {Start: []int{0, 2, 2}, Index: []int32{0, 0}, Value: good.Value, D: 3},
		"Start goes from 0 to 5 for 2 indices":                          {Start: []int{0, 1, 5}, Index: good.Index, Value: good.Value, D: 3},
		"row 0: Start goes from 0 to 3: it must not decrease":           {Start: []int{0, 3, 2}, Index: good.Index, Value: good.Value, D: 3},
		"Sparse has 1 point and Y 2 targets; they must be equally many": {Start: []int{0, 2}, Index: good.Index, Value: good.Value, D: 3},
		"there are no features":                                         {Start: []int{0, 0, 0}, Index: nil, Value: nil, D: 0},
	} {
		err := NewSparse(x, []float64{0, 1}).Check()
		wantError[*Error](t, err, says)
	}
	d := NewSparse(good, []float64{0, 1})
	for says, of := range map[string]func() error{
		"the standard scaler moves 0": func() error { _, err := FitStandard(d); return err },
		"the min–max scaler moves 0":  func() error { _, err := FitMinMax(d); return err },
		"Columns copies columns":      func() error { return d.Columns(0).Check() },
		"WriteCSV writes every":       func() error { return d.WriteCSV(&strings.Builder{}) },
		"both X and Sparse":           func() error { return (&Dataset{X: rows(2, 3), Sparse: &good, Y: d.Y}).Check() },
		"need 2 GiB when written out": func() error {
			return NewSparse(CSR{Start: good.Start, Index: good.Index, Value: good.Value, D: 1 << 27}, d.Y).Dense().Check()
		},
		"1 name for 3 colu": func() error { return (&Dataset{Sparse: &good, Y: d.Y, Features: []string{"a"}}).Check() },
	} {
		wantError[*Error](t, of(), says)
	}
	if slices.Contains(d.Warnings(), "") || d.Dense().D() != 3 {
		t.Error("a good data set is not")
	}
}
