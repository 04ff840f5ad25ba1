package svmnb_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/browsertest"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb"
)

func TestZR(t *testing.T) {
	fits := []any{
		svmnb.Classify(datasets.Moons(300, 0.25, 1)).Kernel(kernels.RBF(2)).C(100).Using(solvers.SMO{Selection: solvers.WorstPair}).MaxIterations(1000).MustFit(),
		svmnb.Classify(datasets.Iris().OneVsRest("virginica")).C(10).MustFit(),
		svmnb.Regress(datasets.Sinc(100, 0.1, 1)).Kernel(kernels.RBF(1)).C(10).Epsilon(0.1).MustFit(),
		svmnb.Regress(datasets.Friedman1(200, 0.5, 1)).C(10).Epsilon(0.5).MustFit(),
		svmnb.Classify(datasets.Moons(100, 0.2, 1)).TwoNorm().C(10).MustFit(),
	}
	for i, fit := range fits {
		t0 := time.Now()
		c, err := svmnb.Replay(fit).Chart()
		if err != nil {
			t.Fatal(err)
		}
		took := time.Since(t0)
		var b, empty bytes.Buffer
		svmnb.HTML(&b, c)
		svmnb.HTML(&empty, "x")
		fmt.Println(i, took, b.Len()-empty.Len())
		file := filepath.Join(t.TempDir(), "r.html")
		os.WriteFile(file, b.Bytes(), 0o644)
		p := browsertest.Open(t, file, browsertest.Options{Height: 750})
		p.Charts(1)
		time.Sleep(300 * time.Millisecond)
		p.Picture(fmt.Sprintf("/tmp/livepics/r%d.png", i))
		var times []float64
		p.Do(&times, `const c = window.__svmEcharts.echarts.getInstanceByDom(document.querySelector('[data-drawn]')), n = c.getOption().timeline[0].data.length, t = []
			for (let k = 0; k < n; k++) { const a = performance.now(); c.dispatchAction({type: 'timelineChange', currentIndex: k}); c.getZr().flush(); document.body.offsetHeight; t.push(performance.now() - a) }
			c.dispatchAction({type: 'timelineChange', currentIndex: Math.floor(n / 3)})
			return t`)
		fmt.Printf("%.1f\n", times)
		p.Look(browsertest.Options{Dark: true, Width: []int{1280, 400, 700, 1280, 1280}[i], Height: 900})
		time.Sleep(900 * time.Millisecond)
		p.Picture(fmt.Sprintf("/tmp/livepics/r%dd.png", i))
		fmt.Println(p.Errors())
	}
}

func TestZS(t *testing.T) {
	fit := svmnb.Classify(datasets.Moons(60, 0.3, 1)).Kernel(kernels.RBF(1)).C(2).Sample(1).MustFit()
	var items []any
	for i := range 40 {
		c, err := svmnb.ReplayStep(fit, i+1).Chart()
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(c.Title.Title, c.Title.Subtitle)
		if i == 3 || i == 12 || i == 30 || i == 20 {
			items = append(items, c)
		}
	}
	c, err := svmnb.CoordinateAscent([2][2]float64{{1, -0.6}, {-0.6, 1}}, [2]float64{}, [2]float64{2, -2}).Chart()
	if err != nil {
		t.Fatal(err)
	}
	items = append(items, c)
	var b bytes.Buffer
	fmt.Println(svmnb.HTML(&b, items...))
	file := filepath.Join(t.TempDir(), "r.html")
	os.WriteFile(file, b.Bytes(), 0o644)
	p := browsertest.Open(t, file, browsertest.Options{Height: 750})
	p.Charts(len(items))
	time.Sleep(300 * time.Millisecond)
	p.Picture("/tmp/livepics/s.png")
	p.Look(browsertest.Options{Dark: true, Width: 420, Height: 900})
	time.Sleep(900 * time.Millisecond)
	p.Picture("/tmp/livepics/sd.png")
	fmt.Println(p.Errors())
}
