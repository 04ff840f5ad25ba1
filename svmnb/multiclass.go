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
	"github.com/svmnb/svmnb/internal/rows"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/solvers/fastest"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/cells"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/schemes"
	"github.com/svmnb/svmnb/svmnb/internal/screen"
)

// MultiClassifier describes how k ≥ 2 classes are told apart by machines that a
// [Classifier] describes. [Classifier.OneVsOne], [Classifier.OneVsRest] and
// [Classifier.CrammerSinger] make it. It is a value that can be stored and compared.
type MultiClassifier struct {
	base   Classifier
	scheme schemes.Scheme
}

// OneVsOne trains a machine for each of the k(k−1)/2 pairs of classes. Each machine votes
// for one of its two classes, and the class with the most votes wins; of classes with equal
// votes, the first in the order of targets (Knerr et al. 1990; LIBSVM). All machines have
// the settings of c and the same kernel, whose default is computed from all data. A class
// weight multiplies C in every machine of the class. ν must be feasible for each pair.
func (c Classifier) OneVsOne() MultiClassifier { return MultiClassifier{c, schemes.OneVsOne} }

// OneVsRest trains k machines, each for one class against all other points. The class with
// the largest f wins; of equal ones the first. The machines share one kernel matrix if it
// fits into the memory.
func (c Classifier) OneVsRest() MultiClassifier { return MultiClassifier{c, schemes.OneVsRest} }

// CrammerSinger trains all classes in one problem, so that w_k·x is largest for the class k
// of x (Crammer and Singer 2001; see [solvers.CrammerSinger]). It has a solver of its own
// and the 1-norm margin only. The kernel is K + 1, which gives each class a bias, unless
// Augment or FixedBias(0) is set; LIBLINEAR does so with -B 1.
func (c Classifier) CrammerSinger() MultiClassifier {
	return MultiClassifier{c, schemes.CrammerSinger}
}

// String returns the Go expression of the description.
func (m MultiClassifier) String() string {
	return m.base.String() + [...]string{".OneVsOne()", ".OneVsRest()", ".CrammerSinger()"}[m.scheme]
}

// Fit trains all machines, as many in parallel as there are processors; Memory limits the
// kernel rows of all machines together. All errors of the description are returned
// together; errors of a machine name its classes. When ctx ends early, Fit returns the fit
// so far with an error that wraps context.Cause(ctx).
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

// Live shows the machines in one display while they run, with the number of machines that
// are done; see [Classifier.Live].
func (m MultiClassifier) Live() MultiClassifier { m.base.live = true; return m }

// words describes the problem for the subtitle of Live.
func (t *multiTask) words() string {
	return fmt.Sprintf("%s · %s · %v", t.base.data.Name, say.Brief(t.base.kernel.String()), t.scheme)
}

// boundary returns nil: a single machine does not know the regions of all classes.
func (t *multiTask) boundary(*solvers.Result, int) *figure.Boundary { return nil }

// MustFit is Fit for a notebook cell; see [Classifier.MustFit].
func (m MultiClassifier) MustFit() *MultiFit { return m.must(false) }

// Keep is MustFit with a cache on disk; see [Classifier.Keep]. Each machine is stored
// separately, so after an interrupt only the other machines are solved.
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

// multiTask is a checked MultiClassifier.
type multiTask struct {
	MultiClassifier             // all defaults filled in
	classes         []string    // k names, in the order of their targets
	class           []int       // n indices into classes
	cost            []float64   // n factors of C; nil if all are 1
	duels           [][2]int    // the positive and the negative class of each machine; −1 means all other classes
	shared          *sharedGram // the kernel matrix of all data; nil if each machine has its own
	joint           *solvers.CrammerSinger
}

func (m MultiClassifier) prepare() (*multiTask, error) {
	m.base = m.base.taking()
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
	case points.LookReal(data):
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
	if m.scheme == schemes.CrammerSinger && !m.base.biasFixed() {
		t.base.augment(1)
	}
	t.base.fill()
	if m.scheme == schemes.CrammerSinger {
		if err := t.base.bindCertain("the criterion is of machines of two classes"); err != nil {
			return nil, err
		}
	}
	return t, t.plan()
}

// unsuited returns the error of a setting that the scheme cannot use.
func (m MultiClassifier) unsuited() error {
	c := m.base
	switch {
	case c.margin.alone():
		return arguments.Wrong("OneClass", math.NaN(), "one class has no %v; describe a classifier by Classify", m.scheme)
	case m.scheme != schemes.CrammerSinger:
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

func (t *multiTask) classError(format string, args ...any) error {
	return &datasets.ClassError{Dataset: t.base.data.Name, Classes: t.classes, Msg: fmt.Sprintf(format, args...)}
}

// weigh combines the weights of classes and of points into one for each point.
func (t *multiTask) weigh() error {
	if !t.base.weighs() {
		return nil
	}
	w := t.base.weights
	if w == nil {
		w = &weights{}
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
	if t.base.balanced {
		balance(t.cost, t.class, len(t.classes))
	}
	return nil
}

// plan lists the machines and makes the matrices that they share.
func (t *multiTask) plan() error {
	c, k, n := t.base, len(t.classes), len(t.class)
	switch t.scheme {
	case schemes.OneVsOne:
		for i := range k {
			for j := i + 1; j < k; j++ {
				t.duels = append(t.duels, [2]int{i, j})
			}
		}
	case schemes.OneVsRest:
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
	case schemes.CrammerSinger:
		if c.kernel == kernels.Kernel(kernels.Linear()) {
			c.method = solvers.CoordinateDescent{} // it works with features
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

// memory returns the limit for kernel rows in bytes.
func (t *multiTask) memory() int64 {
	if t.base.cache == 0 {
		return kernels.DefaultCache
	}
	return t.base.cache
}

// machine describes the machine of a duel, and returns the rows of its points in the data.
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
	d.X, d.Sparse = own.X, (*datasets.CSR)(own.Sparse) // dense points are shared, not copied
	c = t.base
	c.data, c.weights, c.balanced = d, nil, false
	if t.cost != nil {
		w := make([]float64, len(rows))
		for j, i := range rows {
			w[j] = t.cost[i]
		}
		c.weights = &weights{sample: w}
	}
	return c, rows
}

// solve trains every machine, or loads it from the cache if kept is set.
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
	if t.scheme == schemes.CrammerSinger {
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
	_ = parallel.For(context.Background(), workers, len(t.duels), func(_, k int) { // the machines themselves react to interrupts
		defer func() {
			if fits[k] == nil {
				stop() // after an error in one machine the others are useless
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

// duel trains one machine, with so many bytes for its kernel rows. It releases the rows
// afterwards; a figure that needs some has them computed again.
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
		var at *checkpoint
		if kept {
			at = m.checkpointOf(key)
		}
		if res, err = m.Classifier.machine.solve(ctx, m.problem, m, at); res == nil {
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

// sharedGram is a kernel matrix that machines use at the same time. It has room for all
// rows, so a row stays valid when others are computed.
type sharedGram struct {
	mu      sync.Mutex
	gram    *kernels.Gram
	centred *sharedGram // the same for centred points; nil until a machine asks for it
	offset  []float64
}

func (s *sharedGram) Dim() int        { return s.gram.Dim() }
func (s *sharedGram) Diag() []float64 { return s.gram.Diag() }

func (s *sharedGram) Largest() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gram.Largest()
}

// askedFor is the view of one machine on a sharedGram. It counts the kernel values that
// this machine caused to be computed.
type askedFor struct {
	*sharedGram
	evaluations int64
	about       *askedFor // the view on the centred matrix; nil until Centred is called
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

// Centred is [kernels.Gram.Centred]; the machines share its result too.
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

// lateMatrix is a matrix that is made when its values are first needed.
type lateMatrix struct {
	n    int
	make func() (solvers.Matrix, error)
}

func (l *lateMatrix) Dim() int            { return l.n }
func (l *lateMatrix) Diag() []float64     { return l.made().Diag() }
func (l *lateMatrix) Row(i int) []float64 { return l.made().Row(i) }
func (l *lateMatrix) Largest() float64    { return rows.Largest(l.made()) }

func (l *lateMatrix) made() solvers.Matrix {
	m, err := l.make()
	if err != nil {
		panic(err) // impossible: the matrix of these points was made before
	}
	return m
}
