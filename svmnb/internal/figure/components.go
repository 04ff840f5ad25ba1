package figure

// ComponentsData is what [Components] draws: a Gaussian process whose kernel is
// a sum, taken apart into the processes of its parts, at m places.
type ComponentsData struct {
	Problem string // what was solved, such as "CO₂ · four kernels"
	Note    string // one more sentence for the subtitle; may be empty
	Feature string // name of the x axis; "x" when empty
	Target  string // name of the y axis; "y" when empty

	X []float64 // n values of the feature
	Y []float64 // n observations

	Xs   []float64 // m ≥ 2 increasing places
	Mean []float64 // m means of the sum
	SD   []float64 // m standard deviations of the sum, ≥ 0

	Parts []Component // in the order of their panels, 1 to 8
}

// Component is the process of one part of a kernel.
type Component struct {
	Name string    // such as "trend"
	Mean []float64 // m means
	SD   []float64 // m standard deviations, ≥ 0; nil leaves the band out
}

// Components draws the observations and the sum, and below, on the same x
// axis, each component by itself, with bands of two standard deviations.
func Components(d ComponentsData) (*Chart, error) {
	return nil, &InputError{Figure: "Components", Field: "ComponentsData", Reason: "cannot be drawn yet"}
}
