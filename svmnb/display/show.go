// Package display shows charts, tables and summaries in a notebook, or outside of one in an
// HTML page:
//
//	display.Show(fit, "## A title", chart)
//	display.Table(datasets.Iris()).Show()
//	display.Pairs(datasets.Iris()).Show()
//	display.Dashboard(fit, svmnb.Margins, svmnb.Gap).Show()
//
// A [Figure] draws a fit as a [Chart]; [FigureOf] makes a figure of your own.
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
//   - a [*Chart], a [Drawing], or any chart of go-echarts, such as charts.NewBar() returns;
//   - a table ([Table]), or several items side by side ([Dashboard]);
//   - a value with a Markdown() string method, such as a summary, or a string of Markdown;
//   - an error, or a value with a String method, of which Show displays the text.
//
// Outside a notebook, Show prints the texts. If there are charts, it writes everything to
// an HTML file in the temporary folder and prints the file's name. Errors of items that
// cannot be shown go to standard error, and the other items are shown.
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

// HTML writes the items, of the types that [Show] takes, as one page that can be read
// without network and notebook. The page is light or dark as the reader's browser is set.
// The error names the items that cannot be shown; the others are written.
func HTML(w io.Writer, items ...any) error {
	parts, err := render(items)
	return errors.Join(err, page(w, parts))
}

// part is one rendered item. It has a picture, a Markdown text, HTML or plain text.
type part struct {
	picture  echarts.Picture
	markdown string
	html     string // other HTML; then plain is the same as text
	plain    string
}

// render renders the items. The error names the items that are left out.
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

// ItemError is the error of [Show] for an item of a type that it cannot show.
type ItemError struct{ Item any }

func (e *ItemError) Error() string {
	return fmt.Sprintf("a %T cannot be shown: give a chart, a string of Markdown, or a value with a Markdown or String method", e.Item)
}

// send displays p in the notebook. A chart comes with its text, for readers that show no
// pictures.
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

// page writes the parts as one HTML page, whose title is that of the first chart.
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

// present shows the parts outside a notebook, at a terminal.
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
