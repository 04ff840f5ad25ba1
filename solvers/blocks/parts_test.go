package blocks

import (
	"context"
	"math"
	"slices"
	"testing"
)

// A part has all variables with a free α, and the worst pair. After it F is right for all variables.
func TestFocuses(t *testing.T) {
	defer func(was int) { leastPart = was }(leastPart)
	leastPart = 8 * smallest
	parts, further, over, guessed := 0, 0, 0, 0
	for name, p := range machines(t, 600) {
		t.Run(name, func(t *testing.T) {
			s := begun(t, p, smallest)
			s.large = true
			for range 300 {
				was, lastPart := s.focused, slices.Clone(s.active)
				done, err := s.Step(t.Context())
				if err != nil {
					t.Fatal(err)
				} else if done {
					break
				}
				exact := slices.DeleteFunc(slices.Clone(s.active), func(v int) bool { return s.stale[v] })
				right(t, p, s.alpha, s.f, exact)
				guessed += len(s.active) - len(exact)
				balanced(t, p, s.alpha)
				switch {
				case was && !s.partial():
					over++
				case was && s.focused && !slices.Equal(s.active, lastPart):
					further++
				}
				if s.focused {
					continue
				}
				near, ends, isFree := len(s.near()), s.end, map[int]bool{}
				for _, v := range s.active {
					if s.noRise[v] == 0 && s.noFall[v] == 0 {
						isFree[v] = true
					}
				}
				shrunk := s.partial()
				if !s.focus() {
					continue
				} else if shrunk {
					t.Fatal("a first part has begun although shrinking had left variables out")
				}
				parts++
				if n := len(s.active); n != max(leastPart, int(perFreeInPart*float64(len(isFree))), near/nearPerPart) || n > near/partsPerNear || !slices.IsSorted(s.active) {
					t.Fatalf("a part of %d of %d variables, %d are free", n, near, len(isFree))
				}
				for v := range isFree {
					if s.left[v] {
						t.Fatalf("variable %d is free and left out", v)
					}
				}
				if worstOf(&s.end).up-worstOf(&s.end).low != worstOf(&ends).up-worstOf(&ends).low {
					t.Fatal("the worst pair is left out")
				}
			}
			f, complete := s.Complete(t.Context())
			right(t, p, s.alpha, f, all(len(s.alpha)))
			if !complete || s.focused {
				t.Error("F is not complete")
			}
		})
	}
	if parts == 0 || further == 0 || over == 0 || guessed == 0 {
		t.Errorf("%d first parts, %d further ones, %d times their end, %d estimates of F that were kept", parts, further, over, guessed)
	}
}

// inAPart returns an engine whose part has just been left by a step.
func inAPart(t *testing.T) *engine {
	t.Helper()
	p := machines(t, 600)["C-SVC"]
	s := begun(t, p, smallest)
	s.large = true
	for range 300 {
		if _, err := s.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.changes()
		if s.focused && len(s.points) > 3*smallest {
			return s
		}
	}
	t.Fatal("no part")
	return nil
}

// The estimate of F has a small error compared with the change of F, and none at the landmarks.
func TestEstimates(t *testing.T) {
	defer func(was int) { leastPart = was }(leastPart)
	leastPart = 8 * smallest
	s := inAPart(t)
	e := s.newEstimate(t.Context(), min(landmarks, max(2, s.n/perLandmark)))
	coef := e.coefficients(t.Context(), s)
	if coef == nil {
		t.Fatal("no coefficients")
	}
	change, guess := make([]float64, s.n), make([]float64, s.n)
	if err := s.k.AddTo(t.Context(), change, nil, nil, s.points, s.coef, true); err != nil {
		t.Fatal(err)
	}
	if err := s.k.AddTo(t.Context(), guess, nil, nil, e.points, coef, true); err != nil {
		t.Fatal(err)
	}
	off, size := 0.0, 0.0
	for i := range change {
		off, size = max(off, math.Abs(change[i]-guess[i])), max(size, math.Abs(change[i]))
	}
	t.Logf("error %.3g of %.3g", off, size)
	if off > 0.4*size || size == 0 {
		t.Errorf("the error is %g, the change %g", off, size)
	}
	for _, i := range e.points {
		if math.Abs(change[i]-guess[i]) > 1e-3*size {
			t.Errorf("at landmark %d the error is %g, the change %g", i, change[i]-guess[i], size)
		}
	}
}

// More landmarks are taken where fewer estimate F too roughly.
func TestMoreLandmarks(t *testing.T) {
	defer func(was int) { leastPart = was }(leastPart)
	leastPart = 8 * smallest
	s := inAPart(t)
	out := s.stalePoints(nil)
	s.rough = s.newEstimate(t.Context(), 2)
	if e := s.roughness(t.Context(), out, s.rough.coefficients(t.Context(), s)); e <= finerError {
		t.Fatalf("the error of two landmarks is %g: nothing to test", e)
	}
	coef, e := s.estimated(t.Context(), out)
	if m := len(s.rough.points); m <= 2 || coef != nil && len(coef) != m {
		t.Errorf("%d landmarks, %d coefficients, error %g", m, len(coef), e)
	}
}

// refresh computes F of the active variables without the rounding errors of the sets since the last
// update, if these have taken enough values.
func TestRefresh(t *testing.T) {
	defer func(was int) { leastPart = was }(leastPart)
	leastPart = 8 * smallest
	s := inAPart(t)
	for _, v := range s.active {
		s.f[v] += 0.01
	}
	was := slices.Clone(s.f)
	if s.since = 0; !s.refresh(t.Context()) || !slices.Equal(was, s.f) {
		t.Error("F was computed although that costs more than the sets did")
	}
	s.since = 1 << 40
	if !s.refresh(t.Context()) || s.since != 0 {
		t.Fatal("no refresh")
	}
	right(t, s.p, s.alpha, s.f, s.active)
}

// The gain of a part is the rise of W.
func TestGain(t *testing.T) {
	for name, p := range machines(t, 600) {
		t.Run(name, func(t *testing.T) {
			s := begun(t, p, smallest)
			start := s.dual()
			for range 40 {
				s.steps = 2 // no variable is left out
				if done, err := s.Step(t.Context()); err != nil || done {
					t.Fatalf("done %v, %v", done, err)
				}
			}
			if rise := s.dual() - start; !(math.Abs(rise-s.part.gain) <= 1e-4*rise) || s.part.taken <= 0 {
				t.Errorf("W has risen by %g, the gain is %g; %d values", rise, s.part.gain, s.part.taken)
			}
		})
	}
}

// Parts are not begun with too few free α, but go on with few.
func TestPartsGoOn(t *testing.T) {
	defer func(was int) { leastPart = was }(leastPart)
	leastPart = 8 * smallest
	s := begun(t, machines(t, 600)["C-SVC"], smallest)
	s.free = 1
	if _, _, pays := s.candidates(); pays {
		t.Error("parts begin with one free α")
	}
	s.rough = &estimate{}
	if _, _, pays := s.candidates(); !pays {
		t.Error("parts end with one free α")
	}
}

// moveOn refuses an estimate that is too rough, a part that brought less than those before, a kernel
// without a factor, and a context that has ended. The engine is then as before.
func TestMoveOnRefuses(t *testing.T) {
	defer func(was int) { leastPart = was }(leastPart)
	leastPart = 8 * smallest
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for name, spoil := range map[string]func(s *engine) context.Context{
		"rough":     func(s *engine) context.Context { s.wide = 1e-300; return t.Context() },
		"slow":      func(s *engine) context.Context { s.parts = progress{taken: 1, gain: 1e300}; return t.Context() },
		"no factor": func(s *engine) context.Context { s.rough = &estimate{points: []int{0, 1}}; return t.Context() },
		"over":      func(s *engine) context.Context { return over },
	} {
		s := inAPart(t)
		ctx, was, ends := spoil(s), slices.Clone(s.active), s.end
		if s.moveOn(ctx) {
			t.Errorf("%s: moved on", name)
		}
		if !slices.Equal(was, s.active) || s.end != ends || !s.focused {
			t.Errorf("%s: the part has changed", name)
		}
		f, complete := s.Complete(t.Context())
		right(t, s.p, s.alpha, f, all(len(s.alpha)))
		if !complete {
			t.Errorf("%s: F is not complete", name)
		}
	}
}
