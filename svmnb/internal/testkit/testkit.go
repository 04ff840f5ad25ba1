// Package testkit has data and checks that tests of several packages share.
package testkit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/echarts"
	"github.com/svmnb/svmnb/svmnb/internal/screen"
	"github.com/svmnb/svmnb/svmnb/transform"
)

// Moons returns 200 points of two classes.
func Moons() *datasets.Dataset { return datasets.Moons(200, 0.15, 42) }

// Seq returns 0, 1, …, n − 1.
func Seq(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// Thinned returns n points of k classes in d features of which about a third are not 0, as
// dense and as sparse points.
func Thinned(n, d, k int, seed uint64) (full, sparse *datasets.Dataset) {
	rng := rand.New(rand.NewPCG(seed, 1))
	x, y := make([][]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = make([]float64, d), float64(i%k)
		for j := range x[i] {
			if rng.Float64() < 0.3 || j%k == i%k && rng.Float64() < 0.3 {
				x[i][j] = 1 + 0.5*rng.NormFloat64()
			}
		}
	}
	full = datasets.New(x, y)
	var text bytes.Buffer
	if err := full.WriteLIBSVM(&text); err != nil {
		panic(err)
	}
	sparse, err := datasets.ReadLIBSVMSparse(&text, d)
	if err != nil {
		panic(err)
	}
	sparse.Name = full.Name
	return full, sparse
}

// NearRows reports whether a equals b within tol, relative to numbers larger than 1.
func NearRows(a, b [][]float64, tol float64) bool {
	return slices.EqualFunc(a, b, func(a, b []float64) bool {
		return slices.EqualFunc(a, b, func(v, want float64) bool { return math.Abs(v-want) <= tol*(1+math.Abs(want)) })
	})
}

// Third returns every third point.
func Third(d *datasets.Dataset) *datasets.Dataset {
	var rows []int
	for i := 0; i < d.N(); i += 3 {
		rows = append(rows, i)
	}
	return d.Select(rows)
}

// FitOf fits a description; an error ends the test.
func FitOf[F any](t interface {
	Helper()
	Fatalf(format string, args ...any)
}, of interface {
	Fit(ctx context.Context) (F, error)
}) F {
	t.Helper()
	fit, err := of.Fit(context.Background())
	if err != nil {
		t.Fatalf("%v: %v", of, err)
	}
	return fit
}

// Strongest is a user's own step. It keeps the k features with the largest correlation with
// the targets, the classic data leak if it is fitted to all points (Ambroise and McLachlan
// 2002).
type Strongest struct{ K int }

func (Strongest) String() string { return "strongest" }

func (s Strongest) Fit(train *datasets.Dataset) (transform.Transform, error) {
	columns := Seq(train.D())
	covariance := make([]float64, train.D())
	for j := range covariance {
		for i, row := range train.X {
			covariance[j] += row[j] * train.Y[i]
		}
	}
	slices.SortFunc(columns, func(a, b int) int {
		if math.Abs(covariance[a]) > math.Abs(covariance[b]) {
			return -1
		}
		return 1
	})
	return only(columns[:s.K]), nil
}

type only []int

func (c only) Apply(x [][]float64) ([][]float64, error) {
	out := make([][]float64, len(x))
	for i, row := range x {
		for _, j := range c {
			out[i] = append(out[i], row[j])
		}
	}
	return out, nil
}

// Flowers is every third point of two classes of iris, scaled, without a note of the
// scaling.
var Flowers = sync.OnceValue(func() *datasets.Dataset { return Unnoted(Third(datasets.Iris().Standardised())) })

// Unnoted returns scaled data without the note of the scaling, as a user has who scales
// with another program.
func Unnoted(d *datasets.Dataset) *datasets.Dataset {
	d.Scalings = nil
	return d
}

// OwnKernel is a user's kernel with the name of another.
type OwnKernel struct{ kernels.Kernel }

// Sealed returns a model file with this body, of the lowest version that can contain it.
func Sealed(body string) []byte {
	version := 1
	if strings.Contains(body, `"sparse"`) || strings.Contains(body, `"process"`) {
		version = 2
	}
	if strings.Contains(body, `"before"`) {
		version = 3
	}
	if strings.Contains(body, `"threshold"`) || strings.Contains(body, `"scale"`) {
		version = 5
	}
	return fmt.Appendf(nil, "svmnb model %d\n%x\n%s\n", version, sha256.Sum256([]byte(body)), body)
}

// Measured is every third point of wine, with features of different units and one that is
// constant.
var Measured = sync.OnceValue(func() *datasets.Dataset {
	d := Third(datasets.Wine())
	d.Features = nil
	for i, row := range d.X {
		d.X[i] = append(slices.Clone(row[:6]), 3)
		d.X[i][5] = 1000 + 50*row[5]
	}
	return d
})

// SmallModel is the third line of a small file of model.Save.
const SmallModel = `{"kind":"two classes","kernel":"RBF(1)","features":2,"classes":["a","b"],"targets":[0,1],"duels":[[1,0]],"vectors":[[1,2],[3,4]],"machines":[{"coef":[1,-1],"bias":0.5}],"curves":[{"a":-1,"b":0.1}]}`

// Near fails the test unless got is within tol of want, relative to want if it is larger
// than 1.
func Near(t testing.TB, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*math.Max(1, math.Abs(want))) {
		t.Errorf("%s = %.10g, want %.10g", what, got, want)
	}
}

// Without returns s without element i.
func Without[T any](s []T, i int) []T { return slices.Concat(s[:i], s[i+1:]) }

// IsArgument reports whether err is an error of an argument of this call.
func IsArgument(err error, call string) bool {
	var e *arguments.Error
	return errors.As(err, &e) && e.Call == call
}

// KeptFiles lists the files of kept fits.
func KeptFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(os.Getenv("SVMNB_CACHE"), "fits", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Shown makes a screen draw at every opportunity, and returns the charts that it has drawn.
func Shown(w *screen.Screen) *[]*display.Chart {
	var charts []*display.Chart
	w.Next = time.Time{}
	w.Send = func(c *display.Chart, last bool) error {
		charts = append(charts, c)
		_, err := echarts.DrawAs(w.Name, c)
		return err
	}
	return &charts
}

// Says fails the test unless the text contains all words.
func Says(t *testing.T, what, text string, words ...string) {
	t.Helper()
	text = strings.ReplaceAll(text, "\u00a0", " ")
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%s does not say %q:\n%s", what, w, text)
		}
	}
}
