// Package tune sets a parameter of a kernel by its name.
package tune

import (
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/svmnb/svmnb/kernels"
)

// Kernel returns the kernel k with another value of a parameter. The name is a field of its
// struct (Gamma), or a hyperparameter, by a name that [kernels.Lookup] takes. If k is
// nil, gamma makes an RBF kernel.
func Kernel(k kernels.Kernel, name string, v float64) (kernels.Kernel, bool) {
	if k == nil {
		return kernels.RBF(v), strings.EqualFold(name, "gamma")
	}
	own := reflect.New(reflect.TypeOf(k)).Elem()
	own.Set(reflect.ValueOf(k))
	if own.Kind() == reflect.Struct {
		for i := range own.NumField() {
			if !own.Type().Field(i).IsExported() || !strings.EqualFold(own.Type().Field(i).Name, name) {
				continue
			}
			switch f := own.Field(i); f.Kind() {
			case reflect.Float64:
				f.SetFloat(v)
				return own.Interface().(kernels.Kernel), true
			case reflect.Int:
				if v != math.Trunc(v) || math.Abs(v) > 1e9 {
					v = -1 // the kernel's Check rejects it
				}
				f.SetInt(int64(v))
				return own.Interface().(kernels.Kernel), true
			}
		}
	}
	at, err := kernels.Lookup(k, name)
	if err != nil {
		if named, ok := k.(kernels.NamedKernel); ok { // such as the degree of a polynomial
			inner, known := Kernel(named.K, name, v)
			return kernels.Named(named.Name, inner), known
		}
		return k, false
	}
	d := k.(kernels.Differentiable)
	var values []float64
	for _, h := range d.Hyperparameters() {
		values = append(values, h.Value)
	}
	values[at] = v
	if !(v > 0) || math.IsInf(v, 1) {
		values[at] = math.NaN() // the kernel's Check rejects it
	}
	return d.With(values), true
}

// Parameters lists the names that [Kernel] knows.
func Parameters(k kernels.Kernel) string {
	if k == nil {
		return "gamma"
	}
	var names []string
	list, _ := kernels.Hyperparameters(k)
	for _, h := range list {
		names = append(names, h.Name)
	}
	if t := reflect.TypeOf(k); t.Kind() == reflect.Struct {
		for i := range t.NumField() {
			f := t.Field(i)
			if f.IsExported() && (f.Type.Kind() == reflect.Float64 || f.Type.Kind() == reflect.Int) &&
				!slices.ContainsFunc(names, func(s string) bool { return strings.EqualFold(s, f.Name) }) {
				names = append(names, f.Name)
			}
		}
	}
	if names == nil {
		return "none of " + k.String()
	}
	return strings.Join(names, ", ")
}
