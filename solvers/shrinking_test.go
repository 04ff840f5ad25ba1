package solvers

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/svmnb/svmnb/internal/toy"
)

// shrinkable are problems whose runs are long enough for points to be left out.
func shrinkable() map[string]*Problem {
	x, y := toy.Points(toy.Rand(6), 300, 2, 0.5)
	return map[string]*Problem{
		"RBF":          SoftMargin(toy.NewGram(x, toy.RBF(1)), y, fill(300, 10)),
		"2-norm":       SoftMargin2(toy.NewGram(x, toy.RBF(1)), y, fill(300, 10)),
		"linear, long": SoftMargin(toy.NewGram(x, toy.Dot), y, fill(300, 1000)), // with faces
		"hard":         blobs(200, 1.5, toy.RBF(1), math.Inf(1)),
		"anything":     generalProblem(toy.Rand(5), 200),
	}
}

// TestShrinking: the same optimum as without it; points are left out, come back
// where the guess was wrong, and all that is measured meanwhile is true.
func TestShrinking(t *testing.T) {
	wrong := 0
	for name, p := range shrinkable() {
		for _, m := range []SMO{{}, {Selection: WorstPair}, {PairsOnly: true}} {
			n, s := len(p.S), Settings{Stop: All(tight{1e-8}, UpLow{1e-5})}
			want := solve(t, p, m, s)
			m.Shrinking = true
			least, left := n, false
			s.Observers = []Observer{func(it *Iterate, pt *Point) {
				least = min(least, it.Active)
				if left && it.Active == n {
					wrong++
				}
				left = it.Active < n
				if it.F == nil && !it.Partial {
					t.Errorf("%s, %s: iteration %d has no F", name, m.Name(), it.Iteration)
				}
				for i, f := range p.F(it.Alpha) {
					if it.F != nil && math.Abs(f-it.F[i]) > 1e-7 {
						t.Errorf("%s, %s: iteration %d has a wrong F", name, m.Name(), it.Iteration)
						break
					}
				}
			}}
			r := solve(t, p, m, s)
			if r.Status != Converged || !toy.Near(r.Certificate.Dual, want.Certificate.Dual, 1e-7) {
				t.Errorf("%s, %s: %v at W = %.12g, want %.12g", name, m.Name(), r.Status, r.Certificate.Dual, want.Certificate.Dual)
			}
			if least > n*9/10 {
				t.Errorf("%s, %s: never fewer than %d of %d points", name, m.Name(), least, n)
			}
			checkTrace(t, p, r, true)

			s.Observers, s.Every = nil, -1 // F is caught up with at no other time
			if again := solve(t, p, m, s); again.Status != Converged && again.Status != Exhausted || !toy.Near(again.Certificate.Dual, want.Certificate.Dual, 1e-7) {
				t.Errorf("%s, %s, unseen: %v at W = %.12g, want %.12g", name, m.Name(), again.Status, again.Certificate.Dual, want.Certificate.Dual)
			}
		}
	}
	if wrong == 0 {
		t.Error("no point ever came back: nothing has tested that")
	}
}

// TestShrinkingAsksAll: a criterion that the active points meet is asked of all.
func TestShrinkingAsksAll(t *testing.T) {
	for name, p := range shrinkable() {
		for _, tol := range []float64{1, 0.1, 1e-2, 1e-3, 1e-4} {
			r := solve(t, p, SMO{Shrinking: true}, Settings{Stop: UpLow{tol}, Every: -1})
			s := p.summarise(r.Alpha, p.F(r.Alpha))
			if r.Status != Converged || s.up-s.low > tol {
				t.Errorf("%s: %v at %g with m − M = %g", name, r.Status, tol, s.up-s.low)
			}
		}
	}
}

// TestShrinkingRows counts the rows that a small cache has to compute: catching
// up with F costs some, but little.
func TestShrinkingRows(t *testing.T) {
	for name, p := range shrinkable() {
		count := func(m Method) int64 {
			q := *p
			q.K = &lru{Gram: p.K.(*toy.Gram), capacity: 30}
			return solve(t, &q, m, Settings{Every: -1}).Evaluations / int64(len(p.S))
		}
		with, without := count(SMO{Shrinking: true}), count(SMO{})
		t.Logf("%-20s %6d rows, %6d with shrinking", name, without, with)
		if with > 3*without {
			t.Errorf("%s: %d rows, without shrinking %d", name, with, without)
		}
	}
}

func TestInterruptWhileShrunk(t *testing.T) {
	p := shrinkable()["RBF"]
	ctx, cancel := context.WithCancel(context.Background())
	shrunk := false
	r, err := Solve(ctx, p, SMO{Shrinking: true}, Settings{Stop: UpLow{1e-12}, Observers: []Observer{func(it *Iterate, _ *Point) {
		if it.Active < 150 {
			shrunk = true
			cancel()
		}
	}}})
	if !errors.Is(err, context.Canceled) || !shrunk {
		t.Fatal(err, shrunk)
	}
	if want := Certify(p, r.Alpha); !toy.Near(r.Certificate.Gap, want.Gap, 1e-9) {
		t.Errorf("gap %g, want %g", r.Certificate.Gap, want.Gap)
	}
	checkTrace(t, p, r, true)
}

// TestInterruptWhileShrunkAndSlow: where rows are slow an interrupt does not
// wait for the certificate.
func TestInterruptWhileShrunkAndSlow(t *testing.T) {
	p := *shrinkable()["RBF"]
	ctx, cancel := context.WithCancel(context.Background())
	k := &tardy{Gram: p.K.(*toy.Gram), ctx: ctx}
	p.K = k
	r, err := Solve(ctx, &p, SMO{Shrinking: true}, Settings{Stop: UpLow{1e-12}, Observers: []Observer{func(it *Iterate, _ *Point) {
		if it.Active < 150 {
			cancel()
		}
	}}})
	if !errors.Is(err, context.Canceled) || !r.Certificate.Claimed {
		t.Fatalf("%v, claimed %v", err, r.Certificate.Claimed)
	}
	if k.late > 100 {
		t.Errorf("%d rows were asked for after the interrupt", k.late)
	}
	if want := Certify(shrinkable()["RBF"], r.Alpha); !toy.Near(r.Certificate.Gap, want.Gap, 1e-9) {
		t.Errorf("gap %g, want %g", r.Certificate.Gap, want.Gap)
	}
}

// tardy takes its time once the context has ended.
type tardy struct {
	*toy.Gram
	ctx  context.Context
	late int
}

func (m *tardy) Row(i int) []float64 {
	if m.ctx.Err() != nil {
		m.late++
		time.Sleep(10 * time.Millisecond)
	}
	return m.Gram.Row(i)
}

// TestShrinkingOfAll: where every α is at a bound and stays there no point would be left,
// and the run goes on with all of them.
func TestShrinkingOfAll(t *testing.T) {
	for _, c := range []struct {
		x []float64
		y []float64
		c float64
	}{
		{[]float64{-0.8, -1, 1}, []float64{1, -1, 1}, 1},
		{[]float64{-0.8, -1, 1}, []float64{1, -1, 1}, 0.01},
		{[]float64{0.8, 1, -1}, []float64{-1, 1, -1}, 1},
		{[]float64{-1, 1}, []float64{-1, 1}, 0.1},
		{[]float64{-1, 1}, []float64{1, -1}, 0.1},
		{[]float64{-2, -1, 1, 2}, []float64{-1, 1, -1, 1}, 0.1},
		{[]float64{-2, -1, 1, 2}, []float64{-1, -1, 1, 1}, 0.05},
		{[]float64{-3, -1, 0.5, 1, 3, 7}, []float64{-1, 1, -1, 1, -1, 1}, 1e-3},
		{[]float64{0, 0, 0, 5}, []float64{-1, 1, -1, 1}, 1e-3},
	} {
		var x [][]float64
		for _, v := range c.x {
			x = append(x, []float64{v})
		}
		p := SoftMargin(toy.NewGram(x, toy.Dot), c.y, fill(len(x), c.c))
		for _, m := range []SMO{{Shrinking: true}, {Shrinking: true, Selection: WorstPair}, {Shrinking: true, PairsOnly: true}} {
			for _, tol := range []float64{1e-3, 1e-9} {
				want := solve(t, p, SMO{}, Settings{Stop: UpLow{tol}})
				r := solve(t, p, m, Settings{Stop: UpLow{tol}})
				if r.Status != Converged || !toy.Near(r.Certificate.Dual, want.Certificate.Dual, 1e-6) {
					t.Errorf("%v, %s, %g: %v with W = %g, want %g", c, m.Name(), tol, r.Status, r.Certificate.Dual, want.Certificate.Dual)
				}
			}
		}
	}
}
