package svmnb

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/sheet"
	"github.com/svmnb/svmnb/svmnb/model"
)

// Verdict says how far a machine is from the optimum of a problem. The optimum is at least Bound
// and at most Primal.
type Verdict struct {
	Name      string
	Primal    float64 // objective of the machine in the problem; +Inf if it is no function of the kernel's space
	Dual      float64 // dual objective of the machine's own multipliers; NaN if it has none
	Bound     float64 // the best lower bound of the optimum that is known
	Violation float64 // largest KKT violation of its multipliers, in units of y·f; NaN if it has none

	// The labels that the machine gives to the training points, of which Certain are those of the
	// optimum, Different are not, and for Open ones this is not proven. Errors counts the labels
	// that differ from the targets.
	Points, Certain, Open, Different int
	Errors                           int
	Proof                            []int // for each training point 1 if its label is the optimum's, −1 if it is not, 0 if neither is proven; nil without such a proof

	// Of a regression, how far its value at any training point can be from that of the optimum, at
	// most, in units of the targets; NaN for classes, and before it is known.
	Off float64

	SupportVectors int // terms of the machine's expansion

	Machines []Verdict // those of the machines, if there are several; Primal, Dual and Bound are their sums
}

// Gap returns Primal − Bound, by how much the optimum may be below the machine's objective.
func (v Verdict) Gap() float64 { return v.Primal - v.Bound }

// RelGap returns the gap as a share of Primal; 1 if Primal is infinite.
func (v Verdict) RelGap() float64 {
	switch {
	case math.IsInf(v.Primal, 1):
		return 1
	case v.Primal == 0:
		return 0
	}
	return v.Gap() / v.Primal
}

// String says what is known of the optimum.
func (v Verdict) String() string {
	if math.IsInf(v.Primal, 1) {
		return fmt.Sprintf("the exact optimum is at least %.6g; the machine has no objective of its own there", v.Bound)
	}
	if v.Off > 0 && len(v.Machines) == 0 && v.Certain+v.Open+v.Different == 0 {
		return fmt.Sprintf("the exact optimum is in [%.6g, %.6g], so the machine is within %s of it, and each value within %.3g of the optimum's", v.Bound, v.Primal, say.Percent(v.RelGap()), v.Off)
	}
	s := fmt.Sprintf("the exact optimum is in [%.6g, %.6g], so the machine is within %s of it", v.Bound, v.Primal, say.Percent(v.RelGap()))
	if v.Certain+v.Open+v.Different == 0 {
		return s
	}
	return fmt.Sprintf("%s; %d of %d training labels are those of the optimum", s, v.Certain, v.Points)
}

// Entry is a machine that a referee judges, under a name; see [Classifier.Referee].
type Entry struct {
	Name  string
	Model model.Modeler // a fit, or a *[model.Model] that was read from a file
}

// Refereed are machines for one problem, side by side.
type Refereed struct {
	Description fmt.Stringer // the Classifier, MultiClassifier or Regressor
	Verdicts    []Verdict

	problem string
	points  int
	real    bool // the machines are regressions
}

// Referee says for machines that somebody trained, with any program, how far each is from the
// optimum of the described problem:
//
//	other, err := model.ReadLIBSVM(file, data.D())
//	problem := svmnb.Classify(data).Kernel(kernels.RBF(0.5)).C(10)
//	problem.MustReferee(svmnb.Entry{"LIBSVM", other}, svmnb.Entry{"svmnb", problem.MustFit()}).Show()
//
// Each machine must have two classes and the kernel of the description, up to the digits that
// files keep. Its objective is that of Σ c_j K(x_j, x) + b with the c_j and b of the model. If
// every support vector is a training point, the c_j are multipliers: cut to their box and
// balanced, they give a lower bound of the optimum, and bounds of its decision function
// ([Fit.Bounds]). The best lower bound and the narrowest bounds of all machines count for all.
// If no machine has multipliers, as those of LIBLINEAR have none, the referee also solves the
// problem itself, to a gap of 10⁻⁶.
//
// A description with [Classifier.Augment] is the problem of LIBLINEAR with -B: τ² = B².
func (c Classifier) Referee(ctx context.Context, entries ...Entry) (_ *Refereed, err error) {
	defer guard.Caught(&err)
	if err := some(ctx, entries); err != nil {
		return nil, err
	}
	t, err := c.prepareRefereed()
	if err != nil {
		return nil, err
	}
	list, e, err := examine(entries, t.data, func(e Entry) (*judged, error) { return t.judge(ctx, e) }, func() (model.Modeler, error) { return c.Stop(ownGap).Fit(ctx) })
	if err != nil {
		return nil, err
	}
	return &Refereed{Description: t.Classifier, Verdicts: t.verdicts(list, e), problem: t.words(), points: t.data.N()}, nil
}

// examine judges the entries, and the referee's own machine if none of them gives a lower bound.
func examine(entries []Entry, data *datasets.Dataset, judge func(Entry) (*judged, error), own func() (model.Modeler, error)) (list []*judged, e enclosure, err error) {
	add := func(e Entry) error {
		j, err := judge(e)
		list = append(list, j)
		return err
	}
	for _, entry := range entries {
		if err := add(entry); err != nil {
			return nil, e, err
		}
	}
	if !slices.ContainsFunc(list, func(j *judged) bool { return j.own != nil }) {
		fit, err := own()
		if err == nil {
			err = add(Entry{"svmnb", fit})
		}
		if err != nil {
			return nil, e, err
		}
	}
	e, err = enclosed(list, data)
	return list, e, err
}

// ownGap is where the referee's own machine stops.
var ownGap = solvers.Gap{Rel: 1e-6}

// some returns the error of a call of a referee without a context or without machines.
func some(ctx context.Context, entries []Entry) error {
	if err := arguments.Given(ctx, "Referee"); err != nil {
		return err
	}
	return arguments.WrongIf(len(entries) == 0, "Referee", 0, "there is no machine to judge; give one such as svmnb.Entry{\"LIBSVM\", m}")
}

func (c Classifier) prepareRefereed() (*task, error) {
	t, err := c.prepare()
	if err == nil && t.margin != oneNorm && t.margin != twoNorm {
		err = arguments.Wrong("Referee", math.NaN(), "the referee knows the 1-norm and the 2-norm soft margin; leave HardMargin, Nu and OneClass out")
	}
	return t, err
}

// MustReferee is Referee for a notebook cell. An error is printed and ends the cell; outside a
// notebook it panics.
func (c Classifier) MustReferee(entries ...Entry) *Refereed { return mustReferee(c.Referee, entries) }

func mustReferee(referee func(context.Context, ...Entry) (*Refereed, error), entries []Entry) *Refereed {
	return mustTrain(func(ctx context.Context) (*Refereed, error) { return referee(ctx, entries...) })
}

// judged is a machine with what its verdict needs.
type judged struct {
	name    string
	primal  float64
	values  []float64       // f at the training points, whose signs are the labels
	own     *solvers.Result // of its multipliers; nil if it has none
	bounds  func(x datasets.Points) (lower, upper []float64, err error)
	vectors int
}

// misfit is the error of a machine that the referee cannot judge.
func misfit(e Entry, format string, args ...any) error {
	return arguments.Wrong("Referee", math.NaN(), "%s: %s", e.Name, fmt.Sprintf(format, args...))
}

// inside returns the machines of an entry for data of d features.
func (e Entry) inside(d int) (*machines.Machines, error) {
	if guard.IsNil(e.Model) {
		return nil, misfit(e, "the model is nil")
	}
	in := e.Model.Model().Inside()
	switch {
	case in.Terms == nil:
		return nil, misfit(e, "the model is empty")
	case in.Before != nil || in.Target != nil:
		return nil, misfit(e, "the model has steps before the machine; give the transformed points as data, and Transformed() of the model")
	case in.Expansion.D != d:
		return nil, misfit(e, "the model has %s, the data have %d", say.Several(in.Expansion.D, "feature"), d)
	}
	return in, nil
}

// judge evaluates a machine in the problem of t.
func (t *task) judge(ctx context.Context, e Entry) (*judged, error) {
	in, err := e.inside(t.data.D())
	if err != nil {
		return nil, err
	}
	if len(in.Terms) != 1 || len(in.Classes) != 2 {
		return nil, misfit(e, "the model is of %v; the referee of this problem judges machines of two classes", in.Kind)
	}
	sign, err := t.orientation(in)
	if err != nil {
		return nil, misfit(e, "%v", err)
	}
	j, err := t.judgeTerm(ctx, e, in, in.Terms[0], sign)
	if err != nil {
		return nil, err
	}
	labels, err := e.Model.Model().Predict(t.data)
	if err != nil {
		return nil, err
	}
	for i, name := range labels { // rounding may have given a point the other label
		if side := machines.SideOf(j.values[i]); name != [2]string{t.negative, t.positive}[side] && in.Classes[t.classOf(in, side)] != name {
			j.values[i] = -j.values[i]
		}
	}
	return j, nil
}

// judgeTerm evaluates one machine of a model, times sign, in the problem of t.
func (t *task) judgeTerm(ctx context.Context, e Entry, in *machines.Machines, term machines.Term, sign float64) (*judged, error) {
	j, err := t.exact().judge(ctx, e, in, term, sign)
	if err == nil && j.own != nil {
		j.bounds = t.fit(j.own).Bounds
	}
	return j, err
}

// judge evaluates one machine of a model, times sign.
func (t *exactProblem) judge(ctx context.Context, e Entry, in *machines.Machines, term machines.Term, sign float64) (*judged, error) {
	var used []int
	var coef []float64
	for k, c := range term.Coef {
		if c != 0 {
			used, coef = append(used, k), append(coef, sign*c)
		}
	}
	b := sign * term.B
	x := in.Expansion.X.Some(used)
	at, exact := t.find(x)
	if exact {
		x = points.Of(t.data).Some(at)
	}
	if off := unlike(t.kernel, in.Kernel, points.Of(t.data)); off > 1e-4 {
		return nil, misfit(e, "the kernel of the model is %v, that of the problem %v", in.Kernel, t.kernel)
	}
	j := &judged{name: e.Name, vectors: len(coef)}
	if alpha := t.multipliers(at, coef, exact); alpha != nil {
		var err error
		if j.own, err = t.at(ctx, alpha); err != nil {
			return nil, err
		}
	}
	norm2, sums := 0.0, make([]float64, t.data.N())
	if len(coef) > 0 {
		basis, w := x.Basis(t.kernel), make([]float64, len(coef))
		x.AddTimes([][]float64{w}, basis, [][]float64{coef})
		for k, c := range coef {
			norm2 += c * w[k]
		}
		points.Of(t.data).AddTimes([][]float64{sums}, basis, [][]float64{coef})
	}
	switch {
	case t.tau2 != 0:
		norm2 += (b - t.b0) * (b - t.b0) / t.tau2
	case t.fixed:
		b = t.b0
	}
	for i := range sums {
		sums[i] += b
	}
	j.primal = norm2/2 + t.loss(sums)
	j.values = sums
	return j, nil
}

// classOf returns the index of the model's class for a side of the problem.
func (t *task) classOf(in *machines.Machines, side int) int {
	of := 0
	if name := [2]string{t.negative, t.positive}[side]; in.Classes[1] == name || in.Classes[0] != name && len(in.Targets) == 2 && in.Targets[1] == targets(t.data)[side] {
		of = 1
	}
	return of
}

// orientation returns 1 if f of the model is positive for the positive class, otherwise −1.
func (t *task) orientation(in *machines.Machines) (float64, error) {
	negative, positive := t.classOf(in, 0), t.classOf(in, 1)
	if negative == positive {
		return 0, fmt.Errorf("the classes of the model are %s, those of the data %s", say.Listed(in.Classes), say.Listed([]string{t.negative, t.positive}))
	}
	if in.Duels[0][0] == positive {
		return 1, nil
	}
	return -1, nil
}

// unlike returns by how much two kernels differ at some of the points, as a share of the largest
// value.
func unlike(a, b kernels.Kernel, x points.Points) float64 {
	n := x.N()
	var rows []int
	for k := range min(n, 24) {
		rows = append(rows, k*n/min(n, 24))
	}
	some := x.Some(rows)
	ga, err := some.Gram(a, 0)
	if err != nil {
		return math.Inf(1)
	}
	gb, err := some.Gram(b, 0)
	if err != nil {
		return math.Inf(1)
	}
	off, largest := 0.0, 0.0
	for i := range rows {
		for k, v := range ga.Row(i) {
			off, largest = max(off, math.Abs(v-gb.Row(i)[k])), max(largest, math.Abs(v))
		}
	}
	return off / largest
}

// find returns the training points that the vectors are: rows with the same numbers, or the same
// as single precision or eight digits leave them. found reports whether all vectors are training
// points. Of equal points it returns the first; see multipliers.
func (t *exactProblem) find(vectors points.Points) (at []int, found bool) {
	x := points.Of(t.data)
	for _, digits := range []int{0, 32, 8, 6} {
		rows := make(map[string]int, x.N())
		for i := x.N() - 1; i >= 0; i-- {
			rows[string(rowKey(x, i, digits))] = i
		}
		at = at[:0]
		for k := range vectors.N() {
			if i, ok := rows[string(rowKey(vectors, k, digits))]; ok {
				at = append(at, i)
			}
		}
		if len(at) == vectors.N() {
			return at, true
		}
	}
	return nil, false
}

// rowKey returns the non-zero numbers of a point with their columns: to the bit for digits = 0, in
// single precision for 32, otherwise with so many decimal digits.
func rowKey(x points.Points, i, digits int) (key []byte) {
	x.Entry(i, func(c int, v float64) {
		if v == 0 {
			return
		}
		key = binary.AppendVarint(key, int64(c))
		switch digits {
		case 0:
			key = binary.LittleEndian.AppendUint64(key, math.Float64bits(v))
		case 32:
			key = binary.LittleEndian.AppendUint32(key, math.Float32bits(float32(v)))
		default:
			key = append(strconv.AppendFloat(key, v, 'g', digits, 64), ' ')
		}
	})
	return key
}

// multipliers returns the α of an expansion over training points, cut to their box and balanced,
// or nil if a coefficient has the sign of the other class. Equal points share their α.
func (t *exactProblem) multipliers(at []int, coef []float64, found bool) []float64 {
	if !found {
		return nil
	}
	if t.real != nil {
		return t.sided(at, coef)
	}
	alpha := make([]float64, t.data.N())
	twins := map[string][]int{} // the points that equal a support vector, where more than one has α there
	x := points.Of(t.data)
	for k, i := range at {
		if t.y[i]*coef[k] < 0 || alpha[i] > 0 {
			if len(twins) == 0 {
				for r := range x.N() {
					twin := rowKey(x, r, 0)
					twins[string(twin)] = append(twins[string(twin)], r)
				}
			}
			best := -1
			for _, r := range twins[string(rowKey(x, i, 0))] {
				if t.y[r]*coef[k] > 0 && (best < 0 || alpha[r] < alpha[best]) {
					best = r
				}
			}
			if best < 0 {
				return nil
			}
			i = best
		}
		alpha[i] += math.Abs(coef[k])
	}
	feasible(t.problem, alpha)
	return alpha
}

// sided returns the α of a regression. Of equal points, those with larger targets have larger
// coefficients, as every loss has it at the optimum.
func (t *exactProblem) sided(at []int, coef []float64) []float64 {
	n, x := len(t.y), points.Of(t.data)
	given := map[string][]float64{}
	for k, i := range at {
		twin := string(rowKey(x, i, 0))
		given[twin] = append(given[twin], coef[k])
	}
	twins := map[string][]int{}
	for i := range n {
		twin := string(rowKey(x, i, 0))
		if given[twin] != nil {
			twins[twin] = append(twins[twin], i)
		}
	}
	alpha := make([]float64, 2*n)
	for twin, rows := range twins {
		list := given[twin]
		for len(list) < len(rows) {
			list = append(list, 0)
		}
		slices.Sort(list)
		slices.SortStableFunc(rows, func(i, j int) int { return compare(t.y[i], t.y[j]) })
		for k, c := range list {
			i := rows[min(k, len(rows)-1)] // more coefficients than points are of points that a file has made equal
			if c > 0 {
				alpha[i] += c
			} else {
				alpha[n+i] -= c
			}
		}
	}
	feasible(t.problem, alpha)
	return alpha
}

// enclosure is what machines of one problem prove together.
type enclosure struct {
	best         float64   // lower bound of the optimum
	lower, upper []float64 // bounds of the optimal f at each point
}

// enclosed combines the bounds that the machines of a list prove: the largest lower bound of the
// optimum, and at each of the points the narrowest bounds of the optimal f.
func enclosed(list []*judged, x *datasets.Dataset) (e enclosure, err error) {
	n := x.N()
	e.lower, e.upper = make([]float64, n), make([]float64, n)
	for i := range n {
		e.lower[i], e.upper[i] = math.Inf(-1), math.Inf(1)
	}
	for _, j := range list {
		if j.own == nil {
			continue
		}
		if dual := j.own.Certificate.Dual; !math.IsNaN(dual) { // NaN after an interrupt
			e.best = max(e.best, dual)
		}
		low, high, err := j.bounds(x)
		if err != nil {
			return e, err
		}
		for i := range low {
			e.lower[i], e.upper[i] = max(e.lower[i], low[i]), min(e.upper[i], high[i])
		}
	}
	return e, nil
}

// verdict is that of a machine, without what is said of labels or values.
func (j *judged) verdict(best float64) Verdict {
	v := Verdict{Name: j.name, Primal: j.primal, Dual: math.NaN(), Violation: math.NaN(), Bound: best, Points: len(j.values), SupportVectors: j.vectors, Off: math.NaN()}
	if j.own != nil {
		v.Dual, v.Violation = j.own.Certificate.Dual, j.own.Certificate.MaxKKT
	}
	return v
}

// label notes what is known of the label of a point.
func (v *Verdict) label(proof int, wrong bool) {
	switch v.Proof = append(v.Proof, proof); proof {
	case 1:
		v.Certain++
	case -1:
		v.Different++
	default:
		v.Open++
	}
	if wrong {
		v.Errors++
	}
}

// verdicts compares machines of one problem.
func (t *task) verdicts(list []*judged, e enclosure) []Verdict {
	out := make([]Verdict, len(list))
	for k, j := range list {
		v := j.verdict(e.best)
		for i, f := range j.values {
			side, proof := machines.SideOf(f), 0
			switch {
			case e.lower[i] > 0 && side == 1, e.upper[i] < 0 && side == 0:
				proof = 1
			case e.lower[i] > 0, e.upper[i] < 0:
				proof = -1
			}
			v.label(proof, side != machines.SideOf(t.y[i]))
		}
		out[k] = v
	}
	return out
}

// Table lists the machines; see [display.Table].
func (r *Refereed) Table() *display.Sheet {
	return display.NewSheet(func(s *sheet.Table) error {
		if r.none() {
			return arguments.NoFit("Table")
		}
		list := r.listed()
		numbers := func(name string, of func(v Verdict) float64) {
			var column []float64
			for _, v := range list {
				column = append(column, of(v))
			}
			s.Numbers(name, column)
		}
		var names []string
		for _, v := range list {
			names = append(names, v.Name)
		}
		s.Texts("machine", names)
		numbers("objective", func(v Verdict) float64 { return v.Primal })
		numbers("gap", Verdict.Gap)
		numbers("gap in %", func(v Verdict) float64 { return 100 * v.RelGap() })
		numbers("largest violation", func(v Verdict) float64 { return v.Violation })
		numbers("support vectors", func(v Verdict) float64 { return float64(v.SupportVectors) })
		if r.real {
			numbers("a value could change by", func(v Verdict) float64 { return v.Off })
			return nil
		}
		numbers("training errors", func(v Verdict) float64 { return float64(v.Errors) })
		numbers("labels that could change", func(v Verdict) float64 { return float64(v.Open) })
		numbers("labels that are not the optimum's", func(v Verdict) float64 { return float64(v.Different) })
		return nil
	})
}

// listed returns the verdicts, and after them those of the machines of several classes, which are
// named after both.
func (r *Refereed) listed() []Verdict {
	list := slices.Clone(r.Verdicts)
	for _, v := range r.Verdicts {
		for _, one := range v.Machines {
			one.Name = v.Name + ": " + one.Name
			list = append(list, one)
		}
	}
	return list
}

func (r *Refereed) none() bool { return r == nil || r.problem == "" }

// GapByMachine shows how far each machine of a [Refereed] is from the optimum, on a logarithmic
// axis.
var GapByMachine = display.FigureOf("GapByMachine", drawGapByMachine)

// Show displays the given figures; without figures it displays the table and GapByMachine.
func (r *Refereed) Show(figures ...display.Figure) {
	if len(figures) == 0 && !r.none() {
		r.Table().Show()
	}
	display.ShowFit(r, figures, GapByMachine)
}

// Markdown says how many machines were compared on which problem.
func (r *Refereed) Markdown() string {
	if r.none() {
		return arguments.NoFit("Markdown").Error()
	}
	s := say.NewSummary()
	s.Row("**problem**", "%s", r.problem)
	best := slices.MaxFunc(r.Verdicts, func(a, b Verdict) int { return -compare(a.Primal, b.Primal) })
	s.Row("optimum", "in [%s, %s]", say.Signed(best.Bound, 9), say.Signed(best.Primal, 9))
	s.Row("nearest", "%s, within %s", best.Name, say.Percent(best.RelGap()))
	return s.String()
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// mostGaps is the most rows of a figure of gaps.
const mostGaps = 40

func drawGapByMachine(r *Refereed) (*display.Chart, error) {
	d := figure.GapsData{Problem: r.problem, Points: r.points, Whole: len(r.Verdicts)}
	list := r.listed()
	several := len(list) > len(r.Verdicts)
	if len(list) > mostGaps {
		list = r.Verdicts
	}
	for _, v := range list {
		d.Names = append(d.Names, v.Name)
		d.Gaps = append(d.Gaps, v.RelGap())
		d.Open = append(d.Open, v.Open+v.Different)
		switch {
		case r.real:
			d.Texts = append(d.Texts, fmt.Sprintf("values within %s of the optimum's", say.Number(v.Off)))
		case several:
			d.Texts = append(d.Texts, fmt.Sprintf("%d of %d labels not proven", v.Open+v.Different, v.Points))
		}
	}
	return figure.Gaps(d)
}
