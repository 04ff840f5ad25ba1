package arrow

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/svmnb/svmnb/datasets"
)

// visits is a batch of columns of many types, with nulls.
func visits(list bool) arrow.RecordBatch {
	mem := memory.DefaultAllocator
	fields := []arrow.Field{
		{Name: "age", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "weight", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "member", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
		{Name: "city", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, Nullable: true},
		{Name: "said", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "day", Type: arrow.FixedWidthTypes.Date32, Nullable: true},
		{Name: "came", Type: &arrow.TimestampType{Unit: arrow.Millisecond}, Nullable: true},
		{Name: "hour", Type: arrow.FixedWidthTypes.Time32s, Nullable: true},
	}
	if list {
		fields = append(fields, arrow.Field{Name: "list", Type: arrow.ListOf(arrow.PrimitiveTypes.Int8), Nullable: true})
	}
	b := array.NewRecordBuilder(mem, arrow.NewSchema(fields, nil))
	defer b.Release()
	b.Field(0).(*array.Int32Builder).AppendValues([]int32{30, 0, 50}, []bool{true, false, true})
	b.Field(1).(*array.Float64Builder).AppendValues([]float64{70.5, math.NaN(), 60}, nil)
	b.Field(2).(*array.BooleanBuilder).AppendValues([]bool{true, false, false}, []bool{true, true, false})
	city := b.Field(3).(*array.BinaryDictionaryBuilder)
	for _, s := range []string{"Genf", "Bern"} {
		if err := city.AppendString(s); err != nil {
			panic(err)
		}
	}
	city.AppendNull()
	b.Field(4).(*array.StringBuilder).AppendValues([]string{"it was late again today", "", "nobody answers the phone"}, []bool{true, false, true})
	b.Field(5).(*array.Date32Builder).AppendValues([]arrow.Date32{arrow.Date32FromTime(time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)), 0, -1}, []bool{true, false, true})
	b.Field(6).(*array.TimestampBuilder).AppendValues([]arrow.Timestamp{1709211907250, 0, 0}, []bool{true, false, true})
	b.Field(7).(*array.Time32Builder).AppendValues([]arrow.Time32{13*3600 + 5*60, 0, 59}, []bool{true, false, true})
	if list {
		for range 3 {
			b.Field(8).AppendNull()
		}
	}
	return b.NewRecordBatch()
}

const visitsText = `age,weight,member,city,said,day,came,hour
30,70.5,true,Genf,it was late again today,2024-02-29,2024-02-29 13:05:07.25,1970-01-01 13:05:00
,,false,Bern,,,,
50,60,,,nobody answers the phone,1969-12-31,1970-01-01,1970-01-01 00:00:59
`

func streamed(rec arrow.RecordBatch, times int) []byte {
	var b bytes.Buffer
	w := ipc.NewWriter(&b, ipc.WithSchema(rec.Schema()))
	for range times {
		must(w.Write(rec))
	}
	must(w.Close())
	return b.Bytes()
}

// Tables of all types come back from Parquet and Arrow, in one batch and in several.
func TestTables(t *testing.T) {
	rec := visits(false)
	for name, file := range map[string][]byte{"parquet": parqueted(rec, nil), "stream": streamed(rec, 1)} {
		got, err := ReadTable(bytes.NewReader(file), int64(len(file)), Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var b strings.Builder
		if err := got.WriteCSV(&b); err != nil || b.String() != visitsText {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, b.String(), visitsText)
		}
		for column, kind := range map[string]datasets.Kind{"age": datasets.Number, "member": datasets.Category, "city": datasets.Category, "said": datasets.Text, "day": datasets.Time, "hour": datasets.Time} {
			if c, _ := got.Column(column); c.Kind != kind {
				t.Errorf("%s: %s is a %v; want a %v", name, column, c.Kind, kind)
			}
		}
	}
	twice := streamed(rec, 2)
	if got, err := ReadTable(bytes.NewReader(twice), int64(len(twice)), Options{Features: []string{"city", "age"}}); err != nil || got.N() != 6 || strings.Join(got.Names(), " ") != "city age" || got.Columns[0].Format(4) != "Bern" {
		t.Error(got, err)
	}
	odd := streamed(visits(true), 1)
	for _, c := range []struct {
		text []byte
		opt  Options
		want string
	}{
		{odd, Options{}, `column "list" is of type`},
		{odd, Options{Features: []string{"nobody"}}, `no column "nobody"`},
		{twice, Options{MaxRows: 5}, "more than 5 rows"},
		{twice, Options{Memory: 100}, "more than 100 bytes"},
		{nil, Options{}, "the file is empty"},
	} {
		var wrong *datasets.ReadError
		if _, err := ReadTable(bytes.NewReader(c.text), int64(len(c.text)), c.opt); !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v; want %q", err, c.want)
		}
	}
	if _, err := ReadTable(bytes.NewReader(odd), int64(len(odd)), Options{Features: []string{"age"}}); err != nil {
		t.Error("a column that is not asked for does not matter", err)
	}
	if _, err := LoadTable("/nowhere/x.parquet", Options{}); err == nil {
		t.Error("no file is a table")
	}
}

func FuzzReadTable(f *testing.F) {
	f.Add(parqueted(visits(false), nil))
	f.Add(streamed(visits(true), 1))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := ReadTable(bytes.NewReader(text), int64(len(text)), Options{Memory: 1 << 24, MaxRows: 1000})
		if err == nil && got.Check() != nil {
			t.Fatal(got.Check())
		}
	})
}
