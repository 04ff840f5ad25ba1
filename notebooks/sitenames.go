package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/doc"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// library is the public packages of a checkout. It finds out by go/types what a name means
// in their declarations, in examples and in the cells of the course, so that no link is a
// guess.
type library struct {
	root     string
	build    build.Context
	fset     *token.FileSet
	packages []*doc.Package
	imports  string                    // Go code that imports all of them
	files    map[string][]*ast.File    // files of the checkout's packages that were imported
	imported map[string]*types.Package // packages that were imported; those of other modules are empty
	info     types.Info
	has      map[place]bool
	places   map[types.Object]place
}

// place is a symbol in the reference: the folder of its package, and its name, such as Fit
// or Fit.Alpha.
type place struct{ folder, name string }

// readLibrary reads all packages of a checkout that other modules can import.
func readLibrary(root string) (*library, error) {
	l := &library{
		root: root, build: build.Default, fset: token.NewFileSet(), imports: "\nimport (\n",
		files: map[string][]*ast.File{}, imported: map[string]*types.Package{},
		info: types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}},
		has:  map[place]bool{}, places: map[types.Object]place{},
	}
	l.build.GOOS, l.build.GOARCH = "linux", "amd64" // so that the pages are the same on every machine
	var found []*build.Package
	err := filepath.WalkDir(root, func(dir string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		if name := e.Name(); dir != root && (name == "internal" || name == "testdata" || strings.HasPrefix(name, ".")) {
			return fs.SkipDir
		}
		p, err := l.build.ImportDir(dir, 0)
		if none := new(build.NoGoError); errors.As(err, &none) || err == nil && p.Name == "main" {
			return nil
		}
		rel, errRel := filepath.Rel(root, dir)
		p.ImportPath = path.Join(modulePath, filepath.ToSlash(rel))
		l.imports += fmt.Sprintf("%q\n", p.ImportPath)
		found = append(found, p)
		return errors.Join(err, errRel)
	})
	l.imports += ")\n"
	for _, p := range found {
		err = errors.Join(err, l.read(p))
	}
	return l, err
}

// read reads a package with its examples.
func (l *library) read(found *build.Package) error {
	_, err := l.Import(found.ImportPath)
	inside, errInside := l.parse(found.Dir, found.TestGoFiles, "func Example")
	outside, errOutside := l.parse(found.Dir, found.XTestGoFiles, "func Example")
	// Doc comments may name packages that the file does not import.
	imports, errImports := parser.ParseFile(l.fset, "imports.go", "package "+found.Name+l.imports, parser.SkipObjectResolution)
	if err := errors.Join(err, errInside, errOutside, errImports); err != nil {
		return err
	}
	l.check(found.ImportPath+"_test", outside, true)
	p, err := doc.NewFromFiles(l.fset, slices.Concat(l.files[found.ImportPath], inside, outside, []*ast.File{imports}), found.ImportPath)
	if err != nil {
		return err
	}
	l.packages = append(l.packages, p)
	for _, s := range symbols(p) {
		for i, name := range s.names {
			at := place{folder(p), name}
			l.has[at] = true
			if obj := l.info.Defs[s.ids[i]]; obj != nil {
				if _, twice := l.places[obj]; twice {
					at = place{} // several types have this method from an unexported type
				}
				l.places[obj] = at
			}
		}
	}
	return nil
}

// folder returns the folder of a package in the checkout.
func folder(p *doc.Package) string { return strings.TrimPrefix(p.ImportPath, modulePath+"/") }

// parse parses those of the named files in dir that contain the text.
func (l *library) parse(dir string, names []string, text string) ([]*ast.File, error) {
	var files []*ast.File
	for _, name := range names {
		source, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		if !bytes.Contains(source, []byte(text)) {
			continue
		}
		file, err := parser.ParseFile(l.fset, filepath.Join(dir, name), source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// Import implements types.Importer. Packages of the checkout are read from their source.
// Packages of other modules are empty: names from them have no type and get no link.
func (l *library) Import(address string) (*types.Package, error) {
	if p := l.imported[address]; p != nil {
		return p, nil
	}
	p := types.NewPackage(address, path.Base(address))
	p.MarkComplete()
	if rel, ours := strings.CutPrefix(address, modulePath+"/"); ours {
		dir := filepath.Join(l.root, filepath.FromSlash(rel))
		found, err := l.build.ImportDir(dir, 0)
		if err != nil {
			return nil, err
		}
		if l.files[address], err = l.parse(dir, found.GoFiles, ""); err != nil {
			return nil, err
		}
		p = l.check(address, l.files[address], false)
	}
	l.imported[address] = p
	return p, nil
}

// check records what the names in files mean. Its errors come from the packages of other
// modules, which are empty here, and are ignored.
func (l *library) check(address string, files []*ast.File, bodies bool) *types.Package {
	config := types.Config{Importer: l, IgnoreFuncBodies: !bodies, Error: func(error) {}}
	p, _ := config.Check(address, l.fset, files, &l.info)
	return p
}

// uses returns the symbols of the reference to which the names below a node refer.
func (l *library) uses(root ast.Node) map[*ast.Ident]place {
	found := map[*ast.Ident]place{}
	for _, id := range idents(root) {
		if at := l.places[l.info.Uses[id]]; l.has[at] {
			found[id] = at
		}
	}
	return found
}

// cells returns a function for the code cells of one notebook, which must be called in
// their order. For each cell it returns the symbols of the reference by the position of
// their names in the cell.
func (l *library) cells() func(source string) map[int]place {
	var files []*ast.File // the latest cell first, since go/types uses the first of two declarations
	return func(source string) map[int]place {
		if _, ok := script(source); ok {
			return nil
		}
		file, lines := l.cell(source)
		files = slices.Insert(files, 0, file)
		l.check("cell", files, true)
		found := map[int]place{}
		for id, at := range l.uses(file) {
			p := l.fset.Position(id.Pos())
			found[lines[p.Line]+p.Column-1] = at
		}
		// Later cells see only declarations.
		file.Decls = slices.DeleteFunc(file.Decls, func(d ast.Decl) bool {
			f, ok := d.(*ast.FuncDecl)
			return ok && f.Name.Name == "_"
		})
		return found
	}
}

// cell parses a cell as Go. As GoNB does, it puts the code after %% into a function and
// adds imports. lines are the positions in the cell of the lines of the file.
func (l *library) cell(source string) (file *ast.File, lines []int) {
	text, end := "package cell\n", l.imports
	at := 0
	lines = []int{0, 0}
	for line := range strings.Lines(source) {
		lines = append(lines, at)
		at += len(line)
		switch {
		case strings.HasPrefix(strings.TrimPrefix(line, "//gonb:"), "%%"):
			line, end = "func _() {\n", "\n}"+end
		case isMagic(line):
			line = "\n"
		}
		text += line
	}
	// The imports of the cell must come before the added ones; the parser accepts late
	// imports.
	file, _ = parser.ParseFile(l.fset, "", text+end, parser.SkipObjectResolution)
	return file, lines
}
