package steps

import (
	"fmt"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// Scaled is the fitted step of a scaling.
type Scaled struct{ Of *datasets.Scaler }

// String returns the call that makes the step.
func (t Scaled) String() string {
	switch t.Of.Name {
	case "standard":
		return "Standardise()"
	case "max-abs":
		return "MaxAbs()"
	}
	return RangeText(t.Of.Low, t.Of.High)
}

func (t Scaled) Names(in []string) []string { return in }

func (t Scaled) Apply(x [][]float64) ([][]float64, error) {
	out := make([][]float64, len(x))
	for i, row := range x {
		var err error
		if out[i], err = t.Of.Point(row); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (t Scaled) width() int { return len(t.Of.Centre) }
func (t Scaled) room() int  { return 0 }

func (t Scaled) one(dst, x, _ []float64) error {
	copy(dst, x)
	t.Of.Scale(dst)
	return nil
}

// ApplySparse is called only for transform.MaxAbsScaling.
func (t Scaled) ApplySparse(x datasets.CSR) (*datasets.CSR, [][]float64, error) {
	d := t.Of.Apply(&datasets.Dataset{Name: "points", Sparse: &x, Y: make([]float64, x.N())})
	return d.Sparse, nil, d.Check()
}

// RangeText returns the call that scales to a range.
func RangeText(low, high float64) string {
	if low == -1 && high == 1 {
		return "MinMax()"
	}
	return fmt.Sprintf("Scaling{%s, %s}", say.Number(low), say.Number(high))
}
