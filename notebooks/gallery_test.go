package main

import (
	"fmt"
	"github.com/svmnb/svmnb/svmnb/static"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// figures lists what package svmnb and those below it export that is a picture: variables
// made by FigureOf, functions that return a Figure or a Drawing, and types with a method
// Chart.
func figures(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob("../svmnb/*.go")
	if err != nil || len(files) < 20 {
		t.Fatal(files, err)
	}
	for _, pkg := range []string{"display", "gp", "selection", "play"} {
		more, err := filepath.Glob("../svmnb/" + pkg + "/*.go")
		if err != nil || len(more) < 4 {
			t.Fatal(pkg, more, err)
		}
		files = append(files, more...)
	}
	pictures := []string{"Figure", "Drawing"}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		makesFigure := func(e ast.Expr) bool {
			call, ok := e.(*ast.CallExpr)
			if !ok {
				return false
			}
			return slices.Contains([]string{"FigureOf", "PosteriorSamples", "PosteriorOver", "EvidenceOver", "ComponentsNamed"}, lastName(call.Fun))
		}
		for _, d := range tree.Decls {
			switch d := d.(type) {
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if v, ok := spec.(*ast.ValueSpec); ok {
						for i, name := range v.Names {
							if name.IsExported() && i < len(v.Values) && makesFigure(v.Values[i]) {
								names = append(names, name.Name)
							}
						}
					}
				}
			case *ast.FuncDecl:
				switch {
				case d.Recv != nil && d.Name.Name == "Chart":
					of := d.Recv.List[0].Type
					if star, ok := of.(*ast.StarExpr); ok {
						of = star.X
					}
					if name := of.(*ast.Ident).Name; !slices.Contains(pictures, name) && ast.IsExported(name) {
						names = append(names, name)
					}
				case d.Recv == nil && d.Name.IsExported() && !strings.HasPrefix(d.Name.Name, "New") && d.Type.Results != nil && d.Type.TypeParams == nil:
					if slices.Contains(pictures, lastName(d.Type.Results.List[0].Type)) {
						names = append(names, d.Name.Name)
					}
				}
			}
		}
	}
	return names
}

// lastName is the name at the end of an expression such as display.FigureOf.
func lastName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// Every figure of package svmnb is in the gallery, drawn by the line that the page
// shows, with a small image, and there are no other images.
func TestGalleryIsWhole(t *testing.T) {
	page, err := os.ReadFile("../docs/gallery.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("gallery.go")
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Join(strings.Fields(string(source)), " ")
	var shown, images []string
	for _, r := range gallery(asItIs) {
		for _, e := range r.exhibits {
			shown = append(shown, strings.Fields(e.of)...)
			if !strings.Contains(words, "return "+e.code+" }") {
				t.Errorf("%s is not drawn by %q", e.file, e.code)
			}
			text := regexp.MustCompile("(?s)`" + regexp.QuoteMeta(called.ReplaceAllString(e.code, "$1")) + "`\n\n!\\[([^\\]\n]+)\\]\\(gallery/(" + e.file + "\\.(?:svg|png))\\)").FindSubmatch(page)
			if text == nil {
				t.Errorf("docs/gallery.md has no picture of %s: run go run ./notebooks gallery", e.code)
				continue
			}
			images = append(images, string(text[2]), strings.Replace(string(text[2]), ".", "-dark.", 1))
		}
	}
	for _, name := range figures(t) {
		if !slices.Contains(shown, name) {
			t.Errorf("the gallery has no %s: add an exhibit to notebooks/gallery.go and run go run ./notebooks gallery", name)
		}
	}
	if n := len(figures(t)); n < 25 {
		t.Errorf("only %d figures found in package svmnb", n)
	}
	files, err := os.ReadDir("../docs/gallery")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > galleryBytes || info.Size() < 1000 {
			t.Errorf("docs/gallery/%s has %d bytes, want some, and at most %d", f.Name(), info.Size(), galleryBytes)
		}
		if !slices.Contains(images, f.Name()) {
			t.Errorf("docs/gallery/%s is on no page", f.Name())
		}
	}
	for _, name := range []string{"moving.gif", "moving-dark.gif", "moving-still.png", "moving-dark-still.png"} {
		if info, err := os.Stat("../docs/" + name); err != nil || info.Size() > movingBytes {
			t.Errorf("docs/%s: %v, %v", name, info, err)
		}
	}
	if len(files) != len(images) {
		t.Errorf("%d files in docs/gallery for %d pictures", len(files), len(images))
	}
}

// The lines of the gallery work, and their charts have the finding in the title.
func TestGalleryDraws(t *testing.T) {
	for _, r := range gallery(asItIs) {
		for _, e := range r.exhibits {
			c, err := e.draw()
			if err != nil {
				t.Errorf("%s: %v", e.file, err)
			} else if !regexp.MustCompile(`\d`).MatchString(c.Title.Title) {
				t.Errorf("%s has no number in its title %q", e.file, fmt.Sprint(c.Title.Title))
			}
		}
	}
}

// On a telephone, the names of upright axes are not cut in pictures that are drawn without a browser.
// The test draws every third figure; TestTextsOnTelephone looks at all of them in a browser.
func TestGalleryOnTelephone(t *testing.T) {
	upright := regexp.MustCompile(`y="-([\d.]+)" transform="matrix\(0,-1,1,0,([-\d.]+),[-\d.]+\)"[^>]*>([^<]+)`)
	names, exhibits := 0, 0
	for _, r := range gallery(asItIs) {
		for _, e := range r.exhibits {
			if exhibits++; exhibits%3 != 1 {
				continue
			}
			c, err := e.draw()
			if err != nil {
				t.Fatal(err)
			}
			svg, err := static.SVG(c, static.Options{Width: 360})
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range upright.FindAllStringSubmatch(string(svg), -1) {
				half, _ := strconv.ParseFloat(m[1], 64)
				x, _ := strconv.ParseFloat(m[2], 64)
				if names++; x-2*half < 0 {
					t.Errorf("%s: the name %q begins %.0f px outside of the picture", e.file, m[3], 2*half-x)
				}
			}
		}
	}
	if names < 10 {
		t.Errorf("only %d names of axes found", names)
	}
}
