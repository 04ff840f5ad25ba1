package gp

import (
	"github.com/svmnb/svmnb/datasets"
)

// normalise scales the targets for NormaliseTargets.
func (t *processTask) normalise() error {
	s, err := datasets.FitTarget(t.data)
	if err != nil {
		return err
	}
	if s.Width == 0 {
		s.Width = 1
	}
	t.scale, t.seen = s, make([]float64, len(t.data.Y))
	for i, y := range t.data.Y {
		t.seen[i] = (y - s.Centre) / s.Width
	}
	return nil
}

// value returns a target or a mean, in units of the system, in units of the data.
func (t *processTask) value(v float64) float64 {
	if t.scale == nil {
		return v
	}
	return t.scale.Invert(v)
}

// deviation is value for a difference of targets.
func (t *processTask) deviation(v float64) float64 {
	if t.scale == nil {
		return v
	}
	return t.scale.Width * v
}

// variance is value for a variance.
func (t *processTask) variance(v float64) float64 {
	if t.scale == nil {
		return v
	}
	return t.scale.Width * t.scale.Width * v
}

// spread converts all of b but its means to units of the data.
func (t *processTask) spread(b *Belief) {
	b.Noise = t.variance(b.Noise)
	for i, v := range b.Variance {
		b.Variance[i] = t.variance(v)
	}
	for i, v := range b.VarianceLower {
		b.VarianceLower[i] = t.variance(v)
	}
	for i, v := range b.MeanError {
		b.MeanError[i] = t.deviation(v)
	}
}

// functions converts samples to units of the data; s may be nil.
func (t *processTask) functions(s *Samples, err error) (*Samples, error) {
	if s != nil {
		s.Jitter = t.variance(s.Jitter)
		for _, values := range s.Values {
			for i, v := range values {
				values[i] = t.value(v)
			}
		}
	}
	return s, err
}
