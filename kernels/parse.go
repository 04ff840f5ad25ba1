package kernels

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// ParseError says why a text is not a kernel.
type ParseError struct {
	Text string // what was to be read, shortened
	At   int    // byte position of the error, from 0; −1 if it concerns the whole text
	Msg  string // what is wrong
	Err  error  // the cause, if the parameters of the kernel are wrong
}

func (e *ParseError) Error() string {
	s := fmt.Sprintf("kernels: %q", e.Text)
	if e.At >= 0 {
		s += fmt.Sprintf(", byte %d", e.At)
	}
	return s + ": " + e.Msg
}

// Unwrap returns the cause, such as a *[ParamError].
func (e *ParseError) Unwrap() error { return e.Err }

// Parse returns the kernel whose String is s, with the same bits of its parameters:
// Parse(k.String()) == k for the kernels of this package. Exceptions are a [Centred] kernel,
// whose string does not have its points, and types of other packages. The error is a
// *[ParseError], also for parameters that Check refuses.
func Parse(s string) (Kernel, error) {
	p := &parser{text: s}
	k, err := p.kernel(0)
	if err == nil && p.at < len(s) {
		err = p.fail("there is more after the kernel")
	}
	if err == nil && k.String() != s {
		p.at = -1
		err = p.fail(fmt.Sprintf("this is %[1]s in another form: write %[1]s", clip(k.String())))
	}
	if err == nil {
		if bad := k.Check(); bad != nil {
			p.at = -1
			err = p.fail(bad.Error())
			err.Err = bad
		}
	}
	if err != nil {
		return nil, err
	}
	return k, nil
}

// parseDepth is the largest depth of nested kernels in a text. parseKernels is the largest
// number of kernels, which is limited because String of a sum takes time in proportion to its
// square.
const (
	parseDepth   = 50
	parseKernels = 1000
)

type parser struct {
	text    string
	at      int
	kernels int // number of kernels so far
}

func (p *parser) fail(msg string) *ParseError {
	return &ParseError{Text: clip(p.text), At: p.at, Msg: msg}
}

// clip shortens a text that a damaged file might have made long.
func clip(s string) string {
	if len(s) <= 80 {
		return s
	}
	return s[:80] + "…"
}

// next consumes token if the text continues with it.
func (p *parser) next(token string) bool {
	if strings.HasPrefix(p.text[p.at:], token) {
		p.at += len(token)
		return true
	}
	return false
}

// arguments has the arguments of one call: kernels, then numbers, then strings. Only Scale has
// its number first.
type arguments struct {
	kernels []Kernel
	numbers []float64
	strings []string
}

func (p *parser) kernel(depth int) (Kernel, *ParseError) {
	start := p.at
	n := strings.IndexByte(p.text[p.at:], '(')
	if n <= 0 {
		return nil, p.fail("want the call that makes a kernel, such as RBF(0.5)")
	}
	name := p.text[start : start+n]
	if depth == parseDepth {
		return nil, p.fail(fmt.Sprintf("kernels are nested more than %d deep", parseDepth))
	}
	if p.kernels++; p.kernels > parseKernels {
		return nil, p.fail(fmt.Sprintf("there are more than %d kernels", parseKernels))
	}
	p.at += n + 1
	var args arguments
	for first := true; !p.next(")"); first = false {
		if !first && !p.next(", ") {
			return nil, p.fail("want a comma or a closing parenthesis")
		}
		if err := p.argument(&args, depth); err != nil {
			return nil, err
		}
	}
	if p.next(".Raw()") {
		name += ".Raw()"
	}
	var k Kernel
	if construct, ok := constructors[name]; ok {
		k = construct(args)
	}
	if k == nil {
		p.at = start
		return nil, p.fail("no kernel of this package has this name and arguments of this number and kind")
	}
	return k, nil
}

func (p *parser) argument(args *arguments, depth int) *ParseError {
	rest := p.text[p.at:]
	if quoted, err := strconv.QuotedPrefix(rest); err == nil {
		s, err := strconv.Unquote(quoted)
		if err != nil {
			return p.fail("want a quoted name")
		}
		args.strings = append(args.strings, s)
		p.at += len(quoted)
		return nil
	}
	end := strings.IndexAny(rest, ",()")
	if end < 0 {
		return p.fail("the text ends within a call")
	}
	if rest[end] == '(' {
		k, err := p.kernel(depth + 1)
		args.kernels = append(args.kernels, k)
		return err
	}
	v, err := strconv.ParseFloat(rest[:end], 64)
	if err != nil {
		return p.fail("want a number or a kernel")
	}
	args.numbers = append(args.numbers, v)
	p.at += end
	return nil
}

// constructors has a function for each name. It makes a kernel of the arguments in the text,
// or returns nil if they do not suit it. It does not simplify, because the text was written
// after simplification.
var constructors = map[string]func(a arguments) Kernel{}

// register adds a constructor. The file of each kernel calls it.
func register(name string, construct func(a arguments) Kernel) { constructors[name] = construct }

// ofNumbers returns a constructor that takes count numbers.
func ofNumbers(count int, construct func(v []float64) Kernel) func(a arguments) Kernel {
	return func(a arguments) Kernel {
		if len(a.numbers) != count || len(a.kernels)+len(a.strings) > 0 {
			return nil
		}
		return construct(a.numbers)
	}
}

// ofWhole returns a constructor that takes count numbers, the first of which is an integer.
func ofWhole(count int, construct func(first int, rest []float64) Kernel) func(a arguments) Kernel {
	return ofNumbers(count, func(v []float64) Kernel {
		if v[0] != math.Trunc(v[0]) || math.Abs(v[0]) > math.MaxInt32 {
			return nil
		}
		return construct(int(v[0]), v[1:])
	})
}
