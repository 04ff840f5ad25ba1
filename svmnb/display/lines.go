package display

import (
	"math"
	"slices"

	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
)

// Curve is one line of a picture of [Lines]: y over x, in the order of the points. A Y that is
// NaN leaves a gap.
type Curve struct {
	Name string
	X, Y []float64
}

// Add appends a point. It panics for a nil curve, which has no place for a point.
func (c *Curve) Add(x, y float64) {
	if c == nil {
		panic(arguments.Wrong("Curve.Add", 0, "the curve is nil: declare it as a value, var c display.Curve"))
	}
	c.X, c.Y = append(c.X, x), append(c.Y, y)
}

// LinePlot is a picture of lines over one pair of axes; see [Lines].
type LinePlot struct{ d figure.LinesData }

// Lines returns a picture of one to ten curves over one pair of axes, which have these names:
//
//	display.Lines("The margin", "C", "1/‖w‖", one, two).LogX().LogY().Show()
//
// Axes are linear and show all points. An axis whose values are amounts from near 0 begins at
// 0.
func Lines(title, x, y string, curves ...Curve) LinePlot {
	nan := [2]float64{math.NaN(), math.NaN()}
	d := figure.LinesData{Title: title, X: x, Y: y, XRange: nan, YRange: nan}
	for _, c := range curves {
		d.Lines = append(d.Lines, figure.Line{Name: c.Name, X: slices.Clone(c.X), Y: slices.Clone(c.Y)})
	}
	return LinePlot{d}
}

// LogX makes the x axis logarithmic. All x must be positive.
func (p LinePlot) LogX() LinePlot { p.d.LogX = true; return p }

// LogY makes the y axis logarithmic. All y must be positive.
func (p LinePlot) LogY() LinePlot { p.d.LogY = true; return p }

// XRange makes the x axis go from low to high. NaN stands for the end of the data.
func (p LinePlot) XRange(low, high float64) LinePlot { p.d.XRange = [2]float64{low, high}; return p }

// YRange makes the y axis go from low to high. NaN stands for the end of the data.
func (p LinePlot) YRange(low, high float64) LinePlot { p.d.YRange = [2]float64{low, high}; return p }

// Mark draws a ring with a text at a point, such as the one that the title speaks of.
func (p LinePlot) Mark(x, y float64, text string) LinePlot {
	p.d.Marks = append(slices.Clip(p.d.Marks), figure.Mark{X: x, Y: y, Text: text})
	return p
}

// Chart draws the picture, as a chart that you can change and then show by [Show]. It returns
// an error that names the curve and the point for numbers that cannot be drawn.
func (p LinePlot) Chart() (*Chart, error) { return p.drawing().Chart() }

// Show displays the picture in the cell's output; see the function [Show].
func (p LinePlot) Show() { p.drawing().Show() }

func (p LinePlot) drawing() Drawing {
	return NewDrawing("Lines", func() (*Chart, error) { return figure.Lines(p.d) })
}
