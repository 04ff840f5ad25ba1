package gp

import (
	"math"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// Probability shows a [ClassifierFit] of two features: where each class is the most probable
// and how sure that is, the training points, and the errors among them.
var Probability = display.FigureOf("Probability", func(f classProcess) (*display.Chart, error) { return f.drawProbability() })

// classProcess is implemented by *ClassifierFit only; see process.
type classProcess interface {
	drawProbability() (*display.Chart, error)
}

// Show displays the given figures of the fit. Without figures it displays the summary and, if
// there are two features and at most eight classes, Probability.
func (f *ClassifierFit) Show(figures ...display.Figure) {
	var usual []display.Figure
	if !f.none() && f.task.data.D() == 2 && len(f.Classes) <= figure.MostRegions {
		usual = []display.Figure{Probability}
	}
	display.ShowFit(f, figures, usual...)
}

func (f *ClassifierFit) drawProbability() (*display.Chart, error) {
	ctx, stop := untilInterrupt()
	defer stop()
	if err := f.ready(ctx, "Probability"); err != nil {
		return nil, err
	}
	data, k := f.task.data, len(f.Classes)
	if data.D() != 2 {
		return nil, arguments.Wrong("Probability", float64(data.D()), "the data have %d features; the picture needs two: choose them by Columns of the data set", data.D())
	}
	if k > figure.MostRegions {
		return nil, arguments.Wrong("Probability", float64(k), "there are %d classes; the picture has colours for %d", k, figure.MostRegions)
	}
	of, err := f.Probability(ctx, data)
	if err != nil {
		return nil, err
	}
	d := figure.ProbabilityData{
		Problem: data.Name + " · " + say.Brief(f.task.kernel.String()) + " · " + f.task.way.String(), Evidence: f.LogMarginalLikelihood(),
		Features: [2]string{data.FeatureName(0), data.FeatureName(1)}, X: data.X, Class: f.task.class, Of: of,
		Xs: figure.Around(data.X, 0), Ys: figure.Around(data.X, 1), P: make([][][]float64, k),
	}
	for _, name := range f.Classes {
		d.Classes = append(d.Classes, say.Class(name))
	}
	// A place costs n² multiplications for each latent function, and the draws of softmax.
	n := float64(len(f.task.class))
	work := n * n
	if k > 2 {
		work = float64(k) * (n*n + 40*draws)
	}
	nodes := min(max(figureWork/work, 600), 6000)
	aspect := min(max((d.Ys[1]-d.Ys[0])/(d.Xs[1]-d.Xs[0]), 0.4), 2.5)
	nx := int(math.Sqrt(nodes / aspect))
	ny := int(nodes) / nx
	var places datasets.Rows
	for i := range ny {
		for j := range nx {
			places = append(places, []float64{d.Xs[0] + (d.Xs[1]-d.Xs[0])*float64(j)/float64(nx-1), d.Ys[0] + (d.Ys[1]-d.Ys[0])*float64(i)/float64(ny-1)})
		}
	}
	p, err := f.Probability(ctx, places)
	if err != nil {
		return nil, err
	}
	for c := range d.P {
		d.P[c] = several(ny, nx)
		for at, v := range p {
			d.P[c][at/nx][at%nx] = v[c]
		}
	}
	return figure.Probability(d)
}
