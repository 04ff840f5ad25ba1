package display

import (
	"fmt"
	"math"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// Images is a picture of points whose d = rows·cols features are the pixels of an image, one
// row of pixels after the other:
//
//	display.Images(datasets.Digits(), 8, 8).Show()
//
// All images have the same scale: the least pixel has the colour of the page and the largest
// that of the text; if pixels are negative, 0 has the colour of the page. Below each image
// stands its caption. Without captions these are the classes of a data set. Of more than 120
// points it shows the first.
//
// The error of Chart is an *svmnb.ArgumentError if rows·cols is not d or there is not one
// caption for each point, and a *datasets.Error for data that cannot be used.
func Images(data datasets.Points, rows, cols int, captions ...string) Drawing {
	return NewDrawing("Images", func() (*Chart, error) {
		if guard.IsNil(data) {
			return nil, arguments.Wrong("Images", math.NaN(), "there are no points; give a data set or rows of pixels")
		}
		d := figure.ImagesData{Rows: rows, Cols: cols}
		set, ok := data.(*datasets.Dataset)
		if t, table := data.(*datasets.Table); table && t.Check() != nil {
			return nil, t.Check()
		}
		if ok {
			if err := set.Check(); err != nil {
				return nil, err
			}
			d.Problem = set.Name
		}
		x, err := points.Dense("Images", data)
		if err != nil {
			return nil, err
		}
		switch {
		case len(x) == 0:
			return nil, arguments.Wrong("Images", math.NaN(), "there are no points of numbers; give at least one")
		case rows < 1 || cols < 1 || rows > figure.MostPixels || cols > figure.MostPixels || rows*cols > figure.MostPixels:
			return nil, arguments.Wrong("Images", float64(rows), "images of %d × %d pixels cannot be drawn; give at least 1 × 1, and at most %d pixels", rows, cols, figure.MostPixels)
		case len(captions) > 0 && len(captions) != len(x):
			return nil, arguments.Wrong("Images", float64(len(captions)), "there are %s for %s; give one for each, or none", say.Several(len(captions), "caption"), say.Several(len(x), "point"))
		}
		for i, row := range x {
			if len(row) != rows*cols {
				return nil, arguments.At("Images", i, -1, float64(len(row)), "the point has %s, and an image of %d × %d pixels needs %d", say.Several(len(row), "feature"), rows, cols, rows*cols)
			}
		}
		d.Of = len(x)
		d.Pixels = x[:min(len(x), figure.MostImages)]
		for i := range d.Pixels {
			d.Index = append(d.Index, i)
			switch {
			case len(captions) > 0:
				d.Captions = append(d.Captions, captions[i])
			case ok && set.Classes != nil:
				d.Captions = append(d.Captions, fmt.Sprint(set.ClassName(set.Y[i])))
			}
		}
		return figure.Images(d)
	})
}
