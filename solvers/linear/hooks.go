package linear

// What follows is optional: Solve asks whether a Stepper has it.

// A Refresher is a Stepper that maintains residuals. Refresh takes over those that Solve has
// computed afresh from x, and after these those of its witnesses. It returns false when they
// leave nothing to improve but rounding.
type Refresher interface {
	Refresh(r [][]float64) (more bool)
}

// A Witness is a Stepper that has a second vector for each right-hand side, from which an
// upper bound follows.
type Witness interface {
	// Witnesses returns these vectors; nil where there are none.
	Witnesses() [][]float64
}

// A Holder is a Stepper that is faster with more memory than its Method needs.
type Holder interface {
	// Allow is told before the first step how many bytes there are beside those of
	// Method.Memory.
	Allow(bytes float64)
}

// A Factorer is a Stepper that makes a factor of A, for [Solution.Factor].
type Factorer interface {
	// Factor returns it; nil as long as there is none.
	Factor() *CholeskyFactor
}
