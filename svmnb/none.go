package svmnb

import (
	"context"
	"fmt"
	"math"

	"github.com/svmnb/svmnb/datasets"
)

// noFit is the error of a fit that there is none of: a nil pointer, as Fit returns with
// an error that was not looked at, or the zero value of its type.
func noFit(call string) error {
	return &ArgumentError{call, -1, -1, 0, "there is no fit; take one from Fit and look at the error that comes with it"}
}

// noneOf is what there is to read of something that there is none of.
func noneOf(what, call string) string {
	return fmt.Sprintf("there is no %s; take one from %s and look at the error that comes with it", what, call)
}

func (f *Fit) none() bool                { return f == nil || f.task == nil }
func (f *MultiFit) none() bool           { return f == nil || f.task == nil }
func (f *RegressionFit) none() bool      { return f == nil || f.task == nil }
func (f *ProcessFit) none() bool         { return f == nil || f.task == nil }
func (f *PipeFit) none() bool            { return f == nil || f.last == nil }
func (f *JointFit) none() bool           { return f == nil || f.fit == nil }
func (c *Calibrated) none() bool         { return c == nil || c.fit == nil }
func (m *Model) none() bool              { return m == nil || m.kernel == nil || len(m.machines) == 0 }
func (r *RaceResult) none() bool         { return r == nil || r.task == nil }
func (f *SearchFit) none() bool          { return f == nil || len(f.Trials) == 0 }
func (r *RegularisationPath) none() bool { return r == nil || r.task == nil || len(r.Breaks) == 0 }

// nameOf is the name of a data set for the text of a description, which the zero value of
// one has not.
func nameOf(data *datasets.Dataset) string {
	if data == nil {
		return "nil"
	}
	return data.Name
}

// given is the error of a call without a context, which would panic far from it.
func given(ctx context.Context, call string) error {
	if ctx == nil {
		return wrong(call, math.NaN(), "the context is nil; give context.Background(), or one that an interrupt ends")
	}
	return nil
}
