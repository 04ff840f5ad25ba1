package datasets

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/svmnb/svmnb/internal/wholefile"
)

// RowFile is a file of rows that is read in blocks, a [Source]. [SaveRows] writes it and
// [OpenRows] opens it. It is the fastest source: a pass reads the rows as they lie on the disk.
//
// The file begins with the 8 bytes "svmnbrow" and the length of the following JSON object, 4
// bytes. The object has the names and sizes. Then come n rows of d features and a target, as
// float32 or float64. At the end are the 8 bytes "svmnbend" and n, 8 bytes. All numbers are
// little-endian.
type RowFile struct {
	head   Head
	path   string
	single bool
	offset int64 // of the first row
}

// Precision says how a [RowFile] stores numbers.
type Precision int

const (
	Double Precision = iota // float64, 8 bytes
	Single                  // float32, 4 bytes; numbers are rounded to 24 bits
)

func (p Precision) String() string {
	if p == Single {
		return "float32"
	}
	return "float64"
}

const (
	rowsBegin, rowsEnd = "svmnbrow", "svmnbend"
	mostRowHead        = 1 << 26 // bytes of the JSON object
)

// rowHead is the JSON object of a file of rows.
type rowHead struct {
	Name     string   `json:"name"`
	D        int      `json:"columns"`
	Float    string   `json:"float"`
	Features []string `json:"features,omitempty"`
	Target   string   `json:"target,omitempty"`
	Classes  []string `json:"classes,omitempty"`
}

// SaveRows writes all rows of a source to the file at path, in one pass: a CSV file that is
// read many times is worth a copy, which is read ten times faster. The file is written
// completely or not at all. The error is that of the source, an [*Error] for a number that is
// too large for [Single], or that of the disk.
func SaveRows(ctx context.Context, path string, s Source, p Precision) error {
	h := s.Head()
	head, err := json.Marshal(rowHead{h.Name, h.D, p.String(), h.Features, h.Target, h.Classes})
	if err != nil {
		return fmt.Errorf("datasets: %w", err)
	}
	if err := h.check(); err != nil {
		return err
	}
	return wholefile.Write(path, func(w io.Writer) error {
		out := bufio.NewWriterSize(w, 1<<20) // out keeps errors until Flush
		out.WriteString(rowsBegin)
		buf := binary.LittleEndian.AppendUint32(nil, uint32(len(head)))
		out.Write(buf)
		out.Write(head)
		n := 0
		err := EachBlock(ctx, s, blockRows(h.D), func(b *Block) error {
			for i, row := range b.X {
				buf = buf[:0]
				for j := range h.D + 1 {
					v := b.Y[i]
					if j < h.D {
						v = row[j]
					}
					if p != Single {
						buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(v))
						continue
					}
					if math.IsInf(float64(float32(v)), 0) {
						at := j
						if j == h.D {
							at = -1
						}
						return (&Dataset{Name: h.Name, Features: h.Features}).fault(b.From+i, at, fmt.Sprintf("%v is too large for Single; write Double", v))
					}
					buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(float32(v)))
				}
				out.Write(buf)
			}
			n += len(b.X)
			return nil
		})
		if err != nil {
			return err
		}
		out.WriteString(rowsEnd)
		out.Write(binary.LittleEndian.AppendUint64(nil, uint64(n)))
		return out.Flush()
	})
}

// check returns an error if the sizes and names do not fit.
func (h *Head) check() error {
	of := &Dataset{Name: h.Name, Features: h.Features}
	switch {
	case h.N < 1:
		return of.fault(-1, -1, "there are no points; at least one row is needed")
	case h.D < 1:
		return of.fault(-1, -1, "there are no features")
	case h.Features != nil && len(h.Features) != h.D:
		return of.fault(-1, -1, fmt.Sprintf("Features has %s for %s; give one for each, or nil", plural(len(h.Features), "name", "names"), plural(h.D, "column", "columns")))
	}
	return nil
}

// blockRows returns how many rows of d features a block of about a megabyte has.
func blockRows(d int) int { return max(1, min(4096, (1<<17)/(d+1))) }

// OpenRows opens a file that [SaveRows] has written. It reads the names and sizes only. The
// error is a [*ReadError].
func OpenRows(path string) (*RowFile, error) {
	base := filepath.Base(path)
	bad := func(msg string, args ...any) error { return &ReadError{Name: base, Msg: fmt.Sprintf(msg, args...)} }
	f, err := os.Open(path)
	if err != nil {
		return nil, cannotOpen(path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, &ReadError{Name: base, Msg: "cannot read: " + err.Error(), Err: err}
	}
	if !info.Mode().IsRegular() {
		return nil, bad("it is no regular file, so it cannot be read several times; copy it to one")
	}
	h, single, offset, err := readRowHead(f, info.Size())
	if err != nil {
		return nil, bad("%s", err)
	}
	return &RowFile{head: *h, path: path, single: single, offset: offset}, nil
}

// readRowHead reads what a file of rows has beside its rows, and trusts none of it.
func readRowHead(f io.ReaderAt, size int64) (_ *Head, single bool, offset int64, err error) {
	begin := make([]byte, len(rowsBegin)+4)
	if n, _ := f.ReadAt(begin, 0); n < len(begin) || string(begin[:len(rowsBegin)]) != rowsBegin {
		return nil, false, 0, errors.New("it is no file of rows, which SaveRows writes")
	}
	length := int64(binary.LittleEndian.Uint32(begin[len(rowsBegin):]))
	offset = int64(len(begin)) + length
	const end = int64(len(rowsEnd) + 8)
	if length > mostRowHead || offset+end > size {
		return nil, false, 0, errors.New("it is damaged: its names and sizes are not whole; write it again")
	}
	text := make([]byte, length)
	if _, err := f.ReadAt(text, int64(len(begin))); err != nil {
		return nil, false, 0, fmt.Errorf("cannot read: %w", err)
	}
	var h rowHead
	if err := json.Unmarshal(text, &h); err != nil {
		return nil, false, 0, fmt.Errorf("it is damaged: %w; write it again", err)
	}
	single = h.Float == Single.String()
	if !single && h.Float != Double.String() || h.D < 1 || h.D > math.MaxInt32 || h.Features != nil && len(h.Features) != h.D {
		return nil, false, 0, errors.New("it is damaged: its sizes do not fit; write it again")
	}
	trailer := make([]byte, end)
	if _, err := f.ReadAt(trailer, size-end); err != nil && err != io.EOF {
		return nil, false, 0, fmt.Errorf("cannot read: %w", err)
	}
	n, rest := (size-end-offset)/int64(rowBytes(h.D, single)), (size-end-offset)%int64(rowBytes(h.D, single))
	if string(trailer[:len(rowsEnd)]) != rowsEnd || rest != 0 || binary.LittleEndian.Uint64(trailer[len(rowsEnd):]) != uint64(n) {
		return nil, false, 0, fmt.Errorf("it is damaged: it ends after %d rows; write it again", max(0, n))
	}
	if n < 1 {
		return nil, false, 0, errors.New("there are no rows")
	}
	return &Head{h.Name, int(n), h.D, h.Features, h.Target, h.Classes}, single, offset, nil
}

func rowBytes(d int, single bool) int {
	if single {
		return 4 * (d + 1)
	}
	return 8 * (d + 1)
}

// Head implements [Source].
func (f *RowFile) Head() Head {
	if f == nil {
		return Head{}
	}
	return f.head
}

// Open implements [Source].
func (f *RowFile) Open(context.Context) (BlockReader, error) {
	if f == nil {
		return nil, errNoSource
	}
	file, err := os.Open(f.path)
	if err != nil {
		return nil, cannotOpen(f.path, err)
	}
	return &rowReader{of: f, file: file}, nil
}

var errNoSource = errors.New("datasets: there is no source; take one from its Open function and look at the error that comes with it")

// rowReader is a pass over a file of rows. It reads into a buffer of its own: the pages of a
// mapped file would count as memory of the program.
type rowReader struct {
	of   *RowFile
	file *os.File
	at   int
	buf  []byte
}

func (r *rowReader) Next(b *Block) error {
	h := &r.of.head
	if err := b.fits(h.D); err != nil {
		return err
	}
	if r.at == h.N {
		return io.EOF
	}
	size := rowBytes(h.D, r.of.single)
	m := min(b.Room(), h.N-r.at, max(1, (1<<23)/size))
	r.buf = slices.Grow(r.buf[:0], m*size)[:m*size]
	if _, err := r.file.ReadAt(r.buf, r.of.offset+int64(r.at)*int64(size)); err != nil {
		return &ReadError{Name: h.Name, Msg: fmt.Sprintf("cannot read rows %d to %d: %v; was the file changed?", r.at, r.at+m-1, err), Err: err}
	}
	b.From = r.at
	b.Resize(m)
	for i, row := range b.X {
		raw := r.buf[i*size : (i+1)*size]
		if r.of.single {
			for j := range row {
				row[j] = float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[4*j:])))
			}
			b.Y[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[4*h.D:])))
			continue
		}
		for j := range row {
			row[j] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*j:]))
		}
		b.Y[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*h.D:]))
	}
	r.at += m
	return nil
}

func (r *rowReader) Close() error { return r.file.Close() }
