package figure

import (
	"fmt"
	"math"

	"github.com/svmnb/svmnb/svmnb/internal/contour"
)

// box is where the paths of a field lie, for svm.areas and svm.lines.
func box(xs, ys [2]float64) object { return object{"x": xs, "y": ys, "n": contour.Fineness} }

// aspect is height over width of a panel: equal scales on both axes where the ranges
// allow, so that distances in the picture are those that a radial kernel sees.
func aspect(xs, ys [2]float64, otherwise float64) float64 {
	a := (ys[1] - ys[0]) / (xs[1] - xs[0])
	if !(a >= 1.0/3 && a <= 3) {
		a = otherwise
	}
	return round4(a)
}

// bandStep is the width of the field's bands in units of f: the lines f = 0 and
// f = ±1 are edges of bands.
const bandStep = 0.25

// field returns the bands of a decision function as nested sets, each covering the ones
// before, up to ±limit, beyond which the colour stays, and the lines f = 0 and
// f = ±1.
func field(z [][]float64) (limit float64, levels list, zero, one [][]int) {
	low, high := extent(z...)
	limit = min(max(1, math.Ceil(2*max(-low, high))/2), 2)
	bands := int(limit / bandStep) // on each side of f = 0
	for k := -bands; k < bands; k++ {
		t, next := float64(k)*bandStep, float64(k+1)*bandStep
		if low > next && k+1 < bands {
			continue // the next band covers all of this one
		}
		if len(levels) == 0 {
			t = math.Inf(-1) // the first one drawn is the ground for the others
		}
		if t >= high {
			break
		}
		mid, token := (float64(k)+0.5)/float64(bands), "@pos"
		if mid < 0 {
			token, mid = "@neg", -mid
		}
		levels = append(levels, object{
			"color": fmt.Sprintf("%s*%.3f", token, bandColour(mid)),
			"paths": contour.At(z, t).Areas(),
		})
	}
	line := func(t float64) [][]int { return contour.At(z, t).Lines() }
	return limit, levels, line(0), append(line(-1), line(1)...)
}

// faintest is how much of its class's colour a band about f = 0 has, and stronger how
// much more one at the limit has.
const faintest, stronger = 0.04, 0.56

// bandColour is how much of its class's colour a band has whose middle is at
// this share of the limit.
func bandColour(share float64) float64 { return faintest + stronger*share }
