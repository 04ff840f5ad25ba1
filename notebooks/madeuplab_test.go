package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// madeUpLab writes the lab of the made-up class, DIR/given/lab.ipynb, and returns it with
// its solutions. It has a hidden check and a proof.
func madeUpLab(t testing.TB, dir string) (original []byte, solutions map[string]*solution) {
	t.Helper()
	nb := identified("title\n",
		"imports\nimport (\n\t\"github.com/svmnb/svmnb/datasets\"\n\t\"github.com/svmnb/svmnb/kernels\"\n\t\"github.com/svmnb/svmnb/notebooks/lab\"\n\t\"github.com/svmnb/svmnb/svmnb\"\n)\n\nvar moons = svmnb.Classify(datasets.Moons(120, 0.2, 42)).Kernel(kernels.RBF(1))\n\n%%\nmoons.MustFit().Show(svmnb.Margins)",
		"exercise-1-1\n// Exercise 1.1: the width of the strip.\nvar width = lab.Todo",
		"check-1-1\n%% check 1.1\nlab.Check(\"1.1\", lab.Near(\"the width of the strip\", width, 2*moons.MustFit().Margin(), 1e-4, \"The margin is half of it.\"))",
		"exercise-1-2\n// Exercise 1.2: the slack of a point with this y f.\nfunc slack(yf float64) float64 { return lab.Todo }",
		"check-1-2\n%% check 1.2\nlab.Check(\"1.2\", lab.Near(\"a point far outside\", slack(2), 0, 1e-9, \"A slack is never negative.\"), lab.Near(\"a point inside\", slack(0.5), 0.5, 1e-9, \"How far is it from its margin?\"))",
		"exercise-1-3\n// Exercise 1.3: a C with fewer support vectors than C = 1.\nvar price = lab.Todo",
		"check-1-3\n%% check 1.3\nif !(float64(price) > 0) {\n\tlab.Check(\"1.3\", lab.Near(\"a positive number\", price, 1, 0, \"C is positive.\"))\n\treturn\n}\nlab.Check(\"1.3\", lab.True(\"fewer support vectors\", len(moons.C(float64(price)).MustFit().SupportVectors()) < len(moons.C(1).MustFit().SupportVectors()), \"Which way does their number go with C?\"))",
		"question\n", "proof-1-4\n*Write your proof here.*")
	for i, text := range map[int]string{0: "# The strip", 8: "Why is the strip $2/\\lVert w\\rVert$ wide?"} {
		nb.cells[i].raw["cell_type"], nb.cells[i].raw["source"] = "markdown", text
	}
	text := "## Exercise 1.1\n```go right\nvar width = 2 * moons.MustFit().Margin()\n```\n```go wrong\nvar width = moons.MustFit().Margin()\n```\n" +
		"## Exercise 1.2 (3 points)\n```go right\nfunc slack(yf float64) float64 { return max(0, 1-yf) }\n```\n```go wrong\nfunc slack(yf float64) float64 { return 1 - yf }\n```\n" +
		"```go hidden\nlab.Check(\"1.2\", lab.Near(\"a point far inside\", slack(-7), 8, 1e-9, \"How far is it from its margin?\").Worth(2))\n```\n" +
		"## Exercise 1.3\n```go right\nvar price = 300.0\n```\n```go wrong\nvar price = 0.1\n```\n" +
		"## Exercise 1.4 (4 points)\n\nLet $w$ be the normal. Two points on the borders differ by $2/\\lVert w\\rVert$ along it.\n\n**Marks.** 2 for the idea, 2 for the formula.\n"
	solutions, err := parseSolutions([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "given", "lab.ipynb")
	err = errors.Join(os.MkdirAll(filepath.Join(dir, "given", "solutions"), 0o755), nb.write(file),
		os.WriteFile(filepath.Join(dir, "given", "solutions", "lab.md"), []byte(text), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	if original, err = os.ReadFile(file); err != nil {
		t.Fatal(err)
	}
	return original, solutions
}
