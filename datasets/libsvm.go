package datasets

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxCells bounds the dense matrix that a sparse file makes: 1 GiB.
const maxCells = 1 << 27

// LoadLIBSVM reads the points of a file; see [ReadLIBSVM].
func LoadLIBSVM(path string, dims int) (*Dataset, error) {
	f, name, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d, err := readLIBSVM(f, name, dims, maxCells)
	if err != nil {
		return nil, err
	}
	d.Source = path
	return d, nil
}

// ReadLIBSVM reads the sparse format of LIBSVM and SVMlight, a point on each
// line: its target, then index:value for what is not zero, with indices that
// count from 1 and increase; '#' begins a comment. There are dims features, or
// with dims 0 as many as the largest index. An error is a [*ReadError] with
// the line and the byte of it. Data that would need more than 1 GiB when
// written out densely are an error.
func ReadLIBSVM(r io.Reader, dims int) (*Dataset, error) {
	return readLIBSVM(r, "libsvm", dims, maxCells)
}

func readLIBSVM(r io.Reader, name string, dims, maxCells int) (*Dataset, error) {
	p := sparse{name: name, dims: dims, maxCells: maxCells}
	if dims < 0 {
		return nil, p.fail(0, fmt.Sprintf("dims is %d; give the number of features, or 0 for the largest index", dims))
	}
	in := bufio.NewReader(r)
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
			return p.dataset()
		}
	}
}

// sparse is the state of reading one file.
type sparse struct {
	name     string
	dims     int
	maxCells int
	line     int
	largest  int       // index so far, counted from 1
	where    [2]int    // line and column of it
	y        []float64 // targets
	end      []int     // where the entries of each point end
	index    []int     // of the entries, counted from 0
	value    []float64
}

func (p *sparse) point(text string) error {
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
		p.index = append(p.index, k-1)
		p.value = append(p.value, v)
	}
	p.y = append(p.y, y)
	p.end = append(p.end, len(p.index))
	return nil
}

func (p *sparse) dataset() (*Dataset, error) {
	n := len(p.y)
	if n == 0 {
		return nil, &ReadError{Name: p.name, Msg: "there are no points"}
	}
	d, cause := p.dims, fmt.Sprintf("dims is %d", p.dims)
	if d == 0 {
		d, cause = p.largest, fmt.Sprintf("the largest index is %d", p.largest)
	}
	if d == 0 {
		return nil, &ReadError{Name: p.name, Msg: "no point has a feature; give dims if all are zero"}
	}
	if d > p.maxCells/n {
		return nil, &ReadError{Name: p.name, Line: p.where[0], Column: p.where[1],
			Msg: fmt.Sprintf("%s: %d points of that many features need %.3g GiB when written out, the limit is %.3g GiB; select or hash the features first",
				cause, n, gib(float64(n)*float64(d)), gib(float64(p.maxCells)))}
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

func (p *sparse) fail(column int, msg string) error {
	return &ReadError{Name: p.name, Line: p.line, Column: column, Msg: msg}
}

// token returns the next word of s from the given byte on, its place counted
// from 1, and where to go on.
func token(s string, from int) (word string, at, rest int) {
	const space = " \t\r\n\v\f"
	word = strings.TrimLeft(s[from:], space)
	start := len(s) - len(word)
	if n := strings.IndexAny(word, space); n >= 0 {
		word = word[:n]
	}
	return word, start + 1, start + len(word)
}

// entry parses index:value.
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

// WriteLIBSVM writes the format that [ReadLIBSVM] reads back without loss:
// targets as numbers, so names of classes and features are not kept, and only
// values that are not zero.
func (d *Dataset) WriteLIBSVM(w io.Writer) error {
	if err := d.Check(); err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	var buf []byte
	for i, row := range d.X {
		buf = strconv.AppendFloat(buf[:0], d.Y[i], 'g', -1, 64)
		for j, v := range row {
			if v != 0 {
				buf = append(buf, ' ')
				buf = strconv.AppendInt(buf, int64(j)+1, 10)
				buf = append(buf, ':')
				buf = strconv.AppendFloat(buf, v, 'g', -1, 64)
			}
		}
		out.Write(append(buf, '\n')) // errors stay in out
	}
	return out.Flush()
}
