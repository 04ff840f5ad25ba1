package datasets

import (
	"fmt"
	"slices"
	"strconv"
)

// ClassError says that the classes of a data set do not suit the method that was called.
type ClassError struct {
	Dataset string
	Classes []string // the classes that occur
	Msg     string   // what is wrong and what to do
}

func (e *ClassError) Error() string { return "datasets: " + e.Dataset + ": " + e.Msg }

// Count is the number of points of a class.
type Count struct {
	Class string
	Y     float64 // the target of its points
	N     int
}

// Counts returns the classes that occur, in the order of their targets. Real targets count as
// one class for each value.
func (d *Dataset) Counts() []Count {
	if d == nil {
		return nil
	}
	var counts []Count
	for _, v := range slices.Sorted(slices.Values(d.Y)) {
		if k := len(counts); k == 0 || v != counts[k-1].Y {
			counts = append(counts, Count{Class: d.ClassName(v), Y: v})
		}
		counts[len(counts)-1].N++
	}
	return counts
}

// real reports whether the targets are treated as real values, given their counts.
func (d *Dataset) real(counts []Count) bool { return d.Classes == nil && len(counts) > maxListed }

// ClassName names the class whose target is y: its entry in Classes, or the
// number itself when it has none.
func (d *Dataset) ClassName(y float64) string {
	if k := d.classNumber(y); k >= 0 {
		return d.Classes[k]
	}
	return strconv.FormatFloat(y, 'g', -1, 64)
}

// classNumber returns the index in Classes of target y, or −1.
func (d *Dataset) classNumber(y float64) int {
	switch {
	case d == nil:
		return -1
	case y == -1 && len(d.Classes) == 2:
		return 0
	}
	if k := int(y); y >= 0 && y < float64(len(d.Classes)) && float64(k) == y {
		return k
	}
	return -1
}

// Binary returns the n targets as ±1 and the names of the two classes. The larger target is
// the positive one. The error is a [*ClassError] if there are not exactly two classes,
// otherwise that of [Dataset.Check].
func (d *Dataset) Binary() (y []float64, negative, positive string, err error) {
	if err := d.Check(); err != nil {
		return nil, "", "", err
	}
	counts := d.Counts()
	if len(counts) != 2 {
		return nil, "", "", d.notBinary(counts)
	}
	y = make([]float64, d.N())
	for i, v := range d.Y {
		y[i] = 1
		if v == counts[0].Y {
			y[i] = -1
		}
	}
	return y, counts[0].Class, counts[1].Class, nil
}

func (d *Dataset) notBinary(counts []Count) error {
	names := classes(counts)
	if len(names) == 1 {
		return d.classFault(names, fmt.Sprintf("all points are of class %s; two classes are needed", names[0]))
	}
	if d.real(counts) {
		return d.classFault(names, fmt.Sprintf("there are %d different targets (%s) where two classes are needed; real values are for regression", len(names), abbreviate(names)))
	}
	a, b := names[len(names)-1], names[len(names)-2]
	return d.classFault(names, fmt.Sprintf("there are %d classes (%s) where two are needed; pick two by Pair(%q, %q) or one against all others by OneVsRest(%q)",
		len(names), abbreviate(names), a, b, a))
}

// Pair returns the points of two classes, with Y = +1 for positive and −1 for negative. If the
// data lack one of the classes, Check of the result returns a [*ClassError].
func (d *Dataset) Pair(positive, negative string) *Dataset {
	p, err := d.target(positive)
	if err != nil {
		return d.failed(err)
	}
	q, err := d.target(negative)
	if err != nil {
		return d.failed(err)
	}
	if p == q {
		return d.failed(d.classFault(classes(d.Counts()), fmt.Sprintf("Pair was given %s twice; two different classes are needed", positive)))
	}
	var keep []int
	for i, y := range d.Y {
		if y == p || y == q {
			keep = append(keep, i)
		}
	}
	return d.Select(keep).signed(p, negative, positive)
}

// OneVsRest returns all points with Y = +1 for the class positive and −1 for every other. If
// the data lack this class, Check of the result returns a [*ClassError].
func (d *Dataset) OneVsRest(positive string) *Dataset {
	p, err := d.target(positive)
	if err != nil {
		return d.failed(err)
	}
	return d.clone().signed(p, "rest", positive)
}

// signed sets the targets of d to ±1. The caller must own d.
func (d *Dataset) signed(positive float64, negativeName, positiveName string) *Dataset {
	for i, y := range d.Y {
		d.Y[i] = -1
		if y == positive {
			d.Y[i] = 1
		}
	}
	d.Name = fmt.Sprintf("%s %s/%s", d.Name, positiveName, negativeName)
	d.Classes = []string{negativeName, positiveName}
	return d
}

// target returns the target of a class, if the class occurs.
func (d *Dataset) target(class string) (float64, error) {
	if err := d.shape(); err != nil {
		return 0, err
	}
	counts := d.Counts()
	number, notNumber := strconv.ParseFloat(class, 64)
	for _, c := range counts {
		if c.Class == class || d.Classes == nil && notNumber == nil && c.Y == number {
			return c.Y, nil
		}
	}
	names := classes(counts)
	return 0, d.classFault(names, fmt.Sprintf("no point is of class %q; the classes are %s", class, abbreviate(names)))
}

func (d *Dataset) classFault(names []string, msg string) *ClassError {
	return &ClassError{Dataset: d.Name, Classes: names, Msg: msg}
}

// label sorts the labels to get the Classes, and sets the targets to the numbers of the
// classes.
func (d *Dataset) label(labels []string) {
	d.Classes = slices.Compact(slices.Sorted(slices.Values(labels)))
	for i, label := range labels {
		k, _ := slices.BinarySearch(d.Classes, label)
		d.Y[i] = float64(k)
	}
}

func classes(counts []Count) []string {
	names := make([]string, len(counts))
	for k, c := range counts {
		names[k] = c.Class
	}
	return names
}
