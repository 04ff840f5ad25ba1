package steps

import "fmt"

// Projected is the fitted step of transform.PCA. Component c of a point x is Σ_j Rows[c][j]
// (x_j − Mean_j).
type Projected struct {
	Mean []float64
	Rows [][]float64
}

func (t Projected) String() string { return fmt.Sprintf("PCA(%d)", len(t.Rows)) }

func (t Projected) Names([]string) []string {
	var out []string
	for c := range t.Rows {
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
		for c, v := range t.Rows {
			for j, x := range row {
				out[i][c] += v[j] * (x - t.Mean[j])
			}
		}
	}
	return out, nil
}
