package svmnb

import (
	"errors"
	"fmt"
	"slices"

	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// KernelMatrix shows the kernel matrix of the training points of a [*Fit] or a [*MultiFit],
// and its eigenvalues. The points are sorted by class, and within a class by decision
// value. The picture shows how well the kernel separates the classes before training, and
// how many dimensions of feature space the points use. Of more than a hundred points it
// shows a hundred, with the classes in proportion.
//
// KernelMatrix is a function, like [MarginsPCA], so that only cells that call it link
// linear algebra.
func KernelMatrix() display.Figure {
	return display.FigureOf("KernelMatrix", func(fit any) (*display.Chart, error) {
		var m matrixOf
		switch f := fit.(type) {
		case *Fit:
			t := f.task
			rows, values := f.glance()
			var class []int
			for _, y := range pick(t.y, rows) {
				class = append(class, machines.SideOf(y))
			}
			m = matrixOf{t.words() + glanced(rows, len(t.y)), t.kernel, points.Of(t.data), []string{t.negative, t.positive}, class, values}
			if rows != nil {
				m.x = m.x.Some(rows)
			}
		case *MultiFit:
			m = matrixOf{f.words(), f.task.base.kernel, points.Of(f.task.base.data), f.task.classes, f.task.class, make([]float64, len(f.task.class))}
		default:
			return nil, fmt.Errorf("Figure.Of: KernelMatrix is no picture of a %T", fit)
		}
		return m.draw()
	})
}

type matrixOf struct {
	words   string
	kernel  kernels.Kernel
	x       points.Points
	classes []string
	class   []int
	within  []float64 // values by which the points of a class are sorted
}

func (m matrixOf) draw() (*display.Chart, error) {
	order := make([]int, m.x.N())
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case m.class[a] != m.class[b]:
			return m.class[a] - m.class[b]
		case m.within[a] < m.within[b]:
			return -1
		case m.within[a] > m.within[b]:
			return 1
		}
		return 0
	})
	d := figure.MatrixData{Problem: m.words, Of: m.x.N()}
	for _, name := range m.classes {
		d.Classes = append(d.Classes, say.Class(name))
	}
	n := min(len(order), figure.MostMatrix)
	for k := range n {
		i := order[k*len(order)/n]
		d.Index, d.Class = append(d.Index, i), append(d.Class, m.class[i])
	}
	gram, err := m.x.Some(d.Index).Gram(m.kernel, 0)
	if err != nil {
		return nil, err
	}
	a := blas64.Symmetric{N: n, Stride: n, Uplo: blas.Upper}
	for i := range n {
		row := slices.Clone(gram.Row(i))
		d.K, a.Data = append(d.K, row), append(a.Data, row...)
	}
	d.Eigen = make([]float64, n)
	work := make([]float64, 1)
	lapack64.Syev(lapack.EVNone, a, d.Eigen, work, -1)
	work = make([]float64, int(work[0]))
	if !lapack64.Syev(lapack.EVNone, a, d.Eigen, work, len(work)) {
		return nil, errors.New("KernelMatrix: the eigenvalues did not converge; look at the values of the kernel")
	}
	slices.Reverse(d.Eigen)
	return figure.Matrix(d)
}
