package display

import (
	"errors"
	"fmt"

	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
)

// Drawing is a picture that is ready to be shown.
type Drawing struct {
	name string
	draw func() (*Chart, error)
}

// NewDrawing is the picture that draw makes, whose errors bear the name. It is for packages
// that draw.
func NewDrawing(name string, draw func() (*Chart, error)) Drawing { return Drawing{name, draw} }

// Chart draws it, as a chart that may be changed and then shown by [Show].
func (d Drawing) Chart() (_ *Chart, err error) {
	defer guard.Caught(&err)
	if d.draw == nil {
		return nil, fmt.Errorf("svmnb: Drawing.Chart: the drawing is empty; make one, for example by play.Replay(fit)")
	}
	c, err := d.draw()
	var argument *arguments.Error // says where it is from
	if err != nil && !errors.As(err, &argument) {
		return nil, fmt.Errorf("svmnb: %s: %w", d.name, err)
	}
	return c, err
}

// Show displays it in the cell's output; see the function [Show].
func (d Drawing) Show() {
	c, err := d.Chart()
	if err != nil {
		Show(err)
		return
	}
	Show(c)
}
