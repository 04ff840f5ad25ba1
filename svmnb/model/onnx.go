package model

import (
	"encoding/binary"
	"io"
	"math"
	"strconv"

	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/calibrate"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
)

// WriteONNX writes the model as an ONNX graph, for runtimes in other languages. The graph
// uses the operators of ai.onnx.ml, version 1. Its input X has m × d float32 values, and
// its outputs are
//
//	label, scores   of SVMClassifier: two classes and one against one
//	label, scores   of LinearClassifier: linear machines of two classes, one against
//	                the rest, and Crammer–Singer
//	value           of SVMRegressor: regressions, means of Gaussian processes, and one
//	                class, whose value is 1 inside and −1 outside
//	value           of LinearRegressor: linear regressions
//
// The steps of a pipeline become nodes before this one. If they include steps for the
// columns of a table, the graph has an input for each column that they use, with the
// column's name and the shape m × 1, instead of X:
//
//	numbers               float32, NaN where missing
//	categories and texts  string, "" where missing
//	times                 float64, seconds since 1970 in UTC, NaN where missing
//
// A column called label, scores or value, as an output, gets an underscore behind its name.
// Such graphs, and those with OneHot or marks of gaps, use ai.onnx 10 and ai.onnx.ml 2.
// Words of texts are found by the operator Tokenizer of com.microsoft, so graphs with texts
// need onnxruntime. If a number is missing that no step fills, or a level does not occur in
// training and must not, the scores of the row are NaN, and its label means nothing.
//
// A label is an int64 if the names of all classes are whole numbers, otherwise a string. It
// follows from the decision values, even if the model has probabilities. The threshold of a
// svmnb.Thresholded is a part of the bias, so labels are by the threshold and decision
// values are smaller by it. If the model has probabilities, the scores of SVMClassifier are
// these, m × k in the order of Classes; of two classes the positive one is first.
// onnxruntime computes them to about 0.005. Without probabilities the scores are decision
// values; runtimes disagree on their sign for two classes of SVMClassifier.
//
// All numbers become float32, so decision values have about six correct digits. A decision
// value of exactly 0 may get another class than in svmnb.
//
// WriteONNX returns a *[Error] for what the operators lack: other kernels; one against the
// rest and Crammer–Singer with a kernel; other probabilities; linear means; sparse support
// vectors, but for tables whose texts make at most 2²⁴ numbers of them; numbers beyond
// float32; HashWords; texts of more than 65,536 features; Nystroem with kernels other than
// Linear and RBF; steps of your own; scaled data for which neither [Model.Raw] nor
// [Model.Transformed] was called. Other errors are those of w.
func (m *Model) WriteONNX(w io.Writer) error {
	if m.none() {
		return arguments.NoFit("WriteONNX")
	}
	m, err := m.folded(onnxFormat)
	if err != nil {
		return err
	}
	m = m.inUnits()
	program, err := m.program(onnxFormat)
	if err != nil {
		return err
	}
	node, err := m.onnxNode(program)
	if err != nil {
		return err
	}
	if err := m.namesAreText(onnxFormat); err != nil {
		return err
	}
	if node.beyond {
		return modelError(onnxFormat, 0, "a number is beyond the largest float32, 3.4e38; scale the data")
	}
	steps := onnxSteps{taken: map[string]bool{"label": true, "scores": true, "value": true}}
	switch {
	case program != nil:
		node.inputs = []string{steps.program(program)}
	case m.of.Before != nil:
		node.inputs = []string{steps.passage(m.of.Before)}
	default:
		steps.input("X", onnxFloat, m.D())
	}
	switch {
	case steps.wrong != nil:
		return steps.wrong
	case steps.beyond:
		return modelError(onnxFormat, 0, "a number of the steps is beyond the largest float32, 3.4e38; scale the data")
	}
	node, after := steps.exponential(m.of.Target, node)
	if steps.beyond {
		return modelError(onnxFormat, 0, "the shift of LogTarget is beyond the largest float32, 3.4e38; scale the data")
	}
	var graph, model proto
	for _, step := range steps.nodes {
		graph.message(1, step.proto())
		graph.message(13, step.outputs[0]) // the type of the node's output, since not every checker infers it
	}
	graph.message(1, node.proto())
	for i, step := range after {
		graph.message(1, step.proto())
		graph.message(13, append([]*onnxNode{node}, after...)[i].outputs[0])
	}
	graph.text(2, "svmnb")
	for _, t := range steps.tensors {
		graph.message(5, t)
	}
	for _, input := range steps.inputs {
		graph.message(11, input)
	}
	last := node
	if len(after) > 0 {
		last = after[len(after)-1]
	}
	for _, out := range last.outputs {
		graph.message(12, out)
	}
	model.int(1, 4) // IR version 4, the first in which initialisers need not be inputs of the graph
	model.text(2, "svmnb")
	model.text(6, m.String())
	model.message(7, graph)
	operators := func(domain string, version int64) {
		var set proto
		set.text(1, domain)
		set.int(2, version)
		model.message(8, set)
	}
	switch {
	case steps.recent:
		operators(onnxDomain, 2)
		operators("", 10)
		if steps.words {
			operators(onnxWords, 1)
		}
	default:
		operators(onnxDomain, 1)
		if steps.tensors != nil || after != nil { // Add, MatMul and others are in the standard operator set
			operators("", 7)
		}
	}
	_, err = w.Write(model)
	return err
}

const (
	onnxFormat = "ONNX"
	onnxDomain = "ai.onnx.ml"
	onnxWords  = "com.microsoft"

	// Types of the elements of tensors.
	onnxFloat, onnxInt64, onnxString, onnxBool, onnxDouble = 1, 7, 8, 9, 11
)

// onnxNode returns the node that predicts.
func (m *Model) onnxNode(program *steps.Program) (*onnxNode, error) {
	fail := func(msg string, args ...any) (*onnxNode, error) { return nil, modelError(onnxFormat, 0, msg, args...) }
	if m.of.Process != nil && m.of.Process.Beta != nil {
		return fail("the format has no linear mean; take ConstantMean")
	}
	var sigmoids []calibrate.Sigmoid
	for _, c := range m.of.Curves {
		s, ok := c.(calibrate.Sigmoid)
		if !ok {
			return fail("the format has the probabilities of Platt only; calibrate by calibrate.Platt")
		}
		sigmoids = append(sigmoids, s)
	}
	linear := m.of.Terms[0].W != nil
	pairs := m.of.Kind == machines.TwoClassKind || m.of.Kind == machines.VotesKind
	switch {
	case sigmoids != nil && !pairs:
		return fail("the format has no probabilities of %v; write the model of the fit that was calibrated, without them", m.of.Kind)
	case linear && m.of.Classes == nil:
		n := &onnxNode{op: "LinearRegressor", domain: onnxDomain}
		n.floats("coefficients", m.of.Terms[0].W)
		n.floats("intercepts", []float64{m.of.Terms[0].B})
		n.output("value", onnxFloat, 1)
		return n, nil
	case linear && sigmoids == nil && m.of.Kind != machines.OneClassKind && (len(m.of.Classes) == 2 || m.of.Kind != machines.VotesKind):
		return m.onnxLinear(), nil
	case !pairs && m.of.Kind != machines.OneClassKind && m.of.Classes != nil:
		return fail("the format has no machines of %v with a kernel; take OneVsOne", m.of.Kind)
	}
	kernel, parameters, ok := onnxKernel(m.of.Kernel)
	if !ok {
		return fail("the format has no kernel %v; it has Linear, Polynomial, RBF and Sigmoid", say.Brief(m.of.Kernel.String()))
	}
	rows, err := m.writtenOut(onnxFormat, program, 1<<24)
	if err != nil {
		return nil, err
	}
	n := &onnxNode{op: "SVMRegressor", domain: onnxDomain}
	var vectors, rho []float64
	for _, t := range m.of.Terms {
		rho = append(rho, t.B) // ONNX adds rho, while LIBSVM subtracts it
	}
	if pairs {
		n.op = "SVMClassifier"
		var order []int
		if order = []int{1, 0}; m.of.Kind == machines.VotesKind {
			order = order[:0]
			for k := range m.of.Classes {
				order = append(order, k)
			}
		}
		groups := m.byClass(order)
		coef := make([][]float64, len(order)-1)
		var counts []int64
		for _, g := range groups {
			counts = append(counts, int64(len(g)))
			for _, r := range g {
				vectors = append(vectors, rows[r.vector]...)
				for k, c := range r.coef {
					coef[k] = append(coef[k], c)
				}
			}
		}
		var flat []float64
		for _, c := range coef {
			flat = append(flat, c...)
		}
		n.floats("coefficients", flat)
		n.ints("vectors_per_class", counts)
		if sigmoids != nil {
			var a, b []float64
			for _, s := range sigmoids {
				a, b = append(a, s.A), append(b, s.B)
			}
			n.floats("prob_a", a)
			n.floats("prob_b", b)
		}
		n.labels(m.of.Classes, order)
	} else {
		for _, x := range rows {
			vectors = append(vectors, x...)
		}
		n.floats("coefficients", m.of.Terms[0].Coef)
		n.int("n_supports", int64(m.of.Expansion.X.N()))
		if m.of.Kind == machines.OneClassKind {
			n.int("one_class", 1)
		}
		n.output("value", onnxFloat, 1)
	}
	n.text("kernel_type", kernel)
	n.floats("kernel_params", parameters)
	n.floats("rho", rho)
	n.floats("support_vectors", vectors)
	return n, nil
}

// onnxLinear returns a LinearClassifier, which needs a row of weights for each class, even
// for two.
func (m *Model) onnxLinear() *onnxNode {
	n := &onnxNode{op: "LinearClassifier", domain: onnxDomain}
	var order []int
	for k := range m.of.Classes {
		order = append(order, k)
	}
	var weights, biases []float64
	for _, k := range order {
		t, sign := m.of.Terms[min(k, len(m.of.Terms)-1)], 1.0
		if len(m.of.Terms) == 1 && k != m.of.Duels[0][0] {
			sign = -1
		}
		for _, v := range t.W {
			weights = append(weights, sign*v)
		}
		biases = append(biases, sign*t.B)
	}
	n.floats("coefficients", weights)
	n.floats("intercepts", biases)
	n.labels(m.of.Classes, order)
	return n
}

// onnxKernel returns the ONNX name of a kernel, and its gamma, coef0 and degree.
func onnxKernel(k kernels.Kernel) (name string, parameters []float64, ok bool) {
	switch k := written(k).(type) {
	case kernels.LinearKernel:
		return "LINEAR", []float64{0, 0, 0}, true
	case kernels.PolynomialKernel:
		return "POLY", []float64{k.Gamma, k.Coef0, float64(k.Degree)}, true
	case kernels.GaussianKernel:
		return "RBF", []float64{k.Gamma, 0, 0}, true
	case kernels.SigmoidKernel:
		return "SIGMOID", []float64{k.Gamma, k.Coef0, 0}, true
	}
	return "", nil, false
}

// onnxNode is a node while it is put together.
type onnxNode struct {
	op         string
	domain     string   // "" is the standard operator set
	step       bool     // a step before the node that predicts
	inputs     []string // nil means X
	attributes []proto
	names      []string
	outputs    []proto
	beyond     bool // a number is too large for float32
}

func (n *onnxNode) proto() proto {
	var p proto
	if n.inputs == nil {
		n.inputs = []string{"X"}
	}
	for _, name := range n.inputs {
		p.text(1, name)
	}
	for _, name := range n.names {
		p.text(2, name)
	}
	if !n.step {
		p.text(3, "predict")
	}
	p.text(4, n.op)
	for _, a := range n.attributes {
		p.message(5, a)
	}
	if n.domain != "" {
		p.text(7, n.domain)
	}
	return p
}

// attribute adds an attribute. kind is its type as a number of AttributeProto; fill adds
// its value.
func (n *onnxNode) attribute(name string, kind int64, fill func(*proto)) {
	var p proto
	p.text(1, name)
	fill(&p)
	p.int(20, kind)
	n.attributes = append(n.attributes, p)
}

func (n *onnxNode) int(name string, v int64) {
	n.attribute(name, 2, func(p *proto) { p.int(3, v) })
}

func (n *onnxNode) text(name, v string) {
	n.attribute(name, 3, func(p *proto) { p.text(4, v) })
}

func (n *onnxNode) texts(name string, v []string) {
	n.attribute(name, 8, func(p *proto) {
		for _, s := range v {
			p.text(9, s)
		}
	})
}

func (n *onnxNode) floats(name string, v []float64) {
	packed := n.packed(v)
	n.attribute(name, 6, func(p *proto) { p.message(7, packed) })
}

// packed encodes the values as float32. It sets n.beyond if one is too large.
func (n *onnxNode) packed(v []float64) proto {
	packed := make(proto, 0, 4*len(v))
	for _, x := range v {
		f := float32(x)
		n.beyond = n.beyond || math.IsInf(float64(f), 0)
		packed = binary.LittleEndian.AppendUint32(packed, math.Float32bits(f))
	}
	return packed
}

func (n *onnxNode) float(name string, v float64) {
	n.attribute(name, 1, func(p *proto) {
		*p = binary.AppendUvarint(*p, 2<<3|5) // wire type 5: four bytes
		*p = binary.LittleEndian.AppendUint32(*p, math.Float32bits(float32(v)))
	})
}

func (n *onnxNode) ints(name string, v []int64) {
	n.attribute(name, 7, func(p *proto) {
		for _, x := range v {
			p.int(8, x)
		}
	})
}

// labels adds the class names in the given order, and the outputs of a classifier.
func (n *onnxNode) labels(classes []string, order []int) {
	var names []string
	var whole []int64
	for _, k := range order {
		names = append(names, classes[k])
		if v, err := strconv.ParseInt(classes[k], 10, 64); err == nil && strconv.FormatInt(v, 10) == classes[k] {
			whole = append(whole, v)
		}
	}
	element := onnxInt64
	if len(whole) == len(names) {
		n.ints("classlabels_ints", whole)
	} else {
		element = onnxString
		n.texts("classlabels_strings", names)
	}
	n.output("label", element, 0)
	n.output("scores", onnxFloat, -1)
}

// output adds an output with so many columns; 0 means a vector, −1 the number k of classes or
// of machines, −2 any number.
func (n *onnxNode) output(name string, element, columns int) {
	var p proto
	p.text(1, name)
	p.message(2, tensorType(element, columns))
	n.names, n.outputs = append(n.names, name), append(n.outputs, p)
}

// tensorType returns a TypeProto of m rows.
func tensorType(element, columns int) proto {
	var rows, shape, tensor, t proto
	rows.text(2, "m")
	shape.message(1, rows)
	switch {
	case columns > 0:
		var d proto
		d.int(1, int64(columns))
		shape.message(1, d)
	case columns < 0:
		var d proto
		if columns == -1 {
			d.text(2, "k")
		}
		shape.message(1, d)
	}
	tensor.int(1, int64(element))
	tensor.message(2, shape)
	t.message(1, tensor)
	return t
}

// proto is a message in the wire format of protocol buffers. Fields are numbers (wire type
// 0) or bytes (wire type 2), with the field numbers of onnx.proto.
type proto []byte

func (p *proto) int(field int, v int64) {
	*p = binary.AppendUvarint(*p, uint64(field)<<3)
	*p = binary.AppendUvarint(*p, uint64(v))
}

func (p *proto) text(field int, s string) { p.message(field, proto(s)) }

func (p *proto) message(field int, m proto) {
	*p = binary.AppendUvarint(*p, uint64(field)<<3|2)
	*p = binary.AppendUvarint(*p, uint64(len(m)))
	*p = append(*p, m...)
}
