package transform

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/vec"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
	"github.com/svmnb/svmnb/svmnb/internal/tune"
)

// KernelPrincipalComponents is a [Step] that keeps the directions of largest variance in feature
// space; see [KernelPCA].
type KernelPrincipalComponents struct {
	Kernel     kernels.Kernel // nil means RBF(1/(d·Var X)) of the training points
	Components int
	Whiten     bool // divide every component by its standard deviation
}

// KernelPCA replaces the features by the first k principal components of φ(x) in the feature space
// of the kernel (Schölkopf, Smola and Müller 1998), so that a linear machine behind it can follow
// curves:
//
//	selection.Pipe(transform.KernelPCA(kernels.RBF(2), 3), svmnb.Classify(data))
//
// With K̃ = HKH the centred kernel matrix of the n training points and K̃u = λu, a component of x is
// u'k̃(x)/√λ, where k̃(x) = H(k(x) − K1/n) has the centred kernel values with the training points.
// At a training point it is √λ u_i. With the linear kernel this is [PCA]. The sign of a component is
// such that the largest entry of u is positive. The machine after this step has the linear kernel
// unless another was set.
//
// k is at most n − 1 and at most the number of eigenvalues above 10⁻¹² of the largest, and n at most
// 2000, since the step takes O(n³) operations; for more points take Nystroem, then PCA. In a search,
// k is the parameter "components", and the parameters of the kernel keep their names.
func KernelPCA(k kernels.Kernel, components int) KernelPrincipalComponents {
	return KernelPrincipalComponents{Kernel: k, Components: components}
}

// String returns the call that makes the step.
func (s KernelPrincipalComponents) String() string {
	k := "nil"
	if s.Kernel != nil {
		k = s.Kernel.String()
	}
	if s.Whiten {
		return fmt.Sprintf("KernelPrincipalComponents{%s, %d, Whiten: true}", k, s.Components)
	}
	return fmt.Sprintf("KernelPCA(%s, %d)", k, s.Components)
}

// With implements [Tunable].
func (s KernelPrincipalComponents) With(name string, value float64) (Part, bool) {
	if strings.EqualFold(name, "components") {
		s.Components = asCount(value)
		return s, true
	}
	k, known := tune.Kernel(s.Kernel, name, value)
	if known {
		s.Kernel = k
	}
	return s, known
}

// Fit implements [Step].
func (s KernelPrincipalComponents) Fit(train *datasets.Dataset) (Transform, error) {
	return s.FitSparse(train)
}

// FitSparse implements [SparseStep]. The new points are dense.
func (s KernelPrincipalComponents) FitSparse(train *datasets.Dataset) (SparseTransform, error) {
	const call = "KernelPCA"
	if err := train.Check(); err != nil {
		return nil, err
	}
	n := train.N()
	switch {
	case n > mostLandmarks:
		return nil, arguments.Wrong(call, float64(n), "there are %d training points, and their eigenvectors take of the order of n³ operations, so at most %d are taken; say Nystroem(kernel, m, seed) and then PCA(k)", n, mostLandmarks)
	case s.Components < 1 || s.Components > n-1:
		return nil, arguments.Wrong(call, float64(s.Components), "%d components are asked for of %d training points; give a whole number from 1 to n − 1", s.Components, n)
	}
	k := s.Kernel
	if k == nil {
		k = kernels.RBF(points.Of(train).GammaScale(train.D()))
	}
	all := points.Of(train)
	a, err := matrixOf(all, k)
	if err != nil {
		return nil, fmt.Errorf("svmnb: %s: %w", call, err)
	}
	means, mean := make([]float64, n), 0.0 // K1/n and 1'K1/n²
	for i := range means {
		for _, v := range a.Data[i*n : (i+1)*n] {
			means[i] += v / float64(n)
		}
		mean += means[i] / float64(n)
	}
	largest := 0.0
	for i := range n {
		largest = max(largest, math.Abs(a.Data[i*n+i]))
		for j := range n {
			a.Data[i*n+j] += mean - means[i] - means[j]
		}
	}
	values, ok := eigen(a)
	if !ok {
		return nil, errors.New("svmnb: KernelPCA: the eigenvalues did not converge; scale the features or take another kernel")
	}
	t := steps.NystroemMap{Basis: all.Basis(k), Marks: all, Kernel: k}
	for c := range s.Components {
		at := n - 1 - c
		// Centring leaves rounding errors of the size of K itself.
		if !(values[at] > 1e-12*max(values[n-1], largest)) {
			return nil, arguments.Wrong(call, float64(s.Components), "the points vary along %d directions in the feature space of the kernel, so there is no component %d; take fewer", c, c+1)
		}
		u, centre, top := make([]float64, n), 0.0, 0.0
		for i := range u {
			u[i] = a.Data[i*n+at]
			centre += u[i] / float64(n)
			if math.Abs(u[i]) > math.Abs(top)*(1+1e-9) {
				top = u[i]
			}
		}
		scale := math.Copysign(1/math.Sqrt(values[at]), top)
		if s.Whiten {
			scale *= math.Sqrt(float64(n) / values[at])
		}
		for i := range u {
			u[i] = scale * (u[i] - centre)
		}
		t.U, t.Shift = append(t.U, u), append(t.Shift, vec.Dot(u, means))
	}
	return t, nil
}
