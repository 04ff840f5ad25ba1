package selection

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"slices"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/cells"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
	"github.com/svmnb/svmnb/svmnb/model"
)

// Conformal has intervals for real targets, or sets of classes, that contain the target of a new
// point with a chosen probability. The probability is right for every learner and every
// distribution, without assumptions but one: the points held out and the new ones are drawn in the
// same way, in random order. It is an average over all points and over the draw of the points held
// out; at a single x it may be smaller.
//
// Its zero value has no fit. [Conformalise], [ConformaliseBetween] and [ConformaliseFolds] make one.
type Conformal struct {
	parts   []conformed
	scores  []float64 // how badly each point held out fits, n values
	part    []int     // the part that held it out
	truth   []int     // its class; nil for real targets
	classes []string  // nil for real targets
	byClass bool
	how     string
	like    *datasets.Dataset // has the scalings that data sets must have; nil if that is not known
}

// conformed is a model of one part of the data, or two of a lower and an upper quantile.
type conformed struct{ low, high *model.Model }

// Conformalise makes a fit, a pipeline or a loaded model conformal by points that it was not
// trained on (split conformal prediction; Vovk, Gammerman and Shafer 2005; Lei et al. 2018). The
// score of a point is |y − f(x)| for real targets. For classes it is 1 − p of the class if the
// model has probabilities (Sadinle, Lei and Wasserman 2019), or minus the decision value for it.
// With n points held out, the probability of a share s is between s and s + 1/(n + 1) unless
// scores are equal. Errors are those of predictions, and an *ArgumentError for a class of data
// that the model does not know.
func Conformalise(fit model.Modeler, data *datasets.Dataset) (_ *Conformal, err error) {
	defer guard.Caught(&err)
	m, like := taking(fit)
	if m == nil {
		return nil, arguments.NoFit("Conformalise")
	}
	return conformalise("Conformalise", m, m, like, data)
}

// taking returns the model for points such as those that the fit's own Predict takes, and a data
// set with the scalings that such points have.
func taking(fit model.Modeler) (m *model.Model, like *datasets.Dataset) {
	if m = model.Of(fit); m == nil {
		return nil, nil
	}
	before := m.Inside().Before
	if loaded, _ := fit.(*model.Model); loaded != nil {
		if before == nil {
			return m, nil // it may be a model of transformed points
		}
		return m, &datasets.Dataset{}
	}
	like = &datasets.Dataset{}
	if before == nil || before.Open < len(before.Steps) {
		return m, like
	}
	for _, s := range before.Steps {
		if scaled, ok := s.(steps.Scaled); ok {
			like.Scalings = append(like.Scalings, scaled.Of)
		}
	}
	return m.Transformed(), like
}

// ConformaliseBetween makes two quantiles of a real target conformal, such as the fits of
// Quantile(0.05) and Quantile(0.95), by points that neither was trained on (Romano, Patterson and
// Candès 2019). The intervals are as wide as the two quantiles lie apart, so they are wider where
// the targets vary more, and their ends are moved until the probability is right.
func ConformaliseBetween(low, high model.Modeler, data *datasets.Dataset) (_ *Conformal, err error) {
	defer guard.Caught(&err)
	const call = "ConformaliseBetween"
	l, like := taking(low)
	h, _ := taking(high)
	if l == nil || h == nil {
		return nil, arguments.NoFit(call)
	}
	if l.Classes() != nil || h.Classes() != nil {
		return nil, arguments.Wrong(call, math.NaN(), "the fits predict classes; give two quantiles of a regression, or say Conformalise")
	}
	return conformalise(call, l, h, like, data)
}

func conformalise(call string, low, high *model.Model, like, data *datasets.Dataset) (*Conformal, error) {
	c := &Conformal{classes: low.Classes(), like: like}
	if err := c.hold(call, conformed{low, high}, data); err != nil {
		return nil, err
	}
	c.how = say.Several(data.N(), "point") + " held out"
	return c, nil
}

// ConformaliseFolds trains the learner without each fold in turn, so that all points serve for
// training and for the scores (CV+ of Barber, Candès, Ramdas and Tibshirani 2021; with
// [LeaveOneOutFolds] the jackknife+). Each point must be held out once. A prediction asks all
// these fits, each of which was moved by the scores of its own fold. The probability of a share s
// is at least 2s − 1, a little less with few folds, and in practice near s.
func ConformaliseFolds(ctx context.Context, l Learner, folds Folds) (_ *Conformal, err error) {
	return conformaliseFolds(ctx, l, folds, nil)
}

// MustConformalise is [Conformalise] for a notebook cell: an error is printed and ends the cell;
// outside a notebook it panics.
func MustConformalise(fit model.Modeler, data *datasets.Dataset) *Conformal {
	c, err := Conformalise(fit, data)
	if err != nil {
		cells.Must(err)
	}
	return c
}

// MustConformaliseBetween is [ConformaliseBetween] for a notebook cell.
func MustConformaliseBetween(low, high model.Modeler, data *datasets.Dataset) *Conformal {
	c, err := ConformaliseBetween(low, high, data)
	if err != nil {
		cells.Must(err)
	}
	return c
}

// MustConformaliseFolds is [ConformaliseFolds] for a notebook cell. A line shows the progress.
func MustConformaliseFolds(l Learner, folds Folds) *Conformal {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	c, err := conformaliseFolds(ctx, l, folds, cells.Progress(time.Second))
	if err != nil {
		cells.Must(err)
	}
	return c
}

func conformaliseFolds(ctx context.Context, l Learner, folds Folds, show func(line string, last bool)) (_ *Conformal, err error) {
	defer guard.Caught(&err)
	const call = "ConformaliseFolds"
	if err := arguments.Given(ctx, call); err != nil {
		return nil, err
	}
	if l == nil {
		return nil, arguments.Wrong(call, math.NaN(), "the learner is nil; give one such as svmnb.Regress(data)")
	}
	of := l.Learning()
	if err := of.Fault(); err != nil {
		return nil, err
	}
	data := of.Data()
	if err := steps.CheckMissing(data); err != nil {
		return nil, err
	}
	splits, err := split(folds, data)
	if err != nil {
		return nil, err
	}
	held := make([]int, data.N())
	for _, s := range splits {
		for _, i := range s.Test {
			held[i]++
		}
	}
	for i, times := range held {
		if times != 1 {
			return nil, arguments.At(call, i, -1, float64(times), "the row is held out %d times; give folds that hold out each row once, such as selection.KFold(10, 1)", times)
		}
	}
	c := &Conformal{how: fmt.Sprintf("%v of %s", folds, say.Several(data.N(), "point")), like: data}
	for k, s := range splits {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("svmnb: %s: %w", call, context.Cause(ctx))
		}
		if show != nil {
			show(fmt.Sprintf("conformal: fold %d of %d", k+1, len(splits)), k == len(splits)-1)
		}
		fit, err := of.With(data.Select(s.Train), s.Train).Train(ctx, nil)
		if err != nil {
			return nil, fmt.Errorf("svmnb: %s: fold %d: %w", call, k+1, err)
		}
		m := fit.Model()
		if b := m.Inside().Before; b != nil && b.Open == len(b.Steps) {
			m = m.Transformed()
		}
		if k == 0 {
			c.classes = m.Classes()
		}
		if !slices.Equal(m.Classes(), c.classes) {
			return nil, arguments.Wrong(call, float64(k+1), "fold %d has other classes than the first; take StratifiedKFold", k+1)
		}
		if err := c.hold(call, conformed{m, m}, data.Select(s.Test)); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// hold adds a part and the scores of the points that it has not seen.
func (c *Conformal) hold(call string, p conformed, data *datasets.Dataset) error {
	if err := c.suits(call, data); err != nil {
		return err
	}
	if c.classes == nil {
		low, high, err := p.between(data)
		if err != nil {
			return err
		}
		for i, y := range data.Y {
			c.scores = append(c.scores, max(low[i]-y, y-high[i]))
		}
	} else {
		rows, err := p.strangeness(data)
		if err != nil {
			return err
		}
		for i, y := range data.Y {
			k := slices.Index(c.classes, data.ClassName(y))
			if k < 0 {
				return arguments.At(call, i, -1, y, "the class %q is not one of the model; its classes are %q", data.ClassName(y), c.classes)
			}
			c.scores, c.truth = append(c.scores, rows[i][k]), append(c.truth, k)
		}
	}
	for range data.N() {
		c.part = append(c.part, len(c.parts))
	}
	c.parts = append(c.parts, p)
	return nil
}

// suits returns the error of a data set that predictions cannot be compared with.
func (c *Conformal) suits(call string, data *datasets.Dataset) error {
	if err := steps.CheckMissing(data); err != nil || c.like == nil {
		return err
	}
	return steps.SameScale(call, c.like, data)
}

// between returns what lies between the ends of an interval before it is moved.
func (p conformed) between(x datasets.Points) (low, high []float64, err error) {
	if low, err = p.low.Values(x); err != nil || p.low == p.high {
		return low, low, err
	}
	high, err = p.high.Values(x)
	return low, high, err
}

// strangeness returns the score of each point for each class.
func (p conformed) strangeness(x datasets.Points) ([][]float64, error) {
	m := p.low
	if m.HasProbabilities() {
		rows, err := m.Probabilities(x)
		for _, row := range rows {
			for k := range row {
				row[k] = 1 - row[k]
			}
		}
		return rows, err
	}
	if len(m.Classes()) > 2 {
		rows, err := m.Scores(x)
		for _, row := range rows {
			for k := range row {
				row[k] = -row[k]
			}
		}
		return rows, err
	}
	values, err := m.Values(x)
	rows := make([][]float64, len(values))
	for i, f := range values {
		rows[i] = []float64{f, -f}
	}
	return rows, err
}

// ByClass returns sets that contain the true class with the chosen probability for the points of
// every class, not only on average over the classes (Vovk 2012). It needs enough points held out
// of each class, and the sets are larger. For real targets it changes nothing.
func (c *Conformal) ByClass() *Conformal {
	if c == nil {
		return nil
	}
	own := *c
	own.byClass = true
	return &own
}

// Scores returns the scores of the n points held out, in the order of the folds: y's distance from
// the interval before it is moved, negative inside, or 1 − p or minus the decision value of the
// true class.
func (c *Conformal) Scores() []float64 {
	if c.none() {
		return nil
	}
	return slices.Clone(c.scores)
}

func (c *Conformal) none() bool { return c == nil || len(c.parts) == 0 }

// rank returns which of the n scores, counted from the smallest as 1, the share reaches.
func rank(call string, share float64, n int, of string) (int, error) {
	if !(share > 0 && share < 1) {
		return 0, arguments.Wrong(call, share, "the share is %v; it is the probability that the target is inside, between 0 and 1, such as 0.9", share)
	}
	k := int(math.Ceil(share*float64(n+1) - 1e-9))
	if k > n {
		return 0, arguments.Wrong(call, share, "%s%s held out are too few for a share of %s: it takes %d of them", say.Several(n, "point"), of, say.Percent(share), int(math.Ceil(share/(1-share)-1e-9)))
	}
	return k, nil
}

// Intervals returns for each of m points the ends of an interval that contains the target with the
// probability share, in (0, 1) and in units of the targets. Where two moved quantiles have crossed,
// both ends are their middle. The error is an *ArgumentError if too few points were held out for
// the share or if the model predicts classes, or one of predictions.
func (c *Conformal) Intervals(x datasets.Points, share float64) (low, high []float64, err error) {
	defer guard.Caught(&err)
	const call = "Intervals"
	if c.none() {
		return nil, nil, arguments.NoFit(call)
	}
	if c.classes != nil {
		return nil, nil, arguments.Wrong(call, math.NaN(), "the model predicts classes; say Sets")
	}
	n := len(c.scores)
	k, err := rank(call, share, n, "")
	if err != nil {
		return nil, nil, err
	}
	lows, highs := make([][]float64, len(c.parts)), make([][]float64, len(c.parts))
	for p := range c.parts {
		if lows[p], highs[p], err = c.parts[p].between(x); err != nil {
			return nil, nil, err
		}
	}
	ends := make([]float64, n)
	end := func(of [][]float64, i int, sign float64) float64 {
		for j, s := range c.scores {
			ends[j] = sign*of[c.part[j]][i] + s
		}
		slices.Sort(ends)
		return sign * ends[k-1]
	}
	m := len(lows[0])
	low, high = make([]float64, m), make([]float64, m)
	for i := range low {
		low[i], high[i] = end(lows, i, -1), end(highs, i, 1)
		if low[i] > high[i] {
			low[i] = (low[i] + high[i]) / 2
			high[i] = low[i]
		}
	}
	return low, high, nil
}

// Sets returns for each of m points the classes that are not ruled out: the true class is among
// them with the probability share, in (0, 1). A set of one class is a sure prediction, a set of
// several a doubtful one, and an empty set belongs to a point that is unlike all points held out.
// The error is an *ArgumentError if too few points were held out for the share or if the model
// predicts real values, or one of predictions.
func (c *Conformal) Sets(x datasets.Points, share float64) (_ [][]string, err error) {
	defer guard.Caught(&err)
	members, err := c.sets("Sets", x, share)
	if err != nil {
		return nil, err
	}
	out := make([][]string, len(members))
	for i, in := range members {
		out[i] = []string{}
		for k, is := range in {
			if is {
				out[i] = append(out[i], c.classes[k])
			}
		}
	}
	return out, nil
}

func (c *Conformal) sets(call string, x datasets.Points, share float64) ([][]bool, error) {
	if c.none() {
		return nil, arguments.NoFit(call)
	}
	if c.classes == nil {
		return nil, arguments.Wrong(call, math.NaN(), "the model predicts real values; say Intervals")
	}
	strange := make([][][]float64, len(c.parts))
	var err error
	for p := range c.parts {
		if strange[p], err = c.parts[p].strangeness(x); err != nil {
			return nil, err
		}
	}
	members := make([][]bool, len(strange[0]))
	for i := range members {
		members[i] = make([]bool, len(c.classes))
	}
	for k, name := range c.classes {
		var from []int // the points held out that class k is compared with
		for j := range c.scores {
			if !c.byClass || c.truth[j] == k {
				from = append(from, j)
			}
		}
		of := ""
		if c.byClass {
			of = " of " + say.Class(name)
		}
		r, err := rank(call, share, len(from), of)
		if err != nil {
			return nil, err
		}
		for i := range members {
			smaller := 0
			for _, j := range from {
				if c.scores[j] < strange[c.part[j]][i][k] {
					smaller++
				}
			}
			members[i][k] = smaller < r
		}
	}
	return members, nil
}

// ConformalEvaluation compares intervals or sets with the targets of test points.
type ConformalEvaluation struct {
	Of      string    // what was conformal, and the test points
	Points  int       // test points
	Shares  []float64 // probabilities with which an interval or set should contain the target, increasing
	Covered []int     // for each share, how many targets of test points were inside
	Sizes   []float64 // for each share, mean width of the intervals, in units of the targets, or mean number of classes
	Unit    string    // of Sizes
	held    int       // points held out, if there is one part; otherwise 0
}

// conformalShares are evaluated, as far as the points held out allow.
var conformalShares = []float64{0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99}

// Evaluate counts how many targets of the test points are inside their intervals or sets, for
// shares from 50 to 99 %. The test points must be neither training points nor points held out.
// Errors are those of Intervals and Sets.
func (c *Conformal) Evaluate(test *datasets.Dataset) (_ *ConformalEvaluation, err error) {
	defer guard.Caught(&err)
	const call = "Evaluate"
	if c.none() {
		return nil, arguments.NoFit(call)
	}
	if err := c.suits(call, test); err != nil {
		return nil, err
	}
	e := &ConformalEvaluation{Of: fmt.Sprintf("%v · %s · %s", c.parts[0].low, c.how, test.Name), Points: test.N(), Unit: test.Target}
	if c.classes != nil {
		e.Unit = "classes"
	}
	if len(c.parts) == 1 && !c.byClass {
		e.held = len(c.scores)
	}
	for _, share := range conformalShares {
		covered, size := 0, 0.0
		if c.classes == nil {
			low, high, err := c.Intervals(test, share)
			if err != nil {
				if errors.As(err, new(*arguments.Error)) && len(e.Shares) > 0 {
					break
				}
				return nil, err
			}
			for i, y := range test.Y {
				if low[i] <= y && y <= high[i] {
					covered++
				}
				size += (high[i] - low[i]) / float64(e.Points)
			}
		} else {
			members, err := c.sets("Sets", test, share)
			if err != nil {
				if errors.As(err, new(*arguments.Error)) && len(e.Shares) > 0 {
					break
				}
				return nil, err
			}
			for i, in := range members {
				for k, is := range in {
					if is {
						size += 1 / float64(e.Points)
						if c.classes[k] == test.ClassName(test.Y[i]) {
							covered++
						}
					}
				}
			}
		}
		e.Shares, e.Covered, e.Sizes = append(e.Shares, share), append(e.Covered, covered), append(e.Sizes, size)
	}
	return e, nil
}

// Markdown returns a table: the shares, how many test points were inside, and the sizes. With one
// set of points held out it adds the range in which the probability lies for 90 % of such sets.
func (e *ConformalEvaluation) Markdown() string {
	if e == nil {
		return arguments.NoneOf("evaluation", "Evaluate")
	}
	s := say.NewSummary()
	s.Row("**conformal**", "%s", e.Of)
	for k, share := range e.Shares {
		text := fmt.Sprintf("%s of %d test points inside, mean size %s", say.Percent(float64(e.Covered[k])/float64(e.Points)), e.Points, say.Signed(e.Sizes[k], 3))
		if e.Unit != "" {
			text += " " + e.Unit
		}
		if e.held > 0 {
			if r, err := rank("Markdown", share, e.held, ""); err == nil {
				text += fmt.Sprintf("; expected %s to %s", say.Percent(betaQuantile(r, e.held, 0.05)), say.Percent(betaQuantile(r, e.held, 0.95)))
			}
		}
		s.Row(say.Percent(share), "%s", text)
	}
	return s.String()
}

// betaQuantile returns the q-quantile of the probability that an interval of the k-th smallest of n
// scores contains a new target: the probability is Beta(k, n + 1 − k) over the draws of the n
// points (Vovk 2012), and it is at most p if at least k of n uniform numbers are.
func betaQuantile(k, n int, q float64) float64 {
	low, high := 0.0, 1.0
	for range 60 {
		p := (low + high) / 2
		if upperTail(n, k, p) < q {
			low = p
		} else {
			high = p
		}
	}
	return low
}

// upperTail returns the probability of at least k successes in n trials of probability p in (0, 1).
func upperTail(n, k int, p float64) float64 {
	sum := 0.0
	all, _ := math.Lgamma(float64(n + 1))
	for j := k; j <= n; j++ {
		a, _ := math.Lgamma(float64(j + 1))
		b, _ := math.Lgamma(float64(n - j + 1))
		sum += math.Exp(all - a - b + float64(j)*math.Log(p) + float64(n-j)*math.Log1p(-p))
	}
	return sum
}

// Chart draws the share of the test points that are inside over the share that was asked for. You
// can change the chart and then show it by [display.Show].
func (e *ConformalEvaluation) Chart() (_ *display.Chart, err error) {
	defer guard.Caught(&err)
	if e == nil || len(e.Shares) == 0 {
		return nil, arguments.Wrong("Chart", math.NaN(), "there is no evaluation; make one by Evaluate")
	}
	inside := make([]float64, len(e.Shares))
	for k, c := range e.Covered {
		inside[k] = 100 * float64(c) / float64(e.Points)
	}
	asked := make([]float64, len(e.Shares))
	best := 0
	for k, share := range e.Shares {
		asked[k] = 100 * share
		if share <= 0.9 {
			best = k
		}
	}
	what := "intervals"
	if e.Unit == "classes" {
		what = "sets"
	}
	free := [2]float64{math.NaN(), math.NaN()}
	chart, err := figure.Lines(figure.LinesData{
		Title: fmt.Sprintf("%s %% %s contain the targets of %.3g %% of %s", say.Number(asked[best]), what, inside[best], say.Several(e.Points, "test point")),
		X:     "asked for (%)", Y: "test points inside (%)", XRange: free, YRange: free,
		Lines: []figure.Line{{Name: "measured", X: asked, Y: inside}, {Name: "asked for", X: asked, Y: asked}},
	})
	if err != nil {
		return nil, fmt.Errorf("svmnb: %w", err)
	}
	return chart, nil
}

// Show displays the table and the chart in the cell's output.
func (e *ConformalEvaluation) Show() {
	display.Show(e)
	if e != nil {
		showChart(e.Chart())
	}
}
