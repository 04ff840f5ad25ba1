package svmnb_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/gp"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"github.com/svmnb/svmnb/svmnb/metrics"
	"github.com/svmnb/svmnb/svmnb/play"
	"github.com/svmnb/svmnb/svmnb/selection"
	"github.com/svmnb/svmnb/svmnb/transform"
)

var errButton = errors.New("the interrupt button")

// lookedAt is a context that ends when it is looked at for the given time: an interrupt
// at a moment that no clock decides.
type lookedAt struct {
	context.Context
	end   context.CancelCauseFunc
	looks atomic.Int64
	at    int64 // 0: never
}

func newLookedAt(at int64) *lookedAt {
	ctx, end := context.WithCancelCause(context.Background())
	return &lookedAt{Context: ctx, end: end, at: at}
}

func (c *lookedAt) Err() error {
	if c.looks.Add(1) == c.at {
		c.end(errButton)
	}
	return c.Context.Err()
}

// pressing is a kernel that ends a run at one of its values.
type pressing struct {
	of    kernels.GaussianKernel
	press *press
}

type press struct {
	values atomic.Int64
	at     int64
	end    context.CancelCauseFunc
}

func (k pressing) count() {
	if k.press.values.Add(1) == k.press.at {
		k.press.end(errButton)
	}
}
func (k pressing) Eval(x, z []float64) float64 { k.count(); return k.of.Eval(x, z) }
func (k pressing) Check() error                { return k.of.Check() }
func (pressing) String() string                { return "pressing" }

// heldToItsCertificate holds a machine, however it ended, to its own certificate: α within its box
// and on its plane, and the dual and the gap those of α.
func heldToItsCertificate(t *testing.T, what string, f *svmnb.Fit) {
	t.Helper()
	p := f.Problem()
	for i, a := range f.Alpha {
		if !(a >= p.Lower[i] && a <= p.Upper[i]) {
			t.Fatalf("%s: α[%d] = %v is outside of its box", what, i, a)
		}
	}
	c := solvers.Certify(p, f.Alpha)
	if scale := 1 + math.Abs(c.Dual); math.Abs(c.Dual-f.Certificate.Dual) > 1e-6*scale || c.Gap > f.Certificate.Gap+1e-4*(1+math.Abs(c.Primal)) {
		t.Fatalf("%s: dual %v and gap %v, certified %v and %v", what, f.Certificate.Dual, f.Certificate.Gap, c.Dual, c.Gap)
	}
	if f.Status == solvers.Converged && c.RelGap > 0.1 {
		t.Fatalf("%s: converged with a gap of %v", what, c.RelGap)
	}
}

// equalScores are scores of which those that are known are the same.
func equalScores(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for k, v := range got {
		if !math.IsNaN(v) && v != want[k] {
			t.Fatalf("%s: score %d is %v, uninterrupted %v", what, k, v, want[k])
		}
	}
}

// waiting presses the button when it is asked about a point, and comes back when the test is
// over. It is a step, and by waitingKernel a kernel.
type waiting struct {
	at   []float64 // nil: about training points
	end  context.CancelCauseFunc
	over chan struct{}
}

func (s *waiting) ask(x []float64) {
	if slices.Equal(x, s.at) {
		s.end(errButton)
		<-s.over
	}
}

func (s *waiting) String() string { return "waiting" }

func (s *waiting) Fit(*datasets.Dataset) (transform.Transform, error) { s.ask(nil); return s, nil }

func (s *waiting) Apply(x [][]float64) ([][]float64, error) {
	for _, row := range x {
		s.ask(row)
	}
	return x, nil
}

type waitingKernel struct{ *waiting }

func (k waitingKernel) Check() error { return nil }
func (k waitingKernel) Eval(x, z []float64) float64 {
	k.waiting.ask(x)
	k.waiting.ask(z)
	return kernels.RBF(1).Eval(x, z)
}

// An interrupt does not wait for a step, nor for predictions of what is held out: neither
// looks at the context.
func TestInterruptDoesNotWait(t *testing.T) {
	data := testkit.Moons()
	folds := selection.KFold(3, 1)
	splits, err := folds.Splits(data)
	if err != nil {
		t.Fatal(err)
	}
	held := data.X[splits[0].Test[0]]
	for name, c := range map[string]struct {
		at []float64
		do func(ctx context.Context, s *waiting) error
	}{
		"Fit of a step": {nil, func(ctx context.Context, s *waiting) error {
			_, err := selection.Pipe(transform.Standardise(), s, svmnb.Classify(data)).Fit(ctx)
			return err
		}},
		"Apply of a step": {data.X[0], func(ctx context.Context, s *waiting) error {
			_, err := selection.Pipe(s, svmnb.Classify(data)).Fit(ctx)
			return err
		}},
		"Apply to what is held out": {held, func(ctx context.Context, s *waiting) error {
			_, err := selection.CrossValidate(ctx, selection.Pipe(s, svmnb.Classify(data)), folds)
			return err
		}},
		"CrossValidate": {held, func(ctx context.Context, s *waiting) error {
			_, err := selection.CrossValidate(ctx, svmnb.Classify(data).Kernel(waitingKernel{s}), folds)
			return err
		}},
		"LearningCurve": {held, func(ctx context.Context, s *waiting) error {
			_, err := selection.LearningCurve(ctx, svmnb.Classify(data).Kernel(waitingKernel{s}), folds, 20, 30)
			return err
		}},
	} {
		synctest.Test(t, func(t *testing.T) { // which sees when everybody waits
			ctx, end := context.WithCancelCause(context.Background())
			s := &waiting{c.at, end, make(chan struct{})}
			defer close(s.over)
			if err := c.do(ctx, s); !errors.Is(err, errButton) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// Long calls are ended at random moments, counted by looks at the context or by kernel
// values. What comes back is valid for what it is and part of the uninterrupted answer,
// the error wraps the cause, and doing it again gives that answer. SVMNB_INTERRUPTS says
// how often each call is ended; the default is 40.
func TestInterruptsAtRandomMoments(t *testing.T) {
	iris, moons := testkit.Third(datasets.Iris()), datasets.Moons(60, 0.3, 1)
	number := datasets.Sinc(60, 0.2, 1)
	base := func(k kernels.Kernel) svmnb.Classifier { return svmnb.Classify(iris).Kernel(k).C(5) }
	file := filepath.Join(t.TempDir(), "search")
	folds := selection.KFold(4, 1)
	grid := selection.Grid{"C": {0.5, 5, 50}}

	// Each returns what it is called, a check of what came back, whether there was
	// something, and the error.
	type call func(ctx context.Context, k kernels.Kernel) (check func(t *testing.T, what string), some bool, err error)
	whole := map[string]any{}
	remember := func(name string, v any) any {
		if _, known := whole[name]; !known {
			whole[name] = v
		}
		return whole[name]
	}
	nothing := func(*testing.T, string) {}
	multi := func(name string, scheme func(svmnb.Classifier) svmnb.MultiClassifier) call {
		return func(ctx context.Context, k kernels.Kernel) (func(*testing.T, string), bool, error) {
			f, err := scheme(base(k)).Fit(ctx)
			if f == nil {
				return nothing, false, err
			}
			if err == nil {
				full := remember(name, f).(*svmnb.MultiFit)
				return func(t *testing.T, what string) {
					if f.Certificate().Dual != full.Certificate().Dual {
						t.Fatalf("%s: dual %v, before %v", what, f.Certificate().Dual, full.Certificate().Dual)
					}
				}, true, nil
			}
			return func(t *testing.T, what string) {
				for _, m := range f.Machines() {
					heldToItsCertificate(t, what, m)
				}
				if _, err := f.Predict(datasets.Rows(iris.X)); err != nil || f.Certificate().Gap < 0 || f.Status() == solvers.Converged && f.Joint() != nil {
					t.Fatalf("%s: %v, %v", what, f.Status(), err)
				}
			}, true, err
		}
	}
	calls := map[string]call{
		"one against one":  multi("one against one", svmnb.Classifier.OneVsOne),
		"against the rest": multi("against the rest", svmnb.Classifier.OneVsRest),
		"Crammer–Singer":   multi("Crammer–Singer", svmnb.Classifier.CrammerSinger),
		"pipeline": func(ctx context.Context, k kernels.Kernel) (func(*testing.T, string), bool, error) {
			f, err := selection.Pipe(transform.Standardise(), transform.PCA(2), svmnb.Classify(moons).Kernel(k).C(5)).Fit(ctx)
			if f == nil {
				return nothing, false, err
			}
			return func(t *testing.T, what string) {
				heldToItsCertificate(t, what, f.Fit().(*svmnb.Fit))
				if _, err := f.Predict(datasets.Rows(moons.X)); err != nil {
					t.Fatal(what, err)
				}
			}, true, err
		},
		"regression in a pipeline": func(ctx context.Context, k kernels.Kernel) (func(*testing.T, string), bool, error) {
			f, err := selection.Pipe(transform.MinMax(), svmnb.Regress(number).Kernel(k).C(10)).Fit(ctx)
			if f == nil {
				return nothing, false, err
			}
			return func(t *testing.T, what string) {
				r := f.Fit().(*svmnb.RegressionFit)
				if c := solvers.Certify(r.Problem(), r.Alpha); math.Abs(c.Dual-r.Certificate.Dual) > 1e-6*(1+math.Abs(c.Dual)) {
					t.Fatalf("%s: dual %v, certified %v", what, r.Certificate.Dual, c.Dual)
				}
			}, true, err
		},
		"Calibrate": func(ctx context.Context, k kernels.Kernel) (func(*testing.T, string), bool, error) {
			fit, err := svmnb.Classify(moons).Kernel(k).C(5).Fit(context.Background())
			if err != nil {
				return nothing, false, err
			}
			c, err := fit.Calibrate(ctx, svmnb.Platt{Folds: 8})
			if c == nil {
				return nothing, false, err
			}
			if err == nil {
				full := remember("Calibrate", c).(*svmnb.Calibrated)
				return func(t *testing.T, what string) {
					if !slices.Equal(c.Sigmoids(), full.Sigmoids()) {
						t.Fatalf("%s: %v, before %v", what, c.Sigmoids(), full.Sigmoids())
					}
				}, true, nil
			}
			return func(t *testing.T, what string) {
				p, err := c.Probabilities(datasets.Rows(moons.X))
				if err != nil {
					t.Fatal(what, err)
				}
				for _, row := range p {
					if math.Abs(row[0]+row[1]-1) > 1e-12 || !(row[0] >= 0 && row[1] >= 0) {
						t.Fatal(what, row)
					}
				}
				h := c.HeldOut()
				if n := len(h.Truth); n == 0 || n >= moons.N() || len(h.Predicted) != n || len(h.Probabilities) != n {
					t.Fatalf("%s: %d, %d and %d points held out", what, len(h.Truth), len(h.Predicted), len(h.Probabilities))
				}
			}, true, err
		},
		"Calibrate of many": func(ctx context.Context, k kernels.Kernel) (func(*testing.T, string), bool, error) {
			fit, err := base(k).OneVsOne().Fit(context.Background())
			if err != nil {
				return nothing, false, err
			}
			c, err := fit.Calibrate(ctx, svmnb.Isotonic{Folds: 5})
			if c == nil {
				return nothing, false, err
			}
			return func(t *testing.T, what string) {
				if p, err := c.Probabilities(datasets.Rows(iris.X)); err != nil || len(c.Model().Inside().Curves) != 3 || math.Abs(p[0][0]+p[0][1]+p[0][2]-1) > 1e-9 {
					t.Fatal(what, p, err)
				}
			}, true, err
		},
		"Path": func(ctx context.Context, k kernels.Kernel) (func(*testing.T, string), bool, error) {
			p, err := svmnb.Classify(moons).Kernel(k).Path(ctx, 0.1, 10)
			if p == nil {
				return nothing, false, err
			}
			if err == nil {
				remember("Path", p)
			}
			full, _ := whole["Path"].(*svmnb.RegularisationPath)
			return func(t *testing.T, what string) {
				for i, b := range p.Breaks {
					last := i == len(p.Breaks)-1 // of ties the last word counts
					if f := full.Breaks[i]; i > 0 && !(b.C > p.Breaks[i-1].C) || !last && (b.C != f.C || b.Bias != f.Bias || !slices.Equal(b.Alpha, f.Alpha)) {
						t.Fatalf("%s: break %d is at %v, uninterrupted %v", what, i, b.C, f.C)
					}
				}
				at, err := p.At(p.Breaks[len(p.Breaks)-1].C)
				if err != nil || at.Certificate.RelGap > 1e-6 {
					t.Fatalf("%s: the path ends at a gap of %v, %v", what, at.Certificate.RelGap, err)
				}
			}, true, err
		},
		"Optimise": func(ctx context.Context, k kernels.Kernel) (func(*testing.T, string), bool, error) {
			f, err := gp.Regress(number).Kernel(k).NoiseVariance(0.5).Optimise().Restarts(2, 1).Fit(ctx)
			if f == nil {
				return nothing, false, err
			}
			if err == nil {
				remember("Optimise", f)
			}
			full, _ := whole["Optimise"].(*gp.Fit)
			return func(t *testing.T, what string) {
				if p, err := f.Posterior(context.Background(), datasets.Rows(number.X[:3])); err != nil || len(p.Mean) != 3 {
					t.Fatal(what, p, err)
				}
				if f.Optimisation == nil && err != nil {
					return // it ended at the start, of which this is the fit
				}
				best, end := f.Optimisation.End(), full.Optimisation.End()
				if err == nil && best.Evidence != end.Evidence || !(best.Evidence <= end.Evidence) {
					t.Fatalf("%s: evidence %v, uninterrupted %v", what, best.Evidence, end.Evidence)
				}
				for i, a := range f.Optimisation.Ascents {
					for j, p := range a.Path {
						if q := full.Optimisation.Ascents[i].Path[j]; p.Evidence != q.Evidence || !slices.Equal(p.Values, q.Values) {
							t.Fatalf("%s: ascent %d, point %d is %v, uninterrupted %v", what, i, j, p, q)
						}
						if p.Evidence > best.Evidence {
							t.Fatalf("%s: the best evidence is %v, and point %d of ascent %d has %v", what, best.Evidence, j, i, p.Evidence)
						}
					}
				}
			}, true, err
		},
		"Search": func(ctx context.Context, k kernels.Kernel) (func(*testing.T, string), bool, error) {
			f, err := selection.Search(svmnb.Classify(moons).Kernel(k), grid, folds).Workers(2).Fit(ctx)
			if f == nil {
				return nothing, false, err
			}
			if err == nil {
				remember("Search", f)
			}
			full := whole["Search"].(*selection.SearchFit)
			return func(t *testing.T, what string) {
				for i, trial := range f.Trials {
					if equalScores(t, what, trial.Scores, full.Trials[i].Scores); trial.Err != "" {
						t.Fatalf("%s: an interrupt is no failure of a point: %s", what, trial.Err)
					}
				}
			}, true, err
		},
		"CrossValidate": func(ctx context.Context, k kernels.Kernel) (func(*testing.T, string), bool, error) {
			v, err := selection.CrossValidate(ctx, selection.Pipe(transform.Standardise(), svmnb.Classify(moons).Kernel(k)), folds)
			if v == nil {
				return nothing, false, err
			}
			if err == nil {
				remember("CrossValidate", v)
			}
			return func(t *testing.T, what string) {
				equalScores(t, what, v.Scores, whole["CrossValidate"].(*selection.Validation).Scores)
			}, true, err
		},
		"leave one out": func(ctx context.Context, k kernels.Kernel) (func(*testing.T, string), bool, error) {
			v, err := selection.CrossValidate(ctx, svmnb.Regress(number).Kernel(k), selection.LeaveOneOutFolds())
			if v == nil {
				return nothing, false, err
			}
			if err == nil {
				remember("leave one out", v)
			}
			return func(t *testing.T, what string) {
				equalScores(t, what, v.Scores, whole["leave one out"].(*selection.Validation).Scores)
			}, true, err
		},
		"ValidationCurve": func(ctx context.Context, k kernels.Kernel) (func(*testing.T, string), bool, error) {
			c, err := selection.ValidationCurve(ctx, svmnb.Classify(moons).Kernel(k), folds, "C", 0.1, 1, 10)
			if c == nil {
				return nothing, false, err
			}
			if err == nil {
				remember("ValidationCurve", c)
			}
			return func(t *testing.T, what string) {
				full := whole["ValidationCurve"].(*selection.ScoreCurve)
				equalScores(t, what, slices.Concat(c.Train...), slices.Concat(full.Train...))
				equalScores(t, what, slices.Concat(c.HeldOut...), slices.Concat(full.HeldOut...))
			}, true, err
		},
		"LearningCurve": func(ctx context.Context, k kernels.Kernel) (func(*testing.T, string), bool, error) {
			c, err := selection.LearningCurve(ctx, svmnb.Classify(moons).Kernel(k), folds, 10, 20, 40)
			if c == nil {
				return nothing, false, err
			}
			if err == nil {
				remember("LearningCurve", c)
			}
			return func(t *testing.T, what string) {
				full := whole["LearningCurve"].(*selection.ScoreCurve)
				equalScores(t, what, slices.Concat(c.HeldOut...), slices.Concat(full.HeldOut...))
			}, true, err
		},
		"Race": func(ctx context.Context, k kernels.Kernel) (func(*testing.T, string), bool, error) {
			r, err := play.Racing{Limit: -1}.Run(ctx, svmnb.Classify(moons).Kernel(k).C(5), solvers.SMO{}, solvers.ConjugateSMO{}, solvers.Decomposition{})
			if r == nil {
				return nothing, false, err
			}
			return func(t *testing.T, what string) {
				if len(r.Runs) != 3 {
					t.Fatalf("%s: %d runs", what, len(r.Runs))
				}
				for _, run := range r.Runs {
					if run.Fit != nil {
						heldToItsCertificate(t, what+", "+run.Name, run.Fit)
					} else if !errors.Is(run.Err, errButton) {
						t.Fatalf("%s: %v", what, run.Err)
					}
				}
			}, true, err
		},
		"Bootstrap": func(ctx context.Context, k kernels.Kernel) (func(*testing.T, string), bool, error) {
			i, err := metrics.Bootstrap{Replicates: 60}.Of(ctx, moons.N(), func(rows []int) (float64, error) {
				return k.Eval(moons.X[rows[0]], moons.X[rows[1]]), nil
			})
			if err != nil {
				return nothing, false, err
			}
			full := remember("Bootstrap", i).(metrics.Interval)
			return func(t *testing.T, what string) {
				if i != full {
					t.Fatalf("%s: %v, before %v", what, i, full)
				}
			}, true, nil
		},
	}
	rng := rand.New(rand.NewPCG(15, 2))
	rounds := 40
	if n, err := strconv.Atoi(os.Getenv("SVMNB_INTERRUPTS")); err == nil {
		rounds = n
	}
	gauss := kernels.RBF(0.7)
	ended, partial, early, parts := 0, 0, map[string]int{}, map[string]int{}
	for name, do := range calls {
		looking := newLookedAt(0)
		counter := &press{end: func(error) {}}
		check, some, err := do(looking, pressing{gauss, counter})
		if err != nil || !some {
			t.Fatalf("%s: %v", name, err)
		}
		check(t, name)
		looks, values := looking.looks.Load(), counter.values.Load()
		if values == 0 {
			t.Fatalf("%s: %d looks at the context, %d kernel values", name, looks, values)
		}
		for round := range rounds {
			ctx := newLookedAt(0)
			p := &press{end: ctx.end}
			what := name
			if round%2 == 0 && looks > 0 { // contexts made from it look at themselves
				ctx.at = 1 + rng.Int64N(looks)
			} else {
				p.at = 1 + rng.Int64N(values)
			}
			check, some, err := do(ctx, pressing{gauss, p})
			if err == nil {
				if !some {
					t.Fatalf("%s: nothing, and no error", what)
				}
				check(t, what) // it was over before it looked
				continue
			}
			ended++
			early[name]++
			if !errors.Is(err, errButton) {
				t.Fatalf("%s: %v does not wrap the cause", what, err)
			}
			if some {
				partial++
				parts[name]++
				check(t, what)
			}
		}
		if parts[name] == 0 && name != "Bootstrap" { // whose interval is that of all draws
			t.Errorf("%s: nothing came back from %d interrupts", name, early[name])
		}
		check, _, err = do(newLookedAt(0), pressing{gauss, &press{end: func(error) {}}})
		if err != nil {
			t.Fatal(err)
		}
		check(t, name+", again")
	}
	t.Logf("%d calls ended early, %d with something: of %v with something %v", ended, partial, early, parts)
	if min(ended, partial) < len(calls)*rounds/2 {
		t.Errorf("%d calls ended early, %d with something", ended, partial)
	}

	// A search with a file goes on where each interrupt has left it.
	last := 0
	for round := 0; ; round++ {
		ctx, end := context.WithCancelCause(context.Background())
		f, err := selection.Search(svmnb.Classify(moons), grid, folds).File(file).Workers(1).Watch(func(p selection.SearchProgress) {
			if p.Done-p.Known == 1+round%3 {
				end(errButton)
			}
		}).Fit(ctx)
		if f == nil {
			continue
		}
		known := 0
		for _, trial := range f.Trials {
			for _, v := range trial.Scores {
				if !math.IsNaN(v) {
					known++
				}
			}
		}
		if known < last {
			t.Fatalf("of %d folds %d are left", last, known)
		}
		if last = known; err == nil {
			full, err := selection.Search(svmnb.Classify(moons), grid, folds).Fit(context.Background())
			if err != nil || f.Fitted == 12 {
				t.Fatal(f.Fitted, err)
			}
			for i, trial := range f.Trials {
				equalScores(t, "file", trial.Scores, full.Trials[i].Scores)
			}
			break
		}
		if round > 500 {
			t.Fatal("the search does not end")
		}
	}
}
