package svmnb

import (
	"math"

	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/schemes"
)

const mostRegions = figure.MostRegions

func (f *MultiFit) drawRegions() (*display.Chart, error) {
	data := f.task.base.data
	if data.D() != 2 {
		return nil, arguments.Wrong("Regions", float64(data.D()), "the data have %d features; the picture needs two: choose them by MarginsOver, or take MarginsPCA", data.D())
	}
	if err := points.NeedsDense("Regions", data); err != nil {
		return nil, err
	}
	return f.drawOver(wholePlane(data))
}

func (f *MultiFit) drawOver(p *section) (*display.Chart, error) {
	t, data := f.task, f.task.base.data
	if len(t.classes) > mostRegions {
		return nil, arguments.Wrong("Regions", float64(len(t.classes)), "there are %d classes; the picture has colours for %d, Confusion for more", len(t.classes), mostRegions)
	}
	rows, decisions := f.glance()
	var predicted []int
	for _, v := range decisions {
		predicted = append(predicted, f.winner(v))
	}
	x := p.shadow(pick(data.X, rows))
	d := figure.RegionsData{Problem: f.words() + glanced(rows, data.N()), Features: p.names, Unlike: p.unlike, X: x,
		Class: pick(t.class, rows), Predicted: predicted, Xs: figure.Around(x, 0), Ys: figure.Around(x, 1), Z: make([][][]float64, len(t.classes))}
	if p.note != "" {
		d.Problem += " · " + p.note
	}
	if t.scheme != schemes.OneVsRest { // machines against the rest have no common scale of f
		d.Margin = 1
	}
	for _, name := range t.classes {
		d.Classes = append(d.Classes, say.Class(name))
	}
	support := make([]bool, data.N())
	for _, i := range f.support {
		support[i] = true
	}
	d.Support = pick(support, rows)
	nodes := min(max(gridWork/max(len(f.support), 1), 1000), 10_000)
	aspect := min(max((d.Ys[1]-d.Ys[0])/(d.Xs[1]-d.Xs[0]), 0.4), 2.5)
	nx := int(math.Sqrt(float64(nodes) / aspect))
	ny := nodes / nx
	row := make([][]float64, nx)
	for k := range d.Z {
		d.Z[k] = make([][]float64, ny)
	}
	for i := range ny {
		for j := range row {
			row[j] = p.at(d.Xs[0]+(d.Xs[1]-d.Xs[0])*float64(j)/float64(nx-1), d.Ys[0]+(d.Ys[1]-d.Ys[0])*float64(i)/float64(ny-1))
		}
		for k := range d.Z {
			d.Z[k][i] = make([]float64, nx)
		}
		for j, values := range f.values(points.Rows(row)) {
			for k, lead := range f.leads(values) {
				d.Z[k][i][j] = lead
			}
		}
	}
	return figure.Regions(d)
}

// leads returns for each class by how much it wins against its strongest rival; negative if
// it does not win. For pairs this is the least of its decision values, otherwise the
// difference to the largest other value. It is positive for the predicted class only: if
// that has won among equal votes, leads raises it to just above 0.
func (f *MultiFit) leads(values []float64) []float64 {
	return f.task.scheme.Leads(len(f.task.classes), f.task.duels, values)
}
