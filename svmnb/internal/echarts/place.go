package echarts

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"html"
	"strings"
)

// Place is where a chart stands in a page, with all that it is drawn from.
type Place struct {
	ID            string // of a chart that changes; "" for the one that its option has
	Text          string // one line that stands for the chart where it cannot be seen
	Width, Height string // CSS: at most so wide, and so high unless its layout says otherwise
	Option        []byte // for ECharts, as JSON that is safe inside a script element
}

// Of returns the place of c.
func Of(c Chart) (Place, error) {
	option, err := encode(c)
	if err != nil {
		return Place{}, err
	}
	p := Place{Text: describe(c, option), Option: option}
	p.Width, p.Height = size(c)
	return p, nil
}

// What stands around a chart in a page; [Places] reads it back.
const (
	placeStart  = `<div id="`
	placeWords  = `" role="img" aria-label="`
	placeWidth  = `" style="width:100%;max-width:`
	placeHeight = `;height:`
	placeOpen   = `">`
	placeEnd    = `</div>` + "\n" + `<script>(function(w){var S=w.__svmEcharts=w.__svmEcharts||{};if(!S.ready)S.ready=new Promise(function(r){S.resolve=r});` +
		`S.ready.then(function(){S.draw("`
	placeOption = `",`
	placeClose  = `)})})(window)</script>`
)

// changing begins the ids of charts that change; the script knows them by it.
const changing = "svm-live-"

// HTML returns the place and the script that draws the chart there, in the
// place of inside.
func (p Place) HTML(inside string) string {
	// Equal charts have equal ids, so that a notebook run again is the same
	// file; the script draws every place of its id.
	id := p.ID
	if id == "" {
		id = fmt.Sprintf("svm-%x", sha256.Sum256(p.Option))[:20]
	}
	return placeStart + id + placeWords + html.EscapeString(p.Text) + placeWidth + html.EscapeString(p.Width) +
		placeHeight + html.EscapeString(p.Height) + placeOpen + inside + placeEnd + id + placeOption + string(p.Option) + placeClose
}

// Places returns page, or a part of one, with each chart that [Place.HTML] has
// written there replaced by what f makes of it. What is no chart stays.
func Places(page string, f func(p Place, html string) string) string {
	var b strings.Builder
	for {
		i := strings.Index(page, placeStart+"svm-")
		if i < 0 {
			b.WriteString(page)
			return b.String()
		}
		b.WriteString(page[:i])
		page = page[i:]
		p, rest, ok := readPlace(page)
		if !ok {
			b.WriteString(placeStart)
			page = page[len(placeStart):]
			continue
		}
		b.WriteString(f(p, page[:len(page)-len(rest)]))
		page = rest
	}
}

// readPlace reads what [Place.HTML] has written at the start of page.
func readPlace(page string) (p Place, rest string, ok bool) {
	rest, ok = strings.CutPrefix(page, placeStart)
	until := func(end string) (s string) {
		if ok {
			s, rest, ok = strings.Cut(rest, end)
		}
		return s
	}
	id := until(placeWords)
	if strings.HasPrefix(id, changing) {
		p.ID = id
	}
	p.Text = html.UnescapeString(until(placeWidth))
	p.Width = html.UnescapeString(until(placeHeight))
	p.Height = html.UnescapeString(until(placeOpen))
	inside := until(placeEnd)
	if again := until(placeOption); again != id || strings.Contains(inside, placeStart) {
		return p, "", false
	}
	d := json.NewDecoder(strings.NewReader(rest))
	var option json.RawMessage
	if !ok || d.Decode(&option) != nil {
		return p, "", false
	}
	p.Option = option
	rest, ok = strings.CutPrefix(rest[d.InputOffset():], placeClose)
	return p, rest, ok
}

// Source returns the drawing side of the charts, a JavaScript function of a
// window and ECharts, and ECharts itself, gzipped: for package static, which
// has no page.
func Source() (runtimeJS string, library []byte) { return runtime, packed }
