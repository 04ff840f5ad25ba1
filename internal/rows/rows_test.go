package rows

import (
	"errors"
	"math"
	"testing"
)

// matrix is a kernel matrix by rows.
type matrix [][]float64

func (m matrix) Dim() int            { return len(m) }
func (m matrix) Diag() []float64     { return nil }
func (m matrix) Row(i int) []float64 { return m[i] }

// TestCheckedRow: until the loop has seen the error, a bad row reads as zeros.
func TestCheckedRow(t *testing.T) {
	c := Check(matrix{{1, math.NaN()}, {0.5, 1}}, func(_ int, _ float64, msg string) error { return errors.New(msg) })
	if row := c.Row(1); row[0] != 0.5 || c.Err() != nil {
		t.Errorf("a good row reads as %v, %v", row, c.Err())
	}
	for range 2 {
		if row := c.Row(0); len(row) != 2 || row[0] != 0 || row[1] != 0 || c.Err() == nil {
			t.Errorf("a bad row reads as %v, %v", row, c.Err())
		}
	}
}

// TestUnusable: the bound is that of every entry, however small the rest.
func TestUnusable(t *testing.T) {
	for v, want := range map[float64]int{1e100: -1, -1e100: -1, 1.0000001e100: 5, -1e101: 5, 1e200: 5, math.Inf(1): 5, math.Inf(-1): 5, math.NaN(): 5} {
		row := make([]float64, 30)
		row[0], row[5] = 1e100, v
		if got := unusable(row); got != want {
			t.Errorf("of %g: %d", v, got)
		}
	}
}
