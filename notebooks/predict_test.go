package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/model"
	"github.com/svmnb/svmnb/svmnb/selection"
	"github.com/svmnb/svmnb/svmnb/transform"
)

func TestPredict(t *testing.T) {
	dir := t.TempDir()
	const text = "city,age,code\nBern,20,007\nGenf,30,007\nBern,60,110\nGenf,70,110\nBern,25,007\nGenf,65,110\n"
	table := datasets.TableReader{}.Read(strings.NewReader(text))
	old := table.With(datasets.Column{Name: "old", Kind: datasets.Category, Levels: []string{"no", "yes"}, Codes: []int32{0, 0, 1, 1, 0, 1}}).Target("old")
	fit := selection.Pipe(transform.Encode(), svmnb.Classify(old).Kernel(kernels.RBF(0.1))).MustFit()
	calibrated, err := fit.Calibrate(context.Background(), svmnb.Platt{Folds: 2})
	if err != nil {
		t.Fatal(err)
	}
	age := selection.Pipe(transform.Encode(), svmnb.Regress(table.Target("age"))).MustFit()
	plain := svmnb.Classify(datasets.Iris().OneVsRest("setosa")).MustFit()
	models := map[string]string{}
	for name, m := range map[string]model.Modeler{"class": fit, "calibrated": calibrated, "age": age, "plain": plain} {
		models[name] = filepath.Join(dir, name)
		if err := model.Save(models[name], m); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "in.csv")
	if err := os.WriteFile(file, []byte("id;code;age;city\n1;007;22,5;Bern\n2;110;71;\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args  []string
		stdin string
		want  string
		err   string
	}{
		{[]string{models["class"], file}, "", "id,code,age,city,prediction\n1,007,22.5,Bern,no\n2,110,71,,yes\n", ""},
		{[]string{models["calibrated"], file}, "", "id,code,age,city,prediction,P(no),P(yes)\n1,007,22.5,Bern,no,0.", ""},
		{[]string{models["age"], "-"}, "code,city,prediction\n007,Bern,x\n", "code,city,prediction,prediction'\n007,Bern,x,", ""},
		{[]string{models["plain"], "-"}, "1,2,3,4\n5,3,1.5,0.2\n", "column 1,column 2,column 3,column 4,prediction\n1,2,3,4,rest\n5,3,1.5,0.2,setosa\n", ""},
		{[]string{models["plain"], "-"}, "1,2\n", "", "2 columns, and the model takes 4"},
		{[]string{models["class"], "-"}, "code,city\n007,Bern\n", "", `"age"`},
		{[]string{models["class"], "-"}, "code,city,age\n007,Bern,old\n", "", "line 2, column 3"},
		{[]string{filepath.Join(dir, "none"), file}, "", "", "none"},
		{[]string{models["class"]}, "", "", "predict wants a model and a file"},
	} {
		var out, errs bytes.Buffer
		err := predictCommand(c.args, strings.NewReader(c.stdin), &out, &errs)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q: %v; want %q", c.args, err, c.err)
			}
			continue
		}
		if err != nil || !strings.HasPrefix(out.String(), c.want) {
			t.Errorf("%q: %v\n%s\nwant\n%s", c.args, err, out.String(), c.want)
		}
	}
	to := filepath.Join(dir, "out.csv")
	if err := predictCommand([]string{"-o", to, models["class"], file}, nil, nil, os.Stderr); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(to); err != nil || !strings.HasPrefix(string(b), "id,code") {
		t.Error(err, string(b))
	}
}
