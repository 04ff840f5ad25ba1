// Package kerneltest tests whether a kernel fulfils its contract:
//
//	func TestMine(t *testing.T) { kerneltest.Run(t, Mine{Gamma: 2}) }
package kerneltest

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"iter"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/svmnb/svmnb/kernels"
)

// Points makes a set of at least two and at most some dozens of points, with the same number
// of features each.
type Points func(rng *rand.Rand) [][]float64

// Run tests that k is a kernel: that it is symmetric and positive semi-definite on random
// points, that its Check refuses NaN in each exported field, and that its String is a Go
// expression. Eval, OfDot or OfSquaredDistance, and the rows of a Gram and a Basis must give
// the same values. A finite sample can refute a kernel but not prove one.
//
// For a [kernels.Differentiable] it tests that With sets the hyperparameters, and that the
// derivatives agree with central differences to a relative 1e-6. For a [kernels.Spectral] it
// tests that the mean over frequencies is the kernel.
//
// The points are those of [Usual]. For a kernel of a smaller domain, such as non-negative
// features, give your own.
func Run(t *testing.T, k kernels.Kernel, gen ...Points) {
	t.Helper()
	run(t, k, gen, try)
}

// RunIndefinite is [Run] for a function that is used although it is known not to be positive
// semi-definite. Instead of testing that it is semi-definite, RunIndefinite tests that some of
// the points show that it is not.
func RunIndefinite(t *testing.T, k kernels.Kernel, gen ...Points) {
	t.Helper()
	run(t, k, gen, tryIndefinite)
}

func run(t *testing.T, k kernels.Kernel, gen []Points, try func(check, kernels.Kernel, []Points) error) {
	t.Helper()
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			if err := try(c, k, gen); err != nil {
				t.Error(err)
			}
		})
	}
}

func tryIndefinite(c check, k kernels.Kernel, gen []Points) error {
	err := try(c, k, gen)
	if c.name != definiteness {
		return err
	}
	if err == nil {
		return fmt.Errorf("no points refute that %v is positive semi-definite", k)
	}
	return nil
}

const definiteness = "PositiveSemiDefinite"

type check struct {
	name string
	// Exactly one of these is set.
	ofKernel func(k kernels.Kernel) error
	ofPoints func(k kernels.Kernel, x [][]float64) error
}

var checks = []check{
	{name: "Check", ofKernel: parameters},
	{name: "String", ofKernel: expression},
	{name: "Purity", ofPoints: purity},
	{name: "Symmetry", ofPoints: symmetry},
	{name: definiteness, ofPoints: semidefinite},
	{name: "Tier", ofPoints: tier},
	{name: "Gram", ofPoints: gram},
	{name: "Basis", ofPoints: basis},
	{name: "Hyperparameters", ofKernel: hyperparameters},
	{name: "Gradient", ofPoints: gradient},
	{name: "Spectrum", ofPoints: spectrum},
}

func try(c check, k kernels.Kernel, gen []Points) error {
	if c.ofKernel != nil {
		return c.ofKernel(k)
	}
	if len(gen) == 0 {
		gen = Usual()
	}
	for i, g := range gen {
		for seed := range uint64(3) {
			if err := c.ofPoints(k, g(rand.New(rand.NewPCG(seed, uint64(i))))); err != nil {
				return fmt.Errorf("%v, points %d, seed %d: %w", k, i, seed, err)
			}
		}
	}
	return nil
}

// Usual returns the points that Run uses when it is given none: normal and uniform ones, in 1
// to 17 dimensions, with duplicates, near pairs and a far origin.
func Usual() []Points {
	return []Points{
		normal(20, 1, 1, 0),
		normal(30, 2, 1, 0),
		normal(25, 3, 0.1, 0),
		normal(20, 4, 1, 0),
		normal(20, 17, 1, 0),
		normal(15, 2, 1, 1000),
		normal(2, 2, 1e-9, 0),
		func(rng *rand.Rand) [][]float64 { // each point twice
			x := normal(12, 2, 1, 0)(rng)
			return append(x, x...)
		},
		func(rng *rand.Rand) [][]float64 { // zero, the axes, and pairs that nearly coincide
			x := [][]float64{{0, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 0, 1}, {1, 1e-9, 0}, {1, 0, 1e-12}}
			for range 10 {
				x = append(x, []float64{rng.Float64(), rng.Float64(), rng.Float64()})
			}
			return x
		},
	}
}

func normal(n, d int, scale, shift float64) Points {
	return func(rng *rand.Rand) [][]float64 {
		x := make([][]float64, n)
		for i := range x {
			x[i] = make([]float64, d)
			for k := range x[i] {
				x[i][k] = shift + scale*rng.NormFloat64()
			}
		}
		return x
	}
}

// altered yields copies of k, together with the name of a field. In each copy one number v, in
// this field, is replaced by to(v).
func altered(k kernels.Kernel, to func(v float64) float64) iter.Seq2[string, kernels.Kernel] {
	return func(yield func(string, kernels.Kernel) bool) {
		typ := reflect.TypeOf(k)
		if typ.Kind() != reflect.Struct {
			return
		}
		for i := range typ.NumField() {
			if f := typ.Field(i); f.IsExported() && f.Type.Kind() == reflect.Float64 {
				other := reflect.New(typ).Elem()
				other.Set(reflect.ValueOf(k))
				other.Field(i).SetFloat(to(other.Field(i).Float()))
				if !yield(f.Name, other.Interface().(kernels.Kernel)) {
					return
				}
			}
		}
	}
}

// parameters tests that Check accepts k and refuses it with NaN in any field.
func parameters(k kernels.Kernel) error {
	if err := k.Check(); err != nil {
		return fmt.Errorf("its Check refuses the kernel to be tested: %w", err)
	}
	for field, bad := range altered(k, func(float64) float64 { return math.NaN() }) {
		err := bad.Check()
		if err == nil {
			return fmt.Errorf("its Check takes %s = NaN", field)
		}
		if !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(field)) {
			return fmt.Errorf("its Check for %s = NaN does not name %s: %q", field, field, err)
		}
		if _, err := kernels.NewGram(bad, [][]float64{{1}, {2}}, 0); err == nil {
			return fmt.Errorf("a Gram takes %s = NaN", field)
		}
	}
	return nil
}

// expression tests that String is a Go expression, and that slightly different kernels have
// different strings.
func expression(k kernels.Kernel) error {
	s := k.String()
	if e, err := parser.ParseExpr(s); err != nil {
		return fmt.Errorf("its String %q is no Go expression: %w", s, err)
	} else if _, ok := e.(*ast.CallExpr); !ok {
		return fmt.Errorf("its String %q is no call", s)
	}
	for field, other := range altered(k, func(v float64) float64 { return math.Nextafter(v, math.Inf(1)) }) {
		if other.String() == s {
			return fmt.Errorf("its String %q is the same for the next %s", s, field)
		}
	}
	return nil
}

// purity tests that Eval leaves its arguments unchanged and gives the same value again.
func purity(k kernels.Kernel, x [][]float64) error {
	a, b := slices.Clone(x[0]), slices.Clone(x[1])
	first := k.Eval(a, b)
	if !slices.Equal(a, x[0]) || !slices.Equal(b, x[1]) {
		return errors.New("its Eval writes to its arguments")
	}
	if again := k.Eval(a, b); math.Float64bits(first) != math.Float64bits(again) {
		return fmt.Errorf("its Eval gives %v, then %v", first, again)
	}
	return nil
}

// near returns an error unless got is finite and differs from want by at most 1e-12·size.
func near(what string, i, j int, got, want, size float64) error {
	if math.Abs(got-want) <= 1e-12*size {
		return nil
	}
	return fmt.Errorf("%s of points %d and %d is %v, want %v", what, i, j, got, want)
}

func symmetry(k kernels.Kernel, x [][]float64) error {
	for i := range x {
		for j := range i {
			if err := near("K(z, x)", i, j, k.Eval(x[j], x[i]), k.Eval(x[i], x[j]), size(k, x[i], x[j])); err != nil {
				return err
			}
		}
	}
	return nil
}

// size returns √(K(x,x) K(z,z)), which bounds |K(x,z)|, or |K(x,z)| if it is larger because K
// is indefinite.
func size(k kernels.Kernel, x, z []float64) float64 {
	return max(math.Sqrt(math.Abs(k.Eval(x, x)))*math.Sqrt(math.Abs(k.Eval(z, z))), math.Abs(k.Eval(x, z)))
}

// semidefinite tests that no eigenvalue is negative by more than rounding.
func semidefinite(k kernels.Kernel, x [][]float64) error {
	n := len(x)
	m := mat.NewSymDense(n, nil)
	for i := range x {
		for j := range i + 1 {
			m.SetSym(i, j, k.Eval(x[i], x[j]))
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(m, false) {
		return errors.New("the eigenvalues of the matrix do not converge")
	}
	values := eigen.Values(nil)
	if smallest, largest := values[0], values[n-1]; !(smallest >= -10*float64(n)*0x1p-52*largest) {
		return fmt.Errorf("not positive semi-definite: the eigenvalues go from %v to %v", smallest, largest)
	}
	return nil
}

// tier tests that OfDot or OfSquaredDistance agrees with Eval.
func tier(k kernels.Kernel, x [][]float64) error {
	for i := range x {
		for j := range i + 1 {
			var dot, r2 float64
			for f := range x[i] {
				dot += x[i][f] * x[j][f]
				r2 += (x[i][f] - x[j][f]) * (x[i][f] - x[j][f])
			}
			var err error
			want, size := k.Eval(x[i], x[j]), size(k, x[i], x[j])
			switch k := k.(type) {
			case kernels.Radial:
				err = near("OfSquaredDistance", i, j, k.OfSquaredDistance(r2), want, size)
			case kernels.DotProduct:
				err = near("OfDot", i, j, k.OfDot(dot), want, size)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// gram tests that rows have Eval's values, and the same bits in every store and on both sides
// of the diagonal.
func gram(k kernels.Kernel, x [][]float64) error {
	var all [][][]float64
	for _, cache := range []int64{0, 1, kernels.NoCache} {
		g, err := kernels.NewGram(k, x, cache)
		if err != nil {
			return err
		}
		rows := make([][]float64, len(x))
		for t := range x {
			i := t * 7 % len(x) // out of order
			rows[i] = slices.Clone(g.Row(i))
		}
		for i := range x {
			if rows[i] == nil {
				rows[i] = slices.Clone(g.Row(i))
			}
		}
		for i := range x {
			if math.Float64bits(g.Diag()[i]) != math.Float64bits(rows[i][i]) {
				return fmt.Errorf("Diag()[%d] is %v, in its row it is %v", i, g.Diag()[i], rows[i][i])
			}
		}
		all = append(all, rows)
	}
	for i := range x {
		for j := range x {
			v := all[0][i][j]
			if err := near("the entry in a Gram", i, j, v, k.Eval(x[i], x[j]), size(k, x[i], x[j])); err != nil {
				return err
			}
			for _, rows := range all {
				if math.Float64bits(v) != math.Float64bits(rows[i][j]) || math.Float64bits(v) != math.Float64bits(rows[j][i]) {
					return fmt.Errorf("entries (%d, %d) and (%d, %d) differ by store or side: %v, %v, %v", i, j, j, i, v, rows[i][j], rows[j][i])
				}
			}
		}
	}
	return nil
}

// basis tests that rows against a basis have Eval's values, in new memory and in given memory.
func basis(k kernels.Kernel, x [][]float64) error {
	half := x[:len(x)/2]
	b := kernels.Against(k, half)
	old := make([]float64, 0, len(x))
	for i := range x {
		fresh := b.Row(nil, x[i])
		old = b.Row(old, x[i])
		if !slices.Equal(fresh, old) {
			return fmt.Errorf("row %d of a Basis is %v in new memory and %v in old", i, fresh, old)
		}
		for j := range half {
			if err := near("the entry in a Basis", i, j, fresh[j], k.Eval(x[i], half[j]), size(k, x[i], half[j])); err != nil {
				return err
			}
		}
	}
	return nil
}

// values returns the values of the hyperparameters of k.
func values(k kernels.Differentiable) []float64 {
	var v []float64
	for _, h := range k.Hyperparameters() {
		v = append(v, h.Value)
	}
	return v
}

// hyperparameters tests that the names differ and the values are above 0, and that With sets
// each of them and nothing else.
func hyperparameters(k kernels.Kernel) error {
	d, ok := k.(kernels.Differentiable)
	if !ok {
		return nil
	}
	list, err := kernels.Hyperparameters(k)
	if err != nil {
		return err
	}
	names := map[string]bool{}
	for _, h := range list {
		if names[h.Name] || strings.HasSuffix(h.Name, ".") {
			return fmt.Errorf("its hyperparameters need a name each: %v", list)
		}
		names[h.Name] = true
	}
	if len(list) == 0 {
		return nil
	}
	own := values(d)
	same := d.With(slices.Clone(own))
	if reflect.TypeOf(same) != reflect.TypeOf(k) || reflect.ValueOf(k).Comparable() && same != k {
		return fmt.Errorf("its With of its own values gives %v", same)
	}
	for p := range own {
		want := slices.Clone(own)
		want[p] /= 2
		other, ok := d.With(want).(kernels.Differentiable)
		if !ok || !slices.Equal(values(other), want) {
			return fmt.Errorf("its With of %v gives %v", want, d.With(want))
		}
	}
	if !slices.Equal(values(d), own) {
		return errors.New("its With changes the kernel")
	}
	return nil
}

// gradient tests that EvalGradient returns Eval's value and the derivatives that differences
// give, and that a Gradient gives the same sums.
func gradient(k kernels.Kernel, x [][]float64) error {
	d, ok := k.(kernels.Differentiable)
	if !ok || len(d.Hyperparameters()) == 0 {
		return nil
	}
	// f(−2h), f(−h), f(h) and f(2h) give f′ up to h⁴f⁽⁵⁾/30.
	const h = 5e-5
	own := values(d)
	around := make([][4]kernels.Kernel, len(own))
	for p, v := range own {
		for s, step := range [4]float64{-2 * h, -h, h, 2 * h} {
			moved := slices.Clone(own)
			moved[p] = v * math.Exp(step)
			around[p][s] = d.With(moved)
		}
	}
	weight := func(i, j int) float64 { return math.Cos(float64(i+j)) + float64(i*j%5) }
	sum, scale := make([]float64, len(own)), make([]float64, len(own))
	for i := range x {
		for j := range i + 1 {
			grad := make([]float64, len(own))
			size := size(k, x[i], x[j])
			if err := near("the value of EvalGradient", i, j, d.EvalGradient(grad, x[i], x[j]), k.Eval(x[i], x[j]), size); err != nil {
				return err
			}
			for p, g := range grad {
				var f [4]float64
				for s, moved := range around[p] {
					f[s] = moved.Eval(x[i], x[j])
				}
				want := (f[0] - f[3] + 8*(f[2]-f[1])) / (12 * h)
				if !(math.Abs(g-want) <= 1e-6*math.Abs(want)+1e-9*size) {
					return fmt.Errorf("the derivative by ln %s at points %d and %d is %v, differences give %v", d.Hyperparameters()[p].Name, i, j, g, want)
				}
				w := weight(i, j)
				if i != j {
					w *= 2
				}
				sum[p] += w * g
				scale[p] += math.Abs(w) * (math.Abs(g) + size)
			}
		}
	}
	g, err := kernels.NewGradient(k, x)
	if err != nil {
		return err
	}
	row := make([]float64, len(x))
	for p, got := range g.Contract(nil, func(i int) []float64 {
		for j := range row {
			row[j] = weight(i, j)
		}
		return row
	}) {
		if !(math.Abs(got-sum[p]) <= 1e-12*scale[p]) {
			return fmt.Errorf("contracted, the derivative by ln %s is %v, by EvalGradient %v", d.Hyperparameters()[p].Name, got, sum[p])
		}
	}
	return nil
}

// spectrum tests that the mean of cos ω·(x − z) over many frequencies is the kernel.
func spectrum(k kernels.Kernel, x [][]float64) error {
	const m = 10_000
	if _, ok := k.(kernels.Spectral); !ok {
		return nil
	}
	omega, _, err := kernels.Frequencies(k, len(x[0]), m, 1)
	if err != nil {
		return nil // the type embeds another kernel, or has no frequencies for this number of features
	}
	for j := range min(5, len(x)) {
		mean := 0.0
		for _, w := range omega {
			phase := 0.0
			for f, v := range w {
				phase += v * (x[0][f] - x[j][f])
			}
			mean += math.Cos(phase) / m
		}
		// Six standard errors, and a little more for draws from an approximate density.
		if want := k.Eval(x[0], x[j]); !(math.Abs(mean-want) <= 6/math.Sqrt(m)+1e-3) {
			return fmt.Errorf("frequencies give %.4f at points 0 and %d, Eval gives %.4f", mean, j, want)
		}
	}
	return nil
}
