package transform

import (
	"math"
	"strings"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
)

// Dates is a [TableStep] that replaces times by numbers; see [Calendar].
type Dates struct {
	parts string // separated by commas, since a slice could not be compared by ==
}

// Calendar replaces every time by numbers. Without parts these are the days since 1970, and
// the sine and cosine of the time of the year, of the week and, if the training rows have
// times of day, of the day. The parts are
//
//	days     days since 1970, with the time of day as a fraction
//	year     such as 2024
//	season   sine and cosine of the day of the year
//	weekday  sine and cosine of the day of the week
//	hour     sine and cosine of the time of day
//	month    1 to 12
//	day      of the month, 1 to 31
//	weekend  1 on Saturday and Sunday, otherwise 0
//
// A missing time gives missing numbers.
func Calendar(parts ...string) Dates { return Dates{strings.Join(parts, ",")} }

// String returns the call that makes the step.
func (s Dates) String() string {
	if s.parts == "" {
		return "Calendar()"
	}
	return "Calendar(" + steps.Quoted(strings.Split(s.parts, ",")) + ")"
}

// FitTable implements [TableStep].
func (s Dates) FitTable(train *datasets.Dataset) (TableTransform, error) {
	table, err := tableOf("Calendar", train)
	if err != nil {
		return nil, err
	}
	t := steps.PerColumn{Call: s.String()}
	for _, c := range table.Columns {
		if c.Kind != datasets.Time {
			continue
		}
		parts := usualParts(c)
		if s.parts != "" {
			parts = strings.Split(s.parts, ",")
		}
		t.Ops = append(t.Ops, steps.ColumnOp{Column: c.Name, Calendar: &steps.Calendar{Parts: parts}})
	}
	if len(t.Ops) == 0 {
		return nil, arguments.Wrong("Calendar", math.NaN(), "no column is a time; say As(datasets.Time, names...) of the table")
	}
	return t, nil
}

// usualParts returns the default parts for a column: those for times of day only if it has
// some, and those for days only if it has some.
func usualParts(c datasets.Column) []string {
	hours, days := false, false
	for _, v := range c.Values {
		if !math.IsNaN(v) {
			hours = hours || v != math.Floor(v/86400)*86400
			days = days || v < 0 || v >= 86400
		}
	}
	switch {
	case !days:
		return []string{steps.DayHours}
	case hours:
		return []string{steps.Days, steps.Season, steps.Weekday, steps.DayHours}
	}
	return []string{steps.Days, steps.Season, steps.Weekday}
}
