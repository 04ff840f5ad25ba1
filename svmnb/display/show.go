// Package display shows charts, tables and summaries in a notebook, and outside of one in a
// page of its own:
//
//	display.Show(fit, "## A title", chart)
//	display.Table(datasets.Iris()).Show()
//	display.Dashboard(fit, svmnb.Margins, svmnb.Gap).Show()
//
// A [Figure] draws a fit as a [Chart]; [FigureOf] makes one of your own.
package display

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
	"github.com/svmnb/svmnb/svmnb/internal/echarts"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
)

// Show displays the items one below the other in the cell's output. An item is
//
//   - a [*Chart], a [Drawing], or any chart of go-echarts, such as charts.NewBar()
//     returns;
//   - a table of [Table], or several items side by side, of [Dashboard];
//   - a value with a Markdown() string method, such as a summary, or a string
//     of Markdown;
//   - an error, or a value with a String method: its text; nothing where it is nil.
//
// Outside a notebook, Show prints the texts; where there are charts it writes
// everything to a page of its own in the temporary folder and prints where. An
// item that cannot be shown is reported on standard error, the others are
// shown.
func Show(items ...any) {
	parts, err := render(items)
	if gonbui.IsNotebook {
		for _, p := range parts {
			p.send()
		}
		gonbui.Sync()
		err = errors.Join(err, gonbui.Error())
	} else {
		err = errors.Join(err, present(parts))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "display.Show:", err)
	}
}

// HTML writes the items, as [Show] takes them, as one page that needs nothing
// else: no network, no notebook. It follows the reader's choice of light or
// dark. Items that cannot be shown are in the error; the others are written.
func HTML(w io.Writer, items ...any) error {
	parts, err := render(items)
	return errors.Join(err, page(w, parts))
}

// part is one item, ready for display.
type part struct {
	picture  echarts.Picture // a chart, or
	markdown string          // a text, or
	html     string          // something in HTML that is no chart, or
	plain    string          // a text that is not Markdown; beside html the same in words
}

// render makes the items ready; errors name those that are left out.
func render(items []any) (parts []part, err error) {
	for i, item := range items {
		p, e := renderOne(item)
		if e != nil {
			err = errors.Join(err, fmt.Errorf("item %d: %w", i+1, e))
			continue
		}
		parts = append(parts, p)
	}
	return parts, err
}

func renderOne(item any) (p part, err error) {
	defer guard.Caught(&err)
	if err, ok := item.(error); item == nil || ok && guard.IsNil(err) {
		p.plain = "nothing to show: this is nil, as an error is where all went well"
		return p, nil
	}
	if _, panels := item.(*Panels); !panels && isEmpty(item) {
		return p, fmt.Errorf("a %T that is nil or empty cannot be shown: take it from Fit, and look at the error that comes with it", item)
	}
	switch v := item.(type) {
	case echarts.Chart:
		p.picture, err = echarts.Draw(v)
	case *Panels:
		return v.part()
	case *Sheet:
		if v.err != nil {
			return p, v.err
		}
		p.html, p.plain = v.table.HTML(), v.String()
	case interface{ Markdown() string }:
		p.markdown = v.Markdown()
	case interface{ Chart() (*Chart, error) }:
		var c *Chart
		if c, err = v.Chart(); err == nil {
			p.picture, err = echarts.Draw(c)
		}
	case string:
		p.markdown = v
	case error:
		p.plain = v.Error()
	case fmt.Stringer:
		p.plain = v.String()
	default:
		err = &ItemError{Item: item}
	}
	return p, err
}

// ItemError says that [Show] was given something that it does not know.
type ItemError struct{ Item any }

func (e *ItemError) Error() string {
	return fmt.Sprintf("a %T cannot be shown: give a chart, a string of Markdown, or a value with a Markdown or String method", e.Item)
}

// send displays p in the notebook. A chart's text goes along for those who
// read the notebook where no picture is shown.
func (p part) send() {
	data := map[protocol.MIMEType]any{}
	switch {
	case p.picture.HTML != "":
		html := p.picture.HTML
		if echarts.Carries() {
			echarts.Brought.Do(func() { html += echarts.Library() })
		}
		data[protocol.MIMETextHTML], data[protocol.MIMETextPlain] = html, p.picture.Text
	case p.markdown != "":
		data[protocol.MIMETextMarkdown], data[protocol.MIMETextPlain] = p.markdown, p.markdown
	case p.html != "":
		data[protocol.MIMETextHTML], data[protocol.MIMETextPlain] = p.html, p.plain
	default:
		data[protocol.MIMETextPlain] = p.plain
	}
	gonbui.SendData(&protocol.DisplayData{Data: data})
}

// page writes the parts as one HTML page, named after its first chart.
func page(w io.Writer, parts []part) error {
	title := "svmnb"
	html := make([]string, len(parts))
	for i, p := range parts {
		html[i] = p.inPage("")
		if p.picture.HTML != "" && title == "svmnb" {
			title, _, _ = strings.Cut(p.picture.Text, "\n")
		}
	}
	return echarts.Page(w, title, html...)
}

// present shows the parts to someone at a terminal.
func present(parts []part) (err error) {
	charts := 0
	for _, p := range parts {
		if p.picture.HTML != "" {
			charts++
		}
		fmt.Println(p.text())
	}
	if charts == 0 {
		return nil
	}
	f, err := os.CreateTemp("", "svmnb-*.html")
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, f.Close())
		if err == nil {
			fmt.Println("svmnb: the picture is in", f.Name(), "for your browser")
		}
	}()
	return page(f, parts)
}
