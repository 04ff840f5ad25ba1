package play

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
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
// [Explore], trained in the page without a kernel. The notebook itself shows nothing for it. x
// is an argument of Explore. The engine of living figures has machines for two classes (1-norm
// and 2-norm soft margin, ν) and one class with two features, and ε-regressions and Gaussian
// processes with one, of up to 1000 points and without weights. Others are left out. The
// errors are those of Explore.
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
// show.
func (e *exploration) figure() error {
	s, ok := e.spec()
	if !ok || !gonbui.IsNotebook {
		return nil
	}
	text, err := s.Element()
	if err != nil {
		return fmt.Errorf("svmnb: Explore: %w", err)
	}
	gonbui.DisplayHTML(text)
	return nil
}

// spec returns what a living figure shows of the exploration. ok is false if the engine of
// living figures has no such machine, or if the data have too many points or features.
func (e *exploration) spec() (s living.Spec, ok bool) {
	f, can := e.base.(learn.Figured)
	data := e.base.Data()
	if !can || data.Sparse != nil || data.D() > 2 || data.N() > mostLiving {
		return s, false
	}
	if s.Task, s.C, s.Epsilon, s.Tol, ok = f.Figured(); !ok {
		return s, false
	}
	y := data.Y
	labelled := slices.Contains([]string{"classify", "twonorm", "nu"}, s.Task)
	if labelled {
		y = slices.Clone(y)
		for i, v := range y {
			if y[i] = -1; v == slices.Max(data.Y) { // the larger target is y = +1
				y[i] = 1
			}
		}
	}
	if (labelled || s.Task == "oneclass") && data.D() != 2 || (s.Task == "regress" || s.Task == "process") && data.D() != 1 {
		return s, false
	}
	s.Name, s.Label, s.D, s.Data = data.Name, data.Name, data.D(), living.Base64(append(slices.Clone(data.X), y)...)
	s.Features = []string{data.FeatureName(0), data.Target}
	if s.D == 2 {
		s.Features[1] = data.FeatureName(1)
	}
	if len(data.Classes) == 2 && labelled {
		s.Classes = data.Classes
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
		return s, false
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
	return s, true
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
			if q.Method != engine.Methods()[0] && w.Name == how.Name() {
				l = w.Take(l)
			}
		}
	}
	if q.Kernel.String() != l.Usual().String() {
		l = l.WithKernel(q.Kernel)
	}
	for _, d := range e.dials[:e.own[0]] {
		v := q.C
		if d.Name == "epsilon" {
			v = q.Epsilon
		}
		if say.Number(v) != say.Number(d.Values[d.At]) {
			changed, _ := l.Set(d.Name, v)
			l = changed.(learn.Explorable)
		}
	}
	old := l.Data()
	y := slices.Clone(q.Y)
	switch q.Task {
	case engine.Classify, engine.TwoNorm, engine.Nu:
		for i, v := range y {
			if y[i] = slices.Min(old.Y); v > 0 {
				y[i] = slices.Max(old.Y)
			}
		}
	case engine.OneClass:
		if y = old.Y; len(y) != len(q.X) {
			y = make([]float64, len(q.X))
		}
	}
	if slices.Equal(y, old.Y) && slices.EqualFunc(q.X, old.X, slices.Equal) {
		return l, ""
	}
	ds := *old
	ds.X, ds.Y = q.X, y
	rows := make([]int, len(y))
	return l.With(&ds, rows).(learn.Explorable), "ds := datasets.New([][]float64{" + texts(q.X, func(x []float64) string { return "{" + texts(x, exact) + "}" }) + "}, []float64{" + texts(y, exact) + "})\n"
}

func exact(v float64) string { return fmt.Sprint(v) }

func texts[T any](v []T, text func(T) string) string {
	var parts []string
	for _, x := range v {
		parts = append(parts, text(x))
	}
	return strings.Join(parts, ", ")
}
