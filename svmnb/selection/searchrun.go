package selection

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/svmnb/svmnb/internal/panics"
	"github.com/svmnb/svmnb/internal/parallel"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/learn"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// chain is a sequence of fits each of which starts from the one before: those of one fold
// that differ in C only, in increasing order of C.
type chain struct {
	fold   int
	trials []int
}

// chains lists the work on some trials in an order in which the folds of a setting follow
// each other.
func (f *SearchFit) chains(trials []int) []chain {
	last := len(f.Names) - 1
	warm := isCost(f.Names[last])
	var groups [][]int
	known := map[string]int{}
	for _, i := range trials {
		key := fmt.Sprint(i)
		if warm {
			key = fmt.Sprint(f.Trials[i].Values[:last])
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
			return cmp.Compare(f.Trials[a].Values[last], f.Trials[b].Values[last])
		})
		for k := range f.Folds {
			all = append(all, chain{k, g})
		}
	}
	return all
}

// searchRun computes the scores that are not in the log.
type searchRun struct {
	f      *SearchFit
	log    *searchLog
	splits []Split
	began  time.Time

	mu       sync.Mutex // protects progress, f and log during a round
	progress SearchProgress
}

// all runs the whole search: one round of all settings, the rounds of Halve, or one setting
// after the other.
func (r *searchRun) all(ctx context.Context) error {
	f := r.f
	trials := make([]int, len(f.Trials))
	for i := range trials {
		trials[i] = i
	}
	r.progress = SearchProgress{Best: math.NaN()}
	space, sequential := f.Description.space.(Sequential)
	if f.Description.keep > 0 {
		if sequential {
			return arguments.Wrong("Halve", f.Description.keep, "the space chooses each setting by the scores of those before, so there are no rounds; leave out Halve, or give a selection.Grid or selection.Random")
		}
		return r.halving(ctx, trials)
	}
	r.progress.All = len(trials) * f.Folds
	if !sequential {
		return r.round(ctx, trials, 0)
	}
	r.progress.All = max(space.Len(), len(trials)) * f.Folds
	for {
		if err := r.round(ctx, trials, 0); err != nil {
			return err
		}
		values, err := r.next(ctx, space)
		if err != nil || values == nil {
			return err
		}
		if err := f.add(values); err != nil {
			return err
		}
		trials = []int{len(f.Trials) - 1}
	}
}

// next asks the space for a setting.
func (r *searchRun) next(ctx context.Context, space Sequential) ([]float64, error) {
	var tried [][]float64
	var scores []float64
	for _, t := range r.f.Trials {
		v := t.Mean()
		if r.f.Metric.Lower {
			v = -v
		}
		tried, scores = append(tried, slices.Clone(t.Values)), append(scores, v)
	}
	var values []float64
	err := panics.Call(func() string { return "Next of the space" }, func() (err error) {
		values, err = space.Next(ctx, tried, scores)
		return err
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("svmnb: Search: %w", err)
	case values != nil && len(values) != len(r.f.Names):
		return nil, arguments.Wrong("Search", float64(len(values)), "Next of the space returned %s for %s", say.Several(len(values), "value"), say.Several(len(r.f.Names), "parameter"))
	}
	return values, nil
}

// halving runs the rounds of [Searcher.Halve].
func (r *searchRun) halving(ctx context.Context, trials []int) error {
	f := r.f
	data := f.Description.learner.Data()
	points := math.MaxInt
	for _, s := range r.splits {
		points = min(points, len(s.Train))
	}
	least := max(20, 10*len(data.Classes))
	rounds, size := 1, len(trials)
	for left := float64(points) / f.Description.keep; size > 1 && int(left) >= least; left /= f.Description.keep {
		size = r.survivors(size)
		rounds++
	}
	for k, size := 0, len(trials); k < rounds; k++ {
		r.progress.All += size * f.Folds
		size = r.survivors(size)
	}
	for left := rounds - 1; ; left-- {
		if left == 0 {
			return r.round(ctx, trials, 0)
		}
		if err := r.round(ctx, trials, int(float64(points)/math.Pow(f.Description.keep, float64(left)))); err != nil {
			return err
		}
		slices.SortStableFunc(trials, func(a, b int) int {
			switch x, y := f.Trials[a].Mean(), f.Trials[b].Mean(); {
			case f.Metric.better(x, y):
				return -1
			case f.Metric.better(y, x):
				return 1
			}
			return 0
		})
		trials = trials[:r.survivors(len(trials))]
		slices.Sort(trials)
		for _, i := range trials {
			if t := &f.Trials[i]; t.Err == "" {
				t.clear()
				t.Points = 0
			}
		}
	}
}

// survivors returns how many of some settings go on to the next round.
func (r *searchRun) survivors(settings int) int {
	return int(math.Ceil(float64(settings) / r.f.Description.keep))
}

// round scores some trials with the given number of training points in each fold; 0 means
// all. In a round of fewer points these have the classes in proportion.
func (r *searchRun) round(ctx context.Context, trials []int, points int) error {
	f, s := r.f, r.f.Description
	data := s.learner.Data()
	splits := r.splits
	if points > 0 {
		splits = slices.Clone(splits)
		for k, one := range splits {
			splits[k].Train = proportional(data, one.Train, uint64(k))[:points]
		}
	}
	for _, i := range trials {
		f.Trials[i].Points = points
		for k := range f.Folds {
			if e, ok := r.log.find(f.Names, f.Trials[i].Values, k, points, f.Also); ok {
				r.note(i, k, e.scores(f.Also), e.Error)
				r.progress.Known++
			}
		}
	}
	if err := r.watch(); err != nil {
		return fmt.Errorf("svmnb: Search: %w", err)
	}
	all := f.chains(trials)
	if s.place != nil {
		return r.elsewhere(ctx, all, points)
	}
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
			r.mu.Lock()
			t := f.Trials[i]
			known := !math.IsNaN(t.Scores[c.fold]) || t.Err != ""
			r.mu.Unlock()
			if known || inner.Err() != nil {
				continue // one failed fold is enough to reject a setting
			}
			scores, failure, err := f.score(inner, t.Values, splits[c.fold], w)
			if err != nil {
				stop(err)
				continue
			}
			r.mu.Lock()
			if err := r.log.append(f.Names, t.Values, c.fold, points, scores, f.Also, failure); err != nil {
				stop(err)
			}
			r.note(i, c.fold, scores, failure)
			f.Fitted++
			if err := r.watch(); err != nil {
				stop(err)
			}
			r.mu.Unlock()
		}
	})
	if inner.Err() != nil {
		return fmt.Errorf("svmnb: Search: after %d of %d folds: %w", r.progress.Done, r.progress.All, context.Cause(inner))
	}
	return nil
}

// note stores the scores of a fold by all metrics, or why it failed.
func (r *searchRun) note(trial, fold int, scores []float64, failure string) {
	t := &r.f.Trials[trial]
	r.progress.Done++
	if failure != "" {
		t.Err = fmt.Sprintf("fold %d: %s", fold+1, failure)
		return
	}
	t.Scores[fold] = scores[0]
	for m, v := range scores[1:] {
		t.Also[m][fold] = v
	}
	if m := t.Mean(); t.Points == 0 && r.f.Metric.better(m, r.progress.Best) {
		r.progress.Best = m
	}
}

// watch tells the function of Watch how far the search is.
func (r *searchRun) watch() error {
	if r.f.Description.watch == nil {
		return nil
	}
	r.progress.Elapsed = time.Since(r.began)
	return panics.Call(func() string { return "the function of Watch" }, func() error { r.f.Description.watch(r.progress); return nil })
}
