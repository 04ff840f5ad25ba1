package datasets

import (
	"io"
	"reflect"
	"testing"
)

// Every method of a nil or empty data set returns without a panic: a caller who overlooks the
// error of a reader has a nil data set. The first error says so.
func TestNoDataset(t *testing.T) {
	for name, d := range map[string]*Dataset{"nil": nil, "zero": {}} {
		v := reflect.ValueOf(d)
		for i := range v.NumMethod() {
			f, method := v.Method(i), v.Type().Method(i).Name
			var in []reflect.Value
			for k := range f.Type().NumIn() {
				kind := f.Type().In(k)
				if f.Type().IsVariadic() && k == f.Type().NumIn()-1 {
					break
				}
				if kind == reflect.TypeFor[io.Writer]() {
					in = append(in, reflect.ValueOf(io.Discard))
				} else {
					in = append(in, reflect.Zero(kind))
				}
			}
			func() {
				defer func() {
					if p := recover(); p != nil {
						t.Errorf("%s.%s: %v", name, method, p)
					}
				}()
				for _, out := range f.Call(in) {
					if after, ok := out.Interface().(*Dataset); ok && after.Check() == nil {
						t.Errorf("%s.%s is a data set", name, method)
					}
				}
			}()
		}
		if err := d.Check(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for name, fit := range map[string]func(*Dataset) (*Scaler, error){"FitStandard": FitStandard, "FitMinMax": FitMinMax, "FitMaxAbs": FitMaxAbs} {
		for _, d := range []*Dataset{nil, {}} {
			if s, err := fit(d); err == nil {
				t.Errorf("%s: %v", name, s)
			}
		}
	}
}
