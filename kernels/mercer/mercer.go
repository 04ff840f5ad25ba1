// Package mercer tests whether a function is a kernel on given points, and repairs the matrix
// of a function that is not.
//
// By Mercer's theorem, in the form of Ng's notes (section 7), K is a kernel if and only if its
// matrix is symmetric and positive semi-definite on every finite set of points. One set can
// refute this, but no set can prove it.
//
// It is separate from package kernels because it links gonum's matrices.
package mercer

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/svmnb/svmnb/kernels"
)

// Report describes the matrix of a kernel on n points.
type Report struct {
	Kernel    string
	N         int
	Size      float64 // max |K_ij|
	Asymmetry float64 // max |K_ij − K_ji|
	// Eigenvalues has the n eigenvalues of the symmetric part, in ascending order.
	Eigenvalues []float64
	Rank        int     // number of eigenvalues that are not 0 up to rounding
	Condition   float64 // largest |eigenvalue| over the smallest, +Inf when Rank < n
	// Witness is a unit vector z of n entries with z'Kz < 0: the eigenvector of the smallest
	// eigenvalue. It is nil if K is positive semi-definite.
	Witness []float64
}

// Check evaluates k at all n² pairs of the n × d points x, in both orders, and computes the
// eigenvalues of the matrix. A thousand points take about a second, and the time grows with
// n³. Errors for k and x are those of kernels.NewGram.
func Check(k kernels.Kernel, x [][]float64) (*Report, error) {
	s, err := decompose(k, x)
	if err != nil {
		return nil, err
	}
	return s.report(), nil
}

// Symmetric reports whether K_ij and K_ji agree to 1e-12 of the largest entry.
func (r *Report) Symmetric() bool { return r.Asymmetry <= 1e-12*r.Size }

// SemiDefinite reports whether no eigenvalue is negative by more than rounding, which is 10 n
// 2⁻⁵² of the largest.
func (r *Report) SemiDefinite() bool { return r.Witness == nil }

// OK reports whether the matrix is symmetric and positive semi-definite up to rounding. If
// not, the function is no kernel.
func (r *Report) OK() bool { return r.Symmetric() && r.SemiDefinite() }

// String returns a sentence with the verdict and one with the numbers.
func (r *Report) String() string {
	head := fmt.Sprintf("%s passes for a kernel on these %d points", r.Kernel, r.N)
	switch smallest := r.Eigenvalues[0]; {
	case !r.Symmetric():
		head = fmt.Sprintf("%s is no kernel: K(x, z) and K(z, x) differ by %.3g on these %d points", r.Kernel, r.Asymmetry, r.N)
	case !r.SemiDefinite():
		head = fmt.Sprintf("%s is no kernel: z'Kz = %.3g for a unit vector z on these %d points", r.Kernel, smallest, r.N)
	}
	return fmt.Sprintf("%s. Eigenvalues %.3g … %.3g, rank %d, condition %.3g.",
		head, r.Eigenvalues[0], r.Eigenvalues[r.N-1], r.Rank, r.Condition)
}

// spectrum is the matrix of a kernel and its eigenvectors.
type spectrum struct {
	k               kernels.Kernel
	x               [][]float64
	k0              *mat.SymDense // the symmetric part
	size, asymmetry float64
	values          []float64
	vectors         mat.Dense // the eigenvectors, by columns
}

func decompose(k kernels.Kernel, x [][]float64) (*spectrum, error) {
	if _, err := kernels.NewGram(k, x, kernels.NoCache); err != nil {
		return nil, err
	}
	n := len(x)
	s := &spectrum{k: k, x: x, k0: mat.NewSymDense(n, nil)}
	for i := range x {
		for j := range i + 1 {
			a, b := k.Eval(x[i], x[j]), k.Eval(x[j], x[i])
			mean := a/2 + b/2
			if math.IsNaN(mean) || math.IsInf(mean, 0) {
				return nil, &kernels.DataError{Arg: "x", Row: i, Col: -1, Value: mean,
					Msg: fmt.Sprintf("%v of this point and point %d is %v: leave one of them out, or scale the features", k, j, mean)}
			}
			s.size = max(s.size, math.Abs(a), math.Abs(b))
			s.asymmetry = max(s.asymmetry, math.Abs(a-b))
			s.k0.SetSym(i, j, mean)
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(s.k0, true) {
		return nil, errors.New("mercer: the eigenvalues do not converge")
	}
	s.values = eigen.Values(nil)
	eigen.VectorsTo(&s.vectors)
	return s, nil
}

// rounding returns the largest error of an eigenvalue by rounding.
func (s *spectrum) rounding() float64 {
	n := len(s.values)
	return 10 * float64(n) * 0x1p-52 * max(math.Abs(s.values[0]), math.Abs(s.values[n-1]))
}

func (s *spectrum) report() *Report {
	r := &Report{Kernel: s.k.String(), N: len(s.x), Size: s.size, Asymmetry: s.asymmetry, Eigenvalues: s.values, Condition: math.Inf(1)}
	smallest, largest := math.Inf(1), 0.0
	for _, v := range s.values {
		smallest, largest = min(smallest, math.Abs(v)), max(largest, math.Abs(v))
		if math.Abs(v) > s.rounding() {
			r.Rank++
		}
	}
	if r.Rank == r.N {
		r.Condition = largest / smallest
	}
	if s.values[0] < -s.rounding() {
		r.Witness = mat.Col(nil, 0, &s.vectors)
	}
	return r
}
