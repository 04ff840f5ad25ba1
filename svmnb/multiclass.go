package svmnb

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/parallel"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/solvers/fastest"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/cells"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/screen"
)

// MultiClassifier describes how a machine for two classes is made one for k ≥ 2:
// a [Classifier] with a last word, [Classifier.OneVsOne], [Classifier.OneVsRest]
// or [Classifier.CrammerSinger]. It is a value that can be stored and compared.
type MultiClassifier struct {
	base   Classifier
	scheme machines.Scheme
}

// OneVsOne learns a machine for each of the k(k−1)/2 pairs of classes. Each casts
// a vote, and the class with the most votes wins; of equal ones the first, in the
// order of the targets (Knerr et al. 1990; LIBSVM). All machines have the words of
// c, and its kernel for all data; every class weight multiplies C in every machine
// where the class takes part. ν has to suit each pair.
func (c Classifier) OneVsOne() MultiClassifier { return MultiClassifier{c, machines.OneVsOne} }

// OneVsRest learns k machines, each class against all other points, and takes the
// class with the largest f; of equal ones the first. The machines share one
// matrix of the kernel where it fits in the memory.
func (c Classifier) OneVsRest() MultiClassifier { return MultiClassifier{c, machines.OneVsRest} }

// CrammerSinger learns one machine for all classes, whose w_k·x is largest for
// the class of x (Crammer and Singer 2001; see [solvers.CrammerSinger]). It has a
// method of its own, the 1-norm margin, and a bias by K + 1 unless Augment or
// FixedBias(0) say otherwise, as LIBLINEAR with -B 1.
func (c Classifier) CrammerSinger() MultiClassifier {
	return MultiClassifier{c, machines.CrammerSinger}
}

// String gives the chain back.
func (m MultiClassifier) String() string {
	return m.base.String() + [...]string{".OneVsOne()", ".OneVsRest()", ".CrammerSinger()"}[m.scheme]
}

// Fit learns all machines, as many at a time as there are processors; Memory
// bounds what they take together. All errors of the description come back joined,
// those of a machine with its classes. When ctx ends early, Fit returns what
// there is with an error that wraps context.Cause(ctx).
func (m MultiClassifier) Fit(ctx context.Context) (_ *MultiFit, err error) {
	defer guard.Caught(&err)
	if err := arguments.Given(ctx, "Fit"); err != nil {
		return nil, err
	}
	t, err := m.prepare()
	if err != nil {
		return nil, err
	}
	return t.solve(ctx, false)
}

// Live shows the machines in one display while they run, with how many are done; see
// [Classifier.Live].
func (m MultiClassifier) Live() MultiClassifier { m.base.live = true; return m }

// words are what Live says of a run.
func (t *multiTask) words() string {
	return fmt.Sprintf("%s · %s · %v", t.base.data.Name, say.Brief(t.base.kernel.String()), t.scheme)
}

// boundary is left to the picture of the regions: while machines run, each knows its own
// classes only.
func (t *multiTask) boundary(*solvers.Result, int) *figure.Boundary { return nil }

// MustFit is Fit for a notebook cell; see [Classifier.MustFit].
func (m MultiClassifier) MustFit() *MultiFit { return m.must(false) }

// Keep is MustFit with a memory; see [Classifier.Keep]. Each machine is
// remembered by itself: after an interrupt, those that were done are not solved
// again.
func (m MultiClassifier) Keep() *MultiFit { return m.must(true) }

func (m MultiClassifier) must(kept bool) *MultiFit {
	t, err := m.prepare()
	if err != nil {
		cells.Must(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	fit, err := t.solve(ctx, kept)
	switch {
	case fit == nil:
		cells.Must(err)
	case err != nil:
		cells.Warn(fmt.Sprintf("interrupted after %v; this is the fit so far, its largest gap is %.3g", fit.Elapsed.Round(time.Millisecond), fit.Certificate().WorstGap))
	case fit.Status().Early():
		cells.Warn(fmt.Sprintf("stopped early: %v; the largest gap is %.3g", fit.Status(), fit.Certificate().WorstGap))
	}
	return fit
}

// multiTask is a MultiClassifier whose words have been checked.
type multiTask struct {
	MultiClassifier             // all defaults filled in
	classes         []string    // k names, in the order of their targets
	class           []int       // n numbers of classes
	cost            []float64   // n, relative to C; nil when all are 1
	duels           [][2]int    // of each machine: its positive and its negative class, −1 for the rest
	shared          *sharedGram // of all data; nil where each machine has its own
	joint           *solvers.CrammerSinger
}

func (m MultiClassifier) prepare() (*multiTask, error) {
	t := &multiTask{MultiClassifier: m}
	data := m.base.data
	if err := errors.Join(m.base.faults.Err(), data.Check(), m.unsuited()); err != nil {
		return nil, err
	}
	counts := data.Counts()
	for k, c := range counts {
		t.classes = append(t.classes, c.Class)
		if slices.Contains(t.classes[:k], c.Class) {
			return nil, t.classError("two targets are called %s; give each class a name of its own", c.Class)
		}
	}
	switch k := len(counts); {
	case k < 2:
		return nil, t.classError("all points are of class %s; two classes are needed at least", counts[0].Class)
	case looksReal(data):
		return nil, t.classError("there are %d different targets for %d points, which look like real values; those are for Regress", k, data.N())
	}
	for _, y := range data.Y {
		k, _ := slices.BinarySearchFunc(counts, y, func(c datasets.Count, y float64) int {
			switch {
			case c.Y < y:
				return -1
			case c.Y > y:
				return 1
			}
			return 0
		})
		t.class = append(t.class, k)
	}
	if err := t.weigh(); err != nil {
		return nil, err
	}
	if m.scheme == machines.CrammerSinger && !m.base.biasFixed() {
		t.base.augment(1)
	}
	t.base.fill()
	return t, t.plan()
}

// unsuited says what of the description the scheme has no use for.
func (m MultiClassifier) unsuited() error {
	c := m.base
	switch {
	case c.margin == oneClass:
		return arguments.Wrong("OneClass", math.NaN(), "one class has no %v; describe a classifier by Classify", m.scheme)
	case m.scheme != machines.CrammerSinger:
		return nil
	case c.margin != oneNorm:
		return arguments.Wrong("CrammerSinger", math.NaN(), "it has the 1-norm soft margin only; leave TwoNorm, HardMargin and Nu out")
	case c.method != solvers.Method(fastest.Method{}):
		return arguments.Wrong("Using", math.NaN(), "Crammer and Singer's problem has an equality for each point and a method of its own; leave out which solver to use, or say OneVsOne()")
	case c.fixed && c.b0 != 0:
		return arguments.Wrong("FixedBias", c.b0, "the same bias for every class decides nothing; say FixedBias(0) for none, or Augment")
	}
	return nil
}

// looksReal reports whether targets without names are too many for classes.
func looksReal(data *datasets.Dataset) bool {
	counts := data.Counts()
	fraction := slices.ContainsFunc(counts, func(c datasets.Count) bool { return c.Y != math.Trunc(c.Y) })
	return data.Classes == nil && len(counts) > 10 && (fraction || len(counts) > data.N()/2)
}

func (t *multiTask) classError(format string, args ...any) error {
	return &datasets.ClassError{Dataset: t.base.data.Name, Classes: t.classes, Msg: fmt.Sprintf(format, args...)}
}

// weigh turns the weights of classes and points into one for each point.
func (t *multiTask) weigh() error {
	w := t.base.weights
	if w == nil {
		return nil
	}
	t.cost = slices.Repeat([]float64{1}, len(t.class))
	for _, cw := range w.class {
		k := slices.Index(t.classes, cw.class)
		if k < 0 {
			return arguments.Wrong("ClassWeight", cw.weight, "there is no class %q; the classes are %q", cw.class, t.classes)
		}
		for i, class := range t.class {
			if class == k {
				t.cost[i] *= cw.weight
			}
		}
	}
	for i, v := range w.sample {
		t.cost[i] *= v
	}
	return nil
}

// plan lists the machines, and makes the matrices that they share.
func (t *multiTask) plan() error {
	c, k, n := t.base, len(t.classes), len(t.class)
	switch t.scheme {
	case machines.OneVsOne:
		for i := range k {
			for j := i + 1; j < k; j++ {
				t.duels = append(t.duels, [2]int{i, j})
			}
		}
	case machines.OneVsRest:
		for i := range k {
			t.duels = append(t.duels, [2]int{i, -1})
		}
		if !c.wantsFeatures() && int64(n) <= t.memory()/8/int64(n) {
			m, err := c.matrix()
			if err != nil {
				return fmt.Errorf("svmnb: %w", err)
			}
			t.shared = &sharedGram{gram: m.(*kernels.Gram)}
		}
	case machines.CrammerSinger:
		if c.kernel == kernels.Kernel(kernels.Linear()) {
			c.method = solvers.CoordinateDescent{} // which asks for features
		}
		m, err := c.matrix()
		if err != nil {
			return fmt.Errorf("svmnb: %w", err)
		}
		cost := slices.Repeat([]float64{c.c}, n)
		for i, v := range t.cost {
			cost[i] *= v
		}
		t.joint = &solvers.CrammerSinger{K: m, Y: t.class, Classes: k, C: cost}
	}
	return nil
}

// memory is what kernel rows may take.
func (t *multiTask) memory() int64 {
	if t.base.cache == 0 {
		return kernels.DefaultCache
	}
	return t.base.cache
}

// machine describes the machine of a duel; rows are its points in the data.
func (t *multiTask) machine(duel [2]int) (c Classifier, rows []int) {
	all := t.base.data
	d := &datasets.Dataset{Features: all.Features, Classes: []string{"rest", t.classes[duel[0]]}, Scalings: all.Scalings}
	if duel[1] >= 0 {
		d.Classes[0] = t.classes[duel[1]]
	}
	d.Name = all.Name + " " + d.Classes[1] + "/" + d.Classes[0]
	for i, k := range t.class {
		if k == duel[0] || k == duel[1] || duel[1] < 0 {
			y := -1.0
			if k == duel[0] {
				y = 1
			}
			rows, d.Y = append(rows, i), append(d.Y, y)
		}
	}
	own := points.Of(all)
	if len(rows) < len(t.class) {
		own = own.Some(rows)
	}
	d.X, d.Sparse = own.X, (*datasets.CSR)(own.Sparse) // points that are written out are shared
	c = t.base
	c.data, c.weights = d, nil
	if t.cost != nil {
		w := make([]float64, len(rows))
		for j, i := range rows {
			w[j] = t.cost[i]
		}
		c.weights = &weights{sample: w}
	}
	return c, rows
}

// solve learns every machine, or takes it from memory where kept.
func (t *multiTask) solve(ctx context.Context, kept bool) (*MultiFit, error) {
	began := time.Now()
	if t.base.live && screen.Watchable() {
		t.base.stage = &stage{Screen: screen.New(), total: max(1, len(t.duels))}
	}
	if s := t.base.stage; s != nil {
		defer func() {
			s.end()
			t.base.stage = nil
		}()
	}
	if t.scheme == machines.CrammerSinger {
		res, err := t.solveJoint(ctx, kept)
		if res == nil {
			return nil, err
		}
		return t.jointFit(res, time.Since(began)), err
	}
	workers := min(runtime.GOMAXPROCS(0), len(t.duels))
	share := max(1, t.memory()/int64(workers))
	fits, rows, errs := make([]*Fit, len(t.duels)), make([][]int, len(t.duels)), make([]error, len(t.duels))
	inner, stop := context.WithCancel(ctx)
	defer stop()
	_ = parallel.For(context.Background(), workers, len(t.duels), func(_, k int) { // who is interrupted says so
		defer func() {
			if fits[k] == nil {
				stop() // an error that no other machine can mend
			}
		}()
		defer guard.Caught(&errs[k])
		var c Classifier
		c, rows[k] = t.machine(t.duels[k])
		fits[k], errs[k] = t.duel(inner, c, share, kept)
	})
	var interrupted error
	for k, err := range errs {
		if fits[k] == nil {
			return nil, fmt.Errorf("%s: %w", t.duelName(k), err)
		}
		if err != nil && interrupted == nil {
			interrupted = fmt.Errorf("%s: %w", t.duelName(k), err)
		}
	}
	return t.fit(fits, rows, time.Since(began)), interrupted
}

// duel learns one machine with so many bytes for its rows. What it has kept of
// them is given back: a figure that wants rows has them computed again.
func (t *multiTask) duel(ctx context.Context, c Classifier, bytes int64, kept bool) (*Fit, error) {
	cache := c.cache
	c.cache = bytes
	m, err := c.prepare()
	if err != nil {
		return nil, err
	}
	if t.shared != nil {
		m.k = &askedFor{sharedGram: t.shared}
		m.problem.K = m.k
	}
	var key []byte
	var res *solvers.Result
	if kept {
		key = m.key()
		res = recall(key, len(m.y))
	}
	if res == nil {
		if res, err = m.Classifier.machine.solve(ctx, m.problem, m); res == nil {
			return nil, err
		}
		if kept {
			remember(key, res)
		}
	}
	if t.shared == nil {
		if g, ok := m.k.(*kernels.Gram); ok {
			g.Release()
		}
		m.k = &lateMatrix{n: len(m.y), make: sync.OnceValues(m.matrix)}
		m.problem.K = m.k
	}
	fit := m.fit(res)
	m.cache, fit.Description.cache = cache, cache
	m.stage, fit.Description.stage = nil, nil
	return fit, err
}

func (t *multiTask) solveJoint(ctx context.Context, kept bool) (*solvers.Result, error) {
	var key []byte
	if kept {
		class := make([]float64, len(t.class))
		for i, k := range t.class {
			class[i] = float64(k)
		}
		key = t.base.machine.key("Crammer–Singer", class, t.joint.C)
		if res := recall(key, len(t.class)*len(t.classes)); res != nil {
			return res, nil
		}
	}
	settings := solvers.Settings{Stop: t.base.stop, MaxIterations: t.base.limit, Every: t.base.every}
	var w *watch
	if t.base.stage != nil {
		w = t.base.watch(t)
		w.name = "Crammer–Singer"
		settings.Observers = []solvers.Observer{w.observe}
	}
	res, err := t.joint.Solve(ctx, settings)
	if w != nil {
		w.over(res)
	}
	if res == nil {
		return nil, fmt.Errorf("svmnb: %w", err)
	}
	if kept {
		remember(key, res)
	}
	return res, err
}

func (t *multiTask) duelName(k int) string {
	duel := t.duels[k]
	if duel[1] < 0 {
		return say.Class(t.classes[duel[0]]) + " against the rest"
	}
	return say.Class(t.classes[duel[0]]) + " against " + say.Class(t.classes[duel[1]])
}

// sharedGram is a matrix with room for all of its rows, which therefore stay
// valid, for machines that run at the same time.
type sharedGram struct {
	mu      sync.Mutex
	gram    *kernels.Gram
	centred *sharedGram // the same about the middle of the points, once asked for; see Centred
	offset  []float64
}

func (s *sharedGram) Dim() int        { return s.gram.Dim() }
func (s *sharedGram) Diag() []float64 { return s.gram.Diag() }

// askedFor is a sharedGram for one machine; it counts the values that this one
// was the first to ask for.
type askedFor struct {
	*sharedGram
	evaluations int64
	about       *askedFor // about the middle of the points, nil before that is asked for
}

func (a *askedFor) Row(i int) []float64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	before := a.gram.Evaluations()
	row := a.gram.Row(i)
	a.evaluations += a.gram.Evaluations() - before
	return row
}

func (a *askedFor) Evaluations() int64 {
	if a.about != nil {
		return a.evaluations + a.about.evaluations
	}
	return a.evaluations
}

// Centred is [kernels.Gram.Centred], which the machines share as well.
func (a *askedFor) Centred() (c interface {
	Dim() int
	Diag() []float64
	Row(i int) []float64
}, h []float64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.sharedGram.centred == nil {
		m, h := a.gram.Centred()
		g, ok := m.(*kernels.Gram)
		if !ok {
			return nil, nil
		}
		a.sharedGram.centred, a.offset = &sharedGram{gram: g}, h
	}
	a.about = &askedFor{sharedGram: a.sharedGram.centred}
	return a.about, a.offset
}

// lateMatrix is made when it is first asked for its values.
type lateMatrix struct {
	n    int
	make func() (solvers.Matrix, error)
}

func (l *lateMatrix) Dim() int            { return l.n }
func (l *lateMatrix) Diag() []float64     { return l.made().Diag() }
func (l *lateMatrix) Row(i int) []float64 { return l.made().Row(i) }

func (l *lateMatrix) made() solvers.Matrix {
	m, err := l.make()
	if err != nil {
		panic(err) // it was made once before, of the same points
	}
	return m
}
