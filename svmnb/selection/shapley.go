package selection

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/parallel"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/cells"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/learn"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/sheet"
	"github.com/svmnb/svmnb/svmnb/model"
)

// Attribution divides the values of a model at some points among their features, by Shapley
// values: Base + Σ_j Values[i][j] = F[i].
type Attribution struct {
	Model    *model.Model
	Features []string
	Values   [][]float64 // m × d
	Base     float64     // the value of the model when no feature is known
	F        []float64   // the value of the model at each point

	// Errors are the standard errors of the Values, m × d; nil if the Values are exact.
	Errors [][]float64
}

// permutations is the number of orders of the features that are drawn for a point, half of them
// the reverse of the others.
const permutations = 200

// Shapley computes the Shapley values of the features at m points x, for a regression, a process
// or a machine of two classes. The game of a point (Štrumbelj and Kononenko 2010; Lundberg and Lee
// 2017) gives a set S of features the mean value of f over background points whose features in S
// are replaced by those of the point. The Shapley value of a feature is what it adds to that,
// averaged over all orders in which features can become known. background is a sample of the
// data, such as 100 rows.
//
// For product kernels (see [kernels.Factors]) and linear ones the values are exact. With p_l and
// q_l the kernel's factors of feature l at the point and at a background point,
//
//	φ_j = Σ_i α_i (p_j − q_j) ∫₀¹ Π_{l≠j} (t p_l + (1−t) q_l) dt,
//
// since the average over all orders gives a set of s other features the weight
// s!(d−1−s)!/d! = ∫₀¹ t^s (1−t)^(d−1−s) dt. The integrand is a polynomial, so d/2 Gauss–Legendre nodes compute it exactly, in O(d²) operations for each support
// vector and background point. Without a background (nil), absent features are left out of the
// kernel's product, q_l = 1; this is the game of arXiv 2505.16516.
//
// For other kernels, and behind steps that mix features, the values are means over 200 orders,
// each with a background point drawn at random, and have standard errors.
//
// Shapley values describe the model and say nothing of causes. When ctx ends early, Shapley returns
// the points so far with an error that wraps context.Cause(ctx).
func Shapley(ctx context.Context, fit model.Modeler, x, background datasets.Points) (_ *Attribution, err error) {
	return shapley(ctx, fit, x, background, nil)
}

// MustShapley is [Shapley] for a notebook cell; see [MustImportances].
func MustShapley(fit model.Modeler, x, background datasets.Points) *Attribution {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	a, err := shapley(ctx, fit, x, background, cells.Progress(time.Second))
	switch {
	case err != nil && (a == nil || ctx.Err() == nil):
		cells.Must(err)
	case err != nil:
		cells.Warn("interrupted; these are the points so far")
	}
	return a
}

func shapley(ctx context.Context, fit model.Modeler, x, background datasets.Points, show func(line string, last bool)) (_ *Attribution, err error) {
	defer guard.Caught(&err)
	const call = "Shapley"
	if err := arguments.Given(ctx, call); err != nil {
		return nil, err
	}
	m := model.Of(fit)
	if m == nil {
		return nil, arguments.NoFit(call)
	}
	at, behind := points.From(x), points.Points{}
	if background != nil {
		behind = points.From(background)
	}
	if at.Sparse != nil || behind.Sparse != nil || at.X == nil || background != nil && len(behind.X) == 0 {
		return nil, arguments.Wrong(call, math.NaN(), "the points and the background must be dense rows, at least one of each; of a table, take the features behind its steps")
	}
	a := &Attribution{Model: m}
	values, err := m.Values(x) // this also checks x
	if err != nil {
		return nil, err
	}
	for j := range len(at.X[0]) {
		a.Features = append(a.Features, featureName(m, x, j))
	}
	g := gameOf(m)
	switch {
	case g != nil:
		err = g.prepare(ctx, x, background)
	case background == nil:
		return nil, arguments.Wrong(call, math.NaN(), "%v has no product kernel on the features as they are, so absent features cannot be left out; give background points, such as 100 rows of the data", m)
	}
	if err != nil {
		return nil, err
	}
	base := 0.0
	if g != nil {
		base = g.base()
	} else {
		known, err := m.Values(background)
		if err != nil {
			return nil, err
		}
		base, _ = meanError(known)
	}
	a.Base = base
	for i, f := range values {
		if ctx.Err() != nil {
			return a, fmt.Errorf("svmnb: %s: %w", call, context.Cause(ctx))
		}
		if show != nil {
			show(fmt.Sprintf("Shapley values: point %d of %d", i+1, len(values)), i == len(values)-1)
		}
		if g != nil {
			a.Values = append(a.Values, g.at(i))
		} else {
			phi, se, err := drawn(m, at.X[i], behind.X, f-base, uint64(i))
			if err != nil {
				return a, err
			}
			a.Values, a.Errors = append(a.Values, phi), append(a.Errors, se)
		}
		a.F = append(a.F, f)
	}
	return a, nil
}

// featureName returns the name of feature j of raw points.
func featureName(m *model.Model, x datasets.Points, j int) string {
	if data, ok := x.(*datasets.Dataset); ok {
		return data.FeatureName(j)
	}
	if columns := m.Columns(); len(columns) == m.D() {
		return columns[j].Name
	}
	return fmt.Sprintf("x%d", j+1)
}

// game is a machine whose Shapley values can be computed exactly.
type game struct {
	m       *model.Model
	factors func(dst, x, z []float64) // nil for a linear machine
	vectors [][]float64
	coef    []float64
	scale   float64
	weights []float64 // of a linear machine
	b       float64

	x, behind [][]float64 // as the machine sees them; behind is nil without a background
	q         [][]float64 // the factors of each background point with each support vector, d for each
	nodes     []float64   // of the integral
	share     []float64
}

// gameOf returns nil if the model has no exact Shapley values.
func gameOf(m *model.Model) *game {
	in := m.Inside()
	if len(in.Terms) != 1 || in.Process != nil && (in.Process.Beta != nil || in.Process.Scale != nil) || in.Target != nil || in.X.Sparse != nil {
		return nil
	}
	if in.Before != nil && !in.Before.Alone() {
		return nil
	}
	g := &game{m: m, vectors: in.X.X, coef: in.Terms[0].Coef, b: in.Terms[0].B}
	if g.weights = in.Terms[0].W; g.weights == nil && in.Kernel == kernels.Kernel(kernels.Linear()) {
		g.weights = make([]float64, in.D)
		for i, c := range g.coef {
			for j, v := range g.vectors[i] {
				g.weights[j] += c * v
			}
		}
	}
	if g.weights != nil {
		return g
	}
	var ok bool
	if g.factors, g.scale, ok = kernels.Factors(in.Kernel); !ok {
		return nil
	}
	return g
}

func (g *game) prepare(ctx context.Context, x, background datasets.Points) error {
	p, err := g.m.Enter(ctx, "Shapley", x)
	if err != nil {
		return err
	}
	g.x = p.X
	if background != nil {
		if p, err = g.m.Enter(ctx, "Shapley", background); err != nil {
			return err
		}
		g.behind = p.X
	}
	if g.factors == nil {
		return nil
	}
	d := len(g.x[0])
	g.nodes, g.share = gaussLegendre((d + 1) / 2)
	if need := 8 * int64(len(g.behind)) * int64(len(g.vectors)) * int64(d); need > 1<<30 {
		return arguments.Wrong("Shapley", float64(len(g.behind)), "%d background points with %d support vectors of %d features need %.1f GiB of memory; take fewer background points", len(g.behind), len(g.vectors), d, float64(need)/(1<<30))
	}
	g.q = make([][]float64, max(1, len(g.behind)))
	for r := range g.q {
		g.q[r] = slices.Repeat([]float64{1}, d*len(g.vectors))
		if g.behind != nil {
			for i, v := range g.vectors {
				g.factors(g.q[r][i*d:(i+1)*d], g.behind[r], v)
			}
		}
	}
	return nil
}

// gaussLegendre returns the n nodes in (0, 1), and their weights, that integrate polynomials of degree
// 2n − 1 exactly. The nodes are the zeros of Legendre's polynomial P_n, by Newton's method.
func gaussLegendre(n int) (nodes, weights []float64) {
	for i := range n {
		x, slope := math.Cos(math.Pi*(float64(i)+0.75)/(float64(n)+0.5)), 0.0
		for range 100 {
			p, before := 1.0, 0.0
			for k := range n {
				p, before = (float64(2*k+1)*x*p-float64(k)*before)/float64(k+1), p
			}
			slope = float64(n) * (x*p - before) / (x*x - 1)
			step := p / slope
			if x -= step; math.Abs(step) < 1e-16 {
				break
			}
		}
		nodes, weights = append(nodes, (1+x)/2), append(weights, 1/((1-x*x)*slope*slope))
	}
	return nodes, weights
}

// base returns the value when no feature is known.
func (g *game) base() float64 {
	if g.factors == nil {
		return g.b + g.linear(g.mean())
	}
	total, d := 0.0, len(g.x[0])
	for _, q := range g.q {
		for i, c := range g.coef {
			product := g.scale * c
			for _, v := range q[i*d : (i+1)*d] {
				product *= v
			}
			total += product
		}
	}
	return g.b + total/float64(len(g.q))
}

// mean returns the mean of the background, or 0 without one.
func (g *game) mean() []float64 {
	mean := make([]float64, len(g.weights))
	for _, row := range g.behind {
		for j, v := range row {
			mean[j] += v / float64(len(g.behind))
		}
	}
	return mean
}

func (g *game) linear(x []float64) (sum float64) {
	for j, w := range g.weights {
		sum += w * x[j]
	}
	return sum
}

// at returns the Shapley values of point k.
func (g *game) at(k int) []float64 {
	x := g.x[k]
	d := len(x)
	phi := make([]float64, d)
	if g.factors == nil {
		for j, v := range g.mean() {
			phi[j] = g.weights[j] * (x[j] - v)
		}
		return phi
	}
	parts := min(16, len(g.vectors))
	sums := make([][]float64, parts)
	parallel.Do(parts, len(g.vectors)*len(g.q)*d*len(g.nodes), func(part int) {
		own, p, r, before := make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d)
		for i := part; i < len(g.vectors); i += parts {
			g.factors(p, x, g.vectors[i])
			for _, all := range g.q {
				q := all[i*d : (i+1)*d]
				for n, t := range g.nodes {
					product := g.scale * g.coef[i] * g.share[n]
					for l := range r {
						r[l] = t*p[l] + (1-t)*q[l]
						before[l] = product
						product *= r[l]
					}
					after := 1.0
					for l := d - 1; l >= 0; l-- {
						own[l] += before[l] * after * (p[l] - q[l])
						after *= r[l]
					}
				}
			}
		}
		sums[part] = own
	})
	for _, own := range sums {
		for j, v := range own {
			phi[j] += v / float64(len(g.q))
		}
	}
	return phi
}

// drawn estimates the Shapley values of the point x by orders of the features that are drawn, each
// together with its reverse, and returns their standard errors. Their sum is known: what the
// estimates lack is divided in proportion to their variances.
func drawn(m *model.Model, x []float64, behind [][]float64, sum float64, seed uint64) (phi, se []float64, err error) {
	d := len(x)
	rng := rand.New(rand.NewPCG(seed, 0x5a))
	means := make([][]float64, d) // of each pair of orders
	for range permutations / 2 {
		order, from := rng.Perm(d), behind[rng.IntN(len(behind))]
		rows := make(datasets.Rows, 0, 2*(d+1))
		for range 2 {
			row := slices.Clone(from)
			rows = append(rows, row)
			for _, j := range order {
				row = slices.Clone(row)
				row[j] = x[j]
				rows = append(rows, row)
			}
			slices.Reverse(order)
		}
		f, err := m.Values(rows)
		if err != nil {
			return nil, nil, err
		}
		gain := make([]float64, d)
		for half := range 2 {
			for k, j := range order {
				gain[j] += (f[half*(d+1)+k+1] - f[half*(d+1)+k]) / 2
			}
			slices.Reverse(order)
		}
		for j, v := range gain {
			means[j] = append(means[j], v)
		}
	}
	variance := 0.0
	phi, se = make([]float64, d), make([]float64, d)
	for j, list := range means {
		phi[j], se[j] = meanError(list)
		sum, variance = sum-phi[j], variance+se[j]*se[j]
	}
	for j := range phi {
		if variance > 0 {
			phi[j] += sum * se[j] * se[j] / variance
		}
	}
	return phi, se, nil
}

func (a *Attribution) none() bool { return a == nil || a.Model == nil || len(a.Values) == 0 }

// Means returns the mean absolute Shapley value of each feature over the points.
func (a *Attribution) Means() []float64 {
	if a.none() {
		return nil
	}
	means := make([]float64, len(a.Features))
	for _, phi := range a.Values {
		for j, v := range phi {
			means[j] += math.Abs(v) / float64(len(a.Values))
		}
	}
	return means
}

// Chart draws a bar for each feature: its Shapley value if there is one point, and otherwise its
// mean absolute value over the points. You can change the chart and then show it by
// [display.Show].
func (a *Attribution) Chart() (_ *display.Chart, err error) {
	defer guard.Caught(&err)
	if a.none() {
		return nil, arguments.NoFit("Chart")
	}
	d := figure.WeightsData{Problem: fmt.Sprint(a.Model.Kernel()), Features: a.Features, Values: a.Means(), Measure: "mean absolute Shapley value",
		Note: fmt.Sprintf("bars: by how much a feature moves f, the mean of %s", say.Several(len(a.Values), "point"))}
	if len(a.Values) == 1 {
		d.Values, d.Measure, d.Sides = a.Values[0], "Shapley value", a.sides()
		d.Note = fmt.Sprintf("bars: what a feature adds to f; together they lead from %.4g, where no feature is known, to %.4g", a.Base, a.F[0])
		if a.Errors != nil {
			d.SD = a.Errors[0]
			d.Note += "; lines: ± 1 standard error"
		}
	}
	d.Finding = a.finding(d.Values)
	chart, err := figure.Weights(d)
	if err != nil {
		return nil, fmt.Errorf("svmnb: %w", err)
	}
	return chart, nil
}

// finding says which feature has the largest of these values.
func (a *Attribution) finding(values []float64) string {
	most := 0
	for j, v := range values {
		if math.Abs(v) > math.Abs(values[most]) {
			most = j
		}
	}
	switch v := values[most]; {
	case v == 0:
		return "No feature moves f"
	case len(a.Values) > 1:
		return fmt.Sprintf("%s moves f most, by %.3g on average", a.Features[most], v)
	case v < 0:
		return fmt.Sprintf("%s lowers f most, by %.3g", a.Features[most], -v)
	default:
		return fmt.Sprintf("%s raises f most, by %.3g", a.Features[most], v)
	}
}

// sides says what negative and positive values do.
func (a *Attribution) sides() [2]string {
	if classes := a.Model.Classes(); len(classes) == 2 {
		return [2]string{"towards " + say.Class(classes[0]), "towards " + say.Class(classes[1])}
	}
	return [2]string{"lowers f", "raises f"}
}

// Show displays the chart in the cell's output.
func (a *Attribution) Show() { showChart(a.Chart()) }

// Table lists the features, the largest mean absolute value first; see [display.Table]. For one
// point it has the Shapley values themselves.
func (a *Attribution) Table() *display.Sheet {
	return display.NewSheet(func(t *sheet.Table) error {
		if a.none() {
			return arguments.NoFit("Table")
		}
		t.Name = a.Model.String()
		means := a.Means()
		order := make([]int, len(means))
		for j := range order {
			order[j] = j
		}
		slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(means[j], means[i]) })
		names := make([]string, len(order))
		for place, j := range order {
			names[place] = a.Features[j]
		}
		t.Texts("feature", names)
		if len(a.Values) > 1 {
			t.Numbers("mean absolute Shapley value", learn.Chosen(means, order))
			return nil
		}
		t.Numbers("Shapley value", learn.Chosen(a.Values[0], order))
		if a.Errors != nil {
			t.Numbers("standard error", learn.Chosen(a.Errors[0], order))
		}
		return nil
	})
}
