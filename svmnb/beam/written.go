package beam

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/panics"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/learn"
	"github.com/svmnb/svmnb/svmnb/internal/letter"
	"github.com/svmnb/svmnb/svmnb/selection"
	"github.com/svmnb/svmnb/svmnb/transform"
)

// A description goes to another process as the text that its String returns, and the data in a
// file. Reading the text calls the functions and methods that it names. What cannot be written
// and read back, such as a kernel of your own, is refused here, in the process of the caller.

// readable are the functions that a text may call. The data set stands for their argument "data".
var readable = map[string]any{
	"Classify": svmnb.Classify, "OneClass": svmnb.OneClass, "Enclose": svmnb.Enclose, "Regress": svmnb.Regress, "Pipe": selection.Pipe,
	"Standardise": transform.Standardise, "MinMax": transform.MinMax, "MaxAbs": transform.MaxAbs, "PCA": transform.PCA,
	"Nystroem": transform.Nystroem, "KernelPCA": transform.KernelPCA, "RandomFourier": transform.RandomFourier, "OneHot": transform.OneHot, "Encode": transform.Encode,
	"Impute": transform.Impute, "LogTarget": transform.LogTarget, "StandardiseTarget": transform.StandardiseTarget,
	"KFold": selection.KFold, "StratifiedKFold": selection.StratifiedKFold, "RepeatedKFold": selection.RepeatedKFold,
}

// readMetrics are the metrics that workers know by their names.
var readMetrics = []selection.Metric{
	selection.Accuracy, selection.BalancedAccuracy, selection.F1, selection.MCC, selection.AUC, selection.AveragePrecision,
	selection.LogLoss, selection.Brier, selection.RMSE, selection.MAE, selection.NLPD,
}

// placeholder is the name of the data in the text of a description.
const placeholder = letter.Data

// write returns the text of a learner, or an error if it cannot be read back.
func write(l learn.Learner) (string, error) {
	text := letter.Text(l)
	_, err := readLearner(text, l.Data())
	return text, err
}

// readLearner reads the text of a learner, and gives it the data.
func readLearner(text string, data *datasets.Dataset) (learn.Learner, error) {
	renamed := *data
	renamed.Name = placeholder
	v, err := read(text, &renamed)
	if err != nil {
		return nil, err
	}
	l, ok := v.(selection.Learner)
	if !ok {
		return nil, fmt.Errorf("%s is a %T, and not the description of a machine", text, v)
	}
	return l.Learning().With(data, nil), nil
}

// read computes the expression of a text, and checks that the result has the same text.
func read(text string, data *datasets.Dataset) (v any, err error) {
	defer panics.Recover(&err, func() string { return "reading " + text })
	expr, err := parser.ParseExpr(text)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", text, err)
	}
	r := reading{text, data}
	value, err := r.value(expr)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", text, err)
	}
	if s, ok := value.Interface().(fmt.Stringer); !ok || s.String() != text {
		return nil, fmt.Errorf("%s cannot be read: it comes back as %v", text, value)
	}
	return value.Interface(), nil
}

type reading struct {
	text string
	data *datasets.Dataset
}

func (r reading) source(e ast.Expr) string { return r.text[e.Pos()-1 : e.End()-1] }

// value computes a call of a function or of a method.
func (r reading) value(e ast.Expr) (reflect.Value, error) {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return reflect.Value{}, fmt.Errorf("%s is no call", r.source(e))
	}
	var f reflect.Value
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		known, ok := readable[fun.Name]
		if !ok {
			return reflect.Value{}, fmt.Errorf("%s is not known", fun.Name)
		}
		f = reflect.ValueOf(known)
	case *ast.SelectorExpr:
		of, err := r.value(fun.X)
		if err != nil {
			return reflect.Value{}, err
		}
		if f = of.MethodByName(fun.Sel.Name); !f.IsValid() {
			return reflect.Value{}, fmt.Errorf("%v has no setting %s", of.Type(), fun.Sel.Name)
		}
	default:
		return reflect.Value{}, fmt.Errorf("%s is no call", r.source(e))
	}
	t := f.Type()
	if t.NumOut() != 1 || t.Out(0).Kind() != reflect.Struct { // such as MustFit, which would compute
		return reflect.Value{}, fmt.Errorf("%s is no description", r.source(e))
	}
	var args []reflect.Value
	for i, arg := range call.Args {
		var want reflect.Type
		switch {
		case t.IsVariadic() && i >= t.NumIn()-1:
			want = t.In(t.NumIn() - 1).Elem()
		case i < t.NumIn():
			want = t.In(i)
		default:
			return reflect.Value{}, fmt.Errorf("%s has too many arguments", r.source(e))
		}
		v, err := r.argument(arg, want)
		if err != nil {
			return reflect.Value{}, err
		}
		args = append(args, v)
	}
	if least := t.NumIn(); len(args) < least && !(t.IsVariadic() && len(args) == least-1) {
		return reflect.Value{}, fmt.Errorf("%s has too few arguments", r.source(e))
	}
	return f.Call(args)[0], nil
}

var (
	dataType   = reflect.TypeFor[*datasets.Dataset]()
	kernelType = reflect.TypeFor[kernels.Kernel]()
)

func (r reading) argument(e ast.Expr, want reflect.Type) (reflect.Value, error) {
	src := r.source(e)
	bad := func(err error) (reflect.Value, error) {
		return reflect.Value{}, fmt.Errorf("the argument %s: %w", src, err)
	}
	v := reflect.New(want).Elem()
	switch {
	case want == dataType:
		if src != placeholder {
			return bad(errors.New("this is not the data"))
		}
		return reflect.ValueOf(r.data), nil
	case want == kernelType:
		k, err := kernels.Parse(src)
		if err != nil {
			return bad(err)
		}
		v.Set(reflect.ValueOf(k))
		return v, nil
	case want.Kind() == reflect.Interface: // a part of a pipeline
		part, err := r.value(e)
		if err != nil {
			return bad(err)
		}
		if !part.Type().Implements(want) {
			return bad(fmt.Errorf("it is a %v", part.Type()))
		}
		v.Set(part)
		return v, nil
	}
	var err error
	switch want.Kind() {
	case reflect.Float64:
		var x float64
		x, err = strconv.ParseFloat(src, 64)
		if src == "kernels.Radius" {
			x, err = kernels.Radius, nil
		}
		v.SetFloat(x)
	case reflect.Int, reflect.Int64:
		var x int64
		x, err = strconv.ParseInt(src, 10, 64)
		v.SetInt(x)
	case reflect.Uint64:
		var x uint64
		x, err = strconv.ParseUint(src, 10, 64)
		v.SetUint(x)
	case reflect.String:
		lit, ok := e.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return bad(errors.New("it is no string"))
		}
		var x string
		x, err = strconv.Unquote(lit.Value)
		v.SetString(x)
	default:
		err = fmt.Errorf("a %v cannot be written down", want)
	}
	if err != nil {
		return bad(err)
	}
	return v, nil
}

// searchText is a search that is written down.
type searchText struct {
	Learner string   `json:"learner"`
	Data    string   `json:"data"` // file in the folder
	Names   []string `json:"names"`
	Folds   string   `json:"folds"`
	Metrics []string `json:"metrics"`
}

// writeSearch writes a search down, and its data into the folder.
func writeSearch(ctx context.Context, files store, s selection.Searcher) (*searchText, error) {
	l, space, folds, metrics := s.Parts()
	refuse := func(err error) (*searchText, error) {
		return nil, arguments.Wrong("On", math.NaN(), "workers in other processes need a search that can be written down, or one that their program has registered (RegisterSearch and Named): %v", err)
	}
	text, err := write(l)
	if err != nil {
		return refuse(err)
	}
	if _, err := read(folds.String(), nil); err != nil {
		return refuse(err)
	}
	t := &searchText{Learner: text, Folds: folds.String()}
	for _, m := range metrics {
		if !slices.ContainsFunc(readMetrics, func(known selection.Metric) bool { return known.Name == m.Name }) {
			return refuse(fmt.Errorf("the metric %s is one of your own", m.Name))
		}
		t.Metrics = append(t.Metrics, m.Name)
	}
	if t.Names, _, err = space.Settings(); err != nil {
		return nil, err
	}
	t.Data, err = writeData(ctx, files, l.Data())
	return t, err
}

// search returns the search of the text.
func (t *searchText) search(ctx context.Context, files store) (selection.Searcher, error) {
	data, err := readData(ctx, files, t.Data)
	if err != nil {
		return selection.Searcher{}, err
	}
	return t.over(data)
}

// over returns the search of the text over the data.
func (t *searchText) over(data *datasets.Dataset) (selection.Searcher, error) {
	l, err := readLearner(t.Learner, data)
	if err != nil {
		return selection.Searcher{}, err
	}
	v, err := read(t.Folds, nil)
	if err != nil {
		return selection.Searcher{}, err
	}
	folds, ok := v.(selection.Folds)
	if !ok {
		return selection.Searcher{}, fmt.Errorf("%s are no folds", t.Folds)
	}
	s := selection.Search(wrapped{l}, only(t.Names), folds)
	var metrics []selection.Metric
	for _, name := range t.Metrics {
		i := slices.IndexFunc(readMetrics, func(m selection.Metric) bool { return m.Name == name })
		if i < 0 {
			return selection.Searcher{}, fmt.Errorf("the metric %s is not known", name)
		}
		metrics = append(metrics, readMetrics[i])
	}
	if len(metrics) > 0 {
		s = s.By(metrics[0], metrics[1:]...)
	}
	return s, nil
}

// wrapped is a selection.Learner of a learn.Learner.
type wrapped struct{ learn.Learner }

func (w wrapped) Learning() learn.Learner { return w.Learner }

// only is a space with names and no settings: chains bring theirs.
type only []string

func (o only) Settings() ([]string, [][]float64, error) { return o, nil, nil }
func (o only) String() string                           { return strings.Join(o, ", ") }

// writeData writes a data set into the folder, under a name that is a hash of its content.
func writeData(ctx context.Context, files store, data *datasets.Dataset) (string, error) {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(data); err != nil {
		return "", fmt.Errorf("svmnb: Beam: the data cannot be written down: %w", err)
	}
	name := "data-" + hash(b.Bytes()) + ".gob"
	if size, err := files.fs.Size(ctx, files.path(name)); err == nil && size == int64(b.Len()) {
		return name, nil
	}
	if err := files.write(ctx, name, b.Bytes()); err != nil {
		return "", fmt.Errorf("svmnb: Dir: %w", err)
	}
	return name, nil
}

// data has the data set that this process has read last.
var lastData struct {
	sync.Mutex
	at string
	of *datasets.Dataset
}

func readData(ctx context.Context, files store, name string) (*datasets.Dataset, error) {
	lastData.Lock()
	defer lastData.Unlock()
	at := files.path(name)
	if lastData.at == at {
		return lastData.of, nil
	}
	text, err := files.read(ctx, name)
	if err != nil {
		return nil, err
	}
	if "data-"+hash(text)+".gob" != name {
		return nil, fmt.Errorf("the file %s was changed after it was written", at)
	}
	var d datasets.Dataset
	if err := gob.NewDecoder(bytes.NewReader(text)).Decode(&d); err != nil {
		return nil, fmt.Errorf("the file %s: %w", at, err)
	}
	lastData.at, lastData.of = at, &d
	return &d, nil
}
