package gp

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/svmnb/svmnb/internal/vec"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/solvers/linear"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// summaryWork limits the multiplications that a summary adds to a fit: about a tenth of a
// second.
const summaryWork = 300_000_000

// Markdown says in words what was solved, how the run ended, how good the answer is and how
// it fits the observations, with at most two hints if something looks wrong.
func (f *Fit) Markdown() string {
	if err := f.ready(context.Background(), "Markdown"); err != nil {
		return err.Error()
	}
	s := say.NewSummary()
	t, c := f.task, f.Certificate
	s.Row("**problem**", "Gaussian process of %s", t.data.Name)
	s.Row("points × features", "%d × %d", t.data.N(), t.data.D())
	s.Row("kernel", "%s", say.Brief(t.kernel.String()))
	if t.scale != nil {
		s.Row("targets", "scaled by their mean %s and standard deviation %s; kernel, noise variance, mean and evidence are in these units", say.Signed(t.scale.Centre, 6), say.Signed(t.scale.Width, 6))
	}
	s.Row("noise variance", "%s", t.noiseText())
	s.Row("mean", "%s", f.meanText())
	if o := f.Optimisation; o != nil {
		end := o.End()
		if o.Part > 0 {
			s.Row("**hyperparameters**", "%d learned, from %d points by factors and then from all in %s by probes; the slope is %.1g", len(o.Names), o.Part, say.Several(len(o.Ascents[o.Best].Path)-1, "step"), end.Slope)
		} else {
			s.Row("**hyperparameters**", "%d learned, %s; %s rose from %s to %s, its slope is %.1g there", len(o.Names), o.status(), t.objective(),
				say.Signed(o.Ascents[o.Best].Path[0].height(), 6), say.Signed(end.height(), 6), end.Slope)
		}
		if said := t.said(); said != nil {
			calls := ""
			for _, h := range said {
				calls += h.String()
			}
			s.Row("bounds and priors", "%s", say.Markup(say.Code(strings.TrimPrefix(calls, "."))))
		}
		s.Row("effort", "%s in %s, %v", say.Several(o.Evaluations, "evaluation"), say.Several(len(o.Ascents), "ascent"), say.Spell(o.Elapsed))
	}
	if stop := t.stopText(); stop != "" {
		s.Row("**solver**", "%s, until %s", f.Method, stop)
	} else {
		s.Row("**solver**", "%s", f.Method)
	}
	after := ""
	if !direct(t.method) {
		after = " after " + say.Several(f.Iterations, "iteration")
	}
	s.Row("status", "%s%s, %s kernel values, %v", f.Status, after, say.Thousands(f.Evaluations), say.Spell(f.Elapsed))
	switch {
	case math.IsInf(c.Energy, 1) && f.Status == solvers.Interrupted:
		s.Row("**certificate**", "y'A⁻¹y is at least %s; the interrupt came before the first upper bound", say.Signed(c.Lower, 9))
	case math.IsInf(c.Energy, 1):
		s.Row("**certificate**", "y'A⁻¹y is at least %s; the noise is 0, or too small beside the kernel, and leaves no upper bound", say.Signed(c.Lower, 9))
	case c.Energy > 1e-9*math.Abs(c.Lower):
		s.Row("**certificate**", "y'A⁻¹y is between %s and %s", say.Signed(c.Lower, 9), say.Signed(c.Upper, 9))
		s.Row("error of a mean", "at most %.3g times the prior standard deviation", c.ErrorBound(1))
	default:
		s.Row("**certificate**", "y'A⁻¹y = %s", say.Signed(c.Lower, 9))
	}
	claimed := ""
	if c.Claimed {
		claimed = "; it and the bounds are the solver's own, for the interrupt left no time to compute them afresh"
	}
	s.Row("residual ‖y − Aα‖", "%.2g%s", c.Residual, claimed)
	if v := f.cheapEvidence(); !math.IsNaN(v.Value) {
		s.Row("**result**", "log marginal likelihood %v", v)
	}
	if loo := f.cheapLeaveOneOut(); loo != nil {
		mean := 0.0
		for _, v := range loo.LogDensity {
			mean += v / float64(len(loo.LogDensity))
		}
		s.Row("leave one out", "root mean square error %.4g, mean ln p(y_i) %s", loo.RMSE(t.data.Y), say.Signed(mean, 4))
	}
	s.Hints(f.Hints())
	return s.String()
}

// rows adds what was learned to a summary; nothing without Optimise.
func (o *Optimisation) rows(s *say.Summary) {
	if o == nil || len(o.Ascents) == 0 {
		return
	}
	s.Row("**hyperparameters**", "%d learned, %s; ln p(y) rose from %s to %s, its slope is %.1g there", len(o.Names), o.status(),
		say.Signed(o.Ascents[o.Best].Path[0].height(), 6), say.Signed(o.End().height(), 6), o.End().Slope)
	s.Row("effort", "%s in %s, %v", say.Several(o.Evaluations, "evaluation"), say.Several(len(o.Ascents), "ascent"), say.Spell(o.Elapsed))
}

// status says how the best ascent ended.
func (o *Optimisation) status() string { return o.Ascents[o.Best].Status.String() }

func (t *processTask) noiseText() string {
	if t.noises == nil {
		return fmt.Sprintf("%.6g, standard deviation %.4g", t.noise, math.Sqrt(t.noise))
	}
	lo, hi := math.Inf(1), 0.0
	for _, v := range *t.noises {
		lo, hi = min(lo, v), max(hi, v)
	}
	return fmt.Sprintf("%.4g to %.4g, known for each target", lo, hi)
}

func (f *Fit) meanText() string {
	switch f.task.mean {
	case zeroMean:
		return "zero"
	case linearMean:
		s := "linear, " + say.Signed(f.Coefficients[0], 6)
		for j, b := range f.Coefficients[1:] {
			if j == 5 {
				s += fmt.Sprintf(" and %d more", len(f.Coefficients)-1-j)
				break
			}
			s += fmt.Sprintf(", %s · %s", say.Signed(b, 6), f.task.data.FeatureName(j))
		}
		return s
	}
	return fmt.Sprintf("%s, removed", say.Signed(f.Offset, 9))
}

// stopText says when an iterative method stops; "" for a direct one.
func (t *processTask) stopText() string {
	switch {
	case direct(t.method):
		return ""
	case t.stop != nil:
		return t.stop.String()
	}
	return t.criterion().String()
}

// criterion returns the stopping criterion of the fit, with the default filled in.
func (t *processTask) criterion() linear.Criterion {
	if t.stop != nil {
		return t.stop
	}
	diag := make(diagonal, len(t.y))
	for i, x := range t.data.X {
		diag[i] = t.kernel.Eval(x, x)
	}
	return (&linear.System{K: diag, Noise: t.noiseVector()}).Criterion()
}

// diagonal is a matrix of which only the diagonal is used.
type diagonal []float64

func (d diagonal) Dim() int          { return len(d) }
func (d diagonal) Diag() []float64   { return d }
func (d diagonal) Row(int) []float64 { return nil }

// cheapEvidence returns the log marginal likelihood if computing it is cheap enough for a
// summary, otherwise NaN.
func (f *Fit) cheapEvidence() Estimate {
	n := float64(len(f.Alpha))
	work := n * n * float64(f.Iterations*probes)
	if f.Factor != nil {
		work = 0
	} else if direct(f.task.method) {
		work = n * n * n / 3
	}
	if work > summaryWork {
		return Estimate{Value: math.NaN()}
	}
	e, err := f.LogMarginalLikelihood(context.Background())
	if err != nil {
		return Estimate{Value: math.NaN()}
	}
	return e
}

// cheapLeaveOneOut returns the leave-one-out predictions if computing them is cheap enough
// for a summary, otherwise nil.
func (f *Fit) cheapLeaveOneOut() *LeaveOneOut {
	if n := float64(len(f.Alpha)); !direct(f.task.method) || n*n*n > summaryWork {
		return nil
	}
	l, err := f.LeaveOneOut(context.Background())
	if err != nil {
		return nil
	}
	return l
}

// Hints returns at most two suggestions, each with its reason, if something looks wrong.
// The more important one is first.
func (f *Fit) Hints() []string {
	if f.ready(context.Background(), "Hints") != nil {
		return nil
	}
	var hints []string
	t := f.task
	add := func(format string, args ...any) { hints = append(hints, fmt.Sprintf(format, args...)) }
	switch jittered := f.Factor != nil && f.Factor.Jitter() > 0; {
	case jittered:
		add("Cholesky's factor exists only with %.2g added to the noise variance, which is no longer what was said: say NoiseVariance(%.2g) or more, or drop points that are all but equal.", f.Factor.Jitter(), f.Factor.Jitter())
	case f.Status.Early() && direct(t.method):
		add("A is so near to singular that the residual is %.2g: a larger noise variance helps, or fewer points that are all but equal.", f.Certificate.Residual)
	case f.Status.Early():
		add("%s ended before its criterion was met (%s), %s: raise MaxIterations, precondition with Using(linear.CG{Rank: linear.AutoRank}), or use Cholesky.", f.Method, f.Status, f.known())
	}
	if o := f.Optimisation; o != nil {
		end := o.End()
		var unused []string
		learned, _ := t.hyperparameters()
		said, _ := t.saidOf(learned)
		numbered, _ := kernels.Hyperparameters(t.kernel) // without names of features
		for i, h := range said {
			name, v := o.Names[i], end.Values[i]
			near := min(0.1, math.Log(o.High[i]/o.Low[i])/50)
			up, down := math.Log(o.High[i]/v) < near, math.Log(v/o.Low[i]) < near
			switch {
			case up && !math.IsInf(h.high, 1), down && h.low > 0:
				add("%s has ended at its bound, %s: a wider Bound may give a larger likelihood.", name, say.Number(v))
			case up && i < len(numbered) && strings.Contains(numbered[i].Name, "lengths["):
				unused = append(unused, name)
			case up:
				add("%s has grown to its bound, %.0e times where it began: the data cannot tell it from infinity, so leave its term out, or begin elsewhere.", name, reach)
			case down:
				add("%s has fallen to its bound, %.0e of where it began: the data cannot tell it from 0, so leave its term out, or begin elsewhere.", name, 1/reach)
			}
		}
		if len(unused) > 0 {
			add("The targets do not depend on the features of %s, which have grown to their bound: leave these features out with Columns.", say.Listed(unused))
		}
		if status := o.Ascents[o.Best].Status; status.Early() {
			add("The ascent ended early (%s), where the slope is still %.2g: fit again from these hyperparameters, or with Restarts(5, 1).", status, end.Slope)
		}
	}
	if r := t.reaches(); r > 0.999 {
		add("The points furthest apart have a correlation of %.5g, so f is all but constant over them: a length scale near %.2g lets it vary.", r, math.Sqrt(0.5/kernels.GammaMedian(t.data.X)))
	}
	if loo := f.cheapLeaveOneOut(); loo != nil && len(loo.Mean) >= 20 {
		z2 := 0.0
		for i, m := range loo.Mean {
			d := t.data.Y[i] - m
			z2 += d * d / loo.Variance[i] / float64(len(loo.Mean))
		}
		switch {
		case z2 > 2:
			add("Targets are %.3g times as far from what the others predict as the process thinks: the noise variance or the kernel's variance is too small; try Optimise.", math.Sqrt(z2))
		case z2 < 0.5:
			add("Targets are only %.2g times as far from what the others predict as the process thinks: the noise variance or the kernel's variance is too large; try Optimise.", math.Sqrt(z2))
		}
	}
	return hints[:min(2, len(hints))]
}

// known says how accurately an iterative method knows y'A⁻¹y.
func (f *Fit) known() string {
	if c := f.Certificate; !math.IsInf(c.Energy, 1) {
		return fmt.Sprintf("with y'A⁻¹y known to %.2g", c.Upper-c.Lower)
	}
	return "without an upper bound of y'A⁻¹y"
}

// reaches returns the prior correlation of f between two points that are about as far apart
// as any in the data; 0 if it is not defined.
func (t *processTask) reaches() float64 {
	x := t.data.X
	furthest := func(from int) (at int) {
		most := 0.0
		for i := range x {
			if r2 := vec.SquaredDistance(x[i], x[from]); r2 > most {
				at, most = i, r2
			}
		}
		return at
	}
	i := furthest(0)
	j := furthest(i)
	r := t.kernel.Eval(x[i], x[j]) / math.Sqrt(t.kernel.Eval(x[i], x[i])*t.kernel.Eval(x[j], x[j]))
	if r-r != 0 || slices.Equal(x[i], x[j]) {
		return 0
	}
	return r
}
