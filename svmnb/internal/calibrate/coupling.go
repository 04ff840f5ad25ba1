package calibrate

import "math"

// Couple returns the probabilities of k ≥ 1 classes from those of pairs: r[i][j], in (0,
// 1), is the probability of class i if only i and j are possible, and r[j][i] = 1 −
// r[i][j]. They minimise
//
//	Σ_i Σ_{j≠i} (r_ji p_i − r_ij p_j)²,  Σ p = 1
//
// (Wu, Lin and Weng 2004, the second method, Algorithm 2). With Q_ii = Σ_j r_ji² and Q_ij =
// −r_ji r_ij, the minimum satisfies Qp = (p'Qp) e. The iteration p_i ← p_i + (p'Qp −
// (Qp)_i)/Q_ii, for one i at a time and normalised, converges to it.
func Couple(r [][]float64) []float64 {
	k := len(r)
	q := make([][]float64, k)
	p, qp := make([]float64, k), make([]float64, k)
	for i := range q {
		q[i] = make([]float64, k)
		p[i] = 1 / float64(k)
		for j := range q[i] {
			if i != j {
				q[i][i] += r[j][i] * r[j][i]
				q[i][j] = -r[j][i] * r[i][j]
			}
		}
	}
	for range max(1000, 10*k) {
		value := 0.0
		for i := range qp {
			qp[i] = 0
			for j, v := range q[i] {
				qp[i] += v * p[j]
			}
			value += p[i] * qp[i]
		}
		worst := 0.0
		for _, v := range qp {
			worst = max(worst, math.Abs(v-value))
		}
		if worst <= 1e-12/float64(k) {
			break
		}
		for i := range p {
			d := (value - qp[i]) / q[i][i]
			p[i] += d
			value = (value + d*(d*q[i][i]+2*qp[i])) / ((1 + d) * (1 + d))
			for j := range p {
				qp[j] = (qp[j] + d*q[i][j]) / (1 + d)
				p[j] /= 1 + d
			}
		}
	}
	return p
}
