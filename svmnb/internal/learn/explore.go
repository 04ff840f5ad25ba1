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

// Explorable is a description that can be explored.
type Explorable interface {
	Learner
	// Stated checks the description and says what it leaves unsaid.
	Stated() (Explorable, error)
	Usual() kernels.Kernel // the kernel
	WithKernel(k kernels.Kernel) Explorable
	Family() []kernels.Kernel // of others that it might use
	Dials() []Dial            // but those of the kernel
	Ways() []Way              // its solver, and others
}

// Way is another solver.
type Way struct {
	Name string
	Take func(Explorable) Explorable
}

// Seen is what can be drawn of a fit that is explored.
type Seen interface {
	Fit
	Look() (*figure.Chart, error)
	// Panel is one of small multiples, put into d, whose data it fills in; false where
	// the features are too many for one.
	Panel(ctx context.Context, d *figure.MultiplesData) (figure.Panel, bool, error)
	Fared() string // how the solver did
}

// Dial is a parameter and the values that it may take.
type Dial struct {
	Name   string
	Values []float64
	At     int // where it stands
}

// Decade is how many steps of a Dial are a factor of ten.
const Decade = 10

// LogDial spans three powers of ten on both sides of v.
func LogDial(name string, v float64) Dial {
	d := Dial{Name: name, At: 3 * Decade}
	for k := -d.At; k <= d.At; k++ {
		d.Values = append(d.Values, Digits(v*math.Pow(10, float64(k)/Decade), 3))
	}
	d.Values[d.At] = v
	return d
}

// EvenDial has values as far apart from each other, with v among them.
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

// Digits keeps so many significant Digits.
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

// PanelNodes is how fine the field of a small panel is, PanelPlaces its curve.
const (
	PanelNodes  = 1200
	PanelPlaces = 120
)

// Places puts those of curves over the only feature into d, and returns them as rows.
func Places(d *figure.MultiplesData, x [][]float64) (rows [][]float64) {
	at := figure.Around(x, 0)
	d.X, d.Places = x, nil
	for k := range PanelPlaces {
		v := at[0] + (at[1]-at[0])*float64(k)/(PanelPlaces-1)
		d.Places, rows = append(d.Places, v), append(rows, []float64{v})
	}
	return rows
}

// Replayed is a fit whose run can be replayed.
type Replayed interface {
	Replay() (figure.ReplayData, error)
}

// Stepped is a fit of whose steps there is a picture.
type Stepped interface {
	Step(iteration int) (figure.StepData, error)
}

// Racer is a description that several methods can solve in turn.
type Racer interface {
	Race() (Race, error)
}

// Race is one prepared problem.
type Race interface {
	Description() any // a svmnb.Classifier, all defaults filled in
	Words() string    // for a subtitle
	Stop() solvers.Criterion
	// Compete solves the problem by the method, at most for so long; 0 is no limit.
	Compete(ctx context.Context, m solvers.Method, limit time.Duration) (fit any, err error)
}
