package learn

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
)

// Explorable is a description whose parameters a reader can change with sliders
// (play.Explore).
type Explorable interface {
	Learner
	// Stated checks the description and returns it with the kernel and the other defaults
	// filled in.
	Stated() (Explorable, error)
	Usual() kernels.Kernel // the kernel that is set
	WithKernel(k kernels.Kernel) Explorable
	Family() []kernels.Kernel // the kernels to choose from
	Dials() []Dial            // the parameters, but for those of the kernel
	Ways() []Way              // the solvers to choose from, the one that is set first
}

// Figured is an Explorable that a living figure may show.
type Figured interface {
	// Figured returns what the engine of living figures needs besides the kernel and the data.
	// If the engine has no such machine, why says so, as the end of a sentence after "because".
	Figured() (f Figure, why string)
}

// Figure is a machine of the engine of living figures.
type Figure struct {
	Task       string  // classify, twonorm, nu, hard, oneclass, regress, squared, nuregress or process
	Scheme     string  // of several classes: pairs, rest or joint; otherwise ""
	C, Epsilon float64 // C or, where there is none, ν or the variance of the noise; ε or, for nuregress, ν
	Stop       string  // kkt or gap; "" for m − M
	Tol        float64 // 0 means the default

	Fixed      bool // the bias is fixed at Bias
	Bias, Tau2 float64

	Weights      []float64          // of the points, or the variances of their noise; nil means that all are alike
	ClassWeights map[string]float64 // of the classes that have one
	Balanced     bool

	ZeroMean, Scaled bool // of a process

	Method any // the solver that was chosen; nil if none was
}

// Way is a solver that a reader can choose: Take sets it in a description.
type Way struct {
	Name string
	Take func(Explorable) Explorable
}

// Seen is a fit as play.Explore draws it.
type Seen interface {
	Fit
	Look() (*figure.Chart, error)
	// Panel returns the fit as one panel of small multiples and fills in the data that
	// panels share, d. It returns false when the points have too many features for a panel.
	Panel(ctx context.Context, d *figure.MultiplesData) (figure.Panel, bool, error)
	Fared() string // iterations and time of the solver, in words
}

// Dial is a parameter and the values that it may take, in increasing order.
type Dial struct {
	Name   string
	Values []float64
	At     int // index of the value that is set
}

// Decade is the number of steps of a LogDial in which its value grows tenfold.
const Decade = 10

// LogDial returns a Dial from v/1000 to 1000v, with v in the middle.
func LogDial(name string, v float64) Dial {
	d := Dial{Name: name, At: 3 * Decade}
	for k := -d.At; k <= d.At; k++ {
		d.Values = append(d.Values, Digits(v*math.Pow(10, float64(k)/Decade), 3))
	}
	d.Values[d.At] = v
	return d
}

// EvenDial returns a Dial from from to to in equal steps, and inserts v.
func EvenDial(name string, v, from, to, step float64) Dial {
	d := Dial{Name: name}
	for k := 0; from+float64(k)*step <= to*(1+1e-9); k++ {
		d.Values = append(d.Values, Digits(from+float64(k)*step, 3))
	}
	at, found := slices.BinarySearch(d.Values, v)
	if !found {
		d.Values = slices.Insert(d.Values, at, v)
	}
	d.At = at
	return d
}

// Digits rounds v to n significant digits.
func Digits(v float64, n int) float64 {
	if v == 0 {
		return 0
	}
	scale := math.Pow(10, float64(n-1)-math.Floor(math.Log10(math.Abs(v))))
	if r := math.Round(v*scale) / scale; r-r == 0 {
		return r
	}
	return v
}

// PanelNodes is the number of nodes of the grid in a small panel over two features.
// PanelPlaces is the number of points of a curve over one feature.
const (
	PanelNodes  = 1200
	PanelPlaces = 120
)

// Places chooses the places on the only feature where curves are evaluated. It stores them
// and the points x in d, and returns the places as rows.
func Places(d *figure.MultiplesData, x [][]float64) (rows [][]float64) {
	at := figure.Around(x, 0)
	d.X, d.Places = x, nil
	for k := range PanelPlaces {
		v := at[0] + (at[1]-at[0])*float64(k)/(PanelPlaces-1)
		d.Places, rows = append(d.Places, v), append(rows, []float64{v})
	}
	return rows
}

// Replayed is a fit whose run can be played back.
type Replayed interface {
	Replay() (figure.ReplayData, error)
}

// Stepped is a fit of which single steps can be drawn.
type Stepped interface {
	Step(iteration int) (figure.StepData, error)
}

// Racer is a description that several methods can solve for comparison.
type Racer interface {
	Race() (Race, error)
}

// Race is one prepared problem that every method of a race solves.
type Race interface {
	Description() any // what the user wrote, with all defaults filled in, such as a svmnb.Classifier
	Words() string    // the description, for a subtitle
	Stop() solvers.Criterion
	// Compete solves the problem by method m. It ends after the time limit; 0 means no
	// limit.
	Compete(ctx context.Context, m solvers.Method, limit time.Duration) (fit any, err error)
}
