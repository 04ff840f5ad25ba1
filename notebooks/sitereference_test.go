package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"html"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	codeBlock = regexp.MustCompile(`(?s)<pre.*?</pre>`)
	// What stands in a doc comment where go/doc knows no such name, and Markdown.
	rawMarkup = regexp.MustCompile("\\[\\*?(\\w+\\.)?[A-Z]\\w*(\\.\\w+)?\\]|`|\\*\\*|\\]\\(|(?m)^#+ ")
)

// TestReference holds the page of each public package to the package's files, which it
// reads by itself.
func TestReference(t *testing.T) {
	w, err := writtenSite()
	if err != nil || len(w.problems) > 0 {
		t.Fatal(err, w.problems)
	}
	root := w.root
	list := exec.Command("go", "list", "-f", `{{if ne .Name "main"}}{{.ImportPath}}{{end}}`, "./...")
	list.Dir = root
	listed, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"datasets/arrow", "svmnb/beam"} // modules of their own
	for address := range strings.FieldsSeq(string(listed)) {
		if !strings.Contains(address, "/internal/") {
			want = append(want, strings.TrimPrefix(address, modulePath+"/"))
		}
	}
	slices.Sort(want)
	var got []string
	examples, used := 0, 0
	for _, p := range w.pages {
		if p.of == nil {
			continue
		}
		got = append(got, p.source)
		examples += strings.Count(p.body, `<p class="label">Example`)
		used += strings.Count(p.body, `<p class="lessons">`)
		t.Run(p.source, func(t *testing.T) {
			for name := range exportedNames(t, filepath.Join(root, filepath.FromSlash(p.source)), w.library.imported[p.of.ImportPath]) {
				if n := strings.Count(p.body, fmt.Sprintf(` id="%s"`, name)); n != 1 {
					t.Errorf("%s has %d anchors", name, n)
				}
			}
			text := html.UnescapeString(tag.ReplaceAllString(codeBlock.ReplaceAllString(p.body, ""), ""))
			for _, at := range rawMarkup.FindAllStringIndex(text, -1) {
				t.Errorf("there is markup in %q", text[max(0, at[0]-40):min(len(text), at[1]+40)])
			}
			if strings.Count(p.body, "<h1") != 1 || !strings.Contains(p.body, `<span class="kd">`) && len(p.of.Funcs) > 0 {
				t.Error("it lacks a title or colours")
			}
		})
	}
	if !slices.Equal(got, want) {
		t.Errorf("the site has %q, want %q", got, want)
	}
	if examples < 50 || used < 100 {
		t.Errorf("%d examples, %d uses in lessons", examples, used)
	}

	// The picture of the architecture is in its page, and shows names that there are.
	picture, err := os.ReadFile(filepath.Join(root, "docs", "architecture.svg"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(w.page("docs/architecture.md").body, `<img src="../docs/architecture.svg"`) {
		t.Error("docs/architecture.md does not show architecture.svg")
	}
	names := regexp.MustCompile(`class="code">(\w+)\.(\w+)<`).FindAllStringSubmatch(string(picture), -1)
	for _, m := range names {
		if !slices.ContainsFunc(w.library.packages, func(p *doc.Package) bool {
			return p.Name == m[1] && w.library.has[place{folder(p), m[2]}]
		}) {
			t.Errorf("docs/architecture.svg names %s.%s, which is not there", m[1], m[2])
		}
	}
	if len(names) < 5 {
		t.Errorf("docs/architecture.svg has %d names", len(names))
	}
}

// exportedNames are the symbols of a package, with the methods that its types have from
// those that nobody sees.
func exportedNames(t *testing.T, dir string, checked *types.Package) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	add := func(owner string, ids ...*ast.Ident) {
		for _, id := range ids {
			if id.IsExported() {
				names[owner+id.Name] = true
			}
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".go" || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, e.Name()), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					add("", d.Name)
				} else if of := strings.Trim(types.ExprString(d.Recv.List[0].Type), "*"); ast.IsExported(of) {
					of, _, _ = strings.Cut(of, "[")
					add(of+".", d.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.ValueSpec:
						add("", spec.Names...)
					case *ast.TypeSpec:
						add("", spec.Name)
						var fields *ast.FieldList
						if s, ok := spec.Type.(*ast.StructType); ok {
							fields = s.Fields
						} else if i, ok := spec.Type.(*ast.InterfaceType); ok {
							fields = i.Methods
						}
						if fields != nil && spec.Name.IsExported() {
							for _, f := range fields.List {
								add(spec.Name.Name+".", f.Names...)
							}
						}
					}
				}
			}
		}
	}
	for _, name := range checked.Scope().Names() {
		obj, ok := checked.Scope().Lookup(name).(*types.TypeName)
		if !ok || !obj.Exported() || obj.IsAlias() || types.IsInterface(obj.Type()) {
			continue
		}
		fields, _ := obj.Type().Underlying().(*types.Struct)
		for method := range types.NewMethodSet(types.NewPointer(obj.Type())).Methods() {
			hidden := len(method.Index()) > 1 && !fields.Field(method.Index()[0]).Exported()
			if method.Obj().Exported() && method.Obj().Pkg() == checked && hidden {
				names[name+"."+method.Obj().Name()] = true
			}
		}
	}
	return names
}

// Each name of a package in the course is a link: the scanner finds as many as go/types.
func TestCourseLinksToReference(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	l, err := readLibrary(root)
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]string{}
	for _, p := range l.packages {
		if byName[p.Name] != "" {
			t.Errorf("two packages are called %s: a cell cannot tell them apart", p.Name)
		}
		byName[p.Name] = folder(p)
	}
	files, err := filepath.Glob("*.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	methods := 0
	for _, file := range files {
		nb, err := readNotebook(file)
		if err != nil {
			t.Fatal(err)
		}
		cells := l.cells()
		for _, c := range nb.cells {
			if c.kind() != "code" {
				continue
			}
			source := c.source()
			found := cells(source)
			for at, to := range found {
				name := to.name[strings.LastIndex(to.name, ".")+1:]
				if !strings.HasPrefix(source[at:], name) {
					t.Errorf("%s: %s leads to %v", file, source[at:min(len(source), at+20)], to)
				}
				if strings.Contains(to.name, ".") {
					methods++
				}
			}
			for at, name := range qualified(source) {
				from, of, _ := strings.Cut(name, ".")
				if folder, ours := byName[from]; ours && found[at] != (place{folder, of}) {
					t.Errorf("%s: %s leads to %v", file, name, found[at])
				}
			}
		}
	}
	if methods < 500 {
		t.Errorf("%d links to methods and fields", methods)
	}
}

// qualified are the names after that of a package in a cell, such as svmnb.Classify, by
// the first byte after the dot.
func qualified(source string) map[int]string {
	lines := strings.SplitAfter(source, "\n")
	for i, line := range lines {
		if isMagic(line) {
			lines[i] = strings.Repeat(" ", len(line)-1) + line[len(line)-1:]
		}
	}
	source = strings.Join(lines, "")
	names := map[int]string{}
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", 1, len(source)), []byte(source), func(token.Position, string) {}, 0)
	var before [3]string // the words before, the last one first
	for {
		pos, kind, word := s.Scan()
		if kind == token.EOF {
			return names
		}
		if kind != token.IDENT {
			word = kind.String()
		} else if before[0] == "." && before[2] != "." && ast.IsExported(word) {
			names[int(pos)-1] = before[1] + "." + word
		}
		before = [3]string{word, before[0], before[1]}
	}
}

// A small checkout, of which everything is known.
func TestReferenceOfSmallCheckout(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":    "module " + modulePath + "\n",
		"README.md": "# Root\n",
		"kit/kit.go": `// Package kit has tools. More of them are in [other].
//
// # Of use
//
// See [Tool], [Tool.Turn], [other.Thing.Weigh], [bytes.Buffer] and [other.None]:
//
//   - one
//   - two
//
// And:
//
//	code <here>
package kit

import "bytes"

// Most and Least are limits.
const (
	Most  = 3
	Least = 1
	none  = 0
)

// Draw draws.
var Draw = make(func(b *bytes.Buffer) int { return none })

// hidden gives its methods away.
type hidden struct{}

// Hide hides a [hidden] thing.
func (h hidden) Hide() {}

// Box is a box.
type Box struct{ hidden }

// Turn turns a tool.
func (t *Tool) Turn(n int) Tool { return Tool{} }

// Tool is a tool.
type Tool struct {
	hidden
	Size  int // in cm
	Other *Tool
	sharp bool
}

// New returns a [Tool].
func New(size int) (Tool, error) { return Tool{Size: size}, nil }
`,
		"kit/kit_test.go": `package kit_test

import (
	"errors"
	"fmt"

	"` + modulePath + `/kit"
)

func ExampleNew() {
	tool, _ := kit.New(3)
	fmt.Println(tool.Turn(1).Size)
	// Output: 0 < 1
}
`,
		"kit/other/other.go": `// Package other has things.
package other

// Thing has a weight.
type Thing interface {
	// Weigh returns it.
	Weigh() int
}
`,
		"kit/internal/secret/secret.go": "package secret\n\nfunc Secret() {}\n",
		"kit/tool/main.go":              "package main\n\nfunc Exported() {}\n",
	} {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	nb := code()
	nb.raw["cells"] = []any{
		map[string]any{"cell_type": "markdown", "id": "a", "metadata": map[string]any{}, "source": "# One\n\n## Say \"kit\""},
		map[string]any{"cell_type": "code", "id": "b", "metadata": map[string]any{}, "outputs": []any{}, "source": "var most = kit.Most\n\n%%\nkit.New(most)"},
	}
	folder := filepath.Join(root, "notebooks")
	if err := errors.Join(os.Mkdir(folder, 0o755), nb.write(filepath.Join(folder, "01.ipynb"))); err != nil {
		t.Fatal(err)
	}
	w := &site{root: root, out: t.TempDir(), shared: map[string]bool{}}
	if err := w.write(); err != nil {
		t.Fatal(err)
	}
	if len(w.problems) != 1 || !strings.Contains(w.problems[0], "kit: a doc comment links to kit/other.None") {
		t.Errorf("problems: %q", w.problems)
	}
	var pages []string
	_ = filepath.WalkDir(filepath.Join(w.out, "reference"), func(file string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			rel, _ := filepath.Rel(w.out, file)
			pages = append(pages, filepath.ToSlash(rel))
		}
		return err
	})
	if want := []string{"reference/index.html", "reference/kit/other.html", "reference/kit.html"}; !slices.Equal(pages, want) {
		t.Errorf("the pages are %q, want %q", pages, want)
	}
	for _, c := range []struct{ page, want string }{
		{"reference/index.html", "<li><a href=\"../reference/kit.html\">kit</a>\n<p>Package kit has tools.</p></li>"},
		{"reference/kit.html", `More of them are in <a href="../reference/kit/other.html">other</a>.`},
		{"reference/kit.html", `<h4>Of use</h4>`},
		{"reference/kit.html", `See <a href="#Tool">Tool</a>, <a href="#Tool.Turn">Tool.Turn</a>, <a href="../reference/kit/other.html#Thing.Weigh">other.Thing.Weigh</a>, <a href="https://pkg.go.dev/bytes#Buffer">bytes.Buffer</a>`},
		{"reference/kit.html", "<pre>code &lt;here&gt;\n</pre>"},
		{"reference/kit.html", "<li>one\n<li>two\n</ul>"},
		{"reference/kit.html", `<p><small>const</small> <a href="#Most">Most</a>, <a href="#Least">Least</a></p>`},
		{"reference/kit.html", `<dt><small>type</small> <a href="#Tool">Tool</a></dt><dd><p>Tool is a tool.</p>` + "\n" + `<p><a href="#New">New</a>, <a href="#Tool.Hide">Hide</a>, <a href="#Tool.Turn">Turn</a></p>`},
		{"reference/kit.html", `<h4 id="Box.Hide">`},
		{"reference/kit.html", `<a id="Most"><span class="nx">Most</span></a>`},
		{"reference/kit.html", `<a id="Tool.Size"><span class="nx">Size</span></a>`},
		{"reference/kit.html", `<a id="Tool.Other"><span class="nx">Other</span></a> <span class="o">*</span><a href="#Tool"><span class="nx">Tool</span></a>`},
		{"reference/kit.html", `<h4 id="New"><small>func</small> New</h4>`},
		{"reference/kit.html", `<h4 id="Tool.Turn"><small>func</small> Tool.Turn</h4>`},
		{"reference/kit.html", `<span class="p">.</span><a href="#Tool.Turn"><span class="nf">Turn</span></a>`},
		{"reference/kit.html", "<pre class=\"out stdout\">0 &lt; 1\n</pre>"},
		{"reference/kit.html", `<p class="lessons">In lessons: <a href="../notebooks/01.html#Say-%22kit%22" title="One">1</a></p>`},
		{"reference/kit.html", `<p class="lessons">In lessons: Most <a href=`},
		{"notebooks/01.html", `kit</span><span class="p">.</span><a href="../reference/kit.html#New"><span class="nf">New</span></a>`},
		{"assets/site.js", `["Tool.Turn"]`},
	} {
		data, err := os.ReadFile(filepath.Join(w.out, filepath.FromSlash(c.page)))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(data), c.want) {
			t.Errorf("%s lacks %s", c.page, c.want)
		}
		for _, secret := range []string{"Secret", "Exported", "sharp", "return none", "// Output"} {
			if strings.Contains(tag.ReplaceAllString(string(data), ""), secret) {
				t.Errorf("%s has %s", c.page, secret)
			}
		}
	}

	cells := w.library.cells()
	for _, c := range []struct {
		name, cell string
		want       []string // as they stand in the cell, and where they lead
	}{
		{"a package that another cell imports", "import \"fmt\"\n\nvar tool, _ = kit.New(kit.Most)", []string{"New kit#New", "Most kit#Most"}},
		{"a variable of another cell", "%% look\ntool.Turn(1).Other.Size++", []string{"Turn kit#Tool.Turn", "Other kit#Tool.Other", "Size kit#Tool.Size"}},
		{"the keys of a literal", "%%\n_ = &kit.Tool{Size: kit.Least}", []string{"Tool kit#Tool", "Size kit#Tool.Size", "Least kit#Least"}},
		{"a method of a hidden type", "%%\nkit.Tool{}.Hide()", []string{"Tool kit#Tool"}},
		{"an interface", "func weigh(t other.Thing) int { return t.Weigh() }", []string{"Thing kit/other#Thing", "Weigh kit/other#Thing.Weigh"}},
		{"a name that hides a package", "%%\nkit := struct{ New int }{1}\n_ = kit.New", nil},
		{"text and comments", "%%\n_ = \"kit.New\" // kit.New", nil},
		{"others' packages", "import \"example.com/kit\"\n\nvar x = kit.New()", nil},
		{"a script", "%%bash\nkit.New", nil},
		{"lines for GoNB", "!ls kit.New\n%widgets\n//gonb:%%\nkit.New(1)", []string{"New kit#New"}},
		{"what does not compile", "%%\nvar x int = kit.New(missing)", []string{"New kit#New"}},
		{"what is declared again", "type thing int\n\nvar tool thing\n\nfunc (thing) Turn(int) {}", nil},
		{"what was declared again", "%%\ntool.Turn(1)", nil},
	} {
		var got []string
		found := cells(c.cell)
		for at := range len(c.cell) {
			if to, ok := found[at]; ok {
				end := strings.IndexFunc(c.cell[at:], func(r rune) bool { return !(r >= 'A' && r <= 'z') })
				got = append(got, fmt.Sprintf("%s %s#%s", c.cell[at:at+max(end, 0)], to.folder, to.name))
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
