package solvers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svmnb/svmnb/internal/toy"
)

// TestBadInput damages one number of a good problem and wants a *ProblemError
// that names it.
func TestBadInput(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name   string
		damage func(p *Problem, s *Settings)
		field  string
		index  int
		says   string
	}{
		{"no matrix", func(p *Problem, _ *Settings) { p.K = nil }, "K", -1, "no kernel matrix"},
		{"empty", func(p *Problem, _ *Settings) { *p = *SoftMargin(&toy.Gram{}, nil, nil) }, "K", -1, "at least one point"},
		{"short diagonal", func(p *Problem, _ *Settings) { p.K.(*toy.Gram).Diagonal = make([]float64, 3) }, "K", -1, "3 entries"},
		{"diagonal NaN", func(p *Problem, _ *Settings) { p.K.(*toy.Gram).Diagonal[2] = nan }, "K", 2, "row 2, column 2"},
		{"diagonal Inf", func(p *Problem, _ *Settings) { p.K.(*toy.Gram).Diagonal[0] = inf }, "K", 0, "row 0, column 0"},
		{"kernel NaN", func(p *Problem, _ *Settings) { poison(p, 3, 5, nan) }, "K", 3, "column 5"},
		{"kernel Inf", func(p *Problem, _ *Settings) { poison(p, 3, 5, inf) }, "K", 3, "column 5"},
		{"kernel −Inf", func(p *Problem, _ *Settings) { poison(p, 3, 5, -inf) }, "K", 3, "column 5"},
		{"kernel huge", func(p *Problem, _ *Settings) { poison(p, 3, 5, 1e300) }, "K", 3, "scale the features"},
		{"short row", func(p *Problem, _ *Settings) { k := p.K.(*toy.Gram); k.K[3] = k.K[3][:4] }, "K", 3, "length of row 3"},
		{"S short", func(p *Problem, _ *Settings) { p.S = p.S[:5] }, "S", -1, "5 entries"},
		{"S missing", func(p *Problem, _ *Settings) { p.S = nil }, "S", -1, "0 entries"},
		{"S zero", func(p *Problem, _ *Settings) { p.S[4] = 0 }, "S", 4, "+1 or −1"},
		{"S two", func(p *Problem, _ *Settings) { p.S[4] = 2 }, "S", 4, "+1 or −1"},
		{"S NaN", func(p *Problem, _ *Settings) { p.S[4] = nan }, "S", 4, "+1 or −1"},
		{"P short", func(p *Problem, _ *Settings) { p.P = p.P[:1] }, "P", -1, "1 entries"},
		{"P NaN", func(p *Problem, _ *Settings) { p.P[1] = nan }, "P", 1, "finite"},
		{"P Inf", func(p *Problem, _ *Settings) { p.P[1] = -inf }, "P", 1, "finite"},
		{"Lower short", func(p *Problem, _ *Settings) { p.Lower = nil }, "Lower", -1, "0 entries"},
		{"Lower NaN", func(p *Problem, _ *Settings) { p.Lower[3] = nan }, "Lower", 3, "finite"},
		{"Lower −Inf", func(p *Problem, _ *Settings) { p.Lower[3] = -inf }, "Lower", 3, "finite"},
		{"Upper long", func(p *Problem, _ *Settings) { p.Upper = make([]float64, 9) }, "Upper", -1, "9 entries"},
		{"C NaN", func(p *Problem, _ *Settings) { p.Upper[5] = nan }, "Upper", 5, "at least"},
		{"C negative", func(p *Problem, _ *Settings) { p.Upper[5] = -1 }, "Upper", 5, "at least"},
		{"C −Inf", func(p *Problem, _ *Settings) { p.Upper[5] = -inf }, "Upper", 5, "at least"},
		{"C huge", func(p *Problem, _ *Settings) { p.Upper[5] = 1e300 }, "Upper", 5, "+Inf"},
		{"Ridge short", func(p *Problem, _ *Settings) { p.Ridge = make([]float64, 2) }, "Ridge", -1, "2 entries"},
		{"Ridge negative", func(p *Problem, _ *Settings) { p.Ridge = fill(6, 1); p.Ridge[2] = -1 }, "Ridge", 2, "0 to"},
		{"Ridge NaN", func(p *Problem, _ *Settings) { p.Ridge = fill(6, 1); p.Ridge[2] = nan }, "Ridge", 2, "0 to"},
		{"2-norm with C = 0", func(p *Problem, _ *Settings) { *p = *SoftMargin2(p.K, p.S, make([]float64, 6)) }, "Ridge", 0, "positive"},
		{"2-norm with C < 0", func(p *Problem, _ *Settings) { *p = *SoftMargin2(p.K, p.S, fill(6, -1)) }, "Ridge", 0, "positive"},
		{"2-norm with few C", func(p *Problem, _ *Settings) { *p = *SoftMargin2(p.K, p.S, fill(5, 1)) }, "Ridge", -1, "5 entries"},
		{"Delta NaN", func(p *Problem, _ *Settings) { p.Delta = nan }, "Delta", -1, "finite"},
		{"Delta out of reach", func(p *Problem, s *Settings) { p.Delta, s.Start = 100, nil }, "Delta", -1, "the nearest is 3"},
		{"Start short", func(_ *Problem, s *Settings) { s.Start = make([]float64, 5) }, "Start", -1, "5 entries"},
		{"Start NaN", func(_ *Problem, s *Settings) { s.Start[3] = nan }, "Start", 3, "outside its box"},
		{"Start too large", func(_ *Problem, s *Settings) { s.Start[3] = 1.5 }, "Start", 3, "[0, 1]"},
		{"Start negative", func(_ *Problem, s *Settings) { s.Start[3] = -0.1 }, "Start", 3, "[0, 1]"},
		{"Start infinite", func(p *Problem, s *Settings) { *p = *HardMargin(p.K, p.S); s.Start[1] = inf }, "Start", 1, "outside"},
		{"Start unbalanced", func(_ *Problem, s *Settings) { s.Start[0] = 0.5 }, "Start", -1, "violates s'α = δ"},
		{"MaxIterations negative", func(_ *Problem, s *Settings) { s.MaxIterations = -1 }, "MaxIterations", -1, "-1"},
	} {
		for _, m := range methods {
			x := [][]float64{{0, 1}, {1, 0}, {2, 2}, {-1, 1}, {0, 3}, {1, 1}}
			p := SoftMargin(toy.NewGram(x, toy.RBF(0.5)), []float64{1, -1, 1, -1, 1, -1}, fill(6, 1))
			s := Settings{Start: make([]float64, 6)}
			c.damage(p, &s)
			r, err := Solve(context.Background(), p, m.method, s)
			var bad *ProblemError
			if !errors.As(err, &bad) || r != nil {
				t.Errorf("%s, %s: got %v", c.name, m.method.Name(), err)
				continue
			}
			if bad.Field != c.field || bad.Index != c.index || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s, %s: %q names %s[%d], want %s[%d] and %q", c.name, m.method.Name(), err, bad.Field, bad.Index, c.field, c.index, c.says)
			}
		}
	}
	if err := (*Problem)(nil).Check(); err == nil {
		t.Error("no problem at all passes the check")
	}
	if _, err := Solve(context.Background(), blobs(6, 1, toy.Dot, 1), SMO{Tol: -1}, Settings{}); err == nil || !strings.Contains(err.Error(), "SMO.Tol") {
		t.Errorf("negative SMO.Tol: %v", err)
	}
	if _, err := Solve(context.Background(), blobs(6, 1, toy.Dot, 1), SMO{Selection: 9}, Settings{}); !errors.Is(err, ErrUnsupported) {
		t.Errorf("unknown selection: %v", err)
	}
	fixed := blobs(6, 1, toy.Dot, 1)
	fixed.FixedBias = true
	if _, err := Solve(context.Background(), fixed, SMO{}, Settings{}); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "bias") {
		t.Errorf("fixed bias: %v", err)
	}
}

// poison puts a value into both halves of the matrix; row i is read first.
func poison(p *Problem, i, j int, v float64) {
	k := p.K.(*toy.Gram)
	k.K[i][j] = v
	p.Upper[j] = 0 // j itself never moves
}

// TestPoisonAnywhere: wherever the bad value is, the run ends; with an error if
// the row was used, and then a certificate that is a number if it was not.
func TestPoisonAnywhere(t *testing.T) {
	for _, m := range methods {
		for seed := range uint64(60) {
			rng := toy.Rand(seed)
			p := blobs(12, 0.4, toy.RBF(0.5), 5)
			p.K.(*toy.Gram).K[rng.IntN(12)][rng.IntN(12)] = [...]float64{math.NaN(), math.Inf(1), math.Inf(-1)}[rng.IntN(3)]
			r, err := Solve(context.Background(), p, m.method, Settings{})
			var bad *ProblemError
			switch {
			case errors.As(err, &bad) && bad.Field == "K":
			case err == nil && !math.IsNaN(r.Certificate.Gap) && !math.IsNaN(r.Bias):
			default:
				t.Errorf("%s, seed %d: %v", m.method.Name(), seed, err)
			}
		}
	}
}

// TestNilContext: a method that is asked to solve without a context refuses, of every kind
// and of Crammer and Singer's dual.
func TestNilContext(t *testing.T) {
	var none context.Context
	refused := func(what string, err error) {
		var bad *ProblemError
		if !errors.As(err, &bad) || bad.Field != "ctx" || !strings.Contains(err.Error(), "context.Background()") {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, m := range slices.Concat(methods, singles) {
		res, err := Solve(none, ringProblem(1), m.method, Settings{})
		if refused(m.method.Name(), err); res != nil {
			t.Errorf("%s: %v", m.method.Name(), res)
		}
	}
	_, err := (&CrammerSinger{}).Solve(none, Settings{})
	refused("Crammer and Singer", err)
}

// TestCancelledBefore: the partial result has the first point and a certificate.
func TestCancelledBefore(t *testing.T) {
	cause := errors.New("the user has left")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	for _, m := range methods {
		r, err := Solve(ctx, ringProblem(10), m.method, Settings{})
		if !errors.Is(err, cause) || r == nil || r.Status != Interrupted || r.Iterations != 0 || len(r.Trace.Points) != 1 || !(r.Certificate.Gap > 0) {
			t.Errorf("%s: %v, %+v", m.method.Name(), err, r)
		}
	}
}

// TestInterrupt cancels from an observer: nothing is stepped after it, and what
// has been reached comes back with its trace.
func TestInterrupt(t *testing.T) {
	cause := errors.New("interrupt")
	for _, m := range methods {
		ctx, cancel := context.WithCancelCause(context.Background())
		seen, at := 0, 0
		watch := func(it *Iterate, pt *Point) {
			if seen++; seen == 4 {
				at = it.Iteration
				cancel(cause)
			}
			if it.Alpha == nil || pt.Iteration != it.Iteration {
				t.Errorf("%s: the observer sees iterate %d with point %d", m.method.Name(), it.Iteration, pt.Iteration)
			}
		}
		p := ringProblem(10)
		r, err := Solve(ctx, p, m.method, Settings{Stop: UpLow{1e-12}, Observers: []Observer{watch}})
		if !errors.Is(err, cause) || r == nil || r.Status != Interrupted {
			t.Fatalf("%s: %v", m.method.Name(), err)
		}
		if r.Iterations != at || len(r.Trace.Points) != 4 || seen != 4 {
			t.Errorf("%s: cancelled at iteration %d, ended at %d with %d points", m.method.Name(), at, r.Iterations, len(r.Trace.Points))
		}
		if c := r.Certificate; c.Claimed || !toy.Near(c.Dual, plainDual(p, r.Alpha), 1e-12) || !(c.Gap > 0) {
			t.Errorf("%s: %+v", m.method.Name(), c)
		}
		checkTrace(t, p, r, m.jumps)
	}
}

// slow is a matrix whose rows take their time, as those of a large problem do.
type slow struct {
	*toy.Gram
	wait *time.Duration
}

func (m slow) Row(i int) []float64 {
	time.Sleep(*m.wait)
	return m.Gram.Row(i)
}

// TestInterruptDoesNotWaitForRows: when the rows of all support vectors take too
// long, the certificate of an interrupted run rests on the F of the method, and
// says so.
func TestInterruptDoesNotWaitForRows(t *testing.T) {
	t.Parallel() // it sleeps
	for _, m := range methods {
		p := blobs(60, 0.3, toy.RBF(1), 10)
		k, wait := p.K.(*toy.Gram), time.Duration(0)
		p.K = slow{k, &wait}
		ctx, cancel := context.WithCancel(context.Background())
		rows, at := 0, -1
		watch := func(it *Iterate, pt *Point) {
			if at < 0 && pt.Free+pt.Bound >= 20 {
				rows, wait, at = k.Rows, 20*time.Millisecond, it.Iteration
				cancel()
			}
		}
		r, err := Solve(ctx, p, m.method, Settings{Stop: UpLow{1e-12}, Observers: []Observer{watch}})
		wait = 0
		if !errors.Is(err, context.Canceled) || r.Iterations != at {
			t.Fatalf("%s: %v after %d iterations", m.method.Name(), err, r.Iterations)
		}
		vectors := r.Certificate.Free + r.Certificate.AtUpper
		if read := k.Rows - rows; read > 16 || read >= vectors || !r.Certificate.Claimed {
			t.Errorf("%s: %d rows were read after the interrupt, of %d; %+v", m.method.Name(), read, vectors, r.Certificate)
		}
		if !toy.Near(r.Certificate.Dual, plainDual(p, r.Alpha), 1e-10) {
			t.Errorf("%s: the claim is W = %.12g, and it is %.12g", m.method.Name(), r.Certificate.Dual, plainDual(p, r.Alpha))
		}
	}
}

// stuck is a method whose step ends with ctx and not before.
type stuck struct{ fail error }

func (stuck) Name() string { return "stuck" }
func (m stuck) Start(_ *Problem, alpha []float64) (Stepper, error) {
	return &stuckRun{m.fail, alpha}, nil
}

type stuckRun struct {
	fail  error
	alpha []float64
}

func (s *stuckRun) Step(ctx context.Context) (bool, error) {
	if s.fail != nil {
		return false, s.fail
	}
	<-ctx.Done()
	return false, ctx.Err()
}

func (s *stuckRun) Report(it *Iterate) { it.Alpha = s.alpha }

// TestStepEndsWithContext: a step that gives up is not counted, and the result is
// as partial as any; a step that fails for its own reasons is an error.
func TestStepEndsWithContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer cancel()
	r, err := Solve(ctx, ringProblem(1), stuck{}, Settings{})
	if !errors.Is(err, context.DeadlineExceeded) || r == nil || r.Status != Interrupted || r.Iterations != 0 {
		t.Errorf("%v, %+v", err, r)
	}
	broken := errors.New("broken")
	if r, err := Solve(context.Background(), ringProblem(1), stuck{broken}, Settings{}); !errors.Is(err, broken) || r != nil || !strings.Contains(fmt.Sprint(err), "stuck: iteration 0") {
		t.Errorf("%v, %+v", err, r)
	}
}

// TestNoPanic throws extreme and odd numbers at every method.
func TestNoPanic(t *testing.T) {
	rng := toy.Rand(1)
	odd := []float64{0, 1, -1, 1e100, -1e100, 1e-300, 1e-100, 1e50, 5e-324}
	for range 300 {
		n := 1 + rng.IntN(5)
		k := make([][]float64, n)
		for i := range k {
			k[i] = make([]float64, n)
			for j := range i + 1 {
				v := odd[rng.IntN(len(odd))]
				k[i][j], k[j][i] = v, v
			}
		}
		p := SoftMargin(toy.MatrixOf(k), make([]float64, n), make([]float64, n))
		for i := range n {
			p.S[i] = float64(2*rng.IntN(2) - 1)
			p.Upper[i] = max(0, odd[rng.IntN(len(odd))])
			if rng.IntN(4) == 0 {
				p.Upper[i] = math.Inf(1)
			}
		}
		for _, m := range methods {
			_, _ = Solve(context.Background(), p, m.method, Settings{MaxIterations: 50_000})
		}
	}
}

func TestProblemError(t *testing.T) {
	for _, c := range []struct {
		err  ProblemError
		want string
	}{
		{ProblemError{"Upper", 3, -1, "must be at least Lower[3] = 0"}, "solvers: Upper[3] = -1: must be at least Lower[3] = 0"},
		{ProblemError{"S", -1, 0, "has 2 entries"}, "solvers: S: has 2 entries"},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
