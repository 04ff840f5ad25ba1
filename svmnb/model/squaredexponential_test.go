package model_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"github.com/svmnb/svmnb/svmnb/model"
)

// A length scale is another way to write γ, so exported files are those of RBF, and a saved
// model comes back with the kernel as it was written.
func TestSquaredExponentialIsExportedAsRBF(t *testing.T) {
	k := kernels.SquaredExponential(0.7)
	of := func(k kernels.Kernel) *model.Model {
		return svmnb.Classify(testkit.Moons()).Kernel(k).C(10).MustFit().Model()
	}
	own, rbf := of(k), of(kernels.RBF(k.Gamma()))
	for name, write := range map[string]func(m *model.Model, w io.Writer) error{
		"LIBSVM": func(m *model.Model, w io.Writer) error { return m.WriteLIBSVM(w) },
		"ONNX":   func(m *model.Model, w io.Writer) error { return m.WriteONNX(w) },
		"Go":     func(m *model.Model, w io.Writer) error { return m.WriteGo(w, "predict") },
	} {
		var a, b bytes.Buffer
		if err := write(own, &a); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := write(rbf, &b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		b2 := bytes.ReplaceAll(b.Bytes(), []byte(kernels.RBF(k.Gamma()).String()), []byte(k.String()))
		if a.Len() == 0 || !bytes.Equal(a.Bytes(), b2) {
			t.Errorf("%s of %v differs from that of RBF:\n%.400s\n%.400s", name, k, a.Bytes(), b2)
		}
	}
}
