package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/model"
	"github.com/svmnb/svmnb/svmnb/selection"
	"github.com/svmnb/svmnb/svmnb/transform"
)

// shoppers stay where they are young and written to, whatever their city.
const shoppers = "age,city,letters,stays\n20,Bern,3,yes\n25,Genf,2,yes\n30,Bern,4,yes\n28,Chur,3,yes\n60,Genf,0,no\n55,Bern,1,no\n70,Chur,0,no\n65,Bern,0,no\n"

func fitted(t *testing.T) *model.Model {
	t.Helper()
	data := datasets.TableReader{}.Read(strings.NewReader(shoppers + strings.TrimPrefix(shoppers, "age,city,letters,stays\n"))).Target("stays")
	fit := selection.Pipe(transform.Encode(), svmnb.Classify(data).Kernel(kernels.RBF(0.1)).C(10)).MustFit()
	c, err := fit.Fit().(*svmnb.Fit).Calibrate(context.Background(), svmnb.Platt{Folds: 2})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "model")
	if err := model.Save(file, c); err != nil {
		t.Fatal(err)
	}
	m, err := model.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestService(t *testing.T) {
	handler, err := newService(fitted(t))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	defer server.Close()
	ask := func(body string) (int, string) {
		r, err := http.Post(server.URL+"/predict", "application/json", strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return 0, ""
		}
		defer r.Body.Close()
		b, _ := io.ReadAll(r.Body)
		return r.StatusCode, string(b)
	}
	for _, c := range []struct {
		body   string
		status int
		want   string
	}{
		{`{"age": 24, "city": "Bern", "letters": 4}`, 200, `"class":"yes","probabilities":{"no":`},
		{`{"age": "64", "letters": 0, "unasked": {}}`, 200, `"class":"no"`},
		{`[{"age": 24, "letters": 4}, {"age": "old"}]`, 200, `},{"error":"svmnb: Set: column age is a number, and old is none"}]`},
		{`{"age": "old"}`, 422, "column age is a number"},
		{`{"age"`, 400, "error"},
		{`7`, 400, "error"},
		{``, 400, "error"},
	} {
		if status, got := ask(c.body); status != c.status || !strings.Contains(got, c.want) {
			t.Errorf("%s: %d %s; want %d %s", c.body, status, got, c.status, c.want)
		}
	}
	var wait sync.WaitGroup
	for range 8 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for range 20 {
				var a answer
				if _, got := ask(`{"age": 24, "city": "Bern", "letters": 4}`); json.Unmarshal([]byte(got), &a) != nil || a.Class != "yes" {
					t.Error(got)
				}
			}
		}()
	}
	wait.Wait()
	r, err := http.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if b, _ := io.ReadAll(r.Body); !strings.Contains(string(b), "city: category") {
		t.Errorf("%s", b)
	}
}
