package datasets

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Names come back from CSV as they were, or are refused: never are two classes made one.
func TestHostileNamesInCSV(t *testing.T) {
	refused := 0
	for _, name := range []string{
		"a,b", "a;b\tc", `say "x"`, `"`, `""`, "two\nlines", "lone \r return", "a\r\nb", " around ", "\ttab", "\u00a0wide\u00a0", "nul \x00", "\x1b[2J",
		"no UTF-8 \xff", "\ufeffmark", "=cmd|' /C calc'!A0", "# comment", "NA", "null", "?", "", "nan", "inf", "1e3", "0x10", "\u202eback", `\.`,
		"<script>", "${x}", strings.Repeat("long ", 20_000),
	} {
		d := New([][]float64{{1, 2}, {3, 4}, {5, 6}, {7, 8}}, []float64{0, 1, 0, 1})
		for where, change := range map[string]func(d *Dataset){
			"class":   func(d *Dataset) { d.Classes = []string{name, "other"} },
			"feature": func(d *Dataset) { d.Features = []string{name, "other"} },
			"target":  func(d *Dataset) { d.Target = name },
			"data":    func(d *Dataset) { d.Name = name },
		} {
			what := fmt.Sprintf("%s %.30q", where, name)
			e := *d
			e.Classes, e.Features, e.Target = []string{"one", "other"}, []string{"x", "y"}, "kind"
			change(&e)
			var b bytes.Buffer
			if err := e.WriteCSV(&b); err != nil {
				if refused++; !errors.As(err, new(*Error)) || b.Len() > 0 {
					t.Errorf("%s: %v", what, err)
				}
				continue
			}
			got, err := ReadCSV(&b, CSV{Header: HasHeader})
			if err != nil {
				t.Errorf("%s: it is not read back: %v", what, err)
				continue
			}
			for i, y := range e.Y {
				if a, b := e.ClassName(y), got.ClassName(got.Y[i]); a != b {
					t.Errorf("%s: row %d is of class %.30q, and was of %.30q", what, i, b, a)
				}
			}
			if !slices.Equal(got.Features, e.Features) || e.Target != "" && got.Target != e.Target {
				t.Errorf("%s: the columns are %.60q and %.60q", what, got.Features, got.Target)
			}
		}
	}
	for names, want := range map[[2]string]bool{{"1", "1.0"}: false, {"1", "2"}: true, {"1e0", "a"}: true} {
		d := New([][]float64{{1}, {2}}, []float64{0, 1})
		if d.Classes = names[:]; (d.WriteCSV(&bytes.Buffer{}) == nil) != want {
			t.Errorf("%q: %v", names, !want)
		}
	}
	if refused < 10 {
		t.Errorf("%d names are refused", refused)
	}
}
