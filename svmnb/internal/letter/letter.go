// Package letter has what a program in a notebook and a program that computes elsewhere say to
// each other: one Request on standard input and Answers on standard output, as gobs.
package letter

import (
	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/internal/learn"
)

// Data is the name of the data in the text of a description.
const Data = "data"

// Request asks for the scores of some chains of a search, or for a fit.
type Request struct {
	Data    *datasets.Dataset
	Learner string // the text of the description, in which the data are called "data"

	// Of a search:
	Names   []string // of the parameters
	Folds   string
	Metrics []string
	Key     string // hash of all that the scores depend on; see selection.Worker
	Chains  []Chain
	Fit     bool    // a fit is asked for, and no search
	Tol     float64 // relative gap of the fit
	Blocks  int     // into which the data of a fit are divided
}

// Chain is a selection.Chain, which this package cannot import.
type Chain struct {
	Fold, Points int
	Values       [][]float64
}

// Answer is one of several things.
type Answer struct {
	What      string // progress of this
	Done, All int
	Lines     []byte // scores of one chain
	Fit       *Fit
	Err       string // the work has ended with this error
	Over      bool   // the work has ended
}

// Fit is a fit from blocks.
type Fit struct {
	Beta                            []float64  // one for each point of the data
	Costs                           [2]float64 // of errors, of the negative and of the positive class
	Primal, Dual, Gap, RelGap, Bias float64
	Rounds                          int
	Reached                         bool
}

// Text returns the text of a description, with its data under the name [Data].
func Text(l learn.Learner) string {
	data := *l.Data()
	data.Name = Data
	rows := make([]int, data.N())
	for i := range rows {
		rows[i] = i
	}
	return l.With(&data, rows).String()
}
