// Package browsertest opens pages in a headless Chromium for tests. It uses an installed
// browser and never downloads one. If there is none, it skips the test.
package browsertest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-rod/rod"
	"github.com/go-rod/rod/lib/cdp"
	"github.com/go-rod/rod/lib/launcher"
	"github.com/go-rod/rod/lib/proto"
)

// Options say how a page is shown. The zero value is a light page 1280 pixels wide.
type Options struct {
	Dark   bool // prefers-color-scheme: dark
	Width  int  // in pixels; 0 means 1280
	Height int  // 0 means 900

	// Offline refuses every request that leaves the machine. A page that needs one then shows
	// an error.
	Offline bool
}

// Page is an open page. If the browser cannot do what a method asks, the method ends the test.
type Page struct {
	*rod.Page
	t testing.TB

	mu     sync.Mutex
	errors []string
}

// limit is the longest time that a single wait may take. It only ends tests of what never comes:
// on a machine that is busy with other work, a picture may take a minute.
const limit = 3 * time.Minute

// Open opens target, a URL or the path of a file, in a new browser that is closed when the
// test ends.
func Open(t testing.TB, target string, o Options) *Page {
	t.Helper()
	Hurry(t, 90*time.Second)
	// The first of these needs half the processor time of a whole browser.
	program := ""
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			program = p
			break
		}
	}
	if program == "" {
		t.Skip("no Chromium on PATH: install Debian's package chromium-headless-shell or chromium to run the browser tests")
	}
	l := launcher.New().Bin(program).Headless(true).Leakless(false).NoSandbox(true).UserDataDir(t.TempDir()).
		Set("disable-gpu").Set("no-first-run").Set("disable-background-networking").Set("disable-component-update").
		Set("disable-sync").Set("font-render-hinting", "none").Set("force-device-scale-factor", "1").Set("hide-scrollbars").Set("disable-dev-shm-usage")
	if o.Offline {
		l.Set("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1")
	}
	address, err := l.Launch()
	if err != nil {
		t.Fatalf("%s does not start: %v", program, err)
	}
	browser := rod.New().ControlURL(address)
	if err := browser.Connect(); err != nil {
		l.Kill()
		t.Fatalf("cannot talk to %s: %v", program, err)
	}
	t.Cleanup(func() {
		_ = browser.Close() // Kill then has nothing left to do
		l.Kill()
		l.Cleanup()
	})
	p := &Page{t: t}
	raw, err := browser.Page(proto.TargetCreateTarget{})
	p.check(err)
	p.Page = raw
	p.listen()
	p.Look(o)
	if !strings.Contains(target, "://") {
		path, err := filepath.Abs(target)
		p.check(err)
		target = "file://" + path
	}
	p.check(p.Timeout(limit).Navigate(target))
	p.check(p.Timeout(limit).WaitLoad())
	return p
}

func (p *Page) check(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatalf("browser: %v", err)
	}
}

// listen collects the errors of the page.
func (p *Page) listen() {
	p.check(proto.RuntimeEnable{}.Call(p.Page))
	p.check(proto.LogEnable{}.Call(p.Page))
	go p.EachEvent(
		func(e *proto.RuntimeConsoleAPICalled) {
			if e.Type != proto.RuntimeConsoleAPICalledTypeError {
				return
			}
			var words []string
			for _, a := range e.Args {
				words = append(words, strings.TrimSpace(a.Value.Str()+" "+a.Description))
			}
			p.note("console: " + strings.Join(words, " "))
		},
		func(e *proto.RuntimeExceptionThrown) {
			text := e.ExceptionDetails.Text
			if x := e.ExceptionDetails.Exception; x != nil {
				text += " " + x.Description
			}
			p.note("exception: " + text)
		},
		func(e *proto.LogEntryAdded) {
			if e.Entry.Level == proto.LogLogEntryLevelError {
				p.note("log: " + e.Entry.Text + " " + e.Entry.URL)
			}
		},
	)()
}

func (p *Page) note(s string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.errors = append(p.errors, s)
}

// Errors returns the errors on the page's console so far, both thrown and logged ones.
func (p *Page) Errors() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.errors...)
}

// Look changes how the open page is shown, except for Offline.
func (p *Page) Look(o Options) {
	p.t.Helper()
	scheme := "light"
	if o.Dark {
		scheme = "dark"
	}
	o.Width = cmp.Or(o.Width, 1280)
	o.Height = cmp.Or(o.Height, 900)
	p.check(proto.EmulationSetEmulatedMedia{Features: []*proto.EmulationMediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}.Call(p.Page))
	p.check(p.SetViewport(&proto.EmulationSetDeviceMetricsOverride{Width: o.Width, Height: o.Height, DeviceScaleFactor: 1}))
}

// Do runs the body of a JavaScript function in the page. It stores the value that the function
// returns in result, unless result is nil.
func (p *Page) Do(result any, body string) {
	p.t.Helper()
	p.check(p.do(result, body))
}

func (p *Page) do(result any, body string) error {
	v, err := p.Timeout(limit).Eval("() => {" + body + "}")
	if err != nil || result == nil {
		return err
	}
	return json.Unmarshal([]byte(v.Value.JSON("", "")), result)
}

// Until waits until the JavaScript expression is true.
func (p *Page) Until(expression string) {
	p.t.Helper()
	p.until(expression, limit)
}

func (p *Page) until(expression string, limit time.Duration) {
	p.t.Helper()
	end := time.Now().Add(limit)
	pause := time.Millisecond
	for {
		var ok bool
		err := p.do(&ok, "return !!("+expression+")")
		if ok {
			return
		}
		// While a page is being reloaded, the browser returns errors of its own.
		if between := new(cdp.Error); err != nil && !errors.As(err, &between) {
			p.check(err)
		}
		if time.Now().After(end) {
			if dir := os.Getenv("SVMNB_PICTURES"); dir != "" {
				p.Picture(filepath.Join(dir, "failed-"+strings.ReplaceAll(p.t.Name(), "/", "-")+".png"))
			}
			var charts []string
			_ = p.do(&charts, `return Array.from(document.querySelectorAll('[data-drawn]'), e => e.textContent)`)
			p.t.Fatalf("browser: still not so after %v: %s\n%v\nerrors: %q\ncharts: %.2000q", limit, expression, err, p.Errors(), charts)
		}
		time.Sleep(pause)
		pause = min(2*pause, 50*time.Millisecond)
	}
}

// Says is a JavaScript expression: whether the text of an element has the words. A title breaks
// into lines where its chart is narrow, so spaces do not count.
func Says(element, words string) string {
	return fmt.Sprintf(`%s.textContent.replace(/\s/g, '').includes(%q)`, element, strings.Join(strings.Fields(words), ""))
}

// Charts waits until n charts are drawn and none is pending, and returns the text of each
// chart.
func (p *Page) Charts(n int) []string {
	p.t.Helper()
	p.Until(fmt.Sprintf(`document.querySelectorAll('[data-drawn]').length >= %d`, n))
	var texts []string
	p.Do(&texts, `return Array.from(document.querySelectorAll('[id^="svm-"]'), e => e.hasAttribute('data-drawn') ? e.textContent : 'not drawn: ' + e.textContent)`)
	if len(texts) != n {
		p.t.Errorf("browser: %d charts, want %d", len(texts), n)
	}
	for i, s := range texts {
		if strings.HasPrefix(s, "not drawn: ") {
			p.t.Errorf("browser: chart %d is %s", i+1, s)
		}
	}
	return texts
}

// Picture saves the whole page as PNG.
func (p *Page) Picture(file string) {
	p.t.Helper()
	png, err := p.Timeout(limit).Screenshot(true, nil)
	p.check(err)
	p.check(os.WriteFile(file, png, 0o644))
}

// Hurry skips a test that needs a browser, a server or a kernel if less than the given time is
// left of go test's limit, which is ten minutes for all tests of a package. On a slow machine
// the last tests are then left out, with a word, and the others still count.
func Hurry(t testing.TB, need time.Duration) {
	d, ok := t.(interface{ Deadline() (time.Time, bool) })
	if !ok {
		return
	}
	if at, limited := d.Deadline(); limited && time.Until(at) < need {
		t.Skipf("skipped, since only %v are left of the limit for this package; go test -timeout 20m runs it", time.Until(at).Round(time.Second))
	}
}
