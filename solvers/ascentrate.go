package solvers

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
)

// Rate is a learning rate that may depend on the point and on time. Eta returns η > 0 for
// point 0 ≤ point < n in epoch 0, 1, 2, …
type Rate interface {
	Eta(point, epoch int) float64
}

// Schedule is a number that falls with time: Start/(1 + Decay t) at t = 0, 1, … With Decay = 0
// it is constant. Used as a Rate, it gives all points the same η.
type Schedule struct{ Start, Decay float64 }

// At returns the value at time t.
func (s Schedule) At(t int) float64 { return s.Start / (1 + s.Decay*float64(t)) }

// Eta implements Rate.
func (s Schedule) Eta(_, epoch int) float64 { return s.At(epoch) }

// PerPoint returns the Rate of CST Table 7.1: eta has one learning rate for each of the n
// points, the same in all epochs.
func PerPoint(eta []float64) Rate {
	b := make([]byte, 0, 8*len(eta))
	for _, v := range eta {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return perPoint(b)
}

// perPoint stores the rates in a string, because strings can be compared and descriptions that
// hold a Rate must be comparable.
type perPoint string

func (p perPoint) Eta(point, _ int) float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64([]byte(p[8*point : 8*point+8])))
}

func (p perPoint) String() string { return fmt.Sprintf("%d rates", len(p)/8) }

func (s Schedule) String() string {
	if s.Decay == 0 {
		return fmt.Sprintf("%g", s.Start)
	}
	return fmt.Sprintf("%g/(1 + %g t)", s.Start, s.Decay)
}

// rates sets eta to ω η_i of this epoch.
func (s *ascent) rates(ctx context.Context) error {
	if s.m.Order == Batch && s.m.Rate == nil {
		l, err := s.curvature(ctx)
		if err != nil {
			return err
		}
		s.m.Rate = Schedule{Start: 1 / max(l, 1e-300)}
	}
	total := 0.0
	for i, kappa := range s.diag {
		eta := min(1/kappa, 1e300)
		if s.m.Rate != nil {
			eta = s.m.Rate.Eta(i, s.epoch)
			if !(eta > 0) || math.IsInf(eta, 1) {
				return &ProblemError{"GradientAscent.Rate", i, eta, fmt.Sprintf("η in epoch %d must be finite and > 0", s.epoch)}
			}
		}
		s.eta[i] = s.m.Omega * eta
		total += s.eta[i]
	}
	if s.m.Rate != nil && total < s.total*(1-1e-6) {
		s.stall = 0 // the rate has just fallen, so W may grow again
	}
	s.total = total
	return nil
}
