package svmnb

import (
	"math"

	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/sheet"
)

// Comparison returns the measures that every run of a solver has.
func (r record) Comparison() sheet.Comparison {
	c, nan := r.Certificate, math.NaN()
	return sheet.Comparison{Name: r.words, Status: r.Status.String(), Measures: [...]float64{float64(r.Iterations), float64(r.Evaluations), sheet.Milliseconds(r.Elapsed), c.Dual, max(c.Gap, 0), c.MaxKKT,
		float64(c.Free + c.AtUpper), float64(c.AtUpper), nan, nan}}
}

// Comparison returns the row of the fit in a table of several fits.
func (f *Fit) Comparison() sheet.Comparison {
	if f.none() {
		return sheet.Comparison{}
	}
	c := f.record().Comparison()
	if rows, values := f.glance(); rows == nil { // otherwise they take too long for a table
		c.Measures[8] = float64(f.errorsAt(nil, values))
	}
	return c
}

// Comparison returns the row of the fit in a table of several fits.
func (f *RegressionFit) Comparison() sheet.Comparison {
	if f.none() {
		return sheet.Comparison{}
	}
	c := f.record().Comparison()
	free, bound := f.counts()
	c.Measures[6], c.Measures[7] = float64(free+bound), float64(bound)
	if rows, _ := f.glance(); rows != nil {
		return c // residuals take too long for a table
	}
	sum := 0.0
	for _, r := range f.Residuals() {
		sum += r * r / float64(len(f.Beta))
	}
	c.Measures[9] = math.Sqrt(sum)
	return c
}

// Comparison returns the row of the fit in a table of several fits.
func (f *JointFit) Comparison() sheet.Comparison {
	if f.none() {
		return sheet.Comparison{}
	}
	return f.record().Comparison()
}

// Comparison returns the row of the fit in a table of several fits.
func (f *MultiFit) Comparison() sheet.Comparison {
	if f.none() {
		return sheet.Comparison{}
	}
	m, nan := f.Certificate(), math.NaN()
	wrong := nan
	if rows, decisions := f.glance(); rows == nil { // otherwise they take too long for a table
		wrong = float64(f.errorsAt(nil, decisions))
	}
	iterations, values := 0, int64(0)
	f.each(func(_ string, r *solvers.Result) { iterations, values = iterations+r.Iterations, values+r.Evaluations })
	return sheet.Comparison{Name: f.words(), Status: f.Status().String(), Measures: [...]float64{float64(iterations), float64(values), sheet.Milliseconds(f.Elapsed), m.Dual, max(m.Gap, 0), m.MaxKKT,
		float64(len(f.support)), nan, wrong, nan}}
}

// Table lists the training points with their KKT conditions; see [display.Table].
func (f *Fit) Table() *display.Sheet {
	return display.NewSheet(func(t *sheet.Table) error {
		if f.none() {
			return arguments.NoFit("Table")
		}
		t.Name = f.record().words
		if err := listable(len(f.Alpha), f.expansion.Each()); err != nil {
			return err
		}
		if err := t.Values(f.Conditions()); err != nil {
			return err
		}
		classNames(t, f.task.negative, f.task.positive)
		if certain := f.certainTraining(); certain != nil {
			t.Texts("label", certainWords(certain))
		}
		t.Columns[0].Number = true
		return nil
	})
}

// classNames renames the column YF to y·f, as in figures, and replaces the labels ±1 in
// column Y by the names of the classes.
func classNames(t *sheet.Table, negative, positive string) {
	for c, col := range t.Columns {
		if col.Name == "YF" {
			t.Columns[c].Name = "y·f"
		}
		if col.Name != "Y" {
			continue
		}
		text := make([]string, len(col.Values))
		for i, y := range col.Values {
			text[i] = negative
			if y > 0 {
				text[i] = positive
			}
		}
		t.Columns[c] = sheet.Column{Name: "class", Text: text}
	}
}

// Table lists the training points with their KKT conditions; see [display.Table].
func (f *RegressionFit) Table() *display.Sheet {
	return display.NewSheet(func(t *sheet.Table) error {
		if f.none() {
			return arguments.NoFit("Table")
		}
		t.Name = f.record().words
		if err := listable(len(f.Beta), f.expansion.Each()); err != nil {
			return err
		}
		if err := t.Values(f.Conditions()); err != nil {
			return err
		}
		t.Columns[0].Number = true
		return nil
	})
}

// Table lists the machines; see [display.Table].
func (f *MultiFit) Table() *display.Sheet {
	return display.NewSheet(func(t *sheet.Table) error {
		if f.none() {
			return arguments.NoFit("Table")
		}
		t.Name = f.words()
		if f.joint != nil {
			t.Compare([]sheet.Compared{f.Joint()})
			return nil
		}
		var runs []sheet.Compared
		for _, m := range f.machines {
			runs = append(runs, m)
		}
		t.Compare(runs)
		for i, m := range f.machines {
			t.Columns[0].Text[i] = m.task.positive + " against " + m.task.negative
		}
		return nil
	})
}

// Table lists the points with their true and predicted classes; see [display.Table].
func (e *Evaluation) Table() *display.Sheet {
	return display.NewSheet(func(t *sheet.Table) error {
		if e == nil {
			return arguments.NoFit("Table")
		}
		t.Name = e.Of
		names := func(of []int) []string {
			text := make([]string, len(of))
			for i, k := range of {
				text[i] = e.Classes[k]
			}
			return text
		}
		t.Numbered("row", len(e.Truth))
		t.Texts("true class", names(e.Truth))
		t.Texts("predicted", names(e.Predicted))
		if e.Scores != nil {
			t.Numbers("score", e.Scores)
		}
		if e.Probabilities != nil {
			for k, class := range e.Classes {
				t.Numbers("P("+class+")", points.Column(e.Probabilities, k))
			}
		}
		return nil
	})
}
