package play

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/cells"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/learn"
	"github.com/svmnb/svmnb/svmnb/internal/runs"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// Race solves one problem by each method in turn and compares them:
//
//	play.Race(rbf, solvers.SMO{}, solvers.ConjugateSMO{}).Show()
//
// It is [Racing] with the default rules. The interrupt button ends the present run, keeps
// its result, skips the other runs and shows a warning. An error in the description ends
// the cell, as in [svmnb.Classifier.MustFit]. If a method cannot solve the problem, the
// table says why.
func Race(problem svmnb.Classifier, methods ...solvers.Method) *RaceResult {
	return Racing{}.Race(problem, methods...)
}

// Racing has the rules of a race. All runs start at α = 0, or near it if s'α = δ requires
// that, and stop by the problem's criterion. Each run has a kernel matrix of its own, so
// that it computes and counts all kernel values that it needs. If the problem is small,
// each method first runs for a moment without being measured, and the garbage collector
// runs. The first method is then not slower because it is the first.
type Racing struct {
	// Limit is the longest time for a run; 0 means one minute, a negative value no limit. A
	// run that reaches it keeps its result, with the Status TimeLimit.
	Limit time.Duration

	// Counts omits time from table, findings and chart. The rest is the same in every run
	// of the notebook.
	Counts bool
}

// RaceResult is the result of a race.
type RaceResult struct {
	Problem svmnb.Classifier // the problem, all defaults filled in; its own method is not used
	Runs    []RaceRun        // in the order of the methods

	task   learn.Race
	counts bool // times are not shown
}

// RaceRun is the run of one method in a race.
type RaceRun struct {
	Name   string         // name of the method; methods with the same name are distinguished by their settings
	Method solvers.Method // the method that was given
	Fit    *svmnb.Fit     // the result; nil if there is none

	// Err says why Fit is nil or incomplete. It wraps solvers.ErrUnsupported,
	// solvers.ErrUnbounded, solvers.ErrDiverging or the cause of an interrupt, also for
	// skipped runs. It is nil if the run met its criterion or reached a limit.
	Err error
}

// finished reports whether the run has met its criterion.
func (r *RaceRun) finished() bool { return r.Fit != nil && r.Fit.Status == solvers.Converged }

const defaultLimit = time.Minute

var errNotRun = errors.New("not run")

// Race is [Racing.Run] for a notebook cell; see the function [Race].
func (r Racing) Race(problem svmnb.Classifier, methods ...solvers.Method) *RaceResult {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	res, err := r.Run(ctx, problem, methods...)
	switch {
	case res == nil:
		cells.Must(err)
	case err != nil:
		cells.Warn(res.interrupted())
	}
	return res
}

// Run runs the race. When ctx ends early, it returns the runs so far, the last one
// incomplete and the skipped ones without a Fit, with an error that wraps
// context.Cause(ctx). For an error in the problem's description, or without methods, the
// result is nil. The error of a single run is in its Err.
func (r Racing) Run(ctx context.Context, problem svmnb.Classifier, methods ...solvers.Method) (_ *RaceResult, err error) {
	defer guard.Caught(&err)
	if err := arguments.Given(ctx, "Run"); err != nil {
		return nil, err
	}
	if len(methods) == 0 {
		return nil, arguments.Wrong("Race", math.NaN(), "there are no methods; give some, such as solvers.SMO{}, solvers.ConjugateSMO{}")
	}
	for i, m := range methods {
		if m == nil {
			return nil, arguments.Wrong("Race", math.NaN(), "method %d is nil; give one such as solvers.SMO{}", i+1)
		}
	}
	shared, err := problem.Learning().(learn.Racer).Race()
	if err != nil {
		return nil, err
	}
	limit := r.Limit
	if limit == 0 {
		limit = defaultLimit
	}
	res := &RaceResult{Problem: shared.Description().(svmnb.Classifier), task: shared, counts: r.Counts}
	for i, name := range raceNames(methods) {
		run := RaceRun{Name: name, Method: methods[i]}
		if ctx.Err() != nil {
			run.Err = fmt.Errorf("svmnb: %w: %w", errNotRun, context.Cause(ctx))
		} else {
			var fit any
			fit, run.Err = shared.Compete(ctx, methods[i], limit)
			if run.Fit, _ = fit.(*svmnb.Fit); run.Fit != nil {
				run.Fit.Method = name
			}
		}
		res.Runs = append(res.Runs, run)
	}
	if ctx.Err() != nil {
		return res, fmt.Errorf("svmnb: the race was interrupted: %w", context.Cause(ctx))
	}
	return res, nil
}

// raceNames returns a unique name for each method. If several have the same name, it adds
// the fields in which they differ, or a number.
func raceNames(methods []solvers.Method) []string {
	names := make([]string, len(methods))
	for i, m := range methods {
		names[i] = m.Name()
		for _, field := range differing(m, methods) {
			names[i] += ", " + field
		}
	}
	for i, name := range names {
		for k := 2; slices.Contains(names[:i], names[i]); k++ {
			names[i] = fmt.Sprintf("%s #%d", name, k)
		}
	}
	return names
}

// differing returns "Field = value" for each exported field of m in which another method of
// its type and name differs.
func differing(m solvers.Method, methods []solvers.Method) (fields []string) {
	v := reflect.ValueOf(m)
	if v.Kind() != reflect.Struct {
		return nil
	}
	for f := range v.NumField() {
		if !v.Type().Field(f).IsExported() {
			continue
		}
		value := func(of solvers.Method) string { return fmt.Sprint(reflect.ValueOf(of).Field(f).Interface()) }
		if slices.ContainsFunc(methods, func(o solvers.Method) bool {
			return reflect.TypeOf(o) == v.Type() && o.Name() == m.Name() && value(o) != value(m)
		}) {
			fields = append(fields, v.Type().Field(f).Name+" = "+value(m))
		}
	}
	return fields
}

// interrupted says which run was interrupted and which were skipped.
func (r *RaceResult) interrupted() string {
	s, skipped := "the race was interrupted", ""
	for _, run := range r.Runs {
		switch {
		case run.Fit != nil && run.Fit.Status == solvers.Interrupted:
			s += fmt.Sprintf(" in the run of %s, after %s iterations and %v; what it had is kept, its gap is %.3g",
				run.Name, say.Thousands(int64(run.Fit.Iterations)), say.Spell(run.Fit.Elapsed), run.Fit.Certificate.Gap)
		case errors.Is(run.Err, errNotRun):
			skipped += ", " + run.Name
		}
	}
	if skipped != "" {
		s += "; not run: " + skipped[2:]
	}
	return s
}

// status says how the run ended.
func (r *RaceRun) status() string {
	switch {
	case r.Fit != nil:
		return r.Fit.Status.String()
	case errors.Is(r.Err, errNotRun):
		return "not run"
	case errors.Is(r.Err, solvers.ErrUnsupported):
		return "refused"
	case errors.Is(r.Err, solvers.ErrUnbounded):
		return solvers.Unbounded.String()
	}
	return "failed"
}

// reason says why Fit is nil or incomplete, unless status says it.
func (r *RaceRun) reason() string {
	switch {
	case r.Err == nil || errors.Is(r.Err, errNotRun) || r.Fit != nil && r.Fit.Status == solvers.Interrupted:
		return ""
	case errors.Is(r.Err, solvers.ErrUnbounded):
		return solvers.ErrUnbounded.Error()
	}
	s := strings.TrimPrefix(r.Err.Error(), "svmnb: ")
	if _, why, ok := strings.Cut(s, solvers.ErrUnsupported.Error()+": "); ok {
		return why
	}
	return strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(s, "solvers: "), r.Method.Name()+": "), "solvers: ")
}

// Chart draws the smallest gap so far of every run over kernel values, iterations and,
// without Counts, time. You can change the chart and then show it by [display.Show]. Chart
// returns an error if no run has measured a gap or if there are more than eight runs.
func (r *RaceResult) Chart() (_ *display.Chart, err error) {
	defer guard.Caught(&err)
	if r.none() {
		return nil, arguments.NoFit("Chart")
	}
	d := figure.RaceData{Problem: r.task.Words() + ", until " + r.task.Stop().String(), Counts: r.counts}
	nearest := math.Inf(1)
	for _, run := range r.Runs {
		entry := figure.RaceRun{Name: run.Name, Finished: run.finished()}
		if f := run.Fit; f == nil {
			entry.Note = run.status()
		} else {
			entry.Points = runs.Certified(f.Result).Trace.Points
			if c := f.Certificate; c.Gap < nearest {
				nearest = c.Gap
				d.Tol, d.TolName = runs.GoodGap(r.task.Stop(), c.Primal)
			}
		}
		d.Runs = append(d.Runs, entry)
	}
	c, err := figure.Race(d)
	if err != nil {
		return nil, fmt.Errorf("svmnb: %w", err)
	}
	return c, nil
}

// Show displays the table with its findings, and the chart.
func (r *RaceResult) Show() {
	if r.none() {
		display.Show(arguments.NoFit("Show"))
		return
	}
	items := []any{r}
	if c, err := r.Chart(); err == nil {
		items = append(items, c)
	} else if slices.ContainsFunc(r.Runs, func(run RaceRun) bool { return run.Fit != nil }) {
		items = append(items, err)
	}
	display.Show(items...)
}

// Markdown returns the table of the runs in the order of the methods, with the best values
// of the runs that met the criterion in bold, and notes for runs without a result. Below
// the table it says which method won by which measure, and whether the certified duals
// agree.
func (r *RaceResult) Markdown() string {
	if r.none() {
		return arguments.NoFit("Markdown").Error()
	}
	var s strings.Builder
	done := r.finished()
	best := map[string]bool{} // cells in bold
	measures := r.measures()
	for _, m := range measures {
		if winners, _, _ := m.least(done); 2*len(winners) <= m.counted(done) {
			for _, w := range winners {
				best[m.name+w.Name] = true
			}
		}
	}
	var notes []string
	heads, at := []string{"method", "status"}, 2+len(measures)
	for _, m := range measures {
		heads = append(heads, m.name)
	}
	heads = append(heads, "dual", "gap", "support vectors", "largest KKT violation")
	s.WriteString("| " + strings.Join(heads, " | ") + " |\n|:--|:--|" + strings.Repeat("--:|", len(heads)-2) + "\n")
	for i := range r.Runs {
		run := &r.Runs[i]
		cells := append([]string{run.Name, run.status()}, make([]string, len(heads)-2)...)
		if why := run.reason(); why != "" {
			mark := slices.Index(notes, why)
			if mark < 0 {
				mark, notes = len(notes), append(notes, why)
			}
			cells[1] += "\u00a0" + superscript(mark+1)
		}
		if f := run.Fit; f != nil {
			for k, m := range measures {
				cells[2+k] = m.text(m.of(f))
				if best[m.name+run.Name] {
					cells[2+k] = "**" + cells[2+k] + "**"
				}
			}
			c, about := f.Certificate, ""
			if c.Claimed {
				about = "≈ "
			}
			copy(cells[at:], []string{fmt.Sprintf("%s%#.9g", about, c.Dual), about + gapText(c.Gap), fmt.Sprint(c.Free + c.AtUpper), fmt.Sprintf("%.2g", c.MaxKKT)})
			if math.IsNaN(c.Gap) { // after an interrupt
				cells[at], cells[at+1], cells[at+3] = "?", "?", "?"
			}
		}
		cells[0] = fmt.Sprint(say.Escaped(cells[0]))
		for k, cell := range cells[2:] { // cells must not be broken into lines
			cells[2+k] = strings.NewReplacer(" ", "\u00a0", "-", "−").Replace(cell)
		}
		s.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	for i, note := range notes {
		fmt.Fprintf(&s, "\n%s %s.\n", superscript(i+1), say.Escaped(note))
	}
	for _, sentence := range []string{r.winners(done), r.agreement()} {
		if sentence != "" {
			s.WriteString("\n" + sentence + "\n")
		}
	}
	return s.String()
}

// superscript returns the number n ≥ 1 of a note in superscript digits.
func superscript(n int) string {
	s := ""
	for ; n > 0; n /= 10 {
		s = string([]rune("⁰¹²³⁴⁵⁶⁷⁸⁹")[n%10]) + s
	}
	return s
}

func gapText(gap float64) string {
	switch {
	case math.IsInf(gap, 1):
		return "∞"
	case gap < 0: // rounding error
		return "0"
	}
	return fmt.Sprintf("%.3g", gap)
}

func (r *RaceResult) finished() (done []*RaceRun) {
	for i := range r.Runs {
		if r.Runs[i].finished() {
			done = append(done, &r.Runs[i])
		}
	}
	return done
}

// raceMeasure is a measure of effort; NaN means that it was not counted.
type raceMeasure struct {
	name string
	of   func(*svmnb.Fit) float64
	text func(float64) string
}

var (
	whole        = func(v float64) string { return say.Thousands(int64(v)) }
	raceMeasures = []raceMeasure{
		{"iterations", func(f *svmnb.Fit) float64 { return float64(f.Iterations) }, whole},
		{"kernel values", func(f *svmnb.Fit) float64 {
			if f.Evaluations == 0 {
				return math.NaN()
			}
			return float64(f.Evaluations)
		}, func(v float64) string {
			if math.IsNaN(v) {
				return "–"
			}
			return whole(v)
		}},
		{"time", func(f *svmnb.Fit) float64 { return f.Elapsed.Seconds() }, func(v float64) string { return say.Spell(time.Duration(v * 1e9)) }},
	}
)

// measures returns the measures that are shown.
func (r *RaceResult) measures() []raceMeasure {
	if r.counts {
		return raceMeasures[:2]
	}
	return raceMeasures
}

// Two runs of the same method can differ in time by this much.
const (
	timeNoise = 1e-3 // seconds
	timeRatio = 0.25
)

// counted returns how many runs have counted the measure.
func (m raceMeasure) counted(runs []*RaceRun) (n int) {
	for _, r := range runs {
		if !math.IsNaN(m.of(r.Fit)) {
			n++
		}
	}
	return n
}

// least returns the runs with the smallest value, this value, and the run with the next
// larger one, or nil. Times count as equal if they differ by no more than two runs of the
// same method may.
func (m raceMeasure) least(runs []*RaceRun) (winners []*RaceRun, value float64, next *RaceRun) {
	value = math.Inf(1)
	for _, r := range runs {
		if v := m.of(r.Fit); v < value {
			value = v
		}
	}
	limit := value
	if m.name == "time" {
		limit += max(timeNoise, timeRatio*value)
	}
	for _, r := range runs {
		switch v := m.of(r.Fit); {
		case v <= limit:
			winners = append(winners, r)
		case v > limit && (next == nil || v < m.of(next.Fit)):
			next = r
		}
	}
	return winners, value, next
}

// winners says which run won by each measure.
func (r *RaceResult) winners(done []*RaceRun) string {
	stop := say.Escaped(r.task.Stop().String())
	switch len(done) {
	case 0:
		return fmt.Sprintf("No run met the criterion %s.", stop)
	case 1:
		return fmt.Sprintf("Only **%s** met the criterion %s.", say.Escaped(done[0].Name), stop)
	}
	s := fmt.Sprintf("%d runs met the criterion %s.", len(done), stop)
	for _, m := range []raceMeasure{raceMeasures[1], raceMeasures[0]} {
		winners, value, next := m.least(done)
		counted, who := m.counted(done), ""
		if counted < len(done) {
			who = fmt.Sprintf(" of the %d that count them", counted)
		}
		switch {
		case counted < 2: // nothing to compare
		case next == nil:
			s += fmt.Sprintf(" Equal numbers of %s%s, %s.", m.name, who, m.text(value))
		default:
			s += fmt.Sprintf(" Fewest %s%s: %s, %s (next: %s, %s).", m.name, who, list(winners), m.text(value), say.Escaped(next.Name), m.text(m.of(next.Fit)))
		}
	}
	s += " (An iteration is not the same work in every method.)"
	if r.counts {
		return s
	}
	seconds := raceMeasures[2]
	winners, least, next := seconds.least(done)
	slowest := 0.0
	for _, run := range done {
		slowest = max(slowest, seconds.of(run.Fit))
	}
	switch {
	case slowest < 2*timeNoise:
		s += fmt.Sprintf(" The runs are too short to time, %s at most: compare kernel values.", seconds.text(slowest))
	case next == nil:
		s += " By time they cannot be told apart."
	case len(winners) > 1:
		s += fmt.Sprintf(" Least time: %s, too close together to tell apart.", list(winners))
	default:
		s += fmt.Sprintf(" Least time: %s, %s (next: %s, %s).", list(winners), seconds.text(least), say.Escaped(next.Name), seconds.text(seconds.of(next.Fit)))
	}
	return s
}

// list joins the names of runs by commas and "and".
func list(runs []*RaceRun) string {
	s := ""
	for i, r := range runs {
		switch {
		case i > 0 && i == len(runs)-1:
			s += " and "
		case i > 0:
			s += ", "
		}
		s += fmt.Sprintf("**%s**", say.Escaped(r.Name))
	}
	return s
}

// sameDual is the largest relative difference, in units of 1 + |W|, of duals that count as
// equal. As a gap, 0.1 % is good enough for most work.
const sameDual = 1e-3

// agreement says whether the certified duals agree. The optimum lies between each dual and
// that dual plus its gap, so all these intervals overlap unless a certificate is wrong.
func (r *RaceResult) agreement() string {
	var runs []*RaceRun
	best, ceiling := math.Inf(-1), math.Inf(1)
	var apart []string
	for i := range r.Runs {
		f := r.Runs[i].Fit
		switch {
		case f == nil || f.Certificate.Claimed:
		case f.Certificate.Equality*math.Abs(f.Certificate.Bias) > 1e-6*(1+math.Abs(f.Certificate.Dual)):
			apart = append(apart, fmt.Sprintf("**%s** ended off s'α = δ, so its dual bounds nothing", say.Escaped(r.Runs[i].Name)))
		default:
			runs = append(runs, &r.Runs[i])
			best, ceiling = max(best, f.Certificate.Dual), min(ceiling, f.Certificate.Dual+f.Certificate.Gap)
		}
	}
	scale := 1 + math.Abs(best)
	var same []float64
	for _, run := range runs {
		c := run.Fit.Certificate
		short := (best - c.Dual) / scale
		switch {
		case best > c.Dual+c.Gap+1e-9*scale:
			apart = append(apart, fmt.Sprintf("**%s** contradicts the best: its dual is %s short of it and its gap, %.3g, says that no more is possible; gaps are no bounds if the kernel is not positive semi-definite", say.Escaped(run.Name), say.Percent(short), c.Gap))
		case short > 1:
			apart = append(apart, fmt.Sprintf("**%s** is nowhere near", say.Escaped(run.Name)))
		case short > sameDual:
			apart = append(apart, fmt.Sprintf("**%s** is %s short of the best, as its own gap allows", say.Escaped(run.Name), say.Percent(short)))
		default:
			same = append(same, short)
		}
	}
	var s []string
	switch {
	case len(same) > 1:
		who := fmt.Sprintf("All %d certified duals", len(same))
		if len(apart) > 0 {
			who = fmt.Sprintf("%d certified duals", len(same))
		}
		how := "in all digits"
		if apart := slices.Max(same); apart > 0 {
			how = fmt.Sprintf("to %.1e of 1 + |dual|", apart)
		}
		s = append(s, who+" agree "+how)
	case len(same) == 1 && len(apart) > 0:
		s = append(s, fmt.Sprintf("The best certified dual is %.9g", best))
	}
	s = append(s, apart...)
	if width := ceiling - best; len(runs) > 1 && width > 0 && width-width == 0 {
		decimals := min(max(1-int(math.Floor(math.Log10(width))), 0), 12)
		s = append(s, fmt.Sprintf("together the certificates put the optimum between %.*f and %.*f", decimals, math.Floor(best*math.Pow10(decimals))/math.Pow10(decimals), decimals, math.Ceil(ceiling*math.Pow10(decimals))/math.Pow10(decimals)))
	}
	if len(s) == 0 {
		return ""
	}
	text := strings.Join(s, "; ")
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

func (r *RaceResult) none() bool { return r == nil || r.task == nil }
