package kernels

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// FixedKernel is K with some or all of its parameters held; see [Fixed].
type FixedKernel struct {
	K     Kernel
	Names string // names of the parameters that are held: "period, length"; "" holds all
}

func init() {
	register("Fixed", func(a arguments) Kernel {
		if len(a.kernels) != 1 || len(a.numbers) > 0 {
			return nil
		}
		return Fixed(a.kernels[0], a.strings...)
	})
}

// Fixed returns the kernel k with the same values, but without the named [Hyperparameters], so
// that these are not learned. Without names no hyperparameter is learned:
//
//	kernels.Fixed(kernels.Periodic(1, 1.3), "period") // the period is known: one year
//
// A name may be one of those that [Lookup] takes. It holds all hyperparameters that it may
// stand for: "gamma" holds every gamma of a sum.
func Fixed(k Kernel, names ...string) FixedKernel {
	return FixedKernel{k, strings.Join(names, ", ")}
}

func (k FixedKernel) names() []string {
	if k.Names == "" {
		return nil
	}
	names := strings.Split(k.Names, ",")
	for i, n := range names {
		names[i] = strings.TrimSpace(n)
	}
	return names
}

// free returns which of the parameters of K are learned, and all of them.
func (k FixedKernel) free(s *scan) (free []int, all []parameter) {
	all, alone := s.within(k.K)
	names := k.names()
	if len(names) == 0 {
		return nil, all
	}
	held := map[int]bool{}
	for _, n := range names {
		for _, p := range called(alone, n) {
			held[p] = true
		}
	}
	for p := range all {
		if !held[p] {
			free = append(free, p)
		}
	}
	return free, all
}

// Eval returns K(x, z).
func (k FixedKernel) Eval(x, z []float64) float64 { return k.K.Eval(x, z) }

// Check returns the error of K, or a *[ParamError] for a name that no hyperparameter of K has.
func (k FixedKernel) Check() error {
	if err := check(k.K); err != nil {
		return err
	}
	list := parametersOf(k.K, nil)
	for i, n := range k.names() {
		if len(called(list, n)) == 0 {
			return &ParamError{"Fixed", fmt.Sprintf("names[%d]", i), math.NaN(), fmt.Sprintf("%q is not a hyperparameter of %v: Hyperparameters lists them", n, k.K)}
		}
	}
	return nil
}

// CheckPoints returns the error that K has for x.
func (k FixedKernel) CheckPoints(x [][]float64) error { return inDomain(k.K, x) }

func (k FixedKernel) String() string {
	s := "Fixed(" + describe(k.K)
	for _, n := range k.names() {
		s += ", " + strconv.Quote(n)
	}
	return s + ")"
}

// Hyperparameters returns the hyperparameters of K that are not held.
func (k FixedKernel) Hyperparameters() []Hyperparameter { return shortened(parametersOf(k, nil)) }

func (k FixedKernel) parameters(s *scan) []parameter {
	free, all := k.free(s)
	var list []parameter
	for _, p := range free {
		list = append(list, all[p])
	}
	return list
}

// With returns the kernel with other values of the parameters that are learned.
func (k FixedKernel) With(values []float64) Kernel {
	free, all := k.free(newScan(nil))
	inner := make([]float64, len(all))
	for p, h := range all {
		inner[p] = h.Value
	}
	for t, p := range free {
		inner[p] = values[t]
	}
	return FixedKernel{with(k.K, inner), k.Names}
}

// EvalGradient returns K(x, z) and sets grad to its derivatives by the parameters that are
// learned.
func (k FixedKernel) EvalGradient(grad, x, z []float64) float64 { return evalGradient(k, grad, x, z) }

func (k FixedKernel) rower(p *points) rower { return rowerOf(k.K, p) }

func (k FixedKernel) gradientRower(p *points) gradientRower {
	free, all := k.free(newScan(nil))
	return partlyFixedGradient{gradientRowerOf(k.K, p), len(all), free}
}

func (k FixedKernel) term(f *formula, cols []int) term { return f.term(k.K, cols) }

func (k FixedKernel) offset(x, mean []float64) (h float64, linear, ok bool) {
	return offset(k.K, x, mean)
}

func (k FixedKernel) spectral() ([]spectralTerm, bool) { return spectral(k.K) }

// partlyFixedGradient computes all derivatives of k and returns those by the parameters that
// are learned.
type partlyFixedGradient struct {
	k    gradientRower
	all  int
	free []int
}

func (r partlyFixedGradient) row(v, grad, x []float64, w *work) {
	inner := w.take(r.all * len(v))
	defer w.give(inner)
	r.k.row(v, inner, x, w)
	for t, p := range r.free {
		copy(grad[t*len(v):][:len(v)], inner[p*len(v):])
	}
}

func (r partlyFixedGradient) self(grad, x []float64, w *work) float64 {
	inner := w.take(r.all)
	defer w.give(inner)
	v := r.k.self(inner, x, w)
	for t, p := range r.free {
		grad[t] = inner[p]
	}
	return v
}

func (k FixedKernel) slopes() (slopes, bool) { return slopesOf(k.K) }
