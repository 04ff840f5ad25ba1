package solvers

import "math"

// Fast is the method that is fastest for the problem:
//
//   - Newton where K is Features of at most a thousand columns;
//   - CoordinateDescent for other Features with a fixed bias;
//   - GradientAscent for other problems with a fixed bias;
//   - Decomposition from 600 variables on, where the kernel matrix has Blocks, the
//     bias is free and every α has an upper bound or a ridge, unless single precision
//     is too coarse for how far the points are from each other;
//   - TubeSMO for the other regressions of [Tube] and [Tube2] with a free bias;
//   - SMO for all else.
//
// A method that rounding stops before the criterion is met, or that has taken many
// iterations, hands over to another: of at most 3000 variables to PrimalDual, which takes
// the same few steps whatever the kernel and C, and then to SMO. The answer is the best of
// them. Result.Method says which they were.
type Fast struct{}

// fastFrom is from how many variables on working sets pay for their setting up
// (measured on mixtures of 2, 20 and 100 features, C from 1 to 100, and in processes
// that have run nothing before, as notebook cells are).
const fastFrom = 600

// fastDense is up to how many variables Q is factored when other methods do not get on:
// 72 MB and some seconds.
const fastDense = 3000

// Name is "the fastest".
func (Fast) Name() string { return "the fastest" }

// Start implements Method.
func (m Fast) Start(p *Problem, alpha []float64) (Stepper, error) {
	return m.StartAt(p, alpha, nil)
}

// StartAt implements WarmStarter.
func (m Fast) StartAt(p *Problem, alpha, f []float64) (Stepper, error) {
	return startAt(m.Choose(p)[0].Method, p, alpha, f)
}

// Accepts implements Accepter: there is a method for every problem.
func (Fast) Accepts(*Problem) error { return nil }

// WantsFeatures reports whether a linear machine of so many variables, on points of so
// many columns, is best given as [Features].
func (Fast) WantsFeatures(variables, points, columns int, fixedBias bool) bool {
	return fixedBias || variables >= fastFrom && points >= 2*columns && columns <= mostColumns
}

// Choose implements Chooser.
func (Fast) Choose(p *Problem) []Stage {
	var list []Stage
	x, linear := p.K.(Features)
	if linear && !p.PerClass && x.Columns() <= mostColumns {
		list = append(list, Stage{Method: Newton{}})
	}
	if p.FixedBias {
		if linear {
			list = append(list, Stage{Method: CoordinateDescent{}})
		}
		list = append(list, hurried(p, GradientAscent{}, 1000))
		return append(list, inTheEnd(p, GradientAscent{})...)
	}
	pairs := Method(SMO{})
	if doubled(p.K) != nil && !p.PerClass {
		pairs = TubeSMO{}
	}
	if len(p.S) >= fastFrom {
		if b, n := engineFor(p); b != nil && fine(p, b, n) {
			list = append(list, hurried(p, Decomposition{}, 300))
			return append(list, inTheEnd(p, pairs)...)
		}
	}
	list = append(list, hurried(p, pairs, max(100_000, 200*len(p.S))))
	return append(list, inTheEnd(p, pairs)...)
}

// inTheEnd are the methods for what others do not get on with, pairs last.
func inTheEnd(p *Problem, last Method) []Stage {
	if p.PerClass || len(p.S) > fastDense {
		return []Stage{{Method: last}}
	}
	return []Stage{{Method: PrimalDual{}}, hurried(p, last, 1_000_000)}
}

// hurried is a method that is given so many iterations where Q can be factored.
func hurried(p *Problem, m Method, most int) Stage {
	if len(p.S) > fastDense {
		most = 0
	}
	return Stage{m, most}
}

// fine reports whether single precision tells the points apart: whether the largest K is
// not too large for κ, about how far two of them are from each other in feature space.
func fine(p *Problem, b Blocks, n int) bool {
	const some = 8
	at, of := make([]int, 8*some), make([]int, some)
	for k := range at {
		at[k] = k * (n - 1) / (len(at) - 1)
	}
	for k := range of {
		of[k] = k * (n - 1) / (some - 1)
	}
	diag, largest, spread := p.K.Diag(), 0.0, 0.0
	for _, v := range diag[:n] {
		largest = max(largest, math.Abs(v))
	}
	row := make([]float64, len(at))
	for _, j := range of {
		clear(row)
		b.TimesAt(row, at, []int{j}, []float64{1})
		for k, i := range at {
			spread += (diag[i] + diag[j] - 2*row[k]) / float64(len(at)*some)
		}
	}
	return largest <= coarse*spread || largest == 0
}

// coarse is the largest K in units of κ for which single precision will do.
const coarse = 1 << 14
