package svmnb_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/doctest"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/bayesopt"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/gp"
	"github.com/svmnb/svmnb/svmnb/model"
	"github.com/svmnb/svmnb/svmnb/selection"
	"github.com/svmnb/svmnb/svmnb/transform"
)

// What docs/guide.md shows compiles and runs, and gives answers that a person would use.
func TestGuide(t *testing.T) {
	doctest.Same(t, "../docs/guide.md", "guide_doc_test.go", 15)

	ctx := context.Background()
	file, err := filepath.Abs("../notebooks/data/customers.csv")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	t.Setenv("TMPDIR", t.TempDir())
	if err := os.Mkdir("data", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, "data/customers.csv"); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	fine := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}

	customers := datasets.OpenTable("data/customers.csv")
	display.Table(customers).Show()
	if kinds := customers.Kinds(); kinds["age"] != datasets.Number || kinds["income (CHF)"] != datasets.Number || kinds["city"] != datasets.Category || kinds["joined"] != datasets.Time || kinds["last message"] != datasets.Text || kinds["id"] == datasets.Number {
		t.Error(kinds)
	}

	train, test := customers.Without("id", "name").Target("left").Split(0.75, 1)
	search := selection.Search(
		selection.Pipe(transform.Encode(), svmnb.Classify(train).Balanced()),
		selection.Grid{"C": {1, 10, 100}, "gamma": {0.001, 0.003, 0.01}},
		selection.StratifiedKFold(5, 1)).By(selection.AUC).MustFit()
	search.Show()

	fit := search.Learner().MustFit().MustCalibrate(svmnb.Platt{})
	careful := fit.MustThreshold(svmnb.ForCost(1, 10))
	evaluation, err := careful.Evaluate(test)
	evaluation.Show(svmnb.Confusion, svmnb.ROC)
	fine(err)
	roc, err := evaluation.ROC()
	if fine(err); roc.AUC < 0.85 {
		t.Errorf("area under the ROC %v", roc.AUC)
	}

	err = model.Save("left.model", careful)
	fine(err)
	loaded, err := model.Load("left.model")
	fine(err)
	names, err := loaded.Predict(customers.Select([]int{0, 1, 2}))
	if fine(err); len(names) != 3 {
		t.Error(names)
	}
	all, err := careful.Predict(customers)
	fine(err)
	again, err := loaded.Predict(customers)
	if fine(err); !slices.Equal(again, all) {
		t.Error("the loaded model has other answers")
	}

	straight := selection.Pipe(transform.Encode(), svmnb.Classify(train).Kernel(kernels.Linear()).Balanced()).MustFit()
	straight.Show(svmnb.Weights)
	picture, err := svmnb.Weights.Of(straight.Fit())
	if fine(err); !strings.Contains(picture.Description(), "has the largest weight") {
		t.Error(picture.Description())
	}

	importance := selection.MustImportances(fit, test, selection.AUC)
	importance.Show()
	if names := importance.Features; !slices.Equal(names, train.Table.Names()) || slices.Max(importance.Means()) < 0.02 {
		t.Error(names, importance.Means())
	}

	ranges := map[string]selection.Range{"C": {Low: 0.1, High: 1000, Log: true}, "gamma": {Low: 1e-4, High: 1, Log: true}}
	pipe := selection.Pipe(transform.Encode(), svmnb.Classify(train).Balanced())
	folds := selection.StratifiedKFold(5, 1)
	halved := selection.Search(pipe, selection.Random{N: 27, Ranges: ranges, Seed: 1}, folds).Halve(3).By(selection.AUC, selection.F1).MustFit()
	guided := selection.Search(pipe, bayesopt.Space{N: 15, Ranges: ranges, Seed: 1}, folds).By(selection.AUC, selection.F1).MustFit()
	for _, f := range []*selection.SearchFit{halved, guided} {
		if best, ok := f.Best(); !ok || best.Mean() < 0.8 {
			t.Error(best)
		}
	}

	people := customers.Only("age", "city", "income (CHF)").Present().Target("income (CHF)")
	incomes := selection.Pipe(transform.Encode(), transform.LogTarget(), gp.Regress(people).NormaliseTargets().Optimise()).MustFit()
	least, most, err := incomes.Interval(people.Table.Select([]int{0, 1, 2}), 0.95)
	if fine(err); !(least[0] > 0 && most[0] > least[0]) {
		t.Error(least, most)
	}

	messages := datasets.OpenTable("data/customers.csv").Only("last message", "left").Present()
	words := selection.Pipe(transform.TfIdf(2000), svmnb.Classify(messages.Target("left")).
		Kernel(kernels.Linear()).Balanced()).MustFit()
	weights, err := words.Fit().(*svmnb.Fit).Weights()
	fine(err)
	features := words.Fit().(*svmnb.Fit).Description.Data().Features
	weight := func(word string) float64 { return weights[slices.Index(features, "last message: "+word)] }
	if !(weight("never") > 0 && weight("thanks") < 0) {
		t.Error("never", weight("never"), "thanks", weight("thanks"))
	}

	digits := datasets.Digits()
	known, unknown := digits.Split(0.7, 1)
	machines := svmnb.Classify(known).Kernel(kernels.RBF(0.001)).C(10).OneVsOne().MustFit()
	accuracy, err := machines.Accuracy(unknown)
	if fine(err); accuracy < 0.98 {
		t.Error(accuracy)
	}

	co2 := datasets.CO2()
	trend := kernels.Named("trend", kernels.Scale(4400, kernels.SquaredExponential(67)))
	season := kernels.Named("season", kernels.Scale(6, kernels.Product(kernels.SquaredExponential(90), kernels.Periodic(1, 1.3))))
	process := gp.Regress(co2).Kernel(kernels.Sum(trend, season)).NoiseVariance(0.1).MustFit()
	next, err := process.Posterior(ctx, datasets.Rows{{1999.5}})
	low, high := next.Interval(0.95)
	if fine(err); !(low[0] > 360 && high[0] < 376 && high[0] > low[0]+1) {
		t.Error(low, high)
	}

	cars, rest := datasets.Motorcycle().Split(0.5, 1)
	held, later := rest.Split(0.7, 1)
	curve := svmnb.Regress(cars).Kernel(kernels.RBF(0.01)).C(10)
	sure, err := selection.ConformaliseBetween(curve.Quantile(0.05).MustFit(), curve.Quantile(0.95).MustFit(), held)
	fine(err)
	from, to, err := sure.Intervals(later, 0.9)
	fine(err)
	inside := 0
	for i, y := range later.Y {
		if from[i] <= y && y <= to[i] {
			inside++
		}
	}
	if inside < later.N()*7/10 || to[0]-from[0] > 200 {
		t.Error(inside, later.N(), from, to)
	}

	rare := datasets.OpenTable("data/customers.csv").Without("id", "name").Target("left")
	detector := selection.Pipe(transform.Encode(), svmnb.Classify(rare).Balanced()).MustFit()
	found := detector.MustThreshold(svmnb.ForRecall(0.8))
	found.Show(svmnb.PrecisionRecall)

	served, err := model.Load("left.model")
	fine(err)
	row, err := served.NewRow()
	fine(err)
	row.Clear() // before each customer
	row.Number("age", 34)
	row.Text("plan", "basic")
	row.Text("last message", "Never again: late, and the refund is wrong.")
	class, err := row.Class()
	if fine(err); class != "yes" {
		t.Error(class)
	}

	large := datasets.Checkerboard(20_000, 4, 1)
	quick := selection.Pipe(transform.Nystroem(kernels.RBF(5), 200, 1), svmnb.Classify(large).C(10)).MustFit()
	score, err := quick.Score(datasets.Checkerboard(5_000, 4, 2))
	if fine(err); score < 0.95 {
		t.Error(score)
	}
}

// Every name of a package that docs/coming-from.md tells exists.
func TestComingFromNames(t *testing.T) {
	text, err := os.ReadFile("../docs/coming-from.md")
	if err != nil {
		t.Fatal(err)
	}
	folders := map[string]string{"svmnb": ".", "datasets": "../datasets", "kernels": "../kernels"}
	for _, name := range []string{"display", "transform", "selection", "model", "gp"} {
		folders[name] = name
	}
	for name, folder := range folders {
		known := map[string]bool{}
		files, err := filepath.Glob(folder + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range parsed.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					known[d.Name.Name] = known[d.Name.Name] || d.Recv == nil
				case *ast.GenDecl:
					for _, s := range d.Specs {
						switch s := s.(type) {
						case *ast.TypeSpec:
							known[s.Name.Name] = true
						case *ast.ValueSpec:
							for _, n := range s.Names {
								known[n.Name] = true
							}
						}
					}
				}
			}
		}
		for _, m := range regexp.MustCompile(`\b`+name+`\.([A-Z]\w*)`).FindAllSubmatch(text, -1) {
			if !known[string(m[1])] {
				t.Errorf("there is no %s", m[0])
			}
		}
	}
}
