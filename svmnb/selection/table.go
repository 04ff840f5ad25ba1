package selection

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/sheet"
)

// Table lists the trials; see [display.Table].
func (f *SearchFit) Table() *display.Sheet {
	return display.NewSheet(func(t *sheet.Table) error {
		if f.none() {
			return arguments.NoFit("Table")
		}
		t.Name = say.Brief(f.Description.learner.String())
		n := len(f.Trials)
		for i, name := range f.Names {
			values := make([]float64, n)
			for k, t := range f.Trials {
				values[k] = t.Values[i]
			}
			if o, ok := f.Description.learner.(oneOf); ok && name == o.name {
				names := make([]string, n)
				for k, v := range values {
					names[k] = f.text(name, v, say.Number)
				}
				t.Texts(name, names)
				continue
			}
			t.Numbers(name, values)
		}
		mean, se, failed := make([]float64, n), make([]float64, n), make([]string, n)
		for k, t := range f.Trials {
			mean[k], se[k], failed[k] = t.Mean(), t.StandardError(), t.Err
		}
		t.Numbers(f.Metric.Name, mean)
		t.Numbers("standard error", se)
		for k := range f.Folds {
			scores := make([]float64, n)
			for i, t := range f.Trials {
				scores[i] = t.Scores[k]
			}
			t.Numbers(fmt.Sprintf("fold %d", k+1), scores)
		}
		for m, metric := range f.Also {
			mean := make([]float64, n)
			for i, t := range f.Trials {
				mean[i], _ = meanError(t.Also[m])
			}
			t.Numbers(metric.Name, mean)
		}
		if f.Description.keep > 0 {
			points := make([]string, n)
			for i, t := range f.Trials {
				points[i] = "all"
				if t.Points > 0 {
					points[i] = strconv.Itoa(t.Points)
				}
			}
			t.Texts("training points", points)
		}
		if slices.ContainsFunc(failed, func(why string) bool { return why != "" }) {
			t.Texts("failed", failed)
		}
		return nil
	})
}

// Table lists the scores of the folds; see [display.Table].
func (v *Validation) Table() *display.Sheet {
	return display.NewSheet(func(t *sheet.Table) error {
		if v == nil || v.Learner == nil {
			return arguments.NoFit("Table")
		}
		t.Name = say.Brief(v.Learner.String())
		fold := make([]float64, len(v.Scores))
		for k := range fold {
			fold[k] = float64(k + 1)
		}
		t.Numbers("fold", fold).Number = true
		t.Numbers(v.Metric.Name, v.Scores)
		for m, metric := range v.AlsoBy {
			t.Numbers(metric.Name, v.Also[m])
		}
		return nil
	})
}
