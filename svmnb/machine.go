package svmnb

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/solvers/fastest"
)

// machine is what the descriptions of all machines have in common: the data, the
// kernel, the bias, and how the programme is solved. Its methods change it; the
// descriptions that embed it are values, whose methods change a copy.
type machine struct {
	data   *datasets.Dataset
	kernel kernels.Kernel
	fixed  bool // the bias is b0
	b0     float64
	tau2   float64 // added to the kernel; 0 for none
	method solvers.Method
	stop   solvers.Criterion
	limit  int
	every  int
	cache  int64
	live   bool
	stage  *stage   // the display that several machines share; nil for one
	behind *passage // the steps of the pipeline that this is the end of; else nil
	err    error
}

func about(verb string, data *datasets.Dataset) machine {
	m := machine{data: data}
	if data == nil {
		m.data = &datasets.Dataset{}
		m.reject(wrong(verb, math.NaN(), "the data set is nil; give one of package datasets or datasets.New(x, y)"))
	}
	return m
}

func (m *machine) reject(err error) { m.err = errors.Join(m.err, err) }

func (m *machine) setKernel(k kernels.Kernel) {
	m.kernel = k
	switch {
	case k == nil:
		m.reject(wrong("Kernel", math.NaN(), "the kernel is nil; give one such as kernels.RBF(0.5)"))
	case k.Check() != nil:
		m.reject(fmt.Errorf("svmnb: Kernel: %w", k.Check()))
	}
}

func (m *machine) fixBias(b0 float64) {
	m.fixed, m.b0 = true, b0
	if math.IsNaN(b0) || math.IsInf(b0, 0) {
		m.reject(wrong("FixedBias", b0, "the bias is %v; it must be a finite number", b0))
	}
}

func (m *machine) augment(tau2 float64) {
	m.tau2, m.fixed = tau2, true
	if tau2 != kernels.Radius && !(tau2 > 0 && !math.IsInf(tau2, 1)) {
		m.reject(wrong("Augment", tau2, "τ² is %v; it must be a positive number, or kernels.Radius", tau2))
	}
}

// climb and descend choose methods that need a fixed bias.
func (m *machine) climb() {
	if !m.fixed {
		m.augment(kernels.Radius)
	}
	m.method = solvers.GradientAscent{}
}

func (m *machine) descend() {
	if !m.fixed {
		m.augment(1)
	}
	if m.kernel == nil {
		m.kernel = kernels.Linear()
	}
	m.method = solvers.CoordinateDescent{}
}

func (m *machine) newton() {
	if m.kernel == nil {
		m.kernel = kernels.Linear()
	}
	m.method = solvers.Newton{}
}

func (m *machine) use(method solvers.Method) {
	m.method = method
	if method == nil {
		m.reject(wrong("Using", math.NaN(), "the method is nil; give one such as solvers.SMO{}"))
	}
}

func (m *machine) setTol(tol float64) {
	m.stop = solvers.UpLow{Tol: tol}
	if !(tol > 0) || math.IsInf(tol, 1) {
		m.reject(wrong("Tol", tol, "the tolerance is %v; it must be a positive number", tol))
	}
}

func (m *machine) setStop(criterion solvers.Criterion) {
	m.stop = criterion
	if criterion == nil {
		m.reject(wrong("Stop", math.NaN(), "the criterion is nil; give one such as solvers.Gap{Rel: 1e-6}"))
	}
}

func (m *machine) setLimit(n int) {
	m.limit = n
	if n < 1 {
		m.reject(wrong("MaxIterations", float64(n), "the limit is %d; it must be at least 1", n))
	}
}

func (m *machine) setSample(k int) {
	m.every = k
	if k == 0 || k < -1 {
		m.reject(wrong("Sample", float64(k), "the spacing is %d; it must be at least 1, or −1 for the first and the last only", k))
	}
}

func (m *machine) setMemory(bytes int64) {
	m.cache = bytes
	if bytes < 1 {
		m.reject(wrong("Memory", float64(bytes), "the bound is %d bytes; it must be positive", bytes))
	}
}

// checkCost checks a cost that a verb was given.
func (m *machine) checkCost(verb, name string, cost float64, infinite string) {
	switch {
	case math.IsInf(cost, 1):
		m.reject(wrong(verb, cost, "%s is infinite; %s", name, infinite))
	case !(cost > 0):
		m.reject(wrong(verb, cost, "%s is %v; it must be a positive number", name, cost))
	}
}

func (m *machine) checkWeights(w []float64) {
	if w != nil && len(w) != m.data.N() {
		m.reject(wrong("SampleWeights", float64(len(w)), "%s for %s; give one for each", several(len(w), "weight"), several(m.data.N(), "point")))
	}
	for i, v := range w {
		if !(v > 0) || math.IsInf(v, 1) {
			m.reject(&ArgumentError{"SampleWeights", i, -1, v, fmt.Sprintf("the weight is %v; it must be a positive number", v)})
			return
		}
	}
}

// fill puts the defaults where nothing was said.
func (m *machine) fill() {
	if m.kernel == nil {
		m.kernel = kernels.RBF(pointsOf(m.data).gammaScale(m.data.D()))
	}
	if m.stop == nil {
		m.stop = solvers.UpLow{Tol: 1e-3}
	}
	if m.tau2 == kernels.Radius {
		m.tau2 = pointsOf(m.data).radius2(m.kernel)
	}
}

// asFeatures reports whether a machine of so many variables for each point is linear and
// its method works with w where it is given features.
func (m *machine) asFeatures(variables int, perClass bool) bool {
	if m.kernel != kernels.Kernel(kernels.Linear()) {
		return false
	}
	n, d := m.data.N(), m.data.D()
	reader, ok := m.method.(solvers.FeatureReader)
	return ok && reader.WantsFeatures(solvers.Shape{Variables: variables * n, Points: n, Columns: d, FixedBias: m.fixed, PerClass: perClass})
}

// matrixOf returns the kernel matrix of the data, or their features where those are
// wanted.
func (m *machine) matrixOf(features bool) (solvers.Matrix, error) {
	if m.data.Sparse != nil && m.data.D() > modelCells {
		return nil, fmt.Errorf("there are %d features, for which a machine takes %.3g GiB; the limit is %d: number those that occur from 1 on, or hash them", m.data.D(), float64(m.data.D())/(1<<27), modelCells)
	}
	if features {
		return pointsOf(m.data).features(math.Sqrt(m.tau2))
	}
	k := m.kernel
	if m.tau2 != 0 {
		k = kernels.Augmented(k, m.tau2)
	}
	return pointsOf(m.data).gram(k, m.cache)
}

// plane and line say whether the points can be drawn in their own coordinates.
func (m *machine) plane() bool { return m.data.D() == 2 && m.data.Sparse == nil }
func (m *machine) line() bool  { return m.data.D() == 1 && m.data.Sparse == nil }

// solve runs the method on p, and shows it while it runs where Live asks for
// that. The result is nil where there is none that could be shown; with a partial
// one the error says what has ended the run.
func (m *machine) solve(ctx context.Context, p *solvers.Problem, s scene) (*solvers.Result, error) {
	settings := solvers.Settings{Stop: m.stop, MaxIterations: m.limit, Every: m.every}
	var w *watch
	if m.stage != nil || m.live && watchable() {
		w = m.watch(s)
		settings.Observers = []solvers.Observer{w.observe}
	}
	res, err := solvers.Solve(ctx, p, m.method, settings)
	if w != nil {
		w.over(res)
	}
	if res == nil || res.Status == solvers.Unbounded || res.Status == solvers.Inaccurate {
		return nil, fmt.Errorf("svmnb: %w", err)
	}
	return res, err
}

// mustSolve is solve for a notebook cell.
func (m *machine) mustSolve(p *solvers.Problem, s scene) *solvers.Result {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	res, err := m.solve(ctx, p, s)
	switch {
	case res == nil:
		must(err)
	case err != nil && res.Status != solvers.Interrupted:
		warn(err.Error())
	case err != nil:
		warn(fmt.Sprintf("interrupted after %s and %v; this is the fit so far, its gap is %.3g",
			iterations(res.Iterations), res.Elapsed.Round(time.Millisecond), res.Certificate.Gap))
	case res.Status.Early():
		warn(fmt.Sprintf("stopped early: %v after %s; the gap is %.3g", res.Status, iterations(res.Iterations), res.Certificate.Gap))
	}
	return res
}

// biasText and runText are the ends of the chain that String gives back.
func (m *machine) biasText() string {
	s := ""
	switch {
	case m.tau2 == kernels.Radius:
		s = ".Augment(kernels.Radius)"
	case m.tau2 != 0:
		s = fmt.Sprintf(".Augment(%s)", number(m.tau2))
	}
	if m.fixed && (m.tau2 == 0 || m.b0 != 0) {
		s += fmt.Sprintf(".FixedBias(%s)", number(m.b0))
	}
	return s
}

// tolerance is how far F of a free vector may be from the bias when a run has
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
	case m.method == solvers.Method(fastest.Method{}): // without a word
	case m.method == smo:
		s.WriteString(".SMO()")
	default:
		fmt.Fprintf(&s, ".Using(%s)", literal(m.method))
	}
	switch stop := m.stop.(type) {
	case nil:
	case solvers.UpLow:
		fmt.Fprintf(&s, ".Tol(%s)", number(stop.Tol))
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

// literal writes a struct as in Go, without the fields that are zero.
func literal(v any) string {
	r := reflect.ValueOf(v)
	if r.Kind() != reflect.Struct {
		return fmt.Sprintf("%T(%v)", v, v)
	}
	var fields []string
	for i := range r.NumField() {
		if f := r.Field(i); !f.IsZero() {
			fields = append(fields, fmt.Sprintf("%s: %v", r.Type().Field(i).Name, f))
		}
	}
	return fmt.Sprintf("%T{%s}", v, strings.Join(fields, ", "))
}

// iterations counts them, without spaces between digits.
func iterations(n int) string {
	if n == 1 {
		return "1 iteration"
	}
	return fmt.Sprint(n, " iterations")
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// expanded is f(x) = Σ coef_i K(x_i, x) + b over the training points whose
// coefficient is not 0.
type expanded struct {
	x      points // those training points
	kernel kernels.Kernel
	basis  func() *kernels.Basis // of x, made when it is first asked for
	coef   []float64
	b      float64
	w      []float64 // Σ coef_i x_i for the linear kernel; else nil
	d      int

	behind *passage // of the description
}

// expand takes n coefficients.
func (m *machine) expand(coef []float64, b float64) expanded {
	e := expanded{b: b, d: m.data.D(), behind: m.behind, kernel: m.kernel}
	count := 0
	for _, c := range coef {
		if c != 0 {
			count++
		}
	}
	rows := make([]int, 0, count)
	e.coef = make([]float64, 0, count)
	for i, c := range coef {
		if c != 0 {
			rows, e.coef = append(rows, i), append(e.coef, c)
		}
	}
	e.x = pointsOf(m.data).some(rows)
	e.basis = e.x.late(m.kernel)
	if m.kernel == kernels.Kernel(kernels.Linear()) {
		e.w = make([]float64, e.d)
		for i, c := range e.coef {
			e.x.add(e.w, i, c)
		}
	}
	return e
}

func (e *expanded) values(p points) []float64 {
	out := make([]float64, p.n())
	if e.w != nil {
		for i := range out {
			out[i] = p.dot(i, e.w, e.b)
		}
		return out
	}
	for i := range out {
		out[i] = e.b
	}
	p.addTimes([][]float64{out}, e.basis(), [][]float64{e.coef})
	return out
}

// at is values for points that a caller gives.
func (e *expanded) at(verb, learner string, p points) ([]float64, error) {
	if e.behind != nil {
		return nil, e.behind.inside(verb)
	}
	return e.here(verb, learner, p)
}

// here is at for points that have gone through the steps of a pipeline.
func (e *expanded) here(verb, learner string, p points) ([]float64, error) {
	if err := e.check(verb, learner, p); err != nil {
		return nil, err
	}
	return e.values(p), nil
}

func (e *expanded) check(verb, learner string, p points) error {
	if s := p.sparse; s != nil {
		if s.N() > 0 && s.D != e.d {
			return wrong(verb, float64(s.D), "the points have %s, the %s was trained on %d; give the reader that number as dims", several(s.D, "feature"), learner, e.d)
		}
		if err := e.basis().CheckSparse(*s); err != nil {
			return fmt.Errorf("svmnb: %s: %w", verb, err)
		}
		return nil
	}
	for i, row := range p.x {
		if len(row) != e.d {
			return &ArgumentError{verb, i, -1, float64(len(row)), misfit(e.kernel, row, e.d, "the "+learner+" was trained on")}
		}
		for j, v := range row {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return &ArgumentError{verb, i, j, v, fmt.Sprintf("the value is %v; predictions need finite numbers", v)}
			}
		}
	}
	if err := e.basis().Check(p.x); err != nil {
		return fmt.Errorf("svmnb: %s: %w", verb, err)
	}
	return nil
}

// misfit says that a point is of another length than those before: in what such a point
// is made of, which for a precomputed kernel or one of strings are no features.
func misfit(k kernels.Kernel, row []float64, want int, than string) string {
	got := len(row)
	switch {
	case k == nil:
	case strings.Contains(k.String(), "Precomputed(") && got == want-1 && got > 0 && row[0] != -1: // not by NewPoints
		return fmt.Sprintf("the row has %d values, and a point of Precomputed() is an index and the kernel values with all training points; make it by Precomputed().NewPoints", got)
	case strings.Contains(k.String(), "Precomputed("):
		return fmt.Sprintf("the row has %s, %s %s: a new row has the kernel value with each of them; make it a point by Precomputed().NewPoints", several(got-1, "kernel value"), than, several(want-1, "point"))
	case ofStrings(k.String()):
		return fmt.Sprintf("the string is %d wide, %s strings %d wide: make it by Strings(%d, …)", got, than, want, want)
	}
	return fmt.Sprintf("the point has %s, %s %d", several(got, "feature"), than, want)
}

// ofStrings reports whether a kernel, by its text, compares strings.
func ofStrings(kernel string) bool {
	return strings.Contains(kernel, "GapWeighted(") || strings.Contains(kernel, "Spectrum(")
}

// normal returns w, for the linear kernel.
func (e *expanded) normal(kernel kernels.Kernel) ([]float64, error) {
	if e.w == nil {
		return nil, wrong("Weights", math.NaN(), "the kernel is %v, and only a machine of the linear kernel has a weight for each feature; learn with Kernel(kernels.Linear())", kernel)
	}
	return slices.Clone(e.w), nil
}
