// Package kernels has positive semi-definite functions of two points, and the
// matrices of them that a solver asks for by rows.
//
// A kernel is a small value: it can be compared with ==, stored, and printed as
// the call that made it. [NewGram] makes the matrix of a training set,
// [Against] the rows by which a trained machine predicts. Both give the same
// bits for the same pair of points, in whatever order, from whatever store and
// on whatever machine. [Gram.Among], [Gram.AddTo], [Gram.Sweep] and [Basis.Times]
// give up the last bits for products of matrices. Points that are mostly zeros are a
// [CSR], which [NewSparseGram] and [AgainstSparse] take.
//
// [Sum], [Product], [Scale], [Normalised], [Centred] and [Columns] make kernels of
// kernels. [Hyperparameters] are what can be learned of one, all but what is [Fixed],
// and a [Gradient] has its derivatives by them. [Strings] makes points of strings, for
// [Spectrum] and [GapWeighted]; the points of [Precomputed] carry a matrix from
// elsewhere. Package mercer asks whether a function is a kernel at all.
package kernels

import (
	"math"
	"reflect"
	"strconv"
	"strings"
)

// Kernel is a symmetric, positive semi-definite function of two points. Any
// type with these three methods is one; package kerneltest tries whether it
// keeps its word. A kernel that is a function of x·z or of ‖x − z‖² gains fast
// rows by implementing [DotProduct] or [Radial], any other by [Rowwise]; one that is a
// kernel for some points only implements [Domain]. [Differentiable],
// [RowDifferentiable] and [Spectral] are what else it may know.
//
// The methods are safe for concurrent use and change nothing.
type Kernel interface {
	// Eval returns K(x, z) for two points of the same d ≥ 1 features. It
	// neither changes nor keeps them.
	Eval(x, z []float64) float64
	// Check returns nil, or an error that names the parameter for which this
	// is no kernel, such as a *[ParamError].
	Check() error
	// String returns the call that makes the kernel, with all digits of its
	// parameters: "RBF(0.5)". Kernels that differ have different strings.
	String() string
}

// DotProduct is a kernel that is a function of x·z alone.
type DotProduct interface {
	Kernel
	// OfDot returns K(x, z) for x·z = dot. It agrees with Eval: a type that
	// embeds another kernel and has its own Eval needs its own OfDot too.
	OfDot(dot float64) float64
}

// Radial is a kernel that is a function of ‖x − z‖² alone. It wins where a type
// has the methods of DotProduct too.
type Radial interface {
	Kernel
	// OfSquaredDistance returns K(x, z) for ‖x − z‖² = r2 ≥ 0. It agrees with
	// Eval: a type that embeds another kernel and has its own Eval needs its
	// own OfSquaredDistance too.
	OfSquaredDistance(r2 float64) float64
}

// Rowwise is a kernel that computes many values in a loop of its own. One that is Radial
// or a DotProduct has such a loop anyway. A type that embeds another kernel is none.
type Rowwise interface {
	Kernel
	// EvalRow sets dst[j] to K(x, z_j) for the points z_0, z_1 …, which are given by
	// columns: feature f of z_j is columns[f·stride+j]. A value does not depend on
	// the other points and agrees with Eval.
	EvalRow(dst, x, columns []float64, stride int)
}

// as returns k as an H, what a kernel may know besides its values. A type that embeds
// another kernel inherits its methods, also those that it cannot see, and may have changed
// the kernel, so it is no H.
func as[H any](k Kernel) (h H, ok bool) {
	t := reflect.TypeOf(k)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() == reflect.Struct {
		for i := range t.NumField() {
			if f := t.Field(i); f.Anonymous && f.Type.Implements(reflect.TypeFor[Kernel]()) {
				return h, false
			}
		}
	}
	h, ok = k.(H)
	return h, ok
}

// call returns the constructor call with every digit of its arguments.
func call(name string, args ...float64) string { return name + "(" + digits(args...) + ")" }

// digits writes numbers with every digit. A kernel that needs many keeps them in
// this form, since a string, unlike a slice, can be compared and never changes.
func digits(v ...float64) string {
	s := make([]string, len(v))
	for i, a := range v {
		s[i] = strconv.FormatFloat(a, 'g', -1, 64)
	}
	return strings.Join(s, ", ")
}

// numbers reads what digits has written. What is no number is NaN.
func numbers(s string) []float64 {
	if s == "" {
		return nil
	}
	v := make([]float64, 0, strings.Count(s, ",")+1)
	for part := range strings.SplitSeq(s, ",") {
		a, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil {
			a = math.NaN()
		}
		v = append(v, a)
	}
	return v
}
