package arrow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/svmnb/svmnb/datasets"
)

func read(text []byte, opt Options) (*datasets.Dataset, error) {
	return Read(bytes.NewReader(text), int64(len(text)), opt)
}

// formats write a record, each in a format of its own.
var formats = map[string]func(rec arrow.RecordBatch) []byte{
	"Parquet": func(rec arrow.RecordBatch) []byte {
		return parqueted(rec, parquet.NewWriterProperties())
	},
	"Parquet, zstd, small row groups": func(rec arrow.RecordBatch) []byte {
		return parqueted(rec, parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Zstd), parquet.WithMaxRowGroupLength(7), parquet.WithDictionaryDefault(false)))
	},
	"Arrow stream": func(rec arrow.RecordBatch) []byte {
		var b bytes.Buffer
		w := ipc.NewWriter(&b, ipc.WithSchema(rec.Schema()), ipc.WithLZ4())
		must(w.Write(rec))
		must(w.Close())
		return b.Bytes()
	},
	"Arrow file": func(rec arrow.RecordBatch) []byte {
		var b bytes.Buffer
		w, err := ipc.NewFileWriter(&b, ipc.WithSchema(rec.Schema()))
		must(err)
		must(w.Write(rec.NewSlice(0, rec.NumRows()/2)))
		must(w.Write(rec.NewSlice(rec.NumRows()/2, rec.NumRows())))
		must(w.Close())
		return b.Bytes()
	},
}

func parqueted(rec arrow.RecordBatch, props *parquet.WriterProperties) []byte {
	var b bytes.Buffer
	w, err := pqarrow.NewFileWriter(rec.Schema(), &b, props, pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	must(err)
	must(w.Write(rec))
	must(w.Close())
	return b.Bytes()
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func same(t *testing.T, name string, got, want *datasets.Dataset) {
	t.Helper()
	if got.Target != want.Target || !slices.Equal(got.Features, want.Features) || !slices.Equal(got.Classes, want.Classes) || !slices.Equal(got.Y, want.Y) ||
		!slices.EqualFunc(got.X, want.X, func(a, b []float64) bool { return slices.Equal(a, b) }) {
		t.Errorf("%s: %v with %q, %q, %q; want %v with %q, %q, %q", name, got, got.Features, got.Target, got.Classes, want, want.Features, want.Target, want.Classes)
	}
}

// What is written is read back bit for bit, from memory and from a file.
func TestRoundTrip(t *testing.T) {
	regression := datasets.Sinc(50, 0.1, 1)
	regression.X[3][0] = math.Nextafter(1, 2)
	for _, d := range []*datasets.Dataset{datasets.Iris(), regression, datasets.Motorcycle()} {
		for name, write := range map[string]func(b *bytes.Buffer) error{
			"Parquet": func(b *bytes.Buffer) error { return WriteParquet(b, d) },
			"Arrow":   func(b *bytes.Buffer) error { return WriteArrow(b, d) },
		} {
			var b bytes.Buffer
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
			want := *d
			if want.Features == nil {
				for j := range d.D() {
					want.Features = append(want.Features, d.FeatureName(j))
				}
			}
			if want.Target == "" {
				if want.Target = "target"; d.Classes != nil {
					want.Target = "class"
				}
			}
			got, err := read(b.Bytes(), Options{})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if d.Classes == nil || slices.IsSorted(d.Classes) {
				same(t, name, got, &want)
			}
			path := filepath.Join(t.TempDir(), "some.data")
			if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			again, err := Load(path, Options{})
			if err != nil || again.Name != "some" || again.Source != path {
				t.Fatal(again, err)
			}
			same(t, name, again, got)
		}
	}
	sparse := datasets.NewSparse(datasets.CSR{Start: []int{0, 1}, Index: []int32{0}, Value: []float64{1}, D: 2}, []float64{1})
	if err := WriteParquet(&bytes.Buffer{}, sparse); !errors.As(err, new(*datasets.Error)) {
		t.Errorf("sparse points: %v", err)
	}
}

// mixed is a record of every type that is read.
func mixed(n int) arrow.RecordBatch {
	kinds := []arrow.DataType{
		arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
		arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Boolean, arrow.BinaryTypes.String,
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String},
	}
	var fields []arrow.Field
	for _, k := range kinds {
		name := k.String()
		if _, ok := k.(*arrow.DictionaryType); ok {
			name = "dictionary"
		}
		fields = append(fields, arrow.Field{Name: name, Type: k, Nullable: true})
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	for i := range n {
		for c := range kinds {
			text := fmt.Sprint(i % 3)
			switch f := b.Field(c).(type) {
			case *array.BooleanBuilder:
				f.Append(i%2 == 1)
			case *array.BinaryDictionaryBuilder:
				must(f.AppendString("class " + text))
			default:
				must(f.AppendValueFromString(text))
			}
		}
	}
	return b.NewRecordBatch()
}

func TestTypes(t *testing.T) {
	rec := mixed(20)
	features := []string{"uint64", "int8", "bool", "float", "double", "int16", "int32", "int64", "uint8", "uint16", "uint32"}
	for i, f := range features {
		if len(rec.Schema().FieldIndices(f)) == 0 {
			features[i] = map[string]string{"float": "float32", "double": "float64"}[f]
		}
	}
	for name, write := range formats {
		text := write(rec)
		for _, target := range []string{"dictionary", "utf8"} {
			d, err := read(text, Options{Name: "mixed", Features: features, Target: target})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if d.N() != 20 || !slices.Equal(d.Features, features) || len(d.Classes) != 3 || !strings.HasSuffix(d.ClassName(d.Y[4]), "1") {
				t.Errorf("%s: %v", name, d)
			}
			for i, row := range d.X {
				for j, v := range row {
					want := float64(i % 3)
					if features[j] == "bool" {
						want = float64(i % 2)
					}
					if v != want {
						t.Fatalf("%s: row %d, %s is %v, want %v", name, i, features[j], v, want)
					}
				}
			}
		}
		for _, bad := range []struct {
			opt  Options
			says string
		}{
			{Options{}, "leave it out by Features"},
			{Options{Target: "x"}, `there is no column "x"`},
			{Options{Features: []string{"int8", "y"}}, `there is no column "y"`},
			{Options{Features: []string{"int8"}, Target: "int8"}, "not the target"},
			{Options{Features: []string{}, Target: "int8"}, "give at least one feature"},
		} {
			_, err := read(text, bad.opt)
			if !errors.As(err, new(*datasets.ReadError)) || !strings.Contains(err.Error(), bad.says) {
				t.Errorf("%s, %+v: %v; want %q", name, bad.opt, err, bad.says)
			}
		}
	}
}

// A null or a number that is none is named by its row and column.
func TestHoles(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Float64, Nullable: true}, {Name: "b", Type: arrow.PrimitiveTypes.Float64, Nullable: true}, {Name: "y", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	for says, spoil := range map[string]func(b *array.RecordBuilder){
		"row 9, column 1 (b): the value is null": func(b *array.RecordBuilder) {
			b.Field(1).(*array.Float64Builder).AppendNull()
			b.Field(0).(*array.Float64Builder).Append(1)
			b.Field(2).(*array.StringBuilder).Append("")
		},
		"row 9, column 0 (a): the value is NaN": func(b *array.RecordBuilder) {
			b.Field(0).(*array.Float64Builder).Append(math.NaN())
			b.Field(1).(*array.Float64Builder).Append(1)
			b.Field(2).(*array.StringBuilder).Append("")
		},
		"row 9: the target, y, is null": func(b *array.RecordBuilder) {
			b.Field(0).(*array.Float64Builder).Append(1)
			b.Field(1).(*array.Float64Builder).Append(1)
			b.Field(2).(*array.StringBuilder).AppendNull()
		},
		"row 9, column 1 (b): the value is -Inf; leave": func(b *array.RecordBuilder) {
			b.Field(0).(*array.Float64Builder).Append(1)
			b.Field(1).(*array.Float64Builder).Append(math.Inf(-1))
			b.Field(2).(*array.StringBuilder).Append("")
		},
	} {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for i := range 9 {
			b.Field(0).(*array.Float64Builder).Append(float64(i))
			b.Field(1).(*array.Float64Builder).Append(2)
			b.Field(2).(*array.StringBuilder).Append("c")
		}
		spoil(b)
		rec := b.NewRecordBatch()
		for name, write := range formats {
			_, err := read(write(rec), Options{})
			if !errors.As(err, new(*datasets.Error)) || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v; want %q", name, err, says)
			}
		}
	}
}

func TestDamaged(t *testing.T) {
	for _, text := range []string{"", "PAR1", "PAR1PAR1", "PAR1\x00\x00\x00\x00PAR1", "ARROW1", "1,2\n3,4\n", "\xff\xff\xff\xff\xff\xff\xff\x7f", "\xff\xff\xff\xff\x00\x00\x00\x7f"} {
		if d, err := read([]byte(text), Options{}); !errors.As(err, new(*datasets.ReadError)) {
			t.Errorf("%q: %v, %v", text, d, err)
		}
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none"), Options{}); !errors.As(err, new(*datasets.ReadError)) || !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// constant is a file of so many rows that are all the same, which both formats write
// in little: runs in Parquet, LZ4 in Arrow.
func constant(format string, rows int) []byte {
	const batch = 1 << 16
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int8}, {Name: "y", Type: arrow.FixedWidthTypes.Boolean}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for range batch {
		b.Field(0).(*array.Int8Builder).Append(1)
		b.Field(1).(*array.BooleanBuilder).Append(true)
	}
	rec := b.NewRecordBatch()
	var out bytes.Buffer
	write, end := func(arrow.RecordBatch) error { return nil }, func() error { return nil }
	switch format {
	case "Parquet":
		w, err := pqarrow.NewFileWriter(schema, &out, parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Zstd)), pqarrow.NewArrowWriterProperties())
		must(err)
		write, end = w.WriteBuffered, w.Close
	case "Arrow stream":
		w := ipc.NewWriter(&out, ipc.WithSchema(schema), ipc.WithLZ4())
		write, end = w.Write, w.Close
	case "Arrow file":
		w, err := ipc.NewFileWriter(&out, ipc.WithSchema(schema), ipc.WithLZ4())
		must(err)
		write, end = w.Write, w.Close
	}
	for ; rows > 0; rows -= batch {
		must(write(rec.NewSlice(0, int64(min(rows, batch)))))
	}
	must(end())
	return out.Bytes()
}

// A small file of many rows is refused before they take memory, with the limit and the
// option that lifts it.
func TestRowsAreBounded(t *testing.T) {
	for _, format := range []string{"Parquet", "Arrow stream", "Arrow file"} {
		text := constant(format, 12_000_000)
		for _, c := range []struct {
			opt  Options
			says string // "" for a data set
			most uint64 // MiB that reading may take
		}{
			{Options{}, "it has more than 10000000 rows; allow more by MaxRows", 64},
			{Options{MaxRows: 1000}, "it has more than 1000 rows; allow more by MaxRows", 64},
			{Options{MaxRows: 12_000_000, Memory: 1 << 20}, "it takes more than 1048576 bytes of memory; read fewer columns by Features, or allow more by Memory", 64},
			{Options{MaxRows: -1}, "MaxRows is -1", 1},
			{Options{Memory: -1}, "Memory is -1", 1},
			{Options{MaxRows: math.MaxInt, Memory: 1}, "it takes more than 1 bytes", 64},
		} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := read(text, c.opt)
			runtime.ReadMemStats(&after)
			if !errors.As(err, new(*datasets.ReadError)) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s of %d bytes, %+v: %v; want %q", format, len(text), c.opt, err, c.says)
			}
			if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > c.most {
				t.Errorf("%s of %d bytes, %+v: it has taken %d MiB", format, len(text), c.opt, took)
			}
		}
	}
	text := constant("Parquet", 100_000)
	if _, err := read(text, Options{MaxRows: 99_999}); err == nil {
		t.Error("a row more than the limit is read")
	}
	if d, err := read(text, Options{MaxRows: 100_000}); err != nil || d.N() != 100_000 {
		t.Error(d, err)
	}
	if d, err := read(text, Options{Memory: math.MaxInt}); err != nil || d.N() != 100_000 {
		t.Error(d, err)
	}
}

// seeds are good files of each format, for damage.
func seeds() [][]byte {
	var list [][]byte
	rec := mixed(9)
	for _, name := range []string{"Parquet", "Parquet, zstd, small row groups", "Arrow stream", "Arrow file"} {
		list = append(list, formats[name](rec))
	}
	return list
}

// A file with damage at random places gives a data set or an error.
func TestMutated(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	good := seeds()
	for range 2000 {
		text := slices.Clone(good[rng.IntN(len(good))])
		for range 1 + rng.IntN(4) {
			text[rng.IntN(len(text))] = byte(rng.Uint32())
		}
		if rng.IntN(4) == 0 {
			text = text[:rng.IntN(len(text))]
		}
		check(t, text)
	}
}

func check(t *testing.T, text []byte) {
	d, err := read(text, Options{Features: []string{"int8", "bool"}, Target: "utf8", Memory: 1 << 22}) // more is only slower
	switch {
	case err == nil:
		if err := d.Check(); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
	case !errors.As(err, new(*datasets.ReadError)) && !errors.As(err, new(*datasets.Error)):
		t.Fatalf("%q: %v", text, err)
	}
}

func FuzzRead(f *testing.F) {
	for _, text := range seeds() {
		f.Add(text)
	}
	f.Fuzz(check)
}

// Files of pyarrow, the reference implementation, where it is installed.
func TestPyarrow(t *testing.T) {
	const python = "/usr/bin/python3"
	if exec.Command(python, "-c", "import pyarrow.parquet, pyarrow.feather").Run() != nil {
		t.Skip("no pyarrow for /usr/bin/python3")
	}
	dir := t.TempDir()
	program := `
import sys, pyarrow as pa, pyarrow.parquet as pq, pyarrow.feather as f
t = pa.table({"a": [1.5, 2, 3], "b": [1, 0, 1], "kind": pa.array(["u", "v", "u"]).dictionary_encode()})
pq.write_table(t, sys.argv[1] + "/t.parquet"); f.write_feather(t, sys.argv[1] + "/t.feather")`
	if out, err := exec.CommandContext(context.Background(), python, "-c", program, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := &datasets.Dataset{X: [][]float64{{1.5, 1}, {2, 0}, {3, 1}}, Y: []float64{0, 1, 0}, Features: []string{"a", "b"}, Target: "kind", Classes: []string{"u", "v"}}
	for _, name := range []string{"t.parquet", "t.feather"} {
		got, err := Load(filepath.Join(dir, name), Options{})
		if err != nil {
			t.Fatal(err)
		}
		same(t, name, got, want)
	}
}

// Names come back as they were, or are refused: never as others.
func TestHostileNames(t *testing.T) {
	for _, name := range []string{"a\r\nb", " around ", "nul \x00", "no UTF-8 \xff", "\ufeffmark", "NA", "null", "1e3", "<script>", "\u202eback", `"`, "ARROW:schema", "PAR1", strings.Repeat("long ", 20_000), ""} {
		for format, write := range map[string]func(io.Writer, *datasets.Dataset) error{"Parquet": WriteParquet, "Arrow": WriteArrow} {
			d := &datasets.Dataset{Name: name, X: [][]float64{{1, 2}, {3, 4}}, Y: []float64{0, 1}, Features: []string{name + "1", name + "2"}, Target: name + "y", Classes: []string{name + "a", name + "b"}}
			var b bytes.Buffer
			if err := write(&b, d); err != nil {
				if !errors.As(err, new(*datasets.Error)) {
					t.Errorf("%s of %.20q: %T %v", format, name, err, err)
				}
				continue
			}
			got, err := read(b.Bytes(), Options{})
			if err != nil {
				if !errors.As(err, new(*datasets.ReadError)) || utf8.ValidString(name) {
					t.Errorf("%s of %.20q is not read back: %v", format, name, err)
				}
				continue
			}
			same(t, fmt.Sprintf("%s of %.20q", format, name), got, d)
		}
	}
}
