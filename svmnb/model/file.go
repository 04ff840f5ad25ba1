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

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/mark"
	"github.com/svmnb/svmnb/internal/wholefile"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/calibrate"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
)

// A file of [Save] has three lines of UTF-8: the name and version of the format; the
// SHA-256 of the third line, in hexadecimal; the model as JSON. Numbers have as many digits
// as they need to be read back exactly.
const modelMagic = "svmnb model "

// Versions differ in what a model may have:
//
//   - 2: sparse vectors and Gaussian processes
//   - 3: the steps before the machines
//   - 4: the names of columns, and steps for tables
//   - 5: a threshold, and the scale of the targets of a process
//   - 6: transformed targets
//   - 7: approximate processes
//   - 8: kernel principal components, together with any of these
//   - 9: processes of nearest neighbours, together with any of these
//   - 10: one of several outputs, together with any of these
//
// Save writes the lowest version that can hold the model.
var modelVersions = []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"}

// modelJSON is the third line. A new field, or a change of meaning, needs a new version.
type modelJSON struct {
	Kind      string           `json:"kind"`
	Kernel    string           `json:"kernel"`
	Features  int              `json:"features"`
	Classes   []string         `json:"classes,omitempty"`
	Targets   []float64        `json:"targets,omitempty"`
	Line      float64          `json:"line,omitempty"` // machines.Machines.Line, for models of one class
	Duels     [][2]int         `json:"duels,omitempty"`
	Vectors   [][]float64      `json:"vectors"`
	Sparse    *sparseJSON      `json:"sparse,omitempty"` // instead of Vectors; version 2
	Machines  []machineJSON    `json:"machines"`
	Curves    []curveJSON      `json:"curves,omitempty"`
	Process   *processJSON     `json:"process,omitempty"`
	Threshold *float64         `json:"threshold,omitempty"` // version 5
	Target    *steps.TargetMap `json:"target,omitempty"`    // by which the targets were transformed; version 6
	Before    *passageJSON     `json:"before,omitempty"`    // the steps before the machines; version 3
}

type machineJSON struct {
	Coef []float64 `json:"coef"` // one for each support vector
	Bias float64   `json:"bias"`
}

type processJSON struct {
	Beta   []float64  `json:"beta,omitempty"`
	Centre []float64  `json:"centre,omitempty"`
	Noise  []float64  `json:"noise,omitempty"`
	Scale  *scaleJSON `json:"scale,omitempty"` // of the targets; version 5

	Approximation *machines.Approximation `json:"approximation,omitempty"` // version 7
}

// scaleJSON is a datasets.TargetScaler.
type scaleJSON struct {
	Centre float64 `json:"centre"`
	Width  float64 `json:"width"`
}

// sparseJSON has support vectors in compressed rows (CSR).
type sparseJSON struct {
	Start []int     `json:"start"`
	Index []int32   `json:"index"`
	Value []float64 `json:"value"`
}

// curveJSON is a curve of probabilities: a sigmoid (A and B), or a step function (X and P).
type curveJSON struct {
	A float64   `json:"a,omitempty"`
	B float64   `json:"b,omitempty"`
	X []float64 `json:"x,omitempty"`
	P []float64 `json:"p,omitempty"`
}

// Save writes the [Model] of a fit to a file. [Load] returns a model with the same
// predictions, bit for bit. The file contains the fitted steps of a pipeline and the
// scalings of a data set. It is written completely or not at all, even if the program is
// killed or the disk is full.
//
// Save returns an *svmnb.ArgumentError if there is no fit. It returns a *[Error] for a
// kernel that [kernels.Parse] cannot read back from its String, such as one of your own,
// and for a transform.Step of your own. Other errors come from writing the file.
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
		file.Process, version = &processJSON{p.Beta, p.Centre, p.Noise, (*scaleJSON)(p.Scale), p.Approximation}, modelVersions[1]
	}
	if b := m.of.Before; b != nil {
		var err error
		if file.Before, err = writePassage(b); err != nil {
			return err
		}
		version = modelVersions[2]
		if file.Before.Columns != nil {
			version = modelVersions[3]
		}
	}
	if m.of.Threshold != nil {
		file.Threshold, version = m.of.Threshold, modelVersions[4]
	}
	if m.of.Process != nil && m.of.Process.Scale != nil {
		version = modelVersions[4]
	}
	if m.of.Target != nil {
		file.Target, version = m.of.Target, modelVersions[5]
	}
	if m.of.Process != nil && m.of.Process.Approximation != nil {
		version = modelVersions[6]
		if _, err := kernels.Parse(m.of.Process.Approximation.Noise); err != nil && m.of.Process.Approximation.Noise != "" {
			return modelError("svmnb", 0, "the kernel of the noise cannot be read back: %v", err)
		}
	}
	if file.Before != nil && shifted(file.Before.Steps) {
		version = modelVersions[7]
	}
	if m.of.Kind == machines.NeighbourKind {
		if wrong := completeProcess(m.of.Process, m); wrong != "" {
			return modelError("svmnb", 0, "%s", wrong)
		}
		version = modelVersions[8]
	}
	if ofOutputs(m.of.Process) {
		if wrong := completeProcess(m.of.Process, m); wrong != "" {
			return modelError("svmnb", 0, "%s", wrong)
		}
		version = modelVersions[9]
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
		return modelError("svmnb", 0, "%v", err) // a coefficient is NaN or infinite
	}
	sum := sha256.Sum256(body)
	text := fmt.Appendf(nil, "%s%s\n%x\n%s\n", modelMagic, version, sum, body)
	return writeWhole(path, text)
}

// namesAreText returns an error if a class name is not UTF-8, for formats that need UTF-8.
func (m *Model) namesAreText(format string) error {
	for _, name := range m.of.Classes {
		if !utf8.ValidString(name) {
			return modelError(format, 0, "the class name %.40q is not UTF-8; rename the class in the Classes of the data set", name)
		}
	}
	return nil
}

// Of returns the model of a fit, or nil if the fit has none.
func Of(fit Modeler) *Model {
	if v := reflect.ValueOf(fit); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil
	}
	if m := fit.Model(); m != nil && m.of.Kernel != nil {
		return m
	}
	return nil
}

// writeWhole writes the file completely or not at all.
func writeWhole(path string, text []byte) error {
	err := wholefile.Write(path, func(w io.Writer) error { _, err := w.Write(text); return err })
	if err != nil {
		return fmt.Errorf("svmnb: %w", err)
	}
	return nil
}

// Load reads a file of [Save]. It returns a *[Error] if the file is damaged, of another
// version, or not written by Save. Time and memory are proportional to the size of the
// file, plus at most 1 GiB for linear machines. Kernels of strings are the exception, since
// K(x, x) of a string x takes more time than its length: do not load such files from
// strangers.
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
		return bytes.TrimSuffix(first, []byte("\r")), rest, whole // some programs change the ends of lines
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
		m.of.Process = &machines.ProcessPart{Beta: p.Beta, Centre: p.Centre, Noise: p.Noise, Scale: (*datasets.TargetScaler)(p.Scale), Approximation: p.Approximation}
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
	scaled := m.of.Process != nil && m.of.Process.Scale != nil
	last := modelVersions[5]
	approximate := m.of.Process != nil && m.of.Process.Approximation != nil
	components := file.Before != nil && shifted(file.Before.Steps)
	switch near, outputs := kind == int(machines.NeighbourKind), ofOutputs(m.of.Process); {
	case outputs != (version == modelVersions[9]):
		return nil, modelError(format, 3, "version %s has one of several outputs, and no other", modelVersions[9])
	case outputs:
		version = oldest(&file, approximate, scaled)
	case near != (version == modelVersions[8]):
		return nil, modelError(format, 3, "version %s has processes of nearest neighbours, and no other", modelVersions[8])
	case !near && components != (version == modelVersions[7]):
		return nil, modelError(format, 3, "version %s has kernel principal components, and none before it", modelVersions[7])
	case near || components:
		version = oldest(&file, approximate, scaled)
	}
	if approximate != (version == modelVersions[6]) {
		return nil, modelError(format, 3, "version %s has approximate processes, and no other", modelVersions[6])
	}
	if m.of.Target = file.Target; !approximate && (file.Target != nil) != (version == last) || !file.Target.Sound() || file.Target != nil && kind != int(machines.RegressionKind) && kind != int(machines.ProcessKind) {
		return nil, modelError(format, 3, "version %s has transformed targets of a regression or process, and no other", last)
	}
	if m.of.Threshold = file.Threshold; version != last && !approximate && (file.Threshold != nil || scaled) != (version == modelVersions[4]) {
		return nil, modelError(format, 3, "version %s has a threshold or scaled targets, and no other", modelVersions[4])
	}
	if err := m.complete(format); err != nil {
		return nil, err
	}
	if file.Before != nil {
		if version < modelVersions[2] {
			return nil, modelError(format, 3, "there are steps in a version that has none")
		}
		if version < modelVersions[4] && (file.Before.Columns != nil) != (version == modelVersions[3]) {
			return nil, modelError(format, 3, "version %s has names of columns, and none before it", modelVersions[3])
		}
		if m.of.Before, err = file.Before.passage(m.of.Expansion.D); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// ofOutputs reports whether a process is one of several outputs that depend on each other.
func ofOutputs(p *machines.ProcessPart) bool {
	return p != nil && p.Approximation != nil && p.Approximation.Of == machines.OutputsOf
}

// oldest returns the version that a file has without kernel principal components, nearest
// neighbours and outputs.
func oldest(file *modelJSON, approximate, scaled bool) string {
	switch {
	case approximate:
		return modelVersions[6]
	case file.Target != nil:
		return modelVersions[5]
	case file.Threshold != nil || scaled:
		return modelVersions[4]
	case file.Before != nil && file.Before.Columns != nil:
		return modelVersions[3]
	case file.Before != nil:
		return modelVersions[2]
	}
	return modelVersions[1]
}
