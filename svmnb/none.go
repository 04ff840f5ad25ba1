package svmnb

func (f *Fit) none() bool                { return f == nil || f.task == nil }
func (f *MultiFit) none() bool           { return f == nil || f.task == nil }
func (f *RegressionFit) none() bool      { return f == nil || f.task == nil }
func (f *JointFit) none() bool           { return f == nil || f.fit == nil }
func (t *Thresholded) none() bool        { return t == nil || t.fit == nil }
func (c *Calibrated) none() bool         { return c == nil || c.fit == nil }
func (r *RegularisationPath) none() bool { return r == nil || r.task == nil || len(r.Breaks) == 0 }
