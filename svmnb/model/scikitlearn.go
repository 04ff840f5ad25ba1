package model

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/points"
)

// sklearn has the attributes of a fitted SVC or LinearSVC under their names.
type sklearn struct {
	Kernel  string      `json:"kernel"`
	Gamma   *float64    `json:"gamma"`
	Degree  int         `json:"degree"`
	Coef0   float64     `json:"coef0"`
	Classes []any       `json:"classes_"`
	Vectors [][]float64 `json:"support_vectors_"`
	Dual    [][]float64 `json:"dual_coef_"`
	Coef    [][]float64 `json:"coef_"`
	Bias    []float64   `json:"intercept_"`
}

// ReadScikitLearn reads a machine of two classes of scikit-learn, or of a library with the same
// attributes such as scikit-learn-intelex, from JSON that this makes:
//
//	json.dumps({"kernel": m.kernel, "gamma": m._gamma, "degree": m.degree, "coef0": m.coef0,
//	    "classes_": m.classes_.tolist(), "support_vectors_": m.support_vectors_.tolist(),
//	    "dual_coef_": m.dual_coef_.tolist(), "intercept_": m.intercept_.tolist()})
//
// A LinearSVC has "coef_" in place of the kernel and its vectors. The error of a faulty text is a
// *[Error].
func ReadScikitLearn(r io.Reader) (*Model, error) {
	const format = "scikit-learn"
	fail := func(msg string, args ...any) (*Model, error) { return nil, modelError(format, 0, msg, args...) }
	var f sklearn
	if err := json.NewDecoder(r).Decode(&f); err != nil {
		return fail("the text is no JSON of the attributes: %v", err)
	}
	if len(f.Classes) != 2 || len(f.Bias) != 1 {
		return fail("there are %d classes and %d intercepts; a machine of two classes has one intercept", len(f.Classes), len(f.Bias))
	}
	m := &Model{machines.Machines{Kind: machines.TwoClassKind, Kernel: kernels.Linear(), Duels: [][2]int{{1, 0}}}}
	for k, c := range f.Classes {
		v, number := c.(float64)
		switch c.(type) {
		case float64, string, bool:
		default:
			return fail("class %d is neither a number nor a text", k)
		}
		if !number {
			v = float64(2*k - 1)
		}
		m.of.Classes, m.of.Targets = append(m.of.Classes, fmt.Sprint(c)), append(m.of.Targets, v)
	}
	vectors, coef := f.Vectors, []float64{1}
	switch {
	case f.Coef != nil && f.Vectors == nil:
		if len(f.Coef) != 1 {
			return fail("coef_ has %d rows; a machine of two classes has one", len(f.Coef))
		}
		vectors = f.Coef
	default:
		if len(f.Dual) != 1 || len(f.Dual[0]) != len(vectors) {
			return fail("dual_coef_ must have one row with a number for each of the %d support vectors", len(vectors))
		}
		coef = f.Dual[0]
		if f.Kernel != "linear" && f.Gamma == nil {
			return fail("gamma is missing; write m._gamma, the number that was used")
		}
		switch f.Kernel {
		case "linear":
		case "rbf":
			m.of.Kernel = kernels.RBF(*f.Gamma)
		case "poly":
			m.of.Kernel = kernels.Polynomial(f.Degree, *f.Gamma, f.Coef0)
		case "sigmoid":
			m.of.Kernel = kernels.Sigmoid(*f.Gamma, f.Coef0)
		default:
			return fail("the kernel %.40q cannot be read; linear, rbf, poly and sigmoid can", f.Kernel)
		}
	}
	return expanded(format, m, vectors, coef, f.Bias[0])
}

// expanded completes a model of one machine with its vectors, coefficients and bias.
func expanded(format string, m *Model, vectors [][]float64, coef []float64, bias float64) (*Model, error) {
	if err := m.of.Kernel.Check(); err != nil {
		e := modelError(format, 0, "%v", err)
		e.Err = err
		return nil, e
	}
	if len(vectors) == 0 || len(vectors[0]) == 0 {
		return nil, modelError(format, 0, "there are no support vectors")
	}
	m.of.Expansion.D = len(vectors[0])
	for k, v := range vectors {
		if len(v) != m.of.Expansion.D {
			return nil, modelError(format, 0, "support vector %d has %d numbers, the first has %d", k, len(v), m.of.Expansion.D)
		}
	}
	m.of.Expansion.X = points.Rows(vectors)
	m.of.Terms = []machines.Term{{Coef: coef, B: bias}}
	if err := m.complete(format); err != nil {
		return nil, err
	}
	return m, nil
}
