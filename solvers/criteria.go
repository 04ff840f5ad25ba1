package solvers

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"
)

// Criterion decides from the trace alone whether a run is over. It keeps no
// state, so one value serves many runs.
//
// Solve asks after every iteration. pt holds what is known then: Iteration and Elapsed always,
// Up and Low when the method maintains them, and the other fields at sampled iterations (see
// Settings.Every). Unknown fields are NaN. The trace holds the sampled points so far, the
// current one included.
type Criterion interface {
	Met(pt *Point, t *Trace) Status
	String() string
}

// Unclaimed marks a criterion that makes no claim about the gap. A run that meets any other
// criterion while the relative gap is above 0.5 is not accepted as converged.
type Unclaimed interface{ Unclaimed() }

// UpLow stops when m(α) − M(α) ≤ Tol, the KKT conditions with the bias eliminated (Keerthi et
// al. 2001; LIBSVM's rule with its eps as Tol). All conditions then hold within Tol/2 at the
// bias (m + M)/2, and the gap is at most n C Tol / 2. With a fixed bias, b₀ is included in
// both m and M, and the conditions hold within Tol.
type UpLow struct{ Tol float64 }

func (c UpLow) Met(pt *Point, _ *Trace) Status { return metIf(pt.Up-pt.Low <= c.Tol) }
func (c UpLow) String() string                 { return fmt.Sprintf("m − M ≤ %g", c.Tol) }

// KKT stops when no Karush–Kuhn–Tucker condition is violated by more than Tol,
// in units of y f (CST §7.1, criterion 2; CST suggests 1e-2, Platt 1e-3).
type KKT struct{ Tol float64 }

func (c KKT) Met(pt *Point, _ *Trace) Status { return metIf(pt.KKT <= c.Tol) }
func (c KKT) String() string                 { return fmt.Sprintf("KKT violation ≤ %g", c.Tol) }

// Gap stops when the feasibility gap divided by 1 + primal is at most Rel (CST (7.3)).
type Gap struct{ Rel float64 }

func (c Gap) Met(pt *Point, _ *Trace) Status { return metIf(pt.RelGap <= c.Rel) }
func (c Gap) String() string                 { return fmt.Sprintf("relative gap ≤ %g", c.Rel) }

// Growth stops when the dual has grown by less than Tol·|W| over one sweep: n iterations, or
// as many as the method reports (CST §7.1, criterion 1). It says nothing about optimality: a
// slow run meets it too early. It is here because the book describes it.
type Growth struct{ Tol float64 }

// Unclaimed implements [Unclaimed].
func (Growth) Unclaimed() {}

func (c Growth) Met(pt *Point, t *Trace) Status {
	if math.IsNaN(pt.Dual) {
		return NotTerminated
	}
	sweep := cmp.Or(t.Sweep, t.N)
	for k := len(t.Points) - 1; k >= 0; k-- {
		if old := &t.Points[k]; pt.Iteration-old.Iteration >= sweep {
			sweeps := float64(pt.Iteration-old.Iteration) / float64(sweep)
			return metIf(pt.Dual-old.Dual <= c.Tol*math.Max(math.Abs(pt.Dual), math.SmallestNonzeroFloat64)*sweeps)
		}
	}
	return NotTerminated
}
func (c Growth) String() string { return fmt.Sprintf("dual growth per sweep ≤ %g", c.Tol) }

// Iterations ends a run with the status IterationLimit after Max iterations.
type Iterations struct{ Max int }

func (c Iterations) Met(pt *Point, _ *Trace) Status {
	if pt.Iteration >= c.Max {
		return IterationLimit
	}
	return NotTerminated
}
func (c Iterations) String() string { return fmt.Sprintf("%d iterations", c.Max) }

// Time ends a run with the status TimeLimit once Max has passed.
type Time struct{ Max time.Duration }

func (c Time) Met(pt *Point, _ *Trace) Status {
	if pt.Elapsed >= c.Max {
		return TimeLimit
	}
	return NotTerminated
}
func (c Time) String() string { return c.Max.String() }

// Any stops as soon as one of the criteria is met, with the status of that criterion.
func Any(criteria ...Criterion) Criterion { return anyOf{&criteria} }

// All stops when all criteria are met, with the status of the first. All() without criteria
// never stops.
func All(criteria ...Criterion) Criterion { return allOf{&criteria} }

// A pointer to the slice makes descriptions that hold such a criterion comparable.
type (
	anyOf struct{ of *[]Criterion }
	allOf struct{ of *[]Criterion }
)

func (c anyOf) Met(pt *Point, t *Trace) Status {
	for _, one := range *c.of {
		if s := one.Met(pt, t); s != NotTerminated {
			return s
		}
	}
	return NotTerminated
}
func (c anyOf) String() string { return join("any", *c.of) }

func (c allOf) Met(pt *Point, t *Trace) Status {
	first := NotTerminated
	for _, one := range *c.of {
		s := one.Met(pt, t)
		if s == NotTerminated {
			return s
		}
		if first == NotTerminated {
			first = s
		}
	}
	return first
}
func (c allOf) String() string { return join("all", *c.of) }

// Replace returns c with each criterion in it, also within Any and All, replaced by with(c).
func Replace(c Criterion, with func(Criterion) Criterion) Criterion {
	each := func(of []Criterion) *[]Criterion {
		out := make([]Criterion, len(of))
		for i, one := range of {
			out[i] = Replace(one, with)
		}
		return &out
	}
	switch c := c.(type) {
	case anyOf:
		return anyOf{each(*c.of)}
	case allOf:
		return allOf{each(*c.of)}
	}
	return with(c)
}

// begin returns the criterion for one run on p, with the observers that it needs.
func begin(c Criterion, p *Problem) (of Criterion, observers []Observer, err error) {
	of = Replace(c, func(c Criterion) Criterion {
		b, ok := c.(Beginner)
		if !ok || err != nil {
			return c
		}
		run, o, failure := b.Begin(p)
		if failure != nil {
			err = failure
			return c
		}
		observers = append(observers, o)
		return run
	})
	return of, observers, err
}

func join(name string, c []Criterion) string {
	s := make([]string, len(c))
	for i, one := range c {
		s[i] = one.String()
	}
	return name + "(" + strings.Join(s, ", ") + ")"
}

// metIf returns Converged or NotTerminated. A comparison with NaN, which means "not measured",
// is false.
func metIf(met bool) Status {
	if met {
		return Converged
	}
	return NotTerminated
}
