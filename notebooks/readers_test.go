package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/internal/browsertest"
	"github.com/svmnb/svmnb/svmnb/static"
)

// readers are pages that treat the outputs of a notebook as other programs do, as far as their
// sources and documents say. They are no substitute for the programs.
var readers = map[string]string{
	// VS Code puts the HTML into a web view with this policy, and runs its scripts one by one
	// (extensions/notebook-renderers/src/index.ts, domEval).
	"vscode": `<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src https: http: data:; font-src https:; connect-src https:; child-src https: data:;">
<body class="vscode-dark" style="background: #1f1f1f; color: #ccc"><script type="application/json" id="outputs">OUTPUTS</script><script>
JSON.parse(document.getElementById('outputs').textContent).forEach(function (html) {
	var out = document.createElement('div');
	out.className = 'output';
	out.innerHTML = html;
	document.body.appendChild(out);
	Array.from(out.getElementsByTagName('script')).forEach(function (node) {
		var script = document.createElement('script');
		script.text = node.innerText;
		for (var a of ['type', 'src', 'nonce']) if (node[a]) script.setAttribute(a, node[a]);
		node.parentNode.replaceChild(script, node);
	});
});
</script>`,
	// GitHub keeps a list of elements and attributes (html-pipeline, sanitization_filter.rb).
	"github": `<!doctype html><meta charset="utf-8"><body><script type="application/json" id="outputs">OUTPUTS</script><script>
var elements = ('h1 h2 h3 h4 h5 h6 br b i strong em a pre code img tt div ins del sup sub p picture ol ul table thead tbody tfoot blockquote dl dt dd kbd q samp var hr ruby rt rp li tr td th s strike summary details caption figure figcaption abbr bdo cite dfn mark small source span time wbr').split(' ');
var attributes = 'abbr accept align alt border cellpadding cellspacing cols colspan dir disabled height href hspace ismap label lang name open rows rowspan src start summary tabindex target title type valign value vspace width'.split(' ');
function clean(node) {
	Array.from(node.children).forEach(function (e) {
		if (e.localName === 'script' || e.localName === 'style') return e.remove();
		clean(e);
		if (elements.indexOf(e.localName) < 0) return e.replaceWith.apply(e, Array.from(e.childNodes));
		Array.from(e.attributes).forEach(function (a) { if (attributes.indexOf(a.name) < 0) e.removeAttribute(a.name); });
	});
}
JSON.parse(document.getElementById('outputs').textContent).forEach(function (html) {
	var page = new DOMParser().parseFromString(html, 'text/html');
	clean(page.body);
	var out = document.createElement('div');
	out.className = 'output';
	out.append.apply(out, Array.from(page.body.childNodes));
	document.body.appendChild(out);
});
</script>`,
}

// The executed tour as VS Code and GitHub show it: figures that can be touched where scripts
// run, and pictures of them where none may.
func TestTourInEmulatedReaders(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("needs the real kernel, which -short leaves out")
	}
	ran, err := ranTour()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, tour)
	if err := ran.write(file); err != nil {
		t.Fatal(err)
	}
	nb, err := readNotebook(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := fillFigures(t.Context(), nb, static.Options{}); err != nil {
		t.Fatal(err)
	}
	var outputs []string
	for _, c := range codeCells(nb) {
		outs, err := c.outputs()
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range outs {
			if html, ok := o.data["text/html"].(string); ok {
				outputs = append(outputs, html)
			}
		}
	}
	titles := charts(t, nb)
	data, err := json.Marshal(outputs)
	if err != nil {
		t.Fatal(err)
	}
	open := func(name string) *browsertest.Page {
		file := filepath.Join(dir, name+".html")
		text := strings.Replace(readers[name], "OUTPUTS", strings.ReplaceAll(string(data), "</", `<\/`), 1)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return browsertest.Open(t, file, browsertest.Options{Offline: true})
	}
	code := open("vscode")
	checkCharts(t, code, titles)
	photograph(t, code, "vscode", browsertest.Options{})

	hub := open("github")
	var seen struct {
		Scripts, Pictures, Broken int
		Alts                      []string
		Words                     string
	}
	hub.Until(`Array.from(document.querySelectorAll('.output img')).every(e => e.complete)`)
	hub.Do(&seen, `const all = Array.from(document.querySelectorAll('.output img'));
		return {scripts: document.querySelectorAll('.output script, .output style').length, pictures: all.length, broken: all.filter(e => e.naturalWidth < 300).length,
			alts: all.map(e => e.alt), words: document.body.innerText}`)
	if seen.Scripts > 0 || seen.Pictures != len(titles) || seen.Broken > 0 {
		t.Errorf("%d scripts, %d pictures of %d charts, %d broken", seen.Scripts, seen.Pictures, len(titles), seen.Broken)
	}
	for i, alt := range seen.Alts {
		if !strings.Contains(alt, titles[i]) {
			t.Errorf("picture %d is described by %q, want %q in it", i+1, alt, titles[i])
		}
	}
	photograph(t, hub, "github", browsertest.Options{})
}

// The table of front ends names tests that exist.
func TestFrontEndsNameTests(t *testing.T) {
	page, err := os.ReadFile("../docs/front-ends.md")
	if err != nil {
		t.Fatal(err)
	}
	var sources strings.Builder
	for _, pattern := range []string{"*_test.go", "../svmnb/*_test.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			sources.Write(text)
		}
	}
	named := regexp.MustCompile("`(Test[A-Za-z]+)(?:/([A-Za-z0-9_]+))?`").FindAllStringSubmatch(string(page), -1)
	if len(named) < 30 {
		t.Errorf("the page names %d tests", len(named))
	}
	for _, m := range named {
		if !strings.Contains(sources.String(), "func "+m[1]+"(t *testing.T)") {
			t.Errorf("there is no %s", m[1])
		}
		if part := strings.ReplaceAll(m[2], "_", " "); part != "" && !strings.Contains(sources.String(), `{"`+part+`", in`) {
			t.Errorf("%s has no part %q", m[1], part)
		}
	}
}
