package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/svmnb/svmnb/internal/mark"
	"github.com/svmnb/svmnb/internal/wholefile"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/calibrate"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// A file of [Save] is three lines of UTF-8: the name and version of the format,
// the SHA-256 of the third line's bytes in hexadecimal, and the model as JSON,
// whose numbers have all digits that they need to be read back to the bit.
const modelMagic = "svmnb model "

// Version 2 has sparse vectors and Gaussian processes as well, version 3 what points go
// through first. A model is written as the first version that can say it.
var modelVersions = []string{"1", "2", "3"}

// modelJSON is the third line. A new field, or another meaning of one, is a new
// version.
type modelJSON struct {
	Kind     string        `json:"kind"`
	Kernel   string        `json:"kernel"`
	Features int           `json:"features"`
	Classes  []string      `json:"classes,omitempty"`
	Targets  []float64     `json:"targets,omitempty"`
	Line     float64       `json:"line,omitempty"` // of one class; 0 where none is said
	Duels    [][2]int      `json:"duels,omitempty"`
	Vectors  [][]float64   `json:"vectors"`
	Sparse   *sparseJSON   `json:"sparse,omitempty"` // in place of vectors; version 2
	Machines []machineJSON `json:"machines"`
	Curves   []curveJSON   `json:"curves,omitempty"`
	Process  *processJSON  `json:"process,omitempty"` // version 2
	Before   *passageJSON  `json:"before,omitempty"`  // version 3
}

type machineJSON struct {
	Coef []float64 `json:"coef"` // of each vector
	Bias float64   `json:"bias"`
}

type processJSON struct {
	Beta   []float64 `json:"beta,omitempty"`
	Centre []float64 `json:"centre,omitempty"`
	Noise  []float64 `json:"noise,omitempty"`
}

// sparseJSON are support vectors by compressed rows.
type sparseJSON struct {
	Start []int     `json:"start"`
	Index []int32   `json:"index"`
	Value []float64 `json:"value"`
}

// curveJSON is a sigmoid, or steps.
type curveJSON struct {
	A float64   `json:"a,omitempty"`
	B float64   `json:"b,omitempty"`
	X []float64 `json:"x,omitempty"`
	P []float64 `json:"p,omitempty"`
}

// Save writes the [Model] of a fit to a file, as a whole or not at all, even where the
// program is killed or the disk is full: what [Load] makes of it predicts the same, bit
// for bit. The fitted steps of a pipeline and the scalings of a data set are in the file.
// The error is a *[Error]
// for a kernel that its String does not describe, such as one of your own (see
// [kernels.Parse]), and for a transform.Step of your own; an *svmnb.ArgumentError for no fit; else
// that of the file.
func Save(path string, fit Modeler) error {
	m := Of(fit)
	if m == nil {
		return arguments.Wrong("Save", math.NaN(), "there is no fit; give one that Fit has returned without an error")
	}
	if err := storable(m.of.Kernel); err != nil {
		return err
	}
	if err := m.namesAreText("svmnb"); err != nil {
		return err
	}
	file := modelJSON{Kind: m.of.Kind.String(), Kernel: m.of.Kernel.String(), Features: m.of.Expansion.D, Classes: m.of.Classes, Targets: m.of.Targets, Line: m.of.Line, Duels: m.of.Duels, Vectors: m.of.Expansion.X.X}
	version := modelVersions[0]
	if s := m.of.Expansion.X.Sparse; s != nil {
		file.Sparse, version = &sparseJSON{s.Start, s.Index, s.Value}, modelVersions[1]
	}
	if p := m.of.Process; p != nil {
		file.Process, version = &processJSON{p.Beta, p.Centre, p.Noise}, modelVersions[1]
	}
	if b := m.of.Before; b != nil {
		var err error
		if file.Before, err = writePassage(b); err != nil {
			return err
		}
		version = modelVersions[2]
	}
	for _, t := range m.of.Terms {
		file.Machines = append(file.Machines, machineJSON{t.Coef, t.B})
	}
	for _, c := range m.of.Curves {
		switch c := c.(type) {
		case calibrate.Sigmoid:
			file.Curves = append(file.Curves, curveJSON{A: c.A, B: c.B})
		case calibrate.Steps:
			file.Curves = append(file.Curves, curveJSON{X: c.X, P: c.P})
		}
	}
	body, err := json.Marshal(file)
	if err != nil {
		return modelError("svmnb", 0, "%v", err) // a coefficient that is no finite number
	}
	sum := sha256.Sum256(body)
	text := fmt.Appendf(nil, "%s%s\n%x\n%s\n", modelMagic, version, sum, body)
	return writeWhole(path, text)
}

// namesAreText refuses class names that are no UTF-8, for a format whose texts are.
func (m *Model) namesAreText(format string) error {
	for _, name := range m.of.Classes {
		if !utf8.ValidString(name) {
			return modelError(format, 0, "the class name %.40q is not UTF-8; rename the class in the Classes of the data set", name)
		}
	}
	return nil
}

// Of is the model of a fit, nil for one that was never fitted.
func Of(fit Modeler) *Model {
	if v := reflect.ValueOf(fit); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil
	}
	if m := fit.Model(); m != nil && m.of.Kernel != nil {
		return m
	}
	return nil
}

// writeWhole writes the file as a whole or not at all.
func writeWhole(path string, text []byte) error {
	err := wholefile.Write(path, func(w io.Writer) error { _, err := w.Write(text); return err })
	if err != nil {
		return fmt.Errorf("svmnb: %w", err)
	}
	return nil
}

// Load reads a file of [Save]. A *[Error] says what is wrong with one that is
// damaged, of another version, or none. Reading takes time and memory in proportion to
// the file, at most 1 GiB more for linear machines, and for kernels of strings what
// their values of each vector with itself take, which grows faster than its length: do
// not read such files of strangers.
func Load(path string) (*Model, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("svmnb: %w", err)
	}
	defer file.Close()
	return Read(file)
}

// Read reads what [Save] has written; see [Load].
func Read(r io.Reader) (*Model, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("svmnb: %w", err)
	}
	const format = "svmnb"
	line := func(text []byte) (first, rest []byte, whole bool) {
		first, rest, whole = bytes.Cut(text, []byte("\n"))
		return bytes.TrimSuffix(first, []byte("\r")), rest, whole // some programs change ends of lines
	}
	first, rest, _ := line(mark.Cut(text))
	version, ok := strings.CutPrefix(string(first[:min(len(first), 80)]), modelMagic)
	switch {
	case !ok:
		return nil, modelError(format, 1, "this is not a file of model.Save, which begins with %q", modelMagic+modelVersions[0])
	case !slices.Contains(modelVersions, version):
		return nil, modelError(format, 1, "the version of the file is %q and this program reads %v; read it with the version of svmnb that wrote it", version, say.Listed(modelVersions))
	}
	sum, rest, _ := line(rest)
	body, rest, ends := line(rest)
	if is := sha256.Sum256(body); !ends || len(rest) > 0 || string(sum) != hex.EncodeToString(is[:]) {
		return nil, modelError(format, 2, "the checksum is not that of the model: the file was cut short or changed; get it again")
	}
	var file modelJSON
	in := json.NewDecoder(bytes.NewReader(body))
	in.DisallowUnknownFields()
	if err := in.Decode(&file); err != nil {
		e := modelError(format, 3, "%v", err)
		e.Err = err
		return nil, e
	}
	if _, err := in.Token(); err != io.EOF {
		return nil, modelError(format, 3, "there is more after the model")
	}
	kind := slices.Index(machines.Kinds[:], file.Kind)
	if kind < 0 {
		return nil, modelError(format, 3, "the kind of model %.40q is not known", file.Kind)
	}
	k, err := kernels.Parse(file.Kernel)
	if err != nil {
		e := modelError(format, 3, "%v", err)
		e.Err = err
		return nil, e
	}
	m := &Model{machines.Machines{Kind: machines.Kind(kind), Kernel: k, Classes: file.Classes, Targets: file.Targets, Line: file.Line, Duels: file.Duels, Expansion: machines.Expansion{X: points.Rows(file.Vectors), D: file.Features, Kernel: k}}}
	if s := file.Sparse; s != nil {
		if file.Vectors != nil || version == modelVersions[0] {
			return nil, modelError(format, 3, "the support vectors are given twice, or are sparse in a version that has no sparse ones")
		}
		m.of.Expansion.X = points.Points{Sparse: &kernels.CSR{Start: s.Start, Index: s.Index, Value: s.Value, D: file.Features}}
	}
	if p := file.Process; p != nil {
		m.of.Process = &machines.ProcessPart{Beta: p.Beta, Centre: p.Centre, Noise: p.Noise}
	}
	for _, t := range file.Machines {
		m.of.Terms = append(m.of.Terms, machines.Term{Coef: t.Coef, B: t.Bias})
	}
	for _, c := range file.Curves {
		if len(c.X) > 0 {
			m.of.Curves = append(m.of.Curves, calibrate.Steps{X: c.X, P: c.P})
		} else {
			m.of.Curves = append(m.of.Curves, calibrate.Sigmoid{A: c.A, B: c.B})
		}
	}
	if err := m.complete(format); err != nil {
		return nil, err
	}
	if file.Before != nil {
		if version != modelVersions[2] {
			return nil, modelError(format, 3, "there are steps in a version that has none")
		}
		if m.of.Before, err = file.Before.passage(m.of.Expansion.D); err != nil {
			return nil, err
		}
	}
	return m, nil
}
