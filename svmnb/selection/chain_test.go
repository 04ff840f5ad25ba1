package selection

import (
	"bytes"
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/transform"
)

// elsewhere is a Place in the same process: a worker of its own computes the chains, the last
// one first, from several goroutines.
type elsewhere struct {
	worker   Searcher                  // the search that the other program describes
	spoil    func(lines []byte) []byte // what happens to the lines on their way
	twice    bool
	rounds   int
	settings int
}

func (e *elsewhere) Chains(ctx context.Context, _ Searcher, chains []Chain, done func([]byte) error) error {
	w, err := e.worker.Worker()
	if err != nil {
		return err
	}
	e.rounds++
	var wait sync.WaitGroup
	errs := make([]error, len(chains))
	for k, c := range slices.Backward(chains) {
		e.settings += len(c.Values)
		wait.Go(func() {
			lines, err := w.Run(ctx, c)
			if err == nil && e.spoil != nil {
				lines = e.spoil(lines)
			}
			if err == nil {
				err = done(lines)
			}
			if err == nil && e.twice {
				err = done(lines)
			}
			errs[k] = err
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}

func sameTrials(t *testing.T, got, want *SearchFit) {
	t.Helper()
	if len(got.Trials) != len(want.Trials) {
		t.Fatalf("%d trials, want %d", len(got.Trials), len(want.Trials))
	}
	bits := func(v []float64) (b []uint64) {
		for _, x := range v {
			b = append(b, math.Float64bits(x))
		}
		return b
	}
	for i, w := range want.Trials {
		g := got.Trials[i]
		same := slices.Equal(bits(g.Values), bits(w.Values)) && slices.Equal(bits(g.Scores), bits(w.Scores)) && g.Points == w.Points && (g.Err == "") == (w.Err == "") // which fold fails first is open
		for m := range w.Also {
			same = same && slices.Equal(bits(g.Also[m]), bits(w.Also[m]))
		}
		if !same {
			t.Errorf("trial %d: %+v, want %+v", i, g, w)
		}
	}
}

// A search whose scores are computed in another place has the same scores to the bit.
func TestSearchElsewhere(t *testing.T) {
	moons := datasets.Moons(90, 0.25, 3)
	grid := Grid{"C": {0.5, 2, 8}, "gamma": {0.1, 1}}
	for name, s := range map[string]Searcher{
		"grid":     Search(svmnb.Classify(moons), grid, StratifiedKFold(3, 1)),
		"pipeline": Search(Pipe(transform.Standardise(), svmnb.Classify(moons)), grid, RepeatedKFold(2, 2, 5)).By(F1, Accuracy, AUC),
		"halving":  Search(svmnb.Classify(moons), grid, KFold(3, 1)).Halve(2),
		"targets":  Search(svmnb.Regress(datasets.Sinc(60, 0.1, 2)), Grid{"C": {1, 10}, "epsilon": {0.05, 0.2}}, KFold(3, 1)),
		"failures": Search(svmnb.Classify(moons), Grid{"nu": {0.3, 1.5}}, KFold(3, 1)).Workers(1),
	} {
		t.Run(name, func(t *testing.T) {
			want, err := s.Fit(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "scores")
			there := &elsewhere{worker: s, twice: true}
			var seen []SearchProgress
			got, err := s.On(there).File(file).Watch(func(p SearchProgress) { seen = append(seen, p) }).Fit(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			sameTrials(t, got, want)
			if there.rounds == 0 || there.settings == 0 {
				t.Error("the other place was not asked")
			}
			if len(seen) < 2 || seen[0].Done != 0 {
				t.Errorf("the progress was %v", seen)
			}
			again, err := s.File(file).Fit(t.Context())
			if err != nil || again.Fitted != 0 {
				t.Errorf("the file of the search does not have all scores: %d were fitted again, %v", again.Fitted, err)
			}
			if err == nil {
				sameTrials(t, again, want)
			}
		})
	}
}

// Lines that are not those of this search are refused, and scores that do not come are missed.
func TestSearchElsewhereRefuses(t *testing.T) {
	s := Search(svmnb.Classify(datasets.Moons(60, 0.2, 1)).Kernel(kernels.RBF(1)), Grid{"C": {1, 2}}, KFold(3, 1))
	other := Search(svmnb.Classify(datasets.Moons(60, 0.2, 2)).Kernel(kernels.RBF(1)), Grid{"C": {1, 2}}, KFold(3, 1))
	for name, c := range map[string]struct {
		place *elsewhere
		want  string
	}{
		"other data":    {&elsewhere{worker: other}, "of another search, or of other data"},
		"changed score": {&elsewhere{worker: s, spoil: func(b []byte) []byte { return bytes.Replace(b, []byte(`"score":`), []byte(`"score":0`), 1) }}, "of another search"},
		"lost lines":    {&elsewhere{worker: s, spoil: func(b []byte) []byte { return nil }}, "did not come back"},
		"other fold":    {&elsewhere{worker: Search(svmnb.Classify(datasets.Moons(60, 0.2, 1)), Grid{"C": {1}}, KFold(2, 1))}, "is of fold 3 of 2"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := s.On(c.place).Fit(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want one with %q", err, c.want)
			}
		})
	}
	w, err := s.Worker()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]Chain{"points": {Points: 1000}, "values": {Values: [][]float64{{1, 2}}}, "fold": {Fold: -1}} {
		var wrong *svmnb.ArgumentError
		if _, err := w.Run(t.Context(), c); !errors.As(err, &wrong) {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if fit, err := s.On(&elsewhere{worker: s}).Fit(ctx); fit == nil || !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted search returns %v, %v", fit, err)
	}
}
