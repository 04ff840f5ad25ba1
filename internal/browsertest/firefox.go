package browsertest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Firefox is a page in a headless Firefox, driven by the Marionette protocol, which Firefox
// itself speaks. It can do less than a Page.
type Firefox struct {
	t    testing.TB
	conn net.Conn
	in   *bufio.Reader
	id   int
}

// OpenFirefox opens target, a URL or the path of a file, in a new Firefox that ends with the
// test. It skips the test if there is none.
func OpenFirefox(t testing.TB, target string) *Firefox {
	t.Helper()
	program := ""
	for _, name := range []string{"firefox-esr", "firefox"} {
		if p, err := exec.LookPath(name); err == nil {
			program = p
			break
		}
	}
	if program == "" {
		t.Skip("no Firefox on PATH: install Debian's package firefox-esr to run this test")
	}
	profile := t.TempDir()
	prefs := "user_pref(\"marionette.port\", 0);\nuser_pref(\"datareporting.policy.dataSubmissionEnabled\", false);\nuser_pref(\"browser.shell.checkDefaultBrowser\", false);\nuser_pref(\"network.captive-portal-service.enabled\", false);\nuser_pref(\"network.connectivity-service.enabled\", false);\nuser_pref(\"app.normandy.enabled\", false);\nuser_pref(\"browser.safebrowsing.malware.enabled\", false);\n"
	if err := os.WriteFile(filepath.Join(profile, "user.js"), []byte(prefs), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--headless", "--marionette", "--no-remote", "--profile", profile)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "MOZ_CRASHREPORTER_DISABLE=1")
	if err := cmd.Start(); err != nil {
		t.Fatalf("%s does not start: %v", program, err)
	}
	f := &Firefox{t: t}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(func() {
		if f.conn != nil {
			_, _ = f.do("Marionette:Quit", map[string]any{"flags": []string{"eForceQuit"}})
			_ = f.conn.Close()
		}
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			_ = cmd.Process.Kill()
			<-ended
		}
	})
	for end := time.Now().Add(limit); f.conn == nil; time.Sleep(100 * time.Millisecond) {
		port, _ := os.ReadFile(filepath.Join(profile, "MarionetteActivePort"))
		if len(port) > 0 {
			f.conn, _ = net.Dial("tcp", net.JoinHostPort("127.0.0.1", strings.TrimSpace(string(port))))
		}
		if f.conn == nil && time.Now().After(end) {
			t.Fatalf("%s opens no port for Marionette within %v", program, limit)
		}
	}
	f.in = bufio.NewReader(f.conn)
	if _, err := f.message(); err != nil { // it says hello
		t.Fatal(err)
	}
	if !strings.Contains(target, "://") {
		path, err := filepath.Abs(target)
		if err != nil {
			t.Fatal(err)
		}
		target = "file://" + path
	}
	f.must("WebDriver:NewSession", map[string]any{})
	f.must("WebDriver:SetTimeouts", map[string]any{"script": limit.Milliseconds(), "pageLoad": limit.Milliseconds()})
	f.must("WebDriver:SetWindowRect", map[string]any{"width": 1280, "height": 1200})
	f.Navigate(target)
	return f
}

// Navigate goes to a URL.
func (f *Firefox) Navigate(url string) {
	f.t.Helper()
	f.must("WebDriver:Navigate", map[string]any{"url": url})
}

// Do runs the body of a JavaScript function in the page. It stores the value that the function
// returns in result, unless result is nil.
func (f *Firefox) Do(result any, body string) {
	f.t.Helper()
	text := f.must("WebDriver:ExecuteScript", map[string]any{"script": body, "args": []any{}, "sandbox": nil})
	if result == nil {
		return
	}
	var v struct{ Value json.RawMessage }
	if err := json.Unmarshal(text, &v); err != nil {
		f.t.Fatal(err)
	}
	if err := json.Unmarshal(v.Value, result); err != nil {
		f.t.Fatalf("firefox: %s: %v", v.Value, err)
	}
}

// Until waits until the JavaScript expression is true.
func (f *Firefox) Until(expression string) {
	f.t.Helper()
	for end := time.Now().Add(limit); ; time.Sleep(20 * time.Millisecond) {
		var ok bool
		if f.Do(&ok, "return !!("+expression+")"); ok {
			return
		}
		if time.Now().After(end) {
			f.t.Fatalf("firefox: still not so after %v: %s", limit, expression)
		}
	}
}

// Drag presses the mouse at the first place of the viewport, moves it to the others, each for
// the time pause, and lets go.
func (f *Firefox) Drag(places [][2]float64, pause time.Duration) {
	f.t.Helper()
	move := func(p [2]float64, d time.Duration) map[string]any {
		return map[string]any{"type": "pointerMove", "duration": d.Milliseconds(), "x": int(p[0]), "y": int(p[1]), "origin": "viewport"}
	}
	list := []map[string]any{move(places[0], 0), {"type": "pointerDown", "button": 0}}
	for _, p := range places[1:] {
		list = append(list, move(p, pause))
	}
	list = append(list, map[string]any{"type": "pointerUp", "button": 0})
	f.must("WebDriver:PerformActions", map[string]any{"actions": []any{map[string]any{"type": "pointer", "id": "mouse", "parameters": map[string]any{"pointerType": "mouse"}, "actions": list}}})
}

func (f *Firefox) must(command string, parameters any) json.RawMessage {
	f.t.Helper()
	v, err := f.do(command, parameters)
	if err != nil {
		f.t.Fatalf("firefox: %s: %v", command, err)
	}
	return v
}

// do sends [0, id, command, parameters] and returns the last part of [1, id, error, value].
func (f *Firefox) do(command string, parameters any) (json.RawMessage, error) {
	f.id++
	text, err := json.Marshal([]any{0, f.id, command, parameters})
	if err != nil {
		return nil, err
	}
	_ = f.conn.SetDeadline(time.Now().Add(2 * limit))
	if _, err := fmt.Fprintf(f.conn, "%d:%s", len(text), text); err != nil {
		return nil, err
	}
	text, err = f.message()
	if err != nil {
		return nil, err
	}
	var answer [4]json.RawMessage
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	if string(answer[2]) != "null" {
		return nil, fmt.Errorf("%.500s", answer[2])
	}
	return answer[3], nil
}

// message reads one message: its length, a colon, and JSON.
func (f *Firefox) message() ([]byte, error) {
	size, err := f.in.ReadString(':')
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(strings.TrimSuffix(size, ":"))
	if err != nil || n < 0 || n > 1<<28 {
		return nil, fmt.Errorf("a message of length %q", size)
	}
	b := make([]byte, n)
	_, err = io.ReadFull(f.in, b)
	return b, err
}
