package selection

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/learn"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
)

// Alternative is one of the learners of [OneOf], with a name for tables and figures.
type Alternative struct {
	Name    string
	Learner Learner
}

// Alternatives is a [Learner] that is one of several; see [OneOf].
type Alternatives struct {
	of *alternatives // never changed once made
}

type alternatives struct {
	name  string
	names []string
	list  []learn.Learner
	err   error
}

// OneOf makes learners of the same data the choice of a search: kernels, steps, or whole
// pipelines. The search tries every alternative with every setting of its space:
//
//	selection.Search(selection.OneOf("kernel",
//		selection.Alternative{"RBF", svmnb.Classify(data).Kernel(kernels.RBF(0.1))},
//		selection.Alternative{"Laplacian", svmnb.Classify(data).Kernel(kernels.Laplacian(0.1))}),
//		selection.Grid{"C": {1, 10}, "gamma": {0.01, 0.1, 1}}, folds)
//
// A parameter of the space that an alternative does not have changes nothing there, and is an
// error if none has it. Outside of a search, the first alternative counts.
func OneOf(name string, among ...Alternative) Alternatives {
	a := &alternatives{name: name}
	wrong := func(msg string, args ...any) {
		if a.err == nil {
			a.err = arguments.Wrong("OneOf", float64(len(among)), msg, args...)
		}
	}
	for i, one := range among {
		if one.Learner == nil {
			wrong("alternative %d, %q, has no learner; give one such as svmnb.Classify(data)", i+1, one.Name)
			continue
		}
		l := one.Learner.Learning()
		if len(a.list) > 0 && l.Data() != a.list[0].Data() {
			wrong("alternatives %q and %q learn from different data; give them the same data set", a.names[0], one.Name)
		}
		a.names, a.list = append(a.names, one.Name), append(a.list, l)
	}
	if len(a.list) == 0 {
		wrong("there are no alternatives; give some such as Alternative{\"RBF\", svmnb.Classify(data)}")
		a.list, a.names = []learn.Learner{piping{Pipe()}}, []string{""}
	}
	return Alternatives{a}
}

// String returns the call that makes the choice.
func (a Alternatives) String() string {
	of := a.made()
	parts := []string{fmt.Sprintf("%q", of.name)}
	for i, l := range of.list {
		parts = append(parts, fmt.Sprintf("{%q, %v}", of.names[i], l))
	}
	return "OneOf(" + strings.Join(parts, ", ") + ")"
}

func (a Alternatives) made() *alternatives {
	if a.of == nil {
		return OneOf("choice").of
	}
	return a.of
}

// Learning returns the methods that packages selection and play use.
func (a Alternatives) Learning() learn.Learner { return oneOf{a.made(), 0} }

// oneOf is the alternative with the index at.
type oneOf struct {
	*alternatives
	at int
}

func (o oneOf) now() learn.Learner      { return o.list[o.at] }
func (o oneOf) String() string          { return Alternatives{o.alternatives}.String() }
func (o oneOf) Data() *datasets.Dataset { return o.now().Data() }
func (o oneOf) Measure() learn.Measure  { return o.now().Measure() }
func (o oneOf) Description() any        { return o.now().Description() }
func (o oneOf) Parameters() string      { return o.name + ", " + o.now().Parameters() }

func (o oneOf) Fault() error {
	if o.err != nil {
		return o.err
	}
	for _, l := range o.list {
		if err := l.Fault(); err != nil {
			return err
		}
	}
	return nil
}

func (o oneOf) Detail() any {
	var all []any
	for _, l := range o.list {
		all = append(all, l.Detail())
	}
	return all
}

// each returns the choice with every alternative changed.
func (o oneOf) each(change func(l learn.Learner) learn.Learner) oneOf {
	next := *o.alternatives
	next.list = nil
	for _, l := range o.list {
		next.list = append(next.list, change(l))
	}
	return oneOf{&next, o.at}
}

func (o oneOf) With(data *datasets.Dataset, rows []int) learn.Learner {
	return o.each(func(l learn.Learner) learn.Learner { return l.With(data, rows) })
}

func (o oneOf) After(p *steps.Passage) learn.Learner {
	return o.each(func(l learn.Learner) learn.Learner { return l.After(p) })
}

// Set chooses the alternative, or sets a parameter in every alternative that has it.
func (o oneOf) Set(name string, v float64) (learn.Learner, bool) {
	if strings.EqualFold(name, o.name) {
		if v != math.Trunc(v) || v < 1 || int(v) > len(o.list) {
			return o, false
		}
		o.at = int(v) - 1
		return o, true
	}
	any := false
	next := o.each(func(l learn.Learner) learn.Learner {
		set, known := l.Set(name, v)
		any = any || known
		if !known {
			return l
		}
		return set
	})
	return next, any
}

func (o oneOf) Train(ctx context.Context, w *learn.Warmth) (learn.Fit, error) {
	return o.now().Train(ctx, w)
}

// among is a space in which each setting is tried with every alternative.
type among struct {
	Space
	name string
	k    int
}

// Settings implements [Space].
func (a among) Settings() ([]string, [][]float64, error) {
	names, values, err := a.Space.Settings()
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		if strings.EqualFold(name, a.name) {
			return names, values, nil // the space says which alternatives
		}
	}
	var all [][]float64
	for i := range a.k {
		for _, v := range values {
			all = append(all, append([]float64{float64(i + 1)}, v...))
		}
	}
	return append([]string{a.name}, names...), all, nil
}

// text writes the value of a parameter: the name of an alternative, or the number.
func (f *SearchFit) text(name string, v float64, number func(v float64) string) string {
	if o, ok := f.Description.learner.(oneOf); ok && name == o.name && v >= 1 && int(v) <= len(o.names) {
		return o.names[int(v)-1]
	}
	return number(v)
}
