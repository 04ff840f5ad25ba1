package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/vec"
)

// digits is the factor by which data are rounded to four decimals: enough to look like
// measurements, and fast to read.
const digits = 1e4

func round(v float64) float64 { return math.Round(v*digits) / digits }

func rounded(d *datasets.Dataset) *datasets.Dataset {
	for i, row := range d.X {
		for j := range row {
			row[j] = round(row[j])
		}
		d.Y[i] = round(d.Y[i])
	}
	return d
}

func points(n, d int) [][]float64 {
	all, x := make([]float64, n*d), make([][]float64, n)
	for i := range x {
		x[i] = all[i*d : (i+1)*d : (i+1)*d]
	}
	return x
}

// clouds has two classes of four overlapping normal clouds each. The centres of the clouds
// have a root mean square distance of 3 standard deviations for any d. About a third of the
// points become support vectors.
func clouds(n, d int, seed uint64) *datasets.Dataset {
	rng := rand.New(rand.NewPCG(seed, 1))
	centre := points(8, d)
	for _, c := range centre {
		for j := range c {
			c[j] = 3 / math.Sqrt(2*float64(d)) * rng.NormFloat64()
		}
	}
	x, y := points(n, d), make([]float64, n)
	for i := range x {
		k := rng.IntN(8)
		for j := range x[i] {
			x[i][j] = round(centre[k][j] + rng.NormFloat64())
		}
		y[i] = float64(2*(k%2) - 1)
	}
	return datasets.New(x, y)
}

// plane has normal points on both sides of a plane, with noise that puts one in six points on
// the wrong side.
func plane(n, d int, seed uint64) *datasets.Dataset {
	rng := rand.New(rand.NewPCG(seed, 2))
	w := make([]float64, d)
	for j := range w {
		w[j] = rng.NormFloat64() / math.Sqrt(float64(d))
	}
	x, y := points(n, d), make([]float64, n)
	for i := range x {
		f := 0.6 * rng.NormFloat64()
		for j := range x[i] {
			x[i][j] = round(rng.NormFloat64())
			f += w[j] * x[i][j]
		}
		y[i] = math.Copysign(1, f)
	}
	return datasets.New(x, y)
}

// waves has values of a smooth function on the unit cube, with noise of variance 0.01.
func waves(n, d int, seed uint64) *datasets.Dataset {
	rng := rand.New(rand.NewPCG(seed, 3))
	x, y := points(n, d), make([]float64, n)
	for i := range x {
		f := 0.1 * rng.NormFloat64()
		for j := range x[i] {
			x[i][j] = round(3 * rng.Float64())
			f += math.Sin(x[i][j]+float64(j)) / math.Sqrt(float64(d))
		}
		y[i] = round(f)
	}
	return datasets.New(x, y)
}

// pen has characters drawn by a pen on 28 × 28 pixels, with values 0 … 1 in steps of 1/255; a
// fifth of the pixels are not 0. There are ten characters of four strokes, each in three
// handwritings, drawn with a shaking hand near the middle. Five characters are the class +1.
func pen(n int, seed uint64) *datasets.Dataset {
	const side, characters, hands, corners = 28, 10, 3, 5
	shape := rand.New(rand.NewPCG(4, 4)) // the seed is fixed, so the characters are always the same
	var skeleton [characters][hands][corners][2]float64
	for c := range skeleton {
		var middle [corners][2]float64
		for p := range middle {
			middle[p] = [2]float64{6 + 16*shape.Float64(), 6 + 16*shape.Float64()}
		}
		for h := range skeleton[c] {
			for p := range middle {
				for a := range 2 {
					skeleton[c][h][p][a] = middle[p][a] + 2*shape.NormFloat64()
				}
			}
		}
	}
	rng := rand.New(rand.NewPCG(seed, 5))
	x, y := points(n, side*side), make([]float64, n)
	for i := range x {
		c := rng.IntN(characters)
		y[i] = float64(2*(c%2) - 1)
		at := skeleton[c][rng.IntN(hands)]
		right, down, width := rng.NormFloat64(), rng.NormFloat64(), 1.6+0.3*rng.NormFloat64()
		for p := range at {
			at[p][0] += right + 1.2*rng.NormFloat64()
			at[p][1] += down + 1.2*rng.NormFloat64()
		}
		for row := range side {
			for column := range side {
				away := math.Inf(1)
				for p := range corners - 1 {
					away = min(away, distance(float64(column), float64(row), at[p], at[p+1]))
				}
				x[i][row*side+column] = math.Round(255*min(1, max(0, width+0.5-away))) / 255
			}
		}
	}
	return rounded(datasets.New(x, y))
}

// distance returns the distance of the point (x, y) from the segment ab.
func distance(x, y float64, a, b [2]float64) float64 {
	dx, dy := b[0]-a[0], b[1]-a[1]
	t := 0.0
	if length := dx*dx + dy*dy; length > 0 {
		t = min(1, max(0, ((x-a[0])*dx+(y-a[1])*dy)/length))
	}
	return math.Hypot(x-a[0]-t*dx, y-a[1]-t*dy)
}

// errAbsent says that real data are not there. The race goes on without them.
var errAbsent = errors.New("NOT RUN")

// from returns a function that reads the first n points of a file, or all if n is 0. The file
// is called name and lies in the folder SVMNB_DATA. It may be compressed as name.xz if the
// program xz is installed.
func from(name string, n int) func() (*datasets.Dataset, error) {
	return func() (*datasets.Dataset, error) {
		folder := os.Getenv("SVMNB_DATA")
		if folder == "" {
			return nil, fmt.Errorf("%w: SVMNB_DATA names no folder with %s", errAbsent, name)
		}
		path := filepath.Join(folder, name)
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			if text, err = exec.Command("xz", "-dc", path+".xz").Output(); err != nil {
				return nil, fmt.Errorf("%w: %s, with or without .xz, cannot be read: %v", errAbsent, path, err)
			}
		}
		if err != nil {
			return nil, err
		}
		d, err := datasets.ReadLIBSVM(bytes.NewReader(text), 0)
		if err != nil || n == 0 {
			return d, err
		}
		d = d.Select(vec.Indices[int](min(n, d.N())))
		return d, d.Check()
	}
}

func save(path string, d *datasets.Dataset) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return d.WriteLIBSVM(f)
}
