// Package selection chooses a model: pipelines of steps and a learner ([Pipe]), folds,
// cross-validation, searches over parameters ([Search]), and curves of scores.
//
//	found := selection.Search(
//		selection.Pipe(transform.Standardise(), svmnb.Classify(data)),
//		selection.Grid{"C": selection.Log2(-5, 15, 2), "gamma": selection.Log2(-15, 3, 2)},
//		selection.StratifiedKFold(5, 1)).Keep()
package selection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/cells"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/learn"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
	"github.com/svmnb/svmnb/svmnb/transform"
)

// Searcher describes a search: the learner, the settings to try, and the folds. Nothing is
// computed before Fit, MustFit, Keep or Show.
type Searcher struct {
	learner learn.Learner
	space   Space
	folds   Folds
	by      Metric
	also    []Metric
	keep    float64 // of Halve: 1/keep of the settings go on to the next round; 0 for one round
	file    string
	oneSE   bool
	workers int
	watch   func(SearchProgress)
	place   Place // where the scores are computed; nil for here
	err     error
}

// Search tries all settings of the space and scores each on the folds:
//
//	selection.Search(svmnb.Classify(data), selection.Grid{"C": selection.Log2(-5, 15, 2)}, selection.KFold(5, 1)).MustFit()
func Search(l Learner, space Space, folds Folds) Searcher {
	if l == nil {
		return Searcher{err: arguments.Wrong("Search", math.NaN(), "the learner is nil; give one such as svmnb.Classify(data)")}
	}
	s := Searcher{learner: l.Learning(), space: space, folds: folds, by: measureOf(l.Learning())}
	if space == nil {
		s.err = arguments.Wrong("Search", math.NaN(), "the space is nil; give one such as selection.Grid{\"C\": selection.Log2(-5, 15, 2)}")
	}
	if o, ok := s.learner.(oneOf); ok && space != nil {
		s.space = among{space, o.name, len(o.list)}
	}
	if folds == nil {
		s.err = errors.Join(s.err, arguments.Wrong("Search", math.NaN(), "the folds are nil; give some such as selection.StratifiedKFold(5, 1)"))
	}
	return s
}

// By chooses the setting by the metric m instead of the learner's own. The scores by the
// other metrics are recorded beside it, in the field Also of each [Trial] and in the table:
//
//	search.By(selection.F1, selection.Accuracy, selection.AUC)
func (s Searcher) By(m Metric, also ...Metric) Searcher {
	s.by, s.also = m, slices.Clone(also)
	for i, one := range append([]Metric{m}, also...) {
		switch {
		case one.Of == nil:
			s.err = errors.Join(s.err, arguments.Wrong("By", float64(i), "the metric has no function; give one such as selection.Accuracy"))
		case i > 0 && one.Name == m.Name || slices.ContainsFunc(also[:max(i-1, 0)], func(other Metric) bool { return other.Name == one.Name }):
			s.err = errors.Join(s.err, arguments.Wrong("By", float64(i), "the metric %s is given twice", one.Name))
		}
	}
	return s
}

// Halve searches in rounds (successive halving; Jamieson and Talwalkar 2016). The first round
// scores all settings with few training points. The best 1/factor of them go on to the next
// round, which has factor times as many points, and so on; the last round has all training
// points of the folds. The best setting is chosen from the last round. A search of many
// settings then costs about as much as one of a few. The factor is greater than 1; 3 is usual.
//
// The first round has at least 20 points, and 10 for each class.
func (s Searcher) Halve(factor float64) Searcher {
	s.keep = factor
	if !(factor > 1) || math.IsInf(factor, 0) {
		s.err = errors.Join(s.err, arguments.Wrong("Halve", factor, "the factor is %v; it must be greater than 1, such as 3", factor))
	}
	return s
}

// File keeps every score in a file: one line of JSON for each fold of each setting. A
// search that finds its file continues there and repeats no fold, even if the grid has
// grown since. Each line has a checksum; a fold whose line was changed is computed again. A
// file of another search, a file that another search is writing, and any other file are
// refused and not changed.
func (s Searcher) File(path string) Searcher { s.file = path; return s }

// OneStandardError chooses the simplest of the settings whose mean score is within one
// standard error of the best (Breiman et al. 1984, §3.4.3). The simplest is the one with
// the smallest C, then the smallest gamma, then the smallest of the other parameters, but
// the largest lambda, nu, epsilon and NoiseVariance.
func (s Searcher) OneStandardError() Searcher { s.oneSE = true; return s }

// Workers limits how many fits run in parallel; the default is GOMAXPROCS. The scores do
// not depend on it.
func (s Searcher) Workers(n int) Searcher {
	s.workers = n
	if n < 1 {
		s.err = errors.Join(s.err, arguments.Wrong("Workers", float64(n), "the number is %d; it must be at least 1", n))
	}
	return s
}

// SearchProgress says how far a search is.
type SearchProgress struct {
	Done, All int // a unit is one fold of one setting
	Known     int // how many of Done were read from the file
	Elapsed   time.Duration
	Best      float64 // best mean score of a setting whose folds are all done; NaN before the first
}

// Watch calls f before the first fold and after every fold that was computed, one call at a
// time.
func (s Searcher) Watch(f func(SearchProgress)) Searcher { s.watch = f; return s }

// String returns the call that makes the search.
func (s Searcher) String() string {
	return fmt.Sprintf("Search(%v, %v, %v)", s.learner, s.space, s.folds)
}

// Trial is one setting of a search with its scores.
type Trial struct {
	Values []float64 // values of the parameters, in the order of SearchFit.Names
	Scores []float64 // one for each fold; NaN if the fold was not reached or failed
	// Also has the scores by the other metrics of By, Also[m][fold]; NaN if the fold was not
	// reached or the metric is not defined there.
	Also [][]float64
	// Points is the number of training points of the round of Halve in which the setting was
	// dropped; Scores are of that round. It is 0 for a setting scored with all points.
	Points int
	Err    string // why a fold failed; a trial with an error is not chosen
}

// Mean returns the mean score of the folds, NaN if one is missing.
func (t Trial) Mean() float64 { m, _ := meanError(t.Scores); return m }

// StandardError returns sd/√k of the k scores; see [Validation.StandardError].
func (t Trial) StandardError() float64 { _, se := meanError(t.Scores); return se }

// SearchFit is the result of a search.
type SearchFit struct {
	Description Searcher
	Metric      Metric
	Also        []Metric // the other metrics of By
	Names       []string // of the parameters, C last
	Trials      []Trial  // in the order of the space
	Folds       int
	Fitted      int // folds that were computed in this run; the others were in the file
	Elapsed     time.Duration
	Changed     int // lines of the file that were changed after they were written, and were ignored
	Twins       int // held-out points that are also among the training points of their fold
	Points      int // points that each trial held out, in all folds together

	best, chosen int // indices; −1 if no trial has all its folds
}

// Fit runs the search. Fits that differ in C only are run in increasing order of C, and
// each starts from the one before, with its kernel matrix. When ctx ends early, Fit returns
// the scores so far with an error that wraps context.Cause(ctx). A setting that cannot be
// fitted has its error in [Trial]. Fit returns an error only if no setting can be fitted.
func (s Searcher) Fit(ctx context.Context) (_ *SearchFit, err error) {
	defer guard.Caught(&err)
	if err := arguments.Given(ctx, "Fit"); err != nil {
		return nil, err
	}
	began := time.Now()
	f, splits, err := s.begin()
	if err != nil {
		return nil, err
	}
	log, err := openLog(s, s.learner.Data())
	if err != nil {
		return nil, err
	}
	defer log.close()
	f.Changed = log.changed
	err = (&searchRun{f: f, log: log, splits: splits, began: began}).all(ctx)
	f.Elapsed = time.Since(began)
	f.choose()
	if err == nil && f.best < 0 {
		for _, t := range f.Trials {
			if t.Err != "" {
				return nil, fmt.Errorf("svmnb: Search: no point can be learnt; at %s: %s", f.at(t), t.Err)
			}
		}
	}
	return f, err
}

// begin checks the description and lists the folds and the settings.
func (s Searcher) begin() (*SearchFit, []Split, error) {
	if s.learner == nil {
		return nil, nil, arguments.Wrong("Search", math.NaN(), "the search is empty; say for example selection.Search(svmnb.Classify(data), grid, folds)")
	}
	if err := errors.Join(s.err, s.learner.Fault()); err != nil {
		return nil, nil, err
	}
	data := s.learner.Data()
	if err := steps.CheckMissing(data); err != nil {
		return nil, nil, err
	}
	splits, err := split(s.folds, data)
	if err != nil {
		return nil, nil, err
	}
	f := &SearchFit{Description: s, Metric: s.by, Also: s.also, Folds: len(splits), best: -1, chosen: -1}
	f.Twins, f.Points = twins(splits, data)
	var values [][]float64
	if f.Names, values, err = s.space.Settings(); err != nil {
		return nil, nil, err
	}
	for i, name := range f.Names {
		if i > 0 && slices.ContainsFunc(f.Names[:i], func(other string) bool { return strings.EqualFold(name, other) }) {
			return nil, nil, arguments.Wrong("Search", math.NaN(), "the parameter %s is given twice", name)
		}
	}
	for _, v := range values {
		if err := f.add(v); err != nil {
			return nil, nil, err
		}
	}
	return f, splits, nil
}

// add appends a trial without scores.
func (f *SearchFit) add(values []float64) error {
	t := Trial{Values: values, Scores: make([]float64, f.Folds)}
	for range f.Also {
		t.Also = append(t.Also, make([]float64, f.Folds))
	}
	t.clear()
	f.Trials = append(f.Trials, t)
	_, err := f.learnerAt(values)
	return err
}

// clear sets all scores to NaN.
func (t *Trial) clear() {
	for _, scores := range append([][]float64{t.Scores}, t.Also...) {
		for k := range scores {
			scores[k] = math.NaN()
		}
	}
}

// learnerAt returns the learner with these values of the parameters.
func (f *SearchFit) learnerAt(values []float64) (learn.Learner, error) {
	l := f.Description.learner
	for i, name := range f.Names {
		next, known := l.Set(name, values[i])
		if !known {
			return nil, arguments.Wrong("Search", values[i], "there is no parameter %q here, or more than one has that name; there are %s", name, l.Parameters())
		}
		l = next
	}
	return l, nil
}

// choose finds the best trial and the chosen trial; see OneStandardError.
func (f *SearchFit) choose() {
	f.best = -1
	for i, t := range f.Trials {
		if m := t.Mean(); t.Points == 0 && !math.IsNaN(m) && (f.best < 0 || f.Metric.better(m, f.Trials[f.best].Mean()) ||
			m == f.Trials[f.best].Mean() && f.simpler(t, f.Trials[f.best])) {
			f.best = i
		}
	}
	if f.chosen = f.best; f.best < 0 || !f.Description.oneSE {
		return
	}
	best := f.Trials[f.best]
	for i, t := range f.Trials {
		if m := t.Mean(); t.Points == 0 && !math.IsNaN(m) && math.Abs(m-best.Mean()) <= best.StandardError() && f.simpler(t, f.Trials[f.chosen]) {
			f.chosen = i
		}
	}
}

// simpler reports whether a is simpler than b, as OneStandardError defines it.
func (f *SearchFit) simpler(a, b Trial) bool {
	order := slices.Clone(f.Names)
	rank := func(name string) int {
		switch {
		case isCost(name):
			return 0
		case strings.HasSuffix(strings.ToLower(name), "gamma"):
			return 1
		}
		return 2
	}
	slices.SortStableFunc(order, func(a, b string) int { return rank(a) - rank(b) })
	for _, name := range order {
		i := slices.Index(f.Names, name)
		if x, y := a.Values[i], b.Values[i]; x != y {
			switch strings.ToLower(name) {
			case "lambda", "nu", "epsilon", "noisevariance":
				return x > y
			}
			return x < y
		}
	}
	return false
}

// Best returns the trial with the best mean score, and of equal ones the simplest. ok is
// false if no trial has all its folds, after an interrupt.
func (f *SearchFit) Best() (t Trial, ok bool) {
	if f.none() {
		return Trial{}, false
	}
	if f.best < 0 {
		return Trial{}, false
	}
	return f.Trials[f.best], true
}

// Chosen returns the best trial or, with [Searcher.OneStandardError], perhaps a simpler
// one. ok is as for Best.
func (f *SearchFit) Chosen() (t Trial, ok bool) {
	if f.none() {
		return Trial{}, false
	}
	if f.chosen < 0 {
		return Trial{}, false
	}
	return f.Trials[f.chosen], true
}

// Learner returns the pipeline with the chosen parameters, for all data. Its Fit is the
// machine to use. The score of the chosen setting is too good, since it is the best of
// many: measure the machine on points that the search has not seen.
func (f *SearchFit) Learner() Pipeline {
	if f.none() {
		return Pipeline{}
	}
	if f.chosen < 0 {
		return Pipeline{steps: new([]transform.Part), last: f.Description.learner,
			err: arguments.Wrong("Search", math.NaN(), "no point has all its folds yet; let the search go on")}
	}
	l, err := f.learnerAt(f.Trials[f.chosen].Values)
	if err != nil {
		return Pipeline{steps: new([]transform.Part), last: f.Description.learner, err: err}
	}
	return pipeOf(l)
}

// at writes the parameters of a trial as text.
func (f *SearchFit) at(t Trial) string {
	var parts []string
	for i, name := range f.Names {
		parts = append(parts, name+" = "+f.text(name, t.Values[i], func(v float64) string { return say.Signed(v, 4) }))
	}
	return strings.Join(parts, ", ")
}

// tableRows is how many trials a summary lists.
const tableRows = 10

// Markdown says what was searched, which setting was chosen and how certain that is, and
// lists the best settings.
func (f *SearchFit) Markdown() string {
	if f.none() {
		return arguments.NoFit("Markdown").Error()
	}
	s := say.NewSummary()
	d := f.Description
	s.Row("**search**", "%v", d.learner)
	s.Row("space", "%v", d.space)
	s.Row("folds", "%v", d.folds)
	failed, missing, dropped := 0, 0, 0
	for _, t := range f.Trials {
		if t.Err != "" {
			failed++
		} else if t.Points > 0 {
			dropped++
		} else if math.IsNaN(t.Mean()) {
			missing++
		}
	}
	text := fmt.Sprintf("%d points, %d fits in %v, %d known from the file", len(f.Trials), f.Fitted, say.Spell(f.Elapsed), f.known())
	if failed > 0 {
		text += fmt.Sprintf("; points that cannot be learnt: %d", failed)
	}
	if dropped > 0 {
		text += fmt.Sprintf("; dropped by Halve after scores with fewer training points: %d", dropped)
	}
	if missing > 0 {
		text += fmt.Sprintf("; points that are not done: %d", missing)
	}
	s.Row("work", "%s", text)
	if f.chosen >= 0 {
		t := f.Trials[f.chosen]
		s.Row("**chosen**", "%s", f.at(t))
		s.Row(fmt.Sprintf("**%s**", say.Escaped(f.Metric.Name)), "%s ± %s, the standard error of the %d folds", f.Metric.text(t.Mean()), f.Metric.text(t.StandardError()), f.Folds)
		for m, metric := range f.Also {
			mean, se := meanError(t.Also[m])
			s.Row(fmt.Sprint(say.Escaped(metric.Name)), "%s ± %s", metric.text(mean), metric.text(se))
		}
		if b := f.Trials[f.best]; f.chosen != f.best {
			s.Row("best", "%s: %s; the chosen point is within its standard error and simpler", f.at(b), f.Metric.text(b.Mean()))
		}
	}
	s.Hints(f.Hints())
	if f.best >= 0 {
		s.WriteString("\n" + f.table(tableRows))
	}
	return s.String()
}

func (f *SearchFit) known() int {
	n := -f.Fitted
	for _, t := range f.Trials {
		for _, v := range t.Scores {
			if !math.IsNaN(v) {
				n++
			}
		}
	}
	return max(n, 0)
}

func (f *SearchFit) table(rows int) string {
	order := make([]int, len(f.Trials))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := f.Trials[a].Mean(), f.Trials[b].Mean()
		switch {
		case f.Trials[a].Points != f.Trials[b].Points: // later rounds first
			return cmp.Compare(later(f.Trials[b].Points), later(f.Trials[a].Points))
		case f.Metric.better(x, y):
			return -1
		case f.Metric.better(y, x):
			return 1
		}
		return 0
	})
	var s strings.Builder
	for _, name := range f.Names {
		fmt.Fprintf(&s, "| %s ", say.Escaped(name))
	}
	halved := slices.ContainsFunc(f.Trials, func(t Trial) bool { return t.Points > 0 })
	fmt.Fprintf(&s, "| %s | standard error |", say.Escaped(f.Metric.Name))
	for _, m := range f.Also {
		fmt.Fprintf(&s, " %s |", say.Escaped(m.Name))
	}
	if halved {
		s.WriteString(" training points |")
	}
	fmt.Fprintf(&s, "\n|%s\n", strings.Repeat("--:|", strings.Count(s.String(), "|")-1))
	for _, i := range order[:min(rows, len(order))] {
		t := f.Trials[i]
		for k, v := range t.Values {
			fmt.Fprintf(&s, "| %s ", say.Escaped(f.text(f.Names[k], v, func(v float64) string { return say.Signed(v, 4) })))
		}
		mean, se := "not done", ""
		switch m := t.Mean(); {
		case t.Err != "":
			mean = fmt.Sprint(say.Escaped(t.Err))
		case !math.IsNaN(m):
			mean, se = f.Metric.text(m), f.Metric.text(t.StandardError())
		}
		fmt.Fprintf(&s, "| %s | %s |", mean, se)
		for m, metric := range f.Also {
			text := ""
			if v, _ := meanError(t.Also[m]); !math.IsNaN(v) {
				text = metric.text(v)
			}
			fmt.Fprintf(&s, " %s |", text)
		}
		switch {
		case halved && t.Points > 0:
			fmt.Fprintf(&s, " %d |", t.Points)
		case halved:
			s.WriteString(" all |")
		}
		s.WriteString("\n")
	}
	return s.String()
}

// later orders rounds of Halve by their training points; 0 is the last round.
func later(points int) int {
	if points == 0 {
		return math.MaxInt
	}
	return points
}

// Hints returns what to try next, when a parameter is best at the end of its range, and
// warns of what makes the score look better than it is.
func (f *SearchFit) Hints() []string {
	if f.none() {
		return nil
	}
	var hints []string
	space := f.Description.space
	if a, ok := space.(among); ok {
		space = a.Space
	}
	if _, ok := space.(Grid); ok && f.best >= 0 {
		for i, name := range f.Names {
			if o, ok := f.Description.learner.(oneOf); ok && name == o.name {
				continue // alternatives have no order, and so no end
			}
			low, high := math.Inf(1), math.Inf(-1)
			for _, t := range f.Trials {
				low, high = min(low, t.Values[i]), max(high, t.Values[i])
			}
			switch v := f.Trials[f.best].Values[i]; {
			case low == high:
			case v == low:
				hints = append(hints, fmt.Sprintf("The best %s is the smallest of the grid, so a smaller one may be better: let the grid begin lower.", name))
			case v == high:
				hints = append(hints, fmt.Sprintf("The best %s is the largest of the grid, so a larger one may be better: let the grid go on.", name))
			}
		}
	}
	if f.Twins > 0 {
		hints = append([]string{twinHint(f.Twins, f.Points)}, hints...)
	}
	if f.Changed > 0 {
		hints = append([]string{fmt.Sprintf("Of the lines of the file, %d are not as the search has written them, and their folds were learnt again: find out who changes the file.", f.Changed)}, hints...)
	}
	return hints[:min(2, len(hints))]
}

// MustFit is Fit for a notebook cell and shows its progress. The interrupt button ends the
// search: MustFit then shows a warning and returns the scores so far. An error is printed
// and ends the cell; outside a notebook it panics.
func (s Searcher) MustFit() *SearchFit {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if show := cells.Progress(0); s.watch == nil && show != nil {
		s.watch = s.report(show)
	}
	f, err := s.Fit(ctx)
	switch {
	case f == nil:
		cells.Must(err)
	case err != nil && ctx.Err() == nil:
		cells.Must(err)
	case err != nil:
		cells.Warn(fmt.Sprintf("interrupted after %d fits and %v; these are the results so far", f.Fitted, f.Elapsed.Round(time.Millisecond)))
	}
	return f
}

// report returns a function that shows the progress as a line.
func (s Searcher) report(show func(line string, last bool)) func(SearchProgress) {
	return func(p SearchProgress) {
		text := fmt.Sprintf("search: %d of %d folds", p.Done, p.All)
		if !math.IsNaN(p.Best) {
			text += fmt.Sprintf(", best %s so far %s", say.Escaped(s.by.Name), s.by.text(p.Best))
		}
		if now := p.Done - p.Known; now > 0 && p.Done < p.All {
			left := time.Duration(float64(p.Elapsed) / float64(now) * float64(p.All-p.Done))
			text += fmt.Sprintf(", about %v left", left.Round(time.Second))
		}
		show(text, p.Done == p.All)
	}
}

// Keep is MustFit with a file in the cache folder, whose name is computed from the data and
// the description. A search that was interrupted, or whose cell is run again, continues
// there. See [svmnb.Classifier.Keep].
func (s Searcher) Keep() *SearchFit {
	if s.file == "" && s.err == nil && s.learner != nil {
		if file, err := keptSearch(s); err == nil {
			s.file = file
		}
	}
	return s.MustFit()
}

// Show runs the search as Keep does and displays the result.
func (s Searcher) Show() { s.Keep().Show() }

// Show displays the given figures of the search. Without figures it displays the summary
// and the Landscape.
func (f *SearchFit) Show(figures ...display.Figure) {
	var usual []display.Figure
	if _, err := Landscape.Of(f); err == nil { // no figure if there are no scores yet, or too many values for a map
		usual = []display.Figure{Landscape}
	}
	display.ShowFit(f, figures, usual...)
}

func (f *SearchFit) none() bool { return f == nil || len(f.Trials) == 0 }
