package datasets

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"pgregory.net/rapid"
)

// TestTableKinds reads one column at a time and asks for its kind and its values.
func TestTableKinds(t *testing.T) {
	for _, c := range []struct {
		name   string
		fields []string
		kind   Kind
		want   []string // as Format writes them
		note   string
	}{
		{"whole numbers", []string{"1", "-2", "+30"}, Number, []string{"1", "-2", "30"}, ""},
		{"decimals", []string{"1.5", "2e3", ".5"}, Number, []string{"1.5", "2000", "0.5"}, ""},
		{"gaps", []string{"1", "", "NA", "nan", "?", "null"}, Number, []string{"1", "", "", "", "", ""}, ""},
		{"decimal commas", []string{"1,5", "12,25"}, Number, []string{"1.5", "12.25"}, ""},
		{"decimal commas and thousands", []string{"1.234,5", "2,25"}, Number, []string{"1234.5", "2.25"}, ""},
		{"thousands", []string{"1,234.5", "12,000,000"}, Number, []string{"1234.5", "1.2e+07"}, ""},
		{"thousands or decimals", []string{"1,234", "3,142"}, Number, []string{"1234", "3142"}, "decimal commas"},
		{"postal codes", []string{"01234", "80331", "80331"}, Category, []string{"01234", "80331", "80331"}, ""},
		{"a zero", []string{"0", "10"}, Number, []string{"0", "10"}, ""},
		{"infinity is no number", []string{"Inf", "1", "Inf", "1"}, Category, []string{"Inf", "1", "Inf", "1"}, ""},
		{"too large", []string{"1e999", "1"}, Category, []string{"1e999", "1"}, ""},
		{"ISO dates", []string{"2024-02-29", "2023-1-5"}, Time, []string{"2024-02-29", "2023-01-05"}, ""},
		{"ISO times", []string{"2024-02-29 13:05", "2024-03-01T00:00:07Z"}, Time, []string{"2024-02-29 13:05:00", "2024-03-01 00:00:07"}, ""},
		{"an offset", []string{"2024-02-29T13:05:00+02:00"}, Time, []string{"2024-02-29 11:05:00"}, ""},
		{"day.month.year", []string{"31.12.2023", "1.2.2024"}, Time, []string{"2023-12-31", "2024-02-01"}, ""},
		{"month/day/year", []string{"12/31/2023", "1/2/2024"}, Time, []string{"2023-12-31", "2024-01-02"}, ""},
		{"day/month/year", []string{"31/12/2023", "1/2/2024"}, Time, []string{"2023-12-31", "2024-02-01"}, ""},
		{"which is the day?", []string{"3/4/2024", "5/6/2024"}, Time, []string{"2024-03-04", "2024-05-06"}, "month first"},
		{"months in words", []string{"2 Jan 2006", "January 3, 2006"}, Time, []string{"2006-01-02", "2006-01-03"}, ""},
		{"times of day", []string{"13:05", "7:30:15"}, Time, []string{"1970-01-01 13:05:00", "1970-01-01 07:30:15"}, ""},
		{"words", []string{"a", "b", "a", ""}, Category, []string{"a", "b", "a", ""}, ""},
		{"answers", []string{"true", "false", "true"}, Category, []string{"true", "false", "true"}, ""},
		{"sentences", []string{"it was late again", "nobody ever answered the phone", "all was well this time"}, Text, []string{"it was late again", "nobody ever answered the phone", "all was well this time"}, ""},
		{"nothing", []string{"", "NA"}, Number, []string{"", ""}, "no value at all"},
		{"no such day", []string{"2023-02-30", "2023-01-01"}, Category, []string{"2023-02-30", "2023-01-01"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b strings.Builder
			b.WriteString("v;other\n")
			for _, field := range c.fields {
				b.WriteString(field + ";x\n")
			}
			tab := TableReader{}.Read(strings.NewReader(b.String()))
			if err := tab.Check(); err != nil {
				t.Fatal(err)
			}
			col, _ := tab.Column("v")
			var got []string
			for i := range col.N() {
				got = append(got, col.Format(i))
			}
			if col.Kind != c.kind || !slices.Equal(got, c.want) {
				t.Errorf("%v %q; want %v %q", col.Kind, got, c.kind, c.want)
			}
			if notes := strings.Join(tab.Notes, "\n"); c.note == "" && notes != "" || !strings.Contains(notes, c.note) {
				t.Errorf("notes %q; want %q", notes, c.note)
			}
		})
	}
}

func TestTableCategoryOrText(t *testing.T) {
	var names, cities []string
	for i := range 60 {
		names, cities = append(names, fmt.Sprint("customer ", i)), append(cities, fmt.Sprint("city ", i%20))
	}
	tab := TableOfRecords(nil)
	if tab.Check() == nil {
		t.Error("no records are a table")
	}
	for kind, fields := range map[Kind][]string{Text: names, Category: cities} {
		if c, _ := (TableReader{}).column(&Table{}, "v", fields); c.Kind != kind {
			t.Errorf("%q is a %v; want a %v", fields[0], c.Kind, kind)
		}
	}
}

const messy = "id;name;income;joined\n1;\"Meier; Hans\";1.234,5;3.4.2024\n2;\"Zoë \"\"Z\"\" Öz\";NA;13.12.2023\n"

// TestTableEncodings reads the same table in several encodings and separators.
func TestTableEncodings(t *testing.T) {
	want := TableReader{}.Read(strings.NewReader(messy))
	if err := want.Check(); err != nil || want.Columns[1].Format(1) != `Zoë "Z" Öz` || want.Columns[2].Values[0] != 1234.5 {
		t.Fatal(want, err)
	}
	encoded := func(text string, err error) []byte {
		if err != nil {
			t.Fatal(err)
		}
		return []byte(text)
	}
	for name, text := range map[string][]byte{
		"UTF-8 with a mark": []byte("\ufeff" + messy),
		"Windows-1252":      encoded(charmap.Windows1252.NewEncoder().String(messy)),
		"UTF-16, little":    encoded(unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(messy)),
		"UTF-16, big":       encoded(unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewEncoder().String(messy)),
		"Windows lines":     []byte(strings.ReplaceAll(messy, "\n", "\r\n")),
		"tabs":              []byte(strings.ReplaceAll(strings.ReplaceAll(messy, ";", "\t"), "\tHans", "; Hans")),
		"bars":              []byte(strings.ReplaceAll(messy, ";", "|")),
	} {
		got := TableReader{}.Read(bytes.NewReader(text))
		for j := range want.Columns {
			if name == "bars" && j == 1 || name == "tabs" && j == 1 {
				continue // whose name has the separator in it
			}
			if diff := cmp.Diff(want.Columns[j], got.Columns[j], cmp.Comparer(func(a, b float64) bool { return a == b || a != a && b != b })); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	}
}

// TestTableRefuses asks for the place and the words of each error.
func TestTableRefuses(t *testing.T) {
	read := func(text string) *Table { return TableReader{}.Read(strings.NewReader(text)) }
	good := read("a,b,c\n1,x,2024-01-01\n2,y,\n")
	for _, c := range []struct {
		name string
		err  error
		want []string
	}{
		{"empty", read("").Check(), []string{"the table is empty"}},
		{"header only", read("a,b\n").Check(), []string{"no row of data"}},
		{"ragged", read("a,b\n1,2\n3\n").Check(), []string{"line 3", "1 column where the first line has 2"}},
		{"quote", read("a,b\n1,x\"y\n").Check(), []string{"line 2", "column", `""`}},
		{"same name", read("a,a\n1,2\n").Check(), []string{"line 1, column 2", "the name of column 1 too"}},
		{"no file", OpenTable("/nowhere/x.csv").Check(), []string{"cannot open /nowhere/x.csv"}},
		{"kind", TableReader{Kinds: map[string]Kind{"b": Number}}.Read(strings.NewReader("a,b\n1,2\n1,x\n")).Check(), []string{"line 3, column 2", `"x" is not a number`}},
		{"kind of nothing", TableReader{Kinds: map[string]Kind{"z": Number}}.Read(strings.NewReader("a,b\n1,2\n")).Check(), []string{`"z"`, "the columns are a, b"}},
		{"no column", good.Only("a", "z").Check(), []string{`no column "z"`, "a, b, c"}},
		{"chain", OpenTable("/nowhere/x.csv").Without("q").As(Text, "r").Target("y").Check(), []string{"cannot open"}},
		{"missing target", good.Target("c").Check(), []string{"row 1", "column 2 (c)", `Present("c")`}},
		{"time as target", good.Present().Target("c").Check(), []string{"a time is no target"}},
		{"as", good.As(Number, "b").Check(), []string{"row 0", "column 1 (b)", `"x" is not a number`}},
		{"order", good.Order("b", "x").Check(), []string{"row 1", `"y" is not among the levels x`}},
		{"order of numbers", good.Order("a", "1").Check(), []string{"a is a number"}},
		{"all missing", good.With(Column{Name: "gap", Values: []float64{math.NaN(), math.NaN()}}).Present("gap").Check(), []string{"every row"}},
		{"learner", good.Target("a").Check(), []string{"column 0 (b)", "category", "transform.Encode()"}},
		{"columns of different length", good.With(Column{Name: "d", Values: []float64{1}}).Check(), []string{"column 3 (d)", "1 value", "2"}},
		{"bad code", NewTable(Column{Name: "a", Kind: Category, Codes: []int32{3}, Levels: []string{"x"}}).Check(), []string{"row 0, column 0", "code 3"}},
		{"infinite", NewTable(Column{Name: "a", Values: []float64{math.Inf(1)}}).Check(), []string{"row 0, column 0", "infinite"}},
		{"nil", (*Table)(nil).Check(), []string{"nil"}},
		{"zero", (&Table{}).Check(), []string{"no columns"}},
		{"record", TableOfRecords([]map[string]any{{"a": 1.0}, {"a": []int{1}}}).Check(), []string{"row 1", "column 0 (a)", "[]int"}},
		{"no struct", TableOfStructs([]int{1}).Check(), []string{"give structs"}},
		{"no rows", good.Select(nil).Check(), []string{"no rows"}},
		{"row", good.Select([]int{2}).Check(), []string{"row 2", "0 … 1"}},
	} {
		if c.err == nil {
			t.Errorf("%s: no error", c.name)
			continue
		}
		var read *ReadError
		var wrong *Error
		if !errors.As(c.err, &read) && !errors.As(c.err, &wrong) {
			t.Errorf("%s: a %T", c.name, c.err)
		}
		for _, part := range c.want {
			if !strings.Contains(c.err.Error(), part) {
				t.Errorf("%s: %v; want %q in it", c.name, c.err, part)
			}
		}
	}
}

func TestTableTarget(t *testing.T) {
	tab := TableReader{}.Read(strings.NewReader("size,weight,label\n1,2,b\n3,NA,a\n5,6,b\n"))
	d := tab.Target("label")
	if !slices.Equal(d.Classes, []string{"a", "b"}) || !slices.Equal(d.Y, []float64{1, 0, 1}) || d.Table != nil || len(d.X) != 3 || !math.IsNaN(d.X[1][1]) {
		t.Errorf("%+v", d)
	}
	if got := tab.Target("size"); got.Table == nil || !slices.Equal(got.Y, []float64{1, 3, 5}) || got.D() != 2 || got.FeatureName(1) != "label" {
		t.Errorf("%+v", got)
	}
	ordered := tab.Order("label", "c", "b", "a").Target("label")
	if !slices.Equal(ordered.Classes, []string{"b", "a"}) || !slices.Equal(ordered.Y, []float64{0, 1, 0}) {
		t.Errorf("%q %v", ordered.Classes, ordered.Y)
	}
	mixed := tab.Target("size")
	train, test := mixed.Split(0.67, 1)
	if train.N() != 2 || test.N() != 1 || train.Table.N() != 2 {
		t.Error(train, test)
	}
	if c := mixed.ColumnsNamed("weight"); c.Table != nil || c.D() != 1 || c.X[2][0] != 6 {
		t.Errorf("%+v", c)
	}
	if rows, _ := tab.Only("size", "weight").Unpack(); len(rows) != 3 || rows[2][1] != 6 {
		t.Error(rows)
	}
	if rows, _ := tab.Unpack(); rows != nil {
		t.Error(rows)
	}
}

// TestTableOf makes the same table of structs, records, a query and rows of text.
func TestTableOf(t *testing.T) {
	day := time.Date(2024, 5, 6, 0, 0, 0, 0, time.UTC)
	type row struct {
		Age    *int
		City   sql.NullString
		Joined time.Time `svmnb:"joined on"`
		Member bool
		Secret int `svmnb:"-"`
	}
	age := 30
	list := []row{{Age: &age, City: sql.NullString{String: "Bern", Valid: true}, Joined: day, Member: true}, {Joined: day.AddDate(0, 0, 1)}}
	records := []map[string]any{{"Age": 30, "City": "Bern", "joined on": day, "Member": true}, {"joined on": day.AddDate(0, 0, 1), "Member": false}}
	want := "Age,City,joined on,Member\n30,Bern,2024-05-06,true\n,,2024-05-07,false\n"
	query := &answers{names: []string{"Age", "City", "joined on", "Member"}, rows: [][]any{{int64(30), []byte("Bern"), day, true}, {nil, nil, day.AddDate(0, 0, 1), false}}}
	for name, tab := range map[string]*Table{
		"structs": TableOfStructs(list),
		"records": TableOfRecords(records).Only("Age", "City", "joined on", "Member"),
		"query":   TableOfSQL(query),
		"text":    TableReader{}.Records([][]string{{"Age", "City", "joined on", "Member"}, {"30", "Bern", "2024-05-06", "true"}, {"", "", "2024-05-07", "false"}}),
	} {
		var b strings.Builder
		if err := tab.WriteCSV(&b); err != nil || b.String() != want {
			t.Errorf("%s: %v\n%s", name, err, b.String())
		}
		if kinds := tab.Kinds(); kinds["Age"] != Number || kinds["City"] != Category || kinds["joined on"] != Time || kinds["Member"] != Category {
			t.Errorf("%s: %v", name, kinds)
		}
	}
	failing := &answers{names: []string{"a"}, err: errors.New("lost")}
	if err := TableOfSQL(failing).Check(); err == nil || !errors.Is(err, failing.err) {
		t.Error(err)
	}
	if kinds := TableOfStructs([]struct{ Code string }{{"1"}, {"1"}}).Kinds(); kinds["Code"] != Category {
		t.Error("a string became", kinds["Code"])
	}
}

// answers are the rows of a made-up query.
type answers struct {
	names []string
	rows  [][]any
	err   error
	at    int
}

func (a *answers) Columns() ([]string, error) { return a.names, nil }
func (a *answers) Next() bool                 { a.at++; return a.at <= len(a.rows) }
func (a *answers) Err() error                 { return a.err }
func (a *answers) Scan(dest ...any) error {
	for j, v := range a.rows[a.at-1] {
		*dest[j].(*any) = v
	}
	return nil
}

// TestTableRoundTrip writes tables of random columns and reads them back by their kinds.
func TestTableRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "n")
		var columns []Column
		for j := range rapid.IntRange(1, 5).Draw(t, "d") {
			c := Column{Name: fmt.Sprint("c", j), Kind: Kind(rapid.IntRange(0, 3).Draw(t, "kind"))}
			for range n {
				gap := rapid.IntRange(0, 4).Draw(t, "gap") == 0
				switch c.Kind {
				case Category:
					c.Levels = []string{"1", "2,5", "a b", "ü\"x"}
					code := rapid.Int32Range(0, 3).Draw(t, "code")
					if gap {
						code = -1
					}
					c.Codes = append(c.Codes, code)
				case Text:
					text := rapid.StringMatching(`[a-z"',;ü ]{0,12}x`).Draw(t, "text")
					if text = strings.TrimSpace(text); gap || missing(text) {
						text = ""
					}
					c.Texts = append(c.Texts, text)
				case Time:
					v := float64(rapid.Int64Range(-3e15, 3e15).Draw(t, "µs")) / 1e6
					if gap {
						v = math.NaN()
					}
					c.Values = append(c.Values, v)
				default:
					v := rapid.Float64Range(-1e300, 1e300).Draw(t, "v")
					if gap {
						v = math.NaN()
					}
					c.Values = append(c.Values, v)
				}
			}
			columns = append(columns, c)
		}
		tab := NewTable(columns...)
		var b strings.Builder
		if err := tab.WriteCSV(&b); err != nil {
			t.Fatal(err)
		}
		got := TableReader{Kinds: tab.Kinds(), Header: HasHeader, Comma: ','}.Read(strings.NewReader(b.String()))
		if err := got.Check(); err != nil {
			if len(columns) == 1 && strings.Contains(err.Error(), "no row") {
				t.Skip("csv skips empty lines")
			}
			t.Fatal(err, b.String())
		}
		if got.N() != n {
			t.Skip("csv skips empty lines")
		}
		for j, c := range columns {
			for i := range n {
				if a, b := c.Format(i), got.Columns[j].Format(i); a != b {
					t.Fatalf("%v row %d: %q became %q", c.Kind, i, a, b)
				}
			}
		}
	})
}

func FuzzTable(f *testing.F) {
	for _, seed := range []string{messy, "a,b\n1,2\n", "", "\xff\xfea\x00", "a;b\n1,5;x\n", "v\n\"", "a\tb\n2024-01-01\t12:30\n", "1,234,5\n", "\x80;\n1;2"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		tab := TableReader{}.Read(bytes.NewReader(text))
		if err := tab.Check(); err != nil {
			var read *ReadError
			var wrong *Error
			if !errors.As(err, &read) && !errors.As(err, &wrong) {
				t.Fatalf("a %T: %v", err, err)
			}
			return
		}
		if tab.String() == "" {
			t.Fatal("no String")
		}
		for _, name := range tab.Names() {
			_ = tab.Target(name).Check()
			if err := tab.As(Text, name).Check(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
