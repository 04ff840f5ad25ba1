package kernels

import "github.com/svmnb/svmnb/internal/panics"

// PanicError is a panic in a kernel's code, with the kernel and the two points that it
// was asked for. Whoever computes with a matrix panics with one, in the goroutine that has
// called it, whatever the panic was and wherever it was; [NewGram] returns it as its error,
// and so does everything in packages solvers and svmnb.
type PanicError = panics.Error

// While a panic is on its way from a rower to the matrix, its points are known by the
// places at which they stand: −2 for place 0, −3 for place 1 and so on.
func atPlace(t int) int { return -2 - t }

// pairOf, deferred, makes a panic in the code of k one that names it and the place of the
// second point, unless place is nil.
func pairOf(k Kernel, place *int) {
	if p := recover(); p != nil {
		e := panics.Of(p, func() string { return "the kernel " + k.String() })
		if place != nil && e.J == -1 {
			e.J = atPlace(*place)
		}
		panic(e)
	}
}

// moveOn, deferred, adds to the place of the second point, of whom a part of the points
// was asked for.
func moveOn(from *int) {
	if p := recover(); p != nil {
		if e, ok := p.(*PanicError); ok && e.J < -1 {
			e.J -= *from
		}
		panic(p)
	}
}

// rowOf, deferred, says at which place the first point stands, where that is not known.
func rowOf(place *int) {
	if p := recover(); p != nil {
		if e, ok := p.(*PanicError); ok && e.I == -1 {
			e.I = atPlace(*place)
		}
		panic(p)
	}
}

// selfOf, deferred, says that the point at this place was asked for with itself.
func selfOf(place *int) {
	if p := recover(); p != nil {
		if e, ok := p.(*PanicError); ok {
			e.I, e.J = atPlace(*place), atPlace(*place)
		}
		panic(p)
	}
}

// ofNone, deferred, says that a kernel was tried out without points.
func ofNone() {
	if p := recover(); p != nil {
		if e, ok := p.(*PanicError); ok {
			e.I, e.J = -1, -1
		}
		panic(p)
	}
}

// named, deferred, makes points of places; order says which, nil that they are the same.
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

// eachOf returns what sets each number to what a kernel's own function makes of it.
func eachOf(k Kernel, of func(float64) float64) func(v []float64) {
	return func(v []float64) {
		j := 0
		defer pairOf(k, &j)
		for ; j < len(v); j++ {
			v[j] = of(v[j])
		}
	}
}

// pairIn, deferred, says which points of two lists the pair is: the r-th on the left, and
// on the right the one whose number in the list was known.
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
