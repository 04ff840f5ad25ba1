package svmnb

import (
	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// Weights shows the weights of a linear machine by the names of the features, the largest
// first. A weight is the change of f for one unit of its feature, so weights can be compared
// where the features have the same scale, as behind transform.Standardise, where the unit is
// one standard deviation.
var Weights = display.FigureOf("Weights", func(f weighed) (*display.Chart, error) { return f.drawWeights() })

// weighed is a machine that may have a weight for each feature.
type weighed interface {
	drawWeights() (*display.Chart, error)
}

func (f *Fit) drawWeights() (*display.Chart, error) {
	w, err := f.Weights()
	if err != nil {
		return nil, err
	}
	t := f.task
	return drawWeights(t.words(), t.data, w, [2]string{"towards " + say.Class(t.negative), "towards " + say.Class(t.positive)})
}

func (f *RegressionFit) drawWeights() (*display.Chart, error) {
	w, err := f.Weights()
	if err != nil {
		return nil, err
	}
	return drawWeights(f.task.words(), f.task.data, w, [2]string{"lowers f", "raises f"})
}

func drawWeights(problem string, data *datasets.Dataset, w []float64, sides [2]string) (*display.Chart, error) {
	unit := "standard deviation"
	for j := range w {
		if !standardised(data, j) {
			unit = "unit"
		}
	}
	d := figure.WeightsData{Problem: problem, Note: "change of f for one " + unit + " of the feature", Values: w, Measure: "weight", Sides: sides}
	for j := range w {
		d.Features = append(d.Features, data.FeatureName(j))
	}
	return figure.Weights(d)
}
