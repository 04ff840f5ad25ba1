package display

import (
	"errors"
	"fmt"

	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
)

// Drawing is a picture that is drawn when it is shown.
type Drawing struct {
	name string
	draw func() (*Chart, error)
}

// NewDrawing returns the picture that draw makes. The name is the function from which the
// user got the picture; errors begin with it. NewDrawing is for packages that draw.
func NewDrawing(name string, draw func() (*Chart, error)) Drawing { return Drawing{name, draw} }

// Chart draws the picture, as a chart that you can change and then show by [Show].
func (d Drawing) Chart() (_ *Chart, err error) {
	defer guard.Caught(&err)
	if d.draw == nil {
		return nil, fmt.Errorf("svmnb: Drawing.Chart: the drawing is empty; make one, for example by play.Replay(fit)")
	}
	c, err := d.draw()
	var argument *arguments.Error // it already names the function that failed
	if err != nil && !errors.As(err, &argument) {
		return nil, fmt.Errorf("svmnb: %s: %w", d.name, err)
	}
	return c, err
}

// Show displays the picture in the cell's output; see the function [Show].
func (d Drawing) Show() {
	c, err := d.Chart()
	if err != nil {
		Show(err)
		return
	}
	Show(c)
}
