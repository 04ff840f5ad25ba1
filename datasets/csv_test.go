package datasets

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

func TestReadCSV(t *testing.T) {
	x := [][]float64{{1, 2}, {3, 4.5}}
	for _, c := range []struct {
		name, text string
		opt        CSV
		want       Dataset
	}{
		{"numbers", "1,2,7\n3,4.5,-8\n", CSV{}, Dataset{Name: "csv", Y: []float64{7, -8}}},
		{"no end of line, spaces, CRLF, blank line", " 1, 2 ,7\r\n\r\n3,4.5, -8", CSV{Name: "mine"}, Dataset{Name: "mine", Y: []float64{7, -8}}},
		{"mark of byte order", "\xef\xbb\xbf1,2,7\n3,4.5,-8\n", CSV{}, Dataset{Name: "csv", Y: []float64{7, -8}}},
		{"names of classes", "1,2,b\n3,4.5,a\n", CSV{}, Dataset{Name: "csv", Y: []float64{1, 0}, Classes: []string{"a", "b"}}},
		{"header", "u,v,y\n1,2,0\n3,4.5,1\n", CSV{}, Dataset{Name: "csv", Y: []float64{0, 1}, Features: []string{"u", "v"}, Target: "y"}},
		{"quoted header", "\"u, of\",\"v\"\"\",y\n1,2,0\n\"3\",4.5,1\n", CSV{}, Dataset{Name: "csv", Y: []float64{0, 1}, Features: []string{"u, of", `v"`}, Target: "y"}},
		{"header of numbers", "1,2,3\n1,2,0\n3,4.5,1\n", CSV{Header: HasHeader}, Dataset{Name: "csv", Y: []float64{0, 1}, Features: []string{"1", "2"}, Target: "3"}},
		{"real targets", "u,g,v\n1,9.81,2\n3,-1e-3,4.5\n", CSV{Target: "g"}, Dataset{Name: "csv", Y: []float64{9.81, -0.001}, Features: []string{"u", "v"}, Target: "g"}},
		{"target first", "0,1,2\n1,3,4.5\n", CSV{Column: 1}, Dataset{Name: "csv", Y: []float64{0, 1}}},
		{"target named", "u,y,v\n1,red,2\n3,blue,4.5\n", CSV{Target: "y"}, Dataset{Name: "csv", Y: []float64{1, 0}, Features: []string{"u", "v"}, Target: "y", Classes: []string{"blue", "red"}}},
		{"semicolon, comment", "# here\n1;2;7\n#3;3;3\n3;4.5;8\n", CSV{Comma: ';', Comment: '#'}, Dataset{Name: "csv", Y: []float64{7, 8}}},
		{"infinity is a name", "1,2,inf\n3,4.5,1\n", CSV{Header: NoHeader}, Dataset{Name: "csv", Y: []float64{1, 0}, Classes: []string{"1", "inf"}}},
	} {
		c.want.X = x
		for split, r := range map[string]io.Reader{"whole": strings.NewReader(c.text), "byte by byte": iotest.OneByteReader(strings.NewReader(c.text))} {
			got, err := ReadCSV(r, c.opt)
			if err != nil {
				t.Errorf("%s, %s: %v", c.name, split, err)
			} else if d := diff(got, &c.want); d != "" {
				t.Errorf("%s, %s: %s", c.name, split, d)
			}
		}
	}
}

func TestReadCSVErrors(t *testing.T) {
	for _, c := range []struct {
		name, text   string
		opt          CSV
		line, column int
		says         []string
	}{
		{"empty", "", CSV{}, 0, 0, []string{"empty"}},
		{"blank", "\n\n", CSV{}, 0, 0, []string{"empty"}},
		{"header only", "a,b\n", CSV{}, 0, 0, []string{"no row", "set Header"}},
		{"one column", "1\n2\n", CSV{}, 1, 0, []string{"only one column", "set Comma"}},
		{"wrong separator", "1;2;3\n", CSV{}, 1, 0, []string{"only one column"}},
		{"word", "a,b,y\n1,2,0\n3,x4,1\n", CSV{Name: "mine"}, 3, 2, []string{"mine, line 3, column 2: b: ", `"x4"`, "not a number"}},
		{"long word", "1,2,0\n3," + strings.Repeat("x", 1000) + ",1\n", CSV{}, 2, 2, []string{"xxx…"}},
		{"missing", "1,2,0\n\n3,,1\n", CSV{}, 3, 2, []string{"missing"}},
		{"NA", "1,2,0\n3,NA,1\n", CSV{}, 2, 2, []string{"missing"}},
		{"missing target", "1,2,0\n3,4,?\n", CSV{}, 2, 3, []string{"missing"}},
		{"missing in the first line", ",b,c\n1,2,0\n", CSV{}, 1, 1, []string{"missing", "set Header"}},
		{"infinite", "1,2,0\n-Inf,2,1\n", CSV{}, 2, 1, []string{"not a finite number"}},
		{"too large", "1,2,0\n1,1e999,1\n", CSV{}, 2, 2, []string{"too large"}},
		{"too large first", "1e999,x\n1,1\n", CSV{}, 1, 1, []string{"too large"}},
		{"short row", "1,2,0\n3,4\n", CSV{}, 2, 0, []string{"2 columns", "3"}},
		{"long row", "1,2,0\n3,4,5,6\n", CSV{}, 2, 0, []string{"4 columns", "3"}},
		{"bare quote", "1,2,0\n1,2\"3,1\n", CSV{}, 2, 2, []string{"quote"}},
		{"open quote", "1,2,0\n1,\"2,1\n3,4,1\n", CSV{}, 2, 2, []string{"quote"}},
		{"mixed header", "1,2,label\n3,4,1\n5,6,0\n", CSV{}, 1, 3, []string{`"label"`, "set Header"}},
		{"header with a number", "u,2,y\n3,4,1\n", CSV{}, 1, 1, []string{`"u"`, "set Header"}},
		{"after a quoted line end", "u,\"v\nw\",y\n1,2,0\n1,z,0\n", CSV{}, 4, 2, []string{`"z"`}},
		{"no such target", "u,v\n1,2\n", CSV{Target: "w"}, 1, 0, []string{`"w"`, "u, v"}},
		{"two such targets", "u,v,u\n1,2,3\n", CSV{Target: "u"}, 1, 3, []string{`"u"`, "set Column"}},
		{"target without header", "1,2\n", CSV{Target: "w"}, 1, 0, []string{"no header", `"w"`}},
		{"target twice", "u,v\n1,2\n", CSV{Target: "u", Column: 1}, 0, 0, []string{"both set"}},
		{"column too large", "1,2\n", CSV{Column: 3}, 0, 0, []string{"Column is 3", "1 … 2"}},
		{"column negative", "1,2\n", CSV{Column: -1}, 0, 0, []string{"Column is -1"}},
		{"separator", "1,2\n", CSV{Comma: '\n'}, 0, 0, []string{"delimiter"}},
		{"NUL and bytes that are not UTF-8", "1,\x00\xff\n2,3\n", CSV{}, 1, 2, []string{"not a number"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := ReadCSV(strings.NewReader(c.text), c.opt)
			if d != nil {
				t.Errorf("data %v beside the error", d)
			}
			e := wantError[*ReadError](t, err, c.says...)
			if e.Line != c.line || e.Column != c.column {
				t.Errorf("place is line %d, column %d, want %d, %d: %v", e.Line, e.Column, c.line, c.column, err)
			}
		})
	}

	broken := errors.New("cable pulled")
	_, err := ReadCSV(io.MultiReader(strings.NewReader("1,2\n3,4\n"), iotest.ErrReader(broken)), CSV{})
	wantError[*ReadError](t, err, "cable pulled")
	if !errors.Is(err, broken) {
		t.Errorf("%v does not wrap its cause", err)
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "flowers.csv")
	if err := os.WriteFile(path, []byte("1,2,a\n3,4,b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := LoadCSV(path, CSV{})
	if err != nil || d.Name != "flowers" || d.Source != path || d.N() != 2 {
		t.Errorf("%v, %v", d, err)
	}
	if d, err := LoadCSV(path, CSV{Name: "mine"}); err != nil || d.Name != "mine" {
		t.Errorf("%v, %v", d, err)
	}
	_, err = LoadLIBSVM(path, 0)
	wantError[*ReadError](t, err, "flowers, line 1, column 1")

	for _, missing := range []string{filepath.Join(dir, "none.csv"), dir} {
		_, err = LoadCSV(missing, CSV{})
		wantError[*ReadError](t, err)
		_, err = LoadLIBSVM(missing, 0)
		wantError[*ReadError](t, err)
	}
	if !errors.Is(func() error { _, err := LoadCSV(filepath.Join(dir, "none.csv"), CSV{}); return err }(), os.ErrNotExist) {
		t.Error("a missing file is not os.ErrNotExist")
	}
}

// names gives the class of each row by name, which is what a table keeps.
func names(d *Dataset) []string {
	s := make([]string, d.N())
	for i, y := range d.Y {
		s[i] = d.ClassName(y)
	}
	return s
}

func TestCSVRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := classified(t)
		if rapid.Bool().Draw(t, "real targets") {
			d.Classes = nil
			for i := range d.Y {
				d.Y[i] = rapid.Float64Range(-1e300, 1e300).Draw(t, "y")
			}
		}
		var file bytes.Buffer
		if err := d.WriteCSV(&file); err != nil {
			t.Fatal(err)
		}
		got, err := ReadCSV(&file, CSV{})
		if err != nil {
			t.Fatal(err)
		}
		if !equalRows(got.X, d.X) || !slices.Equal(names(got), names(d)) || got.Check() != nil {
			t.Fatalf("wrote %v %v, read %v %v", d.X, names(d), got.X, names(got))
		}
	})
	for _, d := range []*Dataset{Iris(), Wine(), BreastCancer(), Diabetes(), CO2(), Motorcycle(), Cars()} {
		var file bytes.Buffer
		if err := d.WriteCSV(&file); err != nil {
			t.Fatal(err)
		}
		got, err := ReadCSV(&file, CSV{Name: d.Name})
		if err != nil {
			t.Fatal(err)
		}
		got.Source, got.Licence = d.Source, d.Licence
		if x := diff(got, d); x != "" {
			t.Error(x)
		}
	}
}

func TestWriteErrors(t *testing.T) {
	bad, full := Moons(1, 0, 0), errors.New("disk full")
	for name, write := range map[string]func(*Dataset, io.Writer) error{"CSV": (*Dataset).WriteCSV, "LIBSVM": (*Dataset).WriteLIBSVM} {
		wantError[*Error](t, write(bad, io.Discard), "n is 1")
		if err := write(Iris(), failing{full}); !errors.Is(err, full) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type failing struct{ error }

func (f failing) Write([]byte) (int, error) { return 0, f.error }

func FuzzReadCSV(f *testing.F) {
	for _, s := range []string{"", "1,2,a\n", "u,v,y\n1,2,0\n3,4,1\n", "1;2\n", "\"1\n\",2\n", "\xef\xbb\xbf1,2", "1,\"2", ",,\n", "a,b\n?,1\n", "1e999,1\n", "0x1p-2,1_0\n", "1,nan\n1,inf\n", "a\r\nb\r\n"} {
		f.Add(s, "", 0, byte(0))
	}
	f.Add("u;y;v\n1;red;2\n", "y", 0, byte(';'))
	f.Add("1,2,3\n4,5,6", "", 2, byte(','))
	f.Fuzz(func(t *testing.T, text, target string, column int, comma byte) {
		d, err := ReadCSV(strings.NewReader(text), CSV{Target: target, Column: column, Comma: rune(comma)})
		if err != nil {
			wantError[*ReadError](t, err)
			return
		}
		if err := d.Check(); err != nil {
			t.Fatalf("read without an error, but %v", err)
		}
		var file bytes.Buffer
		if err := d.WriteCSV(&file); err != nil { // a second mark, after the one that is passed over
			if wantError[*Error](t, err); !strings.Contains(text, "\ufeff") {
				t.Fatal(err)
			}
			return
		}
		again, err := ReadCSV(&file, CSV{Header: HasHeader})
		if err != nil {
			t.Fatal(err)
		}
		if !equalRows(again.X, d.X) || !slices.Equal(names(again), names(d)) {
			t.Fatalf("wrote %v %v, read %v %v", d.X, names(d), again.X, names(again))
		}
	})
}
