package selection

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"

	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/learn"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// Chain is a part of a search that is computed in one place, such as on another machine: the
// fits of one fold that differ in C only, in increasing order of C, each of which starts from
// the one before.
type Chain struct {
	Fold   int         `json:"fold"`             // counted from 0
	Points int         `json:"points,omitempty"` // training points in a round of Halve; 0 means all
	Values [][]float64 `json:"values"`           // the settings, each in the order of SearchFit.Names
}

// Place is where a search computes its chains if not in this process. It gives the lines of
// each chain, which [Worker.Run] has returned there, to done. It may call done from several
// goroutines, and again with the same lines. done returns an error for lines of another search,
// of other data or of a damaged answer. When Chains returns nil, done has had all chains.
type Place interface {
	Chains(ctx context.Context, s Searcher, chains []Chain, done func(lines []byte) error) error
}

// On computes the scores in another place, such as on the workers of a cluster. Everything else
// stays here: the space, the rounds of Halve, File, Watch and the choice. The scores are the
// same to the bit if the other place has the same program and data, and lines of another program
// or of other data are refused.
func (s Searcher) On(p Place) Searcher { s.place = p; return s }

// Parts returns what a search is made of, for a Place that writes it down. The first metric is
// the one by which the setting is chosen.
func (s Searcher) Parts() (l learn.Learner, space Space, folds Folds, metrics []Metric) {
	return s.learner, s.space, s.folds, append([]Metric{s.by}, s.also...)
}

// Worker computes chains of a search in the place where it runs.
type Worker struct {
	f      *SearchFit
	splits []Split
	key    string
}

// Worker prepares to compute chains of the search, as another machine does for [Searcher.On].
func (s Searcher) Worker() (_ *Worker, err error) {
	defer guard.Caught(&err)
	f, splits, err := s.begin()
	if err != nil {
		return nil, err
	}
	key, err := searchKey(s, s.learner.Data())
	return &Worker{f, splits, key}, err
}

// Key is a hash of everything that the scores depend on but for the settings: the data, the
// learner, the folds and the metric.
func (w *Worker) Key() string {
	if w == nil {
		return ""
	}
	return w.key
}

// Says says in words what a chain is, such as "fold 2 of gamma = 0.5, C = 1 … 8".
func (w *Worker) Says(c Chain) string {
	if w == nil || w.f == nil {
		return ""
	}
	var parts []string
	for i, name := range w.f.Names {
		if len(c.Values) == 0 || len(c.Values[0]) != len(w.f.Names) {
			break
		}
		first, last := c.Values[0][i], c.Values[len(c.Values)-1][i]
		part := name + " = " + say.Number(first)
		if first != last {
			part += " … " + say.Number(last)
		}
		parts = append(parts, part)
	}
	return fmt.Sprintf("fold %d of %s", c.Fold+1, strings.Join(parts, ", "))
}

// Run computes a chain and returns the lines of the file of scores, one for each setting. A
// setting that cannot be fitted has its error in its line. Run returns an error if the chain
// is not of this search, if ctx ends, and for a panic in a user's code.
func (w *Worker) Run(ctx context.Context, c Chain) (_ []byte, err error) {
	defer guard.Caught(&err)
	if w == nil || w.f == nil {
		return nil, arguments.Wrong("Run", 0, "the worker has no search; make it with Searcher.Worker")
	}
	if c.Fold < 0 || c.Fold >= len(w.splits) {
		return nil, arguments.Wrong("Run", float64(c.Fold), "the chain is of fold %d of %d; the search here is another one", c.Fold+1, len(w.splits))
	}
	split := w.splits[c.Fold]
	if c.Points < 0 || c.Points > len(split.Train) {
		return nil, arguments.Wrong("Run", float64(c.Points), "the chain has %s of the %d to learn from; the search here is another one", say.Several(c.Points, "point"), len(split.Train))
	}
	for _, values := range c.Values {
		if len(values) != len(w.f.Names) {
			return nil, arguments.Wrong("Run", float64(len(values)), "the chain has %s for %s; the search here is another one", say.Several(len(values), "value"), say.Several(len(w.f.Names), "parameter"))
		}
	}
	if c.Points > 0 {
		split.Train = proportional(w.f.Description.learner.Data(), split.Train, uint64(c.Fold))[:c.Points]
	}
	log := searchLog{key: w.key}
	var lines bytes.Buffer
	workers := w.f.Description.workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	warm := &learn.Warmth{Bytes: int64(kernels.DefaultCache / workers)}
	for _, values := range c.Values {
		scores, failure, err := w.f.score(ctx, values, split, warm)
		if err != nil {
			return nil, err
		}
		if err := log.line(&lines, entryOf(w.f.Names, values, c.Fold, c.Points, scores, w.f.Also, failure)); err != nil {
			return nil, err
		}
	}
	return lines.Bytes(), nil
}

// score fits one setting on one fold. A setting that cannot be fitted has a failure in place of
// scores. The error is one that ends the search.
func (f *SearchFit) score(ctx context.Context, values []float64, split Split, w *learn.Warmth) (scores []float64, failure string, err error) {
	l, err := f.learnerAt(values)
	if err == nil {
		scores, err = validate(ctx, l, split, f.Metric, f.Also, w)
	}
	switch {
	case errors.As(err, new(*svmnb.PanicError)):
		return nil, "", err // a panic is a mistake in the user's code; it ends the search
	case ctx.Err() != nil:
		return nil, "", context.Cause(ctx)
	case err != nil:
		return nil, err.Error(), nil
	case math.IsNaN(scores[0]) || math.IsInf(scores[0], 0):
		return nil, fmt.Sprintf("the score is %v", scores[0]), nil
	}
	return scores, "", nil
}

// elsewhere has the chains of a round computed in another place.
func (r *searchRun) elsewhere(ctx context.Context, all []chain, points int) error {
	f := r.f
	var chains []Chain
	for _, c := range all {
		part := Chain{Fold: c.fold, Points: points}
		for _, i := range c.trials {
			if t := f.Trials[i]; t.Err == "" && math.IsNaN(t.Scores[c.fold]) {
				part.Values = append(part.Values, t.Values)
			}
		}
		if len(part.Values) > 0 {
			chains = append(chains, part)
		}
	}
	if len(chains) == 0 {
		return nil
	}
	trials := map[string][2]int{} // place of a score: its trial and fold
	for _, c := range all {
		for _, i := range c.trials {
			trials[place(point(f.Names, f.Trials[i].Values), c.fold, points)] = [2]int{i, c.fold}
		}
	}
	done := func(lines []byte) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		for line := range bytes.Lines(lines) {
			var e searchEntry
			if json.Unmarshal(line, &e) != nil || e.Sum != e.sum(r.log.key) {
				return arguments.Wrong("On", math.NaN(), "a score that came back is of another search, or of other data: the program there must describe the same search as this one, %v", f.Description)
			}
			at, ok := trials[place(e.At, e.Fold, e.Points)]
			if !ok {
				return arguments.Wrong("On", math.NaN(), "a score came back that was not asked for, of fold %d at %v", e.Fold+1, e.At)
			}
			if t := f.Trials[at[0]]; t.Err != "" || !math.IsNaN(t.Scores[at[1]]) {
				continue // it came twice, or one failed fold has rejected the setting
			}
			scores := e.scores(f.Also)
			if err := r.log.append(f.Names, f.Trials[at[0]].Values, e.Fold, points, scores, f.Also, e.Error); err != nil {
				return err
			}
			r.note(at[0], at[1], scores, e.Error)
			f.Fitted++
			if err := r.watch(); err != nil {
				return err
			}
		}
		return nil
	}
	err := f.Description.place.Chains(ctx, f.Description, chains, done)
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case err == nil:
		for at, of := range trials {
			if t := f.Trials[of[0]]; t.Err == "" && math.IsNaN(t.Scores[of[1]]) {
				err = fmt.Errorf("the other place says that it is done, but the score of %s (setting and fold) did not come back", at)
				break
			}
		}
	}
	if err != nil {
		return fmt.Errorf("svmnb: Search: after %d of %d folds: %w", r.progress.Done, r.progress.All, err)
	}
	return nil
}
