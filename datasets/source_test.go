package datasets

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// blocks reads a whole source in blocks of so many rows.
func blocks(s Source, rows int) (*Dataset, error) {
	h := s.Head()
	d := &Dataset{Name: h.Name, Features: h.Features, Target: h.Target, Classes: h.Classes}
	err := EachBlock(context.Background(), s, rows, func(b *Block) error {
		if b.From != len(d.X) || len(b.X) == 0 || len(b.X) != len(b.Y) {
			return errors.New("the blocks do not follow each other")
		}
		for i, row := range b.X {
			d.X, d.Y = append(d.X, append([]float64(nil), row...)), append(d.Y, b.Y[i])
		}
		return nil
	})
	return d, err
}

func write(t testing.TB, name, text string) string {
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// A source has the same rows in blocks of any size as the reader that holds all of them.
func TestSourcesReadTheSame(t *testing.T) {
	table := "x,y,kind\n1,2,a\n3,-4.5,b\n\"5\n\",6e3,a\n7,8,c\n"
	numbers := "1;2;0\n3;4;1\n5;6;1\n"
	sparse := "# head\n+1 1:0.5 3:-2\n\n-1 2:1e3\n-1 1:1\n"
	csv1, csv2, svm := write(t, "t.csv", table), write(t, "n.csv", numbers), write(t, "s.svm", sparse)
	open := map[string]func() (Source, *Dataset, error){
		"names": func() (Source, *Dataset, error) {
			want, err := LoadCSV(csv1, CSV{})
			if err != nil {
				return nil, nil, err
			}
			s, err := OpenCSV(csv1, CSV{})
			return s, want, err
		},
		"numbers": func() (Source, *Dataset, error) {
			want, err := LoadCSV(csv2, CSV{Comma: ';', Column: 1, Name: "n"})
			if err != nil {
				return nil, nil, err
			}
			s, err := OpenCSV(csv2, CSV{Comma: ';', Column: 1, Name: "n"})
			return s, want, err
		},
		"LIBSVM": func() (Source, *Dataset, error) {
			want, err := LoadLIBSVM(svm, 0)
			if err != nil {
				return nil, nil, err
			}
			s, err := OpenLIBSVM(svm, 0)
			return s, want, err
		},
		"wide LIBSVM": func() (Source, *Dataset, error) {
			want, err := LoadLIBSVM(svm, 9)
			if err != nil {
				return nil, nil, err
			}
			s, err := OpenLIBSVM(svm, 9)
			return s, want, err
		},
		"sparse": func() (Source, *Dataset, error) {
			s, err := LoadLIBSVMSparse(svm, 0)
			if err != nil {
				return nil, nil, err
			}
			return s, s.Dense(), nil
		},
		"data set": func() (Source, *Dataset, error) { d := Iris(); return d, d, nil },
	}
	for name, do := range open {
		s, want, err := do()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, rows := range []int{1, 2, 3, 1000} {
			got, err := blocks(s, rows)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if !reflect.DeepEqual(got.X, want.X) || !reflect.DeepEqual(got.Y, want.Y) || !reflect.DeepEqual(got.Classes, want.Classes) || !reflect.DeepEqual(got.Features, want.Features) || got.Target != want.Target {
				t.Errorf("%s in blocks of %d: %v, want %v", name, rows, got.X, want.X)
			}
		}
		if h := s.Head(); h.N != want.N() || h.D != want.D() || h.Name != want.Name {
			t.Errorf("%s: the head is %+v", name, h)
		}
		path := filepath.Join(t.TempDir(), "rows")
		if err := SaveRows(context.Background(), path, s, Double); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		saved, err := OpenRows(path)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := LoadSource(context.Background(), saved)
		if err != nil || !reflect.DeepEqual(got.X, want.X) || !reflect.DeepEqual(got.Y, want.Y) || !reflect.DeepEqual(got.Classes, want.Classes) {
			t.Errorf("%s: read back from a file of rows: %v, %v", name, got, err)
		}
	}
}

// A file of rows keeps float64 to the bit and rounds float32.
func TestRowFileRoundTrip(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		n, d := rapid.IntRange(1, 40).Draw(t, "n"), rapid.IntRange(1, 6).Draw(t, "d")
		value := rapid.Float64Range(-1e30, 1e30)
		data := &Dataset{Name: "data", X: rows(n, d), Y: make([]float64, n)}
		for i, row := range data.X {
			for j := range row {
				row[j] = value.Draw(t, "x")
			}
			data.Y[i] = value.Draw(t, "y")
		}
		for _, p := range []Precision{Double, Single} {
			path := filepath.Join(dir, "rows")
			if err := SaveRows(context.Background(), path, data, p); err != nil {
				t.Fatal(err)
			}
			s, err := OpenRows(path)
			if err != nil {
				t.Fatal(err)
			}
			got, err := blocks(s, rapid.IntRange(1, 50).Draw(t, "rows"))
			if err != nil {
				t.Fatal(err)
			}
			for i, row := range data.X {
				for j, v := range append(row[:d:d], data.Y[i]) {
					if p == Single {
						v = float64(float32(v))
					}
					if w := append(got.X[i][:d:d], got.Y[i])[j]; w != v {
						t.Fatalf("%v: row %d, column %d is %v, want %v", p, i, j, w, v)
					}
				}
			}
		}
	})
}

func TestSourceErrors(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "good")
	data := New([][]float64{{1, 2}, {3, 4}}, []float64{0, 1})
	if err := SaveRows(context.Background(), good, data, Single); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	bad := bytes.Clone(whole)
	bad[len(bad)-16-12+4*1+3], bad[len(bad)-16-12+4*1+2] = 0x7f, 0xc0 // row 1, column 1 becomes NaN
	for name, c := range map[string]struct {
		content []byte
		says    string
	}{
		"empty":  {nil, "no file of rows"},
		"other":  {[]byte("x,y\n1,2\n"), "no file of rows"},
		"cut":    {whole[:len(whole)-1], "ends after"},
		"a row":  {append(bytes.Clone(whole[:len(whole)-16-12]), whole[len(whole)-16:]...), "ends after 1 rows"},
		"a head": {whole[:20], "not whole"},
		"NaN":    {bad, "row 1, column 1 (x2): the value is NaN"},
	} {
		path := write(t, "f", string(c.content))
		s, err := OpenRows(path)
		if err == nil {
			_, err = blocks(s, 10)
		}
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		if !errors.As(err, new(*ReadError)) && !errors.As(err, new(*Error)) {
			t.Errorf("%s: the error is a %T", name, err)
		}
	}
	if err := SaveRows(context.Background(), good, New([][]float64{{1e300}}, []float64{0}), Single); err == nil || !strings.Contains(err.Error(), "row 0, column 0 (x1): 1e+300 is too large") {
		t.Errorf("too large for float32: %v", err)
	}
	if again, err := os.ReadFile(good); err != nil || !bytes.Equal(again, whole) {
		t.Error("a failed write has changed the file")
	}
	if _, err := OpenCSV(write(t, "t.csv", "x,y\n1,2\n3,?\n"), CSV{}); err == nil || !strings.Contains(err.Error(), "line 3, column 2") {
		t.Errorf("CSV: %v", err)
	}
	if _, err := OpenLIBSVM(write(t, "t.svm", "1 1:1\n1 2000000:1\n"), 0); err == nil || !strings.Contains(err.Error(), "line 2") || !strings.Contains(err.Error(), "2000000") {
		t.Errorf("LIBSVM: %v", err)
	}
	path := write(t, "t.csv", "x,y\n1,2\n3,4\n")
	s, err := OpenCSV(path, CSV{})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"x,y\n1,2\n", "x,y\n1,2\n3,4\n5,6\n", "x,y,z\n1,2,3\n3,4,5\n"} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := blocks(s, 2); err == nil || !strings.Contains(err.Error(), "has changed") {
			t.Errorf("%q: %v", text, err)
		}
	}
	ctx, stop := context.WithCancelCause(context.Background())
	stop(errors.New("enough"))
	if err := EachBlock(ctx, data, 1, func(*Block) error { return nil }); err == nil || err.Error() != "enough" {
		t.Errorf("interrupted: %v", err)
	}
	big := &Dataset{Name: "big"}
	if _, err := LoadSource(context.Background(), huge{big}); err == nil || !strings.Contains(err.Error(), "GiB") {
		t.Errorf("too large for memory: %v", err)
	}
	var none *RowFile
	if _, err := none.Open(context.Background()); err == nil {
		t.Error("no file was opened")
	}
	in, _ := data.Open(context.Background())
	for _, b := range []*Block{nil, {}, NewBlock(3, 1)} {
		if err := in.Next(b); err == nil || err == io.EOF {
			t.Errorf("a block without room: %v", err)
		}
	}
}

type huge struct{ *Dataset }

func (huge) Head() Head { return Head{Name: "huge", N: 1e7, D: 1e3} }

// No content makes a source panic, and what it reads is finite and as long as it says.
func FuzzOpenRows(f *testing.F) {
	path := filepath.Join(f.TempDir(), "seed")
	if err := SaveRows(context.Background(), path, New([][]float64{{1, 2}, {3, math.Pi}}, []float64{0, 1}), Single); err != nil {
		f.Fatal(err)
	}
	seed, _ := os.ReadFile(path)
	f.Add(seed)
	f.Add(seed[:30])
	f.Fuzz(func(t *testing.T, content []byte) {
		if s, err := OpenRows(write(t, "rows", string(content))); err == nil && s.Head().D < 1<<16 {
			whole(t, s)
		}
	})
}

func whole(t *testing.T, s Source) {
	d, err := blocks(s, 3)
	if err != nil {
		if !errors.As(err, new(*ReadError)) && !errors.As(err, new(*Error)) {
			t.Fatalf("%v is a %T", err, err)
		}
		return
	}
	if len(d.X) != s.Head().N {
		t.Fatalf("%d rows of %d", len(d.X), s.Head().N)
	}
	for i, row := range d.X {
		for _, v := range append(row, d.Y[i]) {
			if !finite(v) {
				t.Fatalf("row %d has %v", i, v)
			}
		}
	}
}

// A text opens in blocks if and only if it is read at once, with the same rows.
func FuzzOpenText(f *testing.F) {
	for _, text := range []string{"x,y\n1,2\n3,4\n", "1,a\n2,b\n", "1 1:2 3:4\n-1 2:5\n", "\ufeff1,2\n", "a,b\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path := write(t, "t", text)
		want, whyNot := LoadCSV(path, CSV{})
		s, err := OpenCSV(path, CSV{})
		if (err == nil) != (whyNot == nil) || err != nil && err.Error() != whyNot.Error() {
			t.Fatalf("%q: %v, at once %v", text, err, whyNot)
		}
		if err == nil {
			whole(t, s)
			if got, err := blocks(s, 2); err != nil || !reflect.DeepEqual(got.X, want.X) || !reflect.DeepEqual(got.Y, want.Y) {
				t.Fatalf("%q: %v, %v", text, got, err)
			}
		}
		points, whyNot := LoadLIBSVMSparse(path, 0)
		lines, err := OpenLIBSVM(path, 0)
		if whyNot != nil && err == nil || whyNot == nil && err != nil && points.D() <= 1<<20 {
			t.Fatalf("%q: %v, at once %v", text, err, whyNot)
		}
		if err == nil && lines.Head().D < 1<<12 {
			whole(t, lines)
			if got, err := blocks(lines, 2); err != nil || !reflect.DeepEqual(got.X, points.Dense().X) {
				t.Fatalf("%q: %v, %v", text, got, err)
			}
		}
	})
}
