package model

import (
	"encoding/binary"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/calibrate"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/schemes"
)

// mostONNX is the largest graph that ReadONNX reads.
const mostONNX = 1 << 30

// ReadONNX reads a machine from an ONNX graph: SVMClassifier, SVMRegressor, LinearClassifier or
// LinearRegressor of ai.onnx.ml, as [Model.WriteONNX], skl2onnx and others write them. Nodes
// after the machine, such as ZipMap, are left out. A graph with steps before it, such as Scaler,
// is refused: read the machine of the transformed points.
//
// ONNX has numbers in single precision, so kernel and coefficients have about seven digits. The
// error of a faulty graph is a *[Error]. Memory is proportional to the size of the graph, at most
// 1 GiB.
func ReadONNX(r io.Reader) (*Model, error) {
	text, err := io.ReadAll(io.LimitReader(r, mostONNX+1))
	if err != nil {
		return nil, err
	}
	fail := func(msg string, args ...any) (*Model, error) { return nil, modelError(onnxFormat, 0, msg, args...) }
	if len(text) > mostONNX {
		return fail("the graph is larger than 1 GiB")
	}
	graph, ok := proto(text).last(7)
	if !ok {
		return fail("this is no ONNX model: it has no graph")
	}
	made := map[string]*readNode{}
	var machine *readNode
	whole := proto(graph).each(func(field int, _ uint64, part []byte) bool {
		if field != 1 {
			return true
		}
		n := readNodeOf(part)
		if n == nil {
			return false
		}
		for _, name := range n.outputs {
			made[name] = n
		}
		switch n.op {
		case "SVMClassifier", "SVMRegressor", "LinearClassifier", "LinearRegressor":
			if machine != nil {
				machine = nil
				return false
			}
			machine = n
		}
		return true
	})
	switch {
	case !whole:
		return fail("the graph is damaged, or has several machines")
	case machine == nil:
		return fail("the graph has none of SVMClassifier, SVMRegressor, LinearClassifier and LinearRegressor")
	case len(machine.inputs) != 1:
		return fail("%s has %d inputs; want one", machine.op, len(machine.inputs))
	}
	for before, k := made[machine.inputs[0]], 0; before != nil; before, k = made[before.inputs[0]], k+1 {
		if before.op != "Cast" && before.op != "Identity" || len(before.inputs) != 1 || k > len(made) {
			return fail("the node %.40q is before the machine; read a graph of the machine alone, which takes transformed points", before.op)
		}
	}
	return machine.model()
}

// readNode is a node of a graph.
type readNode struct {
	op              string
	inputs, outputs []string
	floats          map[string][]float64
	ints            map[string][]int64
	texts           map[string][]string
}

// readNodeOf reads a NodeProto; nil if it is damaged.
func readNodeOf(p proto) *readNode {
	n := &readNode{floats: map[string][]float64{}, ints: map[string][]int64{}, texts: map[string][]string{}}
	ok := p.each(func(field int, _ uint64, part []byte) bool {
		switch field {
		case 1:
			n.inputs = append(n.inputs, string(part))
		case 2:
			n.outputs = append(n.outputs, string(part))
		case 4:
			n.op = string(part)
		case 5:
			return n.attribute(part)
		}
		return true
	})
	if !ok || len(n.op) == 0 {
		return nil
	}
	return n
}

// attribute reads an AttributeProto. Lists may be packed or not.
func (n *readNode) attribute(p proto) bool {
	var name string
	var floats []float64
	var ints []int64
	var texts []string
	ok := p.each(func(field int, v uint64, part []byte) bool {
		switch field {
		case 1:
			name = string(part)
		case 2:
			floats = append(floats, float64(math.Float32frombits(uint32(v))))
		case 3:
			ints = append(ints, int64(v))
		case 4, 9:
			texts = append(texts, string(part))
		case 7:
			if part == nil {
				floats = append(floats, float64(math.Float32frombits(uint32(v))))
				break
			}
			if len(part)%4 != 0 {
				return false
			}
			for ; len(part) > 0; part = part[4:] {
				floats = append(floats, float64(math.Float32frombits(binary.LittleEndian.Uint32(part))))
			}
		case 8:
			if part == nil {
				ints = append(ints, int64(v))
				break
			}
			for len(part) > 0 {
				v, size := binary.Uvarint(part)
				if size <= 0 {
					return false
				}
				ints, part = append(ints, int64(v)), part[size:]
			}
		}
		return true
	})
	n.floats[name], n.ints[name], n.texts[name] = floats, ints, texts
	return ok
}

// model makes the model of a node.
func (n *readNode) model() (*Model, error) {
	fail := func(msg string, args ...any) (*Model, error) {
		return nil, modelError(onnxFormat, 0, n.op+": "+msg, args...)
	}
	m := &Model{machines.Machines{Kernel: kernels.Linear()}}
	coef := n.floats["coefficients"]
	if n.op == "SVMClassifier" || n.op == "LinearClassifier" {
		m.of.Classes = n.texts["classlabels_strings"]
		names := n.ints["classlabels_ints"]
		if n.op == "LinearClassifier" && len(names) == 0 {
			names = n.ints["classlabels_int64s"]
		}
		if len(m.of.Classes) == 0 {
			for _, v := range names {
				m.of.Classes, m.of.Targets = append(m.of.Classes, strconv.FormatInt(v, 10)), append(m.of.Targets, float64(v))
			}
		} else {
			for k := range m.of.Classes {
				m.of.Targets = append(m.of.Targets, float64(k))
			}
		}
		if len(m.of.Classes) < 2 {
			return fail("there are %d classes", len(m.of.Classes))
		}
	}
	if n.op == "LinearClassifier" || n.op == "LinearRegressor" {
		return n.linear(m, coef)
	}
	kernel, p := n.texts["kernel_type"], n.floats["kernel_params"]
	if len(kernel) != 1 {
		kernel = []string{"LINEAR"} // the default of the operator
	}
	if len(p) != 3 && kernel[0] != "LINEAR" {
		return fail("kernel_params has %d numbers; want gamma, coef0 and degree", len(p))
	}
	switch kernel[0] {
	case "LINEAR":
	case "POLY":
		if !(p[2] >= 1 && p[2] <= 1000 && p[2] == math.Trunc(p[2])) {
			return fail("the degree is %v; want a whole number from 1", p[2])
		}
		m.of.Kernel = kernels.Polynomial(int(p[2]), p[0], p[1])
	case "RBF":
		m.of.Kernel = kernels.RBF(p[0])
	case "SIGMOID":
		m.of.Kernel = kernels.Sigmoid(p[0], p[1])
	default:
		return fail("the kernel %.40q is not known", kernel[0])
	}
	if err := m.of.Kernel.Check(); err != nil {
		return fail("%v", err)
	}
	rho, flat := n.floats["rho"], n.floats["support_vectors"]
	count := 0
	if n.op == "SVMRegressor" {
		if v := n.ints["n_supports"]; len(v) == 1 && v[0] > 0 && v[0] <= int64(len(coef)) {
			count = int(v[0])
		}
		if count == 0 || count != len(coef) || len(rho) != 1 {
			return fail("there are %d coefficients, %d biases and %d support vectors", len(coef), len(rho), count)
		}
		m.of.Terms = []machines.Term{{Coef: coef, B: rho[0]}}
		if v := n.ints["one_class"]; len(v) == 1 && v[0] == 1 {
			m.of.Kind, m.of.Classes, m.of.Targets, m.of.Duels = machines.OneClassKind, []string{"outside", "inside"}, []float64{-1, 1}, [][2]int{{1, 0}}
		}
	} else {
		per, k := n.ints["vectors_per_class"], len(m.of.Classes)
		for _, v := range per {
			if v < 0 || v > int64(len(coef)) {
				return fail("vectors_per_class has %d", v)
			}
			count += int(v)
		}
		pairs := k * (k - 1) / 2
		if count == 0 || len(coef)%count != 0 {
			return fail("there are %d coefficients of %d vectors", len(coef), count)
		}
		if err := m.pairwise(onnxFormat, per, slices.Collect(slices.Chunk(coef, count)), rho); err != nil {
			return nil, err
		}
		if a, b := n.floats["prob_a"], n.floats["prob_b"]; len(a) == pairs && len(b) == pairs {
			for q := range a {
				m.of.Curves = append(m.of.Curves, calibrate.Sigmoid{A: a[q], B: b[q]})
			}
		}
	}
	if len(flat) == 0 || len(flat)%count != 0 {
		return fail("there are %d numbers for %d support vectors", len(flat), count)
	}
	m.of.Expansion.D = len(flat) / count
	m.of.Expansion.X = points.Rows(slices.Collect(slices.Chunk(flat, m.of.Expansion.D)))
	if err := m.complete(onnxFormat); err != nil {
		return nil, err
	}
	return m, nil
}

// pairwise completes the machines of all pairs of k classes. The support vectors are sorted by
// their class, of which there are per. A vector of a class has k − 1 coefficients, one for each other
// class in their order, which are the rows of coef.
func (m *Model) pairwise(format string, per []int64, coef [][]float64, bias []float64) error {
	k, count := len(m.of.Classes), 0
	for _, v := range per {
		if v < 0 || v > machines.MostNumbers {
			return modelError(format, 0, "a class has %d vectors", v)
		}
		count += int(v)
	}
	pairs := k * (k - 1) / 2
	if len(per) != k || count == 0 || k > 1<<12 || len(bias) < pairs || len(coef) != k-1 || len(coef[0]) != count {
		return modelError(format, 0, "there are %d classes, %d numbers of vectors, %d rows of coefficients and %d biases, which do not go together", k, len(per), len(coef), len(bias))
	}
	m.of.Kind, m.of.Duels = machines.VotesKind, schemes.AllPairs(k, pairs)
	if pairs > machines.MostNumbers/count {
		return modelError(format, 0, "%d machines of %d support vectors need more than 1 GiB", pairs, count)
	}
	begin := make([]int, k+1)
	for c, v := range per {
		begin[c+1] = begin[c] + int(v)
	}
	for q, d := range m.of.Duels {
		c := make([]float64, count)
		copy(c[begin[d[0]]:begin[d[0]+1]], coef[d[1]-1][begin[d[0]]:])
		copy(c[begin[d[1]]:begin[d[1]+1]], coef[d[0]][begin[d[1]]:])
		m.of.Terms = append(m.of.Terms, machines.Term{Coef: c, B: bias[q]})
	}
	return nil
}

// linear completes the model of a linear node, whose weights are rows of coef.
func (n *readNode) linear(m *Model, coef []float64) (*Model, error) {
	fail := func(msg string, args ...any) (*Model, error) {
		return nil, modelError(onnxFormat, 0, n.op+": "+msg, args...)
	}
	bias := n.floats["intercepts"]
	rows := len(bias)
	if n.op == "LinearRegressor" {
		if v := n.ints["targets"]; len(v) == 1 && v[0] != 1 {
			return fail("there are %d targets; want one", v[0])
		}
		if rows = 1; len(bias) == 0 {
			bias = []float64{0}
		}
	} else if rows != len(m.of.Classes) && !(rows == 1 && len(m.of.Classes) == 2) {
		return fail("there are %d intercepts for %d classes", rows, len(m.of.Classes))
	}
	if len(bias) != rows || len(coef) == 0 || len(coef)%rows != 0 {
		return fail("there are %d weights and %d intercepts", len(coef), len(bias))
	}
	weights := slices.Collect(slices.Chunk(coef, len(coef)/rows))
	if rows == 2 { // the class of the larger score is that of the sign of half the difference
		half := make([]float64, len(weights[0]))
		for j := range half {
			half[j] = (weights[1][j] - weights[0][j]) / 2
		}
		weights, bias, rows = [][]float64{half}, []float64{(bias[1] - bias[0]) / 2}, 1
	}
	switch {
	case m.of.Classes == nil:
	case rows == 1:
		m.of.Kind, m.of.Duels = machines.TwoClassKind, [][2]int{{1, 0}}
	default:
		m.of.Kind, m.of.Duels = machines.RestKind, schemes.AllOthers(rows)
	}
	m.of.Expansion.D, m.of.Expansion.X = len(weights[0]), points.Rows(weights)
	if rows > machines.MostNumbers/rows {
		return fail("there are %d classes, too many to be read", rows)
	}
	for k, b := range bias {
		c := make([]float64, rows)
		c[k] = 1
		m.of.Terms = append(m.of.Terms, machines.Term{Coef: c, B: b})
	}
	if err := m.complete(onnxFormat); err != nil {
		return nil, err
	}
	return m, nil
}

// each calls do with the fields of a message: the number of wire types 0, 1 and 5, or the bytes,
// not nil, of type 2. It reports false if the message is damaged or do does.
func (p proto) each(do func(field int, v uint64, part []byte) bool) bool {
	for len(p) > 0 {
		tag, size := binary.Uvarint(p)
		if size <= 0 || tag>>3 == 0 || tag>>3 > 1<<28 {
			return false
		}
		p = p[size:]
		v, part := uint64(0), []byte(nil)
		switch tag & 7 {
		case 0:
			if v, size = binary.Uvarint(p); size <= 0 {
				return false
			}
			p = p[size:]
		case 1:
			if len(p) < 8 {
				return false
			}
			v, p = binary.LittleEndian.Uint64(p), p[8:]
		case 2:
			length, size := binary.Uvarint(p)
			if size <= 0 || length > uint64(len(p)-size) {
				return false
			}
			part, p = p[size:size+int(length):size+int(length)], p[size+int(length):]
		case 5:
			if len(p) < 4 {
				return false
			}
			v, p = uint64(binary.LittleEndian.Uint32(p)), p[4:]
		default:
			return false
		}
		if !do(int(tag>>3), v, part) {
			return false
		}
	}
	return true
}

// last returns the last message in a field.
func (p proto) last(field int) (part []byte, ok bool) {
	whole := p.each(func(f int, _ uint64, b []byte) bool {
		if f == field && b != nil {
			part, ok = b, true
		}
		return true
	})
	return part, ok && whole
}
