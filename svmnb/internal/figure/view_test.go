package figure

import (
	"math"
	"os"
	"testing"

	"github.com/svmnb/svmnb/svmnb/internal/echarts"
)

func TestView(t *testing.T) {
	dir := os.Getenv("VIEW")
	if dir == "" {
		t.Skip()
	}
	for _, v := range views(t) {
		c, err := v.draw()
		if err != nil {
			t.Errorf("%s: %v", v.name, err)
			continue
		}
		p, err := echarts.Draw(c)
		if err != nil {
			t.Errorf("%s: %v", v.name, err)
			continue
		}
		t.Log(v.name, len(p.HTML), "|", c.Alt)
		f, _ := os.Create(dir + "/" + v.name + ".html")
		_ = echarts.Page(f, v.name, p.HTML)
		f.Close()
	}
}

type view struct {
	name string
	draw func() (*Chart, error)
}

func views(t *testing.T) []view {
	return []view{
		{"tube60", func() (*Chart, error) { return Tube(tube(t, 60, 1, 0.15, 3, false)) }},
		{"tube400", func() (*Chart, error) { return Tube(tube(t, 400, 1, 0.2, 3, false)) }},
		{"tube5", func() (*Chart, error) { d := tube(t, 5, 1, 0.05, 30, true); d.True = nil; return Tube(d) }},
		{"tube2d", func() (*Chart, error) { return Tube(tube(t, 150, 2, 0.2, 3, false)) }},
		{"post", func() (*Chart, error) { return Posterior(posterior(t)) }},
		{"early", func() (*Chart, error) { return Posterior(early(t)) }},
		{"bounds1", func() (*Chart, error) { return Bounds(bounds(t, 300)) }},
		{"bounds2", func() (*Chart, error) {
			d := bounds(t, 100)
			d.Others = nil
			d.Exact = math.NaN()
			for k, u := range d.Skilling {
				d.GibbsMacKay = append(d.GibbsMacKay, d.Lower[k]+30*math.Sqrt(u-d.Lower[k])/30)
			}
			d.GibbsMacKay[20] = math.NaN()
			return Bounds(d)
		}},
		{"evid", func() (*Chart, error) { return Evidence(evidence(t)) }},
		{"comp", func() (*Chart, error) { return Components(components(t)) }},
	}
}
