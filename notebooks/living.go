package main

import (
	"context"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/dop251/goja"
	"github.com/svmnb/svmnb/svmnb/living"
	"github.com/svmnb/svmnb/svmnb/living/build"
)

// Living figures train in the page. Their engine is Go, compiled to WebAssembly: once for a
// site, in a file that a page loads when a reader touches a figure; and inside an exported
// page that has one.

// livingEngine returns the engine as a page has it. It is compiled once in a process. root is
// the folder of the checkout.
func livingEngine(ctx context.Context, root string) (string, error) {
	engines.Lock()
	defer engines.Unlock()
	var err error
	if engines.packed == "" {
		engines.packed, err = build.Engine(ctx, root)
	}
	return engines.packed, err
}

var engines struct {
	sync.Mutex
	packed string
}

// hasLiving reports whether a page has living figures.
func hasLiving(page string) bool { return strings.Contains(page, living.Beginning) }

// figured matches a living figure: one of Explore, which has its data, or one that names them.
var figured = regexp.MustCompile(living.Beginning + `([^>]*?)(?: spec="([^"]*)")?([^>]*)></svmnb-figure>`)

// dataName matches the attribute that names the data.
var dataName = regexp.MustCompile(`\bdata="([^"]*)"`)

// specified returns the specification of an element that figured has matched, with its still
// picture.
func specified(match []string) (s living.Spec, ok bool) {
	if match[2] != "" {
		ok = json.Unmarshal([]byte(html.UnescapeString(match[2])), &s) == nil
		return s.Stilled(), ok
	}
	name := "moons"
	if m := dataName.FindStringSubmatch(match[1] + match[3]); m != nil {
		name = m[1]
	}
	s, err := living.Named(name)
	return s, err == nil
}

// withStills gives the living figures of a page of one file the still pictures that they show
// at first. The page has the script that draws them.
func withStills(page string) string {
	return figured.ReplaceAllStringFunc(page, func(element string) string {
		match := figured.FindStringSubmatch(element)
		s, ok := specified(match)
		if !ok || match[2] == "" {
			return element
		}
		if with, err := s.Element(); err == nil {
			return with
		}
		return element
	})
}

// withPictures gives the living figures of the site their still pictures as SVG, since its
// pages load no script of living figures until a reader touches one.
func withPictures(page string) (string, error) {
	var failed error
	first := true
	return figured.ReplaceAllStringFunc(page, func(element string) string {
		s, ok := specified(figured.FindStringSubmatch(element))
		if !ok || s.Still == "" {
			return element
		}
		p, err := stillOf(s)
		if err != nil {
			failed = errors.Join(failed, err)
			return element
		}
		style := ""
		if first {
			style, first = "<style>"+p.CSS+"</style>", false
		}
		return style + strings.TrimSuffix(element, "</svmnb-figure>") + fmt.Sprintf(`<b>%s</b><small>%s</small><div>%s<button type="button">Touch it: it trains in this page</button></div><small>%s</small></svmnb-figure>`,
			html.EscapeString(p.Title), html.EscapeString(p.Sub), p.SVG, html.EscapeString(p.Proof))
	}), failed
}

// stillPicture is what a page shows of a figure before it is touched.
type stillPicture struct{ Title, Sub, Proof, SVG, CSS string }

// stillOf draws the still picture of a specification with the script that draws it in the page.
func stillOf(s living.Spec) (stillPicture, error) {
	stills.Lock()
	defer stills.Unlock()
	text, err := json.Marshal(s)
	if err != nil {
		return stillPicture{}, err
	}
	if p, ok := stills.drawn[string(text)]; ok {
		return p, nil
	}
	if stills.vm == nil {
		vm := goja.New()
		script, err := living.Script()
		if err != nil {
			return stillPicture{}, err
		}
		if err := vm.Set("atob", func(s string) string {
			b, _ := base64.StdEncoding.DecodeString(s) // our own
			runes := make([]rune, len(b))
			for i, c := range b {
				runes[i] = rune(c)
			}
			return string(runes)
		}); err != nil {
			return stillPicture{}, err
		}
		if _, err := vm.RunString("var window = globalThis, document = {}, customElements = {get() {}, define() {}}, HTMLElement = class {};" + script); err != nil {
			return stillPicture{}, fmt.Errorf("living.js: %w", err)
		}
		stills.vm, stills.drawn = vm, map[string]stillPicture{}
	}
	v, err := stills.vm.RunString("JSON.stringify(svmnbLiving.still(" + string(text) + "))")
	if err != nil {
		return stillPicture{}, fmt.Errorf("the still picture of %s: %w", s.Name, err)
	}
	var p stillPicture
	if err := json.Unmarshal([]byte(v.String()), &p); err != nil {
		return p, err
	}
	p.CSS = stills.vm.Get("svmnbLiving").ToObject(stills.vm).Get("stillCSS").String()
	stills.drawn[string(text)] = p
	return p, nil
}

var stills struct {
	sync.Mutex
	vm    *goja.Runtime // nil until it is needed
	drawn map[string]stillPicture
}

// livingHere begins the engine inside a page.
const livingHere = `<script type="application/json" id="svmnb-living-engine">`

// livingInside returns what a page of one file needs for its living figures. The engine is no
// script: the browser reads it when a reader touches a figure.
func livingInside(ctx context.Context) (string, error) {
	work, err := os.Getwd()
	if err != nil {
		return "", err
	}
	root, err := findCheckout(work)
	if err != nil {
		return "", err
	}
	engine, err := livingEngine(ctx, root)
	if err != nil {
		return "", err
	}
	script, err := living.Script()
	return livingHere + engine + "</script>\n" + inlineScript(script), err
}

// playground is the page on which readers place points and play with machines. A folder
// without it gives a site without playground.
const playground = "notebooks/playground.html"

func (w *site) renderPlayground(p *sitePage) error {
	data, err := os.ReadFile(filepath.Join(w.root, filepath.FromSlash(p.source)))
	if err != nil {
		return err
	}
	p.title = "Playground"
	if p.body, err = withPictures(string(data)); err != nil {
		return err
	}
	p.headings = []heading{{1, "playground", p.title}}
	return nil
}

// putLiving writes the script and the engine of living figures into the site.
func (w *site) putLiving(ctx context.Context) error {
	script, err := living.Script()
	if err != nil {
		return err
	}
	engine, err := livingEngine(ctx, w.root)
	if err != nil {
		return err
	}
	if err := w.put("assets/living.js", []byte(script)); err != nil {
		return err
	}
	return w.put("assets/"+living.EngineFile, []byte("window.svmnbLivingEngine = "+engine+";\n"))
}
