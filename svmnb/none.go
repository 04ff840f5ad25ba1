package svmnb

import (
	"github.com/svmnb/svmnb/datasets"
)

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
