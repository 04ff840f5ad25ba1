// Package stream trains, certifies and applies two-class machines on data that are larger than
// the memory. It reads them in passes, a block of rows at a time:
//
//	source, err := datasets.OpenRows("points.rows")
//	fit := stream.Classify(source).Kernel(kernels.RBF(0.01)).Nystroem(500).C(1).MustFit()
//	gap, err := fit.Sampled(ctx, 4000) // how far the exact machine may be better
//
// A source is a file of rows ([datasets.OpenRows]), CSV ([datasets.OpenCSV]), LIBSVM's format
// ([datasets.OpenLIBSVM]), Parquet (package datasets/arrow), a *[datasets.Dataset], or a type of
// your own. The memory of a fit depends on the number of landmarks, not on that of the points.
package stream

import (
	"fmt"
	"math"
	"runtime/debug"
	"strings"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// Classifier describes a two-class machine on the rows of a source. Like [svmnb.Classifier] it
// is a value: every method returns a changed copy, and Fit reports wrong arguments together.
//
// [svmnb.Classifier]: https://pkg.go.dev/github.com/svmnb/svmnb/svmnb#Classifier
type Classifier struct {
	source   datasets.Source
	kernel   kernels.Kernel
	form     form
	columns  int // landmarks, or random features
	seed     uint64
	c        float64
	squared  bool
	balanced bool
	scaled   bool
	gap      float64
	passes   int
	memory   int64
	watch    func(Progress)
	faults   arguments.Faults
}

// form says which features stand for the kernel.
type form int

const (
	unset form = iota
	nystroem
	fourier
)

// Classify starts the description of a classifier for a source with exactly two targets; the
// larger target is the positive class. The defaults are the 1-norm soft margin with C = 1, and
// the linear kernel. Another kernel needs [Classifier.Nystroem] or [Classifier.RandomFeatures],
// since the exact machine needs kernel values of all pairs of points.
func Classify(source datasets.Source) Classifier { return Classifier{source: source, c: 1} }

// Kernel sets the kernel.
func (c Classifier) Kernel(k kernels.Kernel) Classifier { c.kernel = k; return c }

// C sets the cost of margin errors, in (0, ∞), as svmnb.Classifier.C does.
func (c Classifier) C(cost float64) Classifier {
	c.c = cost
	c.faults.Said("C", arguments.WrongIf(!(cost > 0) || math.IsInf(cost, 1), "C", cost, "C is %v; it must be a positive number", cost))
	return c
}

// TwoNorm chooses the 2-norm soft margin: a slack ξ costs (C/2) ξ².
func (c Classifier) TwoNorm() Classifier { c.squared = true; return c }

// Balanced multiplies C for the points of each class by n/(2 n_c), as svmnb.Classifier.Balanced
// does.
func (c Classifier) Balanced() Classifier { c.balanced = true; return c }

// Standardise subtracts the mean of each feature and divides by its standard deviation. Both are
// computed in the first pass. The kernel and predictions are for the standardised points;
// predictions take points as they were measured.
func (c Classifier) Standardise() Classifier { c.scaled = true; return c }

// Nystroem approximates the kernel by its values with m landmarks, m rows drawn without
// replacement (Williams and Seeger 2001). It reaches the machine f(x) = Σ_j β_j K(z_j, x) + b
// over the landmarks z_j with the smallest objective of the exact machine. A pass takes O(n m)
// kernel values. The default of the kernel is RBF(1/(d·Var X)).
func (c Classifier) Nystroem(m int) Classifier { return c.approximately("Nystroem", nystroem, m) }

// RandomFeatures approximates a stationary kernel by m random Fourier features (Rahimi and
// Recht 2007; [kernels.Frequencies]): cosines and sines of m/2 frequencies. The default of the
// kernel is RBF(1/(d·Var X)).
func (c Classifier) RandomFeatures(m int) Classifier {
	return c.approximately("RandomFeatures", fourier, m)
}

// mostColumns limits the matrices of m × m numbers.
const mostColumns = 4000

func (c Classifier) approximately(call string, f form, m int) Classifier {
	c.form, c.columns = f, m
	c.faults.Said("features", arguments.WrongIf(m < 2 || m > mostColumns || f == fourier && m%2 == 1, call, float64(m), "m is %d; it must be from 2 to %d, and even for random features", m, mostColumns))
	return c
}

// Seed chooses the landmarks or frequencies, and the sample that a fit starts from. The default
// is 0.
func (c Classifier) Seed(seed uint64) Classifier { c.seed = seed; return c }

// Gap stops the fit when the duality gap is at most this share of the objective; the default is
// 1e-3. It is the gap to the optimum on the features. That to the optimum of the exact kernel
// is [Fit.Bound], [Fit.Sampled] or [Fit.Blocked].
func (c Classifier) Gap(share float64) Classifier {
	c.gap = share
	c.faults.Said("Gap", arguments.WrongIf(!(share > 0 && share < 1), "Gap", share, "the gap is %v; it is a share of the objective, in (0, 1)", share))
	return c
}

// MaxPasses stops the fit after n passes over the source; the default is 1000. Five to ten are
// usual.
func (c Classifier) MaxPasses(n int) Classifier {
	c.passes = n
	c.faults.Said("MaxPasses", arguments.WrongIf(n < 1, "MaxPasses", float64(n), "the limit is %d; it must be at least 1", n))
	return c
}

// Memory sets the bytes that a fit may take. The default is Go's memory limit (GOMEMLIMIT) if
// there is one, and otherwise 1 GiB. A fit that needs more is a *[MemoryError].
func (c Classifier) Memory(bytes int64) Classifier {
	c.memory = bytes
	c.faults.Said("Memory", arguments.WrongIf(bytes < 1, "Memory", float64(bytes), "the budget is %d bytes; it must be positive", bytes))
	return c
}

// Watch calls f a few times a second while the fit runs, from the goroutine of Fit. A notebook
// shows the progress of MustFit without it.
func (c Classifier) Watch(f func(Progress)) Classifier { c.watch = f; return c }

// String returns the Go expression of the description.
func (c Classifier) String() string {
	var s strings.Builder
	name := "nil"
	if c.source != nil {
		name = c.source.Head().Name
	}
	fmt.Fprintf(&s, "Classify(%s)", name)
	if c.scaled {
		s.WriteString(".Standardise()")
	}
	if c.kernel != nil {
		fmt.Fprintf(&s, ".Kernel(%s)", c.kernel)
	}
	switch c.form {
	case nystroem:
		fmt.Fprintf(&s, ".Nystroem(%d)", c.columns)
	case fourier:
		fmt.Fprintf(&s, ".RandomFeatures(%d)", c.columns)
	}
	if c.squared {
		s.WriteString(".TwoNorm()")
	}
	fmt.Fprintf(&s, ".C(%s)", say.Number(c.c))
	if c.balanced {
		s.WriteString(".Balanced()")
	}
	if c.seed != 0 {
		fmt.Fprintf(&s, ".Seed(%d)", c.seed)
	}
	if c.gap != 0 {
		fmt.Fprintf(&s, ".Gap(%s)", say.Number(c.gap))
	}
	if c.passes != 0 {
		fmt.Fprintf(&s, ".MaxPasses(%d)", c.passes)
	}
	if c.memory != 0 {
		fmt.Fprintf(&s, ".Memory(%d)", c.memory)
	}
	return s.String()
}

// budget returns the bytes that a fit may take.
func (c *Classifier) budget() int64 {
	if c.memory > 0 {
		return c.memory
	}
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 {
		return limit
	}
	return 1 << 30
}

// MemoryError says that a method needs more memory than its budget.
type MemoryError struct {
	Call   string // what needs the memory
	Needs  int64  // bytes
	Budget int64  // bytes
	Advice string // what to do
}

func (e *MemoryError) Error() string {
	return fmt.Sprintf("svmnb: %s needs %s of memory, the budget is %s; %s", e.Call, bytesText(e.Needs), bytesText(e.Budget), e.Advice)
}

func bytesText(n int64) string {
	switch v := float64(n); {
	case v >= 1<<30:
		return fmt.Sprintf("%.3g GiB", v/(1<<30))
	case v >= 1<<20:
		return fmt.Sprintf("%.3g MiB", v/(1<<20))
	}
	return fmt.Sprintf("%d bytes", n)
}

// Progress is the state of a fit or certificate while it runs.
type Progress struct {
	Doing   string        // what the pass is for
	Pass    int           // passes over the source so far, with this one
	Row, N  int           // rows of this pass so far, and of the source
	RelGap  float64       // gap as a share of the objective after the last pass; NaN before
	Elapsed time.Duration // since the start
	Left    time.Duration // forecast for this pass
}

// String is one line.
func (p Progress) String() string {
	s := fmt.Sprintf("%s: pass %d, %s of %s rows", p.Doing, p.Pass, say.Thousands(int64(p.Row)), say.Thousands(int64(p.N)))
	if p.RelGap == p.RelGap {
		s += fmt.Sprintf(", gap %s", say.Percent(p.RelGap))
	}
	return s + fmt.Sprintf(", %s, this pass ends in about %s", say.Spell(p.Elapsed), say.Spell(p.Left))
}
