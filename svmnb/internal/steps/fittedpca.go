package steps

import "fmt"

// Projected is the fitted step of transform.PCA. Component c of a point x is Σ_j Rows[c][j]
// (x_j − Mean_j).
type Projected struct {
	Mean []float64
	Rows [][]float64
}

func (t Projected) String() string { return fmt.Sprintf("PCA(%d)", len(t.Rows)) }

func (t Projected) Names([]string) []string { return componentNames(len(t.Rows)) }

func componentNames(k int) (out []string) {
	for c := range k {
		out = append(out, fmt.Sprintf("component %d", c+1))
	}
	return out
}

func (t Projected) Apply(x [][]float64) ([][]float64, error) {
	out := make([][]float64, len(x))
	for i, row := range x {
		if err := Wide("PCA", i, row, len(t.Mean)); err != nil {
			return nil, err
		}
		out[i] = make([]float64, len(t.Rows))
		_ = t.one(out[i], row, nil)
	}
	return out, nil
}

func (t Projected) width() int { return len(t.Rows) }
func (t Projected) room() int  { return 0 }

func (t Projected) one(dst, x, _ []float64) error {
	for c, row := range t.Rows {
		dst[c] = 0
		for j, v := range x {
			dst[c] += row[j] * (v - t.Mean[j])
		}
	}
	return nil
}
