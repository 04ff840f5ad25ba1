package svmnb

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// dependencies lists all that a package imports, itself included.
func dependencies(t *testing.T, pkg string) []string {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", pkg).Output()
	if err != nil {
		t.Fatalf("go list -deps %s: %v", pkg, err)
	}
	return strings.Fields(string(out))
}

// Imports flow svmnb → {kernels, solvers, datasets} → internal, and only svmnb
// knows that notebooks exist (docs/architecture.md).
func TestImportsFlowOneWay(t *testing.T) {
	const module = "github.com/svmnb/svmnb/"
	for _, name := range []string{"kernels", "solvers", "datasets"} {
		for _, dep := range dependencies(t, module+name) {
			own, inModule := strings.CutPrefix(dep, module)
			if inModule && own != name && !strings.HasPrefix(own, "internal/") {
				t.Errorf("%s imports %s", name, own)
			}
			if name == "solvers" && strings.HasPrefix(dep, "gonum.org/") {
				t.Errorf("solvers imports %s, which is for solvers/linear", dep)
			}
			if strings.Contains(dep, "gonb") || strings.Contains(dep, "echarts") {
				t.Errorf("%s knows of notebooks: it imports %s", name, dep)
			}
		}
	}
}

// Every cell is linked anew and pays for what it links. html/template comes in
// with go-echarts, whose templates nothing calls; see TestNoTemplateEngineIsLinked.
func TestCellsStayLight(t *testing.T) {
	deps := dependencies(t, "github.com/svmnb/svmnb/svmnb")
	for _, heavy := range []string{"net/http", "testing", "github.com/dop251/goja", "golang.org/x/image/font/sfnt"} {
		if slices.Contains(deps, heavy) {
			t.Errorf("svmnb imports %s, which every cell would link", heavy)
		}
	}
}
