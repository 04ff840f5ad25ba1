package model

import (
	"bufio"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/calibrate"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/schemes"
)

// WriteLIBLINEAR writes a model with the Linear kernel as a model file of LIBLINEAR (Fan et
// al. 2008), for its program predict. The file has the weights; the bias is the weight of a
// feature that is always 1. It must also name a solver, which does not affect predictions:
// L2R_L2LOSS_SVC_DUAL for two classes and one against the rest, MCSVM_CS for
// Crammer–Singer, L2R_L2LOSS_SVR for a regression, and L2R_LR for a logistic regression
// that was read from LIBLINEAR.
//
// WriteLIBLINEAR returns a *[Error] for what the format lacks: other kernels; one class;
// one against one with more than two classes; probabilities from a calibration; targets
// that are not whole numbers. Other errors are those of w. A threshold of decision values
// becomes a part of the bias.
func (m *Model) WriteLIBLINEAR(w io.Writer) error {
	if m.none() {
		return arguments.NoFit("WriteLIBLINEAR")
	}
	m = m.inUnits()
	const format = "LIBLINEAR"
	if err := m.bare(format); err != nil {
		return err
	}
	if err := m.noLogarithm(format); err != nil {
		return err
	}
	m, err := m.foldedDecision(format)
	if err != nil {
		return err
	}
	if m.of.Process != nil {
		return modelError(format, 0, "the format has no Gaussian processes; take Regress(data).Ridge(λ)")
	}
	if m.of.Terms[0].W == nil {
		return modelError(format, 0, "the format has no kernel %v; it has Linear", say.Brief(m.of.Kernel.String()))
	}
	logistic := m.of.Curves != nil
	for _, c := range m.of.Curves {
		if c != machines.Curve(calibrate.Sigmoid{A: -1}) {
			return modelError(format, 0, "the format has the probabilities of logistic regression only; write the model of the fit that was calibrated, without them")
		}
	}
	k := len(m.of.Classes)
	solver := "L2R_L2LOSS_SVC_DUAL"
	var order []int
	switch {
	case m.of.Kind == machines.RegressionKind:
		solver = "L2R_L2LOSS_SVR"
	case m.of.Kind == machines.TwoClassKind:
		order = []int{1, 0}
	case m.of.Kind == machines.OneClassKind || m.of.Kind == machines.VotesKind && k > 2:
		return modelError(format, 0, "the format has no machines of %v; take OneVsRest or CrammerSinger", m.of.Kind)
	default:
		for c := range k {
			order = append(order, c)
		}
		if m.of.Kind == machines.JointKind || m.of.Kind == machines.RestKind && k == 2 { // for two classes, the other solver names mean a single weight vector
			solver = "MCSVM_CS"
		}
	}
	if logistic {
		if solver == "MCSVM_CS" {
			return modelError(format, 0, "the format has no probabilities of %v", m.of.Kind)
		}
		solver = "L2R_LR"
	}
	for _, c := range order {
		if y := m.of.Targets[c]; y != math.Trunc(y) || math.Abs(y) > math.MaxInt32 {
			return modelError(format, 0, "the target of class %s is %v, and labels are whole numbers; give the data such targets", m.of.Classes[c], y)
		}
	}
	out := bufio.NewWriter(w)
	out.WriteString("solver_type " + solver + "\nnr_class " + strconv.Itoa(max(2, k)))
	if order != nil {
		out.WriteString("\nlabel")
		for _, c := range order {
			out.WriteString(" " + strconv.Itoa(int(m.of.Targets[c])))
		}
	}
	bias := slices.ContainsFunc(m.of.Terms, func(t machines.Term) bool { return t.B != 0 })
	out.WriteString("\nnr_feature " + strconv.Itoa(m.of.Expansion.D) + "\nbias ")
	if bias {
		out.WriteString("1\nw\n")
	} else {
		out.WriteString("-1\nw\n")
	}
	for j := range m.of.Expansion.D {
		for _, t := range m.of.Terms {
			out.WriteString(say.Number(t.W[j]) + " ")
		}
		out.WriteByte('\n')
	}
	if bias {
		for _, t := range m.of.Terms {
			out.WriteString(say.Number(t.B) + " ")
		}
		out.WriteByte('\n')
	}
	return out.Flush()
}

// ReadLIBLINEAR reads a model file of LIBLINEAR's program train, for all solvers except the
// one-class one. Each machine has one vector, its w. Models of logistic regression have
// probabilities. The names of the classes are their labels. With two classes, a decision
// value of exactly 0 means the second one, as in LIBLINEAR. If the file is faulty, the
// error is a *[Error] with the line. Time and memory are proportional to the size of the
// file.
func ReadLIBLINEAR(r io.Reader) (*Model, error) {
	in, err := newModelLines("LIBLINEAR", r)
	if err != nil {
		return nil, err
	}
	m := &Model{machines.Machines{Kernel: kernels.Linear()}}
	solver, k, bias := "", 0, math.NaN()
	for done := false; !done; {
		text, ok, err := in.next()
		switch {
		case err != nil:
			return nil, err
		case !ok:
			return nil, in.fail("the file ends before its weights")
		}
		words := strings.Fields(text)
		if len(words) == 0 {
			return nil, in.fail("the line is empty")
		}
		if done = words[0] == "w"; done {
			continue
		}
		if len(words) == 1 || words[0] != "label" && len(words) > 2 {
			return nil, in.fail("%.40q has %d values; want one", words[0], len(words)-1)
		}
		switch words[0] {
		case "solver_type":
			solver = words[1]
		case "nr_class":
			k, err = in.whole(words[1])
		case "label":
			m.of.Classes = words[1:]
			m.of.Targets, err = in.numbers(m.of.Classes)
		case "nr_feature":
			m.of.Expansion.D, err = in.whole(words[1])
		case "bias":
			bias, err = in.number(words[1])
		default:
			err = in.fail("%.40q is not known", words[0])
		}
		if err != nil {
			return nil, err
		}
	}
	count := 1
	switch solver {
	case "L2R_L2LOSS_SVR", "L2R_L2LOSS_SVR_DUAL", "L2R_L1LOSS_SVR_DUAL":
		m.of.Classes, m.of.Targets = nil, nil // a regression has no classes
	case "L2R_LR", "L2R_LR_DUAL", "L1R_LR", "L2R_L2LOSS_SVC_DUAL", "L2R_L2LOSS_SVC", "L2R_L1LOSS_SVC_DUAL", "L1R_L2LOSS_SVC", "MCSVM_CS":
		if k < 2 || len(m.of.Classes) != k {
			return nil, in.fail("there are %d classes and %d labels; want as many, and two at least", k, len(m.of.Classes))
		}
		switch {
		case solver == "MCSVM_CS":
			m.of.Kind, m.of.Duels, count = machines.JointKind, schemes.AllOthers(k), k
		case k == 2:
			m.of.Kind, m.of.Duels = machines.VotesKind, [][2]int{{0, 1}}
		default:
			m.of.Kind, m.of.Duels, count = machines.RestKind, schemes.AllOthers(k), k
		}
		if strings.Contains(solver, "_LR") {
			m.of.Curves = slices.Repeat([]machines.Curve{calibrate.Sigmoid{A: -1}}, count)
		}
	default:
		return nil, in.fail("the solver %.40q is not known", solver)
	}
	if math.IsNaN(bias) {
		return nil, in.fail("the bias is missing")
	}
	rows := m.of.Expansion.D
	if bias >= 0 {
		rows++
	}
	if count > machines.MostNumbers/count {
		return nil, in.fail("there are %d classes, too many to be read", k)
	}
	weights := make([][]float64, count) // one row for each machine, one column for each feature
	biases := make([]float64, count)
	for j := range rows {
		text, ok, err := in.next()
		switch {
		case err != nil:
			return nil, err
		case !ok:
			return nil, in.fail("there are weights of %d features; want %d", j, rows)
		}
		row, err := in.numbers(strings.Fields(text))
		if err != nil {
			return nil, err
		}
		if len(row) != count {
			return nil, in.fail("there are %d weights; want %d", len(row), count)
		}
		for k, v := range row {
			if j == m.of.Expansion.D {
				biases[k] = v * bias
			} else {
				weights[k] = append(weights[k], v)
			}
		}
	}
	if text, ok, err := in.next(); err != nil || ok {
		if err == nil {
			err = in.fail("there is more after the weights: %.40q", text)
		}
		return nil, err
	}
	m.of.Expansion.X = points.Rows(weights)
	for k, b := range biases {
		coef := make([]float64, count)
		coef[k] = 1
		m.of.Terms = append(m.of.Terms, machines.Term{Coef: coef, B: b})
	}
	if err := m.complete(in.format); err != nil {
		return nil, err
	}
	return m, nil
}
