package play

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/controls"
	"github.com/svmnb/svmnb/svmnb/internal/engine"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/learn"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/screen"
	"github.com/svmnb/svmnb/svmnb/living"
)

// Living makes a living figure of x in the site and in exported pages: with the sliders of
// [Explore], trained in the page without a kernel. The notebook itself shows nothing for it,
// unless pages cannot have the figure: a line then says why. x is an argument of Explore. The
// engine of living figures has the machines of two features for one class, for two, and for up
// to eight; and the regressions and Gaussian processes of one feature. The limit is 1000 points.
// It does not have steps of a pipeline, linear means and criteria of one's own. The errors are
// those of Explore.
func Living(x any) error {
	e, err := explore(x)
	if err == nil {
		err = e.figure()
	}
	if err != nil {
		display.Show(err)
	}
	return err
}

// figure gives the output the element of a living figure, which exported pages and the site
// show, or says why they have none.
func (e *exploration) figure() error {
	if !gonbui.IsNotebook {
		return nil
	}
	s, why := e.spec()
	if why != "" {
		display.Show("> In pages without a kernel this picture has no sliders, because " + why + ".")
		return nil
	}
	text, err := s.Element()
	if err != nil {
		return fmt.Errorf("svmnb: Explore: %w", err)
	}
	gonbui.DisplayHTML(text)
	return nil
}

// classesOf are the tasks whose targets are classes.
var classesOf = []string{"classify", "twonorm", "nu", "hard"}

// spec returns what a living figure shows of the exploration. If the engine of living figures
// has no such machine, or the data do not fit into a figure, why says so.
func (e *exploration) spec() (s living.Spec, why string) {
	described, ok := e.base.(learn.Figured)
	if !ok {
		return s, "their solvers do not have this machine"
	}
	f, why := described.Figured()
	if why != "" {
		return s, why
	}
	data := e.base.Data()
	labelled := slices.Contains(classesOf, f.Task)
	counts := data.Counts()
	switch n, d := data.N(), data.D(); {
	case n > mostLiving:
		return s, fmt.Sprintf("the data have %s points, and a figure in a page has at most %s", say.Thousands(int64(n)), say.Thousands(mostLiving))
	case (labelled || f.Task == "oneclass") && d != 2:
		return s, fmt.Sprintf("the data have %s, and a figure of classes in a page shows two: choose them by Columns(i, j) of the data set", say.Several(d, "feature"))
	case !labelled && f.Task != "oneclass" && d != 1:
		return s, fmt.Sprintf("the data have %s, and a curve in a page is over one: choose it by Columns(j) of the data set", say.Several(d, "feature"))
	case f.Scheme != "" && len(counts) > engine.MostClasses:
		return s, fmt.Sprintf("there are %d classes, and a figure in a page has colours for %d", len(counts), engine.MostClasses)
	}
	s.Task, s.C, s.Epsilon, s.Tol, s.Stop, s.Scheme = f.Task, f.C, f.Epsilon, f.Tol, f.Stop, f.Scheme
	s.Tau2, s.Balanced, s.ZeroMean, s.Scaled = f.Tau2, f.Balanced, f.ZeroMean, f.Scaled
	if f.Fixed {
		s.Bias = &f.Bias
	}
	if f.Weights != nil {
		s.Weights = living.Base64(f.Weights)
	}
	y := data.Y
	if labelled {
		y = slices.Clone(y)
		for i, v := range y {
			k := slices.IndexFunc(counts, func(c datasets.Count) bool { return c.Y == v })
			if y[i] = float64(k); f.Scheme == "" {
				y[i] = float64(2*k - 1) // the larger target is y = +1
			}
		}
		for _, c := range counts {
			if f.Scheme != "" || data.Classes != nil {
				s.Classes = append(s.Classes, c.Class)
			}
			if len(f.ClassWeights) > 0 {
				s.ClassWeights = append(s.ClassWeights, cmp.Or(f.ClassWeights[c.Class], 1))
			}
		}
	}
	e.solvers(&s, f.Method)
	s.Name, s.Label, s.D, s.Data = data.Name, data.Name, data.D(), living.Base64(append(slices.Clone(data.X), y)...)
	s.Features = []string{data.FeatureName(0), data.Target}
	if s.D == 2 {
		s.Features[1] = data.FeatureName(1)
	}
	var list []living.Kernel
	keep := make([]int, len(e.kernels)) // the kernels of the figure; −1 for those it cannot write
	for k := range e.kernels {
		form, ok := e.form(k)
		if keep[k] = -1; ok {
			name, _, _ := strings.Cut(innermost(e.kernels[k]).String(), "(")
			keep[k], list = len(list), append(list, living.Kernel{Name: name, Form: form})
		}
	}
	if keep[0] != 0 { // the description's own
		return s, "its kernel has no expression from which a page could make it"
	}
	s.Kernels = list
	for i, d := range e.dials {
		dial := living.Dial{Name: d.Name, Kernel: -1, At: d.At}
		for k := range e.kernels {
			if i >= e.own[k] && i < e.own[k+1] {
				if dial.Kernel = keep[k]; dial.Kernel < 0 {
					dial.Kernel = -2
				}
			}
		}
		for _, v := range d.Values {
			dial.Values = append(dial.Values, say.Number(v))
		}
		if dial.Kernel > -2 {
			s.Dials = append(s.Dials, dial)
		}
	}
	return s, ""
}

// solvers fills in the solvers that a reader can choose, unless they are the usual ones. The one
// of the description comes first if the engine has it; otherwise a note says which takes its
// place.
func (e *exploration) solvers(s *living.Spec, own any) {
	task, fixed := living.Tasks[s.Task], s.Bias != nil || s.Tau2 != 0
	list := engine.Methods(task, fixed)
	switch {
	case s.Task == "process":
		list = []string{"Cholesky"}
	case s.Scheme == "joint":
		s.Methods = []string{"Crammer–Singer"}
		return
	case fixed:
		s.Methods = list
	}
	if own == nil {
		return
	}
	for k, name := range list {
		if m, err := engine.Method(name, task); err == nil && any(m) == own {
			if k > 0 {
				s.Methods = append([]string{name}, slices.Delete(list, k, k+1)...)
			}
			return
		}
	}
	s.Note = fmt.Sprintf("This page solves by %s in place of %s.", list[0], own.(interface{ Name() string }).Name())
}

// mostLiving is the largest number of points of a living figure. Their data are in the notebook.
const mostLiving = 1000

// form returns the text of kernel k with $name for the value of each of its dials. It tries the
// text with other values, so ok is false if a value does not occur once.
func (e *exploration) form(k int) (form string, ok bool) {
	s := e.beginning()
	s.Kernel = k
	marks := map[string]string{}
	for i := e.own[k]; i < e.own[k+1]; i++ {
		at := i - e.own[k]
		mark := 3 + at + len(e.dials[i].Values) // a value that no dial has
		if e.dials[i].Name != "degree" {
			marks[e.dials[i].Name] = say.Number(float64(mark) + 0.1875)
		} else {
			marks[e.dials[i].Name] = say.Number(float64(mark))
		}
	}
	other := *e
	other.dials = slices.Clone(e.dials)
	for i := e.own[k]; i < e.own[k+1]; i++ {
		v, err := strconv.ParseFloat(marks[e.dials[i].Name], 64)
		if err != nil {
			return "", false
		}
		other.dials[i].Values = slices.Clone(e.dials[i].Values)
		other.dials[i].Values[s.At[i]] = v
	}
	form = other.at(s).Usual().String()
	for name, mark := range marks {
		if strings.Count(form, mark) != 1 {
			return "", false
		}
		form = strings.Replace(form, mark, "$"+name, 1)
	}
	if _, err := kernels.Parse(e.at(s).Usual().String()); err != nil {
		return "", false
	}
	return form, true
}

// answerer is the engine of a living figure in a notebook: it answers the questions of the
// page in the program of the cell, as the WebAssembly module answers them in an exported page.
type answerer struct {
	ctx     context.Context
	machine engine.Machine
	asked   *engine.Question // the last question
}

// reply returns the answer to the question of a message, for controls.Heard.
func (f *answerer) reply(s controls.State) string {
	if s.Question == nil {
		return ""
	}
	numbers, coarse, err := f.answer(s.Question)
	return controls.Answer(numbers, coarse, err)
}

func (f *answerer) answer(asked *controls.Question) (numbers []float64, coarse bool, err error) {
	defer guard.Caught(&err)
	q, err := engine.Read(asked.Kernel, asked.Method, engine.FromBytes(asked.Numbers))
	if err != nil {
		return nil, false, err
	}
	f.asked = &q
	numbers, err = f.machine.Numbers(f.ctx, q)
	return numbers, q.Warm, err
}

// lastTime is how long the last picture may train: GoNB ends a cell five seconds after an interrupt.
const lastTime = 3 * time.Second

// finish shows what stays in the notebook of a living figure: the picture of the last question,
// and the Go line that makes it.
func (e *exploration) finish(q *engine.Question, s *screen.Screen) error {
	ctx, cancel := context.WithTimeout(context.Background(), lastTime)
	defer cancel()
	l, data := e.described(q)
	fit, err := l.Train(ctx, nil)
	if err != nil || fit == nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = nil // the reader has asked for the end, not for this picture
		}
		return err
	}
	c, err := fit.(learn.Seen).Look()
	if err != nil {
		return err
	}
	s.Text = data + line(l)
	s.Below = below("", s.Text, fit.(learn.Seen).Fared())
	return s.Send(c, true)
}

// described returns the description that a question asks for. If the reader has changed the
// points, data is the Go code that makes them.
func (e *exploration) described(q *engine.Question) (l learn.Explorable, data string) {
	l = e.base
	if q == nil {
		return l, ""
	}
	if how, err := engine.Method(q.Method, q.Task); err == nil {
		for _, w := range e.ways[1:] {
			if q.Method != "" && q.Method != e.first() && w.Name == how.Name() {
				l = w.Take(l)
			}
		}
	}
	if q.Kernel.String() != l.Usual().String() {
		l = l.WithKernel(q.Kernel)
	}
	for _, d := range e.dials[:e.own[0]] {
		v := q.C
		switch {
		case d.Name == "epsilon", d.Name == "nu" && q.Task == engine.NuRegress:
			v = q.Epsilon
		case d.Name == "lambda":
			v = 1 / q.C
		}
		if say.Number(v) != say.Number(d.Values[d.At]) {
			changed, _ := l.Set(d.Name, v)
			l = changed.(learn.Explorable)
		}
	}
	old := l.Data()
	y := slices.Clone(q.Y)
	switch counts := old.Counts(); {
	case q.Classes > 0:
		for i, v := range y {
			y[i] = counts[int(v)].Y
		}
	case slices.Contains([]engine.Task{engine.Classify, engine.TwoNorm, engine.Nu, engine.Hard}, q.Task):
		for i, v := range y {
			if y[i] = counts[0].Y; v > 0 {
				y[i] = counts[1].Y
			}
		}
	case q.Task == engine.OneClass:
		if y = old.Y; len(y) != len(q.X) {
			y = make([]float64, len(q.X))
		}
	}
	if slices.Equal(y, old.Y) && slices.EqualFunc(q.X, old.X, slices.Equal) {
		return l, ""
	}
	ds := *old
	ds.X, ds.Y = q.X, y
	data = "ds := datasets.New([][]float64{" + texts(q.X, func(x []float64) string { return "{" + texts(x, exact) + "}" }) + "}, []float64{" + texts(y, exact) + "})\n"
	if strings.Contains(l.String(), ".ClassWeight(") && old.Classes != nil {
		data += fmt.Sprintf("ds.Classes = %#v\n", old.Classes)
	}
	return l.With(&ds, sameRows(q.X, y, old)).(learn.Explorable), data
}

// sameRows returns for each point its row in the old data, from which its weight is taken. A
// point that has moved keeps its place in the order; one that is new takes the weight of the
// last.
func sameRows(x [][]float64, y []float64, old *datasets.Dataset) []int {
	rows := make([]int, len(y))
	next := 0
	for i := range rows {
		if len(rows) != old.N() { // some were removed or added: those that did not move are found again
			for k := next; k < old.N(); k++ {
				if y[i] == old.Y[k] && slices.Equal(x[i], old.X[k]) {
					next = k
					break
				}
			}
		}
		rows[i] = min(next, old.N()-1)
		next++
	}
	return rows
}

// first returns the name of the solver that a figure begins with.
func (e *exploration) first() string {
	s, _ := e.spec()
	return append(s.Methods, engine.Methods(engine.Classify, false)[0])[0]
}

func exact(v float64) string { return fmt.Sprint(v) }

func texts[T any](v []T, text func(T) string) string {
	var parts []string
	for _, x := range v {
		parts = append(parts, text(x))
	}
	return strings.Join(parts, ", ")
}
