package figure

// TubeData is what [Tube] draws: a regression function f with its tube of half
// width ε, and the n points that it was learnt from.
type TubeData struct {
	Problem string  // what was solved, such as "sinc · RBF(0.5), C = 10"
	Note    string  // one more sentence for the subtitle; may be empty
	Feature string  // name of the x axis; "x" when empty
	Target  string  // name of the y axis; "y" when empty
	Epsilon float64 // ≥ 0

	X     []float64 // n values of the only feature; nil draws predictions against targets, for any number of features
	Y     []float64 // n targets
	F     []float64 // n values f(x_i)
	Beta  []float64 // n coefficients β = α̂ − α
	Upper []float64 // n bounds of |Beta|, +Inf without one

	Xs   []float64 // m ≥ 2 increasing places; unused when X is nil
	Fs   []float64 // m values of f
	True []float64 // m values of the true function; nil when unknown
}

// Tube draws f of one feature with its tube, the points, the support vectors
// free (on the tube's edge) and at their bound (outside), and the slacks. When
// X is nil it draws predicted against true targets.
func Tube(d TubeData) (*Chart, error) {
	return nil, &InputError{Figure: "Tube", Field: "TubeData", Reason: "cannot be drawn yet"}
}
