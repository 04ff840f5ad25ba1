package play

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/gp"
	"github.com/svmnb/svmnb/svmnb/internal/controls"
	"github.com/svmnb/svmnb/svmnb/internal/engine"
)

// What stays of a living figure in a notebook is the description of its last question.
func TestDescribed(t *testing.T) {
	moons, sinc := datasets.Moons(40, 0.2, 1), datasets.Sinc(30, 0.1, 1)
	iris := *datasets.Iris().Columns(2, 3)
	named := *moons
	named.Classes = []string{"low", "high"}
	for _, test := range []struct {
		x      any
		change func(q *engine.Question)
		want   string // the line, after the data if they have changed
	}{
		{svmnb.Classify(moons).Kernel(kernels.RBF(1)).C(3), func(*engine.Question) {}, "svmnb.Classify(ds).Kernel(kernels.RBF(1)).C(3)"},
		{svmnb.Classify(moons).Kernel(kernels.RBF(1)).C(3), func(q *engine.Question) { q.C, q.Kernel, q.Method = 7, kernels.Linear(), "conjugate SMO" }, "svmnb.Classify(ds).Kernel(kernels.Linear()).C(7).Using(solvers.ConjugateSMO{})"},
		{svmnb.Classify(&named).Kernel(kernels.RBF(1)).Nu(0.2), func(q *engine.Question) { q.C = 0.3; q.Y[0] = -q.Y[0] }, "ds := datasets.New([][]float64{{\nsvmnb.Classify(ds).Kernel(kernels.RBF(1)).Nu(0.3)"},
		{svmnb.OneClass(moons).Kernel(kernels.RBF(1)).Nu(0.2), func(q *engine.Question) { q.X, q.Y = q.X[:9], q.Y[:9] }, "ds := datasets.New([][]float64{{\nsvmnb.OneClass(ds).Kernel(kernels.RBF(1)).Nu(0.2)"},
		{svmnb.Regress(sinc).Kernel(kernels.RBF(1)).C(3), func(q *engine.Question) { q.Epsilon = 0.25 }, "svmnb.Regress(ds).Kernel(kernels.RBF(1)).C(3).Epsilon(0.25)"},
		{gp.Regress(sinc).Kernel(kernels.RBF(1)).NoiseVariance(0.1), func(q *engine.Question) { q.C = 0.5 }, "gp.Regress(ds).Kernel(kernels.RBF(1)).NoiseVariance(0.5).Cholesky()"},
		{svmnb.Classify(&iris).Kernel(kernels.RBF(1)).C(3).ClassWeight("virginica", 2).OneVsRest(), func(q *engine.Question) { q.C = 7; q.Y[0] = 2 }, "ds := datasets.New([][]float64{{\nsvmnb.Classify(ds).Kernel(kernels.RBF(1)).C(7).ClassWeight(\"virginica\", 2).OneVsRest()"},
		{svmnb.Regress(sinc).Kernel(kernels.RBF(1)).Ridge(0.5), func(q *engine.Question) { q.C = 4 }, "svmnb.Regress(ds).Kernel(kernels.RBF(1)).Ridge(0.25)"},
		{svmnb.Regress(sinc).Kernel(kernels.RBF(1)).Nu(0.5), func(q *engine.Question) { q.Epsilon = 0.3 }, "svmnb.Regress(ds).Kernel(kernels.RBF(1)).Nu(0.3).C(1)"},
		{svmnb.Classify(moons).Kernel(kernels.RBF(1)).Using(solvers.ConjugateSMO{}), func(q *engine.Question) { q.Method = "SMO" }, "svmnb.Classify(ds).Kernel(kernels.RBF(1)).C(1).SMO()"},
	} {
		e := explored(t, test.x)
		q := asked(t, e)
		test.change(q)
		l, data := e.described(q)
		begin, want, changed := strings.Cut(test.want, "\n")
		if !changed {
			begin, want = "", test.want
		}
		if line(l) != want || !strings.HasPrefix(data, begin) || changed != (data != "") {
			t.Errorf("%.60s%s, want %s", data, line(l), test.want)
		}
		if _, err := l.Train(t.Context(), nil); err != nil {
			t.Errorf("%s: %v", line(l), err)
		}
	}
}

// asked is the question of an exploration's beginning, as a page asks it.
func asked(t *testing.T, e *exploration) *engine.Question {
	t.Helper()
	s, why := e.spec()
	b, err := base64.StdEncoding.DecodeString(s.Data)
	if why != "" || err != nil {
		t.Fatalf("%s has no living figure, because %s, %v", line(e.base), why, err)
	}
	v := engine.FromBytes(b)
	n := len(v) / (s.D + 1)
	var x [][]float64
	for i := range n {
		x = append(x, v[i*s.D:(i+1)*s.D])
	}
	q, err := s.Question(x, v[n*s.D:], e.base.Usual())
	if err != nil {
		t.Fatal(err)
	}
	return &q
}

// A question that cannot be answered is answered by words.
func TestReplyRefuses(t *testing.T) {
	f := &answerer{ctx: t.Context()}
	if got := f.reply(controls.State{}); got != "" {
		t.Errorf("no question is answered by %s", got)
	}
	for _, q := range []controls.Question{{}, {Kernel: "RBF(", Numbers: make([]byte, 8*30)}, {Kernel: "RBF(1)", Numbers: []byte{1, 2, 3}}} {
		if got := f.reply(controls.State{Question: &q}); !strings.HasPrefix(got, ` data-svm-answer="err `) {
			t.Errorf("%+v is answered by %s", q, got)
		}
	}
}
