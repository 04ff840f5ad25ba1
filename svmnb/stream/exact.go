package stream

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/chol"
	"github.com/svmnb/svmnb/internal/parallel"
	"github.com/svmnb/svmnb/internal/simd"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// Exactness encloses the optimum of the exact machine, whose kernel is not approximated, between
// Dual and Primal.
//
// Nyström's f = Σ_j β_j K(z_j, x) + b is a machine of the exact problem too, and Primal its
// objective. The multipliers α of the fit are feasible for the exact dual, and
//
//	Dual = D(α) = Σ α_i − ½ α'Kα,
//
// of the best multiple of α. [Fit.Bound], [Fit.Sampled] and [Fit.Blocked] differ in α'Kα. Random
// features make no function of the kernel's space. Blocked takes the machine of their α instead,
// f = Σ_i y_i α_i K(x_i, x) + b, and for Bound and Sampled their Primal is +Inf.
type Exactness struct {
	Primal, Dual float64

	// StandardError is that of Dual if it is an estimate (Sampled), otherwise 0.
	StandardError float64
	Method        string // "bound", "sample" or "blocks"
	KernelValues  int64  // how many were computed
}

// Gap returns Primal − Dual, by how much the exact optimum may be below the objective of the
// fit.
func (e Exactness) Gap() float64 { return e.Primal - e.Dual }

// RelGap returns the gap as a share of Primal; 1 if Primal is infinite.
func (e Exactness) RelGap() float64 {
	switch {
	case math.IsInf(e.Primal, 1):
		return 1
	case e.Primal == 0:
		return 0
	}
	return e.Gap() / e.Primal
}

// String says what is known of the exact optimum.
func (e Exactness) String() string {
	if math.IsInf(e.Primal, 1) {
		return fmt.Sprintf("the exact optimum is at least %.6g (standard error %.2g); Blocked finds an upper bound for random features", e.Dual, e.StandardError)
	}
	s := fmt.Sprintf("the exact optimum is in [%.6g, %.6g], which is a gap of %s", e.Dual, e.Primal, say.Percent(e.RelGap()))
	if e.StandardError > 0 {
		s = fmt.Sprintf("the exact optimum is in [%.6g ± %.2g, %.6g], which is a gap of %s (estimated from a sample)", e.Dual, e.StandardError, e.Primal, say.Percent(e.RelGap()))
	}
	return s
}

// exactness makes the answer from α'Kα and its standard error.
func (f *Fit) exactness(method string, quadratic, deviation float64, values int64) Exactness {
	a, e := &f.Alpha, Exactness{Primal: f.Primal, Method: method, KernelValues: values}
	if f.task.form == fourier {
		e.Primal = math.Inf(1)
	}
	q, t := quadratic+a.Ridge, f.multiple(quadratic)
	e.Dual, e.StandardError = max(0, t*a.Sum-t*t*q/2), t*t*deviation/2
	return e
}

// multiple returns the t for which D(tα) is largest and tα is feasible.
func (f *Fit) multiple(quadratic float64) float64 {
	if q := quadratic + f.Alpha.Ridge; q > 0 && (f.task.squared || f.Alpha.Sum < q) {
		return f.Alpha.Sum / q
	}
	return 1
}

// Bound bounds α'Kα by the diagonal of what the approximation leaves of the kernel, r_i =
// K(x_i, x_i) − K̃(x_i, x_i) ≥ 0:
//
//	α'Kα ≤ α'K̃α + (Σ |α_i| √r_i)².
//
// It takes one pass and O(m²) operations for each support vector. It is a proof, and of use only
// if all r_i are tiny: its Dual is at most 1/(2 min r_i). For random features, K̃ is not below K,
// and r_i is K(x_i, x_i) with nothing subtracted. Without approximation it is the certificate of
// the fit.
func (f *Fit) Bound(ctx context.Context) (_ Exactness, err error) {
	defer guard.Caught(&err)
	if err := f.ready(ctx, "Bound"); err != nil {
		return Exactness{}, err
	}
	t := f.task
	if t.form == unset {
		return f.exactness("bound", f.Alpha.Norm2, 0, 0), nil
	}
	var factor *chol.Panels[float64]
	m := t.points.Columns()
	if t.form == nystroem {
		factor = chol.New[float64](m)
		for i, row := range t.metric {
			factor.SetRow(i, row[:i+1])
		}
		if pivot, err := factor.Factor(ctx); err != nil || pivot < m {
			return Exactness{}, fmt.Errorf("svmnb: Bound: the landmarks have no factor: %w", err)
		}
	}
	total := 0.0
	err = f.vectors(ctx, "bound", func(x [][]float64, z, alpha []float64) error {
		rows := make([][]float64, len(x))
		for i := range rows {
			rows[i] = z[i*m : (i+1)*m]
		}
		if factor != nil {
			if err := factor.ForwardAll(ctx, rows); err != nil {
				return err
			}
		}
		for i, row := range rows {
			self := t.kernel.Eval(x[i], x[i])
			rest := self
			if factor != nil {
				rest = max(0, self-simd.Dot(row, row)) + 1e-9*self // for the rounding of the difference
			}
			total += math.Abs(alpha[i]) * math.Sqrt(rest)
		}
		return nil
	})
	if err != nil {
		return Exactness{}, err
	}
	q := total * total
	if factor != nil {
		q += f.Alpha.Norm2
	}
	return f.exactness("bound", q, 0, 0), nil
}

// Sampled estimates α'Kα from s support vectors. They are drawn with probabilities α_i/Σα, one
// from each of s parts of the sum Σα (stratified sampling). F_i =
// Σ_j y_j α_j K(x_i, x_j) is computed for them with all support vectors, which takes two passes
// and s kernel values for each support vector. Then
//
//	α'Kα ≈ α'K̃α + Σα · mean of y_i (F_i − F̃_i),
//
// where F̃ is the same sum with the approximated kernel, whose α'K̃α is known. The estimate is
// unbiased. The result tells the standard error of independent draws, which falls with √s; that of
// one draw from each part is smaller. The estimate is no proof, but the only one of the three that
// is both cheap and sharp for millions of support vectors.
func (f *Fit) Sampled(ctx context.Context, s int) (_ Exactness, err error) {
	defer guard.Caught(&err)
	if err := f.ready(ctx, "Sampled"); err != nil {
		return Exactness{}, err
	}
	t := f.task
	if s < 2 {
		return Exactness{}, arguments.Wrong("Sampled", float64(s), "the sample has %s; take at least 2, and thousands for a sharp estimate", say.Several(s, "point"))
	}
	p := t.points
	if need := 2 * 8 * int64(s) * int64(p.rows+2*t.head.D+4); need > t.budget() {
		return Exactness{}, &MemoryError{fmt.Sprintf("Sampled with %d points", s), need, t.budget(), "take fewer points"}
	}
	if t.form == unset || !(f.Alpha.Sum > 0) {
		return f.exactness("sample", f.Alpha.Norm2, 0, 0), nil
	}
	// A threshold in each of s equal parts of [0, Σα) chooses the point at which the running sum of
	// α passes it. No point of more than two parts is missed, as it could be by independent draws.
	rng := rand.New(rand.NewPCG(t.seed, 0xe57))
	marks := make([]float64, s)
	for i := range marks {
		marks[i] = (float64(i) + rng.Float64()) / float64(s) * f.Alpha.Sum
	}
	var sample [][]float64
	var labels, smooth []float64 // of the sample; F̃
	running, at := 0.0, 0
	m := p.Columns()
	take := func(x, z []float64, alpha float64) {
		sample = append(sample, slices.Clone(x))
		labels = append(labels, math.Copysign(1, alpha))
		smooth = append(smooth, simd.Dot(z, f.Alpha.Image))
		at++
	}
	var lastX, lastZ []float64
	var lastAlpha float64
	err = f.vectors(ctx, "sample, pass 1 of 2", func(x [][]float64, z, alpha []float64) error {
		for i, a := range alpha {
			running += math.Abs(a)
			for at < s && marks[at] < running {
				take(x[i], z[i*m:(i+1)*m], a)
			}
		}
		if k := len(x) - 1; k >= 0 {
			lastX, lastZ, lastAlpha = append(lastX[:0], x[k]...), append(lastZ[:0], z[k*m:(k+1)*m]...), alpha[k]
		}
		return nil
	})
	if err != nil {
		return Exactness{}, err
	}
	for at < s && lastX != nil { // a threshold that rounding has put behind the last point
		take(lastX, lastZ, lastAlpha)
	}
	basis := kernels.Against(t.kernel, sample)
	sums, values := make([]float64, s), make([]float64, p.rows*s)
	count := int64(0)
	var rows [][]float64
	err = f.vectors(ctx, "sample, pass 2 of 2", func(x [][]float64, _, alpha []float64) error {
		basis.Values(values[:len(x)*s], x)
		count += int64(len(x)) * int64(s)
		rows = rows[:0]
		for i := range x {
			rows = append(rows, values[i*s:(i+1)*s])
		}
		parts := max(1, min(runtime.GOMAXPROCS(0), s/64))
		parallel.Do(parts, len(x)*s, func(part int) {
			from, to := part*s/parts, (part+1)*s/parts
			simd.AddRows(sums[from:to], alpha, rows, from)
		})
		return nil
	})
	if err != nil {
		return Exactness{}, err
	}
	mean, square := 0.0, 0.0
	for i, v := range sums {
		g := labels[i] * (v - smooth[i])
		delta := g - mean
		mean += delta / float64(i+1)
		square += delta * (g - mean)
	}
	deviation := f.Alpha.Sum * math.Sqrt(square/float64(s-1)/float64(s))
	return f.exactness("sample", max(0, f.Alpha.Norm2+f.Alpha.Sum*mean), deviation, count), nil
}

// blockedRows is the number of support vectors that Blocked holds. Tests lower it.
var blockedRows int64 = 1 << 15

// Blocked computes α'Kα from the kernel values of all pairs of support vectors, a block of them
// against all later ones in each pass over the source. It is a proof, and takes n_s²/2 kernel
// values for n_s support vectors: seconds for 10⁵, minutes for 10⁶ of few features, hours for
// 10⁷. Dual has the rounding errors of the sums subtracted.
//
// For random features it computes Σ_j y_j α_j K(x_i, x_j) at all n points, which takes n·n_s kernel
// values and 9 bytes of memory for each point.
func (f *Fit) Blocked(ctx context.Context) (_ Exactness, err error) {
	defer guard.Caught(&err)
	if err := f.ready(ctx, "Blocked"); err != nil {
		return Exactness{}, err
	}
	t := f.task
	if t.form == unset {
		return f.exactness("blocks", f.Alpha.Norm2, 0, 0), nil
	}
	d := int64(t.head.D)
	held := int(min(blockedRows, t.budget()/(2*8*4*(d+4))))
	if held < 16 {
		return Exactness{}, &MemoryError{"Blocked", 16 * 2 * 8 * 4 * (d + 4), t.budget(), "raise it by Memory"}
	}
	if t.form == fourier {
		return f.ofMultipliers(ctx, held)
	}
	quadratic, largest, count := 0.0, 0.0, int64(0)
	block := datasets.NewBlock(held, t.head.D)
	weights, sums := make([]float64, 0, held), make([]float64, max(held, mostRows))
	var basis *kernels.Basis
	square := func() { // the block against itself
		if len(weights) == 0 {
			return
		}
		block.Resize(len(weights))
		basis = kernels.Against(t.kernel, block.X)
		const some = 1024
		for from := 0; from < len(weights); from += some {
			to := min(from+some, len(weights))
			own := sums[:to-from]
			clear(own)
			basis.Times(own, block.X[from:to], weights)
			quadratic += simd.Dot(own, weights[from:to])
		}
		count += int64(len(weights)) * int64(len(weights))
	}
	for start := 0; ; start += held {
		index := 0
		basis, weights = nil, weights[:0]
		block.Resize(held)
		err := f.vectors(ctx, fmt.Sprintf("blocks, %s of %s support vectors done", say.Thousands(int64(start)), say.Thousands(int64(f.Support))), func(x [][]float64, _, alpha []float64) error {
			later := 0 // the first point after the block
			for i, row := range x {
				if index++; index <= start {
					later = i + 1
				} else if len(weights) < held {
					copy(block.X[len(weights)], row)
					weights = append(weights, alpha[i])
					largest = max(largest, t.kernel.Eval(row, row))
					later = i + 1
				}
			}
			if later == len(x) {
				return nil
			}
			if basis == nil {
				square()
			}
			own := sums[:len(x)-later]
			clear(own)
			basis.Times(own, x[later:], weights)
			quadratic += 2 * simd.Dot(own, alpha[later:])
			count += int64(len(own)) * int64(len(weights))
			return nil
		})
		if err != nil {
			return Exactness{}, err
		}
		if basis == nil {
			square()
		}
		if index <= start+held {
			break
		}
	}
	rounding := 0x1p-32 * largest * f.Alpha.Sum * f.Alpha.Sum // of [kernels.Basis.Times]
	return f.exactness("blocks", quadratic+rounding, 0, count), nil
}

// ofMultipliers encloses the exact optimum by the machine of α, whose w is a multiple of Σ_i y_i α_i
// φ(x_i). held is the number of support vectors in memory at a time.
func (f *Fit) ofMultipliers(ctx context.Context, held int) (Exactness, error) {
	t := f.task
	n := t.head.N
	if need := int64(9*n) + t.budget()/4; need > t.budget() {
		return Exactness{}, &MemoryError{"Blocked with random features", need, t.budget(), "raise it by Memory, or take Sampled"}
	}
	sums, positive := make([]float64, n), make([]bool, n)
	largest, count := 0.0, int64(0)
	block, weights := datasets.NewBlock(held, t.head.D), make([]float64, 0, held)
	for start := 0; ; start += held {
		doing := fmt.Sprintf("blocks, %s of %s support vectors done", say.Thousands(int64(start)), say.Thousands(int64(f.Support)))
		index := 0
		weights = weights[:0]
		block.Resize(held)
		err := f.vectors(ctx, doing, func(x [][]float64, _, alpha []float64) error {
			for i, row := range x {
				if index++; index > start && len(weights) < held {
					copy(block.X[len(weights)], row)
					weights = append(weights, alpha[i])
					largest = max(largest, t.kernel.Eval(row, row))
				}
			}
			return nil
		})
		if err != nil {
			return Exactness{}, err
		}
		if len(weights) > 0 {
			block.Resize(len(weights))
			basis, at := kernels.Against(t.kernel, block.X), 0
			err = f.multipliers(ctx, doing, func(b *datasets.Block, _, _ []float64) error {
				basis.Times(sums[at:at+len(b.X)], b.X, weights)
				at += len(b.X)
				count += int64(len(b.X)) * int64(len(weights))
				return nil
			})
			if err != nil {
				return Exactness{}, err
			}
		}
		if index <= start+held {
			break
		}
	}
	quadratic, at := 0.0, 0
	err := f.multipliers(ctx, "the objective", func(b *datasets.Block, _, alpha []float64) error {
		for i, a := range alpha {
			quadratic += a * sums[at]
			positive[at] = b.Y[i] > 0
			at++
		}
		return nil
	})
	if err != nil {
		return Exactness{}, err
	}
	rounding := 0x1p-32 * largest * f.Alpha.Sum // of a sum, by [kernels.Basis.Times]
	quadratic += rounding * f.Alpha.Sum
	e := f.exactness("blocks", quadratic, 0, count)
	for _, multiple := range []float64{1, f.multiple(quadratic)} {
		loss := func(bias float64) (total float64) {
			for i, v := range sums {
				y, k := -1.0, 0
				if positive[i] {
					y, k = 1, 1
				}
				if slack := 1 - y*(multiple*v+bias) + multiple*rounding; slack > 0 {
					if t.squared {
						slack *= slack / 2
					}
					total += t.cost[k] * slack
				}
			}
			return total
		}
		// The loss is convex in the bias, so its minimum is in one of the two thirds beside the lower
		// of two values.
		high := 1 + multiple*max(slices.Max(sums), -slices.Min(sums))
		low := -high
		for range 60 {
			a, b := low+(high-low)/3, high-(high-low)/3
			if loss(a) < loss(b) {
				high = b
			} else {
				low = a
			}
		}
		e.Primal = min(e.Primal, multiple*multiple*quadratic/2+loss(low))
	}
	return e, nil
}

// ready returns an error unless there is a fit with multipliers.
func (f *Fit) ready(ctx context.Context, call string) error {
	if f.none() {
		return arguments.NoFit(call)
	}
	return arguments.Given(ctx, call)
}

// vectors calls do with all points whose α is not 0, some at a time, with their columns and with
// y_i α_i.
func (f *Fit) vectors(ctx context.Context, doing string, do func(x [][]float64, z, alpha []float64) error) error {
	m := f.task.points.Columns()
	var x [][]float64
	return f.multipliers(ctx, doing, func(b *datasets.Block, z, alpha []float64) error {
		x = x[:0]
		for i, a := range alpha {
			if a != 0 {
				copy(z[len(x)*m:(len(x)+1)*m], z[i*m:(i+1)*m])
				alpha[len(x)] = a
				x = append(x, b.X[i])
			}
		}
		if len(x) == 0 {
			return nil
		}
		return do(x, z[:len(x)*m], alpha[:len(x)])
	})
}

// multipliers calls do with all points, some at a time, with their columns and with y_i α_i. do may
// change z and alpha.
func (f *Fit) multipliers(ctx context.Context, doing string, do func(b *datasets.Block, z, alpha []float64) error) error {
	p := *f.task.points
	m := p.Columns()
	if p.z == nil {
		p.z = make([]float64, p.rows*m)
	}
	p.report = newReporter(f.task.head.N, f.Description.watch)
	p.report.Doing = doing
	alpha := make([]float64, p.rows)
	return p.blocks(ctx, func(b *datasets.Block) error {
		n := len(b.X)
		p.of.Values(p.z[:n*m], b.X)
		dots(alpha[:n], p.z, f.Alpha.Beta, f.Alpha.Bias)
		for i, y := range b.Y {
			alpha[i] = y * f.Alpha.At(y, alpha[i])
		}
		return do(b, p.z[:n*m], alpha[:n])
	})
}
