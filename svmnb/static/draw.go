package static

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"time"

	"github.com/dop251/goja"
	"github.com/svmnb/svmnb/svmnb/internal/echarts"
)

// DrawError is the error of the JavaScript that draws.
type DrawError struct {
	Chart  string // description of the chart
	Reason string
}

func (e *DrawError) Error() string { return fmt.Sprintf("static: %s: %s", e.Chart, e.Reason) }

// engine is the only JavaScript engine of the process. ECharts is loaded in it.
var engine struct {
	sync.Mutex
	still goja.Callable // the drawing function of runtime.js; nil until it is needed
	vm    *goja.Runtime
}

// patience is the longest time for one chart. A chart may contain a user's functions, which
// may never return.
var patience = 60 * time.Second

// draw returns the chart as SVG. Charts are drawn one at a time.
func draw(ctx context.Context, p echarts.Place, o Options) (string, error) {
	width := o.Width
	if width == 0 {
		width = max(min(pixels(p.Width, usualWidth), usualWidth), leastWidth)
	}
	height := min(pixels(p.Height, usualHeight), mostHeight)

	e := &engine
	e.Lock()
	defer e.Unlock()
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if e.still == nil {
		if err := load(); err != nil {
			return "", fmt.Errorf("static: ECharts cannot be loaded: %w", err)
		}
	}
	vm := e.vm
	// The engine itself parses the option, so numbers and the order of keys are those of a
	// browser.
	parse, _ := goja.AssertFunction(vm.Get("JSON").ToObject(vm).Get("parse"))
	option, err := parse(goja.Undefined(), vm.ToValue(string(p.Option)))
	if err != nil {
		return "", &DrawError{p.Text, err.Error()}
	}
	limited, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("not drawn after %v: does one of its functions end?", patience))
	defer cancel()
	free := context.AfterFunc(limited, func() { vm.Interrupt("stopped") })
	// The ids of a document must be unique, since several documents may be in one page.
	id := fmt.Sprintf("svm%x", sha256.Sum256(p.Option))[:11]
	svg, err := e.still(goja.Undefined(), option, vm.ToValue(o.Dark), vm.ToValue(width), vm.ToValue(height), vm.ToValue(id))
	if !free() { // an interrupted engine cannot be used again
		e.still, e.vm = nil, nil
	}
	var interrupted *goja.InterruptedError
	if errors.As(err, &interrupted) {
		return "", fmt.Errorf("static: %s: %w", p.Text, context.Cause(limited))
	}
	if err != nil {
		return "", &DrawError{p.Text, err.Error()}
	}
	return tidy(svg.String(), id, p.Text), nil
}

// load starts the engine.
func load() error {
	source, packed := echarts.Source()
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return err
	}
	library, err := io.ReadAll(z)
	if err != nil {
		return err
	}
	vm := goja.New()
	vm.SetMaxCallStackSize(10_000)
	global := vm.GlobalObject()
	nothing := func(goja.FunctionCall) goja.Value { return vm.ToValue(0) }
	console := vm.NewObject()
	var failed error
	set := func(o *goja.Object, name string, v any) { failed = errors.Join(failed, o.Set(name, v)) }
	for _, name := range []string{"log", "warn", "error"} {
		set(console, name, nothing)
	}
	set(global, "console", console)
	set(global, "self", global)
	// The drawing functions need no timers.
	set(global, "setTimeout", nothing)
	set(global, "clearTimeout", nothing)
	set(global, "measure", func(text, font string) float64 { return fontOf(font).width(text) })
	if failed != nil {
		return failed
	}
	if _, err := vm.RunScript("echarts.js", "var exports = {}; (function (exports, module, define) {"+string(library)+"\n})(exports, {})"); err != nil {
		return err
	}
	v, err := vm.RunScript("runtime.js", `exports.setPlatformAPI({ measureText: function (text, font) { return { width: measure(text || '', font || '') }; } });
		`+source+`({}, exports)`)
	if err != nil {
		return err
	}
	still, ok := goja.AssertFunction(v)
	if !ok {
		return errors.New("its drawing function is missing")
	}
	engine.vm, engine.still = vm, still
	return nil
}

// extent returns the width and the height of an SVG document, in whole pixels.
func extent(svg string) (width, height int, err error) {
	var root struct {
		Width  float64 `xml:"width,attr"`
		Height float64 `xml:"height,attr"`
	}
	err = xml.Unmarshal([]byte(svg), &root)
	return int(math.Ceil(root.Width)), int(math.Ceil(root.Height)), err
}
