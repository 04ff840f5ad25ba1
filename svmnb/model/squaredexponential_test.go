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

// A length scale is another way to write γ, and a name or a held parameter changes no value, so
// exported files are those of RBF.
func TestSquaredExponentialIsExportedAsRBF(t *testing.T) {
	length := kernels.SquaredExponential(0.7)
	for _, k := range []kernels.Kernel{length, kernels.Named("f", kernels.RBF(length.Gamma())), kernels.Fixed(kernels.Named("f", length))} {
		isExportedAs(t, k, kernels.RBF(length.Gamma()))
	}
	linear := svmnb.Classify(testkit.Moons()).Kernel(kernels.Named("f", kernels.Linear())).C(10).MustFit().Model()
	if err := linear.WriteGo(io.Discard, "predict"); err == nil {
		t.Error("a named linear kernel has no weights, and is written")
	}
}

func isExportedAs(t *testing.T, k, other kernels.Kernel) {
	t.Helper()
	of := func(k kernels.Kernel) *model.Model {
		return svmnb.Classify(testkit.Moons()).Kernel(k).C(10).MustFit().Model()
	}
	own, rbf := of(k), of(other)
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
		got, want := a.Bytes(), bytes.ReplaceAll(b.Bytes(), []byte(other.String()), []byte(k.String()))
		if name == "ONNX" { // which begins with the length of the text with the kernel's name
			_, got, _ = bytes.Cut(got, []byte(k.String()))
			_, want, _ = bytes.Cut(want, []byte(k.String()))
		}
		if len(got) == 0 || !bytes.Equal(got, want) {
			t.Errorf("%s of %v differs from that of RBF:\n%.400s\n%.400s", name, k, got, want)
		}
	}
}
