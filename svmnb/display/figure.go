package display

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
)

// Figure is a way to look at a fit. Figures of a machine, such as Margins and KKT, are in
// package svmnb, those of a Gaussian process in package gp, and Landscape of a search in
// package selection.
type Figure struct {
	name string
	draw func(fit any) (*Chart, error)
}

// FigureOf is a Figure of the fits that are an F, such as a *svmnb.Fit, by the function
// that draws it; others are refused with an error. That is how the figures here are
// made, and how you make one of your own.
func FigureOf[F any](name string, draw func(F) (*Chart, error)) Figure {
	return Figure{name, func(fit any) (*Chart, error) {
		f, ok := fit.(F)
		if !ok {
			return nil, fmt.Errorf("Figure.Of: %s is no picture of a %T", name, fit)
		}
		return draw(f)
	}}
}

func (f Figure) String() string { return f.name }

// Of draws the figure for a fit, such as a *svmnb.Fit, as a chart that may be changed
// and then shown by [Show].
func (f Figure) Of(fit any) (_ *Chart, err error) {
	defer guard.Caught(&err)
	if f.draw == nil || isEmpty(fit) {
		return nil, errors.New("svmnb: Figure.Of: the figure or the fit is empty; say for example svmnb.Margins.Of(fit)")
	}
	c, err := f.draw(fit)
	if err != nil {
		return nil, fmt.Errorf("svmnb: %w", err)
	}
	return c, nil
}

// isEmpty reports whether x is nil, or the zero value of a fit or a result.
func isEmpty(x any) bool {
	if guard.IsNil(x) {
		return true
	}
	v := reflect.ValueOf(x)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return false
	}
	return strings.HasPrefix(v.Elem().Type().PkgPath(), "github.com/svmnb/svmnb/svmnb") && v.Elem().NumField() > 0 && v.Elem().IsZero()
}

// ShowFit displays the figures of a fit; without any, its summary in words and the usual
// ones. It is what the Show methods of fits do.
func ShowFit(fit any, figures []Figure, usual ...Figure) {
	if isEmpty(fit) {
		Show(arguments.NoFit("Show"))
		return
	}
	var items []any
	if len(figures) == 0 {
		items, figures = []any{fit}, usual
	}
	for _, fig := range figures {
		if c, err := fig.Of(fit); err != nil {
			items = append(items, err)
		} else {
			items = append(items, c)
		}
	}
	Show(items...)
}
