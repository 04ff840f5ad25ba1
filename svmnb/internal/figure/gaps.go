package figure

// GapsData is what [Gaps] draws.
type GapsData struct {
	Problem string
	Names   []string
	Gaps    []float64
	Open    []int
	Points  int
}

// Gaps draws.
func Gaps(d GapsData) (*Chart, error) { return nil, wrong("Gaps", "Names", "is not drawn yet") }
