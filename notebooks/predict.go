package main

import (
	"bufio"
	"encoding/csv"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/model"
)

// predictCommand writes the predictions of a saved model for the rows of a file. It needs no
// checkout.
func predictCommand(args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("predict", flag.ContinueOnError)
	flags.SetOutput(stderr)
	into := flags.String("o", "", "file to write; default standard output")
	if err := flags.Parse(args); err != nil {
		return errReported
	}
	if flags.NArg() != 2 {
		return fmt.Errorf("predict wants a model and a file: go run ./notebooks predict MODEL FILE (- for standard input)")
	}
	m, err := model.Load(flags.Arg(0))
	if err != nil {
		return err
	}
	t, err := readFor(m, flags.Arg(1), stdin)
	if err != nil {
		return err
	}
	names, predicted, err := predictions(m, t)
	if err != nil {
		return err
	}
	out := stdout
	if *into != "" {
		f, err := os.Create(*into)
		if err != nil {
			return err
		}
		defer f.Close()
		out = f
	}
	buffer := bufio.NewWriter(out)
	w := csv.NewWriter(buffer)
	w.Write(append(t.Names(), names...)) // errors stay in w
	record := make([]string, 0, len(t.Columns)+len(names))
	for i := range t.N() {
		record = record[:0]
		for _, c := range t.Columns {
			record = append(record, c.Format(i))
		}
		w.Write(append(record, predicted[i]...))
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return err
	}
	return buffer.Flush()
}

// readFor reads a table whose columns have the kinds that the model was trained on.
func readFor(m *model.Model, path string, stdin io.Reader) (*datasets.Table, error) {
	reader := datasets.TableReader{}
	read := func() *datasets.Table {
		if path == "-" {
			return reader.Read(stdin)
		}
		return reader.Open(path)
	}
	if columns := m.Columns(); columns != nil {
		reader.Kinds = map[string]datasets.Kind{}
		for _, c := range columns {
			reader.Kinds[c.Name] = c.Kind
		}
		t := read()
		return t, t.Check()
	}
	t := read() // of numbers without names, in the order of the training data
	if err := t.Check(); err != nil {
		return nil, err
	}
	if len(t.Columns) < m.D() {
		return nil, fmt.Errorf("%s has %d columns, and the model takes %d", path, len(t.Columns), m.D())
	}
	return t, nil
}

// predictions returns the columns to add, and their fields for each row.
func predictions(m *model.Model, t *datasets.Table) (names []string, fields [][]string, err error) {
	var points datasets.Points = t
	if m.Columns() == nil {
		points = t.Only(t.Names()[:m.D()]...)
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	fields = make([][]string, t.N())
	free := func(name string) string {
		for slices.Contains(t.Names(), name) {
			name += "'"
		}
		return name
	}
	if m.Classes() == nil {
		values, err := m.Values(points)
		for i, v := range values {
			fields[i] = []string{number(v)}
		}
		return []string{free("prediction")}, fields, err
	}
	classes, err := m.Predict(points)
	if err != nil {
		return nil, nil, err
	}
	names = []string{free("prediction")}
	for i, class := range classes {
		fields[i] = []string{class}
	}
	if !m.HasProbabilities() {
		return names, fields, nil
	}
	p, err := m.Probabilities(points)
	for _, class := range m.Classes() {
		names = append(names, free("P("+class+")"))
	}
	for i, row := range p {
		for _, v := range row {
			fields[i] = append(fields[i], number(v))
		}
	}
	return names, fields, err
}
