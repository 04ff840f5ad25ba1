// Package arrow reads and writes data sets as Apache Parquet and Apache Arrow files.
//
// It is a module of its own, because the libraries of these formats are as large as everything
// else that svmnb needs. Only programs that import this package link them.
package arrow

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/svmnb/svmnb/datasets"
)

// Options says which columns are targets and features. By default the last column is the
// target and all others are features.
type Options struct {
	Name     string   // of the data set; default "arrow", or the name of the file
	Target   string   // name of the target column; default the last one
	Features []string // names of the feature columns, in that order; default all others
	MaxRows  int      // a table with more rows is refused; default 10⁷
	Memory   int      // bytes that reading may take, including the data set; default 1 GiB
}

// A small file may expand to a large table, since both formats store a repeated value only
// once. So the limits of a table do not depend on the size of its file.
const (
	defaultRows   = 10_000_000
	defaultMemory = 1 << 30
)

// Load reads a file; see [Read].
func Load(path string, opt Options) (*datasets.Dataset, error) {
	return load(path, opt, Read, func(d *datasets.Dataset) { d.Source = path })
}

// load opens a file for read, and names what it makes of it.
func load[T any](path string, opt Options, read func(r io.ReaderAt, size int64, opt Options) (*T, error), named func(*T)) (*T, error) {
	base := filepath.Base(path)
	f, err := os.Open(path)
	if err != nil {
		return nil, &datasets.ReadError{Name: base, Msg: "cannot open: " + err.Error(), Err: err}
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, &datasets.ReadError{Name: base, Msg: "cannot read: " + err.Error(), Err: err}
	}
	opt.Name = cmp.Or(opt.Name, strings.TrimSuffix(base, filepath.Ext(base)))
	d, err := read(f, info.Size(), opt)
	if err != nil {
		return nil, err
	}
	named(d)
	return d, nil
}

// Read reads a table from the first size bytes of r. The format is recognised by its first
// bytes: Parquet, the file format of Arrow (Feather version 2), or its stream format. Features
// are columns of numbers or booleans (false is 0, true 1). A target may also be strings or a
// dictionary of strings, which become Classes in alphabetical order. Columns that are not
// asked for may have any type. A null or a number that is not finite is a [*datasets.Error]
// with its row and column, and any other fault of the file a [*datasets.ReadError]. A small
// file may expand to a large table, so MaxRows and Memory are checked before the table is
// read.
func Read(r io.ReaderAt, size int64, opt Options) (*datasets.Dataset, error) {
	t := &table{source: newSource(opt)}
	if err := t.read(r, size, t); err != nil {
		return nil, err
	}
	return t.dataset()
}

// source is one file while it is read.
type source struct {
	opt   Options
	mem   *bounded
	paged bool // the columns of a row group are read page by page, and not at once
}

func newSource(opt Options) *source {
	opt.Name = cmp.Or(opt.Name, "arrow")
	opt.MaxRows, opt.Memory = cmp.Or(opt.MaxRows, defaultRows), cmp.Or(opt.Memory, defaultMemory)
	return &source{opt: opt, mem: &bounded{Allocator: memory.DefaultAllocator}}
}

// sink takes the columns of a file.
type sink interface {
	choose(schema *arrow.Schema) error // finds the columns that are wanted
	wanted() []int                     // their indices
	add(rec arrow.RecordBatch) error
	held() int // rows so far
}

// read reads a file of so many bytes into a sink.
func (t *source) read(r io.ReaderAt, size int64, into sink) (err error) {
	switch {
	case t.opt.MaxRows < 0:
		return t.fail(fmt.Sprintf("MaxRows is %d; give how many rows a table may have, or 0 for %d", t.opt.MaxRows, defaultRows), nil)
	case t.opt.Memory < 0:
		return t.fail(fmt.Sprintf("Memory is %d; give how many bytes reading may take, or 0 for %d", t.opt.Memory, defaultMemory), nil)
	}
	t.mem.left.Store(int64(t.opt.Memory))
	defer func() { // the libraries panic at some damaged files
		if p := recover(); p != nil {
			err = t.fail(fmt.Sprintf("the file is damaged: %.200v", p), nil)
		}
		if err != nil && t.mem.exceeded.Load() { // whatever else the libraries make of it
			err = t.fail(fmt.Sprintf("it takes more than %d bytes of memory; read fewer columns by Features, or allow more by Memory in the Options", t.opt.Memory), nil)
		}
	}()
	in := io.NewSectionReader(r, 0, size)
	begin := make([]byte, 6)
	n, _ := in.ReadAt(begin, 0)
	switch begin = begin[:n]; {
	case bytes.HasPrefix(begin, []byte("PAR1")):
		return t.parquet(in, into)
	case bytes.Equal(begin, []byte("ARROW1")):
		return t.file(in, into)
	case n == 0:
		return t.fail("the file is empty", nil)
	}
	return t.stream(in, into)
}

// table is the state of reading one file.
type table struct {
	*source
	names    []string // names of the features
	name     string   // name of the target
	features []int    // indices of the feature columns
	target   int
	x        [][]float64 // values, by feature
	y        []float64
	labels   []string // targets, if they are strings
	before   int      // rows that are no longer in x and y
}

func (t *source) fail(msg string, err error) error {
	return &datasets.ReadError{Name: t.opt.Name, Msg: msg, Err: err}
}

func (t *source) damaged(err error) error {
	return t.fail("it cannot be read: "+strings.ToValidUTF8(err.Error(), "?"), err)
}

func (t *source) parquet(in parquet.ReaderAtSeeker, into sink) error {
	props := parquet.NewReaderProperties(t.mem)
	props.BufferedStreamEnabled = t.paged
	f, err := file.NewParquetReader(in, file.WithReadProps(props))
	if err != nil {
		return t.damaged(err)
	}
	defer f.Close()
	if arrows := f.MetaData().KeyValueMetadata().FindValue("ARROW:schema"); arrows != nil {
		b, err := base64.StdEncoding.DecodeString(*arrows)
		if err == nil {
			_, err = verifyStream(io.NewSectionReader(bytes.NewReader(b), 0, int64(len(b))))
		}
		if err != nil {
			return t.damaged(err)
		}
	}
	if err := t.room(into, f.NumRows()); err != nil {
		return err
	}
	p, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{BatchSize: 4096}, t.mem)
	if err != nil {
		return t.damaged(err)
	}
	schema, err := p.Schema()
	if err != nil {
		return t.damaged(err)
	}
	if err := into.choose(schema); err != nil {
		return err
	}
	var leaves []int // a flat column has one leaf
	for _, c := range into.wanted() {
		leaves = append(leaves, p.Manifest.Fields[c].ColIndex)
	}
	records, err := p.GetRecordReader(context.Background(), leaves, nil)
	if err != nil {
		return t.damaged(err)
	}
	defer records.Release()
	if err := into.choose(records.Schema()); err != nil { // the schema of the chosen columns only
		return err
	}
	for records.Next() {
		if err := into.add(records.RecordBatch()); err != nil {
			return err
		}
	}
	if err := records.Err(); err != nil && err != io.EOF {
		return t.damaged(err)
	}
	return nil
}

func (t *source) file(in *io.SectionReader, into sink) error {
	rows, err := verifyFile(in)
	if err != nil {
		return t.damaged(err)
	}
	if err := t.room(into, rows); err != nil {
		return err
	}
	f, err := ipc.NewFileReader(in, ipc.WithAllocator(t.mem))
	if err != nil {
		return t.damaged(err)
	}
	defer f.Close()
	if err := into.choose(f.Schema()); err != nil {
		return err
	}
	for i := range f.NumRecords() {
		rec, err := f.RecordBatchAt(i)
		if err != nil {
			return t.damaged(err)
		}
		err = into.add(rec)
		rec.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *source) stream(in *io.SectionReader, into sink) error {
	rows, err := verifyStream(in)
	if err != nil {
		return t.fail("it is neither Parquet nor Arrow: "+err.Error(), err)
	}
	if err := t.room(into, rows); err != nil {
		return err
	}
	s, err := ipc.NewReader(in, ipc.WithAllocator(t.mem), ipc.WithMetadataSizeLimit(int64(t.opt.Memory/16)), ipc.WithBodySizeLimit(int64(t.opt.Memory)))
	if err != nil {
		return t.fail("it is neither Parquet nor Arrow: "+strings.ToValidUTF8(err.Error(), "?"), err)
	}
	defer s.Release()
	if err := into.choose(s.Schema()); err != nil {
		return err
	}
	for s.Next() {
		if err := into.add(s.RecordBatch()); err != nil {
			return err
		}
	}
	if err := s.Err(); err != nil {
		return t.damaged(err)
	}
	return nil
}

// choose finds the columns of the features and the target by their names.
func (t *table) choose(schema *arrow.Schema) error {
	var all []string
	for _, f := range schema.Fields() {
		if slices.Contains(all, f.Name) {
			return t.fail(fmt.Sprintf("two columns are called %q; rename one", f.Name), nil)
		}
		all = append(all, f.Name)
	}
	if len(all) < 2 {
		return t.fail(fmt.Sprintf("the number of columns is %d; a target and a feature are needed", len(all)), nil)
	}
	t.name = cmp.Or(t.name, t.opt.Target, all[len(all)-1])
	if !slices.Contains(all, t.name) {
		return t.fail(fmt.Sprintf("there is no column %q; the columns are %q", t.name, all[:min(len(all), 20)]), nil)
	}
	if t.names = t.opt.Features; t.names == nil {
		t.names = slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s == t.name })
	}
	if len(t.names) == 0 || slices.Contains(t.names, t.name) {
		return t.fail(fmt.Sprintf("Features are %q and the target is %q; give at least one feature that is not the target", t.names, t.name), nil)
	}
	t.features = t.features[:0]
	for k, name := range append(slices.Clone(t.names), t.name) {
		c := slices.Index(all, name)
		if c < 0 {
			return t.fail(fmt.Sprintf("there is no column %q; the columns are %q", name, all[:min(len(all), 20)]), nil)
		}
		target := k == len(t.names)
		if kind := schema.Field(c).Type; !isNumber(kind) && !(target && isText(kind)) {
			what := "a feature is numbers or booleans: leave it out by Features, or encode it"
			if target {
				what = "a target is numbers, booleans or strings"
			}
			return t.fail(fmt.Sprintf("column %q is of type %.80v; %s", name, kind, what), nil)
		}
		if target {
			t.target = c
		} else {
			t.features = append(t.features, c)
		}
	}
	if t.x == nil {
		t.x = make([][]float64, len(t.features))
	}
	return nil
}

func isNumber(t arrow.DataType) bool {
	return arrow.IsInteger(t.ID()) || arrow.IsFloating(t.ID()) || t.ID() == arrow.BOOL
}

func isText(t arrow.DataType) bool {
	if d, ok := t.(*arrow.DictionaryType); ok {
		t = d.ValueType
	}
	return t.ID() == arrow.STRING || t.ID() == arrow.LARGE_STRING || t.ID() == arrow.STRING_VIEW
}

// room returns an error if more rows would take the table above its limits.
func (t *source) room(into sink, more int64) error {
	if more < 0 || more > int64(t.opt.MaxRows-into.held()) {
		return t.fail(fmt.Sprintf("it has more than %d rows; allow more by MaxRows in the Options, or split the file", t.opt.MaxRows), nil)
	}
	return nil
}

func (t *table) wanted() []int { return append(slices.Clone(t.features), t.target) }
func (t *table) held() int     { return len(t.y) }

// add appends the rows of a batch to the table.
func (t *table) add(rec arrow.RecordBatch) error {
	if err := t.room(t, rec.NumRows()); err != nil {
		return err
	}
	n := int(rec.NumRows())
	t.mem.take(n * 16 * (len(t.features) + 1)) // a value takes 8 bytes in a column and 8 in a row
	for _, c := range t.wanted() {
		if rec.Column(c).Len() != n {
			return t.fail("the columns have different lengths", nil)
		}
	}
	for k, c := range t.features {
		for i := range n {
			v, wrong := value(rec.Column(c), i)
			if wrong != "" {
				return &datasets.Error{Dataset: t.opt.Name, Row: t.before + len(t.x[k]), Column: k, Feature: t.names[k], Msg: wrong}
			}
			t.x[k] = append(t.x[k], v)
		}
	}
	target := rec.Column(t.target)
	for i := range n {
		row := t.before + len(t.y)
		if isText(target.DataType()) {
			if target.IsNull(i) {
				return &datasets.Error{Dataset: t.opt.Name, Row: row, Column: -1, Msg: "the target, " + t.name + ", is null; leave the row out"}
			}
			label := text(target, i)
			t.mem.take(len(label))
			t.labels, t.y = append(t.labels, label), append(t.y, 0)
			continue
		}
		v, wrong := value(target, i)
		if wrong != "" {
			return &datasets.Error{Dataset: t.opt.Name, Row: row, Column: -1, Msg: "the target, " + t.name + ": " + wrong}
		}
		t.y = append(t.y, v)
	}
	return nil
}

// value returns entry i of a as a number. If that fails, wrong says why.
func value(a arrow.Array, i int) (v float64, wrong string) {
	if a.IsNull(i) {
		return 0, "the value is null; leave the row out or put a number there"
	}
	switch a := a.(type) {
	case *array.Float64:
		v = a.Value(i)
	case *array.Float32:
		v = float64(a.Value(i))
	case *array.Float16:
		v = float64(a.Value(i).Float32())
	case *array.Int8:
		v = float64(a.Value(i))
	case *array.Int16:
		v = float64(a.Value(i))
	case *array.Int32:
		v = float64(a.Value(i))
	case *array.Int64:
		v = float64(a.Value(i))
	case *array.Uint8:
		v = float64(a.Value(i))
	case *array.Uint16:
		v = float64(a.Value(i))
	case *array.Uint32:
		v = float64(a.Value(i))
	case *array.Uint64:
		v = float64(a.Value(i))
	case *array.Boolean:
		if a.Value(i) {
			v = 1
		}
	default:
		return 0, fmt.Sprintf("the value is of type %v and not a number", a.DataType())
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Sprintf("the value is %v; leave the row out or put a number there", v)
	}
	return v, ""
}

func text(a arrow.Array, i int) string {
	if d, ok := a.(*array.Dictionary); ok {
		return text(d.Dictionary(), d.GetValueIndex(i))
	}
	return strings.Clone(a.ValueStr(i))
}

func (t *table) dataset() (*datasets.Dataset, error) {
	n := len(t.y)
	if n == 0 {
		return nil, t.fail("there are no rows", nil)
	}
	d := &datasets.Dataset{Name: t.opt.Name, Y: t.y, Features: slices.Clone(t.names), Target: t.name, X: make([][]float64, n)}
	flat := make([]float64, n*len(t.x))
	for i := range d.X {
		d.X[i], flat = flat[:len(t.x):len(t.x)], flat[len(t.x):]
		for k, column := range t.x {
			d.X[i][k] = column[i]
		}
	}
	if t.labels != nil {
		d.Classes = slices.Clone(t.labels)
		slices.Sort(d.Classes)
		d.Classes = slices.Compact(d.Classes)
		for i, s := range t.labels {
			k, _ := slices.BinarySearch(d.Classes, s)
			d.Y[i] = float64(k)
		}
	}
	if err := d.Check(); err != nil {
		return nil, err
	}
	return d, nil
}

// bounded is an allocator with a limit, for untrusted files.
type bounded struct {
	memory.Allocator
	left     atomic.Int64 // bytes that may still be allocated
	exceeded atomic.Bool
}

var errTooLarge = errors.New("too much memory")

func (b *bounded) Allocate(size int) []byte {
	b.take(size)
	return b.Allocator.Allocate(size)
}

func (b *bounded) Reallocate(size int, old []byte) []byte {
	b.take(size - len(old))
	return b.Allocator.Reallocate(size, old)
}

func (b *bounded) Free(p []byte) {
	b.left.Add(int64(len(p)))
	b.Allocator.Free(p)
}

func (b *bounded) take(size int) {
	if b.left.Add(-int64(size)) < 0 {
		b.exceeded.Store(true)
		panic(errTooLarge)
	}
}

// WriteParquet writes n rows of float64 columns: the features, then the targets. If the data
// have Classes, the target column has the names of the classes as strings. [Read] reads the
// table back without loss.
func WriteParquet(w io.Writer, d *datasets.Dataset) error {
	return write(d, func(rec arrow.RecordBatch) error {
		table := array.NewTableFromRecords(rec.Schema(), []arrow.RecordBatch{rec})
		defer table.Release()
		return pqarrow.WriteTable(table, keepOpen{w}, 1<<16, nil, pqarrow.DefaultWriterProps())
	})
}

// WriteArrow is [WriteParquet] in the stream format of Arrow.
func WriteArrow(w io.Writer, d *datasets.Dataset) error {
	return write(d, func(rec arrow.RecordBatch) error {
		out := ipc.NewWriter(w, ipc.WithSchema(rec.Schema()))
		return errors.Join(out.Write(rec), out.Close())
	})
}

// keepOpen hides the Close method of w, because only the owner of w may close it.
type keepOpen struct{ io.Writer }

func write(d *datasets.Dataset, to func(arrow.RecordBatch) error) error {
	if err := d.Check(); err != nil {
		return err
	}
	if d.Sparse != nil {
		return &datasets.Error{Dataset: d.Name, Row: -1, Column: -1, Msg: "the points are sparse, and the columns have every value; write them out by Dense()"}
	}
	var fields []arrow.Field
	for j := range d.D() {
		fields = append(fields, arrow.Field{Name: d.FeatureName(j), Type: arrow.PrimitiveTypes.Float64})
	}
	target := arrow.Field{Name: cmp.Or(d.Target, "target"), Type: arrow.PrimitiveTypes.Float64}
	if d.Classes != nil {
		target = arrow.Field{Name: cmp.Or(d.Target, "class"), Type: arrow.BinaryTypes.String}
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(append(fields, target), nil))
	defer b.Release()
	for i, row := range d.X {
		for j, v := range row {
			b.Field(j).(*array.Float64Builder).Append(v)
		}
		switch f := b.Field(d.D()).(type) {
		case *array.StringBuilder:
			f.Append(d.ClassName(d.Y[i]))
		case *array.Float64Builder:
			f.Append(d.Y[i])
		}
	}
	rec := b.NewRecordBatch()
	defer rec.Release()
	return to(rec)
}
