package datasets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Source is a data set that is read in blocks of rows, so it may be larger than the memory: a
// *[RowFile], a *[CSVFile], a *[LIBSVMFile], a Parquet file (package datasets/arrow), or a
// *[Dataset]. Several readers may be open at a time.
type Source interface {
	// Head describes the data without reading them.
	Head() Head
	// Open starts a pass over all rows, in their order.
	Open(ctx context.Context) (BlockReader, error)
}

// BlockReader is one pass over the rows of a [Source].
type BlockReader interface {
	// Next reads the next rows into b, as many as b has room for or fewer, but at least one.
	// After the last row it returns io.EOF. Any other error says what is wrong with which row.
	Next(b *Block) error
	Close() error
}

// Head is what is known of a [Source] without its rows. Its fields are those of a [Dataset].
type Head struct {
	Name     string
	N, D     int      // numbers of points and of features
	Features []string // d names; may be nil
	Target   string   // what the targets are; may be ""
	Classes  []string // names of the classes; nil if the targets need none
}

// Block is some consecutive rows of a [Source].
type Block struct {
	From int         // row of the first point in the source
	X    [][]float64 // the points; rows of d features that share one array
	Y    []float64   // their targets

	x [][]float64
	y []float64
}

// NewBlock returns a block with room for so many rows of d features. It takes 8(d + 1) bytes a
// row, and is used again for each block of a pass.
func NewBlock(rows, d int) *Block {
	b := &Block{x: rowsOf(make([]float64, rows*d), rows, d), y: make([]float64, rows)}
	b.Resize(0)
	return b
}

// Room returns how many rows fit.
func (b *Block) Room() int {
	if b == nil {
		return 0
	}
	return len(b.x)
}

// Resize sets the number of rows, at most Room.
func (b *Block) Resize(rows int) {
	if b != nil {
		b.X, b.Y = b.x[:rows], b.y[:rows]
	}
}

// fits returns an error if the block has no room for rows of d features.
func (b *Block) fits(d int) error {
	if b.Room() == 0 || len(b.x[0]) != d {
		return fmt.Errorf("datasets: the block has no room for rows of %s; make it by NewBlock(rows, %d)", plural(d, "feature", "features"), d)
	}
	return nil
}

// check returns an error that names the first value of the block that is not finite.
func (b *Block) check(h *Head) error {
	for i, row := range b.X {
		sum := b.Y[i] - b.Y[i] // NaN if a value is not finite
		for _, v := range row {
			sum += v - v
		}
		if sum == 0 {
			continue
		}
		of := Dataset{Name: h.Name, Features: h.Features}
		for j, v := range row {
			if !finite(v) {
				return of.fault(b.From+i, j, fmt.Sprintf("the value is %v; leave the row out or put a number there", v))
			}
		}
		return of.fault(b.From+i, -1, fmt.Sprintf("the target is %v; leave the row out or put a number there", b.Y[i]))
	}
	return nil
}

// Head implements [Source].
func (d *Dataset) Head() Head {
	if d == nil {
		return Head{}
	}
	return Head{Name: d.Name, N: d.N(), D: d.D(), Features: d.Features, Target: d.Target, Classes: d.Classes}
}

// Open implements [Source]. Sparse points are made dense, a block at a time.
func (d *Dataset) Open(context.Context) (BlockReader, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	if d.Table != nil {
		return nil, d.fault(-1, -1, "a table is not read in blocks; encode its columns first")
	}
	return &memoryReader{d: d}, nil
}

type memoryReader struct {
	d  *Dataset
	at int
}

func (r *memoryReader) Next(b *Block) error {
	if err := b.fits(r.d.D()); err != nil {
		return err
	}
	if r.at == r.d.N() {
		return io.EOF
	}
	b.From = r.at
	b.Resize(min(b.Room(), r.d.N()-r.at))
	for i, row := range b.X {
		if s := r.d.Sparse; s != nil {
			s.Point(row, r.at+i)
		} else {
			copy(row, r.d.X[r.at+i])
		}
	}
	r.at += copy(b.Y, r.d.Y[r.at:])
	return nil
}

func (r *memoryReader) Close() error { return nil }

// EachBlock calls do with all rows of a source, in blocks of at most so many rows. The block is
// used again after each call. It returns the error of the source or of do, an [*Error] for a
// value that is not finite, or context.Cause(ctx).
func EachBlock(ctx context.Context, s Source, rows int, do func(b *Block) error) (err error) {
	in, err := s.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	h := s.Head()
	b := NewBlock(rows, h.D)
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		switch err := in.Next(b); {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		if err := b.check(&h); err != nil {
			return err
		}
		if err := do(b); err != nil {
			return err
		}
	}
}

// loadLimit is the number of values that Load reads: 1 GiB.
const loadLimit = 1 << 27

// LoadSource reads all rows of a source into memory, at most 1 GiB of them.
func LoadSource(ctx context.Context, s Source) (*Dataset, error) {
	h := s.Head()
	if h.D > 0 && h.N > loadLimit/h.D {
		return nil, &Error{Dataset: h.Name, Row: -1, Column: -1, Msg: fmt.Sprintf("%d × %d values take %.3g GiB of memory, the limit is 1; learn from the source in blocks", h.N, h.D, gib(float64(h.N)*float64(h.D)))}
	}
	d := &Dataset{Name: h.Name, X: rows(h.N, h.D), Y: make([]float64, h.N), Features: slices.Clone(h.Features), Target: h.Target, Classes: slices.Clone(h.Classes)}
	err := EachBlock(ctx, s, 1024, func(b *Block) error {
		for i, row := range b.X {
			copy(d.X[b.From+i], row)
		}
		copy(d.Y[b.From:], b.Y)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return d, d.Check()
}
