package selection

import (
	"context"
	"errors"
	"math"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/learn"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
)

// Data returns the training data.
func (s Searcher) Data() *datasets.Dataset {
	if s.learner == nil {
		return nil
	}
	return s.learner.Data()
}

// Learning implements [Learner]: a search learns the machine that it chooses. So
// [CrossValidate] of a search is nested: each fold has a search of its own, which never sees
// what the fold holds out, and the score is that of the whole procedure (Varma and Simon
// 2006). A search inside of another keeps no file.
func (s Searcher) Learning() learn.Learner {
	if s.learner == nil {
		return piping{Pipe()}
	}
	s.file, s.watch = "", nil
	return searching{s}
}

type searching struct{ Searcher }

func (s searching) Fault() error           { return errors.Join(s.err, s.learner.Fault()) }
func (s searching) Measure() learn.Measure { return s.learner.Measure() }
func (s searching) Detail() any            { return []any{s.by.Name, s.oneSE, s.learner.Detail()} }
func (s searching) Description() any       { return s.Searcher }
func (s searching) Parameters() string     { return s.learner.Parameters() }

func (s searching) With(data *datasets.Dataset, rows []int) learn.Learner {
	s.learner = s.learner.With(data, rows)
	return s
}

func (s searching) After(p *steps.Passage) learn.Learner {
	s.learner = s.learner.After(p)
	return s
}

func (s searching) Set(name string, v float64) (learn.Learner, bool) {
	l, known := s.learner.Set(name, v)
	s.learner = l
	return s, known
}

// Train searches, and fits the machine that was chosen to all points.
func (s searching) Train(ctx context.Context, _ *learn.Warmth) (learn.Fit, error) {
	found, err := s.Searcher.Fit(ctx)
	if err != nil {
		return nil, err
	}
	if _, ok := found.Chosen(); !ok {
		return nil, arguments.Wrong("Search", math.NaN(), "no setting could be fitted")
	}
	fit, err := found.Learner().fit(ctx, nil)
	if fit == nil {
		return nil, err
	}
	return piped{fit}, err
}
