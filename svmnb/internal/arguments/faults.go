package arguments

import (
	"errors"
	"slices"
	"strings"
)

// Faults are what is wrong with a description, by the setter that says it. A setter that is said
// again takes the place of what it said before, so its fault goes with that.
type Faults struct{ of *[]fault } // behind a pointer, so that descriptions can be compared

type fault struct {
	setter string
	err    error
}

// Said notes what is wrong with a setter, nil for nothing.
func (f *Faults) Said(setter string, err error) {
	var kept []fault
	if f.of != nil {
		kept = slices.DeleteFunc(slices.Clone(*f.of), func(old fault) bool { return old.setter == setter })
	}
	if err != nil {
		kept = append(kept, fault{setter, err})
		slices.SortFunc(kept, func(a, b fault) int { return strings.Compare(a.setter, b.setter) })
	}
	if f.of = nil; len(kept) > 0 {
		f.of = &kept
	}
}

// Err joins the faults in the order of their words.
func (f Faults) Err() error {
	if f.of == nil {
		return nil
	}
	var all []error
	for _, one := range *f.of {
		all = append(all, one.err)
	}
	return errors.Join(all...)
}
