package echarts

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"iter"
	"slices"
	"strings"

	"github.com/svmnb/svmnb/svmnb/internal/words"
)

// Place is the element of a chart in a page, with everything that is needed to draw it.
type Place struct {
	ID            string // id of a chart that changes; "" means an id computed from the option
	Text          string // one line for readers who cannot see the chart
	Width, Height string // CSS: the largest width, and a height that the layout of the chart may change
	Option        []byte // option of ECharts, as JSON that is safe inside a script element
}

// Of returns the place of c.
func Of(c Chart) (Place, error) {
	option, err := encode(c)
	if err != nil {
		return Place{}, err
	}
	p := Place{Text: words.Cut(words.Clean(describe(c, option)), longestText), Option: option}
	p.Width, p.Height = size(c)
	return p, nil
}

// longestText is the largest number of characters of Text.
const longestText = 4000

// The HTML around the parts of a chart; [Places] parses it.
const (
	placeStart  = `<div id="`
	placeWords  = `" role="img" aria-label="`
	placeWidth  = `" style="width:100%;max-width:`
	placeHeight = `;height:`
	placeOpen   = `">`
	placeOption = `",`
)

//go:embed place.js
var placeScript string

// placeEnd is the HTML between the inside of a chart and its id; placeClose follows the
// option.
var placeEnd, placeClose = func() (end, close string) {
	var b strings.Builder
	for line := range strings.Lines(placeScript) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "//") {
			b.WriteString(line)
		}
	}
	end, close, _ = strings.Cut(strings.Replace(b.String(), "$version", Version, 1), "$id"+placeOption+"$option")
	return "</div>\n<script>" + end, close + "</script>"
}()

// endings are placeEnd and placeClose of this version and of older ones, since old
// notebooks must be read too.
var endings = [][2]string{
	{placeEnd, placeClose},
	{`</div>` + "\n" + `<script>(function(w){var S=w.__svmEcharts=w.__svmEcharts||{};if(!S.ready)S.ready=new Promise(function(r){S.resolve=r});` +
		`S.ready.then(function(){S.draw("`, `)})})(window)</script>`},
}

// cutInside splits HTML that begins with the inside of a chart at the end of the inside.
// end is what must follow the option.
func cutInside(html string) (inside, after, end string, found bool) {
	for _, e := range endings {
		if in, rest, ok := strings.Cut(html, e[0]); ok && (!found || len(in) < len(inside)) {
			inside, after, end, found = in, rest, e[1], true
		}
	}
	return inside, after, end, found
}

// changing is the prefix of the ids of charts that change. The script recognises them by
// it.
const changing = "svm-live-"

// HTML returns the element with the given inside, and the script that draws the chart in
// place of the inside.
func (p Place) HTML(inside string) string {
	// The id depends on the option only, so that a notebook that runs again stays the same
	// file. The script draws in every element with this id.
	id := p.ID
	if id == "" {
		id = fmt.Sprintf("svm-%x", sha256.Sum256(p.Option))[:20]
	}
	return placeStart + id + placeWords + html.EscapeString(p.Text) + placeWidth + html.EscapeString(p.Width) +
		placeHeight + html.EscapeString(p.Height) + placeOpen + inside + placeEnd + id + placeOption + string(p.Option) + placeClose
}

// Places replaces each chart that [Place.HTML] has written in page by what f returns for
// it. The rest of the page is unchanged.
func Places(page string, f func(p Place, html string) string) string {
	return split(page, f, func(html string) string { return html })
}

// split replaces each chart in page by the result of chart, and the text between charts by
// the result of other.
func split(page string, chart func(p Place, html string) string, other func(html string) string) string {
	var b, between strings.Builder
	for {
		i := strings.Index(page, placeStart+"svm-")
		if i < 0 {
			between.WriteString(page)
			b.WriteString(other(between.String()))
			return b.String()
		}
		between.WriteString(page[:i])
		page = page[i:]
		p, rest, ok := readPlace(page)
		if !ok {
			between.WriteString(placeStart)
			page = page[len(placeStart):]
			continue
		}
		b.WriteString(other(between.String()))
		between.Reset()
		b.WriteString(chart(p, page[:len(page)-len(rest)]))
		page = rest
	}
}

// libraryStart begins the script of the drawing library, of any version, in a page.
const libraryStart = "<script>(function svmnb(w, packed)"

// withoutLibraries removes the drawing libraries from page.
func withoutLibraries(page string) string {
	var b strings.Builder
	for {
		before, rest, _ := strings.Cut(page, libraryStart)
		_, after, closed := strings.Cut(rest, "</script>")
		if !closed {
			b.WriteString(page)
			return b.String()
		}
		b.WriteString(before)
		page = after
	}
}

// Alive keeps the charts and the tables that svmnb has written in page, and replaces
// everything else by the result of other. It also returns the number of charts. It removes
// drawing libraries; charts need the [Library] again to be drawn.
func Alive(page string, other func(html string) string) (alive string, charts int) {
	alive = split(withoutLibraries(page), func(p Place, html string) string {
		charts++
		_, inside, _ := strings.Cut(html, placeHeight)
		_, inside, _ = strings.Cut(inside, placeOpen)
		inside, _, _, _ = cutInside(inside)
		var option bytes.Buffer
		json.HTMLEscape(&option, p.Option)
		p.Option = option.Bytes()
		return p.HTML(other(inside))
	}, func(between string) string { return sortings(between, other) })
	return alive, charts
}

// Policy returns a Content-Security-Policy for page. It allows the present inline scripts,
// and images and fonts inside the page; it forbids all other scripts, and to fetch, embed
// or send anything. more are further sources of scripts, styles and fonts, such as 'self'.
// The caller must make sure that all scripts of the page are trusted.
func Policy(page string, more ...string) string {
	scripts, seen := slices.Clone(more), map[string]bool{}
	for script := range inlineScripts(page) {
		sum := sha256.Sum256([]byte(script))
		source := "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
		if !seen[source] {
			seen[source], scripts = true, append(scripts, source)
		}
	}
	if strings.Contains(page, placeStart+"svm-") || len(withoutLibraries(page)) < len(page) {
		scripts = append(scripts, "'unsafe-eval'") // the library and the functions in options are texts that the page compiles
	}
	own := strings.Join(append([]string{""}, more...), " ")
	return "default-src 'none'; script-src " + cmp.Or(strings.Join(scripts, " "), "'none'") + "; style-src 'unsafe-inline'" + own +
		"; img-src data:" + own + "; font-src data:" + own + "; base-uri 'none'; form-action 'none'"
}

// inlineScripts yields the text of each script in page. It searches for the two tags, since
// a regular expression needs a tenth of a second for the drawing library.
func inlineScripts(page string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for {
			_, rest, _ := strings.Cut(page, "<script>")
			script, after, closed := strings.Cut(rest, "</script>")
			if !closed || !yield(script) {
				return
			}
			page = after
		}
	}
}

// readPlace parses what [Place.HTML] has written at the start of page.
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
		p.ID = id // HTML writes the id into a script again
		ok = ok && strings.Trim(strings.TrimPrefix(id, changing), "0123456789abcdef") == ""
	}
	p.Text = html.UnescapeString(until(placeWidth))
	p.Width = html.UnescapeString(until(placeHeight))
	p.Height = html.UnescapeString(until(placeOpen))
	if !ok {
		return p, "", false
	}
	inside, rest, end, ok := cutInside(rest)
	if again := until(placeOption); again != id || strings.Contains(inside, placeStart) {
		return p, "", false
	}
	d := json.NewDecoder(strings.NewReader(rest))
	var option json.RawMessage
	if !ok || d.Decode(&option) != nil {
		return p, "", false
	}
	p.Option = option
	rest, ok = strings.CutPrefix(rest[d.InputOffset():], end)
	return p, rest, ok
}

// Source returns the JavaScript that draws charts, a function of a window and ECharts, and
// ECharts itself, gzipped. It is for package static, which has no page.
func Source() (runtimeJS string, library []byte) { return runtime, packed }
