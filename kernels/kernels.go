// Package kernels has positive semi-definite functions of two points, and their matrices,
// which solvers read by rows.
//
// A kernel is a small value: it can be compared with ==, stored, and printed as the call that
// made it. [NewGram] makes the matrix of a training set. [Against] makes the [Basis] by which
// a trained machine predicts. Both give the same bits for the same pair of points, in any
// order, from any store and on any machine. [Gram.Among], [Gram.AddTo], [Gram.Sweep] and
// [Basis.Times] use products of matrices, whose last bits may differ. Points that are mostly
// zeros can be given as a [CSR] to [NewSparseGram] and [AgainstSparse].
//
// [Sum], [Product], [Scale], [Normalised], [Centred] and [Columns] combine kernels.
// [Hyperparameters] returns the parameters that can be learned, which are all that are not
// [Fixed]; a [Gradient] has the derivatives by them. [Strings] makes points of strings, for
// [Spectrum] and [GapWeighted]. The points of [Precomputed] carry a matrix that was computed
// elsewhere. Package mercer tests whether a function is a kernel.
//
// CST, in comments, is the book of Cristianini and Shawe-Taylor (2000).
package kernels

import (
	"math"
	"reflect"
	"strconv"
	"strings"
)

// Kernel is a symmetric, positive semi-definite function of two points. Any type with these
// three methods is one; package kerneltest tests whether it fulfils this contract. A kernel
// that is a function of x·z or of ‖x − z‖² gets fast rows by implementing [DotProduct] or
// [Radial], any other by [Rowwise]. One that is a kernel for some points only implements
// [Domain]. Further optional interfaces are [Differentiable], [RowDifferentiable] and
// [Spectral].
//
// The methods must be safe for concurrent use and change nothing.
type Kernel interface {
	// Eval returns K(x, z) for two points of the same d ≥ 1 features. It
	// neither changes nor keeps them.
	Eval(x, z []float64) float64
	// Check returns nil, or an error that names an invalid parameter, such as a *[ParamError].
	Check() error
	// String returns the call that makes the kernel, with all digits of its
	// parameters: "RBF(0.5)". Kernels that differ have different strings.
	String() string
}

// DotProduct is a kernel that is a function of x·z alone.
type DotProduct interface {
	Kernel
	// OfDot returns K(x, z) for x·z = dot. It must agree with Eval: a type that embeds another
	// kernel and has its own Eval also needs its own OfDot.
	OfDot(dot float64) float64
}

// Radial is a kernel that is a function of ‖x − z‖² alone. If a type also has the methods of
// DotProduct, it is treated as Radial.
type Radial interface {
	Kernel
	// OfSquaredDistance returns K(x, z) for ‖x − z‖² = r2 ≥ 0. It must agree with Eval: a type
	// that embeds another kernel and has its own Eval also needs its own OfSquaredDistance.
	OfSquaredDistance(r2 float64) float64
}

// Rowwise is a kernel that computes many values in one loop. Radial and DotProduct kernels
// have such a loop anyway. A type that only inherits EvalRow from an embedded kernel does not
// count as Rowwise.
type Rowwise interface {
	Kernel
	// EvalRow sets dst[j] to K(x, z_j) for the points z_0, z_1 …, which are given in columns:
	// feature f of z_j is columns[f·stride+j]. A value must not depend on the other points,
	// and must agree with Eval.
	EvalRow(dst, x, columns []float64, stride int)
}

// as returns k as the optional interface H. A type that embeds another kernel also inherits
// its unexported methods, which may not fit what the type computes. Such a type is therefore
// not accepted as an H.
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

// digits writes numbers with all their digits. Kernels with many parameters store them in this
// form, because a string can be compared and never changes, unlike a slice.
func digits(v ...float64) string {
	s := make([]string, len(v))
	for i, a := range v {
		s[i] = strconv.FormatFloat(a, 'g', -1, 64)
	}
	return strings.Join(s, ", ")
}

// numbers reads what digits has written. Text that is not a number becomes NaN.
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
