package play_test

import (
	"bytes"
	"errors"
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
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/play"
)

// bytesOf is how many bytes an item brings into a page.
func bytesOf(t *testing.T, item any) int {
	t.Helper()
	var with, without bytes.Buffer
	if err := errors.Join(display.HTML(&with, item, ""), display.HTML(&without, "")); err != nil {
		t.Fatal(err)
	}
	return with.Len() - without.Len()
}

// A replay of 1000 iterations of SMO on 300 points takes less than 500 kB, and a
// browser changes from one moment to the next in less than 100 ms; play goes from the
// first to the last; what is not in the page yet is the end.
func TestReplayInBrowser(t *testing.T) {
	fit, err := svmnb.Classify(datasets.Moons(300, 0.25, 1)).Kernel(kernels.RBF(2)).C(100).
		Using(solvers.SMO{Selection: solvers.WorstPair}).MaxIterations(1000).Fit(t.Context())
	if err != nil || fit.Iterations != 1000 {
		t.Fatalf("%v, %d iterations", err, fit.Iterations)
	}
	c, err := play.Replay(fit).Chart()
	if err != nil {
		t.Fatal(err)
	}
	if n := bytesOf(t, c); n > 500_000 {
		t.Errorf("the replay takes %d bytes, want at most 500 kB", n)
	}
	file := filepath.Join(t.TempDir(), "replay.html")
	var page bytes.Buffer
	if err := errors.Join(display.HTML(&page, c), os.WriteFile(file, page.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
	p := browsertest.Open(t, file, browsertest.Options{Offline: true})
	if text := p.Charts(1)[0]; !strings.Contains(text, "iteration 1000") {
		t.Errorf("it begins with %q, want the end", text)
	}
	p.Do(nil, `window.c = window.__svmEcharts.echarts.getInstanceByDom(document.querySelector('[data-drawn]'));
		window.at = () => c.getOption().timeline[0].currentIndex; window.last = c.getOption().timeline[0].data.length - 1`)
	var frames []struct {
		Words string
		Took  float64
	}
	p.Do(&frames, `const out = []
		for (let k = 0; k <= last; k += 3) {
			const begun = performance.now()
			c.dispatchAction({type: 'timelineChange', currentIndex: k})
			c.getZr().flush()
			document.body.offsetHeight
			out.push({took: performance.now() - begun, words: document.querySelector('[data-drawn]').textContent})
		}
		return out`)
	var times []float64
	for k, f := range frames {
		times = append(times, f.Took)
		if k == 0 && !strings.Contains(f.Words, "iteration 0 ") || k > 0 && f.Words == frames[k-1].Words {
			t.Errorf("moment %d shows %q", 3*k, f.Words)
		}
	}
	if len(times) < 15 {
		t.Fatalf("%d moments were looked at", len(times))
	}
	slices.Sort(times)
	t.Logf("from one moment to another: median %.0f ms, from %.0f to %.0f", times[len(times)/2], times[0], times[len(times)-1])
	p.Do(nil, `c.setOption({timeline: {playInterval: 5}}); c.dispatchAction({type: 'timelinePlayChange', playState: true})`)
	p.Until(`at() < last`)
	p.Do(nil, `c.dispatchAction({type: 'timelineChange', currentIndex: last - 3})`)
	p.Until(`at() === last && !c.getOption().timeline[0].autoPlay`)

	// The moment stays when the page turns dark.
	p.Do(nil, `c.dispatchAction({type: 'timelineChange', currentIndex: 7})`)
	p.Look(browsertest.Options{Dark: true})
	p.Until(`document.querySelector('[data-drawn=dark]')`)
	var moment int
	p.Do(&moment, `return window.__svmEcharts.echarts.getInstanceByDom(document.querySelector('[data-drawn]')).getOption().timeline[0].currentIndex`)
	if moment != 7 {
		t.Errorf("after the page turned dark the moment is %d, want 7", moment)
	}
	if errs := p.Errors(); len(errs) > 0 {
		t.Errorf("errors in the page: %q", errs)
	}
}

// Every machine can be replayed, whatever its margin, loss, solver and number of
// features.
func TestReplays(t *testing.T) {
	moons, iris := svmnb.Classify(datasets.Moons(80, 0.2, 1)), svmnb.Classify(datasets.Iris().OneVsRest("versicolor"))
	sinc, friedman := svmnb.Regress(datasets.Sinc(60, 0.1, 1)).Epsilon(0.1), svmnb.Regress(datasets.Friedman1(60, 0.5, 1))
	fits := map[string]any{
		"soft": moons.MustFit(), "2-norm": moons.TwoNorm().MustFit(), "hard": svmnb.Classify(datasets.Moons(80, 0.02, 1)).Kernel(kernels.RBF(2)).HardMargin().MustFit(),
		"ν": moons.Nu(0.3).MustFit(), "one class": svmnb.OneClass(datasets.Moons(80, 0.2, 1)).Nu(0.2).MustFit(),
		"weights": moons.ClassWeight("+1", 3).MustFit(), "augmented": moons.GradientAscent().MustFit(), "interior": moons.PrimalDual().MustFit(),
		"chunks": moons.Using(solvers.Chunking{}).MustFit(), "four features": iris.MustFit(), "two ends": moons.Sample(-1).MustFit(), "no iteration": moons.Stop(solvers.Gap{Rel: 10}).MustFit(),
		"tube": sinc.MustFit(), "quadratic": sinc.QuadraticLoss().MustFit(), "ridge": sinc.Ridge(0.1).MustFit(), "ν tube": sinc.Nu(0.3).MustFit(), "ten features": friedman.MustFit(),
	}
	for name, fit := range fits {
		d := play.Replay(fit)
		if _, err := d.Chart(); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if n := bytesOf(t, d); n > 500_000 || n < 5_000 {
			t.Errorf("%s: the replay takes %d bytes", name, n)
		}
	}
}

// The gap at the end of a replay is that of the certificate, which other figures show too.
func TestReplayEndsAtTheCertificate(t *testing.T) {
	fit := svmnb.Classify(datasets.Moons(120, 0.2, 42)).Kernel(kernels.RBF(1.2)).C(2).MustFit()
	regression := svmnb.Regress(datasets.Sinc(60, 0.1, 1)).Epsilon(0.1).MustFit()
	for _, of := range []struct {
		fit any
		gap float64
	}{{fit, fit.Certificate.Gap}, {regression, regression.Certificate.Gap}} {
		c, err := play.Replay(of.fit).Chart()
		if err != nil {
			t.Fatal(err)
		}
		frames := c.Extra["svm"].(map[string]any)["frames"].([]any)
		if g := frames[len(frames)-1].(map[string]any)["g"].(float64); math.Abs(g-of.gap) > 2e-3*of.gap {
			t.Errorf("a replay ends with a gap of %g, the certificate has %g", g, of.gap)
		}
	}
}

func TestReplayRefuses(t *testing.T) {
	var none *svmnb.Fit
	for name, d := range map[string]display.Drawing{
		"nil": play.Replay(nil), "a nil fit": play.Replay(none), "a number": play.Replay(7), "an empty drawing": {}, "a step of nil": play.ReplayStep(nil, 1),
		"an indefinite matrix": play.CoordinateAscent([2][2]float64{{1, 2}, {2, 1}}, [2]float64{}, [2]float64{1, 1}),
		"a start of NaN":       play.CoordinateAscent([2][2]float64{{1, 0}, {0, 1}}, [2]float64{}, [2]float64{math.NaN(), 1}),
		"a zero matrix":        play.CoordinateAscent([2][2]float64{}, [2]float64{}, [2]float64{1, 1}),
	} {
		if _, err := d.Chart(); err == nil {
			t.Errorf("%s can be drawn", name)
		}
	}
	large, err := svmnb.Classify(datasets.Moons(6000, 0.1, 1)).MaxIterations(1).Fit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := play.Replay(large).Chart(); err == nil || !strings.Contains(err.Error(), "at most 5000") {
		t.Errorf("of 6000 points: %v", err)
	}
	pairs := svmnb.Classify(datasets.Moons(200, 0.3, 1)).Kernel(kernels.RBF(5)).C(100).MustFit()
	for _, c := range []struct {
		fit       *svmnb.Fit
		iteration int
		words     string
	}{
		{pairs, 0, "there is no iteration 0"}, {pairs, pairs.Iterations + 1, "there is no iteration"}, {pairs, pairs.Iterations - 1, "Sample(1)"},
		{svmnb.Classify(datasets.Moons(50, 0.3, 1)).GradientAscent().MustFit(), 1, "worked on"},
		{svmnb.Classify(datasets.Moons(50, 0.3, 1)).PrimalDual().MustFit(), 1, "worked on"},
	} {
		_, err := play.ReplayStep(c.fit, c.iteration).Chart()
		var a *svmnb.ArgumentError
		if !errors.As(err, &a) || !strings.Contains(err.Error(), c.words) {
			t.Errorf("iteration %d: %v, want %q", c.iteration, err, c.words)
		}
	}
}

// The maximum on the line, cut off by the box, is where the solver went.
func TestReplayStepIsTheSolvers(t *testing.T) {
	for name, problem := range map[string]svmnb.Classifier{
		"1-norm": svmnb.Classify(datasets.Moons(60, 0.3, 1)).Kernel(kernels.RBF(1)).C(2),
		"2-norm": svmnb.Classify(datasets.Moons(60, 0.3, 1)).Kernel(kernels.RBF(1)).C(2).TwoNorm(),
	} {
		fit := problem.Using(solvers.SMO{PairsOnly: true}).Sample(1).MustFit()
		for it := 1; it <= fit.Iterations; it++ {
			c, err := play.ReplayStep(fit, it).Chart()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			o := c.Extra["svm"].(map[string]any)
			at := func(key string) (v [2]float64) {
				for k, x := range o[key].([]any) {
					v[k], _ = x.(float64)
				}
				return v
			}
			before, after, free, s := at("before"), at("after"), at("free"), o["s"].(float64)
			low, high := -before[0], math.Inf(1) // of a step of the first along the line
			if u, ok := o["upper"].([]any)[0].(float64); ok {
				high = u - before[0]
			}
			end := math.Inf(1)
			if u, ok := o["upper"].([]any)[1].(float64); ok {
				end = u
			}
			if s > 0 {
				low, high = max(low, before[1]-end), min(high, before[1])
			} else {
				low, high = max(low, -before[1]), min(high, end-before[1])
			}
			want := before[0] + min(max(free[0]-before[0], low), high)
			if math.Abs(want-after[0]) > 1e-4*(1+math.Abs(want)) {
				t.Errorf("%s: step %d goes from %v to %v, the maximum is at %v", name, it, before, after, free)
			}
		}
	}
}

func ExampleCoordinateAscent() {
	c, err := play.CoordinateAscent([2][2]float64{{1, -0.6}, {-0.6, 1}}, [2]float64{}, [2]float64{2, -2}).Chart()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Title.Title)
	// Output: Coordinate ascent from (2, −2): after the first, each sweep leaves 36 % of the way
}

func ExampleReplayStep() {
	fit := svmnb.Classify(datasets.Moons(60, 0.3, 1)).Kernel(kernels.RBF(1)).C(2).SMO().MustFit()
	c, err := play.ReplayStep(fit, 1).Chart()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Title.Title)
	// Output: Step 1 on points 58 and 9: cut off by the box at α₅₈ = 2; the dual rises by 3.06
}
