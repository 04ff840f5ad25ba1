package kernels

import "github.com/svmnb/svmnb/internal/panics"

// PanicError is a panic in a kernel's code, together with the kernel and the two points for
// which it was called. Methods that compute kernel values panic with a PanicError in the
// caller's goroutine, whatever the panic was and wherever it occurred. [NewGram] and the
// functions of packages solvers and svmnb return it as an error.
type PanicError = panics.Error

// atPlace returns the number that stands for place t in a PanicError: −2 for place 0, −3 for
// place 1 and so on. A PanicError has these numbers in place of indices of points on its way
// from a rower to the matrix.
func atPlace(t int) int { return -2 - t }

// pairOf is deferred around code of k. It turns a panic into a PanicError with the kernel and,
// unless place is nil, the place of the second point.
func pairOf(k Kernel, place *int) {
	if p := recover(); p != nil {
		e := panics.Of(p, func() string { return "the kernel " + k.String() })
		if place != nil && e.J == -1 {
			e.J = atPlace(*place)
		}
		panic(e)
	}
}

// moveOn is deferred when only the points from number *from on were asked for. It adds *from
// to the place of the second point.
func moveOn(from *int) {
	if p := recover(); p != nil {
		if e, ok := p.(*PanicError); ok && e.J < -1 {
			e.J -= *from
		}
		panic(p)
	}
}

// rowOf is deferred. It sets the place of the first point if that is not known yet.
func rowOf(place *int) {
	if p := recover(); p != nil {
		if e, ok := p.(*PanicError); ok && e.I == -1 {
			e.I = atPlace(*place)
		}
		panic(p)
	}
}

// selfOf is deferred where K(x, x) is computed. It sets both points to the one at place.
func selfOf(place *int) {
	if p := recover(); p != nil {
		if e, ok := p.(*PanicError); ok {
			e.I, e.J = atPlace(*place), atPlace(*place)
		}
		panic(p)
	}
}

// ofNone is deferred where a kernel is tried out without points. It removes the points.
func ofNone() {
	if p := recover(); p != nil {
		if e, ok := p.(*PanicError); ok {
			e.I, e.J = -1, -1
		}
		panic(p)
	}
}

// named is deferred. It turns places into indices by order; nil means that both are the same.
func named(order []int32) {
	if p := recover(); p != nil {
		if e, ok := p.(*PanicError); ok {
			for _, at := range []*int{&e.I, &e.J} {
				if t := -2 - *at; t >= 0 {
					if *at = t; t < len(order) {
						*at = int(order[t])
					}
				}
			}
		}
		panic(p)
	}
}

// eachOf returns a function that replaces each number of a slice by the value of the function
// of, which belongs to kernel k.
func eachOf(k Kernel, of func(float64) float64) func(v []float64) {
	return func(v []float64) {
		j := 0
		defer pairOf(k, &j)
		for ; j < len(v); j++ {
			v[j] = of(v[j])
		}
	}
}

// pairIn is deferred where points of two lists are paired. It replaces the first point by
// left[*r], and the second point j by right[j].
func pairIn(left, right []int32, r *int) {
	if p := recover(); p != nil {
		if e, ok := p.(*PanicError); ok {
			e.I = atPlace(int(left[*r]))
			if j := -2 - e.J; j >= 0 && j < len(right) {
				e.J = atPlace(int(right[j]))
			}
		}
		panic(p)
	}
}
