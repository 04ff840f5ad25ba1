package figure

// PosteriorData is what [Posterior] draws: a Gaussian process of one feature
// after n observations, at m places.
type PosteriorData struct {
	Problem  string  // what was solved, such as "motorcycle · RBF(0.5), σ² = 0.1"
	Note     string  // one more sentence for the subtitle, such as why the solver stopped early; may be empty
	Feature  string  // name of the x axis; "x" when empty
	Target   string  // name of the y axis; "y" when empty
	Noise    float64 // variance of the noise; NaN when it differs from point to point
	Evidence float64 // log marginal likelihood; NaN when unknown

	X []float64 // n values of the feature
	Y []float64 // n observations

	Xs            []float64   // m ≥ 2 increasing places
	Mean          []float64   // m means of f
	SD            []float64   // m standard deviations of f, ≥ 0
	ObservationSD []float64   // m standard deviations of a new observation y, ≥ SD; nil leaves its band out
	MeanError     []float64   // m bounds on |Mean − exact mean|, ≥ 0; nil when Mean is exact
	Samples       [][]float64 // functions drawn from the posterior, m values each; may be empty
	True          []float64   // m values of the true function; nil when unknown
}

// Posterior draws the mean of a Gaussian process with bands of two standard
// deviations, of f and of new observations, with samples and observations, and,
// for a solver that stopped early, how far the mean may be from the exact one.
func Posterior(d PosteriorData) (*Chart, error) {
	return nil, &InputError{Figure: "Posterior", Field: "PosteriorData", Reason: "cannot be drawn yet"}
}
