package display

import (
	"fmt"
	"strings"

	"github.com/svmnb/svmnb/svmnb/internal/echarts"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// Panels is several items side by side in one display; [Dashboard] and [Multiples] make it.
type Panels struct{ items []any }

// Dashboard arranges the items side by side in one display, in one to four columns,
// depending on the width. An item is anything that [Show] takes. A [Figure] draws the fit
// that is before it in the list; the fit itself is then not shown.
//
//	display.Dashboard(fit, svmnb.Margins, svmnb.Gap, svmnb.KKT).Show()
//
// If an item cannot be shown, the error stands in its place.
func Dashboard(items ...any) *Panels {
	p := &Panels{}
	var of any // the fit that the next figures draw
	for i, item := range items {
		fig, ok := item.(Figure)
		if !ok {
			if !isShown(item) {
				of = item
			}
			if isShown(item) || i+1 == len(items) || !isFigure(items[i+1]) {
				p.items = append(p.items, item)
			}
			continue
		}
		c, err := fig.Of(of)
		if err != nil {
			p.items = append(p.items, err)
			continue
		}
		p.items = append(p.items, c)
	}
	return p
}

func isFigure(item any) bool { _, ok := item.(Figure); return ok }

// isShown reports whether an item can only be shown, so that figures cannot draw it.
func isShown(item any) bool {
	switch item.(type) {
	case string, error, echarts.Chart, Drawing, *Sheet, *Panels:
		return true
	}
	return false
}

// Multiples draws one figure for each of several fits, side by side (small multiples):
//
//	display.Multiples(svmnb.Margins, rbf.C(0.1).MustFit(), rbf.C(10).MustFit(), rbf.C(1000).MustFit()).Show()
func Multiples(figure Figure, fits ...any) *Panels {
	var items []any
	for _, f := range fits {
		items = append(items, f, figure)
	}
	return Dashboard(items...)
}

// Show displays the panels in the cell's output; see the function [Show].
func (p *Panels) Show() { Show(p) }

const (
	// panelWidth is the greatest width of a chart in a dashboard. A saved picture is shrunk
	// to its column, and in a narrow chart the letters are then larger.
	panelWidth = "500px"

	panelsStart = `<div style="display:grid;grid-template-columns:repeat(auto-fit,minmax(max(min(100%,340px),calc(25% - 18px)),1fr));gap:12px 24px;align-items:start">`
	panelStart  = `<div style="min-width:0;overflow-x:auto">`
)

// part renders all items into one part.
func (p *Panels) part() (part, error) {
	if p == nil || len(p.items) == 0 {
		return part{}, fmt.Errorf("the dashboard is empty: give it charts, or a fit and figures, such as display.Dashboard(fit, svmnb.Margins, svmnb.Gap)")
	}
	var page strings.Builder
	var texts []string
	charts := false
	page.WriteString(panelsStart)
	for _, item := range p.items {
		one, err := renderOne(item)
		if err != nil {
			one = part{plain: err.Error()}
		}
		page.WriteString(panelStart + one.inPage(panelWidth) + "</div>\n")
		texts = append(texts, one.text())
		charts = charts || one.picture.HTML != ""
	}
	page.WriteString("</div>")
	all := echarts.Picture{HTML: page.String(), Text: strings.Join(texts, "\n")}
	if charts {
		return part{picture: all}, nil
	}
	return part{html: all.HTML, plain: all.Text}, nil
}

// inPage returns the part as HTML. A width, if there is one, limits the width of a chart.
func (p part) inPage(width string) string {
	switch {
	case p.picture.HTML != "":
		return p.picture.Within(width)
	case p.html != "":
		return p.html
	case p.markdown != "":
		return echarts.Markdown(p.markdown)
	}
	return echarts.Markdown(say.Code(p.plain))
}

// text returns the part as plain text.
func (p part) text() string {
	if p.picture.HTML != "" {
		return p.picture.Text
	}
	return p.markdown + p.plain
}
