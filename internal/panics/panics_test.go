package panics

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

func TestCall(t *testing.T) {
	var list []int
	var table map[string]int
	var none *Error
	cause := errors.New("a cause")
	for name, c := range map[string]struct {
		f    func() error
		says string
		is   error
	}{
		"a value":   {func() error { panic(7) }, "my code panicked: 7 (panics_test.go:", nil},
		"an error":  {func() error { panic(cause) }, "my code panicked: a cause (panics_test.go:", cause},
		"wrapped":   {func() error { panic(fmt.Errorf("so: %w", cause)) }, "so: a cause", cause},
		"an index":  {func() error { _ = list[len(list)]; return nil }, "index out of range [0] with length 0 (panics_test.go:", nil},
		"a map":     {func() error { table["x"] = 1; return nil }, "assignment to entry in nil map (panics_test.go:", nil},
		"a pointer": {func() error { none.I = 1; return nil }, "nil pointer dereference (panics_test.go:", nil},
		"nil":       {func() error { panic(nil) }, "panic called with nil", nil},
		"one of us": {func() error { panic(&Error{What: "the kernel k()", I: 3, J: 17, Value: "no"}) }, "the kernel k() panicked at points 3 and 17 (counted from 0): no", nil},
		"half":      {func() error { panic(&Error{What: "the kernel k()", I: -1, J: 17, Value: "no"}) }, "at a new point and point 17", nil},
	} {
		err := Call(func() string { return "my code" }, c.f)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.says) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v; want %q", name, err, c.says)
		}
	}
	if err := Call(nil, func() error { return cause }); err != cause {
		t.Errorf("without a panic: %v", err)
	}
	if err := Call(func() string { panic("as well") }, func() error { panic(1) }); !strings.Contains(err.Error(), "not svmnb's panicked: 1") {
		t.Errorf("what cannot say its name: %v", err)
	}
	var runtimeError runtime.Error
	if err := Call(func() string { return "x" }, func() error { _ = list[5]; return nil }); !errors.As(err, &runtimeError) {
		t.Errorf("%v is no runtime.Error", err)
	}
}
