package figure

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dop251/goja"

	"github.com/svmnb/svmnb/internal/jslint"
	"github.com/svmnb/svmnb/svmnb/internal/contour"
	"github.com/svmnb/svmnb/svmnb/internal/echarts"
)

var declaration = regexp.MustCompile(`(?m)^(?:function (\w+)\(|var (\w+) = )`)

// Each declaration of each script stands by itself, says nothing of others, and is used.
func TestScriptsAreSound(t *testing.T) {
	var code strings.Builder
	for _, name := range must[[]string](t)(filepath.Glob("*.go")) {
		if !strings.HasSuffix(name, "_test.go") {
			code.Write(must[[]byte](t)(os.ReadFile(name)))
		}
	}
	n := 0
	for _, name := range must[[]string](t)(filepath.Glob("*.js")) {
		text := string(must[[]byte](t)(os.ReadFile(name)))
		for _, m := range declaration.FindAllStringSubmatch(text, -1) {
			d := m[1] + m[2]
			n++
			if d == "tables" {
				continue // read as a part of the tips
			}
			for _, wrong := range jslint.Check(name, "("+source(text).text(d)+")", "svm", "T", "O", "echarts", "chart") {
				t.Errorf("%s: %s: %s", name, d, wrong)
			}
			if !strings.Contains(code.String(), `"`+d+`"`) {
				t.Errorf("%s: %s is used nowhere", name, d)
			}
		}
		for i, part := range strings.Split(text, "\n\n") {
			if got := len(declaration.FindAllString(part, -1)); got > 1 {
				t.Errorf("%s: part %d has %d declarations: put an empty line before each", name, i, got)
			}
		}
	}
	if n < 105 {
		t.Errorf("only %d declarations found", n)
	}
}

// What Go fills in is filled in: of a name that is left, ECharts knows only its own.
func filled(t *testing.T, name string, c *Chart) {
	t.Helper()
	for f := range echarts.Functions(c.JSON()) {
		if left := regexp.MustCompile(`\$[a-z]\w*`).FindString(strings.ReplaceAll(f, "$mergeChildren", "")); left != "" {
			t.Errorf("%s: %s stands for nothing in %.80s", name, left, f)
		}
	}
}

// page is as much of a browser as the scripts need.
const page = `var T = function (token) { return token; };
var document = { createElement: function (tag) {
	var text = '', e = {};
	var inner = function () { return text.replace(/&/g, '&amp;').replace(/</g, '&lt;'); };
	Object.defineProperty(e, 'textContent', { set: function (v) { text = String(v); } });
	Object.defineProperty(e, 'innerHTML', { get: inner });
	Object.defineProperty(e, 'outerHTML', { get: function () { return '<' + tag + '>' + inner() + '</' + tag + '>'; } });
	return e;
} };
var echarts = { format: { encodeHTML: function (s) { return s.replace(/</g, '&lt;'); } } };
var frame = 0, chart = function () { return { getModel: function () { return { getComponent: function () { return { get: function () { return frame; } }; } }; } }; };
var api = { coord: function (v) { return [10 * v[0], 100 - 10 * v[1]]; }, value: function (k) { return value[k]; }, size: function (v) { return [10 * v[0], 10 * v[1]]; } };
var value = [], box = { x: 10, y: 0, width: 50, height: 100 };`

// The scripts compute what they shall, without a browser.
func TestScriptsCompute(t *testing.T) {
	vm := goja.New()
	runtime, _ := echarts.Source()
	_, num, ok := strings.Cut(runtime, "\n  function num(")
	num, _, also := strings.Cut(num, "\n  }\n")
	if !ok || !also {
		t.Fatal("runtime.js has no num")
	}
	must[goja.Value](t)(vm.RunString(page + "\nvar svm = { num: function (" + num + "\n} };"))
	run := func(name, js string) string {
		t.Helper()
		v, err := vm.RunString("JSON.stringify(" + js + ")")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return ""
		}
		return v.String()
	}
	for _, test := range []struct {
		name       string
		script     any // types.FuncStr
		svm        string
		call, want string
	}{
		{"number", marksJS.text("number"), `{}`, `(-0.00012)`, `"−1.2e-4"`},
		{"digits", marksJS.text("digits", "digits", 6), `{}`, `(123.45678)`, `"123.457"`},
		{"size", marksJS.text("size"), `{}`, `(-12)`, `"12"`},
		{"iteration", marksJS.text("iteration"), `{}`, `(Math.log(1000) / Math.LN10)`, `"999"`},
		{"power", marksJS.text("power"), `{}`, `(-2)`, `"0.01"`},
		{"points", marksJS.text("points", "x", "a", "y", "b"), `{a: [1, 2], b: [3, null]}`, ``, `[[1,3],[2,null]]`},
		{"start", marksJS.text("start", "x", "a", "y", "b"), `{a: [1, 2], b: [3, 4]}`, ``, `[[1,3]]`},
		{"strips", marksJS.text("strips", "y", -1), `{x: [1, 2]}`, ``, `[[1,-1],[2,-1]]`},
		{"strip", marksJS.text("strip") + `({dataIndex: 1, coordSys: box}, api).shape`, `{x: [1, 2, 4]}`, ``, `{"x":15,"y":0,"width":15,"height":100}`},
		{"strip of no width", marksJS.text("strip") + `({dataIndex: 0, coordSys: box}, api)`, `{x: [-3, -2]}`, ``, `null`},
		{"one grid", marksJS.text("oneGrid", "right", 14), `{sizes: [["a", 8]]}`, `(400, 30)`, `{"height":362,"option":{"grid":{"left":56,"right":14,"top":30,"height":280},"series":[{"id":"a","symbolSize":6}]}}`},
		{"runs of shades", kktJS.text("cells"), `{cells: ["..aab", "a...."], edges: [0, 1, 2, 3, 4, 5]}`, ``, `[[2,0,4,0,2,3],[4,0,5,1,4,4],[0,1,1,0,0,0]]`},
		{"violations at the end", kktJS.text("ends"), `{finals: [0.5, null, 2]}`, ``, `[[0.5,0],[2,2]]`},
		{"cells of a class", workingsetsJS.text("cells", "cells", kktJS.text("cells"), "side", 1), `{cells: ["a", "a"], edges: [0, 1], up: [0, 1]}`, ``, `[[0,1,1,0,0,0]]`},
		{"tip of a violation", kktJS.text("tip"), `{rows: [7], its: [0, 5], tol: 0.01, most: 1, shades: 2}`, `({value: [0, 0, 1, 1, 0, 1]})`, `"<b>point 7</b><br>iterations 0 – 5<br>violation ≈ 0.32"`},
		{"tip with a foreign name", alphasJS.text("tip"), `{name: "α"}`, `({value: [0, 0.5, -1, 0], seriesName: "<b>"})`, `"<b>&lt;b></b><br>0 ≤ α &lt; 0.5<br>1 point"`},
		{"tip of a curve", validationJS.text("tip"), `{metric: "accuracy", unit: " %", name: "C"}`, `({seriesName: "held out", value: [10, 95]})`, `"<b>held out: accuracy 95 %</b><br><span>C = 10</span>"`},
		{"effort in thousands", raceJS.text("text"), `{}`, `('ev', Math.log(20000) / Math.LN10)`, `"20k"`},
		{"effort in iterations", raceJS.text("text"), `{}`, `('it', Math.log(35) / Math.LN10)`, `"35"`},
		{"effort in time", raceJS.text("text"), `{}`, `('t', -4)`, `"100 µs"`},
		{"place of a run", raceJS.text("at"), `{}`, `({key: 'ev', low: 1}, {ev: [0.5, 2, null]}, 0)`, `1`},
		{"place of what was not counted", raceJS.text("at"), `{}`, `({key: 'ev', low: 1}, {ev: [null]}, 0)`, `null`},
		{"points of a run", raceJS.text("points", "run", 0, "key", "it", "low", 0.5, "color", "@pos"), `{runs: [{done: false, gap: [3, 0], it: [0, 2]}], floor: 1e-3}`, ``,
			`[[0.5,3],{"value":[2,0.001],"itemStyle":{"color":"@page","borderColor":"@pos","borderWidth":2}}]`},
		{"ticks of the evidence", evidenceJS.text("layout") + `(572, 0).option.xAxis[0].axisLabel.customValues`, `{box: {x: [0, 2], y: [0, 1]}}`, ``, `[0,0.30102999566398114,0.6989700043360187,1,1.301029995663981,1.6989700043360185,2]`},
		{"points of a pair", pairsJS.text("pair", "class", 0, "x", 1, "y", 2), `{rows0: [7, 9], c0_1: [1, null], c0_2: [3, 4], time1: false, time2: true}`, ``, `[[1,3000,7,1,2],["-",4000,9,1,2]]`},
		{"correlations of a row", pairsJS.text("correlations", "row", 0, "across", 8) + `({coordSys: box}).children.map(function (c) { return [c.x, c.style.text]; })`, `{r: [[1, -0.5, null]]}`, ``, `[[93,"−0.50"],[151,"–"]]`},
		{"short counts", histogramsJS.text("short"), `{}`, `(12000) + ' ' + (` + histogramsJS.text("short") + `)(9999) + ' ' + (` + histogramsJS.text("short") + `)(2.5e6)`, `"12k 9999 2.5M"`},
		{"tip of a bin of times", histogramsJS.text("tip"), `{heads: [{name: "<b>"}], kinds: ["time"]}`, `({seriesId: 'bars0_1', seriesName: 'a', value: [0, 3600000, 0, 1, 1]})`, `"<b>&lt;b></b> <i>1970-01-01 to 1970-01-01 01:00</i><br>a: 1 row"`},
		{"tip of a correlation that is none", correlationsJS.text("tip"), `{names: ["a", "b"]}`, `({value: [0, 1, null, 1]})`, `"<b>b</b> and <b>a</b><br>r is not defined: one of the two is constant<br>1 row"`},
		{"tip of a pattern", missingJS.text("tip"), `{names: ["a"]}, xAxis: [0, {data: ["1"]}]`, `({seriesId: 'cells', value: [0, 0, 1]})`, `"1 row with this pattern<br><b>a</b> is missing"`},
		{"images in rows", imagesJS.text("layout") + `(400, 20).svm`, `{files: Array(7), rows: 8, cols: 4}`, ``, `{"across":7,"pitch":55.42857142857143,"drop":55.42857142857143,"width":22.714285714285715,"height":45.42857142857143}`},
		{"a label of nothing", evidenceJS.text("labels") + `({coordSys: box}, api).children`, `{lines: [], box: {x: [0, 1], y: [0, 1], n: 1}}`, ``, `[]`},
		{"a label on each branch", evidenceJS.text("labels") + `({coordSys: {x: 0, y: 0, width: 400, height: 400}}, {coord: function (v) { return v; }}).children.map(function (c) { return c.style.text; })`, `{lines: [{text: "a", paths: [[50, 100, 100, 0, 100, 0], [50, 300, 100, 0, 100, 0], [350, 200, 1, 0]]}], box: {x: [0, 400], y: [0, 400], n: 400}}`, ``, `["a","a"]`},
		{"cells of whole pixels", matrixJS.text("layout") + `(360, 10).option.grid[0].width`, `{cells: Array(50)}`, ``, `250`},
		{"number of the point in a row", workingsetsJS.text("number"), `{rows: [18, 105]}`, `(1.5)`, `105`},
		{"a tip of the evidence", evidenceJS.text("tip"), `{names: ["a", "b"], best: -3}`, `({seriesId: 'cells', value: [1, 0, -5]}).replace(/<[^>]*>/g, ' ').replace(/ +/g, ' ')`, `" grid a 10 b 1 log marginal likelihood −5 below the maximum 2 "`},
	} {
		vm.Set("O", must[goja.Value](t)(vm.RunString("({svm: "+test.svm+"})")))
		if got := run(test.name, fmt.Sprint("(", test.script, ")")+test.call); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}

	// The scale of f has the colours of the bands.
	vm.Set("O", map[string]any{"svm": map[string]any{"limit": 1}})
	var fills []string
	if err := json.Unmarshal([]byte(run("scale", "("+marginsJS.text("scale", "bands", 2/bandStep, "least", faintest, "range", stronger)+
		")({coordSys: box}, api).children.filter(function (c) { return c.type === 'rect'; }).map(function (c) { return c.style.fill; })")), &fills); err != nil || len(fills) != 8 {
		t.Fatalf("%d bands in the scale, %v", len(fills), err)
	}
	for k, fill := range fills {
		mid, token := (float64(k)+0.5-4)/4, "@pos*"
		if mid < 0 {
			mid, token = -mid, "@neg*"
		}
		if want := token + fmt.Sprint(bandColour(mid)); fill != want {
			t.Errorf("band %d of the scale is %s, of the field %s", k, fill, want)
		}
	}
}

// Texts on coloured cells can be read: on every shade of both classes, on light and dark pages.
func TestTextOnColours(t *testing.T) {
	runtime := string(must[[]byte](t)(os.ReadFile("../echarts/runtime.js")))
	_, on, _ := strings.Cut(runtime, "      on: ")
	on, _, _ = strings.Cut(on, "\n      },\n")
	vm := goja.New()
	must[goja.Value](t)(vm.RunString("function rgb(css) { return css.match(/[\\d.]+/g).map(Number); }"))
	for _, c := range []struct{ page, ink, pos, neg [3]float64 }{
		{[3]float64{255, 255, 255}, [3]float64{27, 39, 51}, [3]float64{221, 95, 13}, [3]float64{29, 100, 173}},
		{[3]float64{24, 26, 27}, [3]float64{230, 234, 238}, [3]float64{245, 152, 79}, [3]float64{98, 174, 234}},
	} {
		css := func(v [3]float64) string { return fmt.Sprintf("rgb(%v,%v,%v)", v[0], v[1], v[2]) }
		luminance := func(v [3]float64) float64 {
			for k, x := range v {
				if v[k] = x / 3294.6; x > 10 {
					v[k] = math.Pow((x/255+0.055)/1.055, 2.4)
				}
			}
			return 0.05 + 0.2126*v[0] + 0.7152*v[1] + 0.0722*v[2]
		}
		vm.Set("T", func(token string) string {
			if colour, ok := map[string][3]float64{"@page": c.page, "@ink": c.ink}[token]; ok {
				return css(colour)
			}
			return token
		})
		for _, colour := range [][3]float64{c.pos, c.neg} {
			for share := 0.0; share <= 1; share += 0.05 {
				var fill [3]float64
				for k := range fill {
					fill[k] = math.Round(c.page[k] + share*(colour[k]-c.page[k]))
				}
				text := c.ink
				if must[goja.Value](t)(vm.RunString("("+on+"})('"+css(fill)+"')")).String() == css(c.page) {
					text = c.page
				}
				if contrast := math.Exp(math.Abs(math.Log(luminance(text) / luminance(fill)))); contrast < 3.8 {
					t.Errorf("text %v on %v has a contrast of %.1f", text, fill, contrast)
				}
			}
		}
	}
}

// On a narrow page the panel of two features is high enough, and marks are smaller.
func TestNarrowPlane(t *testing.T) {
	vm := goja.New()
	must[goja.Value](t)(vm.RunString(`var O = {svm: {aspect: 0.34, sizes: {a: [19, 11]}}, series: [{id: 'a', itemStyle: {borderWidth: 2}}]};`))
	for w, want := range map[int]string{360: "238 298 11 1.4", 1000: "311 914 19 2"} {
		got := must[goja.Value](t)(vm.RunString(fmt.Sprintf(`var o = (%s)(%d, 0).option; [Math.round(o.grid.height), o.grid.width, o.series[0].symbolSize, o.series[0].itemStyle.borderWidth].join(' ')`, marginsJS.text("layout"), w))).String()
		if got != want {
			t.Errorf("at %d pixels the panel is %s, want %s", w, got, want)
		}
	}
}

// A frame of a replay says in the page what it said in Go: α and margins to their
// digits, and the paths to their places.
func TestReplayInThePage(t *testing.T) {
	c := must[*Chart](t)(Replay(replayed(t, 40, 12)))
	option := must[[]byte](t)(json.Marshal(c.Extra["svm"].(object)))
	vm := goja.New()
	must[goja.Value](t)(vm.RunString(page + "\nvar O = {svm: " + string(option) + "};"))
	svm := c.Extra["svm"].(object)
	frames := svm["frames"].(list)
	var got struct {
		Alpha, Margin []float64
		Field         string
	}
	last := frames[len(frames)-1].(object)
	must[goja.Value](t)(vm.RunString(fmt.Sprintf(`frame = %d; var f = (%s)();`, len(frames)-1, replayJS.text("now", "zero", codeOfZero, "most", mostCode))))
	v := must[goja.Value](t)(vm.RunString(`JSON.stringify({alpha: f.alpha, margin: f.margin, field: (` + replayJS.text("paths", "fineness", contour.Fineness) + `)(f.b[3], {coord: function (v) { return v; }}, true)})`))
	if err := json.Unmarshal([]byte(v.String()), &got); err != nil {
		t.Fatal(err)
	}
	code := func(text string, k int) float64 {
		return float64(64*strings.IndexByte(digitOrder, text[2*k]) + strings.IndexByte(digitOrder, text[2*k+1]))
	}
	low, high := svm["low"].(float64), svm["high"].(float64)
	if len(got.Alpha) != 40 || len(got.Margin) != 40 {
		t.Fatalf("%d α and %d margins of 40 points", len(got.Alpha), len(got.Margin))
	}
	for k := range got.Alpha {
		if want := (code(last["a"].(string), k) - 2047) / 2047; math.Abs(got.Alpha[k]-want) > 1e-12 {
			t.Errorf("α of point %d is %v, want %v", k, got.Alpha[k], want)
		}
		if want := low + code(last["m"].(string), k)/4095*(high-low); math.Abs(got.Margin[k]-want) > 1e-9 {
			t.Errorf("the margin of point %d is %v, want %v", k, got.Margin[k], want)
		}
	}
	places := 0
	for _, part := range strings.Fields(last["b"].(list)[3].(string)) {
		places += len(part) / 4
	}
	if n := strings.Count(got.Field, "M") + strings.Count(got.Field, "L"); n != places || places == 0 {
		t.Errorf("the path has %d places, want %d", n, places)
	}
}

// Figures measure texts in the fonts of the page's theme.
func TestFontsOfTheTheme(t *testing.T) {
	if runtime, _ := echarts.Source(); !strings.Contains(runtime, "fontFamily: '"+fontFamily+"'") {
		t.Errorf("the theme has other fonts than %s", fontFamily)
	}
}
