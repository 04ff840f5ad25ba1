package play

import (
	"math"

	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/sheet"
)

// Table lists the runs; see [display.Table].
func (r *RaceResult) Table() *display.Sheet {
	return display.NewSheet(func(t *sheet.Table) error {
		if r.none() {
			return arguments.NoFit("Table")
		}
		t.Name = r.task.Words()
		var runs []sheet.Compared
		for i := range r.Runs {
			runs = append(runs, &r.Runs[i])
		}
		t.Compare(runs)
		t.Columns[0].Name = "method"
		return nil
	})
}

// Comparison returns the row of the run's fit in a table of several fits.
func (r *RaceRun) Comparison() sheet.Comparison {
	if r == nil {
		return sheet.Comparison{}
	}
	c := sheet.Comparison{Name: r.Name, Status: r.status()}
	for k := range c.Measures {
		c.Measures[k] = math.NaN()
	}
	if r.Fit != nil {
		c.Measures = r.Fit.Comparison().Measures
	}
	return c
}
