package model_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"github.com/svmnb/svmnb/svmnb/model"
)

// Every model file is read with a byte order mark in front and with the ends of lines of
// Windows, which editors and version control leave there.
func TestModelFilesOfEditors(t *testing.T) {
	fit := svmnb.Classify(testkit.Moons().Select(testkit.Seq(30))).Kernel(kernels.Linear()).MustFit()
	path := filepath.Join(t.TempDir(), "model")
	if err := model.Save(path, fit); err != nil {
		t.Fatal(err)
	}
	own, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var libsvm, liblinear bytes.Buffer
	if err := fit.Model().WriteLIBSVM(&libsvm); err != nil {
		t.Fatal(err)
	}
	if err := fit.Model().WriteLIBLINEAR(&liblinear); err != nil {
		t.Fatal(err)
	}
	x := fit.Description.Data().X
	for name, f := range map[string]struct {
		text string
		read func(text string) (*model.Model, error)
	}{
		"Load":          {string(own), func(s string) (*model.Model, error) { os.WriteFile(path, []byte(s), 0o644); return model.Load(path) }},
		"ReadLIBSVM":    {libsvm.String(), func(s string) (*model.Model, error) { return model.ReadLIBSVM(strings.NewReader(s), 0) }},
		"ReadLIBLINEAR": {liblinear.String(), func(s string) (*model.Model, error) { return model.ReadLIBLINEAR(strings.NewReader(s)) }},
	} {
		plain, err := f.read(f.text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want, err := plain.Predict(datasets.Rows(x))
		if err != nil {
			t.Fatal(err)
		}
		for how, text := range map[string]string{
			"mark": "\xef\xbb\xbf" + f.text, "CRLF": strings.ReplaceAll(f.text, "\n", "\r\n"), "both": "\xef\xbb\xbf" + strings.ReplaceAll(f.text, "\n", "\r\n"),
		} {
			m, err := f.read(text)
			if err != nil {
				t.Errorf("%s, %s: %v", name, how, err)
				continue
			}
			if got, err := m.Predict(datasets.Rows(x)); err != nil || strings.Join(got, " ") != strings.Join(want, " ") {
				t.Errorf("%s, %s: it predicts %v, %v", name, how, got, err)
			}
		}
		if _, err := f.read("\xff\xfes\x00"); err == nil {
			t.Errorf("%s: UTF-16 was read", name)
		}
	}
}
