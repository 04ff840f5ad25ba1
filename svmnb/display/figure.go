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
// package svmnb, those of a Gaussian process in package gp, and Landscape, for a search, in
// package selection.
type Figure struct {
	name string
	draw func(fit any) (*Chart, error)
}

// FigureOf makes a Figure for fits of type F, such as *svmnb.Fit, from the function that
// draws it. For a value of another type the Figure returns an error. All figures of svmnb
// are made by FigureOf, and so can you make your own.
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

// Of draws the figure of a fit, such as a *svmnb.Fit, as a chart that you can change and
// then show by [Show].
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

// isEmpty reports whether x is nil, a nil pointer, or the zero value of a fit.
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

// ShowFit displays the given figures of a fit. Without figures it displays the fit's
// summary in words and the usual figures. The Show methods of fits call it.
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
