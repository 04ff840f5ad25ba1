package points

// Column returns feature j of all points.
func Column(x [][]float64, j int) []float64 {
	c := make([]float64, len(x))
	for i, row := range x {
		c[i] = row[j]
	}
	return c
}
