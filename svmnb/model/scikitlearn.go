package model

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/schemes"
)

// sklearn has the attributes of a fitted SVC, SVR, LinearSVC or LinearSVR under their names.
type sklearn struct {
	Kernel  string      `json:"kernel"`
	Gamma   *float64    `json:"gamma"`
	Degree  int         `json:"degree"`
	Coef0   float64     `json:"coef0"`
	Classes []any       `json:"classes_"`
	Vectors [][]float64 `json:"support_vectors_"`
	Per     []int64     `json:"n_support_"`
	Dual    [][]float64 `json:"dual_coef_"`
	Coef    [][]float64 `json:"coef_"`
	Bias    []float64   `json:"intercept_"`
}

// ReadScikitLearn reads a machine of scikit-learn, or of a library with the same attributes such as
// scikit-learn-intelex, from JSON that this makes:
//
//	json.dumps({"kernel": m.kernel, "gamma": m._gamma, "degree": m.degree, "coef0": m.coef0,
//	    "classes_": m.classes_.tolist(), "support_vectors_": m.support_vectors_.tolist(),
//	    "n_support_": m.n_support_.tolist(), "dual_coef_": m.dual_coef_.tolist(),
//	    "intercept_": m.intercept_.tolist()})
//
// An SVR has no "classes_", which leaves a regression. A LinearSVC has "coef_" in place of the kernel
// and its vectors, and so has a LinearSVR, as m.coef_.reshape(1, -1).tolist(). Two classes need no
// "n_support_". The error of a faulty text is a *[Error].
func ReadScikitLearn(r io.Reader) (*Model, error) {
	const format = "scikit-learn"
	fail := func(msg string, args ...any) (*Model, error) { return nil, modelError(format, 0, msg, args...) }
	var f sklearn
	if err := json.NewDecoder(r).Decode(&f); err != nil {
		return fail("the text is no JSON of the attributes: %v", err)
	}
	k := len(f.Classes)
	m := &Model{machines.Machines{Kernel: kernels.Linear()}}
	if k == 2 {
		m.of.Kind, m.of.Duels = machines.TwoClassKind, [][2]int{{1, 0}}
	}
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
	want := 1 // intercepts
	switch linear := f.Coef != nil && f.Vectors == nil; {
	case k == 1:
		return fail("there is one class; a classifier has two at least, and a regression has no classes_")
	case linear && k > 2:
		want = k
	case k > 2:
		want = k * (k - 1) / 2
	}
	if len(f.Bias) != want {
		return fail("there are %d classes and %d intercepts; want %d", k, len(f.Bias), want)
	}
	if f.Coef != nil && f.Vectors == nil {
		rows := 1
		if k > 2 {
			rows, m.of.Kind, m.of.Duels = k, machines.RestKind, schemes.AllOthers(k)
		}
		if len(f.Coef) != rows {
			return fail("coef_ has %d rows for %d classes; want %d", len(f.Coef), k, rows)
		}
		for j := range rows {
			one := make([]float64, rows)
			one[j] = 1
			m.of.Terms = append(m.of.Terms, machines.Term{Coef: one, B: f.Bias[j]})
		}
		return expanded(format, m, f.Coef)
	}
	for _, row := range f.Dual {
		if len(row) != len(f.Vectors) {
			return fail("dual_coef_ has %d numbers in a row for %d support vectors", len(row), len(f.Vectors))
		}
	}
	if k > 2 {
		if err := m.pairwise(format, f.Per, f.Dual, f.Bias); err != nil {
			return nil, err
		}
	} else {
		if len(f.Dual) != 1 {
			return fail("dual_coef_ has %d rows; a machine of two classes and a regression have one", len(f.Dual))
		}
		m.of.Terms = []machines.Term{{Coef: f.Dual[0], B: f.Bias[0]}}
	}
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
	return expanded(format, m, f.Vectors)
}

// expanded completes a model with its vectors.
func expanded(format string, m *Model, vectors [][]float64) (*Model, error) {
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
	if err := m.complete(format); err != nil {
		return nil, err
	}
	return m, nil
}
