package kernels

// Room and Hold are for tests in package kernels_test: how many rows in single precision
// are kept, and the rows.
func (g *Gram) Room() int { return g.room() }

func (g *Gram) Hold(dst [][]float32, idx []int) {
	defer named(g.order)
	g.hold(dst, idx)
}

// SetFusedFrom sets the number of points from which sums use simd.Gaussians, and returns the
// number before.
func SetFusedFrom(n int) (before int) {
	before, fusedFrom = fusedFrom, n
	return before
}
