package datasets

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// FromStructs makes a data set with one point for each struct of list. Exported fields that
// are numbers or bools (false is 0, true 1) are features, named by the field or its tag. The
// field whose tag contains target is the target. A target that is a string names a class;
// names become Classes in alphabetical order. A field tagged "-" is left out:
//
//	type Flower struct {
//		ID      string  `svmnb:"-"`
//		Petal   float64 `svmnb:"petal length"`
//		Width   float64
//		Species string  `svmnb:"species,target"`
//	}
//
// If something does not fit, such as a string field that is not the target, [Dataset.Check]
// returns the error.
func FromStructs[T any](list []T) *Dataset {
	d := &Dataset{Name: "data"}
	bad := func(msg string, args ...any) *Dataset { return d.failed(d.fault(-1, -1, fmt.Sprintf(msg, args...))) }
	t := reflect.TypeFor[T]()
	if t.Kind() != reflect.Struct {
		return bad("the points are of type %v; give structs", t)
	}
	d.Name = t.Name()
	if len(list) == 0 {
		return bad("there are no points")
	}
	target := -1
	var features []int
	for i := range t.NumField() {
		f := t.Field(i)
		name, option, _ := strings.Cut(f.Tag.Get("svmnb"), ",")
		if name == "-" || !f.IsExported() {
			continue
		}
		name = cmp.Or(name, f.Name)
		isTarget := option == "target"
		switch {
		case option != "" && !isTarget:
			return bad("field %s: the tag has %q after the comma; only target is known", f.Name, option)
		case isTarget && target >= 0:
			return bad("fields %s and %s are both targets; tag one", t.Field(target).Name, f.Name)
		case !numeric(f.Type.Kind()) && !(isTarget && f.Type.Kind() == reflect.String):
			return bad("field %s is of type %v, and features are numbers or bools; make it one, or tag it `svmnb:\"-\"`", f.Name, f.Type)
		case isTarget:
			target, d.Target = i, name
		default:
			features, d.Features = append(features, i), append(d.Features, name)
		}
	}
	switch {
	case target < 0:
		return bad("no field of %v is the target; tag one `svmnb:\",target\"`", t)
	case len(features) == 0:
		return bad("no field of %v is a feature; export one that is a number", t)
	}
	d.X, d.Y = rows(len(list), len(features)), make([]float64, len(list))
	var labels []string
	for i := range list {
		v := reflect.ValueOf(&list[i]).Elem()
		for j, f := range features {
			d.X[i][j] = float(v.Field(f))
		}
		if y := v.Field(target); y.Kind() == reflect.String {
			labels = append(labels, y.String())
		} else {
			d.Y[i] = float(y)
		}
	}
	if labels != nil {
		d.label(labels)
	}
	return d
}

func numeric(k reflect.Kind) bool {
	return k >= reflect.Bool && k <= reflect.Uint64 || k == reflect.Float32 || k == reflect.Float64
}

// float returns a number or bool as a float64.
func float(v reflect.Value) float64 {
	switch {
	case v.CanInt():
		return float64(v.Int())
	case v.CanUint():
		return float64(v.Uint())
	case v.CanFloat():
		return v.Float()
	case v.Bool():
		return 1
	}
	return 0
}

// Matrix is n points in rows of d features. Every matrix of gonum implements it.
type Matrix interface {
	Dims() (n, d int)
	At(i, j int) float64
}

// FromMatrix makes a data set of the n rows of x and their n targets y. It copies both. If
// lengths do not fit, [Dataset.Check] returns the error.
func FromMatrix(x Matrix, y []float64) *Dataset {
	d := &Dataset{Name: "data"}
	if x == nil {
		return d.failed(d.fault(-1, -1, "the matrix is nil"))
	}
	n, features := x.Dims()
	if n != len(y) {
		return d.failed(d.fault(-1, -1, fmt.Sprintf("the matrix has %s and there are %s; they must be equally many", plural(n, "row", "rows"), plural(len(y), "target", "targets"))))
	}
	d.X, d.Y = rows(n, features), slices.Clone(y)
	for i, row := range d.X {
		for j := range row {
			row[j] = x.At(i, j)
		}
	}
	return d
}
