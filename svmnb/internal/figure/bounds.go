package figure

// BoundsData is what [Bounds] draws: the bounds of b'A⁻¹b that an iterative
// solver had at m of its iterations. A bound that was not known at an iteration
// is NaN there; a bound that does not exist is nil.
type BoundsData struct {
	Problem    string // what was solved and how, such as "K + 0.01 I, n = 500, CG"
	Iterations []int  // m increasing iteration numbers

	Lower       []float64 // m lower bounds
	Skilling    []float64 // m upper bounds by ‖r‖²/θ
	Radau       []float64 // m upper bounds by Gauss–Radau quadrature
	GibbsMacKay []float64 // m upper bounds by a second run on AB
	Residual    []float64 // m relative residuals ‖b − Ax‖/‖b‖, ≥ 0; nil leaves their panel out

	Exact   float64 // b'A⁻¹b; NaN when unknown
	Tol     float64 // gap at which the answer is good enough; 0 leaves the line out
	TolName string  // what the line is called; "tolerance" and its value when empty

	Name   string           // of this run among Others; "this run" when empty
	Others []ResidualSeries // residuals of other runs, for comparison; at most 7
}

// ResidualSeries is how the residual of one run fell.
type ResidualSeries struct {
	Name       string    // such as "rank 20"
	Iterations []int     // increasing
	Residual   []float64 // relative residuals ‖b − Ax‖/‖b‖, ≥ 0; NaN where unknown
}

// Bounds draws the sandwich of lower and upper bounds around b'A⁻¹b as it
// closes, and below, on log axes, the gaps between them and the residual.
func Bounds(d BoundsData) (*Chart, error) {
	return nil, &InputError{Figure: "Bounds", Field: "BoundsData", Reason: "cannot be drawn yet"}
}
