package svmnb

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/rows"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/solvers/fastest"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/cells"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/screen"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
)

// machine is what the descriptions of all machines have in common: the data, the kernel,
// the bias, and how the problem is solved. Its methods change it in place. The descriptions
// that embed it have value receivers, so they change a copy.
type machine struct {
	data    *datasets.Dataset
	kernel  kernels.Kernel
	fixed   bool // the bias is fixed at b0
	settled bool // kernel and bias already suit the first method; another method, as in a race, does not change them again
	b0      float64
	tau2    float64 // τ², which is added to the kernel; 0 means no augmentation
	method  solvers.Method
	stop    solvers.Criterion
	limit   int
	every   int
	cache   int64
	live    bool
	stage   *stage         // the display that several machines share, or nil
	behind  *steps.Passage // the steps of the pipeline that ends in this machine, or nil
	faults  arguments.Faults
}

func about(verb string, data *datasets.Dataset) machine {
	m := machine{data: data}
	if data == nil {
		m.data = &datasets.Dataset{}
		m.faults.Said(verb, arguments.Wrong(verb, math.NaN(), "the data set is nil; give one of package datasets or datasets.New(x, y)"))
	}
	return m
}

func (m *machine) setKernel(k kernels.Kernel) {
	m.kernel = k
	err := arguments.WrongIf(k == nil, "Kernel", math.NaN(), "the kernel is nil; give one such as kernels.RBF(0.5)")
	if k != nil && k.Check() != nil {
		err = fmt.Errorf("svmnb: Kernel: %w", k.Check())
	}
	m.faults.Said("Kernel", err)
}

func (m *machine) fixBias(b0 float64) {
	m.fixed, m.b0 = true, b0
	m.faults.Said("FixedBias", arguments.WrongIf(math.IsNaN(b0) || math.IsInf(b0, 0), "FixedBias", b0, "the bias is %v; it must be a finite number", b0))
}

func (m *machine) augment(tau2 float64) {
	m.tau2 = tau2
	m.faults.Said("Augment", arguments.WrongIf(tau2 != kernels.Radius && !(tau2 > 0 && !math.IsInf(tau2, 1)), "Augment", tau2, "τ² is %v; it must be a positive number, or kernels.Radius", tau2))
}

func (m *machine) use(method solvers.Method) {
	m.method = method
	m.faults.Said("Using", arguments.WrongIf(method == nil, "Using", math.NaN(), "the method is nil; give one such as solvers.SMO{}"))
}

func (m *machine) setTol(tol float64) {
	m.stop = solvers.UpLow{Tol: tol}
	m.faults.Said("Stop", arguments.WrongIf(!(tol > 0) || math.IsInf(tol, 1), "Tol", tol, "the tolerance is %v; it must be a positive number", tol))
}

func (m *machine) setStop(criterion solvers.Criterion) {
	m.stop = criterion
	m.faults.Said("Stop", arguments.WrongIf(criterion == nil, "Stop", math.NaN(), "the criterion is nil; give one such as solvers.Gap{Rel: 1e-6}"))
}

func (m *machine) setLimit(n int) {
	m.limit = n
	m.faults.Said("MaxIterations", arguments.WrongIf(n < 1, "MaxIterations", float64(n), "the limit is %d; it must be at least 1", n))
}

func (m *machine) setSample(k int) {
	m.every = k
	m.faults.Said("Sample", arguments.WrongIf(k == 0 || k < -1, "Sample", float64(k), "the spacing is %d; it must be at least 1, or −1 for the first and the last only", k))
}

func (m *machine) setMemory(bytes int64) {
	m.cache = bytes
	m.faults.Said("Memory", arguments.WrongIf(bytes < 1, "Memory", float64(bytes), "the bound is %d bytes; it must be positive", bytes))
}

// checkedCost returns the error of a cost, or nil. setter is the method that set it.
func checkedCost(setter, name string, cost float64, infinite string) error {
	switch {
	case math.IsInf(cost, 1):
		return arguments.Wrong(setter, cost, "%s is infinite; %s", name, infinite)
	case !(cost > 0):
		return arguments.Wrong(setter, cost, "%s is %v; it must be a positive number", name, cost)
	}
	return nil
}

// checkedWeights returns the error of the weights of the points, or nil.
func (m *machine) checkedWeights(w []float64) error {
	if w != nil && len(w) != m.data.N() {
		return arguments.Wrong("SampleWeights", float64(len(w)), "%s for %s; give one for each", say.Several(len(w), "weight"), say.Several(m.data.N(), "point"))
	}
	for i, v := range w {
		if !(v >= 0) || math.IsInf(v, 1) {
			return arguments.At("SampleWeights", i, -1, v, "the weight is %v; it must be a number ≥ 0", v)
		}
	}
	if rows := weighted(w); rows != nil && len(rows) == 0 {
		return arguments.Wrong("SampleWeights", 0, "all weights are 0, so no point takes part; give at least one a positive weight")
	}
	return nil
}

// weighted returns the rows whose weight is positive; nil means all.
func weighted(w []float64) []int {
	if !slices.Contains(w, 0) {
		return nil
	}
	rows := []int{}
	for i, v := range w {
		if v > 0 {
			rows = append(rows, i)
		}
	}
	return rows
}

// needs returns what the method needs of the problem.
func (m *machine) needs() solvers.Needs {
	if n, ok := m.method.(solvers.Needer); ok {
		return n.Needs()
	}
	return solvers.Needs{}
}

// biasFixed reports whether the bias is fixed, by the description or because the method
// needs it.
func (m *machine) biasFixed() bool { return m.fixed || m.tau2 != 0 || m.needs().FixedBias }

// fill sets everything that the description leaves open: first to what the method needs,
// then to the defaults.
func (m *machine) fill() {
	if !m.settled {
		needs := m.needs()
		if needs.Linear && m.kernel == nil {
			m.kernel = kernels.Linear()
		}
		if needs.FixedBias && !m.fixed && m.tau2 == 0 {
			if m.tau2 = kernels.Radius; needs.Linear {
				m.tau2 = 1 // the constant feature 1 of LIBLINEAR
			}
		}
		m.fixed, m.settled = m.biasFixed(), true
	}
	if m.kernel == nil {
		m.kernel = kernels.RBF(points.Of(m.data).GammaScale(m.data.D()))
	}
	if m.stop == nil {
		m.stop = solvers.UpLow{Tol: 1e-3}
	}
	if m.tau2 == kernels.Radius {
		m.tau2 = points.Of(m.data).Radius2(m.kernel)
	}
}

// after puts the machine behind the steps of a pipeline. If these make a kernel's features,
// the kernel is linear unless another was set.
func (m *machine) after(p *steps.Passage) {
	m.behind = p
	if m.kernel == nil && p.MakesKernel() {
		m.kernel = kernels.Linear()
	}
}

// asFeatures reports whether the machine is linear and its method wants features instead of
// a kernel matrix. variables is the number of multipliers for each point.
func (m *machine) asFeatures(variables int, perClass bool) bool {
	if m.kernel != kernels.Kernel(kernels.Linear()) {
		return false
	}
	n, d := m.data.N(), m.data.D()
	reader, ok := m.method.(solvers.FeatureReader)
	return ok && reader.WantsFeatures(solvers.Shape{Variables: variables * n, Points: n, Columns: d, FixedBias: m.fixed, PerClass: perClass})
}

// matrixOf returns the kernel matrix of the data, or their features.
func (m *machine) matrixOf(features bool) (solvers.Matrix, error) {
	if m.data.Sparse != nil && m.data.D() > machines.MostNumbers {
		return nil, fmt.Errorf("there are %d features, for which a machine takes %.3g GiB; the limit is %d: number those that occur from 1 on, or hash them", m.data.D(), float64(m.data.D())/(1<<27), machines.MostNumbers)
	}
	if features {
		return points.Of(m.data).Features(math.Sqrt(m.tau2))
	}
	k := m.kernel
	if m.tau2 != 0 {
		k = kernels.Augmented(k, m.tau2)
	}
	return points.Of(m.data).Gram(k, m.cache)
}

// plane and line report whether the points can be drawn in a plane or along a line without
// a projection.
func (m *machine) plane() bool { return m.data.D() == 2 && m.data.Sparse == nil }
func (m *machine) line() bool  { return m.data.D() == 1 && m.data.Sparse == nil }

// solve runs the method on p, and shows the run if Live was set. The result is nil if
// nothing useful was computed. If the run ended early, solve returns the result so far and
// an error. The checkpoint is nil for a run that begins anew each time.
func (m *machine) solve(ctx context.Context, p *solvers.Problem, s scene, at *checkpoint) (*solvers.Result, error) {
	return m.solveFrom(ctx, p, s, at, nil, nil)
}

// solveFrom is solve from an α with this F; nil stands for the start of the method.
func (m *machine) solveFrom(ctx context.Context, p *solvers.Problem, s scene, at *checkpoint, alpha, f []float64) (*solvers.Result, error) {
	settings := solvers.Settings{Stop: m.stop, MaxIterations: m.limit, Every: m.every, Start: alpha, StartF: f}
	var w *watch
	if m.stage != nil || m.live && screen.Watchable() {
		w = m.watch(s)
		w.diag = rows.Largest(p.K)
		settings.Observers = []solvers.Observer{w.observe}
	}
	res, err := at.resume(func(s solvers.Settings) (*solvers.Result, error) { return solvers.Solve(ctx, p, m.method, s) }, settings, len(p.S))
	if w != nil {
		w.over(res)
	}
	if res == nil || res.Status == solvers.Unbounded || res.Status == solvers.Inaccurate {
		return nil, fmt.Errorf("svmnb: %w", err)
	}
	return res, err
}

// mustSolve is solve for a notebook cell.
func (m *machine) mustSolve(p *solvers.Problem, s scene, at *checkpoint) *solvers.Result {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	res, err := m.solve(ctx, p, s, at)
	switch {
	case res == nil:
		cells.Must(err)
	case err != nil && res.Status != solvers.Interrupted:
		cells.Warn(err.Error())
	case err != nil:
		gap := fmt.Sprintf("its gap is %.3g", res.Certificate.Gap)
		if math.IsNaN(res.Certificate.Gap) {
			gap = "its gap is not known: " + noTime
		}
		cells.Warn(fmt.Sprintf("interrupted after %s and %v; this is the fit so far, %s", say.Iterations(res.Iterations), res.Elapsed.Round(time.Millisecond), gap))
	case res.Status.Early():
		cells.Warn(fmt.Sprintf("stopped early: %v after %s; the gap is %.3g", res.Status, say.Iterations(res.Iterations), res.Certificate.Gap))
	}
	return res
}

// biasText and runText return the last parts of the expression that String returns.
func (m *machine) biasText() string {
	s := ""
	switch {
	case m.tau2 == kernels.Radius:
		s = ".Augment(kernels.Radius)"
	case m.tau2 != 0:
		s = fmt.Sprintf(".Augment(%s)", say.Number(m.tau2))
	}
	if m.fixed && (m.tau2 == 0 || m.b0 != 0) {
		s += fmt.Sprintf(".FixedBias(%s)", say.Number(m.b0))
	}
	return s
}

// tolerance returns how far F of a free vector may be from the bias when a run has
// converged.
func (m *machine) tolerance() float64 {
	switch stop := m.stop.(type) {
	case solvers.UpLow:
		return stop.Tol
	case solvers.KKT:
		return 2 * stop.Tol
	}
	return 1e-3
}

func (m *machine) runText(smo solvers.Method) string {
	var s strings.Builder
	switch {
	case m.method == nil:
		s.WriteString(".Using(nil)")
	case m.method == solvers.Method(fastest.Method{}): // the default is not written
	case m.method == smo:
		s.WriteString(".SMO()")
	default:
		fmt.Fprintf(&s, ".Using(%s)", say.Literal(m.method))
	}
	switch stop := m.stop.(type) {
	case nil:
	case solvers.UpLow:
		fmt.Fprintf(&s, ".Tol(%s)", say.Number(stop.Tol))
	default:
		fmt.Fprintf(&s, ".Stop(%v)", stop)
	}
	if m.limit != 0 {
		fmt.Fprintf(&s, ".MaxIterations(%d)", m.limit)
	}
	if m.every != 0 {
		fmt.Fprintf(&s, ".Sample(%d)", m.every)
	}
	if m.cache != 0 {
		fmt.Fprintf(&s, ".Memory(%d)", m.cache)
	}
	if m.live {
		s.WriteString(".Live()")
	}
	return s.String()
}
