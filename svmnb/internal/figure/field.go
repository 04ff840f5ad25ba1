package figure

import (
	"fmt"
	"math"

	"github.com/svmnb/svmnb/svmnb/internal/contour"
)

// box describes to svm.areas and svm.lines where the paths of a field lie.
func box(xs, ys [2]float64) object { return object{"x": xs, "y": ys, "n": contour.Fineness} }

// aspect returns height over width of a panel, so that both axes have the same scale.
// Distances in the picture are then those of a radial kernel. If the panel would be too
// narrow or too low, aspect returns its argument otherwise.
func aspect(xs, ys [2]float64, otherwise float64) float64 {
	a := (ys[1] - ys[0]) / (xs[1] - xs[0])
	if !(a >= 1.0/3 && a <= 3) {
		a = otherwise
	}
	return round4(a)
}

// bandStep is the width of the bands of the field, in units of f. The lines f = 0 and f =
// ±1 are at edges of bands.
const bandStep = 0.25

// field returns what to draw of a decision function: the coloured bands up to f = ±limit
// and the lines f = 0 and f = ±1. Each band is the set {f ≥ t}, which covers the bands
// drawn before.
func field(z [][]float64) (limit float64, levels list, zero, one [][]int) {
	low, high := extent(z...)
	limit = min(max(1, math.Ceil(2*max(-low, high))/2), 2)
	bands := int(limit / bandStep) // for each sign of f
	for k := -bands; k < bands; k++ {
		t, next := float64(k)*bandStep, float64(k+1)*bandStep
		if low > next && k+1 < bands {
			continue // the next band covers this one completely
		}
		if len(levels) == 0 {
			t = math.Inf(-1) // the first band is the background of all others
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

// faintest is the share of its class's colour in a band next to f = 0; at the limit the
// share is faintest + stronger.
const faintest, stronger = 0.04, 0.56

// bandColour returns the share of its class's colour in a band. share is the middle of the
// band divided by the limit.
func bandColour(share float64) float64 { return faintest + stronger*share }
