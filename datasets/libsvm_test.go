package datasets

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func TestReadLIBSVM(t *testing.T) {
	for _, c := range []struct {
		name, text string
		dims       int
		x          [][]float64
		y          []float64
	}{
		{"plain", "+1 1:0.5 3:-2\n-1 2:1e3\n", 0, [][]float64{{0.5, 0, -2}, {0, 1000, 0}}, []float64{1, -1}},
		{"dims", "+1 1:0.5\n", 3, [][]float64{{0.5, 0, 0}}, []float64{1}},
		{"spaces, tabs, CRLF, blank lines, no end", "\n 1\t1:2 \r\n\r\n-1  2:3  ", 0, [][]float64{{2, 0}, {0, 3}}, []float64{1, -1}},
		{"comments", "# head\n1 1:2 # 2:3\n0#\n", 0, [][]float64{{2}, {0}}, []float64{1, 0}},
		{"real targets, nothing but zeros", "1.5e2\n-.25 2:1\n", 0, [][]float64{{0, 0}, {0, 1}}, []float64{150, -0.25}},
		{"leading zeros", "1 01:2\n", 0, [][]float64{{2}}, []float64{1}},
	} {
		want := &Dataset{Name: "libsvm", X: c.x, Y: c.y}
		got, err := ReadLIBSVM(iotest.OneByteReader(strings.NewReader(c.text)), c.dims)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if d := diff(got, want); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

func TestReadLIBSVMErrors(t *testing.T) {
	for _, c := range []struct {
		name, text   string
		dims         int
		line, column int
		says         []string
	}{
		{"empty", "", 0, 0, 0, []string{"no points"}},
		{"comments only", "# a\n\n#b", 0, 0, 0, []string{"no points"}},
		{"no feature", "1\n-1\n", 0, 0, 0, []string{"no point has a feature", "dims"}},
		{"dims negative", "1 1:1\n", -1, 0, 0, []string{"dims is -1"}},
		{"target word", "1 1:1\nspam 1:1\n", 0, 2, 1, []string{`"spam"`, "begins with its target"}},
		{"target missing", "1:1 2:2\n", 0, 1, 1, []string{`"1:1"`, "target"}},
		{"two targets", "1,2 1:1\n", 0, 1, 1, []string{`"1,2"`}},
		{"target NaN", "nan 1:1\n", 0, 1, 1, []string{"finite"}},
		{"index 0", "1 0:1 1:2\n", 0, 1, 3, []string{"count from 1"}},
		{"index negative", "1 1:1 -2:1\n", 0, 1, 7, []string{`"-2"`, "whole number"}},
		{"index word", "1 qid:3 1:1\n", 0, 1, 3, []string{`"qid"`}},
		{"index fraction", "1 1.5:3\n", 0, 1, 3, []string{`"1.5"`}},
		{"index empty", "1 :3\n", 0, 1, 3, []string{`""`}},
		{"index twice", "1 2:1\n1 1:1 2:2\t2:3\n", 0, 2, 11, []string{"index 2 comes twice"}},
		{"index falls", "1 5:1 3:2\n", 0, 1, 7, []string{"index 3 comes after 5"}},
		{"index over dims", "1 5:1\n", 4, 1, 3, []string{"index 5", "dims, 4"}},
		{"index overflows", "1 99999999999999999999:1\n", 0, 1, 3, []string{"whole number"}},
		{"index huge", "1 1:1\n\n-1 2:1 4000000000:1\n", 0, 3, 8, []string{"largest index is 4000000000", "2 points", "GiB"}},
		{"index largest", fmt.Sprintf("1 %d:1\n", math.MaxInt64), 0, 1, 3, []string{"largest index", "limit is 1 GiB"}},
		{"dims huge", "1 1:1\n", math.MaxInt, 1, 3, []string{"dims is", "GiB"}},
		{"value missing", "1 1\n", 0, 1, 3, []string{`"1" is not index:value`}},
		{"value empty", "1 1:\n", 0, 1, 3, []string{`""`, "not a number"}},
		{"value apart", "1 1: 5\n", 0, 1, 3, []string{`""`}},
		{"value word", "1 1:1 2:x\n", 0, 1, 7, []string{`"x"`}},
		{"value infinite", "1 1:inf\n", 0, 1, 3, []string{"finite"}},
		{"value too large", "1 1:1e400\n", 0, 1, 3, []string{"too large"}},
		{"NUL", "1 1:1\x00\n", 0, 1, 3, []string{"not a number"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := ReadLIBSVM(strings.NewReader(c.text), c.dims)
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
	_, err := ReadLIBSVM(io.MultiReader(strings.NewReader("1 1:1\n"), iotest.ErrReader(broken)), 0)
	if e := wantError[*ReadError](t, err, "cable pulled"); !errors.Is(err, broken) || e.Line != 2 {
		t.Errorf("%v", err)
	}
}

func TestHugeIndexAllocatesNothing(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := ReadLIBSVM(strings.NewReader("1 1:1 2000000000:1\n"), 0)
	runtime.ReadMemStats(&after)
	wantError[*ReadError](t, err, "GiB")
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
		t.Errorf("%d bytes were allocated", grown)
	}
}

func TestLIBSVMRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := classified(t)
		var file bytes.Buffer
		if err := d.WriteLIBSVM(&file); err != nil {
			t.Fatal(err)
		}
		got, err := ReadLIBSVM(&file, d.D())
		if err != nil {
			t.Fatal(err)
		}
		if !equalRows(got.X, d.X) || !slices.Equal(got.Y, d.Y) {
			t.Fatalf("wrote %v %v, read %v %v", d.X, d.Y, got.X, got.Y)
		}
	})
}

// The files of the LIBSVM project and its guide, when a folder has them.
func TestLIBSVMFiles(t *testing.T) {
	folder := os.Getenv("SVMNB_DATA")
	if folder == "" {
		t.Skip("set SVMNB_DATA to a folder with heart_scale and svmguide1")
	}
	load := func(name string) *Dataset {
		t.Helper()
		d, err := LoadLIBSVM(filepath.Join(folder, name), 0)
		if errors.Is(err, os.ErrNotExist) {
			t.Skip(err)
		}
		if err == nil {
			err = d.Check()
		}
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	heart := load("heart_scale")
	if got := heart.String(); got != "heart_scale: 270 × 13, 2 classes (-1 150, 1 120)" {
		t.Error(got)
	}
	if !slices.Equal(heart.X[0], []float64{0.708333, 1, 1, -0.320755, -0.105023, -1, 1, -0.419847, -1, -0.225806, 0, 1, -1}) {
		t.Errorf("%v", heart.X[0])
	}

	train := load("svmguide1")
	if got := train.String(); got != "svmguide1: 3089 × 4, 2 classes (0 1089, 1 2000)" {
		t.Error(got)
	}
	y, negative, positive, err := train.Binary()
	if err != nil || negative != "0" || positive != "1" || y[0] != 1 {
		t.Errorf("%q, %q, %v", negative, positive, err)
	}
	// The guide scales the test data by the ranges of the training data, so
	// that they leave [−1, 1].
	scaler, err := FitMinMax(train)
	if err != nil {
		t.Fatal(err)
	}
	limits := func(d *Dataset) (low, high float64) {
		low, high = math.Inf(1), math.Inf(-1)
		for _, row := range d.X {
			low, high = min(low, slices.Min(row)), max(high, slices.Max(row))
		}
		return low, high
	}
	if low, high := limits(scaler.Apply(train)); low != -1 || high != 1 {
		t.Errorf("training data in [%v, %v]", low, high)
	}
	test, err := LoadLIBSVM(filepath.Join(folder, "svmguide1.t"), 4)
	if err != nil {
		t.Skip(err)
	}
	if low, high := limits(scaler.Apply(test)); low >= -1 && high <= 1 {
		t.Errorf("test data in [%v, %v]: were they scaled by their own ranges?", low, high)
	}
}

func FuzzReadLIBSVM(f *testing.F) {
	for _, s := range []string{"", "+1 1:0.5 3:-2\n-1 2:1e3\n", "1 0:1\n", "1 2:1 1:1\n", "1 9999999999:1\n", "# c\n\n1 1:2 # 2:3", "1\n", "a 1:1\n", "1 1:\n", "1 1:nan\n", "1\t1:1\r\n", "1 1:1\x00"} {
		f.Add(s, 0)
	}
	f.Add("1 1:1\n", 3)
	f.Add("1 1:1\n", math.MaxInt)
	f.Fuzz(func(t *testing.T, text string, dims int) {
		if s, err := ReadLIBSVMSparse(strings.NewReader(text), dims); err != nil {
			wantError[*ReadError](t, err)
		} else if err := s.Check(); err != nil {
			t.Fatalf("read as sparse without an error, but %v", err)
		}
		d, err := readLIBSVM(strings.NewReader(text), "fuzz", dims, 1<<16) // what is legal would just take memory
		if err != nil {
			wantError[*ReadError](t, err)
			return
		}
		if err := d.Check(); err != nil {
			t.Fatalf("read without an error, but %v", err)
		}
		var file bytes.Buffer
		if err := d.WriteLIBSVM(&file); err != nil {
			t.Fatal(err)
		}
		again, err := ReadLIBSVM(&file, d.D())
		if err != nil {
			t.Fatal(err)
		}
		if !equalRows(again.X, d.X) || !slices.Equal(again.Y, d.Y) {
			t.Fatalf("wrote %v %v, read %v %v", d.X, d.Y, again.X, again.Y)
		}
	})
}

// What is read as sparse is what is read and written out.
func TestReadLIBSVMSparse(t *testing.T) {
	for _, c := range []struct {
		text string
		dims int
		want Dataset
	}{
		{"+1 1:0.5 3:-2\n-1\n2 2:1e3\n", 0, Dataset{Sparse: &CSR{Start: []int{0, 2, 2, 3}, Index: []int32{0, 2, 1}, Value: []float64{0.5, -2, 1000}, D: 3}, Y: []float64{1, -1, 2}}},
		{"1\n", 4, Dataset{Sparse: &CSR{Start: []int{0, 0}, D: 4}, Y: []float64{1}}},
		{"1 2147483647:3\n", 0, Dataset{Sparse: &CSR{Start: []int{0, 1}, Index: []int32{math.MaxInt32 - 1}, Value: []float64{3}, D: math.MaxInt32}, Y: []float64{1}}},
	} {
		c.want.Name = "libsvm"
		got, err := ReadLIBSVMSparse(strings.NewReader(c.text), c.dims)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
		} else if d := cmp.Diff(got, &c.want, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(Dataset{})); d != "" {
			t.Errorf("%q: %s", c.text, d)
		}
	}
	for text, says := range map[string]string{
		"":                      "no points",
		"1\n":                   "no point has a feature",
		"1 1:1\n1 2147483648:1": "the largest index is 2147483648, the limit is 2147483647",
		"1 2:1 1:1":             "indices must increase",
	} {
		_, err := ReadLIBSVMSparse(strings.NewReader(text), 0)
		wantError[*ReadError](t, err, says)
	}
	path := filepath.Join(t.TempDir(), "few.txt")
	if err := os.WriteFile(path, []byte("1 1:1 4:2\n0 2:1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := LoadLIBSVMSparse(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	if s.Source != path || s.String() != "few: 2 × 4 sparse (37.5 % of the values are there), 2 classes (0 1, 1 1)" {
		t.Errorf("%v from %s", s, s.Source)
	}
	_, err = LoadLIBSVMSparse(path+"?", 0)
	wantError[*ReadError](t, err, "cannot open")
}

func TestReadLIBSVMSparseProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("10 :.-\n#23"))).Draw(t, "text")
		sparse, err := ReadLIBSVMSparse(strings.NewReader("1 1:2\n"+text), 0)
		dense, dErr := ReadLIBSVM(strings.NewReader("1 1:2\n"+text), 0)
		if (err == nil) != (dErr == nil) {
			if !strings.Contains(dErr.Error(), "GiB") {
				t.Fatalf("sparse %v, dense %v", err, dErr)
			}
			return
		}
		if err != nil {
			return
		}
		if err := sparse.Check(); err != nil {
			t.Fatal(err)
		}
		if d := diff(sparse.Dense(), dense); d != "" {
			t.Fatal(d)
		}
	})
}
