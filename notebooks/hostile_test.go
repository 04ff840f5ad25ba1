package main

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/browsertest"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb"
	front "github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/gp"
	"github.com/svmnb/svmnb/svmnb/play"
	"github.com/svmnb/svmnb/svmnb/selection"
	"github.com/svmnb/svmnb/svmnb/static"
	"github.com/svmnb/svmnb/svmnb/transform"
)

// hostile are names that a class, a feature or a data set may have. Whatever of them runs
// sets window.hostile; FAR stands for an address that must never be asked.
var hostile = []string{
	`<script>window.hostile='script'</script>`,
	`</script><script>window.hostile='closing'</script>`,
	`<img src=x onerror="window.hostile='img'">`,
	`<img src="FAR/img"><link rel=stylesheet href="FAR/css">`,
	`"><svg onload=window.hostile='svg'>`,
	`' onmouseover='window.hostile=1' autofocus onfocus='window.hostile=2`,
	`![l](../../etc/passwd)`,
	`![l](/dev/zero) ![f](FAR/far.png)`,
	`[a](javascript:window.hostile='link')`,
	"`` ` ``` <script>window.hostile='ticks'</script>",
	`a | b || c \| d \\| e`,
	"two\nlines\r\n\n# Heading\n\n<script>window.hostile='lines'</script>",
	"\u202eright to left\u2066\u200f",
	"nul \x00 and \x1b[31m bell \x07",
	"no UTF-8 \xff\xfe \xc3",
	`__f__window.hostile='code'__f__`,
	`__f__function () { window.hostile = 'code'; return '' }__f__`,
	`${window.hostile='template'} {{window.hostile=1}} #{1}`,
	`{a} {b} {c} {d} {@x} {bold|rich} %s %d %!v`,
	`$x$ $$\href{javascript:window.hostile='tex'}{y}$$ \( \)`,
	`@pos`,
	`__proto__`,
	`toString`,
	`www.example.com http://example.com/x a@example.com <b>&lt;b&gt;&amp;`,
	`=cmd|' /C calc'!A0`,
	" ",
	strings.Repeat("long ", 200_000) + "<script>window.hostile='long'</script>",
}

// named gives a data set names from the list, each slot another, beginning at the one
// with the number from.
func named(d *datasets.Dataset, from int, far string) *datasets.Dataset {
	next := func() string {
		from++
		return strings.ReplaceAll(hostile[(from-1)%len(hostile)], "FAR", far)
	}
	e := *d
	e.Name = next()
	if len(d.Classes) > 0 {
		e.Classes = make([]string, len(d.Classes))
		for i := range e.Classes {
			e.Classes[i] = next()
		}
	}
	e.Target = next()
	e.Features = make([]string, d.D())
	for i := range e.Features {
		e.Features[i] = fmt.Sprint(next(), i) // which must differ
	}
	return &e
}

// Names in every text that a fit makes of itself, as the runner and as a page of
// display.HTML show it: nothing of them is markup.
func TestHostileNamesInSummaries(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for i := range hostile {
		moons := svmnb.Classify(named(datasets.Moons(40, 0.2, 42), i, "http://far.example")).Kernel(kernels.RBF(1))
		iris := svmnb.Classify(named(datasets.Iris(), i, "http://far.example")).OneVsOne()
		fit, many := moons.MustFit(), iris.MustFit()
		validation, err := selection.CrossValidate(ctx, moons, selection.KFold(3, 1))
		search, err2 := selection.Search(moons, selection.Grid{"C": {1, 10}}, selection.KFold(3, 1)).Fit(ctx)
		evaluation, err3 := many.Evaluate(named(datasets.Iris(), i, "http://far.example"))
		if err := errors.Join(err, err2, err3); err != nil {
			t.Fatalf("%.60q: %v", hostile[i], err)
		}
		pipe, err := selection.Pipe(transform.Standardise(), moons).Fit(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range []interface{ Markdown() string }{fit, many, validation, search, evaluation, pipe,
			svmnb.Regress(named(datasets.Sinc(30, 0.1, 1), i, "http://far.example")).Kernel(kernels.RBF(1)).MustFit(),
			gp.Regress(named(datasets.Sinc(30, 0.1, 1), i, "http://far.example")).LinearMean().MustFit(),
			moons.MustPath(0.1, 10),
			play.Race(moons, solvers.SMO{}, solvers.ConjugateSMO{}),
		} {
			what := fmt.Sprintf("%T with %.60q", item, hostile[i])
			text := item.Markdown()
			if !utf8.ValidString(text) || len(text) > 100_000 || strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' || r == '\u202e' }) {
				t.Errorf("%s: the text has %d bytes, or signs that it should not: %.300q", what, len(text), text)
			}
			runner, math, err := newMarkdown().render(text, "", nil)
			if err != nil {
				t.Fatal(err)
			}
			var page strings.Builder
			if err := front.HTML(&page, item); err != nil {
				t.Fatal(err)
			}
			_, body, _ := strings.Cut(page.String(), "<body>")
			body, _, _ = strings.Cut(body, "<script>(function svmnb(w, packed)")
			if math {
				t.Errorf("%s: a formula in %s", what, runner)
			}
			for where, html := range map[string]string{"runner": runner, "HTML": body} {
				if found := foreignTag.FindString(html); found != "" {
					t.Errorf("%s, %s: %s in\n%.2000s", what, where, found, html)
				}
				// A line for each fact: no name has broken a row.
				if rows, bars := strings.Count(html, "<tr>"), strings.Count(text, "\n|")+1; strings.HasPrefix(text, "| | |") && rows > bars {
					t.Errorf("%s, %s: %d rows of %d", what, where, rows, bars)
				}
			}
		}
	}
}

// foreignTag matches a tag that no summary has.
var foreignTag = regexp.MustCompile(`<(?:[^/a-z]|/?(?:script|img|svg|link|a|i|h[1-6]|pre|meta|b|em|span)\b)[^>]*>?`)

// What is hostile in a name is shown as it was written.
func TestHostileNamesAreReadable(t *testing.T) {
	for _, name := range hostile {
		d := datasets.Moons(20, 0.2, 42)
		d.Name = name
		text := svmnb.Classify(d).MustFit().Markdown()
		runner, _, err := newMarkdown().render(text, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Join(strings.Fields(strings.Map(func(r rune) rune {
			switch {
			case unicode.IsControl(r):
				return ' '
			case r >= '\u2066' && r <= '\u2069', r >= '\u202a' && r <= '\u202e', r == '\u200f':
				return -1
			}
			return r
		}, strings.ToValidUTF8(name, "\ufffd"))), " ")
		words := strings.Join(strings.Fields(unescaped(runner)), " ")
		if len(want) > 500 {
			want = want[:500]
		}
		if name == "no UTF-8 \xff\xfe \xc3" {
			want = "no UTF-8"
		}
		if !strings.Contains(words, want) {
			t.Errorf("%.80q reads\n%.400s", name, words)
		}
	}
}

func unescaped(page string) string {
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&#34;", `"`, "&#39;", "'", "&amp;", "&").Replace(tag.ReplaceAllString(page, " "))
}

// Every figure of the gallery with hostile names, other ones for each data set, without a
// browser: its option has no code that came from a name, and its SVG is well-formed and has
// nothing that runs.
func TestHostileNamesInEveryFigure(t *testing.T) {
	t.Parallel()
	from := 0
	for _, r := range gallery(func(d *datasets.Dataset) *datasets.Dataset { from += 5; return named(d, from, "http://far.example") }) {
		for _, e := range r.exhibits {
			c, err := e.draw()
			if err != nil {
				t.Errorf("%s: %v", e.file, err)
				continue
			}
			svg, err := static.SVG(c, static.Options{Width: galleryWidth, Scale: 1})
			if err != nil {
				t.Errorf("%s: %v", e.file, err)
				continue
			}
			if len(svg) > 4<<20 {
				t.Errorf("%s: an SVG of %d bytes", e.file, len(svg))
			}
			for d := xml.NewDecoder(strings.NewReader(string(svg))); ; {
				token, err := d.Token()
				if err != nil {
					if !errors.Is(err, io.EOF) {
						t.Errorf("%s: %v", e.file, err)
					}
					break
				}
				s, ok := token.(xml.StartElement)
				if !ok {
					continue
				}
				for _, a := range s.Attr {
					if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href" && !strings.HasPrefix(a.Value, "#") && !strings.HasPrefix(a.Value, "data:image/") {
						t.Errorf("%s: %s has %s=%q", e.file, s.Name.Local, a.Name.Local, a.Value)
					}
				}
				if slices.Contains([]string{"script", "foreignObject", "a", "iframe"}, s.Name.Local) {
					t.Errorf("%s: an element %s", e.file, s.Name.Local)
				}
			}
		}
	}
}

// far is a server that counts who asks it.
func far(t *testing.T) (address string, asked func() []string) {
	t.Helper()
	var paths atomic.Pointer[[]string]
	paths.Store(&[]string{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for {
			old := paths.Load()
			list := append(slices.Clone(*old), r.URL.Path)
			if paths.CompareAndSwap(old, &list) {
				return
			}
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, func() []string { return *paths.Load() }
}

// hostileNotebook has something to run, and to fetch, wherever a notebook has text.
func hostileNotebook(t *testing.T, far string) *notebook {
	t.Helper()
	run := func(how string) string { return "window.hostile='" + how + "';fetch('" + far + "/" + how + "')" }
	display := func(mime, text string) *output {
		return &output{kind: "display_data", data: map[string]any{mime: text}}
	}
	var real strings.Builder
	if err := front.HTML(&real, bars("x", 1)); err != nil {
		t.Fatal(err)
	}
	_, opens, found := strings.Cut(real.String(), "</div>\n<script>")
	opens, _, drawn := strings.Cut(opens, "S.draw(")
	if !found || !drawn {
		t.Fatal("a chart is written in another way: imitate that")
	}
	opens = "</div>\n<script>" + opens + "S.draw("
	texts := []string{
		"# <script>" + run("heading") + "</script> title <img src=x onerror=\"" + run("title") + "\">",
		"<script>" + run("block") + "</script>\n\n<style>@import url(" + far + "/import)</style>\n\nin <script>" + run("inline") + "</script> line",
		"<div onclick=\"" + run("click") + "\" style=\"background:url(" + far + "/style)\">x</div>\n\n<a href=\"java&#x0a;script:" + run("a") + "\" id=go>go</a> <A HREF=javascript:" + run("a2") + ">x</A>",
		"[x](javascript:" + run("md") + ") [y](JaVaScRiPt:" + run("md2") + ") [z](data:text/html,<script>" + run("data") + "</script>) <javascript:" + run("auto") + ">",
		"![i](" + far + "/image.png) ![p](/etc/passwd) ![q](../../../../../../etc/passwd) <img src=\"" + far + "/raw.png\"> <iframe src=\"" + far + "/frame\"></iframe>",
		"![x](x.png \"t\\\" onerror=" + run("imgtitle") + " x=\\\"\") ![a\" onerror=\"" + run("alt") + "](x.png)",
		"<meta http-equiv=refresh content=\"0;url=" + far + "/refresh\"> <base href=\"" + far + "\"> <link rel=preconnect href=\"" + far + "\"><link rel=prefetch href=\"" + far + "/prefetch\">",
		"<svg><script>" + run("svgscript") + "</script><a xlink:href=\"javascript:" + run("svga") + "\"><text>x</text></a></svg>",
		"$\\href{javascript:" + run("href") + "}{x}$ $\\url{javascript:" + run("url") + "}$ $\\htmlData{x=1}{y}$ $\\includegraphics{" + far + "/tex.png}$",
		"```<script>" + run("lang") + "</script>\n<script>" + run("fence") + "</script>\n```",
		"<details open ontoggle=\"" + run("toggle") + "\"><summary>s</summary></details><input autofocus onfocus=\"" + run("focus") + "\"><form action=\"" + far + "/form\"><button>b</button></form>",
		"<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=" + run("mxss") + "&gt;\">",
	}
	outputs := []*output{
		display("text/html", "<script>"+run("html")+"</script><SCRIPT SRC=\""+far+"/src\"></SCRIPT><img src=x onerror=\""+run("onerror")+"\"><body onload=\""+run("onload")+"\">"),
		display("text/html", "<svg onload=\""+run("svgload")+"\"><animate onbegin=\""+run("begin")+"\" attributeName=x dur=1s></svg><details open ontoggle=\""+run("toggle2")+"\">x</details>"),
		display("text/html", "<iframe srcdoc=\"<script>parent.hostile=1</script>\"></iframe><object data=\""+far+"/object\"></object><embed src=\""+far+"/embed\"><video src=\""+far+"/video\" autoplay></video><img src=\""+far+"/img\"><input type=image src=\""+far+"/input\">"),
		display("text/html", "<meta http-equiv=refresh content=\"0;url="+far+"/refresh2\"><base href=\""+far+"\"><link rel=stylesheet href=\""+far+"/sheet\"><style>@import '"+far+"/import2';body{background:url("+far+"/bg)}@font-face{font-family:x;src:url("+far+"/font)}*{font-family:x}</style>"),
		display("text/html", "<a id=js href=\"javascript:"+run("ahref")+"\">x</a><form id=f action=\"javascript:"+run("form")+"\"><input type=submit></form>"),
		// What looks like a chart of ours, and is none.
		display("text/html", `<div id="svm-0" role="img" aria-label="x" style="width:100%;max-width:1px;height:1px">`+opens+"\"svm-0\",{\"a\":1},me);"+run("imitation")+"})})(window,document.currentScript)</script>"),
		display("text/html", `<div id="svm-live-`+`");`+run("liveid")+`//`+`" role="img" aria-label="x" style="width:100%;max-width:1px;height:1px">`+opens+"\"svm-live-\");"+run("liveid")+"//\",{},me)})})(window,document.currentScript)</script>"),
		display("text/html", "<script>(function svmnb(w, packed) {"+run("library")+"})(window,\"\")</script>"),
		display("text/html", "<scr<script>(function svmnb(w, packed) {})(window,\"\")</script>ipt>"+run("joined")+"</script>"),
		display("text/markdown", strings.Join(texts, "\n\n")),
		display("text/markdown", "![l](../../../../../../../etc/passwd) ![p](image.png) ![z](/dev/zero)"),
		display("image/svg+xml", "<svg xmlns='http://www.w3.org/2000/svg' onload=\""+run("svgout")+"\"><script>"+run("svgout2")+"</script><image href='"+far+"/svgimage'/></svg>"),
		display("image/png", "iVBORw0KGgo=\" onerror=\""+run("png")),
		display("application/javascript", run("javascript")),
		display("text/latex", "$\\href{javascript:"+run("latex")+"}{x}$ <script>"+run("latex2")+"</script>"),
		display("text/plain", "<script>"+run("plain")+"</script>"),
		{kind: "stream", name: "stdout\"><script>" + run("stream") + "</script>", text: "\x1b[31m<script>" + run("ansi") + "</script>\x1b]8;;javascript:" + run("osc") + "\x07link\x1b]8;;\x07"},
		{kind: "error", traceback: []string{"<script>" + run("trace") + "</script>"}},
	}
	nb := code("x := \"</code><script>"+run("source")+"</script>\"", "%%script <script>"+run("magic")+"</script>\n<script>"+run("shell")+"</script>")
	nb.cells[0].setOutputs(outputs, 1)
	nb.cells[0].raw["execution_count"] = "\"><script>" + run("count") + "</script>"
	for _, text := range texts {
		nb.cells = append(nb.cells, &cell{map[string]any{"cell_type": "markdown", "id": "\"><script>" + run("id") + "</script>", "source": text, "metadata": map[string]any{},
			"attachments": map[string]any{"x.png": map[string]any{"image/png\"><script>" + run("kind") + "</script>": "AAAA"}}}})
	}
	// Real charts and tables, with hostile names.
	for round := range 3 {
		var b strings.Builder
		d := named(datasets.Moons(60, 0.2, 42), 5*round, far)
		fit := svmnb.Classify(d).Kernel(kernels.RBF(1)).MustFit()
		c, err := svmnb.Margins.Of(fit)
		if err != nil {
			t.Fatal(err)
		}
		if err := front.HTML(&b, fit, c, front.Table(d), front.Dashboard(fit, svmnb.KKT, svmnb.Alphas)); err != nil {
			t.Fatal(err)
		}
		_, body, _ := strings.Cut(b.String(), "<body>")
		o := code("show").cells[0]
		o.setOutputs([]*output{display("text/html", body), display("text/markdown", fit.Markdown())}, round)
		nb.cells = append(nb.cells, o)
	}
	return nb
}

// stays holds a page against what it must not do: run what is not ours, or ask anyone.
func stays(t *testing.T, p *browsertest.Page, asked func() []string) {
	t.Helper()
	// Whatever waits for a reader: links and buttons that would run something, tooltips.
	p.Do(nil, `for (const a of document.querySelectorAll('a')) if (/^javascript:/i.test(a.href)) a.click();
		for (const e of document.querySelectorAll('[onclick], [onmouseover], [onfocus], summary, input')) { e.click(); e.dispatchEvent(new Event('mouseover')); e.focus && e.focus(); }
		const S = window.__svmEcharts;
		for (const el of document.querySelectorAll('[data-drawn]')) {
			const chart = S && S.echarts && S.echarts.getInstanceByDom(el);
			if (!chart) continue;
			(chart.getOption().series || []).forEach((s, i) => { for (let k = 0; k < 4; k++) try { chart.dispatchAction({ type: 'showTip', seriesIndex: i, dataIndex: k }); } catch (e) { } });
		}`)
	p.Do(nil, `return new Promise(r => setTimeout(r, 700))`)
	var ran string
	p.Do(&ran, `for (const k in {}) return 'every object has got ' + k; return String(window.hostile)`)
	if ran != "undefined" {
		t.Errorf("something ran: %s", ran)
	}
	if paths := asked(); len(paths) > 0 {
		t.Errorf("the page asked the far server for %q", paths)
	}
}

// A hostile notebook as an exported page, from its file and from a server.
func TestHostileNotebookInBrowser(t *testing.T) {
	t.Parallel()
	address, asked := far(t)
	nb := hostileNotebook(t, address)
	page, err := exportHTML(nb, "<script>window.hostile=1</script>", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "page.html"), page, 0o644); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	for _, target := range []string{filepath.Join(dir, "page.html"), server.URL + "/page.html"} {
		p := browsertest.Open(t, target, browsertest.Options{})
		p.Until(`document.querySelectorAll('[data-drawn]').length >= 9`) // three of each round
		stays(t, p, asked)
	}
	if strings.Contains(string(page), "cm9vdDo") || strings.Contains(string(page), "root:") {
		t.Error("the page holds /etc/passwd")
	}
}

// The pages of display.HTML with every figure of the gallery under hostile names: all drawn,
// every tooltip shown, nothing run.
func TestHostileGalleryInBrowser(t *testing.T) {
	t.Parallel()
	address, asked := far(t)
	from, items := 2, []any{}
	for _, r := range gallery(func(d *datasets.Dataset) *datasets.Dataset { from += 5; return named(d, from, address) }) {
		for _, e := range r.exhibits {
			c, err := e.draw()
			if err != nil {
				t.Fatalf("%s: %v", e.file, err)
			}
			items = append(items, c)
		}
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "gallery.html"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(front.HTML(file, items...), file.Close()); err != nil {
		t.Fatal(err)
	}
	p := browsertest.Open(t, file.Name(), browsertest.Options{})
	p.Charts(len(items))
	stays(t, p, asked)
	if errs := p.Errors(); len(errs) > 0 {
		t.Errorf("errors %q", errs)
	}
}

// Pictures of a page are image files in the notebook's folder or below it, and nothing else.
func TestPicturesOfAPage(t *testing.T) {
	dir := t.TempDir()
	inside, outside := filepath.Join(dir, "book"), filepath.Join(dir, "secret.png")
	png := "\x89PNG\r\n\x1a\nrest"
	write := func(name, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	write(outside, png)
	write(filepath.Join(inside, "dot.png"), png)
	write(filepath.Join(inside, "below", "dot.svg"), "\ufeff<?xml version='1.0'?>\n<!-- a drawing -->\n<svg/>")
	write(filepath.Join(inside, "text.png"), "root:x:0:0")
	write(filepath.Join(inside, "page.svg"), "<html><svg/></html>")
	write(filepath.Join(inside, "empty.png"), "")
	huge := filepath.Join(inside, "huge.png")
	write(huge, png)
	if err := errors.Join(os.Truncate(huge, largestImage+1), os.Mkdir(filepath.Join(inside, "folder.png"), 0o755),
		os.Symlink(outside, filepath.Join(inside, "out.png")), os.Symlink(filepath.Join(inside, "dot.png"), filepath.Join(inside, "absolute.png")),
		os.Symlink("dot.png", filepath.Join(inside, "in.png")), os.Symlink("..", filepath.Join(inside, "up"))); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "linux" {
		if err := errors.Join(os.Symlink("/dev/zero", filepath.Join(inside, "zero.png")), exec.Command("mkfifo", filepath.Join(inside, "pipe.png")).Run()); err != nil {
			t.Fatal(err)
		}
	}
	for dest, want := range map[string]bool{
		"dot.png": true, "below/dot.svg": true, "in.png": true, "./dot.png": true, "below/../dot.png": true,
		"text.png": false, "page.svg": false, "empty.png": false, "huge.png": false, "folder.png": false, "out.png": false, "up/secret.png": false,
		"zero.png": false, "pipe.png": false, "../secret.png": false, outside: false, "/dev/zero": false, "/dev/fd/0": false, "missing.png": false, "": false,
		"file:" + outside: false, `..\secret.png`: false, "dot.png\x00": false,
	} {
		if got := inlineImage(dest, inside, nil); (got != "") != want {
			t.Errorf("%q gave %.60q", dest, got)
		}
		if got := inlineImage(dest, "", nil); got != "" {
			t.Errorf("%q of an output gave %.60q", dest, got)
		}
	}
}

// What raw HTML may do in Markdown is to say how text looks.
func TestRawHTML(t *testing.T) {
	for in, want := range map[string]string{
		`<b>x</b>`:                              `<b>x</b>`,
		`<DETAILS OPEN>`:                        `<details>`,
		`<a href="https://a.b/?x=1&amp;y=2">`:   `<a href="https://a.b/?x=1&amp;y=2">`,
		`<a href='x.html#a'>`:                   `<a href="x.html#a">`,
		`<a href="javascript:x">`:               `<a>`,
		`<a href="java&#9;script:x">`:           `<a>`,
		`<a href="&#106;avascript:x">`:          `<a>`,
		`<a href=data:text/html,x>`:             `&lt;a href=data:text/html,x>`,
		`<br/>`:                                 `<br>`,
		`<p align=center class="x" id='y'>`:     `<p align="center" class="x" id="y">`,
		`<p onclick="x">`:                       `<p>`,
		`<p/onclick=x>`:                         `&lt;p/onclick=x>`,
		`<p style="background:url(x)">`:         `<p>`,
		`<img src="http://a.b/c.png" alt="c">`:  `<img alt="c">`,
		`<script>x</script>`:                    `&lt;script>x&lt;/script>`,
		`<!-- <script> -->y`:                    `y`,
		`<!--`:                                  `&lt;!--`,
		`<svg onload=x>`:                        `&lt;svg onload=x>`,
		`<style>*{}</style>`:                    `&lt;style>*{}&lt;/style>`,
		`< b>`:                                  `&lt; b>`,
		`<b title="<script>">`:                  `&lt;b title="&lt;script>">`,
		`<b title="a" onx="b">`:                 `<b title="a">`,
		"<b\n\ttitle='\"><script>x</script>'>":  "&lt;b\n\ttitle='\">&lt;script>x&lt;/script>'>",
		`</b onclick=x>`:                        `</b>`,
		`<a href="x" href="javascript:y">`:      `<a href="x">`,
		`<?php x ?>`:                            `&lt;?php x ?>`,
		`<![CDATA[<script>x</script>]]>`:        `&lt;![CDATA[&lt;script>x&lt;/script>]]>`,
		"<scr\x00ipt>":                          "&lt;scr\x00ipt>",
		`<b>` + strings.Repeat("<", 3) + `</b>`: `<b>&lt;&lt;&lt;</b>`,
	} {
		if got := rawHTML(in); got != want {
			t.Errorf("%q gave %q, want %q", in, got, want)
		}
	}
}

// A normal page says what may run in it, and the policy names each of its scripts.
func TestPagesHaveAPolicy(t *testing.T) {
	nb, err := readNotebook(tour)
	if err != nil {
		t.Fatal(err)
	}
	page, err := exportHTML(nb, tour, ".")
	if err != nil {
		t.Fatal(err)
	}
	policy := regexp.MustCompile(`<meta http-equiv="Content-Security-Policy" content="([^"]*)">`).FindStringSubmatch(string(page))
	if policy == nil || strings.Index(string(page), policy[0]) > strings.Index(string(page), "<script") {
		t.Fatal("the page has no policy before its first script")
	}
	if strings.Contains(policy[1], "unsafe-inline") && regexp.MustCompile(`script-src[^;]*unsafe-inline`).MatchString(policy[1]) || !strings.HasPrefix(policy[1], "default-src &#39;none&#39;;") {
		t.Errorf("the policy is %s", policy[1])
	}
	if scripts, hashes := strings.Count(string(page), "<script>"), strings.Count(policy[1], "sha256-"); hashes < 5 || hashes > scripts {
		t.Errorf("%d scripts, %d hashes", scripts, hashes)
	}
}
