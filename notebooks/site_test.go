package main

import (
	"bytes"
	"errors"
	"html"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/svmnb/svmnb/internal/browsertest"
	"github.com/svmnb/svmnb/internal/jslint"
)

var (
	scripts    = regexp.MustCompile(`(?s)<script>.*?</script>`)
	references = regexp.MustCompile(`(?:href|src|srcset)="([^"]*)"|url\(([^)]*)\)`)
	ids        = regexp.MustCompile(`\bid="([^"]*)"`)
)

// TestSite writes the site of this checkout and follows every link in it.
func TestSite(t *testing.T) {
	out := filepath.Join(t.TempDir(), "site")
	var stdout, stderr bytes.Buffer
	if err := command(t.Context(), []string{"site", out}, &stdout, &stderr); err != nil || stdout.String() != filepath.Join(out, "index.html")+"\n" {
		t.Fatalf("%v, %q\n%s", err, stdout.String(), stderr.String())
	}
	texts, anchors := map[string]string{}, map[string]map[string]bool{}
	err := filepath.WalkDir(out, func(file string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(file)
		texts[file], anchors[file] = string(data), map[string]bool{}
		for _, id := range ids.FindAllStringSubmatch(texts[file], -1) {
			anchors[file][html.UnescapeString(id[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	followed, pages, libraries := 0, 0, 0
	for file, text := range texts {
		if filepath.Base(file) == "echarts.js" {
			libraries++
		}
		if ext := filepath.Ext(file); ext != ".html" && ext != ".css" {
			continue
		} else if ext == ".html" {
			pages++
		}
		if strings.Contains(text, "function svmnb(w, packed)") {
			t.Errorf("%s carries the drawing library itself", file)
		}
		for _, m := range references.FindAllStringSubmatch(scripts.ReplaceAllString(text, ""), -1) {
			u, err := url.Parse(html.UnescapeString(m[1] + m[2]))
			if err != nil {
				t.Errorf("%s: %v", file, err)
				continue
			}
			if u.Scheme == "data" || u.Scheme == "https" && strings.HasPrefix(m[0], "href") {
				continue
			}
			target := file
			if u.Path != "" {
				target = filepath.Join(filepath.Dir(file), filepath.FromSlash(u.Path))
			}
			followed++
			if there := anchors[target]; u.Scheme != "" || there == nil {
				t.Errorf("%s leads to %s, which is not there", file, m[0])
			} else if place, _, _ := strings.Cut(u.Fragment, "="); place != "" && !there[u.Fragment] && !there[place] { // #name=… is a state of a living figure
				t.Errorf("%s leads to %s, which has no such place", file, m[0])
			}
		}
	}
	notebooks, _ := filepath.Glob("*.ipynb")
	if pages < len(notebooks)+5 || followed < 5*pages || libraries != 1 {
		t.Errorf("%d pages, %d links, %d drawing libraries", pages, followed, libraries)
	}
	if strings.Contains(texts[filepath.Join(out, "docs", "CONTRIBUTING.html")], "katex") || !strings.Contains(texts[filepath.Join(out, "notebooks", strings.TrimSuffix(tour, ".ipynb")+".html")], "katex.js") {
		t.Error("KaTeX is not just where formulas are")
	}
}

func TestSiteNamesBrokenLinks(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text := func(source string) string {
		nb := code()
		nb.raw["cells"] = []any{map[string]any{"cell_type": "markdown", "id": "a", "metadata": map[string]any{}, "source": source}}
		data, err := nb.encode()
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	write("go.mod", "module "+modulePath+"\n")
	write("README.md", "# Root\n\nLead with $x$ and [b](docs/b.md).\n\n[math](docs/a.md#what-c-does) [none](docs/none.md) [out](../secret) [code](code/x.go) [here](#root) [nowhere](#nowhere)\n")
	write("docs/a.md", "# A\n\n## What *C* does\n\n[book](../notebooks/01.ipynb#What-$C$-does) [old](../notebooks/01.ipynb#what-c-does)\n")
	write("docs/b.md", "# B\n")
	write("docs/c.md", "# C\n\n![badge](https://example.com/a.svg) [![two](https://example.com/b.svg)](b.md)\n\n`draw()`\n\n![a picture](b.gif)\n\n`more()`\n\n![another](d.svg)\n")
	for _, name := range []string{"b.gif", "b-dark.gif", "b-still.png", "b-dark-still.png", "d.svg"} {
		write("docs/"+name, name)
	}
	write("code/x.go", "package x\n")
	write("notebooks/01.ipynb", text("# One\n\nGoal.\n\n## What $C$ does\n\n[next](02.ipynb) [doc](../docs/a.md) [far](https://example.com/x.ipynb)"))
	write("notebooks/02.ipynb", text("# Two <b>"))
	write("notebooks/solutions/01.md", "## Exercise 1.1\n")
	w := &site{root: root, out: t.TempDir(), shared: map[string]bool{}}
	if err := w.write(); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"README.md links to docs/none.md: ", "README.md links to ../secret: it is outside",
		"README.md links to #nowhere: README.md has no such heading", "docs/a.md links to ../notebooks/01.ipynb#what-c-does: notebooks/01.ipynb has no such heading",
	}
	if len(w.problems) != len(want) {
		t.Errorf("%d problems: %q", len(w.problems), w.problems)
	}
	for _, part := range want {
		if !slices.ContainsFunc(w.problems, func(p string) bool { return strings.HasPrefix(p, part) }) {
			t.Errorf("%q does not say %q", w.problems, part)
		}
	}
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(w.out, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	for name, want := range map[string]string{
		"index.html":        "<p>Lead with <span class=\"math\">x</span> and <a href=\"docs/b.html\">b</a>.</p>\n<p><a href=\"docs/a.html#what-c-does\">math</a>",
		"docs/a.html":       `<a href="../notebooks/01.html#What-$C$-does">book</a>`,
		"notebooks/01.html": `<a href="../notebooks/02.html">next</a> <a href="../docs/a.html">doc</a> <a href="https://example.com/x.ipynb">far</a>`,
		"notebooks/02.html": `<nav class="turn" aria-label="Pages before and after"><a rel="prev" href="../notebooks/01.html">One</a><a rel="next" href="../docs/b.html">B</a></nav>`,
		"docs/b.html":       `<a rel="prev" href="../notebooks/02.html">Two</a><a rel="next" href="../docs/a.html">A</a>`, // README names b first
		"code/x.go.txt":     "package x",
		"docs/c.html": "<h1 id=\"c\">C</h1>\n<div class=\"figures\">\n<figure><figcaption><code>draw()</code></figcaption><picture>" +
			`<source media="(prefers-reduced-motion: reduce) and (prefers-color-scheme: dark)" srcset="../docs/b-dark-still.png"><source media="(prefers-reduced-motion: reduce)" srcset="../docs/b-still.png">` +
			`<source media="(prefers-color-scheme: dark)" srcset="../docs/b-dark.gif"><img src="../docs/b.gif" alt="a picture" loading="lazy"></picture></figure>` + "\n" +
			`<figure><figcaption><code>more()</code></figcaption><picture><img src="../docs/d.svg" alt="another" loading="lazy"></picture></figure>`,
	} {
		if !strings.Contains(read(name), want) {
			t.Errorf("%s lacks %s:\n%s", name, want, read(name))
		}
	}
	if _, err := os.Stat(filepath.Join(w.out, "notebooks", "solutions")); err == nil {
		t.Error("the site has the solutions")
	}
	for _, args := range [][]string{{"site"}, {"site", "a", "b"}} {
		if err := command(t.Context(), args, io.Discard, io.Discard); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}

// accessibility returns a check of a page by axe-core, whose script the variable SVMNB_AXE names.
// It reports the faults that axe calls serious or critical. Formulas, charts, code and contrasts
// take most of its time, and are made in the same way on all pages. So only the check of a whole
// page looks at them. Any other check first removes them, and changes the page by this.
func accessibility(t *testing.T) func(p *browsertest.Page, address string, whole bool) {
	script, err := os.ReadFile(os.Getenv("SVMNB_AXE"))
	if err != nil {
		t.Log("axe-core does not check the pages: SVMNB_AXE names no script")
		return func(*browsertest.Page, string, bool) {}
	}
	return func(p *browsertest.Page, address string, whole bool) {
		t.Helper()
		if !whole {
			p.Do(nil, `document.querySelectorAll('pre').forEach(e => e.replaceChildren(e.textContent))
				document.querySelectorAll('[data-drawn] svg').forEach(e => e.replaceChildren())
				const formulas = Array.from(document.querySelectorAll('.math'), e => [e, e.getBoundingClientRect()]) // whose size decides what scrolls
				for (const [e, r] of formulas) {
					e.replaceChildren('formula')
					Object.assign(e.style, {display: 'inline-block', overflow: 'clip', width: r.width + 'px', height: r.height + 'px'})
				}`)
		}
		p.Do(nil, string(script))
		var faults []string
		p.Do(&faults, `return axe.run(document, {resultTypes: ['violations'], preload: false, rules: {'color-contrast': {enabled: `+strconv.FormatBool(whole)+`}}}).then(r => r.violations.filter(v => v.impact === 'serious' || v.impact === 'critical')
			.map(v => v.id + ', ' + v.nodes.length + ' times: ' + v.nodes[0].html.slice(0, 200) + ' ' + v.nodes[0].failureSummary.slice(0, 300)))`)
		for _, f := range faults {
			t.Errorf("%s: %s", address, f)
		}
	}
}

// writtenSite is the site of this checkout, in a folder that the tests share and do not change.
// TestSite writes its own.
var writtenSite = sync.OnceValues(func() (*site, error) {
	root, err := filepath.Abs("..")
	if err != nil {
		return nil, err
	}
	out := filepath.Join(shared, "site")
	w := &site{root: root, out: out, shared: map[string]bool{}}
	return w, errors.Join(os.Mkdir(out, 0o755), w.write())
})

// The site as a reader has it: from files, on a desk and on a telephone.
func TestSiteInBrowser(t *testing.T) {
	t.Parallel()
	w, err := writtenSite()
	if err != nil { // broken links are the business of TestSite
		t.Fatal(err)
	}
	out := w.out
	nb, err := readNotebook(tour)
	if err != nil {
		t.Fatal(err)
	}
	titles := charts(t, nb)
	name := strings.TrimSuffix(tour, ".ipynb") + ".html"
	p := browsertest.Open(t, filepath.Join(out, "index.html"), browsertest.Options{Offline: true})
	visit := func(address string) {
		t.Helper()
		if err := p.Navigate("file://" + filepath.ToSlash(filepath.Join(out, filepath.FromSlash(address)))); err != nil {
			t.Fatal(err)
		}
		p.Until(`document.readyState === 'complete' && document.querySelectorAll('.math:not(:has(.katex))').length === 0`)
	}
	fits := func(address string, look browsertest.Options) {
		t.Helper()
		var seen struct{ Broken, Overhang int }
		p.Do(&seen, `return {broken: document.querySelectorAll('.katex-error').length,
			overhang: document.documentElement.scrollWidth - document.documentElement.clientWidth}`)
		if seen.Broken > 0 || seen.Overhang > 0 {
			t.Errorf("%s, %+v: %+v", address, look, seen)
		}
		photograph(t, p, "site-"+strings.ReplaceAll(strings.TrimSuffix(address, ".html"), "/", "-")+map[bool]string{true: "-dark"}[look.Dark], look)
	}
	visit("notebooks/" + name)
	for _, look := range []browsertest.Options{{}, {Dark: true, Width: 400}} { // TestTourPage has the others
		p.Look(look)
		scheme := map[bool]string{false: "light", true: "dark"}[look.Dark]
		p.Until(`document.querySelectorAll('[data-drawn]').length > 0 && Array.from(document.querySelectorAll('[data-drawn]')).every(e => e.getAttribute('data-drawn') === '` + scheme + `')`)
		checkCharts(t, p, titles)
		fits("notebooks/"+name, look)
	}
	audit := accessibility(t)
	// These have every kind of content and all colours, so they are checked whole.
	whole := []string{"index.html", "docs/gallery.html", "docs/math.html", "reference/svmnb/gp.html", "notebooks/" + name}
	for i, page := range w.pages {
		address := page.address
		// All pages of the reference are made in the same way, so a third of them is enough.
		if strings.HasPrefix(address, "reference/") && i%3 > 0 && !slices.Contains(whole, address) {
			continue
		}
		errors := len(p.Errors())
		look := browsertest.Options{Width: 400, Dark: i%2 == 1}
		p.Look(look)
		visit(address)
		fits(address, look)
		audit(p, address, slices.Contains(whole, address))
		if errs := p.Errors()[errors:]; len(errs) > 0 {
			t.Errorf("%s: errors %q", address, errs)
		}
	}

	// The search finds a heading of another page and leads there.
	visit("docs/math.html")
	var found []string
	p.Do(&found, `const input = document.querySelector('.search input')
		input.value = 'MARGIN  first'; input.dispatchEvent(new Event('input'))
		return Array.from(document.querySelectorAll('.search li a'), a => a.href)`)
	if len(found) == 0 || !strings.HasSuffix(found[0], "/notebooks/"+name+"#A-first-margin") {
		t.Fatalf("the search finds %q", found)
	}
	p.Do(nil, `document.querySelector('.search li a').click()`)
	p.Until(`location.pathname.endsWith('` + name + `') && document.querySelector(':target')?.textContent === 'A first margin'`)
	var none string
	p.Do(&none, `const input = document.querySelector('.search input')
		input.value = 'nosuchword'; input.dispatchEvent(new Event('input'))
		return document.querySelector('.search ol').textContent`)
	// Loaded with the first focus, the text of all pages is searched.
	var texts []string
	p.Do(nil, `document.querySelector('.search input').focus()`)
	p.Until(`window.svmnbSections`)
	for _, words := range []string{"mercer", "overfitting", "kernel trick"} {
		p.Do(&texts, `const input = document.querySelector('.search input')
			input.value = `+strconv.Quote(words)+`; input.dispatchEvent(new Event('input'))
			return Array.from(document.querySelectorAll('.search li'), a => a.textContent)`)
		if len(texts) == 0 {
			t.Errorf("nothing is found for %q", words)
		}
	}
	p.Do(&none, `const input = document.querySelector('.search input')
		input.value = 'nosuchword'; input.dispatchEvent(new Event('input'))
		return document.querySelector('.search ol').textContent`)
	if none != "No page has these words." {
		t.Errorf("a search for nothing says %q", none)
	}
}

func TestSiteScriptIsSound(t *testing.T) {
	for _, wrong := range jslint.Check("site.js", siteJS, "HEADINGS") {
		t.Error(wrong)
	}
}
