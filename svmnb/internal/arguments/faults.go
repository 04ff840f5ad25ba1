package arguments

import (
	"errors"
	"slices"
	"strings"
)

// Faults are the errors of a description, one for each setter, such as C. When a setter is
// called again, its new error, or none, replaces the old one.
type Faults struct{ of *[]fault } // a pointer, so that descriptions can be compared by ==

type fault struct {
	setter string
	err    error
}

// Said records the error of a setter; nil means that there is none.
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

// Err joins the faults in the order of the names of their setters.
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
