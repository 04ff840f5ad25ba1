package stream

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/parallel"
	"github.com/svmnb/svmnb/internal/simd"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	columns "github.com/svmnb/svmnb/svmnb/internal/points"
)

// points are the rows of a source as the solver sees them.
type points struct {
	source   datasets.Source
	of       columns.Map
	scaler   *datasets.Scaler // nil for points as they are
	positive float64          // the target of the positive class
	rows     int              // of a block
	report   *reporter        // nil for none

	z []float64 // memory for the columns of a block
}

// Columns implements streamed.Points.
func (p *points) Columns() int { return p.of.Columns() }

// Pass implements streamed.Points.
func (p *points) Pass(ctx context.Context, do func(z, y []float64) error) error {
	m := p.Columns()
	if p.z == nil {
		p.z = make([]float64, p.rows*m)
	}
	return p.blocks(ctx, func(b *datasets.Block) error {
		z := p.z[:len(b.X)*m]
		p.of.Values(z, b.X)
		return do(z, b.Y)
	})
}

// blocks calls do with all rows, scaled, and with their labels ±1 as targets. A goroutine reads
// the next block meanwhile.
func (p *points) blocks(ctx context.Context, do func(b *datasets.Block) error) (err error) {
	h := p.source.Head()
	in, err := p.source.Open(ctx)
	if err != nil {
		return err
	}
	type read struct {
		b   *datasets.Block
		err error
	}
	const blocks = 3
	empty, full := make(chan *datasets.Block, blocks), make(chan read, blocks)
	for range blocks {
		empty <- datasets.NewBlock(p.rows, h.D)
	}
	go func() {
		defer close(full)
		for b := range empty {
			err := in.Next(b)
			full <- read{b, err}
			if err != nil {
				return
			}
		}
	}()
	defer func() {
		close(empty)
		for range full { // until the goroutine has ended
		}
		if e := in.Close(); err == nil {
			err = e
		}
	}()
	p.report.begin()
	row := 0
	for r := range full {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if r.err == io.EOF {
			break
		}
		if r.err != nil {
			return r.err
		}
		p.prepare(r.b)
		if err := do(r.b); err != nil {
			return err
		}
		row += len(r.b.X)
		p.report.at(row)
		empty <- r.b
	}
	if row != h.N {
		return arguments.Wrong("Fit", float64(row), "the source gave %d rows and says that it has %d", row, h.N)
	}
	return nil
}

// prepare scales the rows of a block and replaces the targets by labels.
func (p *points) prepare(b *datasets.Block) {
	for i, y := range b.Y {
		b.Y[i] = -1
		if y == p.positive {
			b.Y[i] = 1
		}
	}
	if p.scaler == nil {
		return
	}
	for _, row := range b.X {
		scale(p.scaler, row)
	}
}

func scale(s *datasets.Scaler, row []float64) {
	for j, v := range row {
		if row[j] = 0; s.Width[j] != 0 {
			row[j] = (v - s.Centre[j]) / s.Width[j]
		}
	}
}

// reporter tells how far the passes are.
type reporter struct {
	Progress
	began, pass, next time.Time
	shows             []func(Progress)
}

func newReporter(n int, shows ...func(Progress)) *reporter {
	r := &reporter{Progress: Progress{N: n, RelGap: math.NaN()}, began: time.Now()}
	for _, s := range shows {
		if s != nil {
			r.shows = append(r.shows, s)
		}
	}
	return r
}

func (r *reporter) begin() {
	if r == nil {
		return
	}
	r.Pass++
	r.pass, r.next = time.Now(), time.Now().Add(250*time.Millisecond)
}

func (r *reporter) at(row int) {
	if r == nil || len(r.shows) == 0 {
		return
	}
	now := time.Now()
	if now.Before(r.next) && row < r.N {
		return
	}
	r.next = now.Add(250 * time.Millisecond)
	r.Row, r.Elapsed = row, now.Sub(r.began)
	r.Left = time.Duration(float64(now.Sub(r.pass)) * float64(r.N-row) / float64(max(1, row)))
	for _, show := range r.shows {
		show(r.Progress)
	}
}

// lines turns the progress into lines of a notebook's cell.
func lines(show func(line string, last bool)) func(Progress) {
	if show == nil {
		return nil
	}
	return func(p Progress) { show(fmt.Sprint(p), false) }
}

// dots sets values[i] to β·z_i + b.
func dots(values, z, beta []float64, b float64) {
	m := len(beta)
	const some = 64
	parallel.Do((len(values)+some-1)/some, len(values)*m, func(task int) {
		for i := task * some; i < min((task+1)*some, len(values)); i++ {
			values[i] = simd.Dot(z[i*m:(i+1)*m], beta) + b
		}
	})
}
