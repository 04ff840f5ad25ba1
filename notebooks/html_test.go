package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/internal/browsertest"

	"pgregory.net/rapid"
)

func TestProtectMath(t *testing.T) {
	inline := func(tex string) formula { return formula{tex, false} }
	display := func(tex string) formula { return formula{tex, true} }
	for _, test := range []struct {
		source string
		want   []formula
	}{
		{"$a_1*b_2*c$", []formula{inline("a_1*b_2*c")}},
		{"both $x$ and $y$.", []formula{inline("x"), inline("y")}},
		{"$$\na\n- b\n= c\n$$", []formula{display("\na\n- b\n= c\n")}},
		{"\\begin{align*}a &= b \\\\ c\\end{align*}", []formula{display("\\begin{align*}a &= b \\\\ c\\end{align*}")}},
		{"$x\\$y$", []formula{inline("x\\$y")}},
		{"\\$x$ costs $5 or $6", nil},
		{"from $5 to $6 or 7", nil},
		{"$ not this $", nil},
		{"`$a$` and ``x ` $b$`` but $c$", []formula{inline("c")}},
		{"$5 for `a$b`", nil},
		{"```\n$a$\n```\n$b$", []formula{inline("b")}},
		{"- item\n  ```go\n  s := \"$a$\"\n  ```\n- $b$", []formula{inline("b")}},
		{"~~~\n$a$\n```\n~~~\n$b$", []formula{inline("b")}},
		{"$a\n\nb$", nil},
		{"$$a", nil},
		{"\\begin{align} never ended", nil},
		{"a table | $x$ | $\\lVert y\\rVert$ |", []formula{inline("x"), inline("\\lVert y\\rVert")}},
	} {
		text, got := protectMath(test.source)
		if len(got) != len(test.want) {
			t.Errorf("%q: found %+v, want %+v", test.source, got, test.want)
			continue
		}
		for i := range got {
			if got[i] != test.want[i] {
				t.Errorf("%q: formula %d is %+v, want %+v", test.source, i, got[i], test.want[i])
			}
		}
		if strings.Count(text, mathOpen) != len(got) {
			t.Errorf("%q became %q", test.source, text)
		}
	}
}

// Whatever the text: nothing of it is lost, and nothing hangs.
func TestProtectMathKeepsEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source := rapid.StringOf(rapid.SampledFrom([]rune("$$$`~\\\n a1_{}bé|>"))).Draw(t, "source")
		text, formulas := protectMath(source)
		for _, f := range formulas {
			text = strings.Replace(text, placeholder.FindString(text), f.tex, 1)
		}
		bare := func(s string) string { return strings.ReplaceAll(s, "$", "") }
		if bare(text) != bare(source) {
			t.Fatalf("%q became %q with %+v", source, text, formulas)
		}
	})
}

func TestMarkdown(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "dot.svg"), []byte("<svg/>"), 0o644); err != nil {
		t.Fatal(err)
	}
	attachments := map[string]any{"pic.png": map[string]any{"image/png": []any{"iVBORw\n", "0KGgo="}}}
	for source, want := range map[string]string{
		"so $a_i$ and $b_i$":                      `<p>so <span class="math">a_i</span> and <span class="math">b_i</span></p>`,
		"is bound ($\\alpha = C$), then":          `is bound <span class="glue">(<span class="math">\alpha = C</span>),</span> then`,
		"so $" + strings.Repeat("x+", 20) + "1$.": `so <span class="math">x+x`,
		"$$a<b$$":                            `<span class="math display">a&lt;b</span>`,
		"| a | b |\n|---|--:|\n| 1 | 2 |":    `<td style="text-align:right">2</td>`,
		"## Part two":                        `<h2 id="Part-two">Part two</h2>`,
		"# $a < b$ \"&\" `x` *y* & <z> &lt;": `<h1 id="$a-&lt;-b$-&quot;&amp;&quot;-x-y-&amp;-&lt;z&gt;-&lt;"><span class="math">a &lt; b</span>`,
		"## What $C$ does":                   `<h2 id="What-$C$-does">What <span class="math">C</span> does</h2>`,
		"[$C$](#What-$C$-does)":              `<a href="#What-$C$-does"><span class="math">C</span></a>`,
		"![a $b$](c.png \"$<d$\")":           `<img src="c.png" alt="a $b$" title="$&lt;d$">`,
		"[a](b.html?$c$)":                    `<a href="b.html?$c$">a</a>`,
		"[next](02-more.ipynb#Part)":         `<a href="02-more.html#Part">next</a>`,
		"[far](https://a.b/c.ipynb)":         `<a href="https://a.b/c.ipynb">far</a>`,
		"![dot](dot.svg)":                    `<img src="data:image/svg+xml;base64,PHN2Zy8+" alt="dot">`,
		"![p](attachment:pic.png)":           `<img src="data:image/png;base64,iVBORw0KGgo=" alt="p">`,
		"![no](missing.png)":                 `<img src="missing.png" alt="no">`,
		"<details>open</details>":            `<details>open</details>`,
		"```go\nfunc f() {}\n```":            `<pre class="code chroma"><code><span class="kd">func</span>`,
		"```\n<plain>\n```":                  `<code>&lt;plain&gt;`,
	} {
		got, _, err := newMarkdown().render(source, dir, attachments)
		if err != nil || !strings.Contains(got, want) {
			t.Errorf("%q gave %q, %v; want %s in it", source, got, err, want)
		}
	}
}

func TestHighlightCell(t *testing.T) {
	for source, want := range map[string]string{
		"x := 1 < 2":            `<span class="nx">x</span> <span class="o">:=</span> <span class="mi">1</span> <span class="p">&lt;</span> <span class="mi">2</span>`,
		"!ls <x>\n%%\nreturn":   "<span class=\"magic\">!ls &lt;x&gt;</span>\n<span class=\"magic\">%%</span>\n<span class=\"k\">return</span>",
		"%%bash\necho $x":       "<span class=\"magic\">%%bash</span>\n<span class=\"nb\">echo</span> <span class=\"nv\">$x</span>",
		"%%writefile a.none\n<": "<span class=\"magic\">%%writefile a.none</span>\n&lt;",
	} {
		// Chroma's name for an operator does not matter here.
		got := strings.ReplaceAll(highlightCell(source, nil), `<span class="o">&lt;`, `<span class="p">&lt;`)
		if got != want {
			t.Errorf("%q gave\n%s\nwant\n%s", source, got, want)
		}
	}
}

func TestANSI(t *testing.T) {
	for source, want := range map[string]string{
		"a<b":                                  "a&lt;b",
		"\x1b[31mred\x1b[0m plain":             `<span class="ansi-red">red</span> plain`,
		"\x1b[1;92mbold\x1b[22m green\x1b[39m": `<span class="ansi-green ansi-bold">bold</span><span class="ansi-green"> green</span>`,
		"\x1b[7m[[ Cell ]]\x1b[m":              `<span class="ansi-inverse">[[ Cell ]]</span>`,
		"\x1b[38;5;208mpalette\x1b[0m":         "palette",
		"\x1b[48;2;1;31;3mrgb":                 "rgb",
		"\x1b[2K\x1b]0;title\x07text":          "text",
	} {
		if got := ansiHTML(source); got != want {
			t.Errorf("%q gave %s, want %s", source, got, want)
		}
		if got := stripANSI(source); strings.Contains(got, "\x1b") {
			t.Errorf("%q stripped to %q", source, got)
		}
	}
}

func TestOverwritten(t *testing.T) {
	for source, want := range map[string]string{
		"plain\n":              "plain\n",
		"10%\r50%\r100%\ndone": "100%\ndone",
		"dos\r\nlines\r\n":     "dos\nlines\n",
		"unfinished\r":         "unfinished",
		"a\rb\r\nc\rd":         "b\nd",
	} {
		if got := overwritten(source); got != want {
			t.Errorf("%q gave %q, want %q", source, got, want)
		}
	}
}

func TestRenderOutputPrefersTheRichest(t *testing.T) {
	for _, test := range []struct {
		name string
		o    *output
		want string
	}{
		{"html", &output{kind: "display_data", data: map[string]any{"text/html": "<b>x</b><script>1</script>", "text/plain": "x", "image/png": "AA=="}},
			"<div class=\"out rich\"><b>x</b>&lt;script>1&lt;/script></div>\n"},
		{"markdown", &output{kind: "display_data", data: map[string]any{"text/markdown": "*x*", "text/plain": "x"}},
			"<div class=\"out text\"><p><em>x</em></p>\n</div>\n"},
		{"svg", &output{kind: "display_data", data: map[string]any{"image/svg+xml": "<svg/>", "image/png": "AA=="}}, "<div class=\"out image\"><img src=\"data:image/svg+xml;base64,PHN2Zy8+\" alt=\"\"></div>\n"},
		{"png", &output{kind: "display_data", data: map[string]any{"image/png": "iVBORw\n0KGgo=\n", "text/plain": "a \"dot\""}},
			"<div class=\"out image\"><img src=\"data:image/png;base64,iVBORw0KGgo=\" alt=\"a &#34;dot&#34;\"></div>\n"},
		{"plain", &output{kind: "execute_result", data: map[string]any{"text/plain": "<4>"}}, "<pre class=\"out stdout\">&lt;4&gt;</pre>\n"},
		{"erased", &output{kind: "display_data", data: map[string]any{"text/html": ""}}, ""},
		{"latex", &output{kind: "display_data", data: map[string]any{"text/latex": "$x<1$"}}, "<div class=\"out text\"><span class=\"math\">x&lt;1</span></div>\n"},
		{"unknown", &output{kind: "display_data", data: map[string]any{"application/x-unknown": "?"}}, ""},
		{"stream", &output{kind: "stream", name: "stderr", text: "10%\r<done>\n"}, "<pre class=\"out stderr\">&lt;done&gt;\n</pre>\n"},
		{"error", &output{kind: "error", traceback: []string{"a", "\x1b[31mb"}}, "<pre class=\"out error\">a\n<span class=\"ansi-red\">b</span></pre>\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, _, err := renderOutput(newMarkdown(), test.o)
			if err != nil || got != test.want {
				t.Errorf("got  %q, %v\nwant %q", got, err, test.want)
			}
		})
	}
}

func TestExportIsSelfContained(t *testing.T) {
	nb, err := readNotebook("testdata/basic.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	page, err := exportHTML(nb, "basic", "testdata")
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	for _, want := range []string{
		"<title>A notebook for the runner&#39;s own tests</title>",
		`<span class="math">0\le\alpha_i\le C</span>`,
		`<span class="math display">\begin{align*}`,
		"a price of $5 and of $6",
		"prefers-color-scheme: dark",
		`@font-face{font-display:block;font-family:KaTeX_AMS;`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if found := regexp.MustCompile(`(src|href)="?(https?:|//|fonts/)[^"> ]*|url\((fonts|http)[^)]*|@import[^;]*`).FindString(text); found != "" {
		t.Errorf("the page asks for %s", found)
	}
	plain, err := exportHTML(code("x"), "no <math>", "")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(plain), "KaTeX") || !strings.Contains(string(plain), "<title>no &lt;math&gt;</title>") {
		t.Error("a page without formulas carries KaTeX, or a wrong title")
	}
}

// The page in a real browser: formulas drawn, scripts of others dead, no errors, nothing
// wider than a telephone.
func TestPageInBrowser(t *testing.T) {
	nb, err := readNotebook("testdata/basic.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	html := func(s string) *output { return &output{kind: "display_data", data: map[string]any{"text/html": s}} }
	nb.cells[len(nb.cells)-1].setOutputs([]*output{
		html(`<i id="live">as it was</i><script>document.getElementById("live").textContent = "changed"</script>`),
		html(`<div style="width: 3000px">wide</div>`),
		{kind: "stream", name: "stdout", text: strings.Repeat("long ", 500)},
	}, 1)
	page, err := exportHTML(nb, "basic", "testdata")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, page, 0o644); err != nil {
		t.Fatal(err)
	}
	_, formulas := protectMath(nb.cells[0].source() + "\n\n" + nb.cells[1].source())
	p := browsertest.Open(t, file, browsertest.Options{Offline: true})
	p.Until(fmt.Sprintf("document.querySelectorAll('.math .katex').length === %d", len(formulas)))
	for _, look := range []browsertest.Options{{}, {Dark: true}, {Width: 400}} {
		p.Look(look)
		var seen struct {
			Broken, Overhang int
			Live, Ink, Page  string
		}
		p.Do(&seen, `const style = getComputedStyle(document.body); return {
			broken: document.querySelectorAll(".katex-error").length,
			overhang: document.documentElement.scrollWidth - document.documentElement.clientWidth,
			live: document.getElementById("live").textContent, ink: style.color, page: style.backgroundColor}`)
		if seen.Broken != 0 || seen.Overhang > 0 || seen.Live != "as it was" || seen.Ink == seen.Page {
			t.Errorf("%+v: the page is %+v", look, seen)
		}
		if light := seen.Page == "rgb(255, 255, 255)"; light == look.Dark {
			t.Errorf("%+v: the background is %s", look, seen.Page)
		}
	}
	if errs := p.Errors(); len(errs) > 0 {
		t.Errorf("errors in the page: %q", errs)
	}
}

func TestHeadingsOfOnePageHaveTheirOwnIDs(t *testing.T) {
	md := newMarkdown()
	var ids []string
	for range 2 {
		page, _, err := md.render("# Part\n\n# Part", "", nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
			ids = append(ids, m[1])
		}
	}
	if got, want := strings.Join(ids, " "), "Part Part-2 Part-3 Part-4"; got != want {
		t.Errorf("ids %s, want %s", got, want)
	}
}
