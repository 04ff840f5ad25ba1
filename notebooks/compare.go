package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/svmnb/svmnb/svmnb/static"
)

// rules say when the outputs of two runs count as the same, which is when a reader would
// say so:
//
//   - Durations (1.23 ms, 0:00:01.5), numbers named elapsed, seconds, duration or time,
//     clock times and dates, temporary folders, addresses, UUIDs, other long hexadecimal
//     words, display ids and versions of Go are not compared.
//   - Numbers with a decimal point or an exponent may differ by a relative 1e-6 (-rtol) or
//     by an absolute 1e-9. In HTML the absolute limit is 1e-6, since charts contain the
//     rounding errors of slacks and violations. Numbers with at least four digits, or three
//     after the point, may differ by one unit of the last digit, since processors round
//     differently. Whole numbers and all other text must be equal.
//   - stdout and stderr are compared separately, since the order in which they are mixed
//     varies.
//   - Saved pictures inside charts (static.go) are not compared, since they are drawn from
//     the charts.
//   - The drawing library must be the same, but may be in another output: which chart
//     carries it depends on the time between cells.
//   - Lines of progress that appear only if a cell takes longer than a second are not compared.
//   - PNG images must have the same size, and the mean difference of pixels must be below 1
//     %. Other types are compared as text.
//   - The rest of the notebook, including execution counts, is not compared.
type rules struct {
	rtol     float64
	atol     float64 // 0 means 1e-9
	anywhere bool    // the drawing library may be in any output
}

var standard = rules{rtol: 1e-6}

const absoluteTolerance, chartTolerance = 1e-9, 1e-6

// difference is one place where outputs differ.
type difference struct {
	cell   int // counted from 1 among the code cells
	where  string
	want   string
	got    string
	source string
}

func (d difference) String() string {
	return fmt.Sprintf("code cell %d (%s), %s:\n  committed: %s\n  now:       %s", d.cell, strings.TrimSpace(label(d.source)), d.where, d.want, d.got)
}

// compare lists the differences between the outputs of two notebooks with the same code
// cells.
func (r rules) compare(want, got *notebook) ([]difference, error) {
	var diffs []difference
	r.anywhere = true
	w, g := codeCells(want), codeCells(got)
	if len(w) != len(g) {
		return nil, fmt.Errorf("%d code cells against %d", len(w), len(g))
	}
	brought := [2]map[string]int{{}, {}} // the drawing libraries, each with the first cell that brings it
	for i := range w {
		a, err := w[i].outputs()
		if err != nil {
			return nil, fmt.Errorf("code cell %d: %w", i+1, err)
		}
		b, err := g[i].outputs()
		if err != nil {
			return nil, fmt.Errorf("code cell %d: %w", i+1, err)
		}
		for _, d := range r.outputs(a, b) {
			d.cell, d.source = i+1, w[i].source()
			diffs = append(diffs, d)
		}
		for side, outs := range [][]*output{a, b} {
			for _, name := range libraries(outs) {
				if _, known := brought[side][name]; !known {
					brought[side][name] = i
				}
			}
		}
	}
	if i, differ := otherLibrary(brought[0], brought[1]); differ && !slices.ContainsFunc(diffs, func(d difference) bool { return d.cell == i+1 }) {
		version := func(names map[string]int) string { return strings.Join(slices.Sorted(maps.Keys(names)), ", ") }
		diffs = append(diffs, difference{cell: i + 1, where: "the drawing library, which this cell brings for all charts",
			want: cmp.Or(version(brought[0]), "nothing"), got: cmp.Or(version(brought[1]), "nothing"), source: w[i].source()})
	}
	return diffs, nil
}

// otherLibrary returns the first cell that brings a drawing library which the other notebook does
// not have.
func otherLibrary(want, got map[string]int) (cell int, differ bool) {
	cell = math.MaxInt
	for k, names := range []map[string]int{want, got} {
		other := []map[string]int{got, want}[k]
		for name, i := range names {
			if _, both := other[name]; !both {
				cell = min(cell, i)
			}
		}
	}
	return cell, cell < math.MaxInt
}

// cutLibraries removes the drawing libraries from an output, and returns their scripts. It
// searches for the tags, since a regular expression is slow in a script of a megabyte.
func cutLibraries(page string) (rest string, scripts []string) {
	const begin = "(function svmnb(w, packed)"
	var b strings.Builder
	for {
		before, after, _ := strings.Cut(page, "<script>"+begin)
		script, next, closed := strings.Cut(after, "</script>")
		if !closed {
			b.WriteString(page)
			return b.String(), scripts
		}
		b.WriteString(before)
		scripts = append(scripts, begin+script)
		page = next
	}
}

// libraries returns a hash of each drawing library in the outputs.
func libraries(outs []*output) (names []string) {
	for _, o := range outs {
		page, _ := o.data["text/html"].(string)
		_, scripts := cutLibraries(page)
		for _, script := range scripts {
			sum := sha256.Sum256([]byte(script))
			names = append(names, fmt.Sprintf("%x", sum[:4]))
		}
	}
	return names
}

// keep replaces the outputs of got by those of want where they count as the same, so that a
// committed notebook changes only where a reader would see it.
func (r rules) keep(want, got *notebook) error {
	w, g := codeCells(want), codeCells(got)
	for i := range min(len(w), len(g)) {
		a, errA := w[i].outputs()
		b, errB := g[i].outputs()
		if err := errors.Join(errA, errB); err != nil {
			return fmt.Errorf("code cell %d: %w", i+1, err)
		}
		if len(r.outputs(a, b)) == 0 {
			g[i].raw["outputs"] = w[i].raw["outputs"]
		}
	}
	return nil
}

func codeCells(nb *notebook) []*cell {
	return slices.DeleteFunc(slices.Clone(nb.cells), func(c *cell) bool { return c.kind() != "code" })
}

func (r rules) outputs(want, got []*output) []difference {
	var diffs []difference
	add := func(where, a, b string) { diffs = append(diffs, difference{where: where, want: a, got: b}) }
	for _, name := range []string{"stdout", "stderr"} {
		if a, b, differ := r.text(stream(want, name), stream(got, name)); differ {
			add(name, a, b)
		}
	}
	a, b := displays(want), displays(got)
	for i := range max(len(a), len(b)) {
		where := fmt.Sprintf("output %d", i+1)
		switch {
		case i >= len(a):
			add(where, "nothing", kinds(b[i]))
		case i >= len(b):
			add(where, kinds(a[i]), "nothing")
		case kinds(a[i]) != kinds(b[i]):
			add(where, kinds(a[i]), kinds(b[i]))
		case a[i].kind == "error":
			if x, y, differ := r.text(errorText(a[i]), errorText(b[i])); differ {
				add(where, x, y)
			}
		default:
			for _, mime := range mimes(a[i]) {
				if x, y, differ := r.value(mime, a[i].data[mime], b[i].data[mime]); differ {
					add(where+", "+mime, x, y)
				}
			}
		}
	}
	return diffs
}

func stream(outs []*output, name string) string {
	var b strings.Builder
	for _, o := range outs {
		if o.kind == "stream" && o.name == name {
			b.WriteString(o.text)
		}
	}
	return stripANSI(overwritten(b.String()))
}

// displays returns the outputs that are compared one by one: all except streams and those that
// appear only when the work is slow.
func displays(outs []*output) []*output {
	return slices.DeleteFunc(slices.Clone(outs), func(o *output) bool { return o.kind == "stream" || o.metadata[whenSlow] == true })
}

// whenSlow is the key in the metadata of an output that appears only when the work is slow. It is
// WhenSlow of package svmnb/internal/cells, which this package cannot import.
const whenSlow = "svmnb_when_slow"

func kinds(o *output) string {
	if o.kind == "error" {
		return "an error"
	}
	return strings.Join(mimes(o), " + ")
}

func mimes(o *output) []string { return slices.Sorted(maps.Keys(o.data)) }

func (r rules) value(mime string, want, got any) (string, string, bool) {
	a, okA := want.(string)
	b, okB := got.(string)
	if !okA || !okB { // an object of JSON
		x, errX := json.Marshal(want)
		y, errY := json.Marshal(got)
		if errX != nil || errY != nil {
			return "unreadable", "unreadable", true
		}
		return r.text(string(x), string(y))
	}
	if mime == "image/png" {
		return comparePNG(a, b)
	}
	if mime == "text/html" {
		r.atol = chartTolerance
		a, b = static.Bare(a), static.Bare(b)
		if r.anywhere {
			a, _ = cutLibraries(a)
			b, _ = cutLibraries(b)
		}
	}
	return r.text(a, b)
}

// volatile are the texts that differ from run to run, and their replacements.
var volatile = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`\bsvm-(live-)?[0-9a-z]{8,}\b`), "⟨id⟩"}, // id of a chart
	{regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`), "⟨id⟩"},
	{regexp.MustCompile(`\b\d{4}[-/]\d\d[-/]\d\d\b`), "⟨date⟩"},
	{regexp.MustCompile(`\b\d{1,2}:\d\d(:\d\d)?(\.\d+)?\b`), "⟨time⟩"},
	{regexp.MustCompile(`(/[\w.+-]+)*/(svmnb-\d+|gonb_)[\w./+-]*`), "⟨path⟩"},
	{regexp.MustCompile(`\b0x[0-9a-f]{5,}\b`), "⟨address⟩"},
	{regexp.MustCompile(`\b[0-9a-f]*[a-f][0-9a-f]*\d[0-9a-f]*\b|\b[0-9a-f]*\d[0-9a-f]*[a-f][0-9a-f]*\b`), ""}, // replaced if it has at least minHex characters; see normalise
	{regexp.MustCompile(`\bgo1\.\d+(\.\d+)?(rc\d+|beta\d+)?\b`), "⟨go⟩"},
	{regexp.MustCompile(`\b(\d+(\.\d+)?(h|min|m|ms|s|sec|ns|us|µs|μs))+\b|\b\d+(\.\d+)?(e[-+]?\d+)? (ns|us|µs|μs|ms|s|sec|secs|seconds?|min|minutes?|h|hours?)\b`), "⟨duration⟩"},
	{regexp.MustCompile(`(?i)((?:elapsed|seconds|duration|time)\w*"?(?:</\w+>)?\s*[:=|]?\s*(?:<\w+[^>]*>)?\s*)[-+]?\d+(\.\d+)?(e[-+]?\d+)?\b`), "$1⟨duration⟩"},
}

// minHex is the length from which on a hexadecimal word counts as an id.
const minHex = 8

func normalise(s string) string {
	for _, v := range volatile {
		if v.with != "" {
			s = v.pattern.ReplaceAllString(s, v.with)
			continue
		}
		s = v.pattern.ReplaceAllStringFunc(s, func(word string) string {
			if len(word) < minHex {
				return word
			}
			return "⟨id⟩"
		})
	}
	return s
}

var number = regexp.MustCompile(`[-+−]?(\d+\.?\d*|\.\d+)([eE][-+−]?\d+)?`)

// text compares two texts. If they differ, it returns the first place that differs in each.
func (r rules) text(want, got string) (string, string, bool) {
	if want == got {
		return "", "", false
	}
	want, got = normalise(want), normalise(got)
	i, j := 0, 0 // both texts agree up to here
	a, b := number.FindAllStringIndex(want, -1), number.FindAllStringIndex(got, -1)
	for n := 0; ; n++ {
		endA, endB := len(want), len(got)
		if n < len(a) {
			endA = a[n][0]
		}
		if n < len(b) {
			endB = b[n][0]
		}
		if want[i:endA] != got[j:endB] {
			k := commonPrefix(want[i:endA], got[j:endB])
			return around(want, i+k), around(got, j+k), true
		}
		if n >= len(a) && n >= len(b) {
			return "", "", false
		}
		if n >= len(a) || n >= len(b) || !r.sameNumber(want[a[n][0]:a[n][1]], got[b[n][0]:b[n][1]]) {
			return around(want, endA), around(got, endB), true
		}
		i, j = a[n][1], b[n][1]
	}
}

func (r rules) sameNumber(a, b string) bool {
	if a == b {
		return true
	}
	if !strings.ContainsAny(a, ".eE") && !strings.ContainsAny(b, ".eE") {
		return false
	}
	a, b = strings.ReplaceAll(a, "−", "-"), strings.ReplaceAll(b, "−", "-")
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	if errX != nil || errY != nil {
		return false
	}
	apart := math.Abs(x - y)
	if unit := min(lastDigit(a), lastDigit(b)); !math.IsInf(unit, 1) && apart <= 1.001*unit {
		return true
	}
	return apart <= max(absoluteTolerance, r.atol)+r.rtol*max(math.Abs(x), math.Abs(y))
}

// lastDigit returns one unit of the last printed digit of a number. For numbers with fewer
// than four digits (three if they are after the point) it returns +Inf.
func lastDigit(s string) float64 {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	whole, fraction, _ := strings.Cut(strings.TrimLeft(mantissa, "+-"), ".")
	if digits := len(strings.TrimLeft(whole+fraction, "0")); digits < 3 || digits == 3 && len(fraction) < 3 {
		return math.Inf(1)
	}
	e, _ := strconv.Atoi(exponent) // 0 if there is no exponent
	return math.Pow10(e - len(fraction))
}

func commonPrefix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// around returns the text on both sides of position i, on one line.
func around(s string, i int) string {
	const side = 60
	from, to := max(0, i-side), min(len(s), i+side)
	text := strconv.Quote(strings.ToValidUTF8(s[from:to], ""))
	text = text[1 : len(text)-1]
	if from > 0 {
		text = "…" + text
	}
	if to < len(s) {
		text += "…"
	}
	if text == "" {
		return "nothing"
	}
	return text
}

func comparePNG(want, got string) (string, string, bool) {
	if want == got {
		return "", "", false
	}
	a, errA := decodePNG(want)
	b, errB := decodePNG(got)
	if errA != nil || errB != nil {
		return describe(a, errA), describe(b, errB), true
	}
	if a.Bounds().Size() != b.Bounds().Size() {
		return describe(a, nil), describe(b, nil), true
	}
	var sum, n float64
	size := a.Bounds().Size()
	for y := range size.Y {
		for x := range size.X {
			p := color.NRGBAModel.Convert(a.At(a.Bounds().Min.X+x, a.Bounds().Min.Y+y)).(color.NRGBA)
			q := color.NRGBAModel.Convert(b.At(b.Bounds().Min.X+x, b.Bounds().Min.Y+y)).(color.NRGBA)
			for _, d := range []int{int(p.R) - int(q.R), int(p.G) - int(q.G), int(p.B) - int(q.B), int(p.A) - int(q.A)} {
				sum += math.Abs(float64(d)) / 255
				n++
			}
		}
	}
	if mean := sum / n; mean > 0.01 {
		return describe(a, nil), fmt.Sprintf("an image whose pixels differ by %.1f%% on average", 100*mean), true
	}
	return "", "", false
}

func decodePNG(s string) (image.Image, error) {
	data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		return nil, err
	}
	return png.Decode(bytes.NewReader(data))
}

func describe(m image.Image, err error) string {
	if err != nil {
		return "an unreadable image: " + err.Error()
	}
	return fmt.Sprintf("an image of %d x %d", m.Bounds().Dx(), m.Bounds().Dy())
}
