package linear

// The interfaces in this file are optional. Solve asks whether a Stepper has them.

// A Refresher is a Stepper that maintains residuals. Refresh takes over the residuals that
// Solve has computed afresh: those of x, one of length n for each right-hand side, and then
// those of the Witnesses. It returns false if only rounding is left to improve.
type Refresher interface {
	Refresh(r [][]float64) (more bool)
}

// A Witness is a Stepper that keeps a second vector for each right-hand side, from which Solve
// computes another upper bound.
type Witness interface {
	// Witnesses returns these vectors, or nil if there are none.
	Witnesses() [][]float64
}

// A Holder is a Stepper that is faster with more memory than its Method needs.
type Holder interface {
	// Allow is called before the first step with the number of bytes that the Stepper may take
	// in addition to Method.Memory.
	Allow(bytes float64)
}

// A Preparer is a Stepper whose first step may take long before its first iteration.
type Preparer interface {
	// Preparing is called before the first step with the function to report to; see
	// [Settings.Preparing].
	Preparing(report func(stage string, share float64))
}

// A Factorer is a Stepper that makes a factor of A, for [Solution.Factor].
type Factorer interface {
	// Factor returns the factor, or nil as long as there is none.
	Factor() *CholeskyFactor
}
