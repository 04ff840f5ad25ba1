package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// lateRule says what a late notebook loses.
type lateRule struct {
	deadline time.Time // zero if there is none
	perDay   float64   // points, or a share of all points, for each day that has begun
	share    bool
}

// parseLateRule reads the flags -deadline and -late, such as "2026-11-20 23:59" and "10%".
func parseLateRule(deadline, late string, place *time.Location) (rule lateRule, err error) {
	if deadline != "" {
		if rule.deadline, err = parseTime(deadline, place); err != nil {
			return rule, fmt.Errorf("-deadline: %w", err)
		}
	}
	if late == "" {
		return rule, nil
	}
	number, share := strings.CutSuffix(strings.TrimSpace(late), "%")
	rule.share = share
	if rule.perDay, err = strconv.ParseFloat(number, 64); err != nil || !(rule.perDay >= 0) || math.IsInf(rule.perDay, 0) {
		return rule, fmt.Errorf("-late %q: want the points for each day, such as 0.5, or a share of all points, such as 10%%", late)
	}
	if rule.deadline.IsZero() {
		return rule, fmt.Errorf("-late needs -deadline")
	}
	return rule, nil
}

// lateness says how late a notebook is.
type lateness struct {
	Late  bool      `json:"late"`
	Days  int       `json:"days,omitempty"` // that have begun since the deadline
	Time  time.Time `json:"time,omitzero"`  // when it was handed in, if known
	Basis string    `json:"basis,omitempty"`
	Loss  float64   `json:"loss,omitempty"` // points
}

// of returns how late a file is. The time on the roster counts most. Canvas says in the
// name of a file whether it was late, and the file itself has the time of the download.
// Otherwise the time of the file counts.
func (rule lateRule) of(h handIn, s *student, time func(file string) time.Time, possible float64) lateness {
	l := lateness{Time: s.handedIn, Basis: "the time on the roster"}
	switch {
	case rule.deadline.IsZero() && !h.late:
		return lateness{Time: s.handedIn}
	case !l.Time.IsZero() && !rule.deadline.IsZero():
		l.Days = daysAfter(rule.deadline, l.Time)
	case h.canvas:
		l.Basis = "the word LATE in the name of the file"
		if h.late {
			l.Days = 1
			l.Basis += ", which does not say how many days"
		}
	default:
		l.Time, l.Basis = time(h.file), "the time of the file"
		l.Days = daysAfter(rule.deadline, l.Time)
	}
	if l.Late = l.Days > 0; l.Late {
		l.Loss = rule.perDay * float64(l.Days)
		if rule.share {
			l.Loss *= possible / 100
		}
	}
	return l
}

func daysAfter(deadline, when time.Time) int {
	if !when.After(deadline) {
		return 0
	}
	return int(math.Ceil(when.Sub(deadline).Hours() / 24))
}
