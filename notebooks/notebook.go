package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/svmnb/svmnb/internal/wholefile"
)

// notebook is a Jupyter notebook, format 4. It keeps the JSON that was read, so that fields
// which the runner does not know are preserved.
// https://nbformat.readthedocs.io/en/latest/format_description.html
type notebook struct {
	raw   map[string]any
	cells []*cell
}

type cell struct {
	raw map[string]any
}

// readNotebook reads a file and converts it to format 4.5. Cells without an id get one that
// depends only on their position and text.
func readNotebook(file string) (*notebook, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	nb, err := parseNotebook(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return nb, nil
}

func parseNotebook(data []byte) (*notebook, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // some editors write a byte order mark
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return nil, errors.New("not a notebook: the file is in UTF-16; save it as UTF-8")
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber() // writes numbers as they were read
	nb := &notebook{}
	if err := decoder.Decode(&nb.raw); err != nil {
		return nil, fmt.Errorf("not a notebook: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("not a notebook: something follows its closing brace")
	}
	if major := fmt.Sprint(nb.raw["nbformat"]); major != "4" {
		return nil, fmt.Errorf("notebook format %s, want 4; open and save it in Jupyter", major)
	}
	minor, _ := nb.raw["nbformat_minor"].(json.Number)
	if n, err := minor.Int64(); err != nil || n < 5 {
		nb.raw["nbformat_minor"] = json.Number("5")
	}
	if nb.raw["metadata"] == nil {
		nb.raw["metadata"] = map[string]any{}
	}
	if _, ok := nb.raw["metadata"].(map[string]any); !ok {
		return nil, errors.New("the notebook's metadata is not an object")
	}
	list, ok := nb.raw["cells"].([]any)
	if !ok {
		return nil, errors.New("the notebook has no list of cells")
	}
	taken := map[string]bool{}
	for i, item := range list {
		raw, ok := item.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("cell %d is not an object", i+1)
		}
		c := &cell{raw}
		switch c.kind() {
		case "code":
			if raw["outputs"] == nil {
				raw["outputs"] = []any{}
			}
			if _, ok := raw["execution_count"]; !ok {
				raw["execution_count"] = nil
			}
		case "markdown", "raw":
		default:
			return nil, fmt.Errorf("cell %d has the type %v, want code, markdown or raw", i+1, raw["cell_type"])
		}
		if raw["metadata"] == nil {
			raw["metadata"] = map[string]any{}
		}
		id, _ := raw["id"].(string)
		for n := 0; id == "" || taken[id]; n++ {
			id = fmt.Sprintf("%x", sha256.Sum256(fmt.Appendln(nil, i, n, c.source())))[:8]
		}
		raw["id"], taken[id] = id, true
		nb.cells = append(nb.cells, c)
	}
	return nb, nil
}

// encode writes the notebook as Jupyter does: with sorted keys, an indent of one space and
// a final newline.
func (nb *notebook) encode() ([]byte, error) {
	for _, c := range nb.cells {
		// Do not store when a cell was run: it would change the committed file in every
		// run.
		if m, ok := c.raw["metadata"].(map[string]any); ok {
			delete(m, "execution")
		}
		c.raw["source"] = lines(c.source())
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	err := encoder.Encode(nb.raw)
	return b.Bytes(), err
}

// write replaces the file completely or not at all.
func (nb *notebook) write(file string) error {
	data, err := nb.encode()
	if err != nil {
		return err
	}
	return writeFile(file, data)
}

func writeFile(file string, data []byte) error {
	return wholefile.Write(file, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// title returns the first heading of the notebook, or "".
func (nb *notebook) title() string {
	for _, c := range nb.cells {
		if c.kind() != "markdown" {
			continue
		}
		for line := range strings.Lines(c.source()) {
			if rest, ok := strings.CutPrefix(line, "# "); ok {
				return strings.TrimSpace(rest)
			}
		}
	}
	return ""
}

// adopt sets the notebook's kernel to GoNB if it names none.
func (nb *notebook) adopt() {
	meta := nb.raw["metadata"].(map[string]any)
	if meta["kernelspec"] == nil {
		meta["kernelspec"] = map[string]any{"name": kernelName, "display_name": displayName, "language": "go"}
	}
	if meta["language_info"] == nil {
		meta["language_info"] = map[string]any{"name": "go", "file_extension": ".go", "mimetype": "text/x-go"}
	}
}

func (c *cell) kind() string { s, _ := c.raw["cell_type"].(string); return s }

func (c *cell) source() string { return joined(c.raw["source"]) }

// expectsError reports whether the cell has the tag by which Jupyter's tools allow it to
// fail.
func (c *cell) expectsError() bool {
	meta, _ := c.raw["metadata"].(map[string]any)
	tags, _ := meta["tags"].([]any)
	return slices.Contains(tags, any("raises-exception"))
}

func (c *cell) outputs() ([]*output, error) {
	list, _ := c.raw["outputs"].([]any)
	outs := make([]*output, len(list))
	for i, item := range list {
		raw, ok := item.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("output %d is not an object", i+1)
		}
		outs[i] = readOutput(raw)
	}
	return outs, nil
}

func (c *cell) setOutputs(outs []*output, count int) {
	list := make([]any, len(outs))
	for i, o := range outs {
		list[i] = o.raw()
	}
	c.raw["outputs"] = list
	c.raw["execution_count"] = nil
	if count > 0 {
		c.raw["execution_count"] = count
	}
}

// output is one output of a cell.
type output struct {
	kind      string // stream, display_data, execute_result or error
	name      string // name of a stream
	text      string // text of a stream
	data      map[string]any
	metadata  map[string]any
	count     any // count of an execute_result
	ename     string
	evalue    string
	traceback []string

	displayID string // used while running, to apply update_display_data
}

func readOutput(raw map[string]any) *output {
	o := &output{text: joined(raw["text"]), count: raw["execution_count"]}
	o.kind, _ = raw["output_type"].(string)
	o.name, _ = raw["name"].(string)
	o.ename, _ = raw["ename"].(string)
	o.evalue, _ = raw["evalue"].(string)
	o.metadata, _ = raw["metadata"].(map[string]any)
	if data, ok := raw["data"].(map[string]any); ok {
		o.data = maps.Clone(data)
		for mime, v := range data {
			if isText(mime) {
				o.data[mime] = joined(v)
			}
		}
	}
	lines, _ := raw["traceback"].([]any)
	for _, line := range lines {
		s, _ := line.(string)
		o.traceback = append(o.traceback, s)
	}
	return o
}

func (o *output) raw() map[string]any {
	raw := map[string]any{"output_type": o.kind}
	switch o.kind {
	case "stream":
		raw["name"], raw["text"] = o.name, lines(o.text)
	case "error":
		trace := make([]any, len(o.traceback))
		for i, line := range o.traceback {
			trace[i] = line
		}
		raw["ename"], raw["evalue"], raw["traceback"] = o.ename, o.evalue, trace
	default:
		data := map[string]any{}
		for mime, v := range o.data {
			if s, ok := v.(string); ok && isText(mime) {
				v = lines(s)
			}
			data[mime] = v
		}
		raw["data"], raw["metadata"] = data, map[string]any{}
		if o.metadata != nil {
			raw["metadata"] = o.metadata
		}
		if o.kind == "execute_result" {
			raw["execution_count"] = o.count
		}
	}
	return raw
}

// isText reports whether notebooks store this type as a list of lines.
func isText(mime string) bool {
	return strings.HasPrefix(mime, "text/") || mime == "image/svg+xml" || mime == "application/javascript"
}

// joined returns a multi-line string of the format, which is a string or a list of strings.
func joined(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var b strings.Builder
		for _, line := range v {
			s, _ := line.(string)
			b.WriteString(s)
		}
		return b.String()
	}
	return ""
}

func lines(s string) []any {
	list := []any{}
	for line := range strings.Lines(s) {
		list = append(list, line)
	}
	return list
}
