package simd

import "math"

// Twofold has eight sums in twice the working precision (Ogita, Rump and Oishi 2005, Dot2). The
// zero value is that of no terms. It has the same bits at all levels.
type Twofold struct {
	Sum, Rest [8]float64 // each sum is Sum + Rest
	Size      [8]float64 // the sums of the sizes of all products
}

// Add adds the products x_i y_i, the i-th to sum i mod 8. y is as long as x.
func (t *Twofold) Add(x, y []float64) {
	y = y[:len(x)]
	whole := len(x) &^ 7
	if whole == 0 || !twofold(&t.Sum[0], &x[0], &y[0], whole) {
		whole = 0
	}
	for i := whole; i < len(x); i++ {
		j, a, b := i%8, x[i], y[i]
		p := float64(a * b)
		s := t.Sum[j] + p
		z := s - t.Sum[j]
		t.Rest[j] += ((t.Sum[j] - (s - z)) + (p - z)) - math.FMA(-a, b, p)
		t.Sum[j] = s
		t.Size[j] += math.Abs(p)
	}
}
