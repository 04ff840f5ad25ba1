package svmnb

import (
	"context"
	"fmt"
	"slices"

	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/schemes"
	"github.com/svmnb/svmnb/svmnb/model"
)

// Referee says for regressions that somebody trained, with any program, how far each is from the
// optimum of the described problem, and how far its values at the training points can be from those
// of the optimum; see [Classifier.Referee]. The loss may be any but that of Nu, of which every
// solution is one of ε-SVR: describe that, with the ε that was found.
//
// A description with [Regressor.Augment] is the problem of LIBLINEAR with -B: τ² = B². Its -s 11
// and -s 12 have the quadratic loss with 2C in place of C, its -s 13 the linear one.
func (r Regressor) Referee(ctx context.Context, entries ...Entry) (_ *Refereed, err error) {
	defer guard.Caught(&err)
	if err := some(ctx, entries); err != nil {
		return nil, err
	}
	t, err := r.prepare()
	if err != nil {
		return nil, err
	}
	if t.loss == nuLoss {
		return nil, arguments.Wrong("Nu", t.nu, "the referee knows no ν; leave Nu out, and give the half-width of the tube that was found by Epsilon")
	}
	list, e, err := examine(entries, t.data, func(e Entry) (*judged, error) { return t.judge(ctx, e) }, func() (model.Modeler, error) { return r.Stop(ownGap).Fit(ctx) })
	if err != nil {
		return nil, err
	}
	out := &Refereed{Description: t.Regressor, problem: t.words(), points: t.data.N(), real: true}
	for _, j := range list {
		v := j.verdict(e.best)
		v.Off = 0
		for i, f := range j.values {
			v.Off = max(v.Off, f-e.lower[i], e.upper[i]-f)
		}
		out.Verdicts = append(out.Verdicts, v)
	}
	return out, nil
}

// MustReferee is Referee for a notebook cell. An error is printed and ends the cell; outside a
// notebook it panics.
func (r Regressor) MustReferee(entries ...Entry) *Refereed { return mustReferee(r.Referee, entries) }

// judge evaluates a machine in the problem of t.
func (t *regression) judge(ctx context.Context, e Entry) (*judged, error) {
	in, err := e.inside(t.data.D())
	if err != nil {
		return nil, err
	}
	if in.Kind != machines.RegressionKind {
		return nil, misfit(e, "the model is of %v; the referee of this problem judges regressions", in.Kind)
	}
	j, err := t.exact().judge(ctx, e, in, in.Terms[0], 1)
	if err == nil && j.own != nil {
		j.bounds = t.fit(j.own).Bounds
	}
	return j, err
}

// Referee says for machines of several classes that somebody trained, with any program, how far
// they are from the optimum; see [Classifier.Referee]. Their problems are independent, so a verdict
// has the sums of the objectives and bounds, the largest violation, and in Machines the verdict of
// each. A label of a verdict is the class that is predicted; it is proven if no decision values
// within the bounds of all machines give another. The models must be of the scheme of the
// description: LIBSVM's are one against one, LIBLINEAR's one against the rest.
func (m MultiClassifier) Referee(ctx context.Context, entries ...Entry) (_ *Refereed, err error) {
	defer guard.Caught(&err)
	if err := some(ctx, entries); err != nil {
		return nil, err
	}
	t, err := m.ofMachines("Referee")
	if err != nil {
		return nil, err
	}
	tasks := make([]*task, len(t.duels))
	for k, duel := range t.duels {
		c, _ := t.machine(duel)
		c.cache = t.share()
		if tasks[k], err = c.prepareRefereed(); err != nil {
			return nil, fmt.Errorf("%s: %w", t.duelName(k), err)
		}
	}
	lists := make([][]*judged, len(tasks)) // for each machine, those of the entries
	var all []voters
	add := func(e Entry) error {
		v, err := t.judge(ctx, e, tasks)
		for k, j := range v.machines {
			lists[k] = append(lists[k], j)
		}
		all = append(all, v)
		return err
	}
	for _, e := range entries {
		if err := add(e); err != nil {
			return nil, err
		}
	}
	if slices.ContainsFunc(lists, func(list []*judged) bool {
		return !slices.ContainsFunc(list, func(j *judged) bool { return j.own != nil })
	}) {
		own := m
		own.base = own.base.Stop(ownGap)
		fit, err := own.Fit(ctx)
		if err != nil {
			return nil, err
		}
		if err := add(Entry{"svmnb", fit}); err != nil {
			return nil, err
		}
	}
	return t.refereed(tasks, lists, all)
}

// MustReferee is Referee for a notebook cell. An error is printed and ends the cell; outside a
// notebook it panics.
func (m MultiClassifier) MustReferee(entries ...Entry) *Refereed {
	return mustReferee(m.Referee, entries)
}

// voters are the machines of an entry.
type voters struct {
	name     string
	machines []*judged
	class    []int // that they predict together for each training point
	vectors  int
}

// judge evaluates the machines of an entry.
func (t *multiTask) judge(ctx context.Context, e Entry, tasks []*task) (v voters, err error) {
	data := t.base.data
	in, err := e.inside(data.D())
	if err != nil {
		return v, err
	}
	v.name, v.vectors = e.Name, in.Expansion.X.N()
	if in.Kind == machines.JointKind || len(in.Classes) != len(t.classes) {
		return v, misfit(e, "the model is of %v with %d classes; the problem is %v with %d", in.Kind, len(in.Classes), t.scheme, len(t.classes))
	}
	of, own := make([]int, len(t.classes)), targets(data) // the class of the model for each class of the problem
	for k, name := range t.classes {
		if of[k] = slices.Index(in.Classes, name); of[k] < 0 && len(in.Targets) == len(of) {
			of[k] = slices.Index(in.Targets, own[k])
		}
		if of[k] < 0 {
			return v, misfit(e, "the model has no class %q", name)
		}
	}
	for k, duel := range t.duels {
		want := [2]int{of[duel[0]], -1}
		if duel[1] >= 0 {
			want[1] = of[duel[1]]
		}
		at, sign := slices.Index(in.Duels, want), 1.0
		if at < 0 && want[1] >= 0 {
			at, sign = slices.Index(in.Duels, [2]int{want[1], want[0]}), -1
		}
		if at < 0 {
			return v, misfit(e, "the model is of %v; the problem is %v", in.Kind, t.scheme)
		}
		j, err := tasks[k].judgeTerm(ctx, e, in, in.Terms[at], sign)
		if err != nil {
			return v, fmt.Errorf("%s: %w", t.duelName(k), err)
		}
		v.machines = append(v.machines, j)
	}
	names, err := e.Model.Model().Predict(data)
	if err != nil {
		return v, err
	}
	for _, name := range names {
		v.class = append(v.class, slices.Index(of, slices.Index(in.Classes, name)))
	}
	return v, nil
}

// refereed combines what is known of the machines.
func (t *multiTask) refereed(tasks []*task, lists [][]*judged, entries []voters) (*Refereed, error) {
	data := t.base.data
	n := data.N()
	r := &Refereed{Description: t.MultiClassifier, problem: t.words(), points: n}
	each := make([][]Verdict, len(tasks)) // for each machine, the verdicts of the entries
	lower, upper := make([][]float64, n), make([][]float64, n)
	for k, own := range tasks {
		inside, err := enclosed(lists[k], own.data)
		if err != nil {
			return nil, err
		}
		each[k] = own.verdicts(lists[k], inside)
		all := inside
		if t.scheme == schemes.OneVsOne { // the machine has only the points of two classes
			if all, err = enclosed(lists[k], data); err != nil {
				return nil, err
			}
		}
		for i := range n {
			lower[i], upper[i] = append(lower[i], all.lower[i]), append(upper[i], all.upper[i])
		}
	}
	kept := make([]int, n) // the class that wins for all decision values within the bounds; −1 for none
	for i := range kept {
		kept[i] = -1
		for c := range t.classes {
			if t.scheme.Keeps(c, len(t.classes), t.duels, lower[i], upper[i]) {
				kept[i] = c
			}
		}
	}
	for e, of := range entries {
		var list []Verdict
		for k := range tasks {
			one := each[k][e]
			one.Name = t.duelName(k)
			list = append(list, one)
		}
		v := together(of.name, list)
		v.Points, v.SupportVectors = n, of.vectors
		for i, c := range of.class {
			proof := 0
			switch {
			case kept[i] == c:
				proof = 1
			case kept[i] >= 0:
				proof = -1
			}
			v.label(proof, c != t.class[i])
		}
		r.Verdicts = append(r.Verdicts, v)
	}
	return r, nil
}
