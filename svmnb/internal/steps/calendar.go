package steps

import (
	"math"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
)

// Parts of a time that [Calendar] makes.
const (
	Days     = "days"    // since 1970, with the time of day as a fraction
	Year     = "year"    // such as 2024
	Season   = "season"  // sine and cosine of the day of the year
	Weekday  = "weekday" // sine and cosine of the day of the week
	DayHours = "hour"    // sine and cosine of the time of day
	Month    = "month"   // 1 to 12
	MonthDay = "day"     // of the month, 1 to 31
	Weekend  = "weekend" // 1 on Saturday and Sunday, else 0
)

// Calendar makes numbers of a time; those of a missing time are missing.
type Calendar struct {
	Parts []string `json:"parts"`
}

// KnownParts are all parts that a Calendar can make.
var KnownParts = []string{Days, Year, Season, Weekday, DayHours, Month, MonthDay, Weekend}

func (k *Calendar) compile(call string, in Slot, b *Layout) (out []Slot, do func(m *Memory) error, err error) {
	if in.Kind != datasets.Time {
		return nil, nil, arguments.Wrong(call, math.NaN(), "column %s is a %v; a calendar is made of a time: say As(datasets.Time, %q) of the table", in.Name, in.Kind, in.Name)
	}
	var of []func(seconds float64) float64
	add := func(name string, f func(seconds float64) float64) {
		out, of = append(out, b.Place(Heading{in.Name + " " + name, datasets.Number})), append(of, f)
	}
	for _, part := range k.Parts {
		if turn, ok := turns[part]; ok {
			add(part+" sin", func(s float64) float64 { return math.Sin(2 * math.Pi * turn(s)) })
			add(part+" cos", func(s float64) float64 { return math.Cos(2 * math.Pi * turn(s)) })
		} else if f, ok := dates[part]; ok {
			add(part, f)
		} else {
			return nil, nil, arguments.Wrong(call, math.NaN(), "there is no part %q of a time; the parts are %s", part, Quoted(KnownParts))
		}
	}
	return out, func(m *Memory) error {
		s := m.Numbers[in.at]
		for k, slot := range out {
			if m.Numbers[slot.at] = s; !math.IsNaN(s) {
				m.Numbers[slot.at] = of[k](s)
			}
		}
		return nil
	}, nil
}

// dates are the parts that are numbers.
var dates = map[string]func(seconds float64) float64{
	Days:     func(s float64) float64 { return s / 86400 },
	Year:     func(s float64) float64 { return float64(datasets.TimeOf(s).Year()) },
	Month:    func(s float64) float64 { return float64(datasets.TimeOf(s).Month()) },
	MonthDay: func(s float64) float64 { return float64(datasets.TimeOf(s).Day()) },
	Weekend: func(s float64) float64 {
		if day := datasets.TimeOf(s).Weekday(); day == 0 || day == 6 {
			return 1
		}
		return 0
	},
}

// turns are the parts that come again, as shares of a turn.
var turns = map[string]func(seconds float64) float64{
	Season:   func(s float64) float64 { return (float64(datasets.TimeOf(s).YearDay()-1) + ofDay(s)) / 365.25 },
	Weekday:  func(s float64) float64 { return float64(datasets.TimeOf(s).Weekday()) / 7 },
	DayHours: ofDay,
}

// ofDay is the share of the day that has passed.
func ofDay(s float64) float64 { return s/86400 - math.Floor(s/86400) }
