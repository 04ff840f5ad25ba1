package svmnb

import (
	"fmt"

	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

var (
	// MarginWidth shows how the margin 1/‖w‖ shrank while α grew from 0, and how many
	// support vectors were free and how many at their bound.
	MarginWidth = display.FigureOf("MarginWidth", drawMarginWidth)

	// Effort shows, for each iteration, how many kernel values the run had computed and how
	// many it had used. The difference is what the cache saved.
	Effort = display.FigureOf("Effort", drawEffort)

	// Chunks shows how many points the method worked on in each iteration: the chunk of
	// Chunking, the working set of Decomposition, or the points that shrinking has not left out.
	Chunks = display.FigureOf("Chunks", drawChunks)

	// WorkingSets shows which points each iteration chose, the most often chosen first.
	WorkingSets = display.FigureOf("WorkingSets", drawWorkingSets)

	// Alphas shows how the multipliers other than 0 are distributed, free ones and those at
	// their bound, for each class, or above and below the tube of a regression.
	Alphas = display.FigureOf("Alphas", drawAlphas)
)

// unit says what an index of the problem counts. A regression has two multipliers for each
// point.
func (r record) unit() string {
	if len(r.Alpha) != r.points {
		return "multiplier"
	}
	return "point"
}

func drawMarginWidth(fit solved) (*display.Chart, error) {
	f := fit.record()
	return figure.Growth(figure.GrowthData{Problem: f.words, Points: f.Trace.Points})
}

func drawEffort(fit solved) (*display.Chart, error) {
	f := fit.record()
	return figure.Effort(figure.EffortData{Problem: f.words, N: f.points, Points: f.Trace.Points})
}

func drawChunks(fit solved) (*display.Chart, error) {
	f := fit.record()
	return figure.Chunks(figure.ChunksData{Problem: f.words, Unit: f.unit(), N: len(f.Alpha), Points: f.Trace.Points})
}

// sided is a fit whose multipliers belong to two sides: two classes, or above and below the
// tube.
type sided interface {
	solved
	// sides returns the names of the lower and the upper side, and for each multiplier
	// whether it belongs to the upper one.
	sides() (names [2]string, up []bool)
}

func (f *Fit) sides() (names [2]string, up []bool) {
	for _, y := range f.task.y {
		up = append(up, y > 0)
	}
	return [2]string{say.Class(f.task.negative), say.Class(f.task.positive)}, up
}

func (f *RegressionFit) sides() (names [2]string, up []bool) {
	up = make([]bool, len(f.Alpha))
	for j, s := range f.task.problem.S {
		up[j] = s > 0
	}
	return [2]string{"below the tube", "above the tube"}, up
}

func drawWorkingSets(fit sided) (*display.Chart, error) {
	f := fit.record()
	names, up := fit.sides()
	return figure.WorkingSets(figure.WorkingSetsData{Problem: f.words, Unit: f.unit(), Sides: names, Up: up, Points: f.Trace.Points})
}

func drawAlphas(fit sided) (*display.Chart, error) {
	f := fit.record()
	if f.problem == nil || len(f.Alpha) == 0 {
		return nil, fmt.Errorf("the %T has no multipliers for Alphas to draw", fit)
	}
	names, up := fit.sides()
	return figure.Alphas(figure.AlphasData{Problem: f.words, Sides: names, Up: up, Alpha: f.Alpha, Upper: f.problem.Upper})
}
