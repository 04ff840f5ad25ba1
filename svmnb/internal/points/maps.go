package points

import (
	"math"

	"github.com/svmnb/svmnb/internal/parallel"
	"github.com/svmnb/svmnb/internal/simd"
	"github.com/svmnb/svmnb/kernels"
)

// Map makes m columns from the d features of points.
type Map interface {
	Columns() int
	// Values sets the m columns of each point: dst[i·m+j].
	Values(dst []float64, x [][]float64)
}

// Plain columns are the d features themselves.
type Plain int

func (p Plain) Columns() int { return int(p) }

func (p Plain) Values(dst []float64, x [][]float64) {
	for i, row := range x {
		copy(dst[i*int(p):], row)
	}
}

// Landmarks make kernel values with the points of a basis.
type Landmarks struct{ *kernels.Basis }

func (l Landmarks) Columns() int { return l.Len() }

// Waves make √w cos(ω·x) and √w sin(ω·x) for each frequency ω of weight w.
type Waves struct {
	Omega  [][]float64
	Weight []float64

	packed simd.Panels[float64]
}

func NewWaves(omega [][]float64, weight []float64) *Waves {
	w := &Waves{Omega: omega, Weight: weight}
	d := len(omega[0])
	flat := make([]float64, 0, d*len(omega))
	for _, o := range omega {
		flat = append(flat, o...)
	}
	w.packed.Pack(simd.Matrix[float64]{Data: flat, Rows: len(omega), Cols: d, Stride: d}.T(), 0)
	return w
}

func (w *Waves) Columns() int { return 2 * len(w.Omega) }

func (w *Waves) Values(dst []float64, x [][]float64) {
	if len(x) == 0 {
		return
	}
	half, d := len(w.Omega), len(x[0])
	flat := make([]float64, 0, len(x)*d)
	for _, row := range x {
		flat = append(flat, row...)
	}
	// The products go into the first half of each row of dst.
	simd.Gemm[float64]{}.Do(simd.Matrix[float64]{Data: dst, Rows: len(x), Cols: half, Stride: 2 * half}, simd.Matrix[float64]{Data: flat, Rows: len(x), Cols: d, Stride: d}, &w.packed)
	const some = 16
	parallel.Do((len(x)+some-1)/some, 16*len(x)*half, func(task int) {
		for i := task * some; i < min((task+1)*some, len(x)); i++ {
			row := dst[2*half*i : 2*half*(i+1)]
			for k, weight := range w.Weight {
				sin, cos := math.Sincos(row[k])
				root := math.Sqrt(weight)
				row[k], row[half+k] = root*cos, root*sin
			}
		}
	})
}
