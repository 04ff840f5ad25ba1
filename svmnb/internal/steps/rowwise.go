package steps

import (
	"fmt"
	"math"
	"slices"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
)

// Program is a passage for one row at a time, which takes no memory but that of [Memory].
type Program struct {
	Columns []Slot // of a raw row
	Steps   []Instruction
	Out     []int // where the features are in Numbers of the memory
	Layout
}

// Instruction is a step for certain slots: Op if it changes one slot, otherwise Rows, which
// makes a row of numbers of others. It reads the slots In and writes the slots Out, which no
// other instruction writes.
type Instruction struct {
	Op      *ColumnOp
	Rows    Fitted
	In, Out []Slot
	do      func(m *Memory) error
}

// Slot is a value of a row: a number or a time in Numbers of the memory, a category or a text
// in Texts, a vector in several Numbers.
type Slot struct {
	Heading
	at, width int
}

// IsText reports whether the value is in Texts.
func (c Slot) IsText() bool { return c.Kind == datasets.Category || c.Kind == datasets.Text }

// At is the index of the value in Numbers or Texts, of a vector that of its first number.
func (c Slot) At() int { return c.at }

// Width is how many numbers the slot has; of a text it is 1.
func (c Slot) Width() int { return c.width }

// format returns the value as text.
func (c Slot) format(m *Memory) string {
	if c.IsText() {
		return m.Texts[c.at]
	}
	return datasets.Column{Kind: c.Kind, Values: m.Numbers[c.at : c.at+1]}.Format(0)
}

// Layout says how many numbers and texts a row takes on its way.
type Layout struct{ numbers, texts int }

// Size returns these numbers.
func (b *Layout) Size() (numbers, texts int) { return b.numbers, b.texts }

// Place returns a slot that no other has.
func (b *Layout) Place(h Heading) Slot { return b.wide(h, 1) }

// wide returns a slot of several numbers.
func (b *Layout) wide(h Heading, width int) Slot {
	c := Slot{Heading: h, at: b.numbers, width: width}
	if c.IsText() {
		c.at = b.texts
		b.texts++
	} else {
		b.numbers += width
	}
	return c
}

// Memory is what a row takes on its way.
type Memory struct {
	Numbers []float64
	Texts   []string
	room    []byte  // for the words of a text
	words   []int32 // of a text
}

// Memory returns room for one row.
func (b *Layout) Memory() *Memory {
	return &Memory{Numbers: make([]float64, b.numbers), Texts: make([]string, b.texts)}
}

// load puts the value of row i of a column in its slot.
func (m *Memory) load(in Slot, c datasets.Column, i int) {
	if in.IsText() {
		m.Texts[in.at] = c.Format(i)
	} else {
		m.Numbers[in.at] = c.Values[i]
	}
}

// Run makes the features of the raw row that is in the memory.
func (p *Program) Run(m *Memory) error {
	for _, step := range p.Steps {
		if err := step.do(m); err != nil {
			return err
		}
	}
	return nil
}

// Compile returns the passage for single rows. The error says which step there is no program
// for.
func (p *Passage) Compile() (*Program, error) {
	out := &Program{}
	columns := p.Columns
	if columns == nil {
		d := &datasets.Dataset{}
		for j := range p.D {
			columns = append(columns, Heading{d.FeatureName(j), datasets.Number})
		}
	}
	for _, h := range columns {
		out.Columns = append(out.Columns, out.Place(h))
	}
	slots, err := out.compile(p.Steps, out.Columns)
	if err != nil {
		return nil, err
	}
	for _, c := range slots {
		if c.IsText() || c.Kind == datasets.Time {
			return nil, arguments.Wrong("Row", math.NaN(), "the column %s is a %v behind all steps", c.Name, c.Kind)
		}
		for k := range c.width {
			out.Out = append(out.Out, c.at+k)
		}
	}
	return out, nil
}

func (p *Program) compile(list []Fitted, slots []Slot) ([]Slot, error) {
	for i, t := range list {
		var err error
		if slots, err = p.step(t, slots); err != nil {
			return nil, fmt.Errorf("step %d, %s: %w", i+1, Text(t), err)
		}
	}
	return slots, nil
}

// step compiles a step for these slots, and returns those that it leaves.
func (p *Program) step(t Fitted, slots []Slot) ([]Slot, error) {
	switch t := t.(type) {
	case PerColumn:
		for _, op := range t.Ops {
			j := slices.IndexFunc(slots, func(c Slot) bool { return c.Name == op.Column })
			if j < 0 {
				return nil, arguments.Wrong(t.Call, math.NaN(), "there is no column %q", op.Column)
			}
			made, do, err := op.compile(t.Call, slots[j], &p.Layout)
			if err != nil {
				return nil, err
			}
			p.Steps = append(p.Steps, Instruction{Op: &op, In: slots[j : j+1 : j+1], Out: made, do: do})
			slots = slices.Concat(slots[:j], made, slots[j+1:])
		}
		return slots, nil
	case Chosen:
		var part []Slot
		for _, name := range t.Columns {
			j := slices.IndexFunc(slots, func(c Slot) bool { return c.Name == name })
			if j < 0 {
				return nil, arguments.Wrong("On", math.NaN(), "there is no column %q", name)
			}
			part = append(part, slots[j])
		}
		made, err := p.compile(t.Steps, part)
		if err != nil {
			return nil, err
		}
		var out []Slot
		var names []string
		for _, c := range slots {
			names = append(names, c.Name)
		}
		for _, c := range slots {
			if c.Name == t.Columns[0] {
				for _, m := range made {
					m.Name = t.unlike(m.Name, names)
					out = append(out, m)
				}
			}
			if !slices.Contains(t.Columns, c.Name) {
				out = append(out, c)
			}
		}
		return out, nil
	case singly:
		return p.rows(t, slots)
	}
	return nil, arguments.Wrong("Row", math.NaN(), "a %T is your own, and single rows go through the steps of package transform only; predict tables or rows", t)
}

// singly is a step for rows that can make one row in memory that is given.
type singly interface {
	width() int                       // of what is made
	one(dst, x, free []float64) error // x is a row, free has room for so many numbers
	room() int
}

// rows compiles a step for rows of numbers.
func (p *Program) rows(t singly, slots []Slot) ([]Slot, error) {
	var from []int
	var names []string
	for _, c := range slots {
		if c.IsText() || c.Kind == datasets.Time {
			return nil, arguments.Wrong("Row", math.NaN(), "the column %s is a %v, and the step needs numbers", c.Name, c.Kind)
		}
		for k := range c.width {
			from = append(from, c.at+k)
			names = append(names, c.Name)
		}
	}
	if n, ok := t.(interface{ Names(in []string) []string }); ok {
		names = n.Names(names)
	} else {
		names = nil
	}
	free, in := p.wide(Heading{}, t.room()), p.wide(Heading{}, len(from))
	made := p.wide(Heading{}, t.width())
	do := func(m *Memory) error {
		x := m.Numbers[in.at:][:in.width]
		for k, at := range from {
			x[k] = m.Numbers[at]
		}
		return t.one(m.Numbers[made.at:][:made.width], x, m.Numbers[free.at:][:free.width])
	}
	out := make([]Slot, made.width)
	for k := range out {
		name := (&datasets.Dataset{Features: names}).FeatureName(k) // as AsTable names it
		out[k] = Slot{Heading: Heading{name, datasets.Number}, at: made.at + k, width: 1}
	}
	p.Steps = append(p.Steps, Instruction{Rows: t, In: slots, Out: out, do: do})
	return out, nil
}
