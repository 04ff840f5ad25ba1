package svmnb

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/vec"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/cells"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// TwoSamples describes the test whether two samples have the same distribution. It is a value:
// every method returns a changed copy. [MMD] makes one.
type TwoSamples struct {
	x, y   [][]float64
	kernel kernels.Kernel
	times  int
	seed   uint64
	faults arguments.Faults
}

// mostPooled limits the points of both samples together, whose kernel matrix is passed over once
// for all permutations.
const mostPooled = 10_000

// MMD starts the description of a test whether the points x and y, at least two of each, were drawn
// from the same distribution, by the maximum mean discrepancy of their kernel means (Gretton,
// Borgwardt, Rasch, Schölkopf and Smola 2012):
//
//	MMD² = mean of k(x_i, x_j), i ≠ j  +  mean of k(y_i, y_j), i ≠ j  −  2 · mean of k(x_i, y_j).
//
// Its expectation is the squared distance of the means of φ in feature space. For kernels such as
// RBF this is 0 only if the distributions are equal. The defaults are RBF(1/(d·Var)) of both samples
// together and 999 permutations with the seed 1. Sparse points are an error that suggests Dense.
func MMD(x, y datasets.Points) TwoSamples {
	t := TwoSamples{times: 999, seed: 1}
	var errX, errY error
	t.x, errX = sampleOf("x", x)
	t.y, errY = sampleOf("y", y)
	if errX == nil && errY == nil && len(t.x[0]) != len(t.y[0]) {
		errY = arguments.Wrong("MMD", float64(len(t.y[0])), "the points of y have %s and those of x %d; give both the same features", say.Several(len(t.y[0]), "feature"), len(t.x[0]))
	}
	t.faults.Said("MMD", errors.Join(errX, errY))
	return t
}

// sampleOf returns the points of a sample.
func sampleOf(name string, of datasets.Points) ([][]float64, error) {
	if of == nil {
		return nil, arguments.Wrong("MMD", math.NaN(), "the sample %s is nil; give points such as datasets.Rows or a data set", name)
	}
	x, err := points.Dense("MMD", of)
	if err != nil {
		return nil, err
	}
	if len(x) < 2 {
		return nil, arguments.Wrong("MMD", float64(len(x)), "the sample %s has %s; give at least two", name, say.Several(len(x), "point"))
	}
	for i, row := range x {
		if len(row) != len(x[0]) || len(row) == 0 {
			return nil, arguments.At("MMD", i, -1, float64(len(row)), "the point of %s has %s, the first has %d", name, say.Several(len(row), "feature"), len(x[0]))
		}
		for j, v := range row {
			if v-v != 0 {
				return nil, arguments.At("MMD", i, j, v, "the value of %s is %v; it must be a finite number", name, v)
			}
		}
	}
	return x, nil
}

// Kernel sets the kernel.
func (t TwoSamples) Kernel(k kernels.Kernel) TwoSamples {
	t.kernel = k
	err := arguments.WrongIf(k == nil, "Kernel", math.NaN(), "the kernel is nil; give one such as kernels.RBF(0.5)")
	if k != nil && k.Check() != nil {
		err = fmt.Errorf("svmnb: Kernel: %w", k.Check())
	}
	t.faults.Said("Kernel", err)
	return t
}

// Permutations sets how many times the points are dealt to the two samples at random, 19 to
// 1,000,000. The smallest p is 1/(times + 1).
func (t TwoSamples) Permutations(times int) TwoSamples {
	t.times = times
	t.faults.Said("Permutations", arguments.WrongIf(times < 19 || times > 1_000_000, "Permutations", float64(times), "there are %d permutations; give 19, which can reach p = 0.05, to 1,000,000", times))
	return t
}

// Seed sets the seed of the permutations.
func (t TwoSamples) Seed(seed uint64) TwoSamples { t.seed = seed; return t }

// String returns the Go expression of the description.
func (t TwoSamples) String() string {
	s := fmt.Sprintf("MMD(%s, %s)", say.Several(len(t.x), "point"), say.Several(len(t.y), "point"))
	if t.kernel != nil {
		s += fmt.Sprintf(".Kernel(%v)", t.kernel)
	}
	return s + fmt.Sprintf(".Permutations(%d).Seed(%d)", t.times, t.seed)
}

// TwoSampleTest is the result of [TwoSamples.Test].
type TwoSampleTest struct {
	Description TwoSamples // all defaults filled in
	MMD2        float64    // the unbiased estimate of MMD²; it can be negative

	// P is the share of the deals, this one included, whose MMD² is at least MMD2. If both samples
	// have the same distribution, P(p ≤ level) is at most the level, and within 1/(permutations + 1)
	// of it unless values are equal.
	P        float64
	Permuted []float64 // MMD² of each permutation
}

// Test computes MMD² and its p by permutations (Phipson and Smyth 2010: this deal counts as one). It
// takes a kernel matrix of all N points, row by row, and N² operations for two permutations. All
// errors of the description are returned together. When ctx ends early, the error wraps
// context.Cause(ctx).
func (t TwoSamples) Test(ctx context.Context) (_ *TwoSampleTest, err error) {
	defer guard.Caught(&err)
	if err := arguments.Given(ctx, "Test"); err != nil {
		return nil, err
	}
	if err := t.faults.Err(); err != nil {
		return nil, err
	}
	m, n := len(t.x), len(t.x)+len(t.y)
	switch {
	case m == 0:
		return nil, arguments.Wrong("Test", 0, "there are no samples; say svmnb.MMD(x, y)")
	case n > mostPooled:
		return nil, arguments.Wrong("Test", float64(n), "the samples have %d points together, and at most %d are taken; choose some of them at random", n, mostPooled)
	case float64(n)*float64(t.times) > 1<<29:
		return nil, arguments.Wrong("Permutations", float64(t.times), "%d permutations of %d points are more than fit into memory; take fewer", t.times, n)
	}
	all := points.Rows(slices.Concat(t.x, t.y))
	if t.kernel == nil {
		t.kernel = kernels.RBF(all.GammaScale(len(t.x[0])))
	}
	g, err := all.Gram(t.kernel, kernels.NoCache)
	if err != nil {
		return nil, fmt.Errorf("svmnb: MMD: %w", err)
	}
	// The indicators of sample x, for this deal and for each permutation.
	rng := rand.New(rand.NewPCG(t.seed, 0x3d2))
	in := make([][]float64, t.times+1)
	for b := range in {
		in[b] = make([]float64, n)
		for k, i := range rng.Perm(n) {
			if b == 0 {
				i = k
			}
			if k < m {
				in[b][i] = 1
			}
		}
	}
	// With t = 1_x'K1_x and r = K1, the sums over pairs within and between the samples follow.
	diag := g.Diag()
	within, rows, selves, total := make([]float64, len(in)), make([]float64, len(in)), make([]float64, len(in)), 0.0
	trace := 0.0
	for i := range n {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("svmnb: MMD: %w", context.Cause(ctx))
		}
		row := g.Row(i)
		sum := 0.0
		for _, v := range row {
			sum += v
		}
		if sum-sum != 0 {
			return nil, arguments.At("MMD", i, -1, sum, "the kernel values of this point are not finite; scale the features or take another kernel")
		}
		total, trace = total+sum, trace+diag[i]
		for b, x := range in {
			if x[i] == 1 {
				within[b] += vec.Dot(x, row)
				rows[b] += sum
				selves[b] += diag[i]
			}
		}
	}
	a, c := float64(m), float64(n-m)
	values := make([]float64, len(in))
	for b := range in {
		between := rows[b] - within[b]
		others := total - 2*rows[b] + within[b]
		values[b] = (within[b]-selves[b])/(a*(a-1)) + (others-(trace-selves[b]))/(c*(c-1)) - 2*between/(a*c)
	}
	r := &TwoSampleTest{Description: t, MMD2: values[0], Permuted: values[1:]}
	rounding := 1e-12 * math.Abs(trace) / float64(n) // deals that are the same but for rounding count as equal
	count := 1.0
	for _, v := range r.Permuted {
		if v >= r.MMD2-rounding {
			count++
		}
	}
	r.P = count / float64(len(in))
	return r, nil
}

// MustTest is Test for a notebook cell: an error is printed and ends the cell; outside a notebook
// it panics.
func (t TwoSamples) MustTest() *TwoSampleTest {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	r, err := t.Test(ctx)
	if err != nil {
		cells.Must(err)
	}
	return r
}

func (r *TwoSampleTest) none() bool { return r == nil || len(r.Permuted) == 0 }

// Witness returns mean_i k(x_i, z) − mean_j k(y_j, z) at m points z: positive where x has more points
// than y, and negative where it has fewer. Errors are those of [Fit.Values].
func (r *TwoSampleTest) Witness(z datasets.Points) (_ []float64, err error) {
	defer guard.Caught(&err)
	if r.none() {
		return nil, arguments.Wrong("Witness", math.NaN(), "there is no test; make one by Test")
	}
	rows, err := points.Dense("Witness", z)
	if err != nil {
		return nil, err
	}
	t := r.Description
	b := kernels.Against(t.kernel, slices.Concat(t.x, t.y))
	if err := b.Check(rows); err != nil {
		return nil, fmt.Errorf("svmnb: Witness: %w", err)
	}
	coef := append(slices.Repeat([]float64{1 / float64(len(t.x))}, len(t.x)), slices.Repeat([]float64{-1 / float64(len(t.y))}, len(t.y))...)
	out := make([]float64, len(rows))
	points.Rows(rows).AddTimes([][]float64{out}, b, [][]float64{coef})
	return out, nil
}

func (r *TwoSampleTest) finding() string {
	more := 0
	for _, v := range r.Permuted {
		if v >= r.MMD2 {
			more++
		}
	}
	return fmt.Sprintf("MMD² = %s: %d of %s have as much, p = %.3g", say.Signed(r.MMD2, 3), more, say.Several(len(r.Permuted), "permutation"), r.P)
}

// Markdown says what was tested and how it came out.
func (r *TwoSampleTest) Markdown() string {
	if r.none() {
		return arguments.NoneOf("test", "Test")
	}
	t := r.Description
	s := say.NewSummary()
	s.Row("**two samples**", "%s and %s of %s", say.Several(len(t.x), "point"), say.Several(len(t.y), "point"), say.Several(len(t.x[0]), "feature"))
	s.Row("kernel", "%s", say.Brief(t.kernel.String()))
	s.Row("**MMD²**", "%s, unbiased", say.Signed(r.MMD2, 4))
	s.Row("**p**", "%.3g by %s", r.P, say.Several(len(r.Permuted), "permutation"))
	verdict := "no evidence at the level of 5 % that the distributions differ"
	if r.P <= 0.05 {
		verdict = "the distributions differ, at the level of 5 %"
	}
	s.Row("result", "%s", verdict)
	return s.String()
}

// Chart draws how often each MMD² occurs among the permutations, and marks the MMD² of the samples.
// You can change the chart and then show it by [display.Show].
func (r *TwoSampleTest) Chart() (_ *display.Chart, err error) {
	defer guard.Caught(&err)
	if r.none() {
		return nil, arguments.Wrong("Chart", math.NaN(), "there is no test; make one by Test")
	}
	const bins = 30
	low, high := slices.Min(r.Permuted), slices.Max(r.Permuted)
	if !(high > low) {
		high = low + max(math.Abs(low), 1)*1e-3
	}
	counts := make([]float64, bins)
	for _, v := range r.Permuted {
		counts[min(int(bins*(v-low)/(high-low)), bins-1)]++
	}
	x, y := []float64{low}, []float64{0}
	for k, c := range counts {
		from, to := low+(high-low)*float64(k)/bins, low+(high-low)*float64(k+1)/bins
		x, y = append(x, from, to), append(y, c, c)
	}
	x, y = append(x, high), append(y, 0)
	free := [2]float64{math.NaN(), math.NaN()}
	chart, err := figure.Lines(figure.LinesData{
		Title: r.finding(), X: "MMD²", Y: "permutations", XRange: [2]float64{min(low, r.MMD2), max(high, r.MMD2) + 0.05*(max(high, r.MMD2)-min(low, r.MMD2))}, YRange: free,
		Lines: []figure.Line{{Name: "permutations", X: x, Y: y}}, Marks: []figure.Mark{{X: r.MMD2, Y: 0, Text: "these samples"}},
	})
	if err != nil {
		return nil, fmt.Errorf("svmnb: %w", err)
	}
	return chart, nil
}

// Show displays the summary and the chart in the cell's output.
func (r *TwoSampleTest) Show() {
	display.Show(r)
	if r.none() {
		return
	}
	chart, err := r.Chart()
	if err != nil {
		display.Show(err)
		return
	}
	display.Show(chart)
}
