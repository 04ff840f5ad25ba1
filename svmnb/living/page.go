// Package living has the page's side of living figures: the script that draws them and asks
// the engine (living.js), and what the script needs of Go: the data sets that a figure may
// name, with a still picture of each.
package living

import (
	"context"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/engine"
	"github.com/svmnb/svmnb/svmnb/internal/schemes"
)

var (
	//go:embed front
	front embed.FS
	//go:embed worker.js
	workerJS string
)

// parts are the files of the script but for main.js, which holds them, in their order.
var parts = strings.Fields("words colours contours pens engines states picture points run takeaway style figure")

// joined is the script, with its parts.
var joined = sync.OnceValue(func() string {
	text := file("main")
	for _, part := range parts {
		text = strings.Replace(text, "$parts", file(part)+"\n$parts", 1)
	}
	return strings.Replace(text, "\n$parts", "", 1)
})

func file(name string) string {
	b, err := front.ReadFile("front/" + name + ".js")
	if err != nil {
		panic(err) // the file is embedded
	}
	return string(b)
}

// Dial is a slider: a parameter and its values, as text, in increasing order.
type Dial struct {
	Name   string   `json:"name"`
	Kernel int      `json:"kernel"` // of which kernel it is a parameter; −1 for none
	Values []string `json:"values"`
	At     int      `json:"at"` // index of the first value
}

// Kernel is a kernel to choose. In Form, $name stands for the value of a dial.
type Kernel struct {
	Name string `json:"name"`
	Form string `json:"form"`
}

// Spec says what a figure shows at first and what a reader can change.
type Spec struct {
	Task     string   `json:"task"`             // one of Tasks
	Scheme   string   `json:"scheme,omitempty"` // of several classes: pairs, rest or joint
	Name     string   `json:"name"`
	Label    string   `json:"label,omitempty"`  // the name for readers
	Source   string   `json:"source,omitempty"` // Go code that makes the data
	Features []string `json:"features,omitempty"`
	Classes  []string `json:"classes,omitempty"` // of y = −1 and y = +1; of several classes those of y = 0, 1, …
	D        int      `json:"d"`
	Data     string   `json:"data"` // base64 of the bytes of X, n × d, and Y
	Kernels  any      `json:"kernels"`
	Dials    []Dial   `json:"dials,omitempty"`
	C        float64  `json:"c"`
	Epsilon  float64  `json:"epsilon,omitempty"`
	Stop     string   `json:"stop,omitempty"` // kkt or gap; "" for m − M
	Tol      float64  `json:"tol,omitempty"`  // 0 means 1e-3

	Weights      string    `json:"weights,omitempty"`      // base64 of the weights of the points, or of the variances of their noise
	ClassWeights []float64 `json:"classWeights,omitempty"` // in the order of the classes
	Balanced     bool      `json:"balanced,omitempty"`
	Bias         *float64  `json:"bias,omitempty"` // at which the bias is fixed
	Tau2         float64   `json:"tau2,omitempty"` // that is added to the kernel; −1 for max K(x, x)
	ZeroMean     bool      `json:"zeroMean,omitempty"`
	Scaled       bool      `json:"scaled,omitempty"`
	Methods      []string  `json:"methods,omitempty"` // the solvers to choose from
	Note         string    `json:"note,omitempty"`    // what readers should know

	Alike *bool  `json:"alike,omitempty"`
	Still string `json:"still,omitempty"` // base64 of an answer as float32
}

// Base64 returns the base64 of the bytes of numbers.
func Base64(v ...[]float64) string {
	var b []byte
	for _, part := range v {
		b = append(b, engine.Bytes(part)...)
	}
	return base64.StdEncoding.EncodeToString(b)
}

// usual are the kernels and dials of a named data set; living.js makes the list from them.
type usual struct {
	First string  `json:"first"` // the kernel that is shown first
	Gamma float64 `json:"gamma"`
	Scale float64 `json:"scale,omitempty"` // of a Gaussian process
}

// preset is a data set that a figure can name.
type preset struct {
	spec Spec
	data *datasets.Dataset
	k    usual
}

// presets returns the named data sets in the order in which readers choose them.
func presets() []preset {
	outlier := datasets.Blobs(40, 2, 0.55, 3)
	outlier.X, outlier.Y = append(outlier.X, []float64{-0.35, -0.3}), append(outlier.Y, 1)
	return []preset{
		{Spec{Task: "classify", Name: "blobs", Label: "two clouds", Source: "datasets.Blobs(40, 2, 0.5, 1)", C: 1000, Tol: 1e-6}, datasets.Blobs(40, 2, 0.5, 1), usual{First: "Linear", Gamma: 0.25}},
		{Spec{Task: "classify", Name: "outlier", Label: "clouds with an outlier", C: 10, Tol: 1e-6}, outlier, usual{First: "Linear", Gamma: 0.25}},
		{Spec{Task: "classify", Name: "moons", Label: "moons", Source: "datasets.Moons(120, 0.2, 42)", C: 10}, datasets.Moons(120, 0.2, 42), usual{First: "RBF", Gamma: 2}},
		{Spec{Task: "classify", Name: "circles", Label: "circles", Source: "datasets.Circles(120, 0.1, 1)", C: 10}, datasets.Circles(120, 0.1, 1), usual{First: "RBF", Gamma: 2}},
		{Spec{Task: "classify", Name: "xor", Label: "four clouds (XOR)", Source: "datasets.XOR(80, 0.45, 1)", C: 10}, datasets.XOR(80, 0.45, 1), usual{First: "RBF", Gamma: 0.5}},
		{Spec{Task: "classify", Name: "spirals", Label: "spirals", Source: "datasets.Spirals(160, 0.1, 1)", C: 100}, datasets.Spirals(160, 0.1, 1), usual{First: "RBF", Gamma: 2}},
		{Spec{Task: "twonorm", Name: "twonorm", Label: "moons: 2-norm soft margin", Source: "datasets.Moons(120, 0.2, 42)", C: 10}, datasets.Moons(120, 0.2, 42), usual{First: "RBF", Gamma: 2}},
		{Spec{Task: "nu", Name: "nu", Label: "moons: ν machine", Source: "datasets.Moons(120, 0.2, 42)", C: 0.1}, datasets.Moons(120, 0.2, 42), usual{First: "RBF", Gamma: 2}},
		{Spec{Task: "oneclass", Name: "region", Label: "one class: a region", Source: "datasets.Moons(120, 0.1, 7)", C: 0.1}, datasets.Moons(120, 0.1, 7), usual{First: "RBF", Gamma: 4}},
		{Spec{Task: "regress", Name: "sinc", Label: "regression: sinc", Source: "datasets.Sinc(60, 0.1, 1)", C: 10, Epsilon: 0.1}, datasets.Sinc(60, 0.1, 1), usual{First: "RBF", Gamma: 0.2}},
		{Spec{Task: "process", Name: "process", Label: "Gaussian process", Source: "datasets.Sinc(6, 0.05, 5)", C: 0.01}, datasets.Sinc(6, 0.05, 5), usual{First: "RBF", Gamma: 0.2, Scale: 0.3}},
	}
}

// Named returns the specification of a named data set, with its still picture.
func Named(name string) (Spec, error) {
	for _, p := range presets() {
		if p.spec.Name == name {
			return p.complete()
		}
	}
	return Spec{}, fmt.Errorf("living: there is no data set %q", name)
}

// complete returns the specification of a preset, with its data and its still picture.
func (p preset) complete() (Spec, error) {
	s := p.spec
	s.D, s.Kernels = p.data.D(), p.k
	s.Data = Base64(append(append([][]float64{}, p.data.X...), p.data.Y)...)
	if s.D == 1 {
		s.Features = []string{"x", "y"}
	}
	var k kernels.Kernel = kernels.RBF(p.k.Gamma)
	if p.k.First == "Linear" {
		k = kernels.Linear()
	}
	if p.k.Scale > 0 {
		k = kernels.Scale(p.k.Scale, k)
	}
	var err error
	s.Still, err = Still(s, p.data.X, p.data.Y, k)
	return s, err
}

// Element returns the HTML element of a figure. Where its script is missing, as in a notebook,
// the element shows nothing.
func (s Spec) Element() (string, error) {
	text, err := json.Marshal(s)
	return Beginning + ` spec="` + html.EscapeString(string(text)) + `"></svmnb-figure>`, err
}

// Stilled returns the specification with its still picture, or without one if it cannot be
// trained within two seconds. Specifications in notebooks have none, since its last digits
// depend on the machine.
func (s Spec) Stilled() Spec {
	text, err := json.Marshal(s.Kernels)
	var list []Kernel
	if err != nil || json.Unmarshal(text, &list) != nil || len(list) == 0 {
		return s
	}
	b, err := base64.StdEncoding.DecodeString(s.Data)
	if err != nil || s.D < 1 || s.D > 2 || len(b)%(8*(s.D+1)) != 0 {
		return s
	}
	form := list[0].Form
	for _, d := range s.Dials {
		if d.At < 0 || d.At >= len(d.Values) {
			return s
		}
		if d.Kernel == 0 {
			form = strings.Replace(form, "$"+d.Name, d.Values[d.At], 1)
		}
	}
	k, err := kernels.Parse(form)
	if err != nil {
		return s
	}
	v := engine.FromBytes(b)
	n := len(v) / (s.D + 1)
	x := make([][]float64, n)
	for i := range x {
		x[i] = v[i*s.D : (i+1)*s.D]
	}
	if n > 0 {
		s.Still, _ = Still(s, x, v[n*s.D:], k) // without it, the figure shows the points
	}
	return s
}

// Tasks are the names of engine's tasks.
var Tasks = map[string]engine.Task{"classify": engine.Classify, "regress": engine.Regress, "oneclass": engine.OneClass, "process": engine.Process, "twonorm": engine.TwoNorm, "nu": engine.Nu,
	"hard": engine.Hard, "squared": engine.Squared, "nuregress": engine.NuRegress}

// Question returns the question of a specification, with the final picture's settings but for
// the grid. It fails if there are not as many weights as points.
func (s Spec) Question(x [][]float64, y []float64, k kernels.Kernel) (q engine.Question, err error) {
	q = engine.Question{Task: Tasks[s.Task], X: x, Y: y, Kernel: k, C: s.C, Epsilon: s.Epsilon, Tol: s.Tol, Moment: -1, Trace: true,
		Stop: map[string]engine.Stop{"kkt": engine.KKT, "gap": engine.RelGap}[s.Stop], Tau2: s.Tau2, ZeroMean: s.ZeroMean, Scaled: s.Scaled}
	if len(s.Methods) > 0 && s.Task != "process" && s.Scheme != "joint" {
		q.Method = s.Methods[0]
	}
	if s.Bias != nil {
		q.Fixed, q.Bias = true, *s.Bias
	}
	if s.Scheme != "" {
		q.Classes, q.Scheme = len(s.Classes), map[string]schemes.Scheme{"rest": schemes.OneVsRest, "joint": schemes.CrammerSinger}[s.Scheme]
	}
	if s.Weights == "" && s.ClassWeights == nil && !s.Balanced {
		return q, nil
	}
	w := slices.Repeat([]float64{1}, len(y))
	if s.Weights != "" {
		b, err := base64.StdEncoding.DecodeString(s.Weights)
		if w = engine.FromBytes(b); err != nil || len(w) != len(y) {
			return q, fmt.Errorf("living: %d weights for %d points, %w", len(w), len(y), err)
		}
	}
	each := max(2, q.Classes)
	count := make([]float64, each)
	class := func(y float64) int {
		if s.Scheme == "" {
			return int(y+1) / 2
		}
		return int(y)
	}
	for _, v := range y {
		if s.ClassWeights != nil || s.Balanced {
			count[class(v)]++
		}
	}
	for i, v := range y {
		c := 1.0 // in the order of package svmnb, so that both have the same bits
		if q.Task != engine.Process && q.Task != engine.Nu && q.Task != engine.NuRegress && q.Task != engine.OneClass {
			c = s.C
		}
		if s.ClassWeights != nil {
			c *= s.ClassWeights[class(v)]
		}
		w[i] *= c
		if s.Balanced {
			w[i] *= float64(len(y)) / (float64(each) * count[class(v)])
		}
	}
	q.Cost = w
	return q, nil
}

// The grid of a still picture.
const stillAcross, stillUp, stillPlaces = 60, 40, 90

// Still trains a specification and returns its Still. The view is the one that living.js
// shows at first on a wide page.
func Still(s Spec, x [][]float64, y []float64, k kernels.Kernel) (string, error) {
	q, err := s.Question(x, y, k)
	if err != nil {
		return "", err
	}
	q.Trace, q.Limit, q.Nx, q.Ny = false, 2*time.Second, stillAcross, stillUp
	q.Xs, q.Ys = view(s.Task, x, y)
	if s.D == 1 {
		q.Nx, q.Ny = stillPlaces, 1
	}
	v, err := (&engine.Machine{}).Numbers(context.Background(), q)
	if err != nil {
		return "", fmt.Errorf("%s: %w", s.Name, err)
	}
	if v[slices.Index(engine.Answered, "converged")] == 0 {
		return "", fmt.Errorf("%s: not trained within two seconds", s.Name)
	}
	b := make([]byte, 0, 4*len(v))
	for _, n := range v {
		bits := math.Float32bits(float32(n))
		b = append(b, byte(bits), byte(bits>>8), byte(bits>>16), byte(bits>>24))
	}
	return base64.StdEncoding.EncodeToString(b), nil
}

// view returns the part of the plane that living.js shows, stillView: so much that it fills a
// wide figure and a narrow one.
func view(task string, x [][]float64, y []float64) (xs, ys [2]float64) {
	extent := func(f func(i int) float64, pad float64) [2]float64 {
		low, high := math.Inf(1), math.Inf(-1)
		for i := range x {
			low, high = min(low, f(i)), max(high, f(i))
		}
		d := high - low
		if d == 0 {
			d = 1
		}
		return [2]float64{low - pad*d, high + pad*d}
	}
	if len(x[0]) == 1 {
		pad := 0.25
		if task == "process" && len(x) <= 12 { // FEW
			pad = 0.6
		}
		return extent(func(i int) float64 { return x[i][0] }, 0.08), extent(func(i int) float64 { return y[i] }, pad)
	}
	xs, ys = extent(func(i int) float64 { return x[i][0] }, 0.14), extent(func(i int) float64 { return x[i][1] }, 0.14)
	wide, high := xs[1]-xs[0], ys[1]-ys[0]
	if wide > 4*high || high > 4*wide {
		return xs, ys
	}
	grow := func(e [2]float64, to float64) [2]float64 {
		middle := (e[0] + e[1]) / 2
		return [2]float64{middle - to/2, middle + to/2}
	}
	if wide/high < 1.55 {
		xs = grow(xs, high*1.55)
	}
	if wide/high >= 1.2 {
		ys = grow(ys, wide/1.2)
	}
	return xs, ys
}

// Script returns living.js as a page has it. The engine stands beside it in a file of the
// name EngineFile, or is in the page.
var Script = sync.OnceValues(func() (string, error) {
	list := []string{}
	for _, p := range presets() {
		s, err := p.complete()
		if err != nil {
			return "", err
		}
		text, err := json.Marshal(s)
		if err != nil {
			return "", err
		}
		list = append(list, fmt.Sprintf("%q: %s", s.Name, text))
	}
	return script("{"+strings.Join(list, ",\n")+"}", `(document.currentScript && document.currentScript.src || '').replace(/[^/]*$/, '') + '`+EngineFile+`'`, "svmnb-figure"), nil
})

// InNotebook is the script in the output of a cell whose program answers the figure. Its
// element has another name, so that figures for the site stay hidden in a notebook.
func InNotebook() string { return script("{}", "''", "svmnb-explore") }

func script(presets, engine, tag string) string {
	return strings.NewReplacer("$presets", presets, "$engine", engine, "$tag", "'"+tag+"'").Replace(joined())
}

// EngineFile is the name of the file of the engine.
const EngineFile = "living-engine.js"

// Beginning is the beginning of a living figure in a page.
const Beginning = "<svmnb-figure"

// Worker is the script of the worker that runs the engine, after Go's own.
func Worker() string { return workerJS }
