package main

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"go/doc"
	"html"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/svmnb/svmnb/svmnb/static"
)

// The site is the notebooks and the documents as pages with the same relative addresses,
// and one copy of the files that they share. It can be read from files as well as from a
// server, and needs no network.

var (
	//go:embed site.css
	siteCSS string
	//go:embed site.js
	siteJS string
)

// sitePage is a page of the site.
type sitePage struct {
	source   string // path in the checkout, with slashes
	address  string // path in the site
	title    string
	lead     string // HTML of the first paragraph
	body     string
	math     bool
	leadMath bool
	headings []heading
	links    []siteLink
	of       *doc.Package // the package that the page describes, or nil
}

// siteLink is a link from one page of the site to another, or to itself.
type siteLink struct{ written, to, anchor string }

// site is the state while a site is written into a folder.
type site struct {
	root, out string
	pages     []*sitePage
	problems  []string
	shared    map[string]bool // files that are already written
	library   *library
	living    bool           // whether a page has living figures
	used      map[use]string // for each use of a symbol, the heading below which the notebook first uses it
}

func siteCommand(_ context.Context, s *session, args []string) error {
	if len(args) != 1 {
		return errors.New("site takes one folder, such as site /tmp/svmnb-site")
	}
	w := &site{root: s.root, out: args[0], shared: map[string]bool{}}
	if err := w.write(); err != nil {
		return err
	}
	for _, p := range w.problems {
		fmt.Fprintln(s.stderr, p)
	}
	fmt.Fprintf(s.stdout, "%s\n", filepath.Join(w.out, "index.html"))
	if len(w.problems) > 0 {
		return errReported
	}
	return nil
}

// write writes all pages. Links that lead nowhere are in problems.
func (w *site) write() error {
	if err := w.find(); err != nil {
		return err
	}
	for _, p := range w.pages {
		if err := w.render(p); err != nil {
			return fmt.Errorf("%s: %w", p.source, err)
		}
	}
	w.follow()
	w.addLists()
	for i := range w.pages {
		if err := w.writePage(i); err != nil {
			return err
		}
	}
	return w.writeShared()
}

const readme = "README.md"

// find lists the pages: the README, which is the first page, the playground, the notebooks in order, and the
// documents in the order in which the README names them.
func (w *site) find() error {
	overview, err := os.ReadFile(filepath.Join(w.root, readme))
	if err != nil {
		return err
	}
	place := func(source string) int {
		if i := strings.Index(string(overview), "("+source+")"); i >= 0 {
			return i
		}
		return len(overview)
	}
	for _, pattern := range []string{readme, playground, "notebooks/*.ipynb", "docs/*.md"} {
		found, err := filepath.Glob(filepath.Join(w.root, filepath.FromSlash(pattern)))
		if err != nil {
			return err
		}
		var sources []string
		for _, file := range found {
			rel, err := filepath.Rel(w.root, file)
			if err != nil {
				return err
			}
			sources = append(sources, filepath.ToSlash(rel))
		}
		if strings.HasPrefix(pattern, "docs/") {
			slices.SortStableFunc(sources, func(a, b string) int { return place(a) - place(b) })
		}
		for _, source := range sources {
			p := &sitePage{source: source, address: strings.TrimSuffix(source, path.Ext(source)) + ".html"}
			switch source {
			case readme:
				p.address = "index.html"
			case playground:
				p.address = "playground.html"
			}
			w.pages = append(w.pages, p)
		}
	}
	return w.findPackages()
}

func (w *site) page(source string) *sitePage {
	i := slices.IndexFunc(w.pages, func(p *sitePage) bool { return p.source == source })
	if i < 0 {
		return nil
	}
	return w.pages[i]
}

// render makes the body of a page from its source.
func (w *site) render(p *sitePage) (err error) {
	if p.of != nil {
		w.renderPackage(p)
		return nil
	}
	if p.source == packageList {
		w.renderPackageList(p)
		return nil
	}
	if p.source == playground {
		return w.renderPlayground(p)
	}
	md := newMarkdown()
	md.link = func(dest string) string { return w.link(p, dest) }
	md.picture = func(dest string) (src, sources string) { return w.picture(p, dest) }
	file := filepath.Join(w.root, filepath.FromSlash(p.source))
	first := "" // Markdown of the beginning
	if path.Ext(p.source) == ".ipynb" {
		nb, err := readNotebook(file)
		if err != nil {
			return err
		}
		md.names = w.names(p, md)
		if p.body, p.math, err = renderNotebook(md, nb, filepath.Dir(file)); err != nil {
			return err
		}
		if p.body, err = withPictures(p.body); err != nil {
			return err
		}
		if p.body, err = w.aside(p, p.body); err != nil {
			return err
		}
		if len(nb.cells) > 0 && nb.cells[0].kind() == "markdown" {
			first = nb.cells[0].source()
		}
	} else {
		md.name = githubAnchor
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		first = string(data)
		text, math, err := md.render(first, filepath.Dir(file), nil)
		if err != nil {
			return err
		}
		p.body, p.math = "<section class=\"text\">\n"+inRows(badges.ReplaceAllString(text, ""))+"</section>\n", math
	}
	p.headings = md.headings
	p.title = path.Base(p.source)
	if len(p.headings) > 0 {
		p.title = stripMath(p.headings[0].text)
	}
	plain := newMarkdown()
	plain.link = func(dest string) string {
		if strings.Contains(dest, "://") {
			return dest
		}
		return p.address // the first page, which shows this paragraph, is in another folder
	}
	p.lead, p.leadMath, err = plain.render(firstParagraph(first), "", nil)
	return err
}

// picture returns the address of an image in the site, and sources for readers whom another file
// suits better. For moving.gif these are moving-dark.gif, and moving-still.png and
// moving-dark-still.png for readers who want nothing to move.
func (w *site) picture(p *sitePage, dest string) (src, sources string) {
	source := path.Join(path.Dir(p.source), dest)
	base := strings.TrimSuffix(source, path.Ext(source))
	for _, twin := range []struct{ source, media string }{
		{base + "-dark-still.png", "(prefers-reduced-motion: reduce) and (prefers-color-scheme: dark)"},
		{base + "-still.png", "(prefers-reduced-motion: reduce)"},
		{base + "-dark" + path.Ext(source), "(prefers-color-scheme: dark)"},
	} {
		if copied, err := w.copyFile(twin.source); err == nil {
			sources += fmt.Sprintf(`<source media="%s" srcset="%s">`, twin.media, relative(p.address, copied))
		}
	}
	return w.link(p, dest), sources
}

// inside matches an image that is a part of the page.
var inside = regexp.MustCompile(`<img ([^>]*)src="data:image/(png|svg\+xml);base64,([A-Za-z0-9+/=]+)"`)

// aside writes the large images of a page into files, which a browser loads when a reader comes to
// them. Where scripts run, a chart takes the place of its image, which is then never loaded.
func (w *site) aside(p *sitePage, body string) (_ string, err error) {
	body = inside.ReplaceAllStringFunc(body, func(image string) string {
		m := inside.FindStringSubmatch(image)
		data, e := base64.StdEncoding.DecodeString(m[3])
		if e != nil || len(data) < 2000 {
			return image
		}
		hash := sha256.Sum256(data)
		address := fmt.Sprintf("assets/pictures/%x.%s", hash[:8], strings.TrimSuffix(m[2], "+xml"))
		if !w.shared[address] {
			err = errors.Join(err, w.put(address, data))
		}
		return fmt.Sprintf(`<img loading="lazy" %ssrc="%s"`, m[1], relative(p.address, address))
	})
	return body, err
}

var (
	// badges matches images from elsewhere, which a site that needs no network leaves out.
	badges = regexp.MustCompile(`<p>(\s*(<a [^>]*>)?<img src="https:[^>]*>(</a>)?)+\s*</p>\n`)

	// captioned matches a line of code and the picture that it makes.
	captioned = regexp.MustCompile(`<p>(<code>[^\n]*</code>)</p>\n<p>(<picture>[^\n]*</picture>)</p>\n`)
	figureRun = regexp.MustCompile(`(<figure>[^\n]*</figure>\n)+`)
)

// inRows puts pictures that follow one another, each with its line of code, into rows.
func inRows(text string) string {
	text = captioned.ReplaceAllString(text, "<figure><figcaption>$1</figcaption>$2</figure>\n")
	return figureRun.ReplaceAllString(text, "<div class=\"figures\">\n$0</div>\n")
}

// firstParagraph returns the first paragraph after the title.
func firstParagraph(source string) string {
	for part := range strings.SplitSeq(strings.TrimSpace(source), "\n\n") {
		if part = strings.TrimSpace(part); part != "" && !strings.HasPrefix(part, "#") && !strings.HasPrefix(part, "<") {
			return part
		}
	}
	return ""
}

// githubAnchor returns the anchor by which links in Markdown files refer to a heading.
func githubAnchor(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r), unicode.IsNumber(r), r == '-', r == '_':
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// link returns the link in the site for a link in a source: to another page, or to a copy
// of a file of the checkout.
func (w *site) link(p *sitePage, dest string) string {
	u, err := url.Parse(dest)
	if err != nil || u.Scheme != "" || u.Host != "" {
		return dest
	}
	if u.Path == "" {
		p.links = append(p.links, siteLink{dest, p.source, u.Fragment})
		return dest
	}
	source := path.Join(path.Dir(p.source), u.Path)
	if to := w.page(source); to != nil {
		p.links = append(p.links, siteLink{dest, source, u.Fragment})
		u.Path = relative(p.address, to.address)
		return u.String()
	}
	copied, err := w.copyFile(source)
	if err != nil {
		w.problems = append(w.problems, fmt.Sprintf("%s links to %s: %v", p.source, dest, err))
		return dest
	}
	return relative(p.address, copied)
}

// copyFile copies a file of the checkout and returns its address. If a browser would not
// show the file, the address ends in .txt.
func (w *site) copyFile(source string) (string, error) {
	if !filepath.IsLocal(filepath.FromSlash(source)) {
		return "", errors.New("it is outside of the checkout")
	}
	address := source
	if !slices.Contains([]string{".png", ".svg", ".jpg", ".gif", ".txt", ".html", ".pdf"}, path.Ext(source)) {
		address += ".txt"
	}
	if w.shared[address] {
		return address, nil
	}
	data, err := os.ReadFile(filepath.Join(w.root, filepath.FromSlash(source)))
	if errors.Is(err, fs.ErrNotExist) {
		return "", errors.New("there is no such file")
	}
	if err != nil {
		return "", err
	}
	return address, w.put(address, data)
}

func (w *site) put(address string, data []byte) error {
	w.shared[address] = true
	file := filepath.Join(w.out, filepath.FromSlash(address))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return writeFile(file, data)
}

// relative returns the link from one address of the site to another.
func relative(from, to string) string {
	return strings.Repeat("../", strings.Count(from, "/")) + to
}

// follow checks that the anchors exist to which pages link.
func (w *site) follow() {
	for _, p := range w.pages {
		for _, l := range p.links {
			to := w.page(l.to)
			if l.anchor != "" && !slices.ContainsFunc(to.headings, func(h heading) bool { return h.id == l.anchor }) &&
				!strings.Contains(to.body, ` id="`+html.EscapeString(l.anchor)+`"`) {
				w.problems = append(w.problems, fmt.Sprintf("%s links to %s: %s has no such heading", p.source, l.written, l.to))
			}
		}
	}
}

func (w *site) writePage(i int) error {
	p := w.pages[i]
	turn := ""
	if i > 0 {
		turn += fmt.Sprintf(`<a rel="prev" href="%s">%s</a>`, relative(p.address, w.pages[i-1].address), html.EscapeString(w.pages[i-1].title))
	}
	if i+1 < len(w.pages) {
		turn += fmt.Sprintf(`<a rel="next" href="%s">%s</a>`, relative(p.address, w.pages[i+1].address), html.EscapeString(w.pages[i+1].title))
	}
	nav := func(label string) string {
		return "<nav class=\"turn\" aria-label=\"" + label + "\">" + turn + "</nav>\n"
	}
	return w.frame(p.address, p.title, p.math, nav("Pages before and after")+p.contents()+p.body+nav("Pages before and after, at the end"))
}

// contents returns the headings of the page as links: beside a wide page, and folded on a narrow
// one. Short pages have none.
func (p *sitePage) contents() string {
	list := ""
	for _, h := range p.headings {
		if h.level == 2 || h.level == 3 && len(p.headings) < 30 {
			list += fmt.Sprintf("<li class=\"level%d\"><a href=\"#%s\">%s</a></li>\n", h.level, html.EscapeString(url.PathEscape(h.id)), html.EscapeString(stripMath(h.text)))
		}
	}
	if strings.Count(list, "<li") < 3 {
		return ""
	}
	return "<nav class=\"contents\" aria-label=\"On this page\"><details><summary>On this page</summary>\n<ul>\n" + list + "</ul></details></nav>\n"
}

// addLists adds the lists of all notebooks and documents to the first page.
func (w *site) addLists() {
	first := w.page(readme)
	var notebooks, documents strings.Builder
	for _, p := range w.pages {
		item := fmt.Sprintf("<a href=\"%s\">%s</a>", p.address, html.EscapeString(p.title))
		if strings.HasSuffix(p.source, ".ipynb") {
			fmt.Fprintf(&notebooks, "<li>%s\n%s</li>\n", item, p.lead)
			first.math = first.math || p.leadMath
		} else if p.of == nil && p != first {
			fmt.Fprintf(&documents, "<li>%s</li>\n", item)
		}
	}
	first.body += "<section class=\"text\">\n<h2 id=\"notebooks\">The notebooks in turn</h2>\n<ol class=\"pages\">\n" + notebooks.String() +
		"</ol>\n<h2 id=\"documents\">All documents</h2>\n<ul>\n" + documents.String() + "</ul>\n</section>\n"
	first.headings = append(first.headings, heading{2, "notebooks", "The notebooks in turn"}, heading{2, "documents", "All documents"})
}

// frame writes a page with the parts that all pages have.
func (w *site) frame(address, title string, math bool, body string) error {
	to := func(name string) string { return relative(address, name) }
	head, tail, reference := "", "", ""
	if w.page(playground) != nil {
		reference = fmt.Sprintf("<a href=\"%s\">Playground</a>", to("playground.html"))
	}
	if w.page(packageList) != nil {
		reference += fmt.Sprintf("<a href=\"%s\">Reference</a>", to(w.page(packageList).address))
	}
	if math {
		head = fmt.Sprintf("<link rel=\"stylesheet\" href=\"%s\">\n", to("assets/katex.css"))
		tail = fmt.Sprintf("<script src=\"%s\"></script>\n", to("assets/katex.js"))
	}
	if hasCharts(body) {
		tail += fmt.Sprintf("<script src=\"%s\"></script>\n", to("assets/echarts.js"))
	}
	if hasLiving(body) {
		w.living = true // site.js loads living.js when a reader touches a figure
	}
	// 'self' allows the site's own files if it is read from a server, file: if it is read
	// from files.
	page := fmt.Sprintf(pageHead, policyMeta(body, "'self'", "file:"), html.EscapeString(title)) +
		fmt.Sprintf("<link rel=\"stylesheet\" href=\"%s\">\n%s</head>\n<body>\n", to("assets/site.css"), head) +
		fmt.Sprintf("<header class=\"site\"><a href=\"%s\">svmnb</a>%s<div class=\"search\"><input type=\"search\" placeholder=\"Search\" aria-label=\"Search the site\" autocomplete=\"off\"><ol hidden></ol></div></header>\n", to("index.html"), reference) +
		"<main>\n" + body + "</main>\n" + tail +
		fmt.Sprintf("<script src=\"%s\" data-root=\"%s\"></script>\n</body>\n</html>\n", to("assets/site.js"), to(""))
	return w.put(address, []byte(page))
}

var (
	proseSection = regexp.MustCompile(`(?s)<section class="text">(.*?)</section>`)
	sectionStart = regexp.MustCompile(`<h[1-6][^>]*? id="([^"]*)"[^>]*>(.*?)</h[1-6]>`)
	unread       = regexp.MustCompile(`(?s)<(pre|script|style|svg)\b.*?</(pre|script|style|svg)>`)
	anyTag       = regexp.MustCompile(`<[^>]*>`)
)

// sections returns the text of all pages for the search, from one heading to the next: the
// index of the page, the anchor, the heading, and the text without code.
func (w *site) sections() [][4]any {
	plain := func(part string) string {
		return strings.Join(strings.Fields(html.UnescapeString(anyTag.ReplaceAllString(unread.ReplaceAllString(part, " "), " "))), " ")
	}
	all := [][4]any{}
	for k, p := range w.pages {
		body := p.body
		if prose := proseSection.FindAllStringSubmatch(body, -1); prose != nil && p.of == nil {
			body = ""
			for _, s := range prose {
				body += s[1] + "\n"
			}
		}
		heads := sectionStart.FindAllStringSubmatchIndex(body, -1)
		from, anchor, heading := 0, "", p.title
		add := func(to int) {
			if text := plain(body[from:to]); text != "" {
				all = append(all, [4]any{k, anchor, heading, text})
			}
		}
		for _, h := range heads {
			add(h[0])
			from, anchor, heading = h[1], html.UnescapeString(body[h[2]:h[3]]), stripMath(plain(body[h[4]:h[5]]))
		}
		add(len(body))
	}
	return all
}

// writeShared writes styles, scripts, fonts, and the headings and the text for the search.
func (w *site) writeShared() error {
	type entry struct {
		Page     string     `json:"page"`
		Title    string     `json:"title"`
		Headings [][]string `json:"headings"` // text, and the anchor if it is different
	}
	entries := []entry{}
	for _, p := range w.pages {
		e := entry{p.address, p.title, [][]string{}}
		for _, h := range p.headings {
			text := []string{stripMath(h.text), h.id}
			if h.id == text[0] {
				text = text[:1]
			}
			e.Headings = append(e.Headings, text)
		}
		entries = append(entries, e)
	}
	headings, err := json.Marshal(entries)
	if err != nil {
		return err
	}
	text, err := json.Marshal(w.sections())
	if err != nil {
		return err
	}
	if w.living {
		if err := w.putLiving(context.Background()); err != nil {
			return err
		}
	}
	style, err := katexCSS(func(font string) (string, error) {
		data, err := katex.ReadFile("katex/" + font)
		return "fonts/" + font, errors.Join(err, w.put("assets/fonts/"+font, data))
	})
	script, errScript := katexScript()
	failed := errors.Join(err, errScript)
	for address, text := range map[string]string{
		"assets/site.css":   pageCSS + chromaCSS() + siteCSS,
		"assets/katex.css":  style,
		"assets/katex.js":   script,
		"assets/echarts.js": strings.TrimSuffix(strings.TrimPrefix(static.Library(), "<script>"), "</script>"),
		"assets/search.js":  "window.svmnbSections = " + string(text),
		"assets/site.js":    strings.Replace(siteJS, "HEADINGS", string(headings), 1),
	} {
		failed = errors.Join(failed, w.put(address, []byte(text)))
	}
	return failed
}
