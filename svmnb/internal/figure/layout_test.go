package figure

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/svmnb/static"
)

// lettering returns the texts of a chart that is drawn so wide, line by line.
func lettering(t *testing.T, c *Chart, width int) (lines []string) {
	t.Helper()
	svg := must[[]byte](t)(static.SVG(c, static.Options{Width: width}))
	for _, m := range element.FindAllStringSubmatch(string(svg), -1) {
		if m[1] == "text" {
			lines = append(lines, strings.TrimSpace(m[3]))
		}
	}
	return lines
}

// Ticks that a figure or its layout has chosen are not replaced by multiples of an interval,
// which on the axes of a race are no round numbers.
func TestChosenTicksStay(t *testing.T) {
	lines := lettering(t, must[*Chart](t)(Race(racers(3))), 900)
	ticks := 0
	for _, l := range lines {
		if regexp.MustCompile(`^[\d.]+([kM]| [µm]?s)?$`).MatchString(l) {
			ticks++
			if !regexp.MustCompile(`^[125]0*([kM]| [µm]?s)?$`).MatchString(l) && !regexp.MustCompile(`^0\.0*[125]$`).MatchString(l) {
				t.Errorf("a tick of the race is %q", l)
			}
		}
	}
	if ticks < 6 {
		t.Errorf("the race has %d ticks: %q", ticks, lines)
	}
}

// No width leaves a sign, a number or a dot alone in a line.
func TestLinesOfSubtitles(t *testing.T) {
	c := New("24 of 27 test points lie within ± 2 sd of their prediction",
		"moons, until m − M ≤ 0.001 · smallest gap so far of 3 runs · 106 observations, noise σ² = 484, log marginal likelihood −491.7 · probability of class +1", object{})
	for width := 280; width <= 700; width += 70 {
		for _, l := range lettering(t, c, width) {
			if len(strings.Fields(l)) < 2 || strings.HasPrefix(l, "·") || strings.HasPrefix(l, "sd") || strings.HasSuffix(l, "=") {
				t.Errorf("at %d px a line is %q", width, l)
			}
		}
	}
}

// The setting of a row that is longer than the row is high has two lines.
func TestLongSettings(t *testing.T) {
	d := manyFields(t, 40)
	d.Rows = []string{"NoiseVariance = 0.25", "NoiseVariance = 1", "NoiseVariance = 484"}
	c := must[*Chart](t)(Multiples(d))
	if lines := lettering(t, c, 400); !slices.Contains(lines, "= 484") || !slices.Contains(lines, "gamma = 4") {
		t.Errorf("at 400 px the texts are %q", lines)
	}
	if lines := lettering(t, c, 900); !slices.Contains(lines, "NoiseVariance = 484") {
		t.Errorf("at 900 px the texts are %q", lines)
	}
}

func TestShareOf(t *testing.T) {
	for _, test := range []struct {
		n, all int
		want   string
	}{{0, 3, "0.0 %"}, {1, 3, "33.3 %"}, {27, 150, "18.0 %"}, {1, 9999, "< 0.1 %"}, {9998, 9999, "99.9 %"}, {9, 9, "100.0 %"}} {
		if got := shareOf(test.n, test.all); got != test.want {
			t.Errorf("shareOf(%d, %d) = %q, want %q", test.n, test.all, got, test.want)
		}
	}
}

// Values that were powers of two are ticks as powers.
func TestTicksOfPowers(t *testing.T) {
	c := must[*Chart](t)(Validation(validation()))
	if lines := lettering(t, c, 400); !slices.Contains(lines, "2⁻⁸") || !slices.Contains(lines, "2⁸") {
		t.Errorf("the texts are %q", lines)
	}
}
