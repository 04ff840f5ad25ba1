package svmnb

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/signal"
	"slices"
	"strconv"

	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/cells"
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
	s := fmt.Sprintf("the exact optimum is in [%.6g, %.6g], so the machine is within %s of it", v.Bound, v.Primal, say.Percent(v.RelGap()))
	if v.Certain+v.Open+v.Different == 0 {
		return s
	}
	return fmt.Sprintf("%s; %d of %d training labels are those of the optimum", s, v.Certain, v.Points)
}

// Entry is a machine that [Classifier.Referee] judges, under a name.
type Entry struct {
	Name  string
	Model model.Modeler // a fit, or a *[model.Model] that was read from a file
}

// Refereed are machines for one problem, side by side.
type Refereed struct {
	Description Classifier
	Verdicts    []Verdict

	task *task
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
	if err := arguments.Given(ctx, "Referee"); err != nil {
		return nil, err
	}
	if len(entries) == 0 {
		return nil, arguments.Wrong("Referee", 0, "there is no machine to judge; give one such as svmnb.Entry{\"LIBSVM\", m}")
	}
	t, err := c.prepare()
	if err != nil {
		return nil, err
	}
	if t.margin != oneNorm && t.margin != twoNorm {
		return nil, arguments.Wrong("Referee", math.NaN(), "the referee knows the 1-norm and the 2-norm soft margin; leave HardMargin, Nu and OneClass out")
	}
	var list []*judged
	proven := false
	for _, e := range entries {
		j, err := t.judge(ctx, e)
		if err != nil {
			return nil, err
		}
		list = append(list, j)
		proven = proven || j.own != nil
	}
	if !proven {
		own := *t
		own.stop = solvers.Gap{Rel: 1e-6}
		fit, err := own.solve(ctx)
		if err != nil {
			return nil, err
		}
		j, err := t.judge(ctx, Entry{"svmnb", fit})
		if err != nil {
			return nil, err
		}
		list = append(list, j)
	}
	v, err := t.verdicts(list)
	return &Refereed{t.Classifier, v, t}, err
}

// MustReferee is Referee for a notebook cell. An error is printed and ends the cell; outside a
// notebook it panics.
func (c Classifier) MustReferee(entries ...Entry) *Refereed {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	r, err := c.Referee(ctx, entries...)
	if err != nil {
		cells.Must(err)
	}
	return r
}

// judged is a machine with what its verdict needs.
type judged struct {
	name    string
	primal  float64
	values  []float64 // f at the training points, whose signs are the labels
	own     *Fit      // of its multipliers; nil if it has none
	vectors int
}

// judge evaluates a machine in the problem of t.
func (t *task) judge(ctx context.Context, e Entry) (*judged, error) {
	bad := func(format string, args ...any) error {
		return arguments.Wrong("Referee", math.NaN(), "%s: %s", e.Name, fmt.Sprintf(format, args...))
	}
	if guard.IsNil(e.Model) {
		return nil, bad("the model is nil")
	}
	m := e.Model.Model()
	in := m.Inside()
	switch {
	case in.Terms == nil:
		return nil, bad("the model is empty")
	case len(in.Terms) != 1 || len(in.Classes) != 2:
		return nil, bad("the model is of %v; the referee judges machines of two classes", in.Kind)
	case in.Before != nil:
		return nil, bad("the model has steps before the machine; give the transformed points as data, and Transformed() of the model")
	case in.Expansion.D != t.data.D():
		return nil, bad("the model has %s, the data have %d", say.Several(in.Expansion.D, "feature"), t.data.D())
	}
	sign, err := t.orientation(in)
	if err != nil {
		return nil, bad("%v", err)
	}
	at, exact := t.find(in.Expansion.X)
	x := in.Expansion.X
	if exact {
		x = points.Of(t.data).Some(at)
	}
	if off := unlike(t.kernel, in.Kernel, points.Of(t.data)); off > 1e-4 {
		return nil, bad("the kernel of the model is %v, that of the problem %v", in.Kernel, t.kernel)
	}
	coef := make([]float64, len(in.Terms[0].Coef))
	for k, c := range in.Terms[0].Coef {
		coef[k] = sign * c
	}
	b := sign * in.Terms[0].B
	j := &judged{name: e.Name, vectors: len(coef)}
	labels, err := m.Predict(t.data)
	if err != nil {
		return nil, err
	}
	basis, w := x.Basis(t.kernel), make([]float64, len(coef))
	x.AddTimes([][]float64{w}, basis, [][]float64{coef})
	norm2 := 0.0
	for k, c := range coef {
		norm2 += c * w[k]
	}
	if alpha := t.multipliers(at, coef, exact); alpha != nil {
		res, err := t.exact().at(ctx, alpha)
		if err != nil {
			return nil, err
		}
		j.own = t.fit(res)
	}
	sums := make([]float64, t.data.N())
	points.Of(t.data).AddTimes([][]float64{sums}, basis, [][]float64{coef})
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
	for i, name := range labels { // rounding may have given a point the other label
		if side := machines.SideOf(sums[i]); name != [2]string{t.negative, t.positive}[side] && in.Classes[t.classOf(in, side)] != name {
			j.values[i] = -sums[i]
		}
	}
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
func (t *task) find(vectors points.Points) (at []int, found bool) {
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
func (t *task) multipliers(at []int, coef []float64, found bool) []float64 {
	if !found {
		return nil
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

// verdicts compares machines of one problem.
func (t *task) verdicts(list []*judged) ([]Verdict, error) {
	n := t.data.N()
	lower, upper := make([]float64, n), make([]float64, n)
	for i := range lower {
		lower[i], upper[i] = math.Inf(-1), math.Inf(1)
	}
	best := 0.0
	for _, j := range list {
		if j.own == nil {
			continue
		}
		best = max(best, j.own.Certificate.Dual)
		low, high, err := j.own.Bounds(t.data)
		if err != nil {
			return nil, err
		}
		for i := range low {
			lower[i], upper[i] = max(lower[i], low[i]), min(upper[i], high[i])
		}
	}
	out := make([]Verdict, len(list))
	for k, j := range list {
		v := Verdict{Name: j.name, Primal: j.primal, Dual: math.NaN(), Violation: math.NaN(), Bound: best, Points: n, SupportVectors: j.vectors, Proof: make([]int, n)}
		if j.own != nil {
			v.Dual, v.Violation = j.own.Certificate.Dual, j.own.Certificate.MaxKKT
		}
		for i, f := range j.values {
			side := machines.SideOf(f)
			switch {
			case lower[i] > 0 && side == 1, upper[i] < 0 && side == 0:
				v.Certain++
				v.Proof[i] = 1
			case lower[i] > 0, upper[i] < 0:
				v.Different++
				v.Proof[i] = -1
			default:
				v.Open++
			}
			if side != machines.SideOf(t.y[i]) {
				v.Errors++
			}
		}
		out[k] = v
	}
	return out, nil
}

// Table lists the machines; see [display.Table].
func (r *Refereed) Table() *display.Sheet {
	return display.NewSheet(func(s *sheet.Table) error {
		if r.none() {
			return arguments.NoFit("Table")
		}
		numbers := func(name string, of func(v Verdict) float64) {
			var list []float64
			for _, v := range r.Verdicts {
				list = append(list, of(v))
			}
			s.Numbers(name, list)
		}
		var names []string
		for _, v := range r.Verdicts {
			names = append(names, v.Name)
		}
		s.Texts("machine", names)
		numbers("objective", func(v Verdict) float64 { return v.Primal })
		numbers("gap", Verdict.Gap)
		numbers("gap in %", func(v Verdict) float64 { return 100 * v.RelGap() })
		numbers("largest violation", func(v Verdict) float64 { return v.Violation })
		numbers("support vectors", func(v Verdict) float64 { return float64(v.SupportVectors) })
		numbers("training errors", func(v Verdict) float64 { return float64(v.Errors) })
		numbers("labels that could change", func(v Verdict) float64 { return float64(v.Open) })
		numbers("labels that are not the optimum's", func(v Verdict) float64 { return float64(v.Different) })
		return nil
	})
}

func (r *Refereed) none() bool { return r == nil || r.task == nil }

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
	t, s := r.task, say.NewSummary()
	s.Row("**problem**", "%s", t.words())
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

func drawGapByMachine(r *Refereed) (*display.Chart, error) {
	d := figure.GapsData{Problem: r.task.words()}
	for _, v := range r.Verdicts {
		d.Names = append(d.Names, v.Name)
		d.Gaps = append(d.Gaps, v.RelGap())
		d.Open = append(d.Open, v.Open+v.Different)
	}
	d.Points = r.task.data.N()
	return figure.Gaps(d)
}
