package svmnb

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/svmnb/svmnb/"

// layers are the packages of the library from the lowest to the highest. A package imports
// packages of lower layers only. A name that ends in "/..." stands for all packages below
// it, which may import each other.
var layers = [][]string{
	{"internal/..."},
	{"kernels/...", "datasets/...", "solvers/..."},
	{"svmnb/internal/words", "svmnb/internal/arguments", "svmnb/internal/guard", "svmnb/internal/kept", "svmnb/internal/runs", "svmnb/internal/tune",
		"svmnb/internal/calibrate", "svmnb/internal/contour", "svmnb/internal/controls", "svmnb/internal/schemes", "svmnb/metrics"},
	{"svmnb/internal/engine/..."},
	{"svmnb/internal/say", "svmnb/internal/cells", "svmnb/internal/echarts"},
	{"svmnb/internal/points", "svmnb/internal/figure", "svmnb/static"},
	{"svmnb/internal/steps", "svmnb/internal/landmarks", "svmnb/internal/vecchia"},
	{"svmnb/internal/machines", "svmnb/internal/sheet", "svmnb/transform"},
	{"svmnb/model", "svmnb/display", "svmnb/living"},
	{"svmnb/internal/learn", "svmnb/internal/screen", "svmnb/living/build"},
	{"svmnb/internal/testkit", "svmnb/internal/letter"},
	{"svmnb", "svmnb/gp", "svmnb/stream"},
	{"svmnb/selection", "svmnb/play"},
	{"svmnb/bayesopt", "svmnb/remote"},
	{"internal/bench", "internal/bench/large", "internal/bench/approximate", "internal/bench/referee", "internal/bench/stream", "internal/bench/processes", "internal/differential", "notebooks/...", "docs/service"},
}

// layerOf returns the layer of a package and the entry that it is in; -1 for none. The
// entry that names it in full comes before one that ends in "/...".
func layerOf(pkg string) (layer int, entry string) {
	for k, names := range layers {
		if slices.Contains(names, pkg) {
			return k, pkg
		}
	}
	for k, names := range layers {
		for _, name := range names {
			if folder, ok := strings.CutSuffix(name, "/..."); ok && (pkg == folder || strings.HasPrefix(pkg, folder+"/")) {
				return k, name
			}
		}
	}
	return -1, ""
}

func list(t *testing.T, args ...string) []string {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list"}, args...)...).Output()
	if err != nil {
		t.Fatalf("go list %q: %v", args, err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// Each package imports lower layers only.
func TestLayers(t *testing.T) {
	seen := 0
	for _, line := range list(t, "-f", "{{.ImportPath}} {{join .Imports \" \"}}", module+"...") {
		fields := strings.Fields(line)
		pkg := strings.TrimPrefix(fields[0], module)
		layer, entry := layerOf(pkg)
		if layer < 0 {
			t.Errorf("%s is in no layer: add it to the list", pkg)
			continue
		}
		for _, i := range fields[1:] {
			name, ours := strings.CutPrefix(i, module)
			if !ours {
				continue
			}
			seen++
			if below, of := layerOf(name); below > layer || below == layer && of != entry {
				t.Errorf("%s imports %s, which is no layer below it", pkg, name)
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d imports were seen", seen)
	}
}

// Kernels, solvers and data sets know nothing of notebooks, and solvers outside of
// solvers/linear link no linear algebra.
func TestSolversKnowNoNotebooks(t *testing.T) {
	for _, name := range []string{"kernels", "solvers", "datasets"} {
		for _, dep := range list(t, "-deps", module+name) {
			if name == "solvers" && strings.HasPrefix(dep, "gonum.org/") {
				t.Errorf("solvers imports %s, which is for solvers/linear", dep)
			}
			if strings.Contains(dep, "gonb") || strings.Contains(dep, "echarts") {
				t.Errorf("%s knows of notebooks: it imports %s", name, dep)
			}
		}
	}
}

// Every cell is linked anew and pays for what it links: it links its subject and no other.
// html/template comes in with go-echarts, whose templates nothing calls; see
// TestNoTemplateEngineIsLinked.
func TestCellsLinkTheirSubject(t *testing.T) {
	common := []string{"net/http", "testing", "github.com/dop251/goja", "golang.org/x/image/font/sfnt"}
	for pkg, foreign := range map[string][]string{
		"svmnb":           {"svmnb/gp", "svmnb/selection", "svmnb/play", "solvers/linear"},
		"svmnb/gp":        {"svmnb", "svmnb/selection", "svmnb/play", "solvers/blocks", "solvers/fastest"},
		"svmnb/model":     {"svmnb", "svmnb/gp", "svmnb/display"},
		"svmnb/display":   {"svmnb", "svmnb/gp", "svmnb/model"},
		"svmnb/transform": {"svmnb", "svmnb/gp", "svmnb/model", "svmnb/display"},
		"svmnb/selection": {"svmnb/gp", "svmnb/play"},
		"svmnb/play":      {"svmnb/gp", "svmnb/selection"},
		"svmnb/stream":    {"svmnb", "svmnb/gp", "svmnb/selection", "svmnb/play", "svmnb/display", "svmnb/transform", "solvers/linear", "solvers/blocks"},
	} {
		deps := list(t, "-deps", module+pkg)
		for _, heavy := range common {
			if slices.Contains(deps, heavy) {
				t.Errorf("%s imports %s, which every cell would link", pkg, heavy)
			}
		}
		for _, name := range foreign {
			if slices.Contains(deps, module+name) {
				t.Errorf("a cell of %s would link %s", pkg, name)
			}
		}
	}
}
