package say

import (
	"fmt"
	"reflect"
	"strings"
)

// Literal writes a struct as a Go literal, without fields that are zero.
func Literal(v any) string {
	r := reflect.ValueOf(v)
	if r.Kind() != reflect.Struct {
		return fmt.Sprintf("%T(%v)", v, v)
	}
	var fields []string
	for i := range r.NumField() {
		if f := r.Field(i); !f.IsZero() {
			fields = append(fields, fmt.Sprintf("%s: %v", r.Type().Field(i).Name, f))
		}
	}
	return fmt.Sprintf("%T{%s}", v, strings.Join(fields, ", "))
}
