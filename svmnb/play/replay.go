package play

import (
	"fmt"

	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/learn"
)

// Replay is the run of a fit to be played and stepped through, over log-spaced
// iterations of its trace: the decision function of a classifier of two features or
// the tube of a regression of one, the points that each step has worked on, the
// objectives and the gap, and for any number of features each point's α against its
// margin y f, or β against its residual, beside the line where the conditions of
// Karush, Kuhn and Tucker want it. Where no script runs it shows the end.
//
// The fit is a [*svmnb.Fit] or a [*svmnb.RegressionFit]. What it has is what its trace has:
// Sample(1) keeps every iteration.
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
