package solvers

import (
	"context"
	"math"
)

// With a free bias, single steps need the relaxed equality |s'α − δ| ≤ ζ_t of Relax. When they
// no longer gain, steps on pairs finish the run (CST §7.2).

// open sets ζ_t for this epoch and moves α until |s'α − δ| ≤ ζ_t.
func (s *ascent) open(ctx context.Context) error {
	s.room = s.m.Relax.At(s.epoch)
	return s.level(ctx, s.room)
}

// settle decides what follows an epoch that has raised W by less than a thousandth. After a
// full pass it restores s'α = δ, and pair steps follow. After a stage over the held points it
// asks for a full pass.
func (s *ascent) settle(ctx context.Context, full bool) error {
	if s.gain > 1e-3*math.Abs(s.w) {
		return nil
	}
	if s.held = nil; !full {
		return nil
	}
	if err := s.level(ctx, 0); err != nil {
		return err
	}
	s.finisher = newGreedy(s.pairs, SMO{PairsOnly: s.m.Plain})
	return nil
}

// level moves α until |s'α − δ| ≤ zeta. Each move takes the point that costs W least.
func (s *ascent) level(ctx context.Context, zeta float64) error {
	p := s.p
	s.sum = -p.Delta
	for i, a := range s.alpha {
		s.sum += p.S[i] * a
	}
	for moves := 0; math.Abs(s.sum) > zeta; moves++ {
		if err := s.poll(ctx, moves); err != nil {
			return err
		}
		up, best := s.sum < 0, -1
		for i, f := range s.f {
			a := s.alpha[i]
			switch {
			case up && p.CanRise(i, a) && (best < 0 || f > s.f[best]), !up && p.CanFall(i, a) && (best < 0 || f < s.f[best]):
				best = i
			}
		}
		if best < 0 {
			return nil
		}
		t := math.Abs(s.sum) - zeta
		room := s.rise(best)
		if !up {
			room = s.fall(best)
		}
		last := t <= room
		t = min(t, room)
		if !up {
			t = -t
		}
		s.gain += t * (s.f[best] - s.diag[best]*t/2)
		s.move(best, t)
		s.follow(best, t)
		s.norm2 += t * t
		s.sum += t
		if last {
			break // the sum has reached zeta up to rounding
		}
	}
	return nil
}

// finish makes n pair steps.
func (s *ascent) finish(ctx context.Context) (done bool, err error) {
	s.paired = true
	for k := range s.alpha {
		if err := s.poll(ctx, 2*k); err != nil {
			return false, err
		}
		done, err = s.finisher.Step(ctx)
		if done || err != nil {
			break
		}
		s.norm2 += s.finisher.last * s.finisher.last
	}
	return done, err
}
