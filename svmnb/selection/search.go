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

	"github.com/janpfeifer/gonb/gonbui"
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
	"github.com/svmnb/svmnb/svmnb/internal/screen"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
	"github.com/svmnb/svmnb/svmnb/transform"
)

// Space says which values a [Search] tries: points of the same parameters in a
// given order.
type Space interface {
	points() (names []string, values [][]float64, err error)
	String() string
}

// Grid is every combination of values of named parameters. A name is that of a word
// of the description, such as C, nu or epsilon, or of the kernel, such as gamma or
// degree; upper and lower case are the same. "pca.components" is a parameter of a
// step of a [Pipeline], and the step's name can be left out where the learner has no
// such parameter.
type Grid map[string][]float64

// Log2 returns 2^from, 2^(from+step), … up to 2^to; step > 0. The LIBSVM guide
// suggests Log2(-5, 15, 2) for C and Log2(-15, 3, 2) for gamma.
func Log2(from, to, step float64) []float64 {
	var v []float64
	if !(step > 0) || math.IsInf(from, 0) || !(to-from <= 1e4*step) {
		return v // which the search refuses, and names
	}
	for k := 0; from+float64(k)*step <= to+1e-9*step; k++ {
		v = append(v, math.Exp2(from+float64(k)*step))
	}
	return v
}

// mostPoints bounds a search.
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

// String gives the literal back.
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

// ordered puts C last, along which fits start from the one before.
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

// Range is where [Random] draws a parameter from: uniformly, or where Log is set
// uniformly in the logarithm, from a positive Low. Whole draws whole numbers.
type Range struct {
	Low, High  float64
	Log, Whole bool
}

// Random is N points drawn at random, each parameter from its range: where few of
// many parameters matter it finds more than a grid of as many points (Bergstra and
// Bengio 2012). Only the seed decides the points, and more of them begin with the
// same ones.
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

// String gives the literal back.
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

// Searcher describes which parameters of a learner are tried on which folds. Nothing
// is computed until Fit, MustFit, Keep or Show.
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

// Search tries the points of space and measures each on the folds:
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
	if folds == nil {
		s.err = errors.Join(s.err, arguments.Wrong("Search", math.NaN(), "the folds are nil; give some such as selection.StratifiedKFold(5, 1)"))
	}
	return s
}

// By chooses by another metric than the learner's own.
func (s Searcher) By(m Metric) Searcher {
	s.by = m
	if m.Of == nil {
		s.err = errors.Join(s.err, arguments.Wrong("By", math.NaN(), "the metric has no function; give one such as selection.Accuracy"))
	}
	return s
}

// File keeps every score in a file, a line of JSON for each fold of each point. A
// search that finds its file goes on from there: no fold is learnt twice, though the
// grid may have grown. Each line has a checksum, and a fold whose line was changed is
// learnt again. A file of another search, or of anything else, is refused and stays as it
// is; so is one that another search is writing.
func (s Searcher) File(path string) Searcher { s.file = path; return s }

// OneStandardError chooses, among the points whose mean score is within a standard
// error of the best, the simplest (Breiman et al. 1984, §3.4.3): that of the
// smallest C, then the smallest gamma, then the first in the order of the grid; of
// lambda, nu, epsilon and NoiseVariance the largest.
func (s Searcher) OneStandardError() Searcher { s.oneSE = true; return s }

// Workers bounds how many fits run side by side; the default is GOMAXPROCS. The
// scores do not depend on it.
func (s Searcher) Workers(n int) Searcher {
	s.workers = n
	if n < 1 {
		s.err = errors.Join(s.err, arguments.Wrong("Workers", float64(n), "the number is %d; it must be at least 1", n))
	}
	return s
}

// SearchProgress is how far a search is.
type SearchProgress struct {
	Done, All int // folds of points
	Known     int // of them, those that the file knew
	Elapsed   time.Duration
	Best      float64 // the best mean of a point whose folds are all done; NaN before
}

// Watch calls f, one call at a time, after every fold.
func (s Searcher) Watch(f func(SearchProgress)) Searcher { s.watch = f; return s }

// String gives the chain back.
func (s Searcher) String() string {
	return fmt.Sprintf("Search(%v, %v, %v)", s.learner, s.space, s.folds)
}

// Trial is one point of a search.
type Trial struct {
	Values []float64 // of the parameters, in the order of Names
	Scores []float64 // of each fold; NaN where it was not reached or failed
	Err    string    // why a fold failed; such a trial is not chosen
}

// Mean returns the mean score of the folds, NaN where one is missing.
func (t Trial) Mean() float64 { m, _ := meanError(t.Scores); return m }

// StandardError returns sd/√k of the k scores; see [Validation.StandardError].
func (t Trial) StandardError() float64 { _, se := meanError(t.Scores); return se }

// SearchFit is what a search has found.
type SearchFit struct {
	Description Searcher
	Metric      Metric
	Names       []string // of the parameters, C last
	Trials      []Trial  // in the order of the space
	Folds       int
	Fitted      int // folds that were learnt now; the others were in the file
	Elapsed     time.Duration
	Changed     int // lines of the file that were changed since they were written, and do not count
	Twins       int // held-out points that also are among the training points of their fold
	Points      int // that were held out by each trial

	best, chosen int // indices; −1 when no trial has all its folds
}

// Fit runs the search. Fits of growing C start from the one before, with its kernel
// matrix. When ctx ends early, what is known comes with an error that wraps
// context.Cause(ctx). A trial that cannot be fitted is no error but has one; when
// none can, the first of theirs is returned.
func (s Searcher) Fit(ctx context.Context) (_ *SearchFit, err error) {
	defer guard.Caught(&err)
	if err := arguments.Given(ctx, "Fit"); err != nil {
		return nil, err
	}
	began := time.Now()
	if s.learner == nil {
		return nil, arguments.Wrong("Search", math.NaN(), "the search is empty; say for example svmnb.Classify(data).Search(grid, folds)")
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

// learnerAt is the description at a point.
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

// chain is the fits that start from each other: those of one fold that differ in C
// only, in increasing order.
type chain struct {
	fold   int
	trials []int
}

// chains orders the work so that the folds of a point are done one after the other.
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

// run learns what the log does not know.
func (f *SearchFit) run(ctx context.Context, log *searchLog, splits []Split, began time.Time) error {
	s := f.Description
	progress := SearchProgress{All: len(f.Trials) * f.Folds, Best: math.NaN()}
	var mu sync.Mutex // of all that follows
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
				continue // a point that failed in one fold is not asked again
			}
			var score float64
			l, err := f.learnerAt(t.Values)
			if err == nil {
				score, err = validate(inner, l, splits[c.fold], f.Metric, w)
			}
			if errors.As(err, new(*svmnb.PanicError)) {
				stop(err) // it is to be mended, and no score of the point
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

// choose finds the best trial, and the one to take.
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

// simpler compares by C, then by gamma, then by the others in their order.
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

// Best returns the trial with the best mean score; of equal ones the simplest. ok is
// false when an interrupt has left none with all its folds.
func (f *SearchFit) Best() (t Trial, ok bool) {
	if f.none() {
		return Trial{}, false
	}
	if f.best < 0 {
		return Trial{}, false
	}
	return f.Trials[f.best], true
}

// Chosen returns the trial to take, which is the best unless
// [Searcher.OneStandardError] prefers a simpler one.
func (f *SearchFit) Chosen() (t Trial, ok bool) {
	if f.none() {
		return Trial{}, false
	}
	if f.chosen < 0 {
		return Trial{}, false
	}
	return f.Trials[f.chosen], true
}

// Learner returns the pipeline at the chosen point, for all data: its Fit is the
// machine to use. The score of the chosen point is the best of many and flatters it:
// measure on points that the search has not seen.
func (f *SearchFit) Learner() Pipeline {
	if f.none() {
		return Pipeline{}
	}
	if f.chosen < 0 {
		return Pipeline{steps: new([]transform.Step), last: f.Description.learner,
			err: arguments.Wrong("Search", math.NaN(), "no point has all its folds yet; let the search go on")}
	}
	l, err := f.learnerAt(f.Trials[f.chosen].Values)
	if err != nil {
		return Pipeline{steps: new([]transform.Step), last: f.Description.learner, err: err}
	}
	return pipeOf(l)
}

// at names a point.
func (f *SearchFit) at(t Trial) string {
	var parts []string
	for i, name := range f.Names {
		parts = append(parts, name+" = "+say.Signed(t.Values[i], 4))
	}
	return strings.Join(parts, ", ")
}

// tableRows is how many trials a summary lists.
const tableRows = 10

// Markdown says what was searched, what is chosen and how sure that is, with the
// best points in a table.
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
		for _, v := range t.Values {
			fmt.Fprintf(&s, "| %s ", say.Signed(v, 4))
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

// Hints returns what to try next: a parameter that is best at the end of its range,
// and what makes the score look better than it is.
func (f *SearchFit) Hints() []string {
	if f.none() {
		return nil
	}
	var hints []string
	if _, ok := f.Description.space.(Grid); ok && f.best >= 0 {
		for i, name := range f.Names {
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

// MustFit is Fit for a notebook cell, which shows how far it is. The interrupt
// button ends the search and returns what there is, with a visible warning. An error
// is printed and ends the cell; outside a notebook it panics.
func (s Searcher) MustFit() *SearchFit {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if s.watch == nil && gonbui.IsNotebook {
		s.watch = s.report()
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

// report writes the progress into the cell's output, twice a second.
func (s Searcher) report() func(SearchProgress) {
	id, last := "svmnb-search-"+screen.Unique(), time.Time{}
	return func(p SearchProgress) {
		if time.Since(last) < 500*time.Millisecond && p.Done < p.All {
			return
		}
		last = time.Now()
		text := fmt.Sprintf("search: %d of %d folds", p.Done, p.All)
		if !math.IsNaN(p.Best) {
			text += fmt.Sprintf(", best %s so far %s", say.Escaped(s.by.Name), s.by.text(p.Best))
		}
		if now := p.Done - p.Known; now > 0 && p.Done < p.All {
			left := time.Duration(float64(p.Elapsed) / float64(now) * float64(p.All-p.Done))
			text += fmt.Sprintf(", about %v left", left.Round(time.Second))
		}
		gonbui.UpdateMarkdown(id, text)
	}
}

// Keep is MustFit whose file is in the cache folder, under a name that the data and
// the description decide: a search that was interrupted, or whose cell runs again,
// goes on where it was. See [svmnb.Classifier.Keep].
func (s Searcher) Keep() *SearchFit {
	if s.file == "" && s.err == nil && s.learner != nil {
		if file, err := keptSearch(s); err == nil {
			s.file = file
		}
	}
	return s.MustFit()
}

// Show runs the search as Keep does and shows what it finds.
func (s Searcher) Show() { s.Keep().Show() }

// Show displays the figures of the search; without any, its summary in words and, of
// its Landscape.
func (f *SearchFit) Show(figures ...display.Figure) {
	var usual []display.Figure
	if _, err := Landscape.Of(f); err == nil { // else there are no scores yet, or too many places
		usual = []display.Figure{Landscape}
	}
	display.ShowFit(f, figures, usual...)
}

func (f *SearchFit) none() bool { return f == nil || len(f.Trials) == 0 }
