package play

import (
	"fmt"
	"math"

	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/learn"
)

// ReplayStep is one step of SMO on two points: their box, the line of the equality
// constraint, the contours of the dual objective, the maximum on the line and where
// the box has cut it off (CST Theorem 7.12), and the four cases that bound it.
//
// The iteration, from 1, and the one before it must be in the trace: the first
// hundred are, and Sample(1) keeps all.
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

// CoordinateAscent is the picture of coordinate ascent on W(α) = p'α − ½ α'Qα with two
// variables: its contours, and the path from start, each step to the top of the line
// parallel to an axis. Q is symmetric and positive definite; a sweep of both variables
// leaves Q₁₂²/(Q₁₁Q₂₂) of the way. The figure of Ng's notes starts at (2, −2):
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

// ascentSteps is the most steps that CoordinateAscent draws.
const ascentSteps = 200
