package svmnb

import (
	"math"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
)

// Summaries say why the gap is not known after an interrupt that left F out of date.
func TestUnknownGap(t *testing.T) {
	two, err := Classify(datasets.Iris().Pair("virginica", "versicolor")).Fit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	three, err := Classify(datasets.Iris()).OneVsOne().Fit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []interface{ Markdown() string }{two, three} {
		if s := f.Markdown(); strings.Contains(s, noTime) {
			t.Errorf("a certified fit says %q", s)
		}
	}
	nan := math.NaN()
	two.Certificate.Gap, two.Certificate.RelGap = nan, nan
	one := three.Machines()[1]
	one.Certificate.Gap, one.Certificate.RelGap = nan, nan
	for _, f := range []interface{ Markdown() string }{two, three} {
		if s := f.Markdown(); !strings.Contains(s, noTime) || strings.Contains(s, "within NaN") {
			t.Errorf("a fit whose gap is not known says %q", s)
		}
	}
	if c := three.Certificate(); !math.IsNaN(c.Gap) || !math.IsNaN(c.WorstRelGap) {
		t.Errorf("%+v", c)
	}
}
