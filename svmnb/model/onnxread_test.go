package model_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/model"
)

// A model that was written as ONNX is read again with its classes, and its decision values in
// single precision.
func TestONNXIsReadAgain(t *testing.T) {
	iris := datasets.Iris()
	two := iris.Pair("versicolor", "virginica")
	for name, fit := range map[string]model.Modeler{
		"RBF":          svmnb.Classify(two).Kernel(kernels.RBF(0.5)).MustFit(),
		"polynomial":   svmnb.Classify(two).Kernel(kernels.Polynomial(3, 0.5, 1)).C(0.1).MustFit(),
		"linear":       svmnb.Classify(two).Kernel(kernels.Linear()).MustFit(),
		"votes":        svmnb.Classify(iris).Kernel(kernels.RBF(0.5)).OneVsOne().MustFit(),
		"linear votes": svmnb.Classify(iris).Kernel(kernels.Linear()).OneVsRest().MustFit(),
		"regression":   svmnb.Regress(datasets.Sinc(60, 0.1, 1)).Kernel(kernels.RBF(1)).MustFit(),
		"line":         svmnb.Regress(datasets.Sinc(60, 0.1, 1)).Kernel(kernels.Linear()).MustFit(),
		"one class":    svmnb.OneClass(two).Kernel(kernels.RBF(0.5)).Nu(0.2).MustFit(),
	} {
		m := fit.Model()
		var text bytes.Buffer
		if err := m.WriteONNX(&text); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		again, err := model.ReadONNX(&text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		x := iris
		if m.D() == 1 {
			x = datasets.Sinc(60, 0.1, 1)
		}
		if len(m.Classes()) > 0 {
			want, _ := m.Predict(x)
			got, err := again.Predict(x)
			differ := 0
			for i := range want {
				if err != nil || got[i] != want[i] && name != "one class" {
					differ++
				}
			}
			if differ > 0 {
				t.Errorf("%s: %d labels differ, %v", name, differ, err)
			}
			if len(m.Classes()) > 2 {
				continue
			}
		}
		want, _ := m.Values(x)
		got, err := again.Values(x)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		flip := 1.0
		if len(m.Classes()) == 2 && name != "one class" && again.Classes()[0] != m.Classes()[0] {
			flip = -1 // the first class of SVMClassifier is the positive one
		}
		for i, v := range want {
			if math.Abs(v-got[i]) > 1e-4*(1+math.Abs(v)) && math.Abs(v-flip*got[i]) > 1e-4*(1+math.Abs(v)) {
				t.Errorf("%s: value %d is %v, and was %v", name, i, got[i], v)
				break
			}
		}
	}
}

func TestReadScikitLearn(t *testing.T) {
	m, err := model.ReadScikitLearn(strings.NewReader(`{"kernel":"rbf","gamma":0.5,"classes_":[0,1],"support_vectors_":[[0,0],[1,1]],"dual_coef_":[[-1,1]],"intercept_":[0.25]}`))
	if err != nil {
		t.Fatal(err)
	}
	v, err := m.Values(datasets.Rows([][]float64{{1, 1}}))
	if want := 1 - math.Exp(-1) + 0.25; err != nil || math.Abs(v[0]-want) > 1e-12 {
		t.Errorf("%v, want %v; %v", v, want, err)
	}
	if got, _ := m.Predict(datasets.Rows([][]float64{{1, 1}, {-1, -1}})); got[0] != "1" {
		t.Errorf("%v", got)
	}
	for _, bad := range []string{``, `{}`, `{"classes_":[0,1],"intercept_":[0]}`, `{"classes_":[0,[1]],"coef_":[[1]],"intercept_":[0]}`, `{"kernel":"rbf","classes_":[0,1],"support_vectors_":[[0]],"dual_coef_":[[1]],"intercept_":[0]}`,
		`{"kernel":"none","gamma":1,"classes_":[0,1],"support_vectors_":[[0]],"dual_coef_":[[1]],"intercept_":[0]}`, `{"kernel":"rbf","gamma":1,"classes_":[0,1],"support_vectors_":[[0],[1,2]],"dual_coef_":[[1,1]],"intercept_":[0]}`} {
		if _, err := model.ReadScikitLearn(strings.NewReader(bad)); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
}

// Whatever the bytes are, ReadONNX returns a model that predicts, or an error.
func FuzzReadONNX(f *testing.F) {
	two := datasets.Iris().Pair("versicolor", "virginica")
	for _, fit := range []model.Modeler{svmnb.Classify(two).MustFit(), svmnb.Classify(two).Kernel(kernels.Linear()).MustFit(), svmnb.Regress(datasets.Sinc(20, 0.1, 1)).MustFit()} {
		var text bytes.Buffer
		if err := fit.Model().WriteONNX(&text); err != nil {
			f.Fatal(err)
		}
		f.Add(text.Bytes())
		f.Add(text.Bytes()[:text.Len()/2])
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := model.ReadONNX(bytes.NewReader(text))
		if err != nil {
			return
		}
		if _, err := m.Decisions(datasets.Rows([][]float64{make([]float64, m.D())})); err != nil {
			t.Log(err)
		}
	})
}
