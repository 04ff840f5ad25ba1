package arrow

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/svmnb/svmnb/datasets"
)

// inBlocks reads a whole source in blocks of so many rows.
func inBlocks(s datasets.Source, rows int) (*datasets.Dataset, error) {
	h := s.Head()
	d := &datasets.Dataset{Name: h.Name, Features: h.Features, Target: h.Target, Classes: h.Classes}
	err := datasets.EachBlock(context.Background(), s, rows, func(b *datasets.Block) error {
		for i, row := range b.X {
			d.X, d.Y = append(d.X, append([]float64(nil), row...)), append(d.Y, b.Y[i])
		}
		return nil
	})
	return d, err
}

// The blocks of a file have the rows that Read returns.
func TestOpenReadsTheSame(t *testing.T) {
	labelled := datasets.Iris()
	for format, writes := range map[string]func(w io.Writer, d *datasets.Dataset) error{"Parquet": WriteParquet, "Arrow": WriteArrow} {
		for _, d := range []*datasets.Dataset{labelled, datasets.Sinc(500, 0.1, 1)} {
			path := filepath.Join(t.TempDir(), "file")
			f, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(writes(f, d), f.Close()); err != nil {
				t.Fatal(err)
			}
			want, err := Load(path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			s, err := Open(path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if h := s.Head(); h.N != d.N() || h.D != d.D() || h.Name != want.Name || h.Target != want.Target {
				t.Errorf("%s: the head is %+v", format, h)
			}
			for _, rows := range []int{1, 7, 1000} {
				got, err := inBlocks(s, rows)
				if err != nil || !reflect.DeepEqual(got.X, want.X) || !reflect.DeepEqual(got.Y, want.Y) || !reflect.DeepEqual(got.Classes, want.Classes) || !reflect.DeepEqual(got.Features, want.Features) {
					t.Errorf("%s of %s in blocks of %d: %v, %v", format, d.Name, rows, got, err)
				}
			}
			// A pass may end early.
			in, err := s.Open(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(in.Next(datasets.NewBlock(3, d.D())), in.Close()); err != nil {
				t.Error(err)
			}
		}
	}
}

// A file that is larger than the memory of a pass is read, also as one row group.
func TestOpenKeepsWithinItsMemory(t *testing.T) {
	const n, d = 200_000, 8
	var fields []arrow.Field
	for j := range d + 1 {
		fields = append(fields, arrow.Field{Name: string(rune('a' + j)), Type: arrow.PrimitiveTypes.Float64})
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	for i := range n {
		for j := range d + 1 {
			b.Field(j).(*array.Float64Builder).Append(float64(i*(j+1)) / 7)
		}
	}
	rec := b.NewRecordBatch()
	defer rec.Release()
	path := filepath.Join(t.TempDir(), "large.parquet")
	if err := os.WriteFile(path, parqueted(rec, parquet.NewWriterProperties(parquet.WithDictionaryDefault(false), parquet.WithDataPageSize(1<<16))), 0o666); err != nil {
		t.Fatal(err)
	}
	const most = 4 << 20 // the values take 14 MB
	if _, err := Load(path, Options{Memory: most}); err == nil {
		t.Error("the whole file fits, so this test shows nothing")
	}
	s, err := Open(path, Options{Memory: most})
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	err = datasets.EachBlock(context.Background(), s, 1000, func(b *datasets.Block) error {
		for i, row := range b.X {
			if want := float64((rows+i)*3) / 7; row[2] != want {
				t.Fatalf("row %d has %v, want %v", rows+i, row[2], want)
			}
		}
		rows += len(b.X)
		return nil
	})
	if err != nil || rows != n {
		t.Errorf("%d rows, %v", rows, err)
	}
}

func TestOpenErrors(t *testing.T) {
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Float64, Nullable: true}, {Name: "y", Type: arrow.PrimitiveTypes.Float64}}, nil))
	defer b.Release()
	for i := range 10_000 {
		if i == 9000 {
			b.Field(0).AppendNull()
		} else {
			b.Field(0).(*array.Float64Builder).Append(1)
		}
		b.Field(1).(*array.Float64Builder).Append(1)
	}
	rec := b.NewRecordBatch()
	defer rec.Release()
	path := filepath.Join(t.TempDir(), "null.parquet")
	if err := os.WriteFile(path, parqueted(rec, parquet.NewWriterProperties()), 0o666); err != nil {
		t.Fatal(err)
	}
	var bad *datasets.Error
	if _, err := Open(path, Options{}); !errors.As(err, &bad) || bad.Row != 9000 || bad.Column != 0 {
		t.Errorf("null: %v", err)
	}
	if _, err := Open(path, Options{Target: "z"}); err == nil || !strings.Contains(err.Error(), `no column "z"`) {
		t.Errorf("no target: %v", err)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none"), Options{}); err == nil || !strings.Contains(err.Error(), "cannot open") {
		t.Errorf("no file: %v", err)
	}
	if _, err := Open(path, Options{MaxRows: 100}); err == nil || !strings.Contains(err.Error(), "100 rows") {
		t.Errorf("too many rows: %v", err)
	}
	var none *File
	if _, err := none.Open(context.Background()); err == nil || none.Head().N != 0 {
		t.Error("no file was opened")
	}
}

// A file opens in blocks if and only if it is read at once, with the same rows, except for the
// memory that either takes.
func FuzzOpen(f *testing.F) {
	for _, text := range seeds() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
		const most = 1 << 24
		s, err := Open(path, Options{Features: []string{"int8", "bool"}, Target: "utf8", Memory: most, MaxRows: 1000})
		if err != nil {
			return
		}
		got, err := inBlocks(s, 3)
		if err != nil {
			t.Fatalf("it opens, and then: %v", err)
		}
		want, whyNot := Load(path, Options{Features: []string{"int8", "bool"}, Target: "utf8", Memory: 4 * most, MaxRows: 1000})
		if whyNot == nil && (!reflect.DeepEqual(got.X, want.X) || !reflect.DeepEqual(got.Y, want.Y)) {
			t.Errorf("%v, at once %v", got, want)
		}
	})
}
