package play

import (
	"fmt"

	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/learn"
)

// Replay returns a picture in which the run of a fit can be played and stepped through, at
// logarithmically spaced iterations of its trace. It shows the decision function of a
// classifier of two features, or the tube of a regression of one; the points that each step
// worked on; the objectives and the gap. For any number of features it shows each point's α
// over y f, or β over the residual, with the lines on which the KKT conditions hold. Where
// no script runs, it shows the end of the run.
//
// fit is a [*svmnb.Fit] or a [*svmnb.RegressionFit]. Replay can only show iterations that
// are in the trace; Sample(1) keeps them all.
func Replay(fit any) display.Drawing {
	return display.NewDrawing("Replay", func() (*display.Chart, error) {
		refused := fmt.Errorf("a value of type %T has no run to replay; give the *Fit of a classifier or the *RegressionFit of a regression", fit)
		of, ok := fit.(interface{ Learnt() learn.Fit })
		if !ok || guard.IsNil(fit) {
			return nil, refused
		}
		f, ok := of.Learnt().(learn.Replayed)
		if !ok {
			return nil, refused
		}
		d, err := f.Replay()
		if err != nil {
			return nil, err
		}
		return figure.Replay(d)
	})
}
