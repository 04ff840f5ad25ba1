package figure

// EvidenceData is what [Evidence] draws: the log marginal likelihood over two
// hyperparameters, each on a log axis, and the ways of an optimiser.
type EvidenceData struct {
	Problem string    // what was learnt, such as "motorcycle · RBF, σ² free"
	Note    string    // one more sentence for the subtitle, such as what is fixed; may be empty
	Names   [2]string // of the hyperparameters; "θ₁" and "θ₂" when empty

	Xs, Ys [2]float64  // first and last node of a grid that is even in logarithms, > 0
	Z      [][]float64 // Z[i][j] is the log marginal likelihood at node j of Xs and node i of Ys

	Paths []EvidencePath // of the optimiser and its restarts; may be empty
}

// EvidencePath is one way of the optimiser, of at least one point; its last
// point is its end.
type EvidencePath struct {
	X, Y  []float64 // values of the two hyperparameters, > 0
	Value []float64 // log marginal likelihood at each; nil when unknown
}

// Evidence draws the log marginal likelihood as filled contours, labelled by
// how far they are below its maximum, with the optimiser's best path and the
// ends of the others.
func Evidence(d EvidenceData) (*Chart, error) {
	return nil, &InputError{Figure: "Evidence", Field: "EvidenceData", Reason: "cannot be drawn yet"}
}
