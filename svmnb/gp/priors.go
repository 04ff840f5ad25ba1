package gp

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// hyper is what a description says of one hyperparameter that Optimise learns.
type hyper struct {
	name      string
	low, high float64 // bounds; 0 and +Inf where there is none
	prior     prior
}

// prior is the density of ln θ for a hyperparameter θ. The zero value has no density.
type prior struct {
	call string // the verb, such as "GammaPrior"
	a, b float64
}

// Bound makes Optimise keep the hyperparameter of this name from low to high, in units of
// the hyperparameter. Names are those that kernels.Lookup takes, such as "gamma", "trend.length"
// or "age.length", or "noise" for the noise variance. low = 0 and high = +Inf stand for no bound; then the
// limit is 10⁵ times smaller or larger than the start. A start outside the bounds is moved
// inside. With low = high the hyperparameter has this value: Bound("noise", 0.01, 0.01). Without
// Optimise, Bound has no effect. [kernels.Fixed] keeps a hyperparameter of a kernel as it is.
func (p Process) Bound(name string, low, high float64) Process {
	p = p.knowing(name, func(h *hyper) { h.low, h.high = low, high })
	p.faults.Said("Bound "+name, arguments.WrongIf(!(low >= 0 && low <= high && high > 0) || math.IsInf(low, 1), "Bound", low, "the bounds of %q are %v and %v; they must be numbers with 0 ≤ low ≤ high and high > 0, where high may be +Inf", name, low, high))
	return p
}

// LogNormalPrior makes Optimise expect the hyperparameter of this name, as of [Process.Bound],
// near median: ln θ has a normal distribution with mean ln(median) and standard deviation
// sigma. Sigma = 1 means within a factor of e in two cases of three.
//
// Optimise then maximises ln p(y) + ln p(θ) (maximum a posteriori), with p(θ) the density of
// ln θ, so that the result does not depend on how a kernel is parametrised: a prior for
// γ = 1/2ℓ² of median 1/2m² and twice the sigma is the one for ℓ of median m. A hyperparameter
// has one prior; the last one counts. Without Optimise, a prior has no effect.
func (p Process) LogNormalPrior(name string, median, sigma float64) Process {
	return p.expecting(name, prior{"LogNormalPrior", median, sigma}, "median", "sigma")
}

// GammaPrior is [Process.LogNormalPrior] with a gamma distribution of θ: its density is
// proportional to θ^(shape−1) e^(−rate·θ), its mean is shape/rate. As the density is that of
// ln θ, its maximum is at the mean.
func (p Process) GammaPrior(name string, shape, rate float64) Process {
	return p.expecting(name, prior{"GammaPrior", shape, rate}, "shape", "rate")
}

func (p Process) expecting(name string, d prior, first, second string) Process {
	p = p.knowing(name, func(h *hyper) { h.prior = d })
	wrong := func(v float64) bool { return !(v > 0) || math.IsInf(v, 1) }
	var err error
	switch {
	case wrong(d.a):
		err = arguments.Wrong(d.call, d.a, "the %s for %q is %v; it must be a positive number", first, name, d.a)
	case wrong(d.b):
		err = arguments.Wrong(d.call, d.b, "the %s for %q is %v; it must be a positive number", second, name, d.b)
	}
	p.faults.Said("prior "+name, err)
	return p
}

// knowing returns p after change of what it says of a hyperparameter.
func (p Process) knowing(name string, change func(h *hyper)) Process {
	list := slices.Clone(p.said())
	at, found := slices.BinarySearchFunc(list, name, func(h hyper, name string) int { return strings.Compare(h.name, name) })
	if !found {
		list = slices.Insert(list, at, hyper{name: name, high: math.Inf(1)})
	}
	change(&list[at])
	p.hypers = &list
	return p
}

// said returns what the description says of hyperparameters, in the order of their names.
func (p Process) said() []hyper {
	if p.hypers == nil {
		return nil
	}
	return *p.hypers
}

// String returns the calls.
func (h hyper) String() string {
	number := func(v float64) string {
		if math.IsInf(v, 1) {
			return "math.Inf(1)"
		}
		return say.Number(v)
	}
	s := ""
	if h.low != 0 || !math.IsInf(h.high, 1) {
		s = fmt.Sprintf(".Bound(%q, %s, %s)", h.name, number(h.low), number(h.high))
	}
	if h.prior != (prior{}) {
		s += fmt.Sprintf(".%s(%q, %s, %s)", h.prior.call, h.name, number(h.prior.a), number(h.prior.b))
	}
	return s
}

// density returns the logarithm of the density of ln θ at x = ln θ, and its derivative.
func (d prior) density(x float64) (value, slope float64) {
	switch d.call {
	case "LogNormalPrior":
		z := (x - math.Log(d.a)) / d.b
		return -z*z/2 - math.Log(d.b) - math.Log(2*math.Pi)/2, -z / d.b
	case "GammaPrior":
		gamma, _ := math.Lgamma(d.a)
		theta := math.Exp(x)
		return d.a*(math.Log(d.b)+x) - gamma - d.b*theta, d.a - d.b*theta
	}
	return 0, 0
}

// interval is where the logarithm of a hyperparameter may be: centre ± half. Optimise begins
// at start. If half is 0, the hyperparameter itself is held.
type interval struct{ start, centre, half, held float64 }

// inside is the share of an interval in which an ascent may begin. At its ends the ascent
// would have no slope.
const inside = 0.95

// interval returns that of a hyperparameter with this value.
func (h hyper) interval(value float64) interval {
	at, most := math.Log(value), math.Log(reach)
	if h.low == 0 && math.IsInf(h.high, 1) {
		return interval{at, at, most, 0}
	}
	if h.low == h.high {
		at = math.Log(h.low)
		return interval{at, at, 0, h.low}
	}
	low, high := math.Log(h.low), math.Log(h.high)
	if h.low == 0 {
		low = min(at, high) - most
	}
	if math.IsInf(h.high, 1) {
		high = max(at, low) + most
	}
	v := interval{centre: (low + high) / 2, half: (high - low) / 2}
	v.start = v.within(at)
	return v
}

// ends returns the ends of the interval of the hyperparameter itself.
func (v interval) ends() (low, high float64) {
	if v.half == 0 {
		return v.held, v.held
	}
	return math.Exp(v.centre - v.half), math.Exp(v.centre + v.half)
}

// exponentials returns the hyperparameters with the logarithms x.
func exponentials(x []float64, intervals []interval) []float64 {
	v := make([]float64, len(x))
	for i := range x {
		if v[i] = math.Exp(x[i]); intervals[i].half == 0 {
			v[i] = intervals[i].held
		}
	}
	return v
}

// within returns x, or the nearest place where an ascent may begin.
func (v interval) within(x float64) float64 {
	return min(max(x, v.centre-inside*v.half), v.centre+inside*v.half)
}

// near returns the distance from an end that counts as at the end.
func (v interval) near() float64 { return min(edge, v.half/50) }

// objective names what Optimise maximises.
func (p Process) objective() string {
	if p.hasPriors() {
		return "ln p(y) + ln p(θ)"
	}
	return "ln p(y)"
}

func (p Process) hasPriors() bool {
	return slices.ContainsFunc(p.said(), func(h hyper) bool { return h.prior != prior{} })
}

// saidOf returns what the description says of each of the hyperparameters that are learned.
func (t *processTask) saidOf(learned []Partial) ([]hyper, error) {
	return t.Process.saidOf(learned, t.lookup)
}

// saidOf takes the function that finds a hyperparameter by its name. The error is an *ArgumentError
// if the description speaks of others, or of one by two names.
func (p Process) saidOf(learned []Partial, lookup func(name string) (int, error)) ([]hyper, error) {
	all := make([]hyper, len(learned))
	for i, h := range learned {
		all[i] = hyper{name: h.Name, high: math.Inf(1)}
	}
	by := map[int]string{}
	for _, h := range p.said() {
		call := h.prior.call
		if call == "" {
			call = "Bound"
		}
		at, err := lookup(h.name)
		if err != nil {
			var names []string
			for _, h := range learned {
				names = append(names, h.Name)
			}
			return nil, arguments.Wrong(call, math.NaN(), "%q does not name one hyperparameter that Optimise learns; there are %s", h.name, say.Listed(names))
		}
		if before, twice := by[at]; twice {
			return nil, arguments.Wrong(call, math.NaN(), "%q and %q name the same hyperparameter; use one of the names", before, h.name)
		}
		by[at], all[at] = h.name, h
	}
	return all, nil
}
