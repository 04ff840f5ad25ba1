package model

import (
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
)

// program returns the passage of the model compiled for rows of a table, or nil if no step is
// for tables. The error is a *[Error] for steps that cannot be written in the format.
func (m *Model) program(format string) (*steps.Program, error) {
	if err := m.fewer(format); err != nil {
		return nil, err
	}
	p := m.of.Before
	if p == nil {
		return nil, nil
	}
	if p.Open > 0 {
		return nil, modelError(format, 0, "the model was learnt from scaled data (%v); say Raw() to write one that scales points by itself, or Transformed() to write that of scaled points", p)
	}
	tables, err := writable(p.Steps, format)
	if err != nil || !tables {
		return nil, err
	}
	program, err := p.Compile()
	if err != nil {
		e := modelError(format, 0, "the steps cannot be written one row at a time")
		e.Err = err
		return nil, e
	}
	return program, nil
}

// writable reports whether a step is for tables. It returns an error for steps that have no
// equivalent in the format.
func writable(list []steps.Fitted, format string) (tables bool, err error) {
	for i, t := range list {
		ok := true
		switch t := t.(type) {
		case steps.Scaled, steps.Imputed, steps.Indicated, steps.Projected, steps.FourierMap:
		case steps.NystroemMap:
			if _, ok = goKernel(t.Kernel); format == onnxFormat {
				ok = onnxNystroem(t.Kernel)
			}
			_, few := t.Marks.Rows(1 << 22)
			ok = ok && few
		case steps.PerColumn:
			tables = true
		case steps.Chosen:
			tables = true
			if _, err := writable(t.Steps, format); err != nil {
				return true, err
			}
		default:
			ok = false
		}
		if !ok {
			return tables, modelError(format, 0, "there is no code for step %d, %s; there is for the steps of package transform, Nystroem with some kernels. Say Transformed() to write the model behind the steps, and do them to the points by Transform of the pipeline", i+1, steps.Text(t))
		}
	}
	return tables, nil
}

// writtenOut returns the support vectors as rows. Sparse ones are written out only if a step
// for tables made them, and at most so many numbers of them.
func (m *Model) writtenOut(format string, program *steps.Program, most int) ([][]float64, error) {
	x := m.of.Expansion.X
	rows, few := x.Rows(most)
	switch {
	case x.Sparse != nil && program == nil:
		return nil, modelError(format, 0, "the support vectors are sparse, and the format has them written out; learn from Dense() of the data set, or with the Linear kernel, or take WriteLIBSVM")
	case !few:
		return nil, modelError(format, 0, "the %d support vectors have %d features, more than %d numbers in all; make fewer features of texts, or take the Linear kernel", x.N(), x.Sparse.D, most)
	}
	return rows, nil
}

// written returns the kernel of the same values that the other formats have a name for. A
// linear kernel within another one stays there, because only a machine of kernels.Linear has
// weights.
func written(k kernels.Kernel) kernels.Kernel {
	var inner kernels.Kernel
	switch k := k.(type) {
	case kernels.SquaredExponentialKernel:
		return kernels.RBF(k.Gamma())
	case kernels.NamedKernel:
		inner = written(k.K)
	case kernels.FixedKernel:
		inner = written(k.K)
	}
	if _, linear := inner.(kernels.LinearKernel); inner == nil || linear {
		return k
	}
	return inner
}
