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
	"regexp"
	"slices"
	"strings"

	"github.com/svmnb/svmnb/svmnb/internal/words"
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
	p := Place{Text: words.Cut(words.Clean(describe(c, option)), longestText), Option: option}
	p.Width, p.Height = size(c)
	return p, nil
}

// longestText is how many characters stand for a chart where it cannot be seen.
const longestText = 4000

// What stands around a chart in a page; [Places] reads it back.
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

// placeEnd stands between the inside of a chart and its id, placeClose behind its option.
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

// endings are what has stood behind the inside of a chart and behind its option, the
// present ones first: notebooks outlive the versions that have written them.
var endings = [][2]string{
	{placeEnd, placeClose},
	{`</div>` + "\n" + `<script>(function(w){var S=w.__svmEcharts=w.__svmEcharts||{};if(!S.ready)S.ready=new Promise(function(r){S.resolve=r});` +
		`S.ready.then(function(){S.draw("`, `)})})(window)</script>`},
}

// cutInside cuts what begins with the inside of a chart behind that, and says what stands
// behind its option.
func cutInside(html string) (inside, after, end string, found bool) {
	for _, e := range endings {
		if in, rest, ok := strings.Cut(html, e[0]); ok && (!found || len(in) < len(inside)) {
			inside, after, end, found = in, rest, e[1], true
		}
	}
	return inside, after, end, found
}

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
	return split(page, f, func(html string) string { return html })
}

// split returns what chart and other make of the charts in page and of all between them.
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

// library matches the drawing library in a page, of this version or another.
var library = regexp.MustCompile(`(?s)<script>\(function svmnb\(w, packed\).*?</script>`)

// Alive returns page with the charts and the tables that this package and svmnb have
// written, and what other makes of everything else, and the number of charts. Drawing
// libraries are left out; charts that shall be drawn need the [Library] again.
func Alive(page string, other func(html string) string) (alive string, charts int) {
	alive = split(library.ReplaceAllString(page, ""), func(p Place, html string) string {
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

// Policy is a Content-Security-Policy for page: its inline scripts run as they stand, and
// nothing else does; images and fonts are those inside of it; nothing is fetched, framed
// or sent. more are sources for scripts, styles and fonts, such as 'self'. Whoever calls
// it knows that page has no script but those that shall run.
func Policy(page string, more ...string) string {
	scripts, seen := slices.Clone(more), map[string]bool{}
	for _, m := range inlineScript.FindAllStringSubmatch(page, -1) {
		sum := sha256.Sum256([]byte(m[1]))
		source := "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
		if !seen[source] {
			seen[source], scripts = true, append(scripts, source)
		}
	}
	if strings.Contains(page, placeStart+"svm-") || library.MatchString(page) {
		scripts = append(scripts, "'unsafe-eval'") // the library is packed, and the functions in options are text
	}
	own := strings.Join(append([]string{""}, more...), " ")
	return "default-src 'none'; script-src " + cmp.Or(strings.Join(scripts, " "), "'none'") + "; style-src 'unsafe-inline'" + own +
		"; img-src data:" + own + "; font-src data:" + own + "; base-uri 'none'; form-action 'none'"
}

var inlineScript = regexp.MustCompile(`(?s)<script>(.*?)</script>`)

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
		p.ID = id // which stands in a script again
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

// Source returns the drawing side of the charts, a JavaScript function of a
// window and ECharts, and ECharts itself, gzipped: for package static, which
// has no page.
func Source() (runtimeJS string, library []byte) { return runtime, packed }
