package model

import (
	"math"

	"github.com/svmnb/svmnb/svmnb/internal/calibrate"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
)

// folded returns the model with its threshold as a part of the bias, for formats that decide
// by the sign of f. The decision values become smaller by the threshold; the probabilities
// stay as they are.
func (m *Model) folded(format string) (*Model, error) {
	if m.of.Threshold == nil {
		return m, nil
	}
	own := m.shared()
	own.of.Threshold = nil
	shift := *m.of.Threshold
	if m.of.Curves != nil {
		s, ok := m.of.Curves[0].(calibrate.Sigmoid)
		p := *m.of.Threshold // of the class that the machine is for
		if m.of.Duels[0][0] == 0 {
			p = 1 - p
		}
		if !ok || len(m.of.Terms) != 1 || !(s.A < 0) || !(p > 0 && p < 1) {
			return nil, modelError(format, 0, "the format has no threshold of probabilities, and none of the decision values is the same; write the model of the fit without probabilities, with a threshold of its own")
		}
		shift = (math.Log((1-p)/p) - s.B) / s.A
		own.of.Curves = []machines.Curve{calibrate.Sigmoid{A: s.A, B: s.B + s.A*shift}}
	}
	t := m.of.Terms[0]
	t.B -= shift
	own.of.Terms = []machines.Term{t}
	return own, nil
}

// foldedDecision is folded for formats whose programs decide by probabilities where there are
// some: these then have no place for a threshold.
func (m *Model) foldedDecision(format string) (*Model, error) {
	if m.of.Threshold != nil && m.of.Curves != nil {
		return nil, modelError(format, 0, "the format has no threshold of probabilities; write the model of the fit without probabilities, with a threshold of its own")
	}
	return m.folded(format)
}
