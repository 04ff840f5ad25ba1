package svmnb

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/runs"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// solved is a fit that comes from one run of a method of package solvers.
type solved interface{ record() record }

// record is what figures need of a run. The last point of its trace is computed from the
// certificate, so figures end with the numbers of the summary.
type record struct {
	*solvers.Result
	problem *solvers.Problem // nil for Crammer and Singer
	asking  *sync.Mutex      // locks the matrix of the problem
	stop    solvers.Criterion
	words   string // what was solved, for a subtitle
	points  int    // n; a regression has 2n multipliers
}

func (f *Fit) record() record {
	return record{runs.Certified(f.Result), f.task.problem, f.task.asking, f.task.stop, f.task.words() + " · " + f.Method, len(f.Alpha)}
}

var (
	// Margins shows the decision function of two features: the lines f = 0 and f = ±1, the
	// points, the support vectors (free ones and those at their bound) and the errors. If
	// there are not two features, it shows the distribution of f in each class.
	Margins = display.FigureOf("Margins", drawMargins)

	// KKT shows how the violation of each training point's KKT condition fell during the
	// run.
	KKT = display.FigureOf("KKT", drawKKT)

	// Gap shows how the primal and the dual objective approached the optimum.
	Gap = display.FigureOf("Gap", drawGap)

	// Rate shows how fast the gap fell, on a logarithmic scale, where linear convergence is
	// a straight line, and fits such a line.
	Rate = display.FigureOf("Rate", drawRate)
)

// Show displays the given figures of the fit. Without figures it displays the summary and
// Margins.
func (f *Fit) Show(figures ...display.Figure) {
	display.ShowFit(f, figures, Margins)
}

// gridWork limits the kernel values for the field of a figure: about a tenth of a second.
const gridWork = 2_000_000

func drawMargins(f *Fit) (*display.Chart, error) {
	t := f.task
	classes := [2]string{say.Class(t.negative), say.Class(t.positive)}
	problem := t.words()
	if !t.plane() {
		d := figure.ScoresData{Problem: problem, Classes: classes, Margin: f.Margin(), OneClass: t.margin == oneClass, Ball: t.margin == enclosing, Line: f.line, Free: f.Certificate.Free, Bound: f.Certificate.AtUpper}
		var rows []int
		if rows, d.F = f.glance(); rows != nil { // the counts are those of the points that were looked at
			d.Problem, d.Free, d.Bound = problem+glanced(rows, len(t.y)), 0, 0
			for _, i := range rows {
				switch {
				case f.Alpha[i] >= t.problem.Upper[i]:
					d.Bound++
				case f.Alpha[i] > 0:
					d.Free++
				}
			}
		}
		d.Y = pick(t.y, rows)
		return figure.Scores(d)
	}
	return f.drawOver(wholePlane(t.data))
}

func (f *Fit) drawOver(p *section) (*display.Chart, error) {
	t := f.task
	rows, values := f.glance()
	x := p.shadow(pick(t.data.X, rows))
	d := figure.MarginsData{
		Problem: t.words() + glanced(rows, len(t.y)), Note: p.note, Classes: [2]string{say.Class(t.negative), say.Class(t.positive)}, Margin: f.Margin(), OneClass: t.margin == oneClass, Ball: t.margin == enclosing,
		Features: p.names, Unlike: p.unlike,
		X: x, Y: pick(t.y, rows), Alpha: pick(f.Alpha, rows), Upper: pick(t.problem.Upper, rows), F: values, Line: f.line,
		Edge: t.edge(), States: t.states(), Violations: f.violations(rows, values),
		Xs: figure.Around(x, 0), Ys: figure.Around(x, 1),
	}
	nodes := gridOver(p, d.Xs, d.Ys, fieldNodes(len(f.expansion.Coef)))
	d.Z = fieldOver(&f.expansion, nodes)
	d.Band = f.bandOver(slices.Concat(nodes...), d.Z, gridWork)
	if certain := f.certainTraining(); certain != nil {
		d.Note = strings.TrimPrefix(d.Note+" · "+certainText(certain), " · ")
	}
	return figure.Margins(d)
}

// fieldNodes returns the number of nodes of a field, for a machine with so many support
// vectors.
func fieldNodes(vectors int) int { return min(max(gridWork/max(vectors, 1), 1000), 7000) }

// grid returns a grid of about so many nodes over the ranges xs and ys: node [i][j] is at the
// j-th place of xs and the i-th of ys. The cells of the grid are about square.
func grid(xs, ys [2]float64, nodes int) [][][]float64 {
	return gridOver(&section{origin: []float64{0, 0}, u: []float64{1, 0}, v: []float64{0, 1}}, xs, ys, nodes)
}

// fieldOver returns f at the nodes of a grid.
func fieldOver(e *machines.Expansion, nodes [][][]float64) [][]float64 {
	return slices.Collect(slices.Chunk(e.Values(points.Rows(slices.Concat(nodes...))), len(nodes[0])))
}

// gridOver is grid for a section through points of any number of features.
func gridOver(over *section, xs, ys [2]float64, nodes int) [][][]float64 {
	aspect := min(max((ys[1]-ys[0])/(xs[1]-xs[0]), 0.4), 2.5)
	nx := int(math.Sqrt(float64(nodes) / aspect))
	ny := nodes / nx
	grid := make([][]float64, nx*ny)
	for p := range grid {
		i, j := p/nx, p%nx
		grid[p] = over.at(xs[0]+(xs[1]-xs[0])*float64(j)/float64(nx-1), ys[0]+(ys[1]-ys[0])*float64(i)/float64(ny-1))
	}
	return slices.Collect(slices.Chunk(grid, nx))
}

// kktValues limits how many violations drawKKT keeps, 8 bytes each.
const kktValues = 4_000_000

func drawKKT(fit solved) (*display.Chart, error) {
	f := fit.record()
	if f.problem == nil {
		return nil, fmt.Errorf("KKT: a %T has a condition for each point and class, and the figure shows one for each point; look at Gap", fit)
	}
	p, n := f.problem, len(f.Alpha)
	d := figure.KKTData{Problem: f.words, Tol: 1e-3}
	switch stop := f.stop.(type) {
	case solvers.UpLow:
		d.Tol = stop.Tol / 2 // UpLow guarantees this violation at the best bias
	case solvers.KKT:
		d.Tol = stop.Tol
	}
	// F is updated by the α that changed from one point of the trace to the next.
	values, alpha := make([]float64, n), make([]float64, n)
	for i := range values {
		values[i] = -p.S[i] * p.P[i]
	}
	points := f.Trace.Points[:min(f.Trace.Replayable(), len(f.Trace.Points))]
	if values, products := replayCost(points, n); values > glanceWork || products > 20*glanceWork {
		return nil, tooLong("KKT", max(values, products/20), "look at Gap, whose numbers the run has kept, or at KKT of a sample of the data")
	}
	keep := max(kktValues/n, 40)
	f.asking.Lock()
	defer f.asking.Unlock()
	for k, pt := range points {
		for c, i := range pt.Changed {
			step := (pt.Alpha[c] - alpha[i]) * p.S[i]
			for j, v := range p.K.Row(i) {
				values[j] -= step * v
			}
			if p.Ridge != nil {
				values[i] -= step * p.Ridge[i]
			}
			alpha[i] = pt.Alpha[c]
		}
		if stride := len(points)/keep + 1; k%stride != 0 && k != len(points)-1 {
			continue
		}
		if pt.Iteration == f.Iterations { // for the last point, F is computed afresh, as in the table of conditions
			alpha, values = f.Alpha, nil
		}
		d.Iterations = append(d.Iterations, pt.Iteration)
		d.Violations = append(d.Violations, fold(p.Violations(nil, alpha, values), f.points))
	}
	return figure.KKT(d)
}

func drawGap(fit solved) (*display.Chart, error) {
	f := fit.record()
	d := figure.GapData{Problem: f.words, Points: f.Trace.Points, Log: f.Iterations > 2000}
	d.Tol, d.TolName = runs.GoodGap(f.stop, f.Certificate.Primal)
	return figure.Gap(d)
}

func drawRate(fit solved) (*display.Chart, error) {
	f := fit.record()
	d := figure.RateData{Problem: f.words, Points: f.Trace.Points}
	if f.Trace.Sweep == 1 {
		d.Unit = "epoch"
	}
	return figure.Rate(d)
}

// words describes the problem for a subtitle.
func (t *task) words() string {
	return fmt.Sprintf("%s · %s, %s", t.data.Name, say.Brief(t.kernel.String()), t.marginText())
}
