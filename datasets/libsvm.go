package datasets

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/svmnb/svmnb/internal/mark"
)

// maxCells is the largest number of entries of the dense matrix that a sparse file makes: 1
// GiB.
const maxCells = 1 << 27

// LoadLIBSVM reads the points of a file; see [ReadLIBSVM].
func LoadLIBSVM(path string, dims int) (*Dataset, error) {
	return load(path, func(r io.Reader, name string) (*Dataset, error) { return readLIBSVM(r, name, dims, maxCells) })
}

// LoadLIBSVMSparse reads the points of a file; see [ReadLIBSVMSparse].
func LoadLIBSVMSparse(path string, dims int) (*Dataset, error) {
	return load(path, func(r io.Reader, name string) (*Dataset, error) { return readSparse(r, name, dims) })
}

// ReadLIBSVM reads the sparse format of LIBSVM and SVMlight, which has one point on each line:
// its target, then index:value for each non-zero feature, with indices that count from 1 and
// increase; '#' begins a comment. The points have dims features or, with dims = 0, as many as
// the largest index. An error is a [*ReadError] with its line and byte. Data that would need
// more than 1 GiB as dense points are an error.
func ReadLIBSVM(r io.Reader, dims int) (*Dataset, error) {
	return readLIBSVM(r, "libsvm", dims, maxCells)
}

// ReadLIBSVMSparse is [ReadLIBSVM] for data that stay sparse. It takes memory only for
// non-zero values, for any number of features up to 2³¹ − 1. Nothing that learns from the data
// set makes it dense.
func ReadLIBSVMSparse(r io.Reader, dims int) (*Dataset, error) {
	return readSparse(r, "libsvm", dims)
}

func readSparse(r io.Reader, name string, dims int) (*Dataset, error) {
	p, err := parseLIBSVM(r, name, dims)
	if err != nil {
		return nil, err
	}
	return p.sparse()
}

func readLIBSVM(r io.Reader, name string, dims, maxCells int) (*Dataset, error) {
	p, err := parseLIBSVM(r, name, dims)
	if err != nil {
		return nil, err
	}
	return p.dataset(maxCells)
}

func parseLIBSVM(r io.Reader, name string, dims int) (*parser, error) {
	p := &parser{name: name, dims: dims}
	if dims < 0 {
		return nil, p.fail(0, fmt.Sprintf("dims is %d; give the number of features, or 0 for the largest index", dims))
	}
	in, err := mark.Skip(r)
	if err != nil {
		return nil, &ReadError{Name: name, Line: 1, Msg: err.Error(), Err: err}
	}
	for {
		text, err := in.ReadString('\n')
		if err != nil && err != io.EOF {
			return nil, &ReadError{Name: name, Line: p.line + 1, Msg: "cannot read on: " + err.Error(), Err: err}
		}
		p.line++
		if err := p.point(text); err != nil {
			return nil, err
		}
		if err == io.EOF {
			return p, nil
		}
	}
}

// parser is the state of reading one file.
type parser struct {
	name    string
	dims    int
	line    int
	largest int       // largest index so far, counted from 1
	where   [2]int    // the line and column of largest
	y       []float64 // the targets
	end     []int     // for each point, where its entries end
	index   []int32   // features of the entries, counted from 0; undefined above the largest
	value   []float64
}

func (p *parser) point(text string) error {
	text, _, _ = strings.Cut(text, "#")
	field, at, rest := token(text, 0)
	if field == "" {
		return nil
	}
	y, wrong := number(field)
	if wrong != "" {
		return p.fail(at, wrong+"; a line begins with its target")
	}
	for last := 0; ; {
		if field, at, rest = token(text, rest); field == "" {
			break
		}
		k, v, wrong := entry(field)
		switch {
		case wrong != "":
		case k == 0:
			wrong = "the index is 0; indices count from 1"
		case k == last:
			wrong = fmt.Sprintf("index %d comes twice; each feature has one value", k)
		case k < last:
			wrong = fmt.Sprintf("index %d comes after %d; indices must increase", k, last)
		case p.dims > 0 && k > p.dims:
			wrong = fmt.Sprintf("index %d is larger than dims, %d", k, p.dims)
		}
		if wrong != "" {
			return p.fail(at, wrong)
		}
		if last = k; k > p.largest {
			p.largest, p.where = k, [2]int{p.line, at}
		}
		p.index = append(p.index, int32(k-1))
		p.value = append(p.value, v)
	}
	p.y = append(p.y, y)
	p.end = append(p.end, len(p.index))
	return nil
}

// width returns the number of features, and what determines it, for an error message.
func (p *parser) width() (d int, cause string, err error) {
	if len(p.y) == 0 {
		return 0, "", &ReadError{Name: p.name, Msg: "there are no points"}
	}
	d, cause = p.dims, fmt.Sprintf("dims is %d", p.dims)
	if d == 0 {
		d, cause = p.largest, fmt.Sprintf("the largest index is %d", p.largest)
	}
	if d == 0 {
		return 0, "", &ReadError{Name: p.name, Msg: "no point has a feature; give dims if all are zero"}
	}
	return d, cause, nil
}

func (p *parser) sparse() (*Dataset, error) {
	d, cause, err := p.width()
	if err != nil {
		return nil, err
	}
	if d > math.MaxInt32 {
		return nil, &ReadError{Name: p.name, Line: p.where[0], Column: p.where[1], Msg: fmt.Sprintf("%s, the limit is %d; hash the features first", cause, math.MaxInt32)}
	}
	return &Dataset{Name: p.name, Sparse: &CSR{Start: append([]int{0}, p.end...), Index: p.index, Value: p.value, D: d}, Y: p.y}, nil
}

func (p *parser) dataset(maxCells int) (*Dataset, error) {
	d, cause, err := p.width()
	if err != nil {
		return nil, err
	}
	n := len(p.y)
	if d > maxCells/n {
		return nil, &ReadError{Name: p.name, Line: p.where[0], Column: p.where[1],
			Msg: fmt.Sprintf("%s: %d points of that many features need %.3g GiB when written out, the limit is %.3g GiB; read them as sparse, or select or hash the features first",
				cause, n, gib(float64(n)*float64(d)), gib(float64(maxCells)))}
	}
	x := rows(n, d)
	from := 0
	for i, to := range p.end {
		for ; from < to; from++ {
			x[i][p.index[from]] = p.value[from]
		}
	}
	return &Dataset{Name: p.name, X: x, Y: p.y}, nil
}

func gib(cells float64) float64 { return cells / (1 << 27) }

func (p *parser) fail(column int, msg string) error {
	return &ReadError{Name: p.name, Line: p.line, Column: column, Msg: msg}
}

// token returns the next word of s from byte from on, its position counted from 1, and the
// position after it.
func token(s string, from int) (word string, at, rest int) {
	const space = " \t\r\n\v\f"
	word = strings.TrimLeft(s[from:], space)
	start := len(s) - len(word)
	if n := strings.IndexAny(word, space); n >= 0 {
		word = word[:n]
	}
	return word, start + 1, start + len(word)
}

// entry parses index:value. If that fails, wrong says why.
func entry(s string) (index int, value float64, wrong string) {
	left, right, found := strings.Cut(s, ":")
	if !found {
		return 0, 0, fmt.Sprintf("%q is not index:value", clip(s))
	}
	k, err := strconv.ParseUint(left, 10, strconv.IntSize-1)
	if err != nil {
		return 0, 0, fmt.Sprintf("the index %q is not a whole number from 1 on", clip(left))
	}
	value, wrong = number(right)
	return int(k), value, wrong
}

// WriteLIBSVM writes the format that [ReadLIBSVM] reads back without loss of points and
// targets. Targets are written as numbers, so names of classes and features are lost. Only
// non-zero values are written.
func (d *Dataset) WriteLIBSVM(w io.Writer) error {
	if err := d.Check(); err != nil {
		return err
	}
	out := bufio.NewWriter(w) // out keeps errors until Flush
	var buf []byte
	next := 0 // the next row to begin
	begin := func(until int) {
		for ; next <= until; next++ {
			if next > 0 {
				out.WriteByte('\n')
			}
			out.Write(strconv.AppendFloat(buf[:0], d.Y[next], 'g', -1, 64))
		}
	}
	d.values(func(i, j int, v float64) bool {
		begin(i)
		if v != 0 {
			buf = strconv.AppendInt(append(buf[:0], ' '), int64(j)+1, 10)
			out.Write(strconv.AppendFloat(append(buf, ':'), v, 'g', -1, 64))
		}
		return true
	})
	begin(d.N() - 1)
	out.WriteByte('\n')
	return out.Flush()
}
