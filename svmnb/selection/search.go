// Package selection chooses a model: pipelines of steps and a learner ([Pipe]), folds,
// cross-validation, searches over parameters ([Search]), and curves of scores.
//
//	found := selection.Search(
//		selection.Pipe(transform.Standardise(), svmnb.Classify(data)),
//		selection.Grid{"C": selection.Log2(-5, 15, 2), "gamma": selection.Log2(-15, 3, 2)},
//		selection.StratifiedKFold(5, 1)).Keep()
package selection

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/svmnb/svmnb/internal/panics"
	"github.com/svmnb/svmnb/internal/parallel"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/cells"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/learn"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
	"github.com/svmnb/svmnb/svmnb/transform"
)

// Space is the set of settings that a [Search] tries, in a given order. A setting has one
// value for each of the parameters.
type Space interface {
	points() (names []string, values [][]float64, err error)
	String() string
}

// Grid is all combinations of the values of named parameters. A name is that of a method of
// the description (C, nu, epsilon), of a parameter of the kernel (gamma, degree), or of a
// step of a [Pipeline], as in "pca.components". The name of the step can be left out if the
// learner has no parameter of that name. Upper and lower case are the same.
type Grid map[string][]float64

// Log2 returns 2^from, 2^(from+step), … up to 2^to; step > 0. The LIBSVM guide suggests
// Log2(-5, 15, 2) for C and Log2(-15, 3, 2) for gamma.
func Log2(from, to, step float64) []float64 {
	var v []float64
	if !(step > 0) || math.IsInf(from, 0) || !(to-from <= 1e4*step) {
		return v // no values: Search then returns an error that names the parameter
	}
	for k := 0; from+float64(k)*step <= to+1e-9*step; k++ {
		v = append(v, math.Exp2(from+float64(k)*step))
	}
	return v
}

// mostPoints is the greatest number of settings in a search.
const mostPoints = 100_000

func (g Grid) points() ([]string, [][]float64, error) {
	names := ordered(slices.Collect(maps.Keys(g)))
	if len(names) == 0 {
		return nil, nil, arguments.Wrong("Search", 0, "the grid has no parameters; give some as in selection.Grid{\"C\": selection.Log2(-5, 15, 2)}")
	}
	all := [][]float64{{}}
	for _, name := range names {
		values := slices.Compact(slices.Sorted(slices.Values(g[name])))
		if len(values) == 0 || len(all)*len(values) > mostPoints {
			return nil, nil, arguments.Wrong("Search", float64(len(values)), "%s has %s; give at least one, and a grid of at most %d points", name, say.Several(len(values), "value"), mostPoints)
		}
		var next [][]float64
		for _, p := range all {
			for _, v := range values {
				next = append(next, append(slices.Clone(p), v))
			}
		}
		all = next
	}
	return names, all, nil
}

// String returns the literal of the grid.
func (g Grid) String() string {
	var parts []string
	for _, name := range ordered(slices.Collect(maps.Keys(g))) {
		var values []string
		for _, v := range g[name] {
			values = append(values, say.Number(v))
		}
		parts = append(parts, fmt.Sprintf("%q: {%s}", name, strings.Join(values, ", ")))
	}
	return "Grid{" + strings.Join(parts, ", ") + "}"
}

// ordered sorts the names, with C last: settings that differ in C only are then neighbours,
// and each fit can start from the one before.
func ordered(names []string) []string {
	slices.SortFunc(names, func(a, b string) int {
		if x, y := isCost(a), isCost(b); x != y {
			if x {
				return 1
			}
			return -1
		}
		return strings.Compare(a, b)
	})
	return names
}

func isCost(name string) bool { return strings.EqualFold(name, "C") }

// Range is the interval from which [Random] draws a parameter, uniformly, or uniformly in
// the logarithm if Log is set (Low must then be positive). Whole rounds to whole numbers.
type Range struct {
	Low, High  float64
	Log, Whole bool
}

// Random draws N settings at random, each parameter from its range. When few of many
// parameters matter, it finds better settings than a grid of the same size (Bergstra and
// Bengio 2012). The seed determines the settings: a larger N begins with the same ones.
type Random struct {
	N      int
	Ranges map[string]Range
	Seed   uint64
}

func (r Random) points() ([]string, [][]float64, error) {
	names := ordered(slices.Collect(maps.Keys(r.Ranges)))
	if r.N < 1 || r.N > mostPoints || len(names) == 0 {
		return nil, nil, arguments.Wrong("Search", float64(r.N), "%s of %s cannot be drawn; give Random 1 to %d points of at least one parameter", say.Several(r.N, "point"), say.Several(len(names), "parameter"), mostPoints)
	}
	for _, name := range names {
		if d := r.Ranges[name]; !(d.Low <= d.High) || math.IsInf(d.High-d.Low, 0) || d.Log && !(d.Low > 0) {
			return nil, nil, arguments.Wrong("Search", d.Low, "the range of %s is %v to %v; give finite ends in order, above 0 for a logarithm", name, d.Low, d.High)
		}
	}
	rng := rand.New(rand.NewPCG(r.Seed, 0x5ea2c4))
	all := make([][]float64, r.N)
	for i := range all {
		for _, name := range names {
			d, u := r.Ranges[name], rng.Float64()
			v := d.Low + u*(d.High-d.Low)
			if d.Log {
				v = math.Exp(math.Log(d.Low) + u*(math.Log(d.High)-math.Log(d.Low)))
			}
			if d.Whole {
				v = math.Round(v)
			}
			all[i] = append(all[i], v)
		}
	}
	return names, all, nil
}

// String describes the ranges in words.
func (r Random) String() string {
	var parts []string
	for _, name := range ordered(slices.Collect(maps.Keys(r.Ranges))) {
		d := r.Ranges[name]
		kind := ""
		if d.Log {
			kind = " by logarithm"
		}
		parts = append(parts, fmt.Sprintf("%s in [%s, %s]%s", name, say.Number(d.Low), say.Number(d.High), kind))
	}
	return fmt.Sprintf("%d points drawn from %s, seed %d", r.N, strings.Join(parts, ", "), r.Seed)
}

// Searcher describes a search: the learner, the settings to try, and the folds. Nothing is
// computed before Fit, MustFit, Keep or Show.
type Searcher struct {
	learner learn.Learner
	space   Space
	folds   Folds
	by      Metric
	file    string
	oneSE   bool
	workers int
	watch   func(SearchProgress)
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

// By chooses the setting by the metric m instead of the learner's own.
func (s Searcher) By(m Metric) Searcher {
	s.by = m
	if m.Of == nil {
		s.err = errors.Join(s.err, arguments.Wrong("By", math.NaN(), "the metric has no function; give one such as selection.Accuracy"))
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
	Err    string    // why a fold failed; a trial with an error is not chosen
}

// Mean returns the mean score of the folds, NaN if one is missing.
func (t Trial) Mean() float64 { m, _ := meanError(t.Scores); return m }

// StandardError returns sd/√k of the k scores; see [Validation.StandardError].
func (t Trial) StandardError() float64 { _, se := meanError(t.Scores); return se }

// SearchFit is the result of a search.
type SearchFit struct {
	Description Searcher
	Metric      Metric
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
	if s.learner == nil {
		return nil, arguments.Wrong("Search", math.NaN(), "the search is empty; say for example selection.Search(svmnb.Classify(data), grid, folds)")
	}
	if err := errors.Join(s.err, s.learner.Fault()); err != nil {
		return nil, err
	}
	data := s.learner.Data()
	if err := steps.CheckMissing(data); err != nil {
		return nil, err
	}
	splits, err := split(s.folds, data)
	if err != nil {
		return nil, err
	}
	f := &SearchFit{Description: s, Metric: s.by, Folds: len(splits), best: -1, chosen: -1}
	f.Twins, f.Points = twins(splits, data)
	var values [][]float64
	if f.Names, values, err = s.space.points(); err != nil {
		return nil, err
	}
	for i, name := range f.Names {
		if i > 0 && slices.ContainsFunc(f.Names[:i], func(other string) bool { return strings.EqualFold(name, other) }) {
			return nil, arguments.Wrong("Search", math.NaN(), "the parameter %s is given twice", name)
		}
	}
	for _, v := range values {
		t := Trial{Values: v, Scores: make([]float64, len(splits))}
		for k := range t.Scores {
			t.Scores[k] = math.NaN()
		}
		f.Trials = append(f.Trials, t)
		if _, err := f.learnerAt(v); err != nil {
			return nil, err
		}
	}
	log, err := openLog(s, data)
	if err != nil {
		return nil, err
	}
	defer log.close()
	f.Changed = log.changed
	err = f.run(ctx, log, splits, began)
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

// chain is a sequence of fits each of which starts from the one before: those of one fold
// that differ in C only, in increasing order of C.
type chain struct {
	fold   int
	trials []int
}

// chains lists the work in an order in which the folds of a setting follow each other.
func (f *SearchFit) chains() []chain {
	last := len(f.Names) - 1
	warm := isCost(f.Names[last])
	var groups [][]int
	known := map[string]int{}
	for i, t := range f.Trials {
		key := fmt.Sprint(i)
		if warm {
			key = fmt.Sprint(t.Values[:last])
		}
		g, ok := known[key]
		if !ok {
			g, known[key] = len(groups), len(groups)
			groups = append(groups, nil)
		}
		groups[g] = append(groups[g], i)
	}
	var all []chain
	for _, g := range groups {
		slices.SortStableFunc(g, func(a, b int) int {
			switch x, y := f.Trials[a].Values[last], f.Trials[b].Values[last]; {
			case x < y:
				return -1
			case x > y:
				return 1
			}
			return 0
		})
		for k := range f.Folds {
			all = append(all, chain{k, g})
		}
	}
	return all
}

// run computes the scores that are not in the log.
func (f *SearchFit) run(ctx context.Context, log *searchLog, splits []Split, began time.Time) error {
	s := f.Description
	progress := SearchProgress{All: len(f.Trials) * f.Folds, Best: math.NaN()}
	var mu sync.Mutex // protects progress, f and log
	note := func(trial, fold int, score float64, failure string) {
		t := &f.Trials[trial]
		t.Scores[fold] = score
		if failure != "" {
			t.Err = fmt.Sprintf("fold %d: %s", fold+1, failure)
		}
		progress.Done++
		if m := t.Mean(); f.Metric.better(m, progress.Best) {
			progress.Best = m
		}
	}
	for i, t := range f.Trials {
		for k := range f.Folds {
			if e, ok := log.find(f.Names, t.Values, k); ok {
				note(i, k, e.score(), e.Error)
				progress.Known++
			}
		}
	}
	watch := func() error {
		if s.watch == nil {
			return nil
		}
		progress.Elapsed = time.Since(began)
		return panics.Call(func() string { return "the function of Watch" }, func() error { s.watch(progress); return nil })
	}
	if err := watch(); err != nil {
		return fmt.Errorf("svmnb: Search: %w", err)
	}
	all := f.chains()
	workers := s.workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	workers = min(workers, len(all))
	inner, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	_ = parallel.For(inner, workers, len(all), func(_, task int) {
		c := all[task]
		w := &learn.Warmth{Bytes: int64(kernels.DefaultCache / workers)}
		for _, i := range c.trials {
			mu.Lock()
			t := f.Trials[i]
			known := !math.IsNaN(t.Scores[c.fold]) || t.Err != ""
			mu.Unlock()
			if known || inner.Err() != nil {
				continue // one failed fold is enough to reject a setting
			}
			var score float64
			l, err := f.learnerAt(t.Values)
			if err == nil {
				score, err = validate(inner, l, splits[c.fold], f.Metric, w)
			}
			if errors.As(err, new(*svmnb.PanicError)) {
				stop(err) // a panic is a mistake in the user's code; it ends the search
			}
			if inner.Err() != nil {
				continue
			}
			failure := ""
			if err != nil {
				failure, score = err.Error(), math.NaN()
			} else if math.IsNaN(score) || math.IsInf(score, 0) {
				failure, score = fmt.Sprintf("the score is %v", score), math.NaN()
			}
			mu.Lock()
			if err := log.append(f.Names, t.Values, c.fold, score, failure); err != nil {
				stop(err)
			}
			note(i, c.fold, score, failure)
			f.Fitted++
			if err := watch(); err != nil {
				stop(err)
			}
			mu.Unlock()
		}
	})
	if inner.Err() != nil {
		return fmt.Errorf("svmnb: Search: after %d of %d folds: %w", progress.Done, progress.All, context.Cause(inner))
	}
	return nil
}

// choose finds the best trial and the chosen trial; see OneStandardError.
func (f *SearchFit) choose() {
	f.best = -1
	for i, t := range f.Trials {
		if m := t.Mean(); !math.IsNaN(m) && (f.best < 0 || f.Metric.better(m, f.Trials[f.best].Mean()) ||
			m == f.Trials[f.best].Mean() && f.simpler(t, f.Trials[f.best])) {
			f.best = i
		}
	}
	if f.chosen = f.best; f.best < 0 || !f.Description.oneSE {
		return
	}
	best := f.Trials[f.best]
	for i, t := range f.Trials {
		if m := t.Mean(); !math.IsNaN(m) && math.Abs(m-best.Mean()) <= best.StandardError() && f.simpler(t, f.Trials[f.chosen]) {
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
	failed, missing := 0, 0
	for _, t := range f.Trials {
		if t.Err != "" {
			failed++
		} else if math.IsNaN(t.Mean()) {
			missing++
		}
	}
	text := fmt.Sprintf("%d points, %d fits in %v, %d known from the file", len(f.Trials), f.Fitted, say.Spell(f.Elapsed), f.known())
	if failed > 0 {
		text += fmt.Sprintf("; points that cannot be learnt: %d", failed)
	}
	if missing > 0 {
		text += fmt.Sprintf("; points that are not done: %d", missing)
	}
	s.Row("work", "%s", text)
	if f.chosen >= 0 {
		t := f.Trials[f.chosen]
		s.Row("**chosen**", "%s", f.at(t))
		s.Row(fmt.Sprintf("**%s**", say.Escaped(f.Metric.Name)), "%s ± %s, the standard error of the %d folds", f.Metric.text(t.Mean()), f.Metric.text(t.StandardError()), f.Folds)
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
	fmt.Fprintf(&s, "| %s | standard error |\n|%s--:|--:|\n", say.Escaped(f.Metric.Name), strings.Repeat("--:|", len(f.Names)))
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
		fmt.Fprintf(&s, "| %s | %s |\n", mean, se)
	}
	return s.String()
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
