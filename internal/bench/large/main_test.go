package main

import (
	"bytes"
	"strings"
	"testing"
)

// Each n has a line with a converged fit, and the last line has the exponents.
func TestRuns(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-n", "700,1400", "-d", "4", "-noise", "0.1"}, &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 5 || strings.Count(out.String(), "converged") != 2 || !strings.HasPrefix(lines[4], "EXPONENT") {
		t.Errorf("%s", out.String())
	}
	out.Reset()
	if err := run(t.Context(), []string{"-n", "700", "-d", "4", "-noise", "0.1", "-landmarks", "50"}, &out); err != nil || strings.Count(out.String(), "converged") != 1 {
		t.Errorf("from landmarks: %v\n%s", err, out.String())
	}
	for _, wrong := range []string{"", "8", "many"} {
		if err := run(t.Context(), []string{"-n", wrong}, &out); err == nil {
			t.Errorf("-n %q is no error", wrong)
		}
	}
}
