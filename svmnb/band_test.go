package svmnb

import (
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
)

// Each place of the plane whose label changes until the optimum is in the band of a rough fit,
// and the band shrinks with the gap.
func TestTheBandHoldsEveryLabelThatChanges(t *testing.T) {
	data := datasets.Moons(120, 0.25, 3)
	for _, base := range []Classifier{
		Classify(data).Kernel(kernels.RBF(1)).C(10), Classify(data).Kernel(kernels.RBF(1)).C(1).TwoNorm(),
		Classify(data).Kernel(kernels.RBF(1)).Nu(0.3), OneClass(data).Kernel(kernels.RBF(1)).Nu(0.2),
	} {
		nodes := grid(figure.Around(data.X, 0), figure.Around(data.X, 1), 900)
		truth := fieldOver(&base.Tol(1e-9).MustFit().expansion, nodes)
		changed, before := 0, 901
		for _, tol := range []float64{1, 0.1, 1e-3} {
			fit := base.Tol(tol).MustFit()
			z := fieldOver(&fit.expansion, nodes)
			band := fit.bandOver(slices.Concat(nodes...), z, gridWork)
			open := 0
			for i, row := range z {
				for j, v := range row {
					in := band.Lower[i][j] <= 0 && band.Upper[i][j] >= 0
					if in {
						open++
					}
					if (v > 0) != (truth[i][j] > 0) {
						if changed++; !in {
							t.Errorf("%v at %v: node %d, %d changes from %g to %g and is not in the band", base, tol, i, j, v, truth[i][j])
						}
					}
				}
			}
			if open >= before {
				t.Errorf("%v at %v: the band has %d nodes, and %d before", base, tol, open, before)
			}
			before = open
		}
		if changed == 0 {
			t.Errorf("%v: no label changed, so the test shows nothing", base)
		}
	}
}

// With less work than thorough bounds take, a band is between the quick and the thorough one.
func TestTheBandNarrowsWithItsWork(t *testing.T) {
	data := datasets.Moons(400, 0.25, 3)
	fit := Classify(data).Kernel(kernels.RBF(1)).C(10).Tol(0.05).MustFit()
	nodes := grid(figure.Around(data.X, 0), figure.Around(data.X, 1), 900)
	z := fieldOver(&fit.expansion, nodes)
	var open []int
	for _, work := range []int{0, 900 * 2 * 64, 900 * 2 * 128, 900 * 2 * thorough.points} {
		band := fit.bandOver(slices.Concat(nodes...), z, work)
		n := 0
		for i, row := range band.Lower {
			for j, v := range row {
				if v <= 0 && band.Upper[i][j] >= 0 {
					n++
				}
			}
		}
		open = append(open, n)
	}
	if !(open[0] > open[1] && open[1] >= open[2] && open[2] >= open[3]) {
		t.Errorf("nodes in the band, by work: %v", open)
	}
}

func TestSummariesSayWhatIsCertain(t *testing.T) {
	moons := datasets.Moons(100, 0.2, 1)
	fit := Classify(moons).Kernel(kernels.RBF(1)).C(10).Tol(0.3).MustFit()
	certain, err := fit.Certain(moons)
	if err != nil {
		t.Fatal(err)
	}
	if want := certainText(certain); !strings.Contains(fit.Markdown(), want) || count(certain) == 100 {
		t.Errorf("no %q in\n%s", want, fit.Markdown())
	}
	open := slices.Index(certain, false)
	if label := fit.Table().Inside().Columns; label[len(label)-1].Text[open] != "could change" {
		t.Errorf("the label of point %d is %q in the table", open, label[len(label)-1].Text[open])
	}
	big := Classify(datasets.Moons(certainPoints+1, 0.2, 1)).Kernel(kernels.RBF(1)).Tol(0.3).MustFit()
	if strings.Contains(big.Markdown(), "no longer change") {
		t.Error("the summary of many points computes which labels are certain")
	}
	iris := Classify(datasets.Iris()).OneVsOne().MustFit()
	if !strings.Contains(iris.Markdown(), "training labels can no longer change") {
		t.Errorf("several classes: %s", iris.Markdown())
	}
	sinc := Regress(datasets.Sinc(60, 0.1, 1)).Kernel(kernels.RBF(1)).C(10).MustFit()
	if !strings.Contains(sinc.Markdown(), "at each training point") {
		t.Errorf("regression: %s", sinc.Markdown())
	}
}
