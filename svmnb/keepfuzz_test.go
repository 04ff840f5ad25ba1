package svmnb

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/kept"
	"github.com/svmnb/svmnb/svmnb/internal/learn"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
)

func gobOf(t testing.TB, v any) []byte {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func keptTask(t testing.TB) (*task, *solvers.Result) {
	m, err := Classify(testkit.Moons().Select(testkit.Seq(12))).Kernel(kernels.RBF(0.5)).C(10).SMO().prepare()
	if err != nil {
		t.Fatal(err)
	}
	return m, m.mustSolve(m.problem, m, nil)
}

// FuzzKeep: whatever a kept file has after a right key and checksum, it is not believed,
// or it can be shown and predicts.
func FuzzKeep(f *testing.F) {
	m, res := keptTask(f)
	f.Add(gobOf(f, res))
	f.Add(gobOf(f, &solvers.Result{}))
	short := *res
	short.Trace.Points = res.Trace.Points[:1]
	f.Add(gobOf(f, &short))
	f.Add([]byte("\x07\xff\x82\x01\x01\x01\x00"))
	key := m.key()
	f.Fuzz(func(t *testing.T, body []byte) {
		sum := sha256.Sum256(body)
		res := new(solvers.Result)
		if !kept.Parse(slices.Concat(key, sum[:], body), key, res) || !sound(res, 12) {
			return
		}
		fit := m.fit(res)
		fit.Markdown()
		_ = fit.Hints()
		if _, err := fit.Predict(datasets.Rows(m.data.X)); err != nil {
			t.Fatal(err)
		}
		for _, draw := range []display.Figure{Alphas, KKT, Gap} {
			_, _ = draw.Of(fit)
		}
		if sum[0]%32 == 0 { // a field costs a hundred times the rest
			_, _ = Margins.Of(fit)
			_, _ = fit.Learnt().(learn.Replayed).Replay()
		}
	})
}

// A kept result that does not hang together is solved again, though its checksum is right.
func TestKeptNonsense(t *testing.T) {
	m, res := keptTask(t)
	key := m.key()
	file := filepath.Join(t.TempDir(), "kept")
	write := func(change func(r *solvers.Result)) *solvers.Result {
		r := *res
		r.Alpha, r.Trace.Points = slices.Clone(res.Alpha), slices.Clone(res.Trace.Points)
		change(&r)
		kept.Write(file, key, &r)
		return readKept(file, key, 12)
	}
	if write(func(*solvers.Result) {}) == nil {
		t.Fatal("the result as it was is not believed")
	}
	for name, change := range map[string]func(r *solvers.Result){
		"too few α":         func(r *solvers.Result) { r.Alpha = r.Alpha[1:] },
		"α is NaN":          func(r *solvers.Result) { r.Alpha[3] = math.NaN() },
		"b is infinite":     func(r *solvers.Result) { r.Bias = math.Inf(1) },
		"no trace":          func(r *solvers.Result) { r.Trace.Points = nil },
		"another n":         func(r *solvers.Result) { r.Trace.N = 13 },
		"a cut beyond":      func(r *solvers.Result) { r.Trace.Cut = 1e9 },
		"a cut before":      func(r *solvers.Result) { r.Trace.Cut = -1 },
		"a place outside":   func(r *solvers.Result) { r.Trace.Points[0].Changed, r.Trace.Points[0].Alpha = []int{12}, []float64{1} },
		"a place before":    func(r *solvers.Result) { r.Trace.Points[0].Changed, r.Trace.Points[0].Alpha = []int{-1}, []float64{1} },
		"places, no values": func(r *solvers.Result) { r.Trace.Points[0].Changed, r.Trace.Points[0].Alpha = []int{1}, nil },
		"working outside":   func(r *solvers.Result) { r.Trace.Points[1].Working = []int{99} },
		"going back":        func(r *solvers.Result) { r.Trace.Points[1].Iteration = 0 },
		"less than none":    func(r *solvers.Result) { r.Iterations = -1 },
	} {
		if write(change) != nil {
			t.Errorf("%s: it is believed", name)
		}
	}
}
