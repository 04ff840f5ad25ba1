package beam

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
)

// Source is a data set in blocks, each of which is small enough for the memory of a worker. All
// blocks have the same features and classes, and a block that is read again is the same. Workers
// read blocks side by side.
//
// [Files] and [Memory] are sources. Worker processes can read Files; for a source of your own
// they need [RegisterSource].
type Source interface {
	Blocks(ctx context.Context) (int, error)
	// Block returns block i, counted from 0. A block may have no points.
	Block(ctx context.Context, i int) (*datasets.Dataset, error)
}

// Memory is a data set of this process in blocks of neighbouring rows.
func Memory(data *datasets.Dataset, blocks int) Source { return memory{data, blocks} }

type memory struct {
	data   *datasets.Dataset
	blocks int
}

func (m memory) Blocks(context.Context) (int, error) {
	if err := m.data.Check(); err != nil {
		return 0, err
	}
	return m.blocks, arguments.WrongIf(m.blocks < 1 || m.blocks > m.data.N(), "Memory", float64(m.blocks), "%d blocks of %d points; give from 1 block to as many as there are points", m.blocks, m.data.N())
}

func (m memory) Block(_ context.Context, i int) (*datasets.Dataset, error) {
	n := m.data.N()
	var rows []int
	for row := i * n / m.blocks; row < (i+1)*n/m.blocks; row++ {
		rows = append(rows, row)
	}
	return m.data.Select(rows), nil
}

// Format is that of [Files].
type Format int

const (
	CSV          Format = iota // see datasets.ReadCSV; no field may contain the end of a line
	LIBSVM                     // see datasets.ReadLIBSVM
	SparseLIBSVM               // see datasets.ReadLIBSVMSparse
	endOfFormats
)

// Files is a data set in text files, on any of Beam's file systems that the program has linked:
// gs:// and the local one always. Blocks are parts of files that begin and end at line ends, so
// large files need not be divided beforehand.
type Files struct {
	Paths  []string
	Format Format
	Table  datasets.CSV // how to read CSV
	Dims   int          // number of features of LIBSVM's format, which a block alone does not show
	// Classes are the names of the classes in CSV, in the order of their targets 0, 1, …; nil if
	// the targets are numbers. A block may not have all of them, so they must be given.
	Classes []string
	Bytes   int64 // size of a block, at least 1 KiB; 0 means 16 MiB
}

func (f Files) check() error {
	switch {
	case len(f.Paths) == 0:
		return arguments.Wrong("Files", 0, "there are no paths; give at least one file")
	case f.Format < 0 || f.Format >= endOfFormats:
		return arguments.Wrong("Files", float64(f.Format), "there is no format %d; give CSV, LIBSVM or SparseLIBSVM", f.Format)
	case f.Format != CSV && f.Dims < 1:
		return arguments.Wrong("Files", float64(f.Dims), "Dims is %d; LIBSVM's format does not say how many features there are, so give their number", f.Dims)
	case f.Bytes != 0 && f.Bytes < 1<<10:
		return arguments.Wrong("Files", float64(f.Bytes), "blocks of %d bytes; give at least 1024, or 0 for 16 MiB", f.Bytes)
	}
	return nil
}

func (f Files) size() int64 {
	if f.Bytes == 0 {
		return 16 << 20
	}
	return f.Bytes
}

// parts returns the number of blocks of each file.
func (f Files) parts(ctx context.Context) ([]int, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	var parts []int
	for _, path := range f.Paths {
		fsys, err := filesystem.New(ctx, path)
		if err != nil {
			return nil, fmt.Errorf("svmnb: Files: %w", err)
		}
		size, err := fsys.Size(ctx, path)
		if err != nil {
			return nil, fmt.Errorf("svmnb: Files: %w", err)
		}
		parts = append(parts, int((size+f.size()-1)/f.size()))
	}
	return parts, nil
}

// Blocks implements [Source].
func (f Files) Blocks(ctx context.Context) (int, error) {
	parts, err := f.parts(ctx)
	sum := 0
	for _, n := range parts {
		sum += n
	}
	if err == nil && sum == 0 {
		return 0, arguments.Wrong("Files", 0, "the files are empty: %s", strings.Join(f.Paths, ", "))
	}
	return sum, err
}

// Block implements [Source].
func (f Files) Block(ctx context.Context, i int) (*datasets.Dataset, error) {
	parts, err := f.parts(ctx)
	if err != nil {
		return nil, err
	}
	at := i
	for k, n := range parts {
		if at < n {
			d, err := f.block(ctx, f.Paths[k], at)
			if err != nil {
				return nil, fmt.Errorf("svmnb: Files: %s, block %d of the file, from byte %d on (lines count from there): %w", f.Paths[k], at, int64(at)*f.size(), err)
			}
			return d, nil
		}
		at -= n
	}
	return nil, arguments.Wrong("Block", float64(i), "there is no block %d", i)
}

// block reads the lines of a file that begin in part k of its bytes.
func (f Files) block(ctx context.Context, path string, k int) (*datasets.Dataset, error) {
	fsys, err := filesystem.New(ctx, path)
	if err != nil {
		return nil, err
	}
	file, err := fsys.OpenRead(ctx, path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var head []byte
	from := int64(k) * f.size()
	if f.Format == CSV && k > 0 {
		if head, err = f.header(file); err != nil {
			return nil, err
		}
		file.Close()
		if file, err = fsys.OpenRead(ctx, path); err != nil {
			return nil, err
		}
		defer file.Close()
	}
	text, err := lines(file, from, f.size())
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return &datasets.Dataset{Name: path}, nil
	}
	if head != nil {
		text = append(head, text...)
	}
	switch f.Format {
	case LIBSVM:
		return datasets.ReadLIBSVM(bytes.NewReader(text), f.Dims)
	case SparseLIBSVM:
		return datasets.ReadLIBSVMSparse(bytes.NewReader(text), f.Dims)
	}
	if k == 0 && !slices.Contains(text[:len(text)-1], '\n') && f.Table.Header != datasets.NoHeader {
		if d, err := datasets.ReadCSV(bytes.NewReader(text), f.Table); err != nil || d.N() == 0 {
			return &datasets.Dataset{Name: path}, nil // the first block has the header alone
		}
	}
	d, err := datasets.ReadCSV(bytes.NewReader(text), f.Table)
	if err != nil {
		return nil, err
	}
	return f.classed(d)
}

// header returns the first line of a CSV file if it has the names of the columns.
func (f Files) header(file io.Reader) ([]byte, error) {
	if f.Table.Header == datasets.NoHeader {
		return nil, nil
	}
	r := bufio.NewReader(file)
	first, err := r.ReadBytes('\n')
	if err != nil {
		return nil, nil // the file has one line
	}
	if f.Table.Header == datasets.DetectHeader {
		second, err := r.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		d, err := datasets.ReadCSV(bytes.NewReader(slices.Concat(first, second)), f.Table)
		if err != nil {
			return nil, err
		}
		if d.N() == 2 {
			return nil, nil // both lines are points
		}
	}
	return first, nil
}

// lines returns the lines that begin in the size bytes from byte from on.
func lines(file io.Reader, from, size int64) ([]byte, error) {
	if from > 0 {
		if s, ok := file.(io.Seeker); ok {
			if _, err := s.Seek(from-1, io.SeekStart); err != nil {
				return nil, err
			}
		} else if _, err := io.CopyN(io.Discard, file, from-1); err != nil {
			return nil, err
		}
	}
	r := bufio.NewReaderSize(file, 1<<20)
	at := from
	if from > 0 { // the line in which byte from−1 lies belongs to an earlier block
		skipped, err := discardLine(r)
		if err != nil {
			return nil, err
		}
		at += skipped - 1
	}
	if at >= from+size {
		return nil, nil
	}
	text := make([]byte, from+size-at)
	n, err := io.ReadFull(r, text)
	text = text[:n]
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return text, nil
	}
	if err != nil {
		return nil, err
	}
	if text[n-1] != '\n' {
		rest, err := r.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		text = append(text, rest...)
	}
	return text, nil
}

// discardLine reads to the end of a line and returns how many bytes that were.
func discardLine(r *bufio.Reader) (n int64, err error) {
	for {
		part, err := r.ReadSlice('\n')
		n += int64(len(part))
		switch {
		case err == nil || errors.Is(err, io.EOF):
			return n, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return n, err
		}
	}
}

// classed gives the targets of a block the numbers of f.Classes.
func (f Files) classed(d *datasets.Dataset) (*datasets.Dataset, error) {
	if d.Classes == nil {
		if f.Classes != nil {
			return nil, fmt.Errorf("the targets are numbers; leave Classes out")
		}
		return d, nil
	}
	if f.Classes == nil {
		return nil, fmt.Errorf("the targets are names, such as %q; give Classes, since a block may not have all of them", d.Classes[0])
	}
	y := make([]float64, d.N())
	for i := range y {
		k := slices.Index(f.Classes, d.ClassName(d.Y[i]))
		if k < 0 {
			return nil, fmt.Errorf("the class %q is not one of Classes, %q", d.ClassName(d.Y[i]), f.Classes)
		}
		y[i] = float64(k)
	}
	all := *d
	all.Y, all.Classes = y, f.Classes
	return &all, nil
}

var sources struct {
	sync.Mutex
	of map[string]func() (Source, error)
}

// RegisterSource names a source, for worker processes to build it for themselves, and returns
// it. It is called in main before [Init], or for a package variable.
func RegisterSource(name string, build func() (Source, error)) Source {
	sources.Lock()
	defer sources.Unlock()
	if sources.of == nil {
		sources.of = map[string]func() (Source, error){}
	}
	if name == "" || build == nil || sources.of[name] != nil {
		panic(fmt.Sprintf("svmnb: RegisterSource: the name %q is empty or taken, or there is no function", name))
	}
	sources.of[name] = build
	return &registeredSource{name: name, build: sync.OnceValues(build)}
}

type registeredSource struct {
	name  string
	build func() (Source, error)
}

func (r *registeredSource) Blocks(ctx context.Context) (int, error) {
	s, err := r.build()
	if err != nil {
		return 0, err
	}
	return s.Blocks(ctx)
}

func (r *registeredSource) Block(ctx context.Context, i int) (*datasets.Dataset, error) {
	s, err := r.build()
	if err != nil {
		return nil, err
	}
	return s.Block(ctx, i)
}

// sourceSpec says how a worker process comes to a source.
type sourceSpec struct {
	Files *Files `json:"files,omitempty"`
	Name  string `json:"name,omitempty"`

	Data   string `json:"data,omitempty"` // file in the folder, of Memory
	Blocks int    `json:"blocks,omitempty"`
}

func specOfSource(ctx context.Context, files store, src Source) (sourceSpec, error) {
	switch s := src.(type) {
	case memory:
		name, err := writeData(ctx, files, s.data)
		return sourceSpec{Data: name, Blocks: s.blocks}, err
	case Files:
		return sourceSpec{Files: &s}, nil
	case *Files:
		return sourceSpec{Files: s}, nil
	case *registeredSource:
		return sourceSpec{Name: s.name}, nil
	}
	return sourceSpec{}, arguments.Wrong("Source", math.NaN(), "workers in other processes cannot reach a %T; give Files, or the result of RegisterSource", src)
}

// builtSources are the registered sources that this process has built.
var builtSources sync.Map

func (spec sourceSpec) source(ctx context.Context, files store) (Source, error) {
	if spec.Data != "" {
		data, err := readData(ctx, files, spec.Data)
		return memory{data, spec.Blocks}, err
	}
	if spec.Files != nil {
		return *spec.Files, nil
	}
	if s, ok := builtSources.Load(spec.Name); ok {
		return s.(Source), nil
	}
	sources.Lock()
	build := sources.of[spec.Name]
	sources.Unlock()
	if build == nil {
		return nil, fmt.Errorf("this worker does not know a source %q; is it of the same program?", spec.Name)
	}
	s, err := build()
	if err == nil {
		builtSources.Store(spec.Name, s)
	}
	return s, err
}
