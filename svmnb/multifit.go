package svmnb

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/runs"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
)

// MultiFit is a solved classifier for k classes.
type MultiFit struct {
	// Description is the MultiClassifier that was solved, all defaults filled in.
	Description MultiClassifier
	Elapsed     time.Duration // time from the start to the end of all machines

	task     *multiTask
	machines []*Fit             // for OneVsOne and OneVsRest
	joint    *solvers.Result    // for CrammerSinger
	support  []int              // rows of the data that are a support vector of any machine
	points   machines.Expansion // the support vectors; only its kernel rows are used
	terms    []machines.Term    // one for each decision value

	training func() [][]float64                      // decision values of the training points, computed at the first call
	glance   func() (rows []int, values [][]float64) // decision values of the training points that a summary uses; nil rows mean all
}

// fit combines the machines; rows are the rows of each machine's points in the data.
func (t *multiTask) fit(machines []*Fit, rows [][]int, elapsed time.Duration) *MultiFit {
	coef := make([][]float64, len(machines)) // coef[k][i] is the coefficient of point i in machine k
	b := make([]float64, len(machines))
	for k, m := range machines {
		coef[k], b[k] = make([]float64, len(t.class)), m.expansion.B
		next := 0
		for j, a := range m.Alpha {
			if a != 0 {
				coef[k][rows[k][j]] = m.expansion.Coef[next]
				next++
			}
		}
	}
	f := t.expand(coef, b)
	f.machines, f.Elapsed = machines, elapsed
	return f
}

func (t *multiTask) jointFit(res *solvers.Result, elapsed time.Duration) *MultiFit {
	k := len(t.classes)
	coef, b := make([][]float64, k), make([]float64, k)
	for m := range k {
		coef[m] = make([]float64, len(t.class))
		for i := range coef[m] {
			coef[m][i] = res.Alpha[i*k+m]
			b[m] += t.base.tau2 * coef[m][i]
		}
	}
	f := t.expand(coef, b)
	f.joint, f.Elapsed = res, elapsed
	return f
}

// expand makes the fit from the coefficients. All machines share one list of support
// vectors, so each kernel value is computed only once.
func (t *multiTask) expand(coef [][]float64, b []float64) *MultiFit {
	f := &MultiFit{Description: t.MultiClassifier, task: t}
	data := t.base.data
	place := make([]int, data.N())
	for i := range place {
		if slices.ContainsFunc(coef, func(c []float64) bool { return c[i] != 0 }) {
			place[i] = len(f.support)
			f.support = append(f.support, i)
		}
	}
	all := points.Of(data)
	x := all.Some(f.support)
	f.points = machines.Expansion{X: x, Basis: x.Late(t.base.kernel), D: data.D(), Behind: t.base.behind, Kernel: t.base.kernel}
	linear := t.base.kernel == kernels.Kernel(kernels.Linear())
	for k, c := range coef {
		m := machines.Term{B: b[k], Coef: make([]float64, len(f.support))}
		if linear {
			m.W = make([]float64, data.D())
		}
		for _, i := range f.support {
			if c[i] == 0 {
				continue
			}
			m.Coef[place[i]] = c[i]
			if linear {
				all.Add(m.W, i, c[i])
			}
		}
		f.terms = append(f.terms, m)
	}
	f.training = sync.OnceValue(func() [][]float64 { return f.values(all) })
	each := len(f.support)
	if linear {
		each = 0
	}
	f.glance = look(data.N(), each, f.training, func(rows []int) [][]float64 { return f.values(all.Some(rows)) })
	return f
}

func (f *MultiFit) values(p points.Points) [][]float64 { return f.points.Sums(f.terms, p) }

// Classes returns the k names, in the order of their targets.
func (f *MultiFit) Classes() []string {
	if f.none() {
		return nil
	}
	return slices.Clone(f.task.classes)
}

// Machines returns the solved machines. For OneVsOne these are the pairs (1, 2), (1, 3), …,
// (k−1, k) of classes, for OneVsRest the k classes; the class that is named first is the
// positive one. For CrammerSinger it returns nil; see Joint.
func (f *MultiFit) Machines() []*Fit {
	if f.none() {
		return nil
	}
	return slices.Clone(f.machines)
}

// Joint returns the run of CrammerSinger, which has one problem for all classes; nil for
// other schemes.
func (f *MultiFit) Joint() *JointFit {
	if f.none() {
		return nil
	}
	if f.joint == nil {
		return nil
	}
	return &JointFit{*f.joint, f}
}

// JointFit is the run of a CrammerSinger fit. Alpha has n·k values, k for each point. The
// figures [Gap] and [Rate] can draw it.
type JointFit struct {
	solvers.Result
	fit *MultiFit
}

func (f *JointFit) record() record {
	t := f.fit.task
	return record{runs.Certified(f.Result), nil, nil, t.base.stop, f.fit.words() + " · " + f.Method, len(t.class)}
}

// Show displays the given figures of the run. Without figures it displays the summary of
// the fit and Gap.
func (f *JointFit) Show(figures ...display.Figure) {
	if len(figures) == 0 && !f.none() {
		display.Show(f.fit)
		figures = []display.Figure{Gap}
	}
	display.ShowFit(f, figures)
}

// Decisions returns the decision values at m points, as m rows. A row has one value for
// each machine in the order of Machines, positive for the machine's first class, or for
// CrammerSinger one value for each class. Errors are those of [Fit.Values].
func (f *MultiFit) Decisions(x datasets.Points) (_ [][]float64, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, arguments.NoFit("Decisions")
	}
	return f.decisions("Decisions", points.From(x))
}

func (f *MultiFit) decisions(verb string, p points.Points) ([][]float64, error) {
	if b := f.points.Behind; b != nil {
		return nil, b.Inside(verb)
	}
	return f.here(verb, p)
}

// here is decisions for points that the steps of a pipeline have already transformed.
func (f *MultiFit) here(verb string, p points.Points) ([][]float64, error) {
	if err := f.points.Check(verb, "classifier", p); err != nil {
		return nil, err
	}
	return f.values(p), nil
}

// Predict returns the class names of m points. Errors are those of Decisions.
func (f *MultiFit) Predict(x datasets.Points) (_ []string, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, arguments.NoFit("Predict")
	}
	values, err := f.decisions("Predict", points.From(x))
	if err != nil {
		return nil, err
	}
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = f.task.classes[f.winner(v)]
	}
	return names, nil
}

// Scores returns a score of each class at m points, as m rows of k values in the order of
// Classes: the larger, the more speaks for the class. For OneVsRest and CrammerSinger these are
// the Decisions. For OneVsOne a score is the number of votes for the class, plus s/(3|s| + 3),
// where s is the sum of the decision values of its machines in its favour, so that classes with
// equal votes have different scores (as scikit-learn's decision_function of shape "ovr"). Of
// classes with equal votes, Predict takes the first, which may have the smaller score. Errors
// are those of Decisions.
func (f *MultiFit) Scores(x datasets.Points) (_ [][]float64, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, arguments.NoFit("Scores")
	}
	rows, err := f.decisions("Scores", points.From(x))
	if err != nil {
		return nil, err
	}
	for i, values := range rows {
		rows[i] = f.task.scheme.Scores(len(f.task.classes), f.task.duels, values)
	}
	return rows, nil
}

// winner returns the index of the class that these decision values predict.
func (f *MultiFit) winner(values []float64) int {
	return f.task.scheme.Winner(len(f.task.classes), f.task.duels, values)
}

// Accuracy returns the share of the points of ds, in [0, 1], whose class is predicted
// correctly. It returns the errors of Decisions, and an error for a class that the training
// data did not have.
func (f *MultiFit) Accuracy(ds *datasets.Dataset) (_ float64, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return math.NaN(), arguments.NoFit("Accuracy")
	}
	if err := steps.Suits("Accuracy", f.task.base.behind, f.task.base.data, ds); err != nil {
		return 0, err
	}
	e, err := f.evaluate("Accuracy", ds)
	if err != nil {
		return 0, err
	}
	return e.Confusion().Accuracy(), nil
}

// TrainingErrors counts the training points whose predicted class is wrong. The first call
// computes the decision values of all of them: n·#SV kernel values, which takes minutes for
// a hundred thousand points.
func (f *MultiFit) TrainingErrors() int {
	if f.none() {
		return 0
	}
	return f.errorsAt(nil, f.training())
}

// errorsAt counts the errors among the given rows with these decision values; nil rows mean
// all.
func (f *MultiFit) errorsAt(rows []int, values [][]float64) int {
	n := 0
	for i, class := range pick(f.task.class, rows) {
		if f.winner(values[i]) != class {
			n++
		}
	}
	return n
}

// SupportVectors returns the rows of the training data that are a support vector of any
// machine.
func (f *MultiFit) SupportVectors() []int {
	if f.none() {
		return nil
	}
	return slices.Clone(f.support)
}

// MultiCertificate combines the certificates of all machines.
type MultiCertificate struct {
	Machines     int
	Primal, Dual float64 // sums over the machines
	Gap          float64 // Primal − Dual
	WorstGap     float64 // largest gap of a machine
	WorstRelGap  float64
	MaxKKT       float64
	Worst        string // the machine with the largest relative gap
}

// Certificate combines the certificates of all machines. Their problems are independent, so
// the sum of the gaps bounds how far the sum of the objectives is from its optimum.
func (f *MultiFit) Certificate() MultiCertificate {
	if f.none() {
		return MultiCertificate{}
	}
	c := MultiCertificate{WorstRelGap: -1}
	f.each(func(name string, r *solvers.Result) {
		one := r.Certificate
		c.Machines++
		c.Primal, c.Dual, c.Gap = c.Primal+one.Primal, c.Dual+one.Dual, c.Gap+one.Gap
		c.WorstGap, c.MaxKKT = max(c.WorstGap, one.Gap), max(c.MaxKKT, one.MaxKKT)
		if !(one.RelGap <= c.WorstRelGap) && !math.IsNaN(c.WorstRelGap) { // NaN, after an interrupt, is the worst
			c.WorstRelGap, c.Worst = one.RelGap, name
		}
	})
	return c
}

func (f *MultiFit) each(do func(name string, r *solvers.Result)) {
	if f.joint != nil {
		do("all classes", f.joint)
	}
	for k, m := range f.machines {
		do(f.task.duelName(k), &m.Result)
	}
}

// Status returns Converged if all machines have converged and Interrupted if any was
// interrupted. Otherwise it returns the status of the first machine that has not converged.
func (f *MultiFit) Status() solvers.Status {
	if f.none() {
		return solvers.NotTerminated
	}
	status := solvers.Converged
	f.each(func(_ string, r *solvers.Result) {
		if status == solvers.Converged || r.Status == solvers.Interrupted {
			status = r.Status
		}
	})
	return status
}

// Markdown says in words what was solved, how the run ended, how good the answer is and
// what it predicts on the training points, with at most two hints if something looks wrong.
func (f *MultiFit) Markdown() string {
	if f.none() {
		return arguments.NoFit("Markdown").Error()
	}
	t, c := f.task, f.Certificate()
	iterations, values, early, method := 0, int64(0), 0, ""
	f.each(func(_ string, r *solvers.Result) {
		iterations, values, method = iterations+r.Iterations, values+r.Evaluations, r.Method
		if r.Status.Early() {
			early++
		}
	})
	s := say.NewSummary()
	s.Row("**problem**", "%s, %d classes: %s", t.base.data.Name, len(t.classes), say.Listed(t.classes))
	s.Row("points × features", "%d × %d", t.base.data.N(), t.base.data.D())
	s.Row("scheme", "%v, %d %s", t.scheme, c.Machines, map[bool]string{true: "machine", false: "machines"}[c.Machines == 1])
	s.Row("margin", "%s", f.marginText())
	s.Row("kernel", "%v", t.base.kernel)
	s.Row("**solver**", "%s, until %v", method, t.base.stop)
	status := "converged"
	if early > 0 {
		status = fmt.Sprintf("%v: %d of %d did not converge", f.Status(), early, c.Machines)
	}
	s.Row("status", "%s after %s iterations, %s kernel values, %v", status, say.Thousands(int64(iterations)), say.Thousands(values), say.Spell(f.Elapsed))
	if math.IsNaN(c.Gap) {
		s.Row("**certificate**", "not known for %s: %s", c.Worst, noTime)
	} else {
		s.Row("**certificate**", "the answers are within %.3g of their optima together, the worst within %s of its primal (%s)", c.Gap, say.Percent(c.WorstRelGap), c.Worst)
		s.Row("sum of duals, primals", "%s, %s", say.Signed(c.Dual, 9), say.Signed(c.Primal, 9))
		s.Row("largest KKT violation", "%.2g", c.MaxKKT)
	}
	s.Row("**result**", "%d of the points are support vectors", len(f.support))
	rows, decisions := f.glance()
	wrong := f.errorsAt(rows, decisions)
	s.Row("training errors", "%d of %d (%s)%s", wrong, len(decisions), say.Percent(float64(wrong)/float64(len(decisions))), glanced(rows, t.base.data.N()))
	if stays := certainText(f.certainTraining()); stays != "" {
		s.Row("certain labels", "%s", stays)
	}
	s.Hints(f.hints(rows, decisions))
	return s.String()
}

func (f *MultiFit) marginText() string { return (&task{Classifier: f.task.base}).marginText() }

// Hints returns at most two suggestions, each with its reason, if something looks wrong.
// The more important one is first.
func (f *MultiFit) Hints() []string {
	if f.none() {
		return nil
	}
	return f.hints(f.glance())
}

// hints returns the suggestions. The decision values are those of the given rows; nil rows mean
// all.
func (f *MultiFit) hints(rows []int, decisions [][]float64) []string {
	var hints []string
	worst := &solvers.Result{Status: solvers.Converged}
	f.each(func(name string, r *solvers.Result) {
		if r.Status.Early() && (!worst.Status.Early() || r.Certificate.RelGap > worst.Certificate.RelGap) {
			worst = r
		}
	})
	base := f.task.base
	hints = append(hints, base.machine.hints(worst, "C = "+say.Number(base.c)+", which makes the problem harder as it grows")...)
	if hint := f.swallowed(rows, decisions); hint != "" {
		hints = append(hints, hint)
		return hints[:min(2, len(hints))]
	}
	smallest, largest := math.MaxInt, 0
	for k := range f.task.classes {
		n := 0
		for _, class := range f.task.class {
			if class == k {
				n++
			}
		}
		smallest, largest = min(smallest, n), max(largest, n)
	}
	if base.weights == nil && !base.balanced && largest >= 20*smallest && f.errorsAt(rows, decisions) > 0 {
		hints = append(hints, fmt.Sprintf("The largest class has %d points and the smallest %d, whose errors weigh little: Balanced makes those of every class weigh the same.", largest, smallest))
	}
	return hints[:min(2, len(hints))]
}

// swallowed returns a hint if hardly any point is predicted as one of the classes, though it
// has some; otherwise "".
func (f *MultiFit) swallowed(rows []int, decisions [][]float64) string {
	classes := f.task.classes
	points, predicted := make([]int, len(classes)), make([]int, len(classes))
	truth := pick(f.task.class, rows)
	for i, class := range truth {
		points[class]++
		predicted[f.winner(decisions[i])]++
	}
	for k, name := range classes {
		if points[k] < 3 || 10*predicted[k] > points[k] {
			continue
		}
		s := fmt.Sprintf("%d of %d points are predicted as %s, which has %d: ", predicted[k], len(truth), say.Class(name), points[k])
		if 2*points[k]*len(classes) < len(truth) && !f.task.base.balanced {
			return s + "errors of a rare class weigh little. Balanced() makes those of all classes weigh the same."
		}
		return s + "the machines do not tell it from the others here. Try a larger C, or another gamma or kernel."
	}
	return ""
}

// words describes the problem for a subtitle.
func (f *MultiFit) words() string {
	return fmt.Sprintf("%s · %s, %s · %v", f.task.base.data.Name, say.Brief(f.task.base.kernel.String()), f.marginText(), f.task.scheme)
}

// Show displays the given figures of the fit. Without figures it displays the summary, the
// Regions if there are two features, and the Confusion of the training points.
func (f *MultiFit) Show(figures ...display.Figure) {
	usual := []display.Figure{Confusion}
	if !f.none() && f.task.base.plane() && len(f.task.classes) <= mostRegions {
		usual = []display.Figure{Regions, Confusion}
	}
	display.ShowFit(f, figures, usual...)
}
