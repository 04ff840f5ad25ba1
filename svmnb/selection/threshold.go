package selection

import (
	"context"
	"os"
	"os/signal"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/cells"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/points"
)

// Threshold chooses the threshold of a pipeline for two classes; see [svmnb.Fit.Threshold].
// The steps are fitted again without each fold, like the classifier.
func (f *PipeFit) Threshold(ctx context.Context, goal svmnb.Goal) (_ *svmnb.Thresholded, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, arguments.NoFit("Threshold")
	}
	return svmnb.ThresholdOf(ctx, goal, f.Description.Learning(), piped{f})
}

// MustThreshold is Threshold for a notebook cell; see [svmnb.Fit.MustThreshold].
func (f *PipeFit) MustThreshold(goal svmnb.Goal) *svmnb.Thresholded {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	t, err := f.Threshold(ctx, goal)
	switch {
	case t == nil:
		cells.Must(err)
	case err != nil:
		cells.Warn("interrupted; this is the threshold by the folds so far: " + err.Error())
	}
	return t
}

// Scores implements learn.Scored.
func (f piped) Scores(verb string, x datasets.Points) ([]float64, error) {
	m, p, err := f.fit.entered(verb, points.From(x))
	if err != nil {
		return nil, err
	}
	if m.Inside().Curves == nil {
		return m.Values(p)
	}
	rows, err := m.Probabilities(p)
	scores := make([]float64, len(rows))
	for i, row := range rows {
		scores[i] = row[1]
	}
	return scores, err
}

// Evaluated implements learn.Scored.
func (f piped) Evaluated(ds *datasets.Dataset) (any, error) { return f.fit.Evaluate(ds) }
