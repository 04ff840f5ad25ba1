package kernels

// DistanceKernel is −½‖φ(x) − φ(z)‖²; see [Distance].
type DistanceKernel struct{ K Kernel }

func init() {
	register("Distance", func(a arguments) Kernel {
		if len(a.kernels) != 1 || len(a.numbers)+len(a.strings) > 0 {
			return nil
		}
		return DistanceKernel{a.kernels[0]}
	})
}

// Distance returns K(x, z) − ½K(x, x) − ½K(z, z) = −½‖φ(x) − φ(z)‖², minus half the squared
// distance in feature space. It is not a kernel by itself but conditionally positive definite:
// Σ_ij c_i c_j D(x_i, x_j) ≥ 0 for every c with the sum 0 (Schölkopf 2001). A machine with a free
// bias has such coefficients, so it is the same as with K. In Σ c_i D(x_i, x) + b with Σ c_i > 0, the
// value falls with the distance from a centre, as [svmnb.Enclose] needs it.
//
// [svmnb.Enclose]: https://pkg.go.dev/github.com/svmnb/svmnb/svmnb#Enclose
func Distance(k Kernel) Kernel { return DistanceKernel{k} }

// apart returns −½‖φ(x) − φ(z)‖² for v = K(x, z), a = K(x, x) and b = K(z, z).
func apart(v, a, b float64) float64 { return v - float64((a+b)/2) }

// Eval returns K(x, z) − ½K(x, x) − ½K(z, z).
func (k DistanceKernel) Eval(x, z []float64) float64 {
	return apart(k.K.Eval(x, z), k.K.Eval(x, x), k.K.Eval(z, z))
}

// Check returns the error of K.
func (k DistanceKernel) Check() error { return check(k.K) }

// CheckPoints returns the error that K has for x.
func (k DistanceKernel) CheckPoints(x [][]float64) error { return inDomain(k.K, x) }

func (k DistanceKernel) String() string { return "Distance(" + describe(k.K) + ")" }

type distanceRower struct {
	k      rower
	selves []float64 // K(z, z) of all n points
}

func (k DistanceKernel) rower(p *points) rower {
	r := &distanceRower{rowerOf(k.K, p), make([]float64, p.n)}
	w := &work{}
	for j, x := range p.all() {
		r.selves[j] = r.k.self(x, w)
	}
	return r
}

func (r *distanceRower) row(dst, x []float64, w *work) {
	r.k.row(dst, x, w)
	self := r.k.self(x, w)
	for j, v := range dst {
		dst[j] = apart(v, self, r.selves[j])
	}
}

func (r *distanceRower) self([]float64, *work) float64 { return 0 }

func (r *distanceRower) swap(s, t int) {
	r.k.swap(s, t)
	r.selves[s], r.selves[t] = r.selves[t], r.selves[s]
}
