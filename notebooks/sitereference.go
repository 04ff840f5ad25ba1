package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/format"
	"go/parser"
	"go/printer"
	"go/token"
	"html"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
)

// reference is the page of a package.
type reference struct {
	strings.Builder
	w       *site
	page    *sitePage
	symbols []symbol
}

// symbol is a declaration in the reference.
type symbol struct {
	kind, of string // const, var, func or type; and the type below which it is listed
	title    string // for functions and types
	names    []string
	ids      []*ast.Ident // the identifiers of these names; that of a type is followed by those of its members
	decl     ast.Decl
	doc      string
	examples []*doc.Example
}

// symbols returns the declarations of a package in the order of its page.
func symbols(p *doc.Package) (list []symbol) {
	add := func(s symbol, owner string, ids ...*ast.Ident) {
		for _, id := range ids {
			if id.IsExported() {
				s.names, s.ids = append(s.names, owner+id.Name), append(s.ids, id)
			}
		}
		list = append(list, s)
	}
	values := func(kind, of string, values []*doc.Value) {
		for _, v := range values {
			var ids []*ast.Ident
			for _, spec := range v.Decl.Specs {
				ids = append(ids, spec.(*ast.ValueSpec).Names...)
			}
			add(symbol{kind: kind, of: of, decl: v.Decl, doc: v.Doc}, "", ids...)
		}
	}
	funcs := func(of, owner string, funcs []*doc.Func) {
		for _, f := range funcs {
			add(symbol{kind: "func", of: of, title: owner + f.Name, decl: f.Decl, doc: f.Doc, examples: f.Examples}, owner, f.Decl.Name)
		}
	}
	values("const", "", p.Consts)
	values("var", "", p.Vars)
	funcs("", "", p.Funcs)
	for _, t := range p.Types {
		spec := t.Decl.Specs[0].(*ast.TypeSpec)
		s := symbol{kind: "type", title: t.Name, names: []string{t.Name}, ids: []*ast.Ident{spec.Name}, decl: t.Decl, doc: t.Doc, examples: t.Examples}
		add(s, t.Name+".", members(spec.Type)...)
		values("const", t.Name, t.Consts)
		values("var", t.Name, t.Vars)
		funcs(t.Name, "", t.Funcs)
		funcs(t.Name, t.Name+".", t.Methods)
	}
	return list
}

// members returns the names of the fields of a struct or of the methods of an interface.
func members(expr ast.Expr) (ids []*ast.Ident) {
	var fields *ast.FieldList
	switch t := expr.(type) {
	case *ast.StructType:
		fields = t.Fields
	case *ast.InterfaceType:
		fields = t.Methods
	default:
		return nil
	}
	for _, f := range fields.List {
		if all := idents(f.Type); len(f.Names) == 0 && len(all) > 0 { // an embedded type
			ids = append(ids, all[len(all)-1])
		}
		ids = append(ids, f.Names...)
	}
	return ids
}

// idents returns the names below a node.
func idents(root ast.Node) (ids []*ast.Ident) {
	ast.Inspect(root, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			ids = append(ids, id)
		}
		return true
	})
	return ids
}

// use is a notebook that uses a symbol.
type use struct {
	of place
	in *sitePage
}

// packageList is the source of the page that lists the packages.
const packageList = "reference"

// findPackages adds the page that lists the packages, and a page for each public package.
func (w *site) findPackages() (err error) {
	w.used = map[use]string{}
	if w.library, err = readLibrary(w.root); err != nil || len(w.library.packages) == 0 {
		return err
	}
	w.pages = append(w.pages, &sitePage{source: packageList, address: "reference/index.html", title: "Reference"})
	for _, p := range w.library.packages {
		w.pages = append(w.pages, &sitePage{source: folder(p), address: "reference/" + folder(p) + ".html", title: "Package " + folder(p), of: p})
	}
	return nil
}

// href returns the link from a page to a symbol.
func (w *site) href(from *sitePage, to place) string {
	if from.source == to.folder {
		return "#" + to.name
	}
	return relative(from.address, w.page(to.folder).address) + "#" + to.name
}

// names returns the links of the names in the cells of a notebook, and records that the
// notebook uses these symbols.
func (w *site) names(p *sitePage, md *markdown) func(cell string) map[int]string {
	cells := w.library.cells()
	return func(cell string) map[int]string {
		section := ""
		if n := len(md.headings); n > 0 {
			section = md.headings[n-1].id
		}
		links := map[int]string{}
		for at, to := range cells(cell) {
			links[at] = fmt.Sprintf(`href="%s"`, w.href(p, to))
			if _, ok := w.used[use{to, p}]; !ok {
				w.used[use{to, p}] = section
			}
		}
		return links
	}
}

// renderPackageList makes the page that lists the packages.
func (w *site) renderPackageList(p *sitePage) {
	p.body = "<section class=\"text\">\n<h1>Reference</h1>\n<ul class=\"pages\">\n"
	for _, to := range w.pages {
		if to.of != nil {
			p.body += fmt.Sprintf("<li><a href=\"%s\">%s</a>\n<p>%s</p></li>\n", relative(p.address, to.address), to.source, html.EscapeString(to.of.Synopsis(to.of.Doc)))
		}
	}
	p.body += "</ul>\n</section>\n"
}

// renderPackage makes the page of a package.
func (w *site) renderPackage(p *sitePage) {
	r := &reference{w: w, page: p, symbols: symbols(p.of)}
	fmt.Fprintf(r, "<section class=\"text reference\">\n<h1>%s</h1>\n<pre class=\"code chroma\"><code>%s</code></pre>\n", p.title, highlight("go", fmt.Sprintf("import %q", p.of.ImportPath)))
	r.comment(p.of.Doc)
	r.examples(p.of.Examples)
	r.index()
	titles := map[string]string{"const": "Constants", "var": "Variables", "func": "Functions", "type": "Types"}
	for _, s := range r.symbols {
		if s.of == "" && titles[s.kind] != "" {
			fmt.Fprintf(r, "<h2>%s</h2>\n", titles[s.kind])
			titles[s.kind] = ""
		}
		r.symbol(s)
	}
	r.WriteString("</section>\n")
	p.body = r.String()
}

// index writes the list of symbols with the first sentences of their comments.
func (r *reference) index() {
	list := func(label string, in func(symbol) bool) {
		var links []string
		for _, s := range r.symbols {
			for _, name := range s.names {
				if in(s) && (s.kind != "type" || name == s.title) {
					links = append(links, fmt.Sprintf("<a href=\"#%s\">%s</a>", name, strings.TrimPrefix(name, s.of+".")))
				}
			}
		}
		if len(links) > 0 {
			r.WriteString("<p>" + label + strings.Join(links, ", ") + "</p>\n")
		}
	}
	r.WriteString("<h2 id=\"index\">Index</h2>\n")
	for _, kind := range []string{"const", "var"} {
		list("<small>"+kind+"</small> ", func(s symbol) bool { return s.of == "" && s.kind == kind })
	}
	r.WriteString("<dl>\n")
	for _, s := range r.symbols {
		if s.title != "" && s.of == "" {
			fmt.Fprintf(r, "<dt><small>%s</small> <a href=\"#%s\">%s</a></dt><dd><p>%s</p>\n", s.kind, s.title, s.title, html.EscapeString(r.page.of.Synopsis(s.doc)))
			list("", func(other symbol) bool { return other.of == s.title })
			r.WriteString("</dd>\n")
		}
	}
	r.WriteString("</dl>\n")
}

// symbol writes a declaration with its comment, the lessons that use it, and its examples.
func (r *reference) symbol(s symbol) {
	var used []string
	if s.title != "" {
		level := 3 + min(1, len(s.of))
		fmt.Fprintf(r, "<h%d id=\"%s\"><small>%s</small> %s</h%d>\n", level, s.title, s.kind, s.title, level)
		r.page.headings = append(r.page.headings, heading{level, s.title, s.title})
		used = append(used, r.lessons("", s.names...))
	} else {
		for _, name := range s.names {
			r.page.headings = append(r.page.headings, heading{3, name, name})
			used = append(used, r.lessons(name+" ", name))
		}
	}
	ast.Inspect(s.decl, func(n ast.Node) bool {
		if f, ok := n.(*ast.FuncLit); ok {
			f.Body = &ast.BlockStmt{}
		}
		return true
	})
	r.code(s.decl, nil, s)
	r.comment(s.doc)
	if text := strings.Join(slices.DeleteFunc(used, func(u string) bool { return u == "" }), "; "); text != "" {
		fmt.Fprintf(r, "<p class=\"lessons\">In lessons: %s</p>\n", text)
	}
	r.examples(s.examples)
}

// lessons lists the lessons that use one of the names; "" if there are none.
func (r *reference) lessons(label string, names ...string) string {
	var links []string
	for _, p := range r.w.pages {
		for _, name := range names {
			if section, ok := r.w.used[use{place{r.page.source, name}, p}]; ok {
				links = append(links, fmt.Sprintf("<a href=\"%s#%s\" title=\"%s\">%s</a>",
					relative(r.page.address, p.address), html.EscapeString(url.PathEscape(section)), html.EscapeString(p.title), p.lesson()))
				break
			}
		}
	}
	if len(links) == 0 {
		return ""
	}
	return label + strings.Join(links, ", ")
}

// lesson returns the number with which the file of a notebook begins, or else its title.
func (p *sitePage) lesson() string {
	digits := leadingDigits.FindString(path.Base(p.source))
	if digits == "" {
		return html.EscapeString(p.title)
	}
	return cmp.Or(strings.TrimLeft(digits, "0"), "0")
}

var leadingDigits = regexp.MustCompile(`^[0-9]+`)

// examples writes examples with their output.
func (r *reference) examples(examples []*doc.Example) {
	for _, e := range examples {
		fmt.Fprintf(r, "<p class=\"label\">%s</p>\n", html.EscapeString(strings.TrimSpace("Example "+e.Suffix)))
		r.comment(e.Doc)
		r.code(e.Code, slices.DeleteFunc(slices.Clone(e.Comments), func(c *ast.CommentGroup) bool { return outputComment.MatchString(c.Text()) }), symbol{})
		if e.Output != "" {
			fmt.Fprintf(r, "<pre class=\"out stdout\">%s</pre>\n", html.EscapeString(e.Output))
		}
	}
}

var outputComment = regexp.MustCompile(`(?i)^\s*(unordered )?output:`)

// code writes coloured Go code. Names link to their symbols. The names of symbol s itself
// get anchors, except for the one in the heading.
func (r *reference) code(node ast.Node, comments []*ast.CommentGroup, s symbol) {
	l := r.w.library
	var b strings.Builder
	if err := format.Node(&b, l.fset, &printer.CommentedNode{Node: node, Comments: comments}); err != nil {
		r.problem("%s %s: %v", s.kind, s.title, err)
		return
	}
	text, before, after := b.String(), "package p\n", ""
	switch node.(type) {
	case *ast.File:
		before = ""
	case *ast.BlockStmt:
		text = strings.TrimSpace(strings.ReplaceAll(text[1:len(text)-1], "\n\t", "\n"))
		before, after = before+"func _() {", "\n}"
	}
	// The names in the text are those of the node, in the same order.
	again, _ := parser.ParseFile(token.NewFileSet(), "", before+text+after, parser.SkipObjectResolution)
	ids, written := idents(node), idents(again)
	written = written[max(0, len(written)-len(ids)):]
	if len(written) != len(ids) {
		r.problem("%s %s: its names are not found in %q", s.kind, s.title, text)
		return
	}
	names, uses := map[int]string{}, l.uses(node)
	for i, at := range written {
		attributes := ""
		if own := slices.Index(s.ids, ids[i]); own >= 0 && s.names[own] != s.title {
			attributes = fmt.Sprintf(`id="%s" `, s.names[own])
		}
		if to, ok := uses[ids[i]]; ok {
			attributes += fmt.Sprintf(`href="%s"`, r.w.href(r.page, to))
		}
		if attributes != "" {
			names[int(at.Pos())-1-len(before)] = strings.TrimSpace(attributes)
		}
	}
	fmt.Fprintf(r, "<pre class=\"code chroma\"><code>%s</code></pre>\n", highlightNames("go", text, 0, names))
}

// comment writes a doc comment.
func (r *reference) comment(text string) {
	to := r.page.of.Printer()
	to.HeadingLevel, to.DocLinkURL = 4, r.docLink
	to.HeadingID = func(*comment.Heading) string { return "" } // no ids, since headings of several comments may have the same text
	r.Write(to.HTML(r.page.of.Parser().Parse(text)))
}

// docLink returns the target of a link in a doc comment.
func (r *reference) docLink(link *comment.DocLink) string {
	to, ours := place{r.page.source, strings.TrimPrefix(link.Recv+"."+link.Name, ".")}, true
	if link.ImportPath != "" {
		to.folder, ours = strings.CutPrefix(link.ImportPath, modulePath+"/")
	}
	switch {
	case !ours:
		return link.DefaultURL("https://pkg.go.dev")
	case r.w.library.has[to]:
		return r.w.href(r.page, to)
	case to.name == "" && r.w.page(to.folder) != nil:
		return relative(r.page.address, r.w.page(to.folder).address)
	}
	r.problem("a doc comment links to %s.%s, which is nowhere", to.folder, to.name)
	return ""
}

func (r *reference) problem(text string, args ...any) {
	r.w.problems = append(r.w.problems, r.page.source+": "+fmt.Sprintf(text, args...))
}
