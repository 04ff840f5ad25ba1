package datasets

import (
	"bufio"
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/svmnb/svmnb/internal/mark"
)

// CSVFile is a table on the disk that is read in blocks, a [Source]; see [OpenCSV].
type CSVFile struct {
	head  Head
	path  string
	opt   CSV
	words bool // the targets are names
}

// mostLabels limits the different names of targets that a file is read for.
const mostLabels = 1 << 16

// OpenCSV reads the table of a file once, to count its rows and check each value, and keeps
// none of them. The options and errors are those of [ReadCSV], and the blocks have the rows
// that ReadCSV would return. Each pass parses the text again; see [SaveRows].
func OpenCSV(path string, opt CSV) (*CSVFile, error) {
	base := filepath.Base(path)
	f := &CSVFile{path: path, opt: opt}
	f.head.Name = cmp.Or(opt.Name, strings.TrimSuffix(base, filepath.Ext(base)))
	p, err := f.begin()
	if err != nil {
		return nil, err
	}
	defer p.file.Close()
	classes := map[string]struct{}{}
	wordsSeen, firstIsWord, firstLabel := 0, false, ""
	for {
		record, err := p.record()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if err := p.t.row(record); err != nil {
			return nil, err
		}
		label := p.t.labels[0]
		if _, wrong := number(label); wrong != "" {
			if wordsSeen++; f.head.N == 0 {
				firstIsWord, firstLabel = true, label
			}
		}
		if len(classes) <= mostLabels {
			classes[label] = struct{}{}
		}
		f.head.N++
		p.t.labels, p.t.cells = p.t.labels[:0], p.t.cells[:0]
	}
	t := &p.t
	if f.head.N == 0 {
		return nil, t.fail(0, 0, "there is a header but no row of data; if it is data, set Header")
	}
	if t.guessed && wordsSeen == 1 && firstIsWord && f.head.N > 1 {
		return nil, t.fail(t.first, t.target+1, fmt.Sprintf("the target %q is not a number as all others are; if this line is a header, set Header", clip(firstLabel)))
	}
	f.head.D = t.features
	if t.names != nil {
		f.head.Features = slices.Delete(slices.Clone(t.names), t.target, t.target+1)
		f.head.Target = t.names[t.target]
	}
	if f.words = wordsSeen > 0; f.words {
		if len(classes) > mostLabels {
			return nil, t.fail(0, t.target+1, fmt.Sprintf("the targets are more than %d different names; is this the column of the targets?", mostLabels))
		}
		for label := range classes {
			f.head.Classes = append(f.head.Classes, label)
		}
		slices.Sort(f.head.Classes)
	}
	return f, nil
}

// Head implements [Source].
func (f *CSVFile) Head() Head {
	if f == nil {
		return Head{}
	}
	return f.head
}

// Open implements [Source].
func (f *CSVFile) Open(context.Context) (BlockReader, error) {
	if f == nil {
		return nil, errNoSource
	}
	return f.begin()
}

// csvPass is a pass over a CSV file.
type csvPass struct {
	of    *CSVFile
	file  *os.File
	t     table
	first []string // the first record, until it was returned
	at    int
}

// begin opens the file and reads its first line.
func (f *CSVFile) begin() (*csvPass, error) {
	file, err := os.Open(f.path)
	if err != nil {
		return nil, cannotOpen(f.path, err)
	}
	p := &csvPass{of: f, file: file, t: table{opt: f.opt, name: f.head.Name}}
	t := &p.t
	in, err := mark.Skip(bufio.NewReaderSize(file, 1<<20))
	if err != nil {
		file.Close()
		return nil, &ReadError{Name: t.name, Line: 1, Msg: err.Error(), Err: err}
	}
	t.csv = csv.NewReader(in)
	t.csv.ReuseRecord = true
	p.first, err = t.begin()
	if err != nil && err != io.EOF { // the end comes again with the next record
		file.Close()
		return nil, err
	}
	return p, nil
}

// record returns the next record, which is valid until the one after it.
func (p *csvPass) record() ([]string, error) {
	if first := p.first; first != nil {
		p.first = nil
		return first, nil
	}
	return p.t.next()
}

func (p *csvPass) Next(b *Block) error {
	if err := b.fits(p.of.head.D); err != nil {
		return err
	}
	b.From = p.at
	b.Resize(b.Room())
	for i := range b.X {
		record, err := p.record()
		if err == io.EOF {
			b.Resize(i)
			break
		}
		if err == nil {
			err = p.t.row(record)
		}
		if err != nil {
			return err
		}
		if len(p.t.cells) != len(b.X[i]) {
			return p.changed()
		}
		copy(b.X[i], p.t.cells)
		if b.Y[i], err = p.target(p.t.labels[0]); err != nil {
			return err
		}
		p.t.labels, p.t.cells = p.t.labels[:0], p.t.cells[:0]
	}
	p.at += len(b.X)
	switch {
	case p.at > p.of.head.N || len(b.X) == 0 && p.at != p.of.head.N:
		return p.changed()
	case len(b.X) == 0:
		return io.EOF
	}
	return nil
}

// target returns the target of a label: its number, or that of its class.
func (p *csvPass) target(label string) (float64, error) {
	if p.of.words {
		k, found := slices.BinarySearch(p.of.head.Classes, label)
		if !found {
			return 0, p.changed()
		}
		return float64(k), nil
	}
	v, wrong := number(label)
	if wrong != "" {
		return 0, p.changed()
	}
	return v, nil
}

func (p *csvPass) changed() error {
	return &ReadError{Name: p.of.head.Name, Msg: "the file has changed since it was opened; open it again"}
}

func (p *csvPass) Close() error { return p.file.Close() }

// LIBSVMFile is a file in the format of LIBSVM that is read in blocks, a [Source]; see
// [OpenLIBSVM].
type LIBSVMFile struct {
	head Head
	path string
}

// OpenLIBSVM reads a file once, to count its points and check each value, and keeps none of
// them. The format and errors are those of [ReadLIBSVM]. Blocks have dense rows of dims
// features or, with dims = 0, as many as the largest index; a row of more than 2²⁰ features is
// an error.
func OpenLIBSVM(path string, dims int) (*LIBSVMFile, error) {
	base := filepath.Base(path)
	f := &LIBSVMFile{path: path, head: Head{Name: strings.TrimSuffix(base, filepath.Ext(base))}}
	r, err := f.begin(dims)
	if err != nil {
		return nil, err
	}
	defer r.file.Close()
	for {
		err := r.point()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		f.head.N++
	}
	p := r.p
	if f.head.N > 0 {
		p.y = []float64{0} // so that width sees that there are points
	}
	d, cause, err := p.width()
	if err != nil {
		return nil, err
	}
	const most = 1 << 20
	if d > most {
		return nil, &ReadError{Name: p.name, Line: p.where[0], Column: p.where[1], Msg: fmt.Sprintf("%s; a block has dense rows of at most %d features: select or hash them first, or read the file by ReadLIBSVMSparse", cause, most)}
	}
	f.head.D = d
	return f, nil
}

// Head implements [Source].
func (f *LIBSVMFile) Head() Head {
	if f == nil {
		return Head{}
	}
	return f.head
}

// Open implements [Source].
func (f *LIBSVMFile) Open(context.Context) (BlockReader, error) {
	if f == nil {
		return nil, errNoSource
	}
	return f.begin(f.head.D)
}

func (f *LIBSVMFile) begin(dims int) (*libsvmPass, error) {
	p := &parser{name: f.head.Name, dims: dims}
	if dims < 0 {
		return nil, p.fail(0, fmt.Sprintf("dims is %d; give the number of features, or 0 for the largest index", dims))
	}
	file, err := os.Open(f.path)
	if err != nil {
		return nil, cannotOpen(f.path, err)
	}
	in, err := mark.Skip(bufio.NewReaderSize(file, 1<<20))
	if err != nil {
		file.Close()
		return nil, &ReadError{Name: p.name, Line: 1, Msg: err.Error(), Err: err}
	}
	return &libsvmPass{of: f, file: file, in: in, p: p}, nil
}

// libsvmPass is a pass over a file in the format of LIBSVM.
type libsvmPass struct {
	of   *LIBSVMFile
	file *os.File
	in   *bufio.Reader
	p    *parser
	ends bool
	at   int
}

// point reads the next point into the parser, in place of the one before.
func (r *libsvmPass) point() error {
	p := r.p
	p.y, p.end, p.index, p.value = p.y[:0], p.end[:0], p.index[:0], p.value[:0]
	for !r.ends {
		text, err := r.in.ReadString('\n')
		if err != nil && err != io.EOF {
			return &ReadError{Name: p.name, Line: p.line + 1, Msg: "cannot read on: " + err.Error(), Err: err}
		}
		r.ends = err == io.EOF
		p.line++
		if err := p.point(text); err != nil {
			return err
		}
		if p.largest > math.MaxInt32 {
			return p.fail(p.where[1], "the index "+strconv.Itoa(p.largest)+" is too large")
		}
		if len(p.y) > 0 {
			return nil
		}
	}
	return io.EOF
}

func (r *libsvmPass) Next(b *Block) error {
	if err := b.fits(r.of.head.D); err != nil {
		return err
	}
	b.From = r.at
	b.Resize(b.Room())
	for i, row := range b.X {
		err := r.point()
		if err == io.EOF {
			b.Resize(i)
			break
		}
		if err != nil {
			return err
		}
		clear(row)
		for k, j := range r.p.index {
			row[j] = r.p.value[k]
		}
		b.Y[i] = r.p.y[0]
	}
	r.at += len(b.X)
	switch {
	case r.at > r.of.head.N || len(b.X) == 0 && r.at != r.of.head.N:
		return &ReadError{Name: r.of.head.Name, Msg: "the file has changed since it was opened; open it again"}
	case len(b.X) == 0:
		return io.EOF
	}
	return nil
}

func (r *libsvmPass) Close() error { return r.file.Close() }
