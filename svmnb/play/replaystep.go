package play

import (
	"fmt"
	"math"

	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/learn"
)

// ReplayStep returns a picture of one step of SMO on two points: their box, the line of the
// equality constraint, the contours of the dual objective, its maximum on the line, and
// where the box clips the step (Cristianini and Shawe-Taylor 2000, Theorem 7.12). Beside it
// are the four cases of box and line.
//
// Iterations are counted from 1. The iteration and the one before it must be in the trace.
// The first hundred are; Sample(1) keeps all.
func ReplayStep(fit *svmnb.Fit, iteration int) display.Drawing {
	return display.NewDrawing("ReplayStep", func() (*display.Chart, error) {
		if fit == nil {
			return nil, fmt.Errorf("the fit is nil")
		}
		d, err := fit.Learnt().(learn.Stepped).Step(iteration)
		if err != nil {
			return nil, err
		}
		return figure.Step(d)
	})
}

// CoordinateAscent returns a picture of coordinate ascent on W(α) = p'α − ½ α'Qα with two
// variables: the contours of W and the path from start, each step parallel to an axis and
// to the maximum along it. Q must be symmetric and positive definite. After the
// first sweep over both variables, each further sweep multiplies the distance from the
// maximum by Q₁₂²/(Q₁₁Q₂₂). The figure in Ng's CS229 notes starts at (2, −2):
//
//	play.CoordinateAscent([2][2]float64{{1, -0.6}, {-0.6, 1}}, [2]float64{}, [2]float64{2, -2}).Show()
func CoordinateAscent(q [2][2]float64, p, start [2]float64) display.Drawing {
	return display.NewDrawing("CoordinateAscent", func() (*display.Chart, error) {
		d := figure.AscentData{Q: q, Gradient: p, Path: [][2]float64{start}}
		at := start
		for step := range ascentSteps {
			i := step % 2
			next := (p[i] - q[i][1-i]*at[1-i]) / q[i][i]
			moved := math.Abs(next - at[i])
			at[i] = next
			d.Path = append(d.Path, at)
			if step > 0 && !(moved > 1e-3*math.Hypot(start[0]-at[0], start[1]-at[1])) {
				break
			}
		}
		return figure.Ascent(d)
	})
}

// ascentSteps is the largest number of steps that CoordinateAscent draws.
const ascentSteps = 200
