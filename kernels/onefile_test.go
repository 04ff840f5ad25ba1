package kernels_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// algebra is what the simplifications of combinations have to name: 0 and 1 are
// constants, and a product has one scale in front.
var algebra = map[string][]string{
	"sum.go":       {"Constant", "ConstantKernel"},
	"scale.go":     {"Constant", "ConstantKernel"},
	"product.go":   {"Constant", "ConstantKernel", "Scale", "ScaleKernel"},
	"augmented.go": {"Constant", "Sum"},
}

// A kernel stands in one file: no other names its type or what makes it, so that it goes
// with its file.
func TestOneFileEach(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]*ast.File{}
	for _, name := range names {
		if !strings.HasSuffix(name, "_test.go") {
			if files[name], err = parser.ParseFile(token.NewFileSet(), name, nil, 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	home := map[string]string{} // of each type of kernel and of what makes it
	for name, file := range files {
		kernels := map[string]bool{"Kernel": true}
		for _, f := range functions(file) {
			if f.Recv != nil && f.Name.Name == "Eval" {
				kernels[typeName(f.Recv.List[0].Type)] = true
			}
		}
		if len(kernels) == 1 {
			continue
		}
		for k := range kernels {
			home[k] = name
		}
		for _, f := range functions(file) {
			if r := f.Type.Results; f.Recv == nil && f.Name.IsExported() && r != nil && kernels[typeName(r.List[0].Type)] {
				home[f.Name.Name] = name
			}
		}
	}
	delete(home, "Kernel")
	for _, want := range []string{"RBF", "GaussianKernel", "RationalQuadratic", "Sum", "SumKernel", "Matern52", "PrecomputedKernel"} {
		if home[want] == "" {
			t.Errorf("%s was not found in the sources", want)
		}
	}
	for name, file := range files {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil {
				f.Name = ast.NewIdent("_") // the name of a method is nobody's
			}
			ast.Inspect(d, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SelectorExpr: // and so is that of a field
					n.Sel = ast.NewIdent("_")
				case *ast.Ident:
					if at := home[n.Name]; at != "" && at != name && !slices.Contains(algebra[name], n.Name) {
						t.Errorf("%s names %s, which is of %s", name, n.Name, at)
					}
				}
				return true
			})
		}
	}
}

func functions(file *ast.File) (list []*ast.FuncDecl) {
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			list = append(list, f)
		}
	}
	return list
}

func typeName(e ast.Expr) string {
	if id, ok := e.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}
