package arrow

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/svmnb/svmnb/datasets"
)

// File is a Parquet or Arrow file that is read in blocks, a [datasets.Source]; see [Open].
type File struct {
	head datasets.Head
	path string
	opt  Options
}

// Open reads a file once, to count its rows and check each value, and keeps none of them. The
// options and errors are those of [Read], except that MaxRows has no default, and that Memory
// limits what one pass takes at a time, by default 256 MiB: some pages of each column, and a
// batch of rows. The blocks have the rows that Read would return.
func Open(path string, opt Options) (*File, error) {
	base := filepath.Base(path)
	opt.Name = cmp.Or(opt.Name, strings.TrimSuffix(base, filepath.Ext(base)))
	opt.MaxRows, opt.Memory = cmp.Or(opt.MaxRows, math.MaxInt), cmp.Or(opt.Memory, 1<<28)
	f := &File{path: path, opt: opt}
	f.head.Name = opt.Name
	classes := map[string]struct{}{}
	for t, err := range f.batches {
		if err != nil {
			return nil, err
		}
		f.head.N += len(t.y)
		f.head.D, f.head.Features, f.head.Target = len(t.x), t.names, t.name
		for _, s := range t.labels {
			if classes[s] = struct{}{}; len(classes) > mostClasses {
				return nil, t.fail("the target has too many different strings to be classes; is this the column of the targets?", nil)
			}
		}
	}
	if f.head.N == 0 {
		return nil, newSource(opt).fail("there are no rows", nil)
	}
	f.head.Features = slices.Clone(f.head.Features)
	for s := range classes {
		f.head.Classes = append(f.head.Classes, s)
	}
	slices.Sort(f.head.Classes)
	return f, nil
}

// mostClasses limits the different names of classes.
const mostClasses = 1 << 16

// Head implements [datasets.Source].
func (f *File) Head() datasets.Head {
	if f == nil {
		return datasets.Head{}
	}
	return f.head
}

// Open implements [datasets.Source].
func (f *File) Open(context.Context) (datasets.BlockReader, error) {
	if f == nil {
		return nil, errors.New("datasets: there is no file; take one from Open and look at the error that comes with it")
	}
	next, stop := iter.Pull2(f.batches)
	return &pass{f: f, next: next, stop: stop}, nil
}

var errEnough = errors.New("no more rows are asked for")

// batches yields the rows of the file, a batch at a time. The table is used again.
func (f *File) batches(yield func(*table, error) bool) {
	file, err := os.Open(f.path)
	if err != nil {
		yield(nil, &datasets.ReadError{Name: filepath.Base(f.path), Msg: "cannot open: " + err.Error(), Err: err})
		return
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		yield(nil, &datasets.ReadError{Name: filepath.Base(f.path), Msg: "cannot read: " + err.Error(), Err: err})
		return
	}
	s := &passing{table: &table{source: newSource(f.opt)}, yield: func(t *table) bool { return yield(t, nil) }}
	s.paged = true
	if err := s.read(file, info.Size(), s); err != nil && !s.enough {
		yield(nil, err)
	}
}

// passing is a sink that hands each batch on and forgets it.
type passing struct {
	*table
	yield  func(*table) bool
	enough bool
}

func (p *passing) held() int { return p.before }

func (p *passing) add(rec arrow.RecordBatch) error {
	left := p.mem.left.Load()
	if err := p.table.add(rec); err != nil {
		return err
	}
	p.enough = !p.yield(p.table)
	p.before += len(p.y)
	for k := range p.x {
		p.x[k] = p.x[k][:0]
	}
	p.y, p.labels = p.y[:0], p.labels[:0]
	p.mem.left.Store(left)
	if p.enough {
		return errEnough
	}
	return nil
}

// pass is one pass over a file.
type pass struct {
	f    *File
	next func() (*table, error, bool)
	stop func()
	t    *table // the batch that is handed out
	at   int    // rows of it that were handed out
	rows int    // rows that were handed out
}

func (p *pass) Next(b *datasets.Block) error {
	h := &p.f.head
	if b.Room() == 0 {
		return errors.New("datasets: the block has no room; make it by NewBlock")
	}
	for p.t == nil || p.at == len(p.t.y) {
		t, err, more := p.next()
		switch {
		case !more && p.rows != h.N:
			return p.changed()
		case !more:
			return io.EOF
		case err != nil:
			return err
		}
		p.t, p.at = t, 0
	}
	b.From = p.rows
	b.Resize(min(b.Room(), len(p.t.y)-p.at))
	if len(p.t.x) != len(b.X[0]) || p.rows+len(b.X) > h.N {
		return p.changed()
	}
	for k, column := range p.t.x {
		for i, row := range b.X {
			row[k] = column[p.at+i]
		}
	}
	copy(b.Y, p.t.y[p.at:])
	if h.Classes != nil {
		for i := range b.Y {
			if p.at+i >= len(p.t.labels) {
				return p.changed()
			}
			k, found := slices.BinarySearch(h.Classes, p.t.labels[p.at+i])
			if !found {
				return p.changed()
			}
			b.Y[i] = float64(k)
		}
	}
	p.at, p.rows = p.at+len(b.X), p.rows+len(b.X)
	return nil
}

func (p *pass) changed() error {
	return &datasets.ReadError{Name: p.f.head.Name, Msg: "the file has changed since it was opened; open it again"}
}

func (p *pass) Close() error { p.stop(); return nil }
