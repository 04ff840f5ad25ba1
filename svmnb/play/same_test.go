package play

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/browsertest"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/gp"
	"github.com/svmnb/svmnb/svmnb/internal/engine"
	"github.com/svmnb/svmnb/svmnb/internal/learn"
	"github.com/svmnb/svmnb/svmnb/living"
	"github.com/svmnb/svmnb/svmnb/living/build"
)

// twin is a page with two figures of one state. The program of the test answers one, as that of
// a cell does, and the worker of the page the other.
type twin struct {
	*browsertest.Page
	t       *testing.T
	machine engine.Machine
	marks   int
}

func openTwin(t *testing.T) *twin {
	t.Helper()
	script, err := living.Script()
	if err != nil {
		t.Fatal(err)
	}
	module, err := build.Engine(t.Context(), filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	page := filepath.Join(t.TempDir(), "page.html")
	text := "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Marks</title></head><body><script>window.svmnbLivingEngine = " + module + "</script><script>" + script + "</script></body></html>"
	if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	w := &twin{Page: browsertest.Open(t, page, browsertest.Options{Offline: true}), t: t}
	// The native engine answers what the page leaves in asked.
	w.Do(nil, `svmnbLiving.limits.rest = 0 // none, or a run in parts would not be the same
		svmnbLiving.engines.native = svmnbLiving.queue(q => { window.asked = {kernel: q.kernel, method: q.method, numbers: svmnbLiving.encode(new Uint8Array(q.numbers.buffer))} })
		window.put = attributes => {
			document.querySelectorAll('svmnb-figure').forEach(f => f.remove())
			for (const engine of ['native', 'worker']) {
				const f = document.createElement('svmnb-figure')
				for (const [k, v] of Object.entries(Object.assign({engine: engine, tools: 'all'}, attributes))) f.setAttribute(k, v)
				document.body.append(f)
				window[engine] = f
			}
		}`)
	return w
}

// same shows a state in both figures and compares their marks and words.
func (w *twin) same(name, state string) {
	w.t.Helper()
	w.Do(nil, fmt.Sprintf(`for (const f of [native, worker]) { f.asked = null; f.goWhere(%q); if (f.certain) { f.certain.checked = true; f.ask(); } }`, state))
	for { // questions that were asked before wait
		var q struct{ Kernel, Method, Numbers string }
		w.Until(`!!window.asked || native.rested() && native.answer.converged && !native.busy()`)
		if w.Do(&q, `const q = window.asked; asked = null; return q || {}`); q.Kernel == "" {
			break
		}
		b, err := base64.StdEncoding.DecodeString(q.Numbers)
		if err != nil {
			w.t.Fatal(name, state, err)
		}
		answer, err := w.machine.Ask(w.t.Context(), q.Kernel, q.Method, engine.FromBytes(b))
		if err != nil {
			w.t.Fatal(name, state, err)
		}
		w.Do(nil, fmt.Sprintf(`native.engine.answered(new Float64Array(svmnbLiving.decode(%q).buffer))`, living.Base64(answer)))
	}
	w.Until(`worker.asked && !worker.busy() && worker.rested() && worker.answer.converged`)
	var seen struct {
		Marks   int
		Differs []string
	}
	w.Do(&seen, `const marks = f => f.picture().split(/(?=<)/).sort(), a = marks(native), b = marks(worker)
		const words = [native, worker].map(f => f.shadowRoot.querySelector('.title').textContent + f.shadowRoot.querySelector('.sub').textContent)
		return {marks: a.length, differs: a.filter((m, i) => m !== b[i]).concat(words[0] === words[1] ? [] : words).map(m => m.slice(0, 200))}`)
	if len(seen.Differs) > 0 {
		w.t.Errorf("%s %s: %d of %d marks differ, such as %.300q", name, state, len(seen.Differs), seen.Marks, seen.Differs)
	}
	w.marks += seen.Marks
}

// The same states through the kernel's program and through WebAssembly give the same pictures,
// mark for mark. SVMNB_STATES asks for all kernels and solvers of all data.
func TestSameMarks(t *testing.T) {
	t.Parallel()
	w := openTwin(t)
	w.Do(nil, `put({data: 'moons'})`)
	var states []string
	all, hows := os.Getenv("SVMNB_STATES") != "", []string{"", "&kernel=Linear", "&kernel=Polynomial&degree=2", "&kernel=Laplacian", "&kernel=Matern52"}
	for k, data := range []string{"blobs", "outlier", "moons", "circles", "xor", "spirals", "twonorm", "nu", "region"} {
		for j, how := range hows {
			if all || j == k%len(hows) {
				states = append(states, "data="+data+how)
			}
		}
	}
	for k := range engine.Methods(engine.Classify, false) {
		if !all && k > 0 {
			states = append(states, fmt.Sprintf("data=%s&solver=%d", []string{"moons", "sinc", "twonorm"}[k%3], k))
			continue
		}
		states = append(states, fmt.Sprintf("data=moons&solver=%d", k), fmt.Sprintf("data=twonorm&solver=%d", k), fmt.Sprintf("data=sinc&solver=%d", k))
	}
	states = append(states, "data=moons&moment=7", "data=moons&C=1000&gamma=200", "data=moons&p=0-30;0.1234,0.5,1;32-119", "data=sinc&epsilon=0", "data=sinc&kernel=Linear",
		"data=process", "data=process&kernel=Matern52", "data=process&kernel=Exponential&NoiseVariance=1", "data=process&p=0-4", "data=region&nu=0.5", "data=nu&nu=0.3", "data=twonorm&C=1000", "data=twonorm&moment=5")
	for _, state := range states {
		w.same("", state)
	}
	t.Logf("%d states, %d marks", len(states), w.marks)
	if errs := w.Errors(); len(errs) > 0 {
		t.Errorf("%q", errs)
	}
}

// lived are descriptions that Explore takes and living figures have: every margin, loss and
// scheme, weights, criteria and biases. Their solvers are those of the page.
func lived() []struct {
	name string
	x    any
} {
	moons, sinc := datasets.Moons(60, 0.2, 1), datasets.Sinc(40, 0.1, 1)
	apart := datasets.Blobs(40, 2, 0.35, 1)
	iris := datasets.Iris().Columns(2, 3)
	named := *moons
	named.Classes = []string{"low", "high"}
	var halves, noises []float64
	for i := range 60 {
		halves = append(halves, 0.5+float64(i%3))
	}
	for i := range 40 {
		noises = append(noises, 0.01*float64(1+i%4))
	}
	c := svmnb.Classify(moons).Kernel(kernels.RBF(2)).C(3).SMO()
	three := svmnb.Classify(iris).Kernel(kernels.RBF(0.5)).C(2).SMO()
	r := svmnb.Regress(sinc).Kernel(kernels.RBF(0.5)).C(2).SMO()
	p := gp.Regress(sinc).Kernel(kernels.RBF(0.5)).NoiseVariance(0.02)
	return []struct {
		name string
		x    any
	}{
		{"1-norm", c}, {"2-norm", c.TwoNorm()}, {"ν", c.Nu(0.3)}, {"maximal margin", svmnb.Classify(apart).Kernel(kernels.RBF(1)).HardMargin().SMO()},
		{"balanced", c.Balanced()}, {"class weights", svmnb.Classify(&named).Kernel(kernels.RBF(2)).C(3).SMO().ClassWeight("high", 3).Balanced()}, {"weights", c.SampleWeights(halves)},
		{"2-norm with weights", c.TwoNorm().SampleWeights(halves)}, {"ν with weights", c.Nu(0.2).SampleWeights(halves)},
		{"KKT", c.Stop(solvers.KKT{Tol: 1e-4})}, {"gap", c.Stop(solvers.Gap{Rel: 1e-5})}, {"tolerance", c.Tol(1e-6)},
		{"fixed bias", c.FixedBias(0.25).Using(solvers.GradientAscent{})}, {"augmented", c.Augment(kernels.Radius).Using(solvers.GradientAscent{})}, {"augmented, interior point", c.Augment(2).Using(solvers.PrimalDual{})},
		{"gradient ascent", c.GradientAscent()},
		{"one against one", three.OneVsOne()}, {"one against the rest", three.OneVsRest()}, {"Crammer–Singer", svmnb.Classify(iris).Kernel(kernels.RBF(0.5)).C(2).CrammerSinger()},
		{"one against one, 2-norm", three.TwoNorm().OneVsOne()}, {"one against one, ν", three.Nu(0.1).OneVsOne()}, {"one against the rest, balanced", three.Balanced().OneVsRest()},
		{"one against one, class weights", three.ClassWeight("virginica", 4).OneVsOne()}, {"one against the rest, augmented", three.Augment(1).Using(solvers.GradientAscent{}).OneVsRest()},
		{"two classes one against one", c.OneVsOne()}, {"Crammer–Singer, linear", svmnb.Classify(iris).Kernel(kernels.Linear()).C(0.5).CrammerSinger()},
		{"one class", svmnb.OneClass(moons).Kernel(kernels.RBF(2)).Nu(0.1).SMO()}, {"one class with weights", svmnb.OneClass(moons).Kernel(kernels.RBF(2)).Nu(0.1).SMO().SampleWeights(halves)},
		{"regression", r}, {"quadratic loss", r.QuadraticLoss()}, {"ν regression", r.Nu(0.4)}, {"ridge", r.Ridge(0.1)}, {"regression with weights", r.SampleWeights(noises)}, {"ν regression with weights", r.Nu(0.4).SampleWeights(noises)},
		{"ridge with weights", r.Ridge(0.1).SampleWeights(noises)}, {"regression, fixed bias", r.FixedBias(0).Using(solvers.GradientAscent{})},
		{"process", p}, {"process of mean 0", p.ZeroMean()}, {"process of scaled targets", p.NormaliseTargets()}, {"process with a noise for each point", p.NoiseVariances(noises)}, {"process without noise", gp.Regress(datasets.Sinc(8, 0, 1)).Kernel(kernels.Matern52(1)).NoiseVariance(0)},
	}
}

// For each description, the page and the program give the same pictures, also after a slider
// and a point have moved, and the certificate is that of the description's fit.
func TestDescriptionsLive(t *testing.T) {
	t.Parallel()
	w := openTwin(t)
	for _, d := range lived() {
		e, err := explore(d.x)
		if err != nil {
			t.Fatal(d.name, err)
		}
		s, why := e.spec()
		if why != "" {
			t.Errorf("%s has no living figure, because %s", d.name, why)
			continue
		}
		if s.Note != "" {
			t.Errorf("%s: %s", d.name, s.Note)
		}
		text, err := json.Marshal(s.Stilled())
		if err != nil {
			t.Fatal(err)
		}
		w.machine = engine.Machine{}
		w.Do(nil, fmt.Sprintf(`put({spec: %q})`, text))
		w.same(d.name, "data="+s.Name)
		var page struct{ Gap, Primal, Dual, MaxKKT float64 }
		w.Do(&page, `const a = worker.answer; const n = v => isFinite(v) ? v : 1e300; return {gap: n(a.gap), primal: n(a.primal), dual: n(a.dual), maxkkt: n(a.maxkkt)}`)
		fit, err := e.base.Train(t.Context(), nil)
		if err != nil {
			t.Fatal(d.name, err)
		}
		if want := certified(t, fit); math.Abs(page.Gap-want[0]) > 1e-9 || math.Abs(page.Primal-want[1]) > 1e-9*(1+math.Abs(want[1])) || math.Abs(page.Dual-want[2]) > 1e-9*(1+math.Abs(want[2])) || math.Abs(page.MaxKKT-want[3]) > 1e-9 {
			t.Errorf("%s: the page's certificate is %+v, the fit's is %v", d.name, page, want)
		}
		changed := "data=" + s.Name
		if s.Task != "hard" { // the point would lie in the other cloud
			changed += fmt.Sprintf("&p=0-2;%v,%v,%v;4-%d", 0.31, 0.17, map[bool]float64{true: 1, false: 0.2}[s.D == 2], e.base.Data().N()-1)
		}
		if len(s.Dials) > 0 {
			dial := s.Dials[0]
			changed += fmt.Sprintf("&%s=%s", dial.Name, dial.Values[min(dial.At+5, len(dial.Values)-1)])
		}
		w.same(d.name, changed)
		// The Go code makes the same machine.
		var code string
		w.Do(&code, `return worker.code.textContent`)
		if line := line(e.base); !strings.Contains(code, verbOf(line)) {
			t.Errorf("%s is written as %.200s", d.name, code)
		}
	}
	t.Logf("%d descriptions, %d marks", len(lived()), w.marks)
	if errs := w.Errors(); len(errs) > 0 {
		t.Errorf("%q", errs)
	}
}

// verbOf returns the first word of an expression, such as svmnb.Classify.
func verbOf(line string) string { return line[:strings.Index(line, "(")] }

// certified returns gap, primal, dual and largest violation of a fit.
func certified(t *testing.T, fit learn.Fit) []float64 {
	t.Helper()
	one := func(c solvers.Certificate) []float64 { return []float64{c.Gap, c.Primal, c.Dual, c.MaxKKT} }
	switch f := fit.Fit().(type) {
	case *svmnb.Fit:
		return one(f.Certificate)
	case *svmnb.RegressionFit:
		return one(f.Certificate)
	case *svmnb.MultiFit:
		c := f.Certificate()
		return []float64{c.Gap, c.Primal, c.Dual, c.MaxKKT}
	case *gp.Fit:
		c := f.Certificate // without noise there are no bounds from above
		return []float64{min(c.Energy, 1e300), min(c.Upper, 1e300), c.Lower, c.Residual}
	}
	t.Fatalf("a fit of type %T", fit.Fit())
	return nil
}

// What pages cannot have is said in a sentence.
func TestWithoutFigure(t *testing.T) {
	moons, sinc := datasets.Moons(40, 0.2, 1), datasets.Sinc(30, 0.1, 1)
	var first []int
	for i := range 200 {
		first = append(first, i)
	}
	for name, test := range map[string]struct {
		x    any
		want string
	}{
		"features":     {datasets.BreastCancer(), "30 features"},
		"iris":         {datasets.Iris(), "4 features"},
		"plane":        {svmnb.Regress(datasets.XOR(50, 0.1, 1)), "features, and a curve in a page is over one"},
		"points":       {datasets.Moons(1500, 0.2, 1), "500 points"},
		"criterion":    {svmnb.Classify(moons).Stop(solvers.Any(solvers.KKT{Tol: 1e-3})), "their solvers stop by Tol"},
		"iterations":   {svmnb.Classify(moons).MaxIterations(5), "MaxIterations"},
		"no weight":    {svmnb.Classify(moons).SampleWeights(append(slices.Repeat([]float64{1}, 39), 0)), "weight 0"},
		"linear mean":  {gp.Regress(sinc).LinearMean(), "a linear mean"},
		"many classes": {datasets.Digits().Columns(20, 30).Select(first), "10 classes"},
	} {
		e, err := explore(test.x)
		if err != nil {
			t.Error(name, err)
			continue
		}
		if _, why := e.spec(); !strings.Contains(why, test.want) {
			t.Errorf("%s: %q, want %q", name, why, test.want)
		}
	}
	// Another solver of the same machine is said in a note.
	e, err := explore(svmnb.Classify(moons).Using(solvers.SMO{Selection: solvers.Platt}))
	if err != nil {
		t.Fatal(err)
	}
	if s, why := e.spec(); why != "" || !strings.HasPrefix(s.Note, "This page solves by SMO in place of ") {
		t.Errorf("%q, %q", s.Note, why)
	}
}
