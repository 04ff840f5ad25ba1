package kernels

import "strings"

// This file has the common code of [Sum] and [Product]. Their values are computed from the
// values of two parts, number by number.

// flatten appends ks to parts, from left to right, with nested kernels split into their parts.
func flatten(parts, ks []Kernel, split func(Kernel) (a, b Kernel, ok bool)) []Kernel {
	for _, k := range ks {
		if a, b, ok := split(k); ok {
			parts = flatten(parts, []Kernel{a, b}, split)
		} else {
			parts = append(parts, k)
		}
	}
	return parts
}

// describeParts returns the constructor call with all parts. If nested is set, a was made by
// the same constructor, and its parts are written out.
func describeParts(name string, a, b Kernel, nested bool) string {
	if nested {
		return strings.TrimSuffix(a.String(), ")") + ", " + describe(b) + ")"
	}
	return name + "(" + describe(a) + ", " + describe(b) + ")"
}

// inBothDomains is CheckPoints for a kernel of two parts.
func inBothDomains(a, b Kernel, x [][]float64) error {
	if err := inDomain(a, x); err != nil {
		return err
	}
	return inDomain(b, x)
}

// withParts returns two parts with other values of their hyperparameters.
func withParts(a, b Kernel, values []float64) (newA, newB Kernel) {
	n := learnable(a)
	return with(a, values[:n]), with(b, values[n:])
}

// ofParts makes, for [Parse], the constructor of a kernel of two or more parts.
func ofParts(join func(a, b Kernel) Kernel) func(a arguments) Kernel {
	return func(a arguments) Kernel {
		if len(a.kernels) < 2 || len(a.numbers)+len(a.strings) > 0 {
			return nil
		}
		all := a.kernels[0]
		for _, k := range a.kernels[1:] {
			all = join(all, k)
		}
		return all
	}
}

func add(v, b []float64) {
	for j, s := range b {
		v[j] += s
	}
}

func multiply(v, b []float64) {
	for j, s := range b {
		v[j] *= s
	}
}

// pairRower computes the values of both parts and joins them: join(v, b) sets v to the values
// of the kernel, where v and b have those of the parts.
type pairRower struct {
	a, b rower
	join func(v, b []float64)
}

func (r pairRower) row(dst, x []float64, w *work) {
	b := w.take(len(dst))
	defer w.give(b)
	r.a.row(dst, x, w)
	r.b.row(b, x, w)
	r.join(dst, b)
}

func (r pairRower) self(x []float64, w *work) float64 {
	v := w.take(2)
	defer w.give(v)
	v[0], v[1] = r.a.self(x, w), r.b.self(x, w)
	r.join(v[:1], v[1:])
	return v[0]
}

func (r pairRower) swap(s, t int) { r.a.swap(s, t); r.b.swap(s, t) }

// pairTerm is a pairRower for formulas.
type pairTerm struct {
	a, b  term
	join  func(v, b []float64)
	share float64 // share of the tolerance for each part
}

// newPairTerm returns the term of a kernel of two parts, or nil if a part has no term.
func newPairTerm(f *formula, cols []int, a, b Kernel, join func(v, b []float64), share float64) term {
	if a, b := f.term(a, cols), f.term(b, cols); a != nil && b != nil {
		return pairTerm{a, b, join, share}
	}
	return nil
}

func (t pairTerm) values(dst []float64, p *pairs, w *work) {
	b := w.take(len(dst))
	defer w.give(b)
	t.a.values(dst, p, w)
	t.b.values(b, p, w)
	t.join(dst, b)
}

func (t pairTerm) reach(space int, u, tol float64, self span) float64 {
	tol *= t.share
	return min(t.a.reach(space, u, tol, self), t.b.reach(space, u, tol, self))
}

// pairGradient computes the values and derivatives of both parts. Then join(v, b, grad, cut)
// turns them into those of the kernel: before the call v and b have the values of the two
// parts, afterwards v has the values of the kernel, and grad its derivatives. The first cut
// numbers of grad belong to the first part.
type pairGradient struct {
	a, b gradientRower
	n    int // number of hyperparameters of a
	join func(v, b, grad []float64, cut int)
}

func newPairGradient(a, b Kernel, p *points, join func(v, b, grad []float64, cut int)) pairGradient {
	return pairGradient{gradientRowerOf(a, p), gradientRowerOf(b, p), learnable(a), join}
}

func (r pairGradient) row(v, grad, x []float64, w *work) {
	b := w.take(len(v))
	defer w.give(b)
	cut := r.n * len(v)
	r.a.row(v, grad[:cut], x, w)
	r.b.row(b, grad[cut:], x, w)
	r.join(v, b, grad, cut)
}

func (r pairGradient) self(grad, x []float64, w *work) float64 {
	v := w.take(2)
	defer w.give(v)
	v[0], v[1] = r.a.self(grad[:r.n], x, w), r.b.self(grad[r.n:], x, w)
	r.join(v[:1], v[1:], grad, r.n)
	return v[0]
}

// slopesAt are the slopes of a part at two points.
type slopesAt struct {
	value          float64
	byX, byZ, both []float64
}

// pairSlopes returns the slopes of a kernel of two parts: join changes those of the first part into
// them, and returns the value.
func pairSlopes(a, b Kernel, join func(a, b *slopesAt) float64) (slopes, bool) {
	ofA, okA := slopesOf(a)
	ofB, okB := slopesOf(b)
	return func(byX, byZ, both, x, z []float64) float64 {
		d := len(x)
		second := make([]float64, 2*d+d*d)
		p, q := &slopesAt{0, byX, byZ, both}, &slopesAt{0, second[:d], second[d : 2*d], second[2*d:]}
		p.value, q.value = ofA(p.byX, p.byZ, p.both, x, z), ofB(q.byX, q.byZ, q.both, x, z)
		return join(p, q)
	}, okA && okB
}
