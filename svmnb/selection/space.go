package selection

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// Space is the set of settings that a [Search] tries: a [Grid], [Random], or one of your own.
type Space interface {
	// Settings returns the names of the parameters and the settings to try, in order, with one
	// value for each name.
	Settings() (names []string, settings [][]float64, err error)
	String() string
}

// Sequential is a Space that chooses each setting by the scores of those before, such as
// bayesopt.Space. The search first tries its Settings, and then asks for the next.
type Sequential interface {
	Space
	Len() int // number of settings, for progress
	// Next returns the setting to try after those in tried, or nil at the end. scores has the
	// mean score of each of them: larger is better, whatever the metric, and NaN is a setting
	// that could not be fitted. The same arguments must give the same setting, so that a
	// search can go on from its file.
	Next(ctx context.Context, tried [][]float64, scores []float64) ([]float64, error)
}

// Grid is all combinations of the values of named parameters. A name is that of a method of
// the description (C, nu, epsilon), of a parameter of the kernel (gamma, degree), or of a
// step of a [Pipeline], as in "pca.components". The name of the step can be left out if the
// learner has no parameter of that name. Upper and lower case are the same.
type Grid map[string][]float64

// Log2 returns 2^from, 2^(from+step), … up to 2^to; step > 0. The LIBSVM guide suggests
// Log2(-5, 15, 2) for C and Log2(-15, 3, 2) for gamma.
func Log2(from, to, step float64) []float64 {
	var v []float64
	if !(step > 0) || math.IsInf(from, 0) || !(to-from <= 1e4*step) {
		return v // no values: Search then returns an error that names the parameter
	}
	for k := 0; from+float64(k)*step <= to+1e-9*step; k++ {
		v = append(v, math.Exp2(from+float64(k)*step))
	}
	return v
}

// mostPoints is the greatest number of settings in a search.
const mostPoints = 100_000

// Settings implements [Space].
func (g Grid) Settings() ([]string, [][]float64, error) {
	names := ordered(slices.Collect(maps.Keys(g)))
	if len(names) == 0 {
		return nil, nil, arguments.Wrong("Search", 0, "the grid has no parameters; give some as in selection.Grid{\"C\": selection.Log2(-5, 15, 2)}")
	}
	all := [][]float64{{}}
	for _, name := range names {
		values := slices.Compact(slices.Sorted(slices.Values(g[name])))
		if len(values) == 0 || len(all)*len(values) > mostPoints {
			return nil, nil, arguments.Wrong("Search", float64(len(values)), "%s has %s; give at least one, and a grid of at most %d points", name, say.Several(len(values), "value"), mostPoints)
		}
		var next [][]float64
		for _, p := range all {
			for _, v := range values {
				next = append(next, append(slices.Clone(p), v))
			}
		}
		all = next
	}
	return names, all, nil
}

// String returns the literal of the grid.
func (g Grid) String() string {
	var parts []string
	for _, name := range ordered(slices.Collect(maps.Keys(g))) {
		var values []string
		for _, v := range g[name] {
			values = append(values, say.Number(v))
		}
		parts = append(parts, fmt.Sprintf("%q: {%s}", name, strings.Join(values, ", ")))
	}
	return "Grid{" + strings.Join(parts, ", ") + "}"
}

// ordered sorts the names, with C last: settings that differ in C only are then neighbours,
// and each fit can start from the one before.
func ordered(names []string) []string {
	slices.SortFunc(names, func(a, b string) int {
		if x, y := isCost(a), isCost(b); x != y {
			if x {
				return 1
			}
			return -1
		}
		return strings.Compare(a, b)
	})
	return names
}

func isCost(name string) bool { return strings.EqualFold(name, "C") }

// Range is the interval from which [Random] draws a parameter, uniformly, or uniformly in
// the logarithm if Log is set (Low must then be positive). Whole rounds to whole numbers.
type Range struct {
	Low, High  float64
	Log, Whole bool
}

// Random draws N settings at random, each parameter from its range. When few of many
// parameters matter, it finds better settings than a grid of the same size (Bergstra and
// Bengio 2012). The seed determines the settings: a larger N begins with the same ones.
type Random struct {
	N      int
	Ranges map[string]Range
	Seed   uint64
}

// Settings implements [Space].
func (r Random) Settings() ([]string, [][]float64, error) {
	names := ordered(slices.Collect(maps.Keys(r.Ranges)))
	if r.N < 1 || r.N > mostPoints || len(names) == 0 {
		return nil, nil, arguments.Wrong("Search", float64(r.N), "%s of %s cannot be drawn; give Random 1 to %d points of at least one parameter", say.Several(r.N, "point"), say.Several(len(names), "parameter"), mostPoints)
	}
	for _, name := range names {
		if d := r.Ranges[name]; !(d.Low <= d.High) || math.IsInf(d.High-d.Low, 0) || d.Log && !(d.Low > 0) {
			return nil, nil, arguments.Wrong("Search", d.Low, "the range of %s is %v to %v; give finite ends in order, above 0 for a logarithm", name, d.Low, d.High)
		}
	}
	rng := rand.New(rand.NewPCG(r.Seed, 0x5ea2c4))
	all := make([][]float64, r.N)
	for i := range all {
		for _, name := range names {
			d, u := r.Ranges[name], rng.Float64()
			v := d.Low + u*(d.High-d.Low)
			if d.Log {
				v = math.Exp(math.Log(d.Low) + u*(math.Log(d.High)-math.Log(d.Low)))
			}
			if d.Whole {
				v = math.Round(v)
			}
			all[i] = append(all[i], v)
		}
	}
	return names, all, nil
}

// String describes the ranges in words.
func (r Random) String() string {
	var parts []string
	for _, name := range ordered(slices.Collect(maps.Keys(r.Ranges))) {
		d := r.Ranges[name]
		kind := ""
		if d.Log {
			kind = " by logarithm"
		}
		parts = append(parts, fmt.Sprintf("%s in [%s, %s]%s", name, say.Number(d.Low), say.Number(d.High), kind))
	}
	return fmt.Sprintf("%d points drawn from %s, seed %d", r.N, strings.Join(parts, ", "), r.Seed)
}
