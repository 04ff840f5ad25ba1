package svmnb

import (
	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/schemes"
	"github.com/svmnb/svmnb/svmnb/model"
)

// Model returns what predictions need of the fit. Its decision values are those of the fit,
// bit for bit.
func (f *Fit) Model() *model.Model {
	if f == nil || f.task == nil {
		return nil
	}
	e := f.expansion
	m := machines.Machines{Kind: machines.TwoClassKind, Kernel: f.task.decided(), Expansion: e, Terms: []machines.Term{{Coef: e.Coef, B: e.B, W: e.W}}}
	m.Classes, m.Duels = []string{f.task.negative, f.task.positive}, [][2]int{{1, 0}}
	if f.task.margin.alone() {
		m.Kind, m.Targets, m.Line = machines.OneClassKind, []float64{-1, 1}, f.line
	} else {
		m.Targets = targets(f.task.data)
	}
	return model.New(m, f.task.data)
}

// Model returns what predictions need of the fit. Its decision values are those of the fit,
// bit for bit.
func (f *MultiFit) Model() *model.Model {
	if f == nil || f.task == nil {
		return nil
	}
	m := f.task.described()
	m.Kernel, m.Terms, m.Expansion = f.task.base.kernel, f.terms, f.points
	return model.New(m, f.task.base.data)
}

// described returns what a model has of the problem: how the machines decide together.
func (t *multiTask) described() machines.Machines {
	m := machines.Machines{Classes: t.classes, Duels: t.duels, Targets: targets(t.base.data)}
	m.Kind = [...]machines.Kind{schemes.OneVsOne: machines.VotesKind, schemes.OneVsRest: machines.RestKind, schemes.CrammerSinger: machines.JointKind}[t.scheme]
	if m.Kind == machines.JointKind {
		m.Duels = schemes.AllOthers(len(m.Classes))
	}
	return m
}

// Model returns what predictions need of the fit. Its values are those of the fit, bit for
// bit.
func (f *RegressionFit) Model() *model.Model {
	if f == nil || f.task == nil {
		return nil
	}
	return model.New(machines.Machines{Kind: machines.RegressionKind, Kernel: f.task.kernel, Expansion: f.expansion, Terms: []machines.Term{{Coef: f.expansion.Coef, B: f.expansion.B, W: f.expansion.W}}}, f.task.data)
}

// Model returns what predictions need of the fit, with the calibration. Its probabilities
// are those of c, bit for bit.
func (c *Calibrated) Model() *model.Model {
	if c == nil || c.fit == nil {
		return nil
	}
	return c.fit.Model().WithCurves(c.curves)
}

// targets returns the target of each class of the data.
func targets(data *datasets.Dataset) []float64 {
	var of []float64
	for _, c := range data.Counts() {
		of = append(of, c.Y)
	}
	return of
}
