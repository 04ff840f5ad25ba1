package solvers

// Fast is the method that is fastest for the problem:
//
//   - Decomposition from 600 variables on, where the kernel matrix has Blocks, the
//     bias is free and every α has an upper bound or a ridge;
//   - TubeSMO for the other regressions of [Tube] and [Tube2] with a free bias;
//   - SMO for all else.
//
// Result.Method says which it was.
type Fast struct{}

// fastFrom is from how many variables on working sets pay for their setting up
// (measured on mixtures of 2, 20 and 100 features, C from 1 to 100, and in processes
// that have run nothing before, as notebook cells are).
const fastFrom = 600

// Name is "the fastest".
func (Fast) Name() string { return "the fastest" }

// Start implements Method.
func (m Fast) Start(p *Problem, alpha []float64) (Stepper, error) {
	return m.startAt(p, alpha, nil)
}

func (m Fast) startAt(p *Problem, alpha, f []float64) (Stepper, error) {
	return startAt(m.choose(p), p, alpha, f)
}

func (Fast) keepsClasses() {}

// choose returns the method for p.
func (Fast) choose(p *Problem) Method {
	if len(p.S) >= fastFrom {
		if b, _ := engineFor(p); b != nil {
			return Decomposition{}
		}
	}
	if doubled(p.K) != nil && !p.FixedBias && !p.PerClass {
		return TubeSMO{}
	}
	return SMO{}
}
