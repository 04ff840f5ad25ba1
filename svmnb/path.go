package svmnb

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/signal"
	"slices"
	"sort"

	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/cells"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// RegularisationPath has the solutions of the 1-norm soft margin for all C in an interval.
// Between breakpoints, every α_i and the bias are linear functions of C, so α_i/C is linear
// in λ = 1/C (Hastie, Rosset, Tibshirani and Zhu 2004).
type RegularisationPath struct {
	Description Classifier
	Breaks      []PathBreak // in increasing order of C; the first and the last are the ends of the interval
	Restarts    int         // how often the path had to start again from a solution by SMO, because of rounding or ties

	task *task
}

// PathBreak is a value of C at which a point reaches or leaves the margin.
type PathBreak struct {
	C, Bias float64
	Alpha   []float64 // n multipliers
	Elbow   int       // points on the margin, y f = 1, just above this C
}

// pathPoints is the largest number of points of a path, which keeps their kernel matrix.
const pathPoints = 2000

// Path follows the solution of the 1-norm soft margin from one C to a larger one, through
// the events of Hastie et al.: a point reaches the margin, or a point on the margin reaches
// α = 0 or α = C. It keeps n² kernel values and, for each breakpoint, n numbers. There are
// a few times n breakpoints, and each solves a linear system as large as the number of
// points on the margin. Class and sample weights multiply C. When ctx ends early, Path
// returns the path so far with an error that wraps context.Cause(ctx).
func (c Classifier) Path(ctx context.Context, from, to float64) (_ *RegularisationPath, err error) {
	defer guard.Caught(&err)
	if err := arguments.Given(ctx, "Path"); err != nil {
		return nil, err
	}
	if !(from > 0 && from < to) || math.IsInf(to, 1) {
		return nil, arguments.Wrong("Path", from, "C goes from %v to %v; give two positive numbers in order", from, to)
	}
	switch {
	case c.margin != oneNorm:
		return nil, arguments.Wrong("Path", math.NaN(), "only the 1-norm soft margin has a path that is linear between breaks; leave TwoNorm, HardMargin and Nu out")
	case c.biasFixed():
		return nil, arguments.Wrong("Path", math.NaN(), "the path is that of a free bias; leave FixedBias, Augment and methods that need them out")
	case c.data.N() > pathPoints:
		return nil, arguments.Wrong("Path", float64(c.data.N()), "there are %d points, and the path holds their kernel matrix; take at most %d", c.data.N(), pathPoints)
	}
	c.method, c.cache = solvers.SMO{}, 8*pathPoints*pathPoints // a cache for all rows, so that every row stays valid
	t, err := c.C(1).prepare()
	if err != nil {
		return nil, err
	}
	p := &tracer{t: t, n: len(t.y), unit: t.cost, y: t.y, to: to, f: make([]float64, len(t.y)), df: make([]float64, len(t.y)), state: make([]place3, len(t.y))}
	total := 0.0
	for _, u := range p.unit {
		total += u
	}
	for i := range p.n {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("svmnb: Path: before its begin at C = %v: %w", from, context.Cause(ctx))
		}
		p.k = append(p.k, t.k.Row(i))
		p.rounding = max(p.rounding, 1e-11*total*p.k[i][i])
	}
	path := &RegularisationPath{Description: t.Classifier, task: t}
	err = p.trace(ctx, path, from)
	if len(path.Breaks) == 0 {
		return nil, err
	}
	return path, err
}

// MustPath is Path for a notebook cell; see [Classifier.MustFit].
func (c Classifier) MustPath(from, to float64) *RegularisationPath {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	p, err := c.Path(ctx, from, to)
	switch {
	case p == nil:
		cells.Must(err)
	case err != nil && ctx.Err() == nil:
		cells.Must(err)
	case err != nil:
		cells.Warn(fmt.Sprintf("interrupted at C = %s; this is the path so far", say.Signed(p.Breaks[len(p.Breaks)-1].C, 4)))
	}
	return p
}

// place3 is the position of a point relative to the margin.
type place3 int8

const (
	right place3 = iota // outside or on the margin: α = 0, y f ≥ 1
	elbow               // on the margin: y f = 1
	left                // inside or on the margin: α = C, y f ≤ 1
)

// tracer follows a path. All numbers that change are linear in C between events; d… is a
// derivative with respect to C.
type tracer struct {
	t     *task
	n     int
	k     [][]float64 // kernel matrix
	y     []float64
	unit  []float64 // upper bounds of α for C = 1
	to    float64
	c     float64
	state []place3
	alpha []float64
	b     float64
	f, df []float64 // Σ_j α_j y_j K_ij + b, and its derivative
	noise float64   // slopes of y f below this are treated as 0

	rounding float64   // rounding error of such a slope
	on       []int     // indices of the points in the elbow
	slope    []float64 // derivatives of their α
	db       float64
}

// settle starts from the solution at C that SMO computes with a small tolerance.
func (p *tracer) settle(ctx context.Context, c float64) error {
	cost := slices.Clone(p.unit)
	for i := range cost {
		cost[i] *= c
	}
	q := solvers.SoftMargin(p.t.k, p.y, cost)
	res, err := solvers.Solve(ctx, q, solvers.SMO{}, solvers.Settings{Stop: solvers.UpLow{Tol: 1e-10}, Every: -1})
	if err != nil {
		return fmt.Errorf("svmnb: Path: at C = %v: %w", c, err)
	}
	p.c, p.alpha, p.b = c, res.Alpha, res.Bias
	for i, a := range p.alpha {
		switch {
		case a <= 0:
			p.state[i] = right
		case a >= cost[i]:
			p.state[i] = left
		default:
			p.state[i] = elbow
		}
	}
	return nil
}

// direction computes how α in the elbow E and b change with C, so that y f stays 1 in E:
//
//	Σ_{j∈E} y_i y_j K_ij α_j' + y_i b' = −Σ_{j∈L} y_i y_j K_ij u_j  for i ∈ E,
//	Σ_{j∈E} y_j α_j' = −Σ_{j∈L} y_j u_j.
//
// L are the points in state left, where α_j' = u_j, the weight of C (Hastie et al., eqs.
// 18–22, with C in place of λ). A second right-hand side, the error of y f = 1, corrects
// rounding errors in α. Equal points make the system singular, since only the sum of their
// α is determined. In that case 1e-10 of K's diagonal is added, which chooses the smallest
// change of α.
func (p *tracer) direction() {
	p.on = p.on[:0]
	sum := 0.0
	for i := range p.df {
		p.df[i] = 0
		switch p.state[i] {
		case elbow:
			p.on = append(p.on, i)
		case left:
			sum += p.y[i] * p.unit[i]
		}
	}
	for j, s := range p.state {
		if s == left {
			u := p.y[j] * p.unit[j]
			for i, k := range p.k[j] {
				p.df[i] += u * k
			}
		}
	}
	m := len(p.on)
	p.slope, p.db, p.noise = make([]float64, m), 0, p.rounding
	if m == 0 { // no condition on b, so b stays
		for i := range p.f {
			p.f[i] = p.c*p.df[i] + p.b
		}
		return
	}
	missing := -p.c * sum
	for i := range p.f {
		p.f[i] = p.c*p.df[i] + p.b
	}
	for _, j := range p.on {
		beta := p.alpha[j] * p.y[j]
		missing -= beta
		for i, k := range p.k[j] {
			p.f[i] += beta * k
		}
	}
	// In β = y α: [K 1; 1' 0] [β'; b'] = [−df; −sum]. The second right-hand side is [y − f;
	// missing].
	size := m + 1
	a := blas64.General{Rows: size, Cols: size, Stride: size, Data: make([]float64, size*size)}
	rhs := blas64.General{Rows: size, Cols: 2, Stride: 2, Data: make([]float64, 2*size)}
	for r, i := range p.on {
		for s, j := range p.on {
			a.Data[r*size+s] = p.k[i][j]
		}
		a.Data[r*size+m], a.Data[m*size+r] = 1, 1
		rhs.Data[2*r], rhs.Data[2*r+1] = -p.df[i], p.y[i]-p.f[i]
	}
	rhs.Data[2*m], rhs.Data[2*m+1] = -sum, missing
	copied := slices.Clone(a.Data)
	norm := lapack64.Lange(lapack.MaxColumnSum, a, make([]float64, size))
	pivot := make([]int, size)
	if !lapack64.Getrf(a, pivot) || lapack64.Gecon(lapack.MaxColumnSum, a, norm, make([]float64, 4*size), make([]int, size)) < 1e-13 {
		copy(a.Data, copied)
		for r, i := range p.on {
			a.Data[r*size+r] += 1e-10 * (p.k[i][i] + 1)
		}
		p.noise = 100 * p.rounding
		lapack64.Getrf(a, pivot)
	}
	lapack64.Getrs(blas.NoTrans, a, rhs, pivot)
	p.db = rhs.Data[2*m]
	p.b += rhs.Data[2*m+1]
	for i := range p.f {
		p.f[i] += rhs.Data[2*m+1]
		p.df[i] += p.db
	}
	for r, j := range p.on {
		p.slope[r] = rhs.Data[2*r] * p.y[j]
		p.alpha[j] += rhs.Data[2*r+1] * p.y[j]
		for i, k := range p.k[j] {
			p.df[i] += rhs.Data[2*r] * k
			p.f[i] += rhs.Data[2*r+1] * k
		}
	}
}

// event returns the next C at which points change their state, and these points.
func (p *tracer) event() (at float64, who []int) {
	at = p.to
	note := func(c float64, i ...int) {
		c = max(c, p.c) // rounding may put the event before the current C
		if c < at {
			at, who = c, i
		}
	}
	for r, i := range p.on {
		a, s := p.alpha[i], p.slope[r]
		if s < 0 {
			note(p.c-a/s, i)
		}
		if s > p.unit[i] { // the bound C u grows too
			note(p.c+(p.unit[i]*p.c-a)/(s-p.unit[i]), i)
		}
	}
	if len(p.on) > 0 {
		for i, s := range p.state {
			m, d := p.y[i]*p.f[i]-1, p.y[i]*p.df[i]
			if s == right && d < -p.noise || s == left && d > p.noise {
				note(p.c-m/d, i)
			}
		}
		return at, who
	}
	// The elbow is empty. F = y − Σ α y K of the points that could rise stays below F of
	// the points that could fall. The next event is where two of these meet; they become
	// the elbow.
	for i, s := range p.state {
		if (s == left) == (p.y[i] > 0) {
			continue // α_i y_i can only fall
		}
		for j, s := range p.state {
			if (s == left) != (p.y[j] > 0) {
				continue
			}
			room := (p.y[j] - p.f[j]) - (p.y[i] - p.f[i])
			if d := p.df[i] - p.df[j]; d < -p.noise {
				note(p.c-room/d, i, j)
			}
		}
	}
	return at, who
}

// move advances to the event at C and changes the states of its points.
func (p *tracer) move(at float64, who []int) {
	for r, i := range p.on {
		p.alpha[i] += p.slope[r] * (at - p.c)
	}
	p.b += p.db * (at - p.c)
	p.c = at
	for _, i := range who {
		switch {
		case p.state[i] != elbow:
			p.state[i] = elbow
		case p.slope[slices.Index(p.on, i)] < 0:
			p.state[i] = right
		default:
			p.state[i] = left
		}
	}
	for i, s := range p.state {
		switch s {
		case right:
			p.alpha[i] = 0
		case left:
			p.alpha[i] = p.unit[i] * at
		}
	}
}

// stuck is how many events at the same C are taken for ties; more are taken for a cycle.
const stuck = 20

// trace goes from event to event. If ties of several points leave the next state
// undetermined, it continues from the solution at a slightly larger C.
func (p *tracer) trace(ctx context.Context, path *RegularisationPath, from float64) error {
	if err := p.settle(ctx, from); err != nil {
		return err
	}
	for still := 0; ; {
		if ctx.Err() != nil {
			return fmt.Errorf("svmnb: Path: at C = %v of %v: %w", p.c, p.to, context.Cause(ctx))
		}
		p.direction()
		if still > stuck || !p.legal() {
			if path.Restarts++; path.Restarts > 100+p.n {
				return arguments.Wrong("Path", p.c, "at C = %v several points reach a bound together, again and again, and the path finds no way on; add a little noise to the points, or take a kernel that tells them apart", p.c)
			}
			if err := p.settle(ctx, min(p.c*(1+1e-6), p.to)); err != nil {
				return err
			}
			still = 0
			p.direction()
		}
		now := PathBreak{C: p.c, Bias: p.b, Alpha: slices.Clone(p.alpha), Elbow: len(p.on)}
		if last := len(path.Breaks) - 1; last >= 0 && path.Breaks[last].C == p.c {
			path.Breaks[last] = now // of several events at one C, keep the last
		} else {
			path.Breaks = append(path.Breaks, now)
		}
		if p.c >= p.to {
			return nil
		}
		before := p.c
		p.move(p.event())
		if still++; p.c > before*(1+1e-12) {
			still = 0
		}
	}
}

// legal reports whether the α in the elbow are inside their bounds and the other points are
// on the right side of the margin, within rounding.
func (p *tracer) legal() bool {
	const tol = 1e-6
	for i, s := range p.state {
		m, top := p.y[i]*p.f[i]-1, p.unit[i]*p.c
		switch {
		case s == elbow && (p.alpha[i] < -tol*top || p.alpha[i] > top*(1+tol)),
			len(p.on) > 0 && (s == right && m < -tol || s == left && m > tol):
			return false
		}
	}
	return true
}

// At returns the machine for a C within the path, with its certificate.
func (r *RegularisationPath) At(c float64) (_ *Fit, err error) {
	defer guard.Caught(&err)
	if r.none() {
		return nil, arguments.NoFit("At")
	}
	alpha, bias, err := r.at(c)
	if err != nil {
		return nil, err
	}
	t, err := r.Description.C(c).prepare()
	if err != nil {
		return nil, err
	}
	for i := range alpha {
		alpha[i] = min(max(alpha[i], 0), t.problem.Upper[i])
	}
	res := &solvers.Result{Method: "regularisation path", Alpha: alpha, Status: solvers.Converged, Certificate: solvers.Certify(t.problem, alpha)}
	res.Bias = bias
	return t.fit(res), nil
}

// at interpolates between two breakpoints.
func (r *RegularisationPath) at(c float64) (alpha []float64, bias float64, err error) {
	first, last := r.Breaks[0].C, r.Breaks[len(r.Breaks)-1].C
	if !(c >= first && c <= last) {
		return nil, 0, arguments.Wrong("At", c, "C is %v; the path is known from %v to %v", c, first, last)
	}
	k := sort.Search(len(r.Breaks), func(k int) bool { return r.Breaks[k].C >= c })
	if r.Breaks[k].C == c {
		return slices.Clone(r.Breaks[k].Alpha), r.Breaks[k].Bias, nil
	}
	a, b := r.Breaks[k-1], r.Breaks[k]
	share := (c - a.C) / (b.C - a.C)
	alpha = make([]float64, len(a.Alpha))
	for i := range alpha {
		alpha[i] = a.Alpha[i] + share*(b.Alpha[i]-a.Alpha[i])
	}
	return alpha, a.Bias + share*(b.Bias-a.Bias), nil
}

// Markdown returns the interval, the number of breakpoints and the numbers of support
// vectors at both ends.
func (r *RegularisationPath) Markdown() string {
	if r.none() {
		return arguments.NoFit("Markdown").Error()
	}
	s := say.NewSummary()
	first, last := r.Breaks[0], r.Breaks[len(r.Breaks)-1]
	support := func(b PathBreak) (n int) {
		for _, a := range b.Alpha {
			if a > 0 {
				n++
			}
		}
		return n
	}
	most := 0
	for _, b := range r.Breaks {
		most = max(most, b.Elbow)
	}
	s.Row("**path**", "%s from C = %s to %s", r.task.data.Name, say.Signed(first.C, 4), say.Signed(last.C, 4))
	s.Row("kernel", "%v", r.task.kernel)
	s.Row("breakpoints", "%d; at most %d points on the margin at once", r.between(), most)
	s.Row("support vectors", "%d of %d points at the beginning, %d at the end", support(first), len(first.Alpha), support(last))
	if r.Restarts > 0 {
		s.Row("restarts", "%d, where ties left open who moves", r.Restarts)
	}
	return s.String()
}

// Show displays the given figures of the path. Without figures it displays the summary and
// Path.
func (r *RegularisationPath) Show(figures ...display.Figure) {
	display.ShowFit(r, figures, Path)
}

// Path shows αᵢ/C of each point of a [RegularisationPath], over C.
var Path = display.FigureOf("Path", func(r pathed) (*display.Chart, error) { return r.drawPath() })

// pathed is implemented by *RegularisationPath only. It is an interface so that a cell
// without a path does not link RegularisationPath.
type pathed interface {
	drawPath() (*display.Chart, error)
}

func (r *RegularisationPath) drawPath() (*display.Chart, error) {
	first, last := r.Breaks[0].C, r.Breaks[len(r.Breaks)-1].C
	if last == first {
		return nil, arguments.Wrong("Path", first, "the path ends where it begins, so there is nothing to draw; give Path a wider range of C, or let it run on where it was interrupted")
	}
	d := figure.PathData{Problem: fmt.Sprintf("%s · %s", r.task.data.Name, say.Brief(r.task.kernel.String())), Breaks: r.between(), C: r.places(), A: make([][]float64, len(r.task.y)), Y: r.task.y,
		Classes: [2]string{say.Class(r.task.negative), say.Class(r.task.positive)}}
	for _, c := range d.C {
		alpha, _, err := r.at(c)
		if err != nil {
			return nil, err
		}
		for i, a := range alpha {
			d.A[i] = append(d.A[i], min(max(a/(r.task.cost[i]*c), 0), 1))
		}
	}
	return figure.Path(d)
}

// between is the number of breakpoints between the ends of the path.
func (r *RegularisationPath) between() int { return max(len(r.Breaks)-2, 0) }

// places returns the C at which the path is drawn: the breakpoints, where the lines bend, and
// places between them, since the lines are curves on a logarithmic axis. Of breakpoints that
// are less than half a pixel apart only the first is drawn.
func (r *RegularisationPath) places() []float64 {
	const samples, pixels = 120, 1000
	first, last := r.Breaks[0].C, r.Breaks[len(r.Breaks)-1].C
	apart, step := math.Pow(last/first, 0.5/pixels), math.Pow(last/first, 1.0/samples)
	places := []float64{first}
	for _, b := range r.Breaks[1:] {
		before := places[len(places)-1]
		if b.C < before*apart && b.C < last {
			continue
		}
		for n := math.Ceil(math.Log(b.C/before) / math.Log(step)); n > 1; n-- {
			before *= math.Pow(b.C/before, 1/n)
			places = append(places, before)
		}
		places = append(places, b.C)
	}
	return places
}
