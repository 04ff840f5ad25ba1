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
// Solve asks after every iteration. The point holds what is known then: always
// Iteration and Elapsed, Up and Low when the method maintains them, and all
// the rest at sampled iterations (see Settings.Every); NaN otherwise. The
// trace holds the sampled points so far, the current one included.
type Criterion interface {
	Met(pt *Point, t *Trace) Status
	String() string
}

// An Unclaimed criterion makes no claim about the gap. Solve refuses to believe others while
// the relative gap is above 0.5.
type Unclaimed interface{ Unclaimed() }

// UpLow stops when m(α) − M(α) ≤ Tol, the b-free form of the KKT conditions
// (Keerthi et al. 2001; LIBSVM's rule with its eps as Tol). All conditions then
// hold within Tol/2 at the bias (m + M)/2, and the gap is at most n C Tol / 2. A
// fixed bias counts among the F of both sets: then they hold within Tol.
type UpLow struct{ Tol float64 }

func (c UpLow) Met(pt *Point, _ *Trace) Status { return metIf(pt.Up-pt.Low <= c.Tol) }
func (c UpLow) String() string                 { return fmt.Sprintf("m − M ≤ %g", c.Tol) }

// KKT stops when no Karush–Kuhn–Tucker condition is violated by more than Tol,
// in units of y f (CST §7.1, criterion 2; CST suggests 1e-2, Platt 1e-3).
type KKT struct{ Tol float64 }

func (c KKT) Met(pt *Point, _ *Trace) Status { return metIf(pt.KKT <= c.Tol) }
func (c KKT) String() string                 { return fmt.Sprintf("KKT violation ≤ %g", c.Tol) }

// Gap stops when the feasibility gap over 1 + primal is at most Rel, CST (7.3).
type Gap struct{ Rel float64 }

func (c Gap) Met(pt *Point, _ *Trace) Status { return metIf(pt.RelGap <= c.Rel) }
func (c Gap) String() string                 { return fmt.Sprintf("relative gap ≤ %g", c.Rel) }

// Growth stops when the dual has grown by less than Tol·|W| over one sweep, n
// iterations or what the method says (CST §7.1, criterion 1). It says nothing about optimality and is
// here because the book has it: a slow run looks finished to it.
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

// Iterations stops with IterationLimit after Max iterations.
type Iterations struct{ Max int }

func (c Iterations) Met(pt *Point, _ *Trace) Status {
	if pt.Iteration >= c.Max {
		return IterationLimit
	}
	return NotTerminated
}
func (c Iterations) String() string { return fmt.Sprintf("%d iterations", c.Max) }

// Time stops with TimeLimit once Max has passed.
type Time struct{ Max time.Duration }

func (c Time) Met(pt *Point, _ *Trace) Status {
	if pt.Elapsed >= c.Max {
		return TimeLimit
	}
	return NotTerminated
}
func (c Time) String() string { return c.Max.String() }

// Any stops as soon as one of the criteria does, with its status.
func Any(criteria ...Criterion) Criterion { return anyOf{&criteria} }

// All stops when every criterion would, with the status of the first.
// All() of nothing never stops.
func All(criteria ...Criterion) Criterion { return allOf{&criteria} }

// Behind a pointer, so that descriptions that hold a criterion can be compared.
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

func join(name string, c []Criterion) string {
	s := make([]string, len(c))
	for i, one := range c {
		s[i] = one.String()
	}
	return name + "(" + strings.Join(s, ", ") + ")"
}

// metIf is false for NaN comparisons, which is what "not measured" needs.
func metIf(met bool) Status {
	if met {
		return Converged
	}
	return NotTerminated
}
